//! Parallel data sets: an index with the pieces in separate files.

use crate::array::{ArrayInfo, Association, Part, Placement, is_joinable_topology};
use crate::error::Error;
use crate::geometry::{Geometry, Kind};
use crate::source::Source;
use crate::structure::{Index, Structure};
use crate::xml::{Contents, read_contents};

/// A file of the data set.
struct Piece<'a> {
    /// Its index, as in [`Part::file`].
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
        pieces.push(Piece { number: i + 1, source, structure: read_piece(source, index.kind)? });
    }
    // Pieces without points are ignored: they may lack the arrays of the others.
    if pieces.iter().any(|piece| piece.num_points() > 0) {
        pieces.retain(|piece| piece.num_points() > 0);
    } else {
        pieces.truncate(1);
    }
    let structure = join(source, index, &pieces)?;
    Ok((structure, sources))
}

fn read_piece(source: &Source, kind: Kind) -> Result<Structure, Error> {
    let context = source.context(0, "the elements");
    match read_contents(source)? {
        Contents::DataSet(structure) if structure.geometry.kind() == kind => Ok(*structure),
        Contents::DataSet(structure) => {
            let found = structure.geometry.kind().to_string();
            Err(context.malformed(found, format!("{kind}, the kind in the index")))
        }
        Contents::Index(_) => {
            Err(context.unsupported("an index inside an index", "list its files instead"))
        }
    }
}

fn join(source: &Source, index: Index, pieces: &[Piece<'_>]) -> Result<Structure, Error> {
    let Some(first) = pieces.first() else {
        return Err(source.context(0, "the elements").malformed("no piece", "at least one"));
    };
    let geometry = joined_geometry(source, index.kind, pieces)?;
    let encoding = format!("{}, in {} files", first.structure.encoding, index.files.len());
    let mut arrays = index.fields;
    for array in &first.structure.arrays {
        match array.association {
            Association::Field if arrays.iter().any(|field| field.name == array.name) => {}
            Association::Field => arrays.push(with_file(array, first.number, 0)),
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

/// The array with the name and the association of another one.
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
                let context = source.context(0, "the elements");
                context.malformed("sizes that overflow", "sizes of a valid data set")
            })?;
        }
    }
    let [points, cells, verts, lines, strips, polys] = sums;
    Ok(match kind {
        Kind::PolyData => Geometry::PolyData { points, verts, lines, strips, polys },
        _ => Geometry::Unstructured { points, cells },
    })
}

/// An array of the first piece, with its parts in all pieces; `find` gives the array in a piece.
fn joined<'a>(
    template: &ArrayInfo,
    pieces: &'a [Piece<'_>],
    find: impl Fn(&'a Structure) -> Option<&'a ArrayInfo>,
) -> Result<ArrayInfo, Error> {
    let element = template.element();
    let mut joined = ArrayInfo { tuples: 0, parts: Vec::new(), ..template.clone() };
    let mut index_offset = 0_i64;
    for piece in pieces {
        let context = piece.source.context(0, &element);
        let Some(array) = find(&piece.structure) else {
            return Err(
                context.malformed("a piece without this array", "one like the first piece's")
            );
        };
        if (array.scalar, array.components) != (template.scalar, template.components) {
            let found = format!("`{}` numbers of type {}", array.components, array.scalar);
            let expected = format!("`{}` of type {}", template.components, template.scalar);
            return Err(context.malformed(found, format!("{expected}, as in the first piece")));
        }
        joined.parts.extend(with_file(array, piece.number, index_offset).parts);
        joined.tuples = joined
            .tuples
            .checked_add(array.tuples)
            .filter(|tuples| tuples.checked_mul(joined.components).is_some())
            .ok_or_else(|| context.out_of_memory(usize::MAX))?;
        index_offset = index_offset.saturating_add(piece.next_index_offset(template));
    }
    Ok(joined)
}

impl Piece<'_> {
    fn num_points(&self) -> usize {
        self.structure.geometry.num_points()
    }

    /// The increase of the index offset of an array after this piece.
    fn next_index_offset(&self, array: &ArrayInfo) -> i64 {
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

/// Splits the name of a topology array into kind of cells and name: `lines/` and `offsets`.
fn split(name: &str) -> (&str, &str) {
    name.rfind('/').map_or(("", name), |slash| name.split_at(slash + 1))
}

/// An array with its parts in a file, and with an index offset added.
fn with_file(array: &ArrayInfo, file: usize, offset: i64) -> ArrayInfo {
    let part = |part: &Part| {
        let placement = match part.placement {
            Placement::Append { index_offset } => {
                Placement::Append { index_offset: index_offset.saturating_add(offset) }
            }
            Placement::Box(target) => Placement::Box(target),
        };
        Part { file, placement, ..part.clone() }
    };
    ArrayInfo { parts: array.parts.iter().map(part).collect(), ..array.clone() }
}
