//! Finished runs that are continued: their output is bit-identical to that of one long run.

use super::program::{assert_refused, burntrace, text};
use super::resume::{
    REINJECTION, SERIES, TOLERANCE, assert_same, files, folder_with, frame, start, succeed,
    summary, wait_for,
};
use burntrace::io::Checkpoint;
use std::path::Path;

/// Far from the origin, with a walk and periodic faces, and seeds that are released over the whole run.
const FAR: &str = "[field]\nflow = \"uniform\"\nsample = { nodes = [3, 3, 3] }\n\
    [domain]\nlow = [1e6, 2e6, 0.0]\nhigh = [1000001.0, 2000001.0, 1.0]\n\
    [boundary]\nx = [\"periodic\", \"periodic\"]\ny = [\"reflect\", \"reflect\"]\n\
    z = [\"reflect\", \"reflect\"]\n\
    [[seeds]]\nkind = \"uniform\"\ncount = 40\nrepeat = { every = 0.7, until = 3.9 }\n\
    [[seeds]]\nkind = \"sobol\"\ncount = 30\nrelease = 3.01\n\
    [[seeds]]\nkind = \"sobol\"\ncount = 20\nrelease = 2.0\n\
    [trace]\nt0 = 0.0\nt1 = 4.0\ndt = 0.125\n[walk]\ndiffusivity = 1e-3\n\
    [save]\nevery = 4\nvtk = [\"lines\"]\n[run]\ndevice = \"flex\"\nout = \"out\"\n";

/// Runs a case as a whole, and in two parts with the given keys of the first and the second part.
fn run_in_parts(folder: &Path, common: &[&str], first: &[&str], second: &[&str]) {
    let set = |keys: &[&str]| -> Vec<String> {
        let keys = common.iter().chain(keys);
        keys.flat_map(|key| ["--set".to_string(), key.to_string()]).collect()
    };
    let run = |start: &[&str], keys: &[&str]| {
        let keys = set(keys);
        let args = [start, &keys.iter().map(String::as_str).collect::<Vec<_>>()].concat();
        succeed(folder, &args);
    };
    run(&["run", "case.toml", "--quiet", "--out", "whole"], second);
    run(&["run", "case.toml", "--quiet", "--out", "first"], first);
    let before = files(&folder.join("first"));
    run(&["run", "--extend", "first", "--quiet", "--out", "longer"], second);
    assert!(files(&folder.join("first")) == before, "the finished run is not modified");
    assert_same(folder, ["whole", "longer"]);
    succeed(folder, &["verify", "longer"]);
    let state = |name: &str| Checkpoint::read(folder.join(name).join("state.bin")).unwrap();
    let [whole, longer] = ["whole", "longer"].map(state);
    assert!(whole.names().eq(longer.names()));
    for array in whole.names() {
        let bytes = |state: &Checkpoint| state.array::<u8>(array).unwrap();
        assert!(bytes(&whole) == bytes(&longer), "{array} of the state");
    }
}

#[test]
fn extended_run_with_reinjection_source_and_walk_equals_one_long_run() {
    let folder = folder_with(REINJECTION);
    let small = ["seeds.count=900", "run.batch=700"];
    let first = ["trace.t1=5", "trace.steps=200"];
    run_in_parts(folder.path(), &small, &first, &["trace.t1=10", "trace.steps=400"]);
    assert!(summary(folder.path(), "first")["residence_time"].is_object());
}

#[test]
fn extended_run_with_source_releases_the_later_seeds() {
    let late = "seed = 4\nrepeat = { every = 1.3, until = 8.0 }\n[trace]";
    let folder = folder_with(&REINJECTION.replace("seed = 4\n[trace]", late));
    let small = ["seeds.count=200", "run.strategy=batched"];
    let first = ["trace.t1=5", "trace.steps=200"];
    run_in_parts(folder.path(), &small, &first, &["trace.t1=10", "trace.steps=400"]);
}

#[test]
fn extended_adaptive_run_equals_one_long_run() {
    let folder = folder_with(TOLERANCE);
    let common = ["seeds.count=600", "trace.dt=0.125"];
    run_in_parts(folder.path(), &common, &["trace.t1=5.0"], &["trace.t1=10.0"]);
}

#[test]
fn extended_run_releases_the_later_seeds() {
    let folder = folder_with(FAR);
    run_in_parts(folder.path(), &[], &["trace.t1=2.0"], &["trace.t1=4.0", "run.batch=50"]);
    let path = folder.path();
    assert_eq!(summary(path, "first")["status"]["waiting"], 40 * 3 + 30 + 20);
    assert_eq!(summary(path, "longer")["status"]["active"], 40 * 6 + 50);
    let warnings = |name: &str| summary(path, name)["warnings"].to_string();
    assert!(
        warnings("first").contains("170 of 290 seeds are not released"),
        "{}",
        warnings("first")
    );
    assert_eq!(warnings("longer"), "[]");
    // Again, from the extended run.
    succeed(
        path,
        &["run", "--extend", "longer", "--quiet", "--set", "trace.t1=5.0", "--out", "third"],
    );
    succeed(path, &["run", "case.toml", "--quiet", "--set", "trace.t1=5.0", "--out", "whole5"]);
    assert_same(path, ["whole5", "third"]);
}

#[test]
fn extended_backward_run_on_the_tensor_engine_equals_one_long_run() {
    let folder = folder_with(FAR);
    let run = "run = { device = \"flex\", out = \"out\", precision = \"f64\" }\n";
    let case = FAR.replace("[run]\ndevice = \"flex\"\nout = \"out\"\n", "");
    let case = case.replace("t0 = 0.0\nt1 = 4.0\ndt = 0.125", "t0 = 4.0\nt1 = 0.0\ndt = -0.125");
    let case = case.replace("until = 3.9", "until = 0.1");
    std::fs::write(folder.path().join("case.toml"), format!("{run}{case}")).unwrap();
    run_in_parts(folder.path(), &["trace.engine=tensor"], &["trace.t1=2.0"], &["trace.t1=0.0"]);
}

#[test]
fn run_is_extended_by_the_further_frames_of_its_series() {
    let folder = folder_with(SERIES);
    let path = folder.path();
    let run = ["run", "case.toml", "--quiet", "--set", "seeds.count=300", "--out"];
    (0..21).for_each(|number| drop(frame(path, number, None)));
    succeed(path, &[&run[..], &["first"]].concat());
    (21..30).for_each(|number| drop(frame(path, number, None)));
    succeed(path, &[&run[..], &["whole"]].concat());
    let extend = ["run", "--extend", "first", "--quiet", "--out", "longer"];
    let refused = burntrace(path, &extend);
    assert_refused(&refused, 2, &["u_021.vtk", "is new", "--accept-changes"]);
    assert!(!text(&refused.stderr).contains("resume"), "{}", text(&refused.stderr));
    let accept = ["run", "--extend", "first", "--out", "longer", "--accept-changes"];
    let output = burntrace(path, &accept);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("accepted with --accept-changes"));
    assert_same(path, ["whole", "longer"]);
}

#[test]
fn killed_extension_resumes_to_identical_output() {
    let folder = folder_with(REINJECTION);
    let path = folder.path();
    succeed(path, &["run", "case.toml", "--quiet", "--out", "whole"]);
    let first = ["--set", "trace.t1=2.5", "--set", "trace.steps=100", "--out", "first"];
    succeed(path, &[&["run", "case.toml", "--quiet"], &first[..]].concat());
    let longer = ["--set", "trace.t1=10", "--set", "trace.steps=400", "--out", "longer"];
    let mut child = start(path, &[&["run", "--extend", "first", "--quiet"], &longer[..]].concat());
    wait_for(&path.join("longer/checkpoint.bin"), "BURNTRCP");
    child.kill().unwrap();
    child.wait().unwrap();
    succeed(path, &["run", "--resume", "longer", "--quiet"]);
    assert_same(path, ["whole", "longer"]);
}

#[test]
fn run_that_cannot_be_extended_is_refused_with_the_reason() {
    let folder = folder_with(FAR);
    let path = folder.path();
    succeed(path, &["run", "case.toml", "--quiet", "--set", "trace.t1=2.0", "--out", "first"]);
    let extend = |keys: &[&str]| {
        let keys = keys.iter().flat_map(|key| ["--set", key]).collect::<Vec<_>>();
        burntrace(path, &[&["run", "--extend", "first", "--out", "longer"], &keys[..]].concat())
    };
    assert_refused(&extend(&[]), 2, &["ends at t = 2, not after", "later `trace.t1`"]);
    let later = "trace.t1=4.0";
    assert_refused(&extend(&[later, "trace.dt=0.25"]), 2, &["length of 0.25", "run 0.125"]);
    assert_refused(
        &extend(&[later, "save.every=8"]),
        2,
        &["saved at t = 0.5", "saves at 1 instead"],
    );
    assert_refused(
        &extend(&[later, "save.velocity=true"]),
        2,
        &["save.velocity is true", "was false"],
    );
    assert_refused(&extend(&[later, "walk.seed=2"]), 2, &["walk.seed is 2", "finished run first"]);
    assert_refused(&extend(&[later, "run.precision=f64"]), 2, &["run.precision"]);
    let out = |out: &[&str]| {
        burntrace(path, &[&["run", "--extend", "first", "--set", later], out].concat())
    };
    assert_refused(&out(&[]), 2, &["folder of its own", "--out"]);
    for inside in ["./first/", "first/longer", "first/tracks", "none/../first"] {
        assert_refused(&out(&["--out", inside, "--overwrite"]), 2, &["folder of its own"]);
    }
    assert!(!path.join("longer").exists(), "nothing is written");

    let both = burntrace(path, &["run", "--extend", "first", "--resume", "first"]);
    assert_refused(&both, 2, &["--resume"]);
    assert_refused(&burntrace(path, &["run", "--extend", "none"]), 2, &["no folder none"]);
    let changes = burntrace(path, &["run", "case.toml", "--accept-changes"]);
    assert_refused(&changes, 2, &["--resume or --extend"]);

    let odd = ["run", "case.toml", "--quiet", "--set", "trace.t1=1.9", "--out", "odd"];
    succeed(path, &odd);
    let output = burntrace(path, &["run", "--extend", "odd", "--set", later, "--out", "longer"]);
    assert_refused(&output, 2, &["ended at t = 1.9", "step of the longer run ends at 2"]);
}

#[test]
fn damaged_or_missing_parts_of_the_finished_run_are_refused() {
    let folder = folder_with(FAR);
    let path = folder.path();
    let short = ["run", "case.toml", "--quiet", "--set", "trace.t1=2.0", "--out"];
    succeed(path, &[&short[..], &["first"]].concat());
    let extend = |from: &str| {
        burntrace(path, &["run", "--extend", from, "--set", "trace.t1=4.0", "--out", "longer"])
    };
    succeed(path, &[&short[..], &["bare", "--set", "run.keep_state=false"]].concat());
    assert!(!path.join("bare/state.bin").exists());
    succeed(path, &[&short[..], &["single", "--set", "run.checkpoint=0"]].concat());
    assert!(path.join("single/state.bin").exists() && !path.join("single/checkpoint.bin").exists());
    assert_refused(&extend("bare"), 2, &["no `state.bin`", "run.keep_state = false"]);

    let change = |name: &str| {
        let file = path.join(name);
        let mut bytes = std::fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&file, bytes).unwrap();
    };
    change("first/tracks/position/c.0.0.0");
    assert_refused(&extend("first"), 2, &["damaged", "position", "burntrace verify first"]);
    change("first/tracks/position/c.0.0.0");
    change("first/state.bin");
    assert_refused(&extend("first"), 2, &["state.bin", "checksum", "in another folder"]);
    change("first/state.bin");
    assert!(!path.join("longer").exists(), "nothing is written");
    let output = extend("first");
    assert!(output.status.success(), "{}", text(&output.stderr));
}
