//! A client as a state machine without I/O: asks for its balls until they are placed.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::Draw;

/// One client: its alive balls, and nothing of the graph but the number of its ports.
///
/// The host calls [`begin_round`](Self::begin_round), sends the requests, waits for the barrier, and hands in the
/// answers. What comes at the wrong time is defined ([`Heard`]). Memory: one entry per ball, and with pruning one per
/// port.
#[derive(Clone, Debug)]
pub struct Client<D> {
    draw: D,
    degree: u32,
    round: u32,
    balls: BTreeMap<u64, Ball>,
    /// Ports not to ask again; `None` without pruning.
    pruned: Option<BTreeSet<u32>>,
}

#[derive(Clone, Copy, Debug)]
struct Ball {
    weight: u32,
    priority: u8,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Asked(u32),
    /// By (round, port).
    Placed(u32, u32),
}

/// What a client sends to the server behind one of its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The port.
    pub port: u32,
    /// The round.
    pub round: u32,
    /// The ball.
    pub ball: u64,
    /// Its weight.
    pub weight: u32,
    /// Its priority.
    pub priority: u8,
}

/// What a server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The port it came from.
    pub port: u32,
    /// The round of the request.
    pub round: u32,
    /// The ball.
    pub ball: u64,
    /// Accepted or refused.
    pub reply: Reply,
}

/// What a server says to a ball.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It is in.
    Accepted,
    /// Not this time: a full round, or a request that came late or early. Proves nothing.
    Refused,
    /// Not ever: the server is burned.
    Burned,
}

/// What an answer meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Heard {
    /// The ball has its server now.
    Placed,
    /// The ball asks again next round.
    Refused,
    /// An answer that was given before, or a refusal that came too late: ignored.
    Stale,
    /// Accepted, but not where or when the ball asked last: the ball's state is as before, and the host should give
    /// back the room at that server.
    Surplus,
    /// No such ball.
    Unknown,
}

impl<D: Draw> Client<D> {
    /// A client of so many ports with balls (id, weight, priority). Ids address the draws: they must be distinct in the
    /// whole system. A repeated id stands for one ball, the last. Weights are at least 1, or servers refuse them.
    pub fn new(draw: D, degree: u32, balls: impl IntoIterator<Item = (u64, u32, u8)>) -> Self {
        let ball = |(id, weight, priority)| (id, Ball { weight, priority, state: State::Idle });
        Self { draw, degree, round: 0, balls: balls.into_iter().map(ball).collect(), pruned: None }
    }

    /// The same, never asking a port again that answered [`Reply::Burned`].
    ///
    /// Sound while servers are not armed again. Only saer burns, so it prunes nothing under raes; and no other refusal
    /// proves anything, such as that of a request that came late or early. The
    /// protocol is then *adaptive*, so the theorem does not speak about it. It costs memory for every port that is burned.
    #[must_use]
    pub fn prune_refused(mut self) -> Self {
        self.pruned = Some(BTreeSet::new());
        self
    }

    /// Begins the next round: appends one request per alive ball. A ball whose answer did not come asks again, which
    /// may place it twice; the servers' load bound keeps, and the second acceptance is a [`Heard::Surplus`].
    ///
    /// Appends nothing if there is no port, or none that is not pruned.
    pub fn begin_round(&mut self, requests: &mut Vec<Request>) {
        self.round = self.round.saturating_add(1);
        let ports = self.degree - self.pruned.as_ref().map_or(0, |pruned| pruned.len() as u32);
        if ports == 0 {
            self.forget_asked();
            return;
        }
        for (&id, ball) in &mut self.balls {
            if matches!(ball.state, State::Placed(..)) {
                continue;
            }
            let drawn = self.draw.below(self.round, id, ports);
            let port = self.pruned.as_ref().map_or(drawn, |pruned| unpruned(pruned, drawn));
            ball.state = State::Asked(port);
            let Ball { weight, priority, .. } = *ball;
            requests.push(Request { port, round: self.round, ball: id, weight, priority });
        }
    }

    /// Lets `round` be over: the next to begin is the one after it. For a client that starts anew among servers that are
    /// further, with the balls that it knows no place for: requests of rounds that are over are refused, and burn servers
    /// under saer. A round before the present one is ignored; answers to what was asked come too late then.
    ///
    /// A ball whose acceptance was lost asks again and may be placed twice: the room is lost, and the load bound keeps.
    pub fn skip_to(&mut self, round: u32) {
        if round > self.round {
            self.round = round;
            self.forget_asked();
        }
    }

    /// Nothing was asked in the present round: no answer of it can be true.
    fn forget_asked(&mut self) {
        let asked = self.balls.values_mut().filter(|ball| matches!(ball.state, State::Asked(_)));
        asked.for_each(|ball| ball.state = State::Idle);
    }

    /// Takes an answer.
    pub fn hear(&mut self, answer: Answer) -> Heard {
        let Some(ball) = self.balls.get_mut(&answer.ball) else { return Heard::Unknown };
        let asked = answer.round == self.round && ball.state == State::Asked(answer.port);
        match (asked, answer.reply == Reply::Accepted) {
            (true, true) => {
                ball.state = State::Placed(answer.round, answer.port);
                Heard::Placed
            }
            (true, false) => {
                ball.state = State::Idle;
                if let (Some(pruned), Reply::Burned) = (&mut self.pruned, answer.reply) {
                    pruned.insert(answer.port);
                }
                Heard::Refused
            }
            (false, true) if ball.state != State::Placed(answer.round, answer.port) => Heard::Surplus,
            (false, _) => Heard::Stale,
        }
    }

    /// Balls without a server.
    #[must_use]
    pub fn alive(&self) -> usize {
        self.balls.values().filter(|ball| !matches!(ball.state, State::Placed(..))).count()
    }

    /// Whether every server is known to be burned: with pruning, the alive balls can never be placed.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.alive() > 0 && self.pruned.as_ref().map_or(0, BTreeSet::len) == self.degree as usize
    }

    /// The placed balls with their ports, by id.
    pub fn placed(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.balls.iter().filter_map(|(&id, ball)| match ball.state {
            State::Placed(_, port) => Some((id, port)),
            _ => None,
        })
    }
}

/// The `nth` port that is not pruned, counting from 0.
fn unpruned(pruned: &BTreeSet<u32>, nth: u32) -> u32 {
    // Sorted: every pruned port at or below the candidate moves it up by one.
    pruned.iter().fold(nth, |port, &gone| port + u32::from(gone <= port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use alloc::vec;

    fn asked(client: &mut Client<Seed>) -> Vec<Request> {
        let mut requests = vec![];
        client.begin_round(&mut requests);
        requests
    }

    fn answer(request: Request, accepted: bool) -> Answer {
        reply(request, if accepted { Reply::Accepted } else { Reply::Refused })
    }

    fn reply(request: Request, reply: Reply) -> Answer {
        Answer { port: request.port, round: request.round, ball: request.ball, reply }
    }

    /// Refused balls ask again, accepted ones do not.
    #[test]
    fn a_ball_asks_until_it_is_placed() {
        let mut client = Client::new(Seed(1), 5, [(7, 1, 0), (9, 1, 0)]);
        let requests = asked(&mut client);
        assert_eq!(client.hear(answer(requests[0], true)), Heard::Placed);
        assert_eq!(client.hear(answer(requests[1], false)), Heard::Refused);
        let requests = asked(&mut client);
        assert_eq!((requests.len(), requests[0].ball, requests[0].round), (1, 9, 2));
        assert_eq!(client.alive(), 1);
    }

    /// Repeated, late and unknown answers are named, and change nothing.
    #[test]
    fn answers_at_the_wrong_time_are_named() {
        let mut client = Client::new(Seed(1), 5, [(7, 1, 0)]);
        let first = asked(&mut client)[0];
        let second = asked(&mut client)[0];
        assert_eq!(client.hear(answer(first, false)), Heard::Stale);
        assert_eq!(client.hear(answer(first, true)), Heard::Surplus);
        assert_eq!(client.hear(answer(second, true)), Heard::Placed);
        assert_eq!(client.hear(answer(second, true)), Heard::Stale);
        assert_eq!(client.hear(answer(second, false)), Heard::Stale);
        assert_eq!(client.hear(answer(first, true)), Heard::Surplus);
        assert_eq!(client.hear(Answer { ball: 8, ..answer(second, true) }), Heard::Unknown);
        assert_eq!(client.placed().collect::<Vec<_>>(), [(7, second.port)]);
    }

    /// A client that comes back later draws for the round that is open, and what it had asked before is over.
    #[test]
    fn a_client_catches_up() {
        let mut client = Client::new(Seed(1), 500, [(7, 1, 0)]);
        let before = asked(&mut client)[0];
        client.skip_to(1);
        assert_eq!(client.clone().hear(answer(before, true)), Heard::Placed, "round 1 is not over yet");
        client.skip_to(8);
        assert_eq!(client.hear(answer(before, true)), Heard::Surplus);
        assert_eq!(
            client.hear(answer(Request { round: 8, ..before }, true)),
            Heard::Surplus,
            "nothing was asked in it"
        );
        let request = asked(&mut client)[0];
        assert_eq!((request.round, request.port), (9, Seed(1).below(9, 7, 500)));
        client.skip_to(u32::MAX);
        assert_eq!(asked(&mut client)[0].round, u32::MAX);
    }

    /// A client without ports, or with none left, is silent.
    #[test]
    fn nothing_to_ask() {
        assert_eq!(asked(&mut Client::new(Seed(1), 0, [(7, 1, 0)])), []);
        let mut client = Client::new(Seed(1), 2, [(7, 1, 0)]).prune_refused();
        for _ in 0..2 {
            assert!(!client.is_stuck());
            let request = asked(&mut client)[0];
            assert_eq!(client.hear(reply(request, Reply::Burned)), Heard::Refused);
        }
        assert!(client.is_stuck());
        assert_eq!(asked(&mut client), []);
    }

    /// Who has no port left to ask has asked nothing: an acceptance in such a round is not believed, wherever the ball
    /// had asked before.
    #[test]
    fn silence_hears_no_acceptance() {
        let mut client = Client::new(Seed(1), 1, [(7, 1, 0), (8, 1, 0)]).prune_refused();
        let requests = asked(&mut client);
        assert_eq!(client.hear(reply(requests[0], Reply::Burned)), Heard::Refused);
        for round in 2..5 {
            assert_eq!(asked(&mut client), []);
            for request in &requests {
                assert_eq!(client.hear(answer(Request { round, ..*request }, true)), Heard::Surplus);
                assert_eq!(client.hear(reply(Request { round, ..*request }, Reply::Burned)), Heard::Stale);
            }
        }
        assert!(client.is_stuck() && client.alive() == 2);
    }

    /// A refusal that proves nothing prunes nothing: a server that was late for once is asked again.
    #[test]
    fn only_burned_servers_are_pruned() {
        let mut client = Client::new(Seed(1), 1, [(7, 1, 0)]).prune_refused();
        let mut server = crate::Server::new(crate::Saer, 2).unwrap();
        server.skip_to(2);
        let Request { round, ball, weight, priority, .. } = asked(&mut client)[0];
        assert_eq!(server.offer(crate::Offer { round, ball, weight, priority }), crate::Offered::Late);
        assert_eq!(client.hear(Answer { port: 0, round, ball, reply: Reply::Refused }), Heard::Refused);
        assert!(!client.is_stuck());
        let Request { round, ball, weight, priority, .. } = asked(&mut client)[0];
        assert_eq!(server.offer(crate::Offer { round, ball, weight, priority }), crate::Offered::Queued);
        let reply = server.close().reply(ball);
        assert_eq!(client.hear(Answer { port: 0, round, ball, reply }), Heard::Placed);
    }

    /// With pruning, Δ refusals visit Δ distinct ports.
    #[test]
    fn pruning_visits_every_port_once() {
        let mut client = Client::new(Seed(5), 40, [(7, 1, 0)]).prune_refused();
        let mut ports = BTreeSet::new();
        while !client.is_stuck() {
            let request = asked(&mut client)[0];
            assert!(ports.insert(request.port) && request.port < 40);
            assert_eq!(client.hear(reply(request, Reply::Burned)), Heard::Refused);
        }
        assert_eq!(ports.len(), 40);
    }
}
