//! Sums over particles.
//!
//! Chunks start at multiples of [`CHUNK`]. Within a chunk slots are summed in order, and chunks are merged
//! in order, so the results do not depend on the blocks of a save or the number of threads.

use super::{Counted, Groups, SaveStatistics, trajectory::SlotTrajectory, values::ArrayMoments};
use burntrace_core::{FieldArray, Status};

/// Number of slots, or pairs of slots, in a chunk.
pub(super) const CHUNK: usize = 4096;

/// Number of slots, or pairs, with partial sums in memory at a time: in the worst case one sum for each.
pub(super) const BATCH: usize = 64 * CHUNK;

/// Sums that can be merged.
pub(super) trait Merge: Default {
    fn merge(&mut self, other: &Self);
}

/// Partial sums of a chunk: one for each stretch of successive slots in the same group.
#[derive(Clone, Debug)]
pub(super) struct PartialSums<T>(Vec<(u32, T)>);

impl<T: Merge> PartialSums<T> {
    /// Starts with the pending sum of the previous block, if any.
    pub fn resuming(pending: Option<(u32, T)>) -> Self {
        PartialSums(pending.into_iter().collect())
    }

    /// The sum for the next slot, which is in this group.
    pub fn next(&mut self, group: u32) -> &mut T {
        let index = match self.0.last() {
            Some((last, _)) if *last == group => self.0.len() - 1,
            _ => {
                self.0.push((group, T::default()));
                self.0.len() - 1
            }
        };
        &mut self.0[index].1
    }

    /// Removes the last sum, which may be incomplete.
    pub fn pop(&mut self) -> Option<(u32, T)> {
        self.0.pop()
    }
}

/// Sums over all particles, and over each group.
#[derive(Clone, Debug)]
pub(super) struct Totals<T> {
    pub all: T,
    pub groups: Vec<T>,
}

impl<T: Merge + Clone> Totals<T> {
    pub fn new(groups: usize) -> Self {
        Totals { all: T::default(), groups: vec![T::default(); groups] }
    }

    pub fn add(&mut self, sums: PartialSums<T>) {
        for (group, sum) in sums.0 {
            self.all.merge(&sum);
            if group != Groups::NONE {
                self.groups[group as usize].merge(&sum);
            }
        }
    }

    /// The sums over all particles, then those over each group.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.all).chain(&self.groups)
    }
}

/// Sums over particles at a save.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    waiting: u64,
    active: u64,
    ended: u64,
    not_located: u64,
    counted: u64,
    mean: [f64; 3],
    /// Sums of squared distances from the mean.
    squares: [f64; 3],
    /// Sums of squared displacements.
    displacement: [f64; 3],
    moving: u64,
    speed: f64,
    arrays: ArrayMoments,
}

impl Moments {
    /// Adds a particle at a save, by the method of B. P. Welford (*Note on a method for calculating
    /// corrected sums of squares and products*, 1962).
    pub fn add(
        &mut self,
        particle: &SlotTrajectory,
        speed: Option<f64>,
        counted: Counted,
        values: &[f64],
    ) {
        match particle.status {
            Status::Waiting => self.waiting += 1,
            Status::Active => self.active += 1,
            Status::NotLocated => self.not_located += 1,
            _ => self.ended += 1,
        }
        if let Some(speed) = speed {
            self.moving += 1;
            self.speed += speed;
        }
        if !is_counted(particle, counted) {
            return;
        }
        self.counted += 1;
        self.arrays.add(values);
        let weight = 1.0 / self.counted as f64;
        for (d, displacement) in particle.displacement().into_iter().enumerate() {
            let deviation = particle.last[d] - self.mean[d];
            self.mean[d] += deviation * weight;
            self.squares[d] += deviation * (particle.last[d] - self.mean[d]);
            self.displacement[d] += displacement * displacement;
        }
    }

    /// The statistics of the save, without pairs.
    pub fn to_statistics(&self, arrays: &[FieldArray]) -> SaveStatistics {
        let n = self.counted as f64;
        let if_any = |row: [f64; 3]| (self.counted > 0).then_some(row);
        SaveStatistics {
            waiting: self.waiting,
            active: self.active,
            ended: self.ended,
            not_located: self.not_located,
            counted: self.counted,
            mean_square_displacement: if_any(self.displacement.map(|sum| sum / n)),
            centroid: if_any(self.mean),
            variance: if_any(self.squares.map(|sum| sum / n)),
            pairs: 0,
            pair_dispersion: None,
            moving: self.moving,
            mean_speed: (self.moving > 0).then(|| self.speed / self.moving as f64),
            arrays: self.arrays.to_statistics(arrays),
        }
    }
}

impl Merge for Moments {
    /// T. F. Chan, G. H. Golub and R. J. LeVeque, *Updating formulae and a pairwise algorithm for
    /// computing sample variances*, 1979.
    fn merge(&mut self, other: &Self) {
        let [n, m] = [self.counted as f64, other.counted as f64];
        self.waiting += other.waiting;
        self.active += other.active;
        self.ended += other.ended;
        self.not_located += other.not_located;
        self.counted += other.counted;
        self.moving += other.moving;
        self.speed += other.speed;
        self.arrays.merge(&other.arrays);
        if other.counted == 0 {
            return;
        }
        for d in 0..3 {
            let apart = other.mean[d] - self.mean[d];
            self.mean[d] += apart * (m / (n + m));
            self.squares[d] += other.squares[d] + apart * apart * (n * m / (n + m));
            self.displacement[d] += other.displacement[d];
        }
    }
}

/// Whether means include a particle.
pub(super) fn is_counted(particle: &SlotTrajectory, counted: Counted) -> bool {
    particle.is_released()
        && particle.status.is_released()
        && (particle.status == Status::Active || counted == Counted::Released)
}
