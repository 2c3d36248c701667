//! What a process does that shares a run: it claims pieces until none is left.

use super::{
    PLAN, PiecePlan, SharedStart, checkpoint, finish,
    member::{self, Member},
    parts::{Parts, Work},
    piece::PieceCommon,
    piece_length, progress,
    rank::Rank,
    worker::Worker,
};
use crate::{
    args::OutputArgs,
    case::{self, Case, Misuse},
    case_run::{self, CaseRun},
    checkpoint::{Machine, RunCheckpoint},
    errors,
    fingerprint::Fingerprint,
    folder::{self, DOMAIN, Folder},
    job, log,
    notes::Notes,
    resume,
    signals::{Signals, Stopped},
    summary, watch,
};
use anyhow::Result;
use burntrace::io;
use std::{sync::Mutex, time::Instant};

/// Shares a run with other processes: traces pieces on all devices of this process until none is left, and joins
/// them if this process is the last one.
pub fn share(
    workers: &[Worker],
    start: SharedStart,
    (fingerprint, warnings): (Fingerprint, Vec<String>),
    notes: Notes,
    output: OutputArgs,
) -> Result<()> {
    let run = &workers[0].run;
    let folder = Folder::at(&run.case.run.out);
    let rank = start.rank;
    match Sharer::enter(workers, start, (fingerprint, warnings), notes) {
        Ok(sharer) => sharer.work(output).map_err(|error| sharer.with_rest(error)),
        Err(_) if is_complete(run, &folder)? => {
            finish::remove_abandoned(&folder)?;
            let root = folder.root.display();
            notes.say("ranks", format!("the run in {root} is complete; {rank} has nothing to do"));
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Whether the folder has the complete run of this case, which other processes have finished before.
fn is_complete(run: &CaseRun, folder: &Folder) -> Result<bool> {
    let text = std::fs::read_to_string(folder.path("case.toml")).unwrap_or_default();
    let is_same = || Ok::<_, anyhow::Error>(change_of_case(run, &text)?.is_none());
    Ok(!text.is_empty() && has_completed(folder) && is_same()?)
}

/// Whether a folder has a complete run.
pub fn has_completed(folder: &Folder) -> bool {
    !folder.is_stopped()
        && folder.path("summary.json").is_file()
        && io::Tracks::open(folder.path("tracks")).is_ok()
}

/// The first key in which the case of this process differs from that of the run, if any does.
fn change_of_case(run: &CaseRun, text: &str) -> Result<Option<String>> {
    let Ok(before) = case::from_text(text, &[]) else {
        return Ok(Some("the case of the run cannot be read by this version".into()));
    };
    let fixed = |case: &Case| resume::fixed_keys(case, &[]);
    let now = run.case.clone().within(run.base);
    Ok(resume::change("", &fixed(&before)?, &fixed(&now)?))
}

/// Creates the folder of a new run, unless another process is first.
fn begin(
    run: &CaseRun,
    folder: &Folder,
    (plan, overwrites): (PiecePlan, bool),
    (fingerprint, member): (&Fingerprint, &Member),
) -> Result<()> {
    if overwrites {
        Folder::create(&folder.root, true)?;
    } else {
        let earlier = folder.refuse_earlier("remove it, or run one process with --overwrite");
        // Another rank may have started the run since this one looked.
        if earlier.is_err() && folder.is_shared() {
            return Ok(());
        }
        earlier?;
        folder::make(&folder.root)?;
    }
    let text = folder::case_text(run.case, run.base)?;
    let machine = Machine::of(run.device);
    let checkpoint = RunCheckpoint::initial(text.clone(), fingerprint.clone(), machine);
    let is_first = Parts::publish(&folder.root, plan.count(), &member.id, |new| {
        let new = Folder::at(new);
        checkpoint.write(&new, &[])?;
        new.write(PLAN, &format!("{:#}\n", serde_json::to_value(plan)?))
    })?;
    if is_first {
        let domain = job::domain(run.case, run.loaded.field.domain())?;
        folder.write(DOMAIN, &format!("{:#}\n", summary::of_domain(domain)))?;
        folder.write("case.toml", &text)?;
    }
    Ok(())
}

/// A process that shares a run.
pub struct Sharer<'a> {
    pub workers: &'a [Worker<'a>],
    /// What the pieces have in common.
    pub common: PieceCommon,
    pub parts: Parts,
    pub folder: Folder,
    pub member: Member,
    pub rank: Rank,
    pub notes: Notes,
    /// When progress was last printed.
    pub said: Mutex<Instant>,
    /// Held while a device looks for its next piece.
    pub claims: Mutex<()>,
}

/// How a process ended its share of the run.
pub enum Ending {
    /// It has joined the pieces.
    Joined(case_run::Printed),
    /// Other processes trace what is left.
    Left(Vec<(Work, String)>),
    /// Another process has joined the pieces.
    Gone,
}

impl<'a> Sharer<'a> {
    /// Starts the run, or joins the processes that share it. An error if the run is complete, too.
    fn enter(
        workers: &'a [Worker<'a>],
        start: SharedStart,
        (fingerprint, warnings): (Fingerprint, Vec<String>),
        notes: Notes,
    ) -> Result<Self> {
        let Worker { run, prepared } = &workers[0];
        let particles = prepared.count();
        let plan = PiecePlan { particles, piece: piece_length(run.case, particles) };
        let folder = Folder::at(&run.case.run.out);
        let member = Member::new(&Parts::folder(&folder.root), start.rank);
        if start.overwrites || !start.resumes && !folder.is_shared() {
            begin(run, &folder, (plan, start.overwrites), (&fingerprint, &member))?;
        }
        let checkpoint = checkpoint(&folder.root)?;
        let mut sharer = Sharer {
            workers,
            common: PieceCommon { checkpoint, plan, warnings },
            parts: Parts { root: Parts::folder(&folder.root), count: plan.count() },
            folder,
            member,
            rank: start.rank,
            notes,
            said: Mutex::new(Instant::now()),
            claims: Mutex::default(),
        };
        sharer.join(&fingerprint, start.accept_changes)?;
        Ok(sharer)
    }

    /// Checks that the run is that of this process, and joins the others.
    fn join(&mut self, fingerprint: &Fingerprint, accept_changes: bool) -> Result<()> {
        let (run, PieceCommon { checkpoint, plan, .. }) = (&self.workers[0].run, &self.common);
        let root = self.folder.root.display();
        if let Some(change) = change_of_case(run, &checkpoint.case)? {
            return Err(Misuse::error(format!(
                "{change} in the run in {root} that processes share; all of them need the same case, except for \
                 run.{}: remove the change, or give another folder with --out",
                case::Run::FREE
                    .into_iter()
                    .filter(|key| *key != "out")
                    .collect::<Vec<_>>()
                    .join(", ")
            )));
        }
        let text = std::fs::read_to_string(self.parts.root.join(PLAN)).unwrap_or_default();
        if serde_json::from_str::<PiecePlan>(&text).ok() != Some(*plan) {
            return Err(Misuse::error(format!(
                "the run in {root} has other pieces ({}) than this process ({plan:?}); use the same version and \
                 the same input data",
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            )));
        }
        let since = format!("since the run in {root} started");
        let change = checkpoint.data_change(fingerprint, accept_changes, &since)?;
        let device = run.device;
        let changes: Vec<String> = checkpoint.changes(device).into_iter().chain(change).collect();
        self.common.warnings.extend(changes);
        self.common.checkpoint.fingerprint = fingerprint.clone();
        self.member.join()?;
        log::warn(&self.common.warnings);
        for worker in self.workers {
            let device = &worker.run.device.name;
            tracing::info!(id = self.member.id, device, "{} joins", self.rank);
        }
        self.note_idle();
        Ok(())
    }

    /// Says that the run has too few pieces for all devices.
    fn note_idle(&self) {
        let (pieces, devices) = (self.parts.count, self.workers.len());
        if pieces < devices {
            self.notes.say(
                "devices",
                format!(
                    "the run has {pieces} pieces for {devices} devices; a smaller run.piece (now {}) would let all \
                     of them work",
                    self.common.plan.piece
                ),
            );
        }
    }

    /// Traces pieces until none is left.
    fn work(&self, output: OutputArgs) -> Result<()> {
        let root = self.folder.root.clone();
        let hint = move || {
            let command = Folder::at(&root).resume_command();
            format!("stopped within a segment; other ranks go on, or resume with {command}")
        };
        let has_checkpoints = watch::policy(&self.workers[0].run.case.run).is_some();
        let signals = Signals::watch(has_checkpoints.then_some(hint))?;
        match self.pieces(&signals)? {
            Ending::Joined(printed) => case_run::print_report(&printed, output),
            Ending::Left(others) => {
                self.notes.say("ranks", self.left(&others));
                Ok(())
            }
            Ending::Gone => {
                let root = self.folder.root.display();
                self.notes.say("ranks", format!("another rank has completed the run in {root}"));
                Ok(())
            }
        }
    }

    /// What is left to other processes.
    fn left(&self, others: &[(Work, String)]) -> String {
        let mut ids: Vec<&str> = others.iter().map(|(_, id)| id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        let names =
            ids.iter().take(4).map(|id| member::described(id)).collect::<Vec<_>>().join(", ");
        let more = if ids.len() > 4 { ", and others" } else { "" };
        let what = match others {
            [(Work::Join, _)] => "the pieces are being joined".into(),
            _ => format!("{} of {} pieces are being traced", others.len(), self.parts.count),
        };
        format!("nothing is left to {}: {what} by {names}{more}", self.rank)
    }

    /// Adds what is left of the run to an error.
    fn with_rest(&self, error: anyhow::Error) -> anyhow::Error {
        if error.is::<Stopped>() {
            tracing::info!("{error}");
            return error;
        }
        tracing::error!("{}", errors::chain(&error));
        let Some([done, _, all]) = progress(&self.folder.root) else { return error };
        let rest = match all - done {
            0 => "all pieces are traced, but not joined".to_string(),
            rest => format!("{rest} of {all} pieces are not complete"),
        };
        let text = format!(
            "{}; {rest}; after fixing this, resume with {} and any number of ranks",
            errors::chain(&error),
            self.folder.resume_command()
        );
        if error.is::<Misuse>() { Misuse::error(text) } else { anyhow::anyhow!(text) }
    }
}
