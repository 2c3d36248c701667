//! Sections whose keys depend on their kind.

use super::{
    error::{KeyError, Step, choices, one_of},
    value::{Absent, ValueReader},
};
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// A section that checks its keys and reads their values.
pub trait Section: Sized {
    fn read(keys: &mut Keys) -> Result<Self, KeyError>;
}

/// Kinds with different keys; implemented by [`kinds!`].
pub trait Kinds: Sized {
    /// The key that names the kind.
    const TAG: &'static str;
    const DEFAULT: Option<&'static str>;
    /// Each kind with its own keys.
    const KINDS: &'static [(&'static str, &'static [&'static str])];

    fn read(kind: &str, keys: &Keys) -> Result<Self, KeyError>;

    /// The name of the kind in the case file.
    fn name(&self) -> &'static str;
}

/// The keys of a section. First declare the allowed ones (`kind`, `one_of`, `allow`, `ignore`), then
/// `check` them, then `get` their values.
pub struct Keys<'a> {
    table: &'a Table,
    allowed: Vec<&'static str>,
    /// Keys that are accepted and have no effect.
    ignored: Vec<&'static str>,
    /// The kinds that were chosen.
    chosen: Vec<Choice>,
    /// The other kinds.
    others: Vec<Choice>,
    /// Warnings for the user.
    pub notes: Vec<String>,
}

/// A kind that a key names (`kind = "grid"`), or the presence of a key (`flow`).
pub struct Choice {
    /// The key that names the kind; empty if the presence of a key does.
    pub tag: &'static str,
    pub name: &'static str,
    /// The keys that belong to it.
    pub keys: &'static [&'static str],
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
        Keys {
            table,
            allowed: Vec::new(),
            ignored: Vec::new(),
            chosen: Vec::new(),
            others: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds keys to the allowed ones.
    pub fn allow(&mut self, keys: &[&'static str]) {
        self.allowed.extend(keys);
    }

    /// Accepts keys that have no effect.
    pub fn ignore(&mut self, keys: &[&'static str]) {
        self.ignored.extend(keys);
    }

    /// The kind that the section names, or the default; adds the keys of that kind.
    pub fn kind<K: Kinds>(&mut self) -> Result<&'static str, KeyError> {
        let names: Vec<&'static str> = K::KINDS.iter().map(|(name, _)| *name).collect();
        let kind = match (self.table.get(K::TAG), K::DEFAULT) {
            (Some(value), _) => {
                let given = value.as_str().unwrap_or_default();
                let found = names.iter().copied().find(|name| *name == given);
                let wrong =
                    || KeyError::choice(given, &names).under(Step::Key(K::TAG.into()), value);
                found.ok_or_else(wrong)?
            }
            (None, Some(name)) => name,
            (None, None) => {
                return Err(KeyError::missing(K::TAG, format!("give {}", choices(&names))));
            }
        };
        self.allow(&[K::TAG]);
        for (name, keys) in K::KINDS {
            self.choose(Choice { tag: K::TAG, name, keys }, *name == kind);
        }
        Ok(kind)
    }

    /// The one of several alternative keys that the section has; allows it, and the keys that belong
    /// to it.
    pub fn one_of(
        &mut self,
        kinds: &[(&'static str, &'static [&'static str])],
    ) -> Result<&'static str, KeyError> {
        let quoted = |names: &[&'static str]| -> Vec<String> {
            names.iter().map(|name| format!("`{name}`")).collect()
        };
        let names: Vec<&'static str> = kinds.iter().map(|(name, _)| *name).collect();
        let given: Vec<&'static str> =
            names.iter().copied().filter(|name| self.has(name)).collect();
        let [chosen] = given[..] else {
            return Err(KeyError::keys(match given[..] {
                [] => format!("needs one of its keys {}", one_of(&quoted(&names))),
                [a, b] => format!("has both `{a}` and `{b}`; keep one of them"),
                _ => format!("has several of {}; keep one", quoted(&given).join(", ")),
            }));
        };
        self.allow(&[chosen]);
        for (name, keys) in kinds {
            self.choose(Choice { tag: "", name, keys }, *name == chosen);
        }
        Ok(chosen)
    }

    fn choose(&mut self, choice: Choice, is_chosen: bool) {
        if is_chosen {
            self.allow(choice.keys);
            self.chosen.push(choice);
        } else {
            self.others.push(choice);
        }
    }

    /// Whether the section has a key.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Refuses unknown keys.
    pub fn check(&self) -> Result<(), KeyError> {
        let is_known = |key: &str| self.allowed.contains(&key) || self.ignored.contains(&key);
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
        Err(KeyError::unknown(key, &with, belongs_to, &self.allowed))
    }

    /// The value of a key; `None` for an omitted option.
    pub fn get<T: DeserializeOwned>(&self, key: &'static str) -> Result<T, KeyError> {
        match self.table.get(key) {
            Some(value) => T::deserialize(ValueReader(value))
                .map_err(|error| error.under(Step::Key(key.into()), value)),
            None => {
                let needs_it = self.chosen.iter().find(|chosen| chosen.keys.contains(&key));
                let with = needs_it.map(Choice::text).unwrap_or_default();
                T::deserialize(Absent(key)).map_err(|error| error.with(&with))
            }
        }
    }

    /// The value of a key, or the default of its type.
    pub fn or_default<T: DeserializeOwned + Default>(
        &self,
        key: &'static str,
    ) -> Result<T, KeyError> {
        self.or(key, T::default())
    }

    /// The value of a key, or a default.
    pub fn or<T: DeserializeOwned>(&self, key: &'static str, default: T) -> Result<T, KeyError> {
        if self.has(key) { self.get(key) } else { Ok(default) }
    }

    /// The section of this name; an empty one if omitted.
    pub fn section<S: Section>(&mut self, name: &'static str) -> Result<S, KeyError> {
        let empty = Value::Table(Table::new());
        let value = self.table.get(name).unwrap_or(&empty);
        self.read(Step::Key(name.into()), value)
    }

    /// The section of this name, if there is one.
    pub fn optional<S: Section>(&mut self, name: &'static str) -> Result<Option<S>, KeyError> {
        self.table.get(name).map(|value| self.read(Step::Key(name.into()), value)).transpose()
    }

    /// The section of this name, or all sections if there are several.
    pub fn one_or_more<S: Section>(&mut self, name: &'static str) -> Result<Vec<S>, KeyError> {
        match self.table.get(name) {
            Some(Value::Array(_)) => self.list(name),
            _ => Ok(self.optional(name)?.into_iter().collect()),
        }
    }

    /// All sections of this name.
    pub fn list<S: Section>(&mut self, name: &'static str) -> Result<Vec<S>, KeyError> {
        let Some(value) = self.table.get(name) else { return Ok(Vec::new()) };
        let step = || Step::Key(name.into());
        let Some(items) = value.as_array() else {
            return Err(KeyError::value(format!("write [[{name}]]")).under(step(), value));
        };
        let mut read = |(i, item)| self.read(Step::Section(i, items.len()), item);
        let sections: Result<Vec<S>, KeyError> = items.iter().enumerate().map(&mut read).collect();
        sections.map_err(|error| error.under(step(), value))
    }

    fn read<S: Section>(&mut self, step: Step, value: &Value) -> Result<S, KeyError> {
        let Some(table) = value.as_table() else {
            let give = "give a section of keys, as { key = value }";
            return Err(KeyError::value(give).under(step, value));
        };
        let mut keys = Keys::of(table);
        let section = S::read(&mut keys).map_err(|error| error.under(step, value))?;
        self.notes.append(&mut keys.notes);
        Ok(section)
    }
}
