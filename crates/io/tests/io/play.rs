//! Stores that are played into sinks.

use crate::store::{assert_same, plans, stopped_run, whole_run};
use crate::support::{self, data};
use burntrace_core::{Ends, ParticleInstance, Precision, Save, SavePlan, SinkError, TrackSink};
use burntrace_io::{Error, TrackWriter, Tracks};
use std::path::Path;

/// Writes down what it is told.
#[derive(Default)]
struct Recorder {
    plan: Option<SavePlan>,
    /// Number, time, first particle and particles of each block.
    blocks: Vec<(usize, f64, usize, usize)>,
    /// After how many blocks each life came.
    lives: Vec<(usize, ParticleInstance)>,
    ends: Option<Ends>,
    fails: bool,
}

impl TrackSink for Recorder {
    fn begin(&mut self, plan: &SavePlan) -> Result<(), SinkError> {
        self.plan = Some(plan.clone());
        Ok(())
    }

    fn save(&mut self, save: Save) -> Result<(), SinkError> {
        if self.fails {
            return Err("there is no room".into());
        }
        let [count, _] = save.position.dims();
        assert_eq!(save.status.dims(), [count]);
        self.blocks.push((save.index, save.time, save.first, count));
        Ok(())
    }

    fn instances(&mut self, instances: &[ParticleInstance]) -> Result<(), SinkError> {
        self.lives.extend(instances.iter().map(|life| (self.blocks.len(), *life)));
        Ok(())
    }

    fn end(&mut self, ends: &Ends) -> Result<(), SinkError> {
        self.ends = Some(ends.clone());
        Ok(())
    }
}

/// What is played into a store is that store, byte by byte: of both precisions, with lives, images
/// and velocities, and without.
#[test]
fn a_store_that_is_played_into_another_one_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |from: &Path, to: &Path, most: usize| {
        let mut writer = TrackWriter::new(to);
        Tracks::open(from).unwrap().play_blocks(most, &mut writer).unwrap();
        assert_same(from, to, &format!("in blocks of {most}"));
    };
    for (number, plan) in plans().iter().enumerate() {
        let path = folder.path().join(number.to_string());
        whole_run(&path, plan, plan.particles);
        for most in [plan.particles / 3, 1 << 16] {
            copy(&path, &folder.path().join(format!("{number}-{most}")), most);
        }
    }
    for (name, velocity) in [("with", true), ("without", false)] {
        let path = folder.path().join(name);
        support::run(&path, &support::plan(Precision::F64, velocity, [0.0; 3]), 5);
        copy(&path, &path.with_extension("copy"), 2);
    }
}

#[test]
fn stores_of_numpy_files_are_played() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["plain", "lives"] {
        let old = Tracks::open(data("tracks-npy").join(name)).unwrap();
        let path = folder.path().join(name);
        old.play(&mut TrackWriter::new(&path)).unwrap();
        let new = Tracks::open(&path).unwrap();
        for save in 0..old.num_saves() {
            let all = |tracks: &Tracks| {
                let image = tracks.image(save).unwrap();
                format!("{:?} {image:?}", (tracks.position(save), tracks.status(save)))
            };
            assert_eq!(all(&old), all(&new));
        }
        assert_eq!(format!("{:?}", old.ends().unwrap()), format!("{:?}", new.ends().unwrap()));
    }
    let mut told = Recorder::default();
    Tracks::open(data("tracks-npy/lives")).unwrap().play_blocks(2, &mut told).unwrap();
    assert_eq!(told.plan, Some(crate::lives::plan()));
    // Two blocks a save; lives after the first save that is not before their ends.
    assert_eq!(told.blocks[..3], [(0, 0.0, 0, 2), (0, 0.0, 2, 1), (1, 0.5, 0, 2)]);
    let expected: Vec<ParticleInstance> = crate::lives::lives().concat();
    assert_eq!(
        format!("{:?}", told.lives.iter().map(|(_, life)| life).collect::<Vec<_>>()),
        format!("{:?}", expected.iter().collect::<Vec<_>>())
    );
    for (blocks, life) in &told.lives {
        let first = 2 * ((life.end_time / 0.5).ceil() as usize + 1);
        assert!(*blocks >= if life.end_time.is_nan() { 14 } else { first }, "{blocks}: {life:?}");
    }
    assert!(told.ends.is_some());
}

#[test]
fn what_there_is_of_a_stopped_run_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let plan = &plans()[0];
    stopped_run(folder.path(), plan, 3, 2);
    let tracks = Tracks::open_partial(folder.path()).unwrap();
    let mut told = Recorder::default();
    tracks.play(&mut told).unwrap();
    assert_eq!(told.plan.unwrap().saves, tracks.num_saves());
    assert_eq!(told.blocks.len(), tracks.num_saves());
    assert_eq!(told.lives.len(), tracks.num_lives().unwrap());
    assert_eq!(told.ends, None);
    let mut fails = Recorder { fails: true, ..Recorder::default() };
    match tracks.play(&mut fails) {
        Err(Error::Sink(source)) => assert_eq!(source.to_string(), "there is no room"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_store_without_particles_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let none = SavePlan { particles: 0, ..support::plan(Precision::F32, true, [0.0; 3]) };
    let mut writer = TrackWriter::new(folder.path());
    writer.begin(&none).unwrap();
    writer.end(&Ends::default()).unwrap();
    let mut told = Recorder::default();
    Tracks::open(folder.path()).unwrap().play(&mut told).unwrap();
    assert_eq!((told.blocks.len(), told.ends), (0, Some(Ends::default())));
}

/// A code that is that of no status is an error, as wherever it is read.
#[test]
fn a_damaged_store_is_not_played() {
    let folder = tempfile::tempdir().unwrap();
    support::run(folder.path(), &support::plan(Precision::F32, false, [0.0; 3]), 5);
    let path = folder.path().join("status/c.0.0");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[0] = 99;
    std::fs::write(path, bytes).unwrap();
    let played = Tracks::open(folder.path()).unwrap().play(&mut Recorder::default());
    let message = played.unwrap_err().to_string();
    assert!(message.contains("status code 99"), "{message}");
}
