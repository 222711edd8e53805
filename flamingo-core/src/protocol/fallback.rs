//! F(a, q, v): who may relay request q of account a while v is its assignee (Flamingo §4.3 (4)).
//!
//! *What it is.* The shortest prefix with stake above f of the committee without v, ordered by
//! H(seed_e, a, ⌊q / Q⌋, u); with equal stakes f + 1 validators. Whatever f of the stake is faulty, a member is
//! honest.
//! *Deviations.* The paper orders "deterministically". By hash and not by key: a key can be chosen so that it comes
//! first everywhere. The seed is fixed after the keys. By ⌊q / Q⌋ and not by q: with a new order for every request a
//! racing client walks through the whole committee instead of f + 1 relays.

use alloc::vec::Vec;

use crate::committee::Committee;
use crate::hash::Domain;
use crate::id::{AccountId, Nonce, ValidatorId};
use crate::params::Params;
use crate::rank::{EpochSeed, KeyedHash};

/// The rule of one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FallbackSet {
    hash: KeyedHash,
    relay_set_nonces: u64,
}

impl FallbackSet {
    /// The rule under `seed`.
    #[must_use]
    pub fn new(seed: &EpochSeed, params: &Params) -> Self {
        let hash = KeyedHash::new(seed, Domain("flamingo/fallback/v1"));
        Self { hash, relay_set_nonces: params.get().relay_set_nonces }
    }

    /// Whether `relay` is in F(`account`, `nonce`, `assignee`). The assignee never is, nor is a stranger. One hash per
    /// member; allocates nothing.
    #[must_use]
    pub fn contains(
        &self,
        committee: &Committee,
        account: AccountId,
        nonce: Nonce,
        assignee: ValidatorId,
        relay: ValidatorId,
    ) -> bool {
        if relay == assignee || !committee.contains(relay) {
            return false;
        }
        // In the shortest prefix above f iff those before it do not exceed f.
        let own = self.place(account, nonce, relay);
        let before = |u: &ValidatorId| *u != assignee && self.place(account, nonce, *u) < own;
        let stake: u64 = committee.validators().filter(before).map(|u| committee.stake(u)).sum();
        stake <= committee.max_faulty_stake()
    }

    /// F(`account`, `nonce`, `assignee`) in its order: whom a client asks first. It is short of f of the stake only
    /// when all others together are.
    #[must_use]
    pub fn members(
        &self,
        committee: &Committee,
        account: AccountId,
        nonce: Nonce,
        assignee: ValidatorId,
    ) -> Vec<ValidatorId> {
        let mut order: Vec<_> = committee.validators().filter(|&u| u != assignee).collect();
        order.sort_by_cached_key(|&u| self.place(account, nonce, u));
        let mut stake = 0;
        order.retain(|&u| {
            let within = stake <= committee.max_faulty_stake();
            stake += committee.stake(u);
            within
        });
        order
    }

    /// Where `u` stands. Ties, one in 2⁶⁴, go by id.
    fn place(&self, account: AccountId, nonce: Nonce, u: ValidatorId) -> (u64, ValidatorId) {
        let mut bytes = [0; 18];
        bytes[..8].copy_from_slice(&account.0.to_le_bytes());
        bytes[8..16].copy_from_slice(&(nonce.0 / self.relay_set_nonces).to_le_bytes());
        bytes[16..].copy_from_slice(&u.0.to_le_bytes());
        (self.hash.hash_bytes(&bytes), u)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::committee::Member;
    use crate::id::{Epoch, PublicKey};
    use crate::params::RawParams;
    use crate::signature::NoSignatures;
    use proptest::prelude::*;

    const Q: u64 = 4096;

    fn rule(seed: u8) -> FallbackSet {
        FallbackSet::new(&EpochSeed([seed; 32]), &Params::new(RawParams::paper()).unwrap())
    }

    /// Members with the keys that `key` gives them.
    fn committee(stakes: &[u64], key: impl Fn(usize) -> u8) -> Committee {
        let member = |(at, &stake)| {
            let mut bytes = [1; 32];
            (bytes[0], bytes[1]) = (key(at), at as u8);
            Member { key: PublicKey(bytes), stake }
        };
        Committee::new(Epoch(1), stakes.iter().enumerate().map(member).collect(), &NoSignatures).unwrap()
    }

    proptest! {
        /// Flamingo §4.3 (4), by stake: whichever validators with at most f stake are faulty, one of F is honest; F is
        /// the shortest such prefix, never holds v, and both forms of it agree.
        #[test]
        fn one_relay_is_honest(
            stakes in prop::collection::vec(1u64..50, 2..12),
            account: u64,
            nonce: u64,
            assignee in 0u16..12,
        ) {
            let (rule, committee) = (rule(3), committee(&stakes, |_| 1));
            let assignee = ValidatorId(assignee % stakes.len() as u16);
            let f = committee.max_faulty_stake();
            let members = rule.members(&committee, AccountId(account), Nonce(nonce), assignee);
            let of = |set: &[ValidatorId]| -> u64 { set.iter().map(|&u| committee.stake(u)).sum() };
            prop_assert!(!members.contains(&assignee));
            let others = committee.total_stake() - committee.stake(assignee);
            // More stake than any faulty set holds; unless v alone is so heavy that the others have no more.
            prop_assert!(of(&members) > f || of(&members) == others && others <= f);
            prop_assert!(of(&members[..members.len() - 1]) <= f, "the shortest");
            for u in committee.validators().chain([ValidatorId(99)]) {
                let contains = rule.contains(&committee, AccountId(account), Nonce(nonce), assignee, u);
                prop_assert_eq!(contains, members.contains(&u));
            }
        }

        /// Equal stakes: f + 1 relays, as the paper has it.
        #[test]
        fn equal_stakes_make_f_plus_one(n in 4usize..30, account: u64, nonce: u64) {
            let committee = committee(&alloc::vec![1; n], |_| 1);
            let members = rule(3).members(&committee, AccountId(account), Nonce(nonce), ValidatorId(0));
            prop_assert_eq!(members.len() as u64, committee.max_faulty_stake() + 1);
        }
    }

    /// Ours: the order comes from the seed and the place in the committee, not from keys, and every validator is first
    /// for its share of the accounts. A validator that ground its key gains nothing.
    #[test]
    fn keys_do_not_steer_the_order() {
        let [low, high] = [0, 255].map(|first| committee(&[1; 7], |at| if at == 3 { first } else { 128 }));
        let mut first = [0u32; 7];
        for account in (0..7000).map(AccountId) {
            let members = rule(3).members(&low, account, Nonce(0), ValidatorId(0));
            assert_eq!(members, rule(3).members(&high, account, Nonce(0), ValidatorId(0)));
            first[members[0].index()] += 1;
        }
        assert_eq!(first[0], 0);
        assert!(first[1..].iter().all(|count| (1050..1290).contains(count)), "{first:?}");
        let differs = |account| {
            let of = |seed| rule(seed).members(&low, AccountId(account), Nonce(0), ValidatorId(0));
            of(3) != of(4)
        };
        assert!((0..20).any(differs), "another seed, another order");
    }

    /// Ours: one relay set per Q nonces, so that a client cannot walk through the committee request by request.
    #[test]
    fn the_set_is_stable_over_q_nonces() {
        let committee = committee(&[1; 10], |_| 1);
        let of = |nonce| rule(3).members(&committee, AccountId(7), Nonce(nonce), ValidatorId(0));
        assert!((0..Q).all(|nonce| of(nonce) == of(0)));
        let changes = (1..50).filter(|k| of(k * Q) != of(k * Q - 1)).count();
        assert!(changes > 40, "{changes} of 49 boundaries change the set");
    }
}
