//! Gradients by the shapes of obstacles: by the numbers of bodies and vessels, and by the points of surfaces.

use super::adjoint::{TIMES, kinds, tensor, values_of, weighted, weights};
use crate::{boundaries::surfaces::star, common::*};
use burn::tensor::{Device, Tensor};
use burntrace::{
    Allowed,
    BoundaryCondition::{self, Exit, Reflect, Slide, Stick},
    Engine, Error, Field, FieldOptions, GridField, Inlet, Obstacle, Pattern, Precision, SaveAt,
    Scheme, Seeds, Shape, Source, Surroundings, Tracer, Tracks,
};

const COUNT: usize = 24;

/// Shapes in the middle of the box, with their numbers.
fn shapes() -> Vec<(Shape, Vec<f64>)> {
    let (centre, base, axis) = ([1.02, 0.51, 0.48], [0.72, 0.43, 0.41], [0.5, 0.11, 0.17]);
    let (low, high) = ([0.61, 0.22, 0.31], [1.43, 0.74, 0.77]);
    let cylinder = |capped| Shape::Cylinder { base, axis, radius: 0.27, capped };
    let of_cylinder = [&base[..], &axis[..], &[0.27]].concat();
    let star = star([1.01, 0.52, 0.49], 0.6, 0.37);
    let Shape::Surface(surface) = &star else { unreachable!("a star is a surface") };
    let points = surface.points().concat();
    vec![
        (Shape::Sphere { centre, radius: 0.33 }, [&centre[..], &[0.33]].concat()),
        (cylinder(true), of_cylinder.clone()),
        (cylinder(false), of_cylinder),
        (Shape::Box { low, high }, [low, high].concat()),
        (star, points),
    ]
}

/// Places on the allowed side of a shape in the box.
fn places(shape: &Shape, allowed: Allowed) -> Vec<[f64; 3]> {
    let mut all = Dice(7).points([0.05; 3], [1.95, 0.95, 0.95], 400);
    all.retain(|place| shape.contains(*place) == (allowed == Allowed::Inside));
    all.truncate(COUNT);
    assert!(all.len() > COUNT / 2, "{shape:?}");
    all
}

fn among(shape: &Shape, allowed: Allowed, surface: BoundaryCondition) -> Surroundings {
    let shape = shape.clone();
    Surroundings {
        obstacles: vec![Obstacle { shape, allowed, surface }],
        ..Surroundings::default()
    }
}

fn tracer(field: &dyn Field, surroundings: Surroundings) -> Tracer<'_> {
    Tracer::new(field)
        .span(steps(0.1, 1.3, 9))
        .scheme(Scheme::Rk4)
        .save(SaveAt::EverySteps(3))
        .surroundings(surroundings)
        .drift([0.8, 0.3, -0.2])
}

/// Numbers, and the same ones moved by a step along a direction.
fn moved(numbers: &[f64], direction: u64, step: f64) -> Vec<f64> {
    let along = Dice(direction).points([-1.0; 3], [1.0; 3], numbers.len().div_ceil(3));
    numbers.iter().zip(along.as_flattened()).map(|(x, d)| x + step * d).collect()
}

/// Compares the gradient of a function of numbers with central differences along two directions. Returns the largest of these.
fn check(what: &str, numbers: &[f64], device: &Device, of: impl Fn(Tensor<1>) -> Tensor<1>) -> f64 {
    let at = |numbers: Vec<f64>| {
        let count = numbers.len();
        tensor(numbers, [count], device)
    };
    let leaf = at(numbers.to_vec()).require_grad();
    let gradient = floats(leaf.grad(&of(leaf.clone()).backward()).unwrap());
    // Of order 4, as paths that graze a body bend sharply.
    let difference = |direction: u64, step: f64| {
        let central = |step: f64| {
            let ends = [step, -step].map(|step| moved(numbers, direction, step));
            let [high, low] = ends.map(|numbers| floats(of(at(numbers)))[0]);
            (high - low) / (2.0 * step)
        };
        (4.0 * central(0.5 * step) - central(step)) / 3.0
    };
    let along = |direction| {
        let unit = moved(&vec![0.0; numbers.len()], direction, 1.0);
        let product: f64 = gradient.iter().zip(unit).map(|(g, d)| g * d).sum();
        // A particle may have one contact more at the end of the longer step, and rounding limits the shorter one.
        let differences = [1e-6, 1.5e-7].map(|step| difference(direction, step));
        let off = differences.map(|by| (product - by).abs() / by.abs().max(1.0));
        let what = format!("{what}, direction {direction}: {product}, {differences:?}");
        assert_below(&what, off[0].min(off[1]), 1e-7);
        product.abs()
    };
    along(31).max(along(32))
}

/// Positions of all saves; end times, where a particle has ended.
fn loss(tracks: &Tracks, ends: bool) -> Tensor<1> {
    assert_eq!(tracks.summary().unwrap().engine, Engine::Fused);
    let positions = tracks.positions();
    let is_missing = positions.clone().is_nan();
    let loss = weighted(positions.mask_fill(is_missing, 0.0));
    if !ends {
        return loss;
    }
    let times = tracks.residence_times().unwrap();
    let (is_active, count) = (times.clone().is_nan(), times.dims()[0]);
    let weights = tensor(weights(count), [count], &times.device());
    loss + (times.mask_fill(is_active, 0.0) * weights).sum()
}

#[test]
fn gradients_by_shapes_match_central_differences() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        for (name, count, make) in kinds() {
            let field = make(tensor(values_of(count), [TIMES.len(), count, 3], &device));
            for (shape, numbers) in shapes() {
                for (allowed, condition) in [
                    (Allowed::Outside, Reflect),
                    (Allowed::Outside, Slide),
                    (Allowed::Outside, Exit),
                    (Allowed::Inside, Reflect),
                    (Allowed::Inside, Slide),
                    (Allowed::Inside, Stick),
                ] {
                    // Between two cells whose velocities meet, a sliding particle stays where the velocity jumps, and in a hollow
                    // round wall a slide has many contacts, the number of which changes.
                    let is_round = matches!(shape, Shape::Sphere { .. } | Shape::Cylinder { .. });
                    let jumps = ["cells", "nearest"].contains(&name)
                        || is_round && allowed == Allowed::Inside;
                    if condition == Slide && jumps {
                        continue;
                    }
                    let what =
                        format!("{machine}, {name}, {}, {allowed:?}, {condition:?}", shape.name());
                    let seeds = Seeds::list(places(&shape, allowed)).unwrap();
                    let tracer = tracer(&*field, among(&shape, allowed, condition));
                    let tracer = tracer.all_faces(Exit);
                    let ends = matches!(condition, Exit | Stick);
                    let of = |numbers: Tensor<1>| {
                        let tracer = tracer.clone().shape(0, numbers).unwrap();
                        loss(&tracer.trace(&seeds).unwrap(), ends)
                    };
                    let largest = check(&what, &numbers, &device, of);
                    assert!(largest > 1e-2, "{what}: nothing met it, {largest}");
                }
            }
        }
    }
}

/// A flat domain, in which a sphere is a circle; several obstacles, of which one moves.
#[test]
fn gradients_by_circles_match_central_differences() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        let axis = |count: u32, step: f64| (0..count).map(|i| step * f64::from(i)).collect();
        let axes: [Vec<f64>; 3] = [axis(9, 0.25), axis(6, 0.2), vec![0.0]];
        let velocity = |[x, y, _]: [f64; 3], _| [0.9, 0.4 * (5.0 * x).cos(), 0.3 * y];
        let options = FieldOptions { precision: Precision::F64, ..FieldOptions::default() };
        let field = GridField::from_fn(axes, vec![0.0], &device, &options, velocity).unwrap();
        let circle = |x: f64, y: f64| Obstacle {
            shape: Shape::Sphere { centre: [x, y, 0.0], radius: 0.21 },
            allowed: Allowed::Outside,
            surface: Slide,
        };
        let obstacles = vec![circle(0.5, 0.3), circle(1.1, 0.62), circle(1.6, 0.25)];
        let surroundings = Surroundings { obstacles, ..Surroundings::default() };
        let places: Vec<_> = (0..40).map(|i| [0.02, 0.013 + 0.024 * f64::from(i), 0.0]).collect();
        let seeds = Seeds::list(places).unwrap();
        let tracer = tracer(&field, surroundings).span(steps(0.0, 2.0, 37)).drift([0.0; 3]);
        let of = |numbers: Tensor<1>| {
            let tracer = tracer.clone().shape(1, numbers).unwrap();
            loss(&tracer.trace(&seeds).unwrap(), false)
        };
        let largest = check(&machine.to_string(), &[1.1, 0.62, 0.0, 0.21], &device, of);
        assert!(largest > 1e-2);
    }
}

/// Particles of a source, which follow one another in slots, meet a ball whose numbers and the inlet of which are tracked.
#[test]
fn gradients_by_shapes_go_through_slots_that_are_used_again() {
    for machine in exact_machines() {
        let device = machine.device.clone().autodiff();
        let (_, count, make) = kinds().remove(0);
        let field = make(tensor(values_of(count), [TIMES.len(), count, 3], &device));
        let points = vec![0.31, 0.44, 0.52, 0.33, 0.57, 0.46, 0.29, 0.5, 0.41];
        let shape = Shape::Sphere { centre: [0.9, 0.5, 0.5], radius: 0.3 };
        let numbers = [vec![0.9, 0.5, 0.5, 0.3], points].concat();
        let of = |numbers: Tensor<1>| {
            let points = numbers.clone().narrow(0, 4, 9).reshape([3, 3]);
            let inlet = Inlet::from_tensor(points, Pattern::Lattice).unwrap();
            let source = Source::constant(inlet, 9.3, 6).unwrap();
            let tracer = tracer(&*field, among(&shape, Allowed::Outside, Reflect))
                .drift([2.5, 0.3, -0.2])
                .source(source)
                .shape(0, numbers.narrow(0, 0, 4))
                .unwrap();
            loss(&tracer.trace(&Seeds::none()).unwrap(), false)
        };
        assert!(check(&machine.to_string(), &numbers, &device, of) > 1e-2);
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let device = Device::flex().autodiff();
    let (_, count, make) = kinds().remove(0);
    let field = make(tensor(values_of(count), [TIMES.len(), count, 3], &device));
    let (ball, star) = (shapes().remove(0).0, shapes().remove(4).0);
    let tracer = |shape: &Shape| tracer(&*field, among(shape, Allowed::Outside, Slide));
    let refused = |shape: &Shape, number: usize, numbers: Vec<f64>| {
        let numbers = Tensor::<1>::from_floats(&numbers[..], &device);
        match tracer(shape).shape(number, numbers).err() {
            Some(Error::Obstacle(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    assert!(refused(&ball, 1, vec![0.0; 4]).contains("there is none with the number 1, but 1"));
    assert!(refused(&ball, 0, vec![0.0; 3]).contains("a sphere: its tensor has 3 numbers; give 4"));
    assert!(refused(&ball, 0, vec![f64::NAN; 4]).contains("NaN"));
    assert!(refused(&star, 0, vec![0.0; 36]).contains("a surface"));
    let numbers = Tensor::<1>::from_floats([1.0, 0.5, 0.5, 0.2], &device).require_grad();
    let replaced = tracer(&ball).shape(0, numbers).unwrap();
    let replaced = replaced.surroundings(among(&ball, Allowed::Outside, Slide));
    let seeds = Seeds::list(vec![[0.1; 3]]).unwrap();
    let why = replaced.trace(&seeds).unwrap_err().to_string();
    assert!(why.contains("call `Tracer::shape` after"), "{why}");
}
