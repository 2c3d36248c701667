//! A bandwidth from the distances between neighbouring particles.
//!
//! Scott's rule is the optimum of a normal cloud: `h = s n^(-1/(d+4))` with the standard deviation `s`. In a cloud of several
//! parts, or one that is drawn out to filaments, `s` measures the distance of the parts, not their width. The number of
//! particles near a particle does not depend on that distance. Around the median particle of a normal cloud, Scott's bandwidth
//! is a radius with
//!
//! `k = V_d f_d n^(4/(d+4))`
//!
//! others in it, where `V_d` is the volume of the unit ball and `f_d` the density of a standard normal variate at the median
//! distance from its centre. The rule is the median distance from a particle to its k-th neighbour in any cloud. Numbers of
//! neighbours in proportion to `n^(4/(d+4))` are those that are optimal for densities of nearest neighbours: B. W. Silverman,
//! Density Estimation for Statistics and Data Analysis, 1986, chapter 5; D. O. Loftsgaarden and C. P. Quesenberry, Ann. Math.
//! Stat. 36, 1965, 1049.
//!
//! Distances along different axes are compared in units of each axis: the rule for that axis alone, times `n^(1/5)`, which is
//! the standard deviation of a normal variate. The standard deviation itself would measure the distance of parts again.

use super::{domain::DensityDomain, sample::Sample};
use rayon::prelude::*;

/// Maximum number of particles from which distances are measured.
const MAX_CENTRES: usize = 1024;
/// Maximum number of particles to which they are measured.
const MAX_NEIGHBOURS: usize = 32_768;
/// Minimum rank of a neighbour: distances to nearer ones scatter.
const MIN_RANK: usize = 8;
/// Number of neighbours of the median particle of a normal cloud within Scott's bandwidth, in units of `n^(4/(d+4))`.
const NEIGHBOURS: [f64; 3] = [0.635_553_145_368_214, 0.25, 0.081_480_578_846_000];

/// The bandwidth along each axis, 0 along inactive ones. `None` if the median distance is 0, as most particles share their position with
/// others.
pub(super) fn along_axes(sample: &Sample, domain: &DensityDomain) -> Option<[f64; 3]> {
    let axes: Vec<usize> = domain.axes.indices().collect();
    let particles = Drawn::of(sample);
    let periods = domain.periods();
    let n = sample.effective;
    let mut units = [0.0; 3];
    for &d in &axes {
        let alone = particles.median_distance(&[d], 1, n, [1.0; 3], periods);
        units[d] = alone * n.powf(0.2);
    }
    if axes.iter().any(|d| units[*d] <= 0.0) {
        return None;
    }
    let distance = particles.median_distance(&axes, axes.len(), n, units, periods);
    (distance > 0.0).then(|| units.map(|unit| unit * distance))
}

/// The bandwidth on a surface in space, in its unit of length. `None` as for [`along_axes`].
pub(super) fn on_surface(sample: &Sample) -> Option<f64> {
    let particles = Drawn::of(sample);
    let distance =
        particles.median_distance(&[0, 1, 2], 2, sample.effective, [1.0; 3], [f64::INFINITY; 3]);
    (distance > 0.0).then_some(distance)
}

/// Particles drawn from a sample, with probabilities in proportion to their weights.
struct Drawn<'a> {
    positions: &'a [[f64; 3]],
    /// Indices of particles in increasing order; those with large weights repeatedly.
    indices: Vec<usize>,
}

impl<'a> Drawn<'a> {
    /// Systematic sampling: one particle from each of equal parts of the total weight.
    fn of(sample: &'a Sample) -> Self {
        let weights = &sample.weights;
        let count = weights.len().min(MAX_NEIGHBOURS);
        let part = weights.iter().sum::<f64>() / count as f64;
        // All particles of equal weight are in the middle of their part. A fraction of the golden ratio instead of the middle
        // avoids that drawn particles of a lattice have a pattern.
        let is_all = count == weights.len() && weights.iter().all(|weight| *weight == weights[0]);
        let within =
            |i: usize| if is_all { 0.5 } else { (i as f64 * 0.618_033_988_749_895).fract() };
        let (mut index, mut end) = (0, weights.first().copied().unwrap_or(0.0));
        let indices = (0..count).map(|i| {
            let at = (i as f64 + within(i)) * part;
            while end <= at && index + 1 < weights.len() {
                index += 1;
                end += weights[index];
            }
            index
        });
        let indices = indices.collect();
        Drawn { positions: &sample.positions, indices }
    }

    /// The median distance to the k-th neighbour along some axes, in units of each axis; `n` is the number of particles.
    fn median_distance(
        &self,
        axes: &[usize],
        dimension: usize,
        n: f64,
        units: [f64; 3],
        periods: [f64; 3],
    ) -> f64 {
        let wanted = NEIGHBOURS[dimension - 1] * n.powf(4.0 / (dimension as f64 + 4.0));
        let others = (self.indices.len() - 1) as f64;
        let expected = wanted * others / n;
        let rank = (expected.round() as usize).max(MIN_RANK).min(self.indices.len() - 1);
        let stride = self.indices.len().div_ceil(MAX_CENTRES);
        let centres: Vec<usize> = self.indices.iter().copied().step_by(stride).collect();
        let columns: Vec<Column> =
            axes.iter().map(|&d| Column::of(self, d, units[d], periods[d])).collect();
        let mut distances: Vec<f64> = centres
            .par_iter()
            .map(|&centre| self.distance_to(rank, centre, &columns).sqrt())
            .collect();
        let middle = distances.len() / 2;
        let (_, median, _) = distances.select_nth_unstable_by(middle, f64::total_cmp);
        // The number of particles in a volume that reaches to the k-th one is k - 1/3 in the median.
        *median * (expected / (rank as f64 - 1.0 / 3.0)).powf(1.0 / dimension as f64)
    }

    /// The squared distance from a particle to its neighbour of a rank, 1 for the nearest one.
    fn distance_to(&self, rank: usize, centre: usize, columns: &[Column]) -> f64 {
        let mut squares = vec![0.0; self.indices.len()];
        for column in columns {
            let x = self.positions[centre][column.axis] / column.unit;
            for (square, other) in squares.iter_mut().zip(&column.coordinates) {
                let apart = (x - other).abs();
                let apart = apart.min((column.period - apart).abs());
                *square += apart * apart;
            }
        }
        // The particle itself, as often as it is drawn.
        let first = self.indices.partition_point(|index| *index < centre);
        let copies = self.indices[first..].iter().take_while(|index| **index == centre).count();
        squares.drain(first..first + copies);
        match squares.len() {
            0 => 0.0,
            len => *squares.select_nth_unstable_by(rank.min(len) - 1, f64::total_cmp).1,
        }
    }
}

/// Coordinates of the drawn particles along an axis, in a unit.
struct Column {
    axis: usize,
    unit: f64,
    /// Infinite without periodic faces.
    period: f64,
    coordinates: Vec<f64>,
}

impl Column {
    fn of(drawn: &Drawn, axis: usize, unit: f64, period: f64) -> Self {
        let coordinates = drawn.indices.iter().map(|&i| drawn.positions[i][axis] / unit).collect();
        Column { axis, unit, period: period / unit, coordinates }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axes, Edge};
    use super::*;

    /// Radical inverses, which fill the unit interval evenly.
    fn even(mut i: usize, base: usize) -> f64 {
        let (mut x, mut digit) = (0.0, 1.0 / base as f64);
        while i > 0 {
            x += (i % base) as f64 * digit;
            i /= base;
            digit /= base as f64;
        }
        x
    }

    /// Independent numbers: splitmix64.
    fn uniform(i: usize) -> f64 {
        let mut z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(i: usize) -> f64 {
        let radius = (-2.0 * (1.0 - uniform(2 * i)).ln()).sqrt();
        radius * (std::f64::consts::TAU * uniform(2 * i + 1)).cos()
    }

    fn cloud(n: usize, of: impl Fn(usize) -> [f64; 3]) -> Vec<[f64; 3]> {
        (0..n).map(of).collect()
    }

    fn sample(points: &[[f64; 3]], axes: Axes, weights: Option<&[f64]>) -> (Sample, DensityDomain) {
        let domain = DensityDomain::unbounded(axes);
        (Sample::new(points, weights, None, &domain).unwrap(), domain)
    }

    fn widths(points: &[[f64; 3]], axes: Axes) -> [f64; 3] {
        let (sample, domain) = sample(points, axes, None);
        along_axes(&sample, &domain).unwrap()
    }

    /// Scott's bandwidth along an axis.
    fn scott(points: &[[f64; 3]], axes: Axes, d: usize) -> f64 {
        let (sample, _) = sample(points, axes, None);
        let power = -1.0 / (axes.dimension() as f64 + 4.0);
        sample.covariance[d][d].sqrt() * sample.effective.powf(power)
    }

    #[test]
    fn numbers_of_neighbours_are_those_of_a_normal_cloud() {
        use std::f64::consts::{LN_2, PI};
        // Median squared distances from the centre: chi-squared with 1, 2 and 3 degrees of freedom.
        let medians = [0.454_936_423_119_572, 2.0 * LN_2, 2.365_973_884_375_338];
        let volumes = [2.0, PI, 4.0 / 3.0 * PI];
        for d in 0..3 {
            let density = (2.0 * PI).powf(-0.5 * (d as f64 + 1.0)) * (-0.5 * medians[d]).exp();
            assert!((NEIGHBOURS[d] / (volumes[d] * density) - 1.0).abs() < 1e-12, "{d}");
        }
    }

    #[test]
    fn normal_clouds_have_scotts_bandwidth() {
        for axes in [Axes::X, Axes::XY, Axes::XYZ] {
            for n in [1000, 10_000, 100_000] {
                let points =
                    cloud(n, |i| [normal(3 * i), 0.1 * normal(3 * i + 1), 5.0 * normal(3 * i + 2)]);
                let found = widths(&points, axes);
                for d in axes.indices() {
                    let ratio = found[d] / scott(&points, axes, d);
                    assert!((ratio - 1.0).abs() < 0.12, "{axes:?}, {n}, {d}: {ratio}");
                }
                assert!((0..3).all(|d| axes.active()[d] || found[d] == 0.0));
            }
        }
    }

    #[test]
    fn parts_and_filaments_have_the_bandwidth_of_their_width() {
        let n = 10_000;
        let two = |apart: f64| {
            cloud(n, |i| [normal(2 * i) + apart * (i % 2) as f64, normal(2 * i + 1), 0.0])
        };
        // A part alone has half as many particles, and sqrt 2 of this is for the number of both.
        let one = scott(&cloud(n / 2, |i| [normal(2 * i), normal(2 * i + 1), 0.0]), Axes::XY, 0);
        for apart in [20.0, 1000.0] {
            let [x, y, _] = widths(&two(apart), Axes::XY);
            assert!((0.7..2.2).contains(&(x / one)) && (0.7..1.3).contains(&(y / one)), "{x} {y}");
            assert!(scott(&two(apart), Axes::XY, 0) > 8.0 * one);
        }
        let ring = |width: f64| {
            let radius = move |i: usize| 1.0 + width * normal(i);
            let angle = |i: usize| std::f64::consts::TAU * uniform(i + 1_000_000);
            widths(
                &cloud(n, |i| [radius(i) * angle(i).cos(), radius(i) * angle(i).sin(), 0.0]),
                Axes::XY,
            )
        };
        let [wide, narrow] = [ring(0.05), ring(0.01)];
        assert!((0.055..0.075).contains(&wide[0]) && (0.03..0.045).contains(&narrow[0]));
    }

    #[test]
    fn bandwidth_follows_units_and_periods() {
        let points = cloud(4096, |i| [even(i, 2), even(i, 3), even(i, 5)]);
        let own = widths(&points, Axes::XYZ);
        // Near to that of Scott's rule: 1/sqrt 12 n^(-1/7).
        assert!(own.iter().all(|h| (h / 0.0880 - 1.0).abs() < 0.1), "{own:?}");
        let scaled: Vec<[f64; 3]> =
            points.iter().map(|[x, y, z]| [1e6 * x, y - 3.0, 1e-3 * z]).collect();
        let found = widths(&scaled, Axes::XYZ);
        for (d, unit) in [1e6, 1.0, 1e-3].into_iter().enumerate() {
            assert!((found[d] / (unit * own[d]) - 1.0).abs() < 1e-9, "{found:?}");
        }
        // A cloud across a periodic face has the bandwidth of the cloud in the middle.
        let periodic = DensityDomain {
            low: [0.0; 3],
            high: [1.0; 3],
            edges: [[Edge::Periodic; 2]; 3],
            ..DensityDomain::unbounded(Axes::XY)
        };
        let at = |x: f64| {
            let points = cloud(2000, |i| [x + 0.02 * normal(2 * i), 0.02 * normal(2 * i + 1), 0.0]);
            along_axes(&Sample::new(&points, None, None, &periodic).unwrap(), &periodic).unwrap()
        };
        let [middle, face] = [at(0.5), at(0.0)];
        assert!((middle[0] / face[0] - 1.0).abs() < 1e-9, "{middle:?} {face:?}");
    }

    #[test]
    fn weights_count_as_particles() {
        let points = cloud(3000, |i| [normal(2 * i), normal(2 * i + 1), 0.0]);
        let (equal, domain) = sample(&points, Axes::XY, Some(&[7.0; 3000]));
        assert_eq!(along_axes(&equal, &domain), Some(widths(&points, Axes::XY)));
        // Particles without weight do not count, nor does the far cloud that they are.
        let mut all = points.clone();
        all.extend(points.iter().map(|[x, y, _]| [x + 50.0, *y, 0.0]));
        let weights = [[1.0; 3000], [0.0; 3000]].concat();
        let (sample, domain) = sample(&all, Axes::XY, Some(&weights));
        let [x, ..] = along_axes(&sample, &domain).unwrap();
        assert!((x / widths(&points, Axes::XY)[0] - 1.0).abs() < 0.1, "{x}");
    }

    #[test]
    fn particles_at_few_positions_determine_no_spacing() {
        let points = cloud(1000, |i| [f64::from(u8::from(i % 2 == 0)), (i % 5) as f64, 0.0]);
        let (at_few, domain) = sample(&points, Axes::XY, None);
        assert_eq!(along_axes(&at_few, &domain), None);
        let (two, domain) = sample(&[[0.0; 3], [1.0, 2.0, 0.0]], Axes::XY, None);
        let [x, y, _] = along_axes(&two, &domain).unwrap();
        assert!(x > 0.0 && (y / x - 2.0).abs() < 1e-9);
    }
}
