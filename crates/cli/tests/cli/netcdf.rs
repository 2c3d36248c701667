//! Runs in NetCDF files and Zarr groups.

use super::program::{assert_refused, burntrace, fixture, text};
use super::resume::{assert_same, succeed, summary};
use burntrace::io::Tracks;
use std::path::Path;

/// A case with files of `tests/data/cf`.
fn write_case(folder: &Path, name: &str) {
    write_case_of(folder, &fixture("cf").join(name));
}

fn write_case_of(folder: &Path, files: &Path) {
    let case = format!(
        "[field]\nfiles = '{}'\noutside_time = \"hold\"\n[seeds]\nkind = \"grid\"\ncounts = [4, 4, 2]\n\
         placement = \"centres\"\n[trace]\nt1 = 0.5\ndt = 0.03125\n[run]\ndevice = \"flex\"\n\
         [save]\nevery = 4\nreport = \"never\"\n",
        files.display()
    );
    std::fs::write(folder.join("case.toml"), case).unwrap();
}

#[test]
fn all_encodings_give_the_same_tracks() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["classic.nc", "nc4_deflate.nc", "xarray.nc", "v2_zlib.zarr", "v3_zstd.zarr"] {
        write_case(folder.path(), name);
        succeed(folder.path(), &["run", "case.toml", "--quiet", "--out", name]);
    }
    assert_same(folder.path(), ["classic.nc", "nc4_deflate.nc"]);
    // These have another calendar, which the tracks name, and the same positions.
    assert_same(folder.path(), ["xarray.nc", "v2_zlib.zarr"]);
    assert_same(folder.path(), ["xarray.nc", "v3_zstd.zarr"]);
    let positions = ["classic.nc", "xarray.nc"].map(|name| {
        let tracks = Tracks::open(folder.path().join(name).join("tracks")).unwrap();
        (0..tracks.times().len()).map(|save| tracks.position(save).unwrap()).collect::<Vec<_>>()
    });
    assert!(positions[0] == positions[1] && positions[0].len() > 2);
    let field = &summary(folder.path(), "v3_zstd.zarr")["field"];
    assert_eq!(field["time_origin"], "seconds since 2000-01-01T06:00:00 (calendar noleap)");
    assert_eq!(field["encoding"], "Zarr version 3");
    // A finished run is extended after its data has been compared with that of the run.
    let longer =
        ["run", "--extend", "v3_zstd.zarr", "--set", "trace.t1=0.75", "--out", "longer", "--quiet"];
    succeed(folder.path(), &longer);
}

/// The same field as image data, VTKHDF, NetCDF and Zarr, on axes that are exact in binary.
#[test]
fn all_formats_give_the_same_bits_of_tracks() {
    let folder = tempfile::tempdir().unwrap();
    let files =
        ["formats/image_*.vti", "vtkhdf/image.vtkhdf", "formats/image.nc", "formats/image.zarr"];
    let names = ["vti", "vtkhdf", "nc", "zarr"];
    for (name, files) in names.into_iter().zip(files) {
        write_case_of(folder.path(), &fixture(files));
        // NetCDF and Zarr have these units by default.
        let set = ["save.velocity=true", "units={ length = \"m\", time = \"s\" }"];
        let set = set.iter().flat_map(|set| ["--set", set]);
        let args = ["run", "case.toml", "--quiet", "--out", name].into_iter().chain(set);
        succeed(folder.path(), &args.collect::<Vec<_>>());
        assert_same(folder.path(), ["vti", name]);
    }
    let tracks = Tracks::open(folder.path().join("vti/tracks")).unwrap();
    let [first, last] = [0, tracks.times().len() - 1].map(|save| tracks.position(save).unwrap());
    assert!(first.len() == 32 && first.iter().zip(&last).all(|(a, b)| a != b));
}

#[test]
fn conversions_are_said() {
    let folder = tempfile::tempdir().unwrap();
    write_case(folder.path(), "packed.nc");
    let output =
        burntrace(folder.path(), &["run", "case.toml", "--set", "seeds.outside=not-located"]);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("`easting` is converted from km to m"), "{said}");
}

#[test]
fn info_lists_variables_dimensions_and_units() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture("cf").join("packed.nc").display().to_string();
    let said = text(&burntrace(folder.path(), &["info", &path]).stdout);
    for part in [
        "NetCDF-4",
        "u (easting 5, time 3, depth 3, northing 4; int16, cm s-1)",
        "3 frames in 1 file, t = 0 to 1",
        "seconds since 2000-01-01T00:00:00 (calendar 360_day)",
        "field.interpolation = \"grid\"",
        "1 velocities of the first frame are hidden",
        "`depth` is positive downward",
    ] {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
}

#[test]
fn axes_in_degrees_are_described_and_traced() {
    let folder = tempfile::tempdir().unwrap();
    write_case(folder.path(), "degrees.nc");
    let set = ["--set", "field.not_finite=zero", "--set", "seeds.counts=[4, 4, 1]"];
    let run = ["run", "case.toml", "--quiet", "--out", "out"];
    succeed(folder.path(), &[&run[..], &set].concat());
    let units = Tracks::open(folder.path().join("out/tracks")).unwrap().units();
    assert_eq!((units.radius, units.length.as_str()), (Some(6_371_008.8), "m"));
    let path = fixture("cf").join("degrees.nc").display().to_string();
    let said = text(&burntrace(folder.path(), &["info", &path]).stdout);
    for part in
        ["longitude  0 to 2 degrees, every 0.5", "latitude   -1 to 2 degrees, unevenly", "z axis"]
    {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
    let radius = ["run", "case.toml", "--set", "field.radius=-1"];
    assert_refused(&burntrace(folder.path(), &radius), 2, &["field.radius is -1"]);
    write_case(folder.path(), "nc4.nc");
    let radius = ["run", "case.toml", "--set", "field.radius=6371000"];
    assert_refused(&burntrace(folder.path(), &radius), 2, &["field.radius", "lengths", "omit it"]);
}

/// The particles stay in the box, and the same nodes give the same tracks.
#[test]
fn a_cropped_field_gives_the_same_tracks() {
    let folder = tempfile::tempdir().unwrap();
    write_case(folder.path(), "v3_zstd.zarr");
    let seeds = [
        "--set",
        "seeds.low=[0.75, -0.9, 0.2]",
        "--set",
        "seeds.high=[1.25, -0.5, 0.8]",
        "--set",
        "trace.t1=0.03125",
        "--set",
        "trace.dt=0.0078125",
    ];
    let run = |more: &[&str]| {
        succeed(folder.path(), &[&["run", "case.toml", "--quiet"][..], &seeds, more].concat());
    };
    run(&["--out", "whole"]);
    let crop = "field.crop={ low = [0.5, -1.0, 0.0], high = [1.5, 0.0, 1.0] }";
    run(&["--out", "part", "--set", crop]);
    let [whole, part] = ["whole", "part"].map(|name| {
        let tracks = Tracks::open(folder.path().join(name).join("tracks")).unwrap();
        let last = tracks.times().len() - 1;
        tracks.position(last).unwrap()
    });
    assert_eq!(whole, part);
    assert_eq!(summary(folder.path(), "part")["field"]["nodes"], serde_json::json!([3, 2, 3]));
    let output = burntrace(folder.path(), &["run", "case.toml", "--set", "field.every=[9, 1, 1]"]);
    assert_refused(&output, 2, &["v3_zstd.zarr", "`every` of 9 leaves one of 5 nodes"]);
    let crop =
        ["--set", "field.crop={ low = [0.0, 0.0, 0.0] }", "--set", "field.interpolation=nearest"];
    let output = burntrace(folder.path(), &[&["run", "case.toml"][..], &crop].concat());
    assert_refused(&output, 2, &["field.crop", "interpolation = \"grid\""]);
}

#[test]
fn tracks_have_the_dates_of_the_field() {
    let folder = tempfile::tempdir().unwrap();
    write_case(folder.path(), "nc4.nc");
    let run = |more: &[&str]| burntrace(folder.path(), &[&["run", "case.toml"][..], more].concat());
    let time = |name: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(folder.path().join(name).join("tracks/time/zarr.json"));
        serde_json::from_str(&text.unwrap()).unwrap()
    };
    assert!(run(&["--out", "dates", "--quiet"]).status.success());
    let attributes = &time("dates")["attributes"];
    assert_eq!(attributes["units"], "seconds since 2000-01-01T06:00:00");
    assert_eq!(attributes["calendar"], "standard");
    let hours = run(&["--out", "hours", "--set", "units.time=h"]);
    let said = text(&hours.stderr);
    assert!(said.contains("the times of the field are in seconds"), "{said}");
    assert_eq!(time("hours")["attributes"]["units"], "h");
    let said = text(&run(&["--out", "km", "--set", "units.length=km"]).stderr);
    assert!(said.contains("the lengths of the field are in metres"), "{said}");
}
