//! What does not allocate.

#![allow(clippy::unwrap_used, reason = "tests")]

use core::net::{IpAddr, Ipv4Addr};

use allocation_counter::measure;
use charon_model::agent::Agent;
use charon_model::alias::AliasTables;
use charon_model::control::Control;
use charon_model::dip_reg_score::{DipRegScore, Request as Transaction};
use charon_model::feedback::{Feedback, InFlight};
use charon_model::hash::FlowHash;
use charon_model::ip_table::{IpTable, Row};
use charon_model::params::{Params, RawParams};
use charon_model::select::{Charon, Ecmp, LeastScore, RoundRobin, ScoresAt, ServerSelector, Wcmp};
use saer::select::{Replacement, Request, SplitMix64};

/// After the first run of the control plane, nothing allocates: runs with rebuild and sweep, picks of every selector,
/// assignments, reports, look-ups.
#[test]
fn the_balancer_allocates_nothing_after_warm_up() {
    let params = Params::new(RawParams::largest()).unwrap();
    let (mut scores, mut ips) = (DipRegScore::new(&params), IpTable::new(&params));
    let (mut control, mut tables) = (Control::new(&params, 10), AliasTables::new(16).unwrap());
    for id in 0..=255 {
        let row = Row { address: IpAddr::V4(Ipv4Addr::new(10, 0, 0, id)), mac: [2, 0, 0, 0, 0, id], port: 1 };
        control.add(id, row, &mut ips).unwrap();
    }
    // Both tables are filled once.
    (0..2).for_each(|nth| assert!(control.run(nth * 10, &mut scores, &mut tables).unwrap().rebuilt));
    let mut charon = Charon { tables: tables.clone(), replacement: Replacement::Without };
    let wcmp = Wcmp { tables: tables.clone() };
    let mut in_flight = InFlight::new(&params, Feedback::KeepInFlight);
    let mut agent = Agent::new(Agent::SMOOTHING);
    let widths = params.widths();

    let counted = measure(|| {
        for now in 2..200u32 {
            let hash = FlowHash::of_bytes(&now.to_be_bytes());
            let answer = charon.assign(hash, &mut scores, now).unwrap();
            in_flight.assigned(answer.id);
            agent.started();
            agent.completed(now).unwrap();
            let report = agent.report(widths);
            let g = in_flight.reported(answer.id, report.g);
            let _ = scores.apply(Transaction::update(answer.id, g, report.v, now));
            assert!(ips.get(answer.id).is_some() && ips.by_hash(hash.first).is_some());

            let view = ScoresAt { scores: &scores, now };
            let selectors: [&dyn ServerSelector; 5] =
                [&charon, &wcmp, &Ecmp, &RoundRobin::default(), &LeastScore { seed: 1 }];
            for selector in selectors {
                let request = Request { key: hash.key(), client: 0, weight: 1 };
                assert!(selector.pick(&request, &view, &mut SplitMix64(1)).is_some());
            }
            assert!(control.run(u64::from(now) * 10, &mut scores, &mut charon.tables).unwrap().rebuilt);
            in_flight.age();
        }
        control.drain(3).unwrap();
        let _ = control.run(1 << 40, &mut scores, &mut charon.tables).unwrap();
        control.remove(3, &mut ips).unwrap();
    });
    assert_eq!(counted.count_total, 0);
}
