use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::alias::AliasTables;
use crate::dip_reg_score::Request as Transaction;
use crate::hash::FlowHash;
use crate::params::{Params, RawParams};

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

/// Keys as uniform as the hashes of many flows.
fn keys(count: usize) -> impl Iterator<Item = u64> {
    let mut words = saer::select::SplitMix64(11);
    core::iter::repeat_with(move || words.word()).take(count)
}

fn tables(weights: &[u32]) -> AliasTables {
    let mut tables = AliasTables::new(16).unwrap();
    tables.replace(weights).unwrap();
    tables
}

fn charon(weights: &[u32], replacement: Replacement) -> Charon {
    Charon { tables: tables(weights), replacement }
}

fn wins(selector: &dyn ServerSelector, view: &dyn LoadView, flows: usize) -> Vec<u64> {
    let mut seen = vec![0; view.servers() as usize];
    keys(flows).for_each(|key| seen[selector.pick(&request(key), view, &mut Panics).unwrap().winner as usize] += 1);
    seen
}

/// Σ (seen − expected)² / expected, rounded down; where 0 is expected, 0 has to be seen.
fn chi_square(seen: &[u64], weights: &[u64]) -> u64 {
    let (total, sum) = (seen.iter().sum::<u64>(), weights.iter().sum::<u64>());
    let terms = seen.iter().zip(weights).map(|(&seen, &weight)| {
        assert!(weight > 0 || seen == 0);
        // In thousandths.
        let off = u128::from((seen * sum).abs_diff(total * weight));
        (1_000 * off * off).checked_div(u128::from(sum) * u128::from(total) * u128::from(weight)).unwrap_or(0)
    });
    terms.sum::<u128>() as u64 / 1_000
}

/// One suite over all selectors: a server below N, no draw, the same answer for the same flow, and nobody from nobody.
#[test]
fn every_selector_keeps_the_contract() {
    let loads: &[u64] = &[4, 2, 9, 2, 7];
    let weights = [5, 1, 0, 10, 4];
    let selectors: [(&str, &dyn ServerSelector); 6] = [
        ("charon", &charon(&weights, Replacement::With)),
        ("charon, distinct", &charon(&weights, Replacement::Without)),
        ("wcmp", &Wcmp { tables: tables(&weights) }),
        ("ecmp", &Ecmp),
        ("round robin", &RoundRobin::default()),
        ("least score", &LeastScore { seed: 1 }),
    ];
    for (name, selector) in selectors {
        for key in keys(2_000) {
            let pick = selector.pick(&request(key), &loads, &mut Panics).unwrap();
            assert!(pick.winner < 5 && pick.considered().contains(&pick.winner), "{name}");
            assert_eq!(selector.pick(&request(key), &loads, &mut Panics), Some(pick), "{name}");
        }
        assert_eq!(selector.pick(&request(1), &0u32, &mut Panics), None, "{name}");
    }
}

/// Those that can honour a list do: only listed servers win, each of them does, and nobody from an empty list.
#[test]
fn lists_are_honoured() {
    let mut turns = RoundRobin::default();
    let list = [4, 7, 9];
    for key in keys(300) {
        for selector in [&Ecmp as &dyn SelectAmong, &LeastScore { seed: 3 }, &turns] {
            assert!(list.contains(&selector.pick_among(&request(key), &list, &10u32, &mut Panics).unwrap().winner));
            assert_eq!(selector.pick_among(&request(key), &[], &10u32, &mut Panics), None);
        }
        let pick = turns.pick_among(&request(key), &list, &10u32, &mut Panics).unwrap();
        turns.assigned(&pick, 0);
    }
    let mut seen = [0u64; 10];
    for key in keys(9_000) {
        seen[Ecmp.pick_among(&request(key), &list, &10u32, &mut Panics).unwrap().winner as usize] += 1;
    }
    assert!(chi_square(&list.map(|at| seen[at as usize]), &[1; 3]) < 14, "{seen:?}");
}

/// ECMP is uniform, WCMP follows the weights, round robin takes turns.
#[test]
fn the_simple_ones_are_distributed_as_they_say() {
    let even = wins(&Ecmp, &16u32, 32_000);
    assert!(chi_square(&even, &[1; 16]) < 15 + 28, "{even:?}");
    let wcmp = wins(&Wcmp { tables: tables(&[5, 0, 1, 10, 4]) }, &5u32, 40_000);
    assert!(chi_square(&wcmp, &[5, 0, 1, 10, 4]) < 3 + 18, "{wcmp:?}");
    let mut turns = RoundRobin::default();
    let order: Vec<u32> = (0..7)
        .map(|key| {
            let pick = turns.pick(&request(key), &3u32, &mut Panics).unwrap();
            turns.assigned(&pick, key);
            pick.winner
        })
        .collect();
    assert_eq!(order, [0, 1, 2, 0, 1, 2, 0]);
}

/// ECMP over more servers than half a hash can name: all of them within reach, up to the largest view.
#[test]
fn ecmp_reaches_any_number_of_servers() {
    for servers in [65_535, 65_536, 65_537, 1_000_000, u32::MAX] {
        let last = FlowHash { first: u32::MAX, second: 0 }.key();
        assert_eq!(Ecmp.pick(&request(last), &servers, &mut Panics).unwrap().winner, servers - 1);
        assert_eq!(Ecmp.pick(&request(0), &servers, &mut Panics).unwrap().winner, 0);
        let mut quarters = [0u64; 4];
        for key in keys(4_000) {
            let winner = Ecmp.pick(&request(key), &servers, &mut Panics).unwrap().winner;
            quarters[(u64::from(winner) * 4 / u64::from(servers)) as usize] += 1;
        }
        assert!(chi_square(&quarters, &[1; 4]) < 3 + 18, "{servers}: {quarters:?}");
    }
}

/// §3: of two candidates by weight the lower score wins. With weights 1, 2, 1 of 4 and loads in order, the winners are
/// distributed as 7, 8, 1 of 16 with replacement, and as computed by hand without.
#[test]
fn two_choices_are_distributed_as_computed() {
    let loads: &[u64] = &[10, 11, 12];
    let with = wins(&charon(&[1, 2, 1], Replacement::With), &loads, 32_000);
    assert!(chi_square(&with, &[7, 8, 1]) < 2 + 14, "{with:?}");
    // P(0 is a candidate) = 1/4 + 1/2 · 1/2 + 1/4 · 1/3 = 7/12; else 1 wins, since 2 twice is impossible.
    let without = wins(&charon(&[1, 2, 1], Replacement::Without), &loads, 24_000);
    assert!(chi_square(&without, &[7, 5, 0]) < 1 + 12, "{without:?}");
}

/// Without replacement the candidates differ as long as two servers can be drawn; with replacement they need not.
#[test]
fn distinct_candidates_are_distinct() {
    let (with, without) = (charon(&[1, 1], Replacement::With), charon(&[1, 1], Replacement::Without));
    let alone = charon(&[0, 1], Replacement::Without);
    let (mut same, mut differ) = (0, 0);
    for hash in keys(4_000).map(FlowHash::from_key) {
        let [first, second] = with.candidates(hash).unwrap();
        same += u32::from(first == second);
        let [first, second] = without.candidates(hash).unwrap();
        differ += u32::from(first != second);
        assert_eq!(alone.candidates(hash), Some([1, 1]));
    }
    assert!((1_800..2_200).contains(&same), "{same}");
    assert!(differ >= 3_960, "all but one in 2⁹ of those drawn again: {differ}");
}

/// While a table is in use, a retransmitted SYN has the candidates of the first one; a new table can change them.
#[test]
fn candidates_are_sticky_within_a_version() {
    for replacement in [Replacement::With, Replacement::Without] {
        let mut charon = charon(&[1; 16], replacement);
        let before: Vec<_> = keys(500).map(|key| charon.candidates(FlowHash::from_key(key))).collect();
        let again: Vec<_> = keys(500).map(|key| charon.candidates(FlowHash::from_key(key))).collect();
        assert_eq!(before, again);
        let version = charon.tables.version();
        let weights: Vec<u32> = (1..=16).collect();
        charon.tables.replace(&weights).unwrap();
        let after: Vec<_> = keys(500).map(|key| charon.candidates(FlowHash::from_key(key))).collect();
        assert!(charon.tables.version() != version && before != after);
    }
}

/// The selector behind the interface, GET_INDEX of the Score Table, and `assign` choose the same server, ties included.
#[test]
fn the_selector_agrees_with_the_score_table() {
    let params = Params::new(RawParams::paper()).unwrap();
    let mut scores = DipRegScore::new(&params);
    for id in 0..16 {
        let _ = scores.apply(Transaction::update(id, u16::from(id) / 4, u32::from(id) << 12, 0));
    }
    let charon = charon(&[1; 16], Replacement::With);
    let mut seconds = 0;
    for (now, key) in (0..).step_by(50).zip(keys(4_000)) {
        let hash = FlowHash::from_key(key);
        let view = ScoresAt { scores: &scores, now };
        let pick = charon.pick(&request(key), &view, &mut Panics).unwrap();
        assert_eq!(view.load(16), u64::MAX);
        let [first, second] = charon.candidates(hash).unwrap();
        let (answer, _) = scores.clone().apply(Transaction::get_index(first, second, now));
        assert_eq!(charon.assign(hash, &mut scores, now), Some(answer));
        assert_eq!((pick.winner, pick.considered()), (answer.id.into(), &[first.into(), second.into()][..]));
        seconds += u32::from(first != second && answer.id == second);
    }
    assert!((500..3_500).contains(&seconds), "{seconds}");
}

/// A view of another size than the table is refused, and so is a table without servers.
#[test]
fn tables_and_views_have_to_fit() {
    let charon = charon(&[1, 1], Replacement::With);
    let wcmp = Wcmp { tables: tables(&[1, 1]) };
    let empty = Charon { tables: tables(&[0, 0]), replacement: Replacement::With };
    assert_eq!(charon.pick(&request(1), &3u32, &mut Panics), None);
    assert_eq!(wcmp.pick(&request(1), &3u32, &mut Panics), None);
    assert_eq!(empty.pick(&request(1), &2u32, &mut Panics), None);
    let mut scores = DipRegScore::new(&Params::new(RawParams::paper()).unwrap());
    assert_eq!(empty.assign(FlowHash::from_key(1), &mut scores, 0), None);
}
