//! A run with a known answer: solid rotation on a grid, which linear interpolation reproduces, so that the
//! positions after RK4 steps are known up to rounding.

use crate::file::Misuse;
use anyhow::Result;
use burntrace::{
    Analytic, Domain, Engine, FieldOptions, Flow, GridField, Precision, SaveAt, Seeds, Span,
    Tracer,
    device::{self, OpenDevice},
};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Particles along each axis.
const PARTICLES: [usize; 3] = [100, 100, 10];
/// The same of graphics devices in software, which are slow.
const FEW_PARTICLES: [usize; 3] = [50, 50, 4];
const STEPS: u64 = 96;
const DT: f64 = 0.05;
/// Angle per time.
const RATE: f64 = 1.0;

/// Maximum error in f32, relative to the size of the domain.
const BOUND: f64 = 1e-5;

/// The answer of a device.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Answer {
    /// The largest error of a coordinate, relative to the size of the domain.
    pub error: f64,
    pub is_right: bool,
    /// Seconds to compile the kernels, before the first step.
    pub compile: f64,
    /// Particle-steps per second, the faster of two runs.
    pub speed: f64,
}

/// Prints the answer of a device as JSON, for the process that started this one.
pub fn print(name: &str) -> Result<()> {
    use std::io::Write;
    let device = device::open(name).map_err(Misuse::of)?;
    let answer = of(&device)?;
    writeln!(std::io::stdout().lock(), "{}", serde_json::to_string(&answer)?)?;
    Ok(())
}

fn of(device: &OpenDevice) -> Result<Answer> {
    // A positive rate is clockwise.
    let rotation = Flow::Rotation { centre: [0.5; 2], rate: -RATE };
    let domain = Domain::new([0.0; 3], [1.0; 3])?;
    let mut frames = Analytic::sample(rotation, domain, [17, 17, 3], vec![0.0, STEPS as f64 * DT])?;
    let options = FieldOptions { precision: Precision::F32, ..FieldOptions::default() };
    let field = GridField::load(&mut frames, &device.device, &options)?;
    let counts = if device.is_software { FEW_PARTICLES } else { PARTICLES };
    let seeds = Seeds::list(positions(counts))?;
    let tracer = Tracer::new(&field)
        .span(Span { t0: Some(0.0), dt: Some(DT), steps: Some(STEPS), ..Span::default() })
        .engine(Engine::Fused)
        .save(SaveAt::End);
    let compile = tracer.warm_up(seeds.len())?;
    let (mut error, mut seconds) = (0.0_f64, f64::INFINITY);
    for _ in 0..2 {
        let start = Instant::now();
        let tracks = tracer.trace(&seeds)?;
        let found = tracks.positions().into_data().convert::<f64>().try_to_vec::<f64>();
        seconds = seconds.min(start.elapsed().as_secs_f64());
        let found = found.map_err(|error| anyhow::anyhow!("cannot read the answer: {error:?}"))?;
        error = error.max(largest_error(seeds.positions(), &found));
    }
    let speed = seeds.len() as f64 * STEPS as f64 / seconds;
    Ok(Answer { error, is_right: error <= BOUND, compile, speed })
}

/// Positions around the axis that stay in the domain.
fn positions(counts: [usize; 3]) -> Vec<[f64; 3]> {
    let at = |i: usize, d: usize| 0.2 + 0.6 * (i as f64 + 0.5) / counts[d] as f64;
    let [nx, ny, nz] = counts;
    let all = (0..nx * ny * nz).map(|i| [i % nx, i / nx % ny, i / (nx * ny)]);
    all.map(|[x, y, z]| [at(x, 0), at(y, 1), at(z, 2)]).collect()
}

/// The largest error of a coordinate. One that is not a number is infinitely wrong.
fn largest_error(seeds: &[[f64; 3]], found: &[f64]) -> f64 {
    if found.len() != 3 * seeds.len() {
        return f64::INFINITY;
    }
    let factor = power();
    let errors = seeds.iter().zip(found.chunks_exact(3)).flat_map(|(seed, found)| {
        let (x, y) = (seed[0] - 0.5, seed[1] - 0.5);
        let exact =
            [0.5 + factor[0] * x - factor[1] * y, 0.5 + factor[0] * y + factor[1] * x, seed[2]];
        [0, 1, 2].map(|d| (found[d] - exact[d]).abs())
    });
    errors.map(|error| if error.is_nan() { f64::INFINITY } else { error }).fold(0.0, f64::max)
}

/// The complex number by which all RK4 steps together multiply a position: the power of
/// 1 + ia - a²/2 - ia³/6 + a⁴/24, where a is the angle of a step.
fn power() -> [f64; 2] {
    let a = RATE * DT;
    let step = [1.0 - a * a / 2.0 + a.powi(4) / 24.0, a - a.powi(3) / 6.0];
    let times = |p: [f64; 2], q: [f64; 2]| [p[0] * q[0] - p[1] * q[1], p[0] * q[1] + p[1] * q[0]];
    (0..STEPS).fold([1.0, 0.0], |power, _| times(power, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_right_and_wrong_positions_are_noticed() {
        let answer = of(&device::open("flex").unwrap()).unwrap();
        assert!(answer.is_right && answer.error > 0.0 && answer.error < 2e-6, "{answer:?}");
        let seeds = [[0.5, 0.5, 0.25]];
        assert_eq!(largest_error(&seeds, &[0.5, 0.5, 0.25]), 0.0);
        assert_eq!(largest_error(&seeds, &[0.5, 0.75, 0.25]), 0.25);
        assert_eq!(largest_error(&seeds, &[0.5, f64::NAN, 0.25]), f64::INFINITY);
        assert_eq!(largest_error(&seeds, &[]), f64::INFINITY);
    }
}
