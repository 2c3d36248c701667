//! The account of a run, for people and for programs.

use crate::{job::LoadedField, progress::in_words};
use burntrace::{Status, Summary, device::Usable};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

/// What a run has to say for itself.
pub struct Report<'a> {
    pub run: &'a Summary,
    pub device: &'a Usable,
    pub loaded: &'a LoadedField,
    /// Seconds spent on the store and the other files.
    pub write_seconds: f64,
    pub total_seconds: f64,
    pub folder: &'a Path,
}

impl Report<'_> {
    /// `summary.json`: counts by status that add up, timings in seconds, throughput, device.
    pub fn json(&self) -> serde_json::Value {
        let run = self.run;
        let counts = run.counts.iter().map(|(status, count)| (status.to_string(), json!(count)));
        json!({
            "burntrace": env!("CARGO_PKG_VERSION"),
            "device": { "name": self.device.name, "description": self.device.description },
            "path": run.path.to_string(),
            "precision": run.precision.to_string(),
            "threads": rayon::current_num_threads(),
            "launches": run.launches,
            "kernels": run.kernels,
            "field": self.loaded.description,
            "steps": run.steps,
            "saves": run.saves,
            "cancelled": run.cancelled,
            "particles": run.particles,
            "released": run.released(),
            "active": run.active(),
            "ended": run.ended(),
            "status": counts.collect::<serde_json::Map<_, _>>(),
            "particle_steps": run.particle_steps,
            "particle_steps_per_second": run.particle_steps_per_second(),
            "seconds": {
                "read": self.loaded.read_seconds,
                "upload": self.loaded.upload_seconds,
                "trace": run.trace_seconds,
                "write": self.write_seconds,
                "total": self.total_seconds,
            },
        })
    }

    /// The same in a few lines.
    pub fn text(&self) -> String {
        let run = self.run;
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            // Writing to a string does not fail.
            writeln!(text, "{name:<10} {value}").ok();
        };
        line("device", format!("{} ({})", self.device.name, self.device.description));
        line(
            "path",
            format!(
                "{}, {}, {} steps in {} launches, {} kernels compiled",
                run.path, run.precision, run.steps, run.launches, run.kernels
            ),
        );
        line("speed", self.speed());
        line("time", self.times());
        line(
            "particles",
            format!(
                "{} seeds, {} released = {} active + {} ended",
                run.particles,
                run.released(),
                run.active(),
                run.ended()
            ),
        );
        for (status, count) in &run.counts {
            if *status != Status::Active {
                line("", format!("{count} {status}"));
            }
        }
        line("written", format!("{} ({} saves)", self.folder.display(), run.saves));
        text
    }

    fn speed(&self) -> String {
        format!(
            "{} particle-steps/s ({} particle-steps in {:.3} s)",
            in_words(self.run.particle_steps_per_second()),
            in_words(self.run.particle_steps as f64),
            self.run.trace_seconds
        )
    }

    fn times(&self) -> String {
        format!(
            "read {:.3} s, upload {:.3} s, trace {:.3} s, write {:.3} s, total {:.3} s",
            self.loaded.read_seconds,
            self.loaded.upload_seconds,
            self.run.trace_seconds,
            self.write_seconds,
            self.total_seconds
        )
    }
}
