//! Trace a thousand particles through a field and print their mean position.
//!
//! `cargo run --release --example quickstart [FILES [DT]]`: a VTK file, a pattern such as
//! `'run/u_*.vti'` or a `.pvd`, and a time step; without them, a built-in flow.

use burntrace::{
    Analytic, BoundaryCondition, Control, Domain, Field, FieldOptions, Flow, GridField, GridSource,
    OutsideTime, SaveAt, Seeds, Span, Tracer, Tracks,
    burn::tensor::{Int, Tensor},
    device,
    io::{Series, SeriesOptions},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let mut source: Box<dyn GridSource> = match args.next() {
        Some(files) => Box::new(Series::open(files.as_str(), &SeriesOptions::default())?),
        None => double_gyre()?,
    };
    let dt = args.next().map_or(Ok(0.05), |dt| dt.parse())?;

    let device = device::open("auto")?.device;
    let options = FieldOptions { outside_time: OutsideTime::Hold, ..FieldOptions::default() };
    let field = GridField::load(&mut *source, &device, &options)?;
    let Domain { low, high } = field.domain();
    let seeds = Seeds::uniform(low, high, 1000, 7)?;
    let tracer = Tracer::new(&field)
        .all_faces(BoundaryCondition::Reflect)
        .span(Span { dt: Some(dt), steps: Some(200), ..Span::default() })
        .save(SaveAt::EverySteps(50));
    let mut tracks = Tracks::default();
    let summary = tracer.trace_into(&seeds, &mut tracks, &mut |progress| {
        println!("{:3.0} %, t = {:.3}", 100.0 * progress.fraction, progress.time);
        Control::Continue
    })?;
    let positions: Tensor<3> = tracks.positions(); // [saves, particles, 3]
    let status: Tensor<1, Int> = tracks.status(); // [particles]

    println!("positions {:?}, statuses {:?}", positions.dims(), status.dims());
    println!("mean position at the end: {}", positions.narrow(0, 4, 1).mean_dim(1).into_data());
    println!("{} of {} active, on {}", summary.active(), summary.particles, summary.device);
    Ok(())
}

/// A double gyre on a grid, 11 frames over 10 units of time.
fn double_gyre() -> Result<Box<dyn GridSource>, burntrace::Error> {
    let flow = Flow::DoubleGyre { amplitude: 0.1, epsilon: 0.25, omega: 0.628 };
    let domain = flow.domain();
    let times = (0..=10).map(f64::from).collect();
    Ok(Box::new(Analytic::sample(flow, domain, [129, 65, 1], times)?))
}
