//! Tracks as a folder of `.npy` files.

use super::arrays::{Array, Arrays};
use super::{Selection, column::Kind};
use crate::disk::refused;
use crate::tracks::Tracks;
use crate::{Error, Result, npy};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes the selected tracks as a new folder with an `.npy` file for each array, and returns the number of particles.
///
/// `time` is over the saves, `position` over saves, particles and the three coordinates, and so are the other arrays, which
/// have the names of the store. Where a particle is not selected or was not released, floats are NaN. Memory does not grow with
/// the number of saves.
///
/// # Errors
///
/// If no save is selected, the store cannot be read, or the folder exists or cannot be written.
pub fn write_npy(store: &Tracks, selection: &Selection, path: impl AsRef<Path>) -> Result<usize> {
    let path = path.as_ref();
    let arrays = Arrays::new(store, selection)?;
    std::fs::create_dir(path).map_err(Error::system("create", path))?;
    let written = write_all(&arrays, path);
    if written.is_err() {
        // What is left of it takes space that is needed.
        std::fs::remove_dir_all(path).ok();
    }
    written.map(|()| arrays.num_particles())
}

fn write_all(arrays: &Arrays, folder: &Path) -> Result<()> {
    let files = arrays.all.iter().map(|array| create(folder, array));
    let mut files = files.collect::<Result<Vec<_>>>()?;
    arrays.write(|index, bytes| {
        let (name, file) = &mut files[index];
        file.write_all(bytes).map_err(refused("write", name, None))
    })?;
    files.iter_mut().try_for_each(|(name, file)| file.flush().map_err(refused("write", name, None)))
}

/// Begins the file of an array.
fn create(folder: &Path, array: &Array) -> Result<(PathBuf, BufWriter<File>)> {
    let path = folder.join(format!("{}.npy", array.name));
    let type_name = match array.kind {
        Kind::I32 => "<i4",
        Kind::F32 => "<f4",
        Kind::F64 => "<f8",
        Kind::Name => "|u1",
    };
    let file = File::create(&path).map_err(refused("create", &path, None))?;
    let mut file = BufWriter::new(file);
    let written = file.write_all(&npy::header(type_name, &array.shape));
    written.map_err(refused("write", &path, None))?;
    Ok((path, file))
}
