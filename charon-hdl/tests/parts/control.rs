//! `control_port` against its register map, through a bus master that stalls on every channel.

use std::collections::{BTreeMap, VecDeque};

use charon_hdl::Design;
use charon_hdl::btor2::Netlist;
use charon_hdl::control::registers::*;
use charon_hdl::sim::{Access, Answered, BusPorts, Master, Stalls};

use super::dut::{Draw, Dut, Verdict, netlist, same};

pub(super) const OKAY: u8 = 0;
const SLVERR: u8 = 2;
/// Clocks from a COMMIT and from a TICK to their answers: LINGER and SETTLE, and two.
const COMMIT_ANSWERED: usize = 22;
const TICK_ANSWERED: usize = 8;
/// Clocks that an operation on a score may wait for a slot.
const PATIENCE: usize = 1023;

/// What a write into a table does at the ports: which enable, where, and the word.
type Effect = (&'static str, u16, u32);

const ENABLES: [&str; 6] =
    ["we_cell_o", "we_row_v4_o", "we_row_v6_o", "we_bucket_v4_o", "we_bucket_v6_o", "set_time_o"];

/// The words that keep what is written, with the bits that they have.
const KEPT: [(u16, u32, bool); 23] = [
    (CONFIG, 8, true),
    (UPLINK_PORT, 16, true),
    (UPLINK_MAC, 32, true),
    (UPLINK_MAC + 4, 16, true),
    (SERVICE_V4, 32, true),
    (TUNNEL_V4, 32, true),
    (SERVICE_V6, 32, true),
    (SERVICE_V6 + 4, 32, true),
    (SERVICE_V6 + 8, 32, true),
    (SERVICE_V6 + 12, 32, true),
    (TUNNEL_V6, 32, true),
    (TUNNEL_V6 + 4, 32, true),
    (TUNNEL_V6 + 8, 32, true),
    (TUNNEL_V6 + 12, 32, true),
    (ROW_ADDRESS, 32, false),
    (ROW_ADDRESS + 4, 32, false),
    (ROW_ADDRESS + 8, 32, false),
    (ROW_ADDRESS + 12, 32, false),
    (ROW_MAC, 32, false),
    (ROW_MAC + 4, 16, false),
    (ROW_PORT, 16, false),
    (SCORE_G, 12, false),
    (SCORE_V, 24, false),
];

/// The register map, as the module's header has it.
#[derive(Default)]
struct Map {
    servers: u16,
    kept: BTreeMap<u16, u32>,
    versions: u32,
    usable: [bool; 2],
    score: u64,
}

/// What is around the port: an operation on a score finds its slot after some clocks, takes some, and may have to begin again.
#[derive(Default)]
struct Scores {
    /// Clocks since it was asked for; when it finds a slot.
    waited: usize,
    slot: usize,
    busy: bool,
    /// What was done since the last answer.
    done: Option<(bool, u8)>,
}

impl Scores {
    /// A clock: whether it is done in it.
    fn clock(&mut self, dut: &mut Dut<'_>, draw: &mut Draw) -> bool {
        let valid = dut.get("score_valid_o") == 1;
        if valid && self.waited == 0 && !self.busy {
            // Soon, around the end of the port's patience, or never.
            self.slot = match draw.below(4) {
                0 => PATIENCE - 2 + draw.below(4) as usize,
                1 => usize::MAX,
                _ => 1 + draw.below(6) as usize,
            };
        }
        self.waited += usize::from(valid || self.busy);
        let (busy, ends) = (self.busy, draw.one_in(5));
        let done = busy && ends && !draw.one_in(4);
        if done {
            self.done = Some((dut.get("score_update_o") == 1, dut.get("score_id_o") as u8));
        }
        self.busy = if busy { !ends } else { valid && self.waited >= self.slot };
        dut.set(&[("score_busy_i", busy.into()), ("score_done_i", done.into())]);
        done
    }

    /// What is to be answered: OKAY for what was done; an error if there was no slot, and not before.
    fn answer(&mut self, asked: (bool, u8)) -> Result<u8, String> {
        let waited = std::mem::take(&mut self.waited);
        same("an operation under way behind its answer", self.busy, false)?;
        let Some(done) = self.done.take() else {
            same("clocks until it is given up", (PATIENCE..PATIENCE + 60).contains(&waited), true)?;
            return Ok(SLVERR);
        };
        same("the score's operation", done, asked)?;
        Ok(OKAY)
    }
}

impl Map {
    fn write(&mut self, address: u16, data: u32, strobes: u8) -> (u8, Option<Effect>) {
        let whole = strobes == 15;
        if address % 4 != 0 {
            return (SLVERR, None);
        }
        if let Some(&(_, bits, fixed)) = KEPT.iter().find(|kept| kept.0 == address) {
            if fixed && self.versions > 0 {
                return (SLVERR, None);
            }
            let mask = (0..4).filter(|byte| strobes >> byte & 1 == 1).fold(0, |mask, byte| mask | 0xff << (8 * byte));
            let word = self.kept.entry(address).or_default();
            *word = (*word & !mask | data & mask) & u32::MAX >> (32 - bits);
            return (OKAY, None);
        }
        let id = data as u8;
        let known = u16::from(id) < self.servers;
        let effect = |enable, place| (OKAY, Some((enable, place, data)));
        match address {
            _ if !whole => (SLVERR, None),
            TICK => effect("set_time_o", 0),
            COMMIT => {
                self.versions = self.versions.wrapping_add(1);
                self.usable[self.versions as usize % 2] = data & 1 == 1;
                (OKAY, None)
            }
            SET_ROW if known => effect(if data >> 8 & 1 == 1 { "we_row_v6_o" } else { "we_row_v4_o" }, id.into()),
            SCORE if known => (OKAY, None),
            CELLS.. if address < CELLS + 4 * self.servers => effect("we_cell_o", (address - CELLS) / 4),
            BUCKETS_V4..0x8000 => effect("we_bucket_v4_o", (address - BUCKETS_V4) / 4),
            BUCKETS_V6..0xc000 => effect("we_bucket_v6_o", (address - BUCKETS_V6) / 4),
            _ => (SLVERR, None),
        }
    }

    fn read(&self, address: u16, now: u32, faults: u32, drops: u32) -> Option<u32> {
        let kept = KEPT.iter().any(|kept| kept.0 == address);
        match address {
            ID => Some(0x4348_4152),
            SERVERS => Some(self.servers.into()),
            TICK => Some(now),
            COMMIT => Some(self.versions),
            FAULTS => Some(faults),
            DROPS => Some(drops),
            SCORE_LOW => Some(self.score as u32),
            SCORE_HIGH => Some((self.score >> 32) as u32),
            _ if kept => Some(self.kept.get(&address).copied().unwrap_or(0)),
            _ => None,
        }
    }
}

fn address(draw: &mut Draw, servers: u16) -> u16 {
    let address = match draw.below(10) {
        0 => draw.bits() as u16,
        1 => CELLS + 4 * draw.below(u64::from(servers) + 4) as u16,
        2 => [BUCKETS_V4, BUCKETS_V6][draw.below(2) as usize] + 4 * draw.below(4096) as u16,
        3 => [COMMIT, SET_ROW, SCORE, TICK][draw.below(4) as usize],
        4 => 4 * draw.below(64) as u16,
        _ => KEPT[draw.below(23) as usize].0,
    };
    if draw.one_in(16) { address ^ (1 + draw.below(3) as u16) } else { address }
}

/// Batches of writes, then of reads, each with or without stalls; effects at the ports, answers and registers are the map's.
pub(crate) fn accesses(netlist: &Netlist, fault: u8, servers: u16, runs: usize) -> Verdict {
    let mut draw = Draw::new();
    let mut dut = Dut::new(netlist, fault);
    let ports = ports(netlist);
    for run in 0..runs {
        dut.write(&[("rst_i", 1), ("score_busy_i", 0), ("score_done_i", 0)]);
        let mut map = Map { servers, ..Map::default() };
        // Only the last runs put versions into force from the start; before, the configuration is open for a while.
        for batch in 0..60 {
            let commits = batch > 20 || run + 2 >= runs;
            let writes = (0..1 + draw.below(12)).map(|_| {
                let mut address = address(&mut draw, servers);
                if !commits && address == COMMIT {
                    address = ROW_PORT;
                }
                let strobes = if draw.one_in(3) { draw.below(16) as u8 } else { 15 };
                let data = if draw.one_in(2) { draw.bits() as u32 } else { draw.below(0x400) as u32 };
                Access::Write { address, data, strobes }
            });
            let writes: Vec<Access> = writes.collect();
            batch_of(&mut dut, &ports, &mut map, &mut draw, writes)?;
            let mut reads: Vec<Access> =
                (0..8).map(|_| Access::Read { address: address(&mut draw, servers) }).collect();
            reads.extend([COMMIT, SCORE_LOW, SCORE_HIGH, SET_ROW].map(|address| Access::Read { address }));
            if batch % 10 == 0 {
                reads.extend((0..64).map(|word| Access::Read { address: 4 * word }));
            }
            batch_of(&mut dut, &ports, &mut map, &mut draw, reads)?;
            let usable = u128::from(map.usable[1]) << 1 | u128::from(map.usable[0]);
            same("bank", dut.get("bank_o"), u128::from(map.versions % 2))?;
            same("usable", dut.get("usable_o"), usable)?;
            let row = [0, 4, 8, 12].map(|at| map.kept.get(&(ROW_ADDRESS + at)).copied().unwrap_or(0));
            let row = row.iter().rev().fold(0, |bits, &word| bits << 32 | u128::from(word));
            same("the row's address", dut.get("row_address_o"), row)?;
        }
    }
    Ok(())
}

/// Operations on scores, which find their slots at once, late, too late, or never.
pub(crate) fn operations(netlist: &Netlist, fault: u8) -> Verdict {
    let mut draw = Draw::new();
    let mut dut = Dut::new(netlist, fault);
    let ports = ports(netlist);
    dut.write(&[("rst_i", 1), ("score_busy_i", 0), ("score_done_i", 0)]);
    let mut map = Map { servers: 16, ..Map::default() };
    for _ in 0..60 {
        let data = draw.below(0x200) as u32 & 0x10f;
        batch_of(&mut dut, &ports, &mut map, &mut draw, vec![Access::write(SCORE, data)])?;
        let reads = [SCORE_LOW, SCORE_HIGH].map(|address| Access::Read { address });
        batch_of(&mut dut, &ports, &mut map, &mut draw, reads.to_vec())?;
    }
    Ok(())
}

/// The count of versions goes from 2³² − 1 to 1, and the configuration stays closed.
pub(crate) fn wraps(netlist: &Netlist, fault: u8) -> Verdict {
    let mut draw = Draw::new();
    let mut dut = Dut::new(netlist, fault);
    let ports = ports(netlist);
    dut.write(&[("rst_i", 1), ("score_busy_i", 0), ("score_done_i", 0)]);
    let versions = netlist.signal("versions").expect("a register");
    dut.machine().set(versions, (u32::MAX - 1).into());
    // An even count, of which the low bit is the bank's: 2³² − 2, and 0 as far as the bank is concerned.
    let mut map = Map { servers: 16, versions: u32::MAX - 1, ..Map::default() };
    for versions in [u32::MAX, 1] {
        batch_of(&mut dut, &ports, &mut map, &mut draw, vec![Access::write(COMMIT, 1)])?;
        map.versions = versions;
        batch_of(&mut dut, &ports, &mut map, &mut draw, vec![Access::Read { address: COMMIT }])?;
        batch_of(&mut dut, &ports, &mut map, &mut draw, vec![Access::write(CONFIG, 255)])?;
    }
    Ok(())
}

pub(super) fn ports(netlist: &Netlist) -> BusPorts {
    let (input, output) =
        (|name: &str| format!("{}_i", name.to_lowercase()), |name: &str| format!("{}_o", name.to_lowercase()));
    BusPorts::new(netlist, input, output).unwrap()
}

fn batch_of(dut: &mut Dut<'_>, ports: &BusPorts, map: &mut Map, draw: &mut Draw, batch: Vec<Access>) -> Verdict {
    let mut master = Master::default();
    batch.iter().for_each(|access| master.push(*access));
    let (now, faults, drops) = (draw.bits() as u32, draw.bits() as u32, draw.bits() as u32);
    dut.set(&[("now_i", now.into()), ("faults_i", faults.into()), ("drops_i", drops.into())]);
    let lazy = 1 + draw.below(4);
    let mut due: VecDeque<Access> = batch.into();
    let mut effects = VecDeque::new();
    let mut scores = Scores::default();
    let (mut written, mut read) = (None, None);
    let (mut bank, mut acted, mut clock) = (dut.get("bank_o"), None, 0);
    while !master.is_done() {
        clock += 1;
        same("a batch that ends", clock < 20_000, true)?;
        let mut stall = || lazy > 1 && !draw.one_in(lazy);
        let stalls = Stalls {
            write_address: stall(),
            write_data: stall(),
            write_answer: stall(),
            read_address: stall(),
            read_answer: stall(),
        };
        let bus = master.drive(stalls);
        ports.drive(dut.machine(), &bus);
        dut.settle();
        for enable in ENABLES {
            if dut.get(enable) == 1 {
                let place = if enable == "set_time_o" { 0 } else { dut.get("place_o") as u16 };
                effects.push_back((enable, place, dut.get("word_o") as u32));
                acted = (enable == "set_time_o").then_some(clock + TICK_ANSWERED).or(acted);
            }
        }
        if dut.get("bank_o") != bank {
            // It shows a clock after the COMMIT.
            (bank, acted) = (dut.get("bank_o"), Some(clock - 1 + COMMIT_ANSWERED));
        }
        let score = draw.bits() & ((1 << 40) - 1);
        dut.set(&[("score_i", score.into())]);
        let done = scores.clock(dut, draw);
        let seen = ports.see(dut.machine());
        // What waited to be taken is still there, and the same.
        same("a write's answer holds", seen.written, written.or(seen.written))?;
        same("a read's answer holds", seen.read, read.or(seen.read))?;
        written = seen.written.filter(|_| !bus.take_write);
        read = seen.read.filter(|_| !bus.take_read);
        if seen.written.is_some() {
            if let Some(answered) = acted.take() {
                same("when COMMIT or TICK is answered", clock, answered)?;
            }
        }
        if done {
            map.score = score;
            same("an operation is asked for once", seen.written, None)?;
        }
        for Answered { access, data, response } in master.see(&seen).into_iter().flatten() {
            same("the order of answers", Some(access), due.pop_front())?;
            match access {
                Access::Write { address, data, strobes } => {
                    let (mut expected, effect) = map.write(address, data, strobes);
                    if address == SCORE && expected == OKAY {
                        expected = scores.answer((data >> 8 & 1 == 1, data as u8))?;
                    }
                    same(&format!("{access:x?}"), response, expected)?;
                    same(&format!("{access:x?}"), effects.pop_front(), effect)?;
                }
                Access::Read { address } => {
                    let expected = map.read(address, now, faults, drops);
                    let expected = expected.map_or((0, SLVERR), |data| (data, OKAY));
                    same(&format!("{access:x?}"), (data, response), expected)?;
                }
            }
        }
        dut.clock();
    }
    dut.set(&[("score_busy_i", 0), ("score_done_i", 0)]);
    same("effects without a write", effects.pop_front(), None)
}

/// The header of the module, for 2, 3, 16 and 256 servers: responses, strobes, addresses without a register, ids beyond N, and
/// the waits of COMMIT and TICK.
#[test]
fn registers_are_as_documented() {
    for (servers, file) in [16, 2, 3, 256].into_iter().zip(Design::ControlPort.netlists()) {
        accesses(&netlist(*file), 0, servers, if servers == 16 { 6 } else { 3 }).unwrap();
    }
}

/// An operation on a score is answered when it was done, once; or with an error when it found no slot for 1,023 clocks, and then
/// it has not begun.
#[test]
fn operations_wait_for_a_slot_and_not_for_ever() {
    operations(&netlist(Design::ControlPort.netlist()), 0).unwrap();
}

/// After 2³² − 1 versions comes 1, so that a version stays in force.
#[test]
fn the_count_of_versions_jumps_over_zero() {
    wraps(&netlist(Design::ControlPort.netlist()), 0).unwrap();
}

/// Without stalls a write takes three clocks and a read two, side by side.
#[test]
fn back_to_back_accesses_keep_their_pace() {
    let netlist = netlist(Design::ControlPort.netlist());
    let clocks = |access: fn(u16) -> Access| {
        let ports = ports(&netlist);
        let mut dut = Dut::new(&netlist, 0);
        dut.write(&[("rst_i", 1)]);
        let mut master = Master::default();
        (0..100).for_each(|at| master.push(access(at)));
        let mut clocks = 0;
        while !master.is_done() {
            ports.drive(dut.machine(), &master.drive(Stalls::default()));
            dut.settle();
            let seen = ports.see(dut.machine());
            assert!(master.see(&seen).iter().flatten().all(|answered| answered.response == OKAY));
            dut.clock();
            clocks += 1;
        }
        clocks
    };
    assert_eq!(clocks(|at| Access::write(BUCKETS_V4 + 4 * at, at.into())) / 100, 3);
    assert_eq!(clocks(|_| Access::Read { address: ID }) / 100, 2);
}
