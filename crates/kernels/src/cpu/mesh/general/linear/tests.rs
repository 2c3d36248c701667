use super::{
    types::{Linear, TETRA},
    *,
};
use crate::cpu::lanes::{Task, dispatch};
use fastrand::Rng;

/// Number of cells.
const CELLS: usize = 8;

/// Terms that a cell of a type has.
fn terms_of(kind: CellKind) -> &'static [usize] {
    match kind {
        CellKind::Quad => &[0, 1, 2, 3],
        CellKind::Wedge => &[0, 1, 2, 4, 5, 6],
        _ => &[0, 1, 2, 3, 4, 5, 6, 7],
    }
}

/// A number between -1 and 1.
fn number(rng: &mut Rng) -> f64 {
    2.0 * rng.f64() - 1.0
}

/// Coordinates of cells of these types, in turns: a straight one, and others more and more distorted, the last ones folded.
fn coordinates<F: Real>(kinds: &[CellKind], rng: &mut Rng) -> (Vec<[F; 4]>, Vec<[i32; 4]>) {
    let tolerance = -16.0 * F::epsilon().exact();
    let is_flat = kinds[0].dimension() == 2;
    let record = [
        [0.0, 0.0, 0.0, tolerance],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, if is_flat { 0.0 } else { 1.0 }, 0.0],
    ];
    let mut rows = record.repeat(CELLS);
    let mut heads = Vec::new();
    for cell in 0..CELLS {
        let kind = kinds[cell % kinds.len()];
        let is_straight = cell == 0 || kind == CellKind::Tetra;
        let start = if is_straight { 0 } else { 4 * rows.len() as i32 };
        heads.push([kind as i32, 0, 0, start]);
        if is_straight {
            continue;
        }
        let mut terms = [[0.0; 4]; 8];
        (terms[1][0], terms[2][1]) = (1.0, 1.0);
        terms[4][2] = if is_flat { 0.0 } else { 1.0 };
        let centre = kind.centre().map(|x| -x);
        terms[0][..3].copy_from_slice(&centre);
        let columns = if is_flat { 2 } else { 3 };
        for term in terms_of(kind) {
            for x in &mut terms[*term][..columns] {
                *x += 0.02 * f64::from(1 << cell) * number(rng);
            }
        }
        rows.extend(&terms[..if is_flat { 4 } else { 8 }]);
    }
    (rows.into_iter().map(|row| row.map(F::of)).collect(), heads)
}

/// Positions in random cells, together and one by one.
struct Check<'a, F>(&'a [[F; 4]], &'a [[i32; 4]]);

impl<F: Real> Task<F> for Check<'_, F> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let Check(rows, heads) = self;
        let is_flat = heads[0][0] < TETRA;
        let cells_of_mesh = General::<F, Linear<F>> {
            records: bytemuck::cast_slice(&rows[..4 * CELLS]),
            heads,
            nodes: &[],
            neighbours: &[],
            terms: rows,
            count: 0,
            types: Linear::all(),
            is_flat,
            are_bricks: heads.iter().all(|head| head[0] == CellKind::Hexahedron as i32),
        };
        let mut rng = Rng::with_seed(5);
        let mut inside = 0;
        for _ in 0..250 {
            let mut cells = [0; MOST];
            let mut positions = [L::Four::splat(F::zero()); MOST];
            for g in 0..MOST {
                cells[g] = (rng.f64() * CELLS as f64) as usize;
                let mut at = || F::of(0.7 * number(&mut rng));
                let z = if is_flat { F::zero() } else { at() };
                positions[g] = L::Four::new([at(), at(), z, F::zero()]);
            }
            let together = cells_of_mesh.query_linear::<L, MOST>(&cells, &positions);
            for g in 0..MOST {
                let [alone] = cells_of_mesh.query_linear::<L, 1>(&[cells[g]], &[positions[g]]);
                let of = |query: &CellQuery<L::Four>| {
                    (three(query.at.array()), query.containment, query.face)
                };
                assert_eq!(of(&together[g]), of(&alone), "cell {}", cells[g]);
                let newton = cells_of_mesh.query_any::<Portable>(
                    cells[g],
                    <Portable as Lanes<F>>::Four::new(positions[g].array()),
                );
                if alone.containment == INSIDE {
                    inside += 1;
                    let [code, .., start] = heads[cells[g]];
                    let terms = if start == 0 { None } else { Some(&rows[start as usize / 4..]) };
                    let count = if is_flat { 4 } else { 8 };
                    let kind = CellKind::ALL[code as usize];
                    assert_solves::<F, L>(
                        kind,
                        terms.map(|rows| &rows[..count]),
                        positions[g],
                        alone.at,
                    );
                }
                // In cells that are hardly distorted there is one answer.
                if cells[g] < CELLS / 2
                    && newton.containment != BORDER
                    && alone.containment != BORDER
                {
                    assert_eq!(newton.containment, alone.containment, "cell {}", cells[g]);
                }
            }
        }
        assert!((100..1700).contains(&inside), "{inside} of 2000 positions are inside");
        // A position that is not a number is in no cell.
        let (zero, nothing) = (F::zero(), F::of(f64::NAN));
        for p in [[nothing, zero, zero, zero], [nothing, nothing, nothing, zero]] {
            let p = [L::Four::new(p); MOST];
            for query in cells_of_mesh.query_linear::<L, MOST>(&std::array::from_fn(|i| i), &p) {
                assert_eq!(query.containment, OUTSIDE);
            }
        }
    }
}

/// Asserts that a polynomial, or without one the distance from the centre, has a value at a point.
fn assert_solves<F: Real, L: Lanes<F>>(
    kind: CellKind,
    terms: Option<&[[F; 4]]>,
    value: L::Four,
    at: L::Four,
) {
    let [r, s, t] = three(at.array()).map(Real::exact);
    let powers = [1.0, r, s, r * s, t, r * t, s * t, r * s * t];
    for d in 0..3 {
        let sum = |terms: &[[F; 4]]| -> f64 {
            powers.iter().zip(terms).map(|(power, term)| power * term[d].exact()).sum()
        };
        let found = terms.map_or([r, s, t][d] - kind.centre()[d], sum);
        let expected = value.array()[d].exact();
        assert!(
            (found - expected).abs() <= 64.0 * F::epsilon().exact(),
            "{kind:?}: {found} for {expected}"
        );
    }
}

/// Checks cells of these types in both precisions.
fn check(kinds: &[CellKind]) {
    let (rows, heads) = coordinates::<f32>(kinds, &mut Rng::with_seed(3));
    dispatch(Check(&rows, &heads));
    Check(&rows, &heads).run::<Portable>();
    let (rows, heads) = coordinates::<f64>(kinds, &mut Rng::with_seed(3));
    dispatch(Check(&rows, &heads));
}

#[test]
fn positions_in_cells_do_not_depend_on_the_others() {
    check(&[CellKind::Hexahedron]);
    check(&[CellKind::Wedge]);
    check(&[CellKind::Quad]);
    check(&[CellKind::Hexahedron, CellKind::Wedge, CellKind::Pyramid, CellKind::Tetra]);
}
