//! Arrays of whole numbers, read piece by piece.

use crate::array::ArrayInfo;
use crate::error::Error;
use crate::pieces::stored_values;
use crate::scalar::ScalarType;
use crate::source::{Sources, Spot};

/// An array that says how cells are made of points.
pub(super) struct IndexArray<'a> {
    sources: &'a Sources,
    info: &'a ArrayInfo,
    /// How messages call the array.
    element: String,
}

impl<'a> IndexArray<'a> {
    /// Checks that the numbers can be indices.
    pub(super) fn new(sources: &'a Sources, info: &'a ArrayInfo) -> Result<Self, Error> {
        let array = Self { sources, info, element: info.element() };
        let is_whole = !matches!(info.scalar, ScalarType::F32 | ScalarType::F64);
        if info.components == 1 && is_whole {
            return Ok(array);
        }
        let found = format!("tuples of `{}` numbers of type {}", info.components, info.scalar);
        Err(array.spot(0).malformed(found, "single whole numbers"))
    }

    /// Number of numbers.
    pub(super) fn len(&self) -> usize {
        self.info.tuples
    }

    /// Number of pieces of the data set.
    pub(super) fn pieces(&self) -> usize {
        self.info.parts.len()
    }

    /// Checks the number of numbers.
    pub(super) fn expect_numbers(&self, expected: usize) -> Result<(), Error> {
        let found = self.len();
        if found == expected {
            return Ok(());
        }
        let expected = format!("`{expected}`, as the number of cells asks for");
        Err(self.spot(0).malformed(format!("`{found}` numbers"), expected))
    }

    /// The place of the numbers of a piece.
    pub(super) fn spot(&self, piece: usize) -> Spot<'_> {
        match self.info.parts.get(piece) {
            Some(part) => self.sources.of(part).spot(part.block.start, &self.element),
            None => self.sources.main().spot(0, &self.element),
        }
    }

    /// By how much the indices of a piece are to be moved; `None` if there is no such piece.
    pub(super) fn index_offset(&self, piece: usize) -> Option<usize> {
        self.info.parts.get(piece).map(|part| part.placement.index_offset())
    }

    /// Appends the numbers of a piece, each as `convert` makes it; one that it refuses is not what
    /// is `expected`.
    pub(super) fn read<T>(
        &self,
        piece: usize,
        out: &mut Vec<T>,
        convert: impl Fn(usize) -> Option<T>,
        expected: &str,
    ) -> Result<(), Error> {
        let spot = self.spot(piece);
        let Some(part) = self.info.parts.get(piece) else {
            return Err(spot.malformed("a piece without this array", "one in each"));
        };
        let values = stored_values(spot, self.info, part)?;
        out.try_reserve(values.len()).map_err(|_| spot.out_of_memory(values.len()))?;
        values.append_indices(out, convert).map_err(|(position, number)| {
            spot.malformed(format!("`{number}` (after `{position}` numbers)"), expected)
        })
    }
}
