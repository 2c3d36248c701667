//! What a process does that shares a run: it traces its pieces on all of its devices, and joins all if it is the last one.

use super::{
    checkpoint, finish,
    parts::{self, PiecePlan},
    rank::Rank,
};
use crate::{
    console::{self, Console, Hint, Interrupts},
    errors,
    file::{self, Misuse},
    folder::{self, Folder},
    job,
    run::{
        CaseRun, Fingerprint, Machine, Printed, RunCheckpoint, Stopped, case_change,
        checkpoint_policy, interrupted, open_log,
    },
};
use anyhow::Result;
use burntrace_core::Prepared;
use burntrace_io as io;
use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64},
    },
    time::{Duration, Instant},
};

/// Interval of progress on standard error.
const INTERVAL: Duration = Duration::from_secs(5);

/// How a process starts to share a run.
pub struct SharedStart {
    /// The number of the process, and their count.
    pub rank: Rank,
    /// Whether an earlier run in the folder is replaced.
    pub overwrites: bool,
    /// Whether the run must have started already.
    pub resumes: bool,
    /// Whether input files may have changed since the run started.
    pub accept_changes: bool,
}

impl SharedStart {
    /// For a run that this process or another one starts.
    pub fn new(rank: Rank) -> Self {
        SharedStart { rank, overwrites: false, resumes: false, accept_changes: false }
    }
}

/// The run on one device.
pub struct Worker<'a> {
    pub run: CaseRun<'a>,
    pub prepared: Prepared<'a>,
    /// Whether it has not traced a piece.
    pub is_fresh: AtomicBool,
}

/// A process that shares a run.
pub struct Sharer<'a> {
    pub workers: &'a [Worker<'a>],
    pub folder: Folder,
    pub plan: PiecePlan,
    /// The checkpoint before the first step.
    pub checkpoint: RunCheckpoint,
    pub rank: Rank,
    /// The machine and the number of this process.
    pub process: String,
    /// Warnings of this process.
    pub warnings: Vec<String>,
    /// Bytes of frames in the reports of its pieces.
    pub read: AtomicU64,
    pub console: &'a dyn Console,
    /// Whether it joins the pieces if the process that began to do so has ended.
    takes_over: bool,
}

/// The pieces that a process has not begun.
struct Pieces {
    left: Vec<usize>,
    count: usize,
    /// When progress was last printed.
    said: Instant,
}

/// Shares a run with other processes: traces the pieces of this process on all of its devices, and joins all pieces if it
/// is the last one. Returns the output of a run that is complete by it.
pub fn share(
    workers: &[Worker],
    start: SharedStart,
    (fingerprint, warnings): (Fingerprint, Vec<String>),
    console: &dyn Console,
) -> Result<Option<Printed>> {
    let run = &workers[0].run;
    let folder = Folder::at(&run.case.run.out);
    let rank = start.rank;
    match Sharer::enter(workers, start, (fingerprint, warnings), console) {
        Ok(sharer) => sharer.work().map_err(|error| interrupted(error, &folder, sharer.rest())),
        Err(_) if is_complete(run, &folder)? => {
            finish::remove_parts(&folder, console)?;
            let root = folder.root.display();
            let text = format!("the run in {root} is complete; {rank} has nothing to do");
            console.say("ranks", &text);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether the folder has the complete run of this case, which other processes have finished before.
fn is_complete(run: &CaseRun, folder: &Folder) -> Result<bool> {
    let text = std::fs::read_to_string(folder.path("case.toml")).unwrap_or_default();
    Ok(!text.is_empty() && has_completed(folder) && change_of_case(run, &text)?.is_none())
}

/// Whether a folder has a complete run.
pub fn has_completed(folder: &Folder) -> bool {
    !folder.is_stopped()
        && folder.path("summary.json").is_file()
        && io::Tracks::open(folder.path("tracks")).is_ok()
}

/// The first key in which the case of this process differs from that of the run, if any does.
fn change_of_case(run: &CaseRun, text: &str) -> Result<Option<String>> {
    let Ok(before) = file::from_text(text, &[]) else {
        return Ok(Some("the case of the run cannot be read by this version".into()));
    };
    case_change::first(&before, run.case, &[])
}

impl<'a> Sharer<'a> {
    /// Starts the run, or joins the processes that share it. An error if the run is complete, too.
    fn enter(
        workers: &'a [Worker<'a>],
        start: SharedStart,
        (fingerprint, warnings): (Fingerprint, Vec<String>),
        console: &'a dyn Console,
    ) -> Result<Self> {
        let Worker { run, prepared, .. } = &workers[0];
        let (rank, particles) = (start.rank, prepared.count());
        let plan = PiecePlan { particles, piece: job::piece_length(run.case, particles) };
        let folder = Folder::at(&run.case.run.out);
        if start.overwrites || !start.resumes && !folder.is_shared() {
            begin(run, &folder, (plan, start.overwrites), &fingerprint, rank)?;
        }
        let checkpoint = checkpoint(&folder)?;
        let host = sysinfo::System::host_name().unwrap_or_else(|| "unknown".into());
        let process = format!("{host}+{}", std::process::id());
        let takes_over = rank.index == 0 && parts::join_lock(&folder).exists();
        let read = AtomicU64::new(0);
        let mut sharer = Sharer {
            workers,
            folder,
            plan,
            checkpoint,
            rank,
            process,
            warnings,
            read,
            console,
            takes_over,
        };
        sharer.check(&fingerprint, start.accept_changes)?;
        open_log(&sharer.folder.rank_log(rank.index), console)?;
        console::warn(console, &sharer.warnings);
        for worker in workers {
            let device = &worker.run.device.name;
            tracing::info!(process = sharer.process, device, "{rank} joins");
        }
        sharer.note_idle();
        Ok(sharer)
    }

    /// Checks that the run is that of this process.
    fn check(&mut self, fingerprint: &Fingerprint, accept_changes: bool) -> Result<()> {
        let root = self.folder.root.display();
        if let Some(change) = change_of_case(&self.workers[0].run, &self.checkpoint.case)? {
            let free: Vec<&str> = file::Run::FREE.into_iter().filter(|key| *key != "out").collect();
            return Err(Misuse::error(format!(
                "{change} in the run in {root} that processes share; all of them need the same case, except for \
                 run.{}: remove the change, or give another folder with --out",
                free.join(", ")
            )));
        }
        let found = PiecePlan::read(&self.folder);
        if found != Some(self.plan) {
            let found = found.map_or("unknown".into(), |plan| format!("{plan:?}"));
            return Err(Misuse::error(format!(
                "the run in {root} has other pieces ({found}) than this process ({:?}); use the same version and \
                 the same input data",
                self.plan
            )));
        }
        let since = format!("since the run in {root} started");
        let change = self.checkpoint.data_change(fingerprint, accept_changes, &since)?;
        let device = self.workers[0].run.device;
        self.warnings.extend(self.checkpoint.changes(device).into_iter().chain(change));
        self.checkpoint.fingerprint = fingerprint.clone();
        Ok(())
    }

    /// Says that the run has too few pieces for all devices or ranks.
    fn note_idle(&self) {
        let (pieces, devices, ranks) = (self.plan.count(), self.workers.len(), self.rank.count);
        if pieces < devices * ranks {
            let of =
                if ranks == 1 { format!("{devices} devices") } else { format!("{ranks} ranks") };
            self.console.say(
                if ranks == 1 { "devices" } else { "ranks" },
                &format!(
                    "the run has {pieces} pieces for {of}; a smaller run.piece (now {}) would let all of them work",
                    self.plan.piece
                ),
            );
        }
    }

    /// Traces the pieces of this process, and joins all pieces if no other process has some left.
    fn work(&self) -> Result<Option<Printed>> {
        let command = self.folder.resume_command();
        let text = format!("stopped within a segment; resume with {command}");
        let hint: Hint = Box::new(move || text.clone());
        let policy = checkpoint_policy(&self.workers[0].run.case.run);
        let interrupts = self.console.interrupts(policy.map(|_| hint))?;
        let count = self.plan.count();
        if let Some(done) = parts::done(&self.folder)? {
            let own = (self.rank.index..count).step_by(self.rank.count);
            self.trace(own.filter(|number| !done.contains(number)).rev().collect(), &*interrupts)?;
        }
        let (rank, root) = (self.rank, self.folder.root.display());
        let left = parts::done(&self.folder)?.map(|done| count - done.len());
        let note = match left {
            None => format!("another rank has completed the run in {root}"),
            Some(0) => match parts::begin_join(&self.folder, self.takes_over) {
                Some(_lock) => return self.finish().map(Some),
                None => format!(
                    "{rank} has nothing left to do: another one joins the pieces; if it has ended, resume with {command}"
                ),
            },
            Some(left) => format!(
                "{rank} has traced its pieces; {left} of {count} are left to other ranks, and the last one joins \
                 them; if those have ended, resume with {command}"
            ),
        };
        self.console.say("ranks", &note);
        Ok(None)
    }

    /// Traces pieces on all devices. Those that fail leave their pieces to the others.
    fn trace(&self, left: Vec<usize>, interrupts: &dyn Interrupts) -> Result<()> {
        let pieces = &Mutex::new(Pieces { count: left.len(), left, said: Instant::now() });
        let mut devices: Vec<usize> = (0..self.workers.len()).collect();
        loop {
            let traced: Vec<(usize, Result<()>)> = std::thread::scope(|scope| {
                let start = |device| {
                    scope.spawn(move || (device, self.trace_on(device, pieces, interrupts)))
                };
                let threads: Vec<_> = devices.drain(..).map(start).collect();
                let joined = threads.into_iter().map(|thread| thread.join());
                joined
                    .map(|of| of.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                    .collect()
            });
            let mut failure = None;
            for (device, traced) in traced {
                match traced {
                    Ok(()) => devices.push(device),
                    Err(error) => {
                        self.note_failure(device, &error);
                        failure.get_or_insert(error);
                    }
                }
            }
            match failure {
                Some(error) if error.is::<Stopped>() || devices.is_empty() => return Err(error),
                // The piece of a device that has failed is left.
                Some(_) => {}
                None => return Ok(()),
            }
        }
    }

    /// Traces pieces on a device until none is left.
    fn trace_on(
        &self,
        device: usize,
        pieces: &Mutex<Pieces>,
        interrupts: &dyn Interrupts,
    ) -> Result<()> {
        let lock = || pieces.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(code) = interrupts.code() {
                let text = format!("stopped; resume with {}", self.folder.resume_command());
                return Err(Stopped { code, text }.into());
            }
            let Some(number) = lock().left.pop() else { return Ok(()) };
            let traced = self.trace_piece(number, device, interrupts);
            let mut pieces = lock();
            if let Err(error) = traced {
                pieces.left.push(number);
                return Err(error);
            }
            if pieces.said.elapsed() > INTERVAL {
                pieces.said = Instant::now();
                let Pieces { left, count, .. } = &*pieces;
                let [taken, rank] = [count - left.len(), self.rank.index];
                let text =
                    format!("rank {rank}: {taken} of {count} pieces are done or in progress");
                self.console.say("ranks", &text);
            }
        }
    }

    /// Says that a device has failed and others go on.
    fn note_failure(&self, worker: usize, error: &anyhow::Error) {
        if self.workers.len() == 1 || error.is::<Stopped>() {
            return;
        }
        let device = &self.workers[worker].run.device.name;
        let text = format!("{device} fails and leaves its piece: {}", errors::chain(error));
        tracing::error!("{text}");
        self.console.say("devices", &text);
    }

    /// Says what is left of the run.
    fn rest(&self) -> Option<String> {
        let [done, all] = parts::progress(&self.folder)?;
        Some(match all - done {
            0 => "all pieces are traced, but not joined".into(),
            rest => format!("{rest} of {all} pieces are not complete"),
        })
    }
}

/// Creates the folder of a new run, unless another process is first.
fn begin(
    run: &CaseRun,
    folder: &Folder,
    (plan, overwrites): (PiecePlan, bool),
    fingerprint: &Fingerprint,
    rank: Rank,
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
    let text = folder::case_text(run.case)?;
    let machine = Machine::of(run.device);
    let checkpoint = RunCheckpoint::initial(text.clone(), fingerprint.clone(), machine);
    if parts::publish(folder, plan, rank, |new| checkpoint.write(new, &[]).map(drop))? {
        run.write_domain(folder)?;
        folder.write("case.toml", &text)?;
    }
    Ok(())
}
