//! Gradients on a sphere: by values and seeds against differences, forward against backward.

use super::{
    adjoint::{self, Make, Set, TIMES, tensor, values_of, weighted},
    flow_map,
};
use crate::{common::*, lattice::Lattice};
use burntrace::{
    BoundaryCondition, Face, FieldOptions, GridField, MeshField, NotFinite, Placement, RandomWalk,
    SaveAt, Scheme, Seeds, Slip, Tolerance, Tracer,
};

/// Small, so that steps turn far.
const RADIUS: f64 = 2.0;

fn options() -> FieldOptions {
    FieldOptions { radius: Some(RADIUS), ..FieldOptions::default() }
}

fn kind(axes: [Vec<f64>; 3], options: FieldOptions) -> (usize, Box<Make>) {
    let count = axes.iter().map(Vec::len).product();
    let make = move |values| -> Box<dyn burntrace::Field> {
        let (axes, times) = (axes.clone(), TIMES.to_vec());
        Box::new(GridField::from_tensor(axes, times, Placement::Nodes, values, &options).unwrap())
    };
    (count, Box::new(make))
}

/// A part of a sphere.
fn part() -> (usize, Box<Make>) {
    let axes = [even_axis(0.0, 60.0, 4), stretched_axis(40.0, 80.0, 3), even_axis(0.0, 1.0, 2)];
    kind(axes, options())
}

/// All of it, with rows that are added at its poles.
fn globe() -> (usize, Box<Make>) {
    let axes = [even_axis(0.0, 360.0, 8), even_axis(-75.0, 75.0, 6), even_axis(0.0, 1.0, 2)];
    kind(axes, options())
}

/// The part as a mesh whose axes are turned from the parallels, with velocities at nodes or on faces.
fn mesh(placement: Placement) -> (usize, Box<Make>) {
    let lattice = Lattice::new([5, 5, 3], |[i, j, k]| {
        let (x, y) = (0.25 * i as f64, 0.25 * j as f64);
        [-5.0 + 65.0 * x + 10.0 * y * x, 38.0 + 44.0 * y - 6.0 * x * y, 0.5 * k as f64]
    });
    let count = lattice.points.len();
    let make = move |values| -> Box<dyn burntrace::Field> {
        let (mesh, times) = ((lattice.points.clone(), lattice.cells.clone()), TIMES.to_vec());
        Box::new(MeshField::from_tensor(mesh, times, placement, values, &options()).unwrap())
    };
    (count, Box::new(make))
}

fn seeds(low: [f64; 3], high: [f64; 3]) -> Seeds {
    Seeds::list(Dice(3).points(low, high, 11)).unwrap()
}

fn inside() -> Seeds {
    seeds([10.0, 45.0, 0.3], [50.0, 75.0, 0.7])
}

fn around<'a>(tracer: Tracer<'a>) -> Tracer<'a> {
    tracer
        .face(Face::XLow, BoundaryCondition::Periodic)
        .face(Face::XHigh, BoundaryCondition::Periodic)
}

/// Compares gradients by seeds with central differences.
fn check_seeds(what: &str, (count, make): &(usize, Box<Make>), seeds: &Seeds, set: &Set) {
    for machine in exact_machines() {
        let field = make(tensor(values_of(*count), [TIMES.len(), *count, 3], &machine.device));
        let tracer = Tracer::new(&*field).span(steps(0.1, 1.3, 9)).save(SaveAt::EverySteps(3));
        let tracer = set(tracer);
        let numbers = seeds.positions().to_vec().into_flattened();
        let loss = |numbers: Vec<f64>| {
            let positions = numbers.as_chunks::<3>().0.to_vec();
            let tracks = tracer.trace(&Seeds::list(positions).unwrap()).unwrap();
            floats(weighted(tracks.positions()))[0]
        };
        let device = machine.device.clone().autodiff();
        let leaf = tensor(numbers.clone(), [seeds.len(), 3], &device).require_grad();
        let tracks = tracer.trace(&Seeds::from_tensor(leaf.clone()).unwrap()).unwrap();
        let gradients = weighted(tracks.positions()).backward();
        let gradients = floats(leaf.grad(&gradients).unwrap());
        for (i, found) in gradients.into_iter().enumerate() {
            let at = |by: f64| {
                let mut moved = numbers.clone();
                moved[i] += by;
                loss(moved)
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            let off = (found - difference).abs() / difference.abs().max(1.0);
            assert_below(&format!("{what}, {machine}, {i}: {found}, {difference}"), off, 1e-6);
        }
    }
}

#[test]
fn gradients_on_a_sphere_match_central_differences_and_each_other_for_all_schemes() {
    let (count, make) = &part();
    for scheme in Scheme::ALL {
        let set: &Set = &move |tracer| tracer.scheme(scheme);
        let what = format!("{scheme:?}");
        adjoint::check(&what, make, *count, &inside(), set);
        flow_map::check(&what, make, *count, &inside(), set);
        check_seeds(&what, &part(), &inside(), set);
    }
}

#[test]
fn gradients_in_meshes_on_a_sphere_match_central_differences_and_each_other() {
    for (what, placement) in [("nodes", Placement::Nodes), ("faces", Placement::Faces)] {
        let (count, make) = &mesh(placement);
        let set: &Set = &|tracer| tracer.mesh_wall(BoundaryCondition::Slide);
        adjoint::check(what, make, *count, &inside(), set);
        flow_map::check(what, make, *count, &inside(), set);
        check_seeds(what, &mesh(placement), &inside(), set);
    }
}

#[test]
fn gradients_across_a_pole_match_central_differences_and_each_other() {
    let (count, make) = &globe();
    // Across the north pole, and across the seam.
    let near = seeds([0.0, 70.0, 0.4], [360.0, 89.0, 0.6]);
    let seam = seeds([-4.0, -30.0, 0.4], [4.0, 30.0, 0.6]);
    for seeds in [near, seam] {
        let inside =
            seeds.positions().iter().map(|[lon, lat, z]| [lon.rem_euclid(360.0), *lat, *z]);
        let seeds = Seeds::list(inside.collect()).unwrap();
        let set: &Set = &around;
        adjoint::check("globe", make, *count, &seeds, set);
        flow_map::check("globe", make, *count, &seeds, set);
        check_seeds("globe", &globe(), &seeds, set);
    }
}

#[test]
fn gradients_at_faces_of_a_sphere_and_with_walks_match_central_differences_and_each_other() {
    use BoundaryCondition::*;
    let (count, make) = &part();
    for condition in [Exit, Reflect, Slide, Stick, Clamp] {
        let set: &Set = &move |tracer| tracer.drift([0.0, 0.0, 0.3]).all_faces(condition);
        let what = format!("{condition:?}");
        adjoint::check(&what, make, *count, &inside(), set);
        flow_map::check(&what, make, *count, &inside(), set);
        check_seeds(&what, &part(), &inside(), set);
    }
    let set: &Set = &|tracer| {
        let walk = RandomWalk::isotropic(0.004, 3);
        tracer.random_walk(walk).stagnant_speed(0.02).all_faces(Reflect)
    };
    adjoint::check("walk", make, *count, &inside(), set);
    flow_map::check("walk", make, *count, &inside(), set);
    check_seeds("walk", &part(), &inside(), set);
    let adaptive: &Set = &|tracer| {
        let tracer = tracer.scheme(Scheme::DormandPrince).all_faces(Reflect);
        tracer.tolerance(Tolerance::new(1e-6, 0.0))
    };
    flow_map::check("adaptive", make, *count, &inside(), adaptive);
}

#[test]
fn gradients_on_a_sphere_are_those_of_double_precision_on_every_machine() {
    let seeds = inside();
    let mut exact: Option<Vec<f64>> = None;
    for machine in exact_machines().into_iter().take(1).chain(some_machines()) {
        let velocity = |[lon, lat, z]: [f64; 3], t: f64| {
            [0.4 + 0.01 * lat, 0.3 * (0.1 * lon + t).sin(), 0.2 * (z - 0.5) * (0.1 * lon).cos()]
        };
        let axes = [even_axis(0.0, 60.0, 12), even_axis(30.0, 85.0, 11), even_axis(0.0, 1.0, 2)];
        let frames = Frames::new(axes, Placement::Nodes, &TIMES, velocity);
        let field = machine.load(&frames, options());
        let tracer = Tracer::new(&field).span(steps(0.1, 1.3, 9)).flow_map_gradient(true);
        let tracks = tracer.trace(&seeds).unwrap();
        let found = floats(tracks.array(burntrace::FLOW_MAP_GRADIENT).unwrap());
        let expected = exact.get_or_insert_with(|| found.clone());
        let bound = if machine.is_double() { 1e-9 } else { 1e-3 };
        for (found, expected) in found.iter().zip(expected) {
            let off = (found - *expected).abs() / expected.abs().max(1.0);
            assert_below(&format!("{machine}: {found}, {expected}"), off, bound);
        }
    }
}

#[test]
fn gradients_at_coasts_of_a_sphere_match_central_differences() {
    let axes = [even_axis(0.0, 60.0, 12), even_axis(40.0, 80.0, 8), even_axis(0.0, 1.0, 2)];
    let options = FieldOptions { not_finite: NotFinite::Land, slip: Slip::Partial, ..options() };
    let count = axes.iter().map(Vec::len).product::<usize>();
    let make = move |values: burn::tensor::Tensor<3>| -> Box<dyn burntrace::Field> {
        let land = |i: usize| i % 13 > 7 && i / 13 % 9 > 4;
        let mask = (0..TIMES.len() * count)
            .flat_map(|i| [if land(i % count) { f64::NAN } else { 0.0 }; 3]);
        let mask = tensor(mask.collect(), [TIMES.len(), count, 3], &values.device());
        let (axes, times) = (axes.clone(), TIMES.to_vec());
        let values = values + mask;
        Box::new(GridField::from_tensor(axes, times, Placement::Nodes, values, &options).unwrap())
    };
    let kind: (usize, Box<Make>) = (count, Box::new(make));
    for condition in [BoundaryCondition::Slide, BoundaryCondition::Reflect] {
        let set: &Set =
            &move |tracer| tracer.coast(condition).all_faces(BoundaryCondition::Reflect);
        let seeds = seeds([5.0, 42.0, 0.3], [30.0, 55.0, 0.7]);
        check_seeds(&format!("{condition:?}"), &kind, &seeds, set);
        adjoint::check(&format!("{condition:?}"), &*kind.1, count, &seeds, set);
    }
}
