//! One run in several processes and on several devices, without messages between them: each claims pieces of the particles in the
//! folder of the run, and the last one joins them. Docs: `docs/decisions/0028-ranks.md`.

mod finish;
mod member;
mod parts;
mod piece;
mod rank;
mod share;
mod totals;
mod worker;

pub use parts::{FOLDER as PARTS, progress};
pub use rank::Rank;
pub use share::{has_completed, share};
pub use totals::RankTotals;
pub use worker::Worker;

use crate::{case::Case, checkpoint::RunCheckpoint, folder::Folder};
use anyhow::{Context, Result};
use burntrace::io;
use parts::Parts;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file with the number and the size of the pieces.
const PLAN: &str = "pieces.json";

/// How a process starts to share a run.
pub struct SharedStart {
    pub rank: Rank,
    /// Whether an earlier run in the folder is replaced.
    pub overwrites: bool,
    /// Whether the run must have started already.
    pub resumes: bool,
    pub accept_changes: bool,
}

impl SharedStart {
    /// For a run that this process or another one starts.
    pub fn new(rank: Rank) -> Self {
        SharedStart { rank, overwrites: false, resumes: false, accept_changes: false }
    }
}

/// Number of particles, and of those of a piece.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
struct PiecePlan {
    particles: usize,
    piece: usize,
}

impl PiecePlan {
    fn count(self) -> usize {
        self.particles.div_ceil(self.piece)
    }
}

/// Number of particles in a piece of a run with this number of slots.
pub fn piece_length(case: &Case, slots: usize) -> usize {
    let length = case.run.piece.unwrap_or_else(|| io::tracks::piece_length(slots));
    length.min(slots).max(1)
}

/// Whether processes work on the pieces of a run in a folder.
pub fn is_in_progress(root: &Path) -> bool {
    member::is_any_at_work(&Parts::folder(root))
}

/// The checkpoint with which processes started the run in a folder.
pub fn checkpoint(root: &Path) -> Result<RunCheckpoint> {
    RunCheckpoint::read(&Folder::at(Parts::folder(root)))
}

/// Reads a JSON file.
fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))
}
