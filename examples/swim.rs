//! Plankton that swims to the middle of a channel: a user operation after each step, compared with the exact
//! solution.
//!
//! `cargo run --release --example swim`

mod formula;

use burntrace::{
    Error, FieldOptions, GridField, SaveAt, Seeds, Span, Step, Tracer, burn::tensor::Tensor, device,
};
use formula::Formula;

/// Middle of the channel, which is 1 wide; the mean speed is 1.
const MIDDLE: f64 = 0.5;
/// Rate of approach: fraction of the distance to the middle per unit of time.
const RATE: f64 = 0.4;
/// Initial distance from the middle.
const START: f64 = 0.4;

/// New positions `[n, 3]`: moved towards the middle for the time of each particle's step.
fn swim(step: Step) -> Tensor<2> {
    let change = (step.dt * -RATE).exp() - 1.0;
    let distance = step.after.clone().narrow(1, 1, 1) - MIDDLE;
    let zero = distance.zeros_like();
    step.after + Tensor::cat(vec![zero.clone(), distance * change, zero], 1)
}

/// Exact distance from the middle after a time, and exact displacement along the channel.
fn exact(time: f64) -> [f64; 2] {
    let distance = START * (-RATE * time).exp();
    let lag = 2.0 * (START * START - distance * distance) / RATE;
    [distance, 1.5 * (time - lag)]
}

fn main() -> Result<(), Error> {
    let channel = Formula {
        corners: [[0.0; 3], [20.0, 1.0, 0.0]],
        nodes: [2, 129, 1],
        velocity: |[_, y, _]| [1.5 * (1.0 - (2.0 * y - 1.0).powi(2)), 0.0, 0.0],
        diffusivity: None,
    };
    let device = device::open("auto")?.device;
    let field = GridField::load(&mut channel.frames(), &device, &FieldOptions::default())?;
    let tracks = Tracer::new(&field)
        .each_step(swim)
        .span(Span { t1: Some(10.0), dt: Some(0.02), ..Span::default() })
        .save(SaveAt::EveryTime(2.0))
        .trace(&Seeds::list(vec![[0.0, MIDDLE + START, 0.0]; 1000])?)?;
    println!("{:>4} {:>11} {:>8} {:>8} {:>8}", "time", "distance", "exact", "along x", "exact");
    for save in tracks.saves() {
        let [x, y] =
            [0, 1].map(|d| save.position.clone().narrow(1, d, 1).mean().into_scalar::<f64>());
        let [distance, travel] = exact(save.time);
        println!("{:>4} {:>11.4} {distance:>8.4} {x:>8.3} {travel:>8.3}", save.time, y - MIDDLE);
    }
    Ok(())
}
