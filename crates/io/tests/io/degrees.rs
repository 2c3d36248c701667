//! Grids of longitude and latitude in files as their producers write them, beside netCDF4-python.

use crate::requirements;
use crate::support::data;
use burntrace_core::{FrameSource, GridSource};
use burntrace_io::series::{Closure, Geometry};
use burntrace_io::{Crop, NamedArray, Series, SeriesOptions, VelocityName, inspect};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The files and the lines of `tests/peers/cf_degrees.py`; `None` without netCDF4-python.
fn generated() -> Option<(TempDir, String)> {
    let python = requirements::python("netcdf4", "netCDF4")?;
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/cf_degrees.py");
    let output = Command::new(python).arg(script).arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = std::fs::read_to_string(folder.path().join("expected.txt")).unwrap();
    Some((folder, lines))
}

/// The node of an axis at a coordinate, or a full turn from it.
fn node(axis: &[f64], at: f64, turn: f64) -> Option<usize> {
    [0.0, turn, -turn, 2.0 * turn, -2.0 * turn]
        .iter()
        .find_map(|shift| axis.iter().position(|x| (x - at - shift).abs() < 1e-9))
}

/// Compares nodes of a file, and returns how many were compared.
fn compare(series: &mut Series, lines: &[Vec<&str>]) -> usize {
    let frames: Vec<_> = (0..series.times().len()).map(|t| series.read(t).unwrap()).collect();
    let axes = series.axes().clone();
    let mut compared = 0;
    for line in lines {
        let number = |word: &str| word.parse::<f64>().unwrap();
        let [x, y, z] = [0, 1, 2]
            .map(|d| node(&axes[d], number(line[2 + d]), if d == 0 { 360.0 } else { 0.0 }));
        // A node that is not in the part that is read.
        let (Some(x), Some(y), Some(z)) = (x, y, z) else { continue };
        let frame = &frames[line[1].parse::<usize>().unwrap()];
        let node = (z * axes[1].len() + y) * axes[0].len() + x;
        let is_hidden = frame.hidden().is_some_and(|hidden| hidden[node]);
        assert_eq!(is_hidden, line[5] == "masked", "{line:?}");
        if !is_hidden {
            let expected = [number(line[5]), number(line[6]), 0.0];
            assert_eq!(frame.velocity.vector(node), expected, "{line:?}");
        }
        compared += 1;
    }
    compared
}

#[test]
fn files_of_ocean_and_weather_models_are_read_as_by_netcdf4_python() {
    let Some((folder, lines)) = generated() else { return };
    let global = |closure| Geometry::Degrees { global: Some(closure) };
    let (regional, omitted) = (Geometry::Degrees { global: None }, global(Closure::Omitted));
    for (name, geometry, nodes, longitudes, velocity) in [
        ("cmems.nc", regional, [60, 36, 3], [-20.0, -15.083_333], ["uo", "vo"]),
        ("cmems_global.nc", omitted, [48, 18, 3], [-180.0, 172.5], ["uo", "vo"]),
        ("dateline.nc", regional, [4, 3, 3], [178.0, 181.0], ["uo", "vo"]),
        ("repeated.nc", global(Closure::Repeated), [5, 3, 3], [0.0, 360.0], ["uo", "vo"]),
        ("hycom.nc", omitted, [375, 6, 3], [0.0, 359.04], ["water_u", "water_v"]),
        ("era5.nc", omitted, [1440, 5, 1], [0.0, 359.75], ["u10", "v10"]),
        ("oscar2.nc", omitted, [1440, 3, 1], [0.0, 359.75], ["u", "v"]),
    ] {
        let path = folder.path().join(name);
        let mut series = Series::open(path.as_path(), &SeriesOptions::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            (series.geometry(), series.velocity().arrays.as_slice()),
            (geometry, &velocity.map(String::from)[..])
        );
        assert_eq!(series.axes().each_ref().map(Vec::len), nodes, "{name}");
        let [first, .., last] = series.axes()[0][..] else { panic!("{name}") };
        assert!(
            (first - longitudes[0]).abs() < 1e-5 && (last - longitudes[1]).abs() < 1e-5,
            "{name}"
        );
        assert!(series.axes()[2].last() <= Some(&0.0), "{name}: z is upward");
        let of_file = lines.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let of_file: Vec<_> = of_file.filter(|line| line[0] == name).collect();
        assert_eq!(compare(&mut series, &of_file), 40, "{name}");
        // Those around the earth begin before these longitudes, and others are moved to them.
        // The last column of this file, which is not read then, does not repeat the first one.
        let inside = of_file.iter().filter(|line| name != "repeated.nc" || line[2] != "360.0");
        let inside: Vec<Vec<&str>> = inside.cloned().collect();
        let far = if geometry == regional { 360.1 } else { 95.1 };
        for to in [longitudes[0] + far, longitudes[0] - 359.9] {
            let turn =
                SeriesOptions { longitudes: Some([to, to + 2.0]), ..SeriesOptions::default() };
            let mut turned = Series::open(path.as_path(), &turn).unwrap();
            assert_eq!(turned.geometry(), geometry, "{name}");
            let [west, .., east] = turned.axes()[0][..] else { panic!("{name}") };
            assert!(west <= to && east >= to + 2.0, "{name}: {west} {east} {to}");
            assert_eq!(turned.axes().each_ref().map(Vec::len), nodes, "{name}");
            assert_eq!(compare(&mut turned, &inside), inside.len(), "{name}");
        }
        let info = inspect(path.as_path(), &SeriesOptions::default()).unwrap();
        assert_eq!(
            (info.geometry, info.problems.len()),
            (geometry, 0),
            "{name}: {:?}",
            info.problems
        );
    }
    let path = folder.path().join("oscar1.nc");
    let message = Series::open(path.as_path(), &SeriesOptions::default()).unwrap_err().to_string();
    assert!(message.contains("oscar1.nc") && message.contains("from 20 to 380"), "{message}");
    assert_eq!(inspect(path.as_path(), &SeriesOptions::default()).unwrap().problems, [message]);
    let crop = Crop { low: Some([20.0, -90.0, -100.0]), high: Some([380.0, 90.0, 0.0]) };
    let turn = SeriesOptions { crop: Some(crop), ..SeriesOptions::default() };
    let mut series = Series::open(path.as_path(), &turn).unwrap();
    assert_eq!(series.geometry(), global(Closure::Repeated));
    let of_file: Vec<Vec<&str>> = lines.lines().map(|line| line.split(' ').collect()).collect();
    let of_file: Vec<_> = of_file.into_iter().filter(|line| line[0] == "oscar1.nc").collect();
    assert_eq!(compare(&mut series, &of_file), 40);
}

#[test]
fn parts_arrays_and_files_are_read_in_degrees() {
    let Some((folder, _)) = generated() else { return };
    let path = folder.path().join("era5.nc");
    let every = |x| SeriesOptions { every: Some([x, 1, 1]), ..SeriesOptions::default() };
    let omitted = Geometry::Degrees { global: Some(Closure::Omitted) };
    assert_eq!(Series::open(path.as_path(), &every(4)).unwrap().geometry(), omitted);
    let regional = Geometry::Degrees { global: None };
    assert_eq!(Series::open(path.as_path(), &every(7)).unwrap().geometry(), regional);
    let cropped = |low: f64, high: f64| {
        let crop = Crop { low: Some([low, -90.0, 0.0]), high: Some([high, 90.0, 0.0]) };
        let options = SeriesOptions { crop: Some(crop), ..SeriesOptions::default() };
        Series::open(path.as_path(), &options).map_err(|error| error.to_string())
    };
    let part = cropped(10.0, 20.0).unwrap();
    assert_eq!((part.geometry(), part.axes()[0].len()), (regional, 41));
    // A box across the ends of the file, in any turn.
    for west in [-10.0, 350.0] {
        let mut part = cropped(west, west + 20.0).unwrap();
        let x = part.axes()[0].clone();
        assert_eq!((part.geometry(), x.len(), x[0], x[80]), (regional, 81, west, west + 20.0));
        let mut whole = Series::open(path.as_path(), &SeriesOptions::default()).unwrap();
        let (part, all) = (part.read(1).unwrap().velocity, whole.read(1).unwrap().velocity);
        for (j, (i, x)) in (0..5).flat_map(|j| x.iter().enumerate().map(move |column| (j, column)))
        {
            let column = node(&whole.axes()[0], *x, 360.0).unwrap();
            assert_eq!(part.vector(81 * j + i), all.vector(1440 * j + column), "{x}");
        }
    }
    let message = cropped(-10.0, 360.0).unwrap_err();
    assert!(
        message.contains("the longitude -10") && message.contains("from 0 to 360"),
        "{message}"
    );
    let arrays = [NamedArray { array: "v10".into(), name: "north".into() }];
    let alone = SeriesOptions {
        velocity: VelocityName::None,
        arrays: arrays.into(),
        ..SeriesOptions::default()
    };
    let mut series = Series::open(path.as_path(), &alone).unwrap();
    assert_eq!((series.geometry(), series.read(1).unwrap().arrays.len()), (omitted, 1));
    // A series of files with other positions.
    let files = ["cmems.nc", "dateline.nc"].map(|name| folder.path().join(name)).to_vec();
    assert!(Series::open(files, &SeriesOptions::default()).is_err());
    let lengths = Series::open(data("cf/nc4.nc"), &SeriesOptions::default()).unwrap();
    assert_eq!((lengths.geometry(), lengths.info().geometry), (Geometry::Flat, Geometry::Flat));
}
