pub mod mesh;

use std::path::{Path, PathBuf};

use burntrace_vtk::{ArrayInfo, Kind, VtkFile};

/// The folder of the fixtures.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/vtk")
}

/// All fixtures, sorted.
pub fn fixtures() -> Vec<PathBuf> {
    let files = files(&folder());
    assert!(files.len() > 80, "fixtures are missing");
    files
}

/// The fixtures of one mesh with cells of many types, sorted.
pub fn mixed() -> Vec<PathBuf> {
    let files = files(&folder().join("../cells"));
    assert_eq!(files.len(), 15);
    files
}

/// A file of the data sets in several files and blocks.
pub fn composite(name: &str) -> PathBuf {
    folder().join("../composite").join(name)
}

/// The data sets in several files and blocks, and the files beside them, sorted.
pub fn composites() -> Vec<PathBuf> {
    let mut files = files(&composite(""));
    files.retain(|path| path.is_file());
    assert!(files.len() > 15, "fixtures are missing");
    files
}

/// Copies a folder with all that is in it.
pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy_folder(&path, &to),
            false => drop(std::fs::copy(&path, &to).unwrap()),
        }
    }
}

/// Asserts that velocities, pressures and densities are those of the formulas.
pub fn check_values(file: &VtkFile) {
    let name = file.path().display();
    let points = points(file);
    let expected: Vec<f64> =
        points.iter().flat_map(|point| velocity(*point)).map(|x| f64::from(x as f32)).collect();
    let found = values(file, "velocity");
    assert_eq!(found.len(), expected.len(), "{name}");
    let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-5;
    assert!(found.iter().zip(&expected).all(close), "{name}: {found:?} {expected:?}");
    let pressures = values(file, "p");
    assert!(
        points.iter().zip(&pressures).all(|(x, found)| (p(*x) - found).abs() < 1e-12),
        "{name}"
    );
    let cells = file.geometry().num_cells();
    let numbers: Vec<f64> = (0..cells).map(|cell| 100.0 + cell as f64).collect();
    assert_eq!(values(file, "density"), numbers, "{name}");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension != "md"));
    files.sort();
    files
}

/// The array with this name.
pub fn array<'a>(file: &'a VtkFile, name: &str) -> &'a ArrayInfo {
    let found = file.arrays().iter().find(|array| array.name == name);
    found.unwrap_or_else(|| panic!("{}: no array `{name}`", file.path().display()))
}

/// The values of the array with this name.
pub fn values(file: &VtkFile, name: &str) -> Vec<f64> {
    file.read(array(file, name)).unwrap().values.into_f64()
}

/// All points, explicit or from coordinates.
pub fn points(file: &VtkFile) -> Vec<[f64; 3]> {
    if matches!(file.kind(), Kind::ImageData | Kind::RectilinearGrid) {
        let [x, y, z] = file.coordinates().unwrap();
        let rows = z.iter().flat_map(|z| y.iter().map(move |y| (*y, *z)));
        return rows.flat_map(|(y, z)| x.iter().map(move |x| [*x, y, z])).collect();
    }
    let points = file.points().unwrap().values.into_f64();
    points.chunks(3).map(|p| [p[0], p[1], p[2]]).collect()
}

/// The velocity of the fixtures.
pub fn velocity([x, y, z]: [f64; 3]) -> [f64; 3] {
    [1.0 + 2.0 * x + 3.0 * y + 4.0 * z, -2.0 + x - y + 0.5 * z, 0.25 + 0.25 * x + 2.0 * y - z]
}

/// The scalar `p` of the fixtures.
pub fn p(point: [f64; 3]) -> f64 {
    let [u, v, _] = velocity(point);
    u + 10.0 * v
}
