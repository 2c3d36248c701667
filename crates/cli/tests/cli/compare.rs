//! `burntrace compare`, and the keys that `--set` reaches.

use super::program::{assert_refused, burntrace, text};
use super::resume::{folder_with, succeed};
use serde_json::Value;
use std::path::Path;

/// Two sources, and faces that particles leave through.
const CASE: &str = "[field]\nflow = \"double-gyre\"\n\
    sample = { nodes = [33, 17, 2], start = 0.0, stop = 10.0, frames = 5 }\n\
    [domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [2.0, 1.0, 1.0]\n\
    [boundary]\nx = [\"exit\", \"exit\"]\ny = [\"exit\", \"reflect\"]\n\
    z = [\"periodic\", \"periodic\"]\n\
    [seeds]\nkind = \"uniform\"\ncount = 400\nseed = 4\n\
    [trace]\nt1 = 4.0\ndt = 0.1\ndrift = [0.1, 0.0, 0.3]\n[save]\nevery_time = 1.0\nreport = \"never\"\n\
    [run]\ndevice = \"flex\"\n";

const SOURCES: &str = "[[source]]\nrate = 3.0\ncapacity = 20\n\
    inlet = { kind = \"face\", face = \"x-low\" }\n\
    [[source]]\nrate = 5.0\ncapacity = 30\ninlet = { kind = \"face\", face = \"y-low\" }\n";

fn compare(folder: &Path, args: &[&str]) -> Value {
    let output = burntrace(folder, &[&["compare", "--json"], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn run(folder: &Path, out: &str, set: &[&str]) {
    let set = set.iter().flat_map(|key| ["--set", key]);
    let args: Vec<&str> = ["run", "case.toml", "-q", "--out", out].into_iter().chain(set).collect();
    succeed(folder, &args);
}

#[test]
fn equal_runs_are_identical_and_others_have_their_distance() {
    let folder = folder_with(CASE);
    let path = folder.path();
    run(path, "a", &[]);
    run(path, "b", &["run.threads=1"]);
    // Uniform drift: after t, positions are apart by 0.02 t, unwrapped across the periodic faces.
    let uniform =
        ["field.flow=uniform", "trace.drift=[0,0,0.3]", "boundary.x=[\"periodic\",\"periodic\"]"];
    run(path, "c", &uniform);
    run(path, "d", &[&uniform[..], &["trace.drift[2]=0.32"]].concat());
    let same = compare(path, &["a", "b", "--tolerance", "0"]);
    assert_eq!(same["case"].as_array().unwrap().len(), 1);
    assert_eq!(same["case"][0]["key"], "run.threads");
    assert_eq!(
        [&same["ends"]["different"], &same["positions"]["max"]],
        [&Value::from(0), &Value::from(0.0)]
    );
    let printed = text(&burntrace(path, &["compare", "a", "b"]).stdout);
    assert!(printed.contains("identical positions and ends"), "{printed}");

    let differs = compare(path, &["c", "d", "--particles", "particles.csv"]);
    assert_eq!(differs["case"][0]["key"], "trace.drift");
    let saves = differs["positions"]["saves"].as_array().unwrap();
    assert_eq!(saves.len(), 5);
    for save in saves {
        let apart = 0.02 * save["time"].as_f64().unwrap();
        for key in ["max", "median", "p90"] {
            let found = save[key].as_f64().unwrap();
            assert!((found - apart).abs() < 1e-5, "{key} is {found}, not {apart}");
        }
    }
    let travel = differs["positions"]["mean_travel"].as_f64().unwrap();
    assert!((travel - (4.0_f64.powi(2) + 1.2_f64.powi(2)).sqrt()).abs() < 1e-4, "{travel}");
    let rows = std::fs::read_to_string(path.join("particles.csv")).unwrap();
    assert_eq!(rows.lines().count(), 401);
    let first: Vec<&str> = rows.lines().nth(1).unwrap().split(',').collect();
    assert_eq!([first[0], first[1], first[7]], ["0", "active", "4"]);
    let refused = burntrace(path, &["compare", "c", "d", "--tolerance", "0.07"]);
    assert_refused(&refused, 1, &["the tolerance is 0.07"]);
    assert!(burntrace(path, &["compare", "c", "d", "--tolerance", "0.09"]).status.success());
}

#[test]
fn different_ends_are_counted_by_status() {
    let folder = folder_with(CASE);
    let path = folder.path();
    run(path, "a", &[]);
    run(path, "b", &["boundary.y[0]=reflect", "boundary.x[1]=stick"]);
    let found = compare(path, &["a", "b"]);
    let keys: Vec<&str> =
        found["case"].as_array().unwrap().iter().map(|key| key["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["boundary.x", "boundary.y"]);
    let changes = found["ends"]["changes"].as_array().unwrap();
    let total: u64 = changes.iter().map(|change| change["count"].as_u64().unwrap()).sum();
    assert!(total > 0 && found["ends"]["different"] == total, "{changes:?}");
    let stuck = changes.iter().find(|change| change["statuses"][0] == "exited x-high").unwrap();
    assert_ne!(stuck["statuses"][1], "exited x-high");
    assert_refused(
        &burntrace(path, &["compare", "a", "b", "--tolerance", "9"]),
        1,
        &["end differently"],
    );
    run(path, "few", &["seeds.count=7"]);
    let few = compare(path, &["a", "few"]);
    assert_eq!((&few["slots"], &few["positions"]), (&serde_json::json!([400, 7]), &Value::Null));
    assert_refused(&burntrace(path, &["compare", "a", "none"]), 2, &["none contains no run"]);
}

#[test]
fn set_reaches_sections_of_lists_and_removes_keys() {
    let folder = folder_with(&format!("{CASE}{SOURCES}"));
    let path = folder.path();
    run(
        path,
        "a",
        &["source[0].rate=4.5", "source[1].inlet.face=z-low", "boundary.z=", "save.every_time="],
    );
    let case: toml::Table =
        std::fs::read_to_string(path.join("a/case.toml")).unwrap().parse().unwrap();
    let source = case["source"].as_array().unwrap();
    assert_eq!(source[0]["rate"].as_float(), Some(4.5));
    assert_eq!(source[1]["inlet"]["face"].as_str(), Some("z-low"));
    assert!(case["boundary"].get("z").is_none());
    assert!(case["save"].get("every_time").is_none());
    let refused = |set: &str| burntrace(path, &["run", "case.toml", "--set", set]);
    assert_refused(
        &refused("source[2].rate=1"),
        2,
        &["has 2 sections; give source[0] to source[1]"],
    );
    assert_refused(&refused("source.rate=1"), 2, &["there are 2 sections [[source]]"]);
    assert_refused(
        &refused("source[1].rate=fast"),
        2,
        &["--set source[1].rate=fast: `source.rate` is"],
    );
    assert_refused(
        &refused("source[1].inlet.face="),
        2,
        &["--set source[1].inlet.face=", "missing"],
    );
    let nothing = ["run", "case.toml", "--out", "b", "--set", "walk.seed="];
    let output = burntrace(path, &nothing);
    assert!(text(&output.stderr).contains("`--set walk.seed=` has no effect"));
}

#[test]
fn pictures_are_written_into_a_folder_that_is_given() {
    let folder = folder_with(CASE);
    let path = folder.path();
    run(path, "a", &[]);
    run(path, "b", &["trace.drift[0]=0.3"]);
    let names = |folder: &Path| -> std::collections::BTreeSet<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let before = [names(path), names(&path.join("a")), names(&path.join("b"))];
    let without = compare(path, &["a", "b"]);
    assert!(without.get("files").is_none(), "{without}");
    assert_eq!([names(path), names(&path.join("a")), names(&path.join("b"))], before);
    let with = compare(path, &["a", "b", "--out", "pictures"]);
    assert_eq!(with["files"], serde_json::json!(["pictures/distances.png", "pictures/ends.png"]));
    assert_eq!(
        (&with["not_shown"], names(&path.join("pictures")).len()),
        (&serde_json::json!([]), 2)
    );
    assert_eq!(
        [names(&path.join("a")), names(&path.join("b"))],
        [before[1].clone(), before[2].clone()]
    );
    let same = compare(path, &["a", "a", "--out", "same"]);
    assert_eq!(same["not_shown"], serde_json::json!(["ends: all particles end alike"]));
    let printed = text(&burntrace(path, &["compare", "a", "a", "--out", "same"]).stdout);
    assert!(
        printed.contains("written    same/distances.png\nnot shown  ends: all particles"),
        "{printed}"
    );
    run(path, "c", &["seeds.count=10"]);
    let other = compare(path, &["a", "c", "--out", "other"]);
    assert_eq!(other["not_shown"].as_array().unwrap().len(), 2, "{other}");
}
