//! The bits of `charon_top`'s answers, as the head of `rtl/charon_top.v` lays them out.

#![allow(clippy::unwrap_used, clippy::std_instead_of_core, reason = "tests")]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use charon_hdl::tuple::Verdict;
use charon_model::ip_table::Row;
use charon_model::pipeline::{Decision, DropReason, NextHop, PuntReason, Route};

/// The fields of an answer, from the top down.
#[derive(Clone, Copy, Debug, Default)]
struct Bits {
    action: u8,
    detail: usize,
    id: u8,
    v6: bool,
    port: u16,
    mac: u64,
    address: u128,
}

const MAC: [u8; 6] = [2, 3, 5, 7, 11, 13];
const WAY: Bits = Bits { action: 0, detail: 0, id: 0, v6: false, port: 0x8123, mac: 0x0203_0507_0b0d, address: 0 };

impl Bits {
    fn verdict(self) -> Verdict {
        let Self { action, detail, id, v6, port, mac, address } = self;
        let top = u64::from(action) << 13 | (detail as u64) << 9 | u64::from(id) << 1 | u64::from(v6);
        Verdict::from_limbs(&[address as u64, (address >> 64) as u64, u64::from(port) << 48 | mac, top])
    }

    fn decision(self) -> Option<(Decision, NextHop)> {
        self.verdict().decision()
    }
}

/// Every reason of a drop and of a punt has its number; nothing else may be set beside it, and other numbers mean nothing.
#[test]
fn drops_and_punts_go_nowhere() {
    for detail in 0..16 {
        let drop = DropReason::ALL.get(detail).map(|reason| (Decision::Drop(*reason), NextHop::default()));
        let punt = PuntReason::ALL.get(detail).map(|reason| (Decision::Punt(*reason), NextHop::default()));
        for (action, expected) in [(0, drop), (3, punt)] {
            let bits = Bits { action, detail, ..Bits::default() };
            assert_eq!(bits.decision(), expected);
            for more in [
                Bits { id: 1, ..bits },
                Bits { v6: true, ..bits },
                Bits { port: 1 << 15, ..bits },
                Bits { mac: 1, ..bits },
                Bits { address: 1, ..bits },
                Bits { address: 1 << 127, ..bits },
            ] {
                assert_eq!(more.decision(), None, "{more:?}");
            }
        }
    }
}

/// Every route towards a server, over both families; SYN-ACKs do not go there, and an IPv4 address has 32 bits.
#[test]
fn servers_have_a_route_and_a_row() {
    for detail in 0..16 {
        let wide = 0xfd00_0000_0000_0000_0000_0000_0a00_0007;
        for (v6, bits) in [(false, 0x0a00_0007), (true, wide)] {
            let address = if v6 { IpAddr::V6(Ipv6Addr::from_bits(bits)) } else { Ipv4Addr::new(10, 0, 0, 7).into() };
            let row = Row { address, mac: MAC, port: WAY.port };
            let route = Route::ALL.get(detail).filter(|route| **route != Route::SynAck);
            let expected = route.map(|route| Decision::ToServer { id: 255, route: *route, row });
            let bits = Bits { action: 1, detail, id: 255, v6, address: bits, ..WAY };
            assert_eq!(bits.decision(), expected.map(|decision| (decision, NextHop { port: row.port, mac: MAC })));
            assert_eq!(bits.verdict().is_v6(), v6);
        }
        assert_eq!(Bits { action: 1, detail, address: wide, ..WAY }.decision(), None);
    }
}

/// Towards a client there is one route, and no address.
#[test]
fn clients_have_one_route_and_no_address() {
    for detail in 0..16 {
        for v6 in [false, true] {
            let bits = Bits { action: 2, detail, id: 9, v6, ..WAY };
            let expected = (Route::ALL.get(detail) == Some(&Route::SynAck))
                .then_some((Decision::ToClient { id: 9 }, NextHop { port: WAY.port, mac: MAC }));
            assert_eq!(bits.decision(), expected);
            assert_eq!(bits.verdict().is_v6(), v6);
            assert_eq!(Bits { address: 1, ..bits }.decision(), None);
        }
    }
}

/// Bits above the layout mean nothing.
#[test]
fn bits_beyond_the_layout_are_refused() {
    assert!(Verdict::from_limbs(&[0; 4]).decision().is_some());
    assert_eq!(Verdict::from_limbs(&[0, 0, 0, 1 << (Verdict::BITS - 192)]).decision(), None);
}
