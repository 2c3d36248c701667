//! NumPy's `.npy` files, as far as a store needs them: written row by row, read piece by piece.
//!
//! The crates for this format fix an array's shape when its header is written. Here the number of
//! rows is known only at the end of a run, which may have been cancelled, so the header has a fixed
//! length and is written again then.

use crate::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"\x93NUMPY\x01\x00";

/// Length of every header written here: room for the largest shape, and a multiple of 64 as the
/// format asks.
const HEADER: usize = 192;

/// Values that are turned into bytes at a time.
const CHUNK: usize = 1 << 14;

/// A number that a store keeps.
pub(super) trait Scalar: Copy {
    /// NumPy's name of the type, little-endian.
    const DESCR: &'static str;
    /// Its bytes.
    const SIZE: usize;
    fn put(self, bytes: &mut Vec<u8>);
    /// The number in [`SIZE`](Self::SIZE) bytes.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! implement_scalar {
    ($($type:ty: $descr:literal),*) => {$(
        impl Scalar for $type {
            const DESCR: &'static str = $descr;
            const SIZE: usize = size_of::<$type>();
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                let mut number = [0; size_of::<$type>()];
                number.copy_from_slice(bytes);
                <$type>::from_le_bytes(number)
            }
        }
    )*};
}

implement_scalar!(f32: "<f4", f64: "<f8", i32: "<i4", i64: "<i8", u8: "|u1");

/// An array that grows by rows.
#[derive(Debug)]
pub(super) struct NpyWriter {
    path: PathBuf,
    file: File,
    descr: &'static str,
    /// Rows first.
    shape: Vec<usize>,
}

impl NpyWriter {
    /// Creates a file for rows of type `T` and this shape; the header promises `planned` rows.
    pub fn create<T: Scalar>(path: PathBuf, planned: usize, row: &[usize]) -> Result<NpyWriter> {
        let mut file = File::create(&path).map_err(Error::system("create", &path))?;
        let mut shape = vec![planned];
        shape.extend_from_slice(row);
        file.write_all(&header(T::DESCR, &shape)).map_err(Error::system("write", &path))?;
        shape[0] = 0;
        Ok(NpyWriter { path, file, descr: T::DESCR, shape })
    }

    /// Adds whole rows.
    pub fn append<T: Scalar>(&mut self, values: &[T]) -> Result<()> {
        let row: usize = self.shape[1..].iter().product();
        debug_assert!(T::DESCR == self.descr && values.len().is_multiple_of(row.max(1)));
        let mut bytes = Vec::with_capacity(CHUNK.min(values.len()) * T::SIZE);
        for chunk in values.chunks(CHUNK) {
            bytes.clear();
            chunk.iter().for_each(|value| value.put(&mut bytes));
            self.file.write_all(&bytes).map_err(Error::system("write", &self.path))?;
        }
        self.shape[0] += values.len().checked_div(row).unwrap_or(1);
        Ok(())
    }

    /// Writes the true number of rows and makes sure that all of it is on the disk.
    pub fn finish(mut self) -> Result<PathBuf> {
        let header = header(self.descr, &self.shape);
        let written = self.file.seek(SeekFrom::Start(0));
        let written = written.and_then(|_| self.file.write_all(&header));
        let written = written.and_then(|()| self.file.sync_all());
        written.map_err(Error::system("write", &self.path))?;
        Ok(self.path)
    }
}

fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&((HEADER - MAGIC.len() - 2) as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header.resize(HEADER - 1, b' ');
    header.push(b'\n');
    header
}

/// An array in a file. Its numbers are read when they are asked for.
#[derive(Debug, Clone)]
pub(super) struct NpyFile {
    path: PathBuf,
    start: u64,
}

impl NpyFile {
    /// Opens an array that must have this type and shape.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is no `.npy` file, has another type, order or shape, or is shorter or
    /// longer than its header says.
    pub fn open<T: Scalar>(path: PathBuf, shape: &[usize]) -> Result<NpyFile> {
        let wrong =
            |found: String, expected: String| Error::Store { path: path.clone(), found, expected };
        let mut file = File::open(&path).map_err(Error::system("open", &path))?;
        let Some((text, start)) = read_header(&mut file).map_err(Error::system("read", &path))?
        else {
            return Err(wrong("found no header".into(), "a NumPy array (.npy)".into()));
        };
        let (descr, found) = (entry(&text, "descr"), entry(&text, "shape"));
        let expected: String = shape.iter().map(|n| format!("{n},")).collect();
        let same_shape =
            found.replace(' ', "").trim_matches(['(', ')', ',']) == expected.trim_end_matches(',');
        if descr.trim_matches('\'') != T::DESCR
            || entry(&text, "fortran_order") != "False"
            || !same_shape
        {
            return Err(wrong(
                format!("found an array of type {descr} and shape {found}"),
                format!(
                    "type '{}' and shape ({expected}), in C order, as tracks.json says",
                    T::DESCR
                ),
            ));
        }
        let length = file.metadata().map_err(Error::system("read", &path))?.len();
        let numbers = shape.iter().fold(T::SIZE as u64, |all, &n| all.saturating_mul(n as u64));
        if length != start.saturating_add(numbers) {
            let expected =
                format!("{} for shape ({expected}); it was cut off or changed", start + numbers);
            return Err(wrong(format!("found {length} bytes"), expected));
        }
        Ok(NpyFile { path, start })
    }

    /// Reads `count` numbers from number `first` on.
    pub fn read<T: Scalar>(&self, first: usize, count: usize) -> Result<Vec<T>> {
        self.read_strided(first, count, 0, 1)
    }

    /// Reads `count` numbers from number `first` on, and again `stride` numbers further on, and so
    /// on, `times` in all.
    pub fn read_strided<T: Scalar>(
        &self,
        first: usize,
        count: usize,
        stride: usize,
        times: usize,
    ) -> Result<Vec<T>> {
        let mut file = File::open(&self.path).map_err(Error::system("open", &self.path))?;
        let mut bytes = vec![0; count * T::SIZE];
        let mut numbers = Vec::with_capacity(count * times);
        for time in 0..times {
            let place = self.start + ((first + time * stride) * T::SIZE) as u64;
            let read = file.seek(SeekFrom::Start(place)).and_then(|_| file.read_exact(&mut bytes));
            read.map_err(Error::system("read", &self.path))?;
            numbers.extend(bytes.chunks_exact(T::SIZE).map(T::get));
        }
        Ok(numbers)
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

/// Writes a whole array of one axis.
pub(super) fn write<T: Scalar>(path: PathBuf, values: &[T]) -> Result<PathBuf> {
    let mut writer = NpyWriter::create::<T>(path, values.len(), &[])?;
    writer.append(values)?;
    writer.finish()
}

/// The name under which a file is written until it is whole.
pub(super) fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_when_the_array_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let mut writer = NpyWriter::create::<f32>(path.clone(), 9, &[2, 3]).unwrap();
        writer.append(&[0.5f32; 6]).unwrap();
        writer.append(&[1.5f32; 6]).unwrap();
        writer.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), HEADER + 48);
        assert!(String::from_utf8_lossy(&bytes[10..HEADER]).contains("'shape': (2, 2, 3, ), }"));
        let file = NpyFile::open::<f32>(path.clone(), &[2, 2, 3]).unwrap();
        assert_eq!(file.read::<f32>(5, 2).unwrap(), [0.5, 1.5]);
        assert_eq!(file.read_strided::<f32>(3, 1, 6, 2).unwrap(), [0.5, 1.5]);
        for error in [
            NpyFile::open::<f64>(path.clone(), &[2, 2, 3]).unwrap_err(),
            NpyFile::open::<f32>(path.clone(), &[2, 3, 2]).unwrap_err(),
        ] {
            assert!(error.to_string().contains("type '<f4' and shape (2, 2, 3, )"), "{error}");
        }
    }

    #[test]
    fn headers_of_others_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |text: &str, data: usize| {
            let mut bytes = MAGIC.to_vec();
            bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
            bytes.resize(bytes.len() + data, 1);
            let path = folder.path().join("b.npy");
            std::fs::write(&path, bytes).unwrap();
            NpyFile::open::<u8>(path, &[4])
        };
        let text = "{'shape': (4,), 'fortran_order': False, 'descr': '|u1'}\n";
        assert_eq!(write(text, 4).unwrap().read::<u8>(0, 4).unwrap(), [1; 4]);
        assert!(write(text, 3).unwrap_err().to_string().contains("found 69 bytes"));
        assert!(write(&text.replace("False", "True"), 4).is_err());
        let path = folder.path().join("c.npy");
        std::fs::write(&path, "hello").unwrap();
        assert!(NpyFile::open::<u8>(path, &[4]).unwrap_err().to_string().contains("no header"));
    }

    #[test]
    fn the_largest_shape_fits_into_a_header() {
        assert_eq!(header("<f4", &[usize::MAX; 4]).len(), HEADER);
    }
}
