//! Zarr groups in a folder, versions 2 and 3, as xarray writes them; and the metadata, names of chunks and
//! compression of arrays that other crates write.

pub mod blosc;
mod chunks;
mod codecs;
mod compressors;
mod json;
mod keys;
mod lz;
mod metadata;
mod shards;
mod shuffle;
mod written;

pub use json::read_json;
pub use keys::ChunkKeys;
pub use written::{KEYS, METADATA, add_blosc, array, text};

use crate::store::{Span, Store, Variable};
use crate::values::Values;
use crate::{Error, Result};
use metadata::ArrayMetadata;
use std::path::{Path, PathBuf};

/// Whether a folder is a Zarr group or array, by its files.
pub(crate) fn is_zarr(path: &Path) -> bool {
    [METADATA, ".zgroup", ".zarray"].iter().any(|name| path.join(name).is_file())
}

/// An open group.
#[derive(Debug)]
pub(crate) struct Group {
    path: PathBuf,
    format: &'static str,
    variables: Vec<Variable>,
    /// The arrays, in the order of the variables.
    arrays: Vec<ArrayMetadata>,
}

impl Group {
    /// Opens a group, and reads the metadata of its arrays. Groups within it are ignored.
    pub fn open(path: &Path) -> Result<Group> {
        let format = if path.join(METADATA).is_file() {
            check_group(path)?;
            "Zarr version 3"
        } else if path.join(".zarray").is_file() {
            return Err(single_array(path));
        } else if path.join(".zgroup").is_file() {
            "Zarr version 2"
        } else {
            return Err(Error::file(
                path,
                "it is a folder without `zarr.json` or `.zgroup`, so not a Zarr group; give the folder \
                 that xarray wrote by `to_zarr`",
            ));
        };
        let (mut variables, mut arrays) = (Vec::new(), Vec::new());
        for folder in folders(path)? {
            if let Some((variable, array)) = metadata::read(path, &folder)? {
                variables.push(variable);
                arrays.push(array);
            }
        }
        Ok(Group { path: path.into(), format, variables, arrays })
    }
}

impl Store for Group {
    fn path(&self) -> &Path {
        &self.path
    }

    fn format(&self) -> &str {
        self.format
    }

    fn variables(&self) -> &[Variable] {
        &self.variables
    }

    fn read(&self, variable: &Variable, slab: &[Span]) -> Result<Values> {
        let index = self.variables.iter().position(|known| known.name == variable.name);
        let array = index.and_then(|index| self.arrays.get(index));
        let missing = || Error::variable(&self.path, &variable.name, "the group has no such array");
        chunks::read(&self.path, array.ok_or_else(missing)?, variable, slab)
    }
}

/// The folders within a folder, by name.
fn folders(path: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(path).map_err(Error::read(path))? {
        let entry = entry.map_err(Error::read(path))?.path();
        if entry.is_dir() {
            folders.push(entry);
        }
    }
    folders.sort();
    Ok(folders)
}

/// Refuses the metadata of an array in place of that of a group.
fn check_group(path: &Path) -> Result<()> {
    let json = read_json(&path.join(METADATA))?;
    match json.get("node_type").and_then(serde_json::Value::as_str) {
        Some("group") => Ok(()),
        Some("array") => Err(single_array(path)),
        _ => Err(Error::file(&path.join(METADATA), "it has no `node_type` of a group or an array")),
    }
}

fn single_array(path: &Path) -> Error {
    Error::file(path, "it is one Zarr array; give the group, the folder that contains it")
}
