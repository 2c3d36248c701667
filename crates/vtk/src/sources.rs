//! The files of a data set.

use crate::array::Part;
use crate::error::Error;
use crate::source::Source;
use crate::structure::Structure;

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
        self.file(part.file)
    }

    /// The file that describes a structure.
    pub(crate) fn of_structure(&self, structure: &Structure) -> &Source {
        self.file(structure.file)
    }

    /// The files, the opened one first.
    pub(crate) fn into_files(self) -> impl Iterator<Item = Source> {
        std::iter::once(self.main).chain(self.listed)
    }

    /// Number of bytes of all files.
    pub(crate) fn total_len(&self) -> u64 {
        let listed = self.listed.iter().map(Source::len);
        listed.fold(self.main.len(), u64::saturating_add)
    }

    /// The error for what the kind of a data set does not have.
    pub(crate) fn absent(
        &self,
        structure: &Structure,
        what: &'static str,
        remedy: &'static str,
    ) -> Error {
        let path = self.of_structure(structure).path().to_path_buf();
        Error::Absent { path, kind: structure.geometry.kind(), what, remedy }
    }

    fn file(&self, number: usize) -> &Source {
        let listed = number.checked_sub(1).and_then(|number| self.listed.get(number));
        listed.unwrap_or(&self.main)
    }
}
