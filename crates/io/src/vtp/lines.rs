//! One line for each particle.

use super::file::{buffer, count_of, ids, scalars, vectors, write};
use super::plan::{Chooser, Plan};
use crate::Result;
use crate::tracks::{Clock, ParticleState, SavedStates, Tracks};
use burntrace_core::Floats;
use std::path::Path;
use vtkio::model::{Attribute, Attributes, PolyDataPiece, VertexNumbers};

/// What each point has.
struct Points {
    position: Floats,
    velocity: Option<Floats>,
    time: Vec<f64>,
    status: Vec<u8>,
    of_lives: Option<OfLives>,
}

/// What each point has besides, where slots are used again.
struct OfLives {
    generation: Vec<i32>,
    age: Vec<f64>,
}

/// Writes the tracks of a run as lines (`.vtp`), one for each particle.
///
/// A line is cut where its particle goes through a periodic face, so none is drawn across the box.
/// Saves before the release are left out, and of those after the end only the first is kept, at
/// the time of the end. A piece of a track with a single point becomes a vertex. The points have
/// `time`, `status` (codes of [`Status`](burntrace_core::Status)), `particle` and, where it was
/// stored, `velocity`; the lines have `particle`.
///
/// Where slots are used again, `particle` is the slot, and each life has its own line, from its
/// first save to its last one: no line leads from the end of a particle to the release of the next
/// one. A life that no save has met has none. Points and lines then have `generation`, the number
/// of lives that the slot has had before, and points have `age`, the time since the release.
///
/// The store is read save by save; memory is needed for the points and for the text of the file,
/// and 8 to 16 bytes for each life.
///
/// # Errors
///
/// If the store cannot be read, the file cannot be written, or there are more points than a file
/// can number (2^32).
pub fn write_tracks(store: &Tracks, path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let plan = Plan::of(store)?;
    count_of(path, plan.points().max(store.num_particles()))?;
    let points = fill(store, &plan)?;
    let owner: Vec<usize> = owners(&plan);
    let (vertices, lines) = cells(&plan);
    // The first points of all cells.
    let starts: Vec<usize> = vertices.iter().chain(&lines).map(|&(start, _)| start).collect();
    let of_cells: Vec<usize> = starts.iter().map(|&start| owner[start]).collect();
    let mut cell = vec![scalars("particle", ids(&of_cells))];
    let mut point = vec![
        scalars("time", points.time.into()),
        scalars("status", points.status.into()),
        scalars("particle", ids(&owner)),
    ];
    if let Some(OfLives { generation, age }) = points.of_lives {
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

/// Goes through the saves and puts each point where the plan has it.
fn fill(store: &Tracks, plan: &Plan) -> Result<Points> {
    let n = store.num_particles();
    let clock = Clock::of(store)?;
    let mut points = Points::zeros(store, plan.points(), clock.has_lives());
    let mut chooser = Chooser::new(n);
    let mut next = plan.first.clone();
    for save in 0..store.num_saves() {
        let moments = SavedStates::read(store, save)?;
        let velocity = store.velocity(save)?;
        for p in 0..n {
            let moment = moments.of(p);
            if chooser.takes(&moment) {
                points.set(next[p], &moment, &clock);
                if let (Some(all), Some(velocity)) = (&mut points.velocity, &velocity) {
                    all.set_vector(next[p], velocity[p]);
                }
                next[p] += 1;
            }
        }
    }
    Ok(points)
}

impl Points {
    fn zeros(store: &Tracks, count: usize, has_lives: bool) -> Points {
        let floats = || Floats::zeros(store.precision(), 3 * count);
        Points {
            position: floats(),
            velocity: store.has_velocity().then(floats),
            time: vec![0.0; count],
            status: vec![0; count],
            of_lives: has_lives
                .then(|| OfLives { generation: vec![0; count], age: vec![0.0; count] }),
        }
    }

    fn set(&mut self, point: usize, moment: &ParticleState, clock: &Clock) {
        self.position.set_vector(point, moment.position);
        self.time[point] = clock.time(moment);
        self.status[point] = moment.status.code() as u8;
        if let Some(of_lives) = &mut self.of_lives {
            of_lives.generation[point] = moment.generation;
            of_lives.age[point] = clock.age(moment);
        }
    }
}

/// The particle of each point.
fn owners(plan: &Plan) -> Vec<usize> {
    let counts = plan.first.array_windows().map(|[start, end]| end - start);
    counts.enumerate().flat_map(|(particle, count)| std::iter::repeat_n(particle, count)).collect()
}

type Runs = Vec<(usize, usize)>;

/// Pieces of tracks with one point, and those with more.
fn cells(plan: &Plan) -> (Runs, Runs) {
    plan.runs().partition(|(start, end)| end - start == 1)
}

fn topology(runs: &[(usize, usize)]) -> Option<VertexNumbers> {
    let connectivity: Vec<u64> =
        runs.iter().flat_map(|&(start, end)| start as u64..end as u64).collect();
    let mut last = 0;
    let offsets = runs.iter().map(|(start, end)| {
        last += (end - start) as u64;
        last
    });
    let offsets = offsets.collect();
    (!runs.is_empty()).then_some(VertexNumbers::XML { connectivity, offsets })
}
