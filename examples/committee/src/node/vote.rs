//! What a voter checks before it votes: the payload is here and belongs to the header, the parents are sound, and the
//! account counts are those of the batches.

use flamingo_core::Round;
use flamingo_core::signal::verify_counts;

use super::batches::Payload;
use super::message::{Header, Message};
use super::{Node, Output};

impl Node {
    /// Votes for every header whose payload and parents are here and whose counts are right.
    pub(super) fn check_headers(&mut self, outputs: &mut Vec<Output>) {
        for header in std::mem::take(&mut self.unchecked) {
            match self.check(&header) {
                Check::Vote => {
                    let message = Message::Vote { header: header.digest };
                    outputs.push(Output::Send { to: header.author, message });
                }
                Check::Later => self.unchecked.push(header),
                Check::Refuse => {}
            }
        }
    }

    fn check(&mut self, header: &Header) -> Check {
        let floor = self.consensus.floor();
        let passed = header.round < floor || self.primary.dag().get(header.vertex()).is_some();
        if passed || !self.has_sound_parents(header) {
            return Check::Refuse;
        }
        if self.primary.dag().missing_parent(&header.body.parents).is_some() {
            return Check::Later;
        }
        match self.batches.claim(header, floor) {
            Payload::Missing(_) => return Check::Later,
            Payload::Foreign(_) => return Check::Refuse,
            Payload::Complete => {}
        }
        let batches = || header.body.payload.iter().filter_map(|digest| self.batches.get(digest));
        // A relayed copy counts for nobody: it names another than the author.
        let requests = batches().flat_map(|batch| &batch.contents.transactions).map(|transaction| &transaction.request);
        let counted = requests.filter(|request| request.named == header.author && self.shared.is_signed(request));
        let accounts = counted.map(|request| request.account);
        let all = batches().map(|batch| batch.contents.requests() as u64).sum();
        let Header { author, round, body, .. } = header;
        let right = verify_counts(&body.load, all, accounts, *author, *round, &self.shared.params).is_ok();
        if right && self.primary.vote(header, floor) { Check::Vote } else { Check::Refuse }
    }

    /// Parents in order, each once, all of earlier rounds, and a quorum of the round before. Round 0 has no headers.
    fn has_sound_parents(&self, header: &Header) -> bool {
        let Some(previous) = header.round.before(1) else { return false };
        let in_order =
            header.body.parents.is_sorted_by(|a, b| a < b) && header.body.parents.iter().all(|p| p.round <= previous);
        let stake = |author| self.shared.committee.stake(author);
        let direct: u64 = header.body.parents.iter().filter(|p| p.round == previous).map(|p| stake(p.author)).sum();
        in_order && (previous == Round(0) || direct >= self.shared.committee.quorum())
    }
}

/// What a voter does with a header.
enum Check {
    Vote,
    /// Something it refers to is not here yet.
    Later,
    Refuse,
}
