//! What nodes send each other, and what each message weighs on the wire.
//!
//! Payloads are shared in memory (`Rc`) and charged by their real encoded size; the constants below are the
//! framing around them.

use std::rc::Rc;

use flamingo_core::hash::{Domain, Hasher};
use flamingo_core::protocol::{AcceptList, Capacity, DecisionList, Decline, EpochEnd, Latency, RelayAuth, Request};
use flamingo_core::signal::LoadFields;
use flamingo_core::{Digest, Epoch, Round, SignatureBytes, ValidatorId};

use super::smallbank::Operation;
use crate::sim::net::Micros;

/// A transaction with its frames on the wire: 512 bytes of payload and 72 of framing.
pub const TRANSACTION_WIRE_BYTES: u64 = 584;
/// The padded size of a transaction: what a batch is cut by.
pub const TRANSACTION_BYTES: u64 = 512;

const SIGNATURE_BYTES: u64 = 64;
const DIGEST_BYTES: u64 = 32;
/// Author, round, epoch, lengths and transport framing of a small message.
const FRAME_BYTES: u64 = 64;

/// The lane a message leaves by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    Primary,
    Worker,
}

/// A place in the DAG. One author certifies at most one header a round, so the place names the certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Vertex {
    pub round: Round,
    pub author: ValidatorId,
}

/// A client's request with the operation it asks for.
#[derive(Clone, Debug)]
pub struct Transaction {
    pub request: Request,
    pub operation: Operation,
    /// When the client made it: latency counts from here, however often it is sent again.
    pub submitted: Micros,
}

/// A copy of a request that its assignee left unanswered, with the client's leave to relay it.
#[derive(Clone, Debug)]
pub struct RelayCopy {
    pub transaction: Transaction,
    pub auth: RelayAuth,
}

/// What goes into a batch.
#[derive(Debug, Default)]
pub struct Contents {
    pub transactions: Vec<Transaction>,
    pub relayed: Vec<RelayCopy>,
    pub latencies: Vec<Latency>,
}

impl Contents {
    pub fn is_empty(&self) -> bool {
        self.requests() == 0 && self.latencies.is_empty()
    }

    /// How many requests there are, copies included.
    pub fn requests(&self) -> usize {
        self.transactions.len() + self.relayed.len()
    }
}

/// What one worker broadcasts at a time.
#[derive(Debug)]
pub struct Batch {
    pub author: ValidatorId,
    pub digest: Digest,
    pub contents: Contents,
    /// The encoded size of leaves and latency records.
    record_bytes: u64,
}

impl Batch {
    /// `sequence` numbers the author's batches; with it no two batches have one digest.
    pub fn new(author: ValidatorId, sequence: u64, contents: Contents) -> Self {
        let Contents { transactions, relayed, latencies } = &contents;
        let mut hasher = Hasher::new(Domain("committee/batch"));
        hasher.u16(author.0).u64(sequence).u64(transactions.len() as u64);
        let hash_request = |hasher: &mut Hasher, request: &Request| {
            hasher.u64(request.account.0).u64(request.nonce.0).u16(request.named.0);
            hasher.digest(&request.operation).raw(request.signature.as_bytes());
        };
        transactions.iter().for_each(|transaction| hash_request(&mut hasher, &transaction.request));
        let mut record_bytes = 0;
        hasher.u64(relayed.len() as u64);
        for RelayCopy { transaction, auth } in relayed {
            hash_request(&mut hasher, &transaction.request);
            let bytes = encoded(|out| auth.encode(out));
            record_bytes += bytes.len() as u64;
            hasher.bytes(&bytes);
        }
        hasher.u64(latencies.len() as u64);
        for record in latencies {
            let bytes = encoded(|out| record.encode(out));
            record_bytes += bytes.len() as u64;
            hasher.bytes(&bytes);
        }
        let digest = hasher.finish();
        Self { author, digest, contents, record_bytes }
    }

    fn wire_bytes(&self) -> u64 {
        FRAME_BYTES + self.contents.requests() as u64 * TRANSACTION_WIRE_BYTES + self.record_bytes
    }
}

/// A proposal with its digest.
#[derive(Debug)]
pub struct Header {
    pub author: ValidatorId,
    pub round: Round,
    pub digest: Digest,
    pub body: HeaderBody,
    /// The encoded size of the body's capacity and lists.
    record_bytes: usize,
}

/// What a header says: payload digests, parents, and what Flamingo adds.
#[derive(Debug)]
pub struct HeaderBody {
    pub parents: Vec<Vertex>,
    pub payload: Vec<Digest>,
    pub load: LoadFields,
    pub capacity: Option<Capacity>,
    pub decisions: Option<DecisionList>,
    pub acceptances: Option<AcceptList>,
    pub declines: Vec<Decline>,
    /// The author's clock has passed the end of this epoch.
    pub epoch_over: Option<Epoch>,
    pub epoch_end: Option<Rc<EpochEnd>>,
}

impl Header {
    pub fn new(author: ValidatorId, round: Round, body: HeaderBody) -> Self {
        let HeaderBody { parents, payload, load, capacity, decisions, acceptances, declines, epoch_over, epoch_end } =
            &body;
        let mut hasher = Hasher::new(Domain("committee/header"));
        hasher.u16(author.0).u64(round.0).u64(parents.len() as u64);
        for parent in parents {
            hasher.u64(parent.round.0).u16(parent.author.0);
        }
        hasher.u64(payload.len() as u64);
        for digest in payload {
            hasher.digest(digest);
        }
        load.hash_into(|bytes| {
            hasher.raw(bytes);
        });
        let records = [
            capacity.map(|capacity| encoded(|out| capacity.encode(out))),
            decisions.as_ref().map(|list| encoded(|out| list.encode(out))),
            acceptances.as_ref().map(|list| encoded(|out| list.encode(out))),
            epoch_over.map(|epoch| epoch.0.to_le_bytes().to_vec()),
            epoch_end.as_ref().map(|end| encoded(|out| end.encode(out))),
        ];
        for record in &records {
            hasher.u16(u16::from(record.is_some()));
            record.iter().for_each(|bytes| {
                hasher.bytes(bytes);
            });
        }
        hasher.u64(declines.len() as u64);
        for decline in declines {
            hasher.bytes(&encoded(|out| decline.encode(out)));
        }
        let records: usize = records.iter().flatten().map(Vec::len).sum();
        let record_bytes = records + declines.len() * Decline::ENCODED_LEN;
        let digest = hasher.finish();
        Self { author, round, digest, body, record_bytes }
    }

    pub fn vertex(&self) -> Vertex {
        Vertex { round: self.round, author: self.author }
    }

    fn wire_bytes(&self) -> u64 {
        let parents = self.body.parents.len() as u64 * (DIGEST_BYTES + 4);
        let payload = self.body.payload.len() as u64 * (DIGEST_BYTES + 4);
        FRAME_BYTES
            + SIGNATURE_BYTES
            + parents
            + payload
            + self.body.load.encoded_len() as u64
            + self.record_bytes as u64
    }
}

fn encoded(encode: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(&mut bytes);
    bytes
}

/// A header with the votes of a quorum. It travels without the header, which went to everyone before it.
#[derive(Debug)]
pub struct Certificate {
    pub header: Rc<Header>,
    pub voters: Vec<ValidatorId>,
}

impl Certificate {
    pub fn vertex(&self) -> Vertex {
        self.header.vertex()
    }

    fn wire_bytes(&self) -> u64 {
        FRAME_BYTES + DIGEST_BYTES + self.voters.len() as u64 * (SIGNATURE_BYTES + 2)
    }
}

/// Everything that crosses the network between nodes.
#[derive(Clone, Debug)]
pub enum Message {
    Batch(Rc<Batch>),
    /// The receiver stores the batch. Leaves by the primary's lane: on the worker's it would wait behind batches.
    BatchAck(Digest),
    Header(Rc<Header>),
    Vote {
        header: Digest,
    },
    Certificate(Rc<Certificate>),
    /// The sender's signature under the end of its epoch.
    EndShare {
        content: EpochEnd,
        signature: SignatureBytes,
    },
}

impl Message {
    pub fn lane(&self) -> Lane {
        match self {
            Self::Batch(_) => Lane::Worker,
            _ => Lane::Primary,
        }
    }

    pub fn wire_bytes(&self) -> u64 {
        match self {
            Self::Batch(batch) => batch.wire_bytes(),
            Self::BatchAck(_) => FRAME_BYTES + DIGEST_BYTES,
            Self::Header(header) => header.wire_bytes(),
            Self::Vote { .. } => FRAME_BYTES + DIGEST_BYTES + SIGNATURE_BYTES,
            Self::Certificate(certificate) => certificate.wire_bytes(),
            Self::EndShare { content, .. } => {
                FRAME_BYTES + SIGNATURE_BYTES + encoded(|out| content.encode(out)).len() as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flamingo_core::{AccountId, Epoch, Nonce, SignatureBytes};

    use super::*;

    /// A relayed copy weighs a transaction and its leave; with another leave the batch is another one.
    #[test]
    fn copies_are_charged_and_hashed() {
        let request = Request {
            epoch: Epoch(1),
            account: AccountId(7),
            nonce: Nonce(3),
            named: ValidatorId(2),
            operation: Operation::Balance.digest(),
            signature: SignatureBytes([0; 64]),
        };
        let transaction = Transaction { request, operation: Operation::Balance, submitted: 0 };
        let batch = |signature: Option<u8>| {
            let copy = signature.map(|byte| {
                let auth = RelayAuth { signature: SignatureBytes([byte; 64]), ..RelayAuth::unsigned(&request) };
                RelayCopy { transaction: transaction.clone(), auth }
            });
            let relayed = copy.into_iter().collect();
            Batch::new(ValidatorId(0), 0, Contents { relayed, ..Contents::default() })
        };
        let (empty, one, other) = (batch(None), batch(Some(1)), batch(Some(2)));
        assert_eq!(one.wire_bytes() - empty.wire_bytes(), TRANSACTION_WIRE_BYTES + RelayAuth::ENCODED_LEN as u64);
        assert!(one.digest != other.digest && one.digest != empty.digest);
    }
}
