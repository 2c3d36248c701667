//! Takes the tracks of a run, and hands them over to the thread that writes them.

use super::store::{Block, From, StoreWriter};
use super::thread::{Job, Thread};
use crate::{Error, Result};
use burn::tensor::{Element, TensorData, Transaction};
use burntrace_core::{
    DurablePosition, Ends, Floats, ParticleInstance, Precision, Save, SavePlan, SinkError,
    TrackSink,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes the tracks of a run into a folder, each save as it comes.
///
/// A thread writes; where it falls behind, the run waits for it, so that memory does not grow with
/// the run. What it cannot write is the error of the next call, and of the last one at the latest.
///
/// Only a run that has ended leaves a store that is [complete](super::Tracks::open). A run that was
/// stopped can go on where it was [secured](TrackSink::sync) last, see
/// [`resume`](TrackWriter::resume); its store then has the same bytes as that of a run that never
/// stopped.
#[derive(Debug)]
pub struct TrackWriter {
    folder: PathBuf,
    from: From,
    open: Option<Run>,
    written: Arc<AtomicU64>,
    waited: f64,
}

/// A run whose tracks are being written.
#[derive(Debug)]
struct Run {
    plan: SavePlan,
    /// The save that is to come, and the first particle of its next block.
    save: usize,
    first: usize,
    thread: Thread,
}

impl TrackWriter {
    /// A writer into a folder, which is created when the run begins.
    pub fn new(folder: impl Into<PathBuf>) -> TrackWriter {
        let (folder, from) = (folder.into(), From::Nothing { overwrite: false });
        TrackWriter { folder, from, open: None, written: Arc::default(), waited: 0.0 }
    }

    /// Whether tracks that are in the folder already, those of a stopped run too, are removed when
    /// the run begins; otherwise they are an error then.
    pub fn overwrite(mut self, overwrite: bool) -> TrackWriter {
        self.from = From::Nothing { overwrite };
        self
    }

    /// A writer that goes on with the tracks of a stopped run, from a mark that
    /// [`sync`](TrackSink::sync) gave. What came after the mark is removed when the run begins; its
    /// plan must be that of the stopped run, and its first save the one after those of the mark.
    /// With the mark of nothing, a folder without tracks is begun anew.
    pub fn resume(folder: impl Into<PathBuf>, mark: DurablePosition) -> TrackWriter {
        TrackWriter { from: From::DurablePosition(mark), ..TrackWriter::new(folder) }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many bytes of arrays have been written; they need not be on the disk yet.
    pub fn bytes_written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// How many seconds the run has waited until its tracks were written.
    pub fn wait_seconds(&self) -> f64 {
        self.waited + self.open.as_ref().map_or(0.0, |run| run.thread.waited)
    }

    fn begin_store(&mut self, plan: &SavePlan) -> Result<()> {
        self.close();
        let store = StoreWriter::begin(&self.folder, plan, self.from, Arc::clone(&self.written))?;
        let save = match self.from {
            From::DurablePosition(mark) => mark.saves as usize,
            From::Nothing { .. } => 0,
        };
        let thread = Thread::start(&self.folder, store)?;
        self.open = Some(Run { plan: plan.clone(), save, first: 0, thread });
        Ok(())
    }

    /// Lets go of the run, if there is one.
    fn close(&mut self) {
        self.waited += self.open.take().map_or(0.0, |run| run.thread.waited);
    }

    /// The run, and the folder for messages.
    fn run(&mut self) -> Result<(&mut Run, &Path)> {
        match &mut self.open {
            Some(run) => Ok((run, &self.folder)),
            None => Err(Error::Save {
                path: self.folder.clone(),
                save: 0,
                reason: "the run has not begun, or has ended; call `begin` first".into(),
            }),
        }
    }
}

impl Run {
    fn add(&mut self, folder: &Path, save: Save) -> Result<()> {
        let rows = save.position.dims()[0];
        let end = save.first.saturating_add(rows);
        let is_next = (save.index, save.first) == (self.save, self.first);
        if !is_next || end > self.plan.particles {
            let reason = format!(
                "its block is one of particles {} to {end}; expected is save {}, from particle {} on \
                 and to {} at most",
                save.first, self.save, self.first, self.plan.particles
            );
            return Err(Error::Save { path: folder.into(), save: save.index, reason });
        }
        let place = Place { folder, save: save.index, rows };
        let is_last = end == self.plan.particles;
        self.thread.give(Job::Add(block(save, &self.plan, is_last, place)?))?;
        (self.save, self.first) = if is_last { (self.save + 1, 0) } else { (self.save, end) };
        Ok(())
    }

    fn add_lives(&mut self, folder: &Path, lives: &[ParticleInstance]) -> Result<()> {
        if !self.plan.reuses_slots {
            let reason = "lives of slots came with it, which were not announced".into();
            return Err(Error::Save { path: folder.into(), save: self.save, reason });
        }
        match lives.is_empty() {
            true => Ok(()),
            false => self.thread.give(Job::Lives(lives.to_vec())),
        }
    }

    /// Makes sure that the last save that has begun is complete.
    fn check_complete(&self, folder: &Path) -> Result<()> {
        if self.first == 0 {
            return Ok(());
        }
        let reason = format!("only {} of its {} particles came", self.first, self.plan.particles);
        Err(Error::Save { path: folder.into(), save: self.save, reason })
    }

    fn end(&mut self, folder: &Path, ends: &Ends) -> Result<()> {
        self.check_complete(folder)?;
        if let Some(found) = other_count(ends, &self.plan) {
            let n = self.plan.particles;
            let reason = format!("the ends are those of {found} particles, not {n}");
            return Err(Error::Save { path: folder.into(), save: self.save, reason });
        }
        self.thread.end(ends)
    }
}

/// A number of particles in the ends that is not the one that was announced.
fn other_count(ends: &Ends, plan: &SavePlan) -> Option<usize> {
    let faces = Some(ends.mesh_face.len()).filter(|faces| *faces > 0);
    let obstacles = Some(ends.obstacle.len()).filter(|obstacles| *obstacles > 0);
    let optional = faces.into_iter().chain(obstacles);
    let generations = plan.reuses_slots.then_some(ends.generation.len());
    let counts = [ends.status.len(), ends.release_time.len(), ends.end_time.len()];
    counts.into_iter().chain(optional).chain(generations).find(|count| *count != plan.particles)
}

/// Particles of a save, read from the device, and no more of them than was announced.
fn block(save: Save, plan: &SavePlan, is_last: bool, place: Place<'_>) -> Result<Block> {
    let Save { time, position, status, image, velocity, generation, .. } = save;
    let is_periodic = plan.periods.iter().any(|period| *period != 0.0);
    let mut transaction = Transaction::default().register(position).register(status);
    if is_periodic {
        transaction = transaction.register(image);
    }
    if plan.reuses_slots {
        transaction = transaction.register(generation.ok_or_else(|| place.lacks("generations"))?);
    }
    if plan.velocity {
        transaction = transaction.register(velocity.ok_or_else(|| place.lacks("velocities"))?);
    }
    let failed = |e: burn::tensor::ExecutionError| place.failed(e.to_string());
    let mut data = transaction.try_execute().map_err(failed)?.into_iter();
    let mut next = || data.next().ok_or_else(|| place.lacks("data"));
    Ok(Block {
        time,
        is_last,
        position: place.floats(next()?, plan.precision)?,
        status: place.codes(next()?)?,
        image: if is_periodic { Some(place.values(next()?, 3)?) } else { None },
        generation: if plan.reuses_slots { Some(place.values(next()?, 1)?) } else { None },
        velocity: if plan.velocity { Some(place.floats(next()?, plan.precision)?) } else { None },
    })
}

/// What belongs where.
#[derive(Clone, Copy)]
struct Place<'a> {
    folder: &'a Path,
    save: usize,
    rows: usize,
}

impl Place<'_> {
    fn floats(self, data: TensorData, precision: Precision) -> Result<Floats> {
        match precision {
            Precision::F32 => Ok(Floats::F32(self.values(data, 3)?)),
            Precision::F64 => Ok(Floats::F64(self.values(data, 3)?)),
        }
    }

    fn codes(self, data: TensorData) -> Result<Vec<u8>> {
        let code = |code: i32| {
            u8::try_from(code).map_err(|_| self.wrong(format!("{code} is the code of no status")))
        };
        self.values::<i32>(data, 1)?.into_iter().map(code).collect()
    }

    /// The numbers of a tensor, `width` for each particle.
    fn values<E: Element>(self, data: TensorData, width: usize) -> Result<Vec<E>> {
        let values = data.try_cast_as::<E>().and_then(TensorData::try_into_vec::<E>);
        let values = values.map_err(|e| self.failed(e.to_string()))?;
        let expected = self.rows * width;
        match values.len() == expected {
            true => Ok(values),
            false => Err(self.wrong(format!(
                "it has {} numbers where {expected} belong to its {} particles",
                values.len(),
                self.rows
            ))),
        }
    }

    fn lacks(self, what: &str) -> Error {
        self.wrong(format!("it has no {what}, which were announced"))
    }

    fn wrong(self, reason: String) -> Error {
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
        Ok(self.begin_store(plan)?)
    }

    fn save(&mut self, save: Save) -> std::result::Result<(), SinkError> {
        let (run, folder) = self.run()?;
        Ok(run.add(folder, save)?)
    }

    fn instances(&mut self, instances: &[ParticleInstance]) -> std::result::Result<(), SinkError> {
        let (run, folder) = self.run()?;
        Ok(run.add_lives(folder, instances)?)
    }

    fn sync(&mut self) -> std::result::Result<DurablePosition, SinkError> {
        let (run, folder) = self.run()?;
        run.check_complete(folder)?;
        Ok(run.thread.sync()?)
    }

    fn end(&mut self, ends: &Ends) -> std::result::Result<(), SinkError> {
        let (run, folder) = self.run()?;
        let ended = run.end(folder, ends);
        self.close();
        Ok(ended?)
    }
}
