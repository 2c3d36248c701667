//! Steps of a single particle of a tile: boundary events, and the rest of a step after a release.

use super::{
    Real,
    arrays::{Arrays, Position},
    frame_pair::frame_pair,
    lanes::{Four, Portable, four, padded, three},
    method::AnyScheme,
    paths::follow_noting,
    probe::{Probe, Width},
    reinjection::{Ended, Restart},
    segment::SegmentContext,
    step::{Positions, Probed, Stages},
    trail::{AcceptedStep, Trail},
    walk::diffuse,
};
use crate::{
    MAX_INSTANCES_PER_STEP,
    physics::{
        diffusion::host::Address,
        gates::host::{Noting, note, noting, whole},
        particle::host::lost_status,
        prelude::host::Vec3,
        region::host::known,
        settle::host::{FreeEnd, arrive},
    },
    status::{ACTIVE, STAGNANT, WAITING},
};

/// A single particle of a tile in a step.
pub(super) struct Single<'a, 'b, F: Real> {
    pub tile: &'a mut Arrays<'b, F>,
    /// Instances that have ended and are followed by others.
    pub log: &'a mut Vec<Ended<F>>,
    /// Keeps what gradients need, if it is wanted.
    pub trail: Option<&'a mut Trail<F>>,
    /// Its index in the tile.
    pub i: usize,
    pub context: &'a SegmentContext<'a, F>,
    pub probe: &'a mut dyn Probe<F>,
    /// The step in the segment.
    pub j: usize,
    /// The fraction of the step at which the displacement ends.
    pub until: F,
}

impl<F: Real> Single<'_, '_, F> {
    /// Applies the displacement to `to`, over the step from its fraction `start` on. An instance
    /// that is re-injected in the same step takes the rest of it.
    pub fn finish_step(&mut self, result: (Position<F>, bool), start: F) {
        self.land(result, start);
        self.follow();
    }

    /// Ends the instance where it is, at a fraction of the step.
    pub fn end_step(&mut self, status: i32, fraction: F) {
        self.end(status, fraction);
        self.follow();
    }

    /// Re-injects the slot for as long as instances end in the step.
    fn follow(&mut self) {
        let number = self.number();
        for _ in 0..MAX_INSTANCES_PER_STEP {
            if !self.reinject() {
                return;
            }
            let record = &self.tile.record[self.i];
            let takes_rest = !self.context.takes_parts();
            if record.status != WAITING || record.step != number || !takes_rest {
                return;
            }
            self.remainder();
        }
        if self.reinject() {
            self.tile.defer_release(self.i, number);
        }
    }

    /// The number of the step in the run.
    fn number(&self) -> i32 {
        self.context.segment.first_step + self.j as i32
    }

    fn land(&mut self, ([to, rest], slow): (Position<F>, bool), start: F) {
        let i = self.i;
        if to.iter().any(|x| !x.is_finite()) {
            let status = self.lost_status(start);
            return self.end(status, start);
        }
        if slow {
            return self.end(STAGNANT, start);
        }
        let [from, _] = self.tile.position[i];
        let mut noting = self.noting(start);
        let mut none = known(0);
        let cells = self.probe.cells().unwrap_or(&mut none);
        let passage = follow_noting(
            &self.context.launch,
            [Vec3(from), Vec3(to)],
            cells,
            (&mut noting, self.log),
        );
        let h = (self.until - start) * self.full_dt();
        let (to, rest) = (Vec3(to), Vec3(rest));
        let free = FreeEnd { to, rest, start, until: self.until, h };
        let (number, cell) = (self.number(), self.probe.note());
        let mut slot = self.tile.slot(i);
        let mut particle = slot.particle();
        arrive(&self.context.launch, &mut particle, &passage, &free, number, cell);
        slot.put(&particle);
    }

    /// What the log needs to know of a path from a fraction of the step on.
    fn noting(&self, start: F) -> Noting<F> {
        Noting {
            generation: self.tile.record[self.i].generation,
            number: self.number(),
            start,
            until: self.until,
            ..noting(self.tile.slots.get(self.i))
        }
    }

    /// Logs the gates that a straight path from a fraction of the step on crosses, on which nothing else happens.
    pub fn note(&mut self, [from, to]: [[F; 3]; 2], start: F) {
        let (launch, mut noting) = (&self.context.launch, self.noting(start));
        note(launch, &whole(Vec3(from), Vec3(to)), &mut noting, self.log);
    }

    /// The status of the particle if the step from its fraction `start` on has no finite end.
    fn lost_status(&mut self, start: F) -> i32 {
        let launch = &self.context.launch;
        let is_first =
            self.tile.record[self.i].step == self.number() && self.tile.fraction[self.i] == start;
        let pair = frame_pair(launch, self.j, start * self.full_dt());
        let [at, _] = self.tile.position[self.i];
        let at = self.context.walls.wrap::<Portable>(four::<F, Portable>(&at));
        self.probe.keep();
        self.probe.recall(0);
        let velocity = self.probe.sample(at.array(), &pair, Width::Portable);
        self.probe.restore();
        let is_in_field = three(velocity).iter().all(|x| x.is_finite());
        lost_status(is_first, is_in_field, launch.features.holes)
    }

    /// The length of the step.
    fn full_dt(&self) -> F {
        F::of(self.context.segment.steps[self.j].h)
    }

    fn end(&mut self, status: i32, fraction: F) {
        self.tile.record[self.i].status = status;
        self.tile.record[self.i].step = self.number();
        self.tile.fraction[self.i] = fraction;
    }

    /// Re-injects the slot if its instance has ended; the next instance then waits for its release.
    fn reinject(&mut self) -> bool {
        if !self.context.reuses_slots() {
            return false;
        }
        let (i, launch) = (self.i, &self.context.launch);
        let inlet = self.trail.as_ref().map(|_| self.tile.slot(i).inlet_after(launch));
        let ended = self.tile.slot(i).reinject(launch);
        self.log.extend(ended);
        if let (Some(_), Some(trail), Some(inlet)) = (ended, &mut self.trail, inlet) {
            let (generation, slot) = (self.tile.record[i].generation, self.tile.slot(i));
            let row = slot.start_row(launch, inlet);
            trail.restarts.push(Restart { i, generation, row });
        }
        ended.is_some()
    }

    /// Takes the rest of the step from the release. This is rare, so it uses portable vectors and a scheme that is read
    /// at run time: with the processor's, the whole step would be compiled once more for each scheme.
    fn remainder(&mut self) {
        let i = self.i;
        self.until = F::one();
        let start = self.tile.fraction[i];
        let full_dt = self.full_dt();
        let h = (F::one() - start) * full_dt;
        let pairs = self.context.part(self.j, start * full_dt, h);
        self.tile.record[i].status = ACTIVE;
        if let Some(trail) = &mut self.trail {
            let (position, record) = (self.tile.position[i], self.tile.record[i]);
            trail.steps.push(AcceptedStep { i, j: self.j, start, h, position, record });
        }
        self.probe.recall(0);
        let (from, context) = (self.tile.position[i], self.context);
        let at = Positions::load::<F, Portable>(&[from]);
        let scaled = context.scaled(self.tile.slots.get(i));
        let probed = Probed { probe: &mut *self.probe, scaled };
        let mut stages =
            Stages::<F, Portable, _, AnyScheme, 1>::new(&at, (h, &pairs), context, probed);
        let result = stages.step();
        let mut to = result.to;
        if context.launch.features.walk.is_on {
            let address = Address {
                slot: self.tile.slots.get(i),
                generation: self.tile.record[i].generation as u32,
                step: self.number() as u32,
            };
            let (launch, walls, step) = (&context.launch, &context.walls, (h, &pairs[0]));
            let displacement = diffuse(launch, from[0], address, step, walls, self.probe);
            to = to.moved_on::<F, Portable>(&[displacement]);
        }
        let (end, slow) = (to.of(0), result.slow[0]);
        let is_plain = !slow
            && context.is_clear((from[0], end[0]))
            && self.probe.holds(padded(end[0]), Width::Portable);
        if is_plain {
            self.note([from[0], end[0]], start);
            self.tile.position[i] = end;
            self.tile.record[i].location = self.probe.note();
        } else {
            self.land((end, slow), start);
        }
    }
}
