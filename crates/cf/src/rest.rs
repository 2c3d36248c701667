//! Velocities in seas whose levels move with the surface, as those in the sea at rest.
//!
//! Where the surface is at `zeta` and the sea is `h` deep at rest, what is at the height `z0` at rest is at
//! `z = z0 + zeta (1 + z0 / h)`: CF conventions 1.11, appendix D, for sigma and for s coordinates g1 and g2. A mesh is that of the sea at rest,
//! and its heights are `z0`. With `s = z0 / h` and `a = 1 + zeta / h`, the chain rule gives for a velocity `w` upward
//!
//! ```text
//! dz0/dt = (w - (1 + s) (d zeta/dt + u . grad zeta) + s (zeta / h) u . grad h) / a
//! ```
//!
//! and for a velocity `omega` through the levels, which are at `z0(h)`,
//!
//! ```text
//! dz0/dt = omega / a + (d z0/d h) u . grad h
//! ```
//!
//! Nothing flows through the surface.

use crate::Result;
use crate::axis::UnitCheck;
use crate::degrees::CIRCLE;
use crate::gather::{Gather, Weights};
use crate::mesh::{CellShape, CfMesh, MeshPlacement, NONE};
use crate::store::{Store, Variable};
use crate::values::Values;
use std::collections::HashMap;

/// What the vertical velocity of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upward {
    /// Upward.
    Velocity,
    /// Through the levels; 0 without a variable.
    ThroughLevels,
}

/// The variable of the velocity through levels, by its name in ROMS.
pub(crate) const OMEGA: &str = "omega";

/// Whether a variable is the velocity through levels that follow the bottom.
pub(crate) fn is_omega(variable: &Variable) -> bool {
    let standard = variable.text("standard_name").unwrap_or_default();
    variable.name == OMEGA || standard.contains("sigma_coordinate_velocity")
}

impl UnitCheck {
    /// Notes how vertical velocities become those in the sea at rest.
    pub(crate) fn note_rest(&mut self, elevation: Option<&str>, upward: Upward, has_w: bool) {
        if let Some(name) = elevation {
            self.convert(format!(
                "levels move with `{name}`: z is the height in the sea at rest of what is at z + {name} (1 + z / depth)"
            ));
        }
        match (upward, has_w) {
            (Upward::Velocity, _) => {}
            (Upward::ThroughLevels, true) => self.convert(
                "the vertical velocity is through the levels: w is the sum of it and of the horizontal velocity along them".into(),
            ),
            (Upward::ThroughLevels, false) => self.convert(
                "it has no vertical velocity: w is that of the horizontal velocity along the levels".into(),
            ),
        }
    }
}

/// What a file says of the sea at the points of a mesh.
pub(crate) struct AtPoints {
    /// The height of the surface; at rest if there is none.
    pub elevation: Option<Gather>,
    /// The depth of the bottom.
    pub depth: Vec<f64>,
    /// The change of the height of the point's level with the depth.
    pub by_depth: Vec<f64>,
}

/// How vertical velocities of a mesh become those in the sea at rest.
#[derive(Clone, Debug)]
pub(crate) struct Rest {
    upward: Upward,
    /// The height of the surface at the columns of points.
    elevation: Option<Gather>,
    /// The depth of the bottom at the columns of points.
    depth: Vec<f64>,
    /// The stencil of each value; [`NONE`] of nodes whose vertical velocity is that of no face.
    places: Vec<u32>,
    /// z / h of each value, and the change of its level's height with the depth.
    parts: Vec<[f32; 2]>,
    stencils: Vec<Stencil>,
    /// The nodes of each cell that have the values of its low faces and of its high ones, of velocities on faces.
    faces: Vec<[u32; 4]>,
}

/// The columns of points of which a quantity and its derivatives are sums: of each the weight in the value, and those along the
/// two horizontal directions of the velocity.
type Stencil = Vec<(u32, [f64; 3])>;

/// The sea at a place: the value and the derivatives of zeta and of h, and the rate at which zeta rises.
#[derive(Clone, Copy)]
struct Sea {
    zeta: [f64; 3],
    depth: [f64; 3],
    rise: f64,
}

/// The surface, where z / h is above this.
const SURFACE: f64 = -1e-6;

impl Rest {
    /// Of a mesh with its points and cells.
    pub fn of(mesh: &CfMesh, upward: Upward, at: AtPoints) -> Rest {
        let columns = Columns::of(mesh);
        let select = |of: Gather| Gather { weights: of.weights.select(&columns.first), ..of };
        let depth = columns.first.iter().map(|point| at.depth[*point as usize]).collect();
        let mut rest = Rest {
            upward,
            elevation: at.elevation.map(select),
            depth,
            places: Vec::new(),
            parts: Vec::new(),
            stencils: Vec::new(),
            faces: Vec::new(),
        };
        let part = |points: &[u32]| {
            let mean = |of: &dyn Fn(usize) -> f64| {
                points.iter().map(|point| of(*point as usize)).sum::<f64>() / points.len() as f64
            };
            let [z, depth] = [mean(&|point| mesh.points[point][2]), mean(&|point| at.depth[point])];
            [z / depth, mean(&|point| at.by_depth[point])].map(|x| x as f32)
        };
        let cells = mesh.cells.chunks_exact(mesh.shape.nodes());
        match mesh.placement {
            MeshPlacement::Points => {
                rest.stencils = columns.around_points();
                rest.parts = (0..mesh.points.len() as u32).map(|point| part(&[point])).collect();
                rest.places = columns.of_points;
            }
            MeshPlacement::Cells => {
                rest.stencils = columns.in_cells(false);
                rest.parts = cells.map(part).collect();
                rest.places = columns.of_cells;
            }
            MeshPlacement::Faces => {
                rest.stencils = columns.in_cells(true);
                rest.places = vec![NONE; mesh.points.len()];
                rest.parts = vec![[0.0; 2]; mesh.points.len()];
                for (nodes, place) in cells.zip(&columns.of_cells) {
                    for end in nodes.chunks_exact(4) {
                        rest.places[end[0] as usize] = *place;
                        rest.parts[end[0] as usize] = part(end);
                    }
                    rest.faces.push([nodes[0], nodes[1], nodes[3], nodes[4]]);
                }
            }
        }
        rest
    }

    /// Whether the rate at which the surface rises is needed.
    pub fn needs_rise(&self) -> bool {
        self.upward == Upward::Velocity && self.elevation.is_some()
    }

    /// The height of the surface at the columns of points at a time; empty if it is at rest.
    pub fn elevation(&self, store: &dyn Store, time: usize) -> Result<Vec<f64>> {
        let read = |of: &Gather| of.read(store, time, false).map(Values::into_f64);
        self.elevation.as_ref().map_or(Ok(Vec::new()), read)
    }

    /// Changes the vertical velocities of a frame, where the surface at the columns is at these heights and rises at these rates;
    /// empty if it is at rest.
    pub fn apply(&self, velocity: &mut Values, elevation: &[f64], rise: &[f64]) {
        let seas: Vec<Sea> = self.stencils.iter().map(|of| self.sea(of, elevation, rise)).collect();
        let horizontal = self.horizontal(velocity);
        for (value, place) in self.places.iter().enumerate().filter(|(_, place)| **place != NONE) {
            let along = horizontal
                .as_ref()
                .map_or_else(|| [0, 1].map(|d| velocity.at(3 * value + d)), |means| means[value]);
            let w = velocity.at(3 * value + 2);
            let w = self.at_rest(w, along, &seas[*place as usize], self.parts[value]);
            velocity.set(3 * value + 2, w);
        }
    }

    fn sea(&self, stencil: &Stencil, elevation: &[f64], rise: &[f64]) -> Sea {
        let mut sea = Sea { zeta: [0.0; 3], depth: [0.0; 3], rise: 0.0 };
        for (column, weights) in stencil {
            let column = *column as usize;
            let of = |values: &[f64]| values.get(column).copied().unwrap_or(0.0);
            for (d, weight) in weights.iter().enumerate() {
                sea.zeta[d] += weight * of(elevation);
                sea.depth[d] += weight * self.depth[column];
            }
            sea.rise += weights[0] * of(rise);
        }
        sea
    }

    /// dz0/dt; 0 at the surface, and where there is no water.
    fn at_rest(&self, w: f64, [u, v]: [f64; 2], sea: &Sea, [part, by_depth]: [f32; 2]) -> f64 {
        let ([zeta, zeta_x, zeta_y], [depth, depth_x, depth_y]) = (sea.zeta, sea.depth);
        let (part, stretching) = (f64::from(part), 1.0 + zeta / depth);
        let is_water = depth > 0.0 && stretching > 0.0;
        if !is_water || part > SURFACE {
            return 0.0;
        }
        let along_depth = u * depth_x + v * depth_y;
        match self.upward {
            Upward::ThroughLevels => w / stretching + f64::from(by_depth) * along_depth,
            Upward::Velocity => {
                let rise = sea.rise + u * zeta_x + v * zeta_y;
                (w - (1.0 + part) * rise + part * zeta / depth * along_depth) / stretching
            }
        }
    }

    /// The horizontal velocity at the middle of the lower face of each node's cell, of velocities on faces: the mean of the
    /// opposite faces, and of the layers below and above.
    fn horizontal(&self, velocity: &Values) -> Option<Vec<[f64; 2]>> {
        if self.faces.is_empty() {
            return None;
        }
        let mut means = vec![[0.0; 2]; self.places.len()];
        let mut counts = vec![0_u8; self.places.len()];
        for [low, east, north, top] in &self.faces {
            let at = |node: &u32, d: usize| velocity.at(3 * *node as usize + d);
            let mean = [at(low, 0) + at(east, 0), at(low, 1) + at(north, 1)].map(|sum| 0.5 * sum);
            for node in [low, top] {
                let node = *node as usize;
                let count = f64::from(counts[node]);
                means[node] = [0, 1].map(|d| (count * means[node][d] + mean[d]) / (count + 1.0));
                counts[node] += 1;
            }
        }
        Some(means)
    }
}

/// The columns of points and of cells of a mesh.
struct Columns {
    is_in_degrees: bool,
    /// Horizontal positions of the columns of points.
    at: Vec<[f64; 2]>,
    /// The first point of each column.
    first: Vec<u32>,
    /// The column of each point.
    of_points: Vec<u32>,
    /// The columns of points of each column of cells, and [`NONE`] after the third one of triangles.
    cells: Vec<[u32; 4]>,
    /// The column of each cell.
    of_cells: Vec<u32>,
}

impl Columns {
    fn of(mesh: &CfMesh) -> Columns {
        let (mut at, mut first, mut numbers) = (Vec::new(), Vec::new(), HashMap::new());
        let mut column = |(point, [x, y, _]): (usize, &[f64; 3])| {
            *numbers.entry([x.to_bits(), y.to_bits()]).or_insert_with(|| {
                at.push([*x, *y]);
                first.push(point as u32);
                at.len() as u32 - 1
            })
        };
        let of_points: Vec<u32> = mesh.points.iter().enumerate().map(&mut column).collect();
        let nodes = mesh.shape.nodes();
        let base = match mesh.shape {
            CellShape::Triangle | CellShape::Quadrilateral => nodes,
            CellShape::Wedge | CellShape::Hexahedron => nodes / 2,
        };
        let (mut cells, mut numbers) = (Vec::new(), HashMap::new());
        let of_cells = mesh.cells.chunks_exact(nodes).map(|of| {
            let mut columns = [NONE; 4];
            for (column, point) in columns.iter_mut().zip(&of[..base]) {
                *column = of_points[*point as usize];
            }
            *numbers.entry(columns).or_insert_with(|| {
                cells.push(columns);
                cells.len() as u32 - 1
            })
        });
        let of_cells = of_cells.collect();
        Columns { is_in_degrees: mesh.is_in_degrees, at, first, of_points, cells, of_cells }
    }

    /// The way from one column to another, in metres.
    fn way(&self, from: u32, to: u32) -> [f64; 2] {
        /// The mean radius of the earth.
        const RADIUS: f64 = 6_371_008.8;
        let [a, b] = [from, to].map(|column| self.at[column as usize]);
        let [x, y] = [b[0] - a[0], b[1] - a[1]];
        if !self.is_in_degrees {
            return [x, y];
        }
        let degree = RADIUS * 1_f64.to_radians();
        // A column one turn further is the same.
        let x = x - CIRCLE * (x / CIRCLE).round();
        [x * degree * (0.5 * (a[1] + b[1])).to_radians().cos(), y * degree]
    }

    /// At each column of points: derivatives by least squares over the columns of the cells around it, weighted by the squares of
    /// the distances; exact for linear functions.
    fn around_points(&self) -> Vec<Stencil> {
        let mut around = vec![Vec::new(); self.at.len()];
        for cell in &self.cells {
            let columns = || cell.iter().copied().filter(|column| *column != NONE);
            for column in columns() {
                let others = columns().filter(|other| *other != column);
                let known: &mut Vec<u32> = &mut around[column as usize];
                known.extend(others);
            }
        }
        let stencil = |(column, mut others): (usize, Vec<u32>)| {
            others.sort_unstable();
            others.dedup();
            self.least_squares(column as u32, &others)
        };
        around.into_iter().enumerate().map(stencil).collect()
    }

    fn least_squares(&self, column: u32, others: &[u32]) -> Stencil {
        let ways: Vec<[f64; 2]> = others.iter().map(|other| self.way(column, *other)).collect();
        let weight = |[x, y]: &[f64; 2]| 1.0 / (x * x + y * y);
        let sum = |of: &dyn Fn(&[f64; 2]) -> f64| -> f64 {
            ways.iter().map(|way| weight(way) * of(way)).sum()
        };
        let [xx, xy, yy] = [sum(&|[x, _]| x * x), sum(&|[x, y]| x * y), sum(&|[_, y]| y * y)];
        let determinant = xx * yy - xy * xy;
        let mut stencil = vec![(column, [1.0, 0.0, 0.0])];
        // Columns along a line tell nothing of the other direction.
        if determinant.is_nan() || determinant <= 1e-9 * (xx + yy).powi(2) {
            return stencil;
        }
        for (other, way) in others.iter().zip(&ways) {
            let [x, y] = way.map(|x| x * weight(way) / determinant);
            let along = [yy * x - xy * y, xx * y - xy * x];
            stencil.push((*other, [0.0, along[0], along[1]]));
            stencil[0].1[1] -= along[0];
            stencil[0].1[2] -= along[1];
        }
        stencil
    }

    /// In each column of cells: means, and derivatives along x and y, or those that the velocities through the faces are multiplied by.
    fn in_cells(&self, on_faces: bool) -> Vec<Stencil> {
        let cell = |[a, b, c, d]: &[u32; 4]| {
            let third = 1.0 / 3.0;
            let (columns, by_r, by_s, mean) = match *d {
                NONE => (vec![*a, *b, *c], vec![-1.0, 1.0, 0.0], vec![-1.0, 0.0, 1.0], third),
                d => (
                    vec![*a, *b, *c, d],
                    vec![-0.5, 0.5, 0.5, -0.5],
                    vec![-0.5, -0.5, 0.5, 0.5],
                    0.25,
                ),
            };
            let derivative = |weights: &[f64]| {
                let ways = columns.iter().map(|column| self.way(*a, *column));
                ways.zip(weights).fold([0.0; 2], |sum, ([x, y], weight)| {
                    [sum[0] + weight * x, sum[1] + weight * y]
                })
            };
            let [r, s] = [derivative(&by_r), derivative(&by_s)];
            let determinant = r[0] * s[1] - r[1] * s[0];
            // The volume through a face is the velocity times its length.
            let [along_r, along_s] = match on_faces {
                true => [[s[0].hypot(s[1]), 0.0], [0.0, r[0].hypot(r[1])]],
                false => [[s[1], -s[0]], [-r[1], r[0]]],
            };
            let along =
                |d: usize, i: usize| (along_r[d] * by_r[i] + along_s[d] * by_s[i]) / determinant;
            let weights = |i: usize| [mean, along(0, i), along(1, i)];
            columns.iter().enumerate().map(|(i, column)| (*column, weights(i))).collect()
        };
        self.cells.iter().map(cell).collect()
    }
}

impl Weights {
    /// The values with these numbers.
    pub(crate) fn select(&self, of: &[u32]) -> Weights {
        match self {
            Weights::One { index, sign } => {
                let index = of.iter().map(|i| index[*i as usize]).collect();
                Weights::One { index, sign: *sign }
            }
            Weights::Mean { count, index, weights } => {
                let range = |i: &u32| *i as usize * count..(*i as usize + 1) * count;
                let weights = of.iter().flat_map(|i| weights[range(i)].to_vec()).collect();
                let index = of.iter().flat_map(|i| index[range(i)].to_vec()).collect();
                Weights::Mean { count: *count, index, weights }
            }
        }
    }
}
