//! Residence times in a channel with re-injection in proportion to the inflow, while a source fills it.
//!
//! `cargo run --release --example inlet`

mod formula;

use burntrace::{
    BoundaryCondition, Error, Face, FieldOptions, GridField, Inlet, InletShape, ParticleInstance,
    Pattern, Seeds, Source, Span, Status, Summary, Tracer, device,
};
use formula::Formula;

/// Length of the channel, which is 1 wide; the mean speed is 1.
const LENGTH: f64 = 2.0;
/// End time of the run.
const END: f64 = 200.0;
/// Residence times in the mean are capped at this one, which reduces the mean by 0.3 %.
const LONGEST: f64 = 100.0;

/// Exact fraction of the flow with a residence time up to `time`.
fn exact(time: f64) -> f64 {
    let widest = (1.0 - LENGTH / (1.5 * time)).max(0.0).sqrt();
    0.5 * widest * (3.0 - widest * widest)
}

/// Fraction of particle instances with a residence time up to `time`, among those released early enough.
fn found(instances: &[&ParticleInstance], time: f64) -> f64 {
    let eligible: Vec<_> =
        instances.iter().filter(|instance| instance.release_time + time < END).collect();
    eligible.iter().filter(|instance| instance.residence_time() <= time).count() as f64
        / eligible.len() as f64
}

/// `released N = A active + B exited x-high`
fn sum_rule(Summary { released, counts, .. }: &Summary) -> String {
    let released_counts = counts.iter().filter(|(status, _)| *status != Status::Waiting);
    let parts: Vec<_> =
        released_counts.map(|(status, count)| format!("{count} {status}")).collect();
    format!("released {released} = {}", parts.join(" + "))
}

fn main() -> Result<(), Error> {
    let channel = Formula {
        corners: [[0.0; 3], [LENGTH, 1.0, 0.0]],
        nodes: [2, 129, 1],
        velocity: |[_, y, _]| [1.5 * (1.0 - (2.0 * y - 1.0).powi(2)), 0.0, 0.0],
        diffusivity: None,
    };
    let device = device::open("auto")?.device;
    let field = GridField::load(&mut channel.frames(), &device, &FieldOptions::default())?;
    let inlet = Inlet::new(InletShape::Face(Face::XLow), Pattern::Flux)?;
    let seeds = Seeds::uniform([0.0; 3], [LENGTH, 1.0, 0.0], 1000, 7)?;
    let tracks = Tracer::new(&field)
        .face(Face::XLow, BoundaryCondition::Clamp)
        .outlet(Face::XHigh, inlet.clone())
        .source(Source::constant(inlet, 500.0, 1000)?.between(0.0, 2.0)?)
        .span(Span { t1: Some(END), dt: Some(0.05), ..Span::default() })
        .trace(&seeds)?;

    // Seeds start anywhere; re-injected particles start at the inlet.
    let instances: Vec<_> =
        tracks.instances().iter().filter(|instance| instance.release_position[0] == 0.0).collect();
    println!("{:>6} {:>9} {:>9}", "time", "found", "exact");
    for time in [1.4, 1.6, 2.0, 3.0, 4.0, 10.0] {
        println!("{time:>6} {:>9.4} {:>9.4}", found(&instances, time), exact(time));
    }
    let long = |instance: &&&ParticleInstance| instance.release_time + LONGEST < END;
    let times =
        instances.iter().filter(long).map(|instance| instance.residence_time().min(LONGEST));
    let (count, sum) = times.clone().fold((0.0, 0.0), |(n, sum), time| (n + 1.0, sum + time));
    println!("{:>6} {:>9.4} {:>9.4}", "min", times.fold(END, f64::min), LENGTH / 1.5);
    println!("{:>6} {:>9.4} {:>9.4}", "mean", sum / count, LENGTH);
    if let Some(summary) = tracks.summary() {
        println!("{}", sum_rule(summary));
    }
    Ok(())
}
