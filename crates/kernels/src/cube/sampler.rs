//! How a field is read: one file for each kind of field, all named here.

use super::{Vec4, cubecl, formula, frame_pair::FramePair, grid, launch::Launch, mesh, points};
use crate::{
    FieldShape, FormulaShape, Placement, Spacing, Weighting,
    physics::{faces::device::wrap, region::device::CellHint},
};
use burn_cubecl::cubecl::prelude::*;
use mesh::MeshKind;

/// Compile-time parameters of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FieldKind {
    Grid(Spacing, Placement),
    Nearest,
    /// The mean of `neighbours` nodes, weighted by the inverse square of the distance or by another
    /// power.
    InverseDistance {
        neighbours: usize,
        is_square: bool,
    },
    Mesh(MeshKind),
    Formula(FormulaShape),
}

impl FieldKind {
    pub fn of(shape: &FieldShape) -> Self {
        match shape {
            FieldShape::Grid(grid) => FieldKind::Grid(grid.spacing, grid.placement),
            FieldShape::Points(points) => match points.weighting {
                Weighting::Nearest => FieldKind::Nearest,
                Weighting::InverseDistance { neighbours, power } => {
                    FieldKind::InverseDistance { neighbours, is_square: power == 2.0 }
                }
            },
            FieldShape::Mesh(mesh) => FieldKind::Mesh(MeshKind::of(mesh)),
            FieldShape::Formula(formula) => FieldKind::Formula(*formula),
        }
    }

    pub fn is_grid(self) -> bool {
        matches!(self, FieldKind::Grid(..))
    }

    pub fn is_uniform(self) -> bool {
        matches!(self, FieldKind::Grid(Spacing::Uniform, _))
    }

    pub fn is_cells(self) -> bool {
        matches!(self, FieldKind::Grid(_, Placement::Cells))
    }

    pub fn is_mesh(self) -> bool {
        matches!(self, FieldKind::Mesh(_))
    }

    /// The mesh parameters; [`MeshKind::NONE`] for other fields.
    pub fn mesh(self) -> MeshKind {
        match self {
            FieldKind::Mesh(mesh) => mesh,
            _ => MeshKind::NONE,
        }
    }

    pub fn is_formula(self) -> bool {
        matches!(self, FieldKind::Formula(_))
    }

    /// The programs of a formula.
    ///
    /// # Panics
    ///
    /// For other fields.
    pub fn formula(self) -> FormulaShape {
        match self {
            FieldKind::Formula(formula) => formula,
            _ => panic!("the field is not a formula"),
        }
    }

    pub fn is_nearest(self) -> bool {
        self == FieldKind::Nearest
    }

    pub fn is_square(self) -> bool {
        matches!(self, FieldKind::InverseDistance { is_square: true, .. })
    }

    /// Number of nodes in the weighted mean.
    pub fn neighbours(self) -> usize {
        match self {
            FieldKind::InverseDistance { neighbours, .. } => neighbours,
            _ => 1,
        }
    }
}

/// Data that speeds up the next sample of a particle and never changes its value. A kernel keeps
/// only the part that its field uses.
#[derive(CubeType)]
pub(super) struct Hint<F: Float> {
    points: points::Hint<F>,
    pub mesh: CellHint<F>,
}

/// Restores a hint from a particle's record.
#[cube]
pub(super) fn recall<F: Float>(launch: &Launch<F>, note: i32) -> Hint<F> {
    Hint::<F> { points: points::no_hint::<F>(), mesh: mesh::recall::<F>(launch, note) }
}

/// Resets a hint: the slot has another instance now, at another position.
#[cube]
pub(super) fn forget<F: Float>(hint: &mut Hint<F>) {
    points::forget::<F>(&mut hint.points);
    mesh::forget::<F>(&mut hint.mesh);
}

/// Velocity at a position and time.
#[cube]
pub(super) fn sample<F: Float>(
    launch: &Launch<F>,
    position: Vec4<F>,
    pair: &FramePair<F>,
    hint: &mut Hint<F>,
) -> Vec4<F> {
    if comptime!(launch.form.kind.is_grid()) {
        grid::sample::<F>(launch, position, pair)
    } else if comptime!(launch.form.kind.is_mesh()) {
        mesh::sample::<F>(launch, position, pair, &mut hint.mesh)
    } else if comptime!(launch.form.kind.is_formula()) {
        formula::sample::<F>(launch, position, pair)
    } else {
        points::sample::<F>(launch, position, pair, &mut hint.points)
    }
}

/// The point at which the field is sampled for a stage at `p`.
#[cube]
pub(super) fn image<F: Float>(launch: &Launch<F>, p: Vec4<F>) -> Vec4<F> {
    if comptime!(launch.features.periodic) { wrap::<F>(launch, p) } else { p }
}
