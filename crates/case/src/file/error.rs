//! Errors about keys of the case file.

use serde::de::{Expected, Unexpected};
use toml::Value;

/// An unknown, misplaced or missing key, or an invalid value.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyError {
    /// From the case to the section or the value.
    pub path: Vec<Step>,
    /// The given value, abbreviated.
    given: Option<String>,
    problem: Box<Problem>,
}

/// One step of the path to a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A key of a section.
    Key(String),
    /// An item of a list, counted from 0.
    Item(usize),
    /// One of several sections with the same name: its number from 0, and their count.
    Section(usize, usize),
}

impl Step {
    pub fn key(&self) -> Option<&str> {
        match self {
            Step::Key(key) => Some(key),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Problem {
    /// An unknown key of the section, with a hint and the known keys.
    Unknown { key: String, with: String, hint: String, allowed: Vec<&'static str> },
    /// A missing key of the section, with a hint about its value.
    Missing { key: &'static str, with: String, hint: String },
    /// An invalid value, with the valid ones.
    Value(String),
    /// Mutually exclusive keys, or none of several alternatives.
    Keys(String),
}

impl KeyError {
    fn new(problem: Problem) -> Self {
        KeyError { path: Vec::new(), given: None, problem: Box::new(problem) }
    }

    /// An invalid value; `give` describes the valid ones.
    pub fn value(give: impl Into<String>) -> Self {
        KeyError::new(Problem::Value(give.into()))
    }

    /// An invalid combination of keys; the text follows the name of the section.
    pub fn keys(text: impl Into<String>) -> Self {
        KeyError::new(Problem::Keys(text.into()))
    }

    /// A missing key of the section, with a hint about its value.
    pub fn missing(key: &'static str, hint: impl Into<String>) -> Self {
        KeyError::new(Problem::Missing { key, with: String::new(), hint: hint.into() })
    }

    /// An unknown key of a section. `with` names the kind of the section, `belongs_to` the kinds that
    /// have the key.
    pub fn unknown(
        key: &str,
        with: &str,
        belongs_to: Option<String>,
        allowed: &[&'static str],
    ) -> Self {
        let hint = match (belongs_to, nearest(key, allowed.iter().copied())) {
            (Some(kinds), _) => format!("; it belongs to {kinds}."),
            (None, Some(name)) => format!("; did you mean `{name}`?"),
            (None, None) => ".".into(),
        };
        let (key, with, allowed) = (key.to_string(), with.to_string(), allowed.to_vec());
        KeyError::new(Problem::Unknown { key, with, hint, allowed })
    }

    /// An unknown name, with the known ones.
    pub fn choice(given: &str, names: &[&'static str]) -> Self {
        let meant = nearest(given, names.iter().copied());
        let names = choices(names);
        KeyError::value(match meant {
            Some(name) => format!("did you mean `{name}`? Names: {names}"),
            None => format!("give {names}"),
        })
    }

    /// The valid values, of an invalid one.
    pub fn instead(&self) -> &str {
        match &*self.problem {
            Problem::Value(give) => give,
            _ => "",
        }
    }

    /// Whether the key belongs to no kind of the section.
    pub fn is_of_no_kind(&self) -> bool {
        matches!(&*self.problem, Problem::Unknown { hint, .. } if !hint.starts_with("; it belongs to"))
    }

    /// The same error with a path extended by `step` at its start; `value` is the value there.
    pub fn under(mut self, step: Step, value: &Value) -> Self {
        if self.path.is_empty() {
            self.given.get_or_insert_with(|| in_short(value));
        }
        self.path.insert(0, step);
        self
    }

    /// The same error with the kind of the section.
    pub fn with(mut self, kind: &str) -> Self {
        if let (Problem::Missing { with, .. }, true) = (&mut *self.problem, self.path.is_empty()) {
            *with = kind.into();
        }
        self
    }

    /// The names that lead from the case to the line with the error.
    pub fn location(&self) -> Vec<Step> {
        let key = match &*self.problem {
            Problem::Unknown { key, .. } => Some(Step::Key(key.clone())),
            _ => None,
        };
        self.path.iter().cloned().chain(key).collect()
    }

    /// The name of a key below the path, as `source.inlet.face`.
    fn dotted(&self, key: Option<&str>) -> String {
        let mut name = String::new();
        for step in &self.path {
            match step {
                Step::Key(key) if name.is_empty() => name = key.clone(),
                Step::Key(key) => name = format!("{name}.{key}"),
                Step::Item(item) => name = format!("{name}[{item}]"),
                Step::Section(..) => {}
            }
        }
        match key {
            Some(key) if name.is_empty() => key.into(),
            Some(key) => format!("{name}.{key}"),
            None => name,
        }
    }

    /// The name of the section, as `[trace]` or `[[source]] 1 of 2`.
    fn section(&self) -> String {
        let name = self.dotted(None);
        let number = self.path.iter().find_map(|step| match step {
            Step::Section(number, count) => Some((number + 1, count)),
            _ => None,
        });
        match (number, name.split_once('.')) {
            (None, _) if name.is_empty() => "the case".into(),
            (None, _) => format!("[{name}]"),
            (Some((number, count)), None) => format!("[[{name}]] {number} of {count}"),
            (Some((number, count)), Some((outer, _))) => {
                format!("[{name}] of [[{outer}]] {number} of {count}")
            }
        }
    }
}

impl std::fmt::Display for KeyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let section = self.section();
        let of_kind = |with: &str| match with.is_empty() {
            true => section.clone(),
            false => format!("{section} {with}"),
        };
        match &*self.problem {
            Problem::Unknown { key, hint, allowed, .. } if self.path.is_empty() => {
                let all = allowed.join(", ");
                write!(f, "`{key}` is not a section of the case{hint} Sections: {all}")
            }
            Problem::Unknown { key, with, hint, allowed } => {
                let all = allowed.join(", ");
                write!(f, "`{key}` is not a key of {}{hint} Keys: {all}", of_kind(with))
            }
            Problem::Missing { key, with, hint } => {
                let hint = if hint.is_empty() { String::new() } else { format!(": {hint}") };
                let name = self.dotted(Some(key));
                write!(f, "`{name}` is missing; {} needs it{hint}", of_kind(with))
            }
            Problem::Value(give) => {
                let (name, given) = (self.dotted(None), self.given.as_deref().unwrap_or_default());
                write!(f, "`{name}` is {given}; {give}")
            }
            Problem::Keys(text) => write!(f, "{section} {text}"),
        }
    }
}

impl std::error::Error for KeyError {}

impl serde::de::Error for KeyError {
    fn custom<T: std::fmt::Display>(text: T) -> Self {
        KeyError::value(text.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        KeyError::value(format!("give {}", in_words(expected)))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        KeyError::value(format!("give {}", in_words(expected)))
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        KeyError::value(format!("give {}", in_words(expected)))
    }

    fn unknown_variant(given: &str, names: &'static [&'static str]) -> Self {
        KeyError::choice(given, names)
    }

    fn unknown_field(key: &str, allowed: &'static [&'static str]) -> Self {
        KeyError::unknown(key, "", None, allowed)
    }

    fn missing_field(key: &'static str) -> Self {
        let hint = HINTS.iter().find(|(of, _)| *of == key).map_or("", |(_, hint)| *hint);
        KeyError::missing(key, hint)
    }
}

/// Hints about the values of missing keys.
const HINTS: [(&str, &str); 4] = [
    (
        "capacity",
        "give the maximum number of its particles at a time, the rate times the longest residence time and a \
         little more",
    ),
    ("inlet", "give its keys, as inlet = { kind = \"face\", face = \"x-low\" }"),
    ("deviation", "the standard deviation, a length"),
    ("value", "the value of the faces in the array, such as 3"),
];

/// The expected type of a value, in plain words.
fn in_words(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "f64" => "a number".into(),
        "u64" | "usize" => "a whole number, 0 or more".into(),
        "i64" => "a whole number".into(),
        "a boolean" => "true or false".into(),
        "a string" => "text in quotes".into(),
        "path string" => "a file name in quotes".into(),
        "a sequence" => "a list".into(),
        _ if text.starts_with("struct ") => "a section of keys, as { key = value }".into(),
        _ => match text.strip_prefix("an array of length ") {
            Some(length) => format!("a list of {length} values"),
            None => text,
        },
    }
}

/// A value, abbreviated if it is long.
fn in_short(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// `"a", "b" or "c"`.
pub fn choices(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    one_of(&quoted)
}

/// `a, b or c`.
pub fn one_of<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((last, [])) => last.to_string(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Names and keys of other programs, and what they are here.
const ELSEWHERE: [(&str, &str); 43] = [
    ("absorb", "exit"),
    ("absorbing", "exit"),
    ("beach", "stick"),
    ("beached", "stick"),
    ("clamping", "clamp"),
    ("constant", "hold"),
    ("dopri5", "dormand-prince"),
    ("double", "f64"),
    ("float32", "f32"),
    ("float64", "f64"),
    ("idw", "inverse-distance"),
    ("linear", "grid"),
    ("open", "exit"),
    ("random", "uniform"),
    ("rectilinear", "grid"),
    ("reflective", "reflect"),
    ("rk2", "midpoint"),
    ("rk23", "dormand-prince"),
    ("rk45", "dormand-prince"),
    ("single", "f32"),
    ("unstructured", "mesh"),
    ("atol", "absolute"),
    ("batch_size", "batch"),
    ("dtype", "precision"),
    ("end_time", "t1"),
    ("extrapolation", "outside_time"),
    ("filename", "files"),
    ("filenames", "files"),
    ("integrator", "scheme"),
    ("interp_method", "interpolation"),
    ("method", "scheme"),
    ("n", "count"),
    ("n_particles", "count"),
    ("n_steps", "steps"),
    ("n_timesteps", "steps"),
    ("outputdt", "every_time"),
    ("recording_interval", "every"),
    ("rtol", "relative"),
    ("runtime", "t1"),
    ("solver", "scheme"),
    ("start_time", "t0"),
    ("time_step", "dt"),
    ("timestep", "dt"),
];

/// The known name that other programs call so, or the most similar one, if any is similar.
pub fn nearest<'a>(given: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let lower = given.to_lowercase();
    let here = ELSEWHERE.iter().filter(|(elsewhere, _)| *elsewhere == lower).map(|(_, here)| *here);
    let known = here.chain([&*lower]).find_map(|here| names.clone().find(|name| *name == here));
    let near = |name: &&str| strsim::jaro_winkler(given, name);
    let best = || names.clone().max_by(|a, b| near(a).total_cmp(&near(b)));
    known.or_else(|| best().filter(|best| near(best) > 0.75))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_programs_are_known() {
        let all = ["scheme", "steps", "dt", "rk4", "midpoint", "f32", "f64"];
        let nearest = |given| nearest(given, all.into_iter());
        assert_eq!(nearest("integrator"), Some("scheme"));
        assert_eq!(nearest("n_timesteps"), Some("steps"));
        assert_eq!(nearest("RK2"), Some("midpoint"));
        assert_eq!(nearest("RK4"), Some("rk4"));
        assert_eq!(nearest("float64"), Some("f64"));
        assert_eq!(nearest("schem"), Some("scheme"));
        // The word of another program for what is not among the names.
        assert_eq!(nearest("absorbing"), None);
    }
}
