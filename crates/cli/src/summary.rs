//! The account of a run, for people and for programs.

use crate::{
    job::LoadedField, lives::ResidenceTimes, progress::in_words, traffic::Flow, watch::Checkpoints,
};
use burntrace::{Domain, Status, Strategy, Summary, device::OpenDevice};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// What a run has to say for itself.
pub struct Report<'a> {
    pub run: &'a Summary,
    /// How many seeds there were.
    pub seeds: usize,
    /// How long lives have lasted, where slots are used again.
    pub stays: Option<&'a [ResidenceTimes]>,
    pub device: &'a OpenDevice,
    pub loaded: &'a LoadedField,
    pub domain: Domain,
    /// Seconds spent on the store and the other files.
    pub write_seconds: f64,
    /// What was read and written since the program began with the run or went on with it.
    pub flow: Flow,
    pub checkpoints: Checkpoints,
    /// How often the run has gone on from a checkpoint.
    pub resumed: u64,
    /// The most bytes on a device with memory of its own, by the plan of the run.
    pub device_bytes: Option<u64>,
    pub folder: &'a Path,
}

impl Report<'_> {
    /// `summary.json`: counts by status that add up, timings in seconds, throughput, device.
    pub fn json(&self) -> Value {
        let run = self.run;
        let counts = run.counts.iter().map(|(status, count)| (status.to_string(), json!(count)));
        let mut json = json!({
            "burntrace": env!("CARGO_PKG_VERSION"),
            "device": { "name": self.device.name, "description": self.device.description },
            "path": run.engine.to_string(),
            "precision": run.precision.to_string(),
            "threads": rayon::current_num_threads(),
            "launches": run.launches,
            "kernels": run.kernels,
            "field": self.loaded.json,
            "domain": { "low": self.domain.low, "high": self.domain.high },
            "steps": run.steps,
            "saves": run.saves,
            "cancelled": run.cancelled,
            "particles": run.particles,
            "seeds": self.seeds,
            "released": run.released,
            "dropped": run.dropped,
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
                "total": self.flow.total,
            },
            "strategy": self.strategy().name(),
            "batches": {
                "count": run.batches.count,
                "smallest": run.batches.sizes[0],
                "greatest": run.batches.sizes[1],
                "retries": run.batches.retries,
            },
            "bytes": { "read": self.flow.read, "written": self.flow.written },
            "waiting": {
                "input": self.flow.input,
                "output": self.flow.output,
                "share": self.flow.share(),
            },
            "memory": { "host": self.flow.memory, "device": self.device_bytes },
            "resumed": self.resumed,
            "checkpoints": {
                "count": self.checkpoints.count,
                "bytes": self.checkpoints.bytes,
                "seconds": self.checkpoints.seconds,
            },
        });
        if let Some([accepted, rejected]) = run.tries {
            json["steps_accepted"] = json!(accepted);
            json["steps_rejected"] = json!(rejected);
        }
        if !run.patches.is_empty() {
            let counts = run.patches.iter().map(|(name, count)| (name.clone(), json!(count)));
            json["patches"] = Value::Object(counts.collect());
        }
        if let Some(stays) = self.stays {
            json["residence_time"] = residence_times(stays);
        }
        json
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
                run.engine, run.precision, run.steps, run.launches, run.kernels
            ),
        );
        if let Some([accepted, rejected]) = run.tries {
            line("steps", format!("{accepted} accepted, {rejected} rejected, over all particles"));
        }
        line("speed", self.speed());
        line("time", self.times());
        line("traffic", self.flow.to_string());
        line("particles", self.particles());
        line("released", self.released());
        for stays in self.stays.unwrap_or_default() {
            line("", stay(stays));
        }
        for (name, count) in &run.patches {
            line("", format!("{count} left the mesh through the patch {name}"));
        }
        if run.dropped > 0 {
            line("dropped", self.dropped());
        }
        line("written", format!("{} ({} saves)", self.folder.display(), run.saves));
        text
    }

    /// How the run lay in memory.
    fn strategy(&self) -> Strategy {
        let streams = self.run.input.is_some();
        let has_batches = self.run.batches.sizes[1] < self.run.particles;
        let is_it =
            |of: &Strategy| of.streams_frames() == streams && of.has_batches() == has_batches;
        Strategy::ALL.into_iter().find(is_it).unwrap_or(Strategy::InMemory)
    }

    fn particles(&self) -> String {
        let (run, seeds) = (self.run, self.seeds);
        let waiting = run.counts.iter().find(|(status, _)| *status == Status::Waiting);
        let mut text = match run.particles - seeds {
            0 => format!("{seeds} seeds"),
            slots => format!("{seeds} seeds, {slots} slots of sources"),
        };
        if let Some((_, count)) = waiting {
            let name = if run.particles == seeds { "waiting" } else { "waiting or empty" };
            text = format!("{text}, {count} {name}");
        }
        text
    }

    /// The sum rule: what was released is active or has ended, one way or another.
    fn released(&self) -> String {
        let others = self.run.counts.iter().filter(|(status, _)| status.has_ended());
        let ended: String = others.map(|(status, count)| format!(" + {count} {status}")).collect();
        format!("{} = {} active{ended}", self.run.released, self.run.active())
    }

    fn dropped(&self) -> String {
        format!(
            "{} releases, as the slots of their source were taken; raise source.capacity",
            self.run.dropped
        )
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
            self.flow.total
        )
    }
}

/// Residence times by the status at the end.
fn residence_times(stays: &[ResidenceTimes]) -> Value {
    let entry = |of: &ResidenceTimes| {
        let times = json!({ "count": of.count, "mean": of.mean(), "min": of.min, "max": of.max });
        (of.status.to_string(), times)
    };
    Value::Object(stays.iter().map(entry).collect())
}

/// The same of one status, in words.
fn stay(of: &ResidenceTimes) -> String {
    let [mean, min, max] = [of.mean(), of.min, of.max].map(in_six_digits);
    format!("{} {}: after {mean} on average, {min} at least, {max} at most", of.count, of.status)
}

/// A number as it is printed: its first six digits.
pub fn in_six_digits(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}
