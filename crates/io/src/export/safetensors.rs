//! Tracks as tensors in a safetensors file.

use super::arrays::{Array, Arrays};
use super::{Selection, column::Kind, table::status_names, write};
use crate::Result;
use crate::disk::refused;
use crate::tracks::Tracks;
use serde_json::{Map, Value, json};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// Writes the selected tracks as a safetensors file of the arrays of [`write_npy`](super::write_npy), and returns the number of
/// particles. Its metadata have the units, and the names of the statuses in the order of their codes.
///
/// # Errors
///
/// If no save is selected, the store cannot be read, or the file cannot be written.
pub fn write_safetensors(
    store: &Tracks,
    selection: &Selection,
    path: impl AsRef<Path>,
) -> Result<usize> {
    let path = path.as_ref();
    let arrays = Arrays::new(store, selection)?;
    let (header, mut next) = header(&arrays.all, metadata(store));
    write(path, |out| {
        let failed = || refused("write", path, None);
        out.write_all(&header).map_err(failed())?;
        arrays.write(|index, bytes| {
            out.seek(SeekFrom::Start(next[index])).map_err(failed())?;
            next[index] += bytes.len() as u64;
            out.write_all(bytes).map_err(failed())
        })?;
        Ok(arrays.num_particles())
    })
}

/// Bytes of a number.
fn size(kind: Kind) -> u64 {
    match kind {
        Kind::I32 | Kind::F32 => 4,
        Kind::F64 => 8,
        Kind::Name => 1,
    }
}

/// The bytes before the numbers, and where those of each array begin: the largest numbers first, so that all are aligned.
fn header(arrays: &[Array], metadata: Value) -> (Vec<u8>, Vec<u64>) {
    let mut order: Vec<usize> = (0..arrays.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(size(arrays[*index].kind)));
    let (mut entries, mut starts, mut end) = (Map::new(), vec![0; arrays.len()], 0);
    entries.insert("__metadata__".into(), metadata);
    for index in order {
        let Array { name, kind, shape, .. } = &arrays[index];
        starts[index] = end;
        end += size(*kind) * shape.iter().map(|length| *length as u64).product::<u64>();
        let data_type = match kind {
            Kind::I32 => "I32",
            Kind::F32 => "F32",
            Kind::F64 => "F64",
            Kind::Name => "U8",
        };
        let offsets = [starts[index], end];
        let entry = json!({ "dtype": data_type, "shape": shape, "data_offsets": offsets });
        entries.insert(name.clone(), entry);
    }
    let mut text = Value::Object(entries).to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    let header = [&(text.len() as u64).to_le_bytes()[..], &text].concat();
    let first = header.len() as u64;
    (header, starts.into_iter().map(|start| first + start).collect())
}

/// Texts, as the format has them.
fn metadata(store: &Tracks) -> Value {
    let units = store.units();
    let mut all = json!({
        "length_unit": units.length,
        "time_unit": units.time,
        "status": status_names().join(", "),
    });
    if let Some(origin) = units.origin_of_seconds() {
        all["time_origin"] = (&*origin.date).into();
        all["calendar"] = (&*origin.calendar).into();
    }
    all
}
