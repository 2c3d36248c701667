//! Durations in a case, such as `dt = "10 min"`: they are read as seconds.

use super::error::{KeyError, Step};
use schemars::Schema;
use serde_json::{Value as Json, json};
use toml::{Table, Value};

/// Keys whose values are times.
const TIMES: [&str; 18] = [
    "t0",
    "t1",
    "dt",
    "every_time",
    "times",
    "release",
    "until",
    "begin",
    "end",
    "period",
    "file_dt",
    "min_step",
    "max_step",
    "start",
    "step",
    "stop",
    "time",
    "every",
];

/// Units of durations, and their seconds.
const UNITS: [(&str, f64); 5] =
    [("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86_400.0)];

/// Replaces the durations of a case by seconds; as the end of a run, one counts from its start. Returns whether
/// there is any.
pub fn to_seconds(case: &mut Table) -> Result<bool, KeyError> {
    let trace = case.get("trace").and_then(Value::as_table);
    let is_duration = |value: &Value| value.as_str().is_some_and(|text| seconds(text).is_some());
    let from_start = trace.and_then(|trace| trace.get("t1")).is_some_and(is_duration);
    let has_any = in_table("", case)?;
    if from_start && let Some(Value::Table(trace)) = case.get_mut("trace") {
        let number = |key: &str| {
            let value = trace.get(key)?;
            value.as_float().or(value.as_integer().map(|number| number as f64))
        };
        if let (Some(start), Some(length)) = (number("t0"), number("t1")) {
            trace.insert("t1".into(), (start + length).into());
        }
    }
    Ok(has_any)
}

fn in_table(section: &str, table: &mut Table) -> Result<bool, KeyError> {
    let mut has_any = false;
    for (key, value) in table.iter_mut() {
        let before = value.clone();
        // `save.every` is a number of steps.
        let is_time = TIMES.contains(&key.as_str()) && (section, key.as_str()) != ("save", "every");
        has_any |= in_value(key, value, is_time)
            .map_err(|error| error.under(Step::Key(key.clone()), &before))?;
    }
    Ok(has_any)
}

fn in_value(key: &str, value: &mut Value, is_time: bool) -> Result<bool, KeyError> {
    match value {
        Value::Table(table) => in_table(key, table),
        Value::Array(items) => {
            let mut has_any = false;
            for item in items {
                has_any |= in_value(key, item, is_time)?;
            }
            Ok(has_any)
        }
        Value::String(text)
            if is_time && text.starts_with(|first: char| first.is_ascii_digit()) =>
        {
            let names = UNITS.map(|(name, _)| name).join(", ");
            let number = seconds(text).ok_or_else(|| {
                KeyError::value(format!(
                    "give a number, or a duration such as \"10 min\"; its units are {names}"
                ))
            })?;
            *value = number.into();
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// The seconds of a duration.
fn seconds(text: &str) -> Option<f64> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[number.len()..];
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let seconds = number.trim().parse::<f64>().ok()? * factor;
    seconds.is_finite().then_some(seconds)
}

/// Allows durations where a schema has the numbers of times.
pub fn in_schema(schema: &mut Schema) {
    let Some(keys) = schema.get_mut("properties").and_then(Json::as_object_mut) else { return };
    keys.iter_mut()
        .filter(|(name, _)| TIMES.contains(&name.as_str()))
        .for_each(|(_, key)| allow(key));
}

/// Allows durations in place of a number, or of the numbers of a list.
fn allow(schema: &mut Json) {
    let is_number = |kind: &Json| {
        *kind == "number" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("number")))
    };
    let Some(keys) = schema.as_object_mut() else { return };
    if keys.get("type").is_some_and(is_number) {
        let units = UNITS.map(|(name, _)| name).join("|");
        let pattern = format!(r"^[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)? *({units})$");
        keys.insert("type".into(), json!(["number", "string"]));
        keys.insert("pattern".into(), pattern.into());
    }
    keys.get_mut("items").into_iter().for_each(allow);
    let alternatives = keys.get_mut("anyOf").and_then(Json::as_array_mut);
    alternatives.into_iter().flatten().for_each(allow);
}

#[cfg(test)]
mod tests {
    use crate::file::from_text;
    use burntrace_core::SaveAt;

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
            (Some(3600.0), 21_600.0, 172_800.0)
        );
        assert!(case.has_durations && !from_text(FIELD, &[]).unwrap().has_durations);
        let set = from_text(FIELD, &["trace.dt=250 ms".into()]).unwrap();
        assert_eq!(set.trace.span.dt, Some(0.25));
    }

    #[test]
    fn what_is_no_duration_is_refused_with_its_line() {
        let error = |line: &str| from_text(&format!("{FIELD}{line}\n"), &[]).unwrap_err();
        let expected = "line 4: `trace.dt` is \"10 minutes\"; give a number, or a duration such as \
                        \"10 min\"; its units are ms, s, min, h, d";
        assert_eq!(error("[trace]\ndt = \"10 minutes\""), expected);
        assert!(error("[trace]\ndt = \"fast\"").contains("give a number"));
        assert!(error("[save]\nevery = \"1 d\"").contains("give a whole number"));
        assert!(
            error("[units]\ntime = \"h\"\n[trace]\ndt = \"1 h\"").contains("units.time is \"h\"")
        );
    }
}
