//! What a control plane does to hardware and model: tables, time, scores, and the start after a reset.

use std::net::IpAddr;

use charon_hdl::control::{Write, registers};
use charon_hdl::sim::Access;
use charon_model::dip_reg_score::Request;
use charon_model::pipeline::Tables;

use super::traffic::row;
use super::world::{Checked, World};

/// A change of the tables.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Add(u8, u16),
    Remove(u8),
    Weights(Vec<u32>),
}

/// log2 of the buckets of a bank.
const BUCKET_BITS: u32 = 12;

impl World<'_> {
    /// Configuration and the first version, its servers in the life that comes next, at the bus's own pace.
    pub(crate) fn start(&mut self) -> Checked {
        self.configure()?;
        self.hurry = true;
        let there = self.at_first();
        let mut edits: Vec<Edit> = (0..there).map(|id| Edit::Add(id as u8, self.generation)).collect();
        edits.push(Edit::Weights(self.weights(|id| (id < there).into())));
        self.replace(edits);
        self.drain()?;
        self.hurry = false;
        Ok(())
    }

    /// The configuration.
    pub(crate) fn configure(&mut self) -> Checked {
        for write in self.plane.configure(&self.config).unwrap() {
            self.master.push(Access::write(write.address, write.data));
        }
        self.hurry = true;
        self.drain()?;
        self.hurry = false;
        Ok(())
    }

    /// How many servers there are at first.
    fn at_first(&self) -> u32 {
        (u32::from(self.servers) * 3 / 4).max(2)
    }

    /// A weight for every id.
    fn weights(&self, weight: impl Fn(u32) -> u32) -> Vec<u32> {
        (0..self.servers.into()).map(weight).collect()
    }

    /// Both versions of [`toggle`](Self::toggle), written as fast as it goes.
    pub(crate) fn write_both(&mut self) -> Checked {
        self.hurry = true;
        self.toggle(1)?;
        self.hurry = false;
        Ok(())
    }

    /// Two versions in turn, servers and weights different in both, so that packets of both are under way; once both are
    /// written, a COMMIT is all it takes.
    pub(crate) fn toggle(&mut self, times: usize) -> Checked {
        let there = self.at_first();
        let away = [0u32, 2, 4].into_iter().filter(|id| *id < there).map(|id| id as u8);
        let mut forth: Vec<Edit> = away.clone().map(Edit::Remove).collect();
        forth.push(Edit::Weights(self.weights(|id| if id < there && id % 2 == 1 { id } else { 0 })));
        let mut back: Vec<Edit> = away.map(|id| Edit::Add(id, 0)).collect();
        back.push(Edit::Weights(self.weights(|id| (id < there).into())));
        for time in 0..2 * times {
            self.replace(if time % 2 == 0 { forth.clone() } else { back.clone() });
            if !self.hurry {
                let shift = self.draw.below(32);
                let now = self.draw.bits() as u32 >> shift;
                self.jump(now);
            }
            while self.is_changing() {
                if self.hurry { self.step(None)? } else { self.traffic()? }
            }
        }
        self.weights = self.weights(|id| (id < there).into());
        Ok(())
    }

    /// One version right behind the other: the second is written as soon as the first is in force.
    pub(crate) fn follow(&mut self) -> Checked {
        let there = self.at_first();
        let gone: Vec<u8> = [0u8, 2, 4].into_iter().filter(|id| u32::from(*id) < there).collect();
        self.replace(gone.iter().map(|id| Edit::Remove(*id)).collect());
        self.replace(Vec::new());
        while self.is_changing() {
            self.traffic()?;
        }
        Ok(())
    }

    /// Begins a new version; it comes into force some time after.
    pub(crate) fn replace(&mut self, edits: Vec<Edit>) {
        // Only then does nobody read the bank that comes next.
        let past_the_bus = !self.by_bus && self.master.is_done();
        let mut tables = self.model.tables().clone();
        self.coming.push_back(edits);
        self.coming.iter().for_each(|edits| apply(&mut tables, edits));
        for write in self.plane.replace(&tables) {
            if !(past_the_bus && self.put_bucket(write)) {
                self.master.push(Access::write(write.address, write.data));
            }
        }
    }

    /// Puts a bucket into the bank that is not in force; false if the write is of something else.
    fn put_bucket(&mut self, write: Write) -> bool {
        let family = match write.address {
            registers::BUCKETS_V4..registers::BUCKETS_V6 => 0,
            registers::BUCKETS_V6..=0xbfff => 1,
            _ => return false,
        };
        let bucket = usize::from(write.address / 4) % (1 << BUCKET_BITS);
        let address = usize::from(!self.bank) << BUCKET_BITS | bucket;
        self.dut.machine().put(self.probes.buckets[family], address, &[write.data.into()])
    }

    /// A new version is being written.
    pub(crate) fn is_changing(&self) -> bool {
        !self.master.is_done()
    }

    /// A drawn version: servers that come, drain and go, and new weights.
    pub(crate) fn draw_edits(&mut self) -> Vec<Edit> {
        let mut edits = Vec::new();
        for _ in 0..1 + self.draw.below(3) {
            let id = self.draw.below(self.servers.into()) as u8;
            if edits.iter().any(|edit| matches!(edit, Edit::Add(other, _) | Edit::Remove(other) if *other == id)) {
                continue;
            }
            match (self.is_there(id), self.draw.below(3)) {
                (false, _) => {
                    self.generation += 1;
                    edits.push(Edit::Add(id, self.generation));
                    self.weights[usize::from(id)] = 1 + self.draw.below(9) as u32;
                }
                // Removed at once, while the Alias Table may still name it; or drained.
                (true, 0) => edits.push(Edit::Remove(id)),
                (true, 1) => self.weights[usize::from(id)] = 0,
                (true, _) => self.weights[usize::from(id)] = self.draw.below(1 << 12) as u32,
            }
        }
        if self.draw.one_in(10) {
            self.weights = vec![0; self.servers.into()];
        }
        if !self.draw.one_in(3) {
            edits.push(Edit::Weights(self.weights.clone()));
        }
        edits
    }

    /// Everybody goes; or everybody is there, and nobody may be chosen.
    pub(crate) fn all(&mut self, there: bool) -> Vec<Edit> {
        let mut edits = self.everybody(there);
        if there {
            edits.push(Edit::Weights(vec![0; self.servers.into()]));
        }
        edits
    }

    /// Everybody comes, or goes; the Alias Table stays.
    fn everybody(&self, there: bool) -> Vec<Edit> {
        let edit = |id| if there { Edit::Add(id, 0) } else { Edit::Remove(id) };
        let ids = (0..self.servers).map(|id| id as u8).filter(|id| self.is_there(*id) != there);
        ids.map(edit).collect()
    }

    /// A version in which everybody has gone, or is there with equal weights, and right behind it the same once more, which
    /// begins with writes of rows into the bank that was in force before both.
    pub(crate) fn replace_twice(&mut self, there: bool) {
        let mut edits = self.everybody(there);
        if there {
            edits.push(Edit::Weights(self.weights(|_| 1)));
        }
        self.replace(edits);
        self.replace(Vec::new());
    }

    /// A server has a row in one family or both.
    fn is_there(&self, id: u8) -> bool {
        let address = |v6| -> Option<IpAddr> { Some(self.model.tables().ip(row(v6, 0, 0).address).get(id)?.address) };
        [false, true].into_iter().any(|v6| address(v6).is_some())
    }

    /// Another time, over the bus.
    pub(crate) fn jump(&mut self, now: u32) {
        self.master.push(Access::write(registers::TICK, now));
    }

    /// An operation of the control port: UPDATE with these tasks and speed, or READ; with another time right before it.
    pub(crate) fn ask_score(&mut self, id: u8, update: Option<(u16, u32)>, at: Option<u32>) {
        let mut request = Request::read(id, 0);
        if let Some((g, v)) = update {
            if self.staged.0 != g {
                self.master.push(Access::write(registers::SCORE_G, g.into()));
            }
            if self.staged.1 != v {
                self.master.push(Access::write(registers::SCORE_V, v));
            }
            self.staged = (g, v);
            request = Request::update(id, g, v, 0);
        }
        if let Some(now) = at {
            self.jump(now);
        }
        self.operations.push_back(request);
        self.master.push(Access::write(registers::SCORE, u32::from(update.is_some()) << 8 | u32::from(id)));
    }

    /// Reads what the last operation answered; to be called when all are done.
    pub(crate) fn read_score(&mut self) {
        self.master.push(Access::Read { address: registers::SCORE_LOW });
        self.master.push(Access::Read { address: registers::SCORE_HIGH });
    }

    /// Reads how many requests were dropped; to be called when none can be.
    pub(crate) fn read_drops(&mut self) {
        self.master.push(Access::Read { address: registers::DROPS });
    }

    /// Every score by the control port, or a part of many, at one time, and one of them set: those of the model.
    pub(crate) fn scores(&mut self) -> Checked {
        self.drain()?;
        let soon = self.draw.below(16) as u32;
        let now = self.draw.bits() as u32;
        let now = if self.draw.one_in(3) { now } else { self.now.wrapping_add(soon) };
        let part = if self.servers > 16 { 8 } else { 1 };
        for id in (0..self.servers).map(|id| id as u8) {
            if !self.draw.one_in(part) {
                continue;
            }
            self.ask_score(id, (id == 1).then_some((77, 0x12_3456)), Some(now));
            self.drain()?;
            self.read_score();
            self.drain()?;
        }
        Ok(())
    }

    /// Reset in the middle of everything, and from the start.
    pub(crate) fn reset_and_start(&mut self) -> Checked {
        let clocks = 1 + self.draw.below(3) as usize;
        let valid = self.draw.one_in(2);
        // First as short as can be, so that nothing but its stage's own reset stops what is under way.
        self.reset(1, valid)?;
        // An operation as soon as can be, whose tick must be one of after the reset; and then for a while nothing is asked.
        self.hurry = true;
        self.ask_score(1, Some((5, 0)), None);
        for _ in 0..40 {
            self.step(None)?;
        }
        self.ask_score(1, None, None);
        self.drain()?;
        self.read_score();
        self.drain()?;
        self.reset(clocks, valid)?;
        self.start()
    }
}

/// Does to tables what the edits say.
pub(super) fn apply(tables: &mut Tables, edits: &[Edit]) {
    for edit in edits {
        match edit {
            Edit::Add(id, generation) => {
                // Some servers have an address of one family only.
                if generation % 5 != 1 {
                    tables.add(*id, row(false, *id, *generation)).unwrap();
                }
                if generation % 5 != 2 {
                    tables.add(*id, row(true, *id, *generation)).unwrap();
                }
            }
            Edit::Remove(id) => tables.remove(*id).unwrap(),
            Edit::Weights(weights) => tables.alias.replace(weights).unwrap(),
        }
    }
}
