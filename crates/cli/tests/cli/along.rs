//! Derivatives of the field, what adds up along the tracks, and conditions, from a case to its results.

use super::program::{assert_refused, burntrace, text};
use serde_json::Value;
use std::path::Path;

/// A shear flow u = 2 y on a grid, with particles at y = 0.25, 0.5 and 1.
const CASE: &str = "[field]\nflow = { u = \"2*y\", v = \"0\" }\nsample = { nodes = [9, 5, 1], start = 0.0, stop = 5.0, frames = 2 }\n\
    [domain]\nlow = [0, 0, 0]\nhigh = [8, 1, 0]\n\
    [seeds]\nkind = \"list\"\npoints = [[0, 0.25, 0], [0, 0.5, 0], [0, 1, 0]]\n\
    [trace]\nt1 = 5\ndt = 0.1\n[run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n";

fn run(folder: &Path, set: &[&str]) -> std::process::Output {
    std::fs::write(folder.join("case.toml"), CASE).unwrap();
    let mut args = vec!["run", "case.toml", "--overwrite"];
    args.extend(set.iter().flat_map(|set| ["--set", set]));
    burntrace(folder, &args)
}

fn traced(folder: &Path, set: &[&str]) -> Value {
    let output = run(folder, set);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_str(&std::fs::read_to_string(folder.join("out/summary.json")).unwrap())
        .unwrap()
}

/// The rows of the last save as a table.
fn table(folder: &Path) -> Vec<Vec<String>> {
    let output =
        burntrace(folder, &["export", "out", "--to", "csv", "--rows", "saves", "--out", "out.csv"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let text = std::fs::read_to_string(folder.join("out.csv")).unwrap();
    text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

fn column(table: &[Vec<String>], name: &str) -> Vec<f64> {
    let k = table[0]
        .iter()
        .position(|head| head == name)
        .unwrap_or_else(|| panic!("{name}: {:?}", table[0]));
    table[1..].iter().map(|row| row[k].parse().unwrap()).collect()
}

#[test]
fn strain_and_path_are_those_of_the_shear() {
    let folder = tempfile::tempdir().unwrap();
    let fields = "save.fields=[\"shear_rate\", { array = \"integral(shear_rate)\", name = \"strain\" }, \"path_length\", \"maximum(speed)\"]";
    let summary = traced(folder.path(), &[fields]);
    assert!(summary["conditions"].is_null(), "{summary}");
    let table = table(folder.path());
    // The fastest particle leaves at t = 4.
    for (name, expected) in [
        ("shear_rate", [2.0, 2.0, 2.0]),
        ("strain", [10.0, 10.0, 8.0]),
        ("path_length", [2.5, 5.0, 8.0]),
        ("maximum(speed)", [0.5, 1.0, 2.0]),
    ] {
        let found = column(&table, name);
        let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near && found.len() == 3, "{name}: {found:?}");
    }
    let picture = ["render", "out", "--color", "strain"];
    let output = burntrace(folder.path(), &picture);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// Between walls at y = 0 and y = 1.
#[test]
fn distances_to_walls_are_followed_and_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let walls = "boundary.y=[\"reflect\", \"slide\"]";
    let flow = "field.flow={ u = \"1\", v = \"0.1\" }";
    let fields = "save.fields=[\"wall_distance\", \"maximum(wall_distance)\", { array = \"time_below(wall_distance, 0.35)\", name = \"near\" }]";
    let stop = "trace.stop_when=[\"wall_distance < 0.1\"]";
    let summary = traced(folder.path(), &[walls, flow, fields, stop, "trace.t1=4.5"]);
    // From y = 0.5 to 0.9, and at the wall from the start.
    assert_eq!(summary["conditions"], serde_json::json!({ "wall_distance < 0.1": 2 }), "{summary}");
    let table = table(folder.path());
    for (name, expected) in [
        ("y", [0.7, 0.9, 1.0]),
        ("wall_distance", [0.3, 0.1, 0.0]),
        ("maximum(wall_distance)", [0.5, 0.5, 0.0]),
        ("near", [1.5, 2.5, 0.0]),
    ] {
        let found = column(&table, name);
        let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near && found.len() == 3, "{name}: {found:?}");
    }
    let refused = |set: &[&str], expected: &str| {
        let set = [set, &["save.fields=[\"wall_distance\"]"]].concat();
        assert_refused(&run(folder.path(), &set), 2, &[expected]);
    };
    refused(&[], "there is no wall to be near to");
    refused(&["field.sample=false"], "sample");
    refused(&[walls, "field.not_finite=land"], "land");
}

#[test]
fn conditions_are_counted_by_their_texts() {
    let folder = tempfile::tempdir().unwrap();
    let set = "trace.stop_when=[\"age > 3 s\", \"path_length > 4\"]";
    let summary = traced(folder.path(), &[set]);
    assert_eq!(summary["status"]["stopped"], 3, "{summary}");
    assert_eq!(
        summary["conditions"],
        serde_json::json!({ "age > 3": 2, "path_length > 4": 1 }),
        "{summary}"
    );
    let output = run(folder.path(), &[set]);
    assert!(text(&output.stdout).contains("2 were stopped by age > 3"), "{}", text(&output.stdout));
    let info = burntrace(folder.path(), &["info", "out"]);
    assert!(text(&info.stdout).contains("stopped"), "{}", text(&info.stdout));
    let table = table(folder.path());
    let x = column(&table, "x");
    let near = x.iter().zip([1.5, 3.0, 4.0]).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(near, "{x:?}");
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused =
        |set: &[&str], expected: &str| assert_refused(&run(folder.path(), set), 2, &[expected]);
    refused(&["save.fields=[\"mean(shear_rate)\"]"], "mean(shear_rate)");
    refused(&["save.fields=[\"age\"]"], "the name of another result, `age`");
    refused(&["save.fields=[\"integral(p)\"]"], "has no array `p`");
    refused(&["trace.stop_when=[\"old\"]"], "give one such as `age > 3.5`");
    refused(&["trace.stop_when=[\"T > 310\"]"], "the condition `T > 310`");
    refused(&["save.fields=[{ array = \"vorticity\", name = \"curl\" }]"], "omit `name`");
    let text =
        CASE.replace("sample = { nodes = [9, 5, 1], start = 0.0, stop = 5.0, frames = 2 }\n", "");
    std::fs::write(folder.path().join("formula.toml"), text).unwrap();
    let args = ["run", "formula.toml", "--set", "save.fields=[\"shear_rate\"]"];
    assert_refused(
        &burntrace(folder.path(), &args),
        2,
        &["give field.sample = { nodes = [nx, ny, nz] }"],
    );
    let args = ["run", "formula.toml", "--set", "save.fields=[\"integral(speed)\"]"];
    assert!(burntrace(folder.path(), &args).status.success());
}
