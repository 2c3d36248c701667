//! Spreading of arbitrary kernels, one row of nodes at a time.
//!
//! Along a row only the first coordinate changes: `|A d|^2 = (xx dx + shift)^2 + square`, where `shift`
//! and `square` depend only on the offset of the row from the particle.

use super::{
    WIDTH,
    slab::{NodeBlock, Slab, Spreader},
};
use crate::density::radial::{Number, RadialKernel};
use burntrace_kernels::host::Lanes;
use std::{marker::PhantomData, ops::Range};

/// Spreads particles over one row of nodes after another.
pub(super) struct RowSpreader<F, K> {
    /// The sums of the current row.
    row: Vec<F>,
    /// The particles that reach the current plane.
    neighbours: Vec<Neighbour<F>>,
    geometry: Geometry<F>,
    kernel: PhantomData<K>,
}

/// A particle that reaches a plane of nodes, relative to the first of them.
struct Neighbour<F> {
    x: F,
    y: F,
    weight: F,
    /// Contributions of the distance from the plane: to `square`, to `shift` and to the second whitened
    /// coordinate.
    square: F,
    shift: F,
    v_shift: F,
}

/// The kernel and the lattice.
struct Geometry<F> {
    matrix: [F; 6],
    cutoff: F,
    pitch: F,
    /// Nodes per unit of length; 0 for a single node.
    per_pitch: F,
    /// Length along the row of one unit of the first whitened coordinate.
    unit: F,
}

impl<F: Number, K: RadialKernel> Spreader<F> for RowSpreader<F, K> {
    fn new(slab: &Slab<F>) -> Self {
        let pitch = slab.grid.pitch[0];
        let geometry = Geometry {
            matrix: slab.sources.whitening(),
            cutoff: F::of(slab.sources.smoother.cutoff),
            pitch: F::of(pitch),
            per_pitch: F::of(if pitch > 0.0 { 1.0 / pitch } else { 0.0 }),
            unit: F::of(1.0 / slab.sources.smoother.whitening[0][0]),
        };
        RowSpreader { row: Vec::new(), neighbours: Vec::new(), geometry, kernel: PhantomData }
    }

    #[inline(always)]
    fn add<L: Lanes<F>>(&mut self, slab: &Slab<F>, particles: Range<usize>, nodes: &mut NodeBlock) {
        let [_, xy, _, yy, _, _] = self.geometry.matrix;
        // Padding: vectors of eight nodes may start at any node.
        self.row.resize(nodes.counts[0] + WIDTH, F::zero());
        for k in 0..nodes.counts[2] {
            self.find_neighbours(slab, &particles, nodes, k);
            for j in 0..nodes.counts[1] {
                let y = slab.coordinate(1, nodes.first[1] + j) - slab.coordinate(1, nodes.first[1]);
                self.row.fill(F::zero());
                for neighbour in &self.neighbours {
                    let dy = y - neighbour.y;
                    let v = yy * dy + neighbour.v_shift;
                    let square = v * v + neighbour.square;
                    if self.geometry.reaches::<K>(v, square) {
                        let shift = xy * dy + neighbour.shift;
                        self.geometry.spread::<K, L>(&mut self.row, neighbour, shift, square);
                    }
                }
                for (to, from) in nodes.row(j, k).iter_mut().zip(&self.row) {
                    *to += from.double();
                }
            }
        }
    }
}

impl<F: Number, K: RadialKernel> RowSpreader<F, K> {
    /// Lists the particles that reach a plane.
    #[inline(always)]
    fn find_neighbours(
        &mut self,
        slab: &Slab<F>,
        particles: &Range<usize>,
        nodes: &NodeBlock,
        k: usize,
    ) {
        let [_, _, xz, _, yz, zz] = self.geometry.matrix;
        let [xs, ys, zs] = slab.sources.axes;
        let [first_x, first_y] = [0, 1].map(|d| slab.coordinate(d, nodes.first[d]));
        let z = slab.coordinate(2, nodes.first[2] + k);
        self.neighbours.clear();
        for p in particles.clone() {
            let dz = z - zs[p];
            let w = zz * dz;
            if self.geometry.reaches::<K>(w, w * w) {
                self.neighbours.push(Neighbour {
                    x: xs[p] - first_x,
                    y: ys[p] - first_y,
                    weight: slab.sources.weights[p],
                    square: w * w,
                    shift: xz * dz,
                    v_shift: yz * dz,
                });
            }
        }
    }
}

impl<F: Number> Geometry<F> {
    /// Whether a kernel reaches nodes with this whitened coordinate and partial squared distance.
    #[inline(always)]
    fn reaches<K: RadialKernel>(&self, coordinate: F, square: F) -> bool {
        if K::IS_BOX {
            coordinate.abs() <= self.cutoff
        } else {
            square <= self.cutoff * self.cutoff
        }
    }

    /// Adds a particle's kernel to the nodes of a row.
    #[inline(always)]
    fn spread<K: RadialKernel, L: Lanes<F>>(
        &self,
        row: &mut [F],
        particle: &Neighbour<F>,
        shift: F,
        square: F,
    ) {
        let xx = self.matrix[0];
        let cutoff = self.cutoff;
        let half = if K::IS_BOX { cutoff } else { (cutoff * cutoff - square).sqrt() };
        let middle = particle.x - shift * self.unit;
        // A margin for rounding: nodes beyond the kernel's reach add zero.
        let slack = F::of(0.01);
        let from = (middle - half * self.unit) * self.per_pitch - slack;
        let to = (middle + half * self.unit) * self.per_pitch + slack;
        let first = from.as_i32().max(0) as usize;
        let end = (to.as_i32().max(0) as usize + 1).min(row.len() - WIDTH);
        for start in (first..end).step_by(WIDTH) {
            let values = &mut row[start..start + WIDTH];
            for (l, sum) in values.iter_mut().enumerate() {
                let dx = F::from_i32((start + l) as i32).fused::<L>(self.pitch, -particle.x);
                let u = xx.fused::<L>(dx, shift);
                let square = u.fused::<L>(u, square);
                let is_within = match (K::IS_BOX, K::IS_CUT) {
                    (true, _) => u.abs() <= cutoff,
                    (_, true) => square <= cutoff * cutoff,
                    _ => true,
                };
                let value = particle.weight * K::at::<F, L>(square);
                *sum += if is_within { value } else { F::zero() };
            }
        }
    }
}
