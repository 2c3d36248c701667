//! Random walks, drift and adaptive steps on the command line.

use super::earth::script;
use super::program::{assert_refused, burntrace, text};
use super::requirements;
use burntrace::io::Tracks;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// A velocity of 1 along x for 2 units of time, in a large domain.
const PLUG: &str = "[field]\nflow = \"uniform\"\nsample = { nodes = [2, 2, 2] }\n\
    [domain]\nlow = [-1e3, -1e3, -1e3]\nhigh = [1e3, 1e3, 1e3]\n\
    [trace]\nt0 = 0.0\nt1 = 2.0\ndt = 0.125\n";
const MANY: &str = "[seeds]\nkind = \"gaussian\"\ncount = 2000\ncentre = [0.0, 0.0, 0.0]\n\
    deviation = [0.0, 0.0, 0.0]\n";
const RUN: &str = "[run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n";

fn run(folder: &Path, sections: &[&str]) -> Output {
    std::fs::write(folder.join("case.toml"), [sections, &[RUN]].concat().concat()).unwrap();
    burntrace(folder, &["run", "case.toml", "--overwrite"])
}

/// The final positions of a successful run, its summary and its standard output.
fn ends(folder: &Path, sections: &[&str]) -> (Vec<[f64; 3]>, Value, String) {
    let output = run(folder, sections);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let tracks = Tracks::open(folder.join("out/tracks")).unwrap();
    let ends = tracks.position(tracks.times().len() - 1).unwrap().to_vec();
    let summary = std::fs::read_to_string(folder.join("out/summary.json")).unwrap();
    (ends, serde_json::from_str(&summary).unwrap(), text(&output.stdout))
}

/// Asserts that the sample variance of positions along an axis is within 5 sigma of a variance.
fn assert_spread(ends: &[[f64; 3]], axis: usize, variance: f64) {
    let n = ends.len() as f64;
    let mean = ends.iter().map(|x| x[axis]).sum::<f64>() / n;
    let found = ends.iter().map(|x| (x[axis] - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let slack = 5.0 * variance * (2.0 / (n - 1.0)).sqrt();
    assert!((found - variance).abs() <= slack, "axis {axis}: {found}, not {variance}");
}

/// Writes a file of 3 x 2 x 2 nodes over the domain with zero velocity and the diffusivity `K`.
fn file(folder: &Path, on: &str, diffusivity: f64) {
    let array = |name: &str, components: usize, values: String| {
        format!(
            "<DataArray type=\"Float64\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"ascii\">{values}</DataArray>"
        )
    };
    let count = if on == "PointData" { 12 } else { 2 };
    let velocity = array("U", 3, "0 0 0 ".repeat(count));
    let diffusivity = array("K", 1, format!("{diffusivity} ").repeat(count));
    let text = format!(
        "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\"><ImageData \
         WholeExtent=\"0 2 0 1 0 1\" Origin=\"-1000 -1000 -1000\" Spacing=\"1000 2000 2000\">\
         <Piece Extent=\"0 2 0 1 0 1\"><{on}>{velocity}{diffusivity}</{on}></Piece></ImageData>\
         </VTKFile>"
    );
    std::fs::write(folder.join("u.vti"), text).unwrap();
}

const FILE: &str = "[field]\nfiles = \"u.vti\"\ndiffusivity = \"K\"\n\
    [trace]\nt1 = 2.0\nsteps = 20\n";

#[test]
fn random_walk_has_the_variance_of_its_diffusivity() {
    let folder = tempfile::tempdir().unwrap();
    let walk = "[walk]\ndiffusivity = [0.0, 0.5, 2.0]\nseed = 7\n";
    let (first, summary, printed) = ends(folder.path(), &[PLUG, MANY, walk]);
    assert!(first.iter().all(|x| (x[0] - 2.0).abs() < 1e-12), "no walk along x");
    assert_spread(&first, 1, 2.0);
    assert_spread(&first, 2, 8.0);
    assert!(summary.get("steps_accepted").is_none() && !printed.contains("accepted"));
    // The written case reproduces the run.
    let again = burntrace(folder.path(), &["run", "out/case.toml", "--out", "again", "--quiet"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert_eq!(
        Tracks::open(folder.path().join("again/tracks")).unwrap().position(0).unwrap(),
        first
    );
    let (other, ..) = ends(folder.path(), &[PLUG, MANY, "[walk]\ndiffusivity = 1\n"]);
    (0..3).for_each(|axis| assert_spread(&other, axis, 4.0));
    assert_ne!(first[0][1], other[0][1]);
}

#[test]
fn drift_is_added_to_the_velocity() {
    let folder = tempfile::tempdir().unwrap();
    let drift = "drift = [-0.5, 0.25, -1.0]\n";
    let seed = "[seeds]\nkind = \"list\"\npoints = [[0.0, 0.0, 0.0]]\n";
    let (ends, ..) = ends(folder.path(), &[PLUG, drift, seed]);
    let error = ends[0].iter().zip([1.0, 0.5, -2.0]).map(|(x, to)| (x - to).abs());
    assert!(error.fold(0.0, f64::max) < 1e-12, "{ends:?}");
}

#[test]
fn random_walk_uses_the_diffusivity_of_files() {
    let folder = tempfile::tempdir().unwrap();
    for (on, scheme) in [("PointData", "milstein"), ("CellData", "euler-maruyama")] {
        file(folder.path(), on, 0.5);
        let walk = format!("[walk]\nfactors = [0.0, 1.0, 4.0]\nscheme = \"{scheme}\"\n");
        let (ends, summary, _) = ends(folder.path(), &[FILE, MANY, &walk]);
        assert!(ends.iter().all(|x| x[0] == 0.0), "no walk along x");
        assert_spread(&ends, 1, 2.0);
        assert_spread(&ends, 2, 8.0);
        assert_eq!(summary["field"]["velocity"]["diffusivity"], "K");
    }
}

/// In water at rest the mean goes up the gradient of the diffusivity, and the variance grows by twice the diffusivity there.
#[test]
fn random_walk_in_degrees_has_the_diffusivity_of_files_in_metres() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    script(&python, folder.path(), &["mixing", "mixing.nc"]);
    let of = |interpolation: &str| {
        format!("files = \"mixing.nc\"\ndiffusivity = \"K\"\ninterpolation = \"{interpolation}\"\n")
    };
    let single = |interpolation: &str| format!("[field]\n{}", of(interpolation));
    let sum = format!("[[field]]\n{}[[field]]\nfiles = \"mixing.nc\"\n", of("grid"));
    let rest = "[seeds]\nkind = \"gaussian\"\ncount = 20000\ncentre = [1.5, 60.0, 0.0]\n\
        deviation = [0.0, 0.0, 0.0]\n[trace]\ndt = 600.0\nt1 = 86400.0\n\
        [walk]\nscheme = \"milstein\"\nseed = 3\n";
    for field in [single("grid"), single("mesh"), sum] {
        let (ends, ..) = ends(folder.path(), &[&field, rest]);
        let metres = |x: &[f64; 3]| {
            let [east, north] = [x[0] - 1.5, x[1] - 60.0].map(|x| 6_371_008.8 * x.to_radians());
            [east * x[1].to_radians().cos(), north, 0.0]
        };
        let ends: Vec<[f64; 3]> = ends.iter().map(metres).collect();
        let variance = 400.0 * 86400.0;
        // That of the mean increases the diffusivity.
        assert_spread(&ends, 0, variance + 864.0_f64.powi(2));
        assert_spread(&ends, 1, variance + 864.0_f64.powi(2));
        for (axis, mean) in [(0, 0.0), (1, 864.0)] {
            let found = ends.iter().map(|x| x[axis]).sum::<f64>() / ends.len() as f64;
            let slack = 5.0 * (variance / ends.len() as f64).sqrt();
            assert!((found - mean).abs() < slack, "{axis}: {found}");
        }
    }
}

#[test]
fn random_walk_uses_the_deformation_of_the_flow_or_a_profile() {
    let folder = tempfile::tempdir().unwrap();
    // In cells of 1 x 1.
    let shear = "[field]\nflow = { u = \"2*y\", v = \"0\" }\nsample = { nodes = [41, 41, 2] }\n\
        [domain]\nlow = [-20, -20, -20]\nhigh = [20, 20, 20]\n[trace]\nt1 = 2.0\nsteps = 20\n";
    let (moved, ..) = ends(folder.path(), &[shear, MANY, "[walk]\nsmagorinsky = 0.1\n"]);
    assert_spread(&moved, 1, 4.0 * 0.1 * 2.0_f64.sqrt());
    assert!(moved.iter().all(|x| x[2] == 0.0), "no walk along z");
    let profile = "[walk]\nprofile = { z = [-20.0, 20.0], diffusivity = [0.25, 0.25] }\n";
    let (moved, ..) = ends(folder.path(), &[shear, MANY, profile]);
    assert_spread(&moved, 2, 1.0);
    assert!(moved.iter().all(|x| x[1] == 0.0), "no walk along y");
    let refused = |sections: &[&str], part: &str| {
        assert_refused(&run(folder.path(), sections), 2, &[part]);
    };
    let formula = shear.replace("sample = { nodes = [41, 41, 2] }\n", "");
    refused(&[&formula, MANY, profile], "walk.profile needs a field on a grid");
    let both = "[walk]\nsmagorinsky = 0.1\ndiffusivity = 1.0\n";
    refused(&[shear, MANY, both], "both walk.diffusivity and walk.smagorinsky");
    refused(&[shear, MANY, "[walk]\nsmagorinsky = -1.0\n"], "its Smagorinsky coefficient is -1");
}

#[test]
fn adaptive_steps_meet_the_tolerance() {
    let folder = tempfile::tempdir().unwrap();
    let gyre = "[field]\nflow = \"double-gyre\"\n\
        [seeds]\nkind = \"list\"\npoints = [[0.5, 0.5, 0.0]]\n\
        [trace]\nscheme = \"dormand-prince\"\nt0 = 0.0\nt1 = 10.0\n";
    let end_of = |tolerance: &str| {
        let tolerance = format!("[trace.tolerance]\n{tolerance}\n");
        let (ends, summary, printed) = ends(folder.path(), &[gyre, &tolerance]);
        let accepted = summary["steps_accepted"].as_u64().unwrap();
        let rejected = summary["steps_rejected"].as_u64().unwrap();
        let line = format!("steps      {accepted} accepted, {rejected} rejected");
        assert!(printed.contains(&line), "`{line}` is not in: {printed}");
        let [x, y, _] = ends[0];
        let error = (x - 0.050550530572).abs().max((y - 0.111020148786).abs());
        (error, accepted)
    };
    let (coarse, few) = end_of("relative = 1e-4\nabsolute = 1e-4");
    let (fine, many) = end_of("relative = 1e-10\nabsolute = 1e-10");
    assert!(coarse < 1e-3 && fine < 1e-8, "{coarse}, {fine}");
    assert!(
        many >= few && few >= 100,
        "{many}, {few}: the default maximum step is a hundredth of the run"
    );
    let (_, limited) = end_of("relative = 1e-4\nabsolute = 1e-4\nmax_step = 0.01");
    assert!(limited >= 1000, "{limited}");
}

#[test]
fn conflicting_walks_and_tolerances_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "PointData", 0.5);
    let refused = |sections: &[&str], parts: &[&str]| {
        assert_refused(&run(folder.path(), sections), 2, parts);
        assert!(!folder.path().join("out").exists(), "nothing is written");
    };
    let (walk, number) = ("[walk]\n", "[walk]\ndiffusivity = 1.0\n");
    let tolerance = "[trace.tolerance]\nrelative = 1e-6\nabsolute = 0.0\n";
    refused(&[PLUG, MANY, walk], &["walk.diffusivity is missing", "field.diffusivity"]);
    refused(&[PLUG, MANY, "[walk]\ndiffusivity = -1.0\n"], &["along x is -1"]);
    refused(&[PLUG, MANY, "[walk]\ndiffusivity = [1.0]\n"], &["a number, or [kx, ky, kz]"]);
    refused(&[PLUG, MANY, number, "factors = [1, 1, 1]\n"], &["walk.factors", "field.diffusivity"]);
    refused(&[PLUG, MANY, number, "sceme = \"milstein\"\n"], &["did you mean `scheme`?"]);
    refused(&[FILE, MANY], &["field.diffusivity needs a [walk]"]);
    refused(&[FILE, MANY, number], &["both walk.diffusivity and field.diffusivity"]);
    refused(&[&FILE.replace("\"K\"", "\"k\""), MANY, walk], &["u.vti", "`k`", "`K` (point"]);
    refused(&[&FILE.replace("\"K\"", "\"U\""), MANY, walk], &["`U` has 3 components"]);
    let of_flow = PLUG.replace("[field]\n", "[field]\ndiffusivity = \"K\"\n");
    refused(
        &[&of_flow, MANY, walk],
        &["`diffusivity`", "[field] with `flow`", "belongs to `files`"],
    );
    refused(&[PLUG, tolerance, MANY], &["[trace.tolerance]", "trace.scheme", "dormand-prince"]);
    let pairs = "scheme = \"dormand-prince\"\n";
    refused(&[PLUG, pairs, tolerance, MANY, number], &["[walk] cannot be combined with"]);
    let none = tolerance.replace("1e-6", "0.0");
    refused(&[PLUG, pairs, &none, MANY], &["0 (relative) and 0 (absolute)"]);
    refused(&[PLUG, pairs, tolerance, "max_step = 0.0\n", MANY], &["step limits are 0 and 0"]);
}

#[test]
fn averaged_cell_velocity_is_refused_with_a_diffusivity() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = "# vtk DataFile Version 3.0\nmesh\nASCII\nDATASET UNSTRUCTURED_GRID\n\
        POINTS 3 double\n0 0 0 1 0 0 0 1 0\nCELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n5\n\
        CELL_DATA 1\nVECTORS U double\n0 0 0\nSCALARS K double 1\nLOOKUP_TABLE default\n1e-4\n";
    std::fs::write(folder.path().join("u.vtk"), mesh).unwrap();
    let case = |how: &str| {
        format!(
            "[field]\nfiles = \"u.vtk\"\ninterpolation = \"mesh\"\ncell_velocity = \"{how}\"\n\
             diffusivity = \"K\"\n[trace]\nt1 = 0.1\nsteps = 2\n[walk]\n\
             [seeds]\nkind = \"list\"\npoints = [[0.25, 0.25, 0.0]]\n"
        )
    };
    let parts = ["field.diffusivity", "cell_velocity = \"averaged\"", "constant"];
    assert_refused(&run(folder.path(), &[&case("averaged")]), 2, &parts);
    let (ends, ..) = ends(folder.path(), &[&case("constant")]);
    assert!(ends[0][0] != 0.25 && ends[0][2] == 0.0);
}

/// A hundredth of the run is longer than the maximum step in a periodic field.
#[test]
fn adaptive_runs_over_many_periods_choose_their_steps() {
    let folder = tempfile::tempdir().unwrap();
    let case = "[field]\nflow = \"uniform\"\nsample = { nodes = [3, 3, 3], start = 0.0, stop = 1.0, frames = 3 }\n\
        outside_time = \"periodic\"\n[domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [1.0, 1.0, 1.0]\n\
        [boundary]\nx = [\"periodic\", \"periodic\"]\n\
        [seeds]\nkind = \"list\"\npoints = [[0.5, 0.5, 0.5]]\n\
        [trace]\nscheme = \"dormand-prince\"\nt0 = 0.0\nt1 = 15000.0\n\
        tolerance = { relative = 1e-4, absolute = 1e-4 }\n\
        [save]\nreport = \"never\"\n[run]\ndevice = \"flex\"\nout = \"out\"\n";
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let call = |more: &[&str]| {
        burntrace(folder.path(), &[&["run", "case.toml", "--quiet"], more].concat())
    };
    let output = call(&[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let summary = std::fs::read_to_string(folder.path().join("out/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["steps"], 15000);
    // A step that is given is still refused.
    assert_refused(&call(&["--overwrite", "--set", "trace.dt=150.0"]), 2, &["150", "periods"]);
}

/// A section `[motion]` of sand of 0.2 mm in water.
const SAND: &str = "[motion]\nkind = \"inertial\"\ndiameter = 2e-4\ndensity = 2650.0\n\
    fluid_density = 1000.0\nviscosity = 1e-3\ndrag = \"schiller-naumann\"\n\
    gravity = [0.0, 0.0, -9.81]\n";

#[test]
fn sand_settles_at_its_terminal_velocity() {
    let folder = tempfile::tempdir().unwrap();
    let one = "[seeds]\nkind = \"list\"\npoints = [[0.0, 0.0, 0.0]]\n";
    let save = "[save]\nvelocity = true\nfluid_velocity = true\nreport = \"never\"\n";
    let plug = PLUG.replace("dt = 0.125", "dt = 0.001");
    let (ends, summary, _) = ends(folder.path(), &[&plug, one, SAND, save]);
    assert_eq!(summary["engine"], "fused");
    let tracks = Tracks::open(folder.path().join("out/tracks")).unwrap();
    let velocity = tracks.velocity(tracks.times().len() - 1).unwrap().unwrap();
    let [u, _, w] = velocity[0];
    assert!((u - 1.0).abs() < 1e-9 && (w + 0.02479582).abs() < 1e-8, "{velocity:?}");
    let fluid = tracks.array("fluid_velocity", tracks.times().len() - 1).unwrap();
    assert_eq!(fluid[..], [1.0, 0.0, 0.0]);
    let [x, _, z] = ends[0];
    // It takes a few milliseconds to reach that velocity.
    assert!((x - 2.0).abs() < 1e-9 && (-0.0496..-0.0492).contains(&z), "{ends:?}");
}

#[test]
fn motions_that_contradict_themselves_are_refused() {
    let cases = [
        (SAND.replace("density = 2650.0\n", ""), "the keys of spheres or of their response"),
        (format!("{SAND}beta = 0.0\n"), "the keys of spheres or of their response"),
        (SAND.replace("\"schiller-naumann\"", "\"newton\""), "`motion.drag` is"),
        (SAND.replace("\"schiller-naumann\"", "{ coeficient = 0.4 }"), "{ coefficient = ... }"),
        (SAND.replace("\"inertial\"", "\"heavy\""), "`motion.kind` is"),
        (SAND.replace("2650.0", "-1.0"), "the density of particle 0 is -1"),
        (
            format!("{SAND}initial_velocity = \"slow\"\n"),
            "give \"fluid\", \"zero\", [u, v, w], or the names",
        ),
        (format!("{SAND}[walk]\ndiffusivity = 1.0\n"), "a random walk displaces them"),
        (SAND.replace("fluid_density = 1000.0", "fluid_densty = 1.0"), "`fluid_density`?"),
    ];
    for (motion, message) in cases {
        let folder = tempfile::tempdir().unwrap();
        let output = run(folder.path(), &[PLUG, MANY, &motion]);
        assert_refused(&output, 2, &[message]);
    }
}

/// Spheres in air, whose slip with the air is settled within a step.
const DUST: &str = "[motion]\nkind = \"inertial\"\nfluid_density = 1.2\nviscosity = 1.8e-5\n\
    gravity = [0.0, 0.0, -9.81]\n";

#[test]
fn columns_of_seeds_give_each_its_size_and_the_report_has_the_mass_of_each_end() {
    let folder = tempfile::tempdir().unwrap();
    let csv = "x,y,z,d,rho,u,v,w\n0,0,0,1e-5,1000,0,0,0\n0,1,0,2e-5,2000,0,0,0\n0,2,-999.9999,3e-5,1000,9,0,0\n";
    std::fs::write(folder.path().join("dust.csv"), csv).unwrap();
    let seeds =
        "[seeds]\nkind = \"file\"\npath = \"dust.csv\"\n[seeds.repeat]\nevery = 0.5\nuntil = 0.5\n";
    let rest = "diameter = \"d\"\ndensity = \"rho\"\ninitial_velocity = [\"u\", \"v\", \"w\"]\n";
    let save = "[save]\nsizes = true\nvelocity = true\nevery = 4\nreport = \"always\"\n[boundary]\nz = [\"stick\", \"stick\"]\n";
    let (found, ..) = ends(folder.path(), &[PLUG, DUST, rest, seeds, save]);
    assert_eq!(found.len(), 6, "both releases have the columns");
    let speed = |d: f64, rho: f64| -(d * d) * (rho - 1.2) * 9.81 / (18.0 * 1.8e-5);
    for (slot, time) in [(0, 2.0), (1, 2.0), (3, 1.5), (4, 1.5)] {
        let (d, rho) = [(1e-5, 1000.0), (2e-5, 2000.0)][slot % 3];
        let expected = speed(d, rho) * time;
        let error = (found[slot][2] / expected - 1.0).abs();
        assert!(error < 0.01, "{slot}: {} {expected}", found[slot][2]);
    }
    let report = std::fs::read_to_string(folder.path().join("out/report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let end = &report["statistics"]["all"]["ends"][0];
    let mass = 2.0 * 1000.0 * std::f64::consts::PI / 6.0 * 3e-5_f64.powi(3);
    assert_eq!((end["status"].as_str(), end["count"].as_u64()), (Some("stuck"), Some(2)));
    assert!((end["mass"].as_f64().unwrap() / mass - 1.0).abs() < 1e-9, "{end}");
    let markdown = std::fs::read_to_string(folder.path().join("out/report.md")).unwrap();
    assert!(markdown.contains("| Mass |"), "{markdown}");

    let missing = rest.replace("\"d\"", "\"size\"");
    let output = run(folder.path(), &[PLUG, DUST, &missing, seeds]);
    assert_refused(&output, 2, &["the header has no column `size`, but x, y, z, d, rho, u, v, w"]);
    let output = run(folder.path(), &[PLUG, DUST, rest, MANY]);
    let message = "motion.diameter is the column `d` of the seeds, which are not all from files";
    assert_refused(&output, 2, &[message]);
    let source = "[[source]]\nrate = 1.0\ncapacity = 5\n\
        inlet = { kind = \"face\", face = \"x-low\", pattern = \"uniform\" }\n";
    let output = run(folder.path(), &[PLUG, DUST, rest, seeds, source]);
    assert_refused(&output, 2, &["which the particles of a [[source]] do not have"]);
    // Names that differ in case.
    let csv = "x,y,z,D,d,u,v,w\n0,0,0,1000,1e-5,0,0,0\n";
    std::fs::write(folder.path().join("dust.csv"), csv).unwrap();
    let cased = rest.replace("\"rho\"", "\"D\"");
    let (found, ..) = ends(folder.path(), &[PLUG, DUST, &cased, seeds]);
    assert!((found[0][2] / speed(1e-5, 1000.0) / 2.0 - 1.0).abs() < 0.01, "{found:?}");
}

#[test]
fn turbulence_is_that_of_arrays_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "PointData", 0.75);
    let field = "[field]\nfiles = \"u.vti\"\n[trace]\nt1 = 20.0\nsteps = 100\n";
    let motion = "[motion]\nkind = \"inertial\"\nrelaxation_time = 1e-6\nbeta = 0.0\n";
    // 2 (2/3 k) T t for t much longer than T.
    for time in ["time_scale = 0.1", "omega = 16.6666666667", "epsilon = 1.125"] {
        let turbulence = format!("turbulence = {{ k = \"K\", {time} }}\n");
        let (found, ..) = ends(folder.path(), &[field, MANY, motion, &turbulence]);
        (0..3).for_each(|axis| assert_spread(&found, axis, 2.0 * 0.5 * 0.1 * (20.0 - 0.1)));
    }
    let renamed = "turbulence = { k = \"K\", time_scale = 0.1 }\n[save]\nfields = [{ array = \"U\", name = \"K\" }]\n";
    let output = run(folder.path(), &[field, MANY, motion, renamed]);
    assert_refused(&output, 2, &["`K` is an array of motion.turbulence, and another one here"]);
    for (turbulence, text) in [
        ("{ k = \"K\" }", "motion.turbulence needs k, and one of epsilon, omega and time_scale"),
        ("{ k = \"Q\", time_scale = 0.1 }", "is `Q`, which the field does not have"),
        (
            "{ k = \"K\", time_scale = -0.1 }",
            "the time scale of the turbulence is -0.1; give a number above 0",
        ),
    ] {
        let output =
            run(folder.path(), &[field, MANY, motion, &format!("turbulence = {turbulence}\n")]);
        assert_refused(&output, 2, &[text]);
    }
}
