//! The tables of cell kinds in the kernel's precision, arranged for vectors.

use crate::{
    CellKind, MAX_CELL_NODES,
    cpu::{
        Real,
        lanes::{Eight, Lanes, Vector},
    },
};

/// The most sides of a kind.
const SIDES: usize = 6;
/// Nodes whose shares are computed together.
const WIDTH: usize = 8;
/// Room for the shares of all nodes.
const ROOM: usize = MAX_CELL_NODES.next_multiple_of(WIDTH);

/// Powers of coordinates, and their derivatives.
pub(super) struct Powers<F> {
    powers: [[F; 3]; 3],
    slopes: [[F; 3]; 3],
}

impl<F: Real> Powers<F> {
    #[inline(always)]
    pub fn new(at: &[F; 4]) -> Self {
        let (zero, one) = (F::zero(), F::one());
        let [r, s, t, _] = *at;
        Powers {
            powers: [[one, r, r * r], [one, s, s * s], [one, t, t * t]],
            slopes: [[zero, one, r + r], [zero, one, s + s], [zero, one, t + t]],
        }
    }

    /// A term.
    #[inline(always)]
    fn term(&self, exponents: &[u8; 3]) -> F {
        let [a, b, c] = whole(exponents);
        self.powers[0][a] * self.powers[1][b] * self.powers[2][c]
    }

    /// A term and its derivatives by r, s and t.
    #[inline(always)]
    pub fn jet(&self, exponents: &[u8; 3]) -> [F; 4] {
        let [a, b, c] = whole(exponents);
        let [r, s, t] = [self.powers[0][a], self.powers[1][b], self.powers[2][c]];
        let st = s * t;
        [r * st, self.slopes[0][a] * st, r * self.slopes[1][b] * t, r * s * self.slopes[2][c]]
    }
}

/// Exponents, of which the compiler can see that they are no more than 2.
#[inline(always)]
fn whole(exponents: &[u8; 3]) -> [usize; 3] {
    let [a, b, c] = *exponents;
    [usize::from(a) % 3, usize::from(b) % 3, usize::from(c) % 3]
}

/// A kind of cells.
pub(super) struct Kind<F> {
    pub nodes: usize,
    pub centre: [F; 4],
    pub exponents: Vec<[u8; 3]>,
    /// For each term its coefficients in the shares of the nodes.
    coefficients: Vec<[[F; WIDTH]; ROOM / WIDTH]>,
    planes: [[F; 4]; SIDES],
    faces: [usize; SIDES],
    sides: usize,
    /// Which sides depend on r and s.
    leans: [bool; SIDES],
    /// Whether it narrows to an apex at t = 1, where r and s may be anything.
    narrows: bool,
}

impl<F: Real> Kind<F> {
    /// All kinds, by their codes.
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
            for (share, coefficients) in row.as_flattened_mut().iter_mut().zip(&table.coefficients)
            {
                *share = F::of(coefficients[j]);
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

    /// The shares of the nodes at a place, which add up to 1.
    #[inline(always)]
    pub fn shares<L: Lanes<F>>(&self, at: &[F; 4]) -> [F; ROOM] {
        let mut shares = [F::zero(); ROOM];
        let powers = Powers::new(at);
        let mut start = 0;
        while start < self.nodes {
            let mut sum = L::Eight::splat(F::zero());
            // By index: an iterator might be called where it should be inlined.
            for j in 0..self.exponents.len() {
                let row = &self.coefficients[j][start / WIDTH];
                let term = powers.term(&self.exponents[j]);
                sum = L::Eight::new(row).fma(L::Eight::splat(term), sum);
            }
            shares[start..start + WIDTH].copy_from_slice(&sum.array());
            start += WIDTH;
        }
        shares
    }

    /// How much r and s may grow towards the apex of a pyramid: a change of theirs is next to
    /// nothing in space.
    #[inline(always)]
    pub fn room(&self, t: F) -> F {
        if self.narrows { F::one() / (F::one() - t).abs().max(F::epsilon()) } else { F::one() }
    }

    /// The face that a place is farthest beyond, or nearest to, and how far it is within it.
    #[inline(always)]
    pub fn least_side(&self, at: &[F; 4]) -> (usize, F) {
        let (mut face, mut least) = (0, F::infinity());
        for k in 0..self.sides {
            let value = self.side(k, at);
            if value.is_nan() || value < least {
                (face, least) = (self.faces[k], value);
            }
        }
        (face, least)
    }

    /// Of the open faces that a place is beyond, the farthest.
    pub fn wall(&self, at: &[F; 4], is_open: impl Fn(usize) -> bool) -> Option<usize> {
        let (mut wall, mut least) = (None, F::zero());
        for k in (0..self.sides).filter(|k| is_open(self.faces[*k])) {
            if self.side(k, at) < least {
                (wall, least) = (Some(self.faces[k]), self.side(k, at));
            }
        }
        wall
    }

    /// How far a place is within a side; near the apex of a pyramid, in space.
    #[inline(always)]
    fn side(&self, k: usize, at: &[F; 4]) -> F {
        let [a, b, c, d] = self.planes[k];
        let value = a + b * at[0] + c * at[1] + d * at[2];
        if self.narrows && self.leans[k] { value / self.room(at[2]) } else { value }
    }

    /// The plane of a face.
    pub fn plane(&self, face: usize) -> [F; 4] {
        let side = self.faces[..self.sides].iter().position(|of| *of == face);
        self.planes[side.unwrap_or(0)]
    }
}
