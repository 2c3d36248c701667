//! Closures as fields.

use super::{domain::Domain, interface::Field};
use crate::Precision;
use burn::tensor::{Device, Tensor};

/// A field defined by a closure: velocities `[n, 3]` at positions `[n, 3]` and a time.
///
/// ```
/// use burntrace_core::{Domain, Field, FieldFn, Precision};
/// use burn::tensor::{Device, Tensor};
///
/// let shear = FieldFn::new(Domain::unbounded(), &Device::flex(), Precision::F32, |p, _t| {
///     let n = p.dims()[0];
///     let y = p.slice([0..n, 1..2]);
///     let zero = y.zeros_like();
///     Tensor::cat(vec![y, zero.clone(), zero], 1)
/// });
/// let p = Tensor::<2>::from_floats([[0.0, 2.0, 0.0]], &Device::flex());
/// assert_eq!(shear.velocity(p, 0.0).into_data().try_to_vec::<f32>().unwrap(), [2.0, 0.0, 0.0]);
/// ```
pub struct FieldFn<F> {
    domain: Domain,
    device: Device,
    precision: Precision,
    velocity: F,
    is_steady: bool,
}

impl<F: Fn(Tensor<2>, f64) -> Tensor<2>> FieldFn<F> {
    /// A field in a domain, evaluated on a device in a precision.
    pub fn new(domain: Domain, device: &Device, precision: Precision, velocity: F) -> Self {
        FieldFn { domain, device: device.clone(), precision, velocity, is_steady: false }
    }

    /// Declares that the velocity does not depend on time. Runs with a
    /// [tolerance](crate::Tracer::tolerance) then call the closure once for all particles, instead
    /// of once for each of their times.
    pub fn steady(mut self) -> Self {
        self.is_steady = true;
        self
    }
}

impl<F: Fn(Tensor<2>, f64) -> Tensor<2> + Send + Sync> Field for FieldFn<F> {
    fn velocity(&self, position: Tensor<2>, time: f64) -> Tensor<2> {
        (self.velocity)(position, time)
    }

    fn velocity_at(&self, position: Tensor<2>, times: &[f64]) -> Option<Tensor<2>> {
        self.is_steady.then(|| self.velocity(position, times[0]))
    }

    fn domain(&self) -> Domain {
        self.domain
    }

    fn device(&self) -> Device {
        self.device.clone()
    }

    fn precision(&self) -> Precision {
        self.precision
    }
}
