use std::path::Path;

use super::common::{folder, p, points, values, velocity};
use super::requirements::flow_data;
use burntrace_vtk::{Geometry, VtkFile, open};

/// The values of a topology array.
fn topology(file: &VtkFile, name: &str) -> Vec<f64> {
    let array = file.topology().iter().find(|array| array.name == name).unwrap();
    file.read(array).unwrap().values.into_f64()
}

/// Poly data: `n` triangles on `3 n` points from `x` on, and optionally a vertex on the first point.
fn triangles(n: usize, x: usize, vertex: bool) -> String {
    let list =
        |numbers: Vec<usize>| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    let array = |kind: &str, name: &str, components: usize, numbers: Vec<usize>| {
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"ascii\">{}</DataArray>",
            list(numbers)
        )
    };
    let cells = |count: usize, corners: usize| {
        array("Int32", "connectivity", 1, (0..count * corners).collect())
            + &array("Int32", "offsets", 1, (1..=count).map(|cell| cell * corners).collect())
    };
    let at = |i| [x + i, 0, 0];
    format!(
        "<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfPolys=\"{n}\">\
         <PointData>{}</PointData><CellData>{}</CellData><Points>{}</Points>\
         <Verts>{}</Verts><Polys>{}</Polys></Piece>",
        3 * n,
        usize::from(vertex),
        array("Float32", "U", 3, (0..3 * n).flat_map(at).collect()),
        array("Int16", "c", 1, (0..n + usize::from(vertex)).map(|cell| x + cell).collect()),
        array("Float64", "Points", 3, (0..3 * n).flat_map(at).collect()),
        cells(usize::from(vertex), 1),
        cells(n, 3)
    )
}

fn xml(kind: &str, inside: &str) -> String {
    format!(
        "<VTKFile type=\"{kind}\" byte_order=\"LittleEndian\"><{kind}>{inside}</{kind}></VTKFile>"
    )
}

fn index(kind: &str, files: &[&str]) -> String {
    let pieces: String = files.iter().map(|file| format!("<Piece Source=\"{file}\"/>")).collect();
    xml(kind, &pieces)
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn index_joins_its_files() {
    let file = open(folder().join("../parallel/mesh.pvtu")).unwrap();
    assert_eq!(*file.geometry(), Geometry::Unstructured { points: 32, cells: 6 });
    assert_eq!(file.encoding(), "XML, base64, zlib, in 2 files");
    assert_eq!(file.time_value().unwrap(), Some(0.75));
    let times = file.arrays().iter().filter(|array| array.name == "TimeValue").count();
    assert_eq!(times, 1, "only the array of the index counts");
    let expected: Vec<f64> = points(&file).into_iter().flat_map(velocity).collect();
    assert_eq!(values(&file, "velocity"), expected);
    let expected: Vec<f64> = points(&file).into_iter().map(p).collect();
    assert_eq!(values(&file, "p"), expected);
    assert_eq!(values(&file, "density"), [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]);
    // The cells match those of the complete mesh.
    let whole = open(folder().join("raw.vtu")).unwrap();
    let corners = |file: &VtkFile| {
        let points = points(file);
        let corners = topology(file, "connectivity").into_iter();
        corners.map(|point| points[point as usize]).collect::<Vec<_>>()
    };
    assert_eq!(corners(&file), corners(&whole));
    assert_eq!(topology(&file, "offsets"), topology(&whole, "offsets"));
}

#[test]
fn poly_data_in_several_pieces_is_joined() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let (one, two) = (triangles(1, 10, false), triangles(2, 20, false));
    write(folder, "one.vtp", &xml("PolyData", &one));
    write(folder, "two.vtp", &xml("PolyData", &two));
    write(folder, "none.vtp", &xml("PolyData", "<Piece NumberOfPoints=\"0\"/>"));
    write(folder, "both.vtp", &xml("PolyData", &(one + &two)));
    write(folder, "both.pvtp", &index("PPolyData", &["none.vtp", "one.vtp", "two.vtp"]));
    for name in ["both.vtp", "both.pvtp"] {
        let file = open(folder.join(name)).unwrap();
        let expected = Geometry::PolyData { points: 9, verts: 0, lines: 0, strips: 0, polys: 3 };
        assert_eq!(*file.geometry(), expected, "{name}");
        let x: Vec<f64> = points(&file).iter().map(|point| point[0]).collect();
        assert_eq!(x, [10., 11., 12., 20., 21., 22., 23., 24., 25.], "{name}");
        assert_eq!(values(&file, "U")[9..12], [20.0, 0.0, 0.0], "{name}");
        assert_eq!(values(&file, "c"), [10.0, 20.0, 21.0], "{name}");
        let indices: Vec<f64> = (0_u8..9).map(f64::from).collect();
        assert_eq!(topology(&file, "polys/connectivity"), indices, "{name}");
        assert_eq!(topology(&file, "polys/offsets"), [3.0, 6.0, 9.0], "{name}");
    }
}

#[test]
fn cell_arrays_of_several_kinds_and_pieces_are_excluded() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let (one, two) = (triangles(1, 10, true), triangles(2, 20, false));
    write(folder, "one.vtp", &xml("PolyData", &one));
    write(folder, "two.vtp", &xml("PolyData", &two));
    write(folder, "both.vtp", &xml("PolyData", &(one + &two)));
    write(folder, "both.pvtp", &index("PPolyData", &["one.vtp", "two.vtp"]));
    for (name, arrays) in [("one.vtp", 2), ("both.vtp", 1), ("both.pvtp", 1)] {
        let file = open(folder.join(name)).unwrap();
        assert_eq!(file.arrays().len(), arrays, "{name}");
        assert_eq!(values(&file, "U")[0], 10.0, "{name}");
    }
}

#[test]
fn mismatched_files_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let one = triangles(1, 0, false);
    write(folder, "one.vtp", &xml("PolyData", &one));
    write(folder, "other.vtp", &xml("PolyData", &one.replace("\"U\"", "\"V\"")));
    write(folder, "double.vtp", &xml("PolyData", &one.replace("Float32", "Float64")));
    write(folder, "nested.pvtp", &index("PPolyData", &["one.vtp"]));
    let error = |kind: &str, files: &[&str]| {
        write(folder, "index", &index(kind, files));
        open(folder.join("index")).unwrap_err().to_string()
    };
    let missing = error("PPolyData", &["one.vtp", "three.vtp"]);
    assert!(missing.contains("cannot open `") && missing.contains("three.vtp"), "{missing}");
    let lacks = error("PPolyData", &["one.vtp", "other.vtp"]);
    assert!(lacks.contains("other.vtp`") && lacks.contains("array `U`: found a piece"), "{lacks}");
    let changed = error("PPolyData", &["one.vtp", "double.vtp"]);
    assert!(changed.contains("`3` numbers of type Float64"), "{changed}");
    let kind = error("PUnstructuredGrid", &["one.vtp"]);
    assert!(kind.contains("found poly data, expected unstructured grid"), "{kind}");
    let nested = error("PPolyData", &["nested.pvtp"]);
    assert!(nested.contains("an index inside an index"), "{nested}");
    let empty = error("PPolyData", &[]);
    assert!(empty.contains("no element `Piece`"), "{empty}");
    let grid = error("PImageData", &["one.vtp"]);
    assert!(grid.contains("element `PImageData`: found no attribute `WholeExtent`"), "{grid}");
}

#[test]
fn blood_vessels_are_joined() {
    let Some(path) = flow_data("blood_vessels/T0000000500.pvtu") else {
        return;
    };
    let file = open(path).unwrap();
    let expected = Geometry::Unstructured { points: 48_823, cells: 39_353 };
    assert_eq!(*file.geometry(), expected);
    assert_eq!(file.points().unwrap().values.len(), 3 * 48_823);
    let last = topology(&file, "connectivity").into_iter().fold(0.0, f64::max);
    assert_eq!(last, 48_822.0);
    let sum: f64 = values(&file, "density").iter().sum();
    assert!((sum - 13_227.365_683_928_31).abs() < 1e-2, "{sum}");
}
