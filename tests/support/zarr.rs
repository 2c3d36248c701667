//! Writes small Zarr groups of version 2, without compression.
//!
//! Included by path into the tests of several crates.
#![allow(dead_code, clippy::unwrap_used)] // Each crate uses only some functions.

use serde_json::{Value, json};
use std::path::Path;

/// Writes an array of doubles in one chunk, and the group if there is none. `attributes` are an object.
pub fn write_array(
    group: &Path,
    name: &str,
    dimensions: &[(&str, usize)],
    values: &[f64],
    attributes: Value,
) {
    let folder = group.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(group.join(".zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let (names, shape): (Vec<&str>, Vec<usize>) = dimensions.iter().copied().unzip();
    assert_eq!(shape.iter().product::<usize>(), values.len(), "{name}");
    let array = json!({
        "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": "<f8", "compressor": null,
        "fill_value": null, "order": "C", "filters": null,
    });
    std::fs::write(folder.join(".zarray"), array.to_string()).unwrap();
    let mut attributes = attributes;
    attributes["_ARRAY_DIMENSIONS"] = json!(names);
    std::fs::write(folder.join(".zattrs"), attributes.to_string()).unwrap();
    let chunk = if shape.is_empty() { "0".into() } else { vec!["0"; shape.len()].join(".") };
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(folder.join(chunk), bytes).unwrap();
}

/// Writes the axes x and y from 0 to 100 m, and times.
pub fn write_axes(group: &Path, times: &[f64], units: &str) {
    for name in ["x", "y"] {
        write_array(group, name, &[(name, 3)], &[0.0, 50.0, 100.0], json!({ "units": "m" }));
    }
    write_array(group, "time", &[("time", times.len())], times, json!({ "units": units }));
}

/// Writes a variable that is uniform in space.
pub fn write_uniform(group: &Path, name: &str, values: &[f64], attributes: Value) {
    let all: Vec<f64> = values.iter().flat_map(|x| [*x; 9]).collect();
    write_array(group, name, &[("time", values.len()), ("y", 3), ("x", 3)], &all, attributes);
}
