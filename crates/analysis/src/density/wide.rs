//! Wide Gaussians on a lattice, in two steps: narrow ones are summed at its nodes, which are then smoothed along one axis
//! after another.
//!
//! A Gaussian of variance `s^2` is the convolution of two of variances `n^2` and `s^2 - n^2`. The second convolution is a sum
//! over the nodes, at a distance `p`. Its error is that of the trapezoidal rule for a product of two Gaussians, whose
//! variance is `e^2 = n^2 (s^2 - n^2) / s^2`: relative to the maximum, `2 exp(-2 pi^2 e^2 / p^2)`. The narrow width is chosen
//! so that this is below what the truncation neglects.

use super::{Density, cells::Targets, lattice::Axes, sample::Sample, smoother::Smoother, tensors};
use crate::Result;
use burn::tensor::Tensor;
use rayon::prelude::*;

/// Width of the narrow Gaussian in node spacings, for each standard deviation of the truncation.
const NARROW: f64 = 0.21;
/// Least ratio of the widths of the Gaussian and the narrow one.
const MIN_RATIO: f64 = 2.5;
/// Maximum number of nodes of the wider lattice.
const MAX_NODES: f64 = 1e8;

/// A Gaussian that is summed in two steps.
pub(super) struct TwoSteps {
    narrow: Smoother,
    /// The lattice with the nodes around it that the second step reads.
    targets: Targets,
    /// Nodes along each axis of the result.
    counts: [usize; 3],
    /// Weights of the second step along each axis, from one end to the other; 1 for none.
    taps: [Vec<f64>; 3],
}

impl TwoSteps {
    /// The two steps for a kernel, if they are possible and take less time.
    pub fn of(
        smoother: &Smoother,
        targets: &Targets,
        axes: Axes,
        particles: usize,
    ) -> Option<Self> {
        if !smoother.is_product() || targets.points.is_some() {
            return None;
        }
        let truncation = smoother.cutoff;
        let (mut variance, mut taps) = ([[0.0; 3]; 3], [const { Vec::new() }; 3]);
        for d in 0..3 {
            let (pitch, sigma) = (targets.pitch[d], smoother.reach[d] / truncation);
            let narrow = NARROW * truncation * pitch;
            let is_wide = pitch > 0.0 && sigma >= MIN_RATIO * narrow;
            let own = if is_wide { narrow } else { sigma };
            variance[d][d] = own * own;
            taps[d] = match is_wide {
                true => gaussian_taps((sigma * sigma - own * own).sqrt() / pitch, truncation),
                false => vec![1.0],
            };
        }
        let wider = wider(targets, &taps);
        let narrow = Smoother::gaussian(&variance, axes, truncation).ok()?;
        let is_faster = 2.0 * second_cost(&wider.counts, &taps)
            + first_cost(&narrow, &wider, particles)
            < first_cost(smoother, targets, particles);
        let nodes: f64 = wider.counts.iter().map(|n| *n as f64).product();
        let counts = targets.counts;
        (is_faster && nodes <= MAX_NODES).then_some(TwoSteps {
            narrow,
            targets: wider,
            counts,
            taps,
        })
    }

    /// The sums of kernels at the nodes, on the device and in the precision of `like`.
    pub fn sums(&self, density: &Density, sample: &Sample, like: &Tensor<2>) -> Result<Tensor<1>> {
        let narrow = density.sums(sample, &self.narrow, &self.targets, like)?;
        let mut values = tensors::on_host(narrow)?;
        let mut counts = self.targets.counts;
        for d in 0..3 {
            values = smoothed(&values, counts, d, &self.taps[d]);
            counts[d] = self.counts[d];
        }
        Ok(tensors::to_tensor(values, like))
    }
}

/// Weights of a Gaussian of a width in node spacings, with the sum 1.
fn gaussian_taps(width: f64, truncation: f64) -> Vec<f64> {
    let reach = (truncation * width).ceil() as i32;
    let bell = |k: i32| (-0.5 * (f64::from(k) / width).powi(2)).exp();
    let sum: f64 = (-reach..=reach).map(bell).sum();
    (-reach..=reach).map(|k| bell(k) / sum).collect()
}

/// The lattice with the nodes around it that the weights reach.
fn wider(targets: &Targets, taps: &[Vec<f64>; 3]) -> Targets {
    let around = |d: usize| taps[d].len() / 2;
    let margin = |d: usize| around(d) as f64 * targets.pitch[d];
    Targets {
        points: None,
        counts: [0, 1, 2].map(|d| targets.counts[d] + 2 * around(d)),
        low: [0, 1, 2].map(|d| targets.low[d] - margin(d)),
        high: [0, 1, 2].map(|d| targets.high[d] + margin(d)),
        pitch: targets.pitch,
    }
}

/// The number of products of the sums of kernels, roughly.
fn first_cost(smoother: &Smoother, targets: &Targets, particles: usize) -> f64 {
    let nodes = |d: usize| match targets.pitch[d] > 0.0 {
        true => (2.0 * smoother.reach[d] / targets.pitch[d]).min(targets.counts[d] as f64),
        false => 1.0,
    };
    (0..3).map(nodes).product::<f64>() * particles as f64
}

/// The number of products of the second step.
fn second_cost(counts: &[usize; 3], taps: &[Vec<f64>; 3]) -> f64 {
    let nodes: f64 = counts.iter().map(|n| *n as f64).product();
    taps.iter().map(|taps| taps.len() as f64).sum::<f64>() * nodes
}

/// Weighted sums along an axis, of which as many are left as have all their terms.
fn smoothed(values: &[f64], counts: [usize; 3], axis: usize, taps: &[f64]) -> Vec<f64> {
    if let [_] = taps {
        return values.to_vec();
    }
    // Runs of `inner` values are next to each other, `length` of them along the axis.
    let inner: usize = counts[..axis].iter().product();
    let (length, kept) = (counts[axis], counts[axis] + 1 - taps.len());
    let outer: usize = counts[axis + 1..].iter().product();
    let mut sums = vec![0.0; inner * kept * outer];
    sums.par_chunks_mut(inner * kept).zip(values.par_chunks(inner * length)).for_each(
        |(to, from)| {
            for (tap, weight) in taps.iter().enumerate() {
                let from = &from[tap * inner..][..to.len()];
                for (sum, value) in to.iter_mut().zip(from) {
                    *sum += weight * value;
                }
            }
        },
    );
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::{Bandwidth, Edge, Lattice};
    use burn::tensor::{DType, Device, TensorData};

    /// Particles in the unit cube without symmetry.
    fn particles(count: usize, dtype: DType) -> Tensor<2> {
        let part = |i: usize, ratio: f64| (i as f64 * ratio).fract().powf(1.3);
        let row = |i: usize| [part(i, 0.754_877), part(i, 0.569_840), part(i, 0.438_579)];
        let positions: Vec<f64> = (1..=count).flat_map(row).collect();
        Tensor::<2>::from_data(TensorData::new(positions, [count, 3]), (&Device::flex(), dtype))
    }

    /// The density on a lattice, and at its nodes as points, which are always summed in one step.
    fn both(density: &Density, lattice: &Lattice, positions: &Tensor<2>) -> (Vec<f64>, Vec<f64>) {
        let on_grid = density.on_grid(positions, lattice).unwrap().values;
        let points: Vec<f64> = lattice.node_positions().flatten().collect();
        let data = TensorData::new(points, [lattice.nodes(), 3]);
        let points = Tensor::<2>::from_data(data, (&positions.device(), positions.dtype()));
        let at = density.at(positions, &points).unwrap().values;
        (tensors::on_host(on_grid).unwrap(), tensors::on_host(at).unwrap())
    }

    fn deviation((found, expected): (Vec<f64>, Vec<f64>)) -> f64 {
        let size = expected.iter().copied().fold(0.0, f64::max);
        let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
        off.fold(0.0, f64::max) / size
    }

    #[test]
    fn two_steps_give_the_sums_of_one() {
        let lattice = Lattice { counts: [25, 31, 21], low: [0.0; 3], high: [1.0; 3] };
        let edges = [
            [[Edge::Open; 2]; 3],
            [[Edge::Reflecting; 2]; 3],
            [[Edge::Periodic; 2], [Edge::Reflecting, Edge::Open], [Edge::Open; 2]],
        ];
        for edges in edges {
            for (truncation, bound) in [(6.0, 1e-8), (8.0, 1e-13)] {
                let density = Density::kde(Bandwidth::PerAxis([0.25, 0.2, 0.3]))
                    .within([0.0; 3], [1.0; 3], edges)
                    .truncation(truncation);
                let positions = particles(3000, DType::F64);
                let off = deviation(both(&density, &lattice, &positions));
                assert!(off < bound && off > 0.0, "{edges:?}, {truncation}: {off:e}");
            }
        }
        let density = Density::kde(Bandwidth::Fixed(0.25));
        let off = deviation(both(&density, &lattice, &particles(3000, DType::F32)));
        assert!(off < 2e-6 && off > 0.0, "{off:e}");
    }

    /// Images of particles near faces are farther beyond them than narrow kernels reach.
    #[test]
    fn wide_kernels_at_faces_keep_their_mass() {
        let (low, high) = ([0.0; 3], [1.0, 1.0, 0.0]);
        let lattice = Lattice { counts: [257, 129, 1], low, high };
        for edge in [Edge::Reflecting, Edge::Periodic] {
            let density = Density::kde(Bandwidth::Fixed(0.12)).axes(Axes::XY);
            let density = density.within(low, high, [[edge; 2]; 3]);
            let positions = particles(10_000, DType::F64);
            let estimate = density.on_grid(&positions, &lattice).unwrap();
            let integral = estimate.integral.unwrap();
            assert!((integral - 1.0).abs() < 1e-7, "{edge:?}: {integral}");
            let off = deviation(both(&density, &lattice, &positions));
            assert!(off < 1e-8, "{edge:?}: {off:e}");
        }
    }

    #[test]
    fn flat_and_narrow_axes_are_taken_in_one_step() {
        let lattice = Lattice { counts: [41, 31, 1], low: [0.0; 3], high: [1.0, 1.0, 0.0] };
        let density = Density::kde(Bandwidth::PerAxis([0.3, 0.02, 0.1])).axes(Axes::XY);
        let off = deviation(both(&density, &lattice, &particles(2000, DType::F64)));
        assert!(off < 1e-8 && off > 0.0, "{off:e}");
    }

    #[test]
    fn few_particles_and_narrow_kernels_are_summed_in_one_step() {
        let lattice = Lattice { counts: [33; 3], low: [0.0; 3], high: [1.0; 3] };
        let targets = Targets::lattice(&lattice);
        let steps = |width: f64, particles: usize| {
            let mut variance = [[0.0; 3]; 3];
            (0..3).for_each(|d| variance[d][d] = width * width);
            let smoother = Smoother::gaussian(&variance, Axes::XYZ, 6.0).unwrap();
            TwoSteps::of(&smoother, &targets, Axes::XYZ, particles).is_some()
        };
        assert!(steps(0.2, 1_000_000) && !steps(0.05, 1_000_000) && !steps(0.2, 10));
    }

    #[test]
    fn weights_are_those_of_a_gaussian() {
        let taps = gaussian_taps(2.0, 6.0);
        assert_eq!(taps.len(), 25);
        assert!((taps.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        let variance: f64 =
            taps.iter().enumerate().map(|(i, w)| w * (i as f64 - 12.0).powi(2)).sum();
        assert!((variance - 4.0).abs() < 1e-6, "{variance}");
    }
}
