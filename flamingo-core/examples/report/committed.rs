//! The committed side: requests among many accounts, lists, memory, and evidence under signatures.

use std::error::Error;
use std::hint::black_box;

use allocation_counter::measure;
use ed25519_dalek::{Signer, SigningKey};
use flamingo_core::protocol::{
    AcceptList, Admission, AdmitAll, Carrier, Decision, DecisionList, Evidence, HomeRule, LedgerConfig, LogIndex,
    MigrationLedger, Object, QuorumSignatures, Request, Statement,
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

/// Contiguous ranges of so many accounts in total; ids beyond begin anew.
#[derive(Debug)]
struct Ranges(u64);

impl HomeRule for Ranges {
    fn home(&self, account: AccountId, _: &Committee) -> ValidatorId {
        ValidatorId((account.0 % self.0 * VALIDATORS / self.0) as u16)
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
    admit_as(ledger, accounts, AccountId)
}

fn admit_as(ledger: &mut Ledger, accounts: u64, id: impl Fn(u64) -> AccountId) -> bool {
    (0..accounts).all(|account| {
        let (account, key) = (id(account), PublicKey([1; 32]));
        let admission = Admission { epoch: EPOCH, account, key, credential: SignatureBytes([0; 64]) };
        let done = put(ledger, 0, Object::Admission(&admission));
        ledger.drain_deltas().for_each(drop);
        done
    })
}

/// What the allocator holds for a ledger with so many accounts, per account, without latencies. "Without keys" takes off
/// the 32 bytes of each key and nothing else: room to grow, of the keys too, is counted.
fn ledger_bytes(accounts: u64) -> Result<[Row; 4], Box<dyn Error>> {
    progress("ledger_bytes_per_account");
    let held = |id: fn(u64) -> AccountId, moving: bool| {
        let mut ledger = empty(accounts)?;
        let (mut admitted, mut done) = (false, Ok(()));
        let info = measure(|| {
            admitted = admit_as(&mut ledger, accounts, id);
            if moving {
                done = move_all(&mut ledger, accounts);
            }
        });
        if !admitted {
            return Err("an account was not admitted".into());
        }
        done.map(|()| info.bytes_current as f64 / accounts as f64)
    };
    let row = |name, value, goal, what: &str| {
        let source = format!("allocator; {accounts} accounts, {what}, no latencies");
        Row { name, value, unit: "B/account", goal, source }
    };
    let (dense, scattered) = (held(AccountId, false)?, held(scattered, false)?);
    let moved = held(AccountId, true)?;
    let all_moved = format!("the same after all have moved, and the room that lists of {LIST} leave behind");
    Ok([
        row("ledger_bytes_per_account", scattered, Some(112.0), "scattered ids, with keys"),
        row("ledger_bytes_per_account/no_key", scattered - 32.0, Some(48.0), "scattered ids, without keys"),
        row("ledger_bytes_per_account/no_key_dense", dense - 32.0, Some(48.0), "ids in admission order, without keys"),
        row("ledger_bytes_per_account/no_key_moved", moved - 32.0, None, &all_moved),
    ])
}

/// Ids as hosts have them that do not intern: all over 64 bits.
fn scattered(account: u64) -> AccountId {
    AccountId(account.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Moves every account to the validator behind its own, as many per anchor as a list holds.
fn move_all(ledger: &mut Ledger, accounts: u64) -> Result<(), Box<dyn Error>> {
    let ends = |account: u64| {
        let from = account * VALIDATORS / accounts;
        (ValidatorId(from as u16), ValidatorId(((from + 1) % VALIDATORS) as u16))
    };
    for (first, anchor) in (0..accounts).step_by(LIST as usize).zip((60..).step_by(60)) {
        let moving = first..accounts.min(first + LIST);
        let decision = |account| {
            let (from, to) = ends(account);
            Decision { account: AccountId(account), from, to }
        };
        let list = DecisionList::new(EPOCH, Round(anchor), moving.clone().map(decision).collect(), 1 << 16)?;
        let _ = ledger.begin(LeaderRound(anchor + 2));
        let decided = (0..3).all(|author| put(ledger, author, Object::Decisions(&list)));
        let mut accepted = 0;
        for author in 0..VALIDATORS as u16 {
            let own = moving.clone().filter(|&account| ends(account).1 == ValidatorId(author));
            let list = AcceptList::new(EPOCH, Round(anchor), own.map(AccountId).collect(), 1 << 16)?;
            if !list.accounts().is_empty() && put(ledger, author, Object::Accepts(&list)) {
                accepted += list.accounts().len() as u64;
            }
        }
        ledger.drain_deltas().for_each(drop);
        if !decided || accepted != moving.end - moving.start {
            return Err("an account did not move".into());
        }
    }
    // What has settled is forgotten.
    let _ = ledger.begin(LeaderRound(ledger.leader_round().0 + 60));
    ledger.drain_deltas().for_each(drop);
    Ok(())
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
