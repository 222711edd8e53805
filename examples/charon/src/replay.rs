//! A capture through the balancer.

use std::io::Write;

use charon_model::params::Params;
use charon_model::pipeline::{Action, Pipeline};

use crate::capture::Capture;
use crate::cli::Replay;
use crate::config::Balancer;
use crate::failure::Failure;
use crate::output::{NewCapture, NewFile, all_different};
use crate::show::{self, Read};

pub fn run(arguments: &Replay, out: &mut impl Write) -> Result<(), Failure> {
    let Balancer { params, mut pipeline } = Balancer::read(&arguments.config)?;
    let mut capture = Capture::open(&arguments.input)?;
    let mut written = vec![("the output", arguments.output.as_path())];
    written.extend(arguments.json.as_deref().map(|path| ("the counters", path)));
    all_different(&[("the input", &arguments.input), ("the configuration", &arguments.config)], &written)?;
    let mut forwarded = NewCapture::create(&arguments.output, capture.header())?;
    let read = frames(&params, &mut pipeline, &mut capture, &mut forwarded)?;
    let counters = match &arguments.json {
        Some(path) => Some(NewFile::text(path, &show::json(&params, &pipeline, read).to_string())?),
        None => None,
    };
    // Everything is written by now; only the names are missing.
    forwarded.finish().keep()?;
    counters.map_or(Ok(()), NewFile::keep)?;
    writeln!(out, "{} frames", read.frames)?;
    if read.cut > 0 {
        writeln!(out, "  {} of them are only in part in the capture; such a frame counts as malformed", read.cut)?;
    }
    if read.late > 0 {
        writeln!(out, "  {} of them are earlier than the one before, and were handled at its time", read.late)?;
    }
    show::counters(out, &pipeline)?;
    show::servers(out, &params, &pipeline, read.now())?;
    Ok(())
}

fn frames(
    params: &Params,
    pipeline: &mut Pipeline,
    capture: &mut Capture,
    forwarded: &mut NewCapture,
) -> Result<Read, Failure> {
    let mut read = Read::default();
    while let Some(mut captured) = capture.next()? {
        read.frames += 1;
        read.cut += u64::from(captured.cut);
        let tick = params.ticks(captured.micros);
        read.late += u64::from(tick < read.tick);
        read.tick = read.tick.max(tick);
        if let Action::Forward { range, .. } = pipeline.process(&mut captured.frame, read.now()) {
            forwarded.write(&captured.frame[range], &captured)?;
        }
    }
    Ok(read)
}
