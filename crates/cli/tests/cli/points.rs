//! Fields on scattered points on the command line.

use super::program::{assert_refused, burntrace, fixture, text};
use super::real_data::rk4;
use super::requirements::flow_data;
use burntrace::{Status, io::Tracks};
use std::path::Path;
use std::process::Output;

/// Legacy poly data with a velocity on its points.
fn cloud(positions: &[[f64; 3]], velocities: &[[f64; 3]]) -> String {
    let lines = |triples: &[[f64; 3]]| -> String {
        triples.iter().map(|[x, y, z]| format!("{x} {y} {z}\n")).collect()
    };
    let n = positions.len();
    format!(
        "# vtk DataFile Version 3.0\ncloud\nASCII\nDATASET POLYDATA\nPOINTS {n} double\n{}\
         POINT_DATA {n}\nVECTORS U double\n{}",
        lines(positions),
        lines(velocities)
    )
}

/// Runs a case in a folder, by its keys in `[field]`, `[trace]` and `[seeds]`.
fn run(folder: &Path, field: &str, trace: &str, seeds: &str) -> Output {
    let case = format!(
        "[field]\n{field}\n[trace]\n{trace}\n[seeds]\n{seeds}\n[save]\nevery = 1000\n\
         [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n"
    );
    std::fs::write(folder.join("case.toml"), case).unwrap();
    burntrace(folder, &["run", "case.toml", "--quiet", "--overwrite"])
}

/// The positions at the start and at the end of the run, and the status of each particle.
fn tracks(folder: &Path) -> (Vec<[f64; 3]>, Vec<[f64; 3]>, Vec<Status>) {
    let tracks = Tracks::open(folder.join("out/tracks")).unwrap();
    let last = tracks.times().len() - 1;
    let [start, end] = [0, last].map(|save| tracks.position(save).unwrap());
    (start, end, tracks.status(last).unwrap())
}

#[test]
fn particle_takes_the_velocity_of_the_nearest_node() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = [[0.0; 3], [1.0, 0.0, 0.0], [4.0, 0.0, 0.0]];
    for (frame, scale) in [(0, 1.0), (1, 3.0)] {
        let velocities = [1.0, 2.0, 5.0].map(|u| [scale * u, 0.0, 0.0]);
        let text = cloud(&nodes, &velocities);
        std::fs::write(folder.path().join(format!("u_{frame}.vtk")), text).unwrap();
    }
    let output = run(
        folder.path(),
        "files = \"u_*.vtk\"\nfile_dt = 1.0\ninterpolation = \"nearest\"",
        "scheme = \"euler\"\ndt = 0.25\nengine = \"fused\"",
        "kind = \"list\"\npoints = [[0.125, 0.0, 0.0], [2.0, 0.0, 0.0]]",
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let (_, ends, status) = tracks(folder.path());
    // The velocity grows by the factor 1 + 2 t. Nodes meet at 0.5 and 2.5:
    // 0.125 + (1 + 1.5) / 4 = 0.75, + 2 (2 + 2.5) / 4 = 3.
    assert_eq!(ends[0], [3.0, 0.0, 0.0]);
    // 2 + 2 / 4 + 5 (1.5 + 2 + 2.5) / 4 leaves the box.
    assert!(matches!(status[..], [Status::Active, Status::Exited(_)]), "{status:?}");
    let summary = std::fs::read_to_string(folder.path().join("out/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["engine"], "fused");
    assert_eq!(summary["field"]["nodes"], 3);
    assert_eq!(summary["field"]["interpolation"], "nearest");
}

/// A steady velocity on points, with a brute-force search for neighbours.
struct Oracle {
    nodes: Vec<([f64; 3], [f64; 3])>,
}

impl Oracle {
    fn velocity(&self, p: [f64; 3], neighbours: usize, power: f64) -> [f64; 3] {
        let distance =
            |node: [f64; 3]| (0..3).map(|d| (p[d] - node[d]).powi(2)).sum::<f64>().sqrt();
        let near = self.nodes.iter().map(|(node, velocity)| (distance(*node), *velocity));
        let mut near: Vec<(f64, [f64; 3])> = near.collect();
        near.select_nth_unstable_by(neighbours - 1, |a, b| a.0.total_cmp(&b.0));
        near.truncate(neighbours);
        if let [(_, velocity)] = near[..] {
            return velocity;
        }
        let sum: f64 = near.iter().map(|(distance, _)| distance.powf(-power)).sum();
        std::array::from_fn(|d| near.iter().map(|(r, v)| r.powf(-power) * v[d]).sum::<f64>() / sum)
    }

    fn bounds(&self) -> [[f64; 3]; 2] {
        let along = |d: usize| self.nodes.iter().map(move |(node, _)| node[d]);
        let low = std::array::from_fn(|d| along(d).fold(f64::INFINITY, f64::min));
        [low, std::array::from_fn(|d| along(d).fold(f64::NEG_INFINITY, f64::max))]
    }

    /// Compares the run in a folder with this velocity. Returns the number of particles that stay in
    /// the domain.
    fn check(&self, folder: &Path, neighbours: usize, power: f64, h: f64, steps: usize) -> usize {
        let (starts, ends, status) = tracks(folder);
        let velocity = |p| self.velocity(p, neighbours, power);
        let mut stayed = 0;
        for i in 0..starts.len() {
            match rk4(velocity, self.bounds(), starts[i], h, steps) {
                Some(end) => {
                    let off = (0..3).map(|d| (ends[i][d] - end[d]).abs()).fold(0.0, f64::max);
                    assert!(off < 1e-9, "{neighbours}, particle {i}: {:?}, not {end:?}", ends[i]);
                    assert_eq!(status[i], Status::Active, "particle {i}");
                    stayed += 1;
                }
                None => assert!(matches!(status[i], Status::Exited(_)), "particle {i}"),
            }
        }
        stayed
    }
}

/// Pseudo-random numbers from 0 to 1.
fn scatter(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as f64 / (1_u64 << 31) as f64
}

#[test]
fn scattered_points_agree_with_brute_force() {
    let folder = tempfile::tempdir().unwrap();
    let mut seed = 7;
    let positions: Vec<[f64; 3]> =
        (0..400).map(|_| std::array::from_fn(|_| scatter(&mut seed))).collect();
    let velocities: Vec<[f64; 3]> =
        positions.iter().map(|[x, y, z]| [0.5 - y, x - 0.5, 0.3 * (z - x)]).collect();
    std::fs::write(folder.path().join("u.vtk"), cloud(&positions, &velocities)).unwrap();
    let oracle = Oracle { nodes: positions.into_iter().zip(velocities).collect() };
    let trace = "t0 = 0.0\ndt = 0.05\nsteps = 20";
    let seeds = "kind = \"uniform\"\ncount = 100";
    for (keys, neighbours, power) in [
        ("interpolation = \"nearest\"", 1, 1.0),
        ("interpolation = \"inverse-distance\"", 8, 2.0),
        ("interpolation = \"inverse-distance\"\nneighbours = 5\npower = 3.5", 5, 3.5),
    ] {
        let field = format!("files = \"u.vtk\"\n{keys}");
        let output = run(folder.path(), &field, trace, seeds);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let stayed = oracle.check(folder.path(), neighbours, power, 0.05, 20);
        assert!(stayed > 50, "{stayed}");
    }
}

#[test]
fn default_neighbours_are_limited_to_the_points() {
    let folder = tempfile::tempdir().unwrap();
    let positions = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    std::fs::write(folder.path().join("u.vtk"), cloud(&positions, &positions)).unwrap();
    let (field, seeds) = (
        "files = \"u.vtk\"\ninterpolation = \"inverse-distance\"",
        "kind = \"list\"\npoints = [[0.5, 0.5, 0.0]]",
    );
    let run = |field: &str| run(folder.path(), field, "t1 = 0.1\nsteps = 2", seeds);
    let output = run(field);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_refused(&run(&format!("{field}\nneighbours = 4")), 2, &["4 neighbours", "3 points"]);
}

#[test]
fn pieces_of_a_parallel_file_form_one_field() {
    let folder = tempfile::tempdir().unwrap();
    let mut ends = Vec::new();
    for name in ["vtk/raw.vtu", "parallel/mesh.pvtu"] {
        let field = format!(
            "files = {:?}\nvelocity = \"velocity\"\ninterpolation = \"inverse-distance\"",
            fixture(name)
        );
        let seeds = "kind = \"grid\"\ncounts = [4, 4, 3]";
        let output = run(folder.path(), &field, "t0 = 0.0\ndt = 0.01\nsteps = 10", seeds);
        assert!(output.status.success(), "{}", text(&output.stderr));
        ends.push(tracks(folder.path()).1);
    }
    assert_eq!(ends[0].len(), 48);
    // The order of nodes differs, and so does the rounding of sums.
    for (a, b) in ends[0].iter().zip(&ends[1]) {
        assert!((0..3).all(|d| (a[d] - b[d]).abs() < 1e-9), "{a:?}, {b:?}");
    }
}

#[test]
fn invalid_interpolations_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = format!("files = {:?}\nvelocity = \"velocity\"\n", fixture("vtk/raw.vtu"));
    let run = |field: &str| {
        run(folder.path(), field, "t1 = 0.1\nsteps = 2", "kind = \"uniform\"\ncount = 4")
    };
    let with = |keys: &str| run(&format!("{files}{keys}"));
    assert_refused(&with(""), 2, &["unstructured grid", "field.interpolation = \"nearest\""]);
    let typo = with("interpolation = \"nearst\"");
    assert_refused(&typo, 2, &["nearst", "did you mean `nearest`"]);
    let mean = "interpolation = \"inverse-distance\"\n";
    for (keys, parts) in [
        ("neighbours = 0", ["field.neighbours is 0", "1 to 16"]),
        ("neighbours = 17", ["field.neighbours is 17", "1 to 16"]),
        ("power = 0.0", ["field.power is 0", "above 0"]),
        ("power = inf", ["field.power is inf", "above 0"]),
        ("power = nan", ["`field.power` is nan", "give a number"]),
    ] {
        assert_refused(&with(&format!("{mean}{keys}")), 2, &parts);
    }
    for keys in ["neighbours = 4", "power = 3.0"] {
        let output = with(&format!("interpolation = \"nearest\"\n{keys}"));
        assert_refused(&output, 2, &["it belongs to interpolation = \"inverse-distance\""]);
    }
    let flow = run("flow = \"abc\"\ninterpolation = \"nearest\"");
    assert_refused(&flow, 2, &["interpolation = \"nearest\", which needs `files`"]);
    let cells = format!(
        "files = {:?}\nvelocity = \"slow\"\ninterpolation = \"nearest\"",
        fixture("series/u_2.vti")
    );
    assert_refused(&run(&cells), 2, &["u_2.vti", "`slow` is in the cells"]);
}

#[test]
fn info_lists_the_interpolations_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let info = |name: &str| {
        let file = fixture(name);
        let output =
            burntrace(folder.path(), &["info", file.to_str().unwrap(), "--velocity", "velocity"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let printed = info("parallel/mesh.pvtu");
    for part in [
        "unstructured grid, 32 points, 6 cells",
        "in 2 files",
        "x          -0.5 to 5\n",
        "24, after merging coincident points",
        "field.interpolation = \"mesh\" or \"nearest\" or \"inverse-distance\"\n",
        "t = 0.75",
    ] {
        assert!(printed.contains(part), "`{part}` is not in: {printed}");
    }
    assert!(!printed.contains("problem"), "{printed}");
    let printed = info("vtk/raw.vti");
    let all = "field.interpolation = \"grid\" or \"nearest\" or \"inverse-distance\"";
    assert!(printed.contains(all), "{printed}");
}

#[test]
fn kitchen_agrees_with_brute_force() {
    let Some(path) = flow_data("kitchen.vtk") else { return };
    let file = burntrace_vtk::open(&path).unwrap();
    let info = file.arrays().iter().find(|info| info.name == "velocity").unwrap();
    let velocities = file.read(info).unwrap().values.into_f64();
    let positions = file.points().unwrap().values.into_f64();
    let pairs = positions.as_chunks().0.iter().zip(velocities.as_chunks().0);
    let oracle = Oracle { nodes: pairs.map(|(node, velocity)| (*node, *velocity)).collect() };
    let folder = tempfile::tempdir().unwrap();
    for (interpolation, neighbours) in [("nearest", 1), ("inverse-distance", 8)] {
        let field = format!("files = {path:?}\ninterpolation = {interpolation:?}");
        let seeds = "kind = \"uniform\"\ncount = 60";
        let output = run(folder.path(), &field, "t0 = 0.0\ndt = 0.5\nsteps = 20", seeds);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let stayed = oracle.check(folder.path(), neighbours, 2.0, 0.5, 20);
        assert!(stayed > 50, "{stayed}");
        let (starts, ends, _) = tracks(folder.path());
        assert!(starts.iter().zip(&ends).filter(|(a, b)| a != b).count() > 50);
    }
}
