//! Reads a store.

use super::arrays::StoreArrays;
use super::cf::Units;
use super::decode::{doubles, statuses, triples};
use super::instances::{self, Instances};
use super::layout::{self, ArraySpec};
use super::manifest::Manifest;
use crate::number::Number;
use crate::{Error, Result};
use burntrace_cf::ScalarType;
use burntrace_core::{Ends, Floats, MeshFace, Precision, Status};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The tracks of a run in a folder.
///
/// Opening a store reads the metadata of its arrays and the times of its saves. Other values are
/// read on demand, without memory beyond the result. Several threads may read concurrently.
#[derive(Debug, Clone)]
pub struct Tracks {
    folder: PathBuf,
    manifest: Manifest,
    times: Vec<f64>,
    arrays: StoreArrays,
}

impl Tracks {
    /// Opens the store in a folder.
    ///
    /// # Errors
    ///
    /// If there is no store, it is one of another version, its run has not ended, or an array is
    /// missing or differs from the manifest.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Tracks> {
        let tracks = Tracks::open_partial(folder)?;
        match tracks.is_complete() {
            true => Ok(tracks),
            false => Err(Error::Store {
                path: tracks.folder,
                found: format!(
                    "its run is in progress or was stopped: it has {} of {} saves",
                    tracks.manifest.saves, tracks.manifest.planned_saves
                ),
                expected: "the tracks of a finished run; resume it, or open its saves so far with \
                           `Tracks::open_partial`"
                    .into(),
            }),
        }
    }

    /// Opens the store in a folder, even if its run is in progress or was stopped. The store of such
    /// a run has the saves that are complete now, and no ends.
    ///
    /// # Errors
    ///
    /// As [`open`](Tracks::open), except that the run need not have ended.
    pub fn open_partial(folder: impl Into<PathBuf>) -> Result<Tracks> {
        let folder = folder.into();
        let mut manifest = Manifest::read(&folder)?;
        let arrays = StoreArrays::open(&folder, &manifest)?;
        if !manifest.complete {
            // Once the run is ending, chunks are padded: the manifest has the number of saves.
            let (counts, is_ending) = (arrays.complete_counts()?, manifest.saves > 0);
            let max_saves = if is_ending { manifest.saves } else { manifest.planned_saves };
            manifest.saves = counts.saves.min(max_saves);
            let instances =
                |max| if is_ending { counts.instances.min(max) } else { counts.instances };
            manifest.instances = manifest.instances.map(instances);
            let crossings =
                |max| if is_ending { counts.crossings.min(max) } else { counts.crossings };
            manifest.crossings = manifest.crossings.map(crossings);
        }
        let mut times: Vec<f64> = arrays.read(&layout::TIME, 0..manifest.saves, 0..1)?;
        if !manifest.complete {
            // A save is complete once it has a time; chunks have space for later ones.
            times.truncate(times.iter().take_while(|time| !time.is_nan()).count());
            manifest.saves = times.len();
        }
        Ok(Tracks { folder, manifest, times, arrays })
    }

    /// Whether the run has ended. If not, the store has the saves that were complete when it was
    /// opened.
    pub fn is_complete(&self) -> bool {
        self.manifest.complete
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Times of the saves, in the data's unit of time.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Number of saves.
    pub fn num_saves(&self) -> usize {
        self.manifest.saves
    }

    /// Number of planned saves; larger than the number of saves if the run was cancelled.
    pub fn num_planned_saves(&self) -> usize {
        self.manifest.planned_saves
    }

    /// Number of slots; the number of particles if slots are not re-used.
    pub fn num_particles(&self) -> usize {
        self.manifest.particles
    }

    /// Precision of the run, and of velocities in the files.
    pub fn precision(&self) -> Precision {
        self.manifest.encoding().run
    }

    /// Precision of positions in the files: double far from 0, where single precision would lose
    /// them.
    pub fn position_precision(&self) -> Precision {
        self.manifest.encoding().positions
    }

    /// Widths of the box along periodic axes, in the data's unit of length; 0 along the others.
    pub fn periods(&self) -> [f64; 3] {
        self.manifest.periods
    }

    /// Units of the data, as its run gave them; empty if unknown.
    pub fn units(&self) -> Units {
        self.manifest.units()
    }

    /// The attributes of a column of a table of tracks, with whether it is over observations.
    pub(crate) fn column_attributes(&self, column: &str, is_list: bool) -> serde_json::Value {
        self.manifest.cf().of_column(column, is_list)
    }

    /// Whether velocities are stored.
    pub fn has_velocity(&self) -> bool {
        self.arrays.has(&layout::VELOCITY)
    }

    /// Number of particle instances in the table; `None` if slots are not re-used.
    pub fn num_instances(&self) -> Option<usize> {
        self.manifest.instances
    }

    /// Positions of all particles at a save, in the box, in the data's unit of length: first the
    /// seeds in their order, then the slots of sources. An empty slot of a source has NaN.
    ///
    /// # Errors
    ///
    /// If the save does not exist, or its file cannot be read.
    pub fn position(&self, save: usize) -> Result<Vec<[f64; 3]>> {
        self.position_range(save, 0..self.num_particles())
    }

    /// Positions of a range of particles at a save, e.g. `1000..2000`; others are not read.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position); also if the range is too large.
    pub fn position_range(&self, save: usize, particles: Range<usize>) -> Result<Vec<[f64; 3]>> {
        self.check_particles(&particles)?;
        self.floats(&layout::POSITION, self.row(save)?, particles)
    }

    /// Unwrapped positions of all particles at a save, continuous across periodic faces:
    /// position + image x period.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position).
    pub fn unwrapped(&self, save: usize) -> Result<Vec<[f64; 3]>> {
        let mut positions = self.position(save)?;
        if let Some(images) = self.image(save)? {
            for (position, image) in positions.iter_mut().zip(images) {
                unwrap(position, image, self.periods());
            }
        }
        Ok(positions)
    }

    /// Status of all particles at a save.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position); also if a status code is unknown.
    pub fn status(&self, save: usize) -> Result<Vec<Status>> {
        statuses(&self.folder, self.of_save(&layout::STATUS, save)?)
    }

    /// Periodic images of all particles at a save: boxes crossed along x, y and z; `None` without
    /// periodic faces.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position).
    pub fn image(&self, save: usize) -> Result<Option<Vec<[i32; 3]>>> {
        let image = |spec| self.of_save(spec, save).map(triples);
        self.optional(&layout::IMAGE).map(image).transpose()
    }

    /// Velocities of all particles at a save, in the data's units; `None` if they are not stored.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position).
    pub fn velocity(&self, save: usize) -> Result<Option<Vec<[f64; 3]>>> {
        let velocity = |spec| self.floats(spec, self.row(save)?, 0..self.num_particles());
        self.optional(&layout::VELOCITY).map(velocity).transpose()
    }

    /// Number of earlier particle instances in each slot at a save; `None` if slots are not
    /// re-used.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position).
    pub fn generation(&self, save: usize) -> Result<Option<Vec<i32>>> {
        self.optional(&layout::GENERATION).map(|spec| self.of_save(spec, save)).transpose()
    }

    /// Iterates over all particle instances, read in blocks; `None` if slots are not re-used.
    ///
    /// Instances are approximately in the order of their ends, within a slot exactly. The last
    /// instances of all slots are at the end, in the order of the slots. Instances that were never
    /// released are not stored.
    pub fn instances(&self) -> Option<Instances<'_>> {
        let slots = self.num_particles();
        self.num_instances().map(|count| Instances::new(&self.arrays, &self.folder, count, slots))
    }

    /// Number of particle instances in the table that have ended, without those that were not
    /// located; `None` if slots are not re-used.
    ///
    /// # Errors
    ///
    /// If their statuses cannot be read.
    pub fn num_ended_instances(&self) -> Result<Option<usize>> {
        let count = |count| instances::count_ended(&self.arrays, &self.folder, count);
        self.num_instances().map(count).transpose()
    }

    /// Release and end of each particle; if slots are re-used, of the last instance in each slot.
    ///
    /// # Errors
    ///
    /// If the run has not ended, a file cannot be read, or a status code is unknown.
    pub fn ends(&self) -> Result<Ends> {
        if !self.is_complete() {
            return Err(Error::NotStored {
                path: self.folder.clone(),
                what: "ends of particles",
                remedy: "they are stored when the run ends",
            });
        }
        let places = |spec| -> Result<Vec<Option<usize>>> {
            let found = self.optional(spec).map(|spec| self.of_particles::<i32>(spec));
            let all = found.transpose()?.unwrap_or_default();
            Ok(all.into_iter().map(|index| index.try_into().ok()).collect())
        };
        let generation = self.optional(&layout::END_GENERATION).map(|spec| self.of_particles(spec));
        Ok(Ends {
            status: statuses(&self.folder, self.of_particles(&layout::END_STATUS)?)?,
            release_time: self.of_particles(&layout::RELEASE_TIME)?,
            end_time: self.of_particles(&layout::END_TIME)?,
            mesh_face: match self.optional(&layout::MESH_CELL) {
                Some(cell) => {
                    faces(self.of_particles(cell)?, self.of_particles(&layout::MESH_FACE)?)
                }
                None => Vec::new(),
            },
            obstacle: places(&layout::OBSTACLE)?,
            patch: places(&layout::PATCH)?,
            condition: places(&layout::CONDITION)?,
            generation: self.generations(generation.transpose()?.unwrap_or_default())?,
        })
    }

    pub(super) fn store_arrays(&self) -> &StoreArrays {
        &self.arrays
    }

    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Checks that a range of particles exists.
    pub(super) fn check_particles(&self, particles: &Range<usize>) -> Result<()> {
        match particles.end > self.num_particles() {
            false => Ok(()),
            true => {
                let index = particles.end - 1;
                Err(Error::Index { what: "particle", index, count: self.num_particles() })
            }
        }
    }

    /// The array, if the store has it.
    pub(super) fn optional<'s>(&self, spec: &'s ArraySpec) -> Option<&'s ArraySpec> {
        self.arrays.has(spec).then_some(spec)
    }

    /// The row of a save, if it exists.
    pub(super) fn row(&self, save: usize) -> Result<Range<usize>> {
        match save < self.num_saves() {
            true => Ok(save..save + 1),
            false => Err(Error::Index { what: "save", index: save, count: self.num_saves() }),
        }
    }

    fn of_save<T: Number>(&self, spec: &ArraySpec, save: usize) -> Result<Vec<T>> {
        self.of_slots(spec, save, 0..self.num_particles())
    }

    /// The values of a range of slots at a save.
    pub(super) fn of_slots<T: Number>(
        &self,
        spec: &ArraySpec,
        save: usize,
        slots: Range<usize>,
    ) -> Result<Vec<T>> {
        self.arrays.read(spec, self.row(save)?, slots)
    }

    /// The release positions of slots, in the data's unit of length: of the seeds, and NaN in other
    /// slots.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position).
    pub fn release_positions(&self, slots: Range<usize>) -> Result<Vec<[f64; 3]>> {
        self.floats(&layout::RELEASE_POSITION, 0..1, slots)
    }

    fn of_particles<T: Number>(&self, spec: &ArraySpec) -> Result<Vec<T>> {
        self.arrays.read(spec, 0..1, 0..self.num_particles())
    }

    pub(super) fn floats(
        &self,
        spec: &ArraySpec,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Result<Vec<[f64; 3]>> {
        Ok(triples(doubles(self.numbers(spec, rows, columns)?)))
    }

    /// The numbers of an array of floats, in the precision of the file.
    pub(super) fn numbers(
        &self,
        spec: &ArraySpec,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Result<Floats> {
        Ok(match spec.scalar(self.manifest.encoding()) {
            ScalarType::F32 => Floats::F32(self.arrays.read(spec, rows, columns)?),
            _ => Floats::F64(self.arrays.read(spec, rows, columns)?),
        })
    }

    /// Generations, which must not be negative.
    fn generations(&self, numbers: Vec<i32>) -> Result<Vec<u32>> {
        let generation = |number: i32| {
            number.try_into().map_err(|_| Error::Store {
                path: self.folder.join(&*layout::END_GENERATION.name),
                found: format!("found generation {number}"),
                expected: "0 or more".into(),
            })
        };
        numbers.into_iter().map(generation).collect()
    }
}

/// Faces through which particles left the mesh; `None` for negative numbers.
fn faces(cells: Vec<i64>, faces: Vec<i32>) -> Vec<Option<MeshFace>> {
    let face = |(cell, face): (i64, i32)| {
        Some(MeshFace { cell: cell.try_into().ok()?, face: face.try_into().ok()? })
    };
    cells.into_iter().zip(faces).map(face).collect()
}

/// Moves a position by the boxes crossed.
pub(super) fn unwrap(position: &mut [f64; 3], image: [i32; 3], periods: [f64; 3]) {
    for d in 0..3 {
        position[d] += f64::from(image[d]) * periods[d];
    }
}
