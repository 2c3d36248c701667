//! Velocity from a mesh.
//!
//! The cell of a position is found by a walk from the particle's last cell, through the face that
//! the position is farthest beyond. The locator decides if a walk fails, and for positions on a
//! face: the result depends on the position alone, not on the path to it (except where cells
//! overlap).

mod bins;
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
    launch::{Clipped, Region, on_path},
    three,
};
use crate::{
    MeshShape, Placement,
    physics::{
        cells::{
            HOPS,
            host::{BORDER, INSIDE, OUTSIDE, hop, inward, walk_from},
        },
        prelude::host::Vec3,
        region::host::{CellHint, FoundCell, known},
    },
};
use bins::Bins;

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

    /// Gradient of the coordinate that is 0 on a face of a cell and grows into it, and the
    /// tolerance of that face; `p` is near the face.
    fn gradient(&self, cell: usize, p: [F; 3], face: usize) -> ([F; 3], F);
}

/// The cells of a mesh and their locator.
pub(super) struct Mesh<'a, F, S> {
    geometry: S,
    bins: Bins<'a, F>,
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
    /// The last cell, incremented by one.
    cell: i32,
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
        Mesh { geometry, bins: Bins::new(index, shape), cells: shape.cells }
    }

    /// The first cell near a position that contains it, or 0.
    #[cold]
    #[inline(never)]
    fn search(&self, p: [F; 3]) -> i32 {
        let at = super::four::<F, Portable>(&p);
        let has = |cell: &&i32| {
            self.geometry.query::<Portable>(**cell as usize, at).containment != OUTSIDE
        };
        self.bins.near(p).iter().find(has).map_or(0, |cell| *cell + 1)
    }

    /// Walks from a cell to a position.
    #[inline(always)]
    fn walk<L: Lanes<F>>(&self, p: L::Four, from: i32) -> Reached<L::Four> {
        let mut walk = walk_from(from);
        let mut is_settled = false;
        loop {
            let cell = walk.cell;
            let CellQuery { at, containment, face } =
                self.geometry.query::<L>(cell as usize - 1, p);
            if containment == INSIDE || is_settled {
                return Reached { is_found: true, cell, at };
            }
            if containment == BORDER {
                // The cell must not depend on the path of the walk.
                let found = self.search(three(p.array()));
                walk.cell = if found == 0 { cell } else { found };
                is_settled = true;
            } else if !hop(&mut walk, self.geometry.beyond(cell as usize - 1, face)) {
                return Reached { is_found: false, cell, at };
            }
        }
    }

    /// The boundary face reached by a walk towards a position outside the mesh, and its cell.
    fn last_face(&self, from: usize, p: [F; 3]) -> (usize, usize) {
        let mut cell = from;
        for _ in 0..HOPS {
            // In a corner, the face that a position is farthest beyond may belong to a neighbour.
            if let Some(face) = self.geometry.wall(cell, p) {
                return (cell, face);
            }
            let face = self.geometry.query::<Portable>(cell, portable(&p)).face;
            match usize::try_from(self.geometry.beyond(cell, face)) {
                Ok(next) => cell = next,
                Err(_) => return (cell, face),
            }
        }
        (cell, 0)
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
                        let (cell, at) = self.clip_to_mesh(three(p.array()), hint);
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

    /// The cell of a sample that no walk reached, and its coordinates there. For a sample outside
    /// the mesh, both belong to the last point in the mesh on the straight path from the start of
    /// the step.
    #[cold]
    #[inline(never)]
    fn clip_to_mesh(&self, p: [F; 3], hint: &mut CellHint<F>) -> (i32, [F; 4]) {
        hint.walk_failed = hint.base != 0;
        let found = self.mesh.search(p);
        if found != 0 {
            let point = self.mesh.geometry.query::<Portable>(found as usize - 1, portable(&p)).at;
            return (found, point.array());
        }
        let region: &dyn Region<F> = &self.mesh;
        let Clipped { reached, cell, .. } = region.clip(hint.from.0, p, hint.base);
        if cell == 0 || reached == F::zero() {
            return (cell, [F::zero(); 4]);
        }
        let point = portable(&on_path(hint.from.0, p, reached));
        (cell, self.mesh.geometry.query::<Portable>(cell as usize - 1, point).at.array())
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

impl<F: Real, S: CellGeometry<F>> Region<F> for Mesh<'_, F, S> {
    fn find_cell(&self, p: [F; 3], cell: i32) -> FoundCell {
        if cell == 0 {
            let cell = self.search(p);
            return FoundCell { is_found: cell != 0, cell };
        }
        let walk = self.walk::<Portable>(portable(&p), cell);
        FoundCell { is_found: walk.is_found, cell: walk.cell }
    }

    fn edge(&self, p: [F; 3], cell: i32) -> (i32, [F; 3]) {
        if cell == 0 {
            return (-1, [F::zero(); 3]);
        }
        let (cell, face) = self.last_face(cell as usize - 1, p);
        let (gradient, tolerance) = self.geometry.gradient(cell, p, face);
        ((8 * cell + face) as i32, inward(Vec3(gradient), tolerance).0)
    }

    fn face_tag(&self, face: i32) -> i32 {
        let Ok(face) = usize::try_from(face) else { return 0 };
        (-1 - self.geometry.beyond(face / 8, face % 8)).max(0)
    }
}
