//! `burntrace export`, and the attributes of the tracks.

use super::program::{assert_refused, burntrace, text};
use std::path::Path;

/// Uniform seeds in a channel that is periodic along x, with units.
const CASE: &str = "[field]\nflow = \"uniform\"\nsample = { nodes = [3, 3, 1] }\n\
    [domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [1.0, 1.0, 0.0]\n\
    [boundary]\nx = [\"periodic\", \"periodic\"]\n\
    [seeds]\nkind = \"uniform\"\ncount = 20\n\
    [trace]\nt0 = 0.0\nt1 = 1.0\ndt = 0.05\n[save]\nevery = 5\nvelocity = true\nreport = \"never\"\n\
    [units]\nlength = \"mm\"\ntime = \"hours\"\n\
    [run]\ndevice = \"flex\"\nout = \"out\"\n";

fn run() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("case.toml"), CASE).unwrap();
    let output = burntrace(folder.path(), &["run", "case.toml", "--quiet"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    folder
}

fn export(folder: &Path, args: &[&str]) -> String {
    let output = burntrace(folder, &[&["export", "out"], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn tracks_are_exported_in_every_format() {
    let folder = run();
    let path = folder.path();
    let printed = export(path, &["--to", "csv"]);
    assert!(printed.contains("tracks.csv: 100 rows"), "{printed}");
    let table = std::fs::read_to_string(path.join("out/tracks.csv")).unwrap();
    let header = "particle,time,x,y,z,unwrapped_x,unwrapped_y,unwrapped_z,velocity_x,velocity_y,\
                  velocity_z,status";
    assert_eq!(table.lines().next(), Some(header));
    assert_eq!(table.lines().count(), 101);
    assert!(table.lines().skip(1).all(|line| line.ends_with(",active")));
    let printed = export(path, &["--to", "parquet", "--rows", "particles"]);
    assert!(printed.contains("tracks.parquet: 20 rows"), "{printed}");
    let file = std::fs::read(path.join("out/tracks.parquet")).unwrap();
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    let some = ["--to", "vtp", "--every-particle", "5", "--to-time", "0.5", "--out", "some.vtp"];
    let printed = export(path, &some);
    assert!(printed.contains("some.vtp: 12 points"), "{printed}");
    assert!(path.join("some.vtp").exists());
    let printed = export(path, &["--to", "zarr", "--every-save", "2"]);
    assert!(printed.contains("tracks.zarr: 20 trajectories"), "{printed}");
    let printed = export(path, &["--to", "npy", "--every-particle", "5"]);
    assert!(printed.contains("tracks_npy: 4 particles"), "{printed}");
    let position = burntrace::io::read_npy(path.join("out/tracks_npy/position.npy")).unwrap();
    assert_eq!(position.shape, [5, 4, 3]);
    let printed = export(path, &["--to", "safetensors"]);
    assert!(printed.contains("tracks.safetensors: 20 particles"), "{printed}");
    // A run that replaces this one removes its tables.
    let again = burntrace(path, &["run", "case.toml", "--quiet", "--overwrite"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert!(!path.join("out/tracks.csv").exists() && !path.join("out/tracks.parquet").exists());
    for name in ["tracks.zarr", "tracks_npy", "tracks.safetensors"] {
        assert!(!path.join("out").join(name).exists(), "{name}");
    }
}

#[test]
fn invalid_selections_are_refused_with_what_there_is() {
    let folder = run();
    let refused = |args: &[&str], parts: &[&str]| {
        assert_refused(&burntrace(folder.path(), &[&["export"], args].concat()), 2, parts);
    };
    refused(&["out"], &["--to"]);
    refused(&["out", "--to", "hdf5"], &["hdf5", "parquet, csv, vtp"]);
    refused(
        &["out", "--to", "csv", "--rows", "particles"],
        &["rows of particles have lists", "Parquet"],
    );
    refused(&["out", "--to", "zarr", "--final"], &["--final is for tables and maps"]);
    refused(&["out", "--to", "npy", "--rows", "saves"], &["--rows is for tables and maps"]);
    refused(
        &["out", "--to", "npy", "--out", "out"],
        &["out exists, and tracks_npy is a new folder; remove it"],
    );
    refused(&["out", "--to", "csv", "--final", "--to-time", "1"], &["cannot be used with"]);
    refused(
        &["out", "--to", "csv", "--from-time", "soon"],
        &["soon", "give a number, or a duration", "or a date such as"],
    );
    refused(
        &["out", "--to", "csv", "--from-time", "2000-01-01"],
        &["2000-01-01 is a date, and these times have no dates; give a number"],
    );
    refused(
        &["out", "--to", "csv", "--to-time", "1 h"],
        &["times are in \"hours\"; give a number"],
    );
    refused(&["out", "--to", "vtp", "--rows", "saves"], &["--rows is for tables"]);
    for format in ["geojson", "flatgeobuf"] {
        refused(&["out", "--to", format], &["positions of the run are lengths", "parquet, csv"]);
    }
    refused(
        &["out", "--to", "csv", "--status", "gone"],
        &["gone", "waiting, active", "exited, ended"],
    );
    refused(&["out", "--to", "csv", "--every-save", "0"], &["whole number of 1 or more"]);
    refused(&["out", "--to", "csv", "--from-time", "2"], &["none of the 5 saves, from t = 0 to 1"]);
    refused(&["missing", "--to", "csv"], &["contains no run"]);
    refused(
        &["out", "--to", "csv", "--out", "out"],
        &["out is a folder, a link or a device", "--out"],
    );
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("elsewhere", &link).unwrap();
        refused(
            &["out", "--to", "csv", "--out", "link"],
            &["link is a folder, a link or a device"],
        );
        assert!(link.is_symlink());
    }
    assert!(!folder.path().join("out/tracks.csv").exists());
}

#[test]
fn units_of_the_case_are_attributes_of_the_tracks() {
    let folder = run();
    let units = |name: &str| {
        let path = folder.path().join("out/tracks").join(name).join("zarr.json");
        let text = std::fs::read_to_string(path).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["attributes"]["units"].clone()
    };
    assert_eq!(["position", "velocity", "time", "end_time"].map(units), ["mm", "mm/h", "h", "h"]);
}
