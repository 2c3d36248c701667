//! The fused engine against the tensor engine: every sampler with every scheme and all face conditions.
//!
//! The tensor engine on Flex is the reference for the fused engine on each device. The tensor engines of
//! other devices, some of which are slow, are compared separately.

use crate::{
    common::*,
    oracle::{Case, HELD, final_state, perturbation},
};
use burntrace::{
    BoundaryCondition::{self, Clamp, Exit, Periodic, Reflect},
    Engine, Face, GridField, OutsideTime, Placement, SaveAt, Scheme, Seeds, Status,
    TimeInterpolation, Tracer,
};

const PARTICLES: usize = 24;
const STEPS: u64 = 6;

/// Conditions of the axes, low and high.
const FACES: [[[BoundaryCondition; 2]; 3]; 7] = [
    [[Periodic, Periodic]; 3],
    [[Reflect, Reflect]; 3],
    [[Clamp, Clamp]; 3],
    [[Exit, Exit]; 3],
    [[Reflect, Exit], [Exit, Clamp], [Clamp, Reflect]],
    [[Periodic, Periodic], [Reflect, Clamp], [Exit, Reflect]],
    [[Clamp, Exit], [Periodic, Periodic], [Reflect, Reflect]],
];

/// A random field in a box of 2 x 1 x 1 with a fast mean flow along one axis, so that particles cross the
/// box many times. No step ends on a frame.
fn case(is_table: bool, placement: Placement, scheme: Scheme, faces: usize) -> Case {
    let mut dice = Dice(faces as u64 + 1);
    let axis = |high: f64, cells| match is_table {
        true => stretched_axis(0.0, high, cells),
        false => even_axis(0.0, high, cells),
    };
    let axes = [axis(2.0, 5), axis(1.0, 4), axis(1.0, 3)];
    // Towards each face in turn.
    let turn = faces + scheme as usize + 4 * usize::from(is_table);
    let (fast, sign) = (turn % 3, [1.0, -1.0][turn / 3 % 2]);
    let frames = Frames::new(axes, placement, &[0.0, 0.35, 1.0], |_, _| {
        let mut v: [f64; 3] = std::array::from_fn(|_| dice.between(-1.0, 1.0));
        v[fast] += 13.0 * sign;
        v
    });
    Case {
        frames,
        in_time: TimeInterpolation::Linear,
        outside: OutsideTime::Error,
        scheme,
        faces: FACES[faces],
        obstacles: vec![],
        held: HELD,
        times: even_axis(0.0, 0.96, STEPS as usize),
        stagnant_speed: 0.0,
    }
}

fn seeds(case: &Case) -> Seeds {
    let points = Dice(77).points(case.low(), case.high(), PARTICLES);
    // Two releases within steps, one at the start of a step.
    let release = (0..PARTICLES).map(|i| [0.0, 0.0, 0.0, 0.07, 0.16, 0.59][i % 6]).collect();
    Seeds::list(points).unwrap().with_release(release).unwrap()
}

fn tracer<'a>(case: &Case, field: &'a GridField) -> Tracer<'a> {
    let mut tracer = Tracer::new(field)
        .scheme(case.scheme)
        .stagnant_speed(case.stagnant_speed)
        .span(steps(case.times[0], case.times[STEPS as usize], STEPS));
    for face in Face::ALL {
        tracer = tracer.face(face, case.faces[face as usize / 2][face as usize % 2]);
    }
    tracer
}

fn run(machine: &Machine, case: &Case, engine: Engine) -> Run {
    let field = machine.field(&case.frames);
    trace(&tracer(case, &field).engine(engine), &seeds(case))
}

/// Checks that two runs agree within twice the effect of rounding on each particle. Returns the number of
/// undecided particles, on the verge of an event.
fn assert_same(what: &str, case: &Case, eps: f64, a: &Run, b: &Run) -> usize {
    let seeds = seeds(case);
    let mut undecided = 0;
    for (i, start) in seeds.positions().iter().enumerate() {
        let (a, b) = (final_state(a, i), final_state(b, i));
        let release = seeds.release().unwrap()[i];
        let state = case.follow(*start, release);
        let allowed =
            perturbation(eps) + case.sensitivity(&state, *start, release, perturbation(eps));
        let deviation = a.apart(&b, case.width());
        assert!(
            deviation <= 2.0 * allowed,
            "{what}, particle {i}: deviation {deviation:e}, allowed {allowed:e}\n{a:?}\n{b:?}\n{state:?}"
        );
        undecided += usize::from(allowed > 0.1);
    }
    undecided
}

/// All cases, and whether a graphics card tests them. It compiles a kernel for a sampler and a scheme, with or without
/// periodic axes: every second one has all pairs of sampler, scheme and conditions.
fn cases() -> Vec<(String, Case, bool)> {
    let mut cases = Vec::new();
    let samplers = [
        ("even nodes", false, Placement::Nodes),
        ("even cells", false, Placement::Cells),
        ("table nodes", true, Placement::Nodes),
        ("table cells", true, Placement::Cells),
    ];
    for (sampler, (name, is_table, placement)) in samplers.into_iter().enumerate() {
        for scheme in Scheme::ALL {
            for (faces, names) in FACES.iter().enumerate() {
                let name = format!("{name}, {scheme:?}, {names:?}");
                let is_periodic = names.as_flattened().contains(&Periodic);
                let is_on_cards = is_periodic == (sampler + scheme as usize).is_multiple_of(2);
                cases.push((name, case(is_table, placement, scheme, faces), is_on_cards));
            }
        }
    }
    cases
}

#[test]
fn tracks_of_both_engines_agree_for_every_sampler_scheme_and_condition() {
    let machines = machines();
    let mut statuses = std::collections::HashSet::new();
    let mut undecided = 0;
    let mut compared = 0;
    for (name, case, is_on_cards) in cases() {
        let references: Vec<_> = machines
            .iter()
            .filter(|machine| machine.name == "flex")
            .map(|machine| (machine.precision, run(machine, &case, Engine::Tensor)))
            .collect();
        for machine in &machines {
            // The source of a kernel does not depend on the precision.
            let is_tested = is_on_cards && (!machine.is_double() || case.scheme == Scheme::Rk4);
            if !machine.is_cpu() && !is_tested {
                continue;
            }
            let fused = run(machine, &case, Engine::Fused);
            let of = |(precision, _): &&(_, _)| *precision == machine.precision;
            let (_, reference) = references.iter().find(of).unwrap();
            let what = format!("{machine}, {name}");
            undecided += assert_same(&what, &case, machine.eps(), &fused, reference);
            compared += PARTICLES;
            statuses.extend(fused.status);
        }
    }
    assert!(undecided * 50 < compared, "{undecided} of {compared} are undecided");
    // Particles have exited through every face, and others are still active.
    assert!(statuses.contains(&Status::Active), "{statuses:?}");
    for face in Face::ALL {
        assert!(statuses.contains(&Status::Exited(face)), "{face}: {statuses:?}");
    }
}

/// The tensor engine of each device, for six cases that include all samplers.
#[test]
fn tensor_engine_agrees_with_the_fused_engine_on_every_device() {
    let chosen: Vec<_> = cases().into_iter().step_by(25).collect();
    assert_eq!(chosen.len(), 6);
    let machines = machines();
    for (number, (name, case, _)) in chosen.into_iter().enumerate() {
        for machine in &machines {
            // A software GPU takes half a second per step.
            if !machine.is_cpu() && (machine.is_double() || number != 3) {
                continue;
            }
            let tensor = run(machine, &case, Engine::Tensor);
            let fused = run(machine, &case, Engine::Fused);
            let what = format!("{machine}, {name}");
            let undecided = assert_same(&what, &case, machine.eps(), &fused, &tensor);
            assert!(undecided <= 2, "{what}: {undecided} are undecided");
        }
    }
}

/// Both engines save the same times, and the velocities at the saved positions.
#[test]
fn saved_velocities_of_both_engines_match_the_field() {
    let case = case(false, Placement::Nodes, Scheme::Rk4, 0);
    for machine in machines().into_iter().filter(|m| m.is_cpu() || !m.is_double()) {
        let field = machine.field(&case.frames);
        let tracer = tracer(&case, &field).save(SaveAt::EverySteps(2)).save_velocity(true);
        let run = |engine: &Engine| trace(&tracer.clone().engine(*engine), &seeds(&case));
        let runs: Vec<Run> = machine.engines().iter().map(run).collect();
        assert!(runs.iter().all(|run| run.times == runs[0].times), "{machine}");
        for run in &runs {
            let velocities = run.velocities.as_ref().unwrap();
            let velocities: &[[f64; 3]] = velocities.as_chunks().0;
            assert_eq!(velocities.len(), run.times.len() * PARTICLES, "{machine}");
            for (k, (t, save)) in run.times.iter().zip(&run.saves).enumerate() {
                for (p, v) in save.iter().zip(&velocities[k * PARTICLES..]) {
                    let expected = case.velocity(*p, *t);
                    // The saved position is already rounded: only the interpolation differs.
                    let what = format!("{machine}, {}, t = {t}", run.summary.engine);
                    assert_below(&what, distance(&[*v], &[expected]), 100.0 * machine.eps() * 14.0);
                }
            }
        }
        let velocities = trace(&tracer.save_velocity(false), &seeds(&case)).velocities;
        assert!(velocities.is_none());
    }
}

/// Slow particles end before they move, with the position and time at which they became slow.
#[test]
fn stagnant_particles_of_both_engines_agree() {
    for faces in [1, 3] {
        let mut case = case(false, Placement::Nodes, Scheme::Midpoint, faces);
        let mut dice = Dice(5);
        for number in case.frames.values.iter_mut().flatten() {
            *number = dice.between(-1.0, 1.0);
        }
        case.stagnant_speed = 0.3;
        for machine in machines().into_iter().filter(|m| m.is_cpu() || !m.is_double() && faces == 3)
        {
            let runs = [Engine::Fused, Engine::Tensor].map(|engine| run(&machine, &case, engine));
            assert_same(&machine.to_string(), &case, machine.eps(), &runs[0], &runs[1]);
            let count = |run: &Run| run.status.iter().filter(|s| **s == Status::Stagnant).count();
            assert!(count(&runs[0]) > 2, "{machine}");
            assert_eq!(count(&runs[0]), count(&runs[1]), "{machine}");
        }
    }
}

/// Velocities so large that positions overflow, with every engine, device and condition: particles end with a
/// status at their last finite position.
#[test]
fn overflow_ends_particles_as_non_finite() {
    for machine in machines() {
        let max = if machine.is_double() { 1e308 } else { 3e38 };
        let axes = [even_axis(0.0, 4.0, 4), even_axis(0.0, 1.0, 1), even_axis(0.0, 1.0, 1)];
        // Calm up to x = 2, then huge velocities.
        let frames = Frames::new(axes, Placement::Cells, &[0.0, 100.0], |[x, _, _], _| {
            if x < 2.0 { [0.125, 0.0, 0.0] } else { [max, max, -max] }
        });
        let field = machine.field(&frames);
        let seeds =
            Seeds::list(vec![[0.5, 0.5, 0.5], [3.0, 0.5, 0.5], [1.875, 0.25, 0.75]]).unwrap();
        let schemes: &[Scheme] = match (machine.is_cpu(), machine.is_double()) {
            (true, _) => &Scheme::ALL,
            (false, false) => &[Scheme::Midpoint], // each is a kernel to compile
            (false, true) => &[Scheme::Rk4],
        };
        for condition in [Periodic, Reflect, Clamp, Exit] {
            for &scheme in schemes {
                for &engine in machine.engines() {
                    let tracer = Tracer::new(&field)
                        .scheme(scheme)
                        .all_faces(condition)
                        .span(steps(0.0, 64.0, 4))
                        .engine(engine);
                    let run = trace(&tracer, &seeds);
                    let what = format!("{machine}, {condition:?}, {scheme:?}, {engine}");
                    check_overflow(&what, &run, scheme);
                }
            }
        }
    }
}

fn check_overflow(what: &str, run: &Run, scheme: Scheme) {
    assert!(run.last().as_flattened().iter().all(|x| x.is_finite()), "{what}: {:?}", run.last());
    assert_eq!(run.status[1], Status::NonFinite, "{what}");
    assert_eq!((run.last()[1], run.end_time[1]), ([3.0, 0.5, 0.5], 0.0), "{what}");
    // The first step is two units long: higher-order stages sample the huge velocities within it, Euler only
    // in the second step.
    let step = if scheme == Scheme::Euler { 1 } else { 0 };
    assert_eq!(run.status[2], Status::NonFinite, "{what}");
    assert_eq!(run.end_time[2], [0.0, 16.0][step], "{what}");
    assert_eq!(run.last()[2], [[1.875, 0.25, 0.75], [3.875, 0.25, 0.75]][step], "{what}");
}
