//! Reading a velocity from a grid.

use super::{Real, Sampler, WithSampler, moment::Moment};
use crate::{GridShape, Placement, Spacing};
use std::marker::PhantomData;

/// A grid's arrays as a backend holds them.
pub(crate) struct GridArrays<'a, F> {
    pub shape: &'a GridShape,
    /// Velocity and a fourth number that pads it, `frames` times `values_per_frame`.
    pub velocity: &'a [[F; 4]],
    /// Node coordinates, the x axis first; empty where the spacing is uniform.
    pub nodes: &'a [F],
}

impl<F: Real> GridArrays<'_, F> {
    /// Runs work with the sampler that suits the grid's shape.
    pub fn with_sampler(&self, work: impl WithSampler<F>) {
        match (self.shape.spacing, self.shape.placement) {
            (Spacing::Uniform, Placement::Nodes) => work.run(self.sampler::<_, Nodes>(uniform)),
            (Spacing::Uniform, Placement::Cells) => work.run(self.sampler::<_, Cells>(uniform)),
            (Spacing::Table, Placement::Nodes) => work.run(self.sampler::<_, Nodes>(table)),
            (Spacing::Table, Placement::Cells) => work.run(self.sampler::<_, Cells>(table)),
        }
    }

    fn sampler<'a, A, P>(
        &'a self,
        axis: impl Fn(&'a Self, usize) -> A,
    ) -> GridSampler<'a, F, A, P> {
        let strides = self.shape.strides();
        let moving = |d: usize| F::of(if self.shape.is_flat(d) { 0.0 } else { 1.0 });
        GridSampler {
            velocity: self.velocity,
            frame: self.shape.values_per_frame(),
            strides,
            axes: [axis(self, 0), axis(self, 1), axis(self, 2)],
            moving: [moving(0), moving(1), moving(2)],
            placement: PhantomData,
        }
    }
}

/// Finds the cell of a coordinate and the fraction of the cell at which it lies. Coordinates
/// beyond the axis, and those that are not numbers, belong to its ends.
trait Axis<F>: Sync {
    fn locate(&self, x: F) -> (usize, F);
}

struct UniformAxis<F> {
    origin: F,
    per_pitch: F,
    last_node: F,
    last_cell: i32,
}

fn uniform<F: Real>(grid: &GridArrays<F>, d: usize) -> UniformAxis<F> {
    let shape = grid.shape;
    let flat = shape.is_flat(d);
    UniformAxis {
        origin: F::of(shape.origin[d]),
        per_pitch: F::of(if flat { 0.0 } else { 1.0 / shape.pitch[d] }),
        last_node: F::of((shape.nodes[d] - 1) as f64),
        last_cell: shape.nodes[d].saturating_sub(2) as i32,
    }
}

impl<F: Real> Axis<F> for UniformAxis<F> {
    #[inline(always)]
    fn locate(&self, x: F) -> (usize, F) {
        let g = ((x - self.origin) * self.per_pitch).max(F::zero()).min(self.last_node);
        let cell = g.whole().min(self.last_cell);
        (cell as usize, g - F::of_whole(cell))
    }
}

struct TableAxis<'a, F> {
    nodes: &'a [F],
}

fn table<'a, F: Real>(grid: &'a GridArrays<F>, d: usize) -> TableAxis<'a, F> {
    let start: usize = grid.shape.nodes[..d].iter().sum();
    TableAxis { nodes: &grid.nodes[start..start + grid.shape.nodes[d]] }
}

impl<F: Real> Axis<F> for TableAxis<'_, F> {
    #[inline(always)]
    fn locate(&self, x: F) -> (usize, F) {
        let count = self.nodes.len();
        if count == 1 {
            return (0, F::zero());
        }
        let cell = self.nodes[1..count - 1].partition_point(|&node| node <= x);
        let (a, b) = (self.nodes[cell], self.nodes[cell + 1]);
        let fraction = (x - a) / (b - a);
        (cell, fraction.max(F::zero()).min(F::one()))
    }
}

/// Velocity at the nodes.
struct Nodes;
/// Velocity in the cells.
struct Cells;

struct GridSampler<'a, F, A, P> {
    velocity: &'a [[F; 4]],
    frame: usize,
    strides: [usize; 3],
    axes: [A; 3],
    /// 1 for an axis along which particles move, 0 for a flat one.
    moving: [F; 3],
    placement: PhantomData<fn() -> P>,
}

impl<F: Real, A: Axis<F>, P> GridSampler<'_, F, A, P> {
    /// Blends what `read` gives for the moment's two frames.
    #[inline(always)]
    fn in_time(&self, moment: &Moment<F>, read: impl Fn(&[[F; 4]]) -> [F; 4]) -> [F; 3] {
        let [w0, w1] = moment.weights;
        let frame = |k: usize| &self.velocity[k * self.frame..(k + 1) * self.frame];
        let mut v = read(frame(moment.frames[0]));
        if w1 != F::zero() {
            let next = read(frame(moment.frames[1]));
            v = std::array::from_fn(|c| w0 * v[c] + w1 * next[c]);
        } else if w0 != F::one() {
            v = v.map(|v| w0 * v);
        }
        std::array::from_fn(|d| v[d] * self.moving[d])
    }
}

impl<F: Real, A: Axis<F>> Sampler<F> for GridSampler<'_, F, A, Nodes> {
    #[inline(always)]
    fn sample(&self, position: &[F; 3], moment: &Moment<F>) -> [F; 3] {
        let [sx, sy, sz] = self.strides;
        let (i, wx) = self.axes[0].locate(position[0]);
        let (j, wy) = self.axes[1].locate(position[1]);
        let (k, wz) = self.axes[2].locate(position[2]);
        let base = i + j * sy + k * sz;
        self.in_time(moment, |frame| {
            let along_x = |o: usize| lerp(frame[base + o], frame[base + o + sx], wx);
            let along_y = |o: usize| lerp(along_x(o), along_x(o + sy), wy);
            lerp(along_y(0), along_y(sz), wz)
        })
    }
}

impl<F: Real, A: Axis<F>> Sampler<F> for GridSampler<'_, F, A, Cells> {
    #[inline(always)]
    fn sample(&self, position: &[F; 3], moment: &Moment<F>) -> [F; 3] {
        let [_, sy, sz] = self.strides;
        let [i, j, k] = std::array::from_fn(|d| self.axes[d].locate(position[d]).0);
        self.in_time(moment, |frame| frame[i + j * sy + k * sz])
    }
}

#[inline(always)]
fn lerp<F: Real>(a: [F; 4], b: [F; 4], w: F) -> [F; 4] {
    std::array::from_fn(|c| a[c] + w * (b[c] - a[c]))
}
