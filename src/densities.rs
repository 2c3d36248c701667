//! Densities of a run's particles: from its store to image data and [pictures](crate::plot).
//!
//! ```no_run
//! use burntrace::analysis::density::{Axes, Bandwidth, Density, Lattice};
//! use burntrace::densities::{DensityNodes, SavedDensity, SavedParticles, Target};
//! use burntrace::plot::picture::{self, Style};
//! use burntrace::{device, io::Tracks};
//!
//! let tracks = Tracks::open("run/tracks")?;
//! let particles = SavedParticles::read(&tracks, 10, false)?;
//! let (low, high) = ([0.0; 3], [2.0, 1.0, 0.0]);
//! let nodes = DensityNodes {
//!     target: Target::Grid(Lattice { counts: [256, 128, 1], low, high }),
//!     axes: Axes::XY,
//!     is_number: false,
//!     units: tracks.units(),
//!     low,
//! };
//! let density = Density::kde(Bandwidth::Spacing).axes(Axes::XY);
//! let estimate = nodes.estimate(&density, &particles, [0.0; 3], &device::open("cpu")?)?;
//! let density = SavedDensity::of(estimate, &particles)?;
//! if let Some(raster) = nodes.raster(&density) {
//!     picture::raster(&raster, &[], &Style::default())?.write_png("density.png")?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod layer;

pub use layer::Layer;

use crate::{Placement, Precision, device::OpenDevice};
use burn::tensor::Tensor;
use burntrace_analysis::density::{Axes, Density, Estimate, Lattice, Plane, Rule};
use burntrace_case::format::{count, rounded_to_extent, six_digits, three_digits, time_range};
use burntrace_io::tracks::Units;
use burntrace_io::{Image, SavedStates, Tracks};
use burntrace_plot::{Axis, Curves, Raster};

/// Names of the axes.
pub const AXES: [&str; 3] = ["x", "y", "z"];

/// Positions of the particles of a save.
#[derive(Clone, Debug)]
pub struct SavedParticles {
    /// The save.
    pub save: usize,
    /// Its time.
    pub time: f64,
    /// Their positions, in the data's unit of length.
    pub positions: Vec<[f64; 3]>,
    /// The precision of the run.
    pub precision: Precision,
}

impl SavedParticles {
    /// Reads the active particles of a save, and with `with_ended` also the ended ones.
    ///
    /// # Errors
    ///
    /// As [`Tracks::position`].
    pub fn read(tracks: &Tracks, save: usize, with_ended: bool) -> burntrace_io::Result<Self> {
        let states = SavedStates::read(tracks, save)?;
        let slots = (0..tracks.num_particles()).map(|slot| states.state(slot));
        let selected =
            slots.filter(|state| state.is_present() && (with_ended || !state.status.has_ended()));
        Ok(SavedParticles {
            save,
            time: tracks.times()[save],
            positions: selected.map(|state| state.position).collect(),
            precision: tracks.precision(),
        })
    }

    /// The coordinate along an axis that most particles are near to, within a tenth of their standard
    /// deviation, rounded to a thousandth of an extent or less. `None` without particles.
    pub fn densest(&self, axis: usize, extent: f64) -> Option<f64> {
        let mut along: Vec<f64> = self.positions.iter().map(|position| position[axis]).collect();
        along.sort_unstable_by(f64::total_cmp);
        let count = along.len() as f64;
        let mean = along.iter().sum::<f64>() / count;
        let variance = along.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let width = 0.2 * variance.sqrt();
        let (mut best, mut end) = (None, 0);
        for start in 0..along.len() {
            while end < along.len() && along[end] - along[start] <= width {
                end += 1;
            }
            if best.is_none_or(|(most, _)| end - start > most) {
                best = Some((end - start, 0.5 * (along[start] + along[end - 1])));
            }
        }
        best.map(|(_, middle)| rounded_to_extent(middle, extent))
    }

    /// The positions as a tensor `[n, 3]`, measured from an origin, in the precision of the run.
    pub fn on(&self, origin: [f64; 3], device: &OpenDevice) -> Tensor<2> {
        device.positions(&self.positions, origin, self.precision)
    }
}

/// Where a density is evaluated.
#[derive(Clone, Debug)]
pub enum Target {
    /// At the nodes of a lattice, or in its bins.
    Grid(Lattice),
    /// At the nodes of a plane.
    Plane(Plane),
    /// At points.
    Points(Vec<[f64; 3]>),
}

/// Where densities of a run are evaluated, and what their images and pictures say of them.
#[derive(Clone, Debug)]
pub struct DensityNodes {
    /// The nodes.
    pub target: Target,
    /// The axes of the density.
    pub axes: Axes,
    /// Whether it integrates to the number of particles instead of 1.
    pub is_number: bool,
    /// The units of the run.
    pub units: Units,
    /// Low corner of the domain: the position of images along other axes.
    pub low: [f64; 3],
}

/// The density at one save.
#[derive(Clone, Debug)]
pub struct SavedDensity {
    /// The estimate.
    pub estimate: Estimate,
    /// Its values on the host.
    pub values: Vec<f64>,
    /// The save.
    pub save: usize,
    /// Its time.
    pub time: f64,
}

impl SavedDensity {
    /// Reads the values of an estimate of the density of particles from the device.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn of(
        estimate: Estimate,
        particles: &SavedParticles,
    ) -> burntrace_analysis::Result<SavedDensity> {
        let SavedParticles { save, time, .. } = *particles;
        Ok(SavedDensity { values: estimate.numbers()?, estimate, save, time })
    }

    /// The rule of the bandwidth in words: `by spacing`. `None` for methods without one, and for given lengths.
    pub fn rule(&self) -> Option<&'static str> {
        match self.estimate.rule? {
            Rule::Spacing => Some("by spacing"),
            Rule::Scott => Some("by Scott's rule"),
            Rule::Silverman => Some("by Silverman's rule"),
            Rule::Given => None,
        }
    }

    /// The number of particles and the bandwidth with its rule.
    fn subtitle(&self, unit: &str) -> String {
        let Estimate { used, bandwidth, .. } = &self.estimate;
        let plural = if *used == 1 { "" } else { "s" };
        let particles = format!("{} particle{plural}", count(*used));
        let widths = bandwidth.iter().filter(|width| **width > 0.0);
        let widths: Vec<String> = widths.map(|width| three_digits(*width).to_string()).collect();
        match widths.is_empty() {
            true => particles,
            false => {
                let width = format!("{particles}, bandwidth {} {unit}", widths.join(" × "));
                [width.trim_end(), self.rule().unwrap_or("")].join(" ").trim_end().into()
            }
        }
    }

    /// The layer along z of a lattice that has the greatest density.
    fn densest(&self, lattice: &Lattice) -> usize {
        let size = lattice.counts[0] * lattice.counts[1];
        let finite = self.values.iter().enumerate().filter(|(_, value)| value.is_finite());
        let node = finite.max_by(|(i, a), (j, b)| a.total_cmp(b).then(j.cmp(i)));
        node.map_or(0, |(node, _)| node) / size.max(1)
    }
}

impl DensityNodes {
    /// Estimates the density of particles on a device, which measures positions from an origin.
    ///
    /// # Errors
    ///
    /// As [`Density::on_grid`], [`Density::on_plane`] and [`Density::at`].
    pub fn estimate(
        &self,
        density: &Density,
        particles: &SavedParticles,
        origin: [f64; 3],
        device: &OpenDevice,
    ) -> burntrace_analysis::Result<Estimate> {
        let positions = particles.on(origin, device);
        let density = density.clone().measured_from(origin);
        let density = self.units.radius.into_iter().fold(density, Density::on_sphere);
        match &self.target {
            Target::Grid(lattice) => density.on_grid(&positions, lattice),
            Target::Plane(plane) => density.on_plane(&positions, plane),
            Target::Points(points) => {
                density.at(&positions, &device.positions(points, origin, particles.precision))
            }
        }
    }

    /// The unit of a density: the inverse of a length, an area or a volume; empty if the unit of length is
    /// unknown. On a sphere it is of kilometres.
    pub fn unit(&self) -> String {
        let length = if self.units.radius.is_some() { "km" } else { &self.units.length };
        match (length, self.axes.dimension()) {
            ("", _) => String::new(),
            (length, 1) => format!("1/{length}"),
            (length, 2) => format!("1/{length}²"),
            (length, _) => format!("1/{length}³"),
        }
    }

    /// The unit in pictures.
    fn shown_unit(&self) -> String {
        let unit = self.unit();
        if self.is_number { unit.replace("1/", "particles/") } else { unit }
    }

    /// The density as image data. `None` at points.
    pub fn image(&self, density: &SavedDensity) -> Option<Image> {
        let SavedDensity { estimate, values, time, .. } = density;
        let nodes = match &self.target {
            Target::Points(_) => return None,
            Target::Plane(plane) => of_plane(plane),
            Target::Grid(requested) => {
                self.of_lattice(estimate.lattice.as_ref().unwrap_or(requested), estimate.placement)
            }
        };
        let mut facts = vec![("TimeValue".to_string(), *time)];
        facts.extend(estimate.integral.map(|integral| ("integral".to_string(), integral)));
        let arrays = vec![("density".to_string(), values.clone())];
        Some(Image { arrays, facts, unit: self.unit(), ..nodes })
    }

    /// Image data on the nodes of a lattice, or on the centres of bins. Along an axis that is not part
    /// of the density, the image is at the low face of the domain.
    fn of_lattice(&self, lattice: &Lattice, placement: Placement) -> Image {
        let is_bins = placement == Placement::Cells;
        let spacing: [f64; 3] = std::array::from_fn(|d| {
            let (n, extent) = (lattice.counts[d] as f64, lattice.high[d] - lattice.low[d]);
            if is_bins { extent / n } else { lattice.pitch(d) }
        });
        let origin = std::array::from_fn(|d| match lattice.low[d] == lattice.high[d] {
            true if lattice.counts[d] == 1 && lattice.low[d] == 0.0 => self.low[d],
            _ => lattice.low[d] + if is_bins { 0.5 * spacing[d] } else { 0.0 },
        });
        Image { counts: lattice.counts, origin, spacing, ..Image::default() }
    }

    /// The density along one axis as a curve. `None` for other targets.
    pub fn curves(&self, density: &SavedDensity) -> Option<Curves> {
        let Target::Grid(lattice) = &self.target else { return None };
        let [d] = (0..3).filter(|&d| lattice.counts[d] > 1).collect::<Vec<_>>()[..] else {
            return None;
        };
        let nodes = self.of_lattice(lattice, density.estimate.placement);
        let coordinate = |i: usize| nodes.origin[d] + i as f64 * nodes.spacing[d];
        let points =
            density.values.iter().enumerate().map(|(i, &value)| [coordinate(i), value]).collect();
        let values = Axis { name: "density".into(), unit: self.shown_unit(), range: [0.0; 2] };
        Some(Curves {
            axes: [self.axis(d, [lattice.low[d], lattice.high[d]]), values],
            log: [false; 2],
            series: vec![(String::new(), points)],
            bands: Vec::new(),
            title: self.title(density),
        })
    }

    /// The density on the plane, or on the layer of a 3D grid with the greatest density. `None` along a line and
    /// at points.
    pub fn raster(&self, density: &SavedDensity) -> Option<Raster> {
        let (raster, position) = match &self.target {
            Target::Points(_) => return None,
            Target::Plane(plane) => (self.on_plane(plane, &density.values), " on a plane".into()),
            Target::Grid(lattice) => {
                let nodes = self.of_lattice(lattice, density.estimate.placement);
                let chosen = density.densest(lattice);
                let layer = Layer::of(&nodes, &density.values, chosen, &self.units)?;
                let is_3d = !layer.position.is_empty();
                (layer.raster, if is_3d { layer.position } else { self.slice(lattice) })
            }
        };
        Some(Raster {
            name: "density".into(),
            unit: self.shown_unit(),
            title: self.title(density) + &position,
            subtitle: density.subtitle(&self.units.length),
            ..raster
        })
    }

    fn on_plane(&self, plane: &Plane, values: &[f64]) -> Raster {
        let [u, v] = plane.edges.map(length);
        Raster {
            axes: [("along u", u), ("along v", v)].map(|(name, length)| {
                let unit = self.units.length.clone();
                Axis { name: name.into(), unit, range: [0.0, length] }
            }),
            counts: plane.counts,
            values: values.iter().map(|&value| value as f32).collect(),
            ..Raster::default()
        }
    }

    fn axis(&self, d: usize, range: [f64; 2]) -> Axis {
        layer::axis(&self.units, d, range)
    }

    fn title(&self, density: &SavedDensity) -> String {
        let origin = self.units.origin_of_seconds();
        format!("density at {}", time_range(&[density.time], &self.units.time, origin))
    }

    /// The position of a slice through a 3D density, as `, z = 0.5`.
    fn slice(&self, lattice: &Lattice) -> String {
        let normal = (0..3).find(|&d| lattice.counts[d] == 1 && self.axes.active()[d]);
        normal.map_or_else(String::new, |d| {
            let (name, at) = (AXES[d], six_digits(lattice.low[d]));
            format!(", {name} = {at} {}", self.units.length).trim_end().into()
        })
    }
}

/// Image data on the nodes of a plane. The direction matrix takes the edges as they are, even if
/// they are not orthogonal.
fn of_plane(plane: &Plane) -> Image {
    let [u, v] = plane.edges;
    let lengths = [u, v].map(length);
    let unit =
        |edge: [f64; 3], length: f64| edge.map(|x| if length > 0.0 { x / length } else { x });
    let (a, b) = (unit(u, lengths[0]), unit(v, lengths[1]));
    let normal = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let step = |n: usize, length: f64| length / (n.max(2) - 1) as f64;
    Image {
        counts: [plane.counts[0], plane.counts[1], 1],
        origin: plane.origin,
        spacing: [step(plane.counts[0], lengths[0]), step(plane.counts[1], lengths[1]), 1.0],
        directions: Some([a, b, normal]),
        ..Image::default()
    }
}

fn length(edge: [f64; 3]) -> f64 {
    edge.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_known() {
        let of = |length: &str, axes: Axes, is_number| {
            let radius = (length == "°").then_some(1.0);
            let units = Units { length: length.into(), radius, ..Units::default() };
            let target = Target::Points(Vec::new());
            DensityNodes { target, axes, is_number, units, low: [0.0; 3] }.shown_unit()
        };
        let all = ["x", "xy", "xyz"].map(|axes| axes.parse::<Axes>().unwrap());
        assert_eq!(all.map(|axes| of("m", axes, false)), ["1/m", "1/m²", "1/m³"]);
        assert_eq!(of("m", Axes::XY, true), "particles/m²");
        assert_eq!(of("", Axes::XY, true), "");
        assert_eq!(of("°", Axes::XY, true), "particles/km²");
    }
}
