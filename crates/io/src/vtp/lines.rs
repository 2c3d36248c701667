//! Tracks as lines.

use super::file::{buffer, count_of, ids, scalars, vectors, write};
use super::plan::{LinePlan, PointFilter};
use crate::Result;
use crate::tracks::{ParticleState, ParticleTimes, SavedStates, Tracks};
use burntrace_core::Floats;
use std::path::Path;
use vtkio::model::{Attribute, Attributes, PolyDataPiece, VertexNumbers};

/// The arrays of the points.
struct PointArrays {
    position: Floats,
    velocity: Option<Floats>,
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
/// stored, `velocity`; lines have `particle`.
///
/// If slots are re-used, `particle` is the slot, and each particle instance has its own line, from
/// its first save to its last. An instance without a save has no line. Points and lines then have
/// `generation`, the number of earlier instances in the slot, and points have `age`, the time since
/// the release.
///
/// The store is read save by save. Memory is needed for the points, for the text of the file, and
/// 8 to 16 bytes for each particle instance.
///
/// # Errors
///
/// If the store cannot be read, the file cannot be written, or there are more than 2^32 - 1 points.
pub fn write_tracks(store: &Tracks, path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let plan = LinePlan::of(store)?;
    count_of(path, plan.points().max(store.num_particles()))?;
    let points = fill(store, &plan)?;
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
    let attributes = |arrays: Vec<_>| arrays.into_iter().map(Attribute::DataArray).collect();
    let piece = PolyDataPiece {
        points: buffer(points.position),
        verts: topology(&vertices),
        lines: topology(&lines),
        data: Attributes { point: attributes(point), cell: attributes(cell) },
        ..Default::default()
    };
    write(path, piece)
}

/// Reads all saves into the arrays of the points.
fn fill(store: &Tracks, plan: &LinePlan) -> Result<PointArrays> {
    let n = store.num_particles();
    let times = ParticleTimes::read(store)?;
    let mut points = PointArrays::zeros(store, plan.points(), times.reuses_slots());
    let mut filter = PointFilter::new(n);
    let mut next = plan.first.clone();
    for save in 0..store.num_saves() {
        let states = SavedStates::read(store, save)?;
        let velocity = store.velocity(save)?;
        for p in 0..n {
            let state = states.state(p);
            if filter.accepts(&state) {
                points.set(next[p], &state, &times);
                if let (Some(all), Some(velocity)) = (&mut points.velocity, &velocity) {
                    all.set_vector(next[p], velocity[p]);
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
        PointArrays {
            position: floats(store.position_precision()),
            velocity: store.has_velocity().then(|| floats(store.precision())),
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
