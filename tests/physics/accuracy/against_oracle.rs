//! The fused engine against an independent oracle.

use crate::{
    common::*,
    oracle::{Case, FinalState, HELD, final_state, perturbation},
};
use burntrace::{
    BoundaryCondition, Engine, FieldOptions, OutsideTime, Placement, Scheme, Seeds, Status,
    TimeInterpolation, Tracer,
};

const CASES: u64 = 10;
const PARTICLES: usize = 50;
const STEPS: u64 = 12;
const T0: f64 = 0.31;
const T1: f64 = 2.93;

/// Random velocities on a random grid over [-1, 2] x [0, 1] x [3, 5], at random times.
fn random_case(number: u64) -> Case {
    let mut dice = Dice(1000 + number);
    let is_table = number % 2 == 1;
    let axis = |low: f64, high: f64, cells: usize| match is_table {
        true => stretched_axis(low, high, cells),
        false => even_axis(low, high, cells),
    };
    let cells = [4, 3, 2].map(|min| min + (dice.bits() % 4) as usize);
    let z = if number % 5 == 4 { vec![4.0] } else { axis(3.0, 5.0, cells[2]) };
    let axes = [axis(-1.0, 2.0, cells[0]), axis(0.0, 1.0, cells[1]), z];
    let placement = if number % 4 < 2 { Placement::Nodes } else { Placement::Cells };
    let outside = [
        OutsideTime::Hold,
        OutsideTime::Zero,
        OutsideTime::Periodic { period: Some(1.77) },
        OutsideTime::Periodic { period: Some(2.5) },
        OutsideTime::Error,
    ][number as usize % 5];
    let times: &[f64] = match outside {
        OutsideTime::Error => &[0.1, 0.7, 2.2, 3.0],
        _ => &[0.45, 0.8, 1.9],
    };
    // The box is one to three units wide: with velocities of up to 3 and a step of 0.22, some particles
    // cross a face every other step.
    let frames = Frames::new(axes, placement, times, |_, _| {
        std::array::from_fn(|_| dice.between(-3.0, 3.0))
    });
    let pairs = |dice: &mut Dice| match dice.bits() % 3 {
        0 => [BoundaryCondition::Periodic; 2],
        _ => {
            let some = &BoundaryCondition::ALL[1..];
            [dice.pick(some), dice.pick(some)]
        }
    };
    let is_backward = number % 3 == 2;
    let mut times: Vec<f64> = even_axis(T0, T1, STEPS as usize);
    if is_backward {
        times.reverse();
    }
    Case {
        frames,
        in_time: if number % 7 == 3 {
            TimeInterpolation::Nearest
        } else {
            TimeInterpolation::Linear
        },
        outside,
        scheme: Scheme::ALL[number as usize % 4],
        faces: [0; 3].map(|_| pairs(&mut dice)),
        obstacles: vec![],
        held: HELD,
        times,
        stagnant_speed: if number.is_multiple_of(2) { 0.25 } else { 0.0 },
    }
}

/// Seeds, a third of them released during the run.
fn random_seeds(case: &Case, number: u64) -> (Vec<[f64; 3]>, Vec<f64>) {
    let mut dice = Dice(2000 + number);
    let points = dice.points(case.low(), case.high(), PARTICLES);
    let start = case.times[0];
    let release =
        (0..PARTICLES).map(|i| if i % 3 == 0 { dice.between(T0, T1) } else { start }).collect();
    (points, release)
}

fn run(machine: &Machine, case: &Case, points: &[[f64; 3]], release: &[f64]) -> Run {
    let options = FieldOptions { in_time: case.in_time, ..outside(case.outside) };
    let field = machine.load(&case.frames, options);
    let mut tracer = Tracer::new(&field)
        .scheme(case.scheme)
        .engine(Engine::Fused)
        .stagnant_speed(case.stagnant_speed)
        .span(steps(case.times[0], case.times[STEPS as usize], STEPS));
    for face in burntrace::Face::ALL {
        let condition = case.faces[face as usize / 2][face as usize % 2];
        tracer = tracer.face(face, condition);
    }
    let seeds = Seeds::list(points.to_vec()).unwrap();
    trace(&tracer, &seeds.with_release(release.to_vec()).unwrap())
}

#[test]
fn fused_tracks_in_random_fields_match_the_oracle() {
    let mut statuses_seen = std::collections::HashMap::new();
    for number in 0..CASES {
        let case = random_case(number);
        let (points, release) = random_seeds(&case, number);
        let states: Vec<FinalState> =
            points.iter().zip(&release).map(|(p, t)| case.follow(*p, *t)).collect();
        for state in &states {
            *statuses_seen.entry(state.status).or_insert(0) += 1;
        }
        let width = case.width();
        for machine in machines() {
            // Four cases with all samplers, schemes and kinds of time: each is a kernel to compile.
            if !machine.is_cpu() && machine.is_double() && number % 3 != 0 {
                continue;
            }
            let run = run(&machine, &case, &points, &release);
            let mut undecided = 0;
            for (i, state) in states.iter().enumerate() {
                let delta = perturbation(machine.eps());
                let allowed = delta + case.sensitivity(state, points[i], release[i], delta);
                let found = final_state(&run, i);
                let deviation = state.apart(&found, width);
                assert!(
                    deviation <= allowed,
                    "{machine}, case {number}, particle {i}: {deviation:e} is above {allowed:e}\n\
                     {state:?}\n{found:?}\n{:?}",
                    case.faces
                );
                // The bound for almost all particles.
                let strict = if machine.is_double() { 1e-11 } else { 1e-2 };
                undecided += usize::from(deviation > strict || allowed > 1.0);
            }
            assert!(undecided <= 3, "{machine}, case {number}: {undecided} are undecided");
        }
    }
    // The cases must cover all outcomes.
    let exits = statuses_seen.keys().filter(|status| matches!(status, Status::Exited(_))).count();
    assert!(exits >= 4, "{statuses_seen:?}");
    assert!(statuses_seen[&Status::Active] > 50, "{statuses_seen:?}");
    assert!(statuses_seen[&Status::Stagnant] > 1, "{statuses_seen:?}");
}
