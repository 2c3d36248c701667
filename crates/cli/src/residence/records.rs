//! Particles with their points: release, saves while they are active, and end.

use crate::results::Results;
use anyhow::Result;
use burntrace::{Ends, Status, analysis::residence::Point, io::SavedStates};
use std::ops::Range;

/// Maximum memory of the points that are collected together, in bytes.
const BYTES: usize = 256 << 20;
/// Positions this near to a face of the domain, in its extents, are on it: they are rounded.
const ROUNDING: f64 = 1e-6;

/// What the store knows of a particle beside the saves: numbers are NaN where it is not known.
#[derive(Clone, Copy, Debug)]
struct Lifetime {
    generation: i32,
    release: Point,
    /// The position is not known where slots are not re-used: there it is that of the saves after the end.
    end: Point,
}

/// The particle that is now in a slot.
#[derive(Clone, Debug, Default)]
struct Follower {
    /// Number of particles of the slot that are complete, in `lifetimes`.
    done: usize,
    /// Number of earlier particle instances in the slot, if a save has shown this one.
    generation: Option<i32>,
    points: Vec<Point>,
    has_ended: bool,
}

/// Reads the particles of a run, in blocks of slots that fit into memory.
pub struct Records<'a> {
    results: &'a Results,
    /// Of a finished run whose slots are not re-used.
    ends: Option<Ends>,
    is_reused: bool,
    /// Number of particles whose release is not known, as the run has not ended.
    pub open_releases: u64,
    /// Number of particles that have ended between two saves, or after the last one, and it is not known when and where.
    pub open_ends: u64,
}

impl<'a> Records<'a> {
    pub fn new(results: &'a Results) -> Result<Self> {
        let tracks = &results.tracks;
        let is_reused = tracks.num_instances().is_some();
        let knows_ends = tracks.is_complete() && !is_reused;
        let ends = knows_ends.then(|| tracks.ends()).transpose()?;
        Ok(Records { results, ends, is_reused, open_releases: 0, open_ends: 0 })
    }

    /// Passes each particle that was released to a function: its points in the order of the run, unwrapped at periodic faces.
    pub fn each(&mut self, mut add: impl FnMut(&[Point])) -> Result<()> {
        let tracks = &self.results.tracks;
        let slots = tracks.num_particles();
        let per_slot = tracks.num_instances().unwrap_or_default() / slots.max(1);
        let bytes =
            (tracks.num_saves() + 2) * size_of::<Point>() + per_slot * size_of::<Lifetime>();
        let size = (BYTES / bytes).max(1);
        for first in (0..slots).step_by(size) {
            self.block(first..slots.min(first + size), &mut add)?;
        }
        Ok(())
    }

    fn block(&mut self, slots: Range<usize>, add: &mut impl FnMut(&[Point])) -> Result<()> {
        let results = self.results;
        let lifetimes = self.lifetimes(slots.clone())?;
        let mut followers = vec![Follower::default(); slots.len()];
        for save in 0..results.tracks.num_saves() {
            let states = SavedStates::read_unwrapped(&results.tracks, save, slots.clone())?;
            for (k, follower) in followers.iter_mut().enumerate() {
                let state = states.state(k);
                if !state.is_present() {
                    continue;
                }
                if follower.generation != Some(state.generation) {
                    self.finish(follower, &lifetimes[k], Some(state.generation), add);
                    let knows_release = follower.begin(state.generation, &lifetimes[k]);
                    self.open_releases += u64::from(!knows_release);
                }
                let at = Point { time: state.time, position: state.position };
                match state.status {
                    Status::Active => follower.points.push(at),
                    _ if !follower.has_ended => self.end(follower, &lifetimes[k], at),
                    _ => {}
                }
            }
        }
        for (follower, lifetimes) in followers.iter_mut().zip(&lifetimes) {
            self.finish(follower, lifetimes, None, add);
        }
        Ok(())
    }

    /// What is known of the particles of some slots, in the order of their generations.
    fn lifetimes(&self, slots: Range<usize>) -> Result<Vec<Vec<Lifetime>>> {
        let tracks = &self.results.tracks;
        let seeds = tracks.release_positions(slots.clone())?;
        let point = |time: f64, position: [f64; 3]| Point { time, position };
        if !self.is_reused {
            let lifetime = |(slot, seed): (usize, &[f64; 3])| {
                let [release, end] = self
                    .ends
                    .as_ref()
                    .map_or([f64::NAN; 2], |ends| [ends.release_time[slot], ends.end_time[slot]]);
                let end = point(end, [f64::NAN; 3]);
                vec![Lifetime { generation: 0, release: point(release, *seed), end }]
            };
            return Ok(slots.zip(&seeds).map(lifetime).collect());
        }
        let mut lifetimes = vec![Vec::new(); slots.len()];
        for instance in tracks.instances().into_iter().flatten() {
            let of = instance?;
            if !slots.contains(&of.slot) || !of.status.is_released() {
                continue;
            }
            let end = match of.status {
                Status::Active => [f64::NAN; 3],
                _ => of.end_position,
            };
            lifetimes[of.slot - slots.start].push(Lifetime {
                generation: of.generation as i32,
                release: point(of.release_time, of.release_position),
                end: point(of.end_time, end),
            });
        }
        Ok(lifetimes)
    }

    /// Ends a particle at the position that saves after its end have.
    fn end(&mut self, follower: &mut Follower, lifetimes: &[Lifetime], at: Point) {
        follower.has_ended = true;
        let of = follower.generation.and_then(|generation| known(lifetimes, generation));
        match of.map(|of| of.end.time).filter(|time| time.is_finite()) {
            Some(time) => follower.points.push(Point { time, ..at }),
            None => self.open_ends += 1,
        }
    }

    /// Passes on the particle of a slot, and those after it that no save has, before a generation if it is given.
    fn finish(
        &mut self,
        follower: &mut Follower,
        lifetimes: &[Lifetime],
        before: Option<i32>,
        add: &mut impl FnMut(&[Point]),
    ) {
        if let Some(generation) = follower.generation.take() {
            match known(lifetimes, generation).map(|of| of.end).filter(|_| !follower.has_ended) {
                Some(end) if is_known(end) => follower.points.push(self.image_of(end, follower)),
                // In the table of an unfinished run, or after the last save.
                Some(end) if end.time.is_finite() => self.open_ends += 1,
                None if !follower.has_ended && before.is_some() => self.open_ends += 1,
                _ => {}
            }
            self.pass(&mut follower.points, add);
        }
        let is_before = |of: &&Lifetime| before.is_none_or(|generation| of.generation < generation);
        for of in lifetimes[follower.done..].iter().take_while(is_before) {
            follower.done += 1;
            follower.points.clear();
            follower.points.extend([of.release].into_iter().filter(|at| is_known(*at)));
            if follower.points.is_empty() {
                continue;
            }
            if is_known(of.end) {
                follower.points.push(self.image_of(of.end, follower));
            }
            self.pass(&mut follower.points, add);
        }
    }

    /// Passes on the points of a particle, those that rounding moved out of the domain on its faces.
    fn pass(&self, points: &mut [Point], add: &mut impl FnMut(&[Point])) {
        let ([low, high], periods) = (self.results.domain, self.results.tracks.periods());
        for d in (0..3).filter(|d| periods[*d] == 0.0) {
            let slack = ROUNDING * (high[d] - low[d]);
            for x in points.iter_mut().map(|at| &mut at.position[d]) {
                let inside = x.max(low[d]).min(high[d]);
                *x = if (*x - inside).abs() <= slack { inside } else { *x };
            }
        }
        add(points);
    }

    /// An end in the box, moved by periods to the image that is nearest to the last point.
    fn image_of(&self, end: Point, follower: &Follower) -> Point {
        let Some(last) = follower.points.last() else { return end };
        let periods = self.results.tracks.periods();
        let nearest = |d: usize| match periods[d] > 0.0 {
            true => {
                let turns = (last.position[d] - end.position[d]) / periods[d];
                end.position[d] + turns.round() * periods[d]
            }
            false => end.position[d],
        };
        Point { time: end.time, position: [0, 1, 2].map(nearest) }
    }
}

impl Follower {
    /// Begins with a particle at its release. Returns whether that is known.
    fn begin(&mut self, generation: i32, lifetimes: &[Lifetime]) -> bool {
        self.generation = Some(generation);
        self.has_ended = false;
        self.points.clear();
        if let Some(of) = known(lifetimes, generation) {
            self.done += 1;
            self.points.extend([of.release].into_iter().filter(|at| is_known(*at)));
        }
        !self.points.is_empty()
    }
}

/// The lifetime of a generation.
fn known(lifetimes: &[Lifetime], generation: i32) -> Option<&Lifetime> {
    let found = lifetimes.binary_search_by_key(&generation, |of| of.generation).ok()?;
    lifetimes.get(found)
}

/// Whether a time and a position are numbers.
fn is_known(at: Point) -> bool {
    at.time.is_finite() && at.position.iter().all(|x| x.is_finite())
}
