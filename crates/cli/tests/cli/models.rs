//! Grids of ocean models, beside NumPy.

use super::earth::peer;
use super::program::{assert_refused, burntrace, text};
use super::requirements::{self, flow_data};
use std::path::{Path, PathBuf};

/// Runs a case, and exports its tracks as a table.
fn trace(folder: &Path, case: &str) -> String {
    std::fs::write(folder.join("case.toml"), case).unwrap();
    let output = burntrace(folder, &["run", "case.toml", "--out", "out", "--overwrite"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let export = burntrace(folder, &["export", "out", "--to", "csv", "--quiet"]);
    assert!(export.status.success(), "{}", text(&export.stderr));
    text(&output.stderr) + &text(&output.stdout)
}

/// The largest difference, and the number of values that were compared.
fn difference(python: &Path, folder: &Path, args: &[&str]) -> (f64, usize) {
    let printed = peer("models.py", python, folder, args);
    let words: Vec<&str> = printed.split_whitespace().collect();
    (words[0].parse().unwrap(), words[1].parse().unwrap())
}

/// Velocities at 200 random places, at the first time and a later one, of files and further keys of the field.
fn check_velocities(model: &[&Path], field: &str, end: &str, saves: &[&str], bound: f64) {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    let kind = if model.len() == 3 { "mom" } else { "roms" };
    let of = |more: &[&str]| -> Vec<String> {
        let files = model.iter().map(|path| path.display().to_string());
        std::iter::once(kind.to_owned())
            .chain(files)
            .chain(more.iter().map(|s| (*s).into()))
            .collect()
    };
    let places: Vec<String> = of(&["places"]);
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let text = peer("models.py", &python, folder.path(), &places);
    std::fs::write(folder.path().join("places.csv"), text).unwrap();
    let case = format!(
        "[field]\n{field}\n[seeds]\nkind = \"file\"\npath = \"places.csv\"\n\
         [trace]\ndt = \"1 min\"\nt1 = \"{end}\"\n[run]\ndevice = \"flex\"\nprecision = \"f64\"\n\
         [save]\nevery_time = \"{end}\"\nvelocity = true\nreport = \"never\"\n"
    );
    trace(folder.path(), &case);
    for save in saves {
        let args = of(&["out/tracks.csv", save]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (off, count) = difference(&python, folder.path(), &args);
        assert!(off < bound && count > 150, "{off} {count}");
    }
}

#[test]
fn a_roms_file_has_the_velocities_of_its_faces() {
    let Some(path) = flow_data("ocean/Nordic_subset.nc") else { return };
    let field = format!("files = {path:?}\ninterpolation = \"mesh\"");
    // The numbers are packed in single precision.
    check_velocities(&[&path, &path], &field, "24 h", &["0", "1"], 1e-7);
}

/// Its axes are in single precision, up to 697,442 m.
#[test]
fn axes_that_are_even_but_for_the_rounding_of_the_file_are_shown_as_even() {
    let Some(path) = flow_data("ocean/AROME_MetCoOp_00_DEF_20160114_subset.nc") else { return };
    let shown = text(&burntrace(Path::new("."), &["info", path.to_str().unwrap()]).stdout);
    assert!(shown.contains("to -347442.15625, every 2500\n"), "{shown}");
}

#[test]
fn a_croco_file_has_the_velocities_of_its_faces() {
    let (Some(path), Some(grid)) =
        (flow_data("ocean/croco_his.nc"), flow_data("ocean/croco_grd.nc"))
    else {
        return;
    };
    let field = format!("files = {path:?}\ncorners = {{ files = {grid:?} }}");
    check_velocities(&[&path, &grid], &field, "72 h", &["0", "1"], 1e-12);
}

#[test]
fn a_mom_file_has_the_velocities_of_its_corners() {
    let paths: Vec<Option<PathBuf>> = ["u", "v", "wt"]
        .iter()
        .map(|of| flow_data(&format!("ocean/access-om2-01_{of}.nc")))
        .collect();
    let Some(paths) = paths.into_iter().collect::<Option<Vec<PathBuf>>>() else { return };
    let [u, v, w] = [&paths[0], &paths[1], &paths[2]];
    let field = format!("files = {{ u = {u:?}, v = {v:?}, w = {w:?} }}\ninterpolation = \"mesh\"");
    check_velocities(&[u, v, w], &field, "1 h", &["0"], 1e-12);
}

#[test]
fn random_velocities_on_faces_have_the_tracks_of_steps_in_numpy() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    peer("models.py", &python, folder.path(), &["nemo", "."]);
    let case = "[field]\nfiles = { u = \"grid_U.nc\", v = \"grid_V.nc\", w = \"grid_W.nc\" }\n\
        convention = \"nemo\"\ncorners = { files = \"mesh.nc\", x = \"glamf\", y = \"gphif\" }\n\
        outside_time = \"hold\"\n[seeds]\nkind = \"file\"\npath = \"seeds.csv\"\n\
        [trace]\ndt = 1.0\nt1 = 20.0\n[save]\nevery = 20\nreport = \"never\"\n\
        [run]\ndevice = \"flex\"\nprecision = \"f64\"\n";
    let printed = trace(folder.path(), case);
    assert!(printed.contains("500 cells"), "{printed}");
    let (off, count) = difference(&python, folder.path(), &["nemo", ".", "out/tracks.csv"]);
    assert!(off < 1e-11 && count == 50, "{off} {count}");
    let with_arrays = case
        .replace("w = \"grid_W.nc\"", "w = \"grid_W.nc\", t = \"grid_T.nc\"")
        .replace("[save]", "[save]\nfields = [\"thetao\"]");
    trace(folder.path(), &with_arrays);
    let (off, count) = difference(&python, folder.path(), &["temperature", "out/tracks.csv"]);
    assert!(off < 1e-5 && count == 100, "{off} {count}");
    let refused = |set: &str, parts: &[&str]| {
        let args = ["run", "case.toml", "--out", "other", "--set", set];
        assert_refused(&burntrace(folder.path(), &args), 2, parts);
    };
    refused(
        "field.corners={ files = \"mesh.nc\", x = \"glamt\", y = \"gphif\" }",
        &["mesh.nc", "`glamt`"],
    );
    refused(
        "field={ files = { u = \"grid_U.nc\", v = \"grid_V.nc\" }, staggering = \"a\" }",
        &["`v`", "not at the points of the velocity", "staggering"],
    );
    refused(
        "field.interpolation=grid",
        &["`staggering`, `convention`, `corners` and `follow_levels` are for"],
    );
    refused(
        "field.files={ u = \"grid_U.nc\", v = [\"grid_V.nc\", \"grid_W.nc\"] }",
        &["`files.v` has 2 files"],
    );
}

#[test]
fn turned_grids_at_81_degrees_north_keep_the_latitude() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    peer("models.py", &python, folder.path(), &["arctic", "."]);
    let at_points = "files = \"arctic.nc\"\ninterpolation = \"mesh\"";
    let on_faces = "files = { u = \"grid_U.nc\", v = \"grid_V.nc\" }\n\
        corners = { files = \"mask.nc\", x = \"glamf\", y = \"gphif\" }";
    let starts = [(179.9, 81.0_f64), (178.5, 81.2), (179.0, 80.3)];
    // On faces the flow is exact; between points the grid resolves curves to this.
    for (field, bound) in [(at_points, 1.0), (on_faces, 1e-4)] {
        let case = format!(
            "[field]\n{field}\n[seeds]\nkind = \"list\"\n\
             points = [[179.9, 81.0, 0.0], [-181.5, 81.2, 0.0], [-181.0, 80.3, 0.0]]\n\
             [trace]\ndt = 600.0\nt1 = 36000.0\n[save]\nevery_time = 36000.0\nreport = \"never\"\n\
             [run]\ndevice = \"flex\"\nprecision = \"f64\"\n"
        );
        trace(folder.path(), &case);
        let table = std::fs::read_to_string(folder.path().join("out/tracks.csv")).unwrap();
        let ends: Vec<Vec<f64>> = table
            .lines()
            .filter(|line| line.contains(",36000,"))
            .map(|line| line.split(',').take(5).map(|word| word.parse().unwrap()).collect())
            .collect();
        assert_eq!(ends.len(), 3, "{table}");
        for (end, (lon, lat)) in ends.iter().zip(starts) {
            let moved = 36000.0 / (6_371_008.8 * lat.to_radians().cos());
            let apart = (end[2] - lon - moved.to_degrees() + 180.0).rem_euclid(360.0) - 180.0;
            // In metres, of 36 km.
            let off =
                [apart * lat.to_radians().cos(), end[3] - lat].map(|degrees| degrees * 111_195.0);
            assert!(off.iter().all(|metres| metres.abs() < bound), "{field}: {off:?}");
        }
    }
}

/// The levels move by 1.5 m, with a surface from 12 to 20 m above the bottom.
#[test]
fn particles_of_a_tide_stay_at_their_part_of_the_depth() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    peer("tide.py", &python, folder.path(), &[".", "80", "36"]);
    let of = |field: &str| {
        let case = format!(
            "[field]\n{field}\n[seeds]\nkind = \"file\"\npath = \"seeds.csv\"\n\
             [trace]\ndt = \"1 min\"\nt1 = \"6 h\"\n[run]\ndevice = \"flex\"\nprecision = \"f64\"\n\
             [save]\nevery_time = \"1 h\"\nreport = \"never\"\n"
        );
        let printed = trace(folder.path(), &case);
        let differences = peer("tide.py", &python, folder.path(), &[".", "out/tracks.csv"]);
        let numbers: Vec<f64> =
            differences.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let tracks = std::fs::read(folder.path().join("out/tracks.csv")).unwrap();
        ([numbers[0], numbers[1], numbers[2]], tracks, printed)
    };
    // Four times smaller with twice the cells and frames, in x and in z.
    let ([x, z, change], upward, _) = of("files = \"w.nc\"\ninterpolation = \"mesh\"");
    assert!(x < 3.0 && z < 6e-3 && change > 0.18, "{x} {z} {change}");
    let ([x, z, _], ..) = of("files = \"omega.nc\"\ninterpolation = \"mesh\"");
    assert!(x < 3.0 && z < 1e-3, "{x} {z}");
    // The surface rises from one file to the next.
    let (_, in_parts, _) = of("files = \"part_*.nc\"\ninterpolation = \"mesh\"");
    assert_eq!(upward, in_parts);
    // Without a vertical velocity, particles stay at a height, or at a level, which is not the same part of all depths.
    let two = "files = \"w.nc\"\nvelocity = [\"u\", \"v\"]\n";
    let ([_, z, change], _, printed) = of(&format!("{two}interpolation = \"mesh\""));
    assert!(change == 0.0 && z > 0.18 && printed.contains("w = 0"), "{z} {change} {printed}");
    let ([_, z, change], _, printed) = of(&format!("{two}follow_levels = true"));
    assert!(z < 0.05 && change > 0.1 && !printed.contains("w = 0"), "{z} {change} {printed}");
}
