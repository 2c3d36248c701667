//! Numbers of variables in memory.

/// Numbers in single precision where that holds the numbers of the file exactly, else in double precision.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
}

impl Values {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values in double precision.
    pub fn into_f64(self) -> Vec<f64> {
        match self {
            Values::F32(values) => values.into_iter().map(f64::from).collect(),
            Values::F64(values) => values,
        }
    }

    /// The values in single precision, rounded to nearest.
    pub(crate) fn into_f32(self) -> Vec<f32> {
        match self {
            Values::F32(values) => values,
            Values::F64(values) => values.into_iter().map(|x| x as f32).collect(),
        }
    }

    /// `count` equal values; the error is the number of bytes that cannot be allocated.
    pub(crate) fn filled(is_single: bool, count: usize, value: f64) -> Result<Values, usize> {
        fn of<T: Copy>(count: usize, value: T) -> Result<Vec<T>, usize> {
            let mut values = Vec::new();
            let failed = |_| count.saturating_mul(size_of::<T>());
            values.try_reserve_exact(count).map_err(failed)?;
            values.resize(count, value);
            Ok(values)
        }
        match is_single {
            true => of(count, value as f32).map(Values::F32),
            false => of(count, value).map(Values::F64),
        }
    }

    /// Replaces one value, rounded to their precision.
    pub(crate) fn set(&mut self, index: usize, value: f64) {
        match self {
            Values::F32(values) => values[index] = value as f32,
            Values::F64(values) => values[index] = value,
        }
    }

    /// Replaces each value by a function of it, computed in double precision.
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Values {
        match self {
            Values::F32(values) => {
                Values::F32(values.into_iter().map(|x| f(f64::from(x)) as f32).collect())
            }
            Values::F64(values) => Values::F64(values.into_iter().map(f).collect()),
        }
    }
}
