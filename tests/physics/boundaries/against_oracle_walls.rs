//! Both engines at bodies, vessels, mesh walls and domain faces, against the independent oracle.

use super::surfaces::star;
use crate::{
    cloud::tracer,
    common::*,
    meshes::{Made, MeshFrames},
    oracle::{
        Case, FinalState, HELD, Point, Space,
        events::{Met, Response},
        final_state,
        mesh::WalledMesh,
        perturbation,
    },
};
use burntrace::{
    Allowed,
    BoundaryCondition::{self, Clamp, Exit, Periodic, Reflect, Slide, Stick},
    CellKind, Engine, Face, Field, Obstacle, OutsideTime, Placement, Scheme, Seeds, Shape, Status,
    TimeInterpolation,
};
use std::{
    collections::{HashMap, HashSet},
    f64::consts::PI,
};

const PARTICLES: usize = 24;
const STEPS: usize = 8;
const HIGH: Point = [2.0, 1.0, 1.0];

/// Results of comparisons with the oracle.
#[derive(Default)]
struct Tally {
    /// Number of particles by device, and of those whose outcome does not depend on rounding.
    particles: HashMap<String, [usize; 2]>,
    statuses: HashSet<Status>,
    met: HashSet<Met>,
}

impl Tally {
    /// Checks that rounding decided few outcomes on every device.
    #[track_caller]
    fn assert_most_are_decided(&self) {
        for (name, [all, decided]) in &self.particles {
            assert!(10 * decided >= 9 * all, "{name}: {decided} of {all} are decided");
        }
    }

    #[track_caller]
    fn assert_met(&self, all: impl IntoIterator<Item = Met>) {
        for one in all {
            assert!(self.met.contains(&one), "{one:?} is not in {:?}", self.met);
        }
    }
}

/// Expected outcomes of the particles of a case.
struct Expected<'a, S> {
    case: &'a Case<S>,
    seeds: &'a [Point],
    states: Vec<FinalState>,
    /// The deviations that rounding may cause, for each error of a step.
    allowed: HashMap<u64, Vec<f64>>,
}

impl<'a, S: Space + Clone> Expected<'a, S> {
    fn new(case: &'a Case<S>, seeds: &'a [Point]) -> Self {
        let states = seeds.iter().map(|p| case.follow(*p, case.times[0])).collect();
        Expected { case, seeds, states, allowed: HashMap::new() }
    }

    /// The deviations that an error of `delta` in every step may cause, or another distance at which particles
    /// are held from a wall: where walls meet, it decides which of them a particle meets next.
    fn allowed(&mut self, delta: f64) -> &[f64] {
        let (case, each) = (self.case, self.seeds.iter().zip(&self.states));
        let of_one = |(seed, state): (&Point, &FinalState)| {
            let held = |part: f64| {
                let other = Case { held: part * delta, ..case.clone() };
                state.apart(&other.follow(*seed, case.times[0]), case.width())
            };
            let held = [0.1, 0.3, 1.0].map(held).into_iter().fold(0.0, f64::max);
            delta + case.sensitivity(state, *seed, case.times[0], delta) + held
        };
        self.allowed.entry(delta.to_bits()).or_insert_with(|| each.map(of_one).collect())
    }

    /// Checks a run. A deviation is decided by rounding where the allowed one is above `limit`.
    fn check(
        &mut self,
        (what, name): (&str, &str),
        run: &Run,
        [delta, limit]: [f64; 2],
        tally: &mut Tally,
    ) {
        let allowed = self.allowed(delta).to_vec();
        for (i, (state, allowed)) in self.states.iter().zip(allowed).enumerate() {
            let found = final_state(run, i);
            let deviation = state.apart(&found, self.case.width());
            let [all, decided] = tally.particles.entry(name.to_owned()).or_default();
            *all += 1;
            if allowed > limit {
                continue;
            }
            *decided += 1;
            assert!(
                deviation <= allowed,
                "{what}, particle {i} from {:?}: {deviation:e} is above {allowed:e}\n\
                 {state:?}\n{found:?}",
                self.seeds[i]
            );
            tally.statuses.insert(state.status);
            tally.met.extend(&state.met);
        }
    }
}

/// The allowed deviation above which rounding decides the outcome of a particle. In double precision, an
/// error of a step may grow by a factor of 10^4. In single precision the limit is a tenth of a body's size.
fn limit(machine: &Machine) -> f64 {
    if machine.is_double() { 1e-9 } else { 0.03 }
}

// ---- bodies and vessels ----

const SURFACES: [BoundaryCondition; 4] = [
    BoundaryCondition::Reflect,
    BoundaryCondition::Slide,
    BoundaryCondition::Stick,
    BoundaryCondition::Exit,
];

const FACES: [[[BoundaryCondition; 2]; 3]; 5] = [
    [[Periodic; 2], [Reflect; 2], [Reflect, Exit]],
    [[Exit; 2], [Periodic; 2], [Clamp, Reflect]],
    [[Clamp, Exit], [Exit; 2], [Periodic; 2]],
    [[Reflect; 2], [Clamp; 2], [Exit; 2]],
    [[Periodic; 2]; 3],
];

const TANGENTIAL: [[BoundaryCondition; 2]; 3] = [[Stick, Slide], [Slide, Reflect], [Stick; 2]];

fn pipe(base: Point, axis: Point, radius: f64, capped: bool) -> Shape {
    Shape::Cylinder { base, axis, radius, capped }
}

/// Each shape as a body and as a vessel; some reach through periodic faces.
fn shapes() -> Vec<(Shape, Allowed)> {
    let centre = [1.0, 0.5, 0.5];
    let bodies = [
        Shape::Sphere { centre, radius: 0.3 },
        pipe([1.0, 0.5, 0.0], [0.2, 0.1, 1.0], 0.25, false),
        pipe([0.8, 0.4, 0.3], [0.5, 0.2, 0.3], 0.25, true),
        Shape::Box { low: [0.7, 0.2, 0.3], high: [1.2, 0.7, 0.8] },
        star(centre, 0.4, 0.2),
    ];
    let vessels = [
        Shape::Sphere { centre, radius: 0.6 },
        pipe([0.0, 0.5, 0.5], [1.0, 0.05, 0.02], 0.4, false),
        pipe([0.3, 0.5, 0.5], [1.4, 0.05, 0.0], 0.4, true),
        Shape::Box { low: [0.3, 0.1, -1.0], high: [1.7, 0.9, 2.0] },
        star(centre, 0.95, 0.45),
    ];
    let outside = bodies.map(|shape| (shape, Allowed::Outside));
    outside.into_iter().chain(vessels.map(|shape| (shape, Allowed::Inside))).collect()
}

/// A smooth, unsteady, rotating flow.
pub fn turning() -> Frames {
    let axes = [even_axis(0.0, 2.0, 9), even_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 6)];
    Frames::new(axes, Placement::Nodes, &[0.0, 0.6, 1.2], |[x, y, z], t| {
        let (sine, cosine) = (PI * x).sin_cos();
        [1.5 * (0.3 + y - z + t), 1.2 * sine - 0.4 * z, 0.3 - 1.1 * cosine * t + y]
    })
}

/// A shape with a surface, and a small ball in the corner that joins three periodic faces.
fn body_case(
    number: usize,
    ((shape, allowed), surface): ((Shape, Allowed), BoundaryCondition),
    faces: [[BoundaryCondition; 2]; 3],
) -> Case {
    let ball = Shape::Sphere { centre: [0.1, 0.1, 0.2], radius: 0.15 };
    Case {
        frames: turning(),
        in_time: TimeInterpolation::Linear,
        outside: OutsideTime::Error,
        scheme: Scheme::ALL[number % Scheme::ALL.len()],
        faces,
        obstacles: vec![
            Obstacle { shape, allowed, surface },
            Obstacle { shape: ball, allowed: Allowed::Outside, surface },
        ],
        held: HELD,
        times: even_axis(0.0, 1.2, STEPS),
        stagnant_speed: 0.0,
    }
}

fn body_cases() -> Vec<Case> {
    let pairs =
        shapes().into_iter().flat_map(|shape| SURFACES.map(|surface| (shape.clone(), surface)));
    let of_pairs = pairs.enumerate().map(|(number, (shape, surface))| {
        let faces = FACES[(number / SURFACES.len() + 2 * number) % FACES.len()];
        body_case(number, (shape, surface), faces)
    });
    let with_ball = |surface| body_case(3, (shapes()[0].clone(), surface), TANGENTIAL);
    of_pairs.chain(SURFACES.map(with_ball)).collect()
}

/// Seeds on the allowed side of all obstacles.
fn free_seeds(case: &Case, number: usize) -> Vec<Point> {
    let points = Dice(4000 + number as u64).points([0.0; 3], HIGH, 10 * PARTICLES);
    points.into_iter().filter(|p| case.is_allowed(*p)).take(PARTICLES).collect()
}

/// The error of a step at obstacles: its rounding, and twice the distance at which the library holds
/// particles from a surface, which is 16 roundings of the sum of an obstacle's coordinates, here up to 5.
fn error_at_bodies(machine: &Machine) -> f64 {
    perturbation(machine.eps()) + 2.0 * 16.0 * 5.0 * machine.eps()
}

/// Whether a case is run on a machine. Software GPUs take seconds to compile a kernel, most for triangles; its
/// source does not depend on the precision.
fn is_run_at(machine: &Machine, case: &Case) -> bool {
    let has_triangles = matches!(case.obstacles[0].shape, Shape::Surface(_));
    let is_common = case.scheme == Scheme::Rk4 && case.faces.as_flattened().contains(&Periodic);
    machine.is_cpu() || is_common && !has_triangles && !machine.is_double()
}

#[test]
fn tracks_at_bodies_and_faces_match_the_oracle() {
    let mut tally = Tally::default();
    let machines = machines();
    let fields: Vec<_> = machines.iter().map(|machine| machine.field(&turning())).collect();
    for (number, case) in body_cases().into_iter().enumerate() {
        let seeds = free_seeds(&case, number);
        assert_eq!(seeds.len(), PARTICLES);
        let mut expected = Expected::new(&case, &seeds);
        for (machine, field) in machines.iter().zip(&fields) {
            if !is_run_at(machine, &case) {
                continue;
            }
            for engine in machine.engines() {
                let tracer = tracer(&case, field).obstacles(case.obstacles.clone());
                let run = trace(&tracer.engine(*engine), &Seeds::list(seeds.clone()).unwrap());
                let name = format!("{machine}, {engine}");
                let what =
                    format!("{name}, case {number}: {:?}, {:?}", case.faces, case.obstacles[0]);
                let bounds = [error_at_bodies(machine), limit(machine)];
                expected.check((&what, &name), &run, bounds, &mut tally);
            }
        }
    }
    tally.assert_most_are_decided();
    let ends = [Response::End(Status::Stuck), Response::End(Status::HitObstacle)];
    let responses = [Response::Reflect, Response::Slide].into_iter().chain(ends);
    tally.assert_met(responses.flat_map(|response| [Met::Wall(response), Met::Covered(response)]));
    tally.assert_met(BoundaryCondition::ALL.map(Met::Face));
    for status in [Status::Active, Status::Stuck, Status::HitObstacle] {
        assert!(tally.statuses.contains(&status), "{:?}", tally.statuses);
    }
    for face in Face::ALL {
        assert!(tally.statuses.contains(&Status::Exited(face)), "{:?}", tally.statuses);
    }
}

/// The oracle follows displacements at faces axis by axis, and among walls from event to event.
#[test]
fn both_paths_of_the_oracle_agree_at_faces() {
    let mut dice = Dice(51);
    for faces in FACES {
        let case = body_case(0, (shapes()[0].clone(), BoundaryCondition::Stick), faces);
        let case = Case { obstacles: vec![], ..case };
        for start in Dice(52).points([0.0; 3], HIGH, 50) {
            // Up to two box widths: an axis with a reflection and an exit has at most one reflection.
            let displacement = [0, 1, 2].map(|_| dice.between(-2.0, 2.0));
            let state = FinalState::waiting(start);
            let (mut axes, mut events) = (state.clone(), state);
            case.pass_faces(&mut axes, displacement, (0.0, 1.0));
            case.pass_walls(&mut events, displacement, (0.0, 1.0));
            // About ten roundings of numbers of up to 4.
            let deviation = axes.apart(&events, case.width());
            assert_below(&format!("{faces:?}, {start:?}, {displacement:?}"), deviation, 1e-14);
        }
    }
}

// ---- meshes ----

/// The rotation of a unit box, so that none of its faces is normal to an axis.
const ROTATION: [[f64; 3]; 3] = [[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]];

fn rotated(p: Point) -> Point {
    [0, 1, 2].map(|d| (0..3).map(|k| ROTATION[d][k] * p[k]).sum())
}

/// A rotation about z, for cells in the plane.
fn rotated_in_plane([x, y, z]: Point) -> Point {
    [0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y, z]
}

const WALLS: [BoundaryCondition; 4] = [Exit, Reflect, Slide, Stick];

const KINDS: [CellKind; 4] =
    [CellKind::Tetra, CellKind::Hexahedron, CellKind::Triangle, CellKind::Quad];

fn is_flat(kind: CellKind) -> bool {
    matches!(kind, CellKind::Triangle | CellKind::Quad)
}

/// A rotated box of shaken cells with an unsteady velocity that leads through all of its sides.
pub fn mesh_frames(kind: CellKind) -> MeshFrames {
    let map = if is_flat(kind) { rotated_in_plane } else { rotated };
    let made = Made::of(3, 0.1, kind).mapped(map);
    MeshFrames::new(&made, &[0.0, 1.2], |[x, y, z], t| {
        [1.4 * (2.0 * y).cos() + 0.5 * t, 1.3 * (3.0 * x + z).sin() - t, 0.9 - 2.0 * x + y]
    })
}

pub fn mesh_case(frames: MeshFrames, wall: BoundaryCondition, scheme: Scheme) -> Case<WalledMesh> {
    Case {
        frames: WalledMesh::new(frames, wall),
        in_time: TimeInterpolation::Linear,
        outside: OutsideTime::Error,
        scheme,
        faces: [[Exit; 2]; 3],
        obstacles: vec![],
        held: HELD,
        times: even_axis(0.0, 1.2, 6),
        stagnant_speed: 0.0,
    }
}

/// The error of a step at mesh walls. A position counts as in a cell up to a tolerance of its faces, and is
/// put twice as far inside after a contact: 1e-10 cell sizes of a third of a unit in the tensor engine, and
/// up to 64 roundings of a coordinate in the fused engine, relative to the cell size. Each contact moves a
/// particle by up to three tolerances, twice that where it is reflected.
fn error_at_mesh_walls(machine: &Machine, engine: Engine) -> f64 {
    let rounding = 6.0 * 64.0 * 1.5 * machine.eps();
    let tolerance = if engine == Engine::Tensor { 6.0 * 1e-10 } else { 0.0 };
    perturbation(machine.eps()) + rounding + tolerance
}

pub fn mesh_seeds(kind: CellKind, number: u64, count: usize) -> Vec<Point> {
    let points = Dice(5000 + number).points([0.05; 3], [0.95; 3], count);
    let flat = |[x, y, _]: Point| rotated_in_plane([x, y, 0.0]);
    points.into_iter().map(|p| if is_flat(kind) { flat(p) } else { rotated(p) }).collect()
}

#[test]
fn tracks_at_mesh_walls_match_the_oracle() {
    let mut tally = Tally::default();
    let machines = machines();
    for kind in KINDS {
        let frames = mesh_frames(kind);
        let fields: Vec<_> = machines.iter().map(|machine| frames.field(machine)).collect();
        for (number, scheme) in Scheme::ALL.into_iter().enumerate() {
            for wall in WALLS {
                let case = mesh_case(frames.clone(), wall, scheme);
                let seeds = mesh_seeds(kind, number as u64, 10);
                let mut expected = Expected::new(&case, &seeds);
                for (machine, field) in machines.iter().zip(&fields) {
                    // Software GPUs take seconds to compile a kernel.
                    let is_common = kind == CellKind::Tetra && scheme == Scheme::Rk4;
                    if machine.is_cpu() || is_common && !machine.is_double() {
                        let what = format!("{kind:?}, {scheme:?}, {wall:?}");
                        check_mesh(&what, (machine, field), &mut expected, &mut tally);
                    }
                }
            }
        }
    }
    tally.assert_most_are_decided();
    let responses = WALLS.map(|wall| Response::of(wall, Status::LeftMesh));
    tally.assert_met(responses.map(Met::Wall));
}

/// Checks a case with all engines.
fn check_mesh(
    what: &str,
    (machine, field): (&Machine, &dyn Field),
    expected: &mut Expected<WalledMesh>,
    tally: &mut Tally,
) {
    for engine in machine.engines() {
        check_mesh_with(what, (machine, field), expected, tally, *engine);
    }
}

fn check_mesh_with(
    what: &str,
    (machine, field): (&Machine, &dyn Field),
    expected: &mut Expected<WalledMesh>,
    tally: &mut Tally,
    engine: Engine,
) {
    let case = expected.case;
    let tracer = tracer(case, field).mesh_wall(case.frames.wall).obstacles(case.obstacles.clone());
    let seeds = Seeds::list(expected.seeds.to_vec()).unwrap();
    let run = trace(&tracer.engine(engine), &seeds);
    let name = format!("{machine}, {engine}");
    let at_bodies = if case.obstacles.is_empty() { 0.0 } else { error_at_bodies(machine) };
    let error = error_at_mesh_walls(machine, engine) + at_bodies;
    let bounds = [error, limit_at_mesh_walls(machine, engine)];
    expected.check((&format!("{name}, {what}"), &name), &run, bounds, tally);
}

/// As `limit`. The tolerance of the tensor engine may grow by a factor of 10^3.
fn limit_at_mesh_walls(machine: &Machine, engine: Engine) -> f64 {
    match machine.is_double() {
        true if engine == Engine::Tensor => 1e-6,
        _ => limit(machine),
    }
}

/// The conditions of a box around or within a mesh, and of the mesh. Along x the faces of the box coincide with
/// those of the mesh, along y the mesh has walls, and along z the box cuts the mesh off.
type BoxFaces<'a> = ([[BoundaryCondition; 2]; 3], &'a [BoundaryCondition]);

fn mesh_in_box(
    faces: [[BoundaryCondition; 2]; 3],
    wall: BoundaryCondition,
    scheme: Scheme,
) -> Case<WalledMesh> {
    let made = Made::of(3, 0.1, CellKind::Tetra);
    let frames = MeshFrames::new(&made, &[0.0, 1.2], |[x, y, z], t| {
        [1.4 * (2.0 * y).cos() + 0.5 * t, 1.3 * (3.0 * x + z).sin() - t, 0.9 - 2.0 * x + y]
    });
    let case = mesh_case(frames, wall, scheme);
    let frames = case.frames.clone().within([0.0, -1.0, 0.125], [1.0, 2.0, 0.875]);
    Case { frames, faces, ..case }
}

fn check_boxes(all: &[BoxFaces]) {
    let mut tally = Tally::default();
    let machines: Vec<_> = machines().into_iter().filter(Machine::is_cpu).collect();
    for ((faces, walls), scheme) in
        all.iter().flat_map(|of_box| [Scheme::Euler, Scheme::Rk4].map(|scheme| (of_box, scheme)))
    {
        for wall in *walls {
            let case = mesh_in_box(*faces, *wall, scheme);
            let seeds = Dice(5100).points([0.05, 0.05, 0.15], [0.95, 0.95, 0.85], 10);
            let mut expected = Expected::new(&case, &seeds);
            for machine in &machines {
                let field = case.frames.frames.field(machine);
                let what = format!("{faces:?}, {scheme:?}, {wall:?}");
                check_mesh(&what, (machine, &field), &mut expected, &mut tally);
            }
        }
    }
    tally.assert_most_are_decided();
    let met = |wall: &BoundaryCondition| Response::of(*wall, Status::LeftMesh);
    for (faces, walls) in all {
        tally.assert_met(walls.iter().map(|wall| Met::Wall(met(wall))));
        tally.assert_met([faces[0], faces[2]].as_flattened().iter().map(|face| Met::Face(*face)));
    }
}

#[test]
fn tracks_in_boxes_with_mesh_walls_match_the_oracle() {
    let bounces = [BoundaryCondition::Reflect, BoundaryCondition::Slide];
    check_boxes(&[
        ([[Periodic; 2], [Exit; 2], [Exit; 2]], &WALLS),
        ([[Periodic; 2], [Exit; 2], [Clamp; 2]], &bounces),
        ([[Exit, Clamp], [Exit; 2], [Clamp, Exit]], &bounces),
    ]);
}

/// A face changes the direction of a path before it meets the mesh wall in the same step.
#[test]
fn tracks_that_turn_at_a_box_before_a_mesh_wall_match_the_oracle() {
    check_boxes(&[
        ([[Periodic; 2], [Exit; 2], [Clamp; 2]], &[BoundaryCondition::Exit]),
        ([[Exit, Clamp], [Exit; 2], [Clamp, Exit]], &[BoundaryCondition::Exit]),
        ([[Periodic; 2], [Exit; 2], [Reflect; 2]], &WALLS),
        ([[Reflect; 2], [Exit; 2], [Clamp; 2]], &WALLS),
        ([[Exit, Reflect], [Exit; 2], [Reflect, Clamp]], &WALLS),
    ]);
}

/// A ball within a mesh, and a box that stands in its wall.
#[test]
fn tracks_among_bodies_in_meshes_match_the_oracle() {
    let ball = Shape::Sphere { centre: [0.45, 0.45, 0.5], radius: 0.2 };
    let block = Shape::Box { low: [0.6, 0.8, 0.3], high: [0.9, 1.5, 0.7] };
    let body = |shape, surface| Obstacle { shape, allowed: Allowed::Outside, surface };
    let mut tally = Tally::default();
    let machines = machines();
    for (number, (surface, wall)) in
        SURFACES.into_iter().flat_map(|surface| WALLS.map(|wall| (surface, wall))).enumerate()
    {
        let scheme = Scheme::ALL[number % Scheme::ALL.len()];
        let case = mesh_in_box([[Periodic; 2], [Exit; 2], [Reflect, Exit]], wall, scheme);
        let obstacles = vec![body(ball.clone(), surface), body(block.clone(), surface)];
        let case = Case { obstacles, ..case };
        let seeds = Dice(5200).points([0.05, 0.05, 0.15], [0.95, 0.95, 0.85], 20);
        let seeds: Vec<_> = seeds.into_iter().filter(|p| case.is_allowed(*p)).collect();
        let mut expected = Expected::new(&case, &seeds);
        // Software GPUs take seconds to compile a kernel.
        let is_tested =
            |machine: &&Machine| machine.is_cpu() || number == 0 && !machine.is_double();
        for machine in machines.iter().filter(is_tested) {
            let field = case.frames.frames.field(machine);
            let what = format!("{scheme:?}, {wall:?}, bodies {surface:?}");
            check_mesh(&what, (machine, &field), &mut expected, &mut tally);
        }
    }
    tally.assert_most_are_decided();
    let ends = [Status::HitObstacle, Status::Stuck, Status::LeftMesh].map(Response::End);
    tally.assert_met(ends.into_iter().chain([Response::Reflect, Response::Slide]).map(Met::Wall));
}

/// A box of cells, without those whose first node is not in the region.
pub fn part_of_box(
    is_in: fn(Point) -> bool,
    velocity: impl FnMut(Point, f64) -> Point,
) -> MeshFrames {
    let made = Made::of(4, 0.0, CellKind::Hexahedron);
    let mut frames = MeshFrames::new(&made, &[0.0, 1.2], velocity);
    let is_kept = |cell: &usize| is_in(made.points[made.cells.nodes(*cell)[0] as usize]);
    let kept: Vec<usize> = (0..made.cells.len()).filter(is_kept).collect();
    let nodes = |cell: &usize| made.cells.nodes(*cell).to_vec();
    frames.cells.connectivity = kept.iter().flat_map(nodes).collect();
    frames.cells.offsets = (0..=kept.len()).map(|k| 8 * k as u32).collect();
    frames.cells.kinds = vec![CellKind::Hexahedron; kept.len()];
    frames
}

/// An L with a reentrant edge at x = y = 1/2.
pub fn is_in_l([x, y, _]: Point) -> bool {
    x < 0.4 || y < 0.4
}

/// Paths around and across a reentrant edge.
#[test]
fn tracks_in_a_mesh_with_a_reentrant_edge_match_the_oracle() {
    let mut tally = Tally::default();
    let machines: Vec<_> = machines().into_iter().filter(Machine::is_cpu).collect();
    let frames = part_of_box(is_in_l, |[x, y, z], t| {
        [1.0 - 1.6 * y + 0.3 * t, 1.6 * x - 0.7, 0.4 * (3.0 * x + z).sin()]
    });
    for scheme in Scheme::ALL {
        for wall in WALLS {
            let case = mesh_case(frames.clone(), wall, scheme);
            let seeds = Dice(5200).points([0.05; 3], [0.95, 0.45, 0.95], 15);
            let mut expected = Expected::new(&case, &seeds);
            for machine in &machines {
                let field = frames.field(machine);
                let what = format!("{scheme:?}, {wall:?}");
                check_mesh(&what, (machine, &field), &mut expected, &mut tally);
            }
        }
    }
    tally.assert_most_are_decided();
}

/// Single steps in a mesh with a notch or a gap, many of which end in the mesh, but cross the region outside.
fn check_single_steps(is_in: fn(Point) -> bool, engine: Engine) {
    let mut tally = Tally::default();
    let mut dice = Dice(5300);
    for number in 0..12 {
        let velocity = [dice.between(-0.7, 0.7), dice.between(-0.7, 0.7), 0.1];
        let frames = part_of_box(is_in, |_, _| velocity);
        let case = mesh_case(frames, BoundaryCondition::Exit, Scheme::Euler);
        let case = Case { times: vec![0.0, 1.0], ..case };
        let points = Dice(5400 + number).points([0.0; 3], [1.0; 3], 40);
        let seeds: Vec<Point> = points.into_iter().filter(|p| case.is_allowed(*p)).collect();
        let mut expected = Expected::new(&case, &seeds);
        for machine in machines().into_iter().filter(Machine::is_cpu) {
            let field = case.frames.frames.field(&machine);
            let what = format!("{velocity:?}");
            check_mesh_with(&what, (&machine, &field), &mut expected, &mut tally, engine);
        }
    }
    tally.assert_most_are_decided();
}

/// A slab without cells between x = 1/2 and x = 3/4.
fn is_beside_gap([x, ..]: Point) -> bool {
    !(0.4..0.6).contains(&x)
}

#[test]
fn fused_steps_across_gaps_of_meshes_match_the_oracle() {
    check_single_steps(is_beside_gap, Engine::Fused);
}

#[test]
fn fused_steps_across_notches_of_meshes_match_the_oracle() {
    check_single_steps(is_in_l, Engine::Fused);
}

#[test]
fn tensor_steps_across_gaps_of_meshes_match_the_oracle() {
    check_single_steps(is_beside_gap, Engine::Tensor);
}

#[test]
fn tensor_steps_across_notches_of_meshes_match_the_oracle() {
    check_single_steps(is_in_l, Engine::Tensor);
}
