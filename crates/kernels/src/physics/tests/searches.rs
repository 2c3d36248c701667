//! The number of searches for a cell in a step is bounded, whatever the mesh answers.

use super::*;
use crate::{
    cpu::launch::Region,
    physics::{
        mesh_path::MAX_SEARCHES,
        region::host::{FoundCell, bisection},
    },
};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A mesh that is damaged everywhere: whether it contains a position is by chance.
struct Damaged {
    searches: AtomicU32,
    /// Of 256 searches, the number without success.
    failing: u32,
}

impl<F: Real> Region<F> for Damaged {
    fn find_cell(&self, p: [F; 3], cell: i32, _: i32, _: bool) -> FoundCell {
        self.searches.fetch_add(1, Relaxed);
        let bits = p.map(|x| x.exact().to_bits());
        let mixed =
            bits.iter().fold(0, |sum: u64, x| (sum ^ x).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        FoundCell { is_found: (mixed >> 56) as u32 >= self.failing, cell: cell.max(1), face: -1 }
    }

    fn probe(&self, _: [[F; 3]; 2], [reached, beyond]: [F; 2], _: i32) -> (F, bool) {
        (bisection(reached, beyond).part, false)
    }

    fn edge(&self, p: [F; 3], _: i32) -> (i32, [F; 3]) {
        (8, p.map(|x| (x - F::of(0.5)) * F::of(1e-6)))
    }

    fn face_tag(&self, _: i32) -> i32 {
        0
    }
}

fn most_searches<F: Real>(wall: BoundaryCondition, failing: u32) -> u32 {
    let boundary = Boundary { wall, ..shapes::OPEN };
    let Tables { floats, ints } = Tables::of_surroundings(&boundary, &[]);
    let data = LaunchData::new(Tables { floats, ints }, (&[], &[]), Features::among(&[]));
    let mut rng = fastrand::Rng::with_seed(11);
    let mut most = 0;
    for _ in 0..300 {
        let mesh = Damaged { searches: AtomicU32::new(0), failing };
        let mut point = || Vec3(random::random_point(&mut rng, 0.0, 1.0).map(F::of));
        let [from, to] = [point(), point()];
        let mut hint = known(1);
        hint.base = 1;
        follow(&data.launch(Some(&mesh)), [from, to], &mut hint);
        most = most.max(mesh.searches.into_inner());
    }
    most
}

#[test]
fn steps_in_damaged_meshes_take_a_bounded_number_of_searches() {
    for wall in [BoundaryCondition::Reflect, BoundaryCondition::Slide, BoundaryCondition::Exit] {
        for failing in [64, 128, 240] {
            let most = [most_searches::<f32>(wall, failing), most_searches::<f64>(wall, failing)];
            let bound = MAX_SEARCHES as u32;
            assert!(most.iter().all(|most| *most <= bound), "{most:?} for {wall:?}, {failing}");
        }
    }
    // Some reach the bound, so that it is one.
    assert_eq!(most_searches::<f64>(BoundaryCondition::Reflect, 128), MAX_SEARCHES as u32);
}
