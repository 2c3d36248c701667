//! The field, the settings and the cost of a run in words, from its summary.

use crate::format::{bytes, count, duration, six_digits, with_prefix};
use serde_json::Value;
use std::path::Path;

/// The field of a run in words: where it is from, its size, and its times.
pub fn field(field: &Value) -> Option<String> {
    let sampled = match &field["nodes"] {
        Value::Array(nodes) if nodes.len() == 3 => {
            let nodes: Vec<String> = nodes.iter().map(Value::to_string).collect();
            format!("{} nodes", nodes.join(" x "))
        }
        nodes => format!("{} nodes", count(nodes.as_u64().unwrap_or(0) as usize)),
    };
    if let Some(flow) = field["flow"].as_str() {
        return Some(match field["sampled"].as_bool() {
            Some(true) => format!("the formula `{flow}`, sampled at {sampled}"),
            _ => format!("the formula `{flow}`, evaluated at each position"),
        });
    }
    let files = field["files"].as_array()?;
    let name = |file: &Value| {
        let path = file.as_str().unwrap_or_default().to_string();
        let name = Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or(path)
    };
    let files = match &files[..] {
        [] => return None,
        [only] => format!("`{}`", name(only)),
        [first, .., last] => {
            format!("{} files, `{}` to `{}`", count(files.len()), name(first), name(last))
        }
    };
    let text = |key: &str| field[key].as_str().unwrap_or_default();
    let kind = text("kind");
    let size = match (text("interpolation"), field["cells"].as_u64()) {
        ("mesh", Some(cells)) => format!("a mesh of {} cells and {sampled}", count(cells as usize)),
        ("grid", _) => format!("a grid of {sampled}"),
        _ => format!("{sampled} without a mesh"),
    };
    let velocity = &field["velocity"];
    let arrays = velocity["arrays"].as_array().map(|arrays| {
        let names: Vec<String> =
            arrays.iter().filter_map(Value::as_str).map(|x| format!("`{x}`")).collect();
        format!(
            "; velocity {} in the {}s",
            names.join(", "),
            velocity["association"].as_str().unwrap_or("point")
        )
    });
    Some(format!("{files} ({kind}), {size}{}{}", arrays.unwrap_or_default(), frames(field)))
}

/// The times of the frames.
fn frames(field: &Value) -> String {
    let times: Vec<f64> =
        field["times"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    match times[..] {
        [] => String::new(),
        [_] => "; one frame, steady".into(),
        [first, .., last] => {
            let [first, last] = [first, last].map(six_digits);
            format!("; {} frames, t = {first} to {last}", count(times.len()))
        }
    }
}

/// The settings and the cost of a run: names and values for people.
pub fn of(summary: &Value) -> Vec<(String, String)> {
    let number = |path: &str| summary.pointer(path).and_then(Value::as_f64);
    let text = |path: &str| summary.pointer(path).and_then(Value::as_str).map(String::from);
    let whole = |path: &str| number(path).map(|x| count(x as usize));
    let seconds = |path: &str| number(path).map(duration);
    let size = |path: &str| number(path).map(bytes);
    let with = |value: Option<String>, what: &str| value.map(|value| format!("{value} {what}"));
    let joined = |parts: Vec<Option<String>>| {
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    };
    let some_of = |path: &str| number(path).filter(|count| *count > 0.0).and_then(|_| whole(path));
    let rows = [
        ("Device", joined(vec![text("/device/description"), with(text("/precision"), "")])),
        ("Engine", joined(vec![text("/path"), with(text("/strategy"), "")])),
        (
            "Steps",
            joined(vec![whole("/steps"), with(whole("/particle_steps"), "steps of particles")]),
        ),
        (
            "Speed",
            number("/particle_steps_per_second").map(|rate| {
                format!("{} particle-steps per second", with_prefix(rate))
                    .replace(" M p", " million p")
            }),
        ),
        ("Time in total", seconds("/seconds/total")),
        (
            "of which",
            joined(vec![
                with(seconds("/seconds/read"), "reading"),
                with(seconds("/seconds/upload"), "uploading"),
                with(seconds("/seconds/trace"), "tracing"),
                with(seconds("/seconds/write"), "writing"),
            ]),
        ),
        (
            "Data",
            joined(vec![
                with(size("/bytes/read"), "read"),
                with(size("/bytes/written"), "written"),
            ]),
        ),
        (
            "Peak memory",
            joined(vec![
                with(size("/memory/host"), "on the host"),
                with(size("/memory/device"), "planned on the device"),
            ]),
        ),
        ("Batches", some_of("/batches/count")),
        ("Checkpoints", some_of("/checkpoints/count")),
        ("Resumed", with(some_of("/resumed"), "times")),
    ];
    let given = rows.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
    given.map(|(name, value)| (name, value.trim().replace(" , ", ", "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_described_in_words() {
        let flow = json!({ "flow": "shear", "nodes": [3, 3, 1], "sampled": true });
        assert_eq!(field(&flow).unwrap(), "the formula `shear`, sampled at 3 x 3 x 1 nodes");
        let flow = json!({ "flow": "abc", "nodes": null, "sampled": false });
        assert_eq!(field(&flow).unwrap(), "the formula `abc`, evaluated at each position");
        let mut files = json!({
            "files": ["/a/b/u_0.vtu", "/a/b/u_1.vtu"], "kind": "unstructured grid", "cells": 39353,
            "nodes": 47441, "interpolation": "mesh", "times": [0.0, 0.1 + 0.2],
            "velocity": { "arrays": ["U"], "association": "cell" },
        });
        let expected = "2 files, `u_0.vtu` to `u_1.vtu` (unstructured grid), a mesh of 39,353 cells and 47,441 \
                        nodes; velocity `U` in the cells; 2 frames, t = 0 to 0.3";
        assert_eq!(field(&files).unwrap(), expected);
        files["files"] = json!(["u.vtu"]);
        files["times"] = json!([0.0]);
        assert!(
            field(&files).unwrap().starts_with("`u.vtu` (")
                && field(&files).unwrap().ends_with("steady")
        );
        assert_eq!(field(&Value::Null), None);
    }

    #[test]
    fn cost_is_written_for_people() {
        let summary = json!({
            "steps": 400, "particle_steps": 1996566, "particle_steps_per_second": 6442360.0,
            "seconds": { "total": 0.4136, "trace": 0.31 }, "memory": { "host": 53866496, "device": null },
            "bytes": { "read": 137088, "written": 6965808 }, "resumed": 0,
        });
        let rows = of(&summary);
        let value = |name: &str| rows.iter().find(|row| row.0 == name).map(|row| row.1.as_str());
        assert_eq!(value("Steps"), Some("400, 1,996,566 steps of particles"));
        assert_eq!(value("Speed"), Some("6.44 million particle-steps per second"));
        assert_eq!(value("Peak memory"), Some("53.87 MB on the host"));
        assert_eq!(value("Data"), Some("137.1 kB read, 6.97 MB written"));
        assert_eq!((value("of which"), value("Resumed")), (Some("0.31 s tracing"), None));
    }
}
