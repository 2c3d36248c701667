//! Particles that share a launch: groups of four, spatial sorting, vectors and threads give bit-identical
//! tracks.

use crate::{
    cloud::{Cloud, OracleCheck, mean, single, tracer},
    common::*,
    oracle::{Case, HELD, Point, perturbation},
};
use burn::tensor::{Tensor, TensorData};
use burntrace::{
    BoundaryCondition::{self, Clamp, Exit, Periodic, Reflect},
    Domain, Engine, Error, Face, Field, FieldFn, OutsideTime, Placement, SaveAt, Scheme, Seeds,
    Span, Status, TimeInterpolation, Tracer, Weighting,
};

/// Flex in both precisions.
fn flexes() -> Vec<Machine> {
    machines().into_iter().filter(|machine| machine.name == "flex").collect()
}

/// Checks that the tracks of particles from `first` on are bit-identical to all tracks of another run.
pub fn assert_same_bits(what: &str, all: &Run, first: usize, some: &Run) {
    let bits = |p: &Point| p.map(f64::to_bits);
    assert_eq!(all.times, some.times, "{what}");
    for (saves, others) in all.saves.iter().zip(&some.saves) {
        for (i, other) in others.iter().enumerate() {
            let (a, b) = (&saves[first + i], other);
            assert_eq!(bits(a), bits(b), "{what}, particle {}: {a:?}, {b:?}", first + i);
        }
    }
    let range = first..first + some.status.len();
    let times = |times: &[f64]| times.iter().map(|t| t.to_bits()).collect::<Vec<u64>>();
    assert_eq!(all.image[range.clone()], some.image, "{what}");
    assert_eq!(all.status[range.clone()], some.status, "{what}");
    assert_eq!(times(&all.end_time[range.clone()]), times(&some.end_time), "{what}");
    assert_eq!(times(&all.release_time[range]), times(&some.release_time), "{what}");
}

/// A range of the seeds.
pub fn part(seeds: &Seeds, range: std::ops::Range<usize>) -> Seeds {
    let some = Seeds::list(seeds.positions()[range.clone()].to_vec()).unwrap();
    match seeds.release() {
        Some(release) => some.with_release(release[range].to_vec()).unwrap(),
        None => some,
    }
}

// ---- many particles ----

/// Enough particles to be sorted.
const MANY: usize = 5000;

const LOW: Point = [0.0; 3];
const HIGH: Point = [2.0, 1.0, 1.0];

/// Several blocks of steps, with saves between launches that are long enough for particles to be sorted in
/// each.
fn busy<'a>(field: &'a dyn Field) -> Tracer<'a> {
    Tracer::new(field)
        .domain(Domain { low: LOW, high: HIGH })
        .face(Face::YLow, Reflect)
        .face(Face::YHigh, Clamp)
        .face(Face::ZLow, Periodic)
        .face(Face::ZHigh, Periodic)
        .stagnant_speed(0.2)
        .span(steps(0.0, 0.96, 72))
        .save(SaveAt::EverySteps(36))
}

/// Every third particle waits: until the start of a step, until a time within one, or forever. Some are
/// equidistant from several nodes of a lattice.
fn crowded_seeds() -> Seeds {
    let mut dice = Dice(400);
    let mut points = single(dice.points(LOW, HIGH, MANY));
    for p in points.iter_mut().step_by(5) {
        *p = p.map(|x| (8.0 * x).round() / 8.0);
    }
    let release = (0..MANY)
        .map(|i| match i % 9 {
            0 => 0.01 * (dice.bits() % 72) as f64 * 0.96 / 0.72,
            3 => dice.between(0.0, 0.96),
            6 => dice.pick(&[0.2, 5.0]),
            _ => 0.0,
        })
        .collect();
    Seeds::list(points).unwrap().with_release(release).unwrap()
}

fn velocities(seed: u64) -> impl FnMut(Point, f64) -> Point {
    let mut dice = Dice(seed);
    move |_, _| std::array::from_fn(|_| dice.between(-1.0, 1.0))
}

/// Nodes on a lattice: many positions have several nearest nodes.
fn lattice() -> Vec<Point> {
    let axis = |n: usize| (0..n).map(|i| 0.25 * i as f64);
    let yz = axis(5).flat_map(|z| axis(5).map(move |y| [y, z]));
    yz.flat_map(|[y, z]| axis(9).map(move |x| [x, y, z])).collect()
}

/// Fields of all types over the same box.
fn fields(machine: &Machine) -> Vec<(String, Box<dyn Field + Sync>)> {
    let times = [0.0, 0.4, 1.0];
    let axes = [even_axis(0.0, 2.0, 9), even_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 4)];
    let grid = Frames::new(axes.clone(), Placement::Nodes, &times, velocities(1));
    let cells = Frames::new(axes, Placement::Cells, &times, velocities(2));
    let mut fields: Vec<(String, Box<dyn Field + Sync>)> = vec![
        ("nodes of a grid".into(), Box::new(machine.field(&grid))),
        ("cells of a grid".into(), Box::new(machine.field(&cells))),
    ];
    let mut corners = vec![LOW, HIGH];
    corners.extend(single(Dice(401).points(LOW, HIGH, 500)));
    for (name, nodes) in [("random", corners), ("lattice", lattice())] {
        for weighting in [Weighting::Nearest, mean(4, 2.0), mean(6, 3.5)] {
            let cloud = Cloud::new(nodes.clone(), &times, weighting, velocities(3));
            fields.push((format!("{name} points, {weighting:?}"), Box::new(cloud.load(machine))));
        }
    }
    fields
}

fn check_covered(what: &str, run: &Run) {
    let count = |is: &dyn Fn(&Status) -> bool| run.status.iter().filter(|s| is(s)).count();
    for status in [Status::Active, Status::Stagnant, Status::Waiting] {
        let count = count(&|s| *s == status);
        assert!(count > 20, "{what}: {count} are {status}");
    }
    for face in [Face::XLow, Face::XHigh] {
        let count = count(&|s| *s == Status::Exited(face));
        assert!(count > 20, "{what}: {count} exited {face}");
    }
}

#[test]
fn tracks_do_not_depend_on_other_particles() {
    let seeds = crowded_seeds();
    for machine in flexes() {
        for (name, field) in fields(&machine) {
            let what = format!("{machine}, {name}");
            let tracer = busy(field.as_ref());
            let all = trace(&tracer, &seeds);
            check_covered(&what, &all);
            for first in (0..MANY).step_by(7) {
                let some = trace(&tracer, &part(&seeds, first..MANY.min(first + 7)));
                assert_same_bits(&format!("{what}, seven from {first}"), &all, first, &some);
            }
            for i in (0..MANY).step_by(5) {
                let alone = trace(&tracer, &part(&seeds, i..i + 1));
                assert_same_bits(&format!("{what}, alone"), &all, i, &alone);
            }
        }
    }
}

/// A slice of a tensor may share its memory.
#[test]
fn seeds_from_a_tensor_slice_give_identical_tracks() {
    let points = single(Dice(5).points(LOW, HIGH, 50));
    let axes = [even_axis(0.0, 2.0, 9), even_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 4)];
    let frames = Frames::new(axes, Placement::Nodes, &[0.0, 1.0], velocities(1));
    for machine in machines() {
        let field = machine.field(&frames);
        let tracer = Tracer::new(&field).span(steps(0.0, 0.5, 12));
        let options = (&machine.device, machine.precision.dtype());
        let all = Tensor::<2>::from_data(TensorData::new(points.concat(), [50, 3]), options);
        let rows = Seeds::from_tensor(all.slice([0..10, 0..3])).unwrap();
        let list = Seeds::list(points[..10].to_vec()).unwrap();
        assert_same_bits(&machine.to_string(), &trace(&tracer, &list), 0, &trace(&tracer, &rows));
    }
}

#[test]
fn thread_count_gives_bit_identical_tracks_of_sorted_particles() {
    let seeds = crowded_seeds();
    let pools =
        [1, 2].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    for machine in flexes() {
        for (name, field) in fields(&machine) {
            let field = field.as_ref();
            let run = || trace(&busy(field), &seeds);
            let runs: Vec<Run> = pools.iter().map(|pool| pool.install(run)).collect();
            for other in &runs[1..] {
                assert_same_bits(&format!("{machine}, {name}"), &runs[0], 0, other);
            }
        }
    }
}

// ---- one of four ----

const FOUR_STEPS: u64 = 70;
const STEP: f64 = 1.0 / FOUR_STEPS as f64;

/// A stream along x, of speed 1, through a box of 4 x 1 x 1, with an optional calm in its last eighth.
fn stream(is_calm: bool) -> Frames {
    let mut dice = Dice(77);
    let axes = [even_axis(0.0, 4.0, 8), even_axis(0.0, 1.0, 3), even_axis(0.0, 1.0, 2)];
    let placement = if is_calm { Placement::Cells } else { Placement::Nodes };
    Frames::new(axes, placement, &[0.0, 1.0], |[x, _, _], _| {
        if is_calm && x > 3.5 {
            return [0.01, 0.0, 0.0];
        }
        [1.0, 0.05 * dice.between(-1.0, 1.0), 0.05 * dice.between(-1.0, 1.0)]
    })
}

/// Four particles: the one in `slot` reaches a plane in the middle of a step, the others are far from it.
fn four(plane: f64, step: u64, slot: usize) -> Seeds {
    let mut points = Dice(step).points([0.1, 0.2, 0.2], [1.5, 0.8, 0.8], 4);
    points[slot][0] = plane - (step as f64 + 0.5) * STEP;
    Seeds::list(points).unwrap()
}

#[test]
fn event_of_one_particle_in_a_group_of_four_does_not_change_the_others() {
    // First and last steps of blocks; a group that has lost a particle starts a new block.
    let at = [0, 1, 5, 29, 30, 31, 32, 33, 34, 62, 63, 64, 65, 68, 69];
    let kinds = [(Exit, false), (Reflect, false), (Clamp, false), (Periodic, false), (Exit, true)];
    for machine in flexes() {
        for (condition, is_calm) in kinds {
            let field = machine.field(&stream(is_calm));
            let tracer = Tracer::new(&field)
                .face(Face::XHigh, condition)
                .face(Face::XLow, if condition == Periodic { Periodic } else { Exit })
                .stagnant_speed(if is_calm { 0.1 } else { 0.0 })
                .span(steps(0.0, 1.0, FOUR_STEPS))
                .save(SaveAt::End);
            let mut ended = 0;
            for (step, slot) in at.into_iter().zip([0, 1, 2, 3].into_iter().cycle()) {
                let what = format!("{machine}, {condition:?}, {is_calm}, step {step}");
                let seeds = four(if is_calm { 3.5 } else { 4.0 }, step, slot);
                ended += alone_and_together(&what, &tracer, &seeds);
            }
            let expected = if condition == Exit { at.len() - 1..=at.len() } else { 0..=0 };
            assert!(expected.contains(&ended), "{machine}, {condition:?}: {ended} ended");
        }
    }
}

/// Returns the number of ended particles.
fn alone_and_together(what: &str, tracer: &Tracer, seeds: &Seeds) -> usize {
    let together = trace(tracer, seeds);
    for i in 0..seeds.len() {
        assert_same_bits(what, &together, i, &trace(tracer, &part(seeds, i..i + 1)));
    }
    together.summary.ended()
}

/// The particles of a group end one after another, within and between blocks.
#[test]
fn groups_whose_particles_all_end_give_identical_tracks() {
    for machine in flexes() {
        let field = machine.field(&stream(false));
        let tracer = Tracer::new(&field).span(steps(0.0, 1.0, FOUR_STEPS));
        let mut dice = Dice(9);
        for _ in 0..40 {
            let starts = (0..11).map(|_| {
                let step = dice.between(-20.0, FOUR_STEPS as f64);
                [4.0 - step.max(0.0) * STEP, dice.between(0.1, 0.9), dice.between(0.1, 0.9)]
            });
            let seeds = Seeds::list(starts.collect()).unwrap();
            let ended = alone_and_together(&machine.to_string(), &tracer, &seeds);
            assert!(ended >= 5, "{machine}: {ended}");
        }
    }
}

// ---- flat grids ----

/// A random field on a grid that is flat along an axis.
fn flat(axis: usize, is_table: bool, placement: Placement) -> Case {
    let mut dice = Dice(50 + axis as u64);
    let mut axes = [0, 1, 2].map(|d| match is_table {
        true => stretched_axis(0.0, 1.0, d + 3),
        false => even_axis(0.0, 1.0, d + 3),
    });
    axes[axis] = vec![0.5];
    let frames = Frames::new(axes, placement, &[0.0, 0.35, 1.0], |_, _| {
        std::array::from_fn(|_| dice.between(-2.0, 2.0))
    });
    Case {
        frames,
        in_time: TimeInterpolation::Linear,
        outside: OutsideTime::Error,
        scheme: Scheme::Rk4,
        faces: [[Clamp; 2]; 3],
        obstacles: vec![],
        held: HELD,
        times: even_axis(0.0, 1.0, 6),
        stagnant_speed: 0.0,
    }
}

/// Includes particles near the last node up to the last frame, where a row has no further value to read.
fn corner_seeds(case: &Case) -> Seeds {
    let (low, high) = (case.low(), case.high());
    let mut seeds = single(Dice(6).points(low, high, 12));
    seeds.extend([low, high]);
    seeds.extend((0..3).map(|d| {
        let mut corner = high;
        corner[d] = low[d];
        corner
    }));
    Seeds::list(seeds).unwrap()
}

#[test]
fn tracks_on_flat_grids_match_the_oracle() {
    for axis in 0..3 {
        for is_table in [false, true] {
            for placement in [Placement::Nodes, Placement::Cells] {
                let case = flat(axis, is_table, placement);
                let seeds = corner_seeds(&case);
                for machine in machines() {
                    // Other kernel variants are covered by other tests.
                    let is_common = !is_table && placement == Placement::Nodes;
                    if machine.is_cpu() || is_common && !machine.is_double() {
                        let what = format!("{machine}, axis {axis}, {is_table}, {placement:?}");
                        check_flat(&what, &machine, &case, &seeds);
                    }
                }
            }
        }
    }
}

fn check_flat(what: &str, machine: &Machine, case: &Case, seeds: &Seeds) {
    let oracle_check = OracleCheck::new(case, seeds, perturbation(machine.eps()));
    let field = machine.field(&case.frames);
    let runs: Vec<Run> = (machine.engines().iter())
        .map(|engine| trace(&tracer(case, &field).engine(*engine), seeds))
        .collect();
    for run in &runs {
        assert!(oracle_check.check(what, run) <= 1, "{what}: too many undecided particles");
    }
    if let [fused, tensor] = &runs[..] {
        oracle_check.check_both(what, fused, tensor);
    }
    // No displacement along a flat axis.
    let d = (0..3).find(|d| case.low()[*d] == case.high()[*d]).unwrap();
    for (end, start) in runs[0].last().iter().zip(seeds.positions()) {
        assert_eq!(end[d], start[d], "{what}");
    }
}

/// Samples the last node of the last frame, in a field large enough that no valid memory follows by chance.
#[test]
fn sample_at_the_last_node_of_the_last_frame_is_exact() {
    for axis in 0..2 {
        let mut axes = [0, 1, 2].map(|_| even_axis(0.0, 1.0, 64));
        axes[axis] = vec![0.0];
        let frames = Frames::new(axes, Placement::Nodes, &[0.0, 1.0], |[x, y, z], t| {
            [x + t, y + 2.0 * t, z + 3.0 * t]
        });
        for machine in flexes() {
            let field = machine.field(&frames);
            let mut corner = [1.0; 3];
            corner[axis] = 0.0;
            let tracer = Tracer::new(&field)
                .all_faces(Clamp)
                .span(steps(0.0, 1.0, 4))
                .save(SaveAt::EverySteps(4))
                .save_velocity(true);
            let run = trace(&tracer, &Seeds::list(vec![corner; 9]).unwrap());
            let mut expected = [2.0, 3.0, 4.0];
            expected[axis] = 0.0;
            let velocities = run.velocities.unwrap();
            let last: &[Point] = velocities[velocities.len() - 27..].as_chunks().0;
            assert_eq!(last, [expected; 9], "{machine}, axis {axis}");
        }
    }
}

// ---- warming up ----

#[test]
fn warm_up_gives_identical_tracks() {
    let nodes = single(Dice(1).points(LOW, HIGH, 60));
    let cloud = Cloud::new(nodes, &[0.0, 0.5, 1.0], Weighting::Nearest, velocities(5));
    let seeds = Seeds::list(cloud.positions.clone()).unwrap();
    for machine in machines().into_iter().filter(|m| m.is_cpu() || !m.is_double()) {
        let field = cloud.load(&machine);
        let tracer = Tracer::new(&field).span(steps(0.0, 0.9, 5)).save_velocity(true);
        let cold = trace(&tracer, &seeds);
        for &engine in machine.engines() {
            let tracer = tracer.clone().engine(engine);
            for particles in [0, 1, 1000] {
                let seconds = tracer.warm_up(particles).unwrap();
                assert!(seconds.is_finite() && seconds >= 0.0, "{machine}: {seconds} s");
            }
            let warm = trace(&tracer, &seeds);
            if engine == Engine::Fused {
                assert_same_bits(&machine.to_string(), &warm, 0, &cold);
                let bits = |run: &Run| run.velocities.clone().unwrap();
                assert_eq!(bits(&warm), bits(&cold), "{machine}");
            }
        }
    }
}

#[test]
fn warm_up_rejects_what_a_run_rejects() {
    let machine = &machines()[0];
    let frames = Frames::uniform(LOW, HIGH, &[0.0, 1.0], |_| [1.0, 0.0, 0.0]);
    let field = machine.field(&frames);
    let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 4));
    assert!(tracer.warm_up(10).is_ok());
    let lonely = tracer.clone().face(Face::YLow, BoundaryCondition::Periodic).warm_up(10);
    assert!(matches!(lonely, Err(Error::Boundary { .. })), "{lonely:?}");
    let late = tracer.clone().span(steps(0.0, 2.0, 4)).warm_up(10);
    assert!(matches!(late, Err(Error::OutsideTime { .. })), "{late:?}");
    let endless = tracer.clone().span(Span { dt: Some(0.0), ..Span::default() }).warm_up(10);
    assert!(matches!(endless, Err(Error::Span(_))), "{endless:?}");
    let saves = tracer.clone().save(SaveAt::Times(vec![0.0, 7.0])).warm_up(10);
    assert!(matches!(saves, Err(Error::Saves(_))), "{saves:?}");
    let formula = FieldFn::new(field.domain(), &machine.device, machine.precision, |p, _| p);
    let fused = Tracer::new(&formula).span(steps(0.0, 1.0, 4)).engine(Engine::Fused).warm_up(10);
    assert!(matches!(fused, Err(Error::Combination { .. })), "{fused:?}");
}
