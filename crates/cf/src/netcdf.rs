//! NetCDF files, through the crate `netcdf-reader`.

use crate::parallel::{in_pool, is_large};
use crate::store::{Attribute, Dimension, ScalarType, Span, Store, Variable, check_slab};
use crate::values::Values;
use crate::{Error, Result};

use netcdf_reader::{
    FileStorage, NcAttrValue, NcFile, NcFormat, NcOpenOptions, NcSliceInfo, NcSliceInfoElem,
    NcType, NcVariable,
};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum ratio of decoded to stored bytes: that of deflate.
const MAX_RATIO: u64 = 1032;

/// Maximum bytes of a decoded chunk.
const MAX_CHUNK: usize = 1 << 30;

/// Bytes of decoded chunks that are kept, because a chunk can hold several times.
const CHUNK_CACHE: usize = 32 << 20;

/// The first bytes of an HDF5 file, as NetCDF-4 files are.
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";

/// Whether a file is a NetCDF file by its first bytes.
pub(crate) fn is_netcdf(path: &Path) -> bool {
    let mut start = [0; 8];
    let Ok(mut file) = File::open(path) else { return false };
    if file.read(&mut start[..4]).is_ok_and(|read| read == 4) && &start[..3] == b"CDF" {
        return true;
    }
    let is_hdf5 = file.read(&mut start[4..]).is_ok_and(|read| read == 4) && start == HDF5;
    // VTK writes HDF5 files by these names.
    let of_vtk = |name: &std::ffi::OsStr| ["vtkhdf", "hdf"].iter().any(|known| name == *known);
    is_hdf5 && !path.extension().is_some_and(of_vtk)
}

/// Bytes that an open file keeps to read the next time: decoded chunks of NetCDF-4.
pub fn cache_bytes(path: &Path) -> u64 {
    let mut start = [0; 8];
    let read = File::open(path).and_then(|mut file| file.read(&mut start));
    if read.is_ok() && start == HDF5 && is_netcdf(path) { CHUNK_CACHE as u64 } else { 0 }
}

/// An open NetCDF file.
pub(crate) struct NetCdf {
    path: PathBuf,
    bytes: u64,
    file: NcFile,
    variables: Vec<Variable>,
}

impl std::fmt::Debug for NetCdf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NetCdf").field("path", &self.path).finish_non_exhaustive()
    }
}

impl NetCdf {
    /// Opens a file, and reads the description of its variables.
    pub fn open(path: &Path) -> Result<NetCdf> {
        let file = File::open(path).map_err(Error::read(path))?;
        let bytes = file.metadata().map_err(Error::read(path))?.len();
        let damaged = |reason: String| {
            Error::file(
                path,
                format!(
                    "it cannot be read as NetCDF ({reason}); check how it was written or copied"
                ),
            )
        };
        // Without a memory map, which ends the program if the file is cut off while it is read.
        let storage = FileStorage::from_file(file).map_err(|error| damaged(error.to_string()))?;
        let options = NcOpenOptions {
            chunk_cache_bytes: CHUNK_CACHE,
            max_chunk_bytes: MAX_CHUNK,
            max_read_bytes: usize::try_from(bytes.saturating_mul(MAX_RATIO))
                .unwrap_or(usize::MAX)
                .max(64 << 20),
            ..NcOpenOptions::default()
        };
        let file = NcFile::from_storage_with_options(Arc::new(storage), options);
        let file = file.map_err(|error| damaged(error.to_string()))?;
        let variables = file.variables().map_err(|error| damaged(error.to_string()))?;
        let variables = variables.iter().map(|variable| describe(path, variable));
        let variables = variables.collect::<Result<_>>()?;
        Ok(NetCdf { path: path.into(), bytes, file, variables })
    }
}

impl Store for NetCdf {
    fn path(&self) -> &Path {
        &self.path
    }

    fn format(&self) -> &str {
        match self.file.format() {
            NcFormat::Classic => "NetCDF, classic",
            NcFormat::Offset64 => "NetCDF, 64-bit offset",
            NcFormat::Cdf5 => "NetCDF, 64-bit data",
            NcFormat::Nc4 => "NetCDF-4",
            NcFormat::Nc4Classic => "NetCDF-4, classic model",
        }
    }

    fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// In NetCDF-4, `nc_def_var_fill` can turn it off, which matters for bytes.
    fn has_default_fill(&self, scalar: ScalarType) -> Option<bool> {
        let is_hdf5 = matches!(self.file.format(), NcFormat::Nc4 | NcFormat::Nc4Classic);
        (!is_hdf5 || scalar.size() > 1).then_some(true)
    }

    fn read(&self, variable: &Variable, slab: &[Span]) -> Result<Values> {
        let held = self.bytes.saturating_mul(MAX_RATIO);
        let (scalar, count) = check_slab(&self.path, variable, slab, held)?;
        let fail = |reason: String| Error::variable(&self.path, &variable.name, reason);
        let selection = NcSliceInfo { selections: slab.iter().map(element).collect() };
        let is_large = is_large(count * scalar.size());
        let values = self.values(&variable.name, scalar, (&selection, is_large));
        let values = values.map_err(|error| fail(format!("it cannot be read: {error}")))?;
        if values.len() != count {
            return Err(fail(format!("{} values were read instead of {count}", values.len())));
        }
        Ok(values)
    }
}

impl NetCdf {
    /// Reads a selection, in the precision that holds the numbers exactly; a large one with its chunks in parallel.
    fn values(
        &self,
        name: &str,
        scalar: ScalarType,
        (selection, is_large): (&NcSliceInfo, bool),
    ) -> netcdf_reader::Result<Values> {
        macro_rules! read {
            ($from:ty, $to:ident, $convert:expr) => {{
                let file = &self.file;
                let array = match is_large {
                    true => in_pool(|| file.read_variable_slice_parallel::<$from>(name, selection)),
                    false => file.read_variable_slice::<$from>(name, selection),
                }?;
                let (count, is_ordered) = (array.len(), array.is_standard_layout());
                Values::$to(match is_ordered {
                    // Iterators over arrays of any dimension take 27 ns for a number.
                    true => {
                        let (mut numbers, start) = array.into_raw_vec_and_offset();
                        numbers.drain(..start.unwrap_or(0));
                        numbers.truncate(count);
                        numbers.into_iter().map($convert).collect()
                    }
                    false => array.iter().copied().map($convert).collect(),
                })
            }};
        }
        Ok(match scalar {
            ScalarType::I8 => read!(i8, F32, f32::from),
            ScalarType::U8 => read!(u8, F32, f32::from),
            ScalarType::I16 => read!(i16, F32, f32::from),
            ScalarType::U16 => read!(u16, F32, f32::from),
            ScalarType::F32 => read!(f32, F32, |x| x),
            ScalarType::I32 => read!(i32, F64, f64::from),
            ScalarType::U32 => read!(u32, F64, f64::from),
            ScalarType::I64 => read!(i64, F64, |x| x as f64),
            ScalarType::U64 => read!(u64, F64, |x| x as f64),
            ScalarType::F64 => read!(f64, F64, |x| x),
        })
    }
}

/// A span as the crate `netcdf-reader` takes it; the end is exclusive.
fn element(span: &Span) -> NcSliceInfoElem {
    let start = span.start as u64;
    let end = span.last().map_or(start, |last| last as u64 + 1);
    NcSliceInfoElem::Slice { start, end, step: span.step as u64 }
}

/// The description of a variable.
fn describe(path: &Path, variable: &NcVariable) -> Result<Variable> {
    let name = variable.name().to_owned();
    let too_long = |_| Error::variable(path, &name, "a dimension is too long for this machine");
    let dimension = |dimension: &netcdf_reader::NcDimension| {
        let len = usize::try_from(dimension.size)?;
        Ok(Dimension { name: dimension.name.clone(), len })
    };
    let dimensions: std::result::Result<_, std::num::TryFromIntError> =
        variable.dimensions().iter().map(dimension).collect();
    let attributes = variable.attributes().iter();
    Ok(Variable {
        dimensions: dimensions.map_err(too_long)?,
        scalar: scalar(variable.dtype()),
        attributes: attributes.map(|given| (given.name.clone(), attribute(&given.value))).collect(),
        name,
    })
}

fn scalar(nc_type: &NcType) -> Option<ScalarType> {
    Some(match nc_type {
        NcType::Byte => ScalarType::I8,
        NcType::UByte => ScalarType::U8,
        NcType::Short => ScalarType::I16,
        NcType::UShort => ScalarType::U16,
        NcType::Int => ScalarType::I32,
        NcType::UInt => ScalarType::U32,
        NcType::Int64 => ScalarType::I64,
        NcType::UInt64 => ScalarType::U64,
        NcType::Float => ScalarType::F32,
        NcType::Double => ScalarType::F64,
        _ => return None,
    })
}

fn attribute(value: &NcAttrValue) -> Attribute {
    let scalar = match value {
        NcAttrValue::Bytes(_) => ScalarType::I8,
        NcAttrValue::UBytes(_) => ScalarType::U8,
        NcAttrValue::Shorts(_) => ScalarType::I16,
        NcAttrValue::UShorts(_) => ScalarType::U16,
        NcAttrValue::Ints(_) => ScalarType::I32,
        NcAttrValue::UInts(_) => ScalarType::U32,
        NcAttrValue::Int64s(_) => ScalarType::I64,
        NcAttrValue::UInt64s(_) => ScalarType::U64,
        NcAttrValue::Floats(_) => ScalarType::F32,
        NcAttrValue::Doubles(_) => ScalarType::F64,
        NcAttrValue::Chars(text) => return Attribute::Text(text.trim_end_matches('\0').into()),
        NcAttrValue::Strings(texts) => return Attribute::Text(texts.join(" ")),
        NcAttrValue::UserDefined { .. } => return Attribute::Text(String::new()),
    };
    Attribute::Numbers(scalar, value.as_f64_vec().unwrap_or_default())
}
