//! Base64 as VTK writes it: several padded streams one after the other, with whitespace between.

use std::io::{self, BufRead, Read};

/// Decodes base64 text while it is read.
///
/// Padding ends one stream and the next goes on right after it. VTK encodes the sizes before an
/// array and its data sometimes as one stream and sometimes as two; both give the same bytes here.
#[derive(Debug)]
pub(crate) struct Base64Reader<R> {
    text: R,
    /// Decoded bytes that did not fit into the caller's buffer, last first.
    left: Vec<u8>,
}

impl<R: BufRead> Base64Reader<R> {
    pub(crate) fn new(text: R) -> Self {
        Self {
            text,
            left: Vec::with_capacity(3),
        }
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
        for place in 0..4 {
            let Some(character) = self.character()? else {
                return if place == 0 {
                    Ok(false)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
            };
            let sextet = match sextet(character) {
                Some(sextet) if padding == 0 => sextet,
                _ if character == b'=' && place >= 2 => {
                    padding += 1;
                    0
                }
                _ => return Err(not_base64(character)),
            };
            bits = (bits << 6) | u32::from(sextet);
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
        for slot in buffer {
            if self.left.is_empty() && !self.group()? {
                break;
            }
            let Some(byte) = self.left.pop() else { break };
            *slot = byte;
            filled += 1;
        }
        Ok(filled)
    }
}

fn sextet(character: u8) -> Option<u8> {
    match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a' + 26),
        b'0'..=b'9' => Some(character - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
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
    fn streams_follow_each_other() {
        assert_eq!(decode("aGVsbG8=").unwrap(), b"hello");
        assert_eq!(decode(" aGVs\n bG8=IHdvcmxk ").unwrap(), b"hello world");
        assert_eq!(decode("YQ==Yg==").unwrap(), b"ab");
        assert_eq!(decode("").unwrap(), b"");
    }

    #[test]
    fn damage_is_an_error() {
        for text in ["aGVs=bG8", "aGV", "a===", "aGV!", "aG=s", "====="] {
            assert!(decode(text).is_err(), "{text}");
        }
    }
}
