//! A stream past a cylinder: on this coarse grid particles drift into it, unless the cylinder is an obstacle
//! along which they slide.
//!
//! `cargo run --release --example obstacle`

mod formula;

use burntrace::{
    Allowed, BoundaryCondition, Error, Face, FieldOptions, GridField, Obstacle, Seeds, Shape, Span,
    Tracer, device,
};
use formula::Formula;

/// Potential flow past a circle of radius 1 around the origin, at rest inside.
fn stream([x, y, _]: [f64; 3]) -> [f64; 3] {
    let square = x * x + y * y;
    match square < 1.0 {
        true => [0.0; 3],
        false => [1.0 - (x * x - y * y) / square.powi(2), -2.0 * x * y / square.powi(2), 0.0],
    }
}

fn main() -> Result<(), Error> {
    let river = Formula {
        corners: [[-4.0, -2.0, 0.0], [12.0, 2.0, 0.0]],
        nodes: [65, 17, 1],
        velocity: stream,
        diffusivity: None,
    };
    let cylinder = Obstacle {
        shape: Shape::Cylinder {
            base: [0.0; 3],
            axis: [0.0, 0.0, 1.0],
            radius: 1.0,
            capped: false,
        },
        allowed: Allowed::Outside,
        surface: BoundaryCondition::Slide,
    };
    let device = device::open("auto")?.device;
    let field = GridField::load(&mut river.frames(), &device, &FieldOptions::default())?;
    let seeds = Seeds::sobol([-3.5, -0.5, 0.0], [-2.5, 0.5, 0.0], 10_000)?;
    let start = -3.0;
    println!("{:<12} {:>8} {:>10} {:>12}", "surface", "inside", "mean dx", "behind it");
    for obstacles in [vec![], vec![cylinder.clone()]] {
        let name = obstacles.first().map_or("none", |obstacle| obstacle.surface.name());
        let tracks = Tracer::new(&field)
            .face(Face::YLow, BoundaryCondition::Reflect)
            .face(Face::YHigh, BoundaryCondition::Reflect)
            .obstacles(obstacles)
            .span(Span { t1: Some(10.0), dt: Some(0.02), ..Span::default() })
            .trace(&seeds)?;
        let numbers: Vec<f64> = tracks.positions().into_data().iter::<f64>().collect();
        let (positions, _) = numbers.as_chunks::<3>();
        let inside = positions.iter().filter(|p| !cylinder.allows(**p, 0.0)).count();
        let behind = positions.iter().filter(|p| p[0] > 1.0).count();
        let mean = positions.iter().map(|p| p[0]).sum::<f64>() / positions.len() as f64;
        println!("{name:<12} {inside:>8} {:>10.3} {behind:>12}", mean - start);
    }
    Ok(())
}
