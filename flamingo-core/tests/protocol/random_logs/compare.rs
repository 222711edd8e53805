//! The ledger against the model, object by object and after every sub-DAG.

use std::collections::{BTreeMap, BTreeSet};

use flamingo_core::protocol::{Carrier, FallbackSet, LogIndex, Outcome, Reason};
use flamingo_core::{AccountId, Round, ValidatorId};
use rand::RngExt;

use super::generate::{GATE, Owned, Run};
use super::hits::Hits;
use crate::model::Model;
use crate::world::SEED;

impl Run {
    /// Applies to the ledger and to the model, and compares.
    pub(crate) fn put(&mut self, author: u16, object: Owned, hits: &mut Hits) {
        self.index += self.random.random_range(1..3);
        let round = self.leader.saturating_sub(self.random.random_range(0..6));
        let carrier = Carrier { author: ValidatorId(author), round: Round(round) };
        let at = LogIndex(self.index);
        let before: Vec<_> = self.accounts.iter().map(|&a| self.model.assignment(a)).collect();
        let outcome = self.ledger.apply(at, carrier, object.object());
        hits.outcome(&outcome);
        self.compare(author, round, &object, outcome, hits);
        let after: Vec<_> = self.accounts.iter().map(|&a| self.model.assignment(a)).collect();
        let may_move = matches!(outcome, Outcome::Accepted(_) | Outcome::Activated { .. } | Outcome::Admitted { .. });
        assert!(may_move || before == after, "{outcome:?} moved an account");
        self.log.last_mut().unwrap().objects.push((at, carrier, object));
    }

    /// What the ledger says of the object is what the model says, to the last number: effects and reasons alike.
    pub(crate) fn compare(&mut self, author: u16, round: u64, object: &Owned, outcome: Outcome, hits: &mut Hits) {
        let assignee = |model: &Model, account: AccountId| model.assignment(account.0).map(|(validator, _)| validator);
        let expected = match object {
            _ if author >= self.validators => Err(Reason::UnknownAuthor { author: ValidatorId(author) }),
            Owned::Header(head) => self.model.header(author, *head),
            Owned::Admission(admission) => self.model.admit(admission, (admission.account.0 / 1000) as u16),
            Owned::Capacity(capacity) => self.model.capacity(author, capacity),
            Owned::Latency(latency) => self.model.latency(latency),
            Owned::Decisions(list) => self.model.decisions(author, list),
            Owned::Accepts(list) => self.model.accepts(author, list),
            Owned::Evidence(evidence) => {
                hits.add("evidence by lists met signatures", u64::from(outcome == Outcome::NoOp(Reason::Recorded)));
                self.model.signed_evidence(evidence)
            }
            Owned::Acceptance(acceptance) => {
                let carried = outcome.is_effective() && author != acceptance.statement.to.0;
                hits.add("carried by another", u64::from(carried));
                self.model.acceptance(acceptance)
            }
            Owned::Decline(decline) => self.model.decline(decline),
            Owned::Request(request) => {
                let grace = outcome.is_effective() && assignee(&self.model, request.account) != Some(author);
                hits.add("grace used", u64::from(grace));
                self.model.request(author, round, request)
            }
            Owned::Relay(request, auth) => {
                let rule = FallbackSet::new(&SEED, self.ledger.params());
                let relays = rule.members(self.ledger.committee(), request.account, request.nonce, request.named);
                self.model.relay(relays.contains(&ValidatorId(author)), request, auth)
            }
        };
        assert_eq!(outcome, expected.unwrap_or_else(Outcome::NoOp));
    }

    /// The ledger's state is the model's, and the invariants hold.
    pub(crate) fn check_state(&self, hits: &mut Hits) {
        let mut statements: BTreeMap<(u64, u64), u32> = BTreeMap::new();
        for &(account, _, _, anchor) in &self.model.recorded {
            *statements.entry((account, anchor)).or_default() += 1;
        }
        assert!(statements.values().all(|&count| count == 1), "two statements of one (a, r) became evidence");
        for &account in &self.accounts {
            let id = AccountId(account);
            let got = self.ledger.assignment(id).map(|at| (at.validator.0, at.anchor.0));
            assert_eq!(got, self.model.assignment(account));
            let live: BTreeSet<_> =
                self.ledger.evidence(id).map(|(s, _)| (account, s.from.0, s.to.0, s.anchor.0)).collect();
            let expected = self.model.live.iter().map(|evidence| evidence.statement).filter(|s| s.0 == account);
            assert_eq!(live, expected.collect());
            for &(_, from, _, anchor) in &live {
                let (validator, r) = got.unwrap();
                assert!(from == validator && anchor > r, "live evidence that is not eligible");
            }
            assert!(live.len() <= 4, "the documented bound on live evidence");
            hits.add("two live evidences of one account", u64::from(live.len() > 1));
            for validator in 0..self.validators {
                let expected = self.model.excluded.contains(&(account, validator));
                assert_eq!(self.ledger.excluded(id, ValidatorId(validator)), expected);
            }
            // P3 of Flamingo §4.3, second clause.
            let fallbacks = self.model.fallbacks.get(&account).map_or(&[][..], |all| all);
            assert!(fallbacks.windows(2).all(|pair| pair[1] - pair[0] >= GATE));
            let history: Vec<_> = self.model.assignments.get(&account).into_iter().flatten().collect();
            assert!(history.windows(2).all(|pair| pair[0].1 < pair[1].1 && pair[0].0 != pair[1].0));
            let back = history.iter().enumerate().any(|(at, now)| history[..at].iter().any(|then| then.0 == now.0));
            hits.add("moved back to an earlier validator", u64::from(back));
        }
    }
}
