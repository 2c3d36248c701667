//! What a run gives back.

use crate::{BatchSummary, InputSummary, Precision, Result, Status};
use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

/// Particles at one time, all of them or a block: on the device, or on the host where a sink
/// [wants that](TrackSink::on_host). Tensors have a row for each of its `n` particles.
#[derive(Clone, Debug)]
pub struct Save {
    /// Its number, counted from 0.
    pub index: usize,
    /// Its time, in the data's unit of time.
    pub time: f64,
    /// Number of the first particle in it. A save comes as one block, or as several blocks in the
    /// order of the particles.
    pub first: usize,
    /// Positions `[n, 3]` in the order of the slots, in the box: the seeds first, then the slots of
    /// sources. A slot of a source in which there is no particle is NaN.
    pub position: Tensor<2>,
    /// [`Status`] codes `[n]`.
    pub status: Tensor<1, Int>,
    /// Boxes crossed through periodic faces `[n, 3]`.
    pub image: Tensor<2, Int>,
    /// Velocities `[n, 3]` at the positions, where they were asked for.
    pub velocity: Option<Tensor<2>>,
    /// How many lives the slots have had before these `[n]`, where slots are used again.
    pub generation: Option<Tensor<1, Int>>,
}

/// What a sink is told before the first save.
#[derive(Clone, Debug, PartialEq)]
pub struct SavePlan {
    /// How many slots there are: one for each seed, and those of sources.
    pub particles: usize,
    /// Whether slots are used again, by one life after another.
    pub reuses_slots: bool,
    /// How many saves there will be, unless the run is cancelled.
    pub saves: usize,
    /// Precision of positions and velocities.
    pub precision: Precision,
    /// Whether saves carry velocities.
    pub velocity: bool,
    /// Widths of the box along periodic axes, in the data's unit of length; 0 along the others.
    /// Position + image x width is a path without jumps.
    pub periods: [f64; 3],
}

/// How each particle began and ended; on the host, in the order of the slots. Where slots are used
/// again, this is about the last life of each; all are in [`ParticleInstance`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ends {
    /// What has become of it.
    pub status: Vec<Status>,
    /// Time of its release; NaN where it was not released.
    pub release_time: Vec<f64>,
    /// Time of its end; NaN where it has not ended.
    pub end_time: Vec<f64>,
    /// Where it left the mesh of the field, if it did; empty for fields without one.
    pub mesh_face: Vec<Option<MeshFace>>,
    /// The number of the obstacle at which it ended, if it did; empty for runs without any.
    pub obstacle: Vec<Option<usize>>,
    /// How many lives its slot has had before; empty where slots are not used again.
    pub generation: Vec<u32>,
}

/// What a particle has been through, from its release to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleInstance {
    /// The slot that it was in: its row in the tracks.
    pub slot: usize,
    /// How many lives that slot has had before.
    pub generation: u32,
    /// How it has ended, or [`Status::Active`].
    pub status: Status,
    /// Time of its release, in the data's unit.
    pub release_time: f64,
    /// Place of its release, in the data's unit of length.
    pub release_position: [f64; 3],
    /// Time of its end; NaN while it goes on.
    pub end_time: f64,
    /// Place of its end, in the box; where it is, while it goes on.
    pub end_position: [f64; 3],
}

impl ParticleInstance {
    /// Time from its release to its end, positive in backward runs too; NaN while it goes on.
    pub fn residence_time(&self) -> f64 {
        (self.end_time - self.release_time).abs()
    }
}

/// A face of a mesh's cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeshFace {
    /// The cell, by the number that the source of the field gives it.
    pub cell: usize,
    /// The face (the edge, in two dimensions), in VTK's order for this kind of cell
    /// (`vtkCell::GetFace`).
    pub face: usize,
}

/// Where saves go: memory, a file, a statistic.
pub trait TrackSink {
    /// Whether saves should come on the host, whichever device computed them.
    ///
    /// Where a graphics card computes, they are then read back as tensors of Flex, and the sink
    /// works while the card takes the next steps. Other devices are on the host already, and
    /// tensors of a device that tracks gradients stay where they are.
    fn on_host(&self) -> bool {
        false
    }

    /// Called once, before the first save.
    ///
    /// # Errors
    ///
    /// Whatever keeps the sink from taking the tracks; the run stops.
    fn begin(&mut self, plan: &SavePlan) -> std::result::Result<(), SinkError>;

    /// Called for each save, in order; for a save in blocks, for each of them, one directly after
    /// the other, from particle 0 to the last one.
    ///
    /// # Errors
    ///
    /// As [`begin`](TrackSink::begin).
    fn save(&mut self, save: Save) -> std::result::Result<(), SinkError>;

    /// Called where slots are used again, for lives that have ended since the last call, and once
    /// before [`end`](TrackSink::end) for the last life of each slot, which may go on. Every life
    /// that was released comes once; those of a slot come in order.
    ///
    /// # Errors
    ///
    /// As [`begin`](TrackSink::begin).
    fn instances(&mut self, instances: &[ParticleInstance]) -> std::result::Result<(), SinkError> {
        let _ = instances;
        Ok(())
    }

    /// Makes what has come so far outlast a crash, and says how much that is. Called at complete
    /// saves only, never between the blocks of one.
    ///
    /// Sinks that keep nothing leave it as it is: nothing outlasts a crash.
    ///
    /// # Errors
    ///
    /// As [`begin`](TrackSink::begin).
    fn sync(&mut self) -> std::result::Result<DurablePosition, SinkError> {
        Ok(DurablePosition::default())
    }

    /// Called once, after the last save.
    ///
    /// # Errors
    ///
    /// As [`begin`](TrackSink::begin).
    fn end(&mut self, ends: &Ends) -> std::result::Result<(), SinkError>;
}

/// How much of a run a sink keeps, whatever happens to the program: the run can go on from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DurablePosition {
    /// Complete saves.
    pub saves: u64,
    /// Complete rows of the table of particle instances.
    #[serde(rename = "lives")]
    pub instances: u64,
}

/// What a sink says when it fails.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Tracks in the memory of the device that computed them.
#[derive(Clone, Debug, Default)]
pub struct Tracks {
    saves: Vec<Save>,
    /// Blocks of a save that is not complete.
    blocks: Vec<Save>,
    particles: usize,
    instances: Vec<ParticleInstance>,
    ends: Ends,
    periods: [f64; 3],
    summary: Option<Summary>,
}

impl Tracks {
    pub(crate) fn with_summary(mut self, summary: Summary) -> Self {
        self.summary = Some(summary);
        self
    }

    /// The account of the run; `None` while it goes on.
    pub fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }

    /// Times of the saves.
    pub fn times(&self) -> Vec<f64> {
        self.saves.iter().map(|save| save.time).collect()
    }

    /// Positions `[saves, particles, 3]`; an ended particle keeps its last position, and a slot of a
    /// source in which there is no particle is NaN.
    ///
    /// # Panics
    ///
    /// Where there is no save, which no finished run leaves.
    pub fn positions(&self) -> Tensor<3> {
        let positions = self.saves.iter().map(|save| save.position.clone());
        Tensor::stack(positions.collect(), 0)
    }

    /// Velocities `[saves, particles, 3]`, where they were asked for.
    pub fn velocities(&self) -> Option<Tensor<3>> {
        let velocities: Option<Vec<_>> = self.saves.iter().map(|s| s.velocity.clone()).collect();
        velocities.filter(|v| !v.is_empty()).map(|v| Tensor::stack(v, 0))
    }

    /// Final [`Status`] codes `[particles]`.
    ///
    /// # Panics
    ///
    /// As [`positions`](Tracks::positions).
    pub fn status(&self) -> Tensor<1, Int> {
        match self.saves.last() {
            Some(save) => save.status.clone(),
            None => panic!("tracks without a save have no status"),
        }
    }

    /// The saves, one by one.
    pub fn saves(&self) -> &[Save] {
        &self.saves
    }

    /// All lives, where slots are used again: those of a slot in order.
    pub fn instances(&self) -> &[ParticleInstance] {
        &self.instances
    }

    /// How each particle began and ended.
    pub fn ends(&self) -> &Ends {
        &self.ends
    }

    /// Widths of the box along periodic axes; 0 along the others.
    pub fn periods(&self) -> [f64; 3] {
        self.periods
    }
}

impl TrackSink for Tracks {
    fn begin(&mut self, plan: &SavePlan) -> std::result::Result<(), SinkError> {
        self.saves = Vec::with_capacity(plan.saves.min(1 << 16));
        self.blocks.clear();
        self.particles = plan.particles;
        self.periods = plan.periods;
        Ok(())
    }

    fn save(&mut self, save: Save) -> std::result::Result<(), SinkError> {
        let end = save.first + save.position.dims()[0];
        self.blocks.push(save);
        if end == self.particles {
            self.saves.extend(joined(std::mem::take(&mut self.blocks)));
        }
        Ok(())
    }

    fn instances(&mut self, instances: &[ParticleInstance]) -> std::result::Result<(), SinkError> {
        self.instances.extend(instances);
        Ok(())
    }

    fn end(&mut self, ends: &Ends) -> std::result::Result<(), SinkError> {
        self.ends = ends.clone();
        Ok(())
    }
}

/// The blocks of a save as one.
fn joined(mut blocks: Vec<Save>) -> Option<Save> {
    if blocks.len() < 2 {
        return blocks.pop();
    }
    let velocity: Option<Vec<_>> = blocks.iter().map(|block| block.velocity.clone()).collect();
    let generation: Option<Vec<_>> = blocks.iter().map(|block| block.generation.clone()).collect();
    let first = blocks.first()?;
    Some(Save {
        index: first.index,
        time: first.time,
        first: first.first,
        position: Tensor::cat(blocks.iter().map(|block| block.position.clone()).collect(), 0),
        status: Tensor::cat(blocks.iter().map(|block| block.status.clone()).collect(), 0),
        image: Tensor::cat(blocks.iter().map(|block| block.image.clone()).collect(), 0),
        velocity: velocity.map(|rows| Tensor::cat(rows, 0)),
        generation: generation.map(|rows| Tensor::cat(rows, 0)),
    })
}

/// Which arithmetic took the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// The fused operation: many steps a launch.
    Fused,
    /// Tensor operations: works for every field, and under automatic differentiation.
    Tensor,
}

impl std::fmt::Display for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Engine::Fused => "fused",
            Engine::Tensor => "tensor",
        })
    }
}

/// The account of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The arithmetic that ran.
    pub engine: Engine,
    /// Name of the device that ran it.
    pub device: String,
    /// Precision of the arithmetic.
    pub precision: Precision,
    /// Slots: one for each seed, and those of sources.
    pub particles: usize,
    /// Particles that were released, counted slot by slot.
    pub released: usize,
    /// Releases of sources that were dropped, as their slots were not free.
    pub dropped: usize,
    /// Steps of the run, those split for a save counted as two.
    pub steps: u64,
    /// Steps taken by particles while they were active; attempts, where the lengths of steps follow
    /// from their errors.
    pub particle_steps: u64,
    /// Steps accepted and rejected, where the lengths of steps follow from their errors.
    pub tries: Option<[u64; 2]>,
    /// Launches of the fused operation; steps of the tensor engine.
    pub launches: u64,
    /// Kernels of this crate that the run launches on a GPU: 1 for the steps, 2 if saves sample the
    /// velocity; 0 on CPU backends and with the tensor engine. It follows from the settings: CubeCL
    /// does not count compilations, and an earlier run of the process may have compiled them.
    pub kernels: usize,
    /// Saves made.
    pub saves: usize,
    /// How many particles have each status; statuses that nobody has are left out. Waiting ones are
    /// slots; the other counts are of lives, and add up to `released`, which every run checks.
    pub counts: Vec<(Status, usize)>,
    /// How many particles have left the mesh through each of its patches, by name; empty for a run
    /// without patches.
    pub patches: Vec<(String, usize)>,
    /// The batches in which particles went to the device.
    pub batches: BatchSummary,
    /// What the run has read of its field's frames, where it had not all of them from the begin.
    pub input: Option<InputSummary>,
    /// Wall time that the run waited for steps and for results read back from the device, in
    /// seconds. What a device computed while the sink took a save is in `save_seconds`.
    pub trace_seconds: f64,
    /// Wall time that the sink took, in seconds.
    pub save_seconds: f64,
    /// Whether the observer cancelled the run.
    pub cancelled: bool,
}

impl Summary {
    /// Particles that are still active.
    pub fn active(&self) -> usize {
        self.count(|status| status == Status::Active)
    }

    /// Particles whose tracks have ended, for whatever reason.
    pub fn ended(&self) -> usize {
        self.count(Status::has_ended)
    }

    /// Steps of active particles per second of tracing, that is of `trace_seconds`.
    pub fn particle_steps_per_second(&self) -> f64 {
        self.particle_steps as f64 / self.trace_seconds.max(f64::MIN_POSITIVE)
    }

    fn count(&self, is_counted: impl Fn(Status) -> bool) -> usize {
        let counted = self.counts.iter().filter(|(status, _)| is_counted(*status));
        counted.map(|(_, count)| count).sum()
    }
}

pub(crate) fn sunk<T>(result: std::result::Result<T, SinkError>) -> Result<T> {
    result.map_err(crate::Error::Sink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{DType, Device, TensorData};

    /// Particles `rows` of save `index`; their numbers are their places.
    fn block(index: usize, rows: std::ops::Range<usize>) -> Save {
        let (n, device) = (rows.len(), Device::flex());
        let wide: Vec<i32> = rows.clone().flat_map(|row| [row as i32; 3]).collect();
        let codes: Vec<i32> = rows.clone().map(|row| row as i32).collect();
        let places: Vec<f64> = wide.iter().map(|&row| f64::from(row)).collect();
        let floats = TensorData::new(places, [n, 3]);
        let floats = Tensor::<2>::from_data(floats, (&device, DType::F64));
        let codes = TensorData::new(codes, [n]);
        let codes = Tensor::<1, Int>::from_data(codes, (&device, DType::I32));
        Save {
            index,
            time: index as f64,
            first: rows.start,
            position: floats.clone(),
            status: codes.clone(),
            image: Tensor::from_data(TensorData::new(wide, [n, 3]), (&device, DType::I32)),
            velocity: Some(floats),
            generation: Some(codes),
        }
    }

    #[test]
    fn blocks_of_a_save_become_one() {
        let plan = SavePlan {
            particles: 7,
            reuses_slots: true,
            saves: 2,
            precision: Precision::F64,
            velocity: true,
            periods: [0.0; 3],
        };
        let mut tracks = Tracks::default();
        tracks.begin(&plan).unwrap();
        for rows in [0..3, 3..4, 4..7] {
            tracks.save(block(0, rows)).unwrap();
        }
        tracks.save(block(1, 0..7)).unwrap();
        assert_eq!(tracks.sync().unwrap(), DurablePosition::default());
        assert_eq!(tracks.times(), [0.0, 1.0]);
        let [first, second] = tracks.saves() else { panic!("{}", tracks.saves().len()) };
        let rows = |save: &Save| {
            let floats = [save.position.clone(), save.velocity.clone().unwrap()];
            let ints = [save.status.clone(), save.generation.clone().unwrap()];
            let image = save.image.clone().into_data();
            (floats.map(Tensor::into_data), ints.map(Tensor::into_data), image)
        };
        assert_eq!((first.first, rows(first)), (0, rows(second)));
    }
}
