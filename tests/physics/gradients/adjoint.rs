//! The fused adjoint: gradients by the values of a field, and what they do not depend on.

use crate::{
    common::*,
    lattice::Lattice,
    meshes::{Made, mixed},
};
use burn::tensor::{Device, Tensor, TensorData};
use burntrace::{
    Allowed, BoundaryCondition, CellKind, Engine, Field, FieldOptions, GridField, MeshField,
    NotFinite, Obstacle, Placement, PointField, Precision, RandomWalk, SaveAt, Scheme, Seeds,
    Shape, Status, Tolerance, Tracer, Weighting,
};
use rayon::ThreadPoolBuilder;

pub const TIMES: [f64; 3] = [0.0, 0.7, 1.5];

fn autodiff(machine: &Machine) -> Device {
    machine.device.clone().autodiff()
}

fn axes() -> [Vec<f64>; 3] {
    [even_axis(0.0, 2.0, 4), stretched_axis(0.0, 1.0, 3), even_axis(0.0, 1.0, 2)]
}

/// Velocities without symmetry.
pub fn values_of(count: usize) -> Vec<f64> {
    Dice(17).points([-0.5, -0.4, -0.3], [0.6, 0.5, 0.4], TIMES.len() * count).into_flattened()
}

/// Settings of a tracer.
pub type Set = dyn for<'a> Fn(Tracer<'a>) -> Tracer<'a>;

/// A kind of field, made from its values.
pub type Make = dyn Fn(Tensor<3>) -> Box<dyn Field>;

/// The kinds of fields, with the number of values in a frame.
pub fn kinds() -> Vec<(&'static str, usize, Box<Make>)> {
    let options = FieldOptions::default();
    let grid = move |placement| -> Box<Make> {
        Box::new(move |values| {
            let times = TIMES.to_vec();
            Box::new(GridField::from_tensor(axes(), times, placement, values, &options).unwrap())
        })
    };
    let nodes = Dice(5).points([0.0; 3], [2.0, 1.0, 1.0], 40);
    let points = move |weighting| -> Box<Make> {
        let nodes = nodes.clone();
        Box::new(move |values| {
            let (nodes, times) = (nodes.clone(), TIMES.to_vec());
            Box::new(PointField::from_tensor(nodes, times, values, &options, weighting).unwrap())
        })
    };
    let mesh = move |made: Made| -> (usize, Box<Make>) {
        let made = made.mapped(|[x, y, z]| [2.0 * x, y, z]);
        let count = made.points.len();
        let make = move |values| -> Box<dyn Field> {
            let (mesh, times) = ((made.points.clone(), made.cells.clone()), TIMES.to_vec());
            let nodes = Placement::Nodes;
            Box::new(MeshField::from_tensor(mesh, times, nodes, values, &options).unwrap())
        };
        (count, Box::new(make))
    };
    let lattice = Lattice::new([5, 4, 3], |[i, j, k]| {
        let (x, y) = (0.5 * i as f64, j as f64 / 3.0);
        [
            x + 0.1 * (7.0 * y).sin() * x * (2.0 - x),
            y + 0.1 * (3.0 * x).sin() * y * (1.0 - y),
            0.5 * k as f64,
        ]
    });
    let count_on_faces = lattice.points.len();
    let faces = move |values| -> Box<dyn Field> {
        let (mesh, times) = ((lattice.points.clone(), lattice.cells.clone()), TIMES.to_vec());
        Box::new(MeshField::from_tensor(mesh, times, Placement::Faces, values, &options).unwrap())
    };
    let (hexahedra, general) = mesh(mixed(3));
    let (points_of_tetrahedra, simplices) = mesh(Made::new(3, 0.1, |_| CellKind::Tetra));
    vec![
        ("nodes", 5 * 4 * 3, grid(Placement::Nodes)),
        ("cells", 4 * 3 * 2, grid(Placement::Cells)),
        ("nearest", 40, points(Weighting::Nearest)),
        ("inverse distance", 40, points(Weighting::InverseDistance { neighbours: 5, power: 3.0 })),
        ("cells of several types", hexahedra, general),
        ("tetrahedra", points_of_tetrahedra, simplices),
        ("faces of cells", count_on_faces, Box::new(faces)),
    ]
}

pub fn tensor<const D: usize>(numbers: Vec<f64>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(numbers, shape), (device, Precision::F64.dtype()))
}

/// The sum of all coordinates of all saves, each with a weight of its own.
fn loss(field: &dyn Field, seeds: &Seeds, set: &Set) -> Tensor<1> {
    let tracer = Tracer::new(field).span(steps(0.1, 1.3, 9)).save(SaveAt::EverySteps(3));
    let tracks = set(tracer).trace(seeds).unwrap();
    assert_eq!(tracks.summary().unwrap().engine, Engine::Fused);
    weighted(tracks.positions())
}

/// The sum of all numbers, each with a weight of its own.
pub fn weighted(numbers: Tensor<3>) -> Tensor<1> {
    let weights = weights(numbers.shape().num_elements());
    (numbers.clone() * tensor(weights, numbers.dims(), &numbers.device())).sum()
}

pub fn weights(count: usize) -> Vec<f64> {
    (0..count).map(|i| (1.0 + i as f64).sin()).collect()
}

fn number(loss: Tensor<1>) -> f64 {
    floats(loss)[0]
}

/// Compares gradients by values with central differences along some directions, in which all values change.
/// A difference of step 1e-6 of a loss of order ten is known to about 1e-9.
pub fn check(what: &str, make: &Make, count: usize, seeds: &Seeds, set: &Set) {
    check_loss(what, make, count, &|field| loss(field, seeds, set));
}

/// As [`check`], of any loss.
fn check_loss(what: &str, make: &Make, count: usize, loss: &dyn Fn(&dyn Field) -> Tensor<1>) {
    let shape = [TIMES.len(), count, 3];
    for machine in exact_machines() {
        let device = autodiff(&machine);
        let leaf = tensor(values_of(count), shape, &device).require_grad();
        let gradients = loss(&*make(leaf.clone())).backward();
        let gradient = floats(leaf.grad(&gradients).unwrap());
        for k in 0..3 {
            let direction = Dice(90 + k).points([-1.0; 3], [1.0; 3], TIMES.len() * count);
            let direction = direction.into_flattened();
            let step = 1e-6;
            let at = |sign: f64| {
                let moved = values_of(count).into_iter().zip(&direction);
                let moved = moved.map(|(v, d)| v + sign * step * d).collect();
                number(loss(&*make(tensor(moved, shape, &machine.device))))
            };
            let difference = (at(1.0) - at(-1.0)) / (2.0 * step);
            let found: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
            let size = difference.abs().max(1.0);
            let what = format!("{what}, {machine}, direction {k}: {found}, {difference}");
            assert_below(&what, (found - difference).abs() / size, 1e-7);
        }
    }
}

pub fn some_seeds() -> Seeds {
    let positions = Dice(3).points([0.3, 0.3, 0.3], [1.7, 0.7, 0.7], 11);
    Seeds::list(positions).unwrap()
}

#[test]
fn gradients_by_values_match_central_differences_for_all_schemes() {
    for (name, count, make) in kinds() {
        for scheme in Scheme::ALL {
            let what = format!("{name}, {scheme:?}");
            check(&what, &*make, count, &some_seeds(), &move |tracer| tracer.scheme(scheme));
        }
    }
}

#[test]
fn gradients_by_values_match_central_differences_for_all_conditions() {
    use BoundaryCondition::*;
    for (name, count, make) in kinds() {
        for condition in [Exit, Reflect, Slide, Stick, Clamp, Periodic] {
            // Fast enough to reach the faces.
            let set: &Set = &move |tracer| {
                let is_mesh = tracer_is_on_mesh(name);
                let tracer = tracer.drift([0.9, -0.4, 0.3]);
                match is_mesh && condition != Periodic {
                    true if condition == Clamp => tracer,
                    true => tracer.mesh_wall(condition),
                    false => tracer.all_faces(condition),
                }
            };
            check(&format!("{name}, {condition:?}"), &*make, count, &some_seeds(), set);
        }
    }
}

pub fn tracer_is_on_mesh(name: &str) -> bool {
    ["cells of several types", "tetrahedra", "faces of cells"].contains(&name)
}

/// Releases during steps, a random walk, obstacles and a threshold of speed.
#[test]
fn gradients_by_values_match_central_differences_with_everything_else() {
    let ball = Obstacle {
        shape: Shape::Sphere { centre: [1.1, 0.5, 0.5], radius: 0.25 },
        allowed: Allowed::Outside,
        surface: BoundaryCondition::Reflect,
    };
    let set: &Set = &move |tracer| {
        tracer
            .random_walk(RandomWalk::isotropic(0.004, 3))
            .obstacle(ball.clone())
            .stagnant_speed(0.02)
            .all_faces(BoundaryCondition::Reflect)
    };
    let positions = Dice(3).points([0.3, 0.3, 0.3], [0.7, 0.7, 0.7], 11);
    let release: Vec<f64> = (0..11).map(|i| 0.1 + 0.07 * f64::from(i)).collect();
    let seeds = Seeds::list(positions).unwrap().with_release(release).unwrap();
    for (name, count, make) in kinds() {
        check(name, &*make, count, &seeds, set);
    }
}

/// The lengths of adaptive steps count as constants, as in the tensor engine; central differences of runs
/// have other steps. Both engines find the walls of meshes by bisection to about 1e-11, and the tensor engine
/// finds places in general cells to about 1e-10. The lengths of the adaptive steps that follow depend on
/// them.
#[test]
fn gradients_of_adaptive_steps_match_those_of_the_tensor_engine() {
    let machines = exact_machines();
    for (name, count, make) in kinds() {
        let on_mesh = tracer_is_on_mesh(name);
        let far_from_walls = on_mesh.then_some(false);
        for reaches_walls in far_from_walls.into_iter().chain([true]) {
            let bounds = match (name, on_mesh && reaches_walls) {
                (_, true) => [1e-8, 1e-6],
                ("cells of several types" | "faces of cells", _) => [1e-8; 2],
                _ => [1e-10; 2],
            };
            for (is_adaptive, bound) in [false, true].into_iter().zip(bounds) {
                let set = [is_adaptive, reaches_walls];
                let of =
                    |machine, engine| gradients_of(machine, (name, count, &*make), engine, set);
                // Slow, and its numbers do not depend on the device.
                let reference = of(&machines[0], Engine::Tensor);
                let size = reference.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
                for machine in &machines {
                    let fused = of(machine, Engine::Fused);
                    let off = fused.iter().zip(&reference).map(|(a, b)| (a - b).abs());
                    let what = format!("{machine}, {name}, walls {reaches_walls}, {is_adaptive}");
                    assert_below(&what, off.fold(0.0, f64::max) / size, bound);
                }
            }
        }
    }
}

/// The gradients by seeds, some released during steps, and by values.
fn gradients_of(
    machine: &Machine,
    (name, count, make): (&str, usize, &Make),
    engine: Engine,
    [is_adaptive, reaches_walls]: [bool; 2],
) -> Vec<f64> {
    let device = autodiff(machine);
    let leaf = tensor(values_of(count), [TIMES.len(), count, 3], &device).require_grad();
    let field = make(leaf.clone());
    // In the middle, and for a short time, or all over.
    let (low, high, time) = match reaches_walls {
        true => ([0.3; 3], [1.7, 0.7, 0.7], 1.2),
        false => ([0.8, 0.4, 0.4], [1.2, 0.6, 0.6], 0.3),
    };
    let release: Vec<f64> = (0..11).map(|i| 0.1 + 0.055 * time * f64::from(i)).collect();
    let points = Dice(3).points(low, high, 11).into_flattened();
    let start = tensor(points, [11, 3], &device).require_grad();
    let seeds = Seeds::from_tensor(start.clone()).unwrap().with_release(release).unwrap();
    let mut tracer = Tracer::new(&*field)
        .span(steps(0.1, 0.1 + time, 4))
        .save(SaveAt::EverySteps(2))
        .scheme(Scheme::DormandPrince)
        .engine(engine);
    if reaches_walls {
        tracer = tracer.drift([0.9, -0.4, 0.3]);
    }
    if is_adaptive {
        tracer = tracer.tolerance(Tolerance::new(1e-6, 1e-6));
    }
    let tracer = match tracer_is_on_mesh(name) {
        true => tracer.mesh_wall(BoundaryCondition::Reflect),
        false => tracer.all_faces(BoundaryCondition::Reflect),
    };
    let tracks = tracer.trace(&seeds).unwrap();
    if let Some([accepted, _]) = tracks.summary().unwrap().tries {
        assert!(accepted > if reaches_walls { 60 } else { 12 }, "{name}: {accepted}");
    }
    let gradients = tracks.positions().powi_scalar(2).sum().backward();
    let by_seeds = floats(start.grad(&gradients).unwrap());
    [by_seeds, floats(leaf.grad(&gradients).unwrap())].concat()
}

/// Tracks and gradients of many particles on a number of threads.
fn bits(threads: usize, many: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let device = Device::flex().autodiff();
        let values = tensor(values_of(60), [3, 60, 3], &device).require_grad();
        let (options, times) = (FieldOptions::default(), TIMES.to_vec());
        let nodes = Placement::Nodes;
        let field = GridField::from_tensor(axes(), times, nodes, values.clone(), &options).unwrap();
        let points = Dice(9).points([0.0; 3], [2.0, 1.0, 1.0], many).into_flattened();
        let start = tensor(points, [many, 3], &device).require_grad();
        let tracer =
            Tracer::new(&field).all_faces(BoundaryCondition::Reflect).span(steps(0.0, 1.4, 150));
        let tracks = tracer.trace(&Seeds::from_tensor(start.clone()).unwrap()).unwrap();
        let gradients = tracks.positions().sum().backward();
        let of =
            [floats(start.grad(&gradients).unwrap()), floats(values.grad(&gradients).unwrap())];
        let [by_seeds, by_values] = of;
        (floats(tracks.positions()), by_seeds, by_values)
    })
}

#[test]
fn any_number_of_threads_gives_the_same_gradients() {
    let one = bits(1, 3000);
    for threads in [2, 3, 7] {
        assert!(bits(threads, 3000) == one, "{threads} threads");
    }
}

#[test]
fn tracks_with_gradients_are_those_without() {
    let values = tensor(values_of(60), [3, 60, 3], &Device::flex());
    let (options, times) = (FieldOptions::default(), TIMES.to_vec());
    let nodes = Placement::Nodes;
    let field = GridField::from_tensor(axes(), times, nodes, values, &options).unwrap();
    let seeds = Dice(9).points([0.0; 3], [2.0, 1.0, 1.0], 300);
    let tracer =
        Tracer::new(&field).all_faces(BoundaryCondition::Reflect).span(steps(0.0, 1.4, 150));
    let tracks = tracer.trace(&Seeds::list(seeds).unwrap()).unwrap();
    assert_eq!(floats(tracks.positions()), bits(2, 300).0);
}

/// The velocities at saves depend on the field's values directly, and by the positions.
#[test]
fn gradients_of_saved_velocities_match_central_differences() {
    let loss = |field: &dyn Field| {
        let tracer = Tracer::new(field).span(steps(0.1, 0.7, 5)).save(SaveAt::EverySteps(2));
        let tracks = tracer.save_velocity(true).trace(&some_seeds()).unwrap();
        assert_eq!(tracks.summary().unwrap().engine, Engine::Fused);
        weighted(tracks.velocities().unwrap())
    };
    for (name, count, make) in kinds() {
        check_loss(name, &*make, count, &loss);
    }
}

/// States in single precision, three times for each launch of 256 steps; the graph of the tensor engine.
#[test]
fn plans_count_what_gradients_keep() {
    let values = Tensor::<3>::full([3, 60, 3], 0.01, &Device::flex().autodiff()).require_grad();
    let (options, times, nodes) = (FieldOptions::default(), TIMES.to_vec(), Placement::Nodes);
    let field = GridField::from_tensor(axes(), times, nodes, values, &options).unwrap();
    let seeds = Seeds::list(Dice(9).points([0.5; 3], [0.6; 3], 5000)).unwrap();
    let tracer = Tracer::new(&field).span(steps(0.0, 1.5, 640));
    let bytes = |tracer: &Tracer| {
        let plan = tracer.plan(&seeds).unwrap();
        let kept = plan.items().iter().find(|item| item.name == "gradients");
        kept.map_or(0, |item| item.device)
    };
    let particle = Precision::F32.particle_bytes() as u64;
    assert_eq!(bytes(&tracer), 5000 * 3 * 3 * particle);
    assert_eq!(bytes(&tracer.clone().engine(Engine::Tensor)), 5000 * 640 * 4 * 20 * 4);
    // 9.6 GB; the rest of the process, other tests included, is far below the limit.
    let many = steps(0.0, 1.5, 2_560_000);
    let long = Tracer::new(&field).span(many).memory(6 << 30);
    let text = long.plan(&seeds).map(drop).unwrap_err().to_string();
    assert!(text.contains("largest part: gradients"), "{text}");
    let plain = GridField::from_fn(axes(), TIMES.to_vec(), &Device::flex(), &options, |p, _| p);
    let plain = plain.unwrap();
    assert!(Tracer::new(&plain).span(many).memory(6 << 30).plan(&seeds).is_ok());
}

/// A particle that is lost in a hole has gradients of its own, and changes no other.
#[test]
fn lost_particle_changes_no_gradient_of_the_others() {
    let options = FieldOptions {
        precision: Precision::F64,
        not_finite: NotFinite::Outside,
        ..FieldOptions::default()
    };
    for machine in exact_machines() {
        let axes = [even_axis(0.0, 4.0, 8), even_axis(0.0, 1.0, 1), vec![0.0]];
        let velocity = |p: [f64; 3], _: f64| match p[0] > 3.5 {
            true => [f64::NAN; 3],
            false => [1.0 - 0.1 * p[0], 0.1 * p[1], 0.0],
        };
        let device = autodiff(&machine);
        let field = GridField::from_fn(axes, vec![0.0], &device, &options, velocity).unwrap();
        let gradient = |points: Vec<[f64; 3]>| {
            let count = points.len();
            let start = tensor(points.into_flattened(), [count, 3], &device).require_grad();
            let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 20));
            let tracks = tracer.trace(&Seeds::from_tensor(start.clone()).unwrap()).unwrap();
            let last = tracks.saves().last().unwrap();
            let status = last.status.clone();
            (rows(start.grad(&last.position.clone().sum().backward()).unwrap()), status)
        };
        let others = [[0.5, 0.5, 0.0], [1.0, 0.25, 0.0]];
        let (expected, _) = gradient(others.to_vec());
        let (found, status) = gradient([&others[..], &[[3.1, 0.5, 0.0]]].concat());
        let status = status.into_data().convert::<i32>().try_into_vec::<i32>().unwrap();
        assert_eq!(status[2], Status::LeftField.code(), "{machine}");
        assert_eq!(found[..2], expected[..], "{machine}");
        assert!(found[2].iter().all(|x| x.is_finite()), "{machine}: {found:?}");
    }
}

#[test]
fn values_of_a_field_are_those_of_its_tensor() {
    let made = mixed(3);
    let count = made.points.len();
    let values = values_of(count);
    let field = MeshField::from_tensor(
        (made.points.clone(), made.cells.clone()),
        TIMES.to_vec(),
        Placement::Nodes,
        tensor(values.clone(), [3, count, 3], &Device::flex()),
        &FieldOptions::default(),
    )
    .unwrap();
    assert_eq!(floats(field.values().unwrap()), values);
    let other = field.values().unwrap() * 2.0;
    let doubled: Vec<f64> = values.iter().map(|v| 2.0 * v).collect();
    assert_eq!(floats(field.with_values(other).unwrap().values().unwrap()), doubled);
}
