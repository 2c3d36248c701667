//! Velocities in seas whose levels move with the surface.

use super::model::{EAST, Group, METRES, NORTH, SPEED};
use super::unstructured;
use crate::{CfMesh, Convention, MeshPlacement, MeshRequest, open};
use serde_json::json;

/// The side of a cell.
const SIDE: f64 = 500.0;
/// The horizontal velocity.
const FLOW: [f64; 2] = [0.3, -0.2];
const CRITICAL: f64 = 20.0;
const LEVELS: usize = 5;
/// Time from one frame to the next, in seconds.
const DT: f64 = 600.0;

fn depth([x, y]: [f64; 2]) -> f64 {
    100.0 + 0.01 * x - 0.005 * y
}

fn zeta([x, y]: [f64; 2], t: f64) -> f64 {
    0.5 + 4e-4 * x + 2e-4 * y + 1e-3 * t
}

/// The level with a number, as a part of the depth where that is large.
fn s(level: f64) -> f64 {
    level / (LEVELS - 1) as f64 - 1.0
}

fn stretched(s: f64) -> f64 {
    -s * s
}

/// The height of a level: `ocean_s_coordinate_g2`.
fn height(level: f64, at: [f64; 2], zeta: f64) -> f64 {
    let (s, h) = (s(level), depth(at));
    zeta + (zeta + h) * (CRITICAL * s + h * stretched(s)) / (CRITICAL + h)
}

/// The derivative of a function along the flow.
fn along(f: impl Fn([f64; 2]) -> f64, [x, y]: [f64; 2]) -> f64 {
    let at = |by: f64| f([x + by * FLOW[0], y + by * FLOW[1]]);
    (at(1.0) - at(-1.0)) / 2.0
}

/// The velocity through a level: 0 at the bottom and at the surface.
fn omega(level: f64) -> f64 {
    -1e-3 * s(level) * (1.0 + s(level))
}

/// The velocity upward of what moves through a level.
fn upward(level: f64, at: [f64; 2], t: f64) -> f64 {
    let rise = (height(level, at, zeta(at, t + 1.0)) - height(level, at, zeta(at, t - 1.0))) / 2.0;
    omega(level) + rise + along(|at| height(level, at, zeta(at, t)), at)
}

/// The same in the sea at rest.
fn at_rest(level: f64, at: [f64; 2], t: f64) -> f64 {
    omega(level) / (1.0 + zeta(at, t) / depth(at)) + along(|at| height(level, at, 0.0), at)
}

const TIME: [(&str, &str); 1] = [("units", "seconds since 2000-01-01")];

/// The attributes of levels with a stretching.
fn levels(terms: &str) -> [(&str, &str); 2] {
    [("standard_name", "ocean_s_coordinate_g2"), ("formula_terms", terms)]
}

const AT_W: &str = "s: s_w C: Cs_w eta: zeta depth: h depth_c: hc";
const AT_RHO: &str = "s: s_rho C: Cs_r eta: zeta depth: h depth_c: hc";

/// A sea whose values are at nodes of rows and columns, or that of ROMS, with 8 x 7 cells around their middles.
fn sea(on_faces: bool, third: &str) -> Group {
    let (rows, columns) = ("y 8", "x 9");
    let at = |at: &[usize]| [1, 2].map(|end| SIDE * at[at.len() - end] as f64);
    let group = Group::new()
        .with("ocean_time", "ocean_time 3", &TIME, |at| DT * at[0] as f64)
        .with("s_w", "s_w 5", &levels(AT_W), |at| s(at[0] as f64))
        .with("Cs_w", "s_w 5", &[], |at| stretched(s(at[0] as f64)))
        .with("hc", "", &METRES, |_| CRITICAL);
    let plane = if on_faces { "eta_rho 8 xi_rho 9".into() } else { format!("{rows} {columns}") };
    let three = |name: &str| format!("ocean_time 3 s_w 5 {name}");
    let w = |of: &[usize]| {
        let (level, time) = (of[1] as f64, DT * of[0] as f64);
        if third == "omega" { omega(level) } else { upward(level, at(of), time) }
    };
    let group = group.with("h", &plane, &METRES, |of| depth(at(of))).with(
        "zeta",
        &format!("ocean_time 3 {plane}"),
        &METRES,
        |of| zeta(at(of), DT * of[0] as f64),
    );
    let group = if third.is_empty() { group } else { group.with(third, &three(&plane), &SPEED, w) };
    match on_faces {
        false => group
            .with("x", "x 9", &METRES, |of| SIDE * of[0] as f64)
            .with("y", "y 8", &METRES, |of| SIDE * of[0] as f64)
            .with("u", &three(&plane), &SPEED, |_| FLOW[0])
            .with("v", &three(&plane), &SPEED, |_| FLOW[1]),
        // The cell `[j, i]` has its middle at `(SIDE i, SIDE j)`.
        true => group
            .with("s_rho", "s_rho 4", &levels(AT_RHO), |of| s(of[0] as f64 + 0.5))
            .with("Cs_r", "s_rho 4", &[], |of| stretched(s(of[0] as f64 + 0.5)))
            .with("x_psi", "eta_psi 7 xi_psi 8", &METRES, |of| SIDE * (of[1] as f64 + 0.5))
            .with("y_psi", "eta_psi 7 xi_psi 8", &METRES, |of| SIDE * (of[0] as f64 + 0.5))
            .with("u", "ocean_time 3 s_rho 4 eta_rho 8 xi_u 8", &SPEED, |_| FLOW[0])
            .with("v", "ocean_time 3 s_rho 4 eta_v 7 xi_rho 9", &SPEED, |_| FLOW[1]),
    }
}

/// The vertical velocities at the second time.
fn vertical(group: &Group, mesh: &CfMesh) -> Vec<f64> {
    let store = open(group.path()).unwrap();
    let rise = match mesh.needs_rise() {
        false => Vec::new(),
        true => {
            let [before, after] = [0, 2].map(|time| mesh.elevation(&*store, time).unwrap());
            before.iter().zip(&after).map(|(a, b)| (b - a) / (2.0 * DT)).collect()
        }
    };
    let values = mesh.read(&*store, 1, &rise).unwrap().velocity.into_f64();
    values.chunks_exact(3).map(|of| of[2]).collect()
}

/// The position of each vertical velocity of a mesh whose columns are whole, and its level.
fn positions(mesh: &CfMesh) -> Vec<Option<([f64; 2], f64)>> {
    let level = |[x, y, z]: [f64; 3]| {
        let is_it = |level: &usize| (height(*level as f64, [x, y], 0.0) - z).abs() < 1e-6;
        (0..LEVELS).find(is_it).unwrap() as f64
    };
    if mesh.placement == MeshPlacement::Points {
        return mesh.points.iter().map(|at| Some(([at[0], at[1]], level(*at)))).collect();
    }
    let mut found = vec![None; mesh.points.len()];
    for nodes in mesh.cells.chunks_exact(8) {
        for end in nodes.chunks_exact(4) {
            let [a, c] = [0, 2].map(|node| mesh.points[end[node] as usize]);
            let middle = [0, 1].map(|d| 0.5 * (a[d] + c[d]));
            // Depths at the corners of the edge are means of fewer cells.
            let is_inside = middle[0] > SIDE
                && middle[0] < 7.0 * SIDE
                && middle[1] > SIDE
                && middle[1] < 6.0 * SIDE;
            if is_inside {
                found[end[0] as usize] = Some((middle, level(a)));
            }
        }
    }
    found
}

fn request(on_faces: bool) -> MeshRequest {
    MeshRequest { convention: on_faces.then_some(Convention::Roms), ..MeshRequest::default() }
}

#[test]
fn vertical_velocities_are_those_in_the_sea_at_rest() {
    for on_faces in [false, true] {
        for third in ["w", "omega"] {
            let group = sea(on_faces, third);
            let mesh = group.mesh(&request(on_faces)).unwrap();
            let notes = mesh.notes().join("\n");
            assert!(notes.contains("levels move with `zeta`"), "{notes}");
            assert_eq!(notes.contains("through the levels"), third == "omega", "{notes}");
            assert_eq!(mesh.needs_rise(), third == "w");
            let mut count = 0;
            for (w, at) in vertical(&group, &mesh).iter().zip(positions(&mesh)) {
                let Some((at, level)) = at else { continue };
                let expected = at_rest(level, at, DT);
                // On faces, the height of a level is the mean of its corners.
                let bound = if on_faces { 2e-6 } else { 1e-9 };
                assert!((w - expected).abs() < bound, "{third} {at:?} {level}: {w} {expected}");
                count += 1;
            }
            assert!(count >= 100, "{count}");
        }
    }
}

#[test]
fn nothing_flows_through_the_surface() {
    let group = sea(false, "w");
    let mesh = group.mesh(&request(false)).unwrap();
    let vertical = vertical(&group, &mesh);
    let is_still = |(w, point): &(&f64, &[f64; 3])| point[2] == 0.0 && **w == 0.0;
    assert_eq!(vertical.iter().zip(&mesh.points).filter(is_still).count(), 72);
}

#[test]
fn without_a_vertical_velocity_particles_may_follow_levels() {
    for on_faces in [false, true] {
        let group = sea(on_faces, "");
        let still = group.mesh(&request(on_faces)).unwrap();
        assert!(vertical(&group, &still).iter().all(|w| *w == 0.0));
        assert!(still.notes().join("\n").contains("w = 0"));
        let follow = MeshRequest { follow_levels: true, ..request(on_faces) };
        let mesh = group.mesh(&follow).unwrap();
        assert!(!mesh.notes().join("\n").contains("w = 0"), "{:?}", mesh.notes());
        let mut count = 0;
        for (w, at) in vertical(&group, &mesh).iter().zip(positions(&mesh)) {
            let Some((at, level)) = at else { continue };
            let expected = along(|at| height(level, at, 0.0), at);
            assert!((w - expected).abs() < 2e-6, "{at:?} {level}: {w} {expected}");
            count += 1;
        }
        assert!(count >= 100, "{count}");
        let with_w = sea(on_faces, "w").mesh(&follow).unwrap_err();
        assert!(with_w.contains("`follow_levels` is for files without one"), "{with_w}");
    }
}

#[test]
fn a_velocity_through_levels_needs_levels_that_follow_the_bottom() {
    let group = Group::new()
        .with("lon", "y 3 x 4", &EAST, |at| at[1] as f64)
        .with("lat", "y 3 x 4", &NORTH, |at| at[0] as f64)
        .with("depth", "depth 2", &[METRES[0], ("positive", "down")], |at| 10.0 * at[0] as f64)
        .with("u", "depth 2 y 3 x 4", &SPEED, |_| 1.0)
        .with("v", "depth 2 y 3 x 4", &SPEED, |_| 1.0)
        .with("omega", "depth 2 y 3 x 4", &SPEED, |_| 1.0);
    let mut request = MeshRequest::default();
    assert!(group.mesh(&request).unwrap().notes().join("\n").contains("w = 0"));
    request.variables.velocity = ["u", "v", "omega"].map(Into::into).into();
    let refused = group.mesh(&request).unwrap_err();
    assert!(refused.contains("`omega`: it is the velocity through levels"), "{refused}");
    let follow = MeshRequest { follow_levels: true, ..MeshRequest::default() };
    let refused = group.mesh(&follow).unwrap_err();
    assert!(refused.contains("`follow_levels` is for levels that follow the bottom"), "{refused}");
}

/// Four triangles around a node, with the depth and the surface of above at the nodes; pure sigma levels.
fn triangles(third: &str) -> unstructured::Group {
    let at = [[0.0, 0.0], [1000.0, 0.0], [1000.0, 1000.0], [0.0, 1000.0], [400.0, 600.0]];
    let group = unstructured::Group::new();
    let metres = json!({ "units": "m" });
    let speed = json!({ "units": "m s-1" });
    let of_nodes = |f: &dyn Fn([f64; 2]) -> f64| at.map(f).to_vec();
    let surface: Vec<f64> =
        [0.0, DT, 2.0 * DT].iter().flat_map(|t| of_nodes(&|at| zeta(at, *t))).collect();
    let centers = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]].map(|nodes: [usize; 3]| {
        [0, 1].map(|d| nodes.iter().map(|node| at[*node][d]).sum::<f64>() / 3.0)
    });
    // The first layer is the upper one, from sigma = -0.25 to 0.
    let layer = |sigma: f64| centers.map(|at| sigma_upward(sigma, at, DT)).to_vec();
    let w: Vec<f64> = (0..3).flat_map(|_| [layer(-0.125), layer(-0.625)].concat()).collect();
    group
        .add("x", "node 5", &at.map(|at| at[0]), metres.clone())
        .add("y", "node 5", &at.map(|at| at[1]), metres.clone())
        .add_table(
            "nv",
            "three 3 nele 4",
            &[1.0, 2.0, 3.0, 4.0, 2.0, 3.0, 4.0, 1.0, 5.0, 5.0, 5.0, 5.0],
            json!({}),
        )
        .add("h", "node 5", &of_nodes(&depth), metres.clone())
        .add("zeta", "time 3 node 5", &surface, metres)
        .add(
            "siglev",
            "siglev 3",
            &[0.0, -0.25, -1.0],
            json!({ "standard_name": "ocean_sigma_coordinate", "formula_terms": "sigma: siglev eta: zeta depth: h" }),
        )
        .add("time", "time 3", &[0.0, DT, 2.0 * DT], json!({ "units": "seconds since 2000-01-01" }))
        .add("u", "time 3 siglay 2 nele 4", &[FLOW[0]; 24], speed.clone())
        .add("v", "time 3 siglay 2 nele 4", &[FLOW[1]; 24], speed.clone());
    if !third.is_empty() {
        group.add(third, "time 3 siglay 2 nele 4", &w, speed);
    }
    group
}

/// The velocity upward of what moves along sigma.
fn sigma_upward(sigma: f64, at: [f64; 2], t: f64) -> f64 {
    let height = |at: [f64; 2], t: f64| zeta(at, t) + sigma * (depth(at) + zeta(at, t));
    (height(at, t + 1.0) - height(at, t - 1.0)) / 2.0 + along(|at| height(at, t), at)
}

#[test]
fn triangles_of_models_have_the_vertical_velocities_in_the_sea_at_rest() {
    for (third, follow_levels) in [("ww", false), ("", true)] {
        let group = triangles(third);
        let store = group.store();
        let request = MeshRequest { follow_levels, ..MeshRequest::default() };
        let mesh = CfMesh::of(&*store, &request).unwrap();
        assert_eq!(mesh.placement, MeshPlacement::Cells);
        let [before, after] = [0, 2].map(|time| mesh.elevation(&*store, time).unwrap());
        let rise: Vec<f64> = before.iter().zip(&after).map(|(a, b)| (b - a) / (2.0 * DT)).collect();
        let values = mesh.read(&*store, 1, &rise).unwrap().velocity.into_f64();
        for (cell, value) in values.chunks_exact(3).enumerate() {
            let nodes = &mesh.cells[6 * cell..6 * cell + 6];
            let mean =
                |d: usize| nodes.iter().map(|n| mesh.points[*n as usize][d]).sum::<f64>() / 6.0;
            let at = [mean(0), mean(1)];
            let expected = mean(2) / depth(at) * along(depth, at);
            assert!((value[2] - expected).abs() < 1e-9, "{third} {at:?}: {} {expected}", value[2]);
        }
        assert_eq!(values.len(), 24);
    }
}

#[test]
fn depth_and_surface_are_arrays_of_a_grid_with_levels() {
    for on_faces in [false, true] {
        let mut request = request(on_faces);
        request.variables.arrays = vec!["zeta".into(), "h".into()];
        let group = sea(on_faces, "w");
        let mesh = group.mesh(&request).unwrap();
        let frame = mesh.read(&*open(group.path()).unwrap(), 1, &[]).unwrap();
        let [zeta_at, depth_at] = [0, 1].map(|array| frame.arrays[array].clone().into_f64());
        for (point, [x, y, _]) in mesh.points.iter().enumerate() {
            let at = [*x, *y];
            if on_faces && !(*x > SIDE && *x < 7.0 * SIDE && *y > SIDE && *y < 6.0 * SIDE) {
                continue;
            }
            assert!((zeta_at[point] - zeta(at, DT)).abs() < 1e-6, "{at:?}");
            assert!((depth_at[point] - depth(at)).abs() < 1e-4, "{at:?}");
        }
    }
}
