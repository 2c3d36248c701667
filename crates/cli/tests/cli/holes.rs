//! Holes of fields from files: hidden points and cells, and values that are not finite.

use super::program::{assert_refused, burntrace, text};
use std::path::Path;

/// Writes image data of 11 x 3 nodes over 10 x 2, with a velocity of (1, 0, 0) that is rubbish from x = 6 on,
/// and flags of points or cells.
fn file(folder: &Path, on: &str, rubbish: &str, flags: (&str, u8)) {
    let nx = if on == "PointData" { 11 } else { 10 };
    let rows = if on == "PointData" { 3 } else { 2 };
    let velocities = (0..nx * rows).map(|i| if i % nx < 6 { "1 0 0 " } else { rubbish });
    let velocity = velocities.collect::<String>();
    let (of, flag) = flags;
    let nx = if of == "PointData" { 11 } else { 10 };
    let rows = if of == "PointData" { 3 } else { 2 };
    let ghosts = (0..nx * rows).map(|i| format!("{} ", if i % nx < 6 { 0 } else { flag }));
    let ghosts = ghosts.collect::<String>();
    let array = |name: &str, kind: &str, components: usize, values: &str| {
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"ascii\">{values}</DataArray>"
        )
    };
    let section = |name: &str| {
        let mut arrays = String::new();
        if name == on {
            arrays += &array("U", "Float64", 3, &velocity);
        }
        if name == of && flag != 0 {
            arrays += &array("vtkGhostType", "UInt8", 1, &ghosts);
        }
        format!("<{name}>{arrays}</{name}>")
    };
    let text = format!(
        "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\"><ImageData \
         WholeExtent=\"0 10 0 2 0 0\" Origin=\"0 0 0\" Spacing=\"1 1 1\">\
         <Piece Extent=\"0 10 0 2 0 0\">{}{}</Piece></ImageData></VTKFile>",
        section("PointData"),
        section("CellData")
    );
    std::fs::write(folder.join("u.vti"), text).unwrap();
}

const CASE: &str = "[field]\nfiles = \"u.vti\"\n[seeds]\nkind = \"list\"\noutside = \"not-located\"\n\
    points = [[0.25, 1.5, 0.0], [8.0, 0.5, 0.0]]\n\
    [trace]\nt1 = 20.0\ndt = 0.25\n[save]\nvtk = [\"clouds\"]\nreport = \"always\"\n[run]\ndevice = \"flex\"\nout = \"out\"\n";

/// Runs the case; the particle ends at the last position from which a step stays below `edge`.
fn assert_ends_before(folder: &Path, set: &[&str], edge: f64) {
    let output = burntrace(folder, &[&["run", "case.toml", "--overwrite"], set].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let summary = std::fs::read_to_string(folder.join("out/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["status"]["left the field"], 1, "{summary}");
    assert_eq!(summary["not_located"], 1, "{summary}");
    assert_eq!(summary["released"], 1, "{summary}");
    let tracks = burntrace::io::Tracks::open(folder.join("out/tracks")).unwrap();
    let last = tracks.position(tracks.num_saves() - 1).unwrap();
    assert_eq!(last[0], [edge - 0.25, 1.5, 0.0]);
    assert_eq!(last[1], [8.0, 0.5, 0.0]);
    assert_eq!(tracks.ends().unwrap().end_time[0], edge - 0.5);
    // Neither pictures nor files show the seed that was not located.
    let cloud = burntrace_vtk::open(folder.join("out/clouds/cloud_00000.vtp")).unwrap();
    assert_eq!(cloud.geometry().num_points(), 1);
}

#[test]
fn particles_end_at_hidden_points_and_cells_of_a_grid() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("case.toml"), CASE).unwrap();
    // A cell with a hidden point is outside: from x = 5 on.
    file(path, "PointData", "99 99 99 ", ("PointData", 2));
    assert_ends_before(path, &[], 5.0);
    let info = text(&burntrace(path, &["info", "u.vti"]).stdout);
    assert!(info.contains("15 velocities of the first frame are hidden"), "{info}");
    file(path, "CellData", "99 99 99 ", ("CellData", 32));
    assert_ends_before(path, &[], 6.0);
    // A point hides the cells around it.
    file(path, "CellData", "99 99 99 ", ("PointData", 2));
    assert_ends_before(path, &[], 5.0);
    // Duplicates are not hidden.
    file(path, "PointData", "1 0 0 ", ("CellData", 1));
    let output = burntrace(path, &["run", "case.toml", "--overwrite", "--json"]);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["status"]["exited x-high"], 2, "{summary}");
    // Between points, too: the nearest node of x <= 5.5 is visible.
    file(path, "PointData", "99 99 99 ", ("PointData", 2));
    assert_ends_before(path, &["--set", "field.interpolation=nearest"], 5.75);
    let ignored = ["field.ignore_hidden=true", "trace.t1=0.25"].map(|key| ["--set", key]).concat();
    let args = ["run", "case.toml", "--overwrite", "--json"];
    let output = burntrace(path, &[&args[..], &ignored].concat());
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&summary["released"], &summary["not_located"]),
        (&2.into(), &0.into()),
        "{summary}"
    );
    // Values at visible points cannot say that a cell is hidden.
    file(path, "PointData", "1 0 0 ", ("CellData", 32));
    let output = burntrace(path, &["run", "case.toml", "--overwrite"]);
    assert_refused(
        &output,
        2,
        &["u.vti", "cell 6 is hidden", "velocity is at the points", "ignore_hidden"],
    );
    let info = text(&burntrace(path, &["info", "u.vti"]).stdout);
    assert!(info.contains("cell 6 is hidden"), "{info}");
}

#[test]
fn not_finite_values_are_an_error_or_holes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("case.toml"), CASE).unwrap();
    file(path, "PointData", "nan 0 0 ", ("PointData", 0));
    let output = burntrace(path, &["run", "case.toml"]);
    assert_refused(&output, 2, &["15 velocities that are not finite", "\"zero\"", "\"outside\""]);
    assert_ends_before(path, &["--set", "field.not_finite=\"outside\""], 5.0);
    let info = text(&burntrace(path, &["info", "u.vti"]).stdout);
    assert!(info.contains("15 velocities of the first frame are not finite"), "{info}");
}

/// Displacements count from the release, also in a run that saves its end only.
#[test]
fn report_of_a_run_with_one_save_has_displacements() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let case = "[field]\nflow = \"uniform\"\n[domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [9.0, 9.0, 9.0]\n\
        [seeds]\nkind = \"list\"\npoints = [[1.0, 2.0, 3.0], [2.0, 2.0, 3.0]]\n\
        [trace]\nt1 = 3.0\nsteps = 30\n[save]\ntimes = [3.0]\nreport = \"always\"\n\
        [run]\ndevice = \"flex\"\nout = \"out\"\n";
    std::fs::write(path.join("case.toml"), case).unwrap();
    let output = burntrace(path, &["run", "case.toml", "--quiet"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = std::fs::read_to_string(path.join("out/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let save = &report["statistics"]["all"]["saves"][0];
    let found = save["mean_square_displacement"][0].as_f64().unwrap();
    assert!((found - 9.0).abs() < 1e-5, "{save}");
}
