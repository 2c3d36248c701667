//! The files of a data set.

use crate::array::Part;
use crate::source::Source;

/// The opened file and, if it is an index, the files that it lists.
#[derive(Debug)]
pub(crate) struct Sources {
    main: Source,
    listed: Vec<Source>,
}

impl Sources {
    pub(crate) fn new(main: Source, listed: Vec<Source>) -> Self {
        Self { main, listed }
    }

    /// The opened file.
    pub(crate) fn main(&self) -> &Source {
        &self.main
    }

    /// The file of a part of an array.
    pub(crate) fn of(&self, part: &Part) -> &Source {
        let listed = part.file.checked_sub(1).and_then(|number| self.listed.get(number));
        listed.unwrap_or(&self.main)
    }
}
