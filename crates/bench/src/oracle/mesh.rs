//! Meshes of the oracle. Boundary faces are those that only one cell has; a path leaves the mesh where it first
//! crosses one of them. The cell of a position is found by a search of all cells.

use super::{
    Point, Space,
    bodies::cross_polygon,
    events::{Contact, Response},
    vectors::*,
};
use burntrace::{
    BoundaryCondition, CellKind, Floats, FrameData, FrameSource, MeshSource, Placement,
    SourceError, Status, mesh::Cells,
};
use std::collections::HashMap;

/// A velocity on a mesh of cells with plane outer faces, in a box.
#[derive(Clone, Debug)]
pub struct WalledMesh<M> {
    pub frames: M,
    pub wall: BoundaryCondition,
    /// The low and high corners of the domain box.
    pub corners: [Point; 2],
    faces: Vec<OuterFace>,
    /// The nodes and the bounding box of each cell.
    cells: Vec<(Vec<Point>, [Point; 2])>,
    /// `u, v, w` of each point or cell, one vector for each frame.
    values: Vec<Vec<f64>>,
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

impl<M: MeshSource> WalledMesh<M> {
    /// A mesh in a box so large that its faces do not matter.
    ///
    /// # Panics
    ///
    /// If a frame cannot be read.
    pub fn new(mut frames: M, wall: BoundaryCondition) -> Self {
        let values = (0..frames.times().len()).map(|frame| {
            let read = frames.read(frame).expect("frames in memory");
            match read.velocity {
                Floats::F32(values) => values.into_iter().map(f64::from).collect(),
                Floats::F64(values) => values,
            }
        });
        let values = values.collect();
        let (points, mesh) = (frames.points(), frames.cells());
        let is_flat = matches!(mesh.kinds[0], CellKind::Triangle | CellKind::Quad);
        let reach = [9.0, 9.0, if is_flat { 0.0 } else { 9.0 }];
        let cell = |cell: usize| {
            let nodes: Vec<Point> =
                mesh.nodes(cell).iter().map(|node| points[*node as usize]).collect();
            let bounds = bounding_box(&nodes);
            (nodes, bounds)
        };
        WalledMesh {
            wall,
            corners: [reach.map(|x| -x), reach],
            faces: outer_faces(points, mesh),
            cells: (0..mesh.len()).map(cell).collect(),
            values,
            frames,
        }
    }

    /// Replaces the domain box.
    pub fn within(self, low: Point, high: Point) -> Self {
        WalledMesh { corners: [low, high], ..self }
    }

    /// The cell that a position is deepest inside, or least far outside, with the weights of its nodes, and
    /// the minimum distance from its faces in parametric coordinates.
    fn locate(&self, p: Point) -> (usize, NodeWeights, f64) {
        let mut best = (0, [f64::NAN; 8], f64::NEG_INFINITY);
        let is_near = |[low, high]: [Point; 2]| {
            (0..3).all(|d| low[d] - NEAR <= p[d] && p[d] <= high[d] + NEAR)
        };
        for (cell, (nodes, bounds)) in self.cells.iter().enumerate() {
            if !is_near(*bounds) {
                continue;
            }
            let (weights, depth) = match self.frames.cells().kinds[cell] {
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
fn outer_faces(points: &[Point], mesh: &Cells) -> Vec<OuterFace> {
    let mut counts: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut all = Vec::new();
    for cell in 0..mesh.len() {
        let nodes = mesh.nodes(cell);
        for face in faces_of(mesh.kinds[cell]) {
            let numbers: Vec<u32> = face.iter().map(|k| nodes[*k]).collect();
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            *counts.entry(sorted.clone()).or_default() += 1;
            all.push((sorted, numbers, cell));
        }
    }
    let outer = all.into_iter().filter(|(sorted, ..)| counts[sorted] == 1);
    outer.map(|(_, numbers, cell)| outer_face(points, &numbers, mesh.nodes(cell))).collect()
}

fn outer_face(points: &[Point], numbers: &[u32], cell: &[u32]) -> OuterFace {
    let node = |number: &u32| points[*number as usize];
    let mut corners: Vec<Point> = numbers.iter().map(node).collect();
    if let [a, b] = corners[..] {
        // An edge stands for the strip above and below it.
        let up = [0.0, 0.0, 1.0];
        corners = vec![minus(a, up), minus(b, up), plus(b, up), plus(a, up)];
    }
    let normal = unit(cross(minus(corners[1], corners[0]), minus(corners[2], corners[0])));
    let nodes: Vec<Point> = cell.iter().map(node).collect();
    let inside = dot(normal, minus(mean(&nodes), corners[0]));
    OuterFace { corners, normal: scaled(normal, inside.signum()) }
}

fn mean(points: &[Point]) -> Point {
    scaled(points.iter().fold([0.0; 3], |sum, p| plus(sum, *p)), 1.0 / points.len() as f64)
}

pub fn bounding_box(nodes: &[Point]) -> [Point; 2] {
    let of = |choose: fn(f64, f64) -> f64| {
        let together = |a: Point, b: &Point| std::array::from_fn(|d| choose(a[d], b[d]));
        nodes.iter().fold(nodes[0], together)
    };
    [of(f64::min), of(f64::max)]
}

/// Positions further outside a cell than this are in another cell or outside the mesh: more than the rounding
/// of a contact, and less than a cell.
const NEAR: f64 = 1e-6;

/// The weights of up to eight nodes.
pub type NodeWeights = [f64; 8];

/// Barycentric weights by areas or volumes, and the least of them.
pub fn in_simplex(nodes: &[Point], p: Point) -> (NodeWeights, f64) {
    let size = |replaced: usize| {
        let node = |k: usize| if k == replaced { p } else { nodes[k] };
        let [a, b, c] = [node(0), node(1), node(2)];
        match nodes.len() {
            3 => cross(minus(b, a), minus(c, a))[2],
            _ => dot(minus(b, a), cross(minus(c, a), minus(node(3), a))),
        }
    };
    let whole = size(usize::MAX);
    let mut weights = [0.0; 8];
    (0..nodes.len()).for_each(|k| weights[k] = size(k) / whole);
    let depth = weights[..nodes.len()].iter().copied().fold(f64::INFINITY, f64::min);
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

/// Weights in a quadrilateral or hexahedron, and the minimum distance from a face in parametric coordinates; negative
/// infinity if these are not found.
pub fn in_product(nodes: &[Point], p: Point) -> (NodeWeights, f64) {
    let axes = if nodes.len() == 4 { 2 } else { 3 };
    let start: Point = [0.5, 0.5, if axes == 3 { 0.5 } else { 0.0 }];
    let weights = |at: Point| product_weights(at, axes);
    let depth = |at: Point| (0..axes).map(|d| at[d].min(1.0 - at[d])).fold(f64::INFINITY, f64::min);
    newton(nodes, p, (start, axes), weights, depth)
}

/// As [`in_product`], in a wedge.
pub fn in_wedge(nodes: &[Point; 6], p: Point) -> (NodeWeights, f64) {
    let depth = |[r, s, t]: Point| r.min(s).min(1.0 - r - s).min(t.min(1.0 - t));
    newton(nodes, p, ([1.0 / 3.0, 1.0 / 3.0, 0.5], 3), wedge_weights, depth)
}

/// The weights of nodes where they give a position, found by Newton's method from a start on, and a function of the
/// parametric coordinates there.
fn newton(
    nodes: &[Point],
    p: Point,
    (mut at, axes): (Point, usize),
    weights: impl Fn(Point) -> [[f64; 4]; 8],
    depth: impl Fn(Point) -> f64,
) -> (NodeWeights, f64) {
    for _ in 0..20 {
        // The position and its derivatives.
        let mut jet = [[0.0; 3]; 4];
        for (node, weights) in nodes.iter().zip(weights(at)) {
            for (sum, weight) in jet.iter_mut().zip(weights) {
                (0..3).for_each(|d| sum[d] += weight * node[d]);
            }
        }
        let [position, a, b, c] = jet;
        let c = if axes == 3 { c } else { [0.0, 0.0, 1.0] };
        let rest = minus(p, position);
        let volume = dot(a, cross(b, c));
        let steps = [dot(rest, cross(b, c)), dot(rest, cross(c, a)), dot(rest, cross(a, b))];
        (0..axes).for_each(|d| at[d] += steps[d] / volume);
        // The error is about the square of the last step.
        if (0..axes).all(|d| (steps[d] / volume).abs() < 1e-9) {
            return (weights(at).map(|[weight, ..]| weight), depth(at));
        }
    }
    ([f64::NAN; 8], f64::NEG_INFINITY)
}

/// The weights of the nodes of a wedge: of a triangle in r and s, times those along t.
fn wedge_weights([r, s, t]: Point) -> [[f64; 4]; 8] {
    let triangle = [[1.0 - r - s, -1.0, -1.0], [r, 1.0, 0.0], [s, 0.0, 1.0]];
    let along = [(1.0 - t, -1.0), (t, 1.0)];
    let mut weights = [[0.0; 4]; 8];
    for (k, weight) in weights[..6].iter_mut().enumerate() {
        let ([value, by_r, by_s], (t, by_t)) = (triangle[k % 3], along[k / 3]);
        *weight = [value * t, by_r * t, by_s * t, value * by_t];
    }
    weights
}

/// The weight of each node at parametric coordinates, and its derivatives.
fn product_weights(at: Point, axes: usize) -> [[f64; 4]; 8] {
    CORNERS.map(|corner| {
        let side = |d: usize| match corner[d] == 1.0 {
            _ if d >= axes => (1.0, 0.0),
            true => (at[d], 1.0),
            false => (1.0 - at[d], -1.0),
        };
        let [(r, dr), (s, ds), (t, dt)] = [0, 1, 2].map(side);
        [r * s * t, dr * s * t, r * ds * t, r * s * dt]
    })
}

/// Positions at most so far outside a cell, in parametric coordinates, count as in it: rounding.
const ROUNDING: f64 = 1e-13;

impl<M: MeshSource> Space for WalledMesh<M> {
    fn corners(&self) -> [Point; 2] {
        self.corners
    }

    fn in_frame(&self, frame: usize, p: Point) -> Point {
        let (cell, weights, _) = self.locate(p);
        let values = &self.values[frame];
        let value = |k: usize| std::array::from_fn(|d| values[3 * k + d]);
        if self.frames.placement() == Placement::Cells {
            return value(cell);
        }
        let nodes = self.frames.cells().nodes(cell);
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

impl<M: MeshSource> FrameSource for WalledMesh<M> {
    fn times(&self) -> &[f64] {
        self.frames.times()
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        self.frames.read(frame)
    }
}
