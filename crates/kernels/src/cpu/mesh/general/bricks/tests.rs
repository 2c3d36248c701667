use super::{super::kinds::Bricks, *};
use crate::{
    CellKind,
    cpu::lanes::{Task, dispatch},
};
use fastrand::Rng;

/// Number of cells.
const CELLS: usize = 8;

/// A number between -1 and 1.
fn number(rng: &mut Rng) -> f64 {
    2.0 * rng.f64() - 1.0
}

/// Coordinates of bricks in unit boxes: a straight one, and others more and more distorted, the last ones folded.
fn coordinates<F: Real>(rng: &mut Rng) -> (Vec<[F; 4]>, Vec<[i32; 4]>) {
    let tolerance = -16.0 * F::epsilon().exact();
    let record = [
        [0.0, 0.0, 0.0, tolerance],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
    ];
    let mut rows = record.repeat(CELLS);
    let mut heads = vec![[CellKind::Hexahedron as i32, 0, 0, 0]];
    for cell in 1..CELLS {
        heads.push([CellKind::Hexahedron as i32, 0, 0, 4 * rows.len() as i32]);
        let mut terms = [[0.0; 4]; 8];
        (terms[1][0], terms[2][1], terms[4][2]) = (1.0, 1.0, 1.0);
        terms[0] = [-0.5, -0.5, -0.5, 0.0];
        for x in terms.iter_mut().flat_map(|term| &mut term[..3]) {
            *x += 0.02 * f64::from(1 << cell) * number(rng);
        }
        rows.extend(terms);
    }
    (rows.into_iter().map(|row| row.map(F::of)).collect(), heads)
}

/// Positions in random cells, by four and one by one.
struct Check<'a, F>(&'a [[F; 4]], &'a [[i32; 4]]);

impl<F: Real> Task<F> for Check<'_, F> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let Check(rows, heads) = self;
        let bricks = General::<F, Bricks<F>> {
            records: bytemuck::cast_slice(&rows[..4 * CELLS]),
            heads,
            nodes: &[],
            neighbours: &[],
            terms: rows,
            count: 0,
            types: Bricks::all(),
            is_flat: false,
        };
        let mut rng = Rng::with_seed(5);
        let mut inside = 0;
        for _ in 0..500 {
            let mut cells = [0; 4];
            let mut positions = [L::Four::splat(F::zero()); 4];
            for g in 0..4 {
                cells[g] = (rng.f64() * CELLS as f64) as usize;
                let mut at = || F::of(0.7 * number(&mut rng));
                positions[g] = L::Four::new([at(), at(), at(), F::zero()]);
            }
            let together = bricks.query_bricks::<L, 4>(&cells, &positions);
            for g in 0..4 {
                let [alone] = bricks.query_bricks::<L, 1>(&[cells[g]], &[positions[g]]);
                let of = |query: &CellQuery<L::Four>| {
                    (three(query.at.array()), query.containment, query.face)
                };
                assert_eq!(of(&together[g]), of(&alone), "cell {}", cells[g]);
                if alone.containment == INSIDE {
                    inside += 1;
                    let start = heads[cells[g]][3] as usize / 4;
                    let terms = if start == 0 { None } else { Some(&rows[start..start + 8]) };
                    assert_solves::<F, L>(terms, positions[g], alone.at);
                }
            }
        }
        assert!((300..1700).contains(&inside), "{inside} of 2000 positions are inside");
    }
}

/// Asserts that a polynomial, or without one the distance from the centre, has a value at a point.
fn assert_solves<F: Real, L: Lanes<F>>(terms: Option<&[[F; 4]]>, value: L::Four, at: L::Four) {
    let [r, s, t] = three(at.array()).map(Real::exact);
    let powers = [1.0, r, s, r * s, t, r * t, s * t, r * s * t];
    for d in 0..3 {
        let sum = |terms: &[[F; 4]]| -> f64 {
            powers.iter().zip(terms).map(|(power, term)| power * term[d].exact()).sum()
        };
        let found = terms.map_or([r, s, t][d] - 0.5, sum);
        let expected = value.array()[d].exact();
        assert!((found - expected).abs() <= 64.0 * F::epsilon().exact(), "{found} for {expected}");
    }
}

#[test]
fn positions_in_bricks_do_not_depend_on_the_others() {
    let (rows, heads) = coordinates::<f32>(&mut Rng::with_seed(3));
    dispatch(Check(&rows, &heads));
    Check(&rows, &heads).run::<Portable>();
    let (rows, heads) = coordinates::<f64>(&mut Rng::with_seed(3));
    dispatch(Check(&rows, &heads));
}
