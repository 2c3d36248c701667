//! What xarray and NetCDF read of a store beside the values: attributes, and consolidated metadata.

use crate::instances;
use crate::sampled;
use crate::store::{plan_of, stopped_run};
use crate::support;
use burntrace_core::{Precision, TrackSink};
use burntrace_io::tracks::{Units, verify};
use burntrace_io::{Image, TrackWriter, Tracks};
use serde_json::{Value, json};
use std::path::Path;

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A run with units.
fn store(folder: &Path) -> Tracks {
    let plan = support::plan(Precision::F32, true, [1.0, 0.0, 0.0]);
    let units = Units { length: "mm".into(), time: "hours".into(), ..Units::default() };
    let mut writer = TrackWriter::new(folder).units(units);
    writer.begin(&plan).unwrap();
    (0..5).for_each(|index| writer.save(support::save(&plan, index)).unwrap());
    writer.end(&support::ends()).unwrap();
    Tracks::open(folder).unwrap()
}

fn density(nodes: usize) -> Image {
    Image {
        origin: [0.0; 3],
        spacing: [0.5; 3],
        counts: [nodes, 2, 1],
        arrays: vec![("density".into(), vec![0.25; 2 * nodes])],
        ..Image::default()
    }
}

/// Asserts that the group has the metadata of exactly the arrays in its folder.
#[track_caller]
fn assert_consolidated(folder: &Path) {
    let group = read(&folder.join("zarr.json"));
    let listed = group["consolidated_metadata"]["metadata"].as_object().unwrap();
    let mut arrays: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    arrays.sort();
    let mut names: Vec<&String> = listed.keys().collect();
    names.sort();
    assert_eq!(names, arrays.iter().collect::<Vec<_>>());
    for name in &arrays {
        assert_eq!(listed[name], read(&folder.join(name).join("zarr.json")), "{name}");
    }
}

#[test]
fn the_group_has_the_metadata_of_all_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    store(&path("plain"));
    assert_consolidated(&path("plain"));
    instances::store(&path("lives"));
    assert_consolidated(&path("lives"));
    stopped_run(&path("stopped"), &plan_of(5, 7, Precision::F32), 3, 1);
    assert_consolidated(&path("stopped"));
    sampled::store(&path("cancelled"), 2);
    assert_consolidated(&path("cancelled"));
}

#[test]
fn densities_are_listed_and_the_store_stays_intact() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = store(folder.path());
    for (save, nodes) in [(0, 3), (1, 3), (1, 4)] {
        assert!(tracks.put_density(save, &density(nodes)).unwrap());
        assert_consolidated(folder.path());
        assert_eq!(verify(folder.path()).unwrap().damage.len(), 0);
    }
    let axis = read(&folder.path().join("density_x/zarr.json"));
    assert_eq!(axis["attributes"]["axis"], "X");
    assert_eq!(axis["attributes"]["units"], "mm");
    // The next run in the folder has none.
    TrackWriter::new(folder.path())
        .overwrite(true)
        .begin(&support::plan(Precision::F32, false, [0.0; 3]))
        .unwrap();
    assert_consolidated(folder.path());
    assert!(!folder.path().join("density").exists());
}

#[test]
fn a_density_is_read_as_it_was_stored() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = store(folder.path());
    assert!(tracks.density_saves().is_empty());
    let image = Image {
        counts: [3, 2, 1],
        origin: [1.0, -1.0, 0.5],
        spacing: [0.25, 2.0, 0.0],
        arrays: vec![("density".into(), vec![1.0, 2.0, f64::MAX, 0.0, 5.5, 1e-300])],
        unit: "1/mm2".into(),
        ..Image::default()
    };
    for save in [3, 1] {
        assert!(tracks.put_density(save, &image).unwrap());
    }
    assert_eq!(tracks.density_saves(), [1, 3]);
    assert_eq!(tracks.density(3).unwrap(), image);
    assert_eq!(read(&folder.path().join("density/zarr.json"))["attributes"]["units"], "1/mm2");
    assert!(tracks.density(0).unwrap_err().to_string().contains("c.0.0.0.0"));
    std::fs::write(folder.path().join("density/c.1.0.0.0"), [0; 40]).unwrap();
    let error = tracks.density(1).unwrap_err().to_string();
    assert!(error.contains("5 values at 6 nodes"), "{error}");
}

#[test]
fn attributes_follow_the_cf_conventions() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = store(folder.path());
    assert_eq!(
        tracks.units(),
        Units { length: "mm".into(), time: "hours".into(), ..Units::default() }
    );
    let of = |name: &str| read(&folder.path().join(name).join("zarr.json"))["attributes"].clone();
    let expected = json!({
        "long_name": "time of the save", "standard_name": "time", "axis": "T", "units": "h",
    });
    assert_eq!(of("time"), expected);
    assert_eq!(of("position")["units"], "mm");
    assert_eq!(of("velocity")["units"], "mm/h");
    assert_eq!(of("end_time")["units"], "h");
    assert_eq!(of("status")["standard_name"], "status_flag");
    assert_eq!(of("status")["flag_values"][1], 1);
    assert!(of("status")["flag_meanings"].as_str().unwrap().starts_with("waiting active "));
    assert_eq!(of("status")["coordinates"], Value::Null);
    let group = read(&folder.path().join("zarr.json"))["attributes"].clone();
    assert_eq!(group["featureType"], "trajectory");
    assert_eq!(group["Conventions"], "CF-1.11");
    let reused = folder.path().join("lives");
    instances::store(&reused);
    let position = read(&reused.join("position/zarr.json"));
    assert_eq!(position["attributes"]["coordinates"], "generation");
    assert_eq!(position["attributes"]["units"], Value::Null);
}

/// Texts, numbers, and lists of either.
#[test]
fn netcdf_takes_all_attributes() {
    let folder = tempfile::tempdir().unwrap();
    instances::store(folder.path());
    let group = read(&folder.path().join("zarr.json"));
    let arrays = group["consolidated_metadata"]["metadata"].as_object().unwrap().values();
    let attributes = arrays.map(|array| &array["attributes"]).chain([&group["attributes"]]);
    let is_plain = |value: &Value| value.is_string() || value.is_number();
    for (name, value) in attributes.flat_map(|all| all.as_object().unwrap()) {
        let is_list = value.as_array().is_some_and(|list| list.iter().all(is_plain));
        assert!(is_plain(value) || is_list, "{name}: {value}");
    }
}

#[test]
fn stores_of_other_versions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    let path = folder.path().join("zarr.json");
    let group = read(&path);
    for (key, value, expected) in [
        ("version", json!(3), "found `\"burntrace tracks\"`, version 3"),
        ("complete", json!("yes"), "string \"yes\", expected u8"),
    ] {
        let mut other = group.clone();
        other["attributes"][key] = value;
        std::fs::write(&path, other.to_string()).unwrap();
        let error = Tracks::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
