//! Rows of the datasets of an HDF5 file.

use hdf5_reader::{Dataset, Datatype, SliceInfo, SliceInfoElem};

use crate::error::Error;
use crate::scalar::ScalarType;
use crate::source::ErrorContext;
use crate::values::Values;

/// Maximum ratio of decoded to stored bytes: that of deflate.
const MAX_RATIO: u64 = 1032;

/// Bytes that may be allocated for data of any file.
const SMALL: u64 = 64 << 20;

/// Rows of a dataset: indices along its first dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HdfRows {
    pub(crate) dataset: usize,
    pub(crate) first: u64,
    pub(crate) rows: u64,
}

impl HdfRows {
    /// Reads `count` numbers.
    pub(crate) fn read(
        self,
        context: ErrorContext<'_>,
        scalar: ScalarType,
        count: usize,
    ) -> Result<Values, Error> {
        let Some(data) = context.source().hdf() else {
            return Err(context.malformed("no datasets", "an HDF5 file"));
        };
        let HdfRows { dataset, first, rows } = self;
        let found = || context.malformed("no such dataset", "the dataset of an array");
        let dataset = data.get(dataset).ok_or_else(found)?;
        let values = read_rows(dataset, context, scalar, first, rows)?;
        match values.len() == count {
            true => Ok(values),
            false => {
                let found = format!("`{}` numbers in `{rows}` rows", values.len());
                Err(context.malformed(found, format!("`{count}`")))
            }
        }
    }
}

/// The type of the numbers of a dataset or an attribute; `None` for other types.
pub(super) fn scalar_of(datatype: &Datatype) -> Option<ScalarType> {
    Some(match datatype {
        Datatype::FixedPoint { size: 1, signed: true, .. } => ScalarType::I8,
        Datatype::FixedPoint { size: 1, .. } => ScalarType::U8,
        Datatype::FixedPoint { size: 2, signed: true, .. } => ScalarType::I16,
        Datatype::FixedPoint { size: 2, .. } => ScalarType::U16,
        Datatype::FixedPoint { size: 4, signed: true, .. } => ScalarType::I32,
        Datatype::FixedPoint { size: 4, .. } => ScalarType::U32,
        Datatype::FixedPoint { size: 8, signed: true, .. } => ScalarType::I64,
        Datatype::FixedPoint { size: 8, .. } => ScalarType::U64,
        Datatype::FloatingPoint { size: 4, .. } => ScalarType::F32,
        Datatype::FloatingPoint { size: 8, .. } => ScalarType::F64,
        _ => return None,
    })
}

/// Reads rows of a dataset, after checking that the file can hold them.
pub(super) fn read_rows(
    dataset: &Dataset,
    context: ErrorContext<'_>,
    scalar: ScalarType,
    first: u64,
    rows: u64,
) -> Result<Values, Error> {
    let shape = dataset.shape();
    let end = first.checked_add(rows);
    let (Some(all), Some(end)) = (shape.first(), end.filter(|end| Some(end) <= shape.first()))
    else {
        let found = format!("`{}` rows", shape.first().copied().unwrap_or(0));
        return Err(context.malformed(found, format!("`{rows}` rows from `{first}` on")));
    };
    let count = shape.iter().skip(1).try_fold(rows, |count, len| count.checked_mul(*len));
    let bytes = count.and_then(|count| count.checked_mul(8));
    let held = context.source().len().saturating_mul(MAX_RATIO).max(SMALL);
    if bytes.is_none_or(|bytes| bytes > held) {
        return Err(context.truncated(format!("`{rows}` of `{all}` rows of shape {shape:?}")));
    }
    if count == Some(0) {
        return Ok(Values::empty(scalar));
    }
    let whole = |len: &u64| SliceInfoElem::Slice { start: 0, end: *len, step: 1 };
    let mut selections: Vec<SliceInfoElem> = shape.iter().map(whole).collect();
    selections[0] = SliceInfoElem::Slice { start: first, end, step: 1 };
    let values = read(dataset, scalar, &SliceInfo { selections });
    values.map_err(|error| {
        context.malformed(format!("data that cannot be read ({error})"), "valid HDF5")
    })
}

fn read(
    dataset: &Dataset,
    scalar: ScalarType,
    rows: &SliceInfo,
) -> Result<Values, hdf5_reader::error::Error> {
    macro_rules! read {
        ($from:ty, $to:ident) => {
            Values::$to(dataset.read_slice::<$from>(rows)?.into_iter().collect())
        };
    }
    Ok(match scalar {
        ScalarType::I8 => read!(i8, I8),
        ScalarType::U8 | ScalarType::Bit => read!(u8, U8),
        ScalarType::I16 => read!(i16, I16),
        ScalarType::U16 => read!(u16, U16),
        ScalarType::I32 => read!(i32, I32),
        ScalarType::U32 => read!(u32, U32),
        ScalarType::I64 => read!(i64, I64),
        ScalarType::U64 => read!(u64, U64),
        ScalarType::F32 => read!(f32, F32),
        ScalarType::F64 => read!(f64, F64),
    })
}
