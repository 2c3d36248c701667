//! One run in several processes and on several devices, without messages between them: rank `i` of `n` traces the pieces `i`,
//! `i + n`, ... of the particles into the folder of the run, and the last one joins them. Docs: `docs/decisions/0028-ranks.md`.

mod finish;
mod parts;
mod piece;
mod rank;
mod share;
mod totals;

pub use parts::progress;
pub use rank::Rank;
pub use share::{SharedStart, Worker, has_completed, share};

use crate::{checkpoint::RunCheckpoint, folder::Folder};
use anyhow::Result;

/// The checkpoint with which processes started the run in a folder.
pub fn checkpoint(folder: &Folder) -> Result<RunCheckpoint> {
    RunCheckpoint::read(&Folder::at(folder.parts()))
}
