//! Plankton in a channel that swims to its middle: an operation of one's own after each step, and
//! what the flow and the swimming make of it, against what is known.
//!
//! `cargo run --release --example swim`

mod formula;

use burntrace::{
    Error, FieldOptions, GridField, SaveAt, Seeds, Span, Step, Tracer, burn::tensor::Tensor, device,
};
use formula::Formula;

/// Where the channel, which is 1 wide, has its middle; the mean speed is 1.
const MIDDLE: f64 = 0.5;
/// How fast they come nearer to it: this part of the distance per time.
const RATE: f64 = 0.4;
/// How far from it they begin.
const START: f64 = 0.4;

/// New positions `[n, 3]`: nearer to the middle by as much as the time they had.
fn swim(step: Step) -> Tensor<2> {
    let nearer = (step.dt * -RATE).exp() - 1.0;
    let off = step.after.clone().narrow(1, 1, 1) - MIDDLE;
    let still = off.zeros_like();
    step.after + Tensor::cat(vec![still.clone(), off * nearer, still], 1)
}

/// How far from the middle they are after a time, and how far the stream has carried them.
fn exact(time: f64) -> [f64; 2] {
    let off = START * (-RATE * time).exp();
    let slowed = 2.0 * (START * START - off * off) / RATE;
    [off, 1.5 * (time - slowed)]
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
    println!("{:>4} {:>11} {:>8} {:>8} {:>8}", "time", "off middle", "exact", "carried", "exact");
    for save in tracks.saves() {
        let [x, y] =
            [0, 1].map(|d| save.position.clone().narrow(1, d, 1).mean().into_scalar::<f64>());
        let [off, way] = exact(save.time);
        println!("{:>4} {:>11.4} {off:>8.4} {x:>8.3} {way:>8.3}", save.time, y - MIDDLE);
    }
    Ok(())
}
