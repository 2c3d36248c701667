//! A user-defined operation after each step: swimming, a force, a learned correction.

mod on_host;

use super::{
    Tracer,
    arrays::is_host,
    each_step::{Hook, Step},
    fused,
    reinjection::{End, Reinjection},
    runge_kutta::column_of,
    settling::{self, Slotted, StepSpan},
    stepper::Stepper,
};
use crate::{
    Error, Result, Sampled, Status, field::evaluate::plain, schedule::Chunk, sphere::CIRCLE,
};
use burn::tensor::{Bool, Tensor};
use burntrace_kernels::{FreeEnds, NEVER, Particles, settling::PUSHED, status::WAITING};

/// The operation of a tracer, if it has one.
pub(super) fn hook<'a>(tracer: &Tracer<'a>) -> Option<Hook<'a>> {
    let operation = tracer.each_step.clone()?;
    Some(Hook {
        operation,
        flat: [0, 1, 2].map(|d| tracer.domain_box().is_flat(d)),
        is_on_sphere: tracer.field.sampled().is_some_and(|field| field.radius().is_some()),
    })
}

/// A step after which the operation is called.
pub(super) struct HookContext<'a> {
    /// The particles before it.
    pub before: Particles,
    pub slotted: Slotted<'a>,
    pub step: StepSpan,
}

/// Advances particles by a chunk on the fused engine, one step per launch, with turbulence before each and the operation after
/// it. Also returns the ends that are followed by a re-injection.
pub(super) fn advance(
    stepper: &Stepper,
    field: &Sampled,
    particles: (u32, Particles),
    chunk: &Chunk,
    following: Option<&Reinjection>,
) -> Result<(Particles, Vec<End>)> {
    match &stepper.hook {
        Some(hook)
            if following.is_none()
                && stepper.turbulence.is_none()
                && is_host(&particles.1.position.device()) =>
        {
            on_host::advance(stepper, hook, field, particles, chunk)
                .map(|moved| (moved, Vec::new()))
        }
        _ => in_tensors(stepper, field, particles, chunk, following),
    }
}

/// As [`advance`], with tensor operations after each launch.
fn in_tensors(
    stepper: &Stepper,
    field: &Sampled,
    (first, mut particles): (u32, Particles),
    chunk: &Chunk,
    following: Option<&Reinjection>,
) -> Result<(Particles, Vec<End>)> {
    let mut all = Vec::new();
    for j in 0..chunk.steps() {
        let part = chunk.part(j..j + 1, false);
        let following = following.map(|following| following.during(&part));
        let slotted = Slotted { first, following: following.as_ref() };
        let step = StepSpan { index: part.first_step, times: [part.times[0], part.end()] };
        particles = slotted.wake(stepper, particles, &step)?;
        if let Some(turbulence) = &stepper.turbulence {
            particles = turbulence.renewed(stepper, first, particles, &step)?;
        }
        let context = HookContext { before: particles.clone(), slotted, step };
        let launch = (first, particles);
        let (moved, mut ends) = fused::advance(stepper, field, launch, &part, following.as_ref())?;
        particles = after_step(stepper, &context, moved, (&mut ends, 0))?;
        all.append(&mut ends);
    }
    Ok((particles, all))
}

/// Applies the operation, if there is one, to particles after a step. `ends[first..]` are the ends
/// within that step.
pub(super) fn after_step(
    stepper: &Stepper,
    context: &HookContext,
    particles: Particles,
    (ends, first): (&mut Vec<End>, usize),
) -> Result<Particles> {
    let Some(hook) = &stepper.hook else { return Ok(particles) };
    let step = arguments(stepper, context, &particles, &ends[first..])?;
    let (after, active) = (step.after.clone(), step.active.clone());
    let to = checked((hook.operation)(step), &after)?;
    let free = pushed(hook, &particles, [to, after], active);
    let segment = settling::displacement(stepper, &context.step);
    context.slotted.settle(stepper, (particles, free), segment, ends)
}

/// The free ends of active particles, which an operation moves from `after` to `to` at the end of a step.
fn pushed(
    hook: &Hook,
    particles: &Particles,
    [to, after]: [Tensor<2>; 2],
    active: Tensor<2, Bool>,
) -> FreeEnds {
    let free = settling::resting(particles, 0);
    FreeEnds {
        displacement: hook.shorter(hook.without_flat(to, &after) - after),
        flags: free.flags.mask_fill(active.squeeze_dim(1), PUSHED),
        ..free
    }
}

/// The arguments of the operation.
fn arguments(
    stepper: &Stepper,
    context: &HookContext,
    particles: &Particles,
    ends: &[End],
) -> Result<Step> {
    let active = particles.status().equal_elem(Status::Active.code()).unsqueeze_dim::<2>(1);
    let (mut before, after) = (context.before.coordinates(), particles.coordinates());
    if context.slotted.following.is_some() {
        let is_new = particles.generation().not_equal(context.before.generation());
        let is_new = is_new.unsqueeze_dim::<2>(1).expand(after.dims());
        before = before.mask_where(is_new, after.clone());
    }
    let dt = lengths(stepper, context, &after, ends)?;
    Ok(Step {
        before: plain(stepper.field, before),
        after: plain(stepper.field, after),
        dt: dt.mask_fill(active.clone().bool_not(), 0.0),
        active,
        times: context.step.times,
        first_slot: context.slotted.first as usize,
        index: context.step.index,
    })
}

/// Time by which active particles at `position` were advanced in a step `[n, 1]`.
fn lengths(
    stepper: &Stepper,
    context: &HookContext,
    position: &Tensor<2>,
    ends: &[End],
) -> Result<Tensor<2>> {
    let StepSpan { index, times: [start, end] } = context.step;
    let whole = end - start;
    let has_release = stepper.releases.iter().any(|release| release.step == index);
    if context.slotted.following.is_none() && !has_release {
        return Ok(position.clone().narrow(1, 0, 1).detach().zeros_like().add_scalar(whole));
    }
    let starts = starts(context, ends)?;
    Ok(column_of(starts.into_iter().map(|start| (1.0 - start) * whole), position))
}

/// The fractions of the step at which instances were released in it; 0 for the others `[n]`.
fn starts(context: &HookContext, ends: &[End]) -> Result<Vec<f64>> {
    let Slotted { first, following } = context.slotted;
    let mut starts = settling::fractions(&context.before)?;
    let status = settling::column(context.before.status())?;
    let step = settling::column(context.before.event_step())?;
    for (slot, start) in starts.iter_mut().enumerate() {
        if status[slot] != WAITING || step[slot] != context.step.index as i32 {
            *start = 0.0;
        }
    }
    let mut ends = ends.to_vec();
    ends.sort_unstable_by_key(|end| end.generation);
    for end in ends {
        let next = following.and_then(|following| following.reuse.next(&end));
        if let Some(next) = next.filter(|next| next.step != NEVER) {
            starts[(end.slot - first) as usize] = next.fraction;
        }
    }
    Ok(starts)
}

/// Validates the positions that an operation returned.
fn checked(to: Tensor<2>, after: &Tensor<2>) -> Result<Tensor<2>> {
    let is_alike = to.dims() == after.dims() && to.dtype() == after.dtype();
    if is_alike && to.device() == after.device() {
        return Ok(to);
    }
    let say = |p: &Tensor<2>| format!("{:?} in {:?} on {:?}", p.dims(), p.dtype(), p.device());
    Err(Error::EachStep(format!("it returned {}; return {}", say(&to), say(after))))
}

impl Hook<'_> {
    /// Displacements, on a sphere without whole turns of longitude.
    fn shorter(&self, by: Tensor<2>) -> Tensor<2> {
        if !self.is_on_sphere {
            return by;
        }
        let turns = by.clone().detach().narrow(1, 0, 1).div_scalar(CIRCLE).round();
        let none = Tensor::cat(vec![turns.zeros_like(); 2], 1);
        by - Tensor::cat(vec![turns, none], 1).mul_scalar(CIRCLE)
    }

    /// The new positions, with the old coordinates along flat axes.
    fn without_flat(&self, to: Tensor<2>, after: &Tensor<2>) -> Tensor<2> {
        if self.flat == [false; 3] {
            return to;
        }
        let columns =
            [0, 1, 2].map(|d| (if self.flat[d] { after } else { &to }).clone().narrow(1, d, 1));
        Tensor::cat(columns.to_vec(), 1)
    }
}
