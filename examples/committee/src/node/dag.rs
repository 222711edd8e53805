//! The local view of the certified DAG: which certificates this node has, which of them no header of its own
//! has covered yet, and how to walk from one to its ancestors.
//!
//! A certificate enters only when all its parents have (or lie below the collection bound), so whatever stands
//! in the store has its whole causal history there.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use flamingo_core::{Committee, Round, ValidatorId};

use super::message::{Certificate, Vertex};

/// Certificates by round and author.
#[derive(Debug)]
pub struct Dag {
    rounds: BTreeMap<Round, Vec<Option<Rc<Certificate>>>>,
    validators: usize,
    /// Certificates that wait for a parent, by the parent.
    waiting: BTreeMap<Vertex, Vec<Rc<Certificate>>>,
    /// Certificates no header of this node points to yet, directly or through another certificate.
    uncovered: BTreeSet<Vertex>,
    /// Rounds below are forgotten.
    collected: Round,
}

impl Dag {
    pub fn new(validators: usize) -> Self {
        Self {
            rounds: BTreeMap::new(),
            validators,
            waiting: BTreeMap::new(),
            uncovered: BTreeSet::new(),
            collected: Round(0),
        }
    }

    /// Adds a certificate and whatever waited for it; returns all that became part of the DAG, parents first.
    /// A certificate that is there already, or collected, adds nothing.
    pub fn insert(&mut self, certificate: Rc<Certificate>) -> Vec<Rc<Certificate>> {
        let mut added = Vec::new();
        let mut ready = vec![certificate];
        while let Some(certificate) = ready.pop() {
            let vertex = certificate.vertex();
            if vertex.round < self.collected || self.get(vertex).is_some() {
                continue;
            }
            if let Some(parent) = self.missing_parent(&certificate.header.body.parents) {
                let waiting = self.waiting.entry(parent).or_default();
                if !waiting.iter().any(|other| other.vertex() == vertex) {
                    waiting.push(certificate);
                }
                continue;
            }
            for parent in &certificate.header.body.parents {
                self.uncovered.remove(parent);
            }
            self.uncovered.insert(vertex);
            let slots = self.rounds.entry(vertex.round).or_insert_with(|| vec![None; self.validators]);
            slots[vertex.author.index()] = Some(Rc::clone(&certificate));
            added.push(certificate);
            ready.extend(self.waiting.remove(&vertex).into_iter().flatten());
        }
        added
    }

    /// The first parent this view lacks.
    pub fn missing_parent(&self, parents: &[Vertex]) -> Option<Vertex> {
        parents.iter().copied().find(|&parent| parent.round >= self.collected && self.get(parent).is_none())
    }

    pub fn get(&self, vertex: Vertex) -> Option<&Rc<Certificate>> {
        self.rounds.get(&vertex.round)?.get(vertex.author.index())?.as_ref()
    }

    pub fn round(&self, round: Round) -> impl Iterator<Item = &Rc<Certificate>> {
        self.rounds.get(&round).into_iter().flatten().flatten()
    }

    /// The stake that has a certificate in `round`.
    pub fn stake(&self, round: Round, committee: &Committee) -> u64 {
        self.round(round).map(|certificate| committee.stake(certificate.header.author)).sum()
    }

    /// The highest round with a quorum of certificates.
    pub fn quorum_round(&self, committee: &Committee) -> Option<Round> {
        self.rounds.keys().rev().copied().find(|&round| self.stake(round, committee) >= committee.quorum())
    }

    /// Parents for a header of round `round`: every certificate of the round before, and every older one that
    /// no certificate here covers. The latter are the late ones: without them their batches would never be
    /// ordered. Below `floor` a certificate is past ordering and is let go.
    pub fn parents_for(&mut self, round: Round, floor: Round) -> Vec<Vertex> {
        self.uncovered = self.uncovered.split_off(&Vertex { round: floor, author: ValidatorId(0) });
        let mut parents: Vec<Vertex> = self.uncovered.iter().copied().filter(|v| v.round < round).collect();
        if let Some(previous) = round.before(1) {
            parents.extend(self.round(previous).map(|certificate| certificate.vertex()));
        }
        parents.sort_unstable();
        parents.dedup();
        parents
    }

    /// Forgets rounds below `floor`; what waited for one of their certificates no longer has to.
    pub fn collect(&mut self, floor: Round) -> Vec<Rc<Certificate>> {
        if floor <= self.collected {
            return Vec::new();
        }
        self.collected = floor;
        self.rounds = self.rounds.split_off(&floor);
        let bound = Vertex { round: floor, author: ValidatorId(0) };
        let kept = self.waiting.split_off(&bound);
        let freed = std::mem::replace(&mut self.waiting, kept);
        freed.into_values().flatten().flat_map(|certificate| self.insert(certificate)).collect()
    }
}
