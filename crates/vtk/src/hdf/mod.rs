//! VTKHDF files: image data and unstructured grids, with time steps.

mod data;
mod group;
mod image;
mod steps;
mod unstructured;

pub(crate) use data::{HdfData, HdfRows};

use crate::error::Error;
use crate::source::Source;
use crate::structure::Structure;
use group::Group;
use steps::Steps;

/// The first bytes of an HDF5 file.
pub(crate) const START: &[u8] = b"\x89HDF\r\n\x1a\n";

/// A file that is open at one of its time steps.
pub(crate) struct AtStep {
    pub(crate) source: Source,
    pub(crate) structure: Structure,
    /// The times of all steps; empty if the file has none.
    pub(crate) times: Vec<f64>,
}

/// Reads the structure of a file at a time step, from 0.
pub(crate) fn open(source: Source, step: usize) -> Result<AtStep, Error> {
    let mut data = HdfData::default();
    let (structure, times) = {
        let root = Group::root(&source)?;
        let steps = Steps::read(&root, step)?;
        let structure = match root.text("Type")?.as_str() {
            "ImageData" => image::read(&root, &steps, &mut data)?,
            "UnstructuredGrid" => unstructured::read(&root, &steps, &mut data)?,
            other => {
                let what = format!("VTKHDF data of the type `{other}`");
                let remedy = "write image data or an unstructured grid (in ParaView: Append Datasets, \
                              Merge Blocks), or use XML files";
                return Err(root.context().unsupported(what, remedy));
            }
        };
        (structure, steps.times)
    };
    Ok(AtStep { source: source.with_hdf(data), structure, times })
}
