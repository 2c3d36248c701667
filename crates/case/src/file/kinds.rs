//! Writes kinds: enumerations whose variants have keys of their own, which stand among the keys of a section.

use serde::{
    Serialize, Serializer,
    ser::{Error, SerializeMap},
};
use toml::{Table, Value};

/// The name of a kind.
pub fn name_of<T: Serialize>(kind: &T) -> String {
    parts(kind).map(|(name, _)| name).unwrap_or_default()
}

/// The name of a kind, and its keys with their values.
fn parts<T: Serialize>(kind: &T) -> Result<(String, Table), toml::ser::Error> {
    Ok(match Value::try_from(kind)? {
        Value::Table(table) => match table.into_iter().next() {
            Some((name, Value::Table(keys))) => (name, keys),
            Some((name, value)) => (name.clone(), Table::from_iter([(name, value)])),
            None => Default::default(),
        },
        name => (name.as_str().unwrap_or_default().into(), Table::new()),
    })
}

/// Writes the keys of a kind, after its name as the value of `tag`, if there is one.
fn write<T: Serialize, S: Serializer>(
    tag: Option<&str>,
    kind: &T,
    to: S,
) -> Result<S::Ok, S::Error> {
    let (name, keys) = parts(kind).map_err(S::Error::custom)?;
    let mut map = to.serialize_map(None)?;
    if let Some(tag) = tag {
        map.serialize_entry(tag, &name)?;
    }
    keys.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
    map.end()
}

pub fn by_presence<T: Serialize, S: Serializer>(kind: &T, to: S) -> Result<S::Ok, S::Error> {
    write(None, kind, to)
}

pub fn by_kind<T: Serialize, S: Serializer>(kind: &T, to: S) -> Result<S::Ok, S::Error> {
    write(Some("kind"), kind, to)
}

pub fn by_pattern<T: Serialize, S: Serializer>(kind: &T, to: S) -> Result<S::Ok, S::Error> {
    write(Some("pattern"), kind, to)
}

pub fn by_interpolation<T: Serialize, S: Serializer>(kind: &T, to: S) -> Result<S::Ok, S::Error> {
    write(Some("interpolation"), kind, to)
}

pub fn by_outside_time<T: Serialize, S: Serializer>(kind: &T, to: S) -> Result<S::Ok, S::Error> {
    write(Some("outside_time"), kind, to)
}
