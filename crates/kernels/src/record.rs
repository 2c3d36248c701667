//! The integers that are stored for each particle.

use crate::{
    Status,
    status::{ACTIVE, WAITING},
};
use std::mem::offset_of;

/// The integers of a particle: a row of [`Particles::record`](crate::Particles::record).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Record {
    /// Its [`Status`](crate::Status) code.
    pub status: i32,
    /// The step of its event: its release while it waits, its end once it has ended.
    pub step: i32,
    /// Periodic images: the number of boxes crossed along each axis (position + image x width is the
    /// unwrapped position).
    pub image: [i32; 3],
    /// In a mesh, one more than the number of a cell near it, or 0; if it left the mesh, eight times
    /// the number of its last cell plus the local number of the face; if it ended at an obstacle,
    /// the obstacle's index; if a condition ended it, that one's; -1 if it stuck to a domain face or to the boundary of a mesh.
    pub location: i32,
    /// The number of earlier particle instances in its slot.
    pub generation: i32,
    /// The numbers of accepted and rejected steps, with adaptive steps.
    pub accepted: i32,
    /// See `accepted`.
    pub rejected: i32,
}

impl Record {
    /// The record of a particle that has a status, and nothing else yet.
    pub fn with(status: Status, step: i32, location: i32) -> Self {
        Record { status: status.code(), step, location, ..Record::default() }
    }

    /// One more than the number of a mesh cell near a particle that has not ended, or 0.
    pub(crate) fn near_cell(&self) -> i32 {
        match self.status {
            ACTIVE | WAITING => self.location,
            _ => 0,
        }
    }

    /// Records as the integers of a tensor.
    pub fn as_numbers(records: &[Record]) -> &[i32] {
        bytemuck::cast_slice(records)
    }

    /// Records from the integers of a tensor.
    pub fn from_numbers(numbers: &[i32]) -> &[Record] {
        bytemuck::cast_slice(numbers)
    }
}

/// Columns of [`Particles::record`](crate::Particles::record).
pub const RECORD: usize = size_of::<Record>() / size_of::<i32>();

/// The columns of the record's fields.
pub(crate) const STATUS: usize = column(offset_of!(Record, status));
pub(crate) const STEP: usize = column(offset_of!(Record, step));
pub(crate) const IMAGE: usize = column(offset_of!(Record, image));
pub(crate) const LOCATION: usize = column(offset_of!(Record, location));
pub(crate) const GENERATION: usize = column(offset_of!(Record, generation));
pub(crate) const ACCEPTED: usize = column(offset_of!(Record, accepted));
#[cfg_attr(not(feature = "cube"), allow(dead_code))]
pub(crate) const REJECTED: usize = column(offset_of!(Record, rejected));

const fn column(bytes: usize) -> usize {
    bytes / size_of::<i32>()
}
