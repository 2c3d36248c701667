//! Re-injection for the tensor engine: on the host, one slot at a time.

use super::{
    slots::{End, Reinjection},
    stepper::Stepper,
    tensor::{State, step_of},
};
use crate::{Error, Result};
use burn::tensor::{Bool, DType, Int, Tensor, TensorData};
use burntrace_kernels::{
    MAX_INSTANCES_PER_STEP, NEVER,
    status::{ACTIVE, WAITING},
};

/// Schedules the first release in a chunk for idle slots of sources.
pub(super) fn wake(state: State, following: &Reinjection) -> Result<State> {
    let mut rows = Rows::read(&state)?;
    for row in 0..rows.status.len() {
        if rows.status[row] == WAITING && rows.step[row] == NEVER {
            rows.wait(row, None, following);
        }
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
    for slot in 0..rows.status.len() {
        let end = rows.reinject(slot, following);
        if end.is_some() && rows.step[slot] == step as i32 {
            // Adaptive runs keep the next step size here; 0 means none.
            (rows.status[slot], rows.fraction[slot]) = (ACTIVE, 0.0);
        }
        ends.extend(end);
    }
    Ok(rows.write(state))
}

/// Particles on the host.
struct Rows {
    /// The slot of the first row.
    first: u32,
    position: Vec<[f64; 3]>,
    status: Vec<i32>,
    step: Vec<i32>,
    generation: Vec<i32>,
    fraction: Vec<f64>,
    /// Rows that have changed.
    is_new: Vec<bool>,
}

impl Rows {
    fn read(state: &State) -> Result<Self> {
        let status = ints(&state.status)?;
        Ok(Rows {
            first: state.first_slot,
            position: floats(&state.position)?.as_chunks().0.to_vec(),
            step: ints(&state.step)?,
            generation: ints(&state.generation)?,
            fraction: floats(&state.fraction)?,
            is_new: vec![false; status.len()],
            status,
        })
    }

    /// Writes changed rows into the tensors; the others stay in their graphs.
    fn write(self, state: State) -> State {
        if !self.is_new.contains(&true) {
            return state;
        }
        let [n, _] = state.position.dims();
        let device = state.status.device();
        let mask: Vec<i32> = self.is_new.iter().map(|is_new| i32::from(*is_new)).collect();
        let column = |numbers: Vec<i32>| {
            Tensor::<2, Int>::from_data(TensorData::new(numbers, [n, 1]), (&device, DType::I32))
        };
        let mask: Tensor<2, Bool> = column(mask).equal_elem(1);
        let beside = (&state.position.device(), state.position.dtype());
        let position = TensorData::new(self.position.into_flattened(), [n, 3]);
        let position = Tensor::<2>::from_data(position, beside);
        let fraction = Tensor::<2>::from_data(
            TensorData::new(self.fraction, [n, 1]),
            (&state.fraction.device(), state.fraction.dtype()),
        );
        let all = mask.clone().expand([n, 3]);
        State {
            first_slot: state.first_slot,
            position: state.position.mask_where(all.clone(), position),
            rest: state.rest.mask_fill(all.clone(), 0.0),
            status: state.status.mask_where(mask.clone(), column(self.status)),
            step: state.step.mask_where(mask.clone(), column(self.step)),
            tries: state.tries,
            generation: state.generation.mask_where(mask.clone(), column(self.generation)),
            image: state.image.mask_fill(all, 0),
            location: state.location.mask_fill(mask.clone(), 0),
            fraction: state.fraction.mask_where(mask, fraction),
        }
    }

    /// The slot of a row.
    fn slot(&self, row: usize) -> u32 {
        self.first + row as u32
    }

    /// As `Slot::reinject` of the fused operation.
    fn reinject(&mut self, row: usize, following: &Reinjection) -> Option<End> {
        let rules = &following.reinjection.slots;
        let (slot, status, position) = (self.slot(row), self.status[row], self.position[row]);
        let inlet = rules.inlet_after(status, position);
        if status <= ACTIVE || inlet.or_else(|| rules.source(slot)).is_none() {
            return None;
        }
        let end = End {
            slot,
            generation: self.generation[row] as u32,
            status,
            step: self.step[row],
            fraction: self.fraction[row],
            position,
        };
        self.is_new[row] = true;
        self.status[row] = WAITING;
        self.generation[row] += 1;
        match inlet {
            Some(inlet) => self.enter(row, inlet, slot, following),
            None => self.wait(row, Some((end.step, end.fraction)), following),
        }
        Some(end)
    }

    fn wait(&mut self, row: usize, after: Option<(i32, f64)>, following: &Reinjection) {
        let (slot, reinjection) = (self.slot(row), &following.reinjection);
        (self.step[row], self.fraction[row]) = (NEVER, 0.0);
        let Some(number) = reinjection.slots.source(slot) else { return };
        let source = &reinjection.slots.sources[number];
        let next = reinjection.releases[number].next(source, slot, after);
        if let Some((step, fraction)) = next {
            self.is_new[row] = true;
            (self.step[row], self.fraction[row]) = (step, fraction);
            self.enter(row, source.inlet, slot - source.first, following);
        }
    }

    fn enter(&mut self, row: usize, inlet: usize, number: u32, following: &Reinjection) {
        let inlet = following.reinjection.slots.inlets[inlet];
        let index = inlet.row(number, self.generation[row] as u32);
        self.position[row] = following.positions[index as usize];
    }

    /// Defers a further release in the same step to the next step.
    fn defer_release(&mut self, slot: usize, step: u64) {
        if self.step[slot] == step as i32 {
            (self.step[slot], self.fraction[slot]) = (step as i32 + 1, 0.0);
        }
    }

    /// The distinct fractions of a step at which re-used slots have releases in it.
    fn starts(&self, step: u64) -> Vec<f64> {
        let waits = |slot: &usize| self.status[*slot] == WAITING && self.step[*slot] == step as i32;
        let mut starts: Vec<f64> =
            (0..self.status.len()).filter(waits).map(|slot| self.fraction[slot]).collect();
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
