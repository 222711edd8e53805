//! The model of time.

/// How long things take, in ticks of a model: only their ratios matter.
///
/// ```
/// use flamingo_sched::Timing;
/// // A transaction of weight 1 takes 10 ticks, a remote input is there 20 ticks later, and costs 1 tick to receive.
/// let timing = Timing::new(10, 20).and_then(|timing| timing.cost(1)).and_then(|timing| timing.lambda(5));
/// assert!(timing.is_ok());
/// assert!(Timing::new(10, Timing::MAX + 1).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    pub(super) service: u32,
    pub(super) latency: u32,
    pub(super) cost: u32,
    pub(super) lambda: u32,
}

/// Why a model of time was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimingError {
    /// A value beyond the bound up to which clocks cannot overflow.
    #[error("a {what} of {got} ticks: at most {} are possible", Timing::MAX)]
    TooLong {
        /// Which value.
        what: &'static str,
        /// The value given.
        got: u32,
    },
    /// Transactions that take no time: the clocks would stand still.
    #[error("a service of 0 ticks: transactions take at least 1")]
    NoService,
}

impl Timing {
    /// The largest value of each part, 2²⁴: with keys and clocks at their bounds, sums stay below 2⁶⁴.
    pub const MAX: u32 = 1 << 24;

    /// A model in which a unit of weight takes `service` ticks and a remote input is there `latency` ticks after it is
    /// ready; receiving costs nothing, and λ is one service.
    ///
    /// # Errors
    /// [`TimingError`] if `service` is zero, or one of them is above [`MAX`](Self::MAX).
    pub const fn new(service: u32, latency: u32) -> Result<Self, TimingError> {
        if service == 0 {
            return Err(TimingError::NoService);
        }
        match (check("service", service), check("latency", latency)) {
            (Ok(service), Ok(latency)) => Ok(Self { service, latency, cost: 0, lambda: service }),
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }

    /// All parts by name.
    pub(super) const fn parts(self) -> [(&'static str, u32); 4] {
        let Self { service, latency, cost, lambda } = self;
        [("service", service), ("latency", latency), ("cost", cost), ("lambda", lambda)]
    }

    /// The same with another cost of receiving a remote input, in ticks of the receiving worker.
    ///
    /// # Errors
    /// [`TimingError::TooLong`].
    pub fn cost(self, cost: u32) -> Result<Self, TimingError> {
        Ok(Self { cost: check("cost", cost)?, ..self })
    }

    /// The same with another λ: how many ticks of delay one remote input saved is worth. 0 looks at time alone.
    ///
    /// # Errors
    /// [`TimingError::TooLong`].
    pub fn lambda(self, lambda: u32) -> Result<Self, TimingError> {
        Ok(Self { lambda: check("lambda", lambda)?, ..self })
    }
}

/// A remote input two services later, λ of one service, nothing for receiving.
impl Default for Timing {
    fn default() -> Self {
        Self { service: 1, latency: 2, cost: 0, lambda: 1 }
    }
}

const fn check(what: &'static str, got: u32) -> Result<u32, TimingError> {
    if got > Timing::MAX { Err(TimingError::TooLong { what, got }) } else { Ok(got) }
}
