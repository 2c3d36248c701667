//! Tracks as GeoJSON (RFC 7946).

use super::features::{Feature, Geometry, check_degrees, each};
use super::{Rows, Selection, write};
use crate::Result;
use crate::disk::refused;
use crate::tracks::Tracks;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::Path;

/// One over the rounding of coordinates in degrees: 1 cm.
const PER_DEGREE: f64 = 1e7;

/// Writes the selected tracks as GeoJSON: a line for each particle, divided at the antimeridian, or a point for each particle at
/// a save. Returns their number.
///
/// # Errors
///
/// If positions are lengths, or as [`write_parquet`](super::write_parquet).
pub fn write_geojson(
    store: &Tracks,
    selection: &Selection,
    rows: Rows,
    path: impl AsRef<Path>,
) -> Result<usize> {
    let path = path.as_ref();
    check_degrees(store, "GeoJSON")?;
    write(path, |out| {
        let failed = || refused("write", path, None);
        out.write_all(b"{\"type\":\"FeatureCollection\",\"features\":[").map_err(failed())?;
        let mut separator = "\n";
        let count = each(store, selection, rows, |feature, names| {
            let before = std::mem::replace(&mut separator, ",\n");
            write!(out, "{before}{}", document(feature, names)).map_err(failed())
        })?;
        out.write_all(b"\n]}\n").map_err(failed())?;
        Ok(count)
    })
}

fn document(feature: &Feature, names: &[String]) -> Value {
    let rounded = |position: &[f64; 3]| position.map(|x| (x * PER_DEGREE).round() / PER_DEGREE);
    let line = |part: &Vec<[f64; 3]>| part.iter().map(rounded).collect::<Vec<_>>();
    let geometry = match &feature.geometry {
        Geometry::Point(position) => json!({ "type": "Point", "coordinates": rounded(position) }),
        Geometry::Lines(parts) => match &parts[..] {
            [part] => json!({ "type": "LineString", "coordinates": line(part) }),
            parts => {
                let parts: Vec<_> = parts.iter().map(line).collect();
                json!({ "type": "MultiLineString", "coordinates": parts })
            }
        },
    };
    let pairs = names.iter().cloned().zip(feature.properties.iter().cloned());
    let properties: Map<String, Value> = pairs.collect();
    json!({ "type": "Feature", "geometry": geometry, "properties": properties })
}
