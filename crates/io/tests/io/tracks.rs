use crate::support::{ends, plan, run, save};
use burntrace_core::{Ends, Face, MeshFace, Precision, Status, TrackSink};
use burntrace_io::TrackWriter;
use burntrace_io::tracks::Tracks;
use std::path::Path;

const PERIODIC: [f64; 3] = [1.0, 0.0, 0.0];

fn error(folder: &Path) -> String {
    Tracks::open(folder).unwrap_err().to_string()
}

#[test]
fn a_run_comes_back() {
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
fn what_was_not_asked_for_is_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &plan(Precision::F32, false, [0.0; 3]), 5);
    let tracks = Tracks::open(folder.path()).unwrap();
    assert_eq!((tracks.image(0).unwrap(), tracks.velocity(0).unwrap()), (None, None));
    assert!(!folder.path().join("image.npy").exists());
    assert_eq!(tracks.unwrapped(2).unwrap(), tracks.position(2).unwrap());
}

#[test]
fn where_particles_left_the_mesh_or_met_an_obstacle_comes_back() {
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
    let manifest = std::fs::read_to_string(folder.path().join("tracks.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    for array in ["mesh_cell", "mesh_face", "obstacle"] {
        assert!(manifest["arrays"].as_array().unwrap().contains(&array.into()), "{manifest}");
    }
    let few = Ends { mesh_face: vec![None], ..left };
    let message = write(&few).unwrap_err().to_string();
    assert!(message.contains("the ends are those of 1 particles, not 3"), "{message}");
    // A run without a mesh and obstacles in the same place leaves none of it.
    write(&ends()).unwrap();
    let read = Tracks::open(folder.path()).unwrap().ends().unwrap();
    assert!(read.mesh_face.is_empty() && read.obstacle.is_empty());
    for array in ["mesh_cell.npy", "obstacle.npy"] {
        assert!(!folder.path().join(array).exists());
    }
}

#[test]
fn a_cancelled_run_has_the_saves_it_made() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &plan(Precision::F32, true, PERIODIC), 2);
    let tracks = Tracks::open(folder.path()).unwrap();
    assert_eq!((tracks.num_saves(), tracks.num_planned_saves()), (2, 5));
    assert_eq!(tracks.track(0).unwrap().position.len(), 2);
    let header = std::fs::read(folder.path().join("position.npy")).unwrap();
    assert!(String::from_utf8_lossy(&header[..128]).contains("(2, 3, 3, )"));
}

#[test]
fn a_run_that_has_not_ended_is_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(Precision::F32, false, [0.0; 3]);
    let mut writer = TrackWriter::new(folder.path());
    assert!(writer.save(save(&plan, 0)).unwrap_err().to_string().contains("not begun"));
    writer.begin(&plan).unwrap();
    writer.save(save(&plan, 0)).unwrap();
    drop(writer);
    assert!(error(folder.path()).contains("still going on, or was killed"));
    assert!(error(&folder.path().join("none")).contains("no such folder"));
}

#[test]
fn damaged_stores_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &plan(Precision::F32, false, [0.0; 3]), 5);
    let damage = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let path = folder.path().join(name);
        let whole = std::fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        change(&mut bytes);
        std::fs::write(&path, bytes).unwrap();
        let result = Tracks::open(folder.path()).and_then(|tracks| tracks.status(0));
        std::fs::write(&path, whole).unwrap();
        result.unwrap_err().to_string()
    };
    let cut = damage("position.npy", &|bytes| bytes.truncate(300));
    assert!(cut.contains("position.npy`: found 300 bytes, expected 372"), "{cut}");
    let longer = damage("status.npy", &|bytes| bytes.push(0));
    assert!(longer.contains("found 208 bytes, expected 207"), "{longer}");
    let code = damage("status.npy", &|bytes| bytes[192] = 77);
    assert!(code.contains("status code 77"), "{code}");
    let other = damage("end_time.npy", &|bytes| bytes[25] = b'4');
    assert!(other.contains("end_time.npy`: found an array of type"), "{other}");
    let foreign = damage("tracks.json", &|bytes| *bytes = b"{\"a\": 1}".to_vec());
    assert!(foreign.contains("expected the description of a store"), "{foreign}");
    std::fs::remove_file(folder.path().join("time.npy")).unwrap();
    assert!(error(folder.path()).contains("cannot open `"));
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
    // Until the new run has ended, the former one is there.
    assert_eq!(Tracks::open(folder.path()).unwrap().num_saves(), 5);
    writer.end(&ends()).unwrap();
    let tracks = Tracks::open(folder.path()).unwrap();
    assert_eq!((tracks.num_saves(), tracks.precision()), (1, Precision::F64));
    assert!(!folder.path().join("velocity.npy").exists());
}

#[test]
fn saves_that_break_their_word_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let promised = plan(Precision::F32, true, [0.0; 3]);
    let mut writer = TrackWriter::new(folder.path());
    writer.begin(&promised).unwrap();
    let lacking = save(&plan(Precision::F32, false, [0.0; 3]), 0);
    assert!(writer.save(lacking).unwrap_err().to_string().contains("no velocities"));
    writer.begin(&promised).unwrap();
    let message = writer.end(&Ends::default()).unwrap_err().to_string();
    assert!(message.contains("the ends are those of 0 particles, not 3"), "{message}");
    let mut more = promised;
    more.particles = 4;
    writer.begin(&more).unwrap();
    let message = writer.save(save(&more, 0)).unwrap_err().to_string();
    assert!(message.contains("9 numbers where 12 were announced"), "{message}");
}
