//! Joins the stores of the pieces of a run.

use super::array::ArrayWriter;
use super::arrays::StoreArrays;
use super::checksums::Checksums;
use super::chunk_grid::ChunkGrid;
use super::copy::{Source, copy_rows, merge_tables};
use super::layout::{self, ArraySpec, Dims};
use super::manifest::Manifest;
use super::store::{OpenMode, StoreWriter};
use super::verify::verify_some;
use crate::{Error, Result};
use burntrace_core::SavePlan;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of pieces into which a run is divided where these have enough particles.
const PIECES: usize = 64;

/// Minimum number of particles in a piece: fewer do not fill a device.
const MIN_PIECE: usize = 1 << 14;

/// The number of particles in a piece of a run, except in the last one, which may have fewer. It depends on
/// the number of slots only: a 64th of them, but at least 16,384, and at most as many as a chunk of the
/// [store](crate::tracks) has.
pub fn piece_length(particles: usize) -> usize {
    let chunk = ChunkGrid::of_particles(particles).chunk_columns;
    particles.div_ceil(PIECES).max(MIN_PIECE).min(chunk)
}

/// The store of a piece of a run.
#[derive(Clone, Debug)]
pub struct PieceTracks {
    /// The folder of the store, which is complete.
    pub folder: PathBuf,
    /// [`Summary::instances_by_segment`](burntrace_core::Summary::instances_by_segment) of the piece.
    pub instances_by_segment: Vec<u64>,
    /// [`Summary::crossings_by_segment`](burntrace_core::Summary::crossings_by_segment) of the piece.
    pub crossings_by_segment: Vec<u64>,
}

/// Writes the store of a run from those of its pieces, in their order: the same bytes as in a run that was not
/// divided. Chunks of pieces that are chunks of the run are linked where the file system has hard links, and not
/// read; what is copied is compared with its checksums. `plan` is the plan of the whole run. An earlier store in `to` is replaced.
///
/// # Errors
///
/// If a piece is not complete, is damaged, or belongs to another run, if the pieces have other particles
/// together than the run, or if an operation of the file system fails.
pub fn join_pieces(pieces: &[PieceTracks], to: impl AsRef<Path>, plan: &SavePlan) -> Result<()> {
    let to = to.as_ref();
    let manifests: Vec<Manifest> =
        pieces.iter().map(|piece| check(piece, plan)).collect::<Result<_>>()?;
    let found: usize = manifests.iter().map(|manifest| manifest.particles).sum();
    let Some(first) = manifests.first().filter(|_| found == plan.particles) else {
        return Err(Error::Store {
            path: to.into(),
            found: format!("found pieces of {found} particles"),
            expected: format!("{} particles, as in the run", plan.particles),
        });
    };
    let sources: Vec<Source> =
        pieces.iter().zip(&manifests).map(|of| open(of, plan)).collect::<Result<_>>()?;
    let merge = |array: &mut ArrayWriter,
                 count: fn(&Manifest) -> usize,
                 of: fn(&PieceTracks) -> &Vec<u64>| {
        let counts: Vec<usize> = manifests.iter().map(count).collect();
        let by_segment: Vec<Vec<u64>> = pieces.iter().map(|piece| of(piece).clone()).collect();
        merge_tables(array, &sources, &counts, &by_segment)
    };

    let mode = OpenMode::New { overwrite: true };
    let manifest = Manifest { compressed: first.compressed, ..Manifest::new(plan, &first.units()) };
    let mut store = StoreWriter::open(to, manifest, mode, Arc::default())?;
    store.each(|array| match array.spec().dims {
        Dims::Instances => {
            merge(array, |of| of.counts().instances, |piece| &piece.instances_by_segment)
        }
        Dims::Crossings => {
            merge(array, |of| of.counts().crossings, |piece| &piece.crossings_by_segment)
        }
        _ => copy_rows(array, &sources, plan.saves),
    })?;
    store.set_saves(plan.saves);
    store.complete(|store| join_ends(store, first, &sources))
}

/// Checks that a store is complete, intact, and one of a run with this plan.
fn check(piece: &PieceTracks, plan: &SavePlan) -> Result<Manifest> {
    let folder = &piece.folder;
    let manifest = Manifest::read(folder)?;
    let wrong =
        |found: String, expected: String| Error::Store { path: folder.clone(), found, expected };
    let of_run = SavePlan { particles: manifest.particles, ..plan.clone() };
    let compressed = manifest.compressed;
    let of_run = Manifest { compressed, ..Manifest::new(&of_run, &manifest.units()) };
    if let Some((property, found, expected)) = manifest.difference(&of_run) {
        let expected = format!("{property} = {expected}, as in the run");
        return Err(wrong(format!("found a piece with {property} = {found}"), expected));
    }
    if !manifest.complete || manifest.saves != plan.saves {
        let found = format!("found {} saves", manifest.saves);
        return Err(wrong(found, format!("all {} saves of a finished piece", plan.saves)));
    }
    let followed: u64 = piece.instances_by_segment.iter().sum();
    if followed > manifest.counts().instances as u64 {
        let found = format!("found {} particle instances", manifest.counts().instances);
        return Err(wrong(found, format!("at least the {followed} of its segments")));
    }
    let is_linked = is_linked(manifest.particles, plan);
    let of_saves = |name: &str| {
        let array = name.split('/').next().unwrap_or_default();
        let mut specs = manifest.sampled_specs().chain(layout::ALL.into_iter().cloned());
        specs.any(|spec| spec.dims == Dims::SavesParticles && spec.name == array)
    };
    match verify_some(folder, |name| !(is_linked && of_saves(name)))?.damage.into_iter().next() {
        Some(damage) => Err(damage),
        None => Ok(manifest),
    }
}

fn open((piece, manifest): (&PieceTracks, &Manifest), plan: &SavePlan) -> Result<Source> {
    let (folder, particles) = (&piece.folder, manifest.particles);
    let linked = match is_linked(particles, plan) {
        true => Some((folder.clone(), Checksums::read(folder)?)),
        false => None,
    };
    Ok(Source { arrays: StoreArrays::open(folder, manifest)?, particles, linked })
}

/// Whether the saves of a piece are chunks of the run.
fn is_linked(particles: usize, plan: &SavePlan) -> bool {
    let grid = |particles| ChunkGrid::of_saves(particles, plan.saves);
    let (piece, run) = (grid(particles), grid(plan.particles));
    run.chunk_rows == 1 && ChunkGrid { columns: particles, ..run } == piece
}

/// Writes the arrays that are known only at the end, in the order in which the pieces have them.
fn join_ends(store: &mut StoreWriter, first: &Manifest, sources: &[Source]) -> Result<Checksums> {
    let mut sums = Checksums::default();
    let is_of_end =
        |spec: &&&ArraySpec| spec.dims == Dims::Particles && ***spec != layout::RELEASE_POSITION;
    for name in &first.arrays {
        let mut specs = layout::ALL.iter().filter(is_of_end);
        if let Some(spec) = specs.find(|spec| spec.name == *name) {
            store.add_array(&mut sums, spec, |array| copy_rows(array, sources, 1))?;
        }
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_from_the_number_of_particles() {
        assert_eq!([1, 1000, 20_000].map(piece_length), [1, 1000, 16_384]);
        assert_eq!([1_000_000, 4_000_000].map(piece_length), [16_384, 62_500]);
        let chunk = ChunkGrid::of_particles(1_000_000_000).chunk_columns;
        assert_eq!(piece_length(1_000_000_000), chunk);
        assert_eq!(piece_length(0), 1);
    }
}
