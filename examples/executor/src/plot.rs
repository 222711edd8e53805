//! Figures of panels of lines with error bars, as SVG text.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;

/// A point with the least and the largest of its seeds.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub x: f64,
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    pub points: Vec<Point>,
}

#[derive(Clone, Debug)]
pub struct Panel {
    pub title: String,
    pub across: &'static str,
    pub up: &'static str,
    pub log: bool,
    pub lines: Vec<Line>,
}

impl Point {
    /// Of the values of all seeds; at least one.
    pub fn of(x: f64, values: &[f64]) -> Self {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { x, mean, low, high }
    }
}

const PANEL_WIDTH: u32 = 430;
const PANEL_HEIGHT: u32 = 350;
const HEAD_HEIGHT: u32 = 62;
const LEGEND_WIDTH: u32 = 210;
/// Room beside the first and the last point, as a share of the width, so that their bars are whole.
const BESIDE: f64 = 0.03;
/// The first line is the widest: lines that coincide stay visible one behind the other.
const WIDEST: u32 = 5;
/// Colours that stay apart for colour-blind readers and on a printed page (Okabe and Ito's set).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 0, 0),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(204, 121, 167),
];

/// Dark enough to be read, and lighter than the headline.
const NOTE: RGBColor = RGBColor(80, 80, 80);

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;
type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A headline and what one has to know to read the figure; then all panels side by side, and one legend for the lines of the
/// first: they have the same names in all.
pub fn svg(head: (&str, &str), panels: &[Panel]) -> String {
    let mut svg = String::new();
    draw(&mut svg, head, panels).expect("drawing into a string cannot fail");
    svg
}

fn draw(svg: &mut String, (title, note): (&str, &str), panels: &[Panel]) -> Drawn {
    let width = PANEL_WIDTH * panels.len() as u32;
    let size = (width + LEGEND_WIDTH, HEAD_HEIGHT + PANEL_HEIGHT);
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&WHITE)?;
    root.draw(&Text::new(title.to_owned(), (14, 12), ("sans-serif", 19).into_font().style(FontStyle::Bold)))?;
    root.draw(&Text::new(note.to_owned(), (14, 38), ("sans-serif", 13).into_font().color(&NOTE)))?;
    let (area, legend) = root.split_vertically(HEAD_HEIGHT).1.split_horizontally(width);
    for (panel, area) in panels.iter().zip(area.split_evenly((1, panels.len()))) {
        let points = || panel.lines.iter().flat_map(|line| &line.points);
        let (left, right) = points().fold((f64::INFINITY, 1e-9_f64), |(l, r), p| (l.min(p.x), r.max(p.x)));
        let beside = (right - left) * BESIDE;
        let (left, right) = (left - beside, right + beside);
        let top = points().map(|point| point.high).fold(1e-9, f64::max);
        let bottom = points().map(|point| point.low).fold(top, f64::min);
        if panel.log {
            let up = (bottom.max(1e-3) / 1.5..top * 1.5).log_scale();
            draw_panel(&area, panel, (left, right), up)?;
        } else {
            draw_panel(&area, panel, (left, right), 0.0..top * 1.1)?;
        }
    }
    for (row, (line, colour)) in (0..).zip(panels.first().into_iter().flat_map(|panel| &panel.lines).zip(COLOURS)) {
        let y = 52 + row * 24;
        legend.draw(&PathElement::new([(4, y), (30, y)], colour.stroke_width(stroke(row as u32))))?;
        legend.draw(&Circle::new((17, y), 3, colour.filled()))?;
        legend.draw(&Text::new(line.name.clone(), (38, y - 7), ("sans-serif", 14).into_font()))?;
    }
    root.present()
}

fn draw_panel<Y>(area: &Canvas<'_>, panel: &Panel, (left, right): (f64, f64), up: Y) -> Drawn
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 16))
        .margin(10)
        .x_label_area_size(44)
        .y_label_area_size(66)
        .build_cartesian_2d(left..right, up)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(225, 225, 225))
        .x_desc(panel.across)
        .y_desc(panel.up)
        .x_labels(8)
        .y_labels(7)
        .x_label_formatter(&|value| format!("{}", (value * 100.0).round() / 100.0))
        .y_label_formatter(&|value| format!("{}", (value * 100.0).round() / 100.0))
        .label_style(("sans-serif", 13))
        .axis_desc_style(("sans-serif", 14))
        .draw()?;
    for (row, (line, colour)) in (0..).zip(panel.lines.iter().zip(COLOURS)) {
        let points = line.points.iter().map(|p| (p.x, p.mean));
        chart.draw_series(LineSeries::new(points, colour.stroke_width(stroke(row))))?;
        for p in &line.points {
            chart.draw_series([PathElement::new([(p.x, p.low), (p.x, p.high)], colour.stroke_width(1))])?;
            chart.draw_series([Circle::new((p.x, p.mean), 3, colour.filled())])?;
            for end in [p.low, p.high] {
                let cap = (right - left) * 0.008;
                chart.draw_series([PathElement::new([(p.x - cap, end), (p.x + cap, end)], colour.stroke_width(1))])?;
            }
        }
    }
    Ok(())
}

fn stroke(row: u32) -> u32 {
    WIDEST.saturating_sub(row).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point's bar goes from the least to the largest of its seeds.
    #[test]
    fn error_bars_span_the_seeds() {
        let point = Point::of(3.0, &[2.0, 4.0, 9.0]);
        assert_eq!((point.x, point.mean, point.low, point.high), (3.0, 5.0, 2.0, 9.0));
    }

    /// A drawing names its panels, axes and lines, on either scale.
    #[test]
    fn a_drawing_names_what_it_shows() {
        let panel = |log| Panel {
            title: "light".into(),
            across: "overlap",
            up: "reads",
            log,
            lines: vec![Line {
                name: "fusion".into(),
                points: vec![Point::of(0.0, &[1.0, 2.0]), Point::of(1.0, &[9.0])],
            }],
        };
        let svg = svg(("reads by overlap", "three seeds"), &[panel(false), panel(true)]);
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        for word in ["reads by overlap", "three seeds", "light", "overlap", "reads", "fusion"] {
            assert!(svg.contains(word), "{word}");
        }
    }
}
