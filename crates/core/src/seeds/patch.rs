//! Seeds on a patch of a mesh boundary.

use super::{Seeds, check_count, check_finite, reserve};
use crate::field::evaluate;
use crate::mesh::{FacePosition, FaceSampler, Mesh};
use crate::random::uniform;
use crate::{Error, Field, Patch, Result};
use std::ops::Range;

/// Maximum number of draws for a seed.
const MAX_DRAWS: u32 = 1 << 20;

/// Numbers for a draw: four for a position on a face, and one for the flux.
const NUMBERS: u32 = 5;

/// Number of positions from which the maximum inflow is found, and maximum number of draws for them.
const TRIAL: usize = 1 << 16;
const TRIAL_DRAWS: u64 = 1 << 22;

/// Maximum number of positions for each evaluation of the velocity, and the number below which seeds
/// have several candidates in an evaluation.
const BATCH: usize = 1 << 14;
const MIN_BATCH: usize = 1 << 10;

/// Minimum acceptance rate of a flux: one position in this many.
const MAX_REJECTION: f64 = 1000.0;

impl Seeds {
    /// Seeds that are uniformly distributed on the faces of a patch of a mesh boundary, by area (by
    /// length in two dimensions), also on curved and distorted faces. Only the name and the box of
    /// the patch matter, not its condition.
    ///
    /// The positions are in the data's unit of length. They are inside the mesh: each is moved from
    /// its face into the cell, by less than the mesh's [tolerance](Mesh::tolerance).
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if the count is 0 or too large, and [`Error::Patch`] if no boundary face is in
    /// the box of the patch, if its box is empty, or if fewer than one in a million positions on the
    /// faces that meet the box are inside it.
    pub fn on_patch(mesh: &Mesh, patch: &Patch, count: usize, seed: u64) -> Result<Self> {
        check_count(count)?;
        let draws = PatchDraws::new(mesh, patch, seed)?;
        Seeds::try_generate(count, |i| Ok(draws.next(i as u64, &mut 0)?.face.position))
    }

    /// As [`on_patch`](Seeds::on_patch), with a number of seeds per area in proportion to the velocity
    /// along the inward normal of the patch, of a field on a mesh at a time. Positions at which the
    /// flow leaves, or at which its velocity is undefined, have no seeds. In runs backward in time,
    /// the velocity is not reversed.
    ///
    /// The maximum inflow is found at 65,536 positions. If it is higher elsewhere, there are as many
    /// seeds as with that maximum.
    ///
    /// # Errors
    ///
    /// As [`on_patch`](Seeds::on_patch); [`Error::Patch`] also if the field has no mesh, if no flow
    /// enters through the patch, or if the maximum inflow is more than a thousand times its mean;
    /// [`Error::OutsideTime`] if the field is not known at the time, and errors of the field.
    pub fn on_patch_by_flux(
        field: &dyn Field,
        patch: &Patch,
        time: f64,
        count: usize,
        seed: u64,
    ) -> Result<Self> {
        check_count(count)?;
        check_finite("the time of the flux", &[time])?;
        if let Some([first, last]) = field.times().filter(|[a, b]| !(*a..=*b).contains(&time)) {
            return Err(Error::OutsideTime { t0: time, t1: time, first, last });
        }
        let Some(mesh) = field.mesh() else {
            return patch.fail("the field has no mesh; patches apply to mesh boundaries only");
        };
        let draws = PatchDraws::new(mesh, patch, seed)?;
        let mut flux = FluxDraws { draws, field, time, max_inflow: 0.0 };
        flux.max_inflow = flux.find_maximum()?;
        let mut positions = Vec::new();
        reserve(&mut positions, count)?;
        for first in (0..count).step_by(BATCH) {
            positions.extend(flux.positions(first..count.min(first + BATCH))?);
        }
        Seeds::list(positions)
    }
}

/// Random positions on the faces of a patch, a sequence of them for each seed.
struct PatchDraws<'a> {
    sampler: FaceSampler<'a>,
    patch: &'a Patch,
    seed: u64,
}

/// A candidate for a seed.
struct Candidate {
    face: FacePosition,
    /// Fraction of the maximum inflow that the inflow must exceed.
    threshold: f64,
}

impl<'a> PatchDraws<'a> {
    fn new(mesh: &'a Mesh, patch: &'a Patch, seed: u64) -> Result<Self> {
        match FaceSampler::new(mesh, patch.region(mesh)?) {
            Some(sampler) => Ok(PatchDraws { sampler, patch, seed }),
            None => patch.without_faces(mesh),
        }
    }

    /// A draw for a seed (`generation` 0) or for the maximum inflow (1); `None` if it is rejected.
    fn draw(&self, slot: u64, generation: u32, draw: u32) -> Option<Candidate> {
        let number = |j: u32| uniform(self.seed, slot, generation, NUMBERS * draw + j);
        let face = self.sampler.position([0, 1, 2, 3].map(number))?;
        Some(Candidate { face, threshold: number(4) })
    }

    /// The next candidate for a seed; `draws` counts its draws.
    fn next(&self, slot: u64, draws: &mut u32) -> Result<Candidate> {
        while *draws < MAX_DRAWS {
            *draws += 1;
            if let Some(found) = self.draw(slot, 0, *draws - 1) {
                return Ok(found);
            }
        }
        self.too_small()
    }

    fn too_small<T>(&self) -> Result<T> {
        self.patch.fail(
            "its box contains too little of the boundary faces that meet it: random positions on \
             these faces are not inside; make it larger",
        )
    }
}

/// Candidates that are accepted in proportion to the inflow.
struct FluxDraws<'a> {
    draws: PatchDraws<'a>,
    field: &'a dyn Field,
    time: f64,
    /// Maximum velocity along the inward normal.
    max_inflow: f64,
}

impl FluxDraws<'_> {
    /// Velocities along the inward normals of faces.
    fn inflow(&self, candidates: &[Candidate]) -> Result<Vec<f64>> {
        let positions: Vec<[f64; 3]> = candidates.iter().map(|c| c.face.position).collect();
        let found = evaluate::velocities(self.field, &positions, self.time)?;
        let along = |(v, c): (&[f64; 3], &Candidate)| -> f64 {
            v.iter().zip(c.face.inward).map(|(v, normal)| v * normal).sum()
        };
        Ok(found.iter().zip(candidates).map(along).collect())
    }

    /// The maximum inflow, at positions that depend on the seed only.
    fn find_maximum(&self) -> Result<f64> {
        let trial = (0..TRIAL_DRAWS).filter_map(|slot| self.draws.draw(slot, 1, 0));
        let trial: Vec<Candidate> = trial.take(TRIAL).collect();
        if trial.is_empty() {
            return self.draws.too_small();
        }
        let mut inflow = Vec::with_capacity(trial.len());
        for part in trial.chunks(BATCH) {
            inflow.extend(self.inflow(part)?);
        }
        inflow.retain(|speed| speed.is_finite());
        let max = inflow.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let entering = inflow.iter().map(|speed| speed.max(0.0)).sum::<f64>();
        if max <= 0.0 {
            return self.no_inflow(&inflow, max);
        }
        let mean = entering / trial.len() as f64;
        if max > MAX_REJECTION * mean {
            return self.draws.patch.fail(format!(
                "the inflow is limited to a small part of it: its maximum is {} and its mean is {}; \
                 make it smaller, around the inflow",
                rounded(max),
                rounded(mean)
            ));
        }
        Ok(max)
    }

    fn no_inflow<T>(&self, inflow: &[f64], max: f64) -> Result<T> {
        let (count, time) = (inflow.len(), self.time);
        if count == 0 {
            return self.draws.patch.fail(format!(
                "the velocity is undefined at all positions on it at time {time}; choose another \
                 patch or time, or distribute the positions by area"
            ));
        }
        let (mean, max) = (rounded(inflow.iter().sum::<f64>() / count as f64), rounded(max));
        self.draws.patch.fail(format!(
            "no flow enters through it at time {time}: at {count} positions on it, the velocity \
             along the inward normal is {mean} on average and at most {max}; choose a patch with \
             inflow, or distribute the positions by area"
        ))
    }

    /// The positions of a range of seeds: for each, the first candidate with enough inflow.
    fn positions(&self, seeds: Range<usize>) -> Result<Vec<[f64; 3]>> {
        let mut found = vec![[0.0; 3]; seeds.len()];
        let mut draws = vec![0; seeds.len()];
        let mut waiting: Vec<usize> = (0..seeds.len()).collect();
        while !waiting.is_empty() {
            let each = (MIN_BATCH / waiting.len()).max(1);
            let mut candidates = Vec::with_capacity(each * waiting.len());
            for i in &waiting {
                for _ in 0..each {
                    candidates.push(self.draws.next((seeds.start + i) as u64, &mut draws[*i])?);
                }
            }
            let inflow = self.inflow(&candidates)?;
            let mut groups = candidates.chunks(each).zip(inflow.chunks(each));
            waiting.retain(|i| {
                let accepted = groups.next().and_then(|(group, inflow)| self.first(group, inflow));
                accepted.inspect(|position| found[*i] = *position).is_none()
            });
        }
        Ok(found)
    }

    /// The first accepted candidate.
    fn first(&self, candidates: &[Candidate], inflow: &[f64]) -> Option<[f64; 3]> {
        let mut both = candidates.iter().zip(inflow);
        let accepted = both.find(|(c, inflow)| c.threshold * self.max_inflow < **inflow);
        accepted.map(|(candidate, _)| candidate.face.position)
    }
}

/// A number with six significant digits, for messages.
fn rounded(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests;
