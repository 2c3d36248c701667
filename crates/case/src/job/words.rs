//! The field of a run in words.

use crate::format::{count, six_digits};
use serde_json::Value;
use std::path::Path;

/// The field of a run in words: where it is from, its size, and its times; and those that are added.
pub fn in_words(field: &Value) -> Option<String> {
    let first = one_in_words(field)?;
    let added = field["added"].as_array().into_iter().flatten().filter_map(|added| {
        let number = |key: &str| added[key].as_f64().unwrap_or_default();
        let turned = match number("rotate") {
            0.0 => String::new(),
            angle => format!(", turned by {} degrees to the right", six_digits(angle)),
        };
        let factor = match added["factor"].as_str() {
            Some(column) => format!("the column `{column}` of the seeds"),
            None => six_digits(number("factor")).to_string(),
        };
        Some(format!(" + {factor} times {}{turned}", one_in_words(added)?))
    });
    Some(first + &added.collect::<String>())
}

fn one_in_words(field: &Value) -> Option<String> {
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
            let dates = [0, 1].map(|end| field["dates"][end].as_str());
            let dates = match dates {
                [Some(first), Some(last)] => format!(" ({first} to {last})"),
                _ => String::new(),
            };
            format!("; {} frames, t = {first} to {last}{dates}", count(times.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_described_in_words() {
        let flow = json!({ "flow": "shear", "nodes": [3, 3, 1], "sampled": true });
        assert_eq!(in_words(&flow).unwrap(), "the formula `shear`, sampled at 3 x 3 x 1 nodes");
        let flow = json!({ "flow": "abc", "nodes": null, "sampled": false });
        assert_eq!(in_words(&flow).unwrap(), "the formula `abc`, evaluated at each position");
        let mut files = json!({
            "files": ["/a/b/u_0.vtu", "/a/b/u_1.vtu"], "kind": "unstructured grid", "cells": 39353,
            "nodes": 47441, "interpolation": "mesh", "times": [0.0, 0.1 + 0.2],
            "velocity": { "arrays": ["U"], "association": "cell" },
        });
        let expected = "2 files, `u_0.vtu` to `u_1.vtu` (unstructured grid), a mesh of 39,353 cells and 47,441 \
                        nodes; velocity `U` in the cells; 2 frames, t = 0 to 0.3";
        assert_eq!(in_words(&files).unwrap(), expected);
        files["dates"] = json!(["2000-01-01 06:00", "2000-01-02 06:00"]);
        let dates = "t = 0 to 0.3 (2000-01-01 06:00 to 2000-01-02 06:00)";
        assert!(in_words(&files).unwrap().ends_with(dates));
        files["files"] = json!(["u.vtu"]);
        files["times"] = json!([0.0]);
        assert!(
            in_words(&files).unwrap().starts_with("`u.vtu` (")
                && in_words(&files).unwrap().ends_with("steady")
        );
        files["added"] = json!([
            { "flow": "abc", "nodes": null, "sampled": false, "factor": 0.03, "rotate": 0.0 },
            { "flow": "shear", "nodes": null, "sampled": false, "factor": 1.0, "rotate": -15.0 },
        ]);
        let added = "steady + 0.03 times the formula `abc`, evaluated at each position + 1 times the formula `shear`, \
                     evaluated at each position, turned by -15 degrees to the right";
        assert!(in_words(&files).unwrap().ends_with(added));
        assert_eq!(in_words(&Value::Null), None);
    }
}
