//! One line for each particle.

use super::file::{Reals, count_of, ids, scalars, vectors, write};
use super::plan::{Chooser, Plan};
use crate::Result;
use crate::tracks::Tracks;
use std::path::Path;
use vtkio::model::{Attribute, Attributes, PolyDataPiece, VertexNumbers};

/// What each point has.
struct Points {
    position: Reals,
    velocity: Option<Reals>,
    time: Vec<f64>,
    status: Vec<u8>,
}

/// Writes the tracks of a run as lines (`.vtp`), one for each particle.
///
/// A line is cut where its particle goes through a periodic face, so none is drawn across the box.
/// Saves before the release are left out, and of those after the end only the first is kept, at
/// the time of the end. A piece of a track with a single point becomes a vertex. The points have
/// `time`, `status` (codes of [`Status`](burntrace_core::Status)), `particle` and, where it was
/// stored, `velocity`; the lines have `particle`.
///
/// The store is read save by save; memory is needed for the points and for the text of the file.
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
    let of_cells: Vec<usize> =
        vertices.iter().chain(&lines).map(|&(start, _)| owner[start]).collect();
    let mut attributes = vec![
        Attribute::DataArray(scalars("time", points.time.into())),
        Attribute::DataArray(scalars("status", points.status.into())),
        Attribute::DataArray(scalars("particle", ids(&owner))),
    ];
    let velocity = points.velocity.map(|velocity| vectors("velocity", velocity.into()));
    attributes.extend(velocity.map(Attribute::DataArray));
    let piece = PolyDataPiece {
        points: points.position.into(),
        verts: topology(&vertices),
        lines: topology(&lines),
        data: Attributes {
            point: attributes,
            cell: vec![Attribute::DataArray(scalars("particle", ids(&of_cells)))],
        },
        ..Default::default()
    };
    write(path, piece)
}

/// Goes through the saves and puts each point where the plan has it.
fn fill(store: &Tracks, plan: &Plan) -> Result<Points> {
    let n = store.num_particles();
    let reals = || Reals::zeros(store.precision(), plan.points());
    let mut points = Points {
        position: reals(),
        velocity: store.has_velocity().then(reals),
        time: vec![0.0; plan.points()],
        status: vec![0; plan.points()],
    };
    let ends = store.ends()?;
    let mut chooser = Chooser::new(n);
    let mut next = plan.first.clone();
    for (save, &time) in store.times().iter().enumerate() {
        let (position, status) = (store.position(save)?, store.status(save)?);
        let velocity = store.velocity(save)?;
        for p in 0..n {
            if !chooser.takes(p, status[p], position[p]) {
                continue;
            }
            let point = next[p];
            next[p] += 1;
            points.position.set(point, position[p]);
            if let (Some(all), Some(velocity)) = (&mut points.velocity, &velocity) {
                all.set(point, velocity[p]);
            }
            let end = ends.end_time[p];
            let is_end = status[p].has_ended() && end.is_finite();
            points.time[point] = if is_end { end.min(time) } else { time };
            points.status[point] = status[p].code() as u8;
        }
    }
    Ok(points)
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
