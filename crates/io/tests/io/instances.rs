//! Re-used slots in stores, lines and point clouds.

use crate::support::{
    ends as plain_ends, plan as plain_plan, run as plain_run, save as plain_save,
};
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_core::{Ends, Face, ParticleInstance, Precision, Save, SavePlan, Status, TrackSink};
use burntrace_io::tracks::Tracks;
use burntrace_io::{TrackWriter, write_clouds, write_tracks};
use burntrace_vtk::{Association, VtkFile};
use std::path::Path;

const EXITED: Status = Status::Exited(Face::YHigh);
const EMPTY: f64 = f64::NAN;
pub const SAVES: usize = 7;

pub fn plan() -> SavePlan {
    let periods = [1.0, 0.0, 0.0];
    SavePlan {
        particles: 3,
        reuses_slots: true,
        saves: SAVES,
        precision: Precision::F64,
        positions: Precision::F64,
        velocity: true,
        periods,
        arrays: Vec::new(),
        gates: Vec::new(),
    }
}

fn instance(
    (slot, generation): (usize, u32),
    status: Status,
    [release_time, end_time]: [f64; 2],
) -> ParticleInstance {
    let release_position = [0.0, 0.5, slot as f64];
    let end_position = [0.25, 1.0, f64::from(generation)];
    ParticleInstance {
        slot,
        generation,
        status,
        release_time,
        release_position,
        end_time,
        end_position,
    }
}

/// The particle instances in the order of the run: a seed that is re-injected and ends, and two
/// slots of a source.
pub fn instances() -> [Vec<ParticleInstance>; 3] {
    [
        vec![
            instance((1, 0), EXITED, [0.25, 1.125]),
            // This one has no save, the next one has one.
            instance((2, 0), EXITED, [0.125, 0.375]),
            instance((2, 1), EXITED, [0.625, 1.25]),
        ],
        vec![instance((0, 0), EXITED, [0.0, 1.75]), instance((1, 1), EXITED, [1.75, 2.625])],
        vec![
            instance((0, 1), Status::LeftMesh, [1.75, 2.75]),
            instance((2, 2), Status::Active, [2.875, f64::NAN]),
        ],
    ]
}

/// Contents of the slots, save by save: x, and the generation.
const X: [[f64; 3]; SAVES] = [
    [0.25, EMPTY, EMPTY],
    [0.75, 0.1, EMPTY],
    [0.25, 0.2, 0.3],
    [0.75, EMPTY, EMPTY],
    [0.1, 0.4, EMPTY],
    [0.6, 0.5, EMPTY],
    [0.9, EMPTY, 0.6],
];
const GENERATION: [[i32; 3]; SAVES] =
    [[0, 0, 0], [0, 0, 1], [0, 0, 1], [0, 1, 2], [1, 1, 2], [1, 1, 2], [1, 2, 2]];

/// Save `index`, at time 0.5 x index. The seed crosses the periodic face after save 1.
pub fn save(index: usize) -> Save {
    let device = Device::flex();
    let x = X[index];
    let position = |x: f64| if x.is_nan() { [EMPTY; 3] } else { [x, 0.5, 0.0] };
    let floats = |rows: Vec<[f64; 3]>| {
        let data = TensorData::new(rows.into_flattened(), [3, 3]);
        Tensor::<2>::from_data(data, (&device, DType::F64))
    };
    let mut status = x.map(|x| if x.is_nan() { Status::Waiting } else { Status::Active }.code());
    if index == 6 {
        status[0] = Status::LeftMesh.code();
    }
    let crossed = i32::from(index == 2 || index == 3);
    let image = vec![crossed, 0, 0, 0, 0, 0, 0, 0, 0];
    let ints = |row: [i32; 3]| {
        Tensor::from_data(TensorData::new(row.to_vec(), [3]), (&device, DType::I32))
    };
    Save {
        index,
        time: 0.5 * index as f64,
        first: 0,
        position: floats(x.map(position).to_vec()),
        rest: None,
        status: ints(status),
        image: Tensor::from_data(TensorData::new(image, [3, 3]), (&device, DType::I32)),
        velocity: Some(floats(x.map(position).to_vec())),
        generation: Some(ints(GENERATION[index])),
        arrays: Vec::new(),
    }
}

pub fn ends() -> Ends {
    Ends {
        status: vec![Status::LeftMesh, Status::Waiting, Status::Active],
        release_time: vec![1.75, f64::NAN, 2.875],
        end_time: vec![2.75, f64::NAN, f64::NAN],
        mesh_face: Vec::new(),
        obstacle: Vec::new(),
        patch: Vec::new(),
        condition: Vec::new(),
        generation: vec![1, 2, 2],
    }
}

/// Writes the run into a folder, with the given last instances of its slots.
fn run(folder: &Path, last: &[ParticleInstance]) -> Tracks {
    let mut writer = TrackWriter::new(folder).overwrite(true);
    let [first, second, _] = instances();
    writer.begin(&plan()).unwrap();
    for index in 0..SAVES {
        match index {
            3 => writer.instances(&first).unwrap(),
            6 => writer.instances(&second).unwrap(),
            _ => writer.instances(&[]).unwrap(),
        }
        writer.save(save(index)).unwrap();
    }
    writer.instances(last).unwrap();
    writer.end(&ends()).unwrap();
    Tracks::open(folder).unwrap()
}

pub fn store(folder: &Path) -> Tracks {
    run(folder, &instances()[2])
}

fn files(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    files.map(|file| file.file_name().into_string().unwrap()).collect()
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
fn particle_instances_are_read_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = store(folder.path());
    let read: Vec<ParticleInstance> = tracks.instances().unwrap().map(Result::unwrap).collect();
    // As text, because NaN differs from itself.
    assert_eq!(format!("{read:?}"), format!("{:?}", instances().concat()));
    assert_eq!(tracks.num_instances(), Some(7));
    for (index, generation) in GENERATION.iter().enumerate() {
        assert_eq!(tracks.generation(index).unwrap().unwrap(), generation);
    }
    assert!(tracks.position(3).unwrap()[1].iter().all(|x| x.is_nan()));
    assert_eq!(tracks.position(4).unwrap()[1], [0.4, 0.5, 0.0]);
    assert_eq!(tracks.track(1).unwrap().generation.unwrap(), [0, 0, 0, 1, 1, 1, 2]);
    assert_eq!(format!("{:?}", tracks.ends().unwrap()), format!("{:?}", ends()));
    let missing = tracks.generation(SAVES).unwrap_err().to_string();
    assert!(missing.contains("no save 7"), "{missing}");
    assert!(!files(folder.path()).iter().any(|name| name.ends_with(".part")));
}

#[test]
fn several_blocks_of_instances_are_read_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = TrackWriter::new(folder.path());
    writer.begin(&plan()).unwrap();
    let all: Vec<ParticleInstance> =
        (0..10_000).map(|i| instance((i % 3, (i / 3) as u32), EXITED, [i as f64, 1e4])).collect();
    all.chunks(777).for_each(|some| writer.instances(some).unwrap());
    writer.end(&ends()).unwrap();
    let tracks = Tracks::open(folder.path()).unwrap();
    let read: Result<Vec<ParticleInstance>, _> = tracks.instances().unwrap().collect();
    assert!(read.unwrap() == all);
}

#[test]
fn overwriting_removes_the_arrays_of_instances() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    assert!(folder.path().join("instance_slot").exists());
    let mut writer = TrackWriter::new(folder.path()).overwrite(true);
    let plan = plain_plan(Precision::F32, false, [0.0; 3]);
    writer.begin(&plan).unwrap();
    writer.save(plain_save(&plan, 0)).unwrap();
    writer.end(&plain_ends()).unwrap();
    let left = files(folder.path());
    assert!(
        !left.iter().any(|name| name.contains("instance") || name.contains("gener")),
        "{left:?}"
    );
    let manifest = std::fs::read_to_string(folder.path().join("zarr.json")).unwrap();
    assert!(!manifest.contains("\"instances\"") && !manifest.contains("generation"), "{manifest}");
    let tracks = Tracks::open(folder.path()).unwrap();
    assert!(tracks.instances().is_none() && tracks.num_instances().is_none());
    assert_eq!(tracks.generation(0).unwrap(), None);
    assert_eq!(tracks.track(0).unwrap().generation, None);
    assert!(tracks.ends().unwrap().generation.is_empty());
}

#[test]
fn instances_that_contradict_the_plan_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = TrackWriter::new(folder.path());
    let message = writer.instances(&instances()[0]).unwrap_err().to_string();
    assert!(message.contains("has not started"), "{message}");
    writer.begin(&plan()).unwrap();
    let lacking = Save { generation: None, ..save(0) };
    let message = writer.save(lacking).unwrap_err().to_string();
    assert!(message.contains("no generations, which the save plan lists"), "{message}");
    let few = Ends { generation: Vec::new(), ..ends() };
    let message = writer.end(&few).unwrap_err().to_string();
    assert!(message.contains("the ends have 0 particles, the save plan has 3"), "{message}");
    let mut writer = writer.overwrite(true);
    writer.begin(&plain_plan(Precision::F64, true, [0.0; 3])).unwrap();
    let message = writer.instances(&instances()[0]).unwrap_err().to_string();
    assert!(message.contains("the save plan says that slots are not re-used"), "{message}");
}

#[test]
fn damaged_tables_of_instances_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let tracks = store(folder.path());
    let damage = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let path = folder.path().join(name);
        let original = std::fs::read(&path).unwrap();
        let mut bytes = original.clone();
        change(&mut bytes);
        std::fs::write(&path, bytes).unwrap();
        let result = write_tracks(&tracks, folder.path().join("tracks.vtp"));
        let result = Tracks::open(folder.path()).and(result);
        std::fs::write(&path, original).unwrap();
        result.unwrap_err().to_string()
    };
    let cut = damage("instance_slot/c.0", &|bytes| bytes.truncate(200));
    assert!(cut.contains("instance_slot/c.0`: found 200 bytes, expected 32768"), "{cut}");
    let slot = damage("instance_slot/c.0", &|bytes| bytes[0] = 3);
    assert!(
        slot.contains(
            "found generation 0 of slot 3, expected generations from 0, and slots from 0 below 3"
        ),
        "{slot}"
    );
    let status = damage("instance_status/c.0", &|bytes| bytes[0] = 99);
    assert!(status.contains("status code 99"), "{status}");
    let order = damage("instance_generation/c.0", &|bytes| bytes[0] = 7);
    assert!(order.contains("found generation 7 of slot 1, expected generation 0"), "{order}");
    let negative = damage("end_generation/c.0", &|bytes| bytes[3] = 0xff);
    assert!(negative.contains("end_generation`: found generation -"), "{negative}");
}

#[test]
fn each_instance_has_its_own_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tracks.vtp");
    write_tracks(&store(folder.path()), &path).unwrap();
    let file = burntrace_vtk::open(&path).unwrap();
    // The seed: 2 points, a cut at the periodic face, 2 points. Its second instance: 3 points, the
    // last one at its end. Then two instances of two points, and two of one.
    assert_eq!(topology(&file, "lines/offsets"), [2.0, 4.0, 7.0, 9.0, 11.0]);
    let expected: Vec<f64> = (0..11).map(f64::from).collect();
    assert_eq!(topology(&file, "lines/connectivity"), expected);
    assert_eq!(topology(&file, "verts/connectivity"), [11.0, 12.0]);
    let of_cells = |name| values(&file, name, Association::Cell);
    assert_eq!(of_cells("particle"), [2.0, 2.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!(of_cells("generation"), [1.0, 2.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    let of_points = |name| values(&file, name, Association::Point);
    let generation = [0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 2].map(f64::from);
    assert_eq!(of_points("generation"), generation);
    let time = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 2.75, 0.5, 1.0, 2.0, 2.5, 1.0, 3.0];
    assert_eq!(of_points("time"), time);
    let age = [0.0, 0.5, 1.0, 1.5, 0.25, 0.75, 1.0, 0.25, 0.75, 0.25, 0.75, 0.375, 0.125];
    assert_eq!(of_points("age"), age);
    let points = file.points().unwrap().values.into_f64();
    let x = [0.25, 0.75, 0.25, 0.75, 0.1, 0.6, 0.9, 0.1, 0.2, 0.4, 0.5, 0.3, 0.6];
    assert_eq!(points.iter().step_by(3).copied().collect::<Vec<_>>(), x);
    assert_eq!(of_points("velocity"), points);
}

#[test]
fn clouds_omit_empty_slots() {
    let folder = tempfile::tempdir().unwrap();
    let pvd = write_clouds(&store(folder.path()), folder.path().join("clouds")).unwrap();
    let cloud = |save: usize| {
        let file = burntrace_vtk::open(pvd.with_file_name(format!("cloud_{save:05}.vtp"))).unwrap();
        ["particle", "generation", "age"].map(|name| values(&file, name, Association::Point))
    };
    assert_eq!(cloud(0), [[0.0], [0.0], [0.0]]);
    assert_eq!(cloud(2), [[0.0, 1.0, 2.0], [0.0, 0.0, 1.0], [1.0, 0.75, 0.375]]);
    assert_eq!(cloud(4), [[0.0, 1.0], [1.0, 1.0], [0.25, 0.25]]);
    // The second instance of the seed has ended: its age is that at its end.
    assert_eq!(cloud(6), [[0.0, 2.0], [1.0, 2.0], [1.0, 0.125]]);
}

#[test]
fn points_have_no_ages_if_slots_are_not_reused() {
    let folder = tempfile::tempdir().unwrap();
    plain_run(folder.path(), &plain_plan(Precision::F32, false, [0.0; 3]), 5);
    let store = Tracks::open(folder.path()).unwrap();
    let path = folder.path().join("tracks.vtp");
    write_tracks(&store, &path).unwrap();
    let pvd = write_clouds(&store, folder.path().join("clouds")).unwrap();
    for path in [path, pvd.with_file_name("cloud_00000.vtp")] {
        let file = burntrace_vtk::open(&path).unwrap();
        let has = |name| file.arrays().iter().any(|array| array.name == name);
        assert!(has("particle") && !has("age") && !has("generation"));
    }
}
