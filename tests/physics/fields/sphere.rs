//! Fields of longitude and latitude: tracks on a sphere against flows with known tracks.

use crate::common::*;
use burn::tensor::Tensor;
use burntrace::{
    Allowed, BoundaryCondition, EARTH_RADIUS, Face, FieldOptions, GridField, Obstacle, Placement,
    RandomWalk, SaveAt, Scheme, Seeds, Shape, Solver, Tolerance, Tracer,
};
use std::f64::consts::{PI, TAU};

const DAY: f64 = 86_400.0;

fn options(radius: f64) -> FieldOptions {
    FieldOptions { radius: Some(radius), ..FieldOptions::default() }
}

/// Longitudes once around from `west`, and latitudes, `cells` between the equator and a pole, without the poles.
fn globe(west: f64, cells: usize) -> [Vec<f64>; 3] {
    let spacing = 90.0 / cells as f64;
    let lat = (0..2 * cells).map(|j| -90.0 + spacing * (j as f64 + 0.5)).collect();
    [even_axis(west, west + 360.0, 4 * cells), lat, vec![0.0]]
}

/// Solid rotation (Williamson et al. 1992) once in 12 days about an axis at an angle from that of the earth.
fn rotation(angle: f64) -> impl Fn([f64; 3], f64) -> [f64; 3] {
    let (speed, (sin, cos)) = (TAU * EARTH_RADIUS / (12.0 * DAY), angle.to_radians().sin_cos());
    move |[lon, lat, _], _| {
        let (lon, lat) = (lon.to_radians(), lat.to_radians());
        [speed * (lat.cos() * cos + lat.sin() * lon.cos() * sin), -speed * lon.sin() * sin, 0.0]
    }
}

/// The distance of two positions in metres, on the sphere.
fn metres(a: [f64; 3], b: [f64; 3]) -> f64 {
    let unit = |[lon, lat, _]: [f64; 3]| {
        let ((sin_lon, cos_lon), (sin_lat, cos_lat)) =
            (lon.to_radians().sin_cos(), lat.to_radians().sin_cos());
        [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat]
    };
    let (a, b) = (unit(a), unit(b));
    let chord: f64 = (0..3).map(|d| (a[d] - b[d]).powi(2)).sum();
    2.0 * EARTH_RADIUS * (0.5 * chord.sqrt()).asin()
}

fn largest(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    a.iter().zip(b).map(|(a, b)| metres(*a, *b)).fold(0.0, f64::max)
}

/// Traces on the whole sphere, in 12 days of steps of `hours`.
fn around<'a>(field: &'a GridField, hours: f64) -> Tracer<'a> {
    Tracer::new(field)
        .face(Face::XLow, BoundaryCondition::Periodic)
        .face(Face::XHigh, BoundaryCondition::Periodic)
        .span(span(0.0, 12.0 * DAY, hours * 3600.0))
        .scheme(Scheme::Rk4)
}

/// Past a pole at half a degree, across the seam, along the equator, and elsewhere.
const STARTS: [[f64; 3]; 4] =
    [[269.5, 0.0, 0.0], [359.0, -20.0, 0.0], [10.0, 30.0, 0.0], [180.0, 0.0, 0.0]];

#[test]
fn solid_rotation_past_a_pole_comes_back_by_the_error_of_the_grid() {
    let seeds = Seeds::list(STARTS.to_vec()).unwrap();
    for machine in exact_machines() {
        let error = |cells: usize| {
            let frames = Frames::new(globe(0.0, cells), Placement::Nodes, &[0.0], rotation(90.0));
            let field = machine.load(&frames, options(EARTH_RADIUS));
            let tracer = around(&field, 1.0);
            largest(trace(&tracer, &seeds).last(), &STARTS)
        };
        let errors = [45, 90].map(error);
        assert!(errors[1] < 3000.0, "{machine}: {errors:?}");
        let order = (errors[0] / errors[1]).log2();
        assert!((1.8..2.2).contains(&order), "{machine}: {errors:?}");
    }
}

#[test]
fn single_precision_and_cards_follow_within_metres() {
    let frames = Frames::new(globe(0.0, 45), Placement::Nodes, &[0.0], rotation(90.0));
    let seeds = Seeds::list(STARTS.to_vec()).unwrap();
    let mut exact = None;
    for machine in exact_machines().into_iter().take(1).chain(machines()) {
        let field = machine.load(&frames, options(EARTH_RADIUS));
        let tracer = around(&field, 1.0).save(SaveAt::EverySteps(12)).save_velocity(true);
        let run = trace(&tracer, &seeds);
        let expected = exact.get_or_insert_with(|| run.clone());
        for (save, expected) in run.saves.iter().zip(&expected.saves) {
            let bound = if machine.is_double() { 1e-4 } else { 10.0 };
            assert_below(&format!("{machine}, metres"), largest(save, expected), bound);
        }
        let found = run.velocities.unwrap();
        let velocities = found.iter().zip(expected.velocities.as_ref().unwrap());
        let worst = velocities.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Components along the axes turn fast near a pole.
        assert_below(
            &format!("{machine}, velocities"),
            worst,
            if machine.is_double() { 1e-6 } else { 0.05 },
        );
    }
}

#[test]
fn the_seam_is_nowhere() {
    let seeds = Dice(7).points([-180.0, -85.0, 0.0], [180.0, 85.0, 0.0], 50);
    for machine in exact_machines() {
        let runs = [-180.0, 0.0, 36.0, -315.0].map(|west| {
            let frames = Frames::new(globe(west, 30), Placement::Nodes, &[0.0], rotation(60.0));
            let field = machine.load(&frames, options(EARTH_RADIUS));
            let inside =
                |[lon, lat, z]: &[f64; 3]| [west + (lon - west).rem_euclid(360.0), *lat, *z];
            let seeds = Seeds::list(seeds.iter().map(inside).collect()).unwrap();
            trace(&around(&field, 3.0), &seeds).last().to_vec()
        });
        for run in &runs[1..] {
            assert_below(&machine.to_string(), largest(run, &runs[0]), 1e-5);
        }
    }
}

/// Nair and Lauritzen (2010), case 2: a deformation that turns back; on the unit sphere, in a time of 5.
fn deformation([lon, lat, _]: [f64; 3], t: f64) -> [f64; 3] {
    let (lon, lat) = (lon.to_radians(), lat.to_radians());
    let turn = (PI * t / 5.0).cos();
    [
        2.0 * lon.sin().powi(2) * (2.0 * lat).sin() * turn,
        2.0 * (2.0 * lon).sin() * lat.cos() * turn,
        0.0,
    ]
}

#[test]
fn deformation_turns_back_by_the_order_of_the_scheme() {
    let times = even_axis(0.0, 5.0, 100);
    let start = [1_f64.to_degrees(), 0.5_f64.to_degrees(), 0.0];
    let seeds = Seeds::list(vec![start]).unwrap();
    for machine in exact_machines() {
        let frames = Frames::new(globe(0.0, 45), Placement::Nodes, &times, deformation);
        let field = machine.load(&frames, options(1.0));
        let run = |n: u64| {
            let tracer = Tracer::new(&field)
                .face(Face::XLow, BoundaryCondition::Periodic)
                .face(Face::XHigh, BoundaryCondition::Periodic)
                .span(steps(0.0, 5.0, n))
                .save(SaveAt::EverySteps(n / 2));
            let run = trace(&tracer, &seeds);
            (run.saves[1][0], largest(run.last(), &[start]) / EARTH_RADIUS)
        };
        let (middle, error) = run(400);
        let expected = [1.000_074_084_0_f64.to_degrees(), -0.500_087_058_0_f64.to_degrees(), 0.0];
        assert_below("half way", largest(&[middle], &[expected]) / EARTH_RADIUS, 2e-3);
        assert_below("turned back", error, 1e-5);
    }
}

#[test]
fn adaptive_steps_and_other_schemes_agree_on_a_sphere() {
    let frames = Frames::new(globe(0.0, 45), Placement::Nodes, &[0.0], rotation(90.0));
    let seeds = Seeds::list(STARTS.to_vec()).unwrap();
    for machine in exact_machines() {
        let field = machine.load(&frames, options(EARTH_RADIUS));
        let fine = trace(&around(&field, 1.0 / 64.0), &seeds);
        // Each of some 1,000 cells that are crossed may cost a tolerance of the radius.
        for tolerance in [1e-9, 1e-11] {
            let solver = Solver::adaptive(Tolerance::new(tolerance, 0.0));
            let run = trace(&around(&field, 24.0).solver(solver), &seeds);
            let bound = 5e3 * tolerance * EARTH_RADIUS;
            assert_below("adaptive", largest(run.last(), fine.last()), bound);
        }
        for (scheme, bound) in [(Scheme::DormandPrince, 20.0), (Scheme::Heun, 2e4)] {
            let run = trace(&around(&field, 1.0).scheme(scheme), &seeds);
            assert_below(scheme.name(), largest(run.last(), fine.last()), bound);
        }
    }
}

#[test]
fn levels_drift_and_walks_are_in_metres() {
    let [lon, lat, _] = globe(0.0, 18);
    let axes = [lon, lat, vec![-1000.0, -500.0, 0.0]];
    let velocity =
        |[_, lat, z]: [f64; 3], _: f64| [lat.to_radians().cos() * z / 1000.0, 0.0, -1e-3];
    let frames = Frames::new(axes, Placement::Nodes, &[0.0], velocity);
    for machine in some_machines() {
        let field = machine.load(&frames, options(EARTH_RADIUS));
        let tracer = Tracer::new(&field)
            .face(Face::XLow, BoundaryCondition::Periodic)
            .face(Face::XHigh, BoundaryCondition::Periodic)
            .span(span(0.0, DAY, 3600.0))
            .drift([0.0, 0.0, -2e-3]);
        let seeds = Seeds::list(vec![[30.0, 60.0, -200.0], [200.0, -45.0, -10.0]]).unwrap();
        let run = trace(&tracer, &seeds);
        for ([lon, lat, z], [lon0, lat0, z0]) in run.last().iter().zip(seeds.positions()) {
            let fell = 3e-3 * DAY;
            assert!((z - (z0 - fell)).abs() < 0.05, "{machine}: {z}");
            let angle = (z0 - 0.5 * fell) / 1000.0 * DAY / EARTH_RADIUS;
            let expected = [lon0 + angle.to_degrees(), *lat0, 0.0];
            assert_below(
                &format!("{machine}: {lon}, {lat}"),
                metres([*lon, *lat, 0.0], expected),
                60.0,
            );
        }
        let walk = RandomWalk::isotropic(1000.0, 3);
        let still = Frames::new(globe(0.0, 18), Placement::Nodes, &[0.0], |_, _| [0.0; 3]);
        let field = machine.load(&still, options(EARTH_RADIUS));
        for start in [[12.0, 0.0, 0.0], [12.0, 89.95, 0.0]] {
            let tracer = Tracer::new(&field)
                .face(Face::XLow, BoundaryCondition::Periodic)
                .face(Face::XHigh, BoundaryCondition::Periodic)
                .span(span(0.0, DAY, 3600.0))
                .random_walk(walk.clone());
            let ends = trace(&tracer, &Seeds::list(vec![start; 4000]).unwrap());
            let square = |end: &[f64; 3]| metres(*end, start).powi(2) / 4000.0;
            let mean: f64 = ends.last().iter().map(square).sum();
            let ratio = mean / (4.0 * 1000.0 * DAY);
            assert!((0.94..1.06).contains(&ratio), "{machine} from {start:?}: {ratio}");
        }
    }
}

/// Degrees added by an operation after each step are those of a path, also where it wraps longitudes itself.
#[test]
fn operations_after_each_step_may_wrap_longitudes() {
    let still = Frames::new(globe(0.0, 9), Placement::Nodes, &[0.0], |_, _| [0.0; 3]);
    let seeds = Seeds::list(STARTS.to_vec()).unwrap();
    for machine in some_machines() {
        let field = machine.load(&still, options(EARTH_RADIUS));
        let tracer = around(&field, 12.0).each_step(|step| {
            let [lon, rest] = [step.after.clone().narrow(1, 0, 1), step.after.narrow(1, 1, 2)];
            let lon = lon.add_scalar(7.0);
            let turns = lon.clone().div_scalar(360.0).floor();
            Tensor::cat(vec![lon - turns.mul_scalar(360.0), rest], 1)
        });
        let run = trace(&tracer, &seeds);
        for ([lon, lat, _], [lon0, lat0, _]) in run.last().iter().zip(STARTS) {
            let expected = (lon0 + 24.0 * 7.0).rem_euclid(360.0);
            let off = (lon - expected).abs().max((lat - lat0).abs());
            assert_below(&format!("{machine}: {lon}, {lat}"), off, 2e-3);
        }
        let crossed = STARTS.iter().filter(|[lon, ..]| lon + 24.0 * 7.0 >= 360.0).count();
        assert_eq!(run.image.iter().filter(|image| image[0] == 1).count(), crossed, "{machine}");
    }
}

#[test]
fn what_has_no_meaning_on_a_sphere_is_refused() {
    let machine = &exact_machines()[0];
    let frames = Frames::new(globe(0.0, 9), Placement::Nodes, &[0.0], rotation(0.0));
    let load = |frames: &Frames, radius| {
        GridField::load(&mut frames.clone(), &machine.device, &options(radius))
    };
    let field = load(&frames, EARTH_RADIUS).unwrap();
    let seeds = Seeds::list(STARTS.to_vec()).unwrap();
    let around = || around(&field, 1.0);
    let ball = Obstacle {
        shape: Shape::Sphere { centre: [0.0; 3], radius: 1.0 },
        allowed: Allowed::Outside,
        surface: BoundaryCondition::Reflect,
    };
    for (tracer, what) in [
        (around().obstacle(ball), "obstacles"),
        (around().drift([0.1, 0.0, 0.0]), "a drift towards the east"),
    ] {
        let error = tracer.trace(&seeds).unwrap_err().to_string();
        assert!(error.contains(what) && error.contains("a field on a sphere"), "{error}");
    }
    let wrong = |axes: [Vec<f64>; 3], radius| {
        let frames = Frames::new(axes, Placement::Nodes, &[0.0], |_, _| [0.0; 3]);
        load(&frames, radius).unwrap_err().to_string()
    };
    let [lon, lat, z] = globe(0.0, 9);
    assert!(wrong([lon.clone(), lat.clone(), z.clone()], -1.0).contains("radius is -1"));
    assert!(wrong([lon.clone(), vec![80.0, 100.0], z.clone()], 1.0).contains("80 to 100"));
    assert!(wrong([even_axis(0.0, 400.0, 4), lat, z.clone()], 1.0).contains("0 to 400"));
    assert!(wrong([lon, vec![80.0], z], 1.0).contains("at least two"));
}
