//! `burntrace info` of a run: the state of its folder, and the commands that evaluate it.

use crate::{
    file::{self, Case, Field, FieldSource, Misuse, PerParticle, Repeat, SeedShape, Seeds},
    folder::Folder,
    folder::RunFiles,
    format::{Lines, time_range},
    ranks,
};
use anyhow::Result;
use burntrace::{
    Status,
    io::{Files, Tracks, tracks::is_store},
};
use serde_json::{Value, json};

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
    /// Ended, with tracks that cannot be read and without a summary.
    Unknown,
}

/// The description of a run.
pub struct RunInfo {
    folder: Folder,
    state: RunState,
    files: RunFiles,
    /// The complete saves; `None` before the first one.
    tracks: Option<Tracks>,
    /// Why the tracks cannot be read, and what to do.
    tracks_problem: Option<String>,
    /// Counts at the last save.
    counts: Counts,
}

/// Particles at the last save.
#[derive(Default)]
struct Counts {
    /// Slots by status.
    slots: Vec<(Status, usize)>,
    /// Instances that have ended and were followed by others; `None` if slots are not re-used.
    ended_before: Option<usize>,
}

impl RunInfo {
    /// Whether a folder has the files of a run.
    pub fn is_run(folder: &Folder) -> bool {
        folder.is_stopped() || folder.path("tracks").is_dir()
    }

    /// Describes the run in a folder.
    pub fn of(folder: Folder) -> Result<RunInfo> {
        let is_in_progress = folder.is_in_progress();
        let store = folder.path("tracks");
        let (mut tracks, mut damage) = (None, None);
        if store.is_dir() {
            match Tracks::open_partial(&store) {
                Ok(found) => tracks = Some(found),
                // The store of a run in progress may not have its arrays yet.
                Err(_) if is_in_progress => {}
                Err(_) if folder.is_stopped() && !is_store(&store) => {}
                Err(error) if !is_store(&store) => return Err(Misuse::of(error)),
                Err(error) => damage = Some(error),
            }
        }
        let counts = match tracks.as_ref().map(counts).transpose() {
            Ok(counts) => counts.unwrap_or_default(),
            Err(error) => {
                damage = Some(error);
                Counts::default()
            }
        };
        let files = RunFiles::read(&folder);
        let state = match is_in_progress {
            true => RunState::InProgress,
            false => ended_state(&folder, tracks.as_ref(), &files.summary),
        };
        let root = folder.root.display();
        let tracks_problem = damage.map(|error| {
            format!(
                "the tracks cannot be read: {error}; list the damage with `burntrace verify {root}`"
            )
        });
        Ok(RunInfo { folder, state, files, tracks, tracks_problem, counts })
    }

    /// The description as JSON.
    pub fn json(&self) -> Value {
        let case = self.files.case.as_ref().and_then(|case| toml::Table::try_from(case).ok());
        let counts =
            self.counts.slots.iter().map(|(status, count)| (status.to_string(), json!(count)));
        let tracks = self.tracks.as_ref();
        json!({
            "kind": "run",
            "state": match self.state {
                RunState::Finished => "finished",
                RunState::Stopped => "stopped",
                RunState::Cancelled => "cancelled",
                RunState::InProgress => "in progress",
                RunState::Unknown => "unknown",
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
            "pieces": self.pieces().map(|[done, all]| json!({ "done": done, "all": all })),
            "problems": self.problems(),
        })
    }

    /// The description as text.
    pub fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add("run", format!("{}, {}", self.folder.root.display(), self.state_text()));
        if let Some(case) = &self.files.case {
            lines.add("field", fields(case));
            lines.add("seeds", seeds(&case.seeds));
            if !case.source.is_empty() {
                let capacity: f64 = case.source.iter().map(|source| source.capacity() as f64).sum();
                let count = case.source.len();
                lines.add("sources", format!("{count}, with a capacity of {capacity} particles"));
            }
        }
        lines.add("device", self.device());
        if let Some([done, all]) = self.pieces() {
            lines.add("pieces", format!("{done} of {all} done; they are joined at the end"));
        }
        lines.add("saves", self.saves());
        if !self.counts.slots.is_empty() {
            lines.add("particles", self.particles());
        }
        for problem in self.problems() {
            lines.add("problem", problem);
        }
        lines.list("use", self.commands());
        lines.0
    }

    fn state_text(&self) -> &'static str {
        match self.state {
            RunState::Finished => "finished",
            RunState::Stopped => "stopped; it can be resumed",
            RunState::Cancelled => "stopped; it cannot be resumed, as it has no checkpoint",
            RunState::InProgress => "in progress",
            RunState::Unknown => "in an unknown state",
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
        let Some(tracks) = &self.tracks else {
            return if self.tracks_problem.is_some() { "unknown" } else { "none yet" }.into();
        };
        let before = match tracks.times().len() {
            0 => "",
            1 => ", at ",
            _ => ", ",
        };
        let units = tracks.units();
        let times = time_range(tracks.times(), "", units.origin_of_seconds());
        let times = format!("{before}{times}");
        format!("{} of {}{times}", tracks.num_saves(), tracks.num_planned_saves())
    }

    /// The numbers of pieces of an unfinished run that processes share: done, and all.
    fn pieces(&self) -> Option<[usize; 2]> {
        ranks::progress(&self.folder)
    }

    /// The counts at the last save.
    fn particles(&self) -> String {
        let total: usize = self.counts.slots.iter().map(|(_, count)| count).sum();
        let parts = self.counts.slots.iter().map(|(status, count)| format!("{count} {status}"));
        let parts = parts.collect::<Vec<_>>().join(" + ");
        match self.counts.ended_before {
            Some(count) => format!(
                "{total} slots = {parts} at the last save, after {count} instances that ended before"
            ),
            None => format!("{total} = {parts} at the last save"),
        }
    }

    /// What is missing or damaged.
    fn problems(&self) -> Vec<String> {
        self.tracks_problem.iter().cloned().chain(self.files.problems()).collect()
    }

    /// Commands for the run: to resume and to evaluate it, or to verify it.
    fn commands(&self) -> Vec<String> {
        let root = self.folder.root.display();
        if self.tracks_problem.is_some() {
            return vec![format!("burntrace verify {root}")];
        }
        let mut commands = Vec::new();
        if self.state == RunState::Stopped {
            commands.push(format!("burntrace run --resume {root}"));
        }
        let Some(tracks) = self.tracks.as_ref().filter(|tracks| tracks.num_saves() > 0) else {
            return commands;
        };
        commands.extend(["report", "render"].map(|name| format!("burntrace {name} {root}")));
        commands.push(format!("burntrace export {root} --to parquet"));
        if self.state == RunState::Finished && !tracks.gates().is_empty() {
            commands.push(format!("burntrace gates {root}"));
        }
        if !self.counts.slots.iter().any(|(status, _)| *status == Status::Active) {
            return commands;
        }
        commands.push(format!("burntrace density {root}"));
        let blocks = self.files.case.as_ref().map_or(&[][..], |case| &case.seeds);
        let is_grid = matches!(blocks, [Seeds { shape: SeedShape::Grid { .. }, repeat: None, .. }]);
        // FTLE need a flow map from the start of the run to a save.
        if is_grid && tracks.num_instances().is_none() && self.state == RunState::Finished {
            commands.push(format!("burntrace ftle {root}"));
        }
        commands
    }
}

/// The state of a run that is not in progress.
fn ended_state(folder: &Folder, tracks: Option<&Tracks>, summary: &Value) -> RunState {
    let is_whole =
        |tracks: &Tracks| tracks.is_complete() && tracks.num_saves() == tracks.num_planned_saves();
    match (tracks, summary["cancelled"].as_bool()) {
        _ if folder.is_stopped() => RunState::Stopped,
        (Some(tracks), _) if is_whole(tracks) => RunState::Finished,
        (None, Some(false)) => RunState::Finished,
        (None, None) => RunState::Unknown,
        _ => RunState::Cancelled,
    }
}

/// The counts at the last save.
fn counts(tracks: &Tracks) -> burntrace::io::Result<Counts> {
    let Some(last) = tracks.num_saves().checked_sub(1) else { return Ok(Counts::default()) };
    let found = tracks.status(last)?;
    let slots = Status::ALL.map(|status| (status, found.iter().filter(|s| **s == status).count()));
    // The table of a finished run has the last instances of all slots, too.
    let still_there = match tracks.is_complete() {
        true => found.iter().filter(|status| status.has_ended()).count(),
        false => 0,
    };
    let ended_before = tracks.num_ended_instances()?.map(|all| all.saturating_sub(still_there));
    let slots = slots.into_iter().filter(|(_, count)| *count > 0).collect();
    Ok(Counts { slots, ended_before })
}

/// The fields of a case, with what is made of further ones.
fn fields(case: &Case) -> String {
    let text = |field: &Field| {
        let factor = match &field.factor {
            None => String::new(),
            Some(PerParticle::Number(factor)) => format!("{factor} times "),
            Some(PerParticle::Column(name)) => format!("the column {name} of the seeds times "),
        };
        let turned = field.rotate.map(|angle| format!(", turned by {angle} degrees to the right"));
        format!("{factor}{}{}", self::field(field), turned.unwrap_or_default())
    };
    case.field.all().map(text).collect::<Vec<_>>().join(" + ")
}

fn field(field: &Field) -> String {
    match &field.source {
        FieldSource::Flow { flow, sample } => match sample {
            Some(sample) => {
                let [nx, ny, nz] = sample.nodes;
                let frames = sample.frames;
                format!("{flow}, sampled at {nx} x {ny} x {nz} nodes in {frames} frames")
            }
            None => format!("{flow}, a formula"),
        },
        FieldSource::Own(own) => own.to_string(),
        FieldSource::Files { files } => {
            let files = match files {
                Files::One(path) => path.display().to_string(),
                Files::List(paths) => match &paths[..] {
                    [only] => only.display().to_string(),
                    _ => format!("{} files", paths.len()),
                },
                Files::Components(_) => "files with a component each".into(),
            };
            format!("{files}, interpolation = {:?}", file::name_of(&field.interpolation))
        }
    }
}

fn seeds(blocks: &[Seeds]) -> String {
    let block = |seeds: &Seeds| {
        let shape = match &seeds.shape {
            SeedShape::File { path } => format!("file {}", path.display()),
            SeedShape::Run { path } => format!("run {}", path.display()),
            SeedShape::Grid { counts: [nx, ny, nz], .. } => format!("grid, {nx} x {ny} x {nz}"),
            SeedShape::Mesh { count, patch: Some(name), .. } => {
                format!("mesh, {count} on the patch {name}")
            }
            shape => format!("{}, {}", file::name_of(shape), shape.count()),
        };
        match seeds.repeat {
            Some(Repeat { every, until }) => {
                let until = until.map_or("the end".into(), |until| until.to_string());
                format!("{shape}, every {every} until {until}")
            }
            None => shape,
        }
    };
    match blocks {
        [] => "none".into(),
        _ => blocks.iter().map(block).collect::<Vec<_>>().join("; "),
    }
}
