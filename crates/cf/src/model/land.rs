//! Land: by a mask, by values that are missing, or have the value of land.

use super::conventions::Velocity;
use super::dims::{Box3, Dims};
use super::grid::Grid;
use super::{Files, MeshRequest};
use crate::axis::UnitCheck;
use crate::gather::{found, land_flags};
use crate::store::{Span, Store};
use crate::units::Quantity;
use crate::{Error, Result};

/// Whether points are on land: level by level, row by row.
pub(super) struct Land {
    pub is_land: Vec<bool>,
    /// Whether each value of `u` and `v` is missing at the first time.
    pub missing: [Option<Vec<bool>>; 2],
}

impl Land {
    /// The land of the nodes of a grid: where `u` or `v` is missing at the first time, or has the value of land, or a mask
    /// is 0 or missing.
    pub fn of_nodes(
        files: Files,
        velocity: &Velocity,
        request: &MeshRequest,
        of: Box3,
    ) -> Result<Land> {
        let u = First::of(files.own, &velocity.u, of, request.land_value)?;
        let v = First::of(files.own, &velocity.v, of, request.land_value)?;
        let both = |(u, v)| if request.land_value.is_some() { u && v } else { u || v };
        let mut is_land: Vec<bool> = u.is_land.into_iter().zip(v.is_land).map(both).collect();
        if let Some(dry) = masked(files, request, &[], (of, 0))? {
            is_land.iter_mut().zip(dry).for_each(|(is_land, dry)| *is_land |= dry);
        }
        Ok(Land { is_land, missing: [u.missing, v.missing] })
    }

    /// Whether each cell has a node in the sea.
    pub fn wet_cells(&self, grid: &Grid) -> Vec<bool> {
        let [layers, rows, columns] = grid.cells();
        let width = grid.positions.columns;
        let plane = grid.positions.xy.len();
        let ends = if grid.levels.is_some() { &[0, 1][..] } else { &[0] };
        let is_wet = |layer: usize, row: usize, column: usize| {
            let next = if column + 1 == width { 0 } else { column + 1 };
            ends.iter().any(|end| {
                let at = |row: usize, column: usize| {
                    grid.level_read(layer + end) * plane + row * width + column
                };
                let nodes =
                    [at(row, column), at(row, next), at(row + 1, column), at(row + 1, next)];
                nodes.iter().any(|node| !self.is_land[*node])
            })
        };
        let cells = (0..layers).flat_map(|k| (0..rows).map(move |j| (k, j)));
        cells
            .flat_map(|(k, j)| (0..columns).map(move |i| (k, j, i)))
            .map(|(k, j, i)| is_wet(k, j, i))
            .collect()
    }

    /// Notes how land is treated.
    pub fn note(&self, units: &mut UnitCheck) {
        let count = self.is_land.iter().filter(|is_land| **is_land).count();
        if count > 0 {
            units.convert(format!(
                "{count} of {} points are on land: cells with no other are left out, and the velocity is 0 there",
                self.is_land.len()
            ));
        }
    }
}

/// Rounding of a mask that is packed.
const ROUNDING: f64 = 1e-6;

/// A component at the first time in a box.
pub(super) struct First {
    /// Whether each value is missing, or the value of land.
    pub is_land: Vec<bool>,
    /// Whether each value is missing; `None` if no number means that.
    pub missing: Option<Vec<bool>>,
}

impl First {
    pub fn of(store: &dyn Store, dims: &Dims, of: Box3, land_value: Option<f64>) -> Result<First> {
        let decoded = dims.read(store, of, Some(Quantity::Speed))?;
        Ok(First { is_land: land_flags(&decoded, land_value), missing: decoded.missing })
    }
}

/// Whether each point of a box, and `ring` rows and columns around it, is land by a mask, which is 0 or missing there: that
/// of the request, or the first of these variables that a file has. A mask of one level holds for all; beyond it there is no
/// land.
pub(super) fn masked(
    files: Files,
    request: &MeshRequest,
    usual: &[&str],
    (of, ring): (Box3, usize),
) -> Result<Option<Vec<bool>>> {
    let opened;
    let (store, variable) = match &request.mask {
        Some((name, Some(path))) => {
            opened = crate::open(path)?;
            (&*opened, found(&*opened, name)?)
        }
        Some((name, None)) => files.find(&[name]).ok_or_else(|| {
            crate::choose::choice(files.own, format!("it has no variable `{name}` for the mask"))
        })?,
        None => match files.find(usual) {
            Some(found) => found,
            None => return Ok(None),
        },
    };
    let dims = Dims::of(store, variable)?;
    let size = dims.size();
    let levels = if size[0] == 1 { Span::one(0) } else { of[0] };
    let fits = |span: Span, len: usize| span.start + span.count <= len;
    if !fits(levels, size[0]) || !fits(of[1], size[1]) || !fits(of[2], size[2]) {
        let reason = format!(
            "{variable}, as a mask, does not cover the grid of the velocity; give one on its cells"
        );
        return Err(Error::variable(store.path(), &variable.name, reason));
    }
    let [rows, columns] = [1, 2].map(|d| around(of[d], ring, size[d]));
    let mask = dims.read(store, [levels, rows, columns], None)?;
    let is_missing = land_flags(&mask, None);
    let is_dry = |i: usize| is_missing[i] || mask.values.at(i).abs() < ROUNDING;
    let at = |span: Span, index: usize, first: usize| {
        (first + index).checked_sub(ring + span.start).filter(|index| *index < span.count)
    };
    let mut dry = Vec::new();
    for level in 0..of[0].count {
        let plane = if size[0] == 1 { 0 } else { level } * rows.count * columns.count;
        for row in 0..of[1].count + 2 * ring {
            let row = at(rows, row, of[1].start);
            dry.extend((0..of[2].count + 2 * ring).map(|column| {
                let column = at(columns, column, of[2].start);
                row.zip(column)
                    .is_some_and(|(row, column)| is_dry(plane + row * columns.count + column))
            }));
        }
    }
    Ok(Some(dry))
}

/// A range that is longer by a number of indices at both ends, as far as there are any.
fn around(of: Span, ring: usize, len: usize) -> Span {
    let start = of.start.saturating_sub(ring);
    Span::range(start, (of.start + of.count + ring).min(len) - start)
}
