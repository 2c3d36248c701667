//! `burntrace run --profile`.

use super::program::{burntrace, text};
use super::resume::{assert_same, folder_with, succeed, summary};
use crate::requirements::skip;
use serde_json::Value;
use std::collections::HashMap;

const CASE: &str = "[field]\nflow = \"double-gyre\"\n\
    sample = { nodes = [129, 65, 1], start = 0.0, stop = 10.0, frames = 41 }\n\
    [seeds]\nkind = \"uniform\"\ncount = 5000\n[trace]\nt1 = 10.0\ndt = 0.02\n\
    [save]\nevery_time = 0.5\nreport = \"always\"\nvtk = [\"lines\"]\n\
    [run]\ndevice = \"flex\"\nstrategy = \"streamed-frames\"\nmemory = \"2GiB\"\n";

#[test]
fn phases_of_a_profile_nest_and_add_up_to_the_run() {
    let folder = folder_with(CASE);
    let path = folder.path();
    let args = ["run", "case.toml", "-q", "--out", "out"];
    succeed(path, &[&args[..], &["--profile", "trace.json"]].concat());
    let profile = &summary(path, "out")["profile"];
    let phases = profile["phases"].as_array().unwrap();
    let main = &phases[0]["thread"];
    let on_main = phases.iter().filter(|phase| phase["thread"] == *main);
    let sum: f64 = on_main.clone().map(|phase| phase["seconds"].as_f64().unwrap()).sum();
    let growth: i64 = on_main.map(|phase| phase["growth"].as_i64().unwrap()).sum();
    assert_eq!(profile["growth"], growth);
    let whole = profile["seconds"].as_f64().unwrap();
    assert!((sum / whole - 1.0).abs() < 1e-6, "{sum} of {whole}");
    // The run's own clock starts a moment later, and stops a moment earlier.
    let total = summary(path, "out")["seconds"]["total"].as_f64().unwrap();
    assert!((whole / total - 1.0).abs() < 0.02 || (whole - total).abs() < 0.05, "{whole}, {total}");
    let count = |name: &str| {
        let found = phases.iter().filter(|phase| phase["phase"] == name);
        found.map(|phase| phase["count"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(count("save"), 21);
    assert_eq!(count("launch"), summary(path, "out")["launches"].as_u64().unwrap());
    for name in ["load field", "prepare", "compile", "read", "wait for frames", "write", "other"] {
        assert!(count(name) > 0, "{name}: {phases:#?}");
    }
    let report = std::fs::read_to_string(path.join("out/report.md")).unwrap();
    assert!(report.contains("## Profile\n") && report.contains("| launch |"), "{report}");

    let trace: Value =
        serde_json::from_slice(&std::fs::read(path.join("trace.json")).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let names: Vec<&str> = events
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .map(|event| event["args"]["name"].as_str().unwrap())
        .collect();
    for thread in ["main", "burntrace frames", "burntrace-tracks"] {
        assert!(names.contains(&thread), "{names:?}");
    }
    let memory = events.iter().filter(|event| event["name"] == "memory");
    let most = memory.filter_map(|event| event["args"]["MB"].as_f64()).fold(0.0, f64::max);
    assert!(!cfg!(target_os = "linux") || most > 10.0 && growth > 1_000_000, "{most} {growth}");
    // On a thread, two phases are one in the other, or one after the other.
    let mut threads: HashMap<u64, Vec<[f64; 2]>> = HashMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let [start, duration] = ["ts", "dur"].map(|key| event[key].as_f64().unwrap());
        threads.entry(event["tid"].as_u64().unwrap()).or_default().push([start, start + duration]);
    }
    for mut phases in threads.into_values() {
        phases.sort_by(|a, b| a[0].total_cmp(&b[0]).then(b[1].total_cmp(&a[1])));
        let mut open: Vec<f64> = Vec::new();
        for [start, end] in phases {
            // Times have three digits of a microsecond.
            open.retain(|outer| *outer > start + 0.002);
            assert!(open.iter().all(|outer| *outer + 0.002 >= end), "{start} to {end} in {open:?}");
            open.push(end);
        }
    }
    succeed(path, &["run", "case.toml", "-q", "--out", "plain"]);
    assert_same(path, ["out", "plain"]);
    assert_eq!(summary(path, "plain")["profile"], Value::Null);
}

#[test]
fn a_profile_has_the_kernels_of_a_card_and_the_memory_that_it_gave() {
    let folder = folder_with(CASE);
    let path = folder.path();
    let devices = text(&burntrace(path, &["devices"]).stdout);
    if !devices.lines().any(|line| line.starts_with("vulkan:0")) {
        return skip("vulkan", "there is no Vulkan device");
    }
    let set = ["--set", "run.strategy=in-memory", "--set", "run.device=vulkan:0"];
    let args = ["run", "case.toml", "-q", "--out", "out", "--profile", "trace.json"];
    succeed(path, &[&args[..], &set].concat());
    let summary = summary(path, "out");
    let kernels = summary["profile"]["kernels"].as_array().unwrap();
    let number = |kernel: &Value, key: &str| kernel[key].as_u64().unwrap();
    // One of them takes the steps, in each launch; a warm-up launch before the run takes none.
    let launches = summary["launches"].as_u64().unwrap();
    let steps = kernels.iter().find(|kernel| number(kernel, "launches") == launches + 1).unwrap();
    assert!(steps["kernel"].as_str().unwrap().contains("dvance"), "{kernels:?}");
    for kernel in kernels {
        assert!(number(kernel, "timed") <= number(kernel, "launches"), "{kernels:?}");
        assert!(["card", "host"].contains(&kernel["clock"].as_str().unwrap()), "{kernels:?}");
    }
    let seconds: f64 = kernels.iter().map(|kernel| kernel["seconds"].as_f64().unwrap()).sum();
    let total = summary["seconds"]["total"].as_f64().unwrap();
    assert!(seconds > 0.0 && seconds < total, "{seconds} of {total}: {kernels:?}");
    // Two frames of the field and the particles are there at least.
    let held = summary["memory"]["device_held"].as_u64().unwrap();
    assert!(held > 2 * 129 * 65 * 16 + 5000 * 40, "{held}");
    let report = std::fs::read_to_string(path.join("out/report.md")).unwrap();
    assert!(report.contains("| Kernel |") && report.contains("given by the device"), "{report}");
}

#[test]
fn a_profile_that_cannot_be_written_is_refused_before_the_run() {
    let folder = folder_with(CASE);
    let args = ["run", "case.toml", "--out", "out", "--profile", "none/trace.json"];
    let output = burntrace(folder.path(), &args);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot write `none/trace.json`"));
    assert!(!folder.path().join("out").exists());
}

#[test]
fn ranks_have_a_trace_each_and_runs_of_a_sweep_a_table_each() {
    let folder = folder_with(CASE);
    let path = folder.path();
    let rank = |rank: &str| {
        let set = ["--set", "run.piece=1000", "--set", "save.report=never"];
        let args = ["run", "case.toml", "-q", "--out", "shared", "--profile", "trace.json"];
        succeed(path, &[&args[..], &set, &["--rank", rank]].concat());
    };
    rank("0/2");
    rank("1/2");
    for number in [0, 1] {
        let trace = std::fs::read(path.join(format!("trace.{number}.json"))).unwrap();
        let trace: Value = serde_json::from_slice(&trace).unwrap();
        let launch = trace["traceEvents"].as_array().unwrap().iter();
        let pids: Vec<u64> = launch.filter_map(|event| event["pid"].as_u64()).collect();
        assert!(pids.len() > 10 && pids.iter().all(|pid| *pid == 1 + number), "{number}");
    }
    assert_eq!(summary(path, "shared")["profile"]["rank"], 1);

    let args = ["sweep", "case.toml", "--vary", "seeds.count=100,200", "-q", "--out", "sweep"];
    let set = ["--set", "save.report=never", "--profile", "sweep.json"];
    succeed(path, &[&args[..], &set].concat());
    for run in ["sweep/run_0000", "sweep/run_0001"] {
        let profile = &summary(path, run)["profile"];
        let phases = profile["phases"].as_array().unwrap();
        let saves = phases.iter().find(|phase| phase["phase"] == "save").unwrap();
        assert_eq!(saves["count"], 21, "{run}: {profile}");
        let main = phases.iter().filter(|phase| phase["thread"] == phases[0]["thread"]);
        let sum: f64 = main.map(|phase| phase["seconds"].as_f64().unwrap()).sum();
        let whole = profile["seconds"].as_f64().unwrap();
        assert!((sum / whole - 1.0).abs() < 1e-6, "{run}: {sum} of {whole}");
    }
    let trace: Value =
        serde_json::from_slice(&std::fs::read(path.join("sweep.json")).unwrap()).unwrap();
    let runs = trace["traceEvents"].as_array().unwrap().iter();
    assert_eq!(runs.filter(|event| event["name"] == "run").count(), 2);
}
