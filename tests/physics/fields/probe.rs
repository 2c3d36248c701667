//! Velocities in meshes against vtkProbeFilter at random points (`tests/peers/probe.py`).

use crate::common::*;
use burn::tensor::{Tensor, TensorData};
use burntrace::{
    CellVelocity, Field, FieldOptions, MeshField, SaveAt, Scheme, Seeds, Tracer,
    io::{MeshSeries, SeriesOptions},
};
use std::path::{Path, PathBuf};

/// Tolerance relative to the maximum speed.
const BOUND: f64 = 1e-5;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/peers/probe").join(name)
}

/// Points and velocities: rows of six numbers in a NumPy file of version 1.
fn rows_of_six(path: &Path) -> (Vec<[f64; 3]>, Vec<[f64; 3]>) {
    let bytes = std::fs::read(path).unwrap();
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let kind = String::from_utf8_lossy(&bytes[10..header]);
    assert!(kind.contains("'<f4', 'fortran_order': False"), "{kind}");
    let (numbers, rest) = bytes[header..].as_chunks();
    assert!(rest.is_empty());
    let numbers: Vec<f64> = numbers.iter().map(|four| f32::from_le_bytes(*four).into()).collect();
    let (rows, rest) = numbers.as_chunks::<6>();
    assert!(rest.is_empty());
    rows.iter().map(|[x, y, z, u, v, w]| ([*x, *y, *z], [*u, *v, *w])).unzip()
}

/// Compares a file with VTK's fixture of this name; on GPUs, where kernels for meshes take seconds to compile,
/// only if requested.
fn check(name: &str, file: &Path, on_gpus: bool) {
    let (points, expected) = rows_of_six(&fixture(&format!("{name}.npy")));
    assert_eq!(points.len(), 10_000);
    let speed = |[u, v, w]: &[f64; 3]| (u * u + v * v + w * w).sqrt();
    let largest = expected.iter().map(speed).fold(0.0, f64::max);
    let mut series = MeshSeries::open(file, &SeriesOptions::default()).unwrap();
    let seeds = Seeds::list(points.clone()).unwrap();
    let is_requested = |machine: &Machine| machine.is_cpu() || (on_gpus && !machine.is_double());
    for machine in machines().into_iter().filter(is_requested) {
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let in_cells = CellVelocity::Constant;
        let field = MeshField::load(&mut series, &machine.device, &options, in_cells).unwrap();
        if machine.is_cpu() {
            let data = TensorData::new(points.as_flattened().to_vec(), [points.len(), 3]);
            let dtype = machine.precision.dtype();
            let position = Tensor::<2>::from_data(data, (&machine.device, dtype));
            let lost = integers(field.locate(position)).iter().filter(|cell| **cell < 0).count();
            assert_eq!(lost, 0, "{name}, {machine}");
        }
        let start = field.span()[0];
        for engine in machine.engines() {
            // Seeds outside all cells are an error.
            let tracer = Tracer::new(&field)
                .engine(*engine)
                .scheme(Scheme::Euler)
                .span(steps(start, start + 1e-3, 1))
                .save(SaveAt::EverySteps(1))
                .save_velocity(true);
            let velocities = trace(&tracer, &seeds).velocities.unwrap();
            let velocities = &velocities.as_chunks().0[..points.len()];
            let error = distance(velocities, &expected) / largest;
            eprintln!("{name}, {machine}, {engine}: {error:.2e} of the maximum speed");
            assert_below(&format!("{name}, {machine}, {engine}"), error, BOUND);
        }
    }
}

/// The same for a file of the shared data, if present.
fn check_shared(name: &str, file: &str, on_gpus: bool) {
    if let Some(path) = crate::requirements::flow_data(file) {
        check(name, &path, on_gpus);
    }
}

#[test]
fn velocities_in_a_mixed_mesh_match_vtk_probe() {
    check("mixed", &fixture("mixed.vtu"), true);
}

#[test]
fn velocities_in_blood_vessels_match_vtk_probe() {
    check_shared("blood", "blood_vessels/T0000000500.pvtu", true);
}

#[test]
fn velocities_in_the_kitchen_match_vtk_probe() {
    check_shared("kitchen", "kitchen.vtk", false);
}
