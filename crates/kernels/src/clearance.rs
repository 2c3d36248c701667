//! The clearance of points from obstacles, by the physics of the fused operation.

use crate::{Obstacle, cpu::paths::obstacle_clearance};

impl Obstacle {
    /// Whether a point is on the allowed side, or at most `slack` times the size of the shape's
    /// coordinates away from the surface.
    pub fn allows(&self, position: [f64; 3], slack: f64) -> bool {
        let [.., size] = self.shape.numbers();
        obstacle_clearance(self, position) >= -slack * size
    }
}
