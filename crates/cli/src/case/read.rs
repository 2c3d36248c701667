//! Reading a case: the file, what the command line sets in it, and what is wrong with it.

use super::Case;
use serde::Deserialize;
use std::path::Path;

/// A case or a command line that cannot be used; the program ends with code 2.
#[derive(Debug)]
pub struct Misuse(String);

impl Misuse {
    /// A misuse, as an error to return.
    pub fn error(text: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Misuse(text.into()))
    }

    /// An error of the library, which here is the case's fault.
    pub fn of(error: impl std::error::Error) -> anyhow::Error {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        Misuse::error(text)
    }
}

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// Reads a case file and sets keys in it, each given as `trace.dt=0.01`.
pub fn read(path: &Path, set: &[String]) -> anyhow::Result<Case> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Misuse::error(format!(
            "the case file `{}` cannot be read: {error}; `burntrace init > case.toml` makes one",
            path.display()
        ))
    })?;
    from_text(&text, set).map_err(|problem| Misuse::error(format!("{}: {problem}", path.display())))
}

/// Reads a case from its text. The error says what is wrong, for a caller that knows the file.
pub fn from_text(text: &str, set: &[String]) -> Result<Case, String> {
    let mut table: toml::Table = toml::from_str(text).map_err(|error| explain(&error))?;
    if set.is_empty() {
        // The text itself, so that an error names its line.
        return toml::from_str(text).map_err(|error| explain(&error));
    }
    for assignment in set {
        assign(&mut table, assignment)?;
    }
    Case::deserialize(table).map_err(|error| explain(&error))
}

/// Sets one key, given as `trace.dt=0.01`. A value that is not TOML is taken as a string.
fn assign(table: &mut toml::Table, assignment: &str) -> Result<(), String> {
    let (key, value) = assignment
        .split_once('=')
        .ok_or_else(|| format!("`{assignment}` is not of the form key=value, as trace.dt=0.01"))?;
    let value = toml::from_str::<toml::Table>(&format!("value = {value}"))
        .ok()
        .and_then(|mut parsed| parsed.remove("value"))
        .unwrap_or_else(|| toml::Value::String(value.trim().into()));
    let mut names: Vec<&str> = key.trim().split('.').collect();
    let last = names.pop().unwrap_or_default();
    let mut section = table;
    for name in names {
        let entry = section.entry(name).or_insert_with(|| toml::Table::new().into());
        section = entry
            .as_table_mut()
            .ok_or_else(|| format!("`{name}` in `{assignment}` is a value, not a section"))?;
    }
    section.insert(last.into(), value);
    Ok(())
}

/// The error's text, with the name that was probably meant.
fn explain(error: &toml::de::Error) -> String {
    let text = error.to_string();
    let suggestion = suggest(error.message()).map(|name| format!("; did you mean `{name}`?"));
    format!("{}{}", text.trim_end(), suggestion.unwrap_or_default())
}

/// The expected name that is nearest to an unknown one in a message such as
/// ``unknown field `schem`, expected one of `scheme`, `dt` ``.
fn suggest(message: &str) -> Option<&str> {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = message.starts_with("unknown").then(|| quoted.next())??;
    let near = |name: &&str| strsim::jaro_winkler(unknown, name);
    let best = quoted.max_by(|a, b| near(a).total_cmp(&near(b)))?;
    (near(&best) > 0.75).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::TEMPLATE;

    #[test]
    fn the_template_runs_unchanged_and_holds_every_key() {
        let case = from_text(TEMPLATE, &[]).unwrap();
        assert_eq!(case.trace.dt, Some(0.02));
        // Uncommented, every optional key is there and is known.
        let keys = [
            "files",
            "velocity",
            "prefer",
            "diffusivity",
            "ignore_file_times",
            "file_dt",
            "times",
            "frames",
            "flow",
            "sample",
            "interpolation",
            "neighbours",
            "power",
            "cell_velocity",
            "other_cells",
            "in_time",
            "outside_time",
            "period",
            "not_finite",
            "low",
            "high",
            "x",
            "y",
            "z",
            "mesh",
            "name",
            "wall",
            "centre",
            "radius",
            "allowed",
            "surface",
            "face",
            "pattern",
            "deviation",
            "rate",
            "table",
            "burst",
            "capacity",
            "begin",
            "end",
            "inlet",
            "kind",
            "count",
            "seed",
            "release",
            "outside",
            "scheme",
            "t0",
            "t1",
            "dt",
            "steps",
            "path",
            "stagnant_speed",
            "drift",
            "relative",
            "absolute",
            "least",
            "most",
            "factors",
            "every",
            "every_time",
            "vtk",
            "report",
            "length",
            "time",
            "device",
            "precision",
            "threads",
            "out",
            "checkpoint",
            "checkpoint_segments",
            "memory",
            "strategy",
            "batch",
        ];
        for key in keys {
            let is_there = TEMPLATE
                .lines()
                .any(|line| line.trim_start_matches("# ").split(" = ").next() == Some(key));
            assert!(is_there, "the template lacks `{key}`");
        }
    }

    #[test]
    fn the_templates_defaults_are_the_programs_defaults() {
        let case = from_text(TEMPLATE, &[]).unwrap();
        let bare = from_text("[seeds]\nkind = \"uniform\"\ncount = 10000\n", &[]).unwrap();
        assert_eq!(case.field.interpolation, bare.field.interpolation);
        assert_eq!(case.field.in_time, bare.field.in_time);
        assert_eq!(case.field.outside_time, bare.field.outside_time);
        assert_eq!(case.field.not_finite, bare.field.not_finite);
        assert_eq!(case.boundary.mesh, bare.boundary.mesh);
        assert_eq!(case.trace.scheme, bare.trace.scheme);
        assert_eq!(case.trace.path, bare.trace.path);
        assert_eq!(case.trace.stagnant_speed, bare.trace.stagnant_speed);
        assert_eq!(case.trace.drift, bare.trace.drift);
        assert_eq!(case.save.velocity, bare.save.velocity);
        assert_eq!(case.run, bare.run);
    }

    #[test]
    fn keys_are_set_from_the_command_line() {
        let set = ["trace.dt=0.5", "run.device=flex", "save.times=[1.0, 2.0]"].map(String::from);
        let case = from_text(TEMPLATE, &set).unwrap();
        assert_eq!(case.trace.dt, Some(0.5));
        assert_eq!(case.run.device, "flex");
        assert_eq!(case.save.times, Some(vec![1.0, 2.0]));
        assert!(from_text(TEMPLATE, &["trace.dt".into()]).unwrap_err().contains("key=value"));
    }

    #[test]
    fn an_unknown_key_is_named_with_the_one_that_was_meant() {
        let typo = TEMPLATE.replace("scheme =", "schem =");
        let message = from_text(&typo, &[]).unwrap_err();
        assert!(message.contains("`schem`"), "{message}");
        assert!(message.contains("did you mean `scheme`?"), "{message}");
        let typo = TEMPLATE.replace("\"rk4\"\n# Begin", "\"rk5\"\n# Begin");
        let message = from_text(&typo, &[]).unwrap_err();
        assert!(message.contains("did you mean `rk4`?"), "{message}");
        let message = from_text(TEMPLATE, &["trase.dt=1".into()]).unwrap_err();
        assert!(message.contains("did you mean `trace`?"), "{message}");
    }

    #[test]
    fn a_case_survives_being_written_and_read_again() {
        let case = from_text(TEMPLATE, &["save.vtk=[\"clouds\"]".into()]).unwrap();
        let text = toml::to_string(&case).unwrap();
        assert_eq!(from_text(&text, &[]).unwrap(), case);
    }

    #[test]
    fn what_the_template_has_as_comments_can_be_used() {
        let is_key =
            |line: &&str| line.starts_with('[') || line.contains(" = ") && !line.contains(": ");
        let keys = |begin: &str, end: &str| -> String {
            let [begin, end] = [begin, end].map(|place| TEMPLATE.find(place).unwrap());
            let lines = TEMPLATE[begin..end].lines().map(|line| line.trim_start_matches("# "));
            lines.filter(is_key).flat_map(|line| [line, "\n"]).collect()
        };
        let parts = [keys("# [[patch]]", "[seeds]\n#"), keys("# [trace.tolerance]", "[save]")];
        let case = from_text(&parts.concat(), &[]).unwrap();
        assert!(case.inlet.is_some() && case.seeds.is_none());
        assert_eq!(case.patch[0].low, Some([2.0, f64::NEG_INFINITY, f64::NEG_INFINITY]));
        assert_eq!(case.obstacle[0].radius, Some(0.1));
        assert_eq!(case.source[0].capacity, Some(5000));
        assert_eq!(case.trace.tolerance.unwrap().most, Some(0.5));
        assert_eq!(case.walk.unwrap().factors, Some([1.0; 3]));
        let text = toml::to_string(&case).unwrap();
        assert_eq!(from_text(&text, &[]).unwrap(), case);
    }
}
