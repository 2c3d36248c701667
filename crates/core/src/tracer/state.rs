//! The state of a run between two segments, as plain data.

use super::{
    FLOW_MAP_GRADIENT,
    kept_values::{KeptValues, LastValues},
    particle_store::ParticleStore,
    rows::Rows,
    run::Run,
    slot_counters::SlotCounters,
    stepper::Stepper,
};
use crate::{
    DurablePosition, Engine, Error, Floats, Precision, Result, bits, device,
    schedule::{Cursor, Schedule},
};
use burn::tensor::{DType, Tensor, TensorData};
use burntrace_kernels::{POSITION, RECORD, TANGENTS};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, ops::Range};

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
    #[serde(rename = "books")]
    pub(super) counters: Option<SlotCounters>,
    pub(super) mark: DurablePosition,
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
    #[serde(rename = "lives")]
    pub instances: u64,
    #[serde(with = "bits")]
    pub trace_seconds: f64,
    #[serde(with = "bits")]
    pub save_seconds: f64,
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

    /// The particles.
    fn rows(&self, count: usize, precision: Precision, has_tangents: bool) -> Result<Rows> {
        Ok(Rows {
            position: self.floats("position", POSITION * count, precision)?,
            slots: None,
            record: self.array("record", RECORD * count)?,
            fraction: self.floats("fraction", count, precision)?,
            tangents: match has_tangents {
                true => Some(self.floats(FLOW_MAP_GRADIENT, TANGENTS * count, precision)?),
                false => None,
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

impl Run<'_> {
    fn identity(&self) -> Identity {
        let slots = self.first_slot..self.first_slot + self.store.count();
        Identity::of(slots, &self.stepper, self.schedule)
    }

    /// The state between two segments; `mark` is the sink's durable position.
    pub fn state(&self, mark: DurablePosition) -> Result<RunState<'_>> {
        let mut arrays: Vec<(String, Cow<'_, [u8]>)> = Vec::new();
        match &self.store {
            ParticleStore::OnHost { rows, .. } => {
                let record = bytemuck::cast_slice(&rows.record);
                let parts = [rows.position.bytes(), record, rows.fraction.bytes()];
                arrays.extend(names(parts.map(Cow::Borrowed)));
                let tangents = rows.tangents.as_ref();
                arrays.extend(tangents.map(|rows| tangents_of(Cow::Borrowed(rows.bytes()))));
            }
            ParticleStore::OnDevice { .. } => {
                let Rows { position, record, fraction, tangents, .. } = self.store.copy()?;
                let record = bytemuck::cast_slice(&record).to_vec();
                let parts = [position.bytes().to_vec(), record, fraction.bytes().to_vec()];
                arrays.extend(names(parts.map(Cow::Owned)));
                let tangents = tangents.map(|rows| rows.bytes().to_vec());
                arrays.extend(tangents.map(|bytes| tangents_of(Cow::Owned(bytes))));
            }
        }
        if let Some(last) = &self.kept.last {
            let (values, status) = last.read()?;
            let status = bytemuck::cast_slice(&status).to_vec();
            arrays.push((SAMPLED.into(), Cow::Owned(values.bytes().to_vec())));
            arrays.push((SAMPLED_STATUS.into(), Cow::Owned(status)));
        }
        let counters = self.slots.as_ref().map(|slots| {
            let (counters, columns) = slots.counters();
            arrays.extend(columns.map(|(name, bytes)| (name.to_string(), Cow::Owned(bytes))));
            counters
        });
        let numbers = RunNumbers {
            run: self.identity(),
            cursor: self.segments.cursor(),
            counts: self.counts,
            counters,
            mark,
        };
        Ok(RunState { numbers, arrays })
    }

    /// Restores a state of this run, with its particles on the host.
    pub fn restore(&mut self, state: &RunState) -> Result<()> {
        let numbers = &state.numbers;
        let own = self.identity();
        if numbers.run != own {
            return Err(Error::State(format!(
                "it belongs to another run ({:?}) than this one ({own:?}); resume with the case that \
                 wrote it",
                numbers.run
            )));
        }
        let (precision, has_tangents) =
            (self.tracer.field.precision(), self.tracer.save.flow_map_gradient);
        let rows = state.rows(self.store.count(), precision, has_tangents)?;
        self.store = ParticleStore::on_host(rows, &self.tracer.field.device());
        self.kept = self.restored_values(state)?;
        match (&mut self.slots, &numbers.counters) {
            (Some(slots), Some(counters)) => slots.restore(counters, state)?,
            (None, None) => {}
            _ => return Err(Error::State("only one of the two runs re-uses slots".into())),
        }
        self.segments.go_to(numbers.cursor);
        self.counts = numbers.counts;
        Ok(())
    }
}

impl Run<'_> {
    /// The values of the last save, if the state has them.
    fn restored_values(&self, state: &RunState) -> Result<KeptValues> {
        let components: usize = self.sampler.arrays().iter().map(|array| array.components).sum();
        if components == 0 || !state.arrays.iter().any(|(name, _)| name == SAMPLED) {
            return Ok(KeptValues::default());
        }
        let (count, precision) = (self.store.count(), self.tracer.field.precision());
        let values = state.floats(SAMPLED, count * components, precision)?;
        let status: Vec<i32> = state.array(SAMPLED_STATUS, count)?;
        let device = self.tracer.field.device();
        if self.overlaps || !device::compiles_kernels(&device) {
            return Ok(KeptValues::of(LastValues::Host(values, status)));
        }
        let status = TensorData::new(status, [count]);
        let status = Tensor::from_data(status, (&device, DType::I32));
        let values = values.into_tensor([count, components], &device);
        Ok(KeptValues::of(LastValues::Device(Box::new((values, status)))))
    }
}

/// Names of the arrays of sampled values.
const SAMPLED: &str = "sampled";
const SAMPLED_STATUS: &str = "sampled_status";

fn tangents_of(bytes: Cow<[u8]>) -> (String, Cow<[u8]>) {
    (FLOW_MAP_GRADIENT.into(), bytes)
}

fn names<T>([position, record, fraction]: [T; 3]) -> [(String, T); 3] {
    [("position".into(), position), ("record".into(), record), ("fraction".into(), fraction)]
}
