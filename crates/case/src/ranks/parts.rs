//! The folder `parts` of an unfinished run that several processes share: its pieces.
//!
//! A piece is a folder, such as `00012`, that is renamed to `00012.done` when it is complete. A process that has renamed an
//! entry of a folder sees all earlier renames there, so the one that completes the last piece finds all of them done.

use super::rank::Rank;
use crate::folder::{self, Folder, lock};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::PathBuf;

/// Name of the file with the number and the size of the pieces.
const PLAN: &str = "pieces.json";

/// Number of particles, and of those of a piece.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct PiecePlan {
    pub particles: usize,
    pub piece: usize,
}

impl PiecePlan {
    /// Number of pieces.
    pub fn count(self) -> usize {
        self.particles.div_ceil(self.piece)
    }

    /// The plan of the run in a folder.
    pub fn read(folder: &Folder) -> Option<PiecePlan> {
        serde_json::from_str(&fs::read_to_string(folder.parts().join(PLAN)).ok()?).ok()
    }
}

/// Creates the folder of the pieces in that of a run, unless another process is first. `fill` writes further files into it.
/// Returns whether this process was first.
pub fn publish(
    run: &Folder,
    plan: PiecePlan,
    rank: Rank,
    fill: impl FnOnce(&Folder) -> Result<()>,
) -> Result<bool> {
    let root = run.parts();
    let new =
        Folder::at(run.path(&format!("{}.{}.{}", folder::PARTS, rank.index, std::process::id())));
    folder::make(&new.path(folder::RANKS))?;
    new.write(PLAN, &format!("{:#}\n", serde_json::to_value(plan)?))?;
    fill(&new)?;
    // A folder with files is not replaced.
    let renamed = fs::rename(&new.root, &root);
    if renamed.is_err() {
        fs::remove_dir_all(&new.root).ok();
        if root.is_dir() {
            return Ok(false);
        }
    }
    renamed.with_context(|| format!("cannot create {}", root.display()))?;
    Ok(true)
}

/// The pieces of a run that are done. `None` if their folder is gone: the run is complete.
pub fn done(run: &Folder) -> Result<Option<BTreeSet<usize>>> {
    let root = run.parts();
    let failed = || format!("cannot read {}", root.display());
    let entries = match fs::read_dir(&root) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        entries => entries.with_context(failed)?,
    };
    let mut done = BTreeSet::new();
    for entry in entries {
        let name = entry.with_context(failed)?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".done"));
        done.extend(number.and_then(|number| number.parse::<usize>().ok()));
    }
    Ok(Some(done))
}

/// The numbers of pieces in the folder of a run: done, and all.
pub fn progress(run: &Folder) -> Option<[usize; 2]> {
    let done = done(run).ok()??.len();
    Some([done, PiecePlan::read(run)?.count()])
}

/// The folder of a piece that is not done.
pub fn piece(run: &Folder, number: usize) -> Folder {
    Folder::at(run.parts().join(format!("{number:05}")))
}

/// The folder of a piece that is done.
pub fn done_piece(run: &Folder, number: usize) -> Folder {
    Folder::at(run.parts().join(format!("{number:05}.done")))
}

/// Renames the folder of a piece that is done.
pub fn complete(run: &Folder, number: usize) -> Result<()> {
    let from = piece(run, number).root;
    let renamed = fs::rename(&from, done_piece(run, number).root);
    renamed.with_context(|| format!("cannot rename {}", from.display()))
}

/// The file that the process which joins the pieces creates and locks.
pub fn join_lock(run: &Folder) -> PathBuf {
    run.parts().join("join")
}

/// Takes on the joining of the pieces. `None` if another process does this, or did when it ended: then only one that
/// `takes_over` joins them.
pub fn begin_join(run: &Folder, takes_over: bool) -> Option<File> {
    let path = join_lock(run);
    let is_first = File::options().create_new(true).write(true).open(&path).is_ok();
    if is_first || takes_over { lock::locked(&path).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECES: PiecePlan = PiecePlan { particles: 5, piece: 2 };

    #[test]
    fn only_one_process_publishes() {
        let folder = tempfile::tempdir().unwrap();
        let run = Folder::at(folder.path());
        let publish = || publish(&run, PIECES, Rank::ALONE, |_| Ok(())).unwrap();
        assert!(progress(&run).is_none() && publish() && !publish());
        assert_eq!(progress(&run), Some([0, 3]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no folder of the second");
        folder::make(&piece(&run, 1).root).unwrap();
        complete(&run, 1).unwrap();
        assert_eq!(progress(&run), Some([1, 3]));
        assert_eq!(done(&run).unwrap(), Some(BTreeSet::from([1])));
        fs::remove_dir_all(run.parts()).unwrap();
        assert_eq!(done(&run).unwrap(), None);
    }

    #[cfg(unix)]
    #[test]
    fn only_one_process_joins() {
        let folder = tempfile::tempdir().unwrap();
        let run = Folder::at(folder.path());
        assert!(begin_join(&run, true).is_none(), "the run is complete");
        publish(&run, PIECES, Rank::ALONE, |_| Ok(())).unwrap();
        let first = begin_join(&run, false);
        assert!(first.is_some());
        assert!(begin_join(&run, false).is_none() && begin_join(&run, true).is_none());
        drop(first);
        assert!(begin_join(&run, false).is_none());
        assert!(begin_join(&run, true).is_some());
    }
}
