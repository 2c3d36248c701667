//! Tracks as FlatGeobuf.

use super::features::{Geometry, check_degrees, each, properties};
use super::{Rows, Selection, Table, column::Values, write};
use crate::Result;
use crate::disk::refused;
use crate::tracks::Tracks;
use flatgeobuf::geozero::{self, ColumnValue, GeomProcessor, GeozeroGeometry, PropertyProcessor};
use flatgeobuf::{ColumnType, FgbCrs, FgbWriter, FgbWriterOptions, GeometryType};
use serde_json::Value;
use std::path::Path;

/// The number of longitude and latitude on WGS 84 in EPSG's list of coordinate systems.
const WGS_84: i32 = 4326;

/// Writes the selected tracks as FlatGeobuf with a spatial index: a line for each particle, divided at the antimeridian, or a
/// point for each particle at a save. Returns their number.
///
/// # Errors
///
/// If positions are lengths, or as [`write_parquet`](super::write_parquet).
pub fn write_flatgeobuf(
    store: &Tracks,
    selection: &Selection,
    rows: Rows,
    path: impl AsRef<Path>,
) -> Result<usize> {
    let path = path.as_ref();
    check_degrees(store, "FlatGeobuf")?;
    write(path, |out| {
        let failed = |reason: String| refused("write", path, None)(std::io::Error::other(reason));
        let mut file = new_file(store, rows).map_err(|error| failed(error.to_string()))?;
        let count = each(store, selection, rows, |feature, names| {
            let shape = Shape(&feature.geometry);
            file.add_feature_geom(shape, |to| add_properties(to, names, &feature.properties))
                .map_err(|error| failed(error.to_string()))
        })?;
        file.write(out).map_err(|error| failed(error.to_string()))?;
        Ok(count)
    })
}

/// A file without features.
fn new_file(store: &Tracks, rows: Rows) -> flatgeobuf::Result<FgbWriter<'static>> {
    let geometry = match rows {
        Rows::Saves | Rows::Final => GeometryType::Point,
        Rows::Particles => GeometryType::MultiLineString,
    };
    let crs = FgbCrs { code: WGS_84, ..FgbCrs::default() };
    let options = FgbWriterOptions { crs, has_z: true, ..FgbWriterOptions::default() };
    let mut file = FgbWriter::create_with_options("tracks", geometry, options)?;
    for (column, values) in properties(&Table::new(store, rows)) {
        let kind = match values {
            Values::I32(_) => ColumnType::Int,
            Values::F32(_) | Values::F64(_) => ColumnType::Double,
            Values::Name(_) => ColumnType::String,
        };
        file.add_column(&column.name, kind, |_, _| {});
    }
    Ok(file)
}

/// Adds the properties that are not null.
fn add_properties(to: &mut impl PropertyProcessor, names: &[String], values: &[Value]) {
    for (index, (name, value)) in names.iter().zip(values).enumerate() {
        let value = match (value, value.as_i64(), value.as_f64()) {
            (Value::String(text), ..) => ColumnValue::String(text),
            (_, Some(number), _) => ColumnValue::Int(number as i32),
            (.., Some(number)) => ColumnValue::Double(number),
            _ => continue,
        };
        // The buffer is in memory.
        to.property(index, name, &value).ok();
    }
}

/// A geometry to be written.
struct Shape<'a>(&'a Geometry);

impl GeozeroGeometry for Shape<'_> {
    fn process_geom<P: GeomProcessor>(&self, to: &mut P) -> geozero::error::Result<()> {
        let add = |to: &mut P, [x, y, z]: [f64; 3], index| {
            to.coordinate(x, y, Some(z), None, None, None, index)
        };
        match self.0 {
            Geometry::Point(position) => {
                to.point_begin(0)?;
                add(to, *position, 0)?;
                to.point_end(0)
            }
            Geometry::Lines(parts) => {
                to.multilinestring_begin(parts.len(), 0)?;
                for (i, part) in parts.iter().enumerate() {
                    to.linestring_begin(false, part.len(), i)?;
                    part.iter().enumerate().try_for_each(|(j, at)| add(to, *at, j))?;
                    to.linestring_end(false, i)?;
                }
                to.multilinestring_end(0)
            }
        }
    }
}
