//! What pictures are made of.

/// Ways of particles, all of a run or some of them.
///
/// Rows are saves, columns are particles: the value of particle `i` at save `s` is at
/// `s * particles.len() + i`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectories {
    /// Times of the saves.
    pub times: Vec<f64>,
    /// Numbers of the particles (their slots in the run's tracks), one for each column.
    pub particles: Vec<u32>,
    /// Positions; NaN where there is no particle.
    pub position: Vec<[f32; 3]>,
    /// Whether a line leads from the save before to this one: false at the first save, after a jump
    /// through a periodic face, where another particle has taken the slot, before the release, and
    /// after the end.
    pub joined: Vec<bool>,
    /// Whether the particle is on its way (released, and not ended).
    pub active: Vec<bool>,
    /// By what the ways may be coloured; the first one is what is shown unless another is asked for.
    pub attributes: Vec<Attribute>,
    /// The box in which the particles may be: low and high corner. A picture shows all of it.
    pub domain: [[f64; 3]; 2],
    /// The unit of length, empty where it is not known.
    pub length_unit: String,
    /// The unit of time, empty where it is not known.
    pub time_unit: String,
    /// How many particles the run has, and how many saves; what is not in here was left out.
    pub of: [usize; 2],
}

/// A number for each position of [`Ways`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attribute {
    /// Its name: `speed`, `age`, `time`, `seed`.
    pub name: String,
    /// Its unit, empty where it is not known or there is none.
    pub unit: String,
    /// Values, in the order of the positions; NaN where there is none.
    pub values: Vec<f32>,
}

/// An axis of a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Its name: `x`, `time`.
    pub name: String,
    /// Its unit, empty where it is not known.
    pub unit: String,
    /// The least and the greatest value on it.
    pub range: [f64; 2],
}

/// A field on a regular lattice in a plane: a slice of a density, an FTLE.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Raster {
    /// The horizontal and the vertical axis. Their ranges are those of the *samples*: the first
    /// sample lies at the low end, the last one at the high end.
    pub axes: [Axis; 2],
    /// Samples along each axis.
    pub counts: [usize; 2],
    /// Values, the horizontal axis fastest; NaN where there is none.
    pub values: Vec<f32>,
    /// What the values are: `density`, `FTLE`.
    pub name: String,
    /// Their unit, empty where it is not known.
    pub unit: String,
    /// What the picture is called, e.g. `density at t = 10, z = 0.5`.
    pub title: String,
}

/// How often which values came about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// What is counted, e.g. `residence time`; its range goes from the first edge to the last.
    pub axis: Axis,
    /// Edges of the bins, one more than bins.
    pub edges: Vec<f64>,
    /// Counts with their names, e.g. one for each way to end; stacked.
    pub series: Vec<(String, Vec<u64>)>,
    /// What the picture is called.
    pub title: String,
}

/// Numbers over time, or over something else: how many particles are on their way, how far they have
/// spread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// The horizontal and the vertical axis. A range whose ends are equal stands for that of the
    /// points.
    pub axes: [Axis; 2],
    /// Whether each axis is logarithmic; points that are not above 0 on such an axis are left out.
    pub log: [bool; 2],
    /// Points with the name of their curve; a curve has a gap where a number is NaN.
    pub series: Vec<(String, Vec<[f64; 2]>)>,
    /// What the picture is called.
    pub title: String,
}
