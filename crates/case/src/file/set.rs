//! Keys that `--set` sets or removes: `trace.dt=0.01`, `source[0].rate=5`, `patch.inlet.wall=`.

use super::{
    Case,
    error::{Step, choices},
};
use toml::{Table, Value};

/// A key with a value, or without one to remove the key.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// As given.
    text: String,
    path: Vec<Step>,
    /// `None` removes the key.
    value: Option<Value>,
}

impl Assignment {
    /// Parses `key=value`. A value that is not TOML is taken as text; without a value, the key is
    /// removed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "--set {text} is not of the form key=value, such as trace.dt=0.01, source[0].rate=5 or \
                 patch.inlet.wall=slide"
            )
        };
        let (key, value) = text.split_once('=').ok_or_else(wrong)?;
        let path = path_of(key).ok_or_else(wrong)?;
        let value = value.trim();
        let value = (!value.is_empty()).then(|| value_of(value)).transpose();
        let value = value.map_err(|problem| format!("--set {}: {problem}", text.escape_debug()))?;
        Ok(Assignment { text: text.into(), path, value })
    }

    /// Sets or removes the key. Returns a note for a removed key that is not there.
    pub fn apply(&mut self, case: &mut Table) -> Result<Option<String>, String> {
        let mut root = Value::Table(std::mem::take(case));
        let found = resolved(&root, &self.path).and_then(|path| {
            self.path = path;
            match self.value.clone() {
                Some(value) => set(&mut root, &self.path, value).map(|()| true),
                None => remove(&mut root, &self.path),
            }
        });
        if let Value::Table(table) = root {
            *case = table;
        }
        let is_there = found.map_err(|problem| format!("--set {}: {problem}", self.text))?;
        if !is_there {
            self.refuse_unknown(case)?;
        }
        let nothing = || format!("`--set {}` has no effect: the case lacks this key", self.text);
        Ok((!is_there).then(nothing))
    }

    /// Refuses a key that no case has. Another error of the case is reported when it is read.
    fn refuse_unknown(&self, case: &Table) -> Result<(), String> {
        let mut with_key = Value::Table(case.clone());
        if set(&mut with_key, &self.path, true.into()).is_err() {
            return Ok(());
        }
        match with_key.as_table().map(Case::of) {
            Some(Err(error)) if error.is_of_no_kind() && self.is_at(&error.location()) => {
                Err(format!("--set {}: {error}", self.text))
            }
            _ => Ok(()),
        }
    }

    /// Whether it sets the value at this location of the case, or a section around it or in it.
    pub fn is_at(&self, location: &[Step]) -> bool {
        let is_same = |(own, other): (&Step, &Step)| match (own, other) {
            (Step::Key(own), Step::Key(other)) => own == other,
            (Step::Item(own), Step::Item(other) | Step::Section(other, _)) => own == other,
            _ => false,
        };
        !location.is_empty() && self.path.iter().zip(location).all(is_same)
    }

    /// As given on the command line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The dotted name of the key, as `source[0].rate`.
    pub fn key(&self) -> String {
        dotted(&self.path)
    }

    /// The name of the key without its sections; `None` for an item of a list.
    pub fn last_key(&self) -> Option<&str> {
        self.path.last()?.key()
    }
}

/// The value in a text: in TOML, or else the text itself.
fn value_of(text: &str) -> Result<Value, String> {
    if let Ok(mut table) = toml::from_str::<Table>(&format!("value = {text}"))
        && let Some(value) = table.remove("value")
    {
        return match table.keys().next() {
            None => Ok(value),
            Some(key) => Err(format!(
                "a line for `{key}` follows the value; give each key a --set of its own"
            )),
        };
    }
    if text.chars().any(char::is_control) {
        return Err("the value has line breaks or other control characters; leave them out".into());
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match is_number && text.parse::<i64>().is_err() {
        true => Err(format!("give a whole number up to {}", i64::MAX)),
        false => Ok(Value::String(text.into())),
    }
}

/// Parses keys separated by dots, each followed by any number of indices: `source[0].rate`,
/// `patch."left wall".wall`.
fn path_of(text: &str) -> Option<Vec<Step>> {
    let (mut path, mut rest) = (Vec::new(), text.trim());
    loop {
        let (key, after) = key_of(rest)?;
        path.push(Step::Key(key));
        rest = after.trim_start();
        while let Some(index) = rest.strip_prefix('[') {
            let (index, after) = index.split_once(']')?;
            path.push(Step::Item(index.trim().parse().ok()?));
            rest = after.trim_start();
        }
        if rest.is_empty() {
            return Some(path);
        }
        rest = rest.strip_prefix('.')?.trim_start();
    }
}

/// The key at the start of a text, in quotes or bare, and the text after it.
fn key_of(text: &str) -> Option<(String, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let (key, after) = quoted.split_once('"')?;
        return Some((key.into(), after));
    }
    let (key, after) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
    let key = key.trim();
    (!key.is_empty()).then(|| (key.into(), after))
}

fn dotted(path: &[Step]) -> String {
    path.iter().fold(String::new(), |name, step| match step {
        Step::Key(key) if name.is_empty() => key.clone(),
        Step::Key(key) => format!("{name}.{key}"),
        Step::Item(index) | Step::Section(index, _) => format!("{name}[{index}]"),
    })
}

/// A path to a value of a case, with sections by their numbers: names of sections become numbers, and the
/// only section of its name can be given with and without a number.
fn resolved(root: &Value, path: &[Step]) -> Result<Vec<Step>, String> {
    let (mut at, mut steps) = (Some(root), Vec::with_capacity(path.len()));
    for step in path {
        for step in numbered(at, step, &dotted(&steps))? {
            at = at.and_then(|at| match &step {
                Step::Key(key) => at.get(key),
                Step::Item(index) | Step::Section(index, _) => at.get(*index),
            });
            steps.push(step);
        }
    }
    Ok(steps)
}

/// A step from a value, with the number of a section instead of its name.
fn numbered(at: Option<&Value>, step: &Step, before: &str) -> Result<Vec<Step>, String> {
    let name = match (at, step) {
        (Some(Value::Table(table)), Step::Item(0)) if !table.is_empty() => return Ok(Vec::new()),
        (Some(at), Step::Key(name)) if sections_of(at).is_some() => name,
        _ => return Ok(vec![step.clone()]),
    };
    let sections = at.and_then(sections_of).unwrap_or_default();
    let names: Vec<Option<&str>> =
        sections.iter().map(|section| section.get("name")?.as_str()).collect();
    match names.iter().position(|own| *own == Some(name)) {
        Some(index) => Ok(vec![Step::Item(index)]),
        None if sections.len() == 1 => Ok(vec![Step::Item(0), step.clone()]),
        None => Err(no_section(before, name, &names)),
    }
}

/// The error for a name that none of several sections has.
fn no_section(before: &str, name: &str, names: &[Option<&str>]) -> String {
    let known: Vec<&str> = names.iter().copied().flatten().collect();
    let (count, last) = (names.len(), names.len() - 1);
    match known.is_empty() {
        true => format!(
            "there are {count} sections [[{before}]]; give the number of one, from {before}[0] to \
             {before}[{last}], as {before}[0].{name}"
        ),
        false => format!(
            "no section [[{before}]] has the name {name:?}; give {}, or a number, as {before}[0]",
            choices(&known)
        ),
    }
}

/// Sets the value at a path, and adds the sections on the way to it.
fn set(root: &mut Value, path: &[Step], value: Value) -> Result<(), String> {
    let mut at = root;
    for (i, step) in path.iter().enumerate() {
        at = match (step, at) {
            (Step::Key(key), Value::Table(table)) => {
                table.entry(key.clone()).or_insert_with(|| Table::new().into())
            }
            (step, at) => item(at, step, &dotted(&path[..i]))?,
        };
    }
    *at = value;
    Ok(())
}

/// Removes the value at a path. Returns whether it was there.
fn remove(root: &mut Value, path: &[Step]) -> Result<bool, String> {
    let Some((last, sections)) = path.split_last() else { return Ok(false) };
    let mut at = root;
    for (i, step) in sections.iter().enumerate() {
        at = match (step, at) {
            (Step::Key(key), Value::Table(table)) => match table.get_mut(key) {
                Some(next) => next,
                None => return Ok(false),
            },
            (step, at) => item(at, step, &dotted(&path[..i]))?,
        };
    }
    match (last, at) {
        (Step::Key(key), Value::Table(table)) => Ok(table.remove(key).is_some()),
        (Step::Item(index), Value::Array(items)) if *index < items.len() => {
            items.remove(*index);
            Ok(true)
        }
        (step, at) => item(at, step, &dotted(sections)).map(|_| false),
    }
}

/// The sections of a list of sections.
fn sections_of(value: &Value) -> Option<&[Value]> {
    let items = value.as_array()?;
    items.iter().any(Value::is_table).then_some(items)
}

/// An item of a list.
fn item<'a>(at: &'a mut Value, step: &Step, name: &str) -> Result<&'a mut Value, String> {
    let count = at.as_array().map(Vec::len);
    let what = if sections_of(at).is_some() { "section" } else { "value" };
    match (step, at) {
        (Step::Item(index), Value::Array(items)) => {
            items.get_mut(*index).ok_or_else(|| match count.unwrap_or_default() {
                0 => format!("`{name}` is an empty list"),
                1 => format!("`{name}` has one {what}; write {name}[0]"),
                count => {
                    format!("`{name}` has {count} {what}s; give {name}[0] to {name}[{}]", count - 1)
                }
            })
        }
        (Step::Item(_), Value::Table(table)) if table.is_empty() => {
            Err(format!("the case has no [[{name}]]; add it to the file"))
        }
        (Step::Item(_), Value::Table(_)) => {
            Err(format!("`{name}` is one section; give its key without a number, as {name}.key"))
        }
        (Step::Item(_), _) => Err(format!("`{name}` is a value, not a list; omit the number")),
        _ => Err(format!("`{name}` is a value; give a section and a key")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The case after an assignment, or the error.
    fn after(case: &str, assignment: &str) -> Result<Table, String> {
        let mut table: Table = case.parse().unwrap();
        Assignment::parse(assignment)?.apply(&mut table).map(|_| table)
    }

    const CASE: &str = "save.times = [1, 2]\n[boundary]\nx = [\"exit\", \"exit\"]\n\
        [[source]]\nrate = 1\n[[source]]\nrate = 2\n[source.inlet]\nkind = \"face\"\n\
        [[patch]]\nname = \"inlet\"\nwall = \"slide\"\n[[patch]]\nname = \"left.wall\"\n";

    const VALID: &str = "field = { flow = \"abc\" }\nseeds = { kind = \"uniform\", count = 1 }\n\
        [[source]]\nrate = 1.0\ncapacity = 1\ninlet = { kind = \"face\", face = \"x-low\" }\n";

    #[test]
    fn values_have_one_line_and_fit() {
        for (assignment, part) in [
            ("trace.dt=0.1\nt1=9.0", "--set trace.dt=0.1\\nt1=9.0: a line for `t1` follows"),
            ("run.out=a\nb", "control characters"),
            ("run.out=a\u{7}b", "control characters"),
            ("seeds.seed=9223372036854775808", "up to 9223372036854775807"),
        ] {
            let message = after(VALID, assignment).unwrap_err();
            assert!(message.contains(part), "{assignment}: {message}");
        }
        let list = after(VALID, "save.times=[1,\n2]").unwrap();
        assert_eq!(list["save"]["times"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn sections_are_reached_by_number_and_name() {
        for (assignment, from, to) in [
            ("source[0].rate=5", "rate = 1", "rate = 5"),
            ("source[1].inlet.kind=disc", "\"face\"", "\"disc\""),
            ("patch.inlet.wall=stick", "\"slide\"", "\"stick\""),
            ("patch[0].wall=\"stick\"", "\"slide\"", "\"stick\""),
            ("patch.\"left.wall\".wall=exit", "left.wall\"\n", "left.wall\"\nwall = \"exit\"\n"),
            ("boundary.x[1]=reflect", ", \"exit\"]", ", \"reflect\"]"),
            ("save.times[0]=0.5", "[1, 2]", "[0.5, 2]"),
            ("save.every = 3", "save.times", "save.every = 3\nsave.times"),
        ] {
            let expected: Table = CASE.replacen(from, to, 1).parse().unwrap();
            assert_eq!(after(CASE, assignment).unwrap(), expected, "{assignment}");
        }
    }

    #[test]
    fn a_key_without_value_is_removed() {
        for (assignment, without) in [
            ("source[0].rate=", "rate = 1\n"),
            ("patch.inlet.wall= ", "wall = \"slide\"\n"),
            ("source[0]=", "[[source]]\nrate = 1\n"),
            ("save.times=", "save.times = [1, 2]\n"),
        ] {
            let mut expected: Table = CASE.replacen(without, "", 1).parse().unwrap();
            if assignment.starts_with("save") {
                expected.insert("save".into(), Table::new().into());
            }
            assert_eq!(after(CASE, assignment).unwrap(), expected, "{assignment}");
        }
        for (assignment, part) in [
            ("trace.tolerence=", "`tolerence` is not a key of [trace]; did you mean `tolerance`?"),
            ("foo.bar=", "`foo` is not a section of the case"),
            ("source[0].inlet.kin=", "`kin` is not a key of [source.inlet]"),
        ] {
            let message = after(VALID, assignment).unwrap_err();
            assert!(message.contains(part), "{assignment}: {message}");
        }
        assert!(after(VALID, "walk.seed=").is_ok() && after(VALID, "seeds.radius=").is_ok());
        let mut table: Table = CASE.parse().unwrap();
        let note = Assignment::parse("trace.t1=").unwrap().apply(&mut table).unwrap().unwrap();
        assert!(note.contains("`--set trace.t1=` has no effect"), "{note}");
        assert_eq!(table, CASE.parse().unwrap());
    }

    #[test]
    fn the_only_section_needs_no_number() {
        let one = "[[seeds]]\ncount = 1\n";
        let single = "[seeds]\ncount = 1\n";
        for (case, assignment) in
            [(one, "seeds.count=2"), (one, "seeds[0].count=2"), (single, "seeds[0].count=2")]
        {
            let expected: Table = case.replace('1', "2").parse().unwrap();
            assert_eq!(after(case, assignment).unwrap(), expected, "{assignment}");
        }
        assert!(after(single, "seeds[1].count=2").unwrap_err().contains("one section"));
    }

    #[test]
    fn errors_say_which_sections_there_are() {
        for (assignment, part) in [
            (
                "source.rate=1",
                "there are 2 sections [[source]]; give the number of one, from source[0] to",
            ),
            ("source[2].rate=1", "`source` has 2 sections; give source[0] to source[1]"),
            (
                "patch.inlt.wall=exit",
                "has the name \"inlt\"; give \"inlet\" or \"left.wall\", or a number",
            ),
            ("boundary[1].x=1", "`boundary` is one section; give its key without a number"),
            ("obstacle[0].radius=1", "the case has no [[obstacle]]"),
            ("source[0].rate.x=1", "`source[0].rate` is a value; give a section and a key"),
            ("source[0].rate[1]=1", "`source[0].rate` is a value, not a list"),
            ("trace.dt", "key=value"),
            ("trace..dt=1", "key=value"),
            ("source[x].rate=1", "key=value"),
            ("=1", "key=value"),
        ] {
            let message = after(CASE, assignment).unwrap_err();
            assert!(message.contains(part), "{assignment}: {message}");
        }
    }
}
