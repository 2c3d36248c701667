//! Sums over the velocities of particles.

use super::fourier::{Complex, Transform, of_both, square};

/// Sums over particles.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    pub particles: u64,
    pub left_out: u64,
    pub whole: u64,
    /// Number of pairs at each lag.
    pub pairs: Vec<u64>,
    pub components: [ComponentSums; 3],
}

/// Sums of a component, of values without the reference or the mean of the particle.
#[derive(Clone, Debug)]
pub(super) struct ComponentSums {
    /// Sum of the velocities themselves.
    pub mean: f64,
    /// By lag: sum of both values of all pairs.
    pub ends: Vec<f64>,
    /// By time: sum of whole records.
    pub sum: Vec<f64>,
    /// By frequency: squares of the transforms of all records, and of whole records times the window.
    pub power: Vec<f64>,
    pub windowed: Vec<f64>,
}

impl Sums {
    pub fn new(lags: usize, count: usize, frequencies: usize) -> Self {
        let component = || ComponentSums {
            mean: 0.0,
            ends: vec![0.0; lags],
            sum: vec![0.0; count],
            power: vec![0.0; frequencies],
            windowed: vec![0.0; frequencies],
        };
        let components = [component(), component(), component()];
        Sums { particles: 0, left_out: 0, whole: 0, pairs: vec![0; lags], components }
    }

    /// Sums of the same lengths over no particles.
    pub fn empty(&self) -> Self {
        let [first, ..] = &self.components;
        Sums::new(self.pairs.len(), first.sum.len(), first.power.len())
    }

    pub fn add(&mut self, other: &Sums) {
        self.particles += other.particles;
        self.left_out += other.left_out;
        self.whole += other.whole;
        self.pairs.iter_mut().zip(&other.pairs).for_each(|(sum, pairs)| *sum += pairs);
        for (to, from) in self.components.iter_mut().zip(&other.components) {
            to.mean += from.mean;
            let to = [&mut to.ends, &mut to.sum, &mut to.power, &mut to.windowed];
            let from = [&from.ends, &from.sum, &from.power, &from.windowed];
            for (to, from) in to.into_iter().zip(from) {
                to.iter_mut().zip(from).for_each(|(sum, value)| *sum += value);
            }
        }
    }
}

impl ComponentSums {
    /// Adds a record, which is whole if the window is as long. The buffer has the size of the transform.
    pub fn add_record(
        &mut self,
        values: &[f64],
        window: &[f64],
        (transform, buffer): (&Transform, &mut [Complex]),
    ) {
        let is_whole = values.len() == window.len();
        buffer.fill([0.0; 2]);
        for ((both, value), weight) in buffer.iter_mut().zip(values).zip(window) {
            *both = [*value, if is_whole { weight * value } else { 0.0 }];
        }
        transform.apply(buffer);
        for (k, (power, windowed)) in self.power.iter_mut().zip(&mut self.windowed).enumerate() {
            let [plain, weighted] = of_both(buffer, k);
            *power += square(plain);
            *windowed += square(weighted);
        }
        // Without the last values as the first, and without the first ones as the second of a pair.
        let mut rest = 2.0 * values.iter().sum::<f64>();
        for (lag, ends) in self.ends.iter_mut().take(values.len()).enumerate() {
            *ends += rest;
            rest -= values[lag] + values[values.len() - 1 - lag];
        }
        if is_whole {
            self.sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
    }
}
