//! Stores on the disk: the same bytes for any blocks and interruptions, and readable at any time.

use crate::{instances, support};
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_core::{
    DurablePosition, Ends, FieldArray, MeshFace, ParticleInstance, Precision, Save, SavePlan,
    Status, TrackSink,
};
use burntrace_io::tracks::Units;
use burntrace_io::{TrackWriter, Tracks};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// All files below a folder, by their relative paths.
pub fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            let below = tree(&entry.path()).into_iter();
            files.extend(below.map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            files.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    files
}

/// Compares two folders byte by byte.
#[track_caller]
pub fn assert_same(one: &Path, other: &Path, what: &str) {
    let (one, other) = (tree(one), tree(other));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>(), "{what}");
    for (name, bytes) in &one {
        assert!(*bytes == other[name], "{what}: {name} differs");
    }
}

/// The plan of a run with velocities and generations, in a periodic box.
pub fn plan_of(particles: usize, saves: usize, precision: Precision) -> SavePlan {
    SavePlan {
        particles,
        reuses_slots: true,
        saves,
        precision,
        positions: precision,
        velocity: true,
        periods: [1.0, 0.0, 2.0],
        arrays: sampled_arrays(),
        gates: Vec::new(),
    }
}

/// A scalar and a tensor.
pub fn sampled_arrays() -> Vec<FieldArray> {
    let array = |name: &str, components| FieldArray { name: name.into(), components };
    vec![array("T", 1), array("Mean Stress", 9)]
}

/// A block of a save, with different numbers everywhere.
pub fn block(plan: &SavePlan, index: usize, rows: Range<usize>) -> Save {
    let (n, device) = (rows.len(), Device::flex());
    let wide = |shift: usize| rows.clone().flat_map(move |p| [0, 1, 2].map(|d| 3 * p + d + shift));
    let floats = |shift| {
        let values: Vec<f64> = wide(shift).map(|i| 0.1 * (i + 1000 * index) as f64).collect();
        let values = TensorData::new(values, [n, 3]);
        Tensor::<2>::from_data(values, (&device, plan.precision.dtype()))
    };
    let image: Vec<i32> = wide(7 * index).map(|i| (i % 1000) as i32).collect();
    let codes: Vec<i32> = rows.clone().map(|p| ((p + index) % 14) as i32).collect();
    let generations: Vec<i32> = rows.clone().map(|p| (p / 3 + index) as i32).collect();
    let of_slots =
        |values: Vec<i32>| Tensor::from_data(TensorData::new(values, [n]), (&device, DType::I32));
    let sampled = |array: &FieldArray| {
        let width = array.components;
        let values: Vec<f64> =
            (width * rows.start..width * rows.end).map(|i| 0.3 * (i + 7 * index) as f64).collect();
        let values = TensorData::new(values, [n, width]);
        Tensor::<2>::from_data(values, (&device, plan.precision.dtype()))
    };
    Save {
        index,
        time: 0.25 * index as f64,
        first: rows.start,
        position: floats(0),
        rest: None,
        status: of_slots(codes),
        image: Tensor::from_data(TensorData::new(image, [n, 3]), (&device, DType::I32)),
        velocity: Some(floats(1)),
        generation: Some(of_slots(generations)),
        arrays: plan.arrays.iter().map(sampled).collect(),
    }
}

pub fn ends_of(plan: &SavePlan) -> Ends {
    let n = plan.particles;
    Ends {
        status: vec![Status::Active; n],
        release_time: (0..n).map(|p| p as f64).collect(),
        end_time: vec![f64::NAN; n],
        mesh_face: vec![Some(MeshFace { cell: 7, face: 1 }); n],
        obstacle: vec![None; n],
        patch: Vec::new(),
        condition: Vec::new(),
        generation: vec![3; n],
    }
}

/// Writes saves in blocks of at most `max` particles, and particle instances after each.
pub fn write_saves(writer: &mut TrackWriter, plan: &SavePlan, saves: Range<usize>, max: usize) {
    for index in saves {
        let mut first = 0;
        while first < plan.particles {
            let end = (first + max).min(plan.particles);
            writer.save(block(plan, index, first..end)).unwrap();
            first = end;
        }
        writer.instances(&instances::instances()[index % 3]).unwrap();
    }
}

pub fn complete_run(folder: &Path, plan: &SavePlan, max: usize) {
    let mut writer = TrackWriter::new(folder);
    writer.begin(plan).unwrap();
    write_saves(&mut writer, plan, 0..plan.saves, max);
    writer.end(&ends_of(plan)).unwrap();
    assert!(writer.bytes_written() > 0 && writer.wait_seconds() >= 0.0);
}

/// As [`complete_run`], of slots that are not re-used.
pub fn complete_plain_run(folder: &Path, plan: &SavePlan) {
    let mut writer = TrackWriter::new(folder);
    writer.begin(plan).unwrap();
    (0..plan.saves).for_each(|save| writer.save(block(plan, save, 0..plan.particles)).unwrap());
    writer.end(&Ends { generation: Vec::new(), ..ends_of(plan) }).unwrap();
}

/// Plans with several saves in a chunk, and with several chunks in a save.
pub fn plans() -> [SavePlan; 3] {
    [
        plan_of(5, 7, Precision::F64),
        plan_of(100_000, 3, Precision::F32),
        plan_of(270_000, 2, Precision::F32),
    ]
}

#[test]
fn stores_are_byte_identical_for_any_block_size() {
    let folder = tempfile::tempdir().unwrap();
    for (number, plan) in plans().iter().enumerate() {
        let path = |max: usize| folder.path().join(format!("{number}-{max}"));
        let n = plan.particles;
        complete_run(&path(n), plan, n);
        for max in [n / 2 + 1, n / 3 + 1, n / 5] {
            complete_run(&path(max), plan, max);
            assert_same(&path(n), &path(max), &format!("{n} particles in blocks of {max}"));
        }
    }
}

#[test]
fn saves_and_tracks_are_read_as_written() {
    let folder = tempfile::tempdir().unwrap();
    for (number, plan) in plans().iter().enumerate() {
        let path = folder.path().join(number.to_string());
        complete_run(&path, plan, plan.particles / 3);
        let tracks = Tracks::open(&path).unwrap();
        let n = plan.particles;
        for index in [0, plan.saves - 1] {
            let save = block(plan, index, 0..n);
            let floats = |rows: Tensor<2>| -> Vec<f64> {
                rows.into_data().convert::<f64>().try_to_vec().unwrap()
            };
            let position = floats(save.position);
            assert!(tracks.position(index).unwrap().as_flattened() == position);
            let some = tracks.position_range(index, n / 2 - 1..n - 1).unwrap();
            assert!(some.as_flattened() == &position[3 * (n / 2 - 1)..3 * (n - 1)]);
            let sampled: Vec<Vec<f64>> = save.arrays.into_iter().map(floats).collect();
            assert!(tracks.array("T", index).unwrap() == sampled[0]);
            let some = tracks.array_range("Mean Stress", index, n / 2..n - 1).unwrap();
            assert!(some == sampled[1][9 * (n / 2)..9 * (n - 1)]);
            let velocity = tracks.velocity(index).unwrap().unwrap();
            assert!(velocity.as_flattened() == floats(save.velocity.unwrap()));
            let image = save.image.into_data().convert::<i32>().try_to_vec::<i32>().unwrap();
            assert!(tracks.image(index).unwrap().unwrap().as_flattened() == image);
            for particle in [0, n / 2, n - 1] {
                let stress = tracks.array_track("Mean Stress", particle).unwrap();
                assert_eq!(
                    stress[9 * index..9 * index + 9],
                    sampled[1][9 * particle..9 * particle + 9]
                );
                let track = tracks.track(particle).unwrap();
                assert_eq!(track.position[index], position[3 * particle..3 * particle + 3]);
                assert_eq!(track.generation.unwrap()[index], (particle / 3 + index) as i32);
            }
        }
        assert_eq!(format!("{:?}", tracks.ends().unwrap()), format!("{:?}", ends_of(plan)));
        assert_eq!(tracks.position_range(0, 2..2).unwrap(), [[0.0; 3]; 0]);
        let message = tracks.position_range(0, 0..n + 1).unwrap_err().to_string();
        assert!(message.contains(&format!("no particle {n}")), "{message}");
    }
}

/// Adds the remains of a killed program to a store: torn chunks and temporary files.
fn add_remains(folder: &Path) {
    for (name, bytes) in tree(folder) {
        let path = folder.join(&name);
        if name.contains("/c.") {
            std::fs::write(&path, [bytes.as_slice(), b"torn"].concat()).unwrap();
            let last = path.parent().unwrap().join("c.99.0.0");
            std::fs::write(last, b"garbage").unwrap();
        }
    }
    std::fs::create_dir_all(folder.join("end_time")).unwrap();
    for name in ["zarr.json.part", "position/zarr.json.part", "end_time/c.0"] {
        std::fs::write(folder.join(name), b"{").unwrap();
    }
}

/// Writes some saves, syncs, writes some more and stops.
pub fn stopped_run(folder: &Path, plan: &SavePlan, synced: usize, more: usize) -> DurablePosition {
    let mut writer = TrackWriter::new(folder);
    writer.begin(plan).unwrap();
    write_saves(&mut writer, plan, 0..synced, plan.particles);
    let position = writer.sync().unwrap();
    write_saves(&mut writer, plan, synced..synced + more, plan.particles / 2);
    drop(writer);
    position
}

/// Resumes a run and completes it.
pub fn resume(folder: &Path, plan: &SavePlan, position: DurablePosition) {
    let mut writer = TrackWriter::resume(folder, position);
    writer.begin(plan).unwrap();
    write_saves(&mut writer, plan, position.saves as usize..plan.saves, plan.particles / 3 + 1);
    writer.end(&ends_of(plan)).unwrap();
}

#[test]
fn a_resumed_store_is_byte_identical() {
    let folder = tempfile::tempdir().unwrap();
    for (number, plan) in plans().iter().enumerate() {
        let complete = folder.path().join(format!("{number}"));
        complete_run(&complete, plan, plan.particles);
        for synced in 0..=plan.saves {
            let path = folder.path().join(format!("{number}-{synced}"));
            let position = stopped_run(&path, plan, synced, (plan.saves - synced).min(2));
            assert_eq!(position.saves, synced as u64);
            add_remains(&path);
            resume(&path, plan, position);
            let what = format!("{} particles, {position:?}", plan.particles);
            assert_same(&complete, &path, &what);
            // A program may be killed after the run ends and before its checkpoint is removed.
            resume(&path, plan, position);
            assert_same(&complete, &path, &format!("{what} again"));
        }
    }
}

#[test]
fn a_list_of_several_chunks_is_resumed() {
    let plan = SavePlan {
        particles: 3,
        reuses_slots: true,
        saves: 8200,
        precision: Precision::F32,
        positions: Precision::F32,
        velocity: false,
        periods: [0.0; 3],
        arrays: Vec::new(),
        gates: Vec::new(),
    };
    let ends = Ends { mesh_face: Vec::new(), obstacle: Vec::new(), ..ends_of(&plan) };
    let folder = tempfile::tempdir().unwrap();
    let instances = instances::instances().concat();
    let run = |writer: &mut TrackWriter, saves: Range<usize>| {
        for index in saves {
            writer.save(block(&plan, index, 0..3)).unwrap();
            writer.instances(&instances[..index % 3]).unwrap();
        }
    };
    let complete = folder.path().join("complete");
    let mut writer = TrackWriter::new(&complete);
    writer.begin(&plan).unwrap();
    run(&mut writer, 0..8200);
    writer.end(&ends).unwrap();
    for synced in [8191, 8192, 8193] {
        let path = folder.path().join(synced.to_string());
        let mut writer = TrackWriter::new(&path);
        writer.begin(&plan).unwrap();
        run(&mut writer, 0..4000);
        assert_eq!(
            writer.sync().unwrap(),
            DurablePosition { saves: 4000, instances: 3999, crossings: 0 }
        );
        run(&mut writer, 4000..synced);
        let position = writer.sync().unwrap();
        run(&mut writer, synced..synced + 5);
        drop(writer);
        let mut writer = TrackWriter::resume(&path, position);
        writer.begin(&plan).unwrap();
        run(&mut writer, synced..8200);
        writer.end(&ends).unwrap();
        assert_same(&complete, &path, &format!("{position:?}"));
        let tracks = Tracks::open(&path).unwrap();
        let read: Result<Vec<_>, _> = tracks.instances().unwrap().collect();
        assert_eq!((tracks.num_instances(), read.unwrap().len()), (Some(8199), 8199));
        assert_eq!(tracks.times()[8199], 0.25 * 8199.0);
    }
}

#[test]
fn only_the_same_run_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_of(5, 7, Precision::F32);
    let path = folder.path().join("tracks");
    let refused = |plan: &SavePlan, position: DurablePosition| {
        TrackWriter::resume(&path, position).begin(plan).unwrap_err().to_string()
    };
    let none = refused(&plan, DurablePosition { saves: 1, instances: 0, crossings: 0 });
    assert!(none.contains("there is no such folder"), "{none}");
    let position = stopped_run(&path, &plan, 3, 1);
    let before = tree(&path);
    let other = |change: fn(&mut SavePlan)| {
        let mut other = plan.clone();
        change(&mut other);
        refused(&other, position)
    };
    for (message, expected) in [
        (other(|plan| plan.particles = 6), "particles = 5, expected particles = 6"),
        (other(|plan| plan.saves = 8), "saves = 7, expected saves = 8"),
        (
            other(|plan| plan.precision = Precision::F64),
            "precision = f32, expected precision = f64",
        ),
        (other(|plan| plan.periods[2] = 3.0), "periods = [1.0, 0.0, 2.0], expected periods = [1.0"),
        (other(|plan| plan.velocity = false), "velocities = true, expected velocities = false"),
        (
            other(|plan| plan.reuses_slots = false),
            "re-used slots = true, expected re-used slots = false",
        ),
        (
            other(|plan| plan.arrays[1].components = 3),
            "sampled arrays = [T (1), Mean Stress (9)], expected sampled arrays = [T (1), Mean Stress (3)]",
        ),
    ] {
        assert!(message.contains("found the tracks of another run: "), "{message}");
        assert!(message.contains(expected), "{message}");
    }
    assert!(tree(&path) == before, "a refused store is unchanged");
    let far = refused(&plan, DurablePosition { saves: 6, ..position });
    assert!(far.contains("bytes, expected 48 bytes, which the run had synced"), "{far}");
}

#[test]
fn the_complete_saves_of_an_incomplete_store_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for (number, plan) in plans().iter().enumerate() {
        let path = folder.path().join(number.to_string());
        let mut writer = TrackWriter::new(&path);
        writer.begin(plan).unwrap();
        assert_eq!(Tracks::open_partial(&path).unwrap().num_saves(), 0);
        write_saves(&mut writer, plan, 0..1, plan.particles);
        let position = writer.sync().unwrap();
        // A half-written save does not count.
        writer.save(block(plan, 1, 0..plan.particles / 2)).unwrap();
        drop(writer);
        let tracks = Tracks::open_partial(&path).unwrap();
        assert!(!tracks.is_complete());
        assert_eq!((tracks.times(), tracks.num_planned_saves()), (&[0.0][..], plan.saves));
        let instances = tracks.instances().unwrap().map(Result::unwrap).count() as u64;
        assert_eq!((instances, tracks.num_instances()), (position.instances, Some(3)));
        assert_eq!(tracks.position(0).unwrap().len(), plan.particles);
        assert_eq!(tracks.track(plan.particles - 1).unwrap().position.len(), 1);
        assert!(tracks.position(1).unwrap_err().to_string().contains("no save 1"));
        let ends = tracks.ends().unwrap_err().to_string();
        assert!(ends.contains("no ends of particles; they are stored when the run ends"), "{ends}");
    }
}

#[test]
fn a_run_is_not_durable_within_a_save() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_of(5, 7, Precision::F32);
    let mut writer = TrackWriter::new(folder.path());
    writer.begin(&plan).unwrap();
    write_saves(&mut writer, &plan, 0..1, 5);
    writer.save(block(&plan, 1, 0..2)).unwrap();
    let message = writer.sync().unwrap_err().to_string();
    assert!(message.contains("only 2 of its 5 particles were saved"), "{message}");
    writer.save(block(&plan, 1, 2..5)).unwrap();
    assert_eq!(writer.sync().unwrap().saves, 2);
}

#[test]
fn padding_of_chunks_does_not_count_as_saves_or_instances() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_of(5, 7, Precision::F32);
    let path = folder.path().join("tracks");
    let mut writer = TrackWriter::new(&path);
    writer.begin(&plan).unwrap();
    write_saves(&mut writer, &plan, 0..4, 5);
    let position = writer.sync().unwrap();
    writer.end(&ends_of(&plan)).unwrap();
    let group = path.join("zarr.json");
    let text = std::fs::read_to_string(&group).unwrap();
    std::fs::write(&group, text.replace("\"complete\": 1", "\"complete\": 0")).unwrap();
    let tracks = Tracks::open_partial(&path).unwrap();
    assert_eq!(
        (tracks.num_saves(), tracks.num_instances()),
        (4, Some(position.instances as usize))
    );
    let complete = folder.path().join("complete");
    complete_run(&complete, &plan, 5);
    resume(&path, &plan, position);
    assert_same(&complete, &path, "a cancelled run that is resumed");
}

#[test]
fn a_stopped_run_is_overwritten_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_of(5, 7, Precision::F32);
    stopped_run(folder.path(), &plan, 2, 0);
    let refused = TrackWriter::new(folder.path()).begin(&plan).unwrap_err().to_string();
    assert!(refused.contains("already holds the tracks of a run"), "{refused}");
    // Nothing was synced: the run starts from its first save.
    resume(folder.path(), &plan, DurablePosition::default());
    assert_eq!(Tracks::open(folder.path()).unwrap().num_saves(), 7);
}

/// The values of a store as JSON, array by array; NaN is null.
fn values_of(tracks: &Tracks) -> serde_json::Value {
    let saves = 0..tracks.num_saves();
    let codes = |all: Vec<Status>| all.into_iter().map(Status::code).collect::<Vec<_>>();
    let ends = tracks.ends().unwrap();
    let face = |of: fn(MeshFace) -> i64| {
        ends.mesh_face.iter().map(|face| face.map_or(-1, of)).collect::<Vec<_>>()
    };
    let obstacle = |which: &Option<usize>| which.map_or(-1, |which| which as i64);
    let mut values = serde_json::json!({
        "time": tracks.times(),
        "component": ["x", "y", "z"],
        "position": saves.clone().map(|save| tracks.position(save).unwrap()).collect::<Vec<_>>(),
        "status": saves.clone().map(|save| codes(tracks.status(save).unwrap())).collect::<Vec<_>>(),
        "image": saves.clone().map(|save| tracks.image(save).unwrap()).collect::<Vec<_>>(),
        "velocity": saves.clone().map(|save| tracks.velocity(save).unwrap()).collect::<Vec<_>>(),
        "release_position": tracks.release_positions(0..tracks.num_particles()).unwrap(),
        "release_time": ends.release_time,
        "end_time": ends.end_time,
        "end_status": codes(ends.status.clone()),
    });
    for array in tracks.arrays() {
        let of_save = |save| tracks.array(&array.name, save).unwrap();
        let rows = |save| -> serde_json::Value {
            match array.components {
                1 => of_save(save).into(),
                width => of_save(save).chunks(width).map(|row| row.to_vec()).collect(),
            }
        };
        values[&array.name] = saves.clone().map(rows).collect();
    }
    if !ends.mesh_face.is_empty() {
        values["mesh_cell"] = face(|face| face.cell as i64).into();
        values["mesh_face"] = face(|face| face.face as i64).into();
    }
    if !ends.obstacle.is_empty() {
        values["obstacle"] = ends.obstacle.iter().map(obstacle).collect();
    }
    if let Some(instances) = tracks.instances() {
        let all: Vec<ParticleInstance> = instances.map(Result::unwrap).collect();
        let column = |of: fn(&ParticleInstance) -> serde_json::Value| -> serde_json::Value {
            all.iter().map(of).collect()
        };
        let generations = saves.map(|save| tracks.generation(save).unwrap());
        values["generation"] = serde_json::json!(generations.collect::<Vec<_>>());
        values["end_generation"] = serde_json::json!(ends.generation);
        values["instance_slot"] = column(|of| of.slot.into());
        values["instance_generation"] = column(|of| of.generation.into());
        values["instance_status"] = column(|of| of.status.code().into());
        values["instance_release_time"] = column(|of| of.release_time.into());
        values["instance_end_time"] = column(|of| of.end_time.into());
        values["instance_release_position"] = column(|of| serde_json::json!(of.release_position));
        values["instance_end_position"] = column(|of| serde_json::json!(of.end_position));
    }
    values
}

/// Writes the stores that `tests/peers/tracks.py` reads, and the values it expects in them.
pub fn write_stores_for_peers(folder: &Path) {
    let plan = SavePlan {
        arrays: sampled_arrays(),
        ..support::plan(Precision::F32, true, [1.0, 0.0, 0.0])
    };
    let units = Units { length: "mm".into(), time: "hours".into(), ..Units::default() };
    let mut writer = TrackWriter::new(folder.join("plain")).overwrite(true).units(units);
    writer.begin(&plan).unwrap();
    for index in 0..5 {
        let arrays = block(&plan, index, 0..3).arrays;
        writer.save(Save { arrays, ..support::save(&plan, index) }).unwrap();
    }
    let ends = Ends {
        mesh_face: vec![None, Some(MeshFace { cell: 70_000, face: 5 }), None],
        obstacle: vec![None, Some(0), Some(3)],
        patch: Vec::new(),
        condition: Vec::new(),
        ..support::ends()
    };
    writer.end(&ends).unwrap();
    instances::store(&folder.join("lives"));
    let plan = plan_of(5, 7, Precision::F64);
    let unfinished = folder.join("unfinished");
    let _ = std::fs::remove_dir_all(&unfinished);
    stopped_run(&unfinished, &plan, 3, 1);
    for name in ["plain", "lives"] {
        let values = values_of(&Tracks::open(folder.join(name)).unwrap());
        std::fs::write(folder.join(format!("{name}.json")), values.to_string()).unwrap();
    }
}

/// A small file system; only root can mount one.
#[cfg(target_os = "linux")]
struct SmallDisk(tempfile::TempDir);

#[cfg(target_os = "linux")]
impl SmallDisk {
    fn mount(options: &str, folder: &Path) -> bool {
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder);
        mount.stderr(std::process::Stdio::null()).status().is_ok_and(|status| status.success())
    }

    fn new(size: &str) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        SmallDisk::mount(&format!("size={size}"), folder.path()).then(|| SmallDisk(folder))
    }

    fn grow(&self, size: &str) {
        assert!(SmallDisk::mount(&format!("remount,size={size}"), self.0.path()));
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.0.path()).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_is_resumed_after_a_full_disk() {
    let Some(disk) = SmallDisk::new("24m") else {
        println!("skipped: only root can mount a small file system");
        return;
    };
    // The first chunks have 13 saves, and 17 MB.
    let plan = SavePlan { arrays: Vec::new(), ..plan_of(20_000, 20, Precision::F64) };
    let path = disk.0.path().join("tracks");
    let mut writer = TrackWriter::new(&path);
    writer.begin(&plan).unwrap();
    write_saves(&mut writer, &plan, 0..2, plan.particles);
    let position = writer.sync().unwrap();
    let refused = (2..20).find_map(|save| writer.save(block(&plan, save, 0..20_000)).err());
    let refused = refused.or_else(|| writer.end(&ends_of(&plan)).err()).unwrap().to_string();
    assert!(refused.contains("c.1.0") && refused.contains("`: no space left for "), "{refused}");
    assert!(refused.contains(" bytes are available on its file system"), "{refused}");
    assert!(refused.contains("free some space"), "{refused}");
    drop(writer);
    assert!(Tracks::open_partial(&path).unwrap().num_saves() >= 2);
    disk.grow("64m");
    resume(&path, &plan, position);
    let folder = tempfile::tempdir().unwrap();
    complete_run(folder.path(), &plan, 20_000);
    assert_same(folder.path(), &path, "a run after a full disk");
}
