//! Atomic and durable writes, and disk-full errors.

use crate::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Number of threads that sync files.
const SYNC_THREADS: usize = 16;

/// The temporary name of a file that is being written.
pub(crate) fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// Writes a file under a temporary name, syncs it to the disk and renames it. Until then an
/// existing file of that name is unchanged. `bytes` is the size of the file, if known, for messages.
pub(crate) fn write_atomic(
    path: &Path,
    bytes: Option<u64>,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    let part = partial(path);
    let mut file = BufWriter::new(File::create(&part).map_err(refused("create", &part, bytes))?);
    let written = fill(&mut file).and_then(|()| file.flush());
    let written = written.and_then(|()| file.get_ref().sync_all());
    written.map_err(refused("write", &part, bytes))?;
    std::fs::rename(&part, path).map_err(refused("rename", &part, None))?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// Writes a short file under a temporary name and renames it, without syncing: the file may not
/// survive a system crash.
pub(crate) fn write_unsynced(path: &Path, text: &str) -> Result<()> {
    let (part, wanted) = (partial(path), Some(text.len() as u64));
    std::fs::write(&part, text).map_err(refused("write", &part, wanted))?;
    std::fs::rename(&part, path).map_err(refused("rename", &part, None))
}

/// Syncs files to the disk, several at a time: file systems combine concurrent syncs, which is 8
/// times faster than one by one.
pub(crate) fn sync_files(paths: &[PathBuf]) -> Result<()> {
    let sync = |path: &PathBuf| {
        let file = OpenOptions::new().write(true).open(path);
        file.and_then(|file| file.sync_all()).map_err(refused("write", path, None))
    };
    let parts = paths.chunks(paths.len().div_ceil(SYNC_THREADS).max(1));
    std::thread::scope(|scope| {
        let spawn = |part: &'_ [PathBuf]| {
            let part = part.to_vec();
            std::thread::Builder::new().spawn_scoped(scope, move || part.iter().try_for_each(sync))
        };
        let threads: std::io::Result<Vec<_>> = parts.map(spawn).collect();
        let failed =
            |e| refused("write", paths.first().map_or(Path::new("."), |path| path), None)(e);
        threads.map_err(failed)?.into_iter().try_for_each(|thread| {
            let panicked = || failed(std::io::Error::other("a sync thread stopped"));
            thread.join().unwrap_or_else(|_| Err(panicked()))
        })
    })
}

/// Syncs the entries of a folder to the disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    // Windows cannot open a folder as a file, and needs no sync of its entries.
    if cfg!(windows) {
        return Ok(());
    }
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let synced = File::open(here).and_then(|folder| folder.sync_all());
    synced.map_err(refused("write", here, None))
}

/// Removes a file, if it exists.
pub(crate) fn remove_file(path: &Path) -> Result<()> {
    ignore_missing(path, std::fs::remove_file(path))
}

/// Removes a folder, if it exists.
pub(crate) fn remove_folder(path: &Path) -> Result<()> {
    ignore_missing(path, std::fs::remove_dir_all(path))
}

fn ignore_missing(path: &Path, removed: std::io::Result<()>) -> Result<()> {
    match removed {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::system("remove", path)(e)),
        _ => Ok(()),
    }
}

/// The error of a failed file operation; for a full disk, with the required and available bytes.
pub(crate) fn refused(
    doing: &'static str,
    path: &Path,
    wanted: Option<u64>,
) -> impl FnOnce(std::io::Error) -> Error {
    move |source| match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            let left = path.parent().and_then(available_bytes);
            Error::DiskFull { doing, path: path.into(), wanted, left, source }
        }
        _ => Error::system(doing, path)(source),
    }
}

/// Bytes available to this user on the file system of a folder, if known.
#[cfg(unix)]
fn available_bytes(folder: &Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::CString::new(folder.as_os_str().as_bytes()).ok()?;
    let mut found = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: `name` ends in NUL, and all zeros are a valid `statvfs`.
    let found = unsafe {
        match libc::statvfs(name.as_ptr(), found.as_mut_ptr()) {
            0 => found.assume_init(),
            _ => return None,
        }
    };
    #[allow(clippy::useless_conversion)] // The types of the fields depend on the platform.
    u64::from(found.f_bavail).checked_mul(u64::from(found.f_frsize))
}

#[cfg(not(unix))]
fn available_bytes(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_keeps_the_existing_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_atomic(&path, Some(5), |file| file.write_all(b"first")).unwrap();
        let failed = write_atomic(&path, Some(6), |file| {
            file.write_all(b"sec")?;
            Err(ErrorKind::StorageFull.into())
        });
        let message = failed.unwrap_err().to_string();
        assert!(message.contains("a.part`: no space left for 6 bytes, "), "{message}");
        assert!(message.contains(" bytes are available on its file system"), "{message}");
        assert!(message.contains("free some space and resume the run"), "{message}");
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert!(available_bytes(folder.path()).is_none_or(|left| left > 0));
        remove_file(&folder.path().join("none")).unwrap();
        let other =
            refused("write", &path, Some(1))(ErrorKind::PermissionDenied.into()).to_string();
        assert!(other.starts_with("cannot write `"), "{other}");
    }
}
