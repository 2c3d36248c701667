//! Statistics of single particles: a row for each particle, or for each particle instance.

use super::trajectory::{SlotTrajectory, difference, length};
use super::{ParticleStatistics, SpeedFrom};
use burntrace_core::{Ends, ParticleInstance, Status};

/// Properties of the run that rows depend on.
pub(super) struct RowContext {
    pub periods: [f64; 3],
    pub speed_from: SpeedFrom,
    /// Time of the last complete save.
    pub last_save: Option<f64>,
}

/// Status and times of a particle.
struct Timing {
    status: Status,
    release: Option<f64>,
    end: Option<f64>,
    /// End of the known part of the trajectory.
    known_until: Option<f64>,
}

/// The row of a particle instance, from its report and its trajectory at the saves, if any.
pub(super) fn of_instance(
    instance: &ParticleInstance,
    trajectory: Option<&SlotTrajectory>,
    context: &RowContext,
) -> ParticleStatistics {
    let nearest =
        |to: [f64; 3], from: [f64; 3]| minimum_image(difference(to, from), context.periods);
    let mut whole = trajectory.copied().unwrap_or_default();
    let (before, after) = match trajectory {
        Some(sampled) => (
            nearest(sampled.origin, instance.release_position),
            // The trajectory of an active particle is known up to the last save.
            match instance.status.has_ended() {
                true => nearest(instance.end_position, sampled.last),
                false => [0.0; 3],
            },
        ),
        None => (nearest(instance.end_position, instance.release_position), [0.0; 3]),
    };
    let displacement = whole.displacement();
    let displacement = [0, 1, 2].map(|d| before[d] + displacement[d] + after[d]);
    whole.length += length(before) + length(after);
    let timing = Timing {
        status: instance.status,
        release: finite(instance.release_time),
        end: finite(instance.end_time),
        known_until: finite(instance.end_time).or_else(|| trajectory.and(context.last_save)),
    };
    row((instance.slot, instance.generation), &whole, displacement, timing, context)
}

/// The row of a slot in a run without re-used slots. `ends` are `None` until the run has ended.
pub(super) fn of_slot(
    slot: usize,
    trajectory: &SlotTrajectory,
    ends: Option<&Ends>,
    context: &RowContext,
) -> ParticleStatistics {
    let release = ends.and_then(|ends| finite(ends.release_time[slot]));
    let end = ends.and_then(|ends| finite(ends.end_time[slot]));
    let status = ends.map_or(trajectory.status, |ends| ends.status[slot]);
    let known_until = end.or(context.last_save);
    let timing = Timing { status, release, end, known_until };
    row((slot, 0), trajectory, trajectory.displacement(), timing, context)
}

fn row(
    (slot, generation): (usize, u32),
    trajectory: &SlotTrajectory,
    displacement: [f64; 3],
    timing: Timing,
    context: &RowContext,
) -> ParticleStatistics {
    let between = |from: Option<f64>, to: Option<f64>| Some((to? - from?).abs());
    let residence_time = between(timing.release, timing.end);
    let sampled_max = (trajectory.speeds > 0).then_some(trajectory.speed_max);
    let (mean_speed, max_speed) = match context.speed_from {
        SpeedFrom::Velocities => {
            let mean = sampled_max.map(|_| trajectory.speed_sum / f64::from(trajectory.speeds));
            (mean, sampled_max)
        }
        SpeedFrom::Displacements => {
            let time = between(timing.release, timing.known_until).filter(|time| *time > 0.0);
            let is_released = timing.status.is_released();
            let mean = time.filter(|_| is_released).map(|t| trajectory.length / t);
            // The maximum speed is at least the mean speed.
            let max = mean.map_or(sampled_max, |mean| Some(mean.max(sampled_max.unwrap_or(0.0))));
            (mean, max)
        }
    };
    ParticleStatistics {
        slot,
        generation,
        status: timing.status,
        release_time: timing.release,
        end_time: timing.end,
        residence_time,
        displacement,
        distance: length(displacement),
        path_length: trajectory.length,
        mean_speed,
        max_speed,
    }
}

/// The shortest displacement among those that differ by whole periods.
fn minimum_image(displacement: [f64; 3], periods: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|d| match periods[d] > 0.0 {
        true => displacement[d] - periods[d] * (displacement[d] / periods[d]).round(),
        false => displacement[d],
    })
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}
