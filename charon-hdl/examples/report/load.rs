//! Loads of requests at the rates of network ports, and what becomes of them.

use std::collections::VecDeque;
use std::error::Error;

use charon_hdl::Design;
use charon_hdl::btor2::{Fill, Netlist};
use charon_hdl::sim::ScoreModule;
use charon_model::dip_reg_score::Request;
use charon_model::params::{Params, RawParams};

/// What the packets are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mix {
    /// SYNs alone: GET_INDEX of two drawn candidates.
    Syn,
    /// Of ten packets one SYN, one SYN-ACK (UPDATE), and eight others, whose branch is not taken.
    Mixed,
}

/// A rate: a request every `clocks.0 / clocks.1` clocks of 5 ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) name: &'static str,
    pub(crate) clocks: (u64, u64),
}

/// What became of the requests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) served: usize,
    pub(crate) dropped: usize,
    /// The number of the first request that was dropped.
    pub(crate) first_dropped: Option<usize>,
    /// Clocks from a request to its answer, over all that were served.
    pub(crate) latency_sum: u64,
    pub(crate) latency_max: u64,
    pub(crate) clocks: u64,
}

impl Load {
    /// A frame of 64 bytes takes 84 on the wire, 67.2 ns at 10 Gb/s; a bus of 256 bits at 200 MHz takes two clocks for it.
    pub(crate) const ALL: [Self; 4] = [
        Self { name: "1x10g", clocks: (1344, 100) },
        Self { name: "2x10g", clocks: (672, 100) },
        Self { name: "4x10g", clocks: (336, 100) },
        Self { name: "bus", clocks: (2, 1) },
    ];
}

impl Mix {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Syn => "syn",
            Self::Mixed => "mixed",
        }
    }

    fn request(self, draw: u64, now: u32) -> Request {
        let [kind, id0, id1, g] = [draw % 10, draw >> 8 & 15, draw >> 16 & 15, draw >> 24 & 63];
        let (id0, id1) = (id0 as u8, id1 as u8);
        match (self, kind) {
            (Self::Syn, _) | (Self::Mixed, 0) => Request::get_index(id0, id1, now),
            (Self::Mixed, 1) => Request::update(id0, g as u16, 1 << 14, now),
            (Self::Mixed, _) => Request { stateful_valid: false, ..Request::get_index(id0, id1, now) },
        }
    }
}

/// Sends requests at a rate, and waits for the last answer.
pub(crate) fn run(
    design: Design,
    netlist: &Netlist,
    mix: Mix,
    (clocks, of): (u64, u64),
    requests: usize,
) -> Result<Outcome, Box<dyn Error>> {
    let widths = Params::new(RawParams::paper())?.widths();
    let mut module = ScoreModule::new(netlist, widths, Fill::Zero).ok_or("the netlist has other ports")?;
    module.reset();
    let mut outcome = Outcome::default();
    let (mut sent, mut drops, mut draw) = (0, 0, 1u64);
    // When the requests without an answer came.
    let mut waiting: VecDeque<u64> = VecDeque::new();
    while sent < requests || !waiting.is_empty() {
        let now = outcome.clocks;
        let due = sent < requests && now * of / clocks != (now + 1) * of / clocks;
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // A tick is 2048 clocks.
        let seen = module.clock(due.then(|| mix.request(draw >> 33, (now >> 11) as u32)));
        if seen.drops > drops {
            // It shows a clock late: the last request was the one.
            drops = seen.drops;
            waiting.pop_back();
            outcome.dropped += 1;
            outcome.first_dropped.get_or_insert(sent);
        }
        if seen.answer.is_some() {
            let since = waiting.pop_front().ok_or_else(|| format!("{design:?}: an answer without a request"))?;
            outcome.served += 1;
            outcome.latency_sum += now - since;
            outcome.latency_max = outcome.latency_max.max(now - since);
        }
        if due {
            waiting.push_back(now);
            sent += 1;
        }
        outcome.clocks += 1;
    }
    if outcome.served + outcome.dropped != requests {
        return Err(format!("{design:?}: {outcome:?} of {requests} requests").into());
    }
    Ok(outcome)
}
