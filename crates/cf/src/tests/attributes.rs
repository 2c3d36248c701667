//! Packed and missing values as netCDF4-python reads them, of generated files.

use crate::packing::Packing;
use crate::{Attribute, ScalarType, Span, Store, Values, Variable, open};
use std::path::Path;
use std::process::Command;

/// The numbers of a variable, `None` where they are missing; or why they cannot be read.
fn decoded(path: &Path, name: &str) -> Result<Vec<Option<f64>>, String> {
    let store = open(path).map_err(|error| error.to_string())?;
    let variable = store.find(name).unwrap();
    let packing = Packing::of(&*store, variable)?;
    let stored = store.read_all(variable).map_err(|error| error.to_string())?;
    let decoded = packing.decode(stored, None)?;
    let values = decoded.values.into_f64();
    let missing = decoded.missing.unwrap_or_else(|| vec![false; values.len()]);
    Ok(values.into_iter().zip(missing).map(|(value, is)| (!is).then_some(value)).collect())
}

/// Whether numbers are those of a line: bits of doubles, or `masked`.
fn is_as_expected(numbers: &[Option<f64>], expected: &[&str]) -> bool {
    let is_same = |(number, expected): (&Option<f64>, &&str)| match (number, *expected) {
        (None, "masked") => true,
        (Some(number), bits) => u64::from_str_radix(bits, 16).is_ok_and(|bits| {
            let expected = f64::from_bits(bits);
            *number == expected || number.is_nan() && expected.is_nan()
        }),
        _ => false,
    };
    numbers.len() == expected.len() && numbers.iter().zip(expected).all(is_same)
}

/// Attributes in the types that CF asks for are read; of others, either both read the same numbers, or they are
/// refused.
#[test]
fn numbers_are_those_of_netcdf4_python() {
    let Some(python) = super::requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/cf_attributes.py");
    let output = Command::new(python).arg(script).arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut read, mut refused, mut wrong) = (0, 0, Vec::new());
    for line in std::fs::read_to_string(folder.path().join("expected.txt")).unwrap().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [file, name, kind, expected @ ..] = words.as_slice() else { panic!("{line}") };
        match decoded(&folder.path().join(file), name) {
            // netCDF4-python fails, for example to name the fill value of an unsigned type.
            _ if expected[0] == "error" => {}
            Ok(numbers) if is_as_expected(&numbers, expected) => read += 1,
            Err(reason) if *kind == "odd" && reason.contains("its ") => refused += 1,
            other => wrong.push(format!("{line}\n{other:?}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(5)].join("\n")
    );
    assert!(read > 2500 && refused > 100, "{read} were read, {refused} refused");
}

/// A file in which numbers that were never written have the default fill value; of bytes, it does not tell.
#[derive(Debug)]
struct Filled;

impl Store for Filled {
    fn path(&self) -> &Path {
        Path::new("filled.nc")
    }

    fn format(&self) -> &str {
        "NetCDF-4"
    }

    fn variables(&self) -> &[Variable] {
        &[]
    }

    fn has_default_fill(&self, scalar: ScalarType) -> Option<bool> {
        (scalar.size() > 1).then_some(true)
    }

    fn read(&self, _: &Variable, _: &[Span]) -> crate::Result<Values> {
        Ok(Values::F64(Vec::new()))
    }
}

/// Decodes stored numbers; in the result, -7 stands for a missing one.
fn decode(
    scalar: ScalarType,
    attributes: &[(&str, Attribute)],
    stored: &[f64],
) -> Result<Values, String> {
    let attributes = attributes.iter().map(|(name, value)| ((*name).into(), value.clone()));
    let (name, dimensions, attributes) = ("u".into(), Vec::new(), attributes.collect());
    let variable = Variable { name, dimensions, scalar: Some(scalar), attributes };
    let stored = match scalar.fits_f32() {
        true => Values::F32(stored.iter().map(|x| *x as f32).collect()),
        false => Values::F64(stored.to_vec()),
    };
    let decoded = Packing::of(&Filled, &variable)?.decode(stored, None)?;
    let Some(missing) = decoded.missing else { return Ok(decoded.values) };
    Ok(match decoded.values {
        Values::F32(values) => {
            let marked = values.into_iter().zip(missing);
            Values::F32(marked.map(|(x, is)| if is { -7.0 } else { x }).collect())
        }
        Values::F64(values) => {
            let marked = values.into_iter().zip(missing);
            Values::F64(marked.map(|(x, is)| if is { -7.0 } else { x }).collect())
        }
    })
}

fn of(scalar: ScalarType, numbers: &[f64]) -> Attribute {
    Attribute::Numbers(scalar, numbers.to_vec())
}

fn text(text: &str) -> Attribute {
    Attribute::Text(text.into())
}

/// The numbers are those of netCDF4-python 1.7.5.
#[test]
fn packed_numbers_are_scaled_in_the_precision_of_the_factors() {
    use ScalarType::{F32, F64, I16, I32};
    let scale = ("scale_factor", of(F64, &[0.01]));
    assert_eq!(decode(I16, std::slice::from_ref(&scale), &[3.0]), Ok(Values::F64(vec![0.03])));
    let single = ("scale_factor", of(F32, &[f64::from(0.01_f32)]));
    let offset = ("add_offset", of(F32, &[f64::from(273.15_f32)]));
    let expected = 12_345.0_f32 * 0.01 + 273.15;
    assert_eq!(decode(I16, &[single, offset], &[12_345.0]), Ok(Values::F32(vec![expected])));
    // Factors of another precision than the variable tell that of the result.
    let [one, zero] =
        [("scale_factor", 1.0), ("add_offset", 0.0)].map(|(name, x)| (name, of(F32, &[x])));
    let rounded = decode(I32, &[one, zero], &[16_777_217.0]);
    assert_eq!(rounded, Ok(Values::F64(vec![16_777_216.0])));
    let wide = decode(F32, &[("add_offset", of(F64, &[0.1]))], &[1.0]);
    assert_eq!(wide, Ok(Values::F64(vec![1.1])));
    let overflow = decode(I16, &[("scale_factor", of(I16, &[2.0]))], &[1.0]).unwrap_err();
    assert!(overflow.contains("do not all fit into int16"), "{overflow}");
}

#[test]
fn numbers_that_were_never_written_are_missing() {
    use ScalarType::{F32, I8, I16, I32, U16};
    let scale = ("scale_factor", of(ScalarType::F64, &[0.01]));
    let never = [(I16, -32_767.0), (U16, 65_535.0), (I32, -2_147_483_647.0)];
    for (scalar, fill) in never {
        let found = decode(scalar, std::slice::from_ref(&scale), &[fill, 100.0]);
        assert_eq!(found, Ok(Values::F64(vec![-7.0, 1.0])), "{scalar}");
    }
    let float = 9.969_21e36_f32;
    assert_eq!(decode(F32, &[], &[f64::from(float), 1.0]), Ok(Values::F32(vec![-7.0, 1.0])));
    // Beside `missing_value`, but not beside `_FillValue`.
    let beside = |name| decode(I16, &[(name, of(I16, &[5.0]))], &[-32_767.0, 5.0]);
    assert_eq!(beside("missing_value"), Ok(Values::F32(vec![-7.0, -7.0])));
    assert_eq!(beside("_FillValue"), Ok(Values::F32(vec![-32_767.0, -7.0])));
    let unclear = decode(I8, &[], &[-127.0]).unwrap_err();
    assert!(unclear.contains("-127") && unclear.contains("`_FillValue`"), "{unclear}");
}

#[test]
fn signed_types_stand_for_unsigned_ones_by_true_or_false_only() {
    let fill = ("_FillValue", of(ScalarType::I8, &[-1.0]));
    let unsigned = |value| {
        let attributes = [("_Unsigned", text(value)), fill.clone()];
        decode(ScalarType::I8, &attributes, &[-56.0, 5.0, -1.0])
    };
    for value in ["true", "True"] {
        assert_eq!(unsigned(value), Ok(Values::F32(vec![200.0, 5.0, -7.0])));
    }
    assert_eq!(unsigned("false"), Ok(Values::F32(vec![-56.0, 5.0, -7.0])));
    assert!(unsigned("yes").unwrap_err().contains("`_Unsigned`"));
}

/// Only what is declared is missing: a NaN that is not stays one.
#[test]
fn declared_numbers_are_missing() {
    use ScalarType::{F32, F64, I16};
    let Ok(Values::F32(undeclared)) = decode(F32, &[], &[f64::NAN, 1.0]) else { panic!() };
    assert!(undeclared[0].is_nan(), "not missing");
    let nan = ("_FillValue", of(F32, &[f64::NAN]));
    assert_eq!(decode(F32, &[nan], &[f64::NAN, 1.0]), Ok(Values::F32(vec![-7.0, 1.0])));
    let list = ("missing_value", of(I16, &[-99.0, -98.0]));
    assert_eq!(decode(I16, &[list], &[-99.0, -98.0, 1.0]), Ok(Values::F32(vec![-7.0, -7.0, 1.0])));
    let range = ("valid_range", of(F64, &[-1.0, 1.0]));
    assert_eq!(decode(F64, &[range], &[1.0, 1.5]), Ok(Values::F64(vec![1.0, -7.0])));
    let minimum = ("valid_min", of(I16, &[0.0]));
    assert_eq!(decode(I16, &[minimum], &[-1.0, 1.0]), Ok(Values::F32(vec![-7.0, 1.0])));
}

/// Readers differ in attributes of another type. They matter where a number is missing by one reading only.
#[test]
fn attributes_of_another_type_are_refused_where_they_matter() {
    use ScalarType::{F32, F64, I16};
    let scale = ("scale_factor", of(F64, &[0.01]));
    // 5 m/s unpacked, or 5 as stored.
    let limit = ("valid_max", of(F64, &[5.0]));
    let limited = |stored| decode(I16, &[scale.clone(), limit.clone()], &[stored]);
    assert_eq!(limited(4.0), Ok(Values::F64(vec![0.04])));
    assert_eq!(limited(501.0), Ok(Values::F64(vec![-7.0])));
    let refused = limited(400.0).unwrap_err();
    assert!(refused.contains("`valid_max` has 5, which is float64 and not int16"), "{refused}");
    let large = ("missing_value", of(F64, &[1e20]));
    assert_eq!(decode(F32, std::slice::from_ref(&large), &[1.0]), Ok(Values::F32(vec![1.0])));
    let refused = decode(F32, &[large], &[1e20]).unwrap_err();
    assert!(refused.contains("`missing_value`") && refused.contains("ncatted"), "{refused}");
    let refused = decode(F32, &[("missing_value", text("-999"))], &[1.0]).unwrap_err();
    assert!(refused.contains("the text \"-999\""), "{refused}");
}
