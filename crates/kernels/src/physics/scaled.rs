//! The factors by which particles scale the second velocity of a field.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod scaled {
    use crate::physics::tables::{FACTOR_COUNT, FACTORS_AT, FIRST_SLOT};

    /// The factor of the particle in a slot of the run.
    pub(crate) fn factor<F: Float>(launch: &Launch<F>, slot: u32) -> F {
        let row = slot as i32 - launch.int(FIRST_SLOT);
        let last = launch.int(FACTOR_COUNT) - 1;
        // One factor is that of all particles.
        let row = select(row > last, last, row);
        launch.float((launch.int(FACTORS_AT) + row) as usize)
    }
}
