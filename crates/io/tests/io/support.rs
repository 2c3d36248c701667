//! Files and runs that several tests use.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_core::{Ends, Precision, Save, SavePlan, Status, TrackSink};
use burntrace_io::TrackWriter;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A file or folder in the test data of the repository.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)
}

/// An array for [`image`]: `point` or `cell`, type, name, components, values.
pub type ArrayText<'a> = (&'a str, &'a str, &'a str, usize, Vec<f64>);

/// Image data in ASCII with the given nodes along its axes.
pub fn image(
    [nx, ny, nz]: [usize; 3],
    spacing: [f64; 3],
    time: Option<f64>,
    arrays: &[ArrayText<'_>],
) -> String {
    let extent = format!("0 {} 0 {} 0 {}", nx - 1, ny - 1, nz - 1);
    let [dx, dy, dz] = spacing;
    let mut text = format!(
        "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\"><ImageData \
         WholeExtent=\"{extent}\" Origin=\"0 0 0\" Spacing=\"{dx} {dy} {dz}\">"
    );
    if let Some(time) = time {
        write!(
            text,
            "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" \
             format=\"ascii\">{time}</DataArray></FieldData>"
        )
        .unwrap();
    }
    write!(text, "<Piece Extent=\"{extent}\">").unwrap();
    text + &sections(arrays) + "</Piece></ImageData></VTKFile>"
}

/// Arrays of points and cells as XML.
fn sections(arrays: &[ArrayText<'_>]) -> String {
    let mut text = String::new();
    for (section, on) in [("PointData", "point"), ("CellData", "cell")] {
        write!(text, "<{section}>").unwrap();
        for (_, kind, name, components, values) in arrays.iter().filter(|array| array.0 == on) {
            write!(
                text,
                "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
                 format=\"ascii\">{}</DataArray>",
                words(values)
            )
            .unwrap();
        }
        write!(text, "</{section}>").unwrap();
    }
    text
}

fn words<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

/// A cell for [`unstructured`]: VTK's code, and its points.
pub type CellText = (u8, Vec<u32>);

/// An unstructured grid in ASCII.
pub fn unstructured(points: &[[f64; 3]], cells: &[CellText], arrays: &[ArrayText<'_>]) -> String {
    let mut text = format!(
        "<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\">\
         <UnstructuredGrid><Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\
         <Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">{}\
         </DataArray></Points><Cells>",
        points.len(),
        cells.len(),
        words(points.as_flattened())
    );
    let types: Vec<u8> = cells.iter().map(|cell| cell.0).collect();
    let connectivity: Vec<u32> = cells.iter().flat_map(|cell| cell.1.clone()).collect();
    let mut end = 0;
    let ends = cells.iter().map(|cell| {
        end += cell.1.len();
        end
    });
    let ends: Vec<usize> = ends.collect();
    for (kind, name, values) in [
        ("Int64", "connectivity", words(&connectivity)),
        ("Int64", "offsets", words(&ends)),
        ("UInt8", "types", words(&types)),
    ] {
        write!(
            text,
            "<DataArray type=\"{kind}\" Name=\"{name}\" format=\"ascii\">{values}</DataArray>"
        )
        .unwrap();
    }
    text + "</Cells>" + &sections(arrays) + "</Piece></UnstructuredGrid></VTKFile>"
}

/// A frame of 2 x 2 x 1 nodes with the velocity `U` = (value, 0, 0).
pub fn frame(value: f64, time: Option<f64>) -> String {
    let velocity = [value, 0.0, 0.0].repeat(4);
    image([2, 2, 1], [1.0; 3], time, &[("point", "Float32", "U", 3, velocity)])
}

/// A temporary folder with these files.
pub fn folder(files: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// The save plan of [`run`].
pub fn plan(precision: Precision, velocity: bool, periods: [f64; 3]) -> SavePlan {
    SavePlan {
        particles: 3,
        reuses_slots: false,
        saves: 5,
        precision,
        positions: precision,
        velocity,
        periods,
        arrays: Vec::new(),
        gates: Vec::new(),
    }
}

/// Save `index` of a run of three particles in a box of width 1: one crosses the periodic x face
/// between saves 1 and 2, one is released at save 2, one leaves before save 3.
pub fn save(plan: &SavePlan, index: usize) -> Save {
    let (at, device, dtype) = (index as f64, Device::flex(), plan.precision.dtype());
    let crossed = i32::from(index >= 2);
    let x = 0.25 + 0.5 * at - f64::from(crossed);
    let exited = Status::Exited(burntrace_core::Face::YHigh);
    let second = if index < 2 { Status::Waiting } else { Status::Active };
    let third = if index < 3 { Status::Active } else { exited };
    let position = vec![x, 0.1, 0.0, 0.5, 0.5, 0.1 * at, 0.3, at.min(3.0) / 3.0, 0.0];
    let velocity = vec![0.5, 0.0, 0.0, 0.0, 0.0, 0.1, 0.0, 1.0 / 3.0, 0.0];
    let status = [Status::Active, second, third].map(Status::code).to_vec();
    let image = vec![crossed, 0, 0, 0, 0, 0, 0, 0, 0];
    let floats = |values: Vec<f64>| {
        Tensor::<2>::from_data(TensorData::new(values, [3, 3]), (&device, dtype))
    };
    Save {
        index,
        time: 0.5 * at,
        first: 0,
        position: floats(position),
        rest: None,
        status: Tensor::from_data(TensorData::new(status, [3]), (&device, DType::I32)),
        image: Tensor::from_data(TensorData::new(image, [3, 3]), (&device, DType::I32)),
        velocity: plan.velocity.then(|| floats(velocity)),
        generation: None,
        arrays: Vec::new(),
    }
}

/// The ends of the run.
pub fn ends() -> Ends {
    let exited = Status::Exited(burntrace_core::Face::YHigh);
    Ends {
        status: vec![Status::Active, Status::Active, exited],
        release_time: vec![0.0, 0.75, 0.0],
        end_time: vec![f64::NAN, f64::NAN, 1.25],
        mesh_face: Vec::new(),
        obstacle: Vec::new(),
        patch: Vec::new(),
        condition: Vec::new(),
        generation: Vec::new(),
    }
}

/// Writes the first `saves` saves of the run into a folder, and ends it.
pub fn run(folder: &Path, plan: &SavePlan, saves: usize) {
    let mut writer = TrackWriter::new(folder);
    writer.begin(plan).unwrap();
    for index in 0..saves {
        writer.save(save(plan, index)).unwrap();
    }
    writer.end(&ends()).unwrap();
}
