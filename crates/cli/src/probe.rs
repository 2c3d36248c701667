//! `burntrace probe`: the arrays of files at given positions and times.

use crate::{
    args::ProbeArgs,
    file::{GivenTime, Interpolation, Misuse},
    folder,
    format::{csv_cell, twelve_digits},
    info,
    job::{FieldFiles, has_array, interpolation_of},
    notes,
};
use anyhow::{Context, Result};
use burntrace::{
    Field, FieldArray, FieldOptions, OutsideTime, Precision,
    burn::tensor::{Tensor, TensorData},
    device::{self, OpenDevice},
    io::{
        self, NamedArray,
        series::{Association, FileContents},
    },
};
use serde_json::json;
use std::path::PathBuf;

/// Arrays that VTK adds, which are not quantities.
const FLAGS: [&str; 2] = ["vtkGhostType", "vtkGhostLevels"];

pub fn execute(args: &ProbeArgs) -> Result<()> {
    let device = device::open(&args.device).map_err(Misuse::of)?;
    let contents = io::series::contents(&info::files(&args.files)).map_err(Misuse::of)?;
    let groups = requested(&contents, &args.fields)?;
    let units = units(args, &groups[0].1)?;
    let points = io::read_seeds(&args.at, units.origin.as_ref(), &[]).map_err(Misuse::of)?;
    let load = |(on, names)| load(args, &contents, (on, names), &device);
    let fields: Vec<Box<dyn Field>> = groups.into_iter().map(load).collect::<Result<_>>()?;
    let rows = rows(args, &points, &*fields[0], &units)?;
    let mut columns = Vec::new();
    for field in &fields {
        columns.extend(sample(&**field, &rows, &device)?);
    }
    write_table(args, &rows, &columns)
}

/// The units of the times of the files, with the date of time 0.
fn units(args: &ProbeArgs, arrays: &[NamedArray]) -> Result<io::tracks::Units> {
    let options = io::SeriesOptions {
        velocity: io::VelocityName::None,
        arrays: arrays.into(),
        file_dt: args.file_dt,
        ..io::SeriesOptions::default()
    };
    let times = io::series::times(info::files(&args.files), &options).map_err(Misuse::of)?;
    Ok(io::tracks::Units { origin: times.origin, ..io::tracks::Units::default() })
}

/// A position and a time.
type Row = ([f64; 3], f64);

/// The values of an array at each row.
type Column = (FieldArray, Vec<f64>);

/// The requested arrays, by default all, of each association.
fn requested(
    contents: &FileContents,
    names: &[String],
) -> Result<Vec<(Association, Vec<NamedArray>)>> {
    let arrays = &contents.arrays;
    let of_file: Vec<String> = arrays.iter().map(|array| array.name.clone()).collect();
    // In the order of the request.
    let wanted = if names.is_empty() { &of_file } else { names };
    let on = |association: Association| -> Vec<NamedArray> {
        let found = wanted
            .iter()
            .filter(|name| !FLAGS.contains(&name.as_str()) && has_array(arrays, name, association));
        found.map(NamedArray::new).collect()
    };
    let points = on(Association::Point);
    let mut cells = on(Association::Cell);
    // Of two arrays of one name, the one at the points.
    cells.retain(|cell| !points.contains(cell));
    let is_there = |name: &&String| points.iter().chain(&cells).any(|array| array.array == **name);
    let path = contents.path.display();
    let known: Vec<String> = arrays.iter().map(|array| format!("`{}`", array.name)).collect();
    if let Some(lost) = names.iter().find(|name| !is_there(name)) {
        let known = known.join(", ");
        return Err(Misuse::error(format!("{path} has no array `{lost}`; it has {known}")));
    }
    if points.is_empty() && cells.is_empty() {
        return Err(Misuse::error(format!("{path} has no arrays at points or in cells")));
    }
    let groups = [(Association::Point, points), (Association::Cell, cells)];
    Ok(groups.into_iter().filter(|(_, arrays)| !arrays.is_empty()).collect())
}

/// Loads arrays of one association.
fn load(
    args: &ProbeArgs,
    contents: &FileContents,
    (association, arrays): (Association, Vec<NamedArray>),
    device: &OpenDevice,
) -> Result<Box<dyn Field>> {
    let interpolation = args.interpolation.as_deref().map(|name| match name {
        "grid" => Interpolation::Grid,
        "mesh" => Interpolation::mesh(),
        _ => Interpolation::Nearest,
    });
    let files = FieldFiles {
        files: info::files(&args.files),
        options: io::SeriesOptions {
            velocity: io::VelocityName::None,
            prefer: Some(association),
            arrays,
            file_dt: args.file_dt,
            ..io::SeriesOptions::default()
        },
        interpolation: interpolation.unwrap_or_else(|| interpolation_of(contents.kind, None)),
    };
    let precision = if device.has_f64 { Precision::F64 } else { Precision::F32 };
    let outside_time = OutsideTime::Error;
    let options = FieldOptions { precision, outside_time, ..FieldOptions::default() };
    files.load(&device.device, &options)
}

/// The positions at the given times: those of the command line, of the file of positions, or of a single
/// frame.
fn rows(
    args: &ProbeArgs,
    points: &io::SeedPoints,
    field: &dyn Field,
    units: &io::tracks::Units,
) -> Result<Vec<Row>> {
    let positions = points.position.iter().copied();
    if !args.time.is_empty() {
        let time = |given: &GivenTime| given.among(units);
        let times: Result<Vec<f64>, _> = args.time.iter().map(time).collect();
        let times = times.map_err(|reason| Misuse::error(format!("--time: {reason}")))?;
        let at = |time| positions.clone().map(move |p| (p, time)).collect::<Vec<_>>();
        return Ok(times.into_iter().flat_map(at).collect());
    }
    match (&points.time, field.times()) {
        (Some(times), _) => Ok(positions.zip(times.iter().copied()).collect()),
        (None, None) => Ok(positions.map(|p| (p, field.span()[0])).collect()),
        (None, Some([first, last])) => Err(Misuse::error(format!(
            "the files have frames from t = {} to {}; give times with --time, or a column `time` in {}",
            twelve_digits(first),
            twelve_digits(last),
            args.at.display()
        ))),
    }
}

/// Samples the arrays of a field, all rows of one time at once.
fn sample(field: &dyn Field, rows: &[Row], device: &OpenDevice) -> Result<Vec<Column>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| rows[*a].1.total_cmp(&rows[*b].1));
    let arrays = field.sampled().map_or(&[][..], |sampled| sampled.arrays());
    let empty = |array: &FieldArray| (array.clone(), vec![f64::NAN; array.components * rows.len()]);
    let mut columns: Vec<Column> = arrays.iter().map(empty).collect();
    for group in order.chunk_by(|a, b| rows[*a].1 == rows[*b].1) {
        let positions: Vec<f64> = group.iter().flat_map(|row| rows[*row].0).collect();
        let data = TensorData::new(positions, [group.len(), 3]);
        let dtype = field.precision().dtype();
        let positions = Tensor::<2>::from_data(data, (&device.device, dtype));
        let found = field.sample(positions, rows[group[0]].1).map_err(Misuse::of)?;
        for ((array, numbers), (_, values)) in columns.iter_mut().zip(found.arrays) {
            let values = values.try_into_data().context("cannot read the values")?;
            let values = values.convert::<f64>().try_into_vec::<f64>();
            let values = values.map_err(|error| anyhow::anyhow!("{error:?}"))?;
            let n = array.components;
            for (row, values) in group.iter().zip(values.chunks_exact(n)) {
                numbers[n * row..n * (row + 1)].copy_from_slice(values);
            }
        }
    }
    Ok(columns)
}

/// Names of the columns; components are `name:0`, `name:1`, as in ParaView.
fn names(columns: &[Column]) -> Vec<String> {
    let of_array = |FieldArray { name, components }: &FieldArray| -> Vec<String> {
        match components {
            1 => vec![name.clone()],
            _ => (0..*components).map(|c| format!("{name}:{c}")).collect(),
        }
    };
    let own = ["x", "y", "z", "time"].map(String::from);
    own.into_iter().chain(columns.iter().flat_map(|(array, _)| of_array(array))).collect()
}

/// The numbers of a row.
fn numbers<'a>(
    row: usize,
    rows: &'a [Row],
    columns: &'a [Column],
) -> impl Iterator<Item = f64> + 'a {
    let (position, time) = rows[row];
    let values = columns.iter().flat_map(move |(FieldArray { components, .. }, values)| {
        values[components * row..components * (row + 1)].iter().copied()
    });
    position.into_iter().chain([time]).chain(values)
}

/// Writes or prints the table.
fn write_table(args: &ProbeArgs, rows: &[Row], columns: &[Column]) -> Result<()> {
    let names = names(columns);
    if let Some(path) = &args.out {
        let files = args.files.iter().map(PathBuf::from);
        let inputs: Vec<PathBuf> = files.chain([args.at.clone()]).collect();
        folder::refuse_replacing(path, &inputs, "")?;
        io::write_text_beside(path, csv(&names, rows, columns))?;
        let json = || {
            json!({
                "file": path, "columns": names, "count": rows.len(), "notes": notes::take(),
            })
        };
        return args.output.print(json, String::new);
    }
    let json = || {
        let table: Vec<Vec<f64>> =
            (0..rows.len()).map(|row| numbers(row, rows, columns).collect()).collect();
        json!({ "columns": names, "rows": table, "count": rows.len(), "notes": notes::take() })
    };
    args.output.print(json, || csv(&names, rows, columns))
}

/// The table as comma-separated values.
fn csv(names: &[String], rows: &[Row], columns: &[Column]) -> String {
    let names: Vec<String> = names.iter().map(|name| csv_cell(name)).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..rows.len() {
        let cells: Vec<String> =
            numbers(row, rows, columns).map(|number| number.to_string()).collect();
        text += &cells.join(",");
        text.push('\n');
    }
    text
}
