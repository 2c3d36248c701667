//! Diffusivities of series.

use crate::support::{ArrayText, CellText, folder, frame, image, unstructured};
use burntrace_core::{Floats, FrameSource};
use burntrace_io::{MeshSeries, PointSeries, Series, SeriesOptions, VelocityName};
use std::path::PathBuf;

fn with_diffusivity() -> SeriesOptions {
    let velocity = VelocityName::Array("U".into());
    SeriesOptions { velocity, diffusivity: Some("K".into()), ..Default::default() }
}

fn array(on: &'static str, components: usize, values: &[f64]) -> ArrayText<'static> {
    (on, "Float32", "K", components, values.to_vec())
}

/// A file of 2 x 2 x 1 nodes, i.e. one cell, with a velocity at the nodes.
fn one(spacing: f64, more: &[ArrayText<'static>]) -> (tempfile::TempDir, PathBuf) {
    let velocity = ("point", "Float64", "U", 3, vec![1.0; 12]);
    let arrays: Vec<_> = [velocity].iter().chain(more).cloned().collect();
    let text = image([2, 2, 1], [spacing, 1.0, 1.0], None, &arrays);
    let folder = folder(&[("u.vti", text)]);
    let path = folder.path().join("u.vti");
    (folder, path)
}

#[test]
fn diffusivities_are_read_in_the_order_of_the_grid() {
    let (_folder, path) = one(-1.0, &[array("point", 1, &[1.0, 2.0, 3.0, 4.0])]);
    let mut series = Series::open(path.as_path(), &with_diffusivity()).unwrap();
    assert_eq!(series.read(0).unwrap().diffusivity, Some(Floats::F32(vec![2.0, 1.0, 4.0, 3.0])));
    assert_eq!(series.velocity().diffusivity.as_deref(), Some("K"));
    assert!(series.read(1).unwrap_err().to_string().contains("no frame 1"));
    let mut points = PointSeries::open(path.as_path(), &with_diffusivity()).unwrap();
    assert_eq!(points.read(0).unwrap().diffusivity, Some(Floats::F32(vec![1.0, 2.0, 3.0, 4.0])));
    let mut without = Series::open(path.as_path(), &SeriesOptions::default()).unwrap();
    assert_eq!(without.read(0).unwrap().diffusivity, None);
    let json = serde_json::to_value(without.info()).unwrap();
    assert!(json["velocity"].get("diffusivity").is_none());
}

#[test]
fn diffusivities_of_coincident_points_and_ghost_cells_are_omitted() {
    let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0; 3]];
    let cells: [CellText; 2] = [(5, vec![0, 1, 2]), (5, vec![1, 3, 2])];
    let at_points = [("point", "Float64", "U", 3, vec![1.0; 15]), array("point", 1, &[0.5; 5])];
    let in_cells = [
        ("cell", "Float64", "U", 3, vec![1.0; 6]),
        array("cell", 1, &[-1.0, 7.0]),
        ("cell", "UInt8", "vtkGhostType", 1, vec![1.0, 0.0]),
    ];
    let folder = folder(&[
        ("points.vtu", unstructured(&points, &cells, &at_points)),
        ("cells.vtu", unstructured(&points, &cells, &in_cells)),
    ]);
    let path = |name: &str| folder.path().join(name);
    let mut nodes = PointSeries::open(path("points.vtu"), &with_diffusivity()).unwrap();
    assert_eq!(nodes.read(0).unwrap().diffusivity, Some(Floats::F32(vec![0.5; 4])));
    let mut mesh = MeshSeries::open(path("points.vtu"), &with_diffusivity()).unwrap();
    assert_eq!(mesh.read(0).unwrap().diffusivity, Some(Floats::F32(vec![0.5; 5])));
    let mut mesh = MeshSeries::open(path("cells.vtu"), &with_diffusivity()).unwrap();
    assert_eq!(mesh.read(0).unwrap().diffusivity, Some(Floats::F32(vec![7.0])));
}

#[test]
fn an_invalid_diffusivity_is_refused_by_name() {
    let refused = |more: &[ArrayText<'static>], parts: &[&str]| {
        let (_folder, path) = one(1.0, more);
        let opened = Series::open(path, &with_diffusivity());
        let message = opened.and_then(|series| series.read_frame(0)).unwrap_err().to_string();
        for part in [&["u.vti"], parts].concat() {
            assert!(message.contains(part), "`{part}` is not in: {message}");
        }
    };
    refused(&[], &["no array `K`", "`U` (point, 3 x Float64)"]);
    refused(&[array("point", 3, &[1.0; 12])], &["`K` has 3 components"]);
    refused(&[array("cell", 1, &[1.0])], &["`K` is a cell array", "the velocity is a point array"]);
    refused(&[array("point", 1, &[1.0, -2.0, 1.0, -3.0])], &["in 2 of 4 values", "-2"]);
}

#[test]
fn all_frames_must_have_the_diffusivity() {
    let first = [("point", "Float64", "U", 3, vec![1.0; 12]), array("point", 1, &[1.0; 4])];
    let folder = folder(&[
        ("u_0.vti", image([2, 2, 1], [1.0; 3], None, &first)),
        ("u_1.vti", frame(1.0, None)),
    ]);
    let options = SeriesOptions { file_dt: Some(1.0), ..with_diffusivity() };
    let message = Series::open(folder.path().join("u_*.vti"), &options).unwrap_err();
    let message = message.to_string();
    assert!(message.contains("u_1.vti") && message.contains("no array `K`"), "{message}");
}
