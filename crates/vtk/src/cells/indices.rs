//! Integer arrays, read piece by piece.

use crate::array::ArrayInfo;
use crate::error::Error;
use crate::pieces::stored_values;
use crate::scalar::ScalarType;
use crate::source::ErrorContext;
use crate::sources::Sources;

/// A topology array: types, offsets or connectivity.
pub(super) struct IndexArray<'a> {
    sources: &'a Sources,
    info: &'a ArrayInfo,
    /// The name of the array in messages.
    element: String,
}

impl<'a> IndexArray<'a> {
    /// Checks that the values can be indices.
    pub(super) fn new(sources: &'a Sources, info: &'a ArrayInfo) -> Result<Self, Error> {
        let array = Self { sources, info, element: info.element() };
        let is_integer = !matches!(info.scalar, ScalarType::F32 | ScalarType::F64);
        if info.components == 1 && is_integer {
            return Ok(array);
        }
        let found = format!("tuples of `{}` numbers of type {}", info.components, info.scalar);
        Err(array.context(0).malformed(found, "single integers"))
    }

    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.info.tuples
    }

    /// Number of pieces of the data set.
    pub(super) fn pieces(&self) -> usize {
        self.info.parts.len()
    }

    /// Checks the number of values.
    pub(super) fn expect_count(&self, expected: usize) -> Result<(), Error> {
        let found = self.len();
        if found == expected {
            return Ok(());
        }
        let expected = format!("`{expected}` for the number of cells");
        Err(self.context(0).malformed(format!("`{found}` numbers"), expected))
    }

    /// The error context of a piece.
    pub(super) fn context(&self, piece: usize) -> ErrorContext<'_> {
        match self.info.parts.get(piece) {
            Some(part) => self.sources.of(part).context(part.block.start, &self.element),
            None => self.sources.main().context(0, &self.element),
        }
    }

    /// The index offset of a piece; `None` if there is no such piece.
    pub(super) fn index_offset(&self, piece: usize) -> Option<usize> {
        self.info.parts.get(piece).map(|part| part.placement.index_offset())
    }

    /// Appends the values of a piece, converted by `convert`. A value that it rejects is
    /// an error; `expected` describes the valid values.
    pub(super) fn read<T>(
        &self,
        piece: usize,
        out: &mut Vec<T>,
        convert: impl Fn(usize) -> Option<T>,
        expected: &str,
    ) -> Result<(), Error> {
        let context = self.context(piece);
        let Some(part) = self.info.parts.get(piece) else {
            return Err(context.malformed("a piece without this array", "one in each"));
        };
        let values = stored_values(context, self.info, part)?;
        out.try_reserve(values.len()).map_err(|_| context.out_of_memory(values.len()))?;
        values.append_indices(out, convert).map_err(|(position, number)| {
            context.malformed(format!("`{number}` (after `{position}` numbers)"), expected)
        })
    }
}
