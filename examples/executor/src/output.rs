//! Rows: on the terminal as tables, in files as JSON.

use std::path::Path;

use serde_json::{Value, json};

use crate::Failure;

/// What the column of that name says.
pub const WORTH: &str = "worth: how many workers that are never idle would be as fast";

/// A measured number.
#[derive(Clone, Debug)]
pub struct Row {
    /// Stable, for machines.
    pub name: String,
    pub value: f64,
    pub unit: &'static str,
}

impl Row {
    pub fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { name: name.into(), value, unit }
    }
}

/// `{"schema":1,"kind","workload","rows":[{"name","value","unit"}…]}`, if a file is named.
pub fn write_json(file: Option<&Path>, kind: &str, workload: &str, rows: &[Row]) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    let row = |row: &Row| json!({"name": row.name, "value": row.value, "unit": row.unit});
    let rows: Vec<Value> = rows.iter().map(row).collect();
    write(file, &(json!({"schema": 1, "kind": kind, "workload": workload, "rows": rows}).to_string() + "\n"))
}

/// Writes a file beside its place and renames it: whole or not at all.
pub fn write(file: &Path, content: &str) -> Result<(), Failure> {
    let failure = |source| Failure::File { path: file.display().to_string(), source };
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(failure)?;
    }
    // What is no regular file, a pipe or a device, is written through.
    if file.exists() && !file.is_file() {
        return std::fs::write(file, content).map_err(failure);
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = file.with_file_name(name);
    std::fs::write(&part, content).and_then(|()| std::fs::rename(&part, file)).map_err(failure)
}
