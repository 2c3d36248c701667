//! Metadata of arrays that are written, in version 3.

use super::blosc;
use super::keys::ChunkKeys;
use serde_json::{Value, json};

/// Name of the file that describes an array or a group in version 3.
pub const METADATA: &str = "zarr.json";

/// Names of the chunks of arrays that [`array()`] describes.
pub const KEYS: ChunkKeys = ChunkKeys { separator: ".", is_prefixed: true };

/// The content of a file of metadata.
pub fn text(metadata: &Value) -> String {
    format!("{metadata:#}\n")
}

/// Metadata of an uncompressed array of numbers in little-endian byte order, from the name of their type, its
/// shape, the shape of a chunk, the names of its dimensions and its attributes. Missing numbers are NaN, or 0
/// in arrays of integers.
pub fn array(
    data_type: &str,
    shape: &[usize],
    chunk: &[usize],
    names: &[&str],
    attributes: Value,
) -> Value {
    let codec = match data_type {
        "uint8" => json!({ "name": "bytes" }),
        _ => json!({ "name": "bytes", "configuration": { "endian": "little" } }),
    };
    json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": data_type,
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": chunk } },
        "chunk_key_encoding": { "name": "default", "configuration": { "separator": KEYS.separator } },
        "fill_value": if data_type.starts_with("float") { json!("NaN") } else { json!(0) },
        "codecs": [codec],
        "dimension_names": names,
        "attributes": attributes,
    })
}

/// Adds the codec of [`blosc::encode`] to the metadata of an array of numbers of `width` bytes.
pub fn add_blosc(metadata: &mut Value, width: usize) {
    let codec = json!({
        "name": "blosc",
        "configuration": {
            "typesize": width,
            "cname": "lz4",
            "clevel": 5,
            "shuffle": if width > 1 { "shuffle" } else { "noshuffle" },
            "blocksize": blosc::BLOCK,
        },
    });
    metadata["codecs"].as_array_mut().into_iter().for_each(|codecs| codecs.push(codec.clone()));
}
