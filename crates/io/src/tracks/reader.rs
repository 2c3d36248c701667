//! Reads a store, piece by piece.

use super::lives::{LifeFiles, Lives};
use super::manifest::Manifest;
use super::npy::{NpyFile, Scalar};
use crate::{Error, Result};
use burntrace_core::{Ends, MeshFace, Precision, Status};
use std::path::{Path, PathBuf};

/// The tracks of a run in a folder.
///
/// Opening it checks that all arrays are there and whole; positions and the like are read when
/// they are asked for, from memory of the size of what is given back. May be read from several
/// threads at once.
#[derive(Debug, Clone)]
pub struct Tracks {
    folder: PathBuf,
    manifest: Manifest,
    times: Vec<f64>,
    position: NpyFile,
    status: NpyFile,
    image: Option<NpyFile>,
    velocity: Option<NpyFile>,
    end_status: NpyFile,
    end_time: NpyFile,
    release_time: NpyFile,
    mesh: Option<MeshFiles>,
    obstacle: Option<NpyFile>,
    again: Option<AgainFiles>,
}

/// Where particles left the mesh.
#[derive(Debug, Clone)]
struct MeshFiles {
    cell: NpyFile,
    face: NpyFile,
}

/// What there is where slots are used again.
#[derive(Debug, Clone)]
struct AgainFiles {
    generation: NpyFile,
    end_generation: NpyFile,
    lives: LifeFiles,
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
    /// Opens the store in a folder.
    ///
    /// # Errors
    ///
    /// If there is none, its run has not ended, or a file is missing, cut off or not what
    /// `tracks.json` says.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Tracks> {
        let folder = folder.into();
        let manifest = Manifest::read(&folder)?;
        let (saves, particles) = (manifest.saves, manifest.particles);
        let path = |name: &str| folder.join(format!("{name}.npy"));
        let [all, each, of_saves, of_particles] =
            [&[saves, particles, 3][..], &[saves, particles], &[saves], &[particles]];
        let reals = |name| match manifest.precision() {
            Precision::F32 => NpyFile::open::<f32>(path(name), all),
            Precision::F64 => NpyFile::open::<f64>(path(name), all),
        };
        let mesh = || {
            let cell = NpyFile::open::<i64>(path("mesh_cell"), of_particles)?;
            let face = NpyFile::open::<i32>(path("mesh_face"), of_particles)?;
            Result::Ok(MeshFiles { cell, face })
        };
        let images = || NpyFile::open::<i32>(path("image"), all);
        let obstacles = || NpyFile::open::<i32>(path("obstacle"), of_particles);
        let again = |lives| {
            let generation = NpyFile::open::<i32>(path("generation"), each)?;
            let end_generation = NpyFile::open::<i32>(path("end_generation"), of_particles)?;
            let lives = LifeFiles::open(path, lives, particles)?;
            Result::Ok(AgainFiles { generation, end_generation, lives })
        };
        Ok(Tracks {
            times: NpyFile::open::<f64>(path("time"), of_saves)?.read(0, saves)?,
            position: reals("position")?,
            status: NpyFile::open::<u8>(path("status"), each)?,
            image: manifest.has("image").then(images).transpose()?,
            velocity: manifest.has("velocity").then(|| reals("velocity")).transpose()?,
            end_status: NpyFile::open::<u8>(path("end_status"), of_particles)?,
            end_time: NpyFile::open::<f64>(path("end_time"), of_particles)?,
            release_time: NpyFile::open::<f64>(path("release_time"), of_particles)?,
            mesh: manifest.has("mesh_cell").then(mesh).transpose()?,
            obstacle: manifest.has("obstacle").then(obstacles).transpose()?,
            again: manifest.lives.map(again).transpose()?,
            folder,
            manifest,
        })
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
        self.velocity.is_some()
    }

    /// How many lives there are in the table of them; `None` where slots are not used again.
    pub fn num_lives(&self) -> Option<usize> {
        self.again.as_ref().map(|again| again.lives.count())
    }

    /// Positions of all particles in a save, in the box; in the order of the seeds, after which the
    /// slots of sources come. They are NaN where there is no particle in the slot of a source.
    ///
    /// # Errors
    ///
    /// If there is no such save, or its file cannot be read.
    pub fn position(&self, save: usize) -> Result<Vec<[f64; 3]>> {
        self.reals(&self.position, save)
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
        let n = self.row(save)?;
        statuses(&self.folder, self.status.read(save * n, n)?)
    }

    /// Boxes crossed through periodic faces by all particles until a save; `None` where there are
    /// no such faces.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position).
    pub fn image(&self, save: usize) -> Result<Option<Vec<[i32; 3]>>> {
        let n = 3 * self.row(save)?;
        let read = |file: &NpyFile| file.read(save * n, n).map(triples);
        self.image.as_ref().map(read).transpose()
    }

    /// Velocities of all particles in a save; `None` where they were not stored.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position).
    pub fn velocity(&self, save: usize) -> Result<Option<Vec<[f64; 3]>>> {
        self.velocity.as_ref().map(|file| self.reals(file, save)).transpose()
    }

    /// How many lives each slot has had before those in a save; `None` where slots are not used
    /// again.
    ///
    /// # Errors
    ///
    /// As [`position`](Tracks::position).
    pub fn generation(&self, save: usize) -> Result<Option<Vec<i32>>> {
        let n = self.row(save)?;
        self.again.as_ref().map(|again| again.generation.read(save * n, n)).transpose()
    }

    /// All lives, read in blocks as they are asked for; `None` where slots are not used again.
    ///
    /// They come about in the order of their ends, and those of a slot in order; those that were
    /// the last ones of their slots come at the end, in the order of the slots. A life that was
    /// never released is none.
    pub fn lives(&self) -> Option<Lives<'_>> {
        self.again.as_ref().map(|again| Lives::new(&again.lives, &self.folder))
    }

    /// How each particle began and ended; where slots are used again, the last one in each slot.
    ///
    /// # Errors
    ///
    /// If the files cannot be read, or a code is that of no status.
    pub fn ends(&self) -> Result<Ends> {
        let n = self.num_particles();
        Ok(Ends {
            status: statuses(&self.folder, self.end_status.read(0, n)?)?,
            release_time: self.release_time.read(0, n)?,
            end_time: self.end_time.read(0, n)?,
            mesh_face: match &self.mesh {
                Some(files) => files.read(n)?,
                None => Vec::new(),
            },
            obstacle: match &self.obstacle {
                Some(file) => file.read(0, n)?.into_iter().map(number).collect(),
                None => Vec::new(),
            },
            generation: match &self.again {
                Some(again) => self.counts(again.end_generation.read(0, n)?)?,
                None => Vec::new(),
            },
        })
    }

    /// The way of one particle, or of those that were in one slot.
    ///
    /// # Errors
    ///
    /// If there is no such particle, or a file cannot be read.
    pub fn track(&self, particle: usize) -> Result<Track> {
        let (n, saves) = (self.num_particles(), self.num_saves());
        if particle >= n {
            return Err(Error::Index { what: "particle", index: particle, count: n });
        }
        let image = |file: &NpyFile| file.read_strided(3 * particle, 3, 3 * n, saves).map(triples);
        let velocity = |file| self.reals_of(file, 3 * particle, 3, 3 * n, saves);
        let generation = |again: &AgainFiles| again.generation.read_strided(particle, 1, n, saves);
        Ok(Track {
            time: self.times.clone(),
            position: self.reals_of(&self.position, 3 * particle, 3, 3 * n, saves)?,
            status: statuses(&self.folder, self.status.read_strided(particle, 1, n, saves)?)?,
            image: self.image.as_ref().map(image).transpose()?,
            velocity: self.velocity.as_ref().map(velocity).transpose()?,
            generation: self.again.as_ref().map(generation).transpose()?,
        })
    }

    /// The number of particles, if there is such a save.
    fn row(&self, save: usize) -> Result<usize> {
        match save < self.num_saves() {
            true => Ok(self.num_particles()),
            false => Err(Error::Index { what: "save", index: save, count: self.num_saves() }),
        }
    }

    /// Numbers of lives, none of which is negative.
    fn counts(&self, numbers: Vec<i32>) -> Result<Vec<u32>> {
        let count = |number: i32| {
            number.try_into().map_err(|_| Error::Store {
                path: self.folder.join("end_generation.npy"),
                found: format!("found {number} lives before the last one of a slot"),
                expected: "0 or more".into(),
            })
        };
        numbers.into_iter().map(count).collect()
    }

    fn reals(&self, file: &NpyFile, save: usize) -> Result<Vec<[f64; 3]>> {
        let n = 3 * self.row(save)?;
        self.reals_of(file, save * n, n, 0, 1)
    }

    fn reals_of(
        &self,
        file: &NpyFile,
        first: usize,
        count: usize,
        stride: usize,
        times: usize,
    ) -> Result<Vec<[f64; 3]>> {
        match self.precision() {
            Precision::F32 => {
                let numbers = file.read_strided::<f32>(first, count, stride, times)?;
                Ok(numbers.as_chunks().0.iter().map(|p: &[f32; 3]| p.map(f64::from)).collect())
            }
            Precision::F64 => Ok(triples(file.read_strided(first, count, stride, times)?)),
        }
    }
}

/// The number of an obstacle; none where it is negative.
fn number(which: i32) -> Option<usize> {
    which.try_into().ok()
}

impl MeshFiles {
    /// The faces of so many particles; none where the numbers are negative.
    fn read(&self, n: usize) -> Result<Vec<Option<MeshFace>>> {
        let pairs = self.cell.read::<i64>(0, n)?.into_iter().zip(self.face.read::<i32>(0, n)?);
        let face = |(cell, face): (i64, i32)| {
            Some(MeshFace { cell: cell.try_into().ok()?, face: face.try_into().ok()? })
        };
        Ok(pairs.map(face).collect())
    }
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

pub(super) fn triples<T: Scalar>(numbers: Vec<T>) -> Vec<[T; 3]> {
    numbers.as_chunks().0.to_vec()
}

pub(super) fn statuses(folder: &Path, codes: Vec<u8>) -> Result<Vec<Status>> {
    let status = |code: u8| {
        Status::from_code(i32::from(code)).ok_or_else(|| Error::Store {
            path: folder.into(),
            found: format!("found a particle with the status code {code}"),
            expected: "the codes that tracks.json lists".into(),
        })
    };
    codes.into_iter().map(status).collect()
}
