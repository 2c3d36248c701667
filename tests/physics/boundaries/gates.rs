//! Gates: crossings in flows where their number, times and places are known in closed form.

use super::surfaces::{crate_of_triangles, ring, star};
use crate::{
    common::*,
    meshes::{MeshFrames, mixed},
};
use burn::tensor::{DType, Tensor, TensorData};
use burntrace::{
    BoundaryCondition, Crossing, EARTH_RADIUS, Engine, Error, Face, Field, FieldOptions, Gate,
    GateShape, GridField, Placement, RandomWalk, SaveAt, Scheme, Seeds, Shape, Tracer,
    analysis::gates::{Passages, Visitor},
};
use std::f64::consts::{PI, TAU};

const LOW: [f64; 3] = [-1.0, 2.0, 0.5];
const HIGH: [f64; 3] = [2.0, 3.0, 1.0];

fn uniform(machine: &Machine, velocity: [f64; 3]) -> GridField {
    machine.field(&Frames::uniform(LOW, HIGH, &[0.0], |_| velocity))
}

fn seeds(points: &[[f64; 3]]) -> Seeds {
    Seeds::list(points.to_vec()).unwrap()
}

fn crossings(tracer: &Tracer, points: &[[f64; 3]]) -> Vec<Crossing> {
    let found = tracer.trace(&seeds(points)).unwrap().crossings().to_vec();
    let in_order = |pair: &[Crossing]| pair[0].slot < pair[1].slot || pair[0].time <= pair[1].time;
    assert!(found.windows(2).all(in_order), "{found:?}");
    found
}

/// The crossings of a gate by a particle.
fn of(crossings: &[Crossing], gate: usize, slot: usize) -> Vec<Crossing> {
    crossings.iter().filter(|of| (of.gate, of.slot) == (gate, slot)).copied().collect()
}

fn normal(axis: usize) -> [f64; 3] {
    std::array::from_fn(|d| f64::from(u8::from(d == axis)))
}

/// In a periodic box, particles cross a plane once in each period, however many boxes a step crosses.
#[test]
fn planes_in_a_periodic_box_are_crossed_once_in_each_period() {
    let points = Dice(5).points(LOW, HIGH, 20);
    let at = [0.25, 2.6, 0.8];
    for machine in machines() {
        for (velocity, n) in
            [([0.3, -0.2, 0.1], 8), ([-7.1, 2.3, 3.7], 16), ([31.0, -17.3, -8.9], 4)]
        {
            let field = uniform(&machine, velocity);
            let mut tracer =
                Tracer::new(&field).all_faces(BoundaryCondition::Periodic).span(steps(0.0, 1.0, n));
            for d in 0..3 {
                tracer = tracer.gate(Gate::new(d.to_string(), GateShape::plane(at, normal(d))));
            }
            for &engine in machine.engines() {
                let found = crossings(&tracer.clone().engine(engine), &points);
                for (slot, p) in points.iter().enumerate() {
                    for d in 0..3 {
                        let name = format!("{machine}, {engine}, {velocity:?}, axis {d}, {p:?}");
                        let (width, u) = (HIGH[d] - LOW[d], velocity[d]);
                        let ahead = ((at[d] - p[d]) * u.signum()).rem_euclid(width);
                        let times: Vec<f64> = (0..100)
                            .map(|k| (ahead + width * f64::from(k)) / u.abs())
                            .take_while(|time| *time < 1.0)
                            .collect();
                        let found = of(&found, d, slot);
                        assert_eq!(found.len(), times.len(), "{name}: {found:?} {times:?}");
                        for (found, time) in found.iter().zip(times) {
                            assert_eq!(found.is_forward, u > 0.0, "{name}");
                            let eps = 16.0 * 2.0 * 34.0 * machine.eps();
                            assert_below(&name, (found.time - time).abs() * u.abs(), eps);
                            assert_below(&name, (found.position[d] - at[d]).abs(), eps);
                        }
                    }
                }
            }
        }
    }
}

/// A step across a wall that reflects goes through a gate before it on the way there and on the way back.
#[test]
fn reflected_steps_cross_a_gate_twice() {
    for machine in machines() {
        let field = uniform(&machine, [2.0, 0.0, 0.0]);
        let tracer = Tracer::new(&field)
            .all_faces(BoundaryCondition::Reflect)
            .span(steps(0.0, 1.0, 1))
            .gate(Gate::new(
                "before the wall",
                GateShape::plane([1.8, 0.0, 0.0], [-3.0, 0.0, 0.0]),
            ));
        for &engine in machine.engines() {
            let found =
                crossings(&tracer.clone().engine(engine), &[[1.0, 2.5, 0.7], [-0.9, 2.5, 0.7]]);
            let times: Vec<f64> = found.iter().map(|of| of.time).collect();
            assert_eq!(times.len(), 2, "{machine}, {engine}: {found:?}");
            assert_below(
                "times",
                (times[0] - 0.4).abs() + (times[1] - 0.6).abs(),
                64.0 * machine.eps(),
            );
            assert_eq!([found[0].is_forward, found[1].is_forward], [false, true]);
        }
    }
}

/// Chords of regions, in one step through all of them and in many.
#[test]
fn regions_are_entered_and_left_at_the_ends_of_their_chords() {
    let shapes = [
        Shape::Box { low: [0.0, 2.2, -9.0], high: [0.3, 2.8, 9.0] },
        Shape::Sphere { centre: [0.5, 2.5, 0.75], radius: 0.2 },
        Shape::Cylinder { base: [0.5, 2.5, 0.0], axis: [0.0, 0.0, 1.0], radius: 0.3, capped: true },
        crate_of_triangles([0.6, 2.1, 0.55], [0.9, 2.8, 0.95]),
    ];
    let point = [-0.9, 2.4, 0.7];
    let half = (0.2_f64 * 0.2 - 0.1 * 0.1 - 0.05 * 0.05).sqrt();
    let wide = (0.3_f64 * 0.3 - 0.1 * 0.1).sqrt();
    let chords = [[0.0, 0.3], [0.5 - half, 0.5 + half], [0.5 - wide, 0.5 + wide], [0.6, 0.9]];
    for machine in machines() {
        let field = uniform(&machine, [2.5, 0.0, 0.0]);
        for n in [1, 2, 3, 50] {
            let mut tracer = Tracer::new(&field).span(steps(0.0, 1.0, n));
            for (k, shape) in shapes.iter().enumerate() {
                tracer = tracer.gate(Gate::new(k.to_string(), GateShape::Region(shape.clone())));
            }
            for &engine in machine.engines() {
                let found = crossings(&tracer.clone().engine(engine), &[point, [0.5, 2.5, 0.7]]);
                for (gate, [enter, leave]) in chords.into_iter().enumerate() {
                    let name = format!("{machine}, {engine}, {n} steps, gate {gate}");
                    let found = of(&found, gate, 0);
                    let [a, b] = found[..] else { panic!("{name}: {found:?}") };
                    assert!(a.is_forward && !b.is_forward, "{name}: {found:?}");
                    let eps = 64.0 * n as f64 * machine.eps();
                    assert_below(
                        &name,
                        (a.position[0] - enter).abs() + (b.position[0] - leave).abs(),
                        4.0 * eps,
                    );
                    let times = [enter, leave].map(|x| (x - point[0]) / 2.5);
                    assert_below(
                        &name,
                        (a.time - times[0]).abs() + (b.time - times[1]).abs(),
                        4.0 * eps,
                    );
                }
                // The second particle starts in two of them.
                let starts = [1, 2].map(|gate| of(&found, gate, 1));
                assert!(
                    starts.iter().all(|all| all.len() == 1 && !all[0].is_forward),
                    "{starts:?}"
                );
                assert!(of(&found, 0, 1).is_empty());
            }
        }
    }
}

/// Straight paths through surfaces with spikes and holes, in one step and in many: between two crossings a particle is on the side that they
/// say.
#[test]
fn closed_surfaces_are_entered_and_left_in_turns() {
    let points = Dice(31).points([-0.9, 2.15, 0.52], [-0.8, 2.85, 0.98], 150);
    let gates = [
        Gate::new("star", GateShape::Region(star([0.5, 2.5, 0.75], 0.4, 0.2))),
        Gate::new("ring", GateShape::Region(ring([1.2, 2.5, 0.75], 24, 12))),
    ];
    let velocity = [2.5, 0.3, 0.1];
    for machine in machines() {
        let field = uniform(&machine, velocity);
        let counts: &[u64] = if machine.is_cpu() { &[1, 3, 50] } else { &[3] };
        for (&n, &engine) in
            counts.iter().flat_map(|n| machine.engines().iter().map(move |e| (n, e)))
        {
            let tracer = Tracer::new(&field).span(steps(0.0, 1.0, n)).engine(engine);
            let tracer = gates.iter().cloned().fold(tracer, Tracer::gate);
            let found = crossings(&tracer, &points);
            let eps = 64.0 * n as f64 * machine.eps();
            let (mut most, mut all) = (0, 0);
            for (slot, p) in points.iter().enumerate() {
                let at = |time: f64| [0, 1, 2].map(|d| p[d] + velocity[d] * time);
                for (number, gate) in gates.iter().enumerate() {
                    let own = of(&found, number, slot);
                    let name =
                        format!("{machine}, {engine}, {n} steps, {}, {p:?}: {own:?}", gate.name);
                    (most, all) = (most.max(own.len()), all + own.len());
                    assert!(own.len().is_multiple_of(2), "{name}");
                    for (k, crossing) in own.iter().enumerate() {
                        assert_eq!(crossing.is_forward, k % 2 == 0, "{name}");
                        assert_below(
                            &name,
                            distance(&[crossing.position], &[at(crossing.time)]),
                            4.0 * eps,
                        );
                    }
                    let times = own.iter().map(|of| of.time).chain([1.0]);
                    let mut since = 0.0;
                    for (k, time) in times.enumerate() {
                        // By rounding, a touch of an edge may count as a visit or not.
                        if time - since > eps {
                            let middle = at(0.5 * (since + time));
                            assert_eq!(gate.contains(middle), k % 2 == 1, "{name}, {middle:?}");
                        }
                        since = time;
                    }
                }
            }
            assert!(most == 4 && all > 150, "{machine}: {most}, {all}");
        }
    }
}

/// A surface that starts at a periodic face is entered through that.
#[test]
fn closed_surfaces_are_entered_through_periodic_faces() {
    let region = crate_of_triangles([-1.0, 2.2, 0.6], [-0.6, 2.8, 0.9]);
    for machine in machines() {
        for (u, start, times) in [(1.0, 1.5, [0.5, 0.9]), (-1.0, -0.5, [0.1, 0.5])] {
            let field = uniform(&machine, [u, 0.0, 0.0]);
            for &engine in machine.engines() {
                let tracer = Tracer::new(&field)
                    .all_faces(BoundaryCondition::Periodic)
                    .span(steps(0.0, 1.0, 3))
                    .engine(engine)
                    .gate(Gate::new("crate", GateShape::Region(region.clone())));
                let found = crossings(&tracer, &[[start, 2.5, 0.7]]);
                let [enters, leaves] = found[..] else { panic!("{machine}, {engine}: {found:?}") };
                assert_eq!([enters.is_forward, leaves.is_forward], [true, false]);
                for (crossing, time) in [enters, leaves].iter().zip(times) {
                    assert_below("time", (crossing.time - time).abs(), 100.0 * machine.eps());
                }
            }
        }
    }
}

/// Limits of planes: a disc, and corners.
#[test]
fn particles_beside_a_limited_plane_do_not_cross_it() {
    let points = Dice(7).points([-0.9, 2.1, 0.55], [-0.8, 2.9, 0.95], 200);
    let (centre, open) = ([0.5, 2.5, 0.75], f64::INFINITY);
    let strip = GateShape::Plane {
        origin: centre,
        normal: [1.0, 0.0, 0.0],
        radius: open,
        low: [-open, 2.3, -open],
        high: [open, open, 0.8],
    };
    for machine in machines() {
        let field = uniform(&machine, [2.5, 0.0, 0.0]);
        let tracer = Tracer::new(&field)
            .span(steps(0.0, 1.0, 7))
            .gate(Gate::new("disc", GateShape::disc(centre, [2.0, 0.0, 0.0], 0.17)))
            .gate(Gate::new("strip", strip.clone()));
        let found = crossings(&tracer, &points);
        for (slot, [_, y, z]) in points.iter().enumerate() {
            let is_in_disc = (y - 2.5).hypot(z - 0.75) <= 0.17;
            let is_in_strip = *y >= 2.3 && *z <= 0.8;
            let expected = [is_in_disc, is_in_strip].map(usize::from);
            assert_eq!(
                [0, 1].map(|gate| of(&found, gate, slot).len()),
                expected,
                "{machine}, {y} {z}"
            );
        }
    }
}

/// A polygon with a notch, in planes that lean to each axis: seen along the flow, its outline is the same.
#[test]
fn particles_cross_a_polygon_within_its_outline() {
    let points = Dice(9).points([-0.9, 2.02, 0.52], [-0.8, 2.98, 0.98], 300);
    // In y and z, counter-clockwise seen against the flow.
    let outline = [[2.1, 0.55], [2.9, 0.6], [2.8, 0.9], [2.5, 0.7], [2.2, 0.95]];
    let is_inside = |y: f64, z: f64| {
        let is_below = |[a, b]: [f64; 2], [c, d]: [f64; 2]| z < b + (d - b) * (y - a) / (c - a);
        let is_above_base = !is_below(outline[0], outline[1]);
        let left = if y < 2.2 {
            is_below(outline[0], outline[4])
        } else if y < 2.5 {
            is_below(outline[4], outline[3])
        } else if y < 2.8 {
            is_below(outline[3], outline[2])
        } else {
            is_below(outline[2], outline[1])
        };
        (2.1..2.9).contains(&y) && is_above_base && left
    };
    for machine in machines() {
        let field = uniform(&machine, [2.5, 0.0, 0.0]);
        for slopes in [[0.0, 0.0], [3.0, 0.1], [0.1, -3.0]] {
            let corner = |[y, z]: [f64; 2]| {
                [0.5 + 0.3 * slopes[0] * (y - 2.5) + 0.3 * slopes[1] * (z - 0.75), y, z]
            };
            let corners: Vec<[f64; 3]> = outline.map(corner).to_vec();
            let back = corners.iter().rev().copied().collect();
            let tracer = Tracer::new(&field)
                .span(steps(0.0, 1.0, 7))
                .gate(Gate::new("there", GateShape::Polygon(corners.into())))
                .gate(Gate::new("back", GateShape::Polygon(back)));
            for &engine in machine.engines() {
                let found = crossings(&tracer.clone().engine(engine), &points);
                let mut inside = 0;
                for (slot, [_, y, z]) in points.iter().enumerate() {
                    let name = format!("{machine}, {engine}, {slopes:?}, {y} {z}");
                    let expected = usize::from(is_inside(*y, *z));
                    inside += expected;
                    for (gate, is_forward) in [(0, true), (1, false)] {
                        let own = of(&found, gate, slot);
                        assert_eq!(own.len(), expected, "{name}");
                        let [x, ..] = corner([*y, *z]);
                        let near =
                            |of: &Crossing| (of.position[0] - x).abs() < 300.0 * machine.eps();
                        assert!(
                            own.iter().all(|of| of.is_forward == is_forward && near(of)),
                            "{name}: {own:?}"
                        );
                    }
                }
                assert!((60..200).contains(&inside), "{inside}");
            }
        }
    }
    let machine = &machines()[0];
    let field = uniform(machine, [1.0, 0.0, 0.0]);
    let bent = GateShape::Polygon(
        vec![[0.0, 2.0, 0.5], [0.0, 3.0, 0.5], [0.3, 3.0, 1.0], [0.0, 2.0, 1.0]].into(),
    );
    let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 1)).gate(Gate::new("bent", bent));
    let refused = tracer.trace(&seeds(&[[0.0, 2.5, 0.7]])).map(drop).unwrap_err().to_string();
    assert!(refused.contains("its corners are not in a plane"), "{refused}");
}

/// On a closed orbit, the number of crossings follows from the angle, for any step and any saves; on a device with a log of fixed size it
/// is more than that has room for.
#[test]
fn orbits_cross_a_half_plane_once_a_turn() {
    let axes = [even_axis(-1.0, 1.0, 4), even_axis(-1.0, 1.0, 4), even_axis(-1.0, 1.0, 2)];
    let frames = Frames::new(axes, Placement::Nodes, &[0.0], |[x, y, _], _| [-y, x, 0.0]);
    let radii = [0.1, 0.4, 0.7];
    let points: Vec<[f64; 3]> =
        radii.iter().map(|r| [r * 0.3_f64.cos(), r * 0.3_f64.sin(), 0.1]).collect();
    let (turns, open) = (20.4, f64::INFINITY);
    let half = GateShape::Plane {
        origin: [0.0; 3],
        normal: [0.0, 1.0, 0.0],
        radius: open,
        low: [0.0, -open, -open],
        high: [open; 3],
    };
    for machine in machines() {
        let field = machine.field(&frames);
        let counts: &[u64] = if machine.is_cpu() { &[170, 1000, 4001] } else { &[1000] };
        for &n in counts {
            let tracer = Tracer::new(&field)
                .span(steps(0.0, turns * TAU, n))
                .gate(Gate::new("half", half.clone()))
                .gate(Gate::new("whole", GateShape::plane([0.0; 3], [0.0, 1.0, 0.0])));
            // The angle of a step of RK4, and the factor of its radius.
            let h = turns * TAU / n as f64;
            let (re, im) = (1.0 - h * h / 2.0 + h.powi(4) / 24.0, h - h.powi(3) / 6.0);
            let (angle, growth) = (im.atan2(re), re.hypot(im));
            for save in [SaveAt::End, SaveAt::EverySteps(7)] {
                let found = crossings(&tracer.clone().save(save.clone()), &points);
                for (slot, r) in radii.iter().enumerate() {
                    let name = format!("{machine}, {n} steps, {save:?}, radius {r}");
                    let (half, whole) = (of(&found, 0, slot), of(&found, 1, slot));
                    let travelled = angle * n as f64 + 0.3;
                    assert_eq!(half.len(), (travelled / TAU) as usize, "{name}");
                    assert_eq!(whole.len(), (travelled / PI) as usize, "{name}");
                    assert!(half.iter().all(|of| of.is_forward), "{name}");
                    assert!(whole.windows(2).all(|of| of[0].is_forward != of[1].is_forward));
                    for (k, crossing) in half.iter().enumerate() {
                        // Where the chord of the step meets the plane.
                        let before = ((TAU * (k + 1) as f64 - 0.3) / angle).floor();
                        let start = before * angle + 0.3 - TAU * (k + 1) as f64;
                        let [a, b] = [start.sin(), growth * (start + angle).sin()];
                        let part = a / (a - b);
                        let x = start.cos() * (1.0 - part) + growth * (start + angle).cos() * part;
                        let slack = 40.0 * n as f64 * machine.eps();
                        let scale = r * growth.powf(before);
                        assert_below(&name, (crossing.position[0] - scale * x).abs(), slack);
                        assert_below(
                            &name,
                            (crossing.time - (before + part) * h).abs(),
                            10.0 * slack / r,
                        );
                    }
                }
            }
        }
    }
}

/// Gates change no bit of tracks that meet no face, and see a random walk.
#[test]
fn gates_change_no_track() {
    let points = Dice(3).points([-0.5, 2.3, 0.6], [0.5, 2.7, 0.9], 700);
    let gate = |k: usize| {
        Gate::new(k.to_string(), GateShape::plane([0.1 * k as f64, 2.5, 0.75], [1.0, 0.4, 0.2]))
    };
    for machine in machines() {
        let axes: [Vec<f64>; 3] = std::array::from_fn(|d| even_axis(LOW[d], HIGH[d], 8));
        let field = machine.field(&Frames::new(axes, Placement::Nodes, &[0.0], |[x, y, z], _| {
            [0.3 * (4.0 * y).sin(), 0.2 * (3.0 * x).cos(), 0.1 * z]
        }));
        for scheme in [Scheme::Rk4, Scheme::Euler] {
            let plain = Tracer::new(&field)
                .scheme(scheme)
                .all_faces(BoundaryCondition::Clamp)
                .random_walk(RandomWalk::isotropic(1e-5, 3))
                .span(steps(0.0, 1.0, 40));
            let gated = (0..5).fold(plain.clone(), |tracer, k| tracer.gate(gate(k)));
            let [a, b] = [&plain, &gated].map(|tracer| tracer.trace(&seeds(&points)).unwrap());
            assert_eq!(floats(a.positions()), floats(b.positions()), "{machine}, {scheme:?}");
            let tensors = crossings(&gated.clone().engine(Engine::Tensor), &points);
            let found = b.crossings();
            // Positions of the engines differ by rounding, so that one may start on the other side.
            let near = |of: &Crossing| {
                let other = |other: &&Crossing| {
                    (other.gate, other.slot, other.is_forward) == (of.gate, of.slot, of.is_forward)
                        && (other.time - of.time).abs() < 1e-3
                };
                tensors.iter().find(other).is_none()
            };
            assert!(found.len() > 100, "{machine}: {}", found.len());
            let apart = found.iter().filter(|of| near(of)).count();
            assert!(
                apart <= found.len() / 100,
                "{machine}, {scheme:?}: {apart} of {}",
                found.len()
            );
        }
    }
}

/// Paths through a mesh and along its walls are followed piece by piece.
#[test]
fn gates_in_a_mesh_are_crossed_on_slides_and_reflections() {
    let made = mixed(5);
    for machine in some_machines() {
        let field = MeshFrames::new(&made, &[0.0], |_, _| [0.0, 0.0, 0.8]).field(&machine);
        let domain = field.domain();
        let middle: [f64; 3] = std::array::from_fn(|d| 0.5 * (domain.low[d] + domain.high[d]));
        let top = domain.high[2];
        let gate = [middle[0], middle[1], top - 0.05 * (top - domain.low[2])];
        let tracer = Tracer::new(&field)
            .mesh_wall(BoundaryCondition::Reflect)
            .span(steps(0.0, 3.0 * (top - middle[2]), 7))
            .gate(Gate::new("top", GateShape::plane(gate, [0.0, 0.0, 1.0])));
        for &engine in machine.engines() {
            let tracks = tracer.clone().engine(engine).trace(&seeds(&[middle])).unwrap();
            let found = tracks.crossings();
            let end = read(&tracks).last()[0];
            // Forward and backward alternate, and the side of the last position is known.
            let is_above = end[2] >= gate[2];
            assert!(!found.is_empty() && found[0].is_forward, "{machine}, {engine}");
            assert_eq!(found.len() % 2 == 1, is_above, "{machine}, {engine}: {found:?} {end:?}");
            assert!(found.windows(2).all(|pair| pair[0].is_forward != pair[1].is_forward));
            let slack = 64.0 * machine.eps() * (1.0 + top.abs());
            assert!(found.iter().all(|of| (of.position[2] - gate[2]).abs() < slack), "{found:?}");
        }
    }
}

#[test]
fn gates_that_cannot_be_crossed_are_refused() {
    let field = uniform(&machines()[0], [1.0, 0.0, 0.0]);
    let refused = |gates: &[Gate]| {
        let tracer =
            gates.iter().fold(Tracer::new(&field).span(steps(0.0, 1.0, 4)), |tracer, gate| {
                tracer.gate(gate.clone())
            });
        match tracer.trace(&seeds(&[[0.0, 2.5, 0.7]])) {
            Err(error @ Error::Gate { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let plane = |x: f64| GateShape::plane([x, 0.0, 0.0], [1.0, 0.0, 0.0]);
    assert_eq!(
        refused(&[Gate::new("far", plane(7.0))]),
        "the gate `far` is not valid: along x it reaches from 7 to 7, and the domain from -1 to 2; no particle can \
         cross it"
    );
    let twice = refused(&[Gate::new("a", plane(0.0)), Gate::new("a", plane(0.5))]);
    assert!(twice.contains("another one has the same name"), "{twice}");
    assert!(refused(&[Gate::new(" ", plane(0.0))]).contains("its name is empty"));
    let flat = GateShape::plane([0.0; 3], [0.0; 3]);
    assert!(refused(&[Gate::new("a", flat)]).contains("its normal has no direction"));
    let disc = GateShape::disc([0.0, 2.5, 0.7], [1.0, 0.0, 0.0], -1.0);
    assert!(refused(&[Gate::new("a", disc)]).contains("its radius is not a positive number"));
}

/// Parallel flow with the speed 0.2 + y: the passage of each particle to a plane, and its time in a region, are known.
#[test]
fn first_passages_and_residence_in_parallel_flow_are_exact() {
    let points = Dice(11).points([-0.9, 2.1, 0.6], [-0.2, 2.9, 0.9], 300);
    let axes: [Vec<f64>; 3] = std::array::from_fn(|d| even_axis(LOW[d], HIGH[d], 4));
    let frames = Frames::new(axes, Placement::Nodes, &[0.0], |[_, y, _], _| [0.2 + y, 0.0, 0.0]);
    let region = Shape::Box { low: [0.5, -9.0, -9.0], high: [1.25, 9.0, 9.0] };
    let gates = [
        Gate::new("plane", GateShape::plane([1.0, 0.0, 0.0], [1.0, 0.0, 0.0])),
        Gate::new("region", GateShape::Region(region)),
    ];
    for machine in machines() {
        let field = machine.field(&frames);
        let tracer =
            gates.iter().fold(Tracer::new(&field).span(steps(0.0, 0.75, 13)), |tracer, gate| {
                tracer.gate(gate.clone())
            });
        let mut passages = Passages::new(&gates);
        passages.add(&crossings(&tracer, &points));
        let visitor = |(slot, at): (usize, &[f64; 3])| {
            let (generation, release_time, end_time) = (0, 0.0, 0.75);
            Visitor { slot, generation, release_time, release_position: *at, end_time }
        };
        let found = passages.result(points.iter().enumerate().map(visitor));
        let until = |x: f64| points.iter().map(move |p| (x - p[0]) / (0.2 + p[1]));
        let mut first: Vec<f64> = until(1.0).filter(|time| *time < 0.75).collect();
        first.sort_by(f64::total_cmp);
        let times = &found.gates[0].first_passage_times;
        assert_eq!((times.len(), first.len() as u64), (first.len(), found.gates[0].particles));
        let apart = times.iter().zip(&first).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert_below(&machine.to_string(), apart, 300.0 * machine.eps());
        let inside = until(0.5).zip(until(1.25)).filter(|(enter, _)| *enter < 0.75);
        let inside: Vec<f64> = inside.map(|(enter, leave)| leave.min(0.75) - enter).collect();
        let mean = inside.iter().sum::<f64>() / inside.len() as f64;
        let residence = found.gates[1].residence.unwrap();
        assert_eq!(residence.count as usize, inside.len(), "{machine}");
        assert_below(&machine.to_string(), (residence.mean - mean).abs(), 300.0 * machine.eps());
        let connectivity = found.connectivity.unwrap();
        assert_eq!(connectivity.ended[1].iter().sum::<u64>(), 300);
    }
}

/// Gradients of tracks are those without gates, which note the same crossings.
#[test]
fn gates_change_no_gradient() {
    let axes: [Vec<f64>; 3] = std::array::from_fn(|d| even_axis(LOW[d], HIGH[d], 8));
    let frames = Frames::new(axes, Placement::Nodes, &[0.0], |[x, y, z], _| {
        [0.5 + 0.3 * (4.0 * y).sin(), 0.2 * (3.0 * x).cos(), 0.1 * z]
    });
    let points = Dice(13).points([-0.5, 2.3, 0.6], [0.5, 2.7, 0.9], 40);
    for machine in double_machines().into_iter().filter(Machine::is_cpu) {
        let device = machine.device.clone().autodiff();
        let tracked = Machine { device: device.clone(), ..machine.clone() };
        let field = tracked.field(&frames);
        let by_seeds = |tracer: &Tracer| {
            let numbers = TensorData::new(points.as_flattened().to_vec(), [points.len(), 3]);
            let start = Tensor::<2>::from_data(numbers, (&device, DType::F64)).require_grad();
            let tracks = tracer.trace(&Seeds::from_tensor(start.clone()).unwrap()).unwrap();
            let gradients = tracks.positions().powi_scalar(2).sum().backward();
            (floats(start.grad(&gradients).unwrap()), tracks.crossings().to_vec())
        };
        let plain = Tracer::new(&field).span(steps(0.0, 1.0, 20));
        let gate = Gate::new("slanted", GateShape::plane([0.3, 2.5, 0.7], [1.0, 0.2, 0.1]));
        let (gradient, crossings) = by_seeds(&plain.clone().gate(gate.clone()));
        assert_eq!(by_seeds(&plain), (gradient, Vec::new()), "{machine}");
        let field = machine.field(&frames);
        let untracked = Tracer::new(&field).span(steps(0.0, 1.0, 20)).gate(gate);
        assert_eq!(self::crossings(&untracked, &points), crossings, "{machine}");
        assert!(crossings.len() > 5, "{machine}: {}", crossings.len());
    }
}

/// On the earth, where the air turns by 30 degrees a day: meridians, across the seam of longitudes, and a box.
#[test]
fn meridians_are_crossed_at_their_times() {
    const DAY: f64 = 86_400.0;
    let lat = (0..45).map(|j| -88.0 + 4.0 * f64::from(j)).collect();
    let axes = [even_axis(0.0, 360.0, 360), lat, vec![0.0]];
    let speed = TAU * EARTH_RADIUS / (12.0 * DAY);
    let frames = Frames::new(axes, Placement::Nodes, &[0.0], |[_, lat, _], _| {
        [speed * lat.to_radians().cos(), 0.0, 0.0]
    });
    let options = FieldOptions { radius: Some(EARTH_RADIUS), ..FieldOptions::default() };
    let points = [[190.0, 0.0, 0.0], [100.0, 40.0, 0.0], [350.0, -60.0, 0.0]];
    let open = f64::INFINITY;
    let meridian = GateShape::plane([180.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
    let region = Shape::Box { low: [20.0, -10.0, -open], high: [50.0, 60.0, open] };
    for machine in machines() {
        let field = machine.load(&frames, options);
        let tracer = Tracer::new(&field)
            .face(Face::XLow, BoundaryCondition::Periodic)
            .face(Face::XHigh, BoundaryCondition::Periodic)
            .span(span(0.0, 12.0 * DAY, 0.25 * DAY))
            .gate(Gate::new("meridian", meridian.clone()))
            .gate(Gate::new("region", GateShape::Region(region.clone())));
        let found = crossings(&tracer, &points);
        let near = |found: &Crossing, days: f64| {
            // The vectors between nodes are shorter by 4e-5 at most.
            let slack = 1e-3;
            assert!((found.time / DAY - days).abs() < slack, "{machine}: {found:?} {days}");
        };
        for (slot, [lon, lat, _]) in points.into_iter().enumerate() {
            let (across, region) = (of(&found, 0, slot), of(&found, 1, slot));
            assert_eq!(
                (across.len(), region.len()),
                (1, if lat >= 0.0 { 2 } else { 0 }),
                "{machine}"
            );
            near(&across[0], (180.0 - lon).rem_euclid(360.0) / 30.0);
            for (found, edge) in region.iter().zip([20.0, 50.0]) {
                near(found, (edge - lon).rem_euclid(360.0) / 30.0);
            }
        }
    }
    let tracer = machines()[0].load(&frames, options);
    let ball = Shape::Sphere { centre: [20.0, 0.0, 0.0], radius: 3.0 };
    let refused = Tracer::new(&tracer)
        .span(span(0.0, DAY, DAY))
        .gate(Gate::new("ball", GateShape::Region(ball)))
        .trace(&seeds(&points));
    assert!(refused.unwrap_err().to_string().contains("use a box or a plane without a radius"));
}

/// A period ends at a face: regions beside it are entered and left there, and planes on either face are one.
#[test]
fn regions_and_planes_at_a_periodic_face_are_crossed_there() {
    let open = f64::INFINITY;
    let region = |low: f64, high: f64| {
        GateShape::Region(Shape::Box { low: [low, -open, -open], high: [high, open, open] })
    };
    let shapes = [
        region(-1.0, 0.0),
        region(1.0, 2.0),
        GateShape::plane([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        GateShape::plane([2.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
    ];
    for machine in machines() {
        for (u, n) in [(1.0, 10), (-1.0, 10), (1.0, 1), (-1.0, 1), (1.0, 7)] {
            let field = uniform(&machine, [u, 0.0, 0.0]);
            let mut tracer =
                Tracer::new(&field).all_faces(BoundaryCondition::Periodic).span(steps(0.0, 3.0, n));
            for (k, shape) in shapes.iter().enumerate() {
                tracer = tracer.gate(Gate::new(k.to_string(), shape.clone()));
            }
            for &engine in machine.engines() {
                let found = crossings(&tracer.clone().engine(engine), &[[0.5, 2.5, 0.7]]);
                let near = |gate: usize, expected: &[(f64, bool)]| {
                    let found = of(&found, gate, 0);
                    let is_near = |(found, expected): (&Crossing, &(f64, bool))| {
                        (found.time - expected.0).abs() < 1e3 * machine.eps()
                            && found.is_forward == expected.1
                    };
                    let all =
                        found.len() == expected.len() && found.iter().zip(expected).all(is_near);
                    assert!(all, "{machine}, {engine}, {u}, {n} steps, gate {gate}: {found:?}");
                };
                let (first, second) = ([(0.5, true), (1.5, false)], [(1.5, true), (2.5, false)]);
                let (west, east) = if u > 0.0 { (second, first) } else { (first, second) };
                near(0, &west);
                near(1, &east);
                near(2, &[(1.5, u > 0.0)]);
                near(3, &[(1.5, u > 0.0)]);
            }
        }
    }
    let field = uniform(&machines()[0], [1.0, 0.0, 0.0]);
    let refused = Tracer::new(&field)
        .all_faces(BoundaryCondition::Periodic)
        .span(steps(0.0, 1.0, 2))
        .gate(Gate::new("cut", region(1.5, 2.5)))
        .trace(&seeds(&[[0.5, 2.5, 0.7]]));
    assert!(refused.unwrap_err().to_string().contains("beyond the periodic domain from -1 to 2"));
}
