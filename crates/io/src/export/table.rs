//! The columns of a table of tracks, and the rows in them.

use super::column::{Column, Kind, Values};
use super::{
    Rows,
    finals::{Final, Finals},
};
use crate::tracks::{SaveBlock, Tracks};
use burntrace_core::{FieldArray, Status};

/// Where the values of a column come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Particle,
    Generation,
    Time,
    /// Along an axis.
    Position(usize),
    Unwrapped(usize),
    Velocity(usize),
    Status,
    /// A sampled array, and a component of it.
    Sampled(usize, usize),
    ReleaseTime,
    EndTime,
    EndStatus,
}

/// A table whose rows are particles at saves, or whole particles with lists.
pub(super) struct Table {
    pub columns: Vec<Column>,
    sources: Vec<Source>,
    pub values: Vec<Values>,
    /// Components of the sampled arrays.
    widths: Vec<usize>,
    pub rows: usize,
    /// The lengths of the lists of each row, if rows have lists.
    pub lengths: Vec<usize>,
}

/// Names of statuses, by code.
pub(super) fn status_names() -> Vec<String> {
    Status::ALL.iter().map(ToString::to_string).collect()
}

impl Table {
    /// An empty table for the tracks of a store.
    pub fn new(store: &Tracks, rows: Rows) -> Table {
        let (sources, lists) = (sources(store, rows), rows == Rows::Particles);
        let arrays = store.arrays();
        let column = |&source: &Source| Column {
            name: name(source, &arrays),
            kind: kind(source, store),
            is_list: lists && !source.is_of_particle(),
        };
        let columns: Vec<Column> = sources.iter().map(column).collect();
        let values = columns.iter().map(|column| column.kind.empty()).collect();
        let widths = arrays.iter().map(|array| array.components).collect();
        Table { columns, sources, values, widths, rows: 0, lengths: Vec::new() }
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.values = self.columns.iter().map(|column| column.kind.empty()).collect();
        self.rows = 0;
        self.lengths.clear();
    }

    /// The position at an index of its columns.
    pub fn position(&self, index: usize) -> [f64; 3] {
        let mut position = [f64::NAN; 3];
        for (source, values) in self.sources.iter().zip(&self.values) {
            match (source, values) {
                (Source::Position(d), Values::F32(all)) => position[*d] = all[index].into(),
                (Source::Position(d), Values::F64(all)) => position[*d] = all[index],
                _ => {}
            }
        }
        position
    }

    /// Number of values in the longest column.
    pub fn len(&self) -> usize {
        self.values.iter().map(Values::len).max().unwrap_or(0)
    }

    /// Adds a row for each of these slots of a block.
    pub fn add_rows(&mut self, block: &SaveBlock, slots: &[usize]) {
        for (source, values) in self.sources.iter().zip(&mut self.values) {
            slots.iter().for_each(|&slot| push(*source, values, block, slot, &self.widths));
        }
        self.rows += slots.len();
    }

    /// Adds a particle: the same slot of several blocks.
    pub fn add_particle(&mut self, blocks: &[&SaveBlock], slot: usize, finals: Option<&Finals>) {
        let Some(first) = blocks.first().map(|block| block.states.state(slot)) else { return };
        let end = finals.and_then(|finals| finals.of(first.slot, first.generation));
        for (source, values) in self.sources.iter().zip(&mut self.values) {
            match source.is_of_particle() {
                true => push_end(*source, values, (first.slot, first.generation), end),
                false => {
                    blocks
                        .iter()
                        .for_each(|block| push(*source, values, block, slot, &self.widths));
                }
            }
        }
        self.rows += 1;
        self.lengths.push(blocks.len());
    }
}

impl Source {
    /// Whether it has one value for each particle.
    fn is_of_particle(self) -> bool {
        use Source::{EndStatus, EndTime, Generation, Particle, ReleaseTime};
        matches!(self, Particle | Generation | ReleaseTime | EndTime | EndStatus)
    }
}

fn sources(store: &Tracks, rows: Rows) -> Vec<Source> {
    use Source::{EndStatus, EndTime, Generation, Particle, Position, ReleaseTime, Sampled, Time};
    let axes = 0..3;
    let mut all = vec![Particle];
    all.extend(store.num_instances().map(|_| Generation));
    if rows != Rows::Saves && store.is_complete() {
        all.extend([ReleaseTime, EndTime, EndStatus]);
    }
    all.push(Time);
    all.extend(axes.clone().map(Position));
    if store.periods().iter().any(|period| *period != 0.0) {
        all.extend(axes.clone().map(Source::Unwrapped));
    }
    if store.has_velocity() {
        all.extend(axes.map(Source::Velocity));
    }
    all.push(Source::Status);
    for (index, array) in store.arrays().iter().enumerate() {
        all.extend((0..array.components).map(|component| Sampled(index, component)));
    }
    all
}

fn name(source: Source, arrays: &[FieldArray]) -> String {
    let axis = |d: usize| ["x", "y", "z"][d];
    match source {
        Source::Particle => "particle".into(),
        Source::Generation => "generation".into(),
        Source::Time => "time".into(),
        Source::Position(d) => axis(d).into(),
        Source::Unwrapped(d) => format!("unwrapped_{}", axis(d)),
        Source::Velocity(d) => format!("velocity_{}", axis(d)),
        Source::Status => "status".into(),
        Source::ReleaseTime => "release_time".into(),
        Source::EndTime => "end_time".into(),
        Source::EndStatus => "end_status".into(),
        Source::Sampled(index, component) => {
            let FieldArray { name, components } = &arrays[index];
            match components {
                1 => name.clone(),
                3 => format!("{name}_{}", axis(component)),
                _ => format!("{name}_{component}"),
            }
        }
    }
}

fn kind(source: Source, store: &Tracks) -> Kind {
    match source {
        Source::Particle | Source::Generation => Kind::I32,
        Source::Status | Source::EndStatus => Kind::Name,
        Source::Position(_) => Kind::float(store.position_precision()),
        Source::Velocity(_) | Source::Sampled(..) => Kind::float(store.precision()),
        Source::Time | Source::Unwrapped(_) | Source::ReleaseTime | Source::EndTime => Kind::F64,
    }
}

/// Appends the value of a slot of a block.
fn push(source: Source, values: &mut Values, block: &SaveBlock, slot: usize, widths: &[usize]) {
    let of =
        |rows: &Option<Vec<[f64; 3]>>, d: usize| rows.as_ref().map_or(f64::NAN, |p| p[slot][d]);
    match source {
        Source::Time => values.push_float(block.states.time),
        Source::Position(d) => values.push_float(block.states.position[slot][d]),
        Source::Unwrapped(d) => values.push_float(of(&block.unwrapped, d)),
        Source::Velocity(d) => values.push_float(of(&block.velocity, d)),
        Source::Status => values.push_int(block.states.status[slot].code()),
        Source::Sampled(index, component) => {
            values.push_float(block.arrays[index].get(widths[index] * slot + component));
        }
        Source::Particle => values.push_int(block.states.state(slot).slot as i32),
        Source::Generation => values.push_int(block.states.state(slot).generation),
        Source::ReleaseTime | Source::EndTime | Source::EndStatus => {}
    }
}

/// Appends a value of a particle, by its slot and generation.
fn push_end(
    source: Source,
    values: &mut Values,
    (slot, generation): (usize, i32),
    end: Option<Final>,
) {
    let time = |of: fn(&Final) -> f64| end.as_ref().map_or(f64::NAN, of);
    match source {
        Source::Particle => values.push_int(slot as i32),
        Source::Generation => values.push_int(generation),
        Source::ReleaseTime => values.push_float(time(|end| end.release_time)),
        Source::EndTime => values.push_float(time(|end| end.end_time)),
        Source::EndStatus => values.push_int(end.map_or(Status::Waiting, |end| end.status).code()),
        _ => {}
    }
}
