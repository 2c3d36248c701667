//! Stores with compressed chunks.

use crate::store::{assert_same, ends_of, plan_of, tree, write_saves};
use burntrace_core::{DurablePosition, Precision, SavePlan, TrackSink};
use burntrace_io::tracks::{copy_saves, verify};
use burntrace_io::{TrackWriter, Tracks};
use serde_json::Value;
use std::path::Path;

fn begin(writer: TrackWriter, plan: &SavePlan) -> TrackWriter {
    let mut writer = writer.compress(true);
    writer.begin(plan).unwrap();
    writer
}

fn complete_run(writer: TrackWriter, plan: &SavePlan, compress: bool) {
    let mut writer = writer.compress(compress);
    writer.begin(plan).unwrap();
    write_saves(&mut writer, plan, 0..plan.saves, plan.particles / 2 + 1);
    writer.end(&ends_of(plan)).unwrap();
}

/// One chunk, and several with two saves each.
fn plans() -> [SavePlan; 2] {
    [plan_of(5, 7, Precision::F64), plan_of(100_000, 5, Precision::F32)]
}

#[test]
fn compressed_numbers_are_those_of_a_plain_store_in_less_space() {
    let folder = tempfile::tempdir().unwrap();
    for (number, plan) in plans().iter().enumerate() {
        let [plain, compressed] =
            ["plain", "compressed"].map(|name| folder.path().join(format!("{name}{number}")));
        complete_run(TrackWriter::new(&plain), plan, false);
        complete_run(TrackWriter::new(&compressed), plan, true);
        let [one, other] = [&plain, &compressed].map(|path| Tracks::open(path).unwrap());
        for save in 0..plan.saves {
            assert!(one.position(save).unwrap() == other.position(save).unwrap());
            assert!(one.velocity(save).unwrap() == other.velocity(save).unwrap());
            assert!(one.status(save).unwrap() == other.status(save).unwrap());
            assert!(
                one.array("Mean Stress", save).unwrap()
                    == other.array("Mean Stress", save).unwrap()
            );
        }
        let (track, same) = (one.track(3).unwrap(), other.track(3).unwrap());
        assert_eq!(format!("{track:?}"), format!("{same:?}"));
        assert!(verify(&compressed).unwrap().damage.is_empty());
        // The numbers of few particles are less than the metadata.
        let bytes = |path: &Path| tree(path).values().map(Vec::len).sum::<usize>();
        let [before, after] = [&plain, &compressed].map(|path| bytes(path));
        assert!(plan.particles == 5 || 4 * after < 3 * before, "{after} of {before} bytes");
        let metadata = &tree(&compressed)["position/zarr.json"];
        let metadata: Value = serde_json::from_slice(metadata).unwrap();
        assert_eq!(metadata["codecs"][1]["name"], "blosc");
        assert!(tree(&compressed).keys().all(|name| !name.ends_with(".raw")));
    }
}

/// Writes saves up to two positions, syncs at both, writes two more saves, and stops. Returns both positions.
fn stopped_run(folder: &Path, plan: &SavePlan, saves: [usize; 2]) -> [DurablePosition; 2] {
    let mut writer = begin(TrackWriter::new(folder), plan);
    write_saves(&mut writer, plan, 0..saves[0], plan.particles);
    let first = writer.sync().unwrap();
    write_saves(&mut writer, plan, saves[0]..saves[1], plan.particles);
    let second = writer.sync().unwrap();
    write_saves(&mut writer, plan, saves[1]..plan.saves.min(saves[1] + 2), plan.particles);
    drop(writer);
    [first, second]
}

#[test]
fn a_resumed_store_is_byte_identical() {
    let folder = tempfile::tempdir().unwrap();
    for (number, plan) in plans().iter().enumerate() {
        let complete = folder.path().join(number.to_string());
        complete_run(TrackWriter::new(&complete), plan, true);
        for first in 0..plan.saves {
            // The list of checksums may be newer than the checkpoint.
            for (second, of) in
                [(first, 1), (plan.saves.min(first + 1), 0), (plan.saves.min(first + 3), 0)]
            {
                let path = folder.path().join("stopped");
                let position = stopped_run(&path, plan, [first, second])[of];
                let unfinished = Tracks::open_partial(&path).unwrap();
                let last = unfinished.num_saves() - usize::from(unfinished.num_saves() > 0);
                assert!(unfinished.num_saves() >= second);
                assert!(unfinished.num_saves() == 0 || unfinished.position(last).is_ok());
                let mut writer = begin(TrackWriter::resume(&path, position), plan);
                write_saves(&mut writer, plan, first..plan.saves, plan.particles);
                writer.end(&ends_of(plan)).unwrap();
                assert_same(&complete, &path, &format!("resumed from {first}, synced to {second}"));
                std::fs::remove_dir_all(&path).unwrap();
            }
        }
    }
}

#[test]
fn a_store_is_continued_with_and_without_compression() {
    let folder = tempfile::tempdir().unwrap();
    let short = plan_of(5, 4, Precision::F32);
    let long = plan_of(5, 7, Precision::F32);
    for (before, after) in [(true, false), (false, true)] {
        let path = |name: &str| folder.path().join(format!("{name}-{before}"));
        complete_run(TrackWriter::new(path("short")), &short, before);
        complete_run(TrackWriter::new(path("long")), &long, after);
        let instances = Tracks::open(path("short")).unwrap().num_instances().unwrap() as u64;
        let position = DurablePosition { saves: 4, instances, crossings: 0 };
        copy_saves(path("short"), path("both"), (&long, after), position).unwrap();
        let mut writer = TrackWriter::resume(path("both"), position).compress(after);
        writer.begin(&long).unwrap();
        write_saves(&mut writer, &long, 4..7, 5);
        writer.end(&ends_of(&long)).unwrap();
        assert_same(&path("long"), &path("both"), "continued");
    }
}

#[test]
fn damage_and_other_compression_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [plan, _] = plans();
    let path = folder.path().join("tracks");
    let [position, _] = stopped_run(&path, &plan, [3, 4]);
    let other = TrackWriter::resume(&path, position).begin(&plan).unwrap_err().to_string();
    assert!(other.contains("compression = true, expected compression = false"), "{other}");
    let chunk = path.join("position/c.0.0.0.raw");
    let mut bytes = std::fs::read(&chunk).unwrap();
    bytes[9] ^= 1;
    std::fs::write(&chunk, &bytes).unwrap();
    let damaged = TrackWriter::resume(&path, position).compress(true).begin(&plan).unwrap_err();
    assert!(damaged.to_string().contains("c.0.0.0.raw"), "{damaged}");
    complete_run(TrackWriter::new(&path).overwrite(true), &plan, true);
    let chunk = path.join("position/c.0.0.0");
    let bytes = std::fs::read(&chunk).unwrap();
    std::fs::write(&chunk, &bytes[..bytes.len() - 30]).unwrap();
    let damage = verify(&path).unwrap().damage;
    assert!(damage.len() == 1 && damage[0].to_string().contains("position/c.0.0.0"), "{damage:?}");
    let cut_off = Tracks::open(&path).unwrap().position(0).unwrap_err().to_string();
    assert!(cut_off.contains("damaged chunk") && cut_off.contains("c.0.0.0"), "{cut_off}");
}
