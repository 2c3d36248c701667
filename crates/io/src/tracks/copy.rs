//! Copies items of stores into the arrays of another one.

use super::array::ArrayWriter;
use super::arrays::StoreArrays;
use super::checksums::Checksums;
use super::layout::{self, ArraySpec, Dims};
use crate::Result;
use crate::number::Number;
use burntrace_cf::ScalarType;
use std::ops::Range;
use std::path::PathBuf;

/// Items that are copied at a time.
const BLOCK: usize = 1 << 18;

/// A store whose particles are some of those of another one.
pub(super) struct Source {
    pub arrays: StoreArrays,
    /// Number of its particles.
    pub particles: usize,
    /// The folder and the checksums of a store whose rows are chunks of the other one.
    pub linked: Option<(PathBuf, Checksums)>,
}

/// Calls a generic function with the type of the numbers of an array.
macro_rules! with_type {
    ($scalar:expr, $call:ident ( $($argument:expr),* )) => {
        match $scalar {
            ScalarType::U8 => $call::<u8>($($argument),*),
            ScalarType::I32 => $call::<i32>($($argument),*),
            ScalarType::I64 => $call::<i64>($($argument),*),
            ScalarType::F32 => $call::<f32>($($argument),*),
            _ => $call::<f64>($($argument),*),
        }
    };
}

/// Appends the first `saves` rows of an array over saves, or the only row of one over particles. The
/// particles of the sources follow one another in a row.
pub(super) fn copy_rows(array: &mut ArrayWriter, sources: &[Source], saves: usize) -> Result<()> {
    let scalar = array.scalar();
    match array.spec().dims {
        Dims::Saves => with_type!(scalar, copy_list(array, &sources[..1], saves)),
        Dims::Instances | Dims::Crossings => Ok(()),
        Dims::Particles => with_type!(scalar, copy_wide(array, sources, 1)),
        Dims::SavesParticles => with_type!(scalar, copy_wide(array, sources, saves)),
    }
}

/// Appends the first rows of a table of a store.
pub(super) fn copy_table(array: &mut ArrayWriter, from: &Source, rows: usize) -> Result<()> {
    let sources = std::slice::from_ref(from);
    with_type!(array.scalar(), copy_list(array, sources, rows))
}

fn copy_list<T: Number>(array: &mut ArrayWriter, from: &[Source], rows: usize) -> Result<()> {
    for source in from {
        for first in (0..rows).step_by(BLOCK) {
            let rows = first..rows.min(first + BLOCK);
            array.append(&source.arrays.read::<T>(array.spec(), rows, 0..1)?)?;
        }
    }
    Ok(())
}

fn copy_wide<T: Number>(array: &mut ArrayWriter, sources: &[Source], rows: usize) -> Result<()> {
    let width: usize = sources.iter().map(|source| source.particles).sum();
    let at_once = (BLOCK / width.max(1)).max(1);
    for first in (0..rows).step_by(at_once) {
        match rows.min(first + at_once) {
            until if until == first + 1 => copy_row::<T>(array, sources, first)?,
            until => copy_several::<T>(array, sources, first..until)?,
        }
    }
    Ok(())
}

/// Appends a row, block by block.
fn copy_row<T: Number>(array: &mut ArrayWriter, sources: &[Source], row: usize) -> Result<()> {
    for source in sources {
        if let Some((store, listed)) = &source.linked
            && array.link(store, row, listed)
        {
            continue;
        }
        for first in (0..source.particles).step_by(BLOCK) {
            let columns = first..source.particles.min(first + BLOCK);
            let values = source.arrays.read::<T>(array.spec(), row..row + 1, columns)?;
            array.append(&values)?;
        }
    }
    Ok(())
}

/// Appends rows that fit into a block together: each source is read once for all of them.
fn copy_several<T: Number>(
    array: &mut ArrayWriter,
    sources: &[Source],
    rows: Range<usize>,
) -> Result<()> {
    let read =
        |source: &Source| source.arrays.read::<T>(array.spec(), rows.clone(), 0..source.particles);
    let parts: Vec<Vec<T>> = sources.iter().map(read).collect::<Result<_>>()?;
    for row in 0..rows.len() {
        for (part, source) in parts.iter().zip(sources) {
            let numbers = source.particles * array.spec().width;
            array.append(&part[row * numbers..(row + 1) * numbers])?;
        }
    }
    Ok(())
}

/// Appends a column of the tables of pieces, which have these numbers of rows. `by_segment` has for each piece the number of rows
/// of each segment, which are followed by those of its end.
pub(super) fn merge_tables(
    array: &mut ArrayWriter,
    sources: &[Source],
    counts: &[usize],
    by_segment: &[Vec<u64>],
) -> Result<()> {
    let tables = Tables { sources, counts, by_segment };
    match [&layout::INSTANCE_SLOT, &layout::CROSSING_SLOT].contains(&array.spec()) {
        true => tables.merge::<i32>(array, |slot, first| slot + first as i32),
        false => with_type!(array.scalar(), merge_unchanged(array, &tables)),
    }
}

fn merge_unchanged<T: Number>(array: &mut ArrayWriter, tables: &Tables) -> Result<()> {
    tables.merge::<T>(array, |value, _| value)
}

/// The tables of pieces.
struct Tables<'a> {
    sources: &'a [Source],
    counts: &'a [usize],
    by_segment: &'a [Vec<u64>],
}

impl Tables<'_> {
    /// Appends a column. `shift` gets a value and the first slot of its piece.
    fn merge<T: Number>(&self, array: &mut ArrayWriter, shift: fn(T, usize) -> T) -> Result<()> {
        let spec = array.spec().clone();
        let mut first_slot = 0;
        let mut columns = Vec::new();
        for (source, count) in self.sources.iter().zip(self.counts) {
            let (arrays, spec) = (&source.arrays, &spec);
            let block = (Vec::new(), 0);
            columns.push(Column { arrays, spec, next: 0, count: *count, block, first_slot, shift });
            first_slot += source.particles;
        }
        let segments = self.by_segment.iter().map(Vec::len).max().unwrap_or(0);
        for segment in 0..segments {
            for (column, counts) in columns.iter_mut().zip(self.by_segment) {
                let count = counts.get(segment).copied().unwrap_or(0) as usize;
                column.give(count, array)?;
            }
        }
        columns.iter_mut().try_for_each(|column| column.give(usize::MAX, array))
    }
}

/// Rows of the table of a piece that are read at a time.
const INSTANCES_AT_ONCE: usize = 1 << 12;

/// A column of the table of a piece, read in blocks.
struct Column<'a, T> {
    arrays: &'a StoreArrays,
    spec: &'a ArraySpec,
    /// The next row to read, and the number of rows.
    next: usize,
    count: usize,
    /// Values that were read; those from the index on are not given yet.
    block: (Vec<T>, usize),
    first_slot: usize,
    shift: fn(T, usize) -> T,
}

impl<T: Number> Column<'_, T> {
    /// Appends the next rows, as many as there are.
    fn give(&mut self, mut rows: usize, array: &mut ArrayWriter) -> Result<()> {
        let width = self.spec.width;
        while rows > 0 {
            if self.block.1 == self.block.0.len() {
                let until = self.count.min(self.next + INSTANCES_AT_ONCE);
                if until == self.next {
                    return Ok(());
                }
                let mut values = self.arrays.read::<T>(self.spec, self.next..until, 0..1)?;
                for value in &mut values {
                    *value = (self.shift)(*value, self.first_slot);
                }
                (self.block, self.next) = ((values, 0), until);
            }
            let (block, at) = &mut self.block;
            let numbers = rows.saturating_mul(width).min(block.len() - *at);
            array.append(&block[*at..*at + numbers])?;
            *at += numbers;
            rows -= numbers / width;
        }
        Ok(())
    }
}
