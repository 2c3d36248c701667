//! Tests of the statistics of velocities.

use super::*;
use std::f64::consts::TAU;

/// The generator SplitMix64, with numbers between 0 and 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number of the normal distribution of variance 1.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.next()).ln()).sqrt();
        radius * (TAU * self.next()).cos()
    }
}

fn statistics(interval: f64, count: usize, mean: Mean, records: &[Record]) -> VelocityStatistics {
    let mut velocities = Velocities::new(interval, count, mean).unwrap();
    // In two blocks.
    let (first, second) = records.split_at(records.len() / 3);
    velocities.add(first);
    velocities.add(second);
    velocities.result().unwrap()
}

type Record = Vec<[f64; 3]>;

/// The integral of the spectrum, by trapezoids.
fn integral(frequencies: &[f64], spectrum: &[f64]) -> f64 {
    let parts = frequencies.windows(2).zip(spectrum.windows(2));
    parts.map(|(f, s)| 0.5 * (f[1] - f[0]) * (s[0] + s[1])).sum()
}

#[track_caller]
fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found}, not {expected} within {tolerance}");
}

/// Phases are evenly spread from a random one, so that means over particles are exact.
#[test]
fn oscillations_are_correlated_as_a_cosine_and_have_a_peak_at_their_frequency() {
    let (particles, count, interval, period) = (32, 300, 0.05, 1.3);
    let first = Random(1).next();
    let record = |particle: usize| -> Record {
        let phase = first + particle as f64 / particles as f64;
        let angle = |k: usize| TAU * (k as f64 * interval / period + phase);
        (0..count).map(|k| [7.0 + 2.0 * angle(k).cos(), 0.5 * angle(k).sin(), 0.0]).collect()
    };
    let records: Vec<Record> = (0..particles).map(record).collect();
    let found = statistics(interval, count, Mean::Ensemble, &records);
    assert_eq!((found.particles, found.whole, found.left_out), (32, 32, 0));
    assert_eq!((found.lags.len(), found.pairs[0], found.pairs[149]), (150, 9600, 32 * 151));
    let [x, y, z] = &found.components;
    assert_close(x.mean, 7.0, 1e-12);
    assert_close(x.variance, 2.0, 1e-12);
    assert_close(y.variance, 0.125, 1e-12);
    for of in [x, y, &found.total] {
        for (lag, correlation) in found.lags.iter().zip(&of.correlation) {
            assert_close(*correlation, (TAU * lag / period).cos(), 1e-12);
        }
        // Trapezoids are short of the integral of a cosine by this part at most.
        let TimeScale { time, reaches_zero } = of.scale.unwrap();
        let part = (TAU * interval / period).powi(2) / 12.0;
        assert_close(time, period / TAU, 1.1 * part * period / TAU);
        assert!(reaches_zero);
        assert_close(of.diffusivity().unwrap(), of.variance * time, 1e-15);
        // The variance is the same at all times, so that the window changes nothing.
        assert_close(integral(&found.frequencies, &of.spectrum), of.variance, 1e-12);
        let peak = (0..of.spectrum.len())
            .max_by(|a, b| of.spectrum[*a].total_cmp(&of.spectrum[*b]))
            .unwrap();
        let step = found.frequencies[1];
        assert_close(found.frequencies[peak], 1.0 / period, 0.5 * step);
    }
    assert_close(found.total.variance, 2.125, 1e-12);
    assert!((z.variance, z.scale, z.diffusivity()) == (0.0, None, None));
    assert!(z.correlation.iter().all(|x| x.is_nan()) && found.total.mean.is_nan());
    assert_close(*found.frequencies.last().unwrap(), 10.0, 1e-12);
}

/// Records of different lengths, by the sums of the definitions.
#[test]
fn all_numbers_are_the_sums_of_their_definitions() {
    let (count, interval) = (11, 0.3);
    let mut random = Random(2);
    let lengths = [11, 4, 0, 11, 1, 9, 11];
    let mut record = |length: &usize| -> Record {
        (0..*length).map(|_| [0, 1, 2].map(|_| 5.0 + random.normal())).collect()
    };
    let records: Vec<Record> = lengths.iter().map(&mut record).collect();
    for mean in [Mean::Ensemble, Mean::Particle, Mean::None] {
        let found = statistics(interval, count, mean, &records);
        assert_eq!((found.particles, found.whole, found.left_out), (6, 3, 1));
        for (d, component) in found.components.iter().enumerate() {
            let all = || records.iter().flatten().map(|velocity| velocity[d]);
            let of_all = all().sum::<f64>() / all().count() as f64;
            assert_close(component.mean, of_all, 1e-12);
            let without = |record: &Record| -> Vec<f64> {
                let own = record.iter().map(|velocity| velocity[d]).sum::<f64>();
                let mean = match mean {
                    Mean::Ensemble => of_all,
                    Mean::Particle => own / record.len() as f64,
                    Mean::None => 0.0,
                };
                record.iter().map(|velocity| velocity[d] - mean).collect()
            };
            let values: Vec<Vec<f64>> = records.iter().map(without).collect();
            for (lag, pairs) in found.pairs.iter().enumerate() {
                let products = values.iter().flat_map(|of| of.iter().zip(of.iter().skip(lag)));
                let products: Vec<f64> = products.map(|(a, b)| a * b).collect();
                assert_eq!(*pairs, products.len() as u64);
                let covariance = products.iter().sum::<f64>() / products.len() as f64;
                assert_close(component.correlation[lag] * component.variance, covariance, 1e-11);
            }
            let window = |k: usize| (0.5 * TAU * k as f64 / count as f64).sin().powi(2);
            let squares: f64 = (0..count).map(|k| window(k).powi(2)).sum();
            for (frequency, found) in found.frequencies.iter().zip(&component.spectrum) {
                let power = |values: &Vec<f64>| {
                    let angle = |k: usize| TAU * frequency * k as f64 * interval;
                    let sum = |part: fn(f64) -> f64| -> f64 {
                        (0..count).map(|k| window(k) * values[k] * part(angle(k))).sum()
                    };
                    sum(f64::cos).powi(2) + sum(f64::sin).powi(2)
                };
                let whole = values.iter().filter(|values| values.len() == count);
                let mean = whole.map(power).sum::<f64>() / 3.0;
                assert_close(*found, 2.0 * interval * mean / squares, 1e-11);
            }
        }
        let sum: f64 = found.components.iter().map(|of| of.variance).sum();
        assert_close(found.total.variance, sum, 1e-12);
    }
}

/// The autoregressive process x' = a x + noise with a = exp(-interval / time), which is an Ornstein-Uhlenbeck process at even times. Standard
/// errors are those of the mean of twenty groups of particles.
#[test]
fn an_ornstein_uhlenbeck_process_has_its_time_scale_and_spectrum() {
    let (groups, size, count, interval, time, deviation) = (20, 100, 400, 0.1, 0.8, 1.2);
    let a = f64::exp(-interval / time);
    let mut random = Random(3);
    let mut record = |_| -> Record {
        let mut x = [0; 3].map(|_| deviation * random.normal());
        let mut next = || {
            let noise = (1.0 - a * a).sqrt() * deviation;
            let next = x.map(|x| a * x + noise * random.normal());
            std::mem::replace(&mut x, next)
        };
        (0..count).map(|_| next()).collect()
    };
    let records: Vec<Record> = (0..groups * size).map(&mut record).collect();
    let of = |records: &[Record]| statistics(interval, count, Mean::Ensemble, records);
    let (all, parts) = (of(&records), records.chunks(size).map(of).collect::<Vec<_>>());
    let check = |value: &dyn Fn(&VelocityStatistics) -> f64, expected: f64| {
        let values: Vec<f64> = parts.iter().map(value).collect();
        let mean = values.iter().sum::<f64>() / groups as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (groups - 1) as f64 / groups as f64).sqrt();
        assert!(error < 0.05 * expected, "{error} of {expected}");
        assert_close(value(&all), expected, 4.0 * error);
    };
    let variance = deviation * deviation;
    for d in 0..3 {
        check(&|of| of.components[d].variance, variance);
        // The integral by trapezoids over all lags.
        let trapezoids = 0.5 * interval * (1.0 + a) / (1.0 - a);
        check(&|of| of.components[d].scale.unwrap().time, trapezoids);
        check(&|of| of.components[d].diffusivity().unwrap(), variance * trapezoids);
        check(&|of| of.components[d].correlation[8], f64::exp(-1.0));
        check(&|of| integral(&of.frequencies, &of.components[d].spectrum), variance);
        for k in [10, 40, 160] {
            let cos = (TAU * all.frequencies[k] * interval).cos();
            let density = 2.0 * interval * variance * (1.0 - a * a) / (1.0 + a * a - 2.0 * a * cos);
            check(&|of| of.components[d].spectrum[k], density);
        }
    }
    check(&|of| of.total.variance, 3.0 * variance);
}

#[test]
fn integrals_end_at_the_first_zero_or_are_marked() {
    let scale = |correlation: &[f64]| {
        let TimeScale { time, reaches_zero } = TimeScale::of(correlation, 2.0);
        (time, reaches_zero)
    };
    assert_eq!(scale(&[1.0, 0.5, -0.5, 3.0]), (1.5 + 0.25, true));
    assert_eq!(scale(&[1.0, 0.0, 1.0]), (1.0, true));
    assert_eq!(scale(&[1.0, 0.5, 0.25]), (1.5 + 0.75, false));
    assert_eq!(scale(&[1.0]), (0.0, false));
}

/// Particles that end early have no spectrum, and lags are within their records.
#[test]
fn particles_that_end_early_have_an_autocorrelation_only() {
    let record: Record = [1.0, -1.0, 1.0, 2.0].map(|u| [u, 0.0, 0.0]).to_vec();
    let found = statistics(1.0, 20, Mean::None, &[record, Vec::new(), Vec::new()]);
    assert_eq!((found.particles, found.whole, found.left_out), (1, 0, 2));
    assert_eq!(found.pairs, [4, 3, 2, 1]);
    assert_close(found.components[0].variance, 7.0 / 4.0, 1e-14);
    assert_close(found.components[0].correlation[3], 2.0 * 4.0 / 7.0, 1e-14);
    assert!(found.frequencies.is_empty() && found.total.spectrum.is_empty());
    let mut single = Velocities::new(1.0, 3, Mean::None).unwrap();
    single.add(&[vec![[1.0; 3]]]);
    let found = single.result().unwrap();
    assert_eq!((found.total.variance, found.total.scale), (3.0, None));
}

#[test]
fn saves_are_at_even_intervals_but_for_the_end() {
    assert_eq!(even_interval(&[0.0, 2.0, 4.0, 6.0]).unwrap(), (2.0, 4));
    assert_eq!(even_interval(&[9.0, 7.0, 5.0, 4.5]).unwrap(), (-2.0, 3));
    // Times since 1970 in seconds are rounded to 2e-7.
    let dates: Vec<f64> = (0..9).map(|k| 1.7e9 + 0.1 * f64::from(k)).collect();
    let (interval, saves) = even_interval(&dates).unwrap();
    assert_close(interval, 0.1, 1e-6);
    assert_eq!(saves, 9);
    let refused = |times: &[f64], part: &str| {
        let message = even_interval(times).unwrap_err().to_string();
        assert!(message.contains(part) && message.contains("`save.every_time`"), "{message}");
    };
    refused(&[0.0, 1.0], "the number of saves is 2");
    refused(&[0.0, 0.1, 0.3, 0.4], "saves 0 and 1 are 0.1 apart, saves 1 and 2 are 0.2");
    refused(&[0.0, 1.0, 2.0, 4.0], "saves 2 and 3 are 2");
    refused(&[0.0, 1.0, 1.5], "saves 1 and 2 are 0.5");
    refused(&[3.0, 3.0, 4.0], "both at 3");
}

#[test]
fn input_that_means_nothing_is_refused() {
    let reason = |interval, count| match Velocities::new(interval, count, Mean::None) {
        Err(Error::Spectrum(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert!(reason(0.0, 9).contains("give a number above 0"));
    assert!(reason(1.0, 2).contains("give three or more"));
    let mut none = Velocities::new(1.0, 9, Mean::Ensemble).unwrap();
    none.add(&[Vec::new()]);
    let message = none.result().unwrap_err().to_string();
    assert!(message.contains("none of the 1 particles"), "{message}");
}
