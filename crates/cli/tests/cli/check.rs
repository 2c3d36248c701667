//! `burntrace check`: whether the steps of a case are right.

use super::program::{assert_refused, burntrace, fixture, text};
use serde_json::Value;
use std::path::Path;

/// Solid rotation by a turn of 2 radians, whose steps have known errors.
const ROTATION: &str = "[field]\nflow = { u = \"-y\", v = \"x\" }\n[domain]\nlow = [-1, -1, 0]\nhigh = [1, 1, 0]\n\
    [seeds]\nkind = \"disc\"\ncount = 5000\ncentre = [0, 0, 0]\nradius = 0.9\nnormal = [0, 0, 1]\n\
    [trace]\ndt = 0.02\nt1 = 2.0\n[run]\ndevice = \"flex\"\n";

fn check(folder: &Path, case: &str, set: &[&str]) -> Value {
    std::fs::write(folder.join("case.toml"), case).unwrap();
    let set = set.iter().flat_map(|key| ["--set", key]);
    let args: Vec<&str> = ["check", "case.toml", "--json"].into_iter().chain(set).collect();
    let output = burntrace(folder, &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The median distance of a comparison.
fn median(check: &Value, place: usize) -> f64 {
    check["comparisons"][place]["median"].as_f64().unwrap()
}

#[test]
fn the_order_and_the_error_are_those_of_the_scheme() {
    let folder = tempfile::tempdir().unwrap();
    // A step of h multiplies by a polynomial of i h, which differs from exp(i h) by the first term that it lacks.
    for (scheme, order, term) in [("euler", 1, 2.0), ("midpoint", 2, 6.0), ("rk4", 4, 120.0)] {
        let found = check(folder.path(), ROTATION, &[&format!("trace.scheme={scheme}")]);
        assert_eq!(found["particles"], serde_json::json!([1000, 5000]));
        let seen = found["order"].as_f64().unwrap();
        assert!((seen - f64::from(order)).abs() < 0.1, "{scheme}: {seen}");
        // The median radius of a disc is 0.9 / sqrt(2); the chord of 2 radians is 2 sin(1) of it.
        let radius = 0.9 / 2_f64.sqrt();
        let travel = found["travel"].as_f64().unwrap();
        if scheme != "euler" {
            assert!((travel - 2.0 * 1_f64.sin() * radius).abs() < 0.01, "{travel}");
        }
        let expected = radius * 2.0 * 0.02_f64.powi(order) / term;
        let error = found["error"].as_f64().unwrap();
        assert!((error / expected - 1.0).abs() < 0.06, "{scheme}: {error} {expected}");
    }
}

#[test]
fn precision_and_frames_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let files = fixture("series").join("u_*.vti").display().to_string().replace('\\', "/");
    let case = format!(
        "[field]\nfiles = \"{files}\"\nvelocity = \"velocity\"\nfile_dt = 0.5\n[seeds]\nkind = \"uniform\"\ncount = 64\n\
         [trace]\ndt = 0.05\n[boundary]\nx = \"reflect\"\ny = \"reflect\"\nz = \"reflect\"\n\
         [walk]\ndiffusivity = 0.1\n[run]\ndevice = \"flex\"\n"
    );
    let found = check(folder.path(), &case, &[]);
    let keys: Vec<&str> = found["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["key"].as_str().unwrap())
        .collect();
    assert_eq!(&keys[..3], ["dt", "dt", "precision"]);
    let single = median(&found, 2);
    assert!(single > 0.0 && single < 1e-5, "{single}");
    assert!(found["notes"][0].as_str().unwrap().contains("random walk is left out"), "{found}");
    let printed = burntrace(folder.path(), &["check", "case.toml"]);
    let printed = text(&printed.stdout);
    assert!(printed.contains("64 of 64 particles") && printed.contains("f64 -> f32"), "{printed}");
}

/// A uniform flow through cells of 0.1: a step of 0.05 crosses half a cell, one of 0.5 crosses five.
#[test]
fn cells_that_a_step_crosses_are_counted_and_many_are_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let case = "[field]\nflow = { u = \"1\", v = \"0\" }\nsample = { nodes = [101, 11, 1], start = 0, stop = 5, frames = 2 }\n\
        [domain]\nlow = [0, 0, 0]\nhigh = [10, 1, 0]\n[seeds]\nkind = \"uniform\"\ncount = 10\n\
        [trace]\nt1 = 1.0\ndt = 0.05\n[run]\ndevice = \"flex\"\n";
    let found = check(folder.path(), case, &[]);
    for key in ["median", "p99", "max"] {
        let number = found["cells_per_step"][key].as_f64().unwrap();
        assert!((number - 0.5).abs() < 1e-6, "{number}");
    }
    let printed = burntrace(folder.path(), &["check", "case.toml"]);
    assert!(
        text(&printed.stdout).contains("a step crosses 0.5 cells (median)"),
        "{}",
        text(&printed.stdout)
    );
    let warned = |dt: &str| {
        let set = format!("trace.dt={dt}");
        let args = ["run", "case.toml", "--overwrite", "--out", "out", "--set", &set];
        text(&burntrace(folder.path(), &args).stderr).contains("is long for the cells of the field")
    };
    assert!(!warned("0.15") && warned("0.5"));
}

#[test]
fn what_cannot_be_checked_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("case.toml"), ROTATION).unwrap();
    let adaptive =
        ["--set", "trace.scheme=dormand-prince", "--set", "trace.tolerance.relative=1e-6"];
    let args =
        [&["check", "case.toml"][..], &adaptive, &["--set", "trace.tolerance.absolute=1e-9"]]
            .concat();
    assert_refused(&burntrace(path, &args), 2, &["[trace.tolerance]", "burntrace sweep"]);
    let args = ["check", "case.toml", "--device", "cray"];
    assert_refused(&burntrace(path, &args), 2, &["cray"]);
}
