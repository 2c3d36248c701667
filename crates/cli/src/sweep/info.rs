//! `burntrace info` of a sweep: its keys, and the states of its runs.

use super::{definition::Sweep, table, vary::Vary};
use crate::format::Lines;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The description of the sweep in a folder, as text and as JSON.
pub fn describe(root: &Path) -> Result<(String, Value)> {
    let sweep = Sweep::in_folder(root)?;
    let rows = table::rows(&sweep, &BTreeMap::new());
    let states: BTreeSet<&str> = rows.iter().map(|row| row.state).collect();
    let count = |state: &str| rows.iter().filter(|row| row.state == state).count();
    let counts: Vec<(&str, usize)> =
        states.into_iter().map(|state| (state, count(state))).collect();
    let (shown, runs) = (root.display(), sweep.runs.len());
    let parts: Vec<String> =
        counts.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let mut lines = Lines::default();
    lines.add("sweep", format!("{shown}, {runs} runs: {}", parts.join(", ")));
    let key = |vary: &Vary| format!("{} = {}", vary.key, super::report::values(&vary.values));
    lines.list("keys", sweep.definition.vary.iter().map(key));
    lines.add("use", format!("burntrace report {shown}"));
    if let Some(first) = sweep.runs.first() {
        lines.add("", format!("burntrace info {}", first.folder.root.display()));
    }
    let states: serde_json::Map<String, Value> =
        counts.into_iter().map(|(state, count)| (state.to_string(), json!(count))).collect();
    let json = json!({
        "kind": "sweep", "runs": runs, "states": states, "vary": sweep.definition.vary,
    });
    Ok((lines.0, json))
}
