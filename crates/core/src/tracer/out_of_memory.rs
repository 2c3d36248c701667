//! Tests of runs on devices that run out of memory.

use super::{
    Tracer,
    batches::failing::{FailurePoint, arm, disarm},
};
use crate::{
    Analytic, BoundaryCondition, Error, Face, Field, FieldOptions, Flow, GridField, Inlet,
    InletShape, Pattern, RandomWalk, SaveAt, Seeds, Source, Span, Tracks,
};
use burn::tensor::Device;

const COUNT: usize = 300;

fn field() -> GridField {
    let flow = Flow::named("double-gyre").unwrap();
    let domain = flow.domain();
    let mut frames = Analytic::sample(flow, domain, [17, 9, 1], vec![0.0, 5.0]).unwrap();
    GridField::load(&mut frames, &Device::flex(), &FieldOptions::default()).unwrap()
}

fn tracer(field: &dyn Field) -> Tracer<'_> {
    let inlet = || Inlet::new(InletShape::Face(Face::XLow), Pattern::Uniform).unwrap();
    Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .face(Face::XHigh, BoundaryCondition::Exit)
        .outlet(Face::XHigh, inlet())
        .source(Source::constant(inlet(), 20.0, 60).unwrap())
        .drift([0.6, 0.0, 0.0])
        .random_walk(RandomWalk::isotropic(1e-3, 3))
        .span(Span { steps: Some(60), ..Span::default() })
        .save(SaveAt::EverySteps(6))
        .save_velocity(true)
}

fn seeds() -> Seeds {
    Seeds::uniform([0.1, 0.1, 0.0], [1.9, 0.9, 0.0], COUNT - 60, 1).unwrap()
}

/// Everything that a run returns, as text that distinguishes all bits.
fn text(tracks: &Tracks) -> String {
    let saves = tracks.saves().iter().map(|save| {
        let velocity = save.velocity.clone().unwrap().into_data().try_to_vec::<f32>().unwrap();
        let position = save.position.clone().into_data().try_to_vec::<f32>().unwrap();
        format!("{} {} {:?} {position:?} {velocity:?}\n", save.index, save.time, save.status)
    });
    let saves: String = saves.collect();
    format!("{saves}{:?}{:?}", tracks.instances(), tracks.ends())
}

#[test]
fn run_continues_in_smaller_batches_if_device_memory_is_exhausted() {
    let (field, seeds) = (field(), seeds());
    let whole = tracer(&field).trace(&seeds).unwrap();
    assert!(whole.summary().unwrap().released > COUNT);
    assert_eq!(whole.summary().unwrap().batches.retries, 0);
    for place in [FailurePoint::Upload, FailurePoint::Launch, FailurePoint::ReadBack] {
        for (batch, after) in [(COUNT, 1), (COUNT, 5), (200, 1), (200, 7)] {
            let name = format!("{place:?}, batches of {batch}, after {after}");
            arm(place, 100, after);
            let tracks = tracer(&field).batch(batch).trace(&seeds);
            disarm();
            let tracks = tracks.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(text(&tracks) == text(&whole), "{name}");
            let (ran, all) = (tracks.summary().unwrap(), whole.summary().unwrap());
            assert_eq!((ran.saves, ran.steps, ran.released), (all.saves, all.steps, all.released));
            assert_eq!((&ran.counts, ran.particle_steps), (&all.counts, all.particle_steps));
            // With all particles on the device nothing is read back.
            let fails = batch < COUNT || place != FailurePoint::ReadBack || after == 1;
            assert!(ran.batches.retries >= 1 || !fails, "{name}: {:?}", ran.batches);
        }
    }
}

#[test]
fn run_fails_if_the_minimum_batch_does_not_fit() {
    arm(FailurePoint::Launch, 10, 1);
    let result = tracer(&field()).trace(&seeds());
    disarm();
    assert!(matches!(result, Err(Error::Execution(text)) if text.contains("out of device memory")));
}
