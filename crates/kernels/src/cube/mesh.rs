//! Velocity from a mesh: the walk and the search of `cpu/mesh.rs`.
//!
//! A kernel contains a copy of each function for each call site. Therefore a single loop serves the
//! walk and the search; each of its rounds examines one cell.

mod edges;
mod general;
mod kind;
mod sides;
mod simplices;

pub(super) use edges::{edge, inward_at, surface};
pub(crate) use kind::MeshKind;

use super::{
    Vec4, cubecl,
    frame_pair::{FramePair, blend},
    launch::Launch,
    vec4,
};
use crate::physics::{
    cells::device::{BORDER, OUTSIDE, hop, walk_from},
    prelude::device::rounding,
    region::device::{CellHint, is_between, known},
    sphere::device::in_space,
    tables::{
        BINS_AT, CELLS, ENTRIES_AT, NEAR_REENTRANT_AT, NEIGHBOURS_AT, NODES, ORIGIN, PER_LENGTH,
        STRIDES,
    },
};
use burn_cubecl::cubecl::prelude::*;

/// A position relative to a cell.
#[derive(CubeType)]
struct CellQuery<F: Float> {
    /// Coordinates in the cell: barycentric weights, or parametric coordinates.
    at: Vec4<F>,
    /// [`INSIDE`](crate::physics::cells::device::INSIDE), on its [`BORDER`] or [`OUTSIDE`].
    containment: i32,
    /// The face that the position is farthest beyond, or nearest to.
    face: i32,
}

/// The hint stored in a particle's record.
#[cube]
pub(super) fn recall<F: Float>(launch: &Launch<F>, note: i32) -> CellHint<F> {
    let is_cell = note >= 0 && note <= launch.int(CELLS);
    known::<F>(select(is_cell, note, 0i32))
}

/// Finds the cell of the start of a step, which the hint may know.
#[cube]
pub(super) fn enter<F: Float>(launch: &Launch<F>, p: Vec4<F>, hint: &mut CellHint<F>) {
    let mesh = comptime!(launch.form.kind.mesh());
    let found = find_cell::<F>(launch, p, hint.cell, true, false, mesh);
    let cell = select(found.is_found, found.cell, 0i32);
    hint.cell = cell;
    hint.base = cell;
    hint.from = p;
}

/// Resets the hint: the slot has another instance now, at another position.
#[cube]
pub(super) fn forget<F: Float>(hint: &mut CellHint<F>) {
    hint.cell = 0i32;
    hint.base = 0i32;
    hint.walk_failed = false;
}

/// The cell of each position, or -1.
#[cube(launch)]
pub(super) fn locate_kernel<F: Float>(
    position: &[F],
    cells: &mut [i32],
    count: usize,
    launch: &Launch<F>,
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= count {
        terminate!();
    }
    let mesh = comptime!(launch.form.kind.mesh());
    let p = vec4::<F>(position[3 * i], position[3 * i + 1], position[3 * i + 2]);
    let found = find_cell::<F>(launch, p, 0i32, true, false, mesh);
    cells[i] = found.cell - 1;
}

/// Velocity at a position and time.
#[cube]
pub(super) fn sample<F: Float>(
    launch: &Launch<F>,
    position: Vec4<F>,
    pair: &FramePair<F>,
    hint: &mut CellHint<F>,
) -> Vec4<F> {
    let mesh = comptime!(launch.form.kind.mesh());
    let located = locate_sample::<F>(launch, position, hint, mesh);
    let at = located.at;
    let mut value = Vec4::<F>::new(F::new(0.0_f32));
    if hint.cell > 0 {
        let cell = (hint.cell - 1) as usize;
        if comptime!(mesh.is_in_cells()) {
            value = blend::<F>(launch, cell, pair);
        } else if comptime!(mesh.is_simple()) {
            value = simplices::mean::<F>(launch, cell, at, pair);
        } else if comptime!(mesh.is_on_faces()) {
            if pair.is_velocity {
                let flow = general::flow::<F>(launch, cell, at, pair, mesh);
                value = flow;
                if comptime!(launch.features.sphere) {
                    value = in_space::<F>(located.point, flow);
                    value.insert(3usize, flow.extract(2usize));
                }
            } else {
                value = general::mean::<F>(launch, cell, at, pair);
            }
        } else {
            value = general::mean::<F>(launch, cell, at, pair);
        }
    }
    value
}

/// Quick test whether a step that was sampled with a hint stays in the field up to a position. If
/// so, the next step starts there.
#[cube]
pub(super) fn holds<F: Float>(
    launch: &Launch<F>,
    position: Vec4<F>,
    hint: &mut CellHint<F>,
) -> bool {
    let mut holds = false;
    if !hint.walk_failed && hint.cell > 0 {
        let walk = launch.find_cell(position, hint.cell, -1i32, false);
        holds = walk.is_found && !may_leave::<F>(launch, hint.from, position, hint.base, walk.cell);
        if holds {
            hint.cell = walk.cell;
            hint.base = walk.cell;
            hint.from = position;
        }
    }
    holds
}

/// Whether a straight path from one cell to another, which a walk has reached, may leave the mesh in between; see
/// [`MeshShape`](crate::MeshShape).
#[cube]
pub(super) fn may_leave<F: Float>(
    launch: &Launch<F>,
    from: Vec4<F>,
    to: Vec4<F>,
    first: i32,
    last: i32,
) -> bool {
    let mut may_leave = false;
    if comptime!(launch.features.reentrant) && first != last {
        let bits = launch.index[(launch.int(NEAR_REENTRANT_AT) + (first - 1) / 32) as usize];
        may_leave = ((bits >> ((first - 1) % 32)) & 1i32) == 1i32;
        #[unroll]
        for d in 0..3usize {
            let length = (to.extract(d) - from.extract(d)).abs();
            may_leave = may_leave || length * launch.float(PER_LENGTH + d) >= F::new(1.0_f32);
        }
    }
    may_leave
}

/// Where a sample is taken: the coordinates in its cell, and the position.
#[derive(CubeType)]
struct Located<F: Float> {
    at: Vec4<F>,
    point: Vec4<F>,
}

/// Finds the cell of a sample, stores it in the hint, and returns where it is taken. For a
/// sample in no cell, all belong to the last point in the mesh on the straight path from the start
/// of the step: the first round tries the sample, the others bisect the path.
#[cube]
fn locate_sample<F: Float>(
    launch: &Launch<F>,
    p: Vec4<F>,
    hint: &mut CellHint<F>,
    #[comptime] mesh: MeshKind,
) -> Located<F> {
    let one = F::new(1.0_f32);
    let mut cell = hint.cell;
    let mut at = Vec4::<F>::new(F::new(0.0_f32));
    let mut place = Vec4::<F>::new(F::new(0.0_f32));
    let mut reached = F::new(0.0_f32);
    let mut beyond = one;
    let mut part = one;
    let mut is_first = true;
    // Down to a point as close to the start as numbers permit, as the start's own coordinates are not known here.
    let shortest = rounding::<F>() * rounding::<F>();
    let mut continues = true;
    while continues {
        let mut point = p;
        if !is_first {
            point = hint.from + Vec4::<F>::new(part) * (p - hint.from);
        }
        let found = find_cell::<F>(launch, point, cell, is_first, false, mesh);
        if found.is_found {
            cell = found.cell;
            at = found.at;
            place = point;
            reached = part;
        } else {
            beyond = part;
            if is_first {
                cell = hint.base;
            }
        }
        if is_first {
            hint.walk_failed = hint.walk_failed || (found.walk_failed && hint.base > 0);
        }
        is_first = false;
        part = F::new(0.5_f32) * (reached + beyond);
        continues = cell > 0 && is_between::<F>(part, reached, beyond, shortest);
    }
    hint.cell = cell;
    if hint.base == 0 {
        hint.base = cell;
        hint.from = p;
    }
    Located::<F> { at, point: place }
}

/// Result of a search for a position.
#[derive(CubeType)]
pub(super) struct SearchResult<F: Float> {
    /// Whether the cell contains the position.
    pub is_found: bool,
    /// Whether no walk reached it.
    pub walk_failed: bool,
    /// The last cell, incremented by one.
    pub cell: i32,
    pub at: Vec4<F>,
}

/// Walks from a cell to a position. A walk that ends on a face returns the first cell there, which
/// does not depend on its path. Without a start cell, or if `searches` is set and the walk fails,
/// searches the locator. If `stays` is set, it examines the start cell only.
#[cube]
pub(super) fn find_cell<F: Float>(
    launch: &Launch<F>,
    p: Vec4<F>,
    from: i32,
    searches: bool,
    stays: bool,
    #[comptime] mesh: MeshKind,
) -> SearchResult<F> {
    let mut walk = walk_from(from);
    walk.hops = select(stays, 0i32, walk.hops);
    let mut at = Vec4::<F>::new(F::new(0.0_f32));
    let mut is_found = false;
    let mut walk_failed = true;
    let mut is_walking = from > 0;
    let mut has_started = false;
    let mut entry = 0i32;
    let mut end = 0i32;
    let mut continues = true;
    while continues {
        let mut other = walk.cell - 1;
        if !is_walking {
            if !has_started {
                has_started = true;
                let bin = bin::<F>(launch, p);
                entry = launch.index[bin];
                end = launch.index[bin + 1];
            }
            continues = entry < end;
            if continues {
                other = launch.index[(launch.int(ENTRIES_AT) + entry) as usize];
                entry += 1;
            }
        }
        if continues {
            let query = query::<F>(launch, other as usize, p, mesh);
            let is_outside = query.containment == OUTSIDE;
            if is_walking {
                at = query.at;
                let mut next = i32::new(-1);
                if is_outside {
                    next = beyond::<F>(launch, other as usize, query.face, mesh);
                }
                let moves = hop(&mut walk, next);
                if !moves {
                    is_walking = false;
                    walk_failed = is_outside;
                    is_found = !is_outside;
                    continues = (query.containment == BORDER && !stays) || (is_outside && searches);
                }
            } else if !is_outside {
                at = query.at;
                walk.cell = other + 1;
                is_found = true;
                continues = false;
            }
        }
    }
    SearchResult::<F> { is_found, walk_failed, cell: walk.cell, at }
}

/// The bin of a position, as the index of its start offset.
#[cube]
fn bin<F: Float>(launch: &Launch<F>, p: Vec4<F>) -> usize {
    let mut bin = launch.int(BINS_AT);
    #[unroll]
    for d in 0..3usize {
        let g = (p.extract(d) - launch.float(ORIGIN + d)) * launch.float(PER_LENGTH + d);
        // Clamped as a float, because an integer may not represent distant coordinates. NaN gives
        // the first bin.
        let last = F::cast_from(launch.int(NODES + d) - 1);
        let g = select(g > F::new(0.0_f32), min(g, last), F::new(0.0_f32));
        bin += i32::cast_from(g) * launch.int(STRIDES + d);
    }
    bin as usize
}

/// A position relative to a cell.
#[cube]
fn query<F: Float>(
    launch: &Launch<F>,
    cell: usize,
    p: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> CellQuery<F> {
    if comptime!(mesh.is_simple()) {
        simplices::query::<F>(launch, cell, p, mesh)
    } else {
        general::query::<F>(launch, cell, p, mesh)
    }
}

/// The cell beyond a face, or -1 less the tag of a boundary face.
#[cube]
pub(super) fn beyond<F: Float>(
    launch: &Launch<F>,
    cell: usize,
    face: i32,
    #[comptime] mesh: MeshKind,
) -> i32 {
    if comptime!(mesh.is_simple()) {
        launch.index[8 * cell + 4 + face as usize]
    } else {
        launch.index[(launch.int(NEIGHBOURS_AT) + launch.index[4 * cell + 2] + face) as usize]
    }
}
