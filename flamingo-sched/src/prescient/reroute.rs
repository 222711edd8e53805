//! Taking transactions from overloaded workers, the cheapest moves first.

use crate::TxnBatch;
use crate::graph::VersionGraph;

/// Beyond this many more remote edges per move, an overload stays.
const LAST_DELTA: i64 = 100;

/// Moves transactions from workers above `theta` to workers below it, see the head of `prescient`. `local` is all zero.
pub(super) fn reroute(
    batch: &TxnBatch,
    graph: &VersionGraph,
    theta: u64,
    (masters, loads, local): (&mut [u8], &mut [u64], &mut [u32]),
) {
    for delta in 1..=LAST_DELTA {
        for txn in (0..batch.len()).rev() {
            let here = usize::from(masters[txn]);
            if loads[here] <= theta {
                continue;
            }
            graph.count(txn, masters, local);
            let extra = |worker: usize| i64::from(local[here]) - i64::from(local[worker]);
            let open = (0..loads.len()).filter(|&worker| loads[worker] < theta && extra(worker) <= delta);
            if let Some(worker) = open.min_by_key(|&worker| (extra(worker), loads[worker], worker)) {
                masters[txn] = worker as u8;
                loads[here] -= batch.weight(txn);
                loads[worker] += batch.weight(txn);
            }
            local.fill(0);
        }
        if loads.iter().all(|&load| load <= theta) {
            return;
        }
    }
}
