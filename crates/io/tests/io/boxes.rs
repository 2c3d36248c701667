//! Boxes of frames are the same as parts of whole frames.

use crate::support::{data, folder, image};
use burntrace_core::{FrameSource, GridSource, Placement};
use burntrace_io::{Crop, Series, SeriesOptions};
use std::ops::Range;

/// Ranges of nodes that are compared: all, at the ends and inside.
fn boxes(nodes: [usize; 3]) -> [[Range<usize>; 3]; 4] {
    let part = |of: fn(usize) -> Range<usize>| nodes.map(|n| if n == 1 { 0..1 } else { of(n) });
    [part(|n| 0..n), part(|_| 0..2), part(|n| n - 2..n), part(|n| usize::from(n > 2)..n.min(4))]
}

/// The indices of the values between ranges of nodes, in a frame of a grid.
fn indices(grid: [usize; 3], nodes: &[Range<usize>; 3], placement: Placement) -> Vec<usize> {
    let less = usize::from(placement == Placement::Cells);
    let [nx, ny, _] = grid.map(|n| (n - less).max(1));
    let [x, y, z] =
        nodes.each_ref().map(|range| range.start..(range.end - less).max(range.start + 1));
    let rows = z.flat_map(|k| y.clone().map(move |j| (k * ny + j) * nx));
    rows.flat_map(|row| x.clone().map(move |i| row + i)).collect()
}

/// The bits of numbers.
fn bits(numbers: &burntrace_core::Floats, i: usize) -> u64 {
    numbers.get(i).to_bits()
}

fn compare(mut series: Series) {
    let grid = series.axes().each_ref().map(Vec::len);
    let placement = series.placement();
    let whole = series.read(0).unwrap();
    for nodes in boxes(grid) {
        let part = series.read_box(0, &nodes).unwrap();
        let indices = indices(grid, &nodes, placement);
        assert_eq!(part.velocity.len(), 3 * indices.len(), "{nodes:?}");
        for (i, value) in indices.iter().enumerate() {
            for d in 0..3 {
                let expected = bits(&whole.velocity, 3 * value + d);
                assert_eq!(bits(&part.velocity, 3 * i + d), expected, "{nodes:?}, value {value}");
            }
            let is_hidden = |frame: &burntrace_core::FrameData, i: usize| {
                frame.hidden().is_some_and(|hidden| hidden[i])
            };
            assert_eq!(is_hidden(&part, i), is_hidden(&whole, *value), "{nodes:?}");
        }
    }
}

#[test]
fn boxes_of_netcdf_and_zarr_are_parts_of_frames() {
    let crop = Crop { low: Some([0.4, -1.0, 0.0]), high: Some([1.9, 2.0, 1.0]) };
    let part = SeriesOptions { crop: Some(crop), every: Some([1, 2, 1]), ..Default::default() };
    for name in ["classic.nc", "nc4_deflate.nc", "v3_zstd.zarr", "packed.nc"] {
        let path = data("cf").join(name);
        compare(Series::open(path.as_path(), &SeriesOptions::default()).unwrap());
        compare(Series::open(path.as_path(), &part).unwrap());
    }
}

#[test]
fn boxes_of_vtk_files_are_parts_of_frames() {
    let numbers = |count: usize| (0..count).map(|i| (i as f64).sin()).collect();
    for (place, count) in [("point", 60), ("cell", 24)] {
        let arrays = [(place, "Float32", "U", 3, numbers(3 * count))];
        for spacing in [0.5, -0.5] {
            let text = image([5, 4, 3], [spacing, 0.5, spacing], None, &arrays);
            let folder = folder(&[("u.vti", text)]);
            let path = folder.path().join("u.vti");
            compare(Series::open(path.as_path(), &SeriesOptions::default()).unwrap());
            let crop = Some(Crop { low: Some([-1.4; 3]), high: Some([1.4; 3]) });
            let cropped = SeriesOptions { crop, ..Default::default() };
            compare(Series::open(path.as_path(), &cropped).unwrap());
        }
    }
}
