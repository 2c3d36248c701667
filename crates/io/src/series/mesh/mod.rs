//! Velocity fields on meshes.

mod boundary;
pub(super) mod cells;
mod cf;
mod counts;
pub(super) mod info;

pub use counts::CellCount;
pub use info::{BoundaryInfo, MeshCounts, MeshInfo};

use super::compare::{check_frames, count_difference, first_moved};
use super::find::{is_cf, open_first};
use super::frame_source::implement_series;
use super::info::SeriesInfo;
use super::names::Files;
use super::options::{NamedArray, NamedFaces, SeriesOptions};
use super::times::{Timeline, TimesFrom};
use super::values::{Selection, along, plane_axes};
use super::velocity::{Association, VelocityInfo};
use crate::{Error, Result, points::positions};
use boundary::{FileBoundary, Needed};
use burntrace_core::{
    FrameData, MeshSource, Placement,
    mesh::{BoundaryCells, Cells},
};
use burntrace_vtk::VtkFile;
use cells::{FileCells, MeshCells};
use cf::CfFrames;

/// The geometry that all frames must share, for messages.
const ON: &str = "mesh";

/// A velocity field on a mesh in one or several VTK files, one frame each, or in NetCDF files or Zarr groups.
///
/// Of VTK files it reads unstructured grids, also in the pieces of a `.pvtu` and the blocks of a `.vtm`, structured grids,
/// and poly data without vertices and lines, with the velocity at the points or in the cells. Polyhedra,
/// polygons, and quadratic wedges and pyramids are divided (see
/// [`VtkFile::split_cells`](burntrace_vtk::VtkFile::split_cells)): the points that this adds follow those of
/// the files, and each part has the velocity of its cell. Ghost cells and hidden cells are omitted: those marked by the
/// arrays `vtkGhostType` (bits 1, 8 and 32 of a cell, bit 2 of one of its points) or
/// `vtkGhostLevels`. [`OtherCells`](super::OtherCells) determines the treatment of cells that cannot be
/// part of a mesh.
///
/// The mesh is read once, from the first file. Each other VTK file is compared with it when its frame is
/// read.
///
/// Of NetCDF files and Zarr groups it reads the grids of ocean models: curvilinear ones with the velocity at their
/// points, and C-grids, with the cells in the sea (see [`CfMesh`](burntrace_cf::CfMesh)).
///
/// ```no_run
/// use burntrace_core::MeshSource;
/// use burntrace_io::{MeshSeries, SeriesOptions};
///
/// let series = MeshSeries::open("run/mesh_*.vtu", &SeriesOptions::default())?;
/// println!("{} points, {} cells", series.points().len(), series.cells().len());
/// # Ok::<(), burntrace_io::Error>(())
/// ```
#[derive(Debug)]
pub struct MeshSeries {
    timeline: Timeline,
    /// The points of the files, and those that are added in cells that are divided.
    points: Vec<[f64; 3]>,
    frames: MeshFrames,
    boundary: Option<BoundaryCells>,
    velocity: VelocityInfo,
    info: SeriesInfo,
}

/// How frames are read.
#[derive(Debug)]
enum MeshFrames {
    Vtk {
        points_of_file: usize,
        mesh: Box<MeshCells>,
        /// The axes of the components of a velocity that has two.
        plane: [usize; 2],
    },
    Cf(Box<CfFrames>),
}

impl MeshSeries {
    /// Opens a series: one VTK file, a pattern, a list, or a `.pvd` or `.series` file. All frames must
    /// have the velocity, and the same numbers of points and cells; the meshes are compared when frames are
    /// read.
    ///
    /// # Errors
    ///
    /// If files are missing or damaged, their times are unknown or do not increase, no frame is
    /// selected, the velocity is missing or ambiguous, the diffusivity is missing, a point is not
    /// finite, or the first file has no mesh cells, only ghost cells, other cells that
    /// [`OtherCells`](super::OtherCells) does not skip, or not the [faces](NamedFaces) that the options name.
    pub fn open(files: impl Into<Files>, options: &SeriesOptions) -> Result<MeshSeries> {
        let files = files.into();
        if is_cf(&files)? {
            return MeshSeries::open_cf(&files, options);
        }
        options.check_without_grid()?;
        options.check_without_model()?;
        if options.land_value.is_some() {
            let reason = "`land_value` is for grids, and for meshes of ocean models in NetCDF files or Zarr groups; omit it";
            return Err(Error::Files(reason.into()));
        }
        let (timeline, file, mut info) = open_first(&files, options)?;
        let points = positions(&file)?;
        let cells = FileCells::read(&file, &points)?;
        let velocity = VelocityInfo::of(&file, options, VelocityInfo::choose)?;
        velocity.locate(&file)?;
        check_frames(&timeline, &velocity, ON, |other| Ok(size_difference(&file, other)))?;
        let kinds = cells.count();
        let boundary = match options.faces.as_slice() {
            [] => None,
            faces => {
                let boundary = FileBoundary::read(&file, &cells, &points, Needed::By(faces))?;
                let (boundary, used) = boundary.select(&file, faces)?;
                info.remove_notes_on(&file, &used);
                Some(boundary)
            }
        };
        let mesh = cells.select(&file, options.other_cells, uses_arrays(&options.faces))?;
        info.mesh = Some(MeshInfo::new(kinds, &mesh));
        let points_of_file = points.len();
        let points = mesh.with_added_points(points);
        info.add_mesh(&points, &mesh, &velocity);
        let plane = plane_axes(mesh.flat_axes(&points));
        let frames = MeshFrames::Vtk { points_of_file, mesh: Box::new(mesh), plane };
        Ok(MeshSeries { timeline, points, frames, boundary, velocity, info })
    }

    /// Reads a frame: the velocity `u, v, w` at each of the [`points`](MeshSource::points), or in
    /// each of the [`cells`](MeshSource::cells), and the diffusivity if the options name its array,
    /// in the precision of [`Series::read_frame`](super::Series::read_frame). May be called
    /// concurrently.
    ///
    /// # Errors
    ///
    /// If the frame does not exist, its file has been removed or damaged, its points or cells differ
    /// from those of the first frame, or a diffusivity is negative or not finite.
    pub fn read_frame(&self, frame: usize) -> Result<FrameData> {
        let (points_of_file, mesh, plane) = match &self.frames {
            MeshFrames::Cf(frames) => {
                return frames.read(&self.timeline, frame, &self.velocity);
            }
            MeshFrames::Vtk { points_of_file, mesh, plane } => (*points_of_file, mesh, *plane),
        };
        let file = self.timeline.open(frame)?;
        let points = &self.points[..points_of_file];
        if !self.timeline.is_first(frame)
            && let Some(difference) = mesh.difference_of(&file, points)?
        {
            return Err(self.timeline.frame_differs(frame, ON, difference));
        }
        let selected = match self.velocity.association {
            Association::Point => (points.len(), Selection::Added(&mesh.added)),
            Association::Cell => {
                let indices = mesh.indices.as_deref();
                (mesh.total, indices.map_or(Selection::All, Selection::Indices))
            }
        };
        let mut frame = self.velocity.read_selected(&file, selected, false)?;
        if self.velocity.is_plane(&file)? {
            frame.velocity = along(frame.velocity, plane);
        }
        Ok(frame)
    }
}

implement_series!(MeshSeries);

impl MeshSeries {
    fn add_arrays(&mut self, arrays: &[NamedArray]) -> Result<()> {
        let MeshFrames::Cf(frames) = &mut self.frames else {
            self.velocity = self.velocity.clone().with_arrays_of(&self.timeline, arrays)?;
            return Ok(());
        };
        self.velocity.add_cf_arrays(arrays);
        frames.set_arrays(&self.velocity)
    }
}

impl MeshSource for MeshSeries {
    fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    fn cells(&self) -> &Cells {
        match &self.frames {
            MeshFrames::Vtk { mesh, .. } => &mesh.cells,
            MeshFrames::Cf(frames) => frames.cells(),
        }
    }

    fn placement(&self) -> Placement {
        match &self.frames {
            MeshFrames::Vtk { .. } => self.velocity.placement(),
            MeshFrames::Cf(frames) => frames.placement(),
        }
    }

    fn boundary(&self) -> Option<&BoundaryCells> {
        self.boundary.as_ref()
    }
}

/// Whether faces are named by arrays, so that cells on the boundary are used.
fn uses_arrays(faces: &[NamedFaces]) -> bool {
    faces.iter().any(|named| matches!(named, NamedFaces::Array { .. }))
}

impl MeshCells {
    /// Checks that all frames have the velocity and the mesh of the first one, with these points.
    pub(super) fn check_frames(
        &self,
        timeline: &Timeline,
        velocity: &VelocityInfo,
        points: &[[f64; 3]],
    ) -> Result<()> {
        check_frames(timeline, velocity, ON, |other| self.difference_of(other, points)).map(drop)
    }

    /// How the mesh of another file differs from this mesh with these points, if it does.
    fn difference_of(&self, file: &VtkFile, points: &[[f64; 3]]) -> Result<Option<String>> {
        let others = positions(file)?;
        let pairs = points.iter().zip(&others).enumerate();
        let difference = count_difference(others.len(), points.len(), "point")
            .or_else(|| first_moved(pairs.map(|(point, (here, there))| (point, *here, *there))));
        match difference {
            None => Ok(self.difference(&FileCells::read(file, &others)?)),
            some => Ok(some),
        }
    }
}

/// How the number of points or cells of a file differs from the first one, if it does.
fn size_difference(first: &VtkFile, other: &VtkFile) -> Option<String> {
    let [first, other] = [first, other].map(VtkFile::geometry);
    count_difference(other.num_points(), first.num_points(), "point")
        .or_else(|| count_difference(other.num_cells(), first.num_cells(), "cell"))
}
