//! Keys of a section that comes in several kinds.

use crate::case::Misuse;
use anyhow::Result;
use serde::Serialize;

/// Refuses keys that a section's kind does not use: they would be a misunderstanding. Those that
/// all kinds use come last.
pub fn check(section: &str, given: &impl Serialize, [used, always]: [&[&str]; 2]) -> Result<()> {
    let table = toml::Table::try_from(given)?;
    let is_used = |key: &str| key == "kind" || used.contains(&key) || always.contains(&key);
    match table.keys().find(|key| !is_used(key)) {
        Some(key) => Err(Misuse::error(format!(
            "{section}.{key} does not go with {section}.kind = {}, which uses {}",
            table["kind"],
            used.join(", ")
        ))),
        None => Ok(()),
    }
}

/// The value of a key that a section's kind cannot do without.
pub fn need<T>(value: Option<T>, section: &str, key: &str) -> Result<T> {
    value.ok_or_else(|| {
        Misuse::error(format!("{section}.{key} is missing, which this {section}.kind needs"))
    })
}
