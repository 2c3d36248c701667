//! Patches of a mesh boundary by groups of faces that a source names.

use crate::{common::*, meshes::*};
use burntrace::{
    BoundaryCondition, CellKind, CellVelocity, Domain, Engine, FieldOptions, FrameData,
    FrameSource, Inlet, InletShape, MeshField, MeshSource, Patch, Pattern, Placement, SaveAt,
    Seeds, Source, SourceError, Status, Tracer, Tracks,
    mesh::{BoundaryCells, Cells, Mesh},
};

const LENGTH: f64 = 2.0;
const SPEED: f64 = 0.3;
const KINDS: [CellKind; 2] = [CellKind::Tetra, CellKind::Hexahedron];
const ALL: [[f64; 3]; 2] = [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]];

/// A mesh with named faces.
#[derive(Clone)]
struct Named {
    frames: MeshFrames,
    boundary: BoundaryCells,
}

impl FrameSource for Named {
    fn times(&self) -> &[f64] {
        self.frames.times()
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        self.frames.read(frame)
    }
}

impl MeshSource for Named {
    fn points(&self) -> &[[f64; 3]] {
        self.frames.points()
    }

    fn cells(&self) -> &Cells {
        self.frames.cells()
    }

    fn placement(&self) -> Placement {
        self.frames.placement()
    }

    fn boundary(&self) -> Option<&BoundaryCells> {
        Some(&self.boundary)
    }
}

impl Named {
    /// A channel along x; `name` names boundary faces, by their number and their corners.
    fn channel(
        kind: CellKind,
        velocity: impl FnMut([f64; 3], f64) -> [f64; 3],
        name: impl Fn(usize, &[[f64; 3]]) -> String,
    ) -> Self {
        let made = Made::of(4, 0.1, kind).mapped(|[x, y, z]| [LENGTH * x, y, z]);
        let mesh = Mesh::new(&made.points, made.cells.clone()).unwrap();
        let points: Vec<[f64; 3]> = mesh.points().collect();
        let mut boundary = BoundaryCells { points, offsets: vec![0], ..BoundaryCells::default() };
        for cell in 0..mesh.cells().len() {
            let open = mesh.neighbours(cell).iter().enumerate().filter(|(_, next)| **next < 0);
            for (face, _) in open {
                let nodes = mesh.cells().nodes(cell);
                let faces = mesh.cells().kinds[cell].table().faces;
                let corners: Vec<u32> = faces[face].iter().map(|k| nodes[*k]).collect();
                let at = |node: &u32| boundary.points[*node as usize];
                let number = boundary.offsets.len() - 1;
                let name = name(number, &corners.iter().map(at).collect::<Vec<_>>());
                let groups = &mut boundary.groups;
                match groups.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, cells)) => cells.push(number as u32),
                    None => groups.push((name, vec![number as u32])),
                }
                boundary.connectivity.extend(corners);
                boundary.offsets.push(boundary.connectivity.len() as u32);
            }
        }
        Named { frames: MeshFrames::new(&made, &[0.0], velocity), boundary }
    }

    fn field(&self, machine: &Machine) -> MeshField {
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let in_cells = CellVelocity::Constant;
        MeshField::load(&mut self.clone(), &machine.device, &options, in_cells).unwrap()
    }
}

/// The end of the channel on which all corners are, or its walls.
fn end(_: usize, corners: &[[f64; 3]]) -> String {
    let all_at = |x: f64| corners.iter().all(|p| p[0] == x);
    let name = if all_at(0.0) {
        "start"
    } else if all_at(LENGTH) {
        "end"
    } else {
        "walls"
    };
    name.into()
}

/// CPU devices, and the GPU that compiles the kernel of tetrahedra in single precision.
fn few_machines(kind: CellKind) -> Vec<Machine> {
    let is_tested =
        |machine: &Machine| machine.is_cpu() || kind == CellKind::Tetra && !machine.is_double();
    machines_for(kind).into_iter().filter(is_tested).collect()
}

fn faces(name: &str) -> Patch {
    Patch::new(name, ALL[0], ALL[1]).faces(name)
}

fn on_patch(name: &str, pattern: Pattern) -> Inlet {
    Inlet::new(InletShape::Patch(name.into()), pattern).unwrap()
}

fn seeds(count: usize) -> Seeds {
    Seeds::list(Dice(8).points([0.05; 3], [1.95, 0.95, 0.95], count)).unwrap()
}

fn tracer<'a>(field: &'a MeshField, end: Patch, engine: Engine) -> Tracer<'a> {
    Tracer::new(field)
        .domain(Domain::unbounded())
        .mesh_wall(BoundaryCondition::Slide)
        .mesh_patch(end)
        .span(steps(0.0, 25.0, 180))
        .save(SaveAt::EverySteps(3))
        .engine(engine)
}

/// What the results of a run are, bit by bit.
fn bits(tracks: &Tracks) -> (Vec<Vec<[f64; 3]>>, String, usize) {
    let run = read(tracks);
    (run.saves, format!("{:?}", tracks.instances()), run.summary.patches[0].1)
}

#[test]
fn patch_of_named_faces_gives_the_bits_of_a_box_around_them() {
    let drift = |_, _| [SPEED, 0.05, -0.04];
    let inlet = InletShape::Rectangle {
        origin: [0.0, 0.05, 0.05],
        edge1: [0.0, 0.9, 0.0],
        edge2: [0.0, 0.0, 0.9],
    };
    let inlet = Inlet::new(inlet, Pattern::Uniform).unwrap();
    for kind in KINDS {
        let named = Named::channel(kind, drift, end);
        for machine in few_machines(kind) {
            let (with, without) = (named.field(&machine), named.frames.field(&machine));
            for engine in machine.engines() {
                let in_box = Patch::new("end", [LENGTH, ALL[0][1], ALL[0][2]], ALL[1]);
                let boxed = tracer(&without, in_box.outlet(inlet.clone()), *engine);
                let by_name = tracer(&with, faces("end").outlet(inlet.clone()), *engine);
                let [a, b] = [boxed, by_name].map(|run| bits(&run.trace(&seeds(20)).unwrap()));
                let what = format!("{kind:?}, {machine}, {engine}");
                assert!(a.2 >= 40, "{what}: {}", a.2);
                assert_eq!(a, b, "{what}");
            }
        }
    }
}

/// Each boundary face is a patch of its own.
#[test]
fn hundreds_of_patches_count_the_particles_through_each_face() {
    let radial = |[x, y, z]: [f64; 3], _| [0.5 * (x - 1.0), y - 0.5, z - 0.5];
    for kind in KINDS {
        let named = Named::channel(kind, radial, |number, _| number.to_string());
        let count = named.boundary.groups.len();
        assert!(count >= 96, "{count}");
        for machine in machines_for(kind).into_iter().filter(Machine::is_cpu) {
            let field = named.field(&machine);
            let numbered = (0..count).map(|k| k.to_string());
            let tracer =
                numbered.fold(Tracer::new(&field), |tracer, name| tracer.mesh_patch(faces(&name)));
            let tracer = tracer.domain(Domain::unbounded()).span(steps(0.0, 6.0, 60));
            let tracks = tracer.trace(&seeds(300)).unwrap();
            let (run, what) = (read(&tracks), format!("{kind:?}, {machine}"));
            assert!(run.status.iter().filter(|s| **s == Status::LeftMesh).count() > 250, "{what}");
            let mut expected = vec![0; count];
            for left in tracks.ends().mesh_face.iter().flatten() {
                let corners = corners_of(&named.frames, left.cell, left.face);
                let is_it = |cell: usize| sorted(&named.boundary, cell) == corners;
                expected[(0..count).find(|cell| is_it(*cell)).unwrap()] += 1;
            }
            let found: Vec<usize> = run.summary.patches.iter().map(|(_, left)| *left).collect();
            assert_eq!(found, expected, "{what}");
        }
    }
}

/// The corners of a face of a source's mesh, in order.
fn corners_of(frames: &MeshFrames, cell: usize, face: usize) -> Vec<[f64; 3]> {
    let table = frames.cells.kinds[cell].table();
    let nodes = frames.cells.nodes(cell);
    let corners = table.faces[face].iter().map(|k| frames.points[nodes[*k] as usize]);
    in_order(corners.collect())
}

fn sorted(boundary: &BoundaryCells, cell: usize) -> Vec<[f64; 3]> {
    let range = boundary.offsets[cell] as usize..boundary.offsets[cell + 1] as usize;
    let nodes = boundary.connectivity[range].iter();
    in_order(nodes.map(|node| boundary.points[*node as usize]).collect())
}

fn in_order(mut points: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
    points.sort_by(|a, b| a.partial_cmp(b).unwrap());
    points
}

/// A box and a group together, behind a patch of all faces in a part of it.
#[test]
fn first_of_overlapping_boxes_and_groups_applies() {
    for kind in KINDS {
        let named = Named::channel(kind, |_, _| [1.0, 0.0, 0.0], end);
        for machine in machines_for(kind).into_iter().filter(Machine::is_cpu) {
            let field = named.field(&machine);
            for engine in machine.engines() {
                let upto = |y: f64| [f64::INFINITY, y, f64::INFINITY];
                let tracer = Tracer::new(&field)
                    .engine(*engine)
                    .domain(Domain::unbounded())
                    .mesh_patch(Patch::new("quarter", ALL[0], upto(0.25)))
                    .mesh_patch(Patch::new("half", ALL[0], upto(0.5)).faces("end"))
                    .mesh_patch(faces("walls").wall(BoundaryCondition::Stick))
                    .mesh_patch(faces("end").wall(BoundaryCondition::Stick))
                    .span(steps(0.0, 3.0, 3));
                let run = trace(&tracer, &seeds(200));
                let counted = |low: f64, high: f64| {
                    seeds(200).positions().iter().filter(|p| low < p[1] && p[1] < high).count()
                };
                let named = |name: &str, count| (name.to_string(), count);
                let expected = [
                    named("quarter", counted(0.0, 0.25)),
                    named("half", counted(0.25, 0.5)),
                    named("walls", 0),
                    named("end", 0),
                ];
                let what = format!("{kind:?}, {machine}, {engine}");
                assert_eq!(run.summary.patches, expected, "{what}");
                let stuck = run.status.iter().filter(|status| **status == Status::Stuck).count();
                assert_eq!(stuck, counted(0.5, 1.0), "{what}");
            }
        }
    }
}

/// The velocity at the start of the channel is y.
#[test]
fn inlet_on_a_patch_releases_by_area_or_by_flux() {
    for kind in KINDS {
        let named = Named::channel(kind, |[_, y, _], _| [y, 0.0, 0.0], end);
        for machine in exact_machines().into_iter().take(1) {
            let field = named.field(&machine);
            for (pattern, power) in
                [(Pattern::Uniform, 1), (Pattern::Flux, 2), (Pattern::Lattice, 1)]
            {
                let below = |y: f64| y.powi(power);
                let source = Source::constant(on_patch("start", pattern), 8000.0, 8000).unwrap();
                let tracer = Tracer::new(&field)
                    .domain(Domain::unbounded())
                    .mesh_patch(faces("start").wall(BoundaryCondition::Reflect))
                    .source(source)
                    .span(steps(0.0, 1.0, 20));
                let tracks = tracer.trace(&Seeds::none()).unwrap();
                let what = format!("{kind:?}, {machine}, {pattern:?}");
                let starts: Vec<[f64; 3]> =
                    tracks.instances().iter().map(|of| of.release_position).collect();
                let count = starts.len() as f64;
                assert!(count >= 7900.0, "{what}: {count}");
                let most = if machine.is_double() { 1e-4 } else { 2e-4 };
                assert!(starts.iter().all(|p| (0.0..most).contains(&p[0])), "{what}");
                for q in [0.25, 0.5, 0.75] {
                    let fraction =
                        |d: usize| starts.iter().filter(|p| p[d] < q).count() as f64 / count;
                    // Four standard deviations.
                    let bound = |p: f64| 4.0 * (p * (1.0 - p) / count).sqrt();
                    let (y, z) = (fraction(1), fraction(2));
                    assert!((y - below(q)).abs() < bound(below(q)), "{what}: {y} below {q}");
                    assert!((z - q).abs() < bound(q), "{what}: {z} below {q}");
                }
            }
        }
    }
}

#[test]
fn outlet_patch_reinjects_at_another_patch() {
    for kind in KINDS {
        let named = Named::channel(kind, |_, _| [SPEED, 0.0, 0.0], end);
        for machine in exact_machines().into_iter().take(1) {
            let field = named.field(&machine);
            for engine in machine.engines() {
                let inlet = on_patch("start", Pattern::Flux);
                let tracer = tracer(&field, faces("end").outlet(inlet), *engine)
                    .mesh_patch(faces("start").wall(BoundaryCondition::Reflect));
                let tracks = tracer.trace(&seeds(30)).unwrap();
                let (run, what) = (read(&tracks), format!("{kind:?}, {machine}, {engine}"));
                assert_eq!(run.status, [Status::Active; 30], "{what}");
                let again = tracks.instances().iter().filter(|of| of.generation > 0);
                let starts: Vec<f64> = again.map(|of| of.release_position[0]).collect();
                assert!(starts.len() >= 90, "{what}: {}", starts.len());
                assert!(starts.iter().all(|x| (0.0..2e-4).contains(x)), "{what}: {starts:?}");
                let expected = [("end".to_string(), starts.len()), ("start".to_string(), 0)];
                assert_eq!(run.summary.patches, expected, "{what}");
            }
        }
    }
}

#[test]
fn seeds_on_named_faces_are_uniform() {
    let named = Named::channel(CellKind::Tetra, |_, _| [SPEED, 0.0, 0.0], end);
    let field = named.field(&double_machines()[0]);
    let count = 4000.0;
    let part = |patch: &Patch, is_in: &dyn Fn(&[f64; 3]) -> bool| {
        let seeds = Seeds::on_patch(field.mesh(), patch, count as usize, 3).unwrap();
        seeds.positions().iter().filter(|p| is_in(p)).count() as f64 / count
    };
    assert_eq!(part(&faces("end"), &|p| p[0] > LENGTH - 1e-4), 1.0);
    // Four walls of an area of 2 each.
    let at_wall = |p: &[f64; 3]| p[1] < 1e-4;
    assert!((part(&faces("walls"), &at_wall) - 0.25).abs() < 0.028);
    assert!((part(&faces("walls"), &|p| p[0] < 0.5) - 0.25).abs() < 0.028);
    let corner = Patch::new("walls", ALL[0], [f64::INFINITY, 0.0, f64::INFINITY]).faces("walls");
    assert_eq!(part(&corner, &at_wall), 1.0);
}

#[test]
fn wrong_names_of_faces_are_refused() {
    let machine = &machines()[0];
    let named = Named::channel(CellKind::Hexahedron, |_, _| [SPEED, 0.0, 0.0], end);
    let field = named.field(machine);
    let refused = |tracer: Tracer, parts: &[&str]| {
        let error = tracer.span(steps(0.0, 1.0, 1)).trace(&seeds(1)).unwrap_err().to_string();
        parts.iter().for_each(|part| assert!(error.contains(part), "{error}"));
    };
    let unknown = Tracer::new(&field).mesh_patch(faces("outlet"));
    refused(unknown, &["patch `outlet`", "no faces `outlet`", "`start`", "`walls`, `end`"]);
    let empty = Patch::new("end", ALL[0], [0.5; 3]).faces("end");
    refused(Tracer::new(&field).mesh_patch(empty), &["`end`", "none of the", "in its box"]);
    let plain = named.frames.field(machine);
    refused(Tracer::new(&plain).mesh_patch(faces("end")), &["the mesh has no named faces"]);
    let source = |name| Source::constant(on_patch(name, Pattern::Uniform), 1.0, 9).unwrap();
    refused(Tracer::new(&field).source(source("end")), &["`end`", "there are no patches"]);
    let other = Tracer::new(&field).mesh_patch(faces("end")).source(source("inlet"));
    refused(other, &["there is no patch `inlet`", "`end`"]);
    let shape = InletShape::Patch("end".into());
    let gaussian = Inlet::new(shape, Pattern::Gaussian { deviation: 0.1 }).unwrap_err();
    assert!(gaussian.to_string().contains("no plane"), "{gaussian}");
}
