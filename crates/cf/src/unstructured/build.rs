//! Points, cells and faces of the boundary, of columns of triangles and levels.

use super::SIDES;
use super::columns::Columns;
use super::levels::Levels;
use super::topology::Topology;
use crate::mesh::{COAST, NONE, OPEN, SURFACE};
use std::collections::HashMap;

const NAMES: [&str; 4] = [COAST, OPEN, SIDES, SURFACE];

/// A mesh, and where the values of its points and cells are.
#[derive(Default)]
pub(super) struct Built {
    pub points: Vec<[f64; 3]>,
    pub cells: Vec<u32>,
    pub boundary: Vec<(String, Vec<[u32; 4]>)>,
    /// Node and level of each point, from the bottom upward.
    pub at_points: Vec<[u32; 2]>,
    /// Triangle and layer of each cell.
    pub in_cells: Vec<[u32; 2]>,
}

struct Builder<'a> {
    topology: &'a Topology,
    columns: &'a Columns,
    levels: Option<&'a Levels>,
    /// z without levels.
    height: f64,
    /// Whether each cell is there, layer by layer.
    is_there: Vec<bool>,
    /// The triangle at the other side of each edge of a triangle.
    neighbours: Vec<[u32; 3]>,
    /// The point of each level of a column of points.
    ids: Vec<u32>,
    built: Built,
    faces: [Vec<[u32; 4]>; NAMES.len()],
}

impl Built {
    /// Builds the mesh of all cells that have water and are not land: of each layer from the bottom upward, triangle
    /// by triangle; at a height if there are no levels.
    pub fn of(
        topology: &Topology,
        columns: &Columns,
        (levels, height): (Option<&Levels>, f64),
        is_land: &[bool],
    ) -> Built {
        let (layers, count) =
            (levels.map_or(1, |levels| levels.count - 1), topology.triangles.len());
        let has_water = |layer: usize, triangle: usize| {
            let equal = |node: u32| {
                levels.is_some_and(|levels| levels.z(node, layer) == levels.z(node, layer + 1))
            };
            !topology.triangles[triangle].into_iter().all(equal)
        };
        let cells = (0..layers).flat_map(|layer| (0..count).map(move |triangle| (layer, triangle)));
        let is_there = cells.zip(is_land).map(|((layer, triangle), is_land)| {
            !is_land && !columns.is_left_out[triangle] && has_water(layer, triangle)
        });
        let mut builder = Builder {
            is_there: is_there.collect(),
            neighbours: neighbours(&topology.triangles),
            ids: vec![NONE; columns.at.len() * levels.map_or(1, |levels| levels.count)],
            built: Built::default(),
            faces: [const { Vec::new() }; NAMES.len()],
            topology,
            columns,
            levels,
            height,
        };
        for layer in 0..layers {
            for (column, triangle) in columns.triangles.iter().enumerate() {
                if builder.is_there(layer, *triangle) {
                    builder.add(layer, column);
                }
            }
        }
        let faces = NAMES.into_iter().zip(builder.faces).filter(|(_, faces)| !faces.is_empty());
        Built {
            boundary: faces.map(|(name, faces)| (name.into(), faces)).collect(),
            ..builder.built
        }
    }
}

impl Builder<'_> {
    fn is_there(&self, layer: usize, triangle: u32) -> bool {
        self.is_there[layer * self.topology.triangles.len() + triangle as usize]
    }

    /// Adds a cell and its faces of the boundary.
    fn add(&mut self, layer: usize, column: usize) {
        let triangle = self.columns.triangles[column];
        let corners = self.columns.corners[column];
        let low = corners.map(|corner| self.point(corner, layer));
        self.built.in_cells.push([triangle, layer as u32]);
        self.built.cells.extend(low);
        let high = match self.levels {
            None => low,
            Some(_) => {
                let high = corners.map(|corner| self.point(corner, layer + 1));
                self.built.cells.extend(high);
                self.add_ends(layer, triangle, [low, high]);
                high
            }
        };
        for edge in 0..3 {
            let next = (edge + 1) % 3;
            if let Some(name) = self.side(layer, triangle, edge) {
                self.add_face(name, &[low[edge], low[next], high[next], high[edge]]);
            }
        }
    }

    /// Adds the triangles without a cell below or above.
    fn add_ends(&mut self, layer: usize, triangle: u32, [low, high]: [[u32; 3]; 2]) {
        let layers = self.is_there.len() / self.topology.triangles.len();
        if layer == 0 || !self.is_there(layer - 1, triangle) {
            self.add_face(COAST, &low);
        }
        if (layer + 1..layers).all(|above| !self.is_there(above, triangle)) {
            self.add_face(SURFACE, &high);
        } else if !self.is_there(layer + 1, triangle) {
            self.add_face(COAST, &high);
        }
    }

    /// The name of a side; `None` between two cells.
    fn side(&self, layer: usize, triangle: u32, edge: usize) -> Option<&'static str> {
        let nodes = self.topology.triangles[triangle as usize];
        let other = self.neighbours[triangle as usize][edge];
        let [a, b] = [nodes[edge], nodes[(edge + 1) % 3]];
        match other {
            NONE => Some(self.topology.edges.get(&[a.min(b), a.max(b)]).copied().unwrap_or(SIDES)),
            _ if self.is_there(layer, other) => None,
            _ if self.columns.is_left_out[other as usize] => Some(OPEN),
            _ => Some(COAST),
        }
    }

    /// Adds a face, of which points that repeat are left out.
    fn add_face(&mut self, name: &str, points: &[u32]) {
        let mut face = [NONE; 4];
        let mut count = 0;
        for point in points {
            if !face[..count].contains(point) {
                face[count] = *point;
                count += 1;
            }
        }
        let needed = if self.levels.is_some() { 3 } else { 2 };
        let group = NAMES.iter().position(|known| *known == name);
        if let Some(group) = group.filter(|_| count >= needed) {
            self.faces[group].push(face);
        }
    }

    /// The point of a column of points at a level, which is added if it is new. Levels without water between them
    /// share one, with the value of the highest.
    fn point(&mut self, corner: u32, level: usize) -> u32 {
        let node = self.columns.nodes[corner as usize];
        let (count, [lowest, highest], z) = match self.levels {
            None => (1, [0, 0], self.height),
            Some(levels) => (levels.count, levels.equal(node, level), levels.z(node, level)),
        };
        let id = &mut self.ids[corner as usize * count + lowest];
        if *id == NONE {
            *id = self.built.points.len() as u32;
            let [x, y] = self.columns.at[corner as usize];
            self.built.points.push([x, y, z]);
            self.built.at_points.push([node, highest as u32]);
        }
        *id
    }
}

/// The triangle at the other side of each edge.
fn neighbours(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut found = vec![[NONE; 3]; triangles.len()];
    let mut open = HashMap::new();
    for (number, nodes) in triangles.iter().enumerate() {
        for edge in 0..3 {
            let [a, b] = [nodes[edge], nodes[(edge + 1) % 3]];
            match open.remove(&[a.min(b), a.max(b)]) {
                None => {
                    open.insert([a.min(b), a.max(b)], (number, edge));
                }
                Some((other, others)) => {
                    found[number][edge] = other as u32;
                    let side: &mut [u32; 3] = &mut found[other];
                    side[others] = number as u32;
                }
            }
        }
    }
    found
}
