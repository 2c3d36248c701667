//! Mesh boundaries: exits, reflection, sliding, gaps, and non-matching faces.

use crate::{common::*, meshes::*};
use burntrace::{
    BoundaryCondition, CellKind, Domain, Engine, Face, Scheme, Seeds, Status, Tracer, mesh::Cells,
};

/// The rotation of a unit box, so that none of its faces is normal to an axis.
const ROTATION: [[f64; 3]; 3] = [[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]];

fn rotated(p: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|d| (0..3).map(|k| ROTATION[d][k] * p[k]).sum())
}

fn back(p: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|d| (0..3).map(|k| ROTATION[k][d] * p[k]).sum())
}

const KINDS: [CellKind; 5] = [
    CellKind::Tetra,
    CellKind::Hexahedron,
    CellKind::Wedge,
    CellKind::Pyramid,
    CellKind::QuadraticHexahedron,
];

/// A uniform velocity in the rotated box, given in the axes of the box.
fn box_of(kind: CellKind, velocity: [f64; 3]) -> MeshFrames {
    let made = Made::of(4, 0.1, kind).mapped(rotated);
    MeshFrames::new(&made, &[0.0], |_, _| rotated(velocity))
}

fn seeds(count: usize) -> Vec<[f64; 3]> {
    Dice(3).points([0.05; 3], [0.95; 3], count).into_iter().map(rotated).collect()
}

#[test]
fn mesh_exits_have_the_exact_position_time_and_face() {
    let velocity = [0.7, -0.4, 0.1];
    for kind in KINDS {
        let frames = box_of(kind, velocity);
        let seeds = seeds(25);
        for machine in machines_for(kind) {
            let field = frames.field(&machine);
            for engine in machine.engines() {
                let tracer = Tracer::new(&field)
                    .engine(*engine)
                    .domain(Domain::unbounded())
                    .span(steps(0.0, 3.0, 7));
                let tracks = tracer.trace(&Seeds::list(seeds.clone()).unwrap()).unwrap();
                let run = read(&tracks);
                for (i, seed) in seeds.iter().enumerate() {
                    let seed = back(*seed);
                    let time = (0..3).map(|d| {
                        let side = if velocity[d] > 0.0 { 1.0 } else { 0.0 };
                        (side - seed[d]) / velocity[d]
                    });
                    let time = time.fold(f64::INFINITY, f64::min);
                    let end = rotated([0, 1, 2].map(|d| seed[d] + time * velocity[d]));
                    let what = format!("{kind:?}, {machine}, {engine}, {i}");
                    assert_eq!(run.status[i], Status::LeftMesh, "{what}");
                    let bound = 100.0 * machine.eps().max(1e-11);
                    assert_below(&what, distance(&[run.last()[i]], &[end]), bound);
                    assert_below(&what, (run.end_time[i] - time).abs(), 4.0 * bound);
                    let face = tracks.ends().mesh_face[i].unwrap();
                    assert!(face.cell < frames.cells.len(), "{what}");
                    assert_on_face(&frames, face.cell, face.face, end, &what);
                }
            }
        }
    }
}

/// Checks that all corners of a face are in the same side of the box as the position.
#[track_caller]
fn assert_on_face(frames: &MeshFrames, cell: usize, face: usize, p: [f64; 3], what: &str) {
    let corners = frames.cells.kinds[cell].table().faces[face];
    let nodes = frames.cells.nodes(cell);
    let corners: Vec<_> = corners.iter().map(|k| back(frames.points[nodes[*k] as usize])).collect();
    let p = back(p);
    let is_side = |d: usize, side: f64| {
        (p[d] - side).abs() < 1e-3 && corners.iter().all(|corner| (corner[d] - side).abs() < 1e-9)
    };
    assert!((0..3).any(|d| is_side(d, 0.0) || is_side(d, 1.0)), "{what}: {corners:?}, {p:?}");
}

#[test]
fn displacements_at_mesh_walls_are_mirrored_or_clamped() {
    let velocity = [0.9, 0.5, -0.35];
    for kind in KINDS {
        let frames = box_of(kind, velocity);
        let seeds = seeds(25);
        for machine in machines_for(kind) {
            let field = frames.field(&machine);
            for (engine, wall) in machine.engines().iter().flat_map(|engine| {
                [BoundaryCondition::Reflect, BoundaryCondition::Slide].map(|wall| (*engine, wall))
            }) {
                let tracer = Tracer::new(&field)
                    .engine(engine)
                    .scheme(Scheme::Euler)
                    .mesh_wall(wall)
                    .domain(Domain::unbounded())
                    .span(steps(0.0, 1.0, 1));
                let run = trace(&tracer, &Seeds::list(seeds.clone()).unwrap());
                for (i, seed) in seeds.iter().enumerate() {
                    let seed = back(*seed);
                    let end = [0, 1, 2].map(|d| {
                        let x = seed[d] + velocity[d];
                        match wall {
                            BoundaryCondition::Reflect => 1.0 - (1.0 - x.rem_euclid(2.0)).abs(),
                            _ => x.clamp(0.0, 1.0),
                        }
                    });
                    let what = format!("{kind:?}, {machine}, {engine}, {wall:?}, {i}");
                    assert_eq!(run.status[i], Status::Active, "{what}");
                    let bound = 300.0 * machine.eps().max(1e-11);
                    assert_below(&what, distance(&[run.last()[i]], &[rotated(end)]), bound);
                }
            }
        }
    }
}

/// Two boxes side by side along x with a gap, the second with other cells.
fn two_boxes(gap: f64, second: usize, velocity: [f64; 3]) -> MeshFrames {
    let first = Made::of(3, 0.1, CellKind::Hexahedron);
    let other =
        Made::of(second, 0.1, CellKind::Hexahedron).mapped(|[x, y, z]| [x + 1.0 + gap, y, z]);
    let mut frames = MeshFrames::new(&first, &[0.0], |_, _| velocity);
    let base = frames.points.len() as u32;
    frames.points.extend(&other.points);
    frames.cells.kinds.extend(&other.cells.kinds);
    let end = frames.cells.connectivity.len() as u32;
    frames.cells.offsets.extend(other.cells.offsets[1..].iter().map(|offset| end + offset));
    frames.cells.connectivity.extend(other.cells.connectivity.iter().map(|node| base + node));
    frames.values[0] = velocity.repeat(frames.points.len());
    frames
}

#[test]
fn particles_do_not_jump_over_gaps() {
    let seeds = Dice(4).points([0.55, 0.1, 0.1], [0.95, 0.9, 0.9], 30);
    let frames = two_boxes(0.05, 3, [1.0, 0.0, 0.0]);
    for machine in some_machines() {
        let field = frames.field(&machine);
        // One step would end well inside the second box.
        let tracer = Tracer::new(&field).span(steps(0.0, 0.9, 1));
        let run = trace(&tracer, &Seeds::list(seeds.clone()).unwrap());
        for (p, status) in run.last().iter().zip(&run.status) {
            assert_eq!(*status, Status::LeftMesh, "{machine}");
            assert_below(&format!("{machine}"), (p[0] - 1.0).abs(), 100.0 * machine.eps());
        }
    }
}

#[test]
fn non_matching_faces_lose_no_particle() {
    let seeds = Dice(4).points([0.1, 0.1, 0.1], [0.9, 0.9, 0.9], 300);
    let velocity = [1.0, 0.02, -0.03];
    let frames = two_boxes(0.0, 5, velocity);
    for machine in some_machines() {
        let field = frames.field(&machine);
        for count in [1, 40] {
            let tracer = Tracer::new(&field).span(steps(0.0, 1.0, count));
            let run = trace(&tracer, &Seeds::list(seeds.clone()).unwrap());
            assert_eq!(run.status, vec![Status::Active; seeds.len()], "{machine}");
            let end = |p: &[f64; 3]| [0, 1, 2].map(|d| p[d] + velocity[d]);
            let expected: Vec<_> = seeds.iter().map(end).collect();
            assert_below(
                &format!("{machine}"),
                distance(run.last(), &expected),
                50.0 * machine.eps(),
            );
        }
    }
}

#[test]
fn exits_from_box_shaped_meshes_name_the_domain_face() {
    let made = Made::of(3, 0.1, CellKind::Tetra);
    let frames = MeshFrames::new(&made, &[0.0], |_, _| [1.0, 0.0, 0.0]);
    for machine in machines() {
        let field = frames.field(&machine);
        for engine in machine.engines() {
            let tracer = Tracer::new(&field).engine(*engine).span(steps(0.0, 2.0, 9));
            let seeds = Dice(2).points([0.1; 3], [0.9; 3], 20);
            let run = trace(&tracer, &Seeds::list(seeds).unwrap());
            for (p, status) in run.last().iter().zip(&run.status) {
                assert_eq!(status.to_string(), "exited x-high", "{machine}, {engine}");
                assert_eq!(p[0], 1.0);
            }
        }
    }
}

#[test]
fn seeds_outside_a_mesh_are_an_error_or_not_located() {
    use burntrace::SeedsOutside;
    let frames = two_boxes(0.5, 3, [0.0; 3]);
    let seeds = Seeds::list(vec![[0.5, 0.5, 0.5], [1.25, 0.5, 0.5]]).unwrap();
    for machine in machines() {
        let field = frames.field(&machine);
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 1));
        let error = tracer.trace(&seeds).unwrap_err().to_string();
        assert!(error.contains("1 of 2 seeds are outside the mesh"), "{error}");
        let run = trace(&tracer.seeds_outside(SeedsOutside::NotLocated), &seeds);
        assert_eq!(run.status, [Status::Active, Status::NotLocated], "{machine}");
    }
}

#[test]
fn tracks_of_both_engines_at_mesh_walls_agree() {
    let velocity = |[x, y, z]: [f64; 3]| [2.0 * y - 0.6, 1.5 * z + 0.2, 1.0 - 2.0 * x];
    for kind in KINDS {
        let made = Made::of(3, 0.1, kind).mapped(rotated);
        let frames = MeshFrames::new(&made, &[0.0], |p, _| rotated(velocity(back(p))));
        for machine in machines().into_iter().filter(Machine::is_cpu) {
            let field = frames.field(&machine);
            for wall in
                [BoundaryCondition::Exit, BoundaryCondition::Reflect, BoundaryCondition::Slide]
            {
                let run = |engine| {
                    let tracer = Tracer::new(&field)
                        .engine(engine)
                        .mesh_wall(wall)
                        .domain(Domain::unbounded())
                        .span(steps(0.0, 1.0, 8));
                    trace(&tracer, &Seeds::list(seeds(40)).unwrap())
                };
                let (fused, tensor) = (run(Engine::Fused), run(Engine::Tensor));
                let what = format!("{kind:?}, {machine}, {wall:?}");
                assert_eq!(fused.status, tensor.status, "{what}");
                let bound = 3e3 * machine.eps().max(1e-11);
                assert_below(&what, distance(fused.last(), tensor.last()), bound);
            }
        }
    }
}

/// The unit box without the cells at low x and high y, with a uniform velocity.
fn notched(kind: CellKind, velocity: [f64; 3]) -> MeshFrames {
    let mut frames = MeshFrames::new(&Made::of(4, 0.0, kind), &[0.0], |_, _| velocity);
    let all = frames.cells.clone();
    let mut kept = Cells { offsets: vec![0], ..Cells::default() };
    for cell in 0..all.len() {
        let [x, y, _] = frames.points[all.nodes(cell)[0] as usize];
        if x >= 0.5 || y < 0.5 {
            kept.connectivity.extend(all.nodes(cell));
            kept.offsets.push(kept.connectivity.len() as u32);
            kept.kinds.push(all.kinds[cell]);
        }
    }
    frames.cells = kept;
    frames
}

/// A step over the notch meets its wall, although a walk leads around the corner to the end of the step.
#[test]
fn a_step_across_a_notch_ends_at_its_wall() {
    for kind in [CellKind::Quad, CellKind::Triangle, CellKind::Hexahedron, CellKind::Tetra] {
        let frames = notched(kind, [0.4, 0.1, 0.0]);
        let z = if FLAT.contains(&kind) { 0.0 } else { 0.4 };
        for machine in machines_for(kind) {
            let field = frames.field(&machine);
            for engine in machine.engines() {
                let tracer = Tracer::new(&field).engine(*engine).span(steps(0.0, 1.0, 1));
                let run = trace(&tracer, &Seeds::list(vec![[0.2, 0.48, z]]).unwrap());
                let what = format!("{kind:?}, {machine}, {engine}");
                let bound = 100.0 * machine.eps().max(1e-11);
                assert_eq!(run.status, [Status::LeftMesh], "{what}");
                assert_below(&what, distance(run.last(), &[[0.28, 0.5, z]]), bound);
                assert_below(&what, (run.end_time[0] - 0.2).abs(), 4.0 * bound);
            }
        }
    }
}

/// A periodic face that leads to a place without mesh is a part of the mesh boundary.
#[test]
fn periodic_faces_without_mesh_behind_them_are_walls() {
    let frames = notched(CellKind::Hexahedron, [1.0, 0.0, 0.0]);
    let (wrapping, blocked) = ([0.7, 0.3, 0.4], [0.7, 0.8, 0.4]);
    for machine in machines_for(CellKind::Hexahedron) {
        let field = frames.field(&machine);
        for engine in machine.engines() {
            for (wall, x, status) in [
                (BoundaryCondition::Exit, 1.0, Status::LeftMesh),
                (BoundaryCondition::Stick, 1.0, Status::Stuck),
                (BoundaryCondition::Slide, 1.0, Status::Active),
                (BoundaryCondition::Reflect, 0.9, Status::Active),
            ] {
                let tracer = Tracer::new(&field)
                    .face(Face::XLow, BoundaryCondition::Periodic)
                    .face(Face::XHigh, BoundaryCondition::Periodic)
                    .mesh_wall(wall)
                    .engine(*engine)
                    .span(steps(0.0, 0.4, 1));
                let seeds = Seeds::list(vec![wrapping, blocked]).unwrap();
                let tracks = tracer.trace(&seeds).unwrap();
                let run = read(&tracks);
                let what = format!("{machine}, {engine}, {wall:?}");
                let expected = [[0.1, 0.3, 0.4], [x, 0.8, 0.4]];
                assert_below(&what, distance(run.last(), &expected), 100.0 * machine.eps());
                assert_eq!(run.status, [Status::Active, status], "{what}");
                assert_eq!(run.image, [[1, 0, 0], [0; 3]], "{what}");
                assert_eq!(tracks.ends().mesh_face[1], None, "{what}");
                if status.has_ended() {
                    let error = (run.end_time[1] - 0.3).abs();
                    assert_below(&what, error, 100.0 * machine.eps());
                }
            }
        }
    }
}

/// Particles that leave a mesh through a domain face end exactly on it, and not beyond another one.
#[test]
fn ends_on_domain_faces_around_a_mesh_are_in_the_domain() {
    let made = Made::of(3, 0.0, CellKind::Tetra);
    let diagonal = MeshFrames::new(&made, &[0.0], |_, _| [1.0; 3]);
    let seeds: Vec<_> = Dice(8).points([0.1; 3], [0.3; 3], 500);
    // On a diagonal, two or three faces are reached together.
    let seeds: Vec<_> = seeds.into_iter().map(|[x, y, _]| [x, x, y]).collect();
    for machine in machines() {
        let field = diagonal.field(&machine);
        let tracer = Tracer::new(&field).all_faces(BoundaryCondition::Exit);
        let run = trace(&tracer.span(steps(0.0, 1.7, 1)), &Seeds::list(seeds.clone()).unwrap());
        for (p, status) in run.last().iter().zip(&run.status) {
            assert!(status.has_ended(), "{machine}: {p:?} {status}");
            assert!(p.iter().all(|x| (0.0..=1.0).contains(x)), "{machine}: {p:?} {status}");
        }
    }
}
