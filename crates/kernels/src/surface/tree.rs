//! A bounding volume hierarchy of triangles, for nearest and range queries.

use super::facet::Facet;
use crate::physics::facet::FACET_ROWS;
use std::borrow::Cow;

/// Triangles in a leaf.
const LEAF: usize = 4;
/// Triangles that a thread sorts alone.
const ALONE: usize = 8192;

#[derive(Debug)]
struct Node {
    low: [f64; 3],
    high: [f64; 3],
    /// Its range of triangles in the order.
    first: usize,
    count: usize,
    /// Its second child; the first one is the next node. `None` for a leaf.
    second: Option<usize>,
}

/// Triangles sorted by position.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    rows: Cow<'a, [[f64; 3]]>,
    nodes: Vec<Node>,
    order: Vec<u32>,
}

/// The box of each triangle.
type Boxes<'a> = &'a [[[f64; 3]; 2]];

impl<'a> Tree<'a> {
    pub fn new(rows: impl Into<Cow<'a, [[f64; 3]]>>, boxes: Boxes) -> Self {
        let rows = rows.into();
        let mut order = (0..(rows.len() / FACET_ROWS) as u32).collect::<Vec<_>>();
        let nodes = grown(boxes, &mut order, 0);
        Tree { rows, nodes, order }
    }

    fn squared_distance(&self, p: &[f64; 3], triangle: u32) -> f64 {
        Facet::of(&self.rows, triangle as usize).squared_distance(p)
    }

    /// The nearest triangle and its distance, starting from a guess.
    pub fn nearest(&self, p: &[f64; 3], guess: u32) -> (u32, f64) {
        let mut best = (guess, self.squared_distance(p, guess));
        let mut open = vec![(0.0, 0)];
        while let Some((bound, at)) = open.pop() {
            if bound >= best.1 {
                continue;
            }
            let node = &self.nodes[at];
            let Some(second) = node.second else {
                for i in &self.order[node.first..node.first + node.count] {
                    let square = self.squared_distance(p, *i);
                    if square < best.1 {
                        best = (*i, square);
                    }
                }
                continue;
            };
            let children =
                [at + 1, second].map(|child| (self.nodes[child].squared_distance(p), child));
            let is_first_nearer = children[0].0 < children[1].0;
            open.push(children[usize::from(is_first_nearer)]);
            open.push(children[usize::from(!is_first_nearer)]);
        }
        (best.0, best.1.sqrt())
    }

    /// The triangles whose boxes are within a distance, sorted.
    pub fn within(&self, p: &[f64; 3], distance: f64) -> Vec<u32> {
        let bound = distance * distance;
        let mut found = Vec::new();
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            let node = &self.nodes[at];
            if node.squared_distance(p) > bound {
                continue;
            }
            if let Some(second) = node.second {
                open.extend([second, at + 1]);
                continue;
            }
            found.extend(&self.order[node.first..node.first + node.count]);
        }
        found.sort_unstable();
        found
    }
}

/// Appends the nodes of some triangles, and sorts these; `first` triangles are before them in the order.
fn grow(nodes: &mut Vec<Node>, boxes: Boxes, order: &mut [u32], first: usize) {
    let (mut low, mut high) = ([f64::MAX; 3], [f64::MIN; 3]);
    for i in &*order {
        let [below, above] = boxes[*i as usize];
        for d in 0..3 {
            low[d] = low[d].min(below[d]);
            high[d] = high[d].max(above[d]);
        }
    }
    let (node, count) = (nodes.len(), order.len());
    nodes.push(Node { low, high, first, count, second: None });
    if count <= LEAF {
        return;
    }
    let widths = [0, 1, 2].map(|d| high[d] - low[d]);
    let axis = (0..3).max_by(|a, b| widths[*a].total_cmp(&widths[*b])).unwrap_or(0);
    let middle = |i: &u32| boxes[*i as usize][0][axis] + boxes[*i as usize][1][axis];
    let half = count / 2;
    order.select_nth_unstable_by(half, |a, b| middle(a).total_cmp(&middle(b)));
    let (left, right) = order.split_at_mut(half);
    if count <= ALONE {
        grow(nodes, boxes, left, first);
        nodes[node].second = Some(nodes.len());
        return grow(nodes, boxes, right, first + half);
    }
    let (left, right) =
        rayon::join(|| grown(boxes, left, first), || grown(boxes, right, first + half));
    append(nodes, left);
    nodes[node].second = Some(nodes.len());
    append(nodes, right);
}

/// The nodes of some triangles, counted from 0.
fn grown(boxes: Boxes, order: &mut [u32], first: usize) -> Vec<Node> {
    let mut nodes = Vec::new();
    grow(&mut nodes, boxes, order, first);
    nodes
}

/// Appends nodes that are counted from 0.
fn append(nodes: &mut Vec<Node>, more: Vec<Node>) {
    let before = nodes.len();
    let moved = |node: Node| Node { second: node.second.map(|second| second + before), ..node };
    nodes.extend(more.into_iter().map(moved));
}

impl Node {
    fn squared_distance(&self, p: &[f64; 3]) -> f64 {
        let beyond = [0, 1, 2].map(|d| (self.low[d] - p[d]).max(p[d] - self.high[d]).max(0.0));
        beyond.iter().map(|x| x * x).sum()
    }
}
