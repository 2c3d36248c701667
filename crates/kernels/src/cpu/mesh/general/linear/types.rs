//! The types of cells without nodes in the middle of their edges.

use super::{
    super::kinds::{AnyTypes, CellTypes, Kind, WIDTH},
    MOST,
};
use crate::{
    CellKind,
    cpu::{
        Real,
        chart::{Chart, InGroups},
        lanes::{Eight, Four, Lanes, Vector},
    },
};

/// Cells without nodes in the middle of their edges: with what they share known to the compiler, samples are several times as fast.
pub(in crate::cpu) struct Linear<F> {
    all: AnyTypes<F>,
    /// For each type and each term of a trilinear polynomial, the coefficients in the weights of the nodes.
    coefficients: Vec<[[F; WIDTH]; WIDTH]>,
    /// The weight of a node of a brick is the product of `offset + slope * coordinate` over the coordinates.
    hexahedron: [[[F; WIDTH]; 2]; 3],
    voxel: [[[F; WIDTH]; 2]; 3],
}

const HEXAHEDRON: i32 = CellKind::Hexahedron as i32;
const VOXEL: i32 = CellKind::Voxel as i32;
/// The first type in three dimensions.
pub(in crate::cpu) const TETRA: i32 = CellKind::Tetra as i32;

impl<F: Real> Linear<F> {
    /// Whether none of these cell types, one bit for each, has nodes in the middle of its edges.
    pub fn include(kinds: u32) -> bool {
        CellKind::ALL.iter().all(|kind| kinds >> *kind as u32 & 1 == 0 || !kind.is_quadratic())
    }

    /// The offsets and slopes of the nodes' weights in a brick.
    fn factors(kind: CellKind) -> [[[F; WIDTH]; 2]; 3] {
        let nodes = kind.table().nodes;
        [0, 1, 2].map(|d| {
            let of = |factor: fn(f64) -> f64| std::array::from_fn(|k| F::of(factor(nodes[k][d])));
            [of(|x| 1.0 - x), of(|x| 2.0 * x - 1.0)]
        })
    }

    /// The coefficients of the weights in the terms 1, r, s, rs, t, rt, st and rst.
    fn coefficients(kind: CellKind) -> [[F; WIDTH]; WIDTH] {
        let mut rows = [[F::zero(); WIDTH]; WIDTH];
        if !kind.is_quadratic() {
            let table = kind.table();
            for (j, [a, b, c]) in table.exponents.iter().enumerate() {
                let row = &mut rows[usize::from(a + 2 * b + 4 * c)];
                *row = std::array::from_fn(|i| F::of(table.coefficients[i][j]));
            }
        }
        rows
    }
}

impl<F: Real> CellTypes<F> for Linear<F> {
    const ARE_LINEAR: bool = true;
    type Weights = [F; WIDTH];

    /// As many as positions in cells are found together.
    #[inline(always)]
    fn in_groups<C: Chart<F>>(work: impl InGroups) {
        work.run::<MOST>();
    }

    fn all() -> Self {
        let [hexahedron, voxel] = [CellKind::Hexahedron, CellKind::Voxel].map(Self::factors);
        let coefficients = CellKind::ALL.iter().map(|kind| Self::coefficients(*kind)).collect();
        Linear { all: AnyTypes::all(), coefficients, hexahedron, voxel }
    }

    #[inline(always)]
    fn kind(&self, code: i32) -> &Kind<F> {
        self.all.kind(code)
    }

    /// By Horner's rule, for terms in the order of the tables: 1, r, s, rs, t, rt, st, rst.
    #[inline(always)]
    fn jet<L: Lanes<F>>(&self, code: i32, terms: &[[F; 4]], at: [F; 3]) -> [L::Four; 4] {
        if code < TETRA {
            // In two dimensions there are four terms at most.
            return self.all.jet::<L>(code, terms, at);
        }
        let [r, s, t] = at.map(L::Four::splat);
        let mut term = [L::Four::splat(F::zero()); 8];
        // By index and without closures, which might not be inlined.
        for j in 0..8 {
            term[j] = L::Four::new(terms[j]);
        }
        let (low, high) = (term[1].fma(r, term[0]), term[5].fma(r, term[4]));
        let (low_by_s, high_by_s) = (term[3].fma(r, term[2]), term[7].fma(r, term[6]));
        let by_t = high_by_s.fma(s, high);
        let value = by_t.fma(t, low_by_s.fma(s, low));
        let by_r = term[7].fma(s, term[5]).fma(t, term[3].fma(s, term[1]));
        [value, by_r, high_by_s.fma(t, low_by_s), by_t]
    }

    #[inline(always)]
    fn weights<L: Lanes<F>>(&self, code: i32, at: [F; 3]) -> [F; WIDTH] {
        if code != HEXAHEDRON && code != VOXEL {
            let [r, s, t] = at;
            let terms = [F::one(), r, s, r * s, t, r * t, s * t, r * s * t];
            let rows = &self.coefficients[code as usize];
            let mut sum = L::Eight::splat(F::zero());
            // By index: an iterator call might not be inlined.
            for j in 0..WIDTH {
                sum = L::Eight::new(&rows[j]).fma(L::Eight::splat(terms[j]), sum);
            }
            return sum.array();
        }
        let factors = if code == HEXAHEDRON { &self.hexahedron } else { &self.voxel };
        let along = |d: usize| {
            let [offset, slope] = &factors[d];
            L::Eight::new(slope).fma(L::Eight::splat(at[d]), L::Eight::new(offset))
        };
        (along(0) * along(1) * along(2)).array()
    }
}
