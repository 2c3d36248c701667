//! `burntrace info` of a run: the state of its folder, and the commands that evaluate it.

use crate::{
    case::{Case, FieldSource, Kinds, Misuse, SeedShape, Seeds},
    folder::Folder,
    format::twelve_digits,
    log,
    results::RunFiles,
};
use anyhow::Result;
use burntrace::{
    Status,
    io::{Files, Tracks},
};
use serde_json::{Value, json};
use std::fmt::Write;

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunState {
    Finished,
    /// Stopped with a checkpoint.
    Stopped,
    /// Stopped without checkpoints.
    Cancelled,
    /// Another process writes the folder.
    InProgress,
}

/// The description of a run.
pub struct RunInfo {
    folder: Folder,
    state: RunState,
    files: RunFiles,
    /// The complete saves; `None` before the first one.
    tracks: Option<Tracks>,
    /// Slots at the last save by status.
    counts: Vec<(Status, usize)>,
}

impl RunInfo {
    /// Whether a folder has the files of a run.
    pub fn is_run(folder: &Folder) -> bool {
        folder.is_stopped() || folder.path("tracks").is_dir()
    }

    /// Describes the run in a folder.
    pub fn of(folder: Folder) -> Result<RunInfo> {
        let store = folder.path("tracks");
        let tracks = match store.is_dir() {
            // The store of a run in progress may not have its arrays yet.
            true if folder.is_stopped() => Tracks::open_partial(store).ok(),
            true => Some(Tracks::open_partial(store).map_err(Misuse::of)?),
            false => None,
        };
        let files = RunFiles::read(&folder);
        let is_whole = |tracks: &Tracks| {
            tracks.is_complete() && tracks.num_saves() == tracks.num_planned_saves()
        };
        let state = match (log::is_locked(&folder.path("log.txt")), &tracks) {
            (true, _) => RunState::InProgress,
            _ if folder.is_stopped() => RunState::Stopped,
            (_, Some(tracks)) if is_whole(tracks) => RunState::Finished,
            _ => RunState::Cancelled,
        };
        let counts = tracks.as_ref().map_or(Ok(Vec::new()), counts)?;
        Ok(RunInfo { folder, state, files, tracks, counts })
    }

    /// The description as JSON.
    pub fn json(&self) -> Value {
        let case = self.files.case.as_ref().and_then(|case| toml::Table::try_from(case).ok());
        let counts = self.counts.iter().map(|(status, count)| (status.to_string(), json!(count)));
        let tracks = self.tracks.as_ref();
        json!({
            "kind": "run",
            "state": match self.state {
                RunState::Finished => "finished",
                RunState::Stopped => "stopped",
                RunState::Cancelled => "cancelled",
                RunState::InProgress => "in progress",
            },
            "case": case,
            "device": self.device(),
            "saves": {
                "complete": tracks.map_or(0, Tracks::num_saves),
                "planned": tracks.map(Tracks::num_planned_saves),
            },
            "times": tracks.map_or(&[][..], Tracks::times),
            "particles": tracks.map(Tracks::num_particles),
            "status": counts.collect::<serde_json::Map<_, _>>(),
            "commands": self.commands(),
            "problems": self.problems(),
        })
    }

    /// The description as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            // Writing to a string does not fail.
            writeln!(text, "{name:<10} {value}").ok();
        };
        line("run", format!("{}, {}", self.folder.root.display(), self.state_text()));
        if let Some(case) = &self.files.case {
            line("field", field(case));
            line("seeds", case.seeds.as_ref().map_or("none".into(), seeds));
            if !case.source.is_empty() {
                let capacity: f64 = case.source.iter().map(|source| source.capacity() as f64).sum();
                let count = case.source.len();
                line("sources", format!("{count}, with a capacity of {capacity} particles"));
            }
        }
        line("device", self.device());
        line("saves", self.saves());
        if !self.counts.is_empty() {
            line("particles", self.particles());
        }
        for problem in self.problems() {
            line("problem", problem);
        }
        for (i, command) in self.commands().into_iter().enumerate() {
            line(if i == 0 { "use" } else { "" }, command);
        }
        text
    }

    fn state_text(&self) -> &'static str {
        match self.state {
            RunState::Finished => "finished",
            RunState::Stopped => "stopped; it can be resumed",
            RunState::Cancelled => "stopped; it cannot be resumed, as it has no checkpoint",
            RunState::InProgress => "in progress",
        }
    }

    /// The device of the run, or the one that the case asks for.
    fn device(&self) -> String {
        let device = &self.files.summary["device"];
        match (device["name"].as_str(), device["description"].as_str(), &self.files.case) {
            (Some(name), Some(description), _) => format!("{name} ({description})"),
            (_, _, Some(case)) => format!("{} (in the case)", case.run.device),
            _ => "unknown".into(),
        }
    }

    fn saves(&self) -> String {
        let Some(tracks) = &self.tracks else { return "none yet".into() };
        let times = match tracks.times() {
            [] => String::new(),
            [only] => format!(", at t = {}", twelve_digits(*only)),
            [first, .., last] => {
                format!(", t = {} to {}", twelve_digits(*first), twelve_digits(*last))
            }
        };
        format!("{} of {}{times}", tracks.num_saves(), tracks.num_planned_saves())
    }

    /// The counts at the last save.
    fn particles(&self) -> String {
        let total: usize = self.counts.iter().map(|(_, count)| count).sum();
        let parts = self.counts.iter().map(|(status, count)| format!("{count} {status}"));
        let parts = parts.collect::<Vec<_>>().join(" + ");
        let instances = self.tracks.as_ref().and_then(Tracks::num_instances);
        match instances {
            Some(count) => format!(
                "{total} slots = {parts} at the last save, after {count} instances that ended before"
            ),
            None => format!("{total} = {parts} at the last save"),
        }
    }

    /// What is missing or damaged. A run in progress has no summary yet.
    fn problems(&self) -> Vec<String> {
        match self.state {
            RunState::InProgress => self.files.case_problem.iter().cloned().collect(),
            _ => self.files.problems(),
        }
    }

    /// The commands that make something of the run.
    fn commands(&self) -> Vec<String> {
        let root = self.folder.root.display();
        let mut commands = Vec::new();
        if self.state == RunState::Stopped {
            commands.push(format!("burntrace run --resume {root}"));
        }
        let Some(tracks) = self.tracks.as_ref().filter(|tracks| tracks.num_saves() > 0) else {
            return commands;
        };
        commands.extend(["report", "render"].map(|name| format!("burntrace {name} {root}")));
        if !self.counts.iter().any(|(status, _)| *status == Status::Active) {
            return commands;
        }
        commands.push(format!("burntrace density {root}"));
        let shape = self.files.case.as_ref().and_then(|case| case.seeds.as_ref());
        let is_grid = shape.is_some_and(|seeds| matches!(seeds.shape, SeedShape::Grid { .. }));
        // FTLE need a flow map from the start of the run to a save.
        if is_grid && tracks.num_instances().is_none() && self.state == RunState::Finished {
            commands.push(format!("burntrace ftle {root}"));
        }
        commands
    }
}

/// The slots at the last save by status.
fn counts(tracks: &Tracks) -> Result<Vec<(Status, usize)>> {
    let Some(last) = tracks.num_saves().checked_sub(1) else { return Ok(Vec::new()) };
    let found = tracks.status(last).map_err(Misuse::of)?;
    let counts = Status::ALL.map(|status| (status, found.iter().filter(|s| **s == status).count()));
    Ok(counts.into_iter().filter(|(_, count)| *count > 0).collect())
}

fn field(case: &Case) -> String {
    match &case.field.source {
        FieldSource::Flow(flow) => match &flow.sample {
            Some(sample) => {
                let [nx, ny, nz] = sample.nodes;
                format!(
                    "{}, sampled at {nx} x {ny} x {nz} nodes in {} frames",
                    flow.flow, sample.frames
                )
            }
            None => format!("{}, a formula", flow.flow),
        },
        FieldSource::Files(field) => {
            let files = match &field.files {
                Files::One(path) => path.display().to_string(),
                Files::List(paths) => match &paths[..] {
                    [only] => only.display().to_string(),
                    _ => format!("{} files", paths.len()),
                },
            };
            format!("{files}, interpolation = {:?}", field.interpolation.name())
        }
    }
}

fn seeds(seeds: &Seeds) -> String {
    match &seeds.shape {
        SeedShape::File { path } => format!("file {}", path.display()),
        SeedShape::Grid { counts: [nx, ny, nz], .. } => format!("grid, {nx} x {ny} x {nz}"),
        shape => format!("{}, {}", shape.name(), shape.count()),
    }
}
