//! Description of a series before its frames are read.

use super::distinct_points::DistinctPoints;
use super::entries::{ArrayEntry, AxisInfo, axes};
use super::geometry::Geometry;
use super::grid::Grid;
use super::mesh::{cells::MeshCells, info::MeshInfo};
use super::options::Crop;
use super::part::GridPart;
use super::times::{Timeline, TimesFrom};
use super::values::plane_axes;
use super::velocity::{Association, VelocityInfo};
use crate::tracks::TimeOrigin;
use burntrace_cf::{Clock, Store};
use burntrace_core::{FrameData, mesh::Bounds};
use burntrace_vtk::{Kind, VtkFile};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Floats on a device per velocity.
const NUMBERS_ON_DEVICE: u64 = 4;

/// Floats on a device per point: its coordinates.
const COORDINATES: u64 = 3;

/// Floats on a device per mesh cell: its map from positions to local coordinates.
const NUMBERS_OF_CELL: u64 = 16;

/// Integers on a device per mesh cell: its nodes, its range of bins in the locator, and
/// its entries in at most eight bins.
const INTEGERS_OF_CELL: u64 = 8 + 2 + 8;

/// The interpolation on grids.
const ON_GRIDS: &str = "grid";

/// The interpolation on meshes.
const ON_MESHES: &str = "mesh";

/// The interpolations between points.
const ON_POINTS: [&str; 2] = ["nearest", "inverse-distance"];

/// The description of a series.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SeriesInfo {
    /// Files of the selected frames, in order of time: the first one, if a frame has several parts; a file
    /// of several frames is repeated.
    pub files: Vec<PathBuf>,
    /// The other files of frames of several parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PathBuf>,
    /// Number of frames before their selection, or of files if their times are unknown.
    pub files_found: usize,
    /// Kind of the data sets, e.g. `image data`.
    pub kind: String,
    /// Format of the first file, e.g. `legacy, binary`.
    pub encoding: String,
    /// Number of points in a frame.
    pub points: usize,
    /// Number of cells in a frame.
    pub cells: usize,
    /// Nodes along each axis, for kinds of data sets with axes.
    pub dims: Option<[usize; 3]>,
    /// Whether positions are lengths, or longitude and latitude.
    pub geometry: Geometry,
    /// The x, y and z axes; empty without a grid with axes.
    pub axes: Vec<AxisInfo>,
    /// Minimum and maximum corner of the bounding box of the points, in the data's unit of length.
    pub bounds: Option<[[f64; 3]; 2]>,
    /// Number of points in a frame, coincident ones counted once; only without a grid with axes, and
    /// not for a [`MeshSeries`](super::MeshSeries).
    pub distinct_points: Option<usize>,
    /// The cells of unstructured grids, and of structured grids without axes.
    pub mesh: Option<MeshInfo>,
    /// Values of `field.interpolation` in a case file that suit the data set, grid or mesh first.
    pub interpolations: Vec<&'static str>,
    /// The arrays of the first file.
    pub arrays: Vec<ArrayEntry>,
    /// Times of the selected frames, in the data's unit of time; empty if unknown.
    pub times: Vec<f64>,
    /// Source of the times, if they are known.
    pub times_from: Option<TimesFrom>,
    /// The arrays of the velocity, unless it is missing or ambiguous.
    pub velocity: Option<VelocityInfo>,
    /// The axes of the two components of a velocity on a grid; empty if it has three.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub velocity_axes: Vec<char>,
    /// Number of velocities at hidden points or in hidden cells of the first file, without the cells that
    /// a mesh leaves out; only from [`inspect`](super::inspect()).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<usize>,
    /// Number of velocities in the first file that are not finite, and not hidden; only from
    /// [`inspect`](super::inspect()).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_finite: Option<usize>,
    /// Maximum speed in the first file, of velocities that are finite and not hidden; only from
    /// [`inspect`](super::inspect()).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_speed: Option<f64>,
    /// Bytes of all selected frames on a device in single precision, with the first of the
    /// interpolations; 0 if the frames cannot be read. An estimate for meshes.
    pub device_bytes_f32: u64,
    /// Bytes of all selected frames on a device in double precision.
    pub device_bytes_f64: u64,
    /// The date of time 0, if the times in the files are from a date. As text, for example
    /// `seconds since 2000-01-01T06:00:00 (calendar noleap)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_origin: Option<TimeOrigin>,
    /// The dates of the first and the last of the times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dates: Option<[String; 2]>,
    /// The date of time 0, for other files.
    #[serde(skip)]
    pub clock: Option<Clock>,
    /// What of the files is converted or assumed, for example `` `x` is converted from km to m ``, and what is
    /// not used of the first frame, and why: blocks of lower dimension, and arrays that not all blocks have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Those of the notes that say how the files are read by their own attributes, and what is usual: nothing to check.
    #[serde(skip)]
    pub conversions: Vec<String>,
    /// Whether the field is a sea in degrees, the first level of which is less than another one below its surface z = 0.
    #[serde(skip)]
    pub reaches_surface: bool,
    /// Names of faces on the boundary of the mesh of an ocean model, such as `coast`, and their number: what `block` of a
    /// `[[patch]]` selects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faces: Vec<(String, usize)>,
    /// Problems that prevent tracing.
    pub problems: Vec<String>,
}

impl SeriesInfo {
    /// Describes the first file, except for its grid, mesh or points.
    pub(super) fn of(file: &VtkFile) -> SeriesInfo {
        let geometry = file.geometry();
        SeriesInfo {
            points: geometry.num_points(),
            cells: geometry.num_cells(),
            dims: geometry.dims(),
            arrays: file.arrays().iter().map(ArrayEntry::of).collect(),
            notes: file.notes().to_vec(),
            kind: file.kind().to_string(),
            encoding: file.encoding(),
            ..SeriesInfo::default()
        }
    }

    /// Describes the variables of the first file, except for its grid.
    pub(super) fn of_cf(file: &dyn Store) -> SeriesInfo {
        SeriesInfo {
            arrays: burntrace_cf::fields(file).iter().map(ArrayEntry::of_cf).collect(),
            kind: Kind::RectilinearGrid.to_string(),
            encoding: file.format().into(),
            ..SeriesInfo::default()
        }
    }

    /// Whether the files are NetCDF, Zarr, or a data set in memory.
    pub fn is_cf(&self) -> bool {
        self.files.first().is_some_and(|file| burntrace_cf::is_cf(file))
    }

    /// Removes the notes on blocks that are not used, if they name faces.
    pub(super) fn remove_notes_on(&mut self, file: &VtkFile, used: &BTreeSet<String>) {
        let used = file.blocks().iter().filter(|block| used.contains(&block.name));
        let notes: Vec<&String> = used.filter_map(|block| block.note.as_ref()).collect();
        self.notes.retain(|note| !notes.contains(&note));
    }

    /// Adds the files and times of the selected frames; `found` is the number of files before the
    /// selection.
    pub(super) fn set_times(&mut self, timeline: &Timeline, found: usize) {
        self.files = timeline.paths.clone();
        let others = timeline.frames.iter().flat_map(|frame| frame.parts.iter().skip(1));
        self.parts = others.map(|(_, path)| path.clone()).collect();
        self.files_found = found;
        self.times = timeline.times.clone();
        self.notes.extend(timeline.notes.iter().cloned());
        self.times_from = Some(timeline.from);
    }

    /// The grid that is read, of a whole grid, and notes on the part that is left out.
    pub(super) fn add_part(
        &mut self,
        whole: Grid,
        part: Option<GridPart>,
        crop: Option<Crop>,
    ) -> (Grid, Option<(Grid, GridPart)>) {
        let Some(part) = part else { return (whole, None) };
        self.notes.extend(part.notes(&whole, crop));
        (part.grid(&whole), Some((whole, part)))
    }

    /// Adds a grid and the interpolation on it; if the velocity is `on_points`, also the
    /// interpolations between points. The number of frames must be known.
    pub(super) fn add_grid(
        &mut self,
        grid: &Grid,
        velocity: Option<&VelocityInfo>,
        on_points: bool,
    ) {
        self.geometry = grid.geometry();
        self.axes = axes(grid);
        self.bounds = Some([
            grid.axes.each_ref().map(|axis| axis[0]),
            grid.axes.each_ref().map(|axis| axis[axis.len() - 1]),
        ]);
        self.velocity = velocity.cloned();
        if let Some(velocity) = velocity {
            self.set_velocity_axes(velocity, grid.nodes().map(|nodes| nodes == 1));
            self.interpolations.push(ON_GRIDS);
            let counts = match velocity.association {
                Association::Point => grid.nodes(),
                Association::Cell => grid.cells(),
            };
            let velocities = counts.iter().fold(1_u64, |all, &n| all.saturating_mul(n as u64));
            self.set_device_bytes(self.on_device(velocities), 0);
        }
        if on_points {
            self.interpolations.extend(ON_POINTS);
        }
    }

    /// Adds the axes of a velocity of two components on a field with these flat axes.
    fn set_velocity_axes(&mut self, velocity: &VelocityInfo, flat: [bool; 3]) {
        let is_plane =
            |array: &ArrayEntry| array.components == 2 && velocity.arrays == [array.name.as_str()];
        if velocity.arrays.len() == 2 || self.arrays.iter().any(is_plane) {
            self.velocity_axes = plane_axes(flat).map(|d| ['x', 'y', 'z'][d]).to_vec();
        }
    }

    /// Counts the velocities of the first frame that are hidden or not finite, and finds the maximum speed.
    pub(super) fn add_frame(&mut self, frame: &FrameData) {
        let is_hidden = |i: usize| frame.hidden().is_some_and(|hidden| hidden[i]);
        let is_finite = |i: usize| frame.velocity.vector(i).iter().all(|x| x.is_finite());
        let values = 0..frame.velocity.len() / 3;
        self.hidden = Some(values.clone().filter(|i| is_hidden(*i)).count());
        self.not_finite = Some(values.clone().filter(|i| !is_hidden(*i) && !is_finite(*i)).count());
        let speed = |i: usize| frame.velocity.vector(i).iter().map(|v| v * v).sum::<f64>().sqrt();
        let speeds = values.filter(|i| !is_hidden(*i) && is_finite(*i)).map(speed);
        self.max_speed = speeds.reduce(f64::max);
    }

    fn set_bounds(&mut self, points: &[[f64; 3]]) {
        let Bounds { low, high } = Bounds::of(points.iter().copied());
        self.bounds = Some([low, high]);
    }

    /// Adds the bounds and the number of points.
    pub(super) fn set_points(&mut self, nodes: &DistinctPoints) {
        self.set_bounds(&nodes.positions);
        self.distinct_points = Some(nodes.positions.len());
    }

    /// Adds the interpolations between points. The number of frames must be known.
    pub(super) fn add_points(&mut self, nodes: &DistinctPoints, velocity: &VelocityInfo) {
        let count = nodes.positions.len() as u64;
        let numbers = self.on_device(count).saturating_add(count.saturating_mul(COORDINATES));
        self.add_interpolations(&ON_POINTS, velocity, numbers, 0);
    }

    /// Adds a mesh and the interpolation on it. The number of frames must be known.
    pub(super) fn add_mesh(
        &mut self,
        points: &[[f64; 3]],
        mesh: &MeshCells,
        velocity: &VelocityInfo,
    ) {
        self.set_velocity_axes(velocity, mesh.flat_axes(points));
        self.add_mesh_of(points, mesh.cells.len(), velocity);
    }

    /// Adds points and a number of cells, and the interpolation on a mesh of them.
    pub(super) fn add_mesh_of(
        &mut self,
        points: &[[f64; 3]],
        cells: usize,
        velocity: &VelocityInfo,
    ) {
        self.set_bounds(points);
        let cells = cells as u64;
        let velocities = match velocity.association {
            Association::Point => points.len() as u64,
            Association::Cell => cells,
        };
        let of_cells = cells.saturating_mul(NUMBERS_OF_CELL);
        let numbers = self.on_device(velocities).saturating_add(of_cells);
        self.add_interpolations(
            &[ON_MESHES],
            velocity,
            numbers,
            cells.saturating_mul(INTEGERS_OF_CELL),
        );
    }

    /// Adds interpolations of the velocity. The first ones determine the memory on a device.
    fn add_interpolations(
        &mut self,
        interpolations: &[&'static str],
        velocity: &VelocityInfo,
        numbers: u64,
        integers: u64,
    ) {
        if self.interpolations.is_empty() {
            self.velocity = Some(velocity.clone());
            self.set_device_bytes(numbers, integers);
        }
        self.interpolations.extend(interpolations);
    }

    /// Numbers on a device for the velocities of all frames.
    fn on_device(&self, velocities: u64) -> u64 {
        velocities.saturating_mul(self.files.len() as u64 * NUMBERS_ON_DEVICE)
    }

    /// Sets the memory for numbers in the precision of the run and integers of four bytes.
    fn set_device_bytes(&mut self, numbers: u64, integers: u64) {
        let integers = integers.saturating_mul(4);
        self.device_bytes_f32 = numbers.saturating_mul(4).saturating_add(integers);
        self.device_bytes_f64 = numbers.saturating_mul(8).saturating_add(integers);
    }
}
