//! The thread that writes a store, while the run goes on.

use super::store::{Block, StoreWriter};
use crate::{Error, Result};
use burntrace_core::{DurablePosition, Ends, ParticleInstance};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

/// What may wait for the thread: with what it writes and what is being made, four blocks at most
/// are in memory.
const WAITING: usize = 2;

/// What the thread is to do.
pub(super) enum Job {
    Add(Block),
    Lives(Vec<ParticleInstance>),
    /// To make all of it durable, and say how much that is.
    Sync(SyncSender<DurablePosition>),
    End(Box<Ends>),
}

/// The thread, and the way to it.
#[derive(Debug)]
pub(super) struct Thread {
    folder: PathBuf,
    jobs: Option<SyncSender<Job>>,
    handle: Option<JoinHandle<Result<()>>>,
    /// Seconds that others have waited for it.
    pub waited: f64,
}

impl Thread {
    /// Starts a thread that writes a store.
    pub fn start(folder: &Path, store: StoreWriter) -> Result<Thread> {
        let (jobs, inbox) = sync_channel(WAITING);
        let thread = std::thread::Builder::new().name("burntrace-tracks".into());
        let handle = thread.spawn(move || work(store, &inbox));
        let handle = handle.map_err(Error::system("start a thread for", folder))?;
        Ok(Thread { folder: folder.into(), jobs: Some(jobs), handle: Some(handle), waited: 0.0 })
    }

    /// Hands something over, and waits until there is room for it.
    ///
    /// # Errors
    ///
    /// Where the thread has failed, be it at something before.
    pub fn give(&mut self, job: Job) -> Result<()> {
        let begin = Instant::now();
        let is_alive = self.handle.as_ref().is_some_and(|handle| !handle.is_finished());
        let sent =
            self.jobs.as_ref().filter(|_| is_alive).is_some_and(|jobs| jobs.send(job).is_ok());
        self.waited += begin.elapsed().as_secs_f64();
        match sent {
            true => Ok(()),
            false => self.join().and(Err(self.lost())),
        }
    }

    /// Waits until all of it is durable.
    ///
    /// # Errors
    ///
    /// As [`give`](Thread::give).
    pub fn sync(&mut self) -> Result<DurablePosition> {
        let (answer, mark) = sync_channel(1);
        self.give(Job::Sync(answer))?;
        let begin = Instant::now();
        let mark = mark.recv();
        self.waited += begin.elapsed().as_secs_f64();
        match mark {
            Ok(mark) => Ok(mark),
            Err(_) => self.join().and(Err(self.lost())),
        }
    }

    /// Waits until the store is complete.
    ///
    /// # Errors
    ///
    /// As [`give`](Thread::give).
    pub fn end(&mut self, ends: &Ends) -> Result<()> {
        self.give(Job::End(Box::new(ends.clone())))?;
        self.join()
    }

    /// Lets the thread finish what it has, and gives its result.
    fn join(&mut self) -> Result<()> {
        let begin = Instant::now();
        self.jobs = None;
        let result = self.handle.take().map(JoinHandle::join);
        self.waited += begin.elapsed().as_secs_f64();
        match result {
            Some(Ok(result)) => result,
            _ => Err(self.lost()),
        }
    }

    fn lost(&self) -> Error {
        Error::system("write", &self.folder)(std::io::Error::other(
            "the thread that writes stopped",
        ))
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // Whoever looks for a failure has called `give`, `sync` or `end`.
        let _ = self.join();
    }
}

fn work(mut store: StoreWriter, inbox: &Receiver<Job>) -> Result<()> {
    for job in inbox {
        match job {
            Job::Add(block) => store.add(&block)?,
            Job::Lives(lives) => store.add_lives(&lives)?,
            Job::Sync(answer) => {
                // Nobody may be left who waits for it.
                let _ = answer.send(store.sync()?);
            }
            Job::End(ends) => return store.end(&ends),
        }
    }
    Ok(())
}
