//! Opens a path as the store of its format.

use crate::memory;
use crate::netcdf::{self, NetCdf};
use crate::store::Store;
use crate::{Result, zarr};
use std::path::Path;

/// Whether a path is a NetCDF file by its first bytes, a Zarr group, or that of a [`DataSet`](crate::DataSet). HDF5 files of VTK
/// are not.
pub fn is_cf(path: &Path) -> bool {
    match path.is_dir() {
        true => zarr::is_zarr(path),
        false => netcdf::is_netcdf(path) || memory::find(path).is_some(),
    }
}

/// Opens a NetCDF file, a Zarr group or a [`DataSet`](crate::DataSet), and reads the description of its variables.
///
/// # Errors
///
/// If the path is none of these, or its description is damaged or not supported.
pub fn open(path: impl AsRef<Path>) -> Result<Box<dyn Store>> {
    let path = path.as_ref();
    if let Some(found) = memory::find(path) {
        return Ok(found);
    }
    match path.is_dir() {
        true => Ok(Box::new(zarr::Group::open(path)?)),
        false => Ok(Box::new(NetCdf::open(path)?)),
    }
}
