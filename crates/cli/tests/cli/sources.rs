//! Outlets, inlets and sources on the command line.

use super::program::{assert_refused, burntrace, text};
use burntrace::{Status, io::Tracks};
use std::path::Path;
use std::process::Output;

/// A velocity of 1 along x, from 0 to 4, for 10 units of time.
const PLUG: &str = "[field]\nflow = \"uniform\"\nsample = { nodes = [5, 3, 3] }\n\
    [domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [4.0, 1.0, 1.0]\n\
    [trace]\nt0 = 0.0\nt1 = 10.0\ndt = 0.125\n[save]\nevery = 8\n\
    [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n";

const OUTLET: &str = "[boundary]\nx = [\"clamp\", \"outlet\"]\n";
const INLET: &str = "[inlet]\nkind = \"face\"\nface = \"x-low\"\n";
const SEEDS: &str = "[seeds]\nkind = \"uniform\"\ncount = 40\nseed = 3\n";
const DISC: &str =
    "kind = \"disc\", centre = [0.0, 0.5, 0.5], normal = [1.0, 0.0, 0.0], radius = 0.3";

/// Runs the plug flow with additional sections.
fn run(folder: &Path, sections: &[&str], more: &[&str]) -> Output {
    std::fs::write(folder.join("case.toml"), [&[PLUG], sections].concat().concat()).unwrap();
    burntrace(folder, &[&["run", "case.toml", "--overwrite"], more].concat())
}

/// The summary of a successful run and its standard output. Asserts that the counts add up.
fn summary_of(folder: &Path, sections: &[&str], more: &[&str]) -> (serde_json::Value, String) {
    let output = run(folder, sections, more);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let file = std::fs::read_to_string(folder.join("out/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&file).unwrap();
    let count = |key: &str| summary[key].as_u64().unwrap();
    assert_eq!(count("released"), count("active") + count("ended"), "{summary}");
    let status = summary["status"].as_object().unwrap();
    let released =
        status.iter().filter(|(name, _)| !["waiting", "not located"].contains(&name.as_str()));
    let sum: u64 = released.map(|(_, count)| count.as_u64().unwrap()).sum();
    assert_eq!(count("released"), sum, "{summary}");
    (summary, text(&output.stdout))
}

#[test]
fn outlet_reinjects_particles_at_the_inlet() {
    let folder = tempfile::tempdir().unwrap();
    for engine in ["fused", "tensor"] {
        let set = ["--set", &format!("trace.engine={engine}")];
        let (summary, printed) = summary_of(folder.path(), &[OUTLET, INLET, SEEDS], &set);
        let tracks = Tracks::open(folder.path().join("out/tracks")).unwrap();
        let starts = tracks.position(0).unwrap();
        let mut ended = 0;
        for save in 0..tracks.num_saves() {
            let found = tracks.position(save).unwrap();
            for (start, found) in starts.iter().zip(&found) {
                let expected = (start[0] + tracks.times()[save]) % 4.0;
                assert!((found[0] - expected).abs() < 1e-9, "{found:?}, not {expected}");
                assert_eq!(found[1..], start[1..], "each keeps its lattice position");
            }
            assert!(tracks.status(save).unwrap().iter().all(|status| *status == Status::Active));
        }
        for start in &starts {
            ended += ((start[0] + 10.0) / 4.0).floor() as u64;
        }
        assert_eq!(summary["active"], 40);
        assert_eq!(summary["status"]["exited x-high"], ended);
        assert_eq!(summary["dropped"], 0);
        let residence = &summary["residence_time"]["exited x-high"];
        assert_eq!(residence["count"], ended);
        assert!((residence["max"].as_f64().unwrap() - 4.0).abs() < 1e-9, "{residence}");
        let sum = format!("released   {} = 40 active + {ended} exited x-high\n", 40 + ended);
        assert!(printed.contains(&sum), "{printed}");
        assert!(printed.contains("residence time"), "{printed}");
        assert!(!printed.contains("dropped"), "{printed}");
    }
}

#[test]
fn source_runs_without_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("[[source]]\nrate = 10.0\ncapacity = 50\ninlet = {{ {DISC} }}\n");
    let (summary, printed) = summary_of(folder.path(), &[&source], &[]);
    // One release every 0.1, with a residence time of 4: the last 40 are active at the end.
    assert_eq!((&summary["seeds"], &summary["particles"]), (&0.into(), &50.into()));
    assert_eq!(summary["dropped"], 0);
    assert_eq!(summary["released"], 100);
    let active = summary["active"].as_u64().unwrap();
    assert!((39..=40).contains(&active), "{summary}");
    assert!(printed.contains("0 seeds, 50 slots of sources"), "{printed}");
    // The written case runs again.
    let again = burntrace(folder.path(), &["run", "out/case.toml", "--out", "again", "--quiet"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
}

#[test]
fn sources_release_by_rate_table_or_burst() {
    let folder = tempfile::tempdir().unwrap();
    let open = "[boundary]\nx = [\"clamp\", \"exit\"]\n";
    let released = |source: &str| {
        let source = format!("[[source]]\n{source}\ninlet = {{ {DISC}, pattern = \"uniform\" }}\n");
        summary_of(folder.path(), &[open, SEEDS, &source], &[]).0["released"].as_u64().unwrap() - 40
    };
    assert_eq!(released("rate = 8.0\ncapacity = 40\nbegin = 2.0\nend = 4.0"), 16);
    assert_eq!(released("rate = 8.0\ncapacity = 40\nbegin = 9.0"), 8);
    assert_eq!(released("rate = 8.0\ncapacity = 40\nend = 1.0"), 8);
    assert_eq!(released("table = [[1.0, 4.0], [3.0, 4.0]]\ncapacity = 20"), 8);
    assert_eq!(released("burst = { time = 5.5, count = 7 }"), 7);
}

#[test]
fn dropped_releases_are_reported_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("[[source]]\nrate = 10.0\ncapacity = 10\ninlet = {{ {DISC} }}\n");
    // Less than 4 long, so that no release coincides with an exit.
    let high = ["--set", "domain.high=[3.875, 1.0, 1.0]"];
    let (summary, printed) = summary_of(folder.path(), &[&source], &high);
    // A slot is free again after 4: at most three particles per slot in 10.
    assert_eq!((&summary["released"], &summary["dropped"]), (&30.into(), &70.into()));
    assert!(printed.contains("dropped    70 releases"), "{printed}");
    assert!(printed.contains("raise source.capacity"), "{printed}");
}

#[test]
fn each_kind_of_inlet_reinjects_particles() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.csv"), "x,y,z\n0,0.25,0.5\n0,0.75,0.5\n").unwrap();
    let kinds = [
        "kind = \"face\"\nface = \"x-low\"\npattern = \"flux\"",
        "kind = \"rectangle\"\norigin = [0.5, 0.25, 0.25]\nedge1 = [0.0, 0.5, 0.0]\n\
         edge2 = [0.0, 0.0, 0.5]\npattern = \"gaussian\"\ndeviation = 0.1",
        "kind = \"polygon\"\ncorners = [[0.0, 0.1, 0.1], [0.0, 0.9, 0.1], [0.0, 0.1, 0.9]]",
        "kind = \"points\"\npoints = [[0.0, 0.25, 0.5], [0.0, 0.75, 0.5]]",
        "kind = \"file\"\npath = \"in.csv\"\npattern = \"uniform\"",
    ];
    for kind in kinds {
        let inlet = format!("[inlet]\n{kind}\n");
        let (summary, _) = summary_of(folder.path(), &[OUTLET, &inlet, SEEDS], &[]);
        assert_eq!(summary["active"], 40, "{kind}");
    }
}

#[test]
fn conflicting_outlets_and_inlets_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |sections: &[&str], parts: &[&str]| {
        assert_refused(&run(folder.path(), sections, &[]), 2, parts);
        assert!(!folder.path().join("out").exists(), "nothing is written");
    };
    refused(&[OUTLET, SEEDS], &["x-high", "is an outlet", "[inlet]", "exit"]);
    refused(&[INLET, SEEDS], &["[inlet]", "outlet", "[[source]]"]);
    refused(&[OUTLET, INLET], &["no particles", "[seeds]", "[[source]]"]);
    refused(
        &["[boundary]\nmesh = \"outlet\"\n", INLET, SEEDS],
        &["boundary.mesh", "interpolation"],
    );
    let around = "[boundary]\nx = [\"periodic\", \"periodic\"]\ny = [\"exit\", \"outlet\"]\n";
    refused(&[around, INLET, SEEDS], &["x-low", "inlet", "periodic", "clamp"]);
    let half = "[boundary]\nx = [\"periodic\", \"outlet\"]\n";
    refused(&[half, INLET, SEEDS], &["x-low", "x-high", "periodic"]);
    let inlet = |keys: &str, parts: &[&str]| {
        refused(&[OUTLET, &format!("[inlet]\n{keys}\n"), SEEDS], parts);
    };
    inlet("kind = \"face\"", &["inlet.face", "missing"]);
    inlet("kind = \"disk\"", &["disk", "did you mean `disc`"]);
    inlet("kind = \"face\"\nface = \"x-lo\"", &["x-lo", "did you mean `x-low`"]);
    inlet(
        "kind = \"face\"\nface = \"x-low\"\nradius = 1.0",
        &["`radius`", "[inlet] kind = \"face\"", "belongs to kind = \"disc\"", "Keys: kind, face"],
    );
    let face = "kind = \"face\"\nface = \"x-low\"";
    inlet(&format!("{face}\npattern = \"gaussian\""), &["inlet.deviation", "needs"]);
    inlet(
        &format!("{face}\ndeviation = 0.1"),
        &["`deviation`", "belongs to pattern = \"gaussian\""],
    );
    inlet("kind = \"face\"\nface = \"x-high\"\npattern = \"flux\"", &["inlet"]);
    inlet("kind = \"points\"\npoints = [[9.0, 0.5, 0.5]]", &["point 0", "outside the domain"]);
}

#[test]
fn invalid_sources_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |keys: &str, parts: &[&str]| {
        let source = format!("[[source]]\n{keys}\ninlet = {{ {DISC} }}\n");
        assert_refused(&run(folder.path(), &[&source], &[]), 2, parts);
    };
    refused("capacity = 5", &["[[source]] 1 of 1", "`rate`, `table` or `burst`"]);
    refused("rate = 1.0", &["source.capacity", "missing"]);
    refused("rate = 0.0\ncapacity = 5", &["[[source]] 1 of 1", "rate is 0", "positive"]);
    refused(
        "rate = 1.0\ncapacity = 5\ntable = [[0.0, 1.0], [1.0, 1.0]]",
        &["both `rate` and `table`", "keep one"],
    );
    refused("burst = { time = 1.0, count = 5 }\ncapacity = 5", &["`capacity`", "with `burst`"]);
    refused("burst = { time = 1.0, count = 5 }\nend = 2.0", &["`end`", "it belongs to `rate`"]);
    refused("rate = 1.0\ncapacity = 5\nbegin = 4.0\nend = 2.0", &["from 4 to 2", "direction"]);
    refused("rate = 1.0\ncapacity = 5\nbegin = 11.0", &["from 11 to 10", "run goes from 0 to 10"]);
    refused("rate = 1.0\ncapacity = 5\nhow_many = 2", &["how_many"]);
    let two = format!("[[source]]\nrate = 1.0\ncapacity = 5\ninlet = {{ {DISC} }}\n");
    let other = "[[source]]\nrate = 1.0\ncapacity = 5\ninlet = { kind = \"face\" }\n";
    let output = run(folder.path(), &[&two, other], &[]);
    assert_refused(&output, 2, &["[[source]] 2 of 2", "source.inlet.face"]);
}

#[test]
fn many_releases_a_step_are_not_dropped_with_a_short_residence_time() {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("[[source]]\nrate = 500.0\ncapacity = 50\ninlet = {{ {DISC} }}\n");
    let set =
        ["--set", "trace.dt=1.0", "--set", "domain.high=[0.01,1.0,1.0]", "--set", "save.every=1"];
    let (summary, _) = summary_of(folder.path(), &[&source], &set);
    assert_eq!((&summary["released"], &summary["dropped"]), (&5000.into(), &0.into()));
}

#[test]
fn info_counts_only_ended_instances() {
    let folder = tempfile::tempdir().unwrap();
    let seeds = "[seeds]\nkind = \"list\"\npoints = [[1.0, 0.5, 0.5], [9.0, 0.5, 0.5]]\n\
        outside = \"not-located\"\n";
    let source = format!("[[source]]\nrate = 10.0\ncapacity = 50\ninlet = {{ {DISC} }}\n");
    let (summary, _) = summary_of(folder.path(), &[seeds, &source], &[]);
    assert_eq!(summary["not_located"], 1, "{summary}");
    // The seed that ended still has its slot; the others are followed or in theirs.
    let tracks = Tracks::open(folder.path().join("out/tracks")).unwrap();
    let last = tracks.status(tracks.num_saves() - 1).unwrap();
    let still_there = last.iter().filter(|status| status.has_ended()).count() as u64;
    let before = summary["ended"].as_u64().unwrap() - still_there;
    let info = text(&burntrace(folder.path(), &["info", "out"]).stdout);
    let line = format!("at the last save, after {before} instances that ended before");
    assert!(before > 0 && info.contains(&line), "`{line}` is not in: {info}");
}

#[test]
fn densities_of_all_saves_skip_those_without_particles() {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("[[source]]\nrate = 10.0\ncapacity = 50\ninlet = {{ {DISC} }}\n");
    summary_of(folder.path(), &[&source], &[]);
    let density = |more: &[&str]| {
        let common = ["density", "out", "--no-pictures", "--json", "--nodes", "9"];
        burntrace(folder.path(), &[&common, more].concat())
    };
    let output = density(&["--save", "all"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found.as_array().unwrap().iter().all(|density| density["save"] != 0));
    assert_eq!(found.as_array().unwrap().len(), 10);
    let note = "note: save 0, at t = 0, has no active particles; it is skipped";
    assert!(text(&output.stderr).contains(note), "{}", text(&output.stderr));
    assert_refused(&density(&["--save", "0"]), 2, &["save 0", "another save"]);
    assert_refused(&density(&["--save", "0,0"]), 2, &["none of the saves", "--ended"]);
}
