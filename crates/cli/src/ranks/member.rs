//! The processes that share a run: how one knows that another one has ended.
//!
//! Each process has a log in the folder `ranks`, which it locks until it ends, and a file beside it that it
//! writes again every few seconds. On one machine the lock tells at once. Between machines locks may not
//! work (on Lustre without `flock`, on NFS without a lock server): there, a process is taken for ended if
//! its lock is free and its file has not changed for half a minute.

use super::rank::Rank;
use crate::log::{self, LockState};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Interval between two beats of a process.
const BEAT: Duration = Duration::from_secs(5);

/// A process without a beat for this time is taken for ended.
const SILENCE: Duration = Duration::from_secs(30);

/// Name of the folder of logs.
pub const FOLDER: &str = "ranks";

/// This process, among those that share a run.
pub struct Member {
    /// Its name: rank, machine, process and time of its start. No other process has it.
    pub id: String,
    host: String,
    folder: PathBuf,
}

impl Member {
    /// This process, for the folder of the pieces of a run.
    pub fn new(parts: &Path, rank: Rank) -> Member {
        let folder = parts.join(FOLDER);
        let host = host();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = format!("{:05}+{host}+{}+{:x}", rank.index, std::process::id(), since.as_micros());
        Member { id, host, folder }
    }

    /// The log of this process.
    pub fn log(&self) -> PathBuf {
        self.folder.join(&self.id)
    }

    /// Joins the processes of the run: locks its log, and starts a thread that beats until the process ends.
    pub fn join(&self) -> Result<()> {
        log::to_file(&self.log())?;
        let path = beat_of(&self.folder, &self.id);
        let thread = std::thread::Builder::new().name("burntrace beat".into());
        thread.spawn(move || {
            // The folder vanishes when the run is complete.
            for count in 0_u64.. {
                if std::fs::write(&path, count.to_string()).is_err() && !path.exists() {
                    return;
                }
                std::thread::sleep(BEAT);
            }
        })?;
        Ok(())
    }

    /// Whether another process has ended. Waits for its beat where its lock does not tell.
    pub fn has_ended(&self, id: &str) -> bool {
        match log::state(&self.folder.join(id)) {
            LockState::Locked => false,
            LockState::Free if host_of(id) == self.host => true,
            LockState::Free | LockState::Unknown => is_silent(&beat_of(&self.folder, id)),
        }
    }
}

/// The logs of all processes, in the order of their names.
pub fn logs(parts: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parts.join(FOLDER)).into_iter().flatten().flatten();
    let is_log = |path: &PathBuf| path.extension().is_none_or(|extension| extension != "beat");
    let mut logs: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_log).collect();
    logs.sort();
    logs
}

/// Whether any process of a run in a folder is at work, judged by its lock.
pub fn is_any_at_work(parts: &Path) -> bool {
    logs(parts).iter().any(|log| log::is_locked(log))
}

/// A process as messages name it.
pub fn described(id: &str) -> String {
    let mut parts = id.split('+');
    let mut next = || parts.next().unwrap_or_default();
    let (rank, host, process) = (next(), next(), next());
    let rank = rank.parse::<usize>().map_or_else(|_| rank.into(), |rank| rank.to_string());
    format!("rank {rank} (process {process} on {host})")
}

/// The rank in the name of a process.
pub fn rank_of(id: &str) -> Option<usize> {
    id.split('+').next()?.parse().ok()
}

fn beat_of(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.beat"))
}

/// Whether a file does not change for some time.
fn is_silent(path: &Path) -> bool {
    // Opened again each time: NFS compares an opened file with that of the server.
    let read = || std::fs::read(path).ok();
    let (first, start) = (read(), Instant::now());
    while start.elapsed() < SILENCE {
        std::thread::sleep(Duration::from_secs(1));
        if read() != first {
            return false;
        }
    }
    true
}

/// The name of this machine and of its current boot, in letters for file names.
fn host() -> String {
    let name = sysinfo::System::host_name().unwrap_or_else(|| "unknown".into());
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let boot: String = boot.chars().take(8).collect();
    let is_safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let name: String = name.chars().map(|c| if is_safe(c) { c } else { '-' }).take(60).collect();
    if boot.is_empty() { name } else { format!("{name}-{boot}") }
}

fn host_of(id: &str) -> &str {
    id.split('+').nth(1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_rank_machine_and_process() {
        let id = "00003+node-7.cluster-1a2b3c4d+4711+5f";
        assert_eq!(described(id), "rank 3 (process 4711 on node-7.cluster-1a2b3c4d)");
        assert_eq!((rank_of(id), host_of(id)), (Some(3), "node-7.cluster-1a2b3c4d"));
        assert!(!host().contains(['+', '@', '/']));
    }

    #[cfg(unix)]
    #[test]
    fn process_on_this_machine_has_ended_when_its_lock_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FOLDER);
        std::fs::create_dir(&path).unwrap();
        let member = Member { id: "me".into(), host: host(), folder: path.clone() };
        let other = format!("00001+{}+1+0", host());
        let file = std::fs::File::create(path.join(&other)).unwrap();
        file.lock().unwrap();
        assert!(!member.has_ended(&other) && is_any_at_work(folder.path()));
        drop(file);
        assert!(member.has_ended(&other) && !is_any_at_work(folder.path()));
    }
}
