//! Cells of which nodes coincide, as the simpler cells to which they have collapsed.

use super::input::Cells;
use crate::threads::in_parts;
use burntrace_kernels::CellKind;
use std::ops::Range;

/// The faces of a hexahedron, counter-clockwise as seen from the opposite ones, which follow node by node.
const OPPOSITE_FACES: [[[usize; 4]; 2]; 6] = [
    [[0, 1, 2, 3], [4, 5, 6, 7]],
    [[4, 7, 6, 5], [0, 3, 2, 1]],
    [[0, 3, 7, 4], [1, 2, 6, 5]],
    [[1, 5, 6, 2], [0, 4, 7, 3]],
    [[0, 4, 5, 1], [3, 7, 6, 2]],
    [[3, 2, 6, 7], [0, 1, 5, 4]],
];

impl Cells {
    /// The same cells, those with nodes that repeat as the cells of fewer nodes that have the same shape functions. A
    /// cell that has collapsed to none of them is kept.
    pub(super) fn reduced(self) -> Self {
        let repeats = |nodes: &[u32]| (1..nodes.len()).any(|k| nodes[..k].contains(&nodes[k]));
        let is_any = |mut range: Range<usize>| range.any(|cell| repeats(self.nodes(cell)));
        if !in_parts(self.len(), is_any).contains(&true) {
            return self;
        }
        let mut cells = Cells { offsets: vec![0], ..Cells::default() };
        for (cell, kind) in self.kinds.iter().enumerate() {
            let (mut kind, mut nodes) = (*kind, self.nodes(cell).to_vec());
            while let Some(simpler) = simpler(kind, &nodes) {
                (kind, nodes) = simpler;
            }
            cells.kinds.push(kind);
            cells.connectivity.extend(nodes);
            cells.offsets.push(cells.connectivity.len() as u32);
        }
        cells
    }
}

/// The cell to which one has collapsed along an edge, or at a face.
fn simpler(kind: CellKind, nodes: &[u32]) -> Option<(CellKind, Vec<u32>)> {
    match kind {
        CellKind::Quad => Some((CellKind::Triangle, triangle(nodes)?.to_vec())),
        CellKind::Pyramid => {
            let [a, b, c] = triangle(&nodes[..4])?;
            Some((CellKind::Tetra, vec![a, b, c, nodes[4]]))
        }
        CellKind::Wedge => of_wedge(nodes),
        CellKind::Hexahedron => of_hexahedron(nodes),
        _ => None,
    }
}

/// The corners of a quadrilateral that has collapsed along a side.
fn triangle(quad: &[u32]) -> Option<[u32; 3]> {
    let side = (0..4).find(|k| quad[*k] == quad[(k + 1) % 4])?;
    Some([1, 2, 3].map(|k| quad[(side + k) % 4]))
}

fn of_wedge(nodes: &[u32]) -> Option<(CellKind, Vec<u32>)> {
    let [a, b, c, d, e, f] = *nodes else { return None };
    if d == e && e == f {
        return Some((CellKind::Tetra, vec![a, b, c, d]));
    }
    if a == b && b == c {
        return Some((CellKind::Tetra, vec![d, f, e, a]));
    }
    let apex = (0..3).find(|k| nodes[*k] == nodes[k + 3])?;
    let (next, last) = ((apex + 1) % 3, (apex + 2) % 3);
    let corners = [next, next + 3, last + 3, last, apex];
    Some((CellKind::Pyramid, corners.map(|k| nodes[k]).to_vec()))
}

fn of_hexahedron(nodes: &[u32]) -> Option<(CellKind, Vec<u32>)> {
    let faces = OPPOSITE_FACES.map(|faces| faces.map(|face| face.map(|k| nodes[k])));
    let apex = faces.iter().find(|[_, top]| top.iter().all(|node| *node == top[0]));
    if let Some([base, top]) = apex {
        return Some((CellKind::Pyramid, [&base[..], &top[..1]].concat()));
    }
    let wedge = |[base, top]: &[[u32; 4]; 2]| {
        let at = |k: usize| [base[k % 4], top[k % 4]];
        let side = (0..4).find(|k| at(*k) == at(k + 1))?;
        let corners = [1, 2, 3].map(|k| at(side + k));
        Some((CellKind::Wedge, [0, 1].map(|end| corners.map(|edge| edge[end])).concat()))
    };
    faces.iter().find_map(wedge)
}
