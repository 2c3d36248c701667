//! Spreading any kernel, row after row of nodes.
//!
//! Along a row only the first coordinate changes: `|A d|^2 = (xx dx + shift)^2 + square`, where `shift` and
//! `square` follow from the row's distance from the particle.

use super::{
    Number, WIDTH,
    course::Course,
    grid::{Part, Slab, Way},
};
use burntrace_kernels::host::Lanes;
use std::{marker::PhantomData, ops::Range};

/// A row of nodes that some particles are spread over, and what is the same for all rows of a slab.
pub(super) struct Rows<F, C> {
    row: Vec<F>,
    near: Vec<Near<F>>,
    frame: Frame<F>,
    course: PhantomData<C>,
}

/// A particle that reaches a plane of nodes, counted from the first one of them.
struct Near<F> {
    x: F,
    y: F,
    weight: F,
    /// What its distance from the plane gives to `square`, to `shift` and to the second coordinate.
    square: F,
    shift: F,
    tilt: F,
}

/// The kernel and the lattice.
struct Frame<F> {
    matrix: [F; 6],
    cut: F,
    pitch: F,
    /// Nodes per unit of length; 0 where there is one.
    per_pitch: F,
    /// How far along the row a unit of the first coordinate is.
    unit: F,
}

impl<F: Number, C: Course> Way<F> for Rows<F, C> {
    fn new(slab: &Slab<F>) -> Self {
        let pitch = slab.grid.pitch[0];
        let frame = Frame {
            matrix: slab.sources.per_unit(),
            cut: F::of(slab.sources.smoother.cut),
            pitch: F::of(pitch),
            per_pitch: F::of(if pitch > 0.0 { 1.0 / pitch } else { 0.0 }),
            unit: F::of(1.0 / slab.sources.smoother.per_unit[0][0]),
        };
        Rows { row: Vec::new(), near: Vec::new(), frame, course: PhantomData }
    }

    #[inline(always)]
    fn add<L: Lanes<F>>(&mut self, slab: &Slab<F>, particles: Range<usize>, part: &mut Part) {
        let [_, xy, _, yy, _, _] = self.frame.matrix;
        // Eight nodes are written from any one on.
        self.row.resize(part.counts[0] + WIDTH, F::zero());
        for k in 0..part.counts[2] {
            self.reach::<C>(slab, &particles, part, k);
            for j in 0..part.counts[1] {
                let place = slab.place(1, part.first[1] + j) - slab.place(1, part.first[1]);
                self.row.fill(F::zero());
                for near in &self.near {
                    let dy = place - near.y;
                    let v = yy * dy + near.tilt;
                    let square = v * v + near.square;
                    if self.frame.reaches::<C>(v, square) {
                        let shift = xy * dy + near.shift;
                        self.frame.spread::<C, L>(&mut self.row, near, shift, square);
                    }
                }
                for (to, from) in part.row(j, k).iter_mut().zip(&self.row) {
                    *to += from.double();
                }
            }
        }
    }
}

impl<F: Number, C> Rows<F, C> {
    /// Lists the particles that reach a plane.
    #[inline(always)]
    fn reach<D: Course>(
        &mut self,
        slab: &Slab<F>,
        particles: &Range<usize>,
        part: &Part,
        k: usize,
    ) {
        let [_, _, xz, _, yz, zz] = self.frame.matrix;
        let [xs, ys, zs] = slab.sources.axes;
        let [first_x, first_y] = [0, 1].map(|d| slab.place(d, part.first[d]));
        let place = slab.place(2, part.first[2] + k);
        self.near.clear();
        for p in particles.clone() {
            let dz = place - zs[p];
            let w = zz * dz;
            if self.frame.reaches::<D>(w, w * w) {
                self.near.push(Near {
                    x: xs[p] - first_x,
                    y: ys[p] - first_y,
                    weight: slab.sources.weights[p],
                    square: w * w,
                    shift: xz * dz,
                    tilt: yz * dz,
                });
            }
        }
    }
}

impl<F: Number> Frame<F> {
    /// Whether a kernel reaches where one coordinate and a sum of squares are these.
    #[inline(always)]
    fn reaches<C: Course>(&self, coordinate: F, square: F) -> bool {
        if C::IS_BOX { coordinate.abs() <= self.cut } else { square <= self.cut * self.cut }
    }

    /// Adds a particle's kernel to the nodes of a row.
    #[inline(always)]
    fn spread<C: Course, L: Lanes<F>>(&self, row: &mut [F], near: &Near<F>, shift: F, square: F) {
        let xx = self.matrix[0];
        let half = if C::IS_BOX { self.cut } else { (self.cut * self.cut - square).sqrt() };
        let middle = near.x - shift * self.unit;
        // Rounding may hide a node; one that is looked at in vain gives nothing.
        let slack = F::of(0.01);
        let from = (middle - half * self.unit) * self.per_pitch - slack;
        let to = (middle + half * self.unit) * self.per_pitch + slack;
        let first = from.as_i32().max(0) as usize;
        let end = (to.as_i32().max(0) as usize + 1).min(row.len() - WIDTH);
        for start in (first..end).step_by(WIDTH) {
            let values = &mut row[start..start + WIDTH];
            for (l, sum) in values.iter_mut().enumerate() {
                let dx = F::from_i32((start + l) as i32).fused::<L>(self.pitch, -near.x);
                let u = xx.fused::<L>(dx, shift);
                let square = u.fused::<L>(u, square);
                let is_within = match (C::IS_BOX, C::IS_CUT) {
                    (true, _) => u.abs() <= self.cut,
                    (_, true) => square <= self.cut * self.cut,
                    _ => true,
                };
                let value = near.weight * C::at::<F, L>(square);
                *sum = *sum + if is_within { value } else { F::zero() };
            }
        }
    }
}
