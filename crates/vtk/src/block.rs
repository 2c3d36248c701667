//! The block of bytes in a file that holds the values of an array, and its decoding.

use crate::binary::{BinaryArray, BinaryFormat, read_plain};
use crate::error::Error;
use crate::hdf::rows::HdfRows;
use crate::memory::fits_memory;
use crate::scalar::{ByteOrder, ScalarType};
use crate::source::{ErrorContext, quoted};
use crate::text::TextReader;
use crate::values::{Decoder, Values};

/// The block with the values of an array: bytes `start..end` of the file.
///
/// `end` is exact for text and for binary legacy files. For appended data it is the end of the
/// file, as the data starts with its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) encoding: Encoding,
}

/// The encoding of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Text, separated by whitespace.
    Ascii,
    /// Text as above: colours from 0 to 1, of which 1 is the byte 255.
    AsciiColours,
    /// Plain big-endian bytes, in legacy files.
    BigEndian,
    /// A header with sizes, then bytes, in XML files.
    Binary(BinaryFormat),
    /// Rows of a dataset, in HDF5 files.
    Hdf(HdfRows),
    /// Zeros that are not in the file.
    Zeros,
}

impl Block {
    /// Rows of a dataset of an HDF5 file.
    pub(crate) fn of_hdf(rows: HdfRows) -> Self {
        Self { start: 0, end: 0, encoding: Encoding::Hdf(rows) }
    }

    /// Zeros that are not in the file.
    pub(crate) fn zeros() -> Self {
        Self { start: 0, end: 0, encoding: Encoding::Zeros }
    }

    /// Decodes the values; there must be exactly `count`.
    pub(crate) fn decode(
        &self,
        context: ErrorContext<'_>,
        scalar: ScalarType,
        count: usize,
    ) -> Result<Values, Error> {
        let context = context.at(self.start);
        if count == 0 {
            // For an empty array, some writers write nothing, others a part or all of the header.
            return Ok(Values::empty(scalar));
        }
        if !fits_memory((count as u64).saturating_mul(scalar.size() as u64)) {
            return Err(context.out_of_memory(count));
        }
        match self.encoding {
            Encoding::Ascii => self.decode_text(context, scalar, count),
            Encoding::AsciiColours => {
                let colours = self.decode_text(context, ScalarType::F32, count)?.into_f32();
                let byte = |colour: f32| (255.0 * colour + 0.5) as u8;
                Ok(Values::U8(colours.into_iter().map(byte).collect()))
            }
            Encoding::BigEndian => self.decode_big_endian(context, scalar, count),
            Encoding::Binary(format) => self.decode_binary(context, format, scalar, count),
            Encoding::Hdf(rows) => rows.read(context, scalar, count),
            Encoding::Zeros => {
                let mut zeros = Values::empty(scalar);
                zeros.try_reserve(count).map_err(|_| context.out_of_memory(count))?;
                zeros.resize(count);
                Ok(zeros)
            }
        }
    }

    /// Number of values in the block, without decoding it.
    pub(crate) fn count_values(
        &self,
        context: ErrorContext<'_>,
        scalar: ScalarType,
    ) -> Result<usize, Error> {
        let context = context.at(self.start);
        match self.encoding {
            Encoding::Ascii | Encoding::AsciiColours => self
                .text(context)
                .skip_numbers(u64::MAX)
                .map(|n| n as usize)
                .map_err(|e| context.failed(e, "numbers")),
            Encoding::BigEndian => values_in(context, scalar, self.end.saturating_sub(self.start)),
            Encoding::Hdf(rows) => usize::try_from(rows.rows)
                .map_err(|_| context.malformed(format!("`{}` rows", rows.rows), "fewer rows")),
            Encoding::Zeros => Ok(0),
            Encoding::Binary(_) if self.start == self.end => Ok(0),
            Encoding::Binary(format) => {
                let array = BinaryArray::open(context, self.start..self.end, format)?;
                values_in(context, scalar, array.uncompressed_bytes())
            }
        }
    }

    fn text<'a>(&self, context: ErrorContext<'a>) -> TextReader<'a> {
        TextReader::new(context.source(), self.start..self.end)
    }

    fn decode_text(
        &self,
        context: ErrorContext<'_>,
        scalar: ScalarType,
        count: usize,
    ) -> Result<Values, Error> {
        // Each value takes at least two bytes, a digit and a space, except for the last one.
        let max_count = self.end.saturating_sub(self.start).saturating_add(1) / 2;
        if count as u64 > max_count {
            return Err(
                context.truncated(format!("`{count}` numbers where at most `{max_count}` fit"))
            );
        }
        let mut decoder = new_decoder(context, scalar, ByteOrder::Big, count)?;
        let mut text = self.text(context);
        loop {
            text.skip_space().map_err(|e| context.failed(e, "numbers"))?;
            let start = text.position();
            let Some(word) = text.word().map_err(|e| context.failed(e, "numbers"))? else {
                break;
            };
            let number = std::str::from_utf8(word).ok();
            if decoder.len() == count || number.and_then(|n| decoder.push_text(n)).is_none() {
                return Err(bad_word(context.at(start), word, scalar, &decoder, count));
            }
        }
        if decoder.len() < count {
            return Err(
                context.malformed(format!("`{}` numbers", decoder.len()), format!("`{count}`"))
            );
        }
        Ok(decoder.finish())
    }

    fn decode_big_endian(
        &self,
        context: ErrorContext<'_>,
        scalar: ScalarType,
        count: usize,
    ) -> Result<Values, Error> {
        let bytes = self.end.saturating_sub(self.start);
        expect_bytes(context, scalar, count, bytes)?;
        let mut decoder = new_decoder(context, scalar, ByteOrder::Big, count)?;
        let mut reader = context.source().reader(self.start..self.end);
        read_plain(&mut reader, bytes, context, &mut decoder)?;
        Ok(decoder.finish())
    }

    fn decode_binary(
        &self,
        context: ErrorContext<'_>,
        format: BinaryFormat,
        scalar: ScalarType,
        count: usize,
    ) -> Result<Values, Error> {
        let array = BinaryArray::open(context, self.start..self.end, format)?;
        expect_bytes(context, scalar, count, array.uncompressed_bytes())?;
        let mut decoder = new_decoder(context, scalar, format.order, count)?;
        array.decode(&mut decoder)?;
        Ok(decoder.finish())
    }
}

fn new_decoder(
    context: ErrorContext<'_>,
    scalar: ScalarType,
    order: ByteOrder,
    count: usize,
) -> Result<Decoder, Error> {
    Decoder::new(scalar, order, count).map_err(|_| context.out_of_memory(count))
}

fn expect_bytes(
    context: ErrorContext<'_>,
    scalar: ScalarType,
    count: usize,
    found: u64,
) -> Result<(), Error> {
    if scalar.bytes_for(count) == Some(found) {
        return Ok(());
    }
    Err(context.malformed(
        format!("`{found}` bytes of data"),
        format!("`{count}` numbers of type {scalar}"),
    ))
}

/// Number of values in a number of bytes.
fn values_in(context: ErrorContext<'_>, scalar: ScalarType, bytes: u64) -> Result<usize, Error> {
    scalar.values_in(bytes).ok_or_else(|| {
        context.malformed(
            format!("`{bytes}` bytes of data"),
            format!("a multiple of the size of {scalar}"),
        )
    })
}

/// The error for a word that is not a value, or is one too many.
fn bad_word(
    context: ErrorContext<'_>,
    word: &[u8],
    scalar: ScalarType,
    decoder: &Decoder,
    count: usize,
) -> Error {
    let found = quoted(word);
    if decoder.len() == count {
        return context
            .malformed(format!("{found} after `{count}` numbers"), "the end of the array");
    }
    context.malformed(found, format!("a number of type {scalar}"))
}
