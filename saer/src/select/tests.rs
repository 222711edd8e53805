use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::draw::chi_square;

/// A source that must not be drawn from.
struct Panics;

impl Entropy for Panics {
    fn word(&mut self) -> u64 {
        panic!("drew a random word");
    }
}

fn request(key: u64) -> Request {
    Request { key, client: 0, weight: 1 }
}

/// How often each of `servers` wins over many requests.
fn wins(selector: &impl ServerSelector, view: &dyn LoadView, requests: u64) -> Vec<u64> {
    let mut entropy = SplitMix64(7);
    let mut seen = vec![0; view.servers() as usize];
    for key in 0..requests {
        seen[selector.pick(&request(key), view, &mut entropy).unwrap().winner as usize] += 1;
    }
    seen
}

/// Hashing, scanning and nearest-first draw nothing: with a source that panics they answer all the same.
#[test]
fn fixed_selectors_draw_nothing() {
    let loads: &[u64] = &[3, 1, 2, 1];
    let nearest = NearestWithRoom { distance: |_: u32, server: u32| u64::from(server) };
    let selectors: [&dyn SelectAmong; 4] =
        [&Ecmp { seed: 1 }, &Rendezvous { seed: 1 }, &LeastLoaded { seed: 1 }, &nearest];
    for selector in selectors {
        assert!(selector.pick(&request(5), &loads, &mut Panics).is_some());
        assert!([1, 3].contains(&selector.pick_among(&request(5), &[1, 3], &loads, &mut Panics).unwrap().winner));
    }
}

/// An empty set is no choice and no draw, for every selector that honours a list.
#[test]
fn nobody_is_chosen_from_nobody() {
    let selectors: [&dyn SelectAmong; 5] = [
        &Uniform,
        &BestOf::<2>::new(Replacement::With),
        &BestOf::<2>::new(Replacement::Without),
        &Rendezvous { seed: 1 },
        &LeastLoaded { seed: 1 },
    ];
    for selector in selectors {
        assert_eq!(selector.pick(&request(1), &0u32, &mut Panics), None);
        assert_eq!(selector.pick_among(&request(1), &[], &9u32, &mut Panics), None);
    }
}

/// One suite over all that honour a list: only listed servers win, and each of equals does.
#[test]
fn lists_are_honoured() {
    let nearest = NearestWithRoom { distance: |_: u32, server: u32| u64::from(server == 4) };
    let selectors: [(&str, &dyn SelectAmong, bool); 7] = [
        ("uniform", &Uniform, true),
        ("best of 2 with", &BestOf::<2>::new(Replacement::With), true),
        ("best of 2 without", &BestOf::<2>::new(Replacement::Without), true),
        ("ecmp", &Ecmp { seed: 3 }, true),
        ("rendezvous", &Rendezvous { seed: 3 }, true),
        ("least loaded", &LeastLoaded { seed: 3 }, true),
        ("nearest", &nearest, false),
    ];
    let list = [4, 7, 9];
    for (name, selector, spreads) in selectors {
        let mut entropy = SplitMix64(1);
        let mut seen = [0u64; 10];
        for key in 0..3_000 {
            seen[selector.pick_among(&request(key), &list, &10u32, &mut entropy).unwrap().winner as usize] += 1;
        }
        assert_eq!(seen.iter().sum::<u64>(), list.iter().map(|&at| seen[at as usize]).sum(), "{name}");
        if spreads {
            let seen = list.map(|at| seen[at as usize]);
            assert!(chi_square(&seen, &[1; 3]) < 14, "{name}: {seen:?}");
        } else {
            assert_eq!(seen[7], 3_000, "{name}: the nearer of two, by id");
        }
    }
}

/// Uniform and, with equal loads, the best of several are uniform: chi-square over 16 servers.
#[test]
fn draws_are_uniform_among_equals() {
    for seen in [
        wins(&Uniform, &16u32, 32_000),
        wins(&BestOf::<2>::new(Replacement::With), &16u32, 32_000),
        wins(&BestOf::<3>::new(Replacement::Without), &16u32, 32_000),
        wins(&Ecmp { seed: 5 }, &16u32, 32_000),
        wins(&Rendezvous { seed: 5 }, &16u32, 32_000),
    ] {
        assert!(chi_square(&seen, &[1; 16]) < 15 + 28, "{seen:?}");
    }
}

/// With unequal loads the best of two with replacement wins with (2(n−i)−1)/n² in order of load, without replacement with
/// 2(n−1−i)/n(n−1): the most loaded never.
#[test]
fn the_best_of_two_is_distributed_as_computed() {
    let loads: &[u64] = &[10, 11, 12, 13, 14];
    let with = wins(&BestOf::<2>::new(Replacement::With), &loads, 25_000);
    assert!(chi_square(&with, &[9, 7, 5, 3, 1]) < 4 + 16, "{with:?}");
    let without = wins(&BestOf::<2>::new(Replacement::Without), &loads, 20_000);
    assert!(chi_square(&without, &[4, 3, 2, 1, 0]) < 4 + 16, "{without:?}");
    assert_eq!(without[4], 0);
}

/// Two choices among two servers: with replacement the loaded one still gets a quarter, without replacement nothing;
/// among equals both are fair, and both candidates are named in drawn order.
#[test]
fn two_choices_among_two_servers() {
    let loads: &[u64] = &[1, 0];
    let with = wins(&BestOf::<2>::new(Replacement::With), &loads, 10_000);
    assert!(chi_square(&with, &[1, 3]) < 11, "{with:?}");
    assert_eq!(wins(&BestOf::<2>::new(Replacement::Without), &loads, 10_000), [0, 10_000]);
    let equal = wins(&BestOf::<2>::new(Replacement::Without), &2u32, 10_000);
    assert!(chi_square(&equal, &[1, 1]) < 11, "{equal:?}");
    let pick = BestOf::<2>::new(Replacement::Without).pick(&request(1), &2u32, &mut SplitMix64(3)).unwrap();
    assert_eq!(pick.considered().len(), 2);
    assert_eq!(pick.winner, pick.considered()[0], "of equals the first drawn");
    assert_ne!(pick.considered()[0], pick.considered()[1]);
}

/// A set drawn without replacement is distinct, and all are compared if there are no more than K.
#[test]
fn without_replacement_is_distinct() {
    let mut entropy = SplitMix64(2);
    for servers in 1..12u32 {
        for key in 0..200 {
            let pick = BestOf::<8>::new(Replacement::Without).pick(&request(key), &servers, &mut entropy).unwrap();
            let mut considered = pick.considered().to_vec();
            considered.sort_unstable();
            considered.dedup();
            assert_eq!(considered.len(), servers.min(8) as usize);
        }
    }
}

/// The order of a pair is uniform too: each of the 12 ordered pairs of four servers is as frequent.
#[test]
fn ordered_pairs_are_uniform() {
    let mut entropy = SplitMix64(4);
    let mut seen = vec![0u64; 16];
    for key in 0..24_000 {
        let pick = BestOf::<2>::new(Replacement::Without).pick(&request(key), &4u32, &mut entropy).unwrap();
        seen[(pick.considered()[0] * 4 + pick.considered()[1]) as usize] += 1;
    }
    let weights: Vec<u64> = (0..16).map(|pair| u64::from(pair / 4 != pair % 4)).collect();
    assert!(chi_square(&seen, &weights) < 11 + 24, "{seen:?}");
}

/// The weighted choice follows the weights, never a zero, and refuses a view of another size.
#[test]
fn weighted_choice_follows_the_weights() {
    let weights = [5, 0, 1, 10, 4];
    let weighted = Weighted::new(AliasTable::new(&weights, 32).unwrap());
    let seen = wins(&weighted, &5u32, 40_000);
    assert!(chi_square(&seen, &weights) < 3 + 18, "{seen:?}");
    assert_eq!(seen[1], 0);
    assert_eq!(weighted.pick(&request(1), &6u32, &mut Panics), None);
}

/// Rendezvous: removing a server moves its own keys only, and the order of the list does not matter.
#[test]
fn rendezvous_moves_little() {
    let rendezvous = Rendezvous { seed: 8 };
    for key in 0..500 {
        let all = rendezvous.pick_among(&request(key), &[0, 1, 2, 3], &4u32, &mut Panics).unwrap().winner;
        let turned = rendezvous.pick_among(&request(key), &[3, 1, 0, 2], &4u32, &mut Panics).unwrap().winner;
        let fewer = rendezvous.pick_among(&request(key), &[0, 1, 3], &4u32, &mut Panics).unwrap().winner;
        assert_eq!(all, turned);
        assert!(fewer == all || all == 2);
    }
}

/// The least loaded wins; idle servers share ties by key.
#[test]
fn the_least_loaded_wins() {
    let loads: &[u64] = &[4, 2, 3, 2];
    let seen = wins(&LeastLoaded { seed: 1 }, &loads, 4_000);
    assert_eq!((seen[0], seen[2]), (0, 0));
    assert!(chi_square(&[seen[1], seen[3]], &[1, 1]) < 11, "{seen:?}");
}

/// The nearest with room for the weight; none if none has.
#[test]
fn the_nearest_with_room() {
    let servers: &[(u64, u64)] = &[(5, 5), (3, 5), (0, 9)];
    let nearest = NearestWithRoom { distance: |client: u32, server: u32| u64::from(client.abs_diff(server)) };
    let pick =
        |weight| nearest.pick(&Request { key: 1, client: 0, weight }, &servers, &mut Panics).map(|pick| pick.winner);
    assert_eq!([1, 2, 3, 9, 10].map(pick), [Some(1), Some(1), Some(2), Some(2), None]);
}
