//! Cells of any type, evaluated with the tables of their types; see `cpu/mesh/general.rs`.
//!
//! A kernel has a branch for each type that occurs, in which the numbers of its table are
//! constants.

use super::{
    super::{
        Vec4, cubecl, dot,
        frame_pair::{FramePair, blend},
        vec4,
    },
    CellQuery, MeshKind,
    kind::bit,
    sides::centre,
};
use crate::MAX_CELL_NODES;
use crate::cube::launch::Launch;
use crate::physics::{
    cells::device::{
        FaceValues, Jet, Newton, containment, depth_inside, flow_through, gradient_of, improve,
        nearest_side, newton, surface_at, to_linear,
    },
    prelude::device::is_of,
    region::device::Surface,
    tables::NODES_AT,
};
use burn_cubecl::cubecl::prelude::*;

/// A cell's type, and the offset of its terms in vectors of the coordinate tensor; 0 if it has
/// none.
#[derive(CubeType)]
struct Head {
    kind: i32,
    terms: usize,
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

/// The parametric coordinates of a position.
#[cube]
fn solve<F: Float>(
    launch: &Launch<F>,
    cell: usize,
    p: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> Newton<F> {
    let head = head::<F>(launch, cell);
    let linear = linear::<F>(launch, cell, p);
    let tolerance = -launch.records[4 * cell].extract(3usize);
    let mut newton = newton::<F>(linear, tolerance, centre::<F>(head.kind, mesh), head.terms > 0);
    if comptime!(mesh.curved() != 0) {
        while newton.continues {
            let jet = jet::<F>(launch, &head, newton.at, mesh);
            improve::<F>(&mut newton, &jet, head.kind, mesh);
        }
    }
    newton
}

/// A position relative to a cell.
#[cube]
pub(super) fn query<F: Float>(
    launch: &Launch<F>,
    cell: usize,
    p: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> CellQuery<F> {
    let newton = solve::<F>(launch, cell, p, mesh);
    let margin = nearest_side::<F>(launch.index[4 * cell], newton.at, mesh);
    let containment = containment::<F>(&newton, margin.smallest);
    CellQuery::<F> { at: newton.at, containment, face: margin.face }
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

/// The velocity at coordinates in a cell, from fluxes through its faces; see `cpu/mesh/general/faces.rs`.
#[cube]
pub(super) fn flow<F: Float>(
    launch: &Launch<F>,
    cell: usize,
    at: Vec4<F>,
    pair: &FramePair<F>,
    #[comptime] mesh: MeshKind,
) -> Vec4<F> {
    let nodes = (launch.int(NODES_AT) + launch.index[4 * cell + 1]) as usize;
    let low = blend::<F>(launch, launch.index[nodes] as usize, pair);
    let along_r = blend::<F>(launch, launch.index[nodes + 1] as usize, pair);
    let along_s = blend::<F>(launch, launch.index[nodes + 3] as usize, pair);
    let mut top = low.extract(2usize);
    if comptime!(!mesh.is_flat()) {
        let along_t = blend::<F>(launch, launch.index[nodes + 4] as usize, pair);
        top = along_t.extract(2usize);
    }
    let high = vec4::<F>(along_r.extract(0usize), along_s.extract(1usize), top);
    let (zero, one) = (F::new(0.0_f32), F::new(1.0_f32));
    let mut by_r = vec4::<F>(one, zero, zero);
    let mut by_s = vec4::<F>(zero, one, zero);
    let head = head::<F>(launch, cell);
    if head.terms > 0 {
        let jet = jet::<F>(launch, &head, at, mesh);
        by_r = jet.by_r;
        by_s = jet.by_s;
    }
    let values = FaceValues::<F> { low, high };
    let (x, y) = (launch.records[4 * cell + 1], launch.records[4 * cell + 2]);
    flow_through::<F>(&values, at, by_r, by_s, x, y)
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
        gradient = to_linear::<F>(gradient, &jet);
    }
    vec4::<F>(
        dot::<F>(gradient, launch.records[4 * cell + 1]),
        dot::<F>(gradient, launch.records[4 * cell + 2]),
        dot::<F>(gradient, launch.records[4 * cell + 3]),
    )
}

/// The face with a number near a position; see [`Surface`].
#[cube]
pub(super) fn surface<F: Float>(
    launch: &Launch<F>,
    p: Vec4<F>,
    face: i32,
    #[comptime] mesh: MeshKind,
) -> Surface<F> {
    let (cell, face) = ((face / 8) as usize, face % 8);
    let head = head::<F>(launch, cell);
    let newton = solve::<F>(launch, cell, p, mesh);
    let depth = depth_inside::<F>(head.kind, face, newton.at, F::new(1.0_f32), mesh);
    let gradient = gradient::<F>(launch, cell, newton.at, face, mesh);
    surface_at::<F>(head.terms > 0, &newton, depth, gradient)
}

/// The exponents of a term's derivative.
fn lowered(mut exponents: [u8; 3], d: usize) -> [u8; 3] {
    exponents[d] -= 1;
    exponents
}
