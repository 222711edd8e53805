//! What the model says of a clock, and whether the hardware says the same.
//!
//! The model lags: what came in a clock is done six clocks later, when the hardware has it at the Score Table. There the
//! control port's operations come in between, and with the paper's Score Table a request may be dropped; which slot that is
//! shows in two registers, and the model does the same in the same place.

use std::fmt::Debug;

use charon_hdl::control::registers;
use charon_hdl::sim::{Access, Answered, TopModule, TopSeen};
use charon_hdl::tuple::Verdict;
use charon_model::dip_reg_score::Request;
use charon_model::packet::Headers;
use charon_model::pipeline::{Decision, DropReason, NextHop};

use super::tables::apply;
use super::traffic::UPLINK;
use super::world::{Checked, World};

/// The stage at which a packet's operation on the scores begins: as many clocks after the packet came.
pub(super) const SCORE_STAGE: usize = 6;
/// The fewest clocks from a packet to its answer with the paper's Score Table.
const FSM_LEAST: usize = 12;
/// As many requests fit into its FIFO.
const FSM_PENDING: usize = 64;
/// Clocks from the begin of a control port's operation to the answer on the bus, with the pipelined Score Table.
const OPERATION: usize = 11;

/// What came in a clock.
#[derive(Clone, Default)]
pub(super) struct Arrived {
    pub(super) clock: usize,
    pub(super) now: u32,
    /// A version came into force before the packet.
    pub(super) version: bool,
    pub(super) packet: Option<Asked>,
}

/// A packet as it was parsed; nothing is asked about it if it is not stateful.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) parsed: Result<Headers, DropReason>,
    pub(super) stateful: bool,
}

/// A decision, where the packet goes, and whether it is IPv6 there.
pub(super) type Expected = (Decision, NextHop, bool);

impl World<'_> {
    /// What is at the Score Table in this clock: a version comes into force, the control port's operation is done, a packet
    /// is decided; or the request was dropped, and is as if it had never come.
    pub(super) fn at_scores(&mut self) -> Checked {
        let arrived = self.lag.pop_front().ok_or("the lag is six clocks")?;
        if arrived.version {
            let edits = self.coming.pop_front().ok_or("a version that nobody wrote")?;
            apply(self.model.tables_mut(), &edits);
            *self.reached.entry("version".into()).or_default() += 1;
        }
        let (was, before) = (self.injected, self.drops);
        self.injected = self.dut.machine().get(self.probes.injected) == 1;
        self.drops = self.probes.drops.map_or(0, |drops| self.dut.machine().get(drops) as u32);
        let begins = self.injected && !was;
        if self.drops != before {
            same("one drop a clock", self.drops, before.wrapping_add(1))?;
            same("a drop with room in the FIFO", self.waiting.len() + usize::from(was) < FSM_PENDING, false)?;
            *self.reached.entry(if begins { "try" } else { "drop" }.into()).or_default() += 1;
            return Ok(());
        }
        if begins {
            self.operation(arrived.now)?;
        }
        if let Some(Asked { parsed, stateful }) = &arrived.packet {
            let expected = stateful.then(|| self.decide(parsed.as_ref().map_err(|reason| *reason), arrived.now));
            self.waiting.push_back((arrived.clock, expected));
        }
        Ok(())
    }

    /// An operation of the control port, in the slot of a clock with this tick.
    fn operation(&mut self, now: u32) -> Checked {
        let request = self.operations.pop_front().ok_or("an operation that nobody asked for")?;
        let after = self.set.map_or(0, |set| now.wrapping_sub(set));
        same("an operation from before the tick that was set", after < 1 << 20, true)?;
        self.score = self.model.tables_mut().scores.apply(Request { now, ..request }).0.score;
        (self.done, self.begun) = (self.done + 1, Some(self.clock));
        *self.reached.entry("operation".into()).or_default() += 1;
        Ok(())
    }

    fn decide(&mut self, parsed: Result<&Headers, DropReason>, now: u32) -> Expected {
        let decision = match parsed {
            Ok(headers) => self.model.decide(headers, now),
            Err(reason) => Decision::Drop(reason),
        };
        let (next_hop, v6) = match (decision, parsed) {
            (Decision::ToServer { row, .. }, _) => (NextHop { port: row.port, mac: row.mac }, row.address.is_ipv6()),
            (Decision::ToClient { .. }, Ok(Headers::Wrapped { inner, .. })) => (UPLINK, !inner.ip.is_v4()),
            _ => (NextHop::default(), false),
        };
        let name = match decision {
            Decision::ToServer { route, .. } => route.name(),
            Decision::ToClient { .. } => "client",
            Decision::Drop(reason) => reason.name(),
            Decision::Punt(reason) => reason.name(),
        };
        *self.reached.entry(name.to_owned()).or_default() += 1;
        (decision, next_hop, v6)
    }

    /// What the hardware shows: the answer to a packet; and when the bus answers an operation of the control port.
    pub(super) fn compare(&mut self, seen: &TopSeen) -> Checked {
        if let (Some(begun), Some(_), false) = (self.begun, seen.bus.written, self.fsm) {
            same("clocks of an operation", self.clock - begun, OPERATION)?;
            self.begun = None;
        }
        let least = if self.fsm { FSM_LEAST } else { TopModule::LATENCY };
        let due = self.waiting.front().copied().filter(|(since, _)| *since + least <= self.clock);
        let Some(answer) = seen.answer else {
            return same(&format!("clock {}: an answer", self.clock), due.is_some() && !self.fsm, false);
        };
        let (since, expected) = due.ok_or_else(|| format!("clock {}: {answer:?} without a packet", self.clock))?;
        let took = self.clock - since;
        same("constant latency", took == TopModule::LATENCY || self.fsm, true)?;
        let what = format!("clock {}", self.clock);
        match expected {
            None => same(&what, Verdict::is_zero(&answer), true)?,
            Some(expected) => {
                let got = answer.decision().map(|(decision, next_hop)| (decision, next_hop, answer.is_v6()));
                same(&what, got, Some(expected))?;
            }
        }
        self.waiting.pop_front();
        Ok(())
    }

    /// An answer of the bus: a write of SCORE when its operation is done, and reads of what it answered.
    pub(super) fn answered(&mut self, answered: Answered) -> Checked {
        if let (Access::Write { address: registers::SCORE, .. }, true, 2) =
            (answered.access, self.starving, answered.response)
        {
            *self.reached.entry("refused".into()).or_default() += 1;
            same(
                "an operation that is given up has begun",
                (self.done, self.operations.pop_front().is_some()),
                (0, true),
            )?;
            return Ok(());
        }
        same("the bus answers", answered.response, 0)?;
        match answered.access {
            Access::Read { address: registers::SCORE_LOW } => same("the score", answered.data, self.score as u32),
            Access::Read { address: registers::SCORE_HIGH } => {
                same("the score's high bits", answered.data, (self.score >> 32) as u32)
            }
            Access::Read { address: registers::DROPS } => same("the count of drops", answered.data, self.drops),
            Access::Write { address: registers::SCORE, .. } => {
                same("operations done for a SCORE", std::mem::take(&mut self.done), 1)
            }
            Access::Write { address: registers::TICK, data, .. } => {
                self.set = Some(data);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

pub(crate) fn same<T: PartialEq + Debug>(what: &str, got: T, expected: T) -> Checked {
    if got == expected { Ok(()) } else { Err(format!("{what}: {got:?}, expected {expected:?}")) }
}
