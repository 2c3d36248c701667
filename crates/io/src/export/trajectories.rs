//! Tracks as a CF trajectory data set: a Zarr group with a variable for each column, over trajectories and their
//! observations.

use super::column::{Column, Kind, Values};
use super::{GROUP, Rows, Selection, Table, fill};
use crate::disk::write_content;
use crate::tracks::{CONVENTIONS, Tracks};
use crate::{Error, Result};
use burntrace_cf::zarr::{self, KEYS, METADATA};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The dimensions. The first one is also the variable that numbers the trajectories.
const DIMS: [&str; 2] = ["trajectory", "obs"];

/// Writes the selected tracks as a CF trajectory data set in a new folder, a Zarr group, and returns the number of
/// trajectories.
///
/// Over trajectories and observations are `time`, `lon`, `lat` and `z` (`x`, `y` and `z` of positions that are lengths) and the
/// other columns of a [table](super::write_parquet). Short trajectories are filled up with NaN, and with 0 in `status`.
///
/// # Errors
///
/// If no save is selected, two columns have the same name, the store cannot be read, or the folder exists or cannot be
/// written.
pub fn write_trajectories(
    store: &Tracks,
    selection: &Selection,
    path: impl AsRef<Path>,
) -> Result<usize> {
    let path = path.as_ref();
    let table = Table::new(store, Rows::Particles);
    let saves = selection.saves(store)?.len();
    let id = Column { name: DIMS[0].into(), kind: Kind::I32, is_list: false };
    let columns = [id].into_iter().chain(table.columns.iter().cloned());
    let mut variables: Vec<Variable> =
        columns.map(|column| Variable::new(column, saves, store, path)).collect();
    std::fs::create_dir(path).map_err(Error::system("create", path))?;
    let mut count = 0;
    fill(store, selection, (Rows::Particles, table), |table| {
        let ids = Values::I32((count..count + table.rows).map(|id| id as i32).collect());
        count += table.rows;
        let values = std::iter::once(&ids).chain(&table.values);
        let mut pairs = variables.iter_mut().zip(values);
        pairs.try_for_each(|(variable, values)| variable.add(values, &table.lengths))
    })?;
    let mut metadata = Map::new();
    for variable in &mut variables {
        metadata.insert(variable.name.clone(), variable.finish(count)?);
    }
    let group = json!({
        "zarr_format": 3,
        "node_type": "group",
        "attributes": { "Conventions": CONVENTIONS, "featureType": "trajectory" },
        "consolidated_metadata": { "kind": "inline", "must_understand": false, "metadata": metadata },
    });
    write_content(&path.join(METADATA), zarr::text(&group))?;
    Ok(count)
}

/// A variable that is written chunk by chunk.
struct Variable {
    name: String,
    kind: Kind,
    folder: PathBuf,
    attributes: Value,
    /// Dimensions, observations of a trajectory (1 without this dimension), and trajectories in a chunk.
    dims: usize,
    obs: usize,
    rows: usize,
    /// The values that are not in a chunk yet, and the number of chunks.
    rest: Vec<u8>,
    chunks: usize,
}

impl Variable {
    fn new(
        Column { name, kind, is_list }: Column,
        saves: usize,
        store: &Tracks,
        path: &Path,
    ) -> Variable {
        let attributes = match &*name {
            "trajectory" => {
                json!({ "long_name": "number of the trajectory", "cf_role": "trajectory_id" })
            }
            _ => store.column_attributes(&name, is_list),
        };
        let name = match (&*name, store.units().radius) {
            ("x", Some(_)) => "lon".into(),
            ("y", Some(_)) => "lat".into(),
            ("unwrapped_x", Some(_)) => "unwrapped_lon".into(),
            ("unwrapped_y", Some(_)) => "unwrapped_lat".into(),
            _ => name,
        };
        let (dims, obs) = if is_list { (2, saves) } else { (1, 1) };
        let rows = (GROUP / saves).max(1);
        let folder = path.join(&name);
        Variable { name, kind, folder, attributes, dims, obs, rows, rest: Vec::new(), chunks: 0 }
    }

    /// The type of the numbers, and the bytes of a missing one.
    fn number(&self) -> (&'static str, Vec<u8>) {
        match self.kind {
            Kind::I32 => ("int32", vec![0; 4]),
            Kind::F32 => ("float32", f32::NAN.to_le_bytes().into()),
            Kind::F64 => ("float64", f64::NAN.to_le_bytes().into()),
            Kind::Name => ("uint8", vec![0]),
        }
    }

    /// Adds the values of trajectories with these numbers of observations.
    fn add(&mut self, values: &Values, lengths: &[usize]) -> Result<()> {
        let missing = self.number().1;
        let bytes = values.bytes();
        let mut from = 0;
        for length in lengths {
            let length = if self.dims == 2 { *length } else { 1 };
            let to = from + length * missing.len();
            self.rest.extend(&bytes[from..to]);
            self.rest.extend(missing.repeat(self.obs - length));
            from = to;
        }
        let chunk = self.rows * self.obs * missing.len();
        while self.rest.len() >= chunk {
            let rest = self.rest.split_off(chunk);
            self.write(chunk)?;
            self.rest = rest;
        }
        Ok(())
    }

    /// Writes a chunk of this many bytes, the last one with missing numbers.
    fn write(&mut self, bytes: usize) -> Result<()> {
        let missing = self.number().1;
        self.rest.extend(missing.repeat((bytes - self.rest.len()) / missing.len()));
        std::fs::create_dir_all(&self.folder).map_err(Error::system("create", &self.folder))?;
        let index = [self.chunks, 0];
        self.chunks += 1;
        write_content(
            &self.folder.join(KEYS.name(&index[..self.dims])),
            std::mem::take(&mut self.rest),
        )
    }

    /// Writes the last chunk and the metadata, and returns these.
    fn finish(&mut self, trajectories: usize) -> Result<Value> {
        let (data_type, missing) = self.number();
        if !self.rest.is_empty() || self.chunks == 0 {
            self.write(self.rows * self.obs * missing.len())?;
        }
        let (shape, chunk) = ([trajectories, self.obs], [self.rows, self.obs]);
        let (shape, chunk, names) = (&shape[..self.dims], &chunk[..self.dims], &DIMS[..self.dims]);
        let metadata = zarr::array(data_type, shape, chunk, names, self.attributes.take());
        write_content(&self.folder.join(METADATA), zarr::text(&metadata))?;
        Ok(metadata)
    }
}
