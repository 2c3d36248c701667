//! The content of a page.

use super::precision::Precision;
use crate::{Histogram, Raster, Trajectories};

/// The content of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The title of the run; any text.
    pub title: String,
    /// The tracks. The page shows how many of the particles and saves of the run they contain
    /// ([`Trajectories::run_size`]).
    pub trajectories: Trajectories,
    /// The statuses of the particles, if known in more detail than [`Trajectories::active`].
    pub statuses: Option<Statuses>,
    /// The sources of the particles, to select them by; none, or at least two.
    pub sources: Option<Sources>,
    /// The number of bits of positions and values, which [`Page::fit`] may lower.
    pub precision: Precision,
    /// Slices through the box, which can be switched on.
    pub slices: Vec<Slice>,
    /// Tables beside the picture.
    pub sections: Vec<Section>,
    /// Charts below the tables.
    pub histograms: Vec<Histogram>,
    /// After how many seconds the browser loads the file again, which a program writes while a run goes on; never if `None`.
    pub reload: Option<f64>,
}

/// The status of each particle at each save.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statuses {
    /// The names of the codes: code `c` is `names[c]`, e.g. `active`, `exited x-low`; at most 256.
    pub names: Vec<String>,
    /// A code for each position, in the order of [`Trajectories::position`].
    pub codes: Vec<u8>,
}

/// The source of each particle, such as a block of seeds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    /// The names of the sources.
    pub names: Vec<String>,
    /// For each of [`Trajectories::particles`], the index of its source.
    pub codes: Vec<u16>,
}

/// A raster in a plane across the box.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slice {
    /// The values. Its axes are the axes of the box without the normal one, in their order: x and y
    /// of a plane across z, x and z of one across y, y and z of one across x; in the length unit of
    /// the trajectories.
    pub raster: Raster,
    /// The axis across the plane: 0, 1 or 2 for x, y or z.
    pub normal_axis: usize,
    /// The position of the plane on that axis.
    pub position: f64,
    /// The time of the values, in the order of the saves, then the values at later times, as many each. With
    /// times, the page shows the last values up to its time; without, always those of the raster.
    pub times: Vec<f64>,
    /// The values at the times after the first one.
    pub later: Vec<Vec<f32>>,
}

impl Slice {
    /// The values at all times, one after the other.
    pub(super) fn all_values(&self) -> Vec<f32> {
        self.raster.values.iter().chain(self.later.iter().flatten()).copied().collect()
    }
}

/// A table with a heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// Names and values, as text.
    pub rows: Vec<(String, String)>,
}
