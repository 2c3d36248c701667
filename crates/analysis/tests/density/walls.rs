//! Densities in regions with walls.

use crate::common::{Machine, Random, numbers};
use burn::tensor::DType;
use burntrace_analysis::density::{
    Axes, Bandwidth, Density, Edge, Estimate, Kernel, Lattice, Normalization, Region,
};

const LOW: [f64; 3] = [0.0; 3];
const HIGH: [f64; 3] = [2.0, 1.0, 1.5];
const REFLECTING: [[Edge; 2]; 3] = [[Edge::Reflecting; 2]; 3];

fn lattice() -> Lattice {
    Lattice { counts: [101, 51, 1], low: LOW, high: [2.0, 1.0, 0.0] }
}

fn nodes(lattice: &Lattice) -> Vec<[f64; 3]> {
    let [nx, ny, nz] = lattice.counts;
    let at = |d: usize, i: usize| lattice.low[d] + i as f64 * lattice.pitch(d);
    let index = |i: usize| [i % nx, i / nx % ny, i / nx / ny];
    (0..nx * ny * nz).map(index).map(|[i, j, k]| [at(0, i), at(1, j), at(2, k)]).collect()
}

/// Outside of a circle in the middle.
fn around_a_body() -> Region {
    Region::new(|[x, y, _]| (x - 1.0).hypot(y - 0.5) > 0.301)
}

fn within(density: Density) -> Density {
    density.axes(Axes::XY).within(LOW, HIGH, REFLECTING)
}

/// Particles in a region.
fn particles(n: usize, region: &Region, flat: bool) -> Vec<[f64; 3]> {
    let high = if flat { [HIGH[0], HIGH[1], 0.0] } else { HIGH };
    let all = Random(8).uniforms(2 * n, LOW, high);
    all.into_iter().filter(|at| region.contains(*at)).take(n).collect()
}

fn max(values: &[f64]) -> f64 {
    values.iter().copied().filter(|x| !x.is_nan()).fold(0.0, f64::max)
}

/// The largest difference of two estimates where both have a value, relative to the maximum.
fn deviation(found: &Estimate, expected: &Estimate) -> f64 {
    let [found, expected] = [found, expected].map(|estimate| numbers(&estimate.values));
    let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
    off.filter(|x| !x.is_nan()).fold(0.0, f64::max) / max(&expected)
}

/// The integral is 1 to the rounding of the values, and nodes in the body have no value.
#[test]
fn mass_is_kept_out_of_bodies() {
    for dtype in [DType::F32, DType::F64] {
        let machine = Machine::flex(dtype);
        let flat = particles(500, &around_a_body(), true);
        let density = within(Density::kde(Bandwidth::Fixed(0.1)).inside(around_a_body()));
        let periodic = density.clone().within(LOW, HIGH, [[Edge::Periodic; 2]; 3]);
        let bound = if dtype == DType::F32 { 1e-6 } else { 1e-12 };
        for density in [&density, &periodic] {
            let estimate = density.on_grid(&machine.tensor(&flat), &lattice()).unwrap();
            let integral = estimate.integral.unwrap();
            assert!((integral - 1.0).abs() < bound, "{dtype:?}: {}", integral - 1.0);
            assert_eq!((estimate.used, estimate.left_out), (500, 0));
            for (value, at) in numbers(&estimate.values).iter().zip(nodes(&lattice())) {
                assert_eq!(value.is_nan(), !around_a_body().contains(at), "{at:?}");
                assert!(value.is_nan() || *value > 0.0);
            }
        }
        let unchanged = within(Density::kde(Bandwidth::Fixed(0.1)));
        let all = unchanged.on_grid(&machine.tensor(&flat), &lattice()).unwrap();
        let values = numbers(&all.values);
        let lost: f64 = values
            .iter()
            .zip(nodes(&lattice()))
            .filter(|(_, at)| !around_a_body().contains(*at))
            .map(|(value, _)| value * 4e-4)
            .sum();
        assert!(lost > 0.02, "{lost}");
    }
}

#[test]
fn mass_is_kept_out_of_bodies_in_space() {
    let machine = Machine::flex(DType::F64);
    let region =
        Region::new(|[x, y, z]| (x - 1.0).powi(2) + (y - 0.5).powi(2) + (z - 0.7).powi(2) > 0.16);
    let positions = machine.tensor(&particles(300, &region, false));
    let grid = Lattice { counts: [41, 21, 31], low: LOW, high: HIGH };
    for edge in [Edge::Reflecting, Edge::Periodic] {
        let density = Density::kde(Bandwidth::PerAxis([0.1, 0.15, 0.12]))
            .within(LOW, HIGH, [[edge; 2]; 3])
            .inside(region.clone());
        let estimate = density.on_grid(&positions, &grid).unwrap();
        let integral = estimate.integral.unwrap();
        assert!((integral - 1.0).abs() < 1e-12, "{edge:?}: {}", integral - 1.0);
        // A slice has the values of the nodes of the grid, to the error of both lattices.
        let slice = Lattice { counts: [41, 21, 1], low: [0.0, 0.0, 0.75], high: [2.0, 1.0, 0.75] };
        let on_slice = density.on_grid(&positions, &slice).unwrap();
        let values = numbers(&estimate.values)[15 * 861..][..861].to_vec();
        let peak = max(&values);
        let mut worst: f64 = 0.0;
        for (a, b) in values.iter().zip(numbers(&on_slice.values)) {
            assert_eq!(a.is_nan(), b.is_nan());
            if !b.is_nan() {
                worst = worst.max((a - b).abs() / peak);
            }
        }
        assert!(worst < 0.06, "{edge:?}: {worst}");
    }
}

#[test]
fn nothing_gets_through_thin_walls() {
    let machine = Machine::flex(DType::F64);
    // Walls of one node, along an axis and across: the position on one side of them is negative.
    let sides: [fn([f64; 3]) -> f64; 2] = [|[x, ..]| x - 1.0, |[x, y, _]| x - 0.5 - y];
    for side in sides {
        let region = Region::new(move |at| side(at).abs() > 0.005);
        let mut left = particles(2000, &region, true);
        left.extend([[0.9999, 0.501, 0.0], [0.9901, 0.4905, 0.0]]);
        left.retain(|at| side(*at) < 0.0);
        let kde = Density::kde(Bandwidth::Fixed(0.15));
        for density in [kde, Density::cloud_in_cell()] {
            let density = within(density).normalization(Normalization::Probability);
            let estimate = density.inside(region.clone());
            let estimate = estimate.on_grid(&machine.tensor(&left), &lattice()).unwrap();
            assert!((estimate.integral.unwrap() - 1.0).abs() < 1e-12);
            for (value, at) in numbers(&estimate.values).iter().zip(nodes(&lattice())) {
                let is_right = side(at) > 0.005;
                assert!(!is_right || *value == 0.0, "{at:?}: {value}");
                assert_eq!(value.is_nan(), !region.contains(at), "{at:?}");
            }
        }
    }
}

/// Without walls it is the Gaussian, with the errors of the guide.
#[test]
fn free_space_has_the_sum_of_gaussians() {
    let machine = Machine::flex(DType::F64);
    // A wall of one node, far from the particles.
    let all = Region::new(|[x, y, _]| x < 1.999 || y < 0.999);
    let many: Vec<_> = particles(2000, &all, true).into_iter().filter(|[x, ..]| *x < 1.2).collect();
    let many = machine.tensor(&many);
    let one = machine.tensor(&[[0.913, 0.457, 0.0]]);
    for (nodes, bounds) in [
        (1.5, [0.03, 0.025]),
        (2.0, [0.012, 0.012]),
        (3.0, [0.005, 0.003]),
        (5.0, [0.004, 0.002]),
        (10.0, [0.004, 0.002]),
    ] {
        let density = within(Density::kde(Bandwidth::Fixed(nodes * 0.02)));
        for (positions, bound) in [&one, &many].into_iter().zip(bounds) {
            let expected = density.on_grid(positions, &lattice()).unwrap();
            let found = density.clone().inside(all.clone()).on_grid(positions, &lattice()).unwrap();
            let off = deviation(&found, &expected);
            assert!(off < bound, "{nodes} nodes: {off}");
            assert!((found.integral.unwrap() - 1.0).abs() < 1e-12);
            assert_eq!((found.bandwidth, found.rule), (expected.bandwidth, expected.rule));
        }
    }
}

/// A flat wall that is not a face of the box has the density of mirror images.
#[test]
fn flat_walls_mirror_kernels() {
    let machine = Machine::flex(DType::F64);
    // The wall is in the middle between two nodes.
    let wall = 0.71;
    let region = Region::new(move |[x, ..]| x > wall);
    let mut positions = particles(1000, &region, true);
    positions.extend([[0.711, 0.2, 0.0], [0.73, 0.6, 0.0]]);
    let positions = machine.tensor(&positions);
    for nodes in [3.0, 5.0, 10.0] {
        let density = within(Density::kde(Bandwidth::Fixed(nodes * 0.02)));
        let found = density.clone().inside(region.clone()).on_grid(&positions, &lattice()).unwrap();
        let mirrored = density.within([wall, 0.0, 0.0], HIGH, REFLECTING);
        let expected = mirrored.on_grid(&positions, &lattice()).unwrap();
        let peak = max(&numbers(&expected.values));
        let mut worst: f64 = 0.0;
        for (a, b) in numbers(&found.values).iter().zip(numbers(&expected.values)) {
            worst = worst.max(if a.is_nan() { b } else { (a - b).abs() / peak });
        }
        assert!(worst < 0.02, "{nodes} nodes: {worst}");
    }
}

#[test]
fn planes_and_points_agree_with_the_grid() {
    let machine = Machine::flex(DType::F64);
    let positions = machine.tensor(&particles(1000, &around_a_body(), true));
    let density = within(Density::kde(Bandwidth::Fixed(0.1)).inside(around_a_body()));
    let grid = density.on_grid(&positions, &lattice()).unwrap();
    let points = nodes(&lattice());
    let at = density.at(&positions, &machine.tensor(&points)).unwrap();
    let [grid, at] = [grid, at].map(|estimate| numbers(&estimate.values));
    let peak = max(&grid);
    let mut worst: f64 = 0.0;
    for ((a, b), point) in grid.iter().zip(&at).zip(&points) {
        assert_eq!(a.is_nan(), b.is_nan(), "{point:?}");
        worst = worst.max(if a.is_nan() { 0.0 } else { (a - b).abs() / peak });
    }
    assert!(worst < 0.06, "{worst}");
    // Beyond the box there is nothing, and nothing is known of an unknown position.
    let others = machine.tensor(&[[2.5, 0.5, 0.0], [f64::NAN, 0.5, 0.0], [1.0, 0.5, 0.0]]);
    let values = numbers(&density.at(&positions, &others).unwrap().values);
    assert!(values[0] == 0.0 && values[1].is_nan() && values[2].is_nan(), "{values:?}");
    assert!(
        numbers(&density.at(&positions, &machine.tensor(&[[3.0; 3]])).unwrap().values)[0] == 0.0
    );
}

#[test]
fn part_of_the_box_has_the_values_of_all_of_it() {
    let machine = Machine::flex(DType::F64);
    let positions = machine.tensor(&particles(1000, &around_a_body(), true));
    for edge in [Edge::Reflecting, Edge::Periodic] {
        let density = Density::kde(Bandwidth::Fixed(0.06)).axes(Axes::XY).inside(around_a_body());
        let density = density.within(LOW, HIGH, [[edge; 2]; 3]);
        let all = numbers(&density.on_grid(&positions, &lattice()).unwrap().values);
        let part = Lattice { counts: [31, 26, 1], low: [0.2, 0.5, 0.0], high: [0.8, 1.0, 0.0] };
        let found = numbers(&density.on_grid(&positions, &part).unwrap().values);
        for (i, value) in found.iter().enumerate() {
            let expected = all[(i / 31 + 25) * 101 + i % 31 + 10];
            assert!(
                value.is_nan() && expected.is_nan() || (value - expected).abs() < 1e-5 * max(&all),
                "{edge:?}, {i}: {value}, {expected}"
            );
        }
    }
}

#[test]
fn other_methods_have_no_values_in_bodies() {
    let machine = Machine::flex(DType::F64);
    let mut inside = particles(500, &around_a_body(), true);
    inside.push([1.0, 0.79, 0.0]);
    let positions = machine.tensor(&inside);
    let covariance = [[0.01, 0.004, 0.0], [0.004, 0.02, 0.0], [0.0; 3]];
    for density in
        [Density::sph(Kernel::CubicSpline, 0.1), Density::kde(Bandwidth::Covariance(covariance))]
    {
        let plain = within(density.clone()).on_grid(&positions, &lattice()).unwrap();
        let estimate =
            within(density).inside(around_a_body()).on_grid(&positions, &lattice()).unwrap();
        let values = numbers(&estimate.values);
        for ((value, plain), at) in values.iter().zip(numbers(&plain.values)).zip(nodes(&lattice()))
        {
            let is_inside = around_a_body().contains(at);
            assert!(if is_inside { *value == plain } else { value.is_nan() }, "{at:?}");
        }
        assert!(estimate.integral.unwrap() < 0.99 * plain.integral.unwrap());
    }
    // Bins with particles have a value, although their middle is in the body.
    let bins = Lattice { counts: [20, 10, 1], ..lattice() };
    let counts = within(Density::histogram()).inside(around_a_body());
    let counts = counts.on_grid(&positions, &bins).unwrap();
    assert_eq!(counts.integral, Some(501.0));
    let values = numbers(&counts.values);
    assert!(values.iter().any(|value| value.is_nan()) && values[7 * 20 + 10] > 0.0);
    let clouds = within(Density::cloud_in_cell()).inside(around_a_body());
    let clouds = clouds.on_grid(&positions, &lattice()).unwrap();
    assert!((clouds.integral.unwrap() - 501.0).abs() < 1e-9 && clouds.used == 501);
}

#[test]
fn regions_of_all_nodes_change_nothing() {
    let machine = Machine::flex(DType::F32);
    let positions = machine.tensor(&particles(200, &around_a_body(), true));
    for density in [Density::kde(Bandwidth::Scott), Density::sph(Kernel::WendlandC2, 0.2)] {
        let density = within(density);
        let inside = density.clone().inside(Region::new(|_| true));
        let [a, b] = [density, inside].map(|of| of.on_grid(&positions, &lattice()).unwrap());
        assert_eq!((numbers(&a.values), a.integral), (numbers(&b.values), b.integral));
    }
}

#[test]
fn particles_far_from_the_region_are_left_out() {
    let machine = Machine::flex(DType::F64);
    // One in the wall, next to the region, and one far in it.
    let positions = machine.tensor(&[[0.3, 0.5, 0.0], [0.97, 0.5, 0.0], [1.5, 0.5, 0.0]]);
    let density =
        within(Density::kde(Bandwidth::Fixed(0.1)).inside(Region::new(|[x, ..]| x < 0.95)));
    let estimate = density.on_grid(&positions, &lattice()).unwrap();
    assert_eq!((estimate.used, estimate.left_out, estimate.total), (2, 1, 2.0));
    assert!((estimate.integral.unwrap() - 1.0).abs() < 1e-12);
    let none = density.inside(Region::new(|_| false)).on_grid(&positions, &lattice());
    assert!(none.unwrap_err().to_string().contains("no particle has a weight"));
}

#[test]
fn wide_kernels_on_fine_nodes_are_refused() {
    let positions = Machine::flex(DType::F64).tensor(&[[0.3, 0.5, 0.0]]);
    let density = within(Density::kde(Bandwidth::Fixed(100.0)).inside(around_a_body()));
    let error = density.on_grid(&positions, &lattice()).unwrap_err().to_string();
    assert!(error.contains("steps between nodes; give fewer nodes"), "{error}");
    let narrow = density.bandwidth(Bandwidth::Fixed(1e-6));
    let slice = Lattice { counts: [2, 1, 1], low: LOW, high: [2.0, 0.0, 0.0] };
    let error = narrow.on_grid(&positions, &slice).unwrap_err().to_string();
    assert!(error.contains("needs a lattice of"), "{error}");
}

/// Land on a sphere: longitudes 20 to 60 degrees between the latitudes 0 and 70.
#[test]
fn land_on_a_sphere_keeps_the_mass_in_the_sea() {
    let sea = |[lon, lat, _]: [f64; 3]| {
        let lon = (lon + 180.0).rem_euclid(360.0) - 180.0;
        !((20.0..60.0).contains(&lon) && (0.0..70.0).contains(&lat))
    };
    let mut random = Random(4);
    let mut at = || {
        let [lon, sin] = [random.uniform(), random.uniform()];
        [360.0 * lon - 180.0, (2.0 * sin - 1.0).asin().to_degrees(), 0.0]
    };
    let all: Vec<_> = std::iter::repeat_with(&mut at).filter(|at| sea(*at)).take(2000).collect();
    let edges = [[Edge::Periodic; 2], [Edge::Reflecting; 2], [Edge::Open; 2]];
    let (low, high) = ([-180.0, -90.0, 0.0], [180.0, 90.0, 0.0]);
    let lattice = Lattice { counts: [181, 91, 1], low, high };
    for dtype in [DType::F32, DType::F64] {
        let machine = Machine::flex(dtype);
        let positions = machine.tensor(&all);
        let density = Density::kde(Bandwidth::Fixed(6e5)).axes(Axes::XY).within(low, high, edges);
        let density = density.on_sphere(burntrace_core::EARTH_RADIUS);
        // A wall of one node.
        let island = |[lon, lat, _]: [f64; 3]| lon.abs() > 0.5 || (lat + 60.0).abs() > 0.5;
        let everywhere = density.clone().inside(Region::new(island));
        let [exact, found] =
            [&density, &everywhere].map(|density| density.on_grid(&positions, &lattice).unwrap());
        let [a, b] = [&found, &exact].map(|estimate| numbers(&estimate.values));
        let is_far = |at: [f64; 3]| at[0].abs() > 60.0 || at[1] > -30.0;
        let far = nodes(&lattice).into_iter().zip(a.iter().zip(&b)).filter(|(at, _)| is_far(*at));
        let off = far.map(|(_, (a, b))| (a - b).abs()).fold(0.0, f64::max) / max(&b);
        assert!(off < 0.04, "{off}");
        let plain = density.clone();
        let estimate = density.inside(Region::new(sea)).on_grid(&positions, &lattice).unwrap();
        let bound = if dtype == DType::F32 { 1e-5 } else { 1e-11 };
        let integral = estimate.integral.unwrap();
        assert!((integral - 1.0).abs() < bound, "{integral}");
        let values = numbers(&estimate.values);
        assert!(values[(45 + 20) * 181 + 110].is_nan() && estimate.left_out == 0);
        // Parts of the sphere with a small island, across the seam and at a pole, as grids and as points.
        for (part, [lon, lat]) in [
            ([[150.0, 40.0], [210.0, 70.0]], [180.0, 56.0]),
            ([[0.0, 80.0], [30.0, 90.0]], [14.0, 82.0]),
        ] {
            let [low, high] = part.map(|[lon, lat]| [lon, lat, 0.0]);
            let counts = [0, 1].map(|d| (0.5 * (high[d] - low[d])) as usize + 1);
            let part = Lattice { counts: [counts[0], counts[1], 1], low, high };
            let island = move |[x, y, _]: [f64; 3]| {
                (x.rem_euclid(360.0) - lon).abs() > 0.5 || (y - lat).abs() > 0.5
            };
            let exact = plain.on_grid(&positions, &part).unwrap();
            let inside = plain.clone().inside(Region::new(island));
            let grid = inside.on_grid(&positions, &part).unwrap();
            let points = inside.at(&positions, &machine.tensor(&nodes(&part))).unwrap();
            let off = [&grid, &points].map(|found| deviation(found, &exact));
            assert!(off.iter().all(|off| *off < 0.1), "{off:?}");
        }
    }
}

#[test]
fn spacing_is_the_bandwidth_of_neighbours() {
    use burntrace_analysis::density::Rule;
    let mut random = Random(5);
    let mut normals = random.normals(4000, [0.0; 3], [1.0, 0.2, 0.0]);
    let of = |positions: &[[f64; 3]], dtype: DType, bandwidth: Bandwidth| {
        let lattice = Lattice { counts: [41, 41, 1], low: [-4.0; 3], high: [4.0; 3] };
        let density = Density::kde(bandwidth).axes(Axes::XY);
        density.on_grid(&Machine::flex(dtype).tensor(positions), &lattice).unwrap()
    };
    for dtype in [DType::F32, DType::F64] {
        let [spacing, scott] =
            [Bandwidth::Spacing, Bandwidth::Scott].map(|rule| of(&normals, dtype, rule));
        assert_eq!((spacing.rule, scott.rule), (Some(Rule::Spacing), Some(Rule::Scott)));
        for d in 0..2 {
            let ratio = spacing.bandwidth[d] / scott.bandwidth[d];
            assert!((ratio - 1.0).abs() < 0.1, "{dtype:?}, {d}: {ratio}");
        }
    }
    let single = of(&normals, DType::F32, Bandwidth::Spacing).bandwidth;
    let double = of(&normals, DType::F64, Bandwidth::Spacing).bandwidth;
    assert!((0..2).all(|d| (single[d] / double[d] - 1.0).abs() < 1e-5));
    // Particles without a position do not count.
    normals.extend([[f64::NAN; 3]; 5]);
    assert_eq!(of(&normals, DType::F64, Bandwidth::Spacing).bandwidth, double);
    // Most at one position.
    let few: Vec<_> = (0..100).map(|i| [f64::from(i / 90), f64::from(i / 80), 0.0]).collect();
    let estimate = of(&few, DType::F64, Bandwidth::Spacing);
    assert_eq!(estimate.rule, Some(Rule::Scott));
    assert_eq!(estimate.bandwidth, of(&few, DType::F64, Bandwidth::Scott).bandwidth);
    assert_eq!(of(&few, DType::F64, Bandwidth::Fixed(1.0)).rule, Some(Rule::Given));
}

/// A cloud around a position on a sphere has about Scott's bandwidth, two far clouds that of one.
#[test]
fn spacing_on_a_sphere_is_that_of_neighbours_on_it() {
    let machine = Machine::flex(DType::F64);
    let cloud = |n: usize, at: [f64; 3]| {
        Random(6).normals(n, at, [1.0 / at[1].to_radians().cos(), 1.0, 0.0])
    };
    let of = |positions: &[[f64; 3]], bandwidth: Bandwidth| {
        let density = Density::kde(bandwidth).axes(Axes::XY);
        let density = density.on_sphere(burntrace_core::EARTH_RADIUS);
        let at = machine.tensor(&[[10.0, 50.0, 0.0]]);
        density.at(&machine.tensor(positions), &at).unwrap().bandwidth[0]
    };
    let one = cloud(2000, [10.0, 50.0, 0.0]);
    let ratio = of(&one, Bandwidth::Spacing) / of(&one, Bandwidth::Scott);
    assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    let two = [one.clone(), cloud(2000, [-120.0, 20.0, 0.0])].concat();
    let ratio = of(&two, Bandwidth::Spacing) / of(&one, Bandwidth::Scott);
    assert!((0.8..1.4).contains(&ratio), "{ratio}");
    assert!(of(&two, Bandwidth::Scott) > 10.0 * of(&one, Bandwidth::Scott));
}
