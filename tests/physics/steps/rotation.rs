//! Solid rotation: the exact discrete solution, and the orders of the schemes.
//!
//! x' = i w x in the plane gives z_N = R(-i w h)^N z_0 (clockwise), with R the scheme's stability
//! polynomial, on any grid: trilinear interpolation reproduces linear functions exactly.

use crate::common::*;
use burntrace::{BoundaryCondition, Placement, Scheme, Seeds, Tracer};
use std::f64::consts::TAU;

const CENTRE: f64 = 30.0;
const RATE: f64 = TAU / 86_400.0;
const TURN: f64 = 86_400.0;
/// Rate of the motion along z on three-dimensional grids: z' = -DECAY (z - 5).
const DECAY: f64 = 0.1 * RATE;

type Complex = [f64; 2];

fn times([a, b]: Complex, [c, d]: Complex) -> Complex {
    [a * c - b * d, a * d + b * c]
}

/// Stability polynomial of the fifth-order solution of Dormand and Prince, which has six stages (Hairer &
/// Wanner, Solving Ordinary Differential Equations II, section IV.2).
const DORMAND_PRINCE: [f64; 7] = [1.0, 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 600.0];

/// The stability polynomial: 1 + z + ... + z^p / p! for schemes whose order equals their number of stages.
fn stability(scheme: Scheme, z: Complex) -> Complex {
    let coefficients: &[f64] = match scheme {
        Scheme::Euler => &[1.0, 1.0],
        Scheme::Midpoint | Scheme::Heun => &[1.0, 1.0, 0.5],
        Scheme::Rk4 => &[1.0, 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0],
        Scheme::DormandPrince => &DORMAND_PRINCE,
    };
    let horner = |sum: Complex, c: &f64| {
        let [a, b] = times(sum, z);
        [a + c, b]
    };
    coefficients.iter().rev().fold([0.0; 2], horner)
}

fn power(base: Complex, n: u64) -> Complex {
    (0..n).fold([1.0, 0.0], |product, _| times(product, base))
}

fn exact(scheme: Scheme, p: [f64; 3], h: f64, n: u64, is_flat: bool) -> [f64; 3] {
    let rotated = power(stability(scheme, [0.0, -RATE * h]), n);
    let [x, y] = times(rotated, [p[0] - CENTRE, p[1] - CENTRE]);
    let [shrunk, _] = power(stability(scheme, [-DECAY * h, 0.0]), n);
    let z = if is_flat { p[2] } else { 5.0 + shrunk * (p[2] - 5.0) };
    [CENTRE + x, CENTRE + y, z]
}

/// A box large enough for the outward spiral of explicit Euler.
const LOW: f64 = -60.0;
const HIGH: f64 = 120.0;

fn rotation(axes: [Vec<f64>; 3]) -> Frames {
    let velocity =
        |[x, y, z]: [f64; 3], _| [RATE * (y - CENTRE), -RATE * (x - CENTRE), -DECAY * (z - 5.0)];
    Frames::new(axes, Placement::Nodes, &[0.0], velocity)
}

/// Different grids of the same rotation.
fn grids() -> Vec<(&'static str, Frames)> {
    let even = || even_axis(LOW, HIGH, 18);
    let stretched = |cells| stretched_axis(LOW, HIGH, cells);
    vec![
        ("flat, even", rotation([even(), even(), vec![7.0]])),
        ("flat, table", rotation([stretched(17), even(), vec![7.0]])),
        ("3-D, even", rotation([even(), even_axis(LOW, HIGH, 5), even_axis(0.0, 10.0, 4)])),
        ("3-D, table", rotation([stretched(9), stretched(14), stretched_axis(0.0, 10.0, 3)])),
    ]
}

fn seeds() -> Vec<[f64; 3]> {
    let mut seeds = vec![[50.0, 30.0, 7.0], [30.0, 30.0, 7.0], [17.0, 41.5, 7.0]];
    seeds.extend(Dice(1).points([18.0, 18.0, 7.0], [42.0, 42.0, 7.0], 20));
    seeds
}

/// Round-off: in double precision 1e-12 of the box. In single precision each of the 24 steps rounds the
/// position, of up to 120 (half an ulp: eps/2 x 120), and the coordinate in a cell, relative to the end of
/// the box (3 roundings of 180), times the step's w h = 0.26 in each of two components. Earlier errors
/// rotate with the particle, but are not amplified.
fn tolerance(machine: &Machine, n: u64) -> f64 {
    let size = HIGH - LOW;
    match machine.is_double() {
        true => 1e-12 * size,
        false => machine.eps() * (60.0 + 2.0 * 3.0 * 0.26 * size) * n as f64,
    }
}

#[test]
fn tracks_match_the_exact_discrete_solution() {
    let starts = seeds();
    let list = Seeds::list(starts.clone()).unwrap();
    for machine in machines() {
        for (name, frames) in grids() {
            let field = machine.field(&frames);
            let is_flat = frames.axes[2].len() == 1;
            for scheme in Scheme::ALL {
                for dt in [3600.0, -3600.0] {
                    let end = TURN.copysign(dt);
                    let tracer = Tracer::new(&field).scheme(scheme).span(span(0.0, end, dt));
                    let run = trace(&tracer, &list);
                    let expected: Vec<_> =
                        starts.iter().map(|p| exact(scheme, *p, dt, 24, is_flat)).collect();
                    let deviation = distance(run.last(), &expected);
                    let what = format!("{machine}, {name}, {scheme:?}, dt {dt}");
                    assert_below(&what, deviation, tolerance(&machine, 24));
                }
            }
        }
    }
}

/// Independently computed end points: 24 steps per turn, from (50, 30).
#[test]
fn end_points_of_a_turn_match_the_reference() {
    let numbers = [
        (Scheme::Euler, [73.890495814, 36.092001342]),
        (Scheme::Midpoint, [50.233634349, 28.575982741]),
        (Scheme::Heun, [50.233634349, 28.575982741]),
        (Scheme::Rk4, [49.998935420, 30.004799172]),
    ];
    let seeds = Seeds::list(vec![[50.0, 30.0, 7.0]]).unwrap();
    for machine in machines() {
        for (name, frames) in grids().into_iter().take(2) {
            let field = machine.field(&frames);
            for (scheme, [x, y]) in numbers {
                let tracer = Tracer::new(&field).scheme(scheme).span(steps(0.0, TURN, 24));
                let deviation = distance(trace(&tracer, &seeds).last(), &[[x, y, 7.0]]);
                let what = format!("{machine}, {name}, {scheme:?}");
                // The reference has nine decimals.
                assert_below(&what, deviation, tolerance(&machine, 24).max(1e-9));
            }
        }
    }
}

#[test]
fn conditions_of_faces_out_of_reach_have_no_effect() {
    let seeds = Seeds::list(seeds()).unwrap();
    for machine in machines() {
        let field = machine.field(&grids()[2].1);
        let run = |condition| {
            let tracer = Tracer::new(&field).all_faces(condition).span(steps(0.0, TURN, 24));
            trace(&tracer, &seeds)
        };
        let exit = run(BoundaryCondition::Exit);
        for condition in
            [BoundaryCondition::Periodic, BoundaryCondition::Reflect, BoundaryCondition::Clamp]
        {
            let other = run(condition);
            // The kernel for periodic axes may round differently on a GPU.
            let allowed = if machine.is_cpu() { 0.0 } else { tolerance(&machine, 24) };
            let deviation = distance(exit.last(), other.last());
            assert_below(&format!("{machine}, {condition:?}"), deviation, allowed);
            assert!(other.image.iter().all(|image| *image == [0; 3]));
        }
    }
}

/// Fitted slope of log error against log step, for doubling step counts over a quarter turn from (50, 30):
/// short, so that the leading term of the error dominates.
fn fitted_order(machine: &Machine, scheme: Scheme, numbers: &[u64]) -> f64 {
    let field = machine.field(&grids()[0].1);
    let seeds = Seeds::list(vec![[50.0, 30.0, 7.0]]).unwrap();
    let points: Vec<[f64; 2]> = numbers
        .iter()
        .map(|&n| {
            let tracer = Tracer::new(&field).scheme(scheme).span(steps(0.0, 0.25 * TURN, n));
            let [x, y, _] = trace(&tracer, &seeds).last()[0];
            let error = (x - CENTRE).hypot(y - (CENTRE - 20.0));
            [(1.0 / n as f64).ln(), error.ln()]
        })
        .collect();
    let mean = |d: usize| points.iter().map(|p| p[d]).sum::<f64>() / points.len() as f64;
    let [x, y] = [mean(0), mean(1)];
    let covariance: f64 = points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    covariance / points.iter().map(|p| (p[0] - x).powi(2)).sum::<f64>()
}

#[test]
fn observed_orders_of_the_schemes_match_the_theory() {
    for machine in machines() {
        for scheme in Scheme::ALL {
            let numbers: &[u64] = match (scheme, machine.is_double()) {
                (Scheme::Euler, _) => &[32, 64, 128, 256],
                (Scheme::Midpoint | Scheme::Heun, true) => &[16, 32, 64, 128],
                (Scheme::Rk4, true) => &[8, 16, 32, 64],
                (Scheme::DormandPrince, true) => &[4, 8, 16, 32],
                // At 32 steps the error is 1e-2, and the round-off of single precision 1e-4.
                (Scheme::Midpoint | Scheme::Heun, false) => &[8, 16, 32],
                // Single-precision round-off exceeds the error of the scheme.
                (Scheme::Rk4 | Scheme::DormandPrince, false) => continue,
            };
            let order = fitted_order(&machine, scheme, numbers);
            let deviation = (order - f64::from(scheme.order())).abs();
            assert_below(&format!("{machine}, {scheme:?}: order {order}"), deviation, 0.1);
        }
    }
}
