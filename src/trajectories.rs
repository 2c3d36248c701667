//! Trajectories of a sample of a run's particles, for [pictures](crate::plot).
//!
//! ```no_run
//! use burntrace::io::Tracks;
//! use burntrace::plot::picture::{self, Style, View};
//! use burntrace::trajectories;
//!
//! let tracks = Tracks::open("run/tracks")?;
//! let sample = trajectories::sample(&tracks, [[0.0; 3], [2.0, 1.0, 1.0]], 100, 500)?;
//! picture::tracks(&sample.trajectories, &View::SPACE, &Style::default())?.write_png("tracks.png")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod slots;
mod status;
mod streaklines;

pub use status::{STATUS, add_details, end_positions};
pub use streaklines::streaklines;

use crate::{ParticleInstance, Status, sphere};
use burntrace_io::tracks::Units;
use burntrace_io::{ParticleState, ParticleTimes, Result, SavedStates, Tracks};
use burntrace_plot::{Attribute, PartialLine, Trajectories};
use slots::{Located, evenly_spaced_with_last, spread};
use std::collections::{HashMap, HashSet};

/// Trajectories with the statuses of their particles.
#[derive(Clone, Debug)]
pub struct SampledTrajectories {
    /// The trajectories, coloured by speed, age, time or seed.
    pub trajectories: Trajectories,
    /// Status codes, one per position.
    pub codes: Vec<u8>,
}

/// Reads the trajectories of at most `particles` slots that had a particle, spread evenly over them, at most
/// `saves` evenly spaced saves, the last one included. `domain` has the low and the high corner of what a picture shows.
///
/// # Errors
///
/// If the store cannot be read.
pub fn sample(
    tracks: &Tracks,
    domain: [[f64; 3]; 2],
    particles: usize,
    saves: usize,
) -> Result<SampledTrajectories> {
    sample_with_arrays(tracks, domain, [particles, saves], &[])
}

/// As [`sample`], of at most a number of particles and saves, with further attributes to colour them by: arrays that are sampled or add up
/// along the tracks (the numbers of scalars, and the magnitudes of vectors and tensors), and [`STATUS`].
///
/// # Errors
///
/// If the store cannot be read or has no such array.
pub fn sample_with_arrays(
    tracks: &Tracks,
    domain: [[f64; 3]; 2],
    [particles, saves]: [usize; 2],
    arrays: &[&str],
) -> Result<SampledTrajectories> {
    let Located { slots: located, not_located } = Located::read(tracks)?;
    let slots = spread(&located, particles);
    let saves = evenly_spaced_with_last(tracks.num_saves(), saves);
    let clock = ParticleTimes::read(tracks)?;
    let ends = InstanceEnds::read(tracks, &slots)?;
    let mut rows = Rows::new(tracks, &slots, ends);
    let mut of_arrays = vec![Vec::new(); arrays.len()];
    for save in saves {
        let states = SavedStates::read(tracks, save)?;
        let image = tracks.image(save)?;
        let velocity = tracks.velocity(save)?;
        for &slot in &slots {
            let state = states.state(slot);
            let image = image.as_ref().map_or([0; 3], |all| all[slot]);
            rows.add(&state, image, velocity.as_ref().map(|all| all[slot]), &clock);
        }
        rows.end(tracks.times()[save]);
        for (name, values) in arrays.iter().zip(&mut of_arrays).filter(|(name, _)| **name != STATUS)
        {
            let all = tracks.array(name, save)?;
            let width = all.len() / tracks.num_particles().max(1);
            let of_slot = |slot: &usize| magnitude(&all[width * slot..width * (slot + 1)]);
            values.extend(slots.iter().map(of_slot));
        }
    }
    let status = arrays.contains(&STATUS).then(|| status::at_ends(&rows, &slots));
    let codes = std::mem::take(&mut rows.codes);
    let mut trajectories = rows.into_trajectories(tracks, slots);
    let units = tracks.units();
    let attribute = |(name, values): (&&str, Vec<f32>)| Attribute {
        name: name.to_string(),
        unit: units.of_array(name),
        values,
        ..Attribute::default()
    };
    let of_arrays = arrays.iter().zip(of_arrays).filter(|(name, _)| **name != STATUS);
    trajectories.attributes.extend(of_arrays.map(attribute).chain(status));
    trajectories.domain = with_longitudes(domain, &trajectories.position, tracks.units());
    trajectories.run_size[0] = located.len();
    trajectories.not_located = not_located;
    Ok(SampledTrajectories { trajectories, codes })
}

/// A number, or the length of a vector.
fn magnitude(numbers: &[f64]) -> f32 {
    match numbers {
        [number] => *number as f32,
        _ => numbers.iter().map(|x| x * x).sum::<f64>().sqrt() as f32,
    }
}

/// A domain with the continuous longitudes of positions.
fn with_longitudes(
    mut domain: [[f64; 3]; 2],
    positions: &[[f64; 3]],
    units: Units,
) -> [[f64; 3]; 2] {
    if units.continuous {
        for [longitude, ..] in positions {
            // NaN where there is no particle.
            domain[0][0] = domain[0][0].min(*longitude);
            domain[1][0] = domain[1][0].max(*longitude);
        }
    }
    domain
}

/// The number of slots that had a particle.
///
/// # Errors
///
/// If the store cannot be read.
pub fn num_located(tracks: &Tracks) -> Result<usize> {
    Ok(Located::read(tracks)?.slots.len())
}

/// Where a particle instance was released, and where and how it ended.
struct InstanceEnd {
    release: [f64; 3],
    end: [f64; 3],
    status: Status,
}

/// Release and end positions of particle instances.
struct InstanceEnds {
    /// By slot and generation, of runs that re-use slots.
    instances: HashMap<(usize, i32), InstanceEnd>,
    /// By slot, of seeds; NaN in other slots.
    seeds: Vec<[f64; 3]>,
}

impl InstanceEnds {
    fn read(tracks: &Tracks, slots: &[usize]) -> Result<InstanceEnds> {
        let chosen: HashSet<usize> = slots.iter().copied().collect();
        let mut instances = HashMap::new();
        for instance in tracks.instances().into_iter().flatten() {
            let ParticleInstance {
                slot, generation, release_position, end_position, status, ..
            } = instance?;
            if chosen.contains(&slot) {
                let end = InstanceEnd { release: release_position, end: end_position, status };
                instances.insert((slot, generation as i32), end);
            }
        }
        Ok(InstanceEnds { instances, seeds: tracks.release_positions(0..tracks.num_particles())? })
    }

    fn release(&self, slot: usize, generation: i32) -> Option<[f64; 3]> {
        let of_instance = self.instances.get(&(slot, generation)).map(|of| of.release);
        let of_seed = || self.seeds.get(slot).filter(|_| generation == 0).copied();
        of_instance.or_else(of_seed)
    }

    fn end(&self, slot: usize, generation: i32) -> Option<[f64; 3]> {
        self.instances.get(&(slot, generation)).map(|of| of.end)
    }
}

/// An active particle at a save.
#[derive(Clone, Copy)]
struct Point {
    /// Unwrapped across periodic faces, or in space.
    position: [f64; 3],
    time: f64,
    image: [i32; 3],
    generation: i32,
    /// The index of its position.
    index: usize,
}

/// The attributes of trajectories, save by save.
struct Rows {
    periods: [f64; 3],
    /// Radius of the sphere that positions are on.
    radius: Option<f64>,
    times: Vec<f64>,
    position: Vec<[f64; 3]>,
    joined: Vec<bool>,
    active: Vec<bool>,
    codes: Vec<u8>,
    generations: Vec<i32>,
    speed: Vec<f32>,
    age: Vec<f32>,
    time: Vec<f32>,
    seed: Vec<f32>,
    /// For each column, the point at the previous save, if the particle was active there.
    before: Vec<Option<Point>>,
    column: usize,
    ends: InstanceEnds,
    partial: Vec<PartialLine>,
}

impl Rows {
    fn new(tracks: &Tracks, slots: &[usize], ends: InstanceEnds) -> Rows {
        Rows {
            periods: tracks.periods(),
            radius: tracks.units().radius,
            times: Vec::new(),
            position: Vec::new(),
            joined: Vec::new(),
            active: Vec::new(),
            codes: Vec::new(),
            generations: Vec::new(),
            speed: Vec::new(),
            age: Vec::new(),
            time: Vec::new(),
            seed: Vec::new(),
            before: vec![None; slots.len()],
            column: 0,
            ends,
            partial: Vec::new(),
        }
    }

    /// Adds the line from the release of a particle to its first position, and that from the last position of
    /// the particle before it in the slot to its end.
    fn add_partial(&mut self, state: &ParticleState, image: [i32; 3], last: Option<Point>) {
        let index = self.position.len();
        if last.is_some_and(|last| last.generation == state.generation) {
            return;
        }
        let end = last.and_then(|last| self.ends.end(state.slot, last.generation).zip(Some(last)));
        if let Some((position, last)) = end {
            // The end of an instance is in the box; its last position may be in another image of it.
            let is_near = (0..3).all(|d| {
                self.periods[d] == 0.0
                    || (position[d] - self.position[last.index][d]).abs() < 0.5 * self.periods[d]
            });
            if is_near {
                self.partial.push(PartialLine { index: last.index, position, is_release: false });
            }
        }
        let is_active = state.is_present() && !state.status.has_ended();
        let release = self
            .ends
            .release(state.slot, state.generation)
            .filter(|_| is_active && image == [0; 3]);
        if let Some(position) =
            release.filter(|x| x.iter().all(|x| x.is_finite()) && *x != state.position)
        {
            self.partial.push(PartialLine { index, position, is_release: true });
        }
    }

    /// The point in space of a position, if it is on a sphere.
    fn in_space(&self, position: [f64; 3]) -> [f64; 3] {
        self.radius.map_or(position, |radius| sphere::in_space(radius, position))
    }

    /// The mean speed of a particle from its release to its first save; NaN if it is not known.
    fn speed_since_release(
        &self,
        state: &ParticleState,
        image: [i32; 3],
        clock: &ParticleTimes,
    ) -> f64 {
        let age = clock.age(state);
        let release = self.ends.release(state.slot, state.generation);
        release.filter(|_| age > 0.0 && image == [0; 3]).map_or(f64::NAN, |release| {
            let [from, to] = [release, state.position].map(|position| self.in_space(position));
            length([0, 1, 2].map(|d| to[d] - from[d])) / age
        })
    }

    /// Adds a particle at the current save. Particles must be added in the order of the columns.
    fn add(
        &mut self,
        state: &ParticleState,
        image: [i32; 3],
        velocity: Option<[f64; 3]>,
        clock: &ParticleTimes,
    ) {
        let is_there = state.is_present();
        let is_active = is_there && !state.status.has_ended();
        let time = clock.time(state);
        let unwrapped = |d| state.position[d] + f64::from(image[d]) * self.periods[d];
        let position = self.in_space(std::array::from_fn(unwrapped));
        let index = self.position.len();
        let now = Point { position, time, image, generation: state.generation, index };
        let last = std::mem::replace(&mut self.before[self.column], is_active.then_some(now));
        self.add_partial(state, image, last);
        let before = last.filter(|before| is_there && before.generation == state.generation);
        let speed = match velocity.filter(|_| is_active) {
            Some(velocity) => length(velocity),
            None => match before {
                Some(before) => speed(&before, &now),
                None => self.speed_since_release(state, image, clock),
            },
        };
        let if_there = |x: f64| if is_there { x as f32 } else { f32::NAN };
        self.position.push(if is_there { state.position } else { [f64::NAN; 3] });
        self.joined.push(before.is_some_and(|before| before.image == image));
        self.active.push(is_active);
        self.codes.push(state.status.code() as u8);
        self.generations.push(if is_there { state.generation } else { -1 });
        self.speed.push(if_there(speed));
        self.age.push(if_there(clock.age(state)));
        self.time.push(if_there(time));
        self.seed.push(if_there(state.slot as f64));
        self.column += 1;
    }

    /// Ends a save.
    fn end(&mut self, time: f64) {
        self.times.push(time);
        self.column = 0;
    }

    /// Without saved velocities the first point of a trajectory has no speed; it takes the speed of
    /// the first segment.
    fn fill_first_speeds(&mut self) {
        let columns = self.before.len();
        for i in (columns..self.speed.len()).rev() {
            let first = i - columns;
            if self.active[first] && self.speed[first].is_nan() && !self.speed[i].is_nan() {
                self.speed[first] = self.speed[i];
            }
        }
    }

    fn into_trajectories(mut self, tracks: &Tracks, slots: Vec<usize>) -> Trajectories {
        self.fill_first_speeds();
        let units = tracks.units();
        let origin = units.origin_of_seconds();
        let dates = origin.map(|origin| self.times.iter().map(|time| origin.date_of(*time)));
        let dates = dates.and_then(|dates| dates.collect::<Option<Vec<_>>>()).unwrap_or_default();
        let Units { length, time, .. } = units;
        let is_known = !length.is_empty() && !time.is_empty();
        let speed = if is_known { format!("{length}/{time}") } else { String::new() };
        let attribute = |name: &str, unit: &str, values| Attribute {
            name: name.into(),
            unit: unit.into(),
            values,
            ..Attribute::default()
        };
        Trajectories {
            times: self.times,
            dates,
            particles: slots.into_iter().map(|slot| slot as u32).collect(),
            position: self.position,
            joined: self.joined,
            active: self.active,
            attributes: vec![
                attribute("speed", &speed, self.speed),
                attribute("age", &time, self.age),
                attribute("time", &time, self.time),
                attribute("seed", "", self.seed),
            ],
            axes: tracks.units().axes(),
            length_unit: length,
            time_unit: time,
            run_size: [tracks.num_particles(), tracks.num_saves()],
            partial: self.partial,
            ..Trajectories::default()
        }
    }
}

fn length(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The mean speed between two points, along the straight line.
fn speed(before: &Point, now: &Point) -> f64 {
    let displacement = std::array::from_fn(|d| now.position[d] - before.position[d]);
    let time = (now.time - before.time).abs();
    if time > 0.0 { length(displacement) / time } else { f64::NAN }
}
