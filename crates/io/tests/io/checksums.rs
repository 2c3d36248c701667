//! Checksums of stores, and the stores of unfinished runs as Zarr reads them.

use crate::store::{
    assert_same, block, complete_run, ends_of, plan_of, plans, resume, stopped_run, tree,
    write_saves,
};
use burntrace_core::{DurablePosition, Precision, SavePlan, TrackSink};
use burntrace_io::tracks::{Verification, foreign_names, verify};
use burntrace_io::{TrackWriter, Tracks};
use serde_json::Value;
use std::path::Path;

/// Inverts a bit of a file.
fn flip(path: &Path, byte: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[byte] ^= 16;
    std::fs::write(path, bytes).unwrap();
}

/// What is wrong with a store, as text.
fn damage(folder: &Path) -> Vec<String> {
    verify(folder).unwrap().damage.iter().map(ToString::to_string).collect()
}

/// Asserts that a file is the only one that is named.
#[track_caller]
fn assert_damaged(folder: &Path, name: &str, what: &str) {
    let found = damage(folder);
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    let path = folder.join(name).display().to_string();
    assert!(found[0].contains(&path) && found[0].contains(what), "{name}: {found:?}");
}

fn refusal(folder: &Path, plan: &SavePlan, position: DurablePosition) -> Option<String> {
    let begun = TrackWriter::resume(folder, position).begin(plan);
    begun.err().map(|error| error.to_string())
}

#[test]
fn each_damaged_missing_or_truncated_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (number, plan) in plans().iter().enumerate() {
        let path = folder.path().join(number.to_string());
        complete_run(&path, plan, plan.particles);
        let files = tree(&path);
        let Verification { files: count, bytes, saves, is_complete, damage, .. } =
            verify(&path).unwrap();
        assert!(is_complete && damage.is_empty(), "{damage:?}");
        // All files but the list itself.
        let total: usize = files.values().map(Vec::len).sum();
        let list = files["time/checksums.txt"].len();
        assert_eq!((count, saves), (files.len() - 1, plan.saves));
        assert_eq!(bytes as usize, total - list);
        for (name, content) in &files {
            let of = path.join(name);
            if name == "time/checksums.txt" || name == "zarr.json" {
                continue;
            }
            flip(&of, content.len() / 2);
            assert_damaged(&path, name, "found other bytes than its checksum says");
            std::fs::write(&of, &content[1..]).unwrap();
            let short = format!("found {} bytes, expected {}", content.len() - 1, content.len());
            assert_damaged(&path, name, &short);
            std::fs::write(&of, [content, &b"more"[..]].concat()).unwrap();
            assert_damaged(&path, name, "something was appended");
            std::fs::remove_file(&of).unwrap();
            assert_damaged(&path, name, "found no such file");
            std::fs::write(&of, content).unwrap();
        }
        let group = String::from_utf8(files["zarr.json"].clone()).unwrap();
        std::fs::write(path.join("zarr.json"), group.replace("2.0", "2.5")).unwrap();
        assert_damaged(&path, "zarr.json", "found other bytes");
        std::fs::write(path.join("zarr.json"), group).unwrap();
        assert!(self::damage(&path).is_empty());
        flip(&path.join("time/checksums.txt"), 3);
        let error = verify(&path).unwrap_err().to_string();
        assert!(error.contains("time/checksums.txt`: found a damaged list"), "{error}");
    }
}

#[test]
fn damaged_items_are_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    for (number, plan) in plans().iter().enumerate() {
        let complete = folder.path().join(format!("{number}-complete"));
        complete_run(&complete, plan, plan.particles);
        let path = folder.path().join(number.to_string());
        let position = stopped_run(&path, plan, plan.saves - 1, 1);
        let before = tree(&path);
        let list = String::from_utf8(before["time/checksums.txt"].clone()).unwrap();
        let listed: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(listed.len() >= 12, "{list}");
        for line in listed {
            let [_, bytes, name] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let of = path.join(name);
            if name.starts_with("release_position/") {
                // A resumed run writes it again.
                flip(&of, 0);
                assert_damaged(&path, name, "found other bytes");
                std::fs::write(&of, &before[name]).unwrap();
                continue;
            }
            let last = bytes.parse::<usize>().unwrap() - 1;
            for byte in [0, last] {
                flip(&of, byte);
                let refused = refusal(&path, plan, position).unwrap();
                assert!(refused.contains(name) && refused.contains("restore it from"), "{refused}");
                assert_damaged(&path, name, "found other bytes");
                flip(&of, byte);
            }
            std::fs::write(&of, &before[name][..last]).unwrap();
            let refused = refusal(&path, plan, position).unwrap();
            let expected = format!("{name}`: found {last} bytes, expected {bytes} bytes, which");
            assert!(refused.contains(&expected), "{refused}");
            std::fs::remove_file(&of).unwrap();
            let refused = refusal(&path, plan, position).unwrap();
            assert!(refused.contains(&format!("{name}`: found no such file")), "{refused}");
            std::fs::write(&of, &before[name]).unwrap();
        }
        assert!(tree(&path) == before, "a refused store is unchanged");
        if number == 0 {
            // What follows the durable items is written again.
            for name in before.keys().filter(|name| name.contains("/c.")) {
                flip(&path.join(name), before[name].len() - 1);
            }
            resume(&path, plan, position);
            assert_same(&complete, &path, "after damage to later items");
        }
    }
}

#[test]
fn a_list_that_is_newer_than_the_checkpoint_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    for (number, plan) in plans().iter().enumerate() {
        let complete = folder.path().join(format!("{number}-complete"));
        complete_run(&complete, plan, plan.particles);
        let path = folder.path().join(number.to_string());
        let mut writer = TrackWriter::new(&path);
        writer.begin(plan).unwrap();
        write_saves(&mut writer, plan, 0..1, plan.particles);
        let position = writer.sync().unwrap();
        write_saves(&mut writer, plan, 1..2, plan.particles);
        writer.sync().unwrap();
        drop(writer);
        assert_eq!((verify(&path).unwrap().saves, damage(&path)), (2, vec![]));
        // Killed after it was opened, and after a later save.
        for saves in [1..1, 1..2] {
            let mut writer = TrackWriter::resume(&path, position);
            writer.begin(plan).unwrap();
            assert_eq!((verify(&path).unwrap().saves, damage(&path)), (1, vec![]));
            assert_eq!(Tracks::open_partial(&path).unwrap().num_saves(), 1);
            assert_zarr_shapes(&path);
            write_saves(&mut writer, plan, saves, plan.particles);
        }
        resume(&path, plan, position);
        assert_same(&complete, &path, "resumed from the older position");
    }
}

#[test]
fn a_store_without_checksums_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_of(5, 7, Precision::F32);
    let position = stopped_run(folder.path(), &plan, 4, 1);
    std::fs::remove_file(folder.path().join("time/checksums.txt")).unwrap();
    let before = tree(folder.path());
    let error = verify(folder.path()).unwrap_err().to_string();
    assert!(error.contains("has no checksums; their list") && error.contains("removed"), "{error}");
    assert_eq!(refusal(folder.path(), &plan, position).unwrap(), error);
    assert!(tree(folder.path()) == before, "a refused store is unchanged");
}

#[test]
fn files_that_no_run_wrote_are_foreign_and_kept_on_resume() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_of(5, 7, Precision::F32);
    let position = stopped_run(folder.path(), &plan, 3, 1);
    std::fs::create_dir_all(folder.path().join("density_x")).unwrap();
    std::fs::write(folder.path().join("density_x/c.0"), b"").unwrap();
    std::fs::write(folder.path().join("position/c.1.0.0.part"), b"").unwrap();
    // Of file managers.
    for name in [".DS_Store", "position/.DS_Store", "Thumbs.db", "desktop.ini"] {
        std::fs::write(folder.path().join(name), b"").unwrap();
    }
    assert!(foreign_names(folder.path()).unwrap().is_empty());
    std::fs::write(folder.path().join("position/notes.txt"), b"keep").unwrap();
    std::fs::write(folder.path().join("plan.txt"), b"keep").unwrap();
    assert_eq!(foreign_names(folder.path()).unwrap(), ["plan.txt", "position/notes.txt"]);
    resume(folder.path(), &plan, position);
    assert_eq!(foreign_names(folder.path()).unwrap(), ["plan.txt", "position/notes.txt"]);
    assert!(!folder.path().join("position/c.1.0.0.part").exists());
}

/// The metadata of an array: its shape, the shape of a chunk, and the names of its dimensions.
fn zarr(array: &Path) -> (Vec<u64>, Vec<u64>, Vec<String>, u64) {
    let text = std::fs::read_to_string(array.join("zarr.json")).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let list = |json: &Value| serde_json::from_value::<Vec<u64>>(json.clone()).unwrap();
    let chunk = &json["chunk_grid"]["configuration"]["chunk_shape"];
    let names = serde_json::from_value(json["dimension_names"].clone()).unwrap();
    let size = match json["data_type"].as_str().unwrap() {
        "uint8" => 1,
        name if name.ends_with("32") => 4,
        _ => 8,
    };
    (list(&json["shape"]), list(chunk), names, size)
}

/// Asserts what Zarr and xarray need to open a store: dimensions of the same name have the same
/// length in all arrays, and every chunk of an array has its full size.
#[track_caller]
pub fn assert_zarr_shapes(store: &Path) {
    let mut lengths = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(store).unwrap().flatten().filter(|e| e.path().is_dir()) {
        if !entry.path().join("zarr.json").exists() {
            continue;
        }
        // Texts have no fixed size.
        if entry.file_name() == "component" {
            continue;
        }
        let (shape, chunk, names, size) = zarr(&entry.path());
        for (name, length) in names.iter().zip(&shape) {
            let expected = *lengths.entry(name.clone()).or_insert(*length);
            assert_eq!(*length, expected, "{name} of {}", entry.path().display());
        }
        let full = chunk.iter().product::<u64>() * size;
        for file in std::fs::read_dir(entry.path()).unwrap().flatten() {
            let name = file.file_name().into_string().unwrap();
            let is_chunk = name.starts_with("c.") && !name.ends_with(".part");
            if is_chunk && shape[0] > 0 {
                assert_eq!(file.metadata().unwrap().len(), full, "{}", file.path().display());
            }
        }
    }
}

/// The times of a store as Zarr reads them.
fn zarr_times(store: &Path) -> Vec<f64> {
    let (shape, chunk, ..) = zarr(&store.join("time"));
    let (length, rows) = (shape[0] as usize, chunk[0] as usize);
    let mut times = Vec::new();
    for number in 0..length.div_ceil(rows) {
        match std::fs::read(store.join(format!("time/c.{number}"))) {
            Ok(bytes) => {
                assert_eq!(bytes.len(), 8 * rows);
                times.extend(bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)));
            }
            Err(_) => times.resize(times.len() + rows, f64::NAN),
        }
    }
    times.truncate(length);
    times
}

#[test]
fn stores_of_unfinished_runs_are_valid_for_zarr_with_nan_at_missing_saves() {
    let folder = tempfile::tempdir().unwrap();
    let long = plan_of(3, 8200, Precision::F32);
    for (number, plan) in plans().into_iter().chain([long]).enumerate() {
        let path = folder.path().join(number.to_string());
        let check = |saves: usize| {
            assert_zarr_shapes(&path);
            let times = zarr_times(&path);
            assert_eq!(times.len(), plan.saves);
            let expected = |save: usize| if save < saves { 0.25 * save as f64 } else { f64::NAN };
            for (save, time) in times.into_iter().enumerate() {
                assert_eq!(time.to_bits(), expected(save).to_bits(), "save {save}");
            }
            assert_eq!(Tracks::open_partial(&path).unwrap().num_saves(), saves);
        };
        let mut writer = TrackWriter::new(&path);
        writer.begin(&plan).unwrap();
        check(0);
        let saves = plan.saves - 1;
        write_saves(&mut writer, &plan, 0..saves, plan.particles);
        let position = writer.sync().unwrap();
        check(saves);
        // Half a save.
        writer.save(block(&plan, saves, 0..plan.particles / 2)).unwrap();
        drop(writer);
        check(saves);
        let mut writer = TrackWriter::resume(&path, position);
        writer.begin(&plan).unwrap();
        check(saves);
        write_saves(&mut writer, &plan, saves..plan.saves, plan.particles);
        writer.end(&ends_of(&plan)).unwrap();
        check(plan.saves);
    }
}
