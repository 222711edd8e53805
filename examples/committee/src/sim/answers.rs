//! What validators answer clients.

use flamingo_core::{AccountId, Nonce};

use crate::node::message::Transaction;

/// Answers to clients that one step of a node caused, by region.
pub struct Answers(pub Vec<RegionAnswers>);

#[derive(Clone, Debug, Default)]
pub struct RegionAnswers {
    pub answered: Vec<(AccountId, Nonce)>,
    pub again: Vec<Transaction>,
}

impl RegionAnswers {
    pub fn is_empty(&self) -> bool {
        self.answered.is_empty() && self.again.is_empty()
    }
}

impl Answers {
    pub fn new(regions: usize) -> Self {
        Self(vec![RegionAnswers::default(); regions])
    }

    pub fn answered(&mut self, region: usize, account: AccountId, nonce: Nonce) {
        self.0[region].answered.push((account, nonce));
    }

    pub fn again(&mut self, region: usize, transaction: Transaction) {
        self.0[region].again.push(transaction);
    }
}
