//! Where the numbers of an array lie in the file, and how they are read from there.

use crate::error::Error;
use crate::packed::{PackedArray, Packing, read_plain};
use crate::scalar::{ByteOrder, ScalarType};
use crate::source::{Spot, quoted};
use crate::text::TextReader;
use crate::values::{Decoder, Values};

/// A run of numbers in the file: bytes `start..end`.
///
/// `end` is exact for text and for the bare bytes of legacy files. For appended data it is the end
/// of the file: there the data itself says how long it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) encoding: Encoding,
}

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Words of text.
    Ascii,
    /// Bare big-endian bytes, in legacy files.
    Bytes,
    /// Sizes and bytes, in XML files.
    Packed(Packing),
}

impl Block {
    /// Reads `count` numbers: those of the block, neither more nor fewer.
    pub(crate) fn decode(
        &self,
        spot: Spot<'_>,
        scalar: ScalarType,
        count: usize,
    ) -> Result<Values, Error> {
        let spot = spot.at(self.start);
        if count == 0 {
            // Writers differ in what they leave for an empty array, from nothing to a full header.
            return Ok(Values::empty(scalar));
        }
        match self.encoding {
            Encoding::Ascii => self.decode_text(spot, scalar, count),
            Encoding::Bytes => self.decode_bytes(spot, scalar, count),
            Encoding::Packed(packing) => self.decode_packed(spot, packing, scalar, count),
        }
    }

    /// Number of numbers in the block, found without decoding it.
    pub(crate) fn measure(&self, spot: Spot<'_>, scalar: ScalarType) -> Result<usize, Error> {
        let spot = spot.at(self.start);
        match self.encoding {
            Encoding::Ascii => self
                .text(spot)
                .skip_numbers(u64::MAX)
                .map(|n| n as usize)
                .map_err(|e| spot.failed(e, "numbers")),
            Encoding::Bytes => whole_values(spot, scalar, self.end.saturating_sub(self.start)),
            Encoding::Packed(_) if self.start == self.end => Ok(0),
            Encoding::Packed(packing) => {
                let array = PackedArray::open(spot, self.start..self.end, packing)?;
                whole_values(spot, scalar, array.unpacked_bytes())
            }
        }
    }

    fn text<'a>(&self, spot: Spot<'a>) -> TextReader<'a> {
        TextReader::new(spot.source(), self.start..self.end)
    }

    fn decode_text(
        &self,
        spot: Spot<'_>,
        scalar: ScalarType,
        count: usize,
    ) -> Result<Values, Error> {
        // Two bytes a number: a digit and a space, but for the last.
        let room = self.end.saturating_sub(self.start).saturating_add(1) / 2;
        if count as u64 > room {
            return Err(
                spot.truncated(format!("`{count}` numbers where there is room for `{room}`"))
            );
        }
        let mut decoder = new_decoder(spot, scalar, ByteOrder::Big, count)?;
        let mut text = self.text(spot);
        loop {
            text.skip_space().map_err(|e| spot.failed(e, "numbers"))?;
            let start = text.position();
            let Some(word) = text.word().map_err(|e| spot.failed(e, "numbers"))? else {
                break;
            };
            let number = std::str::from_utf8(word).ok();
            if decoder.len() == count || number.and_then(|n| decoder.push_text(n)).is_none() {
                return Err(bad_word(spot.at(start), word, scalar, &decoder, count));
            }
        }
        if decoder.len() < count {
            return Err(
                spot.malformed(format!("`{}` numbers", decoder.len()), format!("`{count}`"))
            );
        }
        Ok(decoder.finish())
    }

    fn decode_bytes(
        &self,
        spot: Spot<'_>,
        scalar: ScalarType,
        count: usize,
    ) -> Result<Values, Error> {
        let bytes = self.end.saturating_sub(self.start);
        expect_bytes(spot, scalar, count, bytes)?;
        let mut decoder = new_decoder(spot, scalar, ByteOrder::Big, count)?;
        let mut reader = spot.source().reader(self.start..self.end);
        read_plain(&mut reader, bytes, spot, &mut decoder)?;
        Ok(decoder.finish())
    }

    fn decode_packed(
        &self,
        spot: Spot<'_>,
        packing: Packing,
        scalar: ScalarType,
        count: usize,
    ) -> Result<Values, Error> {
        let array = PackedArray::open(spot, self.start..self.end, packing)?;
        expect_bytes(spot, scalar, count, array.unpacked_bytes())?;
        let mut decoder = new_decoder(spot, scalar, packing.order, count)?;
        array.decode(&mut decoder)?;
        Ok(decoder.finish())
    }
}

fn new_decoder(
    spot: Spot<'_>,
    scalar: ScalarType,
    order: ByteOrder,
    count: usize,
) -> Result<Decoder, Error> {
    Decoder::new(scalar, order, count).map_err(|_| spot.out_of_memory(count))
}

fn expect_bytes(spot: Spot<'_>, scalar: ScalarType, count: usize, found: u64) -> Result<(), Error> {
    if scalar.bytes_for(count) == Some(found) {
        return Ok(());
    }
    Err(spot.malformed(
        format!("`{found}` bytes of data"),
        format!("`{count}` numbers of type {scalar}"),
    ))
}

fn whole_values(spot: Spot<'_>, scalar: ScalarType, bytes: u64) -> Result<usize, Error> {
    scalar.values_in(bytes).ok_or_else(|| {
        spot.malformed(
            format!("`{bytes}` bytes of data"),
            format!("whole numbers of type {scalar}"),
        )
    })
}

fn bad_word(
    spot: Spot<'_>,
    word: &[u8],
    scalar: ScalarType,
    decoder: &Decoder,
    count: usize,
) -> Error {
    let found = quoted(word);
    if decoder.len() == count {
        return spot.malformed(format!("{found} after `{count}` numbers"), "the end of the array");
    }
    spot.malformed(found, format!("a number of type {scalar}"))
}
