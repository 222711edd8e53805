//! The comparison as text and as JSON.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::measure::Row;
use super::read::Trace;
use super::{Partition, TraceArgs};

pub(super) fn print(out: &mut impl Write, trace: &Trace, args: &TraceArgs, rows: &[Row]) -> io::Result<()> {
    let transactions = trace.transactions.len();
    writeln!(
        out,
        "{}: {transactions} transactions, {} accesses to {} keys; m={} batch={} eps={} partition={}",
        args.file.display(),
        trace.transactions.total_keys(),
        trace.keys,
        args.m,
        args.batch,
        args.eps,
        name(args.partition),
    )?;
    writeln!(
        out,
        "{:<12} {:>15} {:>12} {:>14} {:>11} {:>16} {:>23} {:>9}",
        "scheduler",
        "max/mean total",
        "worst batch",
        "batches > cap",
        "remote/txn",
        "write-backs/txn",
        "fast/affinity/fallback",
        "us/batch"
    )?;
    for row in rows {
        let above = format!("{} of {}", row.batches_above_cap, row.batches);
        let paths = format!("{}/{}/{}", row.fast, row.affinity, row.fallback);
        writeln!(
            out,
            "{:<12} {:>15.3} {:>12.3} {above:>14} {:>11.3} {:>16.3} {paths:>23} {:>9.1}",
            row.scheduler,
            row.max_over_mean(),
            row.worst_batch,
            per(row.remote_reads, transactions),
            per(row.write_backs, transactions),
            row.median_us,
        )?;
    }
    Ok(())
}

pub(super) fn json(trace: &Trace, args: &TraceArgs, rows: &[Row]) -> Value {
    let transactions = trace.transactions.len();
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "scheduler": row.scheduler,
                "batches": row.batches,
                "loads": row.loads,
                "max_over_mean": row.max_over_mean(),
                "worst_batch_max_over_mean": row.worst_batch,
                "batches_above_cap": row.batches_above_cap,
                "remote_reads": row.remote_reads,
                "remote_reads_per_txn": per(row.remote_reads, transactions),
                "write_backs_per_txn": per(row.write_backs, transactions),
                "fast": row.fast,
                "affinity": row.affinity,
                "fallback": row.fallback,
                "us_per_batch_median": row.median_us,
            })
        })
        .collect();
    json!({
        "schema": 1,
        "kind": "trace",
        "trace": {
            "file": args.file.display().to_string(),
            "transactions": transactions,
            "accesses": trace.transactions.total_keys(),
            "keys": trace.keys,
        },
        "m": args.m,
        "batch": args.batch,
        "eps": args.eps.to_string(),
        "partition": name(args.partition),
        "rows": rows,
    })
}

fn per(count: u64, transactions: usize) -> f64 {
    if transactions == 0 { 0.0 } else { count as f64 / transactions as f64 }
}

const fn name(partition: Partition) -> &'static str {
    match partition {
        Partition::Range => "range",
        Partition::Hash => "hash",
    }
}
