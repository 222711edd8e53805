//! The smallest and the largest pools: one server, 256, and those between whose ids just fit.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

extern crate alloc;

mod support;

use alloc::collections::BTreeMap;

use charon_model::control::Control;
use charon_model::frame::Frame;
use charon_model::gre::Report;
use charon_model::packet::Flags;
use charon_model::params::{Params, RawParams};
use charon_model::pipeline::{Action, DropReason, Pipeline, Route};
use charon_model::timestamp::Layout;
use support::{FAMILIES, Family, config, row};

/// A pipeline whose every id has a server, with weights of a control plane.
fn full(servers: u16, id_bits: u8, layout: Layout) -> Pipeline {
    let mut raw = RawParams::paper();
    (raw.servers, raw.id_bits) = (servers, id_bits);
    let params = Params::new(raw).unwrap();
    let mut config = config();
    config.layout = layout;
    let mut pipeline = Pipeline::new(&params, config).unwrap();
    let mut control = Control::new(&params, 10);
    let tables = pipeline.tables_mut();
    for id in ids(servers) {
        tables.add(id, row(Family::V6, id)).unwrap();
        let row = row(Family::V4, id);
        control.add(id, row, tables.ip_mut(row.address)).unwrap();
    }
    assert!(control.run(0, &mut tables.scores, &mut tables.alias).unwrap().rebuilt);
    pipeline
}

fn ids(servers: u16) -> impl Iterator<Item = u8> {
    (0..=u8::MAX).take(servers.into())
}

/// The server behind whose port a frame comes out.
fn server(pipeline: &mut Pipeline, frame: &Frame) -> u8 {
    match pipeline.process(&mut frame.build(), 0) {
        Action::Forward { port, .. } => port as u8,
        other => panic!("{other:?}"),
    }
}

/// Every id up to N − 1 gets new flows, is found by its stamp, and may report; N itself is nobody's, even where its bits
/// would fit.
#[test]
fn every_id_below_n_is_a_server_and_n_is_not() {
    for (servers, id_bits) in [(1, 1), (1, 8), (2, 1), (3, 2), (255, 8), (256, 8)] {
        for (layout, family) in [Layout::HighBits, Layout::LowBits].into_iter().zip(FAMILIES) {
            let mut pipeline = full(servers, id_bits, layout);
            let mut flows = BTreeMap::new();
            for flow in 0..20 * servers {
                *flows.entry(server(&mut pipeline, &family.syn(flow))).or_insert(0) += 1;
            }
            assert!(flows.keys().copied().eq(ids(servers)), "{servers}: {flows:?}");
            assert!(flows.values().all(|flows| (10..=30).contains(flows)), "two choices keep it even: {flows:?}");

            let stamped = |id| family.later(1, Flags::ACK).timestamps(1, pipeline.codec().stamp(u32::MAX, id).unwrap());
            let later: Vec<_> = ids(servers).map(|id| (id, stamped(id))).collect();
            let beyond = u8::try_from(servers).ok().filter(|id| u32::from(*id) >> id_bits == 0).map(stamped);
            for (id, frame) in later {
                assert_eq!(server(&mut pipeline, &frame), id);
                let answer = family.answer(1, Flags::SYN | Flags::ACK).timestamps(1, 2);
                let mut frame = answer.wrapped(row(family, id).address, family.tunnel(), Report::new(id, 4_095, 77));
                assert!(matches!(pipeline.process(&mut frame, 9), Action::Forward { .. }));
                let stored = pipeline.tables().scores.rows()[usize::from(id)];
                assert_eq!((stored.g, stored.v, stored.t), (4_095 << 28, 77, 9));
            }
            assert_eq!(pipeline.counters().forwarded(Route::Echo), u64::from(servers));
            if let Some(frame) = beyond {
                let _ = server(&mut pipeline, &frame);
                assert_eq!(pipeline.counters().forwarded(Route::Orphan), 1, "{servers} servers, {id_bits} bits");
                let id = servers as u8;
                let answer = family.answer(1, Flags::SYN | Flags::ACK).timestamps(1, 2);
                let mut frame = answer.wrapped(row(family, id).address, family.tunnel(), Report::new(id, 1, 1));
                assert_eq!(pipeline.process(&mut frame, 9), Action::Drop { reason: DropReason::ForeignReport });
            }
            assert_eq!(pipeline.tables().scores.faults(), 0);
        }
    }
}

/// A flow on a full server: its score is held at 4,095 tasks, and it is still chosen where there is no other.
#[test]
fn a_held_server_still_gets_flows_where_there_is_no_other() {
    let mut pipeline = full(1, 1, Layout::LowBits);
    for flow in 0..5_000 {
        assert_eq!(server(&mut pipeline, &Family::V4.syn(flow)), 0);
    }
    assert_eq!(pipeline.tables().scores.score(0, 0), Some(4_095 << 28));
}
