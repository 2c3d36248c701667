//! NumPy's `.npy` files, which earlier versions wrote, read piece by piece.

use super::manifest::NUMPY;
use crate::number::{Number, read_into};
use crate::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

const MAGIC: &[u8; 8] = b"\x93NUMPY\x01\x00";

/// An array in a file. Its numbers are read when they are asked for.
#[derive(Debug, Clone)]
pub(super) struct NpyFile {
    path: PathBuf,
    start: u64,
}

impl NpyFile {
    /// Opens an array that must have this shape and type, by the name that Zarr has for it.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is no `.npy` file, has another type, order or shape, or is shorter or
    /// longer than its header says.
    pub fn open(path: PathBuf, data_type: &str, shape: &[usize]) -> Result<NpyFile> {
        let wrong =
            |found: String, expected: String| Error::Store { path: path.clone(), found, expected };
        let mut file = File::open(&path).map_err(Error::system("open", &path))?;
        let Some((text, start)) = read_header(&mut file).map_err(Error::system("read", &path))?
        else {
            return Err(wrong("found no header".into(), "a NumPy array (.npy)".into()));
        };
        let (type_name, size) = numpy_type(data_type);
        let (descr, found) = (entry(&text, "descr"), entry(&text, "shape"));
        let expected: String = shape.iter().map(|n| format!("{n},")).collect();
        let same_shape =
            found.replace(' ', "").trim_matches(['(', ')', ',']) == expected.trim_end_matches(',');
        if descr.trim_matches('\'') != type_name
            || entry(&text, "fortran_order") != "False"
            || !same_shape
        {
            return Err(wrong(
                format!("found an array of type {descr} and shape {found}"),
                format!("type '{type_name}' and shape ({expected}), in C order, as {NUMPY} says"),
            ));
        }
        let length = file.metadata().map_err(Error::system("read", &path))?.len();
        let numbers = shape.iter().fold(size, |all, &n| all.saturating_mul(n as u64));
        if length != start.saturating_add(numbers) {
            let expected =
                format!("{} for shape ({expected}); it was cut off or changed", start + numbers);
            return Err(wrong(format!("found {length} bytes"), expected));
        }
        Ok(NpyFile { path, start })
    }

    /// Reads `count` numbers from number `first` on, and again `stride` numbers further on, and so
    /// on, `times` in all.
    pub fn read<T: Number>(
        &self,
        first: usize,
        count: usize,
        stride: usize,
        times: usize,
    ) -> Result<Vec<T>> {
        let mut file = File::open(&self.path).map_err(Error::system("open", &self.path))?;
        let mut numbers = Vec::with_capacity(count * times);
        for time in 0..times {
            let place = self.start + ((first + time * stride) * size_of::<T>()) as u64;
            let found = file.seek(SeekFrom::Start(place));
            let read = found.and_then(|_| read_into(&mut file, count, &mut numbers));
            read.map_err(Error::system("read", &self.path))?;
        }
        Ok(numbers)
    }
}

/// NumPy's name in headers of a type that Zarr has another name for, and the bytes of a number.
fn numpy_type(data_type: &str) -> (&'static str, u64) {
    match data_type {
        "float32" => ("<f4", 4),
        "float64" => ("<f8", 8),
        "int32" => ("<i4", 4),
        "int64" => ("<i8", 8),
        _ => ("|u1", 1),
    }
}

/// The text of a header and its length in the file; `None` if there is no such header.
fn read_header(file: &mut File) -> std::io::Result<Option<(String, u64)>> {
    let mut start = Vec::new();
    file.take(10).read_to_end(&mut start)?;
    let [magic @ .., a, b] = start.as_slice() else { return Ok(None) };
    if magic != MAGIC {
        return Ok(None);
    }
    let length = u64::from(u16::from_le_bytes([*a, *b]));
    let mut text = Vec::new();
    file.take(length).read_to_end(&mut text)?;
    let is_whole = text.len() as u64 == length;
    Ok(String::from_utf8(text).ok().filter(|_| is_whole).map(|text| (text, 10 + length)))
}

/// The value of an entry in a header, a Python dictionary; empty if it has none.
fn entry<'a>(text: &'a str, name: &str) -> &'a str {
    let Some((_, rest)) = text.split_once(&format!("'{name}':")) else { return "" };
    let rest = rest.trim_start();
    let end = if rest.starts_with('(') {
        rest.find(')').map(|end| end + 1)
    } else {
        rest.find([',', '}'])
    };
    rest[..end.unwrap_or(rest.len())].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_others_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |text: &str, data: usize| {
            let mut bytes = MAGIC.to_vec();
            bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
            bytes.extend((0..data).map(|byte| byte as u8));
            let path = folder.path().join("b.npy");
            std::fs::write(&path, bytes).unwrap();
            NpyFile::open(path, "uint8", &[2, 3])
        };
        let text = "{'shape': (2, 3), 'fortran_order': False, 'descr': '|u1'}\n";
        let file = write(text, 6).unwrap();
        assert_eq!(file.read::<u8>(1, 2, 3, 2).unwrap(), [1, 2, 4, 5]);
        assert!(write(text, 5).unwrap_err().to_string().contains("found 73 bytes"));
        assert!(write(&text.replace("False", "True"), 6).is_err());
        for other in [text.replace("u1", "i1"), text.replace("3)", "4)")] {
            let message = write(&other, 6).unwrap_err().to_string();
            assert!(message.contains("expected type '|u1' and shape (2,3,), in C"), "{message}");
        }
        let path = folder.path().join("c.npy");
        std::fs::write(&path, "hello").unwrap();
        let message = NpyFile::open(path, "uint8", &[4]).unwrap_err().to_string();
        assert!(message.contains("no header"), "{message}");
    }
}
