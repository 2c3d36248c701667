//! Patches of a mesh boundary by the names that files have for it.

use super::meshes::{Case, MESH, Mesh, folder};
use super::program::{assert_refused, burntrace, text};
use burntrace::{Status, io::Tracks};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

const TRACE: &str = "t0 = 0.0\ndt = 0.25\nsteps = 12";
const QUAD: u8 = 9;

/// The quads of the boundary of a channel of 2 x 2 x 1 cubes along x: at its start (1), at its end (2), at the
/// other sides (7).
fn quads() -> Vec<(i32, [[f64; 3]; 4])> {
    let mut quads = Vec::new();
    for (axis, sides) in [(0, [1, 2]), (1, [7, 7]), (2, [7, 7])] {
        let others = [(axis + 1) % 3, (axis + 2) % 3];
        let size = [2, 2, 1];
        for (side, number) in sides.into_iter().enumerate() {
            for cell in 0..size[others[0]] * size[others[1]] {
                let low = [cell % size[others[0]], cell / size[others[0]]];
                quads.push((
                    number,
                    [[0, 0], [1, 0], [1, 1], [0, 1]].map(|at| {
                        let mut point = [0.0; 3];
                        point[axis] = (side * size[axis]) as f64;
                        (0..2).for_each(|k| point[others[k]] = (low[k] + at[k]) as f64);
                        point
                    }),
                ));
            }
        }
    }
    quads
}

fn numbers<T: ToString>(all: impl IntoIterator<Item = T>) -> String {
    all.into_iter().map(|x| x.to_string()).collect::<Vec<_>>().join(" ")
}

/// The VTK type and the points of a cell.
type Cell = (u8, Vec<[f64; 3]>);

/// A file of cells with a velocity and the cell array `BoundaryID`.
fn vtu(cells: &[Cell], velocity: [f64; 3], id: Option<&[i32]>) -> String {
    let points: Vec<[f64; 3]> = cells.iter().flat_map(|(_, points)| points).copied().collect();
    let mut end = 0;
    let mut ends = Vec::new();
    for (_, points) in cells {
        end += points.len();
        ends.push(end);
    }
    let array = |kind: &str, name: &str, components: usize, values: String| {
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"ascii\">{values}</DataArray>\n"
        )
    };
    let id = id.map_or(String::new(), |id| {
        let ids = array("Int32", "BoundaryID", 1, numbers(id));
        format!("<CellData>{ids}</CellData>")
    });
    format!(
        "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"{}\" \
         NumberOfCells=\"{}\"><PointData>{}</PointData>{id}<Points>{}</Points><Cells>{}{}{}</Cells>\
         </Piece></UnstructuredGrid></VTKFile>",
        points.len(),
        cells.len(),
        array("Float64", "U", 3, numbers(points.iter().flat_map(|_| velocity))),
        array("Float64", "Points", 3, numbers(points.iter().flatten())),
        array("Int32", "connectivity", 1, numbers(0..points.len())),
        array("Int32", "offsets", 1, numbers(ends)),
        array("UInt8", "types", 1, numbers(cells.iter().map(|(kind, _)| *kind))),
    )
}

/// The volume, and the quads of the boundary with these numbers.
fn cells(tetrahedra: bool, of: &[i32]) -> (Vec<Cell>, Vec<i32>) {
    let mesh = Mesh::cubes([2, 2, 1], |_| true);
    let mesh = if tetrahedra { mesh.tetrahedra() } else { mesh };
    let mut cells = if of.contains(&0) { mesh.with_points() } else { Vec::new() };
    let mut ids = vec![0; cells.len()];
    for (number, quad) in quads().into_iter().filter(|(number, _)| of.contains(number)) {
        cells.push((QUAD, quad.to_vec()));
        ids.push(number);
    }
    (cells, ids)
}

/// One file with the volume and its boundary, of which `BoundaryID` names the parts.
fn marked(folder: &Path, tetrahedra: bool) {
    let (cells, ids) = cells(tetrahedra, &[0, 1, 2, 7]);
    std::fs::write(folder.join("u.vtu"), vtu(&cells, [1.0, 0.0, 0.0], Some(&ids))).unwrap();
}

/// Blocks as foamToVTK writes them.
fn blocks(folder: &Path, tetrahedra: bool) {
    let mut index = String::from(
        "<VTKFile type=\"vtkMultiBlockDataSet\"><vtkMultiBlockDataSet>\
         <DataSet name=\"internal\" file=\"internal.vtu\"/><Block name=\"boundary\">",
    );
    for (name, of) in [("internal", 0), ("inlet", 1), ("outlet", 2), ("walls", 7)] {
        let (cells, _) = cells(tetrahedra, &[of]);
        let text = vtu(&cells, [1.0, 0.0, 0.0], None);
        std::fs::write(folder.join(format!("{name}.vtu")), text).unwrap();
        if of > 0 {
            write!(index, "<DataSet name=\"{name}\" file=\"{name}.vtu\"/>").unwrap();
        }
    }
    index += "</Block></vtkMultiBlockDataSet></VTKFile>";
    std::fs::write(folder.join("u.vtm"), index).unwrap();
}

fn field(file: &str) -> String {
    MESH.replace("u.vtk", file)
}

/// The sections of the three patches; `keys` selects the faces of each.
fn patches(keys: impl Fn(&str) -> String) -> String {
    let patch =
        |(name, wall)| format!("[[patch]]\nname = {name:?}\n{}\nwall = {wall:?}\n", keys(name));
    [("inlet", "reflect"), ("outlet", "outlet"), ("walls", "slide")].map(patch).concat()
}

fn by_block(name: &str) -> String {
    format!("block = {name:?}")
}

fn by_array(name: &str) -> String {
    let value = match name {
        "inlet" => 1,
        "outlet" => 2,
        _ => 7,
    };
    format!("array = \"BoundaryID\"\nvalue = {value}")
}

const INLET: &str = "[inlet]\nkind = \"patch\"\npatch = \"inlet\"\npattern = \"flux\"\n";

fn summary(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("out/summary.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn patches_are_selected_by_blocks_and_arrays() {
    for tetrahedra in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        marked(folder.path(), tetrahedra);
        blocks(folder.path(), tetrahedra);
        let seeds = "kind = \"mesh\"\npatch = \"inlet\"\ncount = 60";
        let run = |file: &str, boundary: &str| -> (Tracks, Value) {
            let gate = "[[gate]]\nname = \"out\"\nkind = \"patch\"\npatch = \"outlet\"\n";
            let (field, boundary) = (field(file), format!("{boundary}{INLET}{gate}"));
            let case = Case { field: &field, boundary: &boundary, trace: TRACE, seeds };
            (case.trace(folder.path()), summary(folder.path()))
        };
        let (a, by_blocks) = run("u.vtm", &patches(by_block));
        // All particles leave at t = 2, and go on from the inlet.
        assert_eq!(a.ends().unwrap().status, [Status::Active; 60]);
        let counts = |summary: &Value| {
            ["inlet", "outlet", "walls"].map(|name| summary["patches"][name].as_u64().unwrap())
        };
        assert_eq!(counts(&by_blocks), [0, 60, 0]);
        let out = &by_blocks["gates"]["out"];
        assert_eq!((&out["forward"], &out["particles"]), (&60.into(), &60.into()), "{out}");
        assert!((out["first_passage"]["max"].as_f64().unwrap() - 2.0).abs() < 1e-5, "{out}");
        // Also of particles that were followed by others in their slots.
        let report = burntrace(folder.path(), &["report", "out", "--json", "-q"]);
        let report: Value = serde_json::from_slice(&report.stdout).unwrap();
        let answer = report["answer"]["text"].as_str().unwrap();
        let ends = "60 (50 %) left through the patch `outlet`, and 60 (50 %) were still active at the end.";
        assert!(
            answer.starts_with("120 particles, one after another in 60 slots, were"),
            "{answer}"
        );
        assert!(answer.contains(ends), "{answer}");
        assert_eq!(by_blocks["warnings"].as_array().unwrap().len(), 0, "{by_blocks}");
        let last = |tracks: &Tracks| tracks.position(tracks.num_saves() - 1).unwrap();
        assert!(last(&a).iter().all(|p| (p[0] - 1.0).abs() < 1e-4), "{:?}", last(&a));
        let (b, by_arrays) = run("u.vtu", &patches(by_array));
        assert_eq!((last(&a), a.position(0).unwrap()), (last(&b), b.position(0).unwrap()));
        assert_eq!(counts(&by_arrays), [0, 60, 0]);
        let info = text(&burntrace(folder.path(), &["info", "u.vtm"]).stdout);
        let faces = if tetrahedra { 4 } else { 2 };
        assert!(info.contains("patches    block = \"boundary/inlet\": "), "{info}");
        assert!(info.contains(&format!("\"boundary/outlet\": {faces} faces, area 2\n")), "{info}");
        let info = text(&burntrace(folder.path(), &["info", "u.vtu"]).stdout);
        let walls = format!("array = \"BoundaryID\", value = 7: {} faces, area 12", 6 * faces);
        assert!(info.contains(&walls), "{info}");
    }
}

#[test]
fn faces_on_the_domain_box_belong_to_patches_unless_the_case_bounds_the_domain() {
    let folder = tempfile::tempdir().unwrap();
    blocks(folder.path(), false);
    let field = field("u.vtm");
    let run = |boundary: &str| {
        let seeds = "kind = \"list\"\npoints = [[0.5, 0.5, 0.5]]";
        let case = Case { field: &field, boundary, trace: TRACE, seeds };
        case.trace(folder.path()).ends().unwrap().status[0].to_string()
    };
    let patch = "[[patch]]\nname = \"end\"\nblock = \"outlet\"\nwall = \"exit\"\n";
    assert_eq!(run(patch), "left the mesh");
    let bounded = "[domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [2.0, 2.0, 1.0]\n";
    assert_eq!(run(&format!("{patch}{bounded}")), "exited x-high");
    assert_eq!(run(&format!("x = [\"exit\", \"reflect\"]\n{patch}")), "active");
}

#[test]
fn cells_off_the_boundary_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let (mut cells, mut ids) = cells(false, &[0, 2]);
    // Between the cubes, and outside.
    for x in [1.0, 9.0] {
        cells.push((
            QUAD,
            [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|[y, z]| [x, y, z]).to_vec(),
        ));
        ids.push(2);
    }
    let text_of_file = vtu(&cells, [1.0, 0.0, 0.0], Some(&ids));
    std::fs::write(folder.path().join("u.vtu"), text_of_file).unwrap();
    let boundary =
        "[[patch]]\nname = \"end\"\narray = \"BoundaryID\"\nvalue = 2\nwall = \"exit\"\n";
    let (field, seeds) = (field("u.vtu"), "kind = \"list\"\npoints = [[0.5, 0.5, 0.5]]");
    let output = Case { field: &field, boundary, trace: TRACE, seeds }.run(folder.path(), &[]);
    let said = text(&output.stderr);
    assert!(said.contains("the patch \"end\" has 2 boundary faces; 2 cells of"), "{said}");
    assert_eq!(summary(folder.path())["patches"]["end"], 1);
    let info = text(&burntrace(folder.path(), &["info", "u.vtu"]).stdout);
    assert!(info.contains("value = 2: 2 faces, area 2; 2 cells are on no boundary face"), "{info}");
}

#[test]
fn wrong_names_in_a_case_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    blocks(folder.path(), false);
    marked(folder.path(), false);
    let refused = |file: &str, boundary: &str, parts: &[&str]| {
        let (field, seeds) = (field(file), "kind = \"list\"\npoints = [[0.5, 0.5, 0.5]]");
        let case = Case { field: &field, boundary, trace: TRACE, seeds };
        assert_refused(&case.run(folder.path(), &[]), 2, parts);
    };
    let patch = |keys: &str| format!("[[patch]]\nname = \"end\"\n{keys}\nwall = \"exit\"\n");
    let names = "`boundary/inlet`, `boundary/outlet`, `boundary/walls`";
    refused("u.vtm", &patch("block = \"outlte\""), &["u.vtm", "no block `outlte`", names]);
    refused("u.vtu", &patch("array = \"BoundaryID\"\nvalue = 4"), &["value 4", "1, 2, 7"]);
    refused("u.vtu", &patch("array = \"BoundaryID\""), &["[[patch]]", "`patch.value` is missing"]);
    refused(
        "u.vtu",
        &patch("value = 2"),
        &["`value` is not a key of [[patch]]", "belongs to `array`"],
    );
    let both = "block = \"outlet\"\narray = \"BoundaryID\"\nvalue = 2";
    refused("u.vtm", &patch(both), &["has both `block` and `array`; keep one"]);
    refused("u.vtu", &patch("array = \"BoundaryID\"\nvalue = 2.5"), &["value", "2.5"]);
    refused("u.vtu", "", &["quad", "`[[patch]]`", "other_cells"]);
    let source = "[[source]]\nburst = { time = 0.0, count = 5 }\ninlet = { kind = \"patch\", patch = \"in\" }\n";
    let unknown = format!("{}{source}", patch("block = \"outlet\""));
    refused("u.vtm", &unknown, &["source.inlet.patch is \"in\"", "the names \"end\""]);
    // The flow leaves through it.
    let leaves = source.replace("\"in\"", "\"end\", pattern = \"flux\"");
    let leaves = format!("{}{leaves}", patch("block = \"outlet\""));
    refused("u.vtm", &leaves, &["patch `end`", "no flow enters"]);
}

/// A part of a mesh in its own file, as a `.pvd` with several parts has it.
#[test]
fn parts_of_a_pvd_name_faces() {
    let folder = tempfile::tempdir().unwrap();
    blocks(folder.path(), false);
    let part = |n: usize, file: &str| {
        format!("<DataSet timestep=\"0\" part=\"{n}\" file=\"{file}.vtu\"/>")
    };
    let parts = [part(0, "internal"), part(1, "outlet")].concat();
    let index = format!("<VTKFile type=\"Collection\"><Collection>{parts}</Collection></VTKFile>");
    std::fs::write(folder.path().join("u.pvd"), index).unwrap();
    let info = text(&burntrace(folder.path(), &["info", "u.pvd"]).stdout);
    assert!(info.contains("2 faces, area 2"), "{info}");
}

#[test]
fn a_line_mesh_boundary_names_the_faces_of_a_flat_mesh() {
    let folder = folder("");
    let square = |x: f64| [[x, 0.0], [x + 1.0, 0.0], [x + 1.0, 1.0], [x, 1.0]];
    let in_plane = |points: &[[f64; 2]]| points.iter().map(|[x, y]| [*x, *y, 0.0]).collect();
    let cells = [
        (QUAD, in_plane(&square(0.0))),
        (QUAD, in_plane(&square(1.0))),
        (3, in_plane(&[[2.0, 0.0], [2.0, 1.0]])),
        (4, in_plane(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])),
    ];
    let file = vtu(&cells, [1.0, 0.0, 0.0], Some(&[0, 0, 5, 6]));
    std::fs::write(folder.path().join("u.vtu"), file).unwrap();
    let boundary = "[[patch]]\nname = \"end\"\narray = \"BoundaryID\"\nvalue = 5\nwall = \"exit\"\n\
                    [[patch]]\nname = \"floor\"\narray = \"BoundaryID\"\nvalue = 6\nwall = \"slide\"\n";
    let seeds = "kind = \"list\"\npoints = [[0.5, 0.5, 0.0]]";
    let case = Case { field: &field("u.vtu"), boundary, trace: TRACE, seeds };
    assert_eq!(case.trace(folder.path()).ends().unwrap().status, [Status::LeftMesh]);
    assert_eq!(summary(folder.path())["patches"], serde_json::json!({ "end": 1, "floor": 0 }));
    let info = text(&burntrace(folder.path(), &["info", "u.vtu"]).stdout);
    assert!(info.contains("value = 6: 2 faces, area 2"), "{info}");
}
