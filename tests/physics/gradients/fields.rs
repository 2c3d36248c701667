//! Several fields of one shape in one run, and diffusivities at nodes.

use super::adjoint::{TIMES, tensor, weighted};
use crate::{common::*, meshes::Made, steps::walk::Mixing};
use burn::tensor::Tensor;
use burntrace::{
    BoundaryCondition, CellKind, FLOW_MAP_GRADIENT, Field, FieldOptions, GridField, MeshField,
    OutsideTime, PointField, RandomWalk, SaveAt, Seeds, Tracer, WalkScheme, Weighting,
};

const FIELDS: usize = 3;
const EACH: usize = 7;

fn seeds() -> Seeds {
    Seeds::list(Dice(3).points([0.1; 3], [1.9, 0.9, 0.9], FIELDS * EACH)).unwrap()
}

fn part(k: usize) -> Seeds {
    Seeds::list(seeds().positions()[k * EACH..(k + 1) * EACH].to_vec()).unwrap()
}

fn tracer(field: &dyn Field) -> Tracer<'_> {
    Tracer::new(field)
        .span(steps(0.1, 1.3, 9))
        .save(SaveAt::EverySteps(4))
        .all_faces(BoundaryCondition::Slide)
        .mesh_wall(BoundaryCondition::Slide)
}

/// A field, and one of several of its shape.
struct Kind {
    name: &'static str,
    count: usize,
    field: Box<dyn Fn(Tensor<3>) -> Box<dyn Field>>,
    fields: Box<dyn Fn(Tensor<4>) -> Box<dyn Field>>,
}

fn all(machine: &Machine) -> Vec<Kind> {
    let device = machine.device.clone().autodiff();
    let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
    let axes = [even_axis(0.0, 2.0, 4), stretched_axis(0.0, 1.0, 3), even_axis(0.0, 1.0, 2)];
    let rest = |_: [f64; 3], _: f64| [0.0; 3];
    let grid = GridField::from_fn(axes, TIMES.to_vec(), &device, &options, rest).unwrap();
    let nodes = Dice(5).points([0.0; 3], [2.0, 1.0, 1.0], 40);
    let nearest = Weighting::Nearest;
    let points =
        PointField::from_fn(nodes, TIMES.to_vec(), &device, &options, nearest, rest).unwrap();
    let made = Made::new(3, 0.1, |_| CellKind::Tetra).mapped(|[x, y, z]| [2.0 * x, y, z]);
    let of_mesh = made.points.len();
    let mesh = (made.points, made.cells);
    let mesh = MeshField::from_fn(mesh, TIMES.to_vec(), &device, &options, rest).unwrap();
    macro_rules! kind {
        ($name:literal, $count:expr, $base:ident) => {{
            let (one, several) = ($base.clone(), $base);
            Kind {
                name: $name,
                count: $count,
                field: Box::new(move |values| Box::new(one.with_values(values).unwrap())),
                fields: Box::new(move |values| Box::new(several.with_fields(values).unwrap())),
            }
        }};
    }
    vec![kind!("grid", 60, grid), kind!("points", 40, points), kind!("mesh", of_mesh, mesh)]
}

/// Different velocities for each field.
fn values(count: usize) -> Vec<f64> {
    Dice(23)
        .points([-0.5, -0.4, -0.3], [0.6, 0.5, 0.4], FIELDS * TIMES.len() * count)
        .into_flattened()
}

#[test]
fn runs_in_several_fields_are_those_in_each() {
    for machine in some_machines() {
        let device = machine.device.clone().autodiff();
        let dtype = machine.precision.dtype();
        for Kind { name, count, field, fields } in all(&machine) {
            let shape = [FIELDS, TIMES.len(), count, 3];
            let values: Tensor<4> = tensor(values(count), shape, &device).cast(dtype);
            let leaf = values.clone().detach().require_grad();
            let several = fields(leaf.clone());
            let tracks = tracer(&*several).trace(&seeds()).unwrap();
            let together = floats(
                leaf.grad(&weighted(tracks.positions().cast(burn::tensor::DType::F64)).backward())
                    .unwrap(),
            );
            let positions = floats(tracks.positions());
            let per_save = FIELDS * EACH * 3;
            for k in 0..FIELDS {
                let own = values.clone().narrow(0, k, 1).reshape([TIMES.len(), count, 3]);
                let own = own.detach().require_grad();
                let alone = field(own.clone());
                let tracks = tracer(&*alone).trace(&part(k)).unwrap();
                let expected = floats(tracks.positions());
                let saves = tracks.saves().len();
                for save in 0..saves {
                    let first = save * per_save + k * EACH * 3;
                    let found = &positions[first..first + EACH * 3];
                    assert_eq!(
                        found,
                        &expected[save * EACH * 3..][..EACH * 3],
                        "{machine}, {name}"
                    );
                }
                // The same weights as in the loss of all.
                let all = weights_of(saves, per_save, k, &device);
                let loss = (tracks.positions().cast(burn::tensor::DType::F64) * all).sum();
                let expected = floats(own.grad(&loss.backward()).unwrap());
                let first = k * expected.len();
                let found = &together[first..first + expected.len()];
                let bound = if machine.is_double() { 1e-12 } else { 1e-5 };
                for (a, b) in found.iter().zip(&expected) {
                    assert_below(&format!("{machine}, {name}: {a}, {b}"), (a - b).abs(), bound);
                }
            }
        }
    }
}

fn weights_of(saves: usize, per_save: usize, k: usize, device: &burn::tensor::Device) -> Tensor<3> {
    let weights = super::adjoint::weights(saves * per_save);
    let of = |save: usize| &weights[save * per_save + k * EACH * 3..][..EACH * 3];
    tensor((0..saves).flat_map(of).copied().collect(), [saves, EACH, 3], device)
}

#[test]
fn flow_map_gradients_in_several_fields_are_those_in_each() {
    for machine in exact_machines() {
        let plain = Machine { device: machine.device.clone(), ..machine.clone() };
        let axes = [even_axis(0.0, 2.0, 4), stretched_axis(0.0, 1.0, 3), even_axis(0.0, 1.0, 2)];
        let options = FieldOptions { precision: plain.precision, ..FieldOptions::default() };
        let rest =
            GridField::from_fn(axes, TIMES.to_vec(), &plain.device, &options, |_, _| [0.0; 3])
                .unwrap();
        let values: Tensor<4> = tensor(values(60), [FIELDS, TIMES.len(), 60, 3], &plain.device);
        let several = rest.with_fields(values.clone()).unwrap();
        let run = |field: &dyn Field, seeds: &Seeds| {
            let tracks =
                tracer(field).save(SaveAt::End).flow_map_gradient(true).trace(seeds).unwrap();
            floats(tracks.array(FLOW_MAP_GRADIENT).unwrap())
        };
        let found = run(&several, &seeds());
        for k in 0..FIELDS {
            let own = values.clone().narrow(0, k, 1).reshape([TIMES.len(), 60, 3]);
            let expected = run(&rest.with_values(own).unwrap(), &part(k));
            assert_eq!(&found[k * EACH * 9..][..EACH * 9], &expected[..], "{machine}");
        }
    }
}

#[test]
fn several_fields_are_refused_where_there_is_one() {
    let machine = &exact_machines()[0];
    let Kind { count, fields, .. } = all(machine).remove(0);
    let shape = [FIELDS, TIMES.len(), count, 3];
    let device = machine.device.clone().autodiff();
    let several = fields(tensor(values(count), shape, &device));
    let message = |tracer: Tracer, seeds: &Seeds| tracer.trace(seeds).unwrap_err().to_string();
    let uneven = Seeds::list(vec![[0.5; 3]; FIELDS + 1]).unwrap();
    let refused = message(tracer(&*several), &uneven);
    assert!(refused.contains("there are 4 of them in 3 fields"), "{refused}");
    let refused = message(tracer(&*several).save_velocity(true), &seeds());
    assert!(refused.contains("several fields of one shape"), "{refused}");
    let refused = message(tracer(&*several).batch(EACH), &seeds());
    assert!(refused.contains("batches"), "{refused}");
}

const WALKS: [fn(u64) -> RandomWalk; 2] = [
    |seed| RandomWalk::of_field([1.0, 0.7, 0.4], seed),
    |seed| RandomWalk::of_field([1.0, 0.7, 0.4], seed).scheme(WalkScheme::Milstein),
];

/// The diffusivities of two frames.
fn diffusivities(count: usize) -> Vec<f64> {
    let all = Dice(29).points([0.002; 3], [0.02; 3], (2 * count).div_ceil(3)).into_flattened();
    all[..2 * count].to_vec()
}

#[test]
fn gradients_by_diffusivities_at_nodes_match_central_differences() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        let options = FieldOptions {
            outside_time: OutsideTime::Hold,
            precision: machine.precision,
            ..FieldOptions::default()
        };
        let axes = [even_axis(0.0, 1.0, 4), stretched_axis(0.0, 1.0, 3), even_axis(0.0, 1.0, 2)];
        let flow = |[x, y, z]: [f64; 3], t: f64| [y - 0.5 + 0.2 * t, 0.5 - x * z, 0.3 * x * y];
        let grid = GridField::from_fn(axes, vec![0.0, 1.0], &device, &options, flow).unwrap();
        let mesh = Made::new(3, 0.1, |_| CellKind::Tetra);
        let of_mesh = mesh.points.len();
        let mesh = (mesh.points, mesh.cells);
        let mesh = MeshField::from_fn(mesh, vec![0.0, 1.0], &device, &options, flow).unwrap();
        type Exchange = Box<dyn Fn(Tensor<2>) -> Box<dyn Field>>;
        let kinds: [(&str, usize, Exchange); 2] = [
            ("grid", 60, Box::new(move |k| Box::new(grid.with_diffusivity(k).unwrap()))),
            ("mesh", of_mesh, Box::new(move |k| Box::new(mesh.with_diffusivity(k).unwrap()))),
        ];
        let seeds = Seeds::list(Dice(3).points([0.1; 3], [0.9; 3], 9)).unwrap();
        for (name, count, field) in kinds {
            for walk in WALKS {
                let loss = |diffusivity: Tensor<2>| {
                    let field = field(diffusivity);
                    let tracer = Tracer::new(&*field).span(steps(0.1, 0.9, 8));
                    let reflect = BoundaryCondition::Reflect;
                    let tracer = match field.mesh().is_some() {
                        true => tracer.mesh_wall(reflect),
                        false => tracer.all_faces(reflect),
                    };
                    let tracks = tracer.random_walk(walk(7)).trace(&seeds).unwrap();
                    weighted(tracks.positions())
                };
                let known = diffusivities(count);
                let leaf = tensor(known.clone(), [2, count], &device).require_grad();
                let gradient = floats(leaf.grad(&loss(leaf.clone()).backward()).unwrap());
                for k in 0..3 {
                    let direction =
                        Dice(31 + k).points([-1.0; 3], [1.0; 3], (2 * count).div_ceil(3));
                    let direction = &direction.into_flattened()[..2 * count];
                    let along: f64 = gradient.iter().zip(direction).map(|(g, d)| g * d).sum();
                    let at = |step: f64| {
                        let moved =
                            known.iter().zip(direction).map(|(k, d)| k + step * d).collect();
                        floats(loss(tensor(moved, [2, count], &device)))[0]
                    };
                    let step = 1e-7;
                    let difference = (at(step) - at(-step)) / (2.0 * step);
                    let what = format!("{machine}, {name}: {along}, {difference}");
                    assert_below(
                        &what,
                        (along - difference).abs() / difference.abs().max(1.0),
                        1e-6,
                    );
                }
            }
        }
    }
}

/// Diffusivities that are exchanged are those of a source, and other fields keep them.
#[test]
fn exchanged_diffusivities_are_those_of_a_source() {
    for machine in exact_machines() {
        let swirl = |[x, y, z]: [f64; 3], t: f64| [y - 0.5 + 0.2 * t, 0.5 - x * z, 0.3 * x * y];
        let of_place = |[x, y, z]: [f64; 3]| 0.5 + 0.3 * x * y + z * (1.0 - z);
        let given = Mixing::new([4, 3, 5], swirl, of_place).field(&machine);
        let other = Mixing::new([4, 3, 5], swirl, |_| 1.0).field(&machine);
        let mut all = Vec::new();
        for z in even_axis(0.0, 1.0, 5) {
            for y in even_axis(0.0, 1.0, 3) {
                all.extend(even_axis(0.0, 1.0, 4).into_iter().map(|x| of_place([x, y, z])));
            }
        }
        let later = all.iter().map(|k| 1.5 * k);
        let both: Vec<f64> = all.iter().copied().chain(later).collect();
        let exchanged = other.with_diffusivity(tensor(both, [2, 120], &machine.device)).unwrap();
        let seeds = Seeds::list(Dice(3).points([0.1; 3], [0.9; 3], 9)).unwrap();
        let run = |field: &dyn Field| {
            let tracer =
                Tracer::new(field).span(steps(0.1, 0.9, 8)).all_faces(BoundaryCondition::Reflect);
            floats(tracer.random_walk(WALKS[0](7)).trace(&seeds).unwrap().positions())
        };
        assert_eq!(run(&given), run(&exchanged), "{machine}");
        let refused = other.with_diffusivity(tensor(vec![0.0; 4], [2, 2], &machine.device));
        let refused = refused.err().unwrap().to_string();
        assert!(refused.contains("[2, 2]") && refused.contains("[2, 120]"), "{refused}");
    }
}
