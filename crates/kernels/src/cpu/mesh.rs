//! Velocity from a mesh.
//!
//! The cell of a position is found by a walk from the particle's last cell, through the face that
//! the position is farthest beyond. The locator decides if a walk fails, and for positions on a
//! face: the result depends on the position alone, not on the path to it (except where cells
//! overlap).

mod bins;
mod boundary;
mod convex;
mod general;
mod sampler;
mod simplices;

pub(crate) use general::MeshKind;

pub(super) use general::{AnyTypes, CellTypes, General, Linear};
pub(super) use sampler::MeshSampler;
pub(super) use simplices::Simplices;

use super::{
    Real,
    chart::{Chart, InGroups},
    frame_pair::FramePair,
    lanes::{Four, Lanes, Portable, Vector, four, three},
    shares::Shares,
};
use crate::{
    MeshShape,
    physics::{
        cells::host::{BORDER, INSIDE, OUTSIDE, hop, walk_from},
        region::host::Surface,
    },
};
use bins::Bins;
use convex::ConvexBins;

/// A position relative to a cell.
#[derive(Clone, Copy)]
pub(super) struct CellQuery<V> {
    /// Coordinates in the cell: barycentric weights, or parametric coordinates.
    at: V,
    /// [`INSIDE`], on its [`BORDER`] or [`OUTSIDE`].
    containment: i32,
    /// The face that the position is farthest beyond, or nearest to.
    face: usize,
}

/// Cells with fluxes through their faces. Simplices have none.
pub(super) trait CellFlow<F: Real> {
    /// The velocity at coordinates in a cell.
    fn flow<L: Lanes<F>>(
        &self,
        _values: &[[F; 4]],
        _cell: usize,
        _at: L::Four,
        _pair: &FramePair<F>,
    ) -> [F; 3] {
        [F::zero(); 3]
    }

    /// Its derivatives along x, y and z.
    fn flow_slopes<L: Lanes<F>>(
        &self,
        _values: &[[F; 4]],
        _cell: usize,
        _at: L::Four,
        _pair: &FramePair<F>,
    ) -> [L::Four; 3] {
        [L::Four::splat(F::zero()); 3]
    }

    /// The nodes of a cell with a part in it.
    fn flow_shares<L: Lanes<F>>(&self, _cell: usize, _at: L::Four, shares: &mut Shares<F>) {
        shares.nothing();
    }
}

/// Geometry of the cells of a mesh form.
pub(super) trait CellGeometry<F: Real>: CellFlow<F> + Sync {
    /// Whether the coordinates in a cell are linear in the position: weights, which are the depths inside its faces.
    const IS_LINEAR: bool = false;

    /// Whether `query_together` takes less than several calls of `query`.
    const TOGETHER: bool = false;

    /// As [`Sampler::IS_FAST`](super::Sampler::IS_FAST).
    const IS_FAST: bool = true;

    /// As [`Sampler::in_groups`](super::sampler::Sampler::in_groups).
    #[inline(always)]
    fn in_groups<C: Chart<F>>(work: impl InGroups) {
        C::in_groups(work);
    }

    /// A position relative to a cell.
    fn query<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> CellQuery<L::Four>;

    /// As `query`, for `G` positions, each in a cell of its own.
    #[inline(always)]
    fn query_together<L: Lanes<F>, const G: usize>(
        &self,
        cells: &[usize; G],
        positions: &[L::Four; G],
    ) -> [CellQuery<L::Four>; G] {
        self.query_each::<L, G>(cells, positions)
    }

    /// As `query_together`, one after the other.
    #[inline(always)]
    fn query_each<L: Lanes<F>, const G: usize>(
        &self,
        cells: &[usize; G],
        positions: &[L::Four; G],
    ) -> [CellQuery<L::Four>; G] {
        let mut queries = [CellQuery { at: positions[0], containment: OUTSIDE, face: 0 }; G];
        // By index: an iterator call might not be inlined.
        for g in 0..G {
            queries[g] = self.query::<L>(cells[g], positions[g]);
        }
        queries
    }

    /// The cell beyond a face, or -1 less the tag of a boundary face.
    fn beyond(&self, cell: usize, face: usize) -> i32;

    /// Asks for the cells around one that a particle has entered: in a mesh that is larger than the caches, what a step in
    /// the next cell reads would else come from memory when the particle is there.
    #[inline(always)]
    fn prefetch_around(&self, _cell: usize) {}

    /// The mean of the nodal values at coordinates in a cell.
    fn mean<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        cell: usize,
        at: L::Four,
        pair: &FramePair<F>,
    ) -> L::Four;

    /// The derivatives of the mean along x, y and z.
    fn slopes<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        cell: usize,
        at: L::Four,
        pair: &FramePair<F>,
    ) -> [L::Four; 3];

    /// The nodes of a cell, and their weights at coordinates in it.
    fn shares<L: Lanes<F>>(&self, cell: usize, at: L::Four, shares: &mut Shares<F>);

    /// The boundary face of a cell that a position is farthest beyond, if any.
    fn wall(&self, cell: usize, p: [F; 3]) -> Option<usize>;

    /// The coordinate of a position that is 0 on a face of a cell and grows into it.
    fn depth(&self, cell: usize, p: [F; 3], face: usize) -> F;

    /// The same at coordinates in the cell.
    fn depth_at(&self, cell: usize, at: &[F; 4], face: usize) -> F;

    /// The tolerance of the faces of a cell: positions closer to one are on it.
    fn tolerance(&self, cell: usize) -> F;

    /// The corners of a cell, if faces are plane.
    fn corners(&self, _cell: usize) -> Option<[[F; 3]; 4]> {
        None
    }

    /// The face through which the straight line between two positions leaves a cell, if that is known.
    fn exit(&self, _cell: usize, _from: [F; 3], _to: [F; 3]) -> Option<usize> {
        None
    }

    /// The number of plane faces of a cell.
    fn faces(&self) -> usize {
        0
    }

    /// A curved face of a cell near a position; `None` if its cell is a linear image of its type's reference cell.
    fn surface(&self, _cell: usize, _p: [F; 3], _face: usize) -> Option<Surface<F>> {
        None
    }

    /// The derivatives of [`gradient`](Self::gradient), a row for each component; `None` if it is constant.
    fn gradient_slopes(&self, _cell: usize, _p: [F; 3], _face: usize) -> Option<[[F; 3]; 3]> {
        None
    }

    /// Gradient of the coordinate that is 0 on a face of a cell and grows into it, and the
    /// tolerance of that face; `p` is near the face.
    fn gradient(&self, cell: usize, p: [F; 3], face: usize) -> ([F; 3], F);
}

/// The cells of a mesh and their locator.
pub(super) struct Mesh<'a, F, S> {
    geometry: S,
    bins: Bins<'a, F>,
    convex: ConvexBins,
    /// A bit for each cell; see [`MeshShape`].
    near_reentrant: &'a [i32],
    cells: usize,
}

/// Result of a walk.
struct Reached<V> {
    /// Whether it reached the cell of the position.
    is_found: bool,
    /// Whether the position is inside this cell only.
    is_inside: bool,
    /// The last cell, incremented by one.
    cell: i32,
    /// If it is not found, the boundary face where it ended, as in [`FoundCell`].
    face: i32,
    at: V,
}

impl<'a, F: Real, S: CellGeometry<F>> Mesh<'a, F, S> {
    pub fn new(index: &'a [i32], shape: &MeshShape, geometry: S) -> Self {
        Mesh {
            geometry,
            bins: Bins::new(index, shape),
            convex: ConvexBins::default(),
            near_reentrant: &index[shape.near_reentrant_at()..shape.bins_at()],
            cells: shape.cells,
        }
    }

    /// The first cell near a position that contains it, or 0.
    #[cold]
    #[inline(never)]
    fn search(&self, p: [F; 3]) -> i32 {
        let at = four::<F, Portable>(&p);
        let has = |cell: &&i32| {
            self.geometry.query::<Portable>(**cell as usize, at).containment != OUTSIDE
        };
        self.bins.cells(self.bins.at(p)).iter().find(has).map_or(0, |cell| *cell + 1)
    }

    /// Walks from a cell to a position. A rough walk ends in any cell that has the position on its border.
    #[inline(always)]
    fn walk_until<L: Lanes<F>>(&self, p: L::Four, from: i32, is_rough: bool) -> Reached<L::Four> {
        let query = self.geometry.query::<L>(from as usize - 1, p);
        self.walk_on::<L>(p, from, query, is_rough)
    }

    /// As `walk_until`, where the position relative to the first cell is known.
    #[inline(always)]
    fn walk_on<L: Lanes<F>>(
        &self,
        p: L::Four,
        from: i32,
        mut query: CellQuery<L::Four>,
        is_rough: bool,
    ) -> Reached<L::Four> {
        let mut walk = walk_from(from);
        let mut is_settled = false;
        loop {
            let cell = walk.cell;
            let CellQuery { at, containment, face } = query;
            if containment == INSIDE || is_settled || (is_rough && containment == BORDER) {
                return Reached {
                    is_found: true,
                    is_inside: containment == INSIDE,
                    cell,
                    face: -1,
                    at,
                };
            }
            if containment == BORDER {
                // The cell must not depend on the path of the walk.
                let found = self.search_on_border(three(p.array()), cell);
                walk.cell = if found == 0 { cell } else { found };
                is_settled = true;
            } else {
                let beyond = self.geometry.beyond(cell as usize - 1, face);
                if !hop(&mut walk, beyond) {
                    let face = if beyond < 0 { 8 * (cell - 1) + face as i32 } else { -1 };
                    return Reached { is_found: false, is_inside: false, cell, face, at };
                }
            }
            query = self.geometry.query::<L>(walk.cell as usize - 1, p);
        }
    }
}

#[inline(always)]
fn portable<F: Real>(p: &[F; 3]) -> <Portable as Lanes<F>>::Four {
    four::<F, Portable>(p)
}
