//! Repeated (account, nonce) pairs count once.

use super::*;

/// Repeats of an (account, nonce) count once: they come off the account, the total N and, if unlisted, the rest, but
/// not off the certified transactions.
#[test]
fn repeats_are_taken_off() {
    let mut certs = steady(5..=8);
    let mut busy = cert(0, 6, 6_000_000, Some(1), &[2, 4, 4, 4, 6, 6], 0);
    busy.repeated = vec![(AccountId(1), 9), (AccountId(2), 1), (AccountId(4), 1), (AccountId(6), 7)];
    certs.retain(|cert| (cert.author, cert.round) != (0, 6));
    certs.push(busy);
    let signals = window_at_10(&certs).signals(Round(10)).unwrap();
    let v0 = &signals.validators[0];
    assert_eq!(accounts_of(v0), [(4, 2)].into());
    assert_eq!((v0.counted.get(), v0.transactions.get()), (2, 6));
}

/// Repeats of accounts beyond a header's list come off the rest, and never more than is there.
#[test]
fn repeats_beyond_the_list_come_off_the_rest() {
    for (repeats, rest) in [(1, 2), (9, 0)] {
        let mut raw = params().into_raw();
        raw.max_header_entries = 1;
        let mut meter = WorkerMeter::new();
        [2, 2, 4, 5, 6].into_iter().for_each(|account| meter.add(AccountId(account)));
        let mut batch = meter.seal(0);
        batch.sent_at(1);
        let mut builder = LoadFieldsBuilder::new();
        builder.add_batch(&batch).unwrap();
        let params = Params::new(raw).unwrap();
        let load = builder.finish(ValidatorId(0), Round(6), 6_000_000, LeaderRound(0), &params);
        assert_eq!(load.counts().entries(), [(AccountId(2), 2)]);
        let mut certs = steady(5..=8);
        certs.retain(|cert| (cert.author, cert.round) != (0, 6));
        certs.push(Cert { author: 0, round: 6, load, repeated: vec![(AccountId(5), repeats)] });
        let signals = window_at_10(&certs).signals(Round(10)).unwrap();
        let v0 = &signals.validators[0];
        assert_eq!((v0.rest_transactions.get(), v0.counted.get()), (rest, 2 + rest));
    }
}
