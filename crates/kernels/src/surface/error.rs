//! Errors of triangles that do not bound a body.

/// Why triangles do not form a closed surface.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError {
    /// There are no triangles.
    #[error("there are no triangles; a closed surface needs at least four")]
    Empty,

    /// A triangle refers to a point that does not exist.
    #[error(
        "triangle {triangle} refers to point {point}, but there are {points} points, numbered from 0"
    )]
    NoPoint {
        /// Index of the triangle, from 0.
        triangle: usize,
        /// Index of the point.
        point: usize,
        /// Number of points.
        points: usize,
    },

    /// Coordinates are not finite.
    #[error(
        "triangle {triangle} has a corner that is not finite (or beyond 1e17), as do {others} others; \
         remove these triangles"
    )]
    NotFinite {
        /// The first such triangle.
        triangle: usize,
        /// Number of further ones.
        others: usize,
    },

    /// Triangles have collinear corners.
    #[error(
        "triangle {triangle}, at {position:?}, has no area, and {others} others have none; remove such \
         triangles with the program that created the surface (`Clean`, `Repair`)"
    )]
    NoArea {
        /// The first such triangle.
        triangle: usize,
        /// One of its corners.
        position: [f64; 3],
        /// Number of further ones.
        others: usize,
    },

    /// Edges belong to only one triangle.
    #[error(
        "the surface is not closed: {count} edges belong to only one triangle, the first of them \
         from {from:?} to {to:?}; close its holes, and merge nearly coincident points"
    )]
    Open {
        /// Number of such edges.
        count: usize,
        /// Start of the first one.
        from: [f64; 3],
        /// End of the first one.
        to: [f64; 3],
    },

    /// Edges belong to more than two triangles.
    #[error(
        "{count} edges belong to more than two triangles, the first of them from {from:?} to \
         {to:?}; give bodies that touch each other as separate obstacles, and remove walls within a body"
    )]
    Crowded {
        /// Number of such edges.
        count: usize,
        /// Start of the first one.
        from: [f64; 3],
        /// End of the first one.
        to: [f64; 3],
    },

    /// The surface is one-sided.
    #[error(
        "the surface is one-sided: the orientation of its triangles flips at {position:?}; give a \
         surface with an inside"
    )]
    OneSided {
        /// Where the orientations conflict.
        position: [f64; 3],
    },

    /// More triangles than can be indexed.
    #[error("{triangles} triangles are too many for 32-bit indices; use fewer")]
    TooMany {
        /// Number of triangles.
        triangles: usize,
    },
}
