//! `burntrace info` of a sweep: its keys, and the states of its runs.

use super::{definition::Sweep, table};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
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
    let mut text = format!("sweep      {shown}, {runs} runs: {}\n", parts.join(", "));
    let mut line = |name: &str, value: String| {
        // Writing to a string does not fail.
        writeln!(text, "{name:<10} {value}").ok();
    };
    for (i, vary) in sweep.definition.vary.iter().enumerate() {
        let name = if i == 0 { "keys" } else { "" };
        line(name, format!("{} = {}", vary.key, super::report::values(&vary.values)));
    }
    line("use", format!("burntrace report {shown}"));
    if let Some(first) = sweep.runs.first() {
        line("", format!("burntrace info {}", first.folder.root.display()));
    }
    let states: serde_json::Map<String, Value> =
        counts.into_iter().map(|(state, count)| (state.to_string(), json!(count))).collect();
    let json = json!({
        "kind": "sweep", "runs": runs, "states": states, "vary": sweep.definition.vary,
    });
    Ok((text, json))
}
