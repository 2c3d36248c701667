//! Statistics of runs with known solutions.

use crate::common::*;
use burntrace::analysis::statistics::{
    Counted, GroupStatistics, Groups, ParticleStatistics, SaveStatistics, Statistics,
    TrackStatistics,
};
use burntrace::{
    BoundaryCondition, Control, Face, Inlet, InletShape, Pattern, Placement, RandomWalk, SaveAt,
    Seeds, SeedsOutside, Source, Status, Summary, Tracer, TrackSink, io,
};
use std::f64::consts::{PI, TAU};

/// Runs with statistics.
fn run(tracer: &Tracer, seeds: &Seeds, statistics: Statistics) -> (TrackStatistics, Summary) {
    let mut statistics = statistics;
    let summary = tracer.trace_into(seeds, &mut statistics, &mut |_| Control::Continue).unwrap();
    let found = statistics.result().unwrap();
    check(&found, &summary);
    (found, summary)
}

/// Checks that counts add up and match the summary of the run.
fn check(found: &TrackStatistics, summary: &Summary) {
    let counts = |of: Status| summary.counts.iter().find(|(s, _)| *s == of).map_or(0, |(_, n)| *n);
    assert_eq!(found.times.len(), summary.saves);
    assert_eq!(found.slots, summary.particles);
    assert_eq!(found.all.released as usize, summary.released);
    assert_eq!(found.all.active as usize, summary.active());
    assert_eq!(found.all.waiting as usize, counts(Status::Waiting));
    for end in &found.all.ends {
        assert_eq!(end.count as usize, counts(end.status), "{}", end.status);
        assert_eq!(end.over_time.counts.iter().sum::<u64>(), end.count);
        assert_eq!(end.residence.count, end.count);
    }
    for group in found.groups.iter().chain([&found.all]) {
        assert_eq!(group.released, group.active + group.ended);
        assert_eq!(group.ended, group.ends.iter().map(|end| end.count).sum::<u64>());
        assert_eq!(group.residence.count, group.ended);
        let slots =
            |save: &SaveStatistics| save.waiting + save.active + save.ended + save.not_located;
        assert!(group.saves.iter().all(|save| slots(save) == group.slots));
    }
}

fn near(what: &str, found: f64, exact: f64, bound: f64) {
    assert_below(&format!("{what}: {found}, expected {exact}"), (found - exact).abs(), bound);
}

#[test]
fn statistics_of_uniform_flow_are_exact_to_rounding() {
    let velocity = [0.5, -0.25, 0.125];
    let speed = velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
    for machine in machines() {
        let field = machine.field(&Frames::uniform([-8.0; 3], [8.0; 3], &[0.0], |_| velocity));
        let points = (0..600).map(|i| [f64::from(i % 8) * 0.25, f64::from(i / 8) * 0.03125, 0.0]);
        let seeds = Seeds::list(points.collect()).unwrap();
        // 16 roundings of positions up to 5, or of sums of their squares.
        let bound = 16.0 * 5.0 * 5.0 * machine.eps();
        for (engine, with_velocity) in
            machine.engines().iter().flat_map(|p| [(*p, false), (*p, true)])
        {
            let tracer = Tracer::new(&field)
                .engine(engine)
                .span(steps(0.0, 4.0, 16))
                .save(SaveAt::EverySteps(4))
                .save_velocity(with_velocity);
            let (found, _) = run(&tracer, &seeds, Statistics::new());
            let what = format!("{machine}, {engine}");
            for particle in &found.particles {
                let deviation = distance(&[particle.displacement], &[velocity.map(|v| 4.0 * v)]);
                assert_below(&what, deviation, bound);
                near(&what, particle.distance, 4.0 * speed, bound);
                near(&what, particle.path_length, 4.0 * speed, bound);
                near(&what, particle.mean_speed.unwrap(), speed, bound);
                near(&what, particle.max_speed.unwrap(), speed, bound);
                assert_eq!((particle.status, particle.residence_time), (Status::Active, None));
            }
            for (save, t) in found.all.saves.iter().zip(&found.times) {
                let squares = velocity.map(|v| (v * t) * (v * t));
                let centroid = [0.875, 37.0 * 0.03125, 0.0];
                let centroid = [0, 1, 2].map(|d| centroid[d] + velocity[d] * t);
                // Variance of n points at a spacing h: h^2 (n^2 - 1) / 12.
                let variance = [0.0625 * 63.0 / 12.0, 0.03125_f64.powi(2) * 5624.0 / 12.0, 0.0];
                let apart = [0.0625, 0.0, 0.0];
                let rows = [
                    save.mean_square_displacement,
                    save.centroid,
                    save.variance,
                    save.pair_dispersion,
                ];
                let rows = rows.map(Option::unwrap);
                assert_below(&what, distance(&rows, &[squares, centroid, variance, apart]), bound);
                assert_eq!((save.active, save.counted, save.pairs), (600, 600, 300));
                match with_velocity || *t > 0.0 {
                    true => near(&what, save.mean_speed.unwrap(), speed, bound),
                    false => assert_eq!((save.moving, save.mean_speed), (0, None)),
                }
            }
        }
    }
}

/// A polygon of n sides is shorter than its circle by a fraction of (pi / n)^2 / 6.
#[test]
fn path_length_of_a_turn_is_the_circumference() {
    let n = 500;
    for machine in machines() {
        let axes = [vec![-1.0, 1.0], vec![-1.0, 1.0], vec![0.0]];
        let frames = Frames::new(axes, Placement::Nodes, &[0.0], |[x, y, _], _| [y, -x, 0.0]);
        let field = machine.field(&frames);
        let radii = [0.125, 0.5, 0.75];
        let seeds = Seeds::list(radii.map(|r| [r, 0.0, 0.0]).to_vec()).unwrap();
        let tracer = Tracer::new(&field).span(steps(0.0, TAU, n)).save(SaveAt::EverySteps(1));
        let (found, _) = run(&tracer, &seeds, Statistics::new());
        let shorter = (PI / n as f64).powi(2) / 6.0;
        for (particle, r) in found.particles.iter().zip(radii) {
            let exact = TAU * r * (1.0 - shorter);
            // n rounded positions, and the error of RK4, (2 pi)^5 / (120 n^4) of the radius.
            let scheme = TAU.powi(5) / (120.0 * (n as f64).powi(4));
            let bound = exact * shorter * shorter + r * scheme + n as f64 * machine.eps();
            near(&format!("{machine}, path"), particle.path_length, exact, bound);
            assert_below("distance", particle.distance, r * scheme + n as f64 * machine.eps());
            near("speed", particle.mean_speed.unwrap() * TAU, particle.path_length, 1e-12);
            assert!(particle.max_speed >= particle.mean_speed);
        }
    }
}

/// Within five standard deviations of the sample: the square of a standard normal has variance 2.
#[test]
fn dispersion_of_a_random_walk_matches_the_diffusivity() {
    let k = 0.02;
    for machine in machines() {
        let field = machine.field(&Frames::uniform([-1.0; 3], [1.0; 3], &[0.0], |_| [0.0; 3]));
        let n = if machine.is_cpu() { 20_000 } else { 4_000 };
        let seeds = Seeds::list(vec![[0.0; 3]; n]).unwrap();
        let tracer = Tracer::new(&field)
            .all_faces(BoundaryCondition::Periodic)
            .random_walk(RandomWalk::isotropic(k, 5))
            .span(steps(0.0, 8.0, 40))
            .save(SaveAt::EverySteps(10));
        let (found, _) = run(&tracer, &seeds, Statistics::new());
        for (save, t) in found.all.saves.iter().zip(&found.times).skip(1) {
            let deviation = |n: usize| 5.0 * (2.0 / n as f64).sqrt();
            for d in 0..3 {
                let squares = save.mean_square_displacement.unwrap()[d] / (2.0 * k * t) - 1.0;
                let variance = save.variance.unwrap()[d] / (2.0 * k * t) - 1.0;
                let pairs = save.pair_dispersion.unwrap()[d] / (4.0 * k * t) - 1.0;
                assert_below(&format!("{machine}, {t}"), squares.abs(), deviation(n));
                assert_below(&format!("{machine}, {t}"), variance.abs(), deviation(n));
                assert_below(&format!("{machine}, {t}"), pairs.abs(), deviation(n / 2));
            }
        }
    }
}

/// In u = g y, a separation a along y gives a separation g a t along x.
#[test]
fn pair_dispersion_in_shear_is_exact() {
    let (rate, apart) = (0.5, 0.25);
    for machine in machines() {
        let axes = [vec![-8.0, 8.0], vec![-1.0, 1.0], vec![0.0]];
        let shear =
            Frames::new(axes, Placement::Nodes, &[0.0], |[_, y, _], _| [rate * y, 0.0, 0.0]);
        let field = machine.field(&shear);
        let points = (0..64)
            .map(|i| [0.0, -0.5 + 0.25 * f64::from(i / 2 % 4) + apart * f64::from(i % 2), 0.0]);
        let seeds = Seeds::list(points.collect()).unwrap();
        let tracer = Tracer::new(&field).span(steps(0.0, 4.0, 8)).save(SaveAt::EverySteps(2));
        let (found, _) = run(&tracer, &seeds, Statistics::new());
        for (save, t) in found.all.saves.iter().zip(&found.times) {
            let [x, y, z] = save.pair_dispersion.unwrap();
            near(&format!("{machine}"), x, (rate * apart * t).powi(2), 20.0 * machine.eps());
            near(&format!("{machine}"), y, apart * apart, machine.eps());
            assert_eq!((save.pairs, z), (32, 0.0));
        }
    }
}

#[test]
fn displacements_across_periodic_faces_are_unwrapped() {
    for machine in machines() {
        let velocity = [1.25, -1.0, 0.0];
        let field = machine.field(&Frames::uniform([0.0; 3], [1.0; 3], &[0.0], |_| velocity));
        let seeds = Seeds::list(vec![[0.25, 0.5, 0.5], [0.75, 0.25, 0.5]]).unwrap();
        let tracer = Tracer::new(&field)
            .all_faces(BoundaryCondition::Periodic)
            .span(steps(0.0, 2.0, 32))
            .save(SaveAt::EverySteps(8));
        let (found, _) = run(&tracer, &seeds, Statistics::new());
        for particle in &found.particles {
            // Two periods along y and more along x.
            let deviation = distance(&[particle.displacement], &[[2.5, -2.0, 0.0]]);
            assert_below(&format!("{machine}"), deviation, 40.0 * machine.eps());
            near("path", particle.path_length, particle.distance, 40.0 * machine.eps());
        }
        near("apart", found.all.saves[4].pair_dispersion.unwrap()[0], 0.25, 40.0 * machine.eps());
    }
}

const LENGTH: f64 = 2.0;
const SPEED: f64 = 0.3;

/// Plug flow with re-injection from outlet to inlet, or with a source in the middle.
fn plug<'a>(field: &'a burntrace::GridField, source: bool) -> Tracer<'a> {
    let inlet = |shape| Inlet::new(shape, Pattern::Lattice).unwrap();
    let tracer = Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .face(Face::XLow, BoundaryCondition::Clamp)
        .face(Face::XHigh, BoundaryCondition::Exit)
        .span(steps(0.0, 22.0, 200))
        .save(SaveAt::EverySteps(7));
    if source {
        let middle = inlet(InletShape::Points(vec![[0.5 * LENGTH, 0.5, 0.5]]));
        return tracer.source(Source::burst(middle, 1.0, 3).unwrap());
    }
    tracer.outlet(Face::XHigh, inlet(InletShape::Face(Face::XLow)))
}

#[test]
fn residence_time_in_plug_flow_is_length_over_speed() {
    for machine in machines() {
        let high = [LENGTH, 1.0, 1.0];
        let frames = Frames::uniform([0.0; 3], high, &[0.0], |_| [SPEED, 0.0, 0.0]);
        let field = machine.field(&frames);
        let seeds = Seeds::list(vec![[0.0, 0.25, 0.5]; 40]).unwrap();
        let groups = Groups::ranges(40, &[0..10, 10..40]).unwrap();
        let statistics = Statistics::new().groups(groups).particles(true);
        let (found, _) = run(&plug(&field, false), &seeds, statistics);
        let bound = if machine.is_double() { 1e-10 } else { 1e-5 };
        let [end] = found.all.ends.as_slice() else { panic!("{:?}", found.all.ends) };
        assert_eq!((end.status, end.count), (Status::Exited(Face::XHigh), 120));
        let exact = LENGTH / SPEED;
        let residence = &end.residence;
        for time in [residence.min, residence.mean, residence.max] {
            near(&format!("{machine}"), time.unwrap(), exact, bound * exact);
        }
        for quantile in &residence.quantiles {
            near(&format!("{machine}"), quantile.time, exact, bound * exact);
        }
        assert_eq!([&found.groups[0], &found.groups[1]].map(|group| group.ended), [30, 90]);
        // All particles end together, once per residence time.
        let at: Vec<usize> =
            (0..end.over_time.counts.len()).filter(|bin| end.over_time.counts[*bin] > 0).collect();
        let bins = [1.0, 2.0, 3.0].map(|n| found.times.iter().filter(|t| **t < n * exact).count());
        assert_eq!(at, bins, "{machine}");
        let ended = |row: &&ParticleStatistics| row.status.has_ended();
        assert_eq!(found.particles.iter().filter(ended).count(), 120);
        for row in found.particles.iter().filter(ended) {
            near("path", row.path_length, LENGTH, LENGTH * bound);
            near("path", row.displacement[0], LENGTH, LENGTH * bound);
            near("speed", row.mean_speed.unwrap(), SPEED, SPEED * bound);
        }
        // Speeds do not include the jump from the outlet to the inlet.
        let longest = found.all.saves.iter().filter_map(|save| save.mean_speed).fold(0.0, f64::max);
        near("speed", longest, SPEED, 10.0 * bound);
    }
}

/// Also for seeds that are released later, and across periodic faces.
#[test]
fn displacements_count_from_the_release_if_only_the_end_is_saved() {
    for machine in machines() {
        let frames = Frames::uniform([0.0; 3], [1.0; 3], &[0.0], |_| [3.0, 0.5, 0.0]);
        let field = machine.field(&frames);
        let tracer = Tracer::new(&field)
            .all_faces(BoundaryCondition::Periodic)
            .span(steps(0.0, 1.0, 16))
            .save(SaveAt::End);
        let seeds = Seeds::list(vec![[0.25, 0.5, 0.5], [0.1, 0.9, 0.3]]).unwrap();
        let seeds = seeds.with_release(vec![0.0, 0.5]).unwrap();
        let (found, _) = run(&tracer, &seeds, Statistics::new());
        assert_eq!(found.times, [1.0]);
        let bound = 16.0 * machine.eps();
        for (row, time) in found.particles.iter().zip([1.0, 0.5]) {
            let expected = [3.0 * time, 0.5 * time, 0.0];
            assert_below("displacement", distance(&[row.displacement], &[expected]), bound);
            near("path", row.path_length, 9.25_f64.sqrt() * time, bound);
        }
        let [x, y, _] = found.all.saves[0].mean_square_displacement.unwrap();
        near("x", x, 9.0 * (1.0 + 0.25) / 2.0, 10.0 * bound);
        near("y", y, 0.25 * (1.0 + 0.25) / 2.0, 10.0 * bound);
    }
}

/// A seed that is not located is neither released nor ended, and has no residence time.
#[test]
fn seeds_that_are_not_located_are_counted_apart() {
    for machine in machines() {
        let field =
            machine.field(&Frames::uniform([0.0; 3], [1.0; 3], &[0.0], |_| [1.0, 0.0, 0.0]));
        let tracer = Tracer::new(&field)
            .seeds_outside(SeedsOutside::NotLocated)
            .span(steps(0.0, 1.0, 8))
            .save(SaveAt::EverySteps(4));
        let seeds = Seeds::list(vec![[0.25, 0.5, 0.5], [9.0, 0.5, 0.5], [0.1, 0.2, 0.3]]).unwrap();
        let seeds = seeds.with_release(vec![0.0, 0.0, 2.0]).unwrap();
        let (found, summary) = run(&tracer, &seeds, Statistics::new());
        let of = |group: &GroupStatistics| {
            [group.released, group.active, group.ended, group.waiting, group.not_located]
        };
        assert_eq!(of(&found.all), [1, 0, 1, 1, 1], "{machine}");
        let saves = &found.all.saves;
        assert!(saves.iter().all(|save| save.not_located == 1 && save.waiting == 1), "{saves:?}");
        assert_eq!(found.all.residence.count, 1);
        let row = &found.particles[1];
        assert_eq!((row.release_time, row.end_time, row.residence_time), (None, None, None));
        assert_eq!(row.status, Status::NotLocated);
        assert_eq!(
            (summary.released, summary.ended(), summary.not_located()),
            (1, 1, 1),
            "{machine}"
        );
    }
}

/// For any block size.
#[test]
fn statistics_of_a_stored_run_are_bit_identical() {
    struct Both<'a>(&'a mut dyn TrackSink, &'a mut dyn TrackSink);
    impl TrackSink for Both<'_> {
        fn on_host(&self) -> bool {
            true
        }
        fn begin(&mut self, plan: &burntrace::SavePlan) -> Result<(), burntrace::SinkError> {
            self.0.begin(plan)?;
            self.1.begin(plan)
        }
        fn save(&mut self, save: burntrace::Save) -> Result<(), burntrace::SinkError> {
            self.0.save(save.clone())?;
            self.1.save(save)
        }
        fn instances(
            &mut self,
            instances: &[burntrace::ParticleInstance],
        ) -> Result<(), burntrace::SinkError> {
            self.0.instances(instances)?;
            self.1.instances(instances)
        }
        fn end(&mut self, ends: &burntrace::Ends) -> Result<(), burntrace::SinkError> {
            self.0.end(ends)?;
            self.1.end(ends)
        }
    }
    for machine in machines() {
        for kind in 0..3 {
            let high = [LENGTH, 1.0, 1.0];
            let frames = Frames::uniform([0.0; 3], high, &[0.0], |_| [SPEED, 0.0, 0.01]);
            let field = machine.field(&frames);
            let seeds = Seeds::list(Dice(4).points([0.0; 3], high, 57)).unwrap();
            let seeds = seeds.release_at(0.7).unwrap();
            let tracer = match kind {
                0 => plug(&field, false).save_velocity(true),
                1 => plug(&field, true),
                _ => Tracer::new(&field)
                    .face(Face::ZLow, BoundaryCondition::Periodic)
                    .face(Face::ZHigh, BoundaryCondition::Periodic)
                    .span(steps(0.0, 8.0, 40))
                    .save(SaveAt::EverySteps(3)),
            };
            let requested = || Statistics::new().particles(true).counted(Counted::Released);
            let folder = tempfile::tempdir().unwrap();
            let mut writer = io::TrackWriter::new(folder.path());
            let mut statistics = requested();
            let mut both = Both(&mut writer, &mut statistics);
            let summary = tracer.trace_into(&seeds, &mut both, &mut |_| Control::Continue).unwrap();
            let live = statistics.result().unwrap();
            check(&live, &summary);
            let store = io::Tracks::open(folder.path()).unwrap();
            for block in [1, 7, 1 << 16] {
                let mut again = requested();
                store.play_blocks(block, &mut again).unwrap();
                let is_same = again.result().unwrap() == live;
                assert!(is_same, "{machine}, {kind}, blocks of {block}");
            }
        }
    }
}

/// Counts are identical, other numbers agree to rounding.
#[test]
fn statistics_of_all_devices_agree() {
    let mut dice = Dice(31);
    let axes = [even_axis(0.0, 1.0, 6), even_axis(0.0, 1.0, 5), even_axis(0.0, 1.0, 4)];
    let frames = Frames::new(axes, Placement::Nodes, &[0.0, 0.4, 1.0], |_, _| {
        [dice.between(0.5, 2.0), dice.between(-1.0, 1.0), dice.between(-0.5, 0.5)]
    });
    let seeds = Seeds::list(Dice(32).points([0.0; 3], [1.0; 3], 500)).unwrap();
    let seeds = seeds.release_at(0.11).unwrap();
    let mut first: Option<TrackStatistics> = None;
    for machine in machines().into_iter().filter(|machine| !machine.is_double()) {
        let field = machine.field(&frames);
        let tracer = Tracer::new(&field)
            .face(Face::XLow, BoundaryCondition::Periodic)
            .face(Face::XHigh, BoundaryCondition::Periodic)
            .face(Face::YLow, BoundaryCondition::Reflect)
            .face(Face::YHigh, BoundaryCondition::Reflect)
            .span(steps(0.0, 1.0, 48))
            .save(SaveAt::EverySteps(4));
        let groups = Groups::new((0..500).map(|slot| slot % 3).collect()).unwrap();
        let (found, _) = run(&tracer, &seeds, Statistics::new().groups(groups));
        let expected = first.get_or_insert_with(|| found.clone());
        let counts = |all: &TrackStatistics| {
            let groups = all.groups.iter().chain([&all.all]);
            let saves = groups.clone().flat_map(|group| &group.saves);
            let saves: Vec<_> =
                saves.map(|save| [save.waiting, save.active, save.ended, save.moving]).collect();
            let ends = groups.flat_map(|group| &group.ends);
            let ends: Vec<_> =
                ends.map(|end| (end.status, end.count, end.over_time.counts.clone())).collect();
            (saves, ends)
        };
        assert!(found.all.ended > 20 && found.all.active > 50, "{:?}", found.all.ends);
        assert_eq!(counts(&found), counts(expected), "{machine}");
        for (found, expected) in found.all.saves.iter().zip(&expected.all.saves) {
            let rows = |save: &SaveStatistics| {
                [save.mean_square_displacement, save.centroid, save.variance, save.pair_dispersion]
                    .map(Option::unwrap_or_default)
            };
            let deviation = distance(&rows(found), &rows(expected));
            assert_below(&format!("{machine}"), deviation, 100.0 * machine.eps());
        }
        for (found, expected) in found.particles.iter().zip(&expected.particles) {
            let deviation = distance(&[found.displacement], &[expected.displacement]);
            assert_below(&format!("{machine}"), deviation, 1000.0 * machine.eps());
        }
    }
}

#[test]
fn statistics_of_a_cancelled_run_cover_its_saves() {
    for machine in machines() {
        let frames = Frames::uniform([0.0; 3], [1.0; 3], &[0.0], |_| [0.25, 0.0, 0.0]);
        let field = machine.field(&frames);
        let seeds = Seeds::list(vec![[0.125, 0.5, 0.5], [0.875, 0.5, 0.5]]).unwrap();
        let tracer = Tracer::new(&field).span(steps(0.0, 4.0, 64)).save(SaveAt::EverySteps(8));
        let mut statistics = Statistics::new();
        let mut stop = |progress: burntrace::Progress| match progress.time >= 1.5 {
            true => Control::Cancel,
            false => Control::Continue,
        };
        let summary = tracer.trace_into(&seeds, &mut statistics, &mut stop).unwrap();
        assert!(summary.cancelled);
        let found = statistics.result().unwrap();
        check(&found, &summary);
        let last = found.all.saves.last().unwrap();
        assert_eq!((last.active, last.ended), (1, 1), "{machine}");
        assert_eq!(found.all.residence.mean, Some(0.5));
        assert_eq!(found.particles[1].displacement, [0.125, 0.0, 0.0]);
    }
}
