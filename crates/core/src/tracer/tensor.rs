//! The tensor engine: stages in Burn's own tensor operations, for any field, which can be differentiated.
//!
//! A step is taken in rounds. In each round some particles move: those that are active or due for release, in
//! adaptive steps as far as their error allows. The [operation](burntrace_kernels::settle) of the kernels settles a
//! round, and may release particles that move in the next one.

use super::{
    adapt,
    hook::{self, HookContext},
    inertial_step::inertial_step,
    reinjection::{End, Reinjection},
    rows::ints,
    runge_kutta::{StepResult, StepTimes, column_of, rk_step},
    sampled_at::StepStart,
    selection::{RowSelection, finite},
    settling::{self, Slotted, StepSpan, fractions},
    stepper::Stepper,
    trial::{StepCursor, Trial},
    walk,
};
use crate::{Result, Status, schedule::Chunk};
use burn::tensor::{DType, Int, Tensor, TensorData};
use burntrace_kernels::{
    FreeEnds, MAX_INSTANCES_PER_STEP, Particles, Record,
    settling::{DEFERS, GIVES_UP, MOVES, REJECTED, SLOW, UNKNOWN},
    status::{ACTIVE, WAITING},
};

/// Advances particles by a chunk. Also returns the ends that are followed by a re-injection.
pub(super) fn advance(
    stepper: &Stepper,
    (first, particles): (u32, Particles),
    chunk: &Chunk,
    following: Option<&Reinjection>,
) -> Result<(Particles, Vec<End>)> {
    let mut run = TensorRun::new(stepper, Slotted { first, following }, particles, chunk)?;
    for (j, times) in chunk.times.windows(2).enumerate() {
        run.step(&StepSpan { index: chunk.first_step + j as u64, times: [times[0], times[1]] })?;
    }
    run.finish()
}

/// Particles on their way through a chunk.
struct TensorRun<'a> {
    stepper: &'a Stepper<'a>,
    slotted: Slotted<'a>,
    particles: Particles,
    /// The records of the particles on the host.
    records: Vec<Record>,
    /// Their progress through the current step.
    cursors: Vec<StepCursor>,
    ends: Vec<End>,
}

/// What a round computes for the particles that move.
struct Attempt {
    result: StepResult,
    /// The diffusivity and its derivatives at the start `[n, 4]`, if a random walk depends on them.
    spread: Option<Tensor<2>>,
}

impl<'a> TensorRun<'a> {
    fn new(
        stepper: &'a Stepper<'a>,
        slotted: Slotted<'a>,
        particles: Particles,
        chunk: &Chunk,
    ) -> Result<Self> {
        let step = StepSpan { index: chunk.first_step, times: [chunk.times[0]; 2] };
        let particles = slotted.wake(stepper, particles, &step)?;
        let records = records(&particles)?;
        let mut cursors = vec![StepCursor::default(); records.len()];
        if stepper.adaptive.is_some() {
            // For an active particle, the fraction holds the length suggested for its next step.
            let suggested = fractions(&particles)?;
            for ((cursor, record), suggested) in cursors.iter_mut().zip(&records).zip(suggested) {
                cursor.next_dt = if record.status == ACTIVE { suggested } else { 0.0 };
            }
        }
        Ok(TensorRun { stepper, slotted, particles, records, cursors, ends: Vec::new() })
    }

    /// Takes all particles through a step.
    fn step(&mut self, step: &StepSpan) -> Result<()> {
        if let Some(turbulence) = &self.stepper.turbulence {
            let particles = self.particles.clone();
            self.particles =
                turbulence.renewed(self.stepper, self.slotted.first, particles, step)?;
        }
        let before = self.stepper.hook.as_ref().map(|_| self.particles.clone());
        let first = self.ends.len();
        let precision = self.stepper.field.precision();
        for cursor in &mut self.cursors {
            // As the state of the particles keeps it, so that the division into chunks has no effect.
            let next_dt = precision.round(cursor.next_dt);
            *cursor = StepCursor { next_dt, ..StepCursor::default() };
        }
        loop {
            let trials = self.trials(step)?;
            if trials.is_empty() {
                break;
            }
            self.round(step, &trials)?;
        }
        if let Some(before) = before {
            let context = HookContext { before, slotted: self.slotted, step: *step };
            let particles = self.particles.clone();
            let ends = (&mut self.ends, first);
            self.particles = hook::after_step(self.stepper, &context, particles, ends)?;
            self.read_records()?;
        }
        Ok(())
    }

    /// The particles that move in the next round of a step.
    fn trials(&mut self, step: &StepSpan) -> Result<Vec<Trial>> {
        let number = step.index as i32;
        let is_released = |record: &Record| record.status == WAITING && record.step == number;
        let released = match self.records.iter().any(is_released) {
            true => fractions(&self.particles)?,
            false => Vec::new(),
        };
        let mut trials = Vec::new();
        for (row, (record, cursor)) in self.records.iter().zip(&mut self.cursors).enumerate() {
            if is_released(record) {
                (cursor.start, cursor.next_dt, cursor.trials) = (released[row], 0.0, 0);
            } else if record.status != ACTIVE || cursor.start >= 1.0 {
                continue;
            }
            cursor.trials += usize::from(self.stepper.adaptive.is_some());
            trials.push(cursor.trial(row, self.stepper.adaptive.as_ref(), step.times));
        }
        Ok(trials)
    }

    /// Moves particles, and settles them.
    fn round(&mut self, step: &StepSpan, trials: &[Trial]) -> Result<()> {
        let rows = trials.iter().map(|trial| trial.row).collect();
        let rows = RowSelection::of_rows(rows, self.records.len());
        let attempt = self.attempt(&rows, trials)?;
        let accepted = match &self.stepper.adaptive {
            None => vec![true; trials.len()],
            Some(control) => {
                let from = rows.take(&self.particles.coordinates());
                let slack = self.stepper.field.precision().epsilon();
                let slack = slack * (step.times[1] - step.times[0]).abs();
                adapt::judge(control, (trials, slack), (from, &attempt.result), &mut self.cursors)?
            }
        };
        let attempt = self.without_lost(attempt, &rows, trials, &accepted)?;
        let mut particles = self.particles.clone();
        if let (Some(all), Some(own)) = (particles.velocity(), &attempt.result.own_velocity) {
            particles = particles.with_velocity(rows.put(all, own.clone().narrow(1, 0, 3)));
        }
        let free = self.free_ends(attempt, &rows, trials, &accepted);
        let segment = settling::segment(self.stepper, step);
        let ends = &mut self.ends;
        self.particles = self.slotted.settle(self.stepper, (particles, free), segment, ends)?;
        for (trial, _) in trials.iter().zip(&accepted).filter(|(_, is_accepted)| **is_accepted) {
            self.cursors[trial.row].start = trial.until;
        }
        self.read_records()
    }

    /// The free ends of some rows, each in a step of its own.
    fn attempt(&self, rows: &RowSelection, trials: &[Trial]) -> Result<Attempt> {
        let (stepper, first) = (self.stepper, self.slotted.first as usize);
        let start = StepStart {
            position: rows.take(&self.particles.coordinates()),
            locations: rows.rows().iter().map(|row| self.records[*row].location).collect(),
            factors: (stepper.factors.as_ref())
                .map(|factors| factors.of_rows((first, &self.particles), rows))
                .transpose()?,
        };
        let result = self.step_of(rows, &start, &StepTimes::of(trials))?;
        let times: Vec<f64> = trials.iter().map(|trial| trial.time).collect();
        let walk = stepper.walk.as_ref().filter(|walk| walk.varies);
        let spread = walk.map(|walk| walk::spread(walk, stepper, &start.position, &times));
        Ok(Attempt { result, spread: spread.transpose()? })
    }

    /// The steps of some rows, before boundaries.
    fn step_of(
        &self,
        rows: &RowSelection,
        start: &StepStart,
        times: &StepTimes,
    ) -> Result<StepResult> {
        let (Some(inertial), Some(own)) = (&self.stepper.inertia, self.particles.velocity()) else {
            return rk_step(self.stepper, start, times);
        };
        let first = self.slotted.first as usize;
        let response = inertial.response(first, &self.particles, rows);
        inertial_step((self.stepper, inertial), start, rows.take(&own), &response, times)
    }

    /// An attempt with a graph of the steps only that are accepted and finite. The others would turn the gradient of a
    /// parameter of the field into NaN, even with zero weight.
    fn without_lost(
        &self,
        mut attempt: Attempt,
        rows: &RowSelection,
        trials: &[Trial],
        accepted: &[bool],
    ) -> Result<Attempt> {
        let spread = attempt.spread.as_ref().filter(|spread| spread.device().is_autodiff());
        if !attempt.result.displacement.device().is_autodiff() && spread.is_none() {
            return Ok(attempt);
        }
        let mut finite = finite(&attempt.result.displacement);
        if let Some(spread) = spread {
            let is_known = spread.clone().detach().sum_dim(1).is_finite();
            finite = finite.bool_and(is_known);
        }
        let finite = ints(&finite.int())?;
        let kept = finite.iter().zip(accepted).map(|(finite, accepted)| *finite != 0 && *accepted);
        let kept = RowSelection::where_true(kept);
        if kept.is_all() {
            return Ok(attempt);
        }
        attempt.result.displacement = attempt.result.displacement.detach();
        attempt.spread = attempt.spread.map(Tensor::detach);
        attempt.result.own_velocity = attempt.result.own_velocity.map(Tensor::detach);
        if kept.is_empty() {
            return Ok(attempt);
        }
        let trials: Vec<Trial> = kept.rows().iter().map(|i| trials[*i]).collect();
        let again = self.attempt(&rows.of_selected(&kept), &trials)?;
        let (all, part) = (attempt.result.displacement, again.result.displacement);
        attempt.result.displacement = kept.put(all, part);
        if let (Some(all), Some(part)) = (attempt.spread.take(), again.spread) {
            attempt.spread = Some(kept.put(all, part));
        }
        if let (Some(all), Some(part)) =
            (attempt.result.own_velocity.take(), again.result.own_velocity)
        {
            attempt.result.own_velocity = Some(kept.put(all, part));
        }
        Ok(attempt)
    }

    /// The free ends of all particles.
    fn free_ends(
        &self,
        Attempt { result, spread }: Attempt,
        rows: &RowSelection,
        trials: &[Trial],
        accepted: &[bool],
    ) -> FreeEnds {
        let StepResult { displacement, slow, velocity, own_velocity, .. } = result;
        let count = self.records.len();
        let mut numbers = vec![0; count];
        for (trial, is_accepted) in trials.iter().zip(accepted) {
            let is_last = self.cursors[trial.row].instances >= MAX_INSTANCES_PER_STEP;
            let defers = if is_last { DEFERS } else { 0 };
            numbers[trial.row] = match *is_accepted {
                _ if self.cursors[trial.row].gives_up() => GIVES_UP | defers,
                true => MOVES | defers,
                false => REJECTED,
            };
        }
        let (device, dtype) = (displacement.device(), displacement.dtype());
        let flags = TensorData::new(numbers, [count]);
        let mut flags = Tensor::<1, Int>::from_data(flags, (&device, DType::I32));
        let unknown = self.stepper.has_holes().then(|| finite(&velocity).bool_not());
        for (mask, flag) in [(slow, SLOW), (unknown, UNKNOWN)] {
            if let Some(mask) = mask {
                let none = flags.zeros_like();
                let part = rows.take(&none).mask_fill(mask.squeeze_dim(1), flag);
                flags = flags + rows.put(none, part);
            }
        }
        let zeros = |columns| Tensor::zeros([count, columns], (&device, dtype));
        FreeEnds {
            spread: spread.map_or(zeros(4), |spread| rows.put(zeros(4), spread)),
            velocity_change: own_velocity.map(|own| rows.put(zeros(3), own.narrow(1, 3, 3))),
            span: self.spans(trials, &displacement),
            displacement: rows.put(zeros(3), displacement),
            flags,
        }
    }

    /// The fractions of the step in which particles move.
    fn spans(&self, trials: &[Trial], beside: &Tensor<2>) -> Tensor<2> {
        let of = |trial: &Trial| [trial.start, trial.until];
        let spans = match trials.iter().all(|trial| of(trial) == of(&trials[0])) {
            true => vec![of(&trials[0])],
            false => {
                let mut spans = vec![[0.0; 2]; self.records.len()];
                trials.iter().for_each(|trial| spans[trial.row] = of(trial));
                spans
            }
        };
        let shape = [spans.len(), 2];
        let spans = TensorData::new(spans.into_flattened(), shape);
        Tensor::from_data(spans, (&beside.device(), beside.dtype()))
    }

    /// Reads the records after a round or an operation.
    fn read_records(&mut self) -> Result<()> {
        let records = records(&self.particles)?;
        let before = std::mem::replace(&mut self.records, records);
        for ((cursor, before), now) in self.cursors.iter_mut().zip(before).zip(&self.records) {
            if now.generation != before.generation {
                // One that is active starts at the end of the step.
                (cursor.start, cursor.next_dt, cursor.trials) = (1.0, 0.0, 0);
                cursor.instances += 1;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<(Particles, Vec<End>)> {
        let TensorRun { stepper, mut particles, cursors, ends, .. } = self;
        if stepper.adaptive.is_some() {
            let next_dt =
                column_of(cursors.iter().map(|cursor| cursor.next_dt), &particles.position);
            let is_active = particles.status().equal_elem(Status::Active.code());
            particles.fraction = particles.fraction.mask_where(is_active, next_dt.squeeze_dim(1));
        }
        Ok((particles, ends))
    }
}

fn records(particles: &Particles) -> Result<Vec<Record>> {
    Ok(Record::from_numbers(&ints(&particles.record)?).to_vec())
}
