//! `burntrace fit`: numbers of a case from observed positions.

use super::program::{assert_refused, burntrace, text};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// A uniform flow of 1 m/s to the right, with a seed for each drifter.
const DRIFTERS: &str = "[field]\nflow = \"uniform\"\nsample = { nodes = [5, 5, 1] }\n\
    [domain]\nlow = [-5.0, -5.0, 0.0]\nhigh = [20.0, 5.0, 0.0]\n\
    [seeds]\nkind = \"list\"\npoints = [[0, 0, 0], [0, 1, 0], [0, 2, 0], [1, 0, 0]]\n\
    [trace]\nt0 = 0.0\nt1 = 4.0\ndt = 0.1\ndrift = [0.0, 0.0, 0.0]\n[save]\nevery_time = 0.5\n\
    [units]\nlength = \"m\"\ntime = \"s\"\n[run]\ndevice = \"flex\"\nprecision = \"f64\"\n";

fn folder(case: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    folder
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let output = burntrace(folder, args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_str(&text(&output.stdout)).unwrap()
}

/// The fitted value and the standard error of a parameter.
fn fitted(json: &Value, i: usize) -> [f64; 2] {
    let of = &json["parameters"][i];
    ["fitted", "standard_error"].map(|key| of[key].as_f64().unwrap())
}

#[test]
fn drift_of_drifters_is_found_with_its_standard_error() {
    let folder = folder(DRIFTERS);
    // Drifters that move at 1.2 and 0.1 m/s, with errors of 2 cm that are the same for all times of a drifter.
    let mut rows = "id,x,y,z,time\n".to_string();
    let errors = [[0.02, -0.02], [-0.02, 0.02], [0.02, 0.02], [-0.02, -0.02]];
    for (id, (start, error)) in
        [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [1.0, 0.0]].iter().zip(errors).enumerate()
    {
        for k in 1..=8 {
            let t = 0.5 * f64::from(k);
            let [x, y] = [start[0] + 1.2 * t + error[0], start[1] + 0.1 * t + error[1]];
            writeln!(rows, "{id},{x},{y},0,{t}").unwrap();
        }
    }
    std::fs::write(folder.path().join("data.csv"), rows).unwrap();
    let args = [
        "fit",
        "case.toml",
        "--data",
        "data.csv",
        "--parameter",
        "trace.drift[0]=0:-1..1",
        "--parameter",
        "trace.drift[1]=0:-0.5..0.5",
        "--out",
        "out",
        "--json",
    ];
    let found = json(folder.path(), &args);
    for (i, drift) in [0.2, 0.1].into_iter().enumerate() {
        let [value, error] = fitted(&found, i);
        assert!((value - drift).abs() < 1e-4, "{found}");
        // The sum of t over that of t squared, with the error of each drifter: 18 / 51 x 2 cm / sqrt 4, and 4/3 of the variance for 4 groups.
        let expected = 18.0 / 51.0 * 0.02 / 2.0 * (4.0f64 / 3.0).sqrt();
        assert!((error / expected - 1.0).abs() < 0.01, "{error} {expected}");
    }
    // Each is 2 sqrt 2 cm off.
    assert!((found["rms"].as_f64().unwrap() - 0.02 * 2f64.sqrt()).abs() < 1e-5, "{found}");
    assert_eq!(found["converged"], true);
    for name in
        ["fit.json", "runs.csv", "residuals.csv", "search.png", "tracks.png", "run/summary.json"]
    {
        assert!(folder.path().join("out").join(name).is_file(), "{name}");
    }
    let runs = std::fs::read_to_string(folder.path().join("out/runs.csv")).unwrap();
    assert!(runs.starts_with("run,trace.drift[0],trace.drift[1],rms\n0,0,0,"), "{runs:.100}");
    assert_eq!(runs.lines().count() as u64, 1 + found["runs"].as_u64().unwrap());
    // A bound short of the value is said.
    let near = ["--parameter", "trace.drift[0]=0:-0.1..0.1"];
    let args =
        [&["fit", "case.toml", "--data", "data.csv"], &near[..], &["--out", "near"]].concat();
    let output = burntrace(folder.path(), &args);
    assert!(
        text(&output.stdout).contains("trace.drift[0] is at its bound 0.1"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn diffusivity_of_a_cloud_is_found() {
    let cloud = DRIFTERS.replace(
        "points = [[0, 0, 0], [0, 1, 0], [0, 2, 0], [1, 0, 0]]",
        "points = [[0, 0, 0]]\nrepeat = { every = 1e-5, until = 1.995e-3 }",
    ) + "[walk]\ndiffusivity = 0.05\n";
    let folder = folder(&cloud);
    // Clouds of 200 at four times, spread evenly over quantiles of a normal distribution with the variance 2 x 0.02 t.
    let mut rows = "x,y,z,time\n".to_string();
    for t in [1.0, 2.0, 3.0, 4.0_f64] {
        let deviation = (2.0 * 0.02 * t).sqrt();
        for i in 0..200 {
            // Of a uniform distribution with this variance, as moments are compared.
            let part = (f64::from(i) + 0.5) / 100.0 - 1.0;
            let across = (f64::from((i * 77) % 200) + 0.5) / 100.0 - 1.0;
            let [x, y] = [part, across].map(|part| part * deviation * 3f64.sqrt());
            writeln!(rows, "{},{y},0,{t}", x + 1.1 * t).unwrap();
        }
    }
    std::fs::write(folder.path().join("cloud.csv"), rows).unwrap();
    let args = [
        "fit",
        "case.toml",
        "--data",
        "cloud.csv",
        "--measure",
        "cloud",
        "--parameter",
        "walk.diffusivity=0.05:0..0.5",
        "--parameter",
        "trace.drift[0]=0:-1..1",
        "--out",
        "out",
        "--json",
        "--quiet",
    ];
    let found = json(folder.path(), &args);
    for (i, truth) in [0.02, 0.1].into_iter().enumerate() {
        let [value, error] = fitted(&found, i);
        assert!((value - truth).abs() < 3.0 * error && error < 0.25 * truth, "{found}");
    }
}

#[test]
fn what_a_fit_cannot_use_is_refused() {
    let folder = folder(DRIFTERS);
    std::fs::write(folder.path().join("data.csv"), "id,x,y,z,time\n0,1,0,0,1.0\n").unwrap();
    std::fs::write(folder.path().join("late.csv"), "id,x,y,z,time\n0,1,0,0,100.0\n").unwrap();
    let refused = |args: &[&str], parts: &[&str]| {
        let all = [&["fit", "case.toml", "--out", "out"], args].concat();
        assert_refused(&burntrace(folder.path(), &all), 2, parts);
    };
    let drift = ["--parameter", "trace.drift[0]=0:-1..1"];
    refused(&[&drift[..], &["--data", "none.csv"]].concat(), &["none.csv"]);
    refused(
        &[&drift[..], &["--data", "late.csv"]].concat(),
        &["none of the positions", "late.csv"],
    );
    refused(&["--data", "data.csv", "--parameter", "trace.drift=0"], &["KEY=START:LOW..HIGH"]);
    refused(&["--data", "data.csv", "--parameter", "trace.drfit[0]=0:-1..1"], &["drfit"]);
    refused(
        &[&drift[..], &["--data", "data.csv", "--runs", "3"]].concat(),
        &["--runs is 3", "4 or more"],
    );
    let set = ["--data", "data.csv", "--set", "trace.drift[0]=1"];
    refused(&[&drift[..], &set].concat(), &["trace.drift[0]=1", "give it once"]);
}
