//! Base64 as written by VTK: several padded streams in sequence, with whitespace between them.

use std::io::{self, BufRead, Read};

/// A streaming base64 decoder.
///
/// Padding ends a stream, and the next one follows. VTK encodes the header of an array and its data
/// as one stream or as two; both give the same bytes.
#[derive(Debug)]
pub(crate) struct Base64Reader<R> {
    text: R,
    /// Decoded bytes that did not fit into the buffer of the caller, in reverse order.
    left: Vec<u8>,
}

impl<R: BufRead> Base64Reader<R> {
    pub(crate) fn new(text: R) -> Self {
        Self { text, left: Vec::with_capacity(3) }
    }

    /// The next character that is not whitespace.
    fn character(&mut self) -> io::Result<Option<u8>> {
        loop {
            let Some(byte) = self.text.fill_buf()?.first().copied() else {
                return Ok(None);
            };
            self.text.consume(1);
            if !byte.is_ascii_whitespace() {
                return Ok(Some(byte));
            }
        }
    }

    /// Decodes the next four characters into `left`; `false` at the end of the text.
    fn group(&mut self) -> io::Result<bool> {
        let mut bits = 0_u32;
        let mut padding = 0;
        for position in 0..4 {
            let Some(character) = self.character()? else {
                return if position == 0 {
                    Ok(false)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
            };
            let value = match VALUES.get(usize::from(character)) {
                Some(value) if *value != NO_VALUE && padding == 0 => *value,
                _ if character == b'=' && position >= 2 => {
                    padding += 1;
                    0
                }
                _ => return Err(not_base64(character)),
            };
            bits = (bits << 6) | u32::from(value);
        }
        let [_, first, second, third] = bits.to_be_bytes();
        let bytes = [third, second, first];
        self.left.extend(bytes.iter().skip(padding));
        Ok(true)
    }
}

impl<R: BufRead> Read for Base64Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(free) = buffer.get_mut(filled..).filter(|free| !free.is_empty()) {
            if self.left.is_empty() {
                let (read, written) = decode_plain(self.text.fill_buf()?, free);
                self.text.consume(read);
                filled += written;
                if written > 0 {
                    continue;
                }
                if !self.group()? {
                    break;
                }
            }
            if let (Some(slot), Some(byte)) = (free.first_mut(), self.left.pop()) {
                *slot = byte;
                filled += 1;
            }
        }
        Ok(filled)
    }
}

/// Decodes the leading groups of four characters without padding or whitespace, as many as fit into
/// `out`. Gives the number of characters read and of bytes written.
fn decode_plain(text: &[u8], out: &mut [u8]) -> (usize, usize) {
    let (groups, _) = text.as_chunks::<4>();
    let (slots, _) = out.as_chunks_mut::<3>();
    let mut done = 0;
    for ([a, b, c, d], slot) in groups.iter().zip(slots) {
        let [a, b, c, d] = [a, b, c, d]
            .map(|character| VALUES.get(usize::from(*character)).copied().unwrap_or(NO_VALUE));
        if (a | b | c | d) & NO_VALUE != 0 {
            break;
        }
        *slot = [(a << 2) | (b >> 4), (b << 4) | (c >> 2), (c << 6) | d];
        done += 1;
    }
    (4 * done, 3 * done)
}

/// The value of each character, or [`NO_VALUE`].
const VALUES: [u8; 256] = values();

/// Not a base64 character. Values have six bits, so that this bit survives a bitwise or.
const NO_VALUE: u8 = 0x80;

const fn values() -> [u8; 256] {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut values = [NO_VALUE; 256];
    let mut value = 0;
    while value < alphabet.len() {
        values[alphabet[value] as usize] = value as u8;
        value += 1;
    }
    values
}

fn not_base64(character: u8) -> io::Error {
    let found = format!("`{}` in base64 text", char::from(character).escape_debug());
    io::Error::new(io::ErrorKind::InvalidData, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(text: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        Base64Reader::new(text.as_bytes()).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    #[test]
    fn consecutive_streams_are_decoded() {
        assert_eq!(decode("aGVsbG8=").unwrap(), b"hello");
        assert_eq!(decode(" aGVs\n bG8=IHdvcmxk ").unwrap(), b"hello world");
        assert_eq!(decode("YQ==Yg==").unwrap(), b"ab");
        assert_eq!(decode("").unwrap(), b"");
    }

    #[test]
    fn reads_of_any_size_give_the_same_bytes() {
        let text = "AAEC\nAwQFBg==BwgJ Cg sM";
        let expected: Vec<u8> = (0..=12).collect();
        for size in 1..=14 {
            let mut reader = Base64Reader::new(io::BufReader::with_capacity(5, text.as_bytes()));
            let mut bytes = Vec::<u8>::new();
            let mut buffer = vec![0; size];
            while let read @ 1.. = reader.read(&mut buffer).unwrap() {
                bytes.extend(&buffer[..read]);
            }
            assert_eq!(bytes, expected, "reads of {size} bytes");
        }
    }

    #[test]
    fn invalid_text_is_an_error() {
        for text in ["aGVs=bG8", "aGV", "a===", "aGV!", "aG=s", "====="] {
            assert!(decode(text).is_err(), "{text}");
        }
    }
}
