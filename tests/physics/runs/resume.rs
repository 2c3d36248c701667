//! Resumed runs are bit-identical to uninterrupted ones.

use crate::{common::*, recorded::*};
use burntrace::{Engine, Error, RunState, Seeds, Summary, Tracer};

/// Runs, and resumes from each checkpoint of the run.
pub fn assert_resumes(name: &str, tracer: &Tracer, seeds: &Seeds) {
    let whole = run(tracer, seeds);
    let mut states = States::default();
    let mut record = RecordingSink::default();
    let summary = tracer.prepare(seeds).unwrap().run_observed(&mut record, &mut states).unwrap();
    assert_same(&format!("{name}, with checkpoints"), &whole, &(record.clone(), summary));
    assert!(states.0.len() > 2, "{name}: {} states", states.0.len());
    for (k, state) in states.0.iter().enumerate() {
        let rest = resumed(tracer, state, seeds, &record);
        assert_same(&format!("{name}, from state {k}"), &whole, &rest);
    }
}

fn resume(
    tracer: &Tracer,
    state: &RunState,
    seeds: &Seeds,
    sink: &mut RecordingSink,
) -> Result<Summary, Error> {
    tracer.prepare(seeds)?.resume(state)?.run_into(sink)
}

fn resumed(
    tracer: &Tracer,
    state: &RunState,
    seeds: &Seeds,
    record: &RecordingSink,
) -> (RecordingSink, Summary) {
    let mut record = record.at(state.numbers.mark());
    let summary = resume(tracer, state, seeds, &mut record).unwrap();
    (record, summary)
}

#[test]
fn run_resumed_from_any_checkpoint_is_bit_identical() {
    for machine in some_machines() {
        let field = machine.field(&swirl());
        let (count, steps) = if machine.is_cpu() { (60, 17) } else { (20, 9) };
        let seeds = seeds(count);
        let name = machine.to_string();
        let batches: &[usize] = if machine.is_cpu() { &[1000, 23] } else { &[1000] };
        for batch in batches {
            let name = format!("{name}, batches of {batch}");
            let walking = walking(&field, steps).batch(*batch);
            assert_resumes(&format!("{name}, walk"), &walking, &seeds);
            if machine.is_cpu() {
                let adapting = adapting(&field, steps).batch(*batch);
                assert_resumes(&format!("{name}, tolerance"), &adapting, &seeds);
            }
        }
        if machine.is_cpu() {
            let tensors = adapting(&field, 10).engine(Engine::Tensor);
            assert_resumes(&format!("{name}, tensors"), &tensors, &seeds);
        }
    }
}

#[test]
fn state_of_another_run_is_rejected() {
    let machine = &machines()[0];
    let field = machine.field(&swirl());
    let tracer = walking(&field, 9);
    let mut states = States::default();
    let seeds20 = seeds(20);
    tracer
        .prepare(&seeds20)
        .unwrap()
        .run_observed(&mut RecordingSink::default(), &mut states)
        .unwrap();
    let state = states.0[1].clone();
    let message = |tracer: &Tracer, count: usize, state: &RunState| {
        let (seeds, mut sink) = (seeds(count), RecordingSink::default());
        let result = resume(tracer, state, &seeds, &mut sink);
        match result {
            Err(Error::State(reason)) => reason,
            other => panic!("{other:?}"),
        }
    };
    assert!(message(&tracer, 21, &state).contains("particles: 46"));
    assert!(message(&walking(&field, 10), 20, &state).contains("steps: 9"));
    let mut short = state.clone();
    short.arrays.retain(|(name, _)| name != "record");
    assert!(message(&tracer, 20, &short).contains("no array `record`"));
    let mut short = state;
    short.arrays[0].1.to_mut().pop();
    assert!(message(&tracer, 20, &short).contains("`position`"));
}
