use crate::export::run_script;
use crate::requirements;
use crate::support::{plan, run};
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_core::{Ends, Precision, Save, SavePlan, Status, TrackSink};
use burntrace_io::series::SeriesOptions;
use burntrace_io::tracks::Tracks;
use burntrace_io::{inspect, read_points, write_clouds, write_tracks};
use burntrace_vtk::{Association, Geometry, VtkFile};
use std::path::Path;

fn store(folder: &Path, velocity: bool) -> Tracks {
    run(folder, &plan(Precision::F64, velocity, [1.0, 0.0, 0.0]), 5);
    Tracks::open(folder).unwrap()
}

fn values(file: &VtkFile, name: &str, on: Association) -> Vec<f64> {
    let array = file.arrays().iter().find(|a| a.name == name && a.association == on).unwrap();
    file.read(array).unwrap().values.into_f64()
}

fn topology(file: &VtkFile, name: &str) -> Vec<f64> {
    let array = file.topology().iter().find(|array| array.name == name).unwrap();
    file.read(array).unwrap().values.into_f64()
}

#[test]
fn lines_are_split_at_periodic_faces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tracks.vtp");
    write_tracks(&store(folder.path(), true), &path).unwrap();
    assert!(!folder.path().join("tracks.vtp.part").exists());
    let file = burntrace_vtk::open(&path).unwrap();
    // Particle 0: 2 points, a cut, 3 points. Particle 1: released at save 2. Particle 2: 3 points
    // and the point of its end.
    assert_eq!(topology(&file, "lines/offsets"), [2.0, 5.0, 8.0, 12.0]);
    let expected: Vec<f64> = (0..12).map(f64::from).collect();
    assert_eq!(topology(&file, "lines/connectivity"), expected);
    assert_eq!(values(&file, "particle", Association::Cell), [0.0, 0.0, 1.0, 2.0]);
    let particle = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0];
    assert_eq!(values(&file, "particle", Association::Point), particle);
    // The last point has the time of the end, not that of the next save.
    let time = [0.0, 0.5, 1.0, 1.5, 2.0, 1.0, 1.5, 2.0, 0.0, 0.5, 1.0, 1.25];
    assert_eq!(values(&file, "time", Association::Point), time);
    assert_eq!(values(&file, "status", Association::Point)[11], 11.0);
    let points = file.points().unwrap().values.into_f64();
    assert_eq!(points[6..9], [0.25, 0.1, 0.0]);
    assert_eq!(values(&file, "velocity", Association::Point)[..3], [0.5, 0.0, 0.0]);
}

#[test]
fn a_line_of_a_single_point_is_a_vertex() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &plan(Precision::F32, false, [1.0, 0.0, 0.0]), 3);
    let path = folder.path().join("tracks.vtp");
    write_tracks(&Tracks::open(folder.path()).unwrap(), &path).unwrap();
    let file = burntrace_vtk::open(&path).unwrap();
    let Geometry::PolyData { points, verts, lines, .. } = *file.geometry() else { panic!() };
    assert_eq!((points, verts, lines), (7, 2, 2));
    assert_eq!(topology(&file, "verts/connectivity"), [2.0, 3.0]);
    // Vertices come before lines in the order of the cells.
    assert_eq!(values(&file, "particle", Association::Cell), [0.0, 1.0, 0.0, 2.0]);
    assert!(!file.arrays().iter().any(|array| array.name == "velocity"));
}

#[test]
fn each_save_is_a_cloud_of_its_particles() {
    let folder = tempfile::tempdir().unwrap();
    let pvd = write_clouds(&store(folder.path(), true), folder.path().join("clouds")).unwrap();
    let info = inspect(pvd.as_path(), &SeriesOptions::default()).unwrap();
    assert_eq!(info.times, [0.0, 0.5, 1.0, 1.5, 2.0]);
    let first = burntrace_vtk::open(pvd.with_file_name("cloud_00000.vtp")).unwrap();
    assert_eq!(values(&first, "particle", Association::Point), [0.0, 2.0]);
    let last = burntrace_vtk::open(pvd.with_file_name("cloud_00004.vtp")).unwrap();
    assert_eq!(values(&last, "particle", Association::Point), [0.0, 1.0, 2.0]);
    assert_eq!(topology(&last, "verts/offsets"), [1.0, 2.0, 3.0]);
    assert_eq!(values(&last, "velocity", Association::Point).len(), 9);
}

#[test]
fn a_store_without_points_is_a_valid_file() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &plan(Precision::F32, true, [0.0; 3]), 0);
    let store = Tracks::open(folder.path()).unwrap();
    let path = folder.path().join("tracks.vtp");
    write_tracks(&store, &path).unwrap();
    assert_eq!(burntrace_vtk::open(&path).unwrap().geometry().num_points(), 0);
    let message =
        write_tracks(&store, folder.path().join("no/tracks.vtp")).unwrap_err().to_string();
    assert!(message.starts_with("cannot create `"), "{message}");
}

#[test]
fn seeds_are_read_from_any_data_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tracks.vtp");
    write_tracks(&store(folder.path(), false), &path).unwrap();
    let seeds = read_points(&path).unwrap();
    assert_eq!((seeds.position.len(), seeds.position[2]), (12, [0.25, 0.1, 0.0]));
    assert_eq!(seeds.time.unwrap()[11], 1.25);
    for name in ["ascii.vtu", "ascii.vts", "ascii.vti", "ascii.vtr"] {
        let seeds = read_points(crate::support::data("vtk").join(name)).unwrap();
        assert_eq!((seeds.position.len(), seeds.time), (24, None), "{name}");
    }
    let seeds = read_points(crate::support::data("series/u_2.vti")).unwrap();
    assert_eq!(seeds.position[4 + 1], [1.0, -0.75, 2.0]);
}

#[test]
fn release_times_of_seeds_must_be_finite() {
    let points = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
    let seeds = |times: [f64; 3]| {
        let time = ("point", "Float64", "time", 1, times.to_vec());
        let folder = crate::support::folder(&[(
            "seeds.vtu",
            crate::support::unstructured(&points, &[(1, vec![0])], &[time]),
        )]);
        read_points(folder.path().join("seeds.vtu"))
    };
    assert_eq!(seeds([0.5, 1.0, 0.25]).unwrap().time, Some(vec![0.5, 1.0, 0.25]));
    let message = seeds([0.5, 1.0, f64::NAN]).unwrap_err().to_string();
    assert!(message.contains("array `time`"), "{message}");
    assert!(message.contains("the time of point 2 is not a finite number"), "{message}");
}

/// Lines that are cut at periodic faces, and a cloud for each save.
#[test]
fn vtk_reads_the_lines_and_clouds() {
    let Some(python) = requirements::python("python", "vtk, numpy, zarr") else { return };
    let (n, saves) = (200, 100);
    let folder = tempfile::tempdir().unwrap();
    let plan = SavePlan { particles: n, saves, ..plan(Precision::F32, true, [1.0, 0.0, 0.0]) };
    let mut writer = burntrace_io::TrackWriter::new(folder.path().join("tracks"));
    writer.begin(&plan).unwrap();
    let device = Device::flex();
    for index in 0..saves {
        let (mut position, mut image) = (Vec::new(), Vec::new());
        for p in 0..n {
            let x = p as f32 / n as f32 + 0.021 * index as f32;
            position.extend([x.fract(), (p % 100) as f32 / 100.0, 0.01 * index as f32]);
            image.extend([x as i32, 0, 0]);
        }
        let floats =
            |v: Vec<f32>| Tensor::<2>::from_data(TensorData::new(v, [n, 3]), (&device, DType::F32));
        let status = vec![Status::Active.code(); n];
        let save = Save {
            index,
            time: index as f64,
            first: 0,
            velocity: Some(floats(vec![0.5; 3 * n])),
            position: floats(position),
            rest: None,
            status: Tensor::from_data(TensorData::new(status, [n]), (&device, DType::I32)),
            image: Tensor::from_data(TensorData::new(image, [n, 3]), (&device, DType::I32)),
            generation: None,
            arrays: Vec::new(),
        };
        writer.save(save).unwrap();
    }
    let ends = Ends {
        status: vec![Status::Active; n],
        release_time: vec![0.0; n],
        end_time: vec![f64::NAN; n],
        ..Ends::default()
    };
    writer.end(&ends).unwrap();
    let store = Tracks::open(folder.path().join("tracks")).unwrap();
    write_tracks(&store, folder.path().join("tracks.vtp")).unwrap();
    write_clouds(&store, folder.path().join("clouds")).unwrap();
    run_script(&python, "vtp.py", folder.path());
}
