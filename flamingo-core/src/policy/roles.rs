//! Who is a donor, who can receive, and why not (`// A1 L1-3`).
//!
//! *Options* (ours), each off in the paper's preset:
//! - *validated throughput*: the donor test and all rates go by the transactions counted for accounts. What accounts do
//!   not send cannot leave with them; and spare capacity is what the larger of both throughputs leaves.
//! - *participation*: a receiver has certificates in ⌈4w/5⌉ rounds of the window. Throughput alone calls a validator that
//!   nobody sends anything to unable, and one that fell out of the DAG half a window ago able. Without throughput its
//!   room is untested, so it receives on probation: ⌊C/8⌋ at most.
//! - *contradiction clamp*: C is what the [`TrackRecord`](crate::signal::TrackRecord), this window included, leaves of it. It
//!   knows the larger of both throughputs: what accounts do not send makes queues long, too.

use super::{DonorReport, Role, ValidatorReport};
use crate::id::ValidatorId;
use crate::params::{RawParams, ReceiverTest, Throughput};
use crate::protocol::CommittedView;
use crate::signal::{ValidatorSignals, WindowSignals};

/// Room on probation, as a part of the capacity.
const PROBATION_PART: u64 = 8;

/// The rules of lines 1-3.
#[derive(Clone, Copy, Debug)]
pub(super) struct Roles {
    min_queue_delay_us: u64,
    throughput: Throughput,
    receiver_test: ReceiverTest,
    clamp: bool,
    /// Of the window's w rounds.
    least_certificates: u64,
}

impl Roles {
    pub(super) const fn new(raw: &RawParams) -> Self {
        Self {
            min_queue_delay_us: raw.min_queue_delay_us,
            throughput: raw.throughput,
            receiver_test: raw.receiver_test,
            clamp: raw.contradiction_clamp,
            least_certificates: (4 * raw.window_rounds).div_ceil(5),
        }
    }

    /// One part for each validator of the window.
    pub(super) fn of<'a>(
        &'a self,
        signals: &'a WindowSignals,
        view: &'a CommittedView,
    ) -> impl Iterator<Item = ValidatorReport> + 'a {
        let validators = (0..=u16::MAX).map(ValidatorId).zip(&signals.validators);
        validators.map(|(validator, v)| {
            let throughput_utps = signals.throughput_utps(v, self.throughput);
            let carried_utps = signals.carried_utps(v, self.throughput);
            let capacity_utps = view.capacity(validator);
            let clamped_utps = capacity_utps.and_then(|declared| self.clamp_utps(v, carried_utps, declared));
            ValidatorReport {
                validator,
                capacity_utps,
                clamped_utps,
                throughput_utps,
                certified_utps: v.throughput_utps.get(),
                certificates: v.certificates,
                queue_delay_us: v.queue_delay_us.get(),
                role: match clamped_utps.or(capacity_utps) {
                    Some(capacity_utps) => self.role(v, throughput_utps, carried_utps, capacity_utps),
                    None => Role::NoCapacity,
                },
            }
        })
    }

    fn clamp_utps(&self, v: &ValidatorSignals, carried_utps: u64, declared_utps: u64) -> Option<u64> {
        let record = v.record.after(carried_utps, v.queue_delay_us.get(), self.min_queue_delay_us);
        if self.clamp { record.clamp_utps(declared_utps) } else { None }
    }

    /// A1 L1-3, with C as it is believed.
    fn role(&self, v: &ValidatorSignals, throughput_utps: u64, carried_utps: u64, capacity_utps: u64) -> Role {
        match throughput_utps.checked_sub(capacity_utps) {
            Some(0) => Role::Full,
            Some(_) if v.queue_delay_us.get() <= self.min_queue_delay_us => Role::ShortQueue,
            Some(structural_excess_utps) => {
                Role::Donor(DonorReport { structural_excess_utps, ..DonorReport::default() })
            }
            None => self.receiver(v, carried_utps, capacity_utps),
        }
    }

    /// The role of a validator that is not overloaded; `carried_utps` is all that it carries.
    fn receiver(&self, v: &ValidatorSignals, carried_utps: u64, capacity_utps: u64) -> Role {
        let spare_utps = capacity_utps.saturating_sub(carried_utps);
        let (spare_utps, probation) = match self.receiver_test {
            ReceiverTest::Throughput if carried_utps == 0 => return Role::Idle,
            ReceiverTest::Throughput => (spare_utps, false),
            ReceiverTest::Participation if u64::from(v.certificates) < self.least_certificates => {
                return Role::Absent { certificates_wanted: self.least_certificates };
            }
            ReceiverTest::Participation if carried_utps == 0 => (capacity_utps / PROBATION_PART, true),
            ReceiverTest::Participation => (spare_utps, false),
        };
        match spare_utps {
            0 => Role::Full,
            _ => Role::Receiver { spare_utps, reserved_utps: 0, accounts: 0, probation },
        }
    }
}
