//! Line plots, as SVG text.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// One line of a plot; `None` leaves a gap.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    pub name: &'a str,
    pub points: Vec<(f64, Option<f64>)>,
}

/// A plot from 0 to the last point of its lines.
#[derive(Clone, Debug)]
pub struct Plot<'a> {
    pub title: &'a str,
    /// What goes from left to right, with its unit.
    pub across: &'a str,
    pub unit: &'a str,
    pub lines: Vec<Line<'a>>,
    /// A level to compare with, and its name.
    pub level: Option<(f64, &'a str)>,
    /// A place to mark, and its name.
    pub mark: Option<(f64, &'a str)>,
}

const WIDTH: u32 = 940;
const HEIGHT: u32 = 320;
/// The legend stands right of the plot, where no line can cross it.
const LEGEND_WIDTH: u32 = 150;
/// The first line is the widest: lines that coincide stay visible one behind the other.
const WIDEST: u32 = 7;
/// Colours that stay apart for colour-blind readers and on a printed page (Okabe and Ito's set).
const COLOURS: [RGBColor; 5] =
    [RGBColor(0, 0, 0), RGBColor(230, 159, 0), RGBColor(86, 180, 233), RGBColor(0, 158, 115), RGBColor(213, 94, 0)];
const GREY: RGBColor = RGBColor(120, 120, 120);

impl Plot<'_> {
    /// The plot as a complete SVG document.
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        self.draw(&mut svg).expect("drawing into a string cannot fail");
        svg
    }

    fn draw(&self, svg: &mut String) -> Drawn {
        let root = SVGBackend::with_string(svg, (WIDTH, HEIGHT)).into_drawing_area();
        root.fill(&WHITE)?;
        let (area, legend) = root.split_horizontally(WIDTH - LEGEND_WIDTH);
        self.draw_legend(&legend)?;
        let (end, top) = self.extent();
        let mut chart = ChartBuilder::on(&area)
            .caption(self.title, ("sans-serif", 18))
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..end, 0.0..top)?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(225, 225, 225))
            .x_desc(self.across)
            .y_desc(self.unit)
            .x_labels(10)
            .y_labels(6)
            .x_label_formatter(&|value| format!("{value}"))
            .y_label_formatter(&|value| format!("{value}"))
            .label_style(("sans-serif", 13))
            .draw()?;
        let small = ("sans-serif", 12).into_font().color(&GREY);
        if let Some((level, name)) = self.level {
            chart.draw_series(DashedLineSeries::new([(0.0, level), (end, level)], 6, 4, GREY.into()))?;
            let style = small.clone().pos(Pos::new(HPos::Left, VPos::Bottom));
            chart.draw_series([Text::new(name.to_owned(), (end * 0.005, level + top * 0.01), style)])?;
        }
        if let Some((at, name)) = self.mark {
            chart.draw_series(DashedLineSeries::new([(at, 0.0), (at, top)], 3, 3, GREY.into()))?;
            let style = small.pos(Pos::new(HPos::Left, VPos::Top));
            chart.draw_series([Text::new(name.to_owned(), (at + end * 0.005, top * 0.99), style)])?;
        }
        for (line, style) in self.lines.iter().zip(styles()) {
            for run in runs(&line.points) {
                chart.draw_series(LineSeries::new(run, style))?;
            }
        }
        root.present()?;
        Ok(())
    }

    fn draw_legend(&self, area: &Canvas<'_>) -> Drawn {
        let font = ("sans-serif", 13).into_font();
        for (row, (line, style)) in (0..).zip(self.lines.iter().zip(styles())) {
            let y = 48 + row * 22;
            area.draw(&PathElement::new([(4, y), (26, y)], style))?;
            area.draw(&Text::new(line.name, (34, y - 6), font.clone()))?;
        }
        Ok(())
    }

    fn extent(&self) -> (f64, f64) {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let end = points().map(|point| point.0).fold(1.0, f64::max);
        let highest = points().filter_map(|point| point.1).fold(0.0, f64::max);
        let top = self.level.map_or(highest, |(level, _)| level.max(highest));
        (end, if top > 0.0 { top * 1.12 } else { 1.0 })
    }
}

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;
type Canvas<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn styles() -> impl Iterator<Item = ShapeStyle> {
    COLOURS.iter().cycle().enumerate().map(|(index, colour)| {
        let width = WIDEST.saturating_sub(2 * index as u32).max(2);
        colour.stroke_width(width)
    })
}

/// The stretches of a line between its gaps.
fn runs(points: &[(f64, Option<f64>)]) -> Vec<Vec<(f64, f64)>> {
    let stretches = points.split(|(_, value)| value.is_none());
    let whole = stretches.map(|stretch| stretch.iter().filter_map(|&(at, value)| value.map(|value| (at, value))));
    whole.map(Iterator::collect::<Vec<_>>).filter(|run| !run.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bin without samples leaves a gap, not a zero.
    #[test]
    fn gaps_split_a_line() {
        let points = [(0.0, Some(1.0)), (1.0, None), (2.0, Some(2.0)), (3.0, Some(3.0))];
        assert_eq!(runs(&points), [vec![(0.0, 1.0)], vec![(2.0, 2.0), (3.0, 3.0)]]);
    }

    /// A plot names its lines, its level and its mark.
    #[test]
    fn an_svg_names_what_it_shows() {
        let lines = vec![Line { name: "fast", points: vec![(0.0, Some(1.0)), (10.0, Some(2.0))] }];
        let plot = Plot {
            title: "Rate",
            across: "time, s",
            unit: "ktps",
            lines,
            level: Some((1.5, "offered")),
            mark: Some((5.0, "switch")),
        };
        let svg = plot.svg();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        for word in ["Rate", "time, s", "ktps", "fast", "offered", "switch"] {
            assert!(svg.contains(word), "{word}");
        }
    }
}
