//! Stores that are played into sinks.

use crate::store::{assert_same, complete_run, plans, stopped_run};
use crate::support;
use burntrace_core::{Ends, ParticleInstance, Precision, Save, SavePlan, SinkError, TrackSink};
use burntrace_io::{Error, TrackWriter, Tracks};
use std::path::Path;

/// Records the calls of a sink.
#[derive(Default)]
struct Recorder {
    plan: Option<SavePlan>,
    releases: Vec<(usize, Vec<[f64; 3]>)>,
    /// Save, time, first particle and number of particles of each block.
    blocks: Vec<(usize, f64, usize, usize)>,
    /// Instances with the number of blocks before each.
    instances: Vec<(usize, ParticleInstance)>,
    ends: Option<Ends>,
    fails: bool,
}

impl TrackSink for Recorder {
    fn begin(&mut self, plan: &SavePlan) -> Result<(), SinkError> {
        self.plan = Some(plan.clone());
        Ok(())
    }

    fn releases(&mut self, first: usize, positions: &[[f64; 3]]) -> Result<(), SinkError> {
        self.releases.push((first, positions.to_vec()));
        Ok(())
    }

    fn save(&mut self, save: Save) -> Result<(), SinkError> {
        if self.fails {
            return Err("the sink is full".into());
        }
        let [count, _] = save.position.dims();
        assert_eq!(save.status.dims(), [count]);
        self.blocks.push((save.index, save.time, save.first, count));
        Ok(())
    }

    fn instances(&mut self, instances: &[ParticleInstance]) -> Result<(), SinkError> {
        self.instances.extend(instances.iter().map(|instance| (self.blocks.len(), *instance)));
        Ok(())
    }

    fn end(&mut self, ends: &Ends) -> Result<(), SinkError> {
        self.ends = Some(ends.clone());
        Ok(())
    }
}

/// In both precisions, with and without particle instances, images and velocities.
#[test]
fn playing_a_store_into_a_writer_copies_it_byte_by_byte() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |from: &Path, to: &Path, block: usize| {
        let mut writer = TrackWriter::new(to);
        Tracks::open(from).unwrap().play_blocks(block, &mut writer).unwrap();
        assert_same(from, to, &format!("in blocks of {block}"));
    };
    for (number, plan) in plans().iter().enumerate() {
        let path = folder.path().join(number.to_string());
        complete_run(&path, plan, plan.particles);
        for block in [plan.particles / 3, 1 << 16] {
            copy(&path, &folder.path().join(format!("{number}-{block}")), block);
        }
    }
    for (name, velocity) in [("with", true), ("without", false)] {
        let path = folder.path().join(name);
        support::run(&path, &support::plan(Precision::F64, velocity, [0.0; 3]), 5);
        copy(&path, &path.with_extension("copy"), 2);
    }
}

#[test]
fn particle_instances_are_played_after_the_save_of_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::default();
    crate::instances::store(folder.path()).play_blocks(2, &mut recorder).unwrap();
    assert_eq!(recorder.plan, Some(crate::instances::plan()));
    // Two blocks in each save.
    assert_eq!(recorder.blocks[..3], [(0, 0.0, 0, 2), (0, 0.0, 2, 1), (1, 0.5, 0, 2)]);
    let expected: Vec<ParticleInstance> = crate::instances::instances().concat();
    assert_eq!(
        format!(
            "{:?}",
            recorder.instances.iter().map(|(_, instance)| instance).collect::<Vec<_>>()
        ),
        format!("{:?}", expected.iter().collect::<Vec<_>>())
    );
    for (blocks, instance) in &recorder.instances {
        let first = 2 * ((instance.end_time / 0.5).ceil() as usize + 1);
        let min_blocks = if instance.end_time.is_nan() { 14 } else { first };
        assert!(*blocks >= min_blocks, "{blocks}: {instance:?}");
    }
    assert!(recorder.ends.is_some());
}

#[test]
fn the_saves_of_a_stopped_run_are_played_without_ends() {
    let folder = tempfile::tempdir().unwrap();
    let plan = &plans()[0];
    stopped_run(folder.path(), plan, 3, 2);
    let tracks = Tracks::open_partial(folder.path()).unwrap();
    let mut recorder = Recorder::default();
    tracks.play(&mut recorder).unwrap();
    assert_eq!(recorder.plan.unwrap().saves, tracks.num_saves());
    assert_eq!(recorder.blocks.len(), tracks.num_saves());
    assert_eq!(recorder.instances.len(), tracks.num_instances().unwrap());
    assert_eq!(recorder.ends, None);
    let mut fails = Recorder { fails: true, ..Recorder::default() };
    match tracks.play(&mut fails) {
        Err(Error::Sink(source)) => assert_eq!(source.to_string(), "the sink is full"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_store_without_particles_is_played_as_empty_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let none = SavePlan { particles: 0, ..support::plan(Precision::F32, true, [0.0; 3]) };
    let mut writer = TrackWriter::new(folder.path());
    writer.begin(&none).unwrap();
    writer.end(&Ends::default()).unwrap();
    let mut recorder = Recorder::default();
    Tracks::open(folder.path()).unwrap().play(&mut recorder).unwrap();
    assert_eq!((recorder.blocks.len(), recorder.ends), (0, Some(Ends::default())));
}

#[test]
fn playing_an_unknown_status_code_is_an_error() {
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

/// The last of three slots belongs to a source.
#[test]
fn release_positions_are_stored_and_played() {
    let folder = tempfile::tempdir().unwrap();
    for (number, precision) in [Precision::F32, Precision::F64].into_iter().enumerate() {
        let plan = support::plan(precision, false, [0.0; 3]);
        let path = folder.path().join(number.to_string());
        let mut writer = TrackWriter::new(&path);
        writer.begin(&plan).unwrap();
        let seeds = [[0.25, 1.0, -3.5], [0.5, 2.0, 7.0]];
        writer.releases(0, &seeds[..1]).unwrap();
        let skipped = writer.releases(2, &seeds[1..]).unwrap_err().to_string();
        assert!(skipped.contains("particles 2 to 3") && skipped.contains("from 1 on"), "{skipped}");
        writer.releases(1, &seeds[1..]).unwrap();
        let too_many = writer.releases(2, &seeds).unwrap_err().to_string();
        assert!(too_many.contains("to 3 at most"), "{too_many}");
        for index in 0..plan.saves {
            writer.save(support::save(&plan, index)).unwrap();
        }
        writer.end(&support::ends()).unwrap();
        let tracks = Tracks::open(&path).unwrap();
        let positions = tracks.release_positions(0..3).unwrap();
        assert_eq!(positions[..2], seeds);
        assert!(positions[2].iter().all(|x| x.is_nan()), "{positions:?}");
        for (block, calls) in [(1, 2), (2, 1)] {
            let mut recorder = Recorder::default();
            tracks.play_blocks(block, &mut recorder).unwrap();
            assert_eq!(recorder.releases.len(), calls);
            let played = recorder.releases.iter().flat_map(|(_, positions)| positions.clone());
            assert_eq!(played.collect::<Vec<_>>(), seeds);
        }
    }
}
