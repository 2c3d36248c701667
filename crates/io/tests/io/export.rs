//! Tracks as tables.

use crate::instances;
use crate::requirements;
use crate::sampled;
use crate::store::{plan_of, stopped_run};
use crate::support;
use burntrace_core::{Face, FieldArray, Precision, SavePlan, Status, TrackSink};
use burntrace_io::{
    Rows, Selection, TrackWriter, Tracks, read_npy, read_points, write_csv, write_npy,
    write_parquet, write_safetensors, write_selected_tracks,
};
use std::path::Path;
use std::process::Command;

fn csv(store: &Tracks, selection: &Selection) -> Vec<Vec<String>> {
    csv_of(store, selection, Rows::Saves)
}

fn csv_of(store: &Tracks, selection: &Selection, rows: Rows) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tracks.csv");
    let rows = write_csv(store, selection, rows, &path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Vec<String>> =
        text.lines().map(|line| line.split(',').map(String::from).collect()).collect();
    assert_eq!(rows + 1, lines.len());
    lines
}

/// The values of some columns.
fn columns(table: &[Vec<String>], names: &[&str]) -> Vec<String> {
    let index = |name: &&str| table[0].iter().position(|column| column == name).unwrap();
    let indices: Vec<usize> = names.iter().map(index).collect();
    let row = |row: &Vec<String>| {
        indices.iter().map(|&index| row[index].as_str()).collect::<Vec<_>>().join(" ")
    };
    table[1..].iter().map(row).collect()
}

#[test]
fn a_row_is_a_released_particle_at_a_save() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = sampled::store(folder.path(), 5);
    let table = csv(&tracks, &Selection::default());
    let expected = [
        "particle",
        "time",
        "x",
        "y",
        "z",
        "unwrapped_x",
        "unwrapped_y",
        "unwrapped_z",
        "status",
        "p & q",
        "tau_x",
        "tau_y",
        "tau_z",
    ];
    assert_eq!(table[0], expected);
    // The second particle is released at the third save.
    assert_eq!(table.len(), 1 + 5 + 3 + 5);
    let rows =
        columns(&table, &["particle", "time", "x", "unwrapped_x", "status", "p & q", "tau_x"]);
    assert_eq!(rows[0], "0 0 0.25 0.25 active 0 -0");
    assert_eq!(rows[2], "0 0.5 0.75 0.75 active 0.1 -0.1");
    assert_eq!(rows[4], "0 1 0.25 1.25 active 0.2 -0.2");
    assert_eq!(rows[9], "2 1.5 0.3 0.3 exited y-high 2.3 -2.3");
}

#[test]
fn rows_are_selected_by_status_time_and_number() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = sampled::store(folder.path(), 5);
    let rows = |selection: Selection| columns(&csv(&tracks, &selection), &["particle", "time"]);
    let all = Selection::default;
    let exited = vec![Status::Exited(Face::YHigh)];
    assert_eq!(rows(Selection { statuses: exited.clone(), ..all() }), ["2 1.5", "2 2"]);
    let ended = rows(Selection { end_statuses: exited, ..all() });
    assert_eq!(ended, ["2 0", "2 0.5", "2 1", "2 1.5", "2 2"]);
    assert_eq!(rows(Selection { statuses: vec![Status::Waiting], ..all() }), ["1 0", "1 0.5"]);
    assert_eq!(
        rows(Selection { from: 0.5, to: 1.0, ..all() }),
        ["0 0.5", "2 0.5", "0 1", "1 1", "2 1"]
    );
    let sparse = Selection { every_save: 3, every_particle: 2, ..all() };
    assert_eq!(rows(sparse), ["0 0", "2 0", "0 1.5", "2 1.5"]);
    let none = Selection { from: 3.0, ..all() };
    let error = write_csv(&tracks, &none, Rows::Saves, folder.path().join("none.csv"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("none of the 5 saves, from t = 0 to 2, is selected"), "{error}");
}

#[test]
fn particle_instances_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = instances::store(folder.path());
    let rows = columns(&csv(&tracks, &Selection::default()), &["particle", "generation", "time"]);
    let slot: Vec<&String> = rows.iter().filter(|row| row.starts_with("0 ")).collect();
    assert_eq!(slot.len(), 7);
    assert_eq!((slot[3].as_str(), slot[4].as_str()), ("0 0 1.5", "0 1 2"));
    // Empty slots have no rows.
    assert_eq!(rows.len(), 7 + 4 + 2);
    let left = Selection { end_statuses: vec![Status::LeftMesh], ..Selection::default() };
    let rows = columns(&csv(&tracks, &left), &["particle", "generation", "time"]);
    assert_eq!(rows, ["0 1 2", "0 1 2.5", "0 1 3"]);
    let path = folder.path().join("tracks.parquet");
    let count = write_parquet(&tracks, &Selection::default(), Rows::Particles, &path).unwrap();
    // Of the seven instances in the table, one has no save.
    assert_eq!(count, 6);
}

#[test]
fn final_rows_are_those_of_the_last_saves() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = sampled::store(&folder.path().join("slots"), 5);
    let all = Selection::default();
    let names = ["particle", "time", "end_time", "end_status", "x", "status"];
    let rows = |selection| columns(&csv_of(&tracks, selection, Rows::Final), &names);
    let last: Vec<String> = columns(&csv(&tracks, &all), &["particle", "time", "x", "status"])
        .into_iter()
        .filter(|row| row.split(' ').nth(1) == Some("2"))
        .collect();
    let found = rows(&all);
    assert_eq!(found.len(), last.len());
    assert!(found[2].starts_with("2 2 1.") && found[2].contains(" exited y-high "), "{found:?}");
    let exited = Selection { end_statuses: vec![Status::Exited(Face::YHigh)], ..all.clone() };
    assert_eq!(rows(&exited), found[2..3]);
    // Of re-used slots, a row for each instance.
    let tracks = instances::store(&folder.path().join("instances"));
    let of_saves = columns(&csv(&tracks, &all), &["particle", "generation", "time", "x", "status"]);
    let of_ends = csv_of(&tracks, &all, Rows::Final);
    let found = columns(&of_ends, &["particle", "generation", "time", "x", "status"]);
    let instance = |row: &String| row.split(' ').take(2).map(String::from).collect::<Vec<_>>();
    assert_eq!(found.len(), 6);
    for row in &found {
        let mut same = of_saves.iter().filter(|other| instance(other) == instance(row));
        assert_eq!(same.next_back(), Some(row));
    }
    let error = write_csv(&tracks, &all, Rows::Particles, folder.path().join("t.csv")).unwrap_err();
    assert!(error.to_string().contains("which CSV files do not have"), "{error}");
}

#[test]
fn unfinished_runs_are_exported_without_ends() {
    let folder = tempfile::tempdir().unwrap();
    stopped_run(folder.path(), &plan_of(5, 7, Precision::F32), 3, 1);
    let tracks = Tracks::open_partial(folder.path()).unwrap();
    let path = folder.path().join("tracks.parquet");
    assert!(write_parquet(&tracks, &Selection::default(), Rows::Particles, &path).unwrap() > 0);
    let ended = Selection { end_statuses: vec![Status::Active], ..Selection::default() };
    let error = write_parquet(&tracks, &ended, Rows::Saves, &path).unwrap_err().to_string();
    assert!(error.contains("the run has not ended"), "{error}");
}

#[test]
fn columns_of_one_name_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let array = |name: &str, components| FieldArray { name: name.into(), components };
    let arrays = vec![array("a", 3), array("a_x", 1)];
    let plan = SavePlan { arrays, ..support::plan(Precision::F32, false, [0.0; 3]) };
    let mut writer = TrackWriter::new(folder.path());
    writer.begin(&plan).unwrap();
    writer.end(&support::ends()).unwrap();
    let tracks = Tracks::open(folder.path()).unwrap();
    let path = folder.path().join("t.csv");
    let error =
        write_csv(&tracks, &Selection::default(), Rows::Saves, path).unwrap_err().to_string();
    assert!(error.contains("two columns of the table would be called `a_x`"), "{error}");
}

#[test]
fn lines_of_a_selection_have_its_points() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = sampled::store(&folder.path().join("tracks"), 5);
    let path = folder.path().join("some.vtp");
    let selection = Selection { every_particle: 2, from: 0.5, ..Selection::default() };
    // The first particle at four saves, the third one at three, the last of which is its end.
    assert_eq!(write_selected_tracks(&tracks, &selection, &path).unwrap(), 4 + 3);
    let file = burntrace_vtk::open(&path).unwrap();
    let array = file.arrays().iter().find(|array| array.name == "time").unwrap();
    let times = file.read(array).unwrap().values.into_f64();
    assert_eq!(times, [0.5, 1.0, 1.5, 2.0, 0.5, 1.0, 1.25]);
}

#[test]
fn a_failed_export_keeps_the_earlier_file() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = sampled::store(&folder.path().join("tracks"), 5);
    let path = folder.path().join("t.csv");
    write_csv(&tracks, &Selection::default(), Rows::Saves, &path).unwrap();
    let before = std::fs::read(&path).unwrap();
    std::fs::write(folder.path().join("tracks/tau/c.0.0.0"), b"short").unwrap();
    let error =
        write_csv(&tracks, &Selection::default(), Rows::Saves, &path).unwrap_err().to_string();
    assert!(error.contains("tau/c.0.0.0`: found 5 bytes"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// Runs a script of `tests/peers` with a folder.
pub fn run_script(python: &Path, name: &str, folder: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers").join(name);
    let output = Command::new(python).arg(script).arg(folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}{text}", String::from_utf8_lossy(&output.stdout));
}

/// The numbers of the Parquet and CSV files are those of the store, for pandas and xarray.
#[test]
fn pandas_reads_the_tables() {
    let Some(python) = requirements::python("python", "pandas, pyarrow, xarray, zarr") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for name in ["sampled", "lives", "large"] {
        let path = folder.path().join(name);
        let store = path.join("tracks");
        match name {
            "sampled" => drop(sampled::store(&store, 5)),
            "lives" => drop(instances::store(&store)),
            // More than one group of rows.
            _ => {
                let plan = SavePlan { reuses_slots: false, ..plan_of(100_000, 3, Precision::F32) };
                crate::store::complete_plain_run(&store, &plan);
            }
        }
        let tracks = Tracks::open(&store).unwrap();
        let all = Selection::default();
        write_parquet(&tracks, &all, Rows::Saves, path.join("saves.parquet")).unwrap();
        write_parquet(&tracks, &all, Rows::Particles, path.join("particles.parquet")).unwrap();
        write_csv(&tracks, &all, Rows::Saves, path.join("saves.csv")).unwrap();
        run_script(&python, "export.py", &path);
    }
}

#[test]
fn arrays_have_the_selected_particles_and_saves() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = sampled::store(&folder.path().join("tracks"), 5);
    let path = folder.path().join("arrays");
    let selection = Selection { every_particle: 2, from: 0.5, ..Selection::default() };
    assert_eq!(write_npy(&tracks, &selection, &path).unwrap(), 2);
    let read = |name: &str| read_npy(path.join(format!("{name}.npy"))).unwrap();
    assert_eq!(read("particle").values, [0.0, 2.0]);
    assert_eq!(read("time").values, [0.5, 1.0, 1.5, 2.0]);
    assert_eq!(read("tau").shape, [4, 2, 3]);
    assert_eq!(read("p & q").values, [0.1, 2.1, 0.2, 2.2, 0.3, 2.3, 0.4, 2.4]);
    assert_eq!(read("end_status").values[1], f64::from(Status::Exited(Face::YHigh).code()));
    // Statuses that are not selected are NaN, and particles with other ends are left out.
    let path = folder.path().join("exited");
    let exited = vec![Status::Exited(Face::YHigh)];
    let selection =
        Selection { statuses: exited.clone(), end_statuses: exited, ..Selection::default() };
    assert_eq!(write_npy(&tracks, &selection, &path).unwrap(), 1);
    let x = read_npy(path.join("unwrapped.npy")).unwrap().values;
    assert_eq!(
        x.iter().map(|x| x.is_nan()).collect::<Vec<_>>(),
        [[true; 9].as_slice(), &[false; 6]].concat()
    );
    // A second time it is not replaced.
    let error = write_npy(&tracks, &selection, &path).unwrap_err().to_string();
    assert!(error.starts_with("cannot create `"), "{error}");
    assert_eq!(read_npy(path.join("particle.npy")).unwrap().values, [2.0]);
}

#[test]
fn failed_arrays_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = sampled::store(&folder.path().join("tracks"), 5);
    std::fs::write(folder.path().join("tracks/tau/c.0.0.0"), b"short").unwrap();
    let all = Selection::default();
    for path in ["arrays", "t.safetensors"].map(|name| folder.path().join(name)) {
        let error = match path.extension() {
            None => write_npy(&tracks, &all, &path),
            Some(_) => write_safetensors(&tracks, &all, &path),
        };
        let error = error.unwrap_err().to_string();
        assert!(error.contains("tau/c.0.0.0`: found 5 bytes"), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// The arrays are those of the store, for NumPy; and its files are read as seeds.
#[test]
fn numpy_reads_the_arrays() {
    let Some(python) = requirements::python("python", "numpy, xarray, zarr") else { return };
    let folder = tempfile::tempdir().unwrap();
    for name in ["sampled", "instances", "large"] {
        let path = folder.path().join(name);
        let store = path.join("tracks");
        match name {
            "sampled" => drop(sampled::store(&store, 5)),
            "instances" => drop(instances::store(&store)),
            // More than one part of a save.
            _ => {
                let plan = SavePlan { reuses_slots: false, ..plan_of(300_000, 2, Precision::F32) };
                crate::store::complete_plain_run(&store, &plan);
            }
        }
        let (tracks, all) = (Tracks::open(&store).unwrap(), Selection::default());
        let count = write_npy(&tracks, &all, path.join("arrays")).unwrap();
        assert_eq!(
            write_safetensors(&tracks, &all, path.join("tracks.safetensors")).unwrap(),
            count
        );
        run_script(&python, "tensors.py", &path);
    }
    let seeds = |name: &str| read_points(folder.path().join("sampled").join(name)).unwrap();
    let points = seeds("seeds.npy");
    assert_eq!(points.position, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]);
    assert_eq!((points.time, seeds("transposed.npy").position), (None, points.position));
    let timed = seeds("timed.npy");
    assert_eq!((timed.position[1], timed.time), ([4.0, 5.0, 6.0], Some(vec![3.0, 7.0])));
}

/// xarray opens stores without a warning, and writes them as NetCDF.
#[test]
fn xarray_reads_the_stores() {
    let Some(python) = requirements::python("python", "xarray, zarr, netCDF4, h5netcdf") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    crate::store::write_stores_for_peers(folder.path());
    run_script(&python, "tracks.py", folder.path());
}
