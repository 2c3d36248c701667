//! The data to plot.

/// Trajectories of the particles of a run, or of a selection.
///
/// Arrays are `[saves, particles]`, row by row: the value of particle `i` at save `s` has the index
/// `s * particles.len() + i`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectories {
    /// Times of the saves, in units of `time_unit`: all increasing or all decreasing.
    pub times: Vec<f64>,
    /// Numbers of the particles (their slots in the run's tracks), one per column.
    pub particles: Vec<u32>,
    /// Positions, in units of `length_unit`; NaN where there is no particle.
    pub position: Vec<[f64; 3]>,
    /// Whether a line connects the position at the previous save with this one: false at the first
    /// save, after a jump through a periodic face, where a new particle instance has taken the
    /// slot, before the release, and after the end.
    pub joined: Vec<bool>,
    /// Whether the particle is active (released and not ended).
    pub active: Vec<bool>,
    /// Attributes to colour the trajectories by; the first is the default.
    pub attributes: Vec<Attribute>,
    /// The domain box: low and high corner. A picture shows all of it.
    pub domain: [[f64; 3]; 2],
    /// The unit of length; empty if unknown.
    pub length_unit: String,
    /// The unit of time; empty if unknown.
    pub time_unit: String,
    /// Number of particles and number of saves of the whole run, of which this may be a selection.
    pub run_size: [usize; 2],
}

/// A value for each position of [`Trajectories`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attribute {
    /// Its name: `speed`, `age`, `time`, `seed`.
    pub name: String,
    /// Its unit; empty if unknown or dimensionless.
    pub unit: String,
    /// Values, in the order of the positions; NaN where undefined.
    pub values: Vec<f32>,
}

/// An axis of a plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Its name: `x`, `time`.
    pub name: String,
    /// Its unit; empty if unknown.
    pub unit: String,
    /// The minimum and the maximum of the axis.
    pub range: [f64; 2],
}

/// A field on a regular lattice in a plane, e.g. a slice of a density or an FTLE field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Raster {
    /// The horizontal and the vertical axis. Ranges extend from the first *sample*, at the low end,
    /// to the last one, at the high end.
    pub axes: [Axis; 2],
    /// Number of samples along each axis.
    pub counts: [usize; 2],
    /// Values, the horizontal axis fastest; NaN where undefined.
    pub values: Vec<f32>,
    /// The name of the quantity: `density`, `FTLE`.
    pub name: String,
    /// The unit of the values; empty if unknown.
    pub unit: String,
    /// The title of the plot, e.g. `density at t = 10, z = 0.5`.
    pub title: String,
}

/// A histogram of one or several series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// The binned quantity, e.g. `residence time`; its range is from the first edge to the last.
    pub axis: Axis,
    /// Edges of the bins, increasing: one more than bins.
    pub edges: Vec<f64>,
    /// The name of each series and its counts, e.g. one series for each cause of ending; stacked.
    pub series: Vec<(String, Vec<u64>)>,
    /// The title of the plot.
    pub title: String,
}

/// Line plots of one quantity against another, e.g. the number of active particles over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// The horizontal and the vertical axis. Where both ends of a range are equal, the range of the
    /// points is used.
    pub axes: [Axis; 2],
    /// Whether each axis is logarithmic; points at or below 0 on a logarithmic axis are omitted.
    pub log: [bool; 2],
    /// The name of each curve and its points; a NaN coordinate makes a gap.
    pub series: Vec<(String, Vec<[f64; 2]>)>,
    /// Bands around curves, such as confidence bands: the index of a curve, and points with a horizontal
    /// coordinate, the lower and the upper limit. They are drawn as thin lines in the colour of the curve.
    pub bands: Vec<(usize, Vec<[f64; 3]>)>,
    /// The title of the plot.
    pub title: String,
}
