//! Cells of any type, evaluated with the tables of their types; see `cpu/mesh/general.rs`.
//!
//! A kernel has a branch for each type that occurs, in which the numbers of its table are
//! constants.

use super::{
    super::{
        Vec4, cubecl, dot,
        frame_pair::{FramePair, blend},
        rounding, vec4,
    },
    BORDER, CellQuery, INSIDE, MeshKind, OUTSIDE,
    kind::bit,
    sides::{centre, gradient_of, inverse_scale, is_of, nearest_side},
};
use crate::MAX_CELL_NODES;
use crate::cube::launch::Launch;
use crate::physics::{tables::NODES_AT, vector::device::cross};
use burn_cubecl::cubecl::prelude::*;

/// Maximum number of Newton steps; two or three are usual.
const STEPS: i32 = 16;
/// Newton's method stops beyond this distance, in parametric coordinates.
const FAR: f32 = 64.0;

/// A cell's type, and the offset of its terms in vectors of the coordinate tensor; 0 if it has
/// none.
#[derive(CubeType)]
struct Head {
    kind: i32,
    terms: usize,
}

/// Coordinates in a cell, and whether they were found.
#[derive(CubeType)]
struct Solved<F: Float> {
    at: Vec4<F>,
    is_sound: bool,
}

/// A cell's polynomial and its derivatives.
#[derive(CubeType)]
struct Jet<F: Float> {
    value: Vec4<F>,
    by_r: Vec4<F>,
    by_s: Vec4<F>,
    by_t: Vec4<F>,
}

#[cube]
fn head<F: Float>(launch: &Launch<F>, cell: usize) -> Head {
    Head { kind: launch.index[4 * cell], terms: (launch.index[4 * cell + 3] / 4) as usize }
}

/// The linear coordinates of a position.
#[cube]
fn linear<F: Float>(launch: &Launch<F>, cell: usize, p: Vec4<F>) -> Vec4<F> {
    let d = p - launch.records[4 * cell];
    launch.records[4 * cell + 1] * Vec4::<F>::new(d.extract(0usize))
        + launch.records[4 * cell + 2] * Vec4::<F>::new(d.extract(1usize))
        + launch.records[4 * cell + 3] * Vec4::<F>::new(d.extract(2usize))
}

/// A coordinate to a power.
#[cube]
fn power<F: Float>(x: F, #[comptime] exponent: u8) -> F {
    if comptime!(exponent == 0) {
        F::new(1.0_f32)
    } else if comptime!(exponent == 1) {
        x
    } else {
        x * x
    }
}

/// The value of a term at a point.
#[cube]
fn term<F: Float>(at: Vec4<F>, #[comptime] exponents: [u8; 3]) -> F {
    power::<F>(at.extract(0usize), comptime!(exponents[0]))
        * power::<F>(at.extract(1usize), comptime!(exponents[1]))
        * power::<F>(at.extract(2usize), comptime!(exponents[2]))
}

/// Derivative of a term along an axis on which it depends.
#[cube]
fn term_derivative<F: Float>(
    at: Vec4<F>,
    #[comptime] exponents: [u8; 3],
    #[comptime] d: usize,
) -> F {
    let gradient = term::<F>(at, comptime!(lowered(exponents, d)));
    F::cast_from(comptime!(i32::from(exponents[d]))) * gradient
}

#[cube]
fn jet<F: Float>(
    launch: &Launch<F>,
    head: &Head,
    at: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> Jet<F> {
    let zero = Vec4::<F>::new(F::new(0.0_f32));
    let mut jet = Jet::<F> { value: zero, by_r: zero, by_s: zero, by_t: zero };
    #[unroll]
    for k in 0..comptime!(mesh.families().len()) {
        let family = comptime!(mesh.families()[k]);
        if is_of(head.kind, comptime!(family.0), comptime!(mesh.curved())) {
            #[unroll]
            for j in 0..comptime!(family.1.len()) {
                let exponents = comptime!(family.1[j]);
                let factor = launch.records[head.terms + j];
                jet.value += factor * Vec4::<F>::new(term::<F>(at, exponents));
                if comptime!(exponents[0] > 0) {
                    jet.by_r +=
                        factor * Vec4::<F>::new(term_derivative::<F>(at, exponents, 0usize));
                }
                if comptime!(exponents[1] > 0) {
                    jet.by_s +=
                        factor * Vec4::<F>::new(term_derivative::<F>(at, exponents, 1usize));
                }
                if comptime!(exponents[2] > 0) {
                    jet.by_t +=
                        factor * Vec4::<F>::new(term_derivative::<F>(at, exponents, 2usize));
                }
            }
        }
    }
    if comptime!(mesh.is_flat()) {
        jet.by_t.insert(2usize, F::new(1.0_f32));
    }
    jet
}

/// Whether all coordinates are within a bound; false for NaN.
#[cube]
fn is_within<F: Float>(v: Vec4<F>, bound: F) -> bool {
    v.extract(0usize).abs() <= bound
        && v.extract(1usize).abs() <= bound
        && v.extract(2usize).abs() <= bound
}

/// The parametric coordinates with these linear coordinates, by Newton's method.
#[cube]
fn solve<F: Float>(
    launch: &Launch<F>,
    head: &Head,
    linear: Vec4<F>,
    tolerance: F,
    #[comptime] mesh: MeshKind,
) -> Solved<F> {
    let first = centre::<F>(head.kind, mesh) + linear;
    let mut at = first;
    let mut is_sound = true;
    if comptime!(mesh.curved() != 0) {
        // Square of the step length after which the iteration stops: the remaining error is about
        // its square.
        let short = F::new(0.0625_f32) * rounding::<F>();
        let mut steps = 0i32;
        let mut continues = head.terms > 0;
        while continues {
            let jet = jet::<F>(launch, head, at, mesh);
            let rest = linear - jet.value;
            let st = cross::<F>(jet.by_s, jet.by_t);
            let tr = cross::<F>(jet.by_t, jet.by_r);
            let rs = cross::<F>(jet.by_r, jet.by_s);
            let per = F::new(1.0_f32) / dot::<F>(jet.by_r, st);
            let r = dot::<F>(rest, st) * per;
            let s = dot::<F>(rest, tr) * per;
            let t = dot::<F>(rest, rs) * per;
            steps += 1;
            if r.abs() + s.abs() + t.abs() <= F::max_value() {
                at += vec4::<F>(r, s, t);
                let inverse_scale = inverse_scale::<F>(head.kind, at, mesh);
                let across = max(r.abs(), s.abs()) * inverse_scale;
                is_sound = across * across <= short && t * t <= short;
                let is_near = is_within::<F>(at * Vec4::<F>::new(inverse_scale), F::new(FAR));
                continues = !is_sound && steps < STEPS && is_near;
                if !is_sound && !continues {
                    at = first;
                }
            } else {
                // Where r and s are undefined: the apex of a pyramid, or a collapsed cell.
                is_sound = is_within::<F>(rest, tolerance);
                continues = false;
            }
        }
    }
    Solved::<F> { at, is_sound }
}

/// A position relative to a cell.
#[cube]
pub(super) fn query<F: Float>(
    launch: &Launch<F>,
    cell: usize,
    p: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> CellQuery<F> {
    let head = head::<F>(launch, cell);
    let tolerance = -launch.records[4 * cell].extract(3usize);
    let linear = linear::<F>(launch, cell, p);
    let solved = solve::<F>(launch, &head, linear, tolerance, mesh);
    let margin = nearest_side::<F>(head.kind, solved.at, mesh);
    // NaN compares false with every side.
    let is_sound = solved.is_sound && is_within::<F>(solved.at, F::max_value());
    let is_inside = is_sound && margin.smallest >= tolerance;
    let is_near = is_sound && margin.smallest >= -tolerance;
    let containment = select(is_inside, INSIDE, select(is_near, BORDER, OUTSIDE));
    CellQuery::<F> { at: solved.at, containment, face: margin.face }
}

/// The mean of the nodal values at coordinates in a cell.
#[cube]
pub(super) fn mean<F: Float>(
    launch: &Launch<F>,
    cell: usize,
    at: Vec4<F>,
    pair: &FramePair<F>,
) -> Vec4<F> {
    let mesh = comptime!(launch.form.kind.mesh());
    let kind = launch.index[4 * cell];
    let nodes = (launch.int(NODES_AT) + launch.index[4 * cell + 1]) as usize;
    let mut sum = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for k in 0..comptime!(mesh.tables().len()) {
        let table = comptime!(mesh.tables()[k]);
        if is_of(kind, comptime!(bit(table.kind)), comptime!(mesh.kinds())) {
            let mut terms = Sequence::<F>::new();
            #[unroll]
            for j in 0..comptime!(table.exponents.len()) {
                terms.push(term::<F>(at, comptime!(table.exponents[j])));
            }
            #[unroll]
            for i in 0..comptime!(table.nodes.len()) {
                let weight = weight::<F>(&terms, comptime!(table.coefficients[i]));
                let value = blend::<F>(launch, launch.index[nodes + i] as usize, pair);
                sum += Vec4::<F>::new(weight) * value;
            }
        }
    }
    sum
}

/// The weight of a node, from the terms of its cell type.
#[cube]
fn weight<F: Float>(terms: &Sequence<F>, #[comptime] coefficients: [f64; MAX_CELL_NODES]) -> F {
    let mut weight = F::new(0.0_f32);
    #[unroll]
    for j in 0..terms.len() {
        let coefficient = comptime!(coefficients[j]);
        if comptime!(coefficient != 0.0) {
            weight += F::new(comptime!(coefficient as f32)) * terms[j];
        }
    }
    weight
}

/// Gradient in space of the coordinate that is 0 on a face of a cell and grows into it, at a point
/// near that face.
#[cube]
pub(super) fn gradient<F: Float>(
    launch: &Launch<F>,
    cell: usize,
    at: Vec4<F>,
    face: i32,
    #[comptime] mesh: MeshKind,
) -> Vec4<F> {
    let head = head::<F>(launch, cell);
    let mut gradient = gradient_of::<F>(head.kind, face, mesh);
    if head.terms > 0 {
        let jet = jet::<F>(launch, &head, at, mesh);
        let st = cross::<F>(jet.by_s, jet.by_t);
        let tr = cross::<F>(jet.by_t, jet.by_r);
        let rs = cross::<F>(jet.by_r, jet.by_s);
        let per = F::new(1.0_f32) / dot::<F>(jet.by_r, st);
        gradient = (st * Vec4::<F>::new(gradient.extract(0usize))
            + tr * Vec4::<F>::new(gradient.extract(1usize))
            + rs * Vec4::<F>::new(gradient.extract(2usize)))
            * Vec4::<F>::new(per);
    }
    vec4::<F>(
        dot::<F>(gradient, launch.records[4 * cell + 1]),
        dot::<F>(gradient, launch.records[4 * cell + 2]),
        dot::<F>(gradient, launch.records[4 * cell + 3]),
    )
}

/// The exponents of a term's derivative.
fn lowered(mut exponents: [u8; 3], d: usize) -> [u8; 3] {
    exponents[d] -= 1;
    exponents
}
