//! Metadata of arrays.

use super::codecs::{Codec, Codecs};
use super::json::{integers, named, read_json};
use super::keys::ChunkKeys;
use super::shards::Shards;
use crate::store::{Attribute, Dimension, ScalarType, Variable};
use crate::{Error, Result};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The layout of an array on disk.
#[derive(Debug)]
pub(super) struct ArrayMetadata {
    pub folder: PathBuf,
    /// Number of indices of a chunk along each dimension, at least 1.
    pub chunk: Vec<usize>,
    /// Value of a chunk that has no bytes.
    pub fill: f64,
    pub keys: ChunkKeys,
    pub is_big_endian: bool,
    /// The dimensions in the order in which a chunk stores them, the last one varies fastest.
    pub order: Vec<usize>,
    /// The files of several chunks, if it has those; otherwise each chunk has its own.
    pub shards: Option<Shards>,
    /// What encodes the bytes of a chunk, or why it is not supported.
    pub codecs: std::result::Result<Codecs, String>,
}

/// Reads the metadata of the array in a folder of a group, if it is one.
pub(super) fn read(group: &Path, folder: &Path) -> Result<Option<(Variable, ArrayMetadata)>> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let of = |file: &str| folder.join(file);
    let found = if of("zarr.json").is_file() {
        let json = read_json(&of("zarr.json"))?;
        match json.get("node_type").and_then(Value::as_str) {
            Some("array") => version_3(&json, folder, name.clone()),
            _ => return Ok(None),
        }
    } else if of(".zarray").is_file() {
        let attributes = match of(".zattrs").is_file() {
            true => read_json(&of(".zattrs"))?,
            false => Value::Null,
        };
        version_2(&read_json(&of(".zarray"))?, &attributes, folder, name.clone())
    } else {
        return Ok(None);
    };
    found.map(Some).map_err(|reason| Error::variable(group, &name, reason))
}

type Found = std::result::Result<(Variable, ArrayMetadata), String>;

fn version_2(json: &Value, attributes: &Value, folder: &Path, name: String) -> Found {
    let (shape, chunk) = (integers(json, "shape")?, integers(json, "chunks")?);
    let names = attributes.get("_ARRAY_DIMENSIONS");
    let dimensions = dimensions(&shape, &chunk, names)?;
    let dtype = json.get("dtype").and_then(Value::as_str).unwrap_or_default();
    let (order_of_bytes, kind) = dtype.split_at_checked(1).unwrap_or_default();
    let scalar = scalar_2(kind);
    let mut attributes = attributes_of(attributes.as_object(), scalar);
    let fill = number(json.get("fill_value").unwrap_or(&Value::Null));
    // As xarray does, except for 0: the default of arrays, and a velocity.
    let marks_missing = fill.is_some_and(|fill| fill != 0.0);
    if marks_missing && !attributes.iter().any(|(name, _)| name == "_FillValue") {
        let fill =
            Attribute::Numbers(scalar.unwrap_or(ScalarType::F64), fill.into_iter().collect());
        attributes.push(("_FillValue".into(), fill));
    }
    let mut order: Vec<usize> = (0..shape.len()).collect();
    if json.get("order").and_then(Value::as_str) == Some("F") {
        order.reverse();
    }
    let array = ArrayMetadata {
        folder: folder.into(),
        chunk,
        fill: fill.unwrap_or(0.0),
        keys: ChunkKeys {
            separator: separator(json.get("dimension_separator"), "."),
            is_prefixed: false,
        },
        is_big_endian: order_of_bytes == ">",
        order,
        shards: None,
        codecs: Codecs::version_2(json),
    };
    Ok((Variable { name, dimensions, scalar, attributes }, array))
}

fn version_3(json: &Value, folder: &Path, name: String) -> Found {
    let shape = integers(json, "shape")?;
    let grid = json.get("chunk_grid").unwrap_or(&Value::Null);
    let configuration = grid.get("configuration").unwrap_or(&Value::Null);
    if grid.get("name").and_then(Value::as_str) != Some("regular") {
        return Err("its chunk grid is not `regular`; write it with xarray or zarr-python".into());
    }
    let mut chunk = integers(configuration, "chunk_shape")?;
    let dimensions = dimensions(&shape, &chunk, json.get("dimension_names"))?;
    let scalar = json.get("data_type").and_then(Value::as_str).and_then(scalar_3);
    let keys = json.get("chunk_key_encoding").unwrap_or(&Value::Null);
    let is_prefixed = keys.get("name").and_then(Value::as_str) != Some("v2");
    let given = keys.get("configuration").and_then(|keys| keys.get("separator"));
    let mut shards = None;
    let codecs = match Shards::of(json, &chunk) {
        Ok(None) => Codecs::version_3(json, shape.len()),
        Ok(Some((found, of_shards, configuration))) => {
            (shards, chunk) = (Some(found), of_shards);
            Codecs::version_3(configuration, shape.len())
        }
        Err(reason) => Err(reason),
    };
    let (mut order, mut is_big_endian) = ((0..shape.len()).collect(), false);
    if let Ok(codecs) = &codecs {
        order = codecs.order.clone();
        is_big_endian = codecs.is_big_endian;
    }
    let array = ArrayMetadata {
        folder: folder.into(),
        chunk,
        fill: number(json.get("fill_value").unwrap_or(&Value::Null)).unwrap_or(0.0),
        keys: ChunkKeys {
            separator: separator(given, if is_prefixed { "/" } else { "." }),
            is_prefixed,
        },
        is_big_endian,
        order,
        shards,
        codecs,
    };
    let attributes = attributes_of(json.get("attributes").and_then(Value::as_object), scalar);
    Ok((Variable { name, dimensions, scalar, attributes }, array))
}

fn separator(given: Option<&Value>, default: &'static str) -> &'static str {
    match given.and_then(Value::as_str) {
        Some("/") => "/",
        Some(".") => ".",
        _ => default,
    }
}

/// The dimensions with their names; those without a name are called `dim_0`, ...
fn dimensions(
    shape: &[usize],
    chunk: &[usize],
    names: Option<&Value>,
) -> std::result::Result<Vec<Dimension>, String> {
    if chunk.len() != shape.len() || chunk.contains(&0) {
        return Err(format!("its chunks of {chunk:?} do not divide its shape {shape:?}"));
    }
    let name = |d: usize| {
        let name = names.and_then(|names| names.get(d)).and_then(Value::as_str);
        name.map_or_else(|| format!("dim_{d}"), str::to_owned)
    };
    Ok(shape.iter().enumerate().map(|(d, &len)| Dimension { name: name(d), len }).collect())
}

/// The type of a name such as `f4`.
fn scalar_2(kind: &str) -> Option<ScalarType> {
    let is_it =
        |scalar: &ScalarType| kind == format!("{}{}", &scalar.to_string()[..1], scalar.size());
    if kind == "b1" { Some(ScalarType::U8) } else { ScalarType::ALL.into_iter().find(is_it) }
}

/// The type of a name such as `float32`.
fn scalar_3(name: &str) -> Option<ScalarType> {
    let is_it = |scalar: &ScalarType| scalar.to_string() == name;
    if name == "bool" { Some(ScalarType::U8) } else { ScalarType::ALL.into_iter().find(is_it) }
}

/// Attributes. Numbers have no types in JSON: those of missing values are in the type of the array, as are limits
/// that are whole numbers or limits of floating point numbers.
fn attributes_of(
    json: Option<&Map<String, Value>>,
    scalar: Option<ScalarType>,
) -> Vec<(String, Attribute)> {
    let attribute = |(name, value): (&String, &Value)| {
        let is_fill = name == "_FillValue" || name == "missing_value";
        let list = match value {
            Value::Array(list) => list.as_slice(),
            other => std::slice::from_ref(other),
        };
        let is_of_array = |scalar: &ScalarType| {
            let is_limit = name.starts_with("valid_");
            is_fill || is_limit && (scalar.is_float() || !list.iter().any(Value::is_f64))
        };
        let scalar = scalar.filter(is_of_array).unwrap_or(ScalarType::F64);
        let nearest = |value: &Value| number(value).map(|number| scalar.nearest(number));
        let value = match (value, list.iter().map(nearest).collect()) {
            (Value::String(text), None) => Attribute::Text(text.clone()),
            (Value::String(text), _) if !is_fill => Attribute::Text(text.clone()),
            (_, Some(numbers)) => Attribute::Numbers(scalar, numbers),
            _ => Attribute::Text(String::new()),
        };
        (name.clone(), value)
    };
    json.into_iter().flatten().filter(|(_, value)| !value.is_null()).map(attribute).collect()
}

/// A number, or what Zarr and xarray write in its place.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Bool(is) => Some(f64::from(u8::from(*is))),
        Value::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            // A double, as xarray writes `_FillValue` in version 3.
            other => {
                let bytes = BASE64_STANDARD.decode(other).ok()?;
                Some(f64::from_le_bytes(bytes.try_into().ok()?))
            }
        },
        _ => None,
    }
}

impl Codecs {
    fn version_2(json: &Value) -> std::result::Result<Codecs, String> {
        let mut steps = Vec::new();
        for (name, filter) in named(json.get("filters")) {
            steps.extend(Codec::of(name, filter)?);
        }
        if let Some(compressor) = json.get("compressor").filter(|given| !given.is_null()) {
            let name = compressor.get("id").and_then(Value::as_str).unwrap_or("without a name");
            steps.extend(Codec::of(name, compressor)?);
        }
        Ok(Codecs { steps, order: Vec::new(), is_big_endian: false })
    }

    fn version_3(json: &Value, dimensions: usize) -> std::result::Result<Codecs, String> {
        let order: Vec<usize> = (0..dimensions).collect();
        let mut codecs = Codecs { steps: Vec::new(), order, is_big_endian: false };
        for (name, codec) in named(json.get("codecs")) {
            let configuration = codec.get("configuration").unwrap_or(&Value::Null);
            match name {
                "bytes" => {
                    let endian = configuration.get("endian").and_then(Value::as_str);
                    codecs.is_big_endian = endian == Some("big");
                }
                "transpose" => {
                    let order = integers(configuration, "order")?;
                    let mut sorted = order.clone();
                    sorted.sort_unstable();
                    if !sorted.iter().copied().eq(0..dimensions) {
                        return Err(format!("its codec `transpose` has the order {order:?}"));
                    }
                    codecs.order = order.iter().map(|d| codecs.order[*d]).collect();
                }
                _ => codecs.steps.extend(Codec::of(name, configuration)?),
            }
        }
        Ok(codecs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fill_values_are_numbers_or_text() {
        assert!(number(&json!("NaN")).unwrap().is_nan());
        assert!(number(&json!("AAAAAAAA+H8=")).unwrap().is_nan());
        // base64.standard_b64encode(struct.pack("<d", -9999.0))
        assert_eq!(number(&json!("AAAAAICHw8A=")), Some(-9999.0));
        assert_eq!(number(&json!("-Infinity")), Some(f64::NEG_INFINITY));
        assert_eq!(number(&json!(-5)), Some(-5.0));
        assert_eq!(number(&json!("AAA")), None);
        assert_eq!(number(&json!(null)), None);
    }

    #[test]
    fn a_transposition_is_a_permutation() {
        let codecs = |order: Value| {
            let transpose = json!({ "name": "transpose", "configuration": { "order": order } });
            Codecs::version_3(&json!({ "codecs": [transpose, { "name": "bytes" }] }), 3)
        };
        assert_eq!(codecs(json!([2, 0, 1])).unwrap().order, [2, 0, 1]);
        assert!(codecs(json!([2, 0, 0])).unwrap_err().contains("[2, 0, 0]"));
        assert!(codecs(json!([0, 1])).is_err());
    }
}
