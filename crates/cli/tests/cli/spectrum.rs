//! `burntrace spectrum`.

use super::program::{assert_refused, burntrace, text};
use serde_json::Value;
use std::path::Path;

/// A solid rotation of the period 2 pi, and eight seeds on a circle of the radius 0.5 about its centre.
const CASE: &str = "[field]\nflow = { u = \"-y\", v = \"x\" }\n[domain]\nlow = [-1.0, -1.0, 0.0]\nhigh = [1.0, 1.0, 0.0]\n\
    [boundary]\nx = \"exit\"\ny = \"exit\"\n\
    [seeds]\nkind = \"list\"\npoints = [SEEDS]\n\
    [trace]\nt0 = 0.0\nt1 = 20.0\ndt = 0.02\n[run]\nprecision = \"f64\"\n[save]\nevery_time = 0.2\n";

/// Writes the case and runs it.
fn run(folder: &Path, out: &str, sets: &[&str]) {
    let seed = |k: i32| {
        let (sin, cos) = (std::f64::consts::FRAC_PI_4 * f64::from(k)).sin_cos();
        format!("[{:.17}, {:.17}, 0.0]", 0.5 * cos, 0.5 * sin)
    };
    let seeds: Vec<String> = (0..8).map(seed).collect();
    std::fs::write(folder.join("case.toml"), CASE.replace("SEEDS", &seeds.join(", "))).unwrap();
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let args: Vec<&str> = ["run", "case.toml", "--out", out].into_iter().chain(sets).collect();
    let run = burntrace(folder, &args);
    assert!(run.status.success(), "{}", text(&run.stderr));
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let output = burntrace(folder, &[&["spectrum"], args, &["--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("{key} in {of}"))
}

#[test]
fn velocities_in_a_rotation_are_correlated_as_a_cosine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    run(path, "saved", &["save.velocity=true"]);
    // A last save that follows earlier.
    run(path, "moved", &["trace.t1=20.1"]);
    // The mean over an interval is less than the velocity by this factor.
    let moved = 0.1_f64.sin() / 0.1;
    for (out, from, factor) in [("saved", "velocities", 1.0), ("moved", "displacements", moved)] {
        let found = json(path, &[out]);
        assert_eq!(
            [&found["particles"], &found["left_out"], &found["whole"], &found["pairs"][0]],
            [8, 0, 8, if out == "saved" { 808 } else { 800 }].map(Value::from).each_ref()
        );
        assert_eq!(
            (&found["velocity_from"], &found["mean_subtracted"]),
            (&from.into(), &"ensemble".into())
        );
        assert!((number(&found, "interval") - 0.2).abs() < 1e-12, "{}", found["interval"]);
        let notes = found["notes"].to_string();
        assert_eq!(notes.contains("`save.velocity`"), out == "moved", "{notes}");
        assert_eq!(notes.contains("the last save is left out"), out == "moved", "{notes}");
        let [x, y, z, total] = &found["components"].as_array().unwrap()[..] else {
            panic!("{found}")
        };
        assert_eq!((&x["name"], &total["name"]), (&"x".into(), &"total".into()));
        let variance = 0.125 * factor * factor;
        for (of, variance) in [(x, variance), (y, variance), (total, 2.0 * variance)] {
            assert!((number(of, "variance") - variance).abs() < 1e-6, "{of}");
            assert!((number(of, "time_scale") - 1.0).abs() < 0.005, "{of}");
            assert_eq!(of["reaches_zero"], true);
            let product = number(of, "variance") * number(of, "time_scale");
            assert!((number(of, "diffusivity") - product).abs() < 1e-12, "{of}");
            for (lag, value) in found["lags"]
                .as_array()
                .unwrap()
                .iter()
                .zip(of["autocorrelation"].as_array().unwrap())
            {
                let expected = lag.as_f64().unwrap().cos();
                assert!((value.as_f64().unwrap() - expected).abs() < 1e-5, "{lag}: {value}");
            }
            let densities: Vec<f64> =
                of["spectrum"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
            let peak = (0..densities.len()).max_by(|a, b| densities[*a].total_cmp(&densities[*b]));
            let frequencies = found["frequencies"].as_array().unwrap();
            let [step, peak] = [1, peak.unwrap()].map(|k| frequencies[k].as_f64().unwrap());
            assert!((peak - 1.0 / std::f64::consts::TAU).abs() < step, "{peak}");
        }
        assert_eq!((number(z, "variance"), &z["time_scale"]), (0.0, &Value::Null));
    }
    for (file, start) in [
        ("autocorrelation.csv", "lag,pairs,x,y,z,total\n0,808,1,1,,1\n"),
        ("spectrum.csv", "frequency,x,y,z,total\n0,"),
    ] {
        let content = std::fs::read_to_string(path.join("saved/spectrum").join(file)).unwrap();
        assert!(content.starts_with(start), "{content}");
    }
    for file in ["autocorrelation.png", "spectrum.png"] {
        assert!(path.join("saved/spectrum").join(file).exists(), "{file}");
    }
    let output = burntrace(path, &["spectrum", "saved", "--mean", "none"]);
    let (shown, notes) = (text(&output.stdout), text(&output.stderr));
    assert!(shown.starts_with("Component") && shown.contains("Time scale"), "{shown}");
    assert!(shown.contains("8 particles, of which 8 are active at all saves"), "{shown}");
    assert!(shown.contains("saves 0.2 apart, lags up to 10"), "{shown}");
    assert_eq!(notes, "");
}

/// The first seed leaves the domain before the second save, and the second one after the third.
#[test]
fn particles_count_while_they_are_active() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    run(path, "out", &["seeds.points=[[0.9, 0.9, 0.0], [0.9, 0.6, 0.0]]", "save.velocity=true"]);
    let found = json(path, &["out", "--mean", "particle"]);
    assert_eq!(
        [&found["particles"], &found["left_out"], &found["whole"]],
        [1, 1, 0].map(Value::from).each_ref()
    );
    assert_eq!(
        (&found["pairs"], &found["frequencies"]),
        (&[3, 2, 1].into(), &Value::Array(vec![]))
    );
    assert!(found["notes"].to_string().contains("there is no spectrum"), "{found}");
    assert!(!path.join("out/spectrum/spectrum.csv").exists());
    run(path, "none", &["seeds.points=[[0.9, 0.9, 0.0]]"]);
    assert_refused(&burntrace(path, &["spectrum", "none"]), 2, &["none of the 1 particles"]);
}

#[test]
fn uneven_saves_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |out: &str, save: &str, parts: &[&str]| {
        run(folder.path(), out, &["save.every_time=", save]);
        assert_refused(&burntrace(folder.path(), &["spectrum", out]), 2, parts);
    };
    let parts =
        ["saves 0 and 1 are 1 apart, saves 1 and 2 are 2", "`save.every_time` or `save.every`"];
    refused("uneven", "save.times=[0.0, 1.0, 3.0, 4.0]", &parts);
    refused("two", "save.times=[0.0, 20.0]", &["the number of saves is 2; give three or more"]);
    let args = ["spectrum", "uneven", "--mean", "time"];
    assert_refused(&burntrace(folder.path(), &args), 2, &["ensemble, particle, none"]);
}
