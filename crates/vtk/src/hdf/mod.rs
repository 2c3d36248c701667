//! VTKHDF files: image data, unstructured grids, poly data, and blocks of them, with time steps.

mod blocks;
pub(crate) mod data;
mod group;
mod image;
mod parts;
mod polydata;
pub(crate) mod rows;
mod steps;
mod unstructured;

pub(crate) use blocks::HdfBlock;

use crate::error::Error;
use crate::source::Source;
use crate::structure::Structure;
use data::HdfData;
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

/// The contents of a file.
pub(crate) enum Contents {
    DataSet(Box<AtStep>),
    /// The file, and its blocks.
    Blocks(Source, Vec<HdfBlock>),
}

/// Reads the structure of a file at a time step, from 0, or lists its blocks.
pub(crate) fn open(source: Source, step: usize) -> Result<Contents, Error> {
    let blocks = {
        let root = Group::root(&source)?;
        match root.text("Type")?.as_str() {
            "PartitionedDataSetCollection" => Some(blocks::of_collection(&root)?),
            "MultiBlockDataSet" => Some(blocks::of_assembly(&root)?),
            _ => None,
        }
    };
    match blocks {
        Some(blocks) => Ok(Contents::Blocks(source, blocks)),
        None => read(source, step, None).map(|data| Contents::DataSet(data.into())),
    }
}

/// Reads the structure of a block at a time step, by the path of its group. A block without steps is the same
/// at all of them.
pub(crate) fn open_block(source: Source, step: usize, group: &str) -> Result<AtStep, Error> {
    read(source, step, Some(group))
}

fn read(source: Source, step: usize, block: Option<&str>) -> Result<AtStep, Error> {
    let mut data = HdfData::default();
    let (structure, times) = {
        let mut root = Group::root(&source)?;
        if let Some(path) = block {
            root = root.descendant(path)?;
        }
        let is_steady = block.is_some() && root.child("Steps").is_none();
        let steps = Steps::read(&root, if is_steady { 0 } else { step })?;
        let structure = match root.text("Type")?.as_str() {
            "ImageData" => image::read(&root, &steps, &mut data)?,
            "UnstructuredGrid" => unstructured::read(&root, &steps, &mut data)?,
            "PolyData" => polydata::read(&root, &steps, &mut data)?,
            other => {
                let what = format!("VTKHDF data of the type `{other}`");
                let remedy = "write image data, unstructured grids or poly data (in ParaView: Append \
                              Datasets, Merge Blocks), or use XML files";
                return Err(root.context().unsupported(what, remedy));
            }
        };
        (structure, steps.times)
    };
    Ok(AtStep { source: source.with_hdf(data), structure, times })
}
