//! The ledger against the model, object by object and after every sub-DAG.

use std::collections::{BTreeMap, BTreeSet};

use flamingo_core::protocol::{Carrier, FallbackSet, LogIndex, Outcome, Reason};
use flamingo_core::{AccountId, Round, ValidatorId};
use rand::RngExt;

use super::generate::{GATE, Owned, Run};
use super::hits::Hits;
use crate::world::{self, EPOCH, SEED, key, sign};

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

    pub(crate) fn compare(&mut self, author: u16, round: u64, object: &Owned, outcome: Outcome, hits: &mut Hits) {
        if author >= self.validators {
            assert_eq!(outcome, Outcome::NoOp(Reason::UnknownAuthor { author: ValidatorId(author) }));
            return;
        }
        match object {
            Owned::Header(head) => self.model.header(author, *head),
            Owned::Admission(admission) => {
                let good = admission.epoch == EPOCH && *admission == world::admission(admission.account.0);
                let expected = good && self.model.admit(admission.account.0, (admission.account.0 / 1000) as u16);
                assert_eq!(outcome.is_effective(), expected, "{outcome:?}");
            }
            Owned::Decisions(list) => {
                let short = list.entries().len() <= self.max_list as usize;
                let expected = if short { self.model.decisions(author, list) } else { None };
                let got = if let Outcome::Tallied(tallied) = outcome { Some(tallied.evidence) } else { None };
                assert_eq!(got, expected, "{outcome:?}");
            }
            Owned::Accepts(list) => {
                let got = if let Outcome::Accepted(accepted) = outcome { accepted.activated } else { 0 };
                assert_eq!(got, self.model.accepts(author, list), "{outcome:?}");
            }
            Owned::Evidence(evidence) => {
                let expected = self.model.signed_evidence(evidence);
                assert_eq!(matches!(outcome, Outcome::EvidenceLive { .. }), expected, "{outcome:?}");
                hits.add("evidence by lists met signatures", u64::from(outcome == Outcome::NoOp(Reason::Recorded)));
            }
            Owned::Acceptance(acceptance) => {
                let expected = self.model.acceptance(acceptance);
                assert_eq!(matches!(outcome, Outcome::Activated { .. }), expected, "{outcome:?}");
                hits.add("carried by another", u64::from(expected && author != acceptance.statement.to.0));
            }
            Owned::Decline(decline) => {
                let expected = self.model.decline(decline);
                assert_eq!(matches!(outcome, Outcome::Declined { .. }), expected, "{outcome:?}");
            }
            Owned::Request(request) => {
                let key = key(request.account.0);
                let good = request.epoch == EPOCH && sign(&key, &request.signing_bytes()) == request.signature;
                let current = self.model.assignment(request.account.0).map(|(validator, _)| validator);
                let expected = good && self.model.request(author, round, request);
                assert_eq!(outcome == Outcome::Executed, expected, "{outcome:?}");
                hits.add("grace used", u64::from(expected && current != Some(author)));
            }
            Owned::Relay(request, auth) => {
                let key = key(request.account.0);
                let good = request.epoch == EPOCH
                    && sign(&key, &request.signing_bytes()) == request.signature
                    && sign(&key, &auth.signing_bytes()) == auth.signature
                    && auth.covers(request);
                let rule = FallbackSet::new(&SEED, self.ledger.params());
                let relays = rule.members(self.ledger.committee(), request.account, request.nonce, request.named);
                let expected = good && self.model.relay(relays.contains(&ValidatorId(author)), request);
                assert_eq!(matches!(outcome, Outcome::Relayed { .. }), expected, "{outcome:?}");
            }
            Owned::Capacity(_) | Owned::Latency(_) => {}
        }
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
