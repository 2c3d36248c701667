//! Tracing the runs of a sweep.

use super::definition::{Sweep, SweepRun};
use crate::{
    devices, errors,
    file::{self, Case, Misuse},
    format::six_digits,
    job::{self, LoadedField},
    log,
    signals::Signals,
    terminal::Terminal,
};
use anyhow::Result;
use burntrace::device::OpenDevice;
use burntrace_case::{
    console::Interrupts,
    folder::lock,
    run::{self, Printed, RunCheckpoint, RunStart, Session, Stopped, case_change, open_log},
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What became of the runs of a sweep in this process.
#[derive(Default)]
pub struct Outcome {
    /// Runs that this process finished.
    pub finished: usize,
    /// Runs that were finished before.
    pub before: usize,
    /// Runs that another process is tracing.
    pub in_progress: usize,
    /// Runs that belong to other tasks.
    pub of_others: usize,
    /// Runs that failed, with their errors.
    pub failed: BTreeMap<usize, String>,
    /// Seconds of reading and arranging fields, and of tracing.
    pub seconds: [f64; 2],
}

/// The state of a run's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    Finished,
    /// It can be resumed.
    Stopped,
    InProgress,
    /// Not started, or without a checkpoint to resume from.
    Open,
}

impl RunState {
    pub fn of(run: &SweepRun) -> RunState {
        RunState::read(run).0
    }

    /// The state of a run, and its summary; null if it has none.
    pub fn read(run: &SweepRun) -> (RunState, Value) {
        let text = std::fs::read(run.folder.path("summary.json")).unwrap_or_default();
        let summary: Value = serde_json::from_slice(&text).unwrap_or_default();
        let state = if lock::is_taken(&run.folder.path("log.txt")) {
            RunState::InProgress
        } else if run.folder.is_stopped() {
            RunState::Stopped
        } else if summary["cancelled"] == Value::Bool(false) {
            RunState::Finished
        } else {
            RunState::Open
        };
        (state, summary)
    }
}

/// Traces those of the runs that are not finished. Runs with the same field are traced one after another,
/// and the field is read once for them.
pub fn all(sweep: &Sweep, own: &[usize], quiet: bool) -> Result<Outcome> {
    let mut outcome = Outcome { of_others: sweep.runs.len() - own.len(), ..Outcome::default() };
    let mut due = Vec::new();
    for &run in own {
        match RunState::of(&sweep.runs[run]) {
            RunState::Finished => outcome.before += 1,
            RunState::InProgress => outcome.in_progress += 1,
            RunState::Stopped | RunState::Open => due.push(run),
        }
    }
    let Some(first) = due.first() else { return Ok(outcome) };
    run::start_threads(sweep.runs[*first].case.run.threads)?;
    let terminal = Terminal::new(quiet).without_progress();
    let mut progress = Progress { quiet, done: 0, due: due.len(), terminal };
    for group in by_field(sweep, &due) {
        let mut field = None;
        for run in group {
            let traced = progress.trace(sweep, run, &mut field, &mut outcome);
            log::close();
            traced?;
        }
    }
    Ok(outcome)
}

/// The runs in groups that can share a field, in the order of their first runs.
fn by_field(sweep: &Sweep, runs: &[usize]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Case, Vec<usize>)> = Vec::new();
    for &run in runs {
        let own = sweep.runs[run].case.field_keys();
        match groups.iter_mut().find(|(keys, _)| *keys == own) {
            Some((_, group)) => group.push(run),
            None => groups.push((own, vec![run])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// A field on its device.
pub struct FieldOnDevice {
    loaded: LoadedField,
    device: OpenDevice,
}

impl FieldOnDevice {
    /// The field of a case: the one that is held if it suits, else read and held.
    pub fn of<'a>(
        case: &Case,
        held: &'a mut Option<FieldOnDevice>,
        (terminal, quiet): (&mut Terminal, bool),
    ) -> Result<&'a mut FieldOnDevice> {
        let shared = held.take().filter(|held| held.loaded.suits(case, &held.device));
        let field = match shared {
            Some(mut held) => {
                held.loaded.reuse();
                terminal.quiet = true;
                held
            }
            None => {
                terminal.quiet = quiet;
                FieldOnDevice::load(case, terminal)?
            }
        };
        Ok(held.insert(field))
    }

    /// Traces a case from its beginning, in place of a run in its folder.
    pub fn trace(&mut self, case: &Case, terminal: &Terminal) -> Result<Option<Stopped>> {
        let start = Instant::now();
        let Self { loaded, device } = self;
        let session = Session { loaded, device, start, console: terminal };
        Ok(run::trace_in(case, RunStart::New { overwrite: true }, &session)?.1)
    }

    fn load(case: &Case, terminal: &Terminal) -> Result<Self> {
        let device = devices::open(&devices::only_name(&case.run.device, "a sweep")?, terminal)?;
        let loaded = job::field(case, &device, terminal)?;
        Ok(FieldOnDevice { loaded, device })
    }
}

/// The progress of the runs, on standard error.
struct Progress {
    quiet: bool,
    done: usize,
    due: usize,
    terminal: Terminal,
}

impl Progress {
    /// Traces a run, with the field of the run before if it suits. A failure is part of the outcome.
    ///
    /// # Errors
    ///
    /// If a signal stopped the run.
    fn trace(
        &mut self,
        sweep: &Sweep,
        run: usize,
        field: &mut Option<FieldOnDevice>,
        outcome: &mut Outcome,
    ) -> Result<()> {
        let SweepRun { values, .. } = &sweep.runs[run];
        let name = sweep.runs[run].name();
        self.done += 1;
        let values = values.join(" ");
        let stop = |stopped: &Stopped| Stopped {
            code: stopped.code,
            text: format!("stopped in {name} ({values}); the same command goes on with the sweep"),
        };
        burntrace_case::profile::begin_run();
        let result = {
            let _phase = burntrace::phase!("run");
            self.result(&sweep.runs[run], field)
        };
        match result {
            Ok((_, Some(stopped))) => return Err(stop(&stopped).into()),
            Ok((printed, None)) => {
                let seconds = |name: &str| printed.json["seconds"][name].as_f64().unwrap_or(0.0);
                outcome.seconds[0] += seconds("read") + seconds("upload");
                outcome.seconds[1] += seconds("trace");
                outcome.finished += 1;
                self.say(&format!("{name} {values}: {}", result_line(&printed.json)));
            }
            Err(error) => match error.downcast_ref::<Stopped>() {
                Some(stopped) => return Err(stop(stopped).into()),
                None => {
                    let text = errors::chain(&error);
                    eprintln!("error: {name} {values}: {text}");
                    outcome.failed.insert(run, text);
                }
            },
        }
        Ok(())
    }

    fn result(
        &mut self,
        run: &SweepRun,
        field: &mut Option<FieldOnDevice>,
    ) -> Result<(Printed, Option<Stopped>)> {
        let (start, case) = (Instant::now(), &run.case);
        if let Some(code) = Signals::watch(None)?.code() {
            return Err(Stopped { code, text: String::new() }.into());
        }
        let FieldOnDevice { loaded, device } =
            FieldOnDevice::of(case, field, (&mut self.terminal, self.quiet))?;
        let console = &self.terminal;
        let session = Session { loaded, device, start, console };
        run::trace_in(case, run_start(run, console)?, &session)
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            eprintln!("{}/{} {text}", self.done, self.due);
        }
    }
}

/// How a run that is not finished starts: from its checkpoint, or from the beginning.
fn run_start(run: &SweepRun, terminal: &Terminal) -> Result<RunStart> {
    if RunState::of(run) != RunState::Stopped {
        return Ok(RunStart::New { overwrite: true });
    }
    let checkpoint = RunCheckpoint::read(&run.folder)?;
    open_log(&run.folder.path("log.txt"), terminal)?;
    let root = run.folder.root.display();
    let before = file::from_text(&checkpoint.case, &[])
        .map_err(|problem| Misuse::error(format!("the case of {root}: {problem}")))?;
    if let Some(change) = case_change::first(&before, &run.case, &[])? {
        return Err(Misuse::error(format!(
            "{change} when the run in {root} started; remove this folder to start the run again"
        )));
    }
    Ok(RunStart::Resumed { checkpoint: Box::new(checkpoint), accept_changes: false })
}

/// The counts and the time of a run, in one line.
fn result_line(summary: &Value) -> String {
    let seconds = six_digits(summary["seconds"]["trace"].as_f64().unwrap_or(f64::NAN));
    let resumed = summary["resumed"].as_u64().filter(|count| *count > 0);
    let resumed = resumed.map_or("", |_| ", resumed");
    let [released, active, ended] = ["released", "active", "ended"].map(|key| &summary[key]);
    format!("{released} = {active} active + {ended} ended, traced in {seconds} s{resumed}")
}

impl Outcome {
    /// The outcome as text.
    pub fn text(&self, sweep: &Sweep, total: Duration) -> String {
        let Outcome { finished, before, in_progress, of_others, failed, seconds } = self;
        let mut parts = vec![format!("{finished} finished now")];
        for (count, what) in [
            (*before, "finished before"),
            (failed.len(), "failed"),
            (*in_progress, "in progress in another process"),
            (*of_others, "of other tasks"),
        ] {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        let [read, traced] = seconds.map(six_digits);
        let total = six_digits(total.as_secs_f64());
        format!(
            "sweep      {} runs: {}\ntime       fields {read} s, traced {traced} s, total {total} s\n",
            sweep.runs.len(),
            parts.join(", ")
        )
    }
}
