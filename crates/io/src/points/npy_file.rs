//! Seeds from `.npy` files.

use super::SeedPoints;
use crate::npy::{NpyArray, read_npy};
use crate::{Error, Result};
use std::path::Path;

pub(super) fn read(path: &Path, names: &[&str]) -> Result<SeedPoints> {
    let NpyArray { shape, values } = read_npy(path)?;
    let wrong =
        |location: String, reason: String| Error::Points { path: path.into(), location, reason };
    if let Some(name) = names.first() {
        let reason =
            format!("arrays have no names of columns, such as `{name}`; give a CSV or VTK file");
        return Err(wrong("array".into(), reason));
    }
    let [points, width @ 2..=4] = shape[..] else {
        let reason = format!(
            "its shape is {shape:?}; give one of [n, 3] with x, y and z of each point, of [n, 2] without z, or of \
             [n, 4] with the release time"
        );
        return Err(wrong("array".into(), reason));
    };
    if points == 0 {
        return Err(wrong(
            "array".into(),
            "there are no points; give an array with at least one".into(),
        ));
    }
    if let Some(index) = values.iter().position(|value| !value.is_finite()) {
        let reason =
            format!("{} in column {} is not a finite number", values[index], index % width);
        return Err(wrong(format!("point {}", index / width), reason));
    }
    let rows = || values.chunks_exact(width);
    let z = |row: &[f64]| row.get(2).copied().unwrap_or(0.0);
    let position = rows().map(|row| [row[0], row[1], z(row)]).collect();
    let time = (width == 4).then(|| rows().map(|row| row[3]).collect());
    Ok(SeedPoints { position, time, columns: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::super::read_seeds;
    use crate::npy::header;

    #[test]
    fn errors_say_which_shape_is_meant() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seeds.npy");
        let error = |shape: &[usize], values: &[f64], names: &[&str]| {
            let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
            std::fs::write(&path, [header("<f8", shape), bytes].concat()).unwrap();
            let error = read_seeds(&path, None, names).unwrap_err().to_string();
            assert!(error.contains("seeds.npy"), "{error}");
            error
        };
        assert!(error(&[3], &[0.0; 3], &[]).contains("its shape is [3]; give one of [n, 3]"));
        assert!(error(&[1, 5], &[0.0; 5], &[]).contains("its shape is [1, 5]"));
        assert!(error(&[0, 3], &[], &[]).contains("there are no points"));
        let nan = error(&[2, 2], &[0.0, 1.0, 2.0, f64::NAN], &[]);
        assert!(nan.contains("point 1: NaN in column 1 is not a finite number"), "{nan}");
        assert!(error(&[1, 3], &[0.0; 3], &["d"]).contains("no names of columns, such as `d`"));
    }
}
