//! The settings and the cost of a run in words, from its summary.

use crate::format::{bytes, count, duration, with_prefix};
use serde_json::Value;

/// The settings and the cost of a run: names and values for people.
pub fn of(summary: &Value) -> Vec<(String, String)> {
    let number = |path: &str| summary.pointer(path).and_then(Value::as_f64);
    let text = |path: &str| summary.pointer(path).and_then(Value::as_str).map(String::from);
    let whole = |path: &str| number(path).map(|x| count(x as usize));
    let seconds = |path: &str| number(path).map(duration);
    let size = |path: &str| number(path).map(bytes);
    let with = |value: Option<String>, what: &str| value.map(|value| format!("{value} {what}"));
    let joined = |parts: Vec<Option<String>>| {
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    };
    let some_of = |path: &str| number(path).filter(|count| *count > 0.0).and_then(|_| whole(path));
    let rows = [
        ("Device", joined(vec![text("/device/description"), with(text("/precision"), "")])),
        ("Engine", joined(vec![text("/engine"), with(text("/strategy"), "")])),
        (
            "Steps",
            joined(vec![whole("/steps"), with(whole("/particle_steps"), "steps of particles")]),
        ),
        (
            "Speed",
            number("/particle_steps_per_second").map(|rate| {
                format!("{} particle-steps per second", with_prefix(rate))
                    .replace(" M p", " million p")
            }),
        ),
        ("Time in total", seconds("/seconds/total")),
        (
            "of which",
            joined(vec![
                with(seconds("/seconds/read"), "reading"),
                with(seconds("/seconds/upload"), "uploading"),
                with(seconds("/seconds/prepare"), "preparing"),
                with(seconds("/seconds/trace"), "tracing"),
                with(seconds("/seconds/write"), "writing"),
            ]),
        ),
        (
            "Data",
            joined(vec![
                with(size("/bytes/read"), "read"),
                with(size("/bytes/written"), "written"),
            ]),
        ),
        (
            "Peak memory",
            joined(vec![
                with(size("/memory/host"), "on the host"),
                with(size("/memory/device"), "planned on the device"),
                with(size("/memory/device_held"), "given by the device"),
            ]),
        ),
        ("Batches", some_of("/batches/count")),
        ("Checkpoints", some_of("/checkpoints/count")),
        ("Resumed", with(some_of("/resumed"), "times")),
    ];
    let given = rows.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
    given.map(|(name, value)| (name, value.trim().replace(" , ", ", "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cost_is_written_for_people() {
        let summary = json!({
            "steps": 400, "particle_steps": 1996566, "particle_steps_per_second": 6442360.0,
            "seconds": { "total": 0.4136, "trace": 0.31 }, "memory": { "host": 53866496, "device": null },
            "bytes": { "read": 137088, "written": 6965808 }, "resumed": 0,
        });
        let rows = of(&summary);
        let value = |name: &str| rows.iter().find(|row| row.0 == name).map(|row| row.1.as_str());
        assert_eq!(value("Steps"), Some("400, 1,996,566 steps of particles"));
        assert_eq!(value("Speed"), Some("6.44 million particle-steps per second"));
        assert_eq!(value("Peak memory"), Some("53.87 MB on the host"));
        assert_eq!(value("Data"), Some("137.1 kB read, 6.97 MB written"));
        assert_eq!((value("of which"), value("Resumed")), (Some("0.31 s tracing"), None));
    }
}
