use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::params::{RawParams, RawWidths};

fn params(servers: u16, widths: RawWidths) -> Params {
    Params::new(RawParams { servers, id_bits: 8, widths, ..RawParams::paper() }).unwrap()
}

fn table(servers: u16) -> DipRegScore {
    DipRegScore::new(&params(servers, RawWidths::FULL))
}

/// Follows a request that must succeed.
fn done(table: &mut DipRegScore, request: Request) -> (u8, u64) {
    let (answer, outcome) = table.apply(request);
    assert_eq!(Some(outcome), OpCode::from_code(request.op_code).map(Outcome::Done), "{request:?}");
    (answer.id, answer.score)
}

const TASK: u64 = 1 << 28;

/// §3, figure 2(a), as transactions: with the scores 1 and 3, the speeds 2 and 1 and the times 5 and 7, a SYN at time 8
/// with the candidates 0 and 1 goes to server 0; 0 then has one task, and 1 the 2 that are left.
#[test]
fn the_worked_figure_of_the_paper() {
    let mut table = table(4);
    let v = (TASK / 64) as u32; // a unit of the figure's time is 64 ticks
    done(&mut table, Request::update(0, 1, 2 * v, 5 * 64));
    done(&mut table, Request::update(1, 3, v, 7 * 64));
    assert_eq!(done(&mut table, Request::read(1, 8 * 64)), (1, 2 * TASK));
    assert_eq!(done(&mut table, Request::get_index(0, 1, 8 * 64)), (0, 0));
    assert_eq!(table.rows()[0], Score { g: TASK, v: 2 * v, t: 8 * 64 });
    assert_eq!(table.rows()[1], Score { g: 2 * TASK, v, t: 8 * 64 });
}

/// READ answers the score now, and changes nothing.
#[test]
fn read_changes_nothing() {
    let mut table = table(4);
    done(&mut table, Request::update(2, 5, 3, 10));
    let before = table.clone();
    assert_eq!(done(&mut table, Request::read(2, 12)), (2, 5 * TASK - 6));
    assert_eq!(table.score(2, 12), Some(5 * TASK - 6));
    assert_eq!((table.score(4, 12), &table), (None, &before));
}

/// UPDATE stores what was reported and answers the new g; the old row does not matter (`Overwrite`, the paper's).
#[test]
fn update_overwrites() {
    let mut table = table(4);
    done(&mut table, Request::get_index(1, 1, 3));
    assert_eq!(done(&mut table, Request::update(1, 9, 77, 20)), (1, 9 * TASK));
    assert_eq!(table.rows()[1], Score { g: 9 * TASK, v: 77, t: 20 });
    assert_eq!(table.rows()[0], Score::default());
}

/// COPY answers id0 and 0, with any id, and touches nothing.
#[test]
fn copy_touches_nothing() {
    let mut table = table(4);
    done(&mut table, Request::update(1, 9, 77, 20));
    let before = table.clone();
    for id in [0, 1, 4, 255] {
        let request = Request { op_code: 2, ..Request::update(id, 1, 1, 99) };
        assert_eq!(done(&mut table, request), (id, 0));
    }
    assert_eq!(table, before);
}

/// GET_INDEX answers the winner with its score before the task; the loser is stored without one.
#[test]
fn get_index_counts_the_new_flow_at_once() {
    let mut table = table(4);
    done(&mut table, Request::update(0, 3, 0, 0));
    done(&mut table, Request::update(1, 2, 0, 0));
    assert_eq!(done(&mut table, Request::get_index(0, 1, 5)), (1, 2 * TASK));
    assert_eq!(table.rows()[1], Score { g: 3 * TASK, v: 0, t: 5 });
    assert_eq!(table.rows()[0], Score { g: 3 * TASK, v: 0, t: 5 });
}

/// Of equals the first candidate wins, in either order.
#[test]
fn ties_go_to_the_first_candidate() {
    let mut table = table(4);
    assert_eq!(done(&mut table, Request::get_index(3, 1, 0)), (3, 0));
    assert_eq!(done(&mut table, Request::get_index(0, 2, 0)), (0, 0));
    done(&mut table, Request::update(0, 1, 0, 0));
    assert_eq!(done(&mut table, Request::get_index(0, 3, 0)), (0, TASK));
}

/// The same candidate twice gets one task.
#[test]
fn one_candidate_twice_gets_one_task() {
    let mut table = table(4);
    assert_eq!(done(&mut table, Request::get_index(2, 2, 7)), (2, 0));
    assert_eq!(table.rows()[2], Score { g: TASK, v: 0, t: 7 });
    assert_eq!(done(&mut table, Request::get_index(2, 2, 8)), (2, TASK));
}

/// A full score is held: 4095 tasks stay 4095.
#[test]
fn a_full_score_is_held() {
    let mut table = table(2);
    done(&mut table, Request::update(0, 4095, 1, 0));
    assert_eq!(done(&mut table, Request::get_index(0, 0, 0)), (0, 4095 * TASK));
    assert_eq!(table.rows()[0].g, 4095 * TASK);
    assert_eq!(done(&mut table, Request::get_index(0, 0, 1)), (0, 4095 * TASK - 1));
    assert_eq!(table.rows()[0].g, 4096 * TASK - 1, "below 4095 it grows, up to the largest value");
}

/// Ids without a row and unknown codes act as COPY and are counted, once a request, with what was wrong.
#[test]
fn faults_are_counted_and_touch_nothing() {
    let mut table = table(4);
    done(&mut table, Request::update(1, 9, 77, 20));
    let rows = table.rows().to_vec();
    let unknown = |id| Outcome::Fault(Fault::UnknownServer { id, servers: 4 });
    for (request, fault) in [
        (Request::read(4, 30), unknown(4)),
        (Request::update(255, 1, 1, 30), unknown(255)),
        (Request::get_index(1, 4, 30), unknown(4)),
        (Request::get_index(5, 1, 30), unknown(5)),
        (Request::get_index(7, 6, 30), unknown(7)),
        (Request { op_code: 4, ..Request::read(1, 30) }, Outcome::Fault(Fault::UnknownCode { code: 4 })),
        (Request { op_code: 255, ..Request::read(9, 30) }, Outcome::Fault(Fault::UnknownCode { code: 255 })),
    ] {
        assert_eq!(table.apply(request), (Answer { id: request.id0, score: 0 }, fault));
    }
    assert_eq!((table.faults(), table.rows()), (7, &rows[..]));
    done(&mut table, Request { id1: 200, ..Request::read(1, 30) });
    done(&mut table, Request { id1: 200, ..Request::update(1, 0, 0, 30) });
    assert_eq!(table.faults(), 7, "READ and UPDATE do not look at id1");
}

/// A branch that was not taken is answered and touches nothing, whatever its fields say.
#[test]
fn a_branch_not_taken_touches_nothing() {
    let mut table = table(4);
    done(&mut table, Request::update(1, 9, 77, 20));
    let before = table.clone();
    for op_code in [0, 1, 2, 3, 200] {
        for id in [1, 200] {
            let request = Request { stateful_valid: false, op_code, id0: id, id1: 2, g: 5, v: 5, now: 90 };
            assert_eq!(table.apply(request), (Answer { id, score: 0 }, Outcome::NotStateful));
        }
    }
    assert_eq!(table, before);
}

/// Only the bits on the wires count.
#[test]
fn ports_cut_to_their_width() {
    let mut table = table(4);
    assert_eq!(done(&mut table, Request::update(0, 0x1001, 0x0100_0002, 9)), (0, TASK));
    assert_eq!(table.rows()[0], Score { g: TASK, v: 2, t: 9 });
    let mut narrow = DipRegScore::new(&params(4, RawWidths::NARROW));
    assert_eq!(done(&mut narrow, Request::update(0, 0x101, 0x1_0002, 0x3_0009)), (0, 256));
    assert_eq!(narrow.rows()[0], Score { g: 256, v: 2, t: 9 });
}

/// 256 servers fill the ids: none is unknown.
#[test]
fn all_ids_can_have_rows() {
    let mut table = table(256);
    done(&mut table, Request::update(255, 3, 0, 0));
    assert_eq!(done(&mut table, Request::get_index(255, 254, 0)), (254, 0));
    assert_eq!(table.faults(), 0);
}

/// A sequence of requests close enough in time to interact, over few servers, for one of the presets of widths.
fn sequences() -> impl Strategy<Value = (RawWidths, u16, Vec<Request>)> {
    let id = || prop_oneof![30 => 0u8..4, 1 => any::<u8>()];
    let special = prop_oneof![Just(1u32 << 20), Just((1 << 24) - 1), Just(1 << 24), Just(1 << 12), any::<u32>()];
    let request = (
        (prop::bool::weighted(0.95), prop_oneof![10 => 0u8..2, 20 => Just(3u8), 1 => any::<u8>()]),
        (id(), id()),
        prop_oneof![6 => 0u16..4, 1 => Just(4095), 1 => Just(4094), 1 => any::<u16>()],
        prop_oneof![2 => Just(0u32), 2 => 0u32..1 << 12, 1 => Just(1 << 20), 1 => any::<u32>()],
        prop_oneof![30 => Just(0u32), 20 => 0u32..1 << 10, 1 => special],
    );
    let presets = prop_oneof![Just(RawWidths::FULL), Just(RawWidths::WORDS), Just(RawWidths::NARROW)];
    let start = prop_oneof![any::<u32>(), u32::MAX - 4_000..=u32::MAX];
    (presets, 3u16..5, start, prop::collection::vec(request, 1..60)).prop_map(|(widths, servers, start, requests)| {
        let mut now = start;
        let requests = requests.into_iter().map(|((stateful_valid, op_code), (id0, id1), g, v, dt)| {
            now = now.wrapping_add(dt);
            Request { stateful_valid, op_code, id0, id1, g, v, now }
        });
        (widths, servers, requests.collect())
    })
}

/// What the property has seen; each has to occur.
#[derive(Debug, Default)]
struct Seen {
    second_wins: u32,
    ties: u32,
    same_id: u32,
    held: u32,
    stale: u32,
    wrapped: u32,
    emptied: u32,
    unknown_server: u32,
    unknown_code: u32,
    not_stateful: u32,
}

impl Seen {
    fn before(&mut self, table: &DipRegScore, request: &Request) {
        let known = |id: u8| usize::from(id) < table.rows().len();
        if !(request.stateful_valid && request.op_code == 3 && known(request.id0) && known(request.id1)) {
            return;
        }
        let widths = table.widths();
        let [first, second] = [request.id0, request.id1].map(|id| table.score(id, request.now).unwrap());
        let row = table.rows()[usize::from(request.id0)];
        let dt = request.now.wrapping_sub(row.t) & widths.t_max();
        self.same_id += u32::from(request.id0 == request.id1);
        self.ties += u32::from(request.id0 != request.id1 && first == second && first > 0);
        self.second_wins += u32::from(second < first);
        self.held += u32::from(first.min(second) >> widths.raw().fraction_bits == u64::from(widths.tasks_max()));
        self.stale += u32::from(dt >= widths.stale_ticks() && row.g > 0);
        self.wrapped += u32::from(request.now & widths.t_max() < row.t && dt < widths.stale_ticks());
        self.emptied += u32::from(dt < widths.stale_ticks() && row.g > 0 && first == 0);
    }

    fn after(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::NotStateful => self.not_stateful += 1,
            Outcome::Fault(Fault::UnknownServer { .. }) => self.unknown_server += 1,
            Outcome::Fault(Fault::UnknownCode { .. }) => self.unknown_code += 1,
            Outcome::Done(_) => {}
        }
    }

    fn all(&self) -> [u32; 10] {
        let Self { second_wins, ties, same_id, held, stale, .. } = *self;
        let Self { wrapped, emptied, unknown_server, unknown_code, not_stateful, .. } = *self;
        [second_wins, ties, same_id, held, stale, wrapped, emptied, unknown_server, unknown_code, not_stateful]
    }
}

/// A table written another way: g, v, t in 128-bit integers by id, one `match`, no shared code with the crate's.
struct Naive {
    raw: RawWidths,
    rows: Vec<(i128, i128, i128)>,
    faults: u32,
}

impl Naive {
    fn apply(&mut self, request: &Request) -> (u8, i128) {
        let raw = self.raw;
        let cut = |value: u32, bits: u8| i128::from(value) % (1i128 << bits);
        let (v, now) = (cut(request.v, raw.v_bits), cut(request.now, raw.t_bits));
        let g = cut(request.g.into(), raw.g_bits - raw.fraction_bits);
        let (id0, id1) = (usize::from(request.id0), usize::from(request.id1));
        if !request.stateful_valid || request.op_code == 2 {
            return (request.id0, 0);
        }
        let known = id0 < self.rows.len() && (request.op_code != 3 || id1 < self.rows.len());
        if request.op_code > 3 || !known {
            self.faults += 1;
            return (request.id0, 0);
        }
        let score = |(g, v, t): (i128, i128, i128)| {
            let dt = (now - t).rem_euclid(1 << raw.t_bits);
            if dt >= 1 << raw.stale_bits { 0 } else { (g - v * dt).max(0) }
        };
        match request.op_code {
            0 => (request.id0, score(self.rows[id0])),
            1 => {
                self.rows[id0] = (g << raw.fraction_bits, v, now);
                (request.id0, g << raw.fraction_bits)
            }
            _ => {
                let (score0, score1) = (score(self.rows[id0]), score(self.rows[id1]));
                self.rows[id0] = (score0, self.rows[id0].1, now);
                self.rows[id1] = (score1, self.rows[id1].1, now);
                let (winner, score) = if score0 <= score1 { (id0, score0) } else { (id1, score1) };
                let task = 1i128 << raw.fraction_bits;
                if score + task < 1 << raw.g_bits {
                    self.rows[winner].0 += task;
                }
                (winner as u8, score)
            }
        }
    }
}

/// The table agrees with one written another way, answer by answer and row by row, for all three presets; and everything
/// that is special happens on the way. Untouched rows stay what they were: the whole table is compared.
#[test]
fn the_table_agrees_with_a_naive_one() {
    let seen = core::cell::RefCell::new(Seen::default());
    let mut runner = TestRunner::new(Config { cases: 2_000, failure_persistence: None, ..Config::default() });
    let result = runner.run(&sequences(), |(raw, servers, requests)| {
        let mut table = DipRegScore::new(&params(servers, raw));
        let mut naive = Naive { raw, rows: alloc::vec![(0, 0, 0); servers.into()], faults: 0 };
        for request in &requests {
            seen.borrow_mut().before(&table, request);
            let (answer, outcome) = table.apply(*request);
            seen.borrow_mut().after(outcome);
            prop_assert_eq!((answer.id, i128::from(answer.score)), naive.apply(request));
            let rows: Vec<_> = table.rows().iter().map(|row| (row.g.into(), row.v.into(), row.t.into())).collect();
            prop_assert_eq!((&rows, table.faults()), (&naive.rows, naive.faults));
        }
        Ok(())
    });
    result.unwrap();
    assert!(seen.borrow().all().iter().all(|&count| count > 100), "not reached often enough: {seen:?}");
}
