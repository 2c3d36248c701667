//! Points, cells and faces of the boundary of a mesh, of rows, columns and levels of points.

use super::grid::Grid;
use super::levels::Levels;
use super::window::Column;
use crate::degrees::CIRCLE;
use crate::mesh::{COAST, NONE, OPEN, SURFACE};

/// A grid, and which of its cells are in the sea.
pub(super) struct Lattice<'a> {
    pub grid: &'a Grid,
    /// Whether each cell is in the sea: layer by layer, row by row, in the order of the file.
    pub is_wet: &'a [bool],
    /// The names of the faces below the lowest and above the highest layer.
    pub ends: [&'static str; 2],
}

/// A mesh, and the point of the lattice of each of its points: level, and point of the rows and columns.
#[derive(Default)]
pub(super) struct Built {
    pub points: Vec<[f64; 3]>,
    pub cells: Vec<u32>,
    pub boundary: Vec<(String, Vec<[u32; 4]>)>,
    pub nodes: Vec<[u32; 2]>,
}

impl Lattice<'_> {
    /// Whether levels are from the top to the bottom.
    fn is_downward(&self) -> bool {
        self.grid.levels.as_ref().is_some_and(is_downward)
    }

    /// Builds the mesh of the cells in the sea.
    pub fn build(&self) -> Built {
        let mut builder = Builder {
            lattice: self,
            built: Built::default(),
            columns: vec![[NONE; 3]; self.grid.positions.xy.len()],
            ids: Vec::new(),
            faces: [COAST, OPEN, SURFACE].map(|name| (name, Vec::new())),
        };
        let [layers, ..] = self.grid.cells();
        for column in &self.grid.columns.columns {
            (0..layers).for_each(|layer| builder.add(column, layer));
        }
        let Builder { mut built, faces, .. } = builder;
        let faces = faces.into_iter().filter(|(_, faces)| !faces.is_empty());
        built.boundary = faces.map(|(name, faces)| (name.into(), faces)).collect();
        built
    }

    fn is_wet(&self, layer: usize, [row, column]: [usize; 2]) -> bool {
        let [_, rows, columns] = self.grid.cells();
        self.is_wet[(layer * rows + row) * columns + column]
    }

    /// The name of the face towards another cell; `None` if it is not one of the boundary.
    fn side(&self, layer: usize, cell: [usize; 2], step: [isize; 2]) -> Option<&'static str> {
        let [_, rows, columns] = self.grid.cells();
        let closes = columns == self.grid.positions.columns;
        let row = cell[0].checked_add_signed(step[0]).filter(|row| *row < rows);
        let column = match (cell[1].checked_add_signed(step[1]), closes) {
            (Some(column), _) if column < columns => Some(column),
            (Some(_), true) => Some(0),
            (None, true) => Some(columns - 1),
            (_, false) => None,
        };
        let (Some(row), Some(column)) = (row, column) else { return Some(OPEN) };
        let is_dropped = self.grid.columns.is_dropped[row * columns + column];
        let is_named = !is_dropped && !self.is_wet(layer, [row, column]);
        is_named.then_some(COAST)
    }

    /// The name of the face below or above a cell.
    fn end(&self, layer: usize, cell: [usize; 2], is_top: bool) -> Option<&'static str> {
        let goes_back = is_top == self.is_downward();
        let next = match goes_back {
            true => layer.checked_sub(1),
            false => Some(layer + 1).filter(|next| *next < self.grid.cells()[0]),
        };
        match next {
            None => Some(self.ends[usize::from(is_top)]),
            Some(next) => (!self.is_wet(next, cell)).then_some(COAST),
        }
    }
}

/// Whether levels are from the top to the bottom.
pub(super) fn is_downward(levels: &Levels) -> bool {
    const DEPTH: f64 = 100.0;
    levels.height(0, DEPTH) > levels.height(levels.len() - 1, DEPTH)
}

struct Builder<'a> {
    lattice: &'a Lattice<'a>,
    built: Built,
    /// The column of points at each point of the grid, and one turn before and after it.
    columns: Vec<[u32; 3]>,
    /// The point of each level of a column of points.
    ids: Vec<u32>,
    faces: [(&'static str, Vec<[u32; 4]>); 3],
}

impl Builder<'_> {
    fn add(&mut self, column: &Column, layer: usize) {
        if !self.lattice.is_wet(layer, column.cell) {
            return;
        }
        let corners = |of: &mut Self, level: usize| {
            column.corners.map(|(node, turns)| of.point(node, turns, level))
        };
        if self.lattice.grid.levels.is_none() {
            let nodes = corners(self, 0);
            self.built.cells.extend(nodes);
            return self.add_sides(column, layer, [nodes, [NONE; 4]]);
        }
        let [low, high] = match self.lattice.is_downward() {
            true => [layer + 1, layer],
            false => [layer, layer + 1],
        };
        let (bottom, top) = (corners(self, low), corners(self, high));
        self.built.cells.extend(bottom.into_iter().chain(top));
        self.add_sides(column, layer, [bottom, top]);
        for (nodes, is_top) in [(bottom, false), (top, true)] {
            self.add_face(self.lattice.end(layer, column.cell, is_top), nodes);
        }
    }

    fn add_sides(&mut self, column: &Column, layer: usize, [bottom, top]: [[u32; 4]; 2]) {
        let south = if self.lattice.grid.columns.is_flipped { 1 } else { -1 };
        let sides = [([0, -1], 0, 3), ([0, 1], 1, 2), ([south, 0], 0, 1), ([-south, 0], 3, 2)];
        for (step, a, b) in sides {
            let name = self.lattice.side(layer, column.cell, step);
            self.add_face(name, [bottom[a], bottom[b], top[b], top[a]]);
        }
    }

    fn add_face(&mut self, name: Option<&'static str>, nodes: [u32; 4]) {
        let group = self.faces.iter_mut().find(|(known, _)| Some(*known) == name);
        if let Some((_, faces)) = group {
            faces.push(nodes);
        }
    }

    /// The index of a point, which is added if it is new.
    fn point(&mut self, node: usize, turns: i8, level: usize) -> u32 {
        let grid = self.lattice.grid;
        let levels = grid.levels.as_ref().map_or(1, Levels::len);
        let column = &mut self.columns[node][(turns + 1).clamp(0, 2) as usize];
        if *column == NONE {
            *column = (self.ids.len() / levels) as u32;
            self.ids.resize(self.ids.len() + levels, NONE);
        }
        let id = *column as usize * levels + level;
        if self.ids[id] == NONE {
            self.ids[id] = self.built.points.len() as u32;
            let x = grid.columns.x[node] + CIRCLE * f64::from(turns);
            self.built.points.push([x, grid.positions.xy[node][1], grid.z(level, node)]);
            self.built.nodes.push([level as u32, node as u32]);
        }
        self.ids[id]
    }
}
