//! Derivatives at the nodes or in the cells of a grid.

use crate::{Floats, field::globe::scales};
use burntrace_kernels::Placement;
use rayon::prelude::*;

/// The derivatives by x, y and z of each component at each place, or `None` for a wrong number of values. Of three components on a sphere
/// they are those of a velocity towards the east, the north, and upwards.
pub(super) fn gradients(
    (axes, placement): (&[Vec<f64>; 3], Placement),
    values: &Floats,
    components: usize,
    radius: Option<f64>,
) -> Option<Vec<f64>> {
    let places = axes.each_ref().map(|axis| places(axis, placement));
    let [nx, ny, nz] = places.each_ref().map(Vec::len);
    let count = nx * ny * nz;
    if values.len() != count * components {
        return None;
    }
    let strides = [1, nx, nx * ny];
    let width = 3 * components;
    let mut all = vec![0.0; width * count];
    all.par_chunks_exact_mut(width).enumerate().for_each(|(node, slopes)| {
        let at = [node % nx, node / nx % ny, node / (nx * ny)];
        let position = [0, 1, 2].map(|d| places[d][at[d]]);
        let metres = radius.map_or([1.0; 3], |radius| scales(radius, position));
        for d in 0..3 {
            for c in 0..components {
                let value = |i: usize| {
                    let other = node - at[d] * strides[d] + i * strides[d];
                    values.get(components * other + c)
                };
                slopes[3 * c + d] = slope(&places[d], at[d], value) / metres[d];
            }
        }
        if let (Some(radius), 3) = (radius, components) {
            turn(slopes, values.vector(node), (radius, position));
        }
    });
    if radius.is_some() {
        // At a pole there are no axes; the row beside it is near.
        for node in 0..count {
            let j = node / nx % ny;
            if is_pole(places[1][j]) && ny > 1 {
                let beside = if j == 0 { node + nx } else { node - nx };
                all.copy_within(width * beside..width * (beside + 1), width * node);
            }
        }
    }
    Some(all)
}

fn is_pole(latitude: f64) -> bool {
    latitude.abs() > 90.0 - 1e-6
}

/// The coordinates of the values along an axis.
fn places(axis: &[f64], placement: Placement) -> Vec<f64> {
    match (placement, axis.len()) {
        (Placement::Cells, 2..) => axis.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect(),
        _ => axis.to_vec(),
    }
}

/// The derivative at place `i` of the parabola through it and two others: its neighbours, or the two nearest at an edge or beside values
/// that are missing; of the line to one neighbour, if there is no more.
fn slope(x: &[f64], i: usize, value: impl Fn(usize) -> f64) -> f64 {
    if x.len() < 2 {
        return 0.0;
    }
    let here = value(i);
    // The distance, and the mean slope to another place.
    let to = |k: Option<usize>| {
        let k = k.filter(|k| *k < x.len())?;
        let (length, change) = (x[k] - x[i], value(k) - here);
        change.is_finite().then_some([length, change / length])
    };
    let (low, high) = (to(i.checked_sub(1)), to(Some(i + 1)));
    let pair = match (low, high) {
        (Some(low), Some(high)) => [Some(low), Some(high)],
        (Some(low), None) => [Some(low), to(i.checked_sub(2))],
        (None, high) => [high, to(Some(i + 2)).filter(|_| high.is_some())],
    };
    match pair {
        [Some([a, to_a]), Some([b, to_b])] => (b * to_a - a * to_b) / (b - a),
        [Some([_, slope]), None] => slope,
        _ => f64::NAN,
    }
}

/// Adds what the turning of the axes along a sphere adds to the derivatives of a velocity.
fn turn(slopes: &mut [f64], [u, v, w]: [f64; 3], (radius, [_, lat, height]): (f64, [f64; 3])) {
    let away = radius + height;
    let slope = lat.to_radians().tan() / away;
    slopes[0] += w / away - v * slope;
    slopes[3] += u * slope;
    slopes[6] -= u / away;
    slopes[4] += w / away;
    slopes[7] -= v / away;
}
