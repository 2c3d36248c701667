//! Seeds in the cells of a mesh.

use super::boxes::check_box;
use super::{Seeds, check_count};
use crate::mesh::{CellSampler, Mesh};
use crate::random::uniform;
use crate::{Error, Result};

/// Maximum number of draws for a seed. One in six is accepted in tetrahedra, and few in strongly
/// distorted cells.
const MAX_DRAWS: u32 = 1 << 20;

/// Numbers for a draw.
const NUMBERS: u32 = 5;

impl Seeds {
    /// Seeds that are uniformly distributed in the cells of a mesh, by volume (by area in two dimensions),
    /// within a box. On the flat axis of a two-dimensional mesh, the box is ignored.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if the box is not finite or its corners are swapped, if the count is 0 or too
    /// large, or if no cell has a volume in the box.
    pub fn in_mesh(
        mesh: &Mesh,
        low: [f64; 3],
        high: [f64; 3],
        count: usize,
        seed: u64,
    ) -> Result<Self> {
        check_box(low, high)?;
        check_count(count)?;
        let outside = || {
            Error::Seeds(format!(
                "no cell of the mesh has a volume in the box from {low:?} to {high:?}; give a box that \
                 overlaps the mesh"
            ))
        };
        let sampler = CellSampler::new(mesh, low, high).ok_or_else(outside)?;
        Seeds::try_generate(count, |i| {
            let draw = |k: u32| {
                let number = |j: u32| uniform(seed, i as u64, 0, NUMBERS * k + j);
                sampler.position([0, 1, 2, 3, 4].map(number))
            };
            (0..MAX_DRAWS).find_map(draw).ok_or_else(outside)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::message;
    use super::*;
    use crate::mesh::Cells;
    use burntrace_kernels::CellKind;

    /// Two tetrahedra with volumes of 1/6 and 2/3, far from the origin if asked.
    fn tetrahedra(shift: f64) -> Mesh {
        let points =
            [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -4.0]];
        let points = points.map(|p: [f64; 3]| p.map(|x| x + shift));
        let cells = Cells {
            kinds: vec![CellKind::Tetra; 2],
            connectivity: vec![0, 1, 2, 3, 0, 2, 1, 4],
            offsets: vec![0, 4, 8],
        };
        Mesh::new(&points, cells).unwrap()
    }

    #[test]
    fn cells_have_seeds_in_proportion_to_their_volumes() {
        for shift in [0.0, 1e6] {
            let n = 20_000;
            let seeds =
                Seeds::in_mesh(&tetrahedra(shift), [shift - 9.0; 3], [shift + 9.0; 3], n, 3)
                    .unwrap();
            let above = seeds.positions().iter().filter(|p| p[2] > shift).count();
            // A fifth, within four standard deviations.
            assert!((above as f64 - 4000.0).abs() < 4.0 * (20_000.0_f64 * 0.16).sqrt(), "{above}");
            // Within the larger one, an eighth is beyond the middle of its edge from the apex.
            let near = seeds.positions().iter().filter(|p| p[2] < shift - 2.0).count();
            assert!((near as f64 - 2000.0).abs() < 4.0 * (20_000.0_f64 * 0.09).sqrt(), "{near}");
        }
    }

    #[test]
    fn positions_depend_only_on_seed_and_number() {
        let mesh = tetrahedra(0.0);
        let seeds = |count, seed| Seeds::in_mesh(&mesh, [-9.0; 3], [9.0; 3], count, seed).unwrap();
        assert_eq!(seeds(1000, 1).positions()[..100], *seeds(100, 1).positions());
        assert_ne!(seeds(10, 1).positions(), seeds(10, 2).positions());
    }

    #[test]
    fn box_limits_the_positions() {
        let mesh = tetrahedra(0.0);
        let (low, high) = ([0.1, 0.0, -1.0], [0.3, 0.2, 0.25]);
        let seeds = Seeds::in_mesh(&mesh, low, high, 500, 1).unwrap();
        let is_inside = |p: &[f64; 3]| (0..3).all(|d| low[d] <= p[d] && p[d] <= high[d]);
        assert!(seeds.positions().iter().all(is_inside));
        assert!(seeds.positions().iter().all(|p| mesh.locate(*p).is_some()));
        let away = Seeds::in_mesh(&mesh, [5.0; 3], [6.0; 3], 5, 1);
        assert!(message(away).contains("no cell of the mesh"));
        assert!(message(Seeds::in_mesh(&mesh, low, high, 0, 1)).contains("none"));
        assert!(message(Seeds::in_mesh(&mesh, high, low, 5, 1)).contains("along x"));
    }
}
