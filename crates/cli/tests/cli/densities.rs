//! Densities of runs with land, bodies and meshes.

use super::meshes::Mesh;
use super::program::{burntrace, text};
use super::resume::succeed;
use super::sea;
use burntrace::io::{Image, Tracks};
use serde_json::Value;
use std::path::Path;

/// The description of a density at the last save, and its values at nodes.
fn density(folder: &Path, more: &[&str]) -> (Value, Image) {
    let args = [&["density", "out", "--json"], more].concat();
    let output = burntrace(folder, &args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    let described: Value = serde_json::from_slice(&output.stdout).unwrap();
    let tracks = Tracks::open(folder.join("out/tracks")).unwrap();
    (described[0].clone(), tracks.density(tracks.num_saves() - 1).unwrap())
}

/// Asserts that a density is 1 in all, and that it has values at the nodes that are inside and at no others.
fn assert_inside((described, image): &(Value, Image), is_inside: impl Fn([f64; 3]) -> bool) {
    let integral = described["integral"].as_f64().unwrap();
    assert!((integral - 1.0).abs() < 1e-9, "{integral}");
    let [nx, ny, _] = image.counts;
    let (mut inside, values) = (0, &image.arrays[0].1);
    for (i, value) in values.iter().enumerate() {
        let index = [i % nx, i / nx % ny, i / nx / ny];
        let at = std::array::from_fn(|d| image.origin[d] + index[d] as f64 * image.spacing[d]);
        assert_eq!(value.is_nan(), !is_inside(at), "{at:?}: {value}");
        inside += usize::from(!value.is_nan());
    }
    assert!(inside > 0 && inside < values.len());
}

fn notes(described: &Value) -> String {
    described["notes"].to_string()
}

/// A stream past a cylinder at whose side particles slide.
fn stream(folder: &Path, low: &str, nodes: &str) {
    let case = format!(
        "[field]\nflow = \"uniform\"\nsample = {{ nodes = {nodes} }}\n\
         [domain]\nlow = [0.0, 0.0, {low}]\nhigh = [4.0, 2.0, 0.0]\n\
         [[obstacle]]\nkind = \"cylinder\"\nbase = [2.0, 1.0, 0.0]\naxis = [0.0, 0.0, 1.0]\nradius = 0.505\n\
         capped = false\nsurface = \"slide\"\n\
         [trace]\nt0 = 0.0\nt1 = 1.0\ndt = 0.125\n\
         [seeds]\nkind = \"uniform\"\ncount = 400\nlow = [0.2, 0.2, {low}]\nhigh = [1.2, 1.8, 0.0]\n\
         [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n"
    );
    std::fs::write(folder.join("case.toml"), case).unwrap();
    succeed(folder, &["run", "case.toml", "--quiet"]);
}

#[test]
fn densities_stop_at_bodies() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    stream(path, "0.0", "[5, 3, 1]");
    let is_inside = |[x, y, _]: [f64; 3]| (x - 2.0).hypot(y - 1.0) > 0.505;
    let found = density(path, &["--nodes", "81x41"]);
    assert_inside(&found, is_inside);
    assert_eq!(found.0["rule"], "spacing");
    let scott = density(path, &["--nodes", "81x41", "--bandwidth", "scott"]);
    assert_inside(&scott, is_inside);
    assert_eq!(scott.0["rule"], "scott");
    let clouds = density(path, &["--method", "cloud-in-cell", "--nodes", "81x41"]);
    assert_eq!(clouds.0["integral"].as_f64().unwrap().round(), 400.0);
    assert_eq!(notes(&clouds.0), "[]");
    for kernels in [&["--method", "sph", "--bandwidth", "0.3"][..], &["--bandwidth", "covariance"]]
    {
        let found = density(path, &[&["--nodes", "81x41"], kernels].concat());
        assert!(notes(&found.0).contains("walls do not change kernels of"), "{}", found.0);
        assert!(found.1.arrays[0].1.iter().any(|value| value.is_nan()));
    }
    // The picture says what rule it is by.
    succeed(path, &["render", "out", "--quiet", "--svg"]);
    let picture = std::fs::read_to_string(path.join("out/pictures/density.svg")).unwrap();
    assert!(picture.contains("by spacing") && picture.contains("No value"));
}

#[test]
fn densities_stop_at_bodies_in_space() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    stream(path, "-1.0", "[5, 3, 3]");
    let is_inside = |[x, y, _]: [f64; 3]| (x - 2.0).hypot(y - 1.0) > 0.505;
    assert_inside(&density(path, &["--nodes", "41x21x11", "--no-pictures"]), is_inside);
    let (described, slice) = density(path, &["--slice", "z=-0.5", "--no-pictures"]);
    assert!(slice.arrays[0].1.iter().any(|value| value.is_nan()), "{described}");
    // The body is at all heights.
    assert_inside(
        &density(path, &["--axes", "xy", "--nodes", "41x21", "--no-pictures"]),
        is_inside,
    );
    let (described, image) = density(path, &["--axes", "x", "--no-pictures"]);
    let notes = notes(&described);
    assert!(notes.contains("projected along y and z, and does not take bodies"), "{notes}");
    assert!(image.arrays[0].1.iter().all(|value| value.is_finite()));
}

/// Runs 300 particles in a channel around the corner of a missing cube.
fn run_in_a_channel(path: &Path, settings: &[&str]) {
    let mesh = Mesh::cubes([3, 3, 1], |[i, j, _]| i == 0 || j == 2);
    std::fs::write(path.join("mesh.vtk"), mesh.file("POINT_DATA", |_| [0.0; 3])).unwrap();
    let case = "[field]\nfiles = \"mesh.vtk\"\ninterpolation = \"mesh\"\n[boundary]\nmesh = \"slide\"\n\
        [seeds]\nkind = \"mesh\"\ncount = 300\n[trace]\nt0 = 0.0\nt1 = 1.0\ndt = 0.5\n\
        [run]\ndevice = \"flex\"\nout = \"out\"\n";
    std::fs::write(path.join("case.toml"), case).unwrap();
    let settings = settings.iter().flat_map(|setting| ["--set", *setting]);
    let args: Vec<&str> = ["run", "case.toml", "--quiet"].into_iter().chain(settings).collect();
    succeed(path, &args);
}

#[test]
fn densities_stop_at_the_boundary_of_a_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    run_in_a_channel(path, &["run.precision=f64"]);
    let is_inside = |[x, y, _]: [f64; 3]| x < 1.0 + 1e-9 || y > 2.0 - 1e-9;
    let args = ["--nodes", "31x31x11", "--no-pictures"];
    assert_inside(&density(path, &args), is_inside);
    std::fs::remove_file(path.join("mesh.vtk")).unwrap();
    let (described, image) = density(path, &args);
    let notes = notes(&described);
    assert!(notes.contains("does not take the boundary of the mesh into account"), "{notes}");
    assert!(image.arrays[0].1.iter().all(|value| value.is_finite()));
}

#[test]
fn a_report_of_a_run_on_a_mesh_is_the_same_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    run_in_a_channel(path, &["run.precision=f32", "save.report=always"]);
    let files = ["report.json", "pictures/density.png", "pictures/tracks.png"];
    let read = || files.map(|name| std::fs::read(path.join("out").join(name)).unwrap());
    // The run hands its mesh over; later it is read from its file.
    let of_run = read();
    succeed(path, &["report", "out"]);
    assert!(read() == of_run);
}

#[test]
fn densities_stop_at_land() {
    let folder = sea::folder(&sea::CMEMS, sea::down());
    let path = folder.path();
    let points = "seeds.points=[[-7.5, 41.4, 0.0], [-7.45, 41.5, 0.0], [-7.6, 41.6, 0.0]]";
    let mask = "field.mask=\"mask\"";
    succeed(path, &["run", "case.toml", "--quiet", "--set", points, "--set", mask]);
    let at = ["--save", "0", "--bandwidth", "20000", "--nodes", "78x61", "--no-pictures"];
    let output = burntrace(path, &[&["density", "out", "--json"], &at[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let described: Value = serde_json::from_slice(&output.stdout).unwrap();
    let image = Tracks::open(path.join("out/tracks")).unwrap().density(0).unwrap();
    // Land is around nodes from 7°W on, so that the coast is at 7.25°W.
    assert_inside(&(described[0].clone(), image), |[x, ..]| x < -7.25);
}
