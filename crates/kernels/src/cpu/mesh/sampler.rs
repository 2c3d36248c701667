//! Velocity from a mesh, for one particle or several together.

use super::{CellGeometry, CellQuery, Mesh};
use crate::{
    MeshShape, Placement,
    cpu::{
        Real,
        chart::{Flat, Flow, InGroups},
        field::FieldArrays,
        frame_pair::{FramePair, blend},
        lanes::{Four, Lanes, Vector, four, three},
        launch::Region,
        sampler::{Differentiable, Sampler},
        shares::Shares,
    },
    physics::{
        prelude::host::Vec3,
        region::host::{CellHint, known},
    },
};
use std::marker::PhantomData;

/// Velocity sampler on a mesh.
pub(in crate::cpu) struct MeshSampler<'a, F, S, C = Flat> {
    pub(super) mesh: Mesh<'a, F, S>,
    values: &'a [[F; 4]],
    placement: Placement,
    chart: PhantomData<fn() -> C>,
}

/// The last known cells of a particle, and its coordinates at the end of its last step, where the next one starts.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct MeshHint<F: Real> {
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

    /// Takes a position and its coordinates in a cell as those where the next step starts.
    #[inline(always)]
    fn start_at<L: Lanes<F>>(&mut self, cell: i32, p: L::Four, at: L::Four) {
        let cells = &mut self.cells;
        (cells.cell, cells.base, cells.from) = (cell, cell, Vec3(three(p.array())));
        (self.cell, self.position, self.at) = (cell, p.array(), at.array());
    }

    /// The coordinates of a position in the last cell, if they are known.
    #[inline(always)]
    fn at<L: Lanes<F>>(&self, p: L::Four) -> Option<L::Four> {
        let position = L::Four::new(self.position);
        let is_known = self.cell != 0
            && self.cell == self.cells.cell
            && p.inside(position, position).has_three();
        is_known.then(|| L::Four::new(self.at))
    }
}

impl<F: Real> Default for MeshHint<F> {
    fn default() -> Self {
        MeshHint::new(0)
    }
}

/// Where a sample is taken: the place of the position, moved to the mesh's boundary if it is outside; its cell, or 0; and its
/// coordinates there.
#[derive(Clone, Copy)]
struct Located<V, P> {
    place: P,
    cell: i32,
    at: V,
}

type LocatedIn<F, L, C> =
    Located<<L as Lanes<F>>::Four, <C as Flow<F>>::Place<<L as Lanes<F>>::Four>>;

impl<'a, F: Real, S: CellGeometry<F>, C> MeshSampler<'a, F, S, C> {
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
        let (values, placement) = (field.velocity, shape.placement);
        MeshSampler { mesh, values, placement, chart: PhantomData }
    }
}

impl<F: Real, S: CellGeometry<F>, C: Flow<F>> MeshSampler<'_, F, S, C> {
    /// Where a sample is taken.
    #[inline(always)]
    fn locate_sample<L: Lanes<F>>(&self, p: L::Four, hint: &mut MeshHint<F>) -> LocatedIn<F, L, C> {
        let [located] = self.locate_samples::<L, 1>(&[p], std::array::from_mut(hint));
        located
    }

    /// As `locate_sample`, for `G` particles.
    #[inline(always)]
    fn locate_samples<L: Lanes<F>, const G: usize>(
        &self,
        positions: &[L::Four; G],
        hints: &mut [MeshHint<F>; G],
    ) -> [LocatedIn<F, L, C>; G] {
        let zero = L::Four::splat(F::zero());
        let mut located = [Located { place: C::place(zero), cell: 0, at: zero }; G];
        let mut are_known = true;
        // By index: an iterator call might not be inlined.
        for g in 0..G {
            let place = C::place(positions[g]);
            if let Some(at) = hints[g].at::<L>(positions[g]) {
                located[g] = Located { place, cell: hints[g].cells.cell, at };
            } else {
                are_known = false;
            }
        }
        if !are_known {
            let queries = self.query_last_cells::<L, G>(positions, hints);
            for g in 0..G {
                let p = positions[g];
                if located[g].cell == 0 && hints[g].cells.cell != 0 {
                    located[g] = self.walk_to_sample::<L>(p, queries[g], &mut hints[g].cells);
                }
            }
        }
        for g in 0..G {
            let cells = &mut hints[g].cells;
            cells.cell = located[g].cell;
            if cells.base == 0 {
                (cells.base, cells.from) = (cells.cell, Vec3(three(positions[g].array())));
            }
        }
        located
    }

    /// Positions relative to the last cells. A particle without one is searched for first.
    #[inline(always)]
    fn query_last_cells<L: Lanes<F>, const G: usize>(
        &self,
        positions: &[L::Four; G],
        hints: &mut [MeshHint<F>; G],
    ) -> [CellQuery<L::Four>; G] {
        let mut cells = [0; G];
        for g in 0..G {
            let cell = &mut hints[g].cells.cell;
            if *cell == 0 {
                *cell = self.mesh.search(three(positions[g].array()));
            }
            // The result for a particle that is in no cell is not used.
            cells[g] = (*cell).max(1) as usize - 1;
        }
        self.mesh.geometry.query_together::<L, G>(&cells, positions)
    }

    /// Where a walk from the last cell ends, given the position relative to that.
    #[inline(always)]
    fn walk_to_sample<L: Lanes<F>>(
        &self,
        p: L::Four,
        query: CellQuery<L::Four>,
        cells: &mut CellHint<F>,
    ) -> LocatedIn<F, L, C> {
        let walk = self.mesh.walk_on::<L>(p, cells.cell, query, false);
        if walk.is_found {
            return Located { place: C::place(p), cell: walk.cell, at: walk.at };
        }
        let end = (three(p.array()), walk.at.array());
        let (cell, at, point) = self.clip_to_mesh(end, walk.face, cells);
        Located { place: C::place(four::<F, L>(&point)), cell, at: L::Four::new(at) }
    }

    /// Whether the straight path from the start of the step to a position in a cell certainly stays in the mesh.
    #[inline(always)]
    fn stays<L: Lanes<F>>(&self, start: &CellHint<F>, p: L::Four, cell: i32) -> bool {
        self.mesh.near_reentrant.is_empty()
            || start.base == cell
            || !self.mesh.may_leave([start.from.0, three(p.array())], [start.base, cell])
    }

    /// The velocity at a place, or 0 outside.
    #[inline(always)]
    fn velocity<L: Lanes<F>>(
        &self,
        Located { place, cell, at }: LocatedIn<F, L, C>,
        pair: &FramePair<F>,
    ) -> L::Four {
        if cell == 0 {
            return L::Four::splat(F::zero());
        }
        let cell = cell as usize - 1;
        match self.placement {
            Placement::Cells => blend::<F, L>(self.values, cell, pair),
            Placement::Faces if pair.is_velocity => {
                let flow = self.mesh.geometry.flow::<L>(self.values, cell, at, pair);
                L::Four::new(C::of_flow::<L>(place, flow))
            }
            Placement::Nodes | Placement::Faces => {
                self.mesh.geometry.mean::<L>(self.values, cell, at, pair)
            }
        }
    }
}

impl<F: Real, S: CellGeometry<F>, C: Flow<F>> Sampler<F> for MeshSampler<'_, F, S, C> {
    type Hint = MeshHint<F>;
    type Chart = C;
    const ENDS: bool = true;

    #[inline(always)]
    fn sample<L: Lanes<F>>(
        &self,
        p: L::Four,
        pair: &FramePair<F>,
        hint: &mut MeshHint<F>,
    ) -> L::Four {
        let located = self.locate_sample::<L>(p, hint);
        self.velocity::<L>(located, pair)
    }

    const TOGETHER: bool = S::TOGETHER;

    #[inline(always)]
    fn in_groups(work: impl InGroups) {
        S::in_groups::<C>(work);
    }

    const IS_FAST: bool = S::IS_FAST;

    #[inline(always)]
    fn sample_together<L: Lanes<F>, const G: usize>(
        &self,
        positions: &[L::Four; G],
        pair: &FramePair<F>,
        hints: &mut [MeshHint<F>; G],
    ) -> [L::Four; G] {
        let located = self.locate_samples::<L, G>(positions, hints);
        let mut samples = *positions;
        for g in 0..G {
            samples[g] = self.velocity::<L>(located[g], pair);
        }
        samples
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
        self.holds_all::<L, 1>(&[p], std::array::from_mut(hint))
    }

    #[inline(always)]
    fn holds_all<L: Lanes<F>, const G: usize>(
        &self,
        positions: &[L::Four; G],
        hints: &mut [MeshHint<F>; G],
    ) -> bool {
        let mut cells = [0; G];
        for g in 0..G {
            cells[g] = hints[g].cells.cell.max(1) as usize - 1;
        }
        let queries = self.mesh.geometry.query_together::<L, G>(&cells, positions);
        let mut holds = true;
        for g in 0..G {
            let CellHint { cell, walk_failed, .. } = hints[g].cells;
            if walk_failed || cell == 0 {
                holds = false;
                continue;
            }
            let mut walk = self.mesh.walk_on::<L>(positions[g], cell, queries[g], false);
            walk.is_found =
                walk.is_found && self.stays::<L>(&hints[g].cells, positions[g], walk.cell);
            if walk.is_found {
                if walk.cell != hints[g].cells.base {
                    self.mesh.geometry.prefetch_around(walk.cell as usize - 1);
                }
                hints[g].start_at::<L>(walk.cell, positions[g], walk.at);
            }
            holds &= walk.is_found;
        }
        holds
    }

    fn region(&self) -> Option<&dyn Region<F>> {
        Some(&self.mesh)
    }

    fn cells(hint: &mut MeshHint<F>) -> Option<&mut CellHint<F>> {
        Some(&mut hint.cells)
    }
}

impl<F: Real, S: CellGeometry<F>, C: Flow<F>> Differentiable<F> for MeshSampler<'_, F, S, C> {
    #[inline(always)]
    fn slopes<L: Lanes<F>>(
        &self,
        p: L::Four,
        pair: &FramePair<F>,
        hint: &mut MeshHint<F>,
    ) -> (L::Four, [L::Four; 3]) {
        let zero = L::Four::splat(F::zero());
        let Located { place, cell, at } = self.locate_sample::<L>(p, hint);
        if cell == 0 {
            return (zero, [zero; 3]);
        }
        let (cell, geometry) = (cell as usize - 1, &self.mesh.geometry);
        match self.placement {
            Placement::Cells => (blend::<F, L>(self.values, cell, pair), [zero; 3]),
            Placement::Faces if pair.is_velocity => {
                let flow = geometry.flow::<L>(self.values, cell, at, pair);
                let by_axes = geometry.flow_slopes::<L>(self.values, cell, at, pair);
                let mut slopes = [[F::zero(); 4]; 3];
                // By index: an iterator call or a closure might not be inlined.
                for d in 0..3 {
                    slopes[d] = C::of_flow::<L>(place, three(by_axes[d].array()));
                }
                C::add_slopes::<L>(place, flow, &mut slopes);
                (L::Four::new(C::of_flow::<L>(place, flow)), slopes.map(L::Four::new))
            }
            Placement::Nodes | Placement::Faces => (
                geometry.mean::<L>(self.values, cell, at, pair),
                geometry.slopes::<L>(self.values, cell, at, pair),
            ),
        }
    }

    #[inline(always)]
    fn shares<L: Lanes<F>>(&self, p: L::Four, hint: &mut MeshHint<F>, shares: &mut Shares<F>) {
        let Located { place, cell, at } = self.locate_sample::<L>(p, hint);
        if cell == 0 {
            return shares.nothing();
        }
        let cell = cell as usize - 1;
        match self.placement {
            Placement::Nodes => self.mesh.geometry.shares::<L>(cell, at, shares),
            Placement::Cells => shares.only(cell),
            Placement::Faces => {
                self.mesh.geometry.flow_shares::<L>(cell, at, shares);
                if let Some(faces) = &mut shares.faces {
                    for d in 0..3 {
                        faces.by_flux[d] = C::of_flow::<L>(place, three(faces.by_flux[d]));
                    }
                }
            }
        }
    }
}
