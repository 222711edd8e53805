//! What is wrong with a netlist's text.

use alloc::string::String;

/// Why a netlist was refused. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Btor2Error {
    /// A word is missing, or is not the number that belongs there.
    #[error("line {line}: expected {expected}")]
    Syntax {
        /// The line.
        line: usize,
        /// What was expected.
        expected: &'static str,
    },
    /// An operator that the interpreter does not know.
    #[error("line {line}: operator {op:?} is not supported")]
    Operator {
        /// The line.
        line: usize,
        /// The operator.
        op: String,
    },
    /// A reference to a line that defines nothing of the kind, or comes later.
    #[error("line {line}: {id} is not {expected} defined above")]
    Reference {
        /// The line.
        line: usize,
        /// The number that was referred to.
        id: u64,
        /// What it should be.
        expected: &'static str,
    },
    /// A number that defines something twice.
    #[error("line {line}: {id} is defined already")]
    Twice {
        /// The line.
        line: usize,
        /// The number.
        id: u64,
    },
    /// Operands whose widths do not fit the operator and its result.
    #[error("line {line}: the widths of the operands and the result do not fit")]
    Widths {
        /// The line.
        line: usize,
    },
    /// A word or an array beyond what the interpreter holds: bits of a word or an address, writes to an array, or what all
    /// arrays hold.
    #[error("line {line}: {what} of size {got}: expected 1 to {limit}")]
    TooLarge {
        /// The line.
        line: usize,
        /// Of what.
        what: &'static str,
        /// The size asked for.
        got: u64,
        /// The most there may be.
        limit: u32,
    },
    /// An array whose next value is not itself with some words written.
    #[error("line {line}: an array may only become itself with words written")]
    Array {
        /// The line.
        line: usize,
    },
}
