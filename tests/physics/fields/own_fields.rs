//! Fields of the user's own: lost particles and gradients, tracked parameters, and invalid results.

use crate::common::*;
use burn::tensor::{Device, Tensor, TensorData};
use burntrace::{
    Adjoint, Allowed, Analytic, BoundaryCondition, Domain, Engine, Error, Face, Field, FieldFn,
    Flow, Inlet, InletShape, Obstacle, Pattern, Precision, RandomWalk, SaveAt, Scheme, Seeds,
    SeedsOutside, Shape, Source, Status, Tolerance, Tracer, Tracks,
};

fn columns(position: Tensor<2>) -> [Tensor<2>; 3] {
    [0, 1, 2].map(|d| position.clone().narrow(1, d, 1))
}

fn cube(half: f64) -> Domain {
    Domain { low: [-half; 3], high: [half; 3] }
}

/// A parameter of a field, tracked on an autodiff device.
fn parameter(machine: &Machine) -> Tensor<2> {
    let device = machine.device.clone().autodiff();
    Tensor::<2>::from_data(TensorData::new(vec![0.7], [1, 1]), (&device, machine.precision.dtype()))
        .require_grad()
}

// ---- lost particles ----

/// A flow along x with a tracked factor, in which one particle is lost.
struct LosingFlow {
    name: &'static str,
    /// The velocity along x for a factor of one.
    speed: fn(Tensor<2>) -> Tensor<2>,
    scheme: Scheme,
    /// Where the lost particle starts; the others start between 1 and 1.5.
    lost_from: f64,
    lost_as: Status,
}

const FLOWS: [LosingFlow; 6] = [
    LosingFlow {
        name: "NaN in the first step",
        speed: |x| x.sqrt().neg(),
        scheme: Scheme::Rk4,
        lost_from: -0.5,
        lost_as: Status::NonFinite,
    },
    LosingFlow {
        name: "NaN in a later stage of a later step",
        speed: |x| x.sqrt().neg(),
        scheme: Scheme::Rk4,
        lost_from: 0.02,
        lost_as: Status::NonFinite,
    },
    LosingFlow {
        name: "NaN in adaptive steps",
        speed: |x| x.sqrt().neg(),
        scheme: Scheme::DormandPrince,
        lost_from: 0.02,
        lost_as: Status::NonFinite,
    },
    LosingFlow {
        name: "division by zero",
        speed: |x| (x - 3.0).recip(),
        scheme: Scheme::Heun,
        lost_from: 3.0,
        lost_as: Status::NonFinite,
    },
    LosingFlow {
        name: "overflow",
        speed: |x| (x.powi_scalar(4) * 0.1).exp() * 0.1,
        scheme: Scheme::Rk4,
        lost_from: 8.0,
        lost_as: Status::NonFinite,
    },
    LosingFlow {
        name: "exit, and infinite velocity at the face",
        // Euler steps evaluate no stage beyond the face.
        speed: |x| (x.clone().lower_elem(10.0).float().cast(x.dtype()) * 0.5).recip(),
        scheme: Scheme::Euler,
        lost_from: 9.7,
        lost_as: Status::Exited(Face::XHigh),
    },
];

/// The gradient of a sum with respect to the factor, and the final statuses. The sum is over the
/// positions and velocities of all saves, without those of the particle `masked`, plus the factor.
fn gradient_of_factor(
    machine: &Machine,
    flow: &LosingFlow,
    points: Vec<[f64; 3]>,
    masked: Option<usize>,
) -> (f64, Vec<Status>) {
    let factor = parameter(machine);
    let velocity = |p: Tensor<2>, _| {
        let [x, y, z] = columns(p);
        Tensor::cat(vec![(flow.speed)(x) * factor.clone(), y * factor.clone(), z.zeros_like()], 1)
    };
    let field = FieldFn::new(cube(10.0), &factor.device(), machine.precision, velocity).steady();
    let tracer = Tracer::new(&field).scheme(flow.scheme).span(steps(0.0, 0.5, 10));
    let tracer = match flow.scheme {
        Scheme::DormandPrince => tracer.tolerance(Tolerance::new(1e-6, 1e-6)),
        _ => tracer,
    };
    let tracer = tracer.save(SaveAt::EverySteps(5)).save_velocity(true).allow_non_finite(true);
    let count = points.len();
    let tracks = tracer.trace(&Seeds::list(points).unwrap()).unwrap();
    let mask: Vec<i32> = (0..count).map(|row| i32::from(Some(row) == masked)).collect();
    let mask = Tensor::<2, burn::tensor::Int>::from_data(
        TensorData::new(mask, [count, 1]),
        (&factor.device(), burn::tensor::DType::I32),
    );
    let mask = mask.equal_elem(1).expand([count, 3]);
    let terms = tracks.saves().iter().flat_map(|save| {
        [save.position.clone(), save.velocity.clone().unwrap()]
            .map(|rows| rows.mask_fill(mask.clone(), 0.0).sum())
    });
    let gradients = terms.fold(factor.clone().sum(), |a, b| a + b).backward();
    (floats(factor.grad(&gradients).unwrap())[0], tracks.ends().status.clone())
}

#[test]
fn masked_lost_particle_leaves_the_gradient_of_a_shared_parameter_exact() {
    for machine in exact_machines() {
        for flow in &FLOWS {
            let mut points = Dice(41).points([1.0, -1.0, 0.0], [1.5, 1.0, 0.0], 100);
            points[37] = [flow.lost_from, 0.25, 0.0];
            let (found, status) = gradient_of_factor(&machine, flow, points.clone(), Some(37));
            let what = format!("{machine}, {}", flow.name);
            assert_eq!(status[37], flow.lost_as, "{what}");
            points.remove(37);
            let (expected, status) = gradient_of_factor(&machine, flow, points, None);
            assert!(status.iter().all(|status| *status == Status::Active), "{what}");
            assert!(expected.abs() > 1.0, "{what}: {expected}");
            assert_below(
                &format!("{what}: {found}, {expected}"),
                ((found - expected) / expected).abs(),
                1e-12,
            );
        }
    }
}

/// A single particle, so that no row is left in the step that loses it.
#[test]
fn particle_lost_in_the_first_step_does_not_depend_on_the_parameter() {
    for machine in exact_machines() {
        let (found, status) = gradient_of_factor(&machine, &FLOWS[0], vec![[-0.5, 0.2, 0.0]], None);
        assert_eq!(status, [Status::NonFinite], "{machine}");
        assert_eq!(found, 1.0, "{machine}");
    }
}

// ---- tracked parameters on plain devices ----

/// A shear flow with a tracked factor, on a device that may or may not track gradients.
fn sheared(machine: &Machine, device: &Device, factor: &Tensor<2>) -> impl Field + use<> {
    let factor = factor.clone();
    FieldFn::new(cube(10.0), device, machine.precision, move |p: Tensor<2>, t: f64| {
        let [x, y, z] = columns(p);
        Tensor::cat(vec![y.sin() * factor.clone(), x * t, z.zeros_like()], 1)
    })
}

/// Seeds of which one is released late.
fn staggered() -> Seeds {
    let points = Dice(42).points([-1.0, -1.0, 0.0], [1.0, 1.0, 0.0], 5);
    Seeds::list(points).unwrap().with_release(vec![0.0, 0.0, 0.37, 0.0, 0.0]).unwrap()
}

fn saving(field: &dyn Field) -> Tracer<'_> {
    Tracer::new(field).span(steps(0.0, 1.0, 8)).save(SaveAt::EverySteps(3)).save_velocity(true)
}

/// The gradient with respect to `factor` of the sum of the positions and velocities of all saves.
fn gradient_of_saves(tracks: &Tracks, factor: &Tensor<2>) -> f64 {
    let terms = tracks
        .saves()
        .iter()
        .flat_map(|save| [save.position.clone().sum(), save.velocity.clone().unwrap().sum()]);
    let gradients = terms.reduce(|a, b| a + b).unwrap().backward();
    floats(factor.grad(&gradients).unwrap())[0]
}

#[test]
fn tracked_parameter_keeps_its_gradient_in_a_field_on_a_plain_device() {
    for machine in exact_machines() {
        let gradient = |device: &Device| {
            let factor = parameter(&machine);
            let field = sheared(&machine, device, &factor);
            gradient_of_saves(&saving(&field).trace(&staggered()).unwrap(), &factor)
        };
        let expected = gradient(&machine.device.clone().autodiff());
        assert!(expected.abs() > 0.1, "{machine}: {expected}");
        assert_eq!(gradient(&machine.device), expected, "{machine}");
    }
}

/// Each particle is at a time of its own, so the field is asked for each of them.
#[test]
fn gradient_of_adaptive_steps_is_the_sum_over_single_particles() {
    for machine in exact_machines() {
        let points = Dice(43).points([-1.0, -1.0, 0.0], [1.0, 1.0, 0.0], 5);
        let gradient = |points: Vec<[f64; 3]>| {
            let factor = parameter(&machine);
            let field = sheared(&machine, &factor.device(), &factor);
            let tracer = saving(&field).scheme(Scheme::DormandPrince);
            let tracer = tracer.tolerance(Tolerance::new(1e-9, 1e-9));
            gradient_of_saves(&tracer.trace(&Seeds::list(points).unwrap()).unwrap(), &factor)
        };
        let together = gradient(points.clone());
        let single: Vec<f64> = points.into_iter().map(|point| gradient(vec![point])).collect();
        let deviation = (together - single.iter().sum::<f64>()).abs();
        let size = single.iter().map(|part| part.abs()).sum::<f64>();
        assert!(size > 0.1, "{machine}: {single:?}");
        assert_below(&format!("{machine}: {together}, {single:?}"), deviation, 1e-13 * size);
    }
}

#[test]
fn parameter_of_an_operation_after_each_step_keeps_its_gradient() {
    for machine in exact_machines() {
        let gradient = |device: &Device| {
            let factor = parameter(&machine);
            let field = FieldFn::new(cube(10.0), device, machine.precision, |p: Tensor<2>, _| p);
            let tracer = saving(&field).each_step(|step| step.after * factor.clone());
            gradient_of_saves(&tracer.trace(&staggered()).unwrap(), &factor)
        };
        let expected = gradient(&machine.device.clone().autodiff());
        assert!(expected.abs() > 0.1, "{machine}: {expected}");
        assert_eq!(gradient(&machine.device), expected, "{machine}");
    }
}

#[test]
fn batches_that_would_cut_a_graph_are_refused() {
    for machine in exact_machines() {
        let factor = parameter(&machine);
        let field = sheared(&machine, &machine.device, &factor);
        let message = |tracer: Tracer| match tracer.batch(2).trace(&staggered()) {
            Err(error @ Error::Combination { .. }) => error.to_string(),
            other => panic!("{machine}: {other:?}"),
        };
        assert_contains(&message(saving(&field)), &["cut the graph", "omit the batch"]);
        let plain = FieldFn::new(cube(10.0), &machine.device, machine.precision, |p, _| p);
        assert!(saving(&plain).batch(2).trace(&staggered()).is_ok(), "{machine}");
        let hooked = saving(&plain).each_step(|step| step.after * factor.clone());
        assert_contains(&message(hooked), &["cut the graph", "omit the batch"]);
    }
}

// ---- invalid results ----

type Answer = fn(Tensor<2>, f64) -> Tensor<2>;

/// A field whose results can be invalid.
struct Own {
    machine: Machine,
    velocity: Answer,
    diffusivity: Option<Answer>,
}

impl Own {
    fn message(&self, refine: impl Fn(Tracer) -> Tracer) -> String {
        let seeds = Seeds::list(vec![[0.1; 3], [0.2; 3]]).unwrap();
        let tracer = Tracer::new(self).scheme(Scheme::Euler).span(steps(0.0, 1.0, 1));
        match refine(tracer).trace(&seeds) {
            Err(error @ Error::Field { .. }) => error.to_string(),
            other => panic!("{}: {other:?}", self.machine),
        }
    }
}

impl Field for Own {
    fn velocity(&self, position: Tensor<2>, time: f64) -> Tensor<2> {
        (self.velocity)(position, time)
    }

    fn diffusivity(&self, position: Tensor<2>, time: f64) -> Option<Tensor<2>> {
        self.diffusivity.map(|diffusivity| diffusivity(position, time))
    }

    fn has_diffusivity(&self) -> bool {
        true
    }

    fn domain(&self) -> Domain {
        cube(10.0)
    }

    fn device(&self) -> Device {
        self.machine.device.clone()
    }

    fn precision(&self) -> Precision {
        self.machine.precision
    }
}

#[track_caller]
fn assert_contains(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

#[test]
fn velocities_of_another_shape_precision_or_device_are_refused() {
    #[allow(deprecated)] // still supported by name
    let elsewhere: [(&str, Answer); 2] = [
        ("flex", |p, _| Tensor::zeros(p.dims(), (&Device::ndarray(), p.dtype()))),
        ("ndarray", |p, _| Tensor::zeros(p.dims(), (&Device::flex(), p.dtype()))),
    ];
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let own = |velocity: Answer| Own {
            machine: machine.clone(),
            velocity,
            diffusivity: Some(|p, _| p.narrow(1, 0, 1)),
        };
        let message = own(|p, _| p.narrow(1, 0, 1)).message(|tracer| tracer);
        assert_contains(&message, &["velocity", "[1, 1] at 1 positions", "return [1, 3]"]);
        let message = own(|p, _| p.narrow(1, 0, 2)).message(|tracer| tracer);
        assert_contains(&message, &["[1, 2]", "return [1, 3]"]);
        // Right for one particle only.
        let message = own(|p, _| p.narrow(0, 0, 1)).message(|tracer| tracer);
        assert_contains(&message, &["[1, 3] at 2 positions", "return [2, 3]"]);
        let inlet = Inlet::new(InletShape::Face(Face::XLow), Pattern::Flux).unwrap();
        let message = own(|p, _| p.narrow(0, 0, 1))
            .message(|tracer| tracer.outlet(Face::XHigh, inlet.clone()));
        assert_contains(&message, &["the shape [1, 3]", "return ["]);
        // Right in all steps, but not at the last save.
        let last = own(|p, t| if t < 1.0 { p } else { p.narrow(1, 0, 1) });
        assert_contains(&last.message(|tracer| tracer.save_velocity(true)), &["return [2, 3]"]);
        let message = match machine.precision {
            Precision::F32 => own(|p, _| p.cast(burn::tensor::DType::F64)),
            Precision::F64 => own(|p, _| p.cast(burn::tensor::DType::F32)),
        }
        .message(|tracer| tracer);
        let dtype = format!("return {:?}", machine.precision.dtype());
        assert_contains(&message, &["the field's precision is", &dtype]);
        let (_, velocity) = elsewhere.iter().find(|(name, _)| *name == machine.name).unwrap();
        let message = own(*velocity).message(|tracer| tracer);
        assert_contains(&message, &["it is on", "the device of the positions"]);
    }
}

#[test]
fn invalid_diffusivities_are_refused() {
    for machine in exact_machines() {
        let own = |diffusivity| {
            let own = Own { machine: machine.clone(), velocity: |p, _| p, diffusivity };
            own.message(|tracer| tracer.random_walk(RandomWalk::of_field([1.0; 3], 1)))
        };
        assert_contains(&own(None), &["diffusivity", "`None`", "return a tensor [n, 1]"]);
        let all = own(Some(|p, _| p));
        assert_contains(&all, &["[1, 3] at 1 positions", "return [1, 1]"]);
        let single = own(Some(|p, _| p.narrow(1, 0, 1).cast(burn::tensor::DType::F32)));
        assert_contains(&single, &["precision is f64", "return F64"]);
    }
}

// ---- what works with fields of the program ----

const AMPLITUDE: f64 = 0.1;
const EPSILON: f64 = 0.25;
const OMEGA: f64 = std::f64::consts::TAU / 10.0;

/// The double gyre as a closure.
fn gyre(device: &Device, precision: Precision, domain: Domain) -> impl Field + use<> {
    use std::f64::consts::PI;
    FieldFn::new(domain, device, precision, |p: Tensor<2>, t: f64| {
        let [x, y, z] = columns(p);
        let a = EPSILON * (OMEGA * t).sin();
        let b = 1.0 - 2.0 * a;
        let phi = (x.clone() * a + b) * x.clone() * PI;
        let dphi = x * (2.0 * a) + b;
        let y = y * PI;
        let u = phi.clone().sin() * y.clone().cos() * (-PI * AMPLITUDE);
        let v = phi.cos() * y.sin() * dphi * (PI * AMPLITUDE);
        Tensor::cat(vec![u, v, z.zeros_like()], 1)
    })
}

/// A part of the double gyre, so that particles leave it.
fn part_of_gyre() -> Domain {
    Domain { low: [0.0, 0.0, 0.0], high: [1.5, 0.8, 0.0] }
}

type Feature = for<'a> fn(Tracer<'a>) -> Tracer<'a>;

const FEATURES: [(&str, Feature); 8] = [
    ("conditions at faces", |tracer| tracer),
    ("a tolerance", |tracer| {
        tracer.scheme(Scheme::DormandPrince).tolerance(Tolerance::new(1e-7, 1e-7))
    }),
    ("an outlet and a source", with_reuse),
    ("an outlet, a source and a tolerance", |tracer| {
        with_reuse(tracer).scheme(Scheme::DormandPrince).tolerance(Tolerance::new(1e-7, 1e-7))
    }),
    ("a random walk", |tracer| {
        tracer.random_walk(RandomWalk::per_axis([2e-3, 1e-3, 0.0], 17)).drift([0.02, -0.01, 0.0])
    }),
    ("a random walk, an outlet and a source", |tracer| {
        with_reuse(tracer).random_walk(RandomWalk::isotropic(1e-3, 18))
    }),
    ("obstacles and a threshold speed", |tracer| {
        let sphere = Shape::Sphere { centre: [0.7, 0.4, 0.0], radius: 0.15 };
        let ball = Shape::Sphere { centre: [1.2, 0.5, 0.0], radius: 0.1 };
        let obstacle = |shape, surface| Obstacle { shape, allowed: Allowed::Outside, surface };
        tracer
            .obstacle(obstacle(sphere, BoundaryCondition::Slide))
            .obstacle(obstacle(ball, BoundaryCondition::Exit))
            .stagnant_speed(1e-3)
    }),
    ("an operation after each step", |tracer| {
        with_reuse(tracer).each_step(|step| step.after + step.before.cos() * 0.05 * step.dt)
    }),
];

fn with_reuse(tracer: Tracer) -> Tracer {
    let inlet = |pattern| Inlet::new(InletShape::Face(Face::XLow), pattern).unwrap();
    let points = vec![[0.2, 0.3, 0.0], [0.5, 0.2, 0.0], [0.9, 0.6, 0.0], [1.3, 0.4, 0.0]];
    let points = Inlet::new(InletShape::Points(points), Pattern::Lattice).unwrap();
    tracer
        .face(Face::XLow, BoundaryCondition::Reflect)
        .outlet(Face::XHigh, inlet(Pattern::Lattice))
        .source(Source::constant(points, 3.3, 8).unwrap())
}

/// Positions of all saves, statuses and end times, and the ends of earlier instances.
fn everything_of(tracks: &Tracks) -> (Vec<f64>, Vec<Status>) {
    let mut numbers: Vec<f64> =
        tracks.saves().iter().flat_map(|save| floats(save.position.clone())).collect();
    numbers.extend(&tracks.ends().end_time);
    let mut statuses = tracks.ends().status.clone();
    let mut instances = tracks.instances().to_vec();
    instances.sort_by_key(|instance| (instance.slot, instance.generation));
    for instance in instances {
        numbers.extend(instance.end_position);
        numbers.extend([instance.release_time, instance.end_time]);
        statuses.push(instance.status);
    }
    (numbers, statuses)
}

/// Compares numbers, which may be NaN in both.
#[track_caller]
fn assert_numbers(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let is_same = found.is_nan() && expected.is_nan();
        let deviation = if is_same { 0.0 } else { (found - expected).abs() };
        assert!(deviation <= tolerance, "{what}, number {i}: {found} instead of {expected}");
    }
}

#[test]
fn own_fields_have_the_results_of_formulas_with_every_feature() {
    let flow = Flow::DoubleGyre { amplitude: AMPLITUDE, epsilon: EPSILON, omega: OMEGA };
    let points = Dice(45).points([0.05, 0.05, 0.0], [1.45, 0.75, 0.0], 20);
    let release = (0..20).map(|i| [0.0, 0.0, 0.33, 1.0][i % 4]).collect();
    let seeds = Seeds::list(points).unwrap().with_release(release).unwrap();
    for machine in machines() {
        // Devices without double sines, and tensor steps of software devices, are too slow or inaccurate.
        if !machine.is_cpu() {
            continue;
        }
        let domain = part_of_gyre();
        let formula = Analytic::new(flow.clone(), &machine.device, machine.precision);
        let formula = formula.with_domain(domain);
        let own = gyre(&machine.device, machine.precision, domain);
        for (name, feature) in FEATURES {
            let run = |field: &dyn Field| {
                let tracer = Tracer::new(field).seeds_outside(SeedsOutside::NotLocated);
                let tracer = tracer.span(steps(0.0, 6.0, 60)).save(SaveAt::EverySteps(20));
                let tracks = feature(tracer).trace(&seeds).unwrap();
                let engine = tracks.summary().unwrap().engine;
                (everything_of(&tracks), engine)
            };
            let ((numbers, statuses), engine) = run(&own);
            let ((expected, expected_statuses), of_formula) = run(&formula);
            let what = format!("{machine}, {name}");
            assert_eq!([engine, of_formula], [Engine::Tensor, Engine::Fused], "{what}");
            assert_eq!(statuses, expected_statuses, "{what}");
            assert_numbers(&what, &numbers, &expected, 2e3 * machine.eps());
        }
    }
}

#[test]
fn gradient_of_an_own_field_in_segments_is_that_of_the_formula() {
    let flow = Flow::DoubleGyre { amplitude: AMPLITUDE, epsilon: EPSILON, omega: OMEGA };
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        let points = Dice(46).points([0.05, 0.05, 0.0], [1.45, 0.75, 0.0], 12);
        let gradient = |field: &dyn Field, feature: Feature, adjoint: Adjoint| {
            let data = TensorData::new(points.as_flattened().to_vec(), [12, 3]);
            let leaf = Tensor::<2>::from_data(data, (&device, machine.precision.dtype()));
            let leaf = leaf.require_grad();
            let seeds = Seeds::from_tensor(leaf.clone()).unwrap();
            let tracer = Tracer::new(field).seeds_outside(SeedsOutside::NotLocated);
            let tracer = tracer.span(steps(0.0, 3.0, 30)).save(SaveAt::EverySteps(10));
            let tracer = feature(tracer).adjoint(adjoint);
            let loss = |tracks: &Tracks| tracks.positions().square().sum();
            let (loss, gradients) = tracer.value_and_grad(&seeds, loss).unwrap();
            let mut numbers = floats(leaf.grad(&gradients).unwrap());
            numbers.extend(floats(loss));
            numbers
        };
        let formula = Analytic::new(flow.clone(), &device, machine.precision);
        let formula = formula.with_domain(part_of_gyre());
        let own = gyre(&device, machine.precision, part_of_gyre());
        // Sources have no seeds, and instances after the first no gradients by them.
        for (name, feature) in [FEATURES[0], FEATURES[1], FEATURES[4], FEATURES[6]] {
            let found = gradient(&own, feature, Adjoint::Segments { steps: 7 });
            let expected = gradient(&formula, feature, Adjoint::Auto);
            assert_numbers(&format!("{machine}, {name}"), &found, &expected, 1e-10);
        }
    }
}
