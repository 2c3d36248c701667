//! Memory and time of long runs, on Linux. A test needs the process for itself, as it measures all of it, and most take
//! minutes: CI runs none of them. By hand, one after the other:
//! `cargo test --release --workspace --test memory -- --ignored --nocapture --test-threads 1 NAME`.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use burn::tensor::{Device, Distribution, Tensor, TensorData};
use burntrace::{
    Adjoint, BoundaryCondition, Control, Domain, Ends, Execution, Field, FieldFn, FieldOptions,
    FrameData, FrameSource, Frames, GridField, GridSource, Observer, Placement, Plan, Precision,
    Progress, RunState, Save, SaveAt, SavePlan, Seeds, SinkError, SourceError, Span, Strategy,
    Summary, Tracer, TrackSink, Tracks, device, io,
    program::{FieldSize, Memory, RunSize},
};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Instant,
};

const MIB: f64 = 1024.0 * 1024.0;

/// A value of `/proc/self/status`, in bytes.
fn status(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
}

fn resident() -> u64 {
    status("VmRSS:")
}

/// Peak resident memory since the last call of [`reset_peak`].
fn peak() -> u64 {
    status("VmHWM:")
}

fn reset_peak() {
    fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// Writes an uncompressed `.vti` file of a rotation about the centre.
fn write_frame(path: &Path, n: usize, turn: f32) {
    let mut bytes = Vec::with_capacity(12 * n * n * n);
    let at = |i: usize| i as f32 / (n - 1) as f32 - 0.5;
    for k in 0..n {
        for j in 0..n {
            for i in 0..n {
                let [x, y, z] = [at(i), at(j), at(k)];
                let v = [-turn * y + 0.1 * z, turn * x, 0.2 * (6.0 * x * y).sin()];
                bytes.extend(v.iter().flat_map(|v| v.to_le_bytes()));
            }
        }
    }
    let last = n - 1;
    let spacing = 1.0 / last as f64;
    let mut file = format!(
        "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\">\n<ImageData WholeExtent=\"0 {last} 0 {last} 0 {last}\" \
         Origin=\"0 0 0\" Spacing=\"{spacing} {spacing} {spacing}\">\n\
         <Piece Extent=\"0 {last} 0 {last} 0 {last}\">\n<PointData Vectors=\"u\">\n\
         <DataArray type=\"Float32\" Name=\"u\" NumberOfComponents=\"3\" format=\"appended\" \
         offset=\"0\"/>\n</PointData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_"
    )
    .into_bytes();
    file.extend((bytes.len() as u64).to_le_bytes());
    file.extend(bytes);
    file.extend(b"\n</AppendedData>\n</VTKFile>\n");
    fs::write(path, file).unwrap();
}

/// A long series that cycles through a few files.
struct Cycle {
    series: io::Series,
    times: Vec<f64>,
}

impl Cycle {
    fn open(folder: &Path, frames: usize) -> Self {
        let pattern = folder.join("u_*.vti");
        let options = io::SeriesOptions { file_dt: Some(1.0), ..Default::default() };
        let series = io::Series::open(pattern.to_str().unwrap(), &options).unwrap();
        Cycle { series, times: (0..frames).map(|i| i as f64).collect() }
    }
}

impl FrameSource for Cycle {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        self.series.read(frame % self.series.times().len())
    }
}

impl GridSource for Cycle {
    fn axes(&self) -> &[Vec<f64>; 3] {
        self.series.axes()
    }

    fn placement(&self) -> Placement {
        Placement::Nodes
    }
}

fn folder(n: usize) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    for k in 0..4 {
        write_frame(&folder.path().join(format!("u_{k}.vti")), n, 0.5 + 0.1 * k as f32);
    }
    let path = folder.path().to_path_buf();
    (folder, path)
}

/// A sink that reads each save and drops it.
#[derive(Default)]
struct Drain(f64);

impl TrackSink for Drain {
    fn on_host(&self) -> bool {
        true
    }

    fn begin(&mut self, _: &SavePlan) -> Result<(), SinkError> {
        Ok(())
    }

    fn save(&mut self, save: Save) -> Result<(), SinkError> {
        self.0 += f64::from(save.position.into_data().iter::<f32>().next().unwrap_or(0.0));
        Ok(())
    }

    fn end(&mut self, _: &Ends) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Runs a closure and returns the coefficient of variation of the process's memory meanwhile.
fn variation<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let sampler = std::thread::spawn(move || {
        let mut sizes = Vec::new();
        while stopped.recv_timeout(std::time::Duration::from_millis(50)).is_err() {
            sizes.push(resident() as f64);
        }
        sizes
    });
    let result = run();
    stop.send(()).unwrap();
    let sizes = sampler.join().unwrap();
    let n = sizes.len() as f64;
    let mean = sizes.iter().sum::<f64>() / n;
    let square = sizes.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    (result, square.sqrt() / mean)
}

fn tracer<'a>(field: &'a dyn Field, frames: usize, steps: u64) -> Tracer<'a> {
    let last = frames as f64 - 1.0;
    Tracer::new(field)
        .all_faces(BoundaryCondition::Reflect)
        .span(Span { t0: Some(0.0), t1: Some(last), steps: Some(steps), dt: None })
        .save(SaveAt::EverySteps(steps.div_ceil(10)))
}

fn seeds(count: usize) -> Seeds {
    Seeds::uniform([0.2; 3], [0.8; 3], count, 1).unwrap()
}

fn run(tracer: &Tracer, seeds: &Seeds) -> Summary {
    let mut sink = Drain::default();
    tracer.trace_into(seeds, &mut sink, &mut |_| Control::Continue).unwrap()
}

fn open(source: Cycle, frames: Frames) -> GridField {
    let device = device::open("flex").unwrap().device;
    let options = FieldOptions { frames, ..FieldOptions::default() };
    GridField::open(Box::new(source), &device, &options).unwrap()
}

#[test]
#[ignore = "measures the whole process: by hand, alone"]
fn streaming_a_series_of_four_times_the_memory_stays_within_it() {
    let (_folder, path) = folder(160);
    let source = Cycle::open(&path, 40);
    let device = device::open("flex").unwrap().device;
    let size = FieldSize::grid(&source, false, Precision::F32);
    let memory = size.frames as u64 * size.frame_bytes / 4;
    let load = RunSize::new(200_000, Precision::F32);
    let limits = Memory::unknown(&device).within(memory);
    let plan = Plan::choose(&load, &size, limits, &Default::default()).unwrap();
    println!("{plan}");
    reset_peak();
    let field = open(source, plan.frames());
    let seeds = seeds(200_000);
    let tracer = tracer(&field, 40, 39 * 20).memory(memory);
    println!("{}", tracer.plan(&seeds).unwrap());
    let (summary, variation) = variation(|| run(&tracer, &seeds));
    let peak = peak();
    println!(
        "peak {:.1} of {:.1} MiB, variation {variation:.3}, {:?}",
        peak as f64 / MIB,
        memory as f64 / MIB,
        summary.input
    );
    assert!(peak <= memory, "{peak} of {memory}");
    assert!(variation < 0.2, "{variation}");
    assert!(plan.strategy().streams_frames());
}

#[test]
#[ignore = "measures the whole process: by hand, alone"]
fn streamed_frames_reach_80_percent_of_the_speed_in_memory() {
    let frames = 40;
    let (_folder, path) = folder(64);
    let seeds = seeds(1_000_000);
    let all = open(Cycle::open(&path, frames), Frames::All);
    let streamed = open(Cycle::open(&path, frames), Frames::Streamed(4));
    let timed = |(field, batch): (&GridField, usize)| -> f64 {
        let tracer = tracer(field, frames, 20 * (frames as u64 - 1)).batch(batch);
        let start = Instant::now();
        let summary = run(&tracer, &seeds);
        println!("{:.2} s, {:?}", start.elapsed().as_secs_f64(), summary.input);
        start.elapsed().as_secs_f64()
    };
    let variants =
        [(&all, 1_000_000), (&streamed, 1_000_000), (&all, 250_000), (&streamed, 250_000)];
    // Interleaved, so that other load affects all variants alike.
    let mut seconds = variants.map(|_| f64::INFINITY);
    for _ in 0..3 {
        for (variant, min) in variants.into_iter().zip(&mut seconds) {
            *min = min.min(timed(variant));
        }
    }
    let [whole, frames, batches, both] = seconds;
    let speeds = [frames, batches, both].map(|seconds| whole / seconds);
    println!("speed relative to memory, of streamed frames, batches, and both: {speeds:.3?}");
    assert!(speeds.iter().all(|speed| *speed >= 0.8));
}

#[test]
#[ignore = "measures the whole process: by hand, alone"]
fn peak_memory_of_ten_million_particles_matches_the_plan() {
    let number =
        |name: &str, other: u64| std::env::var(name).map_or(other, |text| text.parse().unwrap());
    let (count, steps) = (number("PARTICLES", 10_000_000), number("STEPS", 1000));
    let (_folder, path) = folder(64);
    let field = open(Cycle::open(&path, 40), Frames::Streamed(4));
    let seeds = seeds(count as usize);
    let last = 39.0;
    let tracer = Tracer::new(&field)
        .all_faces(BoundaryCondition::Reflect)
        .execution(Execution { strategy: Some(Strategy::Streamed), ..Execution::default() })
        .span(Span { t0: Some(0.0), t1: Some(last), steps: Some(steps), dt: None })
        .save(SaveAt::EverySteps((steps / 100).max(1)));
    let plan = tracer.plan(&seeds).unwrap();
    println!("{plan}");
    reset_peak();
    let (summary, variation) = variation(|| run(&tracer, &seeds));
    let (peak, planned) = (peak() as f64, plan.host_bytes() as f64);
    println!(
        "peak {:.1} MiB, planned {:.1} MiB ({:+.1} %), variation {:.3}, {} particle-steps/s, {:?}",
        peak / MIB,
        planned / MIB,
        100.0 * (peak / planned - 1.0),
        variation,
        summary.particle_steps_per_second() as u64,
        summary.batches,
    );
    assert!((peak / planned - 1.0).abs() < 0.1);
}

/// Takes a checkpoint after each segment and measures its size and duration.
#[derive(Default)]
struct CheckpointTimer {
    bytes: usize,
    seconds: f64,
    requested: Option<Instant>,
}

impl Observer for CheckpointTimer {
    fn progress(&mut self, _: Progress) -> Control {
        Control::Continue
    }

    fn wants_checkpoint(&mut self, _: &Progress) -> bool {
        self.requested = Some(Instant::now());
        true
    }

    fn checkpoint(&mut self, state: RunState<'_>) -> Result<(), SinkError> {
        self.bytes = state.into_owned().arrays.iter().map(|(_, bytes)| bytes.len()).sum();
        let seconds = self.requested.map_or(0.0, |start| start.elapsed().as_secs_f64());
        self.seconds = self.seconds.max(seconds);
        Ok(())
    }
}

#[test]
#[ignore = "measures the whole process: by hand, alone"]
fn checkpoint_of_a_million_particles_takes_less_than_two_seconds() {
    let (_folder, path) = folder(64);
    let field = open(Cycle::open(&path, 4), Frames::All);
    let seeds = seeds(1_000_000);
    for batch in [1_000_000, 250_000] {
        let (mut timer, mut sink) = (CheckpointTimer::default(), Drain::default());
        let tracer = tracer(&field, 4, 20).batch(batch);
        let summary = tracer.prepare(&seeds).unwrap().run_observed(&mut sink, &mut timer).unwrap();
        println!(
            "batches of {batch}: {} bytes in at most {:.3} s, of a run of {:.2} s",
            timer.bytes, timer.seconds, summary.trace_seconds
        );
        assert!(timer.seconds < 2.0);
    }
}

#[test]
#[ignore = "measures the whole process: by hand, alone"]
fn a_thousand_runs_leak_no_memory() {
    let (_folder, path) = folder(16);
    let mut after = Vec::new();
    for k in 1..=1000 {
        let frames = if k % 2 == 0 { Frames::All } else { Frames::Streamed(4) };
        let field = open(Cycle::open(&path, 12), frames);
        let tracer = tracer(&field, 12, 44).batch(if k % 3 == 0 { 700 } else { 2000 });
        tracer.trace(&seeds(2000)).unwrap();
        drop(tracer);
        drop(field);
        if k == 100 || k == 1000 {
            after.push(resident() as f64);
        }
    }
    println!("{:.2} MiB after 100 runs, {:.2} after 1000", after[0] / MIB, after[1] / MIB);
    assert!(after[1] <= 1.02 * after[0], "{after:?}");
}

/// The system's allocator, which counts: the memory of the process keeps what has been freed.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all memory is that of the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(live, Relaxed);
        // SAFETY: as the caller guarantees.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller guarantees.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The peak above the memory before it of a loss with its gradients, and the seconds.
fn of_gradients(steps: u64, adjoint: Adjoint) -> (f64, f64) {
    let device = Device::flex().autodiff();
    let layer = |n, m| Tensor::<2>::ones([n, m], &device).mul_scalar(0.01).require_grad();
    let (first, second) = (layer(3, 64), layer(64, 3));
    let network = |p: Tensor<2>, _: f64| p.matmul(first.clone()).tanh().matmul(second.clone());
    let field = FieldFn::new(Domain::unbounded(), &device, Precision::F32, network);
    let span = Span { t1: Some(1.0), steps: Some(steps), ..Span::default() };
    let tracer = Tracer::new(&field).span(span).adjoint(adjoint);
    let seeds = Seeds::uniform([0.0; 3], [1.0; 3], 1000, 7).unwrap();
    let before = LIVE.load(Relaxed);
    MOST.store(before, Relaxed);
    let start = Instant::now();
    tracer.value_and_grad(&seeds, |tracks| tracks.positions().square().mean()).unwrap();
    let most = MOST.load(Relaxed) - before;
    (most as f64 / MIB, start.elapsed().as_secs_f64())
}

/// Compares segments of a network as a field with the graph of all steps.
#[test]
#[ignore = "measures the whole process: by hand, alone"]
fn gradients_in_segments_take_the_memory_of_a_segment() {
    of_gradients(10, Adjoint::Auto);
    let all = [(200, Adjoint::Auto), (2000, Adjoint::Auto), (200, Adjoint::Graph)];
    let [short, long, graph] = all.map(|(steps, adjoint)| {
        let (memory, seconds) = of_gradients(steps, adjoint);
        println!("{adjoint:?}, {steps} steps: {memory:.1} MiB, {seconds:.2} s");
        (memory, seconds)
    });
    // The square root of ten.
    assert!(long.0 < 3.5 * short.0, "{short:?}, {long:?}");
    assert!(long.1 < 13.0 * short.1, "{short:?}, {long:?}");
    assert!(graph.0 > 10.0 * short.0, "{short:?}, {graph:?}");
}

/// The milliseconds of a run of 1,000 particles in a network 3-64-64-3, without an adjoint and without gradients or with both, and
/// the MiB above the memory before it.
fn of_network(steps: u64, adjoint: Option<Adjoint>) -> (f64, f64) {
    let device = if adjoint.is_some() { Device::flex().autodiff() } else { Device::flex() };
    device.seed(7);
    let layer = |n, m| {
        let width = Distribution::Uniform(-0.2, 0.2);
        let [weights, bias] =
            [[n, m], [1, m]].map(|shape| Tensor::<2>::random(shape, width, &device));
        [weights, bias].map(|values| values.set_require_grad(adjoint.is_some()))
    };
    let layers = [layer(3, 64), layer(64, 64), layer(64, 3)];
    let network = |p: Tensor<2>, _: f64| {
        layers.iter().enumerate().fold(p, |x, (i, [weights, bias])| {
            let x = x.matmul(weights.clone()) + bias.clone();
            if i < 2 { x.tanh() } else { x }
        })
    };
    let field = FieldFn::new(Domain::unbounded(), &device, Precision::F32, network);
    let tracer = Tracer::new(&field).span(0.0..=1.0).steps(steps);
    let tracer = tracer.adjoint(adjoint.unwrap_or_default());
    let seeds = Seeds::uniform([0.0; 3], [1.0; 3], 1000, 7).unwrap();
    let loss = |tracks: &Tracks| tracks.positions().square().mean();
    let before = LIVE.load(Relaxed);
    MOST.store(before, Relaxed);
    let start = Instant::now();
    let value: f64 = match adjoint {
        None => loss(&tracer.trace(&seeds).unwrap()).into_scalar(),
        Some(_) => tracer.value_and_grad(&seeds, loss).unwrap().0.into_scalar(),
    };
    assert!(value.is_finite());
    (1e3 * start.elapsed().as_secs_f64(), (MOST.load(Relaxed) - before) as f64 / MIB)
}

/// Prints the times of a network at the particles: of the forward run, and of a loss with its gradients.
#[test]
#[ignore = "measures the whole process: by hand, alone"]
fn times_of_a_network_at_particles() {
    for steps in [50, 200] {
        let segments = [4, 16, steps as usize].map(|steps| Adjoint::Segments { steps });
        let adjoints = [Adjoint::Graph, Adjoint::Auto].into_iter().chain(segments);
        let all: Vec<_> = [None].into_iter().chain(adjoints.map(Some)).collect();
        let mut best = vec![(f64::INFINITY, 0.0); all.len()];
        // In turns, so that other load affects all alike.
        for _ in 0..5 {
            for (best, adjoint) in best.iter_mut().zip(&all) {
                let (ms, memory) = of_network(steps, *adjoint);
                *best = (best.0.min(ms), memory);
            }
        }
        for ((ms, memory), adjoint) in best.iter().zip(&all) {
            let name = adjoint.map_or("forward".into(), |adjoint| format!("{adjoint:?}"));
            println!("{steps} steps, {name}: {ms:.0} ms, {memory:.0} MiB");
        }
        // A small run keeps the graph of its forward run.
        assert!(steps > 50 || best[2].0 < 0.9 * best[3].0, "{best:?}");
    }
}

/// Losses of a network before a step of the training: what stays of them, and how many times longer the next nine steps take.
fn losses_before_a_step((count, keeps_graph): (usize, bool)) -> (f64, f64) {
    let device = Device::flex().autodiff();
    let layer = |n, m| Tensor::<2>::ones([n, m], &device).mul_scalar(0.01).require_grad();
    let (first, second) = (layer(3, 16), layer(16, 3));
    let network = |p: Tensor<2>, _: f64| p.matmul(first.clone()).tanh().matmul(second.clone());
    let field = FieldFn::new(Domain::unbounded(), &device, Precision::F32, network);
    let tracer = Tracer::new(&field).span(0.0..=1.0).steps(20);
    let seeds = Seeds::uniform([0.0; 3], [1.0; 3], 40, 7).unwrap();
    let loss = |tracks: &Tracks| tracks.positions().square().mean();
    let step = || {
        let start = Instant::now();
        loss(&tracer.trace(&seeds).unwrap()).backward();
        start.elapsed().as_secs_f64()
    };
    let median = || {
        let mut all: Vec<f64> = (0..9).map(|_| step()).collect();
        all.sort_unstable_by(f64::total_cmp);
        all[4]
    };
    step();
    let before = median();
    let live = LIVE.load(Relaxed);
    for _ in 0..count {
        match keeps_graph {
            true => loss(&tracer.trace(&seeds).unwrap()).inner(),
            false => tracer.evaluate(&seeds, loss).unwrap(),
        };
    }
    let stays = LIVE.load(Relaxed) as f64 - live as f64;
    // One step alone varies by a half on a busy machine.
    let after = (0..9).map(|_| step()).sum::<f64>() / 9.0;
    (stays / MIB, after / before)
}

#[test]
#[ignore = "measures the whole process: by hand, alone"]
fn losses_that_are_evaluated_leave_nothing_and_slow_no_later_step() {
    let both = [(30, true), (1000, false)].map(losses_before_a_step);
    for ((stays, ratio), what) in both.iter().zip(["30 losses by trace", "1,000 by evaluate"]) {
        println!("{what}: {stays:.2} MiB stay, the next nine steps take {ratio:.2} times as long");
    }
    let [(kept, slow), (left, ratio)] = both;
    assert!(kept > 5.0 && slow > 5.0, "{kept}, {slow}");
    assert!(left < 0.05 && ratio < 1.2, "{left}, {ratio}");
}

/// The seconds of a run of 1,000 particles with its backward pass, and the bytes that the run keeps for it.
fn gradient(steps: u64) -> (f64, usize) {
    let device = Device::flex().autodiff();
    let axes = [33, 17, 17].map(|n| (0..n).map(|i| f64::from(i) / 16.0).collect());
    let times = vec![0.0, 1.0];
    let options = FieldOptions::default();
    let velocity = |[x, y, z]: [f64; 3], t: f64| {
        [0.3 + 0.2 * (5.0 * y + t).sin(), 0.1 * (3.0 * x).sin(), 0.1 * (4.0 * z + x).cos()]
    };
    let field = GridField::from_fn(axes, times, &device, &options, velocity).unwrap();
    let points = Seeds::uniform([0.0; 3], [2.0, 1.0, 1.0], 1000, 5).unwrap();
    let points: Vec<f32> = points.positions().as_flattened().iter().map(|x| *x as f32).collect();
    let beside = (&device, Precision::F32.dtype());
    let points = Tensor::<2>::from_data(TensorData::new(points, [1000, 3]), beside);
    let points = points.require_grad();
    let before = LIVE.load(Relaxed);
    let start = Instant::now();
    let tracks = Tracer::new(&field)
        .all_faces(BoundaryCondition::Reflect)
        .span(Span { t0: Some(0.0), t1: Some(1.0), steps: Some(steps), ..Span::default() })
        .trace(&Seeds::from_tensor(points.clone()).unwrap())
        .unwrap();
    let loss = tracks.positions().sum();
    let kept = LIVE.load(Relaxed) - before;
    let gradients = loss.backward();
    assert!(points.grad(&gradients).is_some());
    (start.elapsed().as_secs_f64(), kept)
}

#[test]
#[ignore = "measures the whole process: by hand, alone"]
fn gradients_of_many_steps_keep_little_and_take_no_longer_for_each() {
    let mut of_each = Vec::new();
    for steps in [100, 1000, 10_000] {
        gradient(steps);
        let runs = [0, 1, 2].map(|_| gradient(steps));
        let seconds = runs.iter().fold(f64::INFINITY, |min, run| min.min(run.0));
        let (ns, kept) = (seconds * 1e6 / steps as f64, runs[2].1 as f64 / (1e3 * steps as f64));
        println!("{steps} steps: {ns:.0} ns and {kept:.2} bytes for each particle-step");
        of_each.push((ns, kept));
    }
    assert!(of_each[2].0 < 1.3 * of_each[0].0, "{of_each:?}");
    assert!(of_each[2].1 < 16.0, "{of_each:?}");
}

/// The median seconds of some calls.
fn median(mut call: impl FnMut()) -> f64 {
    call();
    let mut all = [(); 7].map(|()| {
        let start = Instant::now();
        call();
        start.elapsed().as_secs_f64()
    });
    all.sort_unstable_by(f64::total_cmp);
    all[3]
}

#[test]
#[ignore = "measures the whole process: by hand, alone"]
fn training_by_the_values_of_a_grid_takes_a_few_forward_runs() {
    let axes = [33, 33, 33].map(|n| (0..n).map(|i| f64::from(i) / 32.0).collect::<Vec<_>>());
    let times = (0..5).map(|k| 0.25 * f64::from(k)).collect::<Vec<_>>();
    let options = FieldOptions::default();
    let velocity = |[x, y, z]: [f64; 3], t: f64| {
        [0.3 * (5.0 * y + t).sin(), 0.2 * (3.0 * x).sin(), 0.1 * (4.0 * z + x).cos()]
    };
    let seeds = Seeds::uniform([0.0; 3], [1.0; 3], 10_000, 5).unwrap();
    let load = |device: &Device| {
        GridField::from_fn(axes.clone(), times.clone(), device, &options, velocity).unwrap()
    };
    let (plain, tracked) = (load(&Device::flex()), load(&Device::flex().autodiff()));
    fn tracer(field: &dyn Field) -> Tracer<'_> {
        Tracer::new(field).all_faces(BoundaryCondition::Slide).span(0.0..=1.0).steps(200)
    }
    let forward = median(|| {
        tracer(&plain).trace(&seeds).unwrap().positions().into_data();
    });
    let values = tracked.values().unwrap().detach();
    let tracer = tracer(&tracked);
    let step = median(|| {
        let values = values.clone().require_grad();
        let field = tracked.with_values(values.clone()).unwrap();
        let tracer = tracer.with_field(&field);
        let loss = |tracks: &Tracks| tracks.positions().square().mean();
        let (_, gradients) = tracer.value_and_grad(&seeds, loss).unwrap();
        values.grad(&gradients).unwrap().into_data();
    });
    println!(
        "a run takes {:.1} ms, a training step {:.1} ms: {:.2} runs",
        1e3 * forward,
        1e3 * step,
        step / forward
    );
    // What was asked.
    assert!(step < 6.0 * forward, "{step}, {forward}");
}

#[test]
#[ignore = "measures the whole process: by hand, alone"]
fn many_small_fields_take_less_time_together() {
    const FIELDS: usize = 100;
    let device = Device::flex().autodiff();
    let axis = |n: u32| (0..n).map(|i| f64::from(i) / f64::from(n - 1)).collect::<Vec<_>>();
    let (axes, options) = ([axis(17), axis(17), vec![0.0]], FieldOptions::default());
    let rest = GridField::from_fn(axes, vec![0.0], &device, &options, |_, _| [0.0; 3]).unwrap();
    let random = burn::tensor::Distribution::Uniform(-0.5, 0.5);
    let values = Tensor::<4>::random([FIELDS, 1, 17 * 17, 3], random, &device);
    let tracer = Tracer::new(&rest).all_faces(BoundaryCondition::Slide).span(0.0..=1.0).steps(50);
    let all = Seeds::uniform([0.0; 3], [1.0, 1.0, 0.0], 100 * FIELDS, 5).unwrap();
    let loss = |tracks: &Tracks| tracks.positions().square().sum();
    let together = median(|| {
        let values = values.clone().detach().require_grad();
        let fields = rest.with_fields(values.clone()).unwrap();
        let (_, gradients) = tracer.with_field(&fields).value_and_grad(&all, loss).unwrap();
        values.grad(&gradients).unwrap().into_data();
    });
    let one_by_one = median(|| {
        for k in 0..FIELDS {
            let values = values.clone().narrow(0, k, 1).reshape([1, 17 * 17, 3]);
            let values = values.detach().require_grad();
            let field = rest.with_values(values.clone()).unwrap();
            let seeds = all.select(&(100 * k..100 * (k + 1)).collect::<Vec<_>>()).unwrap();
            let (_, gradients) = tracer.with_field(&field).value_and_grad(&seeds, loss).unwrap();
            values.grad(&gradients).unwrap().into_data();
        }
    });
    println!(
        "{FIELDS} fields take {:.1} ms together, {:.1} ms one by one",
        1e3 * together,
        1e3 * one_by_one
    );
    assert!(together < one_by_one, "{together}, {one_by_one}");
}
