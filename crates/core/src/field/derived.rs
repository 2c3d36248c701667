//! Arrays that follow from the velocity of a field or from another array: shear rates, vorticities, gradients.

mod grid;
mod mesh;

use super::{
    arrays::FieldArray,
    grid::check_axes,
    source::{
        FrameData, FrameSource, GridSource, MeshSource, SourceError, describe_as, placed_as_source,
    },
};
use crate::{Error, Floats, Result};
use burntrace_kernels::Placement;
use rayon::prelude::*;
use std::{collections::BTreeMap, fmt, str::FromStr};

/// A quantity at the nodes (or in the cells) of a field that follows from its derivatives there, as an array that it is saved,
/// sampled and interpolated as. With `J` the derivatives of the velocity, `J[i][j] = du_i/dx_j`, and `S` their symmetric part:
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Derived {
    /// `shear_rate`: `sqrt(2 S:S)`, a rate.
    ShearRate,
    /// `vorticity`: the curl of the velocity, a vector.
    Vorticity,
    /// `q_criterion`: `-tr(J J) / 2`, the second invariant of an incompressible flow (Hunt, Wray and Moin 1988).
    QCriterion,
    /// `divergence`: `tr J`.
    Divergence,
    /// `velocity_gradient`: `J`, nine numbers: the derivatives of u by x, y and z, then of v and w.
    VelocityGradient,
    /// `acceleration`: that of the fluid, `du/dt + J u`, a vector. The derivative in time is the difference of the frames around.
    Acceleration,
    /// `gradient(A)`: the derivatives of an array by x, y and z, for each of its components.
    Gradient(String),
}

impl Derived {
    /// Numbers of the array, from those of the one that it is the gradient of.
    fn components(&self, of: usize) -> usize {
        match self {
            Derived::ShearRate | Derived::QCriterion | Derived::Divergence => 1,
            Derived::Vorticity | Derived::Acceleration => 3,
            Derived::VelocityGradient => 9,
            Derived::Gradient(_) => 3 * of,
        }
    }
}

impl fmt::Display for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Derived::ShearRate => "shear_rate",
            Derived::Vorticity => "vorticity",
            Derived::QCriterion => "q_criterion",
            Derived::Divergence => "divergence",
            Derived::VelocityGradient => "velocity_gradient",
            Derived::Acceleration => "acceleration",
            Derived::Gradient(of) => return write!(f, "gradient({of})"),
        })
    }
}

impl FromStr for Derived {
    type Err = String;

    /// # Errors
    ///
    /// For any other name.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        Ok(match text {
            "shear_rate" => Derived::ShearRate,
            "vorticity" => Derived::Vorticity,
            "q_criterion" => Derived::QCriterion,
            "divergence" => Derived::Divergence,
            "velocity_gradient" => Derived::VelocityGradient,
            "acceleration" => Derived::Acceleration,
            _ => match text.strip_prefix("gradient(").and_then(|of| of.strip_suffix(')')) {
                Some(of) if !of.trim().is_empty() => Derived::Gradient(of.trim().into()),
                _ => {
                    return Err(format!(
                        "`{text}` is no derived quantity; these are shear_rate, vorticity, q_criterion, divergence, velocity_gradient, \
                         acceleration and gradient(A) of an array A"
                    ));
                }
            },
        })
    }
}

/// A source of frames on a grid or a mesh with [derived](Derived) arrays behind its own.
///
/// On a grid, a derivative is that of the parabola through a node and its two neighbours (the two nearest at an edge), so that it is exact
/// for quadratic functions; on a sphere it is by metres, with the terms that the turning axes add to derivatives of a velocity. On a mesh it
/// is the mean of the cells around a point, each by its volume; of values in cells it is that of the linear function that fits the cells around best, each by the
/// inverse square of its distance. Both are exact for linear functions. A velocity that is missing counts as 0, as at a coast.
///
/// ```
/// use burntrace_core::{Derived, FrameSource, WithDerived};
/// # use burntrace_core::{Analytic, Domain, Flow};
/// # fn main() -> Result<(), burntrace_core::Error> {
/// # let domain = Domain::new([0.0; 3], [2.0, 1.0, 0.0])?;
/// # let gyre = Flow::named("double-gyre").expect("a built-in flow");
/// # let source = Analytic::sample(gyre, domain, [65, 33, 1], vec![0.0])?;
/// let source = WithDerived::on_grid(source, &[Derived::ShearRate, Derived::Vorticity], None)?;
/// assert_eq!(source.arrays()[1].name, "vorticity");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct WithDerived<S> {
    source: S,
    wanted: Vec<Derived>,
    arrays: Vec<FieldArray>,
    radius: Option<f64>,
    mesh: Option<mesh::Shared>,
    /// Velocities of frames that are needed for derivatives in time.
    kept: BTreeMap<usize, Floats>,
    /// The derivatives by x, y and z at each node, of each of a number of components; `None` of a wrong number.
    gradients: fn(&Self, &Floats, usize) -> Option<Vec<f64>>,
}

impl<S: GridSource> WithDerived<S> {
    /// Adds arrays to a source on a grid, which is on a sphere if a radius is given
    /// ([`FieldOptions::radius`](crate::FieldOptions::radius)).
    ///
    /// # Errors
    ///
    /// [`Error::Arrays`] for the gradient of an array that the source does not have, and two arrays of one name.
    pub fn on_grid(source: S, wanted: &[Derived], radius: Option<f64>) -> Result<Self> {
        check_axes(source.axes())?;
        let gradients = |it: &Self, values: &Floats, components: usize| {
            grid::gradients(
                (it.source.axes(), it.source.placement()),
                values,
                components,
                it.radius,
            )
        };
        WithDerived::new(source, wanted, radius, gradients)
    }
}

impl<S: MeshSource> WithDerived<S> {
    /// Adds arrays to a source on a mesh in a flat space.
    ///
    /// # Errors
    ///
    /// As [`on_grid`](WithDerived::on_grid), for velocities on faces or a radius, and for a mesh that is not valid.
    pub fn on_mesh(source: S, wanted: &[Derived], radius: Option<f64>) -> Result<Self> {
        let what = match (source.placement(), radius) {
            (Placement::Faces, _) => Some("with velocities on faces"),
            (_, Some(_)) => Some("on a sphere"),
            _ => None,
        };
        if let (Some(what), Some(first)) = (what, wanted.first()) {
            return Err(Error::Arrays(format!(
                "`{first}` follows from derivatives, which are not known on a mesh {what}; use a grid, or an array of the files"
            )));
        }
        let shared = (!wanted.is_empty()).then(|| mesh::Shared::of(&source)).transpose()?;
        let gradients = |it: &Self, values: &Floats, components: usize| {
            it.mesh.as_ref()?.gradients(&it.source, values, components)
        };
        Ok(WithDerived { mesh: shared, ..WithDerived::new(source, wanted, None, gradients)? })
    }
}

impl<S: FrameSource> WithDerived<S> {
    fn new(
        source: S,
        wanted: &[Derived],
        radius: Option<f64>,
        gradients: fn(&Self, &Floats, usize) -> Option<Vec<f64>>,
    ) -> Result<Self> {
        let mut arrays = source.arrays().to_vec();
        for derived in wanted {
            let of = match derived {
                Derived::Gradient(of) => {
                    let found = source.arrays().iter().find(|array| array.name == *of);
                    found.map(|array| array.components).ok_or_else(|| {
                        let known: Vec<String> = source
                            .arrays()
                            .iter()
                            .map(|array| format!("`{}`", array.name))
                            .collect();
                        Error::Arrays(format!(
                            "`{derived}`: the source has no array `{of}`; it has {}",
                            if known.is_empty() { "none".into() } else { known.join(", ") }
                        ))
                    })?
                }
                _ => 3,
            };
            let name = derived.to_string();
            if arrays.iter().any(|array| array.name == name) {
                return Err(Error::Arrays(format!(
                    "the source has an array `{name}` already; use that"
                )));
            }
            arrays.push(FieldArray::new(name, derived.components(of)));
        }
        let (wanted, kept) = (wanted.to_vec(), BTreeMap::new());
        Ok(WithDerived { source, wanted, arrays, radius, mesh: None, kept, gradients })
    }

    /// A frame with the derived arrays. `by_time` has the derivatives of the velocity by time, if they are needed. Without them, a wrong
    /// number of values is refused by the field.
    fn derived(&self, mut data: FrameData, by_time: Option<Vec<f64>>) -> FrameData {
        let precision = data.velocity.precision();
        let known = known(&data.velocity);
        let needs_velocity =
            self.wanted.iter().any(|derived| !matches!(derived, Derived::Gradient(_)));
        let of_velocity =
            if needs_velocity { (self.gradients)(self, &known, 3) } else { Some(Vec::new()) };
        let Some(of_velocity) = of_velocity else { return data };
        let slopes = of_velocity.as_chunks::<9>().0;
        let mut more = Vec::new();
        for derived in &self.wanted {
            let numbers = match derived {
                Derived::ShearRate => each(slopes, |j| [shear_rate(j)]),
                Derived::Vorticity => each(slopes, |j| [j[7] - j[5], j[2] - j[6], j[3] - j[1]]),
                Derived::QCriterion => each(slopes, |j| [-0.5 * trace_of_square(j)]),
                Derived::Divergence => each(slopes, |j| [j[0] + j[4] + j[8]]),
                Derived::VelocityGradient => of_velocity.clone(),
                Derived::Acceleration => acceleration(slopes, &known, by_time.as_deref()),
                Derived::Gradient(of) => {
                    let arrays = self.source.arrays().iter().zip(&data.arrays);
                    let found = arrays.clone().find(|(array, _)| array.name == *of);
                    let gradients = found.and_then(|(array, values)| {
                        (self.gradients)(self, values, array.components)
                    });
                    match gradients {
                        Some(gradients) => gradients,
                        None => return data,
                    }
                }
            };
            more.push(Floats::from_f64(precision, numbers.into_iter()));
        }
        data.arrays.extend(more);
        data
    }

    /// The derivatives of the velocity by time at a frame, if they are wanted and there are several frames: central differences, one-sided
    /// ones at the ends.
    fn by_time(
        &mut self,
        frame: usize,
        data: &FrameData,
    ) -> std::result::Result<Option<Vec<f64>>, SourceError> {
        let times = self.source.times().to_vec();
        if !self.wanted.contains(&Derived::Acceleration) || times.len() < 2 {
            return Ok(None);
        }
        self.kept.insert(frame, data.velocity.clone());
        let around = frame.saturating_sub(1)..=(frame + 1).min(times.len() - 1);
        self.kept.retain(|kept, _| around.contains(kept));
        for other in around.clone() {
            if !self.kept.contains_key(&other) {
                let velocity = self.source.read(other)?.velocity;
                self.kept.insert(other, velocity);
            }
        }
        let (first, last) = (*around.start(), *around.end());
        let [before, after] = [first, last].map(|frame| known(&self.kept[&frame]));
        let time = times[last] - times[first];
        let count = before.len().min(after.len());
        Ok(Some((0..count).map(|i| (after.get(i) - before.get(i)) / time).collect()))
    }
}

/// The numbers of an array, from the nine derivatives at each node.
fn each<const N: usize>(
    slopes: &[[f64; 9]],
    of: impl Fn(&[f64; 9]) -> [f64; N] + Send + Sync,
) -> Vec<f64> {
    let numbers: Vec<[f64; N]> = slopes.par_iter().map(of).collect();
    numbers.into_flattened()
}

fn shear_rate(j: &[f64; 9]) -> f64 {
    let diagonal = j[0] * j[0] + j[4] * j[4] + j[8] * j[8];
    let beside = (j[1] + j[3]).powi(2) + (j[2] + j[6]).powi(2) + (j[5] + j[7]).powi(2);
    (2.0 * diagonal + beside).sqrt()
}

fn trace_of_square(j: &[f64; 9]) -> f64 {
    let diagonal = j[0] * j[0] + j[4] * j[4] + j[8] * j[8];
    diagonal + 2.0 * (j[1] * j[3] + j[2] * j[6] + j[5] * j[7])
}

fn acceleration(slopes: &[[f64; 9]], velocity: &Floats, by_time: Option<&[f64]>) -> Vec<f64> {
    let at = |(i, j): (usize, &[f64; 9])| {
        let [u, v, w] = velocity.vector(i);
        [0, 1, 2].map(|d| {
            let by_time = by_time.and_then(|all| all.get(3 * i + d)).copied().unwrap_or(0.0);
            by_time + j[3 * d] * u + j[3 * d + 1] * v + j[3 * d + 2] * w
        })
    };
    let numbers: Vec<[f64; 3]> = slopes.par_iter().enumerate().map(at).collect();
    numbers.into_flattened()
}

/// Velocities of which those that are missing count as 0.
fn known(velocity: &Floats) -> Floats {
    let numbers = (0..velocity.len()).map(|i| velocity.get(i));
    Floats::from_f64(velocity.precision(), numbers.map(|x| if x.is_finite() { x } else { 0.0 }))
}

impl<S: FrameSource> FrameSource for WithDerived<S> {
    describe_as!(self => self.source, &self.arrays);

    fn read(&mut self, frame: usize) -> std::result::Result<FrameData, SourceError> {
        let data = self.source.read(frame)?;
        let by_time = self.by_time(frame, &data)?;
        Ok(self.derived(data, by_time))
    }

    fn read_many(&mut self, frames: &[usize]) -> Vec<std::result::Result<FrameData, SourceError>> {
        let all = self.source.read_many(frames);
        let derived = |(frame, data): (&usize, std::result::Result<FrameData, SourceError>)| {
            let data = data?;
            let by_time = self.by_time(*frame, &data)?;
            Ok(self.derived(data, by_time))
        };
        frames.iter().zip(all).map(derived).collect()
    }
}

placed_as_source!(WithDerived);

#[cfg(test)]
mod tests;
