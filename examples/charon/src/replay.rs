//! A capture through the balancer.

use std::io::Write;

use charon_model::params::Params;
use charon_model::pipeline::{Action, Pipeline};

use crate::capture::{Capture, NewCapture, NewFile};
use crate::cli::Replay;
use crate::config::Balancer;
use crate::failure::Failure;
use crate::show::{self, Read};

pub fn run(arguments: &Replay, out: &mut impl Write) -> Result<(), Failure> {
    let Balancer { params, mut pipeline } = Balancer::read(&arguments.config)?;
    let mut capture = Capture::open(&arguments.input)?;
    let same = |path| std::fs::canonicalize(path).ok();
    if same(&arguments.input) == same(&arguments.output) {
        return Err(Failure::SameFile { file: arguments.input.display().to_string() });
    }
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
    show::counters(out, &pipeline)?;
    show::servers(out, &params, &pipeline, read.now)?;
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
        read.now = params.ticks(captured.micros) as u32;
        if let Action::Forward { range, .. } = pipeline.process(&mut captured.frame, read.now) {
            forwarded.write(&captured.frame[range], &captured)?;
        }
    }
    Ok(read)
}
