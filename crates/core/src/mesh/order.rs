//! Cells and points in the order of space, so that what is near in space is near in memory.

use super::{Cells, Mesh, input::refuse};
use crate::{Precision, Result};

/// Where the points and the cells of a mesh in order come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// The first of the given points that each of [`Mesh::points`] stands for.
    pub points: Vec<usize>,
    /// The given cell that each cell is.
    pub cells: Vec<usize>,
}

/// Bits of each coordinate's place on the curve.
const BITS: u32 = 16;

impl Mesh {
    /// A mesh of the same cells along a space-filling curve (Morton's), its points in the order in
    /// which the cells use them; points that no cell has are left out. Positions are rounded to a
    /// precision: one that may be on a face is. Numbers in errors are those
    /// of the given points and cells.
    ///
    /// # Errors
    ///
    /// As [`Mesh::new`], but that unused points may be nowhere.
    pub fn in_order(
        points: &[[f64; 3]],
        cells: &Cells,
        precision: Precision,
    ) -> Result<(Mesh, Origins)> {
        cells.check(points.len())?;
        check_used(points, cells)?;
        let order = along_curve(points, cells);
        let (used, sorted) = renumbered(points.len(), cells, &order);
        let places: Vec<[f64; 3]> = used.iter().map(|point| points[*point]).collect();
        let mesh = Mesh::build(&places, sorted, precision)?;
        let of_points = mesh.first().iter().map(|point| used[*point as usize]).collect();
        Ok((mesh, Origins { points: of_points, cells: order }))
    }
}

fn check_used(points: &[[f64; 3]], cells: &Cells) -> Result<()> {
    let is_nowhere = |node: &&u32| points[**node as usize].iter().any(|x| !x.is_finite());
    match cells.connectivity.iter().find(is_nowhere) {
        None => Ok(()),
        Some(node) => {
            let place = points[*node as usize];
            refuse(format!("point {node} is at {place:?}, which is no place"))
        }
    }
}

/// The cells in the order of their middles along the curve.
fn along_curve(points: &[[f64; 3]], cells: &Cells) -> Vec<usize> {
    let middle = |cell: usize| {
        let nodes = cells.nodes(cell);
        let sum = |d: usize| nodes.iter().map(|node| points[*node as usize][d]).sum::<f64>();
        [0, 1, 2].map(|d| sum(d) / nodes.len() as f64)
    };
    let middles: Vec<[f64; 3]> = (0..cells.len()).map(middle).collect();
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for middle in &middles {
        for d in 0..3 {
            low[d] = low[d].min(middle[d]);
            high[d] = high[d].max(middle[d]);
        }
    }
    // Cubes rather than boxes of the mesh's shape: near is near along every axis.
    let size = (0..3).map(|d| high[d] - low[d]).fold(f64::MIN_POSITIVE, f64::max);
    let keys = middles.iter().map(|middle| {
        // A place that is no number becomes 0.
        let last = f64::from((1_u32 << BITS) - 1);
        curve([0, 1, 2].map(|d| ((middle[d] - low[d]) / size * last) as u64))
    });
    let mut order: Vec<(u64, u32)> = keys.zip(0..).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, cell)| cell as usize).collect()
}

/// The bits of three numbers in turn.
fn curve(place: [u64; 3]) -> u64 {
    place.iter().zip(0..).fold(0, |key, (x, d)| key | spread(*x) << d)
}

/// The bits of a number three apart (by halves: Warren, Hacker's Delight, 7-2).
fn spread(x: u64) -> u64 {
    let x = (x | x << 16) & 0x00ff_0000_ff00_00ff;
    let x = (x | x << 8) & 0xf00f_00f0_0f00_f00f;
    let x = (x | x << 4) & 0x30c3_0c30_c30c_30c3;
    (x | x << 2) & 0x9249_2492_4924_9249
}

/// Cells in an order, and the points that they use, in the order of their first use.
fn renumbered(points: usize, cells: &Cells, order: &[usize]) -> (Vec<usize>, Cells) {
    let mut numbers = vec![u32::MAX; points];
    let mut used = Vec::new();
    let mut sorted = Cells { offsets: vec![0], ..Cells::default() };
    sorted.connectivity.reserve_exact(cells.connectivity.len());
    for cell in order {
        for node in cells.nodes(*cell) {
            let number = &mut numbers[*node as usize];
            if *number == u32::MAX {
                *number = used.len() as u32;
                used.push(*node as usize);
            }
            sorted.connectivity.push(*number);
        }
        sorted.kinds.push(cells.kinds[*cell]);
        sorted.offsets.push(sorted.connectivity.len() as u32);
    }
    (used, sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_three_numbers_come_in_turn() {
        assert_eq!(curve([1, 0, 0]), 1);
        assert_eq!(curve([0, 1, 0]), 2);
        assert_eq!(curve([0, 0, 1]), 4);
        assert_eq!(curve([0b10, 0b11, 0]), 0b011_010);
        assert_eq!(curve([0xffff; 3]), (1 << 48) - 1);
    }
}
