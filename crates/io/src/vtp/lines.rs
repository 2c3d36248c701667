//! Tracks as lines.

use super::file::{buffer, count_of, ids, sampled, scalars, vectors, write};
use super::plan::{Chosen, LinePlan, PointFilter};
use crate::export::Selection;
use crate::tracks::{ParticleState, ParticleTimes, SavedStates, Tracks};
use crate::{Error, Result};
use burntrace_core::{FieldArray, Floats, Precision, SavePlan, program::FreeMemory};
use std::path::Path;
use vtkio::model::{Attribute, Attributes, PolyDataPiece, VertexNumbers};

/// The arrays of the points.
struct PointArrays {
    position: Floats,
    velocity: Option<Floats>,
    /// The arrays sampled along the tracks.
    sampled: Vec<(FieldArray, Floats)>,
    time: Vec<f64>,
    status: Vec<u8>,
    instances: Option<InstanceArrays>,
}

/// Further arrays of the points, if slots are re-used.
struct InstanceArrays {
    generation: Vec<i32>,
    age: Vec<f64>,
}

/// Writes the tracks of a run as lines (`.vtp`), one per particle.
///
/// A line is split where its particle crosses a periodic face, so that no line crosses the box.
/// Saves before the release are omitted; of the saves after the end only the first is written, with
/// the time of the end. A part of a track with a single point becomes a vertex. Points have the
/// arrays `time`, `status` (codes of [`Status`](burntrace_core::Status)), `particle` and, if it is
/// stored, `velocity`, and the arrays sampled along the tracks under their names; lines have
/// `particle`.
///
/// If slots are re-used, `particle` is the slot, and each particle instance has its own line, from
/// its first save to its last. An instance without a save has no line. Points and lines then have
/// `generation`, the number of earlier instances in the slot, and points have `age`, the time since
/// the release.
///
/// The store is read save by save. Memory is needed for the points, for the text of the file, and
/// 8 to 16 bytes for each particle instance; see [`lines_memory`].
///
/// # Errors
///
/// If the store cannot be read, the file cannot be written, there are more than 2^32 - 1 points, or they do not fit into memory
/// ([`Error::LinesMemory`]).
pub fn write_tracks(store: &Tracks, path: impl AsRef<Path>) -> Result<()> {
    let (saves, selection) = ((0..store.num_saves()).collect(), &Selection::default());
    write_chosen(store, &Chosen { saves, selection, finals: None }, path.as_ref()).map(|_| ())
}

/// As [`write_tracks`], with the selected saves and particles only. A line connects consecutive points
/// that are selected. Returns the number of points.
///
/// # Errors
///
/// As [`write_tracks`]; also if no save is selected.
pub fn write_selected_tracks(
    store: &Tracks,
    selection: &Selection,
    path: impl AsRef<Path>,
) -> Result<usize> {
    let (saves, finals) = (selection.saves(store)?, selection.finals(store)?);
    write_chosen(store, &Chosen { saves, selection, finals }, path.as_ref())
}

fn write_chosen(store: &Tracks, chosen: &Chosen<'_>, path: &Path) -> Result<usize> {
    let plan = LinePlan::of(store, chosen)?;
    count_of(path, plan.points().max(store.num_particles()))?;
    check_memory(path, plan.points(), &store.plan())?;
    let points = fill(store, chosen, &plan)?;
    let owner: Vec<usize> = particles(&plan);
    let (vertices, lines) = cells(&plan);
    // The first point of each cell.
    let starts: Vec<usize> = vertices.iter().chain(&lines).map(|&(start, _)| start).collect();
    let of_cells: Vec<usize> = starts.iter().map(|&start| owner[start]).collect();
    let mut cell = vec![scalars("particle", ids(&of_cells))];
    let mut point = vec![
        scalars("time", points.time.into()),
        scalars("status", points.status.into()),
        scalars("particle", ids(&owner)),
    ];
    if let Some(InstanceArrays { generation, age }) = points.instances {
        let of_cells: Vec<i32> = starts.iter().map(|&start| generation[start]).collect();
        cell.push(scalars("generation", of_cells.into()));
        point.push(scalars("generation", generation.into()));
        point.push(scalars("age", age.into()));
    }
    point.extend(points.velocity.map(|velocity| vectors("velocity", buffer(velocity))));
    point.extend(points.sampled.into_iter().map(|(array, values)| sampled(&array, values)));
    let attributes = |arrays: Vec<_>| arrays.into_iter().map(Attribute::DataArray).collect();
    let piece = PolyDataPiece {
        points: buffer(points.position),
        verts: topology(&vertices),
        lines: topology(&lines),
        data: Attributes { point: attributes(point), cell: attributes(cell) },
        ..Default::default()
    };
    write(path, piece)?;
    Ok(plan.points())
}

/// Memory for each byte of the arrays, which are there as numbers, as bytes and as text: 4.1 of `burntrace export --to vtp`, 10 million
/// points, and some more.
const COPIES: f64 = 4.3;

/// The memory that the lines of a run take while they are written, in bytes, if all of its particles are there at all saves.
pub fn lines_memory(plan: &SavePlan) -> u64 {
    memory(plan.particles.saturating_mul(plan.saves), plan)
}

fn memory(points: usize, plan: &SavePlan) -> u64 {
    let width = |precision| if precision == Precision::F64 { 8 } else { 4 };
    let sampled = plan.arrays.iter().map(|array| array.components).sum::<usize>();
    let numbers = sampled + if plan.velocity { 3 } else { 0 };
    // Times, statuses, particles and point numbers, and of re-used slots generations and ages.
    let others = 8 + 1 + 4 + 8 + if plan.reuses_slots { 4 + 8 } else { 0 };
    let bytes = 3 * width(plan.positions) + numbers * width(plan.precision) + others;
    (COPIES * points as f64 * bytes as f64) as u64
}

fn check_memory(path: &Path, points: usize, plan: &SavePlan) -> Result<()> {
    let (needed, free) = (memory(points, plan), FreeMemory::now().bytes);
    match needed > free {
        true => Err(Error::LinesMemory { path: path.into(), points, needed, free }),
        false => Ok(()),
    }
}

/// Reads all saves into the arrays of the points.
fn fill(store: &Tracks, chosen: &Chosen<'_>, plan: &LinePlan) -> Result<PointArrays> {
    let n = store.num_particles();
    let times = ParticleTimes::read(store)?;
    let mut points = PointArrays::zeros(store, plan.points(), times.reuses_slots());
    let mut filter = PointFilter::new(n);
    let mut next = plan.first.clone();
    for &save in &chosen.saves {
        let states = SavedStates::read(store, save)?;
        let velocity = store.velocity(save)?;
        let arrays = points.sampled.iter().map(|(array, _)| store.sampled(array, save, 0..n));
        let arrays = arrays.collect::<Result<Vec<Floats>>>()?;
        for p in 0..n {
            let state = states.state(p);
            if chosen.accepts(&state) && filter.accepts(&state) {
                points.set(next[p], &state, &times);
                if let (Some(all), Some(velocity)) = (&mut points.velocity, &velocity) {
                    all.set_vector(next[p], velocity[p]);
                }
                for ((array, all), values) in points.sampled.iter_mut().zip(&arrays) {
                    set_item(all, next[p], values, p, array.components);
                }
                next[p] += 1;
            }
        }
    }
    Ok(points)
}

impl PointArrays {
    fn zeros(store: &Tracks, count: usize, reuses_slots: bool) -> PointArrays {
        let floats = |precision| Floats::zeros(precision, 3 * count);
        let arrays = store.arrays().into_iter().map(|array| {
            let values = Floats::zeros(store.precision(), array.components * count);
            (array, values)
        });
        PointArrays {
            position: floats(store.position_precision()),
            velocity: store.has_velocity().then(|| floats(store.precision())),
            sampled: arrays.collect(),
            time: vec![0.0; count],
            status: vec![0; count],
            instances: reuses_slots
                .then(|| InstanceArrays { generation: vec![0; count], age: vec![0.0; count] }),
        }
    }

    fn set(&mut self, point: usize, state: &ParticleState, times: &ParticleTimes) {
        self.position.set_vector(point, state.position);
        self.time[point] = times.time(state);
        self.status[point] = state.status.code() as u8;
        if let Some(instances) = &mut self.instances {
            instances.generation[point] = state.generation;
            instances.age[point] = times.age(state);
        }
    }
}

/// Copies an item of `width` numbers. Both arrays have the precision of the run.
fn set_item(to: &mut Floats, index: usize, from: &Floats, at: usize, width: usize) {
    let (index, at) = (width * index, width * at);
    match (to, from) {
        (Floats::F32(to), Floats::F32(from)) => {
            to[index..index + width].copy_from_slice(&from[at..at + width]);
        }
        (Floats::F64(to), Floats::F64(from)) => {
            to[index..index + width].copy_from_slice(&from[at..at + width]);
        }
        _ => {}
    }
}

/// The particle of each point.
fn particles(plan: &LinePlan) -> Vec<usize> {
    let counts = plan.first.array_windows().map(|[start, end]| end - start);
    counts.enumerate().flat_map(|(particle, count)| std::iter::repeat_n(particle, count)).collect()
}

/// For each range, its first point and one past its last point.
type PointRanges = Vec<(usize, usize)>;

/// Divides the lines into vertices, of one point, and lines of several points.
fn cells(plan: &LinePlan) -> (PointRanges, PointRanges) {
    plan.lines().partition(|(start, end)| end - start == 1)
}

fn topology(ranges: &[(usize, usize)]) -> Option<VertexNumbers> {
    let connectivity: Vec<u64> =
        ranges.iter().flat_map(|&(start, end)| start as u64..end as u64).collect();
    let mut last = 0;
    let offsets = ranges.iter().map(|(start, end)| {
        last += (end - start) as u64;
        last
    });
    let offsets = offsets.collect();
    (!ranges.is_empty()).then_some(VertexNumbers::XML { connectivity, offsets })
}
