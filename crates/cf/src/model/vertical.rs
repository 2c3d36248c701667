//! A vertical velocity that is elsewhere than the other components, interpolated to the nodes.

use super::Files;
use super::agrid::level_coordinate;
use super::dims::Dims;
use super::grid::Grid;
use super::lattice::Built;
use super::levels::Levels;
use super::positions::{self, Positions};
use crate::axis::UnitCheck;
use crate::degrees::step;
use crate::mesh::{Gather, NONE, Weights};
use crate::store::Span;
use crate::units::Quantity;
use crate::{Error, Result};

/// The vertical velocity at the nodes: the mean of the four points around each, linear between levels, and 0 at the
/// surface z = 0 above the highest one. `index` is [`NONE`] at nodes on land.
pub(super) fn interpolated(
    files: Files,
    w: &Dims,
    (u, all, grid): (&Dims, &Positions, &Grid),
    (built, index): (&Built, &[u32]),
    units: &mut UnitCheck,
) -> Result<Gather> {
    let [count, rows, columns] = w.size();
    let levels = Levels::read(files, level_coordinate(files, w, None)?, units)?;
    if count < 2 || levels.len() != count {
        let reason = format!(
            "it has {count} levels with {} heights, and two or more are needed",
            levels.len()
        );
        return Err(Error::variable(files.own.path(), &w.variable.name, reason));
    }
    let around = Around::of(files, w, (u, all), units)?;
    let [_, row_span, column_span] = grid.of;
    let spans = [around.span(0, row_span, rows), around.span(1, column_span, columns)];
    let corners = around.count();
    let (mut indices, mut weights) = (Vec::new(), Vec::new());
    for ([level, node], index) in built.nodes.iter().zip(index) {
        let node = *node as usize;
        let depth = grid.depths.get(node).copied().unwrap_or(0.0);
        let z = grid.z(*level as usize, node);
        let at = [node / grid.positions.columns, node % grid.positions.columns];
        for (level, of_level) in bracket(&levels, depth, z) {
            for corner in 0..corners {
                let cell =
                    around.cell(corner, [at[0] + row_span.start, at[1] + column_span.start], spans);
                let plane = spans[0].count * spans[1].count;
                let is_zero = *index == NONE || level.is_none();
                let has_value = cell.is_some() || *index == NONE;
                let of_corner = if has_value { of_level / corners as f64 } else { 0.0 };
                let value =
                    cell.zip(level).map_or(NONE, |(cell, level)| (level * plane + cell) as u32);
                indices.push(if is_zero { NONE } else { value });
                weights.push(of_corner as f32);
            }
        }
    }
    let [name, other] = [&w.variable.name, &u.variable.name];
    units.convert(format!("`{name}` is at other points than `{other}`, and interpolated to them"));
    let weights = Weights::Mean { count: 2 * corners, index: indices, weights };
    let of = [Span::all(count), spans[0], spans[1]];
    Ok(w.gather(Some(Quantity::Speed), of, weights))
}

/// The two levels around a height, with their weights; `None` is the surface, where the velocity is 0.
fn bracket(levels: &Levels, depth: f64, z: f64) -> [(Option<usize>, f64); 2] {
    let at = |level: usize| levels.height(level, depth);
    let is_between = |level: &usize| (at(*level) - z) * (at(level + 1) - z) <= 0.0;
    if let Some(level) = (0..levels.len() - 1).find(is_between) {
        let [low, high] = [at(level), at(level + 1)];
        let part = if low == high { 0.0 } else { (z - low) / (high - low) };
        return [(Some(level), 1.0 - part), (Some(level + 1), part)];
    }
    let ends = [0, levels.len() - 1];
    let (top, bottom) =
        if at(ends[0]) > at(ends[1]) { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
    match z > at(top) && z <= 0.0 {
        true => [(Some(top), z / at(top)), (None, 1.0 - z / at(top))],
        false if z > at(top) => [(Some(top), 1.0), (None, 0.0)],
        false => [(Some(bottom), 1.0), (None, 0.0)],
    }
}

/// The points around a node: by their index from that of the node.
enum Around {
    /// The one with the same index.
    Same,
    /// That with the same index and this difference, and the next ones in both directions.
    Four([isize; 2]),
}

impl Around {
    /// The differences whose mean position is nearest to a node in the middle.
    fn of(
        files: Files,
        w: &Dims,
        (u, all): (&Dims, &Positions),
        units: &mut UnitCheck,
    ) -> Result<Around> {
        if w.horizontal() == u.horizontal() {
            return Ok(Around::Same);
        }
        let (store, pair) = positions::of_variable(files, w)?;
        let points = Positions::read(store, pair, units)?;
        let fail = |reason: &str| Error::variable(files.own.path(), &w.variable.name, reason);
        let [_, rows, columns] = w.size();
        if [points.rows, points.columns] != [rows, columns] {
            return Err(fail(
                "its positions have other rows and columns; name two components, with which w = 0",
            ));
        }
        let node = [all.rows / 2, all.columns / 2];
        let [x, y] = all.xy[node[0] * all.columns + node[1]];
        let distance = |of: [isize; 2]| {
            let first = [0, 1].map(|d| node[d] as isize + of[d]);
            if first[0] < 0
                || first[1] < 0
                || first[0] as usize + 1 >= rows
                || first[1] as usize + 1 >= columns
            {
                return None;
            }
            let [row, column] = first.map(|first| Span::range(first as usize, 2));
            let one = points.part(row, column);
            let [mean_x, mean_y] = one.midpoints().xy[0];
            let across = if all.is_in_degrees { step(x, mean_x) } else { mean_x - x };
            Some((across.hypot(mean_y - y), of))
        };
        let all = [[0, 0], [-1, 0], [0, -1], [-1, -1]].into_iter().filter_map(distance);
        let nearest = all.min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.map(|(_, of)| Around::Four(of)).ok_or_else(|| {
            fail("it has no points around those of the other components; name two components, with which w = 0")
        })
    }

    fn count(&self) -> usize {
        match self {
            Around::Same => 1,
            Around::Four(_) => 4,
        }
    }

    /// The indices along an axis that nodes in a range need.
    fn span(&self, axis: usize, nodes: Span, len: usize) -> Span {
        let Around::Four(of) = self else { return nodes };
        let start = nodes.start.saturating_add_signed(of[axis]);
        let end = (nodes.start + nodes.count + 1).saturating_add_signed(of[axis]).min(len);
        Span::range(start, end.saturating_sub(start).max(1))
    }

    /// The index of a point around a node in a box; `None` outside it.
    fn cell(&self, corner: usize, node: [usize; 2], spans: [Span; 2]) -> Option<usize> {
        let at = |d: usize, next: usize| {
            let more = if let Around::Four(of) = self { of[d] + next as isize } else { 0 };
            let index = node[d].checked_add_signed(more)?.checked_sub(spans[d].start)?;
            (index < spans[d].count).then_some(index)
        };
        Some(at(0, corner / 2)? * spans[1].count + at(1, corner % 2)?)
    }
}
