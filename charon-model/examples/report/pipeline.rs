//! Time per packet through the whole pipeline: frames of 65,536 flows, each restored before every pass, untimed.

use core::error::Error;
use core::hint::black_box;
use core::net::IpAddr;
use std::time::Instant;

use charon_model::pipeline::Action;

use crate::Row;
use crate::report::setting::{FLOWS, KINDS, SERVERS, SERVICES, frame, pipeline};

pub(crate) fn rows(rows: &mut Vec<Row>, quick: bool) -> Result<(), Box<dyn Error>> {
    let passes = if quick { 3 } else { 50 };
    for (family, service) in SERVICES {
        for kind in KINDS {
            let value = nanos(service, kind, passes)?;
            let name = format!("ns_per_packet/pipeline{family}/{kind}");
            let goal = (family.is_empty() && kind == "data").then_some(60.0);
            let source =
                format!("{FLOWS} flows, {SERVERS} servers, buffers restored before each pass; min of {passes} passes");
            rows.push(Row { name, value, unit: "ns", goal, source });
        }
    }
    Ok(())
}

/// The fastest pass over all flows, in ns per packet.
fn nanos(service: IpAddr, kind: &str, passes: u32) -> Result<f64, Box<dyn Error>> {
    let mut pipeline = pipeline(service)?;
    let originals: Vec<Vec<u8>> =
        (0..FLOWS).map(|flow| frame(&pipeline, service, kind, flow)).collect::<Result<_, _>>()?;
    let mut frames = originals.clone();
    let mut best = f64::MAX;
    for pass in 0..passes {
        for (frame, original) in frames.iter_mut().zip(&originals) {
            frame.copy_from_slice(original);
        }
        let (start, mut forwarded) = (Instant::now(), 0);
        for frame in &mut frames {
            forwarded += u32::from(matches!(black_box(pipeline.process(frame, pass)), Action::Forward { .. }));
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(FLOWS));
        if forwarded != FLOWS {
            return Err(format!("{kind}: {forwarded} of {FLOWS} forwarded").into());
        }
    }
    Ok(best)
}
