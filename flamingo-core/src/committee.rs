//! The committee of an epoch: who the validators are and how much stake each holds.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::hash::{Domain, Hasher};
use crate::id::{Digest, Epoch, PublicKey, ValidatorId};
use crate::signature::{KeyError, SignatureScheme};

const COMMITTEE: Domain = Domain("flamingo/committee/v1");

/// A validator as the epoch's configuration lists it. Its [`ValidatorId`] is its position in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Member {
    /// The key its headers are signed with.
    pub key: PublicKey,
    /// Its voting weight, at least 1.
    pub stake: u64,
}

/// Why a list of members is no committee.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitteeError {
    /// No members.
    #[error("a committee needs at least one member")]
    Empty,
    /// More members than a [`ValidatorId`] can name.
    #[error("{got} members are more than the {max} an identifier can name")]
    TooManyMembers {
        /// Members listed.
        got: usize,
        /// Members allowed.
        max: usize,
    },
    /// A member without stake.
    #[error("{validator} has no stake")]
    NoStake {
        /// The member.
        validator: ValidatorId,
    },
    /// The stakes do not add up in a `u64`.
    #[error("the stakes up to {validator} exceed 64 bits")]
    StakeOverflow {
        /// The member whose stake overflows the sum.
        validator: ValidatorId,
    },
    /// Two members with one key.
    #[error("{second} has the key of {first}")]
    DuplicateKey {
        /// The first member with the key.
        first: ValidatorId,
        /// The second.
        second: ValidatorId,
    },
    /// A key the signature scheme refuses.
    #[error("the key of {validator} is refused: {reason}")]
    BadKey {
        /// The member.
        validator: ValidatorId,
        /// What is wrong with it.
        reason: KeyError,
    },
}

/// The validators of one epoch with their stake, checked once and then immutable.
///
/// With `N` the total stake, up to `f = ⌊(N−1)/3⌋` of it may be faulty and a quorum is `q = N − f`. That equals
/// the usual `2f+1` only when `N = 3f+1`: with 21 equal validators `2f+1` would be 13, and two such sets can meet
/// in 5 validators, all of them faulty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committee {
    epoch: Epoch,
    members: Vec<Member>,
    total_stake: u64,
    digest: Digest,
}

impl Committee {
    /// The most members a committee can have.
    pub const MAX_MEMBERS: usize = u16::MAX as usize;

    /// Checks a list of members. Cost: one [`SignatureScheme::check_key`] per member.
    ///
    /// # Errors
    /// The first fault found, in the order of the list.
    pub fn new(epoch: Epoch, members: Vec<Member>, scheme: &dyn SignatureScheme) -> Result<Self, CommitteeError> {
        if members.is_empty() {
            return Err(CommitteeError::Empty);
        }
        if members.len() > Self::MAX_MEMBERS {
            return Err(CommitteeError::TooManyMembers { got: members.len(), max: Self::MAX_MEMBERS });
        }
        let mut total_stake = 0u64;
        let mut by_key = BTreeMap::new();
        for (validator, member) in (0..=u16::MAX).map(ValidatorId).zip(&members) {
            if member.stake == 0 {
                return Err(CommitteeError::NoStake { validator });
            }
            total_stake = total_stake.checked_add(member.stake).ok_or(CommitteeError::StakeOverflow { validator })?;
            if let Some(first) = by_key.insert(member.key, validator) {
                return Err(CommitteeError::DuplicateKey { first, second: validator });
            }
            scheme.check_key(&member.key).map_err(|reason| CommitteeError::BadKey { validator, reason })?;
        }
        let digest = digest_of(epoch, &members);
        Ok(Self { epoch, members, total_stake, digest })
    }

    /// The epoch this committee serves.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The number of validators.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a committee is never empty")]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// The members, in the order of their ids.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The ids, ascending.
    pub fn validators(&self) -> impl ExactSizeIterator<Item = ValidatorId> + DoubleEndedIterator + use<> {
        // `new` bounds the number of members, so the conversion never saturates.
        (0..u16::try_from(self.members.len()).unwrap_or(u16::MAX)).map(ValidatorId)
    }

    /// Whether `validator` is a member.
    #[must_use]
    pub fn contains(&self, validator: ValidatorId) -> bool {
        validator.index() < self.members.len()
    }

    /// The stake of `validator`; 0 for a stranger.
    #[must_use]
    pub fn stake(&self, validator: ValidatorId) -> u64 {
        self.members.get(validator.index()).map_or(0, |member| member.stake)
    }

    /// The key of `validator`, if it is a member.
    #[must_use]
    pub fn key(&self, validator: ValidatorId) -> Option<&PublicKey> {
        self.members.get(validator.index()).map(|member| &member.key)
    }

    /// N, the stake of all members.
    #[must_use]
    pub const fn total_stake(&self) -> u64 {
        self.total_stake
    }

    /// f = ⌊(N−1)/3⌋, the most stake that may be faulty.
    #[must_use]
    pub const fn max_faulty_stake(&self) -> u64 {
        (self.total_stake - 1) / 3
    }

    /// q = N − f, the stake that makes a quorum. Two quorums share more than f.
    #[must_use]
    pub const fn quorum(&self) -> u64 {
        self.total_stake - self.max_faulty_stake()
    }

    /// The digest of the epoch number and of every member's key and stake, in order.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }
}

fn digest_of(epoch: Epoch, members: &[Member]) -> Digest {
    let mut hasher = Hasher::new(COMMITTEE);
    hasher.u64(epoch.0).u64(members.len() as u64);
    for member in members {
        hasher.raw(member.key.as_bytes()).u64(member.stake);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SignatureBytes;
    use alloc::collections::BTreeSet;
    use alloc::vec;
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Accepts every key but the one of zeros, and no signature.
    #[derive(Debug)]
    struct AnyKey;

    impl SignatureScheme for AnyKey {
        fn check_key(&self, key: &PublicKey) -> Result<(), KeyError> {
            if key.0 == [0; 32] { Err(KeyError::SmallOrder) } else { Ok(()) }
        }

        fn verify(&self, _: &PublicKey, _: &[u8], _: &SignatureBytes) -> bool {
            false
        }
    }

    fn members(stakes: &[u64]) -> Vec<Member> {
        let key = |i: usize| {
            let mut key = [1; 32];
            key[..8].copy_from_slice(&(i as u64).to_le_bytes());
            PublicKey(key)
        };
        stakes.iter().enumerate().map(|(i, &stake)| Member { key: key(i), stake }).collect()
    }

    fn committee(stakes: &[u64]) -> Committee {
        Committee::new(Epoch(3), members(stakes), &AnyKey).unwrap()
    }

    /// f and q for the committee sizes of the paper's evaluation and for unequal stake: Flamingo §3.
    #[test]
    fn quorums_of_known_committees() {
        for (n, f, q) in [(1, 0, 1), (2, 0, 2), (3, 0, 3), (4, 1, 3), (10, 3, 7), (16, 5, 11), (20, 6, 14), (21, 6, 15)]
        {
            let committee = committee(&vec![1; n]);
            assert_eq!((committee.max_faulty_stake(), committee.quorum()), (f, q), "n = {n}");
        }
        let unequal = committee(&[50, 20, 20, 10, 1]);
        assert_eq!((unequal.total_stake(), unequal.max_faulty_stake(), unequal.quorum()), (101, 33, 68));
        assert_eq!(unequal.stake(ValidatorId(0)), 50);
        assert_eq!(unequal.stake(ValidatorId(5)), 0);
        assert!(unequal.contains(ValidatorId(4)) && !unequal.contains(ValidatorId(5)));
        assert_eq!(unequal.validators().map(|v| v.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }

    /// Two quorums share more stake than may be faulty, and the honest alone make a quorum. The quorums are minimal:
    /// validators in random order until the stake is reached.
    #[test]
    fn two_quorums_share_an_honest_validator() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let (mut pairs, mut tight) = (0, 0);
        for _ in 0..2000 {
            let stakes: Vec<u64> = (0..random.random_range(1..22)).map(|_| random.random_range(1..1000)).collect();
            let committee = committee(&stakes);
            assert!(2 * committee.quorum() - committee.total_stake() > committee.max_faulty_stake());
            assert!(committee.total_stake() - committee.max_faulty_stake() >= committee.quorum());
            let mut quorum = || {
                let mut order: Vec<ValidatorId> = committee.validators().collect();
                order.shuffle(&mut random);
                let mut stake = 0;
                let missing = |v: &ValidatorId| {
                    let before = stake;
                    stake += committee.stake(*v);
                    before < committee.quorum()
                };
                order.into_iter().take_while(missing).collect::<BTreeSet<_>>()
            };
            let (first, second) = (quorum(), quorum());
            let shared: u64 = first.intersection(&second).map(|v| committee.stake(*v)).sum();
            assert!(shared > committee.max_faulty_stake(), "{stakes:?}: {first:?} {second:?}");
            pairs += u32::from(first != second);
            tight += u32::from(shared < 2 * committee.max_faulty_stake());
        }
        std::println!("quorums: {pairs} pairs that differ, {tight} that share less than 2f");
        assert!(pairs > 1000 && tight > 100, "{pairs} {tight}");
    }

    /// Each fault of a list is refused with its numbers.
    #[test]
    fn faulty_lists_are_refused() {
        let new = |members| Committee::new(Epoch(0), members, &AnyKey);
        assert_eq!(new(vec![]), Err(CommitteeError::Empty));
        assert_eq!(new(members(&[1, 0])), Err(CommitteeError::NoStake { validator: ValidatorId(1) }));
        assert_eq!(new(members(&[1, u64::MAX])), Err(CommitteeError::StakeOverflow { validator: ValidatorId(1) }));
        let mut twice = members(&[1, 1, 1]);
        twice[2].key = twice[0].key;
        assert_eq!(new(twice), Err(CommitteeError::DuplicateKey { first: ValidatorId(0), second: ValidatorId(2) }));
        let mut weak = members(&[1, 1]);
        weak[1].key = PublicKey([0; 32]);
        assert_eq!(new(weak), Err(CommitteeError::BadKey { validator: ValidatorId(1), reason: KeyError::SmallOrder }));
        assert_eq!(new(members(&[1; 65_536])), Err(CommitteeError::TooManyMembers { got: 65_536, max: 65_535 }));
        assert_eq!(new(members(&[1; 65_535])).unwrap().validators().len(), 65_535);
    }

    /// The digest depends on the epoch, every key, every stake and the order.
    #[test]
    fn the_digest_covers_everything() {
        let base = committee(&[1, 2, 3]);
        let mut reordered = members(&[1, 2, 3]);
        reordered.swap(0, 1);
        let others = [
            Committee::new(Epoch(4), members(&[1, 2, 3]), &AnyKey).unwrap(),
            committee(&[1, 2]),
            committee(&[1, 3, 3]),
            Committee::new(Epoch(3), reordered, &AnyKey).unwrap(),
        ];
        assert!(others.iter().all(|other| other.digest() != base.digest()));
        assert_eq!(committee(&[1, 2, 3]).digest(), base.digest());
    }
}
