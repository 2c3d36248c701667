//! Times in a case or on a command line that are no numbers: durations, such as `dt = "10 min"`, and dates. They are read as
//! seconds.

use super::error::{KeyError, Step};
use burntrace_io::tracks::Units;
use schemars::Schema;
use serde_json::{Value as Json, json};
use toml::{Table, Value};

/// Keys whose values are lengths of time.
const LENGTHS: [&str; 8] =
    ["dt", "every_time", "period", "file_dt", "min_step", "max_step", "step", "every"];

/// Keys whose values are points in time, or lists of them; in a table, they are the first numbers of its rows.
const POINTS: [&str; 11] =
    ["t0", "t1", "times", "release", "until", "begin", "end", "start", "stop", "time", TABLE];
const TABLE: &str = "table";

/// The key of conditions, which may compare with a duration.
const CONDITIONS: &str = "stop_when";

/// Units of durations, and their seconds.
const UNITS: [(&str, f64); 5] =
    [("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86_400.0)];

/// The form of a date, with an optional time and zone.
const DATE: &str = "[0-9]{4,}-[0-9]{1,2}-[0-9]{1,2}([Tt ][0-9]{1,2}(:[0-9]{2}){0,2}(\\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)?";

/// Reads the time of a date, or says what to write instead.
pub type DateReader<'a> = &'a dyn Fn(&str) -> Result<f64, String>;

/// Replaces durations and dates by seconds.
pub struct Times<'a> {
    date: DateReader<'a>,
    pub has_durations: bool,
    pub has_dates: bool,
    /// Whether `trace.t1` is a time from the start of the run, which the case does not have.
    pub ends_after_start: bool,
}

impl<'a> Times<'a> {
    /// Replaces the durations and dates of a case; a duration as the end of a run counts from its start.
    pub fn replace(case: &mut Table, date: DateReader<'a>) -> Result<Self, KeyError> {
        let trace = case.get("trace").and_then(Value::as_table);
        let is_duration =
            |value: &Value| value.as_str().is_some_and(|text| seconds(text).is_some());
        let from_start = trace.and_then(|trace| trace.get("t1")).is_some_and(is_duration);
        let mut times =
            Times { date, has_durations: false, has_dates: false, ends_after_start: false };
        times.in_table("", case)?;
        if from_start && let Some(Value::Table(trace)) = case.get_mut("trace") {
            let number = |key: &str| {
                let value = trace.get(key)?;
                value.as_float().or(value.as_integer().map(|number| number as f64))
            };
            match (number("t0"), number("t1")) {
                (Some(start), Some(length)) => {
                    trace.insert("t1".into(), (start + length).into());
                }
                _ => times.ends_after_start = !trace.contains_key("t0"),
            }
        }
        Ok(times)
    }

    fn in_table(&mut self, section: &str, table: &mut Table) -> Result<(), KeyError> {
        for (key, value) in table.iter_mut() {
            let before = value.clone();
            // `save.every` is a number of steps.
            let is_steps = (section, key.as_str()) == ("save", "every");
            let found = if is_steps { Ok(()) } else { self.in_value(key, value) };
            found.map_err(|error| error.under(Step::Key(key.clone()), &before))?;
        }
        Ok(())
    }

    fn in_value(&mut self, key: &str, value: &mut Value) -> Result<(), KeyError> {
        let is_point = POINTS.contains(&key);
        if let (CONDITIONS, Value::String(text)) = (key, &mut *value) {
            return self.in_condition(text);
        }
        let text = match value {
            Value::Table(table) => return self.in_table(key, table),
            Value::Array(items) => {
                let mut times = items.iter_mut().filter_map(|item| match key == TABLE {
                    true => item.as_array_mut()?.first_mut(),
                    false => Some(item),
                });
                return times.try_for_each(|item| self.in_value(key, item));
            }
            Value::String(text)
                if text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) =>
            {
                text.clone()
            }
            Value::Datetime(date) if is_point => date.to_string(),
            _ => return Ok(()),
        };
        if is_point && is_date(&text) {
            *value = (self.date)(&text).map_err(KeyError::value)?.into();
            self.has_dates = true;
        } else if is_point || LENGTHS.contains(&key) {
            *value = seconds(&text).ok_or_else(|| KeyError::value(expected(is_point)))?.into();
            self.has_durations = true;
        }
        Ok(())
    }
}

impl Times<'_> {
    /// Replaces a duration that a condition compares with.
    fn in_condition(&mut self, text: &mut String) -> Result<(), KeyError> {
        let Some(at) = text.find(['<', '>']) else { return Ok(()) };
        let (tally, rest) = text.split_at(at);
        if let Some(seconds) = seconds(rest[1..].trim_start_matches('=').trim()) {
            *text = format!("{tally}{} {seconds}", &rest[..1]);
            self.has_durations = true;
        }
        Ok(())
    }
}

/// A point in time on a command line: a number, a duration such as `30 d`, or a date such as `2024-02-01T12:00`.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenTime {
    /// A number.
    Number(f64),
    /// The seconds of a duration.
    Duration(f64),
    /// A date.
    Date(String),
}

impl std::str::FromStr for GivenTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match (text.parse(), seconds(text)) {
            (Ok(number), _) => Ok(GivenTime::Number(number)),
            (_, Some(seconds)) => Ok(GivenTime::Duration(seconds)),
            _ if is_date(text) => Ok(GivenTime::Date(text.into())),
            _ => Err(expected(true)),
        }
    }
}

impl GivenTime {
    /// The number that it is among times in these units.
    ///
    /// # Errors
    ///
    /// If it is a date and times have none, or a duration and times are not in seconds.
    pub fn among(&self, times: &Units) -> Result<f64, String> {
        match (self, times.origin_of_seconds()) {
            (GivenTime::Number(time), _) => Ok(*time),
            (GivenTime::Duration(seconds), _) if is_seconds(&times.time) => Ok(*seconds),
            (GivenTime::Duration(_), _) => Err(format!(
                "a duration is in seconds, and times are in {:?}; give a number",
                times.time
            )),
            (GivenTime::Date(date), Some(origin)) => {
                origin.time_of(date).map_err(|reason| format!("{date}: {reason}"))
            }
            (GivenTime::Date(date), None) => {
                Err(format!("{date} is a date, and these times have no dates; give a number"))
            }
        }
    }
}

/// Parses a length of time on a command line: a number, or a duration such as `10 min`.
pub fn length(text: &str) -> Result<f64, String> {
    text.trim().parse().ok().or_else(|| seconds(text.trim())).ok_or_else(|| expected(false))
}

/// Whether times in a unit may be in seconds: an unknown unit, or its names.
pub fn is_seconds(unit: &str) -> bool {
    ["", "s", "sec", "second", "seconds"].contains(&unit)
}

/// What to give instead of a text that is no time.
fn expected(is_point: bool) -> String {
    let names = UNITS.map(|(name, _)| name).join(", ");
    let date = if is_point { ", or a date such as \"2024-02-01T12:00\"" } else { "" };
    format!("give a number, or a duration such as \"10 min\"{date}; units of durations are {names}")
}

/// The seconds of a duration.
fn seconds(text: &str) -> Option<f64> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[number.len()..];
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let seconds = number.trim().parse::<f64>().ok()? * factor;
    seconds.is_finite().then_some(seconds)
}

/// Whether a text starts as a date does, with the year, the month and the day.
fn is_date(text: &str) -> bool {
    let date = text.split(['T', 't', ' ']).next().unwrap_or_default();
    let mut parts = date.split('-').map(str::len);
    parts.next().is_some_and(|year| year >= 4)
        && parts.clone().count() == 2
        && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        && parts.all(|digits| [1, 2].contains(&digits))
}

/// Allows durations and dates where a schema has the numbers of times.
pub fn in_schema(schema: &mut Schema) {
    let Some(keys) = schema.get_mut("properties").and_then(Json::as_object_mut) else { return };
    for (name, key) in keys {
        if name == TABLE
            && let Some(row) = key.get_mut("items").and_then(Json::as_object_mut)
            && let Some(number) = row.remove("items")
        {
            let mut time = number.clone();
            allow(&mut time, true);
            row.insert("prefixItems".into(), json!([time, number]));
        } else if POINTS.contains(&name.as_str()) || LENGTHS.contains(&name.as_str()) {
            allow(key, POINTS.contains(&name.as_str()));
        }
    }
}

/// Allows durations, and dates for points in time, in place of a number, or of the numbers of a list.
fn allow(schema: &mut Json, is_point: bool) {
    let is_number = |kind: &Json| {
        *kind == "number" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("number")))
    };
    let Some(keys) = schema.as_object_mut() else { return };
    if keys.get("type").is_some_and(is_number) {
        let units = UNITS.map(|(name, _)| name).join("|");
        let duration = format!(r"-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)? *({units})");
        let pattern = match is_point {
            true => format!("^({duration}|{DATE})$"),
            false => format!("^{duration}$"),
        };
        keys.insert("type".into(), json!(["number", "string"]));
        keys.insert("pattern".into(), pattern.into());
    }
    keys.get_mut("items").into_iter().for_each(|items| allow(items, is_point));
    let alternatives = keys.get_mut("anyOf").and_then(Json::as_array_mut);
    alternatives.into_iter().flatten().for_each(|schema| allow(schema, is_point));
}

#[cfg(test)]
mod tests {
    use super::{GivenTime, length};
    use crate::file::{SourceRate, from_text};
    use burntrace_core::SaveAt;
    use burntrace_io::tracks::{TimeOrigin, Units};

    const FIELD: &str = "[field]\nflow = \"abc\"\n";

    #[test]
    fn durations_are_seconds_and_the_end_counts_from_the_start() {
        let text = format!(
            "{FIELD}[seeds]\nkind = \"list\"\npoints = [[0, 0, 0]]\nrelease = \"1 h\"\n\
             repeat = {{ every = \"6 h\", until = \"2 d\" }}\n\
             [trace]\nt0 = 100\nt1 = \"1.5 d\"\ndt = \"10 min\"\n[save]\ntimes = [\"90s\", 7.0]\n"
        );
        let case = from_text(&text, &[]).unwrap();
        let span = case.trace.span;
        assert_eq!((span.t0, span.t1, span.dt), (Some(100.0), Some(129_700.0), Some(600.0)));
        assert_eq!(case.save.at, SaveAt::Times(vec![90.0, 7.0]));
        let seeds = &case.seeds[0];
        let repeat = seeds.repeat.unwrap();
        assert_eq!(
            (seeds.release, repeat.every, repeat.until),
            (Some(3600.0), 21_600.0, Some(172_800.0))
        );
        assert!(case.has_durations && !from_text(FIELD, &[]).unwrap().has_durations);
        let set = from_text(FIELD, &["trace.dt=250 ms".into()]).unwrap();
        assert_eq!(set.trace.span.dt, Some(0.25));
    }

    #[test]
    fn an_end_counts_from_the_first_time_of_the_field_without_a_start() {
        let end = |field: &str, set: &[&str]| {
            let set: Vec<String> = set.iter().map(|key| key.to_string()).collect();
            let case = from_text(&format!("[field]\n{field}\n[trace]\nt1 = \"2 s\"\n"), &set);
            case.unwrap().trace.span.t1
        };
        let sample = "sample = { nodes = [3, 3, 1], start = 5.0, stop = 9.0, frames = 2 }";
        let sampled = format!("flow = \"double-gyre\"\n{sample}");
        assert_eq!(end(&sampled, &[]), Some(7.0));
        assert_eq!(end(&sampled, &["trace.dt=-0.5"]), Some(11.0));
        assert_eq!(end(&sampled, &["trace.t0=6"]), Some(8.0));
        assert_eq!(end(&sampled, &["trace.t1=2"]), Some(2.0));
        assert_eq!(end("flow = \"abc\"", &[]), Some(2.0));
        let files =
            "files = \"../../tests/data/series/u_*.vti\"\nfile_dt = 0.5\nignore_file_times = true";
        assert_eq!(end(files, &["field.frames={ start = 1 }"]), Some(2.0 + 4.5));
    }

    #[test]
    fn command_lines_have_numbers_durations_and_dates() {
        let origin = TimeOrigin { date: "2024-01-01T00:00:00".into(), calendar: "standard".into() };
        let units = |unit: &str, origin: Option<&TimeOrigin>| Units {
            time: unit.into(),
            origin: origin.cloned(),
            ..Units::default()
        };
        let given = |text: &str| text.parse::<GivenTime>();
        let time = |text, unit, origin| given(text)?.among(&units(unit, origin));
        for (text, seconds) in [
            ("3600", 3600.0),
            (" -2.5e3", -2500.0),
            ("30 d", 2_592_000.0),
            ("-1.5h", -5400.0),
            ("2024-01-02T12:00", 129_600.0),
        ] {
            assert_eq!(time(text, "s", Some(&origin)), Ok(seconds), "{text}");
        }
        let error = |text, unit, origin| time(text, unit, origin).unwrap_err();
        assert!(error("2024-01-02", "", None).contains("these times have no dates; give a number"));
        assert!(error("2024-02-30", "", Some(&origin)).contains("2024-02-30: the calendar"));
        assert!(error("1 d", "hours", None).contains("times are in \"hours\"; give a number"));
        assert_eq!(time("1 d", "", None), Ok(86_400.0));
        for text in ["", "noon", "1 week", "2024-01"] {
            assert!(given(text).unwrap_err().contains("or a date such as"), "{text}");
        }
        assert_eq!((length("90"), length("1.5 min")), (Ok(90.0), Ok(90.0)));
        assert!(!length("2024-01-02").unwrap_err().contains("date"));
    }

    #[test]
    fn dates_are_those_of_the_files_of_the_field() {
        let field = "[field]\nfiles = \"../../tests/data/cf/nc4.nc\"\n";
        let times = "[trace]\nt0 = 2000-01-01T06:00:00.5\nt1 = \"2 h\"\n[save]\ntimes = [3, \"2000-01-01 07:00Z\"]\n";
        let source = "[source]\ntable = [[\"2000-01-02\", 1.0], [\"2 d\", 0.0]]\ncapacity = 1\n\
                      inlet = { kind = \"face\", face = \"x-low\" }\n";
        let case = from_text(&format!("{field}{times}{source}"), &[]).unwrap();
        assert_eq!((case.trace.span.t0, case.trace.span.t1), (Some(0.5), Some(7200.5)));
        assert_eq!(case.save.at, SaveAt::Times(vec![3.0, 3600.0]));
        let table = vec![[64_800.0, 1.0], [172_800.0, 0.0]];
        assert_eq!(case.source[0].rate, SourceRate::Table { table, capacity: 1 });
        let again = from_text(&toml::to_string(&case).unwrap(), &[]).unwrap();
        assert_eq!((again.trace, again.source), (case.trace, case.source));
        let error = |set: &str| from_text(field, &[set.into()]).unwrap_err();
        assert!(error("trace.t0=2000-02-30").contains("the calendar standard has no such date"));
        assert!(error("trace.t0=12:00:00").contains("or a date such as"));
        assert!(error("trace.dt=2000-01-01").contains("give a number"));
        assert!(
            from_text(FIELD, &["trace.t0=2000-01-01".into()]).unwrap_err().contains("no dates")
        );
        let texts =
            ["2000-1-2", "2000-01", "200-01-01", "2000-01-012", "1e-3-4-5", "2000-01-01T06"];
        assert_eq!(texts.map(super::is_date), [true, false, false, false, false, true]);
    }

    #[test]
    fn what_is_no_duration_is_refused_with_its_line() {
        let error = |line: &str| from_text(&format!("{FIELD}{line}\n"), &[]).unwrap_err();
        let expected = "line 4: `trace.dt` is \"10 minutes\"; give a number, or a duration such as \
                        \"10 min\"; units of durations are ms, s, min, h, d";
        assert_eq!(error("[trace]\ndt = \"10 minutes\""), expected);
        assert!(error("[trace]\ndt = \"fast\"").contains("give a number"));
        assert!(error("[save]\nevery = \"1 d\"").contains("give a whole number"));
        assert!(
            error("[units]\ntime = \"h\"\n[trace]\ndt = \"1 h\"").contains("units.time is \"h\"")
        );
    }
}
