//! How a field is read: one file for each kind of field, all named here.

use super::{
    Real,
    adjoint::Differentiable,
    formula::FormulaSampler,
    frame_pair::FramePair,
    grid::{Cells, GridSampler, Nodes},
    lanes::Lanes,
    launch::Region,
    mesh::{AnyTypes, Bricks, General, Mesh, MeshSampler, Simplices},
    points::{InverseDistance, Nearest},
    segment::FramePairs,
};
use crate::{
    FieldShape, MeshForm, MeshShape, Placement, Weighting, physics::region::host::CellHint,
};

/// A field's arrays, borrowed from a backend.
pub(crate) struct FieldArrays<'a, F> {
    pub shape: &'a FieldShape,
    /// Groups of four values: `frames` times `groups` times `values_per_frame`, and one more row.
    pub velocity: &'a [[F; 4]],
    pub groups: usize,
    /// Coordinates of a grid's axes or of nodes, or the cell records of a mesh.
    pub coordinates: &'a [F],
    /// Offsets of the nodes of each cell of points, or the connectivity of a mesh.
    pub index: &'a [i32],
}

/// Velocity as a function of position, at a given time.
pub(crate) trait Sampler<F: Real>: Sync {
    /// Data that speeds up the next sample of the same particle and never changes its value.
    type Hint: Copy + Default;

    fn sample<L: Lanes<F>>(
        &self,
        position: L::Four,
        pair: &FramePair<F>,
        hint: &mut Self::Hint,
    ) -> L::Four;

    /// Whether several particles are sampled at once by `sample_together`.
    const TOGETHER: bool = false;

    /// Whether a sample is so fast that the loop over steps is compiled for each scheme.
    const IS_FAST: bool = true;

    /// Computes what all samples of whole steps share. Called once for a sampler, before them.
    fn prepare(&self, _steps: &mut [FramePairs<F>]) {}

    /// As `sample`, for `G` particles.
    #[inline(always)]
    fn sample_together<L: Lanes<F>, const G: usize>(
        &self,
        positions: &[L::Four; G],
        pair: &FramePair<F>,
        hints: &mut [Self::Hint; G],
    ) -> [L::Four; G] {
        let mut samples = *positions;
        // By index: an iterator call might not be inlined.
        for g in 0..G {
            samples[g] = self.sample::<L>(positions[g], pair, &mut hints[g]);
        }
        samples
    }

    /// Whether the field can end within its box. If not, of the methods below only `recall` and
    /// `note` are called.
    const ENDS: bool = false;

    /// Restores a hint from a particle's record.
    #[inline(always)]
    fn recall(&self, _note: i32) -> Self::Hint {
        Self::Hint::default()
    }

    /// The part of a hint that a particle's record stores.
    #[inline(always)]
    fn note(_hint: &Self::Hint) -> i32 {
        0
    }

    /// Quick test whether a step that was sampled with a hint stays in the field up to a position.
    /// If so, the next step starts there.
    #[inline(always)]
    fn holds<L: Lanes<F>>(&self, _position: L::Four, _hint: &mut Self::Hint) -> bool {
        true
    }

    /// As `holds`, for `G` particles: whether the field contains all positions.
    #[inline(always)]
    fn holds_all<L: Lanes<F>, const G: usize>(
        &self,
        positions: &[L::Four; G],
        hints: &mut [Self::Hint; G],
    ) -> bool {
        let mut holds = true;
        for g in 0..G {
            holds &= self.holds::<L>(positions[g], &mut hints[g]);
        }
        holds
    }

    /// The part of space that the field fills, if it can end within its box.
    fn region(&self) -> Option<&dyn Region<F>> {
        None
    }

    /// The cells that a hint knows.
    fn cells(_hint: &mut Self::Hint) -> Option<&mut CellHint<F>> {
        None
    }
}

/// A computation to be compiled for each kind of sampler.
pub(crate) trait WithSampler<F: Real> {
    fn run<S: Differentiable<F>>(self, sampler: S);
}

impl<F: Real> FieldArrays<'_, F> {
    /// Calls a function with the part of space that a mesh fills.
    pub fn with_region<T>(&self, mesh: &MeshShape, call: impl FnOnce(&dyn Region<F>) -> T) -> T {
        match mesh.form {
            MeshForm::Simplices => call(&Mesh::new(self.index, mesh, Simplices::new(self, mesh))),
            MeshForm::General => {
                let cells = General::<F, AnyTypes<F>>::new(self, mesh);
                call(&Mesh::new(self.index, mesh, cells))
            }
        }
    }

    /// Runs a computation with the sampler for the field's shape.
    pub fn with_sampler(&self, frames: usize, work: impl WithSampler<F>) {
        // Without the loops of launches, which they do not take, unit tests compile much faster.
        if cfg!(test) {
            panic!("launches are tested in tests/physics");
        }
        let frames = frames * self.groups;
        match self.shape {
            FieldShape::Grid(grid) => match grid.placement {
                Placement::Nodes => work.run(GridSampler::<F, Nodes>::new(self, grid, frames)),
                Placement::Cells => work.run(GridSampler::<F, Cells>::new(self, grid, frames)),
            },
            FieldShape::Points(points) => match points.weighting {
                Weighting::Nearest => work.run(Nearest::new(self, points, frames)),
                Weighting::InverseDistance { neighbours, power } => {
                    work.run(InverseDistance::new(self, points, frames, neighbours, power))
                }
            },
            FieldShape::Mesh(mesh) => match mesh.form {
                MeshForm::Simplices => {
                    let cells = Simplices::new(self, mesh);
                    work.run(MeshSampler::new(self, mesh, frames, cells))
                }
                MeshForm::General if Bricks::<F>::include(mesh.kinds) => {
                    let cells = General::<F, Bricks<F>>::new(self, mesh);
                    work.run(MeshSampler::new(self, mesh, frames, cells))
                }
                MeshForm::General => {
                    let cells = General::<F, AnyTypes<F>>::new(self, mesh);
                    work.run(MeshSampler::new(self, mesh, frames, cells))
                }
            },
            FieldShape::Formula(formula) => work.run(FormulaSampler::new(self, *formula)),
        }
    }
}
