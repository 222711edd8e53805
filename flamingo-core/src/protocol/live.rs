//! Live evidence: from the position where it came to exist until it is activated, dropped or expired.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use smallvec::SmallVec;

use super::index::Index;
use crate::id::{Digest, LeaderRound, Round, ValidatorId};

/// Π without its account and anchor, which are its key: at most one statement per (a, r) is ever evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) from: ValidatorId,
    pub(super) to: ValidatorId,
    /// ℓ of the sub-DAG it came to exist in.
    pub(super) leader: LeaderRound,
    /// That sub-DAG's number, counting from 1.
    pub(super) sub_dag: u64,
    /// The last leader round at which T_Π alone keeps it.
    pub(super) deadline: LeaderRound,
}

/// All live evidence, by account for acceptances and by deadline for expiry.
///
/// Most evidence is accepted and never expires. So deadlines are kept in buckets, a bucket is looked at when it is
/// overdue, and D(Π), which orders an expiry, is computed for what expires only.
///
/// Memory: at most four per account. Evidence of one account stems from distinct anchors, hence from distinct
/// sub-DAGs; one may be within its deadline, since T_fresh + T_Π < R, and those beyond it live for three more
/// sub-DAGs. About 70 bytes each, and 16 more until its deadline, accepted or not.
///
/// Invariant: every live evidence is eligible, that is A(a) = v_old and r above the anchor of A(a). It was so
/// when it came to exist, and an activation, the only thing that changes A(a), drops all others of the account.
#[derive(Clone, Debug, Default)]
pub(super) struct LiveEvidence {
    by_account: BTreeMap<(Index, Round), Live>,
    by_deadline: BTreeMap<LeaderRound, Vec<(Index, Round)>>,
}

/// Evidence that expires; in the order of the expiry.
pub(super) type Due = (LeaderRound, Digest, Index, Round);

/// How many sub-DAGs have to be applied after the one that evidence stems from before it may expire: a jump of
/// the leader round must not take away the receiver's chance to answer (ours).
const LEAST_SUB_DAGS: u64 = 3;

impl LiveEvidence {
    pub(super) fn insert(&mut self, index: Index, anchor: Round, evidence: Live) {
        self.by_account.insert((index, anchor), evidence);
        self.by_deadline.entry(evidence.deadline).or_default().push((index, anchor));
    }

    pub(super) fn get(&self, index: Index, anchor: Round) -> Option<&Live> {
        self.by_account.get(&(index, anchor))
    }

    pub(super) fn remove(&mut self, index: Index, anchor: Round) -> Option<Live> {
        self.by_account.remove(&(index, anchor))
    }

    /// Drops everything of an account: what an activation does to the evidence it overtakes, and to its own.
    pub(super) fn drop_account(&mut self, index: Index) {
        let anchors: SmallVec<[Round; 4]> = self.of_account(index).map(|(anchor, _)| anchor).collect();
        for anchor in anchors {
            self.remove(index, anchor);
        }
    }

    pub(super) fn of_account(&self, index: Index) -> impl Iterator<Item = (Round, &Live)> {
        let all = (index, Round(0))..=(index, Round(u64::MAX));
        self.by_account.range(all).map(|(&(_, anchor), evidence)| (anchor, evidence))
    }

    /// Appends what expires when the sub-DAG of `leader` begins after `applied` sub-DAGs, in (deadline, digest)
    /// order. It stays in here until it is removed, and is not due again.
    pub(super) fn due(
        &mut self,
        leader: LeaderRound,
        applied: u64,
        digest_of: impl Fn(Index, Round, &Live) -> Digest,
        out: &mut Vec<Due>,
    ) {
        let Self { by_account, by_deadline } = self;
        for (&deadline, bucket) in by_deadline.range_mut(..leader) {
            bucket.retain(|&(index, anchor)| match by_account.get(&(index, anchor)) {
                None => false,
                Some(evidence) if applied < evidence.sub_dag.saturating_add(LEAST_SUB_DAGS) => true,
                Some(evidence) => {
                    out.push((deadline, digest_of(index, anchor, evidence), index, anchor));
                    false
                }
            });
        }
        by_deadline.retain(|_, bucket| !bucket.is_empty());
        out.sort_unstable();
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.by_account.len()
    }

    /// Everything, by account and anchor.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Index, Round, &Live)> {
        self.by_account.iter().map(|(&(index, anchor), evidence)| (index, anchor, evidence))
    }
}
