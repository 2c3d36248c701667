//! The JSON Schema of the case file, for editors.

use super::{Case, times};
use schemars::{
    JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema,
    transform::RecursiveTransform,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A corner of a box. Infinite coordinates have no number in JSON; editors read them as null.
pub type Corner = [Option<f64>; 3];

/// The JSON Schema (draft 2020-12) of the case file.
pub fn json_schema() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|of| of.inline_subschemas = true);
    let settings = settings.with_transform(RecursiveTransform(for_editors));
    settings.into_generator().into_root_schema_for::<Case>()
}

/// A name, or `"auto"`.
pub fn or_auto<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "const": "auto" }, generator.subschema_for::<T>()] })
}

/// A section in single brackets, or several.
pub fn one_or_several<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let one = generator.subschema_for::<T>();
    json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
}

/// Makes alternatives exclude each other.
pub fn one_of(schema: &mut Schema) {
    if let Some(alternatives) = schema.remove("anyOf") {
        schema.insert("oneOf".into(), alternatives);
    }
}

/// The keys of a section and of its kinds, with their schemas.
fn keys(section: &Value) -> Vec<(&String, &Value)> {
    let own = section["properties"].as_object().into_iter().flatten();
    let kinds = ["allOf", "anyOf", "oneOf"].map(|kind| section[kind].as_array());
    own.chain(kinds.into_iter().flatten().flatten().flat_map(keys)).collect()
}

/// Adds what editors look for, and removes defaults that TOML cannot express.
fn for_editors(schema: &mut Schema) {
    // Taplo knows draft 7, without `unevaluatedProperties`.
    if schema.get("unevaluatedProperties").is_some() {
        let names: BTreeSet<&String> =
            keys(schema.as_value()).iter().map(|(key, _)| *key).collect();
        let names = json!({ "enum": names });
        schema.insert("propertyNames".into(), names);
    }
    times::in_schema(schema);
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    // Taplo completes no keys that are beside `allOf`.
    if schema.get("allOf").is_some()
        && let Some(own) = schema.remove("properties")
        && let Some(Value::Array(parts)) = schema.get_mut("allOf")
    {
        parts.push(json!({ "properties": own }));
    }
    // The description of a kind, at the key that names it.
    let Some(description) = schema.get("description").cloned() else { return };
    let keys = schema.get_mut("properties").and_then(Value::as_object_mut);
    let names = keys.into_iter().flat_map(|keys| keys.values_mut());
    for name in names.filter(|key| key.get("const").is_some()).filter_map(Value::as_object_mut) {
        name.insert("description".into(), description.clone());
    }
}

#[cfg(test)]
mod tests;
