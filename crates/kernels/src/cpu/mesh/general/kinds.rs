//! The tables of cell types in the kernel's precision, arranged for vectors.

use crate::{
    CellKind, MAX_CELL_NODES,
    cpu::{
        Real,
        lanes::{Eight, Lanes, Vector},
    },
};

/// Maximum number of sides of a cell type.
const SIDES: usize = 6;
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
    pub fn new(at: &[F; 4]) -> Self {
        let (zero, one) = (F::zero(), F::one());
        let [r, s, t, _] = *at;
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
    pub centre: [F; 4],
    pub exponents: Vec<[u8; 3]>,
    /// For each term, its coefficients in the weights of the nodes.
    coefficients: Vec<[[F; WIDTH]; ROOM / WIDTH]>,
    planes: [[F; 4]; SIDES],
    faces: [usize; SIDES],
    sides: usize,
    /// Whether each side depends on r and s.
    leans: [bool; SIDES],
    /// Whether it narrows to an apex at t = 1, where r and s are undefined.
    narrows: bool,
}

impl<F: Real> Kind<F> {
    /// All cell types, in the order of their numbers.
    pub fn all() -> Vec<Self> {
        CellKind::ALL.iter().map(|kind| Kind::new(*kind)).collect()
    }

    fn new(kind: CellKind) -> Self {
        let table = kind.table();
        let mut planes = [[F::zero(); 4]; SIDES];
        let mut faces = [0; SIDES];
        let mut leans = [false; SIDES];
        for (k, side) in table.sides.iter().enumerate() {
            (planes[k], faces[k]) = (side.plane.map(F::of), side.face);
            leans[k] = side.plane[1] != 0.0 || side.plane[2] != 0.0;
        }
        let of_term = |j: usize| {
            let mut row = [[F::zero(); WIDTH]; ROOM / WIDTH];
            for (weight, coefficients) in row.as_flattened_mut().iter_mut().zip(&table.coefficients)
            {
                *weight = F::of(coefficients[j]);
            }
            row
        };
        let [r, s, t] = kind.centre().map(F::of);
        Kind {
            nodes: kind.nodes(),
            centre: [r, s, t, F::zero()],
            exponents: table.exponents.to_vec(),
            coefficients: (0..table.exponents.len()).map(of_term).collect(),
            planes,
            faces,
            sides: table.sides.len(),
            leans,
            narrows: kind == CellKind::Pyramid,
        }
    }

    /// The weights of the nodes at a point, which sum to 1.
    #[inline(always)]
    pub fn weights<L: Lanes<F>>(&self, at: &[F; 4]) -> [F; ROOM] {
        let mut weights = [F::zero(); ROOM];
        let powers = Powers::new(at);
        let mut start = 0;
        while start < self.nodes {
            let mut sum = L::Eight::splat(F::zero());
            // By index: an iterator call might not be inlined.
            for j in 0..self.exponents.len() {
                let row = &self.coefficients[j][start / WIDTH];
                let term = powers.term(&self.exponents[j]);
                sum = L::Eight::new(row).fma(L::Eight::splat(term), sum);
            }
            weights[start..start + WIDTH].copy_from_slice(&sum.array());
            start += WIDTH;
        }
        weights
    }

    /// Scale of changes in r and s near the apex of a pyramid, where they hardly change the
    /// position.
    #[inline(always)]
    pub fn scale(&self, t: F) -> F {
        if self.narrows { F::one() / (F::one() - t).abs().max(F::epsilon()) } else { F::one() }
    }

    /// The face that a point is farthest beyond, or nearest to, and the distance inside it.
    #[inline(always)]
    pub fn nearest_side(&self, at: &[F; 4]) -> (usize, F) {
        let (mut face, mut smallest) = (0, F::infinity());
        for k in 0..self.sides {
            let value = self.side(k, at);
            if value.is_nan() || value < smallest {
                (face, smallest) = (self.faces[k], value);
            }
        }
        (face, smallest)
    }

    /// Among the boundary faces that a point is beyond, the farthest.
    pub fn wall(&self, at: &[F; 4], is_open: impl Fn(usize) -> bool) -> Option<usize> {
        let (mut wall, mut smallest) = (None, F::zero());
        for k in (0..self.sides).filter(|k| is_open(self.faces[*k])) {
            if self.side(k, at) < smallest {
                (wall, smallest) = (Some(self.faces[k]), self.side(k, at));
            }
        }
        wall
    }

    /// Distance of a point inside a side; near the apex of a pyramid, scaled to space.
    #[inline(always)]
    fn side(&self, k: usize, at: &[F; 4]) -> F {
        let [a, b, c, d] = self.planes[k];
        let value = a + b * at[0] + c * at[1] + d * at[2];
        if self.narrows && self.leans[k] { value / self.scale(at[2]) } else { value }
    }

    /// The plane of a face.
    pub fn plane(&self, face: usize) -> [F; 4] {
        let side = self.faces[..self.sides].iter().position(|of| *of == face);
        self.planes[side.unwrap_or(0)]
    }
}
