//! A bounding volume hierarchy of triangles: which is the nearest one to a point, and which can be it in a box.

use super::{
    cells::MAX_BESIDE,
    facet::{Facet, larger},
    rivals::Rivals,
};
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

/// The triangles that can be near to the points of a box.
pub(super) enum Around<'a> {
    Tree(&'a Tree<'a>),
    List(&'a [[f64; 3]], Vec<u32>),
}

impl Around<'_> {
    /// The nearest triangle and its distance, starting from a guess.
    pub fn nearest(&self, p: &[f64; 3], guess: u32) -> (u32, f64) {
        match self {
            Around::Tree(tree) => tree.nearest(p, guess),
            Around::List(rows, list) => {
                let square = Facet::of(rows, guess as usize).squared_distance(p);
                let (nearest, square) = nearer(rows, list, p, (guess, square));
                (nearest, square.sqrt())
            }
        }
    }

    /// The triangles that can be the nearest ones in a box, sorted; `None` if there are more than `limit`.
    pub fn admitted(&self, rivals: &Rivals, limit: usize) -> Option<Vec<u32>> {
        match self {
            Around::Tree(tree) => tree.admitted(rivals, limit),
            Around::List(rows, list) => {
                let mut found = Vec::with_capacity(list.len());
                let admit = |i: &&u32| rivals.admit_facet(&Facet::of(rows, **i as usize));
                found.extend(list.iter().filter(admit));
                (found.len() <= limit).then_some(found)
            }
        }
    }
}

/// The nearest one of some triangles, if it is nearer than the best so far, with its squared distance.
fn nearer(rows: &[[f64; 3]], triangles: &[u32], p: &[f64; 3], mut best: (u32, f64)) -> (u32, f64) {
    for i in triangles {
        let facet = Facet::of(rows, *i as usize);
        let [x, y, z] = facet.local(p);
        if facet.at_least(x, y, z) < best.1 {
            let square = facet.squared_distance_of(x, y, z);
            if square < best.1 {
                best = (*i, square);
            }
        }
    }
    best
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
        let mut open = Open::new((0.0, 0));
        while let Some((bound, at)) = open.pop() {
            if bound >= best.1 {
                continue;
            }
            let node = &self.nodes[at];
            let Some(second) = node.second else {
                let triangles = &self.order[node.first..node.first + node.count];
                best = nearer(&self.rows, triangles, p, best);
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

    /// The triangles that can be the nearest ones in a box, sorted; `None` if there are more than `limit`.
    pub fn admitted(&self, rivals: &Rivals, limit: usize) -> Option<Vec<u32>> {
        let mut found = Vec::with_capacity(limit.min(MAX_BESIDE));
        let mut open = Open::new(0);
        while let Some(at) = open.pop() {
            let node = &self.nodes[at];
            if !rivals.admit_box(&node.low, &node.high) {
                continue;
            }
            if let Some(second) = node.second {
                open.push(second);
                open.push(at + 1);
                continue;
            }
            for triangle in &self.order[node.first..node.first + node.count] {
                if rivals.admit_facet(&Facet::of(&self.rows, *triangle as usize)) {
                    if found.len() == limit {
                        return None;
                    }
                    found.push(*triangle);
                }
            }
        }
        found.sort_unstable();
        Some(found)
    }
}

/// Nodes that a search has not visited, at most two for each level of the tree.
struct Open<T> {
    nodes: [T; 64],
    count: usize,
}

impl<T: Copy> Open<T> {
    fn new(root: T) -> Self {
        Open { nodes: [root; 64], count: 1 }
    }

    fn push(&mut self, node: T) {
        self.nodes[self.count] = node;
        self.count += 1;
    }

    fn pop(&mut self) -> Option<T> {
        self.count = self.count.checked_sub(1)?;
        Some(self.nodes[self.count])
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
        let beyond =
            [0, 1, 2].map(|d| larger(larger(self.low[d] - p[d], p[d] - self.high[d]), 0.0));
        beyond.iter().map(|x| x * x).sum()
    }
}
