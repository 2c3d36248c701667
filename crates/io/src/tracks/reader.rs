//! Reads a store, piece by piece.

use super::files::Files;
use super::layout::{self, Spec};
use super::lives::Lives;
use super::manifest::Manifest;
use crate::number::Number;
use crate::{Error, Result};
use burntrace_core::{Ends, MeshFace, Precision, Status};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The tracks of a run in a folder.
///
/// Opening it looks at what describes the arrays, and reads times; positions and the like are read
/// when they are asked for, from memory of the size of what is given back. May be read from several
/// threads at once.
#[derive(Debug, Clone)]
pub struct Tracks {
    folder: PathBuf,
    manifest: Manifest,
    times: Vec<f64>,
    files: Files,
}

/// The way of one particle; where slots are used again, of those that were in one slot.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Times of the saves, in the data's unit of time.
    pub time: Vec<f64>,
    /// Positions in the box, one for each save; an ended particle keeps its last one. NaN where
    /// there is no particle in the slot of a source.
    pub position: Vec<[f64; 3]>,
    /// What has become of it, for each save.
    pub status: Vec<Status>,
    /// Boxes crossed through periodic faces, for each save, where there are such faces.
    pub image: Option<Vec<[i32; 3]>>,
    /// Velocities, for each save, where they were stored.
    pub velocity: Option<Vec<[f64; 3]>>,
    /// How many lives the slot has had before, for each save, where slots are used again. Saves
    /// with different numbers are those of different particles, between which no line leads.
    pub generation: Option<Vec<i32>>,
}

impl Tracks {
    /// Opens the store in a folder, that of this version or of an earlier one.
    ///
    /// # Errors
    ///
    /// If there is none, its run has not ended, or an array is missing or not what the store says.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Tracks> {
        let tracks = Tracks::open_partial(folder)?;
        match tracks.is_complete() {
            true => Ok(tracks),
            false => Err(Error::Store {
                path: tracks.folder,
                found: format!(
                    "its run is still going on, or was stopped: {} of {} saves are there",
                    tracks.manifest.saves, tracks.manifest.planned_saves
                ),
                expected: "the tracks of a finished run; resume it, or look at what is there with \
                           `Tracks::open_partial`"
                    .into(),
            }),
        }
    }

    /// Opens the store in a folder, also that of a run which is going on or was stopped: it has the
    /// saves that were complete at this moment, and no ends.
    ///
    /// # Errors
    ///
    /// As [`open`](Tracks::open), but for the run, which need not have ended. A run of an earlier
    /// version (NumPy files) must have.
    pub fn open_partial(folder: impl Into<PathBuf>) -> Result<Tracks> {
        let folder = folder.into();
        let (mut manifest, form) = Manifest::read(&folder)?;
        let files = Files::open(&folder, &manifest, form)?;
        if !manifest.complete {
            let (counts, is_ending) = (files.counted()?, manifest.saves > 0);
            let at_most = if is_ending { manifest.saves } else { manifest.planned_saves };
            manifest.saves = counts.saves.min(at_most);
            let lives = |lives| if is_ending { counts.lives.min(lives) } else { counts.lives };
            manifest.lives = manifest.lives.map(lives);
        }
        let times = files.read(layout::TIME, 0..manifest.saves, 0..1)?;
        Ok(Tracks { folder, manifest, times, files })
    }

    /// Whether the run has ended; if not, there is what it had saved when the store was opened.
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

    /// How many saves there are.
    pub fn num_saves(&self) -> usize {
        self.manifest.saves
    }

    /// How many saves the run was to make; more than there are where it was cancelled.
    pub fn num_planned_saves(&self) -> usize {
        self.manifest.planned_saves
    }

    /// How many slots there are: particles, where slots are not used again.
    pub fn num_particles(&self) -> usize {
        self.manifest.particles
    }

    /// Precision of positions and velocities in the files.
    pub fn precision(&self) -> Precision {
        self.manifest.precision()
    }

    /// Widths of the box along periodic axes, in the data's unit of length; 0 along the others.
    pub fn periods(&self) -> [f64; 3] {
        self.manifest.periods
    }

    /// Whether velocities are stored.
    pub fn has_velocity(&self) -> bool {
        self.files.has(layout::VELOCITY)
    }

    /// How many lives there are in the table of them; `None` where slots are not used again.
    pub fn num_lives(&self) -> Option<usize> {
        self.manifest.lives
    }

    /// Positions of all particles in a save, in the box; in the order of the seeds, after which the
    /// slots of sources come. They are NaN where there is no particle in the slot of a source.
    ///
    /// # Errors
    ///
    /// If there is no such save, or its file cannot be read.
    pub fn position(&self, save: usize) -> Result<Vec<[f64; 3]>> {
        self.position_range(save, 0..self.num_particles())
    }

    /// Positions of some particles in a save, e.g. `1000..2000`; the rest is not read.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position); also if there are no such particles.
    pub fn position_range(&self, save: usize, particles: Range<usize>) -> Result<Vec<[f64; 3]>> {
        if particles.end > self.num_particles() {
            let index = particles.end - 1;
            return Err(Error::Index { what: "particle", index, count: self.num_particles() });
        }
        self.floats(layout::POSITION, self.row(save)?, particles)
    }

    /// Positions of all particles in a save as if the box went on for ever: position + image x
    /// period, a path without jumps.
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

    /// What has become of all particles at a save.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position); also if a code is that of no status.
    pub fn status(&self, save: usize) -> Result<Vec<Status>> {
        statuses(&self.folder, self.of_save(layout::STATUS, save)?)
    }

    /// Boxes crossed through periodic faces by all particles until a save; `None` where there are
    /// no such faces.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position).
    pub fn image(&self, save: usize) -> Result<Option<Vec<[i32; 3]>>> {
        let image = |spec| self.of_save(spec, save).map(triples);
        self.optional(layout::IMAGE).map(image).transpose()
    }

    /// Velocities of all particles in a save; `None` where they were not stored.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position).
    pub fn velocity(&self, save: usize) -> Result<Option<Vec<[f64; 3]>>> {
        let velocity = |spec| self.floats(spec, self.row(save)?, 0..self.num_particles());
        self.optional(layout::VELOCITY).map(velocity).transpose()
    }

    /// How many lives each slot has had before those in a save; `None` where slots are not used
    /// again.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position).
    pub fn generation(&self, save: usize) -> Result<Option<Vec<i32>>> {
        self.optional(layout::GENERATION).map(|spec| self.of_save(spec, save)).transpose()
    }

    /// All lives, read in blocks as they are asked for; `None` where slots are not used again.
    ///
    /// They come about in the order of their ends, and those of a slot in order; those that were
    /// the last ones of their slots come at the end, in the order of the slots. A life that was
    /// never released is none.
    pub fn instances(&self) -> Option<Lives<'_>> {
        let slots = self.num_particles();
        self.num_lives().map(|count| Lives::new(&self.files, &self.folder, count, slots))
    }

    /// How each particle began and ended; where slots are used again, the last one in each slot.
    ///
    /// # Errors
    ///
    /// If the run has not ended, the files cannot be read, or a code is that of no status.
    pub fn ends(&self) -> Result<Ends> {
        if !self.is_complete() {
            return Err(Error::NotStored {
                path: self.folder.clone(),
                what: "ends of particles",
                remedy: "they are stored when the run ends",
            });
        }
        let obstacle = self.optional(layout::OBSTACLE).map(|spec| self.of_particles::<i32>(spec));
        let obstacle = obstacle.transpose()?.unwrap_or_default();
        let again = self.optional(layout::END_GENERATION).map(|spec| self.of_particles(spec));
        Ok(Ends {
            status: statuses(&self.folder, self.of_particles(layout::END_STATUS)?)?,
            release_time: self.of_particles(layout::RELEASE_TIME)?,
            end_time: self.of_particles(layout::END_TIME)?,
            mesh_face: match self.optional(layout::MESH_CELL) {
                Some(cell) => {
                    faces(self.of_particles(cell)?, self.of_particles(layout::MESH_FACE)?)
                }
                None => Vec::new(),
            },
            obstacle: obstacle.into_iter().map(number).collect(),
            generation: self.counts(again.transpose()?.unwrap_or_default())?,
        })
    }

    /// The way of one particle, or of those that were in one slot.
    ///
    /// # Errors
    ///
    /// If there is no such particle, or a file cannot be read.
    pub fn track(&self, particle: usize) -> Result<Track> {
        let n = self.num_particles();
        if particle >= n {
            return Err(Error::Index { what: "particle", index: particle, count: n });
        }
        let (saves, column) = (0..self.num_saves(), particle..particle + 1);
        let ints = |spec| self.files.read::<i32>(spec, saves.clone(), column.clone());
        let floats = |spec| self.floats(spec, saves.clone(), column.clone());
        let codes = self.files.read(layout::STATUS, saves.clone(), column.clone())?;
        let image = self.optional(layout::IMAGE).map(ints).transpose()?;
        Ok(Track {
            time: self.times.clone(),
            position: floats(layout::POSITION)?,
            status: statuses(&self.folder, codes)?,
            image: image.map(triples),
            velocity: self.optional(layout::VELOCITY).map(floats).transpose()?,
            generation: self.optional(layout::GENERATION).map(ints).transpose()?,
        })
    }

    /// An array, if the store has it.
    pub(super) fn optional(&self, spec: Spec) -> Option<Spec> {
        self.files.has(spec).then_some(spec)
    }

    /// The row of a save, if there is such a one.
    fn row(&self, save: usize) -> Result<Range<usize>> {
        match save < self.num_saves() {
            true => Ok(save..save + 1),
            false => Err(Error::Index { what: "save", index: save, count: self.num_saves() }),
        }
    }

    fn of_save<T: Number>(&self, spec: Spec, save: usize) -> Result<Vec<T>> {
        self.of_slots(spec, save, 0..self.num_particles())
    }

    /// The numbers of some slots at a save.
    pub(super) fn of_slots<T: Number>(
        &self,
        spec: Spec,
        save: usize,
        slots: Range<usize>,
    ) -> Result<Vec<T>> {
        self.files.read(spec, self.row(save)?, slots)
    }

    fn of_particles<T: Number>(&self, spec: Spec) -> Result<Vec<T>> {
        self.files.read(spec, 0..1, 0..self.num_particles())
    }

    fn floats(
        &self,
        spec: Spec,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Result<Vec<[f64; 3]>> {
        match self.precision() {
            Precision::F32 => {
                let numbers = self.files.read::<f32>(spec, rows, columns)?;
                Ok(numbers.as_chunks().0.iter().map(|p: &[f32; 3]| p.map(f64::from)).collect())
            }
            Precision::F64 => Ok(triples(self.files.read(spec, rows, columns)?)),
        }
    }

    /// Numbers of lives, none of which is negative.
    fn counts(&self, numbers: Vec<i32>) -> Result<Vec<u32>> {
        let count = |number: i32| {
            number.try_into().map_err(|_| Error::Store {
                path: self.folder.join(layout::END_GENERATION.name),
                found: format!("found {number} lives before the last one of a slot"),
                expected: "0 or more".into(),
            })
        };
        numbers.into_iter().map(count).collect()
    }
}

/// The number of an obstacle; none where it is negative.
fn number(which: i32) -> Option<usize> {
    which.try_into().ok()
}

/// Faces through which particles left the mesh; none where the numbers are negative.
fn faces(cells: Vec<i64>, faces: Vec<i32>) -> Vec<Option<MeshFace>> {
    let face = |(cell, face): (i64, i32)| {
        Some(MeshFace { cell: cell.try_into().ok()?, face: face.try_into().ok()? })
    };
    cells.into_iter().zip(faces).map(face).collect()
}

impl Track {
    /// Its positions as if the box went on for ever; `periods` are those of the
    /// [store](Tracks::periods).
    pub fn unwrapped(&self, periods: [f64; 3]) -> Vec<[f64; 3]> {
        let mut positions = self.position.clone();
        for (position, image) in positions.iter_mut().zip(self.image.iter().flatten()) {
            unwrap(position, *image, periods);
        }
        positions
    }
}

fn unwrap(position: &mut [f64; 3], image: [i32; 3], periods: [f64; 3]) {
    for d in 0..3 {
        position[d] += f64::from(image[d]) * periods[d];
    }
}

pub(super) fn triples<T: Number>(numbers: Vec<T>) -> Vec<[T; 3]> {
    numbers.as_chunks().0.to_vec()
}

pub(super) fn statuses(folder: &Path, codes: Vec<u8>) -> Result<Vec<Status>> {
    let status = |code: u8| {
        Status::from_code(i32::from(code)).ok_or_else(|| Error::Store {
            path: folder.into(),
            found: format!("found a particle with the status code {code}"),
            expected: "the codes that the store lists".into(),
        })
    };
    codes.into_iter().map(status).collect()
}
