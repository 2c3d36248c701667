//! The ways of some particles of a run, for pictures.

use super::Results;
use anyhow::Result;
use burntrace::io::{ParticleState, ParticleTimes, SavedStates};
use burntrace_plot::{Attribute, Trajectories};

/// How much of a run is shown at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Most {
    pub particles: usize,
    pub saves: usize,
}

/// Ways, and what was the status of their particles.
pub struct Followed {
    pub ways: Trajectories,
    /// Codes of statuses, one for each position.
    pub codes: Vec<u8>,
}

/// The ways of particles that are spread evenly over the slots, at saves that are spread evenly,
/// the last one among them.
pub fn ways(results: &Results, most: Most) -> Result<Followed> {
    let tracks = &results.tracks;
    let slots = evenly(tracks.num_particles(), most.particles);
    let saves = evenly_to_the_last(tracks.num_saves(), most.saves);
    let clock = ParticleTimes::read(tracks)?;
    let mut rows = Rows::new(results, &slots);
    for save in saves {
        let moments = SavedStates::read(tracks, save)?;
        let image = tracks.image(save)?;
        let velocity = tracks.velocity(save)?;
        for &slot in &slots {
            let moment = moments.state(slot);
            let image = image.as_ref().map_or([0; 3], |all| all[slot]);
            rows.add(&moment, image, velocity.as_ref().map(|all| all[slot]), &clock);
        }
        rows.end(tracks.times()[save]);
    }
    let codes = std::mem::take(&mut rows.codes);
    Ok(Followed { ways: rows.into_ways(results, slots), codes })
}

/// At most so many of `count` numbers, spread evenly from the first one.
fn evenly(count: usize, most: usize) -> Vec<usize> {
    let taken = count.min(most);
    (0..taken).map(|i| (i as u128 * count as u128 / taken as u128) as usize).collect()
}

/// The same with the last one among them.
fn evenly_to_the_last(count: usize, most: usize) -> Vec<usize> {
    let taken = count.min(most.max(1));
    let last = count.saturating_sub(1);
    let place = |i: usize| (i * last).checked_div(taken - 1).unwrap_or(last);
    (0..taken).map(place).collect()
}

/// Where a particle was a save before.
#[derive(Clone, Copy)]
struct Before {
    /// In the box that goes on for ever.
    place: [f64; 3],
    time: f64,
    image: [i32; 3],
    generation: i32,
}

/// What has been gathered.
struct Rows {
    periods: [f64; 3],
    times: Vec<f64>,
    position: Vec<[f32; 3]>,
    joined: Vec<bool>,
    active: Vec<bool>,
    codes: Vec<u8>,
    speed: Vec<f32>,
    age: Vec<f32>,
    time: Vec<f32>,
    seed: Vec<f32>,
    /// Of each column, where it was active at the save before.
    before: Vec<Option<Before>>,
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

    /// Adds a particle at a save; they come in the order of the columns.
    fn add(
        &mut self,
        moment: &ParticleState,
        image: [i32; 3],
        velocity: Option<[f64; 3]>,
        clock: &ParticleTimes,
    ) {
        let is_there = moment.is_present();
        let is_active = is_there && !moment.status.has_ended();
        let time = clock.time(moment);
        let place =
            std::array::from_fn(|d| moment.position[d] + f64::from(image[d]) * self.periods[d]);
        let now = Before { place, time, image, generation: moment.generation };
        let before = std::mem::replace(&mut self.before[self.column], is_active.then_some(now))
            .filter(|before| is_there && before.generation == moment.generation);
        let speed = match velocity.filter(|_| is_active) {
            Some(velocity) => length(velocity),
            None => before.map_or(f64::NAN, |before| speed(&before, &now)),
        };
        let there = |x: f64| if is_there { x as f32 } else { f32::NAN };
        self.position.push(moment.position.map(there));
        self.joined.push(before.is_some_and(|before| before.image == image));
        self.active.push(is_active);
        self.codes.push(moment.status.code() as u8);
        self.speed.push(there(speed));
        self.age.push(there(clock.age(moment)));
        self.time.push(there(time));
        self.seed.push(there(moment.slot as f64));
        self.column += 1;
    }

    /// Ends a save.
    fn end(&mut self, time: f64) {
        self.times.push(time);
        self.column = 0;
    }

    /// Where no velocity was stored there is no speed at the first point of a way: that of its
    /// first piece stands for it.
    fn fill_first_speeds(&mut self) {
        let columns = self.before.len();
        for i in (columns..self.speed.len()).rev() {
            let first = i - columns;
            if self.active[first] && self.speed[first].is_nan() && !self.speed[i].is_nan() {
                self.speed[first] = self.speed[i];
            }
        }
    }

    fn into_ways(mut self, results: &Results, slots: Vec<usize>) -> Trajectories {
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
            of: [results.tracks.num_particles(), results.tracks.num_saves()],
        }
    }
}

fn length(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The mean speed between two moments, along the straight line.
fn speed(before: &Before, now: &Before) -> f64 {
    let way = std::array::from_fn(|d| now.place[d] - before.place[d]);
    let time = (now.time - before.time).abs();
    if time > 0.0 { length(way) / time } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_spread_evenly() {
        assert_eq!(evenly(10, 3), [0, 3, 6]);
        assert_eq!(evenly(2, 5), [0, 1]);
        assert_eq!(evenly(0, 5), [0; 0]);
        assert_eq!(evenly_to_the_last(11, 3), [0, 5, 10]);
        assert_eq!(evenly_to_the_last(11, 1), [10]);
        assert_eq!(evenly_to_the_last(2, 9), [0, 1]);
        assert_eq!(evenly_to_the_last(1, 9), [0]);
        assert_eq!(evenly_to_the_last(0, 9), [0; 0]);
    }
}
