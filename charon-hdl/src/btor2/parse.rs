//! Reads the text of a netlist.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;

use super::error::Btor2Error;
use super::netlist::{Array, ArrayNode, ArrayValue, Memory, Netlist, Op, Place, Register, Signal, Step};
use super::shrink::{self, Copies};
use super::word::{self, MAX_WIDTH, Word, ZERO, limbs};

/// The most address bits of an array.
const MAX_ADDRESS: u32 = 16;
/// The most that all arrays hold, in limbs of 64 bits: 32 MiB.
const MAX_MEMORY: u32 = 1 << 22;
/// The most writes and choices between an array's value and what it becomes.
const MAX_DEPTH: u32 = 1024;

impl Netlist {
    /// Reads a netlist. Memory: some words per line; a [`Machine`](super::Machine) of it adds what its arrays hold, at most
    /// 32 MiB.
    ///
    /// # Errors
    /// [`Btor2Error`] with the first line that is not understood, or does not fit.
    pub fn parse(text: &str) -> Result<Self, Btor2Error> {
        let mut reader = Reader::default();
        for (at, line) in text.lines().enumerate() {
            reader.line = at + 1;
            reader.read(line.split(';').next().unwrap_or(""))?;
        }
        shrink::remove_unused(&mut reader.netlist);
        Ok(reader.netlist)
    }
}

/// What a number stands for.
#[derive(Clone, Copy)]
enum Item {
    /// A sort of words.
    Bits(u32),
    /// A sort of arrays: address and word.
    Arrays(u32, u32),
    Word(Place),
    Array(usize),
}

#[derive(Default)]
struct Reader {
    line: usize,
    items: BTreeMap<u64, Item>,
    /// What the arrays hold, in limbs.
    memory: usize,
    copies: Copies,
    netlist: Netlist,
}

/// The words of a line that were not read yet.
struct Words<'a> {
    line: usize,
    rest: core::str::SplitWhitespace<'a>,
}

impl<'a> Words<'a> {
    fn next(&mut self, expected: &'static str) -> Result<&'a str, Btor2Error> {
        self.rest.next().ok_or(Btor2Error::Syntax { line: self.line, expected })
    }

    fn number(&mut self, expected: &'static str) -> Result<u64, Btor2Error> {
        self.next(expected)?.parse().map_err(|_| Btor2Error::Syntax { line: self.line, expected })
    }

    fn bits(&mut self, what: &'static str, limit: u32) -> Result<u32, Btor2Error> {
        match self.number(what)? {
            got if got == 0 || got > limit.into() => Err(Btor2Error::TooLarge { line: self.line, what, got, limit }),
            got => Ok(got as u32),
        }
    }
}

impl Reader {
    fn read(&mut self, line: &str) -> Result<(), Btor2Error> {
        let mut words = Words { line: self.line, rest: line.split_whitespace() };
        if words.rest.clone().next().is_none() {
            return Ok(());
        }
        let id = words.number("a number")?;
        match words.next("an operator")? {
            "sort" => self.sort(id, &mut words),
            "input" => {
                let place = self.sized_place(&mut words)?;
                if let Some(name) = words.rest.next() {
                    self.netlist.inputs.insert(name.to_owned(), Signal(place));
                    self.netlist.names.insert(name.to_owned(), Signal(place));
                }
                self.define(id, Item::Word(place))
            }
            "output" => {
                let place = self.word(&mut words)?;
                let name = words.next("a name")?;
                self.netlist.outputs.insert(name.to_owned(), Signal(place));
                self.netlist.names.insert(name.to_owned(), Signal(place));
                Ok(())
            }
            "state" => self.state(id, &mut words),
            "next" => self.next(&mut words),
            "init" => self.init(&mut words),
            op @ ("const" | "constd" | "consth" | "zero" | "one" | "ones") => self.constant(id, op, &mut words),
            "write" => {
                self.array_sort(&mut words)?;
                let base = self.array(&mut words)?;
                let (address, word) = (self.word(&mut words)?, self.word(&mut words)?);
                let value = self.netlist.array_values[base];
                self.fits((value.address, value.width) == (address.width, word.width))?;
                self.array_value(id, ArrayValue { node: ArrayNode::Written { base, address, word }, ..value })
            }
            "ite" if self.of_arrays(&words) => {
                self.array_sort(&mut words)?;
                let which = self.word(&mut words)?;
                let (yes, no) = (self.array(&mut words)?, self.array(&mut words)?);
                let [one, two] = [yes, no].map(|value| self.netlist.array_values[value]);
                self.fits(which.width == 1 && (one.address, one.width) == (two.address, two.width))?;
                let node = ArrayNode::Chosen { which, yes, no };
                let origin = one.origin.filter(|_| one.origin == two.origin);
                self.array_value(id, ArrayValue { node, origin, depth: one.depth.max(two.depth), ..one })
            }
            op => self.operator(id, op, &mut words),
        }
    }

    fn sort(&mut self, id: u64, words: &mut Words<'_>) -> Result<(), Btor2Error> {
        let item = match words.next("bitvec or array")? {
            "bitvec" => Item::Bits(words.bits("a word", MAX_WIDTH)?),
            "array" => {
                let (address, word) = (self.bits_of_sort(words)?, self.bits_of_sort(words)?);
                if address > MAX_ADDRESS {
                    let (line, got) = (self.line, address.into());
                    return Err(Btor2Error::TooLarge { line, what: "an address", got, limit: MAX_ADDRESS });
                }
                Item::Arrays(address, word)
            }
            _ => return Err(Btor2Error::Syntax { line: self.line, expected: "bitvec or array" }),
        };
        self.define(id, item)
    }

    fn state(&mut self, id: u64, words: &mut Words<'_>) -> Result<(), Btor2Error> {
        if self.of_arrays(words) {
            let (address, width) = self.array_sort(words)?;
            self.memory(limbs(width) << address)?;
            let array = self.netlist.arrays.len();
            self.netlist.arrays.push(Array { address, width, next: None });
            if let Some(name) = words.rest.next() {
                self.netlist.memories.insert(name.to_owned(), Memory(array));
            }
            let node = ArrayNode::Stored { array };
            return self.array_value(id, ArrayValue { node, address, width, origin: Some(array), depth: 0 });
        }
        let place = self.sized_place(words)?;
        self.netlist.registers.push(Register { place, next: None, init: None });
        if let Some(name) = words.rest.next() {
            self.netlist.names.insert(name.to_owned(), Signal(place));
        }
        self.define(id, Item::Word(place))
    }

    fn next(&mut self, words: &mut Words<'_>) -> Result<(), Btor2Error> {
        if self.of_arrays(words) {
            self.array_sort(words)?;
            let (of, node) = (self.array(words)?, self.array(words)?);
            return match self.netlist.array_values[of].node {
                ArrayNode::Stored { array } if self.netlist.array_values[node].origin == Some(array) => {
                    let before = self.netlist.arrays[array].next.replace(node);
                    self.expect(before.is_none(), "a state without a next value")
                }
                _ => Err(Btor2Error::Array { line: self.line }),
            };
        }
        let width = self.bits_of_sort(words)?;
        let (of, next) = (self.word(words)?, self.word(words)?);
        self.fits(of.width == width && next.width == width)?;
        let before = self.register(of)?.next.replace(next);
        self.expect(before.is_none(), "a state without a next value")
    }

    fn init(&mut self, words: &mut Words<'_>) -> Result<(), Btor2Error> {
        let width = self.bits_of_sort(words)?;
        let (of, init) = (self.word(words)?, self.word(words)?);
        self.fits(of.width == width && init.width == width)?;
        let constants = &self.netlist.constants;
        self.expect(constants.binary_search_by_key(&init.at, |(place, _)| place.at).is_ok(), "a constant")?;
        let before = self.register(of)?.init.replace(init);
        self.expect(before.is_none(), "a state without a first value")
    }

    fn constant(&mut self, id: u64, op: &str, words: &mut Words<'_>) -> Result<(), Btor2Error> {
        let place = self.sized_place(words)?;
        let word = match op {
            "zero" => Some(ZERO),
            "one" => digits("1", 2),
            "ones" => Some(word::not(&ZERO)),
            "const" => digits(words.next("binary digits")?, 2),
            "constd" => digits(words.next("decimal digits")?, 10),
            _ => digits(words.next("hexadecimal digits")?, 16),
        }
        .ok_or(Btor2Error::Syntax { line: self.line, expected: "digits" })?;
        let word = word::cut(word, place.width);
        self.netlist.constants.push((place, word[..limbs(place.width)].to_vec()));
        self.define(id, Item::Word(place))
    }

    fn operator(&mut self, id: u64, name: &str, words: &mut Words<'_>) -> Result<(), Btor2Error> {
        let width = self.bits_of_sort(words)?;
        let Some((mut op, swapped)) = operator(name) else {
            return Err(Btor2Error::Operator { line: self.line, op: name.to_owned() });
        };
        if let Op::Read { node } = &mut op {
            *node = self.array(words)?;
        }
        let (mut a, mut b, mut c) = (self.word(words)?, Place::default(), Place::default());
        let fits = match &mut op {
            Op::Not | Op::Neg => a.width == width,
            Op::RedAnd | Op::RedOr | Op::RedXor => width == 1,
            Op::Slice { low } => {
                let (highest, lowest) = (words.number("the highest bit")?, words.number("the lowest bit")?);
                *low = lowest.min(u64::from(a.width)) as u32;
                lowest <= highest && highest < a.width.into() && highest - lowest + 1 == width.into()
            }
            Op::Uext | Op::Sext => {
                Some(words.number("how many bits more")?) == width.checked_sub(a.width).map(u64::from)
            }
            Op::Read { node } => {
                let value = self.netlist.array_values[*node];
                (value.address, value.width) == (a.width, width)
            }
            Op::Ite => {
                (b, c) = (self.word(words)?, self.word(words)?);
                a.width == 1 && b.width == width && c.width == width
            }
            Op::Eq | Op::Neq | Op::Ult | Op::Ulte | Op::Slt | Op::Slte => {
                b = self.word(words)?;
                width == 1 && a.width == b.width
            }
            Op::Concat => {
                b = self.word(words)?;
                a.width + b.width == width
            }
            Op::And | Op::Or | Op::Xor | Op::Add | Op::Sub | Op::Mul | Op::Sll | Op::Srl | Op::Sra => {
                b = self.word(words)?;
                a.width == width && b.width == width
            }
        };
        self.fits(fits)?;
        if swapped {
            (a, b) = (b, a);
        }
        // A wire with another name is the same word.
        let out = if op == Op::Uext && a.width == width { a } else { self.place(width) };
        if out != a {
            self.netlist.steps.push(self.copies.joined(Step::new(op, out, [a, b, c])));
        }
        if let Some(name) = words.rest.next() {
            self.netlist.names.insert(name.to_owned(), Signal(out));
        }
        self.define(id, Item::Word(out))
    }

    // --- the pieces of a line -------------------------------------------------------------------------------------

    fn define(&mut self, id: u64, item: Item) -> Result<(), Btor2Error> {
        match self.items.insert(id, item) {
            None => Ok(()),
            Some(_) => Err(Btor2Error::Twice { line: self.line, id }),
        }
    }

    /// Defines an array value one deeper than what it was copied from.
    fn array_value(&mut self, id: u64, value: ArrayValue) -> Result<(), Btor2Error> {
        let depth = value.depth + 1;
        if depth > MAX_DEPTH {
            let (line, got) = (self.line, depth.into());
            return Err(Btor2Error::TooLarge { line, what: "writes to an array", got, limit: MAX_DEPTH });
        }
        self.netlist.array_values.push(ArrayValue { depth, ..value });
        self.define(id, Item::Array(self.netlist.array_values.len() - 1))
    }

    /// Counts what all arrays hold, so that a short text cannot ask for all the memory there is.
    fn memory(&mut self, limbs: usize) -> Result<(), Btor2Error> {
        self.memory += limbs;
        if self.memory > MAX_MEMORY as usize {
            let (line, got) = (self.line, self.memory as u64);
            return Err(Btor2Error::TooLarge {
                line,
                what: "all arrays, in words of 64 bits,",
                got,
                limit: MAX_MEMORY,
            });
        }
        Ok(())
    }

    fn place(&mut self, width: u32) -> Place {
        let at = self.netlist.limbs;
        self.netlist.limbs += limbs(width);
        Place { at: at as u32, width }
    }

    fn sized_place(&mut self, words: &mut Words<'_>) -> Result<Place, Btor2Error> {
        let width = self.bits_of_sort(words)?;
        Ok(self.place(width))
    }

    fn item(&self, words: &mut Words<'_>, expected: &'static str) -> Result<(u64, Option<Item>), Btor2Error> {
        let id = words.number(expected)?;
        Ok((id, self.items.get(&id).copied()))
    }

    fn bits_of_sort(&self, words: &mut Words<'_>) -> Result<u32, Btor2Error> {
        match self.item(words, "a sort of words")? {
            (_, Some(Item::Bits(width))) => Ok(width),
            (id, _) => Err(self.reference(id, "a sort of words")),
        }
    }

    fn array_sort(&self, words: &mut Words<'_>) -> Result<(u32, u32), Btor2Error> {
        match self.item(words, "a sort of arrays")? {
            (_, Some(Item::Arrays(address, width))) => Ok((address, width)),
            (id, _) => Err(self.reference(id, "a sort of arrays")),
        }
    }

    fn word(&self, words: &mut Words<'_>) -> Result<Place, Btor2Error> {
        match self.item(words, "a word")? {
            (_, Some(Item::Word(place))) => Ok(place),
            (id, _) => Err(self.reference(id, "a word")),
        }
    }

    fn array(&self, words: &mut Words<'_>) -> Result<usize, Btor2Error> {
        match self.item(words, "an array")? {
            (_, Some(Item::Array(node))) => Ok(node),
            (id, _) => Err(self.reference(id, "an array")),
        }
    }

    /// Whether the sort that comes next is one of arrays.
    fn of_arrays(&self, words: &Words<'_>) -> bool {
        let sort = words.rest.clone().next().and_then(|word| word.parse().ok());
        matches!(sort.and_then(|id: u64| self.items.get(&id)), Some(Item::Arrays(..)))
    }

    /// The register of a place; they come in the order of their places.
    fn register(&mut self, place: Place) -> Result<&mut Register, Btor2Error> {
        let registers = &mut self.netlist.registers;
        match registers.binary_search_by_key(&place.at, |register| register.place.at) {
            Ok(at) => Ok(&mut registers[at]),
            Err(_) => Err(Btor2Error::Syntax { line: self.line, expected: "a state" }),
        }
    }

    const fn expect(&self, holds: bool, expected: &'static str) -> Result<(), Btor2Error> {
        if holds { Ok(()) } else { Err(Btor2Error::Syntax { line: self.line, expected }) }
    }

    fn fits(&self, fits: bool) -> Result<(), Btor2Error> {
        if fits { Ok(()) } else { Err(Btor2Error::Widths { line: self.line }) }
    }

    const fn reference(&self, id: u64, expected: &'static str) -> Btor2Error {
        Btor2Error::Reference { line: self.line, id, expected }
    }
}

/// The operator of a name, and whether its operands change places.
fn operator(name: &str) -> Option<(Op, bool)> {
    let op = match name {
        "not" => Op::Not,
        "neg" => Op::Neg,
        "redand" => Op::RedAnd,
        "redor" => Op::RedOr,
        "redxor" => Op::RedXor,
        "slice" => Op::Slice { low: 0 },
        "uext" => Op::Uext,
        "sext" => Op::Sext,
        "and" => Op::And,
        "or" => Op::Or,
        "xor" => Op::Xor,
        "add" => Op::Add,
        "sub" => Op::Sub,
        "mul" => Op::Mul,
        "eq" => Op::Eq,
        "neq" => Op::Neq,
        "ult" | "ugt" => Op::Ult,
        "ulte" | "ugte" => Op::Ulte,
        "slt" | "sgt" => Op::Slt,
        "slte" | "sgte" => Op::Slte,
        "concat" => Op::Concat,
        "sll" => Op::Sll,
        "srl" => Op::Srl,
        "sra" => Op::Sra,
        "ite" => Op::Ite,
        "read" => Op::Read { node: 0 },
        _ => return None,
    };
    Some((op, matches!(name, "ugt" | "ugte" | "sgt" | "sgte")))
}

/// A number in some base, modulo 2^[`MAX_WIDTH`]; `None` if a digit is none.
fn digits(text: &str, base: u32) -> Option<Word> {
    let word = |value: u32| {
        let mut word = ZERO;
        word[0] = value.into();
        word
    };
    let mut value = ZERO;
    for digit in text.chars() {
        value = word::add(&word::mul(&value, &word(base)), &word(digit.to_digit(base)?), false);
    }
    Some(value)
}
