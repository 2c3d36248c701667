//! Tallies of a run: what kernels add up in each step, and the same on the host, for engines and devices that do not.

use super::{
    Tracer,
    arrays::{field_values, is_host},
    reinjection::{End, Reinjection},
    rows::Rows,
    stepper::Stepper,
};
use crate::{
    Engine, Error, Floats, Precision, Result,
    combinations::{Feature, refusal},
    field::LANES,
    schedule::Chunk,
};
use burn::tensor::Tensor;
use burntrace_kernels::{
    Condition, NEVER, Particles, Record, Stretch, TALLY, Tallies, TrackPoint,
    status::{ACTIVE, STOPPED, WAITING},
    straight_distance,
};
use std::sync::Arc;

/// The tallies of a tracer: those that are saved, then those that only conditions need.
pub(super) fn of(tracer: &Tracer) -> Result<Arc<Tallies>> {
    let conditions = &tracer.surroundings.stop_when;
    let lanes = tracer.field.sampled().map(|sampled| &sampled.lanes);
    let arrays = lanes.map_or(&[][..], |lanes| lanes.arrays());
    let is_on_sphere = tracer.field.sampled().is_some_and(|sampled| sampled.radius().is_some());
    let find = |name: &str| lanes.and_then(|lanes| lanes.find(name));
    let mut all = Tallies::default();
    for saved in &tracer.save.tallies {
        let tally = saved.tally.in_field(find, (arrays, is_on_sphere));
        all.each.push(tally.map_err(|flaw| Error::Arrays(format!("`{}`: {flaw}", saved.name)))?);
    }
    for condition in conditions {
        let fail = |flaw: String| Error::Stop { condition: condition.to_string(), reason: flaw };
        let tally = condition.tally.in_field(find, (arrays, is_on_sphere)).map_err(fail)?;
        if !condition.bound.is_finite() {
            return Err(fail("its bound is not finite; give a number".into()));
        }
        let known = all.each.iter().position(|known| *known == tally);
        let number = known.unwrap_or_else(|| {
            all.each.push(tally);
            all.each.len() - 1
        });
        let (bound, is_above) = (condition.bound, condition.is_above);
        all.conditions.push(Condition { tally: number, bound, is_above });
    }
    Ok(Arc::new(all))
}

/// The rows of `count` particles before their first steps, if there are tallies.
pub(super) fn rows(tallies: &Tallies, count: usize, precision: Precision) -> Option<Floats> {
    let mut row = vec![0.0_f64; tallies.width()];
    tallies.start(&mut row);
    let width = row.len();
    (width > 0).then(|| Floats::filled(precision, (count, width), |_, at| row[at]))
}

impl Stepper<'_> {
    /// Whether kernels add up in each step.
    fn adds_in_kernels(&self) -> bool {
        self.engine == Engine::Fused && self.hook.is_none() && is_host(&self.field.device())
    }

    /// Refuses what only kernels can add up.
    pub(super) fn check_tallies(&self, reuses_slots: bool) -> Result<()> {
        if self.tallies.each.is_empty() || self.adds_in_kernels() {
            return Ok(());
        }
        match (reuses_slots, self.adaptive) {
            (true, _) => Err(refusal(Feature::TalliesOnHost, Feature::ReusedSlots)),
            (_, Some(_)) => Err(refusal(Feature::TalliesOnHost, Feature::Tolerance)),
            _ => Ok(()),
        }
    }

    /// Advances particles by a chunk and adds to their tallies, if there are any.
    pub(super) fn advance_tallied(
        &self,
        (first, mut particles): (usize, Particles),
        chunk: &Chunk,
        following: Option<&Reinjection>,
    ) -> Result<(Particles, Vec<End>)> {
        let tallies = match particles.tallies.take() {
            Some(tallies) if !self.adds_in_kernels() => tallies,
            tallies => {
                particles.tallies = tallies;
                return self.advance((first, particles), chunk, following);
            }
        };
        let ([_, width], device) = (tallies.dims(), tallies.device());
        let mut tallied = Tallied { stepper: self, rows: Floats::from_tensor(tallies)? };
        let mut ends = Vec::new();
        for j in 0..chunk.steps() {
            let part = chunk.part(j..j + 1, false);
            let before = Known::of(&particles)?;
            let (moved, ended) = self.advance((first, particles), &part, following)?;
            ends.extend(ended);
            particles = tallied.add((first, moved), &before, &part)?;
        }
        let count = particles.count();
        particles.tallies = Some(tallied.rows.into_tensor([count, width], &device));
        Ok((particles, ends))
    }

    /// Starts the tallies of particles that are active at a time: their quantities there.
    pub(super) fn start_tallies(&self, mut particles: Particles, time: f64) -> Result<Particles> {
        let Some(tallies) = particles.tallies.take() else { return Ok(particles) };
        let (dims, device) = (tallies.dims(), tallies.device());
        let mut rows = Floats::from_tensor(tallies)?;
        let values = self.quantities(&particles, time)?;
        let records = super::rows::ints(&particles.record)?;
        for (i, record) in Record::from_numbers(&records).iter().enumerate() {
            if record.status == ACTIVE {
                self.start_row(&mut rows, i, &values);
            }
        }
        particles.tallies = Some(rows.into_tensor(dims, &device));
        Ok(particles)
    }

    /// Sets the quantities of a particle whose tallies have not started.
    fn start_row(&self, rows: &mut Floats, i: usize, values: &Quantities) {
        let count = self.tallies.each.len();
        for k in 0..count {
            let at = TALLY * (count * i + k);
            if rows.get(at + 2).is_nan() {
                let quantity = values.of(i)[k];
                rows.set(at + 2, quantity);
                if rows.get(at).is_nan() {
                    rows.set(at, quantity);
                }
            }
        }
    }

    /// The quantities of the tallies at particles.
    fn quantities(&self, particles: &Particles, time: f64) -> Result<Quantities> {
        let groups = self.tallies.groups();
        let count = self.tallies.each.len();
        let mut all = Quantities { numbers: vec![0.0; count * particles.count()], count };
        let (Some(first), Some(last)) = (groups.first(), groups.last()) else {
            all.fill(&self.tallies, &groups, None);
            return Ok(all);
        };
        let values = match self.field.origin_view() {
            Some(_) => field_values(self, particles, *first, time)?,
            // A field without arrays has a speed.
            None => {
                let velocity = self.velocity((0, particles), time)?;
                let none = velocity.clone().narrow(1, 0, 1).zeros_like();
                Tensor::cat(vec![velocity, none], 1)
            }
        };
        let width = values.dims()[1];
        let present: Vec<usize> = (*first..=*last).collect();
        all.fill(&self.tallies, &present, Some((Floats::from_tensor(values)?, width)));
        Ok(all)
    }
}

/// What is saved of tallies `[n, saved]`; NaN of particles that wait.
pub(super) fn readings(
    stepper: &Stepper,
    particles: &Particles,
    saved: usize,
) -> Result<Tensor<2>> {
    let position = &particles.position;
    let (count, device) = (particles.count(), position.device());
    let lost = || Error::Execution("it lost the tallies".into());
    let rows = Floats::from_tensor(particles.tallies.clone().ok_or_else(lost)?)?;
    let records = super::rows::ints(&particles.record)?;
    let records = Record::from_numbers(&records);
    let mut row = vec![0.0; stepper.tallies.width()];
    let mut all = Vec::with_capacity(count * saved);
    for (i, record) in records.iter().enumerate() {
        let first = row.len() * i;
        row.iter_mut().enumerate().for_each(|(k, x)| *x = rows.get(first + k));
        let is_waiting = record.status == WAITING;
        let readings = stepper.tallies.readings(&row).take(saved);
        all.extend(readings.map(|x| if is_waiting { f64::NAN } else { x }));
    }
    let numbers = Floats::from_f64(rows.precision(), all.into_iter());
    Ok(numbers.into_tensor([count, saved], &device))
}

/// The quantities of tallies at particles, one after another.
struct Quantities {
    numbers: Vec<f64>,
    count: usize,
}

impl Quantities {
    fn of(&self, i: usize) -> &[f64] {
        &self.numbers[self.count * i..self.count * (i + 1)]
    }

    /// Finds the quantities from the values of some groups at all particles, and their number.
    fn fill(&mut self, tallies: &Tallies, groups: &[usize], values: Option<(Floats, usize)>) {
        let (mut row, places) = (vec![0.0; LANES * groups.len()], tallies.places(groups));
        for (i, quantities) in self.numbers.chunks_exact_mut(self.count.max(1)).enumerate() {
            if let Some((values, of_each)) = &values {
                row.iter_mut().enumerate().for_each(|(k, x)| *x = values.get(of_each * i + k));
            }
            burntrace_kernels::quantities(&places, &row, quantities);
        }
    }
}

/// Particles before a step.
struct Known {
    particles: Particles,
    records: Vec<i32>,
    positions: Vec<f64>,
    fractions: Vec<f64>,
}

impl Known {
    fn of(particles: &Particles) -> Result<Self> {
        let rows = Rows::read(particles.clone(), true)?;
        let positions = (0..rows.count()).flat_map(|i| rows.coordinates(i)).collect();
        let fractions = (0..rows.count()).map(|i| rows.fraction.get(i)).collect();
        Ok(Known { particles: particles.clone(), positions, fractions, records: rows.record })
    }

    /// Where a particle is, at a fraction of the step.
    fn point(&self, i: usize, at: f64) -> TrackPoint<f64> {
        let image = Record::from_numbers(&self.records)[i].image;
        TrackPoint { at, position: std::array::from_fn(|d| self.positions[3 * i + d]), image }
    }

    /// The fraction of a step at which a particle starts to move, if it does.
    fn start(&self, i: usize, number: i32) -> Option<f64> {
        let record = &Record::from_numbers(&self.records)[i];
        match record.status {
            ACTIVE => Some(0.0),
            WAITING if record.step == number && number != NEVER => Some(self.fractions[i]),
            _ => None,
        }
    }
}

/// The tallies of particles that take steps one by one.
struct Tallied<'a> {
    stepper: &'a Stepper<'a>,
    rows: Floats,
}

impl Tallied<'_> {
    /// Adds to the tallies after a step, and ends the particles that meet a condition.
    fn add(
        &mut self,
        (first, moved): (usize, Particles),
        before: &Known,
        part: &Chunk,
    ) -> Result<Particles> {
        let (times, number) = ([part.times[0], part.end()], part.first_step as i32);
        let tallies = self.stepper.tallies.clone();
        self.start_released(before, number, times)?;
        let values = self.stepper.quantities(&moved, times[1])?;
        let device = moved.position.device();
        let mut rows = Rows::read(moved, true)?;
        let width = tallies.width();
        for i in 0..rows.count() {
            let Some(from) = before.start(i, number) else { continue };
            let record = Record::from_numbers(&rows.record)[i];
            let is_active = record.status == ACTIVE;
            let until = if is_active { 1.0 } else { rows.fraction.get(i) };
            let mut row: Vec<f64> = (0..width).map(|k| self.rows.get(width * i + k)).collect();
            let mut quantities = values.of(i).to_vec();
            if !is_active {
                // At its end, a particle may be outside the field.
                for (quantity, last) in quantities.iter_mut().zip(row.iter().skip(2).step_by(TALLY))
                {
                    *quantity = if quantity.is_nan() { *last } else { *quantity };
                }
            }
            let start = before.point(i, from);
            let image = record.image;
            let to = TrackPoint { at: until, position: rows.coordinates(i), image };
            let boundary = &self.stepper.boundary;
            let ends = [start.position, start.continued(&to, boundary)];
            let radius = self.stepper.field.sampled().and_then(|sampled| sampled.radius());
            let stretch = Stretch {
                time: ((until - from) * (times[1] - times[0])).abs(),
                length: straight_distance(ends[0], ends[1], radius),
            };
            let met = tallies.advance(&mut row, &quantities, &stretch);
            for (k, number) in row.into_iter().enumerate() {
                self.rows.set(width * i + k, number);
            }
            if let Some((condition, part)) = met {
                let slot = rows.slots.as_ref().map_or(i, |slots| slots[i] as usize);
                let point = start.between(&to, part, boundary);
                stop(&mut rows, (i, number), condition, &point);
                self.stepper.gates.forget((first + slot) as u32, number, point.at);
            }
        }
        Ok(rows.into_particles(&device))
    }

    /// Starts the tallies of particles that are released in a step, at their release.
    fn start_released(
        &mut self,
        before: &Known,
        number: i32,
        [start, end]: [f64; 2],
    ) -> Result<()> {
        let records = Record::from_numbers(&before.records);
        let is_new = |i: usize| records[i].status == WAITING && before.start(i, number).is_some();
        let mut fractions: Vec<f64> =
            (0..records.len()).filter(|i| is_new(*i)).map(|i| before.fractions[i]).collect();
        fractions.sort_by(f64::total_cmp);
        fractions.dedup();
        for fraction in fractions {
            let time = start + fraction * (end - start);
            let values = self.stepper.quantities(&before.particles, time)?;
            for i in (0..records.len()).filter(|i| is_new(*i) && before.fractions[*i] == fraction) {
                self.stepper.start_row(&mut self.rows, i, &values);
            }
        }
        Ok(())
    }
}

/// Ends a particle at a point of its step, unless that is the end of the step.
fn stop(rows: &mut Rows, (i, number): (usize, i32), condition: usize, point: &TrackPoint<f64>) {
    let mut record = Record::from_numbers(&rows.record)[i];
    if point.position != rows.coordinates(i) {
        rows.set_position(i, point.position);
    }
    (record.status, record.step) = (STOPPED, number);
    (record.image, record.location) = (point.image, condition as i32);
    rows.set_record(i, &record);
    rows.fraction.set(i, point.at);
}
