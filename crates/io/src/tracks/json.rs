//! Files of JSON.

use crate::disk::write_atomic;
use crate::{Error, Result};
use serde_json::Value;
use std::io::Write;
use std::path::Path;

/// The content of a JSON file.
pub(super) fn text_of(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Writes a file atomically.
pub(super) fn write_text(path: &Path, text: &str) -> Result<()> {
    write_atomic(path, Some(text.len() as u64), |file| file.write_all(text.as_bytes()))
}

/// Reads a JSON file.
pub(super) fn read_json(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).map_err(Error::system("read", path))?;
    serde_json::from_str(&text).map_err(|e| Error::Store {
        path: path.into(),
        found: format!("found something else ({e})"),
        expected: "JSON that describes an array or a group of Zarr".into(),
    })
}
