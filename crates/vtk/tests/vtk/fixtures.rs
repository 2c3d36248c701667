use super::common::{array, fixtures, folder, p, points, values, velocity};
use burntrace_vtk::{Association, Attribute, Geometry, Kind, ScalarType, Values, VtkFile, open};

const X: [f64; 4] = [0.0, 0.5, 1.5, 4.0];
const Y: [f64; 3] = [-1.0, 0.25, 2.0];
const Z: [f64; 2] = [3.0, 3.5];

/// All generated files but the unstructured grid in two pieces, which contains shared points twice.
fn generated() -> Vec<VtkFile> {
    let is_generated = |name: &str| !name.starts_with("hand-") && name != "two-pieces.vtu";
    let files = fixtures().into_iter();
    files
        .filter(|path| is_generated(path.file_name().unwrap().to_str().unwrap()))
        .map(|path| open(path).unwrap())
        .collect()
}

#[test]
fn arrays_have_the_values_of_the_formulas() {
    for file in generated() {
        let name = file.path().display();
        let points = points(&file);
        assert_eq!(points.len(), file.geometry().num_points(), "{name}");
        let expected: Vec<f64> = points.iter().flat_map(|point| velocity(*point)).collect();
        assert_eq!(values(&file, "velocity"), expected, "{name}");
        let expected: Vec<f64> = points.iter().map(|point| p(*point)).collect();
        assert_eq!(values(&file, "p"), expected, "{name}");
        let ids: Vec<i32> = (0..).take(points.len()).collect();
        assert_eq!(file.read(array(&file, "id")).unwrap().values, Values::I32(ids), "{name}");
        let density: Vec<f32> =
            (100_u8..).map(f32::from).take(file.geometry().num_cells()).collect();
        assert_eq!(
            file.read(array(&file, "density")).unwrap().values,
            Values::F32(density),
            "{name}"
        );
        assert_eq!(file.time_value().unwrap(), Some(0.75), "{name}");
    }
}

#[test]
fn points_are_at_their_positions() {
    for file in generated() {
        let name = file.path().display().to_string();
        let layers = if file.kind() == Kind::PolyData { 1 } else { 2 };
        let shear = if file.kind() == Kind::RectilinearGrid { 0.0 } else { 0.5 };
        let mut expected = Vec::new();
        for z in Z.iter().take(layers) {
            for y in Y {
                expected.extend(X.map(|x| [x + shear * y, y, *z]));
            }
        }
        if file.kind() == Kind::ImageData {
            let axes = [vec![0.5, 1.0, 1.5, 2.0], vec![-1.0, -0.75, -0.5], vec![2.0, 4.0]];
            assert_eq!(file.coordinates().unwrap(), axes, "{name}");
        } else {
            assert_eq!(points(&file), expected, "{name}");
        }
    }
}

#[test]
fn arrays_have_type_association_and_attribute() {
    for file in generated() {
        let name = file.path().display();
        let velocity = array(&file, "velocity");
        assert_eq!(velocity.association, Association::Point, "{name}");
        assert_eq!((velocity.components, velocity.scalar), (3, ScalarType::F32), "{name}");
        assert_eq!(velocity.attribute, Some(Attribute::Vectors), "{name}");
        assert_eq!(velocity.tuples, file.geometry().num_points(), "{name}");
        let p = array(&file, "p");
        assert_eq!((p.scalar, p.attribute), (ScalarType::F64, Some(Attribute::Scalars)), "{name}");
        assert_eq!(array(&file, "id").scalar, ScalarType::I32, "{name}");
        let density = array(&file, "density");
        assert_eq!(density.association, Association::Cell, "{name}");
        assert_eq!(density.tuples, file.geometry().num_cells(), "{name}");
        assert_eq!(array(&file, "TimeValue").association, Association::Field, "{name}");
        assert_eq!(file.arrays().len(), 5, "{name}");
    }
}

#[test]
fn geometry_is_read_for_every_kind() {
    let open = |name: &str| open(folder().join(name)).unwrap();
    for name in ["raw.vti", "image-binary-42.vtk", "two-pieces.vti"] {
        let file = open(name);
        let Geometry::Image { extent, origin, spacing, .. } = *file.geometry() else {
            panic!("{name}")
        };
        assert_eq!(
            (extent, origin, spacing),
            ([0, 3, 0, 2, 0, 1], [0.5, -1.0, 2.0], [0.5, 0.25, 2.0]),
            "{name}"
        );
        assert_eq!(file.geometry().dims(), Some([4, 3, 2]));
        assert!(file.points().is_err());
    }
    for name in ["raw.vts", "structured-ascii-51.vtk", "two-pieces.vts"] {
        let expected = Geometry::Structured { dims: [4, 3, 2], extent: [0, 3, 0, 2, 0, 1] };
        assert_eq!(*open(name).geometry(), expected, "{name}");
        assert!(open(name).coordinates().is_err());
    }
    for name in ["raw.vtu", "unstructured-binary-51.vtk", "unstructured-ascii-42.vtk"] {
        assert_eq!(
            *open(name).geometry(),
            Geometry::Unstructured { points: 24, cells: 6 },
            "{name}"
        );
    }
    for name in ["raw.vtp", "poly-binary-51.vtk", "poly-ascii-42.vtk"] {
        let expected = Geometry::PolyData { points: 12, verts: 1, lines: 1, strips: 0, polys: 3 };
        assert_eq!(*open(name).geometry(), expected, "{name}");
    }
}

#[test]
fn encodings_are_described() {
    let encoding = |name: &str| open(folder().join(name)).unwrap().encoding();
    assert_eq!(encoding("image-ascii-42.vtk"), "legacy, ASCII");
    assert_eq!(encoding("image-binary-51.vtk"), "legacy, binary");
    assert_eq!(encoding("ascii.vti"), "XML, ASCII");
    assert_eq!(encoding("base64-lz4-u32.vtr"), "XML, base64, lz4");
    assert_eq!(encoding("raw.vtu"), "XML, appended raw");
    assert_eq!(encoding("appended64-zlib.vts"), "XML, appended base64, zlib");
}

fn topology(file: &VtkFile, name: &str) -> Vec<f64> {
    let array = file.topology().iter().find(|array| array.name == name);
    let array = array.unwrap_or_else(|| panic!("{}: no `{name}`", file.path().display()));
    assert_eq!(array.association, Association::Topology);
    file.read(array).unwrap().values.into_f64()
}

/// The connectivity of the six hexahedra.
fn hexahedra() -> Vec<f64> {
    let first = [0, 1, 2, 4, 5, 6];
    let corners = |a: i32| [a, a + 1, a + 5, a + 4, a + 12, a + 13, a + 17, a + 16];
    first.into_iter().flat_map(corners).map(f64::from).collect()
}

#[test]
fn cells_of_unstructured_grids_are_read() {
    for file in generated().into_iter().filter(|file| file.kind() == Kind::UnstructuredGrid) {
        let name = file.path().display().to_string();
        assert_eq!(topology(&file, "types"), [12.0; 6], "{name}");
        if name.ends_with("-42.vtk") {
            let cells: Vec<f64> =
                hexahedra().chunks(8).flat_map(|cell| [&[8.0], cell].concat()).collect();
            assert_eq!(topology(&file, "cells"), cells, "{name}");
            continue;
        }
        assert_eq!(topology(&file, "connectivity"), hexahedra(), "{name}");
        let first = if name.ends_with("-51.vtk") { 0 } else { 1 };
        let offsets: Vec<f64> = (first..=6).map(|cell| f64::from(8 * cell)).collect();
        assert_eq!(topology(&file, "offsets"), offsets, "{name}");
    }
}

#[test]
fn cells_of_later_pieces_have_offset_indices() {
    let file = open(folder().join("two-pieces.vtu")).unwrap();
    assert_eq!(*file.geometry(), Geometry::Unstructured { points: 32, cells: 6 });
    assert_eq!(topology(&file, "types"), [12.0; 6]);
    assert_eq!(topology(&file, "offsets"), [8.0, 16.0, 24.0, 32.0, 40.0, 48.0]);
    assert_eq!(values(&file, "density"), [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]);
    let whole = open(folder().join("raw.vtu")).unwrap();
    let corners = |file: &VtkFile| {
        let points = points(file);
        let corners = topology(file, "connectivity").into_iter();
        corners.map(|point| points[point as usize]).collect::<Vec<_>>()
    };
    assert_eq!(corners(&file), corners(&whole));
    let expected: Vec<f64> = points(&file).iter().map(|point| p(*point)).collect();
    assert_eq!(values(&file, "p"), expected);
}

#[test]
fn cells_of_poly_data_are_read() {
    let file = open(folder().join("raw-zlib.vtp")).unwrap();
    assert_eq!(topology(&file, "lines/connectivity"), [0.0, 1.0, 2.0]);
    assert_eq!(topology(&file, "polys/offsets"), [4.0, 8.0, 12.0]);
    let file = open(folder().join("poly-binary-51.vtk")).unwrap();
    assert_eq!(topology(&file, "polys/offsets"), [0.0, 4.0, 8.0, 12.0]);
    let file = open(folder().join("poly-binary-42.vtk")).unwrap();
    assert_eq!(topology(&file, "lines/cells"), [3.0, 0.0, 1.0, 2.0]);
}

#[test]
fn array_of_another_file_is_refused() {
    let (one, other) =
        (open(folder().join("raw.vti")).unwrap(), open(folder().join("ascii.vti")).unwrap());
    let error = one.read(array(&other, "velocity")).unwrap_err().to_string();
    assert!(
        error.ends_with("does not list the array `velocity`; pass an entry of its `arrays()`"),
        "{error}"
    );
}

#[test]
fn threads_share_a_file() {
    let file = open(folder().join("raw-zlib.vti")).unwrap();
    let expected = values(&file, "p");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(values(&file, "p"), expected));
        }
    });
}
