//! The loop.

use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv4Addr;

use saer::select::{Entropy, SplitMix64};

use super::balancer::{Balancer, Policy};
use super::draw::exponential;
use super::event::{Agenda, Event};
use super::measure::{Measured, Meter};
use super::pool::next_packet;
use super::server::Server;
use super::{Fast, Scenario, ScenarioError};
use crate::hash::{Flow, FlowHash};
use crate::timestamp::Codec;

/// Runs a scenario under a policy.
///
/// # Errors
/// [`ScenarioError`] if the scenario cannot be run.
pub fn run(scenario: &Scenario, policy: Policy) -> Result<Measured, ScenarioError> {
    run_with(scenario, policy, |_| {})
}

/// The same, and says after each completed flow how many are.
///
/// # Errors
/// [`ScenarioError`] if the scenario cannot be run.
pub fn run_with(scenario: &Scenario, policy: Policy, mut progress: impl FnMut(u32)) -> Result<Measured, ScenarioError> {
    let mut world = World::new(scenario, policy)?;
    world.agenda.plan(exponential(&mut world.gaps, world.mean_gap_ns), Event::Syn);
    world.agenda.plan(world.period_ns, Event::Period);
    world.agenda.plan(world.sample_ns, Event::Sample);
    while world.meter.completions() < scenario.flows {
        let Some((now, event)) = world.agenda.next() else { break };
        let before = world.meter.completions();
        world.follow(now, event)?;
        if world.meter.completions() > before {
            progress(world.meter.completions());
        }
    }
    let now = world.now;
    Ok(world.meter.end(now))
}

struct World<'a> {
    scenario: &'a Scenario,
    balancers: Vec<Balancer>,
    servers: Vec<Server>,
    /// By flow, in the order of their SYNs.
    flows: Vec<FlowState>,
    /// Flows by server that were assigned and are not done: what the oracle knows.
    known: Vec<u64>,
    agenda: Agenda,
    meter: Meter,
    codec: Codec,
    /// Each purpose draws from its own stream, so that policies cannot disturb what comes.
    gaps: SplitMix64,
    works: SplitMix64,
    tuples: SplitMix64,
    mean_gap_ns: u64,
    mean_work_ns: u64,
    one_way_ns: u64,
    period_ns: u64,
    sample_ns: u64,
    now: u64,
}

#[derive(Clone, Copy)]
struct FlowState {
    hash: FlowHash,
    balancer: u8,
    server: u8,
    done: bool,
    syn_ns: u64,
    arrived_ns: u64,
    work: u64,
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario, policy: Policy) -> Result<Self, ScenarioError> {
        let params = scenario.check()?;
        let stream = |purpose: u64| SplitMix64(SplitMix64(scenario.seed ^ purpose << 56).word());
        let balancers = (0..scenario.balancers).map(|_| Balancer::new(scenario, &params, policy));
        let servers = (0..scenario.servers).map(|id| {
            let speed = Scenario::speed(id as u8);
            Server::new(scenario.service, speed, if scenario.fast == Fast::Clock { speed } else { 1 })
        });
        Ok(Self {
            scenario,
            balancers: balancers.collect::<Result<_, _>>()?,
            servers: servers.collect(),
            flows: Vec::with_capacity(scenario.flows as usize),
            known: vec![0; scenario.servers.into()],
            agenda: Agenda::default(),
            meter: Meter::default(),
            codec: Codec::low_bits(params.id_bits()).map_err(|_| scenario.impossible())?,
            gaps: stream(1),
            works: stream(2),
            tuples: stream(3),
            mean_gap_ns: scenario.mean_gap_ns(),
            mean_work_ns: u64::from(scenario.mean_work_us) * 1_000,
            one_way_ns: u64::from(scenario.one_way_us) * 1_000,
            period_ns: u64::from(scenario.period_us) * 1_000,
            sample_ns: u64::from(scenario.sample_us) * 1_000,
            now: 0,
        })
    }

    fn follow(&mut self, now: u64, event: Event) -> Result<(), ScenarioError> {
        self.now = now;
        match event {
            Event::Syn => self.syn()?,
            Event::Arrival { flow } => self.arrival(flow),
            Event::SynAck { balancer, server, report } => {
                self.balancers[usize::from(balancer)].syn_ack(server, report, now);
            }
            Event::Departure { server, version } => self.departure(server, version),
            Event::Period => {
                self.balancers.iter_mut().try_for_each(|balancer| balancer.period(self.scenario, now))?;
                self.agenda.plan(now + self.period_ns, Event::Period);
            }
            Event::Sample => self.sample(),
        }
        Ok(())
    }

    /// A SYN reaches its balancer, and the next one is drawn.
    fn syn(&mut self) -> Result<(), ScenarioError> {
        let flow = self.flows.len() as u32;
        if self.scenario.growth.is_some_and(|growth| growth.at_flow == flow) {
            self.grow()?;
        }
        let words = [self.tuples.word(), self.tuples.word()];
        let tuple = Flow {
            source: Ipv4Addr::from_bits(words[0] as u32),
            destination: Ipv4Addr::new(192, 0, 2, 1),
            protocol: 6,
            source_port: (words[0] >> 32) as u16,
            destination_port: 443,
        };
        let hash = FlowHash::of_bytes(&tuple.to_bytes());
        let balancer = (((words[1] >> 32) * u64::from(self.scenario.balancers)) >> 32) as u8;
        let server = self.balancers[usize::from(balancer)].syn(hash, &self.known, self.now).unwrap_or(0);
        let work = exponential(&mut self.works, self.mean_work_ns).max(1);
        self.known[usize::from(server)] += 1;
        let syn_ns = self.now;
        self.flows.push(FlowState { hash, balancer, server, done: false, syn_ns, arrived_ns: 0, work });
        self.agenda.plan(self.now + self.one_way_ns, Event::Arrival { flow });
        if flow + 1 < self.scenario.flows {
            self.agenda.plan(self.now + exponential(&mut self.gaps, self.mean_gap_ns), Event::Syn);
        }
        Ok(())
    }

    fn arrival(&mut self, flow: u32) {
        let state = &mut self.flows[flow as usize];
        state.arrived_ns = self.now;
        let FlowState { balancer, server, work, .. } = *state;
        let at = &mut self.servers[usize::from(server)];
        at.advance(self.now);
        at.push(flow, work);
        at.agent.started();
        let report = at.agent.report(self.balancers[0].widths());
        self.agenda.plan(self.now + self.one_way_ns, Event::SynAck { balancer, server, report });
        self.announce(server);
    }

    fn departure(&mut self, server: u8, version: u32) {
        let at = &mut self.servers[usize::from(server)];
        let Some(flow) = at.first().filter(|_| at.version == version) else { return };
        let state = &mut self.flows[flow as usize];
        state.done = true;
        at.advance(self.now);
        at.pop(state.work);
        let ticks = (self.now - state.arrived_ns) / 10_240;
        // Every flow started, so it can complete.
        let _ = at.agent.completed(u32::try_from(ticks).unwrap_or(u32::MAX));
        self.known[usize::from(server)] -= 1;
        self.meter.completed(self.now - state.syn_ns);
        self.announce(server);
    }

    fn announce(&mut self, server: u8) {
        let at = &self.servers[usize::from(server)];
        if let Some(then) = at.next_departure() {
            self.agenda.plan(then, Event::Departure { server, version: at.version });
        }
    }

    /// From 5 to 95 % of the time that the flows take to come.
    fn sample(&mut self) {
        let whole = u64::from(self.scenario.flows) * self.mean_gap_ns;
        if (whole / 20..=whole / 20 * 19).contains(&self.now) {
            self.servers.iter_mut().for_each(|server| server.advance(self.now));
            self.meter.sample(self.servers.iter().map(Server::loads));
        }
        self.agenda.plan(self.now + self.sample_ns, Event::Sample);
    }

    /// Servers come, and every flow under way sends a packet.
    fn grow(&mut self) -> Result<(), ScenarioError> {
        let (now, servers) = (self.now, self.scenario.servers);
        self.balancers.iter_mut().try_for_each(|balancer| balancer.grow(self.scenario, servers, now))?;
        for flow in self.flows.iter().filter(|flow| !flow.done) {
            let balancer = &self.balancers[usize::from(flow.balancer)];
            let next = next_packet(balancer, self.codec, flow.hash, flow.server);
            self.meter.under_way += 1;
            self.meter.broken += u32::from(next != Some(flow.server));
        }
        Ok(())
    }
}
