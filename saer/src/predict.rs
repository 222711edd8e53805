//! What to expect, without simulating: a mean-field oracle, and caps to choose. The only floats of the crate.
//!
//! The oracle lets n and Δ go to infinity, where the requests that meet a server in a round are Poisson and independent
//! of its past. It is a heuristic of ours, checked against runs at Δ ≥ 64; below that, servers notice each other.

#![allow(clippy::float_arithmetic, reason = "predictions decide nothing")]

use alloc::vec;
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
        self.alive.iter().position(|alive| alive * f64::from(n) < 1.0).map(|at| at as u32 + 1)
    }
}

/// Below so many balls per client nothing is alive.
const NOTHING: f64 = 1e-12;
/// A round that refuses all but this fraction makes no progress.
const STALLED: f64 = 1e-9;
const MAX_ROUNDS: usize = 10_000;

/// saer with d balls a client and this cap: with A the requests per server so far, a server is closed to a further ball
/// if Poisson(A) ≥ cap. O(rounds · cap).
#[must_use]
pub fn saer(d: u32, cap: u32) -> Prediction {
    let mut received = 0.0;
    let mut prediction = follow(d, |alive| {
        received += alive;
        at_least(received, cap)
    });
    prediction.burned = at_least(received, cap.saturating_add(1));
    prediction
}

/// raes: the accepted load of a server as a Markov chain on 0..=cap. O(rounds · cap²).
#[must_use]
pub fn raes(d: u32, cap: u32) -> Prediction {
    let mut loads = vec![0.0; cap as usize + 1];
    loads[0] = 1.0;
    follow(d, |alive| {
        let arrivals = poisson(alive, cap);
        let mut next = vec![0.0; loads.len()];
        let mut refused = 0.0;
        for (load, &probability) in loads.iter().enumerate() {
            let room = cap as usize - load;
            let fits: f64 = arrivals[..=room].iter().sum();
            // A ball that comes with X others is refused unless X + 1 fit.
            refused += probability * (1.0 - arrivals[..room].iter().sum::<f64>());
            next[load] += probability * (1.0 - fits);
            for (count, &arrival) in arrivals[..=room].iter().enumerate() {
                next[load + count] += probability * arrival;
            }
        }
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
/// η = Δ/log₂² n.
#[must_use]
pub fn theorem_cap(d: u32, eta: f64) -> u32 {
    let by_degree = 288.0 / eta;
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

/// P(Poisson(mean) ≥ k).
fn at_least(mean: f64, k: u32) -> f64 {
    if k == 0 {
        return 1.0;
    }
    let below: f64 = poisson(mean, k - 1).iter().sum();
    if below > 1.0 { 0.0 } else { 1.0 - below }
}

/// P(Poisson(mean) = 0), …, P(Poisson(mean) = last).
fn poisson(mean: f64, last: u32) -> Vec<f64> {
    let mut term = exp_minus(mean);
    let mut terms = vec![term];
    for k in 1..=last {
        term *= mean / f64::from(k);
        terms.push(term);
    }
    terms
}

/// e^(−x) for x ≥ 0: a power series near 0, squared back. `core` has no exponential.
fn exp_minus(x: f64) -> f64 {
    let (mut small, mut squarings) = (x, 0);
    while small > 0.125 && squarings < 64 {
        small /= 2.0;
        squarings += 1;
    }
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..=12 {
        term *= -small / f64::from(k);
        sum += term;
    }
    (0..squarings).fold(sum, |power, _| power * power)
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

    /// The series agree with the host's functions.
    #[test]
    fn the_series_are_exact_enough() {
        for x in [0.0, 1e-9, 0.1, 1.0, 4.8, 33.3, 700.0, 800.0] {
            assert!(close(exp_minus(x), f64::exp(-x), 1e-14), "{x}");
        }
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
        assert_eq!(theorem_cap(1, 0.0), u32::MAX - 1);
    }

    /// No balls, no room: a prediction all the same.
    #[test]
    fn extremes_are_predicted() {
        assert_eq!(saer(0, 5).rounds(1000), None);
        assert_eq!((saer(0, 5).left, saer(1, 0).left), (0.0, 1.0));
        assert_eq!(raes(3, 0).left, 1.0);
    }
}
