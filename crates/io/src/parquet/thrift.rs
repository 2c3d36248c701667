//! The compact protocol of Thrift, in which Parquet describes a file.
//!
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>

/// Type codes of the protocol.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A structure that is being written. Fields are added in the order of their numbers.
#[derive(Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    /// The bytes of the structure.
    pub fn bytes(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    pub fn i32(self, field: u8, value: i32) -> Struct {
        self.with(field, I32, &zigzag(value.into()))
    }

    pub fn i64(self, field: u8, value: i64) -> Struct {
        self.with(field, I64, &zigzag(value))
    }

    pub fn text(self, field: u8, text: &str) -> Struct {
        self.with(field, BINARY, &binary(text))
    }

    pub fn nested(self, field: u8, nested: Struct) -> Struct {
        self.with(field, STRUCT, &nested.bytes())
    }

    pub fn i32s(self, field: u8, values: &[i32]) -> Struct {
        let items = values.iter().map(|value| zigzag((*value).into())).collect();
        self.list(field, I32, items)
    }

    pub fn texts(self, field: u8, texts: &[&str]) -> Struct {
        let items = texts.iter().map(|text| binary(text)).collect();
        self.list(field, BINARY, items)
    }

    pub fn structs(self, field: u8, structs: impl IntoIterator<Item = Struct>) -> Struct {
        let items = structs.into_iter().map(Struct::bytes).collect();
        self.list(field, STRUCT, items)
    }

    fn list(self, field: u8, kind: u8, items: Vec<Vec<u8>>) -> Struct {
        let mut bytes = match items.len() {
            count @ 0..15 => vec![(count as u8) << 4 | kind],
            count => [vec![0xf0 | kind], varint(count as u64)].concat(),
        };
        bytes.extend(items.into_iter().flatten());
        self.with(field, LIST, &bytes)
    }

    /// Adds a field. The numbers of fields of Parquet differ by less than 16.
    fn with(mut self, field: u8, kind: u8, value: &[u8]) -> Struct {
        debug_assert!(field > self.last && field - self.last < 16);
        self.bytes.push((field - self.last) << 4 | kind);
        self.bytes.extend_from_slice(value);
        self.last = field;
        self
    }
}

/// A number with 7 bits in each byte, the lowest first.
pub(super) fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A signed number, with the sign in the lowest bit.
fn zigzag(number: i64) -> Vec<u8> {
    varint(((number << 1) ^ (number >> 63)) as u64)
}

fn binary(text: &str) -> Vec<u8> {
    [varint(text.len() as u64), text.as_bytes().to_vec()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_fields_have_the_bytes_of_the_specification() {
        assert_eq!(varint(300), [0xac, 0x02]);
        assert_eq!([0, -1, 1, -2].map(zigzag), [[0], [1], [2], [3]]);
        let of = Struct::default().i32(1, -1).text(4, "ab").i32s(5, &[1, 2]);
        assert_eq!(of.bytes(), [0x15, 1, 0x38, 2, b'a', b'b', 0x19, 0x25, 2, 4, 0]);
        let long = Struct::default().i32s(1, &[0; 15]).bytes();
        assert_eq!(long[..3], [0x19, 0xf5, 15]);
    }
}
