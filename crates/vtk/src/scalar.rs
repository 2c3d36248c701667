//! The scalar types of VTK: names, bytes and text.

use std::fmt;

/// The type of the values of an array in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// One bit, eight to a byte, first value in the highest bit. Read as [`Values::U8`](crate::Values::U8).
    Bit,
    /// Signed 8 bit integer.
    I8,
    /// Unsigned 8 bit integer.
    U8,
    /// Signed 16 bit integer.
    I16,
    /// Unsigned 16 bit integer.
    U16,
    /// Signed 32 bit integer.
    I32,
    /// Unsigned 32 bit integer.
    U32,
    /// Signed 64 bit integer.
    I64,
    /// Unsigned 64 bit integer.
    U64,
    /// 32 bit floating point number.
    F32,
    /// 64 bit floating point number.
    F64,
}

/// The name of each type in XML files, and its names in legacy files.
///
/// A legacy `vtkIdType` is always written as a 32 bit integer. A `long` is 64 bits wide, as on
/// every platform but Windows.
const NAMES: [(ScalarType, &str, &[&str]); 11] = [
    (ScalarType::Bit, "Bit", &["bit"]),
    (ScalarType::I8, "Int8", &["char", "signed_char", "vtktypeint8"]),
    (ScalarType::U8, "UInt8", &["unsigned_char", "vtktypeuint8"]),
    (ScalarType::I16, "Int16", &["short", "vtktypeint16"]),
    (ScalarType::U16, "UInt16", &["unsigned_short", "vtktypeuint16"]),
    (ScalarType::I32, "Int32", &["int", "vtkidtype", "vtktypeint32"]),
    (ScalarType::U32, "UInt32", &["unsigned_int", "vtktypeuint32"]),
    (ScalarType::I64, "Int64", &["long", "long_long", "vtktypeint64"]),
    (ScalarType::U64, "UInt64", &["unsigned_long", "unsigned_long_long", "vtktypeuint64"]),
    (ScalarType::F32, "Float32", &["float", "vtktypefloat32"]),
    (ScalarType::F64, "Float64", &["double", "vtktypefloat64"]),
];

impl ScalarType {
    /// The type with this name in XML files.
    pub(crate) fn from_xml(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, xml, _)| *xml == name).map(|(scalar, ..)| *scalar)
    }

    /// The type with this name in legacy files, case-insensitive.
    pub(crate) fn from_legacy(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        NAMES.iter().find(|(_, _, old)| old.contains(&name.as_str())).map(|(scalar, ..)| *scalar)
    }

    /// Number of bytes of `values` values in a binary file; `None` on overflow.
    pub(crate) fn bytes_for(self, values: usize) -> Option<u64> {
        let values = u64::try_from(values).ok()?;
        match self {
            Self::Bit => Some(values.div_ceil(8)),
            _ => values.checked_mul(self.size() as u64),
        }
    }

    /// Number of values in `bytes` bytes; `None` if the last value is incomplete.
    pub(crate) fn values_in(self, bytes: u64) -> Option<usize> {
        let values = match self {
            Self::Bit => bytes.checked_mul(8)?,
            _ if bytes.is_multiple_of(self.size() as u64) => bytes / self.size() as u64,
            _ => return None,
        };
        usize::try_from(values).ok()
    }

    /// The relative distance of neighbouring numbers of a floating point type; 0 for integers.
    pub(crate) fn epsilon(self) -> f64 {
        match self {
            Self::F32 => f64::from(f32::EPSILON),
            Self::F64 => f64::EPSILON,
            _ => 0.0,
        }
    }

    /// Size of one decoded value, in bytes.
    pub fn size(self) -> usize {
        match self {
            Self::Bit | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

/// Writes the name that XML files use, e.g. `Float32`.
impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(scalar, ..)| scalar == self).map_or("", |(_, xml, _)| xml);
        f.write_str(name)
    }
}

/// Byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

/// A type of values in memory.
pub(crate) trait Scalar: Sized + Copy + Default + fmt::Display {
    /// Decodes values and appends them; an incomplete last one is ignored.
    fn extend(out: &mut Vec<Self>, bytes: &[u8], order: ByteOrder);
    /// Parses a value of an ASCII file.
    fn parse(text: &str) -> Option<Self>;
    /// Rounds to the nearest `f32`.
    fn to_f32(self) -> f32;
    /// Rounds to the nearest `f64`.
    fn to_f64(self) -> f64;
    /// The value as an index; `None` if it is negative or of a floating point type.
    fn to_index(self) -> Option<usize>;
    /// Adds an index offset; `None` on overflow or for a floating point type.
    fn offset_by(self, by: i64) -> Option<Self>;
}

macro_rules! implement_scalar {
    ($type:ty, $text:ident => $parse:expr, $self:ident => $index:expr, $by:ident => $offset:expr) => {
        impl Scalar for $type {
            fn extend(out: &mut Vec<Self>, bytes: &[u8], order: ByteOrder) {
                let (numbers, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                match order {
                    ByteOrder::Little => out.extend(numbers.iter().map(|b| Self::from_le_bytes(*b))),
                    ByteOrder::Big => out.extend(numbers.iter().map(|b| Self::from_be_bytes(*b))),
                }
            }

            fn parse($text: &str) -> Option<Self> {
                $parse
            }

            fn to_f32(self) -> f32 {
                self as f32
            }

            fn to_f64(self) -> f64 {
                self as f64
            }

            fn to_index($self) -> Option<usize> {
                $index
            }

            fn offset_by($self, $by: i64) -> Option<Self> {
                $offset
            }
        }
    };
}

macro_rules! implement_integers {
    ($($type:ty),*) => {
        $(implement_scalar!($type, text => text.parse().ok(), self => self.try_into().ok(), by =>
            i64::try_from(self).ok()?.checked_add(by)?.try_into().ok());)*
    };
}

macro_rules! implement_floats {
    ($($type:ty),*) => {
        $(implement_scalar!($type,
            text => text.parse().ok().or_else(|| special_float(text).map(|value| value as $type)),
            self => None, _by => None);)*
    };
}

implement_integers!(i8, u8, i16, u16, i32, u32, i64, u64);
implement_floats!(f32, f64);

/// NaN and infinity as printed by various C libraries: `-1.#IND`, `1.#QNAN`,
/// `1.#INF00`, `nan(0x8)`.
fn special_float(text: &str) -> Option<f64> {
    let text = text.to_ascii_lowercase();
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(&text)),
    };
    if rest.starts_with("1.#inf") {
        Some(sign * f64::INFINITY)
    } else if rest.starts_with("1.#") || rest.starts_with("nan(") {
        Some(f64::NAN)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_floats_of_c_libraries_are_parsed() {
        assert_eq!(f64::parse("+11047"), Some(11047.0));
        assert_eq!(f32::parse("1e-3"), Some(1e-3));
        assert_eq!(f32::parse("-1.#INF"), Some(f32::NEG_INFINITY));
        for text in ["nan", "-nan", "-1.#IND", "1.#QNAN", "nan(0x8000)", "NaN"] {
            assert!(f64::parse(text).unwrap().is_nan(), "{text}");
        }
        assert_eq!(f64::parse("velocity"), None);
    }

    #[test]
    fn integers_out_of_range_are_refused() {
        assert_eq!(i32::parse("+7"), Some(7));
        assert_eq!(u8::parse("256"), None);
        assert_eq!(i32::MAX.offset_by(1), None);
        assert_eq!(2.0_f32.offset_by(1), None);
    }

    #[test]
    fn types_have_xml_and_legacy_names() {
        assert_eq!(ScalarType::from_legacy("Unsigned_Char"), Some(ScalarType::U8));
        assert_eq!(ScalarType::from_legacy("vtkIdType"), Some(ScalarType::I32));
        assert_eq!(ScalarType::from_xml("Float64"), Some(ScalarType::F64));
        assert_eq!(ScalarType::F32.to_string(), "Float32");
        assert_eq!(ScalarType::Bit.bytes_for(9), Some(2));
        assert_eq!(ScalarType::I32.values_in(6), None);
    }
}
