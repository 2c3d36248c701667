//! How two cases differ.

use crate::file::{self, Case};
use anyhow::Result;
use toml::{Table, Value};

/// Describes the first key in which two cases differ, with both values: not the free keys of `[run]`, nor those of other
/// sections that are `free`.
pub fn first(before: &Case, now: &Case, free: &[(&str, &[&str])]) -> Result<Option<String>> {
    Ok(change("", &fixed_keys(before, free)?, &fixed_keys(now, free)?))
}

/// A case without its free keys.
fn fixed_keys(case: &Case, free: &[(&str, &[&str])]) -> Result<Table> {
    let mut table = Table::try_from(case)?;
    for (section, keys) in free.iter().chain(&[("run", &file::Run::FREE[..])]) {
        if let Some(section) = table.get_mut(*section).and_then(Value::as_table_mut) {
            keys.iter().for_each(|key| drop(section.remove(*key)));
        }
    }
    Ok(table)
}

/// Describes the first key in which two tables differ, with both values.
fn change(section: &str, before: &Table, now: &Table) -> Option<String> {
    let keys = before.keys().chain(now.keys().filter(|key| !before.contains_key(*key)));
    keys.into_iter().find_map(|key| {
        let name = format!("{section}{key}");
        match (before.get(key), now.get(key)) {
            (Some(Value::Table(before)), Some(Value::Table(now))) => {
                change(&format!("{name}."), before, now)
            }
            (before, now) if before == now => None,
            (Some(Value::Array(before)), Some(Value::Array(now)))
                if before.len() == now.len() && before.iter().chain(now).all(Value::is_table) =>
            {
                let mut pairs = before.iter().zip(now).enumerate();
                pairs.find_map(|(i, (before, now))| {
                    change(&format!("{name}[{i}]."), before.as_table()?, now.as_table()?)
                })
            }
            (before, now) => {
                let [before, now] = [before, now].map(|value| match value {
                    Some(value) => value.to_string(),
                    None => "absent".into(),
                });
                Some(format!("{name} is {now} and was {before}"))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_key_is_named_with_both_values() {
        let table = |text: &str| text.parse::<Table>().unwrap();
        let before = table("[trace]\ndt = 0.5\n[save]\nevery = 2\n");
        assert_eq!(change("", &before, &before), None);
        let now = table("[trace]\ndt = 0.25\n[save]\nevery = 2\n");
        assert_eq!(change("", &before, &now).unwrap(), "trace.dt is 0.25 and was 0.5");
        let [first, second] = ["0.02", "0.03"]
            .map(|factor| table(&format!("[[field]]\n[[field]]\nfactor = {factor}\n")));
        assert_eq!(change("", &first, &second).unwrap(), "field[1].factor is 0.03 and was 0.02");
        let now = table("[trace]\ndt = 0.5\n[save]\n");
        assert_eq!(change("", &before, &now).unwrap(), "save.every is absent and was 2");
        let now = table("[trace]\ndt = 0.5\n[save]\nevery = 2\n[walk]\nseed = 1\n");
        assert!(change("", &before, &now).unwrap().starts_with("walk is "));
    }
}
