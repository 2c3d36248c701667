//! Arrays of tracks on the host.

use super::layout::{self, ArraySpec};
use burntrace_core::{Crossing, Ends, Floats, MeshFace, ParticleInstance};

/// The numbers of an array on the host; the last dimension varies fastest.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum HostArray {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
}

/// Runs an expression on the vector of any type.
macro_rules! with_vector {
    ($array:expr, $numbers:ident => $body:expr) => {
        match $array {
            $crate::tracks::HostArray::F32($numbers) => $body,
            $crate::tracks::HostArray::F64($numbers) => $body,
            $crate::tracks::HostArray::I32($numbers) => $body,
            $crate::tracks::HostArray::I64($numbers) => $body,
            $crate::tracks::HostArray::U8($numbers) => $body,
        }
    };
}
pub(super) use with_vector;

macro_rules! from_vectors {
    ($($variant:ident: $number:ty),*) => {
        $(impl From<Vec<$number>> for HostArray {
            fn from(numbers: Vec<$number>) -> Self {
                HostArray::$variant(numbers)
            }
        })*
    };
}
from_vectors!(F32: f32, F64: f64, I32: i32, I64: i64, U8: u8);

impl From<Floats> for HostArray {
    fn from(floats: Floats) -> Self {
        match floats {
            Floats::F32(numbers) => numbers.into(),
            Floats::F64(numbers) => numbers.into(),
        }
    }
}

/// The arrays that are known only at the end of a run.
pub(super) fn of_ends(ends: &Ends) -> Vec<(&'static ArraySpec, HostArray)> {
    // Codes are below 256 and numbers below 2^31, as they come from tensors.
    let codes: Vec<u8> = ends.status.iter().map(|status| status.code() as u8).collect();
    let mut arrays = vec![
        (&layout::END_STATUS, codes.into()),
        (&layout::END_TIME, ends.end_time.clone().into()),
        (&layout::RELEASE_TIME, ends.release_time.clone().into()),
    ];
    if !ends.generation.is_empty() {
        let generations: Vec<i32> = ends.generation.iter().map(|&n| n as i32).collect();
        arrays.push((&layout::END_GENERATION, generations.into()));
    }
    if !ends.mesh_face.is_empty() {
        let (cells, faces) = cells_and_faces(&ends.mesh_face);
        arrays.push((&layout::MESH_CELL, cells.into()));
        arrays.push((&layout::MESH_FACE, faces.into()));
    }
    let places = [
        (&layout::OBSTACLE, &ends.obstacle),
        (&layout::PATCH, &ends.patch),
        (&layout::CONDITION, &ends.condition),
    ];
    for (spec, all) in places.into_iter().filter(|(_, all)| !all.is_empty()) {
        let index = |place: &Option<usize>| place.map_or(-1, |index| index as i32);
        arrays.push((spec, all.iter().map(index).collect::<Vec<i32>>().into()));
    }
    arrays
}

/// Cells and faces through which particles left the mesh; -1 for those that did not.
fn cells_and_faces(faces: &[Option<MeshFace>]) -> (Vec<i64>, Vec<i32>) {
    let pair = |face: &Option<MeshFace>| match face {
        Some(face) => (face.cell as i64, face.face as i32),
        None => (-1, -1),
    };
    faces.iter().map(pair).unzip()
}

/// A row of a table whose number of rows is not known in advance.
pub(super) trait Row: Sized {
    /// The columns of the table.
    const COLUMNS: &'static [&'static ArraySpec];

    /// Rows as these columns. Slots, generations and codes fit their types, as they come from tensors.
    fn columns(rows: &[Self]) -> Vec<HostArray>;
}

/// A column of rows.
fn column<R, T>(rows: &[R], of: fn(&R) -> T) -> HostArray
where
    HostArray: From<Vec<T>>,
{
    rows.iter().map(of).collect::<Vec<T>>().into()
}

/// A column of vectors.
fn vectors<R>(rows: &[R], of: fn(&R) -> [f64; 3]) -> HostArray {
    rows.iter().flat_map(of).collect::<Vec<f64>>().into()
}

impl Row for ParticleInstance {
    const COLUMNS: &'static [&'static ArraySpec] = &[
        &layout::INSTANCE_SLOT,
        &layout::INSTANCE_GENERATION,
        &layout::INSTANCE_STATUS,
        &layout::INSTANCE_RELEASE_TIME,
        &layout::INSTANCE_END_TIME,
        &layout::INSTANCE_RELEASE_POSITION,
        &layout::INSTANCE_END_POSITION,
    ];

    fn columns(rows: &[Self]) -> Vec<HostArray> {
        vec![
            column(rows, |of| of.slot as i32),
            column(rows, |of| of.generation as i32),
            column(rows, |of| of.status.code() as u8),
            column(rows, |of| of.release_time),
            column(rows, |of| of.end_time),
            vectors(rows, |of| of.release_position),
            vectors(rows, |of| of.end_position),
        ]
    }
}

impl Row for Crossing {
    const COLUMNS: &'static [&'static ArraySpec] = &[
        &layout::CROSSING_GATE,
        &layout::CROSSING_SLOT,
        &layout::CROSSING_GENERATION,
        &layout::CROSSING_DIRECTION,
        &layout::CROSSING_TIME,
        &layout::CROSSING_POSITION,
    ];

    fn columns(rows: &[Self]) -> Vec<HostArray> {
        vec![
            column(rows, |of| of.gate as i32),
            column(rows, |of| of.slot as i32),
            column(rows, |of| of.generation as i32),
            column(rows, |of| if of.is_forward { 1 } else { -1 }),
            column(rows, |of| of.time),
            vectors(rows, |of| of.position),
        ]
    }
}
