//! The velocities through the faces of the cells of a C-grid, at the points of a mesh.

use super::grid::Grid;
use super::lattice::{Built, is_downward};
use crate::mesh::{NONE, Weights};

/// The land of the cells of a C-grid, and of one row and column around them.
pub(super) struct CellLand {
    /// Number of layers, rows and columns of cells.
    pub size: [usize; 3],
    pub is_dry: Vec<bool>,
}

impl CellLand {
    /// The index of a cell, with rows and columns from 0 around the grid.
    pub fn index(&self, layer: usize, row: usize, column: usize) -> usize {
        (layer * (self.size[1] + 2) + row) * (self.size[2] + 2) + column
    }

    /// Whether each cell is in the sea.
    pub fn wet_cells(&self) -> Vec<bool> {
        let [layers, rows, columns] = self.size;
        let of_row = |layer: usize, row: usize| {
            let first = self.index(layer, row + 1, 1);
            self.is_dry[first..first + columns].iter().map(|is_dry| !is_dry)
        };
        let all = (0..layers).flat_map(|layer| (0..rows).map(move |row| (layer, row)));
        all.flat_map(|(layer, row)| of_row(layer, row)).collect()
    }
}

/// The faces at the points of a mesh: those of a cell on land are closed.
pub(super) struct Through<'a> {
    pub grid: &'a Grid,
    pub land: &'a CellLand,
    /// Number of levels of `w`.
    pub levels_of_w: usize,
    /// Whether `w` is in the middle of layers.
    pub is_centred: bool,
}

/// A point of a mesh: its level, row and column, and the layer above it and the row of cells next to it in the
/// direction of the mesh.
struct Node {
    level: usize,
    row: usize,
    column: usize,
    layer: Option<usize>,
    next_row: Option<usize>,
}

impl Through<'_> {
    fn node(&self, [level, node]: [u32; 2]) -> Node {
        let (level, node) = (level as usize, node as usize);
        let [layers, rows, _] = self.grid.cells();
        let width = self.grid.positions.columns;
        let (row, column) = (node / width, node % width);
        let layer = match &self.grid.levels {
            Some(levels) if is_downward(levels) => level.checked_sub(1),
            _ => (level < layers).then_some(level),
        };
        let next_row = match self.grid.columns.is_flipped {
            true => row.checked_sub(1),
            false => (row < rows).then_some(row),
        };
        Node { level, row, column, layer, next_row }
    }

    /// Whether no cell on land is on a side of a face: cells by layer, row and column, both from 1; those beyond the layers are
    /// no land.
    fn is_open(&self, sides: [(Option<usize>, usize, usize); 2]) -> bool {
        sides.into_iter().all(|(layer, row, column)| {
            match layer.filter(|k| *k < self.land.size[0]) {
                Some(layer) => !self.land.is_dry[self.land.index(layer, row, column)],
                None => true,
            }
        })
    }

    pub fn u(&self, built: &Built) -> Weights {
        let [_, rows, columns] = self.grid.cells();
        let width = self.grid.positions.columns;
        let index = |at: &[u32; 2]| {
            let Node { column, layer, next_row, .. } = self.node(*at);
            let (Some(layer), Some(row)) = (layer, next_row) else { return NONE };
            let west = if column == 0 && columns == width { width } else { column };
            let sides = [west, column + 1].map(|column| (Some(layer), row + 1, column));
            match self.is_open(sides) {
                true => ((layer * rows + row) * width + column) as u32,
                false => NONE,
            }
        };
        Weights::One { index: built.nodes.iter().map(index).collect(), sign: 1.0 }
    }

    pub fn v(&self, built: &Built) -> Weights {
        let [_, rows, columns] = self.grid.cells();
        let index = |at: &[u32; 2]| {
            let Node { row, column, layer, .. } = self.node(*at);
            let Some(layer) = layer.filter(|_| column < columns) else { return NONE };
            match self.is_open([row, row + 1].map(|row| (Some(layer), row, column + 1))) {
                true => ((layer * (rows + 1) + row) * columns + column) as u32,
                false => NONE,
            }
        };
        let sign = if self.grid.columns.is_flipped { -1.0 } else { 1.0 };
        Weights::One { index: built.nodes.iter().map(index).collect(), sign }
    }

    /// The means of the cells of the sea around each point, linear in z: of values in their layers, or at a number of levels
    /// between them. Those at a single level are the same at all points of a column.
    pub fn around(&self, built: &Built, levels: Option<usize>) -> Weights {
        let [_, rows, columns] = self.grid.cells();
        let count = if levels.is_some() { 4 } else { 8 };
        let (mut index, mut weights) = (Vec::new(), Vec::new());
        for (point, [level, node]) in built.nodes.iter().enumerate() {
            let cells = self.cells_around(*level as usize, *node as usize, levels);
            let sum: f64 = cells.iter().map(|(_, weight)| weight).sum();
            for ([level, row, column], weight) in cells {
                index.push(((level * rows + row) * columns + column) as u32);
                weights.push((weight / sum) as f32);
            }
            index.resize((point + 1) * count, NONE);
            weights.resize((point + 1) * count, 0.0);
        }
        Weights::Mean { count, index, weights }
    }

    /// The cells of the sea around a point by level or layer, row and column, and their weights.
    fn cells_around(
        &self,
        level: usize,
        node: usize,
        levels: Option<usize>,
    ) -> Vec<([usize; 3], f64)> {
        let [layers, rows, columns] = self.grid.cells();
        let width = self.grid.positions.columns;
        let (row, column) = (node / width, node % width);
        let before = column.checked_sub(1).or((columns == width).then_some(columns - 1));
        let beside = [before, Some(column).filter(|column| *column < columns)];
        let above = [row.checked_sub(1), Some(row).filter(|row| *row < rows)];
        let layers = [level.checked_sub(1), Some(level).filter(|layer| *layer < layers)];
        let cells = above
            .into_iter()
            .flatten()
            .flat_map(|row| beside.into_iter().flatten().map(move |column| (row, column)));
        let is_wet = |layer: usize, (row, column): (usize, usize)| {
            !self.land.is_dry[self.land.index(layer, row + 1, column + 1)]
        };
        let mut found = Vec::new();
        for cell in cells {
            let wet = layers.into_iter().flatten().filter(|layer| is_wet(*layer, cell));
            match levels {
                None => found.extend(
                    wet.map(|layer| ([layer, cell.0, cell.1], 1.0 / self.thickness(layer, node))),
                ),
                Some(count) if wet.count() > 0 => {
                    found.push(([level.min(count - 1), cell.0, cell.1], 1.0));
                }
                Some(_) => {}
            }
        }
        found
    }

    /// The extent of a layer in z at a node of the grid.
    fn thickness(&self, layer: usize, node: usize) -> f64 {
        match &self.grid.levels {
            Some(_) => (self.grid.z(layer + 1, node) - self.grid.z(layer, node)).abs(),
            None => 1.0,
        }
    }

    pub fn w(&self, built: &Built) -> Weights {
        let [layers, rows, columns] = self.grid.cells();
        let levels = self.levels_of_w;
        let at = |level: usize, row: usize, column: usize| {
            ((level * rows + row) * columns + column) as u32
        };
        // The cell of the node, if no cell above or below its face is on land.
        let cell = |node: &Node| {
            let row = node.next_row.filter(|_| node.column < columns)?;
            let sides = [node.level.checked_sub(1), Some(node.level)];
            let is_open = self.is_open(sides.map(|layer| (layer, row + 1, node.column + 1)));
            is_open.then_some((row, node.column))
        };
        let nodes = built.nodes.iter().map(|of| self.node(*of));
        if !self.is_centred {
            let index = |node: Node| match cell(&node) {
                Some((row, column)) if node.level < levels => at(node.level, row, column),
                _ => NONE,
            };
            return Weights::One { index: nodes.map(index).collect(), sign: 1.0 };
        }
        let bottom = match &self.grid.levels {
            Some(levels) if is_downward(levels) => layers,
            _ => 0,
        };
        let pair = |node: Node| match cell(&node) {
            Some((row, column)) if node.level != bottom || !self.grid.ends_at_bottom => {
                let sides = [node.level.saturating_sub(1), node.level.min(layers - 1)];
                sides.map(|layer| at(layer, row, column))
            }
            _ => [NONE; 2],
        };
        let index: Vec<u32> = nodes.flat_map(pair).collect();
        let weights = vec![0.5; index.len()];
        Weights::Mean { count: 2, index, weights }
    }
}
