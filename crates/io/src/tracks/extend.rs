//! The store of a run that continues a finished one.

use super::array::ArrayWriter;
use super::arrays::StoreArrays;
use super::layout::Dims;
use super::manifest::Manifest;
use super::reader::Tracks;
use super::store::{OpenMode, StoreWriter};
use crate::number::Number;
use crate::{Error, Result};
use burntrace_core::{DurablePosition, SavePlan};
use std::path::Path;
use std::sync::Arc;

/// Particles, or rows of a list, that are copied at a time.
const BLOCK: usize = 1 << 18;

/// Creates the store of a run that continues a finished run: copies the saves and the ended particle
/// instances of its store up to a position, which a [`TrackWriter`](super::TrackWriter) then
/// [resumes](super::TrackWriter::resume). `plan` is the plan of the longer run; `compress` is whether
/// its writer [compresses](super::TrackWriter::compress), whether the finished run's did or not.
///
/// # Errors
///
/// If the finished run has no complete store, or one of other particles or with other arrays, if the
/// folder `to` has a store, or if an operation of the file system fails.
pub fn copy_saves(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    (plan, compress): (&SavePlan, bool),
    position: DurablePosition,
) -> Result<()> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let units = Tracks::open(from)?.units();
    let finished = Manifest::read(from)?;
    let planned = Manifest { planned_saves: plan.saves, ..finished.clone() };
    let longer = Manifest { compressed: finished.compressed, ..Manifest::new(plan, &units) };
    if let Some((property, found, expected)) = planned.difference(&longer) {
        return Err(Error::Store {
            path: from.into(),
            found: format!("found the tracks of another run: {property} = {found}"),
            expected: format!("{property} = {expected}, as in the run that continues it"),
        });
    }
    let counts = finished.counts();
    if position.saves as usize > counts.saves || position.instances as usize > counts.instances {
        return Err(Error::Store {
            path: from.into(),
            found: format!("found {} saves and {} instances", counts.saves, counts.instances),
            expected: format!("{} saves and {} instances", position.saves, position.instances),
        });
    }
    let arrays = StoreArrays::open(from, &finished)?;
    let mode = OpenMode::New { overwrite: false };
    let longer = Manifest { compressed: compress, ..longer };
    let mut store = StoreWriter::open(to, longer, mode, Arc::default())?;
    store.each(|array| copy_array(array, &arrays, plan.particles, position))?;
    store.sync().map(drop)
}

/// Copies the first items of an array. Those that a resumed run writes again are left out.
fn copy_array(
    array: &mut ArrayWriter,
    arrays: &StoreArrays,
    particles: usize,
    position: DurablePosition,
) -> Result<()> {
    let (saves, instances) = (position.saves as usize, position.instances as usize);
    let (rows, columns) = match array.spec().dims {
        Dims::Saves => (saves, 1),
        Dims::SavesParticles => (saves, particles),
        Dims::Instances => (instances, 1),
        Dims::Particles => return Ok(()),
    };
    let copy = match array.data_type() {
        "uint8" => copy_block::<u8>,
        "int32" => copy_block::<i32>,
        "int64" => copy_block::<i64>,
        "float32" => copy_block::<f32>,
        _ => copy_block::<f64>,
    };
    // A block is a part of one row, or several rows of a list.
    let rows_at_once = if columns == 1 { BLOCK } else { 1 };
    for row in (0..rows).step_by(rows_at_once) {
        let until = rows.min(row + rows_at_once);
        for column in (0..columns).step_by(BLOCK) {
            let part = [row..until, column..columns.min(column + BLOCK)];
            copy(array, arrays, part)?;
        }
    }
    Ok(())
}

fn copy_block<T: Number>(
    array: &mut ArrayWriter,
    arrays: &StoreArrays,
    [rows, columns]: [std::ops::Range<usize>; 2],
) -> Result<()> {
    let values = arrays.read::<T>(array.spec(), rows, columns)?;
    array.append(&values)
}
