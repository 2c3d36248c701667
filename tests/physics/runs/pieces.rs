//! Pieces of a run, joined, are bit-identical to the whole run.

use crate::{
    common::*,
    meshes::{MeshFrames, mixed},
    recorded::*,
};
use burntrace::{
    Control, Crossing, Engine, Error, Field, FieldFn, FieldOptions, GridField, ParticleInstance,
    Precision, Prepared, Progress, RunState, Seeds, SeedsOutside, Summary, Tracer, TrackSink,
};
use std::ops::Range;

/// The results of a piece.
type Piece = (RecordingSink, Summary, RunState<'static>);

/// Runs a piece, and keeps its last state.
fn run_piece(prepared: &Prepared, slots: Range<usize>) -> Piece {
    let mut states = States::default();
    let mut record = RecordingSink::default();
    let piece = prepared.piece(slots).unwrap();
    let summary = piece.run_observed(&mut record, &mut states).unwrap();
    (record, summary, states.0.pop().unwrap())
}

/// Divides the instances of a piece by segments; the last ones follow them.
fn by_segment(piece: &Piece) -> Vec<&[ParticleInstance]> {
    let mut rest = &piece.0.instances[..];
    let counts = piece.1.instances_by_segment.iter();
    let mut parts: Vec<_> = counts
        .map(|count| {
            let (part, others) = rest.split_at(*count as usize);
            rest = others;
            part
        })
        .collect();
    parts.push(rest);
    parts
}

/// Joins the records of pieces.
fn join(pieces: &[Piece], starts: &[usize]) -> RecordingSink {
    let mut all = RecordingSink::default();
    for (record, ..) in pieces {
        all.join(record);
    }
    let mut given = vec![0; pieces.len()];
    for segment in 0..pieces[0].1.crossings_by_segment.len() {
        for ((piece, first), given) in pieces.iter().zip(starts).zip(&mut given) {
            let count = piece.1.crossings_by_segment[segment] as usize;
            let moved = |of: &Crossing| Crossing { slot: of.slot + first, ..*of };
            all.crossings.extend(piece.0.crossings[*given..*given + count].iter().map(moved));
            *given += count;
        }
    }
    let parts: Vec<_> = pieces.iter().map(by_segment).collect();
    for segment in 0..parts[0].len() {
        for (part, first) in parts.iter().zip(starts) {
            let moved = |of: &ParticleInstance| ParticleInstance { slot: of.slot + first, ..*of };
            all.instances(&part[segment].iter().map(moved).collect::<Vec<_>>()).unwrap();
        }
    }
    all
}

/// Runs a case as a whole.
fn whole(tracer: &Tracer, seeds: &Seeds) -> (RecordingSink, Summary, RunState<'static>) {
    let (mut states, mut record) = (States::default(), RecordingSink::default());
    let summary = tracer.prepare(seeds).unwrap().run_observed(&mut record, &mut states).unwrap();
    (record, summary, states.0.pop().unwrap())
}

/// Compares joined pieces with the whole run.
fn assert_joined(name: &str, whole: &Piece, pieces: Vec<Piece>, starts: &[usize]) {
    let (record, summary, state) = whole;
    let joined = join(&pieces, starts);
    let (summaries, pieces): (Vec<_>, Vec<_>) =
        pieces.into_iter().map(|(_, summary, state)| (summary, state)).unzip();
    let joined_summary = Summary::join(summaries).unwrap();
    assert_same(name, &(record.clone(), summary.clone()), &(joined, joined_summary));
    let joined = RunState::join(pieces.into_iter().map(Ok::<_, Error>)).unwrap();
    assert!(joined.arrays == state.arrays, "{name}: arrays of the state");
    assert_eq!(joined.numbers.mark(), state.numbers.mark(), "{name}");
    assert_eq!(joined.numbers.time(), state.numbers.time(), "{name}");
}

/// Runs a case as a whole and in pieces, and compares them.
fn assert_pieces(name: &str, tracer: &Tracer, seeds: &Seeds, lengths: &[usize]) {
    let whole = whole(tracer, seeds);
    let prepared = tracer.prepare(seeds).unwrap();
    let count = prepared.count();
    for &length in lengths {
        let starts: Vec<usize> = (0..count).step_by(length).collect();
        let slots = |first: &usize| *first..count.min(first + length);
        // In another order than that of the slots.
        let mut pieces: Vec<Piece> =
            starts.iter().rev().map(|first| run_piece(&prepared, slots(first))).collect();
        pieces.reverse();
        assert_joined(&format!("{name}, pieces of {length}"), &whole, pieces, &starts);
    }
}

/// Runs a case as a whole on a field, and in pieces on it and its copy at the same time.
fn assert_devices(
    name: &str,
    fields: [&dyn Field; 2],
    tracer: impl Fn(&dyn Field) -> Tracer<'_>,
    seeds: &Seeds,
    length: usize,
) {
    let tracers = fields.map(tracer);
    let whole = whole(&tracers[0], seeds);
    let count = tracers[0].num_slots(seeds);
    let starts: Vec<usize> = (0..count).step_by(length).collect();
    let starts = &starts[..];
    let mut pieces: Vec<(usize, Piece)> = std::thread::scope(|scope| {
        let threads = tracers.iter().enumerate().map(|(k, tracer)| {
            scope.spawn(move || {
                let prepared = tracer.prepare(seeds).unwrap();
                let own = starts.iter().enumerate().skip(k).step_by(2);
                let slots = |first: usize| first..count.min(first + length);
                own.map(|(k, first)| (k, run_piece(&prepared, slots(*first)))).collect::<Vec<_>>()
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    pieces.sort_by_key(|(k, _)| *k);
    let pieces = pieces.into_iter().map(|(_, piece)| piece).collect();
    assert_joined(name, &whole, pieces, starts);
}

#[test]
fn pieces_on_two_devices_at_a_time_are_bit_identical_to_the_whole_run() {
    let flow = |[x, y, z]: [f64; 3], _| [0.2 - 0.1 * y, 0.1 * x, 0.1 * (y - z)];
    let tetrahedra = MeshFrames::new(&mixed(4), &[0.0], flow);
    for machine in some_machines() {
        let name = machine.to_string();
        let (count, long) = if machine.is_cpu() { (60, 33) } else { (20, 9) };
        let (device, seeds) = (&machine.device, seeds(count));
        let frames = burntrace::Frames::Streamed(4);
        let options =
            FieldOptions { precision: machine.precision, frames, ..FieldOptions::default() };
        let stream = GridField::open(Box::new(swirl()), device, &options).unwrap();
        let fields: [(&str, &dyn Field); 2] =
            [("grid", &machine.field(&swirl())), ("stream", &stream)];
        for (kind, field) in fields {
            let copy = field.to_device(device).unwrap();
            let name = format!("{name}, {kind}");
            assert_devices(&name, [field, &*copy], |field| walking(field, long), &seeds, 17);
        }
        if machine.is_cpu() {
            let mesh = tetrahedra.field(&machine);
            let copy = mesh.to_device(device).unwrap();
            let within = steps(0.0, 2.0, 20);
            assert_devices(
                &format!("{name}, mesh"),
                [&mesh, &*copy],
                |field| Tracer::new(field).seeds_outside(SeedsOutside::NotLocated).span(within),
                &seeds,
                17,
            );
        }
    }
}

#[test]
fn field_copied_to_another_device_is_the_field_loaded_there() {
    let machines: Vec<Machine> =
        some_machines().into_iter().filter(|machine| !machine.is_double()).collect();
    let first = machines[0].field(&swirl());
    for machine in &machines[1..] {
        let loaded = machine.field(&swirl());
        let copy = first.to_device(&machine.device).unwrap();
        let traced = |field| run(&busy(field, 5), &seeds(20));
        assert_same(&machine.to_string(), &traced(&loaded), &traced(&*copy));
    }
    let own = FieldFn::new(first.domain(), &machines[0].device, Precision::F32, |p, _| p);
    let refused = own.to_device(&machines[0].device).err().map(|error| error.to_string());
    assert!(refused.is_some_and(|text| text.contains("make one for each device")));
}

#[test]
fn joined_pieces_are_bit_identical_to_the_whole_run() {
    for machine in some_machines() {
        let field = machine.field(&swirl());
        let (count, steps) = if machine.is_cpu() { (60, 33) } else { (20, 9) };
        let (seeds, name) = (seeds(count), machine.to_string());
        // Both sources and seeds are divided.
        let lengths: &[usize] = if machine.is_cpu() { &[23] } else { &[50] };
        assert_pieces(&format!("{name}, walk"), &walking(&field, steps), &seeds, lengths);
        if machine.is_cpu() {
            let adapting = adapting(&field, steps).batch(13);
            assert_pieces(&format!("{name}, tolerance"), &adapting, &seeds, lengths);
            let tensors = walking(&field, 10).engine(Engine::Tensor);
            assert_pieces(&format!("{name}, tensors"), &tensors, &seeds, &[31]);
        }
    }
}

#[test]
fn piece_resumes_only_as_itself() {
    let machine = &machines()[0];
    let field = machine.field(&swirl());
    let (tracer, seeds) = (walking(&field, 33), seeds(60));
    let prepared = tracer.prepare(&seeds).unwrap();
    let (mut states, mut record) = (States::default(), RecordingSink::default());
    let piece = |slots| prepared.piece(slots).unwrap();
    let summary = piece(20..70).run_observed(&mut record, &mut states).unwrap();
    for state in &states.0 {
        let mut rest = record.at(state.numbers.mark());
        let resumed = piece(20..70).resume(state).unwrap().run_into(&mut rest).unwrap();
        assert_eq!(resumed.instances_by_segment, summary.instances_by_segment);
        assert_same("resumed piece", &(record.clone(), summary.clone()), &(rest, resumed));
    }
    let other = piece(21..71).resume(&states.0[1]).unwrap();
    let refused = other.run_observed(&mut record, &mut |_: Progress| Control::Continue);
    assert!(matches!(refused, Err(Error::State(_))), "{refused:?}");
    for slots in [5..5, 80..87, 86..87] {
        let refused = prepared.piece(slots).err().map(|error| error.to_string());
        assert!(refused.is_some_and(|text| text.contains("no piece of a run of 86 slots")));
    }
    assert!(piece(0..40).piece(0..20).is_err(), "a piece of a piece");
    let [first, second] = [0, 1].map(|k| states.0[k].clone());
    assert!(RunState::join([first, second].map(Ok::<_, Error>)).is_err(), "one piece twice");
}
