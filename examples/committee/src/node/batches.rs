//! The batches a node stores, from the moment they arrive until they are applied.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use flamingo_core::{Digest, Round};

use super::message::{Batch, Header, Vertex};

/// Batches by digest. A batch belongs to one header: a second header that lists it is refused, so that no
/// transaction is counted or ordered twice by way of its batch.
#[derive(Debug, Default)]
pub struct BatchStore {
    batches: BTreeMap<Digest, Stored>,
}

#[derive(Debug)]
struct Stored {
    batch: Rc<Batch>,
    claimed_by: Option<Vertex>,
}

/// What a voter finds when it looks up a header's payload.
#[derive(Debug, PartialEq, Eq)]
pub enum Payload {
    Complete,
    Missing(Digest),
    /// A batch of another author, of another header, or listed twice.
    Foreign(Digest),
}

impl BatchStore {
    pub fn insert(&mut self, batch: Rc<Batch>) {
        self.batches.entry(batch.digest).or_insert(Stored { batch, claimed_by: None });
    }

    pub fn contains(&self, digest: &Digest) -> bool {
        self.batches.contains_key(digest)
    }

    pub fn get(&self, digest: &Digest) -> Option<&Batch> {
        self.batches.get(digest).map(|stored| &*stored.batch)
    }

    /// Removes a batch that is being applied.
    pub fn take(&mut self, digest: &Digest) -> Option<Rc<Batch>> {
        self.batches.remove(digest).map(|stored| stored.batch)
    }

    /// Claims the payload of a header for it. A claim below `floor` has lapsed: that header is not ordered any more.
    pub fn claim(&mut self, header: &Header, floor: Round) -> Payload {
        let mut listed = BTreeSet::new();
        for digest in &header.body.payload {
            match self.batches.get(digest) {
                None => return Payload::Missing(*digest),
                Some(stored) => {
                    let claim = stored.claimed_by.filter(|vertex| vertex.round >= floor);
                    let other = claim.is_some_and(|vertex| vertex != header.vertex()) || !listed.insert(digest);
                    if other || stored.batch.author != header.author {
                        return Payload::Foreign(*digest);
                    }
                }
            }
        }
        for digest in &header.body.payload {
            if let Some(stored) = self.batches.get_mut(digest) {
                stored.claimed_by = Some(header.vertex());
            }
        }
        Payload::Complete
    }
}

#[cfg(test)]
mod tests {
    use flamingo_core::signal::LoadFieldsBuilder;
    use flamingo_core::{LeaderRound, Params, RawParams, ValidatorId};

    use super::super::message::{Contents, HeaderBody};
    use super::*;

    fn header(author: u16, round: u64, payload: Vec<Digest>) -> Header {
        let (author, params) = (ValidatorId(author), Params::new(RawParams::paper()).unwrap());
        let load = LoadFieldsBuilder::new().finish(author, Round(round), 0, LeaderRound(0), &params);
        let body = HeaderBody {
            parents: vec![],
            payload,
            load,
            capacity: None,
            decisions: None,
            acceptances: None,
            declines: vec![],
            epoch_over: None,
            epoch_end: None,
        };
        Header::new(author, Round(round), body)
    }

    /// A batch counts once: not twice in one header, not in two, not in another author's; a header that nothing will
    /// order any more gives it back.
    #[test]
    fn a_batch_counts_once() {
        let mut store = BatchStore::default();
        let batch = Rc::new(Batch::new(ValidatorId(1), 0, Contents::default()));
        let digest = batch.digest;
        let floor = Round(0);
        assert_eq!(store.claim(&header(1, 5, vec![digest]), floor), Payload::Missing(digest));
        store.insert(batch);
        assert_eq!(store.claim(&header(1, 5, vec![digest, digest]), floor), Payload::Foreign(digest));
        assert_eq!(store.claim(&header(2, 5, vec![digest]), floor), Payload::Foreign(digest));
        assert_eq!(store.claim(&header(1, 5, vec![digest]), floor), Payload::Complete);
        assert_eq!(store.claim(&header(1, 5, vec![digest]), floor), Payload::Complete, "asked again");
        assert_eq!(store.claim(&header(1, 6, vec![digest]), floor), Payload::Foreign(digest));
        assert_eq!(store.claim(&header(1, 6, vec![digest]), Round(6)), Payload::Complete);
    }
}
