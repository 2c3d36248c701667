//! What there is to know about a series before it is read.

use super::grid::Grid;
use super::mesh::{MeshInfo, Selection};
use super::points::{Nodes, bounds};
use super::times::TimesFrom;
use super::velocity::{Association, VelocityInfo};
use burntrace_vtk::{ArrayInfo, VtkFile};
use serde::Serialize;
use std::path::PathBuf;

/// A device keeps four numbers for each velocity.
const NUMBERS_ON_DEVICE: u64 = 4;

/// And for each point its place.
const COORDINATES: u64 = 3;

/// Of a cell of a mesh it keeps the numbers that lead from a position to its place in the cell,
const NUMBERS_OF_CELL: u64 = 16;

/// its nodes, and its entries in the locator: two bins, and eight bins at most that it is in.
const INTEGERS_OF_CELL: u64 = 8 + 2 + 8;

/// The interpolation that needs a grid.
const ON_GRIDS: &str = "grid";

/// The interpolation that needs cells that make a mesh.
const ON_MESHES: &str = "mesh";

/// The interpolations that need a velocity on points.
const ON_POINTS: [&str; 2] = ["nearest", "inverse-distance"];

/// A series in numbers and words, for people and for other programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeriesInfo {
    /// Files of the selected frames, in order of time.
    pub files: Vec<PathBuf>,
    /// How many files there are before frames are selected.
    pub files_found: usize,
    /// Kind of the data sets, e.g. `image data`.
    pub kind: String,
    /// How the first file is written, e.g. `legacy, binary`.
    pub encoding: String,
    /// Points of a frame.
    pub points: usize,
    /// Cells of a frame.
    pub cells: usize,
    /// Nodes along each axis, for the kinds of data sets that have axes.
    pub dims: Option<[usize; 3]>,
    /// The x, y and z axes; empty if there is no usable grid.
    pub axes: Vec<AxisInfo>,
    /// The least and the greatest corner of the box around the points, if they are usable; in the
    /// data's unit of length.
    pub bounds: Option<[[f64; 3]; 2]>,
    /// Points of a frame, those at one place counted once; only where there is no usable grid, and
    /// not for a [`MeshSeries`](super::MeshSeries).
    pub distinct_points: Option<usize>,
    /// What lies between the points, in unstructured and structured grids that are not read as
    /// grids with axes.
    pub mesh: Option<MeshInfo>,
    /// The values of `field.interpolation` in a case file that the data set can be used with, a
    /// grid or a mesh first.
    pub interpolations: Vec<&'static str>,
    /// The arrays of the first file.
    pub arrays: Vec<ArrayEntry>,
    /// Times of the selected frames, in the data's unit of time; empty if they are not known.
    pub times: Vec<f64>,
    /// Where the times come from, if they are known.
    pub times_from: Option<TimesFrom>,
    /// The arrays taken as the velocity, if that is clear.
    pub velocity: Option<VelocityInfo>,
    /// Bytes of all selected frames on a device in single precision, with the first of the
    /// interpolations; 0 if they cannot be read. For a mesh it is an estimate.
    pub device_bytes_f32: u64,
    /// The same in double precision.
    pub device_bytes_f64: u64,
    /// What keeps the files from being traced.
    pub problems: Vec<String>,
}

/// An axis of a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AxisInfo {
    /// `x`, `y` or `z`.
    pub name: char,
    /// Its nodes.
    pub nodes: usize,
    /// Its least coordinate, in the data's unit of length.
    pub low: f64,
    /// Its greatest coordinate.
    pub high: f64,
    /// Distance between neighbouring nodes, if it is the same everywhere; a flat axis has none.
    pub spacing: Option<f64>,
    /// Whether it is the same everywhere.
    pub is_uniform: bool,
    /// Whether it decreases in the files.
    pub is_flipped: bool,
}

/// An array of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrayEntry {
    /// Its name.
    pub name: String,
    /// `point`, `cell` or `field`.
    pub association: String,
    /// Numbers of a value.
    pub components: usize,
    /// Type of the numbers, e.g. `Float32`.
    pub scalar: String,
    /// How many values there are.
    pub tuples: usize,
}

impl SeriesInfo {
    /// What a file says before anything has been worked out.
    pub(super) fn of(file: &VtkFile) -> SeriesInfo {
        let geometry = file.geometry();
        SeriesInfo {
            files: Vec::new(),
            files_found: 0,
            kind: file.kind().to_string(),
            encoding: file.encoding(),
            points: geometry.num_points(),
            cells: geometry.num_cells(),
            dims: geometry.dims(),
            axes: Vec::new(),
            bounds: None,
            distinct_points: None,
            mesh: None,
            interpolations: Vec::new(),
            arrays: file.arrays().iter().map(entry).collect(),
            times: Vec::new(),
            times_from: None,
            velocity: None,
            device_bytes_f32: 0,
            device_bytes_f64: 0,
            problems: Vec::new(),
        }
    }

    /// Adds what follows from the grid, the velocity and the number of frames; `on_points`:
    /// whether the points have the velocity.
    pub(super) fn settle(&mut self, grid: &Grid, velocity: Option<&VelocityInfo>, on_points: bool) {
        self.axes = axes(grid);
        self.bounds = Some([
            grid.axes.each_ref().map(|axis| axis[0]),
            grid.axes.each_ref().map(|axis| axis[axis.len() - 1]),
        ]);
        self.velocity = velocity.cloned();
        if let Some(velocity) = velocity {
            self.interpolations.push(ON_GRIDS);
            let counts = match velocity.association {
                Association::Point => grid.nodes(),
                Association::Cell => grid.cells(),
            };
            let velocities = counts.iter().fold(1_u64, |all, &n| all.saturating_mul(n as u64));
            self.settle_bytes(self.on_device(velocities), 0);
        }
        if on_points {
            self.interpolations.extend(ON_POINTS);
        }
    }

    /// Adds what follows from the points.
    pub(super) fn settle_points(&mut self, nodes: &Nodes) {
        self.bounds = Some(bounds(&nodes.positions));
        self.distinct_points = Some(nodes.positions.len());
    }

    /// Adds what follows from a velocity on the points and the number of frames.
    pub(super) fn settle_on_points(&mut self, nodes: &Nodes, velocity: &VelocityInfo) {
        let count = nodes.positions.len() as u64;
        let numbers = self.on_device(count).saturating_add(count.saturating_mul(COORDINATES));
        self.settle_way(&ON_POINTS, velocity, numbers, 0);
    }

    /// Adds what follows from the mesh, the velocity and the number of frames.
    pub(super) fn settle_mesh(
        &mut self,
        points: &[[f64; 3]],
        mesh: &Selection,
        velocity: &VelocityInfo,
    ) {
        self.bounds = Some(bounds(points));
        let cells = mesh.cells.len() as u64;
        let velocities = match velocity.association {
            Association::Point => points.len() as u64,
            Association::Cell => cells,
        };
        let of_cells = cells.saturating_mul(NUMBERS_OF_CELL);
        let numbers = self.on_device(velocities).saturating_add(of_cells);
        self.settle_way(&[ON_MESHES], velocity, numbers, cells.saturating_mul(INTEGERS_OF_CELL));
    }

    /// Adds a way to interpolate the velocity; the first one says what it takes on a device.
    fn settle_way(
        &mut self,
        interpolations: &[&'static str],
        velocity: &VelocityInfo,
        numbers: u64,
        integers: u64,
    ) {
        if self.interpolations.is_empty() {
            self.velocity = Some(velocity.clone());
            self.settle_bytes(numbers, integers);
        }
        self.interpolations.extend(interpolations);
    }

    /// How many numbers the velocities of all frames are on a device.
    fn on_device(&self, velocities: u64) -> u64 {
        velocities.saturating_mul(self.files.len() as u64 * NUMBERS_ON_DEVICE)
    }

    /// Memory for so many numbers in the precision of the run, and integers of four bytes.
    fn settle_bytes(&mut self, numbers: u64, integers: u64) {
        let integers = integers.saturating_mul(4);
        self.device_bytes_f32 = numbers.saturating_mul(4).saturating_add(integers);
        self.device_bytes_f64 = numbers.saturating_mul(8).saturating_add(integers);
    }
}

fn entry(array: &ArrayInfo) -> ArrayEntry {
    ArrayEntry {
        name: array.name.clone(),
        association: Association::of(array).map_or("field".into(), |on| on.to_string()),
        components: array.components,
        scalar: array.scalar.to_string(),
        tuples: array.tuples,
    }
}

fn axes(grid: &Grid) -> Vec<AxisInfo> {
    let axis = |(d, name): (usize, char)| {
        let nodes = grid.axes[d].as_slice();
        let (low, high) = (nodes[0], nodes[nodes.len() - 1]);
        let pitch = (high - low) / (nodes.len() - 1).max(1) as f64;
        let mut gaps = nodes.array_windows().map(|[a, b]| b - a);
        let is_uniform = gaps.all(|gap| (gap - pitch).abs() <= 1e-6 * pitch);
        AxisInfo {
            name,
            nodes: nodes.len(),
            low,
            high,
            spacing: (is_uniform && nodes.len() > 1).then_some(pitch),
            is_uniform,
            is_flipped: grid.flipped[d],
        }
    };
    ['x', 'y', 'z'].into_iter().enumerate().map(axis).collect()
}
