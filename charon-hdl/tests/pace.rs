//! How fast the implementations are, in clocks, and what the paper's loses.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod support;

use charon_hdl::Design;
use charon_hdl::btor2::Fill;
use charon_model::dip_reg_score::Request;
use support::{Cycle, FSM_PENDING, Lockstep, directed, netlist, params};

const READ: Request = Request::read(1, 5);
const UPDATE: Request = Request::update(1, 5, 5, 5);
const COPY: Request = Request { op_code: 2, ..READ };
const CHOOSE: Request = Request::get_index(1, 2, 5);

/// The clocks that 50 of the same request take, which come one a clock.
fn clocks_of_50(design: Design, request: Request) -> usize {
    let netlist = netlist(design.netlist());
    let mut both = Lockstep::new(design, &netlist, 16, Fill::Zero);
    let mut answers = Vec::new();
    for _ in 0..60 {
        if both.step(Cycle::Request(request)).unwrap().answer.is_some() {
            answers.push(both.clock);
        }
    }
    for _ in 0..500 {
        if both.step(Cycle::Bubble).unwrap().answer.is_some() {
            answers.push(both.clock);
        }
    }
    assert_eq!(answers.len(), 60);
    answers[59] - answers[9]
}

/// §4 and the crate's README: UPDATE 1, COPY 1, READ 3, GET_INDEX 6 clocks.
#[test]
fn the_state_machine_takes_the_clocks_of_its_table() {
    let clocks = [UPDATE, COPY, READ, CHOOSE].map(|request| clocks_of_50(Design::Fsm, request));
    assert_eq!(clocks, [1, 1, 3, 6].map(|clocks| 50 * clocks));
}

/// One operation per clock, whatever it is; the latency stands in the comparison of every other test.
#[test]
fn the_pipe_takes_one_clock() {
    let clocks = [UPDATE, COPY, READ, CHOOSE].map(|request| clocks_of_50(Design::Pipe, request));
    assert_eq!(clocks, [50; 4]);
}

/// Requests on an idle state machine are answered within the declared nine clocks.
#[test]
fn the_idle_state_machine_answers_in_time() {
    let netlist = netlist(Design::Fsm.netlist());
    for (request, expected) in [(UPDATE, 3), (COPY, 3), (READ, 5), (CHOOSE, 7)] {
        let mut both = Lockstep::new(Design::Fsm, &netlist, 16, Fill::Zero);
        both.step(Cycle::Request(request)).unwrap();
        both.drain().unwrap();
        assert_eq!(both.slowest, expected, "{request:?}");
    }
}

/// How many requests of a load are dropped, and the first that is; the load is every n-th clock with n = of / every.
fn dropped(design: Design, request: Request, (every, of): (usize, usize), requests: usize) -> (u32, Option<usize>) {
    let netlist = netlist(design.netlist());
    let widths = params(16).widths();
    let mut hardware = charon_hdl::sim::ScoreModule::new(&netlist, widths, Fill::Zero).unwrap();
    hardware.reset();
    let (mut sent, mut first, mut answers, mut clock) = (0, None, 0, 0);
    while sent < requests {
        let now = clock * every / of != (clock + 1) * every / of;
        let seen = hardware.clock(now.then_some(request));
        sent += usize::from(now);
        answers += usize::from(seen.answer.is_some());
        // A drop shows in the clock after it.
        if seen.drops > 0 && first.is_none() {
            first = Some(sent - usize::from(now));
        }
        clock += 1;
    }
    let mut drops = 0;
    for _ in 0..500 {
        let seen = hardware.clock(None);
        answers += usize::from(seen.answer.is_some());
        drops = seen.drops;
    }
    assert_eq!(answers + drops as usize, requests, "every request is answered, or counted as dropped");
    (drops, first)
}

/// At four ports of 10 Gb/s full of minimum-size SYNs (one every 3.36 clocks of 5 ns) the paper's module loses 44 % in the long run, from
/// about SYN 144 on.
#[test]
fn the_state_machine_drops_at_four_ports() {
    let (drops, first) = dropped(Design::Fsm, CHOOSE, (100, 336), 20_000);
    let first = first.unwrap();
    assert!((140..=150).contains(&first), "first lost: request {first}");
    let percent = drops as usize * 100 / (20_000 - first);
    assert!((43..=44).contains(&percent), "{percent} %");
}

/// Who listens to `drops_o` learns of every lost request, however many there were: the count goes on after 2³² − 1.
#[test]
fn every_drop_changes_the_count() {
    let netlist = netlist(Design::Fsm.netlist());
    let mut hardware = charon_hdl::sim::ScoreModule::new(&netlist, params(16).widths(), Fill::Zero).unwrap();
    hardware.reset();
    let mut before = u32::MAX - 2;
    hardware.machine().set(netlist.output("drops_o").unwrap(), before.into());
    let mut lost = 0;
    for _ in 0..400 {
        let drops = hardware.clock(Some(CHOOSE)).drops;
        assert!(drops == before || drops == before.wrapping_add(1));
        lost += u32::from(drops != before);
        before = drops;
    }
    assert!(lost > 200, "{lost} lost");
    assert_eq!(before, (u32::MAX - 2).wrapping_add(lost));
}

/// The counts are as the ports' comments say: the one of faults stops, and a reset clears both.
#[test]
fn counts_stop_and_are_cleared() {
    for design in Design::SCORE {
        let netlist = netlist(design.netlist());
        Lockstep::new(design, &netlist, 16, Fill::Pattern(2)).counts(&netlist).unwrap();
    }
}

/// Nothing is dropped at one and two ports, nor of packets that only pass.
#[test]
fn the_state_machine_keeps_up_with_two_ports() {
    assert_eq!(dropped(Design::Fsm, CHOOSE, (100, 1344), 5_000), (0, None));
    assert_eq!(dropped(Design::Fsm, CHOOSE, (100, 672), 5_000), (0, None));
    assert_eq!(dropped(Design::Fsm, COPY, (1, 1), 5_000), (0, None));
}

/// Whatever the load, the pipe drops nothing.
#[test]
fn the_pipe_drops_nothing() {
    assert_eq!(dropped(Design::Pipe, CHOOSE, (100, 336), 5_000), (0, None));
    assert_eq!(dropped(Design::Pipe, CHOOSE, (1, 1), 5_000), (0, None));
}

/// What is dropped is as if it had never come: every other request is answered, in order, and right.
#[test]
fn an_overload_touches_nothing_else() {
    for (design, expected) in [(Design::Fsm, 1..2_000), (Design::Pipe, 0..1)] {
        let netlist = netlist(design.netlist());
        let drops = Lockstep::new(design, &netlist, 16, Fill::Pattern(3)).overload(&directed::overload()).unwrap();
        assert!(expected.contains(&drops), "{design:?}: {drops} drops");
    }
}

/// The FIFO holds 64 requests, and loses none before it is full.
#[test]
fn the_fifo_holds_what_it_should() {
    let netlist = netlist(Design::Fsm.netlist());
    // One comes every clock and one leaves every six, at the end of its service: 12 have left when 76 have come.
    for (burst, lost) in [(FSM_PENDING, 0), (FSM_PENDING + 10, 0), (FSM_PENDING + 12, 0), (FSM_PENDING + 13, 1)] {
        let mut hardware = charon_hdl::sim::ScoreModule::new(&netlist, params(16).widths(), Fill::Zero).unwrap();
        hardware.reset();
        for _ in 0..burst {
            let _ = hardware.clock(Some(CHOOSE));
        }
        let drops = (0..500).map(|_| hardware.clock(None).drops).last();
        assert_eq!(drops, Some(lost), "a burst of {burst}");
    }
}
