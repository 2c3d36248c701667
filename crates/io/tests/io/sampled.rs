//! Arrays that are sampled along the tracks.

use crate::store::{ends_of, plan_of, sampled_arrays, stopped_run, tree, write_saves};
use crate::support;
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_core::{FieldArray, Precision, Save, SavePlan, TrackSink};
use burntrace_io::tracks::{foreign_names, verify};
use burntrace_io::{TrackWriter, Tracks, write_clouds, write_tracks};
use burntrace_vtk::{Association, VtkFile};
use std::path::Path;

fn array(name: &str, components: usize) -> FieldArray {
    FieldArray { name: name.into(), components }
}

/// The run of [`support::run`] with a scalar and a vector: particle + save / 10, and -1, 0, 1 times
/// that.
fn plan() -> SavePlan {
    let arrays = vec![array("p & q", 1), array("tau", 3)];
    SavePlan { arrays, ..support::plan(Precision::F64, false, [1.0, 0.0, 0.0]) }
}

fn value(particle: usize, save: usize) -> f64 {
    particle as f64 + save as f64 / 10.0
}

fn save(plan: &SavePlan, index: usize) -> Save {
    let of = |factors: &[f64]| {
        let row = |particle| factors.iter().map(move |factor| factor * value(particle, index));
        let values: Vec<f64> = (0..3).flat_map(row).collect();
        let data = TensorData::new(values, [3, factors.len()]);
        Tensor::<2>::from_data(data, (&Device::flex(), DType::F64))
    };
    Save { arrays: vec![of(&[1.0]), of(&[-1.0, 0.0, 1.0])], ..support::save(plan, index) }
}

pub fn store(folder: &Path, saves: usize) -> Tracks {
    let (mut writer, plan) = (TrackWriter::new(folder), plan());
    writer.begin(&plan).unwrap();
    (0..saves).for_each(|index| writer.save(save(&plan, index)).unwrap());
    writer.end(&support::ends()).unwrap();
    Tracks::open(folder).unwrap()
}

#[test]
fn sampled_arrays_are_read_by_save_and_by_particle() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = store(folder.path(), 5);
    assert_eq!(tracks.arrays(), plan().arrays);
    assert_eq!(tracks.array("p & q", 2).unwrap(), [0, 1, 2].map(|p| value(p, 2)));
    assert_eq!(tracks.array_range("tau", 4, 1..2).unwrap(), [-1.4, 0.0, 1.4]);
    assert_eq!(tracks.array_track("p & q", 2).unwrap(), [0, 1, 2, 3, 4].map(|s| value(2, s)));
    let unknown = tracks.array("q", 2).unwrap_err().to_string();
    assert!(unknown.contains("no sampled array `q`; it has `p & q`, `tau`"), "{unknown}");
    assert!(tracks.array("tau", 5).unwrap_err().to_string().contains("no save 5"));
    assert!(tracks.array_track("tau", 3).unwrap_err().to_string().contains("no particle 3"));
    assert!(tracks.array_range("tau", 0, 2..4).unwrap_err().to_string().contains("no particle 3"));
    let json = |name: &str| {
        let text = std::fs::read_to_string(folder.path().join(name).join("zarr.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    assert_eq!(json("p & q")["dimension_names"], serde_json::json!(["time", "particle"]));
    assert_eq!(
        json("tau")["dimension_names"],
        serde_json::json!(["time", "particle", "component"])
    );
}

#[test]
fn dimensions_of_one_name_have_one_length() {
    let folder = tempfile::tempdir().unwrap();
    stopped_run(folder.path(), &plan_of(5, 7, Precision::F32), 3, 1);
    let text = std::fs::read_to_string(folder.path().join("Mean Stress/zarr.json")).unwrap();
    let metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
    let names = serde_json::json!(["time", "particle", "component_9"]);
    assert_eq!((&metadata["dimension_names"], &metadata["shape"][2]), (&names, &9.into()));
}

#[test]
fn names_of_other_results_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["density", "Position", "../T", "zarr.json", ""] {
        let plan = SavePlan { arrays: vec![array(name, 1)], ..plan() };
        let path = folder.path().join("tracks");
        let error = TrackWriter::new(&path).begin(&plan).unwrap_err().to_string();
        assert!(error.contains(&format!("cannot be called `{name}`: ")), "{error}");
        assert!(!path.exists());
    }
}

#[test]
fn a_save_without_its_arrays_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (mut writer, plan) = (TrackWriter::new(folder.path()), plan());
    writer.begin(&plan).unwrap();
    let error = writer.save(support::save(&plan, 0)).unwrap_err().to_string();
    assert!(error.contains("it has 0 sampled arrays, the save plan lists 2"), "{error}");
    let wrong =
        Save { arrays: save(&plan, 0).arrays.into_iter().rev().collect(), ..save(&plan, 0) };
    let error = writer.save(wrong).unwrap_err().to_string();
    assert!(error.contains("it has 9 numbers, expected 3 for 3 particles"), "{error}");
}

#[test]
fn sampled_arrays_belong_to_the_store_and_are_replaced_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    store(path, 5);
    assert_eq!(foreign_names(path).unwrap(), [""; 0]);
    std::fs::create_dir(path.join("mine")).unwrap();
    std::fs::write(path.join("tau/notes.txt"), "").unwrap();
    assert_eq!(foreign_names(path).unwrap(), ["mine", "tau/notes.txt"]);
    // Also if the program was killed while it removed the store.
    std::fs::remove_file(path.join("zarr.json")).unwrap();
    let other = SavePlan { arrays: vec![array("T", 1)], ..plan() };
    TrackWriter::new(path).overwrite(true).begin(&other).unwrap();
    assert!(!path.join("tau").exists() && path.join("T").exists() && path.join("mine").exists());
}

#[test]
fn damage_of_a_sampled_array_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_of(5, 7, Precision::F64);
    let damage = |path: &Path| {
        let chunk = path.join("Mean Stress/c.0.0.0");
        let mut bytes = std::fs::read(&chunk).unwrap();
        bytes[17] ^= 1;
        std::fs::write(&chunk, bytes).unwrap();
        verify(path).unwrap().damage.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    for (name, is_complete) in [("stopped", false), ("complete", true)] {
        let path = folder.path().join(name);
        let mut writer = TrackWriter::new(&path);
        writer.begin(&plan).unwrap();
        write_saves(&mut writer, &plan, 0..plan.saves, 5);
        match is_complete {
            true => writer.end(&ends_of(&plan)).unwrap(),
            false => assert_eq!(writer.sync().unwrap().saves, 7),
        }
        drop(writer);
        assert_eq!(verify(&path).unwrap().damage.len(), 0);
        let found = damage(&path);
        assert!(found.len() == 1 && found[0].contains("Mean Stress/c.0.0.0"), "{found:?}");
    }
}

#[test]
fn a_manifest_with_an_invalid_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), 5);
    let path = folder.path().join("zarr.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"tau\"", "\"../tau\"")).unwrap();
    let error = Tracks::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("cannot be called `../tau`: it starts or ends with a point"), "{error}");
}

#[test]
fn a_store_without_sampled_arrays_has_none() {
    let folder = tempfile::tempdir().unwrap();
    support::run(folder.path(), &support::plan(Precision::F32, false, [0.0; 3]), 5);
    let tracks = Tracks::open(folder.path()).unwrap();
    assert_eq!(tracks.arrays(), []);
    let error = tracks.array("T", 0).unwrap_err().to_string();
    assert!(error.contains("no sampled array `T`; it has no sampled arrays"), "{error}");
    assert!(!tree(folder.path())["zarr.json"].windows(7).any(|text| text == b"sampled"));
    assert_eq!(sampled_arrays().len(), 2);
}

fn values(file: &VtkFile, name: &str) -> (usize, Vec<f64>) {
    let is_named =
        |a: &&burntrace_vtk::ArrayInfo| a.name == name && a.association == Association::Point;
    let array = file.arrays().iter().find(is_named).unwrap();
    (array.components, file.read(array).unwrap().values.into_f64())
}

#[test]
fn lines_and_clouds_have_the_sampled_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = store(&folder.path().join("tracks"), 5);
    let path = folder.path().join("tracks.vtp");
    write_tracks(&tracks, &path).unwrap();
    let file = burntrace_vtk::open(&path).unwrap();
    // As the lines in `vtp.rs`: the particle and the save of each point.
    let points = [(0, 0..5), (1, 2..5), (2, 0..4)];
    let expected: Vec<f64> =
        points.iter().flat_map(|(p, saves)| saves.clone().map(|s| value(*p, s))).collect();
    assert_eq!(values(&file, "p & q"), (1, expected.clone()));
    let vectors: Vec<f64> = expected.iter().flat_map(|x| [-x, 0.0 * x, *x]).collect();
    assert_eq!(values(&file, "tau"), (3, vectors));
    let pvd = write_clouds(&tracks, folder.path().join("clouds")).unwrap();
    // The second particle is not released yet.
    let first = burntrace_vtk::open(pvd.with_file_name("cloud_00001.vtp")).unwrap();
    assert_eq!(values(&first, "p & q"), (1, vec![0.1, 2.1]));
    assert_eq!(values(&first, "tau"), (3, vec![-0.1, 0.0, 0.1, -2.1, 0.0, 2.1]));
}

#[test]
fn files_without_points_name_the_sampled_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = store(&folder.path().join("tracks"), 0);
    let path = folder.path().join("tracks.vtp");
    write_tracks(&tracks, &path).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().contains("Name=\"p &amp; q\""));
}
