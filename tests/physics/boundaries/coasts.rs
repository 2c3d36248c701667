//! Coasts: land of a grid, the velocity beside it, and what happens to particles that come to it.

use crate::common::*;
use burn::tensor::{Tensor, TensorData};
use burntrace::{
    BoundaryCondition::{self, Exit, Periodic, Reflect, Slide, Stick},
    EARTH_RADIUS, Engine, Error, Face, FieldOptions, Frames as Held, GridField, NotFinite,
    Placement, Precision, RandomWalk, SaveAt, Seeds, SeedsOutside, Slip, Solver, Status, Tolerance,
    Tracer,
};
use std::collections::HashMap;

const NAN: [f64; 3] = [f64::NAN; 3];

fn land(slip: Slip) -> FieldOptions {
    FieldOptions { not_finite: NotFinite::Land, slip, ..FieldOptions::default() }
}

/// A channel along x with two rows of land on either side, and 10 rows of water from y = 0 to 0.9, with a flow of 1.
fn channel() -> Frames {
    let axes = [even_axis(0.0, 2.0, 8), even_axis(-0.2, 1.1, 13), vec![0.0]];
    let flow = |[_, y, _]: [f64; 3], _: f64| {
        if (-0.05..0.95).contains(&y) { [1.0, 0.0, 0.0] } else { NAN }
    };
    Frames::new(axes, Placement::Nodes, &[0.0], flow)
}

#[test]
fn the_velocity_beside_land_follows_from_the_slip() {
    // Half way, and nearly all the way, from the first row of water to the coast.
    let seeds = Seeds::list(vec![[0.2, 0.45, 0.0], [0.2, -0.025, 0.0], [0.2, 0.949, 0.0]]).unwrap();
    for machine in machines() {
        for (slip, expected) in [
            (Slip::No, [1.0, 0.75, 0.51]),
            (Slip::Partial, [1.0, 0.875, 0.755]),
            (Slip::Free, [1.0, 1.0, 1.0]),
        ] {
            let field = machine.load(&channel(), land(slip));
            let run = trace(&Tracer::new(&field).span(steps(0.0, 1.0, 10)), &seeds);
            for ((end, start), speed) in run.last().iter().zip(seeds.positions()).zip(expected) {
                let error = (end[0] - start[0] - speed).abs().max((end[1] - start[1]).abs());
                assert_below(&format!("{machine}, {slip:?}"), error, 40.0 * machine.eps());
            }
        }
    }
}

#[test]
fn particles_meet_the_coast_midway_between_nodes() {
    // Water up to x = 1, land from 1.25 on; beside the last column the flow falls from 1 at x = 1 to 0 at 1.25.
    let axes = [even_axis(0.0, 2.0, 8), even_axis(0.0, 1.0, 4), vec![0.0]];
    let flow = |[x, ..]: [f64; 3], _: f64| if x < 1.1 { [1.0, 0.0, 0.0] } else { NAN };
    let frames = Frames::new(axes, Placement::Nodes, &[0.0], flow);
    let time = 0.5 + 0.25 * 2_f64.ln();
    for machine in machines() {
        let field = machine.load(&frames, land(Slip::Free));
        for (condition, status) in [(Stick, Status::Beached), (Exit, Status::LeftField)] {
            for engine in machine.engines() {
                let tracer =
                    Tracer::new(&field).span(steps(0.0, 2.0, 400)).engine(*engine).coast(condition);
                let run = trace(&tracer, &Seeds::list(vec![[0.5, 0.3, 0.0]]).unwrap());
                assert_eq!(run.status, [status], "{machine}");
                let off = distance(run.last(), &[[1.125, 0.3, 0.0]]);
                assert_below(&format!("{machine}: coast"), off, 40.0 * machine.eps());
                assert_below(&format!("{machine}: time"), (run.end_time[0] - time).abs(), 2e-5);
            }
        }
        let tracer = Tracer::new(&field).span(steps(0.0, 2.0, 400)).coast(Slide);
        let run = trace(&tracer, &Seeds::list(vec![[0.5, 0.3, 0.0]]).unwrap());
        assert_eq!(run.status, [Status::Active]);
        assert_below("slides", distance(run.last(), &[[1.125, 0.3, 0.0]]), 40.0 * machine.eps());
    }
}

/// Random land in a box, and a random flow over it in three frames.
struct Sea {
    frames: Frames,
    is_land: Vec<bool>,
}

fn sea(axes: [Vec<f64>; 3], speed: f64, seed: u64) -> Sea {
    let mut dice = Dice(seed);
    let count = axes.iter().map(Vec::len).product();
    let is_land: Vec<bool> = (0..count).map(|_| dice.between(0.0, 1.0) < 0.35).collect();
    let mut frames = Frames::new(axes, Placement::Nodes, &[0.0, 0.5, 1.0], |_, _| {
        [(); 3].map(|()| dice.between(-speed, speed))
    });
    for frame in &mut frames.values {
        for (i, velocity) in frame.chunks_mut(3).enumerate() {
            if is_land[i] {
                velocity.fill(f64::NAN);
            }
        }
    }
    Sea { frames, is_land }
}

impl Sea {
    fn nodes(&self) -> [usize; 3] {
        self.frames.axes.each_ref().map(Vec::len)
    }

    /// The node nearest to a position; of two, the upper one.
    fn nearest(&self, p: [f64; 3]) -> usize {
        let along = |d: usize| {
            let axis = &self.frames.axes[d];
            axis.windows(2).filter(|pair| 0.5 * (pair[0] + pair[1]) <= p[d]).count()
        };
        let [nx, ny, _] = self.nodes();
        along(0) + nx * (along(1) + ny * along(2))
    }

    /// The number of the sea that each node belongs to: water that is connected by faces of its cells, around the earth in
    /// x if it `wraps`; 0 for land.
    fn seas(&self, wraps: bool) -> Vec<usize> {
        let [nx, ny, nz] = self.nodes();
        let mut seas = vec![0; nx * ny * nz];
        for first in 0..seas.len() {
            let mut open = vec![first];
            while let Some(i) = open.pop() {
                if self.is_land[i] || seas[i] != 0 {
                    continue;
                }
                seas[i] = first + 1;
                let (x, y, z) = (i % nx, i / nx % ny, i / (nx * ny));
                let ends = |at: usize, count: usize, stride: usize| {
                    [(at > 0).then(|| i - stride), (at + 1 < count).then(|| i + stride)]
                };
                open.extend(
                    [ends(x, nx, 1), ends(y, ny, nx), ends(z, nz, nx * ny)]
                        .as_flattened()
                        .iter()
                        .flatten(),
                );
                let across = [(x == 0, i + nx - 1), (x + 1 == nx, i.wrapping_sub(nx - 1))];
                open.extend(
                    across
                        .iter()
                        .filter(|(is_there, _)| wraps && *is_there)
                        .map(|(_, other)| other),
                );
            }
        }
        seas
    }
}

/// Follows particles from random places in the water through all saves: none is ever on land, or in another sea.
fn check_seas(
    sea: &Sea,
    wraps: bool,
    tracer: &Tracer,
    seeds: &Seeds,
    what: &str,
) -> HashMap<Status, usize> {
    let seas = sea.seas(wraps);
    let run = trace(&tracer.clone().save(SaveAt::EverySteps(1)), seeds);
    let home: Vec<usize> = seeds.positions().iter().map(|p| seas[sea.nearest(*p)]).collect();
    for save in &run.saves {
        for (i, (position, home)) in save.iter().zip(&home).enumerate() {
            let here = seas[sea.nearest(*position)];
            assert_eq!(
                here,
                *home,
                "{what}: particle {i} from {:?} is at {position:?}",
                seeds.positions()[i]
            );
        }
    }
    let mut counts = HashMap::new();
    run.status.iter().for_each(|status| *counts.entry(*status).or_default() += 1);
    assert_eq!(counts.values().sum::<usize>(), seeds.len());
    counts
}

fn seeds_in_water(sea: &Sea, count: usize, seed: u64) -> Seeds {
    let axes = &sea.frames.axes;
    let ends = |at: fn(&Vec<f64>) -> f64| axes.each_ref().map(at);
    let (low, high) = (ends(|axis| axis[0]), ends(|axis| axis[axis.len() - 1]));
    let points = Dice(seed).points(low, high, 3 * count);
    let water = points.into_iter().map(|p| p.map(|x| f64::from(x as f32)));
    Seeds::list(water.filter(|p| !sea.is_land[sea.nearest(*p)]).take(count).collect()).unwrap()
}

/// Nodes whose midpoints are numbers in single precision, so that all precisions agree about what is land.
fn rough_axis(count: usize) -> Vec<f64> {
    let mut at = 0.0;
    (0..count)
        .map(|i| {
            at += [0.25, 0.125, 0.5, 0.25][i % 4];
            at
        })
        .collect()
}

#[test]
fn nobody_crosses_land() {
    let axes = [even_axis(0.0, 8.0, 32), rough_axis(24), rough_axis(5)];
    for (number, machine) in some_machines().into_iter().enumerate() {
        let (count, steps_) = if number == 0 {
            (3000, 800)
        } else if machine.is_cpu() {
            (400, 100)
        } else {
            (200, 40)
        };
        let sea = sea(axes.clone(), 20.0, 5);
        let seeds = seeds_in_water(&sea, count, 6);
        let field = machine.load(&sea.frames, land(Slip::Free));
        for condition in [Stick, Slide, Reflect, Exit] {
            let tracer = Tracer::new(&field)
                .span(steps(0.0, 1.0, steps_))
                .coast(condition)
                .all_faces(Reflect);
            let counts =
                check_seas(&sea, false, &tracer, &seeds, &format!("{machine}, {condition:?}"));
            let of = |status| counts.get(&status).copied().unwrap_or(0);
            let (beached, left) = (of(Status::Beached), of(Status::LeftField));
            assert_eq!(of(Status::Active) + beached + left, seeds.len(), "{counts:?}");
            assert_eq!(beached > count / 2, condition == Stick, "{counts:?}");
            assert_eq!(left > count / 2, condition == Exit, "{counts:?}");
        }
    }
}

#[test]
fn nobody_crosses_land_by_other_motions() {
    let sea = sea([even_axis(0.0, 8.0, 32), rough_axis(24), vec![0.0]], 20.0, 8);
    for machine in some_machines() {
        let count = if machine.is_cpu() { 300 } else { 100 };
        let seeds = seeds_in_water(&sea, count, 9);
        let field = machine.load(&sea.frames, land(Slip::No));
        // A card has the same kernel for all conditions.
        let conditions = if machine.is_cpu() { &[Stick, Slide, Reflect][..] } else { &[Slide] };
        for condition in conditions.iter().copied() {
            let what = format!("{machine}, {condition:?}");
            let plain =
                Tracer::new(&field).span(steps(0.0, 1.0, 40)).coast(condition).all_faces(Reflect);
            let walk = plain.clone().random_walk(RandomWalk::isotropic(3.0, 1));
            check_seas(&sea, false, &walk, &seeds, &format!("{what}, walk"));
            let solver = Solver::adaptive(Tolerance::new(1e-3, 1e-3));
            let adaptive =
                Tracer::new(&field).span(steps(0.0, 1.0, 40)).coast(condition).all_faces(Reflect);
            check_seas(&sea, false, &adaptive.solver(solver), &seeds, &format!("{what}, adaptive"));
            let backward =
                Tracer::new(&field).span(steps(1.0, 0.0, 40)).coast(condition).all_faces(Reflect);
            check_seas(&sea, false, &backward, &seeds, &format!("{what}, backward"));
            if machine.is_cpu() {
                check_seas(
                    &sea,
                    false,
                    &plain.engine(Engine::Tensor),
                    &seeds,
                    &format!("{what}, tensor"),
                );
            }
        }
    }
}

#[test]
fn nobody_crosses_land_on_a_sphere() {
    // Longitudes and latitudes with midpoints that are numbers in single precision, around the earth.
    let degrees =
        |first: f64, count: i32| (0..count).map(|i| first + 3.75 * f64::from(i)).collect();
    let sea = sea([degrees(-180.0, 96), degrees(-75.0, 41), vec![0.0]], 1.0, 11);
    let mut closed = sea.frames.clone();
    closed.axes[0].push(180.0);
    for frame in &mut closed.values {
        let rows = frame.chunks(3 * 96).map(|row| [row, &row[..3]].concat());
        *frame = rows.collect::<Vec<_>>().concat();
    }
    for machine in some_machines() {
        let count = if machine.is_cpu() { 500 } else { 100 };
        let seeds = seeds_in_water(&sea, count, 12);
        let options = FieldOptions { radius: Some(EARTH_RADIUS), ..land(Slip::Partial) };
        let field = machine
            .load(&closed, FieldOptions { outside_time: burntrace::OutsideTime::Hold, ..options });
        for condition in [Stick, Slide, Reflect] {
            let tracer = Tracer::new(&field)
                .face(Face::XLow, Periodic)
                .face(Face::XHigh, Periodic)
                .face(Face::YLow, Slide)
                .face(Face::YHigh, Slide)
                .span(steps(0.0, 2e6, 60))
                .coast(condition);
            check_wrapped(&sea, &tracer, &seeds, &format!("{machine}, {condition:?}"));
        }
    }
}

/// As [`check_seas`], where the last half of a cell belongs to the first column again.
fn check_wrapped(sea: &Sea, tracer: &Tracer, seeds: &Seeds, what: &str) {
    let seas = sea.seas(true);
    let here = |p: [f64; 3]| {
        let x = if p[0] >= 178.125 { p[0] - 360.0 } else { p[0] };
        seas[sea.nearest([x, p[1], p[2]])]
    };
    let run = trace(&tracer.clone().save(SaveAt::EverySteps(1)), seeds);
    for save in &run.saves {
        for (position, start) in save.iter().zip(seeds.positions()) {
            assert_eq!(here(*position), here(*start), "{what}: from {start:?} to {position:?}");
        }
    }
}

#[test]
fn frames_that_are_streamed_have_the_same_land() {
    let sea = sea([even_axis(0.0, 8.0, 32), rough_axis(24), vec![0.0]], 5.0, 14);
    let seeds = seeds_in_water(&sea, 100, 15);
    for machine in exact_machines() {
        let runs = [Held::All, Held::Streamed(3)].map(|frames| {
            let options = FieldOptions { frames, ..land(Slip::Free) };
            let options = FieldOptions { precision: machine.precision, ..options };
            let field =
                GridField::open(Box::new(sea.frames.clone()), &machine.device, &options).unwrap();
            trace(&Tracer::new(&field).span(steps(0.0, 1.0, 40)).coast(Slide), &seeds).saves
        });
        assert_eq!(runs[0], runs[1]);
    }
}

#[test]
fn gradients_at_coasts_agree_with_differences() {
    let sea = sea([even_axis(0.0, 8.0, 16), even_axis(0.0, 4.0, 8), vec![0.0]], 4.0, 21);
    let starts = seeds_in_water(&sea, 40, 22).positions().to_vec();
    for machine in exact_machines().into_iter().take(1) {
        let field = machine.load(&sea.frames, land(Slip::Free));
        for condition in [Stick, Slide, Reflect] {
            let tracer =
                Tracer::new(&field).span(steps(0.0, 1.0, 30)).coast(condition).all_faces(Reflect);
            let sum =
                |p: &[[f64; 3]]| trace(&tracer, &Seeds::list(p.to_vec()).unwrap()).last().to_vec();
            let data = TensorData::new(starts.as_flattened().to_vec(), [starts.len(), 3]);
            let device = machine.device.clone().autodiff();
            let start =
                Tensor::<2>::from_data(data, (&device, Precision::F64.dtype())).require_grad();
            let tracks = tracer.trace(&Seeds::from_tensor(start.clone()).unwrap()).unwrap();
            let loss = tracks.saves().last().unwrap().position.clone().sum();
            let found = rows(start.grad(&loss.backward()).unwrap());
            let width = 1e-7;
            let mut agreeing = 0;
            for d in 0..2 {
                let moved = |by: f64| {
                    let moved: Vec<_> = starts
                        .iter()
                        .map(|p| {
                            let mut p = *p;
                            p[d] += by;
                            p
                        })
                        .collect();
                    sum(&moved)
                };
                let (before, after) = (moved(-width), moved(width));
                for i in 0..starts.len() {
                    let difference: f64 =
                        (0..3).map(|c| (after[i][c] - before[i][c]) / (2.0 * width)).sum();
                    agreeing += usize::from(
                        (found[i][d] - difference).abs() < 1e-4 * (1.0 + difference.abs()),
                    );
                }
            }
            // Few paths meet a corner, or another number of walls, within the width.
            assert!(agreeing >= 2 * starts.len() - 3, "{condition:?}: {agreeing}");
        }
    }
}

#[test]
fn what_cannot_be_land_is_refused() {
    let machine = &exact_machines()[0];
    let options = FieldOptions { precision: machine.precision, ..land(Slip::No) };
    let field = machine.load(&channel(), options);
    let seeds = Seeds::list(vec![[0.2, 0.45, 0.0], [0.2, -0.1, 0.0], [0.2, -0.06, 0.0]]).unwrap();
    let tracer = Tracer::new(&field).span(steps(0.0, 0.1, 10));
    let error = tracer.trace(&seeds).unwrap_err().to_string();
    assert!(
        error.contains("2 of 3 seeds are outside the water") && error.contains("(number 1)"),
        "{error}"
    );
    let run = trace(&tracer.clone().seeds_outside(SeedsOutside::NotLocated), &seeds);
    assert_eq!(run.status, [Status::Active, Status::NotLocated, Status::NotLocated]);
    let error = tracer.coast(BoundaryCondition::Clamp).trace(&seeds).unwrap_err().to_string();
    assert!(error.contains("the coast: its condition is `clamp`"), "{error}");
    let mut changing = Frames::new(channel().axes, Placement::Nodes, &[0.0, 1.0], |_, t| [t; 3]);
    changing.values[1][3] = f64::NAN;
    let error = GridField::load(&mut changing, &machine.device, &options).unwrap_err();
    assert!(matches!(error, Error::Land { frame: 1, count: 1, first: 1, .. }), "{error}");
}
