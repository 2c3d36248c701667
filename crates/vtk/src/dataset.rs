//! An open data set.

use std::path::PathBuf;

use crate::array::Association;
use crate::geometry::{Geometry, Kind, UNIT_DIRECTION};
use crate::sources::Sources;
use crate::structure::Structure;

/// A data set: its files, and everything but the values of its arrays.
#[derive(Debug)]
pub(crate) struct DataSet {
    pub(crate) sources: Sources,
    pub(crate) structure: Structure,
    /// The blocks that define the points and the cells of a mesh, in the order of its arrays; empty if
    /// the structure has them itself.
    pub(crate) members: Vec<Structure>,
    /// All blocks of a data set of several blocks.
    pub(crate) blocks: Vec<BlockInfo>,
    /// What is not used of its files, and why.
    pub(crate) notes: Vec<String>,
    /// The times of the time steps of a VTKHDF file; empty if it has none.
    pub(crate) times: Vec<f64>,
    /// The time step that is open.
    pub(crate) step: usize,
}

impl DataSet {
    /// A data set that its structure describes completely.
    pub(crate) fn new(sources: Sources, structure: Structure) -> Self {
        let (members, blocks, notes, times) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { sources, structure, members, blocks, notes, times, step: 0 }
    }

    /// The data set with the cells of an image as an unstructured grid, if its axes are not along x, y and z.
    pub(crate) fn without_tilt(mut self) -> Self {
        let tilted = match &self.structure.geometry {
            Geometry::Image { direction, .. } => *direction != UNIT_DIRECTION,
            _ => false,
        };
        if !tilted {
            return self;
        }
        let Structure { geometry, encoding, .. } = &self.structure;
        let (points, cells) = (geometry.num_points(), geometry.num_cells());
        let mut arrays = self.structure.arrays.clone();
        for array in &mut arrays {
            if array.association != Association::Field {
                array.parts.clear();
            }
        }
        let grid = Geometry::Unstructured { points, cells };
        let grid = Structure::new(grid, encoding.clone(), arrays);
        self.members = vec![std::mem::replace(&mut self.structure, grid)];
        let note = "the axes of the image are not along x, y and z (`Direction`): it is read as an \
                    unstructured grid of its cells";
        self.notes.push(note.to_owned());
        self
    }
}

/// A block of a data set of several blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockInfo {
    /// Its name after those of the blocks that contain it, e.g. `boundary/inlet`.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The kind of its data set.
    pub kind: Kind,
    /// The highest dimension of its cells: 3 for volumes, 2 for surfaces, 1 for lines, 0 for points.
    pub dimension: usize,
    /// Number of points.
    pub points: usize,
    /// Number of cells.
    pub cells: usize,
    /// Whether its points and cells are part of the data set, where they follow those of the used
    /// blocks before it.
    pub is_used: bool,
    /// Why it is not used, for a message.
    pub note: Option<String>,
    /// The group of a VTKHDF file that it is in, and the open time step.
    pub(crate) group: Option<(String, usize)>,
}
