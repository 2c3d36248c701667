//! Where particles come into a flow.

mod draws;
mod lattice;
mod normal;
mod patch;
mod polygon;
mod vectors;

use crate::{Domain, Error, Face, Result};
use patch::Patch;

/// Where an inlet is. Positions and lengths are in the data's unit of length.
///
/// In a domain that is flat along an axis, a face is the segment along the other one, and a
/// segment elsewhere is a rectangle with one edge along the flat axis.
#[derive(Clone, Debug, PartialEq)]
pub enum InletShape {
    /// A face of the domain box. The flow comes in through it from outside.
    Face(Face),
    /// A parallelogram. The flow comes in along `edge1 x edge2`.
    Rectangle {
        /// A corner.
        origin: [f64; 3],
        /// The way to one of the corners next to it.
        edge1: [f64; 3],
        /// The way to the other one.
        edge2: [f64; 3],
    },
    /// A disc. The flow comes in along its normal.
    Disc {
        /// Its centre.
        centre: [f64; 3],
        /// A vector across it, of any length.
        normal: [f64; 3],
        /// Its radius.
        radius: f64,
    },
    /// A plane polygon, which may be concave but not meet itself: its corners, in order along
    /// its rim. The flow comes in along the right-hand normal: towards the side from which they
    /// go around counter-clockwise.
    Polygon(Vec<[f64; 3]>),
    /// These places and no others.
    Points(Vec<[f64; 3]>),
}

/// How places on an inlet are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Each particle has a place of its own, to which it returns. On a face it is where its seed
    /// lies, moved along the face's normal, so the seeds' pattern is kept. On points it is the
    /// one of its number, counted on from the first after the last. Elsewhere, and for a run
    /// without seeds, the places are regular: on rectangles and polygons in rows as far apart as
    /// the places in them, none on the rim; on discs on the spiral of a sunflower (H. Vogel,
    /// 1979).
    Lattice,
    /// Evenly over the area, by Sobol's sequence: 65,536 places or more, through which each
    /// particle walks from life to life. On points, through those.
    Uniform,
    /// Normally distributed about the centroid, cut off at the rim; as many places as of
    /// [`Uniform`](Pattern::Uniform).
    Gaussian {
        /// Standard deviation in each direction, of the distribution that is not cut off.
        deviation: f64,
    },
    /// In proportion to the speed at which the flow comes in at the begin of the run, to about one
    /// in a thousand; as many places as of [`Uniform`](Pattern::Uniform). Where the flow goes
    /// out, or is not a number, and beyond the domain, there are none.
    Flux,
}

/// Where particles come into a flow: a place and a pattern on it.
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
#[derive(Clone, Debug, PartialEq)]
pub struct Inlet {
    shape: InletShape,
    pattern: Pattern,
}

/// What an inlet needs to know of a run.
pub(crate) struct Request<'a> {
    /// The box in which the flow is known.
    pub domain: &'a Domain,
    /// Positions of the run's seeds, the first lives of the first slots; may be empty.
    pub seeds: &'a [[f64; 3]],
    /// How many particles at once the inlet feeds.
    pub slots: usize,
    /// The flow at places at the begin of the run; asked for [`Pattern::Flux`] only.
    pub velocity: &'a mut draws::Velocity<'a>,
}

/// Places of an inlet, and who gets which.
///
/// The place of slot `s` in its life `g` is number `(s * scatter + g * stride) % positions.len()`,
/// in wrapping arithmetic of 32 bits.
#[derive(Debug)]
pub(crate) struct Places {
    /// The places; never none.
    pub positions: Vec<[f64; 3]>,
    /// How far the first places of slots that follow each other are apart.
    pub scatter: u32,
    /// How far the places of a slot's lives that follow each other are apart.
    pub stride: u32,
}

impl Places {
    /// Those of the places that are to be kept, one at least, for as many slots.
    pub fn only(self, keep: impl Fn(usize) -> bool, slots: usize) -> Self {
        let numbered = self.positions.into_iter().enumerate();
        let positions = numbered.filter(|(i, _)| keep(*i)).map(|(_, p)| p).collect();
        match self.stride {
            0 => own(positions),
            _ => walked(positions, slots),
        }
    }
}

/// The least and the greatest number of places from Sobol's sequence. Both are powers of two.
const SEQUENCE: [usize; 2] = [1 << 16, 1 << 22];

impl Inlet {
    /// An inlet. Whether it fits the domain and the flow shows when a run begins.
    ///
    /// # Errors
    ///
    /// [`Error::Inlet`] where a number is not finite; where a rectangle or a polygon has no area,
    /// or a polygon is not plane, meets itself or fills less than a thousandth of the rectangle
    /// around it; where a disc's normal has no direction; where a radius or a deviation is not
    /// positive; where there are no points, or their pattern is a normal distribution or a flux.
    pub fn new(shape: InletShape, pattern: Pattern) -> Result<Self> {
        match &shape {
            InletShape::Points(points) => check_points(points, pattern)?,
            InletShape::Face(_) => {}
            _ => drop(patch(&shape, &Domain::unbounded(), &[])?),
        }
        match pattern {
            Pattern::Gaussian { deviation } if !(deviation > 0.0 && deviation.is_finite()) => {
                Err(Error::Inlet(format!(
                    "its standard deviation is {deviation}; it must be positive and finite"
                )))
            }
            _ => Ok(Inlet { shape, pattern }),
        }
    }

    /// Where it is.
    pub fn shape(&self) -> &InletShape {
        &self.shape
    }

    /// How places on it are chosen.
    pub fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// The places at which it lets particles into a run.
    ///
    /// # Errors
    ///
    /// [`Error::Inlet`] where the domain has no such face or the face no end, the inlet reaches
    /// beyond the domain (but for a flux), nothing flows in, or too few places are found in the
    /// pattern; the flow's own errors.
    pub(crate) fn places(&self, request: &mut Request<'_>) -> Result<Places> {
        let (domain, slots) = (request.domain, request.slots);
        if slots == 0 {
            return Err(Error::Inlet("it feeds no particles; give it one at least".into()));
        }
        let mut places = match (&self.shape, self.pattern) {
            (InletShape::Points(points), _) => self.points(points, request)?,
            (InletShape::Face(face), Pattern::Lattice) if !request.seeds.is_empty() => {
                patch::face_coordinate(*face, domain)?;
                own(request.seeds.iter().copied().cycle().take(slots).collect())
            }
            _ => self.on_patch(request)?,
        };
        for p in &mut places.positions {
            *p = self.confined(*p, domain)?;
        }
        Ok(places)
    }

    fn points(&self, points: &[[f64; 3]], request: &Request<'_>) -> Result<Places> {
        let outside = |p: &[f64; 3]| !request.domain.contains(*p);
        if let Some(i) = points.iter().position(outside) {
            let (Domain { low, high }, p) = (request.domain, points[i]);
            return Err(Error::Inlet(format!(
                "point {i} {p:?} lies outside the domain {low:?} to {high:?}; move it into it"
            )));
        }
        let positions = points.to_vec();
        Ok(match self.pattern {
            Pattern::Lattice => own(positions),
            _ => walked(positions, request.slots),
        })
    }

    fn on_patch(&self, request: &mut Request<'_>) -> Result<Places> {
        let patch = patch(&self.shape, request.domain, request.seeds)?;
        if self.pattern != Pattern::Flux {
            check_within(&patch, request.domain)?;
        }
        let slots = request.slots;
        let [least, most] = SEQUENCE;
        let count = slots.min(most).next_power_of_two().max(least);
        let positions = match self.pattern {
            Pattern::Lattice => return Ok(own(lattice::places(&patch, slots)?)),
            Pattern::Uniform => draws::uniform(&patch, count)?,
            Pattern::Gaussian { deviation } => draws::gaussian(&patch, deviation, count)?,
            Pattern::Flux => {
                let velocity = &mut *request.velocity;
                draws::flux(&patch, count, request.domain, velocity, self.shape.reversal())?
            }
        };
        Ok(walked(positions, slots))
    }

    /// A place without the rounding that may have carried it out of the domain; on a face,
    /// exactly on it. Flat axes keep what they have.
    fn confined(&self, mut p: [f64; 3], domain: &Domain) -> Result<[f64; 3]> {
        for d in (0..3).filter(|d| !domain.is_flat(*d)) {
            p[d] = p[d].max(domain.low[d]).min(domain.high[d]);
        }
        if let InletShape::Face(face) = self.shape {
            p[patch::face_axis(face)] = patch::face_coordinate(face, domain)?;
        }
        Ok(p)
    }
}

impl InletShape {
    /// What to do where the flow goes the other way.
    fn reversal(&self) -> &'static str {
        match self {
            InletShape::Face(_) => "choose a face where it comes in",
            InletShape::Rectangle { .. } => "swap the edges, which turns the normal round",
            InletShape::Disc { .. } => "reverse the normal",
            InletShape::Polygon(_) => {
                "reverse the order of the corners, which turns the normal round"
            }
            InletShape::Points(_) => "choose other points",
        }
    }
}

/// The figure of a shape that has an extent.
fn patch(shape: &InletShape, domain: &Domain, seeds: &[[f64; 3]]) -> Result<Patch> {
    match shape {
        InletShape::Face(face) => {
            Patch::face(*face, domain, seeds.first().copied().unwrap_or_default())
        }
        InletShape::Rectangle { origin, edge1, edge2 } => Patch::rectangle(*origin, *edge1, *edge2),
        InletShape::Disc { centre, normal, radius } => Patch::disc(*centre, *normal, *radius),
        InletShape::Polygon(corners) => Patch::polygon(corners),
        InletShape::Points(_) => Err(Error::Inlet("points have no area".into())),
    }
}

/// Places of which each slot has its own.
fn own(positions: Vec<[f64; 3]>) -> Places {
    Places { positions, scatter: 1, stride: 0 }
}

/// Places through which each slot walks, life by life.
fn walked(positions: Vec<[f64; 3]>, slots: usize) -> Places {
    let scatter = scatter(positions.len() as u32, slots.min(positions.len()) as u32);
    Places { positions, scatter, stride: 1 }
}

/// How far apart slots begin: near the golden section, so that however many they are they begin
/// all over the places, and without a factor in common with the count, so that no two begin at
/// one place while there are others.
fn scatter(count: u32, slots: u32) -> u32 {
    let golden = (0.618_033_988_749_894_9 * f64::from(count)) as u32;
    let start = match count.is_power_of_two() {
        true => golden,
        // Wrapping is harmless for a power of two only: no product may reach 2^32 here.
        false => golden.min(u32::MAX / slots.max(1)),
    };
    (1..=start).rev().find(|step| greatest_common_divisor(*step, count) == 1).unwrap_or(1)
}

fn greatest_common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// An empty list with room for places.
fn room<T>(count: usize) -> Result<Vec<T>> {
    let mut places = Vec::new();
    places
        .try_reserve_exact(count)
        .map_err(|_| Error::Inlet(format!("there is no memory for {count} places on it")))?;
    Ok(places)
}

fn check_points(points: &[[f64; 3]], pattern: Pattern) -> Result<()> {
    if points.is_empty() {
        return Err(Error::Inlet("it has no points; give one at least".into()));
    }
    // Their numbers fit into an `i32`.
    if points.len() > i32::MAX as usize {
        return Err(Error::Inlet(format!(
            "it has {} points; the most is {}",
            points.len(),
            i32::MAX
        )));
    }
    if matches!(pattern, Pattern::Gaussian { .. } | Pattern::Flux) {
        return Err(Error::Inlet(format!(
            "points have no area over which {pattern:?} could distribute places; give a pattern \
             of `Lattice` or `Uniform`, or a shape with an area"
        )));
    }
    points.iter().try_for_each(|p| patch::check_finite("a point", p))
}

/// Checks that a figure does not reach beyond the domain by more than rounding.
fn check_within(patch: &Patch, domain: &Domain) -> Result<()> {
    let [low, high] = patch.bounds();
    let margin = 1e-9 * (0..3).fold(0.0, |m: f64, d| m.max(high[d] - low[d]));
    let beyond = |d: usize| low[d] < domain.low[d] - margin || high[d] > domain.high[d] + margin;
    match (0..3).find(|d| !domain.is_flat(*d) && beyond(*d)) {
        None => Ok(()),
        Some(d) => Err(Error::Inlet(format!(
            "it reaches from {} to {} along {}, beyond the domain, which goes from {} to {}; move \
             it, or make it smaller",
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
