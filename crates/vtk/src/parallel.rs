//! Parallel data sets: an index, and the pieces in files of their own.

use std::path::PathBuf;

use crate::array::{ArrayInfo, Association, Part, Placement, is_joinable_topology};
use crate::error::Error;
use crate::file::Structure;
use crate::geometry::{Geometry, Kind};
use crate::source::Source;
use crate::xml::{Contents, read_contents};

/// What an index says.
pub(crate) struct Index {
    /// The kind of the data set in each of its files.
    pub(crate) kind: Kind,
    pub(crate) files: Vec<PathBuf>,
    /// Field data in the index itself.
    pub(crate) fields: Vec<ArrayInfo>,
}

/// A file of the data set.
struct Piece<'a> {
    /// Its number as [`Part::file`] counts.
    number: usize,
    source: &'a Source,
    structure: Structure,
}

/// Opens the files of an index and joins them.
pub(crate) fn open(source: &Source, index: Index) -> Result<(Structure, Vec<Source>), Error> {
    let mut sources = Vec::new();
    for path in &index.files {
        sources.push(Source::open(path)?);
    }
    let mut pieces = Vec::new();
    for (i, source) in sources.iter().enumerate() {
        pieces.push(Piece { number: i + 1, source, structure: structure(source, index.kind)? });
    }
    // A piece without points need not have the arrays of the others.
    if pieces.iter().any(|piece| piece.num_points() > 0) {
        pieces.retain(|piece| piece.num_points() > 0);
    } else {
        pieces.truncate(1);
    }
    let structure = join(source, index, &pieces)?;
    Ok((structure, sources))
}

fn structure(source: &Source, kind: Kind) -> Result<Structure, Error> {
    let spot = source.spot(0, "the elements");
    match read_contents(source)? {
        Contents::DataSet(structure) if structure.geometry.kind() == kind => Ok(*structure),
        Contents::DataSet(structure) => {
            let found = structure.geometry.kind().to_string();
            Err(spot.malformed(found, format!("{kind}, as the file says that lists it")))
        }
        Contents::Index(_) => {
            Err(spot.unsupported("a list of files in a list of files", "list its files instead"))
        }
    }
}

fn join(source: &Source, index: Index, pieces: &[Piece<'_>]) -> Result<Structure, Error> {
    let Some(first) = pieces.first() else {
        return Err(source.spot(0, "the elements").malformed("no piece", "one at least"));
    };
    let geometry = joined_geometry(source, index.kind, pieces)?;
    let encoding = format!("{}, in {} files", first.structure.encoding, index.files.len());
    let mut arrays = index.fields;
    for array in &first.structure.arrays {
        match array.association {
            Association::Field if arrays.iter().any(|field| field.name == array.name) => {}
            Association::Field => arrays.push(moved(array, first.number, 0)),
            Association::Cell if geometry.has_cells_of_several_kinds() && pieces.len() > 1 => {}
            _ => arrays.push(joined(array, pieces, |piece| named(&piece.arrays, array))?),
        }
    }
    let mut topology = Vec::new();
    for array in &first.structure.topology {
        if pieces.len() == 1 || is_joinable_topology(split(&array.name).1) {
            topology.push(joined(array, pieces, |piece| named(&piece.topology, array))?);
        }
    }
    let points = match &first.structure.points {
        Some(points) => Some(joined(points, pieces, |piece| piece.points.as_ref())?),
        None => None,
    };
    Ok(Structure { geometry, encoding, arrays, topology, coordinates: Vec::new(), points })
}

/// The array like one of another piece.
fn named<'a>(arrays: &'a [ArrayInfo], like: &ArrayInfo) -> Option<&'a ArrayInfo> {
    arrays.iter().find(|array| array.name == like.name && array.association == like.association)
}

fn joined_geometry(source: &Source, kind: Kind, pieces: &[Piece<'_>]) -> Result<Geometry, Error> {
    let mut sums = [0_usize; 6];
    for piece in pieces {
        let counts = match piece.structure.geometry {
            Geometry::PolyData { points, verts, lines, strips, polys } => {
                [points, 0, verts, lines, strips, polys]
            }
            ref other => [other.num_points(), other.num_cells(), 0, 0, 0, 0],
        };
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum = sum.checked_add(count).ok_or_else(|| {
                let spot = source.spot(0, "the elements");
                spot.malformed("sizes that overflow", "a data set that can exist")
            })?;
        }
    }
    let [points, cells, verts, lines, strips, polys] = sums;
    Ok(match kind {
        Kind::PolyData => Geometry::PolyData { points, verts, lines, strips, polys },
        _ => Geometry::Unstructured { points, cells },
    })
}

/// An array of the first piece with its parts in all of them; `find` finds it there.
fn joined<'a>(
    wanted: &ArrayInfo,
    pieces: &'a [Piece<'_>],
    find: impl Fn(&'a Structure) -> Option<&'a ArrayInfo>,
) -> Result<ArrayInfo, Error> {
    let element = wanted.element();
    let mut whole = ArrayInfo { tuples: 0, parts: Vec::new(), ..wanted.clone() };
    let mut index_offset = 0_i64;
    for piece in pieces {
        let spot = piece.source.spot(0, &element);
        let Some(array) = find(&piece.structure) else {
            return Err(spot.malformed("a piece without this array", "one like the first piece's"));
        };
        if (array.scalar, array.components) != (wanted.scalar, wanted.components) {
            let found = format!("`{}` numbers of type {}", array.components, array.scalar);
            let expected = format!("`{}` of type {}", wanted.components, wanted.scalar);
            return Err(spot.malformed(found, format!("{expected}, as in the first piece")));
        }
        whole.parts.extend(moved(array, piece.number, index_offset).parts);
        whole.tuples = whole
            .tuples
            .checked_add(array.tuples)
            .filter(|tuples| tuples.checked_mul(whole.components).is_some())
            .ok_or_else(|| spot.out_of_memory(usize::MAX))?;
        index_offset = index_offset.saturating_add(piece.indices(wanted));
    }
    Ok(whole)
}

impl Piece<'_> {
    fn num_points(&self) -> usize {
        self.structure.geometry.num_points()
    }

    /// By how much the piece moves the indices of the next one in an array.
    fn indices(&self, array: &ArrayInfo) -> i64 {
        if array.association != Association::Topology {
            return 0;
        }
        let count = match split(&array.name) {
            (_, "connectivity") => self.num_points(),
            (prefix, "offsets") => {
                let mut arrays = self.structure.topology.iter();
                let found = arrays.find(|other| split(&other.name) == (prefix, "connectivity"));
                found.map_or(0, |connectivity| connectivity.tuples)
            }
            _ => 0,
        };
        i64::try_from(count).unwrap_or(i64::MAX)
    }
}

/// The kind of cells and the name of an array of topology: `lines/` and `offsets`.
fn split(name: &str) -> (&str, &str) {
    name.rfind('/').map_or(("", name), |slash| name.split_at(slash + 1))
}

/// An array with its parts in another file, and its indices moved.
fn moved(array: &ArrayInfo, file: usize, by: i64) -> ArrayInfo {
    let part = |part: &Part| {
        let placement = match part.placement {
            Placement::Append { index_offset } => {
                Placement::Append { index_offset: index_offset.saturating_add(by) }
            }
            Placement::Box(target) => Placement::Box(target),
        };
        Part { file, placement, ..part.clone() }
    };
    ArrayInfo { parts: array.parts.iter().map(part).collect(), ..array.clone() }
}
