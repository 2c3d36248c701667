//! A store that is being written, on the host.

use super::array::ArrayWriter;
use super::layout::{self, Spec};
use super::lives::LifeWriter;
use super::manifest::{self, Manifest};
use crate::disk::{refused, remove_file, remove_folder, sync_folder};
use crate::{Error, Result};
use burntrace_core::{DurablePosition, Ends, Floats, MeshFace, SavePlan};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Particles of a save, on the host.
#[derive(Debug)]
pub(super) struct Block {
    pub time: f64,
    /// Whether it is the last one of its save.
    pub is_last: bool,
    pub position: Floats,
    pub status: Vec<u8>,
    pub image: Option<Vec<i32>>,
    pub velocity: Option<Floats>,
    pub generation: Option<Vec<i32>>,
}

/// How a store begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// As a new one; whether it replaces one that is there.
    Nothing { overwrite: bool },
    /// As one of which so much is kept.
    DurablePosition(DurablePosition),
}

/// The arrays of a store.
#[derive(Debug)]
pub(super) struct StoreWriter {
    folder: PathBuf,
    manifest: Manifest,
    saves: usize,
    time: ArrayWriter,
    position: ArrayWriter,
    status: ArrayWriter,
    image: Option<ArrayWriter>,
    velocity: Option<ArrayWriter>,
    generation: Option<ArrayWriter>,
    lives: Option<LifeWriter>,
    written: Arc<AtomicU64>,
}

impl StoreWriter {
    /// Begins a store, or goes on with one.
    ///
    /// # Errors
    ///
    /// If there is one that must not be replaced, if the one to go on with is that of another run
    /// or has less than it should have, or if the system refuses.
    pub fn begin(
        folder: &Path,
        plan: &SavePlan,
        from: From,
        written: Arc<AtomicU64>,
    ) -> Result<StoreWriter> {
        let manifest = Manifest::new(plan);
        let mark = match from {
            From::Nothing { overwrite } => {
                if !overwrite && manifest::is_store(folder) {
                    return Err(Error::TracksExist { path: folder.into() });
                }
                DurablePosition::default()
            }
            From::DurablePosition(mark) => mark,
        };
        match from {
            From::DurablePosition(_)
                if mark != DurablePosition::default() || manifest::is_store(folder) =>
            {
                check(folder, &manifest)?;
                // First of all, what is complete no longer is.
                manifest.write(folder)?;
            }
            _ => remove_former(folder)?,
        }
        std::fs::create_dir_all(folder).map_err(refused("create", folder, None))?;
        let store = StoreWriter::arrays(folder, manifest, mark, written)?;
        remove_ends(folder)?;
        store.manifest.write(folder)?;
        Ok(store)
    }

    fn arrays(
        folder: &Path,
        manifest: Manifest,
        mark: DurablePosition,
        written: Arc<AtomicU64>,
    ) -> Result<StoreWriter> {
        let of = (manifest.precision(), manifest.planned());
        let saves = mark.saves as usize;
        let items = |spec: Spec| match spec.over {
            layout::Over::Both => saves * manifest.particles,
            layout::Over::Lives => mark.instances as usize,
            _ => saves,
        };
        let begin =
            |spec: Spec| ArrayWriter::begin(folder, spec, of, items(spec), Arc::clone(&written));
        let optional = |spec: Spec| manifest.has(spec).then(|| begin(spec)).transpose();
        Ok(StoreWriter {
            saves,
            time: begin(layout::TIME)?,
            position: begin(layout::POSITION)?,
            status: begin(layout::STATUS)?,
            image: optional(layout::IMAGE)?,
            velocity: optional(layout::VELOCITY)?,
            generation: optional(layout::GENERATION)?,
            lives: manifest.lives.map(|_| LifeWriter::begin(begin)).transpose()?,
            folder: folder.into(),
            manifest,
            written,
        })
    }

    /// Adds particles of a save. The save counts when its time is there, which comes last.
    pub fn add(&mut self, block: &Block) -> Result<()> {
        append_floats(&mut self.position, &block.position)?;
        self.status.append(&block.status)?;
        if let (Some(array), Some(image)) = (&mut self.image, &block.image) {
            array.append(image)?;
        }
        if let (Some(array), Some(velocity)) = (&mut self.velocity, &block.velocity) {
            append_floats(array, velocity)?;
        }
        if let (Some(array), Some(generation)) = (&mut self.generation, &block.generation) {
            array.append(generation)?;
        }
        if block.is_last {
            self.time.append(&[block.time])?;
            self.saves += 1;
        }
        Ok(())
    }

    /// Adds lives; there are none where slots are not used again.
    pub fn add_lives(&mut self, lives: &[burntrace_core::ParticleInstance]) -> Result<()> {
        match &mut self.lives {
            Some(table) => table.append(lives),
            None => Ok(()),
        }
    }

    /// Makes sure that all of it is on the disk, and says how much it is.
    pub fn sync(&mut self) -> Result<DurablePosition> {
        self.each(ArrayWriter::sync)?;
        let lives = self.lives.as_ref().map_or(0, LifeWriter::count);
        Ok(DurablePosition { saves: self.saves as u64, instances: lives as u64 })
    }

    /// Calls something for each array.
    fn each(&mut self, mut call: impl FnMut(&mut ArrayWriter) -> Result<()>) -> Result<()> {
        let always = [&mut self.time, &mut self.position, &mut self.status];
        let optional = [&mut self.image, &mut self.velocity, &mut self.generation];
        let optional = optional.into_iter().filter_map(Option::as_mut);
        let lives = self.lives.iter_mut().flat_map(LifeWriter::columns);
        always.into_iter().chain(optional).chain(lives).try_for_each(&mut call)
    }

    /// Completes the store: last of all, it says that it is complete.
    pub fn end(mut self, ends: &Ends) -> Result<()> {
        self.manifest.saves = self.saves;
        if let Some(lives) = &self.lives {
            self.manifest.lives = Some(lives.count());
        }
        let counts = self.manifest.counts();
        // What fills the last chunks up must not be taken for saves, if it does not come to an end.
        self.manifest.write(&self.folder)?;
        self.each(|array| array.finish(counts))?;
        self.write_ends(ends)?;
        sync_folder(&self.folder)?;
        self.manifest.complete = true;
        self.manifest.write(&self.folder)
    }

    /// Writes the arrays that are known at the end only.
    fn write_ends(&mut self, ends: &Ends) -> Result<()> {
        // All of them are codes below 256, and numbers below 2^31: those of tensors.
        let codes: Vec<u8> = ends.status.iter().map(|status| status.code() as u8).collect();
        self.write_array(layout::END_STATUS, &codes)?;
        self.write_array(layout::END_TIME, &ends.end_time)?;
        self.write_array(layout::RELEASE_TIME, &ends.release_time)?;
        if self.lives.is_some() {
            let generations: Vec<i32> = ends.generation.iter().map(|&n| n as i32).collect();
            self.write_array(layout::END_GENERATION, &generations)?;
        }
        if !ends.mesh_face.is_empty() {
            let (cells, faces) = numbers(&ends.mesh_face);
            self.write_array(layout::MESH_CELL, &cells)?;
            self.write_array(layout::MESH_FACE, &faces)?;
        }
        if !ends.obstacle.is_empty() {
            let number = |which: &Option<usize>| which.map_or(-1, |which| which as i32);
            let numbers: Vec<i32> = ends.obstacle.iter().map(number).collect();
            self.write_array(layout::OBSTACLE, &numbers)?;
        }
        Ok(())
    }

    fn write_array<T: crate::number::Number>(&mut self, spec: Spec, numbers: &[T]) -> Result<()> {
        let (counts, written) = (self.manifest.counts(), Arc::clone(&self.written));
        let of = (self.manifest.precision(), counts);
        let mut array = ArrayWriter::begin(&self.folder, spec, of, 0, written)?;
        array.append(numbers)?;
        array.finish(counts)?;
        self.manifest.arrays.push(spec.name.into());
        Ok(())
    }
}

fn append_floats(array: &mut ArrayWriter, floats: &Floats) -> Result<()> {
    match floats {
        Floats::F32(numbers) => array.append(numbers),
        Floats::F64(numbers) => array.append(numbers),
    }
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

/// Makes sure that the store in a folder is that of this run.
fn check(folder: &Path, run: &Manifest) -> Result<()> {
    let (found, form) = Manifest::read(folder)?;
    let store =
        |found: String, expected: String| Error::Store { path: folder.into(), found, expected };
    if form == manifest::Form::NumPy {
        let found = format!("found a store of NumPy files (`{}`)", manifest::NUMPY);
        return Err(store(found, "one that a run can go on with".into()));
    }
    match found.difference(run) {
        None => Ok(()),
        Some((what, there, here)) => Err(store(
            format!("found the tracks of another run: {what} = {there}"),
            format!("{what} = {here}, as in the run that is to go on"),
        )),
    }
}

/// Removes a former store, whatever its form, beginning with what makes it look like one.
fn remove_former(folder: &Path) -> Result<()> {
    remove_file(&folder.join(layout::METADATA))?;
    remove_file(&folder.join(manifest::NUMPY))?;
    for spec in layout::ALL {
        remove_folder(&spec.folder(folder))?;
        for end in ["npy", "npy.part"] {
            remove_file(&folder.join(format!("{}.{end}", spec.name)))?;
        }
    }
    Ok(())
}

/// Removes the arrays that are known at the end only.
fn remove_ends(folder: &Path) -> Result<()> {
    let mut ends = layout::ALL.iter().filter(|spec| spec.over == layout::Over::Particles);
    ends.try_for_each(|spec| remove_folder(&spec.folder(folder)))
}
