//! Trajectories of a sample of a run's particles, for pictures.

use super::run_results::Results;
use anyhow::Result;
use burntrace::io::{ParticleState, ParticleTimes, SavedStates};
use burntrace_plot::{Attribute, Trajectories};

/// Maximum numbers of particles and saves to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleLimits {
    pub particles: usize,
    pub saves: usize,
}

/// Trajectories with the statuses of their particles.
pub struct SampledTrajectories {
    pub trajectories: Trajectories,
    /// Status codes, one per position.
    pub codes: Vec<u8>,
}

/// Reads the trajectories of evenly spaced slots at evenly spaced saves, the last save included.
pub fn sample_trajectories(results: &Results, limits: SampleLimits) -> Result<SampledTrajectories> {
    let tracks = &results.tracks;
    let slots = evenly_spaced(tracks.num_particles(), limits.particles);
    let saves = evenly_spaced_with_last(tracks.num_saves(), limits.saves);
    let clock = ParticleTimes::read(tracks)?;
    let mut rows = Rows::new(results, &slots);
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
    }
    let codes = std::mem::take(&mut rows.codes);
    Ok(SampledTrajectories { trajectories: rows.into_trajectories(results, slots), codes })
}

/// At most `max` evenly spaced indices below `count`, starting at 0.
fn evenly_spaced(count: usize, max: usize) -> Vec<usize> {
    let taken = count.min(max);
    (0..taken).map(|i| (i as u128 * count as u128 / taken as u128) as usize).collect()
}

/// At most `max` evenly spaced indices below `count`, the last one included.
fn evenly_spaced_with_last(count: usize, max: usize) -> Vec<usize> {
    let taken = count.min(max.max(1));
    let last = count.saturating_sub(1);
    let index = |i: usize| (i * last).checked_div(taken - 1).unwrap_or(last);
    (0..taken).map(index).collect()
}

/// An active particle at a save.
#[derive(Clone, Copy)]
struct Point {
    /// Unwrapped across periodic faces.
    position: [f64; 3],
    time: f64,
    image: [i32; 3],
    generation: i32,
}

/// The attributes of trajectories, save by save.
struct Rows {
    periods: [f64; 3],
    times: Vec<f64>,
    position: Vec<[f64; 3]>,
    joined: Vec<bool>,
    active: Vec<bool>,
    codes: Vec<u8>,
    speed: Vec<f32>,
    age: Vec<f32>,
    time: Vec<f32>,
    seed: Vec<f32>,
    /// For each column, the point at the previous save, if the particle was active there.
    before: Vec<Option<Point>>,
    column: usize,
}

impl Rows {
    fn new(results: &Results, slots: &[usize]) -> Rows {
        Rows {
            periods: results.tracks.periods(),
            times: Vec::new(),
            position: Vec::new(),
            joined: Vec::new(),
            active: Vec::new(),
            codes: Vec::new(),
            speed: Vec::new(),
            age: Vec::new(),
            time: Vec::new(),
            seed: Vec::new(),
            before: vec![None; slots.len()],
            column: 0,
        }
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
        let position =
            std::array::from_fn(|d| state.position[d] + f64::from(image[d]) * self.periods[d]);
        let now = Point { position, time, image, generation: state.generation };
        let before = std::mem::replace(&mut self.before[self.column], is_active.then_some(now))
            .filter(|before| is_there && before.generation == state.generation);
        let speed = match velocity.filter(|_| is_active) {
            Some(velocity) => length(velocity),
            None => before.map_or(f64::NAN, |before| speed(&before, &now)),
        };
        let if_there = |x: f64| if is_there { x as f32 } else { f32::NAN };
        self.position.push(if is_there { state.position } else { [f64::NAN; 3] });
        self.joined.push(before.is_some_and(|before| before.image == image));
        self.active.push(is_active);
        self.codes.push(state.status.code() as u8);
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

    fn into_trajectories(mut self, results: &Results, slots: Vec<usize>) -> Trajectories {
        self.fill_first_speeds();
        let units = results.units();
        let speed_unit = units.speed();
        let attribute = |name: &str, unit: &str, values| Attribute {
            name: name.into(),
            unit: unit.into(),
            values,
        };
        Trajectories {
            times: self.times,
            particles: slots.into_iter().map(|slot| slot as u32).collect(),
            position: self.position,
            joined: self.joined,
            active: self.active,
            attributes: vec![
                attribute("speed", &speed_unit, self.speed),
                attribute("age", &units.time, self.age),
                attribute("time", &units.time, self.time),
                attribute("seed", "", self.seed),
            ],
            domain: results.domain,
            length_unit: units.length.clone(),
            time_unit: units.time.clone(),
            run_size: [results.tracks.num_particles(), results.tracks.num_saves()],
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_evenly_spaced() {
        assert_eq!(evenly_spaced(10, 3), [0, 3, 6]);
        assert_eq!(evenly_spaced(2, 5), [0, 1]);
        assert_eq!(evenly_spaced(0, 5), [0; 0]);
        assert_eq!(evenly_spaced_with_last(11, 3), [0, 5, 10]);
        assert_eq!(evenly_spaced_with_last(11, 1), [10]);
        assert_eq!(evenly_spaced_with_last(2, 9), [0, 1]);
        assert_eq!(evenly_spaced_with_last(1, 9), [0]);
        assert_eq!(evenly_spaced_with_last(0, 9), [0; 0]);
    }
}
