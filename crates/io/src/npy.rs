//! Arrays of numbers in `.npy` files, as NumPy writes them.

use crate::{Error, Result};
use std::path::Path;

/// The first bytes of a file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// An array of numbers; those of the last dimension follow one another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NpyArray {
    /// The numbers along each dimension.
    pub shape: Vec<usize>,
    /// The numbers, in double precision.
    pub values: Vec<f64>,
}

/// Reads a `.npy` file of floats or integers, in any byte order and order of dimensions: for example the velocities of a field,
/// or observed positions.
///
/// # Errors
///
/// If the file cannot be read, is not one of NumPy, is shorter than its shape, or has values of another type.
pub fn read_npy(path: impl AsRef<Path>) -> Result<NpyArray> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).map_err(Error::system("read", path))?;
    parse(&bytes).map_err(|reason| Error::Npy { path: path.into(), reason })
}

/// The bytes before the numbers of a file; `type_name` is that of NumPy, such as `<f4`.
pub(crate) fn header(type_name: &str, shape: &[usize]) -> Vec<u8> {
    let lengths: String = shape.iter().map(|length| format!("{length}, ")).collect();
    let mut text = format!(
        "{{'descr': '{type_name}', 'fortran_order': False, 'shape': ({}), }}",
        lengths.trim_end()
    );
    // The numbers begin at a multiple of 64 bytes.
    let start = (MAGIC.len() + 4 + text.len() + 1).next_multiple_of(64);
    let length = start - MAGIC.len() - 4;
    text.push_str(&" ".repeat(length - 1 - text.len()));
    text.push('\n');
    // An array has a few dimensions, so that its header is short.
    [MAGIC, &[1, 0], &(length as u16).to_le_bytes(), text.as_bytes()].concat()
}

fn parse(bytes: &[u8]) -> std::result::Result<NpyArray, String> {
    let (text, data) = divide(bytes)
        .ok_or("the file does not begin as one of NumPy; write it with `numpy.save`")?;
    let value = |key: &str| {
        let rest = text.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
        rest.ok_or_else(|| format!("its header has no `{key}`, but {}", text.trim()))
    };
    let shape = shape(value("shape")?)?;
    let type_name = value("descr")?.split(['\'', '"']).nth(1).unwrap_or_default();
    let count = shape.iter().try_fold(1, |count: usize, length| count.checked_mul(*length));
    let values = count.and_then(|count| numbers(type_name, data, count).transpose()).transpose();
    let values = values.map_err(|found| format!(
        "its values are of the type `{found}`; convert them, for example with `.astype(\"float64\")`"
    ))?;
    let values = values.ok_or_else(|| {
        format!("the file has {} bytes of numbers, too few for the shape {shape:?}", data.len())
    })?;
    Ok(match value("fortran_order")?.starts_with("True") {
        true => NpyArray { values: with_last_dimension_first(&values, &shape), shape },
        false => NpyArray { values, shape },
    })
}

/// The header and the numbers of a file.
fn divide(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let [version, _, rest @ ..] = bytes.strip_prefix(MAGIC)? else { return None };
    let (length, rest) = match version {
        1 => rest
            .split_first_chunk()
            .map(|(size, rest)| (u16::from_le_bytes(*size) as usize, rest))?,
        _ => rest
            .split_first_chunk()
            .map(|(size, rest)| (u32::from_le_bytes(*size) as usize, rest))?,
    };
    let (text, data) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(text).ok()?, data))
}

/// The numbers along each dimension, from a text such as `(3, 2), }`.
fn shape(text: &str) -> std::result::Result<Vec<usize>, String> {
    let inside =
        text.strip_prefix('(').and_then(|text| text.split_once(')')).map(|(inside, _)| inside);
    let lengths = inside.map(|text| text.split(',').map(str::trim).filter(|text| !text.is_empty()));
    let lengths = lengths.and_then(|lengths| lengths.map(|text| text.parse().ok()).collect());
    lengths.ok_or_else(|| format!("its shape is not a list of whole numbers: {}", text.trim()))
}

/// The first numbers of a type; `None` if there are too few.
///
/// # Errors
///
/// The name of the type, if it is not one of numbers.
fn numbers<'a>(
    type_name: &'a str,
    data: &[u8],
    count: usize,
) -> std::result::Result<Option<Vec<f64>>, &'a str> {
    macro_rules! read {
        ($type:ty) => {{
            const SIZE: usize = size_of::<$type>();
            let is_big = type_name.starts_with('>');
            let all = count.checked_mul(SIZE).and_then(|size| data.get(..size));
            let number = |bytes: &[u8; SIZE]| match is_big {
                true => <$type>::from_be_bytes(*bytes) as f64,
                false => <$type>::from_le_bytes(*bytes) as f64,
            };
            Ok(all.map(|all| all.as_chunks().0.iter().map(number).collect()))
        }};
    }
    match type_name.trim_start_matches(['<', '>', '|', '=']) {
        "f4" => read!(f32),
        "f8" => read!(f64),
        "i1" => read!(i8),
        "i2" => read!(i16),
        "i4" => read!(i32),
        "i8" => read!(i64),
        "u1" | "b1" => read!(u8),
        "u2" => read!(u16),
        "u4" => read!(u32),
        "u8" => read!(u64),
        _ => Err(type_name),
    }
}

/// Numbers of which those of the first dimension follow one another, in the other order.
fn with_last_dimension_first(values: &[f64], shape: &[usize]) -> Vec<f64> {
    let mut index = vec![0; shape.len()];
    let next = |_| {
        let place = |(sum, stride), (at, length)| (sum + at * stride, stride * length);
        let (place, _) = index.iter().zip(shape).fold((0, 1), place);
        for (at, length) in index.iter_mut().zip(shape).rev() {
            *at += 1;
            if *at < *length {
                break;
            }
            *at = 0;
        }
        values[place]
    };
    (0..values.len()).map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str, data: &[u8]) -> Vec<u8> {
        [MAGIC, &[1, 0], &(text.len() as u16).to_le_bytes(), text.as_bytes(), data].concat()
    }

    #[test]
    fn arrays_are_read_as_written() {
        for shape in [&[][..], &[3], &[1, 3], &[0, 3]] {
            let head = header("<f4", shape);
            assert_eq!(head.len() % 64, 0);
            let count = shape.iter().product();
            let values: Vec<f32> = (0..count).map(|i| 0.5 + i as f32).collect();
            let read =
                parse(&[head, crate::number::bytes_of(&values).into_owned()].concat()).unwrap();
            assert_eq!(read.shape, shape);
            assert_eq!(read.values, values.iter().map(|x| f64::from(*x)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn byte_orders_types_and_orders_of_dimensions_are_converted() {
        let head = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
        let numbers = [0_i16, 10, 1, 11, 2, -12].map(i16::to_be_bytes);
        let read = parse(&file(head, numbers.as_flattened())).unwrap();
        assert_eq!(
            read,
            NpyArray { shape: vec![2, 3], values: vec![0.0, 1.0, 2.0, 10.0, 11.0, -12.0] }
        );
        let head = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 2)}";
        let read = parse(&file(head, &[0, 1, 2, 3, 4, 5, 6, 7])).unwrap();
        assert_eq!(read.values, [0.0, 4.0, 2.0, 6.0, 1.0, 5.0, 3.0, 7.0]);
    }

    #[test]
    fn other_files_are_refused() {
        let of = |text: &str| file(text, &[0; 8]);
        for (bytes, reason) in [
            (b"x,y,z\n".to_vec(), "does not begin as one of NumPy; write it with `numpy.save`"),
            (
                of("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"),
                "8 bytes of numbers, too few for the shape [2]",
            ),
            (
                of("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }"),
                "the type `<c8`; convert them",
            ),
            (
                of("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }"),
                "the type `x`",
            ),
            (of("{'descr': '<f8', 'shape': (1,), }"), "no `fortran_order`"),
            (
                of("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }"),
                "not a list of whole numbers: (-1",
            ),
            (
                of(&format!(
                    "{{'descr': '<f8', 'fortran_order': False, 'shape': ({0}, {0}), }}",
                    usize::MAX
                )),
                "too few",
            ),
        ] {
            let error = parse(&bytes).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
