//! The match-action stage: which server, or why none.

use super::{DropReason, NewFlows, Pipeline, PuntReason};
use crate::dip_reg_score::Request;
use crate::gre::Report;
use crate::hash::{FiveTuple, FlowHash};
use crate::ip_table::Row;
use crate::packet::{Flags, Headers, Ip, Segment};

const TCP: u8 = 6;

/// What is to be done with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "hardware has to handle every one")]
#[must_use]
pub enum Decision {
    /// Send it to a server.
    ToServer {
        /// Which.
        id: u8,
        /// How it was found.
        route: Route,
        /// Where it is.
        row: Row,
    },
    /// Take the tunnel off, and send it to the client.
    ToClient {
        /// The server that reported.
        id: u8,
    },
    /// Forget it.
    Drop(DropReason),
    /// Hand it to the host.
    Punt(PuntReason),
}

/// How a frame found its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum Route {
    /// A SYN, by the scores of its candidates (or by the first candidate: [`NewFlows::Sticky`]).
    Syn = 0,
    /// A SYN without timestamp, by the fallback.
    SynFallback = 1,
    /// A wrapped SYN-ACK, to its client.
    SynAck = 2,
    /// A later segment, by the id in its timestamp.
    Echo = 3,
    /// A later segment without a usable timestamp, by the fallback.
    Fallback = 4,
    /// By the fallback, because the server that was found first is not in the IP Table.
    Orphan = 5,
}

impl Route {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] = [Self::Syn, Self::SynFallback, Self::SynAck, Self::Echo, Self::Fallback, Self::Orphan];

    /// A name for reports and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syn => "syn",
            Self::SynFallback => "syn-fallback",
            Self::SynAck => "syn-ack",
            Self::Echo => "echo",
            Self::Fallback => "fallback",
            Self::Orphan => "orphan",
        }
    }
}

impl Pipeline {
    /// What is to be done with these headers at a tick. Moves scores, but no counter: [`process`](Self::process) counts.
    #[inline]
    pub fn decide(&mut self, headers: &Headers, now: u32) -> Decision {
        match headers {
            Headers::Segment(segment) => self.towards_server(segment, now),
            Headers::Wrapped { outer, report, inner } => self.towards_client(outer, *report, inner, now),
            Headers::Local(local) => Decision::Punt((*local).into()),
        }
    }

    #[inline]
    fn towards_server(&mut self, segment: &Segment, now: u32) -> Decision {
        let (ip, flags) = (&segment.ip, segment.tcp.flags);
        if !self.config.service.has(ip.destination) {
            return Decision::Drop(DropReason::NotOurs);
        }
        if ip.ttl <= 1 {
            return Decision::Drop(DropReason::Ttl);
        }
        if flags.contradict() || flags.has(Flags::SYN | Flags::ACK) {
            return Decision::Drop(DropReason::TcpFlags);
        }
        let found = if flags.has(Flags::SYN) { self.new_flow(segment, now) } else { self.known_flow(segment) };
        let row = found.and_then(|(id, route)| Some((id, route, *self.tables.ip(ip.destination).get(id)?)));
        match row {
            Some((id, route, row)) => Decision::ToServer { id, route, row },
            None => match self.fallback(segment).and_then(|id| Some((id, *self.tables.ip(ip.destination).get(id)?))) {
                Some((id, row)) => Decision::ToServer { id, route: Route::Orphan, row },
                None => Decision::Drop(DropReason::NoServer),
            },
        }
    }

    /// A SYN: the server, which gets one task more, or nothing if there is no choice.
    #[inline]
    fn new_flow(&mut self, segment: &Segment, now: u32) -> Option<(u8, Route)> {
        let hash = flow_hash(segment)?;
        let (id0, id1, route) = match segment.tcp.timestamps {
            None => {
                let id = self.tables.ip(segment.ip.destination).by_hash(hash.first)?;
                (id, id, Route::SynFallback)
            }
            Some(_) => {
                let alias = self.tables.alias.current()?;
                let first = alias.choose(hash.first);
                let second = match self.config.new_flows {
                    NewFlows::Scores => alias.choose(hash.second),
                    NewFlows::Sticky => first,
                };
                (first, second, Route::Syn)
            }
        };
        let (answer, _) = self.tables.scores.apply(Request::get_index(id0, id1, now));
        self.tables.in_flight.assigned(answer.id);
        Some((answer.id, route))
    }

    /// Any later segment: the server that its timestamp names, or that of the fallback.
    #[inline]
    fn known_flow(&self, segment: &Segment) -> Option<(u8, Route)> {
        match segment.tcp.timestamps {
            Some(stamps) if segment.tcp.flags.has(Flags::ACK) => Some((self.codec.id(stamps.echo), Route::Echo)),
            _ => Some((self.fallback(segment)?, Route::Fallback)),
        }
    }

    #[cold]
    fn fallback(&self, segment: &Segment) -> Option<u8> {
        self.tables.ip(segment.ip.destination).by_hash(flow_hash(segment)?.first)
    }

    #[inline]
    fn towards_client(&mut self, outer: &Ip, report: Report, inner: &Segment, now: u32) -> Decision {
        if !self.config.tunnel.has(outer.destination) {
            return Decision::Drop(DropReason::NotOurs);
        }
        let row = self.tables.ip(outer.source).get(report.id());
        if row.is_none_or(|row| row.address != outer.source) {
            return Decision::Drop(DropReason::ForeignReport);
        }
        if inner.tcp.flags.contradict() || !inner.tcp.flags.has(Flags::SYN | Flags::ACK) {
            return Decision::Drop(DropReason::NotSynAck);
        }
        if !self.config.service.has(inner.ip.source) {
            return Decision::Drop(DropReason::NotFromService);
        }
        if inner.ip.ttl <= 1 {
            return Decision::Drop(DropReason::Ttl);
        }
        let widths = self.tables.scores.widths();
        let g = self.tables.in_flight.reported(report.id(), report.tasks());
        let v = report.velocity().min(widths.v_max());
        let _ = self.tables.scores.apply(Request::update(report.id(), g, v, now));
        Decision::ToClient { id: report.id() }
    }
}

/// The hashes of the flow; `None` only for addresses of two families, which no packet has.
fn flow_hash(segment: &Segment) -> Option<FlowHash> {
    let Segment { ip, tcp } = segment;
    let flow = FiveTuple::new(ip.source, ip.destination, TCP, tcp.source_port, tcp.destination_port)?;
    Some(FlowHash::of(&flow))
}
