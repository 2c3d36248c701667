//! A row for each particle, or for each life.

use super::recording::Recording;
use super::way::{Way, difference, length};
use super::{ParticleStatistics, SpeedFrom};
use burntrace_core::{ParticleInstance, Status};

/// From when to when a particle is known.
struct Known {
    status: Status,
    release: Option<f64>,
    end: Option<f64>,
    /// Until when its way is known.
    until: Option<f64>,
}

/// The row of a life, by what saves have told of its way.
pub(super) fn of_life(
    life: &ParticleInstance,
    way: Option<&Way>,
    recording: &Recording,
) -> ParticleStatistics {
    let periods = recording.plan.periods;
    let nearest = |to: [f64; 3], from: [f64; 3]| shortest(difference(to, from), periods);
    let mut whole = way.copied().unwrap_or_default();
    let (before, after) = match way {
        Some(way) => (
            nearest(way.origin, life.release_position),
            // While it goes on, the last save that met it is as far as its way is known.
            match life.status.has_ended() {
                true => nearest(life.end_position, way.last),
                false => [0.0; 3],
            },
        ),
        None => (nearest(life.end_position, life.release_position), [0.0; 3]),
    };
    let displacement = whole.displacement();
    let displacement = [0, 1, 2].map(|d| before[d] + displacement[d] + after[d]);
    whole.length += length(before) + length(after);
    let known = Known {
        status: life.status,
        release: finite(life.release_time),
        end: finite(life.end_time),
        until: finite(life.end_time).or_else(|| way.and(recording.times.last().copied())),
    };
    row((life.slot, life.generation), &whole, displacement, known, recording)
}

/// The row of a slot that is not used again.
pub(super) fn of_slot(slot: usize, recording: &Recording) -> ParticleStatistics {
    let way = &recording.ways[slot];
    let ends = recording.ends.as_ref();
    let release = ends.and_then(|ends| finite(ends.release_time[slot]));
    let end = ends.and_then(|ends| finite(ends.end_time[slot]));
    let status = ends.map_or(way.status, |ends| ends.status[slot]);
    let until = end.or_else(|| recording.times.last().copied());
    let known = Known { status, release, end, until };
    row((slot, 0), way, way.displacement(), known, recording)
}

fn row(
    (slot, generation): (usize, u32),
    way: &Way,
    displacement: [f64; 3],
    known: Known,
    recording: &Recording,
) -> ParticleStatistics {
    let between = |from: Option<f64>, to: Option<f64>| Some((to? - from?).abs());
    let residence_time = between(known.release, known.end);
    let met = (way.speeds > 0).then_some(way.speed_max);
    let (mean_speed, max_speed) = match recording.speed_from() {
        SpeedFrom::Velocities => (met.map(|_| way.speed_sum / f64::from(way.speeds)), met),
        SpeedFrom::Displacements => {
            let time = between(known.release, known.until).filter(|time| *time > 0.0);
            let mean = time.filter(|_| known.status != Status::Waiting).map(|t| way.length / t);
            // Some of its way between saves was at its mean speed at least.
            (mean, mean.map_or(met, |mean| Some(mean.max(met.unwrap_or(0.0)))))
        }
    };
    ParticleStatistics {
        slot,
        generation,
        status: known.status,
        release_time: known.release,
        end_time: known.end,
        residence_time,
        displacement,
        distance: length(displacement),
        path_length: way.length,
        mean_speed,
        max_speed,
    }
}

/// The shortest of the ways that differ by whole periods.
fn shortest(way: [f64; 3], periods: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|d| match periods[d] > 0.0 {
        true => way[d] - periods[d] * (way[d] / periods[d]).round(),
        false => way[d],
    })
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}
