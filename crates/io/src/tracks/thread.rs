//! The thread that writes a store while the run continues.

use super::store::{Block, StoreWriter};
use crate::{Error, Result};
use burntrace_core::{Crossing, DurablePosition, Ends, ParticleInstance};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

/// Number of jobs in the queue. With the block being written and the one being prepared, at most
/// four blocks are in memory.
const QUEUE_LENGTH: usize = 2;

/// A job of the thread.
pub(super) enum Job {
    /// Release positions of seeds.
    Releases(Vec<[f64; 3]>),
    Add(Block),
    Instances(Vec<ParticleInstance>),
    Crossings(Vec<Crossing>),
    /// Sync everything to the disk, and return how much is durable.
    Sync(SyncSender<DurablePosition>),
    End(Box<Ends>),
}

/// The thread and its queue.
#[derive(Debug)]
pub(super) struct WriterThread {
    folder: PathBuf,
    jobs: Option<SyncSender<Job>>,
    handle: Option<JoinHandle<Result<()>>>,
    /// Seconds that callers have waited for the thread.
    pub waited: f64,
}

impl WriterThread {
    /// Starts a thread that writes a store.
    pub fn start(folder: &Path, store: StoreWriter) -> Result<WriterThread> {
        let (jobs, inbox) = sync_channel(QUEUE_LENGTH);
        let thread = std::thread::Builder::new().name("burntrace-tracks".into());
        let handle = thread.spawn(move || work(store, &inbox));
        let handle = handle.map_err(Error::system("start a thread for", folder))?;
        Ok(WriterThread {
            folder: folder.into(),
            jobs: Some(jobs),
            handle: Some(handle),
            waited: 0.0,
        })
    }

    /// Queues a job, and waits while the queue is full.
    ///
    /// # Errors
    ///
    /// If the thread has failed, at this job or an earlier one.
    pub fn send(&mut self, job: Job) -> Result<()> {
        let _phase = burntrace_core::phase!("wait for writer");
        let start = Instant::now();
        let is_alive = self.handle.as_ref().is_some_and(|handle| !handle.is_finished());
        let sent =
            self.jobs.as_ref().filter(|_| is_alive).is_some_and(|jobs| jobs.send(job).is_ok());
        self.waited += start.elapsed().as_secs_f64();
        match sent {
            true => Ok(()),
            false => self.join().and(Err(self.stopped())),
        }
    }

    /// Waits until everything is synced to the disk.
    ///
    /// # Errors
    ///
    /// As [`send`](WriterThread::send).
    pub fn sync(&mut self) -> Result<DurablePosition> {
        let (answer, position) = sync_channel(1);
        self.send(Job::Sync(answer))?;
        let _phase = burntrace_core::phase!("wait for writer");
        let start = Instant::now();
        let position = position.recv();
        self.waited += start.elapsed().as_secs_f64();
        match position {
            Ok(position) => Ok(position),
            Err(_) => self.join().and(Err(self.stopped())),
        }
    }

    /// Waits until the store is complete.
    ///
    /// # Errors
    ///
    /// As [`send`](WriterThread::send).
    pub fn end(&mut self, ends: &Ends) -> Result<()> {
        self.send(Job::End(Box::new(ends.clone())))?;
        self.join()
    }

    /// Lets the thread finish its jobs, and returns its result.
    fn join(&mut self) -> Result<()> {
        let _phase = burntrace_core::phase!("wait for writer");
        let start = Instant::now();
        self.jobs = None;
        let result = self.handle.take().map(JoinHandle::join);
        self.waited += start.elapsed().as_secs_f64();
        match result {
            Some(Ok(result)) => result,
            _ => Err(self.stopped()),
        }
    }

    fn stopped(&self) -> Error {
        Error::system("write", &self.folder)(std::io::Error::other("the writer thread stopped"))
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        // Failures are returned by `send`, `sync` and `end`.
        let _ = self.join();
    }
}

fn work(mut store: StoreWriter, inbox: &Receiver<Job>) -> Result<()> {
    for job in inbox {
        let _phase = burntrace_core::phase!("write");
        match job {
            Job::Releases(positions) => store.add_releases(&positions)?,
            Job::Add(block) => store.add(&block)?,
            Job::Instances(instances) => store.add_instances(&instances)?,
            Job::Crossings(crossings) => store.add_crossings(&crossings)?,
            Job::Sync(answer) => {
                // The caller may have stopped waiting.
                let _ = answer.send(store.sync()?);
            }
            Job::End(ends) => return store.end(&ends),
        }
    }
    Ok(())
}
