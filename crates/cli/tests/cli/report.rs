//! The first paragraph of a report, and its order.

use super::program::{burntrace, text};
use serde_json::Value;
use std::path::Path;

/// A shear flow u = 2 y with particles at y = 0.25, 0.5, 0.75 and 0.9, which leave x = 4 after 8, 4, 8/3 and 20/9.
const CASE: &str = "[field]\nflow = { u = \"2*y\", v = \"0\" }\nsample = { nodes = [9, 5, 1], start = 0.0, stop = 5.0, frames = 2 }\n\
    [domain]\nlow = [0, 0, 0]\nhigh = [4, 1, 0]\n\
    [seeds]\nkind = \"list\"\npoints = [[0, 0.25, 0], [0, 0.5, 0], [0, 0.75, 0], [0, 0.9, 0]]\n\
    [trace]\nt1 = 3\ndt = 0.1\n[save]\nevery = 10\nreport = \"never\"\n\
    [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n";

/// The first paragraph of the report of a run with settings, and its JSON.
fn answer(folder: &Path, case: &str, set: &[&str]) -> (String, Value) {
    std::fs::write(folder.join("case.toml"), case).unwrap();
    let mut args = vec!["run", "case.toml", "-q", "--overwrite"];
    args.extend(set.iter().flat_map(|set| ["--set", set]));
    let output = burntrace(folder, &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = burntrace(folder, &["report", "out", "--json", "-q"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let markdown = std::fs::read_to_string(folder.join("out/report.md")).unwrap();
    let first = markdown.split("\n\n").nth(1).unwrap().to_string();
    assert_eq!(json["answer"]["text"], *first);
    let html = std::fs::read_to_string(folder.join("out/report.html")).unwrap();
    assert!(html.contains(&format!("<h1>out</h1>\n<p>{}", first.split('`').next().unwrap())));
    (first, json["answer"].clone())
}

#[test]
fn the_first_paragraph_says_how_many_ended_where_when_and_how_fast() {
    let folder = tempfile::tempdir().unwrap();
    let units = ["units.length=\"m\"", "units.time=\"s\""];
    let (found, json) = answer(folder.path(), CASE, &units);
    assert_eq!(
        found,
        "4 particles were released at t = 0 s and followed to t = 3 s. 2 (50 %) left through the face x-high, and \
         2 (50 %) were still active at the end. Half of all that were released had ended within 2.667 s of their \
         release. Their mean speed between saves was 1.11 m/s (0.75 to 1.2 m/s from save to save)."
    );
    assert_eq!(json["outcomes"][0]["status"], "exited x-high");
    assert_eq!([&json["released"], &json["ended"], &json["outcomes"][0]["count"]], [4, 2, 2]);
    assert_eq!(json["release_times"], serde_json::json!([0.0, 0.0]));
    for (key, expected) in [("half_of_released", 8.0 / 3.0), ("half_of_ended", 20.0 / 9.0)] {
        let found = json[key].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-9, "{key}: {found}");
    }
    // Speeds at the saves at t = 0, 1, 2 and 3 are those of 4, 4, 4 and 2 particles: (3 * 4.8 + 1.5) / 14.
    let (found, json) = answer(folder.path(), CASE, &["save.velocity=true"]);
    let speed = found.split_once("Their mean speed ").unwrap().1;
    assert_eq!(speed, "at the saves was 1.136 (0.75 to 1.2 from save to save).");
    assert!((json["mean_speed"]["mean"].as_f64().unwrap() - 15.9 / 14.0).abs() < 1e-9, "{json}");
}

#[test]
fn half_is_of_those_that_have_ended_if_fewer_have() {
    let folder = tempfile::tempdir().unwrap();
    let none = answer(folder.path(), CASE, &["trace.t1=1"]);
    assert!(
        none.0.contains(" to t = 1. All of them were still active at the end. Their"),
        "{none:?}"
    );
    assert_eq!([&none.1["half_of_released"], &none.1["half_of_ended"]], [&Value::Null; 2]);
    let one = answer(folder.path(), CASE, &["trace.t1=2.5"]).0;
    assert!(one.contains("1 (25 %) left through the face x-high, and 3 (75 %) were"), "{one}");
    assert!(one.contains(" The one that ended did so 2.222 after its release. "), "{one}");
    let points = "seeds.points=[[0,1,0],[0,1,0],[0,0.25,0],[0,0.25,0],[0,0.25,0]]";
    let two = answer(folder.path(), CASE, &[points]).0;
    let half = "Fewer than half have ended; half of these 2 had ended within 2 of their release.";
    assert!(two.contains(half), "{two}");
    let all = answer(folder.path(), CASE, &["trace.t1=9", "field.outside_time=hold"]).0;
    assert!(
        all.contains(" to t = 9. All of them left through the face x-high. Half of all"),
        "{all}"
    );
    let single = answer(folder.path(), CASE, &["seeds.points=[[0,1,0]]"]).0;
    assert!(
        single.starts_with(
            "1 particle was released at t = 0 and followed to t = 3. It left through the face x-high. It ended 2 \
             after its release. Its mean speed between saves was 2"
        ),
        "{single}"
    );
}

#[test]
fn conditions_backward_runs_and_late_releases_have_their_words() {
    let folder = tempfile::tempdir().unwrap();
    let stopped = answer(folder.path(), CASE, &["trace.stop_when=[\"age > 1\"]"]);
    assert!(stopped.0.contains("All of them met the condition `age > 1`."), "{stopped:?}");
    assert_eq!(stopped.1["outcomes"][0]["name"], "age > 1");
    let backward =
        ["trace.t0=3", "trace.t1=0", "trace.dt=-0.1", "seeds.points=[[1,0.5,0],[3.9,0.5,0]]"];
    let found = answer(folder.path(), CASE, &backward).0;
    assert!(
        found.starts_with("2 particles were released at t = 3 and followed backward to t = 0. ")
    );
    assert!(
        found.contains("1 (50 %) left through the face x-low, and 1 (50 %) was still"),
        "{found}"
    );
    assert!(found.contains("had ended within 1 of their release"), "{found}");
    let velocity = answer(folder.path(), CASE, &["save.every=", "save.times=[3.0]"]).0;
    assert!(
        velocity.contains("Speeds are not known: no particle was active at two saves"),
        "{velocity}"
    );
}

#[test]
fn a_run_without_releases_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let outside = ["seeds={kind=\"list\",points=[[-1,0,0],[9,0,0]],outside=\"not-located\"}"];
    let found = answer(folder.path(), CASE, &outside).0;
    assert_eq!(found, "No particle was released up to t = 3: 2 seeds were not located.");
    let late = ["seeds={kind=\"list\",points=[[0,0.5,0],[0,1,0]],release=9.0}"];
    let found = answer(folder.path(), CASE, &late).0;
    assert_eq!(found, "No particle was released up to t = 3: 2 slots were waiting for a release.");
}

#[test]
fn slots_of_seeds_and_of_sources_are_counted_apart() {
    let folder = tempfile::tempdir().unwrap();
    let source = "[[source]]\nrate = 2.0\ncapacity = 9\ninlet = { kind = \"points\", points = [[0.0, 1.0, 0.0]] }\n";
    let (found, json) =
        answer(folder.path(), &CASE.replace("[trace]", &format!("{source}[trace]")), &[]);
    let released = json["released"].as_u64().unwrap();
    assert!(released > 8, "{json}");
    let sources = released - 4;
    let start = format!(
        "{released} particles were released (4 in the slots of seeds, {sources} in those of sources) between t = 0 and "
    );
    assert!(found.starts_with(&start), "{found}");
    assert_eq!(json["active"].as_u64().unwrap() + json["ended"].as_u64().unwrap(), released);
}

#[test]
fn warnings_and_the_check_come_before_pictures_tables_and_the_case() {
    let folder = tempfile::tempdir().unwrap();
    let seeds = "seeds={kind=\"list\",points=[[-1,0,0],[1,1,0],[0,0.1,0]],outside=\"not-located\"}";
    let set = [seeds, "save.fields=[\"path_length\"]"];
    answer(folder.path(), CASE, &set);
    let report = std::fs::read_to_string(folder.path().join("out/report.md")).unwrap();
    let order = [
        "2 particles were released",
        "\nField: the formula",
        "**1 of 3 seeds were not located**",
        "**Steps:** not checked by the run. `burntrace check out/case.toml`",
        "## Pictures",
        "## Particles",
        "## What ended where",
        "## Dispersion",
        "## What the run cost",
        "## Case",
    ];
    let places = order.map(|part| report.find(part).unwrap_or_else(|| panic!("{part}: {report}")));
    assert!(places.is_sorted(), "{places:?} in {report}");
    // Particles that have not ended have a row of their own.
    for row in ["| exited x-high | 1 | 3 |", "| active, at the last save | 1 | 0.6 |"] {
        assert!(report.contains(row), "{row}: {report}");
    }
}

#[test]
fn path_lengths_of_particles_are_those_along_the_steps_if_the_run_has_them() {
    let folder = tempfile::tempdir().unwrap();
    // Half a turn around a circle of radius 1, of which there are two saves.
    let case = CASE
        .replace("{ u = \"2*y\", v = \"0\" }", "{ u = \"-(y)\", v = \"x\" }")
        .replace("low = [0, 0, 0]\nhigh = [4, 1, 0]", "low = [-2, -2, 0]\nhigh = [2, 2, 0]");
    let set = [
        "seeds.points=[[1,0,0]]",
        "trace.t1=3.141592653589793",
        "trace.dt=",
        "trace.steps=100",
        "save.every=100",
    ];
    let length = |more: &[&str]| -> f64 {
        answer(folder.path(), &case, &[&set[..], more].concat());
        let output = burntrace(folder.path(), &["report", "out", "-q", "--particles"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let table = std::fs::read_to_string(folder.path().join("out/particles.csv")).unwrap();
        let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
        let column = rows[0].iter().position(|name| *name == "path_length").unwrap();
        rows[1][column].parse().unwrap()
    };
    assert!((length(&[]) - 2.0).abs() < 1e-2);
    let along = length(&["save.fields=[{ array = \"path_length\", name = \"l\" }]"]);
    assert!((along - std::f64::consts::PI).abs() < 1e-2, "{along}");
}
