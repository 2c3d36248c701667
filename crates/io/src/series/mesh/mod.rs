//! A velocity on the cells of files, or at their points.

mod cells;
mod ghosts;
mod info;

pub use cells::OtherCells;
pub use info::{CellCount, MeshCounts, MeshInfo};

pub(super) use cells::Selection;

use super::points::moved;
use super::times::Timeline;
use super::velocity::{Association, VelocityInfo};
use super::{
    Files, SeriesInfo, SeriesOptions, TimesFrom, begin, check_others, differs, frame_path,
    other_count, tell,
};
use crate::{Error, Result, points::positions};
use burntrace_core::{FrameData, MeshSource, Placement, mesh::Cells};
use burntrace_vtk::VtkFile;
use cells::FileCells;

/// What the frames of a series on a mesh have in common.
const ON: &str = "mesh";

/// A velocity field on a mesh over one or many VTK files, one frame each.
///
/// Unstructured grids, also in the pieces of a `.pvtu`, and structured grids will do, with the
/// velocity at the points or in the cells. Ghosts and hidden cells are left out, which are those
/// that the arrays `vtkGhostType` (bits 1, 8 and 32 of a cell, bit 2 of one of its points) or
/// `vtkGhostLevels` mark; [`OtherCells`] says what becomes of cells of which no mesh can be made.
///
/// The mesh is read once, from the first file. Each further file is held against it when its frame
/// is read, so that all of them are opened once for their numbers.
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
    line: Timeline,
    points: Vec<[f64; 3]>,
    mesh: Selection,
    velocity: VelocityInfo,
    info: SeriesInfo,
}

impl MeshSeries {
    /// Opens a series: one VTK file, a pattern, a list, or a `.pvd` file. All frames must have the
    /// velocity, and as many points and cells as the first one; whether it is the same mesh is seen
    /// when they are read.
    ///
    /// # Errors
    ///
    /// If files are missing or damaged, their times are not known or do not increase, no frame is
    /// selected, it is not clear which array is the velocity, the diffusivity is not there, a point
    /// is not finite, or the first file has no cells of a mesh, only ghosts, or others that are not
    /// to be passed over.
    pub fn open(files: impl Into<Files>, options: &SeriesOptions) -> Result<MeshSeries> {
        let (line, file, mut info) = begin(&files.into(), options)?;
        let cells = FileCells::read(&file)?;
        let velocity = VelocityInfo::choose(&file, &options.velocity, options.prefer)?
            .with_diffusivity(&file, options.diffusivity.as_ref())?;
        velocity.locate(&file)?;
        check_others(&line.paths, &velocity, ON, |other| Ok(other_size(&file, other)))?;
        let kinds = cells.count();
        let mesh = cells.select(&file, options.other_cells)?;
        let points = positions(&file)?;
        let (hidden, skipped) = (mesh.hidden, mesh.skipped);
        info.mesh = Some(MeshInfo { kinds, hidden, skipped, counts: None, problem: None });
        info.settle_mesh(&points, &mesh, &velocity);
        Ok(MeshSeries { line, points, mesh, velocity, info })
    }

    /// Reads a frame: the velocity `u, v, w` at each of the [`points`](MeshSource::points), or in
    /// each of the [`cells`](MeshSource::cells), and the diffusivity if the options name its array,
    /// in the precision of [`Series::read_frame`](super::Series::read_frame). May be called from
    /// several threads at once.
    ///
    /// # Errors
    ///
    /// If there is no such frame, if its file has been removed or damaged, if its points or cells
    /// differ from those of the first frame, or if a diffusivity is negative or not finite.
    pub fn read_frame(&self, frame: usize) -> Result<FrameData> {
        let paths = &self.line.paths;
        let file = burntrace_vtk::open(frame_path(paths, frame)?)?;
        if paths[frame] != paths[0]
            && let Some(difference) = self.mesh.difference_of(&file, &self.points)?
        {
            return Err(differs(paths, frame, ON, difference));
        }
        let (count, selected) = match self.velocity.association {
            Association::Point => (self.points.len(), None),
            Association::Cell => (self.mesh.total, self.mesh.kept.as_deref()),
        };
        self.velocity.read_selected(&file, count, selected)
    }
}

tell!(MeshSeries);

impl MeshSource for MeshSeries {
    fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    fn cells(&self) -> &Cells {
        &self.mesh.cells
    }

    fn placement(&self) -> Placement {
        self.velocity.placement()
    }
}

impl Selection {
    /// Makes sure that all frames after the first one, whose points these are, are on its mesh and
    /// have the velocity.
    pub(super) fn check_others(
        &self,
        paths: &[std::path::PathBuf],
        velocity: &VelocityInfo,
        points: &[[f64; 3]],
    ) -> Result<()> {
        check_others(paths, velocity, ON, |other| self.difference_of(other, points))
    }

    /// How the mesh of another file differs from this one with its points, if it does.
    fn difference_of(&self, file: &VtkFile, points: &[[f64; 3]]) -> Result<Option<String>> {
        let others = positions(file)?;
        let pairs = points.iter().zip(&others).enumerate();
        let difference = other_count(others.len(), points.len(), "point")
            .or_else(|| moved(pairs.map(|(point, (here, there))| (point, *here, *there))));
        drop(others);
        match difference {
            None => Ok(self.difference(&FileCells::read(file)?)),
            some => Ok(some),
        }
    }
}

/// How the number of points or cells of a file is not that of the first one.
fn other_size(first: &VtkFile, other: &VtkFile) -> Option<String> {
    let [first, other] = [first, other].map(VtkFile::geometry);
    other_count(other.num_points(), first.num_points(), "point")
        .or_else(|| other_count(other.num_cells(), first.num_cells(), "cell"))
}

fn refused(file: &VtkFile, reason: String) -> Error {
    Error::Mesh { path: file.path().into(), reason }
}
