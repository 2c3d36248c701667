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
mod simplices;

pub(crate) use general::MeshKind;

pub(super) use general::{AnyTypes, Bricks, General};
pub(super) use simplices::Simplices;

use super::{
    FieldArrays, Real, Sampler,
    adjoint::{Differentiable, Shares},
    frame_pair::{FramePair, blend},
    lanes::{Four, Lanes, Portable, Vector},
    launch::Region,
    three,
};
use crate::{
    MeshShape, Placement,
    physics::{
        cells::host::{BORDER, INSIDE, OUTSIDE, hop, walk_from},
        prelude::host::Vec3,
        region::host::{CellHint, known},
    },
};
use bins::Bins;
use convex::ConvexBins;

/// A position relative to a cell.
pub(super) struct CellQuery<V> {
    /// Coordinates in the cell: barycentric weights, or parametric coordinates.
    at: V,
    /// [`INSIDE`], on its [`BORDER`] or [`OUTSIDE`].
    containment: i32,
    /// The face that the position is farthest beyond, or nearest to.
    face: usize,
}

/// Geometry of the cells of a mesh form.
pub(super) trait CellGeometry<F: Real>: Sync {
    /// Whether the coordinates in a cell are linear in the position: weights, which are the depths inside its faces.
    const IS_LINEAR: bool = false;

    fn query<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> CellQuery<L::Four>;

    /// The cell beyond a face, or -1 less the tag of a boundary face.
    fn beyond(&self, cell: usize, face: usize) -> i32;

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

    /// The number of plane faces of a cell.
    fn faces(&self) -> usize {
        0
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
    cells: usize,
}

/// Velocity sampler on a mesh.
pub(super) struct MeshSampler<'a, F, S> {
    mesh: Mesh<'a, F, S>,
    values: &'a [[F; 4]],
    placement: Placement,
}

/// The last known cells of a particle, and its coordinates at the end of its last step, where the next one starts.
#[derive(Clone, Copy)]
pub(super) struct MeshHint<F: Real> {
    cells: CellHint<F>,
    /// A position in a cell, and its coordinates there. Cell numbers are incremented by one; 0 means none.
    cell: i32,
    position: [F; 4],
    at: [F; 4],
}

impl<F: Real> MeshHint<F> {
    fn new(cell: i32) -> Self {
        MeshHint { cells: known(cell), cell: 0, position: [F::zero(); 4], at: [F::zero(); 4] }
    }

    /// The coordinates of a position in the last cell, if they are known.
    #[inline(always)]
    fn at<L: Lanes<F>>(&self, p: L::Four) -> Option<L::Four> {
        let position = L::Four::new(self.position);
        let is_known = self.cell == self.cells.cell && p.inside(position, position).has_three();
        is_known.then(|| L::Four::new(self.at))
    }
}

impl<F: Real> Default for MeshHint<F> {
    fn default() -> Self {
        MeshHint::new(0)
    }
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

impl<'a, F: Real, S: CellGeometry<F>> MeshSampler<'a, F, S> {
    /// # Panics
    ///
    /// If the arrays do not have the shape's size.
    pub fn new(field: &FieldArrays<'a, F>, shape: &MeshShape, frames: usize, geometry: S) -> Self {
        assert_eq!(
            field.velocity.len(),
            frames * shape.values + 1,
            "wrong number of velocities for the mesh"
        );
        let mesh = Mesh::new(field.index, shape, geometry);
        MeshSampler { mesh, values: field.velocity, placement: shape.placement }
    }
}

impl<'a, F: Real, S: CellGeometry<F>> Mesh<'a, F, S> {
    pub fn new(index: &'a [i32], shape: &MeshShape, geometry: S) -> Self {
        Mesh {
            geometry,
            bins: Bins::new(index, shape),
            convex: ConvexBins::default(),
            cells: shape.cells,
        }
    }

    /// The first cell near a position that contains it, or 0.
    #[cold]
    #[inline(never)]
    fn search(&self, p: [F; 3]) -> i32 {
        let at = super::four::<F, Portable>(&p);
        let has = |cell: &&i32| {
            self.geometry.query::<Portable>(**cell as usize, at).containment != OUTSIDE
        };
        self.bins.cells(self.bins.at(p)).iter().find(has).map_or(0, |cell| *cell + 1)
    }

    /// Walks from a cell to a position.
    #[inline(always)]
    fn walk<L: Lanes<F>>(&self, p: L::Four, from: i32) -> Reached<L::Four> {
        self.walk_until::<L>(p, from, false)
    }

    /// As `walk`. A rough one ends in any cell that has the position on its border.
    #[inline(always)]
    fn walk_until<L: Lanes<F>>(&self, p: L::Four, from: i32, is_rough: bool) -> Reached<L::Four> {
        let mut walk = walk_from(from);
        let mut is_settled = false;
        loop {
            let cell = walk.cell;
            let CellQuery { at, containment, face } =
                self.geometry.query::<L>(cell as usize - 1, p);
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
        }
    }
}

impl<F: Real, S: CellGeometry<F>> MeshSampler<'_, F, S> {
    /// The cell of a sample, or 0, and its coordinates there.
    #[inline(always)]
    fn locate_sample<L: Lanes<F>>(&self, p: L::Four, hint: &mut MeshHint<F>) -> (i32, L::Four) {
        let known = hint.at::<L>(p);
        let hint = &mut hint.cells;
        if hint.cell == 0 {
            hint.cell = self.mesh.search(three(p.array()));
            if hint.cell == 0 {
                return (0, L::Four::splat(F::zero()));
            }
        }
        let (cell, at) = match known {
            Some(at) => (hint.cell, at),
            None => {
                let walk = self.mesh.walk::<L>(p, hint.cell);
                match walk.is_found {
                    true => (walk.cell, walk.at),
                    false => {
                        let end = (three(p.array()), walk.at.array());
                        let (cell, at) = self.clip_to_mesh(end, walk.face, hint);
                        (cell, L::Four::new(at))
                    }
                }
            }
        };
        hint.cell = cell;
        if hint.base == 0 {
            (hint.base, hint.from) = (cell, Vec3(three(p.array())));
        }
        (cell, at)
    }
}

#[inline(always)]
fn portable<F: Real>(p: &[F; 3]) -> <Portable as Lanes<F>>::Four {
    super::four::<F, Portable>(p)
}

impl<F: Real, S: CellGeometry<F>> Sampler<F> for MeshSampler<'_, F, S> {
    type Hint = MeshHint<F>;
    const ENDS: bool = true;

    #[inline(always)]
    fn sample<L: Lanes<F>>(
        &self,
        p: L::Four,
        pair: &FramePair<F>,
        hint: &mut MeshHint<F>,
    ) -> L::Four {
        let (cell, at) = self.locate_sample::<L>(p, hint);
        if cell == 0 {
            return L::Four::splat(F::zero());
        }
        let cell = cell as usize - 1;
        match self.placement {
            Placement::Nodes => self.mesh.geometry.mean::<L>(self.values, cell, at, pair),
            Placement::Cells => blend::<F, L>(self.values, cell, pair),
        }
    }

    fn recall(&self, note: i32) -> MeshHint<F> {
        let is_cell = note >= 0 && note as usize <= self.mesh.cells;
        MeshHint::new(if is_cell { note } else { 0 })
    }

    fn note(hint: &MeshHint<F>) -> i32 {
        hint.cells.base
    }

    #[inline(always)]
    fn holds<L: Lanes<F>>(&self, p: L::Four, hint: &mut MeshHint<F>) -> bool {
        let cells = &mut hint.cells;
        if cells.walk_failed || cells.cell == 0 {
            return false;
        }
        let walk = self.mesh.walk::<L>(p, cells.cell);
        if walk.is_found {
            cells.cell = walk.cell;
            (cells.base, cells.from) = (walk.cell, Vec3(three(p.array())));
            (hint.cell, hint.position, hint.at) = (walk.cell, p.array(), walk.at.array());
        }
        walk.is_found
    }

    fn region(&self) -> Option<&dyn Region<F>> {
        Some(&self.mesh)
    }

    fn cells(hint: &mut MeshHint<F>) -> Option<&mut CellHint<F>> {
        Some(&mut hint.cells)
    }
}

impl<F: Real, S: CellGeometry<F>> Differentiable<F> for MeshSampler<'_, F, S> {
    #[inline(always)]
    fn slopes<L: Lanes<F>>(
        &self,
        p: L::Four,
        pair: &FramePair<F>,
        hint: &mut MeshHint<F>,
    ) -> (L::Four, [L::Four; 3]) {
        let zero = L::Four::splat(F::zero());
        let (cell, at) = self.locate_sample::<L>(p, hint);
        if cell == 0 {
            return (zero, [zero; 3]);
        }
        let (cell, geometry) = (cell as usize - 1, &self.mesh.geometry);
        match self.placement {
            Placement::Nodes => (
                geometry.mean::<L>(self.values, cell, at, pair),
                geometry.slopes::<L>(self.values, cell, at, pair),
            ),
            Placement::Cells => (blend::<F, L>(self.values, cell, pair), [zero; 3]),
        }
    }

    #[inline(always)]
    fn shares<L: Lanes<F>>(&self, p: L::Four, hint: &mut MeshHint<F>, shares: &mut Shares<F>) {
        let (cell, at) = self.locate_sample::<L>(p, hint);
        if cell == 0 {
            shares.count = 0;
            return;
        }
        let cell = cell as usize - 1;
        match self.placement {
            Placement::Nodes => self.mesh.geometry.shares::<L>(cell, at, shares),
            Placement::Cells => shares.only(cell),
        }
    }
}
