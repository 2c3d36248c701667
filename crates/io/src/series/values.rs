//! The values of velocity arrays: components, precision, selection and order.

use super::grid::{Grid, flip};
use burntrace_core::Floats;
use burntrace_vtk::{ArrayInfo, ScalarType, Values};

/// The axes of a grid along which the two components of a plane velocity point: those of its plane; x
/// and y if the grid has three axes or one.
pub(super) fn plane_axes(grid: &Grid) -> [usize; 2] {
    match grid.nodes().map(|nodes| nodes == 1) {
        [false, true, false] => [0, 2],
        [true, false, false] => [1, 2],
        _ => [0, 1],
    }
}

/// Velocities `u, v, 0` with their components along two axes.
pub(super) fn along(values: Floats, [first, second]: [usize; 2]) -> Floats {
    fn of<T: Copy + Default>(mut values: Vec<T>, first: usize, second: usize) -> Vec<T> {
        for row in values.chunks_exact_mut(3) {
            let (u, v) = (row[0], row[1]);
            row.fill(T::default());
            (row[first], row[second]) = (u, v);
        }
        values
    }
    match values {
        Floats::F32(values) => Floats::F32(of(values, first, second)),
        Floats::F64(values) => Floats::F64(of(values, first, second)),
    }
}

/// Selects values of `width` numbers by their indices; `None` selects all.
pub(super) fn select(values: Floats, width: usize, selected: Option<&[usize]>) -> Floats {
    fn of<T: Copy>(values: Vec<T>, width: usize, selected: &[usize]) -> Vec<T> {
        selected.iter().flat_map(|&value| &values[width * value..][..width]).copied().collect()
    }
    match (values, selected) {
        (values, None) => values,
        (Floats::F32(values), Some(selected)) => Floats::F32(of(values, width, selected)),
        (Floats::F64(values), Some(selected)) => Floats::F64(of(values, width, selected)),
    }
}

/// Diffusivities with 0 at hidden points or cells, whose numbers have no meaning.
pub(super) fn without_hidden(values: Floats, hidden: Option<&[bool]>) -> Floats {
    let Some(hidden) = hidden else { return values };
    let shown = |(i, is_hidden): (usize, &bool)| if *is_hidden { 0.0 } else { values.get(i) };
    Floats::from_f64(values.precision(), hidden.iter().enumerate().map(shown))
}

/// Reverses values of `width` numbers along the flipped axes of a grid.
pub(super) fn flip_floats(
    values: Floats,
    width: usize,
    counts: [usize; 3],
    flipped: [bool; 3],
) -> Floats {
    match values {
        Floats::F32(values) => Floats::F32(flip(values, width, counts, flipped)),
        Floats::F64(values) => Floats::F64(flip(values, width, counts, flipped)),
    }
}

/// The values of an array, in single precision where that is exact.
pub(super) fn floats(info: &ArrayInfo, values: Values) -> Floats {
    match fits_f32(info.scalar) {
        true => Floats::F32(values.into_f32()),
        false => Floats::F64(values.into_f64()),
    }
}

/// Whether `f32` holds every number of a type exactly.
pub(super) fn fits_f32(scalar: ScalarType) -> bool {
    use ScalarType::{Bit, F32, I8, I16, U8, U16};
    matches!(scalar, F32 | Bit | I8 | U8 | I16 | U16)
}

/// `u, v, w` of each value, from one array of three or two components, or three of one.
pub(super) fn triples<T: Copy + Default>(mut arrays: Vec<Vec<T>>, components: usize) -> Vec<T> {
    if let [u, v, w] = arrays.as_slice() {
        let both = u.iter().zip(v).zip(w);
        return both.flat_map(|((&u, &v), &w)| [u, v, w]).collect();
    }
    let array = arrays.pop().unwrap_or_default();
    match components {
        2 => array.chunks_exact(2).flat_map(|uv| [uv[0], uv[1], T::default()]).collect(),
        _ => array,
    }
}
