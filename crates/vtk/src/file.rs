//! An open VTK file.

use std::path::Path;

use crate::array::{Array, ArrayInfo, Association};
use crate::cells::{self, CellArray};
use crate::error::Error;
use crate::geometry::{Geometry, Kind, UNIT_DIRECTION, dims_of};
use crate::pieces::read_values;
use crate::source::Source;
use crate::sources::Sources;
use crate::structure::Structure;
use crate::xml::Contents;
use crate::{hdf, legacy, parallel, xml};

/// Names of the field array with the time, in the order of preference.
const TIME_NAMES: [&str; 2] = ["TimeValue", "TIME"];

/// The first bytes of a legacy file, in lower case.
const LEGACY_START: &[u8] = b"# vtk datafile version";

/// Maximum number of nodes along an axis of an image per byte of the file: the maximum compression
/// ratio of zlib.
const MAX_NODES_PER_BYTE: u64 = 1032;

/// An open VTK file. Its structure is in memory; arrays are read on demand.
///
/// Reading takes `&self` and is thread-safe.
#[derive(Debug)]
pub struct VtkFile {
    sources: Sources,
    structure: Structure,
    /// The times of the time steps of a VTKHDF file, and the step that is open.
    steps: (Vec<f64>, usize),
}

/// Opens a VTK file, legacy or XML, and reads its structure, but no arrays.
///
/// The index of a parallel data set (`.pvtu`, `.pvtp`) is opened with the files that it lists, as
/// one data set: points, cells and arrays are concatenated in the order of the files.
///
/// # Errors
///
/// If the file cannot be read, is not a VTK file, is damaged, or uses a part of the format that is
/// not supported.
pub fn open(path: impl AsRef<Path>) -> Result<VtkFile, Error> {
    open_step(path, 0)
}

/// Whether a file is an HDF5 file by its first bytes, as VTKHDF files are.
pub fn is_hdf5(path: impl AsRef<Path>) -> bool {
    let start = Source::open(path.as_ref()).and_then(|source| source.start_bytes());
    start.is_ok_and(|start| start.starts_with(hdf::START))
}

/// Opens a VTK file as [`open`] does, at one of the time steps that a VTKHDF file can have, from 0.
/// [`VtkFile::steps`] has their times. Other files have one step.
///
/// # Errors
///
/// As for [`open`], and if there is no such step.
pub fn open_step(path: impl AsRef<Path>, step: usize) -> Result<VtkFile, Error> {
    let source = Source::open(path.as_ref())?;
    let start = source.start_bytes()?;
    if start.starts_with(hdf::START) {
        let hdf::AtStep { source, structure, times } = hdf::open(source, step)?;
        let steps = (times, step);
        return Ok(VtkFile { sources: Sources::new(source, Vec::new()), structure, steps });
    }
    if step > 0 {
        let context = source.context(0, "the data set");
        return Err(context.malformed("one time step", format!("a step `{step}`, from 0")));
    }
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start).trim_ascii_start();
    let (structure, listed) = if start.to_ascii_lowercase().starts_with(LEGACY_START) {
        (legacy::read_structure(&source)?, Vec::new())
    } else if text.starts_with(b"<") {
        match xml::read_contents(&source)? {
            Contents::DataSet(structure) => (*structure, Vec::new()),
            Contents::Index(index) => parallel::open(&source, index)?,
        }
    } else {
        let found = match kind(&start) {
            Some(kind) => format!("is {kind}"),
            None => format!("starts with `{}`", crate::source::shortened(&start)),
        };
        return Err(Error::NotVtk { path: source.path().to_path_buf(), found });
    };
    let steps = (Vec::new(), 0);
    Ok(VtkFile { sources: Sources::new(source, listed), structure, steps })
}

/// The kind of a file of another format, by its first bytes.
fn kind(start: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 7] = [
        (b"CDF\x01", "a NetCDF file (classic)"),
        (b"CDF\x02", "a NetCDF file (64-bit offsets)"),
        (b"CDF\x05", "a NetCDF file (64-bit data)"),
        (b"\x1f\x8b", "compressed by gzip; decompress it first"),
        (b"PK\x03\x04", "a ZIP archive"),
        (
            b"version https://git-lfs",
            "a Git LFS pointer to a file that was not fetched (`git lfs pull`)",
        ),
        (b"solid ", "an STL file, as surfaces of obstacles are"),
    ];
    KINDS.iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, kind)| *kind)
}

impl VtkFile {
    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.sources.main().path()
    }

    /// The kind of the data set.
    pub fn kind(&self) -> Kind {
        self.structure.geometry.kind()
    }

    /// A description of the encoding, e.g. `legacy, ASCII` or `XML, appended raw, zlib`.
    pub fn encoding(&self) -> String {
        self.structure.encoding.clone()
    }

    /// Size and position of the data set.
    pub fn geometry(&self) -> &Geometry {
        &self.structure.geometry
    }

    /// The point, cell and field arrays, in the order of the file. Excluded are arrays of strings,
    /// and cell arrays of poly data with several pieces and several kinds of cells, since joining
    /// the pieces changes the order of the cells.
    pub fn arrays(&self) -> &[ArrayInfo] {
        &self.structure.arrays
    }

    /// The arrays that define the cells by their points.
    ///
    /// For an unstructured grid these are `connectivity`, `offsets` and `types`; for poly data, the
    /// arrays of `verts`, `lines`, `strips` and `polys`, e.g. `lines/offsets`. In XML files,
    /// `offsets` contains the end of each cell; in legacy files since version 5.1 it has a leading
    /// 0. Older legacy files have `cells` instead: for each cell its number of points, then the
    /// points.
    pub fn topology(&self) -> &[ArrayInfo] {
        &self.structure.topology
    }

    /// The times of the time steps of a VTKHDF file, in the units of the file; empty without steps.
    pub fn steps(&self) -> &[f64] {
        &self.steps.0
    }

    /// The time: that of the open time step, or the first value of the field array `TimeValue` or `TIME`, in
    /// the units of the file; `None` without either.
    ///
    /// # Errors
    ///
    /// If the array cannot be read.
    pub fn time_value(&self) -> Result<Option<f64>, Error> {
        let (times, step) = &self.steps;
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
        match self.geometry() {
            Geometry::Image { extent, origin, spacing, direction } => {
                if *direction != UNIT_DIRECTION {
                    return Err(self.absent(
                        "axes along x, y and z: it is rotated",
                        "resample it to an image without `Direction`",
                    ));
                }
                self.image_coordinates(*extent, *origin, *spacing)
            }
            Geometry::Rectilinear { .. } => match self.structure.coordinates.as_slice() {
                [x, y, z] => Ok([self.axis(x)?, self.axis(y)?, self.axis(z)?]),
                _ => Err(self.absent("coordinate arrays", "check how it was written")),
            },
            _ => Err(self.absent("coordinates along axes", "use `points()`")),
        }
    }

    /// The points of a structured grid, an unstructured grid or poly data, with three components,
    /// in the units of the file.
    ///
    /// # Errors
    ///
    /// If the data set has no explicit points, or they cannot be read.
    pub fn points(&self) -> Result<Array, Error> {
        match &self.structure.points {
            Some(points) => self.decode(points),
            None => Err(self.absent("explicit points", "use `coordinates()`")),
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
        cells::read(&self.sources, &self.structure)
    }

    /// Reads the polygons of poly data (type 7), followed by its triangle strips (type 6). Vertices
    /// and lines are ignored.
    ///
    /// # Errors
    ///
    /// If the data set is of another kind, if there are 2^32 points or more, or if the polygons
    /// cannot be read or are invalid.
    pub fn faces(&self) -> Result<CellArray, Error> {
        cells::read_faces(&self.sources, &self.structure)
    }

    fn decode(&self, array: &ArrayInfo) -> Result<Array, Error> {
        let values = read_values(&self.sources, array)?;
        Ok(Array { name: array.name.clone(), components: array.components, values })
    }

    fn axis(&self, array: &ArrayInfo) -> Result<Vec<f64>, Error> {
        Ok(self.decode(array)?.values.into_f64())
    }

    /// Computes the coordinates, after checking that the file can hold data for that number of
    /// nodes.
    fn image_coordinates(
        &self,
        extent: [i64; 6],
        origin: [f64; 3],
        spacing: [f64; 3],
    ) -> Result<[Vec<f64>; 3], Error> {
        let dims = dims_of(extent).unwrap_or_default();
        let source = self.sources.main();
        let max_nodes = source.len().saturating_mul(MAX_NODES_PER_BYTE);
        if let Some(nodes) = dims.into_iter().find(|nodes| *nodes as u64 > max_nodes) {
            let context = source.context(0, "the extent of the image");
            return Err(context.truncated(format!("data for an axis of `{nodes}` nodes")));
        }
        let [x, _, y, _, z, _] = extent;
        let axis = |nodes: usize, first: i64, origin: f64, spacing: f64| {
            (first..).take(nodes).map(|index| origin + index as f64 * spacing).collect()
        };
        let [nx, ny, nz] = dims;
        let ([ox, oy, oz], [sx, sy, sz]) = (origin, spacing);
        Ok([axis(nx, x, ox, sx), axis(ny, y, oy, sy), axis(nz, z, oz, sz)])
    }

    fn absent(&self, what: &'static str, remedy: &'static str) -> Error {
        Error::Absent { path: self.path().to_path_buf(), kind: self.kind(), what, remedy }
    }
}
