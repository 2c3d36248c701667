//! What a store on the disk is: the same bytes however it came about, and readable at any time.

use crate::{lives, support};
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_core::{
    DurablePosition, Ends, MeshFace, Precision, Save, SavePlan, Status, TrackSink,
};
use burntrace_io::{TrackWriter, Tracks};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// All files below a folder, by their paths in it.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
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

/// A run of so many particles with velocities and generations, in a periodic box.
pub fn plan_of(particles: usize, saves: usize, precision: Precision) -> SavePlan {
    SavePlan {
        particles,
        reuses_slots: true,
        saves,
        precision,
        velocity: true,
        periods: [1.0, 0.0, 2.0],
    }
}

/// Some particles of a save, every number of which is another one.
fn block(plan: &SavePlan, index: usize, rows: Range<usize>) -> Save {
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
    Save {
        index,
        time: 0.25 * index as f64,
        first: rows.start,
        position: floats(0),
        status: of_slots(codes),
        image: Tensor::from_data(TensorData::new(image, [n, 3]), (&device, DType::I32)),
        velocity: Some(floats(1)),
        generation: Some(of_slots(generations)),
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
        generation: vec![3; n],
    }
}

/// Gives the writer some saves in blocks of at most so many particles, and lives after each.
pub fn feed(writer: &mut TrackWriter, plan: &SavePlan, saves: Range<usize>, most: usize) {
    for index in saves {
        let mut first = 0;
        while first < plan.particles {
            let end = (first + most).min(plan.particles);
            writer.save(block(plan, index, first..end)).unwrap();
            first = end;
        }
        writer.instances(&lives::lives()[index % 3]).unwrap();
    }
}

pub fn whole_run(folder: &Path, plan: &SavePlan, most: usize) {
    let mut writer = TrackWriter::new(folder);
    writer.begin(plan).unwrap();
    feed(&mut writer, plan, 0..plan.saves, most);
    writer.end(&ends_of(plan)).unwrap();
    assert!(writer.bytes_written() > 0 && writer.wait_seconds() >= 0.0);
}

/// Chunks of several saves, and of some of the particles of one.
pub fn plans() -> [SavePlan; 3] {
    [
        plan_of(5, 7, Precision::F64),
        plan_of(100_000, 3, Precision::F32),
        plan_of(270_000, 2, Precision::F32),
    ]
}

#[test]
fn blocks_of_any_size_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for (number, plan) in plans().iter().enumerate() {
        let path = |most: usize| folder.path().join(format!("{number}-{most}"));
        let n = plan.particles;
        whole_run(&path(n), plan, n);
        for most in [n / 2 + 1, n / 3 + 1, n / 5] {
            whole_run(&path(most), plan, most);
            assert_same(&path(n), &path(most), &format!("{n} particles in blocks of {most}"));
        }
    }
}

#[test]
fn what_is_read_is_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    for (number, plan) in plans().iter().enumerate() {
        let path = folder.path().join(number.to_string());
        whole_run(&path, plan, plan.particles / 3);
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
            let velocity = tracks.velocity(index).unwrap().unwrap();
            assert!(velocity.as_flattened() == floats(save.velocity.unwrap()));
            let image = save.image.into_data().convert::<i32>().try_to_vec::<i32>().unwrap();
            assert!(tracks.image(index).unwrap().unwrap().as_flattened() == image);
            for particle in [0, n / 2, n - 1] {
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

/// Leaves behind what a program that was killed may leave.
fn spoil(folder: &Path) {
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

/// A run that is secured after some saves, goes on for some more and is killed; then resumed.
pub fn stopped_run(folder: &Path, plan: &SavePlan, secured: usize, more: usize) -> DurablePosition {
    let mut writer = TrackWriter::new(folder);
    writer.begin(plan).unwrap();
    feed(&mut writer, plan, 0..secured, plan.particles);
    let mark = writer.sync().unwrap();
    feed(&mut writer, plan, secured..secured + more, plan.particles / 2);
    drop(writer);
    mark
}

fn resumed(folder: &Path, plan: &SavePlan, mark: DurablePosition) {
    let mut writer = TrackWriter::resume(folder, mark);
    writer.begin(plan).unwrap();
    feed(&mut writer, plan, mark.saves as usize..plan.saves, plan.particles / 3 + 1);
    writer.end(&ends_of(plan)).unwrap();
}

#[test]
fn a_run_that_is_resumed_ends_with_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for (number, plan) in plans().iter().enumerate() {
        let whole = folder.path().join(format!("{number}"));
        whole_run(&whole, plan, plan.particles);
        for secured in 0..=plan.saves {
            let path = folder.path().join(format!("{number}-{secured}"));
            let mark = stopped_run(&path, plan, secured, (plan.saves - secured).min(2));
            assert_eq!(mark.saves, secured as u64);
            spoil(&path);
            resumed(&path, plan, mark);
            assert_same(&whole, &path, &format!("{} particles, {mark:?}", plan.particles));
            // It may have been killed between its end and the end of its checkpoint.
            resumed(&path, plan, mark);
            assert_same(&whole, &path, &format!("{} particles, {mark:?} again", plan.particles));
        }
    }
}

#[test]
fn lists_of_many_chunks_are_resumed() {
    let plan = SavePlan {
        particles: 3,
        reuses_slots: true,
        saves: 8200,
        precision: Precision::F32,
        velocity: false,
        periods: [0.0; 3],
    };
    let ends = Ends { mesh_face: Vec::new(), obstacle: Vec::new(), ..ends_of(&plan) };
    let folder = tempfile::tempdir().unwrap();
    let lives = lives::lives().concat();
    let run = |writer: &mut TrackWriter, saves: Range<usize>| {
        for index in saves {
            writer.save(block(&plan, index, 0..3)).unwrap();
            writer.instances(&lives[..index % 3]).unwrap();
        }
    };
    let whole = folder.path().join("whole");
    let mut writer = TrackWriter::new(&whole);
    writer.begin(&plan).unwrap();
    run(&mut writer, 0..8200);
    writer.end(&ends).unwrap();
    for secured in [8191, 8192, 8193] {
        let path = folder.path().join(secured.to_string());
        let mut writer = TrackWriter::new(&path);
        writer.begin(&plan).unwrap();
        run(&mut writer, 0..4000);
        assert_eq!(writer.sync().unwrap(), DurablePosition { saves: 4000, instances: 3999 });
        run(&mut writer, 4000..secured);
        let mark = writer.sync().unwrap();
        run(&mut writer, secured..secured + 5);
        drop(writer);
        let mut writer = TrackWriter::resume(&path, mark);
        writer.begin(&plan).unwrap();
        run(&mut writer, secured..8200);
        writer.end(&ends).unwrap();
        assert_same(&whole, &path, &format!("{mark:?}"));
        let tracks = Tracks::open(&path).unwrap();
        let read: Result<Vec<_>, _> = tracks.instances().unwrap().collect();
        assert_eq!((tracks.num_lives(), read.unwrap().len()), (Some(8199), 8199));
        assert_eq!(tracks.times()[8199], 0.25 * 8199.0);
    }
}

#[test]
fn only_the_same_run_can_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_of(5, 7, Precision::F32);
    let path = folder.path().join("tracks");
    let begin = |plan: &SavePlan, mark: DurablePosition| {
        TrackWriter::resume(&path, mark).begin(plan).unwrap_err().to_string()
    };
    let none = begin(&plan, DurablePosition { saves: 1, instances: 0 });
    assert!(none.contains("there is no such folder"), "{none}");
    let mark = stopped_run(&path, &plan, 3, 1);
    let before = tree(&path);
    let other = |change: fn(&mut SavePlan)| {
        let mut other = plan.clone();
        change(&mut other);
        begin(&other, mark)
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
        (other(|plan| plan.reuses_slots = false), "lives = true, expected lives = false"),
    ] {
        assert!(message.contains("found the tracks of another run: "), "{message}");
        assert!(message.contains(expected), "{message}");
    }
    assert!(tree(&path) == before, "a store that is refused is left as it was");
    let far = begin(&plan, DurablePosition { saves: 6, ..mark });
    assert!(far.contains("bytes, expected 48, of what the run had secured"), "{far}");
    let numpy = TrackWriter::resume(support::data("tracks-npy/plain"), mark).begin(&plan);
    let numpy = numpy.unwrap_err().to_string();
    assert!(numpy.contains("found a store of NumPy files (`tracks.json`)"), "{numpy}");
}

#[test]
fn what_a_run_has_so_far_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    for (number, plan) in plans().iter().enumerate() {
        let path = folder.path().join(number.to_string());
        let mut writer = TrackWriter::new(&path);
        writer.begin(plan).unwrap();
        assert_eq!(Tracks::open_partial(&path).unwrap().num_saves(), 0);
        feed(&mut writer, plan, 0..1, plan.particles);
        let mark = writer.sync().unwrap();
        // Half of a save is none.
        writer.save(block(plan, 1, 0..plan.particles / 2)).unwrap();
        drop(writer);
        let tracks = Tracks::open_partial(&path).unwrap();
        assert!(!tracks.is_complete());
        assert_eq!((tracks.times(), tracks.num_planned_saves()), (&[0.0][..], plan.saves));
        let lives = tracks.instances().unwrap().map(Result::unwrap).count() as u64;
        assert_eq!((lives, tracks.num_lives()), (mark.instances, Some(3)));
        assert_eq!(tracks.position(0).unwrap().len(), plan.particles);
        assert_eq!(tracks.track(plan.particles - 1).unwrap().position.len(), 1);
        assert!(tracks.position(1).unwrap_err().to_string().contains("no save 1"));
        let ends = tracks.ends().unwrap_err().to_string();
        assert!(ends.contains("no ends of particles; they are stored when the run ends"), "{ends}");
    }
}

/// What fills chunks up at the end is not taken for saves and lives.
#[test]
fn a_run_that_was_killed_at_its_very_end_has_no_saves_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_of(5, 7, Precision::F32);
    let path = folder.path().join("tracks");
    let mut writer = TrackWriter::new(&path);
    writer.begin(&plan).unwrap();
    feed(&mut writer, &plan, 0..4, 5);
    let mark = writer.sync().unwrap();
    writer.end(&ends_of(&plan)).unwrap();
    let group = path.join("zarr.json");
    let text = std::fs::read_to_string(&group).unwrap();
    std::fs::write(&group, text.replace("\"complete\": true", "\"complete\": false")).unwrap();
    let tracks = Tracks::open_partial(&path).unwrap();
    assert_eq!((tracks.num_saves(), tracks.num_lives()), (4, Some(mark.instances as usize)));
    let whole = folder.path().join("whole");
    whole_run(&whole, &plan, 5);
    resumed(&path, &plan, mark);
    assert_same(&whole, &path, "a run that was cancelled, and goes on");
}

#[test]
fn a_stopped_run_is_not_overwritten_by_accident() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_of(5, 7, Precision::F32);
    stopped_run(folder.path(), &plan, 2, 0);
    let refused = TrackWriter::new(folder.path()).begin(&plan).unwrap_err().to_string();
    assert!(refused.contains("already holds the tracks of a run"), "{refused}");
    // Nothing was secured: the run begins anew.
    resumed(folder.path(), &plan, DurablePosition::default());
    assert_eq!(Tracks::open(folder.path()).unwrap().num_saves(), 7);
}

#[test]
fn a_store_of_numpy_files_is_read() {
    let path = support::data("tracks-npy/plain");
    let old = Tracks::open(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let plan = support::plan(Precision::F32, true, [1.0, 0.0, 0.0]);
    runs_of_old(folder.path());
    let new = Tracks::open(folder.path().join("plain")).unwrap();
    let all = |tracks: &Tracks| {
        let saves: Vec<_> = (0..5)
            .map(|save| {
                let images = tracks.image(save).unwrap();
                (tracks.position(save).unwrap(), tracks.status(save).unwrap(), images)
            })
            .collect();
        let velocity: Vec<_> = (0..5).map(|save| tracks.velocity(save).unwrap()).collect();
        let ways: Vec<_> = (0..3).map(|particle| tracks.track(particle).unwrap()).collect();
        let some = tracks.position_range(3, 1..3).unwrap();
        format!("{:?} {saves:?} {velocity:?} {ways:?} {some:?}", tracks.times())
    };
    assert_eq!(all(&old), all(&new));
    assert_eq!((old.precision(), old.periods()), (new.precision(), new.periods()));
    let ends = |tracks: &Tracks| format!("{:?}", tracks.ends().unwrap());
    assert_eq!(ends(&old), ends(&new));
    assert!(ends(&old).contains("[None, Some(MeshFace { cell: 70000, face: 5 }), None]"));
    assert!(old.is_complete() && Tracks::open_partial(&path).unwrap().is_complete());
    // A former version's store is overwritten as any other.
    let there = folder.path().join("old");
    std::fs::create_dir(&there).unwrap();
    for (name, bytes) in tree(&path) {
        std::fs::write(there.join(name), bytes).unwrap();
    }
    let refused = TrackWriter::new(&there).begin(&plan).unwrap_err().to_string();
    assert!(refused.contains("already holds the tracks"), "{refused}");
    std::fs::remove_file(there.join("end_time.npy")).unwrap();
    let message = Tracks::open(&there).unwrap_err().to_string();
    assert!(message.contains("end_time.npy"), "{message}");
    TrackWriter::new(&there).overwrite(true).begin(&plan).unwrap();
    assert!(tree(&there).keys().all(|name| !name.ends_with(".npy")));
    // One that was being written can be told apart.
    std::fs::remove_dir_all(&there).unwrap();
    std::fs::create_dir(&there).unwrap();
    std::fs::write(there.join("position.npy.part"), b"").unwrap();
    let message = Tracks::open(&there).unwrap_err().to_string();
    assert!(message.contains("its files end in `.part`: an earlier version"), "{message}");
}

/// The runs whose NumPy files are in the tests' data.
fn runs_of_old(folder: &Path) {
    let plan = support::plan(Precision::F32, true, [1.0, 0.0, 0.0]);
    let mut writer = TrackWriter::new(folder.join("plain")).overwrite(true);
    writer.begin(&plan).unwrap();
    (0..5).for_each(|index| writer.save(support::save(&plan, index)).unwrap());
    let ends = Ends {
        mesh_face: vec![None, Some(MeshFace { cell: 70_000, face: 5 }), None],
        obstacle: vec![None, Some(0), Some(3)],
        ..support::ends()
    };
    writer.end(&ends).unwrap();
    lives::store(&folder.join("lives"));
}

/// Writes what `tests/peers/tracks.py` reads:
/// `cargo test --release --workspace --test io -- --ignored store_for_peers`.
#[test]
#[ignore = "writes stores for others to read"]
fn store_for_peers() {
    runs_of_old(&std::env::temp_dir().join("burntrace-tracks"));
}

/// A file system of its own, of a size that is given; none where that is not allowed.
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
fn a_full_disk_is_no_end() {
    let Some(disk) = SmallDisk::new("8m") else {
        println!("skipped: only root may make a small file system");
        return;
    };
    let plan = plan_of(20_000, 10, Precision::F64);
    let path = disk.0.path().join("tracks");
    let mut writer = TrackWriter::new(&path);
    writer.begin(&plan).unwrap();
    feed(&mut writer, &plan, 0..2, plan.particles);
    let mark = writer.sync().unwrap();
    let refused = (2..10).find_map(|save| writer.save(block(&plan, save, 0..20_000)).err());
    let refused = refused.or_else(|| writer.end(&ends_of(&plan)).err()).unwrap().to_string();
    assert!(refused.contains("c.0.0") && refused.contains("`: no room for "), "{refused}");
    assert!(refused.contains(" bytes, ") && refused.contains(" are left on"), "{refused}");
    assert!(refused.contains("the run can be resumed once there is room"), "{refused}");
    drop(writer);
    assert!(Tracks::open_partial(&path).unwrap().num_saves() >= 2);
    disk.grow("64m");
    resumed(&path, &plan, mark);
    let folder = tempfile::tempdir().unwrap();
    whole_run(folder.path(), &plan, 20_000);
    assert_same(folder.path(), &path, "a run whose disk was full");
}
