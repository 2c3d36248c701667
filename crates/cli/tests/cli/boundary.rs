//! `burntrace info --boundary`.

use super::meshes::{Mesh, folder};
use super::program::{assert_refused, burntrace, fixture, text};
use serde_json::Value;
use std::path::Path;

fn boundary(folder: &Path, file: &str) -> Value {
    let output = burntrace(folder, &["info", "--boundary", "--json", file]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn part<'a>(found: &'a Value, name: &str) -> &'a Value {
    let parts = found["parts"].as_array().unwrap();
    parts.iter().find(|part| part["name"] == name).unwrap_or_else(|| panic!("{name}: {found}"))
}

/// A channel of 4 x 2 x 1 cubes with u = y (2 - y) at its nodes, hence a flux of 1.
fn channel(tetrahedra: bool) -> tempfile::TempDir {
    let mesh = Mesh::cubes([4, 2, 1], |_| true);
    let mesh = if tetrahedra { mesh.tetrahedra() } else { mesh };
    folder(&mesh.file("POINT_DATA", |[_, y, _]| [y * (2.0 - y), 0.0, 0.0]))
}

#[test]
fn boundary_of_a_mesh_has_its_fluxes_and_keys_that_run() {
    for tetrahedra in [false, true] {
        let folder = channel(tetrahedra);
        let found = boundary(folder.path(), "u.vtk");
        assert_eq!(found["parts"].as_array().unwrap().len(), 6, "{found}");
        let number = |part: &Value, key: &str| part[key].as_f64().unwrap();
        let (inlet, outlet) = (part(&found, "inlet"), part(&found, "outlet"));
        for (part, key, other, x) in
            [(inlet, "inflow", "outflow", 0.0), (outlet, "outflow", "inflow", 4.0)]
        {
            assert!((number(part, key) - 1.0).abs() < 1e-5, "{part}");
            assert_eq!((number(part, other), number(part, "area")), (0.0, 2.0));
            assert_eq!(part["low"], serde_json::json!([x, 0.0, 0.0]));
            assert_eq!(part["faces_of_others_in_box"], 0);
        }
        assert_eq!(part(&found, "wall4")["guess"], "wall");

        let shown = text(&burntrace(folder.path(), &["info", "--boundary", "u.vtk"]).stdout);
        let keys = found["keys"].as_str().unwrap();
        assert!(shown.ends_with(keys), "{shown}");
        let case = format!(
            "[field]\nfiles = \"u.vtk\"\ninterpolation = \"mesh\"\noutside_time = \"hold\"\n\
             [seeds]\nkind = \"mesh\"\npatch = \"inlet\"\nby = \"flux\"\ncount = 50\n\
             [trace]\nt0 = 0.0\nt1 = 10.0\ndt = 0.1\n{keys}"
        );
        std::fs::write(folder.path().join("case.toml"), case).unwrap();
        let run = burntrace(folder.path(), &["run", "case.toml", "--out", "out"]);
        assert!(run.status.success(), "{}", text(&run.stderr));
        let summary = std::fs::read_to_string(folder.path().join("out/summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&summary).unwrap();
        // All of them stay in the run, as those that leave through the outlet enter again.
        assert_eq!(summary["active"], 50, "{summary}");
        assert!(summary["patches"]["outlet"].as_u64().unwrap() > 20, "{summary}");
    }
}

#[test]
fn boundary_of_named_faces_is_listed_by_their_names() {
    let file = fixture("composite/patches.vtm");
    let found = boundary(Path::new("."), file.to_str().unwrap());
    let keys = found["keys"].as_str().unwrap();
    assert!(keys.contains("block = \"boundary/"), "{keys}");
    assert!(!keys.contains("low ="), "{keys}");
}

#[test]
fn boundary_of_a_grid_is_that_of_its_box() {
    let file = fixture("formats/image_0.vti");
    let found = boundary(Path::new("."), file.to_str().unwrap());
    let keys = found["keys"].as_str().unwrap();
    assert!(keys.contains("[boundary]\nx = ["), "{keys}");
    assert!(found["parts"].as_array().unwrap().len() >= 4, "{found}");
}

#[test]
fn boundary_of_points_and_of_runs_is_refused() {
    let folder = channel(false);
    let mesh = "u.vtk";
    let refused = burntrace(folder.path(), &["info", "--boundary", mesh, "--velocity", "nothing"]);
    assert_refused(&refused, 2, &["nothing"]);
    let points = fixture("vtk/raw.vtp");
    let refused = burntrace(folder.path(), &["info", "--boundary", points.to_str().unwrap()]);
    assert_refused(&refused, 2, &["a boundary is that of a grid or of a mesh"]);
}
