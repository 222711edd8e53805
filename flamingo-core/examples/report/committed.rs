//! The committed side: requests among many accounts, lists, memory, and evidence under signatures.

use std::error::Error;
use std::hint::black_box;

use allocation_counter::measure;
use ed25519_dalek::{Signer, SigningKey};
use flamingo_core::protocol::{
    Admission, AdmitAll, Carrier, Decision, DecisionList, Evidence, HomeRule, LedgerConfig, LogIndex, MigrationLedger,
    Object, QuorumSignatures, Request, Statement,
};
use flamingo_core::{
    AccountId, Committee, Digest, Ed25519, Epoch, EpochSeed, LeaderRound, Member, NoSignatures, Nonce, Params,
    PublicKey, RawParams, Round, SignatureBytes, ValidatorId,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Row, median, nanos, progress};

const EPOCH: Epoch = Epoch(1);
const VALIDATORS: u64 = 4;
const LIST: u64 = 50_000;
/// Requests timed together.
const PIECE: usize = 1_000;
type Ledger = MigrationLedger<NoSignatures>;

pub(crate) fn rows(quick: bool) -> Result<Vec<Row>, Box<dyn Error>> {
    let accounts: u64 = if quick { 20_000 } else { 1_000_000 };
    let mut rows = Vec::from(ledger_bytes(accounts)?);
    rows.extend(requests(accounts, if quick { 3 } else { 15 })?);
    rows.push(tally(if quick { 2 } else { 15 })?);
    for (name, validators) in [("evidence_verify_us/n4", 4), ("evidence_verify_us/n100", 100)] {
        rows.push(evidence(name, validators, if quick { 3 } else { 100 })?);
    }
    Ok(rows)
}

fn committee() -> Result<Committee, Box<dyn Error>> {
    let member = |at: u64| Member { key: PublicKey([at as u8; 32]), stake: 1 };
    Ok(Committee::new(EPOCH, (0..VALIDATORS).map(member).collect(), &NoSignatures)?)
}

/// Contiguous ranges of so many accounts in total.
#[derive(Debug)]
struct Ranges(u64);

impl HomeRule for Ranges {
    fn home(&self, account: AccountId, _: &Committee) -> ValidatorId {
        ValidatorId((account.0 * VALIDATORS / self.0) as u16)
    }
}

/// An empty ledger whose accounts start in `accounts / VALIDATORS` wide ranges.
fn empty(accounts: u64) -> Result<Ledger, Box<dyn Error>> {
    let params = Params::new(RawParams::recommended())?;
    let config = LedgerConfig::new(committee()?, params, NoSignatures, &EpochSeed([1; 32]), AdmitAll);
    let mut ledger = MigrationLedger::new(config.with_home(Ranges(accounts)));
    let _ = ledger.begin(LeaderRound(2));
    Ok(ledger)
}

fn put(ledger: &mut Ledger, author: u16, object: Object<'_>) -> bool {
    let at = LogIndex(ledger.last_index().map_or(0, |last| last.0 + 1));
    let round = Round(ledger.leader_round().0 - 1);
    ledger.apply(at, Carrier { author: ValidatorId(author), round }, object).is_effective()
}

fn admit(ledger: &mut Ledger, accounts: u64) -> bool {
    (0..accounts).all(|account| {
        let (account, key) = (AccountId(account), PublicKey([1; 32]));
        let admission = Admission { epoch: EPOCH, account, key, credential: SignatureBytes([0; 64]) };
        let done = put(ledger, 0, Object::Admission(&admission));
        ledger.drain_deltas().for_each(drop);
        done
    })
}

/// What the allocator holds for a ledger with so many accounts, per account, without latencies: with the clients' keys,
/// and less what a vector of as many keys holds.
fn ledger_bytes(accounts: u64) -> Result<[Row; 2], Box<dyn Error>> {
    progress("ledger_bytes_per_account");
    let mut ledger = empty(accounts)?;
    let mut admitted = false;
    let held = measure(|| admitted = admit(&mut ledger, accounts)).bytes_current;
    if !admitted {
        return Err("an account was not admitted".into());
    }
    let mut keys = Vec::new();
    let of_keys = measure(|| (0..accounts).for_each(|_| keys.push(PublicKey([1; 32])))).bytes_current;
    let row = |name, bytes: i64, goal, what: &str| {
        let source = format!("allocator; {accounts} accounts in admission order, {what}, no latencies");
        Row { name, value: bytes as f64 / accounts as f64, unit: "B/account", goal: Some(goal), source }
    };
    Ok([
        row("ledger_bytes_per_account", held, 112.0, "with keys"),
        row("ledger_bytes_per_account/no_key", held - of_keys, 48.0, "without keys: one cache line a row"),
    ])
}

/// Requests of uniformly drawn accounts, and the price of one dependent row of the same size in the same run.
fn requests(accounts: u64, rounds: u64) -> Result<Vec<Row>, Box<dyn Error>> {
    progress("ledger_apply_ns/request");
    let mut ledger = empty(accounts)?;
    if !admit(&mut ledger, accounts) {
        return Err("an account was not admitted".into());
    }
    let floor_rows: Vec<[u64; 8]> = (0..accounts).map(|at| [at; 8]).collect();
    let per_round = 200_000;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut nonces = vec![0; accounts as usize];
    let (mut times, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let mut draw = || {
            let account = random.random_range(0..accounts);
            let nonce = &mut nonces[account as usize];
            *nonce += 1;
            Request {
                epoch: EPOCH,
                account: AccountId(account),
                nonce: Nonce(*nonce),
                named: ValidatorId((account * VALIDATORS / accounts) as u16),
                operation: Digest([7; 32]),
                signature: SignatureBytes([0; 64]),
            }
        };
        let requests: Vec<_> = (0..per_round).map(|_| draw()).collect();
        // In small pieces, most of which nobody else on the machine interrupts.
        for piece in requests.chunks(PIECE) {
            let (time, all) =
                nanos(|| piece.iter().all(|request| put(&mut ledger, request.named.0, Object::Request(request))));
            if !all {
                return Err("a request did not take effect".into());
            }
            times.push(time / piece.len() as f64);
        }
        // The next place depends on the last row, so that no two look-ups overlap.
        let places: Vec<_> = requests.iter().map(|request| request.account.0 as usize).collect();
        for piece in places.chunks(PIECE) {
            let (time, sum) = nanos(|| {
                let next =
                    |sum: u64, &place: &usize| sum.wrapping_add(floor_rows[place ^ (sum & 1) as usize & place][3]);
                piece.iter().fold(0, next)
            });
            black_box(sum);
            floors.push(time / piece.len() as f64);
        }
    }
    let source = format!("Flamingo §4.3; {accounts} accounts, uniform, without signature, seed 1");
    Ok(vec![
        Row { name: "ledger_apply_ns/request", value: median(times), unit: "ns", goal: Some(200.0), source },
        Row {
            name: "dependent_row_ns",
            value: median(floors),
            unit: "ns",
            goal: None,
            source: "the same accounts: one dependent 64-byte row each, the floor of the row above".to_owned(),
        },
    ])
}

/// Lists of all members for one anchor: new statements, their second votes, and the quorum, per entry.
fn tally(rounds: u64) -> Result<Row, Box<dyn Error>> {
    progress("tally_ns/entry");
    let decision = |account| Decision { account: AccountId(account), from: ValidatorId(0), to: ValidatorId(1) };
    let entries = |anchor| DecisionList::new(EPOCH, Round(anchor), (0..LIST).map(decision).collect(), 1 << 16);
    let mut ledger = empty(LIST * VALIDATORS)?;
    if !admit(&mut ledger, LIST) {
        return Err("an account was not admitted".into());
    }
    let mut times = Vec::new();
    for round in 1..=rounds {
        let list = entries(round * 60)?;
        let _ = ledger.begin(LeaderRound(round * 60 + 2));
        // Two of the three lists that a quorum takes: what becomes evidence costs more, once per migration.
        for author in 0..2 {
            let (time, counted) = nanos(|| put(&mut ledger, author, Object::Decisions(&list)));
            if !counted {
                return Err("a list did not count".into());
            }
            times.push(time / LIST as f64);
        }
        ledger.drain_deltas().for_each(drop);
    }
    let source = format!("lists of {LIST} entries, first and second vote of each statement");
    Ok(Row { name: "tally_ns/entry", value: median(times), unit: "ns", goal: Some(60.0), source })
}

/// A quorum's signatures on one statement, checked one by one.
fn evidence(name: &'static str, validators: u16, rounds: u32) -> Result<Row, Box<dyn Error>> {
    progress(name);
    let keys: Vec<_> = (0..validators).map(|at| SigningKey::from_bytes(&[at as u8 + 1; 32])).collect();
    let member = |key: &SigningKey| Member { key: PublicKey(key.verifying_key().to_bytes()), stake: 1 };
    let committee = Committee::new(EPOCH, keys.iter().map(member).collect(), &Ed25519)?;
    let statement =
        Statement { epoch: EPOCH, account: AccountId(7), from: ValidatorId(0), to: ValidatorId(1), anchor: Round(60) };
    let quorum = committee.quorum() as usize;
    let sign = |key: &SigningKey| SignatureBytes(key.sign(&statement.signing_bytes()).to_bytes());
    let signatures = keys.iter().zip(0..).take(quorum).map(|(key, at)| (ValidatorId(at), sign(key))).collect();
    let evidence = Evidence::new(statement, QuorumSignatures::new(signatures));
    let mut times = Vec::new();
    for _ in 0..rounds {
        let (time, verified) = nanos(|| evidence.verify(&committee, &Ed25519).is_ok());
        if !verified {
            return Err("evidence did not verify".into());
        }
        times.push(time / 1000.0);
    }
    let source = format!("Flamingo §4.3 (2); ed25519, {quorum} signatures one by one");
    Ok(Row { name, value: median(times), unit: "us", goal: None, source })
}
