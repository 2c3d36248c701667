//! Finite-time Lyapunov exponents of flows with known exponents.

use crate::common::*;
use burn::tensor::{Tensor, TensorData};
use burntrace::analysis::ftle::{Direction, FlowMap, Ftle, Lattice, Stencil};
use burntrace::{
    Domain, Engine, FLOW_MAP_GRADIENT, Field, FieldFn, Flow, GridPlacement, Placement, SaveAt,
    Seeds, Status, Tracer,
};
use std::f64::consts::{PI, TAU};

fn numbers(ftle: &Ftle) -> Vec<f64> {
    floats(ftle.values())
}

/// The flow map of the seeds of a stencil.
fn follow(
    tracer: Tracer,
    lattice: &Lattice,
    stencil: Stencil,
    [t0, time]: [f64; 2],
    count: u64,
) -> FlowMap {
    let tracer = tracer.span(steps(t0, t0 + time, count)).save(SaveAt::End);
    let tracks = tracer.trace(&lattice.seeds(stencil).unwrap()).unwrap();
    let save = tracks.saves().last().unwrap();
    FlowMap::of_save(lattice, stencil, save, tracks.periods(), time).unwrap()
}

/// The flow map of seeds on the nodes, by gradients that are carried along.
fn follow_gradients(
    tracer: Tracer,
    lattice: &Lattice,
    [t0, time]: [f64; 2],
    count: u64,
) -> FlowMap {
    let tracer = tracer.span(steps(t0, t0 + time, count)).save(SaveAt::End);
    let seeds = lattice.seeds(Stencil::Neighbours).unwrap();
    let tracks = tracer.flow_map_gradient(true).trace(&seeds).unwrap();
    let gradients = tracks.array(FLOW_MAP_GRADIENT).unwrap().narrow(0, 0, 1).squeeze_dim(0);
    FlowMap::of_gradients(lattice, gradients, time).unwrap()
}

/// Linear flows are exact on a grid of two nodes along each axis, and their exponent is the same everywhere.
#[test]
fn exponents_of_linear_flows_match_the_formula() {
    type Velocity = fn([f64; 3]) -> [f64; 3];
    // For u = g y the exponent is asinh(g T / 2) / T.
    let sheared = 1.5_f64.asinh() / 3.0;
    let flows: [(&str, Velocity, f64, f64); 4] = [
        ("saddle", |[x, y, _]| [0.5 * x, -0.5 * y, 0.0], 3.0, 0.5),
        ("shear", |[_, y, _]| [y, 0.0, 0.0], 3.0, sheared),
        ("rotation", |[x, y, _]| [y, -x, 0.0], TAU, 0.0),
        ("rest", |_| [0.0; 3], 1.0, 0.0),
    ];
    near("shear", sheared, 0.398_254_405_8, 1e-10);
    for machine in machines() {
        for (name, velocity, time, exact) in &flows {
            let axes = [vec![-32.0, 32.0], vec![-32.0, 32.0], vec![0.0]];
            let frames = Frames::new(axes, Placement::Nodes, &[0.0], |p, _| velocity(p));
            let field = machine.field(&frames);
            let (low, high) = ([-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]);
            let lattice = Lattice::new(low, high, [5, 4, 1], GridPlacement::Corners).unwrap();
            for time in [*time, -time] {
                let found = follow_gradients(Tracer::new(&field), &lattice, [0.0, time], 400);
                for value in numbers(&found.ftle().unwrap()) {
                    // The derivatives are up to e^1.5, of which each step loses a rounding.
                    let bound = 400.0 * machine.eps() / time.abs() + 1e-8;
                    near(&format!("{machine}, {name}, gradients, {time}"), value, *exact, bound);
                }
            }
            for stencil in [Stencil::Neighbours, Stencil::Auxiliary(0.0625)] {
                for time in [*time, -time] {
                    let tracer = Tracer::new(&field);
                    let found = follow(tracer, &lattice, stencil, [0.0, time], 400);
                    let ftle = found.ftle().unwrap();
                    assert_eq!((ftle.missing(), ftle.lattice().len()), (0, 20));
                    let is_back = ftle.direction() == Direction::Backward;
                    assert_eq!(is_back, time < 0.0);
                    for value in numbers(&ftle) {
                        // 400 roundings of positions up to 8, over differences of 1/8, and the error of RK4.
                        let bound = 400.0 * 8.0 * machine.eps() / 0.125 / time.abs() + 1e-8;
                        let what = format!("{machine}, {name}, {stencil:?}, {time}");
                        near(&what, value, *exact, bound.min(1e-2));
                    }
                }
            }
        }
    }
}

fn near(what: &str, found: f64, exact: f64, bound: f64) {
    assert_below(&format!("{what}: {found}, expected {exact}"), (found - exact).abs(), bound);
}

/// Linear flows in space: the flow map of a matrix A is exp(A T). Here A = R D R^T with a rotation R; its
/// maximum rate is 0.5 forward and 0.75 backward, and a second case has two equal rates.
#[test]
fn exponents_in_space_are_the_maximum_rates() {
    let [c, s] = [0.6, 0.8];
    // Columns of a rotation: about z, then about x.
    let rotation = [[c, -s * c, s * s], [s, c * c, -s * c], [0.0, s, c]];
    for machine in machines() {
        for (rates, expected) in
            [([0.5, -0.75, 0.25], [0.5, 0.75]), ([0.25, 0.25, -0.5], [0.25, 0.5])]
        {
            let matrix: [[f64; 3]; 3] = [0, 1, 2].map(|i| {
                [0, 1, 2].map(|j| (0..3).map(|k| rotation[i][k] * rates[k] * rotation[j][k]).sum())
            });
            let axes = [0, 1, 2].map(|_| vec![-16.0, 16.0]);
            let frames = Frames::new(axes, Placement::Nodes, &[0.0], |p, _| {
                [0, 1, 2].map(|i| (0..3).map(|j| matrix[i][j] * p[j]).sum())
            });
            let field = machine.field(&frames);
            let lattice =
                Lattice::new([-1.0; 3], [1.0; 3], [3, 4, 2], GridPlacement::Centres).unwrap();
            for stencil in [Stencil::Neighbours, Stencil::Auxiliary(0.125)] {
                for (time, exact) in [2.0, -2.0].into_iter().zip(expected) {
                    let tracer = Tracer::new(&field);
                    let ftle = follow(tracer, &lattice, stencil, [0.0, time], 200).ftle().unwrap();
                    assert_eq!(ftle.missing(), 0);
                    for value in numbers(&ftle) {
                        let bound = 200.0 * 4.0 * machine.eps() / 0.25 / 2.0 + 1e-9;
                        near(&format!("{machine}, {stencil:?}, {time}"), value, exact, bound);
                    }
                }
            }
        }
    }
}

/// The analytic double gyre, in double precision, in an unbounded plane.
fn double_gyre(epsilon: f64) -> impl Field {
    let device = burntrace::device::open("flex").unwrap().device;
    let flow = Flow::DoubleGyre { amplitude: 0.1, epsilon, omega: TAU / 10.0 };
    let velocity = move |p, t| flow.velocity(p, t);
    FieldFn::new(Domain::unbounded(), &device, burntrace::Precision::F64, velocity)
}

/// A lattice of one node.
fn at([x, y]: [f64; 2]) -> Lattice {
    let (low, high) = ([x - 0.25, y - 0.25, 0.0], [x + 0.25, y + 0.25, 0.0]);
    Lattice::new(low, high, [1, 1, 1], GridPlacement::Centres).unwrap()
}

/// Reference exponents from the analytic flow by the variational equation, without interpolation.
const DOUBLE_GYRE: [([f64; 2], f64, f64); 7] = [
    ([0.5, 0.5], 10.0, 0.226_884_459_0),
    ([1.0, 0.5], 10.0, 0.118_175_761_2),
    ([0.6, 0.3], 10.0, 0.225_396_592_6),
    ([1.5, 0.25], 10.0, 0.053_379_273_1),
    ([0.5, 0.5], 15.0, 0.163_302_360_9),
    ([0.6, 0.3], 15.0, 0.183_063_445_4),
    ([0.6, 0.3], -10.0, 0.242_566_773_9),
];

/// Auxiliary particles at 1e-5: the error is the square of the distance, plus rounding over the distance.
/// Every device computes the exponents from the same positions.
#[test]
fn auxiliary_stencil_matches_double_gyre_exponents() {
    let field = double_gyre(0.25);
    let machines = machines();
    for (point, time, exact) in DOUBLE_GYRE {
        let (lattice, stencil) = (at(point), Stencil::Auxiliary(1e-5));
        let tracer = Tracer::new(&field).engine(Engine::Tensor);
        let seeds = lattice.seeds(stencil).unwrap();
        let tracer = tracer.span(steps(0.0, time, 600)).save(SaveAt::End);
        let tracks = tracer.trace(&seeds).unwrap();
        let ends = rows(tracks.saves()[0].position.clone());
        for machine in machines.iter().filter(|machine| machine.is_double()) {
            let data = TensorData::new(ends.as_flattened().to_vec(), [ends.len(), 3]);
            let dtype = machine.precision.dtype();
            let end = Tensor::<2>::from_data(data, (&machine.device, dtype));
            let ftle = FlowMap::new(&lattice, stencil, end, time).unwrap().ftle().unwrap();
            let found = numbers(&ftle)[0];
            eprintln!("{machine}, {point:?}, {time}: error {:.1e}", (found - exact).abs());
            near(&format!("{machine}, {point:?}, {time}"), found, exact, 2e-8);
        }
    }
}

/// Central differences on a lattice with a spacing of 0.001, in each precision. The error is the square of
/// the spacing, and in single precision the rounding of positions, 6e-8 / 0.002 relative to a gradient
/// of 3 to 10.
#[test]
fn neighbour_stencil_on_a_fine_lattice_matches_double_gyre_exponents() {
    let field = double_gyre(0.25);
    let half = 0.002;
    for ([x, y], time, exact) in DOUBLE_GYRE {
        let (low, high) = ([x - half, y - half, 0.0], [x + half, y + half, 0.0]);
        let lattice = Lattice::new(low, high, [5, 5, 1], GridPlacement::Corners).unwrap();
        let tracer = Tracer::new(&field).engine(Engine::Tensor);
        let tracer = tracer.span(steps(0.0, time, 300)).save(SaveAt::End);
        let tracks = tracer.trace(&lattice.seeds(Stencil::Neighbours).unwrap()).unwrap();
        let ends = rows(tracks.saves()[0].position.clone());
        for machine in machines() {
            let data = machine.precision.dtype();
            let numbers_of = ends.as_flattened().to_vec();
            let end = Tensor::<2>::from_data(
                TensorData::new(numbers_of, [ends.len(), 3]),
                (&machine.device, data),
            );
            let map = FlowMap::new(&lattice, Stencil::Neighbours, end, time).unwrap();
            let ftle = map.ftle().unwrap();
            assert_eq!(ftle.missing(), 0);
            let found = floats(ftle.grid())[12];
            eprintln!("{machine}, ({x}, {y}), {time}: error {:.1e}", (found - exact).abs());
            near(&format!("{machine}, ({x}, {y}), {time}"), found, exact, 2e-4);
        }
    }
}

/// At the separation point on the wall the exponent is pi^2 A for all times.
#[test]
fn steady_double_gyre_exponent_at_the_wall_is_the_velocity_gradient() {
    let field = double_gyre(0.0);
    let lattice = at([1.0, 0.0]);
    let tracer = Tracer::new(&field).engine(Engine::Tensor);
    let found = follow(tracer, &lattice, Stencil::Auxiliary(1e-6), [0.0, 2.0], 200);
    near("wall", numbers(&found.ftle().unwrap())[0], PI * PI * 0.1, 1e-6);
}

/// On every device, from a grid of 201 x 101 nodes and 181 frames: in double precision about the maximum
/// buffer size of llvmpipe (128 MiB). Bilinear interpolation has an error in the gradient of at most h / 2
/// times the second derivative, 0.005 x 3.1, which averages out over many cells. Auxiliary particles are
/// about a cell apart. A Python program finds the same errors: 9.2e-5, 7.5e-5, 4.2e-4, 7.2e-5.
#[test]
fn double_gyre_exponents_on_a_grid_match_the_reference() {
    for machine in machines() {
        let flow = Flow::named("double-gyre").unwrap();
        let times: Vec<f64> = (0..=180).map(|k| f64::from(k) / 18.0).collect();
        let mut frames =
            burntrace::Analytic::sample(flow.clone(), flow.domain(), [201, 101, 1], times).unwrap();
        let options =
            burntrace::FieldOptions { precision: machine.precision, ..Default::default() };
        let field = burntrace::GridField::load(&mut frames, &machine.device, &options).unwrap();
        for (point, time, exact) in DOUBLE_GYRE.into_iter().filter(|(_, t, _)| *t == 10.0) {
            let stencil = Stencil::Auxiliary(1.0 / 256.0);
            let map = follow(Tracer::new(&field), &at(point), stencil, [0.0, time], 1000);
            let found = numbers(&map.ftle().unwrap())[0];
            eprintln!("{machine}, {point:?}: error {:.1e}", (found - exact).abs());
            near(&format!("{machine}, {point:?}"), found, exact, 5e-4);
            // The carried gradient has the jumps of that of the field between cells.
            let map = follow_gradients(Tracer::new(&field), &at(point), [0.0, time], 1000);
            let found = numbers(&map.ftle().unwrap())[0];
            eprintln!("{machine}, {point:?}, gradients: error {:.1e}", (found - exact).abs());
            near(&format!("{machine}, {point:?}, gradients"), found, exact, 2e-3);
        }
    }
}

/// A particle that has left has no exponent, and its neighbours use one-sided differences.
#[test]
fn exited_particles_have_no_exponent() {
    for machine in machines() {
        let axes = [vec![-1.0, 1.0], vec![-1.0, 1.0], vec![0.0]];
        let frames = Frames::new(axes, Placement::Nodes, &[0.0], |[x, y, _], _| [x, -y, 0.0]);
        let field = machine.field(&frames);
        let (low, high) = ([-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]);
        let lattice = Lattice::new(low, high, [8, 4, 1], GridPlacement::Centres).unwrap();
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 100)).save(SaveAt::End);
        let seeds: Seeds = lattice.seeds(Stencil::Neighbours).unwrap();
        let tracks = tracer.trace(&seeds).unwrap();
        let ended = tracks.ends().status.iter().filter(|status| **status != Status::Active).count();
        // Particles released beyond 1 / e have left: two columns of eight remain, 1/8 from the centre.
        assert_eq!(ended, 24);
        let save = &tracks.saves()[0];
        let map = FlowMap::of_save(&lattice, Stencil::Neighbours, save, [0.0; 3], 1.0).unwrap();
        let ftle = map.ftle().unwrap();
        assert_eq!(ftle.missing(), 24, "{machine}");
        let values = numbers(&ftle);
        for (i, value) in values.iter().enumerate() {
            match tracks.ends().status[i] {
                Status::Active => {
                    near(&format!("{machine}"), *value, 1.0, 1e-7 + 400.0 * machine.eps())
                }
                _ => assert!(value.is_nan(), "{machine}: {value}"),
            }
        }
        assert_eq!(ftle.grid().dims(), [1, 4, 8]);
    }
}

/// Particles that cross a periodic box twice in uniform flow keep their distances.
#[test]
fn exponent_is_zero_in_uniform_flow_through_a_periodic_box() {
    for machine in machines() {
        let frames = Frames::uniform([0.0; 3], [1.0; 3], &[0.0], |_| [0.75, 0.5, 0.25]);
        let field = machine.field(&frames);
        let lattice = Lattice::new([0.0; 3], [1.0; 3], [4, 2, 3], GridPlacement::Centres).unwrap();
        let tracer = Tracer::new(&field).all_faces(burntrace::BoundaryCondition::Periodic);
        let map = follow(tracer, &lattice, Stencil::Neighbours, [0.0, 3.0], 48);
        let ftle = map.ftle().unwrap();
        assert_eq!(ftle.missing(), 0);
        for value in numbers(&ftle) {
            near(&format!("{machine}"), value, 0.0, 100.0 * machine.eps());
        }
    }
}
