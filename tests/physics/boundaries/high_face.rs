//! Positions exactly on the high face of a periodic axis sample the field at the low face: the high face
//! is the low face of the next period. All numbers are dyadic, so that positions are exact on every device.

use crate::{
    cloud::tracer,
    common::*,
    meshes::{Made, MeshFrames},
    oracle::{Case, HELD, Point, Space, final_state, mesh::WalledMesh},
};
use burntrace::{
    BoundaryCondition::{Exit, Periodic},
    CellKind, Field, OutsideTime, Placement, Scheme, Seeds, TimeInterpolation, Tracer,
};

/// Four cells or five planes of velocity along each axis; the first and the last differ.
fn frames(placement: Placement) -> Frames {
    let axes = [0, 1, 2].map(|_| even_axis(0.0, 1.0, 4));
    Frames::new(axes, placement, &[0.0], |p, _| velocity(p))
}

/// The velocity at the centre of a cell or at a node.
fn velocity(p: Point) -> Point {
    p.map(|x| match x {
        _ if x < 0.2 => 0.125,
        _ if x > 0.8 => 0.25,
        _ => 0.0625,
    })
}

/// The same cells as a mesh.
fn mesh_case(scheme: Scheme) -> Case<WalledMesh> {
    let made = Made::of(4, 0.0, CellKind::Hexahedron);
    let centre = |cell: usize| {
        let [x, y, z] = made.points[made.cells.nodes(cell)[0] as usize];
        [x + 0.125, y + 0.125, z + 0.125]
    };
    let frames = MeshFrames::in_cells(&made, |cell| velocity(centre(cell)));
    let Case { in_time, outside, faces, times, .. } = case(Placement::Cells, scheme);
    let frames = WalledMesh::new(frames, Exit).within([0.0; 3], [1.0; 3]);
    Case {
        frames,
        in_time,
        outside,
        scheme,
        faces,
        obstacles: vec![],
        held: HELD,
        times,
        stagnant_speed: 0.0,
    }
}

fn case(placement: Placement, scheme: Scheme) -> Case {
    Case {
        frames: frames(placement),
        in_time: TimeInterpolation::Linear,
        outside: OutsideTime::Hold,
        scheme,
        faces: [[Periodic; 2]; 3],
        obstacles: vec![],
        held: HELD,
        times: vec![0.0, 0.5],
        stagnant_speed: 0.0,
    }
}

/// On each high face, and in all high corners.
fn on_high_faces() -> Vec<Point> {
    let inside = 0.40625;
    let on_face = |d: usize| {
        let mut p = [inside; 3];
        p[d] = 1.0;
        p
    };
    let mut points: Vec<Point> = (0..3).map(on_face).collect();
    points.extend([[1.0, 1.0, inside], [1.0, inside, 1.0], [inside, 1.0, 1.0], [1.0; 3]]);
    points
}

/// Half a step of 0.5 at the velocity of 0.25 in the last cell leads exactly to the high face.
const BEFORE_FACE: f64 = 1.0 - 0.25 * 0.25;

/// The deviations from the oracle that are above a few roundings.
fn deviations<S: Space>(
    case: &Case<S>,
    seeds: &[Point],
    machines: Vec<Machine>,
    load: impl Fn(&Machine) -> Box<dyn Field>,
) -> Vec<String> {
    let mut deviations = Vec::new();
    for machine in machines {
        let field = load(&machine);
        for engine in machine.engines() {
            let tracer = tracer(case, field.as_ref()).engine(*engine);
            let run = trace(&tracer, &Seeds::list(seeds.to_vec()).unwrap());
            for (i, seed) in seeds.iter().enumerate() {
                let (state, found) = (case.follow(*seed, 0.0), final_state(&run, i));
                // The third parts in the weights of the schemes are rounded.
                if state.apart(&found, case.width()) > 8.0 * machine.eps() {
                    deviations.push(format!(
                        "{machine}, {engine}, {:?}, from {seed:?}: {:?}, not {:?}",
                        case.scheme, found.position, state.position
                    ));
                }
            }
        }
    }
    deviations
}

#[track_caller]
fn assert_exact_on_grid(case: &Case, seeds: &[Point]) {
    let load = |machine: &Machine| Box::new(machine.field(&case.frames)) as Box<dyn Field>;
    assert_none(&deviations(case, seeds, machines(), load));
}

/// Software GPUs take seconds to compile the kernel of a mesh, which wraps stages as that of a grid.
#[track_caller]
fn assert_exact_on_mesh(scheme: Scheme, seeds: &[Point]) {
    let case = mesh_case(scheme);
    let load = |machine: &Machine| Box::new(case.frames.frames.field(machine)) as Box<dyn Field>;
    let machines = machines().into_iter().filter(Machine::is_cpu).collect();
    assert_none(&deviations(&case, seeds, machines, load));
}

#[track_caller]
fn assert_none(deviations: &[String]) {
    assert!(deviations.is_empty(), "{}", deviations.join("\n"));
}

/// The oracle itself: 0.5 at the velocity of the first cell.
#[test]
fn oracle_samples_the_first_cell_on_the_high_face() {
    let state = case(Placement::Cells, Scheme::Euler).follow([1.0, 0.40625, 0.40625], 0.0);
    assert_eq!(state.position, [0.0625, 0.4375, 0.4375]);
    assert_eq!(state.image, [1, 0, 0]);
}

#[test]
fn seeds_on_the_high_periodic_face_sample_the_first_cell() {
    for placement in [Placement::Cells, Placement::Nodes] {
        assert_exact_on_grid(&case(placement, Scheme::Euler), &on_high_faces());
    }
}

#[test]
fn stages_on_the_high_periodic_face_sample_the_first_cell() {
    let inside = 0.40625;
    let seeds = [
        [BEFORE_FACE, inside, inside],
        [inside, BEFORE_FACE, inside],
        [inside, inside, BEFORE_FACE],
        [BEFORE_FACE; 3],
    ];
    assert_exact_on_grid(&case(Placement::Cells, Scheme::Midpoint), &seeds);
    // The end of a first step: the seed is an eighth of a unit before the face.
    let before = seeds.map(|p| p.map(|x| if x == BEFORE_FACE { 0.875 } else { x }));
    let case = case(Placement::Cells, Scheme::Euler);
    assert_exact_on_grid(&Case { times: vec![0.0, 0.5, 1.0], ..case }, &before);
}

#[test]
fn positions_on_the_high_periodic_face_of_a_mesh_sample_the_first_cell() {
    assert_exact_on_mesh(Scheme::Euler, &on_high_faces());
    assert_exact_on_mesh(Scheme::Midpoint, &[[BEFORE_FACE, 0.40625, 0.40625], [BEFORE_FACE; 3]]);
}

/// A particle just below the high face is in the last cell, also where the difference to the low face rounds
/// to the width of the box.
#[test]
fn just_below_the_high_face_is_the_last_cell() {
    let axes = [0, 1, 2].map(|_| even_axis(-1.0, 1.0, 4));
    let velocity = |p: Point, _: f64| p.map(|x| if x > 0.5 { 0.25 } else { 0.0625 });
    for machine in machines() {
        let below = 1.0 - 0.5 * machine.eps();
        let field = machine.field(&Frames::new(axes.clone(), Placement::Cells, &[0.0], velocity));
        for engine in machine.engines() {
            let tracer = Tracer::new(&field).all_faces(Periodic).engine(*engine);
            let tracer = tracer.scheme(Scheme::Euler).span(steps(0.0, 1.0, 1));
            let run = trace(&tracer, &Seeds::list(vec![[below; 3], [-1.0; 3]]).unwrap());
            let what = format!("{machine}, {engine}");
            let expected = [[-0.75; 3], [-0.9375; 3]];
            assert_below(&what, distance(run.last(), &expected), 2.0 * machine.eps());
            assert_eq!(run.image, [[1; 3], [0; 3]], "{what}");
        }
    }
}
