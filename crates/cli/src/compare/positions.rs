//! Distances between the positions of two runs.

use super::particles::ParticleDistances;
use crate::format::twelve_digits;
use anyhow::Result;
use burntrace::{
    io::{SavedStates, Tracks},
    sphere,
};
use serde::Serialize;
use std::collections::HashMap;

/// Distances between the particles of two runs at the saves that both have.
#[derive(Serialize)]
pub struct PositionComparison {
    /// Numbers of saves of the two runs.
    #[serde(rename = "saves_of_runs")]
    pub count_of_saves: [usize; 2],
    pub saves: Vec<SaveDistances>,
    /// Maximum over all of these saves and particles.
    pub max: Option<f64>,
    /// Median over the particles of their maximum over these saves.
    pub median: Option<f64>,
    /// The particle with the maximum, and its time.
    pub farthest: Option<(usize, f64)>,
    /// Number of positions, over all of these saves, of particles that only one of the runs has.
    pub unpaired: usize,
    /// Mean distance of the first run's particles between the first and the last of these saves.
    pub mean_travel: Option<f64>,
}

/// Distances between the particles of two runs at one save.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SaveDistances {
    pub time: f64,
    /// Particles that are in both runs.
    pub particles: usize,
    /// Particles of them that are not at the same position.
    pub different: usize,
    pub max: Option<f64>,
    pub median: Option<f64>,
    /// The distance that 90 % of the particles do not exceed.
    pub p90: Option<f64>,
    /// Particles that only one of the runs has.
    pub unpaired: usize,
}

/// Compares two runs with the same number of slots.
pub fn compare(
    tracks: [&Tracks; 2],
    distances: &mut ParticleDistances,
) -> Result<PositionComparison> {
    let count = tracks[0].num_particles();
    let mut largest = vec![[f64::NAN; 2]; count];
    let (mut saves, mut start, mut end) = (Vec::new(), None, None);
    let mut at_save = vec![f64::NAN; count];
    for [a, b] in common_saves(tracks) {
        let time = tracks[0].times()[a];
        let states = [PositionsAt::read(tracks[0], a)?, PositionsAt::read(tracks[1], b)?];
        let mut unpaired = 0;
        for (slot, distance) in at_save.iter_mut().enumerate() {
            *distance = f64::NAN;
            match [0, 1].map(|i| states[i].particle(slot)) {
                [Some((a, one)), Some((b, other))] if one == other => *distance = between(a, b),
                [None, None] => {}
                _ => unpaired += 1,
            }
            let before = largest[slot][0];
            if *distance > before || (before.is_nan() && !distance.is_nan()) {
                largest[slot] = [*distance, time];
            }
        }
        saves.push(of_save(time, &at_save, unpaired));
        let [first, _] = states;
        match &start {
            None => start = Some(first),
            Some(_) => end = Some(first),
        }
    }
    let all: Vec<f64> = largest.iter().map(|[distance, _]| *distance).collect();
    let farthest = (0..count)
        .filter(|slot| all[*slot] > 0.0)
        .max_by(|a, b| all[*a].total_cmp(&all[*b]))
        .map(|slot| (slot, largest[slot][1]));
    let ends = start.as_ref().zip(end.as_ref());
    let mean_travel = ends.and_then(|(start, end)| mean_distance(start, end, count));
    let whole = of_save(f64::NAN, &all, 0);
    (distances.max, distances.last) = (largest, at_save);
    Ok(PositionComparison {
        count_of_saves: tracks.map(Tracks::num_saves),
        max: whole.max,
        median: whole.median,
        farthest,
        unpaired: saves.iter().map(|save| save.unpaired).sum(),
        saves,
        mean_travel,
    })
}

/// The saves of two runs that have the same time, to twelve digits.
fn common_saves(tracks: [&Tracks; 2]) -> Vec<[usize; 2]> {
    // Adding 0 makes -0 equal to 0.
    let key = |time: &f64| (twelve_digits(*time) + 0.0).to_bits();
    let times = tracks[1].times().iter().enumerate();
    let others: HashMap<u64, usize> = times.map(|(save, time)| (key(time), save)).collect();
    let own = tracks[0].times().iter().enumerate();
    own.filter_map(|(save, time)| Some([save, *others.get(&key(time))?])).collect()
}

fn of_save(time: f64, distances: &[f64], unpaired: usize) -> SaveDistances {
    let mut known: Vec<f64> = distances.iter().copied().filter(|x| !x.is_nan()).collect();
    SaveDistances {
        time,
        particles: known.len(),
        different: known.iter().filter(|distance| **distance > 0.0).count(),
        max: known.iter().copied().reduce(f64::max),
        p90: quantile(&mut known, 0.9),
        median: median(&mut known),
        unpaired,
    }
}

/// The least of some numbers that a part of them does not exceed.
fn quantile(numbers: &mut [f64], part: f64) -> Option<f64> {
    let rank = (part * numbers.len() as f64).ceil() as usize;
    let last = numbers.len().checked_sub(1)?;
    let (_, found, _) =
        numbers.select_nth_unstable_by(rank.saturating_sub(1).min(last), f64::total_cmp);
    Some(*found)
}

/// The median; of an even number, the mean of the two in the middle.
pub fn median(numbers: &mut [f64]) -> Option<f64> {
    let middle = numbers.len() / 2;
    if numbers.is_empty() {
        return None;
    }
    let is_even = numbers.len().is_multiple_of(2);
    let (below, high, _) = numbers.select_nth_unstable_by(middle, f64::total_cmp);
    let low = below.iter().copied().reduce(f64::max).filter(|_| is_even);
    Some(low.map_or(*high, |low| 0.5 * (low + *high)))
}

/// The particles of a run at a save, with positions that are continuous across periodic faces, or in space.
struct PositionsAt {
    states: SavedStates,
    unwrapped: Vec<[f64; 3]>,
}

impl PositionsAt {
    fn read(tracks: &Tracks, save: usize) -> Result<Self> {
        let mut unwrapped = tracks.unwrapped(save)?;
        if let Some(radius) = tracks.units().radius {
            unwrapped
                .iter_mut()
                .for_each(|position| *position = sphere::in_space(radius, *position));
        }
        Ok(PositionsAt { states: SavedStates::read(tracks, save)?, unwrapped })
    }

    /// The position and the generation of the released particle in a slot.
    fn particle(&self, slot: usize) -> Option<([f64; 3], i32)> {
        let state = self.states.state(slot);
        state.is_present().then(|| (self.unwrapped[slot], state.generation))
    }
}

/// The mean distance of the particles that are at both saves.
fn mean_distance(start: &PositionsAt, end: &PositionsAt, count: usize) -> Option<f64> {
    let distances = (0..count).filter_map(|slot| {
        let ((a, before), (b, now)) = start.particle(slot).zip(end.particle(slot))?;
        (before == now).then(|| between(a, b))
    });
    let (sum, number) = distances.fold((0.0, 0_u32), |(sum, number), x| (sum + x, number + 1));
    (number > 0).then(|| sum / f64::from(number))
}

/// The distance of two positions.
pub fn between(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|d| (a[d] - b[d]).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_that_of_numpy() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [3.0]), Some(3.0));
        assert_eq!(median(&mut [5.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&mut [9.0, 1.0, 3.0, 4.0]), Some(3.5));
    }

    #[test]
    fn quantiles_are_values_that_a_part_does_not_exceed() {
        let mut numbers: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_eq!(quantile(&mut numbers, 0.9), Some(18.0));
        assert_eq!([quantile(&mut [], 0.9), quantile(&mut [7.0], 0.9)], [None, Some(7.0)]);
    }

    #[test]
    fn particles_of_one_run_only_are_in_no_distance() {
        let found = of_save(1.0, &[0.0, f64::NAN, 2.0, 4.0], 1);
        let expected = SaveDistances {
            time: 1.0,
            particles: 3,
            different: 2,
            max: Some(4.0),
            median: Some(2.0),
            p90: Some(4.0),
            unpaired: 1,
        };
        assert_eq!(found, expected);
    }
}
