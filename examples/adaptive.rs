//! Adaptive step sizes: number of steps and error for different tolerances.
//!
//! `cargo run --release --example adaptive`

use burntrace::{
    Analytic, Error, Flow, Precision, Scheme, Seeds, Span, Tolerance, Tracer, burn::tensor::Device,
};
use std::f64::consts::TAU;

/// Position of a particle from (0.5, 0.5) in the double gyre after 10 units of time.
const EXACT: [f64; 2] = [0.050550530572, 0.111020148786];

fn main() -> Result<(), Error> {
    let flow = Flow::DoubleGyre { amplitude: 0.1, epsilon: 0.25, omega: TAU / 10.0 };
    let field = Analytic::new(flow, &Device::flex(), Precision::F64);
    let seeds = Seeds::list(vec![[0.5, 0.5, 0.0]])?;
    println!("{:>9} {:>9} {:>9} {:>10}", "tolerance", "accepted", "rejected", "error");
    for tolerance in [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10] {
        let tracks = Tracer::new(&field)
            .scheme(Scheme::DormandPrince)
            .tolerance(Tolerance::new(tolerance, tolerance))
            .span(Span { t0: Some(0.0), t1: Some(10.0), steps: Some(1), ..Span::default() })
            .trace(&seeds)?;
        let end: Vec<f64> = tracks.positions().into_data().iter::<f64>().collect();
        let error = (end[0] - EXACT[0]).hypot(end[1] - EXACT[1]);
        let [accepted, rejected] = tracks.summary().and_then(|s| s.tries).unwrap_or_default();
        println!("{tolerance:>9.0e} {accepted:>9} {rejected:>9} {error:>10.1e}");
    }
    Ok(())
}
