//! `alias_table` against `hash` and `alias` of the model.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use charon_hdl::Design;
use charon_hdl::btor2::Netlist;
use charon_model::alias::{AliasTable, AliasTables};
use charon_model::hash::{FiveTuple, FlowHash, entry, random};

use super::dut::{Draw, Dut, Verdict, netlist, same};

/// Clocks from a flow to its candidates.
const LATENCY: usize = 5;

#[derive(Clone, Copy, Debug)]
struct Flow {
    source: IpAddr,
    destination: IpAddr,
    ports: [u16; 2],
}

impl Flow {
    fn draw(draw: &mut Draw) -> Self {
        let mut wide = || u128::from(draw.bits()) << 64 | u128::from(draw.bits());
        let (a, b, c) = (wide(), wide(), wide());
        let ports = [c as u16, (c >> 16) as u16];
        let [source, destination] = if c >> 32 & 1 == 0 {
            [a, b].map(|word| IpAddr::V4(Ipv4Addr::from_bits(word as u32)))
        } else {
            [a, b].map(|word| IpAddr::V6(Ipv6Addr::from_bits(word)))
        };
        Self { source, destination, ports }
    }

    fn hash(&self) -> FlowHash {
        FlowHash::of(&FiveTuple::new(self.source, self.destination, 6, self.ports[0], self.ports[1]).unwrap())
    }

    fn drive(&self, dut: &mut Dut<'_>, bank: bool) {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(address) => address.to_bits().into(),
            IpAddr::V6(address) => address.to_bits(),
        };
        dut.set(&[
            ("bank_s1_i", bank.into()),
            ("v6_s1_i", self.source.is_ipv6().into()),
            ("source_s1_i", bits(self.source)),
            ("destination_s1_i", bits(self.destination)),
            ("source_port_s1_i", self.ports[0].into()),
            ("destination_port_s1_i", self.ports[1].into()),
        ]);
    }
}

/// The cells of a table that are still to be written into a bank.
struct Writing {
    bank: bool,
    cells: VecDeque<(usize, u32, u8)>,
}

impl Writing {
    fn new(bank: bool, table: &AliasTable) -> Self {
        let cells = table.cells().iter().enumerate().map(|(at, cell)| (at, cell.threshold, cell.alias)).collect();
        Self { bank, cells }
    }

    /// Writes a cell in this clock, if one is left.
    fn drive(&mut self, dut: &mut Dut<'_>) {
        let cell = self.cells.pop_front();
        dut.set(&[("we_i", cell.is_some().into())]);
        if let Some((at, threshold, alias)) = cell {
            dut.set(&[
                ("wbank_i", self.bank.into()),
                ("wcell_i", at as u128),
                ("wthreshold_i", threshold.into()),
                ("walias_i", alias.into()),
            ]);
        }
    }
}

/// A flow per clock, while tables are swapped under them: a new one is written into the bank that no flow under way reads,
/// cell by cell, and the first flow after the last cell uses it.
pub(crate) fn swaps(netlist: &Netlist, fault: u8, servers: usize, clocks: usize) -> Verdict {
    let mut draw = Draw::new();
    let mut dut = Dut::new(netlist, fault);
    let mut tables = AliasTables::new(16).unwrap();
    let mut weights = vec![1; servers];
    tables.replace(&weights).unwrap();
    let mut writing = Writing::new(false, tables.current().unwrap());
    while !writing.cells.is_empty() {
        writing.drive(&mut dut);
        dut.clock();
    }
    let (mut bank, mut next, mut rest) = (false, None, 0);
    let mut expected = VecDeque::new();
    for clock in 0..clocks {
        writing.drive(&mut dut);
        let flow = Flow::draw(&mut draw);
        flow.drive(&mut dut, bank);
        dut.settle();
        let hash = flow.hash();
        let table: &AliasTable = tables.current().unwrap();
        expected.push_back((hash.first, table.choose(hash.first), table.choose(hash.second)));
        if clock >= LATENCY {
            let (_, first, second) = expected[0];
            let got = (dut.get("first_s6_o"), dut.get("second_s6_o"));
            same(&format!("clock {clock}"), got, (first.into(), second.into()))?;
            same("hash", dut.get("hash_s3_o"), expected[LATENCY - 2].0.into())?;
            expected.pop_front();
        }
        dut.clock();
        rest += 1;
        if writing.cells.is_empty() {
            if let Some(table) = next.take() {
                (tables, bank, rest) = (table, !bank, 0);
            } else if rest > LATENCY && draw.one_in(4) {
                let top = 1 << draw.below(20);
                weights
                    .iter_mut()
                    .for_each(|weight| *weight = if draw.one_in(3) { 0 } else { 1 + draw.below(top) as u32 });
                let mut coming = tables.clone();
                if coming.replace(&weights).is_ok() && coming.current().is_some() {
                    writing = Writing::new(!bank, coming.current().unwrap());
                    next = Some(coming);
                }
            }
        }
    }
    Ok(())
}

/// Weights for which a flow's random number is its cell's threshold, or one below it: the alias, or the cell's own server;
/// for both hashes; and one server with all the weight, so that thresholds are 0 and 2¹⁶.
pub(crate) fn thresholds(netlist: &Netlist, fault: u8, servers: usize) -> Verdict {
    let mut draw = Draw::new();
    let mut dut = Dut::new(netlist, fault);
    for round in 0..120 {
        let flow = Flow::draw(&mut draw);
        let hash = flow.hash();
        let of = if round % 2 == 0 { hash.first } else { hash.second };
        let (cell, unit) = (usize::from(entry(of, servers as u16)), random(of, 16));
        let mut weights = vec![0; servers];
        weights[cell] = match round / 2 % 4 {
            0 => unit,
            1 => unit + 1,
            2 => 0,
            _ => (servers as u32) << 16,
        };
        weights[(cell + 1) % servers] += ((servers as u32) << 16) - weights[cell];
        let table = AliasTable::new(&weights, 16).unwrap();
        let mut writing = Writing::new(round % 3 == 0, &table);
        while !writing.cells.is_empty() {
            writing.drive(&mut dut);
            dut.clock();
        }
        dut.set(&[("we_i", 0)]);
        flow.drive(&mut dut, round % 3 == 0);
        (0..LATENCY).for_each(|_| dut.clock());
        dut.settle();
        let expected = (table.choose(hash.first).into(), table.choose(hash.second).into());
        same(&format!("{weights:?}"), (dut.get("first_s6_o"), dut.get("second_s6_o")), expected)?;
    }
    Ok(())
}

/// Cells as a control plane could write them that builds its tables in another way: an alias beside a threshold of 2¹⁶, which
/// says *always*, and every threshold around the random number.
pub(crate) fn cells(netlist: &Netlist, fault: u8, servers: usize) -> Verdict {
    let mut draw = Draw::new();
    let mut dut = Dut::new(netlist, fault);
    for round in 0..200 {
        let flow = Flow::draw(&mut draw);
        let hash = flow.hash();
        let rand = random(if round % 2 == 0 { hash.first } else { hash.second }, 16);
        let threshold = [rand, rand + 1, 0, 1 << 16, 0xffff][round / 2 % 5];
        let alias = |at: usize| ((at + 1) % servers) as u8;
        let all = (0..servers).map(|at| (at, threshold, alias(at))).collect();
        let mut writing = Writing { bank: round % 3 == 0, cells: all };
        while !writing.cells.is_empty() {
            writing.drive(&mut dut);
            dut.clock();
        }
        dut.set(&[("we_i", 0)]);
        flow.drive(&mut dut, round % 3 == 0);
        (0..LATENCY).for_each(|_| dut.clock());
        dut.settle();
        let expected = [hash.first, hash.second].map(|hash| {
            let at = entry(hash, servers as u16);
            u128::from(if random(hash, 16) < threshold { at as u8 } else { alias(at.into()) })
        });
        same(&format!("threshold {threshold}"), [dut.get("first_s6_o"), dut.get("second_s6_o")], expected)?;
    }
    Ok(())
}

/// Hashes, cells, random numbers and choices are the model's, over both families, for 16 and 100 servers; a swap is atomic:
/// every flow sees the version of the clock in which it came.
#[test]
fn candidates_are_the_models_while_tables_are_swapped() {
    for (servers, file) in [16, 100].into_iter().zip(Design::AliasTable.netlists()) {
        swaps(&netlist(*file), 0, servers, 6_000).unwrap();
    }
}

/// §3's comparison at its edge, and thresholds of *never* and *always*.
#[test]
fn thresholds_are_exact() {
    for (servers, file) in [16, 100].into_iter().zip(Design::AliasTable.netlists()) {
        thresholds(&netlist(*file), 0, servers).unwrap();
        cells(&netlist(*file), 0, servers).unwrap();
    }
}
