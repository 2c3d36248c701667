use crate::support::{ends, plan, run, save};
use burntrace_core::{Ends, Face, MeshFace, Precision, Save, Status, TrackSink};
use burntrace_io::TrackWriter;
use burntrace_io::tracks::Tracks;
use std::path::Path;

const PERIODIC: [f64; 3] = [1.0, 0.0, 0.0];

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn error(folder: &Path) -> String {
    Tracks::open(folder).unwrap_err().to_string()
}

#[test]
fn a_run_is_read_as_written() {
    for precision in [Precision::F32, Precision::F64] {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), &plan(precision, true, PERIODIC), 5);
        let tracks = Tracks::open(folder.path()).unwrap();
        assert_eq!(tracks.times(), [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!((tracks.num_saves(), tracks.num_particles()), (5, 3));
        assert_eq!((tracks.precision(), tracks.periods()), (precision, PERIODIC));
        let round = |x: f64| if precision == Precision::F32 { f64::from(x as f32) } else { x };
        assert_eq!(tracks.position(1).unwrap()[1], [0.5, 0.5, round(0.1)]);
        assert_eq!(tracks.status(3).unwrap()[2], Status::Exited(Face::YHigh));
        assert_eq!(tracks.image(2).unwrap().unwrap()[0], [1, 0, 0]);
        assert_eq!(tracks.velocity(0).unwrap().unwrap()[2], [0.0, round(1.0 / 3.0), 0.0]);
        assert_eq!(tracks.unwrapped(4).unwrap()[0][0], 2.25);
        let read = tracks.ends().unwrap();
        assert_eq!((&read.status, &read.release_time), (&ends().status, &ends().release_time));
        assert!(read.end_time[0].is_nan() && read.end_time[2] == 1.25);
        let track = tracks.track(0).unwrap();
        let x: Vec<f64> = track.unwrapped(tracks.periods()).iter().map(|p| p[0]).collect();
        assert_eq!(x, [0.25, 0.75, 1.25, 1.75, 2.25]);
        assert_eq!(track.velocity.unwrap().len(), 5);
        assert_eq!(tracks.track(1).unwrap().status[..2], [Status::Waiting; 2]);
        assert!(tracks.position(5).unwrap_err().to_string().contains("no save 5"));
        assert!(tracks.track(3).unwrap_err().to_string().contains("no particle 3"));
        let left = std::fs::read_dir(folder.path()).unwrap().flatten();
        assert!(left.into_iter().all(|file| !file.path().to_string_lossy().ends_with(".part")));
    }
}

#[test]
fn images_and_velocities_are_stored_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &plan(Precision::F32, false, [0.0; 3]), 5);
    let tracks = Tracks::open(folder.path()).unwrap();
    assert_eq!((tracks.image(0).unwrap(), tracks.velocity(0).unwrap()), (None, None));
    assert!(!folder.path().join("image").exists());
    assert_eq!(tracks.unwrapped(2).unwrap(), tracks.position(2).unwrap());
}

#[test]
fn mesh_faces_and_obstacles_of_ends_are_read_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(Precision::F32, false, [0.0; 3]);
    let left = Ends {
        status: vec![Status::Active, Status::LeftMesh, Status::NotLocated],
        mesh_face: vec![None, Some(MeshFace { cell: 70_000, face: 5 }), None],
        obstacle: vec![None, Some(0), Some(3)],
        ..ends()
    };
    let write = |ends: &Ends| {
        let mut writer = TrackWriter::new(folder.path()).overwrite(true);
        writer.begin(&plan).unwrap();
        writer.save(save(&plan, 0)).unwrap();
        writer.end(ends)
    };
    write(&left).unwrap();
    let read = Tracks::open(folder.path()).unwrap().ends().unwrap();
    assert_eq!((read.status, read.mesh_face), (left.status.clone(), left.mesh_face.clone()));
    assert_eq!(read.obstacle, left.obstacle);
    let group = json(&folder.path().join("zarr.json"));
    for array in ["mesh_cell", "mesh_face", "obstacle"] {
        let arrays = group["attributes"]["arrays"].as_array().unwrap();
        assert!(arrays.contains(&array.into()), "{group}");
    }
    let few = Ends { mesh_face: vec![None], ..left };
    let message = write(&few).unwrap_err().to_string();
    assert!(message.contains("the ends have 1 particles, the save plan has 3"), "{message}");
    // Overwriting with a run without mesh and obstacles removes these arrays.
    write(&ends()).unwrap();
    let read = Tracks::open(folder.path()).unwrap().ends().unwrap();
    assert!(read.mesh_face.is_empty() && read.obstacle.is_empty());
    for array in ["mesh_cell", "obstacle"] {
        assert!(!folder.path().join(array).exists());
    }
}

#[test]
fn a_cancelled_run_has_fewer_saves_than_planned() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &plan(Precision::F32, true, PERIODIC), 2);
    let tracks = Tracks::open(folder.path()).unwrap();
    assert_eq!((tracks.num_saves(), tracks.num_planned_saves()), (2, 5));
    assert_eq!(tracks.track(0).unwrap().position.len(), 2);
    let array = json(&folder.path().join("position/zarr.json"));
    assert_eq!(array["shape"], serde_json::json!([2, 3, 3]));
    // Its chunk has the size of the five planned saves, padded with NaN.
    let chunk = std::fs::read(folder.path().join("position/c.0.0.0")).unwrap();
    assert_eq!((chunk.len(), &chunk[72..76]), (5 * 36, f32::NAN.to_le_bytes().as_slice()));
}

#[test]
fn the_store_of_an_unfinished_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(Precision::F32, false, [0.0; 3]);
    let mut writer = TrackWriter::new(folder.path());
    assert!(writer.save(save(&plan, 0)).unwrap_err().to_string().contains("has not started"));
    writer.begin(&plan).unwrap();
    writer.save(save(&plan, 0)).unwrap();
    drop(writer);
    let message = error(folder.path());
    assert!(message.contains("in progress or was stopped: it has 1 of 5 saves"), "{message}");
    assert!(message.contains("`Tracks::open_partial`"), "{message}");
    assert!(error(&folder.path().join("none")).contains("no such folder"));
}

#[test]
fn damaged_stores_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &plan(Precision::F32, false, [0.0; 3]), 5);
    let damage = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let path = folder.path().join(name);
        let original = std::fs::read(&path).unwrap();
        let mut bytes = original.clone();
        change(&mut bytes);
        std::fs::write(&path, bytes).unwrap();
        let result = Tracks::open(folder.path()).and_then(|tracks| tracks.status(0));
        std::fs::write(&path, original).unwrap();
        result.unwrap_err().to_string()
    };
    let cut = damage("status/c.0.0", &|bytes| bytes.truncate(14));
    assert!(cut.contains("status/c.0.0`: found 14 bytes, expected 15 in this chunk"), "{cut}");
    let longer = damage("status/c.0.0", &|bytes| bytes.push(0));
    assert!(longer.contains("found 16 bytes, expected 15"), "{longer}");
    let code = damage("status/c.0.0", &|bytes| bytes[0] = 77);
    assert!(code.contains("status code 77"), "{code}");
    let other = damage("end_time/zarr.json", &|bytes| {
        *bytes = String::from_utf8_lossy(bytes).replace("float64", "int64").into();
    });
    assert!(other.contains("end_time/zarr.json`: found `data_type`: \"int64\""), "{other}");
    let text = damage("zarr.json", &|bytes| bytes.truncate(40));
    assert!(text.contains("zarr.json`: it is not the metadata of Zarr"), "{text}");
    let foreign = damage("zarr.json", &|bytes| *bytes = b"{\"attributes\": {\"a\": 1}}".to_vec());
    assert!(foreign.contains("expected the description of a store"), "{foreign}");
    std::fs::remove_file(folder.path().join("status/c.0.0")).unwrap();
    let gone = Tracks::open(folder.path()).unwrap().status(0).unwrap_err().to_string();
    assert!(gone.starts_with("cannot open `") && gone.contains("status/c.0.0"), "{gone}");
    std::fs::remove_dir_all(folder.path().join("time")).unwrap();
    assert!(error(folder.path()).contains("cannot read `"));
}

#[test]
fn tracks_are_overwritten_only_when_allowed() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &plan(Precision::F32, true, PERIODIC), 5);
    let plan = plan(Precision::F64, false, [0.0; 3]);
    let refused = TrackWriter::new(folder.path()).begin(&plan).unwrap_err().to_string();
    assert!(refused.contains("already holds the tracks of a run"), "{refused}");
    let mut writer = TrackWriter::new(folder.path()).overwrite(true);
    writer.begin(&plan).unwrap();
    writer.save(save(&plan, 0)).unwrap();
    assert!(error(folder.path()).contains("in progress or was stopped"));
    writer.end(&ends()).unwrap();
    let tracks = Tracks::open(folder.path()).unwrap();
    assert_eq!((tracks.num_saves(), tracks.precision()), (1, Precision::F64));
    assert!(!folder.path().join("velocity").exists());
}

#[test]
fn saves_that_contradict_the_plan_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let planned = plan(Precision::F32, true, [0.0; 3]);
    let mut writer = TrackWriter::new(folder.path());
    writer.begin(&planned).unwrap();
    let lacking = save(&plan(Precision::F32, false, [0.0; 3]), 0);
    assert!(writer.save(lacking).unwrap_err().to_string().contains("no velocities"));
    let message = writer.end(&Ends::default()).unwrap_err().to_string();
    assert!(message.contains("the ends have 0 particles, the save plan has 3"), "{message}");
    let mut more = planned.clone();
    more.particles = 4;
    let mut writer = TrackWriter::new(folder.path()).overwrite(true);
    writer.begin(&more).unwrap();
    writer.save(save(&more, 0)).unwrap();
    for message in [writer.sync().unwrap_err(), writer.end(&ends()).unwrap_err()] {
        assert!(message.to_string().contains("only 3 of its 4 particles were saved"), "{message}");
    }
    writer.begin(&more).unwrap();
    let lacking = Save { status: save(&more, 0).status.narrow(0, 0, 2), ..save(&more, 0) };
    let message = writer.save(lacking).unwrap_err().to_string();
    assert!(message.contains("2 numbers, expected 3 for 3 particles"), "{message}");
    writer.begin(&planned).unwrap();
    let early = Save { first: 1, ..save(&planned, 0) };
    for (wrong, what) in [(early, "particles 1 to 4"), (save(&planned, 1), "particles 0 to 3")] {
        let message = writer.save(wrong).unwrap_err().to_string();
        assert!(message.contains(what), "{message}");
        assert!(message.contains("expected a block of save 0 from particle 0 to 3"), "{message}");
    }
}
