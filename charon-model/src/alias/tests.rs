use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

/// Sum exact, each mass within a unit of its quota, zeros zero, every cell possible.
fn check(weights: &[u32], bits: u8) {
    let table = AliasTable::new(weights, bits).unwrap();
    let masses = table.masses();
    let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
    let units = (weights.len() as u64) << bits;
    assert_eq!(masses.iter().map(|&mass| u64::from(mass)).sum::<u64>(), units, "{weights:?}");
    for (&mass, &weight) in masses.iter().zip(weights) {
        let (exact, got) = (u128::from(weight) * u128::from(units), u128::from(mass) * u128::from(total));
        assert!(exact.abs_diff(got) < total.into(), "within one unit: {weights:?}");
        assert!(weight > 0 || mass == 0, "{weights:?}");
    }
    for cell in table.cells() {
        assert!(cell.threshold <= 1 << bits && usize::from(cell.alias) < weights.len(), "{weights:?}");
    }
}

/// How often each server is chosen over every cell and every random number.
fn counted(table: &AliasTable) -> Vec<u32> {
    let servers = table.cells().len() as u32;
    let mut seen = vec![0; table.cells().len()];
    for cell in 0..servers {
        // The smallest high half that names this cell.
        let high = (cell << 16).div_ceil(servers);
        for random in 0..1u32 << table.bits() {
            seen[usize::from(table.choose(high << 16 | random))] += 1;
        }
    }
    seen
}

fn weights() -> impl Strategy<Value = Vec<u32>> {
    let weight = prop_oneof![3 => Just(0u32), 3 => 0u32..9, 2 => any::<u32>(), 1 => Just(u32::MAX)];
    let some = prop::collection::vec(weight, 1..=256);
    some.prop_filter("a positive weight", |weights| weights.iter().any(|&weight| weight > 0))
}

proptest! {
    /// For any weights and any width the masses sum exactly, are within a unit, and zeros stay zero.
    #[test]
    fn tables_are_exact(weights in weights(), bits in 1u8..=16) {
        check(&weights, bits);
    }

    /// Over every cell and every random number of a small width, a server is chosen as often as its mass says; a weight of
    /// 0 never.
    #[test]
    fn choices_are_the_masses_exhaustively(weights in weights(), bits in 1u8..=6) {
        let table = AliasTable::new(&weights, bits).unwrap();
        let seen = counted(&table);
        prop_assert_eq!(&seen, &table.masses());
        prop_assert!(seen.iter().zip(&weights).all(|(&seen, &weight)| weight > 0 || seen == 0));
    }

    /// A used builder and a used table give the table that fresh ones give.
    #[test]
    fn used_buffers_leave_no_trace(before in weights(), weights in weights()) {
        let mut table = AliasTable::new(&before, 16).unwrap();
        let mut builder = AliasBuilder::new(16).unwrap();
        builder.build(&before, &mut table).unwrap();
        builder.build(&weights, &mut table).unwrap();
        prop_assert_eq!(table, AliasTable::new(&weights, 16).unwrap());
    }
}

/// One huge weight, many zeros, sums at 2³², one server, 256 servers, all equal.
#[test]
fn adversarial_weights() {
    let mut last_of_many = vec![0; 256];
    last_of_many[255] = 1;
    let mut huge = vec![1; 256];
    huge[100] = u32::MAX;
    for weights in [
        vec![1],
        vec![u32::MAX],
        vec![u32::MAX, 1],
        vec![1 << 31, 1 << 31],
        vec![1 << 31, 0, 1 << 31, 0],
        vec![u32::MAX; 256],
        vec![1 << 24; 256],
        vec![1; 255],
        last_of_many,
        huge,
        (0..256).collect(),
        (0..256).rev().collect(),
    ] {
        for bits in [1, 2, 8, 15, 16] {
            check(&weights, bits);
        }
    }
}

/// The full width, exhaustively: every high half, and in each cell every random number, for three servers.
#[test]
fn the_full_width_exhaustively() {
    let table = AliasTable::new(&[5, 0, 2], 16).unwrap();
    assert_eq!(table.masses(), [140_434, 0, 56_174], "3 · 2¹⁶ · 5/7 is 140,434.29, and · 2/7 is 56,173.71");
    assert_eq!(counted(&table), table.masses());
}

/// §3, figure 2(a) has "x0 < 3: the entry" and "x1 ≥ 9: the alias": equal is the alias.
#[test]
fn a_random_number_equal_to_the_threshold_takes_the_alias() {
    let table = AliasTable::new(&[3, 13], 4).unwrap();
    let cell = table.cells()[0];
    assert_eq!((cell.threshold, cell.alias), (6, 1), "3/16 of 2 cells of 16 units");
    assert_eq!([0, 5, 6, 7, 15].map(|random| table.choose(random)), [0, 0, 1, 1, 1]);
}

/// A threshold of 2^bits means always, which needs one bit more than the random number; 0 means never.
#[test]
fn always_and_never_are_thresholds() {
    let table = AliasTable::new(&[0, 1], 16).unwrap();
    assert_eq!(table.cells()[0], Cell { threshold: 0, alias: 1 });
    assert_eq!(table.cells()[1].threshold, 1 << 16);
}

/// Largest remainders, of equals the lower id: three equal weights share 3 · 2 units evenly; over 3 cells of 2 units, the
/// weights 1, 1, 2 have the quotas 1.5, 1.5, 3.
#[test]
fn remainders_go_to_the_largest_then_to_the_lower_id() {
    assert_eq!(AliasTable::new(&[1, 1, 1], 1).unwrap().masses(), [2, 2, 2]);
    assert_eq!(AliasTable::new(&[1, 1, 2], 1).unwrap().masses(), [2, 1, 3]);
    assert_eq!(AliasTable::new(&[1, 2, 4], 1).unwrap().masses(), [1, 2, 3], "quotas 0.86, 1.71, 3.43");
    assert_eq!(AliasTable::new(&[1, 2, 1, 4], 8).unwrap().masses(), [128, 256, 128, 512]);
}

/// What makes no table is an error with its numbers, and leaves the table alone.
#[test]
fn impossible_weights_change_nothing() {
    assert_eq!(AliasTable::new(&[1], 0), Err(AliasError::Bits { got: 0 }));
    assert_eq!(AliasTable::new(&[1], 17), Err(AliasError::Bits { got: 17 }));
    let mut builder = AliasBuilder::new(8).unwrap();
    let mut table = AliasTable::new(&[1, 2], 8).unwrap();
    let before = table.clone();
    assert_eq!(builder.build(&[], &mut table), Err(AliasError::Servers { got: 0 }));
    assert_eq!(builder.build(&[1; 257], &mut table), Err(AliasError::Servers { got: 257 }));
    assert_eq!(builder.build(&[0, 0, 0], &mut table), Err(AliasError::AllZero { servers: 3 }));
    assert_eq!(table, before);
}

/// Tables are replaced as a whole; zeros alone mean that nobody can be chosen, other mistakes change nothing.
#[test]
fn tables_are_swapped_whole() {
    let mut tables = AliasTables::new(16).unwrap();
    assert_eq!((tables.current(), tables.version()), (None, 0));
    tables.replace(&[1, 2]).unwrap();
    assert_eq!((tables.current(), tables.version()), (AliasTable::new(&[1, 2], 16).as_ref().ok(), 1));
    tables.replace(&[0, 7, 1]).unwrap();
    assert_eq!((tables.current(), tables.version()), (AliasTable::new(&[0, 7, 1], 16).as_ref().ok(), 2));
    assert_eq!(tables.replace(&[]), Err(AliasError::Servers { got: 0 }));
    assert_eq!((tables.current(), tables.version()), (AliasTable::new(&[0, 7, 1], 16).as_ref().ok(), 2));
    tables.replace(&[0, 0]).unwrap();
    assert_eq!((tables.current(), tables.version()), (None, 3));
    tables.replace(&[3]).unwrap();
    assert_eq!(tables.current().map(|table| table.choose(0xdead_beef)), Some(0));
}
