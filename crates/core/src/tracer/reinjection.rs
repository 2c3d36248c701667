//! Re-injection for the tensor engine: on the host, one slot at a time.

use super::{
    slots::{End, Reinjection},
    stepper::Stepper,
    tensor::{State, step_of},
};
use crate::{Error, Result};
use burn::tensor::{DType, Int, Tensor, TensorData};
use burntrace_kernels::{
    Instance, MAX_INSTANCES_PER_STEP,
    status::{ACTIVE, WAITING},
};

/// Schedules the first release in a chunk for idle slots of sources.
pub(super) fn wake(state: State, following: &Reinjection) -> Result<State> {
    let mut rows = Rows::read(&state)?;
    for row in 0..rows.instances.len() {
        let first = following.reuse.first_release(&rows.instances[row]);
        rows.put(row, first);
    }
    Ok(rows.write(state))
}

/// Logs the ends of a step that are followed by a re-injection, and advances the new instances
/// through the rest of the step.
pub(super) fn follow(
    stepper: &Stepper,
    mut state: State,
    following: &Reinjection,
    (step, times): (u64, [f64; 2]),
    ends: &mut Vec<End>,
) -> Result<State> {
    let [slots, _] = state.status.dims();
    let mut counts = vec![0; slots];
    loop {
        let mut rows = Rows::read(&state)?;
        for (row, counts) in counts.iter_mut().enumerate() {
            let Some(end) = rows.reinject(row, following) else { continue };
            ends.push(end);
            *counts += 1;
            if *counts > MAX_INSTANCES_PER_STEP {
                rows.defer_release(row, step);
            }
        }
        let starts = rows.starts(step);
        state = rows.write(state);
        if starts.is_empty() {
            break;
        }
        for start in starts {
            let mask = state.released(step, start, 0.0);
            state = step_of(stepper, state, &mask, (step, start), times)?;
        }
    }
    Ok(state)
}

/// Logs ends at the end of a step that are followed by a re-injection. The new instances start with
/// the next step.
pub(super) fn follow_at_end(
    state: State,
    following: &Reinjection,
    step: u64,
    ends: &mut Vec<End>,
) -> Result<State> {
    let mut rows = Rows::read(&state)?;
    for row in 0..rows.instances.len() {
        let end = rows.reinject(row, following);
        let next = &mut rows.instances[row];
        if end.is_some() && next.step == step as i32 {
            // Adaptive runs keep the next step size here; 0 means none.
            (next.status, next.fraction) = (ACTIVE, 0.0);
        }
        ends.extend(end);
    }
    Ok(rows.write(state))
}

/// Particles on the host.
struct Rows {
    instances: Vec<Instance>,
    /// Rows that have changed.
    is_new: Vec<bool>,
}

impl Rows {
    fn read(state: &State) -> Result<Self> {
        let [status, step] = [ints(&state.status)?, ints(&state.step)?];
        let [generation, location] = [ints(&state.generation)?, ints(&state.location)?];
        let [fraction, position] = [floats(&state.fraction)?, floats(&state.position)?];
        let position: &[[f64; 3]] = position.as_chunks().0;
        let instance = |row: usize| Instance {
            slot: state.first_slot + row as u32,
            generation: generation[row] as u32,
            status: status[row],
            step: step[row],
            fraction: fraction[row],
            location: location[row],
            position: position[row],
        };
        let instances: Vec<Instance> = (0..status.len()).map(instance).collect();
        Ok(Rows { is_new: vec![false; instances.len()], instances })
    }

    /// Writes changed rows into the tensors; the others stay in their graphs.
    fn write(self, state: State) -> State {
        if !self.is_new.contains(&true) {
            return state;
        }
        let Rows { instances, is_new } = self;
        let n = instances.len();
        let device = state.status.device();
        let column = |numbers: Vec<i32>| {
            Tensor::<2, Int>::from_data(TensorData::new(numbers, [n, 1]), (&device, DType::I32))
        };
        let of = |number: fn(&Instance) -> i32| column(instances.iter().map(number).collect());
        let mask = column(is_new.into_iter().map(i32::from).collect()).equal_elem(1);
        let beside = (&state.position.device(), state.position.dtype());
        let position: Vec<[f64; 3]> = instances.iter().map(|each| each.position).collect();
        let position = TensorData::new(position.into_flattened(), [n, 3]);
        let position = Tensor::<2>::from_data(position, beside);
        let fraction: Vec<f64> = instances.iter().map(|each| each.fraction).collect();
        let fraction = Tensor::<2>::from_data(
            TensorData::new(fraction, [n, 1]),
            (&state.fraction.device(), state.fraction.dtype()),
        );
        let generation = of(|each| each.generation as i32);
        let all = mask.clone().expand([n, 3]);
        State {
            first_slot: state.first_slot,
            position: state.position.mask_where(all.clone(), position),
            rest: state.rest.mask_fill(all.clone(), 0.0),
            status: state.status.mask_where(mask.clone(), of(|each| each.status)),
            step: state.step.mask_where(mask.clone(), of(|each| each.step)),
            tries: state.tries,
            generation: state.generation.mask_where(mask.clone(), generation),
            image: state.image.mask_fill(all, 0),
            location: state.location.mask_fill(mask.clone(), 0),
            fraction: state.fraction.mask_where(mask, fraction),
        }
    }

    /// Replaces a row by another instance, if there is one.
    fn put(&mut self, row: usize, next: Option<Instance>) {
        if let Some(next) = next {
            (self.instances[row], self.is_new[row]) = (next, true);
        }
    }

    /// Prepares the instance that follows an ended one; returns the ended one if any follows.
    fn reinject(&mut self, row: usize, following: &Reinjection) -> Option<End> {
        let end = self.instances[row];
        let next = following.reuse.next(&end);
        self.put(row, next);
        next.map(|_| end)
    }

    /// Defers a further release in the same step to the next step.
    fn defer_release(&mut self, row: usize, step: u64) {
        let next = &mut self.instances[row];
        if next.step == step as i32 {
            (next.step, next.fraction) = (step as i32 + 1, 0.0);
        }
    }

    /// The distinct fractions of a step at which re-used slots have releases in it.
    fn starts(&self, step: u64) -> Vec<f64> {
        let waits = |each: &&Instance| each.status == WAITING && each.step == step as i32;
        let mut starts: Vec<f64> =
            self.instances.iter().filter(waits).map(|each| each.fraction).collect();
        starts.sort_by(f64::total_cmp);
        starts.dedup();
        starts
    }
}

pub(super) fn ints(column: &Tensor<2, Int>) -> Result<Vec<i32>> {
    let data = column.clone().try_into_data().map_err(failed)?;
    data.convert::<i32>().try_into_vec::<i32>().map_err(failed)
}

pub(super) fn floats(rows: &Tensor<2>) -> Result<Vec<f64>> {
    let data = rows.clone().try_into_data().map_err(failed)?;
    data.convert::<f64>().try_into_vec::<f64>().map_err(failed)
}

fn failed(error: impl std::fmt::Debug) -> Error {
    Error::Execution(format!("{error:?}"))
}
