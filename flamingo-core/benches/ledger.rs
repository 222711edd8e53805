//! What a committed object costs: requests among a million accounts, lists, and the root digest.

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use core::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use flamingo_core::protocol::{
    AcceptList, Admission, AdmissionTable, AdmitAll, Carrier, Decision, DecisionList, HomeFn, LedgerConfig, LogIndex,
    MigrationLedger, Object, Request,
};
use flamingo_core::rank::KeyedHash;
use flamingo_core::{
    AccountId, Committee, Digest, Epoch, EpochSeed, LeaderRound, Member, NoSignatures, Nonce, Params, PublicKey,
    RawParams, Round, SignatureBytes, SignatureScheme, ValidatorId,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ACCOUNTS: u64 = 1_000_000;
const VALIDATORS: u64 = 4;
const LIST: u64 = 50_000;

struct Log<S> {
    ledger: MigrationLedger<S>,
    next: u64,
}

impl<S: SignatureScheme> Log<S> {
    /// A ledger with this many accounts in contiguous ranges.
    fn new(accounts: u64, scheme: S) -> Self {
        let member = |at: u64| Member { key: PublicKey([at as u8; 32]), stake: 1 };
        let committee = Committee::new(Epoch(1), (0..VALIDATORS).map(member).collect(), &NoSignatures).unwrap();
        let params = Params::new(RawParams::recommended()).unwrap();
        let config = LedgerConfig::new(committee, params, scheme, &EpochSeed([1; 32]), AdmitAll);
        let home = HomeFn(|account, _| ValidatorId((account.0 * VALIDATORS / ACCOUNTS) as u16));
        let mut log = Self { ledger: MigrationLedger::new(config.with_home(home)), next: 0 };
        log.begin(2);
        for account in (0..accounts).map(AccountId) {
            let key = PublicKey([1; 32]);
            let admission = Admission { epoch: Epoch(1), account, key, credential: SignatureBytes([0; 64]) };
            log.put(0, Object::Admission(&admission));
        }
        log.ledger.drain_deltas().for_each(drop);
        log
    }

    fn begin(&mut self, leader: u64) {
        assert!(self.ledger.begin(LeaderRound(leader)).is_effective());
    }

    fn put(&mut self, author: u16, object: Object<'_>) -> bool {
        self.next += 1;
        let carrier = Carrier { author: ValidatorId(author), round: self.round() };
        self.ledger.apply(LogIndex(self.next), carrier, object).is_effective()
    }

    fn round(&self) -> Round {
        Round(self.ledger.leader_round().0 - 1)
    }
}

/// Requests of uniformly drawn accounts, each nonce new for its account.
fn requests(count: usize) -> Vec<Request> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut nonces = vec![0; ACCOUNTS as usize];
    let mut draw = || {
        let account = random.random_range(0..ACCOUNTS);
        let nonce = &mut nonces[account as usize];
        *nonce += 1;
        Request {
            epoch: Epoch(1),
            account: AccountId(account),
            nonce: Nonce(*nonce),
            named: ValidatorId((account * VALIDATORS / ACCOUNTS) as u16),
            operation: Digest([7; 32]),
            signature: SignatureBytes([0; 64]),
        }
    };
    (0..count).map(|_| draw()).collect()
}

fn request(c: &mut Criterion) {
    let requests = requests(2_000_000);
    let mut log = Log::new(ACCOUNTS, NoSignatures);
    let (mut at, mut shift) = (0, 0);
    let mut group = c.benchmark_group("request among 10^6 accounts");
    group.throughput(Throughput::Elements(1));
    group.bench_function("ledger, unsigned", |b| {
        b.iter(|| {
            let mut request = requests[at];
            request.nonce.0 += shift;
            assert!(log.put(request.named.0, Object::Request(&request)));
            at += 1;
            if at == requests.len() {
                (at, shift) = (0, shift + 100);
            }
        });
    });

    let rows: Vec<[u64; 8]> = (0..ACCOUNTS).map(|at| [at; 8]).collect();
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let places: Vec<u32> = (0..2_000_000).map(|_| random.random_range(0..ACCOUNTS as u32)).collect();
    let (mut place, mut sum) = (0, 0u64);
    group.bench_function("floor: one dependent row of 64 bytes", |b| {
        b.iter(|| {
            // The next place depends on the last row, so that no two look-ups overlap.
            sum = sum.wrapping_add(rows[(places[place] ^ (sum & 1) as u32) as usize][3]);
            place = (place + 1) % places.len();
            black_box(sum)
        });
    });

    let lookup = KeyedHash::new(&EpochSeed([1; 32]), flamingo_core::hash::Domain("bench"));
    let mut table = AdmissionTable::new(ValidatorId(0), Epoch(1), log.ledger.params(), NoSignatures, lookup);
    let mut source = Log::new(0, NoSignatures);
    for account in (0..ACCOUNTS).map(AccountId) {
        let key = PublicKey([1; 32]);
        let admission = Admission { epoch: Epoch(1), account, key, credential: SignatureBytes([0; 64]) };
        assert!(source.put(0, Object::Admission(&admission)));
    }
    for delta in source.ledger.drain_deltas() {
        let _ = table.apply(&delta);
    }
    at = 0;
    group.bench_function("admission table, unsigned", |b| {
        b.iter(|| {
            let _ = black_box(table.admit(&requests[at]));
            at = (at + 1) % requests.len();
        });
    });
    group.finish();
}

fn lists(c: &mut Criterion) {
    let decision = |account| Decision { account: AccountId(account), from: ValidatorId(0), to: ValidatorId(1) };
    let list = DecisionList::new(Epoch(1), Round(60), (0..LIST).map(decision).collect(), 1 << 16).unwrap();
    let accept = AcceptList::new(Epoch(1), Round(60), (0..LIST).map(AccountId).collect(), 1 << 16).unwrap();
    let mut group = c.benchmark_group("lists of 50,000 entries");
    group.sample_size(10).throughput(Throughput::Elements(LIST));
    let after = |lists: u16| {
        let mut log = Log::new(LIST, NoSignatures);
        log.begin(62);
        for author in 0..lists {
            assert!(log.put(author, Object::Decisions(&list)));
        }
        log
    };
    for (name, lists) in [("first decision list", 0), ("second decision list", 1), ("the list that makes evidence", 2)]
    {
        group.bench_function(name, |b| {
            b.iter_batched_ref(
                || after(lists),
                |log| log.put(lists, Object::Decisions(&list)),
                BatchSize::PerIteration,
            );
        });
    }
    group.bench_function("accept list", |b| {
        b.iter_batched_ref(|| after(3), |log| log.put(1, Object::Accepts(&accept)), BatchSize::PerIteration);
    });
    group.finish();
}

fn digest(c: &mut Criterion) {
    let log = Log::new(ACCOUNTS, NoSignatures);
    let mut group = c.benchmark_group("root digest");
    group.sample_size(10).throughput(Throughput::Elements(ACCOUNTS));
    group.bench_function("10^6 accounts", |b| b.iter(|| log.ledger.digest()));
    group.bench_function("10^6 accounts, with proofs at hand", |b| b.iter(|| log.ledger.checkpoint().root()));
    group.bench_function("10^6 accounts, snapshot", |b| b.iter(|| log.ledger.snapshot()));
    group.finish();
    let checkpoint = log.ledger.checkpoint();
    c.bench_function("one credential among 10^6 accounts, made and checked", |b| {
        b.iter(|| checkpoint.credential(AccountId(black_box(77_777))).unwrap().is_under(&checkpoint.root()));
    });
}

criterion_group!(benches, request, lists, digest);
criterion_main!(benches);
