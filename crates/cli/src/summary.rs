//! The summary of a run, as text and as JSON.

use crate::{
    checkpoint::{CheckpointTotals, Spent},
    compilations,
    format::{six_digits, with_prefix},
    io_stats::IoStats,
    job::LoadedField,
    ranks::RankTotals,
    residence::ResidenceTimes,
};
use burntrace::{Domain, Status, Strategy, Summary, device::OpenDevice};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// The data of a run's summary.
pub struct RunSummary<'a> {
    pub run: &'a Summary,
    /// The time at the end of the run.
    pub time: f64,
    /// Number of seeds.
    pub seeds: usize,
    /// Residence times by status, in runs that re-use slots.
    pub residence: Option<&'a [ResidenceTimes]>,
    pub device: &'a OpenDevice,
    pub loaded: &'a LoadedField,
    pub domain: Domain,
    /// Seconds spent on writing the store and the VTK files.
    pub write_seconds: f64,
    /// Seconds of reading and in total, over all processes that resumed the run.
    pub spent: Spent,
    /// I/O statistics since the run was started or last resumed.
    pub io: IoStats,
    pub checkpoints: CheckpointTotals,
    /// How many times the run was resumed.
    pub resumed: u64,
    /// Planned peak memory of a device that has memory of its own, in bytes.
    pub device_bytes: Option<u64>,
    /// Warnings and notes of the run.
    pub warnings: Vec<String>,
    /// The phases up to here, if the run is profiled.
    pub profile: Option<Value>,
    pub folder: &'a Path,
    /// The processes, of a run that several shared.
    pub ranks: Option<&'a RankTotals>,
}

/// The corners of the domain, under the key that they have in `summary.json`.
pub fn of_domain(domain: Domain) -> Value {
    json!({ "domain": { "low": domain.low, "high": domain.high } })
}

impl RunSummary<'_> {
    /// The content of `summary.json`: counts by status, timings in seconds, throughput, device.
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
            "compilations": compilations::count(),
            "field": self.loaded.json,
            "domain": of_domain(self.domain)["domain"],
            "steps": run.steps,
            "saves": run.saves,
            "cancelled": run.cancelled,
            "time": self.time,
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
                "read": self.spent.read,
                "upload": self.spent.upload,
                "compile": self.spent.compile,
                "trace": run.trace_seconds,
                "write": self.write_seconds,
                "total": self.spent.total,
            },
            "strategy": self.strategy().name(),
            "batches": {
                "count": run.batches.count,
                "smallest": run.batches.sizes[0],
                "greatest": run.batches.sizes[1],
                "retries": run.batches.retries,
            },
            "bytes": { "read": self.io.read, "written": self.io.written },
            "waiting": {
                "input": self.io.input,
                "output": self.io.output,
                "share": self.io.waiting_share(),
            },
            "memory": { "host": self.io.memory, "device": self.device_bytes },
            "resumed": self.resumed,
            "warnings": self.warnings(),
            "checkpoints": {
                "count": self.checkpoints.count,
                "bytes": self.checkpoints.bytes,
                "seconds": self.checkpoints.seconds,
            },
        });
        if let Some(ranks) = self.ranks {
            json["ranks"] = ranks.json();
        }
        if let Some([accepted, rejected]) = run.tries {
            json["steps_accepted"] = json!(accepted);
            json["steps_rejected"] = json!(rejected);
        }
        if !run.patches.is_empty() {
            let counts = run.patches.iter().map(|(name, count)| (name.clone(), json!(count)));
            json["patches"] = Value::Object(counts.collect());
        }
        if let Some(profile) = &self.profile {
            json["profile"] = profile.clone();
        }
        if let Some(entries) = self.residence {
            json["residence_time"] = residence_times(entries);
        }
        json
    }

    /// The warnings and notes of the run, with those of the device.
    fn warnings(&self) -> Vec<String> {
        let retries = self.run.batches.retries;
        let halved = (retries > 0)
            .then(|| format!("the device was out of memory {retries} times; batches were halved"));
        self.warnings.iter().cloned().chain(halved).collect()
    }

    /// The summary as a few lines of text.
    pub fn text(&self) -> String {
        let run = self.run;
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
        line("speed", self.speed());
        line("time", self.times());
        line("i/o", self.io.to_string());
        if let Some(ranks) = self.ranks {
            line("ranks", ranks.text());
        }
        line("particles", self.particles());
        line("released", self.released());
        for entry in self.residence.unwrap_or_default() {
            line("", residence_line(entry));
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

    /// The memory strategy of the run.
    fn strategy(&self) -> Strategy {
        if self.run.input.is_some_and(|input| input.blocks > 0) {
            return Strategy::Blocks;
        }
        let streams = self.run.input.is_some();
        let at_once = self.ranks.map_or(self.run.particles, |ranks| ranks.largest_piece);
        let has_batches = self.run.batches.sizes[1] < at_once;
        let matches = |strategy: &Strategy| {
            strategy.streams_frames() == streams && strategy.has_batches() == has_batches
        };
        Strategy::ALL.into_iter().find(matches).unwrap_or(Strategy::InMemory)
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
        match run.not_located() {
            0 => text,
            count => format!("{text}, {count} not located"),
        }
    }

    /// The balance of counts: released = active + ended, by status.
    fn released(&self) -> String {
        let others = self.run.counts.iter().filter(|(status, _)| status.has_ended());
        let ended: String = others.map(|(status, count)| format!(" + {count} {status}")).collect();
        format!("{} = {} active{ended}", self.run.released, self.run.active())
    }

    fn dropped(&self) -> String {
        format!(
            "{} releases: all slots of their source were in use; raise source.capacity",
            self.run.dropped
        )
    }

    fn speed(&self) -> String {
        format!(
            "{} particle-steps/s ({} particle-steps in {:.3} s)",
            with_prefix(self.run.particle_steps_per_second()),
            with_prefix(self.run.particle_steps as f64),
            self.run.trace_seconds
        )
    }

    /// The seconds of compilations, of a device that compiles.
    fn compile(&self) -> String {
        match self.device.compiles_kernels() {
            true => format!("compile {:.3} s, ", self.spent.compile),
            false => String::new(),
        }
    }

    fn times(&self) -> String {
        format!(
            "read {:.3} s, upload {:.3} s, {}trace {:.3} s, write {:.3} s, total {:.3} s",
            self.spent.read,
            self.spent.upload,
            self.compile(),
            self.run.trace_seconds,
            self.write_seconds,
            self.spent.total
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
