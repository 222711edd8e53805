//! Runs a netlist.

use alloc::vec;
use alloc::vec::Vec;

use super::netlist::{ArrayNode, Memory, Netlist, Op, Place, Signal, Step};
use super::word::{self, Word, ZERO, limbs, mask};

/// What registers and memories hold when the power comes up, where the netlist does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "nothing, or something")]
pub enum Fill {
    /// Zero.
    Zero,
    /// Bits drawn from a seed: the same seed, the same bits.
    Pattern(u64),
}

/// A netlist with the values of its words.
///
/// ```
/// use charon_hdl::btor2::{Fill, Machine, Netlist};
/// let counter = "
/// 1 sort bitvec 1
/// 2 sort bitvec 8
/// 3 input 1 up
/// 4 state 2 count
/// 5 uext 2 3 7
/// 6 add 2 4 5
/// 7 next 2 4 6
/// 8 output 4 count_o
/// ";
/// let netlist = Netlist::parse(counter).unwrap();
/// let (up, count) = (netlist.input("up").unwrap(), netlist.output("count_o").unwrap());
/// let mut machine = Machine::new(&netlist, Fill::Zero);
/// machine.set(up, 1);
/// machine.settle();
/// assert_eq!(machine.get(count), 0, "a register changes at the edge");
/// machine.clock();
/// machine.settle();
/// assert_eq!(machine.get(count), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    netlist: &'a Netlist,
    values: Vec<u64>,
    memories: Vec<Vec<u64>>,
    /// What the registers become, while they still are what they were.
    coming: Vec<u64>,
}

impl<'a> Machine<'a> {
    /// The netlist as the power comes up; inputs are zero.
    #[must_use]
    pub fn new(netlist: &'a Netlist, fill: Fill) -> Self {
        let mut bits = Bits(fill);
        let mut values = vec![0; netlist.limbs];
        for (place, limbs) in &netlist.constants {
            values[place.range()].copy_from_slice(limbs);
        }
        let mut coming = 0;
        for register in &netlist.registers {
            coming += limbs(register.place.width);
            bits.fill(&mut values[register.place.range()], register.place.width);
            if let Some(init) = register.init {
                values.copy_within(init.range(), register.place.range().start);
            }
        }
        let memories = netlist.arrays.iter().map(|array| {
            let mut words = vec![0; limbs(array.width) << array.address];
            words.chunks_exact_mut(limbs(array.width)).for_each(|word| bits.fill(word, array.width));
            words
        });
        let memories = memories.collect();
        Self { netlist, values, memories, coming: vec![0; coming] }
    }

    /// Sets an input, or a register, to the low bits of a number. What depends on it follows in [`settle`](Self::settle).
    pub fn set(&mut self, signal: Signal, value: u128) {
        let mut word = ZERO;
        (word[0], word[1]) = (value as u64, (value >> 64) as u64);
        store(&mut self.values, signal.0, &word);
    }

    /// The low 128 bits of a word, as of the last [`settle`](Self::settle).
    #[must_use]
    pub fn get(&self, signal: Signal) -> u128 {
        let word = load(&self.values, signal.0);
        u128::from(word[1]) << 64 | u128::from(word[0])
    }

    /// Sets an input, or a register, of any width: limbs of 64 bits, the lowest first; those that are missing are zero.
    pub fn set_limbs(&mut self, signal: Signal, limbs: &[u64]) {
        let mut word = ZERO;
        word.iter_mut().zip(limbs).for_each(|(own, limb)| *own = *limb);
        store(&mut self.values, signal.0, &word);
    }

    /// All bits of a word, as of the last [`settle`](Self::settle): limbs of 64 bits, the lowest first.
    #[must_use]
    pub fn limbs(&self, signal: Signal) -> &[u64] {
        &self.values[signal.0.range()]
    }

    /// Puts a word into a memory, past its ports: limbs of 64 bits, the lowest first; those that are missing are zero. False,
    /// and nothing changes, if the memory has no such address.
    pub fn put(&mut self, memory: Memory, address: usize, limbs: &[u64]) -> bool {
        let width = self.netlist.arrays[memory.0].width;
        let mut words = self.memories[memory.0].chunks_exact_mut(word::limbs(width));
        let Some(own) = words.nth(address) else { return false };
        let mut word = ZERO;
        word.iter_mut().zip(limbs).for_each(|(own, limb)| *own = *limb);
        let word = word::cut(word, width);
        own.copy_from_slice(&word[..own.len()]);
        true
    }

    /// Lets every word follow the inputs and the registers.
    pub fn settle(&mut self) {
        for step in &self.netlist.steps {
            if step.narrow {
                let value = self.narrow(step);
                self.values[step.out.at as usize] = value & mask(step.out.width);
            } else if let (Op::Slice { low }, true) = (step.op, step.out.width <= 64) {
                let value = self.bits(step.a, low);
                self.values[step.out.at as usize] = value & mask(step.out.width);
            } else if step.op == Op::Ite {
                let chosen = if self.values[step.a.at as usize] == 0 { step.c } else { step.b };
                self.values.copy_within(chosen.range(), step.out.range().start);
            } else {
                let value = self.wide(step);
                store(&mut self.values, step.out, &value);
            }
        }
    }

    /// The rising edge: registers and memories become what they were about to. Call [`settle`](Self::settle) before.
    pub fn clock(&mut self) {
        let mut at = 0;
        for register in &self.netlist.registers {
            let range = register.next.unwrap_or(register.place).range();
            let end = at + range.len();
            self.coming[at..end].copy_from_slice(&self.values[range]);
            at = end;
        }
        for array in &self.netlist.arrays {
            if let Some(node) = array.next {
                self.write(node);
            }
        }
        at = 0;
        for register in &self.netlist.registers {
            let range = register.place.range();
            let end = at + range.len();
            self.values[range].copy_from_slice(&self.coming[at..end]);
            at = end;
        }
    }

    /// 64 bits of a wide word from a bit on, or what there is of them.
    fn bits(&self, word: Place, low: u32) -> u64 {
        let limbs = &self.values[word.range()];
        let (limb, bit) = (low as usize / 64, low % 64);
        let high = limbs.get(limb + 1).map_or(0, |next| next.wrapping_shl(64 - bit));
        if bit == 0 { limbs[limb] } else { limbs[limb] >> bit | high }
    }

    /// An operator whose words have at most 64 bits.
    #[inline]
    fn narrow(&self, step: &Step) -> u64 {
        let a = self.values[step.a.at as usize];
        let b = self.values[step.b.at as usize];
        let signed = |value: u64, place: Place| (value << (64 - place.width)) as i64 >> (64 - place.width);
        match step.op {
            Op::Not => !a,
            Op::Neg => a.wrapping_neg(),
            Op::RedAnd => u64::from(a == mask(step.a.width)),
            Op::RedOr => u64::from(a != 0),
            Op::RedXor => u64::from(a.count_ones() % 2),
            Op::Slice { low } => a >> low,
            Op::Uext => a,
            Op::Sext => signed(a, step.a) as u64,
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Add => a.wrapping_add(b),
            Op::Sub => a.wrapping_sub(b),
            Op::Mul => a.wrapping_mul(b),
            Op::Eq => u64::from(a == b),
            Op::Neq => u64::from(a != b),
            Op::Ult => u64::from(a < b),
            Op::Ulte => u64::from(a <= b),
            Op::Slt => u64::from(signed(a, step.a) < signed(b, step.b)),
            Op::Slte => u64::from(signed(a, step.a) <= signed(b, step.b)),
            Op::Concat => a << step.b.width | b, // both have at least one bit, and together at most 64
            Op::Sll => {
                if b < 64 {
                    a << b
                } else {
                    0
                }
            }
            Op::Srl => {
                if b < 64 {
                    a >> b
                } else {
                    0
                }
            }
            Op::Sra => (signed(a, step.a) >> b.min(63)) as u64,
            Op::Ite => {
                if a != 0 {
                    b
                } else {
                    self.values[step.c.at as usize]
                }
            }
            Op::Read { node } => self.read(node, &load(&self.values, step.a))[0],
        }
    }

    /// Any operator.
    fn wide(&self, step: &Step) -> Word {
        let [a, b, c] = [step.a, step.b, step.c].map(|place| load(&self.values, place));
        let bit = |value: bool| {
            let mut word = ZERO;
            word[0] = value.into();
            word
        };
        let by = word::amount(&b);
        let signed_less =
            |a: &Word, b: &Word| word::less(&word::flip_sign(*a, step.a.width), &word::flip_sign(*b, step.a.width));
        let value = match step.op {
            Op::Not => word::not(&a),
            Op::Neg => word::sub(&ZERO, &a),
            Op::RedAnd => bit(a == word::cut(word::not(&ZERO), step.a.width)),
            Op::RedOr => bit(a != ZERO),
            Op::RedXor => bit(a.iter().map(|limb| limb.count_ones()).sum::<u32>() % 2 == 1),
            Op::Slice { low } => word::shift_right(&a, low.into()),
            Op::Uext => a,
            Op::Sext => word::sign_extend(&a, step.a.width),
            Op::And => word::zip(&a, &b, |a, b| a & b),
            Op::Or => word::zip(&a, &b, |a, b| a | b),
            Op::Xor => word::zip(&a, &b, |a, b| a ^ b),
            Op::Add => word::add(&a, &b, false),
            Op::Sub => word::sub(&a, &b),
            Op::Mul => word::mul(&a, &b),
            Op::Eq => bit(a == b),
            Op::Neq => bit(a != b),
            Op::Ult => bit(word::less(&a, &b)),
            Op::Ulte => bit(!word::less(&b, &a)),
            Op::Slt => bit(signed_less(&a, &b)),
            Op::Slte => bit(!signed_less(&b, &a)),
            Op::Concat => word::zip(&word::shift_left(&a, step.b.width.into()), &b, |a, b| a | b),
            Op::Sll => word::shift_left(&a, by),
            Op::Srl => word::shift_right(&a, by),
            Op::Sra => word::shift_right_signed(&a, step.a.width, by),
            Op::Ite => {
                if a == ZERO {
                    c
                } else {
                    b
                }
            }
            Op::Read { node } => self.read(node, &a),
        };
        word::cut(value, step.out.width)
    }

    /// A word of an array value.
    fn read(&self, node: usize, address: &Word) -> Word {
        match self.netlist.array_values[node].node {
            ArrayNode::Stored { array } => {
                let limbs = limbs(self.netlist.arrays[array].width);
                let at = address[0] as usize * limbs;
                let mut word = ZERO;
                word[..limbs].copy_from_slice(&self.memories[array][at..at + limbs]);
                word
            }
            ArrayNode::Written { address: written, word, .. } if load(&self.values, written) == *address => {
                load(&self.values, word)
            }
            ArrayNode::Written { base, .. } => self.read(base, address),
            ArrayNode::Chosen { which, yes, no } => {
                self.read(if self.values[which.at as usize] == 0 { no } else { yes }, address)
            }
        }
    }

    /// Writes into a memory what its next value has that it has not; answers which memory.
    fn write(&mut self, node: usize) -> usize {
        match self.netlist.array_values[node].node {
            ArrayNode::Stored { array } => array,
            ArrayNode::Written { base, address, word } => {
                let array = self.write(base);
                let limbs = limbs(self.netlist.arrays[array].width);
                let at = self.values[address.at as usize] as usize * limbs;
                self.memories[array][at..at + limbs].copy_from_slice(&self.values[word.range()]);
                array
            }
            ArrayNode::Chosen { which, yes, no } => {
                self.write(if self.values[which.at as usize] == 0 { no } else { yes })
            }
        }
    }
}

fn load(values: &[u64], place: Place) -> Word {
    let mut word = ZERO;
    let limbs = &values[place.range()];
    word[..limbs.len()].copy_from_slice(limbs);
    word
}

fn store(values: &mut [u64], place: Place, word: &Word) {
    let word = word::cut(*word, place.width);
    let range = place.range();
    let limbs = range.len();
    values[range].copy_from_slice(&word[..limbs]);
}

/// The bits that were there when the power came up: splitmix64.
struct Bits(Fill);

impl Bits {
    fn fill(&mut self, limbs: &mut [u64], width: u32) {
        let Fill::Pattern(state) = &mut self.0 else { return };
        for (at, limb) in limbs.iter_mut().enumerate() {
            *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = *state;
            mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            *limb = (mixed ^ mixed >> 31) & mask(width - at as u32 * 64);
        }
    }
}
