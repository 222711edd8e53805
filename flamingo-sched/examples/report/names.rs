//! The rows of the report, by family: the one table of their names.

use std::collections::BTreeSet;

use flamingo_sched::catalogue::Kind;
use flamingo_sched::workload::Width;

/// (names, what they say). `<mix>` is light, medium, heavy (Flamingo §6.3.2) and the name of each trace.
pub(crate) const FAMILIES: &[(&str, &str)] = &[
    ("remote_reads/<scheduler>/<width>/p<p>", "remote reads per batch, by overlap (Fig. 10)"),
    ("remote_reads/<scheduler>/<trace>", "the same on a trace"),
    ("remote_reads_redrawn/fusion/<width>/p<high p>", "the same with one factor of the workload changed"),
    ("remote_reads_vs_fusion/prescient-incremental/<width>/p<p>", "how many per cent more remote reads Hermes has"),
    ("remote_reads_vs_fusion_theta<theta>/prescient-incremental/<width>/p<rerouting p>", "the same with another θ"),
    ("pipeline/<scheduler>/hot-shard", "worth in virtual time, of 8 workers; 90 % of new keys on one of them"),
    ("pipeline/<scheduler>/<trace>", "the same on a trace"),
    ("speedup/<scheduler>/m<m>/dist<dist>", "worth with a backlog, as a ratio to m = 1 (Fig. 8, drained)"),
    ("time_us/<scheduler>/<mix>", "assignments only (`Plan::without_rows`)"),
    ("time_us_plan/<scheduler>/<mix>", "the full plan"),
    ("time_us_sparse/fusion/<mix>", "assignments only, ids scattered over 32 bits, sparse table"),
    ("time_us_bounded/fusion/<mix>", "the same with at most 65,536 keys away from home"),
    ("time_us_general/fusion/<mix>/m<general m>", "assignments only, by the form for any m"),
    ("time_us_gather/<mix>", "the floor: one byte per key, read and summed"),
    ("time_us_ingest/<mix>", "filling a batch"),
    ("ns_per_key_ratio_to_gather/fusion/<mix>", "`time_us` over `time_us_gather`, in turn, each warm"),
    ("time_ratio/<hermes>_vs_fusion/<mix>", "assignments only, in turn over the same batches, each warm"),
    ("allocs_per_batch/fusion", "allocations of one call after warm-up"),
];

/// Every name that a report has, for these traces.
pub(crate) fn expected(traces: &[String]) -> BTreeSet<String> {
    let widths: Vec<_> = Width::ALL.iter().map(|width| width.name().to_owned()).collect();
    let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let places = [
        ("<scheduler>", own(&Kind::ALL.map(Kind::name))),
        ("<mix>", [&widths[..], traces].concat()),
        ("<width>", widths),
        ("<trace>", traces.to_vec()),
        ("<p>", own(&["0", "0.2", "0.4", "0.6", "0.8", "0.95"])),
        ("<high p>", own(&["0.8", "0.95"])),
        ("<rerouting p>", own(&["0.6", "0.8", "0.95"])),
        ("<theta>", own(&["1", "1.05", "1.1"])),
        ("<m>", (1..=8).map(|m| m.to_string()).collect()),
        ("<dist>", own(&["0", "0.2"])),
        ("<general m>", own(&["9", "256"])),
        ("<hermes>", own(&["prescient-naive", "prescient-incremental"])),
    ];
    let expand = |names: Vec<String>, (place, values): &(&str, Vec<String>)| {
        let each = |name: &String| match name.contains(place) {
            true => values.iter().map(|value| name.replace(place, value)).collect(),
            false => vec![name.clone()],
        };
        names.iter().flat_map(each).collect()
    };
    let families = FAMILIES.iter().map(|(names, _)| (*names).to_owned()).collect();
    places.iter().fold(families, expand).into_iter().collect()
}
