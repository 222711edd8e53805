//! P1 of Flamingo §4.3 and exactly-once, on random logs with Byzantine authors, late and silent receivers, replays,
//! equivocation, strangers and jumps: the ledger against the naive model, and replicas against each other.

mod compare;
mod generate;
mod hits;
mod replicas;
mod restores;

use flamingo_core::rank::KeyedHash;
use flamingo_core::{Digest, LeaderRound};
pub(crate) use generate::{Owned, Run};
use hits::WANTED;
pub(crate) use hits::{Hits, variant};
pub(crate) use replicas::feed;
use replicas::{check_deltas, check_readers, feed_with_crashes};
use restores::feed_with_restores;

use crate::world::{committee, config, ledger, ledger_keyed};

/// The ledger equals the naive model on every object, and its replicas equal it.
///
/// P1 (Flamingo §4.3): for any committed prefix, honest validators derive the same assignments; they change only by
/// evidence and acceptance, with v_old the previous assignee and increasing anchors; at most one statement per
/// (a, r) is evidence. Each nonce takes effect at most once.
#[test]
fn random_logs_agree_with_the_model_and_among_replicas() {
    let mut hits = Hits::default();
    for seed in 0..60 {
        let (mut run, params, stakes) = Run::new(seed);
        for _ in 0..60 {
            run.sub_dag(&mut hits);
            run.check_state(&mut hits);
        }
        let digest = run.ledger.digest();
        let deltas: Vec<_> = run.ledger.drain_deltas().collect();
        check_deltas(&run, &deltas);
        check_readers(&run, &params, &deltas);

        // The look-up key is each replica's own: nothing that replicas compare depends on it.
        let key = KeyedHash::from_digest(&Digest([seed as u8; 32]));
        let mut twin = ledger_keyed(committee(&stakes), params.clone(), key);
        feed(&mut twin, &run.log, &mut hits);
        assert_eq!(twin.digest(), digest, "seed {seed}: same log, other key");
        assert_eq!(twin.drain_deltas().collect::<Vec<_>>(), deltas, "seed {seed}: same deltas");

        if seed % 3 == 0 {
            let restored = feed_with_restores(config(committee(&stakes), params.clone()), &run.log, &mut hits);
            assert_eq!(restored.digest(), digest, "seed {seed}: a crash at every step");
        }

        let mut crashed = ledger(committee(&stakes), params);
        feed_with_crashes(&mut crashed, &run.log, &mut run.random, &mut hits);
        assert_eq!(crashed.digest(), digest, "seed {seed}: re-delivered tails");
        assert_eq!(crashed.drain_deltas().collect::<Vec<_>>(), deltas, "seed {seed}: each delta once");
    }
    for (what, count) in &hits.0 {
        println!("{what}: {count}");
    }
    let missed: Vec<_> = WANTED.iter().filter(|what| !hits.0.contains_key(**what)).collect();
    assert!(missed.is_empty(), "never happened: {missed:?}");
    let strange: Vec<_> = hits.0.keys().filter(|what| !WANTED.contains(&what.as_str())).collect();
    assert!(strange.is_empty(), "not listed as wanted: {strange:?}");
}

/// A no-op changes nothing: neither state, gate nor deadline, and nobody hears of it. Whatever the object, after whatever
/// came before; and what is effective changes the state.
#[test]
fn a_no_op_changes_nothing() {
    let (mut nothing, mut something) = (0u32, 0u32);
    for seed in 100..108 {
        let (mut run, params, stakes) = Run::new(seed);
        (0..60).for_each(|_| run.sub_dag(&mut Hits::default()));
        let mut replica = ledger(committee(&stakes), params);
        let mut before = replica.digest();
        for sub_dag in &run.log {
            let _ = replica.begin(LeaderRound(sub_dag.leader));
            before = if replica.drain_deltas().count() > 0 { replica.digest() } else { before };
            for (at, carrier, object) in &sub_dag.objects {
                let effective = replica.apply(*at, *carrier, object.object()).is_effective();
                let (after, deltas) = (replica.digest(), replica.drain_deltas().count());
                assert_eq!(effective, after != before, "seed {seed}, {at}");
                assert!(effective || deltas == 0, "seed {seed}, {at}");
                (nothing, something) = (nothing + u32::from(!effective), something + u32::from(effective));
                before = after;
            }
        }
    }
    assert!(nothing > 1_000 && something > 1_000, "{nothing} no-ops, {something} effects");
}
