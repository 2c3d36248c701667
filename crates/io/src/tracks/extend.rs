//! The store of a run that continues a finished one.

use super::array::ArrayWriter;
use super::arrays::StoreArrays;
use super::copy::{Source, copy_rows, copy_table};
use super::layout::Dims;
use super::manifest::Manifest;
use super::reader::Tracks;
use super::store::{OpenMode, StoreWriter};
use crate::{Error, Result};
use burntrace_core::{DurablePosition, SavePlan};
use std::path::Path;
use std::sync::Arc;

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
    let found = [counts.saves, counts.instances, counts.crossings];
    let expected = [position.saves, position.instances, position.crossings].map(|n| n as usize);
    if (0..3).any(|k| expected[k] > found[k]) {
        let text = |[saves, instances, crossings]: [usize; 3]| {
            format!("{saves} saves, {instances} instances and {crossings} crossings")
        };
        let (found, expected) = (format!("found {}", text(found)), text(expected));
        return Err(Error::Store { path: from.into(), found, expected });
    }
    let arrays = StoreArrays::open(from, &finished)?;
    let mode = OpenMode::New { overwrite: false };
    let longer = Manifest { compressed: compress, ..longer };
    let mut store = StoreWriter::open(to, longer, mode, Arc::default())?;
    let from = Source { arrays, particles: plan.particles, linked: None };
    store.each(|array| copy_array(array, &from, position))?;
    store.sync().map(drop)
}

/// Copies the first items of an array. Those that a resumed run writes again are left out.
fn copy_array(array: &mut ArrayWriter, from: &Source, position: DurablePosition) -> Result<()> {
    match array.spec().dims {
        Dims::Saves | Dims::SavesParticles => {
            copy_rows(array, std::slice::from_ref(from), position.saves as usize)
        }
        Dims::Instances => copy_table(array, from, position.instances as usize),
        Dims::Crossings => copy_table(array, from, position.crossings as usize),
        Dims::Particles => Ok(()),
    }
}
