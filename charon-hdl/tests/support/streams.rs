//! Streams of requests that meet each other in the pipeline, and what of it was seen.

use charon_model::dip_reg_score::{DipRegScore, Fault, Outcome, Request};
use charon_model::score::{elapsed, remaining};
use proptest::prelude::*;

use super::Cycle;

/// A stream over the first few servers, so that operations hit the rows of those ahead of them all the time.
#[derive(Clone, Debug)]
pub struct Stream {
    pub cycles: Vec<Cycle>,
}

/// Streams over 2, 3, 4, 16 or all servers, of up to `length` clocks.
pub fn streams(servers: u16, length: usize) -> impl Strategy<Value = Stream> {
    let few = prop_oneof![Just(2), Just(3), Just(4), Just(16), Just(servers)];
    let start = prop_oneof![Just(0), Just(u32::MAX - 50), any::<u32>()];
    (few, start, prop::collection::vec(clock(), 1..length)).prop_map(|(few, start, clocks)| {
        let mut now = start;
        let cycles = clocks.into_iter().map(|clock| {
            let Clock { dt, cycle, ids } = clock;
            now = now.wrapping_add(dt);
            let id = |id: Id| match id {
                Id::Known(id) => (u16::from(id) % few) as u8,
                Id::Any(id) => id,
            };
            match cycle {
                Cycle::Request(request) => Cycle::Request(Request { id0: id(ids[0]), id1: id(ids[1]), now, ..request }),
                other => other,
            }
        });
        Stream { cycles: cycles.collect() }
    })
}

#[derive(Clone, Copy, Debug)]
enum Id {
    Known(u8),
    Any(u8),
}

#[derive(Clone, Copy, Debug)]
struct Clock {
    dt: u32,
    cycle: Cycle,
    ids: [Id; 2],
}

fn clock() -> impl Strategy<Value = Clock> {
    let id = || prop_oneof![40 => any::<u8>().prop_map(Id::Known), 1 => any::<u8>().prop_map(Id::Any)];
    let code = prop_oneof![2 => Just(0u8), 3 => Just(1), 1 => Just(2), 10 => Just(3), 1 => any::<u8>()];
    let g = prop_oneof![4 => 0u16..4, 1 => Just(4095), 1 => Just(4094), 1 => any::<u16>()];
    let v = prop_oneof![
        1 => Just(0u32),
        3 => (0u32..24).prop_map(|bit| 1 << bit),
        3 => 0u32..1 << 16,
        1 => any::<u32>(),
    ];
    let dt = prop_oneof![
        12 => Just(0u32),
        12 => 0u32..1 << 6,
        4 => 0u32..1 << 12,
        1 => (16u32..26).prop_map(|bit| 1 << bit),
        1 => Just((1 << 24) - 1),
        1 => any::<u32>(),
    ];
    let request = (prop::bool::weighted(0.95), code, g, v).prop_map(|(stateful_valid, op_code, g, v)| Request {
        stateful_valid,
        op_code,
        g,
        v,
        ..Request::default()
    });
    let cycle = prop_oneof![9 => request.prop_map(Cycle::Request), 1 => Just(Cycle::Bubble)];
    (dt, cycle, [id(), id()]).prop_map(|(dt, cycle, ids)| Clock { dt, cycle, ids })
}

/// How often each thing happened that a stream could miss.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    pub requests: usize,
    pub bubbles: usize,
    pub not_stateful: usize,
    pub unknown_code: usize,
    pub unknown_server: usize,
    pub second_wins: usize,
    pub ties: usize,
    pub same_id: usize,
    pub held: usize,
    pub emptied: usize,
    pub limited: usize,
    pub stale: usize,
    pub wrapped: usize,
    /// Scores that were needed while the operation one, two or three ahead had its own, by {id0, id1} of both.
    pub ahead: [[[usize; 2]; 2]; 3],
}

impl Coverage {
    /// Follows a stream through a model of its own.
    pub fn count(&mut self, mut model: DipRegScore, cycles: &[Cycle]) {
        let mut before: [[Option<u8>; 2]; 3] = [[None; 2]; 3];
        for cycle in cycles {
            let mut stored = [None; 2];
            match cycle {
                Cycle::Request(request) => {
                    self.requests += 1;
                    self.scores(&model, request, &before);
                    let outcome = model.apply(*request).1;
                    match outcome {
                        Outcome::NotStateful => self.not_stateful += 1,
                        Outcome::Fault(Fault::UnknownCode { .. }) => self.unknown_code += 1,
                        Outcome::Fault(Fault::UnknownServer { .. }) => self.unknown_server += 1,
                        _ => {}
                    }
                    if matches!(outcome, Outcome::Done(_)) {
                        let two = request.op_code == 3 && request.id0 != request.id1;
                        let one = matches!(request.op_code, 1 | 3);
                        stored = [one.then_some(request.id0), two.then_some(request.id1)];
                    }
                }
                _ => self.bubbles += 1,
            }
            before = [stored, before[0], before[1]];
        }
    }

    fn scores(&mut self, model: &DipRegScore, request: &Request, before: &[[Option<u8>; 2]; 3]) {
        let known = |id: u8| usize::from(id) < model.rows().len();
        if !(request.stateful_valid && request.op_code == 3 && known(request.id0) && known(request.id1)) {
            return;
        }
        let widths = model.widths();
        let ids = [request.id0, request.id1];
        let [first, second] = ids.map(|id| remaining(widths, model.rows()[usize::from(id)], request.now));
        self.same_id += usize::from(ids[0] == ids[1]);
        self.ties += usize::from(ids[0] != ids[1] && first == second && first > 0);
        self.second_wins += usize::from(second < first);
        self.held += usize::from(first.min(second) >> widths.raw().fraction_bits == u64::from(widths.tasks_max()));
        for (at, id) in ids.into_iter().enumerate() {
            let row = model.rows()[usize::from(id)];
            let dt = elapsed(widths, row.t, request.now);
            let fresh = dt < widths.stale_ticks();
            let product = u64::from(row.v) * u64::from(dt);
            self.stale += usize::from(!fresh && row.g > 0);
            self.wrapped += usize::from(fresh && request.now < row.t);
            self.emptied += usize::from(fresh && row.g > 0 && row.g < product);
            // The low bits alone would leave something.
            self.limited += usize::from(fresh && product > widths.g_max() && product & widths.g_max() < row.g);
            for (distance, stored) in before.iter().enumerate() {
                for (of, stored) in stored.iter().enumerate() {
                    self.ahead[distance][of][at] += usize::from(*stored == Some(id));
                }
            }
        }
    }

    /// Fails if something never happened.
    pub fn assert_complete(&self) {
        let Self { requests, bubbles, not_stateful, unknown_code, unknown_server, second_wins, ties, .. } = *self;
        let Self { same_id, held, emptied, limited, stale, wrapped, .. } = *self;
        let counts = [requests, bubbles, not_stateful, unknown_code, unknown_server, second_wins, ties];
        let more = [same_id, held, emptied, limited, stale, wrapped];
        let ahead = self.ahead.as_flattened().as_flattened();
        assert!(counts.iter().chain(&more).chain(ahead).all(|&count| count > 0), "never reached: {self:?}");
    }
}
