//! Several fields at once: the velocities of further fields, put on the nodes of the first one when its frames are read.

mod difference;
mod nodes;
mod times;

pub use difference::Difference;

use super::{
    coast::missing,
    faces::check_kind,
    frames::{OutsideTime, TimeAxis},
    grid::check_axes,
    interface::Field,
    mesh::CellVelocity,
    options::{FieldOptions, NotFinite},
    source::{
        FrameData, FrameSource, GridSource, MeshSource, PointSource, SourceError, placed_as_source,
    },
};
use crate::{Error, Floats, Precision, Result, TimeInterpolation};
use burntrace_kernels::{Placement, Weighting};
use nodes::{Nodes, values};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// How a further field is added to the first one of a [`Sum`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Addend {
    /// Factor of its velocity, such as 0.03 for the windage of a drifter. One number for all particles.
    pub factor: f64,
    /// Whether each particle multiplies it by a [factor of its own](crate::Motion::factors), too. The velocity is then not in that of
    /// the sum but beside it, and is sampled for itself in each step. One further field can have it.
    pub per_particle: bool,
    /// Angle in degrees by which its velocity is turned to the right, clockwise seen from above. Negative to the left, as
    /// for drift in the wind on the southern hemisphere.
    pub rotate: f64,
    /// Its velocity at nodes of the first field that are outside it, or in its holes.
    pub outside: OutsideField,
    /// Whether nodes above its highest level have the velocity there, as in a sea whose levels end below the surface.
    pub extends_up: bool,
}

impl Default for Addend {
    /// The velocity as it is.
    fn default() -> Self {
        Addend {
            factor: 1.0,
            per_particle: false,
            rotate: 0.0,
            outside: OutsideField::Error,
            extends_up: false,
        }
    }
}

impl Addend {
    /// What is added of a velocity of the field.
    fn turned(&self) -> impl Fn([f64; 3]) -> [f64; 3] {
        let (factor, (sin, cos)) = (self.factor, self.rotate.to_radians().sin_cos());
        move |[u, v, w]| [cos * u + sin * v, cos * v - sin * u, w].map(|x| factor * x)
    }
}

/// The velocity of a further field at nodes of the first one that are outside it, or in its holes.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutsideField {
    /// Refuse the fields, with the number of nodes and the position of the first one.
    #[default]
    Error,
    /// Add nothing there.
    Zero,
}

/// The sum of several fields, as frames on the nodes of the first one: currents with waves and wind, for example.
///
/// The velocity of a further field is interpolated at the nodes of the first field, or at the centres of its cells, turned,
/// multiplied and added when a frame is read. So a run costs what it costs in one field, on any device and with gradients. What the
/// interpolation between the nodes of the first field loses of the others, [`differences`](Sum::differences) measures. A further
/// field with a single level is added on all levels. Where the first field has no velocity or land, nothing is added.
///
/// Times are those of the frames of all fields at which all of them are known. A frame of the first field between two of its own is
/// their linear mean, so that interpolation in time stays exact. What [`FieldOptions::outside_time`] says of the first field is said
/// of the sum. In messages, `field[0]` is the first one.
///
/// ```
/// use burntrace_core::{
///     Addend, Analytic, Domain, FieldOptions, Flow, Formula, GridField, Precision, Sum,
/// };
/// use burn::tensor::Device;
///
/// # fn main() -> Result<(), burntrace_core::Error> {
/// # let device = Device::flex();
/// let domain = Domain::new([0.0; 3], [2.0, 1.0, 0.0])?;
/// let gyre = Flow::named("double-gyre").expect("a built-in flow");
/// let currents = Analytic::sample(gyre, domain, [65, 33, 1], vec![0.0])?;
/// let wind = Flow::Formula(Formula::parse(["10", "x", "0"], &[])?);
/// let wind = Analytic::new(wind, &Device::flex(), Precision::F64);
///
/// let options = FieldOptions::default();
/// let windage = Addend { factor: 0.03, rotate: 15.0, ..Addend::default() };
/// let mut sum = Sum::on_grid(currents, &options)?.with(Box::new(wind), windage)?;
/// assert!(sum.differences()?[0].velocity < 1e-12); // linear functions lose nothing
/// let field = GridField::load(&mut sum, &device, &options)?;
/// # Ok(())
/// # }
/// ```
pub struct Sum<S> {
    source: S,
    nodes: Nodes,
    options: FieldOptions,
    /// The times of the first field, which is held before and after its frames.
    first: TimeAxis,
    others: Vec<(Box<dyn Field>, Addend)>,
    times: Vec<f64>,
    /// Frames of the first field that were read last.
    held: BTreeMap<usize, HeldFrame>,
}

type HeldFrame = std::result::Result<Arc<FrameData>, Arc<dyn std::error::Error + Send + Sync>>;
type Read = std::result::Result<FrameData, SourceError>;

impl<S: GridSource> Sum<S> {
    /// A sum with one field on a grid, which is loaded with these options.
    ///
    /// # Errors
    ///
    /// [`Error::Sum`] for a source without velocities, and as [`GridField::load`](crate::GridField::load) for axes and times that do
    /// not increase.
    pub fn on_grid(source: S, options: &FieldOptions) -> Result<Self> {
        check_axes(source.axes())?;
        let nodes = Nodes::Grid(source.axes().clone(), source.placement());
        Sum::new(source, nodes, options)
    }
}

impl<S: MeshSource> Sum<S> {
    /// A sum with one field on a mesh; see [`on_grid`](Sum::on_grid).
    ///
    /// # Errors
    ///
    /// As [`on_grid`](Sum::on_grid), and [`Error::Mesh`] for cells that are not valid.
    pub fn on_mesh(source: S, options: &FieldOptions, in_cells: CellVelocity) -> Result<Self> {
        // Checks the cells.
        source.cells().flat_axis(source.points())?;
        let (points, cells) = (source.points().to_vec(), source.cells().clone());
        if source.placement() == Placement::Faces {
            cells.kinds.iter().enumerate().try_for_each(|(cell, kind)| check_kind(cell, *kind))?;
        }
        let of_cells = (in_cells, options.radius.is_some());
        let nodes = Nodes::mesh((points, cells), source.placement(), of_cells);
        Sum::new(source, nodes, options)
    }
}

impl<S: PointSource> Sum<S> {
    /// A sum with one field on scattered points; see [`on_grid`](Sum::on_grid).
    ///
    /// # Errors
    ///
    /// As [`on_grid`](Sum::on_grid).
    pub fn on_points(source: S, options: &FieldOptions, weighting: Weighting) -> Result<Self> {
        let nodes = Nodes::Points(source.positions().to_vec(), weighting);
        Sum::new(source, nodes, options)
    }
}

impl<S: FrameSource> Sum<S> {
    fn new(source: S, nodes: Nodes, options: &FieldOptions) -> Result<Self> {
        if !source.has_velocity() {
            return Err(Error::Sum(
                "the first field has no velocity; give a source with one".into(),
            ));
        }
        let times = source.times().to_vec();
        let first = TimeAxis::new(times.clone(), OutsideTime::Hold, TimeInterpolation::Linear)?;
        let (others, held) = (Vec::new(), BTreeMap::new());
        Ok(Sum { source, nodes, options: *options, first, others, times, held })
    }

    /// Adds a field, best one on a CPU and in double precision. A field without frames, a formula or one of your own, is
    /// evaluated at the times of the frames of the others: if it changes between them, give it frames
    /// ([`Analytic::sample`](crate::Analytic::sample)).
    ///
    /// # Errors
    ///
    /// [`Error::Sum`] for a factor or an angle that is not finite, a field without velocities, one of positions in degrees beside one of lengths,
    /// a second field with a factor for each particle, and for times or rules of interpolation in time that do not fit those of the fields before.
    pub fn with(mut self, field: Box<dyn Field>, addend: Addend) -> Result<Self> {
        let fail =
            |text: String| Err(Error::Sum(format!("field[{}]: {text}", self.others.len() + 1)));
        let Addend { factor, rotate, .. } = addend;
        if !(factor.is_finite() && rotate.is_finite()) {
            return fail(format!(
                "its factor is {factor}, and it is turned by {rotate} degrees; give finite numbers"
            ));
        }
        if addend.per_particle && self.has_scaled_velocity() {
            return fail(
                "each particle has a factor of another field, too; give one of them a factor that is the same for all \
                 particles"
                    .into(),
            );
        }
        if let (Some(sampled), Some(_)) = (field.sampled(), field.origin_view()) {
            if !sampled.lanes.has_velocity {
                return fail("it has no velocity; give one that has".into());
            }
            if sampled.radius().is_some() != self.options.radius.is_some() {
                return fail(
                    "positions are degrees in one of it and the first field, and lengths in the other; give both in the \
                     same coordinates (`radius`)"
                        .into(),
                );
            }
        }
        self.others.push((field, addend));
        let FieldOptions { outside_time, in_time, .. } = self.options;
        let given = TimeAxis::new(self.source.times().to_vec(), outside_time, in_time)?;
        let others = (1..).zip(&self.others);
        let others = others.filter_map(|(i, (field, _))| Some((i, &field.sampled()?.time)));
        self.times = times::common(&given, others)?;
        Ok(self)
    }

    /// Frames of the first field around frames of the sum, with their weights.
    fn around(&self, frame: usize) -> [(usize, f64); 2] {
        let ([a, b], [of_a, of_b]) = self.first.weights(self.times[frame]);
        [(a, of_a), (b, of_b)]
    }

    /// Reads the frames of the first field that the sum needs and does not hold, and forgets others.
    fn hold(&mut self, frames: &[usize]) {
        let needed = frames.iter().flat_map(|frame| self.around(*frame));
        let needed: Vec<usize> =
            needed.filter(|(_, weight)| *weight != 0.0).map(|(i, _)| i).collect();
        self.held.retain(|frame, _| needed.contains(frame));
        let mut missing = needed;
        missing.retain(|frame| !self.held.contains_key(frame));
        missing.sort_unstable();
        missing.dedup();
        let read = self.source.read_many(&missing);
        let shared = |data: Read| data.map(Arc::new).map_err(Arc::from);
        self.held.extend(missing.into_iter().zip(read.into_iter().map(shared)));
    }

    /// The first field at the time of a frame, once its frames are held.
    fn first_at(&self, frame: usize) -> Read {
        let mut found: Vec<(&FrameData, f64)> = Vec::with_capacity(2);
        for (frame, weight) in self.around(frame).into_iter().filter(|(_, weight)| *weight != 0.0) {
            match self.held.get(&frame) {
                Some(Ok(data)) => found.push((data, weight)),
                Some(Err(error)) => return Err(Box::new(error.clone())),
                None => {}
            }
        }
        match found[..] {
            [(only, _)] => Ok(only.clone()),
            [(a, _), (b, weight)] => Ok(times::mean(a, b, weight)),
            _ => Err("the sum holds no frame of its first field".into()),
        }
    }

    /// A frame of the sum, once the frames of the first field are held.
    fn sum(&self, frame: usize) -> Read {
        let mut data = self.first_at(frame)?;
        // A wrong number is refused by the field.
        if data.velocity.len() != 3 * self.nodes.len() {
            return Ok(data);
        }
        let missing = self.missing(&data);
        let count = data.velocity.len();
        let mut sum = Floats::from_f64(Precision::F64, (0..count).map(|i| data.velocity.get(i)));
        for (i, (_, addend)) in (1..).zip(&self.others) {
            if addend.per_particle {
                let mut scaled = Floats::zeros(Precision::F64, count);
                self.add(i, self.times[frame], &missing, &mut scaled)?;
                data.scaled_velocity = Some(scaled);
            } else {
                self.add(i, self.times[frame], &missing, &mut sum)?;
            }
        }
        data.velocity = sum;
        Ok(data)
    }

    /// The nodes at which nothing is added: those without a velocity, on land, or in no cell.
    fn missing(&self, data: &FrameData) -> Vec<bool> {
        let FieldOptions { not_finite, land_value, .. } = self.options;
        let land_value = land_value.filter(|_| not_finite == NotFinite::Land);
        let mut missing = missing(&data.velocity, data.hidden(), land_value);
        self.nodes.drop_unused(&mut missing);
        missing
    }

    /// Adds a further field, counted from 1.
    fn add(&self, i: usize, time: f64, missing: &[bool], sum: &mut Floats) -> Result<()> {
        let (field, addend) = &self.others[i - 1];
        let layer = self.nodes.layer(&**field);
        let found = values(&self.nodes, (&**field, addend), (layer, time), addend.turned())?;
        let mut outside: Option<(usize, usize)> = None;
        for node in (0..missing.len()).filter(|node| !missing[*node]) {
            let added = found[node % layer];
            if added.iter().all(|x| x.is_finite()) {
                let before = sum.vector(node);
                sum.set_vector(node, [0, 1, 2].map(|d| before[d] + added[d]));
            } else {
                outside = Some(outside.map_or((node, 1), |(first, count)| (first, count + 1)));
            }
        }
        match outside {
            Some((first, count)) if addend.outside == OutsideField::Error => {
                let [x, y, z] = self.nodes.position(first);
                Err(Error::Sum(format!(
                    "field[{i}] has no velocity at {count} of {} nodes of the first field, the first at (x, y, z) = \
                     ({x}, {y}, {z}), which are outside it or in its holes; read a part of the first field only \
                     (`crop`), or add nothing there (`OutsideField::Zero`)",
                    missing.len()
                )))
            }
            _ => Ok(()),
        }
    }

    /// Whether the factor of a further field is one of each particle.
    fn is_per_particle(&self) -> bool {
        self.others.iter().any(|(_, addend)| addend.per_particle)
    }

    /// Bytes of the further fields, and of the frames of the first one that are held.
    fn held_bytes(&self) -> u64 {
        let others = self.others.iter().filter_map(|(field, _)| field.sampled());
        let others: u64 = others.map(|sampled| sampled.bytes() + sampled.size().read_bytes).sum();
        let arrays: usize = self.source.arrays().iter().map(|array| array.components).sum();
        let velocities = if self.has_scaled_velocity() { 6 } else { 3 };
        others + (2 * self.nodes.len() * (velocities + arrays) * size_of::<f64>()) as u64
    }
}

impl<S: FrameSource> FrameSource for Sum<S> {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn arrays(&self) -> &[crate::FieldArray] {
        self.source.arrays()
    }

    fn has_diffusivity(&self) -> bool {
        self.source.has_diffusivity()
    }

    fn has_scaled_velocity(&self) -> bool {
        self.is_per_particle() || self.source.has_scaled_velocity()
    }

    fn cache_bytes(&self) -> u64 {
        self.source.cache_bytes() + self.held_bytes()
    }

    fn read(&mut self, frame: usize) -> Read {
        self.hold(&[frame]);
        self.sum(frame)
    }

    fn read_many(&mut self, frames: &[usize]) -> Vec<Read> {
        self.hold(frames);
        let sums = frames.iter().map(|frame| self.sum(*frame)).collect();
        if let Some(last) = frames.last() {
            let around = self.around(*last);
            self.held.retain(|frame, _| around.iter().any(|(i, _)| i == frame));
        }
        sums
    }
}

impl<S: PointSource> PointSource for Sum<S> {
    fn positions(&self) -> &[[f64; 3]] {
        self.source.positions()
    }
}

placed_as_source!(Sum);
