//! The extern's two ports, as values and as bits.

use crate::params::Widths;

/// What a transaction does. Codes 4 to 255 are unknown: they act as COPY, and count as a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpCode {
    /// 0, ours: the score of id0 now. Changes nothing.
    Read,
    /// 1: stores what a server reported (UPDATE_OP).
    Update,
    /// 2: answers without touching a row (COPY_OP); what packets send that are neither SYN nor SYN-ACK.
    Copy,
    /// 3: the better of two candidates, and its score plus one task (GET_INDEX_OP).
    GetIndex,
}

/// A request: the port `tuple_in`. Fields wider than their wire are cut to its low bits, as wires do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Request {
    /// Whether the branch with this request was taken. If not, the request is answered and does nothing.
    pub stateful_valid: bool,
    /// [`OpCode`], 8 bits.
    pub op_code: u8,
    /// The first candidate, or the server that READ and UPDATE mean; 8 bits.
    pub id0: u8,
    /// The second candidate; 8 bits.
    pub id1: u8,
    /// UPDATE: whole tasks; [`Widths::task_bits`].
    pub g: u16,
    /// UPDATE: tasks per tick in units of g; `v_bits`.
    pub v: u32,
    /// The tick; `t_bits`.
    pub now: u32,
}

/// An answer: the port `tuple_out`. Every request has one, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Answer {
    /// The winner of GET_INDEX, else id0; 8 bits.
    pub id: u8,
    /// READ, GET_INDEX: g′ of `id`, before any increment; UPDATE: the new g; COPY: 0. `g_bits`.
    pub score: u64,
}

impl OpCode {
    /// The operation of a code.
    #[must_use]
    #[inline]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Read),
            1 => Some(Self::Update),
            2 => Some(Self::Copy),
            3 => Some(Self::GetIndex),
            _ => None,
        }
    }

    /// The code on the port.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Read => 0,
            Self::Update => 1,
            Self::Copy => 2,
            Self::GetIndex => 3,
        }
    }
}

impl Request {
    /// READ: the score of a server.
    #[must_use]
    pub const fn read(id: u8, now: u32) -> Self {
        Self { stateful_valid: true, op_code: OpCode::Read.code(), id0: id, id1: 0, g: 0, v: 0, now }
    }

    /// UPDATE: a server reported `g` tasks and speed `v`.
    #[must_use]
    pub const fn update(id: u8, g: u16, v: u32, now: u32) -> Self {
        Self { stateful_valid: true, op_code: OpCode::Update.code(), id0: id, id1: 0, g, v, now }
    }

    /// GET_INDEX: the better of two candidates.
    #[must_use]
    pub const fn get_index(id0: u8, id1: u8, now: u32) -> Self {
        Self { stateful_valid: true, op_code: OpCode::GetIndex.code(), id0, id1, g: 0, v: 0, now }
    }

    /// The bits of the port, most significant field first: {statefulValid, opCode, id0, id1, g, v, now}; 93 of them with
    /// the paper's parameters.
    #[must_use]
    pub const fn pack(self, widths: Widths) -> u128 {
        let Self { stateful_valid, op_code, id0, id1, g, v, now } = self.on_wires(widths);
        let raw = widths.raw();
        let mut bits = stateful_valid as u128;
        bits = bits << 8 | op_code as u128;
        bits = bits << 8 | id0 as u128;
        bits = bits << 8 | id1 as u128;
        bits = bits << widths.task_bits() | g as u128;
        bits = bits << raw.v_bits | v as u128;
        bits << raw.t_bits | now as u128
    }

    /// The request in the bits of the port; higher bits are left out.
    #[must_use]
    pub const fn unpack(bits: u128, widths: Widths) -> Self {
        let raw = widths.raw();
        let v_at = raw.t_bits;
        let g_at = v_at + raw.v_bits;
        let id1_at = g_at + widths.task_bits();
        let request = Self {
            stateful_valid: bits >> (id1_at + 24) & 1 == 1,
            op_code: (bits >> (id1_at + 16)) as u8,
            id0: (bits >> (id1_at + 8)) as u8,
            id1: (bits >> id1_at) as u8,
            g: (bits >> g_at) as u16,
            v: (bits >> v_at) as u32,
            now: bits as u32,
        };
        request.on_wires(widths)
    }

    /// The bits that fit the wires.
    #[must_use]
    #[inline]
    pub(super) const fn on_wires(self, widths: Widths) -> Self {
        Self { g: self.g & widths.tasks_max(), v: self.v & widths.v_max(), now: self.now & widths.t_max(), ..self }
    }
}

impl Answer {
    /// The bits of the port: {id, score}; 48 of them with the paper's parameters.
    #[must_use]
    pub const fn pack(self, widths: Widths) -> u64 {
        (self.id as u64) << widths.raw().g_bits | self.score & widths.g_max()
    }

    /// The answer in the bits of the port; higher bits are left out.
    #[must_use]
    pub const fn unpack(bits: u64, widths: Widths) -> Self {
        Self { id: (bits >> widths.raw().g_bits) as u8, score: bits & widths.g_max() }
    }
}

impl Widths {
    /// The width of a packed [`Request`].
    #[must_use]
    pub const fn data_in_bits(self) -> u8 {
        1 + 3 * 8 + self.task_bits() + self.raw().v_bits + self.raw().t_bits
    }

    /// The width of a packed [`Answer`].
    #[must_use]
    pub const fn data_out_bits(self) -> u8 {
        8 + self.raw().g_bits
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::params::RawWidths;

    /// The documented order of the fields, most significant first, written out for the full widths.
    #[test]
    fn the_fields_stand_in_order() {
        let widths = Widths::new(RawWidths::FULL).unwrap();
        let request =
            Request { stateful_valid: true, op_code: 3, id0: 0x12, id1: 0x34, g: 0xabc, v: 0x56789a, now: 0xdead_beef };
        assert_eq!(request.pack(widths), 0x1031_234a_bc56_789a_dead_beef);
        assert_eq!(Answer { id: 0x12, score: 0xab_cdef_0123 }.pack(widths), 0x12ab_cdef_0123);
    }

    /// Codes are what they are, and the others are unknown.
    #[test]
    fn codes_are_fixed() {
        let known = [OpCode::Read, OpCode::Update, OpCode::Copy, OpCode::GetIndex];
        for code in 0..=u8::MAX {
            assert_eq!(OpCode::from_code(code), known.get(usize::from(code)).copied());
        }
        assert_eq!(known.map(OpCode::code), [0, 1, 2, 3]);
    }

    proptest! {
        /// Bits to request and back, and to answer and back, lose nothing that is on the wires.
        #[test]
        fn ports_round_trip(preset in 0usize..3, bits in any::<u128>()) {
            let widths = Widths::new([RawWidths::FULL, RawWidths::WORDS, RawWidths::NARROW][preset]).unwrap();
            let on_wires = bits & ((1 << widths.data_in_bits()) - 1);
            prop_assert_eq!(Request::unpack(bits, widths).pack(widths), on_wires);
            let on_wires = bits as u64 & ((1 << widths.data_out_bits()) - 1);
            prop_assert_eq!(Answer::unpack(bits as u64, widths).pack(widths), on_wires);
        }
    }
}
