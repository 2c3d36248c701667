//! `field.crop = "auto"`: the part of a grid that the particles reach has the tracks of the whole grid.

use super::earth::script;
use super::program::{assert_refused, burntrace, text};
use super::requirements;
use super::resume::{succeed, summary};
use burntrace::io::Tracks;
use std::path::Path;

/// Nodes of the flat grid, at distances of 1.
const NODES: [usize; 3] = [41, 41, 9];

/// Rounding of coordinates up to 40 in single precision, and of a few steps.
const ROUNDING: f64 = 2e-5;

const CASE: &str = "[field]\nfiles = \"u_*.vti\"\nfile_dt = 1.0\n\
    [seeds]\nkind = \"grid\"\ncounts = [6, 6, 2]\nlow = [17.0, 18.0, 3.5]\nhigh = [19.0, 20.0, 4.5]\n\
    outside = \"not-located\"\n\
    [trace]\nt0 = 0.25\nt1 = 3.5\ndt = 0.125\n[save]\nevery = 1\nvtk = []\nreport = \"never\"\n\
    [run]\ndevice = \"flex\"\nkeep_state = false\n";

/// Five frames of eddies that change, with land in the middle if it is asked for.
fn write_frames(folder: &Path, has_land: bool) {
    let [nx, ny, nz] = NODES.map(|n| n - 1);
    for frame in 0..5 {
        let mut values = String::new();
        for node in 0..NODES.iter().product() {
            let [i, j] = [node % NODES[0], node / NODES[0] % NODES[1]];
            let (x, y, t) = (i as f64, j as f64, f64::from(frame));
            let (u, v) = ((0.7 * y + t).sin() + 0.5, (0.9 * x - t).cos());
            let is_land = has_land && (20..23).contains(&i) && (18..21).contains(&j);
            let [u, v] = if is_land { [f64::NAN; 2] } else { [u, v] };
            values += &format!("{u} {v} {} ", 0.05 * (x + y).sin());
        }
        let text = format!(
            "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\"><ImageData WholeExtent=\"0 {nx} 0 {ny} \
             0 {nz}\" Origin=\"0 0 0\" Spacing=\"1 1 1\"><Piece Extent=\"0 {nx} 0 {ny} 0 {nz}\"><PointData><DataArray \
             type=\"Float64\" Name=\"U\" NumberOfComponents=\"3\" format=\"ascii\">{values}</DataArray></PointData></Piece>\
             </ImageData></VTKFile>"
        );
        std::fs::write(folder.join(format!("u_{frame}.vti")), text).unwrap();
    }
}

/// Runs the case of a folder with the whole grid and with the part that is reached, and compares their tracks. Their bits are
/// equal but for what depends on the domain: the origin of positions, and the distance at which particles are kept off land.
/// Returns the numbers of nodes of the part.
fn compare(folder: &Path, settings: &[&str], slack: f64) -> [u64; 3] {
    let run = |out: &str, crop: Option<&str>| {
        let mut args = vec!["run", "case.toml", "--quiet", "--overwrite", "--out", out];
        settings.iter().copied().chain(crop).for_each(|set| args.extend(["--set", set]));
        succeed(folder, &args);
        let tracks = Tracks::open(folder.join(out).join("tracks")).unwrap();
        let save = |k| (tracks.position(k).unwrap(), tracks.status(k).unwrap());
        let saves: Vec<_> = (0..tracks.num_saves()).map(save).collect();
        (saves, summary(folder, out))
    };
    let (whole, _) = run("whole", None);
    let (part, summary) = run("part", Some("field.crop=auto"));
    assert!(whole.len() > 2 && whole[0] != whole[whole.len() - 1], "{settings:?}");
    for (save, ((whole, status), (part, other))) in whole.iter().zip(&part).enumerate() {
        let is_same = |(a, b): (&f64, &f64)| (a - b).abs() <= slack || a.to_bits() == b.to_bits();
        let mut pairs = whole.as_flattened().iter().zip(part.as_flattened());
        assert!(status == other && pairs.all(is_same), "{settings:?}: save {save} differs");
    }
    let nodes = &summary["field"]["nodes"];
    [0, 1, 2].map(|d| nodes[d].as_u64().unwrap())
}

#[test]
fn what_particles_reach_has_the_tracks_of_the_whole_grid() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("case.toml"), CASE).unwrap();
    let land = "field.not_finite=land";
    let cases: [(f64, &[&str]); 9] = [
        (0.0, &[]),
        (0.0, &["trace.dt=-0.125", "trace.t0=3.75", "trace.t1=0.5"]),
        (0.0, &["trace.scheme=dormand-prince"]),
        (0.0, &["trace.drift=[-0.5, 0.25, 0.0]", "run.strategy=streamed-frames"]),
        (0.0, &["obstacle={ kind = \"sphere\", centre = [20.5, 19, 4], radius = 1 }"]),
        (0.0, &["seeds.release=2.0", "field.every=[2, 1, 1]"]),
        (
            ROUNDING,
            &["field.outside_time=periodic", "field.period=5.0", "trace.t0=4.0", "trace.t1=6.0"],
        ),
        (ROUNDING, &[land]),
        (ROUNDING, &[land, "boundary.coast=reflect", "field.slip=free"]),
    ];
    for (slack, settings) in cases {
        write_frames(folder.path(), settings.contains(&land));
        let [nx, ny, nz] = compare(folder.path(), settings, slack);
        assert!(nx < 41 && ny < 40 && nz <= 9, "{settings:?}: {nx} x {ny} x {nz}");
    }
    // Particles that come everywhere, and seeds without a box.
    let far = ["seeds.low=[2.0, 2.0, 3.5]", "seeds.high=[38.0, 38.0, 4.5]"];
    let far = [&far[..], &[land]].concat();
    let [nx, ny, _] = compare(folder.path(), &far, ROUNDING);
    assert!(nx >= 40 && ny == 41, "{nx} x {ny}");
    write_frames(folder.path(), false);
    let settings = ["boundary.x=periodic", "field.periodic_axes=[\"x\"]", "trace.t1=1.0"];
    assert_eq!(compare(folder.path(), &settings, ROUNDING)[0], 42);
}

#[test]
fn a_slow_flow_is_read_near_the_seeds_and_the_part_is_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("case.toml"), CASE).unwrap();
    write_frames(folder.path(), false);
    let run = ["case.toml", "--set", "trace.t1=0.5", "--set", "field.crop=auto"];
    let output = burntrace(folder.path(), &[&["run"][..], &run].concat());
    let said = text(&output.stderr);
    assert!(said.contains("auto: ") && said.contains("of 41 x 41 x 9 nodes"), "{said}");
    let nodes = summary(folder.path(), "results/run")["field"]["nodes"].clone();
    assert_eq!(nodes, serde_json::json!([9, 9, 7]), "{said}");
    let plan = burntrace(folder.path(), &[&["plan"][..], &run].concat());
    assert!(text(&plan.stderr).contains("auto: "), "{}", text(&plan.stderr));
}

#[test]
fn what_has_no_reach_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("case.toml"), CASE).unwrap();
    write_frames(path, false);
    let refused = |sets: &[&str], parts: &[&str]| {
        let mut args = vec!["run", "case.toml", "--set", "field.crop=auto"];
        sets.iter().for_each(|set| args.extend(["--set", set]));
        assert_refused(&burntrace(path, &args), 2, parts);
    };
    refused(&["walk.diffusivity=0.1"], &["field.crop is \"auto\"", "random walk", "give a box"]);
    let inlet = "inlet={ kind = \"face\", face = \"x-low\" }";
    refused(&[inlet, "boundary.y=outlet"], &["inlets and sources", "give a box"]);
    refused(&["field.interpolation=nearest"], &["field.crop", "interpolation = \"grid\""]);
    refused(&["field.crop=all"], &["field.crop", "\"auto\"", "low = [x, y, z]"]);
    refused(&["field.crop={ lo = [0, 0, 0] }"], &["crop", "lo"]);
    refused(&["seeds={ kind = \"mesh\", count = 2 }"], &["not on one"]);
    let run =
        ["run", "case.toml", "--quiet", "--set", "field.crop=auto", "--set", "run.keep_state=true"];
    succeed(path, &[&run[..], &["--out", "out"]].concat());
    let extend = ["run", "--extend", "out", "--out", "more", "--set", "trace.t1=3.75"];
    assert_refused(&burntrace(path, &extend), 2, &["field.crop is \"auto\"", "the end of the run"]);
}

const OCEAN: &str = "[field]\nfiles = \"currents.nc\"\n\
    [seeds]\nkind = \"uniform\"\ncount = 60\nlow = [42.0, 31.0, 12.0]\nhigh = [46.0, 35.0, 20.0]\noutside = \"not-located\"\n\
    [trace]\nt0 = 7200.0\nt1 = 302400.0\ndt = 1800.0\n[save]\nevery_time = 43200.0\nvtk = []\nreport = \"never\"\n\
    [run]\ndevice = \"flex\"\nkeep_state = false\n";

#[test]
fn what_particles_reach_on_the_globe_has_its_tracks() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    script(&python, folder.path(), &["currents", "currents.nc"]);
    std::fs::write(folder.path().join("case.toml"), OCEAN).unwrap();
    // Across the seam, where the file begins, and at its last latitude, all longitudes are read.
    let cases: [(bool, &[&str]); 5] = [
        (false, &[]),
        (false, &["trace.dt=-1800", "trace.t0=302400", "trace.t1=7200"]),
        (true, &["seeds.low=[-1.0, 31.0, 12.0]", "seeds.high=[1.0, 35.0, 20.0]"]),
        (true, &["seeds.low=[359.0, 31.0, 12.0]", "seeds.high=[359.5, 35.0, 20.0]"]),
        (true, &["seeds.low=[42.0, 70.0, 12.0]", "seeds.high=[46.0, 78.0, 20.0]"]),
    ];
    for (is_around, settings) in cases {
        let slack = if settings.is_empty() { 5e-4 } else { 0.0 };
        let [nx, ny, nz] = compare(folder.path(), settings, slack);
        assert!(ny < 20 && nz < 9, "{settings:?}: {ny} x {nz}");
        assert!(if is_around { nx == 181 } else { nx < 20 }, "{settings:?}: {nx}");
    }
}
