//! The devices of a process that shares a run: a thread for each.

use super::{
    finish::Finish,
    member,
    parts::{Owner, Work},
    piece::PieceRun,
    progress,
    share::{Ending, Sharer},
};
use crate::{
    case_run::{self, CaseRun},
    errors,
    folder::Folder,
    signals::{Signals, Stopped},
};
use anyhow::Result;
use burntrace::Prepared;
use std::{
    path::PathBuf,
    sync::PoisonError,
    time::{Duration, Instant},
};

/// Interval of progress on standard error.
const INTERVAL: Duration = Duration::from_secs(5);

/// The run on one device.
pub struct Worker<'a> {
    pub run: CaseRun<'a>,
    pub prepared: Prepared<'a>,
}

impl Sharer<'_> {
    /// Traces pieces on all devices until none is left, and joins them if all are done. Devices that fail leave
    /// their pieces to the others.
    pub fn pieces(&self, signals: &Signals) -> Result<Ending> {
        let mut devices: Vec<usize> = (0..self.workers.len()).collect();
        loop {
            let endings = in_threads(&devices, |worker| self.pieces_of(worker, signals));
            let (mut left, mut failure) = (None, None);
            for (worker, ending) in std::mem::take(&mut devices).into_iter().zip(endings) {
                match ending {
                    Ok(Ending::Left(others)) => {
                        left = Some(others);
                        devices.push(worker);
                    }
                    Ok(ending) => return Ok(ending),
                    Err(error) => {
                        self.note_failure(worker, &error);
                        failure.get_or_insert(error);
                    }
                }
            }
            match (failure, left) {
                // The pieces of a device that has failed are free.
                (Some(error), Some(_)) if !error.is::<Stopped>() => continue,
                (Some(error), _) => return Err(error),
                (None, Some(others)) => return Ok(Ending::Left(others)),
                (None, None) => return Ok(Ending::Gone),
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
        self.notes.say("devices", text);
    }

    /// Traces pieces on a device until none is left.
    fn pieces_of(&self, worker: usize, signals: &Signals) -> Result<Ending> {
        loop {
            self.refuse_stopped(signals)?;
            let claim = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(owners) = self.parts.owners()? else { return Ok(Ending::Gone) };
            let pieces = &owners[..self.parts.count];
            let is_done = |(_, owner): &(Work, Owner)| *owner == Owner::Done;
            let works = match pieces.iter().all(is_done) {
                true => &owners[self.parts.count..],
                false => pieces,
            };
            let claimed = self.claim(works, worker)?;
            drop(claim);
            match claimed {
                Some((Work::Join, _)) => return self.finish().map(Ending::Joined),
                Some((Work::Piece(number), folder)) => {
                    self.trace(number, &Folder::at(folder), worker, signals)?;
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
    fn claim(&self, works: &[(Work, Owner)], worker: usize) -> Result<Option<(Work, PathBuf)>> {
        // Ranks start at different pieces, so that they seldom try the same one.
        let devices = self.workers.len();
        let first =
            (self.rank.index * devices + worker) * works.len() / (self.rank.count * devices);
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
    fn trace(
        &self,
        number: usize,
        folder: &Folder,
        worker: usize,
        signals: &Signals,
    ) -> Result<()> {
        let work = Work::Piece(number);
        match self.piece_run(worker).trace(number, folder, signals, &self.member.id) {
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

    /// The pieces as a device traces them.
    fn piece_run(&self, worker: usize) -> PieceRun<'_> {
        PieceRun { worker: &self.workers[worker], number: worker, common: &self.common }
    }

    /// Prints the number of complete pieces, every few seconds.
    fn note_progress(&self) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.elapsed() < INTERVAL {
            return;
        }
        *said = Instant::now();
        if let Some([done, claimed, all]) = progress(&self.folder.root) {
            let text =
                format!("{}: {done} of {all} pieces are done, {claimed} in progress", self.rank);
            self.notes.say("ranks", text);
        }
    }

    fn finish(&self) -> Result<case_run::Printed> {
        let piece = &self.piece_run(0);
        let joined = Finish { piece, parts: &self.parts, folder: &self.folder };
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
}

/// Calls a function for each worker at the same time, and returns the results in their order. The first one runs on
/// this thread.
fn in_threads<T: Send>(workers: &[usize], work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let Some((first, others)) = workers.split_first() else { return Vec::new() };
    std::thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> =
            others.iter().map(|worker| scope.spawn(move || work(*worker))).collect();
        let first = work(*first);
        let others = others.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        std::iter::once(first).chain(others).collect()
    })
}
