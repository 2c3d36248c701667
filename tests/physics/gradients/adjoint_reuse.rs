//! The fused adjoint in slots that are re-used: outlets, sources, and the release positions of inlets.

use super::adjoint::{Make, kinds, tensor, values_of, weights};
use crate::common::*;
use burn::tensor::{Device, Tensor};
use burntrace::{
    BoundaryCondition, Engine, Error, Face, Field, Inlet, Pattern, RandomWalk, SaveAt, Scheme,
    Seeds, Source, Tolerance, Tracer, Tracks,
};

/// Not at coordinates of nodes, where the slope of a velocity jumps.
const POINTS: [[f64; 3]; 4] =
    [[0.35, 0.4, 0.48], [0.6, 0.55, 0.35], [0.45, 0.7, 0.65], [0.75, 0.3, 0.45]];

/// The sum of all coordinates, each with a weight of its own, without those of empty slots.
fn loss(tracks: &Tracks) -> Tensor<1> {
    let positions = tracks.positions();
    let dims = positions.dims();
    let is_empty = positions.clone().is_nan();
    let positions = positions.mask_fill(is_empty, 0.0);
    let weights = tensor(weights(dims.iter().product()), dims, &positions.device());
    (positions * weights).sum()
}

/// How slots are re-used.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reuse {
    /// Releases at times of a table; the particles leave.
    Source,
    /// A particle follows at once one that has left.
    Outlet,
    /// So it does, and an operation after each step moves particles.
    OutletAndOperation,
}

/// The inputs of a run that may be tracked.
#[derive(Clone)]
struct Inputs {
    seeds: Tensor<2>,
    values: Tensor<3>,
    points: Tensor<2>,
}

impl Inputs {
    fn new(count: usize, device: &Device) -> Self {
        let seeds = Dice(3).points([0.3, 0.3, 0.3], [1.7, 0.7, 0.7], 5).into_flattened();
        Inputs {
            seeds: tensor(seeds, [5, 3], device),
            values: tensor(values_of(count), [3, count, 3], device),
            points: tensor(POINTS.as_flattened().to_vec(), [4, 3], device),
        }
    }

    fn tracked(self) -> Self {
        Inputs {
            seeds: self.seeds.require_grad(),
            values: self.values.require_grad(),
            points: self.points.require_grad(),
        }
    }

    /// All numbers, moved along a direction.
    fn moved(self, step: f64, directions: &[Vec<f64>; 3]) -> Self {
        let [seeds, values, points] = directions.each_ref().map(|d| d.iter().map(|x| x * step));
        let device = self.seeds.device();
        Inputs {
            seeds: self.seeds.clone() + tensor(seeds.collect(), self.seeds.dims(), &device),
            values: self.values.clone() + tensor(values.collect(), self.values.dims(), &device),
            points: self.points.clone() + tensor(points.collect(), self.points.dims(), &device),
        }
    }
}

/// A fast flow along x, in which each slot has several instances.
fn run(
    field: &dyn Field,
    inputs: &Inputs,
    (reuse, engine, is_adaptive): (Reuse, Engine, bool),
) -> Tracks {
    let inlet = Inlet::from_tensor(inputs.points.clone(), Pattern::Uniform).unwrap();
    let mut tracer = Tracer::new(field)
        .drift([4.1, 0.0, 0.0])
        .span(steps(0.1, 1.4, 13))
        .save(SaveAt::EverySteps(2))
        .engine(engine);
    // Meshes fill their box: particles meet its faces.
    tracer =
        tracer.all_faces(BoundaryCondition::Reflect).face(Face::XHigh, BoundaryCondition::Exit);
    tracer = match reuse {
        Reuse::Source => tracer.source(Source::constant(inlet, 5.3, 3).unwrap()),
        _ => tracer.outlet(Face::XHigh, inlet),
    };
    if reuse == Reuse::OutletAndOperation {
        tracer = tracer.each_step(|step| step.after + step.before.sin() * 0.4 * step.dt);
    }
    if is_adaptive {
        tracer = tracer.scheme(Scheme::DormandPrince).tolerance(Tolerance::new(1e-6, 1e-6));
    } else {
        tracer = tracer.random_walk(RandomWalk::isotropic(0.0005, 3));
    }
    let tracks = tracer.trace(&Seeds::from_tensor(inputs.seeds.clone()).unwrap()).unwrap();
    assert_eq!(tracks.summary().unwrap().engine, engine);
    tracks
}

fn directions(count: usize) -> [Vec<f64>; 3] {
    [5, 3 * count, 4].map(|n| Dice(90).points([-1.0; 3], [1.0; 3], n).into_flattened())
}

/// Times of releases do not depend on anything else in a source.
#[test]
fn gradients_of_sources_match_central_differences() {
    let case = (Reuse::Source, Engine::Fused, false);
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        for (name, count, make) in kinds() {
            let inputs = Inputs::new(count, &device).tracked();
            let field = make(inputs.values.clone());
            let tracks = run(&*field, &inputs, case);
            let instances = tracks.instances().len();
            assert!(instances > 8, "{name}: {instances} instances");
            let gradients = loss(&tracks).backward();
            let by = [
                floats(inputs.seeds.grad(&gradients).unwrap()),
                floats(inputs.values.grad(&gradients).unwrap()),
                floats(inputs.points.grad(&gradients).unwrap()),
            ];
            assert!(by[2].iter().filter(|x| **x != 0.0).count() > 6, "{name}: {:?}", by[2]);
            let directions = directions(count);
            let step = 1e-6;
            for which in 0..3 {
                // One kind of inputs at a time.
                let along = std::array::from_fn(|k| {
                    let zero = vec![0.0; directions[k].len()];
                    if k == which { directions[k].clone() } else { zero }
                });
                let at = |sign: f64| {
                    let inputs = Inputs::new(count, &machine.device).moved(sign * step, &along);
                    let field = make(inputs.values.clone());
                    floats(loss(&run(&*field, &inputs, case)))[0]
                };
                let difference = (at(1.0) - at(-1.0)) / (2.0 * step);
                let found: f64 = by[which].iter().zip(&directions[which]).map(|(g, d)| g * d).sum();
                let what = format!("{machine}, {name}, {which}: {found}, {difference}");
                let size = difference.abs().max(1.0);
                assert_below(&what, (found - difference).abs() / size, 1e-7);
            }
        }
    }
}

/// The gradients by seeds and values; points of inlets are constants for the tensor engine.
fn by_engine(
    machine: &Machine,
    (name, count, make): (&str, usize, &Make),
    case: (Reuse, Engine, bool),
) -> Vec<f64> {
    let device = machine.device.clone().autodiff();
    let inputs = Inputs::new(count, &device).tracked();
    let inputs = Inputs { points: Inputs::new(count, &machine.device).points, ..inputs };
    let tracks = run(&*make(inputs.values.clone()), &inputs, case);
    let again = tracks.instances().iter().filter(|instance| instance.generation > 0).count();
    assert!(again > 2, "{name}, {case:?}: {again} instances in slots that are re-used");
    let gradients = loss(&tracks).backward();
    let by_seeds = floats(inputs.seeds.grad(&gradients).unwrap());
    [by_seeds, floats(inputs.values.grad(&gradients).unwrap())].concat()
}

/// The time of a re-injection counts as a constant.
#[test]
fn gradients_in_reused_slots_match_those_of_the_tensor_engine() {
    let cases = [
        ("nodes", Reuse::Outlet, false),
        ("nodes", Reuse::OutletAndOperation, false),
        ("nodes", Reuse::Source, true),
        ("nodes", Reuse::Outlet, true),
        ("tetrahedra", Reuse::Outlet, false),
    ];
    let machine = &exact_machines()[0];
    for (name, reuse, is_adaptive) in cases {
        let kind = kinds().into_iter().find(|kind| kind.0 == name).unwrap();
        let of =
            |engine| by_engine(machine, (name, kind.1, &*kind.2), (reuse, engine, is_adaptive));
        let (fused, expected) = (of(Engine::Fused), of(Engine::Tensor));
        let size = expected.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
        let off = fused.iter().zip(&expected).map(|(a, b)| (a - b).abs());
        let what = format!("{machine}, {name}, {reuse:?}, adaptive: {is_adaptive}");
        assert_below(&what, off.fold(0.0, f64::max) / size, 1e-10);
    }
}

/// In a uniform flow, a position depends on the point of its release alone, and so do all after it.
#[test]
fn gradient_by_the_points_of_an_outlet_is_exact_in_plug_flow() {
    for machine in exact_machines() {
        let source = Frames::uniform([0.0; 3], [2.0, 1.0, 1.0], &[0.0], |_| [0.7, 0.0, 0.0]);
        let field = machine.field(&source);
        let device = machine.device.clone().autodiff();
        let points = tensor(vec![0.5, 0.25, 0.5, 0.75, 0.5, 0.25], [2, 3], &device).require_grad();
        let inlet = Inlet::from_tensor(points.clone(), Pattern::Lattice).unwrap();
        let tracer = Tracer::new(&field)
            .outlet(Face::XHigh, inlet)
            .span(steps(0.0, 5.0, 140))
            .save(SaveAt::EverySteps(70));
        let seeds = Seeds::list(vec![[1.0, 0.5, 0.5], [1.9, 0.5, 0.5]]).unwrap();
        for (save, coordinate) in [(1, 0), (1, 2), (2, 1)] {
            // A backward pass consumes the graph of a run.
            let tracks = tracer.trace(&seeds).unwrap();
            let generations = integers(tracks.saves()[2].generation.clone().unwrap());
            assert_eq!(generations, [2, 3], "{machine}");
            let of_second =
                tracks.saves()[save].position.clone().slice([1..2, coordinate..coordinate + 1]);
            let found = floats(points.grad(&of_second.sum().backward()).unwrap());
            let expected: Vec<f64> =
                (0..6).map(|k| if k == 3 + coordinate { 1.0 } else { 0.0 }).collect();
            assert_eq!(found, expected, "{machine}, save {save}, coordinate {coordinate}");
        }
        let tensor = tracer.clone().engine(Engine::Tensor).trace(&seeds);
        assert!(matches!(tensor, Err(Error::Combination { .. })), "{tensor:?}");
    }
}

#[test]
fn gradients_in_reused_slots_have_the_same_bits_on_any_number_of_threads() {
    let machine = &exact_machines()[0];
    let device = machine.device.clone().autodiff();
    let bits = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (_, count, make) = kinds().swap_remove(0);
            let inputs = Inputs::new(count, &device).tracked();
            let seeds = Dice(3).points([0.3; 3], [1.7, 0.7, 0.7], 3000).into_flattened();
            let inputs =
                Inputs { seeds: tensor(seeds, [3000, 3], &device).require_grad(), ..inputs };
            let field = make(inputs.values.clone());
            let tracks = run(&*field, &inputs, (Reuse::Outlet, Engine::Fused, false));
            let gradients = loss(&tracks).backward();
            let by_points = floats(inputs.points.grad(&gradients).unwrap());
            [by_points, floats(inputs.values.grad(&gradients).unwrap())].concat()
        })
    };
    assert!(bits(1) == bits(3));
}
