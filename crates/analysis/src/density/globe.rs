//! Densities on a sphere, per square or cubic kilometre: sizes of cells, and kernels on the surface.

use super::{
    Bandwidth, Density, Estimate, Rule,
    cells::Targets,
    domain::DensityDomain,
    lattice::{Axes, Lattice},
    sample::Sample,
    smoother::Smoother,
    spacing,
};
use crate::{Error, Result};
use burn::tensor::Tensor;
use burntrace_core::sphere;

/// Square metres in a square kilometre.
const SQUARE_KILOMETRE: f64 = 1e6;

/// Sizes of the bins of a lattice, or of the cells around its nodes, relative to the product of their widths: of each row
/// along y, and of each layer along z. 1 in a flat space.
pub(super) struct CellSizes {
    pub rows: Vec<f64>,
    pub layers: Vec<f64>,
}

impl CellSizes {
    pub fn flat(lattice: &Lattice) -> Self {
        let [_, ny, nz] = lattice.counts;
        CellSizes { rows: vec![1.0; ny], layers: vec![1.0; nz] }
    }

    /// Sizes in square kilometres per square degree, and in kilometres per metre of height.
    pub fn on_sphere(radius: f64, lattice: &Lattice, axes: Axes, is_bins: bool) -> Self {
        let along = |d: usize| (0..lattice.counts[d]).map(move |i| lattice.cell(d, i, is_bins));
        let square_degree = square_degree(radius);
        let row = |ends: [f64; 2]| square_degree * mean_cosine(ends.map(f64::to_radians));
        let layer = |ends: [f64; 2]| {
            let [a, b] = ends.map(|height| 1.0 + height / radius);
            1e-3 * (a * a + a * b + b * b) / 3.0
        };
        let layers = if axes.active()[2] { along(2).map(layer).collect() } else { vec![1.0] };
        CellSizes { rows: along(1).map(row).collect(), layers }
    }
}

/// Square kilometres in a square degree at the equator.
pub(super) fn square_degree(radius: f64) -> f64 {
    radius.to_radians().powi(2) / SQUARE_KILOMETRE
}

/// Longitudes and latitudes as points in space.
pub(super) fn in_space(radius: f64, all: &[[f64; 3]]) -> Vec<[f64; 3]> {
    all.iter().map(|[lon, lat, _]| sphere::in_space(radius, [*lon, *lat, 0.0])).collect()
}

/// The mean of the cosine between two angles.
fn mean_cosine([low, high]: [f64; 2]) -> f64 {
    let half = 0.5 * (high - low);
    let part = if half > 0.0 { half.sin() / half } else { 1.0 };
    part * (0.5 * (low + high)).cos()
}

impl Density {
    /// Takes positions as longitudes and latitudes in degrees and heights in metres on a sphere of this radius in metres.
    /// Densities are per square kilometre over longitude and latitude (`Axes::XY`) or, of histograms and cloud in cell, per
    /// cubic kilometre (`Axes::XYZ`). Bandwidths are lengths in metres; kernels know no faces of the box.
    pub fn on_sphere(mut self, radius: f64) -> Self {
        self.radius = Some(radius);
        self
    }

    /// The sizes of the cells of a lattice.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for axes that have no area on a sphere.
    pub(super) fn cell_sizes(&self, lattice: &Lattice, is_bins: bool) -> Result<CellSizes> {
        let axes = self.domain.axes;
        match self.radius {
            None => Ok(CellSizes::flat(lattice)),
            Some(_) if !matches!(axes, Axes::XY | Axes::XYZ) => Err(Error::Domain(
                "a density on a sphere is over longitude and latitude, with or without heights; give the axes xy or xyz".into(),
            )),
            Some(radius) => Ok(CellSizes::on_sphere(radius, lattice, axes, is_bins)),
        }
    }

    /// The estimator of positions in space.
    pub(super) fn in_metres(&self) -> Density {
        Density { domain: DensityDomain::unbounded(Axes::XYZ), ..self.clone() }
    }

    /// Evaluates a kernel density on a sphere at points, by distances along chords.
    pub(super) fn on_surface(
        &self,
        radius: f64,
        positions: &Tensor<2>,
        points: Vec<[f64; 3]>,
    ) -> Result<Estimate> {
        if self.domain.axes != Axes::XY {
            return Err(Error::Domain(
                "kernels on a sphere are over longitude and latitude; give the axes xy, or for heights a histogram".into(),
            ));
        }
        let given = in_space(radius, &self.domain.positions(positions)?);
        let points = Targets::points(in_space(radius, &points));
        let mut estimate = self.in_metres().smooth(&given, positions, points, None)?;
        estimate.bandwidth[2] = 0.0;
        estimate.covariance = None;
        Ok(estimate)
    }
}

impl Bandwidth {
    /// The bandwidth on a surface: one length, by rules of the distance of neighbours or of the mean spread of the particles in
    /// two directions, with the rule that is used.
    pub(super) fn on_surface(self, sample: &Sample) -> Result<(f64, Rule)> {
        let spread = (0..3).map(|d| sample.covariance[d][d]).sum::<f64>() / 2.0;
        // The rules of Scott and Silverman are equal in two dimensions.
        let by_spread = spread.sqrt() * sample.effective.powf(-1.0 / 6.0);
        match self {
            Bandwidth::Fixed(length) => Ok((length, Rule::Given)),
            Bandwidth::Spacing | Bandwidth::Scott | Bandwidth::Silverman
                if !(spread.is_finite() && spread > 0.0) =>
            {
                Err(Error::NoSpread("all particles are at one place".into()))
            }
            Bandwidth::Spacing => Ok(spacing::on_surface(sample)
                .map_or((by_spread, Rule::Scott), |length| (length, Rule::Spacing))),
            Bandwidth::Scott | Bandwidth::Silverman => Ok((by_spread, self.rule())),
            _ => Err(Error::Bandwidth(
                "kernels on a sphere are round; give one length in metres, or a rule: spacing or Scott's"
                    .into(),
            )),
        }
    }
}

impl Smoother {
    /// The kernel on the surface of a sphere, by distances along chords. The area within a chord is that of the circle with
    /// this radius, so that the factor is that of the plane.
    pub(super) fn on_surface(mut self, radius: f64) -> Result<Self> {
        let per_length = self.whitening[0][0];
        self.scale = SQUARE_KILOMETRE * self.profile.norm(2) * per_length * per_length;
        if self.is_product() {
            // The part of a Gaussian beyond the diameter.
            self.scale /= -(-2.0 * (radius * per_length).powi(2)).exp_m1();
        } else if self.reach[0] > 2.0 * radius {
            return Err(Error::Bandwidth(format!(
                "kernels reach {} m, beyond the diameter of the sphere; give at most {} m",
                self.reach[0],
                2.0 * radius / (self.reach[0] * per_length)
            )));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kernel;
    use super::*;

    const RADIUS: f64 = 6_371_008.8;

    #[test]
    fn cells_around_the_earth_have_its_area() {
        let area = 4.0 * std::f64::consts::PI * (RADIUS / 1e3).powi(2);
        let (low, high) = ([-180.0, -90.0, -2000.0], [180.0, 90.0, 1000.0]);
        let lattice = Lattice { counts: [8, 5, 3], low, high };
        let sum = |is_bins: bool| {
            let sizes = CellSizes::on_sphere(RADIUS, &lattice, Axes::XYZ, is_bins);
            let width = |d: usize, i: usize| {
                let [low, high] = lattice.cell(d, i, is_bins);
                high - low
            };
            let rows = sizes.rows.iter().enumerate().map(|(j, row)| row * width(1, j));
            let layers = sizes.layers.iter().enumerate().map(|(k, layer)| layer * width(2, k));
            [360.0 * rows.sum::<f64>(), layers.sum::<f64>()]
        };
        let shell = |height: f64| (RADIUS + height).powi(3) / (3.0 * RADIUS.powi(2)) / 1e3;
        let depth = shell(1000.0) - shell(-2000.0);
        for [found_area, found_depth] in [sum(true), sum(false)] {
            assert!((found_area / area - 1.0).abs() < 1e-12, "{found_area}");
            assert!((found_depth / depth - 1.0).abs() < 1e-9, "{found_depth}");
        }
    }

    #[test]
    fn kernels_wider_than_the_sphere_are_refused() {
        let of = |h: f64| Smoother::sph(Kernel::CubicSpline, h, Axes::XYZ, 6.0)?.on_surface(10.0);
        assert!(of(10.0).is_ok());
        let error = of(10.5).unwrap_err().to_string();
        assert!(error.contains("reach 21 m") && error.contains("at most 10 m"), "{error}");
    }
}
