//! Pieces of a run, joined, are bit-identical to the whole run.

use super::{common::*, recorded::*};
use burntrace::{
    Control, Engine, Error, ParticleInstance, Prepared, Progress, RunState, Seeds, Summary, Tracer,
    TrackSink,
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
    let parts: Vec<_> = pieces.iter().map(by_segment).collect();
    for segment in 0..parts[0].len() {
        for (part, first) in parts.iter().zip(starts) {
            let moved = |of: &ParticleInstance| ParticleInstance { slot: of.slot + first, ..*of };
            all.instances(&part[segment].iter().map(moved).collect::<Vec<_>>()).unwrap();
        }
    }
    all
}

/// Runs a case as a whole and in pieces, and compares them.
fn assert_pieces(name: &str, tracer: &Tracer, seeds: &Seeds, lengths: &[usize]) {
    let (mut states, mut record) = (States::default(), RecordingSink::default());
    let prepared = tracer.prepare(seeds).unwrap();
    let count = prepared.count();
    let summary = prepared.run_observed(&mut record, &mut states).unwrap();
    let (whole, state) = ((record, summary), states.0.pop().unwrap());
    let prepared = tracer.prepare(seeds).unwrap();
    for &length in lengths {
        let starts: Vec<usize> = (0..count).step_by(length).collect();
        let slots = |first: &usize| *first..count.min(first + length);
        // In another order than that of the slots.
        let mut pieces: Vec<Piece> =
            starts.iter().rev().map(|first| run_piece(&prepared, slots(first))).collect();
        pieces.reverse();
        let joined = join(&pieces, &starts);
        let (summaries, pieces): (Vec<_>, Vec<_>) =
            pieces.into_iter().map(|(_, summary, state)| (summary, state)).unzip();
        let summary = Summary::join(summaries).unwrap();
        let name = format!("{name}, pieces of {length}");
        assert_same(&name, &whole, &(joined, summary));
        let joined = RunState::join(pieces.into_iter().map(Ok::<_, Error>)).unwrap();
        assert!(joined.arrays == state.arrays, "{name}: arrays of the state");
        assert_eq!(joined.numbers.mark(), state.numbers.mark(), "{name}");
        assert_eq!(joined.numbers.time(), state.numbers.time(), "{name}");
    }
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
