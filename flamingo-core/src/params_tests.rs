use super::*;
use alloc::string::ToString;

fn with(change: impl FnOnce(&mut RawParams)) -> Result<Params, ParamsError> {
    let mut raw = RawParams::paper();
    change(&mut raw);
    Params::new(raw)
}

/// Both presets pass, with the paper's period exactly at the first condition's edge, and differ where said.
#[test]
fn presets_pass() {
    let paper = Params::new(RawParams::paper()).unwrap().into_raw();
    let recommended = Params::new(RawParams::recommended()).unwrap().into_raw();
    assert_eq!(
        paper,
        RawParams {
            queue_baseline: QueueBaseline::Average,
            drain_aware: false,
            throughput: Throughput::Certified,
            counts: Counts::Observed,
            receiver_test: ReceiverTest::Throughput,
            contradiction_clamp: false,
            receiver_tie: ReceiverTie::LowestId,
            grace_rounds: 600,
            purge_on_move: false,
            relay_rest: false,
            forced_migration_after: None,
            ..recommended
        }
    );
    assert_eq!((paper.anchor_period, paper.window_rounds, paper.frontier_lag), (60, 30, 2));
    assert_eq!(RawParams::default(), RawParams::recommended());
}

/// R ≥ w + frontier_lag + T_fresh + T_Π.
#[test]
fn anchors_too_close() {
    let error = with(|raw| raw.evidence_ttl = 13).unwrap_err();
    assert_eq!(
        error,
        ParamsError::AnchorsTooClose {
            anchor_period: 60,
            window_rounds: 30,
            frontier_lag: 2,
            freshness_rounds: 16,
            evidence_ttl: 13
        }
    );
    assert_eq!(
        error.to_string(),
        "anchor_period 60 is below window_rounds 30 + frontier_lag 2 + freshness_rounds 16 + evidence_ttl 13"
    );
}

/// 8R + w < GC depth.
#[test]
fn collected_too_early() {
    let set = |gc_depth| with(|raw| (raw.gc_depth, raw.grace_rounds) = (gc_depth, 0));
    assert_eq!(set(510), Err(ParamsError::CollectedTooEarly { anchor_period: 60, window_rounds: 30, gc_depth: 510 }));
    assert!(set(511).is_ok());
}

/// 2R − T_fresh − T_Π > timer + max(R_f, D) + D, with either of R_f and D the larger.
#[test]
fn migrations_outrun_clients() {
    // 120 − 28 = 92 against 10 + R_f + 8.
    assert!(with(|raw| raw.fallback_gate = 73).is_ok());
    assert_eq!(
        with(|raw| raw.fallback_gate = 74),
        Err(ParamsError::MigrationsOutrunClients {
            anchor_period: 60,
            freshness_rounds: 16,
            evidence_ttl: 12,
            client_timer_rounds: 10,
            fallback_gate: 74,
            delivery_rounds: 8
        })
    );
    assert!(with(|raw| raw.delivery_rounds = 40).is_ok());
    assert!(matches!(
        with(|raw| raw.delivery_rounds = 41),
        Err(ParamsError::MigrationsOutrunClients { delivery_rounds: 41, .. })
    ));
}

/// 0 < weight ≤ 1.
#[test]
fn bad_weight() {
    for (numerator, denominator) in [(0, 10), (11, 10), (0, 0)] {
        assert_eq!(
            with(|raw| raw.ema_weight = (numerator, denominator)),
            Err(ParamsError::BadWeight { numerator, denominator })
        );
    }
    assert!(with(|raw| raw.ema_weight = (1, 1)).is_ok());
}

/// A mean delay can be above W_min, and with the clamp above ten times W_min: the highest delay reported is more.
#[test]
fn delay_unreachable() {
    let most = |max_us, clamp| {
        with(move |raw| (raw.max_queue_delay_us, raw.contradiction_clamp) = (max_us, clamp)).map(|_| ())
    };
    for max_us in [29_999, 30_000] {
        assert_eq!(most(max_us, false), Err(ParamsError::DelayUnreachable { min_us: 30_000, max_us }));
    }
    assert_eq!(most(30_001, false), Ok(()));
    for max_us in [30_001, 300_000] {
        assert_eq!(most(max_us, true), Err(ParamsError::ClampUnreachable { min_us: 30_000, max_us }));
    }
    assert_eq!(most(300_001, true), Ok(()));
}

/// The grace ends when certificates are collected.
#[test]
fn grace_too_long() {
    assert_eq!(with(|raw| raw.grace_rounds = 601), Err(ParamsError::GraceTooLong { grace_rounds: 601, gc_depth: 600 }));
}

/// Every field with a range is refused on each side of it, by name.
#[test]
fn out_of_range() {
    type Set = fn(&mut RawParams, u64);
    let fields: [(&str, Set, u64, u64); 18] = [
        ("anchor_period", |raw, v| raw.anchor_period = v, 1, 1 << 32),
        ("window_rounds", |raw, v| raw.window_rounds = v, 1, 256),
        ("frontier_lag", |raw, v| raw.frontier_lag = v, 0, 1 << 32),
        ("freshness_rounds", |raw, v| raw.freshness_rounds = v, 1, 1 << 32),
        ("evidence_ttl", |raw, v| raw.evidence_ttl = v, 1, 1 << 32),
        ("fallback_gate", |raw, v| raw.fallback_gate = v, 1, 1 << 32),
        ("client_timer_rounds", |raw, v| raw.client_timer_rounds = v, 1, 1 << 32),
        ("delivery_rounds", |raw, v| raw.delivery_rounds = v, 1, 1 << 32),
        ("relay_set_nonces", |raw, v| raw.relay_set_nonces = v, 1, u64::MAX - 1),
        ("forced_migration_after", |raw, v| raw.forced_migration_after = Some(v as u32), 1, 1 << 16),
        ("gc_depth", |raw, v| raw.gc_depth = v, 1, 1 << 32),
        ("min_queue_delay_us", |raw, v| raw.min_queue_delay_us = v, 0, 600_000_000),
        ("aggressiveness", |raw, v| raw.aggressiveness = v as u32, 1, 1000),
        ("max_header_entries", |raw, v| raw.max_header_entries = v as u32, 1, 1 << 20),
        ("max_list_entries", |raw, v| raw.max_list_entries = v as u32, 1, 1 << 20),
        ("nonce_window", |raw, v| raw.nonce_window = v as u8, 1, 64),
        ("max_capacity_utps", |raw, v| raw.max_capacity_utps = v, 1, 1_000_000_000_000_000),
        ("max_queue_delay_us", |raw, v| raw.max_queue_delay_us = v, 1, 600_000_000),
    ];
    for (name, set, min, max) in fields {
        for got in min.checked_sub(1).into_iter().chain([max + 1]) {
            assert_eq!(with(|raw| set(raw, got)), Err(ParamsError::OutOfRange { name, got, min, max }));
        }
    }
}
