//! Sums of kernels.

use super::{
    Bandwidth, Density, Estimate, Method,
    cells::{SortedSources, Targets},
    evaluate,
    sample::Sample,
    smoother::Smoother,
    tensors,
    wide::TwoSteps,
};
use crate::Result;
use burn::tensor::Tensor;
use burntrace_core::Placement;

impl Density {
    /// The sums of kernels at the targets, on the device and in the precision of `like`.
    pub(super) fn sums(
        &self,
        sample: &Sample,
        smoother: &Smoother,
        targets: &Targets,
        like: &Tensor<2>,
    ) -> Result<Tensor<1>> {
        let (unit, epsilon) = (self.unit(sample), tensors::epsilon(like));
        let mut sums: Option<Tensor<1>> = None;
        for (parity, smoother) in smoother.mirrored(self.domain.mirrors()) {
            let sorted =
                SortedSources::new(sample, &self.domain, &smoother, targets, parity, epsilon)?;
            if sums.is_none() || sorted.cells.sources > 0 {
                let more = evaluate::evaluate(sorted, &smoother, targets, unit, like);
                sums = Some(match sums {
                    Some(sums) => sums + more,
                    None => more,
                });
            }
        }
        Ok(sums.unwrap_or_else(|| unreachable!("`mirrored` returns at least one kernel")))
    }

    /// Evaluates a kernel density of particles at the targets, times optional factors, on the device and in the precision of
    /// `like`.
    pub(super) fn smooth(
        &self,
        given: &[[f64; 3]],
        like: &Tensor<2>,
        targets: Targets,
        factors: Option<Vec<f64>>,
    ) -> Result<Estimate> {
        let axes = self.domain.axes;
        let sample = self.sample(given)?;
        let (mut covariance, mut rule) = (None, None);
        let mut smoother = match self.method {
            Method::Sph(kernel, h) => Smoother::sph(kernel, h, axes, self.truncation)?,
            Method::Kde(bandwidth) => {
                let (bandwidth, used) = match self.radius {
                    Some(_) => {
                        let (length, used) = bandwidth.on_surface(&sample)?;
                        (Bandwidth::Fixed(length), used)
                    }
                    None => bandwidth.measured(&sample, &self.domain)?,
                };
                rule = Some(used);
                let matrix = bandwidth.covariance(&sample, axes)?;
                covariance = Some(matrix);
                Smoother::gaussian(&matrix, axes, self.truncation)?
            }
            Method::Histogram | Method::CloudInCell => unreachable!("computed by `in_bins`"),
        };
        if let Some(radius) = self.radius {
            smoother = smoother.on_surface(radius)?;
        }
        let particles = sample.positions.len();
        let mut values = match TwoSteps::of(&smoother, &targets, axes, particles) {
            Some(steps) => steps.sums(self, &sample, like)?,
            None => self.sums(&sample, &smoother, &targets, like)?,
        };
        if let Some(factors) = factors {
            values = values * tensors::to_tensor(factors, like);
        }
        let bandwidth = [0, 1, 2].map(|d: usize| match (self.method, covariance) {
            (_, Some(matrix)) => matrix[d][d].sqrt(),
            (Method::Sph(_, h), _) if axes.active()[d] => h,
            _ => 0.0,
        });
        Ok(Estimate {
            values,
            lattice: None,
            placement: Placement::Nodes,
            integral: None,
            bandwidth,
            covariance,
            rule,
            used: sample.positions.len(),
            left_out: sample.left_out,
            total: sample.total,
            neglected: smoother.neglected,
        })
    }
}
