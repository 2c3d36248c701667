//! Seeds on a regular grid in a box.

use super::{Seeds, check_finite};
use crate::field::AXES;
use crate::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Placement of seeds in the cells of a box.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GridPlacement {
    /// At the corners: the outermost seeds are on the faces of the box. An axis with one seed has
    /// it in the middle.
    Corners,
    /// At the centres: the outermost seeds are half a cell inside the box.
    #[default]
    Centres,
}

impl GridPlacement {
    /// Relative position of seed `i` of `count` along an axis, from 0 to 1.
    fn fraction(self, i: usize, count: usize) -> f64 {
        match self {
            GridPlacement::Corners if count > 1 => i as f64 / (count - 1) as f64,
            _ => (i as f64 + 0.5) / count as f64,
        }
    }
}

impl Seeds {
    /// A grid of `counts[0] x counts[1] x counts[2]` seeds in a box, x varying fastest.
    ///
    /// A flat axis has one seed.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if the box is not finite or its corners are swapped, if a count is 0 or the
    /// total too large, or if a flat axis has more than one seed.
    pub fn grid(
        low: [f64; 3],
        high: [f64; 3],
        counts: [usize; 3],
        points: GridPlacement,
    ) -> Result<Self> {
        check_box(low, high)?;
        if let Some(d) = (0..3).find(|&d| counts[d] > 1 && low[d] == high[d]) {
            return Err(Error::Seeds(format!(
                "the box is flat along {} at {}, where {} seeds would coincide; give 1",
                AXES[d], low[d], counts[d]
            )));
        }
        let [nx, ny, nz] = counts;
        let count = nx.saturating_mul(ny).saturating_mul(nz);
        Seeds::generate(count, |i| {
            let index = [i % nx, i / nx % ny, i / nx / ny];
            let fraction = std::array::from_fn(|d| points.fraction(index[d], counts[d]));
            within(low, high, fraction)
        })
    }
}

/// Checks that a box is finite and its corners are in order.
pub(super) fn check_box(low: [f64; 3], high: [f64; 3]) -> Result<()> {
    check_finite("the box's low corner", &low)?;
    check_finite("the box's high corner", &high)?;
    for d in 0..3 {
        // The extent of a box can overflow.
        if low[d] > high[d] || !(high[d] - low[d]).is_finite() {
            return Err(Error::Seeds(format!(
                "the box extends from {} to {} along {}; give finite coordinates, the lower one \
                 first",
                low[d], high[d], AXES[d]
            )));
        }
    }
    Ok(())
}

/// A point of a box at fractions of its sides; exact at 0, at 1 and on flat axes.
pub(super) fn within(low: [f64; 3], high: [f64; 3], fraction: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|d| {
        if fraction[d] == 1.0 {
            high[d]
        } else {
            (low[d] + (high[d] - low[d]) * fraction[d]).min(high[d])
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::message;
    use super::*;

    #[test]
    fn corners_are_on_the_faces_and_x_varies_fastest() {
        let (low, high) = ([0.1, -1.0, 2.0], [0.7, 1.0, 2.0]);
        let seeds = Seeds::grid(low, high, [4, 3, 1], GridPlacement::Corners).unwrap();
        let p = seeds.positions();
        assert_eq!(p.len(), 12);
        assert_eq!((p[0], p[11]), (low, high));
        assert_eq!((p[3][0], p[3][1]), (0.7, -1.0));
        assert_eq!((p[4][0], p[4][1]), (0.1, 0.0));
        assert!((p[1][0] - 0.3).abs() < 1e-15);
        assert!(p.iter().all(|p| p[2] == 2.0));
    }

    #[test]
    fn centres_are_half_a_cell_inside() {
        let seeds =
            Seeds::grid([0.0; 3], [4.0, 2.0, 1.0], [4, 2, 2], GridPlacement::Centres).unwrap();
        let p = seeds.positions();
        assert_eq!(p[0], [0.5, 0.5, 0.25]);
        assert_eq!(p[15], [3.5, 1.5, 0.75]);
    }

    #[test]
    fn single_seed_is_in_the_middle() {
        for points in [GridPlacement::Corners, GridPlacement::Centres] {
            let seeds = Seeds::grid([0.0; 3], [4.0, 2.0, 0.0], [1, 1, 1], points).unwrap();
            assert_eq!(seeds.positions(), [[2.0, 1.0, 0.0]]);
        }
    }

    #[test]
    fn errors_name_the_given_values() {
        let grid =
            |low, high, counts| message(Seeds::grid(low, high, counts, GridPlacement::Centres));
        assert!(grid([0.0; 3], [1.0, f64::INFINITY, 1.0], [2; 3]).contains("inf"));
        assert!(grid([0.0; 3], [1.0, -1.0, 1.0], [2; 3]).contains("from 0 to -1 along y"));
        assert!(grid([0.0; 3], [1.0, 1.0, 0.0], [2; 3]).contains("flat along z at 0"));
        assert!(grid([0.0; 3], [1.0; 3], [2, 0, 2]).contains("none"));
        assert!(grid([0.0; 3], [1.0; 3], [usize::MAX; 3]).contains("too many"));
    }
}
