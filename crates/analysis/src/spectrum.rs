//! Autocorrelation of the velocities along tracks, integral time scale, and spectrum.
//!
//! ```
//! use burntrace_analysis::spectrum::{Mean, Velocities};
//!
//! // Twenty particles that oscillate with the period 4 about the mean velocity 1, at phases that are evenly spread.
//! let velocity = |particle: i32, time: f64| {
//!     let turns = time / 4.0 + f64::from(particle) / 20.0;
//!     [1.0 + (std::f64::consts::TAU * turns).cos(), 0.0, 0.0]
//! };
//! let record = |particle| (0..200).map(|k| velocity(particle, 0.1 * f64::from(k))).collect();
//! let mut velocities = Velocities::new(0.1, 200, Mean::Ensemble)?;
//! velocities.add(&(0..20).map(record).collect::<Vec<_>>());
//! let found = velocities.result()?;
//! let [x, ..] = &found.components;
//! assert!((x.mean - 1.0).abs() < 1e-12 && (x.variance - 0.5).abs() < 1e-12);
//! // A half period later.
//! assert!((found.lags[20] - 2.0).abs() < 1e-12 && (x.correlation[20] + 1.0).abs() < 1e-12);
//! # Ok::<(), burntrace_analysis::Error>(())
//! ```

mod fourier;
mod sums;

use crate::{Error, Result};
use fourier::{Complex, Transform, of_both, square};
use rayon::prelude::*;
use std::f64::consts::PI;
use sums::{ComponentSums, Sums};

/// What is subtracted from velocities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mean {
    /// The mean of each component over all particles and times.
    #[default]
    Ensemble,
    /// The mean of each particle over its times. It takes variance at periods longer than the record, so that the correlation at long
    /// lags is too low.
    Particle,
    /// Nothing.
    None,
}

/// Sums over the velocities of particles, from which their statistics follow.
#[derive(Clone, Debug)]
pub struct Velocities {
    interval: f64,
    mean: Mean,
    /// Velocities are summed without this one, so that a mean that is large beside the fluctuations costs no digits.
    reference: Option<[f64; 3]>,
    transform: Transform,
    /// Hann window of a whole record.
    window: Vec<f64>,
    sums: Sums,
}

/// Statistics of velocities along tracks.
#[derive(Clone, Debug, PartialEq)]
pub struct VelocityStatistics {
    /// Number of particles.
    pub particles: u64,
    /// Number of particles without velocities.
    pub left_out: u64,
    /// Number of particles with velocities at all times, of which the spectrum is.
    pub whole: u64,
    /// Lags: 0 and multiples of the interval up to half of the duration, or up to the longest record if this is shorter.
    pub lags: Vec<f64>,
    /// Number of pairs of velocities at each lag.
    pub pairs: Vec<u64>,
    /// Frequencies of the spectrum, in cycles per unit of time, up to 1 / (2 intervals); empty without a whole record. Records are padded with zeros, so
    /// that their spacing is below the resolution, about 2 / duration.
    pub frequencies: Vec<f64>,
    /// Along x, y and z; on a sphere towards the east, the north, and upwards.
    pub components: [VelocityComponent; 3],
    /// The sum over the components: of variances, of covariances, of spectra.
    pub total: VelocityComponent,
}

/// Statistics of a component of velocities.
#[derive(Clone, Debug, PartialEq)]
pub struct VelocityComponent {
    /// Mean over all particles and times; NaN for the sum over the components.
    pub mean: f64,
    /// Mean square of u', the velocity without the mean that is subtracted.
    pub variance: f64,
    /// By lag: the mean of u'(t) u'(t + lag) over all pairs at this lag, divided by the variance; NaN if that is 0.
    pub correlation: Vec<f64>,
    /// Integral of the correlation; `None` if the variance is 0 or there is no lag.
    pub scale: Option<TimeScale>,
    /// By frequency: the one-sided power spectral density, in velocity² times time. The integral over the frequencies is the variance of
    /// the particles with whole records, weighted by the window.
    pub spectrum: Vec<f64>,
}

/// The integral of an autocorrelation from the lag 0 to its first zero, in units of time.
///
/// G. I. Taylor, 1921, *Proc. London Math. Soc.* 20:196, integrates over all lags. Correlations at long lags are mostly noise, so the integral of data is
/// often cut at the first zero (J. H. LaCasce, 2008, *Prog. Oceanogr.* 77:1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeScale {
    /// The integral.
    pub time: f64,
    /// Whether the correlation reaches 0; if not, the integral is up to the last lag.
    pub reaches_zero: bool,
}

impl TimeScale {
    /// Of a correlation at multiples of an interval, by trapezoids; the zero is interpolated linearly.
    pub fn of(correlation: &[f64], interval: f64) -> Self {
        let mut time = 0.0;
        for pair in correlation.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            if to <= 0.0 {
                let part = from / (from - to);
                return TimeScale { time: time + 0.5 * from * part * interval, reaches_zero: true };
            }
            time += 0.5 * (from + to) * interval;
        }
        TimeScale { time, reaches_zero: false }
    }
}

impl VelocityComponent {
    /// Diffusivity: the variance times the integral time scale (Taylor 1921), in velocity² times time. For the sum over n components,
    /// divide it by n to get that of isotropic diffusion.
    pub fn diffusivity(&self) -> Option<f64> {
        self.scale.map(|scale| self.variance * scale.time)
    }

    fn new(mean: f64, covariance: &[f64], spectrum: Vec<f64>, interval: f64) -> Self {
        let variance = covariance[0];
        let correlation: Vec<f64> = covariance.iter().map(|of_lag| of_lag / variance).collect();
        let is_known = variance > 0.0 && correlation.len() > 1;
        let scale = is_known.then(|| TimeScale::of(&correlation, interval));
        VelocityComponent { mean, variance, correlation, scale, spectrum }
    }
}

/// The interval between saves and their number without the last one, if that follows earlier: runs also save their end. The interval is
/// negative for a backward run.
///
/// # Errors
///
/// [`Error::Spectrum`] for fewer than three saves, or uneven intervals.
pub fn even_interval(times: &[f64]) -> Result<(f64, usize)> {
    let count = times.len();
    let even = "at even intervals (`save.every_time` or `save.every` in a case)";
    let fail = |found: String| Err(Error::Spectrum(format!("{found}; give saves {even}")));
    if count < 3 {
        return Err(Error::Spectrum(format!(
            "the number of saves is {count}; give three or more {even}"
        )));
    }
    let gap = |save: usize| times[save + 1] - times[save];
    let mean = |saves: usize| (times[saves - 1] - times[0]) / (saves - 1) as f64;
    let interval = gap(0);
    let largest = times.iter().fold(0.0, |largest: f64, time| largest.max(time.abs()));
    let slack = 1e-6 * interval.abs() + 4.0 * f64::EPSILON * largest;
    if interval.abs() <= slack {
        return fail(format!("the saves 0 and 1 are both at {}", times[0]));
    }
    let is_even = |save: &usize| (gap(*save) - interval).abs() <= slack;
    let Some(save) = (1..count - 1).find(|save| !is_even(save)) else {
        return Ok((mean(count), count));
    };
    let part = gap(save) / interval;
    if save + 2 == count && count > 3 && part > 0.0 && part < 1.0 {
        return Ok((mean(count - 1), count - 1));
    }
    let [first, other] = [interval, gap(save)].map(|x| six_digits(x.abs()));
    fail(format!("saves 0 and 1 are {first} apart, saves {save} and {} are {other}", save + 1))
}

impl Velocities {
    /// For records of at most `count` velocities at intervals of time.
    ///
    /// # Errors
    ///
    /// [`Error::Spectrum`] if the interval is not above 0, or for fewer than three velocities.
    pub fn new(interval: f64, count: usize, mean: Mean) -> Result<Self> {
        if !(interval > 0.0 && interval.is_finite()) {
            return Err(Error::Spectrum(format!(
                "the interval of time is {interval}; give a number above 0"
            )));
        }
        if count < 3 {
            return Err(Error::Spectrum(format!(
                "there are {count} velocities of a particle, too few for an autocorrelation; give three or more, from more saves"
            )));
        }
        let lags = count.div_ceil(2);
        let transform = Transform::of_at_least(count + lags);
        let sums = Sums::new(lags, count, transform.size() / 2 + 1);
        let weight = |k| (PI * k as f64 / count as f64).sin().powi(2);
        let window = (0..count).map(weight).collect();
        Ok(Velocities { interval, mean, reference: None, transform, window, sums })
    }

    /// Adds particles: the velocities of each of them at successive times. A shorter record is of a particle that is not active at all
    /// times; an empty one counts as left out. All velocities must be finite.
    pub fn add(&mut self, records: &[Vec<[f64; 3]>]) {
        if self.mean == Mean::Ensemble && self.reference.is_none() {
            self.reference = records.iter().find(|record| !record.is_empty()).map(|of| mean_of(of));
        }
        let parts: Vec<Sums> =
            records.par_chunks(CHUNK).map(|records| self.sums_of(records)).collect();
        parts.iter().for_each(|part| self.sums.add(part));
    }

    fn sums_of(&self, records: &[Vec<[f64; 3]>]) -> Sums {
        let mut sums = self.sums.empty();
        let mut buffer = vec![[0.0; 2]; self.transform.size()];
        for record in records {
            let record = &record[..record.len().min(self.window.len())];
            if record.is_empty() {
                sums.left_out += 1;
                continue;
            }
            sums.particles += 1;
            sums.whole += u64::from(record.len() == self.window.len());
            for (lag, pairs) in sums.pairs.iter_mut().take(record.len()).enumerate() {
                *pairs += (record.len() - lag) as u64;
            }
            let own = mean_of(record);
            let origin = match self.mean {
                Mean::Particle => own,
                Mean::Ensemble | Mean::None => self.reference.unwrap_or_default(),
            };
            for (d, component) in sums.components.iter_mut().enumerate() {
                let values: Vec<f64> =
                    record.iter().map(|velocity| velocity[d] - origin[d]).collect();
                component.mean += own[d] * record.len() as f64;
                component.add_record(&values, &self.window, (&self.transform, &mut buffer));
            }
        }
        sums
    }

    /// The statistics of all particles so far.
    ///
    /// # Errors
    ///
    /// [`Error::Spectrum`] if no particle has velocities.
    pub fn result(self) -> Result<VelocityStatistics> {
        let Sums { particles, left_out, whole, .. } = self.sums;
        if particles == 0 {
            return Err(Error::Spectrum(format!(
                "none of the {left_out} particles has velocities; give particles that are active at two saves or more"
            )));
        }
        let pairs: Vec<u64> = self.sums.pairs.iter().copied().take_while(|n| *n > 0).collect();
        let covariances = self.sums.components.each_ref().map(|of| self.covariance(of, &pairs));
        let spectra = self.sums.components.each_ref().map(|of| self.spectrum(of));
        let count = pairs[0] as f64;
        let component = |d: usize| {
            let mean = self.sums.components[d].mean / count;
            VelocityComponent::new(mean, &covariances[d], spectra[d].clone(), self.interval)
        };
        let total = VelocityComponent::new(
            f64::NAN,
            &sum_of(&covariances),
            sum_of(&spectra),
            self.interval,
        );
        let step = 1.0 / (self.transform.size() as f64 * self.interval);
        Ok(VelocityStatistics {
            particles,
            left_out,
            whole,
            lags: (0..pairs.len()).map(|lag| lag as f64 * self.interval).collect(),
            pairs,
            frequencies: (0..spectra[0].len()).map(|k| k as f64 * step).collect(),
            components: [0, 1, 2].map(component),
            total,
        })
    }

    /// The mean of the values that were summed, which is still to be subtracted.
    fn offset(&self, of: &ComponentSums) -> f64 {
        match self.mean {
            Mean::Ensemble => 0.5 * of.ends[0] / self.sums.pairs[0] as f64,
            Mean::Particle | Mean::None => 0.0,
        }
    }

    /// The covariance at each lag: the mean over all pairs. Their sums are the inverse transform of the sum of squares.
    fn covariance(&self, of: &ComponentSums, pairs: &[u64]) -> Vec<f64> {
        let (size, offset) = (self.transform.size(), self.offset(of));
        let mut products: Vec<Complex> =
            (0..size).map(|k| [of.power[k.min(size - k)], 0.0]).collect();
        self.transform.apply(&mut products);
        let mean = |(lag, pairs): (usize, &u64)| {
            let product = products[lag][0] / size as f64;
            (product - offset * of.ends[lag]) / *pairs as f64 + offset * offset
        };
        let mut covariance: Vec<f64> = pairs.iter().enumerate().map(mean).collect();
        covariance[0] = covariance[0].max(0.0);
        covariance
    }

    /// The mean of the periodograms of whole records (P. D. Welch, 1967, *IEEE Trans. Audio Electroacoust.* 15:70), with the window of Hann
    /// (F. J. Harris, 1978, *Proc. IEEE* 66:51), both for positive and for negative frequencies.
    fn spectrum(&self, of: &ComponentSums) -> Vec<f64> {
        if self.sums.whole == 0 {
            return Vec::new();
        }
        let (count, offset) = (self.sums.whole as f64, self.offset(of));
        let mut both = vec![[0.0; 2]; self.transform.size()];
        for ((both, weight), sum) in both.iter_mut().zip(&self.window).zip(&of.sum) {
            *both = [*weight, weight * sum];
        }
        self.transform.apply(&mut both);
        let squares: f64 = self.window.iter().map(|weight| weight * weight).sum();
        let density = |(k, power): (usize, &f64)| {
            let [window, sum] = of_both(&both, k);
            let cross = window[0] * sum[0] + window[1] * sum[1];
            let power = power - 2.0 * offset * cross + count * offset * offset * square(window);
            2.0 * self.interval * power.max(0.0) / (count * squares)
        };
        of.windowed.iter().enumerate().map(density).collect()
    }
}

/// A number in six digits, for messages.
fn six_digits(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

/// Records that are summed by a thread together.
const CHUNK: usize = 64;

fn mean_of(record: &[[f64; 3]]) -> [f64; 3] {
    [0, 1, 2].map(|d| record.iter().map(|velocity| velocity[d]).sum::<f64>() / record.len() as f64)
}

/// The sum of three series, number by number.
fn sum_of([a, b, c]: &[Vec<f64>; 3]) -> Vec<f64> {
    a.iter().zip(b).zip(c).map(|((a, b), c)| a + b + c).collect()
}

#[cfg(test)]
mod tests;
