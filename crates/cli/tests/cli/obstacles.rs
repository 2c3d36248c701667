//! Obstacles on the command line.

use super::program::{assert_refused, burntrace, text};
use burntrace::{Status, io::Tracks};
use std::path::Path;
use std::process::Output;

/// A velocity of 1 along x, from 0 to 4, for 3 units of time. Of the two particles, the first one
/// passes through the centre.
const PLUG: &str = "[field]\nflow = \"uniform\"\nsample = { nodes = [5, 3, 3] }\n\
    [domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [4.0, 1.0, 1.0]\n\
    [trace]\nt0 = 0.0\nt1 = 3.0\ndt = 0.125\n\
    [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n\
    [seeds]\nkind = \"list\"\npoints = [[0.0, 0.5, 0.5], [0.0, 0.95, 0.95]]\n";

const SPHERE: &str = "[[obstacle]]\nkind = \"sphere\"\ncentre = [2.0, 0.5, 0.5]\nradius = 0.25\n";
const INLET: &str = "[inlet]\nkind = \"face\"\nface = \"x-low\"\n";

fn run(folder: &Path, sections: &[&str]) -> Output {
    std::fs::write(folder.join("case.toml"), [&[PLUG], sections].concat().concat()).unwrap();
    burntrace(folder, &["run", "case.toml", "--overwrite"])
}

/// The tracks of a successful run, and its standard output.
fn tracks(folder: &Path, sections: &[&str]) -> (Tracks, String) {
    let output = run(folder, sections);
    assert!(output.status.success(), "{}", text(&output.stderr));
    (Tracks::open(folder.join("out/tracks")).unwrap(), text(&output.stdout))
}

#[test]
fn each_kind_of_obstacle_ends_particles() {
    let folder = tempfile::tempdir().unwrap();
    let kinds = [
        "kind = \"sphere\"\ncentre = [2.0, 0.5, 0.5]\nradius = 0.25",
        "kind = \"cylinder\"\nbase = [1.75, 0.5, 0.5]\naxis = [1.0, 0.0, 0.0]\nradius = 0.25",
        "kind = \"cylinder\"\nbase = [2.0, 0.5, 0.0]\naxis = [0.0, 0.0, 0.1]\nradius = 0.25\n\
         capped = false",
        "kind = \"box\"\nlow = [1.75, 0.25, -inf]\nhigh = [inf, 0.75, inf]",
    ];
    let ends = [("stick", Status::Stuck), ("exit", Status::HitObstacle)];
    for kind in kinds {
        for (surface, status) in ends {
            let obstacle = format!("[[obstacle]]\n{kind}\nsurface = \"{surface}\"\n");
            let (tracks, printed) = tracks(folder.path(), &[&obstacle]);
            let found = tracks.ends().unwrap();
            assert_eq!(found.status, [status, Status::Active], "{obstacle}");
            assert_eq!(found.obstacle, [Some(0), None], "{obstacle}");
            assert!((found.end_time[0] - 1.75).abs() < 1e-9, "{obstacle}: {:?}", found.end_time);
            assert!((tracks.position(0).unwrap()[0][0] - 1.75).abs() < 1e-9, "{obstacle}");
            assert!(printed.contains(&format!("1 {status}")), "{printed}");
        }
    }
    // The written case runs again.
    let again = burntrace(folder.path(), &["run", "out/case.toml", "--out", "again", "--quiet"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    // Overwriting with a run without obstacles removes their array.
    assert!(tracks(folder.path(), &[]).0.ends().unwrap().obstacle.is_empty());
}

#[test]
fn particles_stay_outside_bodies_and_inside_vessels() {
    let folder = tempfile::tempdir().unwrap();
    let slide = format!("{SPHERE}surface = \"slide\"\n");
    let vessel = "[[obstacle]]\nkind = \"box\"\nlow = [-inf, 0.0, 0.0]\nhigh = [1.5, 1.0, 1.0]\n\
        allowed = \"inside\"\n";
    for (obstacle, limit) in [(slide.as_str(), 1.75), (vessel, 1.5)] {
        let (tracks, _) = tracks(folder.path(), &[obstacle]);
        assert!(tracks.ends().unwrap().status.iter().all(|status| *status == Status::Active));
        assert!(tracks.position(0).unwrap()[0][0] < limit);
    }
}

#[test]
fn obstacle_outlet_reinjects_particles() {
    let folder = tempfile::tempdir().unwrap();
    let outlet = format!("{SPHERE}surface = \"outlet\"\n");
    let (tracks, _) = tracks(folder.path(), &[&outlet, INLET]);
    assert_eq!(tracks.ends().unwrap().generation, [1, 0]);
    assert!((tracks.position(0).unwrap()[0][0] - 1.25).abs() < 1e-9);
}

#[test]
fn invalid_obstacles_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |sections: &[&str], parts: &[&str]| {
        assert_refused(&run(folder.path(), sections), 2, parts);
        assert!(!folder.path().join("out").exists(), "nothing is written");
    };
    let outlet = format!("{SPHERE}surface = \"outlet\"\n");
    let exit = format!("{SPHERE}surface = \"exit\"\n");
    refused(&[&outlet], &["an obstacle is an outlet", "[inlet]"]);
    refused(&[SPHERE, INLET], &["[inlet]", "[[obstacle]]"]);
    refused(&[&outlet, &exit, INLET], &["\"exit\" and some \"outlet\"", "stick"]);
    refused(
        &[SPHERE, "axis = [1.0, 0.0, 0.0]\n"],
        &["`axis`", "[[obstacle]] 1 of 1 kind = \"sphere\"", "cylinder"],
    );
    refused(&["[[obstacle]]\nkind = \"box\"\nlow = [0.0, 0.0, 0.0]\n"], &["obstacle.high"]);
    refused(&[SPHERE, "surface = \"slid\"\n"], &["did you mean `slide`?"]);
    refused(&[&SPHERE.replace("0.25", "0.0")], &["number 0, a sphere", "radius"]);
    let around = SPHERE.replace("[2.0,", "[0.0,");
    refused(&[&around], &["1 of 2 seeds", "allowed side of the obstacles", "not-located"]);
}

/// A tetrahedron whose first point, scaled by 0.5 and shifted by 1 in x, is (1.75, 0.5, 0.5).
fn tetrahedron(faces: usize) -> String {
    let points = ["1.5 1 1", "3 0.2 0.2", "3 1.9 0.3", "3 1 1.9"];
    let corners = [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]];
    let facet = |corners: &[usize; 3]| {
        let vertices: String = corners.iter().map(|i| format!("vertex {}\n", points[*i])).collect();
        format!("facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet\n")
    };
    let facets: String = corners[..faces].iter().map(facet).collect();
    format!("solid tip\n{facets}endsolid tip\n")
}

const TIP: &str = "[[obstacle]]\nkind = \"surface\"\npath = \"tip.stl\"\nscale = 0.5\n\
    shift = [1.0, 0.0, 0.0]\nsurface = \"stick\"\n";

#[test]
fn surface_from_a_file_ends_particles() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tip.stl"), tetrahedron(4)).unwrap();
    let (tracks, _) = tracks(folder.path(), &[TIP]);
    let found = tracks.ends().unwrap();
    assert_eq!(found.status, [Status::Stuck, Status::Active]);
    assert_eq!(found.obstacle, [Some(0), None]);
    assert!((found.end_time[0] - 1.75).abs() < 1e-9, "{:?}", found.end_time);
    // The written case runs again from another folder.
    let again = burntrace(folder.path(), &["run", "out/case.toml", "--out", "again", "--quiet"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
}

#[test]
fn invalid_surfaces_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |sections: &[&str], parts: &[&str]| {
        assert_refused(&run(folder.path(), sections), 2, parts);
        assert!(!folder.path().join("out").exists(), "nothing is written");
    };
    refused(&[TIP], &["[[obstacle]] 1 of 1", "tip.stl"]);
    std::fs::write(folder.path().join("tip.stl"), tetrahedron(3)).unwrap();
    refused(&[TIP], &["[[obstacle]] 1 of 1", "tip.stl", "not closed: 3 edges"]);
    refused(&[&TIP.replace("scale = 0.5", "scale = 0.0")], &["[[obstacle]] 1 of 1: scale is 0"]);
    refused(&[&TIP.replace("path = \"tip.stl\"\n", "")], &["obstacle.path"]);
    refused(&[TIP, "radius = 1.0\n"], &["`radius`", "path, scale, shift"]);
}

/// An STL file whose corners differ by rounding.
#[test]
fn surfaces_are_welded_within_a_distance() {
    let folder = tempfile::tempdir().unwrap();
    let corners = [[1.5, 0.2, 0.2], [2.5, 0.2, 0.2], [2.0, 0.9, 0.3], [2.0, 0.5, 0.9]];
    let mut stl = String::from("solid a\n");
    for (i, face) in [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]].into_iter().enumerate() {
        stl += "facet normal 0 0 0\nouter loop\n";
        for [x, y, z] in face.map(|corner: usize| corners[corner]) {
            stl += &format!("vertex {} {y} {z}\n", x + 1e-5 * i as f64);
        }
        stl += "endloop\nendfacet\n";
    }
    std::fs::write(folder.path().join("a.stl"), stl + "endsolid a\n").unwrap();
    let surface = "[[obstacle]]\nkind = \"surface\"\npath = \"a.stl\"\nsurface = \"stick\"\n";
    assert_refused(&run(folder.path(), &[surface]), 2, &["not closed", "`weld = 1e-6`"]);
    let welded = format!("{surface}weld = 1e-3\n");
    let output = run(folder.path(), &[&welded]);
    let notes = text(&output.stderr);
    assert!(output.status.success(), "{notes}");
    assert!(notes.contains("a.stl`: 8 points merged within 0.001, and 0 flat"), "{notes}");
    let tracks = Tracks::open(folder.path().join("out/tracks")).unwrap();
    assert_eq!(tracks.status(tracks.num_saves() - 1).unwrap()[0], Status::Stuck);
}
