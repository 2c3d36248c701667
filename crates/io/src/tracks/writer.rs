//! Writes a store, save by save.

use super::lives::{self, LifeWriter};
use super::manifest::{self, Manifest};
use super::npy::{self, NpyWriter, partial};
use crate::{Error, Result};
use burn::tensor::{Element, TensorData, Transaction};
use burntrace_core::{Ends, Life, MeshFace, Precision, Save, SavePlan, SinkError, TrackSink};
use std::path::{Path, PathBuf};

/// Arrays that only some runs have, besides the table of lives.
const OPTIONAL: [&str; 7] =
    ["image", "velocity", "generation", "end_generation", "mesh_cell", "mesh_face", "obstacle"];

/// Writes the tracks of a run into a folder, each save as it comes.
///
/// Until the run has ended, the names of the files end in `.part`: what looks complete is
/// complete. Saves of a graphics card are written while it takes the next steps.
#[derive(Debug)]
pub struct TrackWriter {
    folder: PathBuf,
    overwrite: bool,
    open: Option<OpenStore>,
}

#[derive(Debug)]
struct OpenStore {
    plan: SavePlan,
    saves: usize,
    time: NpyWriter,
    position: NpyWriter,
    status: NpyWriter,
    image: Option<NpyWriter>,
    velocity: Option<NpyWriter>,
    again: Option<Again>,
}

/// What there is where slots are used again.
#[derive(Debug)]
struct Again {
    generation: NpyWriter,
    lives: LifeWriter,
}

impl TrackWriter {
    /// A writer into a folder, which is created when the run begins.
    pub fn new(folder: impl Into<PathBuf>) -> TrackWriter {
        TrackWriter { folder: folder.into(), overwrite: false, open: None }
    }

    /// Whether tracks that are in the folder already are replaced, at the end of the run; otherwise
    /// they are an error at its begin.
    pub fn overwrite(mut self, overwrite: bool) -> TrackWriter {
        self.overwrite = overwrite;
        self
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn begin_store(&mut self, plan: &SavePlan) -> Result<()> {
        if !self.overwrite && self.folder.join(manifest::NAME).exists() {
            return Err(Error::TracksExist { path: self.folder.clone() });
        }
        std::fs::create_dir_all(&self.folder).map_err(Error::system("create", &self.folder))?;
        let path = |name: &str| partial(&self.folder.join(format!("{name}.npy")));
        let (saves, row) = (plan.saves, [plan.particles, 3]);
        let reals = |name| match plan.precision {
            Precision::F32 => NpyWriter::create::<f32>(path(name), saves, &row),
            Precision::F64 => NpyWriter::create::<f64>(path(name), saves, &row),
        };
        let is_periodic = plan.periods.iter().any(|period| *period != 0.0);
        let image = is_periodic.then(|| NpyWriter::create::<i32>(path("image"), saves, &row));
        let again = || {
            let generation = NpyWriter::create::<i32>(path("generation"), saves, &row[..1])?;
            Result::Ok(Again { generation, lives: LifeWriter::create(path)? })
        };
        self.open = Some(OpenStore {
            saves: 0,
            time: NpyWriter::create::<f64>(path("time"), saves, &[])?,
            position: reals("position")?,
            status: NpyWriter::create::<u8>(path("status"), saves, &row[..1])?,
            image: image.transpose()?,
            velocity: plan.velocity.then(|| reals("velocity")).transpose()?,
            again: plan.lives.then(again).transpose()?,
            plan: plan.clone(),
        });
        Ok(())
    }

    fn add(&mut self, save: Save) -> Result<()> {
        match &mut self.open {
            Some(store) => store.add(&self.folder, save),
            None => Err(not_begun(&self.folder, save.index)),
        }
    }

    fn add_lives(&mut self, lives: &[Life]) -> Result<()> {
        let Some(store) = &mut self.open else { return Err(not_begun(&self.folder, 0)) };
        match &mut store.again {
            Some(again) => again.lives.append(lives),
            None => {
                let reason = "lives of slots came with it, which were not announced".into();
                Err(Error::Save { path: self.folder.clone(), save: store.saves, reason })
            }
        }
    }

    fn end_store(&mut self, ends: &Ends) -> Result<()> {
        let Some(store) = self.open.take() else { return Err(not_begun(&self.folder, 0)) };
        if let Some(found) = other_count(ends, &store.plan) {
            let n = store.plan.particles;
            let reason = format!("the ends are those of {found} particles, not {n}");
            return Err(Error::Save { path: self.folder.clone(), save: store.saves, reason });
        }
        let mut parts = self.write_ends(ends, &store)?;
        let OpenStore { plan, saves, time, position, status, image, velocity, again } = store;
        let lives = again.as_ref().map(|again| again.lives.count());
        let mut arrays = vec![time, position, status];
        arrays.extend(image.into_iter().chain(velocity));
        if let Some(again) = again {
            arrays.push(again.generation);
            arrays.extend(again.lives.into_columns());
        }
        for array in arrays {
            parts.push(array.finish()?);
        }
        self.remove_former()?;
        let arrays = parts.iter().map(|part| rename(part)).collect::<Result<_>>()?;
        Manifest::new(&plan, saves, lives, arrays).write(&self.folder)
    }

    /// Writes the arrays that are known at the end only.
    fn write_ends(&self, ends: &Ends, store: &OpenStore) -> Result<Vec<PathBuf>> {
        let path = |name: &str| partial(&self.folder.join(format!("{name}.npy")));
        let codes: Result<Vec<u8>> =
            ends.status.iter().map(|status| self.code(status.code(), store.saves)).collect();
        let mut parts = vec![
            npy::write(path("end_status"), &codes?)?,
            npy::write(path("end_time"), &ends.end_time)?,
            npy::write(path("release_time"), &ends.release_time)?,
        ];
        if store.again.is_some() {
            let generations: Vec<i32> = ends.generation.iter().map(|&n| n as i32).collect();
            parts.push(npy::write(path("end_generation"), &generations)?);
        }
        if !ends.mesh_face.is_empty() {
            let (cells, faces) = numbers(&ends.mesh_face);
            parts.push(npy::write(path("mesh_cell"), &cells)?);
            parts.push(npy::write(path("mesh_face"), &faces)?);
        }
        if !ends.obstacle.is_empty() {
            let number = |which: &Option<usize>| which.map_or(-1, |which| which as i32);
            let numbers: Vec<i32> = ends.obstacle.iter().map(number).collect();
            parts.push(npy::write(path("obstacle"), &numbers)?);
        }
        Ok(parts)
    }

    /// Removes what would make a half-replaced store look complete.
    fn remove_former(&self) -> Result<()> {
        let arrays = OPTIONAL.iter().chain(&lives::COLUMNS).map(|name| format!("{name}.npy"));
        for name in std::iter::once(manifest::NAME.into()).chain(arrays) {
            let path = self.folder.join(name);
            if path.exists() {
                std::fs::remove_file(&path).map_err(Error::system("remove", &path))?;
            }
        }
        Ok(())
    }

    fn code(&self, code: i32, save: usize) -> Result<u8> {
        status_code(&self.folder, code, save)
    }
}

/// A number of particles in the ends that is not the one that was announced.
fn other_count(ends: &Ends, plan: &SavePlan) -> Option<usize> {
    let faces = Some(ends.mesh_face.len()).filter(|faces| *faces > 0);
    let obstacles = Some(ends.obstacle.len()).filter(|obstacles| *obstacles > 0);
    let optional = faces.into_iter().chain(obstacles);
    let generations = plan.lives.then_some(ends.generation.len());
    let counts = [ends.status.len(), ends.release_time.len(), ends.end_time.len()];
    counts.into_iter().chain(optional).chain(generations).find(|count| *count != plan.particles)
}

/// The cells and faces through which particles left the mesh, as integers; -1 for those that did
/// not.
fn numbers(faces: &[Option<MeshFace>]) -> (Vec<i64>, Vec<i32>) {
    let pair = |face: &Option<MeshFace>| match face {
        Some(face) => (face.cell as i64, face.face as i32),
        None => (-1, -1),
    };
    faces.iter().map(pair).unzip()
}

impl OpenStore {
    fn add(&mut self, folder: &Path, save: Save) -> Result<()> {
        let Save { index, time, first: _, position, status, image, velocity, generation } = save;
        let mut transaction = Transaction::default().register(position).register(status);
        if self.image.is_some() {
            transaction = transaction.register(image);
        }
        if self.again.is_some() {
            let generation = generation.ok_or_else(|| lacks("generations", folder, index))?;
            transaction = transaction.register(generation);
        }
        if self.velocity.is_some() {
            let velocity = velocity.ok_or_else(|| lacks("velocities", folder, index))?;
            transaction = transaction.register(velocity);
        }
        let failed =
            |e: burn::tensor::ExecutionError| Error::Device { save: index, reason: e.to_string() };
        let data = transaction.try_execute().map_err(failed)?;
        self.append(data, Place { folder, save: index, particles: self.plan.particles })?;
        self.time.append(&[time])?;
        self.saves += 1;
        Ok(())
    }

    /// Appends the data of a save, in the order in which they were registered.
    fn append(&mut self, data: Vec<TensorData>, place: Place<'_>) -> Result<()> {
        let mut data = data.into_iter();
        let mut next = || data.next().ok_or_else(|| lacks("data", place.folder, place.save));
        append_reals(&mut self.position, self.plan.precision, next()?, place)?;
        let codes: Vec<i32> = values(next()?, place, 1)?;
        let codes: Result<Vec<u8>> =
            codes.into_iter().map(|code| status_code(place.folder, code, place.save)).collect();
        self.status.append(&codes?)?;
        if let Some(image) = &mut self.image {
            image.append(&values::<i32>(next()?, place, 3)?)?;
        }
        if let Some(again) = &mut self.again {
            again.generation.append(&values::<i32>(next()?, place, 1)?)?;
        }
        if let Some(velocity) = &mut self.velocity {
            append_reals(velocity, self.plan.precision, next()?, place)?;
        }
        Ok(())
    }
}

/// What belongs where, for messages.
#[derive(Clone, Copy)]
struct Place<'a> {
    folder: &'a Path,
    save: usize,
    particles: usize,
}

fn append_reals(
    array: &mut NpyWriter,
    precision: Precision,
    data: TensorData,
    place: Place<'_>,
) -> Result<()> {
    match precision {
        Precision::F32 => array.append(&values::<f32>(data, place, 3)?),
        Precision::F64 => array.append(&values::<f64>(data, place, 3)?),
    }
}

/// The numbers of a tensor, `width` for each particle.
fn values<E: Element>(data: TensorData, place: Place<'_>, width: usize) -> Result<Vec<E>> {
    let values = data.try_cast_as::<E>().and_then(TensorData::try_into_vec::<E>);
    let values = values.map_err(|e| Error::Device { save: place.save, reason: e.to_string() })?;
    let expected = place.particles * width;
    if values.len() != expected {
        return Err(Error::Save {
            path: place.folder.into(),
            save: place.save,
            reason: format!("it has {} numbers where {expected} were announced", values.len()),
        });
    }
    Ok(values)
}

fn status_code(folder: &Path, code: i32, save: usize) -> Result<u8> {
    u8::try_from(code).map_err(|_| Error::Save {
        path: folder.into(),
        save,
        reason: format!("{code} is the code of no status"),
    })
}

fn lacks(what: &str, folder: &Path, save: usize) -> Error {
    let reason = format!("it has no {what}, which were announced");
    Error::Save { path: folder.into(), save, reason }
}

fn not_begun(folder: &Path, save: usize) -> Error {
    let reason = "the run has not begun, or has ended; call `begin` first".into();
    Error::Save { path: folder.into(), save, reason }
}

/// Gives a file its final name; returns the name of the array.
fn rename(part: &Path) -> Result<String> {
    let path = part.with_extension("");
    std::fs::rename(part, &path).map_err(Error::system("rename", part))?;
    Ok(path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
}

impl TrackSink for TrackWriter {
    fn on_host(&self) -> bool {
        true
    }

    fn begin(&mut self, plan: &SavePlan) -> std::result::Result<(), SinkError> {
        Ok(self.begin_store(plan)?)
    }

    fn save(&mut self, save: Save) -> std::result::Result<(), SinkError> {
        Ok(self.add(save)?)
    }

    fn lives(&mut self, lives: &[Life]) -> std::result::Result<(), SinkError> {
        Ok(self.add_lives(lives)?)
    }

    fn end(&mut self, ends: &Ends) -> std::result::Result<(), SinkError> {
        Ok(self.end_store(ends)?)
    }
}
