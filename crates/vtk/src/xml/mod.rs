//! XML files: elements that describe the data set, with the values inside or appended.

mod array;
mod document;
mod elements;
mod file_format;
mod join;
mod sizes;
mod structure;
mod tag;

use crate::error::Error;
use crate::source::Source;
use crate::structure::{BlockIndex, Index, Structure};
use std::path::PathBuf;

/// The contents of an XML file.
pub(crate) enum Contents {
    /// The data set, and its pieces if several have the faces of polyhedra.
    DataSet(Box<Structure>, Vec<Structure>),
    Index(Box<Index>),
    Blocks(BlockIndex),
}

/// Reads the elements of an XML file, up to the appended data if any.
pub(crate) fn read_contents(source: &Source) -> Result<Contents, Error> {
    let document = document::read(source)?;
    if let Some(blocks) = &document.blocks {
        Ok(Contents::Blocks(structure::block_index(source, &document, blocks)?))
    } else if document.is_index {
        Ok(Contents::Index(Box::new(structure::index(source, &document)?)))
    } else {
        let (structure, pieces) = structure::build(source, &document)?;
        Ok(Contents::DataSet(Box::new(structure), pieces))
    }
}

/// The files that an XML file lists; none if it has the data itself. Reads indexes only.
pub(crate) fn listed_files(source: &Source) -> Result<Vec<PathBuf>, Error> {
    if !document::is_index(source)? {
        return Ok(Vec::new());
    }
    Ok(match read_contents(source)? {
        Contents::DataSet(..) => Vec::new(),
        Contents::Index(index) => index.files,
        Contents::Blocks(index) => index.files.into_iter().map(|block| block.path).collect(),
    })
}
