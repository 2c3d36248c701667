//! The surface of the sea, and land by a mask, in files with depths.

use super::program::{assert_refused, burntrace, text};
use super::resume::{assert_same, succeed, summary};
use super::zarr::write_array;
use burntrace::io::Tracks;
use serde_json::{Value, json};
use std::path::Path;

const RADIUS: f64 = 6_371_008.8;

/// The time of the runs in seconds.
const TIME: f64 = 2.0 * 86400.0;

/// Rises 0.864 m in a day.
const UPWARD: f64 = 1e-5;

fn eastward(depth: f64) -> f64 {
    0.1 - 0.01 * depth
}

/// Writes three days of a sea from 10°W to 6°W and 40°N to 43°N, and a mask of land east of 7.25°W.
fn write_sea(group: &Path, depths: &[f64], vertical: Value) {
    let lon: Vec<f64> = (0..9).map(|i| -10.0 + 0.5 * f64::from(i)).collect();
    let lat: Vec<f64> = (0..7).map(|j| 40.0 + 0.5 * f64::from(j)).collect();
    let axis = |name: &str, values: &[f64], attributes: Value| {
        write_array(group, name, &[(name, values.len())], values, attributes);
    };
    axis("lon", &lon, json!({ "units": "degrees_east" }));
    axis("lat", &lat, json!({ "units": "degrees_north" }));
    axis("level", depths, vertical);
    axis("time", &[0.0, 1.0, 2.0], json!({ "units": "days since 2024-01-01" }));
    let sizes = [("time", 3), ("level", depths.len()), ("lat", 7), ("lon", 9)];
    let layers = depths.iter().flat_map(|depth| [eastward(*depth); 63]).collect::<Vec<_>>();
    for (name, layers) in [
        ("eastward", layers),
        ("northward", vec![0.0; 63 * depths.len()]),
        ("upward", vec![UPWARD; 63 * depths.len()]),
    ] {
        let attributes =
            json!({ "units": "m s-1", "standard_name": format!("{name}_sea_water_velocity") });
        write_array(group, name, &sizes, &[&layers[..]; 3].concat(), attributes);
    }
    write_mask(group, 6);
}

/// A mask of land from a column on.
fn write_mask(group: &Path, column: usize) {
    let mask: Vec<f64> = (0..63).map(|i| f64::from(u8::from(i % 9 < column))).collect();
    write_array(group, "mask", &[("lat", 7), ("lon", 9)], &mask, json!({}));
}

pub fn down() -> Value {
    json!({ "units": "m", "positive": "down", "standard_name": "depth" })
}

pub const CMEMS: [f64; 4] = [0.5, 1.5, 3.0, 8.0];

const CASE: &str = "[field]\nfiles = \"sea.zarr\"\noutside_time = \"hold\"\n\
    [seeds]\nkind = \"list\"\noutside = \"not-located\"\n\
    points = [[-9, 41.5, 0.0], [-9, 41.5, -0.3], [-9, 41.5, -1.2], [-9, 41.5, -2.9]]\n\
    [trace]\ndt = \"1 h\"\nt1 = \"2 d\"\n[save]\nevery_time = \"12 h\"\n\
    [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n";

/// The folder of a sea and its case.
pub fn folder(depths: &[f64], vertical: Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_sea(&folder.path().join("sea.zarr"), depths, vertical);
    std::fs::write(folder.path().join("case.toml"), CASE).unwrap();
    folder
}

/// Runs the case with settings, and returns the final positions and the number of each status.
fn run(path: &Path, out: &str, sets: &[&str]) -> (Vec<[f64; 3]>, Value) {
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let args: Vec<&str> =
        ["run", "case.toml", "--quiet", "--out", out].into_iter().chain(sets).collect();
    succeed(path, &args);
    let tracks = Tracks::open(path.join(out).join("tracks")).unwrap();
    let end = tracks.position(tracks.num_saves() - 1).unwrap();
    (end, summary(path, out)["status"].clone())
}

#[test]
fn particles_are_traced_up_to_the_surface_and_do_not_leave_through_it() {
    let folder = folder(&CMEMS, down());
    let path = folder.path();
    let (end, status) = run(path, "out", &[]);
    assert_eq!(status["active"], 4, "{status}");
    for ([_, _, z], expected) in end.iter().zip([0.0, 0.0, 0.0, -2.9 + UPWARD * TIME]) {
        assert!((z - expected).abs() < 1e-9, "{end:?}");
    }
    // Above the first level the velocity is that of the first level.
    let moved = (eastward(0.5) * TIME / (RADIUS * 41.5_f64.to_radians().cos())).to_degrees();
    assert!((end[0][0] + 9.0 - moved).abs() < 1e-4 * moved, "{end:?}");
    let (streamed, _) = run(path, "streamed", &["run.strategy=streamed-frames"]);
    assert_eq!(streamed, end);
    assert_same(path, ["out", "streamed"]);
    // Others are where they were.
    let (low, status) = run(path, "low", &["domain.high=[-6, 43, -0.5]"]);
    assert_eq!((status["not located"].as_u64(), low.last()), (Some(2), end.last()), "{status}");
    assert_eq!(status["exited z-high"], 1, "{status}");
    let (_, status) = run(path, "exit", &["boundary.z=exit"]);
    assert_eq!(status["exited z-high"], 3, "{status}");
    let (reflected, _) = run(path, "reflect", &["boundary.z=[\"exit\",\"reflect\"]"]);
    assert!((-0.1..=0.0).contains(&reflected[0][2]) && reflected[3] == end[3], "{reflected:?}");
}

#[test]
fn the_surface_is_reached_from_the_first_level_of_the_file_only() {
    let seeds = |path: &Path, sets: &[&str]| run(path, "out", sets).1;
    let cropped = folder(&CMEMS, down());
    let crop = |z: f64| format!("field.crop={{ low = [-10, 40, -9], high = [-6, 43, {z}] }}");
    let status = seeds(cropped.path(), &[&crop(-2.0)]);
    assert_eq!(
        (&status["not located"], &status["exited z-high"]),
        (&3.into(), &1.into()),
        "{status}"
    );
    std::fs::remove_dir_all(cropped.path().join("out")).unwrap();
    assert_eq!(seeds(cropped.path(), &[&crop(-0.1)])["active"], 4);
    // A first level at the surface.
    let hycom = folder(&[0.0, 2.0, 8.0], down());
    let output = burntrace(hycom.path(), &["run", "case.toml"]);
    let said = text(&output.stderr);
    assert!(output.status.success() && !said.contains("up to the surface"), "{said}");
    assert_eq!(summary(hycom.path(), "out")["status"]["active"], 4);
    // A first level too far below, and heights in the air.
    let up = json!({ "units": "m", "positive": "up", "standard_name": "height" });
    for (levels, vertical) in [(&[10.0, 12.0, 14.0], down()), (&[2.0, 10.0, 100.0], up)] {
        let other = folder(levels, vertical);
        assert_eq!(seeds(other.path(), &[])["not located"], 4, "{levels:?}");
    }
}

#[test]
fn conversions_are_notes_and_assumptions_warnings() {
    let folder = folder(&CMEMS, down());
    let path = folder.path();
    let said = |out: &str| {
        let output = burntrace(path, &["run", "case.toml", "--out", out]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        (text(&output.stderr), summary(path, out)["warnings"].to_string())
    };
    let (shown, warnings) = said("out");
    for note in [
        "note       field.files: `level` is positive downward: z = -level\n",
        "note       field.files: from z = -0.5 up to the surface z = 0 the velocity is that at -0.5\n",
    ] {
        assert!(shown.contains(note), "{shown}");
    }
    assert_eq!(warnings, "[]");
    write_sea(&path.join("sea.zarr"), &CMEMS, json!({ "units": "m", "standard_name": "depth" }));
    let (_, warnings) = said("assumed");
    assert!(warnings.contains("taken as positive downward"), "{warnings}");
    let info = text(&burntrace(path, &["info", "sea.zarr"]).stdout);
    assert!(info.contains("up to the surface z = 0"), "{info}");
}

#[test]
fn a_mask_is_the_land_of_a_run() {
    let folder = folder(&CMEMS, down());
    let path = folder.path();
    std::fs::create_dir(path.join("static.zarr")).unwrap();
    for name in ["lon", "lat", "mask"] {
        std::fs::rename(path.join("sea.zarr").join(name), path.join("static.zarr").join(name))
            .unwrap();
    }
    write_sea(&path.join("sea.zarr"), &CMEMS, down());
    std::fs::write(path.join("static.zarr/.zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let points = "seeds.points=[[-7.3, 41.5, 0.0], [-7.3, 41.5, -7.9], [-6.5, 41.5, 0.0]]";
    let mask = "field.mask={ array = \"mask\", files = \"static.zarr\" }";
    let (_, none) = run(path, "none", &[points]);
    assert_eq!((&none["active"], &none["beached"]), (&3.into(), &Value::Null), "{none}");
    let (end, status) = run(path, "own", &[points, "field.mask=mask", "field.slip=free"]);
    assert_eq!((&status["beached"], &status["not located"]), (&1.into(), &1.into()), "{status}");
    assert!((end[0][0] + 7.25).abs() < 1e-9, "{end:?}");
    run(path, "out", &[points, mask, "field.slip=free"]);
    assert_same(path, ["own", "out"]);
    assert!(path.join("out/land.json").exists());
    // The mask belongs to the data of the run.
    write_mask(&path.join("static.zarr"), 7);
    let extend = ["run", "--extend", "out", "--out", "longer", "--set", "trace.t1=172900"];
    assert_refused(&burntrace(path, &extend), 2, &["static.zarr", "changed"]);
    for (set, parts) in [
        ("field.not_finite=\"zero\"", ["field.mask is for land", "omit it"]),
        (
            "field.interpolation=\"nearest\"",
            ["field.mask needs interpolation = \"grid\"", "omit it"],
        ),
        ("field.mask=land", ["`land`", "`mask`"]),
        ("field.mask={ array = \"mask\" }", ["field.mask", "static.nc"]),
    ] {
        let args = ["run", "case.toml", "--set", mask, "--set", set, "--out", "refused"];
        assert_refused(&burntrace(path, &args), 2, &parts);
    }
}
