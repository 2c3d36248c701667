//! Triangles with longitudes that are continuous in each of them, once around the earth.

use super::topology::Topology;
use crate::axis::UnitCheck;
use crate::degrees::{CIRCLE, widest_gap};
use std::collections::HashMap;

/// Rounding of degrees in single precision.
const ROUNDING: f64 = 1e-4;

/// Columns of points and of cells.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// Horizontal positions of the columns of points.
    pub at: Vec<[f64; 2]>,
    /// The node of each column of points.
    pub nodes: Vec<u32>,
    /// The columns of points of each column of cells.
    pub corners: Vec<[u32; 3]>,
    /// The triangle of each column of cells.
    pub triangles: Vec<u32>,
    /// Whether each triangle of the topology is left out, because it is around a pole.
    pub is_polar: Vec<bool>,
    /// The start of the turn of longitudes, of cells around the earth.
    pub global: Option<f64>,
}

/// A triangle with continuous longitudes.
struct Triangle {
    x: [f64; 3],
    is_polar: bool,
}

impl Columns {
    /// The columns of a horizontal mesh. `west`: where a turn of longitudes begins.
    pub fn of(topology: &Topology, west: Option<f64>, units: &mut UnitCheck) -> Columns {
        let count = topology.triangles.len();
        if !topology.is_in_degrees {
            return Columns {
                at: topology.nodes.clone(),
                nodes: (0..topology.nodes.len() as u32).collect(),
                corners: topology.triangles.clone(),
                triangles: (0..count as u32).collect(),
                is_polar: vec![false; count],
                global: None,
            };
        }
        let triangles: Vec<Triangle> =
            topology.triangles.iter().map(|of| continuous(topology, *of)).collect();
        let is_polar: Vec<bool> = triangles.iter().map(|of| of.is_polar).collect();
        let (start, global) = window(topology, &triangles, west);
        let mut columns = Columns { is_polar, global, ..Columns::default() };
        let mut known = HashMap::new();
        for (number, triangle) in triangles.iter().enumerate().filter(|(_, of)| !of.is_polar) {
            for x in inside(triangle.x, start) {
                let mut corners = [0; 3];
                for (corner, node) in topology.triangles[number].into_iter().enumerate() {
                    let [own, y] = topology.nodes[node as usize];
                    let turns = ((x[corner] - own) / CIRCLE).round();
                    corners[corner] = *known.entry((node, turns as i32)).or_insert_with(|| {
                        columns.at.push([own + CIRCLE * turns, y]);
                        columns.nodes.push(node);
                        columns.nodes.len() as u32 - 1
                    });
                }
                columns.corners.push(corners);
                columns.triangles.push(number as u32);
            }
        }
        let polar = columns.is_polar.iter().filter(|is_polar| **is_polar).count();
        if polar > 0 {
            units.notes.push(format!("{polar} triangles around a pole are left out"));
        }
        columns
    }
}

/// The longitudes of a triangle from its first corner on; it is polar if they go around the earth, or a corner is at
/// a pole.
fn continuous(topology: &Topology, corners: [u32; 3]) -> Triangle {
    let nodes = corners.map(|node| topology.nodes[node as usize]);
    let step = |from: f64, to: f64| (to - from) - CIRCLE * ((to - from) / CIRCLE).round();
    let mut x = nodes.map(|[x, _]| x);
    x[1] = x[0] + step(x[0], x[1]);
    x[2] = x[1] + step(x[1], x[2]);
    let closing = x[2] + step(x[2], x[0]) - x[0];
    let has_pole = nodes.iter().any(|[_, y]| y.abs() > 90.0 - ROUNDING);
    Triangle { x, is_polar: has_pole || closing.abs() > 180.0 }
}

/// The start of a turn of longitudes that contains all triangles, or else, of triangles around the earth, of one that
/// cuts some of them.
fn window(topology: &Topology, triangles: &[Triangle], west: Option<f64>) -> (f64, Option<f64>) {
    let gap = widest_gap(topology.nodes.iter().map(|[x, _]| *x));
    let turns = |x: f64| ((x - gap) / CIRCLE).floor();
    let crosses = |of: &Triangle| {
        let [low, high] = ends(of.x);
        of.is_polar || turns(low + ROUNDING) != turns(high - ROUNDING)
    };
    if !triangles.iter().any(crosses) {
        // As in the file at its first node.
        let first = topology.nodes.first().map_or(0.0, |[x, _]| *x);
        return (gap + CIRCLE * turns(first), None);
    }
    let is_positive = topology.nodes.iter().all(|[x, _]| *x >= -ROUNDING);
    let start = west.unwrap_or(if is_positive { 0.0 } else { -180.0 });
    (start, Some(start))
}

fn ends(x: [f64; 3]) -> [f64; 2] {
    [x.into_iter().fold(f64::INFINITY, f64::min), x.into_iter().fold(f64::NEG_INFINITY, f64::max)]
}

/// The longitudes of a triangle in the turn from `start`: twice if an end of the turn cuts it.
fn inside(x: [f64; 3], start: f64) -> impl Iterator<Item = [f64; 3]> {
    let [low, high] = ends(x);
    let first = ((start + ROUNDING - high) / CIRCLE).ceil();
    let last = ((start + CIRCLE - ROUNDING - low) / CIRCLE).floor();
    (first as i32..=last as i32).map(move |turns| x.map(|x| x + CIRCLE * f64::from(turns)))
}
