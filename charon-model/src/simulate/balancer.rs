//! One of several balancers, with the crate's own parts.

use core::net::{IpAddr, Ipv4Addr};

use saer::select::SplitMix64;

use super::{Scenario, ScenarioError};
use crate::agent::Report;
use crate::alias::AliasTables;
use crate::control::Control;
use crate::dip_reg_score::{DipRegScore, Request as Transaction};
use crate::feedback::InFlight;
use crate::hash::FlowHash;
use crate::ip_table::{IpTable, Row};
use crate::params::{Params, Widths};
use crate::select::{Charon, Ecmp, LeastScore, LoadView, Request, RoundRobin, ServerSelector, Wcmp};

/// How new flows are assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// By hash alone.
    Ecmp,
    /// By hash, in proportion to the servers' speeds, which somebody has configured.
    Wcmp,
    /// Two candidates by weights that the control plane renews every period; the lower score wins.
    Charon,
    /// One after the other.
    RoundRobin,
    /// The oracle: the fewest flows of all servers, with all balancers' flows known at once.
    LeastScore,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Ecmp, Self::RoundRobin, Self::Wcmp, Self::Charon, Self::LeastScore];

    /// A stable name for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ecmp => "ecmp",
            Self::Wcmp => "wcmp",
            Self::Charon => "charon",
            Self::RoundRobin => "round_robin",
            Self::LeastScore => "oracle",
        }
    }
}

/// A tick: 2¹¹ cycles at 200 MHz.
const TICK_NS: u64 = 10_240;

pub(super) struct Balancer {
    policy: Policy,
    charon: Charon,
    wcmp: Wcmp,
    turns: RoundRobin,
    scores: DipRegScore,
    control: Control,
    in_flight: InFlight,
    pub(super) ips: IpTable,
    servers: u16,
}

impl Balancer {
    pub(super) fn new(scenario: &Scenario, params: &Params, policy: Policy) -> Result<Self, ScenarioError> {
        let tables = AliasTables::new(params.random_bits()).map_err(|_| scenario.impossible())?;
        let mut balancer = Self {
            policy,
            charon: Charon { tables: tables.clone(), replacement: scenario.replacement },
            wcmp: Wcmp { tables },
            turns: RoundRobin::default(),
            scores: DipRegScore::new(params),
            control: Control::new(params, u64::from(scenario.period_us) * 1_000 / TICK_NS),
            in_flight: InFlight::new(params, scenario.feedback),
            ips: IpTable::new(params),
            servers: 0,
        };
        balancer.grow(scenario, scenario.servers_at_start(), 0)?;
        Ok(balancer)
    }

    pub(super) const fn policy(&self) -> Policy {
        self.policy
    }

    pub(super) const fn widths(&self) -> Widths {
        self.scores.widths()
    }

    /// Servers come, up to `servers` of them.
    pub(super) fn grow(&mut self, scenario: &Scenario, servers: u16, now_ns: u64) -> Result<(), ScenarioError> {
        for id in self.servers..servers {
            let id = id as u8;
            let row = Row { address: IpAddr::V4(Ipv4Addr::new(10, 0, 0, id)), mac: [2, 0, 0, 0, 0, id], port: 1 };
            self.control.add(id, row, &mut self.ips).map_err(|_| scenario.impossible())?;
        }
        self.servers = servers;
        let mut speeds = [0u32; 256];
        (0..servers).for_each(|id| speeds[usize::from(id)] = Scenario::speed(id as u8) as u32);
        self.wcmp.tables.replace(&speeds[..self.scores.rows().len()]).map_err(|_| scenario.impossible())?;
        self.period(scenario, now_ns)
    }

    /// The control plane's period ends.
    pub(super) fn period(&mut self, scenario: &Scenario, now_ns: u64) -> Result<(), ScenarioError> {
        self.in_flight.age();
        let ran = self.control.run(now_ns / TICK_NS, &mut self.scores, &mut self.charon.tables);
        ran.map(|_| ()).map_err(|_| scenario.impossible())
    }

    /// A SYN: the server for it.
    pub(super) fn syn(&mut self, hash: FlowHash, known: &[u64], now_ns: u64) -> Option<u8> {
        let tick = (now_ns / TICK_NS) as u32;
        let request = Request { key: hash.key(), client: 0, weight: 1 };
        let mut nothing = SplitMix64(0);
        let here = &known[..self.servers.into()];
        let pick = match self.policy {
            Policy::Charon => {
                let id = self.charon.assign(hash, &mut self.scores, tick)?.id;
                self.in_flight.assigned(id);
                return Some(id);
            }
            Policy::Ecmp => Ecmp.pick(&request, &here, &mut nothing)?,
            Policy::Wcmp => self.wcmp.pick(&request, &(self.scores.rows().len() as u32), &mut nothing)?,
            Policy::RoundRobin => {
                let pick = self.turns.pick(&request, &here, &mut nothing)?;
                self.turns.assigned(&pick, tick.into());
                pick
            }
            Policy::LeastScore => LeastScore { seed: 1 }.pick(&request, &here, &mut nothing)?,
        };
        Some(pick.winner as u8)
    }

    /// A SYN-ACK with a server's report.
    pub(super) fn syn_ack(&mut self, server: u8, report: Report, now_ns: u64) {
        let g = self.in_flight.reported(server, report.g);
        let tick = (now_ns / TICK_NS) as u32;
        let _ = self.scores.apply(Transaction::update(server, g, report.v, tick));
    }

    /// Where a policy without memory sends a packet now.
    pub(super) fn by_hash(&self, hash: FlowHash) -> Option<u8> {
        let request = Request { key: hash.key(), client: 0, weight: 1 };
        let mut nothing = SplitMix64(0);
        let all = self.scores.rows().len() as u32;
        let (selector, view): (&dyn ServerSelector, &dyn LoadView) = match self.policy {
            Policy::Wcmp => (&self.wcmp, &all),
            _ => (&Ecmp, &u32::from(self.servers)),
        };
        selector.pick(&request, view, &mut nothing).map(|pick| pick.winner as u8)
    }
}
