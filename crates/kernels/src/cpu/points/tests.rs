//! Lists of candidates against an exhaustive search, along paths of short and long steps.

use super::{
    Cloud,
    candidates::{Candidates, ListSize},
};
use crate::{
    FieldShape, NODE_PADDING, PointShape, Weighting,
    cpu::{
        FieldArrays, Real,
        lanes::{Lanes, Portable, Task, dispatch},
    },
};

/// A number between 0 and 1 for each index.
fn random(index: usize) -> f64 {
    let x = (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (x >> 11) as f64 / (1_u64 << 53) as f64
}

/// Nodes in the unit cube: at random, at every quarter, and all at one position.
fn clouds(count: usize) -> [Vec<[f64; 3]>; 3] {
    let all: Vec<[f64; 3]> =
        (0..count).map(|i| [0, 1, 2].map(|d| f64::from(random(3 * i + d) as f32))).collect();
    let quarters = all.iter().map(|p| p.map(|x| (4.0 * x).floor() / 4.0)).collect();
    [all, quarters, vec![[0.5; 3]; count]]
}

/// Positions: steps of different lengths, nodes, and some that are repeated or outside.
fn path<F: Real>(nodes: &[[f64; 3]], length: f64) -> Vec<[F; 3]> {
    let mut at = [0.5; 3];
    let mut path = Vec::new();
    for i in 0..150 {
        at = match i % 25 {
            7 => nodes[i % nodes.len()],
            11 => at,
            13 => [5.0, -3.0, 0.5],
            14 => [0.25; 3],
            _ => [0, 1, 2].map(|d| at[d] + length * (random(900 + 3 * i + d) - 0.5)),
        };
        path.push(at.map(F::of));
    }
    path
}

/// Follows a path with one list, and compares the nodes with those of an exhaustive search.
struct Check<'a, F> {
    cloud: &'a Cloud<'a, F>,
    needed: usize,
    path: &'a [[F; 3]],
}

impl<F: Real> Check<'_, F> {
    /// The nearest nodes, of equally distant ones the first, in their order.
    fn expected<L: Lanes<F>>(&self, position: &[F; 3]) -> Vec<(u32, F)> {
        let square = |node: usize| {
            let offset = |d: usize| self.cloud.axes[d][node] - position[d];
            (0..3).fold(F::zero(), |sum, d| {
                let x = offset(d);
                if L::FUSES { x.mul_add(x, sum) } else { x * x + sum }
            })
        };
        let mut all: Vec<(u32, F)> =
            (0..self.cloud.count).map(|node| (node as u32, square(node))).collect();
        all.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap());
        all.truncate(self.needed);
        all.sort_by_key(|(node, _)| *node);
        all
    }
}

impl<F: Real> Task<F> for Check<'_, F> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let size = ListSize::new(self.cloud, self.needed, 20.0);
        let (mut many, mut one) = (Candidates::<F, 4>::default(), Candidates::<F, 2>::default());
        let single = ListSize::new(self.cloud, 1, 10.0);
        for position in self.path {
            let expected = self.expected::<L>(position);
            let found = many.neighbours::<L>(self.cloud, &size, position);
            let found: Vec<(u32, F)> =
                (0..self.needed).map(|n| (found.node[n], found.square[n])).collect();
            assert_eq!(found, expected, "{position:?}");
            if self.needed == 1 {
                let node = one.nearest::<L>(self.cloud, &single, position);
                assert_eq!(node as u32, expected[0].0, "{position:?}");
            }
        }
    }
}

/// Checks a cloud whose lattice has a single cell.
fn check<F: Real>(nodes: &[[f64; 3]], needed: usize) {
    let shape = PointShape {
        count: nodes.len(),
        cells: [1; 3],
        origin: [0.0; 3],
        per_length: [1.0; 3],
        weighting: Weighting::InverseDistance { neighbours: needed, power: 2.0 },
    };
    let mut coordinates = Vec::new();
    for d in 0..3 {
        coordinates.extend(nodes.iter().map(|p| F::of(p[d])));
        coordinates.extend([F::of(f64::from(f32::MAX)); NODE_PADDING]);
    }
    let field = FieldArrays {
        shape: &FieldShape::Points(shape),
        velocity: &vec![[F::zero(); 4]; nodes.len() + 1],
        groups: 1,
        coordinates: &coordinates,
        index: &[0, nodes.len() as i32],
    };
    let cloud = Cloud::new(&field, &shape, 1);
    for length in [1e-3, 0.03, 0.5] {
        let path = path(nodes, length);
        dispatch(Check { cloud: &cloud, needed, path: &path });
        Check { cloud: &cloud, needed, path: &path }.run::<Portable>();
    }
}

#[test]
fn lists_of_candidates_give_the_nearest_nodes() {
    for count in [1, 2, 16, 17, 33, 300] {
        for nodes in clouds(count) {
            for needed in [1, 3, 8, 16].into_iter().filter(|needed| *needed <= count) {
                check::<f32>(&nodes, needed);
                check::<f64>(&nodes, needed);
            }
        }
    }
}
