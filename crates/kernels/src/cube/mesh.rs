//! Reading a velocity from a mesh: the walk and the search of `cpu/mesh.rs`.
//!
//! A kernel holds a copy of each function for each place that calls it. So one loop serves the walk
//! and the search: each of its rounds looks at one cell.

mod edges;
mod general;
mod kind;
mod sides;
mod simplices;

pub(super) use edges::{edge, inward};
pub(super) use kind::MeshKind;

use super::{
    Form, Vec4, cubecl,
    frame_pair::{FramePair, blend},
    rounding,
    tables::{BINS_AT, CELLS, ENTRIES_AT, NEIGHBOURS_AT, NODES, ORIGIN, PER_LENGTH, STRIDES},
    vec4,
};
use burn_cubecl::cubecl::prelude::*;

/// It is in the cell, and in no other.
const INSIDE: i32 = 0;
/// It is on a face of the cell, as far as rounding can tell.
const BORDER: i32 = 1;
/// It is beyond a face.
const OUTSIDE: i32 = 2;

/// What a cell says about a position.
#[derive(CubeType)]
struct CellQuery<F: Float> {
    /// The place in the cell: shares of nodes, or parametric coordinates.
    at: Vec4<F>,
    standing: i32,
    /// The face that it is farthest beyond, or nearest to.
    face: i32,
}

/// Cells that a walk goes through before it asks the locator.
const HOPS: i64 = 64;

/// Where a particle is in a mesh. Numbers of cells are one more than they are; 0 is none.
#[derive(CubeType)]
pub(super) struct CellHint<F: Float> {
    /// The cell of the last sample.
    pub cell: i32,
    /// The cell in which the step began, and where.
    pub base: i32,
    pub from: Vec4<F>,
    /// Whether a sample since then was in no cell, or in one that no walk led to.
    pub has_strayed: bool,
}

/// The whereabouts that a particle's record keeps.
#[cube]
pub(super) fn recall<F: Float>(ints: &[i32], note: i32) -> CellHint<F> {
    let is_cell = note >= 0 && note <= ints[CELLS];
    CellHint::<F> {
        cell: select(is_cell, note, 0i32),
        base: 0i32,
        from: Vec4::<F>::new(F::new(0.0_f32)),
        has_strayed: false,
    }
}

/// Forgets where a particle was: its slot has another one now, elsewhere.
#[cube]
pub(super) fn forget<F: Float>(hint: &mut CellHint<F>) {
    hint.cell = 0i32;
    hint.base = 0i32;
    hint.has_strayed = false;
}

/// Goes back to where the step began.
#[cube]
pub(super) fn turn_back<F: Float>(hint: &mut CellHint<F>) {
    hint.cell = hint.base;
    hint.has_strayed = false;
}

/// The cell of each position, or -1.
#[cube(launch)]
pub(super) fn locate_kernel<F: Float>(
    position: &[F],
    cells: &mut [i32],
    places: &[Vec4<F>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    #[comptime] mesh: MeshKind,
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= cells.len() {
        terminate!();
    }
    let p = vec4::<F>(position[3 * i], position[3 * i + 1], position[3 * i + 2]);
    let found = seek::<F>(places, index, floats, ints, p, 0i32, true, mesh);
    cells[i] = found.cell - 1;
}

/// Velocity at a position and a moment.
#[cube]
pub(super) fn sample<F: Float>(
    velocity: &[Vec4<F>],
    places: &[Vec4<F>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    position: Vec4<F>,
    moment: &FramePair<F>,
    hint: &mut CellHint<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    let mesh = comptime!(form.kind.mesh());
    let at = place::<F>(places, index, floats, ints, position, hint, mesh);
    let mut value = Vec4::<F>::new(F::new(0.0_f32));
    if hint.cell > 0 {
        let cell = (hint.cell - 1) as usize;
        if comptime!(mesh.is_in_cells()) {
            value = blend::<F>(velocity, cell, moment, form);
        } else if comptime!(mesh.is_simple()) {
            value = simplices::mean::<F>(velocity, index, cell, at, moment, form);
        } else {
            value = general::mean::<F>(velocity, index, ints, cell, at, moment, form);
        }
    }
    value
}

/// Whether a step that has sampled with a hint leads to a position without leaving the field, as
/// far as can be seen at once. If so, the next step begins there.
#[cube]
pub(super) fn holds<F: Float>(
    places: &[Vec4<F>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    position: Vec4<F>,
    hint: &mut CellHint<F>,
    #[comptime] mesh: MeshKind,
) -> bool {
    let mut holds = false;
    if !hint.has_strayed && hint.cell > 0 {
        let walk = seek::<F>(places, index, floats, ints, position, hint.cell, false, mesh);
        holds = walk.is_there;
        if holds {
            hint.cell = walk.cell;
            hint.base = walk.cell;
            hint.from = position;
        }
    }
    holds
}

/// Finds the cell of a sample, which the hint has then, and returns the place there. Where the
/// sample is in no cell, it is the last place in the mesh on the straight way from where the step
/// began: the first round asks for the sample, and others, which follow then, halve that way.
#[cube]
fn place<F: Float>(
    places: &[Vec4<F>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    p: Vec4<F>,
    hint: &mut CellHint<F>,
    #[comptime] mesh: MeshKind,
) -> Vec4<F> {
    let one = F::new(1.0_f32);
    let mut cell = hint.cell;
    let mut at = Vec4::<F>::new(F::new(0.0_f32));
    let mut reached = F::new(0.0_f32);
    let mut beyond = one;
    let mut part = one;
    let mut is_first = true;
    let mut goes_on = true;
    while goes_on {
        let mut place = p;
        if !is_first {
            place = hint.from + Vec4::<F>::new(part) * (p - hint.from);
        }
        let found = seek::<F>(places, index, floats, ints, place, cell, is_first, mesh);
        if found.is_there {
            cell = found.cell;
            at = found.at;
            reached = part;
        } else {
            beyond = part;
            if is_first {
                cell = hint.base;
            }
        }
        if is_first {
            hint.has_strayed = hint.has_strayed || (found.is_lost && hint.base > 0);
        }
        is_first = false;
        part = F::new(0.5_f32) * (reached + beyond);
        goes_on = cell > 0 && is_between::<F>(part, reached, beyond);
    }
    hint.cell = cell;
    if hint.base == 0 {
        hint.base = cell;
        hint.from = p;
    }
    at
}

/// Whether there is something between two parts of a way. Nothing is as short as the square of
/// rounding, so that not even a way that leads nowhere takes many rounds.
#[cube]
pub(super) fn is_between<F: Float>(part: F, reached: F, beyond: F) -> bool {
    let round = rounding::<F>();
    part > reached && part < beyond && beyond - reached > round * round
}

/// Where a search for a position ended.
#[derive(CubeType)]
pub(super) struct Sought<F: Float> {
    /// Whether it is in the cell of the position.
    pub is_there: bool,
    /// Whether no walk led there.
    pub is_lost: bool,
    /// The number of a cell, one more than it is.
    pub cell: i32,
    pub at: Vec4<F>,
}

/// Walks from a cell to a position. A walk that ends on a face goes to the first cell there,
/// whatever the way was. Where there is no cell to walk from, and if so asked where the walk is
/// lost, the position is searched for.
#[cube]
pub(super) fn seek<F: Float>(
    places: &[Vec4<F>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    p: Vec4<F>,
    from: i32,
    searches: bool,
    #[comptime] mesh: MeshKind,
) -> Sought<F> {
    let mut cell = from;
    let mut at = Vec4::<F>::new(F::new(0.0_f32));
    let mut hops = i32::new(HOPS);
    let mut before = 0i32;
    let mut is_there = false;
    let mut is_lost = true;
    let mut is_walking = cell > 0;
    let mut has_begun = false;
    let mut entry = 0i32;
    let mut end = 0i32;
    let mut goes_on = true;
    while goes_on {
        let mut other = cell - 1;
        if !is_walking {
            if !has_begun {
                has_begun = true;
                let bin = bin::<F>(floats, ints, p);
                entry = index[bin];
                end = index[bin + 1];
            }
            goes_on = entry < end;
            if goes_on {
                other = index[(ints[ENTRIES_AT] + entry) as usize];
                entry += 1;
            }
        }
        if goes_on {
            let look = look::<F>(places, index, other as usize, p, mesh);
            let is_outside = look.standing == OUTSIDE;
            if is_walking {
                at = look.at;
                let mut next = i32::new(-1);
                if is_outside && hops > 0 {
                    next = beyond(index, ints, other as usize, look.face, mesh);
                }
                // Cells that send a walk to and fro are folded, or too distorted to say where to go.
                if next >= 0 && next + 1 != before {
                    hops -= 1;
                    before = cell;
                    cell = next + 1;
                } else {
                    is_walking = false;
                    is_lost = is_outside;
                    is_there = !is_outside;
                    goes_on = look.standing == BORDER || (is_outside && searches);
                }
            } else if !is_outside {
                at = look.at;
                cell = other + 1;
                is_there = true;
                goes_on = false;
            }
        }
    }
    Sought::<F> { is_there, is_lost, cell, at }
}

/// The bin of a position, as the place of its beginning among the index.
#[cube]
fn bin<F: Float>(floats: &[F], ints: &[i32], p: Vec4<F>) -> usize {
    let mut bin = ints[BINS_AT];
    #[unroll]
    for d in 0..3usize {
        let g = (p.extract(d) - floats[ORIGIN + d]) * floats[PER_LENGTH + d];
        // Brought into the range as a float: an integer may not hold what is far outside. What is
        // no number is in the first bin.
        let last = F::cast_from(ints[NODES + d] - 1);
        let g = select(g > F::new(0.0_f32), min(g, last), F::new(0.0_f32));
        bin += i32::cast_from(g) * ints[STRIDES + d];
    }
    bin as usize
}

/// What a cell says about a position.
#[cube]
fn look<F: Float>(
    places: &[Vec4<F>],
    index: &[i32],
    cell: usize,
    p: Vec4<F>,
    #[comptime] mesh: MeshKind,
) -> CellQuery<F> {
    if comptime!(mesh.is_simple()) {
        simplices::look::<F>(places, cell, p, mesh)
    } else {
        general::look::<F>(places, index, cell, p, mesh)
    }
}

/// The cell beyond a face, or -1.
#[cube]
fn beyond(index: &[i32], ints: &[i32], cell: usize, face: i32, #[comptime] mesh: MeshKind) -> i32 {
    if comptime!(mesh.is_simple()) {
        index[8 * cell + 4 + face as usize]
    } else {
        index[(ints[NEIGHBOURS_AT] + index[4 * cell + 2] + face) as usize]
    }
}
