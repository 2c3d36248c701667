//! The particles of a run: all on the device, or on the host and sent to the device in batches.

use super::{
    arrays::is_host,
    rows::{self, Rows},
};
use crate::{
    Error, Result, Status,
    combinations::{Feature, refusal},
    device,
};
use burn::tensor::{Device, Tensor};
use burntrace_kernels::Particles;
use std::ops::Range;

/// The particles of a run.
pub(super) enum ParticleStore {
    /// All particles; `None` while they are in a launch.
    OnDevice { particles: Option<Box<Particles>>, count: usize },
    /// In the order of their slots.
    OnHost { rows: Box<Rows>, device: Device },
}

impl ParticleStore {
    pub fn on_device(particles: Particles) -> Self {
        ParticleStore::OnDevice { count: particles.count(), particles: Some(Box::new(particles)) }
    }

    pub fn on_host(rows: Rows, device: &Device) -> Self {
        ParticleStore::OnHost { rows: Box::new(rows), device: device::plain(device) }
    }

    pub fn count(&self) -> usize {
        match self {
            ParticleStore::OnDevice { count, .. } => *count,
            ParticleStore::OnHost { rows, .. } => rows.count(),
        }
    }

    /// Whether the particles are on the host.
    pub fn is_on_host(&self) -> bool {
        matches!(self, ParticleStore::OnHost { .. })
    }

    /// Number of active particles.
    pub fn active(&mut self) -> Result<u64> {
        match self {
            ParticleStore::OnDevice { count: 0, .. } => Ok(0),
            ParticleStore::OnDevice { particles, .. } => {
                let all = particles.take().ok_or_else(lost)?;
                let device = all.position.device();
                if is_host(&device) {
                    let rows = Rows::read(*all, true)?;
                    let active = rows.active();
                    *particles = Some(Box::new(rows.into_particles(&device)));
                    return Ok(active);
                }
                let status = all.status();
                *particles = Some(all);
                let count = status.equal_elem(Status::Active.code()).int().sum_dim(0);
                let count = rows::ints(&count.reshape([1, 1]))?;
                Ok(count.first().map_or(0, |count| *count as u64))
            }
            ParticleStore::OnHost { rows, .. } => Ok(rows.active()),
        }
    }

    /// A batch on the device, by value: a tensor with one owner is advanced in place.
    pub fn take(&mut self, batch: Range<usize>) -> Result<Particles> {
        match self {
            ParticleStore::OnDevice { particles, .. } => Ok(*particles.take().ok_or_else(lost)?),
            ParticleStore::OnHost { rows, device } => Ok(rows.batch(batch).into_particles(device)),
        }
    }

    /// Stores a batch that starts with particle `first`.
    ///
    /// # Errors
    ///
    /// [`Error::Combination`] if the particles are on the host, which has no graph, and the batch has one.
    pub fn put(&mut self, first: usize, batch: Particles) -> Result<()> {
        match self {
            ParticleStore::OnDevice { particles, .. } => *particles = Some(Box::new(batch)),
            ParticleStore::OnHost { .. } if batch.position.device().is_autodiff() => {
                return Err(refusal(Feature::Batches, Feature::GraphGradients));
            }
            ParticleStore::OnHost { rows, .. } => rows.put(first, &Rows::read(batch, true)?),
        }
        Ok(())
    }

    /// A copy of all particles on the host, in the order of slots.
    pub fn copy(&self) -> Result<Rows> {
        match self {
            ParticleStore::OnDevice { particles, .. } => {
                Ok(Rows::read(*particles.clone().ok_or_else(lost)?, true)?.in_slot_order())
            }
            ParticleStore::OnHost { rows, .. } => Ok((**rows).clone()),
        }
    }

    /// The fractions of the steps of events `[n]`, in the graph of the particles.
    pub fn fraction(&self) -> Option<Tensor<1>> {
        match self {
            ParticleStore::OnDevice { particles, .. } => {
                particles.as_ref().map(|particles| particles.fraction.clone())
            }
            ParticleStore::OnHost { .. } => None,
        }
    }

    /// All particles on the host, in the order of slots; positions only if `with_positions` is set.
    pub fn into_rows(self, with_positions: bool) -> Result<Rows> {
        match self {
            ParticleStore::OnDevice { particles, .. } => {
                let particles = particles.ok_or_else(lost)?;
                let with_positions = with_positions || particles.slots.is_some();
                Ok(Rows::read(*particles, with_positions)?.in_slot_order())
            }
            ParticleStore::OnHost { rows, .. } => Ok(*rows),
        }
    }
}

fn lost() -> Error {
    Error::Execution("it lost the particles in a launch".into())
}
