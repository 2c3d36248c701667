//! Rows of three numbers, and statuses, from arrays of the store.

use crate::number::Number;
use crate::{Error, Result};
use burntrace_core::{Floats, Status};
use std::path::Path;

/// Groups of three consecutive numbers.
pub(super) fn triples<T: Number>(numbers: Vec<T>) -> Vec<[T; 3]> {
    numbers.as_chunks().0.to_vec()
}

/// Statuses from their codes; an unknown code is an error of the store in `folder`.
pub(super) fn statuses(folder: &Path, codes: Vec<u8>) -> Result<Vec<Status>> {
    let status = |code: u8| {
        Status::from_code(i32::from(code)).ok_or_else(|| Error::Store {
            path: folder.into(),
            found: format!("found a particle with the status code {code}"),
            expected: "the codes that the store lists".into(),
        })
    };
    codes.into_iter().map(status).collect()
}

/// Numbers in double precision.
pub(super) fn doubles(floats: Floats) -> Vec<f64> {
    match floats {
        Floats::F32(numbers) => numbers.into_iter().map(f64::from).collect(),
        Floats::F64(numbers) => numbers,
    }
}
