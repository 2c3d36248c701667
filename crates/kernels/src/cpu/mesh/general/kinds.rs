//! The tables of cell types in the kernel's precision, arranged for vectors.

use crate::{
    CellKind, MAX_CELL_NODES,
    cells::Outline,
    cpu::{
        Real,
        lanes::{Eight, Lanes, Vector},
    },
    physics::{
        cells::host::{distance, scale},
        prelude::host::Vec3,
    },
};

/// Number of weights computed together.
const WIDTH: usize = 8;
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
pub(super) struct Kind<F> {
    pub nodes: usize,
    pub centre: Vec3<F>,
    pub mesh: MeshKind,
    pub exponents: Vec<[u8; 3]>,
    /// For each term, its coefficients in the weights of the nodes.
    coefficients: Vec<[[F; WIDTH]; ROOM / WIDTH]>,
}

/// The sides of one cell type, for code that devices compile for all types of a mesh.
#[derive(Clone, Copy)]
pub(crate) struct MeshKind(Outline);

impl MeshKind {
    #[inline(always)]
    pub fn outlines(self) -> [Outline; 1] {
        [self.0]
    }

    #[inline(always)]
    pub fn kinds(self) -> u32 {
        self.0.kinds
    }
}

impl<F: Real> Kind<F> {
    /// All cell types, in the order of their numbers.
    pub fn all() -> Vec<Self> {
        CellKind::ALL.iter().map(|kind| Kind::new(*kind)).collect()
    }

    fn new(kind: CellKind) -> Self {
        let table = kind.table();
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
            centre: Vec3(kind.centre().map(F::of)),
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
