//! Velocities of particles, from the saves of a run.

use crate::results::Results;
use anyhow::Result;
use burntrace::{Status, sphere};
use std::ops::Range;

/// Maximum memory of the records that are read together, in bytes.
const BYTES: usize = 512 << 20;

/// The velocities of a particle, or its positions.
#[derive(Clone, Default)]
struct Record {
    values: Vec<[f64; 3]>,
    has_ended: bool,
}

impl Record {
    /// Adds a save, with `None` where the particle is not active. Only the first active saves in a row count.
    fn push(&mut self, value: Option<[f64; 3]>) {
        match value {
            Some(value) if !self.has_ended => self.values.push(value),
            _ => self.has_ended = !self.values.is_empty(),
        }
    }
}

/// Divides slots into blocks that fit into memory.
pub fn blocks(slots: usize, saves: usize) -> impl Iterator<Item = Range<usize>> {
    let size = (BYTES / (saves * size_of::<[f64; 3]>())).max(1);
    (0..slots).step_by(size).map(move |first| first..slots.min(first + size))
}

/// The velocities of the first particle in each slot, from its first active save on, as long as it is active. Slots with fewer than two
/// such saves have none.
pub fn read(
    results: &Results,
    interval: f64,
    saves: usize,
    slots: Range<usize>,
) -> Result<Vec<Vec<[f64; 3]>>> {
    let tracks = &results.tracks;
    let mut records = vec![Record::default(); slots.len()];
    for save in 0..saves {
        let values = match tracks.velocity(save)? {
            Some(velocities) => velocities,
            None => tracks.unwrapped(save)?,
        };
        let (status, generation) = (tracks.status(save)?, tracks.generation(save)?);
        for (record, slot) in records.iter_mut().zip(slots.clone()) {
            // A later particle of a slot is another one.
            let is_first = generation.as_ref().is_none_or(|generation| generation[slot] == 0);
            let is_finite = values[slot].iter().all(|x| x.is_finite());
            let is_active = status[slot] == Status::Active && is_first && is_finite;
            record.push(is_active.then_some(values[slot]));
        }
    }
    let velocities = |record: Record| match record.values {
        few if few.len() < 2 => Vec::new(),
        velocities if tracks.has_velocity() => velocities,
        positions => {
            let pairs = positions.windows(2);
            pairs.map(|pair| mean_velocity(pair, interval, results.radius())).collect()
        }
    };
    Ok(records.into_iter().map(velocities).collect())
}

/// The velocity between two positions; on a sphere in m/s towards the east, the north, and upwards at the middle of both.
fn mean_velocity(pair: &[[f64; 3]], interval: f64, radius: Option<f64>) -> [f64; 3] {
    let [from, to] = [pair[0], pair[1]];
    let Some(radius) = radius else {
        return [0, 1, 2].map(|d| (to[d] - from[d]) / interval);
    };
    let [from, to] = [from, to].map(|position| sphere::in_space(radius, position));
    let velocity = [0, 1, 2].map(|d| (to[d] - from[d]) / interval);
    let middle = [0, 1, 2].map(|d| 0.5 * (from[d] + to[d]));
    let [lon, lat, _] = sphere::of_space(radius, middle);
    let ((sin_lon, cos_lon), (sin_lat, cos_lat)) =
        (lon.to_radians().sin_cos(), lat.to_radians().sin_cos());
    let east = [-sin_lon, cos_lon, 0.0];
    let north = [-sin_lat * cos_lon, -sin_lat * sin_lon, cos_lat];
    let up = [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat];
    [east, north, up].map(|axis| (0..3).map(|d| axis[d] * velocity[d]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Towards the north-east at 45 degrees, and straight up.
    #[test]
    fn velocities_on_a_sphere_are_along_its_directions() {
        let radius: f64 = 6e6;
        let degree = radius.to_radians();
        let small = 1e-3;
        let pair = [[10.0, 45.0, 0.0], [10.0 + small, 45.0 + small, 0.0]];
        let [east, north, up] = mean_velocity(&pair, 2.0, Some(radius));
        let expected = 0.5 * small * degree;
        assert!((east / (expected * 45f64.to_radians().cos()) - 1.0).abs() < 1e-4, "{east}");
        assert!((north / expected - 1.0).abs() < 1e-4 && up.abs() < 1e-6, "{north}, {up}");
        let [east, north, up] =
            mean_velocity(&[[200.0, -30.0, 0.0], [200.0, -30.0, 8.0]], -2.0, Some(radius));
        assert!((up + 4.0).abs() < 1e-6 && east.abs().max(north.abs()) < 1e-6, "{up}");
        assert_eq!(mean_velocity(&[[1.0; 3], [2.0, 1.0, 0.0]], 0.5, None), [2.0, 0.0, -2.0]);
    }

    #[test]
    fn records_are_the_first_active_saves_in_a_row() {
        let mut record = Record::default();
        let value = |x: f64| Some([x; 3]);
        for value in [None, value(1.0), value(2.0), None, value(3.0)] {
            record.push(value);
        }
        assert_eq!(record.values, [[1.0; 3], [2.0; 3]]);
    }

    #[test]
    fn blocks_have_all_slots_once() {
        let all: Vec<Range<usize>> = blocks(100, BYTES / 24 / 30).collect();
        assert_eq!(all, [0..30, 30..60, 60..90, 90..100]);
        assert_eq!(blocks(0, 5).count(), 0);
    }
}
