//! Two-dimensional meshes in planes normal to x, y and z.

use crate::{common::*, meshes::*};
use burntrace::{BoundaryCondition, CellVelocity, Domain, Engine, Patch, Seeds, Tracer};

/// The axes of each plane in increasing order, and the flat one.
const PLANES: [[usize; 3]; 3] = [[0, 1, 2], [0, 2, 1], [1, 2, 0]];
/// The coordinate of the plane.
const LEVEL: f64 = 0.375;

/// The vector of a plane in space, with the third number along the flat axis.
fn in_space(v: [f64; 3], plane: [usize; 3]) -> [f64; 3] {
    let mut turned = [0.0; 3];
    (0..3).for_each(|d| turned[plane[d]] = v[d]);
    turned
}

fn in_plane(v: [f64; 3], plane: [usize; 3]) -> [f64; 3] {
    plane.map(|axis| v[axis])
}

/// A rotation about a point near a wall, with a component along the flat axis, which is not used.
fn flow([x, y, _]: [f64; 3], t: f64) -> [f64; 3] {
    [(1.0 + t) * (0.25 - y), (1.0 + t) * (x - 0.5), 7.0]
}

/// A mesh in a plane, with the velocity in it.
fn turned(made: &Made, plane: [usize; 3], in_cells: bool) -> MeshFrames {
    let moved = made.clone().mapped(|p| in_space([p[0], p[1], LEVEL], plane));
    let velocity = |p: [f64; 3], t: f64| in_space(flow(in_plane(p, plane), t), plane);
    match in_cells {
        true => MeshFrames::in_cells(&moved, |cell| {
            in_space([0.1, -0.3 + 0.05 * (cell % 7) as f64, 7.0], plane)
        }),
        false => MeshFrames::new(&moved, &[0.0, 1.0], velocity),
    }
}

#[test]
fn tracks_in_every_plane_have_the_same_bits() {
    let seeds = Dice(8).points([0.05, 0.05, LEVEL], [0.95, 0.95, LEVEL], 200);
    let walls = [BoundaryCondition::Exit, BoundaryCondition::Reflect, BoundaryCondition::Slide];
    for (kind, in_cells) in FLAT.iter().flat_map(|kind| [(*kind, false), (*kind, true)]) {
        let made = Made::of(6, shake(kind), kind);
        for machine in machines_for(kind) {
            let fields = PLANES.map(|plane| {
                let average =
                    if in_cells { CellVelocity::Averaged } else { CellVelocity::Constant };
                turned(&made, plane, in_cells).field_of(&machine, average)
            });
            for (engine, wall) in
                machine.engines().iter().flat_map(|engine| walls.map(|wall| (*engine, wall)))
            {
                // Tensor operations are slow on other devices, and not their own.
                if engine == Engine::Tensor && machine.name != "flex" {
                    continue;
                }
                let [first, others @ ..] = [0, 1, 2].map(|number| {
                    let (field, plane) = (&fields[number], PLANES[number]);
                    let open = f64::INFINITY;
                    // The side where most leave. Along the flat axis, a patch has all coordinates.
                    let low = in_space([-open, -open, 100.0], plane);
                    let high = in_space([0.01, open, open], plane);
                    let patch = Patch::new("end", low, high);
                    let tracer = Tracer::new(field)
                        .engine(engine)
                        .mesh_wall(wall)
                        .mesh_patch(patch)
                        .domain(Domain::unbounded())
                        .span(steps(0.0, 1.0, 25));
                    let seeds = seeds.iter().map(|p| in_space(*p, plane)).collect();
                    let run = trace(&tracer, &Seeds::list(seeds).unwrap());
                    let last = run.last().iter().map(|p| in_plane(*p, plane));
                    // The end time of an active particle is NaN, which differs from itself.
                    let ended: Vec<u64> = run.end_time.iter().map(|time| time.to_bits()).collect();
                    (last.collect::<Vec<_>>(), run.status, ended, run.summary.patches)
                });
                let what = format!("{kind:?}, {machine}, {engine}, {wall:?}, in cells: {in_cells}");
                assert!(first.0.iter().all(|p| p[2] == LEVEL), "{what}");
                // The velocity in cells leads away from the patch.
                assert!(first.0 != seeds && (in_cells || first.3[0].1 > 0), "{what}");
                others.iter().for_each(|other| assert!(*other == first, "{what}"));
            }
        }
    }
}

#[test]
fn seeds_in_every_plane_are_in_the_cells() {
    for kind in FLAT {
        let made = Made::of(4, shake(*kind), *kind);
        for plane in PLANES {
            for machine in machines_for(*kind) {
                let field = turned(&made, plane, false).field(&machine);
                let seeds = Seeds::in_mesh(field.mesh(), [-9.0; 3], [9.0; 3], 300, 1).unwrap();
                let is_inside = |p: &[f64; 3]| field.mesh().locate(*p).is_some();
                assert!(seeds.positions().iter().all(is_inside), "{kind:?}, {machine}, {plane:?}");
                let sum: f64 = seeds.positions().iter().map(|p| in_plane(*p, plane)[0]).sum();
                let mean = sum / 300.0;
                // Four standard deviations of the mean.
                assert!((mean - 0.5).abs() < 4.0 * 0.29 / 300_f64.sqrt(), "{kind:?}: {mean}");
                assert!(seeds.positions().iter().all(|p| in_plane(*p, plane)[2] == LEVEL));
            }
        }
    }
}
