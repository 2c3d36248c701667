//! `[[gate]]` and `burntrace gates`: what a run, its files and its report say of crossings.

use super::program::{assert_refused, burntrace, text};
use serde_json::Value;
use std::path::Path;

/// A parallel flow with the speed 1 + y, through a plane and a region.
const CASE: &str = "[field]\nflow = { u = \"1 + y\", v = \"0\" }\n[domain]\nlow = [0, 0, 0]\nhigh = [10, 1, 0]\n\
    [seeds]\nkind = \"list\"\npoints = [[0, 0, 0], [0, 1, 0], [4.5, 0, 0], [9, 0.5, 0]]\n\
    [[gate]]\nname = \"the strait\"\nkind = \"plane\"\norigin = [3, 0, 0]\nnormal = [1, 0, 0]\n\
    [[gate]]\nname = \"bay\"\nkind = \"box\"\nlow = [4, 0, 7]\nhigh = [5, 1, 8]\n\
    [trace]\nt1 = 4.5\ndt = 0.5\n[units]\ntime = \"h\"\n[run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n";

fn json(folder: &Path, args: &[&str]) -> Value {
    let output = burntrace(folder, args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn traced() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("case.toml"), CASE).unwrap();
    let output = burntrace(folder.path(), &["run", "case.toml"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    for line in [
        "2 crossed the strait, 2 times forward and 0 times backward",
        "3 were in bay, entered 2 times and left 2 times",
    ] {
        assert!(printed.contains(line), "{printed}");
    }
    folder
}

#[test]
fn summaries_and_tables_have_the_exact_passages() {
    let folder = traced();
    let path = folder.path();
    let summary = std::fs::read_to_string(path.join("out/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let found = json(path, &["gates", "out", "--crossings", "--json"]);
    assert_eq!(
        [&found["gates"], &found["connectivity"]],
        [&summary["gates"], &summary["connectivity"]]
    );
    let near = |value: &Value, expected: f64| {
        assert!((value.as_f64().unwrap() - expected).abs() < 1e-12, "{value} {expected}");
    };
    let (strait, bay) = (&found["gates"]["the strait"], &found["gates"]["bay"]);
    for (key, expected) in [("min", 1.5), ("median", 2.25), ("max", 3.0)] {
        near(&strait["first_passage"][key], expected);
    }
    assert_eq!(
        (&bay["started"], &bay["visits"], &bay["particles"]),
        (&1.into(), &3.into(), &3.into())
    );
    // The first particle enters at 4 and is in the bay at 4.5, the second one from 2 to 2.5, the third one until 0.5.
    near(&bay["residence"]["mean"], 0.5);
    near(&bay["first_passage"]["mean"], 3.0);
    assert_eq!(found["connectivity"]["regions"], serde_json::json!(["bay"]));
    assert_eq!(found["connectivity"]["ended"], serde_json::json!([[0, 1], [1, 2]]));
    assert_eq!(found["connectivity"]["reached"], serde_json::json!([[1, 0], [2, 1]]));
    let read = |name: &str| std::fs::read_to_string(path.join("out/gates").join(name)).unwrap();
    let crossings = read("crossings.csv");
    let rows: Vec<&str> = crossings.lines().collect();
    assert_eq!(rows[0], "gate,slot,generation,direction,time,x,y,z");
    let has = |start: &str, expected: [f64; 2]| {
        let numbers = |row: &&str| -> Option<[f64; 2]> {
            let mut rest = row.strip_prefix(start)?.split(',').map(|x| x.parse().unwrap());
            Some([rest.next()?, rest.next()?])
        };
        let near = |found: [f64; 2]| (0..2).all(|k| (found[k] - expected[k]).abs() < 1e-12);
        rows.iter().filter_map(numbers).any(near)
    };
    assert!(has("the strait,0,0,forward,", [3.0, 3.0]), "{crossings}");
    assert!(has("bay,2,0,backward,", [0.5, 5.0]), "{crossings}");
    assert_eq!(rows.len(), 7, "{crossings}");
    assert!(
        read("gates.csv")
            .starts_with("gate,forward,backward,particles,started,visits,first_passage_count")
    );
    assert_eq!(read("connectivity.csv").lines().next(), Some("counted,from,bay,elsewhere"));
    assert!(path.join("out/gates/first_passages.png").is_file());
    let info = burntrace(path, &["info", "out"]);
    assert!(text(&info.stdout).contains("burntrace gates out"), "{}", text(&info.stdout));
    let shown = burntrace(path, &["gates", "out"]);
    let shown = text(&shown.stdout);
    assert!(shown.contains("of 4 released particles; times from the release, in h"), "{shown}");
    assert!(
        shown.contains("the strait        2         0          2                  2.25"),
        "{shown}"
    );
    let report = burntrace(path, &["report", "out"]);
    assert!(report.status.success(), "{}", text(&report.stderr));
    let report = std::fs::read_to_string(path.join("out/report.md")).unwrap();
    assert!(
        report.contains("Who crossed what") && report.contains("| the strait | 2 | 0 | 2 |"),
        "{report}"
    );
    assert!(path.join("out/pictures/first_passages.png").is_file());
    // A run that replaces it removes these files, too.
    let again = burntrace(
        path,
        &["run", "case.toml", "--overwrite", "--quiet", "--set", "save.report=never"],
    );
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert!(!path.join("out/gates").exists());
}

#[test]
fn what_cannot_be_crossed_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let run = |set: &str| {
        std::fs::write(path.join("case.toml"), CASE).unwrap();
        burntrace(path, &["run", "case.toml", "--overwrite", "--quiet", "--set", set])
    };
    assert_refused(
        &run("gate[0].origin=[30, 0, 0]"),
        2,
        &["`the strait`", "from 30 to 30", "from 0 to 10"],
    );
    assert_refused(&run("gate[1].name=the strait"), 2, &["another one has the same name"]);
    assert_refused(&run("gate[0].normal=[0, 0, 1]"), 2, &["a component along z", "flat"]);
    assert_refused(&run("gate=[{ name = \"a\", kind = \"line\" }]"), 2, &["line", "plane"]);
    assert_refused(
        &run("gate=[{ kind = \"sphere\", centre = [1, 0, 0], radius = 1 }]"),
        2,
        &["name"],
    );
    assert_refused(
        &run("gate=[{ name = \"out\", kind = \"patch\", patch = \"end\" }]"),
        2,
        &["[[gate]] \"out\"", "patch is \"end\"; there is no [[patch]]"],
    );
    assert_refused(
        &run("gate=[{ name = \"tip\", kind = \"surface\", path = \"no.stl\" }]"),
        2,
        &["[[gate]] \"tip\"", "no.stl"],
    );
    assert!(run("gate=[]").status.success());
    assert_refused(&burntrace(path, &["gates", "out"]), 2, &["has no gates", "[[gate]]"]);
}

/// A tetrahedron with corners at (4, 0.5, 0.5) and at x = 5, from a file in other units, beside the case.
#[test]
fn surfaces_of_files_are_regions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::create_dir(path.join("cases")).unwrap();
    let points = ["0 500 500", "1000 100 100", "1000 900 100", "1000 500 900"];
    let facet = |corners: [usize; 3]| {
        let vertices = corners.map(|i| format!("vertex {}\n", points[i])).concat();
        format!("facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet\n")
    };
    let facets = [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]].map(facet).concat();
    std::fs::write(path.join("cases/tip.stl"), format!("solid tip\n{facets}endsolid tip\n"))
        .unwrap();
    let case = "[field]\nflow = { u = \"1\", v = \"0\", w = \"0\" }\n[domain]\nlow = [0, 0, 0]\nhigh = [10, 1, 1]\n\
        [seeds]\nkind = \"list\"\npoints = [[0, 0.5, 0.5], [0, 0.05, 0.5], [4.9, 0.5, 0.5]]\n\
        [[gate]]\nname = \"tip\"\nkind = \"surface\"\npath = \"tip.stl\"\nscale = 0.001\nshift = [4, 0, 0]\n\
        [trace]\nt1 = 6\ndt = 2\n[run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n";
    std::fs::write(path.join("cases/case.toml"), case).unwrap();
    let output = burntrace(path, &["run", "cases/case.toml"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = if path.join("out").exists() { "out" } else { "cases/out" };
    let found = json(path, &["gates", out, "--json"]);
    let tip = &found["gates"]["tip"];
    assert_eq!(
        [&tip["forward"], &tip["backward"], &tip["started"]],
        [1, 2, 1].map(Value::from).each_ref(),
        "{tip}"
    );
    let [least, most] = ["min", "max"].map(|key| tip["residence"][key].as_f64().unwrap());
    assert!((least - 0.1).abs() < 1e-6 && (most - 1.0).abs() < 1e-6, "{tip}");
    assert_eq!(found["connectivity"]["ended"], serde_json::json!([[0, 1], [0, 2]]));
}

/// From 0 to 10 at a speed of 1 + y, the particles at y = 1 and 0.5 leave after 4 to 5 and after 2/3.
#[test]
fn probabilities_are_of_gates_and_of_ends() {
    let folder = traced();
    let path = folder.path();
    let found = json(path, &["gates", "out", "--within", "2", "--within", "4.5", "--json"]);
    let within = found["within"].as_array().unwrap();
    let rows: Vec<(&str, u64, u64)> = within
        .iter()
        .map(|of| {
            let name = of["gate"].as_str().or(of["end"].as_str()).unwrap();
            (name, of["reached"].as_u64().unwrap(), of["of"].as_u64().unwrap())
        })
        .collect();
    let end = "exited x-high";
    assert_eq!(
        rows,
        [
            ("the strait", 1, 4),
            ("bay", 2, 4),
            (end, 1, 4),
            ("the strait", 2, 4),
            ("bay", 3, 4),
            (end, 1, 4)
        ]
    );
    let csv = std::fs::read_to_string(path.join("out/gates/within.csv")).unwrap();
    assert!(
        csv.contains("\nend,exited x-high,2.0,0.25,")
            || csv.contains("\nend,exited x-high,2,0.25,"),
        "{csv}"
    );
    // Without gates.
    let set = ["run", "case.toml", "--overwrite", "--quiet", "--set", "gate=[]"];
    assert!(burntrace(path, &set).status.success());
    let shown = burntrace(path, &["gates", "out", "--within", "4.5"]);
    let shown = text(&shown.stdout);
    assert!(shown.contains("exited x-high") && shown.contains("25.00 %"), "{shown}");
    assert_refused(&burntrace(path, &["gates", "out"]), 2, &["has no gates", "--within"]);
}
