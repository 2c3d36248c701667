//! The folder `parts` of an unfinished run that processes share: its pieces, and which process has which.
//!
//! Each piece is a folder. Its name says whether it is free (`00012.free`), has been claimed by a process
//! (`00012@` and the name of the process), or is done (`00012.done`), and each change is one rename, of which
//! a file system lets exactly one succeed. The last piece of work, to join the pieces, is such a folder too.

use super::member::{self, Member};
use anyhow::{Context, Result, bail};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Name of the folder in that of the run.
pub const FOLDER: &str = "parts";

/// A piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// To trace a piece, by its number.
    Piece(usize),
    /// To join all pieces.
    Join,
}

/// Whether a piece of work is free, claimed or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    Nobody,
    /// The process of this name.
    Process(String),
    /// It is done.
    Done,
}

/// The folder of the pieces of a run.
pub struct Parts {
    pub root: PathBuf,
    /// Number of pieces.
    pub count: usize,
}

impl Parts {
    /// The folder of the pieces in that of a run, which is not checked.
    pub fn folder(run: &Path) -> PathBuf {
        run.join(FOLDER)
    }

    /// Creates the folder with all pieces free, unless another process is first. `fill` writes further files
    /// into it. Returns whether this process was first.
    pub fn publish(
        run: &Path,
        count: usize,
        id: &str,
        fill: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<bool> {
        let (root, new) = (Parts::folder(run), run.join(format!("{FOLDER}.{id}")));
        let make = |name: String| {
            let path = new.join(name);
            std::fs::create_dir_all(&path)
                .with_context(|| format!("cannot create {}", path.display()))
        };
        make(member::FOLDER.into())?;
        for work in (0..count).map(Work::Piece).chain([Work::Join]) {
            make(name(work, &Owner::Nobody))?;
        }
        fill(&new)?;
        // A folder with files is not replaced.
        match std::fs::rename(&new, &root) {
            Ok(()) => Ok(true),
            Err(error) => {
                std::fs::remove_dir_all(&new).ok();
                if root.is_dir() {
                    return Ok(false);
                }
                Err(error).with_context(|| format!("cannot create {}", root.display()))
            }
        }
    }

    /// The owners of all pieces of work, in order. `None` if the folder is gone: the run is complete.
    pub fn owners(&self) -> Result<Option<Vec<(Work, Owner)>>> {
        // A list that is read while another process renames an entry may lack it.
        for _ in 0..100 {
            let Some(mut found) = self.list()? else { return Ok(None) };
            // A process that was taken for ended may have made the folder of its piece again.
            found.sort_by_key(|(work, owner)| (*work, *owner != Owner::Done));
            found.dedup_by_key(|(work, _)| *work);
            if found.len() == self.count + 1 {
                return Ok(Some(found));
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        bail!(
            "{} does not list all {} pieces of the run: some were removed or renamed; restore them, or start the \
             run again in another folder",
            self.root.display(),
            self.count
        )
    }

    fn list(&self) -> Result<Option<Vec<(Work, Owner)>>> {
        let failed = || format!("cannot read {}", self.root.display());
        let entries = match std::fs::read_dir(&self.root) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            entries => entries.with_context(failed)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.with_context(failed)?;
            found.extend(parse(&entry.file_name().to_string_lossy()));
        }
        Ok(Some(found))
    }

    /// Claims a piece of work that has this owner. `None` if another process was first.
    pub fn claim(&self, work: Work, owner: &Owner, member: &Member) -> Result<Option<PathBuf>> {
        let mine = self.root.join(name(work, &Owner::Process(member.id.clone())));
        match std::fs::rename(self.root.join(name(work, owner)), &mine) {
            Ok(()) => Ok(Some(mine)),
            // NFS may repeat a request that has succeeded, and report that the old name is gone.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(mine.is_dir().then_some(mine)),
            Err(error) => Err(error).with_context(|| format!("cannot claim {}", mine.display())),
        }
    }

    /// Gives a claimed piece of work to an owner.
    pub fn give(&self, work: Work, member: &Member, owner: &Owner) -> Result<()> {
        let mine = self.root.join(name(work, &Owner::Process(member.id.clone())));
        let path = self.path(work, owner);
        match std::fs::rename(&mine, &path) {
            Err(error) if !path.is_dir() => Err(error).with_context(|| {
                format!(
                    "cannot rename {}: another process may have taken it over, because this one did not respond",
                    mine.display()
                )
            }),
            _ => Ok(()),
        }
    }

    /// The folder of a piece of work.
    pub fn path(&self, work: Work, owner: &Owner) -> PathBuf {
        self.root.join(name(work, owner))
    }
}

/// The numbers of pieces in the folder of a run: done, claimed, and all.
pub fn progress(run: &Path) -> Option<[usize; 3]> {
    let parts = Parts { root: Parts::folder(run), count: 0 };
    let pieces = parts.list().ok()??.into_iter().filter(|(work, _)| *work != Work::Join);
    let mut counts = [0; 3];
    for (_, owner) in pieces {
        counts[0] += usize::from(owner == Owner::Done);
        counts[1] += usize::from(matches!(owner, Owner::Process(_)));
        counts[2] += 1;
    }
    Some(counts)
}

fn name(work: Work, owner: &Owner) -> String {
    let work = match work {
        Work::Piece(number) => format!("{number:05}"),
        Work::Join => "join".into(),
    };
    match owner {
        Owner::Nobody => format!("{work}.free"),
        Owner::Process(id) => format!("{work}@{id}"),
        Owner::Done => format!("{work}.done"),
    }
}

fn parse(name: &str) -> Option<(Work, Owner)> {
    let (work, owner) = match name.split_once('@') {
        Some((work, id)) => (work, Owner::Process(id.into())),
        None => match name.rsplit_once('.')? {
            (work, "free") => (work, Owner::Nobody),
            (work, "done") => (work, Owner::Done),
            _ => return None,
        },
    };
    let work = match work {
        "join" => Work::Join,
        number => Work::Piece(number.parse().ok()?),
    };
    Some((work, owner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_who_has_a_piece() {
        let owners = [Owner::Nobody, Owner::Process("00001+a.b-c+7+f".into()), Owner::Done];
        for owner in owners {
            for work in [Work::Piece(7), Work::Piece(123_456), Work::Join] {
                assert_eq!(parse(&name(work, &owner)), Some((work, owner.clone())));
            }
        }
        for other in ["ranks", "checkpoint.bin", "plan.json", "a.free", "00001.part"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn piece_that_is_done_stays_done_beside_a_folder_of_a_slow_process() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| std::fs::create_dir_all(folder.path().join(name)).unwrap();
        for name in
            ["00000@00001+a+1+0", "00000.done", "00001.done", "00001@00000+z+1+0", "join.free"]
        {
            make(name);
        }
        let parts = Parts { root: folder.path().into(), count: 2 };
        let owners = parts.owners().unwrap().unwrap();
        let done = |number| (Work::Piece(number), Owner::Done);
        assert_eq!(owners, [done(0), done(1), (Work::Join, Owner::Nobody)]);
    }

    #[test]
    fn only_one_process_publishes() {
        let folder = tempfile::tempdir().unwrap();
        let publish = |id: &str| Parts::publish(folder.path(), 3, id, |_| Ok(())).unwrap();
        assert!(publish("a") && !publish("b"));
        let parts = Parts { root: Parts::folder(folder.path()), count: 3 };
        let owners = parts.owners().unwrap().unwrap();
        assert_eq!(owners.len(), 4);
        assert!(owners.iter().all(|(_, owner)| *owner == Owner::Nobody));
        assert_eq!(progress(folder.path()), Some([0, 0, 3]));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no folder of the second");
        std::fs::remove_dir_all(&parts.root).unwrap();
        assert!(parts.owners().unwrap().is_none());
    }
}
