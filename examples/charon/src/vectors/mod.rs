//! Stimulus and expectation as files. Everything is a function of the seed.

mod frames;
mod scores;
mod tables;

use std::io::Write;
use std::path::Path;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::cli::Vectors;
use crate::config::Balancer;
use crate::failure::Failure;
use crate::output::NewFile;

pub fn run(arguments: &Vectors, out: &mut impl Write) -> Result<(), Failure> {
    let folder = &arguments.out;
    std::fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    let config = tables::config();
    let Balancer { params, mut pipeline } = Balancer::parse("balancer.toml", &config)?;
    let mut files =
        vec![text(folder, "balancer.toml", &config)?, text(folder, "tables.txt", &tables::text(&pipeline))?];
    for (name, lines) in scores::streams(&params, arguments.seed, arguments.count) {
        files.push(text(folder, name, &lines)?);
    }
    let made = frames::write(folder, &params, &mut pipeline, arguments)?;
    files.push(text(folder, "headers.txt", &made.headers)?);
    files.push(text(folder, "actions.txt", &made.actions)?);
    files.extend(made.captures);
    let count = files.len();
    for file in files {
        file.keep()?;
    }
    writeln!(out, "{count} files in {}, seed {}", folder.display(), arguments.seed)?;
    crate::show::counters(out, &pipeline)?;
    Ok(())
}

fn text(folder: &Path, name: &str, text: &str) -> Result<NewFile, Failure> {
    NewFile::text(&folder.join(name), text)
}

/// A generator of its own for each file, so that one more frame here changes nothing there.
fn generator(seed: u64, file: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(file);
    rng
}
