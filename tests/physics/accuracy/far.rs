//! Positions far from 0, in huge and tiny domains, and steps below the rounding of positions: as good as in
//! the unit box. Offsets and scales are powers of two, so that all given numbers are exact.

use crate::{
    boundaries::surfaces::crate_of_triangles,
    cloud::{Cloud, mean},
    common::*,
    meshes::{Made, MeshFrames},
    recorded::{RecordingSink, States, assert_same, run},
};
use burn::tensor::{DType, Tensor, TensorData};
use burntrace::analysis::{
    density::{self, Bandwidth, Density, Edge},
    ftle::{FlowMap, Lattice, Stencil},
    statistics::Statistics,
};
use burntrace::{
    Allowed,
    BoundaryCondition::{self, Clamp, Exit, Periodic, Reflect, Slide, Stick},
    CellKind, Control, Domain, Engine, Field, FieldFn, Inlet, InletShape, Obstacle, Pattern,
    Placement, Precision, Progress, RandomWalk, SaveAt, Scheme, Seeds, SeedsOutside, Shape, Source,
    Status, Tracer, Tracks,
};

type Point = [f64; 3];

/// Box lengths from 0 to the domain: ten million and more.
const FAR: f64 = 16_777_216.0;

/// Rounding of positions and times in double precision at this distance, or of the machine.
fn rounding(machine: &Machine) -> f64 {
    machine.eps().max(FAR * f64::EPSILON)
}

fn moved(p: Point, by: Point) -> Point {
    [0, 1, 2].map(|d| p[d] + by[d])
}

/// The positions of a save, measured from `by`.
fn positions(tracks: &Tracks, save: usize, by: Point) -> Vec<Point> {
    let exact = tracks.saves()[save].exact_positions().unwrap();
    exact.into_iter().map(|p| moved(p, by.map(|x| -x))).collect()
}

fn last(tracks: &Tracks, by: Point) -> Vec<Point> {
    positions(tracks, tracks.saves().len() - 1, by)
}

/// The image data of issue reports: UTM coordinates, 0.1 m/s to the east, 0.05 m/s to the north.
#[test]
fn small_steps_in_utm_coordinates_are_not_lost() {
    let (low, high) = ([450e3, 4.5e6, 0.0], [460e3, 4.51e6, 20.0]);
    let start = [[452_000.3, 4_502_000.7, 5.0], [453_000.1, 4_503_000.2, 7.0]];
    for machine in machines() {
        let field = machine.field(&Frames::uniform(low, high, &[0.0], |_| [0.1, 0.05, 0.0]));
        for &engine in machine.engines() {
            let count = if engine == Engine::Fused { 10_000 } else { 200 };
            let span = steps(0.0, count as f64, count);
            let tracer = Tracer::new(&field).engine(engine).span(span);
            let tracks = tracer.trace(&Seeds::list(start.to_vec()).unwrap()).unwrap();
            let travelled = [0.1, 0.05, 0.0].map(|v| v * count as f64);
            let expected = start.map(|p| moved(p, travelled));
            let what = format!("{machine}, {engine}");
            let error = distance(&last(&tracks, [0.0; 3]), &expected);
            assert_below(&what, error, 4.0 * machine.eps() * travelled[0]);
        }
    }
}

/// Rotation about the middle of the unit box, and a drift, as a linear velocity.
fn velocity([x, y, z]: Point) -> Point {
    [0.5 - y + 0.25, x - 0.5, 0.25 * (z - 0.25)]
}

/// The fields of the unit box at an offset and a scale, by name.
fn fields(machine: &Machine, by: Point, scale: f64) -> Vec<(&'static str, Box<dyn Field>)> {
    let place = |p: Point| moved(p.map(|x| scale * x), by);
    let back = |p: Point| [0, 1, 2].map(|d| (p[d] - by[d]) / scale);
    let of = |p: Point| velocity(back(p)).map(|v| scale * v);
    let axis =
        |nodes: &[f64], d: usize| nodes.iter().map(|x| scale * x + by[d]).collect::<Vec<_>>();
    let even: Vec<f64> = (0..=8).map(|i| f64::from(i) / 8.0).collect();
    let uneven = [0.0, 0.125, 0.25, 0.5, 0.75, 0.875, 1.0];
    let grid = |nodes: &[f64], placement| {
        let axes = [0, 1, 2].map(|d| axis(nodes, d));
        Box::new(machine.field(&Frames::new(axes, placement, &[0.0], |p, _| of(p))))
    };
    let mesh = |kind| {
        let mut made = Made::of(4, 0.0, kind);
        made.points.iter_mut().for_each(|p| *p = place(*p));
        Box::new(MeshFrames::new(&made, &[0.0], |p, _| of(p)).field(machine))
    };
    let cloud = |weighting| {
        let dyadic = |x: f64| (x * 1024.0).floor() / 1024.0;
        let nodes = Dice(7).points([0.0; 3], [1.0; 3], 60).into_iter().map(|p| p.map(dyadic));
        let nodes = nodes.chain([[0.0; 3], [1.0; 3]]).map(place).collect();
        Box::new(Cloud::new(nodes, &[0.0], weighting, |p, _| of(p)).load(machine))
    };
    let mut fields: Vec<(&'static str, Box<dyn Field>)> =
        vec![("even grid", grid(&even, Placement::Nodes))];
    // Kernels of other fields take software GPUs seconds to compile.
    if machine.is_cpu() || !machine.is_double() {
        fields.push(("uneven grid", grid(&uneven, Placement::Nodes)));
        fields.push(("tetrahedra", mesh(CellKind::Tetra)));
    }
    if machine.is_cpu() {
        fields.push(("cells of a grid", grid(&even, Placement::Cells)));
        fields.push(("hexahedra", mesh(CellKind::Hexahedron)));
        fields.push(("nearest of points", cloud(burntrace::Weighting::Nearest)));
        fields.push(("mean of points", cloud(mean(4, 2.0))));
    }
    fields
}

/// Conditions at the faces, at the mesh boundary, and obstacles.
fn surroundings(by: Point, scale: f64) -> Vec<(&'static str, BoundaryCondition, Vec<Obstacle>)> {
    let place = |p: Point| moved(p.map(|x| scale * x), by);
    let obstacle = |shape, surface| Obstacle { shape, allowed: Allowed::Outside, surface };
    let ball = Shape::Sphere { centre: place([0.75, 0.5, 0.5]), radius: 0.125 * scale };
    let block = crate_of_triangles(place([0.25, 0.25, 0.25]), place([0.375, 0.75, 0.75]));
    vec![
        ("reflecting", Reflect, vec![]),
        ("clamping", Clamp, vec![]),
        ("periodic", Periodic, vec![]),
        ("obstacles", Exit, vec![obstacle(ball, Slide), obstacle(block, Reflect)]),
        (
            "sticky",
            Exit,
            vec![obstacle(Shape::Sphere { centre: place([0.5; 3]), radius: 0.25 * scale }, Stick)],
        ),
    ]
}

fn seeds(by: Point, scale: f64) -> Seeds {
    let dyadic = |x: f64| (x * 1_048_576.0).floor() / 1_048_576.0;
    let points = Dice(3).points([0.02; 3], [0.98; 3], 40).into_iter();
    Seeds::list(points.map(|p| moved(p.map(|x| scale * dyadic(x)), by)).collect()).unwrap()
}

/// Final positions in the unit box and statuses of all seeds, in a domain at an offset and a scale.
fn ends(
    machine: &Machine,
    engine: Engine,
    (by, scale): (Point, f64),
) -> Vec<(String, Vec<Point>, Vec<Status>)> {
    let mut all = Vec::new();
    for (kind, field) in fields(machine, by, scale) {
        for (name, faces, obstacles) in surroundings(by, scale) {
            // Each is a kernel to compile. Bodies do not depend on the kind of field.
            let is_on_cards = match machine.is_double() {
                false => obstacles.is_empty() || kind == "even grid",
                true => !matches!(name, "periodic" | "sticky"),
            };
            if !machine.is_cpu() && !is_on_cards {
                continue;
            }
            let of_mesh = if faces == Clamp { Slide } else { Reflect };
            let tracer = Tracer::new(field.as_ref())
                .all_faces(faces)
                .seeds_outside(SeedsOutside::NotLocated)
                .mesh_wall(of_mesh)
                .obstacles(obstacles)
                .engine(engine)
                .scheme(Scheme::Midpoint)
                .span(steps(0.0, 2.0, 24));
            let tracks = tracer.trace(&seeds(by, scale)).unwrap();
            let ends = last(&tracks, by).into_iter().map(|p| p.map(|x| x / scale)).collect();
            all.push((format!("{kind}, {name}"), ends, tracks.ends().status.clone()));
        }
    }
    all
}

/// Compares domains with the unit box: few particles may differ, which rounding sends to another node or past
/// the end of an edge.
fn assert_like_unit_box(machine: &Machine, engine: Engine, other: (Point, f64)) {
    let near = ends(machine, engine, ([0.0; 3], 1.0));
    for ((what, a, of_a), (_, b, of_b)) in near.iter().zip(&ends(machine, engine, other)) {
        let what = format!("{machine}, {engine}, {what}, {other:?}");
        let is_apart = |i: &usize| {
            let apart = distance(&a[*i..=*i], &b[*i..=*i]);
            apart > 256.0 * rounding(machine) || of_a[*i] != of_b[*i]
        };
        let apart: Vec<usize> = (0..a.len()).filter(is_apart).collect();
        let first = apart.first().map(|i| (a[*i], of_a[*i], b[*i], of_b[*i]));
        assert!(apart.len() <= 2, "{what}: {} particles, the first {first:?}", apart.len());
    }
}

#[test]
fn far_domains_are_as_good_as_the_unit_box() {
    for machine in machines() {
        for &engine in machine.engines() {
            // Tensor operations are slow on other devices, and not their own.
            if engine == Engine::Tensor && machine.name != "flex" {
                continue;
            }
            let far = [FAR, -2.0 * FAR, 0.5 * FAR];
            assert_like_unit_box(&machine, engine, (far, 1.0));
        }
    }
}

/// 2^27 m is 1.3e8 m, 2^-30 m is 9.3e-10 m.
#[test]
fn huge_and_tiny_domains_are_as_good_as_the_unit_box() {
    for machine in machines().into_iter().filter(|machine| !machine.is_double()) {
        for scale in [134_217_728.0, 1.0 / 1_073_741_824.0] {
            assert_like_unit_box(&machine, Engine::Fused, ([0.0; 3], scale));
        }
    }
}

/// Steps of an eighth of the distance of neighbouring numbers, which a plain sum loses.
#[test]
fn steps_below_rounding_add_up_in_the_unit_box() {
    for machine in machines() {
        let speed = [0.0625, -0.0625, 0.03125].map(|v| v * machine.eps());
        let field = machine.field(&Frames::uniform([0.0; 3], [1.0; 3], &[0.0], |_| speed));
        let start = [[0.75, 0.625, 0.5]];
        for &engine in machine.engines() {
            let count = if engine == Engine::Fused { 4096 } else { 256 };
            let tracer = Tracer::new(&field).engine(engine);
            let tracer = tracer.span(steps(0.0, count as f64, count));
            let tracks = tracer.trace(&Seeds::list(start.to_vec()).unwrap()).unwrap();
            let expected = start.map(|p| moved(p, speed.map(|v| v * count as f64)));
            let found = rows(tracks.saves().last().unwrap().position.clone());
            assert_below(
                &format!("{machine}, {engine}"),
                distance(&found, &expected),
                machine.eps(),
            );
        }
    }
}

/// The rest of a position survives the contact with a face, along the other axes.
#[test]
fn small_steps_along_a_face_add_up() {
    for machine in machines() {
        let speed = [0.0625 * machine.eps(), 1e-3 * machine.eps(), 0.0];
        let grid = machine.field(&Frames::uniform([0.0; 3], [1.0; 3], &[0.0], |_| speed));
        let tracer = Tracer::new(&grid).all_faces(Clamp).span(steps(0.0, 4096.0, 4096));
        let start = Seeds::list(vec![[0.625, 1.0, 0.5]]).unwrap();
        let tracks = tracer.trace(&start).unwrap();
        let expected = [[0.625 + 4096.0 * speed[0], 1.0, 0.5]];
        let found = rows(tracks.saves().last().unwrap().position.clone());
        assert_below(&format!("{machine}"), distance(&found, &expected), machine.eps());
    }
}

/// Gradients do not depend on where the domain is.
#[test]
fn gradients_are_those_of_the_unit_box() {
    let machine = double_machines().into_iter().find(Machine::is_cpu).unwrap();
    let machine = Machine { device: machine.device.clone().autodiff(), ..machine };
    let gradient = |by: Point| {
        let axes = [0, 1, 2].map(|d| even_axis(by[d], by[d] + 1.0, 4));
        let of = |p: Point, _: f64| velocity(moved(p, by.map(|x| -x)));
        let field = machine.field(&Frames::new(axes, Placement::Nodes, &[0.0], of));
        let start = moved([0.625, 0.25, 0.375], by).to_vec();
        let f64s = (&machine.device, DType::F64);
        let start = Tensor::<2>::from_data(TensorData::new(start, [1, 3]), f64s);
        let start = start.require_grad();
        let seeds = Seeds::from_tensor(start.clone()).unwrap();
        let tracer = Tracer::new(&field).all_faces(Reflect).span(steps(0.0, 1.0, 8));
        let tracks = tracer.trace(&seeds).unwrap();
        let [saves, _, _] = tracks.positions().dims();
        let end = tracks.positions().narrow(0, saves - 1, 1);
        let weights = Tensor::<3>::from_data([[[1.0, -2.0, 0.5]]], f64s);
        let grads = (end * weights).sum().backward();
        rows(start.grad(&grads).unwrap())
    };
    let (near, far) = (gradient([0.0; 3]), gradient([FAR, -FAR, FAR]));
    assert_below("gradients", distance(&near, &far), 1e-12);
}

/// A field of one's own far from 0 is asked at positions in single precision, but loses no small step.
#[test]
fn own_fields_far_from_zero_lose_no_step() {
    for machine in machines().into_iter().filter(|machine| !machine.is_double()) {
        let velocity = |p: Tensor<2>, _: f64| p.zeros_like().add_scalar(0.0625);
        let domain = Domain::new([450e3; 3], [460e3; 3]).unwrap();
        let field = FieldFn::new(domain, &machine.device, Precision::F32, velocity);
        let start = Seeds::list(vec![[451_000.0; 3]]).unwrap();
        let tracer = Tracer::new(&field).span(steps(0.0, 64.0, 256));
        let tracks = tracer.trace(&start).unwrap();
        assert_eq!(last(&tracks, [0.0; 3]), [[451_004.0; 3]], "{machine}");
    }
}

/// Particles of sources far from 0, in space and time, start and end where those of the unit box do.
#[test]
fn instances_of_sources_are_in_the_coordinates_of_the_data() {
    let run = |machine: &Machine, engine: Engine, by: f64| {
        let (low, high) = ([by; 3], [by + 1.0; 3]);
        let field = machine.field(&Frames::uniform(low, high, &[by], |_| [1.0, 0.25, 0.0]));
        let shape = InletShape::Face(burntrace::Face::XLow);
        let inlet = Inlet::new(shape, Pattern::Uniform).unwrap();
        let source = Source::constant(inlet.clone(), 8.0, 16).unwrap();
        let tracer = Tracer::new(&field)
            .outlet(burntrace::Face::XHigh, inlet)
            .source(source)
            .engine(engine)
            .span(steps(by, by + 2.0, 32));
        let seeds = Seeds::list(vec![[by + 0.5; 3], [by + 0.25; 3]]).unwrap();
        let tracks = tracer.trace(&seeds).unwrap();
        let since = |p: Point| p.map(|x| x - by);
        let numbers = |of: &burntrace::ParticleInstance| {
            let residence = of.residence_time();
            let times =
                [of.release_time - by, if residence.is_nan() { -1.0 } else { residence }, 0.0];
            ([since(of.release_position), since(of.end_position), times], of.status)
        };
        tracks.instances().iter().map(numbers).collect::<Vec<_>>()
    };
    for machine in machines() {
        for &engine in machine.engines() {
            let (near, far) = (run(&machine, engine, 0.0), run(&machine, engine, FAR));
            assert_eq!(near.len(), far.len(), "{machine}, {engine}");
            assert!(near.len() > 10);
            for (a, b) in near.iter().zip(&far) {
                let what = format!("{machine}, {engine}, {a:?}, {b:?}");
                assert_eq!(a.1, b.1, "{what}");
                assert_below(&what, distance(&a.0, &b.0), 64.0 * rounding(&machine));
            }
        }
    }
}

/// Batches, saves in blocks and on the device give the same numbers.
#[test]
fn batches_do_not_change_positions() {
    for machine in machines() {
        let by = [FAR; 3];
        let (_, field) = fields(&machine, by, 1.0).swap_remove(0);
        let tracer = |batch: Option<usize>| {
            // The scheme of the other tests here, whose kernel a graphics card then has.
            let tracer = Tracer::new(field.as_ref()).all_faces(Periodic).scheme(Scheme::Midpoint);
            let tracer = tracer.span(steps(0.0, 2.0, 24)).save(SaveAt::EverySteps(6));
            if let Some(batch) = batch { tracer.batch(batch) } else { tracer }
        };
        let all = tracer(None).trace(&seeds(by, 1.0)).unwrap();
        let parts = tracer(Some(7)).trace(&seeds(by, 1.0)).unwrap();
        for save in 0..all.saves().len() {
            assert_eq!(positions(&all, save, by), positions(&parts, save, by), "{machine}");
        }
    }
}

/// A run that is resumed continues with the rests of its positions.
#[test]
fn resumed_runs_far_from_zero_are_bit_identical() {
    for machine in some_machines() {
        let (_, field) = fields(&machine, [FAR; 3], 1.0).swap_remove(0);
        let tracer = Tracer::new(field.as_ref())
            .all_faces(Periodic)
            .random_walk(RandomWalk::isotropic(1e-3, 5))
            .span(steps(0.0, 2.0, 24))
            .save(SaveAt::EverySteps(6));
        let seeds = seeds([FAR; 3], 1.0);
        let whole = run(&tracer, &seeds);
        let (mut states, mut record) = (States::default(), RecordingSink::default());
        tracer.prepare(&seeds).unwrap().run_observed(&mut record, &mut states).unwrap();
        for (k, state) in states.0.iter().enumerate() {
            let mut record = record.at(state.numbers.mark());
            let prepared = tracer.prepare(&seeds).unwrap().resume(state).unwrap();
            let summary = prepared.run_into(&mut record).unwrap();
            assert_same(&format!("{machine}, from state {k}"), &whole, &(record, summary));
        }
    }
}

/// Releases and ends within steps, ten million steps after time 0.
#[test]
fn times_far_from_zero_are_those_near_it() {
    for machine in machines() {
        let field = |t0: f64| {
            let times = [t0, t0 + 8.0];
            machine.field(&Frames::uniform([0.0; 3], [1.0; 3], &times, |t| {
                [if t > t0 { 0.5 } else { 0.125 }, 0.0, 0.0]
            }))
        };
        let times = |t0: f64| {
            let field = field(t0);
            let seeds = Seeds::list(vec![[0.25, 0.5, 0.5]; 3]).unwrap();
            let seeds = seeds.with_release(vec![t0, t0 + 0.375, t0 + 1.8125]).unwrap();
            let run = trace(&Tracer::new(&field).span(steps(t0, t0 + 8.0, 8)), &seeds);
            assert_eq!(run.summary.ended(), 3);
            let since = |times: &[f64]| times.iter().map(|t| t - t0).collect::<Vec<_>>();
            [since(&run.release_time), since(&run.end_time)].concat()
        };
        let (near, far) = (times(0.0), times(FAR));
        for (near, far) in near.iter().zip(&far) {
            assert_below(&format!("{machine}"), (near - far).abs(), 4.0 * rounding(&machine));
        }
    }
}

/// Path lengths, displacements and speeds are sums and differences of positions.
#[test]
fn statistics_far_from_zero_are_those_of_the_unit_box() {
    for machine in machines() {
        let statistics = |by: Point| {
            let (_, field) = fields(&machine, by, 1.0).swap_remove(0);
            let tracer = Tracer::new(field.as_ref()).all_faces(Reflect);
            let tracer = tracer.span(steps(0.0, 2.0, 64)).save(SaveAt::EverySteps(1));
            let mut statistics = Statistics::new();
            let mut go_on = |_: Progress| Control::Continue;
            tracer.trace_into(&seeds(by, 1.0), &mut statistics, &mut go_on).unwrap();
            statistics.result().unwrap().particles
        };
        let (near, far) = (statistics([0.0; 3]), statistics([FAR; 3]));
        for (a, b) in near.iter().zip(&far) {
            let what = format!("{machine}, {a:?}, {b:?}");
            let bound = 64.0 * rounding(&machine);
            assert_below(&what, (a.path_length - b.path_length).abs(), bound);
            assert_below(&what, (a.distance - b.distance).abs(), bound);
        }
    }
}

/// Exponents are logarithms of ratios of small distances.
#[test]
fn lyapunov_exponents_far_from_zero_are_those_of_the_unit_box() {
    for machine in machines() {
        let exponents = |by: Point| {
            let axes = [0, 1, 2].map(|d| even_axis(by[d], by[d] + 1.0, 4));
            let of = |p: Point, _: f64| velocity(moved(p, by.map(|x| -x)));
            let field = machine.field(&Frames::new(axes, Placement::Nodes, &[0.0], of));
            let corner = |x: f64| moved([x; 3], by);
            let placement = burntrace::GridPlacement::Corners;
            let lattice = Lattice::new(corner(0.375), corner(0.625), [3; 3], placement).unwrap();
            let stencil = Stencil::Auxiliary(1.0 / 1024.0);
            let seeds = lattice.seeds(stencil).unwrap();
            let tracks = Tracer::new(&field).span(steps(0.0, 0.5, 16)).trace(&seeds).unwrap();
            let save = tracks.saves().last().unwrap();
            let map = FlowMap::of_save(&lattice, stencil, save, [0.0; 3], 0.5).unwrap();
            floats(map.ftle().unwrap().values())
        };
        let (near, far) = (exponents([0.0; 3]), exponents([FAR; 3]));
        for (near, far) in near.iter().zip(&far) {
            // Roundings of positions over a distance of 1/1024, in a time of 1/2.
            let bound = 1024.0 * 2.0 * 16.0 * rounding(&machine);
            assert_below(&format!("{machine}"), (near - far).abs(), bound);
        }
    }
}

/// Densities of positions that are measured from a point nearby.
#[test]
fn densities_far_from_zero_are_those_of_the_unit_box() {
    let (low, high) = ([0.0; 3], [1.0; 3]);
    let edges = [[Edge::Reflecting; 2], [Edge::Periodic; 2], [Edge::Open; 2]];
    for machine in machines() {
        let given = seeds(low, 1.0);
        let data = TensorData::new(given.positions().as_flattened().to_vec(), [given.len(), 3]);
        let data = data.convert_dtype(machine.precision.dtype());
        let positions = Tensor::<2>::from_data(data, (&machine.device, machine.precision.dtype()));
        for density in [Density::kde(Bandwidth::Scott), Density::cloud_in_cell()] {
            let values = |by: Point| {
                let (low, high) = (moved(low, by), moved(high, by));
                let density = density.clone().within(low, high, edges).measured_from(by);
                let lattice = density::Lattice { counts: [9, 9, 9], low, high };
                floats(density.on_grid(&positions, &lattice).unwrap().values)
            };
            let (near, far) = (values(low), values([FAR; 3]));
            let largest = near.iter().copied().fold(0.0, f64::max);
            for (near, far) in near.iter().zip(&far) {
                let bound = 256.0 * rounding(&machine) * largest;
                assert_below(&format!("{machine}"), (near - far).abs(), bound);
            }
        }
    }
}

/// Cells of a millionth of the domain and less, far from its origin: a shear along y is linear, so that each
/// cell gives it to rounding, and no particle is lost between them.
#[test]
fn cells_of_a_millionth_of_the_domain_lose_no_particle() {
    let widths = (0..=20).map(|i| 1.0 - 0.5_f64.powi(i)).chain([1.0]).collect::<Vec<_>>();
    let velocity = |[x, _, _]: Point, _: f64| [0.0, 0.25 + 0.5 * x, 0.0];
    let mut dice = Dice(11);
    // Within the last cells, and anywhere.
    let depth = |dice: &mut Dice| 0.5_f64.powf(dice.between(0.0, 19.5));
    let starts: Vec<Point> =
        (0..200).map(|_| [1.0 - depth(&mut dice), dice.between(0.05, 0.2), 0.5]).collect();
    let ends: Vec<Point> = starts.iter().map(|[x, y, z]| [*x, y + 0.25 + 0.5 * x, *z]).collect();
    for machine in machines() {
        let axes = [widths.clone(), even_axis(0.0, 1.0, 4), even_axis(0.0, 1.0, 1)];
        let frames = Frames::new(axes.clone(), Placement::Nodes, &[0.0], velocity);
        let mut fields: Vec<Box<dyn Field>> = vec![Box::new(machine.field(&frames))];
        if machine.is_cpu() || !machine.is_double() {
            fields.push(Box::new(boxes(&axes, velocity).field(&machine)));
        }
        for field in fields {
            for &engine in machine.engines() {
                let tracer = Tracer::new(field.as_ref()).engine(engine).span(steps(0.0, 1.0, 16));
                let run = trace(&tracer, &Seeds::list(starts.clone()).unwrap());
                let what = format!("{machine}, {engine}, mesh: {}", field.mesh().is_some());
                assert_eq!(run.status, vec![Status::Active; starts.len()], "{what}");
                assert_below(&what, distance(run.last(), &ends), 8.0 * machine.eps());
            }
        }
    }
}

/// The cells of a rectilinear grid as a mesh of hexahedra.
fn boxes([xs, ys, zs]: &[Vec<f64>; 3], velocity: impl Fn(Point, f64) -> Point) -> MeshFrames {
    let mut frames =
        MeshFrames::new(&Made::of(1, 0.0, CellKind::Hexahedron), &[0.0], |_, _| [0.0; 3]);
    let across = |y: &f64, z: &f64| xs.iter().map(|x| [*x, *y, *z]).collect::<Vec<_>>();
    frames.points =
        zs.iter().flat_map(|z| ys.iter().flat_map(|y| across(y, z)).collect::<Vec<_>>()).collect();
    frames.values = vec![frames.points.iter().flat_map(|p| velocity(*p, 0.0)).collect()];
    let at = |i: usize, j: usize, k: usize| ((k * ys.len() + j) * xs.len() + i) as u32;
    let mut cells = burntrace::mesh::Cells { offsets: vec![0], ..Default::default() };
    for (k, j) in (1..zs.len()).flat_map(|k| (1..ys.len()).map(move |j| (k, j))) {
        for i in 1..xs.len() {
            let face = |k| [at(i - 1, j - 1, k), at(i, j - 1, k), at(i, j, k), at(i - 1, j, k)];
            cells.connectivity.extend([face(k - 1), face(k)].as_flattened());
            cells.offsets.push(cells.connectivity.len() as u32);
            cells.kinds.push(CellKind::Hexahedron);
        }
    }
    frames.cells = cells;
    frames
}
