//! Tests of residence by voxel.

use super::*;
use std::f64::consts::TAU;

/// The generator SplitMix64, with numbers between 0 and 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A point between two corners.
    fn point(&mut self, time: f64, low: f64, high: f64) -> Point {
        Point { time, position: [0; 3].map(|_| low + (high - low) * self.next()) }
    }
}

fn at(time: f64, position: [f64; 3]) -> Point {
    Point { time, position }
}

/// The result of some tracks among voxels of a box from 0 on.
fn residence(
    counts: [usize; 3],
    high: [f64; 3],
    periods: [f64; 3],
    tracks: &[Vec<Point>],
) -> VoxelResidence {
    let mut residence = Residence::new(Voxels { counts, low: [0.0; 3], high }, periods).unwrap();
    tracks.iter().for_each(|track| residence.add(track));
    residence.result()
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance || a.is_nan() && b.is_nan(), "{k}: {a}, not {b}");
    }
}

/// Through the corners of voxels, from one to the next one, without a visit of those beside them.
#[test]
fn diagonals_visit_the_voxels_on_them() {
    let track = vec![at(2.0, [0.0; 3]), at(5.0, [3.0; 3])];
    let found = residence([3; 3], [3.0; 3], [0.0; 3], std::slice::from_ref(&track));
    for voxel in 0..27 {
        let is_on = voxel % 13 == 0;
        let time = if is_on { 1.0 } else { 0.0 };
        assert_close(&[found.times[voxel]], &[time], 1e-15);
        let counts = [found.visits[voxel], found.particles[voxel]];
        assert_eq!(counts, [u64::from(is_on); 2], "{voxel}");
    }
    let passages = [0, 13, 26].map(|voxel| found.first_passages[voxel]);
    assert_close(&passages, &[0.0, 1.0, 2.0], 1e-15);
    assert!(found.first_passages[1].is_nan() && found.mean_first_passages[1].is_nan());
    assert_eq!((found.median_voxels, found.time_outside), (Some(3), 0.0));
    assert_eq!(found.voxels.centre(13), [1.5; 3]);
    // Oblique: x advances by 3 while y advances by 1, z is ignored.
    let track = vec![at(0.0, [0.0, 0.5, 7.0]), at(6.0, [3.0, 1.5, -8.0])];
    let found = residence([3, 2, 1], [3.0, 2.0, 0.0], [0.0; 3], &[track]);
    assert_close(&found.times, &[2.0, 1.0, 0.0, 0.0, 1.0, 2.0], 1e-15);
    assert_eq!(found.visits, [1, 1, 0, 0, 1, 1]);
}

#[test]
fn times_add_up_to_the_durations() {
    let mut random = Random(4);
    for periods in [[0.0; 3], [1.0, 0.0, 1.5], [2.0; 3]] {
        let mut track = |_| {
            let mut time = 10.0 * random.next();
            let mut point = |_| {
                time += random.next();
                random.point(time, -2.5, 3.5)
            };
            (0..50).map(&mut point).collect::<Vec<Point>>()
        };
        let tracks: Vec<Vec<Point>> = (0..200).map(&mut track).collect();
        let found = residence([7, 5, 3], [1.0, 0.9, 1.1], periods, &tracks);
        let total: f64 = tracks.iter().map(|track| track[49].time - track[0].time).sum();
        let inside: f64 = found.times.iter().sum();
        assert_close(&[inside + found.time_outside], &[total], 1e-12 * total);
        let part: f64 = [(1.0, 0), (0.9, 1), (1.1, 2)]
            .iter()
            .map(|(side, d)| side / if periods[*d] > 0.0 { periods[*d] } else { 6.0 })
            .product();
        // Positions are uniform, and legs lie between them.
        assert!(inside > 0.8 * part * total && inside < 4.0 * part * total, "{inside} of {total}");
        assert!(found.visits.iter().zip(&found.particles).all(|(n, of)| n >= of));
        let (visitors, most) = (found.num_visitors, *found.particles.iter().max().unwrap());
        assert!(most <= visitors && visitors <= 200, "{most}, {visitors}");
        // Backward, the same legs in the other direction take the same times.
        let reverse = |track: &Vec<Point>| track.iter().rev().copied().collect();
        let backward: Vec<Vec<Point>> = tracks.iter().map(reverse).collect();
        let other = residence([7, 5, 3], [1.0, 0.9, 1.1], periods, &backward);
        assert_close(&other.times, &found.times, 1e-10);
        assert_eq!(other.particles, found.particles);
        assert_eq!(other.median_voxels, found.median_voxels);
    }
}

/// Legs are sampled at many times.
#[test]
fn times_are_those_of_positions_in_voxels() {
    const SAMPLES: usize = 4000;
    let mut random = Random(9);
    for periods in [[0.0; 3], [1.0, 1.3, 0.0]] {
        let voxels = Voxels { counts: [3, 4, 2], low: [-0.3; 3], high: [0.7, 0.9, 0.8] };
        let mut residence = Residence::new(voxels, periods).unwrap();
        let mut expected = vec![0.0; 24];
        for _ in 0..20 {
            let track = [random.point(0.0, -2.0, 2.0), random.point(1.0, -1.0, 3.0)];
            residence.add(&track);
            for k in 0..SAMPLES {
                let part = (k as f64 + 0.5) / SAMPLES as f64;
                let cell = |d: usize| -> Option<usize> {
                    let [from, to] = [track[0].position[d], track[1].position[d]];
                    let mut x = from + part * (to - from) - voxels.low[d];
                    if periods[d] > 0.0 {
                        x = x.rem_euclid(periods[d]);
                    }
                    let cell = (x / voxels.size()[d]).floor();
                    (cell >= 0.0 && cell < voxels.counts[d] as f64).then_some(cell as usize)
                };
                if let (Some(i), Some(j), Some(k)) = (cell(0), cell(1), cell(2)) {
                    expected[i + 3 * (j + 4 * k)] += 1.0 / SAMPLES as f64;
                }
            }
        }
        assert!(expected.iter().sum::<f64>() > 0.3, "{expected:?}");
        let found = residence.result();
        assert_close(&found.times, &expected, 50.0 / SAMPLES as f64);
    }
}

#[test]
fn legs_go_on_beyond_periodic_faces() {
    // Twice around, upwards, then back by a half.
    let track = vec![at(0.0, [0.5, 0.5, 0.0]), at(8.0, [8.5, 0.5, 0.0]), at(10.0, [6.5, 0.5, 0.0])];
    let found =
        residence([4, 1, 1], [4.0, 1.0, 0.0], [4.0, 0.0, 0.0], std::slice::from_ref(&track));
    assert_close(&found.times, &[2.5, 2.0, 2.5, 3.0], 1e-14);
    assert_eq!((&found.visits[..], found.time_outside), (&[3, 2, 3, 3][..], 0.0));
    assert_eq!(found.particles, [1; 4]);
    assert_close(&found.first_passages, &[0.0, 0.5, 1.5, 2.5], 1e-14);
    // A part of the period, with a gap, and a single voxel that fills the period, which nothing leaves.
    let found =
        residence([2, 1, 1], [2.0, 1.0, 0.0], [4.0, 0.0, 0.0], std::slice::from_ref(&track));
    assert_close(&found.times, &[2.5, 2.0], 1e-14);
    assert_close(&[found.time_outside], &[5.5], 1e-14);
    assert_eq!(found.visits, [3, 2]);
    let found = residence([1; 3], [4.0, 1.0, 0.0], [4.0, 0.0, 0.0], &[track]);
    assert_eq!((&found.times[..], &found.visits[..]), (&[10.0][..], &[1][..]));
    assert_eq!(found.median_voxels, Some(1));
}

/// A polygon of many sides around the common corner of four voxels, whose outer faces cut it at 30 degrees from the axes.
#[test]
fn a_circle_is_divided_by_its_angles() {
    let (sides, turns) = (720, 3);
    let radius = 1.0 / 30_f64.to_radians().cos();
    let centre = [2.0, 2.0];
    let corner = |k: usize| {
        let angle = TAU * (k as f64 + 0.5) / sides as f64;
        let position = [centre[0] + radius * angle.cos(), centre[1] + radius * angle.sin(), 0.3];
        at(k as f64 / sides as f64, position)
    };
    let track: Vec<Point> = (0..=turns * sides).map(corner).collect();
    let found = residence([4, 4, 1], [4.0, 4.0, 0.0], [0.0; 3], &[track]);
    // Of a quadrant, the middle 30 of 90 degrees are in the inner voxel.
    let part = |degrees: f64| turns as f64 * degrees / 360.0;
    let (inner, edge, none) = (part(30.0), part(30.0), 0.0);
    let expected = [
        [none, edge, edge, none],
        [edge, inner, inner, edge],
        [edge, inner, inner, edge],
        [none, edge, edge, none],
    ];
    assert_close(&found.times, expected.as_flattened(), 1e-4);
    // It starts in the voxel to the right of the middle, which it enters in each of three turns, and again at its end.
    assert_eq!(found.visits, [0, 3, 3, 0, 3, 3, 3, 3, 3, 3, 3, 4, 0, 3, 3, 0]);
    assert_close(&[found.first_passages[10]], &[part(29.75) / turns as f64], 1e-4);
    assert_eq!((found.num_particles, found.num_visitors, found.median_voxels), (1, 1, Some(1)));
}

#[test]
fn visits_are_entries_and_releases() {
    let track = |xs: &[f64]| {
        let point = |(k, x): (usize, &f64)| at(k as f64, [*x, 0.0, 0.0]);
        xs.iter().enumerate().map(point).collect::<Vec<_>>()
    };
    // To and fro, from outside, along a face, at rest on the high face, one outside, and one that goes nowhere.
    let tracks = [
        track(&[0.5, 1.5, 0.5, 0.25]),
        track(&[-1.0, 0.5]),
        track(&[1.0, 1.0, 1.0]),
        track(&[2.0, 2.0]),
        track(&[2.5, 4.5]),
        track(&[0.5]),
        track(&[f64::NAN]),
    ];
    let found = residence([2, 1, 1], [2.0, 0.0, 0.0], [0.0; 3], &tracks);
    assert_eq!((&found.visits[..], &found.particles[..]), (&[4, 3][..], &[3, 3][..]));
    let third = 1.0 / 3.0;
    assert_close(&found.times, &[2.0 + third, 4.0], 1e-14);
    assert_close(&found.mean_first_passages, &[2.0 * third / 3.0, 0.5 / 3.0], 1e-14);
    assert_eq!(found.first_passages, [0.0; 2]);
    assert_close(&[found.time_outside], &[1.0 + 2.0 * third], 1e-14);
    assert_eq!((found.num_particles, found.num_visitors), (6, 5));
}

#[test]
fn voxels_are_checked() {
    let voxels = Voxels::cubes([0.0, -1.0, 2.0], [2.0, 0.0, 2.0], 64);
    assert_eq!(voxels.counts, [64, 32, 1]);
    assert_eq!(Voxels::cubes([0.0; 3], [100.0, 1.0, 0.1], 10).counts, [10, 1, 1]);
    let problem = |change: &dyn Fn(&mut Voxels), periods| {
        let mut voxels = voxels;
        change(&mut voxels);
        Residence::new(voxels, periods).unwrap_err().to_string()
    };
    let none = [0.0; 3];
    for (found, parts) in [
        (problem(&|of| of.counts[1] = 0, none), ["along y is 0", "1 or more"]),
        (
            problem(&|of| of.counts = [1 << 20, 1 << 20, 1], none),
            ["1048576 x 1048576 x 1", "at most"],
        ),
        (problem(&|of| of.counts = [usize::MAX; 3], none), ["voxels; give at most", "268435456"]),
        (problem(&|of| of.counts[2] = 2, none), ["2 voxels along z", "from 2 to 2; give 1"]),
        (problem(&|of| of.low[0] = 3.0, none), ["from 3 to 2 along x", "lower one first"]),
        (problem(&|of| of.high[0] = f64::NAN, none), ["along x", "finite corners"]),
        (problem(&|_| (), [1.5, 0.0, 0.0]), ["from 0 to 2 along x", "the period 1.5"]),
    ] {
        assert!(parts.iter().all(|part| found.contains(part)), "{found}");
    }
    let empty = Residence::new(voxels, none).unwrap().result();
    assert_eq!((empty.median_voxels, empty.num_particles), (None, 0));
}
