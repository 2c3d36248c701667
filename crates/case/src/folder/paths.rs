//! Comparisons of paths, which need not exist.

use anyhow::Result;
use std::path::{Component, Path, PathBuf};

/// Whether two paths are one folder, which need not exist.
pub fn is_same(a: &Path, b: &Path) -> Result<bool> {
    Ok(real(a)? == real(b)?)
}

/// Whether a path is a folder or in it; both need not exist.
pub fn is_within(path: &Path, folder: &Path) -> Result<bool> {
    Ok(real(path)?.starts_with(real(folder)?))
}

/// An absolute path, without links and `..` as far as it exists.
fn real(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let existing = path.ancestors().find_map(|parent| Some((parent, parent.canonicalize().ok()?)));
    let Some((parent, mut real)) = existing else { return Ok(path) };
    for component in path.components().skip(parent.components().count()) {
        match component {
            Component::ParentDir => drop(real.pop()),
            component => real.push(component),
        }
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_the_same_whatever_their_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(path("run/tracks")).unwrap();
        for other in ["run/", "./run", "run/tracks/..", "none/../run", "run/none/.."] {
            assert!(is_same(&path(other), &path("run")).unwrap(), "{other}");
            assert!(is_within(&path(other), &path("run")).unwrap(), "{other}");
        }
        for inner in ["run/tracks", "run/new/folder", "./run/../run/new"] {
            assert!(is_within(&path(inner), &path("run")).unwrap(), "{inner}");
            assert!(!is_same(&path(inner), &path("run")).unwrap(), "{inner}");
        }
        for other in ["run2", "new", "run/../new", "."] {
            assert!(!is_within(&path(other), &path("run")).unwrap(), "{other}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(path("run"), path("link")).unwrap();
            assert!(is_same(&path("link"), &path("run")).unwrap());
            assert!(is_within(&path("link/new"), &path("run")).unwrap());
        }
    }
}
