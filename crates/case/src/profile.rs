//! A trace of phases that Perfetto and Chrome open, and a table of them, with the growth of the process's memory and the times
//! of kernels on graphics cards.
//!
//! Phases are spans of `burntrace::phase!`. A layer of a subscriber of `tracing` keeps their times; without
//! one, the spans are disabled.

mod kernels;
mod resident;

use crate::{file::Misuse, library::Error};
use anyhow::{Context as _, Result};
use burntrace_core::device::{KernelTime, KernelWatch};
use burntrace_core::program::PHASE;
use burntrace_io as io;
use resident::resident;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;
use tracing::{Subscriber, span::Id};
use tracing_subscriber::{
    Layer, filter::filter_fn, layer::Context, layer::SubscriberExt, registry::LookupSpan,
};

/// Maximum number of phases that a trace holds: 48 bytes each in memory, 90 in the file.
const MAX_EVENTS: usize = 4_000_000;

/// The name of the span around the whole run; in the table, what is in no other phase.
const WHOLE: &str = "run";

/// A phase that has ended. Times are in nanoseconds since the start of the profile.
#[derive(Clone, Copy)]
struct Event {
    name: &'static str,
    thread: u32,
    start: u64,
    duration: u64,
    /// Resident bytes of the process at its end.
    resident: u64,
}

/// A phase in progress.
#[derive(Clone, Copy)]
struct Open {
    name: &'static str,
    start: u64,
    /// Resident bytes of the process at its start.
    resident: u64,
    /// Of the phases in it that have ended.
    inner: Change,
}

/// How long it took, and by how many bytes the process grew.
#[derive(Clone, Copy, Default)]
struct Change {
    nanoseconds: u64,
    bytes: i64,
}

impl Change {
    fn add(&mut self, other: Change) {
        self.nanoseconds += other.nanoseconds;
        self.bytes += other.bytes;
    }

    fn without(self, inner: Change) -> Change {
        Change {
            nanoseconds: self.nanoseconds - inner.nanoseconds,
            bytes: self.bytes - inner.bytes,
        }
    }
}

impl Open {
    /// What has changed since its start.
    fn until(&self, (now, resident): (u64, u64)) -> Change {
        Change { nanoseconds: now - self.start, bytes: resident as i64 - self.resident as i64 }
    }
}

/// The number of phases of one name on one thread, and what changed in them, without the phases in them.
#[derive(Clone, Copy, Default)]
struct Total {
    count: u64,
    change: Change,
}

/// The times of all phases so far.
#[derive(Default)]
struct Record {
    events: Vec<Event>,
    /// Events that a trace has no space for.
    dropped: u64,
    totals: BTreeMap<(u32, &'static str), Total>,
    /// Those before the run of a sweep whose table is next.
    before: BTreeMap<(u32, &'static str), Total>,
    threads: BTreeMap<u32, String>,
    /// The kernels before that run.
    kernels_before: Vec<KernelTime>,
}

struct Profile {
    path: PathBuf,
    /// The rank of this process among several.
    rank: Option<usize>,
    start: Instant,
    record: Mutex<Record>,
    kernels: KernelWatch,
}

static PROFILE: OnceLock<Profile> = OnceLock::new();
static THREADS: AtomicU32 = AtomicU32::new(1);

thread_local! {
    static STACK: RefCell<Vec<Open>> = const { RefCell::new(Vec::new()) };
    static THREAD: u32 = THREADS.fetch_add(1, Ordering::Relaxed);
}

impl Profile {
    fn now(&self) -> (u64, u64) {
        (self.start.elapsed().as_nanos() as u64, resident())
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The layer that keeps the times of phases.
pub struct PhaseLayer;

/// Whether a span is a phase.
pub fn is_phase(metadata: &tracing::Metadata<'_>) -> bool {
    metadata.target() == PHASE
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for PhaseLayer {
    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let (Some(profile), Some(metadata)) = (PROFILE.get(), context.metadata(id)) else { return };
        let ((start, resident), inner) = (profile.now(), Change::default());
        let open = Open { name: metadata.name(), start, resident, inner };
        STACK.with_borrow_mut(|stack| stack.push(open));
    }

    fn on_exit(&self, _: &Id, _: Context<'_, S>) {
        let Some(profile) = PROFILE.get() else { return };
        let now = profile.now();
        let ended = STACK.with_borrow_mut(|stack| {
            let ended = stack.pop()?;
            if let Some(outer) = stack.last_mut() {
                outer.inner.add(ended.until(now));
            }
            Some(ended)
        });
        let Some(open) = ended else { return };
        let (thread, all) = (THREAD.with(|thread| *thread), open.until(now));
        let Open { name, start, inner, .. } = open;
        let mut record = profile.record();
        let total = record.totals.entry((thread, name)).or_default();
        total.count += 1;
        total.change.add(all.without(inner));
        record.threads.entry(thread).or_insert_with(thread_name);
        let (duration, resident) = (all.nanoseconds, now.1);
        match record.events.len() < MAX_EVENTS {
            true => record.events.push(Event { name, thread, start, duration, resident }),
            false => record.dropped += 1,
        }
    }
}

fn thread_name() -> String {
    std::thread::current().name().unwrap_or("unnamed").into()
}

/// Starts the profile of this process, to be written to a file, or if it is one of several ranks to a file with its number in the name.
pub fn start(path: &Path, rank: Option<usize>) -> Result<()> {
    let path = &rank.map_or_else(|| path.to_owned(), |rank| of_rank(path, rank));
    // Refused before the run, not after it.
    if !path.is_file() {
        io::write_text_beside(path, "")?;
    }
    let (path, start) = (path.into(), Instant::now());
    let (record, kernels) = (Mutex::default(), KernelWatch::new());
    let profile = Profile { path, rank, start, record, kernels };
    if PROFILE.set(profile).is_err() {
        return Err(Misuse::error("a process has one profile, and it has been started already"));
    }
    Ok(())
}

/// `trace.json` of rank 2 is `trace.2.json`.
fn of_rank(path: &Path, rank: usize) -> PathBuf {
    match path.extension() {
        Some(kind) => path.with_extension(format!("{rank}.{}", kind.display())),
        None => path.with_extension(rank.to_string()),
    }
}

/// Starts the table of another run in the same process, as a sweep has them.
pub fn begin_run() {
    if let Some(profile) = PROFILE.get() {
        let kernels = profile.kernels.times();
        let mut record = profile.record();
        record.before = record.totals.clone();
        record.kernels_before = kernels;
    }
}

/// Whether there is a profile of this process.
pub fn is_started() -> bool {
    PROFILE.get().is_some()
}

/// The phases so far: seconds and growth in bytes on each thread without the phases in them, and how many there were. On the
/// thread that calls this, they add up to `seconds`, the time since the start of the run, and to `growth`. `None` without
/// a profile. On graphics cards, the kernels with their times, and how many launches there were.
pub fn table() -> Option<Value> {
    let profile = PROFILE.get()?;
    let kernels = profile.kernels.times();
    let now = profile.now();
    let record = profile.record();
    let mut totals = record.totals.clone();
    for (of, before) in &record.before {
        if let Some(total) = totals.get_mut(of) {
            total.count -= before.count;
            total.change = total.change.without(before.change);
        }
    }
    totals.retain(|_, total| total.count > 0);
    let own = THREAD.with(|thread| *thread);
    let mut threads = record.threads.clone();
    threads.entry(own).or_insert_with(thread_name);
    let mut whole = Change::default();
    STACK.with_borrow(|stack| {
        whole = stack.first().map_or(whole, |open| open.until(now));
        for (i, open) in stack.iter().enumerate() {
            let in_progress = stack.get(i + 1).map_or(Change::default(), |next| next.until(now));
            let total = totals.entry((own, open.name)).or_default();
            total.count += 1;
            total.change.add(open.until(now).without(open.inner).without(in_progress));
        }
    });
    let mut phases: Vec<_> = totals.into_iter().collect();
    phases.sort_by_key(|((thread, _), total)| {
        (*thread != own, *thread, u64::MAX - total.change.nanoseconds)
    });
    let phase = |((thread, name), total): ((u32, &str), Total)| {
        json!({
            "thread": threads.get(&thread),
            "phase": if name == WHOLE { "other" } else { name },
            "count": total.count,
            "seconds": seconds(total.change.nanoseconds),
            "growth": total.change.bytes,
        })
    };
    let phases: Vec<Value> = phases.into_iter().map(phase).collect();
    Some(json!({
        "file": profile.path, "rank": profile.rank, "seconds": seconds(whole.nanoseconds), "growth": whole.bytes, "phases": phases,
        "kernels": kernels::since(kernels, &record.kernels_before),
    }))
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// Runs a function of the program, such as a [run of a case](crate::file::Case::run) or a training loop, and writes a trace of the
/// phases of all runs in it to a file that [Perfetto](https://ui.perfetto.dev) and Chrome open. Phases of the program itself are spans
/// of `burntrace::phase!`. Once in a process.
///
/// # Errors
///
/// If the file cannot be written, or there is a profile or a subscriber of `tracing` already.
///
/// ```
/// use burntrace_case::{file::Case, profile::profile};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let (out, trace) = (folder.path().join("gyre"), folder.path().join("trace.json"));
/// let case = Case::from_toml(
///     r#"
///     field = { flow = "double-gyre" }
///     seeds = { kind = "uniform", count = 100 }
///     trace = { dt = 0.1, t1 = 1.0 }
///     "#,
/// )?;
/// let run = profile(&trace, || {
///     let _phase = burntrace_core::phase!("my runs");
///     case.run(&out)
/// })??;
/// assert!(run.json["profile"]["phases"].is_array());
/// assert!(std::fs::read_to_string(&trace)?.contains("my runs"));
/// # Ok(())
/// # }
/// ```
pub fn profile<T>(path: impl AsRef<Path>, run: impl FnOnce() -> T) -> Result<T, Error> {
    start(path.as_ref(), None)?;
    let phases = PhaseLayer.with_filter(filter_fn(is_phase));
    let subscriber = tracing_subscriber::registry().with(phases);
    tracing::subscriber::set_global_default(subscriber).map_err(|_| {
        Error::Invalid(
            "the program has a subscriber of `tracing` already; call `profile` before it is set"
                .into(),
        )
    })?;
    let value = {
        let _phase = burntrace_core::phase!("run");
        run()
    };
    match write()? {
        Some(problem) => {
            tracing::warn!("{problem}");
            Ok(value)
        }
        None => Ok(value),
    }
}

/// Writes the trace in the JSON format of Chrome, which Perfetto opens. Returns what it lacks, if anything.
pub fn write() -> Result<Option<String>> {
    let Some(profile) = PROFILE.get() else { return Ok(None) };
    let record = profile.record();
    let path = profile.path.display();
    io::write_beside(&profile.path, |part| {
        fill(part, &record, profile.rank).with_context(|| format!("cannot write {path}"))
    })?;
    let problem = format!(
        "{path} lacks the last {} phases: a trace holds up to {MAX_EVENTS}; the table of the summary counts all",
        record.dropped
    );
    Ok((record.dropped > 0).then_some(problem))
}

fn fill(path: &Path, record: &Record, rank: Option<usize>) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    // Of different ranks in one view.
    let pid = 1 + rank.unwrap_or(0);
    let name = rank.map_or_else(|| "burntrace".into(), |rank| format!("burntrace, rank {rank}"));
    let process = json!({
        "name": "process_name", "cat": "__metadata", "ph": "M", "pid": pid, "tid": 0, "ts": 0, "args": { "name": name },
    });
    write!(out, "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{process}")?;
    for (thread, name) in &record.threads {
        let named = json!({
            "name": "thread_name", "cat": "__metadata", "ph": "M", "pid": pid, "tid": thread, "ts": 0, "args": { "name": name },
        });
        write!(out, ",\n{named}")?;
    }
    let mut last = 0;
    for Event { name, thread, start, duration, resident } in &record.events {
        let [end, start, duration] =
            [start + duration, *start, *duration].map(|time| time as f64 / 1e3);
        write!(
            out,
            ",\n{{\"name\":\"{name}\",\"cat\":\"phase\",\"ph\":\"X\",\"pid\":{pid},\"tid\":{thread},\
             \"ts\":{start:.3},\"dur\":{duration:.3}}}"
        )?;
        if *resident != last {
            let megabytes = *resident as f64 / 1e6;
            write!(
                out,
                ",\n{{\"name\":\"memory\",\"ph\":\"C\",\"pid\":{pid},\"tid\":0,\"ts\":{end:.3},\
                 \"args\":{{\"MB\":{megabytes:.3}}}}}"
            )?;
            last = *resident;
        }
    }
    writeln!(out, "\n]}}")?;
    out.flush()
}
