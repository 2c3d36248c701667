//! Triangles in a box, with longitudes that are continuous in each of them, once around the earth.

use super::topology::Topology;
use crate::axis::UnitCheck;
use crate::degrees::{CIRCLE, widest_gap};
use crate::model::MeshRequest;
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
    /// Whether each triangle of the topology is left out: around a pole, or outside of the box.
    pub is_left_out: Vec<bool>,
    /// The start of the turn of longitudes, of cells around the earth.
    pub global: Option<f64>,
}

/// A triangle with the continuous longitudes, or x, of its corners.
struct Triangle {
    number: usize,
    x: [f64; 3],
}

impl Columns {
    /// The columns of a horizontal mesh that touch the box of the request.
    pub fn of(topology: &Topology, request: &MeshRequest, units: &mut UnitCheck) -> Columns {
        let mut columns =
            Columns { is_left_out: vec![true; topology.triangles.len()], ..Columns::default() };
        let (mut kept, mut polar) = (Vec::new(), 0);
        for number in 0..topology.triangles.len() {
            let triangle = topology.triangle(number);
            match triangle {
                None => polar += 1,
                Some(triangle) if topology.touches(&triangle, request.crop) => {
                    columns.is_left_out[number] = false;
                    kept.push(triangle);
                }
                Some(_) => {}
            }
        }
        if polar > 0 {
            units.notes.push(format!("{polar} triangles around a pole are left out"));
        }
        let ends = request.crop.map(|end| end.is_some_and(|end| end[2].is_finite()));
        if ends.contains(&true) {
            units.notes.push(
                "layers are not cropped: the mesh has all between the bottom and the surface"
                    .into(),
            );
        }
        let start = topology.is_in_degrees.then(|| window(topology, &kept, request.west));
        columns.global = start.and_then(|(_, global)| global);
        columns.add(topology, &kept, start.map(|(start, _)| start));
        columns
    }

    /// Adds triangles, in the turn from a start.
    fn add(&mut self, topology: &Topology, triangles: &[Triangle], start: Option<f64>) {
        let mut known = HashMap::new();
        for Triangle { number, x } in triangles {
            let copies = match start {
                Some(start) => inside(*x, start),
                None => vec![*x],
            };
            for x in copies {
                let mut corners = [0; 3];
                for (corner, node) in topology.triangles[*number].into_iter().enumerate() {
                    let [own, y] = topology.nodes[node as usize];
                    let turns = ((x[corner] - own) / CIRCLE).round();
                    let turns = if topology.is_in_degrees { turns } else { 0.0 };
                    corners[corner] = *known.entry((node, turns as i32)).or_insert_with(|| {
                        self.at.push([own + CIRCLE * turns, y]);
                        self.nodes.push(node);
                        self.nodes.len() as u32 - 1
                    });
                }
                self.corners.push(corners);
                self.triangles.push(*number as u32);
            }
        }
    }
}

impl Topology {
    /// A triangle with longitudes that continue from its first corner; `None` if they go around the earth, or a corner is
    /// at a pole.
    fn triangle(&self, number: usize) -> Option<Triangle> {
        let nodes = self.triangles[number].map(|node| self.nodes[node as usize]);
        let mut x = nodes.map(|[x, _]| x);
        if !self.is_in_degrees {
            return Some(Triangle { number, x });
        }
        let step = |from: f64, to: f64| (to - from) - CIRCLE * ((to - from) / CIRCLE).round();
        x[1] = x[0] + step(x[0], x[1]);
        x[2] = x[1] + step(x[1], x[2]);
        let closing = x[2] + step(x[2], x[0]) - x[0];
        let has_pole = nodes.iter().any(|[_, y]| y.abs() > 90.0 - ROUNDING);
        (!has_pole && closing.abs() < 180.0).then_some(Triangle { number, x })
    }

    /// Whether a triangle touches a box, of which longitudes may be in any turn.
    fn touches(&self, triangle: &Triangle, [low, high]: [Option<[f64; 3]>; 2]) -> bool {
        let low = low.map_or([f64::NEG_INFINITY; 2], |low| [low[0], low[1]]);
        let high = high.map_or([f64::INFINITY; 2], |high| [high[0], high[1]]);
        let y = self.triangles[triangle.number].map(|node| self.nodes[node as usize][1]);
        let ([west, east], [south, north]) = (ends(triangle.x), ends(y));
        let touches_x = match self.is_in_degrees {
            // Some turn of the triangle ends after the start of the box, and starts before its end.
            true if low[0].is_finite() && high[0].is_finite() => {
                ((low[0] - east) / CIRCLE).ceil() <= ((high[0] - west) / CIRCLE).floor()
            }
            _ => east >= low[0] && west <= high[0],
        };
        touches_x && north >= low[1] && south <= high[1]
    }
}

/// The start of a turn of longitudes that contains all triangles, or else, of triangles around the earth, of one that
/// cuts some of them.
fn window(topology: &Topology, triangles: &[Triangle], west: Option<f64>) -> (f64, Option<f64>) {
    let nodes = triangles.iter().flat_map(|triangle| topology.triangles[triangle.number]);
    let mut nodes: Vec<u32> = nodes.collect();
    nodes.sort_unstable();
    nodes.dedup();
    let own: Vec<f64> = nodes.into_iter().map(|node| topology.nodes[node as usize][0]).collect();
    let gap = widest_gap(own.iter().copied());
    let turns = |x: f64| ((x - gap) / CIRCLE).floor();
    let crosses = |triangle: &Triangle| {
        let [low, high] = ends(triangle.x);
        turns(low + ROUNDING) != turns(high - ROUNDING)
    };
    if !triangles.iter().any(crosses) {
        // As in the file at its first node.
        return (gap + CIRCLE * turns(own.first().copied().unwrap_or(0.0)), None);
    }
    let is_positive = own.iter().all(|x| *x >= -ROUNDING);
    let start = west.unwrap_or(if is_positive { 0.0 } else { -180.0 });
    (start, Some(start))
}

fn ends(x: [f64; 3]) -> [f64; 2] {
    [x.into_iter().fold(f64::INFINITY, f64::min), x.into_iter().fold(f64::NEG_INFINITY, f64::max)]
}

/// The longitudes of a triangle in the turn from `start`: twice if an end of the turn cuts it.
fn inside(x: [f64; 3], start: f64) -> Vec<[f64; 3]> {
    let [low, high] = ends(x);
    let first = ((start + ROUNDING - high) / CIRCLE).ceil();
    let last = ((start + CIRCLE - ROUNDING - low) / CIRCLE).floor();
    (first as i32..=last as i32).map(|turns| x.map(|x| x + CIRCLE * f64::from(turns))).collect()
}
