//! Derivatives of the end of a path by the shapes of the obstacles that it meets.

use super::{
    Real,
    dual::{Dual, VARIABLES},
    launch::Launch,
    paths::{based, passage, transposed_slopes},
};
use crate::{
    obstacle::FACETED,
    physics::{
        facet::FACET_ROWS,
        prelude::host::Float,
        tables::{BODY_FLOATS, BODY_INTS, OBSTACLES_AT, SHAPES_AT},
    },
};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

// Two rows, or six floats, are derived at a time.
const _: () = assert!(VARIABLES == 6);

/// Obstacles that a path meets, each with the triangle, or -1.
type Met = Mutex<Vec<[i32; 2]>>;

/// What is asked of the shapes of obstacles on a path.
#[derive(Clone, Copy)]
pub(crate) enum OfShapes<'a> {
    Nothing,
    /// Which of them it meets.
    Met(&'a Met),
    /// The derivatives by a number of floats of the launch, from a first one on.
    Floats(usize, usize),
    /// The derivatives by two rows of the launch, from a first one on.
    Rows(usize),
}

impl OfShapes<'_> {
    /// A float of a launch with derivatives.
    pub fn float<F: Float>(&self, i: usize, value: F) -> F {
        match *self {
            OfShapes::Floats(first, count) if (first..first + count).contains(&i) => {
                value.as_variable(i - first)
            }
            _ => value,
        }
    }

    /// A row of a launch with derivatives.
    pub fn row<F: Float>(&self, i: usize, row: [F; 3]) -> [F; 3] {
        match *self {
            OfShapes::Rows(first) if (first..first + 2).contains(&i) => {
                [0, 1, 2].map(|d| row[d].as_variable(3 * (i - first) + d))
            }
            _ => row,
        }
    }

    /// Notes that a path meets an obstacle.
    pub fn meet(&self, obstacle: i32, triangle: i32) {
        if let OfShapes::Met(all) = self {
            all.lock().unwrap_or_else(PoisonError::into_inner).push([obstacle, triangle]);
        }
    }
}

/// Gradients by rows of a launch; see [`GeometryTensors`](crate::GeometryTensors).
#[derive(Default)]
pub(super) struct RowGradients(pub BTreeMap<usize, [f64; 3]>);

impl RowGradients {
    pub fn add(&mut self, row: usize, by: [f64; 3]) {
        for (sum, by) in self.0.entry(row).or_default().iter_mut().zip(by) {
            *sum += by;
        }
    }
}

/// Adds the gradients by the numbers of the obstacles that a path from a cell meets, from those by its end and by the fraction
/// of the path there. `rows` are those of [`obstacle_rows`](crate::obstacle_rows).
#[cold]
#[inline(never)]
pub(super) fn add_gradients<F: Real>(
    launch: &Launch<Dual<F>>,
    (path, cell): ([[F; 3]; 2], i32),
    by_end: ([F; 3], f64),
    rows: &[usize],
    sums: &mut RowGradients,
) {
    let path = path.map(|p| p.map(Dual::constant));
    let by = |shapes: OfShapes| {
        let launch = Launch { shapes, ..*launch };
        let (passage, status) = passage(&launch, path, &mut based(cell));
        let fraction = if status.is_some() { by_end.1 } else { 0.0 };
        transposed_slopes((&passage.position.0, by_end.0), (&passage.fraction, fraction))
    };
    for [obstacle, triangle] in met(launch, path, cell) {
        let obstacle = obstacle as usize;
        let floats = launch.int(SHAPES_AT) as usize + obstacle * BODY_FLOATS;
        let row = rows[obstacle];
        let parts = match code(launch, obstacle) {
            FACETED if triangle < 0 => continue,
            FACETED => {
                let first = row + triangle as usize * FACET_ROWS;
                [0, 2].map(|part| (first + part, OfShapes::Rows(first + part)))
            }
            // The last number is the scale of rounding.
            _ => [(row, OfShapes::Floats(floats, 6)), (row + 2, OfShapes::Floats(floats + 6, 2))],
        };
        for (row, shapes) in parts {
            let by = by(shapes);
            sums.add(row, [by[0], by[1], by[2]]);
            if by[3..].iter().any(|x| *x != 0.0) {
                sums.add(row + 1, [by[3], by[4], by[5]]);
            }
        }
    }
}

/// The code of the shape of an obstacle.
fn code<F: Real>(launch: &Launch<Dual<F>>, obstacle: usize) -> i32 {
    launch.int(launch.int(OBSTACLES_AT) as usize + 1 + obstacle * BODY_INTS)
}

/// The obstacles that a path from a cell meets, in order, each once.
fn met<F: Real>(launch: &Launch<Dual<F>>, path: [[Dual<F>; 3]; 2], cell: i32) -> Vec<[i32; 2]> {
    let all = Met::default();
    passage(&Launch { shapes: OfShapes::Met(&all), ..*launch }, path, &mut based(cell));
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    for [obstacle, triangle] in &mut all {
        if code(launch, *obstacle as usize) != FACETED {
            // A bound of a body.
            *triangle = -1;
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}
