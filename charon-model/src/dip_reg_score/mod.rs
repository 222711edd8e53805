//! The module `dip_reg_score` (§4, figures 3 and 4): the Score Table, and the transactions on it.
//!
//! *What it is.* The stateful part of Charon. Its requests come in packet order; every one is answered, in order, and the
//! results are as if each ended before the next began. Whatever implements it has to answer bit for bit like [`apply`].
//!
//! | code | request | rows afterwards | answer (id, score) |
//! |---|---|---|---|
//! | 0 | READ id0 | as before | id0, g′(id0) |
//! | 1 | UPDATE id0, g, v | id0: (g, v, now) | id0, the new g |
//! | 2 | COPY id0 | as before | id0, 0 |
//! | 3 | GET_INDEX id0, id1 | both: (g′, v, now); the winner plus one task | the winner, its g′ before the task |
//!
//! The winner has the lower g′; of equals it is id0. If id0 = id1, the row gets one task.
//!
//! *Deviations.* READ is ours: the control plane needs scores, and it must not change what it looks at. The paper
//! leaves open what happens to ids without a row and to unknown codes; here they act as COPY and are counted as faults.
//! COPY touches no row, so it takes any id. A request whose `statefulValid` is 0 belongs to a branch that was not taken: it
//! is answered like COPY and counts nothing.
//!
//! *Cost.* O(1) a request; 16 bytes a server; no allocation after [`new`](DipRegScore::new).
//!
//! [`apply`]: DipRegScore::apply

mod port;

use alloc::vec;
use alloc::vec::Vec;

pub use port::{Answer, OpCode, Request};

use crate::params::{Params, Widths};
use crate::score::{Score, plus_task, remaining, reported, touched};

/// The Score Table and its transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DipRegScore {
    widths: Widths,
    rows: Vec<Score>,
    faults: u32,
}

/// What a request came to, beside its answer. The hardware has only the answer and the count of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
#[non_exhaustive]
pub enum Outcome {
    /// `statefulValid` was 0: answered like COPY.
    NotStateful,
    /// The operation was done.
    Done(OpCode),
    /// Answered like COPY, and counted.
    Fault(Fault),
}

/// A request that the table cannot follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The opcode is none of 0 to 3.
    #[error("opcode {code}: expected 0 to 3")]
    UnknownCode {
        /// The code of the request.
        code: u8,
    },
    /// An id that the operation needs has no row.
    #[error("server id {id} with {servers} servers")]
    UnknownServer {
        /// The first such id.
        id: u8,
        /// N.
        servers: u16,
    },
}

impl DipRegScore {
    /// A table of N rows, all zero.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        Self { widths: params.widths(), rows: vec![Score::default(); params.servers().into()], faults: 0 }
    }

    /// Follows a request: its answer, and what it came to.
    #[inline]
    pub fn apply(&mut self, request: Request) -> (Answer, Outcome) {
        let request = request.on_wires(self.widths);
        let copy = Answer { id: request.id0, score: 0 };
        if !request.stateful_valid {
            return (copy, Outcome::NotStateful);
        }
        match self.follow(request) {
            Ok((answer, code)) => (answer, Outcome::Done(code)),
            Err(fault) => {
                self.faults = self.faults.saturating_add(1);
                (copy, Outcome::Fault(fault))
            }
        }
    }

    /// The scores as they are stored, by id.
    #[must_use]
    pub fn rows(&self) -> &[Score] {
        &self.rows
    }

    /// Requests that were counted as faults; stops at `u32::MAX`.
    #[must_use]
    pub const fn faults(&self) -> u32 {
        self.faults
    }

    /// The columns.
    #[must_use]
    pub const fn widths(&self) -> Widths {
        self.widths
    }

    /// g′ of a server, or `None` if it has no row. What READ answers, without a request.
    #[must_use]
    #[inline]
    pub fn score(&self, id: u8, now: u32) -> Option<u64> {
        self.rows.get(usize::from(id)).map(|row| remaining(self.widths, *row, now))
    }

    #[inline]
    fn follow(&mut self, request: Request) -> Result<(Answer, OpCode), Fault> {
        let Request { op_code, id0, id1, g, v, now, .. } = request;
        let code = OpCode::from_code(op_code).ok_or(Fault::UnknownCode { code: op_code })?;
        let answer = match code {
            OpCode::Read => Answer { id: id0, score: remaining(self.widths, self.rows[self.row(id0)?], now) },
            OpCode::Update => {
                let at = self.row(id0)?;
                self.rows[at] = reported(self.widths, g, v, now);
                Answer { id: id0, score: self.rows[at].g }
            }
            OpCode::Copy => Answer { id: id0, score: 0 },
            OpCode::GetIndex => {
                let (at0, at1) = (self.row(id0)?, self.row(id1)?);
                let row0 = touched(self.widths, self.rows[at0], now);
                let row1 = touched(self.widths, self.rows[at1], now);
                (self.rows[at0], self.rows[at1]) = (row0, row1);
                let (id, at, score) = if row1.g < row0.g { (id1, at1, row1.g) } else { (id0, at0, row0.g) };
                self.rows[at].g = plus_task(self.widths, score);
                Answer { id, score }
            }
        };
        Ok((answer, code))
    }

    #[inline]
    fn row(&self, id: u8) -> Result<usize, Fault> {
        let at = usize::from(id);
        if at < self.rows.len() { Ok(at) } else { Err(Fault::UnknownServer { id, servers: self.rows.len() as u16 }) }
    }
}

#[cfg(test)]
mod tests;
