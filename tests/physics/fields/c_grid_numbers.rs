//! Arrays and diffusivities beside velocities on the faces of cells.

use super::arrays::Laden;
use crate::{common::*, lattice::Lattice, meshes::MeshFrames, oracle::Point};
use burntrace::{
    BoundaryCondition, CellVelocity, Diffused, EARTH_RADIUS, Engine, Field, FieldOptions,
    GridField, MeshField, MeshSource, Mixing, Placement, RandomWalk, SaveAt, Seeds, Tracer,
};

const TIMES: [f64; 2] = [0.0, 1e4];

/// Random velocities on the faces of a lattice.
fn frames(lattice: &Lattice, speed: Point) -> MeshFrames {
    let mut dice = Dice(31);
    let mut numbers = || dice.points(speed.map(|x| -x), speed, lattice.points.len());
    MeshFrames {
        points: lattice.points.clone(),
        cells: lattice.cells.clone(),
        placement: Placement::Faces,
        times: TIMES.to_vec(),
        values: TIMES.iter().map(|_| numbers().as_flattened().to_vec()).collect(),
    }
}

fn load(machine: &Machine, source: &mut dyn MeshSource, radius: Option<f64>) -> MeshField {
    let options = FieldOptions { precision: machine.precision, radius, ..FieldOptions::default() };
    MeshField::load(source, &machine.device, &options, CellVelocity::Constant).unwrap()
}

/// Cells that are no parallelograms, in metres, or in degrees near the pole.
fn lattice(is_on_sphere: bool) -> Lattice {
    let shaken = Dice(5).points([-0.2, -0.2, 0.0], [0.2, 0.2, 0.0], 36);
    Lattice::new([6, 6, 3], |[i, j, k]| {
        let [x, y, _] = shaken[i + 6 * j];
        let (x, y, z) = (i as f64 + x + 0.3 * j as f64, j as f64 + y, k as f64 * (1.0 + 0.1 * x));
        match is_on_sphere {
            true => [170.0 + 2.0 * x, 70.0 + y, 10.0 * z - 30.0],
            false => [1e4 * x, 1e4 * y, 10.0 * z - 30.0],
        }
    })
}

/// Each geometry, with positions well inside, and the speeds at which particles stay there.
fn cases() -> [(Option<f64>, Lattice, [Point; 2]); 2] {
    let (low, high) = ([2.3, 1.6, -25.0], [4.3, 3.4, -16.0]);
    let flat = [low, high].map(|[x, y, z]| [1e4 * x, 1e4 * y, z]);
    let degrees = [low, high].map(|[x, y, z]| [170.0 + 2.0 * x, 70.0 + y, z]);
    [(None, lattice(false), flat), (Some(EARTH_RADIUS), lattice(true), degrees)]
}

fn linear([x, y, z]: Point, t: f64, component: usize) -> f64 {
    1.0 + 1e-3 * (x + component as f64 * y) - 0.02 * z + 1e-4 * t
}

#[test]
fn arrays_at_corners_are_linear_between_them() {
    for (radius, lattice, [low, high]) in cases() {
        let seeds = Seeds::list(Dice(7).points(low, high, 30)).unwrap();
        let source = frames(&lattice, [0.1, 0.1, 1e-4]);
        let source = Laden::new(source, &lattice.points, &[("T", 1, linear), ("q", 5, linear)]);
        // On a sphere steps are fused; a graphics card has the other geometry only, as kernels take long to compile.
        let machines = some_machines().into_iter().filter(|of| of.is_cpu() || radius.is_none());
        for machine in machines {
            let field = load(&machine, &mut source.clone(), radius);
            let has_both = radius.is_none() && machine.is_cpu();
            let is_fused = |engine: &&Engine| has_both || **engine == Engine::Fused;
            for &engine in machine.engines().iter().filter(is_fused) {
                let tracer = Tracer::new(&field).engine(engine).span(steps(0.0, 1e4, 20));
                let tracer = tracer.save(SaveAt::EverySteps(5));
                let tracks = tracer.sample("T", &field).sample("q", &field).trace(&seeds).unwrap();
                for (name, components) in [("T", 1), ("q", 5)] {
                    let found = floats(tracks.array(name).unwrap());
                    let mut found = found.into_iter();
                    let mut worst: f64 = 0.0;
                    for save in tracks.saves() {
                        for p in rows(save.position.clone()) {
                            for c in 0..components {
                                let off = found.next().unwrap() - linear(p, save.time, c);
                                worst = worst.max(off.abs());
                            }
                        }
                    }
                    let what = format!("{machine}, {engine}, {radius:?}, {name}");
                    assert_below(&what, worst, 2e4 * machine.eps());
                }
            }
        }
    }
}

#[test]
fn a_walk_by_a_profile_is_that_of_operations_on_tensors() {
    let (z, diffusivity) = (vec![-30.0, -20.0, -10.0], vec![1e-5, 3e-4, 1e-4]);
    let [(_, lattice, [low, high]), _] = cases();
    let starts = Dice(8).points(low, high, 20);
    let source = frames(&lattice, [0.1, 0.1, 1e-4]);
    let source = Diffused::on_mesh(source, Mixing::Profile { z, diffusivity }, None).unwrap();
    for machine in exact_machines() {
        let field = load(&machine, &mut source.clone(), None);
        let run = |engine| {
            let walk = RandomWalk::of_field([0.0, 0.0, 1.0], 3);
            let tracer = Tracer::new(&field).random_walk(walk).span(steps(0.0, 1e4, 20));
            trace(&tracer.engine(engine), &Seeds::list(starts.clone()).unwrap())
        };
        let (fused, tensors) = (run(Engine::Fused), run(Engine::Tensor));
        assert_below(&machine.to_string(), distance(fused.last(), tensors.last()), 1e-8);
        let moved = fused.last().iter().zip(&starts).map(|(a, b)| (a[2] - b[2]).abs());
        assert!(moved.fold(0.0, f64::max) > 1.0);
    }
}

#[test]
fn columns_of_cells_with_faces_remain_well_mixed() {
    const BINS: usize = 20;
    let z = even_axis(0.0, 1.0, 64);
    let diffusivity = z.iter().map(|z| 0.002 + 0.08 * z * (1.0 - z)).collect();
    let profile = Mixing::Profile { z: z.clone(), diffusivity };
    let lattice = Lattice::of_axes(&[even_axis(0.0, 1.0, 1), even_axis(0.0, 1.0, 1), z]);
    let source = Diffused::on_mesh(frames(&lattice, [0.0; 3]), profile, None).unwrap();
    for machine in some_machines() {
        let n = if machine.name == "flex" { 20_000 } else { 2000 };
        let field = load(&machine, &mut source.clone(), None);
        let seeds = Seeds::uniform([0.0; 3], [1.0; 3], n, 21).unwrap();
        let tracer = Tracer::new(&field)
            .all_faces(BoundaryCondition::Reflect)
            .random_walk(RandomWalk::of_field([0.0, 0.0, 1.0], 8))
            .span(steps(0.0, 5.0, 400));
        let mut bins = [0_usize; BINS];
        for p in trace(&tracer, &seeds).last() {
            bins[((p[2] * BINS as f64) as usize).min(BINS - 1)] += 1;
        }
        let expected = (n / BINS) as f64;
        let max = bins.iter().map(|b| (*b as f64 - expected).abs()).fold(0.0, f64::max);
        assert_below(&format!("{machine}: {bins:?}"), max, 5.0 * expected.sqrt());
    }
}

#[test]
fn a_walk_in_layers_that_are_thin_beside_the_domain_is_that_on_the_grid_of_the_nodes() {
    let layers = even_axis(0.0, 1.0, 64);
    let z: Vec<f64> = std::iter::once(-49.0).chain(layers).collect();
    let axes = [even_axis(0.0, 1.0, 1), even_axis(0.0, 1.0, 1), z.clone()];
    let diffusivity = z.iter().map(|z| 0.002 + 0.08 * z.max(0.0) * (1.0 - z)).collect();
    let profile = Mixing::Profile { z, diffusivity };
    let on_faces = frames(&Lattice::of_axes(&axes), [0.0; 3]);
    let mut on_faces = Diffused::on_mesh(on_faces, profile.clone(), None).unwrap();
    let at_nodes = Frames::new(axes, Placement::Nodes, &TIMES, |_, _| [0.0; 3]);
    let mut at_nodes = Diffused::new(at_nodes, profile, None).unwrap();
    let seeds = Seeds::list(Dice(9).points([0.1, 0.1, 0.1], [0.9; 3], 40)).unwrap();
    for machine in exact_machines() {
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let grid = GridField::load(&mut at_nodes, &machine.device, &options).unwrap();
        let mesh = load(&machine, &mut on_faces, None);
        let walk = RandomWalk::of_field([0.0, 0.0, 1.0], 8);
        let of = |field: &dyn Field| {
            let tracer = Tracer::new(field).random_walk(walk.clone()).span(steps(0.0, 0.5, 40));
            trace(&tracer.all_faces(BoundaryCondition::Reflect), &seeds)
        };
        let apart = distance(of(&mesh).last(), of(&grid).last());
        assert_below(&machine.to_string(), apart, 1e-7);
    }
}
