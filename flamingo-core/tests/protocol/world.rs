//! A small committee, one ledger, and one-line ways to put objects into its log.

use flamingo_core::hash::{Domain, Hasher};
use flamingo_core::protocol::{
    AcceptList, Acceptance, Accepted, Admission, Assignment, AssignmentDelta, AuthorityKey, Capacity, Carrier,
    Decision, DecisionList, Decline, Evidence, FallbackSet, HomeFn, Latency, LatencyEntry, LedgerConfig, LogIndex,
    MigrationLedger, Object, Outcome, QuorumError, QuorumSignatures, Reason, RelayAuth, Request, SignedDecision,
    Statement, Tallied,
};
use flamingo_core::rank::KeyedHash;
use flamingo_core::{
    AccountId, Committee, Digest, Epoch, EpochSeed, KeyError, LeaderRound, Member, Nonce, Params, PublicKey, RawParams,
    Round, SignatureBytes, SignatureScheme, ValidatorId,
};

pub(crate) const EPOCH: Epoch = Epoch(3);
pub(crate) const SEED: EpochSeed = EpochSeed([5; 32]);
pub(crate) const AUTHORITY: PublicKey = PublicKey([0xaa; 32]);

/// A scheme that costs nothing and still tells good from bad: the signature is a hash of key and message, so
/// anyone can sign, and keys that start with zero are weak.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Toy;

impl SignatureScheme for Toy {
    fn check_key(&self, key: &PublicKey) -> Result<(), KeyError> {
        if key.0[0] == 0 { Err(KeyError::SmallOrder) } else { Ok(()) }
    }

    fn verify(&self, key: &PublicKey, message: &[u8], signature: &SignatureBytes) -> bool {
        sign(key, message) == *signature
    }
}

pub(crate) fn sign(key: &PublicKey, message: &[u8]) -> SignatureBytes {
    let Digest(half) = Hasher::new(Domain("toy")).raw(&key.0).raw(message).finish();
    let mut bytes = [7; 64];
    bytes[..32].copy_from_slice(&half);
    SignatureBytes(bytes)
}

/// The key of an account.
pub(crate) fn key(account: u64) -> PublicKey {
    let mut bytes = [1; 32];
    bytes[8..16].copy_from_slice(&account.to_le_bytes());
    PublicKey(bytes)
}

/// Accounts 0..1000 are at home at v0, 1000..2000 at v1, and so on, beyond the committee if need be.
pub(crate) fn home(account: AccountId, _: &Committee) -> ValidatorId {
    ValidatorId((account.0 / 1000) as u16)
}

/// The key of a validator.
pub(crate) const fn validator_key(validator: u16) -> PublicKey {
    PublicKey([validator as u8 + 1; 32])
}

pub(crate) fn committee(stakes: &[u64]) -> Committee {
    let member = |(at, &stake): (usize, &u64)| Member { key: validator_key(at as u16), stake };
    Committee::new(EPOCH, stakes.iter().enumerate().map(member).collect(), &Toy).unwrap()
}

pub(crate) fn params(change: impl FnOnce(&mut RawParams)) -> Params {
    let mut raw = RawParams::recommended();
    change(&mut raw);
    Params::new(raw).unwrap()
}

pub(crate) fn config(committee: Committee, params: Params) -> LedgerConfig<Toy> {
    let admission = AuthorityKey { key: AUTHORITY, scheme: Toy };
    LedgerConfig::new(committee, params, Toy, &SEED, admission).with_home(HomeFn(home))
}

pub(crate) fn ledger(committee: Committee, params: Params) -> MigrationLedger<Toy> {
    MigrationLedger::new(config(committee, params))
}

/// The same under another look-up key.
pub(crate) fn ledger_keyed(committee: Committee, params: Params, lookup: KeyedHash) -> MigrationLedger<Toy> {
    let admission = AuthorityKey { key: AUTHORITY, scheme: Toy };
    let mut config = LedgerConfig::new(committee, params, Toy, &EpochSeed([5; 32]), admission).with_home(HomeFn(home));
    config.lookup = lookup;
    MigrationLedger::new(config)
}

pub(crate) fn admission(account: u64) -> Admission {
    let (account, key) = (AccountId(account), key(account));
    let unsigned = Admission { epoch: EPOCH, account, key, credential: SignatureBytes([0; 64]) };
    Admission { credential: sign(&AUTHORITY, &unsigned.signing_bytes()), ..unsigned }
}

pub(crate) fn request(account: u64, nonce: u64, named: u16) -> Request {
    let unsigned = Request {
        epoch: EPOCH,
        account: AccountId(account),
        nonce: Nonce(nonce),
        named: ValidatorId(named),
        operation: Digest([9; 32]),
        signature: SignatureBytes([0; 64]),
    };
    Request { signature: sign(&key(account), &unsigned.signing_bytes()), ..unsigned }
}

/// The owner's leave to relay.
pub(crate) fn relay_auth(request: &Request) -> RelayAuth {
    let unsigned = RelayAuth::unsigned(request);
    RelayAuth { signature: sign(&key(request.account.0), &unsigned.signing_bytes()), ..unsigned }
}

pub(crate) fn latency(account: u64, sequence: u64, entries: &[(u16, u32)]) -> Latency {
    let entry = |&(validator, latency_us): &(u16, u32)| LatencyEntry { validator: ValidatorId(validator), latency_us };
    let entries = entries.iter().map(entry).collect();
    let unsigned = Latency::new(EPOCH, AccountId(account), sequence, entries, SignatureBytes([0; 64])).unwrap();
    let signature = sign(&key(account), &unsigned.signing_bytes());
    unsigned.signed(signature)
}

pub(crate) fn decision_list(anchor: u64, moves: &[(u64, u16, u16)]) -> DecisionList {
    let decision = |&(account, from, to): &(u64, u16, u16)| Decision {
        account: AccountId(account),
        from: ValidatorId(from),
        to: ValidatorId(to),
    };
    DecisionList::new(EPOCH, Round(anchor), moves.iter().map(decision).collect(), 1 << 16).unwrap()
}

pub(crate) fn accept_list(anchor: u64, accounts: &[u64]) -> AcceptList {
    AcceptList::new(EPOCH, Round(anchor), accounts.iter().map(|&a| AccountId(a)).collect(), 1 << 16).unwrap()
}

/// ⟨account, from, to⟩ at `anchor`, in the worlds' epoch.
pub(crate) const fn statement(anchor: u64, account: u64, from: u16, to: u16) -> Statement {
    let (from, to) = (ValidatorId(from), ValidatorId(to));
    Statement { epoch: EPOCH, account: AccountId(account), from, to, anchor: Round(anchor) }
}

pub(crate) fn signed(statement: Statement, signer: u16) -> SignedDecision {
    let signature = sign(&validator_key(signer), &statement.signing_bytes());
    SignedDecision { statement, signer: ValidatorId(signer), signature }
}

/// The statement under the signatures of `signers`.
pub(crate) fn evidence(statement: Statement, signers: impl IntoIterator<Item = u16>) -> Evidence {
    let decisions = signers.into_iter().map(|signer| signed(statement, signer));
    let signatures = decisions.map(|decision| (decision.signer, decision.signature)).collect();
    Evidence::new(statement, QuorumSignatures::new(signatures))
}

pub(crate) fn acceptance(statement: Statement) -> Acceptance {
    Acceptance { statement, signature: sign(&validator_key(statement.to.0), &Acceptance::signing_bytes(&statement)) }
}

pub(crate) fn decline(statement: Statement) -> Decline {
    Decline { statement, signature: sign(&validator_key(statement.to.0), &Decline::signing_bytes(&statement)) }
}

/// One ledger and the next free place in its log.
pub(crate) struct World {
    pub(crate) ledger: MigrationLedger<Toy>,
    pub(crate) next: u64,
}

impl World {
    /// Equal stake, recommended parameters.
    pub(crate) fn new(validators: usize) -> Self {
        Self::with(&vec![1; validators], params(|_| {}))
    }

    pub(crate) fn with(stakes: &[u64], params: Params) -> Self {
        Self { ledger: ledger(committee(stakes), params), next: 0 }
    }

    /// A world at the same place of its log, with an empty ledger.
    pub(crate) fn at(other: &Self) -> Self {
        let (committee, params) = (other.ledger.committee().clone(), other.ledger.params().clone());
        Self { ledger: ledger(committee, params), next: other.next }
    }

    pub(crate) fn begin(&mut self, leader: u64) -> Outcome {
        self.ledger.begin(LeaderRound(leader))
    }

    /// Begins sub-DAGs and fails on any outcome but expiry-free ones.
    pub(crate) fn quiet(&mut self, leaders: impl IntoIterator<Item = u64>) {
        for leader in leaders {
            assert_eq!(self.begin(leader), Outcome::Begun { expired: 0, excluded: 0 }, "at {leader}");
        }
    }

    /// An object in a certificate of `author`, of the round before the leader's.
    pub(crate) fn put(&mut self, author: u16, object: Object<'_>) -> Outcome {
        let round = self.ledger.leader_round().0.saturating_sub(1);
        self.put_at(author, round, object)
    }

    pub(crate) fn put_at(&mut self, author: u16, round: u64, object: Object<'_>) -> Outcome {
        self.next += 1;
        let carrier = Carrier { author: ValidatorId(author), round: Round(round) };
        self.ledger.apply(LogIndex(self.next), carrier, object)
    }

    pub(crate) fn admit(&mut self, account: u64) -> Outcome {
        self.put(0, Object::Admission(&admission(account)))
    }

    pub(crate) fn header(&mut self, author: u16, head: u64) -> Outcome {
        self.put(author, Object::Header { commit_head: LeaderRound(head) })
    }

    pub(crate) fn capacity(&mut self, author: u16, capacity_utps: u64) -> Outcome {
        self.put(author, Object::Capacity(Capacity { epoch: EPOCH, capacity_utps }))
    }

    pub(crate) fn decide(&mut self, author: u16, anchor: u64, moves: &[(u64, u16, u16)]) -> Outcome {
        self.put(author, Object::Decisions(&decision_list(anchor, moves)))
    }

    pub(crate) fn accept(&mut self, author: u16, anchor: u64, accounts: &[u64]) -> Outcome {
        self.put(author, Object::Accepts(&accept_list(anchor, accounts)))
    }

    /// Evidence under signatures, carried by v0.
    pub(crate) fn prove(&mut self, statement: Statement, signers: impl IntoIterator<Item = u16>) -> Outcome {
        self.put(0, Object::Evidence(&evidence(statement, signers)))
    }

    /// The receiver's signed acceptance, carried by v0.
    pub(crate) fn take_over(&mut self, statement: Statement) -> Outcome {
        self.put(0, Object::Acceptance(&acceptance(statement)))
    }

    /// The receiver's signed refusal, carried by v0.
    pub(crate) fn refuse(&mut self, statement: Statement) -> Outcome {
        self.put(0, Object::Decline(&decline(statement)))
    }

    /// A request that names `named`, carried by a certificate of `author` of `round`.
    pub(crate) fn request(&mut self, author: u16, round: u64, account: u64, nonce: u64, named: u16) -> Outcome {
        self.put_at(author, round, Object::Request(&request(account, nonce, named)))
    }

    /// A fallback request that names `named`, carried by `relay`.
    pub(crate) fn relay(&mut self, relay: u16, account: u64, nonce: u64, named: u16) -> Outcome {
        let request = request(account, nonce, named);
        self.put(relay, Object::Relay { request: &request, auth: &relay_auth(&request) })
    }

    /// F(a, q, v) for v = A(a), in its order.
    pub(crate) fn relays(&self, account: u64, nonce: u64) -> Vec<u16> {
        let (assignee, _) = self.assigned(account);
        let rule = FallbackSet::new(&SEED, self.ledger.params());
        let (account, nonce) = (AccountId(account), Nonce(nonce));
        rule.members(self.ledger.committee(), account, nonce, ValidatorId(assignee)).iter().map(|u| u.0).collect()
    }

    /// The first `voters` validators decide to move the account.
    pub(crate) fn vote(&mut self, voters: u16, anchor: u64, account: u64, from: u16, to: u16) {
        for voter in 0..voters {
            assert_eq!(self.decide(voter, anchor, &[(account, from, to)]), counted(u32::from(voter + 1 == voters)));
        }
    }

    /// Moves the account at `anchor` among four, in force from leader round `anchor` + 2 on.
    pub(crate) fn migrate(&mut self, anchor: u64, account: u64, from: u16, to: u16) {
        self.quiet([anchor + 2]);
        self.vote(3, anchor, account, from, to);
        assert_eq!(self.accept(to, anchor, &[account]), activated(1));
    }

    /// (validator, anchor) of A(a).
    pub(crate) fn assigned(&self, account: u64) -> (u16, u64) {
        let Assignment { validator, anchor, .. } = self.ledger.assignment(AccountId(account)).unwrap();
        (validator.0, anchor.0)
    }

    pub(crate) fn excluded(&self, account: u64, validator: u16) -> bool {
        self.ledger.excluded(AccountId(account), ValidatorId(validator))
    }

    /// How much live evidence the account has.
    pub(crate) fn live(&self, account: u64) -> usize {
        self.ledger.evidence(AccountId(account)).count()
    }

    pub(crate) fn deltas(&mut self) -> Vec<AssignmentDelta> {
        self.ledger.drain_deltas().collect()
    }
}

/// One entry counted, with or without reaching the quorum.
pub(crate) fn counted(evidence: u32) -> Outcome {
    tallied(|tallied| (tallied.counted, tallied.evidence) = (1, evidence))
}

/// Entries ignored, none counted.
pub(crate) fn ignored(with: impl FnOnce(&mut Tallied)) -> Outcome {
    tallied(with)
}

/// What became of a decision list's entries.
pub(crate) fn tallied(with: impl FnOnce(&mut Tallied)) -> Outcome {
    let mut tallied = Tallied::default();
    with(&mut tallied);
    Outcome::Tallied(tallied)
}

pub(crate) fn activated(activated: u32) -> Outcome {
    accepted(|accepted| accepted.activated = activated)
}

/// What became of an accept list's entries.
pub(crate) fn accepted(with: impl FnOnce(&mut Accepted)) -> Outcome {
    let mut accepted = Accepted::default();
    with(&mut accepted);
    Outcome::Accepted(accepted)
}

/// An accept list that found nothing.
pub(crate) fn nothing_accepted(with: impl FnOnce(&mut Accepted)) -> Outcome {
    let mut accepted = Accepted::default();
    with(&mut accepted);
    Outcome::NoOp(Reason::NothingAccepted(accepted))
}

pub(crate) const fn no_op(reason: Reason) -> Outcome {
    Outcome::NoOp(reason)
}

/// The stakes of a committee of this world.
pub(crate) fn committee_of(committee: &Committee) -> Vec<u64> {
    committee.members().iter().map(|member| member.stake).collect()
}

/// The signatures of the first `signers` validators.
pub(crate) fn quorum_signatures(signers: u16, message: &[u8]) -> QuorumSignatures {
    let signature = |signer| (ValidatorId(signer), sign(&validator_key(signer), message));
    QuorumSignatures::new((0..signers).map(signature).collect())
}

/// Signatures that hold too little stake.
pub(crate) const fn too_little(stake: u64, quorum: u64) -> Outcome {
    no_op(Reason::NoQuorum(QuorumError::TooLittleStake { stake, quorum }))
}

/// A signature that is not this member's.
pub(crate) const fn bad_signer(validator: u16) -> Outcome {
    no_op(Reason::NoQuorum(QuorumError::BadSignature { validator: ValidatorId(validator) }))
}
