//! The keys in which two cases differ.

use crate::file::Case;
use anyhow::Result;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter};

/// A key of two cases with different values.
#[derive(Debug, PartialEq, Serialize)]
pub struct KeyDifference {
    /// As `--set` takes it: `trace.dt`, `source[0].rate`, `patch.inlet.wall`.
    pub key: String,
    /// `None` where a case lacks the key.
    pub values: [Option<Value>; 2],
}

impl Display for KeyDifference {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let shown =
            |value: &Option<Value>| value.as_ref().map_or("absent".into(), Value::to_string);
        let [a, b] = self.values.each_ref().map(shown);
        write!(f, "{} is {a} and {b}", self.key)
    }
}

/// The keys in which two cases differ, apart from their output folders.
pub fn differences(a: &Case, b: &Case) -> Result<Vec<KeyDifference>> {
    let [a, b] = [keys(a)?, keys(b)?];
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let found = names.into_iter().filter(|key| *key != "run.out" && a.get(*key) != b.get(*key));
    let difference = |key: &String| KeyDifference {
        values: [a.get(key).cloned(), b.get(key).cloned()],
        key: key.clone(),
    };
    Ok(found.map(difference).collect())
}

/// All keys of a case with their values.
fn keys(case: &Case) -> Result<BTreeMap<String, Value>> {
    let mut keys = BTreeMap::new();
    // As TOML, which omits unset keys.
    let case = serde_json::to_value(toml::Table::try_from(case)?)?;
    flatten("", case, &mut keys);
    Ok(keys)
}

fn flatten(name: &str, value: Value, keys: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(table) => {
            for (key, value) in table {
                let name = if name.is_empty() { key } else { format!("{name}.{key}") };
                flatten(&name, value, keys);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (i, item) in items.into_iter().enumerate() {
                let name = match item.get("name").and_then(Value::as_str) {
                    Some(own) if !own.contains(['.', '[', '"']) => format!("{name}.{own}"),
                    _ => format!("{name}[{i}]"),
                };
                flatten(&name, item, keys);
            }
        }
        value => drop(keys.insert(name.into(), value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;
    use serde_json::json;

    #[test]
    fn differing_keys_have_the_names_that_set_takes() {
        let text = "[field]\nflow = \"abc\"\n[trace]\ndt = 0.5\n[run]\nout = \"a\"\n\
                    [[source]]\nrate = 1.0\ncapacity = 9\ninlet = { kind = \"face\", face = \"x-low\" }\n";
        let a = file::from_text(text, &[]).unwrap();
        let set = [
            "run.out=b",
            "source[0].rate=2.0",
            "trace.dt=",
            "trace.t1=3.0",
            "walk.diffusivity=0.1",
        ];
        let b = file::from_text(text, &set.map(String::from)).unwrap();
        let found = differences(&a, &b).unwrap();
        let named =
            |key: &str| found.iter().find(|found| found.key == key).map(|found| &found.values);
        assert_eq!(named("source[0].rate"), Some(&[Some(json!(1.0)), Some(json!(2.0))]));
        assert_eq!(named("trace.dt"), Some(&[Some(json!(0.5)), None]));
        assert_eq!(named("trace.t1"), Some(&[None, Some(json!(3.0))]));
        assert_eq!(named("walk.diffusivity"), Some(&[None, Some(json!(0.1))]));
        assert_eq!(named("run.out"), None);
        assert_eq!(differences(&a, &a).unwrap(), []);
    }
}
