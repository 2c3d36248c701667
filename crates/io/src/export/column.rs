//! Columns of a table, and their values.

use crate::number::bytes_of;
use burntrace_core::Precision;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub name: String,
    pub kind: Kind,
    /// Whether each row has a list of values.
    pub is_list: bool,
}

/// The type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    I32,
    F32,
    F64,
    /// One of the names of the table.
    Name,
}

/// Values of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    I32(Vec<i32>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// Indices of names.
    Name(Vec<u32>),
}

impl Kind {
    /// Floats of a precision.
    pub fn float(precision: Precision) -> Kind {
        match precision {
            Precision::F32 => Kind::F32,
            Precision::F64 => Kind::F64,
        }
    }

    /// No values of this type.
    pub fn empty(self) -> Values {
        match self {
            Kind::I32 => Values::I32(Vec::new()),
            Kind::F32 => Values::F32(Vec::new()),
            Kind::F64 => Values::F64(Vec::new()),
            Kind::Name => Values::Name(Vec::new()),
        }
    }
}

impl Values {
    /// The values as little-endian bytes; of names, their codes.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Values::I32(values) => bytes_of(values).into_owned(),
            Values::F32(values) => bytes_of(values).into_owned(),
            Values::F64(values) => bytes_of(values).into_owned(),
            Values::Name(codes) => codes.iter().map(|code| *code as u8).collect(),
        }
    }

    /// Appends a number to floats.
    pub fn push_float(&mut self, number: f64) {
        match self {
            Values::F32(all) => all.push(number as f32),
            Values::F64(all) => all.push(number),
            Values::I32(_) | Values::Name(_) => {}
        }
    }

    /// Appends a number, or the name with this code.
    pub fn push_int(&mut self, number: i32) {
        match self {
            Values::I32(all) => all.push(number),
            // Codes are 0 and more.
            Values::Name(all) => all.push(number as u32),
            Values::F32(_) | Values::F64(_) => {}
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Values::I32(values) => values.len(),
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::Name(values) => values.len(),
        }
    }
}
