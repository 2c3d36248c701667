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

/// Has a file written under a temporary name beside its own, and renames it. Until then, and after a failure, an
/// existing file of that name is unchanged. A link stays, and the file that it leads to is replaced; a device or a
/// pipe is written to directly. The file may not survive a system crash.
///
/// # Errors
///
/// If the file cannot be renamed, if the name is that of a folder, and as `write`.
pub fn write_beside<T, E: From<Error>>(
    path: &Path,
    write: impl FnOnce(&Path) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let target = path.canonicalize().unwrap_or_else(|_| path.into());
    match target.metadata() {
        Ok(found) if found.is_dir() => {
            return Err(Error::system("write", path)(ErrorKind::IsADirectory.into()).into());
        }
        Ok(found) if !found.is_file() => return write(path),
        _ => {}
    }
    let part = partial(if target.is_file() { &target } else { path });
    let written = write(&part).and_then(|result| {
        std::fs::rename(&part, &target).map_err(refused("write", path, None))?;
        Ok(result)
    });
    if written.is_err() {
        // What is left of the file takes space that is needed.
        std::fs::remove_file(&part).ok();
    }
    written
}

/// Writes a file under a temporary name, syncs it to the disk and renames it. Until then an
/// existing file of that name is unchanged. `bytes` is the size of the file, if known, for messages.
pub(crate) fn write_atomic(
    path: &Path,
    bytes: Option<u64>,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    write_beside(path, |part| {
        let mut file = BufWriter::new(File::create(part).map_err(refused("create", path, bytes))?);
        let written = fill(&mut file).and_then(|()| file.flush());
        let written = written.and_then(|()| match file.get_ref().metadata()?.is_file() {
            true => file.get_ref().sync_all(),
            false => Ok(()),
        });
        written.map_err(refused("write", path, bytes))
    })?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// Writes a file of this content, as [`write_atomic`].
pub(crate) fn write_content(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let content = content.as_ref();
    write_atomic(path, Some(content.len() as u64), |file| file.write_all(content))
}

/// Writes a text under a temporary name and renames it, as [`write_beside`].
///
/// # Errors
///
/// If the file cannot be written.
pub fn write_text_beside(path: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    let text = text.as_ref();
    write_beside(path, |part| {
        std::fs::write(part, text).map_err(refused("write", path, Some(text.len() as u64)))
    })
}

/// Syncs files, and the entries of folders, to the disk, several at a time: file systems combine concurrent syncs, which is 8
/// times faster than one by one.
pub(crate) fn sync_all(paths: &[PathBuf]) -> Result<()> {
    let sync = |path: &PathBuf| {
        if path.is_dir() {
            return sync_folder(path);
        }
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
        assert!(message.contains("a`: no space left for 6 bytes, "), "{message}");
        assert!(message.contains(" bytes are available on its file system"), "{message}");
        assert!(message.contains("free some space"), "{message}");
        assert!(!partial(&path).exists());
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert!(available_bytes(folder.path()).is_none_or(|left| left > 0));
        remove_file(&folder.path().join("none")).unwrap();
        let other =
            refused("write", &path, Some(1))(ErrorKind::PermissionDenied.into()).to_string();
        assert!(other.starts_with("cannot write `"), "{other}");
    }
}
