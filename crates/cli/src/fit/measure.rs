//! How far a run is from the data.

use crate::{
    args::{FitArgs, Measure},
    file::Misuse,
    results::Results,
    skill::{self, Drifter, Pair},
};
use anyhow::Result;
use burntrace::analysis::{fit::Residuals, skill::position_at};

/// A run beside the data.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    pub residuals: Residuals,
    /// Differences of positions, for tables and pictures: the number of the drifter, time, and both positions in space.
    pub pairs: Vec<(f64, Pair)>,
}

impl Compared {
    /// The root mean square distance of drifters, or difference of a cloud in its standard errors.
    pub fn rms(&self, measure: Measure) -> f64 {
        let count = match measure {
            Measure::Tracks => self.pairs.len() as f64,
            Measure::Cloud => self.residuals.count,
        };
        (self.residuals.sum_of_squares() / count).sqrt()
    }
}

/// Observed positions, in the units of a run.
pub enum Data {
    /// Of drifters, each with a particle.
    Tracks(Vec<Drifter>),
    /// Of particles at each time.
    Cloud(Vec<(f64, Vec<[f64; 3]>)>),
}

impl Data {
    /// Reads the data for a run.
    pub fn read(args: &FitArgs, results: &Results) -> Result<Data> {
        match args.measure {
            Measure::Tracks => Ok(Data::Tracks(skill::drifters((&args.data, &args.id), results)?)),
            Measure::Cloud if results.radius().is_some() => Err(Misuse::error(
                "--measure cloud takes means along x, y and z, and positions of this run are longitudes and latitudes; fit --measure tracks",
            )),
            Measure::Cloud => Ok(Data::Cloud(skill::read_cloud(&args.data, results)?)),
        }
    }

    /// Compares a run with the data.
    pub fn compare(&self, args: &FitArgs, results: &Results) -> Result<Compared> {
        let compared = match self {
            Data::Tracks(drifters) => of_tracks(drifters, results)?,
            Data::Cloud(observed) => {
                Compared { residuals: of_cloud(observed, results)?, pairs: Vec::new() }
            }
        };
        match compared.residuals.count > 0.0 {
            true => Ok(compared),
            false => Err(Misuse::error(format!(
                "none of the positions in {} is at a time of the run, from its start to its last save",
                args.data.display()
            ))),
        }
    }
}

/// The differences of each drifter from its particle, along each axis. A particle that has ended stays where it is.
fn of_tracks(drifters: &[Drifter], results: &Results) -> Result<Compared> {
    let release_times = results.tracks.ends()?.release_time;
    let Compared { mut residuals, pairs: mut all } = Compared::default();
    // On a sphere there are three differences of two coordinates.
    let axes = results.axes().len().min(if results.radius().is_some() { 2 } else { 3 }) as f64;
    for (particle, of) in drifters.iter().zip(release_times).enumerate() {
        // The start is that of the seeds.
        let later = |pair: &Pair| pair.0 != of.1;
        let pairs: Vec<Pair> =
            skill::pairs(results, of, particle, true)?.into_iter().filter(later).collect();
        let difference = |(_, a, b): &Pair| [0, 1, 2].map(|d| b[d] - a[d]);
        residuals.groups.push(pairs.iter().flat_map(difference).collect());
        residuals.count += axes * pairs.len() as f64;
        all.extend(pairs.into_iter().map(|pair| (of.0.id, pair)));
    }
    Ok(Compared { residuals, pairs: all })
}

/// The differences of the means and the standard deviations of all positions at each time of the data, in their standard errors.
fn of_cloud(observed: &[(f64, Vec<[f64; 3]>)], results: &Results) -> Result<Residuals> {
    let tracks = results.tracks.num_particles();
    let computed: Vec<(Vec<f64>, Vec<[f64; 3]>)> =
        (0..tracks).map(|particle| path(results, particle)).collect::<Result<_>>()?;
    let axes = results.axes();
    // Means and deviations along each axis: at all times, they are of the same particles.
    let mut groups = vec![Vec::new(); 2 * axes.len()];
    let mut variances = Vec::new();
    for (time, positions) in observed {
        let now: Vec<[f64; 3]> =
            computed.iter().filter_map(|(times, path)| position_at(times, path, *time)).collect();
        if positions.len() < 2 || now.len() < 2 {
            continue;
        }
        // Both clouds are samples.
        variances.push(1.0 + positions.len() as f64 / now.len() as f64);
        for (k, d) in axes.iter().enumerate() {
            let [a, b] = [positions, &now].map(|of| moments(of.iter().map(|x| x[*d])));
            // The standard errors of a mean and of a standard deviation.
            let error = a[1] / (positions.len() as f64).sqrt();
            if error > 0.0 {
                groups[2 * k].push((b[0] - a[0]) / error);
                groups[2 * k + 1].push((b[1] - a[1]) / error * 2f64.sqrt());
            }
        }
    }
    let count = groups.iter().map(Vec::len).sum::<usize>() as f64;
    let variance = variances.iter().sum::<f64>() / (variances.len() as f64).max(1.0);
    Ok(Residuals { groups, variance: Some(variance), count })
}

/// Times and positions of a particle since its release.
fn path(results: &Results, particle: usize) -> Result<(Vec<f64>, Vec<[f64; 3]>)> {
    let track = results.tracks.track(particle)?;
    let unwrapped = track.unwrapped(results.tracks.periods());
    let saves = track.time.iter().zip(unwrapped).zip(&track.status);
    let since = saves.filter(|(_, status)| status.is_released());
    Ok(since.map(|((time, position), _)| (*time, position)).unzip())
}

/// Mean and standard deviation.
fn moments(numbers: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    let count = numbers.clone().count() as f64;
    let mean = numbers.clone().sum::<f64>() / count;
    let squares: f64 = numbers.map(|x| (x - mean).powi(2)).sum();
    [mean, (squares / (count - 1.0)).sqrt()]
}
