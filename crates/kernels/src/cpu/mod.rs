//! The fused step on a CPU: plain loops over tiles of particles, on all threads of the current
//! rayon pool, compiled for the widest instructions that the machine turns out to have.

mod grid;
mod moment;
mod step;
mod walls;

pub(crate) use grid::GridArrays;

use crate::{Scheme, Segment, scheme::Tableau};
use moment::{Frames, Moment};
use rayon::prelude::*;
use walls::Walls;

/// Particles that a thread takes at once.
const TILE: usize = 256;

/// A float that fields and positions are made of.
pub(crate) trait Real:
    num_traits::Float + burn::tensor::Element + bytemuck::Pod + Send + Sync
{
    /// Rounded from double precision.
    fn of(value: f64) -> Self;
    /// The integer part, brought into the range of the integers.
    fn whole(self) -> i32;
    /// The float of an integer.
    fn of_whole(whole: i32) -> Self;
}

macro_rules! real {
    ($($float:ty)*) => {$(
        impl Real for $float {
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn whole(self) -> i32 {
                self as i32
            }
            #[inline(always)]
            fn of_whole(whole: i32) -> Self {
                whole as $float
            }
        }
    )*};
}
real!(f32 f64);

/// Velocity as a function of place, the moment being fixed beforehand.
pub(crate) trait Sampler<F>: Sync {
    fn sample(&self, position: &[F; 3], moment: &Moment<F>) -> [F; 3];
}

/// Work to be compiled apart for each kind of sampler.
pub(crate) trait WithSampler<F> {
    fn run<S: Sampler<F>>(self, sampler: S);
}

/// The particles' state, borrowed from whatever the backend keeps it in.
pub(crate) struct Arrays<'a, F> {
    pub position: &'a mut [[F; 3]],
    pub record: &'a mut [Record],
    pub fraction: &'a mut [F],
}

/// A row of [`Particles::record`](crate::Particles).
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Record {
    pub status: i32,
    pub step: i32,
    pub image: [i32; 3],
}

/// Advances all particles through a segment.
pub(crate) fn advance<F: Real>(arrays: Arrays<F>, grid: &GridArrays<F>, segment: &Segment) {
    grid.with_sampler(Advance { arrays, segment });
}

struct Advance<'a, F> {
    arrays: Arrays<'a, F>,
    segment: &'a Segment,
}

impl<F: Real> WithSampler<F> for Advance<'_, F> {
    fn run<S: Sampler<F>>(self, sampler: S) {
        match self.segment.scheme {
            Scheme::Euler => self.run_scheme::<S, Euler>(&sampler),
            Scheme::Midpoint => self.run_scheme::<S, Midpoint>(&sampler),
            Scheme::Heun => self.run_scheme::<S, Heun>(&sampler),
            Scheme::Rk4 => self.run_scheme::<S, Rk4>(&sampler),
        }
    }
}

impl<F: Real> Advance<'_, F> {
    fn run_scheme<S: Sampler<F>, M: Method>(self, sampler: &S) {
        let run = step::Run::<F>::new::<M>(self.segment);
        tiles(self.arrays).for_each(|mut tile| {
            pulp::Arch::new().dispatch(
                #[inline(always)]
                || step::advance_tile::<F, S, M>(&mut tile, &run, sampler),
            )
        });
    }
}

/// A scheme as a type, so that its coefficients are constants in the compiled loop.
pub(crate) trait Method {
    const TABLEAU: &'static Tableau;
}

macro_rules! methods {
    ($($name:ident)*) => {$(
        struct $name;
        impl Method for $name {
            const TABLEAU: &'static Tableau = Scheme::$name.tableau();
        }
    )*};
}
methods!(Euler Midpoint Heun Rk4);

/// Splits the particles into tiles.
fn tiles<F: Real>(arrays: Arrays<'_, F>) -> impl ParallelIterator<Item = Arrays<'_, F>> {
    let position = arrays.position.par_chunks_mut(TILE);
    let record = arrays.record.par_chunks_mut(TILE);
    let fraction = arrays.fraction.par_chunks_mut(TILE);
    position.zip(record).zip(fraction).map(|((position, record), fraction)| Arrays {
        position,
        record,
        fraction,
    })
}

/// Samples the field at positions, at the beginning of the segment's first step.
pub(crate) fn sample<F: Real>(
    position: &[[F; 3]],
    velocity: &mut [[F; 3]],
    grid: &GridArrays<F>,
    segment: &Segment,
) {
    grid.with_sampler(Sample { position, velocity, segment });
}

struct Sample<'a, F> {
    position: &'a [[F; 3]],
    velocity: &'a mut [[F; 3]],
    segment: &'a Segment,
}

impl<F: Real> WithSampler<F> for Sample<'_, F> {
    fn run<S: Sampler<F>>(self, sampler: S) {
        let Some(step) = self.segment.steps.first() else {
            return;
        };
        let moment = Frames::new(&self.segment.clock).moment(step, F::zero());
        let walls = Walls::<F>::new(&self.segment.boundary);
        let tiles = self.position.par_chunks(TILE).zip(self.velocity.par_chunks_mut(TILE));
        tiles.for_each(|(position, velocity)| {
            for (p, v) in position.iter().zip(velocity) {
                *v = sampler.sample(&walls.wrap(*p), &moment);
            }
        });
    }
}
