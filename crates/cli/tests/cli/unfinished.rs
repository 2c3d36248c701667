//! Runs that have not ended: their complete saves can be evaluated and verified. Damaged tracks.

use super::program::{assert_refused, burntrace, text};
use super::resume::{
    REINJECTION, SERIES, assert_same, folder_with, frame, start, summary, wait_for,
};
use burntrace::io::{Checkpoint, TrackWriter, Tracks};
use burntrace::{Precision, SavePlan, TrackSink};
use serde_json::Value;
use std::path::Path;

/// Particles on a lattice, so that FTLE are defined.
fn case() -> String {
    SERIES.replace("kind = \"sobol\"\ncount = 5000", "kind = \"grid\"\ncounts = [9, 8, 4]")
}

/// Resumes the run with the repaired frame.
const RESUME: [&str; 5] = ["run", "--resume", "out", "--quiet", "--accept-changes"];

/// A complete run in `whole`, and a run in `out` that stopped at frame 30 of 40.
fn stopped(case: &str) -> tempfile::TempDir {
    let folder = folder_with(case);
    let path = folder.path();
    (0..40).for_each(|number| drop(frame(path, number, None)));
    done(path, &["run", "case.toml", "--quiet", "--out", "whole"]);
    frame(path, 30, Some("nan"));
    let output = burntrace(path, &["run", "case.toml", "--quiet"]);
    assert_refused(&output, 1, &["--resume out"]);
    frame(path, 30, None);
    folder
}

/// The outputs of a call that must succeed.
fn done(folder: &Path, args: &[&str]) -> [String; 2] {
    let output = burntrace(folder, args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    [text(&output.stdout), text(&output.stderr)]
}

/// The JSON of a call that must succeed, and must say whether the run is unfinished.
fn json(folder: &Path, args: &[&str], is_unfinished: bool) -> Value {
    let [out, err] = done(folder, args);
    let note = "note: out: the run was stopped or is still in progress; this is its state after ";
    assert_eq!(err.contains(note), is_unfinished, "{err}");
    serde_json::from_str(&out).unwrap()
}

/// The number of released particles as reports write it.
fn all_released(report: &Value) -> String {
    let count = report["statistics"]["all"]["released"].as_u64().unwrap();
    if count < 1000 { count.to_string() } else { format!("{},{:03}", count / 1000, count % 1000) }
}

#[test]
fn results_of_the_complete_saves_equal_those_of_the_complete_run() {
    let folder = stopped(&case());
    let path = folder.path();
    let saves = Tracks::open_partial(path.join("out/tracks")).unwrap().num_saves();
    let whole = Tracks::open(path.join("whole/tracks")).unwrap().num_saves();
    assert!(saves > 10 && saves < whole, "{saves} of {whole}");
    let report = json(path, &["report", "out", "--json", "--particles"], true);
    assert_eq!(report["statistics"]["complete"], false);
    assert_eq!(report["statistics"]["times"].as_array().unwrap().len(), saves);
    let all = json(path, &["report", "whole", "--json"], false);
    let of = |report: &Value, save| report["statistics"]["all"]["saves"][save].clone();
    assert_eq!(of(&report, saves - 1), of(&all, saves - 1));
    let text = std::fs::read_to_string(path.join("out/report.md")).unwrap();
    let note = format!(
        "**Unfinished:** the run was stopped or is still in progress; this is its \
                        state after {saves} of {whole} saves, at t = "
    );
    assert!(text.contains(&note), "{text}");
    let released = all_released(&report);
    let answer = report["answer"]["text"].as_str().unwrap();
    let start = format!("{released} particles");
    let part = format!("after {saves} of {whole} saves of an unfinished run. ");
    assert!(answer.starts_with(&start) && answer.contains(&part), "{answer}");
    assert!(answer.contains(" have been released up to t = "), "{answer}");
    assert!(answer.contains(" were still active then."), "{answer}");
    let last = (saves - 1).to_string();
    for (command, save) in [("density", "last"), ("density", "3"), ("ftle", "last"), ("ftle", "3")]
    {
        let save_of_whole = if save == "last" { last.as_str() } else { save };
        let mut found = json(path, &[command, "out", "--save", save, "--json"], true);
        let mut expected =
            json(path, &[command, "whole", "--save", save_of_whole, "--json"], false);
        for value in [&mut found, &mut expected] {
            let value = if value.is_array() { &mut value[0] } else { value };
            value["files"] = Value::Null;
            value["notes"] = Value::Null;
        }
        assert_eq!(found, expected, "{command} at {save}");
    }
    let [out, err] = done(path, &["render", "out", "--size", "640x480"]);
    assert!(out.contains("tracks.png") && err.contains("note: out: "), "{out}{err}");
    done(path, &["render", "out", "--html", "--gif", "--seconds", "0.2", "--color", "age"]);
    let page = std::fs::read_to_string(path.join("out/page.html")).unwrap();
    assert!(page.contains("Unfinished"));
    // The run is not changed by this.
    done(path, &RESUME);
    for save in [last.as_str(), "3"] {
        done(path, &["density", "out", "--save", save]);
    }
    assert_same(path, ["whole", "out"]);
    assert!(!path.join("out/domain.json").exists());
    json(path, &["report", "out", "--json"], false);
}

/// With the default, a checkpoint every minute.
#[test]
fn a_run_that_fails_between_checkpoints_leaves_one_to_resume() {
    let folder = stopped(&case().replace("checkpoint_segments = 1\n", ""));
    let path = folder.path();
    let checkpoint = Checkpoint::read(path.join("out/checkpoint.bin")).unwrap();
    assert!(checkpoint.names().any(|name| name == "position"), "not the one of the start");
    assert!(!path.join("out/state.bin").exists());
    done(path, &RESUME);
    assert_same(path, ["whole", "out"]);
    assert!(path.join("out/state.bin").exists() && path.join("whole/state.bin").exists());
}

#[test]
fn a_failing_run_without_checkpoints_leaves_none() {
    let folder = folder_with(&case().replace("checkpoint_segments = 1", "checkpoint = 0"));
    let path = folder.path();
    (0..40).for_each(|number| drop(frame(path, number, (number == 30).then_some("nan"))));
    let output = burntrace(path, &["run", "case.toml", "--quiet"]);
    assert_refused(&output, 1, &["u_030.vtk"]);
    assert!(!text(&output.stderr).contains("--resume"), "{}", text(&output.stderr));
    assert!(
        ["checkpoint.bin", "state.bin"].iter().all(|name| !path.join("out").join(name).exists())
    );
}

/// A run that was killed after its last step, while it wrote files for ParaView or its summary.
#[test]
fn run_killed_after_its_last_step_is_completed() {
    let folder = folder_with(REINJECTION);
    let path = folder.path();
    let small = ["--quiet", "--set", "seeds.count=500", "--out"];
    done(path, &[&["run", "case.toml"][..], &small, &["whole"]].concat());
    done(path, &[&["run", "case.toml"][..], &small, &["out"]].concat());
    std::fs::rename(path.join("out/state.bin"), path.join("out/checkpoint.bin")).unwrap();
    std::fs::remove_file(path.join("out/summary.json")).unwrap();
    done(path, &["run", "--resume", "out", "--quiet"]);
    assert_same(path, ["whole", "out"]);
    assert!(path.join("out/state.bin").exists());
    assert_eq!(summary(path, "out")["time"], 10.0);
}

#[test]
fn ftle_of_an_unfinished_run_start_at_the_release() {
    let late = case().replace("[trace]", "release = 0.4\n[trace]");
    let folder = stopped(&late);
    let ftle = |run: &str, is_unfinished| {
        let mut found =
            json(folder.path(), &["ftle", run, "--save", "20", "--json"], is_unfinished);
        found["files"] = Value::Null;
        found["notes"] = Value::Null;
        found
    };
    assert_eq!(ftle("out", true), ftle("whole", false));
    std::fs::remove_file(folder.path().join("out/domain.json")).unwrap();
    let refused = burntrace(folder.path(), &["ftle", "out"]);
    assert_refused(&refused, 2, &["lattice", "domain.json", "--resume out"]);
    // Without the start of the run, the release is unknown.
    let times: Vec<f64> = (1..38).map(|save| 0.25 * f64::from(save)).collect();
    let times = format!("times = {times:?}");
    let folder = stopped(&case().replace("every = 50", &times));
    let refused = burntrace(folder.path(), &["ftle", "out"]);
    assert_refused(&refused, 2, &["release time", "until the run has ended", "--resume out"]);
}

#[test]
fn a_run_without_a_complete_save_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    std::fs::create_dir_all(&out).unwrap();
    std::fs::write(out.join("checkpoint.bin"), "").unwrap();
    let refused = || {
        for command in ["report", "render", "density", "ftle"] {
            let parts = ["out contains a run without a complete save", "--resume out"];
            assert_refused(&burntrace(folder.path(), &[command, "out"]), 2, &parts);
        }
    };
    refused();
    std::fs::create_dir_all(out.join("tracks")).unwrap();
    refused();
    let plan = SavePlan {
        particles: 3,
        reuses_slots: false,
        saves: 2,
        precision: Precision::F32,
        positions: Precision::F32,
        velocity: false,
        periods: [0.0; 3],
        arrays: Vec::new(),
        gates: Vec::new(),
    };
    TrackWriter::new(out.join("tracks")).begin(&plan).unwrap();
    refused();
    let [verified, _] = done(folder.path(), &["verify", "out"]);
    assert!(verified.contains("is intact: 0 files, 0 bytes, 0 of 2 saves"), "{verified}");
}

#[cfg(unix)]
#[test]
fn a_run_in_progress_is_evaluated_and_verified() {
    let case =
        REINJECTION.replace("steps = 400", "steps = 40000").replace("every = 10", "every = 100");
    let folder = folder_with(&case);
    let path = folder.path();
    let mut child = start(path, &["run", "case.toml", "--quiet"]);
    wait_for(&path.join("out/log.txt"), "checkpoint");
    for _ in 0..3 {
        let [verified, _] = done(path, &["verify", "out"]);
        assert!(verified.contains("is intact: "), "{verified}");
        let density = ["density", "out", "--json", "--no-pictures", "--nodes", "9", "--out", "d"];
        json(path, &density, true);
        done(path, &["render", "out", "--out", "p", "--size", "640x480"]);
    }
    assert!(child.try_wait().unwrap().is_none(), "the run is still in progress");
    child.kill().unwrap();
    child.wait().unwrap();
    // Slots are re-used: the instances that have ended are counted.
    let report = json(path, &["report", "out", "--json", "--particles"], true);
    let all = &report["statistics"]["all"];
    let count = |key: &str| all[key].as_u64().unwrap();
    assert_eq!(count("released"), count("active") + count("ended"));
    assert!(count("ended") > 0);
}

#[cfg(unix)]
#[test]
fn the_page_of_a_run_in_progress_is_written_until_the_run_ends() {
    let case =
        REINJECTION.replace("steps = 400", "steps = 3000").replace("every = 10", "every = 30");
    let folder = folder_with(&case);
    let path = folder.path();
    let mut child = start(path, &["run", "case.toml", "--quiet"]);
    wait_for(&path.join("out/log.txt"), "checkpoint");
    let mut view = start(path, &["view", "out", "--no-open", "--follow", "0.1"]);
    wait_for(&path.join("out/page.html"), "\"reload\":0.1");
    assert!(child.wait().unwrap().success());
    assert!(view.wait().unwrap().success());
    let page = std::fs::read_to_string(path.join("out/page.html")).unwrap();
    assert!(page.contains("\"reload\":null"), "the last page is not loaded again");
    // Of a finished run, the page is written once.
    let [printed, _] = done(path, &["view", "out", "--no-open", "--follow"]);
    assert_eq!(printed, "out/page.html\n");
    assert_refused(&burntrace(path, &["view", "out", "--follow", "0"]), 2, &["give seconds"]);
}

/// Inverts a bit in the middle of the durable part of a file.
fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[100] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn damaged_tracks_are_not_resumed_and_verify_names_them() {
    let folder = stopped(&case());
    let path = folder.path();
    let [verified, _] = done(path, &["verify", "out"]);
    assert!(verified.contains("out/tracks is intact: ") && verified.contains(" of "), "{verified}");
    let chunk = path.join("out/tracks/position/c.0.0.0");
    flip(&chunk);
    let named = "out/tracks/position/c.0.0.0`: found other bytes than its checksum says";
    let parts = [named, "restore it from a copy", "burntrace run --resume out"];
    assert_refused(&burntrace(path, &RESUME), 1, &parts);
    let hint = "in another folder: `burntrace run out/case.toml --out FOLDER`";
    assert_refused(&burntrace(path, &["verify", "out"]), 1, &["1 of 5 files", named, hint]);
    flip(&chunk);
    done(path, &RESUME);
    assert_same(path, ["whole", "out"]);

    let [verified, _] = done(path, &["verify", "out"]);
    assert!(verified.starts_with("out/tracks is intact: "), "{verified}");
    let status = path.join("out/tracks/status/c.0.0");
    flip(&chunk);
    std::fs::write(&status, "short").unwrap();
    std::fs::remove_file(path.join("out/tracks/end_time/c.0")).unwrap();
    let parts = ["3 of ", named, "status/c.0.0`: found 5 bytes", "end_time/c.0`: found no such"];
    assert_refused(&burntrace(path, &["verify", "out"]), 1, &parts);
    std::fs::remove_file(path.join("out/tracks/time/checksums.txt")).unwrap();
    let parts = ["out/tracks` has no checksums", "restore it from a copy"];
    assert_refused(&burntrace(path, &["verify", "out"]), 1, &parts);
    assert_refused(&burntrace(path, &["verify", "none"]), 2, &["none contains no run"]);
}

#[test]
fn runs_without_checksums_are_not_resumed() {
    let folder = stopped(&case());
    let path = folder.path();
    std::fs::remove_file(path.join("out/tracks/time/checksums.txt")).unwrap();
    let parts = ["out/tracks` has no checksums", "restore it from a copy"];
    assert_refused(&burntrace(path, &RESUME), 1, &parts);
}

#[test]
fn a_damaged_domain_is_named_and_written_again_on_resume() {
    let folder = stopped(&case());
    let path = folder.path();
    let domain = path.join("out/domain.json");
    let whole = std::fs::read(&domain).unwrap();
    for damage in ["", "[1]"] {
        std::fs::write(&domain, damage).unwrap();
        let [_, err] = done(path, &["density", "out", "--no-pictures", "--nodes", "9"]);
        assert!(err.contains("warning: out/domain.json is damaged"), "{err}");
        let [info, _] = done(path, &["info", "out"]);
        assert!(info.contains("out/domain.json is damaged"), "{info}");
    }
    frame(path, 36, Some("nan"));
    assert_refused(&burntrace(path, &RESUME), 1, &["--resume out"]);
    assert_eq!(std::fs::read(&domain).unwrap(), whole);
}

#[cfg(unix)]
#[test]
fn a_run_in_progress_without_checkpoints_lacks_no_summary() {
    let case = REINJECTION
        .replace("steps = 400", "steps = 40000")
        .replace("checkpoint_segments = 1", "checkpoint = 0");
    let folder = folder_with(&case);
    let path = folder.path();
    let mut child = start(path, &["run", "case.toml", "--quiet"]);
    let begin = std::time::Instant::now();
    let output = loop {
        let output = burntrace(path, &["report", "out"]);
        if output.status.success() || begin.elapsed().as_secs() > 60 {
            break output;
        }
    };
    assert!(child.try_wait().unwrap().is_none(), "the run is still in progress");
    child.kill().unwrap();
    child.wait().unwrap();
    let message = text(&output.stderr);
    assert!(output.status.success() && !message.contains("summary.json"), "{message}");
}
