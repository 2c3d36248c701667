//! The random walk of a tracer: validation, and its tensor-engine reference.

use super::{
    Tracer, reinjection, replay, selection::RowSelection, stepper::Stepper, tensor::State,
};
use crate::{
    Domain, Error, Result, WalkScheme,
    error::short,
    field::{AXES, evaluate},
};
use burn::tensor::{Tensor, TensorData};
use burntrace_kernels::{FieldShape, Spacing, Walk};

/// A random walk in addition to advection: molecular or turbulent diffusion.
///
/// In each step of length `dt` a particle is displaced along each axis by `sqrt(2 K dt)` times a
/// standard normal number; if `K` varies, a correction keeps well-mixed particles well mixed (see
/// [`WalkScheme`]). The random numbers are a function of (seed, slot, generation, step): they
/// have the same bits on every device and do not depend on other particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomWalk {
    diffusivity: [f64; 3],
    varies: bool,
    scheme: WalkScheme,
    seed: u64,
}

impl RandomWalk {
    /// The same constant diffusivity along all axes, in the data's unit of length squared per unit
    /// of time.
    pub fn isotropic(diffusivity: f64, seed: u64) -> Self {
        RandomWalk::per_axis([diffusivity; 3], seed)
    }

    /// A constant diffusivity for each axis.
    pub fn per_axis(diffusivity: [f64; 3], seed: u64) -> Self {
        RandomWalk { diffusivity, varies: false, scheme: WalkScheme::default(), seed }
    }

    /// The [field's own diffusivity](crate::Field::diffusivity), times a factor for each axis: `[0, 0, 1]`
    /// walks along z only.
    pub fn of_field(factors: [f64; 3], seed: u64) -> Self {
        RandomWalk { varies: true, ..RandomWalk::per_axis(factors, seed) }
    }

    /// Whether the diffusivity is that of the field.
    pub(super) fn varies(&self) -> bool {
        self.varies
    }

    /// Sets the scheme for a diffusivity that varies.
    pub fn scheme(mut self, scheme: WalkScheme) -> Self {
        self.scheme = scheme;
        self
    }
}

impl Tracer<'_> {
    /// Adds a constant velocity (length per time) to the field's: settling, rising, or windage.
    /// Flat axes are not affected.
    pub fn drift(mut self, velocity: [f64; 3]) -> Self {
        self.drift = velocity;
        self
    }

    /// Adds a random walk.
    pub fn random_walk(mut self, walk: RandomWalk) -> Self {
        self.walk = Some(walk);
        self
    }
}

/// The velocity that a tracer adds to the field's.
pub(super) fn drift(tracer: &Tracer) -> [f64; 3] {
    moving(&tracer.domain, tracer.drift)
}

/// The values for each axis, 0 along flat axes.
fn moving(domain: &Domain, numbers: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|d| if domain.is_flat(d) { 0.0 } else { numbers[d] })
}

/// The random walk of a tracer, validated.
pub(super) fn walk(tracer: &Tracer) -> Result<Option<Walk>> {
    // Finite in single precision too.
    if let Some(bad) = tracer.drift.iter().find(|v| !(-1e30..=1e30).contains(*v)) {
        return Err(Error::Walk(format!(
            "the added velocity {} is not a number up to 1e30; give one",
            short(*bad)
        )));
    }
    let Some(walk) = &tracer.walk else { return Ok(None) };
    for (k, axis) in walk.diffusivity.iter().zip(AXES) {
        // Finite in single precision too.
        if !(0.0..=1e30).contains(k) {
            return Err(Error::Walk(format!(
                "its diffusivity along {axis} is {}; give a number from 0 to 1e30",
                short(*k)
            )));
        }
    }
    if walk.varies && !tracer.field.has_diffusivity() {
        return Err(Error::Walk(
            "the field has no diffusivity; give a constant, or one for each axis".into(),
        ));
    }
    Ok(Some(Walk {
        diffusivity: moving(&tracer.domain, walk.diffusivity),
        varies: walk.varies,
        reach: reach(tracer),
        scheme: walk.scheme,
        seed: walk.seed,
    }))
}

/// Half the distance of the central difference for the gradient of diffusivity: much smaller than a
/// cell, in which diffusivity is linear, and much larger than rounding.
fn reach(tracer: &Tracer) -> [f64; 3] {
    let size = tracer.domain.size();
    let shape = tracer.field.sampled().map(|sampled| sampled.tensors.shape);
    [0, 1, 2].map(|d| match shape {
        Some(FieldShape::Grid(grid)) if grid.spacing == Spacing::Uniform => 0.05 * grid.pitch[d],
        _ if size[d].is_finite() && size[d] > 0.0 => 1e-3 * size[d],
        _ => 1e-3,
    })
}

/// A slot and its generation.
pub(super) type SlotGeneration = (u32, u32);

/// The slots of selected particles; empty without a random walk. Without re-injection all
/// generations are 0 and are not read.
pub(super) fn slots(
    stepper: &Stepper,
    part: &State,
    rows: &RowSelection,
) -> Result<Vec<SlotGeneration>> {
    let slots = rows.rows().iter().map(|row| part.first_slot + *row as u32);
    match (&stepper.walk, stepper.reuses_slots) {
        (None, _) => Ok(Vec::new()),
        (_, false) => Ok(slots.map(|slot| (slot, 0)).collect()),
        (_, true) => {
            let generations = reinjection::ints(&part.generation)?;
            Ok(slots.zip(generations.into_iter().map(|number| number as u32)).collect())
        }
    }
}

/// The displacements `[n, 3]` of a random walk in steps from `from`, of length `h` from time `t` on.
pub(super) fn diffuse(
    walk: &Walk,
    stepper: &Stepper,
    from: &Tensor<2>,
    (t, h): (f64, f64),
    (slots, step): (&[SlotGeneration], u64),
) -> Result<Tensor<2>> {
    let normal =
        |(slot, generation): &SlotGeneration| walk.normals(*slot, *generation, step as u32);
    let normals = TensorData::new(slots.iter().flat_map(normal).collect::<Vec<f64>>(), from.dims());
    let beside = (&from.device(), from.dtype());
    let normals = Tensor::<2>::from_data(normals, beside);
    let factor = Tensor::<2>::from_data(TensorData::new(walk.diffusivity.to_vec(), [1, 3]), beside);
    let dt = h.abs();
    let dw = normals.mul_scalar(dt.sqrt());
    if !walk.varies {
        return Ok(factor.mul_scalar(2.0).sqrt() * dw);
    }
    let here = evaluate::diffusivity(stepper.field, from.clone(), t)?;
    let k = factor.clone() * here.clamp_min(0.0);
    let gradient = factor * diffusivity_gradient(walk, stepper, from, t)?;
    let squares = match walk.scheme {
        WalkScheme::EulerMaruyama => dw.zeros_like().add_scalar(dt),
        WalkScheme::Milstein => (dw.clone().square()).add_scalar(dt).mul_scalar(0.5),
    };
    Ok(gradient * squares + k.mul_scalar(2.0).sqrt() * dw)
}

/// Derivatives `[n, 3]` of the field's diffusivity along each axis, by central differences; across
/// periodic faces, those of the images in the box.
fn diffusivity_gradient(
    walk: &Walk,
    stepper: &Stepper,
    from: &Tensor<2>,
    t: f64,
) -> Result<Tensor<2>> {
    let at = |d: usize, side: f64| {
        let mut offset = [0.0; 3];
        offset[d] = side * walk.reach[d];
        let beside = (&from.device(), from.dtype());
        let offset = Tensor::<2>::from_data(TensorData::new(offset.to_vec(), [1, 3]), beside);
        let position = replay::wrap(&stepper.boundary, from.clone() + offset);
        evaluate::diffusivity(stepper.field, position, t)
    };
    let mut columns = Vec::with_capacity(3);
    for d in 0..3 {
        columns.push((at(d, 1.0)? - at(d, -1.0)?).div_scalar(2.0 * walk.reach[d]));
    }
    Ok(Tensor::cat(columns, 1))
}
