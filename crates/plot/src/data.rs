//! The data to plot.

use crate::{land::Land, picture::shared::clipped};

/// Trajectories of the particles of a run, or of a selection.
///
/// Arrays are `[saves, particles]`, row by row: the value of particle `i` at save `s` has the index
/// `s * particles.len() + i`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectories {
    /// Times of the saves, in units of `time_unit`: all increasing or all decreasing.
    pub times: Vec<f64>,
    /// Dates of the saves, which titles show instead of the times; empty if times have no dates.
    pub dates: Vec<String>,
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
    /// Names and units of the axes where they are not x, y and z in units of `length_unit`.
    pub axes: Option<[[String; 2]; 3]>,
    /// The unit of length; empty if unknown.
    pub length_unit: String,
    /// The unit of time; empty if unknown.
    pub time_unit: String,
    /// Number of particles and number of saves of the whole run, of which this may be a selection.
    /// Particles without a track are not counted.
    pub run_size: [usize; 2],
    /// Number of particles of the run that have no track, since they were not located.
    pub not_located: usize,
    /// Lines from a release and to an end between two saves.
    pub partial: Vec<PartialLine>,
    /// Bodies and walls.
    pub surfaces: Vec<Surface>,
    /// Lines of the boundary of a flat domain.
    pub outline: Vec<[[f64; 3]; 2]>,
    /// Land in the xy plane, at the top of the domain.
    pub land: Option<Land>,
    /// The radius in metres of the sphere of which positions are longitudes and latitudes: maps have a scale bar.
    pub radius: Option<f64>,
    /// A field behind the tracks in plane views of its axes, in pale colours. It takes the colour bar; the tracks are dark then.
    pub background: Option<Raster>,
}

impl Trajectories {
    /// Lines of the boundary of a flat domain, and of the coasts in it.
    pub(crate) fn lines(&self) -> Vec<[[f64; 3]; 2]> {
        let mut lines = self.outline.clone();
        let [[left, ..], [right, _, top]] = self.domain;
        if let Some(land) = &self.land {
            let coast = land.coast();
            for shift in land.shifts([left, right]) {
                let at = |[x, y]: [f64; 2]| [x + shift, y, top];
                lines.extend(coast.iter().filter_map(|line| clipped(line.map(at), self.domain)));
            }
        }
        lines
    }

    /// What happened in a time before the last save, without releases between two saves.
    #[must_use]
    pub fn last(mut self, time: f64) -> Trajectories {
        let Some(end) = self.times.last().copied() else { return self };
        let is_earlier = |at: &&f64| (end - **at).abs() > time * (1.0 + 1e-9);
        let saves = self.times.iter().take_while(is_earlier).count();
        let first = saves * self.particles.len();
        self.times.drain(..saves);
        self.dates.drain(..saves.min(self.dates.len()));
        self.position.drain(..first);
        self.joined.drain(..first);
        self.active.drain(..first);
        self.attributes.iter_mut().for_each(|attribute| drop(attribute.values.drain(..first)));
        self.joined.iter_mut().take(self.particles.len()).for_each(|joined| *joined = false);
        self.partial.retain(|line| line.index >= first);
        self.partial.iter_mut().for_each(|line| line.index -= first);
        self
    }

    /// The low and the high corner of the parts of the land in the domain.
    pub(crate) fn rectangles_of_land(&self) -> Vec<[[f64; 2]; 2]> {
        let [[left, south, _], [right, north, _]] = self.domain;
        let parts = |land: &Land, shift: f64| -> Vec<[[f64; 2]; 2]> {
            let within = |[x, y]: [f64; 2]| [(x + shift).clamp(left, right), y.clamp(south, north)];
            let parts = land.rectangles().map(|corners| corners.map(within));
            parts.filter(|[low, high]| low[0] < high[0] && low[1] < high[1]).collect()
        };
        let of_land = |land: &Land| -> Vec<_> {
            land.shifts([left, right]).into_iter().flat_map(|shift| parts(land, shift)).collect()
        };
        self.land.as_ref().map(of_land).unwrap_or_default()
    }
}

/// A line between the position of a particle at a save, and its release or its end between two saves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartialLine {
    /// The index of the position at the save.
    pub index: usize,
    /// The position of the release or of the end.
    pub position: [f64; 3],
    /// Whether it is the release.
    pub is_release: bool,
}

/// A surface in the domain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// The corners of its triangles.
    pub triangles: Vec<[[f64; 3]; 3]>,
    /// Whether particles are inside of it: only its far side is drawn, behind the tracks. Otherwise it is
    /// a body that hides the tracks behind it.
    pub is_wall: bool,
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
    /// Names, if values are numbers of categories: value `k` is the category `categories[k]`. Each has a colour and an entry
    /// of the legend, up to seven of them; further ones are grey.
    pub categories: Vec<String>,
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
    /// A line below the title, e.g. the method; empty for none.
    pub subtitle: String,
    /// Land, which covers the field.
    pub land: Option<Land>,
    /// The radius in metres of the sphere of which it is a map: it has a scale bar.
    pub radius: Option<f64>,
}

impl Raster {
    /// The value of the nearest sample; `None` more than half a cell beyond the outermost ones.
    pub(crate) fn nearest(&self, at: [f64; 2]) -> Option<f32> {
        let index = |i: usize| {
            let [low, high] = self.axes[i].range;
            let last = self.counts[i].checked_sub(1)?;
            let part = if high > low { (at[i] - low) / (high - low) * last as f64 } else { 0.0 };
            (-0.5..=last as f64 + 0.5).contains(&part).then(|| (part.round() as usize).min(last))
        };
        self.values.get(index(0)? + self.counts[0] * index(1)?).copied()
    }

    /// The values of the samples that are not on land.
    pub fn values_off_land(&self) -> impl Iterator<Item = f32> + Clone {
        let coordinate = |axis: usize, i: usize| {
            let fraction = i as f64 / (self.counts[axis].max(2) - 1) as f64;
            let [low, high] = self.axes[axis].range;
            low * (1.0 - fraction) + high * fraction
        };
        let columns = self.counts[0].max(1);
        let at = move |i: usize| [coordinate(0, i % columns), coordinate(1, i / columns)];
        let values = self.values.iter().copied().enumerate();
        let is_shown = move |i| self.land.as_ref().is_none_or(|land| !land.contains(at(i)));
        values.filter(move |(i, _)| is_shown(*i)).map(|(_, value)| value)
    }
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
    /// Whether the axis is logarithmic; its edges are above 0 then.
    pub log: bool,
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
    /// coordinate, the lower and the upper limit. They are drawn as areas in the colour of the curve, single points as error bars.
    pub bands: Vec<(usize, Vec<[f64; 3]>)>,
    /// The title of the plot.
    pub title: String,
}
