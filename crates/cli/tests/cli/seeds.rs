//! Blocks of seeds, and seeds that are released again and again.

use super::program::{assert_refused, burntrace, text};
use super::resume::{REINJECTION, start, wait_for};
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
    assert_refused(&forward, 2, &["until is 5, after the first release at 4", "backward"]);
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
        ("{ until = 1.0 }", "`seeds.repeat.every` is missing"),
        ("{ every = 1.0, until = 2.0, from = 0.0 }", "`from` is not a key"),
        ("{ every = 1.0, until = -2.0 }", "until is -2, before the first release at 0"),
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

#[test]
fn seeds_of_another_run_are_its_active_particles_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // Far from the origin, in single precision: the first two particles leave.
    let far = PLUG.replace("low = [0.0, 0.0, 0.0]", "low = [1e6, 0.0, 0.0]");
    let far = far.replace("high = [8.0,", "high = [1000008.0,").replace("\"f64\"", "\"f32\"");
    let line = "[seeds]\nkind = \"line\"\ncount = 9\nfrom = [1000007.3, 0.3, 0.5]\nto = [1000000.1, 0.7, 0.5]\n";
    let run = |seeds: &str, out: &str| {
        std::fs::write(path.join("case.toml"), format!("{far}{seeds}")).unwrap();
        let output = burntrace(path, &["run", "case.toml", "--out", out]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        (Tracks::open(path.join(out).join("tracks")).unwrap(), text(&output.stderr))
    };
    let (first, _) = run(line, "first");
    let last = first.num_saves() - 1;
    let status = first.status(last).unwrap();
    let positions = first.position(last).unwrap().into_iter().zip(&status);
    let expected: Vec<[f64; 3]> =
        positions.filter(|(_, of)| **of == Status::Active).map(|(at, _)| at).collect();
    assert!((1..9).contains(&expected.len()));
    let (second, warned) = run("[seeds]\nkind = \"run\"\npath = \"first\"\n", "second");
    assert!(!warned.contains("last save"), "{warned}");
    assert_eq!(second.times()[0], 0.0);
    let found = second.position(0).unwrap();
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(&expected) {
        assert!((0..3).all(|d| (a[d] - b[d]).abs() < 1e-9), "{a:?} {b:?}");
    }
    let info = text(&burntrace(path, &["info", "second"]).stdout);
    assert!(info.contains("seeds      run ") && info.contains("first"), "{info}");

    let refused = |name: &str, parts: &[&str]| {
        let seeds = format!("[seeds]\nkind = \"run\"\npath = \"{name}\"\n");
        std::fs::write(path.join("case.toml"), format!("{far}{seeds}")).unwrap();
        assert_refused(&burntrace(path, &["run", "case.toml", "--out", "third"]), 2, parts);
    };
    refused("none", &["none contains no run"]);
    run("[seeds]\nkind = \"list\"\npoints = [[1000007.9, 0.5, 0.5]]\n", "empty");
    refused("empty", &["no particle of the run", "empty is active at its last save, t = 4.0"]);
}

#[test]
fn seeds_of_a_run_warn_unless_its_last_save_is_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // All particles are active at the save and at the end.
    let plug = PLUG.replace("every = 4", "times = [1.0]");
    std::fs::write(path.join("case.toml"), format!("{plug}{LINE}")).unwrap();
    let run = |name: &str| {
        let output = burntrace(path, &["run", "case.toml", "--out", name]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    run("first");
    let seeds = "[seeds]\nkind = \"run\"\npath = \"first\"\n";
    std::fs::write(path.join("case.toml"), format!("{PLUG}{seeds}")).unwrap();
    let warned = run("second");
    assert!(warned.contains("last save, t = 1.0, which is not its end at 4.0"), "{warned}");
    std::fs::write(path.join("first/summary.json"), "{}").unwrap();
    let warned = run("third");
    assert!(warned.contains("t = 1.0, which may not be its end"), "{warned}");
}

#[test]
fn run_does_not_replace_the_run_of_its_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    tracks(path, &[LINE]);
    let seeds = "[seeds]\nkind = \"run\"\npath = \"./out\"\n";
    for more in [&["--overwrite"][..], &[], &["--overwrite", "--out", "none/../out"]] {
        let output = call(path, "run", &[seeds], more);
        assert_refused(&output, 2, &["the run that the seeds are from", "--out"]);
    }
    assert_eq!(Tracks::open(path.join("out/tracks")).unwrap().num_particles(), 3);
}

#[test]
fn plan_counts_seeds_as_the_run_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // 0.3 / 0.1 is less than 3.
    let repeat = "repeat = { every = 0.1, until = 0.3 }\n";
    let plan = call(path, "plan", &[POINTS, repeat], &[]);
    assert!(text(&plan.stdout).contains("8 particles"), "{}", text(&plan.stdout));
    assert_eq!(tracks(path, &[POINTS, repeat]).0.num_particles(), 8);
    assert!(plan.stderr.is_empty(), "{}", text(&plan.stderr));
    for seeds in ["kind = \"file\"\npath = \"seeds.csv\"\n", "kind = \"run\"\npath = \"first\"\n"] {
        let plan = call(path, "plan", &[POINTS, "[[seeds]]\n", seeds], &[]);
        let warned = text(&plan.stderr);
        assert!(plan.status.success() && warned.contains("does not count these seeds"), "{warned}");
    }
}

#[test]
fn seeds_of_an_unfinished_run_are_those_of_its_last_save() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("case.toml"), REINJECTION).unwrap();
    let mut child = start(path, &["run", "case.toml", "--quiet"]);
    wait_for(&path.join("out/log.txt"), "checkpoint");
    child.kill().unwrap();
    child.wait().unwrap();
    let seeds = "[seeds]\nkind = \"run\"\npath = \"out\"\noutside = \"not-located\"\n";
    let output = call(path, "run", &[seeds], &["--out", "next"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let warned = text(&output.stderr);
    assert!(warned.contains("the run") && warned.contains("which is not its end"), "{warned}");
}

#[test]
fn seeds_in_a_mesh_need_a_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let seeds = "[seeds]\nkind = \"mesh\"\ncount = 4\n";
    let output = call(folder.path(), "run", &[seeds], &[]);
    assert_refused(&output, 2, &["kind = \"mesh\"", "not on one", "kind = \"uniform\""]);
}

/// The positions at the first save with all particles, in halves.
fn halves(folder: &Path, sections: &[&str]) -> [Vec<[f64; 3]>; 2] {
    let (found, _) = tracks(folder, sections);
    let positions = found.position(1).unwrap();
    let (first, second) = positions.split_at(positions.len() / 2);
    [first.to_vec(), second.to_vec()]
}

#[test]
fn blocks_and_sources_draw_independent_positions_unless_a_seed_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let boxes =
        "[[seeds]]\nkind = \"uniform\"\ncount = 5\nlow = [0.0, 0.0, 0.0]\nhigh = [1.0, 1.0, 1.0]\n";
    let ball = "[[seeds]]\nkind = \"ball\"\ncount = 5\nradius = 0.5\ncentre = [0.5, 0.5, 0.5]\n";
    let face = "[[source]]\nburst = { time = 0.0, count = 5 }\n\
        inlet = { kind = \"face\", face = \"x-low\", pattern = \"uniform\" }\n";
    for block in [boxes, ball, face] {
        let [first, second] = halves(path, &[block, block]);
        assert!(first.iter().all(|position| !second.contains(position)), "{first:?} {second:?}");
        // The first block has the numbers that it has alone.
        let alone = tracks(path, &[block]).0.position(1).unwrap();
        assert_eq!(alone, first);
    }
    let [first, second] = halves(path, &[boxes, "seed = 7\n", boxes, "seed = 7\n"]);
    assert_eq!(first, second);
}

#[test]
fn seeds_in_the_sea_of_a_field_without_land_are_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let box_of = |placement: &str| {
        format!("[[seeds]]\nkind = \"uniform\"\ncount = 3\nplacement = \"{placement}\"\n")
    };
    let (tracks, printed) = tracks(folder.path(), &[&box_of("sea")]);
    assert_eq!(tracks.num_particles(), 3);
    assert!(
        printed.contains("seeds.placement = \"sea\" has no effect: the field has no land"),
        "{printed}"
    );
    let printed = self::tracks(folder.path(), &[&box_of("box")]).1;
    assert!(!printed.contains("no effect"), "{printed}");
}
