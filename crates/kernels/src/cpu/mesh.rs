//! Reading a velocity from a mesh.
//!
//! The cell of a position is found by a walk from the last cell of the particle, through the face
//! that the position is farthest beyond. Where that cannot go on, and where a position is on a
//! face, the locator decides: what is found depends on the position alone, and not on the way there
//! (but in cells that overlap).

mod bins;
mod general;
mod simplices;

pub(super) use general::General;
pub(super) use simplices::Simplices;

use super::{
    FieldArrays, Real, Sampler,
    edge::is_between,
    frame_pair::{FramePair, blend},
    lanes::{Four, Lanes, Portable, Vector},
    three,
};
use crate::{MeshShape, Placement};
use bins::Bins;
use rayon::prelude::*;

/// Where a position is, seen from one cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Containment {
    /// In it, and in no other.
    Inside,
    /// On one of its faces, as far as rounding can tell.
    Border,
    /// Beyond a face.
    Outside,
}

/// What a cell says about a position.
pub(super) struct CellQuery<V> {
    /// The place in the cell: shares of nodes, or parametric coordinates.
    at: V,
    standing: Containment,
    /// The face that it is farthest beyond, or nearest to.
    face: usize,
}

/// What cells of a form are like.
pub(super) trait Shapes<F: Real>: Sync {
    fn look<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> CellQuery<L::Four>;

    /// The cell beyond a face, or -1.
    fn beyond(&self, cell: usize, face: usize) -> i32;

    /// The mean of the values at the nodes of a cell, for a place in it.
    fn mean<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        cell: usize,
        at: L::Four,
        moment: &FramePair<F>,
    ) -> L::Four;

    /// The open face of a cell that a position is farthest beyond, if it is beyond one.
    fn wall(&self, cell: usize, p: [F; 3]) -> Option<usize>;

    /// The slope of the coordinate that is 0 on a face of a cell and grows into it, and the border
    /// in which a position counts as on it; `p` is near that face.
    fn slope(&self, cell: usize, p: [F; 3], face: usize) -> ([F; 3], F);
}

/// Cells that a walk goes through before it asks the locator.
const HOPS: usize = 64;

/// The velocity in a mesh.
pub(super) struct MeshSampler<'a, F, S> {
    shapes: S,
    bins: Bins<'a, F>,
    values: &'a [[F; 4]],
    cells: usize,
    placement: Placement,
}

/// Where a particle is in a mesh. Numbers of cells are one more than they are; 0 is none.
#[derive(Clone, Copy)]
pub(super) struct CellHint<F> {
    /// The cell of the last sample.
    cell: u32,
    /// The cell in which the step began, and where.
    base: u32,
    from: [F; 3],
    /// Whether a sample since then was in no cell, or in one that no walk led to.
    has_strayed: bool,
}

impl<F: Real> Default for CellHint<F> {
    fn default() -> Self {
        CellHint { cell: 0, base: 0, from: [F::zero(); 3], has_strayed: false }
    }
}

/// Where a walk ended.
struct Walk<V> {
    /// Whether it is in the cell of the position.
    is_there: bool,
    /// The number of a cell, one more than it is.
    cell: u32,
    at: V,
}

impl<'a, F: Real, S: Shapes<F>> MeshSampler<'a, F, S> {
    /// # Panics
    ///
    /// Where the arrays are not of the shape's size.
    pub fn new(field: &FieldArrays<'a, F>, shape: &MeshShape, frames: usize, shapes: S) -> Self {
        assert_eq!(field.velocity.len(), frames * shape.values + 1, "velocities of a mesh");
        MeshSampler {
            shapes,
            bins: Bins::new(field.index, shape),
            values: field.velocity,
            cells: shape.cells,
            placement: shape.placement,
        }
    }

    /// The cell of each position, or -1.
    pub fn locate(&self, positions: &[[F; 3]], cells: &mut [i32]) {
        let both = positions.par_iter().zip(cells.par_iter_mut());
        both.for_each(|(p, cell)| *cell = self.search(*p) as i32 - 1);
    }

    /// The first cell near a position that it is in or on, or 0.
    #[cold]
    #[inline(never)]
    fn search(&self, p: [F; 3]) -> u32 {
        let at = super::four::<F, Portable>(&p);
        let has = |cell: &&i32| {
            self.shapes.look::<Portable>(**cell as usize, at).standing != Containment::Outside
        };
        self.bins.near(p).iter().find(has).map_or(0, |cell| *cell as u32 + 1)
    }

    /// A walk from a cell to a position.
    #[inline(always)]
    fn walk<L: Lanes<F>>(&self, p: L::Four, from: u32) -> Walk<L::Four> {
        let (mut before, mut cell) = (0, from);
        let mut hops = HOPS;
        let mut is_settled = false;
        loop {
            let CellQuery { at, standing, face } = self.shapes.look::<L>(cell as usize - 1, p);
            if standing == Containment::Inside || is_settled {
                return Walk { is_there: true, cell, at };
            }
            if standing == Containment::Border {
                // Which of the cells there has it does not depend on the way.
                let found = self.search(three(p.array()));
                cell = if found == 0 { cell } else { found };
                is_settled = true;
                continue;
            }
            let next = self.shapes.beyond(cell as usize - 1, face);
            // Cells that send a walk to and fro are folded, or too distorted to say where to go.
            if next < 0 || hops == 0 || next as u32 + 1 == before {
                return Walk { is_there: false, cell, at };
            }
            hops -= 1;
            (before, cell) = (cell, next as u32 + 1);
        }
    }

    /// The open face that a walk towards a position beyond the mesh leads to, and its cell.
    fn last_face(&self, from: usize, p: [F; 3]) -> (usize, usize) {
        let mut cell = from;
        for _ in 0..HOPS {
            // In a corner the face that a position is farthest beyond may be that of a neighbour.
            if let Some(face) = self.shapes.wall(cell, p) {
                return (cell, face);
            }
            let face = self.shapes.look::<Portable>(cell, portable(&p)).face;
            match usize::try_from(self.shapes.beyond(cell, face)) {
                Ok(next) => cell = next,
                Err(_) => return (cell, face),
            }
        }
        (cell, 0)
    }

    /// The cell of a sample, or 0, and its place there.
    #[inline(always)]
    fn place<L: Lanes<F>>(&self, p: L::Four, hint: &mut CellHint<F>) -> (u32, L::Four) {
        if hint.cell == 0 {
            hint.cell = self.search(three(p.array()));
            if hint.cell == 0 {
                return (0, L::Four::splat(F::zero()));
            }
        }
        let walk = self.walk::<L>(p, hint.cell);
        let (cell, at) = match walk.is_there {
            true => (walk.cell, walk.at),
            false => {
                let (cell, at) = self.stray(three(p.array()), hint);
                (cell, L::Four::new(at))
            }
        };
        hint.cell = cell;
        if hint.base == 0 {
            (hint.base, hint.from) = (cell, three(p.array()));
        }
        (cell, at)
    }

    /// The cell of a sample to which no walk leads, and its place there: the last place in the mesh
    /// on the straight way from where the step began, where the sample is in no cell.
    #[cold]
    #[inline(never)]
    fn stray(&self, p: [F; 3], hint: &mut CellHint<F>) -> (u32, [F; 4]) {
        hint.has_strayed = hint.base != 0;
        let found = self.search(p);
        if found != 0 {
            let place = self.shapes.look::<Portable>(found as usize - 1, portable(&p)).at;
            return (found, place.array());
        }
        let (mut cell, mut at) = (hint.base, [F::zero(); 4]);
        let (mut reached, mut beyond, half) = (F::zero(), F::one(), F::of(0.5));
        loop {
            let middle = half * (reached + beyond);
            if cell == 0 || !is_between(middle, reached, beyond) {
                return (cell, at);
            }
            let place = [0, 1, 2].map(|d| hint.from[d] + middle * (p[d] - hint.from[d]));
            let walk = self.walk::<Portable>(portable(&place), cell);
            if walk.is_there {
                (reached, cell, at) = (middle, walk.cell, walk.at.array());
            } else {
                beyond = middle;
            }
        }
    }
}

#[inline(always)]
fn portable<F: Real>(p: &[F; 3]) -> <Portable as Lanes<F>>::Four {
    super::four::<F, Portable>(p)
}

impl<F: Real, S: Shapes<F>> Sampler<F> for MeshSampler<'_, F, S> {
    type Hint = CellHint<F>;
    const ENDS: bool = true;

    #[inline(always)]
    fn sample<L: Lanes<F>>(
        &self,
        p: L::Four,
        moment: &FramePair<F>,
        hint: &mut CellHint<F>,
    ) -> L::Four {
        let (cell, at) = self.place::<L>(p, hint);
        if cell == 0 {
            return L::Four::splat(F::zero());
        }
        let cell = cell as usize - 1;
        match self.placement {
            Placement::Nodes => self.shapes.mean::<L>(self.values, cell, at, moment),
            Placement::Cells => blend::<F, L>(self.values, cell, moment),
        }
    }

    fn recall(&self, note: i32) -> CellHint<F> {
        let is_cell = note >= 0 && note as usize <= self.cells;
        CellHint { cell: if is_cell { note as u32 } else { 0 }, ..CellHint::default() }
    }

    fn note(hint: &CellHint<F>) -> i32 {
        hint.base as i32
    }

    #[inline(always)]
    fn holds<L: Lanes<F>>(&self, p: L::Four, hint: &mut CellHint<F>) -> bool {
        if hint.has_strayed || hint.cell == 0 {
            return false;
        }
        let walk = self.walk::<L>(p, hint.cell);
        if walk.is_there {
            hint.cell = walk.cell;
            (hint.base, hint.from) = (walk.cell, three(p.array()));
        }
        walk.is_there
    }

    fn turn_back(hint: &mut CellHint<F>) {
        *hint = CellHint { cell: hint.base, has_strayed: false, ..*hint };
    }

    fn find(&self, p: [F; 3], hint: &mut CellHint<F>) -> bool {
        let cell = self.search(p);
        if cell != 0 {
            *hint = CellHint { cell, base: cell, from: p, has_strayed: false };
        }
        cell != 0
    }

    fn edge(&self, p: [F; 3], hint: &CellHint<F>) -> (i32, [F; 3]) {
        if hint.base == 0 {
            return (0, [F::zero(); 3]);
        }
        let (cell, face) = self.last_face(hint.base as usize - 1, p);
        let (slope, border) = self.shapes.slope(cell, p, face);
        // A square may be beyond all numbers, where cells are small.
        let size = slope.iter().fold(F::zero(), |a, b| a.max(b.abs()));
        let normal = slope.map(|x| x / size);
        let square = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2];
        let length = (border + border) / (size * square);
        ((8 * cell + face) as i32, normal.map(|x| length * x))
    }
}
