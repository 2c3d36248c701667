//! Fields on meshes on the command line.

use super::program::{assert_refused, burntrace, fixture, text};
use super::real_data::rk4;
use super::requirements::flow_data;
use burntrace::{Face, MeshFace, Status, io::Tracks};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Output;

const TETRA: u8 = 10;
const HEXAHEDRON: u8 = 12;

/// Points, and cells with their VTK cell types.
pub(super) struct Mesh {
    points: Vec<[f64; 3]>,
    cells: Vec<(u8, Vec<usize>)>,
}

/// The corners of a hexahedron in VTK order.
const CORNERS: [[usize; 3]; 8] =
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];

/// The orders of axes along which edges lead from a corner of a hexahedron to the opposite one. Each
/// order spans a tetrahedron.
const AXIS_ORDERS: [[usize; 3]; 6] =
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

impl Mesh {
    /// Unit cubes from the origin on, those for which `keep` is true.
    pub(super) fn cubes(counts: [usize; 3], keep: impl Fn([usize; 3]) -> bool) -> Mesh {
        let [nx, ny, nz] = counts;
        let number = |[i, j, k]: [usize; 3]| i + (nx + 1) * (j + (ny + 1) * k);
        let indices = |[nx, ny, nz]: [usize; 3]| {
            (0..nx * ny * nz).map(move |n| [n % nx, n / nx % ny, n / (nx * ny)])
        };
        let cell = |[i, j, k]: [usize; 3]| {
            let nodes = CORNERS.iter().map(|[a, b, c]| number([i + a, j + b, k + c]));
            (HEXAHEDRON, nodes.collect())
        };
        Mesh {
            points: indices(counts.map(|n| n + 1)).map(|p| p.map(|x| x as f64)).collect(),
            cells: indices([nx, ny, nz]).filter(|index| keep(*index)).map(cell).collect(),
        }
    }

    /// The same mesh with each cube split into six tetrahedra.
    pub(super) fn tetrahedra(self) -> Mesh {
        let split = |(_, nodes): &(u8, Vec<usize>)| {
            AXIS_ORDERS.map(|axes| {
                let mut at = [0; 3];
                let mut cell = vec![nodes[0]];
                for axis in axes {
                    at[axis] = 1;
                    cell.extend(CORNERS.iter().position(|corner| *corner == at).map(|n| nodes[n]));
                }
                (TETRA, cell)
            })
        };
        Mesh { cells: self.cells.iter().flat_map(split).collect(), points: self.points }
    }

    /// The VTK type and the positions of the points of each cell.
    pub(super) fn with_points(&self) -> Vec<(u8, Vec<[f64; 3]>)> {
        let points = |nodes: &[usize]| nodes.iter().map(|node| self.points[*node]).collect();
        self.cells.iter().map(|(kind, nodes)| (*kind, points(nodes))).collect()
    }

    /// The centre of each cell.
    fn centres(&self) -> Vec<[f64; 3]> {
        let centre = |nodes: &Vec<usize>| {
            let sum = |d: usize| nodes.iter().map(|node| self.points[*node][d]).sum::<f64>();
            std::array::from_fn(|d| sum(d) / nodes.len() as f64)
        };
        self.cells.iter().map(|(_, nodes)| centre(nodes)).collect()
    }

    /// A legacy file with a velocity as a function of position, at the points or the cell centres.
    pub(super) fn file(&self, on: &str, velocity: impl Fn([f64; 3]) -> [f64; 3]) -> String {
        let lines = |triples: &[[f64; 3]]| -> String {
            triples.iter().map(|[x, y, z]| format!("{x} {y} {z}\n")).collect()
        };
        let mut text = format!(
            "# vtk DataFile Version 3.0\nmesh\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n{}",
            self.points.len(),
            lines(&self.points)
        );
        let size: usize = self.cells.iter().map(|(_, nodes)| nodes.len() + 1).sum();
        writeln!(text, "CELLS {} {size}", self.cells.len()).unwrap();
        for (_, nodes) in &self.cells {
            let nodes: Vec<String> = nodes.iter().map(usize::to_string).collect();
            writeln!(text, "{} {}", nodes.len(), nodes.join(" ")).unwrap();
        }
        writeln!(text, "CELL_TYPES {}", self.cells.len()).unwrap();
        self.cells.iter().for_each(|(code, _)| writeln!(text, "{code}").unwrap());
        let positions = if on == "POINT_DATA" { self.points.clone() } else { self.centres() };
        let velocities: Vec<[f64; 3]> = positions.into_iter().map(velocity).collect();
        write!(text, "{on} {}\nVECTORS U double\n{}", velocities.len(), lines(&velocities))
            .unwrap();
        text
    }
}

/// Three cubes of a 2 x 2 x 1 block; the one at the high corner in x and y is missing.
fn corner() -> Mesh {
    Mesh::cubes([2, 2, 1], |[i, j, _]| (i, j) != (1, 1))
}

/// A case, by its keys in `[field]`, `[boundary]`, `[trace]` and `[seeds]`.
pub(super) struct Case<'a> {
    pub field: &'a str,
    pub boundary: &'a str,
    pub trace: &'a str,
    pub seeds: &'a str,
}

impl Case<'_> {
    /// Runs the case in a folder.
    pub(super) fn run(&self, folder: &Path, more: &[&str]) -> Output {
        let case = format!(
            "[field]\n{}\n[boundary]\n{}\n[trace]\n{}\n[seeds]\n{}\n[save]\nevery = 1000\n\
             [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n",
            self.field, self.boundary, self.trace, self.seeds
        );
        std::fs::write(folder.join("case.toml"), case).unwrap();
        burntrace(folder, &[&["run", "case.toml", "--overwrite"], more].concat())
    }

    /// Runs the case in a folder, asserts that it succeeds, and returns its tracks.
    pub(super) fn trace(&self, folder: &Path) -> Tracks {
        let output = self.run(folder, &["--quiet"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        Tracks::open(folder.join("out/tracks")).unwrap()
    }
}

/// The positions at the end of a run.
fn ends(tracks: &Tracks) -> Vec<[f64; 3]> {
    tracks.position(tracks.num_saves() - 1).unwrap()
}

fn summary(folder: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join("out/summary.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A folder with the file `u.vtk`.
pub(super) fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("u.vtk"), text).unwrap();
    folder
}

pub(super) const MESH: &str = "files = \"u.vtk\"\ninterpolation = \"mesh\"";

#[test]
fn linear_velocity_is_interpolated_exactly() {
    let velocity = |[x, y, z]: [f64; 3]| [1.5 - y, x - 1.5 + 0.25 * z, 0.5 * (1.5 - z)];
    let cubes = || Mesh::cubes([3; 3], |_| true);
    for (mesh, cells) in [(cubes(), 27), (cubes().tetrahedra(), 162)] {
        let folder = folder(&mesh.file("POINT_DATA", velocity));
        for engine in ["fused", "tensor"] {
            let trace = format!("t0 = 0.0\ndt = 0.05\nsteps = 40\nengine = {engine:?}");
            let seeds = "kind = \"uniform\"\ncount = 200";
            let case = Case { field: MESH, boundary: "", trace: &trace, seeds };
            let tracks = case.trace(folder.path());
            let (starts, ends) = (tracks.position(0).unwrap(), ends(&tracks));
            let status = tracks.ends().unwrap().status;
            let mut stayed = 0;
            for i in 0..starts.len() {
                let expected = rk4(velocity, [[0.0; 3], [3.0; 3]], starts[i], 0.05, 40);
                let Some(end) = expected else {
                    assert!(matches!(status[i], Status::Exited(_)), "{i}: {:?}", status[i]);
                    continue;
                };
                let off = (0..3).map(|d| (ends[i][d] - end[d]).abs()).fold(0.0, f64::max);
                assert!(off < 1e-9, "{engine}, particle {i}: {:?}, not {end:?}", ends[i]);
                assert_eq!(status[i], Status::Active, "particle {i}");
                stayed += 1;
            }
            assert!(stayed > 80, "{stayed}");
            let summary = summary(folder.path());
            assert_eq!(summary["engine"], engine);
            let field = &summary["field"];
            assert_eq!((&field["nodes"], &field["cells"]), (&64.into(), &cells.into()));
            assert_eq!(field["interpolation"], "mesh");
            assert_eq!(field["dimension"], 3);
            assert!(field["bytes"].as_u64().unwrap() > 64 * 4 * 8);
        }
    }
}

#[test]
fn cell_velocity_is_constant_or_averaged() {
    let row = Mesh::cubes([3, 1, 1], |_| true);
    // 1, 2 and 4 in the three cells.
    let folder = folder(&row.file("CELL_DATA", |[x, ..]| [2.0_f64.powf(x - 0.5), 0.0, 0.0]));
    let seeds = "kind = \"list\"\npoints = [[0.125, 0.5, 0.5]]";
    let end = |keys: &str, scheme: &str| {
        let field = format!("{MESH}\n{keys}");
        let trace = format!("scheme = {scheme:?}\nt0 = 0.0\ndt = 0.25\nsteps = 5");
        let tracks =
            Case { field: &field, boundary: "", trace: &trace, seeds }.trace(folder.path());
        assert_eq!(tracks.ends().unwrap().status, [Status::Active]);
        ends(&tracks)[0]
    };
    // 0.375, 0.625, 0.875, 1.125 in the first cell, and one step in the second.
    for keys in ["", "cell_velocity = \"constant\""] {
        assert_eq!(end(keys, "euler"), [1.625, 0.5, 0.5]);
        assert_eq!(summary(folder.path())["field"]["cell_velocity"], "constant");
    }
    let averaged = |[x, ..]: [f64; 3]| match x {
        x if x < 1.0 => [1.0 + 0.5 * x, 0.0, 0.0],
        x if x < 2.0 => [1.5 + 1.5 * (x - 1.0), 0.0, 0.0],
        x => [3.0 + (x - 2.0), 0.0, 0.0],
    };
    let expected = rk4(averaged, [[0.0; 3], [3.0; 3]], [0.125, 0.5, 0.5], 0.25, 5).unwrap();
    let found = end("cell_velocity = \"averaged\"", "rk4");
    assert!((found[0] - expected[0]).abs() < 1e-12, "{found:?}, not {expected:?}");
    assert_eq!(summary(folder.path())["field"]["cell_velocity"], "averaged");
}

#[test]
fn particles_leave_the_mesh_or_the_box() {
    let folder = folder(&corner().file("POINT_DATA", |_| [1.0, 0.0, 0.0]));
    let case = Case {
        field: MESH,
        boundary: "",
        trace: "t0 = 0.0\ndt = 0.2\nsteps = 10",
        seeds: "kind = \"list\"\npoints = [[0.25, 1.5, 0.5], [0.25, 0.5, 0.5], [1.5, 1.5, 0.5]]\n\
                outside = \"not-located\"",
    };
    let tracks = case.trace(folder.path());
    let found = tracks.ends().unwrap();
    let expected = [Status::LeftMesh, Status::Exited(Face::XHigh), Status::NotLocated];
    assert_eq!(found.status, expected);
    // The face towards the missing cube is at x = 1 and belongs to the third cell.
    assert_eq!(found.mesh_face, [Some(MeshFace { cell: 2, face: 1 }), None, None]);
    for (particle, [x, time]) in [(0, [1.0, 0.75]), (1, [2.0, 1.75])] {
        assert!((ends(&tracks)[particle][0] - x).abs() < 1e-9, "{:?}", ends(&tracks));
        assert!((found.end_time[particle] - time).abs() < 1e-9, "{:?}", found.end_time);
    }
    assert_eq!(summary(folder.path())["status"]["left the mesh"], 1);
    let cells = std::fs::read(folder.path().join("out/tracks/mesh_cell/c.0")).unwrap();
    let last: Vec<u8> = [2_i64, -1, -1].iter().flat_map(|cell| cell.to_le_bytes()).collect();
    assert!(cells.ends_with(&last));
    assert!(text(&case.run(folder.path(), &[]).stdout).contains(" + 1 left the mesh + "));
}

#[test]
fn mesh_outlet_reinjects_particles() {
    let folder = folder(&corner().file("POINT_DATA", |_| [1.0, 0.0, 0.0]));
    let case = Case {
        field: MESH,
        boundary: "mesh = \"outlet\"\n[inlet]\nkind = \"points\"\npoints = [[0.25, 1.25, 0.75]]",
        trace: "t0 = 0.0\ndt = 0.2\nsteps = 10",
        seeds: "kind = \"list\"\npoints = [[0.25, 1.5, 0.5]]",
    };
    // The particle leaves at x = 1 at times 0.75 and 1.5, and travels 0.5 from then on.
    let tracks = case.trace(folder.path());
    let end = ends(&tracks)[0];
    assert!((end[0] - 0.75).abs() < 1e-9, "{end:?}");
    assert_eq!(end[1..], [1.25, 0.75]);
    let summary = summary(folder.path());
    assert_eq!(summary["status"]["left the mesh"], 2);
    assert_eq!((&summary["active"], &summary["released"]), (&1.into(), &3.into()));
}

#[test]
fn patch_outlet_reinjects_particles() {
    let folder = folder(&corner().file("POINT_DATA", |_| [1.0, 0.0, 0.0]));
    let patch = |keys: &str| format!("[[patch]]\nname = \"end\"\n{keys}\n");
    let inlet = "[inlet]\nkind = \"points\"\npoints = [[0.25, 1.25, 0.75]]";
    let end = "low = [1.0, 1.0, -inf]\nhigh = [1.0, inf, inf]\nwall = \"outlet\"";
    let shut = "low = [0.0, 2.0, 0.0]\nwall = \"slide\"";
    let trace = "t0 = 0.0\ndt = 0.2\nsteps = 10";
    let seeds = "kind = \"list\"\npoints = [[0.25, 1.5, 0.5]]";
    let case = |patches: &str| {
        let boundary = &format!("mesh = \"reflect\"\n{patches}");
        Case { field: MESH, boundary, trace, seeds }.run(folder.path(), &[])
    };
    let refused = |patches: &str, parts: &[&str]| assert_refused(&case(patches), 2, parts);
    let output = case(&format!("{}[[patch]]\nname = \"top\"\n{shut}\n{inlet}", patch(end)));
    assert!(output.status.success(), "{}", text(&output.stderr));
    // The same as with an outlet on the whole boundary.
    assert!(text(&output.stdout).contains("2 left the mesh through the patch end"));
    let found = summary(folder.path());
    assert_eq!((&found["patches"]["end"], &found["patches"]["top"]), (&2.into(), &0.into()));
    assert_eq!((&found["active"], &found["released"]), (&1.into(), &3.into()));
    refused(&patch(end), &["the patch `end` is an outlet", "[inlet]"]);
    refused(&format!("{}{inlet}", patch(shut)), &["[inlet]", "[[patch]]"]);
    refused(&patch("wall = \"exi\""), &["did you mean `exit`"]);
    refused(&patch("low = [3.0, 0.0, 0.0]\nwall = \"exit\""), &["`end`", "no boundary face"]);
    refused(&patch("hihg = [0.0, 0.0, 0.0]\nwall = \"exit\""), &["did you mean `high`"]);
    let grid = Case { field: "flow = \"abc\"", boundary: &patch(shut), trace, seeds };
    assert_refused(&grid.run(folder.path(), &[]), 2, &["[[patch]] needs", "\"mesh\""]);
}

#[test]
fn mesh_walls_contain_particles() {
    let folder = folder(&corner().tetrahedra().file("POINT_DATA", |_| [1.0, -0.25, 0.0]));
    let trace = "t0 = 0.0\ndt = 0.1\nsteps = 20";
    let run = |wall: &str, seeds: &str| {
        let boundary =
            format!("x = [\"exit\", \"reflect\"]\ny = [\"reflect\", \"exit\"]\nmesh = {wall:?}");
        let tracks = Case { field: MESH, boundary: &boundary, trace, seeds }.trace(folder.path());
        let faces = tracks.ends().unwrap().mesh_face;
        assert!(!faces.is_empty() && faces.iter().all(Option::is_none));
        tracks
    };
    let one = "kind = \"list\"\npoints = [[0.25, 1.9, 0.5]]";
    let slid = ends(&run("slide", one))[0];
    assert!((slid[0] - 1.0).abs() < 1e-5 && (slid[1] - 1.4).abs() < 1e-5, "{slid:?}");
    let reflected = ends(&run("reflect", one))[0];
    assert!(reflected[0] > 0.85 && reflected[0] <= 1.0 + 1e-9, "{reflected:?}");
    assert!((reflected[1] - 1.4).abs() < 1e-5, "{reflected:?}");
    let many = "kind = \"uniform\"\ncount = 400\noutside = \"not-located\"";
    for wall in ["slide", "reflect"] {
        let tracks = run(wall, many);
        let status = tracks.ends().unwrap().status;
        let lost = status.iter().filter(|status| **status == Status::NotLocated).count();
        assert!((50..150).contains(&lost), "about a quarter is in the missing cube, not {lost}");
        for (i, [x, y, z]) in ends(&tracks).into_iter().enumerate() {
            if status[i] == Status::NotLocated {
                continue;
            }
            assert_eq!(status[i], Status::Active, "{wall}, particle {i}");
            assert!((0.0..=2.0).contains(&x) && (0.0..=2.0).contains(&y), "{x}, {y}");
            assert!((0.0..=1.0).contains(&z) && (x < 1.0 + 1e-5 || y < 1.0 + 1e-5), "{x}, {y}");
        }
    }
}

#[test]
fn seeds_outside_the_mesh_are_refused() {
    let folder = folder(&corner().file("POINT_DATA", |_| [1.0, 0.0, 0.0]));
    let seeds = "kind = \"list\"\npoints = [[0.5, 0.5, 0.5], [1.5, 1.5, 0.5]]";
    let case = Case { field: MESH, boundary: "", trace: "t1 = 0.1\nsteps = 1", seeds };
    let parts = ["1 of 2 seeds are outside the mesh", "number 1", "not-located"];
    assert_refused(&case.run(folder.path(), &[]), 2, &parts);
}

#[test]
fn progress_of_loading_a_mesh_is_printed() {
    let folder = folder(&corner().file("POINT_DATA", |_| [0.0; 3]));
    let seeds = "kind = \"list\"\npoints = [[0.5, 0.5, 0.5]]";
    let case = Case { field: MESH, boundary: "", trace: "t1 = 0.1\nsteps = 1", seeds };
    let printed = text(&case.run(folder.path(), &[]).stderr);
    assert!(printed.starts_with("mesh       3 cells, 18 points\n"), "{printed}");
    assert!(printed.contains(" s, arranged in "), "{printed}");
    let quiet = text(&case.run(folder.path(), &["--quiet"]).stderr);
    assert!(quiet.is_empty(), "{quiet}");
}

#[test]
fn misplaced_field_keys_are_refused() {
    let mut mesh = corner();
    mesh.cells.push((3, vec![0, 1]));
    let folder = folder(&mesh.file("CELL_DATA", |_| [1.0, 0.0, 0.0]));
    let refused = |field: &str, boundary: &str, parts: &[&str]| {
        let (trace, seeds) = ("t1 = 0.1\nsteps = 1", "kind = \"uniform\"\ncount = 4");
        assert_refused(&Case { field, boundary, trace, seeds }.run(folder.path(), &[]), 2, parts);
    };
    for (key, value) in [("cell_velocity", "averaged"), ("other_cells", "skip")] {
        for interpolation in ["grid", "nearest"] {
            let field =
                format!("files = \"u.vtk\"\ninterpolation = {interpolation:?}\n{key} = {value:?}");
            let name = format!("`{key}` is not a key of [field] interpolation = {interpolation:?}");
            refused(&field, "", &[&name, "it belongs to interpolation = \"mesh\""]);
        }
    }
    let wall = "boundary.mesh needs field.interpolation = \"mesh\"";
    refused("flow = \"abc\"", "mesh = \"slide\"", &[wall]);
    refused("flow = \"abc\"\ninterpolation = \"mesh\"", "", &["needs `files`"]);
    refused(MESH, "mesh = \"reflct\"", &["reflct", "did you mean `reflect`"]);
    refused(&format!("{MESH}\ncell_velocity = \"mean\""), "", &["mean", "averaged"]);
    refused(&format!("{MESH}\nneighbours = 3"), "", &["\"inverse-distance\""]);
    refused("files = \"u.vtk\"", "", &["not a grid with axes", "\"mesh\"` to use its cells"]);
    refused(MESH, "", &["u.vtk", "besides 3 cells", "line (type 3)", "other_cells = \"skip\""]);
}

#[test]
fn other_cells_are_skipped_on_request() {
    let mut mesh = corner();
    mesh.cells.insert(0, (3, vec![0, 1]));
    let folder = folder(&mesh.file("CELL_DATA", |[x, ..]| [x, 0.0, 0.0]));
    let field = format!("{MESH}\nother_cells = \"skip\"");
    let seeds = "kind = \"list\"\npoints = [[1.5, 0.5, 0.5]]";
    let trace = "t0 = 0.0\ndt = 0.1\nsteps = 1";
    let tracks = Case { field: &field, boundary: "", trace, seeds }.trace(folder.path());
    assert!((ends(&tracks)[0][0] - 1.65).abs() < 1e-12);
    let field = &summary(folder.path())["field"];
    assert_eq!((&field["cells"], &field["mesh"]["skipped"]), (&3.into(), &1.into()));
    let info = |more: &[&str]| {
        text(&burntrace(folder.path(), &[&["info", "u.vtk"], more].concat()).stdout)
    };
    assert!(info(&[]).contains("no mesh"), "{}", info(&[]));
    let printed = info(&["--other-cells", "skip"]);
    assert!(printed.contains("3 x hexahedron; 1 skipped; "), "{printed}");
    assert!(printed.contains("field.interpolation = \"mesh\"\n"), "{printed}");
}

#[test]
fn ghost_cells_are_excluded_and_counted() {
    let marks = "SCALARS vtkGhostType unsigned_char 1\nLOOKUP_TABLE default\n0 0 1\n";
    let folder = folder(&(corner().file("CELL_DATA", |_| [1.0, 0.0, 0.0]) + marks));
    let info = burntrace(folder.path(), &["info", "u.vtk"]);
    assert!(text(&info.stdout).contains("3 x hexahedron; 1 ghosts or hidden; "), "{info:?}");
    let seeds = "kind = \"list\"\npoints = [[0.5, 1.5, 0.5]]";
    let case = Case { field: MESH, boundary: "", trace: "t1 = 0.1\nsteps = 1", seeds };
    assert_refused(&case.run(folder.path(), &[]), 2, &["1 of 1 seeds are outside the domain"]);
}

#[test]
fn pieces_of_a_parallel_file_form_one_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let field = format!(
        "files = {:?}\nvelocity = \"velocity\"\ninterpolation = \"mesh\"",
        fixture("parallel/mesh.pvtu")
    );
    let seeds = "kind = \"uniform\"\ncount = 50\noutside = \"not-located\"";
    let trace = "t0 = 0.0\ndt = 0.01\nsteps = 10";
    Case { field: &field, boundary: "", trace, seeds }.trace(folder.path());
    let field = &summary(folder.path())["field"];
    assert_eq!((&field["nodes"], &field["merged_points"]), (&24.into(), &8.into()));
}

#[test]
fn blocks_of_an_openfoam_case_are_traced_and_others_noted() {
    let folder = tempfile::tempdir().unwrap();
    let file = fixture("composite/foam.vtm").canonicalize().unwrap().display().to_string();
    let list = format!("{{ \"files\": [{{ \"name\": {file:?}, \"time\": 0.5 }}] }}");
    std::fs::write(folder.path().join("case.vtm.series"), list).unwrap();
    let field = "files = \"case.vtm.series\"\nvelocity = \"velocity\"\ninterpolation = \"mesh\"";
    // Across the face between the polyhedron and the hexahedra, at x = 2.
    let seeds = "kind = \"list\"\npoints = [[1.9, 0.5, 0.25]]";
    let trace = "t0 = 0.5\ndt = 0.001\nsteps = 50";
    let tracks = Case { field, boundary: "", trace, seeds }.trace(folder.path());
    let velocity = |[x, y, z]: [f64; 3]| {
        let v = -2.0 + x - y + 0.5 * z;
        [1.0 + 2.0 * x + 3.0 * y + 4.0 * z, v, 0.25 + 0.25 * x + 2.0 * y - z]
    };
    let expected = rk4(velocity, [[0.0; 3], [3.0, 2.0, 2.0]], [1.9, 0.5, 0.25], 0.001, 50).unwrap();
    let end = ends(&tracks)[0];
    assert!((0..3).all(|d| (end[d] - expected[d]).abs() < 1e-6), "{end:?}, not {expected:?}");
    assert!(end[0] > 2.2, "{end:?}");
    let summary = summary(folder.path());
    assert_eq!(summary["field"]["mesh"]["parts"], 17);
    let warnings = summary["warnings"].to_string();
    for block in ["boundary/walls", "boundary/outlet"] {
        let note =
            format!("the block `{block}` (poly data) is not used: its cells have dimension 2");
        assert!(warnings.contains(&note), "{warnings}");
    }
    let info = burntrace(folder.path(), &["info", "case.vtm.series", "--velocity", "velocity"]);
    let printed = text(&info.stdout);
    assert!(printed.contains("note       the block `boundary/walls`"), "{printed}");
    assert!(printed.contains("times from the .series file"), "{printed}");
}

#[test]
fn a_planar_velocity_of_two_scalars_is_traced() {
    let folder = tempfile::tempdir().unwrap();
    let field = format!(
        "files = {:?}\nvelocity = [\"p\", \"id\"]",
        fixture("vtk/ascii.vti").canonicalize().unwrap()
    );
    let seeds = "kind = \"list\"\npoints = [[0.5, -1.0, 2.0]]";
    let trace = "t0 = 0.75\ndt = 0.0001\nsteps = 1\nscheme = \"euler\"";
    let boundary = "z = [\"slide\", \"slide\"]\nx = [\"slide\", \"slide\"]";
    let tracks = Case { field: &field, boundary, trace, seeds }.trace(folder.path());
    // p = 12 and id = 0 at the first node, and w = 0.
    let [x, y, z] = ends(&tracks)[0];
    assert!((x - (0.5 + 0.0012)).abs() < 1e-9 && (y, z) == (-1.0, 2.0), "{:?}", [x, y, z]);
    let info = ["info", "x", "--velocity", "u,v,w,t"];
    let four = burntrace(folder.path(), &info);
    assert_refused(&four, 2, &["--velocity has 4 names; give one name, or two or three"]);
}

/// The velocity in each unit cube of the blood vessels, by its low corner.
fn voxels(path: &Path) -> HashMap<[i64; 3], [f64; 3]> {
    let file = burntrace_vtk::open(path).unwrap();
    let info = file.arrays().iter().find(|info| info.name == "velocity").unwrap();
    let velocities = file.read(info).unwrap().values.into_f64();
    let points = file.points().unwrap().values.into_f64();
    let (cells, points) = (file.cells().unwrap(), points.as_chunks::<3>().0);
    let corner = |nodes: &[u32]| {
        let low = |d: usize| nodes.iter().map(|node| points[*node as usize][d] as i64).min();
        std::array::from_fn(|d| low(d).unwrap())
    };
    let corners = cells.iter().map(|(_, nodes)| corner(nodes));
    corners.zip(velocities.as_chunks().0.iter().copied()).collect()
}

#[test]
fn blood_vessels_agree_with_a_voxel_walk() {
    const STEPS: usize = 100;
    let Some(path) = flow_data("blood_vessels/T0000000500.pvtu") else { return };
    let field = format!("files = {path:?}\ninterpolation = \"mesh\"");
    let seeds = "kind = \"uniform\"\ncount = 10000\noutside = \"not-located\"";
    let trace = format!("scheme = \"euler\"\nt0 = 0.0\ndt = 0.5\nsteps = {STEPS}");
    let folder = tempfile::tempdir().unwrap();
    let tracks = Case { field: &field, boundary: "", trace: &trace, seeds }.trace(folder.path());
    let (starts, ends) = (tracks.position(0).unwrap(), ends(&tracks));
    let found = tracks.ends().unwrap();
    let voxels = voxels(&path);
    let velocity = |p: [f64; 3]| voxels.get(&p.map(|x| x.floor() as i64));
    let (mut stayed, mut left, mut disagree) = (0, 0, 0);
    for (i, start) in starts.into_iter().enumerate() {
        let is_inside = velocity(start).is_some();
        assert_eq!(found.status[i] == Status::NotLocated, !is_inside, "{start:?}");
        let step = |p: [f64; 3], v: &[f64; 3]| std::array::from_fn(|d| p[d] + 0.5 * v[d]);
        let end = (0..STEPS).try_fold(start, |p, _| velocity(p).map(|v| step(p, v)));
        let end = end.filter(|end| velocity(*end).is_some());
        assert_eq!(found.mesh_face[i].is_some(), found.status[i] == Status::LeftMesh);
        match (end, found.status[i]) {
            (_, Status::NotLocated) => {}
            (Some(end), Status::Active) => {
                let off = (0..3).map(|d| (ends[i][d] - end[d]).abs()).fold(0.0, f64::max);
                assert!(off < 1e-9, "particle {i}: {:?}, not {end:?}", ends[i]);
                stayed += 1;
            }
            (None, Status::LeftMesh | Status::Exited(_)) => left += 1,
            // A straight step may cut a corner between two voxels.
            (Some(_), Status::LeftMesh) => disagree += 1,
            other => panic!("particle {i} from {start:?}: {other:?}"),
        }
    }
    eprintln!("{stayed} stayed, {left} left, {disagree} cut a corner");
    assert!(stayed > 500 && left > 100 && disagree * 20 < stayed);
}

#[test]
fn mesh_walls_contain_blood() {
    let Some(path) = flow_data("blood_vessels/T0000000500.pvtu") else { return };
    let voxels = voxels(&path);
    let folder = tempfile::tempdir().unwrap();
    let seeds = "kind = \"uniform\"\ncount = 4000\noutside = \"not-located\"";
    for (wall, cells) in [("reflect", "constant"), ("slide", "constant"), ("slide", "averaged")] {
        let field =
            format!("files = {path:?}\ninterpolation = \"mesh\"\ncell_velocity = {cells:?}");
        let boundary = format!("mesh = {wall:?}");
        let trace = "t0 = 0.0\ndt = 1.0\nsteps = 100";
        let tracks = Case { field: &field, boundary: &boundary, trace, seeds }.trace(folder.path());
        let status = tracks.ends().unwrap().status;
        let mut active = 0;
        for (i, end) in ends(&tracks).into_iter().enumerate() {
            match status[i] {
                Status::NotLocated | Status::Exited(_) => continue,
                status => assert_eq!(status, Status::Active, "{wall}, particle {i}"),
            }
            // A position on a wall may round to either side.
            let is_in = (0..8).any(|corner| {
                let off = |d: usize| if corner >> d & 1 == 1 { 1e-6 } else { -1e-6 };
                let voxel = std::array::from_fn(|d| (end[d] + off(d)).floor() as i64);
                voxels.contains_key(&voxel)
            });
            assert!(is_in, "{wall}, particle {i} is at {end:?}");
            active += 1;
        }
        assert!(active > 200, "{wall}: {active}");
    }
}

#[test]
fn several_vector_arrays_need_a_velocity_name() {
    let Some(path) = flow_data("can.vtu") else { return };
    let folder = tempfile::tempdir().unwrap();
    let field = format!("files = {path:?}\ninterpolation = \"mesh\"");
    let seeds = "kind = \"uniform\"\ncount = 2000\noutside = \"not-located\"";
    let run = |field: &str| {
        let trace = "t0 = 0.0\ndt = 1e-6\nsteps = 5";
        Case { field, boundary: "", trace, seeds }.run(folder.path(), &["--quiet"])
    };
    assert_refused(&run(&field), 2, &["DISPL (point)", "VEL (point)", "ACCL (point)"]);
    let output = run(&format!("{field}\nvelocity = \"VEL\""));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let tracks = Tracks::open(folder.path().join("out/tracks")).unwrap();
    let file = burntrace_vtk::open(&path).unwrap();
    let info = file.arrays().iter().find(|info| info.name == "VEL").unwrap();
    let speeds = file.read(info).unwrap().values.into_f64();
    let speeds = speeds.as_chunks::<3>().0.iter().map(|v| v.iter().map(|u| u * u).sum::<f64>());
    let fastest = speeds.fold(0.0, f64::max).sqrt();
    let (starts, ends) = (tracks.position(0).unwrap(), ends(&tracks));
    let status = tracks.ends().unwrap().status;
    let moved = |i: usize| (0..3).map(|d| (ends[i][d] - starts[i][d]).powi(2)).sum::<f64>().sqrt();
    let active = (0..starts.len()).filter(|i| status[*i] == Status::Active);
    let distances: Vec<f64> = active.map(moved).collect();
    assert!(distances.len() > 50, "{}", distances.len());
    // No particle is faster than the fastest point, and none is at rest.
    assert!(distances.iter().all(|moved| *moved > 0.0 && *moved <= 5e-6 * fastest * (1.0 + 1e-9)));
}
