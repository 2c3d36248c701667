//! Unstructured models, beside NumPy.

use super::earth::peer;
use super::program::{burntrace, text};
use super::requirements::{self, flow_data};
use std::path::Path;

/// Runs a case, and returns what it prints.
fn run(folder: &Path, case: &str) -> String {
    std::fs::write(folder.join("case.toml"), case).unwrap();
    let output = burntrace(folder, &["run", "case.toml", "--out", "out"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stderr) + &text(&output.stdout)
}

#[test]
fn tracks_in_the_wedges_of_fvcom_are_those_of_numpy() {
    let Some(path) = flow_data("ocean/tri_grid_example-FVCOM.nc") else { return };
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = path.to_str().unwrap();
    let places = peer("fvcom.py", &python, folder, &["places", file]);
    std::fs::write(folder.join("places.csv"), places).unwrap();
    let case = format!(
        "[field]\nfiles = {path:?}\ninterpolation = \"mesh\"\n[seeds]\nkind = \"file\"\npath = \"places.csv\"\n\
         [trace]\nscheme = \"rk4\"\ndt = \"1 min\"\nt1 = \"1 h\"\n[save]\nevery = 60\nreport = \"never\"\n\
         [run]\ndevice = \"flex\"\nprecision = \"f64\"\n"
    );
    let printed = run(folder, &case);
    for part in ["18060 cells, 11571 points", "`sides`", "w = 0", "multiples of 42.2 s"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let export = burntrace(folder, &["export", "out", "--to", "csv", "--quiet"]);
    assert!(export.status.success(), "{}", text(&export.stderr));
    let printed = peer("fvcom.py", &python, folder, &["tracks", file, "out/tracks.csv"]);
    let numbers: Vec<f64> = printed.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let [off, count, length] = numbers[..] else { panic!("{printed}") };
    // In metres.
    assert!(off < 1e-6 && count > 100.0 && length > 1000.0, "{printed}");
}

#[test]
fn particles_in_a_file_of_ugrid_leave_through_its_open_edge_only() {
    let Some(path) = flow_data("ocean/UGRIDv0.9_eleven_points_with_depth.nc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let case = format!(
        "[field]\nfiles = {path:?}\ninterpolation = \"mesh\"\n[boundary]\ncoast = \"slide\"\n\
         [[patch]]\nname = \"west\"\nblock = \"open\"\nwall = \"exit\"\n\
         [seeds]\nkind = \"mesh\"\ncount = 500\n[trace]\ndt = \"6 h\"\nt1 = \"600 d\"\n\
         [save]\nevery = 400\nreport = \"never\"\n[run]\ndevice = \"flex\"\n"
    );
    let printed = run(folder.path(), &case);
    assert!(printed.contains("13 cells, 11 points"), "{printed}");
    let summary = std::fs::read_to_string(folder.path().join("out/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let patches = &summary["patches"];
    assert_eq!(patches["west"], summary["ended"]);
    assert_eq!(patches["coast"], 0);
    assert!(summary["ended"].as_u64().unwrap() > 100, "{summary}");
}
