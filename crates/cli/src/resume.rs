//! `burntrace run --resume`: resumes a stopped run.

use crate::{
    args::RunArgs,
    case::{self, Case, Misuse},
    checkpoint::RunCheckpoint,
    devices,
    folder::Folder,
    log,
    notes::Notes,
    ranks::{self, Rank, SharedStart},
    trace::{self, RunStart},
};
use anyhow::Result;
use burntrace::device;
use std::path::Path;
use toml::{Table, Value};

pub fn execute(args: &RunArgs, root: &Path, rank: Rank) -> Result<()> {
    let folder = Folder::at(root);
    if folder.is_shared() {
        let checkpoint = ranks::checkpoint(root)?;
        let mut case = resumed_case(args, root, &checkpoint)?;
        keep_device(&mut case, checkpoint.machine.kind());
        let accept_changes = args.accept_changes;
        let start = SharedStart { resumes: true, accept_changes, ..SharedStart::new(rank) };
        return trace::trace_shared(&case, Path::new("/"), start, args.output);
    }
    if rank.count > 1 && ranks::has_completed(&folder) {
        let notes = Notes { quiet: args.output.quiet };
        notes.say(
            "ranks",
            format!("the run in {} is complete; {rank} has nothing to do", root.display()),
        );
        return Ok(());
    }
    let checkpoint = RunCheckpoint::read(&folder)?;
    rank.refuse_several("--resume of a run that one process started")?;
    log::to_file(&folder.path("log.txt"))?;
    let mut case = resumed_case(args, root, &checkpoint)?;
    keep_device(&mut case, &checkpoint.machine.device);
    devices::only_name(&case.run.device, "a run that was started on one device")?;
    let checkpoint = Box::new(checkpoint);
    let start = RunStart::Resumed { checkpoint, accept_changes: args.accept_changes };
    trace::trace(&case, Path::new("/"), start, args.output)
}

/// The case of the resumed run. Only keys that do not affect the tracks may differ from the case at
/// the start of the run.
fn resumed_case(args: &RunArgs, root: &Path, checkpoint: &RunCheckpoint) -> Result<Case> {
    let read = |set: &[String]| {
        let case = case::from_text(&checkpoint.case, set);
        case.map_err(|problem| Misuse::error(format!("the case of {}: {problem}", root.display())))
    };
    let before = read(&[])?;
    if args.set.iter().any(|set| sets_key(set, "run.out")) {
        return Err(Misuse::error(format!(
            "--set run.out: a resumed run continues in its folder {}; omit it, or move the folder first and \
             resume it there",
            root.display()
        )));
    }
    let mut case = match &args.case {
        Some(file) => {
            let path = std::path::absolute(file)?;
            case::read(file, &args.set)?.within(path.parent().unwrap_or(Path::new("/")))
        }
        None => read(&args.set)?,
    };
    if let Some(change) = change("", &fixed_keys(&before, &[])?, &fixed_keys(&case, &[])?) {
        return Err(Misuse::error(format!(
            "{change} when the run in {} started; a resumed run may change only run.{}: remove the \
             change, or start a new run in another folder",
            root.display(),
            case::Run::FREE.into_iter().filter(|key| *key != "out").collect::<Vec<_>>().join(", ")
        )));
    }
    args.apply_to(&mut case);
    // The case of the folder has the name that it had at the start, and may have been moved.
    if args.case.is_some() && std::path::absolute(&case.run.out)? != std::path::absolute(root)? {
        case.notes.push(format!(
            "run.out = {:?} of the case has no effect: the run is resumed in its folder {}",
            case.run.out,
            root.display()
        ));
    }
    case.run.out = root.into();
    Ok(case)
}

/// Whether an assignment of `--set` is one of a key.
pub fn sets_key(set: &str, key: &str) -> bool {
    set.split('=').next().is_some_and(|name| name.trim() == key)
}

/// Gives a case that leaves the device open the one of its earlier part, by its name or its kind, if it can be used.
pub fn keep_device(case: &mut Case, same: &str) {
    if case.run.device.is_auto() && device::open(same).is_ok() {
        case.run.device = same.into();
    }
}

/// The part of a case that must not change: without the free keys of `[run]`, and those of other sections.
pub fn fixed_keys(case: &Case, free: &[(&str, &[&str])]) -> Result<Table> {
    let mut table = Table::try_from(case)?;
    for (section, keys) in free.iter().chain(&[("run", &case::Run::FREE[..])]) {
        if let Some(section) = table.get_mut(*section).and_then(Value::as_table_mut) {
            keys.iter().for_each(|key| drop(section.remove(*key)));
        }
    }
    Ok(table)
}

/// Describes the first key in which two tables differ, with both values.
pub fn change(section: &str, before: &Table, now: &Table) -> Option<String> {
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
        let now = table("[trace]\ndt = 0.5\n[save]\n");
        assert_eq!(change("", &before, &now).unwrap(), "save.every is absent and was 2");
        let now = table("[trace]\ndt = 0.5\n[save]\nevery = 2\n[walk]\nseed = 1\n");
        assert!(change("", &before, &now).unwrap().starts_with("walk is "));
    }
}
