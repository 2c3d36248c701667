//! Runs that are killed and resumed from their last checkpoint.

use crate::checksums::assert_zarr_shapes;
use crate::store::{assert_same, ends_of, plan_of, write_saves};
use burntrace_core::{DurablePosition, Precision, SavePlan, TrackSink};
use burntrace_io::{Checkpoint, CheckpointWriter, TrackWriter};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Names the folder of the test [`run_that_is_killed`].
const FOLDER: &str = "BURNTRACE_TEST_FOLDER";

/// Few particles with several saves in a chunk, and many particles.
fn plans() -> [SavePlan; 2] {
    [plan_of(700, 60, Precision::F64), plan_of(140_000, 6, Precision::F32)]
}

/// The run, in a separate process: resumes from its checkpoint, and writes one every few saves.
#[test]
#[ignore = "started and killed by another test"]
fn run_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let path = folder.join("checkpoint.bin");
    let (number, position): (usize, DurablePosition) =
        Checkpoint::read(&path).unwrap().meta().unwrap();
    let plan = &plans()[number];
    let every = plan.saves / 6;
    let mut writer = TrackWriter::resume(folder.join("tracks"), position);
    writer.begin(plan).unwrap();
    for index in position.saves as usize..plan.saves {
        write_saves(&mut writer, plan, index..index + 1, plan.particles / 2);
        if (index + 1) % every == 0 {
            let position = writer.sync().unwrap();
            CheckpointWriter::new(&(number, position)).unwrap().write(&path).unwrap();
        }
    }
    writer.end(&ends_of(plan)).unwrap();
}

/// A folder with only a checkpoint before the first save.
fn new_run(number: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = CheckpointWriter::new(&(number, DurablePosition::default())).unwrap();
    checkpoint.write(&folder.path().join("checkpoint.bin")).unwrap();
    folder
}

/// Starts a process that resumes the run in a folder.
fn spawn_resumed(folder: &Path) -> Child {
    let mut run = Command::new(std::env::current_exe().unwrap());
    run.args(["--ignored", "--exact", "killed::run_that_is_killed"]);
    run.env(FOLDER, folder).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_repeatedly_killed_run_gives_the_same_bytes() {
    for (number, plan) in plans().iter().enumerate() {
        let reference = new_run(number);
        let start = Instant::now();
        assert!(spawn_resumed(reference.path()).wait().unwrap().success());
        let time = start.elapsed();
        let complete = reference.path().join("tracks");
        let (mut folder, mut positions) = (new_run(number), Vec::new());
        for attempt in 0..[50, 15][number] {
            let mut run = spawn_resumed(folder.path());
            // Evenly distributed over the time of the run.
            std::thread::sleep(time.mul_f64((0.618 * f64::from(attempt)).fract()));
            run.kill().unwrap();
            let ended = run.wait().unwrap();
            // The exit code of a failed test.
            assert!(ended.code() != Some(101), "attempt {attempt}");
            // The lengths of arrays change one after the other once the run is ending.
            let tracks = folder.path().join("tracks");
            let group = std::fs::read_to_string(tracks.join("zarr.json")).unwrap_or_default();
            if group.contains("\"saves\": 0") || group.contains("\"complete\": 1") {
                assert_zarr_shapes(&tracks);
            }
            let read = Checkpoint::read(folder.path().join("checkpoint.bin")).unwrap();
            let (_, position) = read.meta::<(usize, DurablePosition)>().unwrap();
            if ended.success() {
                let what = format!("after {positions:?}");
                assert_same(&complete, &folder.path().join("tracks"), &what);
                folder = new_run(number);
            } else {
                positions.push(position.saves);
            }
        }
        assert!(spawn_resumed(folder.path()).wait().unwrap().success());
        assert_same(&complete, &folder.path().join("tracks"), &format!("after {positions:?}"));
        println!("{} particles: killed after {positions:?} durable saves", plan.particles);
        assert!(positions.iter().any(|saves| *saves > 0));
    }
}
