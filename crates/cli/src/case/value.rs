//! Values of the case file as Rust types. Errors name the path to the value.

use super::error::{KeyError, Step};
use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor},
    forward_to_deserialize_any,
};
use toml::{Table, Value};

/// Reads a value.
pub struct ValueReader<'a>(pub &'a Value);

impl<'de> Deserializer<'de> for ValueReader<'_> {
    type Error = KeyError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        match self.0 {
            Value::String(text) => visitor.visit_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(flag) => visitor.visit_bool(*flag),
            Value::Datetime(_) => Err(KeyError::invalid_type(Unexpected::Other("date"), &visitor)),
            Value::Array(items) => visitor.visit_seq(Items { items, next: 0 }),
            Value::Table(table) => {
                visitor.visit_map(Entries { entries: table.iter(), value: None })
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        match self.0 {
            Value::Array(items) if items.len() != length => {
                Err(KeyError::invalid_length(items.len(), &visitor))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        // Before a key that is missing because it is misspelt.
        let mut keys = self.0.as_table().into_iter().flat_map(Table::keys);
        match keys.find(|key| !fields.contains(&key.as_str())) {
            Some(key) => Err(KeyError::unknown(key, "", None, fields)),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        match self.0.as_str() {
            Some(name) if variants.contains(&name) => visitor.visit_enum(name.into_deserializer()),
            Some(name) => Err(KeyError::choice(name, variants)),
            None => Err(KeyError::choice("", variants)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple_struct map identifier ignored_any
    }
}

/// The value of a key that is not there: `None`, or an error.
pub struct Absent(pub &'static str);

impl<'de> Deserializer<'de> for Absent {
    type Error = KeyError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, KeyError> {
        Err(KeyError::missing(self.0, ""))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Items<'a> {
    items: &'a [Value],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = KeyError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, KeyError> {
        let Some(value) = self.items.get(self.next) else { return Ok(None) };
        let step = match value {
            Value::Table(_) => Step::Section(self.next, self.items.len()),
            _ => Step::Item(self.next),
        };
        self.next += 1;
        seed.deserialize(ValueReader(value)).map(Some).map_err(|error| error.under(step, value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.next)
    }
}

struct Entries<'a> {
    entries: toml::map::Iter<'a, String, Value>,
    value: Option<(&'a str, &'a Value)>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = KeyError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, KeyError> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some((key, value));
        seed.deserialize(key.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, KeyError> {
        let Some((key, value)) = self.value.take() else {
            return Err(KeyError::custom("a value is read before its key"));
        };
        let step = Step::Key(key.into());
        seed.deserialize(ValueReader(value)).map_err(|error| error.under(step, value))
    }
}
