//! `burntrace run --resume`: goes on with a run that was stopped.

use crate::{
    args,
    case::{self, Case, Misuse, Run},
    checkpoint::Kept,
    folder::Folder,
    log,
    run::{self, Begin},
};
use anyhow::Result;
use burntrace::device;
use std::path::Path;
use toml::{Table, Value};

pub fn execute(args: &args::Run, root: &Path) -> Result<()> {
    let folder = Folder::at(root);
    let kept = Kept::read(&folder)?;
    log::to_file(&folder.path("log.txt"))?;
    let case = case_of(args, root, &kept)?;
    let begin = Begin::From { kept: Box::new(kept), accept_changes: args.accept_changes };
    run::trace(&case, Path::new("/"), begin, args.output)
}

/// The case of a run that goes on: that with which it began, but for keys on which its tracks do not
/// depend.
fn case_of(args: &args::Run, root: &Path, kept: &Kept) -> Result<Case> {
    let read = |set: &[String]| {
        let case = case::from_text(&kept.case, set);
        case.map_err(|problem| Misuse::error(format!("the case of {}: {problem}", root.display())))
    };
    let before = read(&[])?;
    let mut case = match &args.case {
        Some(file) => {
            let path = std::path::absolute(file)?;
            case::read(file, &args.set)?.within(path.parent().unwrap_or(Path::new("/")))
        }
        None => read(&args.set)?,
    };
    if let Some(change) = change("", &fixed(&before)?, &fixed(&case)?) {
        return Err(Misuse::error(format!(
            "{change} when the run in {} began; only run.{} may change: leave the key out, or begin \
             anew in another folder",
            root.display(),
            Run::FREE.join(", ")
        )));
    }
    args.put_into(&mut case);
    case.run.out = root.into();
    let same = &kept.machine.device;
    if case.run.device == "auto" && device::open(same).is_ok() {
        case.run.device = same.clone();
    }
    Ok(case)
}

/// What must not change in a case.
fn fixed(case: &Case) -> Result<Table> {
    let mut table = Table::try_from(case)?;
    if let Some(run) = table.get_mut("run").and_then(Value::as_table_mut) {
        Run::FREE.iter().for_each(|key| drop(run.remove(*key)));
    }
    Ok(table)
}

/// The first key in which two tables differ, with both values.
fn change(section: &str, before: &Table, now: &Table) -> Option<String> {
    let keys = before.keys().chain(now.keys().filter(|key| !before.contains_key(*key)));
    keys.into_iter().find_map(|key| {
        let name = format!("{section}{key}");
        match (before.get(key), now.get(key)) {
            (Some(Value::Table(before)), Some(Value::Table(now))) => {
                change(&format!("{name}."), before, now)
            }
            (before, now) if before == now => None,
            (before, now) => {
                let [before, now] = [before, now].map(|value| match value {
                    Some(value) => value.to_string(),
                    None => "left out".into(),
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
    fn the_key_that_has_changed_is_named() {
        let table = |text: &str| text.parse::<Table>().unwrap();
        let before = table("[trace]\ndt = 0.5\n[save]\nevery = 2\n");
        assert_eq!(change("", &before, &before), None);
        let now = table("[trace]\ndt = 0.25\n[save]\nevery = 2\n");
        assert_eq!(change("", &before, &now).unwrap(), "trace.dt is 0.25 and was 0.5");
        let now = table("[trace]\ndt = 0.5\n[save]\n");
        assert_eq!(change("", &before, &now).unwrap(), "save.every is left out and was 2");
        let now = table("[trace]\ndt = 0.5\n[save]\nevery = 2\n[walk]\nseed = 1\n");
        assert!(change("", &before, &now).unwrap().starts_with("walk is "));
    }
}
