//! A custom field: a pair of vortices as a closure, and the gradient of the tracks with respect to its strength.
//!
//! `cargo run --release --example custom_field`

use burntrace::{
    Domain, Error, FieldFn, Precision, Seeds, Span, Tracer,
    burn::tensor::{DType, Device, Tensor},
};

/// Centres of the vortices.
const CENTRES: [[f64; 2]; 2] = [[0.0, 0.5], [0.0, -0.5]];

/// Velocity `[n, 3]` of two vortices of opposite strength `[1]`, with smooth cores.
fn pair(position: Tensor<2>, strength: &Tensor<1>) -> Tensor<2> {
    let x = position.clone().narrow(1, 0, 1);
    let y = position.narrow(1, 1, 1);
    let mut u = x.zeros_like();
    let mut v = x.zeros_like();
    for ([xc, yc], sign) in CENTRES.into_iter().zip([1.0, -1.0]) {
        let (dx, dy) = (x.clone().sub_scalar(xc), y.clone().sub_scalar(yc));
        let square = dx.clone().square() + dy.clone().square();
        let rate = strength.clone().mul_scalar(sign).unsqueeze() / square.add_scalar(0.01);
        u = u - rate.clone() * dy;
        v = v + rate * dx;
    }
    let w = x.zeros_like();
    Tensor::cat(vec![u, v, w], 1)
}

/// Mean displacement of the particles along x.
fn mean_displacement(strength: &Tensor<1>, device: &Device) -> Result<Tensor<1>, Error> {
    let domain = Domain::new([-2.0; 3], [2.0; 3])?;
    let field = FieldFn::new(domain, device, Precision::F64, |p, _t| pair(p, strength));
    let seeds = Seeds::line([0.0, -0.3, 0.0], [0.0, 0.3, 0.0], 100)?;
    let span = Span { t0: Some(0.0), t1: Some(1.0), steps: Some(50), ..Span::default() };
    let tracks = Tracer::new(&field).span(span).trace(&seeds)?;
    Ok(tracks.positions().narrow(2, 0, 1).mean())
}

fn main() -> Result<(), Error> {
    let device = Device::flex().autodiff();
    let number = |x: f64| Tensor::<1>::from_data([x], (&device, DType::F64));
    let strength = number(0.1).require_grad();
    let distance = mean_displacement(&strength, &device)?;
    let gradient = strength.grad(&distance.backward()).map_or(0.0, |g| g.into_scalar::<f64>());
    println!("mean displacement {:.6}", distance.into_scalar::<f64>());

    let at = |x: f64| Ok::<_, Error>(mean_displacement(&number(x), &device)?.into_scalar::<f64>());
    let difference = (at(0.1 + 1e-5)? - at(0.1 - 1e-5)?) / 2e-5;
    println!(
        "derivative with respect to the strength {gradient:.6}, by differences {difference:.6}"
    );
    Ok(())
}
