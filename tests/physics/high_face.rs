//! Positions exactly on the high face of a periodic axis sample the field at the low face: the high face
//! is the low face of the next period. All numbers are dyadic, so that positions are exact on every device.

use super::{
    cloud::tracer,
    common::*,
    oracle::{Case, FinalState, HELD, Point},
};
use burntrace::{Condition::Periodic, OutsideTime, Placement, Scheme, Seeds, TimeInterpolation};

/// Four cells or five planes of velocity along each axis; the first and the last differ.
fn frames(placement: Placement) -> Frames {
    let axes = [0, 1, 2].map(|_| even_axis(0.0, 1.0, 4));
    Frames::new(axes, placement, &[0.0], |p, _| {
        // The coordinates of the centres of the first and last cell, or of the outer planes.
        p.map(|x| match x {
            _ if x < 0.2 => 0.125,
            _ if x > 0.8 => 0.25,
            _ => 0.0625,
        })
    })
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
fn deviations(case: &Case, seeds: &[Point]) -> Vec<String> {
    let mut deviations = Vec::new();
    for machine in machines() {
        let field = machine.field(&case.frames);
        for engine in machine.engines() {
            let tracer = tracer(case, &field).engine(*engine);
            let run = trace(&tracer, &Seeds::list(seeds.to_vec()).unwrap());
            for (i, seed) in seeds.iter().enumerate() {
                let (state, found) = (case.follow(*seed, 0.0), FinalState::of(&run, i));
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
        assert_none(&deviations(&case(placement, Scheme::Euler), &on_high_faces()));
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
    assert_none(&deviations(&case(Placement::Cells, Scheme::Midpoint), &seeds));
    // The end of a first step: the seed is an eighth of a unit before the face.
    let case = case(Placement::Cells, Scheme::Euler);
    let case = Case { times: vec![0.0, 0.5, 1.0], ..case };
    assert_none(&deviations(
        &case,
        &seeds.map(|p| p.map(|x| if x == BEFORE_FACE { 0.875 } else { x })),
    ));
}
