//! Arrays beside the velocity, sampled along the tracks and at positions.

use crate::{cloud::*, common::*, meshes::*, oracle::Point, recorded};
use burn::tensor::Tensor;
use burntrace::{
    BoundaryCondition, CellKind, CellVelocity, Engine, Field, FieldArray, FieldOptions, Floats,
    FrameData, FrameSource, Frames as Held, GridField, GridSource, Inlet, InletShape, MeshField,
    MeshSource, Pattern, Placement, PointField, PointSource, SaveAt, Seeds, SeedsOutside, Source,
    SourceError, Status, Surroundings, Tracer, WALL_DISTANCE, Weighting, WithWallDistance,
    mesh::Cells,
};

/// A source with arrays, each a formula of position and time.
#[derive(Clone)]
pub struct Laden<S> {
    source: S,
    has_velocity: bool,
    arrays: Vec<FieldArray>,
    /// The numbers of each array in each frame.
    numbers: Vec<Vec<Vec<f64>>>,
}

pub type Formula = fn(Point, f64, usize) -> f64;

impl<S: FrameSource> Laden<S> {
    /// Adds arrays of a number of components at the values' positions.
    pub fn new(source: S, positions: &[Point], arrays: &[(&str, usize, Formula)]) -> Self {
        let frame = |t: &f64| {
            let numbers = |(_, components, formula): &(&str, usize, Formula)| {
                let at =
                    |p: &Point| (0..*components).map(|c| formula(*p, *t, c)).collect::<Vec<_>>();
                positions.iter().flat_map(at).collect()
            };
            arrays.iter().map(numbers).collect()
        };
        let numbers = source.times().iter().map(frame).collect();
        let arrays = arrays.iter().map(|(name, n, _)| FieldArray::new(*name, *n)).collect();
        Laden { source, has_velocity: true, arrays, numbers }
    }

    fn without_velocity(self) -> Self {
        Laden { has_velocity: false, ..self }
    }
}

impl<S: FrameSource> FrameSource for Laden<S> {
    fn times(&self) -> &[f64] {
        self.source.times()
    }

    fn arrays(&self) -> &[FieldArray] {
        &self.arrays
    }

    fn has_velocity(&self) -> bool {
        self.has_velocity
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        let data = match self.has_velocity {
            true => self.source.read(frame)?,
            false => FrameData::new(Floats::F32(Vec::new())),
        };
        let arrays = self.numbers[frame].iter().map(|numbers| Floats::F64(numbers.clone()));
        Ok(data.with_arrays(arrays.collect()))
    }
}

impl<S: GridSource> GridSource for Laden<S> {
    fn axes(&self) -> &[Vec<f64>; 3] {
        self.source.axes()
    }

    fn placement(&self) -> Placement {
        self.source.placement()
    }
}

impl<S: MeshSource> MeshSource for Laden<S> {
    fn points(&self) -> &[Point] {
        self.source.points()
    }

    fn cells(&self) -> &Cells {
        self.source.cells()
    }

    fn placement(&self) -> Placement {
        self.source.placement()
    }
}

impl<S: PointSource> PointSource for Laden<S> {
    fn positions(&self) -> &[Point] {
        self.source.positions()
    }
}

/// The positions of the values of a grid, in order.
pub fn positions(axes: &[Vec<f64>; 3], placement: Placement) -> Vec<Point> {
    let mut positions = Vec::new();
    Frames::new(axes.clone(), placement, &[0.0], |p, _| {
        positions.push(p);
        p
    });
    positions
}

/// Linear in space and time, up to 10 in the unit box until t = 1.
fn linear([x, y, z]: Point, t: f64, component: usize) -> f64 {
    let c = component as f64;
    1.0 + (2.0 - c) * x - 3.0 * y + 0.5 * c * z + 0.25 * t * (1.0 + c)
}

fn velocity(p: Point, t: f64) -> Point {
    [0.3 + 0.1 * p[1], 0.2 * (p[0] - 0.5), 0.1 - 0.2 * t]
}

fn own([x, y, z]: Point, t: f64, component: usize) -> f64 {
    velocity([x, y, z], t)[component]
}

const TIMES: [f64; 3] = [0.0, 0.5, 1.0];

const ARRAYS: [(&str, usize, Formula); 3] = [("T", 1, linear), ("tau", 9, linear), ("u", 3, own)];

fn options(machine: &Machine) -> FieldOptions {
    FieldOptions { precision: machine.precision, ..FieldOptions::default() }
}

fn axes() -> [Vec<f64>; 3] {
    [even_axis(0.0, 1.0, 5), stretched_axis(0.0, 1.0, 4), even_axis(0.0, 1.0, 3)]
}

fn grid(placement: Placement) -> Laden<Frames> {
    let frames = Frames::new(axes(), placement, &TIMES, velocity);
    Laden::new(frames, &positions(&axes(), placement), &ARRAYS)
}

fn mesh(kind: CellKind) -> Laden<MeshFrames> {
    let made = Made::new(3, shake(kind), |_| kind);
    Laden::new(MeshFrames::new(&made, &TIMES, velocity), &made.points, &ARRAYS)
}

fn cloud(weighting: Weighting) -> Laden<Cloud> {
    let nodes = single(Dice(3).points([0.0; 3], [1.0; 3], 300));
    let cloud = Cloud::new(nodes.clone(), &TIMES, weighting, velocity);
    Laden::new(cloud, &nodes, &ARRAYS)
}

/// Every kind of field with the arrays; whether it reproduces linear functions. A graphics card has only a grid in double
/// precision: each kind is two kernels to compile, whose source does not depend on the precision.
fn fields(machine: &Machine) -> Vec<(String, Box<dyn Field>, bool)> {
    let (device, options) = (&machine.device, &options(machine));
    let mut fields: Vec<(String, Box<dyn Field>, bool)> = Vec::new();
    for placement in [Placement::Nodes, Placement::Cells] {
        let field = GridField::load(&mut grid(placement), device, options).unwrap();
        let is_linear = placement == Placement::Nodes;
        fields.push((format!("grid, {placement:?}"), Box::new(field), is_linear));
    }
    if !machine.is_cpu() && machine.is_double() {
        fields.truncate(1);
        return fields;
    }
    let has_kernels = |kind: &CellKind| {
        machines_for(*kind).iter().any(|tested| tested.to_string() == machine.to_string())
    };
    for kind in [CellKind::Tetra, CellKind::Hexahedron].into_iter().filter(has_kernels) {
        let constant = CellVelocity::Constant;
        let field = MeshField::load(&mut mesh(kind), device, options, constant).unwrap();
        fields.push((format!("{kind:?}"), Box::new(field), true));
    }
    for weighting in [Weighting::Nearest, mean(4, 2.0)] {
        let field = PointField::load(&mut cloud(weighting), device, options, weighting).unwrap();
        fields.push((format!("{weighting:?}"), Box::new(field), false));
    }
    fields
}

fn seeds() -> Seeds {
    Seeds::list(Dice(7).points([0.2; 3], [0.5; 3], 40)).unwrap()
}

/// The array `u` is the velocity, so that both must have the same bits if the fused operation samples both;
/// linear arrays are exact where the interpolation is.
#[test]
fn arrays_are_interpolated_as_the_velocity_along_the_tracks() {
    for machine in machines() {
        for (name, field, is_linear) in fields(&machine) {
            for &engine in machine.engines() {
                let what = format!("{machine}, {name}, {engine}");
                let tracer = Tracer::new(&*field).engine(engine).span(steps(0.0, 1.0, 8));
                let tracer = tracer.save(SaveAt::EverySteps(4)).save_velocity(true);
                let tracer =
                    ["tau", "u", "T"].iter().fold(tracer, |t, name| t.sample(*name, &*field));
                let tracks = tracer.trace(&seeds()).unwrap();
                assert_eq!(tracks.summary().unwrap().active(), 40, "{what}");
                let sampled = floats(tracks.array("u").unwrap());
                let velocities = floats(tracks.velocities().unwrap());
                let apart = sampled.iter().zip(&velocities).map(|(a, b)| (a - b).abs());
                // The tensor engine evaluates velocities by tensor operations.
                let bound = if engine == Engine::Fused { 0.0 } else { 8.0 * machine.eps() };
                assert_below(&what, apart.fold(0.0, f64::max), bound);
                if !is_linear {
                    continue;
                }
                for (array, components) in [("T", 1), ("tau", 9)] {
                    let found = floats(tracks.array(array).unwrap());
                    let mut found = found.iter();
                    let mut worst: f64 = 0.0;
                    for save in tracks.saves() {
                        for p in rows(save.position.clone()) {
                            for c in 0..components {
                                let expected = linear(p, save.time, c);
                                worst = worst.max((found.next().unwrap() - expected).abs());
                            }
                        }
                    }
                    assert_below(&format!("{what}, {array}"), worst, 60.0 * machine.eps());
                }
            }
        }
    }
}

/// The other field has another grid, other times and no velocity, and ends in the middle of the box.
#[test]
fn arrays_of_another_field_are_nan_outside_of_it() {
    for machine in machines() {
        let field =
            GridField::load(&mut grid(Placement::Nodes), &machine.device, &options(&machine));
        let field = field.unwrap();
        let half = [even_axis(0.0, 0.5, 7), even_axis(-1.0, 2.0, 4), even_axis(0.0, 1.0, 2)];
        let frames = Frames::new(half.clone(), Placement::Nodes, &[-1.0, 3.0], velocity);
        let arrays: [(&str, usize, Formula); 2] = [("q", 2, linear), ("r", 1, linear)];
        let other = Laden::new(frames, &positions(&half, Placement::Nodes), &arrays);
        let mut other = other.without_velocity();
        let other = GridField::load(&mut other, &machine.device, &options(&machine)).unwrap();
        let alone = Tracer::new(&other).span(steps(0.0, 1.0, 2)).trace(&seeds()).unwrap_err();
        assert!(alone.to_string().contains("no velocity"), "{alone}");
        for &engine in machine.engines() {
            let what = format!("{machine}, {engine}");
            let tracer = Tracer::new(&field).engine(engine).span(steps(0.0, 1.0, 10));
            let tracer = tracer.save(SaveAt::EverySteps(5)).sample("q", &other).sample("T", &field);
            let tracks = tracer.trace(&seeds()).unwrap();
            let (q, t) = (floats(tracks.array("q").unwrap()), floats(tracks.array("T").unwrap()));
            let (mut outside, mut row) = (0, 0);
            for save in tracks.saves() {
                for p in rows(save.position.clone()) {
                    for c in 0..2 {
                        let found = q[2 * row + c];
                        if p[0] > 0.5 {
                            assert!(found.is_nan(), "{what}: {found} at {p:?}");
                            outside += 1;
                        } else {
                            let off = (found - linear(p, save.time, c)).abs();
                            assert_below(&what, off, 60.0 * machine.eps());
                        }
                    }
                    assert_below(
                        &what,
                        (t[row] - linear(p, save.time, 0)).abs(),
                        60.0 * machine.eps(),
                    );
                    row += 1;
                }
            }
            assert!(outside > 20, "{what}: {outside}");
        }
    }
}

/// Particles leave through the high x face after 0.4; the value there grows with time.
#[test]
fn ended_particles_keep_their_value_and_not_located_seeds_have_none() {
    for machine in machines() {
        let source = Frames::new(axes(), Placement::Nodes, &TIMES, |_, _| [1.0, 0.0, 0.0]);
        let mut source = Laden::new(source, &positions(&axes(), Placement::Nodes), &ARRAYS);
        let field = GridField::load(&mut source, &machine.device, &options(&machine)).unwrap();
        let points = vec![[0.6, 0.5, 0.5], [0.1, 0.5, 0.5], [1.5, 0.5, 0.5]];
        let seeds = Seeds::list(points).unwrap().with_release(vec![0.0, 0.2, 0.0]).unwrap();
        for &engine in machine.engines() {
            let what = format!("{machine}, {engine}");
            let tracer = Tracer::new(&field).engine(engine).span(steps(0.0, 1.0, 20));
            let tracer = tracer.seeds_outside(SeedsOutside::NotLocated).sample("T", &field);
            let tracks = tracer.save(SaveAt::EverySteps(5)).trace(&seeds).unwrap();
            let found = floats(tracks.array("T").unwrap());
            let at = |x: f64, t: f64| linear([x, 0.5, 0.5], t, 0);
            // It ends at 0.4; the first save after it is at 0.5.
            let first = [at(0.6, 0.0), at(0.85, 0.25), at(1.0, 0.5), at(1.0, 0.5), at(1.0, 0.5)];
            let second = [at(0.1, 0.0), at(0.15, 0.25), at(0.4, 0.5), at(0.65, 0.75), at(0.9, 1.0)];
            for (save, expected) in first.into_iter().zip(second).enumerate() {
                let [a, b, c] = [0, 1, 2].map(|i| found[3 * save + i]);
                let what = format!("{what}, save {save}");
                assert_below(&what, (a - expected.0).abs(), 80.0 * machine.eps());
                assert_below(&what, (b - expected.1).abs(), 80.0 * machine.eps());
                assert!(c.is_nan(), "{what}: {c}");
            }
        }
    }
}

/// Slots of a source that have no particle yet.
#[test]
fn empty_slots_have_no_values() {
    for machine in some_machines() {
        let field =
            GridField::load(&mut grid(Placement::Nodes), &machine.device, &options(&machine));
        let field = field.unwrap();
        let inlet = Inlet::new(InletShape::Points(vec![[0.3; 3]]), Pattern::Lattice).unwrap();
        let source = Source::constant(inlet, 2.0, 4).unwrap();
        let tracer = Tracer::new(&field).source(source).span(steps(0.0, 1.0, 8));
        let tracer = tracer.sample("T", &field).save(SaveAt::EverySteps(4));
        let tracks = tracer.trace(&Seeds::none()).unwrap();
        let values = floats(tracks.array("T").unwrap());
        let first = tracks.saves().iter().flat_map(|save| rows(save.position.clone()));
        for (value, p) in values.iter().zip(first) {
            assert_eq!(value.is_nan(), p[0].is_nan(), "{machine}: {value} at {p:?}");
        }
        assert!(values.iter().any(|x| x.is_nan()) && values.iter().any(|x| x.is_finite()));
    }
}

/// Particles that end, walk and re-enter, in batches, resumed from each checkpoint, and with streamed frames.
#[test]
fn arrays_do_not_depend_on_batches_checkpoints_or_streams() {
    // A card samples arrays and resumes in other tests; here its kernels would take a minute to compile.
    for machine in some_machines().into_iter().filter(Machine::is_cpu) {
        let times: Vec<f64> = (0..9).map(f64::from).collect();
        let swirl = recorded::swirl();
        let at = positions(&swirl.axes, swirl.placement);
        assert_eq!(swirl.times, times);
        let laden = Laden::new(swirl, &at, &ARRAYS);
        let all = GridField::load(&mut laden.clone(), &machine.device, &options(&machine)).unwrap();
        let streamed = FieldOptions { frames: Held::Streamed(4), ..options(&machine) };
        let streamed = GridField::open(Box::new(laden), &machine.device, &streamed).unwrap();
        let seeds = recorded::seeds(60);
        let tracer = |field| recorded::walking(field, 17).sample("tau", field).sample("T", field);
        let whole = recorded::run(&tracer(&all), &seeds);
        let batches = recorded::run(&tracer(&all).batch(7), &seeds);
        recorded::assert_same(&format!("{machine}, batches"), &whole, &batches);
        let from_stream = recorded::run(&tracer(&streamed), &seeds);
        recorded::assert_same(&format!("{machine}, streamed"), &whole, &from_stream);
        crate::runs::resume::assert_resumes(&machine.to_string(), &tracer(&all), &seeds);
    }
}

#[test]
fn field_is_sampled_at_positions() {
    for machine in machines() {
        for (name, field, is_linear) in fields(&machine) {
            let what = format!("{machine}, {name}");
            let points = Dice(9).points([0.05; 3], [0.95; 3], 50);
            let points: Vec<Point> = single(points).into_iter().chain([[1.5, 0.5, 0.5]]).collect();
            let data = burn::tensor::TensorData::new(points.as_flattened().to_vec(), [51, 3]);
            let dtype = machine.precision.dtype();
            let at = Tensor::<2>::from_data(data, (&machine.device, dtype));
            let found = field.sample(at.clone(), 0.3).unwrap();
            let [velocity, u] = [found.velocity.clone().unwrap(), found.array("u").unwrap()];
            let (velocity, u) = (floats(velocity), floats(u));
            let outside = 3 * 50;
            assert_eq!(velocity[..outside], u[..outside], "{what}");
            let last = &velocity[outside..];
            assert!(last.iter().chain(&u[outside..]).all(|x| x.is_nan()), "{what}: {last:?}");
            assert!(found.array("p").is_none());
            if is_linear {
                let t = floats(found.array("T").unwrap());
                let off = points[..50].iter().zip(&t).map(|(p, t)| (linear(*p, 0.3, 0) - t).abs());
                assert_below(&what, off.fold(0.0, f64::max), 60.0 * machine.eps());
            }
            let late = field.sample(at, 1.5).unwrap_err().to_string();
            assert!(late.contains("from 0 to 1"), "{what}: {late}");
        }
    }
}

/// Uniform flow: the value at the end has the gradient of the array by the seed.
#[test]
fn gradients_flow_through_sampled_arrays() {
    for machine in double_machines().into_iter().filter(Machine::is_cpu) {
        let device = machine.device.clone().autodiff();
        let source = Frames::new(axes(), Placement::Nodes, &TIMES, |_, _| [0.1, 0.2, 0.05]);
        let mut source = Laden::new(source, &positions(&axes(), Placement::Nodes), &ARRAYS);
        let field = GridField::load(&mut source, &device, &options(&machine)).unwrap();
        let points = Dice(5).points([0.2; 3], [0.6; 3], 6);
        let data = burn::tensor::TensorData::new(points.as_flattened().to_vec(), [6, 3]);
        let start = Tensor::<2>::from_data(data, (&device, machine.precision.dtype()));
        let start = start.require_grad();
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 4)).sample("tau", &field);
        let tracks = tracer.trace(&Seeds::from_tensor(start.clone()).unwrap()).unwrap();
        assert_eq!(tracks.summary().unwrap().engine, Engine::Fused);
        let last = tracks.array("tau").unwrap().narrow(2, 3, 1).sum();
        let gradients = rows(start.grad(&last.backward()).unwrap());
        assert_below(&machine.to_string(), distance(&gradients, &[[-1.0, -3.0, 1.5]; 6]), 1e-12);
    }
}

/// Values of the middle frame are missing; those at the times of the others are not.
#[test]
fn missing_values_of_a_frame_without_weight_do_not_matter() {
    for machine in machines() {
        let mut devices = vec![machine.device.clone()];
        devices.extend(machine.is_cpu().then(|| machine.device.clone().autodiff()));
        let mut source = grid(Placement::Nodes);
        source.numbers[1][0].fill(f64::NAN);
        for device in devices {
            let field = GridField::load(&mut source, &device, &options(&machine)).unwrap();
            let data = burn::tensor::TensorData::new(vec![0.4, 0.3, 0.7], [1, 3]);
            let at = Tensor::<2>::from_data(data, (&device, machine.precision.dtype()));
            for (time, is_known) in [(0.0, true), (0.25, false), (0.5, false), (1.0, true)] {
                let t = floats(field.sample(at.clone(), time).unwrap().array("T").unwrap())[0];
                let what = format!("{machine}, {device:?}, t = {time}: {t}");
                assert_eq!(t.is_finite(), is_known, "{what}");
                if is_known {
                    let expected = linear([0.4, 0.3, 0.7], time, 0);
                    assert_below(&what, (t - expected).abs(), 60.0 * machine.eps());
                }
            }
            if device.is_autodiff() {
                continue;
            }
            let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 2)).sample("T", &field);
            let tracks = tracer.save(SaveAt::EverySteps(1)).trace(&seeds()).unwrap();
            let values = floats(tracks.array("T").unwrap());
            let known: Vec<bool> =
                values.chunks(40).map(|save| save.iter().all(|x| x.is_finite())).collect();
            assert_eq!(known, [true, false, true], "{machine}");
        }
    }
}

#[test]
fn requests_that_cannot_be_sampled_are_refused() {
    let machine = &machines()[0];
    let load = |source: &mut Laden<Frames>| {
        GridField::load(source, &machine.device, &options(machine)).map_err(|e| e.to_string())
    };
    let field = load(&mut grid(Placement::Nodes)).unwrap();
    let refused = |tracer: Tracer| match tracer.span(steps(0.0, 1.0, 2)).trace(&seeds()) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it is not refused"),
    };
    let lacks = refused(Tracer::new(&field).sample("p", &field));
    assert!(lacks.contains("`p`") && lacks.contains("it has `T`, `tau`, `u`"), "{lacks}");
    let twice = refused(Tracer::new(&field).sample("T", &field).sample("T", &field));
    assert!(twice.contains("`T`") && twice.contains("twice"), "{twice}");
    let mut early = grid(Placement::Nodes);
    early.source.times = vec![0.0, 0.2, 0.5];
    let early = load(&mut early).unwrap();
    let late = refused(Tracer::new(&field).sample("T", &early));
    assert!(late.contains("from t = 0 to t = 1, but the field from 0 to 0.5"), "{late}");
    let double = FieldOptions { precision: burntrace::Precision::F64, ..options(machine) };
    let double = GridField::load(&mut grid(Placement::Nodes), &machine.device, &double).unwrap();
    let mixed = refused(Tracer::new(&field).sample("T", &double));
    assert!(mixed.contains("f64") && mixed.contains("f32"), "{mixed}");
    let mut short = grid(Placement::Nodes);
    short.numbers[1][0].pop();
    let message = load(&mut short).unwrap_err();
    assert!(message.contains("`T` has 119 numbers in frame 1; give 120"), "{message}");
    let mut fewer = grid(Placement::Nodes);
    fewer.numbers[2].pop();
    assert!(load(&mut fewer).unwrap_err().contains("frame 2 has 2 arrays; give the 3"));
}

/// A value at the boundary between cells that differ, and on the wall where a particle stays.
#[test]
fn particles_at_walls_of_a_mesh_have_values() {
    for machine in machines_for(CellKind::Tetra) {
        let made = Made::new(3, 0.1, |_| CellKind::Tetra);
        let frames = MeshFrames::new(&made, &TIMES, |_, _| [0.5, 0.4, 0.1]);
        let mut source = Laden::new(frames, &made.points, &ARRAYS);
        let constant = CellVelocity::Constant;
        let field =
            MeshField::load(&mut source, &machine.device, &options(&machine), constant).unwrap();
        for wall in [BoundaryCondition::Exit, BoundaryCondition::Stick, BoundaryCondition::Slide] {
            for &engine in machine.engines() {
                let what = format!("{machine}, {wall:?}, {engine}");
                let tracer = Tracer::new(&field).engine(engine).mesh_wall(wall);
                let tracer = tracer.all_faces(BoundaryCondition::Exit).sample("T", &field);
                let tracer = tracer.span(steps(0.0, 1.0, 10)).save(SaveAt::EverySteps(2));
                let seeds = Seeds::list(Dice(4).points([0.3; 3], [0.9; 3], 30)).unwrap();
                let tracks = tracer.trace(&seeds).unwrap();
                let ended = tracks.ends().status.iter().filter(|s| s.has_ended()).count();
                assert!(ended > 5 || wall == BoundaryCondition::Slide, "{what}: {ended}");
                let values = floats(tracks.array("T").unwrap());
                assert!(values.iter().all(|x| x.is_finite()), "{what}");
                let last = tracks.saves().last().unwrap();
                let active = integers(last.status.clone());
                for (i, p) in rows(last.position.clone()).into_iter().enumerate() {
                    if active[i] == i64::from(Status::Active.code()) {
                        let off = (values[5 * 30 + i] - linear(p, 1.0, 0)).abs();
                        assert_below(&format!("{what}, {i}"), off, 200.0 * machine.eps());
                    }
                }
            }
        }
    }
}

/// Cells of a mesh with values in them, averaged at the points as the velocity is.
#[test]
fn arrays_in_cells_are_averaged_as_the_velocity() {
    let machine = &double_machines()[0];
    let made = Made::new(3, 0.1, |_| CellKind::Hexahedron);
    let frames = MeshFrames::in_cells(&made, |cell| [cell as f64, 0.0, 1.0]);
    let numbers = (0..made.cells.len()).map(|cell| cell as f64).collect();
    let arrays = vec![FieldArray::new("cell", 1)];
    let source = Laden { source: frames, has_velocity: true, arrays, numbers: vec![vec![numbers]] };
    for in_cells in [CellVelocity::Constant, CellVelocity::Averaged] {
        let field =
            MeshField::load(&mut source.clone(), &machine.device, &options(machine), in_cells);
        let field = field.unwrap();
        let data = burn::tensor::TensorData::new(vec![0.4, 0.3, 0.7, 0.2, 0.8, 0.6], [2, 3]);
        let at = Tensor::<2>::from_data(data, (&machine.device, machine.precision.dtype()));
        let found = field.sample(at, 0.0).unwrap();
        let velocity = rows(found.velocity.clone().unwrap());
        let cells = floats(found.array("cell").unwrap());
        assert_eq!(cells, [velocity[0][0], velocity[1][0]], "{in_cells:?}");
        assert_eq!(cells.iter().all(|c| c.fract() == 0.0), in_cells == CellVelocity::Constant);
    }
}

/// In a box whose walls are all but those at the ends of x, the distance is that of the nearest of four planes, where these are the nearest
/// ones of all nodes around.
#[test]
fn wall_distance_is_that_of_flat_walls() {
    let walls = |faces: [BoundaryCondition; 3]| Surroundings {
        faces: faces.map(|condition| [condition; 2]),
        mesh_wall: BoundaryCondition::Slide,
        ..Surroundings::default()
    };
    let end = |x: f64| {
        let open = f64::INFINITY;
        burntrace::Patch::new("end", [x, -open, -open], [x, open, open])
    };
    let points = [[0.02, 0.4, 0.03], [0.5, 0.97, 0.5], [0.99, 0.5, 0.2], [0.3, 0.5, 0.75]];
    let expected = [0.03, 0.03, 0.2, 0.25];
    let axes = [0, 1, 2].map(|_| even_axis(0.0, 1.0, 4));
    let frames = Frames::new(axes, Placement::Nodes, &[0.0], |_, _| [1.0, 0.0, 0.0]);
    for machine in machines() {
        let check = |field: &dyn Field, what: &str| {
            let data = burn::tensor::TensorData::new(points.as_flattened().to_vec(), [4, 3]);
            let at = Tensor::<2>::from_data(data, (&machine.device, machine.precision.dtype()));
            let found = floats(field.sample(at, 0.0).unwrap().array(WALL_DISTANCE).unwrap());
            for (found, expected) in found.iter().zip(expected) {
                let name = format!("{machine}, {what}: {found} {expected}");
                assert_below(&name, (found - expected).abs(), 8.0 * machine.eps());
            }
        };
        let (exit, slide) = (BoundaryCondition::Exit, BoundaryCondition::Slide);
        let source = WithWallDistance::on_grid(frames.clone(), &walls([exit, slide, slide]));
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        check(&GridField::load(&mut source.unwrap(), &machine.device, &options).unwrap(), "grid");
        for kind in [CellKind::Tetra, CellKind::Hexahedron] {
            let made = Made::of(4, 0.0, kind);
            let source = MeshFrames::new(&made, &[0.0], |_, _| [1.0, 0.0, 0.0]);
            let mut around = walls([exit; 3]);
            around.patches = vec![end(0.0), end(1.0)];
            let mut source = WithWallDistance::on_mesh(source, &around).unwrap();
            let constant = CellVelocity::Constant;
            let field = MeshField::load(&mut source, &machine.device, &options, constant);
            check(&field.unwrap(), &format!("{kind:?}"));
        }
    }
}
