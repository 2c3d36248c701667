//! The values of velocity arrays: components, precision, selection and order.

use super::grid::flip;
use burntrace_core::Floats;
use burntrace_vtk::{AddedPoints, ArrayInfo, ScalarType, Values};

/// The axes along which the two components of a plane velocity point, by the axes that are flat: those of
/// the plane; x and y of a field with three axes or one.
pub(super) fn plane_axes(flat: [bool; 3]) -> [usize; 2] {
    match flat {
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

/// Values of a file that a field uses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Selection<'a> {
    /// All of them.
    All,
    /// Those with these indices.
    Indices(&'a [usize]),
    /// All of them, followed by those at added points.
    Added(&'a AddedPoints),
}

/// Selects values of `width` numbers.
pub(super) fn select(values: Floats, width: usize, selection: Selection<'_>) -> Floats {
    fn of<T: Copy>(values: Vec<T>, width: usize, selected: &[usize]) -> Vec<T> {
        selected.iter().flat_map(|&value| &values[width * value..][..width]).copied().collect()
    }
    match (values, selection) {
        (values, Selection::All) => values,
        (Floats::F32(values), Selection::Indices(all)) => Floats::F32(of(values, width, all)),
        (Floats::F64(values), Selection::Indices(all)) => Floats::F64(of(values, width, all)),
        (Floats::F32(mut values), Selection::Added(added)) => {
            let sums = sums(added, width, |i| f64::from(values[i]));
            values.extend(sums.into_iter().map(|x| x as f32));
            Floats::F32(values)
        }
        (Floats::F64(mut values), Selection::Added(added)) => {
            values.extend(sums(added, width, |i| values[i]));
            Floats::F64(values)
        }
    }
}

/// The values of `width` numbers at added points.
fn sums(added: &AddedPoints, width: usize, number: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sums = Vec::with_capacity(width * added.len());
    for (points, weights) in added.iter() {
        let both = || points.iter().zip(weights);
        sums.extend((0..width).map(|c| {
            both().map(|(point, weight)| weight * number(width * *point as usize + c)).sum::<f64>()
        }));
    }
    sums
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

/// `u, v, w` of each value, from one array of three or two components, or three or two of one.
pub(super) fn triples<T: Copy + Default>(mut arrays: Vec<Vec<T>>, components: usize) -> Vec<T> {
    match arrays.as_slice() {
        [u, v, w] => {
            let both = u.iter().zip(v).zip(w);
            return both.flat_map(|((&u, &v), &w)| [u, v, w]).collect();
        }
        [u, v] => return u.iter().zip(v).flat_map(|(&u, &v)| [u, v, T::default()]).collect(),
        _ => {}
    }
    let array = arrays.pop().unwrap_or_default();
    match components {
        2 => array.chunks_exact(2).flat_map(|uv| [uv[0], uv[1], T::default()]).collect(),
        _ => array,
    }
}
