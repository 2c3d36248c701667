//! What moves a particle.

use crate::{Inertia, PerParticle, Precision, WalkScheme};
use burn::tensor::{Device, Tensor, TensorData};
use std::sync::Arc;

/// What moves a particle, beside the velocity of the field. By default, nothing does.
///
/// ```
/// use burntrace_core::{Motion, RandomWalk};
///
/// let settling = Motion { drift: [0.0, 0.0, -0.01].into(), ..Motion::default() };
/// let walk = Some(RandomWalk::isotropic(0.5, 7));
/// assert_ne!(settling, Motion { walk, ..settling.clone() });
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// A constant velocity (length per time) that is added to the field's: settling, rising, or windage.
    /// Flat axes are not affected. As a tensor `[3]` that is tracked, it has gradients.
    pub drift: PerAxis,
    /// A random walk.
    pub walk: Option<RandomWalk>,
    /// The inertia of particles, which have velocities of their own.
    pub inertia: Option<Inertia>,
    /// Factors of the second velocity of the field, which a further field of a [`Sum`](crate::Sum) with
    /// [`per_particle`](crate::Addend::per_particle) or a [source](crate::FrameSource::has_scaled_velocity) gives: a particle moves
    /// with the first velocity plus its factor times the second one. Finite numbers without a unit; one for all, or one for each slot: for the seeds, then for
    /// the slots of sources. As a tensor that is tracked, they have gradients.
    pub factors: Option<PerParticle>,
}

impl Motion {
    /// The motion whose drift is a leaf tensor of the same numbers on a device that tracks gradients, and the leaf.
    pub fn with_tracked_drift(self, device: &Device, precision: Precision) -> (Motion, Tensor<1>) {
        let leaf = self.drift.leaf(device, precision);
        (Motion { drift: leaf.clone().into(), ..self }, leaf)
    }

    /// The motion whose diffusivities, or factors of the field's diffusivity, are a leaf tensor of the same numbers on a device that
    /// tracks gradients, and the leaf. `None` without a walk.
    pub fn with_tracked_diffusivity(
        self,
        device: &Device,
        precision: Precision,
    ) -> Option<(Motion, Tensor<1>)> {
        let walk = self.walk?;
        let leaf = walk.diffusivity.leaf(device, precision);
        let walk = RandomWalk { diffusivity: leaf.clone().into(), ..walk };
        Some((Motion { walk: Some(walk), ..self }, leaf))
    }
}

/// A random walk in addition to advection: molecular or turbulent diffusion.
///
/// In each step of length `dt` a particle is displaced along each axis by `sqrt(2 K dt)` times a
/// standard normal number; if `K` varies, a correction keeps well-mixed particles well mixed (see
/// [`WalkScheme`]). The random numbers are a function of (seed, slot, generation, step): they
/// have the same bits on every device and do not depend on other particles.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomWalk {
    pub(crate) diffusivity: PerAxis,
    pub(crate) varies: bool,
    pub(crate) scheme: WalkScheme,
    pub(crate) seed: u64,
}

impl RandomWalk {
    /// The same constant diffusivity along all axes, in the data's unit of length squared per unit
    /// of time.
    pub fn isotropic(diffusivity: f64, seed: u64) -> Self {
        RandomWalk::per_axis([diffusivity; 3], seed)
    }

    /// A constant diffusivity for each axis, in length squared per time. As a tensor `[3]` that is tracked,
    /// it has gradients: those of the displacements for the walk's own random numbers (pathwise). Where it is
    /// 0 there is no derivative, and the gradient is 0.
    pub fn per_axis(diffusivity: impl Into<PerAxis>, seed: u64) -> Self {
        let diffusivity = diffusivity.into();
        RandomWalk { diffusivity, varies: false, scheme: WalkScheme::default(), seed }
    }

    /// The [field's own diffusivity](crate::Field::diffusivity), times a factor for each axis: `[0, 0, 1]`
    /// walks along z only. Factors may be tracked, as [diffusivities](RandomWalk::per_axis).
    pub fn of_field(factors: impl Into<PerAxis>, seed: u64) -> Self {
        RandomWalk { varies: true, ..RandomWalk::per_axis(factors, seed) }
    }

    /// Sets the scheme for a diffusivity that varies.
    pub fn scheme(mut self, scheme: WalkScheme) -> Self {
        self.scheme = scheme;
        self
    }
}

/// A number for each axis: plain, or a tensor `[3]`. Positions have gradients by a tensor that is tracked.
///
/// Plain numbers are compared by value, tensors by identity: a value is equal to its clones only.
#[derive(Clone, Debug)]
pub enum PerAxis {
    /// Plain numbers.
    Numbers([f64; 3]),
    /// A tensor `[3]`.
    Tensor(Arc<Tensor<1>>),
}

impl PerAxis {
    /// A leaf tensor of the numbers on a device that tracks gradients.
    fn leaf(&self, device: &Device, precision: Precision) -> Tensor<1> {
        match self {
            PerAxis::Numbers(numbers) => {
                let data = TensorData::new(numbers.to_vec(), [3]);
                Tensor::from_data(data, (device, precision.dtype())).require_grad()
            }
            PerAxis::Tensor(tensor) => tensor.as_ref().clone().detach().require_grad(),
        }
    }
}

impl From<[f64; 3]> for PerAxis {
    fn from(numbers: [f64; 3]) -> Self {
        PerAxis::Numbers(numbers)
    }
}

impl From<Tensor<1>> for PerAxis {
    fn from(tensor: Tensor<1>) -> Self {
        PerAxis::Tensor(Arc::new(tensor))
    }
}

impl Default for PerAxis {
    fn default() -> Self {
        PerAxis::Numbers([0.0; 3])
    }
}

impl PartialEq for PerAxis {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (PerAxis::Numbers(a), PerAxis::Numbers(b)) => a == b,
            (PerAxis::Tensor(a), PerAxis::Tensor(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}
