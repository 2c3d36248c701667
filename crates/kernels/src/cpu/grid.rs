//! Velocity from a grid.

mod axes;

use super::{
    Real,
    chart::{Chart, Flat},
    field::FieldArrays,
    frame_pair::FramePair,
    lanes::{Eight, Four, Lanes, Vector, four},
    sampler::{Differentiable, Sampler},
    shares::Shares,
};
use crate::{GridShape, Spacing};
use axes::{Cell, UnevenAxes};
use std::marker::PhantomData;

/// Node-centred velocity: trilinear in a cell.
pub(super) struct Nodes;
/// Cell-centred velocity: constant in each cell.
pub(super) struct Cells;

pub(super) struct GridSampler<'a, F, P, C = Flat> {
    velocity: &'a [[F; 4]],
    strides: [usize; 3],
    /// Whether the x axis is flat.
    is_flat: bool,
    axes: Axes<'a, F>,
    kind: PhantomData<fn() -> (P, C)>,
}

impl<'a, F: Real, P, C> GridSampler<'a, F, P, C> {
    /// # Panics
    ///
    /// If the arrays do not have the shape's size, on which every read below relies.
    pub fn new(field: &FieldArrays<'a, F>, shape: &GridShape, frames: usize) -> Self {
        let values = shape.values_per_frame();
        assert!(values > 0 && shape.nodes.iter().all(|nodes| *nodes > 0), "the grid has no nodes");
        assert_eq!(
            field.velocity.len(),
            frames * values + 1,
            "wrong number of velocities for the grid"
        );
        GridSampler {
            velocity: field.velocity,
            strides: shape.strides(),
            is_flat: shape.is_flat(0),
            axes: Axes::new(field.coordinates, shape),
            kind: PhantomData,
        }
    }
}

impl<F: Real, P, C> GridSampler<'_, F, P, C> {
    /// The index, in a frame, of the first value of a cell.
    #[inline(always)]
    fn index(&self, [i, j, k]: Cell) -> usize {
        let [_, sy, sz] = self.strides;
        i + j * sy + k * sz
    }
}

/// Pointers to the value at a corner of a cell, in each of two frames.
#[derive(Clone, Copy)]
struct Corner<F> {
    frames: [*const [F; 4]; 2],
}

impl<F: Real> Corner<F> {
    /// The corner at an offset in bytes.
    #[inline(always)]
    fn at(self, bytes: usize) -> Self {
        Corner { frames: self.frames.map(|value| value.wrapping_byte_add(bytes)) }
    }

    /// Its value interpolated in time, together with the next one.
    ///
    /// # Safety
    ///
    /// Both values must be readable in both frames.
    #[inline(always)]
    unsafe fn row<L: Lanes<F>>(self, pair: &FramePair<F>) -> L::Eight {
        // SAFETY: guaranteed by the caller.
        let read = |k: usize| unsafe { L::Eight::read(self.frames[k]) };
        let first = read(0) * L::Eight::splat(pair.first_weight);
        if pair.second_weight == F::zero() {
            return first;
        }
        read(1).fma(L::Eight::splat(pair.second_weight), first)
    }
}

/// The corners of a cell in pairs of x neighbours, interpolated in time: two along y, for each of two
/// along z.
type Rows<E> = [E; 4];

impl<F: Real, C> GridSampler<'_, F, Nodes, C> {
    /// The corners of the cell of a position, its coordinates in the cell, and the cell. Neighbours along x are
    /// contiguous in memory and read as one vector.
    #[inline(always)]
    fn rows<L: Lanes<F>>(
        &self,
        p: L::Four,
        pair: &FramePair<F>,
        last: &mut Cell,
    ) -> (Rows<L::Eight>, [F; 4], Cell) {
        let [_, sy, sz] = self.strides;
        let (cell, w) = self.axes.locate::<L>(p, last);
        let base = self.index(cell);
        let value = |frame: usize| self.velocity.as_ptr().wrapping_add(frame + base);
        let corner = Corner { frames: [pair.first, pair.second].map(value) };
        let [sy, sz] = [sy, sz].map(|stride| stride * size_of::<[F; 4]>());
        // SAFETY: the frames are the field's and the cell is one of the grid's, so its corners are
        // values of the frames. On a flat x axis the second corner of a row is the next value, or
        // the padding at the end; its weight is zero.
        let rows = unsafe {
            [
                corner.row::<L>(pair),
                corner.at(sy).row::<L>(pair),
                corner.at(sz).row::<L>(pair),
                corner.at(sz + sy).row::<L>(pair),
            ]
        };
        (rows, w.array(), cell)
    }

    /// The value between two neighbours along x.
    #[inline(always)]
    fn between<L: Lanes<F>>(&self, [low, high]: [L::Four; 2], w: F) -> L::Four {
        // On a flat axis, the other corner is a value of another row, which may be a hole.
        if self.is_flat { low } else { lerp(low, high, L::Four::splat(w)) }
    }
}

impl<F: Real, C: Chart<F>> Sampler<F> for GridSampler<'_, F, Nodes, C> {
    type Hint = Cell;
    type Chart = C;

    /// Interpolates in time first, then along y and z; x comes last.
    #[inline(always)]
    fn sample<L: Lanes<F>>(&self, p: L::Four, pair: &FramePair<F>, last: &mut Cell) -> L::Four {
        let (rows, [wx, wy, wz, _], _) = self.rows::<L>(p, pair, last);
        let near = lerp(rows[0], rows[1], L::Eight::splat(wy));
        let far = lerp(rows[2], rows[3], L::Eight::splat(wy));
        self.between::<L>(lerp(near, far, L::Eight::splat(wz)).halves(), wx)
    }
}

impl<F: Real, C: Chart<F>> Differentiable<F> for GridSampler<'_, F, Nodes, C> {
    #[inline(always)]
    fn slopes<L: Lanes<F>>(
        &self,
        p: L::Four,
        pair: &FramePair<F>,
        last: &mut Cell,
    ) -> (L::Four, [L::Four; 3]) {
        let (rows, [wx, wy, wz, _], cell) = self.rows::<L>(p, pair, last);
        let near = lerp(rows[0], rows[1], L::Eight::splat(wy));
        let far = lerp(rows[2], rows[3], L::Eight::splat(wy));
        let [low, high] = lerp(near, far, L::Eight::splat(wz)).halves();
        let along_y = lerp(rows[1] - rows[0], rows[3] - rows[2], L::Eight::splat(wz)).halves();
        let along_z = (far - near).halves();
        let rates = self.axes.rates::<L>(p, cell);
        let along_x = if self.is_flat { L::Four::splat(F::zero()) } else { high - low };
        let slopes = [
            along_x * rates.spread::<0>(),
            self.between::<L>(along_y, wx) * rates.spread::<1>(),
            self.between::<L>(along_z, wx) * rates.spread::<2>(),
        ];
        (self.between::<L>([low, high], wx), slopes)
    }

    #[inline(always)]
    fn shares<L: Lanes<F>>(&self, p: L::Four, last: &mut Cell, shares: &mut Shares<F>) {
        let [sx, sy, sz] = self.strides;
        let (cell, w) = self.axes.locate::<L>(p, last);
        let base = self.index(cell);
        let sides = |corner: usize| [corner & 1, corner >> 1 & 1, corner >> 2];
        // On a flat axis, the other corner is the same value with weight 0.
        let value = |corner| {
            let [a, b, c] = sides(corner);
            base + a * sx + b * sy + c * sz
        };
        shares.of_eight(base, value, corner_weights::<F, L>(w).array());
    }
}

/// The weights of the corners of a cell at coordinates in it; x varies fastest.
#[inline(always)]
fn corner_weights<F: Real, L: Lanes<F>>(at: L::Four) -> L::Eight {
    let x = sides::<F, L>(at.spread::<0>(), 1);
    let y = sides::<F, L>(at.spread::<1>(), 2);
    let z = sides::<F, L>(at.spread::<2>(), 4);
    x * y * z
}

/// 1 - x at the corners at one end of an axis, and x at those at the other one, the numbers of which have a bit.
#[inline(always)]
fn sides<F: Real, L: Lanes<F>>(x: L::Four, bit: usize) -> L::Eight {
    let (mut first, mut slope) = ([F::one(); 8], [-F::one(); 8]);
    for corner in 0..8 {
        if corner & bit != 0 {
            (first[corner], slope[corner]) = (F::zero(), F::one());
        }
    }
    L::Eight::joined([x, x]).fma(L::Eight::new(&slope), L::Eight::new(&first))
}

impl<F: Real> Sampler<F> for GridSampler<'_, F, Cells> {
    type Hint = Cell;
    type Chart = Flat;

    #[inline(always)]
    fn sample<L: Lanes<F>>(&self, p: L::Four, pair: &FramePair<F>, last: &mut Cell) -> L::Four {
        let (cell, _) = self.axes.locate::<L>(p, last);
        super::frame_pair::blend::<F, L>(self.velocity, self.index(cell), pair)
    }
}

impl<F: Real> Differentiable<F> for GridSampler<'_, F, Cells> {
    #[inline(always)]
    fn slopes<L: Lanes<F>>(
        &self,
        p: L::Four,
        pair: &FramePair<F>,
        last: &mut Cell,
    ) -> (L::Four, [L::Four; 3]) {
        (self.sample::<L>(p, pair, last), [L::Four::splat(F::zero()); 3])
    }

    #[inline(always)]
    fn shares<L: Lanes<F>>(&self, p: L::Four, last: &mut Cell, shares: &mut Shares<F>) {
        let (cell, _) = self.axes.locate::<L>(p, last);
        shares.only(self.index(cell));
    }
}

#[inline(always)]
fn lerp<F: Real, V: Vector<F>>(a: V, b: V, w: V) -> V {
    (b - a).fma(w, a)
}

/// Finds the cell of a position and the fractional coordinates within it. Positions beyond an axis
/// are clamped to its ends; NaN coordinates give the first cell.
struct Axes<'a, F> {
    origin: [F; 4],
    per_pitch: [F; 4],
    last_node: [F; 4],
    last_cell: [F; 4],
    /// The nodes, if the spacing is not uniform.
    tables: Option<UnevenAxes<'a, F>>,
}

impl<'a, F: Real> Axes<'a, F> {
    fn new(nodes: &'a [F], shape: &GridShape) -> Self {
        let table = |d: usize| {
            let start: usize = shape.nodes[..d].iter().sum();
            &nodes[start..start + shape.nodes[d]]
        };
        let per = |d: usize| if shape.is_flat(d) { 0.0 } else { 1.0 / shape.pitch[d] };
        let count = |d: usize| shape.nodes[d] as f64;
        Axes {
            origin: padded(|d| shape.origin[d]).map(F::of),
            per_pitch: padded(per).map(F::of),
            last_node: padded(|d| count(d) - 1.0).map(F::of),
            last_cell: padded(|d| (count(d) - 2.0).max(0.0)).map(at_most),
            tables: (shape.spacing == Spacing::Table)
                .then(|| UnevenAxes::new([table(0), table(1), table(2)])),
        }
    }

    #[inline(always)]
    fn locate<L: Lanes<F>>(&self, p: L::Four, last: &mut Cell) -> (Cell, L::Four) {
        if let Some(tables) = &self.tables {
            return tables.locate::<L>(p, last);
        }
        let zero = L::Four::splat(F::zero());
        let g = (p - L::Four::new(self.origin)) * L::Four::new(self.per_pitch);
        // Two independent clamps shorten the dependency chain to the cell index, which a memory
        // access waits for.
        let cell = g.clamp(zero, L::Four::new(self.last_cell));
        let g = g.clamp(zero, L::Four::new(self.last_node));
        let [i, j, k, _] = cell.as_i32();
        ([i as usize, j as usize, k as usize], g - cell.trunc())
    }
}

impl<F: Real> Axes<'_, F> {
    /// Derivatives of the coordinates in a cell by the position: 0 on flat axes, and beyond the ends of
    /// an axis, to which positions are clamped.
    #[inline(always)]
    fn rates<L: Lanes<F>>(&self, p: L::Four, [i, j, k]: Cell) -> L::Four {
        if let Some(UnevenAxes { nodes: [x, y, z], .. }) = &self.tables {
            let p = p.array();
            return four::<F, L>(&[rate(x, p[0], i), rate(y, p[1], j), rate(z, p[2], k)]);
        }
        let per_pitch = L::Four::new(self.per_pitch);
        let g = (p - L::Four::new(self.origin)) * per_pitch;
        let is_inside = g.inside(L::Four::splat(F::zero()), L::Four::new(self.last_node));
        per_pitch.and(is_inside)
    }
}

/// The derivative of the coordinate in a cell of an axis.
#[inline(always)]
fn rate<F: Real>(nodes: &[F], x: F, cell: usize) -> F {
    let [Some(first), Some(last)] = [nodes.first(), nodes.last()] else { return F::zero() };
    match nodes.get(cell + 1) {
        Some(end) if *first <= x && x <= *last => F::one() / (*end - nodes[cell]),
        _ => F::zero(),
    }
}

fn padded(of: impl Fn(usize) -> f64) -> [f64; 4] {
    [of(0), of(1), of(2), 0.0]
}

/// A number rounded down. With 2^24 nodes or more, the last cell must not be rounded up.
fn at_most<F: Real>(value: f64) -> F {
    let rounded = F::of(value);
    if rounded.exact() > value { rounded * (F::one() - F::epsilon()) } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::at_most;

    #[test]
    fn index_of_the_last_cell_is_not_rounded_up() {
        assert_eq!(at_most::<f32>(16_777_219.0), 16_777_218.0);
        assert_eq!(at_most::<f64>(16_777_219.0), 16_777_219.0);
        assert_eq!(at_most::<f32>(62.0), 62.0);
    }
}
