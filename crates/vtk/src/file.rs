//! An open VTK file.

use std::path::{Path, PathBuf};

use crate::array::{Array, ArrayInfo, Association};
use crate::axes::reorder;
use crate::cells::{self, CellArray};
use crate::coordinates;
use crate::dataset::{BlockInfo, DataSet};
use crate::error::Error;
use crate::geometry::{Geometry, Kind, cell_dims};
use crate::hdf;
use crate::pieces::{read_members, read_values};
use crate::source::Source;
use crate::split::{self, Indivisible, SplitCells};
use crate::structure::{BlockFile, BlockIndex};

/// Names of the field array with the time, in the order of preference.
const TIME_NAMES: [&str; 2] = ["TimeValue", "TIME"];

/// An open VTK file. Its structure is in memory; arrays are read on demand.
///
/// Reading takes `&self` and is thread-safe.
#[derive(Debug)]
pub struct VtkFile {
    data: DataSet,
    /// For each axis of an image with permuted axes, its axis in the file.
    axes: Option<[usize; 3]>,
}

/// Opens a VTK file, legacy or XML, and reads its structure, but no arrays (of data sets with several
/// blocks, also the types of their cells).
///
/// The index of a parallel data set (`.pvtu`, `.pvtp`, `.pvti`, `.pvtr`, `.pvts`) is opened with the files
/// that it lists, as one data set: points, cells and arrays are concatenated in the order of the files, or
/// put at their places in the grid. Where the pieces of a grid overlap, values that `vtkGhostType` marks
/// as duplicates are ignored, and the others must agree.
///
/// A data set of several blocks (`.vtm`, `.vtpd`, `.vtpc`) is opened as one data set, too. The blocks of
/// the highest dimension are used: as one grid, if they are the pieces of one, else as an unstructured
/// grid with the points and the cells of all of them. [`VtkFile::blocks`] lists all blocks.
///
/// # Errors
///
/// If the file cannot be read, is not a VTK file, is damaged, or uses a part of the format that is
/// not supported.
pub fn open(path: impl AsRef<Path>) -> Result<VtkFile, Error> {
    open_step(path, 0)
}

/// Opens a VTK file as [`open`] does, at one of the time steps that a VTKHDF file can have, from 0.
/// [`VtkFile::steps`] has their times. Other files have one step.
///
/// # Errors
///
/// As for [`open`], and if there is no such step.
pub fn open_step(path: impl AsRef<Path>, step: usize) -> Result<VtkFile, Error> {
    Ok(VtkFile::new(crate::open::open(path.as_ref(), step, false)?))
}

/// The files besides `path` that a data set is in: those that an index (`.pvtu`, `.vtm`, ...) lists. Empty for
/// other files. Reads indexes only.
///
/// # Errors
///
/// If an index or a file that it lists cannot be read.
pub fn listed_files(path: impl AsRef<Path>) -> Result<Vec<PathBuf>, Error> {
    crate::open::listed_files(path.as_ref(), false)
}

/// Whether a file is an HDF5 file by its first bytes, as VTKHDF files are.
pub fn is_hdf5(path: impl AsRef<Path>) -> bool {
    let start = Source::open(path.as_ref()).and_then(|source| source.start_bytes());
    start.is_ok_and(|start| start.starts_with(hdf::START))
}

/// Opens several files as the blocks of one data set, each with its name: the parts of a time in a
/// `.pvd`. One file is opened as [`open`] does.
///
/// # Errors
///
/// As for [`open`], and if there is no file.
pub fn open_blocks(files: &[(String, PathBuf)]) -> Result<VtkFile, Error> {
    match files {
        [] => {
            let source = std::io::ErrorKind::NotFound.into();
            Err(Error::Open { path: PathBuf::new(), source })
        }
        [(_, path)] => open(path),
        [(_, first), ..] => {
            let file = |(name, path): &(String, PathBuf)| BlockFile {
                name: name.clone(),
                path: path.clone(),
                group: None,
            };
            let files = files.iter().map(file).collect();
            let index = BlockIndex { files, fields: Vec::new() };
            Ok(VtkFile::new(crate::open::open_blocks(Source::open(first)?, index, 0)?))
        }
    }
}

/// Opens a block by itself, at the time step at which the data set of several blocks was open.
///
/// # Errors
///
/// As for [`open`].
pub fn open_block(block: &BlockInfo) -> Result<VtkFile, Error> {
    match &block.group {
        None => open(&block.path),
        Some((group, step)) => {
            Ok(VtkFile::new(crate::open::open_group(&block.path, *step, group)?))
        }
    }
}

impl VtkFile {
    fn new(mut data: DataSet) -> Self {
        let axes = data.structure.geometry.sort_axes();
        Self { data: data.without_tilt(), axes }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.data.sources.main().path()
    }

    /// The blocks of a data set of several blocks; empty for others.
    pub fn blocks(&self) -> &[BlockInfo] {
        &self.data.blocks
    }

    /// What is not used of the files, and why: blocks of lower dimension, and arrays that not all blocks
    /// have.
    pub fn notes(&self) -> &[String] {
        &self.data.notes
    }

    /// The kind of the data set.
    pub fn kind(&self) -> Kind {
        self.data.structure.geometry.kind()
    }

    /// A description of the encoding, e.g. `legacy, ASCII` or `XML, appended raw, zlib`.
    pub fn encoding(&self) -> String {
        self.data.structure.encoding.clone()
    }

    /// Size and position of the data set.
    pub fn geometry(&self) -> &Geometry {
        &self.data.structure.geometry
    }

    /// The point, cell and field arrays, in the order of the file. Excluded are arrays of strings,
    /// and cell arrays of poly data with several pieces and several kinds of cells, since joining
    /// the pieces changes the order of the cells.
    pub fn arrays(&self) -> &[ArrayInfo] {
        &self.data.structure.arrays
    }

    /// The arrays that define the cells by their points.
    ///
    /// For an unstructured grid these are `connectivity`, `offsets` and `types`; for poly data, the
    /// arrays of `verts`, `lines`, `strips` and `polys`, e.g. `lines/offsets`. In XML files,
    /// `offsets` contains the end of each cell; in legacy files since version 5.1 it has a leading
    /// 0. Older legacy files have `cells` instead: for each cell its number of points, then the
    /// points.
    pub fn topology(&self) -> &[ArrayInfo] {
        &self.data.structure.topology
    }

    /// The times of the time steps of a VTKHDF file, in the units of the file; empty without steps.
    pub fn steps(&self) -> &[f64] {
        &self.data.times
    }

    /// The time: that of the open time step, or the first value of the field array `TimeValue` or `TIME`, in
    /// the units of the file; `None` without either.
    ///
    /// # Errors
    ///
    /// If the array cannot be read.
    pub fn time_value(&self) -> Result<Option<f64>, Error> {
        let DataSet { times, step, .. } = &self.data;
        if let Some(time) = times.get(*step) {
            return Ok(Some(*time));
        }
        let fields =
            || self.arrays().iter().filter(|array| array.association == Association::Field);
        let time = TIME_NAMES
            .iter()
            .find_map(|name| fields().find(|array| array.name.eq_ignore_ascii_case(name)));
        match time {
            Some(array) => Ok(self.decode(array)?.values.into_f64().first().copied()),
            None => Ok(None),
        }
    }

    /// Reads one array of [`arrays`](Self::arrays) or [`topology`](Self::topology).
    ///
    /// # Errors
    ///
    /// If the array does not belong to this file, cannot be read or is damaged.
    pub fn read(&self, array: &ArrayInfo) -> Result<Array, Error> {
        if !self.arrays().contains(array) && !self.topology().contains(array) {
            let path = self.path().to_path_buf();
            return Err(Error::ForeignArray { path, array: array.name.clone() });
        }
        self.decode(array)
    }

    /// The node coordinates along x, y and z of image data or a rectilinear grid, in the units of
    /// the file.
    ///
    /// # Errors
    ///
    /// If the data set has no axes along x, y and z, or its coordinates cannot be read.
    pub fn coordinates(&self) -> Result<[Vec<f64>; 3], Error> {
        coordinates::along_axes(&self.data.sources, &self.data.structure)
    }

    /// The points of a structured grid, an unstructured grid or poly data, with three components,
    /// in the units of the file.
    ///
    /// # Errors
    ///
    /// If the data set has no explicit points, or they cannot be read.
    pub fn points(&self) -> Result<Array, Error> {
        let DataSet { sources, structure, members, .. } = &self.data;
        if !members.is_empty() {
            let values = coordinates::points_of_all(sources, members)?;
            return Ok(Array { name: "Points".to_owned(), components: 3, values });
        }
        match &structure.points {
            Some(points) => self.decode(points),
            None => {
                let (what, remedy) = match self.geometry() {
                    Geometry::Image { .. } | Geometry::Rectilinear { .. } => {
                        ("explicit points", "use `coordinates()`")
                    }
                    _ => ("points", "it is empty: write a data set with points and cells"),
                };
                Err(sources.absent(structure, what, remedy))
            }
        }
    }

    /// Reads the cells of an unstructured grid, or computes the cells of a structured grid:
    /// hexahedra, or quads if one axis has a single node.
    ///
    /// The cells of several pieces or files are concatenated, with their point indices offset
    /// accordingly. A polyhedron has its points, but not its faces. Cell arrays are in the same
    /// order.
    ///
    /// # Errors
    ///
    /// If the data set is of another kind or has no 2-D or 3-D cells, if there are 2^32 points or
    /// more, or if the cells cannot be read or are invalid.
    pub fn cells(&self) -> Result<CellArray, Error> {
        cells::read(&self.data.sources, &self.data.structure, &self.data.members)
    }

    /// Reads the cells as [`cells`](Self::cells) does, and divides those that are polyhedra, polygons,
    /// triangle strips, quadratic wedges or quadratic pyramids. Also reads those of poly data without
    /// vertices and lines. `points` are the positions of all points.
    ///
    /// # Errors
    ///
    /// As for `cells`, and if the faces of polyhedra are missing or invalid, or have more than 64
    /// corners.
    pub fn split_cells(&self, points: &[[f64; 3]]) -> Result<SplitCells, Error> {
        let DataSet { sources, structure, members, .. } = &self.data;
        let source = sources.main();
        if points.len() != self.geometry().num_points() {
            let found = format!("`{}` positions", points.len());
            let expected = format!("`{}`, one for each point", self.geometry().num_points());
            return Err(source.context(0, "the points").malformed(found, expected));
        }
        let cells = match self.kind() {
            Kind::PolyData => cells::read_block(sources, structure)?,
            _ => self.cells()?,
        };
        let own = std::slice::from_ref(structure);
        let polyhedra =
            cells::read_polyhedra(sources, if members.is_empty() { own } else { members })?;
        split::split(cells, &polyhedra, points).map_err(|Indivisible { mut cell, reason }| {
            let mut block = structure;
            for member in members {
                block = member;
                let count = member.geometry.num_cells();
                if cell < count {
                    break;
                }
                cell -= count;
            }
            let found = format!("the cell `{cell}`, which cannot be divided: {reason}");
            let context = sources.of_structure(block).context(0, "the cells");
            context.malformed(found, "a cell of fewer parts")
        })
    }

    /// Reads the polygons of poly data (type 7), followed by its triangle strips (type 6). Vertices
    /// and lines are ignored.
    ///
    /// # Errors
    ///
    /// If the data set is of another kind, if there are 2^32 points or more, or if the polygons
    /// cannot be read or are invalid.
    pub fn faces(&self) -> Result<CellArray, Error> {
        cells::read_faces(&self.data.sources, &self.data.structure)
    }

    /// Reads the cells of a boundary, and returns them with the index of the first in cell arrays: of poly
    /// data the lines (type 4) for the dimension 1, else polygons and triangle strips as
    /// [`faces`](Self::faces) does; of other data sets all cells, which image data and rectilinear grids
    /// have between their nodes.
    ///
    /// # Errors
    ///
    /// As for [`cells`](Self::cells), but not for a kind of data sets.
    pub fn boundary_cells(&self, dimension: usize) -> Result<(CellArray, usize), Error> {
        let DataSet { sources, structure, members, .. } = &self.data;
        Ok(match structure.geometry {
            Geometry::PolyData { verts, .. } if dimension == 1 => {
                (cells::read_lines(sources, structure)?, verts)
            }
            Geometry::PolyData { verts, lines, .. } => {
                (cells::read_faces(sources, structure)?, verts + lines)
            }
            _ if members.is_empty() => (cells::read_block(sources, structure)?, 0),
            _ => (self.cells()?, 0),
        })
    }

    fn decode(&self, array: &ArrayInfo) -> Result<Array, Error> {
        let DataSet { sources, structure, members, .. } = &self.data;
        let is_in_members = matches!(array.association, Association::Point | Association::Cell);
        let mut values = match is_in_members && !members.is_empty() {
            true => read_members(sources, members, array)?,
            false => read_values(sources, structure, array)?,
        };
        if let Some(axes) = self.axes
            && let Some(dims) = self.dims_of(array.association)
        {
            let element = array.element();
            let context = sources.main().context(0, &element);
            values = reorder(values, array.scalar, array.components, dims, axes)
                .ok_or_else(|| context.out_of_memory(array.tuples))?;
        }
        Ok(Array { name: array.name.clone(), components: array.components, values })
    }

    /// Number of the values of an array along each axis of a grid.
    fn dims_of(&self, association: Association) -> Option<[usize; 3]> {
        let dims = self.geometry().dims()?;
        match association {
            Association::Point => Some(dims),
            Association::Cell => Some(cell_dims(dims)),
            Association::Field | Association::Topology => None,
        }
    }
}
