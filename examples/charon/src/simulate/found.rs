//! The runs, on all cores; which one ran where changes nothing.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use charon_model::simulate::{Measured, Policy, Scenario, ScenarioError, run, run_with};
use indicatif::{ProgressBar, ProgressStyle};

use super::Args;

/// A policy at a load: one run per seed.
#[derive(Debug)]
pub struct Found {
    pub policy: Policy,
    pub load_permille: u32,
    pub runs: Vec<Measured>,
}

impl Found {
    /// The mean over the seeds.
    pub fn mean(&self, of: impl Fn(&Measured) -> f64) -> f64 {
        self.runs.iter().map(of).sum::<f64>() / self.runs.len() as f64
    }
}

/// Every policy at every load, in that order.
pub fn all(args: &Args) -> Result<Vec<Found>, ScenarioError> {
    let jobs: Vec<(Policy, u32, u64)> = args
        .policies()
        .into_iter()
        .flat_map(|policy| args.loads_permille().into_iter().map(move |load| (policy, load)))
        .flat_map(|(policy, load)| (1..=args.seeds()).map(move |seed| (policy, load, seed)))
        .collect();
    let bar = ProgressBar::new(jobs.len() as u64 * u64::from(args.scenario(1, 1).flows));
    let style = "{msg:>18}  {wide_bar}  {percent:>3} %  {elapsed:>4}";
    bar.set_style(ProgressStyle::with_template(style).expect("the template is constant"));
    let runs = parallel(&jobs, |&(policy, load, seed)| {
        bar.set_message(format!("{} {}", policy.name(), percent(load)));
        let mut told = 0;
        let step = |done: u32| {
            // A bar need not know of every flow.
            if done.is_multiple_of(1_000) {
                bar.inc(u64::from(done - told));
                told = done;
            }
        };
        run_with(&args.scenario(load, seed), policy, step)
    })?;
    bar.finish_and_clear();
    let mut found: Vec<Found> = Vec::new();
    for ((policy, load_permille, _), measured) in jobs.into_iter().zip(runs) {
        match found.last_mut().filter(|last| (last.policy, last.load_permille) == (policy, load_permille)) {
            Some(last) => last.runs.push(measured),
            None => found.push(Found { policy, load_permille, runs: vec![measured] }),
        }
    }
    Ok(found)
}

/// What it breaks when a quarter of the servers comes in the middle, at the first load, for the policies that assign
/// packets without a table of connections.
pub fn growth(args: &Args) -> Result<Vec<Found>, ScenarioError> {
    let stateless = [Policy::Ecmp, Policy::Wcmp, Policy::Charon];
    let policies = args.policies().into_iter().filter(|policy| stateless.contains(policy));
    let load_permille = args.loads_permille().first().copied().unwrap_or(645);
    policies
        .map(|policy| {
            let scenario = |seed| -> Scenario { args.growing(load_permille, seed) };
            let runs = (1..=args.seeds()).map(|seed| run(&scenario(seed), policy)).collect::<Result<_, _>>()?;
            Ok(Found { policy, load_permille, runs })
        })
        .collect()
}

pub fn percent(permille: u32) -> String {
    format!("{}.{} %", permille / 10, permille % 10)
}

/// One result per job, in their order.
fn parallel<J: Sync, R: Send, E: Send>(jobs: &[J], work: impl Fn(&J) -> Result<R, E> + Sync) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Result<R, E>)>> = Mutex::new(Vec::with_capacity(jobs.len()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((at, job)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, jobs.get(at)?)))
                {
                    let result = work(job);
                    results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_unstable_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
