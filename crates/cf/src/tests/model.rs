//! Grids of ocean models: written here as Zarr groups, and real files.

use crate::{
    CellShape, CfMesh, Convention, Corners, MeshPlacement, MeshRequest, Staggering, Store, open,
    open_joined, zarr,
};
use serde_json::json;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

use super::requirements::flow_data;

/// A group that a test writes.
pub(super) struct Group(TempDir);

impl Group {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"zarr_format": 3, "node_type": "group"}"#;
        std::fs::write(folder.path().join(zarr::METADATA), text).unwrap();
        Group(folder)
    }

    /// Adds a variable, as in `"y 4 x 5"`, by a function of its indices, and its attributes.
    pub(super) fn with(
        self,
        name: &str,
        dimensions: &str,
        attributes: &[(&str, &str)],
        value: impl Fn(&[usize]) -> f64,
    ) -> Self {
        let words: Vec<&str> = dimensions.split(' ').filter(|word| !word.is_empty()).collect();
        let names: Vec<&str> = words.iter().step_by(2).copied().collect();
        let shape: Vec<usize> =
            words.iter().skip(1).step_by(2).map(|n| n.parse().unwrap()).collect();
        let mut all = serde_json::Map::new();
        for (key, text) in attributes {
            let value = text.parse::<f64>().map_or_else(|_| json!(text), |number| json!(number));
            all.insert((*key).into(), value);
        }
        let metadata = zarr::array("float64", &shape, &shape, &names, all.into());
        let count: usize = shape.iter().product();
        let index = |flat: usize| {
            let mut rest = flat;
            let mut index = vec![0; shape.len()];
            for d in (0..shape.len()).rev() {
                (index[d], rest) = (rest % shape[d], rest / shape[d]);
            }
            index
        };
        let bytes: Vec<u8> = (0..count).flat_map(|i| value(&index(i)).to_le_bytes()).collect();
        let array = self.path().join(name);
        std::fs::create_dir(&array).unwrap();
        std::fs::write(array.join(zarr::METADATA), zarr::text(&metadata)).unwrap();
        std::fs::write(array.join(zarr::KEYS.name(&vec![0; shape.len()])), bytes).unwrap();
        self
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn mesh(&self, request: &MeshRequest) -> Result<CfMesh, String> {
        CfMesh::of(&*open(self.path()).unwrap(), request).map_err(|error| error.to_string())
    }

    pub(super) fn values(&self, mesh: &CfMesh, time: usize) -> Vec<[f64; 3]> {
        values(&*open(self.path()).unwrap(), mesh, time)
    }
}

fn values(store: &dyn Store, mesh: &CfMesh, time: usize) -> Vec<[f64; 3]> {
    let values = mesh.read(store, time, &[]).unwrap().velocity.into_f64();
    values.chunks_exact(3).map(|of| [of[0], of[1], of[2]]).collect()
}

pub(super) const SPEED: [(&str, &str); 1] = [("units", "m s-1")];
pub(super) const METRES: [(&str, &str); 1] = [("units", "m")];
pub(super) const EAST: [(&str, &str); 1] = [("units", "degrees_east")];
pub(super) const NORTH: [(&str, &str); 1] = [("units", "degrees_north")];

fn named(x: &str, y: &str, z: Option<&str>) -> Corners {
    Corners { x: Some(x.into()), y: Some(y.into()), z: z.map(Into::into), files: None }
}

/// The velocities through the west, east, south, north, bottom and top face of a cell.
fn faces(mesh: &CfMesh, values: &[[f64; 3]], cell: usize) -> [f64; 6] {
    let nodes = &mesh.cells[mesh.shape.nodes() * cell..];
    let at = |node: usize, c: usize| values[nodes[node] as usize][c];
    let top = if mesh.shape == CellShape::Hexahedron { at(4, 2) } else { 0.0 };
    [at(0, 0), at(1, 0), at(0, 1), at(3, 1), at(0, 2), top]
}

/// The lowest corner of a cell, and that opposite to it.
fn corners(mesh: &CfMesh, cell: usize) -> [[f64; 3]; 2] {
    let nodes = &mesh.cells[mesh.shape.nodes() * cell..];
    let last = if mesh.shape == CellShape::Hexahedron { 6 } else { 2 };
    [0, last].map(|node| mesh.points[nodes[node] as usize])
}

fn cells(mesh: &CfMesh) -> usize {
    mesh.cells.len() / mesh.shape.nodes()
}

/// A number that tells the variable and the indices.
fn code(c: usize, at: &[usize]) -> f64 {
    at.iter().fold(1.0 + c as f64, |code, i| 10.0 * code + *i as f64)
}

/// 4 x 3 x 2 cells numbered as NEMO does, with rows from north to south if `is_flipped`.
fn of_nemo(is_flipped: bool) -> Group {
    let y = move |j: usize| if is_flipped { 7.0 - j as f64 } else { j as f64 };
    Group::new()
        .with("xf", "x 5", &METRES, |at| 10.0 * at[0] as f64)
        .with("yf", "y 4", &METRES, move |at| y(at[0]))
        .with("depthw", "z 3", &[("units", "m"), ("positive", "down")], |at| 5.0 * at[0] as f64)
        .with("u", "t 2 z 2 y 4 x 5", &SPEED, |at| code(0, at))
        .with("v", "t 2 z 2 y 4 x 5", &SPEED, |at| code(1, at))
        .with("w", "t 2 zw 3 y 4 x 5", &SPEED, |at| code(2, at))
}

#[test]
fn faces_of_nemo_are_numbered_by_its_convention() {
    for is_flipped in [false, true] {
        let group = of_nemo(is_flipped);
        let request = MeshRequest {
            convention: Some(Convention::Nemo),
            corners: named("xf", "yf", Some("depthw")),
            ..MeshRequest::default()
        };
        let mesh = group.mesh(&request).unwrap();
        assert_eq!((mesh.placement, mesh.shape), (MeshPlacement::Faces, CellShape::Hexahedron));
        assert_eq!((cells(&mesh), mesh.points.len()), (4 * 3 * 2, 5 * 4 * 3));
        let values = group.values(&mesh, 1);
        for cell in 0..cells(&mesh) {
            let [[x, low, below], [east, high, above]] = corners(&mesh, cell);
            assert_eq!([east - x, high - low, above - below], [10.0, 1.0, 5.0]);
            let i = (x / 10.0) as usize;
            let k = (-above / 5.0) as usize;
            // The corners of the cell are in rows j and j + 1 of the file.
            let j = if is_flipped { 7 - high as usize } else { low as usize };
            let v = [code(1, &[1, k, j, i + 1]), code(1, &[1, k, j + 1, i + 1])];
            let [south, north] = if is_flipped { [-v[1], -v[0]] } else { v };
            let expected = [
                code(0, &[1, k, j + 1, i]),
                code(0, &[1, k, j + 1, i + 1]),
                south,
                north,
                code(2, &[1, k + 1, j + 1, i + 1]),
                code(2, &[1, k, j + 1, i + 1]),
            ];
            assert_eq!(faces(&mesh, &values, cell), expected, "{i} {j} {k}, {is_flipped}");
        }
        // As in mesh masks: with a dimension of time, and depths that no attribute describes.
        let bare = group.with("gdepw_1d", "t1 1 z 3", &METRES, |at| 5.0 * at[1] as f64);
        let request = MeshRequest { corners: named("xf", "yf", Some("gdepw_1d")), ..request };
        assert_eq!(bare.mesh(&request).unwrap().points, mesh.points);
        let count = |name| mesh.boundary.iter().find(|(of, _)| of == name).map(|(_, of)| of.len());
        assert_eq!(
            [count("open"), count("surface"), count("coast")],
            [Some(28 + 12), Some(12), None]
        );
    }
}

#[test]
fn variables_in_cells_are_means_at_corners() {
    // In the middle of cells, linear in x, y and z.
    let at =
        |z: f64, j: usize, i: usize| 3.0 * (10.0 * i as f64 - 5.0) + 2.0 * (j as f64 - 0.5) - z;
    let group = of_nemo(false)
        .with("T", "t 2 zt 2 y 4 x 5", &[], |n| {
            n[0] as f64 + at(5.0 * n[1] as f64 + 2.5, n[2], n[3])
        })
        .with("K", "t 2 zw 3 y 4 x 5", &[("units", "cm2 s-1")], |n| {
            100.0 + at(5.0 * n[1] as f64, n[2], n[3])
        })
        .with("h", "y 4 x 5", &[("units", "m")], |n| at(0.0, n[0], n[1]))
        .with("f", "t 2 z 2 y 3 x 5", &[], |_| 0.0)
        .with("deep", "t 2 zd 4 y 4 x 5", &[], |_| 0.0);
    let mut request = MeshRequest {
        convention: Some(Convention::Nemo),
        corners: named("xf", "yf", Some("depthw")),
        ..MeshRequest::default()
    };
    request.variables.arrays = vec!["T".into(), "h".into()];
    request.variables.diffusivity = Some("K".into());
    let mesh = group.mesh(&request).unwrap();
    let store = open(group.path()).unwrap();
    let frame = mesh.read(&*store, 1, &[]).unwrap();
    let [temperature, depth] = [0, 1].map(|k| frame.arrays[k].clone().into_f64());
    let diffusivity = frame.diffusivity.unwrap().into_f64();
    // Beyond the middle of the cells at the edge, as there.
    let inside = |x: f64, low: f64, high: f64| x.clamp(low, high);
    for (i, [x, y, z]) in mesh.points.iter().copied().enumerate() {
        let level = 3.0 * inside(x, 5.0, 35.0) + 2.0 * inside(y, 0.5, 2.5);
        let expected = [1.0 + level + inside(z, -7.5, -2.5), level, 1e-4 * (100.0 + level + z)];
        let found = [temperature[i], depth[i], diffusivity[i]];
        let is_near = |d: usize| (found[d] - expected[d]).abs() < 1e-4;
        assert!((0..3).all(is_near), "{x} {y} {z}: {found:?}, {expected:?}");
    }
    assert_eq!(mesh.at_values(&*store), ["K", "T", "deep", "h", "u", "v", "w"]);
    let refused = |name: &str| {
        let mut request = request.clone();
        request.variables.arrays = vec![name.into()];
        group.mesh(&request).unwrap_err()
    };
    assert!(refused("f").contains("`f`: it is not in the middle of the cells"), "{}", refused("f"));
    assert!(refused("deep").contains("it has 4 levels, and the velocity 2"), "{}", refused("deep"));
}

#[test]
fn corners_that_do_not_fit_are_refused() {
    let group = of_nemo(false).with("xt", "xt 7", &METRES, |at| at[0] as f64).with(
        "yt",
        "yt 6",
        &METRES,
        |at| at[0] as f64,
    );
    let with = |corners, convention| {
        let request = MeshRequest { convention, corners, ..MeshRequest::default() };
        group.mesh(&request).unwrap_err()
    };
    let nemo = Some(Convention::Nemo);
    let wide = with(named("xt", "yt", Some("depthw")), nemo);
    assert!(wide.contains("variable `u`") && wide.contains("another `convention`"), "{wide}");
    let unknown = with(named("xf", "yf", Some("depthv")), nemo);
    assert!(unknown.contains("no variable `depthv`"), "{unknown}");
    let half = with(Corners { x: Some("xf".into()), ..Corners::default() }, nemo);
    assert!(half.contains("`corners` has one of `x` and `y`"), "{half}");
    let short = with(named("xf", "yt", Some("xf")), nemo);
    assert!(short.contains("rows and columns"), "{short}");
}

#[test]
fn faces_of_mitgcm_are_numbered_by_its_convention() {
    let group = Group::new()
        .with("XG", "j 3 i 4", &METRES, |at| (10 * at[1] + at[0]) as f64)
        .with("YG", "j 3 i 4", &METRES, |at| (5 * at[0]) as f64)
        .with("Zp1", "Zp1 3", &METRES, |at| -2.0 * at[0] as f64)
        .with("U", "Z 2 j 3 i 4", &SPEED, |at| code(0, at))
        .with("V", "Z 2 j 3 i 4", &SPEED, |at| code(1, at))
        .with("W", "Zl 2 j 3 i 4", &SPEED, |at| code(2, at));
    let mesh = group.mesh(&MeshRequest { staggering: Some(Staggering::C), ..Default::default() });
    let mesh = mesh.unwrap();
    assert_eq!((mesh.placement, cells(&mesh)), (MeshPlacement::Faces, 3 * 2 * 2));
    let values = group.values(&mesh, 0);
    for cell in 0..cells(&mesh) {
        let [[x, y, _], [.., above]] = corners(&mesh, cell);
        let j = (y / 5.0) as usize;
        let (i, k) = ((x as usize - j) / 10, (-above / 2.0) as usize);
        // At the bottom w is 0: the file has no level there.
        let bottom = if k == 1 { 0.0 } else { code(2, &[1, j, i]) };
        let expected = [
            code(0, &[k, j, i]),
            code(0, &[k, j, i + 1]),
            code(1, &[k, j, i]),
            code(1, &[k, j + 1, i]),
            bottom,
            code(2, &[k, j, i]),
        ];
        assert_eq!(faces(&mesh, &values, cell), expected, "{i} {j} {k}");
    }
}

#[test]
fn nothing_flows_through_faces_of_land() {
    // The mask has the cells around the corners, too: land beyond the edge in row 0.
    let is_land = |j: usize, i: usize| (j, i) == (2, 2) || j == 0;
    let group = Group::new()
        .with("lon_psi", "eta_psi 4 xi_psi 4", &METRES, |at| at[1] as f64)
        .with("lat_psi", "eta_psi 4 xi_psi 4", &METRES, |at| at[0] as f64)
        .with("mask_rho", "eta_rho 5 xi_rho 5", &[], |at| f64::from(!is_land(at[0], at[1])))
        .with("u", "eta_u 5 xi_u 4", &SPEED, |_| 3.0)
        .with("v", "eta_v 4 xi_v 5", &SPEED, |_| 4.0);
    let mesh = group.mesh(&MeshRequest::default()).unwrap();
    assert_eq!((mesh.shape, cells(&mesh)), (CellShape::Quadrilateral, 8));
    let values = group.values(&mesh, 0);
    for cell in 0..cells(&mesh) {
        let [[x, y, _], _] = corners(&mesh, cell);
        // The cell is that of rho-point [row, column].
        let (j, i) = (y as usize + 1, x as usize + 1);
        let open = |j: usize, i: usize, through: f64| if is_land(j, i) { 0.0 } else { through };
        let expected = [
            open(j, i - 1, 3.0),
            open(j, i + 1, 3.0),
            open(j - 1, i, 4.0),
            open(j + 1, i, 4.0),
            0.0,
            0.0,
        ];
        assert_eq!(faces(&mesh, &values, cell), expected, "{j} {i}");
    }
    let coast = mesh.boundary.iter().find(|(name, _)| name == "coast").unwrap();
    assert_eq!(coast.1.len(), 4, "the sides of the land in the grid");
    let wrong = MeshRequest { convention: Some(Convention::Mitgcm), ..MeshRequest::default() };
    let wrong = MeshRequest { corners: named("lon_psi", "lat_psi", None), ..wrong };
    let bare = Group::new().with("u", "eta_u 5 xi_u 4", &SPEED, |_| 3.0).with(
        "v",
        "eta_v 4 xi_v 5",
        &SPEED,
        |_| 4.0,
    );
    let missing = bare.mesh(&MeshRequest::default()).unwrap_err();
    assert!(missing.contains("`lon_psi` and `lat_psi`, are missing; give"), "{missing}");
    assert!(bare.mesh(&wrong).unwrap_err().contains("no variable `lon_psi`"));
}

/// A curvilinear grid of 4 x 6 points, at longitudes around 180, with land in two corners of it.
fn curvilinear() -> Group {
    let lon =
        |at: &[usize]| (171.0 + 4.0 * at[1] as f64 + 0.5 * at[0] as f64 + 180.0) % 360.0 - 180.0;
    let east = [("units", "degrees_east"), ("standard_name", "longitude")];
    let of = [("units", "cm s-1"), ("coordinates", "lon lat"), ("_FillValue", "-999")];
    let is_land = |at: &[usize]| at[1] < 2 && at[2] < 2;
    let value = move |c: usize| move |at: &[usize]| if is_land(at) { -999.0 } else { code(c, at) };
    Group::new()
        .with("lon", "y 4 x 6", &east, lon)
        .with("lat", "y 4 x 6", &NORTH, |at| 60.0 + at[0] as f64 - 0.1 * at[1] as f64)
        .with("time", "time 2", &[("units", "hours since 2020-01-01")], |at| at[0] as f64)
        .with("angle", "y 4 x 6", &[("units", "radians")], |_| 0.3)
        .with("u", "time 2 y 4 x 6", &of, value(0))
        .with("v", "time 2 y 4 x 6", &of, value(1))
        .with("salt", "time 2 y 4 x 6", &[], |at| code(5, at))
}

#[test]
fn curvilinear_grids_have_continuous_longitudes_and_velocities_to_the_east() {
    let group = curvilinear();
    let mut request = MeshRequest::default();
    request.variables.arrays = vec!["salt".into()];
    let mut mesh = group.mesh(&request).unwrap();
    assert_eq!(
        (mesh.placement, mesh.global, mesh.is_in_degrees),
        (MeshPlacement::Points, None, true)
    );
    // One of 15 cells has land at all of its nodes.
    assert_eq!((cells(&mesh), mesh.points.len()), (14, 23));
    let values = group.values(&mesh, 1);
    let salt =
        mesh.read(&*open(group.path()).unwrap(), 1, &[]).unwrap().arrays.remove(0).into_f64();
    for (point, (value, salt)) in mesh.points.iter().zip(values.iter().zip(salt)) {
        let i = (0..6).find(|i| {
            let j = point[1] - 60.0 + 0.1 * *i as f64;
            (point[0] - (171.0 + 4.0 * *i as f64 + 0.5 * j)).abs() < 1e-9
        });
        let i = i.unwrap();
        let j = (point[1] - 60.0 + 0.1 * i as f64).round() as usize;
        let is_land = j < 2 && i < 2;
        let [u, v] = [0, 1].map(|c| if is_land { 0.0 } else { code(c, &[1, j, i]) / 100.0 });
        let (cos, sin) = (0.3_f64.cos(), 0.3_f64.sin());
        let expected = [u * cos - v * sin, u * sin + v * cos, 0.0];
        (0..3).for_each(|d| assert!((value[d] - expected[d]).abs() < 1e-12, "{j} {i}"));
        assert_eq!(salt, code(5, &[1, j, i]));
    }
    let notes = mesh.notes().join("\n");
    for note in ["turned to east by `angle`", "4 of 24 points are on land", "from cm s-1"] {
        assert!(notes.contains(note), "{notes}");
    }
    let count = |name| mesh.boundary.iter().find(|(of, _)| of == name).map(|(_, of)| of.len());
    assert_eq!([count("coast"), count("open")], [Some(2), Some(14)]);
    mesh.turn(-360.0);
    assert!(mesh.points.iter().all(|point| point[0] < -160.0));
    let cropped = MeshRequest {
        crop: [Some([-175.0, 60.0, -9.0]), Some([-172.0, 61.4, 9.0])],
        ..MeshRequest::default()
    };
    let part = group.mesh(&cropped).unwrap();
    assert_eq!((cells(&part), part.points.len()), (2 * 2, 3 * 3));
    let (values, all) = (group.values(&part, 0), group.values(&mesh, 0));
    for (point, value) in part.points.iter().zip(values) {
        let is_it = |other: &[f64; 3]| (0..3).all(|d| (other[d] - point[d]).abs() < 1e-9);
        assert_eq!(all[mesh.points.iter().position(is_it).unwrap()], value);
    }
}

#[test]
fn grids_around_the_earth_have_one_turn_of_cells() {
    // 12 columns of 30 degrees, with a halo of two as NEMO has, from 75 degrees on; the last row is the one before, mirrored.
    let lon = |i: usize| (75.0 + 30.0 * i as f64 + 180.0) % 360.0 - 180.0;
    let group = Group::new()
        .with("lon", "y 5 x 14", &EAST, |at| lon(at[1]))
        .with("lat", "y 5 x 14", &NORTH, |at| -80.0 + 30.0 * at[0] as f64)
        .with(
            "u",
            "y 5 x 14",
            &[("standard_name", "eastward_sea_water_velocity"), ("units", "m/s")],
            |at| lon(at[1]),
        )
        .with("v", "y 5 x 14", &SPEED, |_| 0.0);
    let mesh = group.mesh(&MeshRequest::default()).unwrap();
    assert_eq!(mesh.global, Some(-180.0));
    // 12 columns of 4 cells, and one more of the column across 180 degrees.
    assert_eq!(cells(&mesh), 4 * 13);
    let values = group.values(&mesh, 0);
    for (point, value) in mesh.points.iter().zip(&values) {
        assert_eq!((point[0] - value[0]).rem_euclid(360.0), 0.0);
        assert!((-196.0..=196.0).contains(&point[0]), "{point:?}");
    }
    assert!(mesh.notes().iter().any(|note| note.contains("4 columns of cells that repeat others")));
    let west = group.mesh(&MeshRequest { west: Some(15.0), ..MeshRequest::default() }).unwrap();
    assert_eq!((west.global, cells(&west)), (Some(15.0), 4 * 12));
    // Without a halo the last column is followed by the first one.
    let plain = Group::new()
        .with("lon", "y 3 x 12", &EAST, |at| 30.0 * at[1] as f64)
        .with("lat", "y 3 x 12", &NORTH, |at| 10.0 * at[0] as f64)
        .with("u", "y 3 x 12", &[("standard_name", "eastward_sea_water_velocity")], |_| 1.0)
        .with("v", "y 3 x 12", &[], |_| 0.0);
    let mesh = plain.mesh(&MeshRequest::default()).unwrap();
    assert_eq!((mesh.global, cells(&mesh)), (Some(0.0), 2 * 12));
    // Around the pole: rows of a square of 4 x 4 cells, of which none but the middle ones touch it.
    let at = |i: usize| i as f64 - 2.5;
    let polar = Group::new()
        .with("lon", "y 6 x 6", &EAST, |ji| at(ji[0]).atan2(at(ji[1])).to_degrees())
        .with("lat", "y 6 x 6", &NORTH, |ji| 90.0 - at(ji[0]).hypot(at(ji[1])))
        .with("u", "y 6 x 6", &[("standard_name", "eastward_sea_water_velocity")], |_| 1.0)
        .with("v", "y 6 x 6", &[], |_| 0.0);
    let mesh = polar.mesh(&MeshRequest::default()).unwrap();
    assert!(mesh.notes().iter().any(|note| note.contains("1 columns of cells around a pole")));
    // The cells across the cut are there on both sides.
    assert_eq!((mesh.global, cells(&mesh)), (Some(-180.0), 24 + 2));
}

#[test]
fn a_folded_grid_has_each_cell_once() {
    // The map z^2 folds the row d = 0 onto itself; the last row, d = -1, is the row d = 1 from the other side.
    let place = |at: &[usize]| [at[1] as f64 - 4.0, 3.0 - at[0] as f64];
    let lon = move |at: &[usize]| place(at)[0].powi(2) - place(at)[1].powi(2);
    let lat = move |at: &[usize]| 0.2 * place(at)[0] * place(at)[1];
    let group = Group::new()
        .with("glamf", "y 5 x 9", &EAST, lon)
        .with("gphif", "y 5 x 9", &NORTH, lat)
        .with("u", "y 5 x 9", &[("standard_name", "eastward_sea_water_velocity")], |_| 1.0)
        .with("v", "y 5 x 9", &[], |_| 0.0);
    for staggering in [Staggering::A, Staggering::C] {
        let request = MeshRequest {
            staggering: Some(staggering),
            corners: named("glamf", "gphif", None),
            ..MeshRequest::default()
        };
        let mesh = group.mesh(&request).unwrap();
        assert_eq!(cells(&mesh), 24, "{staggering:?}");
    }
}

/// Velocities on 3 x 3 points, missing at one of them at the first time, and at another one later.
#[test]
fn what_is_missing_later_is_not_a_number() {
    let of = [("units", "m s-1"), ("_FillValue", "-999")];
    let is_missing = |at: &[usize]| at[1..] == [1, 1] || at == [1, 0, 2];
    let value =
        move |c: usize| move |at: &[usize]| if is_missing(at) { -999.0 } else { code(c, at) };
    let group = Group::new()
        .with("x", "x 3", &METRES, |at| at[0] as f64)
        .with("y", "y 3", &METRES, |at| at[0] as f64)
        .with("time", "time 2", &[("units", "s")], |at| at[0] as f64)
        .with("u", "time 2 y 3 x 3", &of, value(0))
        .with("v", "time 2 y 3 x 3", &of, value(1));
    let mesh = group.mesh(&MeshRequest::default()).unwrap();
    let at = |x: f64, y: f64| mesh.points.iter().position(|p| p[..2] == [x, y]).unwrap();
    let (first, second) = (group.values(&mesh, 0), group.values(&mesh, 1));
    assert_eq!([first[at(1.0, 1.0)], second[at(1.0, 1.0)]], [[0.0; 3]; 2]);
    assert_eq!(first[at(2.0, 0.0)], [code(0, &[0, 0, 2]), code(1, &[0, 0, 2]), 0.0]);
    assert!(second[at(2.0, 0.0)][..2].iter().all(|v| v.is_nan()));
    // Of a C-grid, too: a face that is missing between cells of the sea is closed.
    let request = MeshRequest {
        convention: Some(Convention::Mitgcm),
        corners: named("x", "y", None),
        ..Default::default()
    };
    let faces = group.mesh(&request).unwrap();
    let at = |x: f64, y: f64| faces.points.iter().position(|p| p[..2] == [x, y]).unwrap();
    let values = [0, 1].map(|time| group.values(&faces, time));
    assert_eq!(values.each_ref().map(|of| of[at(1.0, 1.0)]), [[0.0; 3]; 2]);
    assert!(values[1][at(2.0, 0.0)][0].is_nan() && !values[0][at(2.0, 0.0)][0].is_nan());
    let notes = faces.notes().join(" ");
    assert!(notes.contains("`u` is missing at 1 places of the mesh at the first time"), "{notes}");
}

#[test]
fn levels_that_follow_the_bottom_are_heights() {
    let s = [-0.9, -0.5, -0.1];
    let stretched = |s: f64| -s * s;
    let depth = |at: &[usize]| 100.0 + 50.0 * at[0] as f64 + 7.0 * at[1] as f64;
    let (a, b, critical) = (5.0_f64, 0.4, 20.0);
    let of = move |s: f64| {
        (1.0 - b) * (a * s).sinh() / a.sinh()
            + b * ((a * (s + 0.5)).tanh() / (2.0 * (0.5 * a).tanh()) - 0.5)
    };
    type Formula = Box<dyn Fn(f64, f64) -> f64>;
    let formulas: [(&str, Formula); 4] = [
        ("ocean_sigma_coordinate", Box::new(|s, h| s * h)),
        ("ocean_s_coordinate", Box::new(move |s, h| critical * s + (h - critical) * of(s))),
        (
            "ocean_s_coordinate_g1",
            Box::new(move |s, h| critical * s + (h - critical) * stretched(s)),
        ),
        (
            "ocean_s_coordinate_g2",
            Box::new(move |s, h| h * (critical * s + h * stretched(s)) / (critical + h)),
        ),
    ];
    let terms = "s: level C: Cs eta: zeta depth: bathymetry depth_c: theta a: a b: b";
    for (standard, height) in formulas {
        let group = Group::new()
            .with("lon", "y 3 x 4", &EAST, |at| at[1] as f64)
            .with("lat", "y 3 x 4", &NORTH, |at| at[0] as f64)
            .with(
                "level",
                "level 3",
                &[("standard_name", standard), ("formula_terms", terms)],
                |at| s[at[0]],
            )
            .with("Cs", "level 3", &[], |at| stretched(s[at[0]]))
            .with("bathymetry", "y 3 x 4", &METRES, depth)
            .with("theta", "", &METRES, |_| critical)
            .with("a", "", &[], |_| a)
            .with("b", "", &[], |_| b)
            .with("u_eastward", "level 3 y 3 x 4", &SPEED, |at| code(0, at))
            .with("v_northward", "level 3 y 3 x 4", &SPEED, |at| code(1, at))
            .with("omega", "level 3 y 3 x 4", &SPEED, |_| 1.0);
        let mut request = MeshRequest::default();
        request.variables.velocity = vec!["u_eastward".into(), "v_northward".into()];
        let mesh = group.mesh(&request).unwrap();
        // With a layer up to the surface, which has the velocity of the highest level.
        assert_eq!((cells(&mesh), mesh.points.len()), (3 * 6, 4 * 12), "{standard}");
        let values = group.values(&mesh, 0);
        for (point, value) in mesh.points.iter().zip(&values) {
            let (i, j) = (point[0] as usize, point[1] as usize);
            let is_at = |k: &usize| (point[2] - height(s[*k], depth(&[j, i]))).abs() < 1e-9;
            let k = (0..3).find(is_at).or((point[2] == 0.0).then_some(2));
            assert_eq!(*value, [code(0, &[k.unwrap(), j, i]), code(1, &[k.unwrap(), j, i]), 0.0]);
        }
        let notes = mesh.notes().join("\n");
        assert!(notes.contains(standard) && notes.contains("with the surface at z = 0"), "{notes}");
        assert!(notes.contains("w = 0"), "{notes}");
    }
}

#[test]
fn components_in_files_of_their_own_are_read_as_one_file() {
    let time = [("units", "days since 2000-01-01")];
    let axis = |group: Group, count: usize, start: f64| {
        group
            .with("x", &format!("x {count}"), &METRES, |at| at[0] as f64)
            .with("y", "y 2", &METRES, |at| at[0] as f64)
            .with("time", "time 2", &time, move |at| start + at[0] as f64)
    };
    let file = |name: &str, start: f64| {
        let on = |at: &[usize]| code(usize::from(name == "v"), at);
        axis(Group::new(), 3, start).with(name, "time 2 y 2 x 3", &SPEED, on)
    };
    let (u, v) = (file("u", 0.0), file("v", 0.0));
    let paths =
        |all: &[&Group]| all.iter().map(|of| of.path().to_path_buf()).collect::<Vec<PathBuf>>();
    let grid =
        crate::CfGrid::of(open_joined(&paths(&[&u, &v])).unwrap(), &Default::default()).unwrap();
    let whole = grid.axes().each_ref().map(|axis| crate::Span::all(axis.len()));
    let values = grid.read(1, whole).unwrap().velocity.into_f64();
    assert_eq!(values[3 * 4..3 * 5], [code(0, &[1, 1, 1]), code(1, &[1, 1, 1]), 0.0]);
    let late = file("v", 1.0);
    let error = open_joined(&paths(&[&u, &late])).unwrap_err().to_string();
    assert!(error.contains("variable `time`: it differs from that of"), "{error}");
}

/// The cell with its first corner at a position, to 1e-5 degrees and 0.01 m.
fn cell_at(mesh: &CfMesh, position: [f64; 3]) -> usize {
    let is_it = |cell: &usize| {
        let [corner, _] = corners(mesh, *cell);
        let apart = [0, 1, 2].map(|d| (corner[d] - position[d]).abs());
        apart[0] < 1e-5 && apart[1] < 1e-5 && apart[2] < 0.01
    };
    (0..cells(mesh)).find(is_it).unwrap()
}

#[test]
fn a_roms_file_has_its_cells_faces_and_levels() {
    // Recomputed from the packed numbers with NumPy: first corner, height of the opposite one, u west and east, v south and
    // north at the second time.
    let Some(path) = flow_data("ocean/Nordic_subset.nc") else { return };
    let store = open(path).unwrap();
    let mesh = CfMesh::of(&*store, &MeshRequest::default()).unwrap();
    assert_eq!((mesh.placement, cells(&mesh)), (MeshPlacement::Faces, 409 * 35));
    let values = values(&*store, &mesh, 1);
    for (corner, top, expected) in [
        (
            [13.543883802, 67.303442498, -205.26775087],
            -207.053227264,
            [0.116408875, 0.104372304, -0.020112962, -0.012798071],
        ),
        (
            [13.543883802, 67.303442498, -21.733918236],
            -20.665933196,
            [-0.046846031, -0.025579837, 0.09457323, 0.136228121],
        ),
        (
            [14.388608649, 67.770490995, -0.919194137],
            0.0,
            [0.161462756, 0.152589949, 0.011874983, 0.011475134],
        ),
    ] {
        let cell = cell_at(&mesh, corner);
        let [.., [_, _, above]] = corners(&mesh, cell);
        assert!((above - top).abs() < 1e-4, "{above} {top}");
        let found = faces(&mesh, &values, cell);
        (0..4)
            .for_each(|f| assert!((found[f] - expected[f]).abs() < 1e-7, "{found:?} {expected:?}"));
        assert_eq!(found[4..], [0.0, 0.0]);
    }
    let with = |name: &str| {
        let mut request = MeshRequest::default();
        request.variables.arrays = vec![name.into()];
        CfMesh::of(&*store, &request)
    };
    assert!(with("temp").is_ok() && with("zeta").is_ok());
    for name in ["ubar", "vbar"] {
        let refused = with(name).map(drop).expect_err(name).to_string();
        assert!(refused.contains("it is not in the middle of the cells"), "{refused}");
    }
}

#[test]
fn a_croco_file_has_some_layers_and_corners_in_its_grid_file() {
    let (Some(path), Some(grid)) =
        (flow_data("ocean/croco_his.nc"), flow_data("ocean/croco_grd.nc"))
    else {
        return;
    };
    let store = open(path).unwrap();
    let corners_in = Corners { files: Some(grid), ..Corners::default() };
    let mesh = CfMesh::of(&*store, &MeshRequest { corners: corners_in, ..MeshRequest::default() })
        .unwrap();
    assert_eq!((mesh.placement, cells(&mesh)), (MeshPlacement::Faces, 1293 * 3));
    let values = values(&*store, &mesh, 1);
    for (corner, top, expected) in [
        (
            [10.5, -36.543622022490744, -5129.497563876073],
            -4747.893764141889,
            [
                0.001563936355523765,
                0.0023911234457045794,
                -0.01193251647055149,
                -0.014533698558807373,
            ],
        ),
        (
            [12.166666666666666, -29.57858507275538, -3210.2469054416524],
            -2702.9565592375466,
            [
                -0.010664207860827446,
                -0.01755380816757679,
                0.015292770229279995,
                0.019136669114232063,
            ],
        ),
    ] {
        let cell = cell_at(&mesh, corner);
        let [.., [_, _, above]] = corners(&mesh, cell);
        assert!((above - top).abs() < 1e-6, "{above} {top}");
        let found = faces(&mesh, &values, cell);
        (0..4).for_each(|f| assert_eq!(found[f], expected[f], "{f}"));
    }
    // The layers are those at the bottom, and end below the surface.
    assert!(mesh.boundary.iter().all(|(name, _)| name != "surface"));
}

#[test]
fn a_b_grid_of_mom_has_w_at_the_corners_of_its_cells() {
    let paths: Vec<Option<PathBuf>> = ["u", "v", "wt"]
        .iter()
        .map(|of| flow_data(&format!("ocean/access-om2-01_{of}.nc")))
        .collect();
    let Some(paths) = paths.into_iter().collect::<Option<Vec<PathBuf>>>() else { return };
    let store = open_joined(&paths).unwrap();
    let mesh = CfMesh::of(&*store, &MeshRequest::default()).unwrap();
    assert_eq!(
        (mesh.placement, cells(&mesh), mesh.points.len()),
        (MeshPlacement::Points, 7 * 10 * 4, 8 * 11 * 5)
    );
    let values = values(&*store, &mesh, 2);
    // Means of the four neighbours, by NumPy's `interp` in depth, with w = 0 at the surface.
    for (at, expected) in [
        (
            [-247.1, -64.17899366, -0.54128077],
            [-0.02608489990234375, -0.02353668212890625, 3.3760469975163687e-9],
        ),
        (
            [-246.9, -64.09174449, -2.93995265],
            [-0.010829925537109375, -0.0198516845703125, -7.450580419288144e-7],
        ),
    ] {
        let is_it = |point: &[f64; 3]| (0..3).all(|d| (point[d] - at[d]).abs() < 1e-6);
        let found = values[mesh.points.iter().position(is_it).unwrap()];
        assert_eq!(found[..2], expected[..2]);
        assert!((found[2] - expected[2]).abs() < 1e-13, "{} {}", found[2], expected[2]);
        // At the surface the velocity is that of the highest level, and w = 0.
        let above = |point: &[f64; 3]| {
            point[..2] == mesh.points[mesh.points.iter().position(is_it).unwrap()][..2]
                && point[2] == 0.0
        };
        let surface = values[mesh.points.iter().position(above).unwrap()];
        assert_eq!((surface[..2] == found[..2], surface[2]), (at[2] > -1.0, 0.0));
    }
}

/// A grid around the earth with longitudes from 15 degrees and no halo, from 40 degrees south to north.
fn around_the_earth() -> Group {
    Group::new()
        .with("lon", "y 9 x 12", &EAST, |at| (15.0 + 30.0 * at[1] as f64 + 180.0) % 360.0 - 180.0)
        .with("lat", "y 9 x 12", &NORTH, |at| -40.0 + 10.0 * at[0] as f64)
        .with("u", "y 9 x 12", &[("standard_name", "eastward_sea_water_velocity")], |_| 1.0)
        .with("v", "y 9 x 12", &[], |_| 0.0)
}

#[test]
fn a_crop_of_a_grid_around_the_earth_has_the_cells_of_the_box_only() {
    let group = around_the_earth();
    let cropped = |west: f64, east: f64| {
        let crop = [Some([west, -5.0, -9.0]), Some([east, 5.0, 9.0])];
        let mesh = group.mesh(&MeshRequest { crop, ..MeshRequest::default() }).unwrap();
        (cells(&mesh), mesh.global)
    };
    // Two columns of cells, of 45 to 105 degrees; of 165 to 225, across 180 degrees; and of other turns.
    assert_eq!(cropped(50.0, 100.0), (2 * 2, None));
    assert_eq!(cropped(170.0, 200.0), (2 * 2, None));
    assert_eq!(cropped(-190.0, -160.0), (2 * 2, None));
    assert_eq!(cropped(410.0, 420.0), (2, None));
    // The column from the last to the first one is read with all others.
    assert_eq!(cropped(-10.0, 10.0), (2 * 12 + 2, Some(-180.0)));
}

#[test]
fn files_of_another_mesh_are_told_by_what_differs() {
    let [x, down] = [&METRES[..], &[("units", "m"), ("positive", "down")][..]];
    let group = |depth: f64, positive: &str, units: &str, hole: f64| {
        Group::new()
            .with("x", "y 3 x 3", x, |at| at[1] as f64)
            .with("y", "y 3 x 3", x, |at| at[0] as f64)
            .with("level", "level 2", &[("units", "m"), ("positive", positive)], move |at| {
                1.0 + depth * at[0] as f64
            })
            .with("time", "time 2", &[("units", "s")], |at| at[0] as f64)
            .with("wet", "y 3 x 3", &[], move |at| if at == [1, 1] { hole } else { 1.0 })
            .with("u", "time 2 level 2 y 3 x 3", &[("units", units)], |_| 1.0)
            .with("v", "time 2 level 2 y 3 x 3", &[("units", units)], |_| 1.0)
    };
    let request = MeshRequest { mask: Some(("wet".into(), None)), ..MeshRequest::default() };
    let first = group(1.0, "down", "m s-1", 0.0);
    let store = open(first.path()).unwrap();
    let mesh = CfMesh::of(&*store, &request).unwrap();
    let fingerprint = mesh.fingerprint(&*store).unwrap();
    let difference = |of: Group| fingerprint.difference(&*open(of.path()).unwrap()).unwrap();
    assert_eq!(difference(group(1.0, "down", "m/s", 0.0)), None);
    assert_eq!(difference(group(1.0, "down", "cm s-1", 0.0)), None, "each file is converted");
    for (other, part) in [
        (group(2.0, "down", "m s-1", 0.0), "`level` has other values"),
        (group(1.0, "up", "m s-1", 0.0), "`level` has other `positive`"),
        (group(1.0, "down", "m s-1", 1.0), "`wet` has other values"),
    ] {
        let found = difference(other).unwrap();
        assert!(found.contains(part), "{found}");
    }
    let bare = group(1.0, "down", "", 0.0);
    assert_eq!(difference(bare), None, "metres per second without units");
    let cm = group(1.0, "down", "cm s-1", 0.0);
    let store = open(cm.path()).unwrap();
    let of_cm = CfMesh::of(&*store, &request).unwrap().fingerprint(&*store).unwrap();
    let bare = group(1.0, "down", "", 0.0);
    let found = of_cm.difference(&*open(bare.path()).unwrap()).unwrap().unwrap();
    assert!(found.contains("`u` is converted in one of them, and lacks `units`"), "{found}");
    // Numbers that are missing at the same places are the same.
    let holes = |offset: f64| {
        Group::new()
            .with("x", "x 3", x, |at| at[0] as f64)
            .with("y", "y 3", x, |at| at[0] as f64)
            .with("depth", "z 2", down, |at| at[0] as f64)
            .with("wet", "y 3 x 3", &[], move |at| {
                if at == [1, 1] { f64::NAN } else { 1.0 + offset * at[0] as f64 }
            })
            .with("u", "y 3 x 3", &SPEED, |_| 1.0)
            .with("v", "y 3 x 3", &SPEED, |_| 1.0)
    };
    let of = |group: &Group| {
        let store = open(group.path()).unwrap();
        CfMesh::of(&*store, &request).unwrap().fingerprint(&*store).unwrap()
    };
    let (a, b, c) = (holes(0.0), holes(0.0), holes(1.0));
    let difference = |other: &Group| of(&a).difference(&*open(other.path()).unwrap()).unwrap();
    assert_eq!(difference(&b), None);
    assert!(difference(&c).is_some());
}

/// A flat grid of 3 x 4 points with a velocity of these dimensions, and other variables.
fn flat(dimensions: &str, speed: &[(&str, &str)]) -> Group {
    Group::new()
        .with("x", "x 4", &METRES, |at| at[0] as f64)
        .with("y", "y 3", &METRES, |at| at[0] as f64)
        .with("time", "time 2", &[("units", "s")], |at| at[0] as f64)
        .with("u", dimensions, speed, |_| 1.0)
        .with("v", dimensions, speed, |_| 1.0)
}

#[test]
fn dimensions_that_are_not_of_a_grid_are_refused() {
    let error = |group: Group| group.mesh(&MeshRequest::default()).unwrap_err();
    let last = error(flat("y 3 x 4 time 2", &SPEED));
    assert!(last.contains("transpose it"), "{last}");
    let member = error(flat("member 3 y 3 x 4", &SPEED));
    assert!(member.contains("`ds.isel(member=0)`"), "{member}");
    let realization = [("standard_name", "realization"), ("units", "1")];
    let run = flat("run 3 y 3 x 4", &SPEED).with("run", "run 3", &realization, |at| at[0] as f64);
    assert!(error(run).contains("`ds.isel(run=0)`"));
    // Of a single one the number is no height.
    let one = flat("run 1 y 3 x 4", &SPEED).with("run", "run 1", &realization, |_| 7.0);
    assert_eq!(one.mesh(&MeshRequest::default()).unwrap().points[0][2], 0.0);
}

#[test]
fn axes_of_more_points_than_can_be_read_are_refused() {
    let group = flat("y 3 x 4", &SPEED)
        .with("lon", "a 70000", &EAST, |at| at[0] as f64 / 1e3)
        .with("lat", "b 70000", &NORTH, |at| at[0] as f64 / 1e3);
    for convention in [None, Some(Convention::Nemo)] {
        let corners = named("lon", "lat", None);
        let request = MeshRequest { convention, corners, ..MeshRequest::default() };
        let error = group.mesh(&request).unwrap_err();
        assert!(error.contains("70000 x 70000"), "{error}");
    }
}

#[test]
fn an_angle_may_be_missing_on_land_only() {
    let angle = [("units", "radians"), ("_FillValue", "-999")];
    let group = |hole: [usize; 2], listed: &str| {
        let of = [("units", "m s-1"), ("_FillValue", "-999"), ("coordinates", listed)];
        let on_land = |at: &[usize]| if at == [1, 1] { -999.0 } else { 2.0 };
        Group::new()
            .with("lon", "y 3 x 4", &EAST, |at| at[1] as f64)
            .with("lat", "y 3 x 4", &NORTH, |at| at[0] as f64)
            .with("angle", "y 3 x 4", &angle, move |at| if at == hole { -999.0 } else { 0.5 })
            .with("u", "y 3 x 4", &of, on_land)
            .with("v", "y 3 x 4", &of, on_land)
    };
    // The angle is no position, listed or not.
    for listed in ["lon lat", ""] {
        let on_land = group([1, 1], listed);
        let mesh = on_land.mesh(&MeshRequest::default()).unwrap();
        let values = on_land.values(&mesh, 0);
        assert!(values.iter().flatten().all(|value| value.is_finite()), "{values:?}");
    }
    let error = group([0, 2], "lon lat").mesh(&MeshRequest::default()).unwrap_err();
    assert!(error.contains("variable `angle`: it is missing at points with a velocity"), "{error}");
}

#[test]
fn a_vertical_velocity_is_a_number_where_levels_coincide_and_beyond_its_points() {
    let sigma =
        [("standard_name", "ocean_sigma_coordinate"), ("formula_terms", "sigma: s depth: h")];
    let request = MeshRequest { staggering: Some(Staggering::A), ..MeshRequest::default() };
    let dry = Group::new()
        .with("x", "x 3", &METRES, |at| at[0] as f64)
        .with("y", "y 3", &METRES, |at| at[0] as f64)
        .with("s", "s 2", &sigma, |at| -0.75 + 0.5 * at[0] as f64)
        .with("sw", "sw 3", &sigma, |at| -1.0 + 0.5 * at[0] as f64)
        .with("h", "y 3 x 3", &METRES, |at| if at == [1, 1] { 0.0 } else { 8.0 })
        .with("u", "s 2 y 3 x 3", &SPEED, |_| 1.0)
        .with("v", "s 2 y 3 x 3", &SPEED, |_| 1.0)
        .with("w", "sw 3 y 3 x 3", &[("units", "m s-1"), ("positive", "down")], |_| 1.0);
    let mesh = dry.mesh(&request).unwrap();
    let values = dry.values(&mesh, 0);
    assert!(values.iter().flatten().all(|value| value.is_finite()), "{values:?}");
    assert!(mesh.notes().iter().any(|note| note == "`w` is downward: w = -w"));
    // w at the middles of the first 3 x 3 of 4 x 4 cells.
    let part = Group::new()
        .with("x", "x 5", &METRES, |at| at[0] as f64)
        .with("y", "y 5", &METRES, |at| at[0] as f64)
        .with("xw", "xw 3", &[("units", "m"), ("axis", "X")], |at| at[0] as f64 + 0.5)
        .with("yw", "yw 3", &[("units", "m"), ("axis", "Y")], |at| at[0] as f64 + 0.5)
        .with("z", "z 2", &METRES, |at| -10.0 + at[0] as f64)
        .with("u", "z 2 y 5 x 5", &SPEED, |_| 1.0)
        .with("v", "z 2 y 5 x 5", &SPEED, |_| 1.0)
        .with("w", "z 2 yw 3 xw 3", &SPEED, |_| 2.0);
    let mesh = part.mesh(&request).unwrap();
    for (point, value) in mesh.points.iter().zip(part.values(&mesh, 0)) {
        let is_inside = point[0] < 4.0 && point[1] < 4.0;
        assert_eq!(value, [1.0, 1.0, if is_inside { 2.0 } else { 0.0 }], "{point:?}");
    }
}

#[test]
fn other_variables_are_of_the_times_and_units_of_the_velocity() {
    let group = |name: &str, dimensions: &str, units: &str| {
        let group = flat("time 2 y 3 x 4", &[("units", "cm s-1")]);
        group.with(name, dimensions, &[("units", units)], |_| 300.0)
    };
    let mut request = MeshRequest::default();
    request.variables.arrays = vec!["salt".into()];
    let error = group("salt", "t 3 y 3 x 4", "1").mesh(&request).unwrap_err();
    assert!(error.contains("`salt`: it is at other times than the velocity"), "{error}");
    assert!(group("salt", "y 3 x 4", "1").mesh(&request).is_ok(), "without times");
    request.variables.arrays.clear();
    request.variables.diffusivity = Some("k".into());
    let error = group("k", "time 2 y 3 x 4", "").mesh(&request).unwrap_err();
    assert!(error.contains("`k`: it has no attribute `units`"), "{error}");
    let converted = group("k", "time 2 y 3 x 4", "cm2 s-1").mesh(&request).unwrap();
    assert!(converted.notes().iter().any(|note| note.contains("`k` is converted from cm2 s-1")));
}

#[test]
fn cells_repeat_others_by_the_rounding_of_degrees_only() {
    let of_turn = |i: usize| f64::from((10.123 + 30.0 * i as f64) as f32);
    let eastward = [("standard_name", "eastward_sea_water_velocity")];
    let halo = Group::new()
        .with("lon", "y 9 x 14", &EAST, |at| of_turn(at[1]))
        .with("lat", "y 9 x 14", &NORTH, |at| -80.0 + 20.0 * at[0] as f64)
        .with("u", "y 9 x 14", &eastward, |_| 1.0)
        .with("v", "y 9 x 14", &[], |_| 0.0);
    let mesh = halo.mesh(&MeshRequest { west: Some(10.0), ..MeshRequest::default() }).unwrap();
    assert!(mesh.notes().iter().any(|note| note.starts_with("8 columns of cells that repeat")));
    // Points without positions, as of processors on land: one of their 9 cells is kept.
    let is_bare = |at: &[usize]| at[0] < 4 && at[1] < 4;
    let bare = Group::new()
        .with("lon", "y 9 x 9", &EAST, |at| if is_bare(at) { 0.0 } else { 40.0 + at[1] as f64 })
        .with("lat", "y 9 x 9", &NORTH, |at| if is_bare(at) { 0.0 } else { 40.0 + at[0] as f64 })
        .with("u", "y 9 x 9", &eastward, |_| 1.0)
        .with("v", "y 9 x 9", &[], |_| 0.0);
    let mesh = bare.mesh(&MeshRequest::default()).unwrap();
    assert!(mesh.notes().iter().any(|note| note.starts_with("8 columns of cells that repeat")));
    // Cells of 0.3 m.
    let small = Group::new()
        .with("lon", "y 9 x 9", &EAST, |at| 3e-6 * at[1] as f64)
        .with("lat", "y 9 x 9", &NORTH, |at| 3e-6 * at[0] as f64)
        .with("u", "y 9 x 9", &eastward, |_| 1.0)
        .with("v", "y 9 x 9", &[], |_| 0.0);
    assert_eq!(cells(&small.mesh(&MeshRequest::default()).unwrap()), 64);
}

#[test]
fn the_value_of_land_is_a_velocity_in_metres_per_second() {
    let on_land = |at: &[usize]| if at[1] < 2 { -999.0 } else { 20.0 };
    let of = [("units", "cm s-1")];
    let group = Group::new()
        .with("x", "x 4", &METRES, |at| at[0] as f64)
        .with("y", "y 3", &METRES, |at| at[0] as f64)
        .with("u", "y 3 x 4", &of, on_land)
        .with("v", "y 3 x 4", &of, on_land);
    let request = MeshRequest { land_value: Some(-9.99), ..MeshRequest::default() };
    let mesh = group.mesh(&request).unwrap();
    assert_eq!(cells(&mesh), 4);
}

#[test]
fn positions_are_both_of_one_file() {
    let own = flat("b 3 a 4", &SPEED).with("lon", "b 3 a 4", &EAST, |at| at[1] as f64);
    let grid = Group::new()
        .with("glon", "b 3 a 4", &[("units", "degrees_east")], |at| 50.0 + at[1] as f64)
        .with("glat", "b 3 a 4", &NORTH, |at| at[0] as f64);
    let corners = Corners { files: Some(grid.path().into()), ..Corners::default() };
    let mesh = own.mesh(&MeshRequest { corners, ..MeshRequest::default() }).unwrap();
    assert!(mesh.points.iter().all(|point| point[0] >= 50.0));
    // One of the own file, and the other of the grid.
    let half = Group::new().with("glat", "b 3 a 4", &NORTH, |at| at[0] as f64);
    let corners = Corners { files: Some(half.path().into()), ..Corners::default() };
    let error = own.mesh(&MeshRequest { corners, ..MeshRequest::default() }).unwrap_err();
    assert!(error.contains("are not found"), "{error}");
}

#[test]
fn one_of_two_positions_is_refused() {
    for convention in [None, Some(Convention::Nemo)] {
        let corners = Corners { x: Some("x".into()), ..Corners::default() };
        let request = MeshRequest { convention, corners, ..MeshRequest::default() };
        let error = flat("y 3 x 4", &SPEED).mesh(&request).unwrap_err();
        assert!(error.contains("`corners` has one of `x` and `y`"), "{error}");
    }
}
