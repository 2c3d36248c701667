//! An open VTK file.

use std::path::Path;

use crate::array::{Array, ArrayInfo, Association};
use crate::cells::{self, Cells};
use crate::error::Error;
use crate::geometry::{Geometry, Kind, dims_of};
use crate::pieces::read_values;
use crate::source::{Source, Sources};
use crate::xml::Contents;
use crate::{legacy, parallel, xml};

/// Names of the field array with the time of the data, in the order of preference.
const TIME_NAMES: [&str; 2] = ["TimeValue", "TIME"];

/// Start of every legacy file, in lower case.
const LEGACY_START: &[u8] = b"# vtk datafile version";

/// An axis of an image has at most so many nodes for each byte of the file. The best compressor
/// (zlib) stores 1032 bytes in one.
const MAX_NODES_PER_BYTE: u64 = 1032;

/// No rotation: the `direction` of most images.
pub(crate) const UNIT_DIRECTION: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

/// What is known about a file once its structure has been read.
#[derive(Debug)]
pub(crate) struct Structure {
    pub(crate) geometry: Geometry,
    pub(crate) encoding: String,
    pub(crate) arrays: Vec<ArrayInfo>,
    pub(crate) topology: Vec<ArrayInfo>,
    /// Node coordinates of a rectilinear grid: three arrays, else none.
    pub(crate) coordinates: Vec<ArrayInfo>,
    pub(crate) points: Option<ArrayInfo>,
}

/// An open VTK file: its structure is known, its arrays are read one by one when asked for.
///
/// Reading takes `&self` and may be done from several threads at once.
#[derive(Debug)]
pub struct VtkFile {
    sources: Sources,
    structure: Structure,
}

/// Opens a VTK file, legacy or XML, and reads its structure, but no array.
///
/// The index of a parallel data set (`.pvtu`, `.pvtp`) is opened with the files that it lists, and
/// stands for all of them together: points, cells and arrays one file after the other.
///
/// # Errors
///
/// If the file cannot be read, is no VTK file, is damaged, or uses a part of the format that is
/// not supported.
pub fn open(path: impl AsRef<Path>) -> Result<VtkFile, Error> {
    let source = Source::open(path.as_ref())?;
    let start = source.start_bytes()?;
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start).trim_ascii_start();
    let (structure, listed) = if start.to_ascii_lowercase().starts_with(LEGACY_START) {
        (legacy::read_structure(&source)?, Vec::new())
    } else if text.starts_with(b"<") {
        match xml::read_contents(&source)? {
            Contents::DataSet(structure) => (*structure, Vec::new()),
            Contents::Index(index) => parallel::open(&source, index)?,
        }
    } else {
        let found = crate::source::shortened(&start);
        return Err(Error::NotVtk { path: source.path().to_path_buf(), found });
    };
    Ok(VtkFile { sources: Sources::new(source, listed), structure })
}

impl VtkFile {
    /// The path that was opened.
    pub fn path(&self) -> &Path {
        self.sources.main().path()
    }

    /// The kind of the data set.
    pub fn kind(&self) -> Kind {
        self.structure.geometry.kind()
    }

    /// How the file is written, in words, e.g. `legacy, ASCII` or `XML, appended raw, zlib`.
    pub fn encoding(&self) -> String {
        self.structure.encoding.clone()
    }

    /// Size and place of the data set.
    pub fn geometry(&self) -> &Geometry {
        &self.structure.geometry
    }

    /// The arrays of the points, the cells and the field data, in the order of the file. Arrays of
    /// strings are left out; so are those of the cells of poly data in several pieces with cells of
    /// several kinds, whose order the pieces break up.
    pub fn arrays(&self) -> &[ArrayInfo] {
        &self.structure.arrays
    }

    /// The arrays that say how cells are made of points.
    ///
    /// For an unstructured grid these are `connectivity`, `offsets` and `types`. Poly data has them
    /// for `verts`, `lines`, `strips` and `polys`, e.g. `lines/offsets`. XML files give the end of
    /// each cell in `offsets`; legacy files since version 5.1 start with a 0 before these; older
    /// legacy files have `cells` instead, where each cell is its number of points and then the
    /// points.
    pub fn topology(&self) -> &[ArrayInfo] {
        &self.structure.topology
    }

    /// The time of the data from the field array `TimeValue` or `TIME`, in the units of the file;
    /// the first value if there are several.
    ///
    /// # Errors
    ///
    /// If the array cannot be read.
    pub fn time_value(&self) -> Result<Option<f64>, Error> {
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
    /// If the array is not one of this file, cannot be read or is damaged.
    pub fn read(&self, array: &ArrayInfo) -> Result<Array, Error> {
        if !self.arrays().contains(array) && !self.topology().contains(array) {
            let path = self.path().to_path_buf();
            return Err(Error::ForeignArray { path, array: array.name.clone() });
        }
        self.decode(array)
    }

    /// Node coordinates along x, y and z of image data or a rectilinear grid, in the units of the
    /// file.
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
            _ => Err(self.absent("coordinates along axes", "ask for `points()`")),
        }
    }

    /// The points of a structured grid, an unstructured grid or poly data, three components each,
    /// in the units of the file.
    ///
    /// # Errors
    ///
    /// If the data set has no explicit points, or they cannot be read.
    pub fn points(&self) -> Result<Array, Error> {
        match &self.structure.points {
            Some(points) => self.decode(points),
            None => Err(self.absent("explicit points", "ask for `coordinates()`")),
        }
    }

    /// Reads the cells of an unstructured grid, or makes those that lie between the nodes of a
    /// structured grid: hexahedra, or quads where one axis has a single node.
    ///
    /// The cells of a file in pieces, and those of the files of an index, follow each other, and
    /// their indices count the points of the pieces before. Of a polyhedron there are the points,
    /// not the faces. Arrays on the cells are in the same order.
    ///
    /// # Errors
    ///
    /// If the data set is of another kind or has lines or a vertex only, there are 2^32 points or more,
    /// the cells cannot be read, or they are no cells of its points.
    pub fn cells(&self) -> Result<Cells, Error> {
        cells::read(&self.sources, &self.structure)
    }

    /// Reads the polygons of poly data, of type 7, and behind them its triangle strips, of type 6.
    /// Vertices and lines are passed over.
    ///
    /// # Errors
    ///
    /// If the data set is of another kind, there are 2^32 points or more, the polygons cannot be read,
    /// or they are none of its points.
    pub fn faces(&self) -> Result<Cells, Error> {
        cells::read_faces(&self.sources, &self.structure)
    }

    fn decode(&self, array: &ArrayInfo) -> Result<Array, Error> {
        let values = read_values(&self.sources, array)?;
        Ok(Array { name: array.name.clone(), components: array.components, values })
    }

    fn axis(&self, array: &ArrayInfo) -> Result<Vec<f64>, Error> {
        Ok(self.decode(array)?.values.into_f64())
    }

    /// Computes the coordinates, after a check that the file can hold so many nodes at all.
    fn image_coordinates(
        &self,
        extent: [i64; 6],
        origin: [f64; 3],
        spacing: [f64; 3],
    ) -> Result<[Vec<f64>; 3], Error> {
        let dims = dims_of(extent).unwrap_or_default();
        let source = self.sources.main();
        let most = source.len().saturating_mul(MAX_NODES_PER_BYTE);
        if let Some(nodes) = dims.into_iter().find(|nodes| *nodes as u64 > most) {
            let spot = source.spot(0, "the extent of the image");
            return Err(spot.truncated(format!("data for an axis of `{nodes}` nodes")));
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
