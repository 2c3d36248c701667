//! A settling and spreading cloud, compared with theory; and the well-mixed condition with a diffusivity that
//! varies in space.
//!
//! `cargo run --release --example random_walk`

mod formula;

use burntrace::{
    BoundaryCondition, Error, FieldOptions, GridField, RandomWalk, SaveAt, Seeds, Span, Tracer,
    burn::tensor::Device, device,
};
use formula::Formula;
use std::f64::consts::TAU;

/// Diffusivity of the cloud in length squared per time.
const DIFFUSIVITY: f64 = 0.1;
/// Settling velocity.
const SETTLING: f64 = 0.5;

/// A cloud released at one point in unbounded still water.
fn cloud(device: &Device) -> Result<(), Error> {
    let still = Formula {
        corners: [[-50.0; 3], [50.0; 3]],
        nodes: [2; 3],
        velocity: |_| [0.0; 3],
        diffusivity: None,
    };
    let field = GridField::load(&mut still.frames(), device, &FieldOptions::default())?;
    let tracks = Tracer::new(&field)
        .drift([0.0, 0.0, -SETTLING])
        .random_walk(RandomWalk::isotropic(DIFFUSIVITY, 7))
        .span(Span { t1: Some(10.0), dt: Some(0.1), ..Span::default() })
        .save(SaveAt::EveryTime(2.5))
        .trace(&Seeds::list(vec![[0.0; 3]; 10_000])?)?;
    println!("{:>5} {:>9} {:>9} {:>9} {:>9}", "time", "mean z", "-w t", "variance", "2 K t");
    for save in tracks.saves() {
        let (square, mean) = save.position.clone().var_mean(0);
        let z = mean.narrow(1, 2, 1).into_scalar::<f64>();
        let variance = square.mean().into_scalar::<f64>();
        let (settled, spread) = (0.0 - SETTLING * save.time, 2.0 * DIFFUSIVITY * save.time);
        println!("{:>5} {z:>9.4} {settled:>9.4} {variance:>9.4} {spread:>9.4}", save.time);
    }
    Ok(())
}

/// A water column with a diffusivity ten times as high at mid-depth as at its ends.
fn column(device: &Device) -> Result<(), Error> {
    let water = Formula {
        corners: [[0.0; 3], [0.0, 0.0, 1.0]],
        nodes: [1, 1, 65],
        velocity: |_| [0.0; 3],
        diffusivity: Some(|[_, _, z]| 0.02 * (1.1 - 0.9 * (TAU * z).cos())),
    };
    let field = GridField::load(&mut water.frames(), device, &FieldOptions::default())?;
    let tracks = Tracer::new(&field)
        .all_faces(BoundaryCondition::Reflect)
        .random_walk(RandomWalk::of_field([1.0; 3], 7))
        .span(Span { t1: Some(10.0), dt: Some(0.01), ..Span::default() })
        .trace(&Seeds::sobol([0.0; 3], [0.0, 0.0, 1.0], 20_000)?)?;
    let z = tracks.positions().narrow(2, 2, 1).into_data();
    let mut layers = [0; 10];
    z.iter::<f64>().for_each(|z| layers[((10.0 * z) as usize).min(9)] += 1);
    println!("particles in ten layers, expected 2000 +- 45 each: {layers:?}");
    Ok(())
}

fn main() -> Result<(), Error> {
    let device = device::open("auto")?.device;
    cloud(&device)?;
    column(&device)
}
