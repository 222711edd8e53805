use super::*;
use alloc::collections::BTreeMap;
use proptest::prelude::*;

fn overlay(multiplier: u64, bound: Option<u32>) -> Overlay {
    let mut overlay = Overlay::new(0, bound);
    overlay.index.multiplier = multiplier;
    overlay
}

proptest! {
    /// A batch with a key that has no home leaves everybody where they were, and no trace of its other keys.
    #[test]
    fn a_refused_batch_leaves_no_trace(
        multiplier in prop_oneof![Just(1), Just(u64::MAX), any::<u64>().prop_map(|seed| seed | 1)],
        bound in prop_oneof![Just(None), Just(Some(1000))],
        away in prop::collection::btree_map(0u32..60, 0u8..3, 0..40),
        batch in prop::collection::vec(0u32..60, 0..80),
        lost in 0usize..80,
    ) {
        let mut overlay = overlay(multiplier, bound);
        for (&key, &owner) in &away {
            prop_assert!(overlay.insert(key, 3, owner));
        }
        let mut keys = batch;
        keys.insert(lost.min(keys.len()), 77);
        let refused = overlay.resolve(&keys, &|key| if key == 77 { 9 } else { 3 }, 4);
        prop_assert_eq!(refused, Err(ScheduleError::HomeOutOfRange { key: 77, home: 9, workers: 4 }));
        prop_assert_eq!(overlay.used, away.len());
        for key in 0..100 {
            prop_assert_eq!(overlay.owner(key), away.get(&key).copied());
        }
    }

    /// Keys that come and go are found as in a map, also when all of them want the same slot or the last ones, when
    /// gaps close across the end of the table, and when it grows.
    #[test]
    fn the_table_is_a_map(
        multiplier in prop_oneof![Just(1), Just(u64::MAX), any::<u64>().prop_map(|seed| seed | 1)],
        bound in prop_oneof![Just(None), Just(Some(1000))],
        steps in prop::collection::vec((0u32..60, 0u8..3, any::<bool>()), 0..300),
    ) {
        let (mut overlay, mut map) = (overlay(multiplier, bound), BTreeMap::new());
        for (key, owner, stays) in steps {
            if stays {
                prop_assert_eq!(overlay.insert(key, 9, owner), !map.contains_key(&key));
                map.entry(key).or_insert(owner);
            } else if map.remove(&key).is_some() {
                let slot = overlay.index.find(key).unwrap();
                overlay.vacate(slot);
            }
            prop_assert_eq!(overlay.used, map.len());
            for key in 0..60 {
                prop_assert_eq!(overlay.owner(key), map.get(&key).copied());
            }
        }
    }
}

/// Without a bound, a full table first forgets what is home, and grows only for what is away.
#[test]
fn the_table_sweeps_before_it_grows() {
    let mut overlay = overlay(mix(7) | 1, None);
    for batch in 0..1000u32 {
        let keys: Vec<_> = (batch * 20..batch * 20 + 20).collect();
        overlay.resolve(&keys, &|_| 5, 8).unwrap();
        // Of each batch, one key leaves and the one of the previous batch comes back.
        let (ids, owners) = overlay.table();
        owners[ids[0] as usize] = 6;
        if batch > 0 {
            overlay.resolve(&[(batch - 1) * 20], &|_| 5, 8).unwrap();
            let (ids, owners) = overlay.table();
            owners[ids[0] as usize] = 5;
        }
        assert_eq!(overlay.away(), 1);
    }
    assert!(overlay.owners.len() <= 256, "{} slots", overlay.owners.len());
}

/// A key that moves over and over leaves no more than a bounded trail in the queue.
#[test]
fn the_queue_is_swept() {
    let mut overlay = overlay(mix(7) | 1, Some(4));
    let mut evictions = Vec::new();
    for batch in 0..1000u32 {
        let keys = [batch % 3, 40 + batch % 2];
        overlay.resolve(&keys, &|_| 5, 8).unwrap();
        let (ids, owners) = overlay.table();
        for &id in ids {
            owners[id as usize] = 6;
        }
        overlay.settle(&keys, 0..2, &mut evictions);
        assert!(overlay.used <= 4);
    }
    let queued = overlay.recency.as_ref().map_or(0, |recency| recency.queue().count());
    assert!((4..=130).contains(&queued), "{queued} entries");
    assert!(evictions.len() > 100);
}
