//! The part of space that a mesh fills: what is known of a particle's cell.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod region {
    use crate::physics::vector::both::largest;

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
        /// The boundary face that a walk without success has reached: eight times its cell plus its local number; -1 if
        /// there is none.
        pub face: i32,
    }

    /// The next point of a path at which to look for the mesh, in a search for the point where it leaves.
    pub(crate) struct Probe<F: Float> {
        /// Its fraction of the path.
        pub part: F,
        /// Whether the last point inside and the first one outside are both on the boundary, within rounding.
        pub is_closed: bool,
    }

    /// Where a path that starts in the mesh meets a boundary face, if that is known without a search along the path.
    pub(crate) struct Meeting<F: Float> {
        pub is_known: bool,
        /// Fractions of the path: on the face, and just behind it, where there is no cell.
        pub reached: F,
        pub beyond: F,
        /// The cell in which it meets the face.
        pub cell: i32,
    }

    /// A meeting that is not known.
    #[inline(always)]
    pub(crate) fn no_meeting<F: Float>() -> Meeting<F> {
        let zero = F::new(0.0_f32);
        Meeting::<F> { is_known: false, reached: zero, beyond: zero, cell: 0i32 }
    }

    /// The middle between a fraction inside the mesh and one outside.
    #[inline(always)]
    pub(crate) fn bisection<F: Float>(reached: F, beyond: F) -> Probe<F> {
        Probe::<F> { part: F::new(0.5_f32) * (reached + beyond), is_closed: false }
    }

    /// A face on the boundary of a mesh.
    pub(crate) struct Edge<F: Float> {
        /// Eight times its cell plus its local number; -1 without a cell.
        pub face: i32,
        /// A vector from the face into its cell, normal to the face; its length is twice the
        /// tolerance of the face. Zero if it is not known.
        pub inward: Vec3<F>,
    }

    /// A boundary face near a position, if it is curved.
    pub(crate) struct Surface<F: Float> {
        /// Whether it is one, and not a plane face, and whether the position is in its cell or not far from it.
        pub is_curved: bool,
        pub is_near: bool,
        /// How much deeper the position is in the cell than particles that have met the face are placed: by twice the
        /// tolerance of the face.
        pub depth: F,
        pub tolerance: F,
        /// The gradient of the depth.
        pub gradient: Vec3<F>,
    }

    /// A face that is plane.
    #[inline(always)]
    pub(crate) fn no_surface<F: Float>() -> Surface<F> {
        let zero = F::new(0.0_f32);
        Surface::<F> {
            is_curved: false,
            is_near: false,
            depth: zero,
            tolerance: zero,
            gradient: Vec3::<F>::new(zero),
        }
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

    /// Whether a search between two fractions of a path can continue. It stops where positions differ by rounding
    /// only, which bounds the number of rounds.
    #[inline(always)]
    pub(crate) fn is_between<F: Float>(part: F, reached: F, beyond: F, shortest: F) -> bool {
        part > reached && part < beyond && beyond - reached > shortest
    }

    /// The fraction of a path that is no longer than the rounding of positions on it; not a number for one of no length.
    pub(crate) fn shortest_part<F: Float>(from: Vec3<F>, to: Vec3<F>) -> F {
        rounding::<F>() * max(largest::<F>(from), largest::<F>(to)) / largest::<F>(to - from)
    }
}
