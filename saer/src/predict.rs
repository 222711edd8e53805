//! What to expect, without simulating: a mean-field oracle, and caps to choose. The only floats of the crate.
//!
//! The oracle lets n and Δ go to infinity, where the requests that meet a server in a round are Poisson and independent
//! of its past. It is a heuristic of ours, checked against runs at Δ ≥ 64; below that, servers notice each other.

#![allow(clippy::float_arithmetic, reason = "predictions decide nothing")]

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::graph::GraphReport;

/// What the mean field expects of a protocol on a large regular graph with |C| = |S|.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// Requests per ball over the whole run.
    pub requests_per_ball: f64,
    /// The fraction of servers that burn; 0 for raes.
    pub burned: f64,
    /// The fraction of balls that are never placed: 0, or what the collapse leaves.
    pub left: f64,
    /// Balls per client alive after rounds 1, 2, ….
    pub alive: Vec<f64>,
}

impl Prediction {
    /// The least number of rounds after which fewer than one ball of n clients is alive; `None` if that never happens, or
    /// if there is no ball.
    ///
    /// Runs scatter around it, and upwards more than downwards: the last few balls decide.
    #[must_use]
    pub fn rounds(&self, n: u32) -> Option<u32> {
        let mut alive = self.alive.iter().filter(|_| n > 0);
        alive.position(|alive| alive * f64::from(n) < 1.0).map(|at| at as u32 + 1)
    }
}

/// Below so many balls per client nothing is alive.
const NOTHING: f64 = 1e-12;
/// A round that refuses all but this fraction makes no progress.
const STALLED: f64 = 1e-9;
/// Probabilities below this are left out: more than 16 standard deviations from the mean, and nothing beside
/// [`NOTHING`] for any d.
const NEGLIGIBLE: f64 = 1e-60;
const MAX_ROUNDS: usize = 10_000;

/// saer with d balls a client and this cap: with A the requests per server so far, a server is closed to a further ball
/// if Poisson(A) ≥ cap. O(rounds · √A), whatever the cap.
#[must_use]
pub fn saer(d: u32, cap: u32) -> Prediction {
    let mut received = 0.0;
    let mut prediction = follow(d, |alive| {
        received += alive;
        Poisson::new(received).at_least(cap)
    });
    prediction.burned = Poisson::new(received).at_least(cap.saturating_add(1));
    prediction
}

/// raes: the accepted load of a server as a Markov chain on 0..=cap. O(rounds · loads · √d), with as many loads, of at
/// most cap + 1, as have a probability worth counting: some ten for small d, and of the order of √d while few are refused.
#[must_use]
pub fn raes(d: u32, cap: u32) -> Prediction {
    let mut loads = BTreeMap::from([(0, 1.0)]);
    follow(d, |alive| {
        let arrivals = Poisson::new(alive);
        let mut next = BTreeMap::new();
        let mut refused = 0.0;
        for (&load, &probability) in &loads {
            let room = cap - load;
            // A ball that comes with X others is refused unless X + 1 fit.
            refused += probability * arrivals.at_least(room);
            *next.entry(load).or_insert(0.0) += probability * arrivals.at_least(room.saturating_add(1));
            for (count, arrival) in arrivals.up_to(room) {
                *next.entry(load + count).or_insert(0.0) += probability * arrival;
            }
        }
        next.retain(|_, probability| *probability > NEGLIGIBLE);
        loads = next;
        refused
    })
}

/// From d balls per client, by the fraction that each round refuses.
fn follow(d: u32, mut refused: impl FnMut(f64) -> f64) -> Prediction {
    let balls = f64::from(d);
    let (mut alive, mut requests) = (balls, 0.0);
    let mut prediction = Prediction { requests_per_ball: 0.0, burned: 0.0, left: 0.0, alive: Vec::new() };
    while alive >= NOTHING && prediction.alive.len() < MAX_ROUNDS {
        requests += alive;
        let fraction = refused(alive);
        alive *= fraction;
        prediction.alive.push(alive);
        if 1.0 - fraction < STALLED {
            break;
        }
    }
    if d > 0 {
        prediction.requests_per_ball = requests / balls;
        prediction.left = if alive < NOTHING { 0.0 } else { alive / balls };
    }
    prediction
}

/// ⌈2ρd⌉ with ρ = Δmax(S)/Δmin(C) as a fraction, what was enough in every run we made with n ≤ 10⁶ and
/// Δmin ≥ max(16, 2 ln n). `u32::MAX − 1` at most; a zero denominator counts as 1.
#[must_use]
pub fn recommended_cap(d: u32, rho: (u32, u32)) -> u32 {
    let scaled = 2 * u128::from(d) * u128::from(rho.0);
    u32::try_from(scaled.div_ceil(u128::from(rho.1.max(1)))).unwrap_or(u32::MAX).min(u32::MAX - 1)
}

/// ⌈max(32d, 288/η)⌉, the cap c·d with the constant of the proof for regular graphs (Theorem 1, section 3), where
/// η = Δ/log₂² n. `u32::MAX − 1` for an η that is not positive, or no number.
#[must_use]
pub fn theorem_cap(d: u32, eta: f64) -> u32 {
    let by_degree = if eta > 0.0 { 288.0 / eta } else { f64::INFINITY };
    let floor = 32.0 * f64::from(d);
    let cap = if by_degree > floor { by_degree } else { floor };
    // A cast saturates, and is 0 for what is no number.
    let whole = cap as u32;
    whole.saturating_add(u32::from(f64::from(whole) < cap)).min(u32::MAX - 1)
}

/// Whether Theorem 1 speaks about a graph with a given d and cap.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Theorem {
    /// η = Δmin(C)/log₂² n. Any positive constant will do for the theorem; a small one asks for a large cap.
    pub eta: f64,
    /// ρ = Δmax(S)/Δmin(C).
    pub rho: f64,
    /// The cap that the proof asks for: [`theorem_cap`] for regular graphs; times ρ otherwise, which is derived, not
    /// stated in the paper.
    pub cap: u32,
    /// |C| = |S|, no client without server, and a cap of at least that.
    pub applies: bool,
}

impl GraphReport {
    /// The conditions of Theorem 1 for d balls a client and this cap.
    #[must_use]
    pub fn theorem(&self, d: u32, cap: u32) -> Theorem {
        let log = ln(f64::from(self.clients.max(2))) / core::f64::consts::LN_2;
        let eta = f64::from(self.client_degrees.0) / (log * log);
        let (high, low) = self.rho();
        let rho = f64::from(high) / f64::from(low);
        let regular = theorem_cap(d, eta);
        let wanted = if rho > 1.0 { f64::from(regular) * rho } else { f64::from(regular) };
        let whole = wanted as u32;
        let wanted = whole.saturating_add(u32::from(f64::from(whole) < wanted));
        let applies = self.clients == self.servers && self.client_degrees.0 > 0 && cap >= wanted;
        Theorem { eta, rho, cap: wanted, applies }
    }
}

/// The Poisson distribution where it is not negligible.
struct Poisson {
    first: u64,
    /// P(X ≥ first), P(X ≥ first + 1), …; the last is 0.
    tails: Vec<f64>,
}

impl Poisson {
    /// From the mode outwards, with 1 for the probability of the mode, and divided by their sum: no exponential that
    /// could vanish. O(√mean).
    fn new(mean: f64) -> Self {
        let mode = mean as u64;
        let mut terms = Vec::new();
        let (mut first, mut term) = (mode, 1.0);
        while first > 0 {
            term *= first as f64 / mean;
            if term < NEGLIGIBLE {
                break;
            }
            first -= 1;
            terms.push(term);
        }
        terms.reverse();
        let (mut k, mut term) = (mode, 1.0);
        while term >= NEGLIGIBLE {
            terms.push(term);
            k += 1;
            term *= mean / k as f64;
        }
        // From the far end, so that small tails keep their digits.
        let mut sum = 0.0;
        terms.push(0.0);
        for term in terms.iter_mut().rev() {
            sum += *term;
            *term = sum;
        }
        terms.iter_mut().for_each(|tail| *tail /= sum);
        Self { first, tails: terms }
    }

    /// P(X ≥ k).
    fn at_least(&self, k: u32) -> f64 {
        match u64::from(k).checked_sub(self.first) {
            None => 1.0,
            Some(at) => usize::try_from(at).ok().and_then(|at| self.tails.get(at)).copied().unwrap_or(0.0),
        }
    }

    /// The k up to `last` with their probabilities.
    fn up_to(&self, last: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let probabilities = self.tails.windows(2).map(|tails| tails[0] - tails[1]);
        let inside = (self.first..).zip(probabilities).take_while(move |&(k, _)| k <= u64::from(last));
        inside.map(|(k, probability)| (k as u32, probability))
    }
}

/// ln(x) for x ≥ 1: halved into [1, 2), then 2·artanh((x − 1)/(x + 1)).
fn ln(x: f64) -> f64 {
    let (mut rest, mut halvings) = (x, 0);
    while rest >= 2.0 {
        rest /= 2.0;
        halvings += 1;
    }
    let z = (rest - 1.0) / (rest + 1.0);
    let (mut power, mut sum) = (z, 0.0);
    for k in 0..30 {
        sum += power / f64::from(2 * k + 1);
        power *= z * z;
    }
    2.0 * sum + f64::from(halvings) * core::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b) < tolerance && (b - a) < tolerance
    }

    /// The oracle's own numbers: (d, cap), requests per ball and burned fraction of saer, requests per ball of raes.
    #[test]
    fn the_oracle_is_as_tabulated() {
        for (d, cap, requests, burned) in [
            (1, 2, 1.4231, 0.1721),
            (1, 3, 1.0888, 0.0249),
            (2, 3, 1.7304, 0.4549),
            (2, 4, 1.1786, 0.0906),
            (4, 6, 1.3492, 0.2979),
            (4, 8, 1.0546, 0.0286),
        ] {
            let saer = saer(d, cap);
            assert!(close(saer.requests_per_ball, requests, 1e-4), "d {d} cap {cap}: {saer:?}");
            assert!(close(saer.burned, burned, 1e-4), "d {d} cap {cap}: {saer:?}");
            assert!(saer.left == 0.0);
        }
        for (d, cap, requests) in [(1, 2, 1.3683), (2, 3, 1.5061), (4, 8, 1.0524)] {
            let raes = raes(d, cap);
            assert!(close(raes.requests_per_ball, requests, 5e-3), "d {d} cap {cap}: {}", raes.requests_per_ball);
            assert!(raes.burned == 0.0 && raes.left == 0.0);
        }
    }

    /// Below its threshold saer collapses; the smallest cap that works, by d.
    #[test]
    fn the_threshold_of_collapse() {
        for (d, cap, left) in [(1, 1, 0.354), (4, 5, 0.097), (8, 9, 0.293)] {
            assert!(close(saer(d, cap).left, left, 1e-3), "d {d} cap {cap}: {}", saer(d, cap).left);
            assert_eq!(saer(d, cap).rounds(1_000_000), None);
        }
        for (d, least) in [(1, 2), (2, 3), (3, 4), (4, 6), (6, 8), (8, 11), (12, 15), (16, 20)] {
            let works = |cap| saer(d, cap).left == 0.0;
            assert!(works(least) && !works(least - 1), "d {d}");
            assert!(raes(d, d + 1).left == 0.0, "raes has no such threshold");
        }
    }

    /// The distribution agrees with its formula, evaluated with the host's functions: the logarithms of that
    /// cost more digits than the distribution does.
    #[test]
    fn the_distribution_is_exact_enough() {
        for mean in [0.0, 1e-9, 0.1, 1.0, 4.8, 33.3, 700.0, 746.0, 1e4] {
            let poisson = Poisson::new(mean);
            let (mut log_factorial, mut sum) = (0.0, 0.0);
            for k in 0..20_000_u32 {
                let power = if k == 0 { 0.0 } else { f64::from(k) * f64::ln(mean) };
                assert!(close(poisson.at_least(k), 1.0 - sum, 1e-9), "mean {mean}, k {k}: {}", 1.0 - sum);
                sum += f64::exp(power - mean - log_factorial);
                log_factorial += f64::ln(f64::from(k + 1));
            }
            let listed: f64 = poisson.up_to(u32::MAX).map(|(_, probability)| probability).sum();
            assert!(close(listed, 1.0, 1e-12), "mean {mean}: {listed}");
        }
    }

    /// With twice the room, large d is easier than small: beyond means of 745, where e^(−mean) is no double, too.
    #[test]
    fn many_balls_with_twice_the_room() {
        for d in [700, 745, 746, 1000, 10_000, 1_000_000] {
            for prediction in [saer(d, 2 * d), raes(d, 2 * d)] {
                assert!(prediction.burned < 1e-9 && prediction.left == 0.0, "d {d}: {prediction:?}");
                assert!(close(prediction.requests_per_ball, 1.0, 1e-9), "d {d}: {prediction:?}");
                assert!(matches!(prediction.rounds(1_000_000), Some(1 | 2)), "d {d}: {prediction:?}");
            }
        }
    }

    /// The cap costs nothing: neither time nor memory grows with it.
    #[test]
    fn large_caps_are_cheap() {
        for cap in [100_000, u32::MAX - 1, u32::MAX] {
            for prediction in [saer(1, cap), raes(1, cap), saer(100_000, cap.max(200_000))] {
                assert_eq!((prediction.burned, prediction.left, prediction.alive.len()), (0.0, 0.0, 1), "cap {cap}");
            }
        }
        assert_eq!(saer(u32::MAX, 1).left, 1.0);
    }

    /// The logarithm agrees with the host's.
    #[test]
    fn the_series_is_exact_enough() {
        for x in [1.0, 1.5, 2.0, 10.0, 1e6, 4e9] {
            assert!(close(ln(x), f64::ln(x), 1e-12), "{x}");
        }
    }

    /// Caps to choose, at their edges.
    #[test]
    fn caps_to_choose() {
        assert_eq!(recommended_cap(4, (3, 2)), 12);
        assert_eq!(recommended_cap(1, (101, 100)), 3);
        assert_eq!(recommended_cap(u32::MAX, (u32::MAX, 0)), u32::MAX - 1);
        assert_eq!(theorem_cap(1, 10.0), 32);
        assert_eq!(theorem_cap(1, 1.0), 288);
        assert_eq!(theorem_cap(1, 0.7), 412);
        for eta in [0.0, -0.0, -1.0, f64::NAN, f64::NEG_INFINITY, f64::MIN_POSITIVE] {
            assert_eq!(theorem_cap(1, eta), u32::MAX - 1, "eta {eta}");
        }
        assert_eq!((theorem_cap(0, f64::INFINITY), theorem_cap(u32::MAX, 1.0)), (0, u32::MAX - 1));
    }

    /// No balls, no room: a prediction all the same.
    #[test]
    fn extremes_are_predicted() {
        assert_eq!([saer(0, 5).rounds(1000), saer(2, 4).rounds(0), raes(2, 4).rounds(0)], [None; 3]);
        assert_eq!((saer(0, 5).left, saer(1, 0).left), (0.0, 1.0));
        assert_eq!(raes(3, 0).left, 1.0);
    }
}
