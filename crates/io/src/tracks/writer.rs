//! Receives the tracks of a run and passes them to the writer thread.

use super::cf::Units;
use super::manifest::Manifest;
use super::names::check_names;
use super::store::{Block, OpenMode, StoreWriter};
use super::thread::{Job, WriterThread};
use crate::{Error, Result};
use burn::tensor::{Element, TensorData, Transaction};
use burntrace_core::{
    Crossing, DurablePosition, Ends, Floats, ParticleInstance, Precision, Save, SavePlan,
    SinkError, TrackSink,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes the tracks of a run into a folder, save by save.
///
/// A background thread writes. When it falls behind, the run waits for it, so that memory does not
/// grow with the run. Its errors are returned by the next call, or by `end` at the latest.
///
/// A store is [complete](super::Tracks::open) only when its run has ended. A stopped run can be
/// resumed from its last [sync](TrackSink::sync), see [`resume`](TrackWriter::resume); the store is
/// then byte-identical to that of an uninterrupted run.
#[derive(Debug)]
pub struct TrackWriter {
    folder: PathBuf,
    mode: OpenMode,
    units: Units,
    compress: bool,
    open: Option<OpenStore>,
    written: Arc<AtomicU64>,
    waited: f64,
}

/// A store that is being written.
#[derive(Debug)]
struct OpenStore {
    plan: SavePlan,
    /// The next save, and the first particle of its next block.
    save: usize,
    first: usize,
    /// Degrees around the sphere, if longitudes are continuous.
    turn: Option<f64>,
    /// Number of release positions so far.
    releases: usize,
    thread: WriterThread,
}

impl TrackWriter {
    /// Creates a writer into a folder. The folder is created at the start of the run.
    pub fn new(folder: impl Into<PathBuf>) -> TrackWriter {
        let (folder, mode) = (folder.into(), OpenMode::New { overwrite: false });
        TrackWriter {
            folder,
            mode,
            units: Units::default(),
            compress: false,
            open: None,
            written: Arc::default(),
            waited: 0.0,
        }
    }

    /// Sets whether to remove existing tracks in the folder, including those of a stopped run, at the
    /// start of the run. By default they are an error.
    pub fn overwrite(mut self, overwrite: bool) -> TrackWriter {
        self.mode = OpenMode::New { overwrite };
        self
    }

    /// Sets the units of the data, which become attributes of the arrays. They are unknown by default;
    /// nothing is converted.
    pub fn units(mut self, units: Units) -> TrackWriter {
        self.units = units;
        self
    }

    /// Sets whether to compress positions and the other arrays over saves and particles, chunk by chunk as
    /// they are complete. No number changes. By default they are not compressed, which is faster to write
    /// and to read in parts.
    pub fn compress(mut self, compress: bool) -> TrackWriter {
        self.compress = compress;
        self
    }

    /// Creates a writer that resumes the tracks of a stopped run from a position that
    /// [`sync`](TrackSink::sync) returned.
    ///
    /// Data after the position are removed at the start of the run. The plan must equal the plan of
    /// the stopped run, and the first save must be the one after the position. With the default
    /// position, a folder without tracks is a new store.
    pub fn resume(folder: impl Into<PathBuf>, position: DurablePosition) -> TrackWriter {
        TrackWriter { mode: OpenMode::Resume(position), ..TrackWriter::new(folder) }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes of arrays written so far; they may not be on the disk yet.
    pub fn bytes_written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Seconds that the run has waited for the writer thread.
    pub fn wait_seconds(&self) -> f64 {
        self.waited + self.open.as_ref().map_or(0.0, |store| store.thread.waited)
    }

    fn open_store(&mut self, plan: &SavePlan) -> Result<()> {
        self.close();
        check_names(&plan.arrays)?;
        let manifest = Manifest { compressed: self.compress, ..Manifest::new(plan, &self.units) };
        let store =
            StoreWriter::open(&self.folder, manifest, self.mode, Arc::clone(&self.written))?;
        let save = match self.mode {
            OpenMode::Resume(position) => position.saves as usize,
            OpenMode::New { .. } => 0,
        };
        let thread = WriterThread::start(&self.folder, store)?;
        let turn = self.units.continuous.then_some(plan.periods[0]);
        self.open =
            Some(OpenStore { plan: plan.clone(), save, first: 0, turn, releases: 0, thread });
        Ok(())
    }

    /// Closes the store, if one is open.
    fn close(&mut self) {
        self.waited += self.open.take().map_or(0.0, |store| store.thread.waited);
    }

    /// The open store, and the folder for messages.
    fn store(&mut self) -> Result<(&mut OpenStore, &Path)> {
        match &mut self.open {
            Some(store) => Ok((store, &self.folder)),
            None => Err(Error::Save {
                path: self.folder.clone(),
                save: 0,
                reason: "the run has not started, or has ended; call `begin` first".into(),
            }),
        }
    }
}

impl OpenStore {
    fn add(&mut self, folder: &Path, save: Save) -> Result<()> {
        let rows = save.position.dims()[0];
        let end = save.first.saturating_add(rows);
        let is_next = (save.index, save.first) == (self.save, self.first);
        if !is_next || end > self.plan.particles {
            let reason = format!(
                "its block has the particles {} to {end}; expected a block of save {} from particle \
                 {} to {} at most",
                save.first, self.save, self.first, self.plan.particles
            );
            return Err(Error::Save { path: folder.into(), save: save.index, reason });
        }
        let context = BlockContext { folder, save: save.index, rows };
        let is_last = end == self.plan.particles;
        let mut block = block(save, &self.plan, is_last, context)?;
        self.turn.into_iter().for_each(|turn| block.unwrap_longitudes(turn));
        self.thread.send(Job::Add(block))?;
        (self.save, self.first) = if is_last { (self.save + 1, 0) } else { (self.save, end) };
        Ok(())
    }

    fn add_releases(&mut self, folder: &Path, first: usize, positions: &[[f64; 3]]) -> Result<()> {
        let end = first.saturating_add(positions.len());
        if first != self.releases || end > self.plan.particles {
            let reason = format!(
                "release positions of the particles {first} to {end} came before it; expected those \
                 from {} on, to {} at most",
                self.releases, self.plan.particles
            );
            return Err(Error::Save { path: folder.into(), save: self.save, reason });
        }
        self.releases = end;
        self.thread.send(Job::Releases(positions.to_vec()))
    }

    fn add_instances(&mut self, folder: &Path, instances: &[ParticleInstance]) -> Result<()> {
        if !self.plan.reuses_slots {
            let reason = "particle instances came with it, but the save plan says that slots are \
                          not re-used"
                .into();
            return Err(Error::Save { path: folder.into(), save: self.save, reason });
        }
        match instances.is_empty() {
            true => Ok(()),
            false => self.thread.send(Job::Instances(instances.to_vec())),
        }
    }

    fn add_crossings(&mut self, folder: &Path, crossings: &[Crossing]) -> Result<()> {
        if let Some(other) = crossings.iter().find(|of| of.gate >= self.plan.gates.len()) {
            let reason = format!(
                "a crossing of gate {} came with it, but the save plan lists {} gates",
                other.gate,
                self.plan.gates.len()
            );
            return Err(Error::Save { path: folder.into(), save: self.save, reason });
        }
        match crossings.is_empty() {
            true => Ok(()),
            false => self.thread.send(Job::Crossings(crossings.to_vec())),
        }
    }

    /// Checks that the last save is complete.
    fn check_complete(&self, folder: &Path) -> Result<()> {
        if self.first == 0 {
            return Ok(());
        }
        let reason =
            format!("only {} of its {} particles were saved", self.first, self.plan.particles);
        Err(Error::Save { path: folder.into(), save: self.save, reason })
    }

    fn end(&mut self, folder: &Path, ends: &Ends) -> Result<()> {
        self.check_complete(folder)?;
        if let Some(found) = other_count(ends, &self.plan) {
            let n = self.plan.particles;
            let reason = format!("the ends have {found} particles, the save plan has {n}");
            return Err(Error::Save { path: folder.into(), save: self.save, reason });
        }
        self.thread.end(ends)
    }
}

/// A number of particles in the ends that differs from the plan.
fn other_count(ends: &Ends, plan: &SavePlan) -> Option<usize> {
    let faces = Some(ends.mesh_face.len()).filter(|faces| *faces > 0);
    let places = [ends.obstacle.len(), ends.patch.len(), ends.condition.len()]
        .into_iter()
        .filter(|count| *count > 0);
    let optional = faces.into_iter().chain(places);
    let generations = plan.reuses_slots.then_some(ends.generation.len());
    let counts = [ends.status.len(), ends.release_time.len(), ends.end_time.len()];
    counts.into_iter().chain(optional).chain(generations).find(|count| *count != plan.particles)
}

/// Reads a block of a save from the device: the tensors that the plan lists.
pub(super) fn block(
    save: Save,
    plan: &SavePlan,
    is_last: bool,
    context: BlockContext<'_>,
) -> Result<Block> {
    let Save { time, position, rest, status, image, velocity, generation, arrays, .. } = save;
    let is_periodic = plan.periods.iter().any(|period| *period != 0.0);
    let mut transaction = Transaction::default().register(position).register(status);
    if is_periodic {
        transaction = transaction.register(image);
    }
    if plan.reuses_slots {
        transaction = transaction.register(generation.ok_or_else(|| context.lacks("generations"))?);
    }
    if plan.velocity {
        transaction = transaction.register(velocity.ok_or_else(|| context.lacks("velocities"))?);
    }
    let has_rest = plan.positions != plan.precision;
    if has_rest {
        let rest = rest.ok_or_else(|| context.lacks("rests of positions"))?;
        transaction = transaction.register(rest);
    }
    if arrays.len() != plan.arrays.len() {
        return Err(context.other_arrays(arrays.len(), plan.arrays.len()));
    }
    transaction = arrays.into_iter().fold(transaction, Transaction::register);
    let failed = |e: burn::tensor::ExecutionError| context.failed(e.to_string());
    let mut data = transaction.try_execute().map_err(failed)?.into_iter();
    let mut next = || data.next().ok_or_else(|| context.lacks("data"));
    let mut block = Block {
        time,
        is_last,
        position: context.floats(next()?, plan.positions, 3)?,
        status: context.codes(next()?)?,
        image: if is_periodic { Some(context.values(next()?, 3)?) } else { None },
        generation: if plan.reuses_slots { Some(context.values(next()?, 1)?) } else { None },
        velocity: match plan.velocity {
            true => Some(context.floats(next()?, plan.precision, 3)?),
            false => None,
        },
        arrays: Vec::new(),
    };
    if let (true, Floats::F64(position)) = (has_rest, &mut block.position) {
        let rest: Vec<f64> = context.values(next()?, 3)?;
        position.iter_mut().zip(rest).for_each(|(x, rest)| *x += rest);
    }
    for array in &plan.arrays {
        block.arrays.push(context.floats(next()?, plan.precision, array.components)?);
    }
    Ok(block)
}

/// Where a block belongs, for messages, and its number of particles.
#[derive(Clone, Copy)]
pub(super) struct BlockContext<'a> {
    pub folder: &'a Path,
    pub save: usize,
    pub rows: usize,
}

impl BlockContext<'_> {
    fn floats(self, data: TensorData, precision: Precision, width: usize) -> Result<Floats> {
        match precision {
            Precision::F32 => Ok(Floats::F32(self.values(data, width)?)),
            Precision::F64 => Ok(Floats::F64(self.values(data, width)?)),
        }
    }

    fn codes(self, data: TensorData) -> Result<Vec<u8>> {
        let code = |code: i32| {
            u8::try_from(code).map_err(|_| self.error(format!("{code} is not a status code")))
        };
        self.values::<i32>(data, 1)?.into_iter().map(code).collect()
    }

    /// The values of a tensor, `width` for each particle.
    fn values<E: Element>(self, data: TensorData, width: usize) -> Result<Vec<E>> {
        let values = data.try_cast_as::<E>().and_then(TensorData::try_into_vec::<E>);
        let values = values.map_err(|e| self.failed(e.to_string()))?;
        let expected = self.rows * width;
        match values.len() == expected {
            true => Ok(values),
            false => Err(self.error(format!(
                "it has {} numbers, expected {expected} for {} particles",
                values.len(),
                self.rows
            ))),
        }
    }

    fn other_arrays(self, found: usize, expected: usize) -> Error {
        self.error(format!("it has {found} sampled arrays, the save plan lists {expected}"))
    }

    fn lacks(self, what: &str) -> Error {
        self.error(format!("it has no {what}, which the save plan lists"))
    }

    fn error(self, reason: String) -> Error {
        Error::Save { path: self.folder.into(), save: self.save, reason }
    }

    fn failed(self, reason: String) -> Error {
        Error::Device { save: self.save, reason }
    }
}

impl TrackSink for TrackWriter {
    fn on_host(&self) -> bool {
        true
    }

    fn begin(&mut self, plan: &SavePlan) -> std::result::Result<(), SinkError> {
        Ok(self.open_store(plan)?)
    }

    fn releases(
        &mut self,
        first: usize,
        positions: &[[f64; 3]],
    ) -> std::result::Result<(), SinkError> {
        let (store, folder) = self.store()?;
        Ok(store.add_releases(folder, first, positions)?)
    }

    fn save(&mut self, save: Save) -> std::result::Result<(), SinkError> {
        let (store, folder) = self.store()?;
        Ok(store.add(folder, save)?)
    }

    fn instances(&mut self, instances: &[ParticleInstance]) -> std::result::Result<(), SinkError> {
        let (store, folder) = self.store()?;
        Ok(store.add_instances(folder, instances)?)
    }

    fn crossings(&mut self, crossings: &[Crossing]) -> std::result::Result<(), SinkError> {
        let (store, folder) = self.store()?;
        Ok(store.add_crossings(folder, crossings)?)
    }

    fn sync(&mut self) -> std::result::Result<DurablePosition, SinkError> {
        let (store, folder) = self.store()?;
        store.check_complete(folder)?;
        Ok(store.thread.sync()?)
    }

    fn end(&mut self, ends: &Ends) -> std::result::Result<(), SinkError> {
        let (store, folder) = self.store()?;
        let ended = store.end(folder, ends);
        self.close();
        Ok(ended?)
    }
}
