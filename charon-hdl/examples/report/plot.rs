//! What each implementation serves, by the clocks between requests.

use std::error::Error;

use charon_hdl::Design;
use charon_hdl::btor2::Netlist;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::load::{Load, Mix, run};

/// Colours that stay apart for colour-blind readers (Okabe and Ito's set).
const COLOURS: [RGBColor; 2] = [RGBColor(213, 94, 0), RGBColor(0, 114, 178)];
const GREY: RGBColor = RGBColor(120, 120, 120);

/// The drawing, with SYNs alone.
pub(crate) fn svg(requests: usize) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (820, 340)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(format!("Minimum-size SYNs answered, of {requests} that came"), ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(38)
            .y_label_area_size(56)
            .build_cartesian_2d(0.0..14.0, 0.0..1.1)?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(225, 225, 225))
            .x_desc("clocks of 5 ns between requests")
            .y_desc("share answered")
            .x_labels(14)
            .y_labels(6)
            .x_label_formatter(&|value| format!("{value:.0}"))
            .y_label_formatter(&|value| format!("{value:.1}"))
            .draw()?;
        let small = ("sans-serif", 12).into_font();
        for load in Load::ALL {
            let at = load.clocks.0 as f64 / load.clocks.1 as f64;
            chart.draw_series(DashedLineSeries::new([(at, 0.0), (at, 1.1)], 3, 3, GREY.into()))?;
            let style = small.clone().color(&GREY).pos(Pos::new(HPos::Left, VPos::Top));
            chart.draw_series([Text::new(load.name, (at + 0.06, 1.09), style)])?;
        }
        for (at, design) in Design::SCORE.into_iter().enumerate() {
            let netlist = Netlist::parse(design.netlist().text)?;
            let mut points = Vec::new();
            for quarters in 4..=56 {
                let outcome = run(design, &netlist, Mix::Syn, (quarters, 4), requests)?;
                points.push((quarters as f64 / 4.0, outcome.served as f64 / requests as f64));
            }
            chart.draw_series(LineSeries::new(points, COLOURS[at].stroke_width(3)))?;
            let style = small.clone().color(&COLOURS[at]).pos(Pos::new(HPos::Left, VPos::Bottom));
            let place = [(4.4, 0.66), (7.2, 0.92)][at];
            chart.draw_series([Text::new(design.top(), place, style)])?;
        }
        root.present()?;
    }
    Ok(svg)
}
