//! The local side at full scale.

use std::error::Error;
use std::hint::black_box;

use allocation_counter::measure;
use flamingo_core::policy::{CappedShedding, MigrationPolicy};
use flamingo_core::signal::{SignalSource, TrackingWindow};
use flamingo_core::{EpochSeed, Params, ReceiverTie, Round};

use crate::full_scale::{BareArray, FullScale, VALIDATORS, WINDOW, params};
use crate::{Row, nanos, progress};

type Fallible<T> = Result<T, Box<dyn Error>>;

pub(crate) fn rows(quick: bool) -> Fallible<Vec<Row>> {
    let (accounts, requests) = if quick { (100_000, 100) } else { (1_000_000, 1_000) };
    progress("window");
    let scale = FullScale::new(accounts, requests, &params(ReceiverTie::Rendezvous));
    let (mut rows, window) = window_rows(&scale, if quick { 5 } else { 120 })?;
    rows.extend(anchor_rows(&scale, &window, if quick { 2 } else { 15 })?);
    Ok(rows)
}

/// One round in and one out: milliseconds, and how many times those of a bare array that does the same sums. Both are
/// the least of all rounds: what else runs on the machine only ever adds.
fn round_of(scale: &FullScale, mut window: TrackingWindow, rounds: u64) -> (f64, f64) {
    let mut array = BareArray::new(scale);
    let (mut least, mut least_bare) = (f64::INFINITY, f64::INFINITY);
    // The headers repeat after 60 rounds: by then every account has been seen.
    for round in 59..59 + rounds {
        let of_window = |window: &mut TrackingWindow| {
            let work = || {
                window.advance(Round(round));
                scale.add_round(window, round);
            };
            nanos(work).0
        };
        // Who comes first reads the headers into the cache for both, so they take turns.
        let (time, bare) = if round % 2 == 0 {
            let time = of_window(&mut window);
            (time, nanos(|| array.round(scale, round)).0)
        } else {
            let bare = nanos(|| array.round(scale, round)).0;
            (of_window(&mut window), bare)
        };
        least = least.min(time);
        least_bare = least_bare.min(bare);
    }
    (least / 1e6, least / least_bare)
}

fn window_rows(scale: &FullScale, rounds: u64) -> Fallible<(Vec<Row>, TrackingWindow)> {
    let params = params(ReceiverTie::Rendezvous);
    let (window, bytes) = held(scale, &params)?;
    let (time, ratio) = round_of(scale, window.clone(), rounds);
    let scattered = FullScale::scattered(scale.accounts, scale.requests, &params);
    let (scattered_window, scattered_bytes) = held(&scattered, &params)?;
    let (_, scattered_ratio) = round_of(&scattered, scattered_window, rounds);
    let of = format!(
        "{VALIDATORS} validators, window {WINDOW}, {} accounts with consecutive ids, {} requests a header; least of all \
         rounds",
        scale.accounts, scale.requests
    );
    let beside = "beside the same sums in a dense array that reads both headers, taking turns";
    let ids_apart = "the row above with ids 4096 apart: a list of ids in place of blocks";
    let row = |name, value, unit, goal, source| Row { name, value, unit, goal, source };
    let rows = vec![
        row("window_round_ms/1M", time, "ms", Some(2.0), of.clone()),
        row("window_round_ratio_to_bare_array", ratio, "ratio", Some(4.0), format!("{of}; {beside}")),
        row("window_round_ratio_to_bare_array/scattered", scattered_ratio, "ratio", None, ids_apart.into()),
        row("window_bytes_per_account", bytes, "B/account", Some(32.0), format!("{of}; allocator")),
        row("window_bytes_per_account/scattered", scattered_bytes, "B/account", Some(32.0), ids_apart.into()),
    ];
    Ok((rows, window))
}

/// A full window, and its bytes per account.
fn held(scale: &FullScale, params: &Params) -> Fallible<(TrackingWindow, f64)> {
    let mut window = None;
    let held = measure(|| window = Some(scale.window(params)));
    Ok((window.ok_or("no window")?, held.bytes_current as f64 / scale.accounts as f64))
}

/// The whole of Algorithm 1 at an anchor, signals and all.
fn anchor_rows(scale: &FullScale, window: &TrackingWindow, rounds: u32) -> Fallible<Vec<Row>> {
    progress("signals_ms/1M");
    let time = |_| nanos(|| black_box(window.signals(Round(60))).is_ok()).0 / 1e6;
    let value = (0..rounds).map(time).fold(f64::INFINITY, f64::min);
    let source = "what of the rows below is not the policy: the window's signals".to_owned();
    let mut rows = vec![Row { name: "signals_ms/1M", value, unit: "ms", goal: None, source }];
    let signals = window.signals(Round(60))?;
    for (name, donors, percent, tie, goal) in [
        ("anchor_ms/1M/shed5pct", 5, 95, ReceiverTie::Rendezvous, Some(20.0)),
        ("anchor_ms/1M/100k_decisions", 25, 40, ReceiverTie::Rendezvous, Some(60.0)),
        ("anchor_ms/1M/100k_decisions/lowest_id", 25, 40, ReceiverTie::LowestId, None),
    ] {
        progress(name);
        let view = scale.view(&signals, donors, percent);
        let policy = CappedShedding::new(&params(tie), &EpochSeed([1; 32]));
        let mut moves = 0;
        let time = |_| {
            let (time, decisions) = nanos(|| {
                let signals = window.signals(Round(60));
                signals.map(|signals| black_box(policy.decide(&signals, &view)).moves.len())
            });
            moves = decisions.unwrap_or(0);
            time / 1e6
        };
        let value = (0..rounds).map(time).fold(f64::INFINITY, f64::min);
        let source = format!(
            "Flamingo Algorithm 1 with its signals; {} accounts, {donors} donors declared at {percent} % of their \
             throughput, tie {tie:?}: {moves} decisions",
            scale.accounts
        );
        rows.push(Row { name, value, unit: "ms", goal, source });
    }
    Ok(rows)
}
