//! A tile of particles, and what is rare in its steps: compiled once for a precision.

use super::{
    Real,
    arrays::{Arrays, Position},
    frame_pair::FramePair,
    inertial::Velocities,
    lanes::padded,
    probe::{Probe, Width},
    reinjection::Ended,
    segment::SegmentContext,
    single::Single,
    tallies::TallyRoom,
    trail::Trail,
    walk::diffuse,
};
use crate::{
    Record,
    physics::diffusion::host::Address,
    status::{ACTIVE, WAITING},
};
use std::ops::Range;

/// A tile of particles in a segment.
pub(super) struct Tile<'a, F: Real> {
    pub arrays: Arrays<'a, F>,
    pub context: &'a SegmentContext<'a, F>,
    /// Instances that have ended and are followed by others, and crossings of gates.
    pub log: Vec<Ended<F>>,
    /// The steps of the segment to take.
    pub steps: Range<usize>,
    /// Keeps irregular steps, if gradients or tallies need them.
    pub trail: Option<&'a mut Trail<F>>,
    /// Room for tallies, if there are any.
    pub tallied: Option<&'a mut TallyRoom<F>>,
}

impl<'a, F: Real> Tile<'a, F> {
    pub fn new(
        arrays: Arrays<'a, F>,
        context: &'a SegmentContext<'a, F>,
        steps: Range<usize>,
    ) -> Self {
        Tile { arrays, context, log: Vec::new(), steps, trail: None, tallied: None }
    }

    /// Assigns the first release to slots of sources.
    pub fn assign_first_release(&mut self) {
        // Once in a launch, which may be taken in several parts.
        if self.context.reuses_slots() && self.steps.start == 0 {
            for i in 0..self.arrays.position.len() {
                self.arrays.slot(i).assign_first_release(&self.context.launch);
            }
        }
    }

    pub fn append_log(&mut self) {
        if let Some(log) = &self.context.log {
            log.append(&mut self.log);
        }
    }

    /// Whether a particle takes part in the remainder of a block, and from which step on.
    #[inline(always)]
    pub fn continues(&self, i: usize, from: &mut usize, block: &Range<usize>) -> bool {
        let record = &self.arrays.record[i];
        if record.status == WAITING {
            let release = self.release(record.step, block);
            *from = release.unwrap_or(block.end);
        }
        (record.status == WAITING || record.status == ACTIVE) && *from < block.end
    }

    /// The step of the segment in which a waiting particle is released, if it is in the block.
    #[inline(always)]
    pub fn release(&self, step: i32, block: &Range<usize>) -> Option<usize> {
        let j = usize::try_from(step - self.context.segment.first_step).ok()?;
        block.contains(&j).then_some(j)
    }

    /// The displacement of the random walk of a particle in step `j`, over a part of length `h`.
    pub fn diffuse(
        &self,
        (i, from): (usize, [F; 3]),
        (j, h, pair): (usize, F, &FramePair<F>),
        probe: &mut dyn Probe<F>,
    ) -> [F; 3] {
        let address = Address {
            slot: self.arrays.slots.get(i),
            generation: self.arrays.record[i].generation as u32,
            step: (self.context.segment.first_step + j as i32) as u32,
        };
        let SegmentContext { launch, walls, .. } = self.context;
        diffuse(launch, from, address, (h, pair), walls, probe)
    }

    /// The rest of a step in which a particle may meet a boundary or end, by the vectors of the loop.
    pub fn finish_step(&mut self, member: Member<F>, step: PartOfStep<F>, width: Width) {
        let Member { i, to, velocity, .. } = member;
        let (from, Record { location, generation, .. }) =
            (self.arrays.position[i], self.arrays.record[i]);
        self.take(member, step, width);
        if let Some(velocities) = velocity {
            let path = [from, to, self.arrays.position[i]];
            let is_same = self.arrays.record[i].generation == generation;
            let [own, _, fluctuation] = &mut self.arrays.inertia[i];
            let landed = |velocities| match is_same {
                true => self.context.landed(path, location, velocities),
                // That of the next particle is known from its release on.
                false => [F::of(f64::NAN); 3],
            };
            *own = landed(velocities);
            if self.context.segment.inertia.is_some_and(|inertia| inertia.fluctuates) {
                *fluctuation = landed([*fluctuation, [F::zero(); 3]]);
            }
        }
    }

    fn take(&mut self, member: Member<F>, step: PartOfStep<F>, width: Width) {
        let Member { i, to, slow, probe, .. } = member;
        let [from, _] = self.arrays.position[i];
        let is_plain = !slow && self.context.is_clear((from, to[0]));
        if is_plain && probe.holds(padded(to[0]), width) {
            let note = probe.note();
            if self.context.launch.features.gates {
                self.note_gate(i, [from, to[0]], step);
            }
            self.arrays.position[i] = to;
            self.arrays.record[i].location = note;
            return;
        }
        self.single(i, probe, step).finish_step((to, slow), step.start);
    }

    /// Ends a particle where it is, at the start of a part of a step.
    #[cold]
    pub fn end(
        &mut self,
        (i, status): (usize, i32),
        step: PartOfStep<F>,
        probe: &mut dyn Probe<F>,
    ) {
        let generation = self.arrays.record[i].generation;
        self.single(i, probe, step).end_step(status, step.start);
        // The velocity of the next particle is known from its release on.
        if let Some([own, _, fluctuation]) = self.arrays.inertia.get_mut(i)
            && self.arrays.record[i].generation != generation
        {
            (*own, *fluctuation) = ([F::of(f64::NAN); 3], [F::of(f64::NAN); 3]);
        }
    }

    fn single<'s>(
        &'s mut self,
        i: usize,
        probe: &'s mut dyn Probe<F>,
        PartOfStep { j, until, .. }: PartOfStep<F>,
    ) -> Single<'s, 'a, F> {
        let trail = self.trail.as_deref_mut();
        let (tile, log, context) = (&mut self.arrays, &mut self.log, self.context);
        Single { tile, log, trail, i, context, probe, j, until }
    }
}

/// A particle at the end of a step, before boundary conditions.
pub(super) struct Member<'a, F: Real> {
    /// Its index in the tile.
    pub i: usize,
    pub to: Position<F>,
    /// Whether it is slower than the threshold speed.
    pub slow: bool,
    pub probe: &'a mut dyn Probe<F>,
    /// Of a particle with inertia, the velocity at the start of the step and its change.
    pub velocity: Option<Velocities<F>>,
}

/// A part of step `j` of a segment, between two fractions of it.
#[derive(Clone, Copy)]
pub(super) struct PartOfStep<F> {
    pub j: usize,
    pub start: F,
    pub until: F,
}
