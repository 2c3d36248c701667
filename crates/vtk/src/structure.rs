//! The structure of a data set: everything but the values of its arrays.

use std::path::PathBuf;

use crate::array::ArrayInfo;
use crate::geometry::{Extent, Geometry, Kind};

/// The arrays with the points of the faces of polyhedra, one of which a data set has.
pub(crate) const FACES: [&str; 2] = ["faces", "face_connectivity"];

/// The structure of a data set.
#[derive(Debug, Clone)]
pub(crate) struct Structure {
    /// Index of the file that describes it, as in [`Part::file`](crate::array::Part::file).
    pub(crate) file: usize,
    pub(crate) geometry: Geometry,
    /// A description of the encoding.
    pub(crate) encoding: String,
    pub(crate) arrays: Vec<ArrayInfo>,
    pub(crate) topology: Vec<ArrayInfo>,
    /// Node coordinates of a rectilinear grid: three arrays, otherwise none.
    pub(crate) coordinates: Vec<ArrayInfo>,
    pub(crate) points: Option<ArrayInfo>,
    /// Whether Lagrange hexahedra have their nodes in the order of VTK before version 9.
    pub(crate) has_old_order: bool,
}

impl Structure {
    /// The structure of a data set in the first file, without cells and points of its own.
    pub(crate) fn new(geometry: Geometry, encoding: String, arrays: Vec<ArrayInfo>) -> Self {
        let (topology, coordinates, points) = (Vec::new(), Vec::new(), None);
        let has_old_order = false;
        Self { file: 0, geometry, encoding, arrays, topology, coordinates, points, has_old_order }
    }

    /// Whether a data set has the faces of polyhedra.
    pub(crate) fn has_faces(&self) -> bool {
        self.topology.iter().any(|array| FACES.contains(&array.name.as_str()))
    }

    /// The structure in a list of files in which its first file has the index `number`.
    pub(crate) fn shifted(self, number: usize) -> Self {
        let all = |arrays: Vec<ArrayInfo>| -> Vec<ArrayInfo> {
            arrays.iter().map(|array| array.shifted(number)).collect()
        };
        Self {
            file: self.file + number,
            arrays: all(self.arrays),
            topology: all(self.topology),
            coordinates: all(self.coordinates),
            points: self.points.map(|points| points.shifted(number)),
            ..self
        }
    }
}

/// The index of a parallel data set.
pub(crate) struct Index {
    /// The kind of the data set in each of its files.
    pub(crate) kind: Kind,
    pub(crate) files: Vec<PathBuf>,
    /// Field data in the index itself.
    pub(crate) fields: Vec<ArrayInfo>,
    /// The grid that the files form, for grids.
    pub(crate) grid: Option<IndexGrid>,
}

/// The grid of an index.
pub(crate) struct IndexGrid {
    /// The extent of all pieces.
    pub(crate) whole: Extent,
    /// The extent of each piece, where the index has it.
    pub(crate) extents: Vec<Option<Extent>>,
    /// The geometry of an image.
    pub(crate) image: Option<Geometry>,
}

/// The files of a data set of several blocks.
pub(crate) struct BlockIndex {
    pub(crate) files: Vec<BlockFile>,
    /// Field data in the index itself.
    pub(crate) fields: Vec<ArrayInfo>,
}

/// A block in a file of its own, or in a group of a VTKHDF file.
#[derive(Debug, Clone)]
pub(crate) struct BlockFile {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// The path of the group.
    pub(crate) group: Option<String>,
}
