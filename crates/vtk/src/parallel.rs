//! Parallel data sets: an index with the pieces in separate files.

use crate::dataset::DataSet;
use crate::error::Error;
use crate::geometry::{Geometry, Kind};
use crate::grids;
use crate::join::{Piece, join_pieces};
use crate::source::Source;
use crate::sources::Sources;
use crate::structure::{Index, Structure};
use crate::xml::{Contents, read_contents};

/// Opens the files of an index and joins them.
pub(crate) fn open(source: Source, index: Index) -> Result<DataSet, Error> {
    let mut sources = Vec::new();
    for path in &index.files {
        sources.push(Source::open(path)?);
    }
    let (mut pieces, mut members) = (Vec::new(), Vec::new());
    for (i, source) in sources.iter().enumerate() {
        let (structure, of_piece) = read_piece(source, index.kind)?;
        let own = if of_piece.is_empty() { vec![structure.clone()] } else { of_piece };
        members.extend(own.into_iter().map(|own| own.shifted(i + 1)));
        let piece = Piece { number: i + 1, source, structure };
        if let Some(grid) = &index.grid {
            grids::check_piece(&piece, grid, i)?;
        }
        pieces.push(piece);
    }
    // Pieces without points are ignored: they may lack the arrays of the others.
    if pieces.iter().any(|piece| piece.num_points() > 0) {
        pieces.retain(|piece| piece.num_points() > 0);
    } else {
        pieces.truncate(1);
    }
    let structure = join(&source, index, &pieces)?;
    if members.iter().any(Structure::has_faces) {
        members.retain(|member| member.geometry.num_points() > 0);
    } else {
        members.clear();
    }
    Ok(DataSet { members, ..DataSet::new(Sources::new(source, sources), structure) })
}

fn read_piece(source: &Source, kind: Kind) -> Result<(Structure, Vec<Structure>), Error> {
    let context = source.context(0, "the elements");
    match read_contents(source)? {
        Contents::DataSet(structure, members) if structure.geometry.kind() == kind => {
            Ok((*structure, members))
        }
        Contents::DataSet(structure, _) => {
            let found = structure.geometry.kind().to_string();
            Err(context.malformed(found, format!("{kind}, the kind in the index")))
        }
        Contents::Index(_) | Contents::Blocks(_) => {
            Err(context.unsupported("an index inside an index", "list its files instead"))
        }
    }
}

fn join(source: &Source, index: Index, pieces: &[Piece<'_>]) -> Result<Structure, Error> {
    let Some(first) = pieces.first() else {
        return Err(source.context(0, "the elements").malformed("no piece", "at least one"));
    };
    let geometry = match &index.grid {
        Some(grid) => grids::joined_geometry(source, grid, pieces)?,
        None => joined_geometry(source, index.kind, pieces)?,
    };
    let encoding = format!("{}, in {} files", first.structure.encoding, index.files.len());
    join_pieces(geometry, encoding, index.fields, pieces)
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
