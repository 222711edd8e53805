//! The pipeline, claim by claim.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use core::net::SocketAddr;

use charon_model::control::{Control, ControlError, Standing};
use charon_model::dip_reg_score::Request;
use charon_model::feedback::Feedback;
use charon_model::frame::Frame;
use charon_model::gre::Report;
use charon_model::ip_table::IpTableError;
use charon_model::packet::{Flags, Packet};
use charon_model::params::{Params, RawParams, RawWidths};
use charon_model::pipeline::{
    Action, Addresses, Config, ConfigError, Decision, DropReason, NewFlows, Pipeline, PipelineError, PuntReason, Route,
};
use charon_model::timestamp::Layout;
use support::{FAMILIES, Family, MAC, UPLINK, address, balancer, config, params, row};

const SYN_ACK: u8 = Flags::SYN | Flags::ACK;

fn forwarded(pipeline: &mut Pipeline, mut frame: Vec<u8>, now: u32) -> (u16, Vec<u8>) {
    match pipeline.process(&mut frame, now) {
        Action::Forward { port, range } => (port, frame[range].to_vec()),
        other => panic!("{other:?}"),
    }
}

fn dropped(pipeline: &mut Pipeline, mut frame: Vec<u8>) -> DropReason {
    let before = frame.clone();
    match pipeline.process(&mut frame, 0) {
        Action::Drop { reason } => {
            assert_eq!(frame, before, "a dropped frame is as it was");
            reason
        }
        other => panic!("{other:?}"),
    }
}

/// Which server a frame goes to: the port of server i is i.
fn server(pipeline: &mut Pipeline, frame: Vec<u8>) -> u8 {
    u8::try_from(forwarded(pipeline, frame, 0).0).unwrap()
}

fn with(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = config();
    change(&mut config);
    config
}

/// §2, figure 2: SYN to the better candidate, SYN-ACK with a report through the balancer, the rest by the timestamp; in
/// both families, both layouts, with and without a VLAN.
#[test]
fn a_flow_goes_its_way() {
    for (family, layout, tags) in
        FAMILIES.into_iter().flat_map(|family| [(family, Layout::LowBits, 0u16), (family, Layout::HighBits, 2)])
    {
        let mut pipeline = balancer(0..16, with(|config| config.layout = layout));
        let tagged = |frame| (0..tags).fold(frame, Frame::tag);
        let flow = 7;
        let syn = tagged(family.syn(flow)).build();
        let (port, sent) = forwarded(&mut pipeline, syn, 1_000);
        let id = u8::try_from(port).unwrap();
        let to = row(family, id);
        let expected = tagged(family.syn(flow)).ttl(63);
        let expected = Frame { destination: SocketAddr::new(to.address, 443), ..expected };
        assert_eq!(sent[12..], expected.build()[12..], "the destination and the TTL, and their checksums");
        assert_eq!((&sent[..6], &sent[6..12]), (&to.mac[..], &MAC[..]));
        let task = pipeline.tables().scores.widths().task();
        assert_eq!(pipeline.tables().scores.score(id, 1_000), Some(task), "the new flow counts at once");

        let value = pipeline.codec().stamp(123_456, id).unwrap();
        let answer = tagged(family.answer(flow, SYN_ACK)).timestamps(value, 5);
        let (port, sent) =
            forwarded(&mut pipeline, answer.wrapped(to.address, family.tunnel(), Report::new(id, 12, 300)), 1_010);
        assert_eq!(port, UPLINK.port);
        assert_eq!(sent[12..], answer.ttl(63).build()[12..], "the tunnel is taken off");
        assert_eq!((&sent[..6], &sent[6..12]), (&UPLINK.mac[..], &MAC[..]));
        let row = pipeline.tables().scores.rows()[usize::from(id)];
        assert_eq!((row.g, row.v, row.t), (12 * task, 300, 1_010), "and its report written down");

        for (flags, len) in [(Flags::ACK, 0), (Flags::ACK | 8, 1_400), (Flags::FIN | Flags::ACK, 0)] {
            let later = tagged(family.later(flow, flags)).timestamps(6, value).payload(len).build();
            assert_eq!(server(&mut pipeline, later), id);
        }
        let counted: Vec<_> = pipeline.counters().named().collect();
        assert_eq!(counted, [("forward", "syn", 1), ("forward", "syn-ack", 1), ("forward", "echo", 3)]);
    }
}

/// §3: of two candidates the one with the lower score gets the flow. Loading every server but one sends every flow that has
/// it among its candidates there.
#[test]
fn the_lower_score_wins() {
    let mut pipeline = balancer(0..16, config());
    for id in (0..16).filter(|id| *id != 3) {
        let _ = pipeline.tables_mut().scores.apply(Request::update(id, 4_000, 0, 0));
    }
    let mut to_three = 0;
    for flow in 0..2_000 {
        to_three += u32::from(server(&mut pipeline, Family::V4.syn(flow).build()) == 3);
    }
    // Two draws of one in sixteen each: 242 of 2,000 expected, and 125 with one draw.
    assert!((190..300).contains(&to_three), "{to_three}");
    assert_eq!(pipeline.tables().scores.score(3, 0), Some(u64::from(to_three) << 28));
}

/// A client without timestamps goes to one server from SYN to FIN, and its SYN counts there.
#[test]
fn a_client_without_timestamps_stays_with_one_server() {
    for family in FAMILIES {
        let mut pipeline = balancer(0..16, config());
        for flow in 0..200 {
            let bare = |flags| Frame { options: vec![], ..family.later(flow, flags) }.build();
            let id = server(&mut pipeline, bare(Flags::SYN));
            for flags in [Flags::ACK, Flags::ACK, Flags::FIN | Flags::ACK, Flags::RST] {
                assert_eq!(server(&mut pipeline, bare(flags)), id);
            }
        }
        let counters = pipeline.counters();
        assert_eq!((counters.forwarded(Route::SynFallback), counters.forwarded(Route::Fallback)), (200, 800));
        let tasks: u64 = (0..16).map(|id| pipeline.tables().scores.score(id, 0).unwrap() >> 28).sum();
        assert_eq!(tasks, 200);
    }
}

/// RFC 7323 §3.2: the TSecr means something only together with ACK.
#[test]
fn an_echo_without_ack_is_not_read() {
    let mut pipeline = balancer(0..16, config());
    for flow in 0..32 {
        let reset = Family::V4.later(flow, Flags::RST).timestamps(9, u32::from(flow % 16));
        let bare = Frame { options: vec![], ..reset.clone() };
        assert_eq!(server(&mut pipeline, reset.build()), server(&mut pipeline, bare.build()));
    }
    assert_eq!(pipeline.counters().forwarded(Route::Echo), 0);
}

/// A removed server's flows go to others, by the fallback, and are counted; ids that no server ever had as well. Nobody
/// else's flows move.
#[test]
fn a_removed_server_orphans_its_own_flows_only() {
    let mut pipeline = balancer(0..8, config());
    let later = |pipeline: &Pipeline, flow, id| {
        let value = pipeline.codec().stamp(77, id).unwrap();
        Family::V6.later(flow, Flags::ACK).timestamps(1, value).build()
    };
    pipeline.tables_mut().remove(5).unwrap();
    for flow in 0..64 {
        let id = (flow % 16) as u8;
        let frame = later(&pipeline, flow, id);
        let found = server(&mut pipeline, frame);
        if id < 8 && id != 5 {
            assert_eq!(found, id);
        } else {
            assert!(found < 8 && found != 5);
        }
    }
    assert_eq!(pipeline.counters().forwarded(Route::Orphan), 4 * 9);
}

/// A table takes addresses of its own family only, whoever edits it: a segment cannot be sent to one of the other.
#[test]
fn tables_refuse_the_other_family() {
    for (table, other) in [(Family::V4, Family::V6), (Family::V6, Family::V4)] {
        let mut pipeline = balancer([], config());
        let (right, wrong) = (row(table, 5), row(other, 5));
        let mut control = Control::new(&params(), 1);
        let refused = IpTableError::Family { id: 5, address: wrong.address };
        let rows = pipeline.tables_mut().ip_mut(right.address);
        assert_eq!(rows.add(5, wrong), Err(refused));
        assert_eq!(control.add(5, wrong, rows), Err(ControlError::IpTable(refused)));
        assert_eq!(control.standing(5), Standing::Absent);
        assert_eq!(control.add(5, right, rows), Ok(()));
        assert_eq!(server(&mut pipeline, table.syn(1).build()), 5);
        assert_eq!(dropped(&mut pipeline, other.syn(1).build()), DropReason::NoServer);
    }
}

/// A server is removed with all the addresses that it has, one or two; with none it is vacant.
#[test]
fn a_server_goes_with_all_its_addresses() {
    for families in [&[Family::V4][..], &[Family::V6], &FAMILIES] {
        let mut pipeline = balancer([], config());
        for family in families {
            pipeline.tables_mut().add(3, row(*family, 3)).unwrap();
        }
        assert_eq!(pipeline.tables_mut().remove(3), Ok(()));
        for family in FAMILIES {
            assert!(pipeline.tables().ip(row(family, 3).address).is_empty());
        }
        assert_eq!(pipeline.tables_mut().remove(3), Err(IpTableError::Vacant { id: 3 }));
        assert_eq!(pipeline.tables_mut().remove(16), Err(IpTableError::UnknownId { id: 16, servers: 16 }));
    }
}

/// SYNs survive every state of the tables: an Alias Table that still names a removed server, or that is not there yet; and
/// without any server they are dropped for that reason.
#[test]
fn syns_find_a_server_whatever_the_tables_say() {
    let mut pipeline = balancer(0..16, config());
    for id in 0..15 {
        pipeline.tables_mut().remove(id).unwrap();
    }
    for flow in 0..64 {
        assert_eq!(server(&mut pipeline, Family::V4.syn(flow).build()), 15);
    }
    assert!(pipeline.counters().forwarded(Route::Orphan) > 40);
    pipeline.tables_mut().remove(15).unwrap();
    for frame in [Family::V4.syn(1), Family::V6.later(1, Flags::ACK).timestamps(1, 2), Family::V4.later(1, Flags::ACK)]
    {
        assert_eq!(dropped(&mut pipeline, frame.build()), DropReason::NoServer);
    }
    let mut fresh = Pipeline::new(&params(), config()).unwrap();
    fresh.tables_mut().add(4, row(Family::V4, 4)).unwrap();
    assert_eq!(server(&mut fresh, Family::V4.syn(1).build()), 4);
    assert_eq!(dropped(&mut fresh, Family::V6.syn(1).build()), DropReason::NoServer, "no server speaks IPv6");
}

/// [`NewFlows`]: with scores a SYN that is sent again may go elsewhere, since the first one counts; sticky it goes to the
/// same server for as long as the Alias Table stays.
#[test]
fn a_sticky_syn_is_sent_to_the_same_server() {
    let mut moved = [0, 0];
    for (count, new_flows) in moved.iter_mut().zip([NewFlows::Scores, NewFlows::Sticky]) {
        let mut pipeline = balancer(0..16, with(|config| config.new_flows = new_flows));
        for flow in 0..100 {
            let first = server(&mut pipeline, Family::V4.syn(flow).build());
            for _ in 0..3 {
                *count += u32::from(server(&mut pipeline, Family::V4.syn(flow).build()) != first);
            }
        }
    }
    assert!(moved[0] > 0 && moved[1] == 0, "{moved:?} of 300");
}

/// [`Feedback`]: a report overwrites the score, or keeps the SYNs that the server had not seen.
#[test]
fn reports_overwrite_or_keep_what_is_in_flight() {
    for (feedback, tasks) in [(Feedback::Overwrite, 1), (Feedback::KeepInFlight, 3)] {
        let mut pipeline = balancer([5], with(|config| config.feedback = feedback));
        for flow in 0..3 {
            assert_eq!(server(&mut pipeline, Family::V4.syn(flow).build()), 5);
        }
        let answer = Family::V4.answer(0, SYN_ACK).timestamps(5, 4);
        let report = Report::new(5, 1, 0);
        let _ = forwarded(&mut pipeline, answer.wrapped(row(Family::V4, 5).address, Family::V4.tunnel(), report), 0);
        assert_eq!(pipeline.tables().scores.score(5, 0), Some(tasks << 28), "{feedback:?}");
    }
}

/// Narrower columns: what a report's key holds beyond them is held at their ends, not cut to its low bits.
#[test]
fn reports_are_held_at_the_ends_of_narrow_columns() {
    let mut raw = RawParams::paper();
    raw.widths = RawWidths::NARROW;
    let mut pipeline = Pipeline::new(&Params::new(raw).unwrap(), config()).unwrap();
    pipeline.tables_mut().add(5, row(Family::V4, 5)).unwrap();
    let answer = Family::V4.answer(0, SYN_ACK).timestamps(5, 4);
    let report = Report::new(5, 256, 1 << 16);
    let _ = forwarded(&mut pipeline, answer.wrapped(row(Family::V4, 5).address, Family::V4.tunnel(), report), 7);
    let stored = pipeline.tables().scores.rows()[5];
    assert_eq!((stored.g, stored.v, stored.t), (255 << 8, 65_535, 7));
}

/// A drained server (weight 0) gets no new flow and keeps the old ones.
#[test]
fn a_drained_server_keeps_its_flows() {
    let mut pipeline = balancer(0..16, config());
    let mut weights = [100; 16];
    weights[6] = 0;
    pipeline.tables_mut().alias.replace(&weights).unwrap();
    for flow in 0..300 {
        assert_ne!(server(&mut pipeline, Family::V4.syn(flow).build()), 6);
    }
    let value = pipeline.codec().stamp(77, 6).unwrap();
    assert_eq!(server(&mut pipeline, Family::V4.later(1, Flags::ACK).timestamps(1, value).build()), 6);
}

/// Reports count only from the server that they name, to the tunnel's end, around a SYN-ACK of the service. Whatever is
/// wrong, no score moves.
#[test]
fn foreign_reports_are_refused() {
    for family in FAMILIES {
        let mut pipeline = balancer(0..4, config());
        let from = row(family, 2).address;
        let answer = family.answer(1, SYN_ACK).timestamps(1, 2);
        let report = Report::new(2, 9, 9);
        let to = family.tunnel();
        let elsewhere = address(family, "9").ip();
        for (frame, reason) in [
            (answer.wrapped(row(family, 1).address, to, report), DropReason::ForeignReport),
            (answer.wrapped(elsewhere, to, report), DropReason::ForeignReport),
            (answer.wrapped(from, to, Report::new(7, 9, 9)), DropReason::ForeignReport),
            (answer.wrapped(from, to, Report::new(200, 9, 9)), DropReason::ForeignReport),
            (answer.wrapped(from, elsewhere, report), DropReason::NotOurs),
            (answer.wrapped(from, family.service().ip(), report), DropReason::NotOurs),
            (answer.clone().ttl(1).wrapped(from, to, report), DropReason::Ttl),
            (family.answer(1, Flags::ACK).wrapped(from, to, report), DropReason::NotSynAck),
            (family.answer(1, Flags::SYN).wrapped(from, to, report), DropReason::NotSynAck),
            (family.answer(1, SYN_ACK | Flags::RST).wrapped(from, to, report), DropReason::NotSynAck),
            (family.later(1, SYN_ACK).wrapped(from, to, report), DropReason::NotFromService),
        ] {
            assert_eq!(dropped(&mut pipeline, frame), reason);
        }
        assert!(pipeline.tables().scores.rows().iter().all(|row| row.g == 0 && row.v == 0));
        assert_eq!(pipeline.tables().scores.faults(), 0);
        let _ = forwarded(&mut pipeline, answer.clone().ttl(2).wrapped(from, to, report), 0);
        assert_eq!(pipeline.tables().scores.rows()[2].v, 9);
        // The tunnel's own TTL is used up where the tunnel ends.
        let mut last_hop = answer.wrapped(from, to, report);
        match family {
            Family::V4 => {
                // TTL 64 becomes 0: the checksum's high byte takes what the word loses.
                let checksum = u16::from_be_bytes([last_hop[24], last_hop[25]]);
                let folded = u32::from(checksum) + 0x4000;
                let checksum = (folded as u16).wrapping_add((folded >> 16) as u16);
                last_hop[22] = 0;
                last_hop[24..26].copy_from_slice(&checksum.to_be_bytes());
            }
            Family::V6 => last_hop[21] = 0,
        }
        let _ = forwarded(&mut pipeline, last_hop, 0);
    }
}

/// Around an IPv6 answer the tunnel may be IPv4, and the other way round.
#[test]
fn tunnels_mix_families() {
    let mut pipeline = balancer(0..4, config());
    for (outside, inside) in [(Family::V4, Family::V6), (Family::V6, Family::V4)] {
        let answer = inside.answer(1, SYN_ACK).timestamps(1, 2);
        let frame = answer.wrapped(row(outside, 2).address, outside.tunnel(), Report::new(2, 9, 9));
        let (_, sent) = forwarded(&mut pipeline, frame, 0);
        assert_eq!(sent[12..], answer.ttl(63).build()[12..]);
    }
}

/// What a client may not send, and what is for somebody else.
#[test]
fn clients_are_judged() {
    for family in FAMILIES {
        let mut pipeline = balancer(0..4, config());
        let syn = family.syn(1);
        let segment = |flags| family.later(1, flags).timestamps(1, 2).build();
        for (frame, reason) in [
            (segment(SYN_ACK), DropReason::TcpFlags),
            (segment(Flags::SYN | Flags::FIN), DropReason::TcpFlags),
            (segment(Flags::SYN | Flags::RST), DropReason::TcpFlags),
            (syn.clone().ttl(1).build(), DropReason::Ttl),
            (syn.clone().ttl(0).build(), DropReason::Ttl),
            (family.later(1, Flags::ACK).timestamps(1, 2).ttl(1).build(), DropReason::Ttl),
            (family.answer(1, Flags::ACK).build(), DropReason::NotOurs),
            (syn.clone().options(&[2, 0]).build(), DropReason::TcpOptions),
        ] {
            assert_eq!(dropped(&mut pipeline, frame), reason);
        }
        let _ = forwarded(&mut pipeline, syn.ttl(2).build(), 0);
    }
}

/// The parser's refusals keep their reasons, and ARP and ICMP go to the host as they came.
#[test]
fn refusals_and_the_hosts_frames_are_told_apart() {
    let mut pipeline = balancer(0..4, config());
    let with = |at: usize, bytes: &[u8]| {
        let mut frame = Family::V6.syn(1).build();
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        frame
    };
    for (frame, reason) in [
        (vec![], DropReason::Malformed),
        (with(14, &[0x40]), DropReason::Malformed),
        (with(12, &[0x88, 0xCC]), DropReason::EtherType),
        (with(20, &[44]), DropReason::Fragment),
        (with(20, &[0]), DropReason::ExtensionHeader),
        (with(20, &[17]), DropReason::Protocol),
        (with(20, &[47]), DropReason::Gre),
    ] {
        assert_eq!(dropped(&mut pipeline, frame), reason);
    }
    for (mut frame, reason) in [(with(12, &[8, 6]), PuntReason::Arp), (with(20, &[58]), PuntReason::Icmp)] {
        let before = frame.clone();
        assert_eq!(pipeline.process(&mut frame, 0), Action::Punt { reason });
        assert_eq!(frame, before);
        assert_eq!(pipeline.counters().punted(reason), 1);
    }
    assert_eq!(pipeline.counters().frames(), 9, "every frame is counted once");
    assert_eq!(pipeline.counters().dropped(DropReason::Malformed), 2);
}

/// [`Decision`] is the hardware's answer: `process` follows it.
#[test]
fn a_decision_names_server_and_row() {
    let mut pipeline = balancer(0..16, config());
    let value = pipeline.codec().stamp(5, 11).unwrap();
    let mut frame = Family::V4.later(1, Flags::ACK).timestamps(1, value).build();
    let headers = *Packet::parse(&mut frame).unwrap().headers();
    let expected = Decision::ToServer { id: 11, route: Route::Echo, row: row(Family::V4, 11) };
    assert_eq!(pipeline.decide(&headers, 0), expected);
    assert_eq!(pipeline.counters().frames(), 0);
}

/// Addresses that cannot work are refused.
#[test]
fn configurations_are_checked() {
    let refused = |config| match Pipeline::new(&params(), config) {
        Err(PipelineError::Config(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(with(|config| config.service = Addresses::default())), ConfigError::NoService);
    for family in FAMILIES {
        let bad = with(|config| match family {
            Family::V4 => config.tunnel.v4 = config.service.v4,
            Family::V6 => config.tunnel.v6 = config.service.v6,
        });
        assert_eq!(refused(bad), ConfigError::SameAddress { address: family.service().ip() });
    }
    let mut names = DropReason::ALL.map(DropReason::name).to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), DropReason::ALL.len());
}
