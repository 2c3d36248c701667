//! Blocks of frames are the same as parts of whole frames.

use crate::support::{data, folder};
use burntrace_core::{FrameSource, GridBlock, GridSource};
use burntrace_io::{Crop, Series, SeriesOptions};
use std::path::Path;

/// The blocks of a grid that are compared: at its ends and inside.
fn blocks(nodes: [usize; 3]) -> [GridBlock; 4] {
    let part = |first: fn(usize) -> usize, count: fn(usize) -> usize| {
        let nodes_of = |n: usize| if n == 1 { 1 } else { count(n) };
        GridBlock {
            first: nodes.map(|n| if n == 1 { 0 } else { first(n) }),
            nodes: nodes.map(nodes_of),
        }
    };
    [
        part(|_| 0, |n| n),
        part(|_| 0, |_| 2),
        part(|n| n - 2, |_| 2),
        part(|n| usize::from(n > 2), |n| n.min(4) - usize::from(n > 2)),
    ]
}

/// The bits of numbers.
fn bits(numbers: &burntrace_core::Floats, i: usize) -> u64 {
    numbers.get(i).to_bits()
}

fn compare(mut series: Series) {
    let nodes = series.axes().each_ref().map(Vec::len);
    let placement = series.placement();
    let whole = series.read(0).unwrap();
    for block in blocks(nodes) {
        let part = series.read_block(0, &block).unwrap();
        let indices: Vec<usize> = block.values(nodes, placement).collect();
        assert_eq!(part.velocity.len(), 3 * indices.len(), "{block:?}");
        for (i, value) in indices.iter().enumerate() {
            for d in 0..3 {
                let expected = bits(&whole.velocity, 3 * value + d);
                assert_eq!(bits(&part.velocity, 3 * i + d), expected, "{block:?}, value {value}");
            }
            let is_hidden = |frame: &burntrace_core::FrameData, i: usize| {
                frame.hidden().is_some_and(|hidden| hidden[i])
            };
            assert_eq!(is_hidden(&part, i), is_hidden(&whole, *value), "{block:?}");
        }
    }
}

#[test]
fn blocks_of_netcdf_and_zarr_are_parts_of_frames() {
    let crop = Crop { low: Some([0.4, -1.0, 0.0]), high: Some([1.9, 2.0, 1.0]) };
    let part = SeriesOptions { crop: Some(crop), every: Some([1, 2, 1]), ..Default::default() };
    for name in ["classic.nc", "nc4_deflate.nc", "v3_zstd.zarr", "packed.nc"] {
        let path = data("cf").join(name);
        compare(Series::open(path.as_path(), &SeriesOptions::default()).unwrap());
        compare(Series::open(path.as_path(), &part).unwrap());
    }
}

const NODES: [usize; 3] = [5, 4, 3];

/// The numbers of an array with a number of components.
fn numbers(tuples: [usize; 3], components: usize) -> Vec<f32> {
    (0..tuples.iter().product::<usize>() * components).map(|i| (i as f32).sin()).collect()
}

/// An image with raw appended arrays of floats: a vector at the points, and its components in the cells.
fn raw_image(spacing: f64) -> Vec<u8> {
    let cells = NODES.map(|n| n - 1);
    let arrays = [numbers(NODES, 3), numbers(cells, 1), numbers(cells, 1)];
    let [nx, ny, nz] = cells;
    let mut bytes = format!(
        "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\"><ImageData \
         WholeExtent=\"0 {nx} 0 {ny} 0 {nz}\" Origin=\"0 0 0\" Spacing=\"{spacing} 0.5 {spacing}\"><Piece \
         Extent=\"0 {nx} 0 {ny} 0 {nz}\">"
    );
    let mut offset = 0;
    let mut entry = |name: &str, components: usize, array: &[f32]| {
        let entry = format!(
            "<DataArray type=\"Float32\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" \
             offset=\"{offset}\"/>"
        );
        offset += 8 + 4 * array.len();
        entry
    };
    let entries = [entry("U", 3, &arrays[0]), entry("a", 1, &arrays[1]), entry("b", 1, &arrays[2])];
    bytes += &format!(
        "<PointData>{}</PointData><CellData>{}{}</CellData></Piece></ImageData><AppendedData encoding=\"raw\">_",
        entries[0], entries[1], entries[2]
    );
    let mut bytes = bytes.into_bytes();
    for array in &arrays {
        bytes.extend((4 * array.len() as u64).to_le_bytes());
        array.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    }
    bytes.extend(b"</AppendedData></VTKFile>");
    bytes
}

/// A rectilinear grid in a binary legacy file, with doubles.
fn legacy() -> Vec<u8> {
    let mut bytes =
        b"# vtk DataFile Version 3.0\nblocks\nBINARY\nDATASET RECTILINEAR_GRID\n".to_vec();
    bytes.extend(format!("DIMENSIONS {} {} {}\n", NODES[0], NODES[1], NODES[2]).bytes());
    for (d, name) in ["X", "Y", "Z"].into_iter().enumerate() {
        bytes.extend(format!("{name}_COORDINATES {} double\n", NODES[d]).bytes());
        (0..NODES[d]).for_each(|i| bytes.extend(((i * i) as f64).to_be_bytes()));
        bytes.push(b'\n');
    }
    bytes.extend(
        format!("POINT_DATA {}\nVECTORS U double\n", NODES.iter().product::<usize>()).bytes(),
    );
    numbers(NODES, 3).iter().for_each(|x| bytes.extend(f64::from(*x).to_be_bytes()));
    bytes
}

fn options(velocity: &[&str]) -> SeriesOptions {
    let name = |i: usize| velocity[i].to_owned();
    let velocity = match velocity.len() {
        1 => burntrace_io::VelocityName::Array(name(0)),
        _ => burntrace_io::VelocityName::Plane([name(0), name(1)]),
    };
    SeriesOptions { velocity, ..Default::default() }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> std::path::PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn blocks_of_vtk_files_are_parts_of_frames() {
    let folder = tempfile::tempdir().unwrap();
    let crop = Crop { low: Some([-1.4; 3]), high: Some([1.4; 3]) };
    for spacing in [0.5, -0.5] {
        let path = write(folder.path(), "raw.vti", &raw_image(spacing));
        for velocity in [&["U"][..], &["a", "b"]] {
            compare(Series::open(path.as_path(), &options(velocity)).unwrap());
            let cropped = SeriesOptions { crop: Some(crop), ..options(velocity) };
            compare(Series::open(path.as_path(), &cropped).unwrap());
        }
    }
    let path = write(folder.path(), "legacy.vtk", &legacy());
    compare(Series::open(path.as_path(), &options(&["U"])).unwrap());
}

#[test]
fn files_without_readable_parts_are_refused() {
    let refused = |path: &Path, options: &SeriesOptions| {
        let mut series = Series::open(path, options).unwrap();
        let block =
            GridBlock { first: [0; 3], nodes: series.axes().each_ref().map(|a| a.len().min(2)) };
        series.read_block(0, &block).unwrap_err().to_string()
    };
    let text = crate::support::image(
        [3, 2, 1],
        [1.0; 3],
        None,
        &[("point", "Float32", "U", 3, vec![0.0; 18])],
    );
    let text_folder = folder(&[("text.vti", text)]);
    let message = refused(&text_folder.path().join("text.vti"), &options(&["U"]));
    assert!(message.contains("text, encoded or compressed"), "{message}");
    let path = write(text_folder.path(), "raw.vti", &raw_image(0.5));
    let every = SeriesOptions { every: Some([2, 1, 1]), ..options(&["U"]) };
    assert!(refused(&path, &every).contains("without `every`"));
}
