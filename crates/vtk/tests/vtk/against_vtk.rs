//! Random files of many kinds (`tests/peers/vtk_files.py`): each is read as VTK reads it.
//!
//! `BURNTRACE_VTK_FILES` is the number of files, and `BURNTRACE_VTK_SEED` selects others.

use super::common::points;
use super::requirements;
use burntrace_vtk::{Association, CellArray, VtkFile, open_step};
use std::path::{Path, PathBuf};
use std::process::Command;

/// An array of a file: where it is, its components, name and values.
#[derive(Debug, Clone, Default)]
struct Values {
    on: String,
    components: usize,
    name: String,
    values: Vec<f64>,
}

/// What VTK reads from a file at a time step.
#[derive(Debug, Default)]
struct Expected {
    name: String,
    step: usize,
    time: Option<f64>,
    points: Vec<[f64; 3]>,
    /// Types and points of the cells of unstructured grids, or of the faces of poly data.
    cells: Option<Vec<Vec<f64>>>,
    faces: Option<Vec<Vec<f64>>>,
    /// Nodes along the axes of images, in the order of the file.
    dims: Vec<usize>,
    arrays: Vec<Values>,
}

fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

/// The name of an array, of which special characters are in hexadecimal digits.
fn decoded(name: &str) -> String {
    let mut bytes = name.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
            let digits = String::from_utf8(digits.to_vec()).unwrap();
            decoded.push(u8::from_str_radix(&digits, 16).unwrap());
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).unwrap()
}

fn parse(text: &str) -> Vec<Expected> {
    let mut files: Vec<Expected> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let count = || words[1].parse::<usize>().unwrap();
        if words[0] == "file" {
            let (name, step) = (words[1].to_owned(), words[2].parse().unwrap());
            files.push(Expected { name, step, ..Expected::default() });
            continue;
        }
        let file = files.last_mut().unwrap();
        let mut rows = |count| (0..count).map(|_| numbers(lines.next().unwrap())).collect();
        match words[0] {
            "time" => file.time = Some(words[1].parse().unwrap()),
            "points" => file.points = numbers(lines.next().unwrap()).as_chunks().0.to_vec(),
            "cells" => file.cells = Some(rows(count())),
            "faces" => file.faces = Some(rows(count())),
            "dims" => file.dims = words[1..].iter().map(|word| word.parse().unwrap()).collect(),
            "array" => file.arrays.push(Values {
                on: words[1].to_owned(),
                components: words[2].parse().unwrap(),
                name: decoded(words[4].strip_prefix("name:").unwrap()),
                values: numbers(lines.next().unwrap()),
            }),
            other => panic!("{other}"),
        }
    }
    files
}

/// Whether numbers are equal, if they are numbers.
fn same(a: &[f64], b: &[f64]) -> bool {
    let equal = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
    a.len() == b.len() && a.iter().zip(b).all(equal)
}

/// The types and points of cells; the points of polyhedra are sorted.
fn rows(cells: &CellArray) -> Vec<Vec<f64>> {
    let row = |(kind, corners): (u8, &[u32])| {
        [f64::from(kind)].into_iter().chain(corners.iter().map(|i| f64::from(*i))).collect()
    };
    cells.iter().map(row).collect()
}

fn sorted(mut cells: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for cell in cells.iter_mut().filter(|cell| cell[0] == 42.0) {
        cell[1..].sort_by(f64::total_cmp);
    }
    cells
}

/// For each point of a file, its index in VTK: the same, but for images with permuted axes.
fn order(found: &[[f64; 3]], expected: &Expected) -> Result<Vec<usize>, String> {
    // VTK computes the points of images in another order of operations.
    let tolerance = if expected.dims.is_empty() { 0.0 } else { 1e-12 };
    let close = |a: &[f64; 3], b: &[f64; 3]| {
        (0..3).all(|d| (a[d] - b[d]).abs() <= tolerance * (1.0 + a[d].abs()) || same(a, b))
    };
    let all = &expected.points;
    if found.len() != all.len() {
        return Err(format!("{} points, not {}", found.len(), all.len()));
    }
    let index = |(i, point)| match close(point, &all[i]) {
        true => Ok(i),
        false if expected.dims.is_empty() => Err(format!("point {point:?}, not {:?}", all[i])),
        false => all.iter().position(|other| close(point, other)).ok_or(format!("{point:?}")),
    };
    found.iter().enumerate().map(index).collect()
}

/// The same for cells, by their first corners. An axis with one node counts as one layer of cells.
fn cell_order(file: &VtkFile, points: &[usize], expected: &Expected) -> Vec<usize> {
    let (Some(dims), [x, y, _]) = (file.geometry().dims(), expected.dims.as_slice()) else {
        return (0..file.geometry().num_cells()).collect();
    };
    let layers = dims.map(|nodes| (nodes - 1).max(1));
    let old = |i: usize, j: usize, k: usize| {
        let point = points[(k * dims[1] + j) * dims[0] + i];
        let (i, j, k) = (point % x, point / x % y, point / x / y);
        (k * (y - 1).max(1) + j) * (x - 1).max(1) + i
    };
    let rows = (0..layers[2]).flat_map(|k| (0..layers[1]).map(move |j| (j, k)));
    rows.flat_map(|(j, k)| (0..layers[0]).map(move |i| (i, j, k)))
        .map(|(i, j, k)| old(i, j, k))
        .collect()
}

/// Compares a file with what VTK reads; the error is the difference, or the reason why it is not read.
fn compare(path: &Path, expected: &Expected) -> Result<(), String> {
    let text = |error: burntrace_vtk::Error| format!("refused: {error}");
    let file = open_step(path, expected.step).map_err(text)?;
    let order = order(&points(&file), expected)?;
    if let Some(cells) = &expected.cells {
        let found = sorted(rows(&file.cells().map_err(text)?));
        if found != sorted(cells.clone()) {
            return Err(format!("cells {found:?}, not {cells:?}"));
        }
    }
    if let Some(faces) = &expected.faces {
        let found = rows(&file.faces().map_err(text)?);
        if &found != faces {
            return Err(format!("faces {found:?}, not {faces:?}"));
        }
    }
    if expected.time.is_some() && file.time_value().map_err(text)? != expected.time {
        return Err(format!("time {:?}, not {:?}", file.time_value(), expected.time));
    }
    compare_arrays(&file, expected, [order.clone(), cell_order(&file, &order, expected)])
}

fn compare_arrays(
    file: &VtkFile,
    expected: &Expected,
    [points, cells]: [Vec<usize>; 2],
) -> Result<(), String> {
    // Joining several pieces of poly data changes the order of cells of several kinds.
    let is_left_out = |array: &Values| {
        array.on == "cell"
            && file.path().extension().is_some_and(|extension| extension == "pvtp")
            && file.arrays().iter().all(|own| own.association != Association::Cell)
    };
    let arrays: Vec<&Values> = expected.arrays.iter().filter(|array| !is_left_out(array)).collect();
    if file.arrays().len() != arrays.len() {
        let names = |array: &burntrace_vtk::ArrayInfo| array.name.clone();
        let found: Vec<String> = file.arrays().iter().map(names).collect();
        return Err(format!("the arrays {found:?}, not {arrays:?}"));
    }
    for Values { on, components, name, values } in arrays {
        let (association, order) = match on.as_str() {
            "point" => (Association::Point, Some(&points)),
            "cell" => (Association::Cell, Some(&cells)),
            _ => (Association::Field, None),
        };
        let is_it = |array: &&burntrace_vtk::ArrayInfo| {
            array.association == association && &array.name == name
        };
        let Some(array) = file.arrays().iter().find(is_it) else {
            return Err(format!("no {on} array {name:?} in {:?}", file.arrays()));
        };
        let found = file.read(array).map_err(|error| format!("refused: {error}"))?;
        let tuple = |i: &usize| values[i * components..][..*components].to_vec();
        let ordered = order.map_or(values.clone(), |order| order.iter().flat_map(tuple).collect());
        if found.components != *components || !same(&found.values.to_f64(), &ordered) {
            let found = found.values.to_f64();
            return Err(format!("{on} {name:?} ({}): {found:?}, not {ordered:?}", array.scalar));
        }
    }
    Ok(())
}

#[test]
fn random_files_are_read_as_by_vtk() {
    let Some(python) = requirements::python("vtk", "vtk, numpy") else { return };
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<usize>().unwrap());
    let (count, seed) = (number("BURNTRACE_VTK_FILES"), number("BURNTRACE_VTK_SEED"));
    let (count, seed) = (count.unwrap_or(300), seed.unwrap_or(1));
    let folder = tempfile::tempdir().unwrap();
    let folder = std::env::var_os("BURNTRACE_VTK_FOLDER")
        .map_or_else(|| folder.path().to_path_buf(), PathBuf::from);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/vtk_files.py");
    let output = Command::new(python)
        .arg(script)
        .arg(&folder)
        .args([count.to_string(), seed.to_string()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = parse(&std::fs::read_to_string(folder.join("all.txt")).unwrap());
    assert!(files.len() >= count);
    let different = files.iter().filter_map(|expected| {
        let difference = compare(&folder.join(&expected.name), expected).err()?;
        let difference: String = difference.chars().take(2000).collect();
        Some(format!("{}, step {}: {difference}", expected.name, expected.step))
    });
    let different: Vec<String> = different.collect();
    assert!(different.is_empty(), "{} files:\n{}", different.len(), different.join("\n"));
}
