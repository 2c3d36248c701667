//! Gradients by the times of releases, and by the start and the end of a run.

use super::adjoint::{TIMES, kinds, tensor, values_of, weighted};
use crate::common::*;
use burn::tensor::{Device, Tensor};
use burntrace::{
    Analytic, BoundaryCondition, Engine, Field, Flow, RandomWalk, SaveAt, Scheme, Seeds, Span,
    Tolerance, Tracer,
};

/// Releases before the start of the run at 0.1, at several places of its steps, and after its end at 1.3.
const RELEASES: [f64; 8] = [0.02, 0.1001, 0.17, 0.233, 0.4, 0.71, 1.21, 1.6];

const CONDITIONS: [BoundaryCondition; 3] =
    [BoundaryCondition::Slide, BoundaryCondition::Reflect, BoundaryCondition::Exit];

fn places() -> Vec<[f64; 3]> {
    Dice(3).points([0.1; 3], [1.9, 0.9, 0.9], RELEASES.len())
}

fn released(times: &[f64]) -> Seeds {
    Seeds::list(places()).unwrap().with_release(times.to_vec()).unwrap()
}

fn tracer(field: &dyn Field, condition: BoundaryCondition) -> Tracer<'_> {
    Tracer::new(field)
        .span(steps(0.1, 1.3, 9))
        .save(SaveAt::EverySteps(3))
        .all_faces(condition)
        .mesh_wall(condition)
        .drift([0.7, 0.2, -0.1])
}

/// Waiting particles have no position in saves before their release.
fn loss(tracks: &burntrace::Tracks) -> Tensor<1> {
    let positions = tracks.positions();
    let is_missing = positions.clone().is_nan();
    weighted(positions.mask_fill(is_missing, 0.0))
}

/// Compares a gradient with a central difference.
fn check(what: &str, gradient: f64, at: impl Fn(f64) -> f64) {
    let step = 1e-6;
    let difference = (at(step) - at(-step)) / (2.0 * step);
    let what = format!("{what}: {gradient}, {difference}");
    assert_below(&what, (gradient - difference).abs() / difference.abs().max(1.0), 1e-7);
}

fn leaf(numbers: &[f64], device: &Device) -> Tensor<1> {
    tensor(numbers.to_vec(), [numbers.len()], device).require_grad()
}

#[test]
fn gradients_by_release_times_match_central_differences() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        for (name, count, make) in kinds() {
            let field = make(tensor(values_of(count), [TIMES.len(), count, 3], &device));
            for condition in CONDITIONS {
                let tracer = tracer(&*field, condition).scheme(Scheme::Rk4);
                let times = leaf(&RELEASES, &device);
                let seeds = Seeds::list(places()).unwrap().with_release_tensor(times.clone());
                let tracks = tracer.trace(&seeds.unwrap()).unwrap();
                assert_eq!(tracks.summary().unwrap().engine, Engine::Fused);
                let gradients = floats(times.grad(&loss(&tracks).backward()).unwrap());
                for (i, gradient) in gradients.into_iter().enumerate() {
                    let at = |change: f64| {
                        let mut times = RELEASES;
                        times[i] += change;
                        floats(loss(&tracer.trace(&released(&times)).unwrap()))[0]
                    };
                    check(&format!("{machine}, {name}, {condition:?}, seed {i}"), gradient, at);
                }
            }
        }
    }
}

#[test]
fn gradients_of_residence_times_by_releases_match_central_differences() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        let (_, count, make) = kinds().remove(0);
        let field = make(tensor(values_of(count), [TIMES.len(), count, 3], &device));
        let tracer = tracer(&*field, BoundaryCondition::Exit).drift([1.9, 0.0, 0.0]);
        let sum = |seeds: &Seeds| {
            let times = tracer.trace(seeds).unwrap().residence_times().unwrap();
            let is_active = times.clone().is_nan();
            times.mask_fill(is_active, 0.0).sum()
        };
        let times = leaf(&RELEASES, &device);
        let seeds = Seeds::list(places()).unwrap().with_release_tensor(times.clone()).unwrap();
        let gradients = floats(times.grad(&sum(&seeds).backward()).unwrap());
        assert!(gradients.iter().any(|x| x.abs() > 1e-3), "{gradients:?}");
        for (i, gradient) in gradients.into_iter().enumerate() {
            let at = |change: f64| {
                let mut times = RELEASES;
                times[i] += change;
                floats(sum(&released(&times)))[0]
            };
            check(&format!("{machine}, seed {i}"), gradient, at);
        }
    }
}

/// The rate of a source: its particles as seeds, whose releases depend on it.
#[test]
fn gradients_by_the_rate_of_releases_match_central_differences() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        let (_, count, make) = kinds().remove(0);
        let field = make(tensor(values_of(count), [TIMES.len(), count, 3], &device));
        let tracer = tracer(&*field, BoundaryCondition::Slide);
        let of = |rate: Tensor<1>| {
            let number = tensor((0..8).map(f64::from).collect(), [8], &device);
            let times = number / rate + 0.13;
            let seeds = Seeds::list(places()).unwrap().with_release_tensor(times).unwrap();
            loss(&tracer.trace(&seeds).unwrap())
        };
        let rate = leaf(&[7.1], &device);
        let gradient = floats(rate.grad(&of(rate.clone()).backward()).unwrap())[0];
        let at = |change: f64| floats(of(tensor(vec![7.1 + change], [1], &device)))[0];
        check(&format!("{machine}"), gradient, at);
    }
}

/// A particle that starts with the run is released at its start, where a release can only be later.
#[test]
fn gradients_of_releases_at_the_start_are_those_of_later_ones() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        let (_, count, make) = kinds().remove(0);
        let field = make(tensor(values_of(count), [TIMES.len(), count, 3], &device));
        let tracer = tracer(&*field, BoundaryCondition::Slide);
        let of = |time: f64| {
            let times = leaf(&[time; RELEASES.len()], &device);
            let seeds = Seeds::list(places()).unwrap().with_release_tensor(times.clone());
            let end =
                tracer.trace(&seeds.unwrap()).unwrap().saves().last().unwrap().position.clone();
            floats(times.grad(&weighted(end.unsqueeze()).backward()).unwrap())
        };
        for (at_start, later) in of(0.1).into_iter().zip(of(0.1 + 1e-9)) {
            assert_below(&format!("{at_start}, {later}"), (at_start - later).abs(), 1e-7);
            assert!(at_start.abs() > 1e-3);
        }
        assert_eq!(of(0.09), [0.0; RELEASES.len()]);
    }
}

#[test]
fn gradients_by_start_and_end_match_central_differences() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        for (name, count, make) in kinds() {
            let field = make(tensor(values_of(count), [TIMES.len(), count, 3], &device));
            for (condition, seeds) in [
                (BoundaryCondition::Slide, Seeds::list(places()).unwrap()),
                (BoundaryCondition::Exit, released(&RELEASES)),
            ] {
                let span = Span { steps: Some(9), ..Span::default() };
                let tracer = tracer(&*field, condition).span(span).scheme(Scheme::Heun);
                let of = |times: [f64; 2]| {
                    let times = leaf(&times, &device);
                    let tracks = tracer.clone().times(times.clone()).unwrap().trace(&seeds);
                    (times, loss(&tracks.unwrap()))
                };
                let (times, value) = of([0.1, 1.3]);
                let gradients = floats(times.grad(&value.backward()).unwrap());
                for (i, gradient) in gradients.into_iter().enumerate() {
                    let at = |change: f64| {
                        let mut times = [0.1, 1.3];
                        times[i] += change;
                        floats(of(times).1)[0]
                    };
                    check(&format!("{machine}, {name}, {condition:?}, by {i}"), gradient, at);
                }
            }
        }
    }
}

#[test]
fn times_with_gradients_are_refused_where_they_are_constants() {
    let machine = &exact_machines()[0];
    let device = machine.device.clone().autodiff();
    let (_, count, make) = kinds().remove(0);
    let field = make(tensor(values_of(count), [TIMES.len(), count, 3], &device));
    let tracer = tracer(&*field, BoundaryCondition::Slide);
    let times = leaf(&RELEASES, &device);
    let seeds = Seeds::list(places()).unwrap().with_release_tensor(times).unwrap();
    let refused = |tracer: Tracer| tracer.trace(&seeds).unwrap_err().to_string();
    let walks = refused(tracer.clone().random_walk(RandomWalk::isotropic(0.1, 3)));
    assert!(
        walks.contains("times that track gradients") && walks.contains("random walk"),
        "{walks}"
    );
    let adaptive =
        tracer.clone().scheme(Scheme::DormandPrince).tolerance(Tolerance::new(1e-6, 1e-6));
    assert!(refused(adaptive).contains("a tolerance"));
    assert!(refused(tracer.clone().save(SaveAt::EveryTime(0.2))).contains("saves at times"));
    assert!(refused(tracer.clone().engine(Engine::Tensor)).contains("steps in tensor operations"));
    let gyre = Analytic::new(Flow::named("double-gyre").unwrap(), &device, machine.precision);
    let formula = Tracer::new(&gyre).span(steps(0.1, 1.3, 9));
    assert!(refused(formula).contains("a field that is a formula"));
    let three = tracer.clone().times(leaf(&[0.0; 3], &device)).err().unwrap().to_string();
    assert!(three.contains("[3]; give one of the shape [2]"), "{three}");
    let moved = leaf(&[0.1, 1.3], &device);
    let moved = tracer.clone().times(moved).unwrap().span(steps(0.1, 1.2, 9));
    let moved = moved.trace(&Seeds::list(places()).unwrap()).unwrap_err().to_string();
    assert!(moved.contains("call `Tracer::times` after `Tracer::span`"), "{moved}");
    let repeated = seeds.clone().repeat(0.1, 2.0).unwrap_err().to_string();
    assert!(repeated.contains("cannot be repeated"), "{repeated}");
    let joined = seeds.clone().join(released(&RELEASES)).unwrap_err().to_string();
    assert!(joined.contains("cannot be joined"), "{joined}");
}
