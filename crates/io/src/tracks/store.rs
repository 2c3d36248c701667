//! Writes the arrays of a store, on the host.

use super::array::ArrayWriter;
use super::cf;
use super::checksums::{Checksums, Entry};
use super::folder::{self, is_store};
use super::host_array::{of_ends, with_vector};
use super::instances::TableWriter;
use super::layout::{self, ArraySpec};
use super::manifest::Manifest;
use crate::disk::{refused, remove_folder, sync_all};
use crate::{Error, Result};
use burntrace_core::{Crossing, DurablePosition, Ends, Floats, ParticleInstance};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A block of particles of a save, on the host.
#[derive(Debug)]
pub(super) struct Block {
    pub time: f64,
    /// Whether it is the last block of its save.
    pub is_last: bool,
    pub position: Floats,
    pub status: Vec<u8>,
    pub image: Option<Vec<i32>>,
    pub velocity: Option<Floats>,
    pub generation: Option<Vec<i32>>,
    /// The arrays that are sampled along the tracks.
    pub arrays: Vec<Floats>,
}

impl Block {
    /// Adds the turns around the sphere, of `period` degrees each, to the longitudes, and takes them from the images.
    pub fn unwrap_longitudes(&mut self, period: f64) {
        let Some(image) = &mut self.image else { return };
        let turns = image.iter_mut().step_by(3).map(|turns| f64::from(std::mem::take(turns)));
        match &mut self.position {
            Floats::F32(position) => {
                let longitudes = position.iter_mut().step_by(3).zip(turns);
                longitudes.for_each(|(x, turns)| *x = (f64::from(*x) + turns * period) as f32);
            }
            Floats::F64(position) => {
                let longitudes = position.iter_mut().step_by(3).zip(turns);
                longitudes.for_each(|(x, turns)| *x += turns * period);
            }
        }
    }
}

/// How a store is opened for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenMode {
    /// As a new store, which may replace an existing one.
    New { overwrite: bool },
    /// As an existing store, from this position.
    Resume(DurablePosition),
}

/// Writes the arrays of a store.
#[derive(Debug)]
pub(super) struct StoreWriter {
    folder: PathBuf,
    manifest: Manifest,
    saves: usize,
    time: ArrayWriter,
    position: ArrayWriter,
    status: ArrayWriter,
    release_position: ArrayWriter,
    image: Option<ArrayWriter>,
    velocity: Option<ArrayWriter>,
    generation: Option<ArrayWriter>,
    /// The arrays that are sampled along the tracks.
    sampled: Vec<ArrayWriter>,
    instances: Option<TableWriter>,
    crossings: Option<TableWriter>,
    /// Files and folders of the arrays of the ends that are not synced yet.
    written_ends: Vec<PathBuf>,
    written: Arc<AtomicU64>,
}

impl StoreWriter {
    /// Creates a store, or opens an existing one to resume its run.
    ///
    /// # Errors
    ///
    /// If there is a store that must not be overwritten, if the store to resume belongs to another
    /// run, has less data than the position or damaged data, or if a file system operation fails.
    pub fn open(
        folder: &Path,
        manifest: Manifest,
        mode: OpenMode,
        written: Arc<AtomicU64>,
    ) -> Result<StoreWriter> {
        let position = match mode {
            OpenMode::New { overwrite } => {
                if !overwrite && is_store(folder) {
                    return Err(Error::TracksExist { path: folder.into() });
                }
                DurablePosition::default()
            }
            OpenMode::Resume(position) => position,
        };
        let mut store = StoreWriter::arrays(folder, manifest, position, written);
        match mode {
            OpenMode::Resume(_) if position != DurablePosition::default() || is_store(folder) => {
                let previous = check(folder, &store.manifest)?;
                store.verify()?;
                // Before anything changes, mark the store as incomplete. Its counts stay those of its
                // arrays, until all of these have their planned lengths again.
                let Manifest { saves, instances, crossings, .. } = previous;
                Manifest { saves, instances, crossings, ..store.manifest.clone() }.write(folder)?;
            }
            _ => folder::remove_previous(folder)?,
        }
        let of_list = layout::TIME.folder(folder);
        std::fs::create_dir_all(&of_list).map_err(refused("create", &of_list, None))?;
        // Before the items after the position are removed: the list must not have more than there is.
        store.write_checksums(&Checksums::default())?;
        remove_ends(folder)?;
        store.each(ArrayWriter::prepare)?;
        cf::write_component(folder, &store.manifest.units())?;
        store.manifest.write(folder)?;
        Ok(store)
    }

    fn arrays(
        folder: &Path,
        manifest: Manifest,
        position: DurablePosition,
        written: Arc<AtomicU64>,
    ) -> StoreWriter {
        let saves = position.saves as usize;
        let items = |spec: &ArraySpec| match spec.dims {
            layout::Dims::SavesParticles => saves * manifest.particles,
            layout::Dims::Instances => position.instances as usize,
            layout::Dims::Crossings => position.crossings as usize,
            layout::Dims::Saves => saves,
            // Written again by a resumed run.
            layout::Dims::Particles => 0,
        };
        let open = |spec: &ArraySpec| {
            ArrayWriter::new(folder, spec, &manifest, items(spec), Arc::clone(&written))
        };
        let optional = |spec: &ArraySpec| manifest.has(spec).then(|| open(spec));
        StoreWriter {
            saves,
            time: open(&layout::TIME),
            position: open(&layout::POSITION),
            status: open(&layout::STATUS),
            release_position: open(&layout::RELEASE_POSITION),
            image: optional(&layout::IMAGE),
            velocity: optional(&layout::VELOCITY),
            generation: optional(&layout::GENERATION),
            sampled: manifest.sampled_specs().map(|spec| open(&spec)).collect(),
            instances: manifest.instances.map(|_| TableWriter::new::<ParticleInstance>(open)),
            crossings: manifest.crossings.map(|_| TableWriter::new::<Crossing>(open)),
            folder: folder.into(),
            manifest,
            written_ends: Vec::new(),
            written,
        }
    }

    /// Compares the items that the arrays keep with their checksums.
    fn verify(&mut self) -> Result<()> {
        let listed = Checksums::read(&self.folder)?;
        self.each(|array| array.verify(&listed))
    }

    /// Writes the checksums of all items so far, and further ones.
    fn write_checksums(&mut self, more: &Checksums) -> Result<()> {
        let mut checksums = more.clone();
        self.each(|array| {
            array.list(&mut checksums);
            Ok(())
        })?;
        checksums.write(&self.folder)
    }

    /// Appends release positions of the seeds.
    pub fn add_releases(&mut self, positions: &[[f64; 3]]) -> Result<()> {
        let positions = positions.as_flattened();
        let precision = self.manifest.encoding().positions;
        append_floats(
            &mut self.release_position,
            &Floats::from_f64(precision, positions.iter().copied()),
        )
    }

    /// Completes the release positions with NaN, for slots without a seed.
    fn fill_releases(&mut self) -> Result<()> {
        let mut missing = self.manifest.particles.saturating_sub(self.release_position.items());
        while missing > 0 {
            let count = missing.min(1 << 16);
            self.add_releases(&vec![[f64::NAN; 3]; count])?;
            missing -= count;
        }
        Ok(())
    }

    /// Appends a block of a save. The time of the save comes last: without it, the save is not
    /// complete.
    pub fn add(&mut self, block: &Block) -> Result<()> {
        self.fill_releases()?;
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
        for (array, values) in self.sampled.iter_mut().zip(&block.arrays) {
            append_floats(array, values)?;
        }
        if block.is_last {
            self.time.append(&[block.time])?;
            self.saves += 1;
        }
        Ok(())
    }

    /// Appends particle instances. Only runs that re-use slots have them.
    pub fn add_instances(&mut self, instances: &[ParticleInstance]) -> Result<()> {
        match &mut self.instances {
            Some(table) => table.append(instances),
            None => Ok(()),
        }
    }

    /// Appends crossings of gates. Only runs with gates have them.
    pub fn add_crossings(&mut self, crossings: &[Crossing]) -> Result<()> {
        match &mut self.crossings {
            Some(table) => table.append(crossings),
            None => Ok(()),
        }
    }

    /// Syncs all arrays to the disk, and returns how much is durable.
    pub fn sync(&mut self) -> Result<DurablePosition> {
        self.fill_releases()?;
        self.sync_arrays(|_| Vec::new())?;
        self.write_checksums(&Checksums::default())?;
        let [instances, crossings] = [&self.instances, &self.crossings]
            .map(|table| table.as_ref().map_or(0, TableWriter::count) as u64);
        Ok(DurablePosition { saves: self.saves as u64, instances, crossings })
    }

    /// Syncs all arrays to the disk, with further files of each, all at once: a sync one after another takes as long as
    /// a small run.
    fn sync_arrays(&mut self, further: impl Fn(&ArrayWriter) -> Vec<PathBuf>) -> Result<()> {
        let mut paths = std::mem::take(&mut self.written_ends);
        self.each(|array| {
            paths.append(&mut array.unsynced());
            paths.append(&mut further(array));
            Ok(())
        })?;
        sync_all(&paths)?;
        self.each(ArrayWriter::synced)
    }

    /// Calls a function for each array.
    pub fn each(&mut self, mut call: impl FnMut(&mut ArrayWriter) -> Result<()>) -> Result<()> {
        let always =
            [&mut self.time, &mut self.position, &mut self.status, &mut self.release_position];
        let optional = [&mut self.image, &mut self.velocity, &mut self.generation];
        let optional = optional.into_iter().filter_map(Option::as_mut);
        let tables = self.instances.iter_mut().chain(&mut self.crossings);
        let tables = tables.flat_map(TableWriter::columns);
        let arrays = always.into_iter().chain(optional).chain(&mut self.sampled);
        arrays.chain(tables).try_for_each(&mut call)
    }

    /// Sets the number of complete saves, after their items were appended array by array.
    pub fn set_saves(&mut self, saves: usize) {
        self.saves = saves;
    }

    /// Completes the store: pads its chunks, writes the ends, and marks it as complete.
    pub fn end(self, ends: &Ends) -> Result<()> {
        self.complete(|store| store.write_ends(ends))
    }

    /// Completes the store as [`end`](StoreWriter::end). `write_ends` writes the arrays of the ends, and
    /// returns their checksums.
    pub fn complete(
        mut self,
        write_ends: impl FnOnce(&mut Self) -> Result<Checksums>,
    ) -> Result<()> {
        self.fill_releases()?;
        self.manifest.saves = self.saves;
        self.manifest.instances = self.instances.as_ref().map(TableWriter::count);
        self.manifest.crossings = self.crossings.as_ref().map(TableWriter::count);
        let counts = self.manifest.counts();
        // Written before the padding of chunks, which must not count as saves if the program is killed.
        self.manifest.write(&self.folder)?;
        self.each(ArrayWriter::finish)?;
        // One right after the other: until all have it, dimensions differ in length for Zarr.
        self.each(|array| array.describe(counts))?;
        let mut checksums = write_ends(&mut self)?;
        for (name, content) in cf::component_files(&self.manifest.units()) {
            checksums.add(name, Entry::of(&content));
        }
        self.written_ends.push(self.folder.clone());
        self.sync_arrays(|array| vec![array.metadata_path()])?;
        self.manifest.complete = true;
        checksums.add(layout::METADATA.into(), self.manifest.checksum(&self.folder)?);
        self.write_checksums(&checksums)?;
        self.manifest.write(&self.folder)
    }

    /// Writes the arrays that are known only at the end, and returns their checksums.
    fn write_ends(&mut self, ends: &Ends) -> Result<Checksums> {
        let mut sums = Checksums::default();
        for (spec, values) in of_ends(ends) {
            self.add_array(
                &mut sums,
                spec,
                |array| with_vector!(&values, numbers => array.append(numbers)),
            )?;
        }
        Ok(sums)
    }

    /// Writes an array that is known only at the end, and adds its checksums. It is synced with all others.
    pub fn add_array(
        &mut self,
        sums: &mut Checksums,
        spec: &ArraySpec,
        fill: impl FnOnce(&mut ArrayWriter) -> Result<()>,
    ) -> Result<()> {
        let (counts, written) = (self.manifest.counts(), Arc::clone(&self.written));
        let mut array = ArrayWriter::new(&self.folder, spec, &self.manifest, 0, written);
        array.prepare()?;
        fill(&mut array)?;
        array.finish()?;
        array.describe(counts)?;
        array.list(sums);
        self.written_ends.append(&mut array.unsynced());
        self.written_ends.push(array.metadata_path());
        self.manifest.arrays.push(spec.name.to_string());
        Ok(())
    }
}

fn append_floats(array: &mut ArrayWriter, floats: &Floats) -> Result<()> {
    match floats {
        Floats::F32(numbers) => array.append(numbers),
        Floats::F64(numbers) => array.append(numbers),
    }
}

/// Checks that the store in a folder belongs to this run, and returns its manifest.
fn check(folder: &Path, run: &Manifest) -> Result<Manifest> {
    let found = Manifest::read(folder)?;
    match found.difference(run) {
        None => Ok(found),
        Some((property, found, expected)) => Err(Error::Store {
            path: folder.into(),
            found: format!("found the tracks of another run: {property} = {found}"),
            expected: format!("{property} = {expected}, as in the run to resume"),
        }),
    }
}

/// Removes the arrays with one item for each particle, which are written again.
fn remove_ends(folder: &Path) -> Result<()> {
    let mut ends = layout::ALL.iter().filter(|spec| spec.dims == layout::Dims::Particles);
    ends.try_for_each(|spec| remove_folder(&spec.folder(folder)))
}
