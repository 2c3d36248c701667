//! Exponents of synthetic flow maps.

// Clippy does not treat test helpers as tests.
#![allow(clippy::unwrap_used)]

use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_analysis::ftle::{FlowMap, Lattice, Stencil};
use burntrace_core::{GridPlacement, Save, Status, sphere};

const AUXILIARY: Stencil = Stencil::Auxiliary(0.5);

/// One node in a box of 1 x 1 x 1 around the origin.
fn node() -> Lattice {
    Lattice::new([-0.5; 3], [0.5; 3], [1; 3], GridPlacement::Centres).unwrap()
}

fn tensor(rows: &[[f64; 3]], dtype: DType) -> Tensor<2> {
    let data = TensorData::new(rows.as_flattened().to_vec(), [rows.len(), 3]);
    Tensor::from_data(data, (&Device::flex(), dtype))
}

/// The exponent for T = 1 of a flow map with this gradient, and the number of undefined exponents.
fn of_gradient(gradient: [[f64; 3]; 3], dtype: DType) -> (f64, usize) {
    let seeds = node().seeds(AUXILIARY).unwrap();
    let map = |p: &[f64; 3]| gradient.map(|row| (0..3).map(|d| row[d] * p[d]).sum());
    let ends: Vec<[f64; 3]> = seeds.positions().iter().map(map).collect();
    let ftle = FlowMap::new(&node(), AUXILIARY, tensor(&ends, dtype), 1.0).unwrap().ftle().unwrap();
    let values = ftle.values().into_data().convert::<f64>().try_into_vec().unwrap();
    (values[0], ftle.missing())
}

/// A symmetric gradient with these eigenvalues: diagonal, rotated about x and then about z.
fn rotated(stretches: [f64; 3]) -> [[f64; 3]; 3] {
    let [c, s] = [0.6, 0.8];
    let rotation = [[c, -s * c, s * s], [s, c * c, -s * c], [0.0, s, c]];
    [0, 1, 2].map(|i| {
        [0, 1, 2].map(|j| (0..3).map(|k| rotation[i][k] * stretches[k] * rotation[j][k]).sum())
    })
}

/// Includes equal and widely separated eigenvalues.
#[test]
fn maximum_stretching_is_exact_to_rounding() {
    for (dtype, eps) in [(DType::F32, f64::from(f32::EPSILON)), (DType::F64, f64::EPSILON)] {
        for stretches in [
            [3.0, 3.0, 1.0],
            [3.0, 3.0 * (1.0 + 1e-6), 0.5],
            [2.0, 2.0, 2.0],
            [1e6, 1.0, 1e-6],
            [1e-3, 1e-4, 1e-5],
            [1e15, 1e15, 1.0],
        ] {
            let expected = stretches.into_iter().fold(0.0, f64::max).ln();
            let (found, missing) = of_gradient(rotated(stretches), dtype);
            let bound = 20.0 * eps + if dtype == DType::F64 { 256.0 * eps } else { 0.0 };
            let error = (found - expected).abs();
            assert!(error < bound * (1.0 + expected.abs()), "{dtype:?}, {stretches:?}: {error:e}");
            assert_eq!(missing, 0);
        }
        // All particles at one point.
        let (found, missing) = of_gradient([[0.0; 3]; 3], dtype);
        assert!(found.is_nan() && missing == 1, "{dtype:?}: {found}");
        let (found, missing) = of_gradient([[f64::NAN; 3]; 3], dtype);
        assert!(found.is_nan() && missing == 1, "{dtype:?}: {found}");
    }
}

/// For x^2 on a line of nodes central differences are exact. Differences are one-sided at the ends and
/// beside a missing node.
#[test]
fn differences_are_one_sided_beside_missing_nodes() {
    let lattice =
        Lattice::new([0.0; 3], [5.0, 0.0, 0.0], [6, 1, 1], GridPlacement::Corners).unwrap();
    let run = |gaps: &[usize]| -> (Vec<f64>, usize) {
        let position = |x: usize| {
            [(1.0 + x as f64).powi(2) / if gaps.contains(&x) { 0.0 } else { 1.0 }, 0.0, 0.0]
        };
        let ends: Vec<[f64; 3]> = (0..6).map(position).collect();
        let end = tensor(&ends, DType::F64);
        let ftle = FlowMap::new(&lattice, Stencil::Neighbours, end, -1.0).unwrap().ftle().unwrap();
        let values = ftle.values().into_data().try_into_vec::<f64>().unwrap();
        (values.into_iter().map(|l| l.exp().round()).collect(), ftle.missing())
    };
    assert_eq!(run(&[]), (vec![3.0, 4.0, 6.0, 8.0, 10.0, 11.0], 0));
    let (values, missing) = run(&[2]);
    assert_eq!((values[0], values[1], values[3], values[4]), (3.0, 3.0, 9.0, 10.0));
    assert!(values[2].is_nan() && missing == 1);
    let (values, missing) = run(&[1, 3]);
    // The first and the third node have no neighbours.
    assert_eq!((values[4], values[5], missing), (11.0, 11.0, 4));
}

/// Far from 0, the rests of positions have what single precision loses of a stretching.
#[test]
fn rests_of_saved_positions_count() {
    let (far, device) = (1e6, Device::flex());
    let lattice = Lattice::new([far; 3], [far + 1.0; 3], [1; 3], GridPlacement::Centres).unwrap();
    let seeds = lattice.seeds(AUXILIARY).unwrap();
    // Coordinates are multiples of 1/16 in single precision; the stretching is by 1.03.
    let ends: Vec<[f64; 3]> =
        seeds.positions().iter().map(|p| p.map(|x| far + 1.03 * (x - far))).collect();
    let rests = ends.iter().map(|p| p.map(|x| x - f64::from(x as f32))).collect::<Vec<_>>();
    let n = ends.len();
    let of_particles = |codes: Vec<i32>, width: usize| {
        TensorData::new(codes, if width == 1 { vec![n] } else { vec![n, width] })
    };
    let save = Save {
        index: 0,
        time: 1.0,
        first: 0,
        position: tensor(&ends, DType::F32),
        rest: Some(tensor(&rests, DType::F32)),
        status: Tensor::from_data(
            of_particles(vec![Status::Active.code(); n], 1),
            (&device, DType::I32),
        ),
        image: Tensor::from_data(of_particles(vec![0; 3 * n], 3), (&device, DType::I32)),
        velocity: None,
        generation: None,
        arrays: Vec::new(),
    };
    let map = FlowMap::of_save(&lattice, AUXILIARY, &save, [0.0; 3], 1.0).unwrap();
    let values = map.ftle().unwrap().values().into_data().convert::<f64>();
    let found = values.try_into_vec::<f64>().unwrap()[0];
    assert!((found - 1.03_f64.ln()).abs() < 1e-5, "{found}");
}

#[test]
fn errors_name_the_wrong_value_and_the_remedy() {
    let message = |lattice: &Lattice, stencil, rows: usize, time| {
        let end = tensor(&vec![[0.0; 3]; rows], DType::F64);
        FlowMap::new(lattice, stencil, end, time).unwrap_err().to_string()
    };
    let rows = message(&node(), AUXILIARY, 5, 1.0);
    assert!(rows.contains("[5, 3]") && rows.contains("[6, 3]"), "{rows}");
    assert!(message(&node(), AUXILIARY, 6, 0.0).contains("integration time is 0"));
    assert!(message(&node(), Stencil::Neighbours, 1, 1.0).contains("no axis for differences"));
    let distance = |d| node().seeds(Stencil::Auxiliary(d)).unwrap_err().to_string();
    assert!(distance(-1.0).contains("from their node is -1"));
    assert!(distance(f64::NAN).contains("NaN"));
    let high = Lattice::new([1e6; 3], [1e6 + 1.0; 3], [1; 3], GridPlacement::Centres).unwrap();
    let close = high.seeds(Stencil::Auxiliary(1e-12)).unwrap_err().to_string();
    assert!(close.contains("give a greater distance"), "{close}");
    let none = Lattice::new([0.0; 3], [1.0; 3], [2, 0, 2], GridPlacement::Corners).unwrap_err();
    assert!(none.to_string().contains("the seeds are not valid"), "{none}");
    let spacing =
        |points| Lattice::new([0.0; 3], [6.0, 0.0, 2.0], [3, 1, 2], points).unwrap().spacing();
    assert_eq!(spacing(GridPlacement::Corners), [3.0, 0.0, 2.0]);
    assert_eq!(spacing(GridPlacement::Centres), [2.0, 0.0, 1.0]);
}

/// A turn of the sphere stretches nothing, wherever it takes the nodes; longitudes times three do so threefold.
#[test]
fn exponents_on_a_sphere_are_of_lengths() {
    let radius = 6.371e6;
    let (low, high) = ([-5.0, 58.0, 0.0], [5.0, 62.0, 0.0]);
    let lattice = Lattice::new(low, high, [41, 17, 1], GridPlacement::Corners).unwrap();
    let seeds = lattice.seeds(Stencil::Neighbours).unwrap();
    let exponents = |map: &dyn Fn([f64; 3]) -> [f64; 3]| {
        let ends: Vec<[f64; 3]> = seeds.positions().iter().map(|p| map(*p)).collect();
        let end = tensor(&ends, DType::F64);
        let map = FlowMap::new(&lattice, Stencil::Neighbours, end, 2.0).unwrap().on_sphere(radius);
        let ftle = map.ftle().unwrap();
        assert_eq!(ftle.missing(), 0);
        ftle.values().into_data().convert::<f64>().try_into_vec::<f64>().unwrap()
    };
    let space = |p| sphere::in_space(radius, p);
    // Over the pole, by 40 degrees about the x axis.
    let turned = exponents(&|p| {
        let ([x, y, z], (sin, cos)) = (space(p), 40_f64.to_radians().sin_cos());
        [x, cos * y - sin * z, sin * y + cos * z]
    });
    // Differences on one side, at the ends of the lattice, are of first order.
    let worst = |values: &[f64]| values.iter().fold(0.0_f64, |worst, x| worst.max(x.abs()));
    let inner: Vec<f64> = turned
        .iter()
        .enumerate()
        .filter(|(i, _)| (1..40).contains(&(i % 41)))
        .map(|(_, x)| *x)
        .collect();
    assert!(worst(&inner) < 1e-5 && worst(&turned) < 1e-3, "{} {}", worst(&inner), worst(&turned));
    let stretched = exponents(&|[lon, lat, z]| space([3.0 * lon, lat, z]));
    let expected = 0.5 * 3_f64.ln();
    let errors: Vec<f64> = stretched.iter().map(|x| x - expected).collect();
    assert!(worst(&errors) < 1e-4, "{}", worst(&errors));
}

/// As [`exponents_on_a_sphere_are_of_lengths`], of gradients in degrees: those of longitudes times three, and of a move to a
/// latitude of 30 degrees less, where a degree of longitude is longer.
#[test]
fn exponents_of_gradients_on_a_sphere_are_of_lengths() {
    let (low, high) = ([-5.0, 60.0, 0.0], [5.0, 60.0, 0.0]);
    let lattice = Lattice::new(low, high, [5, 1, 1], GridPlacement::Corners).unwrap();
    let exponent = |stretch: f64, lat: f64| {
        let seeds = lattice.seeds(Stencil::Neighbours).unwrap();
        let ends: Vec<_> =
            seeds.positions().iter().map(|[lon, ..]| [stretch * lon, lat, 0.0]).collect();
        let gradients = [[stretch, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]; 5].concat();
        let gradients = Tensor::<2>::from_data(
            TensorData::new(gradients, [5, 9]),
            (&Device::flex(), DType::F64),
        );
        let map = FlowMap::of_gradients(&lattice, gradients, 2.0).unwrap();
        assert!(map.clone().on_sphere(6.371e6).ftle().is_err());
        assert!(map.clone().on_sphere_to(6.371e6, ends[1..].to_vec()).is_err());
        let ftle = map.on_sphere_to(6.371e6, ends).unwrap().ftle().unwrap();
        ftle.values().into_data().convert::<f64>().try_into_vec::<f64>().unwrap()[2]
    };
    assert!((exponent(3.0, 60.0) - 0.5 * 3_f64.ln()).abs() < 1e-12);
    let longer = (30_f64.to_radians().cos() / 60_f64.to_radians().cos()).ln();
    assert!((exponent(1.0, 30.0) - 0.5 * longer).abs() < 1e-12);
}
