//! Runs that go on from a state end as if they had never been stopped.

use super::{common::*, kept::*};
use burntrace::{Engine, Error, RunState, Seeds, Summary, Tracer};

/// Runs, and goes on from each of the run's states.
fn assert_resumes(name: &str, tracer: &Tracer, seeds: &Seeds) {
    let whole = run(tracer, seeds);
    let mut states = States::default();
    let mut keep = Keep::default();
    let summary = tracer.prepare(seeds).unwrap().run_observed(&mut keep, &mut states).unwrap();
    assert_same(&format!("{name}, with states kept"), &whole, &(keep.clone(), summary));
    assert!(states.0.len() > 2, "{name}: {} states", states.0.len());
    for (k, state) in states.0.iter().enumerate() {
        let rest = go_on(tracer, state, seeds, &keep);
        assert_same(&format!("{name}, from state {k}"), &whole, &rest);
    }
}

fn resume(
    tracer: &Tracer,
    state: &RunState,
    seeds: &Seeds,
    sink: &mut Keep,
) -> Result<Summary, Error> {
    tracer.prepare(seeds)?.resume(state)?.run_into(sink)
}

fn go_on(tracer: &Tracer, state: &RunState, seeds: &Seeds, keep: &Keep) -> (Keep, Summary) {
    let mut keep = keep.at(state.numbers.mark());
    let summary = resume(tracer, state, seeds, &mut keep).unwrap();
    (keep, summary)
}

#[test]
fn a_run_goes_on_from_any_of_its_states() {
    for machine in some_machines() {
        let field = machine.field(&swirl());
        let (count, steps) = if machine.is_cpu() { (60, 33) } else { (20, 9) };
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
fn a_state_is_of_one_run() {
    let machine = &machines()[0];
    let field = machine.field(&swirl());
    let tracer = walking(&field, 9);
    let mut states = States::default();
    let seeds20 = seeds(20);
    tracer.prepare(&seeds20).unwrap().run_observed(&mut Keep::default(), &mut states).unwrap();
    let state = states.0[1].clone();
    let complaint = |tracer: &Tracer, count: usize, state: &RunState| {
        let (seeds, mut sink) = (seeds(count), Keep::default());
        let result = resume(tracer, state, &seeds, &mut sink);
        match result {
            Err(Error::State(reason)) => reason,
            other => panic!("{other:?}"),
        }
    };
    assert!(complaint(&tracer, 21, &state).contains("particles: 46"));
    assert!(complaint(&walking(&field, 10), 20, &state).contains("steps: 9"));
    let mut short = state.clone();
    short.arrays.retain(|(name, _)| name != "record");
    assert!(complaint(&tracer, 20, &short).contains("no array `record`"));
    let mut short = state;
    short.arrays[0].1.to_mut().pop();
    assert!(complaint(&tracer, 20, &short).contains("`position`"));
}
