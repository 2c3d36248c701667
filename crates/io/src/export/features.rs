//! Tracks as features on maps: a line for each particle, or a point for each particle at a save.

use super::{Rows, Selection, Table, column::Column, column::Values, fill, table::status_names};
use crate::tracks::Tracks;
use crate::{Error, Result};
use serde_json::Value;

/// A particle, or a particle at a save.
pub(super) struct Feature {
    pub geometry: Geometry,
    /// The values of its properties; of lists, the last one.
    pub properties: Vec<Value>,
}

/// Longitudes between -180 and 180 and latitudes in degrees, and heights.
pub(super) enum Geometry {
    Point([f64; 3]),
    /// The parts of a line, none of which is across the antimeridian.
    Lines(Vec<Vec<[f64; 3]>>),
}

/// The columns of a table that are properties of features, with their values.
pub(super) fn properties(table: &Table) -> impl Iterator<Item = (&Column, &Values)> {
    let is_position =
        |name: &str| matches!(name, "x" | "y" | "z") || name.starts_with("unwrapped_");
    let columns = table.columns.iter().zip(&table.values);
    columns.filter(move |(column, _)| !is_position(&column.name))
}

/// Passes the features of the selected tracks to a function, with the names of their properties, and returns their number.
///
/// # Errors
///
/// If positions are lengths, or as [`write_parquet`](super::write_parquet).
pub(super) fn each(
    store: &Tracks,
    selection: &Selection,
    rows: Rows,
    mut write: impl FnMut(&Feature, &[String]) -> Result<()>,
) -> Result<usize> {
    let is_line = rows == Rows::Particles;
    let table = Table::new(store, rows);
    let names: Vec<String> = properties(&table).map(|(column, _)| column.name.clone()).collect();
    let (statuses, mut count) = (status_names(), 0);
    fill(store, selection, (rows, table), |table| {
        let mut next = 0;
        for row in 0..table.rows {
            let first = next;
            next += if is_line { table.lengths[row] } else { 1 };
            let value = |(column, values): (&Column, &Values)| {
                json(values, if column.is_list { next - 1 } else { row }, &statuses)
            };
            let geometry = match is_line {
                true => Geometry::Lines(parts((first..next).map(|i| in_turn(table.position(i))))),
                false => Geometry::Point(in_turn(table.position(first))),
            };
            let properties = properties(table).map(value).collect();
            write(&Feature { geometry, properties }, &names)?;
        }
        count += table.rows;
        Ok(())
    })?;
    Ok(count)
}

/// Refuses positions that are lengths.
pub(super) fn check_degrees(store: &Tracks, format: &str) -> Result<()> {
    match store.units().radius {
        Some(_) => Ok(()),
        None => Err(Error::Selection(format!(
            "positions of the run are lengths, and {format} has longitudes and latitudes in degrees; export a table \
             (parquet, csv) or lines for ParaView (vtp)"
        ))),
    }
}

/// A value as JSON: null if it is not a number.
fn json(values: &Values, index: usize, names: &[String]) -> Value {
    match values {
        Values::I32(values) => values[index].into(),
        // The shortest decimal number.
        Values::F32(values) => values[index].to_string().parse::<f64>().ok().into(),
        Values::F64(values) => values[index].into(),
        Values::Name(values) => names[values[index] as usize].as_str().into(),
    }
}

/// The longitude between -180 and 180.
fn in_turn([lon, lat, height]: [f64; 3]) -> [f64; 3] {
    let is_in = (-180.0..=180.0).contains(&lon);
    [if is_in { lon } else { (lon + 180.0).rem_euclid(360.0) - 180.0 }, lat, height]
}

/// Divides a line where it is across the antimeridian, as RFC 7946 (3.1.9) asks. A particle that stays at its place has one
/// position; a line has two at least.
fn parts(positions: impl Iterator<Item = [f64; 3]>) -> Vec<Vec<[f64; 3]>> {
    let mut parts: Vec<Vec<[f64; 3]>> = vec![Vec::new()];
    for next in positions {
        let part = parts.last_mut().filter(|part| !part.is_empty());
        let last = part.as_ref().and_then(|part| part.last().copied()).unwrap_or(next);
        let step = next[0] - last[0];
        if step.abs() > 180.0 {
            let side = 180.0_f64.copysign(last[0]);
            let part_of_step = (side - last[0]) / (step - 360.0_f64.copysign(step));
            let [_, lat, height] = [0, 1, 2].map(|d| last[d] + part_of_step * (next[d] - last[d]));
            part.into_iter().for_each(|part| part.push([side, lat, height]));
            parts.push(vec![[-side, lat, height]]);
        }
        if let Some(part) = parts.last_mut().filter(|part| part.last() != Some(&next)) {
            part.push(next);
        }
    }
    parts.iter_mut().for_each(|part| part.dedup());
    let single = parts[0].clone();
    parts.retain(|part| part.len() > 1);
    match parts.is_empty() {
        true => vec![[&single[..], &single[..]].concat()],
        false => parts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(longitudes: &[f64]) -> Vec<Vec<[f64; 3]>> {
        let position = |(i, lon): (usize, &f64)| in_turn([*lon, 10.0 * i as f64, 0.0]);
        parts(longitudes.iter().enumerate().map(position))
    }

    #[test]
    fn lines_are_divided_at_the_antimeridian() {
        assert_eq!(of(&[10.0, 20.0]), [[[10.0, 0.0, 0.0], [20.0, 10.0, 0.0]]]);
        // Eastward and back, in any turn of longitudes.
        let expected = [
            vec![[170.0, 0.0, 0.0], [180.0, 5.0, 0.0]],
            vec![[-180.0, 5.0, 0.0], [-170.0, 10.0, 0.0], [-180.0, 15.0, 0.0]],
            vec![[180.0, 15.0, 0.0], [170.0, 20.0, 0.0]],
        ];
        assert_eq!(of(&[170.0, -170.0, 170.0]), expected);
        assert_eq!(of(&[530.0, 550.0, 530.0]), expected);
        // From the antimeridian itself.
        assert_eq!(of(&[180.0, -170.0]), [[[-180.0, 0.0, 0.0], [-170.0, 10.0, 0.0]]]);
    }

    #[test]
    fn a_particle_that_stays_has_a_line_of_two_positions() {
        let stays = parts([[1.0, 2.0, 3.0]; 3].into_iter());
        assert_eq!(stays, [[[1.0, 2.0, 3.0]; 2]]);
        assert_eq!(parts([[1.0; 3]].into_iter()), [[[1.0; 3]; 2]]);
    }
}
