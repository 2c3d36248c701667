//! A factor of a further field for each particle.

use crate::{cloud::*, common::*, lattice::Lattice, meshes::*, oracle::Point};
use burn::tensor::{Device, Tensor};
use burntrace::{
    Addend, Adjoint,
    BoundaryCondition::{Reflect, Slide, Stick},
    CellVelocity, Distribution, EARTH_RADIUS, Engine, Field, FieldOptions, FrameSource, GridField,
    GridSource, Inertia, Inlet, InletShape, MeshField, NotFinite, OutsideField, Pattern,
    PerParticle, Placement, PointField, Precision, RandomWalk, SaveAt, Scheme, Seeds, SeedsOutside,
    Slip, Solver, Source, Status, Sum, Tolerance, Tracer,
};

/// The factors of the particles, one after another.
const FACTORS: [f64; 3] = [0.0, 0.4, -1.3];

const TIMES: [f64; 3] = [0.0, 0.7, 2.0];

fn own([x, y, z]: Point, t: f64) -> Point {
    [0.3 - y + 0.2 * t, 0.6 * x * x - 0.2, 0.1 * z * t - 0.05]
}

fn wind([x, y, z]: Point, t: f64) -> Point {
    [0.5 * (3.0 * y).sin(), 0.4 - 0.3 * t * x, 0.2 * x * y - 0.1 * z]
}

fn options(precision: Precision) -> FieldOptions {
    FieldOptions { precision, ..FieldOptions::default() }
}

fn wind_on_host(options: FieldOptions) -> Box<dyn Field> {
    let axes = [even_axis(-0.5, 1.5, 9), stretched_axis(-0.5, 1.5, 7), even_axis(-0.5, 1.5, 4)];
    let frames = Frames::new(axes, Placement::Nodes, &[0.0, 1.1, 2.0], wind);
    let options = FieldOptions { precision: Precision::F64, ..options };
    Box::new(GridField::load(&mut frames.clone(), &Device::flex(), &options).unwrap())
}

/// The addend of one factor for all particles, or of one for each.
fn addend(factor: Option<f64>) -> Addend {
    let given = Addend { rotate: 25.0, ..Addend::default() };
    match factor {
        Some(factor) => Addend { factor, ..given },
        None => Addend { per_particle: true, ..given },
    }
}

/// Three particles, one for each factor, at each of some positions.
fn threefold(positions: &[Point]) -> Vec<Point> {
    positions.iter().flat_map(|p| [*p; 3]).collect()
}

fn positions() -> Vec<Point> {
    Dice(9).points([0.25; 3], [0.75; 3], 14)
}

/// One of the factors after another, for a number of particles.
fn factors(count: usize) -> Vec<f64> {
    FACTORS.iter().copied().cycle().take(count).collect()
}

/// A field of each kind, without and with a factor, and its name.
type Kind = (&'static str, fn(&Machine, Option<f64>) -> Box<dyn Field>);

fn grid(machine: &Machine, placement: Placement, factor: Option<f64>) -> Box<dyn Field> {
    let axes = [stretched_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 4), even_axis(0.0, 1.0, 3)];
    let first = Frames::new(axes, placement, &TIMES, own);
    let options = options(machine.precision);
    let sum = Sum::on_grid(first, &options).unwrap();
    let mut sum = sum.with(wind_on_host(options), addend(factor)).unwrap();
    Box::new(GridField::load(&mut sum, &machine.device, &options).unwrap())
}

fn mesh(machine: &Machine, in_cells: CellVelocity, factor: Option<f64>) -> Box<dyn Field> {
    let mut frames = MeshFrames::new(&mixed(3), &TIMES, own);
    if in_cells == CellVelocity::Averaged {
        let mut dice = Dice(3);
        let mut frame = || (0..3 * frames.cells.len()).map(|_| dice.between(-0.5, 0.5)).collect();
        frames.values = TIMES.map(|_| frame()).to_vec();
        frames.placement = Placement::Cells;
    }
    let options = options(machine.precision);
    let sum = Sum::on_mesh(frames, &options, in_cells).unwrap();
    let mut sum = sum.with(wind_on_host(options), addend(factor)).unwrap();
    Box::new(MeshField::load(&mut sum, &machine.device, &options, in_cells).unwrap())
}

fn on_faces(machine: &Machine, factor: Option<f64>) -> Box<dyn Field> {
    let axes = [even_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 4), even_axis(0.0, 1.0, 3)];
    let lattice = Lattice::of_axes(&axes);
    let mut dice = Dice(8);
    let mut frame = || (0..3 * lattice.points.len()).map(|_| dice.between(-0.5, 0.5)).collect();
    let frames = MeshFrames {
        values: TIMES.map(|_| frame()).to_vec(),
        points: lattice.points.clone(),
        cells: lattice.cells.clone(),
        placement: Placement::Faces,
        times: TIMES.to_vec(),
    };
    let (options, in_cells) = (options(machine.precision), CellVelocity::Constant);
    let sum = Sum::on_mesh(frames, &options, in_cells).unwrap();
    let mut sum = sum.with(wind_on_host(options), addend(factor)).unwrap();
    Box::new(MeshField::load(&mut sum, &machine.device, &options, in_cells).unwrap())
}

fn points(machine: &Machine, factor: Option<f64>) -> Box<dyn Field> {
    let nodes = Dice(4).points([0.0; 3], [1.0; 3], 60);
    let cloud = Cloud::new(nodes, &TIMES, mean(3, 2.0), own);
    let options = options(machine.precision);
    let sum = Sum::on_points(cloud, &options, mean(3, 2.0)).unwrap();
    let mut sum = sum.with(wind_on_host(options), addend(factor)).unwrap();
    Box::new(PointField::load(&mut sum, &machine.device, &options, mean(3, 2.0)).unwrap())
}

const KINDS: [Kind; 6] = [
    ("grid", |machine, factor| grid(machine, Placement::Nodes, factor)),
    ("cells", |machine, factor| grid(machine, Placement::Cells, factor)),
    ("mesh", |machine, factor| mesh(machine, CellVelocity::Constant, factor)),
    ("averaged", |machine, factor| mesh(machine, CellVelocity::Averaged, factor)),
    ("faces", on_faces),
    ("points", points),
];

/// Checks that particles with factors of their own end as in runs in which all have that factor. Returns the run.
#[track_caller]
fn assert_as_alone(
    what: &str,
    field: &dyn Fn(Option<f64>) -> Box<dyn Field>,
    set: &dyn for<'f> Fn(Tracer<'f>) -> Tracer<'f>,
    (seeds, allowed): (&Seeds, f64),
) -> Run {
    let (own, factors) = (field(None), factors(seeds.len()));
    let run = trace(&set(Tracer::new(&*own)).factors(factors.clone()), seeds);
    for factor in FACTORS {
        let alone = field(Some(factor));
        let expected = trace(&set(Tracer::new(&*alone)), seeds);
        let of_factor = |i: &usize| factors[*i] == factor;
        let rows: Vec<usize> = (0..seeds.len()).filter(of_factor).collect();
        for (save, other) in run.saves.iter().zip(&expected.saves) {
            let pick = |all: &[Point]| rows.iter().map(|i| all[*i]).collect::<Vec<_>>();
            let known = |p: Point| p.map(|x| if x.is_nan() { 99.0 } else { x });
            let [a, b] =
                [save, other].map(|all| pick(all).into_iter().map(known).collect::<Vec<_>>());
            assert_below(&format!("{what}, factor {factor}"), distance(&a, &b), allowed);
        }
        for i in rows {
            assert_eq!(run.status[i], expected.status[i], "{what}, particle {i}");
        }
        if let (Some(a), Some(b)) = (&run.velocities, &expected.velocities) {
            let count = 3 * seeds.len();
            let is_own = |i: &usize| of_factor(&(i % count / 3)) && b[*i].is_finite();
            let apart = (0..a.len()).filter(is_own).map(|i| (a[i] - b[i]).abs());
            assert_below(&format!("{what}, velocity"), apart.fold(0.0, f64::max), allowed);
        }
    }
    run
}

#[test]
fn particles_move_as_in_runs_with_their_factor() {
    let seeds = Seeds::list(threefold(&positions())).unwrap();
    let release = (0..seeds.len()).map(|i| [0.0, 0.31, 0.0][i / 3 % 3]).collect();
    let seeds = seeds.with_release(release).unwrap();
    for machine in some_machines() {
        // A software GPU takes seconds to compile a kernel.
        let is_tested = |(k, _): &(usize, Kind)| machine.is_cpu() || [0, 4].contains(k);
        for (k, (name, field)) in KINDS.into_iter().enumerate().filter(is_tested) {
            for engine in machine.engines() {
                let scheme = [Scheme::Rk4, Scheme::Heun, Scheme::DormandPrince][k % 3];
                let what = format!("{name} {machine} {scheme:?} {engine:?}");
                let field = |factor| field(&machine, factor);
                let set: &dyn for<'f> Fn(Tracer<'f>) -> Tracer<'f> = &|tracer| {
                    let tracer = tracer.scheme(scheme).engine(*engine).mesh_wall(Reflect);
                    let tracer = tracer.span(span(0.0, 1.6, 0.1));
                    tracer.save(SaveAt::EverySteps(8)).save_velocity(true)
                };
                assert_as_alone(&what, &field, set, (&seeds, 200.0 * machine.eps()));
            }
        }
    }
}

#[test]
fn adaptive_steps_follow_the_factor() {
    let seeds = Seeds::list(threefold(&positions())).unwrap();
    // In single precision, rounding decides whether some steps are accepted.
    for machine in exact_machines() {
        let solver = Solver::adaptive(Tolerance::new(1e-5, 1e-5));
        for (name, field) in [KINDS[0], KINDS[2]] {
            for engine in machine.engines() {
                let what = format!("{name} {machine} {engine:?}");
                let field = |factor| field(&machine, factor);
                let set: &dyn for<'f> Fn(Tracer<'f>) -> Tracer<'f> =
                    &|tracer| tracer.solver(solver).engine(*engine).span(span(0.0, 1.5, 0.5));
                let run = assert_as_alone(&what, &field, set, (&seeds, 1e5 * machine.eps()));
                let steps = run.summary.particle_steps;
                assert!(steps > 0, "{what}: {steps}");
            }
        }
    }
}

#[test]
fn random_walks_and_operations_after_steps_have_factors() {
    let seeds = Seeds::list(threefold(&positions())).unwrap();
    for machine in exact_machines() {
        for engine in machine.engines() {
            let field = |factor| grid(&machine, Placement::Nodes, factor);
            let set: &dyn for<'f> Fn(Tracer<'f>) -> Tracer<'f> = &|tracer| {
                tracer
                    .engine(*engine)
                    .all_faces(Reflect)
                    .random_walk(RandomWalk::isotropic(0.01, 5))
                    .each_step(|step| step.after + step.before * 0.01)
                    .span(span(0.0, 1.5, 0.1))
            };
            let what = format!("{machine} {engine:?}");
            assert_as_alone(&what, &field, set, (&seeds, 1e3 * machine.eps()));
        }
    }
}

#[test]
fn linear_flows_are_exact() {
    // x' = 1 + c (2 + t), y' = c x: polynomials of degrees 2 and 3 in time.
    let axes = [vec![-30.0, 30.0], vec![-90.0, 90.0], vec![0.0]];
    let first =
        Frames::uniform([-30.0, -90.0, 0.0], [30.0, 90.0, 0.0], &[0.0], |_| [1.0, 0.0, 0.0]);
    let wind = Frames::new(axes, Placement::Nodes, &[0.0, 1.0, 3.0], |p, t| [2.0 + t, p[0], 0.0]);
    for machine in some_machines() {
        let options = options(machine.precision);
        let sum = Sum::on_grid(first.clone(), &options).unwrap();
        let wind = GridField::load(&mut wind.clone(), &Device::flex(), &options).unwrap();
        let given = Addend { per_particle: true, factor: 2.0, ..Addend::default() };
        let mut sum = sum.with(Box::new(wind), given).unwrap();
        let field = GridField::load(&mut sum, &machine.device, &options).unwrap();
        let half: Vec<f64> = FACTORS.map(|c| 0.5 * c).to_vec();
        let seeds = Seeds::list(vec![[0.5, 0.25, 0.0]; 3]).unwrap();
        for (t0, t1) in [(0.0, 3.0), (3.0, 0.0)] {
            let tracer = Tracer::new(&field).span(steps(t0, t1, 12)).factors(half.clone());
            let run = trace(&tracer, &seeds);
            let x = |c: f64, t: f64| (1.0 + 2.0 * c) * t + 0.5 * c * t * t;
            let of_x = |c: f64, t: f64| 0.5 * (1.0 + 2.0 * c) * t * t + c * t * t * t / 6.0;
            let expected = FACTORS.map(|c| {
                let start = 0.5 - x(c, t0);
                let y = 0.25 + c * (start * (t1 - t0) + of_x(c, t1) - of_x(c, t0));
                [start + x(c, t1), y, 0.0]
            });
            assert_below(
                &machine.to_string(),
                distance(run.last(), &expected),
                100.0 * machine.eps(),
            );
        }
    }
}

/// A sea with an island on a sphere, and a wind over all of it.
fn sea(machine: &Machine, factor: Option<f64>, (width, slip): ([f64; 2], Slip)) -> GridField {
    let [west, east] = width;
    let axes = [even_axis(west, east, 24), even_axis(60.0, 88.0, 14), vec![0.0]];
    let times = [0.0, 86_400.0];
    let island = |[x, y, _]: Point| (x - 20.0).abs() < 12.0 && (70.0..76.0).contains(&y);
    let flow = |p: Point, t: f64| match island(p) {
        true => [f64::NAN; 3],
        false => [0.3 + 1e-6 * t, 0.2 * p[0].to_radians().sin(), 0.0],
    };
    let first = Frames::new(axes.clone(), Placement::Nodes, &times, flow);
    let wind = |p: Point, _| [1.0 - 0.01 * p[1], 2.0 * (2.0 * p[0].to_radians()).cos(), 0.0];
    let wind = Frames::new(axes, Placement::Nodes, &times, wind);
    let options = FieldOptions {
        precision: machine.precision,
        radius: Some(EARTH_RADIUS),
        not_finite: NotFinite::Land,
        slip,
        ..FieldOptions::default()
    };
    let on_host = FieldOptions { precision: Precision::F64, ..options };
    let wind = GridField::load(&mut wind.clone(), &Device::flex(), &on_host).unwrap();
    let sum = Sum::on_grid(first, &options).unwrap();
    let mut sum = sum.with(Box::new(wind), addend(factor)).unwrap();
    GridField::load(&mut sum, &machine.device, &options).unwrap()
}

#[test]
fn particles_on_a_sphere_with_coasts_have_factors() {
    let mut dice = Dice(11);
    for (around, slip, coast) in [
        ([-180.0, 180.0], Slip::No, Slide),
        ([-180.0, 180.0], Slip::Free, Stick),
        ([-40.0, 80.0], Slip::Partial, Stick),
    ] {
        let place = |dice: &mut Dice| [dice.between(0.0, 40.0), dice.between(68.0, 78.0), 0.0];
        let places: Vec<Point> = (0..40).map(|_| place(&mut dice)).collect();
        let seeds = Seeds::list(threefold(&places)).unwrap();
        for machine in some_machines() {
            let what = format!("{machine} {slip:?} {coast:?}");
            let field = |factor| Box::new(sea(&machine, factor, (around, slip))) as Box<dyn Field>;
            let set: &dyn for<'f> Fn(Tracer<'f>) -> Tracer<'f> = &|tracer| {
                tracer
                    .coast(coast)
                    .seeds_outside(SeedsOutside::NotLocated)
                    .span(span(0.0, 86_400.0, 3_600.0))
                    .save(SaveAt::EverySteps(6))
                    .save_velocity(true)
            };
            // Degrees, on slopes of the velocity beside land.
            let run = assert_as_alone(&what, &field, set, (&seeds, 5e4 * machine.eps()));
            let beached = run.status.iter().filter(|status| **status == Status::Beached).count();
            assert!((coast == Slide) == (beached == 0), "{what}: {beached}");
        }
    }
}

#[test]
fn sorted_rows_batches_pieces_and_resumed_runs_have_the_same_bits() {
    let machine = &exact_machines()[0];
    let field = grid(machine, Placement::Nodes, None);
    let seeds = Seeds::uniform([0.3; 3], [0.7; 3], 3000, 5).unwrap();
    let tracer = Tracer::new(&*field)
        .all_faces(Reflect)
        .span(steps(0.0, 2.0, 40))
        .save(SaveAt::EverySteps(20))
        .save_velocity(true)
        .factors(factors(3000));
    let whole = trace(&tracer, &seeds);
    let parts = trace(&tracer.clone().batch(700), &seeds);
    assert_eq!((&whole.saves, &whole.velocities), (&parts.saves, &parts.velocities));
    let prepared = tracer.prepare(&seeds).unwrap();
    let piece = prepared.piece(2000..2100).unwrap().run().unwrap();
    assert_eq!(rows(piece.saves()[1].position.clone()), whole.saves[1][2000..2100]);
    let few = Seeds::list(seeds.positions()[..30].to_vec()).unwrap();
    let tracer = tracer.clone().factors(factors(30));
    crate::runs::resume::assert_resumes("factors", &tracer, &few);
    // In the order of slots, and by number.
    let alone = trace(&tracer.clone().engine(Engine::Tensor), &few);
    assert_below("engines", distance(alone.last(), &whole.last()[..30]), 1e-13);
}

#[test]
fn slots_of_sources_have_factors() {
    let machine = &exact_machines()[0];
    let first = Frames::uniform([0.0; 3], [1.0, 1.0, 1.0], &[0.0], |_| [1.0, 0.0, 0.0]);
    let wind = Frames::uniform([0.0; 3], [1.0, 1.0, 1.0], &[0.0], |_| [0.0, 1.0, 0.0]);
    let options = options(machine.precision);
    let wind = GridField::load(&mut wind.clone(), &Device::flex(), &options).unwrap();
    let given = Addend { per_particle: true, ..Addend::default() };
    let sum = Sum::on_grid(first, &options).unwrap();
    let mut sum = sum.with(Box::new(wind), given).unwrap();
    let field = GridField::load(&mut sum, &machine.device, &options).unwrap();
    let inlet = InletShape::Points(vec![[0.0, 0.5, 0.5]]);
    let inlet = Inlet::new(inlet, Pattern::Lattice).unwrap();
    let drawn = Distribution::LogNormal { median: 0.1, deviation: 1.3 };
    let all = |factors: PerParticle, engine| {
        let source = Source::constant(inlet.clone(), 10.0, 4).unwrap();
        let tracer = Tracer::new(&field).span(steps(0.0, 2.35, 47)).source(source).engine(engine);
        trace(&tracer.factors(factors), &Seeds::none()).last().to_vec()
    };
    for engine in [Engine::Fused, Engine::Tensor] {
        let ends = all(vec![0.1, 0.2, 0.3, 0.4].into(), engine);
        for (slot, [x, y, _]) in ends.iter().enumerate().filter(|(_, p)| p[0].is_finite()) {
            assert_below("slot", (y - 0.5 - 0.1 * (slot + 1) as f64 * x).abs(), 1e-13);
        }
        assert!(ends.iter().filter(|p| p[0].is_finite()).count() > 1, "{ends:?}");
    }
    let [a, b] = [Engine::Fused, Engine::Tensor]
        .map(|engine| all(PerParticle::Drawn(drawn.clone(), 3), engine));
    let known = |all: Vec<Point>| all.into_iter().filter(|p| p[0].is_finite()).collect::<Vec<_>>();
    assert_below("drawn", distance(&known(a), &known(b)), 1e-13);
}

#[test]
fn gradients_by_factors_and_seeds_are_those_of_differences() {
    let machine = &exact_machines()[0];
    let device = machine.device.clone().autodiff();
    let tracked = Machine { device: device.clone(), ..machine.clone() };
    let seeds = Seeds::list(positions()).unwrap();
    let numbers = factors(seeds.len());
    let plain = grid(machine, Placement::Nodes, None);
    let h = 1e-5;
    let moved = |by: f64| {
        let factors: Vec<f64> = numbers.iter().map(|c| c + by).collect();
        let tracer = Tracer::new(&*plain).span(span(0.0, 1.0, 0.1));
        trace(&tracer.factors(factors), &seeds).last().to_vec()
    };
    let (low, high) = (moved(-h), moved(h));
    for (field, adjoint) in [
        (grid(machine, Placement::Nodes, None), Adjoint::Auto),
        (grid(&tracked, Placement::Nodes, None), Adjoint::Graph),
    ] {
        let data = Tensor::<1>::from_data(
            burn::tensor::TensorData::new(numbers.clone(), [numbers.len()]),
            (&device, machine.precision.dtype()),
        );
        let leaf = data.require_grad();
        let tracer = Tracer::new(&*field).span(span(0.0, 1.0, 0.1)).adjoint(adjoint);
        let tracer = tracer.factors(leaf.clone());
        let tracks = tracer.trace(&seeds).unwrap();
        let last = tracks.saves().last().unwrap().position.clone();
        let gradients = last.narrow(1, 0, 1).sum().backward();
        let found = floats(leaf.grad(&gradients).unwrap());
        for (i, found) in found.iter().enumerate() {
            let expected = (high[i][0] - low[i][0]) / (2.0 * h);
            assert_below(&format!("particle {i}"), (found - expected).abs(), 1e-7);
        }
        let (_, gradients) = tracer
            .value_and_grad(&seeds, |tracks| {
                tracks.saves().last().unwrap().position.clone().narrow(1, 0, 1).sum()
            })
            .unwrap();
        let again = floats(leaf.grad(&gradients).unwrap());
        let apart = found.iter().zip(&again).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert_below("value_and_grad", apart, 1e-12);
    }
}

/// A source of a velocity and of a second one.
#[derive(Clone)]
struct Two(Frames, Option<f64>);

impl FrameSource for Two {
    fn times(&self) -> &[f64] {
        self.0.times()
    }

    fn has_scaled_velocity(&self) -> bool {
        true
    }

    fn read(&mut self, frame: usize) -> Result<burntrace::FrameData, burntrace::SourceError> {
        let data = self.0.read(frame)?;
        let count = data.velocity.len();
        let second = |u: f64| burntrace::Floats::F32((0..count).map(|_| u as f32).collect());
        Ok(data.with_scaled_velocity(self.1.map(second)))
    }
}

impl GridSource for Two {
    fn axes(&self) -> &[Vec<f64>; 3] {
        self.0.axes()
    }

    fn placement(&self) -> Placement {
        self.0.placement()
    }
}

#[test]
fn a_source_may_have_a_second_velocity() {
    let frames = Frames::uniform([0.0; 3], [1.0; 3], &[0.0], |_| [0.25, 0.0, 0.0]);
    let options = options(Precision::F64);
    let load =
        |of: Option<f64>| GridField::load(&mut Two(frames.clone(), of), &Device::flex(), &options);
    let field = load(Some(0.5)).unwrap();
    let seeds = Seeds::list(vec![[0.1; 3]; 2]).unwrap();
    let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 4)).factors(vec![0.0, 1.0]);
    let ends = trace(&tracer, &seeds).last().to_vec();
    assert_below("ends", distance(&ends, &[[0.35, 0.1, 0.1], [0.85, 0.6, 0.6]]), 1e-14);
    assert!(load(None).unwrap_err().to_string().contains("frame 0 has no second velocity"));
    assert!(load(Some(f64::NAN)).unwrap_err().to_string().contains("not finite"));
    assert!(field.values().unwrap_err().to_string().contains("other quantities"));
    // One that is in a sum stays there, and excludes another one.
    let sum = Sum::on_grid(Two(frames.clone(), Some(0.5)), &options).unwrap();
    let wind =
        || Box::new(GridField::load(&mut frames.clone(), &Device::flex(), &options).unwrap());
    let mut sum = sum.with(wind(), Addend::default()).unwrap();
    let field = GridField::load(&mut sum, &Device::flex(), &options).unwrap();
    let tracer = Tracer::new(&field).span(steps(0.0, 0.5, 4)).factors(vec![0.0, 1.0]);
    let ends = trace(&tracer, &seeds).last().to_vec();
    assert_below("sum", distance(&ends, &[[0.35, 0.1, 0.1], [0.6, 0.35, 0.35]]), 1e-14);
    let again = sum.with(wind(), addend(None)).err().unwrap().to_string();
    assert!(again.contains("field[2]: each particle has a factor of another field"), "{again}");
}

#[test]
fn holes_of_the_first_field_stay_holes() {
    let axes = [even_axis(0.0, 4.0, 4), even_axis(0.0, 1.0, 1), vec![0.0]];
    let flow = |p: Point, _| if p[0] == 3.0 { [f64::NAN; 3] } else { [1.0, 0.0, 0.0] };
    let first = Frames::new(axes.clone(), Placement::Nodes, &[0.0], flow);
    let half = Frames::uniform([0.0; 3], [1.0, 1.0, 0.0], &[0.0], |_| [1.0, 0.0, 0.0]);
    for machine in some_machines() {
        let not_finite = NotFinite::Outside;
        let options = FieldOptions { not_finite, ..options(machine.precision) };
        let wind = GridField::load(&mut half.clone(), &Device::flex(), &options).unwrap();
        let given = Addend { outside: OutsideField::Zero, ..addend(None) };
        let sum = Sum::on_grid(first.clone(), &options).unwrap();
        let mut sum = sum.with(Box::new(wind), Addend { rotate: 0.0, ..given }).unwrap();
        let field = GridField::load(&mut sum, &machine.device, &options).unwrap();
        let seeds = Seeds::list(vec![[0.0, 0.5, 0.0]; 2]).unwrap();
        let tracer = Tracer::new(&field).factors(vec![0.0, 1.0]);
        let run = trace(&tracer.clone().span(steps(0.0, 0.25, 5)), &seeds);
        let expected = [[0.25, 0.5, 0.0], [0.5, 0.5, 0.0]];
        assert_below("inside", distance(run.last(), &expected), 10.0 * machine.eps());
        let run = trace(&tracer.span(steps(0.0, 4.0, 40)), &seeds);
        assert_eq!(run.status, [Status::LeftField; 2], "{machine}");
    }
}

#[test]
fn factors_that_do_not_fit_are_refused() {
    let machine = &exact_machines()[0];
    let [with, without] = [None, Some(0.5)].map(|factor| grid(machine, Placement::Nodes, factor));
    let seeds = Seeds::list(positions()).unwrap();
    let refused =
        |tracer: Tracer| tracer.span(span(0.0, 1.0, 0.1)).trace(&seeds).unwrap_err().to_string();
    let own = || Tracer::new(&*with);
    for (tracer, expected) in [
        (own().factors(vec![0.1, 0.2]), "there are 2 numbers for 14 particles"),
        (own().factors(f64::NAN), "that of particle 0 is NaN"),
        (own(), "a field with a velocity that particles scale"),
        (Tracer::new(&*without).factors(0.1), "there is no velocity that they multiply"),
        (own().factors(0.1).inertia(Inertia::new(0.1, 0.0)), "particles with inertia"),
        (own().factors(0.1).flow_map_gradient(true), "the gradient of the flow map"),
    ] {
        let text = refused(tracer);
        assert!(text.contains(expected), "{text}");
    }
    let leaf = Tensor::<1>::ones([1], &machine.device.clone().autodiff()).require_grad();
    let tracked = own().factors(leaf).adjoint(Adjoint::Fused { every: 10 });
    assert!(refused(tracked).contains("factors of particles with gradients"));
}
