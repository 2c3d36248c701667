//! Benchmark of writing and reading a store.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_core::{Ends, Precision, Save, SavePlan, Status, TrackSink};
use burntrace_io::{TrackWriter, Tracks};
use std::time::Instant;

/// `cargo test --release --workspace --test io -- --ignored --nocapture speed_of`
#[test]
#[ignore = "writes 1.3 GB"]
fn speed_of_a_store() {
    for (n, saves) in [(1_000_000, 50), (1000, 50_000)] {
        let folder = tempfile::tempdir().unwrap();
        let plan = SavePlan {
            particles: n,
            reuses_slots: false,
            saves,
            precision: Precision::F32,
            positions: Precision::F32,
            velocity: false,
            periods: [0.0; 3],
            arrays: Vec::new(),
        };
        let device = Device::flex();
        let values: Vec<f32> = (0..3 * n).map(|i| i as f32).collect();
        let position =
            Tensor::<2>::from_data(TensorData::new(values, [n, 3]), (&device, DType::F32));
        let status = Tensor::from_data(
            TensorData::new(vec![Status::Active.code(); n], [n]),
            (&device, DType::I32),
        );
        let image = Tensor::zeros([n, 3], (&device, DType::I32));
        let start = Instant::now();
        let mut writer = TrackWriter::new(folder.path().join("tracks"));
        writer.begin(&plan).unwrap();
        for index in 0..saves {
            let save = Save {
                index,
                time: index as f64,
                first: 0,
                position: position.clone(),
                rest: None,
                status: status.clone(),
                image: image.clone(),
                velocity: None,
                generation: None,
                arrays: Vec::new(),
            };
            writer.save(save).unwrap();
        }
        let queued = start.elapsed().as_secs_f64();
        let ends = Ends {
            status: vec![Status::Active; n],
            release_time: vec![0.0; n],
            end_time: vec![f64::NAN; n],
            ..Ends::default()
        };
        writer.end(&ends).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let megabytes = (n * saves * 13) as f64 / 1e6;
        println!(
            "{n} particles, {saves} saves: {megabytes:.0} MB, {:.0} MB/s until queued \
             ({queued:.2} s), {:.0} MB/s until durable ({seconds:.2} s)",
            megabytes / queued,
            megabytes / seconds
        );
        let tracks = Tracks::open(folder.path().join("tracks")).unwrap();
        let start = Instant::now();
        (0..20).for_each(|save| assert_eq!(tracks.position(save).unwrap().len(), n));
        let of_saves = start.elapsed().as_secs_f64() / 20.0;
        let start = Instant::now();
        (0..20).for_each(|particle| assert!(tracks.track(particle).unwrap().time.len() == saves));
        let of_tracks = start.elapsed().as_secs_f64() / 20.0;
        println!("a save: {:.2} ms, a track: {:.2} ms", 1e3 * of_saves, 1e3 * of_tracks);
    }
}
