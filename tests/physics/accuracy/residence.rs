//! Residence times in Poiseuille flow through a pipe, with re-injection in proportion to the flux.
//!
//! The speed is `u = 2 U (1 - q)` with `q = r^2 / R^2`, which is uniform by area. The fraction of the flow
//! within `q` is the integral of `2 (1 - q)`, `2 q - q^2 = 1 - (1 - q)^2`. The residence time is `t = L / u`,
//! so `1 - q = t_min / t` with `t_min = L / (2 U)`: the distribution function is
//! `F(t) = 1 - (t_min / t)^2`, and the mean is `2 t_min`, volume over flow. The variance is infinite, so the
//! test checks the mean of `min(t, c)`, `2 t_min - t_min^2 / c`.

use crate::common::*;
use burntrace::{
    BoundaryCondition, Face, GridField, Inlet, InletShape, ParticleInstance, Pattern, Placement,
    SaveAt, Seeds, Status, Tracer,
};

const LENGTH: f64 = 2.0;
const RADIUS: f64 = 0.45;
const MEAN_SPEED: f64 = 0.5;
const SHORTEST: f64 = LENGTH / (2.0 * MEAN_SPEED);
/// Residence times are capped at this one.
const LONGEST: f64 = 20.0 * SHORTEST;
/// Only particle instances released by then count, so that each can reach `LONGEST` before the run ends.
const LAST_RELEASE: f64 = 60.0 * SHORTEST;
const NODES: usize = 129;

/// The flow in the pipe; the formula continues beyond the wall, so that interpolation sees no kink.
fn pipe(machine: &Machine) -> GridField {
    let axes = [vec![0.0, LENGTH], even_axis(0.0, 1.0, NODES - 1), even_axis(0.0, 1.0, NODES - 1)];
    let frames = Frames::new(axes, Placement::Nodes, &[0.0], |[_, y, z], _| {
        let q = ((y - 0.5).powi(2) + (z - 0.5).powi(2)) / RADIUS.powi(2);
        [2.0 * MEAN_SPEED * (1.0 - q), 0.0, 0.0]
    });
    machine.field(&frames)
}

/// Particle instances released at the inlet by `LAST_RELEASE`.
fn instances(machine: &Machine, slots: usize) -> Vec<ParticleInstance> {
    let shape =
        InletShape::Disc { centre: [0.0, 0.5, 0.5], normal: [1.0, 0.0, 0.0], radius: RADIUS };
    let inlet = Inlet::new(shape, Pattern::Flux).unwrap();
    let field = pipe(machine);
    // Seeds on the axis, whose first residence time is short.
    let seeds = Seeds::list(vec![[0.0, 0.5, 0.5]; slots]).unwrap();
    let end = LAST_RELEASE + LONGEST;
    let tracks = Tracer::new(&field)
        .face(Face::XLow, BoundaryCondition::Clamp)
        .outlet(Face::XHigh, inlet)
        .span(steps(0.0, end, 240))
        .save(SaveAt::End)
        .trace(&seeds)
        .unwrap();
    let summary = tracks.summary().unwrap();
    assert_eq!(summary.released, tracks.instances().len());
    assert_eq!(summary.active(), slots);
    let counts = |instance: &&ParticleInstance| {
        instance.generation > 0 && instance.release_time <= LAST_RELEASE
    };
    tracks.instances().iter().filter(counts).copied().collect()
}

/// Sorted residence times, capped at `LONGEST`.
fn times(instances: &[ParticleInstance]) -> Vec<f64> {
    let time = |instance: &ParticleInstance| match instance.status {
        Status::Exited(Face::XHigh) => instance.residence_time().min(LONGEST),
        _ => LONGEST,
    };
    let mut times: Vec<f64> = instances.iter().map(time).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// The maximum difference between the empirical and the exact distribution functions, up to `LONGEST`.
fn distribution_error(times: &[f64]) -> f64 {
    let n = times.len() as f64;
    let exact = |t: f64| (1.0 - (SHORTEST / t).powi(2)).max(0.0);
    let shorter = times.iter().take_while(|t| **t < LONGEST);
    let each = shorter.enumerate().map(|(i, t)| {
        let [below, above] = [i, i + 1].map(|i| i as f64 / n);
        (exact(*t) - below).abs().max((exact(*t) - above).abs())
    });
    each.fold(0.0, f64::max)
}

/// Linear interpolation reduces the speed between nodes by at most `(h^2 / 8) (u_yy + u_zz)`; returns that
/// error relative to the maximum speed.
fn grid_error() -> f64 {
    let h = 1.0 / (NODES - 1) as f64;
    h * h / 8.0 * 4.0 / RADIUS.powi(2)
}

/// Accuracy of an inlet's table (`Pattern::Flux`, 65,536 positions).
const TABLE: f64 = 1e-3;

#[test]
fn residence_times_in_a_pipe_match_the_poiseuille_distribution() {
    for machine in machines() {
        let slots = if machine.is_cpu() { 1000 } else { 200 };
        let instances = instances(&machine, slots);
        let times = times(&instances);
        let n = times.len() as f64;
        assert!(n > 25.0 * slots as f64, "{machine}: {n} particle instances");
        let error = grid_error();
        let what = format!("{machine}, {n} particle instances");
        let min = SHORTEST * (1.0 - 10.0 * machine.eps());
        assert!(times[0] >= min && times[0] < 1.01 * SHORTEST, "{what}: {}", times[0]);
        // The Dvoretzky-Kiefer-Wolfowitz bound (Massart), exceeded with probability 1e-6 by independent
        // samples. F changes by at most twice a relative change of speed.
        let drawn = (2e6_f64.ln() / (2.0 * n)).sqrt();
        assert_below(
            &format!("{what}, distribution"),
            distribution_error(&times),
            drawn + TABLE + 2.0 * error,
        );
        // Five standard deviations of the mean of independent samples, plus the integral of the errors of the
        // distribution function up to `LONGEST`.
        let part = SHORTEST / LONGEST;
        let expected = SHORTEST * (2.0 - part);
        let square = SHORTEST * SHORTEST * (1.0 - 2.0 * part.ln());
        let deviation = ((square - expected * expected) / n).sqrt();
        let mean = times.iter().sum::<f64>() / n;
        let errors = TABLE * (LONGEST - SHORTEST) - 2.0 * error * SHORTEST * part.ln();
        let bound = 5.0 * deviation + errors;
        assert_below(&format!("{what}, mean"), (mean - expected).abs(), bound);
        eprintln!(
            "{what}: distribution error {:.2e}, mean {:.5}, expected {expected:.5}",
            distribution_error(&times),
            mean
        );
    }
}
