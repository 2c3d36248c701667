//! Sums over particles.
//!
//! Slots are summed up in chunks that begin at multiples of [`CHUNK`], each slot after slot, and
//! chunks are put together in order. Thus nothing depends on blocks and threads.

use super::{Counted, Groups, SaveStatistics, way::Way};
use burntrace_core::Status;

/// Slots, or pairs of them, that are summed up at a time.
pub(super) const CHUNK: usize = 4096;

/// Slots, or pairs, whose sums are in memory at a time: at worst there is one for each.
pub(super) const BATCH: usize = 64 * CHUNK;

/// Sums that can be put together.
pub(super) trait Merge: Default {
    fn merge(&mut self, other: &Self);
}

/// Sums of parts of a chunk: of successive slots in one group each.
#[derive(Clone, Debug)]
pub(super) struct Runs<T>(Vec<(u32, T)>);

impl<T: Merge> Runs<T> {
    /// Goes on with the last sum of the block before.
    pub fn after(pending: Option<(u32, T)>) -> Self {
        Runs(pending.into_iter().collect())
    }

    /// The sum that belongs to a slot of a group.
    pub fn of(&mut self, group: u32) -> &mut T {
        let index = match self.0.last() {
            Some((last, _)) if *last == group => self.0.len() - 1,
            _ => {
                self.0.push((group, T::default()));
                self.0.len() - 1
            }
        };
        &mut self.0[index].1
    }

    /// Takes the last sum out, which may not be complete.
    pub fn pop(&mut self) -> Option<(u32, T)> {
        self.0.pop()
    }
}

/// Sums over all, and over each group.
#[derive(Clone, Debug)]
pub(super) struct Totals<T> {
    pub all: T,
    pub groups: Vec<T>,
}

impl<T: Merge + Clone> Totals<T> {
    pub fn new(groups: usize) -> Self {
        Totals { all: T::default(), groups: vec![T::default(); groups] }
    }

    pub fn add(&mut self, runs: Runs<T>) {
        for (group, sum) in runs.0 {
            self.all.merge(&sum);
            if group != Groups::NONE {
                self.groups[group as usize].merge(&sum);
            }
        }
    }

    /// Sums over all first, then over each group.
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
    counted: u64,
    mean: [f64; 3],
    /// Sums of squares of distances from the mean.
    squares: [f64; 3],
    /// Sums of squares of displacements.
    displacement: [f64; 3],
    moving: u64,
    speed: f64,
}

impl Moments {
    /// Adds a particle after a save. Means go on as B. P. Welford's do (*Note on a method for
    /// calculating corrected sums of squares and products*, 1962).
    pub fn add(&mut self, way: &Way, speed: Option<f64>, counted: Counted) {
        match way.status {
            Status::Waiting => self.waiting += 1,
            Status::Active => self.active += 1,
            _ => self.ended += 1,
        }
        if let Some(speed) = speed {
            self.moving += 1;
            self.speed += speed;
        }
        if !counts(way, counted) {
            return;
        }
        self.counted += 1;
        let part = 1.0 / self.counted as f64;
        for (d, moved) in way.displacement().into_iter().enumerate() {
            let before = way.last[d] - self.mean[d];
            self.mean[d] += before * part;
            self.squares[d] += before * (way.last[d] - self.mean[d]);
            self.displacement[d] += moved * moved;
        }
    }

    /// What is known of particles; pairs are not.
    pub fn of_save(&self) -> SaveStatistics {
        let n = self.counted as f64;
        let if_any = |row: [f64; 3]| (self.counted > 0).then_some(row);
        SaveStatistics {
            waiting: self.waiting,
            active: self.active,
            ended: self.ended,
            counted: self.counted,
            mean_square_displacement: if_any(self.displacement.map(|sum| sum / n)),
            centroid: if_any(self.mean),
            variance: if_any(self.squares.map(|sum| sum / n)),
            pairs: 0,
            pair_dispersion: None,
            moving: self.moving,
            mean_speed: (self.moving > 0).then(|| self.speed / self.moving as f64),
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
        self.counted += other.counted;
        self.moving += other.moving;
        self.speed += other.speed;
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

/// Whether a particle counts in means.
pub(super) fn counts(way: &Way, counted: Counted) -> bool {
    way.is_released() && (way.status == Status::Active || counted == Counted::Released)
}
