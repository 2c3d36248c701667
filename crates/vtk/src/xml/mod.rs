//! XML files: elements that describe the data set, with the values inside or appended.

mod array;
mod document;
mod elements;
mod join;
mod sizes;
mod structure;
mod tag;

use crate::error::Error;
use crate::source::Source;
use crate::structure::{BlockIndex, Index, Structure};

/// The contents of an XML file.
pub(crate) enum Contents {
    DataSet(Box<Structure>),
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
        Ok(Contents::DataSet(Box::new(structure::build(source, &document)?)))
    }
}
