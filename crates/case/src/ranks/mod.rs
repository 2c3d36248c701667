//! One run in several processes and on several devices, without messages between them: rank `i` of `n` traces the pieces `i`,
//! `i + n`, ... of the particles into the folder of the run, and the last one joins them. Docs: `docs/decisions/0028-ranks.md`.

mod finish;
mod parts;
mod piece;
mod rank;
mod share;
mod start;
mod totals;

pub use parts::progress;
pub use rank::Rank;
pub use share::{SharedStart, has_completed};
pub use start::trace_shared;

use crate::{folder::Folder, run::RunCheckpoint};
use anyhow::Result;

/// The checkpoint with which processes started the run in a folder.
pub fn checkpoint(folder: &Folder) -> Result<RunCheckpoint> {
    RunCheckpoint::read(&Folder::at(folder.parts()))
}
