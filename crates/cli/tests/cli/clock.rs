//! Times of several files: overlaps, and dates that all files of a case share.

use super::program::{assert_refused, burntrace, text};
use super::resume::summary;
use super::zarr::{write_array, write_axes, write_uniform};
use burntrace::io::Tracks;
use serde_json::json;
use std::path::Path;
use std::process::Output;

/// Writes a velocity along x that is uniform in space.
fn write_flow(path: &Path, times: &[f64], units: &str, speed: f64) {
    write_axes(path, times, units);
    let zeros = vec![0.0; times.len()];
    for (name, values) in [("u", vec![speed; times.len()]), ("v", zeros)] {
        write_uniform(path, name, &values, json!({ "units": "m s-1" }));
    }
}

/// Runs a case with files from `t0` to `t1`.
fn run(folder: &Path, files: &str, [t0, t1]: [f64; 2], more: &[&str]) -> Output {
    let case = format!(
        "[field]\nfiles = {files}\n[seeds]\nkind = \"list\"\npoints = [[1.0, 50.0, 0.0]]\n\
         [trace]\nt0 = {t0:?}\nt1 = {t1:?}\ndt = 0.25\n[run]\ndevice = \"flex\"\nprecision = \"f64\"\n\
         [save]\nevery = 4\nreport = \"never\"\n"
    );
    std::fs::write(folder.join("case.toml"), case).unwrap();
    let more = more.iter().flat_map(|set| ["--set", set]);
    let args: Vec<&str> =
        ["run", "case.toml", "--out", "out", "--overwrite"].into_iter().chain(more).collect();
    burntrace(folder, &args)
}

/// How far the particle has moved.
fn distance(folder: &Path) -> f64 {
    let tracks = Tracks::open(folder.join("out/tracks")).unwrap();
    tracks.position(tracks.num_saves() - 1).unwrap()[0][0] - 1.0
}

/// A restart at t = 2 of a run to t = 3, of another speed.
#[test]
fn frames_of_overlapping_files_are_chosen_by_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let since = "seconds since 2000-01-01";
    write_flow(&path.join("a.zarr"), &[0.0, 1.0, 2.0, 3.0], since, 1.0);
    write_flow(&path.join("b.zarr"), &[2.0, 3.0, 4.0, 5.0], since, 2.0);
    // The order of the list does not matter, that of the times does.
    let files = "[\"b.zarr\", \"a.zarr\"]";
    let refused = run(path, files, [0.0, 5.0], &[]);
    let words = ["a.zarr", "b.zarr", "at 2", "`same_times = \"first\"` or `\"last\"`"];
    assert_refused(&refused, 2, &words);
    for (which, expected) in [("first", 6.5), ("last", 8.5)] {
        let output = run(path, files, [0.0, 5.0], &[&format!("field.same_times={which}")]);
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("2 frames of `") && said.contains("has those times"), "{said}");
        assert!((distance(path) - expected).abs() < 1e-9, "{which}: {}", distance(path));
    }
    let of_case = ["field.ignore_file_times=true", "field.times={ start = 0.0, step = 1.0 }"];
    let unused = run(path, files, [0.0, 5.0], &[&of_case[..], &["field.same_times=last"]].concat());
    let said = text(&unused.stderr);
    assert!(said.contains("`field.same_times` has no effect"), "{said}");
    // One common frame, at the end of one file and the start of the next.
    write_flow(&path.join("b.zarr"), &[3.0, 4.0, 5.0], since, 2.0);
    assert_refused(&run(path, files, [0.0, 5.0], &[]), 2, &["at 3", "same_times"]);
    assert!(run(path, files, [0.0, 5.0], &["field.same_times=first"]).status.success());
    assert!((distance(path) - 6.5).abs() < 1e-9);
    // Times that differ are mixed, with a warning, or chosen.
    write_flow(&path.join("b.zarr"), &[1.5, 2.5, 3.5, 5.0], since, 2.0);
    let mixed = run(path, files, [0.0, 5.0], &[]);
    let said = text(&mixed.stderr);
    assert!(mixed.status.success() && said.contains("overlap, and the frames of both"), "{said}");
    assert!(run(path, files, [0.0, 5.0], &["field.same_times=last"]).status.success());
    assert!((distance(path) - (1.0 + 0.75 + 7.0)).abs() < 1e-9, "{}", distance(path));
}

/// Image data with a time of its own.
fn write_image(path: &Path, time: f64, speed: f64) {
    let node = format!("{speed} 0 0 ");
    let file = format!(
        "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\"><ImageData \
         WholeExtent=\"0 1 0 1 0 0\" Origin=\"0 0 0\" Spacing=\"100 100 1\"><FieldData><DataArray type=\"Float64\" \
         Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{time}</DataArray></FieldData><Piece \
         Extent=\"0 1 0 1 0 0\"><PointData><DataArray type=\"Float64\" Name=\"U\" NumberOfComponents=\"3\" \
         format=\"ascii\">{}</DataArray></PointData></Piece></ImageData></VTKFile>",
        node.repeat(4)
    );
    std::fs::write(path, file).unwrap();
}

#[test]
fn equal_times_of_vtk_files_are_chosen_by_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (name, time, speed) in [("a.vti", 0.0, 1.0), ("b.vti", 1.0, 1.0), ("c.vti", 1.0, 3.0)] {
        write_image(&path.join(name), time, speed);
    }
    let files = "[\"a.vti\", \"b.vti\", \"c.vti\"]";
    assert_refused(&run(path, files, [0.0, 1.0], &[]), 2, &["b.vti", "c.vti", "same_times"]);
    for (which, expected) in [("first", 1.0), ("last", 2.0)] {
        let output = run(path, files, [0.0, 1.0], &[&format!("field.same_times={which}")]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!((distance(path) - expected).abs() < 1e-9, "{which}: {}", distance(path));
    }
}

/// Writes an array that is the number of seconds since 2000-01-01.
fn write_seconds(path: &Path, times: &[f64], units: &str, seconds: &[f64]) {
    write_axes(path, times, units);
    write_uniform(path, "T", seconds, json!({}));
}

#[test]
fn all_files_of_a_case_share_the_date_of_time_0() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_flow(&path.join("u.zarr"), &[0.0, 10.0], "seconds since 2000-01-01T00:01:00", 1.0);
    let sampled = "save.fields=[{ array = \"T\", files = \"T.zarr\" }]";
    let run = |more: &[&str]| run(path, "\"u.zarr\"", [0.0, 4.0], &[&[sampled], more].concat());
    // An earlier start, another unit and another name of the same calendar.
    let minutes = [0.0, 1.0, 2.0, 3.0];
    let seconds = minutes.map(|minute| 60.0 * minute);
    let units = "minutes since 2000-01-01 00:00:00";
    write_seconds(&path.join("T.zarr"), &minutes, units, &seconds);
    let attributes = json!({ "units": units, "calendar": "proleptic_gregorian" });
    write_array(&path.join("T.zarr"), "time", &[("time", 4)], &minutes, attributes);
    let output = run(&[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let tracks = Tracks::open(path.join("out/tracks")).unwrap();
    for (save, time) in tracks.times().iter().enumerate() {
        let found = tracks.array("T", save).unwrap()[0];
        assert!((found - (60.0 + time)).abs() < 1e-9, "{found} at {time}");
    }
    assert!(
        summary(path, "out")["field"]["time_origin"].to_string().contains("2000-01-01T00:01:00")
    );
    // A later start: the array does not cover the run.
    write_seconds(
        &path.join("T.zarr"),
        &[0.0, 5.0],
        "seconds since 2000-01-01T00:01:02",
        &[62.0, 67.0],
    );
    assert_refused(&run(&[]), 2, &["2"]);
    // Other calendars, or no dates.
    let noleap = json!({ "units": "seconds since 2000-01-01", "calendar": "noleap" });
    write_array(&path.join("T.zarr"), "time", &[("time", 2)], &[0.0, 500.0], noleap);
    assert_refused(&run(&[]), 2, &["T.zarr", "noleap", "standard"]);
    write_seconds(&path.join("T.zarr"), &[0.0, 500.0], "s", &[0.0, 500.0]);
    assert_refused(&run(&[]), 2, &["u.zarr are from a date", "T.zarr are not"]);
}

/// Without dates in the field, the arrays share the date of the first of them.
#[test]
fn arrays_beside_a_formula_share_their_dates() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_seconds(
        &path.join("A.zarr"),
        &[0.0, 9.0],
        "seconds since 2000-01-01T00:00:05",
        &[5.0, 14.0],
    );
    write_seconds(&path.join("B.zarr"), &[0.0, 99.0], "seconds since 2000-01-01", &[0.0, 99.0]);
    let case = "[field]\nflow = { u = \"1\", v = \"0\" }\n[domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [100.0, 100.0, 0.0]\n\
         [seeds]\nkind = \"list\"\npoints = [[1.0, 50.0, 0.0]]\n[trace]\nt0 = 0.0\nt1 = 4.0\ndt = 0.25\n\
         [run]\ndevice = \"flex\"\nprecision = \"f64\"\n[save]\nevery = 4\nreport = \"never\"\n\
         fields = [{ array = \"T\", name = \"A\", files = \"A.zarr\" }, { array = \"T\", name = \"B\", files = \"B.zarr\" }]\n";
    std::fs::write(path.join("case.toml"), case).unwrap();
    let output = burntrace(path, &["run", "case.toml", "--out", "out"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let tracks = Tracks::open(path.join("out/tracks")).unwrap();
    for (save, time) in tracks.times().iter().enumerate() {
        let [a, b] = ["A", "B"].map(|name| tracks.array(name, save).unwrap()[0]);
        assert!((a - (5.0 + time)).abs() < 1e-9 && (a - b).abs() < 1e-9, "{a} {b} at {time}");
    }
}

/// A vertical velocity of a part of the files is never left out.
#[test]
fn files_with_other_components_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (name, times) in [("a.zarr", [0.0, 1.0]), ("b.zarr", [2.0, 3.0])] {
        write_flow(&path.join(name), &times, "s", 1.0);
    }
    write_uniform(&path.join("b.zarr"), "w", &[1.0, 1.0], json!({ "units": "m s-1" }));
    let refused = |files| assert_refused(&run(path, files, [0.0, 3.0], &[]), 2, &["a.zarr", "`w`"]);
    refused("[\"a.zarr\", \"b.zarr\"]");
    let plane = ["field.velocity=[\"u\", \"v\"]"];
    let output = run(path, "[\"a.zarr\", \"b.zarr\"]", [0.0, 3.0], &plane);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// A file without units or with the opposite sign is not read like the others.
#[test]
fn files_that_would_be_converted_otherwise_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (name, times) in [("a.zarr", [0.0, 1.0]), ("b.zarr", [2.0, 3.0])] {
        write_flow(&path.join(name), &times, "s", 1.0);
    }
    let refused = |words: &[&str]| {
        assert_refused(&run(path, "[\"a.zarr\", \"b.zarr\"]", [0.0, 3.0], &[]), 2, words);
    };
    for (file, name) in [("a.zarr", "b.zarr"), ("b.zarr", "a.zarr")] {
        write_uniform(&path.join(name), "u", &[1.0, 1.0], json!({}));
        write_uniform(&path.join(file), "u", &[100.0, 100.0], json!({ "units": "cm s-1" }));
        refused(&[name, "variable `u`", "no attribute `units`", "converted from cm s-1"]);
    }
    for (name, direction) in [("a.zarr", "upward"), ("b.zarr", "downward")] {
        let standard = format!("{direction}_air_velocity");
        let attributes = json!({ "units": "m s-1", "standard_name": standard });
        write_uniform(&path.join(name), "u", &[1.0, 1.0], json!({ "units": "m s-1" }));
        write_uniform(&path.join(name), "w", &[1.0, 1.0], attributes);
    }
    refused(&["b.zarr", "variable `w`", "downward in one"]);
}
