//! Cells and points sorted along a space-filling curve, so that neighbours in space are close in
//! memory.

use super::{
    bounds::Bounds,
    input::{Cells, refuse},
    structure::{Coordinates, Mesh},
};
use crate::threads::{filled, in_parts};
use crate::{Precision, Result};

/// Indices of the points and cells of a sorted mesh in its input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// The index of the first given point merged into each of [`Mesh::points`].
    pub points: Vec<usize>,
    /// The index of each cell in the input.
    pub cells: Vec<usize>,
}

/// Bits of each coordinate on the curve.
const BITS: u32 = 16;

impl Mesh {
    /// Creates a mesh with its cells sorted along a Morton curve, and its points in the order of
    /// their first use; unused points are dropped. Positions are rounded to `precision`, which sets
    /// the tolerance of [`Mesh::locate`]. Errors give indices of the input.
    ///
    /// # Errors
    ///
    /// Like [`Mesh::new`], but unused points need not be finite.
    pub fn in_order(
        points: &[[f64; 3]],
        cells: &Cells,
        precision: Precision,
    ) -> Result<(Mesh, Origins)> {
        Mesh::ordered(points, cells, Coordinates::of(precision))
    }

    /// As [`in_order`](Mesh::in_order), of other coordinates. In degrees no distance on the curve counts.
    pub(crate) fn ordered(
        points: &[[f64; 3]],
        cells: &Cells,
        of: Coordinates,
    ) -> Result<(Mesh, Origins)> {
        cells.check(points.len())?;
        check_used(points, cells)?;
        let order = along_curve(points, cells, of.is_in_degrees);
        let (used, sorted) = renumbered(points.len(), cells, &order);
        let coordinates: Vec<[f64; 3]> = used.iter().map(|point| points[*point]).collect();
        let mesh = Mesh::build(&coordinates, sorted, of)?;
        let of_points = mesh.first().iter().map(|point| used[*point as usize]).collect();
        Ok((mesh, Origins { points: of_points, cells: order }))
    }
}

fn check_used(points: &[[f64; 3]], cells: &Cells) -> Result<()> {
    if points.as_flattened().iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    let is_not_finite = |node: &&u32| points[**node as usize].iter().any(|x| !x.is_finite());
    match cells.connectivity.iter().find(is_not_finite) {
        None => Ok(()),
        Some(node) => {
            let point = points[*node as usize];
            refuse(format!("point {node} is at {point:?}, which is not finite"))
        }
    }
}

/// The cells in the order of their centres along the curve.
fn along_curve(points: &[[f64; 3]], cells: &Cells, is_in_degrees: bool) -> Vec<usize> {
    let (centres, _) = filled((cells.len(), 1), [0.0; 3], |range, centres| {
        range.zip(centres).for_each(|(cell, centre)| *centre = cells.centre(cell, points));
    });
    let bounds = Bounds::of(centres.iter().copied());
    // Cubes, not boxes of the mesh's shape, so that distances count equally along every axis.
    let size = |d: usize| match is_in_degrees {
        true => bounds.high[d] - bounds.low[d],
        false => bounds.size(),
    };
    let size = [0, 1, 2].map(|d| size(d).max(f64::MIN_POSITIVE));
    let key = |centre: &[f64; 3]| {
        // NaN becomes 0.
        let last = f64::from((1_u32 << BITS) - 1);
        curve([0, 1, 2].map(|d| ((centre[d] - bounds.low[d]) / size[d] * last) as u64))
    };
    let (mut order, _) = filled((cells.len(), 1), (0, 0), |range, part| {
        range.zip(&mut *part).for_each(|(cell, of)| *of = (key(&centres[cell]), cell as u32));
        part.sort_unstable();
    });
    // A stable sort merges parts that are in order.
    order.sort();
    order.into_iter().map(|(_, cell)| cell as usize).collect()
}

/// Interleaves the bits of three numbers.
fn curve(coordinates: [u64; 3]) -> u64 {
    coordinates.iter().zip(0..).fold(0, |key, (x, d)| key | spread(*x) << d)
}

/// Spreads the bits of a number to every third bit (by halves: Warren, Hacker's Delight, 7-2).
fn spread(x: u64) -> u64 {
    let x = (x | x << 16) & 0x00ff_0000_ff00_00ff;
    let x = (x | x << 8) & 0xf00f_00f0_0f00_f00f;
    let x = (x | x << 4) & 0x30c3_0c30_c30c_30c3;
    (x | x << 2) & 0x9249_2492_4924_9249
}

/// The cells in a new order, and the points that they use, in the order of first use.
fn renumbered(points: usize, cells: &Cells, order: &[usize]) -> (Vec<usize>, Cells) {
    let mut sorted = reordered(cells, order);
    let mut numbers = vec![u32::MAX; points];
    let mut used = Vec::new();
    for node in &mut sorted.connectivity {
        let number = &mut numbers[*node as usize];
        if *number == u32::MAX {
            *number = used.len() as u32;
            used.push(*node as usize);
        }
        *node = *number;
    }
    (used, sorted)
}

/// The cells in a new order, with the same points.
fn reordered(cells: &Cells, order: &[usize]) -> Cells {
    let parts = in_parts(order.len(), |range| {
        let mut part = Cells::default();
        for cell in &order[range] {
            part.kinds.push(cells.kinds[*cell]);
            part.connectivity.extend(cells.nodes(*cell));
            part.offsets.push(part.connectivity.len() as u32);
        }
        part
    });
    let mut sorted = Cells { offsets: vec![0], ..Cells::default() };
    for part in parts {
        let before = sorted.connectivity.len() as u32;
        sorted.kinds.extend(part.kinds);
        sorted.offsets.extend(part.offsets.iter().map(|end| before + end));
        sorted.connectivity.extend(part.connectivity);
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curve_interleaves_bits() {
        assert_eq!(curve([1, 0, 0]), 1);
        assert_eq!(curve([0, 1, 0]), 2);
        assert_eq!(curve([0, 0, 1]), 4);
        assert_eq!(curve([0b10, 0b11, 0]), 0b011_010);
        assert_eq!(curve([0xffff; 3]), (1 << 48) - 1);
    }
}
