//! The virtual-time driver: one event queue, egress-limited links, constant latency. Deterministic by seed: events
//! at one time run in the order they were scheduled, and nothing else decides anything.

mod answers;
mod build;
mod client;
mod decided;
mod event;
pub mod metrics;
pub mod net;
mod process;
#[cfg(test)]
mod tests;
mod timer;
mod workload;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use flamingo_core::protocol::{Outcome, Reason, Verdict};
use flamingo_core::{AccountId, Epoch, Params, ValidatorId};

use crate::config::{LearnVoids, RunConfig, frame};
use crate::error::Failure;
use crate::node::message::{Contents, Message, Transaction};
use crate::node::replica::{Checkpoint, CommittedBatch};
use crate::node::watch::Watcher;
use crate::node::{Input, Node, Output, Refused, Shared};
use crate::scenario::Restart;
use answers::{Answers, RegionAnswers};
use build::Region;
use decided::Decided;
use event::{Event, Scheduled};
use metrics::Metrics;
use net::{Micros, Uplink};
use process::{Life, Process, Unsent};

pub use build::BuildError;
pub use decided::Contradiction;

/// Clients make their requests in ticks of this length.
const TICK_US: Micros = 10_000;
const ONE_WAY_US: Micros = frame::ROUND_TRIP_US / 2;
/// After the end, replicas get this long to reach the foremost one.
const CATCH_UP_US: Micros = 60_000_000;

/// A committee, its clients and the network between them.
pub struct World {
    config: RunConfig,
    shared: Rc<Shared>,
    now: Micros,
    events: BinaryHeap<Reverse<Scheduled>>,
    scheduled: u64,
    nodes: Vec<Process>,
    lives: Vec<Life>,
    /// Nodes that crash when they decide next.
    deciding: Vec<Option<Restart>>,
    unsent: Vec<Unsent>,
    decided: Decided,
    /// Per node: when its next wake-up is in the queue.
    wakes: Vec<Option<Micros>>,
    uplinks: Vec<Uplink>,
    regions: Vec<Region>,
    metrics: Metrics,
    /// Clients make no more requests.
    silent: bool,
    /// Faults whose time has not come.
    faults_due: usize,
}

/// How the replicas' roots compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots {
    Equal,
    Differ,
    /// A replica did not reach the foremost one's place in time.
    OneIsBehind,
}

impl Roots {
    /// Anything but equal roots fails a run.
    pub fn check(self, run: &str) -> Result<(), Failure> {
        match self {
            Self::Equal => Ok(()),
            Self::Differ => Err(Failure::StateRootsDiffer { run: run.to_owned() }),
            Self::OneIsBehind => Err(Failure::ReplicaBehind { run: run.to_owned() }),
        }
    }
}

impl World {
    /// Runs to the end; `progress` is told every second of virtual time.
    pub fn run(&mut self, mut progress: impl FnMut(u64)) {
        let end = self.config.scenario.seconds * 1_000_000;
        let mut second = 0;
        while let Some(event) = self.next_until(end) {
            if self.now / 1_000_000 > second {
                second = self.now / 1_000_000;
                progress(second);
            }
            self.handle(event);
        }
        self.now = end;
    }

    /// Takes the next event if it is due by `end`; a later one stays where it is.
    fn next_until(&mut self, end: Micros) -> Option<Event> {
        self.events.peek().filter(|Reverse(next)| next.at <= end)?;
        let Reverse(Scheduled { at, event, .. }) = self.events.pop()?;
        self.now = at;
        Some(event)
    }

    /// Lets `watcher` look at one validator, from the start of the run.
    pub fn watch(&mut self, validator: ValidatorId, watcher: Watcher) {
        self.nodes[validator.index()].node_mut().expect("nodes are up before the run").watch(watcher);
    }

    /// How many accounts there are, in equal ranges by validator.
    pub fn accounts(&self) -> u64 {
        self.shared.account_keys.len() as u64
    }

    pub fn params(&self) -> &Params {
        &self.shared.params
    }

    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// How old the oldest request without an answer is; nothing where clients have no timers, or have all answers.
    pub fn oldest_open_us(&self) -> Option<Micros> {
        let oldest = self.regions.iter().filter_map(|region| region.clients.oldest_submitted()).min();
        oldest.map(|submitted| self.now - submitted)
    }

    /// Whether a fault of the scenario has not happened: its time never came, or nothing was written after it.
    pub fn is_fault_pending(&mut self) -> bool {
        self.faults_due > 0
            || self.nodes.iter_mut().filter_map(Process::executor).any(|executor| executor.is_fault_pending())
    }

    /// A validator that signed two decisions about one account at one anchor.
    pub fn contradiction(&self) -> Option<Contradiction> {
        self.decided.contradiction()
    }

    /// Lets every replica reach the place in the log where the foremost one stands, clients silent from now on; then
    /// compares all replicas' roots there and at every checkpoint on the way.
    pub fn compare_roots(&mut self) -> Roots {
        self.silent = true;
        let foremost = self.nodes.iter().map(Process::sub_dags).max().unwrap_or(0);
        self.nodes.iter_mut().for_each(|node| node.checkpoint_at(foremost));
        let deadline = self.now + CATCH_UP_US;
        while self.nodes.iter().any(|node| node.node().is_none() || node.sub_dags() < foremost) {
            match self.next_until(deadline) {
                Some(event) => self.handle(event),
                None => return Roots::OneIsBehind,
            }
        }
        let (first, others) = self.nodes.split_first().expect("a committee has validators");
        let up_to_foremost = |node: &Process| -> Vec<Checkpoint> {
            node.checkpoints().iter().copied().filter(|checkpoint| checkpoint.sub_dags <= foremost).collect()
        };
        let expected = up_to_foremost(first);
        match others.iter().all(|node| up_to_foremost(node) == expected) {
            true if !expected.is_empty() => Roots::Equal,
            _ => Roots::Differ,
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Tick { region } => self.tick(region),
            Event::Arrive { at, transactions } => self.step(at, Input::Requests(transactions)),
            Event::Relay { at, copies } => self.step(at, Input::Relay(copies)),
            Event::Answer { region, epoch, answers } => self.answer(region, epoch, answers),
            Event::Deliver { to, from, message, departure } => match self.arrives(from, to, departure) {
                true => self.step(to, Input::Message { from, message }),
                false => self.lost(from, to, message),
            },
            Event::Writable { node, life } if life == self.life(node) => self.step(node, Input::Writable),
            Event::Writable { .. } => {}
            Event::Wake { node } => {
                self.wakes[node.index()] = None;
                self.step(node, Input::Wake);
            }
            Event::Corrupt { node } => {
                self.faults_due -= 1;
                let executor = self.nodes[node.index()].executor();
                executor.into_iter().for_each(|executor| executor.corrupt_next_write(node));
            }
            Event::Crash(restart) => self.crash_due(restart),
            Event::Restart { node } => self.restart(node),
        }
    }

    fn schedule(&mut self, at: Micros, event: Event) {
        debug_assert!(at >= self.now, "time does not go back: {event:?} at {at}, now {}", self.now);
        self.events.push(Reverse(Scheduled { at, sequence: self.scheduled, event }));
        self.scheduled += 1;
    }

    /// A region's clients make their requests of one tick.
    fn tick(&mut self, region: usize) {
        if self.silent {
            return;
        }
        let phase = self.config.scenario.phase(self.now / 1_000_000);
        let mut sent = Vec::new();
        self.regions[region].tick(self.now, TICK_US, phase, &mut sent);
        let due = self.regions[region].clients.due(self.now, &mut sent);
        self.send_requests(region, sent, 0);
        for (relay, copies) in due {
            let at = self.now + distance(region, relay.index());
            self.schedule(at, Event::Relay { at: relay, copies });
        }
        let home = ValidatorId(region as u16);
        if !self.is_down(home) {
            let records = self.regions[region].records();
            if !records.is_empty() {
                self.step(home, Input::Latencies(records));
            }
        }
        self.schedule(self.now + TICK_US, Event::Tick { region });
    }

    /// Sends requests, `later` from now, to the validators they name; a region is next to its own validator.
    fn send_requests(&mut self, region: usize, transactions: Vec<Transaction>, later: Micros) {
        let mut by_validator: Vec<Vec<Transaction>> = Vec::new();
        by_validator.resize_with(self.nodes.len(), Vec::new);
        for transaction in transactions {
            by_validator[transaction.request.named.index()].push(transaction);
        }
        for (validator, transactions) in by_validator.into_iter().enumerate() {
            if !transactions.is_empty() {
                let at = ValidatorId(validator as u16);
                self.schedule(self.now + later + distance(region, validator), Event::Arrive { at, transactions });
            }
        }
    }

    fn answer(&mut self, region: usize, epoch: Option<Epoch>, answers: RegionAnswers) {
        let RegionAnswers { answered, again } = answers;
        let mut sent = Vec::new();
        let (now, clients) = (self.now, &mut self.regions[region].clients);
        epoch.into_iter().for_each(|epoch| clients.epoch(epoch));
        for (account, nonce) in answered {
            clients.answered(now, account, nonce, &mut sent);
        }
        let again = again.into_iter().map(|refused| clients.again(now, refused)).collect();
        // A validator that has yet to reach the clients' epoch is asked again a while later, not at once.
        let is_behind = epoch.is_some_and(|epoch| epoch < clients.current_epoch());
        let patience = if is_behind { frame::ROUND_TRIP_US } else { 0 };
        self.send_requests(region, sent, 0);
        self.send_requests(region, again, patience);
    }

    /// A node that is down hears nothing. Its clients notice: they send again what it has not answered.
    fn step(&mut self, node: ValidatorId, input: Input) {
        let Some(up) = self.nodes[node.index()].node_mut() else { return };
        let mut outputs = Vec::new();
        up.step(self.now, input, &mut outputs);
        self.outputs(node, outputs);
    }

    fn output(&mut self, node: ValidatorId, output: Output, answers: &mut Answers) {
        match output {
            Output::Send { to, message } => {
                if let Message::Header(header) = &message {
                    self.decided.sent(header);
                }
                self.transmit(node, to, message);
            }
            Output::Epoch(epoch) => {
                self.regions[node.index()].clients.epoch(epoch);
                if node == ValidatorId(0) {
                    self.metrics.epoch_began(self.now);
                    self.faults_due -= 1;
                }
            }
            Output::Crashed => self.crashed(node),
            Output::Refused(refused) => self.send_back(refused, answers),
            Output::Committed(batch) => self.committed(batch, answers),
            Output::Moved { account, to, anchor } => {
                let region = self.region_of(account);
                if region == node.index() {
                    let from = self.regions[region].clients.moved(account, to);
                    self.moved_from(region, account, from);
                }
                if node == ValidatorId(0) {
                    self.metrics.migrated(anchor.0, self.now);
                    self.metrics.receiver(to).moved += 1;
                }
            }
            Output::Declined { by } => {
                if node == ValidatorId(0) {
                    self.metrics.receiver(by).declined += 1;
                }
            }
            Output::Expired { to, excluded } => {
                if node == ValidatorId(0) {
                    let receiver = self.metrics.receiver(to);
                    receiver.expired += 1;
                    receiver.excluded += u64::from(excluded);
                }
            }
        }
    }

    /// A request that was not sealed goes back to its client, unless a copy of it is on its way already.
    fn send_back(&mut self, refused: Refused, answers: &mut Answers) {
        let Refused { transaction, verdict } = refused;
        let region = self.region_of(transaction.request.account);
        if verdict != Verdict::Duplicate {
            answers.again(region, transaction);
        }
    }

    /// A validator's own batch has committed: count it, and answer its clients.
    fn committed(&mut self, committed: CommittedBatch, answers: &mut Answers) {
        let CommittedBatch { batch, outcomes, executed } = committed;
        let mut executed = executed.into_iter();
        let Contents { transactions, relayed, .. } = &batch.contents;
        let copies = relayed.iter().map(|copy| &copy.transaction);
        for (transaction, outcome) in transactions.iter().chain(copies).zip(outcomes) {
            let Transaction { request, submitted, .. } = transaction;
            let region = self.region_of(request.account);
            match outcome {
                Outcome::Executed | Outcome::Relayed { .. } => {
                    self.metrics.committed(*submitted, self.now);
                    if matches!(outcome, Outcome::Relayed { .. }) {
                        self.metrics.relayed(*submitted, self.now);
                    }
                    if let Some(at) = executed.next() {
                        self.metrics.executed(*submitted, at);
                    }
                    answers.answered(region, request.account, request.nonce);
                }
                Outcome::NoOp(Reason::NonceUsed | Reason::NonceTooOld) => {
                    answers.answered(region, request.account, request.nonce);
                }
                _ if request.named != batch.author => {
                    // A copy that came to nothing: the client's timer runs on.
                }
                Outcome::NoOp(Reason::NotAssigned { .. } | Reason::GraceOver { .. }) => {
                    self.metrics.void(self.now);
                    if self.config.clients.voids == LearnVoids::Commit {
                        answers.again(region, transaction.clone());
                    }
                }
                _ => answers.again(region, transaction.clone()),
            }
        }
    }

    /// Puts the node's next wake-up into the queue, and the moment its worker's egress is empty.
    fn schedule_wakes(&mut self, node: ValidatorId, broadcast: bool) {
        if broadcast {
            // A batch whose every receiver is down is not on the wire: the egress may have been empty for long.
            let empty = self.uplinks[node.index()].worker.empty_at().max(self.now);
            self.schedule(empty, Event::Writable { node, life: self.life(node) });
        }
        let wanted = self.nodes[node.index()].node().and_then(Node::wake_at).map(|at| at.max(self.now));
        let queued = self.wakes[node.index()];
        if let Some(at) = wanted.filter(|&at| queued.is_none_or(|queued| at < queued)) {
            self.wakes[node.index()] = Some(at);
            self.schedule(at, Event::Wake { node });
        }
    }

    fn region_of(&self, account: AccountId) -> usize {
        self.regions.partition_point(|region| region.first <= account) - 1
    }
}

/// A region's clients are next to their own validator and one link away from the others.
fn distance(region: usize, validator: usize) -> Micros {
    if region == validator { 0 } else { ONE_WAY_US }
}
