//! The rows of the report, printed and as JSON.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;

use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct Rows(Vec<Row>);

struct Row {
    name: String,
    value: f64,
    unit: &'static str,
    goal: Option<f64>,
    source: String,
}

impl Rows {
    pub(crate) fn push(&mut self, name: String, value: f64, unit: &'static str, goal: Option<f64>, source: &str) {
        self.0.push(Row { name, value, unit, goal, source: source.to_owned() });
    }

    /// Whether the names are those, each once.
    pub(crate) fn check(&self, expected: &BTreeSet<String>) -> Result<(), String> {
        let mut missing = expected.clone();
        match self.0.iter().find(|row| !missing.remove(&row.name)) {
            Some(row) => Err(format!("row {} is there twice, or in no table", row.name)),
            None if missing.is_empty() => Ok(()),
            None => Err(format!("rows without a measurement: {missing:?}")),
        }
    }

    pub(crate) fn print(&self) {
        for Row { name, value, unit, goal, source } in &self.0 {
            let goal = goal.map_or_else(String::new, number);
            println!("{name:<50} {:>9} {unit:<14} {goal:>6}  {source}", number(*value));
        }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let rows: Vec<Value> = self
            .0
            .iter()
            .map(|Row { name, value, unit, goal, source }| {
                json!({"name": name, "value": value, "unit": unit, "goal": goal, "source": source})
            })
            .collect();
        Ok(std::fs::write(path, json!({"schema": 1, "crate": "flamingo-sched", "rows": rows}).to_string())?)
    }
}

/// Small numbers with two decimals, large ones with one.
fn number(value: f64) -> String {
    if value.abs() < 100.0 { format!("{value:.2}") } else { format!("{value:.1}") }
}
