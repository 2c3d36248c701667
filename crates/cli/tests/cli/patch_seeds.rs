//! Seeds on a patch of a mesh boundary.

use super::meshes::{Case, MESH, Mesh, folder};
use super::program::{assert_refused, burntrace, text};
use burntrace::{Status, io::Tracks};

const TRACE: &str = "t0 = 0.0\ndt = 0.25\nsteps = 2";

/// Both ends of the mesh along x.
const PATCHES: &str = "[[patch]]\nname = \"in\"\nhigh = [0.0, inf, inf]\nwall = \"exit\"\n\
    [[patch]]\nname = \"out\"\nlow = [2.0, -inf, -inf]\nwall = \"exit\"\n";

fn mesh() -> Mesh {
    Mesh::cubes([2, 2, 1], |_| true)
}

/// A fraction of the starts of a run.
fn fraction(tracks: &Tracks, is_in: impl Fn(&[f64; 3]) -> bool) -> f64 {
    let starts = tracks.position(0).unwrap();
    starts.iter().filter(|p| is_in(p)).count() as f64 / starts.len() as f64
}

#[test]
fn seeds_on_a_patch_are_distributed_by_area_or_flux() {
    // The velocity at the end of the mesh is y.
    let velocity = |[_, y, _]: [f64; 3]| [y, 0.0, 0.0];
    for mesh in [mesh(), mesh().tetrahedra()] {
        let folder = folder(&mesh.file("POINT_DATA", velocity));
        let run = |by: &str| {
            let seeds = format!("kind = \"mesh\"\npatch = \"in\"\ncount = 4000\n{by}");
            let tracks = Case { field: MESH, boundary: PATCHES, trace: TRACE, seeds: &seeds }
                .trace(folder.path());
            assert_eq!(fraction(&tracks, |p| (0.0..1e-4).contains(&p[0])), 1.0);
            // Four standard deviations are 0.032.
            assert!((fraction(&tracks, |p| p[2] < 0.5) - 0.5).abs() < 0.032);
            assert_eq!(tracks.ends().unwrap().status, [Status::Active; 4000]);
            let end = tracks.position(tracks.num_saves() - 1).unwrap();
            let moved = |(p, q): (&[f64; 3], [f64; 3])| (q[0] - p[0] - 0.5 * p[1]).abs() < 1e-9;
            assert!(tracks.position(0).unwrap().iter().zip(end).all(moved));
            (fraction(&tracks, |p| p[1] < 1.0), tracks.position(0).unwrap())
        };
        let (by_area, first) = run("");
        assert!((by_area - 0.5).abs() < 0.032, "{by_area}");
        assert_eq!(run("by = \"area\"\nseed = 1").1, first);
        assert_ne!(run("seed = 2").1, first);
        let (by_flux, _) = run("by = \"flux\"");
        assert!((by_flux - 0.25).abs() < 0.028, "{by_flux}");
        let info = text(&burntrace(folder.path(), &["info", "out"]).stdout);
        assert!(info.contains("mesh, 4000 on the patch in"), "{info}");
    }
}

#[test]
fn seeds_on_a_patch_do_not_depend_on_the_number_of_threads() {
    let folder = folder(&mesh().file("POINT_DATA", |[_, y, _]| [y, 0.0, 0.0]));
    let seeds = "kind = \"mesh\"\npatch = \"in\"\ncount = 3000\nby = \"flux\"";
    let case = Case { field: MESH, boundary: PATCHES, trace: TRACE, seeds };
    let starts = |more: &[&str]| {
        let output = case.run(folder.path(), more);
        assert!(output.status.success(), "{}", text(&output.stderr));
        Tracks::open(folder.path().join("out/tracks")).unwrap().position(0).unwrap()
    };
    let one = starts(&["--set", "run.threads=1"]);
    assert_eq!(starts(&["--set", "run.threads=2"]), one);
    assert_eq!(starts(&["--set", "seeds.count=500"]), one[..500]);
    // Seeds outside the mesh would be an error.
    assert_eq!(starts(&["--set", "run.precision=f32"]).len(), 3000);
}

#[test]
fn wrong_seeds_on_a_patch_are_refused() {
    let folder = folder(&mesh().file("POINT_DATA", |_| [1.5, 0.0, 0.0]));
    let refused = |boundary: &str, keys: &str, parts: &[&str]| {
        let seeds = format!("kind = \"mesh\"\ncount = 10\n{keys}");
        let case = Case { field: MESH, boundary, trace: TRACE, seeds: &seeds };
        assert_refused(&case.run(folder.path(), &[]), 2, parts);
        assert!(!folder.path().join("out").exists(), "nothing is written");
    };
    let unknown = "patch = \"inn\"";
    refused(PATCHES, unknown, &["seeds.patch is \"inn\"", "the names \"in\", \"out\""]);
    refused("", unknown, &["seeds.patch is \"inn\"", "there is no [[patch]]"]);
    refused(PATCHES, "by = \"flux\"", &["[seeds] has `by` and no `patch`"]);
    refused(
        PATCHES,
        "patch = \"in\"\nby = \"volume\"",
        &["\"volume\"", "give \"area\" or \"flux\""],
    );
    let boxed = "patch = \"in\"\nlow = [0.0, 0.0, 0.0]";
    refused(PATCHES, boxed, &["a `patch`, and `low` or `high`", "the box in the [[patch]]"]);
    let out = "patch = \"out\"\nby = \"flux\"";
    refused(PATCHES, out, &["patch `out`", "no flow enters", "at most -1.5"]);
    let away = PATCHES.replace("low = [2.0,", "low = [3.0,");
    refused(&away, "patch = \"out\"", &["patch `out`", "no boundary face"]);
}
