//! Tracks as tables: Parquet and CSV files, for pandas, Polars, R and spreadsheets.
//!
//! A row is a particle at a save, with the columns `particle`, `generation` (if slots are re-used),
//! `time`, `x`, `y`, `z`, `unwrapped_x` and so on (with periodic faces), `velocity_x` and so on (if
//! velocities are stored), `status` by name, and the arrays sampled along the tracks: a vector `a` as
//! `a_x`, `a_y`, `a_z`, other arrays of several components as `a_0`, `a_1`, ... A Parquet file may have a
//! row for each particle instead, with lists, and with `release_time`, `end_time` and `end_status` if the
//! run has ended.
//!
//! Arrays over saves and particles, for programs that compute with all of them, are `.npy` files or tensors in a safetensors file.
//!
//! Zarr groups are CF trajectory data sets of the same columns, and GeoJSON and FlatGeobuf files have them as properties of lines
//! or points.
//!
//! The store is read and written in parts, so that memory does not grow with it.

mod arrays;
mod column;
mod features;
mod fgb;
mod finals;
mod geojson;
mod npy_files;
mod parquet_file;
mod safetensors;
mod selection;
mod table;
mod trajectories;

pub use fgb::write_flatgeobuf;
pub(crate) use finals::Finals;
pub use geojson::write_geojson;
pub use npy_files::write_npy;
pub use safetensors::write_safetensors;
pub use selection::Selection;
pub use trajectories::write_trajectories;

use crate::disk::{refused, write_atomic};
use crate::tracks::{ParticleState, SaveBlock, Tracks};
use crate::{Error, Result};
use column::Values;
use parquet_file::ParquetWriter;
use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use std::path::Path;
use table::{Table, status_names};

/// Number of rows, or of values in lists, that are written together: about 20 MB.
const GROUP: usize = 1 << 18;

/// The rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// A particle at a save.
    Saves,
    /// A particle, or a particle instance, with lists of its saves.
    Particles,
    /// A particle, or a particle instance, at its last selected save.
    Final,
}

/// Writes the selected tracks as a Parquet file, and returns the number of rows.
///
/// # Errors
///
/// If no save is selected, two columns have the same name, the store cannot be read, or the file cannot
/// be written.
pub fn write_parquet(
    store: &Tracks,
    selection: &Selection,
    rows: Rows,
    path: impl AsRef<Path>,
) -> Result<usize> {
    let path = path.as_ref();
    let table = Table::new(store, rows);
    write(path, |out| {
        let failed = || refused("write", path, None);
        let writer = ParquetWriter::new(out, &table.columns, &status_names());
        let mut writer = writer.map_err(failed())?;
        fill(store, selection, (rows, table), |table| {
            writer.write(&table.values, table.rows, &table.lengths).map_err(failed())
        })?;
        let units = store.units();
        let mut metadata =
            vec![("length_unit", units.length.as_str()), ("time_unit", units.time.as_str())];
        if let Some(origin) = units.origin_of_seconds() {
            metadata.extend([("time_origin", &*origin.date), ("calendar", &*origin.calendar)]);
        }
        writer.finish(&metadata).map_err(failed())
    })
}

/// Writes the selected tracks as a CSV file, and returns the number of rows.
///
/// # Errors
///
/// As [`write_parquet`], and for rows with lists.
pub fn write_csv(
    store: &Tracks,
    selection: &Selection,
    rows: Rows,
    path: impl AsRef<Path>,
) -> Result<usize> {
    let path = path.as_ref();
    if rows == Rows::Particles {
        let reason = "rows of particles have lists, which CSV files do not have; write a Parquet file, or rows of \
                      saves";
        return Err(Error::Selection(reason.into()));
    }
    let table = Table::new(store, rows);
    let names = status_names();
    write(path, |out| {
        let failed = |e: csv::Error| refused("write", path, None)(e.into());
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(table.columns.iter().map(|column| &column.name)).map_err(failed)?;
        let mut count = 0;
        fill(store, selection, (rows, table), |table| {
            for row in 0..table.rows {
                let fields = table.values.iter().map(|values| text(values, row, &names));
                writer.write_record(fields).map_err(failed)?;
            }
            count += table.rows;
            Ok(())
        })?;
        writer.flush().map_err(refused("write", path, None))?;
        Ok(count)
    })
}

/// A value as text. The shortest text that gives the same number.
fn text(values: &Values, row: usize, names: &[String]) -> String {
    match values {
        Values::I32(values) => values[row].to_string(),
        Values::F32(values) => values[row].to_string(),
        Values::F64(values) => values[row].to_string(),
        Values::Name(values) => names[values[row] as usize].clone(),
    }
}

/// Writes a file under a temporary name, and renames it.
fn write(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> Result<usize>) -> Result<usize> {
    let mut filled = Ok(0);
    let written = write_atomic(path, None, |out| {
        filled = fill(out);
        filled.as_ref().map(|_| ()).map_err(|_| std::io::Error::other("not filled"))
    });
    match filled {
        Ok(rows) => written.map(|()| rows),
        Err(error) => Err(error),
    }
}

/// Fills a table part by part, and passes each to a function.
fn fill(
    store: &Tracks,
    selection: &Selection,
    (rows, mut table): (Rows, Table),
    mut write: impl FnMut(&Table) -> Result<()>,
) -> Result<()> {
    check_names(table.columns.iter().map(|column| &*column.name))?;
    let mut saves = selection.saves(store)?;
    if rows == Rows::Final && store.num_instances().is_none() {
        // Ended particles keep their position.
        saves.drain(..saves.len() - 1);
    }
    match rows {
        Rows::Saves => fill_saves(store, selection, (&saves, &mut table), &mut write)?,
        _ => fill_particles(store, selection, (&saves, &mut table), rows, &mut write)?,
    }
    write_rest(&mut table, 1, &mut write)
}

/// Passes the table on and clears it, if it has at least this number of values.
fn write_rest(
    table: &mut Table,
    least: usize,
    write: &mut impl FnMut(&Table) -> Result<()>,
) -> Result<()> {
    if table.len() < least {
        return Ok(());
    }
    write(table)?;
    table.clear();
    Ok(())
}

fn fill_saves(
    store: &Tracks,
    selection: &Selection,
    (saves, table): (&[usize], &mut Table),
    write: &mut impl FnMut(&Table) -> Result<()>,
) -> Result<()> {
    let finals = selection.finals(store)?;
    for &save in saves {
        for slots in parts(store.num_particles(), GROUP) {
            let block = SaveBlock::read(store, save, slots)?;
            let accepts =
                |&slot: &usize| selection.accepts(&block.states.state(slot), finals.as_ref());
            let slots: Vec<usize> = (0..block.states.position.len()).filter(accepts).collect();
            table.add_rows(&block, &slots);
            write_rest(table, GROUP, write)?;
        }
    }
    Ok(())
}

fn fill_particles(
    store: &Tracks,
    selection: &Selection,
    (saves, table): (&[usize], &mut Table),
    rows: Rows,
    write: &mut impl FnMut(&Table) -> Result<()>,
) -> Result<()> {
    let finals = selection.finals(store)?;
    for slots in parts(store.num_particles(), (GROUP / saves.len()).max(1)) {
        let read = |&save: &usize| SaveBlock::read(store, save, slots.clone());
        let blocks = saves.iter().map(read).collect::<Result<Vec<SaveBlock>>>()?;
        for slot in 0..slots.len() {
            let accepts =
                |block: &&SaveBlock| selection.accepts(&block.states.state(slot), finals.as_ref());
            let chosen: Vec<&SaveBlock> = blocks.iter().filter(accepts).collect();
            // Saves with different generations are of different particles.
            let generation = |block: &SaveBlock| -> i32 {
                let ParticleState { generation, .. } = block.states.state(slot);
                generation
            };
            for blocks in chosen.chunk_by(|a, b| generation(a) == generation(b)) {
                let blocks = if rows == Rows::Final { &blocks[blocks.len() - 1..] } else { blocks };
                table.add_particle(blocks, slot, finals.as_ref());
            }
        }
        write_rest(table, GROUP, write)?;
    }
    Ok(())
}

/// Divides slots into parts of at most this number.
fn parts(slots: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..slots).step_by(size).map(move |first| first..slots.min(first + size))
}

/// Checks that no two columns have the same name.
fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let names: Vec<&str> = names.collect();
    match names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
        None => Ok(()),
        Some((_, name)) => Err(Error::Selection(format!(
            "two columns of the table would be called `{name}`; one of them is of a sampled array: give \
             it another name in the case file and run the case again, or read the store with xarray"
        ))),
    }
}
