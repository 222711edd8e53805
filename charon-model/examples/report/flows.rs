//! Fairness and completion times in the flow-level simulation, beside the figures of the authors' public notebook; and
//! what breaks when servers come.

use core::error::Error;

use charon_model::simulate::{Growth, Measured, Policy, Scenario, run};

use crate::Row;

/// Jain's index in the notebook, in thousandths, by [`Scenario::LOADS`].
const NOTEBOOK: [(Policy, [u32; 5]); 4] = [
    (Policy::Ecmp, [343, 467, 493, 513, 517]),
    (Policy::Wcmp, [431, 468, 485, 537, 625]),
    (Policy::Charon, [515, 562, 614, 659, 762]),
    (Policy::LeastScore, [592, 644, 675, 693, 754]),
];

pub(crate) fn rows(rows: &mut Vec<Row>, quick: bool) -> Result<(), Box<dyn Error>> {
    let (seeds, flows) = if quick { (1, 5_000) } else { (5, 50_000) };
    let setting = setting(flows, seeds);
    let (mut jain, mut p99) = (Vec::new(), Vec::new());
    for (policy, figures) in NOTEBOOK {
        for (load, figure) in Scenario::LOADS.into_iter().zip(figures) {
            let runs = runs(policy, load, flows, seeds)?;
            let at = format!("{}/{}.{}", policy.name(), load / 10, load % 10);
            jain.push(fairness(format!("jain/{at}"), &runs, figure, &setting));
            p99.push(Row {
                name: format!("fct_p99_ms/{at}"),
                value: mean(&runs, |run| run.fct_p99_us as f64 / 1e3),
                unit: "ms",
                goal: None,
                source: setting.clone(),
            });
        }
    }
    rows.append(&mut jain);
    shorter(rows, seeds)?;
    rows.append(&mut p99);
    broken(rows, seeds, flows)
}

/// 100 % again, with one factor changed. Queues do not settle there, so the index is one of how long the run is.
fn shorter(rows: &mut Vec<Row>, seeds: u64) -> Result<(), Box<dyn Error>> {
    const FLOWS: u32 = 10_000;
    for (policy, figures) in NOTEBOOK {
        let name = format!("jain/{}/100.0/flows{FLOWS}", policy.name());
        rows.push(fairness(name, &runs(policy, 1_000, FLOWS, seeds)?, figures[4], &setting(FLOWS, seeds)));
    }
    Ok(())
}

fn setting(flows: u32, seeds: u64) -> String {
    format!("64 servers, 32 with two cores, 2 balancers, {flows} flows, mean of seeds 1 to {seeds}")
}

fn runs(policy: Policy, load: u32, flows: u32, seeds: u64) -> Result<Vec<Measured>, Box<dyn Error>> {
    let one = |seed| {
        let mut scenario = Scenario::notebook(load, seed);
        scenario.flows = flows;
        run(&scenario, policy)
    };
    Ok((1..=seeds).map(one).collect::<Result<_, _>>()?)
}

fn mean(runs: &[Measured], of: fn(&Measured) -> f64) -> f64 {
    runs.iter().map(of).sum::<f64>() / runs.len() as f64
}

fn fairness(name: String, runs: &[Measured], notebook: u32, setting: &str) -> Row {
    let source = format!("works of the flows at a server; goal: the authors' notebook; {setting}");
    let value = mean(runs, |run| f64::from(run.fairness.size_ppm) / 1e6);
    Row { name, value, unit: "-", goal: Some(f64::from(notebook) / 1e3), source }
}

/// 48 servers become 64 in the middle of a run at 76.5 %; every flow under way then sends a packet.
fn broken(rows: &mut Vec<Row>, seeds: u64, flows: u32) -> Result<(), Box<dyn Error>> {
    for policy in [Policy::Ecmp, Policy::Wcmp, Policy::Charon] {
        let (mut broken, mut under_way) = (0, 0);
        for seed in 1..=seeds {
            let mut scenario = Scenario::notebook(765, seed);
            scenario.flows = flows;
            scenario.growth = Some(Growth { servers_before: 48, at_flow: flows / 2 });
            let measured = run(&scenario, policy)?;
            broken += measured.broken;
            under_way += measured.under_way;
        }
        rows.push(Row {
            name: format!("broken_connections/{}", policy.name()),
            value: f64::from(broken),
            unit: "flows",
            goal: (policy == Policy::Charon).then_some(0.0),
            source: format!("48 servers become 64 at 76.5 % of load; of {under_way} under way in {seeds} runs"),
        });
    }
    Ok(())
}
