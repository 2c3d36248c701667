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

/// A kind of cells.
pub(super) struct Kind<F> {
    pub nodes: usize,
    pub centre: [F; 4],
    exponents: Vec<[u8; 3]>,
    /// For each term its coefficients in the shares of the nodes.
    coefficients: Vec<[F; ROOM]>,
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
            let mut row = [F::zero(); ROOM];
            for (share, coefficients) in row.iter_mut().zip(&table.coefficients) {
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

    /// The terms at a place, each with its derivatives by r, s and t.
    #[inline(always)]
    pub fn term_jets(&self, at: &[F; 4]) -> impl Iterator<Item = [F; 4]> {
        let (zero, one) = (F::zero(), F::one());
        let two = one + one;
        let powers = [0, 1, 2].map(|d| [one, at[d], at[d] * at[d]]);
        let slopes = [0, 1, 2].map(|d| [zero, one, two * at[d]]);
        self.exponents.iter().map(move |&[a, b, c]| {
            let (a, b, c) = (usize::from(a) % 3, usize::from(b) % 3, usize::from(c) % 3);
            let [r, s, t] = [powers[0][a], powers[1][b], powers[2][c]];
            [r * s * t, slopes[0][a] * s * t, r * slopes[1][b] * t, r * s * slopes[2][c]]
        })
    }

    /// The shares of the nodes at a place, which add up to 1.
    #[inline(always)]
    pub fn shares<L: Lanes<F>>(&self, at: &[F; 4]) -> [F; ROOM] {
        let mut shares = [F::zero(); ROOM];
        for start in (0..self.nodes).step_by(WIDTH) {
            let mut sum = L::Eight::splat(F::zero());
            for ([term, ..], row) in self.term_jets(at).zip(&self.coefficients) {
                let Some((row, _)) = row[start..].split_first_chunk::<WIDTH>() else { break };
                sum = L::Eight::new(row).fma(L::Eight::splat(term), sum);
            }
            shares[start..start + WIDTH].copy_from_slice(&sum.array());
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
