//! The tables of cell types in the kernel's precision, arranged for vectors.

use crate::{
    CellKind, MAX_CELL_NODES,
    cells::{BRICK_OUTLINE, Outline},
    cpu::{
        Real,
        chart::{Chart, InGroups},
        lanes::{Eight, Four, Lanes, Vector, three},
    },
    physics::{
        cells::host::{depth_inside, distance, scale},
        prelude::host::Vec3,
    },
};

/// Number of weights computed together.
pub(super) const WIDTH: usize = 8;
/// Size of the array of all weights.
const ROOM: usize = MAX_CELL_NODES.next_multiple_of(WIDTH);

/// Powers of coordinates, and their derivatives.
pub(super) struct Powers<F> {
    powers: [[F; 3]; 3],
    derivatives: [[F; 3]; 3],
}

impl<F: Real> Powers<F> {
    #[inline(always)]
    pub fn new([r, s, t]: [F; 3]) -> Self {
        let (zero, one) = (F::zero(), F::one());
        Powers {
            powers: [[one, r, r * r], [one, s, s * s], [one, t, t * t]],
            derivatives: [[zero, one, r + r], [zero, one, s + s], [zero, one, t + t]],
        }
    }

    /// The value of a term.
    #[inline(always)]
    fn term(&self, exponents: &[u8; 3]) -> F {
        let [a, b, c] = exponent_indices(exponents);
        self.powers[0][a] * self.powers[1][b] * self.powers[2][c]
    }

    /// A term and its derivatives with respect to r, s and t.
    #[inline(always)]
    pub fn jet(&self, exponents: &[u8; 3]) -> [F; 4] {
        let [a, b, c] = exponent_indices(exponents);
        let [r, s, t] = [self.powers[0][a], self.powers[1][b], self.powers[2][c]];
        let st = s * t;
        [
            r * st,
            self.derivatives[0][a] * st,
            r * self.derivatives[1][b] * t,
            r * s * self.derivatives[2][c],
        ]
    }
}

/// Exponents as indices; the modulo tells the compiler that they are at most 2.
#[inline(always)]
fn exponent_indices(exponents: &[u8; 3]) -> [usize; 3] {
    let [a, b, c] = *exponents;
    [usize::from(a) % 3, usize::from(b) % 3, usize::from(c) % 3]
}

/// The table of a cell type.
pub(in crate::cpu) struct Kind<F> {
    pub nodes: usize,
    pub faces: usize,
    /// The middle in parametric coordinates, and how sides lean: 1 if it is triangular in r and s, 2 if it is a tetrahedron, else 0.
    pub frame: [F; 4],
    pub mesh: MeshKind,
    pub exponents: Vec<[u8; 3]>,
    /// For each term, its coefficients in the weights of the nodes.
    coefficients: Vec<[[F; WIDTH]; ROOM / WIDTH]>,
}

/// The sides of one cell type, for code that devices compile for all types of a mesh.
#[derive(Clone, Copy)]
pub(crate) struct MeshKind(Outline);

impl MeshKind {
    /// Hexahedra and voxels.
    pub const BRICKS: MeshKind = MeshKind(BRICK_OUTLINE);

    #[inline(always)]
    pub fn outlines(self) -> [Outline; 1] {
        [self.0]
    }

    #[inline(always)]
    pub fn kinds(self) -> u32 {
        self.0.kinds
    }
}

/// The cell types of a mesh.
pub(in crate::cpu) trait CellTypes<F: Real>: Sync {
    /// Whether none has nodes in the middle of its edges, so that polynomials in it are trilinear.
    const ARE_LINEAR: bool = false;
    /// The weights of the nodes of a cell.
    type Weights: AsRef<[F]>;

    /// As [`Sampler::in_groups`](crate::cpu::sampler::Sampler::in_groups).
    #[inline(always)]
    fn in_groups<C: Chart<F>>(work: impl InGroups) {
        C::in_groups(work);
    }

    /// All of the types.
    fn all() -> Self;

    /// The table of the type with a number.
    fn kind(&self, code: i32) -> &Kind<F>;

    /// A polynomial with these terms, and its derivatives with respect to r, s and t.
    fn jet<L: Lanes<F>>(&self, code: i32, terms: &[[F; 4]], at: [F; 3]) -> [L::Four; 4];

    /// The weights of the nodes at a point, which sum to 1.
    fn weights<L: Lanes<F>>(&self, code: i32, at: [F; 3]) -> Self::Weights;
}

/// Any cell types.
pub(in crate::cpu) struct AnyTypes<F>(Vec<Kind<F>>);

impl<F: Real> CellTypes<F> for AnyTypes<F> {
    type Weights = [F; ROOM];

    fn all() -> Self {
        AnyTypes(CellKind::ALL.iter().map(|kind| Kind::new(*kind)).collect())
    }

    #[inline(always)]
    fn kind(&self, code: i32) -> &Kind<F> {
        &self.0[code as usize]
    }

    #[inline(always)]
    fn jet<L: Lanes<F>>(&self, code: i32, terms: &[[F; 4]], at: [F; 3]) -> [L::Four; 4] {
        let powers = Powers::new(at);
        let exponents = &self.kind(code).exponents;
        let terms = &terms[..exponents.len()];
        let mut jet = [L::Four::splat(F::zero()); 4];
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for j in 0..terms.len() {
            let factors = powers.jet(&exponents[j]);
            let term = L::Four::new(terms[j]);
            for d in 0..4 {
                jet[d] = term.fma(L::Four::splat(factors[d]), jet[d]);
            }
        }
        jet
    }

    #[inline(always)]
    fn weights<L: Lanes<F>>(&self, code: i32, at: [F; 3]) -> [F; ROOM] {
        self.kind(code).weights::<L>(at)
    }
}

impl<F: Real> Kind<F> {
    fn new(kind: CellKind) -> Self {
        let table = kind.table();
        let [r, s, t] = kind.centre();
        let leaning = match kind {
            CellKind::Triangle | CellKind::Wedge => 1.0,
            CellKind::Tetra => 2.0,
            _ => 0.0,
        };
        let of_term = |j: usize| {
            let mut row = [[F::zero(); WIDTH]; ROOM / WIDTH];
            for (weight, coefficients) in row.as_flattened_mut().iter_mut().zip(&table.coefficients)
            {
                *weight = F::of(coefficients[j]);
            }
            row
        };
        Kind {
            nodes: kind.nodes(),
            faces: table.faces.len(),
            frame: [r, s, t, leaning].map(F::of),
            mesh: MeshKind(Outline::of(kind)),
            exponents: table.exponents.to_vec(),
            coefficients: (0..table.exponents.len()).map(of_term).collect(),
        }
    }

    /// The weights of the nodes at a point, which sum to 1.
    #[inline(always)]
    pub fn weights<L: Lanes<F>>(&self, at: [F; 3]) -> [F; ROOM] {
        let powers = Powers::new(at);
        self.sums::<L>(|exponents| powers.term(exponents))
    }

    /// The derivatives of the weights with respect to r, s and t.
    #[inline(always)]
    pub fn weight_slopes<L: Lanes<F>>(&self, at: [F; 3]) -> [[F; ROOM]; 3] {
        let powers = Powers::new(at);
        [1, 2, 3].map(|d| self.sums::<L>(|exponents| powers.jet(exponents)[d]))
    }

    /// For each node, the sum of its coefficients times a function of their terms.
    #[inline(always)]
    fn sums<L: Lanes<F>>(&self, term_of: impl Fn(&[u8; 3]) -> F) -> [F; ROOM] {
        let mut weights = [F::zero(); ROOM];
        let mut start = 0;
        while start < self.nodes {
            let mut sum = L::Eight::splat(F::zero());
            // By index: an iterator call might not be inlined.
            for j in 0..self.exponents.len() {
                let row = &self.coefficients[j][start / WIDTH];
                let term = term_of(&self.exponents[j]);
                sum = L::Eight::new(row).fma(L::Eight::splat(term), sum);
            }
            weights[start..start + WIDTH].copy_from_slice(&sum.array());
            start += WIDTH;
        }
        weights
    }

    /// The middle, in parametric coordinates.
    #[inline(always)]
    pub fn centre(&self) -> Vec3<F> {
        Vec3(three(self.frame))
    }

    /// The distance of a point inside a face.
    pub fn depth(&self, at: Vec3<F>, face: usize) -> F {
        depth_inside(0, face as i32, at, scale(0, at, self.mesh), self.mesh)
    }

    /// Among the boundary faces that a point is beyond, the farthest.
    pub fn wall(&self, at: Vec3<F>, is_open: impl Fn(usize) -> bool) -> Option<usize> {
        let Outline { sides, narrows, .. } = self.mesh.0;
        let scale = scale(0, at, self.mesh);
        let (mut wall, mut smallest) = (None, F::zero());
        for side in sides.iter().filter(|side| is_open(side.face)) {
            let distance = distance(at, scale, *side, narrows);
            if distance < smallest {
                (wall, smallest) = (Some(side.face), distance);
            }
        }
        wall
    }
}
