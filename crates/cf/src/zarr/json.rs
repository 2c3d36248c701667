//! Files of metadata, and lists that are read in several places of it.

use crate::{Error, Result};
use serde_json::Value;
use std::path::Path;

/// Maximum bytes of a metadata file.
const MAX_METADATA: u64 = 16 << 20;

/// Reads a metadata file.
///
/// # Errors
///
/// If the file cannot be read, or is not JSON.
pub fn read_json(path: &Path) -> Result<Value> {
    let bytes = std::fs::metadata(path).map_err(Error::read(path))?.len();
    if bytes > MAX_METADATA {
        return Err(Error::file(
            path,
            format!("{bytes} bytes are too long for the metadata of Zarr"),
        ));
    }
    let text = std::fs::read(path).map_err(Error::read(path))?;
    serde_json::from_slice(&text).map_err(|error| {
        Error::file(
            path,
            format!("it is not the metadata of Zarr ({error}); it was cut off or edited"),
        )
    })
}

/// A list of sizes.
pub(super) fn integers(json: &Value, key: &str) -> std::result::Result<Vec<usize>, String> {
    let list = json.get(key).and_then(Value::as_array);
    let sizes = list.and_then(|list| {
        list.iter().map(|size| usize::try_from(size.as_u64()?).ok()).collect::<Option<Vec<_>>>()
    });
    sizes.ok_or_else(|| format!("its metadata has no list of sizes `{key}`"))
}

/// The codecs of a list, with their configurations.
pub(super) fn named(list: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    list.and_then(Value::as_array).into_iter().flatten().map(|codec| {
        let name = codec.get("name").or_else(|| codec.get("id")).and_then(Value::as_str);
        (name.or_else(|| codec.as_str()).unwrap_or("without a name"), codec)
    })
}
