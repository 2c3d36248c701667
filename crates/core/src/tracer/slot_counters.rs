//! The mutable state of re-used slots, for checkpoints.

use super::{
    slots::{InstanceStart, Slots},
    state::{RunState, SlotCounters},
};
use crate::{Error, Result, source::Timetable};

/// Marks a seed in an array of inlets.
const NO_INLET: u16 = u16::MAX;

impl Slots {
    /// The mutable state: counters, and columns with one number for each slot.
    pub fn counters(&self) -> (SlotCounters, [(&'static str, Vec<u8>); 5]) {
        let counters = SlotCounters {
            ended: self.ended.iter().map(|(_, count)| *count as u64).collect(),
            left_through: self.left_through.iter().map(|count| *count as u64).collect(),
            particle_steps: self.particle_steps,
            from_sources: self.from_sources,
            due: self.timetables.iter().map(Timetable::due).collect(),
            by_segment: self.by_segment.clone(),
        };
        let columns = [
            ("release_time", self.column(|current| current.time)),
            ("release_step", self.column(|current| current.step)),
            ("generation", self.column(|current| current.generation)),
            ("inlet", self.column(|current| current.inlet.unwrap_or(NO_INLET))),
            ("is_empty", self.column(|current| u8::from(current.is_empty))),
        ];
        (counters, columns)
    }

    fn column<T: bytemuck::Pod>(&self, number: impl Fn(&InstanceStart) -> T) -> Vec<u8> {
        let numbers: Vec<T> = self.current.iter().map(number).collect();
        bytemuck::cast_slice(&numbers).to_vec()
    }

    /// Restores the state of a run of the same tracer.
    pub fn restore(&mut self, counters: &SlotCounters, state: &RunState) -> Result<()> {
        // An earlier version may have known fewer statuses.
        let has_unknown = counters.ended.len() > self.ended.len();
        let lengths = [counters.left_through.len(), counters.due.len()];
        if has_unknown || lengths != [self.left_through.len(), self.timetables.len()] {
            return Err(Error::State(
                "its statuses, patches or sources differ from those of this run".into(),
            ));
        }
        let count = self.count();
        let times = state.array::<f64>("release_time", count)?;
        let steps = state.array::<u64>("release_step", count)?;
        let generations = state.array::<u32>("generation", count)?;
        let inlets = state.array::<u16>("inlet", count)?;
        let empty = state.array::<u8>("is_empty", count)?;
        for (slot, current) in self.current.iter_mut().enumerate() {
            *current = InstanceStart {
                time: times[slot],
                step: steps[slot],
                generation: generations[slot],
                inlet: Some(inlets[slot]).filter(|inlet| *inlet != NO_INLET),
                is_empty: empty[slot] != 0,
            };
        }
        for (entry, count) in self.ended.iter_mut().zip(&counters.ended) {
            entry.1 = *count as usize;
        }
        self.left_through = counters.left_through.iter().map(|count| *count as usize).collect();
        self.particle_steps = counters.particle_steps;
        self.from_sources = counters.from_sources;
        if self.by_segment.is_some() {
            self.by_segment = Some(counters.by_segment.clone().unwrap_or_default());
        }
        for (timetable, due) in self.timetables.iter_mut().zip(&counters.due) {
            timetable.go_to(*due);
        }
        Ok(())
    }
}
