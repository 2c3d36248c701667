//! The part of space that a mesh fills: what is known of a particle's cell.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod region {
    /// The last known cells of a particle. Cell numbers are incremented by one; 0 means none.
    pub(crate) struct CellHint<F: Float> {
        /// The cell of the last sample.
        pub cell: i32,
        /// The cell in which the step started, or of its first sample in the mesh, and the position
        /// there.
        pub base: i32,
        pub from: Vec3<F>,
        /// Whether a sample of this step was in no cell, or in a cell that no walk reached.
        pub walk_failed: bool,
    }

    /// Result of a search for the cell of a position.
    pub(crate) struct FoundCell {
        pub is_found: bool,
        /// The cell, incremented by one.
        pub cell: i32,
    }

    /// A face on the boundary of a mesh.
    pub(crate) struct Edge<F: Float> {
        /// Eight times its cell plus its local number; -1 without a cell.
        pub face: i32,
        /// A vector from the face into its cell, normal to the face; its length is twice the
        /// tolerance of the face. Zero if it is not known.
        pub inward: Vec3<F>,
    }

    /// The hint for a particle with the cell that its record stores.
    pub(crate) fn known<F: Float>(cell: i32) -> CellHint<F> {
        CellHint::<F> {
            cell,
            base: 0i32,
            from: Vec3::<F>::new(F::new(0.0_f32)),
            walk_failed: false,
        }
    }

    /// Restores the hint of the start of the step.
    pub(crate) fn restore<F: Float>(hint: &mut CellHint<F>) {
        hint.cell = hint.base;
        hint.walk_failed = false;
    }

    /// Whether bisection between two fractions of a path can continue. It stops at the square of
    /// machine epsilon, which bounds the number of rounds even for a path of no length.
    #[inline(always)]
    pub(crate) fn is_between<F: Float>(part: F, reached: F, beyond: F) -> bool {
        let round = rounding::<F>();
        part > reached && part < beyond && beyond - reached > round * round
    }
}
