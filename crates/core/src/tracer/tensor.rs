//! The tensor engine: every step in Burn's own tensor operations.
//!
//! It works for any field and can be differentiated. Paths are replayed by the event loop of the
//! fused operation ([`replay`]).

use super::{
    adapt,
    hook::{self, HookContext},
    reinjection,
    replay::{self, Ends},
    runge_kutta::{StepResult, StepTimes, rk_step},
    selection::RowSelection,
    slots::{End, Reinjection},
    stepper::Stepper,
    walk::{self, SlotGeneration},
};
use crate::{Result, Status, schedule::Chunk};
use burn::tensor::{Bool, DType, Int, Tensor};
use burntrace_kernels::Particles;

/// Advances particles by a chunk. Also returns the ends that are followed by a re-injection.
pub(super) fn advance(
    stepper: &Stepper,
    (first_slot, particles): (u32, Particles),
    chunk: &Chunk,
    following: Option<&Reinjection>,
) -> Result<(Particles, Vec<End>)> {
    let mut state = State::unpack(first_slot, particles);
    let mut ends = Vec::new();
    if let Some(following) = following {
        state = reinjection::wake(state, following)?;
    }
    for (j, pair) in chunk.times.windows(2).enumerate() {
        let step = chunk.first_step + j as u64;
        let times = [pair[0], pair[1]];
        let before = stepper.hook.as_ref().map(|_| state.clone());
        let first = ends.len();
        let active = state.is(Status::Active);
        let mut moves = vec![(active, 0.0)];
        let here = stepper.releases.iter().filter(|release| release.step == step);
        moves.extend(here.map(|r| (state.released(step, r.fraction, 1e-6), r.fraction)));
        for (mask, start) in moves {
            state = step_of(stepper, state, &mask, (step, start), times)?;
        }
        if let Some(following) = following {
            state = reinjection::follow(stepper, state, following, (step, times), &mut ends)?;
        }
        if let Some(before) = before {
            let context = HookContext { before, following, index: step, times };
            state = hook::after_step(stepper, &context, state, &mut ends, first)?;
        }
    }
    Ok((state.pack(), ends))
}

/// Particles with their records unpacked; all tensors have one row for each particle.
#[derive(Clone)]
pub(super) struct State {
    /// The slot of the first row.
    pub first_slot: u32,
    pub position: Tensor<2>,
    /// The rests of the positions, without gradients.
    pub rest: Tensor<2>,
    pub status: Tensor<2, Int>,
    pub step: Tensor<2, Int>,
    pub image: Tensor<2, Int>,
    pub location: Tensor<2, Int>,
    pub generation: Tensor<2, Int>,
    /// Steps accepted and rejected `[n, 2]`.
    pub tries: Tensor<2, Int>,
    pub fraction: Tensor<2>,
}

impl State {
    pub fn unpack(first_slot: u32, particles: Particles) -> Self {
        let n = particles.count();
        State {
            first_slot,
            status: particles.status().reshape([n, 1]),
            step: particles.event_step().reshape([n, 1]),
            image: particles.image(),
            location: particles.location().reshape([n, 1]),
            generation: particles.generation().reshape([n, 1]),
            tries: particles.tries(),
            position: particles.coordinates(),
            rest: particles.rest().detach(),
            fraction: particles.fraction.reshape([n, 1]),
        }
    }

    pub fn pack(self) -> Particles {
        let [n, _] = self.position.dims();
        Particles {
            record: Tensor::cat(
                vec![
                    self.status,
                    self.step,
                    self.image,
                    self.location,
                    self.generation,
                    self.tries,
                ],
                1,
            ),
            fraction: self.fraction.reshape([n]),
            position: Tensor::cat(vec![self.position, self.rest], 1),
            tangents: None,
            slots: None,
        }
    }

    /// The state of the selected rows; their slots are not consecutive.
    pub fn select(&self, rows: &RowSelection) -> State {
        if rows.is_all() {
            return self.clone();
        }
        let all = self.clone().pack();
        let part = Particles {
            position: rows.take(&all.position),
            record: rows.take(&all.record),
            fraction: rows.take(&all.fraction),
            tangents: None,
            slots: None,
        };
        State::unpack(self.first_slot, part)
    }

    /// This state with the selected rows replaced by those of `part`.
    pub fn put(self, rows: &RowSelection, part: State) -> State {
        if rows.is_all() {
            return part;
        }
        let first_slot = self.first_slot;
        let (all, part) = (self.pack(), part.pack());
        let all = Particles {
            position: rows.put(all.position, part.position),
            record: rows.put(all.record, part.record),
            fraction: rows.put(all.fraction, part.fraction),
            tangents: None,
            slots: None,
        };
        State::unpack(first_slot, all)
    }

    /// Counts a step of the selected particles as accepted, and of the others as rejected.
    pub fn count_tries(&mut self, accepted: &RowSelection) {
        let rejected = Tensor::<2, Int>::from_data([[0, 1]], (&self.tries.device(), DType::I32));
        let shift = Tensor::<2, Int>::from_data([[1, -1]], (&self.tries.device(), DType::I32));
        let all = self.tries.clone() + rejected;
        self.tries = accepted.put(all.clone(), accepted.take(&all) + shift);
    }

    /// Mask of particles with a status `[n, 1]`.
    pub fn is(&self, status: Status) -> Tensor<2, Bool> {
        self.status.clone().equal_elem(status.code())
    }

    /// Mask of particles that are due for release at this fraction of this step, within a tolerance
    /// `[n, 1]`.
    pub fn released(&self, step: u64, fraction: f64, slack: f64) -> Tensor<2, Bool> {
        let in_step = self.step.clone().equal_elem(step as i32);
        let off = self.fraction.clone().sub_scalar(fraction).abs();
        self.is(Status::Waiting).bool_and(in_step).bool_and(off.lower_equal_elem(slack))
    }
}

/// Advances the selected particles from the fraction `start` of a step to its end.
pub(super) fn step_of(
    stepper: &Stepper,
    state: State,
    mask: &Tensor<2, Bool>,
    (index, start): (u64, f64),
    times: [f64; 2],
) -> Result<State> {
    let rows = RowSelection::of(mask)?;
    if rows.is_empty() {
        return Ok(state);
    }
    let part = state.select(&rows);
    let part = match &stepper.adaptive {
        Some(control) => adapt::steps_of(stepper, control, part, (index, start), times)?,
        None => {
            let slots = walk::slots(stepper, &part, &rows)?;
            fixed_step(stepper, part, &slots, (index, start), times)?
        }
    };
    Ok(state.put(&rows, part))
}

/// Advances particles from the fraction `start` of a step to its end in one step.
fn fixed_step(
    stepper: &Stepper,
    part: State,
    slots: &[SlotGeneration],
    (index, start): (u64, f64),
    [t, end]: [f64; 2],
) -> Result<State> {
    let whole = end - t;
    let (time, h) = (t + start * whole, (1.0 - start) * whole);
    let attempt = |part: &State, slots: &[SlotGeneration]| -> Result<StepResult> {
        let mut result = rk_step(stepper, part, &StepTimes::Common { time, h })?;
        if let Some(walk) = &stepper.walk {
            let steps = (slots, index);
            let displacement = walk::diffuse(walk, stepper, &part.position, (time, h), steps)?;
            (result.to, result.rest) = sum(&result.to, displacement + result.rest);
        }
        Ok(result)
    };
    let StepResult { to, rest, slow, velocity, .. } = attempt(&part, slots)?;
    let to = without_lost(to, |rows| {
        let slots: Vec<_> = rows.rows().iter().filter_map(|row| slots.get(*row).copied()).collect();
        Ok(attempt(&part.select(rows), &slots)?.to)
    })?;
    let ends = replay::follow(stepper, &part.position, &to, &part.location)?;
    if let (None, Some(ends)) = (&slow, &ends)
        && ends.are_free()
    {
        let location = ends.locations(part.location);
        let status = match stepper.releases.is_empty() && !stepper.reuses_slots {
            true => part.status,
            false => part.status.zeros_like().add_scalar(Status::Active.code()),
        };
        return Ok(State { position: to, rest, status, location, ..part });
    }
    let span = [start, 1.0].map(|fraction| part.fraction.zeros_like().add_scalar(fraction));
    let lost = lost_status(stepper, &part, index, || finite(&velocity).bool_not());
    let pinned_below = pinned_below(stepper, [&span[0], &span[1]], whole);
    let end = FreeEnd { to, rest, slow, lost, pinned_below, ends };
    arrive(stepper, part, (index, span), end)
}

/// The ends of steps, before boundaries.
pub(super) struct FreeEnd {
    /// Positions `[n, 3]`, and their rests.
    pub to: Tensor<2>,
    pub rest: Tensor<2>,
    /// Mask of particles slower than the threshold speed `[n, 1]`, if there is one.
    pub slow: Option<Tensor<2, Bool>>,
    /// The status of a particle whose end is not finite `[n, 1]`.
    pub lost: Tensor<2, Int>,
    /// Length below which a path with events makes a particle stagnant `[n, 1]`.
    pub pinned_below: Option<Tensor<2>>,
    /// The ends of the paths to `to`, if they are known.
    pub ends: Option<Ends>,
}

/// The statuses of particles whose end is not finite `[n, 1]`. In a field with holes, `unknown` gives the
/// mask of those at whose position, at the start of a path, the field has no velocity.
pub(super) fn lost_status(
    stepper: &Stepper,
    part: &State,
    index: u64,
    unknown: impl FnOnce() -> Tensor<2, Bool>,
) -> Tensor<2, Int> {
    let status = |status: Status| part.status.zeros_like().add_scalar(status.code());
    if !stepper.has_holes() {
        return status(Status::NonFinite);
    }
    // Until the end of a particle, its event is its release.
    let is_first = part.step.clone().equal_elem(index as i32);
    status(Status::LeftField).mask_fill(is_first.bool_and(unknown()), Status::NotLocated.code())
}

/// The length below which a particle is stagnant after a step between two fractions of one of length
/// `whole`; `None` without a threshold speed, and for random walks.
pub(super) fn pinned_below(
    stepper: &Stepper,
    [start, until]: [&Tensor<2>; 2],
    whole: f64,
) -> Option<Tensor<2>> {
    let is_used = stepper.stagnant_speed > 0.0 && stepper.walk.is_none();
    let part = || until.clone() - start.clone();
    is_used.then(|| part().mul_scalar(stepper.stagnant_speed * whole.abs()))
}

/// The ends of steps, with a graph of the finite ones only: if gradients are tracked and some ends
/// are not finite, `again` takes the steps of the other rows once more. The lost rows would turn
/// the gradient of a parameter of the field into NaN, even with zero weight.
pub(super) fn without_lost(
    to: Tensor<2>,
    again: impl FnOnce(&RowSelection) -> Result<Tensor<2>>,
) -> Result<Tensor<2>> {
    if !to.device().is_autodiff() {
        return Ok(to);
    }
    let finite = RowSelection::of(&finite(&to))?;
    Ok(match (finite.is_all(), finite.is_empty()) {
        (true, _) => to,
        (_, true) => to.detach(),
        _ => finite.put(to.detach(), again(&finite)?),
    })
}

/// Positions after displacements, and what the sums lose by rounding (Dekker's fast two-sum).
pub(super) fn sum(from: &Tensor<2>, displacement: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    let to = from.clone() + displacement.clone();
    let moved = to.clone().detach() - from.clone().detach();
    (to, displacement.detach() - moved)
}

/// Applies boundaries to displacements to `to`, from the fractions `start` of a step to the
/// fractions `until`, both `[n, 1]`.
pub(super) fn arrive(
    stepper: &Stepper,
    state: State,
    (index, [start, until]): (u64, [Tensor<2>; 2]),
    end: FreeEnd,
) -> Result<State> {
    let FreeEnd { to, rest, slow, lost: lost_status, pinned_below, ends } = end;
    let from = state.position.clone();
    let spread = |mask: &Tensor<2, Bool>| mask.clone().expand(from.dims());

    let lost = finite(&to).bool_not();
    // Non-finite positions are replaced, so that no gradient meets a NaN.
    let to = to.mask_where(spread(&lost), from.clone());
    let ends = match ends {
        Some(ends) => Some(ends),
        None => replay::follow(stepper, &from, &to, &state.location)?,
    };
    let mut landing = replay::land(ends, &from, &to)?;
    if let Some(length) = pinned_below {
        let is_active = landing.status.clone().equal_elem(Status::Active.code());
        let is_pinned = landing.moved(&to).lower(length).bool_and(is_active);
        landing.status = landing.status.mask_fill(is_pinned, Status::Stagnant.code());
    }
    let slow = slow.unwrap_or_else(|| lost.clone().bool_and(lost.clone().bool_not()));
    let stays = lost.clone().bool_or(slow.clone());
    let moves = stays.clone().bool_not();
    let exits = landing.status.clone().not_equal_elem(Status::Active.code());
    let exits = moves.clone().bool_and(exits);
    let ended = stays.bool_or(exits.clone());
    let when = landing.fraction * (until - start.clone()) + start.clone();
    // Along axes on which nothing but periods came between.
    let is_free = landing.position.clone().detach().equal(to.clone().detach());
    let is_free = is_free.bool_or(landing.image.clone().not_equal_elem(0));
    let rest = rest.mask_fill(is_free.bool_not(), 0.0);
    let image = state.image.clone() + landing.image;
    Ok(State {
        first_slot: state.first_slot,
        position: from.clone().mask_where(spread(&moves), landing.position),
        rest: state.rest.mask_where(spread(&moves), rest),
        image: state.image.mask_where(spread(&moves), image),
        status: landing
            .status
            .mask_fill(slow, Status::Stagnant.code())
            .mask_where(lost, lost_status),
        location: state.location.mask_where(moves, landing.location),
        generation: state.generation,
        tries: state.tries,
        step: state.step.mask_fill(ended.clone(), index as i32),
        fraction: state.fraction.mask_where(ended, start).mask_where(exits, when),
    })
}

/// Mask of finite positions `[n, 1]`.
pub(super) fn finite(p: &Tensor<2>) -> Tensor<2, Bool> {
    let p = p.clone().detach();
    let axis = |d: usize| p.clone().narrow(1, d, 1).is_finite();
    axis(0).bool_and(axis(1)).bool_and(axis(2))
}
