//! A workload on a device, ready to trace.

use crate::{kind::WorkloadKind, source::OnDevice, workload::Workload};
use anyhow::{Result, anyhow};
use burntrace::{
    BoundaryCondition, Domain, Field, Gate, GateShape, Inertia, SaveAt, Seeds, Shape, Span,
    Summary, Tally, Tracer,
    burn::tensor::{Tensor, TensorData},
    io,
};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A workload on a device, ready to trace.
pub struct Subject<'a> {
    pub workload: &'a Workload,
    pub field: OnDevice,
    /// Number of steps of the timed run.
    pub steps: u64,
}

/// The result of tracing all batches once.
pub struct TimedRun {
    pub seconds: f64,
    pub steps: u64,
    pub particle_steps: u64,
    pub active: usize,
    positions: Vec<TensorData>,
}

/// The tracer of a workload.
pub fn tracer(kind: WorkloadKind, field: &dyn Field, steps: u64) -> Tracer<'_> {
    let wall = if kind.reflects() { BoundaryCondition::Reflect } else { BoundaryCondition::Exit };
    let span = Span { t0: Some(0.0), dt: Some(kind.dt()), steps: Some(steps), t1: None };
    let save = if kind.saves_steps() { SaveAt::EverySteps(1) } else { SaveAt::End };
    let tracer = Tracer::new(field).span(span).save(save);
    match kind {
        WorkloadKind::W3Walls => {
            let around = Domain { low: [-1.0; 3], high: [2.0; 3] };
            tracer.domain(around).mesh_wall(wall).drift(kind.drift())
        }
        WorkloadKind::Gates => {
            let ball = Shape::Sphere { centre: [0.5; 3], radius: 0.25 };
            let middle = GateShape::plane([0.5; 3], [1.0, 0.0, 0.0]);
            let tracer = tracer.all_faces(wall).gate(Gate::new("middle", middle));
            tracer.gate(Gate::new("ball", GateShape::Region(ball)))
        }
        WorkloadKind::Strain => tracer.all_faces(wall).tally("strain", strain()),
        WorkloadKind::GateStrain => {
            let middle = GateShape::plane([0.5; 3], [1.0, 0.0, 0.0]);
            tracer.all_faces(wall).tally("strain", strain()).gate(Gate::new("middle", middle))
        }
        WorkloadKind::Step => tracer.all_faces(wall).each_step(move |step| {
            let beside = (&step.after.device(), step.after.dtype());
            step.after + Tensor::from_data([kind.shift()], beside)
        }),
        _ => match kind.relaxation_time() {
            Some(tau) => tracer.all_faces(wall).inertia(Inertia::new(tau, 0.0)),
            None => tracer.all_faces(wall),
        },
    }
}

/// The integral of the shear rate.
fn strain() -> Tally {
    Tally::Integral("shear_rate".into())
}

/// A folder for the store of a run, which is removed with its content at the end.
struct StoreFolder(PathBuf);

impl StoreFolder {
    fn new() -> Self {
        let name = format!("burntrace-bench-{}", std::process::id());
        let folder = StoreFolder(std::env::temp_dir().join(name));
        folder.remove();
        folder
    }

    fn remove(&self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

impl Drop for StoreFolder {
    fn drop(&mut self) {
        self.remove();
    }
}

impl Subject<'_> {
    pub fn tracer(&self, steps: u64) -> Tracer<'_> {
        let tracer = tracer(self.workload.kind, &*self.field.field, steps);
        tracer.obstacles(self.field.obstacle.clone())
    }

    /// Traces all batches one after the other. The timing includes reading the last positions back,
    /// so that the device has finished.
    pub fn run(&self, batches: &[Seeds], steps: u64) -> Result<TimedRun> {
        let tracer = self.tracer(steps);
        let mut run =
            TimedRun { seconds: 0.0, steps, particle_steps: 0, active: 0, positions: Vec::new() };
        let is_stored = self.workload.kind == WorkloadKind::W2Stored;
        let folder = is_stored.then(StoreFolder::new);
        let start = Instant::now();
        for seeds in batches {
            let (summary, positions) = match &folder {
                Some(folder) => stored(&tracer, seeds, &folder.0)?,
                None => in_memory(&tracer, seeds)?,
            };
            run.positions.push(positions);
            run.particle_steps += summary.particle_steps;
            run.active += summary.active();
        }
        run.seconds = start.elapsed().as_secs_f64();
        Ok(run)
    }
}

/// Traces seeds into memory, and reads their last positions.
fn in_memory(tracer: &Tracer, seeds: &Seeds) -> Result<(Summary, TensorData)> {
    let tracks = tracer.trace(seeds)?;
    let last = tracks.saves().last().ok_or_else(|| anyhow!("the run has no saves"))?;
    let data = last.position.clone().try_into_data();
    let positions = data.map_err(|error| anyhow!("cannot read positions: {error:?}"))?;
    let summary = tracks.summary().ok_or_else(|| anyhow!("the run has no summary"))?;
    Ok((summary.clone(), positions))
}

/// Traces seeds into a store, and reads their last positions from it.
fn stored(tracer: &Tracer, seeds: &Seeds, folder: &Path) -> Result<(Summary, TensorData)> {
    std::fs::remove_dir_all(folder).ok();
    let summary = tracer.prepare(seeds)?.run_into(&mut io::TrackWriter::new(folder))?;
    let positions = io::Tracks::open(folder)?.position(summary.saves - 1)?;
    let count = positions.len();
    Ok((summary, TensorData::new(positions.into_flattened(), [count, 3])))
}

impl TimedRun {
    /// The final positions of all particles.
    pub fn positions(self) -> Result<Vec<[f64; 3]>> {
        let mut positions = Vec::new();
        for data in self.positions {
            let numbers = data.convert::<f64>().try_into_vec::<f64>();
            let numbers =
                numbers.map_err(|error| anyhow!("cannot convert positions: {error:?}"))?;
            positions.extend_from_slice(numbers.as_chunks().0);
        }
        Ok(positions)
    }
}
