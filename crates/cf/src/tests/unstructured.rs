//! Meshes of unstructured models: real files against numpy, and small ones of which all numbers are known.

use super::requirements;
use crate::mesh::NONE;
use crate::{
    CellShape, CfMesh, Corners, MeshPlacement, MeshRequest, Request, Staggering, Store, Times,
    open, zarr,
};
use serde_json::{Value, json};
use std::process::Command;
use tempfile::TempDir;

/// A group of Zarr with these variables: dimensions, type, values and attributes.
pub(crate) struct Group(pub TempDir);

impl Group {
    pub fn new() -> Group {
        let folder = tempfile::tempdir().unwrap();
        let group = r#"{"zarr_format": 3, "node_type": "group"}"#;
        std::fs::write(folder.path().join(zarr::METADATA), group).unwrap();
        Group(folder)
    }

    /// Adds numbers with dimensions such as `time 2 node 4`.
    pub fn add(&self, name: &str, dimensions: &str, values: &[f64], attributes: Value) -> &Group {
        self.add_as("float64", name, dimensions, values, attributes)
    }

    /// Adds whole numbers.
    pub fn add_table(
        &self,
        name: &str,
        dimensions: &str,
        values: &[f64],
        attributes: Value,
    ) -> &Group {
        self.add_as("int32", name, dimensions, values, attributes)
    }

    fn add_as(
        &self,
        kind: &str,
        name: &str,
        dimensions: &str,
        values: &[f64],
        attributes: Value,
    ) -> &Group {
        let words: Vec<&str> = dimensions.split_whitespace().collect();
        let names: Vec<&str> = words.iter().step_by(2).copied().collect();
        let shape: Vec<usize> =
            words.iter().skip(1).step_by(2).map(|len| len.parse().unwrap()).collect();
        assert_eq!(shape.iter().product::<usize>(), values.len(), "{name}");
        let array = self.0.path().join(name);
        std::fs::create_dir(&array).unwrap();
        let metadata = zarr::array(kind, &shape, &shape, &names, attributes);
        std::fs::write(array.join(zarr::METADATA), zarr::text(&metadata)).unwrap();
        let bytes: Vec<u8> = match kind {
            "float32" => values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect(),
            "int32" => values.iter().flat_map(|value| (*value as i32).to_le_bytes()).collect(),
            _ => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        std::fs::write(array.join(zarr::KEYS.name(&vec![0; shape.len()])), bytes).unwrap();
        self
    }

    pub fn store(&self) -> Box<dyn Store> {
        open(self.0.path()).unwrap()
    }

    fn mesh(&self) -> crate::Result<CfMesh> {
        CfMesh::of(&*self.store(), &MeshRequest::default())
    }

    fn error(&self) -> String {
        self.mesh().unwrap_err().to_string()
    }
}

/// The velocities of a time.
fn velocities(mesh: &CfMesh, store: &dyn Store, time: usize) -> Vec<[f64; 3]> {
    let values = mesh.read(store, time, &[]).unwrap().velocity.into_f64();
    assert_eq!(values.len(), 3 * mesh.values());
    values.chunks(3).map(|v| [v[0], v[1], v[2]]).collect()
}

/// The mean of the corners of each cell.
fn centers(mesh: &CfMesh) -> Vec<[f64; 3]> {
    let count = mesh.shape.nodes();
    let mean = |nodes: &[u32]| {
        let sum = |d: usize| nodes.iter().map(|node| mesh.points[*node as usize][d]).sum::<f64>();
        [0, 1, 2].map(|d| sum(d) / count as f64)
    };
    mesh.cells.chunks(count).map(mean).collect()
}

/// The number of faces with a name.
fn faces(mesh: &CfMesh, name: &str) -> usize {
    mesh.boundary.iter().find(|(known, _)| known == name).map_or(0, |(_, faces)| faces.len())
}

/// The volume below one cell of a wedge or a triangle: positive if its corners are in VTK's order.
fn area(mesh: &CfMesh, cell: usize) -> f64 {
    let nodes = &mesh.cells[cell * mesh.shape.nodes()..];
    let [a, b, c] = [0, 1, 2].map(|k| mesh.points[nodes[k] as usize]);
    0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]))
}

fn has_note(mesh: &CfMesh, part: &str) -> bool {
    mesh.notes().iter().any(|note| note.contains(part))
}

#[test]
fn cells_and_velocities_of_fvcom_are_those_of_numpy() {
    let Some(path) = requirements::flow_data("ocean/tri_grid_example-FVCOM.nc") else { return };
    let store = open(&path).unwrap();
    let mesh = CfMesh::of(&*store, &MeshRequest::default()).unwrap();
    assert_eq!((mesh.shape, mesh.placement), (CellShape::Wedge, MeshPlacement::Cells));
    assert!(mesh.is_in_degrees && mesh.global.is_none());
    assert_eq!((mesh.points.len(), mesh.values()), (551 * 21, 903 * 20));
    assert_eq!((faces(&mesh, "coast"), faces(&mesh, "surface")), (903, 903));
    assert!((0..mesh.values()).all(|cell| area(&mesh, cell) > 0.0));
    for part in [
        "`wet_cells` is not used",
        "z = 0, as in the sea at rest",
        "w = 0",
        "`sides`",
        "multiples of 42.2 s",
    ] {
        assert!(has_note(&mesh, part), "{part}: {:?}", mesh.notes());
    }
    let Some(Times::Dated(times)) = mesh.time.as_ref().map(|time| &time.times) else {
        panic!("dates")
    };
    assert_eq!(times.clock().date(), "2024-05-23T00:00:00");
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/fvcom.py");
    let output = Command::new(python).args([script, "cells"]).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines();
    let counts: Vec<usize> =
        lines.next().unwrap().split(' ').map(|word| word.parse().unwrap()).collect();
    assert_eq!(counts, [mesh.values(), faces(&mesh, "sides") / 20]);
    let (centers, first, last) =
        (centers(&mesh), velocities(&mesh, &*store, 0), velocities(&mesh, &*store, 9));
    let mut count = 0;
    for line in lines {
        let numbers: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        let cell = numbers[0] as usize;
        let found = [&centers[cell][..], &first[cell][..2], &last[cell][..2]].concat();
        let is_near =
            |(found, expected): (&f64, &f64)| (found - expected).abs() <= 1e-12 * expected.abs();
        assert!(found.iter().zip(&numbers[1..]).all(is_near), "{line}: {found:?}");
        assert_eq!(first[cell][2], 0.0);
        count += 1;
    }
    assert_eq!(count, 200);
}

#[test]
fn triangles_and_edges_of_a_file_of_ugrid_are_named() {
    let Some(path) = requirements::flow_data("ocean/UGRIDv0.9_eleven_points_with_depth.nc") else {
        return;
    };
    let store = open(path).unwrap();
    let mesh = CfMesh::of(&*store, &MeshRequest::default()).unwrap();
    assert_eq!((mesh.shape, mesh.placement), (CellShape::Triangle, MeshPlacement::Cells));
    assert_eq!((mesh.points.len(), mesh.values(), mesh.time.is_none()), (11, 13, true));
    assert_eq!(mesh.velocity(), ["Mesh2_face_u", "Mesh2_face_v"]);
    assert!((0..13).all(|cell| area(&mesh, cell) > 0.0));
    // The file has the centres and the edges of both kinds, an island among them.
    let read = |name: &str| store.read_all(store.find(name).unwrap()).unwrap().into_f64();
    let (x, y, u, v) =
        (read("Mesh2_face_x"), read("Mesh2_face_y"), read("Mesh2_face_u"), read("Mesh2_face_v"));
    let velocities = velocities(&mesh, &*store, 0);
    for (face, center) in centers(&mesh).into_iter().enumerate() {
        assert!((center[0] - x[face]).abs() < 1e-6 && (center[1] - y[face]).abs() < 1e-6, "{face}");
        assert_eq!(velocities[face], [u[face], v[face], 0.0]);
    }
    assert_eq!((faces(&mesh, "coast"), faces(&mesh, "open"), faces(&mesh, "sides")), (8, 1, 0));
    let (_, open) = mesh.boundary.iter().find(|(name, _)| name == "open").unwrap();
    let ends = [open[0][0], open[0][1]].map(|node| mesh.points[node as usize][0]);
    assert_eq!((ends[0].min(ends[1]), ends[0].max(ends[1])), (-62.242, -53.500999));
    assert_eq!(open[0][2..], [NONE; 2]);
}

/// Two triangles and a quadrilateral between x = 0 and 2000 m, as FVCOM and UGRID number them.
fn strip(group: &Group) -> &Group {
    group
        .add("x", "node 6", &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0], json!({ "units": "km" }))
        .add("y", "node 6", &[0.0, 0.0, 0.0, 1000.0, 1000.0, 1000.0], json!({ "units": "m" }))
        .add_table(
            "faces",
            "face 3 corner 4",
            &[1.0, 5.0, 2.0, -1.0, 1.0, 5.0, 4.0, -1.0, 2.0, 3.0, 6.0, 5.0],
            json!({ "start_index": 1, "_FillValue": -1 }),
        )
        .add_table(
            "mesh",
            "",
            &[0.0],
            json!({
                "cf_role": "mesh_topology", "topology_dimension": 2, "node_coordinates": "x y",
                "face_node_connectivity": "faces"
            }),
        )
}

const SPEED: &str = "m s-1";

#[test]
fn quadrilaterals_are_divided_and_keep_their_velocity() {
    let group = Group::new();
    strip(&group)
        .add("time", "time 2", &[0.0, 60.0], json!({ "units": "s" }))
        .add("u", "time 2 face 3", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], json!({ "units": SPEED }))
        .add("v", "time 2 face 3", &[0.5, -0.5, 0.0, 0.0, 0.0, 0.25], json!({ "units": "cm s-1" }));
    let mesh = group.mesh().unwrap();
    assert_eq!((mesh.shape, mesh.values(), mesh.is_in_degrees), (CellShape::Triangle, 4, false));
    assert!(has_note(&mesh, "1 faces with more than three corners"), "{:?}", mesh.notes());
    assert!(has_note(&mesh, "`x` is converted from km"), "{:?}", mesh.notes());
    let total: f64 = (0..4).map(|cell| area(&mesh, cell)).sum();
    assert_eq!(total, 2e6);
    assert_eq!(centers(&mesh)[0], [2000.0 / 3.0, 1000.0 / 3.0, 0.0]);
    assert_eq!(
        velocities(&mesh, &*group.store(), 0),
        [[1.0, 0.005, 0.0], [2.0, -0.005, 0.0], [3.0, 0.0, 0.0], [3.0, 0.0, 0.0]]
    );
    assert_eq!(velocities(&mesh, &*group.store(), 1)[3], [6.0, 0.0025, 0.0]);
    assert_eq!(mesh.time.as_ref().unwrap().times, Times::Plain(vec![0.0, 60.0]));
    assert_eq!(faces(&mesh, "sides"), 6);
}

fn sigma_layers(group: &Group) {
    // The surface is the first level. The node 0 is dry, and nodes 0, 4, 1 have no water: 1 and 4 at depth 0.
    strip(group)
        .add(
            "h",
            "node 6",
            &[-3.0, 0.0, 10.0, 20.0, 0.0, 40.0],
            json!({ "units": "m", "positive": "down" }),
        )
        .add(
            "siglev",
            "siglev 3",
            &[0.0, -0.25, -1.0],
            json!({ "standard_name": "ocean_sigma_coordinate" }),
        )
        .add("u", "siglay 2 face 3", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], json!({ "units": SPEED }))
        .add("v", "siglay 2 face 3", &[0.0; 6], json!({ "units": SPEED }))
        .add(
            "w",
            "siglev 3 node 6",
            &(0..18).map(f64::from).collect::<Vec<_>>(),
            json!({ "units": SPEED }),
        );
}

#[test]
fn sigma_layers_end_at_the_bottom_and_w_is_taken_from_levels() {
    let group = Group::new();
    sigma_layers(&group);
    let mesh = group.mesh().unwrap();
    assert_eq!(
        (mesh.shape, mesh.placement, mesh.values()),
        (CellShape::Wedge, MeshPlacement::Cells, 6)
    );
    assert!(has_note(&mesh, "1 nodes are above the level of the sea"), "{:?}", mesh.notes());
    // Nodes 0, 1, 4 have one point, and the others three.
    assert_eq!(mesh.points.len(), 3 * 3 + 3);
    let z: Vec<f64> = centers(&mesh).iter().map(|center| center[2]).collect();
    // Triangle (0, 4, 3) of the lower layer: -20 and -5 at node 3.
    assert_eq!(z[0], -25.0 / 6.0);
    assert_eq!(z[3], -5.0 / 6.0);
    let lower = velocities(&mesh, &*group.store(), 0);
    // w is the mean of the levels 1 and 2 at the nodes 0, 4, 3, whose numbers are 6 * level + node.
    assert_eq!(lower[0], [5.0, 0.0, (6.0 + 10.0 + 9.0 + 12.0 + 16.0 + 15.0) / 6.0]);
    assert_eq!((faces(&mesh, "surface"), faces(&mesh, "coast")), (3, 3));
}

/// The nodes and faces of SCHISM, and numbers of each node and level.
fn schism(depths: [f64; 4]) -> Group {
    let group = Group::new();
    let on = |axis: &str| json!({ "units": "m", "axis": axis });
    group
        .add("SCHISM_hgrid_node_x", "nSCHISM_hgrid_node 4", &[0.0, 1000.0, 1000.0, 0.0], on("X"))
        .add("SCHISM_hgrid_node_y", "nSCHISM_hgrid_node 4", &[0.0, 0.0, 1000.0, 1000.0], on("Y"))
        .add_table(
            "SCHISM_hgrid_face_nodes",
            "nSCHISM_hgrid_face 2 nMaxSCHISM_hgrid_face_nodes 4",
            &[1.0, 2.0, 3.0, -1.0, 1.0, 3.0, 4.0, -1.0],
            json!({ "start_index": 1, "_FillValue": -1 }),
        )
        .add("depth", "nSCHISM_hgrid_node 4", &depths, json!({ "units": "m" }))
        .add(
            "time",
            "time 2",
            &[0.0, 3600.0],
            json!({ "units": "seconds since 2020-01-01 00:00:00" }),
        );
    group
}

/// Velocities at nodes on three levels, from the bottom; node 2 has the lowest level at the second one.
#[test]
fn schism_has_velocities_at_nodes_between_the_levels_of_each() {
    let z = [-10.0, -4.0, 0.0, -8.0, -4.0, 0.5, f64::NAN, -3.0, 0.25, -10.0, -5.0, 0.0];
    let number = |time: usize, component: usize, at: usize| match at {
        6 => f64::NAN,
        _ => (100 * time + 12 * component + at) as f64,
    };
    let values = |of: &[usize]| -> Vec<f64> {
        let places = (0..2).flat_map(|time| (0..12).map(move |at| (time, at)));
        places.flat_map(|(time, at)| of.iter().map(move |c| number(time, *c, at))).collect()
    };
    let (speed, nodes) =
        (json!({ "units": "m/s" }), "time 2 nSCHISM_hgrid_node 4 nSCHISM_vgrid_layers 3");
    let heights = [z, z].concat();
    let old = schism([10.0, 8.0, 3.0, 10.0]);
    old.add("zcor", nodes, &heights, json!({ "units": "m" }))
        .add("hvel", &format!("{nodes} two 2"), &values(&[0, 1]), speed.clone())
        .add("vertical_velocity", nodes, &values(&[2]), speed.clone());
    let new = schism([10.0, 8.0, 3.0, 10.0]);
    new.add("zCoordinates", nodes, &heights, json!({}))
        .add("horizontalVelX", nodes, &values(&[0]), speed.clone())
        .add("horizontalVelY", nodes, &values(&[1]), speed.clone())
        .add("verticalVelocity", nodes, &values(&[2]), speed);
    for (group, names) in [
        (old, vec!["hvel", "hvel", "vertical_velocity"]),
        (new, vec!["horizontalVelX", "horizontalVelY", "verticalVelocity"]),
    ] {
        let mesh = group.mesh().unwrap();
        assert_eq!(mesh.velocity(), names);
        assert_eq!((mesh.shape, mesh.placement), (CellShape::Wedge, MeshPlacement::Points));
        // Node 2 has two points, and no cell is without water.
        assert_eq!((mesh.points.len(), mesh.cells.len()), (11, 6 * 4));
        assert!(has_note(&mesh, "at the first time"), "{:?}", mesh.notes());
        for time in 0..2 {
            let found = velocities(&mesh, &*group.store(), time);
            for (point, velocity) in mesh.points.iter().zip(found) {
                let node = [[0.0, 0.0], [1e3, 0.0], [1e3, 1e3], [0.0, 1e3]]
                    .iter()
                    .position(|at| *at == point[..2]);
                let node = node.unwrap();
                let level = (0..3).rev().find(|level| z[3 * node + level] == point[2]).unwrap();
                let expected = [0, 1, 2].map(|component| number(time, component, 3 * node + level));
                assert_eq!(velocity, expected, "node {node}, level {level}");
            }
        }
    }
}

#[test]
fn levels_of_schism_are_stretched_below_the_critical_depth() {
    let group = schism([10.0, 30.0, 50.0, 20.0]);
    let nodes = "nSCHISM_hgrid_node 4 nSCHISM_vgrid_layers 3";
    group
        .add(
            "sigma",
            "sigma 3",
            &[-1.0, -0.5, 0.0],
            json!({ "standard_name": "ocean_sigma_coordinate" }),
        )
        .add("Cs", "sigma 3", &[-1.0, -0.2, 0.0], json!({}))
        .add("sigma_h_c", "one 1", &[20.0], json!({}))
        .add("horizontalVelX", nodes, &[0.0; 12], json!({ "units": "m/s" }))
        .add("horizontalVelY", nodes, &[0.0; 12], json!({ "units": "m/s" }));
    let mesh = group.mesh().unwrap();
    let heights = |x: f64, y: f64| -> Vec<f64> {
        let at = mesh.points.iter().filter(|point| point[..2] == [x, y]);
        let mut z: Vec<f64> = at.map(|point| point[2]).collect();
        z.sort_by(f64::total_cmp);
        z
    };
    assert_eq!(heights(0.0, 0.0), [-10.0, -5.0, 0.0]);
    assert_eq!(heights(0.0, 1000.0), [-20.0, -10.0, 0.0]);
    // 20 sigma + (h - 20) C, at h = 30 and 50.
    assert_eq!(heights(1000.0, 0.0), [-30.0, -12.0, 0.0]);
    assert_eq!(heights(1000.0, 1000.0), [-50.0, -16.0, 0.0]);
    assert!(has_note(&mesh, "w = 0"));
    group.add("sigma_maxdepth", "one 1", &[40.0], json!({}));
    assert!(group.error().contains("end at 40 m"), "{}", group.error());
}

/// Cells around the earth from 60 S to 60 N, and one around the north pole, by the radians of their corners.
fn icon() -> Group {
    let mut corners: Vec<[[f64; 2]; 3]> = Vec::new();
    for i in 0..6 {
        let east = |degrees: i32| f64::from((60 * i + degrees) % 360);
        for end in [-60.0, 60.0] {
            corners.push([[east(0), end], [east(60), end], [east(30), 0.0]]);
            corners.push([[east(60), end], [east(90), 0.0], [east(30), 0.0]]);
        }
    }
    corners.push([0.0, 120.0, 240.0].map(|x| [x, 80.0]));
    let bounds =
        |d: usize| corners.iter().flatten().map(|of| of[d].to_radians()).collect::<Vec<_>>();
    let centers = |d: usize| corners.iter().map(|of| of[0][d].to_radians()).collect::<Vec<_>>();
    let group = Group::new();
    for (d, [name, standard]) in
        [["clon", "longitude"], ["clat", "latitude"]].into_iter().enumerate()
    {
        let bounds_name = format!("{name}_bnds");
        let attributes =
            json!({ "units": "radian", "standard_name": standard, "bounds": bounds_name });
        group.add(name, "ncells 25", &centers(d), attributes);
        group.add(&bounds_name, "ncells 25 vertices 3", &bounds(d), json!({}));
    }
    group
}

#[test]
fn cells_of_icon_go_once_around_the_earth() {
    let group = icon();
    let numbers: Vec<f64> = (0..25).map(f64::from).collect();
    group.add("u", "height 1 ncells 25", &numbers, json!({ "units": SPEED }));
    group.add("v", "height 1 ncells 25", &[0.0; 25], json!({ "units": SPEED }));
    let mesh = group.mesh().unwrap();
    assert_eq!(
        (mesh.shape, mesh.global, mesh.is_in_degrees),
        (CellShape::Triangle, Some(0.0), true)
    );
    assert!(has_note(&mesh, "1 triangles around a pole"), "{:?}", mesh.notes());
    // Two of the 24 cells are at both ends. All have half of 60 x 60 degrees.
    assert_eq!(mesh.values(), 26);
    for cell in 0..26 {
        assert!((area(&mesh, cell) - 1800.0).abs() < 1e-9);
        let x = centers(&mesh)[cell][0];
        assert!((-1e-9..=360.0 + 1e-9).contains(&x), "{x}");
    }
    let mut values: Vec<f64> = velocities(&mesh, &*group.store(), 0).iter().map(|v| v[0]).collect();
    values.sort_by(f64::total_cmp);
    let expected = (0..24).flat_map(|i| if [21, 23].contains(&i) { vec![i; 2] } else { vec![i] });
    assert_eq!(values, expected.map(f64::from).collect::<Vec<_>>());
    assert_eq!((faces(&mesh, "sides"), faces(&mesh, "coast")), (12, 0));
    let request = MeshRequest { west: Some(-170.0), ..MeshRequest::default() };
    let turned = CfMesh::of(&*group.store(), &request).unwrap();
    assert_eq!(turned.global, Some(-170.0));
    let ends = turned.points.iter().map(|point| point[0]);
    assert!(
        ends.clone().fold(f64::INFINITY, f64::min) < -170.0 && ends.fold(-180.0, f64::max) > 190.0
    );
}

#[test]
fn a_box_of_cells_is_open_where_it_is_cut() {
    let group = icon();
    let numbers: Vec<f64> = (0..25).map(f64::from).collect();
    group.add("u", "ncells 25", &numbers, json!({ "units": SPEED }));
    group.add("v", "ncells 25", &[0.0; 25], json!({ "units": SPEED }));
    let crop = [Some([-40.0, 10.0, -1.0]), Some([-20.0, 50.0, f64::INFINITY])];
    let request = MeshRequest { crop, ..MeshRequest::default() };
    let mesh = CfMesh::of(&*group.store(), &request).unwrap();
    // Between 300 and 360 degrees: one triangle with its base in the north, and its neighbours of the other kind.
    assert_eq!((mesh.values(), mesh.global), (3, None));
    let mut values: Vec<f64> = velocities(&mesh, &*group.store(), 0).iter().map(|v| v[0]).collect();
    values.sort_by(f64::total_cmp);
    assert_eq!(values, [19.0, 22.0, 23.0]);
    // The base is an edge of the file; others are cut.
    assert_eq!((faces(&mesh, "sides"), faces(&mesh, "open")), (1, 4));
    assert!(has_note(&mesh, "layers are not cropped"), "{:?}", mesh.notes());
    let nowhere = MeshRequest { crop: [Some([0.0, 85.0, 0.0]), None], ..MeshRequest::default() };
    let error = CfMesh::of(&*group.store(), &nowhere).unwrap_err().to_string();
    assert!(error.contains("in the box of `crop`"), "{error}");
}

#[test]
fn nodes_faces_and_masks_may_be_in_another_file() {
    let grid = Group::new();
    strip(&grid).add("wet", "node 6", &[1.0, 1.0, 1.0, 0.0, 0.0, 1.0], json!({}));
    let group = Group::new();
    group
        .add("time", "time 2", &[0.0, 60.0], json!({ "units": "s" }))
        .add(
            "u",
            "time 2 node 6",
            &(0..12).map(f64::from).collect::<Vec<_>>(),
            json!({ "units": SPEED }),
        )
        .add("v", "time 2 node 6", &[0.0; 12], json!({ "units": SPEED }));
    assert!(group.error().contains("are not found"), "{}", group.error());
    let corners = Corners { files: Some(grid.0.path().into()), ..Corners::default() };
    let mut request = MeshRequest { corners, ..MeshRequest::default() };
    let mesh = CfMesh::of(&*group.store(), &request).unwrap();
    assert_eq!((mesh.placement, mesh.values(), mesh.cells.len()), (MeshPlacement::Points, 6, 12));
    for (point, velocity) in mesh.points.iter().zip(velocities(&mesh, &*group.store(), 1)) {
        assert_eq!(velocity, [6.0 + point[0] / 1e3 + point[1] / 1e3 * 3.0, 0.0, 0.0]);
    }
    // No triangle has all of its nodes dry until node 0 is.
    request.mask = Some(("wet".into(), Some(grid.0.path().into())));
    let masked = CfMesh::of(&*group.store(), &request).unwrap();
    assert_eq!((masked.cells.len(), faces(&masked, "coast")), (12, 0));
    let dry = Group::new();
    dry.add("wet", "node 6", &[0.0, 1.0, 1.0, 0.0, 0.0, 1.0], json!({}));
    request.mask = Some(("wet".into(), Some(dry.0.path().into())));
    let masked = CfMesh::of(&*group.store(), &request).unwrap();
    assert_eq!((masked.cells.len(), faces(&masked, "coast")), (9, 1));
    assert!(has_note(&masked, "1 of 4 cells are land"), "{:?}", masked.notes());
    let staggered = MeshRequest { staggering: Some(Staggering::C), ..request };
    let error = CfMesh::of(&*group.store(), &staggered).unwrap_err().to_string();
    assert!(error.contains("`staggering` is for grids"), "{error}");
}

#[test]
fn longitudes_across_180_degrees_are_continuous() {
    let group = Group::new();
    group
        .add("lon", "node 4", &[179.0, -179.0, -178.0, 178.0], json!({ "units": "degrees_east" }))
        .add("lat", "node 4", &[0.0, 0.0, 1.0, 1.0], json!({ "units": "degrees_north" }))
        // FVCOM counts from 1 without saying so, and clockwise.
        .add_table("nv", "three 3 nele 2", &[1.0, 1.0, 3.0, 4.0, 2.0, 3.0], json!({}))
        .add("u", "nele 2", &[1.0, 2.0], json!({ "units": SPEED }))
        .add("v", "nele 2", &[0.0; 2], json!({ "units": SPEED }));
    let mesh = group.mesh().unwrap();
    let mut longitudes: Vec<f64> = mesh.points.iter().map(|point| point[0]).collect();
    longitudes.sort_by(f64::total_cmp);
    assert_eq!((longitudes.as_slice(), mesh.global), (&[178.0, 179.0, 181.0, 182.0][..], None));
    assert_eq!((area(&mesh, 0), area(&mesh, 1)), (1.0, 2.0));
}

#[test]
fn whole_days_and_milliseconds_are_preferred_to_single_precision() {
    let since = "days since 1858-11-17 00:00:00";
    let seconds = |group: &Group| match group.mesh().unwrap().time.unwrap().times {
        Times::Dated(times) => (times.clock().date(), times.seconds_from(&times.clock()).unwrap()),
        other => panic!("{other:?}"),
    };
    let with = |kind: &str, times: [f64; 3], units: &str| {
        let group = Group::new();
        strip(&group)
            .add_as(kind, "time", "time 3", &times, json!({ "units": units }))
            .add("u", "time 3 face 3", &[0.0; 9], json!({ "units": SPEED }))
            .add("v", "time 3 face 3", &[0.0; 9], json!({ "units": SPEED }));
        group
    };
    let group = with("float32", [60_453.0, 60_453.04, 60_453.125], since);
    assert_eq!(seconds(&group).1, [0.0, 3375.0, 10_800.0]);
    let has = |group: &Group, part| has_note(&group.mesh().unwrap(), part);
    assert!(has(&group, "multiples of 337.5 s"));
    group.add_table("Itime", "time 3", &[60_453.0; 3], json!({ "units": since })).add_table(
        "Itime2",
        "time 3",
        &[0.0, 36e5, 72e5],
        json!({ "units": "msec since 00:00:00" }),
    );
    assert!((seconds(&group).1[1] - 3600.0).abs() < 1e-5 && has(&group, "`Itime` and `Itime2`"));
    let whole = with("float32", [60_453.0, 60_454.0, 60_455.0], since);
    assert!(!has(&whole, "single precision"));
    let dates = with("float64", [20_240_228.75, 20_240_229.0, 20_240_301.5], "day as %Y%m%d.%f");
    let (date, times) = seconds(&dates);
    assert_eq!(date, "2024-02-28T18:00:00");
    let off = times.iter().zip([0.0, 21_600.0, 151_200.0]).map(|(a, b)| (a - b).abs());
    assert!(off.fold(0.0, f64::max) < 1e-3, "{times:?}");
    let wrong = with("float64", [20_240_232.0; 3], "day as %Y%m%d.%f");
    assert!(wrong.error().contains("`time`"), "{}", wrong.error());
}

/// Layers between flat levels; the lower one is land on the first face.
fn flat_layers(group: &Group) {
    strip(group)
        .add(
            "depth",
            "depth 2",
            &[5.0, 20.0],
            json!({ "units": "m", "positive": "down", "bounds": "depth_bnds" }),
        )
        .add("depth_bnds", "depth 2 two 2", &[0.0, 10.0, 10.0, 30.0], json!({}))
        .add(
            "u",
            "depth 2 face 3",
            &[1.0, 2.0, 3.0, f64::NAN, 5.0, 6.0],
            json!({ "units": SPEED, "_FillValue": "NaN" }),
        )
        .add(
            "v",
            "depth 2 face 3",
            &[0.0, 0.0, 0.0, f64::NAN, 0.0, 0.0],
            json!({ "units": SPEED, "_FillValue": "NaN" }),
        )
        .add(
            "w",
            "depth_2 3 face 3",
            &(0..9).map(f64::from).collect::<Vec<_>>(),
            json!({ "units": SPEED }),
        );
}

#[test]
fn cells_without_a_velocity_are_land() {
    let group = Group::new();
    flat_layers(&group);
    let mesh = group.mesh().unwrap();
    assert!(has_note(&mesh, "1 of 8 cells are land"), "{:?}", mesh.notes());
    assert_eq!((mesh.values(), mesh.points.len()), (7, 18));
    let centers = centers(&mesh);
    assert!(
        centers[..3].iter().all(|at| at[2] == -20.0) && centers[3..].iter().all(|at| at[2] == -5.0)
    );
    let velocities = velocities(&mesh, &*group.store(), 0);
    // The mean of w above and below.
    assert_eq!((velocities[0], velocities[3]), ([5.0, 0.0, 5.5], [1.0, 0.0, 1.5]));
    // Bottoms: of the lower layer and of the land; and two sides of the land.
    assert_eq!(
        (faces(&mesh, "coast"), faces(&mesh, "surface"), faces(&mesh, "sides")),
        (3 + 1 + 2, 4, 6 + 5)
    );
}

/// Heights at the nodes 0 and 5 of the strip, from the bottom.
fn heights(mesh: &CfMesh) -> [Vec<f64>; 2] {
    [[0.0, 0.0], [2000.0, 1000.0]].map(|at| {
        let mut z: Vec<f64> =
            mesh.points.iter().filter(|point| point[..2] == at).map(|point| point[2]).collect();
        z.sort_by(f64::total_cmp);
        z
    })
}

#[test]
fn levels_are_midway_between_layers_where_the_file_has_no_others() {
    let by_sigma = Group::new();
    let u = |group: &Group, name: &str| {
        let dimensions = format!("{name} 3 face 3");
        for component in ["u", "v"] {
            group.add(component, &dimensions, &[0.0; 9], json!({ "units": SPEED }));
        }
    };
    strip(&by_sigma)
        .add(
            "bed",
            "node 6",
            &[-8.0, 1.0, 1.0, 1.0, 1.0, -16.0],
            json!({ "units": "m", "standard_name": "altitude" }),
        )
        .add("siglay", "siglay 3", &[-0.75, -0.375, -0.125], json!({}));
    u(&by_sigma, "siglay");
    let mesh = by_sigma.mesh().unwrap();
    assert_eq!(heights(&mesh), [[-8.0, -4.5, -2.0, 0.0], [-16.0, -9.0, -4.0, 0.0]]);
    assert!(has_note(&mesh, "midway between those of `siglay`"), "{:?}", mesh.notes());
    let stretched = Group::new();
    strip(&stretched)
        .add("h", "node 6", &[20.0; 6], json!({ "units": "m" }))
        .add("sigma", "sigma 3", &[-0.75, -0.5, -0.25], json!({}))
        .add("Cs", "sigma 3", &[-0.75, -0.25, -0.25], json!({}))
        .add("h_c", "one 1", &[10.0], json!({}));
    u(&stretched, "layer");
    // 10 sigma + 10 C.
    assert_eq!(heights(&stretched.mesh().unwrap()), [[-20.0, -11.25, -6.25, 0.0]; 2]);
    let by_depth = Group::new();
    strip(&by_depth).add(
        "depth",
        "depth 3",
        &[1.0, 3.0, 9.0],
        json!({ "units": "m", "positive": "down" }),
    );
    u(&by_depth, "depth");
    let mesh = by_depth.mesh().unwrap();
    assert_eq!(heights(&mesh), [[-12.0, -6.0, -2.0, 0.0], [-12.0, -6.0, -2.0, 0.0]]);
    assert!(has_note(&mesh, "midway between those of `depth`"), "{:?}", mesh.notes());
    let crossing = Group::new();
    strip(&crossing).add("h", "node 6", &[8.0; 6], json!({ "units": "m" })).add(
        "siglev",
        "siglev 4",
        &[0.0, -0.5, -0.25, -1.0],
        json!({}),
    );
    u(&crossing, "siglay");
    assert!(crossing.error().contains("levels cross at the node 0"), "{}", crossing.error());
}

#[test]
fn dry_nodes_have_all_levels_at_the_bottom() {
    let group = schism([10.0, 8.0, 3.0, -1.0]);
    let z = [-10.0, -4.0, 0.0, -8.0, -4.0, 0.5, -3.0, -1.0, 0.0, f64::NAN, f64::NAN, f64::NAN];
    let (nodes, speed) = (
        "nSCHISM_hgrid_node 4 nSCHISM_vgrid_layers 3",
        json!({ "units": SPEED, "_FillValue": "NaN" }),
    );
    let mut eastward = [7.0; 12];
    eastward[9..].fill(f64::NAN);
    group
        .add("zcor", nodes, &z, json!({ "units": "m" }))
        .add("horizontalVelX", nodes, &eastward, speed.clone())
        .add("horizontalVelY", nodes, &[0.0; 12], speed);
    let mesh = group.mesh().unwrap();
    assert_eq!((mesh.points.len(), mesh.cells.len()), (10, 4 * 6));
    let dry = mesh.points.iter().position(|point| *point == [0.0, 1000.0, 1.0]).unwrap();
    for (point, velocity) in velocities(&mesh, &*group.store(), 0).into_iter().enumerate() {
        assert_eq!(velocity, [if point == dry { 0.0 } else { 7.0 }, 0.0, 0.0]);
    }
    assert!(has_note(&mesh, "those of dry cells, and 0"), "{:?}", mesh.notes());
    assert!(has_note(&mesh, "1 nodes without heights are dry"), "{:?}", mesh.notes());
}

/// Reads the mesh and a frame of a path, and returns whether that was possible.
fn can_be_read(path: &std::path::Path) -> bool {
    let Ok(store) = open(path) else { return false };
    let mesh = CfMesh::of(&*store, &MeshRequest::default());
    mesh.is_ok_and(|mesh| mesh.read(&*store, 0, &[]).is_ok())
}

#[test]
fn damaged_meshes_do_not_panic() {
    let (sigma, land, around) = (Group::new(), Group::new(), icon());
    sigma_layers(&sigma);
    flat_layers(&land);
    for component in ["u", "v"] {
        around.add(component, "ncells 25", &[1.0; 25], json!({ "units": SPEED }));
    }
    for group in [sigma, land, around] {
        assert!(can_be_read(group.0.path()));
        let mut refused = 0;
        for file in super::damaged::files(group.0.path()) {
            let bytes = std::fs::read(&file).unwrap();
            for at in (0..bytes.len()).step_by((bytes.len() / 6).max(1)) {
                for flip in [0x01, 0x08, 0x40, 0x80, 0xff] {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= flip;
                    std::fs::write(&file, &damaged).unwrap();
                    refused += usize::from(!can_be_read(group.0.path()));
                }
            }
            std::fs::write(&file, &bytes).unwrap();
        }
        assert!(refused > 100, "{refused} were refused");
    }
    let Some(path) = requirements::flow_data("ocean/UGRIDv0.9_eleven_points_with_depth.nc") else {
        return;
    };
    let (bytes, folder) = (std::fs::read(path).unwrap(), tempfile::tempdir().unwrap());
    let path = folder.path().join("damaged.nc");
    for at in (0..bytes.len()).step_by(41) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        std::fs::write(&path, &damaged).unwrap();
        can_be_read(&path);
    }
}

#[test]
fn what_is_wrong_is_named() {
    let group = Group::new();
    strip(&group);
    assert!(group.error().contains("known as a velocity"), "{}", group.error());
    group.add("u", "edge 5", &[0.0; 5], json!({ "units": SPEED })).add(
        "v",
        "edge 5",
        &[0.0; 5],
        json!({ "units": SPEED }),
    );
    let velocity = vec!["u".into(), "v".into()];
    let variables = Request { velocity, ..Request::default() };
    let named = MeshRequest { variables, ..MeshRequest::default() };
    let error = CfMesh::of(&*group.store(), &named).unwrap_err().to_string();
    assert!(error.contains("`u` (edge 5") && error.contains("on edges"), "{error}");
    let layered = Group::new();
    strip(&layered).add("u", "layer 4 face 3", &[0.0; 12], json!({ "units": SPEED })).add(
        "v",
        "layer 4 face 3",
        &[0.0; 12],
        json!({ "units": SPEED }),
    );
    let error = layered.error();
    assert!(
        error.contains("4 layers along `layer`") && error.contains("sigma at 5 levels"),
        "{error}"
    );
    let beyond = Group::new();
    beyond
        .add("x", "node 3", &[0.0, 1.0, 0.0], json!({ "units": "m" }))
        .add("y", "node 3", &[0.0, 0.0, 1.0], json!({ "units": "m" }))
        .add_table("nv", "three 3 nele 1", &[1.0, 2.0, 4.0], json!({ "start_index": 1 }));
    assert!(
        beyond.error().contains("has the node 4") && beyond.error().contains("nodes 1 to 3"),
        "{}",
        beyond.error()
    );
}

/// The mesh of a group with land by a value.
fn with_land_value(group: &Group, value: f64) -> CfMesh {
    let request = MeshRequest { land_value: Some(value), ..MeshRequest::default() };
    CfMesh::of(&*group.store(), &request).unwrap()
}

fn eastward(group: &Group, mesh: &CfMesh) -> Vec<f64> {
    velocities(mesh, &*group.store(), 0).iter().map(|v| v[0]).collect()
}

#[test]
fn a_mask_at_nodes_may_have_layers_where_velocities_are_on_faces() {
    let group = Group::new();
    flat_layers(&group);
    // The lower layer is dry; so are the nodes 0, 3, 4 of the second face in the upper one.
    let wet = [0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    group.add("wet", "depth 2 node 6", &wet, json!({}));
    let request = MeshRequest { mask: Some(("wet".into(), None)), ..MeshRequest::default() };
    let mesh = CfMesh::of(&*group.store(), &request).unwrap();
    assert_eq!(eastward(&group, &mesh), [1.0, 3.0, 3.0]);
    assert!(centers(&mesh).iter().all(|center| center[2] == -5.0));
}

#[test]
fn land_has_the_land_value_in_all_components() {
    let with = |parts: &[(&str, &str, &[f64])]| {
        let group = Group::new();
        strip(&group);
        for (name, dimensions, values) in parts {
            group.add(name, dimensions, values, json!({ "units": "cm s-1" }));
        }
        group
    };
    let (u, v) = (("u", "face 3", &[0.0, 0.0, 5.0][..]), ("v", "face 3", &[1.0, 0.0, 0.0][..]));
    let group = with(&[u, v]);
    assert_eq!(eastward(&group, &with_land_value(&group, 0.0)), [0.0, 0.05, 0.05]);
    // Upward water is no land.
    let group = with(&[u, v, ("w", "face 3", &[0.0, 2.0, 0.0])]);
    assert_eq!(with_land_value(&group, 0.0).values(), 4);
    let group = with(&[("hvel", "face 3 two 2", &[0.0, 1.0, 0.0, 0.0, 5.0, 0.0])]);
    assert_eq!(with_land_value(&group, 0.0).values(), 3);
    // In m/s; a vertical velocity may be 0.
    let (u, v) = (("u", "face 3", &[1.0, -999.0, 1.0][..]), ("v", "face 3", &[-999.0; 3][..]));
    let group = with(&[u, v, ("w", "face 3", &[0.0; 3])]);
    assert_eq!(eastward(&group, &with_land_value(&group, -9.99)), [0.01; 3]);
    assert_eq!(with_land_value(&group, -999.0).values(), 4);
}

#[test]
fn bounds_have_the_units_of_their_coordinate() {
    for (units, factor) in [(json!({}), 1.0), (json!({ "units": "m" }), 1e3)] {
        let group = Group::new();
        for (axis, corners) in
            [("x", [0.0, 1.0, 1.0, 0.0, 1.0, 0.0]), ("y", [0.0, 0.0, 1.0, 0.0, 1.0, 1.0])]
        {
            let (standard, bounds) =
                (format!("projection_{axis}_coordinate"), format!("{axis}_bnds"));
            let attributes =
                json!({ "units": "km", "standard_name": standard, "bounds": bounds.clone() });
            group.add(axis, "cell 2", &[0.6, 0.4], attributes);
            let values = corners.map(|corner| factor * corner);
            group.add(&bounds, "cell 2 corner 3", &values, units.clone());
        }
        for component in ["u", "v"] {
            group.add(component, "cell 2", &[1.0, 2.0], json!({ "units": SPEED }));
        }
        let mesh = group.mesh().unwrap();
        assert_eq!((mesh.points.len(), area(&mesh, 0), area(&mesh, 1)), (4, 5e5, 5e5), "{units}");
    }
}

#[test]
fn other_levels_than_sigma_are_refused() {
    let with = |standard: &str, sigma: [f64; 3]| {
        let group = Group::new();
        strip(&group)
            .add("h", "node 6", &[10.0; 6], json!({ "units": "m" }))
            .add("sigma", "sigma 3", &sigma, json!({ "standard_name": standard }))
            .add("u", "layer 2 face 3", &[1.0; 6], json!({ "units": SPEED }))
            .add("v", "layer 2 face 3", &[1.0; 6], json!({ "units": SPEED }));
        group
    };
    let sigma = [-1.0, -0.5, 0.0];
    for standard in ["", "ocean_sigma_coordinate", "ocean_sigma/general_coordinate"] {
        assert!(with(standard, sigma).mesh().is_ok(), "{standard}");
    }
    for (standard, sigma, part) in [
        ("ocean_sigma_z_coordinate", sigma, "`ocean_sigma_z_coordinate`; known are"),
        ("ocean_s_coordinate_g2", sigma, "`ocean_s_coordinate_g2`; known are"),
        ("ocean_s_coordinate", sigma, "needs its stretching `Cs`"),
        ("ocean_sigma_coordinate", [0.0, 0.5, 1.0], "has the value 0.5"),
        ("ocean_sigma_coordinate", [-1.5, -0.5, 0.0], "has the value -1.5"),
    ] {
        let error = with(standard, sigma).error();
        assert!(error.contains("`sigma`") && error.contains(part), "{error}");
    }
}

#[test]
fn the_description_of_a_mesh_tells_its_faces_and_their_first_node() {
    let square = |group: &Group, table: (&str, &str, &[f64], Value), mesh: Value| {
        group
            .add("x", "node 4", &[0.0, 2.0, 2.0, 0.0], json!({ "units": "m" }))
            .add("y", "node 4", &[0.0, 0.0, 1.0, 9.0], json!({ "units": "m" }))
            .add_table(table.0, table.1, table.2, table.3)
            .add("u", "node 4", &[1.0, 2.0, 3.0, 4.0], json!({ "units": SPEED }))
            .add("v", "node 4", &[0.0; 4], json!({ "units": SPEED }));
        if mesh != Value::Null {
            group.add_table("mesh", "", &[0.0], mesh);
        }
    };
    let mut ugrid = json!({
        "cf_role": "mesh_topology", "topology_dimension": 2, "node_coordinates": "x y",
        "face_node_connectivity": "faces"
    });
    let sum = |mesh: CfMesh| (0..mesh.cells.len() / 3).map(|cell| area(&mesh, cell)).sum::<f64>();
    // From 0 without an attribute.
    let group = Group::new();
    square(&group, ("faces", "face 1 corner 3", &[0.0, 1.0, 2.0], json!({})), ugrid.clone());
    assert_eq!(sum(group.mesh().unwrap()), 1.0);
    let group = Group::new();
    square(&group, ("faces", "face 1 corner 3", &[1.0, 2.0, 4.0], json!({})), ugrid.clone());
    assert!(group.error().contains("has the node 4, and there are nodes 0 to 3"));
    // Coordinates in the other order.
    let mut turned = ugrid.clone();
    turned["node_coordinates"] = "y x".into();
    let group = Group::new();
    square(&group, ("faces", "face 1 corner 3", &[0.0, 1.0, 3.0], json!({})), turned);
    let mut points = group.mesh().unwrap().points;
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    assert_eq!(points, [[0.0, 0.0, 0.0], [0.0, 9.0, 0.0], [2.0, 0.0, 0.0]]);
    // From 1 in files of FVCOM, also if none is the last node.
    let group = Group::new();
    square(&group, ("nv", "nele 1 three 3", &[1.0, 2.0, 3.0], json!({})), Value::Null);
    assert_eq!(sum(group.mesh().unwrap()), 1.0);
    // Two faces of three corners, and not three of two.
    let table = [0.0, 0.0, 1.0, 2.0, 2.0, 3.0];
    ugrid["face_dimension"] = "face".into();
    let group = Group::new();
    square(&group, ("faces", "corner 3 face 2", &table, json!({})), ugrid.clone());
    assert_eq!(sum(group.mesh().unwrap()), 10.0);
    ugrid["face_dimension"] = "cell".into();
    let group = Group::new();
    square(&group, ("faces", "corner 3 face 2", &table, json!({})), ugrid);
    assert!(group.error().contains("`face_dimension` of its mesh is `cell`"), "{}", group.error());
}

#[test]
fn a_single_layer_is_at_the_height_of_its_coordinate() {
    let heights = |name: &str, units: &str| {
        let group = Group::new();
        strip(&group).add(name, &format!("{name} 1"), &[1500.0], json!({ "units": units }));
        for component in ["u", "v"] {
            let dimensions = format!("{name} 1 face 3");
            group.add(component, &dimensions, &[1.0; 3], json!({ "units": SPEED }));
        }
        let mesh = group.mesh().unwrap();
        assert_eq!(mesh.shape, CellShape::Triangle);
        mesh.points.iter().map(|point| point[2]).collect::<Vec<_>>()
    };
    assert_eq!(heights("depth", "cm"), [-15.0; 6]);
    assert_eq!(heights("height", "m"), [1500.0; 6]);
    assert_eq!(heights("height", "1"), [0.0; 6]);
}

/// Heights at nodes of SCHISM, and velocities there.
fn with_heights(z: [f64; 12]) -> Group {
    let group = schism([10.0; 4]);
    let nodes = "nSCHISM_hgrid_node 4 nSCHISM_vgrid_layers 3";
    group.add("zcor", nodes, &z, json!({ "units": "m" }));
    for component in ["horizontalVelX", "horizontalVelY"] {
        group.add(component, nodes, &[1.0; 12], json!({ "units": SPEED }));
    }
    group
}

#[test]
fn levels_may_only_be_missing_below_the_bottom() {
    // From the surface downward, and none of the nodes is at the lowest one.
    let downward = with_heights([[0.0, -4.0, f64::NAN]; 4].concat().try_into().unwrap());
    let mut z: Vec<f64> = downward.mesh().unwrap().points.iter().map(|point| point[2]).collect();
    z.sort_by(f64::total_cmp);
    assert_eq!(z, [[-4.0; 4], [0.0; 4]].concat());
    let mut z = [[-10.0, -4.0, 0.0]; 4].concat();
    z[5] = f64::NAN;
    let missing = with_heights(z.try_into().unwrap()).error();
    assert!(
        missing.contains("a level is missing at the node 1 (from 0) above z = -4"),
        "{missing}"
    );
}

#[test]
fn more_heights_than_can_be_read_are_refused() {
    let (group, nodes, count) = (Group::new(), "node 70000", 70_000);
    let line: Vec<f64> = (0..count).map(|node| f64::from(node % 3)).collect();
    group
        .add("x", nodes, &line, json!({ "units": "m" }))
        .add("y", nodes, &line.iter().map(|x| x * x).collect::<Vec<_>>(), json!({ "units": "m" }))
        .add_table("nv", "nele 1 three 3", &[1.0, 2.0, 3.0], json!({}))
        .add("h", nodes, &line, json!({ "units": "m" }))
        .add("siglay", "siglay 70000", &vec![-0.5; 70_000], json!({}));
    for component in ["u", "v"] {
        group.add(component, "siglay 70000 nele 1", &vec![1.0; 70_000], json!({ "units": SPEED }));
    }
    assert!(
        group.error().contains("70000 nodes or triangles with 70001 levels"),
        "{}",
        group.error()
    );
}

#[test]
fn whole_days_are_not_read_where_times_are_in_double_precision() {
    let group = Group::new();
    strip(&group)
        .add("time", "time 1", &[60_453.5], json!({ "units": "days since 1858-11-17" }))
        .add_table("Itime", "time 1", &[60_453.0], json!({ "units": "days since 1858-17-11" }))
        .add_table("Itime2", "time 1", &[0.0], json!({ "units": "msec since 00:00:00" }));
    for component in ["u", "v"] {
        group.add(component, "time 1 face 3", &[1.0; 3], json!({ "units": SPEED }));
    }
    assert!(group.mesh().is_ok());
}
