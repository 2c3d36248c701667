//! Packed and missing values.

use crate::store::{ScalarType, Store, Variable};
use crate::units::Unit;
use crate::values::Values;

/// The value of floating point numbers of NetCDF files that were never written.
const DEFAULT_FILL_F32: f64 = 9.969_209_968_386_869e36;
const DEFAULT_FILL_F64: f64 = 9.969_209_968_386_869e36;

/// How the numbers of a variable are decoded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Packing {
    /// Numbers that mean a missing value, as stored.
    missing: Vec<f64>,
    /// Minimum and maximum of valid numbers, as stored.
    valid: [f64; 2],
    /// Added to negative numbers, of signed types that stand for unsigned ones.
    wrap: f64,
    /// `scale_factor` and `add_offset`.
    linear: Option<[f64; 2]>,
    /// Whether decoded numbers are in single precision.
    is_single: bool,
}

impl Packing {
    /// Reads the attributes of a variable.
    ///
    /// # Errors
    ///
    /// If an attribute is not a number.
    pub fn of(store: &dyn Store, variable: &Variable) -> Result<Packing, String> {
        let scalar = variable.scalar.ok_or("it has no numbers")?;
        let number = |name: &str| match (variable.attribute(name), variable.numbers(name)) {
            (None, _) => Ok(None),
            (Some(_), Some([number])) => Ok(Some(*number)),
            _ => Err(format!("its attribute `{name}` is not a number; correct it")),
        };
        let scale = [number("scale_factor")?, number("add_offset")?];
        let linear =
            (scale != [None; 2]).then(|| [scale[0].unwrap_or(1.0), scale[1].unwrap_or(0.0)]);
        if let Some([scale, offset]) = linear.filter(|linear| linear.iter().any(|x| !x.is_finite()))
        {
            return Err(format!("its scale_factor {scale} or add_offset {offset} is not finite"));
        }
        let mut missing: Vec<f64> = number("_FillValue")?.into_iter().collect();
        if let Some(others) = variable.numbers("missing_value") {
            missing.extend(others);
        }
        if missing.is_empty() && store.has_default_fill() {
            missing.extend(default_fill(scalar));
        }
        let is_unsigned = variable.text("_Unsigned") == Some("true");
        Ok(Packing {
            missing: missing.into_iter().map(|fill| in_type(scalar, fill)).collect(),
            valid: valid(variable)?.map(|limit| in_type(scalar, limit)),
            wrap: if is_unsigned { 2_f64.powi(8 * scalar.size() as i32) } else { 0.0 },
            is_single: scalar.fits_f32() && linear.is_none_or(|linear| fits_single(scalar, linear)),
            linear,
        })
    }

    /// Whether any number means a missing value.
    pub fn has_missing(&self) -> bool {
        !self.missing.is_empty() || self.valid != [f64::NEG_INFINITY, f64::INFINITY]
    }

    pub fn is_single(&self) -> bool {
        self.is_single
    }

    /// Decodes numbers, and converts them; a missing value becomes NaN. Numbers that need neither keep their
    /// bits.
    pub fn decode(&self, values: Values, unit: Option<Unit>) -> Values {
        let unit = unit.filter(|unit| !unit.is_si());
        if !self.has_missing() && self.linear.is_none() && self.wrap == 0.0 && unit.is_none() {
            return values;
        }
        values.map_to(self.is_single, |stored| {
            if self.is_missing(stored) {
                return f64::NAN;
            }
            let number = if stored < 0.0 { stored + self.wrap } else { stored };
            let number = self.linear.map_or(number, |[scale, offset]| number * scale + offset);
            unit.map_or(number, |unit| unit.convert(number))
        })
    }

    /// Whether a stored number means a missing value.
    fn is_missing(&self, stored: f64) -> bool {
        let is = |fill: &f64| stored == *fill || (fill.is_nan() && stored.is_nan());
        let [low, high] = self.valid;
        self.missing.iter().any(is) || stored < low || stored > high
    }
}

/// `valid_range`, or `valid_min` and `valid_max`.
fn valid(variable: &Variable) -> Result<[f64; 2], String> {
    let one = |name: &str| match variable.numbers(name) {
        Some([number]) => Some(*number),
        _ => None,
    };
    match variable.numbers("valid_range") {
        Some([low, high]) => Ok([*low, *high]),
        Some(_) => Err("its attribute `valid_range` is not two numbers; correct it".into()),
        None => Ok([
            one("valid_min").unwrap_or(f64::NEG_INFINITY),
            one("valid_max").unwrap_or(f64::INFINITY),
        ]),
    }
}

/// A fill value or limit as a number of the variable's type; attributes are often in double precision.
fn in_type(scalar: ScalarType, fill: f64) -> f64 {
    if scalar == ScalarType::F32 { f64::from(fill as f32) } else { fill }
}

fn default_fill(scalar: ScalarType) -> Option<f64> {
    match scalar {
        ScalarType::F32 => Some(DEFAULT_FILL_F32),
        ScalarType::F64 => Some(DEFAULT_FILL_F64),
        _ => None,
    }
}

/// Whether single precision is enough for decoded numbers: as for the numbers of the file, unless they are
/// scaled, where the factors tell their precision.
fn fits_single(scalar: ScalarType, [scale, offset]: [f64; 2]) -> bool {
    let is_single = |x: f64| f64::from(x as f32) == x;
    scalar == ScalarType::F32 || (is_single(scale) && is_single(offset))
}

impl Values {
    /// Replaces each value by a function of it, computed in double precision.
    fn map_to(self, is_single: bool, f: impl Fn(f64) -> f64) -> Values {
        match (self, is_single) {
            (Values::F32(values), true) => {
                Values::F32(values.into_iter().map(|x| f(f64::from(x)) as f32).collect())
            }
            (values, _) => Values::F64(values.into_f64().into_iter().map(f).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Attribute;

    fn packing(scalar: ScalarType, attributes: &[(&str, &[f64])]) -> Packing {
        #[derive(Debug)]
        struct NoStore;
        impl Store for NoStore {
            fn path(&self) -> &std::path::Path {
                std::path::Path::new("")
            }
            fn format(&self) -> &str {
                ""
            }
            fn variables(&self) -> &[Variable] {
                &[]
            }
            fn read(&self, _: &Variable, _: &[crate::Span]) -> crate::Result<Values> {
                Ok(Values::F32(Vec::new()))
            }
        }
        let attributes = attributes.iter();
        let attributes =
            attributes.map(|(name, x)| ((*name).into(), Attribute::Numbers(x.to_vec())));
        let (name, dimensions) = ("u".into(), Vec::new());
        let attributes = attributes.collect();
        let variable = Variable { name, dimensions, scalar: Some(scalar), attributes };
        Packing::of(&NoStore, &variable).unwrap()
    }

    #[test]
    fn packed_numbers_are_scaled_and_masked() {
        let fill = [-32768.0];
        let packed = packing(
            ScalarType::I16,
            &[("scale_factor", &[0.25]), ("add_offset", &[1.0]), ("_FillValue", &fill)],
        );
        let decoded = packed.decode(Values::F32(vec![4.0, -32768.0, -8.0]), None);
        let Values::F32(decoded) = decoded else { panic!("0.25 is exact in single precision") };
        assert_eq!((decoded[0], decoded[2]), (2.0, -1.0));
        assert!(decoded[1].is_nan());
        let packed = packing(ScalarType::I16, &[("scale_factor", &[0.01])]);
        assert_eq!(packed.decode(Values::F32(vec![3.0]), None), Values::F64(vec![0.03]));
    }

    #[test]
    fn a_fill_value_in_double_precision_masks_single_precision() {
        let packed = packing(ScalarType::F32, &[("missing_value", &[1e20, 0.1])]);
        let Values::F32(decoded) = packed.decode(Values::F32(vec![1e20, 0.1, 2.0]), None) else {
            panic!("the precision is kept")
        };
        assert!(decoded[0].is_nan() && decoded[1].is_nan());
        assert_eq!(decoded[2], 2.0);
        let packed = packing(ScalarType::F64, &[("valid_range", &[-1.0, 1.0])]);
        let decoded = packed.decode(Values::F64(vec![1.0, 1.5]), None).into_f64();
        assert!(decoded[0] == 1.0 && decoded[1].is_nan());
    }

    #[test]
    fn the_default_fill_value_is_that_of_netcdf() {
        assert_eq!(DEFAULT_FILL_F32 as f32, 9.969_21e36_f32);
    }
}
