//! Runs that are killed, and go on from their last checkpoint.

use crate::store::{assert_same, ends_of, feed, plan_of};
use burntrace_core::{DurablePosition, Precision, SavePlan, TrackSink};
use burntrace_io::{Checkpoint, CheckpointWriter, TrackWriter};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Says to the test [`run_that_is_killed`] where it runs.
const FOLDER: &str = "BURNTRACE_TEST_FOLDER";

/// Few particles with several saves in a chunk, and many.
fn plans() -> [SavePlan; 2] {
    [plan_of(700, 60, Precision::F64), plan_of(140_000, 6, Precision::F32)]
}

/// The run, in a process of its own: it goes on from its checkpoint, and makes one every few saves.
#[test]
#[ignore = "is run, and killed, by another test"]
fn run_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let path = folder.join("checkpoint.bin");
    let (number, mark): (usize, DurablePosition) = Checkpoint::read(&path).unwrap().meta().unwrap();
    let plan = &plans()[number];
    let every = plan.saves / 6;
    let mut writer = TrackWriter::resume(folder.join("tracks"), mark);
    writer.begin(plan).unwrap();
    for index in mark.saves as usize..plan.saves {
        feed(&mut writer, plan, index..index + 1, plan.particles / 2);
        if (index + 1) % every == 0 {
            let mark = writer.sync().unwrap();
            CheckpointWriter::new(&(number, mark)).unwrap().write(&path).unwrap();
        }
    }
    writer.end(&ends_of(plan)).unwrap();
}

/// A folder with nothing but a checkpoint of the very begin.
fn begun(number: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = CheckpointWriter::new(&(number, DurablePosition::default())).unwrap();
    checkpoint.write(&folder.path().join("checkpoint.bin")).unwrap();
    folder
}

/// Begins to go on with the run in a folder.
fn go_on(folder: &Path) -> Child {
    let mut run = Command::new(std::env::current_exe().unwrap());
    run.args(["--ignored", "--exact", "killed::run_that_is_killed"]);
    run.env(FOLDER, folder).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_with_the_same_bytes() {
    for (number, plan) in plans().iter().enumerate() {
        let alone = begun(number);
        let begin = Instant::now();
        assert!(go_on(alone.path()).wait().unwrap().success());
        let time = begin.elapsed();
        let whole = alone.path().join("tracks");
        let (mut folder, mut marks) = (begun(number), Vec::new());
        for moment in 0..[50, 15][number] {
            let mut run = go_on(folder.path());
            // Moments that are spread evenly, in any order.
            std::thread::sleep(time.mul_f64((0.618 * f64::from(moment)).fract()));
            run.kill().unwrap();
            let ended = run.wait().unwrap();
            // A test that fails ends with this code.
            assert!(ended.code() != Some(101), "moment {moment}");
            let read = Checkpoint::read(folder.path().join("checkpoint.bin")).unwrap();
            let (_, mark) = read.meta::<(usize, DurablePosition)>().unwrap();
            if ended.success() {
                assert_same(&whole, &folder.path().join("tracks"), &format!("after {marks:?}"));
                folder = begun(number);
            } else {
                marks.push(mark.saves);
            }
        }
        assert!(go_on(folder.path()).wait().unwrap().success());
        assert_same(&whole, &folder.path().join("tracks"), &format!("after {marks:?}"));
        println!("{} particles: killed when {marks:?} saves were secured", plan.particles);
        assert!(marks.iter().any(|saves| *saves > 0));
    }
}
