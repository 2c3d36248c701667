//! Values of the case file as Rust types. Errors name the path to the value.

use super::error::{KeyError, Step};
use serde::{
    Deserializer,
    de::{
        DeserializeSeed, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
        VariantAccess, Visitor,
    },
    forward_to_deserialize_any,
};
use std::{cell::Cell, collections::VecDeque};
use toml::{Table, Value};

/// Names of keys or kinds.
pub type Names = &'static [&'static str];

/// Reads a value, or what is a part of a section.
#[derive(Clone, Copy)]
pub enum Reader<'a> {
    Value(&'a Value),
    Part(&'a Part<'a>),
}

/// A struct whose fields are keys of a section, or a kind whose keys are.
pub struct Part<'a> {
    /// The name of the kind.
    name: &'a str,
    table: &'a Table,
    /// What the type asks for: the names of all kinds, and the keys of this one or of the struct.
    pub kinds: Cell<Names>,
    pub keys: Cell<Names>,
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = KeyError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        let Reader::Value(value) = self else {
            return Err(KeyError::custom("a part of a section is a struct or a kind"));
        };
        match value {
            Value::String(text) => visitor.visit_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            // No key has a use for NaN.
            Value::Float(number) if number.is_nan() => Err(KeyError::value("give a number")),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(flag) => visitor.visit_bool(*flag),
            Value::Datetime(_) => Err(KeyError::invalid_type(Unexpected::Other("date"), &visitor)),
            Value::Array(items) => visitor.visit_seq(Items { items, next: 0 }),
            Value::Table(table) => {
                let entries = table.iter().map(|(key, value)| (key.as_str(), value));
                visitor.visit_map(Entries(entries.collect()))
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
        match self {
            Reader::Value(Value::Array(items)) if items.len() != length => {
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
        let table = match self {
            Reader::Part(part) => {
                part.keys.set(fields);
                return visitor.visit_map(Entries::of(part.table, fields));
            }
            Reader::Value(value) => value.as_table(),
        };
        // Before a key that is missing because it is misspelt.
        let mut keys = table.into_iter().flat_map(Table::keys);
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
        let value = match self {
            Reader::Part(part) => {
                part.kinds.set(variants);
                return visitor.visit_enum(part);
            }
            Reader::Value(value) => value.as_str().unwrap_or_default(),
        };
        match variants.contains(&value) {
            true => visitor.visit_enum(value.into_deserializer()),
            false => Err(KeyError::choice(value, variants)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple_struct map identifier ignored_any
    }
}

impl<'a> Part<'a> {
    pub fn of(name: &'a str, table: &'a Table) -> Self {
        Part { name, table, kinds: Cell::default(), keys: Cell::default() }
    }
}

impl<'de> EnumAccess<'de> for &Part<'_> {
    type Error = KeyError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), KeyError> {
        Ok((seed.deserialize(self.name.into_deserializer())?, self))
    }
}

impl<'de> VariantAccess<'de> for &Part<'_> {
    type Error = KeyError;

    fn unit_variant(self) -> Result<(), KeyError> {
        Ok(())
    }

    /// The value of the key that has the name of the variant.
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, KeyError> {
        let own = self.kinds.get().chunks(1).find(|name| *name == [self.name]);
        self.keys.set(own.unwrap_or_default());
        Entries::of(self.table, self.keys.get()).next_value_seed(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, KeyError> {
        Err(KeyError::custom("a kind has keys with names"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        keys: Names,
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        self.keys.set(keys);
        visitor.visit_map(Entries::of(self.table, keys))
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
        seed.deserialize(Reader::Value(value)).map(Some).map_err(|error| error.under(step, value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.next)
    }
}

/// Keys of a table and their values.
struct Entries<'a>(VecDeque<(&'a str, &'a Value)>);

impl<'a> Entries<'a> {
    /// Those with these keys.
    fn of(table: &'a Table, keys: &[&'a str]) -> Self {
        Entries(keys.iter().filter_map(|key| Some((*key, table.get(*key)?))).collect())
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = KeyError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, KeyError> {
        self.0.front().map(|(key, _)| seed.deserialize((*key).into_deserializer())).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, KeyError> {
        let Some((key, value)) = self.0.pop_front() else {
            return Err(KeyError::custom("a key has no value"));
        };
        let step = Step::Key(key.into());
        seed.deserialize(Reader::Value(value)).map_err(|error| error.under(step, value))
    }
}
