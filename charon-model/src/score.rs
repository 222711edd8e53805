//! A server's score: the tasks it probably still has, as pure functions.
//!
//! *What it is.* g′ = max(0, g − v · (now − t)) of §3 of the paper: the remaining tasks g that were last stored at tick t,
//! less what a server that completes v tasks per tick has completed since.
//!
//! *Variant.* Fixed point with one scale for g and v, so that v · dt needs no rounding ([`Widths`]).
//!
//! *Deviations.* The paper names neither widths nor what happens at their ends. Ours: ages are taken modulo 2^`t_bits`; a
//! score of 2^`stale_bits` ticks or older is 0 ("stale means idle"); v · dt stops at 2^`g_bits`; one more task changes
//! nothing once all whole tasks are counted ("held").
//!
//! *Cost.* One subtraction, one multiplication, one comparison and one saturating subtraction.

use crate::params::Widths;

/// A row of the Score Table. All zero when the power comes up: an idle server of unknown speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Score {
    /// g: remaining tasks when it was stored, with [`Widths::task`] units to a task.
    pub g: u64,
    /// v: what the server completes per tick, in the same units.
    pub v: u32,
    /// t: the tick at which it was stored.
    pub t: u32,
}

/// dt: the ticks from t to now, modulo 2^`t_bits`.
#[must_use]
#[inline]
pub const fn elapsed(widths: Widths, t: u32, now: u32) -> u32 {
    now.wrapping_sub(t) & widths.t_max()
}

/// D: what a server of speed v completes in dt ticks, at most 2^`g_bits`, which empties any score.
#[must_use]
#[inline]
pub const fn drained(widths: Widths, v: u32, dt: u32) -> u64 {
    let all = widths.g_max() + 1;
    // Both factors have at most 32 bits.
    let product = v as u64 * dt as u64;
    if product < all { product } else { all }
}

/// g′: the remaining tasks now (§3). 0 if the score is stale.
#[must_use]
#[inline]
pub const fn remaining(widths: Widths, score: Score, now: u32) -> u64 {
    let dt = elapsed(widths, score.t, now);
    if dt >= widths.stale_ticks() { 0 } else { score.g.saturating_sub(drained(widths, score.v, dt)) }
}

/// g′ plus the task that was just assigned (§4: "incremented by 1 unit task"), or g′ itself if its whole part is as large
/// as it can be: a held score never wraps to idle.
#[must_use]
#[inline]
pub const fn plus_task(widths: Widths, g: u64) -> u64 {
    if g >> widths.raw().fraction_bits >= widths.tasks_max() as u64 { g } else { g + widths.task() }
}

/// The row after its score was computed and stored: g′, the same v, t = now.
#[must_use]
#[inline]
pub const fn touched(widths: Widths, score: Score, now: u32) -> Score {
    Score { g: remaining(widths, score, now), v: score.v, t: now & widths.t_max() }
}

/// The row after a server reported `tasks` active and speed `v`: both as they come, t = now. Numbers too large for their
/// column count as the largest that fits.
#[must_use]
#[inline]
pub const fn reported(widths: Widths, tasks: u16, v: u32, now: u32) -> Score {
    let tasks = if tasks > widths.tasks_max() { widths.tasks_max() } else { tasks };
    let v = if v > widths.v_max() { widths.v_max() } else { v };
    Score { g: (tasks as u64) << widths.raw().fraction_bits, v, t: now & widths.t_max() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::params::RawWidths;

    fn full() -> Widths {
        Widths::new(RawWidths::FULL).unwrap()
    }

    /// The three presets, and any row of each.
    fn rows() -> impl Strategy<Value = (Widths, Score)> {
        let presets = [RawWidths::FULL, RawWidths::WORDS, RawWidths::NARROW];
        (0usize..3, any::<u64>(), 0u32..64, any::<u32>(), 0u32..32, any::<u32>()).prop_map(
            move |(at, g, less_g, v, less_v, t)| {
                let widths = Widths::new(presets[at]).unwrap();
                let g = (g & widths.g_max()) >> (less_g % u32::from(widths.raw().g_bits));
                let v = (v & widths.v_max()) >> (less_v % u32::from(widths.raw().v_bits));
                (widths, Score { g, v, t: t & widths.t_max() })
            },
        )
    }

    /// §3, figure 2(a): at time 8, g′0 = max(0, 1 − 2·(8 − 5)) = 0 and g′1 = max(0, 3 − 1·(8 − 7)) = 2. A unit of the
    /// figure's time is 64 ticks here, since v is below 1/16 task per tick.
    #[test]
    fn the_worked_figure_of_the_paper() {
        let widths = full();
        let task = widths.task();
        let row = |g: u64, v: u64, t: u32| Score { g: g * task, v: (v * task / 64) as u32, t: t * 64 };
        assert_eq!(remaining(widths, row(1, 2, 5), 8 * 64), 0);
        assert_eq!(remaining(widths, row(3, 1, 7), 8 * 64), 2 * task);
    }

    /// dt = 2²⁴ is stale and counts as idle, one tick less does not; the row with v = 0 shows the difference.
    #[test]
    fn stale_means_idle() {
        let score = Score { g: 7, v: 0, t: 100 };
        assert_eq!(remaining(full(), score, 100 + (1 << 24) - 1), 7);
        assert_eq!(remaining(full(), score, 100 + (1 << 24)), 0);
        assert_eq!(remaining(full(), score, 99), 0, "one tick before t is 2³² − 1 ticks after it");
    }

    /// Time wraps: from the last tick to the first is one tick.
    #[test]
    fn time_wraps() {
        let score = Score { g: 10, v: 3, t: u32::MAX };
        assert_eq!(elapsed(full(), u32::MAX, 0), 1);
        assert_eq!(remaining(full(), score, 0), 7);
        assert_eq!(remaining(full(), score, 2), 1);
        let narrow = Widths::new(RawWidths::NARROW).unwrap();
        assert_eq!(elapsed(narrow, 65_535, 0), 1);
        assert_eq!(elapsed(narrow, 65_535, 0xabcd_0001), 2, "only the bits of the column count");
        assert_eq!(touched(narrow, Score::default(), 0xabcd_0001).t, 1);
    }

    /// After 2³² ticks an age looks like none: what the sweep is for. At the sweep's rate a score is idle at every look
    /// but the first.
    #[test]
    fn an_unswept_score_comes_back() {
        let widths = full();
        let score = Score { g: 9, v: 0, t: 5 };
        assert_eq!(remaining(widths, score, 5u32.wrapping_add(u32::MAX).wrapping_add(1)), 9);
        for look in 1..4 {
            assert_eq!(remaining(widths, score, 5 + look * widths.sweep_ticks()), 0);
        }
    }

    /// v · dt reaches 2⁴⁸ and stops at 2⁴⁰: also where its low 40 bits are small or zero.
    #[test]
    fn the_product_is_clamped() {
        let widths = full();
        assert_eq!(drained(widths, widths.v_max(), (1 << 24) - 1), 1 << 40);
        for dt in [1 << 20, 1 << 21, 1 << 23] {
            assert_eq!(drained(widths, 1 << 20, dt), 1 << 40, "the product's low bits are zero");
            assert_eq!(remaining(widths, Score { g: widths.g_max(), v: 1 << 20, t: 0 }, dt), 0);
        }
        assert_eq!(drained(widths, (1 << 20) - 1, 1 << 20), (1 << 40) - (1 << 20));
    }

    /// +1 is 2²⁸; with 4095 whole tasks the score is held, whatever its fraction.
    #[test]
    fn a_full_score_is_held() {
        let widths = full();
        assert_eq!(plus_task(widths, 5), 5 + (1 << 28));
        assert_eq!(plus_task(widths, (4095 << 28) - 1), (4096 << 28) - 1, "the largest score is reached");
        assert_eq!(plus_task(widths, 4095 << 28), 4095 << 28);
        assert_eq!(plus_task(widths, widths.g_max()), widths.g_max());
    }

    /// Reports that no column holds count as the largest that it does.
    #[test]
    fn reports_saturate() {
        let widths = full();
        assert_eq!(reported(widths, 4095, 9, 3), Score { g: 4095 << 28, v: 9, t: 3 });
        assert_eq!(reported(widths, 4096, u32::MAX, 3), Score { g: 4095 << 28, v: (1 << 24) - 1, t: 3 });
    }

    proptest! {
        /// No rounding anywhere: touching twice is touching once while dt₁ + dt₂ is not stale.
        #[test]
        fn touching_twice_is_touching_once((widths, score) in rows(), a in any::<u32>(), b in any::<u32>()) {
            let first = a % widths.stale_ticks();
            let second = b % (widths.stale_ticks() - first);
            let (middle, end) = (score.t.wrapping_add(first), score.t.wrapping_add(first).wrapping_add(second));
            let twice = touched(widths, touched(widths, score, middle), end);
            prop_assert_eq!(twice, touched(widths, score, end));
        }

        /// g′ is the formula over the integers, 128 bits wide, for every row and time.
        #[test]
        fn the_score_is_the_formula((widths, score) in rows(), now in any::<u32>(), near in any::<bool>()) {
            let dt = if near { now % (2 * widths.stale_ticks()) } else { now } & widths.t_max();
            let now = score.t.wrapping_add(dt);
            let exact = i128::from(score.g) - i128::from(score.v) * i128::from(dt);
            let expected = if dt >= widths.stale_ticks() { 0 } else { exact.max(0) };
            prop_assert_eq!(i128::from(remaining(widths, score, now)), expected);
        }

        /// A score never grows with time while it is not stale, and no result leaves its column.
        #[test]
        fn scores_fall_and_stay_in_their_columns((widths, score) in rows(), a in any::<u32>(), b in any::<u32>()) {
            let [first, second] = [a.min(b), a.max(b)].map(|dt| dt & widths.t_max());
            let at = |dt| remaining(widths, score, score.t.wrapping_add(dt));
            prop_assert!(at(first.min(second)) >= at(first.max(second)));
            let row = touched(widths, score, a);
            let more = plus_task(widths, row.g);
            prop_assert!(row.g <= score.g && row.t <= widths.t_max() && row.v == score.v);
            prop_assert!(more <= widths.g_max() && (more == row.g || more == row.g + widths.task()));
            prop_assert_eq!(more == row.g, row.g / widths.task() == u64::from(widths.tasks_max()));
        }
    }
}
