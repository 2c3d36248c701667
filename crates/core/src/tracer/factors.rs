//! The factors by which particles scale the second velocity of a field: checks, and what steps need of them.

use super::{Tracer, response::Column, runge_kutta::column_of, selection::RowSelection, walk};
use crate::{Error, PerParticle, Result, error::short};
use burn::tensor::Tensor;
use burntrace_kernels::{Particles, ScaledVelocity};
use std::ops::Range;

/// The factors of a run's particles, validated.
pub(super) struct Factors {
    /// The group of the field's values that they scale.
    group: usize,
    /// On the host: one for all, or one for each slot. `None` if they are drawn.
    numbers: Option<Vec<f64>>,
    given: PerParticle,
    column: Column,
}

/// Whether the factors have gradients.
pub(super) fn is_tracked(tracer: &Tracer) -> bool {
    tracer.motion.factors.as_ref().is_some_and(PerParticle::is_tracked)
}

/// Refuses factors that are neither one nor one for each of `slots`.
pub(super) fn check_count(tracer: &Tracer, slots: usize) -> Result<()> {
    let count = match &tracer.motion.factors {
        None | Some(PerParticle::Drawn(..)) => return Ok(()),
        Some(given) => given.numbers(0..0)?.len(),
    };
    match count == 1 || count == slots {
        true => Ok(()),
        false => Err(Error::Factors(format!(
            "there are {count} numbers for {slots} particles (seeds, then slots of sources); give one for each, or one for all"
        ))),
    }
}

/// The factors of a tracer's particles.
pub(super) fn factors(tracer: &Tracer) -> Result<Option<Factors>> {
    let Some(given) = tracer.motion.factors.clone() else { return Ok(None) };
    let group = tracer.field.sampled().and_then(|sampled| sampled.lanes.scaled_group());
    // A field without one is refused before.
    let Some(group) = group else { return Ok(None) };
    let numbers = match &given {
        PerParticle::Drawn(distribution, _) => match distribution.flaw() {
            Some(flaw) => return Err(Error::Factors(format!("their distribution has {flaw}"))),
            None => None,
        },
        _ => Some(given.numbers(0..0)?),
    };
    // Finite in single precision too.
    let is_bad = |(_, number): &(usize, &f64)| !(-1e30..=1e30).contains(*number);
    if let Some((slot, number)) = numbers.iter().flatten().enumerate().find(is_bad) {
        return Err(Error::Factors(format!(
            "that of particle {slot} is {}; give a number up to 1e30",
            short(*number)
        )));
    }
    let device = walk::device(tracer, given.is_tracked());
    let column = given.on_device(tracer, &device)?;
    Ok(Some(Factors { group, numbers, given, column }))
}

impl Factors {
    /// What the fused engine needs of the particles in some slots.
    pub fn of_launch(&self, slots: Range<usize>) -> Result<ScaledVelocity> {
        let factors = match &self.numbers {
            None => self.given.numbers(slots)?,
            Some(numbers) if numbers.len() == 1 => numbers.clone(),
            Some(numbers) => {
                let known = slots.start.min(numbers.len())..slots.end.min(numbers.len());
                let mut factors = numbers[known].to_vec();
                // Idle particles of a warm-up have none.
                factors.resize(slots.len(), 0.0);
                factors
            }
        };
        Ok(ScaledVelocity { group: self.group, factors: factors.into() })
    }

    /// The factors of some rows of particles, the first of which has the slot `first`: a column `[n, 1]`, or one number `[1, 1]`.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn of_rows(
        &self,
        (first, particles): (usize, &Particles),
        rows: &RowSelection,
    ) -> Result<Tensor<2>> {
        let slots = first..first + particles.count();
        let Some(listed) = &particles.slots else { return Ok(self.column.of(&slots, rows)) };
        let all = self.given.of_slots(&slots)?;
        let of_row = |row: &usize| all[(listed[*row] as usize).min(all.len() - 1)];
        Ok(column_of(rows.rows().iter().map(of_row), &particles.position))
    }
}
