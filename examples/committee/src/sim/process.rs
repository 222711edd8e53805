//! Nodes that may be down, and what is sent to them meanwhile.
//!
//! A message to a node that is down waits at its sender, which charges it to its egress when it sends it: once the other
//! is back. What was on its way when the receiver crashed is lost and sent again; what had not left when the sender
//! crashed leaves when that one is back, since all that a node sends is on its disk. So a node that comes back hears
//! everything it has missed, in order, at the rate of its peers' links.

use flamingo_core::ValidatorId;

use super::event::Event;
use super::metrics::Restarted;
use super::net::Micros;
use super::{Answers, ONE_WAY_US, World, distance};
use crate::node::message::Message;
use crate::node::replica::Checkpoint;
use crate::node::{Disk, Node};
use crate::scenario::{Loss, Restart};

/// A node, or what is left of it.
pub enum Process {
    Up(Box<Node>),
    Down(Box<Disk>),
    /// Between the two.
    Gone,
}

/// When a message left, and in which life of its sender it was sent.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    pub left: Micros,
    life: u32,
}

/// What has not reached its receiver.
#[derive(Debug)]
pub struct Unsent {
    from: ValidatorId,
    to: ValidatorId,
    message: Message,
}

/// A node's lives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Life {
    number: u32,
    /// When the one before ended.
    ended: Micros,
}

impl Process {
    pub fn node(&self) -> Option<&Node> {
        match self {
            Self::Up(node) => Some(node),
            _ => None,
        }
    }

    pub fn node_mut(&mut self) -> Option<&mut Node> {
        match self {
            Self::Up(node) => Some(node),
            _ => None,
        }
    }

    /// Takes a node that is up out, and leaves nothing; one that is down stays.
    fn take_up(&mut self) -> Option<Box<Node>> {
        match std::mem::replace(self, Self::Gone) {
            Self::Up(node) => Some(node),
            other => {
                *self = other;
                None
            }
        }
    }

    pub fn sub_dags(&self) -> u64 {
        match self {
            Self::Up(node) => node.sub_dags(),
            Self::Down(disk) => disk.sub_dags(),
            Self::Gone => 0,
        }
    }

    pub fn checkpoint_at(&mut self, sub_dags: u64) {
        match self {
            Self::Up(node) => node.checkpoint_at(sub_dags),
            Self::Down(disk) => disk.checkpoint_at(sub_dags),
            Self::Gone => {}
        }
    }

    pub fn checkpoints(&self) -> &[Checkpoint] {
        match self {
            Self::Up(node) => node.checkpoints(),
            Self::Down(disk) => disk.checkpoints(),
            Self::Gone => &[],
        }
    }

    pub fn executor(&mut self) -> Option<&mut crate::node::executor::Executor> {
        match self {
            Self::Up(node) => Some(node.executor()),
            Self::Down(disk) => Some(disk.executor()),
            Self::Gone => None,
        }
    }
}

impl World {
    pub(super) fn is_down(&self, node: ValidatorId) -> bool {
        self.nodes[node.index()].node().is_none()
    }

    pub(super) fn life(&self, node: ValidatorId) -> u32 {
        self.lives[node.index()].number
    }

    /// The time of a crash has come.
    pub(super) fn crash_due(&mut self, restart: Restart) {
        let node = ValidatorId(restart.validator);
        if restart.deciding {
            self.deciding[node.index()] = Some(restart);
            self.nodes[node.index()].node_mut().into_iter().for_each(Node::crash_deciding);
        } else {
            self.crash(restart);
        }
    }

    /// A node has crashed in the middle of a step.
    pub(super) fn crashed(&mut self, node: ValidatorId) {
        if let Some(restart) = self.deciding[node.index()].take() {
            self.crash(restart);
        }
    }

    fn crash(&mut self, restart: Restart) {
        let at = usize::from(restart.validator);
        // What is down comes back as it was to; this crash is one that never happened.
        let Some(node) = self.nodes[at].take_up() else { return };
        let mut disk = node.crash();
        match restart.loses {
            None => {}
            Some(Loss::Anchor) => disk.lose_anchor(),
            Some(Loss::Executed) => disk.lose_executed(),
        }
        self.faults_due -= 1;
        self.nodes[at] = Process::Down(Box::new(disk));
        self.lives[at] = Life { number: self.lives[at].number + 1, ended: self.now };
        self.uplinks[at].clear();
        self.wakes[at] = None;
        self.metrics.restarted(Restarted { validator: restart.validator, down_us: self.now, ..Restarted::default() });
        self.schedule(self.now + restart.down_s * 1_000_000, Event::Restart { node: ValidatorId(restart.validator) });
    }

    /// A node comes back, its peers send what it missed, and its clients all they have no answer to.
    pub(super) fn restart(&mut self, node: ValidatorId) {
        let at = node.index();
        let Process::Down(disk) = std::mem::replace(&mut self.nodes[at], Process::Gone) else { return };
        let mut outputs = Vec::new();
        let mut restored =
            Node::restart(*disk, self.now, &mut outputs).expect("the snapshot and its root are of one moment");
        // The time of its next crash may have come while it was down.
        if self.deciding[at].is_some() {
            restored.crash_deciding();
        }
        self.metrics.back(node.0, self.now);
        self.nodes[at] = Process::Up(Box::new(restored));
        self.outputs(node, outputs);
        self.send_unsent();
        for region in 0..self.regions.len() {
            let again = self.regions[region].clients.unanswered_by(self.now, node);
            self.metrics.resubmitted(node.0, again.len() as u64);
            self.send_requests(region, again, 0);
        }
    }

    pub(super) fn transmit(&mut self, from: ValidatorId, to: ValidatorId, message: Message) {
        if self.is_down(to) {
            self.unsent.push(Unsent { from, to, message });
            return;
        }
        let left = self.uplinks[from.index()].lane(message.lane()).send(self.now, message.wire_bytes());
        let departure = Departure { left, life: self.life(from) };
        self.schedule(left + ONE_WAY_US, Event::Deliver { to, from, message, departure });
    }

    /// Whether a message reaches its receiver. If not, it goes on its way again when both are there.
    pub(super) fn arrives(&mut self, from: ValidatorId, to: ValidatorId, departure: Departure) -> bool {
        let sender = self.lives[from.index()];
        let never_left = departure.life < sender.number && departure.left > sender.ended;
        !never_left && !self.is_down(to)
    }

    pub(super) fn lost(&mut self, from: ValidatorId, to: ValidatorId, message: Message) {
        self.unsent.push(Unsent { from, to, message });
        self.send_unsent();
    }

    fn send_unsent(&mut self) {
        for Unsent { from, to, message } in std::mem::take(&mut self.unsent) {
            match self.is_down(from) {
                true => self.unsent.push(Unsent { from, to, message }),
                false => self.transmit(from, to, message),
            }
        }
    }

    /// An account left a validator that is down, and so tells nobody.
    pub(super) fn moved_from(&mut self, region: usize, account: flamingo_core::AccountId, from: ValidatorId) {
        if self.is_down(from) {
            let again = self.regions[region].clients.unanswered_of(self.now, account, from);
            self.send_requests(region, again, 0);
        }
    }

    /// Does what a node says, and sends the answers that come of it.
    pub(super) fn outputs(&mut self, node: ValidatorId, outputs: Vec<crate::node::Output>) {
        let epoch = self.nodes[node.index()].node().map(Node::epoch);
        let mut answers = Answers::new(self.regions.len());
        let mut broadcast = false;
        for output in outputs {
            broadcast |= matches!(output, crate::node::Output::Send { message: Message::Batch(_), .. });
            self.output(node, output, &mut answers);
        }
        for (region, answers) in answers.0.into_iter().enumerate() {
            if !answers.is_empty() {
                let at = self.now + distance(region, node.index());
                self.schedule(at, Event::Answer { region, epoch, answers });
            }
        }
        self.schedule_wakes(node, broadcast);
    }
}
