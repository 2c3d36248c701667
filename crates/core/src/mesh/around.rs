//! The cells around points.

use super::input::Cells;

/// The cells at each point of a mesh.
#[derive(Clone, Debug)]
pub(crate) struct CellsAtPoints {
    /// Start of each point's cells in `cells`, followed by the length of `cells`.
    starts: Vec<u32>,
    cells: Vec<u32>,
}

impl CellsAtPoints {
    /// Of cells whose nodes are among a number of points.
    pub fn new(points: usize, cells: &Cells) -> Self {
        let mut starts = vec![0; points + 1];
        cells.connectivity.iter().for_each(|point| starts[*point as usize + 1] += 1);
        (0..points).for_each(|point| starts[point + 1] += starts[point]);
        let (mut next, mut at) = (starts.clone(), vec![0; cells.connectivity.len()]);
        for cell in 0..cells.len() {
            for point in cells.nodes(cell) {
                let place = &mut next[*point as usize];
                at[*place as usize] = cell as u32;
                *place += 1;
            }
        }
        CellsAtPoints { starts, cells: at }
    }

    /// The cells at each point, point by point.
    pub fn each(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.cells[ends[0] as usize..ends[1] as usize])
    }

    /// The cells at a point, in their order.
    pub fn at(&self, point: usize) -> &[u32] {
        &self.cells[self.starts[point] as usize..self.starts[point + 1] as usize]
    }
}
