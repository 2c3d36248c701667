//! Files that are whole or not there, and what to say when a disk is full.

use crate::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Files that are synced at the same time.
const SYNCED_AT_ONCE: usize = 16;

/// The name under which a file is written until it is whole.
pub(crate) fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// Writes a file, of so many bytes where that is known, under a temporary name, makes sure that it
/// is on the disk, and gives it its name. A file that has the name already stays until then.
pub(crate) fn write_whole(
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

/// Writes a short file under a temporary name and gives it its name; whether it outlasts a crash of
/// the machine is of no account.
pub(crate) fn write_soon(path: &Path, text: &str) -> Result<()> {
    let (part, wanted) = (partial(path), Some(text.len() as u64));
    std::fs::write(&part, text).map_err(refused("write", &part, wanted))?;
    std::fs::rename(&part, path).map_err(refused("rename", &part, None))
}

/// Makes sure that files are on the disk. File systems take those that are synced at the same time
/// there together: 8 times as fast as one by one.
pub(crate) fn sync_files(paths: &[PathBuf]) -> Result<()> {
    let sync = |path: &PathBuf| {
        let file = OpenOptions::new().write(true).open(path);
        file.and_then(|file| file.sync_all()).map_err(refused("write", path, None))
    };
    let parts = paths.chunks(paths.len().div_ceil(SYNCED_AT_ONCE).max(1));
    std::thread::scope(|scope| {
        let begin = |part: &'_ [PathBuf]| {
            let part = part.to_vec();
            std::thread::Builder::new().spawn_scoped(scope, move || part.iter().try_for_each(sync))
        };
        let threads: std::io::Result<Vec<_>> = parts.map(begin).collect();
        let failed =
            |e| refused("write", paths.first().map_or(Path::new("."), |path| path), None)(e);
        threads.map_err(failed)?.into_iter().try_for_each(|thread| {
            let lost = || failed(std::io::Error::other("a thread that syncs stopped"));
            thread.join().unwrap_or_else(|_| Err(lost()))
        })
    })
}

/// Makes sure that the names in a folder are on the disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    // Windows opens no folder as a file, and keeps names without being asked.
    if cfg!(windows) {
        return Ok(());
    }
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let synced = File::open(here).and_then(|folder| folder.sync_all());
    synced.map_err(refused("write", here, None))
}

/// Removes a file that need not be there.
pub(crate) fn remove_file(path: &Path) -> Result<()> {
    gone(path, std::fs::remove_file(path))
}

/// Removes a folder that need not be there.
pub(crate) fn remove_folder(path: &Path) -> Result<()> {
    gone(path, std::fs::remove_dir_all(path))
}

fn gone(path: &Path, removed: std::io::Result<()>) -> Result<()> {
    match removed {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::system("remove", path)(e)),
        _ => Ok(()),
    }
}

/// Says what was tried when the operating system refused; of a full disk, how much was wanted and
/// how much is left.
pub(crate) fn refused(
    doing: &'static str,
    path: &Path,
    wanted: Option<u64>,
) -> impl FnOnce(std::io::Error) -> Error {
    move |source| match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            let left = path.parent().and_then(room);
            Error::DiskFull { doing, path: path.into(), wanted, left, source }
        }
        _ => Error::system(doing, path)(source),
    }
}

/// The bytes that are left to this user on the file system of a folder, if that can be said.
#[cfg(unix)]
fn room(folder: &Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::CString::new(folder.as_os_str().as_bytes()).ok()?;
    let mut found = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the name ends in 0, and `found` is memory of the right type, zeros of which are a
    // value of it.
    let found = unsafe {
        match libc::statvfs(name.as_ptr(), found.as_mut_ptr()) {
            0 => found.assume_init(),
            _ => return None,
        }
    };
    #[allow(clippy::useless_conversion)] // Their types differ from system to system.
    u64::from(found.f_bavail).checked_mul(u64::from(found.f_frsize))
}

#[cfg(not(unix))]
fn room(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_whole(&path, Some(5), |file| file.write_all(b"first")).unwrap();
        let failed = write_whole(&path, Some(6), |file| {
            file.write_all(b"sec")?;
            Err(ErrorKind::StorageFull.into())
        });
        let message = failed.unwrap_err().to_string();
        assert!(message.contains("a.part`: no room for 6 bytes, "), "{message}");
        assert!(message.contains(" are left on its file system"), "{message}");
        assert!(message.contains("can be resumed"), "{message}");
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert!(room(folder.path()).is_none_or(|left| left > 0));
        remove_file(&folder.path().join("none")).unwrap();
        let other =
            refused("write", &path, Some(1))(ErrorKind::PermissionDenied.into()).to_string();
        assert!(other.starts_with("cannot write `"), "{other}");
    }
}
