//! What a sweep consists of: its case, the keys that it varies, and the folder with its runs.

use super::vary::{Vary, combinations};
use crate::{
    args::SweepArgs,
    devices,
    file::{self, Case, Misuse, Reporting},
    folder::{self, Folder, SWEEP},
    job, log,
};
use anyhow::{Context, Result};
use burntrace_case::run::case_change;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// Name of the file that is locked while runs are traced.
const LOCK: &str = "sweep.lock";

/// The definition of a sweep. Only its confidence changes while runs are added.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Definition {
    /// The version of burntrace that started the sweep.
    pub burntrace: String,
    /// The case of all runs, as TOML with absolute file names.
    pub case: String,
    pub vary: Vec<Vary>,
    pub zip: bool,
    /// Probability of confidence intervals. It does not change the runs.
    pub confidence: f64,
}

/// The probability of confidence intervals if none is given.
const USUAL_CONFIDENCE: f64 = 0.95;

/// A sweep in its folder.
pub struct Sweep {
    pub root: PathBuf,
    pub definition: Definition,
    pub runs: Vec<SweepRun>,
    /// Whether to write a report of the sweep: `save.report` of the case is not `never`.
    pub wants_report: bool,
    /// Locked while this process traces runs.
    work: Option<File>,
}

/// A run of a sweep.
pub struct SweepRun {
    pub folder: Folder,
    /// With the output folder of the run, and absolute file names.
    pub case: Case,
    /// For each varied key, its value as given.
    pub values: Vec<String>,
}

impl SweepRun {
    /// The name of the run's folder, as `run_0012`.
    pub fn name(&self) -> String {
        let name = self.folder.root.file_name();
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

impl Sweep {
    /// The sweep of a command line: a new one, or the one in the folder if it has the same definition.
    pub fn open(args: &SweepArgs) -> Result<Sweep> {
        let definition = Definition::of(args)?;
        let mut sweep = Sweep::of(args.out.clone(), definition)?;
        for (run, values) in sweep.runs.iter().zip(sweep.value_texts()) {
            let context = || format!("{} ({values})", run.name());
            job::check(&run.case).with_context(context).map_err(misuse)?;
            job::check_folder(&run.case).with_context(context).map_err(misuse)?;
        }
        sweep.claim(args.confidence)?;
        sweep.work = Some(sweep.lock_work(args.task.is_some())?);
        sweep.check_runs()?;
        Ok(sweep)
    }

    /// The sweep in a folder.
    pub fn in_folder(root: &Path) -> Result<Sweep> {
        let definition = Definition::read(&root.join(SWEEP))?;
        let none = || Misuse::error(format!("{} contains no sweep", root.display()));
        Sweep::of(root.into(), definition.ok_or_else(none)?)
    }

    fn of(root: PathBuf, definition: Definition) -> Result<Sweep> {
        let combinations = combinations(&definition.vary, definition.zip)?;
        let digits = combinations.len().saturating_sub(1).to_string().len().max(4);
        let mut runs = Vec::with_capacity(combinations.len());
        let mut wants_report = false;
        for (i, indices) in combinations.iter().enumerate() {
            let name = format!("run_{i:0digits$}");
            let vary = definition.vary.iter().zip(indices);
            let set: Vec<String> =
                vary.clone().map(|(vary, value)| vary.assignment(*value)).collect();
            let mut case = file::from_text(&definition.case, &set).map_err(|error| {
                let error = error.replacen("--set ", "--vary ", 1);
                Misuse::error(format!("{name} ({}): {error}", set.join(" ")))
            })?;
            let folder = Folder::at(root.join(&name));
            case.run.out = folder.root.clone();
            wants_report |= case.save.report != Reporting::Never;
            if case.save.report == Reporting::Auto {
                case.save.report = Reporting::Never;
            }
            let values = vary.map(|(vary, value)| vary.values[*value].clone()).collect();
            runs.push(SweepRun { folder, case, values });
        }
        Ok(Sweep { root, definition, runs, wants_report, work: None })
    }

    /// Refuses a second process that traces runs at the same time, unless both are tasks of an array. Where files have
    /// no locks, the locks of runs are missing, too.
    fn lock_work(&self, is_task: bool) -> Result<File> {
        let path = self.root.join(LOCK);
        let file = File::options().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        let locked = if is_task { file.try_lock_shared() } else { file.try_lock() };
        match locked {
            Err(TryLockError::WouldBlock) => Err(Misuse::error(format!(
                "another process traces the runs of the sweep in {}; wait until it ends, or start each process with \
                 runs of its own (--task)",
                self.root.display()
            ))),
            _ => Ok(file),
        }
    }

    /// Refuses folders of runs with other cases.
    pub fn check_runs(&self) -> Result<()> {
        for (run, values) in self.runs.iter().zip(self.value_texts()) {
            let text = std::fs::read_to_string(run.folder.path("case.toml")).unwrap_or_default();
            let Ok(found) = file::from_text(&text, &[]) else { continue };
            if let Some(change) = case_change::first(&found, &run.case, &[])? {
                return Err(Misuse::error(format!(
                    "{} is not the run of this sweep with {values}: {change} there; move that folder",
                    run.folder.root.display()
                )));
            }
        }
        Ok(())
    }

    /// For each run, its values as `trace.dt=0.1 walk.seed=3`.
    pub fn value_texts(&self) -> impl Iterator<Item = String> {
        self.runs.iter().map(|run| {
            let pairs = self.definition.vary.iter().zip(&run.values);
            pairs.map(|(vary, value)| format!("{}={value}", vary.key)).collect::<Vec<_>>().join(" ")
        })
    }

    /// Writes the definition into the folder, or compares it with the one that is there, and keeps its
    /// confidence unless another one is given. Several processes may do so at the same time.
    fn claim(&mut self, confidence: Option<f64>) -> Result<()> {
        let path = self.root.join(SWEEP);
        let root = self.root.display();
        if self.root.join("case.toml").exists() || self.root.join("tracks").exists() {
            return Err(Misuse::error(format!(
                "{root} contains a run; give another folder for the sweep with --out"
            )));
        }
        folder::make(&self.root)?;
        let part = self.definition.write_part(&self.root)?;
        let failed = || format!("cannot write {}", path.display());
        // A link is refused if the name is there, unlike a renamed file.
        let linked = std::fs::hard_link(&part, &path);
        std::fs::remove_file(&part).with_context(failed)?;
        match linked {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(failed),
        }
        let before = Definition::read(&path)?.unwrap_or_else(|| self.definition.clone());
        if let Some(change) = before.change(&self.definition) {
            return Err(Misuse::error(format!(
                "{root} contains another sweep: {change}; give the same command to go on with it, or another \
                 folder with --out"
            )));
        }
        let kept = before.confidence;
        self.definition = before;
        match confidence.filter(|given| *given != kept) {
            Some(given) => self.keep_confidence(given),
            None => Ok(()),
        }
    }

    /// Replaces the confidence of the definition in the folder.
    fn keep_confidence(&mut self, confidence: f64) -> Result<()> {
        let _lock = self.lock()?;
        self.definition.confidence = confidence;
        let (part, path) = (self.definition.write_part(&self.root)?, self.root.join(SWEEP));
        std::fs::rename(part, &path).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Holds off other processes that would write tables and reports of this sweep at the same time,
    /// until the file is dropped. On a file system without locks, the last one wins.
    pub fn lock(&self) -> Result<File> {
        let path = self.root.join(SWEEP);
        let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
        file.lock().ok();
        Ok(file)
    }
}

/// The error of a case as a misuse, with its context.
fn misuse(error: anyhow::Error) -> anyhow::Error {
    Misuse::error(crate::errors::chain(&error))
}

impl Definition {
    fn of(args: &SweepArgs) -> Result<Definition> {
        let mut case = file::read(&args.case, &args.set)?;
        log::warn(&case.notes);
        if let Some(device) = &args.device {
            case.run.device = device.as_str().into();
        }
        devices::only_name(&case.run.device, "a sweep")?;
        if let Some(threads) = args.threads {
            case.run.threads = threads;
        }
        // Each run has a folder of its own, and tasks may be given other numbers of threads.
        case.run.out = file::Run::default().out;
        let text = folder::case_text(&case)?;
        Ok(Definition {
            burntrace: env!("CARGO_PKG_VERSION").into(),
            case: text,
            vary: args.vary.iter().map(|text| Vary::parse(text)).collect::<Result<_>>()?,
            zip: args.zip,
            confidence: args.confidence.unwrap_or(USUAL_CONFIDENCE),
        })
    }

    /// Writes the definition to a file of this process beside its final one, and returns the path.
    fn write_part(&self, root: &Path) -> Result<PathBuf> {
        let part = root.join(format!("{SWEEP}.part-{}", std::process::id()));
        let text = format!("{}\n", serde_json::to_string_pretty(self)?);
        std::fs::write(&part, text).with_context(|| format!("cannot write {}", part.display()))?;
        Ok(part)
    }

    /// The definition in a file, if there is one.
    fn read(path: &Path) -> Result<Option<Definition>> {
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let definition = serde_json::from_str(&text).map_err(|error| {
            Misuse::error(format!(
                "{} is damaged ({error}); restore it, or start the sweep again in another folder",
                path.display()
            ))
        })?;
        Ok(Some(definition))
    }

    /// Describes the first difference from this definition that changes runs, if any.
    fn change(&self, now: &Definition) -> Option<String> {
        let list = |vary: &[Vary]| {
            let texts = vary.iter().map(|one| format!("{}={}", one.key, one.values.join(",")));
            texts.collect::<Vec<_>>().join(" ")
        };
        if self.vary != now.vary {
            let [before, now] = [list(&self.vary), list(&now.vary)];
            return Some(format!("--vary is {now} and was {before}"));
        }
        if self.zip != now.zip {
            return Some(format!("--zip is {} and was {}", now.zip, self.zip));
        }
        if self.case == now.case {
            return None;
        }
        let [before, now] = [self, now].map(|of| file::from_text(&of.case, &[]).ok());
        let change = case_change::first(&before?, &now?, &[]).ok()??;
        Some(format!("in the case, {change}"))
    }
}
