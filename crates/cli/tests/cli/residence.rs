//! `burntrace residence`.

use super::earth::script;
use super::program::{assert_refused, burntrace, text};
use super::requirements;
use super::resume::{SERIES, folder_with, frame, succeed};
use burntrace::{ParticleInstance, Status, io::Tracks};
use serde_json::Value;
use std::path::Path;

/// A velocity of 1 along x, from 0 to 4, for 10.5 units of time.
const PLUG: &str = "[field]\nflow = \"uniform\"\nsample = { nodes = [5, 3, 3] }\n\
    [domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [4.0, 1.0, 1.0]\n\
    [trace]\nt0 = 0.0\nt1 = 10.5\ndt = 0.125\n[save]\nevery_time = 0.75\n[units]\ntime = \"h\"\n\
    [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n";
const DISC: &str =
    "kind = \"disc\", centre = [0.0, 0.5, 0.5], normal = [1.0, 0.0, 0.0], radius = 0.3";
/// A seed and a particle for each 0.7 units of time, in slots that are used up to three times.
const SOURCE: &str = "[boundary]\nx = [\"clamp\", \"exit\"]\n\
    [seeds]\nkind = \"list\"\npoints = [[0.5, 0.5, 0.5]]\nrelease = 1.0\n[[source]]\nrate = 1.4285714285714286\ncapacity = 6\n";

fn run(folder: &Path, sections: &str, sets: &[&str]) {
    std::fs::write(folder.join("case.toml"), [PLUG, sections].concat()).unwrap();
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let args: Vec<&str> =
        ["run", "case.toml", "--overwrite", "--quiet"].into_iter().chain(sets).collect();
    succeed(folder, &args);
}

/// The document of the command, and the values of an array of its image data.
fn residence(folder: &Path, args: &[&str]) -> Value {
    let output = burntrace(folder, &[&["residence"], args, &["--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn array(folder: &Path, name: &str) -> Vec<f64> {
    let file = burntrace_vtk::open(folder.join("residence/residence.vti")).unwrap();
    let found = file.arrays().iter().find(|array| array.name == name);
    match file.read(found.unwrap()).unwrap().values {
        burntrace_vtk::Values::F64(values) => values,
        _ => panic!("{name} is not f64"),
    }
}

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("{key} in {of}"))
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance || a.is_nan() && b.is_nan(), "{k}: {a}, not {b}");
    }
}

/// Residence times in voxels of the length 1 of the particles of the plug flow, up to the last save.
fn expected(instances: &[ParticleInstance], last: f64) -> [[f64; 4]; 2] {
    let mut expected = [[0.0; 4]; 2];
    for of in instances {
        let age = (if of.status == Status::Active { last } else { of.end_time }) - of.release_time;
        let first = of.release_position[0];
        for (k, [time, particles]) in
            (0..4).map(|k| (k, expected.each_ref().map(|of| of[k]))).collect::<Vec<_>>()
        {
            let inside = |x: f64| x.clamp(k as f64, k as f64 + 1.0);
            let stay = inside(first + age) - inside(first);
            let is_there = stay > 0.0 || (first == 0.0 && k == 0);
            expected[0][k] = time + stay;
            expected[1][k] = particles + f64::from(u8::from(is_there));
        }
    }
    expected
}

/// With all particles at a save, and with many between two saves.
#[test]
fn times_in_reused_slots_are_those_of_all_instances() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for interval in ["save.every_time=0.75", "save.every_time=6.0"] {
        run(path, &format!("{SOURCE}inlet = {{ {DISC} }}\n"), &[interval]);
        let found = residence(path, &["out", "--cells", "4x1x1"]);
        let out = path.join("out");
        let tracks = Tracks::open(out.join("tracks")).unwrap();
        let instances: Vec<ParticleInstance> =
            tracks.instances().unwrap().map(Result::unwrap).collect();
        let reused = instances.iter().filter(|of| of.generation > 0).count();
        let last = *tracks.times().last().unwrap();
        assert!(reused >= 6 && last == 10.5, "{reused}, {last}");
        let [times, particles] = expected(&instances, last);
        let names =
            ["residence_time", "particles", "visits", "first_passage", "mean_first_passage"];
        let [time, visitors, visits, first, mean] = names.map(|name| array(&out, name));
        assert_close(&time, &times, 1e-9);
        assert_close(&visitors, &particles, 0.0);
        assert_close(&visits, &particles, 0.0);
        // The seed is released in the middle of the first voxel.
        assert_close(&first, &[0.0, 0.5, 1.5, 2.5], 1e-9);
        let expected = [0, 1, 2, 3].map(|k| match k {
            0 => 0.0,
            k => f64::from(k) - 0.5 / particles[k as usize],
        });
        assert_close(&mean, &expected, 1e-9);
        let per_particle: Vec<f64> = times.iter().zip(particles).map(|(t, n)| t / n).collect();
        assert_close(&array(&out, "mean_residence_time"), &per_particle, 1e-9);
        let lifetimes: f64 = times.iter().sum();
        assert!((number(&found, "time_inside") - lifetimes).abs() < 1e-9, "{found}");
        assert!(number(&found, "time_outside").abs() < 1e-9, "{found}");
        assert_eq!(found["particles"], instances.len());
        // A part of the domain: the rest is outside.
        let args = ["out", "--cells", "2,1,1", "--low", "1,0,0", "--high", "3,1,1"];
        let part = residence(path, &args);
        assert_close(&array(&out, "residence_time"), &times[1..3], 1e-9);
        assert!((number(&part, "time_outside") - times[0] - times[3]).abs() < 1e-9, "{part}");
    }
}

#[test]
fn the_table_lists_the_voxels_with_the_longest_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    run(path, &format!("{SOURCE}inlet = {{ {DISC} }}\n"), &[]);
    let found = residence(path, &["out", "--cells", "4x1x1"]);
    assert_eq!((&found["visited"], &found["counts"]), (&4.into(), &serde_json::json!([4, 1, 1])));
    let times: Vec<f64> =
        found["longest"].as_array().unwrap().iter().map(|of| number(of, "time")).collect();
    assert!(times.len() == 4 && times.is_sorted_by(|a, b| a >= b), "{times:?}");
    assert_eq!(found["longest"][0]["centre"], serde_json::json!([0.5, 0.5, 0.5]));
    assert!(!found["notes"].to_string().contains("too far apart"), "{}", found["notes"]);
    let shown = burntrace(path, &["residence", "out", "--cells", "4x1x1"]);
    let (shown, notes) = (text(&shown.stdout), text(&shown.stderr));
    assert!(shown.starts_with("Centre (x, y, z)") && shown.contains("\n0.5, 0.5, 0.5 "), "{shown}");
    assert!(shown.contains("times in h\n4 of 4 voxels (4 x 1 x 1) were visited"), "{shown}");
    assert!(notes.contains("between saves particles move straight"), "{notes}");
}

/// Particles that go around twice, and positions that are saved in the box.
#[test]
fn legs_go_on_beyond_periodic_faces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let sections = "[boundary]\nx = \"periodic\"\n[seeds]\nkind = \"list\"\npoints = [[0.25, 0.5, 0.5], [3.25, 0.5, 0.5]]\n";
    run(path, sections, &["trace.t1=8.0", "save.every_time=1.6"]);
    let found = residence(path, &["out", "--cells", "4,2,1"]);
    let rows = |low: f64, high: f64| [[low; 4], [high; 4]].concat();
    assert_close(&array(&path.join("out"), "residence_time"), &rows(0.0, 4.0), 1e-9);
    let visits = [0.0, 0.0, 0.0, 0.0, 5.0, 4.0, 4.0, 5.0];
    assert_close(&array(&path.join("out"), "visits"), &visits, 0.0);
    let first = array(&path.join("out"), "first_passage");
    assert_close(&first, &[f64::NAN, f64::NAN, f64::NAN, f64::NAN, 0.0, 0.75, 1.75, 0.0], 1e-9);
    assert_eq!((number(&found, "time_outside"), &found["median_voxels_per_leg"]), (0.0, &3.into()));
    // A box across the periodic face.
    let part = residence(path, &["out", "--cells", "2,1,1", "--low", "3,0,0", "--high", "5,1,1"]);
    assert_close(&array(&path.join("out"), "residence_time"), &[4.0, 4.0], 1e-9);
    assert!((number(&part, "time_outside") - 8.0).abs() < 1e-9, "{part}");
    let far = residence(path, &["out", "--cells", "64,1,1"]);
    assert!(far["notes"].to_string().contains("the saves are too far apart"), "{far}");
    assert!(far["notes"].to_string().contains("pass through 2"), "{far}");
}

#[test]
fn files_and_pictures_are_made_for_all_dimensions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let seeds = "[seeds]\nkind = \"uniform\"\ncount = 50\nseed = 1\n";
    for (nodes, high, counts, cells) in [
        ("[5, 3, 3]", "[4.0, 1.0, 1.0]", [64, 16, 16], [65, 17, 17]),
        ("[5, 3, 1]", "[4.0, 2.0, 0.0]", [64, 32, 1], [65, 33, 1]),
        ("[5, 1, 1]", "[4.0, 0.0, 0.0]", [64, 1, 1], [65, 1, 1]),
    ] {
        let sets = [format!("field.sample.nodes={nodes}"), format!("domain.high={high}")];
        run(path, seeds, &sets.each_ref().map(String::as_str));
        let found = residence(path, &["out"]);
        assert_eq!(found["counts"], serde_json::json!(counts));
        let file = burntrace_vtk::open(path.join("out/residence/residence.vti")).unwrap();
        assert_eq!(file.coordinates().unwrap().map(|axis| axis.len()), cells);
        for file in ["residence_time.png", "visits.png"] {
            assert!(path.join("out/residence").join(file).exists(), "{file}");
        }
    }
}

/// Longitudes beyond 180 degrees, and those of the same run that are saved in the domain.
#[test]
fn particles_go_around_the_earth() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    script(&python, path, &["globe", "globe.nc"]);
    let case = "[field]\nfiles = \"globe.nc\"\noutside_time = \"hold\"\n\
        [seeds]\nkind = \"grid\"\ncounts = [5, 3, 1]\nlow = [-180.0, -60.0, 0.0]\nhigh = [180.0, 60.0, 0.0]\n\
        [trace]\ndt = \"1 h\"\nt1 = \"10 d\"\n[save]\nevery_time = \"6 h\"\n[run]\ndevice = \"flex\"\nout = \"out\"\n";
    std::fs::write(path.join("case.toml"), case).unwrap();
    succeed(path, &["run", "case.toml", "--quiet"]);
    let set = "save.longitude=continuous";
    succeed(path, &["run", "case.toml", "--quiet", "--out", "continuous", "--set", set]);
    let all = ["out", "continuous"].map(|out| residence(path, &[out, "--cells", "36x18"]));
    let times = ["out", "continuous"].map(|out| array(&path.join(out), "residence_time"));
    assert_close(&times[0], &times[1], 1.0);
    let [found, _] = &all;
    let total = number(found, "particles") * 10.0 * 86400.0;
    assert!((number(found, "time_inside") / total - 1.0).abs() < 1e-9, "{found}");
    assert!(number(found, "visited") > 100.0, "{found}");
    assert!(found["notes"].to_string().contains("straight in longitude and latitude"), "{found}");
    // A box across the seam has what both sides of it have.
    let box_of =
        |args: &[&str]| number(&residence(path, &[&["out"], args].concat()), "time_inside");
    let sides = [("160,-90,0", "180,90,0"), ("-180,-90,0", "-170,90,0"), ("160,-90,0", "190,90,0")];
    let [east, west, both] = sides.map(|(low, high)| {
        box_of(&["--cells", "4,3", &format!("--low={low}"), &format!("--high={high}")])
    });
    assert!(east > 0.0 && west > 0.0 && (both / (east + west) - 1.0).abs() < 1e-9, "{both}");
}

#[test]
fn unfinished_runs_count_up_to_their_last_save() {
    let case = SERIES.replace("count = 5000", "count = 100");
    let folder = folder_with(&case);
    let path = folder.path();
    (0..40).for_each(|number| drop(frame(path, number, None)));
    frame(path, 30, Some("nan"));
    assert_refused(&burntrace(path, &["run", "case.toml", "--quiet"]), 1, &["--resume out"]);
    let found = residence(path, &["out", "--cells", "8"]);
    let tracks = Tracks::open_partial(path.join("out/tracks")).unwrap();
    let [first, .., last] = tracks.times() else { panic!("{:?}", tracks.times()) };
    let total = number(&found, "time_inside");
    assert!((total - 100.0 * (last - first)).abs() < 1e-6, "{total}");
    let notes = found["notes"].to_string();
    assert!(
        notes.contains("the releases of 100 particles are not known")
            && notes.contains("was stopped"),
        "{notes}"
    );
}

#[test]
fn voxels_that_cannot_be_used_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    run(
        path,
        "[seeds]\nkind = \"uniform\"\ncount = 5\nseed = 1\n",
        &["domain.high=[4.0, 1.0, 0.0]", "field.sample.nodes=[5, 3, 1]"],
    );
    for (args, parts) in [
        ("--cells 0", &["along x is 0; give 1 or more"][..]),
        ("--cells 40x0", &["along y is 0"]),
        ("--cells 40000x40000", &["40000 x 40000 x 1 voxels", "at most 268435456"]),
        ("--cells 9223372036854775807", &["voxels; give at most"]),
        ("--cells 4x4x4", &["--cells gives 4 along z", "flat there; give 1"]),
        ("--cells 4x4x1x1", &["--cells has 4 numbers", "2 axes"]),
        ("--cells four", &["give a whole number"]),
        ("--low 5,0,0 --high 6,1,0", &["from 5 to 6 along x", "domain of the run from 0 to 4"]),
        ("--low 0,-3,0 --high 4,0,0", &["from -3 to 0 along y", "from 0 to 1"]),
        ("--low 3,0,0 --high 1,1,0", &["from 3 to 1 along x", "the lower one first"]),
        ("--low nan,0,0", &["along x", "finite"]),
        ("--low 1,0", &["--low has 2 numbers; give three"]),
    ] {
        let args: Vec<&str> = ["residence", "out"].into_iter().chain(args.split(' ')).collect();
        assert_refused(&burntrace(path, &args), 2, parts);
    }
    run(
        path,
        "[seeds]\nkind = \"list\"\npoints = [[9.0, 0.5, 0.5]]\noutside = \"not-located\"\n",
        &[],
    );
    assert_refused(&burntrace(path, &["residence", "out"]), 2, &["no particle", "was released"]);
}
