//! The summary of a run, as text and as JSON.

use super::{CheckpointTotals, IoStats, Spent, residence::ResidenceTimes};
use crate::{
    format::{six_digits, with_prefix},
    gates,
    job::LoadedField,
};
use burntrace_analysis::gates::{GatePassages, PassageStatistics};
use burntrace_core::{Domain, Status, Strategy, Summary, device::OpenDevice};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

/// What tracing a run, or a piece of one, has given.
#[derive(Debug, Deserialize, Serialize)]
pub struct Traced {
    pub run: Summary,
    /// The time at the end.
    pub time: f64,
    /// Seconds of reading and in total, over all processes that resumed it.
    pub spent: Spent,
    /// I/O statistics since it was started or last resumed.
    pub io: IoStats,
    pub checkpoints: CheckpointTotals,
    /// How many times it was resumed.
    pub resumed: u64,
    /// Warnings and notes.
    pub warnings: Vec<String>,
    /// Residence times by status, in runs that re-use slots; those of a piece are not used.
    #[serde(skip)]
    pub residence: Option<Vec<ResidenceTimes>>,
}

impl Traced {
    /// Adds the seconds since the end of tracing in which files were written.
    pub fn add_writing(&mut self, start: Instant) {
        let seconds = start.elapsed().as_secs_f64();
        self.run.save_seconds += seconds;
        self.spent.total += seconds;
        self.io.total += seconds;
    }
}

/// The data of a run's summary.
pub struct RunSummary<'a> {
    pub traced: &'a Traced,
    /// Number of seeds.
    pub seeds: usize,
    pub device: &'a OpenDevice,
    pub loaded: &'a LoadedField,
    /// The time at the start.
    pub start: f64,
    pub domain: Domain,
    /// Planned peak memory of a device that has memory of its own, in bytes.
    pub device_bytes: Option<u64>,
    /// The phases up to here, if the run is profiled.
    pub profile: Option<Value>,
    pub compilations: Option<u64>,
    pub folder: &'a Path,
    /// The processes, of a run that several shared.
    pub shared: Option<SharedWork>,
    /// Who crossed its gates.
    pub passages: Option<PassageStatistics>,
}

/// What the processes that share a run have done.
pub struct SharedWork {
    pub json: Value,
    pub text: String,
    /// Number of particles of the largest piece.
    pub largest_piece: usize,
}

/// A gate, in a line.
fn gate_line(gate: &GatePassages) -> String {
    let GatePassages { name, forward, backward, particles, .. } = gate;
    match gate.is_region {
        true => {
            format!("{particles} were in {name}, entered {forward} times and left {backward} times")
        }
        false => format!(
            "{particles} crossed {name}, {forward} times forward and {backward} times backward"
        ),
    }
}

/// The corners of the domain, under the key that they have in `summary.json`.
pub fn of_domain(domain: Domain) -> Value {
    json!({ "domain": { "low": domain.low, "high": domain.high } })
}

impl RunSummary<'_> {
    /// The content of `summary.json`: counts by status, timings in seconds, throughput, device.
    pub fn json(&self) -> Value {
        let traced = self.traced;
        let run = &traced.run;
        let counts = run.counts.iter().map(|(status, count)| (status.to_string(), json!(count)));
        let mut json = json!({
            "burntrace": env!("CARGO_PKG_VERSION"),
            "device": { "name": self.device.name, "description": self.device.description },
            "engine": run.engine.to_string(),
            "precision": run.precision.to_string(),
            "threads": rayon::current_num_threads(),
            "launches": run.launches,
            "kernels": run.kernels,
            "compilations": self.compilations,
            "field": self.loaded.json,
            "domain": of_domain(self.domain)["domain"],
            "steps": run.steps,
            "saves": run.saves,
            "cancelled": run.cancelled,
            "t0": self.start,
            "time": traced.time,
            "particles": run.particles,
            "seeds": self.seeds,
            "released": run.released,
            "dropped": run.dropped,
            "active": run.active(),
            "ended": run.ended(),
            "not_located": run.not_located(),
            "status": counts.collect::<serde_json::Map<_, _>>(),
            "particle_steps": run.particle_steps,
            "particle_steps_per_second": run.particle_steps_per_second(),
            "seconds": {
                "read": traced.spent.read,
                "upload": traced.spent.upload,
                "prepare": traced.spent.prepare,
                "compile": traced.spent.compile,
                "trace": run.trace_seconds,
                "write": run.save_seconds,
                "total": traced.spent.total,
            },
            "strategy": self.strategy().name(),
            "batches": {
                "count": run.batches.count,
                "min": run.batches.sizes[0],
                "max": run.batches.sizes[1],
                "retries": run.batches.retries,
            },
            "bytes": { "read": traced.io.read, "written": traced.io.written },
            "waiting": {
                "input": traced.io.input,
                "output": traced.io.output,
                "share": traced.io.waiting_share(),
            },
            "memory": {
                "host": traced.io.memory, "device": self.device_bytes, "device_held": traced.io.card_memory,
            },
            "resumed": traced.resumed,
            "warnings": self.warnings(),
            "checkpoints": {
                "count": traced.checkpoints.count,
                "bytes": traced.checkpoints.bytes,
                "seconds": traced.checkpoints.seconds,
            },
        });
        self.add_optional(&mut json);
        json
    }

    /// Adds what only some runs have.
    fn add_optional(&self, json: &mut Value) {
        let (traced, run) = (self.traced, &self.traced.run);
        if let Some([start, end]) = self.dates() {
            (json["t0_date"], json["time_date"]) = (start.into(), end.into());
        }
        if let Some(shared) = &self.shared {
            json["ranks"] = shared.json.clone();
        }
        if let Some([accepted, rejected]) = run.tries {
            json["steps_accepted"] = json!(accepted);
            json["steps_rejected"] = json!(rejected);
        }
        for (key, counts) in [("patches", &run.patches), ("conditions", &run.conditions)] {
            if !counts.is_empty() {
                let counts = counts.iter().map(|(name, count)| (name.clone(), json!(count)));
                json[key] = Value::Object(counts.collect());
            }
        }
        if let (Some(passages), Some(json)) = (&self.passages, json.as_object_mut()) {
            json.extend(gates::json(passages));
        }
        if let Some(profile) = &self.profile {
            json["profile"] = profile.clone();
        }
        if let Some(entries) = &traced.residence {
            json["residence_time"] = residence_times(entries);
        }
    }

    /// The warnings and notes of the run, with those of the device.
    fn warnings(&self) -> Vec<String> {
        let retries = self.traced.run.batches.retries;
        let halved = (retries > 0)
            .then(|| format!("the device was out of memory {retries} times; batches were halved"));
        self.traced.warnings.iter().cloned().chain(halved).collect()
    }

    /// The summary as a few lines of text.
    pub fn text(&self) -> String {
        let run = &self.traced.run;
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            // Writing to a string does not fail.
            writeln!(text, "{name:<10} {value}").ok();
        };
        line("device", format!("{} ({})", self.device.name, self.device.description));
        line(
            "engine",
            format!(
                "{}, {}, {} steps in {} launches",
                run.engine, run.precision, run.steps, run.launches
            ),
        );
        if let Some([accepted, rejected]) = run.tries {
            line("steps", format!("{accepted} accepted, {rejected} rejected, over all particles"));
        }
        if let Some([start, end]) = self.dates() {
            line("dates", format!("{start} to {end}"));
        }
        line("speed", self.speed());
        line("time", self.times());
        line("i/o", self.traced.io.to_string());
        if let Some(shared) = &self.shared {
            line("ranks", shared.text.clone());
        }
        line("particles", self.particles());
        line("released", self.released());
        for entry in self.traced.residence.iter().flatten() {
            line("", residence_line(entry));
        }
        for (name, count) in &run.patches {
            line("", format!("{count} left the mesh through the patch {name}"));
        }
        for (condition, count) in &run.conditions {
            line("", format!("{count} were stopped by {condition}"));
        }
        for gate in self.passages.iter().flat_map(|passages| &passages.gates) {
            line("", gate_line(gate));
        }
        if run.dropped > 0 {
            line("dropped", self.dropped());
        }
        line("written", format!("{} ({} saves)", self.folder.display(), run.saves));
        text
    }

    /// The dates of the start and the end, if times have dates.
    fn dates(&self) -> Option<[String; 2]> {
        self.loaded.time_origin()?.range(&[self.start, self.traced.time])
    }

    /// The memory strategy of the run.
    fn strategy(&self) -> Strategy {
        let run = &self.traced.run;
        let streams = run.input.is_some();
        let at_once = self.shared.as_ref().map_or(run.particles, |shared| shared.largest_piece);
        let has_batches = run.batches.sizes[1] < at_once;
        let matches = |strategy: &Strategy| {
            strategy.streams_frames() == streams && strategy.has_batches() == has_batches
        };
        Strategy::ALL.into_iter().find(matches).unwrap_or(Strategy::InMemory)
    }

    fn particles(&self) -> String {
        let (run, seeds) = (&self.traced.run, self.seeds);
        let waiting = run.counts.iter().find(|(status, _)| *status == Status::Waiting);
        let mut text = match run.particles - seeds {
            0 => format!("{seeds} seeds"),
            slots => format!("{seeds} seeds, {slots} slots of sources"),
        };
        if let Some((_, count)) = waiting {
            let name = if run.particles == seeds { "waiting" } else { "waiting or empty" };
            text = format!("{text}, {count} {name}");
        }
        match run.not_located() {
            0 => text,
            count => format!("{text}, {count} not located"),
        }
    }

    /// The balance of counts: released = active + ended, by status.
    fn released(&self) -> String {
        let run = &self.traced.run;
        let others = run.counts.iter().filter(|(status, _)| status.has_ended());
        let ended: String = others.map(|(status, count)| format!(" + {count} {status}")).collect();
        format!("{} = {} active{ended}", run.released, run.active())
    }

    fn dropped(&self) -> String {
        format!(
            "{} releases: all slots of their source were in use; raise source.capacity",
            self.traced.run.dropped
        )
    }

    fn speed(&self) -> String {
        let run = &self.traced.run;
        format!(
            "{} particle-steps/s ({} particle-steps in {:.3} s)",
            with_prefix(run.particle_steps_per_second()),
            with_prefix(run.particle_steps as f64),
            run.trace_seconds
        )
    }

    /// The seconds of compilations, of a device that compiles.
    fn compile(&self) -> String {
        match self.device.compiles_kernels() {
            true => format!("compile {:.3} s, ", self.traced.spent.compile),
            false => String::new(),
        }
    }

    fn times(&self) -> String {
        let Traced { run, spent, .. } = self.traced;
        format!(
            "read {:.3} s, upload {:.3} s, prepare {:.3} s, {}trace {:.3} s, write {:.3} s, total {:.3} s",
            spent.read,
            spent.upload,
            spent.prepare,
            self.compile(),
            run.trace_seconds,
            run.save_seconds,
            spent.total
        )
    }
}

/// Residence times by end status.
fn residence_times(entries: &[ResidenceTimes]) -> Value {
    let times = |entry: &ResidenceTimes| {
        let ResidenceTimes { status, count, min, max, .. } = *entry;
        let times = json!({ "count": count, "mean": entry.mean(), "min": min, "max": max });
        (status.to_string(), times)
    };
    Value::Object(entries.iter().map(times).collect())
}

/// The residence times of one status as text.
fn residence_line(entry: &ResidenceTimes) -> String {
    let ResidenceTimes { status, count, .. } = entry;
    let [mean, min, max] = [entry.mean(), entry.min, entry.max].map(six_digits);
    format!("{count} {status}: residence time {mean} mean, {min} minimum, {max} maximum")
}
