//! Sequences that a random stream may miss, each with the fault that it is for.

use charon_model::dip_reg_score::Request;

use super::Cycle;

/// All of them, by name.
pub fn all() -> Vec<(&'static str, Vec<Cycle>)> {
    vec![
        ("limit", limit()),
        ("stale", stale()),
        ("held", held()),
        ("ties", ties()),
        ("back to back", back_to_back()),
        ("updates in between", updates_in_between()),
        ("same candidate twice", same_candidate()),
        ("what is not done", not_done()),
        ("resets", resets()),
    ]
}

fn cycles(requests: impl IntoIterator<Item = Request>) -> Vec<Cycle> {
    requests.into_iter().map(Cycle::Request).collect()
}

/// v · dt is a multiple of 2⁴⁰, so that its low 40 bits are those of no time at all: only the limit empties the score.
fn limit() -> Vec<Cycle> {
    let mut requests = Vec::new();
    for (at, dt) in [1 << 20, 1 << 21, 1 << 23, (1 << 20) + 1, (1 << 24) - 1].into_iter().enumerate() {
        let now = (at as u32) << 26;
        for v in [1 << 20, 1 << 21, (1 << 24) - 1] {
            requests.push(Request::update(0, 4095, v, now));
            requests.push(Request::update(1, 7, 0, now));
            requests.push(Request::read(0, now + dt));
            requests.push(Request::get_index(1, 0, now + dt));
            requests.push(Request::get_index(0, 1, now + dt));
        }
    }
    cycles(requests)
}

/// One tick before stale, stale, and far beyond, up to where the time comes round; with v = 0 only the rule empties.
fn stale() -> Vec<Cycle> {
    let mut requests = Vec::new();
    for dt in [(1 << 24) - 1, 1 << 24, (1 << 24) + 1, 1 << 25, 1 << 31, u32::MAX] {
        for v in [0, 1] {
            let now = 0xffff_0000;
            requests.push(Request::update(2, 9, v, now));
            requests.push(Request::update(3, 1, 0, now));
            requests.push(Request::read(2, now.wrapping_add(dt)));
            requests.push(Request::get_index(3, 2, now.wrapping_add(dt)));
        }
    }
    cycles(requests)
}

/// Scores at and just below 4095 tasks.
fn held() -> Vec<Cycle> {
    let mut requests = vec![Request::update(0, 4094, 1, 0), Request::update(1, 4095, 1, 0)];
    requests.extend((0..8).map(|tick| Request::get_index(0, 1, tick / 2)));
    requests.extend((0..8).map(|tick| Request::get_index(1, 1, 5 + tick / 4)));
    cycles(requests)
}

/// Equal scores in either order, zero and not, back to back and apart.
fn ties() -> Vec<Cycle> {
    let mut cycles = cycles([Request::update(0, 2, 0, 0), Request::update(1, 2, 0, 0), Request::update(2, 2, 0, 0)]);
    for ids in [(0, 1), (1, 0), (2, 1), (3, 4), (4, 3), (0, 2), (2, 0)] {
        cycles.push(Cycle::Request(Request::get_index(ids.0, ids.1, 1)));
        cycles.extend([Cycle::Bubble; 12]);
        cycles.push(Cycle::Request(Request::get_index(ids.1, ids.0, 1)));
    }
    cycles
}

/// Chains in which every operation depends on the one, two, three, four ahead, through either candidate.
fn back_to_back() -> Vec<Cycle> {
    let mut cycles = cycles((0..5).map(|id| Request::update(id, u16::from(id % 2), 1 << 8, 0)));
    for gap in 0..5 {
        for (id0, id1) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (0, 1), (0, 1), (2, 1)] {
            cycles.push(Cycle::Request(Request::get_index(id0, id1, 1 + cycles.len() as u32)));
            cycles.extend([Cycle::Bubble; 4].into_iter().take(gap));
        }
    }
    cycles
}

/// UPDATE right before, between and after operations on the same row, and READ behind all of them.
fn updates_in_between() -> Vec<Cycle> {
    let mut requests = Vec::new();
    for (at, gap) in [0u32, 1, 2, 3, 4].into_iter().enumerate() {
        let now = 1_000 * at as u32;
        requests.push(Request::update(5, 3, 1 << 20, now));
        requests.extend((0..gap).map(|_| Request { op_code: 2, ..Request::read(0, 0) }));
        requests.push(Request::get_index(5, 6, now + 1));
        requests.push(Request::read(5, now + 2));
        requests.push(Request::update(6, 1, 1 << 22, now + 2));
        requests.push(Request::get_index(6, 5, now + 3));
        requests.push(Request::update(5, 0, 0, now + 3));
        requests.push(Request::read(5, now + 4));
        requests.push(Request::get_index(6, 5, now + 5));
        requests.push(Request::read(6, now + 7));
    }
    cycles(requests)
}

/// id0 = id1: one task each.
fn same_candidate() -> Vec<Cycle> {
    cycles((0..12).map(|at| Request::get_index(7, if at % 3 == 2 { 8 } else { 7 }, at)))
}

/// Unknown codes and ids, branches that were not taken, COPY: answered, and nothing is touched.
fn not_done() -> Vec<Cycle> {
    let mut requests = vec![Request::update(1, 5, 1, 9), Request::update(0, 6, 1, 9)];
    for (id0, id1) in [(1, 0), (1, 16), (16, 1), (255, 240), (1, 17)] {
        for op_code in [0, 1, 2, 3, 4, 7, 19, 130, 255] {
            for stateful_valid in [false, true, false] {
                let request = Request { stateful_valid, op_code, id0, id1, g: 11, v: 12, now: 13 };
                requests.push(request);
            }
        }
        requests.push(Request::read(1, 20));
        requests.push(Request::read(0, 20));
    }
    cycles(requests)
}

/// Reset for one to four clocks at every distance behind a stream, with VALID set or not; then the rows are read, and zero.
fn resets() -> Vec<Cycle> {
    let mut cycles = Vec::new();
    for distance in 0..14 {
        for (clocks, valid) in [(1, false), (2, true), (4, true)] {
            let update = |id: u8| Cycle::Request(Request::update(id, 9, 9, 77));
            let choose = |id: u8| Cycle::Request(Request::get_index(id, id + 1, 78));
            cycles.extend([update(0), update(1), choose(0), update(2), choose(1), choose(2), update(3)]);
            cycles.extend([Cycle::Bubble; 14].into_iter().take(distance));
            let request = Request::update(2, 5, 5, 79);
            cycles.extend([Cycle::Reset(valid.then_some(request)); 4].into_iter().take(clocks));
            // The first only now and then: a row must be zero also for what comes a clock after the reset.
            cycles.extend([Cycle::Bubble; 14].into_iter().take(if distance % 2 == 0 { 0 } else { distance }));
            cycles.extend((0..4).map(|id| Cycle::Request(Request::read(id, 80))));
            cycles.extend((0..4).map(|id| Cycle::Request(Request::get_index(id, 3 - id, 80))));
            // Speeds are zero too: of what came since, nothing is completed.
            cycles.extend((0..4).map(|id| Cycle::Request(Request::read(id, 80 + (1 << 20)))));
            // All are answered before the next reset, also by the state machine.
            cycles.extend([Cycle::Bubble; 64]);
        }
    }
    cycles
}

/// Bursts of requests that differ from each other, more than a FIFO holds, each followed by what empties it again.
pub fn overload() -> Vec<Option<Request>> {
    let choose = |at: u32| Request::get_index((at % 16) as u8, (at / 16 % 16) as u8, 3 * at);
    let copy = |at: u32| Request { op_code: 2, ..choose(at) };
    let clocks = (0..5_000).map(|at| match at % 700 {
        0..200 => Some(choose(at)),
        200..250 => Some(copy(at)),
        650.. => (at % 3 == 0).then_some(choose(at)),
        _ => None,
    });
    clocks.collect()
}
