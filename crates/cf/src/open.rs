//! Opens a path as the store of its format.

use crate::netcdf::{self, NetCdf};
use crate::store::Store;
use crate::{Result, zarr};
use std::path::Path;

/// Whether a path is a NetCDF file by its first bytes, or a Zarr group. HDF5 files of VTK are not.
pub fn is_cf(path: &Path) -> bool {
    match path.is_dir() {
        true => zarr::is_zarr(path),
        false => netcdf::is_netcdf(path),
    }
}

/// Opens a NetCDF file or a Zarr group, and reads the description of its variables.
///
/// # Errors
///
/// If the path is neither, or its description is damaged or not supported.
pub fn open(path: impl AsRef<Path>) -> Result<Box<dyn Store>> {
    let path = path.as_ref();
    match path.is_dir() {
        true => Ok(Box::new(zarr::Group::open(path)?)),
        false => Ok(Box::new(NetCdf::open(path)?)),
    }
}
