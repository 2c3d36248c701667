//! Mesh properties known at kernel compile time.

use crate::{CellKind, CellTable, MeshForm, MeshShape, Placement, cells::Outline};

/// Mesh properties known at kernel compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MeshKind {
    form: MeshForm,
    placement: Placement,
    dimension: usize,
    /// The cell types that occur, one bit for each.
    kinds: u32,
}

impl MeshKind {
    /// For a field that is not on a mesh.
    pub const NONE: MeshKind =
        MeshKind { form: MeshForm::Simplices, placement: Placement::Nodes, dimension: 3, kinds: 0 };

    pub fn of(shape: &MeshShape) -> Self {
        let MeshShape { form, placement, dimension, kinds, .. } = *shape;
        let kinds = match form {
            MeshForm::Simplices => 0,
            MeshForm::General => kinds,
        };
        MeshKind { form, placement, dimension, kinds }
    }

    pub fn is_simple(self) -> bool {
        self.form == MeshForm::Simplices
    }

    pub fn is_in_cells(self) -> bool {
        self.placement == Placement::Cells
    }

    pub fn is_on_faces(self) -> bool {
        self.placement == Placement::Faces
    }

    pub fn is_flat(self) -> bool {
        self.dimension == 2
    }

    /// Number of corners of a simplex.
    pub fn corners(self) -> usize {
        self.dimension + 1
    }

    /// The cell types that occur, one bit for each.
    pub fn kinds(self) -> u32 {
        self.kinds
    }

    /// The tables of the cell types that occur.
    pub fn tables(self) -> Vec<&'static CellTable> {
        let occurs = |kind: &&CellKind| self.kinds & bit(**kind) != 0;
        CellKind::ALL.iter().filter(occurs).map(|kind| kind.table()).collect()
    }

    /// The cell types that have terms, grouped by their exponents.
    pub fn families(self) -> Vec<(u32, &'static [[u8; 3]])> {
        let mut families: Vec<(u32, &'static [[u8; 3]])> = Vec::new();
        for table in self.tables() {
            if table.kind.is_affine() {
                continue;
            }
            match families.iter_mut().find(|family| family.1 == table.exponents) {
                Some(family) => family.0 |= bit(table.kind),
                None => families.push((bit(table.kind), table.exponents)),
            }
        }
        families
    }

    /// The cell types that have terms.
    pub fn curved(self) -> u32 {
        self.families().iter().fold(0, |kinds, family| kinds | family.0)
    }

    /// The outlines of the cell types that occur.
    pub fn outlines(self) -> Vec<Outline> {
        let mut outlines: Vec<Outline> = Vec::new();
        for table in self.tables() {
            let own = Outline::of(table.kind);
            match outlines.iter_mut().find(|outline| outline.sides == own.sides) {
                Some(outline) => outline.kinds |= own.kinds,
                None => outlines.push(own),
            }
        }
        outlines
    }
}

/// The bit of a cell type.
pub(super) fn bit(kind: CellKind) -> u32 {
    1 << kind as u32
}
