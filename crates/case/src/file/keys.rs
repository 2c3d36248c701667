//! Sections of the case file, in which the keys of several values stand side by side.

use super::{
    error::{KeyError, Step, choices, one_of},
    value::{Names, Part, Reader},
};
use serde::{
    Deserialize,
    de::{DeserializeOwned, Error},
};
use toml::{Table, Value};

/// A section that is read key by key.
pub trait Section: Sized {
    fn read(keys: &mut Keys) -> Result<Self, KeyError>;
}

/// Implements [`Section`]: each field is read by a function of [`Keys`], then unknown keys are refused, before
/// any other error.
macro_rules! section {
    ($name:ident {
        $($field:ident: $read:ident($($argument:expr),*) $(.$then:ident($with:expr))?),+ $(,)?
    } $($other:ident: $value:expr),*) => {
        impl Section for $name {
            fn read(keys: &mut Keys) -> Result<Self, KeyError> {
                $(let $field = keys.$read($($argument),*)$(.$then($with))?;)+
                keys.check()?;
                Ok($name { $($field: $field?,)+ $($other: $value,)* })
            }
        }
    };
}

/// The keys of a section. Those that are read are the ones that it can have.
pub struct Keys<'a> {
    table: &'a Table,
    known: Vec<&'static str>,
    /// The kinds that were chosen.
    chosen: Vec<Choice>,
    /// The other kinds.
    others: Vec<Choice>,
}

/// A kind that a key names (`kind = "grid"`), or the presence of a key (`flow`).
struct Choice {
    /// The key that names the kind; empty if the presence of a key does.
    tag: &'static str,
    name: &'static str,
    /// The keys that belong to it.
    keys: Names,
}

impl Choice {
    /// The choice in a message, after the name of the section.
    fn text(&self) -> String {
        match self.tag {
            "" => format!("with `{}`", self.name),
            tag => format!("{tag} = {:?}", self.name),
        }
    }
}

impl<'a> Keys<'a> {
    pub fn of(table: &'a Table) -> Self {
        Keys { table, known: Vec::new(), chosen: Vec::new(), others: Vec::new() }
    }

    /// Refuses keys that were not read.
    pub fn check(&self) -> Result<(), KeyError> {
        let is_known = |key: &str| self.known.contains(&key);
        let Some(key) = self.table.keys().find(|key| !is_known(key)) else { return Ok(()) };
        // The kinds that have this key, and the one that the section has instead.
        let kinds: Vec<&Choice> =
            self.others.iter().filter(|other| other.keys.contains(&key.as_str())).collect();
        let tag = kinds.first().map(|kind| kind.tag);
        let instead = self.chosen.iter().find(|chosen| tag.is_none_or(|tag| tag == chosen.tag));
        let names = |quote: char| -> Vec<String> {
            kinds.iter().map(|kind| format!("{quote}{}{quote}", kind.name)).collect()
        };
        let belongs_to = tag.map(|tag| match tag {
            "" => one_of(&names('`')),
            tag => format!("{tag} = {}", one_of(&names('"'))),
        });
        let with = instead.map(Choice::text).unwrap_or_default();
        Err(KeyError::unknown(key, &with, belongs_to, &self.known))
    }

    /// The value of a key as a function reads it, or a default; without one, the key is required.
    pub fn by<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Reader<'a>) -> Result<T, KeyError>,
        default: Option<T>,
    ) -> Result<T, KeyError> {
        self.known.push(key);
        match self.table.get(key) {
            Some(value) => read(Reader::Value(value))
                .map_err(|error| error.under(Step::Key(key.into()), value)),
            None => default.ok_or_else(|| KeyError::missing_field(key)),
        }
    }

    /// The value of a key.
    pub fn get<T: DeserializeOwned>(&mut self, key: &'static str) -> Result<T, KeyError> {
        self.by(key, T::deserialize, None)
    }

    /// The value of a key, if it is there.
    pub fn option<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
    ) -> Result<Option<T>, KeyError> {
        self.by(key, Option::deserialize, Some(None))
    }

    /// The value of a key, or the default of its type.
    pub fn or_default<T: DeserializeOwned + Default>(
        &mut self,
        key: &'static str,
    ) -> Result<T, KeyError> {
        self.by(key, T::deserialize, Some(T::default()))
    }

    /// The section of this name.
    pub fn section<S: Section>(&mut self, name: &'static str) -> Result<S, KeyError> {
        self.by(name, section, None)
    }

    /// The section of this name, if it is there.
    pub fn optional<S: Section>(&mut self, name: &'static str) -> Result<Option<S>, KeyError> {
        self.by(name, |reader| section(reader).map(Some), Some(None))
    }

    /// All sections of this name.
    pub fn list<S: Section>(&mut self, name: &'static str) -> Result<Vec<S>, KeyError> {
        self.by(name, sections, Some(Vec::new()))
    }

    /// A value whose keys are keys of the section.
    pub fn part<T: DeserializeOwned>(&mut self) -> Result<T, KeyError> {
        self.known.extend(keys_of_part::<T>());
        T::deserialize(Reader::Part(&Part::of("", self.table)))
    }

    /// A kind that the key `tag` names; its keys are keys of the section.
    pub fn kind<T: DeserializeOwned>(
        &mut self,
        tag: &'static str,
        default: Option<&'static str>,
    ) -> Result<T, KeyError> {
        let kinds = keys_of_kinds::<T>();
        let names: Vec<&'static str> = kinds.iter().map(|(name, _)| *name).collect();
        self.known.push(tag);
        let name = match (self.table.get(tag), default) {
            (Some(value), _) => {
                let given = value.as_str().unwrap_or_default();
                let wrong = || KeyError::choice(given, &names).under(Step::Key(tag.into()), value);
                names.iter().copied().find(|name| *name == given).ok_or_else(wrong)
            }
            (None, Some(name)) => Ok(name),
            (None, None) => Err(KeyError::missing(tag, format!("give {}", choices(&names)))),
        };
        self.choose(tag, name.map(Some), kinds)?.ok_or_else(|| KeyError::missing_field(tag))
    }

    /// The kind whose name is a key of the section.
    pub fn one_of<T: DeserializeOwned>(&mut self) -> Result<T, KeyError> {
        self.any_of(true)?.ok_or_else(|| KeyError::missing_field(""))
    }

    /// The kind whose name is a key of the section, if it has one. A kind without keys stands for none.
    pub fn any_of<T: DeserializeOwned>(
        &mut self,
        is_required: bool,
    ) -> Result<Option<T>, KeyError> {
        let mut kinds = keys_of_kinds::<T>();
        kinds.retain(|(_, keys)| !keys.is_empty());
        let names = kinds.iter().map(|(name, _)| *name);
        let given: Vec<&'static str> =
            names.clone().filter(|name| self.table.contains_key(*name)).collect();
        let quoted = |name: &&str| format!("`{name}`");
        let name = match given[..] {
            [] if !is_required => {
                self.known.extend(names);
                Ok(None)
            }
            [] => {
                let names: Vec<String> = names.map(|name| quoted(&name)).collect();
                Err(KeyError::keys(format!("needs one of its keys {}", one_of(&names))))
            }
            [name] => Ok(Some(name)),
            [a, b] => Err(KeyError::keys(format!("has both `{a}` and `{b}`; keep one of them"))),
            _ => {
                let names: Vec<String> = given.iter().map(quoted).collect();
                Err(KeyError::keys(format!("has several of {}; keep one", names.join(", "))))
            }
        };
        self.choose("", name, kinds)
    }

    /// Reads the kind of a name, if there is one. The keys of the others belong to these, or are known if it is not
    /// clear which one is meant.
    fn choose<T: DeserializeOwned>(
        &mut self,
        tag: &'static str,
        name: Result<Option<&'static str>, KeyError>,
        kinds: Vec<(&'static str, Names)>,
    ) -> Result<Option<T>, KeyError> {
        let mut with = String::new();
        for (kind, keys) in kinds {
            let choice = Choice { tag, name: kind, keys };
            match &name {
                Ok(Some(name)) if *name == kind => {
                    with = choice.text();
                    self.known.extend(keys);
                    self.chosen.push(choice);
                }
                Ok(_) => self.others.push(choice),
                Err(_) => self.known.extend(keys),
            }
        }
        let Some(name) = name? else { return Ok(None) };
        let part = Part::of(name, self.table);
        T::deserialize(Reader::Part(&part)).map(Some).map_err(|error| error.with(&with))
    }
}

fn section<S: Section>(reader: Reader<'_>) -> Result<S, KeyError> {
    match reader {
        Reader::Value(Value::Table(table)) => S::read(&mut Keys::of(table)),
        _ => Err(KeyError::value("give a section of keys, as { key = value }")),
    }
}

/// A list of sections, or a single one.
fn sections<S: Section>(reader: Reader<'_>) -> Result<Vec<S>, KeyError> {
    let Reader::Value(Value::Array(items)) = reader else { return Ok(vec![section(reader)?]) };
    let read = |(i, item)| {
        let step = Step::Section(i, items.len());
        section(Reader::Value(item)).map_err(|error| error.under(step, item))
    };
    items.iter().enumerate().map(read).collect()
}

/// The names of all kinds, each with its keys.
fn keys_of_kinds<T: DeserializeOwned>() -> Vec<(&'static str, Names)> {
    let kinds = asked::<T>("").0;
    kinds.iter().map(|name| (*name, asked::<T>(name).1)).collect()
}

/// The keys of a struct.
pub fn keys_of_part<T: DeserializeOwned>() -> Names {
    asked::<T>("").1
}

/// The names of kinds that a type asks for, and the keys of one of them or of a struct.
fn asked<T: DeserializeOwned>(kind: &str) -> (Names, Names) {
    let empty = Table::new();
    let part = Part::of(kind, &empty);
    // The keys are known even if they are missing.
    T::deserialize(Reader::Part(&part)).ok();
    (part.kinds.get(), part.keys.get())
}
