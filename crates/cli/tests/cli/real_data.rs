//! Published flows, traced from the command line and compared with an independent trilinear RK4 in
//! double precision.

use super::program::{burntrace, text};
use super::requirements::flow_data;
use burntrace::{Status, io::Tracks};
use std::path::{Path, PathBuf};

/// A steady velocity on a rectilinear grid.
struct Oracle {
    axes: [Vec<f64>; 3],
    velocity: Vec<[f64; 3]>,
}

impl Oracle {
    /// Reads a grid. The axes of a structured grid are taken from its first edges.
    fn read(path: &Path, array: &str) -> Self {
        let file = burntrace_vtk::open(path).unwrap();
        let [nx, ny, nz] = file.geometry().dims().unwrap();
        let axes = file.coordinates().unwrap_or_else(|_| {
            let points = file.points().unwrap().values.into_f64();
            let along = |count: usize, stride: usize, d: usize| {
                (0..count).map(|i| points[3 * i * stride + d]).collect()
            };
            [along(nx, 1, 0), along(ny, nx, 1), along(nz, nx * ny, 2)]
        });
        let info = file.arrays().iter().find(|info| info.name == array).unwrap();
        let values = file.read(info).unwrap().values.into_f64();
        Oracle { axes, velocity: values.as_chunks().0.to_vec() }
    }

    /// Trilinear velocity as a weighted sum over eight corners, clamped to the grid.
    fn velocity(&self, p: [f64; 3]) -> [f64; 3] {
        let [nx, ny, _] = self.axes.each_ref().map(Vec::len);
        let mut cell = [0; 3];
        let mut part = [0.0; 3];
        for d in 0..3 {
            let axis = &self.axes[d];
            let x = p[d].clamp(axis[0], axis[axis.len() - 1]);
            while cell[d] + 2 < axis.len() && axis[cell[d] + 1] <= x {
                cell[d] += 1;
            }
            part[d] = (x - axis[cell[d]]) / (axis[cell[d] + 1] - axis[cell[d]]);
        }
        let mut sum = [0.0; 3];
        for corner in 0..8 {
            let up = [corner & 1, corner >> 1 & 1, corner >> 2 & 1];
            let weight = |d: usize| if up[d] == 1 { part[d] } else { 1.0 - part[d] };
            let [i, j, k]: [usize; 3] = std::array::from_fn(|d| cell[d] + up[d]);
            let v = self.velocity[i + nx * (j + ny * k)];
            for d in 0..3 {
                sum[d] += weight(0) * weight(1) * weight(2) * v[d];
            }
        }
        sum
    }

    /// The position after some RK4 steps. `None` if the particle left the grid.
    fn follow(&self, p: [f64; 3], h: f64, steps: usize) -> Option<[f64; 3]> {
        let low = self.axes.each_ref().map(|axis| axis[0]);
        let high = self.axes.each_ref().map(|axis| *axis.last().unwrap());
        rk4(|p| self.velocity(p), [low, high], p, h, steps)
    }

    /// The maximum absolute coordinate.
    fn extent(&self) -> f64 {
        self.axes.iter().flatten().fold(0.0, |max, x| f64::max(max, x.abs()))
    }
}

/// The position after some RK4 steps. `None` if the particle left the box.
pub fn rk4(
    velocity: impl Fn([f64; 3]) -> [f64; 3],
    [low, high]: [[f64; 3]; 2],
    mut p: [f64; 3],
    h: f64,
    steps: usize,
) -> Option<[f64; 3]> {
    for _ in 0..steps {
        let go = |k: [f64; 3], c: f64| std::array::from_fn(|d| p[d] + c * h * k[d]);
        let k1 = velocity(p);
        let k2 = velocity(go(k1, 0.5));
        let k3 = velocity(go(k2, 0.5));
        let k4 = velocity(go(k3, 1.0));
        p = std::array::from_fn(|d| p[d] + h / 6.0 * (k1[d] + 2.0 * k2[d] + 2.0 * k3[d] + k4[d]));
        if !(0..3).all(|d| low[d] <= p[d] && p[d] <= high[d]) {
            return None;
        }
    }
    Some(p)
}

const STEPS: usize = 200;

/// Traces a grid of seeds from the command line, and compares with the oracle.
fn check(name: &str, array: &str, dt: f64, precision: &str, interpolation: &str) {
    let Some(path) = flow_data(name) else { return };
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &path, dt, precision, interpolation);
    let tracks = Tracks::open(folder.path().join("results/run/tracks")).unwrap();
    let oracle = Oracle::read(&path, array);
    let starts = tracks.position(0).unwrap();
    let ends = tracks.position(1).unwrap();
    let status = tracks.status(1).unwrap();

    let mut errors = Vec::new();
    let mut disagree = 0;
    for i in 0..starts.len() {
        let expected = oracle.follow(starts[i], dt, STEPS);
        match (expected, status[i]) {
            (Some(end), Status::Active) => {
                let off = (0..3).map(|d| (ends[i][d] - end[d]).abs()).fold(0.0, f64::max);
                errors.push(off);
            }
            (None, Status::Exited(_)) => {}
            _ => disagree += 1,
        }
    }
    errors.sort_by(f64::total_cmp);
    let eps = if precision == "f64" { f64::EPSILON } else { f64::from(f32::EPSILON) };
    // Each step rounds a position by half an ulp of the coordinate, and the flow amplifies rounding
    // errors: little on most tracks, much on some near walls and saddles.
    let rounding = STEPS as f64 * eps * oracle.extent();
    let at = |part: f64| errors[(part * (errors.len() - 1) as f64) as usize];
    let moved = starts.iter().zip(&ends).filter(|(a, b)| a != b).count();
    eprintln!(
        "{name} {precision}: {} compared, {disagree} disagree, {moved} moved; error median {:e}, \
         99% {:e}, maximum {:e}, rounding {rounding:e}",
        errors.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
    assert!(moved > starts.len() / 3, "most of the seeds are in the flow");
    assert!(errors.len() > starts.len() / 2);
    assert!(at(0.5) <= rounding && at(0.99) <= 10.0 * rounding && at(1.0) <= 1000.0 * rounding);
    // At the boundary, rounding decides which particles leave.
    assert!(disagree * 1000 <= starts.len(), "{disagree} of {} disagree", starts.len());
}

fn run(folder: &Path, path: &PathBuf, dt: f64, precision: &str, interpolation: &str) {
    let case = format!(
        "[field]\nfiles = {path:?}\ninterpolation = {interpolation:?}\n\
         [seeds]\nkind = \"grid\"\ncounts = [17, 13, 11]\n\
         [trace]\nt0 = 0.0\ndt = {dt:?}\nsteps = {STEPS}\n\
         [save]\nevery = {STEPS}\n\
         [run]\ndevice = \"flex\"\nprecision = \"{precision}\"\n"
    );
    std::fs::write(folder.join("case.toml"), case).unwrap();
    let output = burntrace(folder, &["run", "case.toml", "--quiet"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn carotid_artery_matches_oracle() {
    for precision in ["f32", "f64"] {
        check("carotid.vtk", "vectors", 0.02, precision, "grid");
    }
}

#[test]
fn kitchen_matches_oracle() {
    for precision in ["f32", "f64"] {
        check("kitchen.vtk", "velocity", 0.2, precision, "grid");
    }
}

#[test]
fn kitchen_as_mesh_matches_oracle() {
    for precision in ["f32", "f64"] {
        check("kitchen.vtk", "velocity", 0.2, precision, "mesh");
    }
}
