//! What a ledger is set up with.

use alloc::boxed::Box;

use crate::committee::Committee;
use crate::hash::Domain;
use crate::params::Params;
use crate::protocol::home::{HomeRule, RendezvousHome};
use crate::protocol::rules::Rules;
use crate::protocol::sybil::AdmissionCheck;
use crate::rank::{EpochSeed, KeyedHash};

/// The configuration of one epoch's ledger. Everything but `lookup` has to be the same at every replica.
///
/// Who may relay follows from the seed and the parameters, and is not said again here:
/// [`MigrationLedger::relays`](super::MigrationLedger::relays).
#[derive(Debug)]
#[non_exhaustive]
pub struct LedgerConfig<S> {
    /// The committee.
    pub committee: Committee,
    /// The parameters.
    pub params: Params,
    /// How clients' signatures are checked.
    pub scheme: S,
    /// Who may have an account.
    pub admission: Box<dyn AdmissionCheck>,
    /// Where accounts start.
    pub home: Box<dyn HomeRule>,
    /// seed_e. Given once, because the home rule and the look-up key come from it, too.
    pub(super) seed: EpochSeed,
    /// Keys the look-ups of accounts and of the tally's statements, which no result depends on: replicas may have
    /// different keys. Hosts put a private random key here, so that neither a client that chooses its id nor a faulty
    /// validator that chooses what it lists can fill one bucket. The default, from the seed, is public.
    pub lookup: KeyedHash,
    /// The rules: the default, or in tests weakened ones.
    pub rules: Rules,
}

impl<S> LedgerConfig<S> {
    /// Homes by stake-weighted rendezvous and a look-up key, both from `seed`.
    pub fn new(
        committee: Committee,
        params: Params,
        scheme: S,
        seed: &EpochSeed,
        admission: impl AdmissionCheck + 'static,
    ) -> Self {
        Self {
            seed: *seed,
            committee,
            params,
            scheme,
            admission: Box::new(admission),
            home: Box::new(RendezvousHome::new(seed)),
            lookup: KeyedHash::new(seed, Domain("flamingo/account-lookup/v1")),
            rules: Rules::default(),
        }
    }

    /// The same with another home rule.
    #[must_use]
    pub fn with_home(self, home: impl HomeRule + 'static) -> Self {
        Self { home: Box::new(home), ..self }
    }
}
