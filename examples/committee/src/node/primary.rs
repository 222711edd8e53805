//! The primary: proposes headers, votes for others', gathers votes into certificates, and keeps the DAG. It knows
//! nothing of what headers carry for Flamingo beyond where to put it and how a voter checks it.

use std::collections::BTreeMap;
use std::rc::Rc;

use flamingo_core::{Committee, Digest, Round, ValidatorId};

use super::dag::Dag;
use super::message::{Certificate, Header, HeaderBody, Vertex};
use super::worker::Available;
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
    /// This node's own headers until they are committed. An older one still gathers votes when a newer one is out:
    /// its certificate becomes a late parent.
    own: BTreeMap<Round, OwnHeader>,
    /// The header each author got this node's vote for, by place: one vote a place.
    voted: BTreeMap<Vertex, Digest>,
    dag: Dag,
}

/// A header of this node, and what would have to be proposed again if it came to nothing.
#[derive(Debug)]
pub struct OwnHeader {
    pub header: Rc<Header>,
    pub payload: Vec<Available>,
    voters: Vec<ValidatorId>,
}

impl Primary {
    pub fn new(me: ValidatorId, validators: usize) -> Self {
        Self {
            me,
            round: Round(0),
            proposed_at: 0,
            own: BTreeMap::new(),
            voted: BTreeMap::new(),
            dag: Dag::new(validators),
        }
    }

    /// After a crash: votes gathered and timers are gone, what was proposed is not.
    pub fn restart(mut self) -> Self {
        let (dag, me) = (&self.dag, self.me);
        let uncertified = self.own.values_mut().filter(|own| dag.get(own.header.vertex()).is_none());
        uncertified.for_each(|own| own.voters = vec![me]);
        self.proposed_at = 0;
        self
    }

    /// This node's headers that have no certificate here.
    pub fn uncertified(&self) -> Vec<Rc<Header>> {
        let own = self.own.values().map(|own| &own.header);
        own.filter(|header| self.dag.get(header.vertex()).is_none()).map(Rc::clone).collect()
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
    pub fn propose(&mut self, now: Micros, round: Round, body: HeaderBody, payload: Vec<Available>) -> Rc<Header> {
        let header = Rc::new(Header::new(self.me, round, body));
        self.round = round;
        self.proposed_at = now;
        self.voted.insert(header.vertex(), header.digest);
        self.own.insert(round, OwnHeader { header: Rc::clone(&header), payload, voters: vec![self.me] });
        header
    }

    /// Whether this node may vote for a header whose contents it has checked: once a place, always for the same
    /// header, and never below the collection bound.
    pub fn vote(&mut self, header: &Header, floor: Round) -> bool {
        let first = self.voted.entry(header.vertex()).or_insert(header.digest);
        header.round >= floor && *first == header.digest
    }

    /// A vote for a header of this node; returns the certificate that the vote completes, once.
    pub fn voted(&mut self, from: ValidatorId, header: Digest, committee: &Committee) -> Option<Rc<Certificate>> {
        let OwnHeader { header, voters, .. } = self.own.values_mut().find(|own| own.header.digest == header)?;
        let stake_of = |voters: &[ValidatorId]| -> u64 { voters.iter().map(|&voter| committee.stake(voter)).sum() };
        if voters.contains(&from) || stake_of(voters) >= committee.quorum() {
            return None;
        }
        voters.push(from);
        let complete = stake_of(voters) >= committee.quorum();
        complete.then(|| Rc::new(Certificate { header: Rc::clone(header), voters: voters.clone() }))
    }

    /// The header of this node's `round` is committed: nothing in it has to be proposed again.
    pub fn committed(&mut self, round: Round) {
        self.own.remove(&round);
    }

    /// This node's headers that nothing will order any more.
    pub fn abandoned(&mut self, floor: Round) -> Vec<OwnHeader> {
        let kept = self.own.split_off(&floor);
        std::mem::replace(&mut self.own, kept).into_values().collect()
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

#[cfg(test)]
mod tests {
    use flamingo_core::signal::LoadFieldsBuilder;
    use flamingo_core::{Epoch, LeaderRound, Member, NoSignatures, Params, PublicKey, RawParams};

    use super::*;

    fn committee() -> Committee {
        let members = (0..4).map(|index| Member { key: PublicKey([index; 32]), stake: 1 }).collect();
        Committee::new(Epoch(1), members, &NoSignatures).unwrap()
    }

    fn propose(primary: &mut Primary, round: u64) -> Rc<Header> {
        let params = Params::new(RawParams::paper()).unwrap();
        let load = LoadFieldsBuilder::new().finish(ValidatorId(0), Round(round), 0, LeaderRound(0), &params);
        let body = HeaderBody {
            parents: vec![],
            payload: vec![],
            load,
            capacity: None,
            decisions: None,
            acceptances: None,
            declines: vec![],
            epoch_over: None,
            epoch_end: None,
        };
        primary.propose(0, Round(round), body, Vec::new())
    }

    /// A header whose votes arrive after the next one is out is certified all the same, once.
    #[test]
    fn late_votes_still_certify() {
        let (mut primary, committee) = (Primary::new(ValidatorId(0), 4), committee());
        let (first, second) = (propose(&mut primary, 1), propose(&mut primary, 2));
        let mut vote = |from, header: &Header| primary.voted(ValidatorId(from), header.digest, &committee);
        assert!(vote(1, &first).is_none() && vote(1, &first).is_none(), "one voter, one vote");
        assert_eq!(vote(2, &first).map(|certificate| certificate.vertex()), Some(first.vertex()));
        assert!(vote(3, &first).is_none(), "certified once");
        assert!(vote(1, &second).is_none());
        assert!(vote(3, &second).is_some());
    }

    /// What falls below the collection bound without being committed comes back; what is committed does not.
    #[test]
    fn headers_that_came_to_nothing_come_back() {
        let mut primary = Primary::new(ValidatorId(0), 4);
        (1..=4).for_each(|round| drop(propose(&mut primary, round)));
        primary.committed(Round(2));
        let abandoned: Vec<u64> = primary.abandoned(Round(4)).iter().map(|own| own.header.round.0).collect();
        assert_eq!(abandoned, [1, 3]);
        assert!(primary.abandoned(Round(4)).is_empty());
    }
}
