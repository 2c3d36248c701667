//! Joins the structures of the pieces of a data set.

use crate::array::{ArrayInfo, Association, GridBox, Placement, Tuples, is_joinable_topology};
use crate::error::Error;
use crate::geometry::{Extent, Geometry, product};
use crate::source::{ErrorContext, Source};
use crate::structure::Structure;

/// A file of the data set, or several that form a part of it.
pub(crate) struct Piece<'a> {
    /// The index of its first file, as in [`Part::file`](crate::array::Part::file).
    pub(crate) number: usize,
    pub(crate) source: &'a Source,
    pub(crate) structure: Structure,
}

impl Piece<'_> {
    pub(crate) fn num_points(&self) -> usize {
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

/// Joins the arrays of at least one piece of a data set, with its field data.
pub(crate) fn join_pieces(
    geometry: Geometry,
    encoding: String,
    fields: Vec<ArrayInfo>,
    pieces: &[Piece<'_>],
) -> Result<Structure, Error> {
    let whole = geometry.extent();
    let mut joined = Structure::new(geometry, encoding, fields);
    let Some(first) = pieces.first() else { return Ok(joined) };
    joined.has_old_order = first.structure.has_old_order;
    let several_kinds = joined.geometry.has_cells_of_several_kinds() && pieces.len() > 1;
    for array in &first.structure.arrays {
        match array.association {
            Association::Field if named(&joined.arrays, array).is_some() => {}
            Association::Field => joined.arrays.push(array.shifted(first.number)),
            Association::Cell if several_kinds => {}
            on => {
                let is_cell = on == Association::Cell;
                let tuples = if is_cell { Tuples::Cells } else { Tuples::Nodes };
                joined.arrays.push(join_array(
                    array,
                    pieces,
                    Place::new(whole, tuples),
                    |piece| named(&piece.arrays, array),
                )?);
            }
        }
    }
    join_topology(&mut joined, first, pieces)?;
    Ok(joined)
}

/// Joins the arrays that define the geometry and the cells.
fn join_topology(
    joined: &mut Structure,
    first: &Piece<'_>,
    pieces: &[Piece<'_>],
) -> Result<(), Error> {
    let whole = joined.geometry.extent();
    for array in &first.structure.topology {
        if pieces.len() == 1 || is_joinable_topology(split(&array.name).1) {
            joined.topology.push(join_array(array, pieces, Place::Append, |piece| {
                named(&piece.topology, array)
            })?);
        }
    }
    for (axis, array) in first.structure.coordinates.iter().enumerate() {
        let place = Place::new(whole, Tuples::Axis(axis));
        joined
            .coordinates
            .push(join_array(array, pieces, place, |piece| piece.coordinates.get(axis))?);
    }
    if let Some(points) = &first.structure.points {
        let place = Place::new(whole, Tuples::Nodes);
        joined.points = Some(join_array(points, pieces, place, |piece| piece.points.as_ref())?);
    }
    Ok(())
}

/// The array with the name and the association of another one.
fn named<'a>(arrays: &'a [ArrayInfo], like: &ArrayInfo) -> Option<&'a ArrayInfo> {
    arrays.iter().find(|array| array.name == like.name && array.association == like.association)
}

/// Where the tuples of the pieces are in the whole.
#[derive(Clone, Copy)]
enum Place {
    /// After those of the previous piece.
    Append,
    /// In the box of the piece in the grid with this extent.
    Grid(Extent, Tuples),
}

impl Place {
    fn new(whole: Option<Extent>, tuples: Tuples) -> Self {
        whole.map_or(Self::Append, |whole| Self::Grid(whole, tuples))
    }
}

/// An array of the first piece, with its parts in all pieces; `find` gives the array in a piece.
fn join_array<'a>(
    template: &ArrayInfo,
    pieces: &'a [Piece<'_>],
    place: Place,
    find: impl Fn(&'a Structure) -> Option<&'a ArrayInfo>,
) -> Result<ArrayInfo, Error> {
    let element = template.element();
    let mut joined = ArrayInfo { tuples: 0, parts: Vec::new(), ..template.clone() };
    let mut index_offset = 0_i64;
    for piece in pieces {
        let context = piece.source.context(0, &element);
        let array = find(&piece.structure);
        let array = matching(array, template, context)?;
        let outside = || context.malformed("a piece outside the grid", "pieces inside it");
        let mut placed = array.shifted(piece.number);
        for part in &mut placed.parts {
            part.placement = match place {
                Place::Append => part.placement.after(index_offset),
                Place::Grid(whole, tuples) => {
                    let extent = piece.structure.geometry.extent().ok_or_else(outside)?;
                    let target = GridBox::of_piece(extent, whole, tuples).ok_or_else(outside)?;
                    Placement::Box(part.placement.within(target))
                }
            };
        }
        joined.tuples = match placed.parts.first().map(|part| part.placement) {
            Some(Placement::Box(target)) => product(target.grid_size),
            _ => joined.tuples.checked_add(array.tuples),
        }
        .filter(|tuples| tuples.checked_mul(joined.components).is_some())
        .ok_or_else(|| context.out_of_memory(usize::MAX))?;
        joined.parts.extend(placed.parts);
        index_offset = index_offset.saturating_add(piece.next_index_offset(template));
    }
    Ok(joined)
}

/// The array of a piece, which must be like that of the first one.
fn matching<'a>(
    array: Option<&'a ArrayInfo>,
    template: &ArrayInfo,
    context: ErrorContext<'_>,
) -> Result<&'a ArrayInfo, Error> {
    let Some(array) = array else {
        return Err(context.malformed("a piece without this array", "one like the first piece's"));
    };
    if (array.scalar, array.components) != (template.scalar, template.components) {
        let found = format!("`{}` numbers of type {}", array.components, array.scalar);
        let expected = format!("`{}` of type {}", template.components, template.scalar);
        return Err(context.malformed(found, format!("{expected}, as in the first piece")));
    }
    Ok(array)
}

/// Splits the name of a topology array into kind of cells and name: `lines/` and `offsets`.
fn split(name: &str) -> (&str, &str) {
    name.rfind('/').map_or(("", name), |slash| name.split_at(slash + 1))
}
