//! Launches in parts: in several fields of one shape, each with as many of the particles.

use crate::{
    Segment,
    ops::{Advanced, PulledBack, Sampled, State, Wanted},
};
use burn::{
    backend::{Backend, TensorMetadata, tensor::FloatTensor},
    tensor::{Shape, Slice},
};
use std::ops::Range;

/// The launch in one of the fields.
pub(super) struct Part<B: Backend> {
    /// Its rows among all particles.
    pub rows: Range<usize>,
    pub state: State<B>,
    pub field: Sampled<B>,
    pub segment: Segment,
}

/// The launches in each field.
pub(super) fn each<B: Backend>(
    state: &State<B>,
    field: &Sampled<B>,
    segment: &Segment,
) -> Vec<Part<B>> {
    let particles = state.fraction.shape().num_elements() / segment.fields;
    let [values, _] = field.velocity.shape().dims();
    // The row behind the last value of a field is read, but not used.
    let values = (values - 1) / segment.fields;
    let part = |k: usize| {
        let of_particles = k * particles..(k + 1) * particles;
        let of_values = k * values..(k + 1) * values + 1;
        let first_slot = segment.first_slot + of_particles.start as u32;
        Part {
            state: state_rows(state, of_particles.clone()),
            field: Sampled { velocity: rows::<B>(&field.velocity, of_values), ..field.clone() },
            segment: Segment { fields: 1, first_slot, ..segment.clone() },
            rows: of_particles,
        }
    };
    (0..segment.fields).map(part).collect()
}

/// Some of the particles.
pub(super) fn state_rows<B: Backend>(state: &State<B>, of: Range<usize>) -> State<B> {
    State {
        position: rows::<B>(&state.position, of.clone()),
        record: B::int_slice(state.record.clone(), &[Slice::from(of.clone())]),
        fraction: rows::<B>(&state.fraction, of),
    }
}

/// Some rows of a tensor.
pub(super) fn rows<B: Backend>(tensor: &FloatTensor<B>, rows: Range<usize>) -> FloatTensor<B> {
    B::float_slice(tensor.clone(), &[Slice::from(rows)])
}

/// The result of launches of some of the particles each, one or more, in order. There are no logs.
#[allow(clippy::expect_used)]
pub(super) fn advanced<B: Backend>(parts: Vec<Advanced<B>>) -> Advanced<B> {
    let (mut position, mut record, mut fraction) = (Vec::new(), Vec::new(), Vec::new());
    let mut log = None;
    for part in parts {
        position.push(part.position);
        record.push(part.record);
        fraction.push(part.fraction);
        log = Some((part.log_index, part.log_position, part.log_count));
    }
    let (log_index, log_position, log_count) = log.expect("one part or more");
    Advanced {
        position: B::float_cat(position, 0),
        record: B::int_cat(record, 0),
        fraction: B::float_cat(fraction, 0),
        log_index,
        log_position,
        log_count,
    }
}

/// The gradients of the launches in all fields, one or more: by what belongs to one field, one after another, and the sums by what is
/// the same for all.
#[allow(clippy::expect_used)]
pub(super) fn pulled_back<B: Backend>(parts: Vec<PulledBack<B>>, wanted: Wanted) -> PulledBack<B> {
    let (mut position, mut fraction, mut velocity) = (Vec::new(), Vec::new(), Vec::new());
    let mut shared: Option<(FloatTensor<B>, FloatTensor<B>)> = None;
    for part in parts {
        position.push(part.position);
        fraction.push(part.fraction);
        let [count, _] = part.velocity.shape().dims();
        velocity.push(rows::<B>(&part.velocity, 0..if wanted.values { count - 1 } else { 0 }));
        shared = Some(match shared {
            None => (part.motion, part.rows),
            Some((motion, rows)) => {
                (B::float_add(motion, part.motion), B::float_add(rows, part.rows))
            }
        });
    }
    let (motion, rows) = shared.expect("one part or more");
    let (device, dtype) = (motion.device(), motion.dtype());
    velocity.push(B::float_zeros(Shape::new([1, 4]), &device, dtype.into()));
    PulledBack {
        position: B::float_cat(position, 0),
        fraction: B::float_cat(fraction, 0),
        velocity: B::float_cat(velocity, 0),
        motion,
        rows,
    }
}
