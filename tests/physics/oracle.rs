//! The oracle of `crates/bench`, an independent reference tracer, for the fields of these tests.

use super::common::{Frames, Run};
use burntrace::Placement;
use burntrace_bench::oracle;
pub use burntrace_bench::oracle::{FinalState, HELD, Point, Space, events, perturbation};

pub type Case<S = Frames> = oracle::Case<S>;

pub mod mesh {
    pub type WalledMesh =
        burntrace_bench::oracle::mesh::WalledMesh<super::super::meshes::MeshFrames>;
}

impl Space for Frames {
    fn corners(&self) -> [Point; 2] {
        [self.axes.each_ref().map(|axis| axis[0]), self.axes.each_ref().map(|a| a[a.len() - 1])]
    }

    /// A weighted sum over the eight corners, or the cell's value.
    fn in_frame(&self, frame: usize, p: Point) -> Point {
        let value = |node: usize| [0, 1, 2].map(|d| self.values[frame][3 * node + d]);
        let axes = self.axes.each_ref().map(|axis| &axis[..]);
        if self.placement == Placement::Cells {
            let cell = |d: usize, rest: usize| {
                oracle::locate(axes[d], p[d]).0 + (axes[d].len() - 1).max(1) * rest
            };
            return value(cell(0, cell(1, cell(2, 0))));
        }
        let mut sum = [0.0; 3];
        oracle::corners(axes, p, |node, weight| {
            let v = value(node);
            (0..3).for_each(|d| sum[d] += weight * v[d]);
        });
        sum
    }
}

/// The final state of a particle of a run.
pub fn final_state(run: &Run, i: usize) -> FinalState {
    FinalState {
        image: run.image[i],
        status: run.status[i],
        end_time: run.end_time[i],
        ..FinalState::waiting(run.last()[i])
    }
}
