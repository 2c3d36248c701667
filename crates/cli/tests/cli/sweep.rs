//! `burntrace sweep`: the runs are those of the case alone, whatever happened between them.

use super::program::{assert_refused, burntrace, text};
use super::resume::{assert_same, files, folder_with, start, succeed, summary, wait_for};
use serde_json::Value;
use std::path::Path;

/// A random walk in a flow, with particles that leave.
const CASE: &str = "[field]\nflow = \"double-gyre\"\n\
    sample = { nodes = [33, 17, 2], start = 0.0, stop = 10.0, frames = 41 }\n\
    [domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [2.0, 1.0, 1.0]\n\
    [boundary]\nx = [\"exit\", \"exit\"]\ny = [\"reflect\", \"reflect\"]\n\
    z = [\"reflect\", \"reflect\"]\n\
    [[seeds]]\nkind = \"uniform\"\ncount = 300\nseed = 4\n\
    [trace]\nt1 = 4.0\ndt = 0.1\n[walk]\ndiffusivity = 1e-2\nseed = 5\n\
    [save]\nevery_time = 1.0\nreport = \"never\"\nvtk = [\"lines\"]\n\
    [run]\ndevice = \"flex\"\n";

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The rows of a CSV file without quotes, by column name.
fn table(path: &Path) -> Vec<std::collections::HashMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(String::from));
    let names: Vec<String> = lines.next().unwrap().collect();
    lines.map(|row| names.iter().cloned().zip(row).collect()).collect()
}

#[test]
fn diffusivities_that_follow_from_the_velocity_are_those_of_each_run() {
    let folder = folder_with(&CASE.replace("diffusivity = 1e-2", "smagorinsky = 0.01"));
    let path = folder.path();
    let vary = ["--vary", "walk.smagorinsky=0.01,1"];
    let output = burntrace(path, &[&["sweep", "case.toml", "--out", "sweep"][..], &vary].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    for (run, coefficient) in ["0.01", "1"].iter().enumerate() {
        let (alone, key) = (format!("alone_{run}"), format!("walk.smagorinsky={coefficient}"));
        succeed(path, &["run", "case.toml", "--out", &alone, "--set", &key]);
        assert_same(path, [&alone, &format!("sweep/run_{run:04}")]);
    }
}

#[test]
fn runs_of_a_sweep_are_byte_identical_to_the_case_alone() {
    let folder = folder_with(CASE);
    let path = folder.path();
    let streamed = ["--set", "run.strategy=streamed-frames"];
    let vary = [
        "--vary",
        "seeds[0].count=300,200",
        "--vary",
        "walk.seed=1..2",
        "--vary",
        "field.in_time=linear,nearest",
    ];
    for (out, more) in [("sweep", &[][..]), ("streamed", &streamed[..])] {
        let output =
            burntrace(path, &[&["sweep", "case.toml", "--out", out], &vary[..], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(
            text(&output.stdout).contains("8 runs: 8 finished now\n"),
            "{}",
            text(&output.stdout)
        );
        assert_eq!(text(&output.stderr).lines().count(), 8, "{}", text(&output.stderr));
    }
    let mut with_read = 0;
    for run in 0..8 {
        let count = ["300", "200"][run / 4];
        let seed = run / 2 % 2 + 1;
        let in_time = ["linear", "nearest"][run % 2];
        let set = [
            format!("seeds[0].count={count}"),
            format!("walk.seed={seed}"),
            format!("field.in_time={in_time}"),
        ];
        let alone = format!("alone_{run}");
        let args = [
            "run",
            "case.toml",
            "-q",
            "--out",
            &alone,
            "--set",
            &set[0],
            "--set",
            &set[1],
            "--set",
            &set[2],
        ];
        succeed(path, &args);
        for sweep in ["sweep", "streamed"] {
            assert_same(path, [&format!("{sweep}/run_000{run}"), &alone]);
        }
        let shared = summary(path, &format!("sweep/run_000{run}"));
        with_read += usize::from(shared["seconds"]["read"].as_f64().unwrap() > 0.0);
        // The state and the log are there for --extend and --resume.
        for name in ["state.bin", "log.txt", "case.toml"] {
            assert!(path.join(format!("sweep/run_000{run}/{name}")).is_file(), "{name}");
        }
    }
    assert_eq!(with_read, 2, "each field is read once");
    let rows = table(&path.join("sweep/sweep.csv"));
    assert_eq!(rows.len(), 8);
    assert_eq!(
        (&*rows[5]["run"], &*rows[5]["walk.seed"], &*rows[5]["state"]),
        ("run_0005", "1", "finished")
    );
    assert_eq!(rows[5]["released"], "200");
    assert!(!path.join("sweep/report.md").exists(), "save.report is never");
}

#[test]
fn killed_sweep_goes_on_and_keeps_what_is_finished() {
    let long = CASE.replace("dt = 0.1", "dt = 2e-4").replace("count = 300", "count = 3000");
    let folder = folder_with(&format!("{long}checkpoint_segments = 1\n"));
    let path = folder.path();
    let args = ["sweep", "case.toml", "--out", "sweep", "-q", "--vary", "walk.seed=1..3"];
    let mut child = start(path, &args);
    wait_for(&path.join("sweep/run_0001/log.txt"), "checkpoint");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(path.join("sweep/run_0001/checkpoint.bin").exists());
    let first = files(&path.join("sweep/run_0000"));
    let output = burntrace(path, &args[..4].iter().chain(&args[5..]).copied().collect::<Vec<_>>());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    assert!(printed.contains("3 runs: 2 finished now, 1 finished before\n"), "{printed}");
    assert!(text(&output.stderr).contains("run_0001 2: "), "{}", text(&output.stderr));
    assert_eq!(summary(path, "sweep/run_0001")["resumed"], 1);
    assert!(files(&path.join("sweep/run_0000")) == first);
    succeed(path, &["run", "case.toml", "-q", "--out", "alone", "--set", "walk.seed=2"]);
    assert_same(path, ["sweep/run_0001", "alone"]);
    let other = ["sweep", "case.toml", "--out", "sweep", "--vary", "walk.seed=1..4"];
    assert_refused(
        &burntrace(path, &other),
        2,
        &["another sweep: --vary is walk.seed=1,2,3,4 and was"],
    );
    let other = [&args[..], &["--set", "trace.dt=0.5"]].concat();
    assert_refused(&burntrace(path, &other), 2, &["trace.dt is 0.5 and was 0.0002"]);
}

#[test]
fn tasks_share_the_runs_and_the_last_one_reports() {
    let folder = folder_with(&CASE.replace("\"never\"", "\"auto\""));
    let path = folder.path();
    let sweep = |task: &str| {
        let vary = ["--zip", "--vary", "walk.seed=1..5", "--vary", "seeds[0].seed=11..15"];
        let output = burntrace(
            path,
            &[&["sweep", "case.toml", "--out", "s", "--task", task], &vary[..]].concat(),
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert!(sweep("1/2").contains("5 runs: 2 finished now, 3 of other tasks"));
    assert!(!path.join("s/report.md").exists() && !path.join("s/run_0000").exists());
    let rows = table(&path.join("s/sweep.csv"));
    let states: Vec<&str> = rows.iter().map(|row| &*row["state"]).collect();
    assert_eq!(states, ["open", "finished", "open", "finished", "open"]);
    assert!(sweep("0/2").contains("3 finished now"));
    let report = std::fs::read_to_string(path.join("s/report.md")).unwrap();
    assert!(report.contains("| all runs | 4 | mean x | 5 |"), "{report}");
    for name in ["mean_x", "variance_y", "ends", "active", "density_0"] {
        assert!(path.join(format!("s/pictures/{name}.png")).is_file(), "{name}");
    }
    assert!(
        !path.join("s/run_0000/report.md").exists(),
        "only `always` makes a report of each run"
    );
    let again = burntrace(path, &["report", "s"]);
    assert!(text(&again.stdout).contains("s/report.md"), "{}", text(&again.stderr));
    let info = text(&burntrace(path, &["info", "s"]).stdout);
    assert!(info.contains("5 runs: 5 finished\nkeys       walk.seed = 1, 2, 3, 4, 5\n"), "{info}");
    assert_refused(&burntrace(path, &["render", "s"]), 2, &["contains a sweep", "s/run_0000"]);
    let printed = burntrace(path, &["report", "s", "--json"]);
    let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(printed, json(&path.join("s/report.json")));
    assert!(burntrace(path, &["report", "s", "--quiet"]).stdout.is_empty());
    let with_particles = burntrace(path, &["report", "s", "--particles"]);
    assert_refused(&with_particles, 2, &["the folder of a sweep"]);
}

#[test]
fn a_sweep_keeps_its_confidence() {
    let folder = folder_with(&CASE.replace("\"never\"", "\"auto\""));
    let path = folder.path();
    let confidence = |args: &[&str]| {
        let output = burntrace(path, args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let report = std::fs::read_to_string(path.join("s/report.md")).unwrap();
        let of_table = json(&path.join("s/report.json"))["confidence"].as_f64().unwrap();
        assert!(report.contains(&format!("{} % confidence", 100.0 * of_table)), "{report}");
        of_table
    };
    let sweep = ["sweep", "case.toml", "--out", "s", "-q", "--vary", "walk.seed=1..3"];
    assert_eq!(confidence(&[&sweep[..], &["--confidence", "0.5"]].concat()), 0.5);
    assert_eq!(confidence(&["report", "s", "-q"]), 0.5);
    assert_eq!(confidence(&sweep), 0.5);
    assert_eq!(confidence(&[&sweep[..], &["--confidence", "0.75"]].concat()), 0.75);
    assert_eq!(confidence(&["report", "s", "-q"]), 0.75);
    let wrong = [&sweep[..], &["--confidence", "1"]].concat();
    assert_refused(&burntrace(path, &wrong), 2, &["--confidence 1: give a probability"]);
}

#[test]
fn ensemble_of_walks_has_the_exact_mean_variance_and_band() {
    const RUNS: usize = 50;
    const PARTICLES: usize = 400;
    let (d, t) = (0.02, 3.0);
    let case = format!(
        "[field]\nflow = \"uniform\"\nsample = {{ nodes = [2, 2, 2], start = 0.0, stop = 0.0, frames = 1 }}\n\
         outside_time = \"hold\"\n[domain]\nlow = [-50.0, -50.0, -50.0]\nhigh = [50.0, 50.0, 50.0]\n\
         [seeds]\nkind = \"line\"\ncount = {PARTICLES}\nfrom = [0.0, 0.0, 0.0]\nto = [0.0, 0.0, 0.0]\n\
         [trace]\nt0 = 0.0\nt1 = {t}\ndt = 0.1\n[walk]\ndiffusivity = {d}\n\
         [save]\nevery_time = 1.5\n[run]\ndevice = \"flex\"\n"
    );
    let folder = folder_with(&case);
    let path = folder.path();
    let vary = format!("walk.seed=1..{RUNS}");
    let output = burntrace(path, &["sweep", "case.toml", "--out", "s", "-q", "--vary", &vary]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = json(&path.join("s/report.json"));
    let ensemble = &report["ensembles"][0];
    assert_eq!(ensemble["runs"].as_array().unwrap().len(), RUNS);
    assert_eq!(ensemble["times"], serde_json::json!([0.0, 1.5, 3.0]));
    let (n, m) = (PARTICLES as f64, RUNS as f64);
    let spread = |name: &str| {
        let all = ensemble["quantities"].as_array().unwrap();
        all.iter().find(|of| of["name"] == name).unwrap()["spread"][2].clone()
    };
    for (axis, exact) in [("x", t), ("y", 0.0), ("z", 0.0)] {
        // The mean of a run is normal with the variance 2 D t / n, the variance nearly so.
        let mean = spread(&format!("mean_{axis}"));
        let exact_deviation = (2.0 * d * t / n).sqrt();
        let number = |value: &Value| value.as_f64().unwrap();
        let error = (number(&mean["mean"]) - exact) / (exact_deviation / m.sqrt());
        assert!(error.abs() < 4.0, "{axis}: {error} standard errors");
        let deviation = number(&mean["deviation"]);
        // Of 50 samples: one part in ten.
        assert!((deviation / exact_deviation - 1.0).abs() < 0.4, "{axis}: {deviation}");
        let [low, high] = [0, 1].map(|i| number(&mean["interval"][i]));
        let half = 2.009575 * deviation / m.sqrt();
        assert!(((high - low) / (2.0 * half) - 1.0).abs() < 1e-6);
        assert!((0.5 * (high + low) - number(&mean["mean"])).abs() < 1e-12);
        // Divided by n, the variance of n samples is too small by the factor (n - 1) / n.
        let variance = spread(&format!("variance_{axis}"));
        let exact = 2.0 * d * t * (n - 1.0) / n;
        let error = (number(&variance["mean"]) / exact - 1.0) / (2.0 / (n * m)).sqrt();
        assert!(error.abs() < 4.0, "{axis}: the variance is off by {error} standard errors");
    }
    let rows = table(&path.join("s/ensembles.csv"));
    let last =
        rows.iter().find(|row| row["quantity"] == "variance_x" && row["time"] == "3").unwrap();
    assert_eq!(last["runs"], "50");
}

#[test]
fn failed_runs_are_named_and_the_others_finish() {
    let folder = folder_with(CASE);
    let path = folder.path();
    let args = ["sweep", "case.toml", "--out", "s", "--vary", "trace.t1=1,99,2"];
    let output = burntrace(path, &args);
    assert_refused(
        &output,
        1,
        &["error: run_0001 99:", "1 of 3 runs failed; the first is run_0001"],
    );
    assert!(text(&output.stdout).contains("2 finished now, 1 failed"));
    let states: Vec<String> =
        table(&path.join("s/sweep.csv")).iter().map(|row| row["state"].clone()).collect();
    assert_eq!(states, ["finished", "failed", "finished"]);
    let refused =
        |vary: &str| burntrace(path, &["sweep", "case.toml", "--out", "new", "--vary", vary]);
    assert_refused(
        &refused("trace.dtt=1,2"),
        2,
        &["run_0000 (trace.dtt=1): --vary trace.dtt=1: `dtt` is not"],
    );
    assert_refused(&refused("run.out=a,b"), 2, &["folder of its own"]);
    assert!(!path.join("new/run_0000").exists());
    let in_run = ["sweep", "case.toml", "--out", "s/run_0000", "--vary", "trace.t1=1,2"];
    assert_refused(&burntrace(path, &in_run), 2, &["contains a run; give another folder"]);
    let task = ["sweep", "case.toml", "--out", "s", "--task", "2/2", "--vary", "trace.t1=1,2"];
    assert_refused(&burntrace(path, &task), 2, &["give 0/2 to 1/2"]);
    let of_mpi = std::process::Command::new(env!("CARGO_BIN_EXE_burntrace"))
        .current_dir(path)
        .args(["sweep", "case.toml", "--out", "new", "--vary", "trace.t1=1,2"])
        .envs([("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")])
        .output()
        .unwrap();
    assert_refused(&of_mpi, 2, &["sweep is for one process", "--task"]);
}

#[test]
fn folders_of_sweeps_and_of_their_runs_are_not_mixed_with_other_runs() {
    let folder = folder_with(CASE);
    let path = folder.path();
    let sweep = ["sweep", "case.toml", "--vary", "walk.seed=1,2", "--out", "study", "--quiet"];
    let task = [&sweep[..], &["--task", "0/2"]].concat();
    succeed(path, &sweep);
    let before = files(path);
    for more in [&[][..], &["--overwrite"], &["--rank", "0/2"]] {
        let run = [&["run", "case.toml", "--out", "study"], more].concat();
        assert_refused(&burntrace(path, &run), 2, &["study contains a sweep", "--out"]);
    }
    // A process that traces runs holds the lock; tasks share it.
    let lock = std::fs::File::open(path.join("study/sweep.lock")).unwrap();
    lock.lock().unwrap();
    for args in [&sweep[..], &task] {
        assert_refused(&burntrace(path, args), 2, &["another process traces", "study", "--task"]);
    }
    lock.unlock().unwrap();
    lock.lock_shared().unwrap();
    assert_refused(&burntrace(path, &sweep), 2, &["another process traces"]);
    assert!(files(path) == before);
    succeed(path, &task);
    lock.unlock().unwrap();
    // A run of another case in the folder of a run.
    let other =
        ["run", "case.toml", "--set", "walk.seed=7", "--out", "study/run_0001", "--overwrite"];
    succeed(path, &[&other[..], &["--quiet"]].concat());
    let parts = [
        "study/run_0001 is not the run of this sweep with walk.seed=2",
        "walk.seed is 2 and was 7",
    ];
    assert_refused(&burntrace(path, &sweep), 2, &parts);
    assert_refused(&burntrace(path, &["report", "study"]), 2, &parts);
}

#[test]
fn pictures_show_quantities_against_one_key_and_over_two() {
    let folder = folder_with(&CASE.replace("report = \"never\"\n", ""));
    let path = folder.path();
    let sweep = |out: &str, vary: &[&str]| -> (Vec<String>, String) {
        let vary = vary.iter().flat_map(|vary| ["--vary", vary]);
        let args: Vec<&str> =
            ["sweep", "case.toml", "-q", "--out", out].into_iter().chain(vary).collect();
        let output = burntrace(path, &args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let names = std::fs::read_dir(path.join(out).join("pictures")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.starts_with("by_key_")).collect();
        names.sort();
        let report = std::fs::read_to_string(path.join(out).join("report.md")).unwrap();
        assert!(
            names.iter().all(|name| report.contains(&format!("(pictures/{name})"))),
            "{report}"
        );
        (names, report)
    };
    let (one, report) = sweep("one", &["walk.diffusivity=0.001,0.01,0.1", "walk.seed=1,2"]);
    let expected =
        ["active", "ends", "mean_position", "mean_speed", "mean_square_displacement", "variance"];
    assert_eq!(one, expected.map(|name| format!("by_key_{name}.png")));
    for part in [
        "*Number of ended particles at t = 4 against walk.diffusivity: mean over runs, with a standard deviation from \
         run to run to both sides.*",
        "bands are the 95 % confidence interval of the mean.",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let places = ["## Pictures", "## Mean over runs", "## Runs", "## Case"]
        .map(|of| report.find(of).unwrap());
    assert!(places.is_sorted(), "{report}");
    let (two, report) = sweep("two", &["walk.diffusivity=0.001,0.1", "trace.dt=0.1,0.2"]);
    assert!(two.contains(&"by_key_exited_x_high.png".into()), "{two:?}");
    assert!(
        !two.iter().any(|name| name.contains("_spread") || name.contains("variance")),
        "{two:?}"
    );
    assert!(report.contains("Mean speed at t = 4 over walk.diffusivity and trace.dt;"), "{report}");
    assert!(report.contains("Not shown: variances of positions against two keys"), "{report}");
    let (words, report) = sweep("words", &["trace.scheme=euler,rk4", "walk.seed=1,2"]);
    assert!(words.contains(&"by_key_ends.png".into()), "{words:?}");
    assert!(report.contains(" against trace.scheme: 1 euler, 2 rk4: mean over runs"), "{report}");
    let three = ["trace.scheme=euler,rk4", "trace.dt=0.1,0.2", "walk.diffusivity=0.1,0.2"];
    let (none, report) = sweep("three", &three);
    assert!(
        none.is_empty() && report.contains("Not shown: quantities against 3 varied keys"),
        "{report}"
    );
}
