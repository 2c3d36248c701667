//! Uniform positions in cells of every kind.

use super::made::{FLAT, Made, SOLID};
use super::mesh;
use crate::Seeds;

/// The unit box is cut into distorted cells: positions that are uniform in the cells are uniform in the
/// box.
#[test]
fn positions_in_distorted_cells_of_every_kind_are_uniform() {
    for kind in SOLID.iter().chain(FLAT).copied() {
        let mesh = mesh(&Made::of(3, 0.15, kind));
        let solid = mesh.dimension() == 3;
        let (count, per_axis) = (20_000, if solid { 5 } else { 11 });
        let seeds = Seeds::in_mesh(&mesh, [0.0; 3], [1.0; 3], count, 7).unwrap();
        let layers = if solid { per_axis } else { 1 };
        let mut bins = vec![0.0; per_axis * per_axis * layers];
        for p in seeds.positions() {
            let at = p.map(|x| ((x * per_axis as f64) as usize).min(per_axis - 1));
            bins[at[0] + per_axis * (at[1] + per_axis * if solid { at[2] } else { 0 })] += 1.0;
        }
        let expected = count as f64 / bins.len() as f64;
        let sum: f64 = bins.iter().map(|n: &f64| (n - expected).powi(2) / expected).sum();
        // Chi-squared: mean n - 1, variance 2 (n - 1).
        let freedom = (bins.len() - 1) as f64;
        assert!((sum - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{kind:?}: {sum}");
    }
}
