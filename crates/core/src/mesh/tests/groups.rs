//! Groups of boundary faces.

use super::made::{FLAT, Made, SOLID};
use super::*;

/// The polygons (lines) of the boundary faces at a coordinate, as points.
fn polygons(mesh: &Mesh, is_in: impl Fn([f64; 3]) -> bool) -> Vec<Vec<[f64; 3]>> {
    let corners = |(cell, face): (usize, usize)| {
        let nodes = mesh.cells().nodes(cell);
        let of_face = mesh.cells().kinds[cell].table().faces[face];
        of_face.iter().map(|k| mesh.point(nodes[*k] as usize)).collect::<Vec<_>>()
    };
    mesh.open_faces().map(corners).filter(|all| all.iter().all(|p| is_in(*p))).collect()
}

/// Boundary cells with points of their own, in groups of polygons.
fn boundary(groups: &[(&str, Vec<Vec<[f64; 3]>>)]) -> BoundaryCells {
    let mut boundary = BoundaryCells { offsets: vec![0], ..BoundaryCells::default() };
    for (name, polygons) in groups {
        let first = boundary.offsets.len() as u32 - 1;
        for polygon in polygons {
            let start = boundary.points.len() as u32;
            boundary.points.extend(polygon);
            boundary.connectivity.extend(start..start + polygon.len() as u32);
            boundary.offsets.push(boundary.connectivity.len() as u32);
        }
        let cells = first..first + polygons.len() as u32;
        boundary.groups.push((name.to_string(), cells.collect()));
    }
    boundary
}

fn low(p: [f64; 3]) -> bool {
    p[0] == 0.0
}

#[test]
fn faces_of_every_kind_are_matched_to_boundary_cells() {
    for kind in SOLID.iter().chain(FLAT).copied() {
        let mesh = mesh(&Made::of(3, 0.15, kind));
        let sides = polygons(&mesh, low);
        let whole = polygons(&mesh, |_| true);
        let count = [sides.len(), whole.len()];
        let mesh = mesh.with_boundary(&boundary(&[("low", sides), ("all", whole)])).unwrap();
        let groups = mesh.face_groups();
        assert_eq!(groups.iter().map(|group| group.faces).collect::<Vec<_>>(), count, "{kind:?}");
        assert!(groups.iter().all(|group| group.unmatched == 0), "{groups:?}");
        let size = if mesh.dimension() == 3 { 6.0 } else { 4.0 };
        // Faces with corners in the plane; the others are curved or bent a little.
        assert!((groups[0].area - 1.0).abs() < 1e-12, "{kind:?}: {groups:?}");
        assert!((groups[1].area - size).abs() < 1e-12, "{kind:?}: {groups:?}");
        // One tag for faces in both groups, one for those in the second.
        let tag = |(cell, face): (usize, usize)| (mesh.face_tag(cell, face), (cell, face));
        for (tag, (cell, face)) in mesh.open_faces().map(tag) {
            let bounds = mesh.corner_bounds(cell, face);
            let is_low = bounds.high[0] <= 0.0;
            assert_eq!(groups[0].tags.contains(&tag), is_low, "{kind:?}");
            assert!(groups[1].tags.contains(&tag), "{kind:?}");
        }
        assert_eq!((groups[0].tags.len(), groups[1].tags.len()), (1, 2));
    }
}

#[test]
fn boundary_cells_may_be_coarser_and_of_another_precision() {
    for kind in [CellKind::Tetra, CellKind::Hexahedron] {
        let mesh = mesh(&Made::of(3, 0.15, kind).mapped(|p| p.map(|x| 1e3 * x + 0.1)));
        let at = |p: [f64; 3]| (p[0] - 0.1).abs() < 1e-9;
        let mut corners = polygons(&mesh, at).concat();
        corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
        corners.dedup();
        let faces = polygons(&mesh, at).len();
        let single = corners.into_iter().map(|p| p.map(|x| f64::from(x as f32))).collect();
        let other = vec![[1.5e3; 3], [1.6e3; 3], [1.7e3; 3]];
        let groups = boundary(&[("low", vec![single, other])]);
        let mesh = mesh.with_boundary(&groups).unwrap();
        let found = &mesh.face_groups()[0];
        assert_eq!((found.faces, found.unmatched), (faces, 1), "{kind:?}");
    }
}

#[test]
fn inner_faces_are_no_boundary() {
    let mesh = mesh(&Made::of(2, 0.0, CellKind::Hexahedron));
    let [y, z] = [0.0, 0.0];
    let inner = vec![[0.5, y, z], [0.5, y + 0.5, z], [0.5, y + 0.5, z + 0.5], [0.5, y, z + 0.5]];
    let mesh = mesh.with_boundary(&boundary(&[("wall", vec![inner])])).unwrap();
    let group = &mesh.face_groups()[0];
    assert_eq!((group.faces, group.unmatched, group.area), (0, 1, 0.0));
    assert!(mesh.open_faces().all(|(cell, face)| mesh.face_tag(cell, face) == 0));
}

#[test]
fn inconsistent_boundary_cells_are_refused() {
    let mesh = || mesh(&Made::of(1, 0.0, CellKind::Hexahedron));
    let good = boundary(&[("low", polygons(&mesh(), low))]);
    let refused = |change: &dyn Fn(&mut BoundaryCells), part: &str| {
        let mut bad = good.clone();
        change(&mut bad);
        let message = mesh().with_boundary(&bad).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    };
    assert!(mesh().with_boundary(&good).is_ok());
    refused(&|bad| bad.offsets[1] = 9, "offsets of its boundary cells");
    refused(&|bad| bad.offsets.clear(), "offsets of its boundary cells");
    refused(&|bad| bad.connectivity[0] = 4, "point 4, of 4 points");
    refused(&|bad| bad.groups[0].1.push(1), "boundary cell 1, of 1 cells");
    refused(&|bad| bad.points[0][1] = f64::NAN, "not finite");
}
