//! Tier 0: the tables around the Score Table, and what reads and stamps time, against the model.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};

use charon_hdl::Design;
use charon_hdl::btor2::{Fill, Machine, Netlist};
use charon_model::alias::AliasTables;
use charon_model::ip_table::{IpTable, Row};
use charon_model::params::{Params, RawParams};
use charon_model::timestamp::Codec;
use proptest::prelude::*;

/// A machine whose ports have names.
struct Module<'a> {
    netlist: &'a Netlist,
    machine: Machine<'a>,
}

impl<'a> Module<'a> {
    fn new(netlist: &'a Netlist, fill: Fill) -> Self {
        Self { netlist, machine: Machine::new(netlist, fill) }
    }

    fn set(&mut self, inputs: &[(&str, u128)]) {
        for (name, value) in inputs {
            self.machine.set(self.netlist.input(name).unwrap_or_else(|| panic!("no input {name}")), *value);
        }
        self.machine.settle();
    }

    fn get(&self, output: &str) -> u128 {
        self.machine.get(self.netlist.output(output).unwrap_or_else(|| panic!("no output {output}")))
    }

    /// An edge, and what follows from it.
    fn clock(&mut self) {
        self.machine.clock();
        self.machine.settle();
    }
}

fn params(servers: u16) -> Params {
    let mut raw = RawParams::largest();
    raw.servers = servers;
    Params::new(raw).unwrap()
}

/// What the control plane does to the Alias Table after a while.
#[derive(Clone, Debug)]
struct Rebuild {
    /// Look-ups before it begins, and between its writes.
    before: usize,
    weights: Vec<u32>,
}

fn rebuilds(servers: usize) -> impl Strategy<Value = Vec<Rebuild>> {
    let weight = prop_oneof![3 => 0u32..4, 1 => any::<u32>(), 2 => Just(0)];
    let rebuild = (0usize..6, prop::collection::vec(weight, servers));
    prop::collection::vec(rebuild.prop_map(|(before, weights)| Rebuild { before, weights }), 1..6)
}

/// The Alias Table through rebuilds, with a pair of hashes in every clock: the model's candidates three clocks later, by the
/// table in use when they came, also while the other one is written and in the clocks around a swap.
fn alias_table_agrees(netlist: &Netlist, servers: u16, rebuilds: &[Rebuild], seed: u64) -> Result<(), TestCaseError> {
    let bits = params(servers).random_bits();
    let mut module = Module::new(netlist, Fill::Pattern(seed));
    let mut model = AliasTables::new(bits).unwrap();
    module.set(&[("rst_i", 1)]);
    module.clock();
    module.set(&[("rst_i", 0)]);
    let mut draw = seed;
    let mut waiting: VecDeque<Option<[u8; 2]>> = VecDeque::new();
    // One clock: an edit, and a look-up that sees it.
    let mut clock = |edit: &[(&str, u128)], model: &AliasTables| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Random numbers at and around the edges of cells, now and then.
        let hash = |word: u64| (word >> 16) as u32 & if word & 7 == 0 { 0xffff_0001 } else { u32::MAX };
        let hashes = [hash(draw), hash(draw.rotate_left(23))];
        waiting.push_back(model.current().map(|table| hashes.map(|hash| table.choose(hash))));
        module.set(&[("we_i", 0), ("swap_i", 0)]);
        module.set(edit);
        module.set(&[("hash0_i", hashes[0].into()), ("hash1_i", hashes[1].into())]);
        if waiting.len() > 3 {
            let expected = waiting.pop_front().unwrap();
            let seen = (module.get("usable_o") == 1).then(|| ["id0_o", "id1_o"].map(|id| module.get(id) as u8));
            prop_assert_eq!(seen, expected);
        }
        module.clock();
        Ok(())
    };
    for Rebuild { before, weights } in rebuilds {
        let mut next = model.clone();
        next.replace(weights).unwrap();
        for _ in 0..*before {
            clock(&[], &model)?;
        }
        let cells = next.current().map(|table| table.cells().to_vec()).unwrap_or_default();
        for (at, cell) in cells.iter().enumerate() {
            let edit = [
                ("we_i", 1),
                ("waddr_i", at as u128),
                ("threshold_i", cell.threshold.into()),
                ("alias_i", cell.alias.into()),
            ];
            clock(&edit, &model)?;
        }
        clock(&[("swap_i", 1), ("usable_i", next.current().is_some().into())], &next)?;
        model = next;
    }
    for _ in 0..10 {
        clock(&[], &model)?;
    }
    Ok(())
}

/// An edit of the IP Table, and the id that is looked up in its clock.
#[derive(Clone, Copy, Debug)]
struct Edit {
    /// An id, and whether it gets a row.
    row: Option<(u8, bool)>,
    bits: u128,
    look_up: u8,
    reset: bool,
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let id = || prop_oneof![8 => 0u8..6, 1 => Just(15), 1 => Just(16), 1 => any::<u8>()];
    let row = prop::option::of((id(), any::<bool>()));
    let edit = (row, any::<u128>(), id(), prop::bool::weighted(0.01));
    let edit = edit.prop_map(|(row, bits, look_up, reset)| Edit { row, bits: bits >> 32, look_up, reset });
    prop::collection::vec(edit, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// 16 servers, whose number is a power of two.
    #[test]
    fn the_alias_table_of_16(rebuilds in rebuilds(16), seed in any::<u64>()) {
        alias_table_agrees(&netlist(Design::AliasTable.netlist().text), 16, &rebuilds, seed)?;
    }

    /// 5 servers, whose number is none.
    #[test]
    fn the_alias_table_of_5(rebuilds in rebuilds(5), seed in any::<u64>()) {
        alias_table_agrees(&netlist(include_str!("../netlist/alias_table_5.btor2")), 5, &rebuilds, seed)?;
    }

    /// The IP Table agrees with the model's: rows come and go, also in the clock in which they are looked up, and after
    /// a reset nobody has one.
    #[test]
    fn the_ip_table(edits in edits(), power_up in any::<u64>()) {
        let netlist = netlist(Design::IpTable.netlist().text);
        let mut module = Module::new(&netlist, Fill::Pattern(power_up));
        let mut model = IpTable::new(&params(16));
        module.set(&[("rst_i", 1)]);
        module.clock();
        for Edit { row, bits, look_up, reset } in edits {
            let (id, present) = row.unwrap_or_default();
            module.set(&[
                ("rst_i", reset.into()),
                ("id_i", look_up.into()),
                ("we_i", row.is_some().into()),
                ("waddr_i", id.into()),
                ("present_i", present.into()),
                ("row_i", bits),
            ]);
            module.clock();
            if row.is_some() {
                // The model wants a row removed before it is changed; unknown ids are errors there and nothing here.
                let _ = model.remove(id);
                if present {
                    let _ = model.add(id, row_of(bits));
                }
            }
            if reset {
                model = IpTable::new(&params(16));
            }
            let seen = (module.get("found_o") == 1).then(|| row_of(module.get("row_o")));
            prop_assert_eq!(seen, model.get(look_up).copied().filter(|_| !reset));
        }
    }

    /// Both codecs read the model's ids from any echo.
    #[test]
    fn the_id_in_the_timestamp(echo in any::<u32>()) {
        for (text, codec) in [
            (Design::ServerIdExtract.netlist().text, Codec::low_bits(4)),
            (include_str!("../netlist/server_id_extract_high.btor2"), Codec::high_bits(4)),
        ] {
            let netlist = netlist(text);
            let mut module = Module::new(&netlist, Fill::Zero);
            module.set(&[("echo_i", echo.into())]);
            prop_assert_eq!(module.get("id_o"), codec.unwrap().id(echo).into());
        }
    }
}

fn netlist(text: &str) -> Netlist {
    Netlist::parse(text).unwrap()
}

/// {port, MAC, address} in 96 bits.
fn row_of(bits: u128) -> Row {
    let mac = (bits >> 32) as u64 & ((1 << 48) - 1);
    let [_, _, mac @ ..] = mac.to_be_bytes();
    Row { address: IpAddr::V4(Ipv4Addr::from_bits(bits as u32)), mac, port: (bits >> 80) as u16 }
}

/// A tick is 2¹¹ clocks: it changes at every 2,048th clock after reset and at no other.
#[test]
fn ticks_have_their_length() {
    let netlist = netlist(Design::TimestampGen.netlist().text);
    let mut module = Module::new(&netlist, Fill::Pattern(3));
    module.set(&[("rst_i", 1)]);
    module.clock();
    module.set(&[("rst_i", 0)]);
    for clock in 0..5 * 2_048 + 3 {
        assert_eq!(module.get("now_o"), clock >> params(16).prescaler_bits());
        module.clock();
    }
}

/// After the last tick comes tick 0.
#[test]
fn ticks_wrap() {
    let netlist = netlist(Design::TimestampGen.netlist().text);
    let mut module = Module::new(&netlist, Fill::Zero);
    module.machine.set(netlist.signal("clocks").unwrap(), (1 << 43) - 2);
    module.set(&[("rst_i", 0)]);
    assert_eq!(module.get("now_o"), u32::MAX.into());
    module.clock();
    module.clock();
    assert_eq!(module.get("now_o"), 0);
}
