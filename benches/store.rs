//! The store of tracks and checkpoints in bytes per second: `cargo bench --bench store`. It writes up to 650 MB at a
//! time to the folder for temporary files.

use burntrace::{
    Ends, Precision, Save, SavePlan, Status, TrackSink,
    burn::tensor::{DType, Device, Tensor, TensorData},
    io::{Checkpoint, CheckpointWriter, TrackWriter, Tracks},
};
use divan::{Bencher, counter::BytesCount};
use std::path::Path;

/// Many particles with few saves, and few particles with many saves: 13 bytes each.
const SIZES: [(usize, usize); 2] = [(1_000_000, 50), (1000, 50_000)];

fn main() {
    divan::main();
}

fn plan((particles, saves): (usize, usize)) -> SavePlan {
    SavePlan {
        particles,
        reuses_slots: false,
        saves,
        precision: Precision::F32,
        positions: Precision::F32,
        velocity: false,
        periods: [0.0; 3],
        arrays: Vec::new(),
        gates: Vec::new(),
    }
}

fn save(n: usize) -> Save {
    let device = Device::flex();
    let values: Vec<f32> = (0..3 * n).map(|i| i as f32).collect();
    let statuses = TensorData::new(vec![Status::Active.code(); n], [n]);
    Save {
        index: 0,
        time: 0.0,
        first: 0,
        position: Tensor::from_data(TensorData::new(values, [n, 3]), (&device, DType::F32)),
        rest: None,
        status: Tensor::from_data(statuses, (&device, DType::I32)),
        image: Tensor::zeros([n, 3], (&device, DType::I32)),
        velocity: None,
        generation: None,
        arrays: Vec::new(),
    }
}

/// Writes a store until everything is on the disk.
fn write(path: &Path, size: (usize, usize), save: &Save) {
    let (n, saves) = size;
    let mut writer = TrackWriter::new(path).overwrite(true);
    writer.begin(&plan(size)).expect("a store");
    for index in 0..saves {
        let save = Save { index, time: index as f64, ..save.clone() };
        writer.save(save).expect("a save");
    }
    let ends = Ends {
        status: vec![Status::Active; n],
        release_time: vec![0.0; n],
        end_time: vec![f64::NAN; n],
        ..Ends::default()
    };
    writer.end(&ends).expect("the ends");
}

#[divan::bench(args = SIZES, sample_count = 3, sample_size = 1)]
fn written(bencher: Bencher, size: (usize, usize)) {
    let folder = tempfile::tempdir().expect("a folder");
    let save = save(size.0);
    let bytes = BytesCount::new(13 * size.0 * size.1);
    bencher.counter(bytes).bench_local(|| write(&folder.path().join("tracks"), size, &save));
}

/// A save of all particles, and a particle over all saves.
#[divan::bench(args = SIZES)]
fn read_save(bencher: Bencher, size: (usize, usize)) {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), size, &save(size.0));
    let tracks = Tracks::open(folder.path()).expect("a store");
    bencher.bench_local(|| tracks.position(7).expect("a save").len());
}

#[divan::bench(args = SIZES)]
fn read_track(bencher: Bencher, size: (usize, usize)) {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), size, &save(size.0));
    let tracks = Tracks::open(folder.path()).expect("a store");
    bencher.bench_local(|| tracks.track(7).expect("a track").time.len());
}

/// The state of a million particles.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn checkpoint_written_and_read(bencher: Bencher) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("checkpoint.bin");
    let (position, record) = (vec![0.25_f32; 6_000_000], vec![7_i32; 9_000_000]);
    let fraction = vec![0.5_f32; 1_000_000];
    bencher.counter(BytesCount::new(64_000_000_usize)).bench_local(|| {
        let mut writer = CheckpointWriter::new(&0).expect("a checkpoint");
        writer.add("position", &position).add("record", &record).add("fraction", &fraction);
        writer.write(&path).expect("a checkpoint");
        Checkpoint::read(&path)
            .expect("a checkpoint")
            .array::<i32>("record")
            .expect("records")
            .len()
    });
}
