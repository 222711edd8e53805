//! Virtual time: what schedulers are worth on a hot shard, on a trace, and with more workers (Flamingo Fig. 8).

use std::error::Error;

use flamingo_sched::catalogue::Kind;
use flamingo_sched::pipeline::measure::{LATENCY, drained, hot_shard, scalability};
use flamingo_sched::workload::KeySets;

use crate::rows::Rows;
use crate::times::Mix;
use crate::{Effort, WORKERS, goals};

/// A remote input is there two services later; what the row of a worth says of it.
const MODEL: &str = "a remote input is there 2 services later";

pub(crate) fn hot(rows: &mut Rows, effort: &Effort) -> Result<(), Box<dyn Error>> {
    for kind in Kind::ALL {
        let (batches, transactions) = effort.stream(kind, effort.worth_batches);
        let mut scheduler = kind.build(KeySets::config(WORKERS)?)?;
        let found = hot_shard(&mut *scheduler, (90, 1), (batches, transactions))?;
        let source = format!(
            "90 % of new keys on one of 8 ranges, light p=0.4 eps=1/10 seed 1, {batches} batches of {transactions}; {MODEL}"
        );
        let name = format!("pipeline/{}/hot-shard", kind.name());
        rows.push(name, milli(found.worth_milli), "workers' worth", goals::worth(kind), &source);
    }
    Ok(())
}

pub(crate) fn on_trace(rows: &mut Rows, mix: &Mix) -> Result<(), Box<dyn Error>> {
    for kind in Kind::ALL {
        let (batches, source) = mix.batches(kind);
        let mut scheduler = kind.build((mix.config)(WORKERS)?)?;
        let mut next = batches.iter();
        let found = drained(&mut *scheduler, LATENCY, |batch| {
            next.next().is_some_and(|recorded| {
                batch.clone_from(recorded);
                true
            })
        })?;
        let name = format!("pipeline/{}/{}", kind.name(), mix.name);
        rows.push(name, milli(found.worth_milli), "workers' worth", None, &format!("{source}; {MODEL}"));
    }
    Ok(())
}

pub(crate) fn speedups(rows: &mut Rows, effort: &Effort) -> Result<(), Box<dyn Error>> {
    for kind in Kind::ALL {
        for (percent, dist) in [(0, "0"), (20, "0.2")] {
            let (batches, transactions) = effort.stream(kind, effort.speedup_batches);
            let source = format!(
                "Fig. 8, drained: half of the transactions on worker 0's range, eps=1/10 seed 1, {batches} batches of \
                 {transactions} per worker; {MODEL}"
            );
            let mut alone = None;
            for m in 1..=8 {
                let mut scheduler = kind.build(KeySets::config(m)?)?;
                let found = scalability(&mut *scheduler, percent, 1, (batches, transactions))?.worth_milli;
                let ratio = found as f64 / *alone.get_or_insert(found) as f64;
                let goal = if m == 8 && percent == 0 { goals::speedup(kind) } else { None };
                rows.push(format!("speedup/{}/m{m}/dist{dist}", kind.name()), ratio, "ratio", goal, &source);
            }
        }
    }
    Ok(())
}

fn milli(thousandths: u64) -> f64 {
    thousandths as f64 / 1000.0
}
