//! NumPy arrays of four-byte numbers.
//!
//! Unlike the arrays of the track store, these are read as a whole and may have any valid header.

use crate::InvalidData;
use anyhow::{Result, anyhow};
use std::path::Path;

/// The element type of an array.
pub trait Number: Sized {
    /// Its name in the header.
    const NAME: &str;

    fn of(bytes: [u8; 4]) -> Self;
}

impl Number for f32 {
    const NAME: &str = "<f4";

    fn of(bytes: [u8; 4]) -> Self {
        f32::from_le_bytes(bytes)
    }
}

impl Number for i32 {
    const NAME: &str = "<i4";

    fn of(bytes: [u8; 4]) -> Self {
        i32::from_le_bytes(bytes)
    }
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads an array in C order.
///
/// # Errors
///
/// If the file cannot be read, or is not an array of this element type and shape in C order.
pub fn read<T: Number>(path: &Path, shape: &[usize]) -> Result<Vec<T>> {
    let problem = |what: String| {
        InvalidData::error(format!(
            "{}: {what}; --data needs the arrays listed in docs/guide/bench.md",
            path.display()
        ))
    };
    let bytes = std::fs::read(path).map_err(|error| problem(error.to_string()))?;
    let (header, body) = split(&bytes).ok_or_else(|| problem("not a NumPy array".into()))?;
    let found = shape_of(header, T::NAME).map_err(|error| problem(error.to_string()))?;
    if found != shape {
        return Err(problem(format!("the shape is {found:?} instead of {shape:?}")));
    }
    let (numbers, rest) = body.as_chunks::<4>();
    if numbers.len() != shape.iter().product::<usize>() || !rest.is_empty() {
        return Err(problem(format!("the array has {} bytes", body.len())));
    }
    Ok(numbers.iter().map(|&number| T::of(number)).collect())
}

/// Splits a file of format 1, 2 or 3 into header and numbers.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_at_checked(2)?;
    let (length, rest) = if version[0] == 1 {
        let (length, rest) = rest.split_first_chunk()?;
        (usize::from(u16::from_le_bytes(*length)), rest)
    } else {
        let (length, rest) = rest.split_first_chunk()?;
        (u32::from_le_bytes(*length) as usize, rest)
    };
    let (header, body) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, body))
}

/// The shape in a header of an array with this element type.
fn shape_of(header: &str, number: &str) -> Result<Vec<usize>> {
    let flat: String = header.chars().filter(|c| !c.is_whitespace()).collect();
    let has_type = flat.contains(&format!("'descr':'{number}'"));
    if !has_type || !flat.contains("'fortran_order':False") {
        return Err(anyhow!("the header is {}, not '{number}' in C order", header.trim()));
    }
    let (_, rest) =
        flat.split_once("'shape':(").ok_or_else(|| anyhow!("the header has no shape"))?;
    let (shape, _) = rest.split_once(')').unwrap_or((rest, ""));
    let lengths = shape.split(',').filter(|length| !length.is_empty()).map(str::parse);
    lengths.collect::<Result<_, _>>().map_err(|_| anyhow!("the shape is ({shape})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, numbers: &[f32]) -> tempfile::NamedTempFile {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    #[test]
    fn only_arrays_of_matching_type_and_shape_are_read() {
        let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n";
        let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.5];
        let array = file(good, &numbers);
        assert_eq!(read::<f32>(array.path(), &[2, 3]).unwrap(), numbers);
        let whole = file(&good.replace("f4", "i4"), &numbers.map(|x| f32::from_bits(x as u32)));
        assert_eq!(read::<i32>(whole.path(), &[2, 3]).unwrap(), [1, 2, 3, 4, 5, 6]);
        let message = |shape: &[usize], header: &str| {
            read::<f32>(file(header, &numbers).path(), shape).unwrap_err().to_string()
        };
        assert!(message(&[3, 2], good).contains("[2, 3] instead of [3, 2]"));
        assert!(message(&[2, 3], &good.replace("f4", "f8")).contains("'<f4' in C order"));
        assert!(message(&[2, 2], &good.replace("3)", "2)")).contains("24 bytes"));
        assert!(read::<f32>(Path::new("no-such.npy"), &[1]).is_err());
    }
}
