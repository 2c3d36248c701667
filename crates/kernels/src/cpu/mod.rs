//! The fused step on a CPU: loops over tiles of particles, on all threads of the current rayon
//! pool, compiled for the widest vectors that the processor supports.

mod adapt;
mod arrays;
pub(crate) mod dual;
mod frame_pair;
mod grid;
pub(crate) mod lanes;
pub(crate) mod launch;
mod mesh;
mod order;
pub(crate) mod paths;
mod points;
mod reinjection;
mod single;
mod step;
mod tile;
mod walk;
mod walls;

pub(crate) use arrays::{Arrays, Slots, tiles};
pub(crate) use reinjection::Ended;

use crate::{
    FieldShape, MeshForm, Placement, Scheme, Segment, Weighting,
    functions::triangle_rows,
    physics::{features::Features, prelude::host::Float, region::host::CellHint, tables::Tables},
    scheme::Tableau,
};
use frame_pair::{FramePair, frame_pair};
use grid::{Cells, GridSampler, Nodes};
pub use lanes::instructions;
use lanes::{Four, Lanes, Task};
use launch::{Launch, LaunchData, Region};
use mesh::{General, Mesh, MeshSampler, Simplices};
use order::{Order, Parts};
use points::{InverseDistance, Nearest};
use rayon::prelude::*;
use reinjection::EndLog;
use std::ops::Range;
use walls::Walls;

/// Number of particles in a tile, the unit of work of a thread.
const TILE: usize = 256;

/// The float types of fields and positions.
pub trait Real: Float<Stored = Self> + burn::tensor::Element + bytemuck::Pod + Send + Sync {
    /// Runs a task with the widest vectors that the processor supports; see
    /// [`dispatch`](lanes::dispatch).
    fn dispatch(task: impl Task<Self>);
    /// Converts from double precision, with rounding.
    fn of(value: f64) -> Self;
    /// The number in double precision.
    fn exact(self) -> f64;
    /// 0.
    fn zero() -> Self;
    /// 1.
    fn one() -> Self;
    /// Positive infinity.
    fn infinity() -> Self;
    /// The most negative finite number.
    fn min_value() -> Self;
    /// The next smaller number.
    fn next_down(self) -> Self;
    /// `self * factor + term`, rounded once.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// The smaller of two numbers, if one is NaN the other.
    fn min(self, other: Self) -> Self;
    /// The larger of two numbers, if one is NaN the other.
    fn max(self, other: Self) -> Self;
    /// Whether it is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Whether it is NaN.
    fn is_nan(self) -> bool;
    /// 1 with the number's sign.
    fn signum(self) -> Self;
    /// The float of an integer.
    fn from_i32(value: i32) -> Self;
    /// A node number as bits, to be carried in a lane.
    fn of_bits(bits: u32) -> Self;
    /// The bits set by [`of_bits`](Real::of_bits).
    fn bits(self) -> u32;
}

macro_rules! real {
    ($($float:ident)*) => {$(
        impl Real for $float {
            #[inline]
            fn dispatch(task: impl Task<Self>) {
                lanes::detect_and_run(task);
            }
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn exact(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn zero() -> Self {
                0.0
            }
            #[inline(always)]
            fn one() -> Self {
                1.0
            }
            #[inline(always)]
            fn infinity() -> Self {
                $float::INFINITY
            }
            #[inline(always)]
            fn min_value() -> Self {
                $float::MIN
            }
            #[inline(always)]
            fn next_down(self) -> Self {
                $float::next_down(self)
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                $float::mul_add(self, factor, term)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                $float::min(self, other)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                $float::max(self, other)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $float::is_finite(self)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $float::is_nan(self)
            }
            #[inline(always)]
            fn signum(self) -> Self {
                $float::signum(self)
            }
            #[inline(always)]
            fn from_i32(value: i32) -> Self {
                value as $float
            }
            #[inline(always)]
            fn of_bits(bits: u32) -> Self {
                $float::from_bits(bits.into())
            }
            #[inline(always)]
            fn bits(self) -> u32 {
                self.to_bits() as u32
            }
        }
    )*};
}
real!(f32 f64);

/// A field's arrays, borrowed from a backend.
pub(crate) struct FieldArrays<'a, F> {
    pub shape: &'a FieldShape,
    /// Velocity padded to four components: `frames` times `values_per_frame`, and one more row.
    pub velocity: &'a [[F; 4]],
    /// Coordinates of a grid's axes or of nodes, or the cell records of a mesh.
    pub coordinates: &'a [F],
    /// Offsets of the nodes of each cell of points, or the connectivity of a mesh.
    pub index: &'a [i32],
}

/// Velocity as a function of position, at a given time.
pub(crate) trait Sampler<F: Real>: Sync {
    /// Data that speeds up the next sample of the same particle and never changes its value.
    type Hint: Copy + Default;

    fn sample<L: Lanes<F>>(
        &self,
        position: L::Four,
        pair: &FramePair<F>,
        hint: &mut Self::Hint,
    ) -> L::Four;

    /// Whether the field can end within its box. If not, of the methods below only `recall` and
    /// `note` are called.
    const ENDS: bool = false;

    /// Restores a hint from a particle's record.
    #[inline(always)]
    fn recall(&self, _note: i32) -> Self::Hint {
        Self::Hint::default()
    }

    /// The part of a hint that a particle's record stores.
    #[inline(always)]
    fn note(_hint: &Self::Hint) -> i32 {
        0
    }

    /// Quick test whether a step that was sampled with a hint stays in the field up to a position.
    /// If so, the next step starts there.
    #[inline(always)]
    fn holds<L: Lanes<F>>(&self, _position: L::Four, _hint: &mut Self::Hint) -> bool {
        true
    }

    /// The part of space that the field fills, if it can end within its box.
    fn region(&self) -> Option<&dyn Region<F>> {
        None
    }

    /// The cells that a hint knows.
    fn cells(_hint: &mut Self::Hint) -> Option<&mut CellHint<F>> {
        None
    }
}

/// A computation to be compiled for each kind of sampler.
pub(crate) trait WithSampler<F: Real> {
    fn run<S: Sampler<F>>(self, sampler: S);
}

impl<F: Real> FieldArrays<'_, F> {
    /// Runs a computation with the sampler for the field's shape.
    fn with_sampler(&self, frames: usize, work: impl WithSampler<F>) {
        match self.shape {
            FieldShape::Grid(grid) => match grid.placement {
                Placement::Nodes => work.run(GridSampler::<F, Nodes>::new(self, grid, frames)),
                Placement::Cells => work.run(GridSampler::<F, Cells>::new(self, grid, frames)),
            },
            FieldShape::Points(points) => match points.weighting {
                Weighting::Nearest => work.run(Nearest::new(self, points, frames)),
                Weighting::InverseDistance { neighbours, power } => {
                    work.run(InverseDistance::new(self, points, frames, neighbours, power))
                }
            },
            FieldShape::Mesh(mesh) => match mesh.form {
                MeshForm::Simplices => {
                    let cells = Simplices::new(self, mesh);
                    work.run(MeshSampler::new(self, mesh, frames, cells))
                }
                MeshForm::General => {
                    let cells = General::new(self, mesh);
                    work.run(MeshSampler::new(self, mesh, frames, cells))
                }
            },
        }
    }
}

/// Advances all particles through a segment. Returns the instances that ended and were followed by
/// others, in no particular order.
pub(crate) fn advance<F: Real>(
    arrays: Arrays<F>,
    field: &FieldArrays<F>,
    geometry: (&[[F; 3]], &[i32]),
    segment: &Segment,
) -> Vec<Ended<F>> {
    // The log on a CPU is unbounded, so no launch leaves anything to resume.
    let resumes = segment.reinjection.as_ref().is_some_and(|reinjection| reinjection.resumes);
    let mut log = Vec::new();
    if !resumes {
        let first_triangle = geometry.0.len().saturating_sub(triangle_rows(&segment.obstacles));
        let tables = Tables::new(field.shape, segment, first_triangle);
        let data = LaunchData::new(tables, geometry, Features::new(field.shape, segment));
        check_clock(segment);
        let work = Advance { arrays, segment, data: &data, log: &mut log };
        field.with_sampler(segment.clock.frames, work);
    }
    log
}

struct Advance<'a, F> {
    arrays: Arrays<'a, F>,
    segment: &'a Segment,
    data: &'a LaunchData<'a, F>,
    log: &'a mut Vec<Ended<F>>,
}

impl<F: Real> WithSampler<F> for Advance<'_, F> {
    fn run<S: Sampler<F>>(self, sampler: S) {
        match self.segment.scheme {
            Scheme::Euler => self.run_scheme::<S, Euler>(&sampler),
            Scheme::Midpoint => self.run_scheme::<S, Midpoint>(&sampler),
            Scheme::Heun => self.run_scheme::<S, Heun>(&sampler),
            Scheme::Rk4 => self.run_scheme::<S, Rk4>(&sampler),
            Scheme::DormandPrince => self.run_scheme::<S, DormandPrince>(&sampler),
        }
    }
}

impl<F: Real> Advance<'_, F> {
    fn run_scheme<S: Sampler<F>, M: Method>(self, sampler: &S) {
        let launch = self.data.launch(sampler.region());
        let context = step::SegmentContext::<F>::new::<M>(self.segment, launch);
        let advance = |arrays: Arrays<F>, steps: &Range<usize>| {
            tiles(arrays).for_each(|arrays| {
                lanes::dispatch(tile::Tile::<F, S, M>::new(
                    arrays,
                    &context,
                    sampler,
                    steps.clone(),
                ));
            });
        };
        let mut arrays = self.arrays;
        let mut parts = Parts::new(arrays.position.len(), self.segment.steps.len());
        while let Some(steps) =
            parts.next(context.ends.as_ref().map(EndLog::count))
        {
            match Order::new(&arrays, steps.len()) {
                None => advance(arrays.reborrow(), &steps),
                Some(order) => {
                    let mut ordered = order.gather(&arrays);
                    advance(ordered.arrays(), &steps);
                    order.scatter(&ordered, &mut arrays);
                }
            }
        }
        *self.log = context.into_log();
    }
}

/// A scheme as a type, so that its coefficients are constants in the compiled loop.
pub(crate) trait Method {
    const TABLEAU: &'static Tableau;
    /// An element per stage, without unused ones, because all are written in every step.
    type Stages<T: Copy>: AsMut<[T]> + AsRef<[T]>;
    /// The same value for all stages.
    fn all<T: Copy>(value: T) -> Self::Stages<T>;
}

macro_rules! methods {
    ($($name:ident)*) => {$(
        struct $name;
        impl Method for $name {
            const TABLEAU: &'static Tableau = Scheme::$name.tableau();
            type Stages<T: Copy> = [T; Scheme::$name.tableau().stages];
            #[inline(always)]
            fn all<T: Copy>(value: T) -> Self::Stages<T> {
                [value; Scheme::$name.tableau().stages]
            }
        }
    )*};
}
methods!(Euler Midpoint Heun Rk4 DormandPrince);

/// Samples the field at positions, at the start of the segment's first step.
pub(crate) fn sample<F: Real>(
    position: &[[F; 3]],
    velocity: &mut [[F; 3]],
    field: &FieldArrays<F>,
    segment: &Segment,
) {
    if segment.steps.is_empty() {
        return;
    }
    check_clock(segment);
    let tables = Tables::new(field.shape, segment, 0);
    let data = LaunchData::new(tables, (&[], &[]), Features::new(field.shape, segment));
    let work = Sample { position, velocity, segment, launch: data.launch(None) };
    field.with_sampler(segment.clock.frames, work);
}

/// # Panics
///
/// If there are more intervals than frames: samplers rely on valid frame offsets.
fn check_clock(segment: &Segment) {
    let clock = &segment.clock;
    assert!(
        clock.frames >= 1 && clock.frame_intervals.len() <= clock.frames,
        "more frame intervals than frames"
    );
}

struct Sample<'a, F: Real> {
    position: &'a [[F; 3]],
    velocity: &'a mut [[F; 3]],
    segment: &'a Segment,
    launch: Launch<'a, F>,
}

impl<F: Real> WithSampler<F> for Sample<'_, F> {
    fn run<S: Sampler<F>>(self, sampler: S) {
        let pair = frame_pair(&self.launch, 0, F::zero());
        let walls = Walls::new(&self.segment.boundary, self.launch);
        let tiles = self.position.par_chunks(TILE).zip(self.velocity.par_chunks_mut(TILE));
        tiles.for_each(|(position, velocity)| {
            let (walls, pair, sampler) = (&walls, &pair, &sampler);
            lanes::dispatch(SampleTile { position, velocity, walls, pair, sampler });
        });
    }
}

/// The mesh cell of each position, or -1.
///
/// # Panics
///
/// If the field is not on a mesh.
pub(crate) fn locate<F: Real>(position: &[[F; 3]], field: &FieldArrays<F>, cells: &mut [i32]) {
    let FieldShape::Mesh(shape) = field.shape else {
        panic!("locate: the field is not on a mesh");
    };
    match shape.form {
        MeshForm::Simplices => {
            Mesh::new(field.index, shape, Simplices::new(field, shape)).locate(position, cells)
        }
        MeshForm::General => {
            Mesh::new(field.index, shape, General::new(field, shape)).locate(position, cells)
        }
    }
}

struct SampleTile<'a, F: Real, S> {
    position: &'a [[F; 3]],
    velocity: &'a mut [[F; 3]],
    walls: &'a Walls<'a, F>,
    pair: &'a FramePair<F>,
    sampler: &'a S,
}

impl<F: Real, S: Sampler<F>> Task<F> for SampleTile<'_, F, S> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let mut hint = S::Hint::default();
        for (p, v) in self.position.iter().zip(self.velocity) {
            if S::ENDS {
                // A hint from one particle must not change the value of another.
                hint = S::Hint::default();
            }
            let at = self.walls.wrap::<L>(four::<F, L>(p));
            *v = three(self.sampler.sample::<L>(at, self.pair, &mut hint).array());
        }
    }
}

#[inline(always)]
fn four<F: Real, L: Lanes<F>>(p: &[F; 3]) -> L::Four {
    L::Four::new([p[0], p[1], p[2], F::zero()])
}

#[inline(always)]
fn three<F: Copy>([x, y, z, _]: [F; 4]) -> [F; 3] {
    [x, y, z]
}
