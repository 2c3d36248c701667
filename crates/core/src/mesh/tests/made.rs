//! Generated test meshes: a unit box or square, cut into cells of given kinds.

// Imported from the parent module, because tests of the whole library include this file too.
use super::{CellKind, Cells, uniform};
use std::collections::HashMap;

pub const SOLID: &[CellKind] = &[
    CellKind::Tetra,
    CellKind::Voxel,
    CellKind::Hexahedron,
    CellKind::Wedge,
    CellKind::Pyramid,
    CellKind::QuadraticTetra,
    CellKind::QuadraticHexahedron,
];
pub const FLAT: &[CellKind] =
    &[CellKind::Triangle, CellKind::Pixel, CellKind::Quad, CellKind::QuadraticTriangle];

/// A node, by its position in halves of a hexahedron's edge.
type Key = [i64; 3];

#[derive(Clone)]
pub struct Made {
    pub points: Vec<[f64; 3]>,
    pub cells: Cells,
    count: i64,
    shake: f64,
    numbers: HashMap<Key, u32>,
}

/// Corners of a hexahedron, in VTK's order.
const HEX: [Key; 8] =
    [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [0, 0, 2], [2, 0, 2], [2, 2, 2], [0, 2, 2]];
const CENTRE: Key = [1, 1, 1];

/// The pieces of a hexahedron, by its corners; 8 is the centre.
fn pieces(kind: CellKind) -> &'static [&'static [usize]] {
    match kind {
        CellKind::Hexahedron | CellKind::QuadraticHexahedron => &[&[0, 1, 2, 3, 4, 5, 6, 7]],
        CellKind::Voxel => &[&[0, 1, 3, 2, 4, 5, 7, 6]],
        CellKind::Wedge => &[&[0, 1, 3, 4, 5, 7], &[1, 2, 3, 5, 6, 7]],
        // Every second one has the opposite orientation.
        CellKind::Tetra | CellKind::QuadraticTetra => &[
            &[0, 1, 2, 6],
            &[0, 1, 5, 6],
            &[0, 3, 2, 6],
            &[0, 3, 7, 6],
            &[0, 4, 5, 6],
            &[0, 4, 7, 6],
        ],
        CellKind::Pyramid => &[
            &[3, 7, 4, 0, 8],
            &[5, 6, 2, 1, 8],
            &[4, 5, 1, 0, 8],
            &[2, 6, 7, 3, 8],
            &[0, 1, 2, 3, 8],
            &[7, 6, 5, 4, 8],
        ],
        CellKind::Quad => &[&[0, 1, 2, 3]],
        CellKind::Pixel => &[&[0, 1, 3, 2]],
        CellKind::Triangle | CellKind::QuadraticTriangle => &[&[0, 1, 2], &[0, 3, 2]],
    }
}

impl Made {
    /// A box of `count` cubed hexahedra, or a square of `count` squared, each cut into cells of the
    /// kind that `choose` returns for its index. Inner nodes are moved by up to `shake` edges.
    pub fn new(count: usize, shake: f64, choose: impl Fn(usize) -> CellKind) -> Self {
        let mut made = Made {
            points: Vec::new(),
            cells: Cells { offsets: vec![0], ..Cells::default() },
            count: count as i64,
            shake,
            numbers: HashMap::new(),
        };
        let layers = if choose(0).dimension() == 2 { 1 } else { count };
        for number in 0..count * count * layers {
            let at = [number % count, number / count % count, number / count / count];
            let kind = choose(number);
            for piece in pieces(kind) {
                let corners: Vec<Key> = piece
                    .iter()
                    .map(|k| if *k == 8 { CENTRE } else { HEX[*k] })
                    .map(|key| [0, 1, 2].map(|d| key[d] + 2 * at[d] as i64))
                    .collect();
                made.add(kind, &corners);
            }
        }
        made
    }

    pub fn of(count: usize, shake: f64, kind: CellKind) -> Self {
        Made::new(count, shake, |_| kind)
    }

    fn add(&mut self, kind: CellKind, corners: &[Key]) {
        let table = kind.table();
        for node in table.nodes {
            let number = match table.nodes.iter().position(|other| other == node) {
                Some(k) if k < table.corners => self.node(corners[k]),
                _ => {
                    let [a, b] = ends(kind, node).map(|k| corners[k]);
                    self.middle(a, b)
                }
            };
            self.cells.connectivity.push(number);
        }
        self.cells.kinds.push(kind);
        self.cells.offsets.push(self.cells.connectivity.len() as u32);
    }

    fn node(&mut self, key: Key) -> u32 {
        let point = key.map(|k| k as f64 / (2 * self.count) as f64);
        self.insert(key, point, self.shake)
    }

    /// The node in the middle of an edge, moved by less than the ends.
    fn middle(&mut self, a: Key, b: Key) -> u32 {
        let [p, q] = [a, b].map(|key| self.node(key)).map(|k| self.points[k as usize]);
        let key = [0, 1, 2].map(|d| (a[d] + b[d]) / 2);
        self.insert(key, [0, 1, 2].map(|d| 0.5 * (p[d] + q[d])), 0.3 * self.shake)
    }

    fn insert(&mut self, key: Key, mut point: [f64; 3], shake: f64) -> u32 {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = self.points.len() as u32;
        for d in 0..3 {
            // Nodes on the faces of the box stay on them.
            if key[d] > 0 && key[d] < 2 * self.count {
                let random = 2.0 * uniform(5, u64::from(number), 0, d as u32) - 1.0;
                point[d] += shake * random / self.count as f64;
            }
        }
        self.points.push(point);
        self.numbers.insert(key, number);
        number
    }

    /// Moves all points.
    pub fn mapped(mut self, map: impl Fn([f64; 3]) -> [f64; 3]) -> Self {
        self.points = self.points.into_iter().map(map).collect();
        self
    }

    /// Shuffles the cells, and gives each its own, shuffled points.
    pub fn torn(&self, seed: u64) -> Self {
        let cells = shuffled(self.cells.len(), seed);
        let count = self.cells.connectivity.len();
        let positions = shuffled(count, seed + 1);
        let mut torn = Made {
            points: vec![[0.0; 3]; count],
            cells: Cells { offsets: vec![0], ..Cells::default() },
            numbers: HashMap::new(),
            ..*self
        };
        for cell in cells {
            for node in self.cells.nodes(cell) {
                let index = positions[torn.cells.connectivity.len()];
                torn.points[index] = self.points[*node as usize];
                torn.cells.connectivity.push(index as u32);
            }
            torn.cells.kinds.push(self.cells.kinds[cell]);
            torn.cells.offsets.push(torn.cells.connectivity.len() as u32);
        }
        torn
    }
}

/// The corners of the edge with a node in its middle.
fn ends(kind: CellKind, node: &[f64; 3]) -> [usize; 2] {
    let table = kind.table();
    for i in 0..table.corners {
        for k in 0..i {
            let (a, b) = (table.nodes[i], table.nodes[k]);
            if (0..3).all(|d| a[d] + b[d] == 2.0 * node[d]) {
                return [k, i];
            }
        }
    }
    unreachable!("every node is a corner or in the middle of an edge")
}

fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        order.swap(i, (uniform(seed, i as u64, 1, 0) * (i + 1) as f64) as usize);
    }
    order
}
