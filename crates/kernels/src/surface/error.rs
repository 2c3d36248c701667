//! What is wrong with triangles that bound no body.

/// Why triangles are no closed surface.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError {
    /// There are no triangles.
    #[error("there are no triangles; a closed surface has four at least")]
    Empty,

    /// A triangle names a point that is not there.
    #[error("triangle {triangle} has point {point}, and there are {points}, numbered from 0")]
    NoPoint {
        /// The number of the triangle, from 0.
        triangle: usize,
        /// The point that it names.
        point: usize,
        /// How many points there are.
        points: usize,
    },

    /// Coordinates are no finite numbers.
    #[error("a corner of triangle {triangle} is not finite, nor are those of {others} others")]
    NotFinite {
        /// The first such triangle.
        triangle: usize,
        /// How many others there are.
        others: usize,
    },

    /// Triangles have corners apart from each other that lie on a line.
    #[error(
        "triangle {triangle}, at {place:?}, has no area, nor do {others} others; remove such \
         triangles with the program that made the surface (`Clean`, `Repair`)"
    )]
    NoArea {
        /// The first such triangle.
        triangle: usize,
        /// One of its corners.
        place: [f64; 3],
        /// How many others there are.
        others: usize,
    },

    /// Edges have no triangle on their other side.
    #[error(
        "it is not closed: {count} edges have one triangle only, the first one from {from:?} to \
         {to:?}; close its holes, and merge points that are nearly the same"
    )]
    Open {
        /// How many edges.
        count: usize,
        /// Where the first one begins.
        from: [f64; 3],
        /// Where it ends.
        to: [f64; 3],
    },

    /// Edges have more than two triangles.
    #[error(
        "{count} edges have more than two triangles, the first one from {from:?} to {to:?}; give \
         bodies that touch each other as obstacles of their own, and remove walls within a body"
    )]
    Crowded {
        /// How many edges.
        count: usize,
        /// Where the first one begins.
        from: [f64; 3],
        /// Where it ends.
        to: [f64; 3],
    },

    /// A surface with one side.
    #[error("at {place:?} its triangles turn over on the way around it: it has no inside")]
    OneSided {
        /// Where that was found.
        place: [f64; 3],
    },

    /// More triangles than can be numbered.
    #[error("{triangles} triangles are too many for the numbers that find them; use fewer")]
    TooMany {
        /// How many there are.
        triangles: usize,
    },
}
