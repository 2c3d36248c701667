//! Blocks of seeds, and seeds that are released again and again.

use super::program::{assert_refused, burntrace, text};
use burntrace::{Status, io::Tracks};
use std::path::Path;
use std::process::Output;

/// A velocity of 1 along x, for 4 units of time.
const PLUG: &str = "[field]\nflow = \"uniform\"\nsample = { nodes = [5, 3, 3] }\n\
    [domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [8.0, 1.0, 1.0]\n\
    [trace]\nt0 = 0.0\nt1 = 4.0\ndt = 0.25\n[save]\nevery = 4\nvtk = []\n\
    [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n";

const POINTS: &str = "[[seeds]]\nkind = \"list\"\npoints = [[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]]\n";
const LINE: &str =
    "[[seeds]]\nkind = \"line\"\ncount = 3\nfrom = [2.0, 0.25, 0.5]\nto = [2.0, 0.75, 0.5]\n";

/// Calls the program for the plug flow with additional sections.
fn call(folder: &Path, command: &str, sections: &[&str], more: &[&str]) -> Output {
    std::fs::write(folder.join("case.toml"), [&[PLUG], sections].concat().concat()).unwrap();
    burntrace(folder, &[&[command, "case.toml"], more].concat())
}

/// The tracks of a successful run.
fn tracks(folder: &Path, sections: &[&str]) -> (Tracks, String) {
    let output = call(folder, "run", sections, &["--overwrite"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    (Tracks::open(folder.join("out/tracks")).unwrap(), text(&output.stderr))
}

#[test]
fn blocks_of_seeds_add_up_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let late = format!("{LINE}release = 1.0\n");
    let (found, _) = tracks(path, &[POINTS, &late]);
    let start = found.position(0).unwrap();
    assert_eq!(start[..2], [[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]]);
    assert_eq!(start[2..], [[2.0, 0.25, 0.5], [2.0, 0.5, 0.5], [2.0, 0.75, 0.5]]);
    assert_eq!(found.ends().unwrap().release_time, [0.0, 0.0, 1.0, 1.0, 1.0]);
    let info = text(&burntrace(path, &["info", "out"]).stdout);
    assert!(info.contains("list, 2; line, 3"), "{info}");
    let case = std::fs::read_to_string(path.join("out/case.toml")).unwrap();
    assert_eq!(case.matches("[[seeds]]").count(), 2, "{case}");
    let single = tracks(path, &[&POINTS.replace("[[seeds]]", "[seeds]")]).0;
    assert_eq!(single.num_particles(), 2);
    let case = std::fs::read_to_string(path.join("out/case.toml")).unwrap();
    assert!(case.contains("\n[seeds]"), "{case}");
    assert_eq!(tracks(path, &[POINTS]).0.position(0).unwrap(), single.position(0).unwrap());
}

#[test]
fn repeated_seeds_are_released_at_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let repeat = "release = 0.5\nrepeat = { every = 0.75, until = 2.0 }\n";
    let (found, _) = tracks(path, &[POINTS, repeat, LINE]);
    let times = [0.5, 0.5, 1.25, 1.25, 2.0, 2.0, 0.0, 0.0, 0.0];
    assert_eq!(found.ends().unwrap().release_time, times);
    let end = found.position(found.num_saves() - 1).unwrap();
    for (i, expected) in [4.0, 5.0, 3.25, 4.25, 2.5, 3.5, 6.0, 6.0, 6.0].into_iter().enumerate() {
        assert!((end[i][0] - expected).abs() < 1e-12, "{i}: {}", end[i][0]);
    }
    let info = text(&burntrace(path, &["info", "out"]).stdout);
    assert!(info.contains("list, 2, every 0.75 until 2; line, 3"), "{info}");
    let plan = call(path, "plan", &[POINTS, repeat, LINE], &[]);
    assert!(text(&plan.stdout).contains("9 particles"), "{}", text(&plan.stdout));
    // From the start of the run, beyond its end.
    let (found, warned) = tracks(path, &[POINTS, "repeat = { every = 2.0, until = 6.0 }\n"]);
    let waiting = found.status(found.num_saves() - 1).unwrap();
    // The release at the end of the run does not happen in it.
    assert_eq!(waiting.iter().filter(|status| **status == Status::Waiting).count(), 4);
    assert!(warned.contains("4 of 8 seeds are not released"), "{warned}");
}

#[test]
fn repeated_seeds_of_backward_runs_go_back_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let case = PLUG.replace("t0 = 0.0\nt1 = 4.0\ndt = 0.25", "t0 = 4.0\nt1 = 0.0\ndt = -0.25");
    let repeat = "[seeds]\nkind = \"list\"\npoints = [[7.0, 0.5, 0.5]]\n\
                  repeat = { every = 1.5, until = 1.0 }\n";
    std::fs::write(path.join("case.toml"), format!("{case}{repeat}")).unwrap();
    let output = burntrace(path, &["run", "case.toml"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found = Tracks::open(path.join("out/tracks")).unwrap();
    assert_eq!(found.ends().unwrap().release_time, [4.0, 2.5, 1.0]);
    let forward = burntrace(path, &["run", "case.toml", "--set", "seeds.repeat.until=5.0"]);
    assert_refused(&forward, 2, &["until is 5.0, after the first release at 4.0", "backward"]);
}

#[test]
fn wrong_blocks_of_seeds_are_refused_with_their_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let refused = |sections: &[&str], parts: &[&str]| {
        assert_refused(&call(path, "run", sections, &[]), 2, parts);
        assert!(!path.join("out").exists(), "nothing is written");
    };
    refused(&[POINTS, "radius = 1.0\n", LINE], &["`radius` is not a key of [[seeds]] 1 of 2"]);
    refused(&[POINTS, LINE, "count = 3\n"], &["line", "twice"]);
    let far = LINE.replace("from = [2.0", "from = [inf");
    refused(&[POINTS, &far], &["[[seeds]] 2 of 2", "first point", "inf"]);
    let empty = "[[seeds]]\nkind = \"sobol\"\ncount = 0\n";
    refused(&[POINTS, empty, LINE], &["[[seeds]] 2 of 3", "none; give one"]);
    refused(&[POINTS, LINE, "outside = \"not-located\"\n"], &["2 of 2: seeds.outside differs"]);
    for (repeat, part) in [
        ("{ every = 0.0, until = 1.0 }", "every 0.0 until 1.0; give a positive interval"),
        ("{ every = -1.0, until = 1.0 }", "give a positive interval"),
        ("{ every = 1.0, until = inf }", "finite time of the last release"),
        ("{ every = 1.0 }", "`seeds.repeat.until` is missing"),
        ("{ every = 1.0, until = 2.0, from = 0.0 }", "`from` is not a key"),
        ("{ every = 1.0, until = -2.0 }", "until is -2.0, before the first release at 0.0"),
    ] {
        refused(&[POINTS, LINE, &format!("repeat = {repeat}\n")], &["2 of 2", part]);
    }
    for every in ["1e-9", "5e-324"] {
        let repeat = format!("repeat = {{ every = {every}, until = 2.0 }}\n");
        refused(&[POINTS, LINE, &repeat], &["positions need"]);
    }
    refused(&[POINTS, LINE, "repeat = 1.0\n"], &["line 26: `seeds.repeat` is 1.0; give a section"]);
    let set = call(path, "run", &[POINTS, LINE], &["--set", "seeds.count=3"]);
    assert_refused(&set, 2, &["there are 2 sections [[seeds]]"]);
}

#[test]
fn ftle_need_one_release_of_one_grid() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let grid = "[[seeds]]\nkind = \"grid\"\ncounts = [4, 4, 4]\nhigh = [1.0, 1.0, 1.0]\n";
    tracks(path, &[grid]);
    let ftle = || burntrace(path, &["ftle", "out"]);
    assert!(ftle().status.success(), "{}", text(&ftle().stderr));
    tracks(path, &[grid, POINTS]);
    assert_refused(&ftle(), 2, &["in 2 blocks [[seeds]]", "one release of"]);
    tracks(path, &[grid, "repeat = { every = 1.0, until = 1.0 }\n"]);
    assert_refused(&ftle(), 2, &["released repeatedly (seeds.repeat)"]);
}
