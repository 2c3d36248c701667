//! Files in degrees, traced on a sphere, beside steps in degrees in Python.

use super::program::burntrace;
use super::requirements;
use super::resume::summary;
use std::path::Path;
use std::process::Command;

const CASE: &str = "[field]\nfiles = \"ocean.nc\"\n\
    [[seeds]]\nkind = \"uniform\"\ncount = 400\nlow = [-10.0, 35.0, 0.0]\nhigh = [5.0, 45.0, 0.0]\n\
    outside = \"not-located\"\n\
    [trace]\ndt = \"10 min\"\nt1 = \"20 d\"\n[save]\nevery_time = \"1 d\"\n\
    [run]\ndevice = \"flex\"\nout = \"out\"\n";

#[test]
fn an_ocean_in_degrees_has_the_tracks_of_steps_in_degrees() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/earth.py");
    let run = |args: &[&str]| {
        let output = Command::new(&python).arg(&script).args(args).current_dir(&folder).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["write", "ocean.nc"]);
    std::fs::write(folder.path().join("case.toml"), CASE).unwrap();
    let output = burntrace(folder.path(), &["run", "case.toml", "--quiet"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary = summary(folder.path(), "out");
    let count = |name: &str| summary["status"][name].as_u64().unwrap_or(0);
    assert!(count("left the field") > 5 && summary["not_located"].as_u64() > Some(5), "{summary}");
    let output = burntrace(folder.path(), &["export", "out", "--to", "csv", "--quiet"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let worst: f64 = run(&["compare", "ocean.nc", "out/tracks.csv"]).trim().parse().unwrap();
    // Interpolating vectors instead of components changes some metres, and single precision rounds to 1.7 m.
    assert!(worst < 20.0, "{worst} m");
    let report = std::fs::read_to_string(folder.path().join("out/report.md")).unwrap();
    assert!(report.contains("pictures/density.png"), "{report}");
    densities(folder.path());
}

/// Densities of the run `out` are per square kilometre, and others are refused.
fn densities(folder: &Path) {
    let density = |more: &str| {
        let args = format!("density out --json {more}");
        let output = burntrace(folder, &args.split_whitespace().collect::<Vec<_>>());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()[0].clone()
    };
    let counts = density("--method histogram --nodes 6x4");
    let particles = counts["particles"].as_f64().unwrap();
    assert!(
        (counts["integral"].as_f64().unwrap() - particles).abs() < 1e-6 * particles,
        "{counts}"
    );
    assert_eq!((&counts["unit"], particles > 100.0), (&"1/km²".into(), true));
    let shells =
        density("--method cloud-in-cell --axes xyz --nodes 5 --low 350,30,-10 --high 365,50,10");
    assert_eq!(shells["unit"], "1/km³");
    let kernels = density("--bandwidth 100000 --low -20,25,0 --high 15,60,0");
    assert_eq!(kernels["bandwidth"], serde_json::json!([1e5, 1e5, 0.0]));
    assert!((kernels["integral"].as_f64().unwrap() - 1.0).abs() < 0.01, "{kernels}");
    for (command, expected) in [
        ("ftle out", "positions in degrees"),
        ("density out --plane 0,0,0,1,0,0,0,1,0", "--plane is of lengths"),
        ("density out --bandwidth 1", "a narrower kernel reaches no node"),
    ] {
        let output = burntrace(folder, &command.split_whitespace().collect::<Vec<_>>());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(expected), "{text}");
    }
}
