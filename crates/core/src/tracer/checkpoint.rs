//! The state of a run in progress: taken from it, and restored.

use super::{
    adjoint::FLOW_MAP_GRADIENT,
    kept_values::{KeptValues, LastValues},
    particle_store::ParticleStore,
    rows::Rows,
    run::Run,
    state::{Identity, RunNumbers, RunState, TALLIES},
};
use crate::{DurablePosition, Error, Floats, Result, device};
use burn::tensor::{DType, Tensor, TensorData};
use std::borrow::Cow;

impl Run<'_> {
    fn identity(&self) -> Identity {
        let slots = self.first_slot..self.first_slot + self.store.count();
        Identity::of(slots, &self.stepper, self.schedule)
    }

    /// The state between two segments; `mark` is the sink's durable position.
    pub fn state<'a>(&'a self, mark: DurablePosition) -> Result<RunState<'a>> {
        let mut arrays: Vec<(String, Cow<'a, [u8]>)> = Vec::new();
        match &self.store {
            ParticleStore::OnHost { rows, .. } => {
                let record = bytemuck::cast_slice(&rows.record);
                let parts = [rows.position.bytes(), record, rows.fraction.bytes()];
                arrays.extend(names(parts.map(Cow::Borrowed)));
                let tangents = rows.tangents.as_ref();
                arrays.extend(tangents.map(|rows| tangents_of(Cow::Borrowed(rows.bytes()))));
                let tallies = rows.tallies.as_ref();
                let named = |rows: &'a Floats| (TALLIES.into(), Cow::Borrowed(rows.bytes()));
                arrays.extend(tallies.map(named));
            }
            ParticleStore::OnDevice { .. } => {
                let rows = self.store.copy()?;
                let Rows { position, record, fraction, tangents, tallies, .. } = rows;
                let record = bytemuck::cast_slice(&record).to_vec();
                let parts = [position.bytes().to_vec(), record, fraction.bytes().to_vec()];
                arrays.extend(names(parts.map(Cow::Owned)));
                let tangents = tangents.map(|rows| rows.bytes().to_vec());
                arrays.extend(tangents.map(|bytes| tangents_of(Cow::Owned(bytes))));
                let owned = |rows: Floats| (TALLIES.into(), Cow::Owned(rows.bytes().to_vec()));
                arrays.extend(tallies.map(owned));
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
            crossings_by_segment: self.crossings_by_segment.clone(),
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
        let tallies = self.stepper.tallies.width();
        let numbers_of_each = (self.tracer.position_width(), has_tangents, tallies);
        let rows = state.rows(self.store.count(), precision, numbers_of_each)?;
        self.store = ParticleStore::on_host(rows, &self.tracer.field.device());
        self.kept = self.restored_values(state)?;
        match (&mut self.slots, &numbers.counters) {
            (Some(slots), Some(counters)) => slots.restore(counters, state)?,
            (None, None) => {}
            _ => return Err(Error::State("only one of the two runs re-uses slots".into())),
        }
        self.segments.go_to(numbers.cursor);
        self.counts = numbers.counts;
        self.crossings_by_segment.clone_from(&numbers.crossings_by_segment);
        // Those of steps after the state.
        self.stepper.gates.truncate(0);
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
