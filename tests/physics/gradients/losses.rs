//! What a loss on tracks says, and what is refused because its gradients would say nothing.

use crate::common::*;
use burn::tensor::{DType, Device, Distribution, Tensor, TensorData};
use burntrace::{
    Adjoint, BoundaryCondition, Domain, Error, Field, FieldFn, FieldOptions, GridField, Precision,
    SaveAt, Seeds, Status, Tracer, Tracks, evaluate,
};

fn device() -> Device {
    Device::flex().autodiff()
}

fn leaf<const D: usize>(numbers: Vec<f64>, shape: [usize; D]) -> Tensor<D> {
    Tensor::from_data(TensorData::new(numbers, shape), (&device(), DType::F64)).require_grad()
}

fn seeds() -> Seeds {
    Seeds::list(Dice(9).points([0.2; 3], [0.8; 3], 12)).unwrap()
}

fn tracer(field: &dyn Field) -> Tracer<'_> {
    let tracer = Tracer::new(field).all_faces(BoundaryCondition::Reflect);
    tracer.span(steps(0.0, 1.0, 20)).save(SaveAt::EverySteps(7))
}

fn loss(tracks: &Tracks) -> Tensor<1> {
    (tracks.positions() - 0.4).square().mean()
}

/// A field of one's own, with the speed as a parameter.
fn own(speed: &Tensor<2>) -> impl Field + use<> {
    let speed = speed.clone();
    let domain = Domain::new([0.0; 3], [1.0; 3]).unwrap();
    FieldFn::new(domain, &device(), Precision::F64, move |p: Tensor<2>, time| {
        (p * 3.0 + time).sin() * speed.clone()
    })
}

/// A grid of two cells along each axis; the value of one node is `odd`.
fn grid(odd: f64) -> (GridField, Tensor<3>) {
    let axes = [even_axis(0.0, 1.0, 2), even_axis(0.0, 1.0, 2), even_axis(0.0, 1.0, 2)];
    let options = FieldOptions { precision: Precision::F64, ..FieldOptions::default() };
    let rest = GridField::from_fn(axes, vec![0.0], &device(), &options, |_, _| [0.0; 3]).unwrap();
    let mut numbers: Vec<f64> = (0..81).map(|i| f64::from(i).sin()).collect();
    numbers[40] = odd;
    let values = leaf(numbers, [1, 27, 3]);
    (rest.with_values(values.clone()).unwrap(), values)
}

#[test]
fn an_evaluated_loss_is_the_one_with_gradients() {
    let speed = leaf(vec![0.5, -0.3, 0.4], [1, 3]);
    let (own, (grid, _)) = (own(&speed), grid(0.5));
    let (tracers, seeds) = ([tracer(&own), tracer(&grid)], seeds());
    let both: Vec<f64> = tracers
        .iter()
        .map(|tracer| {
            let (expected, _) = tracer.value_and_grad(&seeds, loss).unwrap();
            let found = tracer.evaluate(&seeds, loss).unwrap();
            assert!(!found.is_tracked());
            let [found, expected] = [found, expected].map(|x| x.into_scalar::<f64>());
            assert_eq!(found, expected);
            found
        })
        .collect();
    let runs = [(&tracers[0], &seeds), (&tracers[1], &seeds)];
    let sum = |tracks: &[Tracks]| loss(&tracks[0]) + loss(&tracks[1]);
    let found = evaluate(&runs, sum).unwrap().into_scalar::<f64>();
    assert_below("sum", (found - both[0] - both[1]).abs(), 1e-15);
}

/// Others are for the backward passes of others.
#[test]
fn an_evaluation_frees_no_graph_but_its_own() {
    let by_values = |evaluates: bool| {
        let (grid, values) = grid(0.5);
        let kept = loss(&tracer(&grid).trace(&seeds()).unwrap());
        if evaluates {
            tracer(&grid).evaluate(&seeds(), loss).unwrap();
        }
        floats(values.grad(&kept.backward()).unwrap())
    };
    assert_eq!(by_values(true), by_values(false));
}

#[test]
fn a_loss_on_constants_is_evaluated() {
    let field = own(&leaf(vec![0.5; 3], [1, 3]).detach());
    let found = tracer(&field).evaluate(&seeds(), loss).unwrap().into_scalar::<f64>();
    let expected = loss(&tracer(&field).trace(&seeds()).unwrap()).into_scalar::<f64>();
    assert_eq!(found, expected);
}

/// A particle that meets NaN ends where it was, with a loss and gradients that know nothing of the NaN.
#[test]
fn particles_that_are_lost_in_a_run_with_gradients_are_an_error() {
    let speed = leaf(vec![0.5, f64::NAN, 0.4], [1, 3]);
    let (own, (grid, _)) = (own(&speed), grid(f64::NAN));
    for tracer in [tracer(&own), tracer(&grid)] {
        let refused = tracer.value_and_grad(&seeds(), loss).err();
        assert!(matches!(refused, Some(Error::Lost { count: 12, first: 0, .. })), "{refused:?}");
        let refused = tracer.trace(&seeds()).err();
        assert!(matches!(refused, Some(Error::Lost { .. })), "{refused:?}");
        let refused = tracer.evaluate(&seeds(), loss).err();
        assert!(matches!(refused, Some(Error::Lost { .. })), "{refused:?}");
        tracer.allow_non_finite(true).value_and_grad(&seeds(), loss).unwrap();
    }
    let message = tracer(&grid).trace(&seeds()).err().unwrap().to_string();
    assert!(message.contains("12 particles were lost") && message.contains("NaN"), "{message}");
    // A device without gradients says no more than a status.
    let domain = Domain::new([0.0; 3], [1.0; 3]).unwrap();
    let plain =
        FieldFn::new(domain, &Device::flex(), Precision::F64, |p: Tensor<2>, _| p * f64::NAN);
    let run = trace(&tracer(&plain), &seeds());
    assert_eq!(run.status, vec![Status::NonFinite; 12]);
}

/// Segments are taken twice, but for the last one.
#[test]
fn random_numbers_in_a_field_or_an_operation_are_refused_in_segments() {
    let speed = leaf(vec![0.5, -0.3, 0.4], [1, 3]);
    let noise = |p: &Tensor<2>| p.random_like(Distribution::Uniform(-0.01, 0.01));
    let domain = Domain::new([0.0; 3], [1.0; 3]).unwrap();
    let noisy = {
        let speed = speed.clone();
        FieldFn::new(domain, &device(), Precision::F64, move |p: Tensor<2>, _| {
            noise(&p) + speed.clone()
        })
    };
    let quiet = own(&speed);
    let pushed = tracer(&quiet).each_step(|step| step.after.clone() + noise(&step.after));
    for tracer in [tracer(&noisy), pushed] {
        // A small run is one segment, whose graph is that of the forward run.
        tracer.value_and_grad(&seeds(), loss).unwrap();
        let segments = tracer.adjoint(Adjoint::Segments { steps: 1 });
        let refused = segments.value_and_grad(&seeds(), loss).err();
        let Some(Error::Adjoint(reason)) = refused else { panic!("{refused:?}") };
        assert!(reason.contains("draw random numbers before the run"), "{reason}");
    }
}
