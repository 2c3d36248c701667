//! What is known while tracks come.

use super::ends::{Book, End};
use super::moments::{BATCH, CHUNK, Moments, Runs, Totals};
use super::way::{Seen, Way};
use super::{Options, ParticleStatistics, SaveStatistics, pairs, rows};
use crate::{Error, Result};
use burn::tensor::{Element, ElementConversion, TensorData};
use burntrace_core::{Ends, ParticleInstance, Save, SavePlan, Status};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// All that statistics keep of a run.
#[derive(Debug)]
pub(super) struct Recording {
    pub plan: SavePlan,
    pub times: Vec<f64>,
    pub ways: Vec<Way>,
    /// Statistics of each save, of all first and then of each group.
    pub saves: Vec<Vec<SaveStatistics>>,
    pub book: Book,
    pub rows: Vec<ParticleStatistics>,
    /// How the run ended, if that has been told; what rows need of it.
    pub ends: Option<Ends>,
    options: Options,
    /// Lives whose ends are still to be told, and in whose slots others are, by slot and generation.
    left: HashMap<(usize, u32), Way>,
    /// The save that is under way: its sums, the last one, which may not be complete, and how many
    /// slots have come.
    totals: Totals<Moments>,
    pending: Option<(u32, Moments)>,
    next: usize,
}

/// A block of a save on the host.
struct Block {
    position: Vec<f64>,
    status: Vec<Status>,
    image: Option<Vec<i32>>,
    velocity: Option<Vec<f64>>,
    generation: Option<Vec<i32>>,
}

/// What becomes of a chunk of a block: its sums, and the ways of those that were followed by others.
type Followed = (Runs<Moments>, Vec<(usize, Way)>);

impl Recording {
    pub fn begin(plan: &SavePlan, options: &Options) -> Self {
        let groups = options.count_groups();
        Recording {
            plan: plan.clone(),
            times: Vec::new(),
            ways: vec![Way::default(); plan.particles],
            saves: vec![Vec::new(); groups + 1],
            book: Book::default(),
            rows: Vec::new(),
            ends: None,
            options: options.clone(),
            left: HashMap::new(),
            totals: Totals::new(groups),
            pending: None,
            next: 0,
        }
    }

    /// Takes a save, or the next block of one.
    pub fn block(&mut self, save: Save) -> Result<()> {
        let [count, _] = save.position.dims();
        let (first, time) = (save.first, save.time);
        let end = first + count;
        if first != self.next || end > self.plan.particles {
            return Err(Error::Statistics(format!(
                "slots {first} to {end} of save {} came where slot {} of {} was next; give the \
                 blocks of a save in order",
                save.index, self.next, self.plan.particles
            )));
        }
        let dt = self.times.last().map_or(0.0, |last| (time - last).abs());
        let block = Block::read(save, self.plan.periods != [0.0; 3])?;
        for begin in (first..end).step_by(BATCH) {
            self.follow(&block, begin - first..end.min(begin + BATCH) - first, first, dt);
        }
        self.next = end;
        if end == self.plan.particles {
            self.complete(time);
        }
        Ok(())
    }

    /// Follows the particles in some rows of a block, and adds them up.
    fn follow(&mut self, block: &Block, rows: Range<usize>, first: usize, dt: f64) {
        let (mut begin, end) = (first + rows.start, first + rows.end);
        let mut pending = self.pending.take();
        let mut rest = &mut self.ways[begin..end];
        let mut pieces = Vec::new();
        while begin < end {
            let until = end.min((begin / CHUNK + 1) * CHUNK);
            let (piece, others) = rest.split_at_mut(until - begin);
            pieces.push((begin - first..until - first, piece, pending.take()));
            (rest, begin) = (others, until);
        }
        let (options, plan) = (&self.options, &self.plan);
        let done: Vec<Followed> = pieces
            .into_par_iter()
            .map(|(rows, ways, pending)| {
                let runs = Runs::after(pending);
                block.follow(rows, ways, (first, dt), runs, (options, plan))
            })
            .collect();
        let last = done.len().saturating_sub(1);
        for (piece, (mut runs, left)) in done.into_iter().enumerate() {
            if piece == last && !end.is_multiple_of(CHUNK) {
                self.pending = runs.pop();
            }
            self.totals.add(runs);
            self.left.extend(left.into_iter().map(|(slot, way)| ((slot, way.generation), way)));
        }
    }

    /// Writes a save down that has come completely.
    fn complete(&mut self, time: f64) {
        let groups = self.options.count_groups();
        self.totals.add(Runs::after(self.pending.take()));
        let pairs = pairs::sums(&self.ways, &self.options, groups);
        let totals = std::mem::replace(&mut self.totals, Totals::new(groups));
        for ((saves, moments), pairs) in self.saves.iter_mut().zip(totals.iter()).zip(pairs.iter())
        {
            let mut save = moments.of_save();
            pairs.put(&mut save);
            saves.push(save);
        }
        if let Some(before) = self.times.last() {
            self.book.learn([*before, time]);
        }
        self.times.push(time);
        self.next = 0;
    }

    /// Takes a life, at its end or at that of the run.
    pub fn life(&mut self, life: &ParticleInstance) -> Result<()> {
        let slots = self.ways.len();
        let Some(way) = self.ways.get_mut(life.slot) else {
            return Err(Error::Statistics(format!(
                "a life of slot {} came; the run has {slots} slots, from 0 on",
                life.slot
            )));
        };
        let way = match way.generation == life.generation && way.is_released() {
            true => {
                way.is_told = life.status.has_ended();
                Some(*way)
            }
            false => self.left.remove(&(life.slot, life.generation)),
        };
        let group = self.options.group_of(life.slot);
        let times = Some([life.release_time, life.end_time]);
        self.book.add(End { group, status: life.status, times }, &self.times, &self.options);
        if self.options.has_rows(true) {
            self.rows.push(rows::of_life(life, way.as_ref(), self));
        }
        Ok(())
    }

    /// Takes the end of the run.
    pub fn end(&mut self, ends: &Ends) -> Result<()> {
        let lengths = [ends.status.len(), ends.release_time.len(), ends.end_time.len()];
        if lengths != [self.plan.particles; 3] {
            return Err(Error::Statistics(format!(
                "the run ended with {lengths:?} statuses, times of release and of end; it has {} \
                 slots",
                self.plan.particles
            )));
        }
        for (slot, status) in ends.status.iter().enumerate() {
            // Lives have been told one by one.
            if !self.plan.reuses_slots || *status == Status::Waiting {
                let times = Some([ends.release_time[slot], ends.end_time[slot]]);
                let end = End { group: self.options.group_of(slot), status: *status, times };
                self.book.add(end, &self.times, &self.options);
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

impl Block {
    fn read(save: Save, has_image: bool) -> Result<Self> {
        let [count, _] = save.position.dims();
        let codes: Vec<i32> = numbers(save.status.try_into_data())?;
        let status = codes.into_iter().map(|code| {
            let none = || Error::Statistics(format!("a particle has the status code {code}"));
            Status::from_code(code).ok_or_else(none)
        });
        let block = Block {
            status: status.collect::<Result<_>>()?,
            position: numbers(save.position.try_into_data())?,
            image: has_image.then(|| numbers(save.image.try_into_data())).transpose()?,
            velocity: save.velocity.map(|rows| numbers(rows.try_into_data())).transpose()?,
            generation: save.generation.map(|row| numbers(row.try_into_data())).transpose()?,
        };
        let of =
            |length: Option<usize>, wide: usize| length.unwrap_or(count * wide) == count * wide;
        let fits = of(Some(block.position.len()), 3)
            && of(Some(block.status.len()), 1)
            && of(block.image.as_ref().map(Vec::len), 3)
            && of(block.velocity.as_ref().map(Vec::len), 3)
            && of(block.generation.as_ref().map(Vec::len), 1);
        match fits {
            true => Ok(block),
            false => Err(Error::Statistics(format!(
                "save {} has arrays of different lengths; give a row for each of {count} slots",
                save.index
            ))),
        }
    }

    /// Follows the particles of some rows on their ways.
    fn follow(
        &self,
        rows: Range<usize>,
        ways: &mut [Way],
        (first, dt): (usize, f64),
        mut runs: Runs<Moments>,
        (options, plan): (&Options, &SavePlan),
    ) -> Followed {
        let mut left = Vec::new();
        for (row, way) in rows.zip(ways) {
            let seen = self.seen(row, plan.periods);
            let slot = first + row;
            if plan.reuses_slots && options.has_rows(true) && way.is_left_by(&seen) {
                left.push((slot, *way));
            }
            let speed = way.follow(&seen, dt);
            runs.of(options.group_of(slot)).add(way, speed, options.counted);
        }
        (runs, left)
    }

    fn seen(&self, row: usize, periods: [f64; 3]) -> Seen {
        let three = |numbers: &[f64]| [0, 1, 2].map(|d| numbers[3 * row + d]);
        let mut place = three(&self.position);
        if let Some(image) = &self.image {
            (0..3).for_each(|d| place[d] += f64::from(image[3 * row + d]) * periods[d]);
        }
        Seen {
            place,
            status: self.status[row],
            velocity: self.velocity.as_deref().map(three),
            generation: self.generation.as_ref().map_or(0, |numbers| numbers[row] as u32),
        }
    }
}

/// The numbers of a tensor.
fn numbers<T: Element + ElementConversion, E: std::error::Error>(
    data: std::result::Result<TensorData, E>,
) -> Result<Vec<T>> {
    let failed = |error: String| Error::Execution(error);
    let data = data.map_err(|error| failed(error.to_string()))?;
    data.convert::<T>().try_into_vec::<T>().map_err(|error| failed(error.to_string()))
}
