//! The same run on every available device.
//!
//! `cargo run --release --example compare_devices`

use burntrace::{
    Analytic, BoundaryCondition, Error, FieldOptions, Flow, GridField, Precision, Seeds, Span,
    Tracer, burn::tensor::Device, device,
};
use std::time::Instant;

const PARTICLES: usize = 10_000;
const STEPS: u64 = 100;

/// The ABC flow in its periodic box.
fn field(device: &Device, precision: Precision) -> Result<GridField, Error> {
    let flow = Flow::Abc { a: 1.0, b: 0.8, c: 0.6 };
    let mut frames = Analytic::sample(flow.clone(), flow.domain(), [33; 3], vec![0.0])?;
    GridField::load(&mut frames, device, &FieldOptions { precision, ..FieldOptions::default() })
}

/// Runs, and returns the seconds taken and the final positions.
fn run(field: &GridField, seeds: &Seeds) -> Result<(f64, Vec<f64>), Error> {
    let start = Instant::now();
    let span = Span { dt: Some(0.02), steps: Some(STEPS), ..Span::default() };
    let tracks =
        Tracer::new(field).all_faces(BoundaryCondition::Periodic).span(span).trace(seeds)?;
    let data = tracks.positions().into_data(); // waits for the device
    Ok((start.elapsed().as_secs_f64(), data.iter::<f64>().collect()))
}

fn main() -> Result<(), Error> {
    let width = Flow::Abc { a: 1.0, b: 0.8, c: 0.6 }.domain().size()[0];
    let seeds = Seeds::uniform([0.0; 3], [width; 3], PARTICLES, 7)?;
    let (_, exact) = run(&field(&Device::flex(), Precision::F64)?, &seeds)?;
    println!(
        "{:<10} {:>9} {:>9} {:>16} {:>12}",
        "device", "first, s", "later, s", "particle-steps/s", "max error"
    );
    for open in device::list().0 {
        let field = field(&open.device, Precision::F32)?;
        let (first, _) = run(&field, &seeds)?;
        let (later, found) = run(&field, &seeds)?;
        // The minimum image: positions near opposite periodic faces are close.
        let error = |(a, b): (&f64, &f64)| ((a - b).abs()).min(width - (a - b).abs());
        let max_error = found.iter().zip(&exact).map(error).fold(0.0, f64::max);
        let speed = PARTICLES as f64 * STEPS as f64 / later;
        println!("{:<10} {first:>9.3} {later:>9.3} {speed:>16.3e} {max_error:>12.1e}", open.name);
    }
    println!(
        "{PARTICLES} particles, {STEPS} steps of RK4 in f32; errors are relative to f64 on flex"
    );
    Ok(())
}
