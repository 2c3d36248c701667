//! Meshes of the oracle. Boundary faces are those that only one cell has; a path leaves the mesh where it first
//! crosses one of them. The cell of a position is found by a search of all cells.

use super::{
    super::meshes::MeshFrames,
    Point, Space,
    bodies::cross_polygon,
    events::{Contact, Response},
    vectors::*,
};
use burntrace::{
    BoundaryCondition, CellKind, FrameData, FrameSource, Placement, SourceError, Status,
};
use std::collections::HashMap;

/// A velocity on a mesh of cells with plane outer faces, in a box.
#[derive(Clone, Debug)]
pub struct WalledMesh {
    pub frames: MeshFrames,
    pub wall: BoundaryCondition,
    /// The low and high corners of the domain box.
    pub corners: [Point; 2],
    faces: Vec<OuterFace>,
    /// The nodes and the bounding box of each cell.
    cells: Vec<(Vec<Point>, [Point; 2])>,
}

/// A face without a neighbouring cell.
#[derive(Clone, Debug)]
struct OuterFace {
    corners: Vec<Point>,
    /// Unit normal into the mesh.
    normal: Point,
}

/// The faces of a cell by its nodes, in VTK's order.
fn faces_of(kind: CellKind) -> &'static [&'static [usize]] {
    match kind {
        CellKind::Triangle => &[&[0, 1], &[1, 2], &[2, 0]],
        CellKind::Quad => &[&[0, 1], &[1, 2], &[2, 3], &[3, 0]],
        CellKind::Tetra => &[&[0, 1, 2], &[0, 1, 3], &[1, 2, 3], &[0, 2, 3]],
        CellKind::Hexahedron => &[
            &[0, 1, 2, 3],
            &[4, 5, 6, 7],
            &[0, 1, 5, 4],
            &[1, 2, 6, 5],
            &[2, 3, 7, 6],
            &[3, 0, 4, 7],
        ],
        _ => unreachable!("the oracle does not know {kind:?}"),
    }
}

impl WalledMesh {
    /// A mesh in a box so large that its faces do not matter.
    pub fn new(frames: MeshFrames, wall: BoundaryCondition) -> Self {
        let is_flat = matches!(frames.cells.kinds[0], CellKind::Triangle | CellKind::Quad);
        let reach = [9.0, 9.0, if is_flat { 0.0 } else { 9.0 }];
        let node = |number: &u32| frames.points[*number as usize];
        let cell = |cell: usize| {
            let nodes: Vec<Point> = frames.cells.nodes(cell).iter().map(node).collect();
            let bounds = bounding_box(&nodes);
            (nodes, bounds)
        };
        WalledMesh {
            wall,
            corners: [reach.map(|x| -x), reach],
            faces: outer_faces(&frames),
            cells: (0..frames.cells.len()).map(cell).collect(),
            frames,
        }
    }

    /// Replaces the domain box.
    pub fn within(self, low: Point, high: Point) -> Self {
        WalledMesh { corners: [low, high], ..self }
    }

    /// The cell that a position is deepest inside, or least far outside, with the weights of its nodes, and
    /// the minimum distance from its faces in parametric coordinates.
    fn locate(&self, p: Point) -> (usize, Vec<f64>, f64) {
        let mut best = (0, Vec::new(), f64::NEG_INFINITY);
        let is_near = |[low, high]: [Point; 2]| {
            (0..3).all(|d| low[d] - NEAR <= p[d] && p[d] <= high[d] + NEAR)
        };
        for (cell, (nodes, bounds)) in self.cells.iter().enumerate() {
            if !is_near(*bounds) {
                continue;
            }
            let (weights, depth) = match self.frames.cells.kinds[cell] {
                CellKind::Triangle | CellKind::Tetra => in_simplex(nodes, p),
                _ => in_product(nodes, p),
            };
            if depth > best.2 {
                best = (cell, weights, depth);
            }
        }
        best
    }
}

/// The faces that only one cell has.
fn outer_faces(frames: &MeshFrames) -> Vec<OuterFace> {
    let mut counts: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut all = Vec::new();
    for cell in 0..frames.cells.len() {
        let nodes = frames.cells.nodes(cell);
        for face in faces_of(frames.cells.kinds[cell]) {
            let numbers: Vec<u32> = face.iter().map(|k| nodes[*k]).collect();
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            *counts.entry(sorted.clone()).or_default() += 1;
            all.push((sorted, numbers, cell));
        }
    }
    let outer = all.into_iter().filter(|(sorted, ..)| counts[sorted] == 1);
    outer.map(|(_, numbers, cell)| outer_face(frames, &numbers, cell)).collect()
}

fn outer_face(frames: &MeshFrames, numbers: &[u32], cell: usize) -> OuterFace {
    let node = |number: &u32| frames.points[*number as usize];
    let mut corners: Vec<Point> = numbers.iter().map(node).collect();
    if let [a, b] = corners[..] {
        // An edge stands for the strip above and below it.
        let up = [0.0, 0.0, 1.0];
        corners = vec![minus(a, up), minus(b, up), plus(b, up), plus(a, up)];
    }
    let normal = unit(cross(minus(corners[1], corners[0]), minus(corners[2], corners[0])));
    let nodes: Vec<Point> = frames.cells.nodes(cell).iter().map(node).collect();
    let inside = dot(normal, minus(mean(&nodes), corners[0]));
    OuterFace { corners, normal: scaled(normal, inside.signum()) }
}

fn mean(points: &[Point]) -> Point {
    scaled(points.iter().fold([0.0; 3], |sum, p| plus(sum, *p)), 1.0 / points.len() as f64)
}

fn bounding_box(nodes: &[Point]) -> [Point; 2] {
    let of = |choose: fn(f64, f64) -> f64| {
        let together = |a: Point, b: &Point| std::array::from_fn(|d| choose(a[d], b[d]));
        nodes.iter().fold(nodes[0], together)
    };
    [of(f64::min), of(f64::max)]
}

/// Positions further outside a cell than this are in another cell or outside the mesh: more than the rounding
/// of a contact, and less than a cell.
const NEAR: f64 = 1e-6;

/// Barycentric weights by areas or volumes, and the least of them.
fn in_simplex(nodes: &[Point], p: Point) -> (Vec<f64>, f64) {
    let size = |nodes: &[Point]| match nodes {
        [a, b, c] => cross(minus(*b, *a), minus(*c, *a))[2],
        [a, b, c, d] => dot(minus(*b, *a), cross(minus(*c, *a), minus(*d, *a))),
        _ => unreachable!("a simplex has three or four nodes"),
    };
    let whole = size(nodes);
    let weight = |k: usize| {
        let mut nodes = nodes.to_vec();
        nodes[k] = p;
        size(&nodes) / whole
    };
    let weights: Vec<f64> = (0..nodes.len()).map(weight).collect();
    let depth = weights.iter().copied().fold(f64::INFINITY, f64::min);
    (weights, depth)
}

/// Corners of the unit square or cube, in VTK's order.
const CORNERS: [Point; 8] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [1.0, 1.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 1.0],
    [1.0, 1.0, 1.0],
    [0.0, 1.0, 1.0],
];

/// Weights in a quadrilateral or hexahedron, whose parametric coordinates are found by Newton's method, and
/// the minimum distance from a face in these coordinates.
fn in_product(nodes: &[Point], p: Point) -> (Vec<f64>, f64) {
    let axes = if nodes.len() == 4 { 2 } else { 3 };
    let weights = |at: Point| -> Vec<f64> {
        let factor = |corner: Point, d: usize| if corner[d] == 1.0 { at[d] } else { 1.0 - at[d] };
        let weight = |corner: &Point| (0..axes).map(|d| factor(*corner, d)).product();
        CORNERS[..nodes.len()].iter().map(weight).collect()
    };
    let position = |at: Point| {
        let parts = weights(at).into_iter().zip(nodes).map(|(weight, node)| scaled(*node, weight));
        parts.fold([0.0; 3], plus)
    };
    let mut at: Point = [0.5, 0.5, if axes == 3 { 0.5 } else { 0.0 }];
    for _ in 0..12 {
        // The position is linear in each coordinate, so differences over a unit are derivatives.
        let column = |d: usize| {
            if d >= axes {
                return [0.0, 0.0, 1.0];
            }
            let (mut high, mut low) = (at, at);
            (high[d], low[d]) = (1.0, 0.0);
            minus(position(high), position(low))
        };
        let (a, b, c) = (column(0), column(1), column(2));
        let rest = minus(p, position(at));
        let volume = dot(a, cross(b, c));
        let steps = [dot(rest, cross(b, c)), dot(rest, cross(c, a)), dot(rest, cross(a, b))];
        (0..axes).for_each(|d| at[d] += steps[d] / volume);
        if (0..axes).all(|d| (steps[d] / volume).abs() < 1e-15) {
            break;
        }
    }
    let depth = (0..axes).map(|d| at[d].min(1.0 - at[d])).fold(f64::INFINITY, f64::min);
    (weights(at), if depth.is_nan() { f64::NEG_INFINITY } else { depth })
}

/// Positions at most so far outside a cell, in parametric coordinates, count as in it: rounding.
const ROUNDING: f64 = 1e-13;

impl Space for WalledMesh {
    fn corners(&self) -> [Point; 2] {
        self.corners
    }

    fn in_frame(&self, frame: usize, p: Point) -> Point {
        let (cell, weights, _) = self.locate(p);
        let values = &self.frames.values[frame];
        let value = |k: usize| std::array::from_fn(|d| values[3 * k + d]);
        if self.frames.placement == Placement::Cells {
            return value(cell);
        }
        let nodes = self.frames.cells.nodes(cell);
        let parts = weights.iter().zip(nodes).map(|(w, node)| scaled(value(*node as usize), *w));
        parts.fold([0.0; 3], plus)
    }

    fn has_walls(&self) -> bool {
        true
    }

    fn first_wall(&self, from: Point, to: Point) -> Option<Contact> {
        let crossing = |face: &OuterFace| {
            Some((cross_polygon(&face.corners, face.normal, from, to)?, face.normal))
        };
        let crossings = self.faces.iter().filter_map(crossing);
        let (fraction, normal) = crossings.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let response = Response::of(self.wall, Status::LeftMesh);
        Some(Contact { fraction, normal, response })
    }

    fn contains(&self, p: Point) -> bool {
        self.locate(p).2 >= -ROUNDING
    }
}

impl FrameSource for WalledMesh {
    fn times(&self) -> &[f64] {
        self.frames.times()
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        self.frames.read(frame)
    }
}
