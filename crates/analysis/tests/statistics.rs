//! Statistics of synthetic tracks.

// Clippy does not treat test helpers as tests.
#![allow(clippy::unwrap_used)]

use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_analysis::statistics::{
    Counted, EXACT_TIMES, Groups, Pairs, SaveStatistics, SpeedFrom, Statistics, TrackStatistics,
};
use burntrace_core::{
    Ends, Face, FieldArray, ParticleInstance, Precision, Save, SavePlan, Status, TrackSink,
};
use std::ops::Range;

const OUT: Status = Status::Exited(Face::XHigh);

fn plan(particles: usize) -> SavePlan {
    SavePlan {
        particles,
        reuses_slots: false,
        saves: 4,
        precision: Precision::F64,
        positions: Precision::F64,
        velocity: false,
        periods: [0.0; 3],
        arrays: Vec::new(),
        gates: Vec::new(),
    }
}

/// A slot at a save.
#[derive(Clone, Copy)]
struct Row {
    position: [f64; 3],
    status: Status,
    image: [i32; 3],
    generation: i32,
}

fn active(x: f64) -> Row {
    Row { position: [x, 0.0, 0.0], status: Status::Active, image: [0; 3], generation: 0 }
}

fn empty() -> Row {
    Row { status: Status::Waiting, ..active(f64::NAN) }
}

/// A range of rows of a save, with generations if the plan has re-used slots.
fn block(plan: &SavePlan, index: usize, time: f64, rows: &[Row], range: Range<usize>) -> Save {
    let (rows, device) = (&rows[range.clone()], Device::flex());
    let n = rows.len();
    let floats = |values: Vec<f64>| {
        let data = TensorData::new(values, [n, 3]);
        Tensor::<2>::from_data(data, (&device, plan.precision.dtype()))
    };
    let ints =
        |values: Vec<i32>| Tensor::from_data(TensorData::new(values, [n]), (&device, DType::I32));
    let image: Vec<i32> = rows.iter().flat_map(|row| row.image).collect();
    Save {
        index,
        time,
        first: range.start,
        position: floats(rows.iter().flat_map(|row| row.position).collect()),
        rest: None,
        status: ints(rows.iter().map(|row| row.status.code()).collect()),
        image: Tensor::from_data(TensorData::new(image, [n, 3]), (&device, DType::I32)),
        velocity: plan.velocity.then(|| floats(rows.iter().flat_map(|row| row.position).collect())),
        generation: plan
            .reuses_slots
            .then(|| ints(rows.iter().map(|row| row.generation).collect())),
        arrays: Vec::new(),
    }
}

fn ends(status: Vec<Status>, release_time: Vec<f64>, end_time: Vec<f64>) -> Ends {
    Ends { status, release_time, end_time, ..Ends::default() }
}

fn instance(
    slot: usize,
    generation: u32,
    status: Status,
    times: [f64; 2],
    x: [f64; 2],
) -> ParticleInstance {
    let [release_position, end_position] = x.map(|x| [x, 0.0, 0.0]);
    let [release_time, end_time] = times;
    ParticleInstance {
        slot,
        generation,
        status,
        release_time,
        release_position,
        end_time,
        end_position,
    }
}

fn message<T: std::fmt::Debug, E: std::fmt::Display>(result: Result<T, E>) -> String {
    result.unwrap_err().to_string()
}

/// Four particles: active throughout, released during the run, ending between two saves, never released.
fn four_particles() -> (SavePlan, Vec<Vec<Row>>, Ends) {
    let waiting = |x| Row { status: Status::Waiting, ..active(x) };
    let ended = |x| Row { status: OUT, ..active(x) };
    let saves = vec![
        vec![active(0.0), waiting(5.0), active(1.0), waiting(9.0)],
        vec![active(1.0), waiting(5.0), active(3.0), waiting(9.0)],
        vec![active(3.0), active(5.5), ended(4.0), waiting(9.0)],
        vec![active(2.0), active(7.5), ended(4.0), waiting(9.0)],
    ];
    let nan = f64::NAN;
    let status = vec![Status::Active, Status::Active, OUT, Status::Waiting];
    let ends = ends(status, vec![0.0, 1.5, 0.0, nan], vec![nan, nan, 1.25, nan]);
    (plan(4), saves, ends)
}

fn with_saves(statistics: Statistics, plan: &SavePlan, saves: &[Vec<Row>]) -> Statistics {
    let mut statistics = statistics;
    statistics.begin(plan).unwrap();
    for (index, rows) in saves.iter().enumerate() {
        let save = block(plan, index, index as f64, rows, 0..rows.len());
        statistics.save(save).unwrap();
    }
    statistics
}

#[test]
fn waiting_active_and_ended_particles_are_distinguished() {
    let (plan, saves, ends) = four_particles();
    let mut statistics = with_saves(Statistics::new(), &plan, &saves);
    statistics.end(&ends).unwrap();
    let found = statistics.result().unwrap();
    let counts: Vec<_> =
        found.all.saves.iter().map(|save| [save.waiting, save.active, save.ended]).collect();
    assert_eq!(counts, [[2, 2, 0], [2, 2, 0], [1, 2, 1], [1, 2, 1]]);
    let means: Vec<_> = found.all.saves.iter().map(|save| save.centroid.unwrap()[0]).collect();
    assert_eq!(means, [0.5, 2.0, 4.25, 4.75]);
    let squares = |found: &TrackStatistics| -> Vec<f64> {
        found.all.saves.iter().map(|save| save.mean_square_displacement.unwrap()[0]).collect()
    };
    assert_eq!(squares(&found), [0.0, 2.5, 4.625, 5.125]);
    let moving: Vec<_> =
        found.all.saves.iter().map(|save| (save.moving, save.mean_speed)).collect();
    // The second particle is released between saves; the third one ends there.
    assert_eq!(moving, [(0, None), (2, Some(1.5)), (1, Some(2.0)), (2, Some(1.5))]);
    let pairs: Vec<_> = found.all.saves.iter().map(|save| save.pairs).collect();
    assert_eq!(pairs, [0, 0, 1, 1]);
    let all = &found.all;
    assert_eq!([all.released, all.active, all.ended, all.waiting], [3, 2, 1, 1]);
    assert_eq!(all.ends[0].over_time.counts, [0, 0, 1, 0, 0]);
    assert_eq!((all.residence.mean, all.residence.exact), (Some(1.25), true));
    assert_eq!(found.speed_from, SpeedFrom::Displacements);
    let rows = &found.particles;
    assert_eq!(
        rows.iter().map(|row| row.displacement[0]).collect::<Vec<_>>(),
        [2.0, 2.5, 3.0, 0.0]
    );
    assert_eq!(rows.iter().map(|row| row.path_length).collect::<Vec<_>>(), [4.0, 2.5, 3.0, 0.0]);
    let mean: Vec<_> = rows.iter().map(|row| row.mean_speed).collect();
    assert_eq!(mean, [Some(4.0 / 3.0), Some(2.5 / 1.5), Some(2.4), None]);
    let max: Vec<_> = rows.iter().map(|row| row.max_speed).collect();
    assert_eq!(max, [Some(2.0), Some(2.0), Some(2.4), None]);
    assert_eq!(rows[2].residence_time, Some(1.25));
    // Ended particles stay at their end positions.
    let all =
        with_saves(Statistics::new().counted(Counted::Released), &plan, &saves).result().unwrap();
    assert_eq!(squares(&all), [0.0, 2.5, (9.0 + 0.25 + 9.0) / 3.0, (4.0 + 6.25 + 9.0) / 3.0]);
    // Without the end of the run, counts come from the last save.
    assert_eq!((all.complete, all.all.released, all.all.ended), (false, 3, 1));
    assert_eq!((all.all.residence.count, all.all.ends[0].count), (0, 1));
}

#[test]
fn results_round_trip_through_json() {
    let (plan, saves, ends) = four_particles();
    let groups = Groups::new(vec![0, 2, 0, Groups::NONE]).unwrap();
    let mut statistics = with_saves(Statistics::new().groups(groups), &plan, &saves);
    statistics.end(&ends).unwrap();
    let found = statistics.result().unwrap();
    assert_eq!(found.groups.iter().map(|group| group.slots).collect::<Vec<_>>(), [2, 0, 1]);
    assert_eq!(found.groups[1].saves[3].centroid, None);
    let text = serde_json::to_string(&found).unwrap();
    assert!(text.contains("\"exited x-high\"") && !text.contains("NaN"), "{text}");
    let back: TrackStatistics = serde_json::from_str(&text).unwrap();
    assert_eq!(back, found);
}

/// The sums of the groups are merged into those of all particles.
#[test]
fn variance_of_groups_of_different_sizes_is_that_of_all_particles() {
    let rows = [0.0, 4.0, 4.0, 4.0, 8.0].map(active).to_vec();
    let groups = Groups::new(vec![0, 1, 1, 1, 0]).unwrap();
    let statistics = Statistics::new().groups(groups);
    let found = with_saves(statistics, &plan(5), &[rows]).result().unwrap();
    let of = |save: &SaveStatistics| (save.centroid.unwrap()[0], save.variance.unwrap()[0]);
    assert_eq!(of(&found.all.saves[0]), (4.0, 6.4));
    let groups: Vec<_> = found.groups.iter().map(|group| of(&group.saves[0])).collect();
    assert_eq!(groups, [(4.0, 16.0), (4.0, 0.0)]);
    // Unequal means, too: 1 and 3 particles.
    let rows = [0.0, 4.0, 4.0, 4.0].map(active).to_vec();
    let groups = Groups::new(vec![0, 1, 1, 1]).unwrap();
    let found = with_saves(Statistics::new().groups(groups), &plan(4), &[rows]).result().unwrap();
    assert_eq!(of(&found.all.saves[0]), (3.0, 3.0));
}

#[test]
fn block_size_and_thread_count_give_bit_identical_results() {
    let n = 20_011;
    let plan = SavePlan { reuses_slots: true, velocity: true, ..plan(n) };
    let mut bits = 1_u64;
    let mut number = || {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (bits >> 33) as f64 / 2_f64.powi(31)
    };
    let codes = [Status::Active, Status::Active, Status::Active, Status::Waiting, OUT];
    let mut row = |index: usize| Row {
        position: [number() * 1e3, number(), number() * 1e-3],
        status: codes[(number() * 5.0) as usize],
        image: [0; 3],
        generation: index as i32 / 2,
    };
    let saves: Vec<Vec<Row>> = (0..4).map(|index| (0..n).map(|_| row(index)).collect()).collect();
    let groups: Vec<u32> =
        (0..n as u32).map(|slot| if slot < 9000 { slot / 3000 } else { slot % 5 }).collect();
    let run = |block_size: usize| {
        let groups = Groups::new(groups.clone()).unwrap();
        let mut statistics = Statistics::new().groups(groups);
        statistics.begin(&plan).unwrap();
        for (index, rows) in saves.iter().enumerate() {
            for first in (0..n).step_by(block_size) {
                let range = first..n.min(first + block_size);
                statistics.save(block(&plan, index, index as f64, rows, range)).unwrap();
            }
        }
        // JSON numbers preserve all bits.
        serde_json::to_string(&statistics.result().unwrap()).unwrap()
    };
    let whole = run(n);
    for block_size in [1, 1000, 4096, 4097, 12_288] {
        assert!(run(block_size) == whole, "blocks of {block_size}");
    }
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(|| run(5000)) == whole, "{threads} threads");
    }
}

/// Particle instances are reported in the orders of a GPU, a CPU and a store.
#[test]
fn particle_instances_in_a_slot_are_measured_separately() {
    let periods = [10.0, 0.0, 0.0];
    let plan = SavePlan { reuses_slots: true, periods, ..plan(2) };
    let of = |x: f64, generation: i32| Row { generation, ..active(x) };
    let saves = [
        vec![of(8.0, 0), empty()],
        // Through the periodic face.
        vec![Row { image: [1, 0, 0], ..of(1.0, 0) }, empty()],
        vec![of(2.0, 1), of(5.0, 2)],
        vec![of(4.0, 1), Row { generation: 3, ..empty() }],
    ];
    let nan = f64::NAN;
    let first = [
        instance(0, 0, OUT, [0.0, 1.5], [8.0, 3.0]),
        // Instances between two saves.
        instance(1, 0, Status::Stuck, [0.25, 0.75], [0.5, 9.5]),
        instance(1, 1, OUT, [1.0, 1.25], [0.0, 2.0]),
    ];
    let second = [instance(1, 2, OUT, [1.75, 2.5], [4.0, 7.0])];
    let last = [instance(0, 1, Status::Active, [1.5, nan], [1.0, 4.0])];
    let run = |order: usize| {
        let mut statistics = Statistics::new().particles(true);
        statistics.begin(&plan).unwrap();
        for (index, rows) in saves.iter().enumerate() {
            let ended = match index {
                2 => &first[..],
                3 => &second,
                _ => &[],
            };
            if order == 0 {
                statistics.instances(ended).unwrap();
            }
            statistics.save(block(&plan, index, index as f64, rows, 0..2)).unwrap();
            if order == 1 {
                statistics.instances(ended).unwrap();
            }
        }
        if order == 2 {
            statistics.instances(&first).unwrap();
            statistics.instances(&second).unwrap();
        }
        statistics.instances(&last).unwrap();
        let status = vec![Status::Active, Status::Waiting];
        statistics.end(&ends(status, vec![1.5, nan], vec![nan, nan])).unwrap();
        statistics.result().unwrap()
    };
    let found = run(0);
    assert_eq!(found, run(1));
    assert_eq!(found.particles, run(2).particles);
    let moved: Vec<f64> = found.particles.iter().map(|row| row.displacement[0]).collect();
    // 8 to 13; 0.5 to 9.5 across the periodic face; 0 to 2; 4 to 5 to 7; 1 to 2 to 4.
    assert_eq!(moved, [5.0, -1.0, 2.0, 3.0, 3.0]);
    let paths: Vec<f64> = found.particles.iter().map(|row| row.path_length).collect();
    assert_eq!(paths, [5.0, 1.0, 2.0, 3.0, 3.0]);
    let speeds: Vec<_> = found.particles.iter().map(|row| row.mean_speed.unwrap()).collect();
    assert_eq!(speeds, [5.0 / 1.5, 2.0, 8.0, 4.0, 2.0]);
    let all = &found.all;
    assert_eq!([all.released, all.active, all.ended, all.waiting], [5, 1, 4, 1]);
    let ends: Vec<_> = all.ends.iter().map(|end| (end.status, end.count)).collect();
    assert_eq!(ends, [(Status::Stuck, 1), (OUT, 3)]);
    assert_eq!(all.ends[1].over_time.counts, [0, 0, 2, 1, 0]);
    assert_eq!((all.residence.min, all.residence.max), (Some(0.25), Some(1.5)));
    let squares = |k: usize| all.saves[k].mean_square_displacement.map(|row| row[0]);
    // The displacement of an instance starts at its first save.
    assert_eq!([0, 1, 2, 3].map(squares), [Some(0.0), Some(9.0), Some(0.0), Some(4.0)]);
    let speed: Vec<_> = all.saves.iter().map(|save| save.mean_speed).collect();
    assert_eq!(speed, [None, Some(3.0), None, Some(2.0)]);
    assert!(all.saves.iter().all(|save| save.pairs == 0));
    let rows = |enabled: bool| {
        let mut statistics = with_saves(Statistics::new().particles(enabled), &plan, &saves);
        statistics.instances(&first).unwrap();
        statistics.result().unwrap().particles.len()
    };
    assert_eq!([rows(false), rows(true)], [0, 3]);
}

#[test]
fn residence_times_of_a_backward_run_are_positive() {
    let plan = plan(2);
    let mut statistics = Statistics::new().residence_bins(vec![0.5, 1.0]).quantiles(vec![0.0, 0.5]);
    statistics.begin(&plan).unwrap();
    for (index, time) in [4.0, 3.0, 2.0].into_iter().enumerate() {
        let rows = vec![active(1.0 - 0.5 * index as f64); 2];
        statistics.save(block(&plan, index, time, &rows, 0..2)).unwrap();
    }
    statistics.end(&ends(vec![OUT; 2], vec![4.0; 2], vec![3.5, 2.75])).unwrap();
    let all = statistics.result().unwrap().all;
    assert_eq!(all.ends[0].over_time.edges, [4.0, 3.0, 2.0]);
    assert_eq!(all.ends[0].over_time.counts, [0, 1, 1, 0]);
    assert_eq!(all.residence.histogram.counts, [1, 0, 1]);
    assert_eq!(all.residence.mean, Some(0.875));
    let quantiles: Vec<_> = all.residence.quantiles.iter().map(|found| found.time).collect();
    assert_eq!(quantiles, [0.5, 0.875]);
    assert_eq!(all.saves[1].mean_speed, Some(0.5));
}

/// More residence times than are stored exactly.
#[test]
fn bucketed_quantiles_are_accurate_to_one_part_in_a_thousand() {
    let n = EXACT_TIMES + 1000;
    let plan = SavePlan { reuses_slots: true, ..plan(1) };
    let mut statistics = Statistics::new().quantiles(vec![0.0, 0.1, 0.5, 0.999, 1.0]);
    statistics.begin(&plan).unwrap();
    let time = |i: usize| 1e-3 * 1e6_f64.powf(i as f64 / (n - 1) as f64);
    for first in (0..n).step_by(1 << 16) {
        let ended: Vec<ParticleInstance> = (first..n.min(first + (1 << 16)))
            .map(|i| instance(0, i as u32, OUT, [0.0, time(i * 7919 % n)], [0.0; 2]))
            .collect();
        statistics.instances(&ended).unwrap();
    }
    let residence = statistics.result().unwrap().all.residence;
    assert!(!residence.exact && residence.count == n as u64);
    assert_eq!((residence.min, residence.max), (Some(time(0)), Some(time(n - 1))));
    for found in &residence.quantiles {
        let exact = time((found.probability * (n - 1) as f64) as usize);
        assert!((found.time / exact - 1.0).abs() < 1e-3, "{found:?}: {exact}");
    }
    assert_eq!(residence.histogram.counts.iter().sum::<u64>(), n as u64);
    // The mean of the exponential of a uniform variate, up to the error of the trapezoidal rule:
    // (b - a) / ln(b / a).
    let mean = (1e3 - 1e-3) / 1e6_f64.ln();
    assert!((residence.mean.unwrap() / mean - 1.0).abs() < 1e-5, "{:?}", residence.mean);
}

#[test]
fn undefined_quantities_are_none_for_empty_and_tiny_runs() {
    let empty_run = with_saves(Statistics::new(), &plan(0), &[]).result().unwrap();
    assert_eq!((empty_run.all.released, empty_run.particles.len()), (0, 0));
    assert_eq!(empty_run.all.residence.mean, None);
    let one = with_saves(Statistics::new(), &plan(1), &[vec![active(2.0)]]).result().unwrap();
    assert_eq!(one.all.saves[0].variance, Some([0.0; 3]));
    assert_eq!(one.all.saves[0].mean_square_displacement, Some([0.0; 3]));
    assert_eq!((one.all.saves[0].pairs, one.all.saves[0].pair_dispersion), (0, None));
    assert_eq!((one.particles[0].path_length, one.particles[0].mean_speed), (0.0, None));
    let ended = vec![Row { status: OUT, ..active(1.0) }; 3];
    let ended = with_saves(Statistics::new(), &plan(3), &[ended.clone(), ended]).result().unwrap();
    assert_eq!((ended.all.ended, ended.all.saves[1].centroid), (3, None));
    let slots = with_saves(Statistics::new(), &plan(2), &[vec![empty(); 2]]).result().unwrap();
    assert_eq!((slots.all.waiting, slots.all.saves[0].counted), (2, 0));
}

#[test]
fn errors_name_the_wrong_value_and_the_remedy() {
    let on_begin = |statistics: Statistics| {
        let mut statistics = statistics;
        message(statistics.begin(&plan(4)))
    };
    let quantile = on_begin(Statistics::new().quantiles(vec![50.0]));
    assert!(quantile.contains("quantile 50 is out of range"), "{quantile}");
    let equal = on_begin(Statistics::new().residence_bins(vec![1.0, 1.0]));
    assert!(equal.contains("increase strictly"), "{equal}");
    assert!(on_begin(Statistics::new().time_bins(vec![])).contains("time bins are []"));
    let pairs = |pair| on_begin(Statistics::new().pairs(Pairs::Given(vec![pair])));
    assert!(pairs([1, 4]).contains("(1, 4) is not a pair of slots"));
    assert!(pairs([2, 2]).contains("(2, 2)"));
    let groups = Groups::new(vec![0; 3]).unwrap();
    let few = on_begin(Statistics::new().groups(groups));
    assert!(few.contains("given for 3 slots; the run has 4"), "{few}");
    assert!(message(Groups::new(vec![0, 7])).contains("slot 1 is in group 7; give 2 slots"));
    assert!(message(Groups::ranges(5, &[0..3, 2..5])).contains("slot 2 is in groups 0 and 1"));
    assert!(message(Groups::ranges(5, &[0..3, 3..6])).contains("slots 3..6; there are 5"));
    assert!(message(Statistics::new().result()).contains("no run has started"));
    let rows = vec![active(0.0); 4];
    let mut statistics = Statistics::new();
    let save = || block(&plan(4), 0, 0.0, &rows, 2..4);
    assert!(message(statistics.save(save())).contains("before the start"));
    statistics.begin(&plan(4)).unwrap();
    let order = message(statistics.save(save()));
    assert!(
        order.contains("slots 2 to 4 of save 0 were given, but slot 0 of 4 is next"),
        "{order}"
    );
    assert!(message(statistics.end(&Ends::default())).contains("for its 4 slots"));
    let far = message(statistics.instances(&[instance(4, 0, OUT, [0.0; 2], [0.0; 2])]));
    assert!(far.contains("in slot 4 was reported; the run has 4 slots"), "{far}");
    let short = Save {
        status: Tensor::from_data([1, 1], &Device::flex()),
        ..block(&plan(4), 0, 0.0, &rows, 0..4)
    };
    assert!(message(statistics.save(short)).contains("a row for each of 4 slots"));
}

/// A scalar and a vector, in one block and in blocks; particle 2 has ended, and particle 3 has no scalar.
#[test]
fn sampled_arrays_have_moments_over_the_active_particles() {
    let arrays = vec![FieldArray::new("T", 1), FieldArray::new("v", 2)];
    let plan = SavePlan { arrays, ..plan(4) };
    let statuses = [Status::Active, Status::Active, Status::Stagnant, Status::Active];
    let temperature = [1.0, 3.0, 100.0, f64::NAN];
    let vector = [[1.0, -1.0], [2.0, -2.0], [9.0, 9.0], [6.0, -6.0]];
    let table = |values: Vec<f64>, n: usize| {
        let data = TensorData::new(values.clone(), [values.len() / n, n]);
        Tensor::<2>::from_data(data, (&Device::flex(), DType::F64))
    };
    let rows = statuses.map(|status| Row { status, ..active(0.0) });
    let loaded = |range: Range<usize>| Save {
        arrays: vec![
            table(temperature[range.clone()].to_vec(), 1),
            table(vector[range.clone()].as_flattened().to_vec(), 2),
        ],
        ..block(&plan, 0, 0.0, &rows, range)
    };
    let of = |ranges: &[Range<usize>]| {
        let mut statistics = Statistics::new();
        statistics.begin(&plan).unwrap();
        ranges.iter().for_each(|range| statistics.save(loaded(range.clone())).unwrap());
        statistics.result().unwrap().all.saves[0].arrays.clone()
    };
    let found = of(std::slice::from_ref(&(0..4)));
    assert_eq!(found, of(&[0..1, 1..3, 3..4]));
    let [t, v0, v1] = &found[..] else { panic!("{found:?}") };
    assert_eq!((t.name.as_str(), t.component, t.count), ("T", None, 2));
    assert_eq!((t.mean, t.variance, t.min, t.max), (Some(2.0), Some(1.0), Some(1.0), Some(3.0)));
    assert_eq!((v0.component, v0.count, v0.mean, v0.max), (Some(0), 3, Some(3.0), Some(6.0)));
    assert_eq!((v1.component, v1.min, v1.max), (Some(1), Some(-6.0), Some(-1.0)));
    assert!((v0.variance.unwrap() - 14.0 / 3.0).abs() < 1e-12, "{v0:?}");
}
