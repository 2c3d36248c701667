//! Which triangles can be the nearest one for some point of a box.
//!
//! The points that are nearer to `t` than to `q` lie on one side of a plane, and this side meets a box only
//! if it has one of the box's corners. So if no corner of a box is nearer to a triangle than to `q`, a point of
//! the surface, then the triangle is not the nearest one anywhere in the box. `q` is a *rival*: the more of them, the
//! fewer triangles are left.

use super::facet::{Facet, larger};

/// Corners of a box.
pub(super) const CORNERS: usize = 8;
/// On which side of the centre each corner is.
const SIGNS: [[f64; 3]; CORNERS] = {
    let mut signs = [[-1.0; 3]; CORNERS];
    let mut i = 0;
    while i < 3 * CORNERS {
        if (i / 3) >> (i % 3) & 1 == 1 {
            signs[i / 3][i % 3] = 1.0;
        }
        i += 1;
    }
    signs
};
/// The points of the surface nearest to the corners, and to the centre.
const RIVALS: usize = CORNERS + 1;
/// Relative enlargement of squared distances: (a + b)^2 <= (1 + s) a^2 + (1 + 1 / s) b^2.
const SLACK: f64 = 1e-9;

/// Coordinates of corners, by axis.
type Coordinates = [[f64; CORNERS]; 3];

/// A box, and rivals of the triangles around it.
pub(super) struct Rivals {
    centre: [f64; 3],
    half: f64,
    corners: Coordinates,
    /// For each rival, the squared distances of the corners, rounded up.
    bounds: [[f64; CORNERS]; RIVALS],
}

/// The corners of a box around a centre.
pub(super) fn corners(centre: &[f64; 3], half: f64) -> [[f64; 3]; CORNERS] {
    SIGNS.map(|signs| [0, 1, 2].map(|d| centre[d] + half * signs[d]))
}

impl Rivals {
    /// `error` bounds the distance of each rival from the surface.
    pub fn new(
        (centre, half): ([f64; 3], f64),
        rivals: impl IntoIterator<Item = [f64; 3]>,
        error: f64,
    ) -> Self {
        let mut corners = [[0.0; CORNERS]; 3];
        for d in 0..3 {
            for i in 0..CORNERS {
                corners[d][i] = centre[d] + half * SIGNS[i][d];
            }
        }
        let mut bounds = [[f64::INFINITY; CORNERS]; RIVALS];
        for (bounds, rival) in bounds.iter_mut().zip(rivals) {
            for (i, bound) in bounds.iter_mut().enumerate() {
                let off = [0, 1, 2].map(|d| corners[d][i] - rival[d]);
                let square = off[0] * off[0] + off[1] * off[1] + off[2] * off[2];
                *bound = square * (1.0 + SLACK) + error * error * (1.0 + 1.0 / SLACK);
            }
        }
        Rivals { centre, half, corners, bounds }
    }

    /// Whether a triangle in a box can be the nearest one.
    pub fn admit_box(&self, low: &[f64; 3], high: &[f64; 3]) -> bool {
        let mut squares = [0.0; CORNERS];
        for (d, corners) in self.corners.iter().enumerate() {
            for i in 0..CORNERS {
                let beyond = larger(larger(low[d] - corners[i], corners[i] - high[d]), 0.0);
                squares[i] += beyond * beyond;
            }
        }
        self.bounds.iter().all(|bounds| is_any_within(&squares, bounds))
    }

    /// Whether a triangle can be the nearest one.
    pub fn admit_facet(&self, facet: &Facet) -> bool {
        let [x, y, z] = self.local(facet);
        let [mut least, mut most] = [[0.0; CORNERS]; 2];
        for i in 0..CORNERS {
            least[i] = facet.at_least(x[i], y[i], z[i]);
            most[i] = facet.at_most(x[i], y[i], z[i]);
        }
        self.bounds.iter().all(|bounds| {
            if is_any_within(&most, bounds) {
                return true;
            }
            for i in 0..CORNERS {
                if least[i] <= bounds[i] && least[i] < most[i] {
                    most[i] = facet.squared_distance_of(x[i], y[i], z[i]);
                    least[i] = most[i];
                }
            }
            is_any_within(&most, bounds)
        })
    }

    /// The corners in the frame of a triangle.
    fn local(&self, facet: &Facet) -> Coordinates {
        let centre = facet.local(&self.centre);
        let up = facet.up();
        let axes = [&facet.along, &up, &facet.normal];
        let mut local = [[0.0; CORNERS]; 3];
        for d in 0..3 {
            let [x, y, z] = axes[d].map(|x| x * self.half);
            for i in 0..CORNERS {
                let signs = SIGNS[i];
                local[d][i] = centre[d] + signs[0] * x + signs[1] * y + signs[2] * z;
            }
        }
        local
    }
}

fn is_any_within(squares: &[f64; CORNERS], bounds: &[f64; CORNERS]) -> bool {
    let mut any = false;
    for i in 0..CORNERS {
        any |= squares[i] <= bounds[i];
    }
    any
}
