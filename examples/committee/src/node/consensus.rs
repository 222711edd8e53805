//! The commit rule: Bullshark's, partially synchronous form. Even rounds have a leader, drawn by hash; a leader
//! commits when certificates of the next round with more than f of the stake point to it. Leaders skipped on the
//! way are committed first, recursively, wherever a path leads to them, so that every node derives one sequence
//! from any order of delivery.

use std::collections::BTreeSet;
use std::rc::Rc;

use flamingo_core::hash::{Domain, Hasher};
use flamingo_core::{Committee, Digest, LeaderRound, Round, ValidatorId};

use super::dag::Dag;
use super::message::{Certificate, Vertex};

/// A leader and everything it orders, in commit order.
#[derive(Clone, Debug)]
pub struct SubDag {
    pub leader_round: LeaderRound,
    /// By round, then author; the leader is the last.
    pub certificates: Vec<Rc<Certificate>>,
}

/// The committed frontier of one node.
#[derive(Debug)]
pub struct Consensus {
    seed: Digest,
    gc_depth: u64,
    last_leader: Round,
    /// Committed vertices at or above the collection bound.
    committed: BTreeSet<Vertex>,
}

impl Consensus {
    pub fn new(seed: Digest, gc_depth: u64) -> Self {
        Self { seed, gc_depth, last_leader: Round(0), committed: BTreeSet::new() }
    }

    /// The last committed leader round.
    pub fn head(&self) -> LeaderRound {
        LeaderRound(self.last_leader.0)
    }

    /// Below this round nothing is ordered any more.
    pub fn floor(&self) -> Round {
        Round(self.last_leader.0.saturating_sub(self.gc_depth))
    }

    /// The leader of an even round: a hash, weighted by stake. (With `round mod n` a committee whose nodes run
    /// in phase asks the same few validators for ever.)
    pub fn leader(&self, round: Round, committee: &Committee) -> ValidatorId {
        let mut hasher = Hasher::new(Domain("committee/leader"));
        let mut ticket = hasher.digest(&self.seed).u64(round.0).finish_u64() % committee.total_stake();
        for validator in committee.validators() {
            let stake = committee.stake(validator);
            if ticket < stake {
                return validator;
            }
            ticket -= stake;
        }
        unreachable!("a ticket below the total stake falls on a validator")
    }

    /// Called for every certificate that enters the DAG; returns the sub-DAGs it commits, oldest leader first.
    pub fn certificate(&mut self, certificate: &Certificate, dag: &Dag, committee: &Committee) -> Vec<SubDag> {
        let Some(leader_round) = certificate.header.round.before(1) else { return Vec::new() };
        if leader_round.0 % 2 == 1 || leader_round <= self.last_leader {
            return Vec::new();
        }
        let leader = Vertex { round: leader_round, author: self.leader(leader_round, committee) };
        let Some(leader) = dag.get(leader) else { return Vec::new() };
        let supporters =
            dag.round(certificate.header.round).filter(|c| c.header.body.parents.contains(&leader.vertex()));
        let support: u64 = supporters.map(|c| committee.stake(c.header.author)).sum();
        if support <= committee.max_faulty_stake() {
            return Vec::new();
        }
        let chain = self.leaders_up_to(Rc::clone(leader), dag, committee);
        chain.into_iter().map(|leader| self.order(&leader, dag)).collect()
    }

    /// The committed leader and the skipped ones a path leads to, oldest first.
    fn leaders_up_to(&self, newest: Rc<Certificate>, dag: &Dag, committee: &Committee) -> Vec<Rc<Certificate>> {
        let mut chain = vec![newest];
        let mut round = chain[0].header.round.0;
        while round >= self.last_leader.0 + 4 {
            round -= 2;
            let vertex = Vertex { round: Round(round), author: self.leader(Round(round), committee) };
            let newer = &chain[chain.len() - 1];
            let skipped = dag.get(vertex).filter(|_| self.reaches(newer, vertex, dag));
            chain.extend(skipped.map(Rc::clone));
        }
        chain.reverse();
        chain
    }

    /// Whether a path leads from `from` down to `to`.
    fn reaches(&self, from: &Certificate, to: Vertex, dag: &Dag) -> bool {
        let mut seen = BTreeSet::new();
        let mut stack = from.header.body.parents.clone();
        while let Some(vertex) = stack.pop() {
            if vertex == to {
                return true;
            }
            if vertex.round > to.round && seen.insert(vertex) {
                stack.extend(dag.get(vertex).into_iter().flat_map(|c| c.header.body.parents.iter().copied()));
            }
        }
        false
    }

    /// Commits a leader: every ancestor not yet committed and not below the collection bound of *this* leader,
    /// which is the same bound on every node.
    fn order(&mut self, leader: &Rc<Certificate>, dag: &Dag) -> SubDag {
        self.last_leader = leader.header.round;
        let floor = self.floor();
        self.committed = self.committed.split_off(&Vertex { round: floor, author: ValidatorId(0) });
        let mut certificates = Vec::new();
        let mut stack = vec![leader.vertex()];
        while let Some(vertex) = stack.pop() {
            if vertex.round < floor || self.committed.contains(&vertex) {
                continue;
            }
            if let Some(certificate) = dag.get(vertex) {
                self.committed.insert(vertex);
                stack.extend_from_slice(&certificate.header.body.parents);
                certificates.push(Rc::clone(certificate));
            }
        }
        certificates.sort_unstable_by_key(|certificate| certificate.vertex());
        SubDag { leader_round: self.head(), certificates }
    }
}
