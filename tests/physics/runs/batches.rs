//! Tracks do not depend on the batches of particles.

use crate::{common::*, recorded::*};
use burntrace::{Engine, Error, Execution, Seeds, Strategy, Tracer};

fn assert_any_batch(name: &str, tracer: &Tracer, seeds: &Seeds, sizes: &[usize]) {
    let whole = run(tracer, seeds);
    assert!(whole.1.released > seeds.len(), "{name}: {:?}", whole.1);
    assert_eq!(whole.1.batches.sizes, [whole.1.particles; 2]);
    for size in sizes {
        let parts = run(&tracer.clone().batch(*size), seeds);
        assert_same(&format!("{name}, batches of {size}"), &whole, &parts);
        assert_eq!(parts.1.batches.sizes[1], *size.min(&whole.1.particles));
    }
}

#[test]
fn any_batch_size_gives_bit_identical_tracks() {
    for machine in some_machines() {
        let field = machine.field(&swirl());
        let (count, steps, sizes): (_, _, &[usize]) =
            if machine.is_cpu() { (43, 21, &[1, 7, 64, 1000]) } else { (30, 18, &[7, 32]) };
        let seeds = seeds(count);
        let name = machine.to_string();
        assert_any_batch(&format!("{name}, walk"), &walking(&field, steps), &seeds, sizes);
        if machine.is_cpu() {
            let tracer = adapting(&field, steps);
            assert_any_batch(&format!("{name}, tolerance"), &tracer, &seeds, sizes);
            let tracer = walking(&field, 9).engine(Engine::Tensor);
            assert_any_batch(&format!("{name}, tensors"), &tracer, &seeds, &[40]);
            let tracer = adapting(&field, 9).engine(Engine::Tensor);
            assert_any_batch(&format!("{name}, tolerance, tensors"), &tracer, &seeds, &[40]);
        }
    }
}

/// Enough particles for a launch to sort them.
#[test]
fn any_batch_size_gives_bit_identical_tracks_of_sorted_particles() {
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let field = machine.field(&swirl());
        let tracer = walking(&field, 40);
        let tracer = tracer.save(burntrace::SaveAt::EverySteps(20));
        assert_any_batch(&machine.to_string(), &tracer, &seeds(6000), &[2500, 100]);
    }
}

#[test]
fn invalid_batch_sizes_are_rejected() {
    let machine = &machines()[0];
    let field = machine.field(&swirl());
    let message = |tracer: Tracer| match tracer.trace(&seeds(10)) {
        Err(Error::Plan(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert!(message(busy(&field, 4).batch(0)).contains("0 particles"));
    let tracer = busy(&field, 4).execution(Execution {
        strategy: Some(Strategy::InMemory),
        batch: Some(3),
        ..Execution::default()
    });
    assert!(message(tracer).contains("has no batches"));
}
