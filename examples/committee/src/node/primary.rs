//! The primary: proposes headers, votes for others', gathers votes into certificates, and keeps the DAG. It knows
//! nothing of what headers carry for Flamingo beyond where to put it and how a voter checks it.

use std::collections::BTreeMap;
use std::rc::Rc;

use flamingo_core::{Committee, Digest, Round, ValidatorId};

use super::dag::Dag;
use super::message::{Certificate, Header, HeaderBody, Vertex};
use crate::sim::net::Micros;

/// A header is proposed at the latest this long after the one before (and once it has parents).
pub const HEADER_DELAY_US: Micros = 200_000;
/// … or as soon as this many payload bytes are ready.
pub const HEADER_PAYLOAD_BYTES: usize = 1_000;
const PAYLOAD_ENTRY_BYTES: usize = 32;

/// The primary of one node.
#[derive(Debug)]
pub struct Primary {
    me: ValidatorId,
    /// The round of the last header proposed; round 0 is the common genesis and has none.
    round: Round,
    proposed_at: Micros,
    /// The header that gathers votes, and who gave one.
    voting: Option<(Rc<Header>, Vec<ValidatorId>)>,
    /// The header each author got this node's vote for, by place: one vote a place.
    voted: BTreeMap<Vertex, Digest>,
    dag: Dag,
}

impl Primary {
    pub fn new(me: ValidatorId, validators: usize) -> Self {
        Self { me, round: Round(0), proposed_at: 0, voting: None, voted: BTreeMap::new(), dag: Dag::new(validators) }
    }

    pub fn dag(&self) -> &Dag {
        &self.dag
    }

    /// The round of the next header, once its parents are there: the first one, or one past the highest round
    /// with a quorum of certificates. A node that fell behind skips the rounds between.
    pub fn next_round(&self, committee: &Committee) -> Option<Round> {
        match self.dag.quorum_round(committee) {
            Some(quorum) => (quorum >= self.round).then_some(Round(quorum.0 + 1)),
            None => (self.round == Round(0)).then_some(Round(1)),
        }
    }

    /// Whether to propose now: parents are there, and either enough payload or the delay is over.
    pub fn is_due(&self, now: Micros, payload: usize, committee: &Committee) -> bool {
        let ready = now >= self.proposed_at + HEADER_DELAY_US || payload * PAYLOAD_ENTRY_BYTES >= HEADER_PAYLOAD_BYTES;
        ready && self.next_round(committee).is_some()
    }

    /// When the delay of the current header is over.
    pub fn wake_at(&self) -> Micros {
        self.proposed_at + HEADER_DELAY_US
    }

    /// The parents a header of `round` points to.
    pub fn parents(&mut self, round: Round, floor: Round) -> Vec<Vertex> {
        self.dag.parents_for(round, floor)
    }

    /// Proposes: the header to broadcast. Its author votes for it at once.
    pub fn propose(&mut self, now: Micros, round: Round, body: HeaderBody) -> Rc<Header> {
        let header = Rc::new(Header::new(self.me, round, body));
        self.round = round;
        self.proposed_at = now;
        self.voted.insert(header.vertex(), header.digest);
        self.voting = Some((Rc::clone(&header), vec![self.me]));
        header
    }

    /// Whether this node may vote for a header whose contents it has checked: once a place, always for the same
    /// header, and never below the collection bound.
    pub fn vote(&mut self, header: &Header, floor: Round) -> bool {
        let first = self.voted.entry(header.vertex()).or_insert(header.digest);
        header.round >= floor && *first == header.digest
    }

    /// A vote for the header that gathers them; returns the certificate a quorum makes.
    pub fn voted(&mut self, from: ValidatorId, header: Digest, committee: &Committee) -> Option<Rc<Certificate>> {
        let (mine, voters) = self.voting.as_mut()?;
        if mine.digest != header || voters.contains(&from) {
            return None;
        }
        voters.push(from);
        let stake: u64 = voters.iter().map(|&voter| committee.stake(voter)).sum();
        if stake < committee.quorum() {
            return None;
        }
        let (header, voters) = self.voting.take()?;
        Some(Rc::new(Certificate { header, voters: voters.len() }))
    }

    /// A certificate, own or received; returns what entered the DAG, parents first.
    pub fn certified(&mut self, certificate: Rc<Certificate>) -> Vec<Rc<Certificate>> {
        self.dag.insert(certificate)
    }

    /// Forgets what lies below the collection bound.
    pub fn collect(&mut self, floor: Round) -> Vec<Rc<Certificate>> {
        self.voted = self.voted.split_off(&Vertex { round: floor, author: ValidatorId(0) });
        self.dag.collect(floor)
    }
}
