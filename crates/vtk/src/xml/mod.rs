//! XML files: elements that describe the data set, with the numbers inside or appended.

mod array;
mod document;
mod elements;
mod join;
mod sizes;
mod structure;
mod tag;

use crate::error::Error;
use crate::file::Structure;
use crate::source::Source;

/// Reads the elements of an XML file, up to the appended data if there are any.
pub(crate) fn read_structure(source: &Source) -> Result<Structure, Error> {
    structure::build(source, &document::read(source)?)
}
