//! A netlist as it runs: words with places in one vector, and operators in order.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::word::limbs;

/// A netlist that was read and checked. See [the module](super).
#[derive(Clone, Debug, Default)]
pub struct Netlist {
    /// How many limbs of 64 bits all words take.
    pub(super) limbs: usize,
    /// Constants, set once.
    pub(super) constants: Vec<(Place, Vec<u64>)>,
    /// Operators: each reads places below its own.
    pub(super) steps: Vec<Step>,
    pub(super) registers: Vec<Register>,
    pub(super) arrays: Vec<Array>,
    /// Arrays as values.
    pub(super) array_values: Vec<ArrayValue>,
    pub(super) inputs: BTreeMap<String, Signal>,
    pub(super) outputs: BTreeMap<String, Signal>,
    pub(super) names: BTreeMap<String, Signal>,
    pub(super) memories: BTreeMap<String, Memory>,
}

/// A word of a netlist, found by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(pub(super) Place);

/// A memory of a netlist, found by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory(pub(super) usize);

/// Where a word is: its first limb, and its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) at: u32,
    pub(super) width: u32,
}

/// A register: its value, what it becomes, and what it is at first, where the netlist says so.
#[derive(Clone, Debug)]
pub(super) struct Register {
    pub(super) place: Place,
    pub(super) next: Option<Place>,
    pub(super) init: Option<Place>,
}

/// A memory: words of `width` bits under addresses of `address` bits.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) address: u32,
    pub(super) width: u32,
    /// What it becomes, as a value.
    pub(super) next: Option<usize>,
}

/// An array as a value; every value has one below it that is what a memory holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrayValue {
    pub(super) node: ArrayNode,
    pub(super) address: u32,
    pub(super) width: u32,
    /// The memory of which it is a changed copy; `None` if it is one of several.
    pub(super) origin: Option<usize>,
    /// How many writes and choices lie between.
    pub(super) depth: u32,
}

/// How an array value comes about: indices are into [`Netlist::array_values`], and lower than its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum ArrayNode {
    /// What the memory holds now.
    Stored { array: usize },
    /// The same but for one word.
    Written { base: usize, address: Place, word: Place },
    /// One of two.
    Chosen { which: Place, yes: usize, no: usize },
}

/// An operator, its result, and its operands; those that it has not are empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) op: Op,
    /// All its words have at most 64 bits.
    pub(super) narrow: bool,
    pub(super) out: Place,
    pub(super) a: Place,
    pub(super) b: Place,
    pub(super) c: Place,
}

/// The operators. Comparisons the other way round have their operands swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Not,
    Neg,
    RedAnd,
    RedOr,
    RedXor,
    Slice { low: u32 },
    Uext,
    Sext,
    And,
    Or,
    Xor,
    Add,
    Sub,
    Mul,
    Eq,
    Neq,
    Ult,
    Ulte,
    Slt,
    Slte,
    Concat,
    Sll,
    Srl,
    Sra,
    Ite,
    Read { node: usize },
}

impl Netlist {
    /// The input of a name.
    #[must_use]
    pub fn input(&self, name: &str) -> Option<Signal> {
        self.inputs.get(name).copied()
    }

    /// The output of a name.
    #[must_use]
    pub fn output(&self, name: &str) -> Option<Signal> {
        self.outputs.get(name).copied()
    }

    /// Any word of a name: an input, an output, a register, or a wire that the netlist still names.
    #[must_use]
    pub fn signal(&self, name: &str) -> Option<Signal> {
        self.names.get(name).copied()
    }

    /// The memory of a name.
    #[must_use]
    pub fn memory(&self, name: &str) -> Option<Memory> {
        self.memories.get(name).copied()
    }

    /// Every named word, in the order of the names.
    pub fn signals(&self) -> impl Iterator<Item = (&str, Signal)> {
        self.names.iter().map(|(name, signal)| (name.as_str(), *signal))
    }

    /// Operators that a clock runs.
    #[must_use]
    pub fn operators(&self) -> usize {
        self.steps.len()
    }
}

impl Step {
    pub(super) const fn new(op: Op, out: Place, [a, b, c]: [Place; 3]) -> Self {
        Self { op, narrow: out.is_narrow() && a.is_narrow() && b.is_narrow(), out, a, b, c }
    }
}

impl Signal {
    /// The bits of the word.
    #[must_use]
    pub const fn width(self) -> u32 {
        self.0.width
    }
}

impl Place {
    pub(super) const fn range(self) -> core::ops::Range<usize> {
        self.at as usize..self.at as usize + limbs(self.width)
    }

    pub(super) const fn is_narrow(self) -> bool {
        self.width <= 64
    }
}
