//! Residence times in a pipe: Poiseuille flow from outlet to inlet, as much as flows in.
//!
//! The speed is `u = 2 U (1 - q)` where `q = r^2 / R^2`, uniform by area; the part of the flow that
//! comes in within `q` is the integral of `2 (1 - q)`, `2 q - q^2 = 1 - (1 - q)^2`. A life takes
//! `t = L / u`, and `1 - q = t_min / t` with `t_min = L / (2 U)`; so the part of the lives that take
//! no longer than `t` is `F(t) = 1 - (t_min / t)^2`, and their mean `2 t_min`: volume by flow. So many
//! are slow that the variance is infinite; what is checked is the mean of `min(t, c)`,
//! `2 t_min - t_min^2 / c`.

use super::common::*;
use burntrace::{
    Condition, Face, GridField, Inlet, InletShape, ParticleInstance, Pattern, Placement, SaveAt,
    Seeds, Status, Tracer,
};

const LENGTH: f64 = 2.0;
const RADIUS: f64 = 0.45;
const MEAN_SPEED: f64 = 0.5;
const SHORTEST: f64 = LENGTH / (2.0 * MEAN_SPEED);
/// Times up to this one are looked at.
const LONGEST: f64 = 20.0 * SHORTEST;
/// Lives count that were released by then: they have `LONGEST` to end in, so that none is left out
/// for being long.
const LAST_RELEASE: f64 = 60.0 * SHORTEST;
const NODES: usize = 129;

/// The flow in the pipe, whose formula goes on beyond its wall, so that it has no kink.
fn pipe(machine: &Machine) -> GridField {
    let axes = [vec![0.0, LENGTH], even_axis(0.0, 1.0, NODES - 1), even_axis(0.0, 1.0, NODES - 1)];
    let frames = Frames::new(axes, Placement::Nodes, &[0.0], |[_, y, z], _| {
        let q = ((y - 0.5).powi(2) + (z - 0.5).powi(2)) / RADIUS.powi(2);
        [2.0 * MEAN_SPEED * (1.0 - q), 0.0, 0.0]
    });
    machine.field(&frames)
}

/// The lives that began at the inlet, by `LAST_RELEASE`.
fn lives(machine: &Machine, slots: usize) -> Vec<ParticleInstance> {
    let shape =
        InletShape::Disc { centre: [0.0, 0.5, 0.5], normal: [1.0, 0.0, 0.0], radius: RADIUS };
    let inlet = Inlet::new(shape, Pattern::Flux).unwrap();
    let field = pipe(machine);
    // A place on the axis: the first lives are short.
    let seeds = Seeds::list(vec![[0.0, 0.5, 0.5]; slots]).unwrap();
    let end = LAST_RELEASE + LONGEST;
    let tracks = Tracer::new(&field)
        .face(Face::XLow, Condition::Clamp)
        .outlet(Face::XHigh, inlet)
        .span(steps(0.0, end, 240))
        .save(SaveAt::End)
        .trace(&seeds)
        .unwrap();
    let summary = tracks.summary().unwrap();
    assert_eq!(summary.released, tracks.instances().len());
    assert_eq!(summary.active(), slots);
    let counts =
        |life: &&ParticleInstance| life.generation > 0 && life.release_time <= LAST_RELEASE;
    tracks.instances().iter().filter(counts).copied().collect()
}

/// How long lives took, those that are not over `LONGEST`, in order.
fn times(lives: &[ParticleInstance]) -> Vec<f64> {
    let time = |life: &ParticleInstance| match life.status {
        Status::Exited(Face::XHigh) => life.residence_time().min(LONGEST),
        _ => LONGEST,
    };
    let mut times: Vec<f64> = lives.iter().map(time).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// The greatest distance between the distribution of `n` times and the exact one, up to `LONGEST`.
fn off(times: &[f64]) -> f64 {
    let n = times.len() as f64;
    let exact = |t: f64| (1.0 - (SHORTEST / t).powi(2)).max(0.0);
    let shorter = times.iter().take_while(|t| **t < LONGEST);
    let each = shorter.enumerate().map(|(i, t)| {
        let [below, above] = [i, i + 1].map(|i| i as f64 / n);
        (exact(*t) - below).abs().max((exact(*t) - above).abs())
    });
    each.fold(0.0, f64::max)
}

/// Linear interpolation makes the speed between the nodes less than it is, by at most
/// `(h^2 / 8) (u_yy + u_zz)`; as a part of the greatest speed, this.
fn grid_error() -> f64 {
    let h = 1.0 / (NODES - 1) as f64;
    h * h / 8.0 * 4.0 / RADIUS.powi(2)
}

/// What the table of an inlet is accurate to (`Pattern::Flux`, 65,536 places).
const TABLE: f64 = 1e-3;

#[test]
fn residence_times_in_a_pipe_are_those_of_poiseuille_flow() {
    for machine in machines() {
        let slots = if machine.is_cpu() { 1000 } else { 200 };
        let lives = lives(&machine, slots);
        let times = times(&lives);
        let n = times.len() as f64;
        assert!(n > 25.0 * slots as f64, "{machine}: {n} lives");
        let error = grid_error();
        let what = format!("{machine}, {n} lives");
        let least = SHORTEST * (1.0 - 10.0 * machine.eps());
        assert!(times[0] >= least && times[0] < 1.01 * SHORTEST, "{what}: {}", times[0]);
        // Of independent lives one set in a million would be farther off (Dvoretzky, Kiefer and
        // Wolfowitz; Massart). F changes by twice a relative change of speed at most.
        let drawn = (2e6_f64.ln() / (2.0 * n)).sqrt();
        assert_below(&format!("{what}, distribution"), off(&times), drawn + TABLE + 2.0 * error);
        // Five standard deviations of the mean of independent lives, and the integral of the errors
        // of the distribution function up to `LONGEST`.
        let part = SHORTEST / LONGEST;
        let expected = SHORTEST * (2.0 - part);
        let square = SHORTEST * SHORTEST * (1.0 - 2.0 * part.ln());
        let deviation = ((square - expected * expected) / n).sqrt();
        let mean = times.iter().sum::<f64>() / n;
        let errors = TABLE * (LONGEST - SHORTEST) - 2.0 * error * SHORTEST * part.ln();
        let bound = 5.0 * deviation + errors;
        assert_below(&format!("{what}, mean"), (mean - expected).abs(), bound);
        eprintln!("{what}: off {:.2e}, mean {:.5} for {expected:.5}", off(&times), mean);
    }
}
