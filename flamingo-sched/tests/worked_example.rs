//! Six transactions on three workers, by hand, for two tolerances.

#![allow(clippy::unwrap_used, reason = "a test")]

use flamingo_sched::{
    Config, ExecScheduler, Fetch, Fusion, Path, Plan, Producer, RangePartition, Ratio, Serve, TxnBatch,
};

const A: u32 = 0;
const B: u32 = 1;
const C: u32 = 2;
const D: u32 = 3;
const G: u32 = 6;

/// A, B, C live on worker 0, D, E, F on 1, G, H, I on 2.
fn schedule(eps: Ratio) -> (TxnBatch, Plan, Fusion) {
    let mut batch = TxnBatch::new();
    batch.push(&[A, B], &[A, B]);
    batch.push(&[A, D], &[A, D]);
    batch.push(&[C], &[C]);
    batch.push(&[A, G], &[A]);
    batch.push(&[B, C], &[B]);
    batch.push(&[D, G], &[D, G]);
    let mut fusion = Fusion::new(Config::new(3, RangePartition::new(3, 9).unwrap()).eps(eps)).unwrap();
    let mut plan = Plan::new();
    let _ = fusion.schedule(&batch, &mut plan).unwrap();
    (batch, plan, fusion)
}

fn masters(plan: &Plan) -> Vec<u16> {
    (0..plan.len()).map(|txn| plan.master(txn)).collect()
}

/// §5, Algorithm 3 with ε = 0: every path, every tie-break, and five remote reads.
#[test]
fn without_tolerance() {
    let (batch, plan, fusion) = schedule(Ratio::ZERO);
    assert_eq!(plan.cap(), 2);
    assert_eq!(masters(&plan), [0, 1, 0, 2, 1, 2]);
    let paths: Vec<_> = (0..6).map(|txn| plan.path(txn)).collect();
    use Path::{Affinity, Fallback, Fast};
    assert_eq!(paths, [Fast, Affinity, Fast, Affinity, Fallback, Affinity]);
    assert_eq!(plan.loads(), [2, 2, 2]);
    assert_eq!(plan.remote_reads(), 5);

    let from = |key, from, producer| Fetch { key, from, producer };
    assert_eq!(plan.fetches(0), []);
    assert_eq!(plan.fetches(1), [from(A, 0, Producer::Txn(0))]);
    assert_eq!(plan.fetches(2), []);
    assert_eq!(plan.fetches(3), [from(A, 1, Producer::Txn(1))]);
    assert_eq!(plan.fetches(4), [from(B, 0, Producer::Txn(0)), from(C, 0, Producer::Txn(2))]);
    assert_eq!(plan.fetches(5), [from(D, 1, Producer::Txn(1))]);

    assert_eq!(plan.run_list(1), [1, 4]);
    let serve = |after, key, to, txn| Serve { after: Producer::Txn(after), key, to, txn };
    assert_eq!(plan.serves(0), [serve(0, A, 1, 1), serve(0, B, 1, 4), serve(2, C, 1, 4)]);
    assert_eq!(plan.serves(1), [serve(1, A, 2, 3), serve(1, D, 2, 5)]);
    assert_eq!(plan.serves(2), []);
    assert_eq!((plan.write_backs(1).len(), plan.returned_writes()), (0, 0));

    let owners: Vec<_> = (0..=6).map(|txn| plan.owner_at(&batch, txn, A, 0)).collect();
    assert_eq!(owners, [0, 0, 1, 1, 2, 2, 2]);
    assert_eq!([A, B, C, D, G].map(|key| fusion.owner(key)), [2, 1, 0, 2, 2]);
}

/// The same with ε = 1/2: worker 0 has room for the fifth transaction, and three remote reads are left.
#[test]
fn with_tolerance() {
    let (_, plan, _) = schedule(Ratio::new(1, 2).unwrap());
    assert_eq!(plan.cap(), 3);
    assert_eq!(masters(&plan), [0, 1, 0, 2, 0, 1]);
    assert_eq!(plan.fetches(5), [Fetch { key: G, from: 2, producer: Producer::Base }]);
    assert_eq!(plan.serves(2), [Serve { after: Producer::Base, key: G, to: 1, txn: 5 }]);
    assert_eq!(plan.remote_reads(), 3);
}
