//! What of a mesh is known when a kernel is compiled.

use crate::{CellKind, CellTable, MeshForm, MeshShape, Placement, Ratio, Side};

/// What of a mesh is known when a kernel is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::cube) struct MeshKind {
    form: MeshForm,
    placement: Placement,
    dimension: usize,
    /// The kinds of cells that occur, a bit for each by its code.
    kinds: u32,
}

/// What bounds cells of some kinds, which agree in it.
#[derive(Clone, Copy)]
pub(super) struct Outline {
    /// A bit for each of these kinds.
    pub kinds: u32,
    centre: [f64; 3],
    pub sides: &'static [Side],
    /// Whether the cells narrow to an apex at t = 1, where r and s may be anything.
    pub narrows: bool,
}

impl Outline {
    /// A coordinate of the centre: halves, thirds, fourths or fifths.
    pub fn centre(&self, d: usize) -> Ratio {
        Ratio((60.0 * self.centre[d]).round() as i32, 60)
    }
}

impl MeshKind {
    /// Of a field that is not on a mesh.
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

    pub fn is_flat(self) -> bool {
        self.dimension == 2
    }

    /// Corners of a simplex.
    pub fn corners(self) -> usize {
        self.dimension + 1
    }

    /// The kinds that occur, a bit for each.
    pub fn kinds(self) -> u32 {
        self.kinds
    }

    /// The tables of the kinds that occur.
    pub fn tables(self) -> Vec<&'static CellTable> {
        let occurs = |kind: &&CellKind| self.kinds & bit(**kind) != 0;
        CellKind::ALL.iter().filter(occurs).map(|kind| kind.table()).collect()
    }

    /// The kinds that have terms, together with the others of the same terms.
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

    /// The kinds that have terms.
    pub fn curved(self) -> u32 {
        self.families().iter().fold(0, |kinds, family| kinds | family.0)
    }

    /// The outlines of the kinds that occur.
    pub(super) fn outlines(self) -> Vec<Outline> {
        let mut outlines: Vec<Outline> = Vec::new();
        for table in self.tables() {
            match outlines.iter_mut().find(|outline| outline.sides == table.sides) {
                Some(outline) => outline.kinds |= bit(table.kind),
                None => outlines.push(Outline {
                    kinds: bit(table.kind),
                    centre: table.kind.centre(),
                    sides: table.sides,
                    narrows: table.kind == CellKind::Pyramid,
                }),
            }
        }
        outlines
    }

    /// Whether cells that narrow occur.
    pub fn narrows(self) -> bool {
        self.kinds & bit(CellKind::Pyramid) != 0
    }
}

/// The bit of a kind.
pub(super) fn bit(kind: CellKind) -> u32 {
    1 << kind as u32
}
