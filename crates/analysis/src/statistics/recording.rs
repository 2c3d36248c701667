//! Accumulation of statistics during a run.

use super::ends::{EndTally, Outcome};
use super::moments::{BATCH, CHUNK, Moments, PartialSums, Totals};
use super::rows::{self, RowContext};
use super::trajectory::{Observation, SlotTrajectory};
use super::{Options, ParticleStatistics, SaveStatistics, SpeedFrom, pairs};
use crate::{Error, Result};
use burn::tensor::{Element, ElementConversion, Tensor, TensorData};
use burntrace_core::{DIAMETER, Ends, MASS, ParticleInstance, Save, SavePlan, Status};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// The accumulated state of a run's statistics.
#[derive(Debug)]
pub(super) struct Recording {
    pub plan: SavePlan,
    /// Times of the complete saves.
    pub times: Vec<f64>,
    /// The trajectory of the particle in each slot.
    pub trajectories: Vec<SlotTrajectory>,
    /// Statistics of each save: of all particles, then of each group.
    pub saves: Vec<Vec<SaveStatistics>>,
    pub tally: EndTally,
    /// Rows of particle instances, in the order of their reports.
    pub rows: Vec<ParticleStatistics>,
    /// The mass of the particles of each slot, if it is saved.
    masses: Vec<f64>,
    /// The ends of the run, once reported; only the parts that rows need.
    pub ends: Option<Ends>,
    options: Options,
    /// Trajectories of particle instances that were replaced in their slots before their ends were
    /// reported, by slot and generation.
    replaced: HashMap<(usize, u32), SlotTrajectory>,
    /// The save in progress: its sums, the last partial sum, which may be incomplete, and the next slot.
    totals: Totals<Moments>,
    pending: Option<(u32, Moments)>,
    next: usize,
}

/// A block of a save on the host.
struct SaveBlock {
    position: Vec<f64>,
    status: Vec<Status>,
    image: Option<Vec<i32>>,
    velocity: Option<Vec<f64>>,
    generation: Option<Vec<i32>>,
    /// The values of each sampled array, with its number of components.
    arrays: Vec<(usize, Vec<f64>)>,
}

/// The result of a chunk: its sums, and the trajectories of replaced particle instances by slot.
type ChunkResult = (PartialSums<Moments>, Vec<(usize, SlotTrajectory)>);

impl Recording {
    pub fn begin(plan: &SavePlan, options: &Options) -> Self {
        let groups = options.count_groups();
        let mut plan = plan.clone();
        if options.radius.is_some() {
            // In space, a turn around the sphere ends where it starts.
            plan.periods = [0.0; 3];
        }
        Recording {
            trajectories: vec![SlotTrajectory::default(); plan.particles],
            times: Vec::new(),
            saves: vec![Vec::new(); groups + 1],
            tally: EndTally::default(),
            rows: Vec::new(),
            masses: match has_sizes(&plan) {
                true => vec![f64::NAN; plan.particles],
                false => Vec::new(),
            },
            ends: None,
            plan,
            options: options.clone(),
            replaced: HashMap::new(),
            totals: Totals::new(groups),
            pending: None,
            next: 0,
        }
    }

    pub fn speed_from(&self) -> SpeedFrom {
        if self.plan.velocity { SpeedFrom::Velocities } else { SpeedFrom::Displacements }
    }

    pub fn row_context(&self) -> RowContext {
        RowContext {
            periods: self.plan.periods,
            speed_from: self.speed_from(),
            last_save: self.times.last().copied(),
        }
    }

    /// Adds the release positions of the slots from `first` on.
    pub fn add_releases(&mut self, first: usize, positions: &[[f64; 3]]) -> Result<()> {
        let slots = self.trajectories.len();
        let Some(part) = self.trajectories.get_mut(first..first + positions.len()) else {
            return Err(Error::Statistics(format!(
                "{} release positions were given from slot {first} on; the run has {slots} slots",
                positions.len()
            )));
        };
        for (trajectory, position) in part.iter_mut().zip(positions) {
            *trajectory = SlotTrajectory::placed(self.options.in_space(*position));
        }
        Ok(())
    }

    /// Adds a save, or the next block of one.
    pub fn add_block(&mut self, save: Save) -> Result<()> {
        let [count, _] = save.position.dims();
        let (first, time) = (save.first, save.time);
        let end = first + count;
        if first != self.next || end > self.plan.particles {
            return Err(Error::Statistics(format!(
                "slots {first} to {end} of save {} were given, but slot {} of {} is next; give the \
                 blocks of a save in order",
                save.index, self.next, self.plan.particles
            )));
        }
        let dt = self.times.last().map_or(0.0, |last| (time - last).abs());
        let mut block = SaveBlock::read(save, self.plan.periods != [0.0; 3])?;
        for position in block.position.as_chunks_mut().0 {
            *position = self.options.in_space(*position);
        }
        self.keep_masses(&block, first);
        for start in (first..end).step_by(BATCH) {
            self.update(&block, start - first..end.min(start + BATCH) - first, first, dt);
        }
        self.next = end;
        if end == self.plan.particles {
            self.complete(time);
        }
        Ok(())
    }

    /// Keeps the masses of a block, which are those of its slots in all saves.
    fn keep_masses(&mut self, block: &SaveBlock, first: usize) {
        if self.masses.is_empty() {
            return;
        }
        let arrays = self.plan.arrays.iter().zip(&block.arrays);
        for (_, (_, values)) in arrays.filter(|(array, _)| array.name == MASS) {
            let known = self.masses[first..].iter_mut().zip(values);
            known.filter(|(_, mass)| mass.is_finite()).for_each(|(known, mass)| *known = *mass);
        }
    }

    /// The mass of the particles of a slot, if it is saved.
    pub fn mass(&self, slot: usize) -> Option<f64> {
        self.masses.get(slot).copied().filter(|mass| mass.is_finite())
    }

    /// Updates the trajectories of some rows of a block, and adds them to the sums.
    fn update(&mut self, block: &SaveBlock, rows: Range<usize>, first: usize, dt: f64) {
        let (mut start, end) = (first + rows.start, first + rows.end);
        let mut pending = self.pending.take();
        let mut rest = &mut self.trajectories[start..end];
        let mut chunks = Vec::new();
        while start < end {
            let until = end.min((start / CHUNK + 1) * CHUNK);
            let (chunk, others) = rest.split_at_mut(until - start);
            chunks.push((start - first..until - first, chunk, pending.take()));
            (rest, start) = (others, until);
        }
        let (options, plan) = (&self.options, &self.plan);
        let done: Vec<ChunkResult> = chunks
            .into_par_iter()
            .map(|(rows, trajectories, pending)| {
                let sums = PartialSums::resuming(pending);
                block.update(rows, trajectories, (first, dt), sums, (options, plan))
            })
            .collect();
        let last = done.len().saturating_sub(1);
        for (chunk, (mut sums, replaced)) in done.into_iter().enumerate() {
            if chunk == last && !end.is_multiple_of(CHUNK) {
                self.pending = sums.pop();
            }
            self.totals.add(sums);
            let keyed = |(slot, old): (usize, SlotTrajectory)| ((slot, old.generation), old);
            self.replaced.extend(replaced.into_iter().map(keyed));
        }
    }

    /// Completes the save in progress.
    fn complete(&mut self, time: f64) {
        let groups = self.options.count_groups();
        self.totals.add(PartialSums::resuming(self.pending.take()));
        let pairs = pairs::sums(&self.trajectories, &self.options, groups);
        let totals = std::mem::replace(&mut self.totals, Totals::new(groups));
        for ((saves, moments), pairs) in self.saves.iter_mut().zip(totals.iter()).zip(pairs.iter())
        {
            let mut save = moments.to_statistics(&self.plan.arrays);
            save.centroid = save.centroid.map(|centroid| self.options.of_space(centroid));
            pairs.write_to(&mut save);
            saves.push(save);
        }
        if let Some(before) = self.times.last() {
            self.tally.set_direction([*before, time]);
        }
        self.times.push(time);
        self.next = 0;
    }

    /// Adds a particle instance, reported at its end or at the end of the run.
    pub fn add_instance(&mut self, instance: &ParticleInstance) -> Result<()> {
        let slots = self.trajectories.len();
        let Some(current) = self.trajectories.get_mut(instance.slot) else {
            return Err(Error::Statistics(format!(
                "a particle instance in slot {} was reported; the run has {slots} slots, counted from 0",
                instance.slot
            )));
        };
        let trajectory = match current.generation == instance.generation && current.is_released() {
            true => {
                current.is_reported = instance.status.has_ended();
                Some(*current)
            }
            false => self.replaced.remove(&(instance.slot, instance.generation)),
        };
        let group = self.options.group_of(instance.slot);
        let times = Some([instance.release_time, instance.end_time]);
        let mass = self.mass(instance.slot);
        let outcome = Outcome { group, status: instance.status, times, mass };
        self.tally.add(outcome, &self.times, &self.options);
        if self.options.has_rows(true) {
            let instance = ParticleInstance {
                release_position: self.options.in_space(instance.release_position),
                end_position: self.options.in_space(instance.end_position),
                ..*instance
            };
            let row = rows::of_instance(&instance, trajectory.as_ref(), &self.row_context());
            self.rows.push(row);
        }
        Ok(())
    }

    /// Adds the ends of the run.
    pub fn end(&mut self, ends: &Ends) -> Result<()> {
        let lengths = [ends.status.len(), ends.release_time.len(), ends.end_time.len()];
        if lengths != [self.plan.particles; 3] {
            return Err(Error::Statistics(format!(
                "the run ended with {lengths:?} statuses, release times and end times; give one of each \
                 for its {} slots",
                self.plan.particles
            )));
        }
        for (slot, status) in ends.status.iter().enumerate() {
            // With re-used slots, particle instances have been reported one by one.
            if !self.plan.reuses_slots || !status.is_released() {
                let times = Some([ends.release_time[slot], ends.end_time[slot]]);
                let group = self.options.group_of(slot);
                let mass = self.mass(slot);
                let outcome = Outcome { group, status: *status, times, mass };
                self.tally.add(outcome, &self.times, &self.options);
            }
        }
        self.ends =
            Some(match self.options.has_rows(self.plan.reuses_slots) && !self.plan.reuses_slots {
                true => Ends {
                    status: ends.status.clone(),
                    release_time: ends.release_time.clone(),
                    end_time: ends.end_time.clone(),
                    ..Ends::default()
                },
                false => Ends::default(),
            });
        Ok(())
    }
}

/// Whether the diameters and masses of particles are saved.
fn has_sizes(plan: &SavePlan) -> bool {
    let has = |name: &str| plan.arrays.iter().any(|of| of.name == name && of.components == 1);
    has(DIAMETER) && has(MASS)
}

impl SaveBlock {
    fn read(save: Save, has_image: bool) -> Result<Self> {
        let [count, _] = save.position.dims();
        let exact = save.exact_positions().map_err(|error| Error::Execution(error.to_string()))?;
        let position = exact.into_flattened();
        let codes: Vec<i32> = numbers(save.status.try_into_data())?;
        let status = codes.into_iter().map(|code| {
            let unknown =
                || Error::Statistics(format!("a particle has the unknown status code {code}"));
            Status::from_code(code).ok_or_else(unknown)
        });
        let block = SaveBlock {
            status: status.collect::<Result<_>>()?,
            position,
            image: has_image.then(|| numbers(save.image.try_into_data())).transpose()?,
            velocity: save.velocity.map(|rows| numbers(rows.try_into_data())).transpose()?,
            generation: save.generation.map(|row| numbers(row.try_into_data())).transpose()?,
            arrays: save.arrays.into_iter().map(values).collect::<Result<_>>()?,
        };
        let has_length =
            |length: Option<usize>, width: usize| length.unwrap_or(count * width) == count * width;
        let fits = has_length(Some(block.position.len()), 3)
            && has_length(Some(block.status.len()), 1)
            && has_length(block.image.as_ref().map(Vec::len), 3)
            && has_length(block.velocity.as_ref().map(Vec::len), 3)
            && has_length(block.generation.as_ref().map(Vec::len), 1)
            && block.arrays.iter().all(|(n, values)| has_length(Some(values.len()), *n));
        match fits {
            true => Ok(block),
            false => Err(Error::Statistics(format!(
                "save {} has arrays of different lengths; give a row for each of {count} slots",
                save.index
            ))),
        }
    }

    /// Updates the trajectories of some rows, and adds them to the sums.
    fn update(
        &self,
        rows: Range<usize>,
        trajectories: &mut [SlotTrajectory],
        (first, dt): (usize, f64),
        mut sums: PartialSums<Moments>,
        (options, plan): (&Options, &SavePlan),
    ) -> ChunkResult {
        let mut replaced = Vec::new();
        for (row, trajectory) in rows.zip(trajectories) {
            let observed = self.observation(row, plan.periods);
            let slot = first + row;
            if plan.reuses_slots && options.has_rows(true) && trajectory.is_replaced_by(&observed) {
                replaced.push((slot, *trajectory));
            }
            let speed = trajectory.update(&observed, dt);
            let values = self.values(row);
            sums.next(options.group_of(slot)).add(trajectory, speed, options.counted, &values);
        }
        (sums, replaced)
    }

    /// The values of all sampled arrays in a row.
    fn values(&self, row: usize) -> Vec<f64> {
        let of_row = |(n, values): &(usize, Vec<f64>)| values[n * row..n * (row + 1)].to_vec();
        self.arrays.iter().flat_map(of_row).collect()
    }

    fn observation(&self, row: usize, periods: [f64; 3]) -> Observation {
        let vector = |numbers: &[f64]| [0, 1, 2].map(|d| numbers[3 * row + d]);
        let mut position = vector(&self.position);
        if let Some(image) = &self.image {
            (0..3).for_each(|d| position[d] += f64::from(image[3 * row + d]) * periods[d]);
        }
        Observation {
            position,
            status: self.status[row],
            velocity: self.velocity.as_deref().map(vector),
            generation: self.generation.as_ref().map_or(0, |numbers| numbers[row] as u32),
        }
    }
}

/// The number of components of an array, and its values.
fn values(rows: Tensor<2>) -> Result<(usize, Vec<f64>)> {
    let [_, components] = rows.dims();
    Ok((components, numbers(rows.try_into_data())?))
}

/// The values of a tensor.
fn numbers<T: Element + ElementConversion, E: std::error::Error>(
    data: std::result::Result<TensorData, E>,
) -> Result<Vec<T>> {
    let failed = |error: String| Error::Execution(error);
    let data = data.map_err(|error| failed(error.to_string()))?;
    data.convert::<T>().try_into_vec::<T>().map_err(|error| failed(error.to_string()))
}
