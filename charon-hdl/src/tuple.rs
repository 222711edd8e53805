//! The bits of `charon_top`'s ports: what a parser hands over, and what comes back.
//!
//! The layout stands at the head of `rtl/charon_top.v`: fields with the first one on top, as P4-NetFPGA passes them.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use charon_model::ip_table::Row;
use charon_model::packet::{Headers, Local, ParseError, Segment};
use charon_model::pipeline::{Decision, DropReason, NextHop, PuntReason, Route};

/// The fields of a packet, as the bits of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields([u64; 8]);

/// An answer, as the bits of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict([u64; 4]);

const REFUSED: u128 = 0;
const SEGMENT: u128 = 1;
const WRAPPED: u128 = 2;
const LOCAL: u128 = 3;

impl Fields {
    /// The width of the input.
    pub const BITS: u32 = 474;

    /// What the parser made of a packet.
    #[must_use]
    pub fn new(parsed: Result<&Headers, &ParseError>) -> Self {
        match parsed {
            Ok(Headers::Segment(segment)) => Self::segment(segment),
            Ok(Headers::Wrapped { outer, report, inner }) => {
                let [source, destination] = [outer.source, outer.destination].map(bits);
                Self::of(&[
                    (SEGMENT_TOP | WRAPPED, 3),
                    (0, 4),
                    ((!outer.is_v4()).into(), 1),
                    ((!inner.ip.is_v4()).into(), 1),
                    (source, 128),
                    (destination, 128),
                    (bits(inner.ip.source), 128),
                    (0, 32),
                    (inner.tcp.flags.0.into(), 8),
                    (inner.ip.ttl.into(), 8),
                    (0, 1),
                    (report.key().into(), 32),
                ])
            }
            Ok(Headers::Local(local)) => Self::without_headers(LOCAL, punt(*local) as u8),
            Err(error) => Self::without_headers(REFUSED, DropReason::from(error) as u8),
        }
    }

    /// The same for a packet that the P4 program does not ask about: answered, and without effect.
    #[must_use]
    pub const fn not_stateful(mut self) -> Self {
        self.0[7] &= !(1 << (Self::BITS - 1 - 7 * 64));
        self
    }

    /// In limbs of 64 bits, the lowest first.
    #[must_use]
    pub const fn limbs(&self) -> &[u64; 8] {
        &self.0
    }

    fn segment(segment: &Segment) -> Self {
        let Segment { ip, tcp, .. } = segment;
        Self::of(&[
            (SEGMENT_TOP | SEGMENT, 3),
            (0, 4),
            ((!ip.is_v4()).into(), 1),
            (0, 1),
            (bits(ip.source), 128),
            (bits(ip.destination), 128),
            (0, 128),
            (tcp.source_port.into(), 16),
            (tcp.destination_port.into(), 16),
            (tcp.flags.0.into(), 8),
            (ip.ttl.into(), 8),
            (tcp.timestamps.is_some().into(), 1),
            (tcp.timestamps.map_or(0, |stamps| stamps.echo).into(), 32),
        ])
    }

    fn without_headers(kind: u128, reason: u8) -> Self {
        // What nobody may look at is all ones.
        Self::of(&[
            (SEGMENT_TOP | kind, 3),
            (reason.into(), 4),
            (3, 2),
            (u128::MAX, 128),
            (u128::MAX, 128),
            (u128::MAX, 128),
        ])
        .padded(81)
    }

    /// Fields from the top down.
    fn of(fields: &[(u128, u32)]) -> Self {
        let mut limbs = [0; 8];
        fields.iter().for_each(|&(value, width)| push(&mut limbs, value, width));
        Self(limbs)
    }

    /// Ones below.
    fn padded(mut self, width: u32) -> Self {
        push(&mut self.0, u128::MAX, width);
        self
    }
}

/// statefulValid, above the kind.
const SEGMENT_TOP: u128 = 4;

impl Verdict {
    /// The width of the output.
    pub const BITS: u32 = 207;

    /// From limbs of 64 bits, the lowest first.
    #[must_use]
    pub fn from_limbs(limbs: &[u64]) -> Self {
        let mut own = [0; 4];
        for (own, limb) in own.iter_mut().zip(limbs) {
            *own = *limb;
        }
        Self(own)
    }

    /// The decision, and where the packet goes if it is forwarded; `None` for bits that mean nothing: a number without a
    /// name, a route of the other direction, or a bit set where the layout has zeros.
    #[must_use]
    pub fn decision(&self) -> Option<(Decision, NextHop)> {
        let [low, high, way, top] = self.0;
        let wide = u128::from(high) << 64 | u128::from(low);
        let mac = way << 16;
        let mac = core::array::from_fn(|at| mac.to_be_bytes()[at]);
        let next_hop = NextHop { port: (way >> 48) as u16, mac };
        let (v6, id) = (self.is_v6(), (top >> 1) as u8);
        let detail = (top >> 9 & 15) as usize;
        let nowhere = wide == 0 && way == 0 && id == 0 && !v6;
        let decision = match top >> 13 {
            0 if nowhere => Decision::Drop(*DropReason::ALL.get(detail)?),
            1 if v6 || wide >> 32 == 0 => Decision::ToServer {
                id,
                route: *Route::ALL.get(detail).filter(|route| **route != Route::SynAck)?,
                row: Row { address: address(v6, wide), mac, port: next_hop.port },
            },
            2 if wide == 0 && Route::ALL.get(detail) == Some(&Route::SynAck) => Decision::ToClient { id },
            3 if nowhere => Decision::Punt(*PuntReason::ALL.get(detail)?),
            _ => return None,
        };
        Some((decision, next_hop))
    }

    /// The packet that is forwarded is IPv6: towards a server or, out of its tunnel, towards a client.
    #[must_use]
    pub const fn is_v6(&self) -> bool {
        self.0[3] & 1 == 1
    }

    /// All bits are zero: the answer to a packet that nothing was asked about.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0 == [0; 4]
    }
}

const fn address(v6: bool, bits: u128) -> IpAddr {
    if v6 { IpAddr::V6(Ipv6Addr::from_bits(bits)) } else { IpAddr::V4(Ipv4Addr::from_bits(bits as u32)) }
}

const fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits() as u128,
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn punt(local: Local) -> PuntReason {
    local.into()
}

/// Moves everything up by some bits, at most 128, and puts the low ones of a value below.
fn push(limbs: &mut [u64; 8], value: u128, width: u32) {
    for bit in (0..width).rev() {
        for at in (1..limbs.len()).rev() {
            limbs[at] = limbs[at] << 1 | limbs[at - 1] >> 63;
        }
        limbs[0] = limbs[0] << 1 | (value >> bit & 1) as u64;
    }
}
