//! An interpreter for netlists in BTOR2, so that the elaborated hardware runs wherever Rust does.
//!
//! *What it is.* BTOR2 (Niemetz, Preiner, Wolf, Biere, CAV 2018) lists registers, memories and the words between them, one
//! operator a line, each line after those it uses. Yosys writes it from the RTL. [`Netlist::parse`] reads the text once,
//! [`Machine`] runs it: set the inputs, [`settle`](Machine::settle), look, [`clock`](Machine::clock).
//!
//! *Variant.* One clock, which is implied: a line's value counts just before the edge. Two states: there is no X. What the
//! netlist leaves open when the power comes up is zero or a pattern, as [`Fill`] says; a design that depends on it gives
//! itself away by two different runs.
//!
//! *Deviations.* Only what Yosys writes for synchronous designs: words of up to 512 bits, arrays of up to 2¹⁶ words and
//! 32 MiB in all, no signed division, no properties (`bad`, `constraint`, `fair`, `justice`), no negated references.
//! Everything else is a [`Btor2Error`] with its line.
//!
//! *Cost.* A clock runs every operator once, some 50 instructions each in the mean over the crate's netlists; words of more
//! than 64 bits cost several times those below. No allocation after [`Machine::new`].

mod error;
mod machine;
mod netlist;
mod parse;
mod shrink;
#[cfg(test)]
mod tests;
mod word;

pub use error::Btor2Error;
pub use machine::{Fill, Machine};
pub use netlist::{Memory, Netlist, Signal};
