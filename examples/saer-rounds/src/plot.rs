//! Two panels over rounds: balls alive, on a logarithmic scale, and servers burned.

use plotters::coord::Shift;
use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::compare::Found;

const WIDTH: u32 = 940;
const HEIGHT: u32 = 620;
/// The legend stands right of the panels, where no line can cross it.
const LEGEND_WIDTH: u32 = 190;
/// Colours that stay apart for colour-blind readers and on a printed page (Okabe and Ito's set).
const COLOURS: [RGBColor; 3] = [RGBColor(213, 94, 0), RGBColor(0, 114, 178), RGBColor(0, 158, 115)];
const GREY: RGBColor = RGBColor(120, 120, 120);

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;
type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A line, by round.
struct Line {
    name: String,
    style: ShapeStyle,
    dashed: bool,
    points: Vec<(f64, f64)>,
}

pub fn svg(found: &[Found]) -> String {
    let mut svg = String::new();
    draw(&mut svg, found).expect("drawing into a string cannot fail");
    svg
}

fn draw(svg: &mut String, found: &[Found]) -> Drawn {
    let root = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
    root.fill(&WHITE)?;
    let (panels, legend) = root.split_horizontally(WIDTH - LEGEND_WIDTH);
    let (above, below) = panels.split_vertically(HEIGHT / 2);
    let (alive, burned) = (alive(found), burned(found));
    let last = alive.iter().chain(&burned).flat_map(|line| &line.points).map(|point| point.0).fold(1.0, f64::max);
    let balls = found.iter().map(|found| found.balls).max().unwrap_or(1).max(2) as f64;

    let mut chart = builder(&above, "Balls alive after each round")
        .build_cartesian_2d(0.0..last, (0.5..balls * 1.5).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc("round")
        .y_desc("balls (log)")
        .x_label_formatter(&whole)
        .y_label_formatter(&|balls| format!("{balls:.0}"))
        .y_labels(8)
        .label_style(("sans-serif", 13))
        .draw()?;
    draw_lines(&mut chart, &alive)?;

    let top = burned.iter().flat_map(|line| &line.points).map(|point| point.1).fold(0.0, f64::max);
    let top = if top > 0.0 { (top * 1.12).min(105.0) } else { 1.0 };
    let mut chart = builder(&below, "Servers burned after each round").build_cartesian_2d(0.0..last, 0.0..top)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc("round")
        .y_desc("% of servers")
        .x_label_formatter(&whole)
        .y_labels(6)
        .label_style(("sans-serif", 13))
        .draw()?;
    draw_lines(&mut chart, &burned)?;
    draw_legend(&legend, &alive, &burned)?;
    root.present()
}

/// A label for a round, and none between two rounds, where short runs have marks too.
fn whole(round: &f64) -> String {
    if round.fract().abs() < 1e-6 { format!("{round:.0}") } else { String::new() }
}

/// Solid lines for runs, dashed ones for expectations.
fn draw_lines<'b, Y: Ranged<ValueType = f64>>(
    chart: &mut ChartContext<'_, SVGBackend<'b>, Cartesian2d<RangedCoordf64, Y>>,
    lines: &[Line],
) -> Drawn {
    for line in lines {
        let points = line.points.iter().copied();
        if line.dashed {
            chart.draw_series(DashedLineSeries::new(points, 6, 4, line.style))?;
        } else {
            chart.draw_series(LineSeries::new(points, line.style))?;
        }
    }
    Ok(())
}

fn builder<'a, 'b>(area: &'a Canvas<'b>, title: &str) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut builder = ChartBuilder::on(area);
    builder.caption(title, ("sans-serif", 18)).margin(10).x_label_area_size(36).y_label_area_size(72);
    builder
}

/// The balls of each protocol of rounds, and the mean field's as a dashed line. Zero has no place on a logarithmic
/// scale: a line ends at its last round with a ball.
fn alive(found: &[Found]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (found, colour) in parallel(found) {
        let balls = found.alive.iter().map(|&alive| alive as f64);
        lines.push(line(found.protocol.name(), colour, false, balls));
        if let Some(oracle) = &found.oracle {
            let start = found.balls as f64;
            let scale = f64::from(found.servers);
            // As long as the run, so that a collapse does not stretch the axis.
            let balls = std::iter::once(start).chain(oracle.alive.iter().map(move |alive| alive * scale));
            let name = format!("{}, expected", found.protocol.name());
            lines.push(line(&name, colour, true, balls.take(found.alive.len())));
        }
    }
    lines.iter_mut().for_each(|line| line.points.retain(|point| point.1 >= 0.5));
    lines
}

fn burned(found: &[Found]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (found, colour) in parallel(found).filter(|(found, _)| found.burned.iter().any(|&burned| burned > 0)) {
        let percent = |burned: f64| 100.0 * burned / f64::from(found.servers);
        let points = std::iter::once(0.0).chain(found.burned.iter().map(|&burned| percent(burned.into())));
        lines.push(line(found.protocol.name(), colour, false, points));
        if let Some(oracle) = &found.oracle {
            let level = vec![100.0 * oracle.burned; found.burned.len() + 1];
            lines.push(line("burned, expected at the end", colour, true, level.into_iter()));
        }
    }
    lines
}

fn parallel(found: &[Found]) -> impl Iterator<Item = (&Found, RGBColor)> {
    found.iter().filter(|found| !found.alive.is_empty()).zip(COLOURS.iter().copied().cycle())
}

fn line(name: &str, colour: RGBColor, dashed: bool, values: impl Iterator<Item = f64>) -> Line {
    let style = if dashed { colour.stroke_width(1) } else { colour.stroke_width(2) };
    let points = values.enumerate().map(|(round, value)| (round as f64, value)).collect();
    Line { name: name.to_owned(), style, dashed, points }
}

fn draw_legend(area: &Canvas<'_>, alive: &[Line], burned: &[Line]) -> Drawn {
    for (lines, top) in [(alive, 48), (burned, HEIGHT as i32 / 2 + 48)] {
        for (row, line) in (0..).zip(lines) {
            let y = top + row * 22;
            let stroke = vec![(4, y), (26, y)];
            if line.dashed {
                area.draw(&PathElement::new(vec![(4, y), (12, y)], line.style))?;
                area.draw(&PathElement::new(vec![(18, y), (26, y)], line.style))?;
            } else {
                area.draw(&PathElement::new(stroke, line.style))?;
            }
            area.draw(&Text::new(line.name.clone(), (32, y - 6), ("sans-serif", 13).into_font()))?;
        }
        if lines.is_empty() {
            let style = ("sans-serif", 13).into_font().color(&GREY);
            area.draw(&Text::new("none burned", (4, top - 6), style))?;
        }
    }
    Ok(())
}
