//! What a process does that shares a run: it claims pieces until none is left.

use super::{
    PLAN, PiecePlan, SharedStart, checkpoint, finish,
    member::{self, Member},
    parts::{Owner, Parts, Work},
    piece::PieceRun,
    piece_length, progress,
    rank::Rank,
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
use burntrace::{Prepared, io};
use std::{
    cell::Cell,
    path::PathBuf,
    time::{Duration, Instant},
};

/// Interval of progress on standard error.
const INTERVAL: Duration = Duration::from_secs(5);

/// Shares a run with other processes: traces pieces until none is left, and joins them if this process is the
/// last one.
pub fn share(
    run: &CaseRun,
    prepared: &Prepared,
    start: SharedStart,
    (fingerprint, warnings): (Fingerprint, Vec<String>),
    output: OutputArgs,
) -> Result<()> {
    let folder = Folder::at(&run.case.run.out);
    let notes = Notes { quiet: output.quiet };
    let rank = start.rank;
    match Sharer::enter(run, prepared, start, (fingerprint, warnings), notes) {
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
    plan: PiecePlan,
    (fingerprint, member): (&Fingerprint, &Member),
) -> Result<()> {
    let earlier = folder.refuse_earlier("remove it, or run one process with --overwrite");
    // Another rank may have started the run since this one looked.
    if earlier.is_err() && folder.is_shared() {
        return Ok(());
    }
    earlier?;
    folder::make(&folder.root)?;
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
struct Sharer<'a> {
    piece: PieceRun<'a>,
    parts: Parts,
    folder: Folder,
    member: Member,
    rank: Rank,
    notes: Notes,
    /// When progress was last printed.
    said: Cell<Instant>,
}

/// How a process ended its share of the run.
enum Ending {
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
        run: &'a CaseRun<'a>,
        prepared: &'a Prepared<'a>,
        start: SharedStart,
        (fingerprint, warnings): (Fingerprint, Vec<String>),
        notes: Notes,
    ) -> Result<Self> {
        let particles = prepared.count();
        let plan = PiecePlan { particles, piece: piece_length(run.case, particles) };
        let folder = Folder::at(&run.case.run.out);
        let member = Member::new(&Parts::folder(&folder.root), start.rank);
        if !start.resumes && !folder.is_shared() {
            begin(run, &folder, plan, (&fingerprint, &member))?;
        }
        let checkpoint = checkpoint(&folder.root)?;
        let mut sharer = Sharer {
            piece: PieceRun { run, prepared, checkpoint, plan, warnings },
            parts: Parts { root: Parts::folder(&folder.root), count: plan.count() },
            folder,
            member,
            rank: start.rank,
            notes,
            said: Cell::new(Instant::now()),
        };
        sharer.join(&fingerprint, start.accept_changes)?;
        Ok(sharer)
    }

    /// Checks that the run is that of this process, and joins the others.
    fn join(&mut self, fingerprint: &Fingerprint, accept_changes: bool) -> Result<()> {
        let PieceRun { run, checkpoint, plan, .. } = &self.piece;
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
        self.piece.warnings.extend(changes);
        self.piece.checkpoint.fingerprint = fingerprint.clone();
        self.member.join()?;
        log::warn(&self.piece.warnings);
        tracing::info!(id = self.member.id, device = device.name, "{} joins", self.rank);
        Ok(())
    }

    /// Traces pieces until none is left.
    fn work(&self, output: OutputArgs) -> Result<()> {
        let root = self.folder.root.clone();
        let hint = move || {
            let command = Folder::at(&root).resume_command();
            format!("stopped within a segment; other ranks go on, or resume with {command}")
        };
        let has_checkpoints = watch::policy(&self.piece.run.case.run).is_some();
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

    fn pieces(&self, signals: &Signals) -> Result<Ending> {
        loop {
            self.refuse_stopped(signals)?;
            let Some(owners) = self.parts.owners()? else { return Ok(Ending::Gone) };
            let pieces = &owners[..self.parts.count];
            let is_done = |(_, owner): &(Work, Owner)| *owner == Owner::Done;
            let works = match pieces.iter().all(is_done) {
                true => &owners[self.parts.count..],
                false => pieces,
            };
            match self.claim(works)? {
                Some((Work::Join, _)) => return self.finish().map(Ending::Joined),
                Some((Work::Piece(number), folder)) => {
                    self.trace(number, &Folder::at(folder), signals)?;
                }
                None => {
                    let others = works.iter().filter_map(|(work, owner)| match owner {
                        Owner::Process(id) => Some((*work, id.clone())),
                        _ => None,
                    });
                    let others: Vec<_> = others.collect();
                    // All were taken since they were listed: look again.
                    if others.is_empty() || works.iter().any(|(_, owner)| *owner == Owner::Nobody) {
                        continue;
                    }
                    return Ok(Ending::Left(others));
                }
            }
        }
    }

    /// Claims a free piece of work, or one of a process that has ended.
    fn claim(&self, works: &[(Work, Owner)]) -> Result<Option<(Work, PathBuf)>> {
        // Ranks start at different pieces, so that they seldom try the same one.
        let first = self.rank.index * works.len() / self.rank.count;
        let (before, after) = works.split_at(first);
        for (work, owner) in after.iter().chain(before) {
            if *owner == Owner::Nobody
                && let Some(folder) = self.parts.claim(*work, owner, &self.member)?
            {
                return Ok(Some((*work, folder)));
            }
        }
        for (work, owner) in works {
            if let Owner::Process(id) = owner
                && *id != self.member.id
                && self.member.has_ended(id)
                && let Some(folder) = self.parts.claim(*work, owner, &self.member)?
            {
                tracing::warn!(?work, id, "takes over");
                let id = member::described(id);
                self.notes
                    .say("ranks", format!("{} takes over from {id}, which has ended", self.rank));
                return Ok(Some((*work, folder)));
            }
        }
        Ok(None)
    }

    /// Traces a claimed piece.
    fn trace(&self, number: usize, folder: &Folder, signals: &Signals) -> Result<()> {
        let work = Work::Piece(number);
        match self.piece.trace(number, folder, signals, &self.member.id) {
            Ok(()) => {
                self.parts.give(work, &self.member, &Owner::Done)?;
                tracing::info!(number, "piece is done");
                self.note_progress();
                Ok(())
            }
            Err(error) => {
                // Others go on from its checkpoint.
                if let Err(lost) = self.parts.give(work, &self.member, &Owner::Nobody) {
                    tracing::error!("{}", errors::chain(&lost));
                }
                Err(error)
            }
        }
    }

    /// Prints the number of complete pieces, every few seconds.
    fn note_progress(&self) {
        if self.said.get().elapsed() < INTERVAL {
            return;
        }
        self.said.set(Instant::now());
        if let Some([done, claimed, all]) = progress(&self.folder.root) {
            let text =
                format!("{}: {done} of {all} pieces are done, {claimed} in progress", self.rank);
            self.notes.say("ranks", text);
        }
    }

    fn finish(&self) -> Result<case_run::Printed> {
        let joined =
            finish::Finish { piece: &self.piece, parts: &self.parts, folder: &self.folder };
        joined.complete(&self.member).inspect_err(|_| {
            self.parts.give(Work::Join, &self.member, &Owner::Nobody).ok();
        })
    }

    fn refuse_stopped(&self, signals: &Signals) -> Result<()> {
        match signals.code() {
            None => Ok(()),
            Some(code) => {
                let text = format!("stopped; resume with {}", self.folder.resume_command());
                Err(Stopped { code, text }.into())
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
