//! Columns of a table, and their values.

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
    pub fn len(&self) -> usize {
        match self {
            Values::I32(values) => values.len(),
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::Name(values) => values.len(),
        }
    }
}
