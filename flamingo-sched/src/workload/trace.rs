//! Recorded transactions: one a line, `block,txindex,reads(;),writes(;)`, in committed order.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{InternError, Interner};

/// Read and write sets of a transaction, in dense ids.
pub type ReadWriteSets = (Vec<u32>, Vec<u32>);

/// Why a line is no transaction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// Not four fields.
    #[error("{got} fields; expected block,txindex,reads(;),writes(;), for example 7,0,12;13,12")]
    Fields {
        /// How many there are.
        got: usize,
    },
    /// A field, or an element of a list, is no unsigned 64-bit number.
    #[error("{text:?} is no number")]
    Number {
        /// Its first 40 characters.
        text: String,
    },
    /// More keys than the interner takes.
    #[error(transparent)]
    Ids(#[from] InternError),
}

/// The transaction on a line, `None` for an empty line and for a comment, which starts with `#`. A written key is also
/// read, block and index are only looked at. Allocates by what the line holds.
///
/// # Errors
/// [`TraceError`]; the keys before the fault have their ids then.
pub fn transaction(line: &str, ids: &mut Interner<u64>) -> Result<Option<ReadWriteSets>, TraceError> {
    let line = line.trim_end();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let mut fields = line.split(',');
    let (Some(block), Some(index), Some(reads), Some(writes), None) =
        (fields.next(), fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err(TraceError::Fields { got: line.split(',').count() });
    };
    number(block)?;
    number(index)?;
    Ok(Some((keys(reads, ids)?, keys(writes, ids)?)))
}

fn keys(list: &str, ids: &mut Interner<u64>) -> Result<Vec<u32>, TraceError> {
    let elements = list.split(';').filter(|_| !list.is_empty());
    elements.map(|element| Ok(ids.intern(&number(element)?)?)).collect()
}

/// Digits only: `parse` would take a sign.
fn number(text: &str) -> Result<u64, TraceError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits);
    number.ok_or_else(|| TraceError::Number { text: text.chars().take(40).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    /// Comments and empty lines are skipped, lists may be empty, ids follow first appearance.
    #[test]
    fn lines_are_read() {
        let mut ids = Interner::new(10, [1, 2]);
        let mut read = |line| transaction(line, &mut ids);
        assert_eq!(read("# block,txindex,reads,writes"), Ok(None));
        assert_eq!(read("\r\n"), Ok(None));
        assert_eq!(read("7,0,,9;4\r\n"), Ok(Some((vec![], vec![0, 1]))));
        assert_eq!(read("7,1,4;5,\n"), Ok(Some((vec![1, 2], vec![]))));
    }

    /// What is wrong is said, and never at length.
    #[test]
    fn faults_are_named() {
        let mut ids = Interner::new(2, [1, 2]);
        let mut fault = |line: &str| transaction(line, &mut ids).unwrap_err().to_string();
        for (line, text) in [
            ("7,0,1;,2", ""),
            ("-1,0,,", "-1"),
            ("7,0,+1,2", "+1"),
            ("7,0,18446744073709551616,2", "18446744073709551616"),
        ] {
            assert_eq!(fault(line), alloc::format!("{text:?} is no number"));
        }
        assert!(fault("7,0,1").starts_with("3 fields"));
        assert!(fault("7,0,1,2,3").starts_with("5 fields"));
        assert_eq!(fault(&alloc::format!("7,0,{},", "é".repeat(100))).chars().filter(|&c| c == 'é').count(), 40);
        assert!(fault("7,0,1;2;3,").contains('2'), "the limit of ids");
    }
}
