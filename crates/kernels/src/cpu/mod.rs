//! The fused step on a CPU: plain loops over tiles of particles, on all threads of the current
//! rayon pool, compiled for the widest vectors that the machine turns out to have.

mod adapt;
mod arrays;
mod edge;
mod frame_pair;
mod grid;
pub(crate) mod lanes;
mod lives;
mod mesh;
pub(crate) mod obstacles;
mod order;
mod points;
pub(crate) mod random;
mod single;
mod step;
mod tile;
mod walk;
mod walls;

pub(crate) use arrays::{Arrays, Record, Slots, tiles};
pub(crate) use lives::Ended;

use crate::{
    ClosedSurface, FieldShape, MeshForm, Placement, Scheme, Segment, Weighting, scheme::Tableau,
};
use frame_pair::{FramePair, Frames};
use grid::{Cells, GridSampler, Nodes};
pub use lanes::instructions;
use lanes::{Four, Lanes, Task};
use lives::ReinjectionTable;
use mesh::{General, MeshSampler, Simplices};
use order::{Order, Parts};
use points::{InverseDistance, Nearest};
use rayon::prelude::*;
use std::{ops::Range, sync::Arc};
use walls::Walls;

/// Particles that a thread takes at once.
const TILE: usize = 256;

/// A float that fields and positions are made of.
pub trait Real: num_traits::Float + burn::tensor::Element + bytemuck::Pod + Send + Sync {
    /// The widest vectors of this float.
    type Widest: Lanes<Self>;
    /// Rounded from double precision.
    fn of(value: f64) -> Self;
    /// The triangles of a surface.
    fn rows(surface: &ClosedSurface) -> Arc<Vec<[Self; 3]>>;
    /// The integer part, brought into the range of the integers.
    fn whole(self) -> i32;
    /// The float of an integer.
    fn of_whole(whole: i32) -> Self;
    /// A number of a node as bits, to be carried along in a lane.
    fn of_bits(bits: u32) -> Self;
    /// The bits of [`of_bits`](Real::of_bits).
    fn bits(self) -> u32;
}

macro_rules! real {
    ($($float:ty: $rows:ident)*) => {$(
        impl Real for $float {
            #[cfg(target_arch = "x86_64")]
            type Widest = lanes::Avx2;
            #[cfg(not(target_arch = "x86_64"))]
            type Widest = lanes::Portable;
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $float
            }
            fn rows(surface: &ClosedSurface) -> Arc<Vec<[Self; 3]>> {
                surface.$rows()
            }
            #[inline(always)]
            fn whole(self) -> i32 {
                self as i32
            }
            #[inline(always)]
            fn of_whole(whole: i32) -> Self {
                whole as $float
            }
            #[inline(always)]
            fn of_bits(bits: u32) -> Self {
                <$float>::from_bits(bits.into())
            }
            #[inline(always)]
            fn bits(self) -> u32 {
                self.to_bits() as u32
            }
        }
    )*};
}
real!(f32: single f64: double);

/// A field's arrays as a backend holds them.
pub(crate) struct FieldArrays<'a, F> {
    pub shape: &'a FieldShape,
    /// Velocity and a zero that pads it: `frames` times `values_per_frame`, and one more.
    pub velocity: &'a [[F; 4]],
    /// Coordinates: of a grid's axes, or of the nodes of a cloud.
    pub places: &'a [F],
    /// Where the nodes of each cell of a cloud begin.
    pub index: &'a [i32],
}

/// Velocity as a function of place, the moment being fixed beforehand.
pub(crate) trait Sampler<F: Real>: Sync {
    /// What helps with the next sample of the same particle, and never changes its value.
    type Hint: Copy + Default;

    fn sample<L: Lanes<F>>(
        &self,
        position: L::Four,
        moment: &FramePair<F>,
        hint: &mut Self::Hint,
    ) -> L::Four;

    /// Whether the field can end within its box. Where it cannot, nothing below is called but
    /// `recall` and `note`.
    const ENDS: bool = false;

    /// The hint that a particle's record keeps.
    #[inline(always)]
    fn recall(&self, _note: i32) -> Self::Hint {
        Self::Hint::default()
    }

    /// What a particle's record keeps of a hint.
    #[inline(always)]
    fn note(_hint: &Self::Hint) -> i32 {
        0
    }

    /// Whether a step that has sampled with a hint leads to a position without leaving the field,
    /// as far as can be seen at once. If so, the next step begins there.
    #[inline(always)]
    fn holds<L: Lanes<F>>(&self, _position: L::Four, _hint: &mut Self::Hint) -> bool {
        true
    }

    /// Goes back to where the step began.
    fn turn_back(_hint: &mut Self::Hint) {}

    /// Whether the field holds a position, wherever the hint is; if so, it is there now.
    fn find(&self, _position: [F; 3], _hint: &mut Self::Hint) -> bool {
        true
    }

    /// The face of the field at which a way leaves it, given a position right behind that face,
    /// and a way from there into the field, normal to the face and next to nothing in length.
    fn edge(&self, _position: [F; 3], _hint: &Self::Hint) -> (i32, [F; 3]) {
        (0, [F::zero(); 3])
    }
}

/// Work to be compiled apart for each kind of sampler.
pub(crate) trait WithSampler<F: Real> {
    fn run<S: Sampler<F>>(self, sampler: S);
}

impl<F: Real> FieldArrays<'_, F> {
    /// Runs work with the sampler that suits the field's shape.
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

/// Advances all particles through a segment. Returns the lives that have ended on the way and are
/// followed by others, in no order.
pub(crate) fn advance<F: Real>(
    arrays: Arrays<F>,
    field: &FieldArrays<F>,
    inlets: &[[F; 3]],
    segment: &Segment,
) -> Vec<Ended<F>> {
    // No launch before this one can have left anything: the log has room for all.
    let resumes = segment.reinjection.as_ref().is_some_and(|reinjection| reinjection.resumes);
    let mut log = Vec::new();
    if !resumes {
        let frame_size = field.shape.values_per_frame();
        let work = Advance { arrays, segment, inlets, frame_size, log: &mut log };
        field.with_sampler(segment.clock.frames, work);
    }
    log
}

struct Advance<'a, F> {
    arrays: Arrays<'a, F>,
    segment: &'a Segment,
    inlets: &'a [[F; 3]],
    frame_size: usize,
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
        let run = step::Run::<F>::new::<M>(self.segment, self.inlets, self.frame_size);
        let advance = |arrays: Arrays<F>, steps: &Range<usize>| {
            tiles(arrays).for_each(|arrays| {
                lanes::dispatch(tile::Tile::<F, S, M>::new(arrays, &run, sampler, steps.clone()));
            });
        };
        let mut arrays = self.arrays;
        let mut parts = Parts::new(arrays.position.len(), self.segment.steps.len());
        while let Some(steps) = parts.next(run.followers.as_ref().map(ReinjectionTable::count)) {
            match Order::new(&arrays, steps.len()) {
                None => advance(arrays.reborrow(), &steps),
                Some(order) => {
                    let mut ordered = order.gather(&arrays);
                    advance(ordered.arrays(), &steps);
                    order.scatter(&ordered, &mut arrays);
                }
            }
        }
        *self.log = run.into_log();
    }
}

/// A scheme as a type, so that its coefficients are constants in the compiled loop.
pub(crate) trait Method {
    const TABLEAU: &'static Tableau;
    /// Something for each stage: no more than there are, as all of it is written in every step.
    type Stages<T: Copy>: AsMut<[T]> + AsRef<[T]>;
    /// The same for all stages.
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

/// Samples the field at positions, at the beginning of the segment's first step.
pub(crate) fn sample<F: Real>(
    position: &[[F; 3]],
    velocity: &mut [[F; 3]],
    field: &FieldArrays<F>,
    segment: &Segment,
) {
    let frame_size = field.shape.values_per_frame();
    let work = Sample { position, velocity, segment, frame_size };
    field.with_sampler(segment.clock.frames, work);
}

struct Sample<'a, F> {
    position: &'a [[F; 3]],
    velocity: &'a mut [[F; 3]],
    segment: &'a Segment,
    frame_size: usize,
}

impl<F: Real> WithSampler<F> for Sample<'_, F> {
    fn run<S: Sampler<F>>(self, sampler: S) {
        let Some(step) = self.segment.steps.first() else {
            return;
        };
        let moment = Frames::new(&self.segment.clock, self.frame_size).moment(step, F::zero());
        let walls = Walls::<F>::new(&self.segment.boundary);
        let tiles = self.position.par_chunks(TILE).zip(self.velocity.par_chunks_mut(TILE));
        tiles.for_each(|(position, velocity)| {
            let (walls, moment, sampler) = (&walls, &moment, &sampler);
            lanes::dispatch(SampleTile { position, velocity, walls, moment, sampler });
        });
    }
}

/// The cell of each position in a mesh, or -1.
///
/// # Panics
///
/// On a field that is not on a mesh.
pub(crate) fn locate<F: Real>(position: &[[F; 3]], field: &FieldArrays<F>, cells: &mut [i32]) {
    let FieldShape::Mesh(shape) = field.shape else {
        panic!("locate: the field is not on a mesh");
    };
    let frames = (field.velocity.len() - 1) / shape.values.max(1);
    match shape.form {
        MeshForm::Simplices => MeshSampler::new(field, shape, frames, Simplices::new(field, shape))
            .locate(position, cells),
        MeshForm::General => MeshSampler::new(field, shape, frames, General::new(field, shape))
            .locate(position, cells),
    }
}

struct SampleTile<'a, F, S> {
    position: &'a [[F; 3]],
    velocity: &'a mut [[F; 3]],
    walls: &'a Walls<F>,
    moment: &'a FramePair<F>,
    sampler: &'a S,
}

impl<F: Real, S: Sampler<F>> Task<F> for SampleTile<'_, F, S> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let mut hint = S::Hint::default();
        for (p, v) in self.position.iter().zip(self.velocity) {
            if S::ENDS {
                // What a hint knows of one particle must not change the value of another.
                hint = S::Hint::default();
            }
            let at = self.walls.wrap::<L>(four::<F, L>(p));
            *v = three(self.sampler.sample::<L>(at, self.moment, &mut hint).array());
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
