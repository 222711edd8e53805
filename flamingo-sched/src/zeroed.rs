//! Tables of moments by key id, of which only a part is ever written.

use alloc::vec;
use alloc::vec::Vec;

/// Makes the table cover `ids`, at least twice as long as before so that growing costs constant time per id. What is new is
/// asked for as zeros instead of written: where the system hands out memory on its first use, what is never written is
/// never there.
pub(crate) fn cover(table: &mut Vec<u64>, ids: usize) {
    let before = table.len();
    if ids > before {
        let mut longer = vec![0; ids.max(2 * before)];
        longer[..before].copy_from_slice(table);
        *table = longer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was there stays, what is new is zero, and nothing shrinks.
    #[test]
    fn tables_grow() {
        let mut table = vec![];
        cover(&mut table, 3);
        table.copy_from_slice(&[7, 8, 9]);
        cover(&mut table, 4);
        assert_eq!(table, [7, 8, 9, 0, 0, 0]);
        cover(&mut table, 2);
        assert_eq!(table.len(), 6);
    }
}
