//! All kinds of fields: the one place that names their samplers.

use super::{
    Real,
    chart::{Flat, Sphere},
    field::FieldArrays,
    formula::FormulaSampler,
    grid::{Cells, GridSampler, Nodes},
    launch::Region,
    mesh::{AnyTypes, CellTypes, General, Linear, Mesh, MeshSampler, Simplices},
    points::{InverseDistance, Nearest},
    sampler::WithSampler,
};
use crate::{FieldShape, MeshForm, MeshShape, Placement, Weighting};

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
    pub fn with_sampler<W: WithSampler<F>>(&self, frames: usize, work: W) {
        // Without the loops of launches, which they do not take, unit tests compile much faster.
        if cfg!(test) {
            panic!("launches are tested in tests/physics");
        }
        let frames = frames * self.groups;
        match self.shape {
            FieldShape::Grid(grid) => match grid.placement {
                // No grid has values on faces.
                Placement::Nodes | Placement::Faces if grid.radius.is_some() => {
                    work.run(GridSampler::<F, Nodes, Sphere>::new(self, grid, frames))
                }
                Placement::Nodes | Placement::Faces => {
                    work.run(GridSampler::<F, Nodes>::new(self, grid, frames))
                }
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
                    work.run(MeshSampler::<F, _, Flat>::new(self, mesh, frames, cells))
                }
                MeshForm::General if Linear::<F>::include(mesh.kinds) => {
                    self.on_mesh((mesh, frames), General::<F, Linear<F>>::new(self, mesh), work);
                }
                MeshForm::General => {
                    self.on_mesh((mesh, frames), General::<F, AnyTypes<F>>::new(self, mesh), work);
                }
            },
            FieldShape::Formula(formula) => work.run(FormulaSampler::new(self, *formula)),
        }
    }

    /// Runs a computation with the sampler for cells, in a flat space or on a sphere.
    fn on_mesh<W: WithSampler<F>, T: CellTypes<F>>(
        &self,
        (mesh, frames): (&MeshShape, usize),
        cells: General<F, T>,
        work: W,
    ) {
        match mesh.radius {
            None => work.run(MeshSampler::<F, _, Flat>::new(self, mesh, frames, cells)),
            Some(_) => work.run(MeshSampler::<F, _, Sphere>::new(self, mesh, frames, cells)),
        }
    }
}
