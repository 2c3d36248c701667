//! Inlets: shapes and patterns from which particles enter the flow.

mod draws;
mod lattice;
mod normal;
mod patch;
mod polygon;
mod positions;

use crate::{Domain, Error, Face, Result, field::evaluate};
use burn::tensor::Tensor;
use patch::Patch;
pub(crate) use positions::InletPositions;
use positions::{per_slot, shared};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The shape of an inlet. Positions and lengths are in the data's unit of length.
///
/// In a flat domain, a face is a line segment, and a segment elsewhere is a rectangle with one edge
/// along the flat axis.
#[derive(Clone, Debug, PartialEq)]
pub enum InletShape {
    /// A face of the domain box, with inflow from outside.
    Face(Face),
    /// A parallelogram, with inflow along `edge1 x edge2`.
    Rectangle {
        /// One corner.
        origin: [f64; 3],
        /// Vector from the origin to an adjacent corner.
        edge1: [f64; 3],
        /// Vector from the origin to the other adjacent corner.
        edge2: [f64; 3],
    },
    /// A disc, with inflow along its normal.
    Disc {
        /// Centre.
        centre: [f64; 3],
        /// Normal vector, of any length.
        normal: [f64; 3],
        /// Radius.
        radius: f64,
    },
    /// A planar simple polygon, which may be concave, given by its corners in order. Inflow is
    /// along the right-hand normal, which points to the side from which the corners are
    /// counter-clockwise.
    Polygon(Vec<[f64; 3]>),
    /// A list of points.
    Points(Vec<[f64; 3]>),
    /// A patch of the tracer's mesh boundary, by its name, with inflow along the inward normals of its
    /// faces.
    Patch(String),
}

/// The distribution of release positions on an inlet.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "pattern")]
pub enum Pattern {
    /// Each slot keeps one position. On a face, the seeds are projected along the normal of the
    /// face, which keeps their pattern. On points, the slots use the points in turn. Elsewhere, and
    /// in runs without seeds, the positions are regular: evenly spaced rows on rectangles and
    /// polygons, with no position on the boundary; a sunflower spiral on discs (H. Vogel, 1979). On
    /// patches of a mesh they are random, by area.
    #[schemars(extend("required" = []))]
    Lattice,
    /// Uniform over the area, by a Sobol sequence of at least 65,536 positions. Each release from a
    /// slot uses the next position. On points, the points are the sequence; on patches of a mesh, it is
    /// random.
    Uniform,
    /// Normally distributed about the centroid and truncated at the boundary, with as many
    /// positions as uniform ones.
    Gaussian {
        /// Standard deviation in each direction, before truncation.
        deviation: f64,
    },
    /// Proportional to the normal inflow speed at the start of the run, to about one part in a
    /// thousand, with as many positions as uniform ones. Parts with outflow, with
    /// undefined velocity or outside the domain have no positions. Random on patches of a mesh, as
    /// seeds by flux are.
    Flux,
}

/// An inlet: a shape, and the distribution of release positions on it.
///
/// ```
/// use burntrace_core::{Face, Inlet, InletShape, Pattern};
///
/// # fn main() -> burntrace_core::Result<()> {
/// let face = Inlet::new(InletShape::Face(Face::XLow), Pattern::Flux)?;
/// let centre = [0.0, 0.5, 0.5];
/// let pipe = InletShape::Disc { centre, normal: [1.0, 0.0, 0.0], radius: 0.2 };
/// let jet = Inlet::new(pipe, Pattern::Gaussian { deviation: 0.05 })?;
/// assert_ne!(face, jet);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Inlet {
    shape: InletShape,
    pattern: Pattern,
    /// The points, if they were given as a tensor.
    tensor: Option<Arc<Tensor<2>>>,
}

/// Inlets are equal if shape and pattern are; those made from different tensors are not, as they differ in their
/// gradients.
impl PartialEq for Inlet {
    fn eq(&self, other: &Self) -> bool {
        let is_same_tensor = match (&self.tensor, &other.tensor) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        is_same_tensor && self.shape == other.shape && self.pattern == other.pattern
    }
}

/// The run that an inlet is evaluated for.
pub(crate) struct InletRequest<'a> {
    /// The domain of the field.
    pub domain: &'a Domain,
    /// Positions of the seeds, which are in the first slots; may be empty.
    pub seeds: &'a [[f64; 3]],
    /// Number of slots that the inlet feeds.
    pub slots: usize,
    /// The number of the inlet among those with random positions.
    pub number: u64,
    /// Velocity at positions, at the start of the run; used for [`Pattern::Flux`] only.
    pub velocity: &'a mut draws::VelocityAt<'a>,
    /// Random positions on a patch of the mesh boundary: by flux at the start of the run, or by area. They depend on
    /// the number of the inlet.
    pub on_patch: &'a PatchPositions<'a>,
}

/// A number of positions on a patch of the mesh boundary by its name; by flux, if true.
pub(crate) type PatchPositions<'a> = dyn Fn(&str, bool, usize) -> Result<Vec<[f64; 3]>> + 'a;

/// Minimum and maximum length of the Sobol sequence; powers of two.
const SEQUENCE: [usize; 2] = [1 << 16, 1 << 22];

impl Inlet {
    /// Creates an inlet. A run checks it against its domain and field.
    ///
    /// # Errors
    ///
    /// [`Error::Inlet`] if a number is not finite; if a rectangle or a polygon has no area; if a
    /// polygon is not planar, intersects itself or fills less than a thousandth of its bounding
    /// rectangle; if the normal of a disc is zero; if a radius or a deviation is not positive; if
    /// there are no points, or their pattern is Gaussian or a flux; if the pattern of a patch is
    /// Gaussian.
    pub fn new(shape: InletShape, pattern: Pattern) -> Result<Self> {
        match &shape {
            InletShape::Points(points) => check_points(points, pattern)?,
            InletShape::Face(_) => {}
            InletShape::Patch(name) => check_pattern_on_patch(name, pattern)?,
            _ => drop(patch(&shape, &Domain::unbounded(), &[])?),
        }
        match pattern {
            Pattern::Gaussian { deviation } if !(deviation > 0.0 && deviation.is_finite()) => {
                Err(Error::Inlet(format!(
                    "its standard deviation is {deviation}; give a positive, finite number"
                )))
            }
            _ => Ok(Inlet { shape, pattern, tensor: None }),
        }
    }

    /// An inlet of [points](InletShape::Points) `[n, 3]` on a device, of any float type. Tracks can be
    /// differentiated with respect to them: each instance by the point at which it was released.
    ///
    /// The tensor is stored; its values are read once. In a run with gradients all points must be in the mesh, if there
    /// is one, and on the allowed side of obstacles.
    ///
    /// # Errors
    ///
    /// [`Error::Inlet`] as for [`new`](Inlet::new), and for another shape of the tensor;
    /// [`Error::Execution`] if the device fails.
    pub fn from_tensor(points: Tensor<2>, pattern: Pattern) -> Result<Self> {
        let [count, components] = points.dims();
        if components != 3 {
            return Err(Error::Inlet(format!(
                "the tensor of points has the shape [{count}, {components}]; give [n, 3]"
            )));
        }
        let inlet = Inlet::new(InletShape::Points(evaluate::on_host(&points)?), pattern)?;
        Ok(Inlet { tensor: Some(Arc::new(points)), ..inlet })
    }

    /// The points `[n, 3]`, if they track gradients.
    pub(crate) fn tracked(&self) -> Option<&Tensor<2>> {
        self.tensor.as_deref().filter(|points| points.device().is_autodiff())
    }

    /// The shape.
    pub fn shape(&self) -> &InletShape {
        &self.shape
    }

    /// The distribution of positions.
    pub fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// Whether its positions are random.
    pub(crate) fn is_random(&self) -> bool {
        match self.shape {
            InletShape::Points(_) => false,
            InletShape::Patch(_) => true,
            _ => self.pattern != Pattern::Lattice,
        }
    }

    /// The release positions for a run.
    ///
    /// # Errors
    ///
    /// [`Error::Inlet`] if the domain has no such face or patch or the face is unbounded, if the inlet
    /// extends outside the domain (except for a flux), if there is no inflow, or if the pattern
    /// yields too few positions; also errors of the velocity.
    pub(crate) fn positions(&self, request: &mut InletRequest<'_>) -> Result<InletPositions> {
        let (domain, slots) = (request.domain, request.slots);
        if slots == 0 {
            return Err(Error::Inlet("it feeds no particles; give it one or more".into()));
        }
        let mut found = match (&self.shape, self.pattern) {
            // Not clipped: they are on the boundary of the mesh, also where it extends outside the domain.
            (InletShape::Patch(name), _) => return self.on_mesh_patch(name, request),
            (InletShape::Points(points), _) => self.points(points, request)?,
            (InletShape::Face(face), Pattern::Lattice) if !request.seeds.is_empty() => {
                patch::face_coordinate(*face, domain)?;
                per_slot(request.seeds.iter().copied().cycle().take(slots).collect())
            }
            _ => self.on_patch(request)?,
        };
        for p in &mut found.positions {
            *p = self.clipped(*p, domain)?;
        }
        Ok(found)
    }

    fn points(&self, points: &[[f64; 3]], request: &InletRequest<'_>) -> Result<InletPositions> {
        let outside = |p: &[f64; 3]| !request.domain.contains(*p);
        if let Some(i) = points.iter().position(outside) {
            let (Domain { low, high }, p) = (request.domain, points[i]);
            return Err(Error::Inlet(format!(
                "point {i} {p:?} is outside the domain {low:?} to {high:?}; move it inside"
            )));
        }
        let positions = points.to_vec();
        Ok(match self.pattern {
            Pattern::Lattice => per_slot(positions),
            _ => shared(positions, request.slots),
        })
    }

    /// Positions on a patch of the mesh boundary.
    fn on_mesh_patch(&self, name: &str, request: &InletRequest<'_>) -> Result<InletPositions> {
        let slots = request.slots;
        Ok(match self.pattern {
            Pattern::Lattice => per_slot((request.on_patch)(name, false, slots)?),
            pattern => {
                let is_flux = pattern == Pattern::Flux;
                shared((request.on_patch)(name, is_flux, sequence(slots))?, slots)
            }
        })
    }

    fn on_patch(&self, request: &mut InletRequest<'_>) -> Result<InletPositions> {
        let patch = patch(&self.shape, request.domain, request.seeds)?;
        if self.pattern != Pattern::Flux {
            check_within(&patch, request.domain)?;
        }
        let slots = request.slots;
        let sequence = draws::Sequence::new(request.number, sequence(slots));
        let positions = match self.pattern {
            Pattern::Lattice => return Ok(per_slot(lattice::positions(&patch, slots)?)),
            Pattern::Uniform => draws::uniform(&patch, &sequence)?,
            Pattern::Gaussian { deviation } => draws::gaussian(&patch, deviation, &sequence)?,
            Pattern::Flux => {
                let velocity = &mut *request.velocity;
                draws::flux(&patch, &sequence, request.domain, velocity, self.shape.reversal())?
            }
        };
        Ok(shared(positions, slots))
    }

    /// Clips a position to the domain, to remove rounding errors, and moves it exactly onto the
    /// face of a face inlet. Coordinates on flat axes stay unchanged.
    fn clipped(&self, mut p: [f64; 3], domain: &Domain) -> Result<[f64; 3]> {
        for d in (0..3).filter(|d| !domain.is_flat(*d)) {
            p[d] = p[d].max(domain.low[d]).min(domain.high[d]);
        }
        if let InletShape::Face(face) = self.shape {
            p[patch::face_axis(face)] = patch::face_coordinate(face, domain)?;
        }
        Ok(p)
    }
}

/// Number of positions that all slots share.
fn sequence(slots: usize) -> usize {
    let [min, max] = SEQUENCE;
    slots.min(max).next_power_of_two().max(min)
}

impl InletShape {
    /// Hint for an inlet with flow in the opposite direction.
    fn reversal(&self) -> &'static str {
        match self {
            InletShape::Face(_) => "choose a face with inflow",
            InletShape::Rectangle { .. } => "swap the edges to reverse the normal",
            InletShape::Disc { .. } => "reverse the normal",
            InletShape::Polygon(_) => "reverse the order of the corners to reverse the normal",
            InletShape::Points(_) => "choose other points",
            InletShape::Patch(_) => "choose another patch",
        }
    }
}

/// The plane figure of a shape with an area.
fn patch(shape: &InletShape, domain: &Domain, seeds: &[[f64; 3]]) -> Result<Patch> {
    match shape {
        InletShape::Face(face) => {
            Patch::face(*face, domain, seeds.first().copied().unwrap_or_default())
        }
        InletShape::Rectangle { origin, edge1, edge2 } => Patch::rectangle(*origin, *edge1, *edge2),
        InletShape::Disc { centre, normal, radius } => Patch::disc(*centre, *normal, *radius),
        InletShape::Polygon(corners) => Patch::polygon(corners),
        InletShape::Points(_) => Err(Error::Inlet("points have no area".into())),
        InletShape::Patch(name) => {
            Err(Error::Inlet(format!("the patch `{name}` of a mesh is not in one plane")))
        }
    }
}

fn check_pattern_on_patch(name: &str, pattern: Pattern) -> Result<()> {
    match pattern {
        Pattern::Gaussian { .. } => Err(Error::Inlet(format!(
            "the patch `{name}` of a mesh has no plane for a Gaussian pattern; use `Uniform` or `Flux`, \
             or a disc, rectangle or polygon"
        ))),
        _ => Ok(()),
    }
}

fn check_points(points: &[[f64; 3]], pattern: Pattern) -> Result<()> {
    if points.is_empty() {
        return Err(Error::Inlet("it has no points; give one or more".into()));
    }
    // Indices of points are `i32`.
    if points.len() > i32::MAX as usize {
        return Err(Error::Inlet(format!(
            "it has {} points; the maximum is {}",
            points.len(),
            i32::MAX
        )));
    }
    if matches!(pattern, Pattern::Gaussian { .. } | Pattern::Flux) {
        return Err(Error::Inlet(format!(
            "points have no area for a pattern of {pattern:?}; use `Lattice` or `Uniform`, or a \
             shape with an area"
        )));
    }
    points.iter().try_for_each(|p| patch::check_finite("a point", p))
}

/// Checks that a figure is inside the domain, up to rounding.
fn check_within(patch: &Patch, domain: &Domain) -> Result<()> {
    let [low, high] = patch.bounds();
    let tolerance = 1e-9 * (0..3).fold(0.0, |m: f64, d| m.max(high[d] - low[d]));
    let is_outside =
        |d: usize| low[d] < domain.low[d] - tolerance || high[d] > domain.high[d] + tolerance;
    match (0..3).find(|d| !domain.is_flat(*d) && is_outside(*d)) {
        None => Ok(()),
        Some(d) => Err(Error::Inlet(format!(
            "it extends from {} to {} along {}, outside the domain, which extends from {} to {}; \
             move it, or make it smaller",
            low[d],
            high[d],
            crate::field::AXES[d],
            domain.low[d],
            domain.high[d]
        ))),
    }
}

#[cfg(test)]
mod tests;
