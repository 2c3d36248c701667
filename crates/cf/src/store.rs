//! Variables with dimensions and attributes, whatever the file format.

use crate::Error;
use crate::values::Values;
use std::fmt::Debug;
use std::path::Path;

/// A dimension of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Name.
    pub name: String,
    /// Number of indices.
    pub len: usize,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// Text; empty for types that are neither text nor numbers.
    Text(String),
    /// Numbers of a type.
    Numbers(ScalarType, Vec<f64>),
}

/// The type of the numbers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ScalarType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl ScalarType {
    pub(crate) const ALL: [ScalarType; 10] = {
        use ScalarType::*;
        [I8, U8, I16, U16, I32, U32, I64, U64, F32, F64]
    };

    /// Bytes of a number.
    pub fn size(self) -> usize {
        use ScalarType::*;
        match self {
            I8 | U8 => 1,
            I16 | U16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 => 8,
        }
    }

    /// Whether `f32` holds every number of the type exactly.
    pub fn fits_f32(self) -> bool {
        use ScalarType::*;
        matches!(self, I8 | U8 | I16 | U16 | F32)
    }

    /// Whether its numbers are floating point numbers.
    pub fn is_float(self) -> bool {
        matches!(self, ScalarType::F32 | ScalarType::F64)
    }

    /// The unsigned type of the same size, for a signed one.
    pub(crate) fn unsigned(self) -> ScalarType {
        use ScalarType::*;
        match self {
            I8 => U8,
            I16 => U16,
            I32 => U32,
            I64 => U64,
            other => other,
        }
    }

    /// Minimum and maximum.
    pub(crate) fn range(self) -> [f64; 2] {
        if self.is_float() {
            return [f64::NEG_INFINITY, f64::INFINITY];
        }
        let bits = 8 * self.size() as i32;
        match self.unsigned() == self {
            true => [0.0, 2_f64.powi(bits) - 1.0],
            false => [-2_f64.powi(bits - 1), 2_f64.powi(bits - 1) - 1.0],
        }
    }

    /// Whether a number is one of the type.
    pub(crate) fn holds(self, number: f64) -> bool {
        match self.is_float() {
            true => number.is_nan() || self.nearest(number) == number,
            false => {
                let [low, high] = self.range();
                number.fract() == 0.0 && (low..=high).contains(&number)
            }
        }
    }

    /// The number of a floating point type that is nearest to a number.
    pub(crate) fn nearest(self, number: f64) -> f64 {
        if self == ScalarType::F32 { f64::from(number as f32) } else { number }
    }

    /// The value of numbers of NetCDF files that were never written.
    pub(crate) fn default_fill(self) -> f64 {
        use ScalarType::*;
        match self {
            F32 | F64 => 15.0 * 2_f64.powi(119),
            I8 | I16 | I32 => self.range()[0] + 1.0,
            I64 => i64::MIN as f64 + 2.0,
            U8 | U16 | U32 => self.range()[1],
            U64 => u64::MAX as f64 - 1.0,
        }
    }

    /// The type of a product or a sum of numbers of two types, as in NumPy.
    pub(crate) fn promoted(self, other: ScalarType) -> ScalarType {
        use ScalarType::*;
        let is_signed = |of: ScalarType| of.unsigned() != of;
        // Of two types of one size, the unsigned one counts as the larger.
        let rank = |of: ScalarType| (of.size(), !is_signed(of));
        let (small, large) = if rank(self) <= rank(other) { (self, other) } else { (other, self) };
        match large {
            _ if self.is_float() || other.is_float() => {
                if self.fits_f32() && other.fits_f32() {
                    F32
                } else {
                    F64
                }
            }
            _ if small == large || is_signed(large) || !is_signed(small) => large,
            U8 => I16,
            U16 => I32,
            U32 => I64,
            _ => F64,
        }
    }
}

/// For example `float32`.
impl std::fmt::Display for ScalarType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use ScalarType::*;
        f.write_str(match self {
            I8 => "int8",
            U8 => "uint8",
            I16 => "int16",
            U16 => "uint16",
            I32 => "int32",
            U32 => "uint32",
            I64 => "int64",
            U64 => "uint64",
            F32 => "float32",
            F64 => "float64",
        })
    }
}

/// The description of a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// Dimensions; the last one varies fastest.
    pub dimensions: Vec<Dimension>,
    /// Type of its numbers; `None` for text and other types, which cannot be read.
    pub scalar: Option<ScalarType>,
    /// Attributes.
    pub attributes: Vec<(String, Attribute)>,
}

impl Variable {
    /// An attribute.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// An attribute that is text, without spaces around it.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.attribute(name)? {
            Attribute::Text(text) => Some(text.trim()),
            Attribute::Numbers(..) => None,
        }
    }

    /// The numbers of an attribute and their type. The error says that it is text.
    pub(crate) fn typed_numbers(&self, name: &str) -> Result<Option<(ScalarType, &[f64])>, String> {
        match self.attribute(name) {
            None => Ok(None),
            Some(Attribute::Numbers(scalar, numbers)) => Ok(Some((*scalar, numbers))),
            Some(Attribute::Text(text)) => Err(format!(
                "its attribute `{name}` is the text {text:?}, and not a number; correct it"
            )),
        }
    }

    /// Number of indices along each dimension.
    pub fn shape(&self) -> Vec<usize> {
        self.dimensions.iter().map(|dimension| dimension.len).collect()
    }
}

/// For example `` `u` (time 4, y 3, x 5; float32, m s-1) ``.
impl std::fmt::Display for Variable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dimensions: Vec<String> =
            self.dimensions.iter().map(|d| format!("{} {}", d.name, d.len)).collect();
        let scalar = self.scalar.map_or("not numbers".into(), |scalar| scalar.to_string());
        let units = self.text("units").map_or(String::new(), |units| format!(", {units}"));
        write!(f, "`{}` ({}; {scalar}{units})", self.name, dimensions.join(", "))
    }
}

/// Indices along a dimension: `start`, `start + step`, ..., `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first index.
    pub start: usize,
    /// Number of indices, at least 1.
    pub count: usize,
    /// Distance of the indices, at least 1.
    pub step: usize,
}

impl Span {
    /// All indices of a dimension of this length.
    pub fn all(len: usize) -> Span {
        Span { start: 0, count: len, step: 1 }
    }

    /// One index.
    pub fn one(index: usize) -> Span {
        Span { start: index, count: 1, step: 1 }
    }

    /// The last index; `None` if there is none, or on overflow.
    pub(crate) fn last(self) -> Option<usize> {
        let steps = self.count.checked_sub(1)?;
        steps.checked_mul(self.step).and_then(|length| length.checked_add(self.start))
    }
}

/// A file or group with variables. Reading takes `&self` and may be concurrent.
pub trait Store: Debug + Send + Sync {
    /// The path of the file or folder.
    fn path(&self) -> &Path;

    /// The format, e.g. `NetCDF-4` or `Zarr version 3`.
    fn format(&self) -> &str;

    /// The variables, in the order of the file.
    fn variables(&self) -> &[Variable];

    /// Whether numbers of a type that were never written have the default fill value of NetCDF; `None` if the
    /// file does not tell.
    fn has_default_fill(&self, _: ScalarType) -> Option<bool> {
        Some(false)
    }

    /// Reads a hyperslab of a variable, one span for each of its dimensions, as stored: neither scaled nor
    /// masked. The last dimension varies fastest.
    ///
    /// # Errors
    ///
    /// If the variable has no numbers, a span is outside its dimension, or the data cannot be read.
    fn read(&self, variable: &Variable, slab: &[Span]) -> crate::Result<Values>;
}

impl dyn Store + '_ {
    /// The variable with a name.
    pub(crate) fn find(&self, name: &str) -> Option<&Variable> {
        self.variables().iter().find(|variable| variable.name == name)
    }

    /// Reads all values of a variable.
    pub(crate) fn read_all(&self, variable: &Variable) -> crate::Result<Values> {
        let slab: Vec<Span> = variable.shape().into_iter().map(Span::all).collect();
        self.read(variable, &slab)
    }
}

/// Bytes that may be allocated for data of any file.
const SMALL: u64 = 64 << 20;

/// Checks a hyperslab of a variable, and returns its number of values. `held` is the number of bytes that
/// the file can hold at most, decoded.
pub(crate) fn check_slab(
    path: &Path,
    variable: &Variable,
    slab: &[Span],
    held: u64,
) -> crate::Result<(ScalarType, usize)> {
    let fail = |reason: String| Error::variable(path, &variable.name, reason);
    let scalar = variable.scalar.ok_or_else(|| fail("it has no numbers".into()))?;
    if slab.len() != variable.dimensions.len() {
        let (given, needed) = (slab.len(), variable.dimensions.len());
        return Err(fail(format!("{given} ranges were given for {needed} dimensions")));
    }
    for (span, dimension) in slab.iter().zip(&variable.dimensions) {
        if span.step == 0 || span.last().is_none_or(|last| last >= dimension.len) {
            let Span { start, count, step } = span;
            return Err(fail(format!(
                "{count} indices from {start} by {step} are not in the dimension `{}` of {}",
                dimension.name, dimension.len
            )));
        }
    }
    let count = slab.iter().try_fold(1_usize, |all, span| all.checked_mul(span.count));
    let bytes = count.and_then(|count| count.checked_mul(8));
    match (count, bytes) {
        (Some(count), Some(bytes)) if bytes as u64 <= held.max(SMALL) => Ok((scalar, count)),
        _ => {
            let sizes: Vec<String> = slab.iter().map(|span| span.count.to_string()).collect();
            Err(fail(format!(
                "{} values are more than the file can hold; it was cut off, or its sizes are damaged",
                sizes.join(" x ")
            )))
        }
    }
}
