//! The state of a run between two segments, as plain data.

use super::{adjoint::FLOW_MAP_GRADIENT, rows::Rows, stepper::Stepper};
use crate::{
    DurablePosition, Engine, Error, Floats, Precision, Result, bits,
    schedule::{Cursor, Schedule},
};
use burntrace_kernels::{RECORD, TANGENTS};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, ops::Range};

/// The name of the array of tallies.
pub(super) const TALLIES: &str = "tallies";

/// The state of a run between two segments.
///
/// A resumed run gives bit-identical results. The state consists of numbers, which serde can write,
/// and of named arrays of bytes (little-endian on all supported devices).
#[derive(Clone, Debug, PartialEq)]
pub struct RunState<'a> {
    /// The numbers.
    pub numbers: RunNumbers,
    /// Names and bytes of the arrays.
    pub arrays: Vec<(String, Cow<'a, [u8]>)>,
}

/// The numbers of a [`RunState`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunNumbers {
    pub(super) run: Identity,
    pub(super) cursor: Cursor,
    pub(super) counts: Counts,
    pub(super) counters: Option<SlotCounters>,
    pub(super) mark: DurablePosition,
    /// Numbers of crossings, if there are gates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) crossings_by_segment: Vec<u64>,
}

/// The counters of a run's slots, in serialisable form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SlotCounters {
    /// In the order of [`Status::ALL`].
    pub ended: Vec<u64>,
    /// By patch, then by condition.
    pub left_through: Vec<u64>,
    pub particle_steps: u64,
    pub from_sources: u64,
    /// Releases of each source that were due.
    pub due: Vec<u64>,
    /// In a piece, number of ended instances by segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_segment: Option<Vec<u64>>,
}

/// Identifies the run that a state belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    pub particles: u64,
    /// The first slot: not 0 in a piece of a run.
    #[serde(default)]
    pub first_slot: u64,
    pub bytes_per_number: u64,
    pub is_fused: bool,
    #[serde(with = "bits")]
    pub begin: f64,
    #[serde(with = "bits")]
    pub end: f64,
    pub steps: u64,
    pub saves: u64,
}

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Counts {
    pub steps: u64,
    pub launches: u64,
    /// Complete saves.
    pub saves: u64,
    /// Ended instances that were followed by another one.
    pub instances: u64,
    /// Crossings of gates.
    #[serde(default)]
    pub crossings: u64,
    #[serde(with = "bits")]
    pub trace_seconds: f64,
    #[serde(with = "bits")]
    pub save_seconds: f64,
}

impl Counts {
    /// What a sink has received.
    pub fn given(&self) -> DurablePosition {
        let Counts { saves, instances, crossings, .. } = *self;
        DurablePosition { saves, instances, crossings }
    }
}

impl RunNumbers {
    /// The part of the run that the sink has made durable.
    pub fn mark(&self) -> DurablePosition {
        self.mark
    }

    /// The time reached, in the data's unit.
    pub fn time(&self) -> f64 {
        self.cursor.now
    }

    /// Complete saves that the sink has received.
    pub fn saves(&self) -> u64 {
        self.counts.saves
    }
}

impl RunState<'_> {
    /// A state that owns its arrays.
    pub fn into_owned(self) -> RunState<'static> {
        let own = |(name, bytes): (String, Cow<[u8]>)| (name, Cow::Owned(bytes.into_owned()));
        RunState { numbers: self.numbers, arrays: self.arrays.into_iter().map(own).collect() }
    }

    /// An array as numbers.
    pub(super) fn array<T: bytemuck::Pod>(&self, name: &str, count: usize) -> Result<Vec<T>> {
        let found = self.arrays.iter().find(|(of, _)| of == name);
        let Some((_, bytes)) = found else {
            return Err(Error::State(format!("it has no array `{name}`")));
        };
        if bytes.len() != count * size_of::<T>() {
            return Err(Error::State(format!(
                "its array `{name}` has {} bytes instead of {}",
                bytes.len(),
                count * size_of::<T>()
            )));
        }
        Ok(bytemuck::pod_collect_to_vec(bytes))
    }

    /// The particles, with `width` numbers of their positions, and those of tallies.
    pub(super) fn rows(
        &self,
        count: usize,
        precision: Precision,
        (width, has_tangents, tallies): (usize, bool, usize),
    ) -> Result<Rows> {
        Ok(Rows {
            position: self.floats("position", width * count, precision)?,
            slots: None,
            record: self.array("record", RECORD * count)?,
            fraction: self.floats("fraction", count, precision)?,
            tangents: match has_tangents {
                true => Some(self.floats(FLOW_MAP_GRADIENT, TANGENTS * count, precision)?),
                false => None,
            },
            tallies: match tallies {
                0 => None,
                width => Some(self.floats(TALLIES, width * count, precision)?),
            },
        })
    }

    /// An array as floating-point numbers.
    pub(super) fn floats(&self, name: &str, count: usize, precision: Precision) -> Result<Floats> {
        match precision {
            Precision::F32 => self.array(name, count).map(Floats::F32),
            Precision::F64 => self.array(name, count).map(Floats::F64),
        }
    }
}

impl Identity {
    /// The identity of a run with these slots.
    pub fn of(slots: Range<usize>, stepper: &Stepper, schedule: &Schedule) -> Identity {
        let span = &schedule.span;
        Identity {
            particles: slots.len() as u64,
            first_slot: slots.start as u64,
            bytes_per_number: stepper.field.precision().bytes() as u64,
            is_fused: stepper.engine == Engine::Fused,
            begin: span.t0,
            end: span.t1,
            steps: span.steps,
            saves: schedule.saves() as u64,
        }
    }
}
