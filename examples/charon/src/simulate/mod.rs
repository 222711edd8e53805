//! `charon simulate`: the policies side by side, over loads and seeds.

mod found;
mod plot;
mod show;

use std::io::Write;
use std::path::{Path, PathBuf};

use charon_model::feedback::Feedback;
use charon_model::select::Replacement;
use charon_model::simulate::{Fast, Growth, Policy, Scenario, Service};
use clap::ValueEnum;

use crate::failure::Failure;
use crate::output::{NewFile, all_different};

/// Simulates flows, servers and balancers in virtual time, and compares how flows are assigned.
///
/// Without arguments: the setting of the authors' notebook at five loads with five seeds.
///
/// Example: charon simulate --out target/charon --json target/charon/runs.json
#[derive(clap::Parser, Debug)]
#[command(verbatim_doc_comment, about = "Compares how flows are assigned, in virtual time")]
pub struct Args {
    /// Loads, in percent of what all servers can do, 0.1 to 200 with at most one decimal.
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', value_parser = permille)]
    #[arg(default_value = "64.5,76.5,84.5,92.5,100")]
    pub loads: Vec<u32>,
    /// The policies to compare; all if none is given.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub policies: Vec<PolicyName>,
    /// So many seeds, from 1 up.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub seeds: u64,
    /// Flows per run.
    #[arg(long, default_value_t = 50_000)]
    pub flows: u32,
    /// Servers; every other one is twice as fast.
    #[arg(long, default_value_t = 64)]
    pub servers: u16,
    /// In what a fast server is twice as fast.
    #[arg(long, value_enum, default_value_t = FastName::Cores)]
    pub fast: FastName,
    /// How a server works off its flows.
    #[arg(long, value_enum, default_value_t = ServiceName::Queued)]
    pub service: ServiceName,
    /// Balancers, which share nothing.
    #[arg(long, default_value_t = 2)]
    pub balancers: u8,
    /// Mean work of a flow, in milliseconds on a slow server.
    #[arg(long, default_value_t = 500)]
    pub work_ms: u32,
    /// From a balancer to a server, in microseconds; the same back.
    #[arg(long, default_value_t = 100)]
    pub one_way_us: u32,
    /// The control plane's period, in milliseconds.
    #[arg(long, default_value_t = 1_000)]
    pub period_ms: u32,
    /// Reports keep the SYNs that are on their way, instead of overwriting the score.
    #[arg(long)]
    pub keep_in_flight: bool,
    /// The two candidates are distinct servers.
    #[arg(long)]
    pub distinct: bool,
    /// Also draw, as jain.svg and fct.svg in this folder, which is made if it is not there.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write every run to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// One seed and 5,000 flows: to look at the program, not at the figures.
    #[arg(long, conflicts_with_all = ["seeds", "flows"])]
    pub quick: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PolicyName {
    Ecmp,
    RoundRobin,
    Wcmp,
    Charon,
    /// The fewest flows of all servers, with all balancers' flows known at once.
    Oracle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FastName {
    /// Two cores instead of one.
    Cores,
    /// A doubled clock.
    Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ServiceName {
    /// One flow per core, in order.
    Queued,
    /// All flows at once, evenly.
    Shared,
}

pub fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    // The runs take minutes: a path that cannot be written must not cost them.
    let drawn = args.out.as_ref().map(|folder| [folder.join("jain.svg"), folder.join("fct.svg")]);
    let json = args.json.as_deref().map(place).transpose()?;
    let drawings = match &drawn {
        Some([jain, fct]) => Some([place(jain)?, place(fct)?]),
        None => None,
    };
    let mut written: Vec<_> = drawn.iter().flatten().map(|path| ("a drawing", path.as_path())).collect();
    written.extend(args.json.as_deref().map(|path| ("the table of runs", path)));
    all_different(&[], &written)?;
    let found = found::all(args)?;
    let growth = found::growth(args)?;
    let mut files = Vec::new();
    if let Some(file) = json {
        files.push(file.with(&show::json(args, &found, &growth).to_string())?);
    }
    if let Some([jain, fct]) = drawings {
        files.extend([jain.with(&plot::jain(&found, args))?, fct.with(&plot::fct(&found))?]);
    }
    // Before the table, whose reader may go away early.
    files.into_iter().try_for_each(NewFile::keep)?;
    show::print(out, args, &found, &growth)?;
    Ok(())
}

/// A new file, in a folder that is made if it is not there.
fn place(path: &Path) -> Result<NewFile, Failure> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(Failure::file(path))?;
    NewFile::create(path)
}

impl Args {
    /// Those given, each once.
    pub fn policies(&self) -> Vec<Policy> {
        let policy = |name: &PolicyName| match name {
            PolicyName::Ecmp => Policy::Ecmp,
            PolicyName::RoundRobin => Policy::RoundRobin,
            PolicyName::Wcmp => Policy::Wcmp,
            PolicyName::Charon => Policy::Charon,
            PolicyName::Oracle => Policy::LeastScore,
        };
        if self.policies.is_empty() { Policy::ALL.to_vec() } else { each_once(self.policies.iter().map(policy)) }
    }

    pub fn seeds(&self) -> u64 {
        if self.quick { 1 } else { self.seeds }
    }

    /// Those given, in thousandths, each once.
    pub fn loads_permille(&self) -> Vec<u32> {
        each_once(self.loads.iter().copied())
    }

    pub fn scenario(&self, load_permille: u32, seed: u64) -> Scenario {
        let mut scenario = Scenario::notebook(load_permille, seed);
        scenario.servers = self.servers;
        scenario.balancers = self.balancers;
        scenario.flows = if self.quick { 5_000 } else { self.flows };
        scenario.mean_work_us = self.work_ms.saturating_mul(1_000);
        scenario.one_way_us = self.one_way_us;
        scenario.period_us = self.period_ms.saturating_mul(1_000);
        scenario.fast = if self.fast == FastName::Cores { Fast::Cores } else { Fast::Clock };
        scenario.service = if self.service == ServiceName::Queued { Service::Queued } else { Service::Shared };
        scenario.feedback = if self.keep_in_flight { Feedback::KeepInFlight } else { Feedback::Overwrite };
        scenario.replacement = if self.distinct { Replacement::Without } else { Replacement::With };
        scenario
    }

    /// The same with a quarter of the servers coming in the middle.
    pub fn growing(&self, load_permille: u32, seed: u64) -> Scenario {
        let mut scenario = self.scenario(load_permille, seed);
        let servers_before = (self.servers - self.servers / 4).clamp(1, self.servers.saturating_sub(1).max(1));
        scenario.growth = Some(Growth { servers_before, at_flow: scenario.flows / 2 });
        scenario
    }

    /// The setting in one line.
    pub fn setting(&self) -> String {
        let fast = if self.fast == FastName::Cores { "with two cores" } else { "with a doubled clock" };
        let service =
            if self.service == ServiceName::Queued { "one flow per core at a time" } else { "all flows at once" };
        let seeds = if self.seeds() == 1 { "seed 1".to_owned() } else { format!("seeds 1 to {}", self.seeds()) };
        format!(
            "{} servers, every other one {fast}, {service}; {} balancers; {} flows of {} ms; {seeds}",
            self.servers,
            self.balancers,
            self.scenario(645, 1).flows,
            self.work_ms,
        )
    }

    /// Whether the figures can be held against the notebook's.
    pub fn is_notebook(&self) -> bool {
        self.scenario(645, 1) == Scenario::notebook(645, 1)
    }
}

/// A percentage in thousandths, exactly.
fn permille(text: &str) -> Result<u32, String> {
    let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    let parsed = (digits(whole) && digits(tenths) && tenths.len() == 1)
        .then(|| Some(whole.parse::<u32>().ok()?.checked_mul(10)? + tenths.parse::<u32>().ok()?));
    let load = parsed.flatten().filter(|load| (1..=2_000).contains(load));
    load.ok_or_else(|| "expected a percentage from 0.1 to 200 with at most one decimal".to_owned())
}

/// In the order in which they came first.
fn each_once<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut once, value| {
        if !once.contains(&value) {
            once.push(value);
        }
        once
    })
}
