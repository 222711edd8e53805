//! Two drawings over the load: fairness, and the 99th percentile of the completion time.

use charon_model::simulate::Policy;
use plotters::coord::Shift;
use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::Args;
use super::found::Found;
use super::show::NOTEBOOK;

const WIDTH: u32 = 860;
const HEIGHT: u32 = 480;
/// The legend stands right of the panel, where no line can cross it.
const LEGEND_WIDTH: u32 = 190;

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;
type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A line over loads in percent. Dashed without marks: not ours.
struct Line {
    name: String,
    colour: RGBColor,
    dashed: bool,
    points: Vec<(f64, f64)>,
}

/// Jain's index, with the notebook's figures as dashed lines where the setting is the notebook's.
pub fn jain(found: &[Found], args: &Args) -> String {
    let mut lines = lines(found, |found| found.mean(|run| f64::from(run.fairness.size_ppm) / 1e6));
    if args.is_notebook() {
        for (policy, figures) in NOTEBOOK.iter().filter(|(policy, _)| args.policies().contains(policy)) {
            let points = figures.iter().map(|&(load, figure)| (f64::from(load) / 10.0, figure)).collect();
            let name = format!("{}, notebook", policy.name());
            lines.push(Line { name, colour: colour(*policy), dashed: true, points });
        }
    }
    let mut svg = String::new();
    draw_jain(&mut svg, &lines).expect("drawing into a string cannot fail");
    svg
}

/// The 99th percentile, on a logarithmic scale.
pub fn fct(found: &[Found]) -> String {
    let lines = lines(found, |found| found.mean(|run| run.fct_p99_us as f64 / 1e6));
    let mut svg = String::new();
    draw_fct(&mut svg, &lines).expect("drawing into a string cannot fail");
    svg
}

fn draw_jain(svg: &mut String, lines: &[Line]) -> Drawn {
    let root = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
    root.fill(&WHITE)?;
    let (panel, legend) = root.split_horizontally(WIDTH - LEGEND_WIDTH);
    let mut chart =
        builder(&panel, "How even the work is among the servers").build_cartesian_2d(range(lines), 0.0..1.0)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc("load, % of capacity")
        .y_desc("Jain's index")
        .label_style(("sans-serif", 13))
        .draw()?;
    draw_lines(&mut chart, lines)?;
    draw_legend(&legend, lines)?;
    root.present()
}

fn draw_fct(svg: &mut String, lines: &[Line]) -> Drawn {
    let root = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
    root.fill(&WHITE)?;
    let (panel, legend) = root.split_horizontally(WIDTH - LEGEND_WIDTH);
    let values = || lines.iter().flat_map(|line| &line.points).map(|point| point.1.max(0.001));
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(0.001, f64::max));
    // Down to a power of ten, since only from there on the axis has its labels.
    let low = 10f64.powf(low.min(high).log10().floor());
    let mut chart = builder(&panel, "99 % of the flows are done within")
        .build_cartesian_2d(range(lines), (low..high * 1.25).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc("load, % of capacity")
        .y_desc("seconds (log)")
        .y_labels(12)
        .y_label_formatter(&|seconds| format!("{seconds}"))
        .label_style(("sans-serif", 13))
        .draw()?;
    draw_lines(&mut chart, lines)?;
    draw_legend(&legend, lines)?;
    root.present()
}

fn lines(found: &[Found], value: impl Fn(&Found) -> f64) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for found in found {
        let point = (f64::from(found.load_permille) / 10.0, value(found));
        let name = found.policy.name();
        match lines.last_mut().filter(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => lines.push(Line {
                name: name.to_owned(),
                colour: colour(found.policy),
                dashed: false,
                points: vec![point],
            }),
        }
    }
    lines
}

/// Colours that stay apart for colour-blind readers and on a printed page (Okabe and Ito's set).
const fn colour(policy: Policy) -> RGBColor {
    match policy {
        Policy::Ecmp => RGBColor(213, 94, 0),
        Policy::RoundRobin => RGBColor(204, 121, 167),
        Policy::Wcmp => RGBColor(230, 159, 0),
        Policy::Charon => RGBColor(0, 114, 178),
        Policy::LeastScore => RGBColor(0, 158, 115),
    }
}

/// All loads, with room at both ends.
fn range(lines: &[Line]) -> std::ops::Range<f64> {
    let loads = || lines.iter().flat_map(|line| &line.points).map(|point| point.0);
    let (low, high) = (loads().fold(f64::MAX, f64::min), loads().fold(0.0, f64::max));
    if low > high { 0.0..100.0 } else { low - 2.0..high + 2.0 }
}

fn builder<'a, 'b>(area: &'a Canvas<'b>, title: &str) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut builder = ChartBuilder::on(area);
    builder.caption(title, ("sans-serif", 18)).margin(10).x_label_area_size(36).y_label_area_size(64);
    builder
}

fn draw_lines<'b, Y: Ranged<ValueType = f64>>(
    chart: &mut ChartContext<'_, SVGBackend<'b>, Cartesian2d<RangedCoordf64, Y>>,
    lines: &[Line],
) -> Drawn {
    for line in lines {
        let points = line.points.iter().copied();
        if line.dashed {
            chart.draw_series(DashedLineSeries::new(points, 6, 4, line.colour.stroke_width(1)))?;
        } else {
            chart.draw_series(LineSeries::new(points.clone(), line.colour.stroke_width(2)))?;
            chart.draw_series(points.map(|point| Circle::new(point, 3, line.colour.filled())))?;
        }
    }
    Ok(())
}

fn draw_legend(area: &Canvas<'_>, lines: &[Line]) -> Drawn {
    for (row, line) in (0..).zip(lines) {
        let y = 48 + row * 22;
        if line.dashed {
            area.draw(&PathElement::new(vec![(4, y), (12, y)], line.colour.stroke_width(1)))?;
            area.draw(&PathElement::new(vec![(18, y), (26, y)], line.colour.stroke_width(1)))?;
        } else {
            area.draw(&PathElement::new(vec![(4, y), (26, y)], line.colour.stroke_width(2)))?;
            area.draw(&Circle::new((15, y), 3, line.colour.filled()))?;
        }
        area.draw(&Text::new(line.name.clone(), (32, y - 6), ("sans-serif", 13).into_font()))?;
    }
    Ok(())
}
