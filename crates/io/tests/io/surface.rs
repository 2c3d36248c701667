use burntrace_io::{Triangles, read_surface, read_triangles};
use std::{fmt::Write, fs, path::Path};

/// The corners of a tetrahedron.
const POINTS: [[f64; 3]; 4] = [[0.0; 3], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 4.0]];
const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

fn ascii(faces: &[[usize; 3]], name: &str) -> String {
    let mut text = format!("solid{name}\n");
    for face in faces {
        text += "  facet normal 0 0 0\n    outer loop\n";
        for [x, y, z] in face.map(|i| POINTS[i]) {
            writeln!(text, "      vertex {x} {y:e} {z}").unwrap();
        }
        text += "    endloop\n  endfacet\n";
    }
    text + &format!("endsolid{name}\n")
}

fn binary(header: &[u8]) -> Vec<u8> {
    let mut bytes = header.to_vec();
    bytes.resize(80, 0);
    bytes.extend((FACES.len() as u32).to_le_bytes());
    for face in FACES {
        let corners = face.map(|i| POINTS[i]);
        let numbers = [[0.0; 3]].into_iter().chain(corners).flatten();
        bytes.extend(numbers.flat_map(|x| (x as f32).to_le_bytes()));
        bytes.extend([0, 0]);
    }
    bytes
}

fn vtp(sections: &str) -> String {
    let points: String = POINTS.iter().flatten().map(|x| format!("{x} ")).collect();
    format!(
        "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\"><PolyData>\
         <Piece NumberOfPoints=\"4\" {sections}<Points><DataArray type=\"Float64\" \
         NumberOfComponents=\"3\" format=\"ascii\">{points}</DataArray></Points></Piece></PolyData>\
         </VTKFile>"
    )
}

fn section(name: &str, connectivity: &str, offsets: &str) -> String {
    let array = |name: &str, numbers: &str| {
        format!("<DataArray type=\"Int64\" Name=\"{name}\" format=\"ascii\">{numbers}</DataArray>")
    };
    let arrays = array("connectivity", connectivity) + &array("offsets", offsets);
    format!("<{name}>{arrays}</{name}>")
}

fn given(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> std::path::PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_tetrahedron_is_read_from_every_file_format() {
    let folder = tempfile::tempdir().unwrap();
    let strips = section("Strips", "0 1 2 3 0 1", "6");
    let polys = section("Polys", "0 2 1 0 1 3 1 2 3 2 0 3", "3 6 9 12");
    let legacy = "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\nPOINTS 4 double\n\
        0 0 0 2 0 0 0 3 0 0 0 4\nPOLYGONS 4 16\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n";
    let newer = "# vtk DataFile Version 5.1\nx\nASCII\nDATASET POLYDATA\nPOINTS 4 double\n\
        0 0 0 2 0 0 0 3 0 0 0 4\nPOLYGONS 5 12\nOFFSETS vtktypeint64\n0 3 6 9 12\n\
        CONNECTIVITY vtktypeint64\n0 2 1 0 1 3 1 2 3 2 0 3\n";
    let files = [
        given(folder.path(), "ascii.stl", ascii(&FACES, " of four")),
        given(folder.path(), "nameless.STL", ascii(&FACES, "").replace('\n', "\r\n")),
        given(folder.path(), "two.stl", ascii(&FACES[..1], " a") + &ascii(&FACES[1..], " b")),
        given(folder.path(), "binary.stl", binary(b"made here")),
        given(folder.path(), "solid.stl", binary(b"solid made here")),
        given(folder.path(), "polys.vtp", vtp(&format!("NumberOfPolys=\"4\">{polys}"))),
        given(folder.path(), "strips.vtp", vtp(&format!("NumberOfStrips=\"1\">{strips}"))),
        given(folder.path(), "old.vtk", legacy),
        given(folder.path(), "new.vtk", newer),
    ];
    for path in files {
        let surface = read_surface(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(surface.triangles().len(), 4, "{path:?}");
        assert_eq!(surface.points().len(), 4, "{path:?}");
        assert!((surface.volume() - 4.0).abs() < 1e-12, "{path:?}: {}", surface.volume());
        assert_eq!(surface.bounds(), [[0.0; 3], [2.0, 3.0, 4.0]]);
    }
}

#[test]
fn polygons_are_divided_into_triangles() {
    let folder = tempfile::tempdir().unwrap();
    let sections = format!("NumberOfPolys=\"1\">{}", section("Polys", "3 0 1 2", "4"));
    let path = given(folder.path(), "quad.vtp", vtp(&sections));
    let Triangles { points, triangles } = read_triangles(&path).unwrap();
    assert_eq!(points, POINTS);
    assert_eq!(triangles, [[3, 0, 1], [3, 1, 2]]);
    let error = read_surface(&path).unwrap_err().to_string();
    assert!(error.contains("quad.vtp") && error.contains("not closed: 4 edges"), "{error}");
}

#[test]
fn surfaces_are_scaled_and_moved() {
    let folder = tempfile::tempdir().unwrap();
    let path = given(folder.path(), "a.stl", ascii(&FACES, " a"));
    let surface = read_triangles(path).unwrap().moved(0.5, [1.0, 0.0, -1.0]).closed().unwrap();
    assert_eq!(surface.bounds(), [[1.0, 0.0, -1.0], [2.0, 1.5, 1.0]]);
}

/// The tetrahedron with a corner that differs by 1e-4 from triangle to triangle, and a sliver between two of them.
#[test]
fn points_within_a_distance_are_welded() {
    let folder = tempfile::tempdir().unwrap();
    let path = given(folder.path(), "a.stl", ascii(&FACES, " a"));
    let mut rough = read_triangles(path).unwrap();
    let count = rough.points.len();
    for (i, point) in rough.points.iter_mut().enumerate() {
        point[0] += 1e-4 * (i as f64 / count as f64);
    }
    let sliver = [rough.points[0], rough.points[1], rough.points[0].map(|x| x + 2e-5)];
    rough.points.extend(sliver);
    rough.triangles.push([count, count + 1, count + 2]);
    let open = rough.clone().closed().unwrap_err().to_string();
    assert!(open.contains("not closed"), "{open}");
    let (welded, [merged, flat]) = rough.clone().welded(1e-3);
    assert_eq!((welded.points.len(), welded.triangles.len(), flat), (4, 4, 1));
    // The first points of the four, and those of the sliver that are equal to them, do not count.
    assert_eq!(merged, 9);
    assert!((welded.closed().unwrap().volume() - 4.0).abs() < 1e-3);
    // A distance that is too small merges equal points only.
    let (same, counts) = rough.welded(1e-9);
    assert_eq!((same.triangles.len(), counts), (5, [0, 0]));
}

/// A tetrahedron with a point on an edge, which only one of the two faces there has; a triangle without area closes it.
#[test]
fn triangles_without_area_are_dropped() {
    let points = [&POINTS[..], &[[1.0, 0.0, 0.0]]].concat();
    let triangles = vec![[0, 2, 4], [4, 2, 1], [0, 4, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    let surface = Triangles { points: points.clone(), triangles };
    assert!(surface.closed().unwrap_err().to_string().contains("has no area"));
    let (welded, counts) = surface.welded(1e-9);
    assert_eq!((welded.triangles.len(), counts), (6, [0, 1]));
    assert!((welded.closed().unwrap().volume() - 4.0).abs() < 1e-12);
    // Two on each other vanish.
    let triangles = FACES.iter().copied().chain([[0, 4, 1], [1, 4, 0]]).collect();
    let (welded, counts) = Triangles { points, triangles }.welded(1e-9);
    assert_eq!((welded.triangles.len(), counts), (4, [0, 2]));
}

#[test]
fn files_without_a_closed_surface_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = ascii(&FACES, " a");
    let mut bytes = binary(b"b");
    bytes.pop();
    let sections = format!("NumberOfPolys=\"1\">{}", section("Polys", "0 1 4", "3"));
    for (name, content, expected) in [
        ("cut.stl", text.as_bytes()[..text.len() - 12].to_vec(), "endsolid"),
        ("short.stl", bytes, "not an STL file"),
        ("word.stl", text.replacen("4", "four", 1).into_bytes(), "invalid float"),
        ("open.stl", ascii(&FACES[1..], " a").into_bytes(), "3 edges belong to only one triangle"),
        ("none.stl", ascii(&[], " a").into_bytes(), "no triangles"),
        ("point.vtp", vtp(&sections).into_bytes(), "a point from `0` to `3`"),
        ("none.vtp", vtp("NumberOfPolys=\"0\">").into_bytes(), "no triangles"),
    ] {
        let path = given(folder.path(), name, content);
        let error = read_surface(&path).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(name), "{name}: {error}");
    }
    let error = read_surface(folder.path().join("absent.stl")).unwrap_err().to_string();
    assert!(error.contains("cannot read"), "{error}");
}
