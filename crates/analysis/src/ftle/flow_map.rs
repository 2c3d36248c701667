//! Flow maps and their finite-time Lyapunov exponents.

use super::eigen::Symmetric;
use super::{Lattice, Stencil};
use crate::{Error, Result};
use burn::tensor::{Bool, Tensor, TensorData};
use burntrace_core::{Save, Status, sphere};

/// The flow map of a lattice: final positions of the particles seeded on it, or its gradients.
#[derive(Clone, Debug)]
pub struct FlowMap {
    lattice: Lattice,
    known: Known,
    time: f64,
    /// The sphere whose longitudes and latitudes the first two axes of the lattice are.
    sphere: Option<Sphere>,
}

/// A sphere, with the final positions of the particles at the nodes, in degrees and metres, for gradients.
#[derive(Clone, Debug)]
struct Sphere {
    radius: f64,
    ends: Option<Vec<[f64; 3]>>,
}

/// What is known of a flow map.
#[derive(Clone, Debug)]
enum Known {
    /// Final positions of the particles of a stencil.
    Ends(Stencil, Tensor<2>),
    /// Gradients at the nodes `[nodes, 9]`.
    Gradients(Tensor<2>),
}

/// Finite-time Lyapunov exponents on the nodes of a lattice.
#[derive(Clone, Debug)]
pub struct Ftle {
    lattice: Lattice,
    values: Tensor<1>,
    time: f64,
    missing: usize,
}

/// The direction of integration in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Ridges of the exponent mark repelling structures: nearby particles separate.
    Forward,
    /// Ridges of the exponent mark attracting structures: particles have converged.
    Backward,
}

impl FlowMap {
    /// A flow map from the unwrapped final positions `end` `[n, 3]` of particles released at the
    /// [seeds](Lattice::seeds) of a stencil. `time` is the integration time, negative for a backward
    /// run. Particles without a final position, because they have ended, are NaN.
    ///
    /// # Errors
    ///
    /// [`Error::Ftle`] if the number of particles differs from the number of seeds, or the time is 0 or
    /// not finite.
    pub fn new(lattice: &Lattice, stencil: Stencil, end: Tensor<2>, time: f64) -> Result<Self> {
        let expected = [lattice.particles(stencil)?, 3];
        lattice.axes(stencil)?;
        if end.dims() != expected {
            return Err(Error::Ftle(format!(
                "the final positions have the shape {:?}; give {expected:?} for {stencil:?} on {:?} \
                 nodes",
                end.dims(),
                lattice.counts()
            )));
        }
        FlowMap::over(lattice, Known::Ends(stencil, end), time)
    }

    /// A flow map from its gradients at the nodes `[nodes, 9]`: the derivatives of x, then of y, then of z, as
    /// [`Tracer::flow_map_gradient`](burntrace_core::Tracer::flow_map_gradient) saves them for the seeds of
    /// [`Stencil::Neighbours`]. They are exact, also where neighbours are far apart. `time` is the
    /// integration time, negative for a backward run. Particles that have ended are NaN.
    ///
    /// # Errors
    ///
    /// [`Error::Ftle`] if the number of gradients differs from the number of nodes, if the box of the lattice
    /// is flat along all axes, or if the time is 0 or not finite.
    pub fn of_gradients(lattice: &Lattice, gradients: Tensor<2>, time: f64) -> Result<Self> {
        let expected = [lattice.len(), 9];
        lattice.some_axes(lattice.extents())?;
        if gradients.dims() != expected {
            return Err(Error::Ftle(format!(
                "the gradients have the shape {:?}; give {expected:?} for {:?} nodes",
                gradients.dims(),
                lattice.counts()
            )));
        }
        FlowMap::over(lattice, Known::Gradients(gradients), time)
    }

    fn over(lattice: &Lattice, known: Known, time: f64) -> Result<Self> {
        match time != 0.0 && time.is_finite() {
            true => Ok(FlowMap { lattice: *lattice, known, time, sphere: None }),
            false => Err(Error::Ftle(format!(
                "the integration time is {time}; give a finite time other than 0"
            ))),
        }
    }

    /// A flow map from a save of all particles. Only active particles have a final position. `periods`
    /// are the periods of the run ([`Tracks::periods`](burntrace_core::Tracks::periods)), `time` is the
    /// time from the release of the particles to the save.
    ///
    /// # Errors
    ///
    /// As [`new`](FlowMap::new).
    pub fn of_save(
        lattice: &Lattice,
        stencil: Stencil,
        save: &Save,
        periods: [f64; 3],
        time: f64,
    ) -> Result<Self> {
        let mut end = save.position.clone();
        let (device, dtype) = (end.device(), end.dtype());
        if let Some(rest) = &save.rest {
            // Far from 0. The exponents depend on differences only, so the origin does not matter.
            let low = Tensor::<1>::from_data(lattice.low(), (&device, dtype)).reshape([1, 3]);
            end = (end - low) + rest.clone();
        }
        if periods != [0.0; 3] {
            let periods = Tensor::<1>::from_data(periods, (&device, dtype)).reshape([1, 3]);
            end = end + save.image.clone().float().cast(dtype) * periods;
        }
        let n = save.status.dims()[0];
        let is_missing = save.status.clone().equal_elem(Status::Active.code()).bool_not();
        let is_missing = is_missing.reshape([n, 1]).expand(end.dims());
        FlowMap::new(lattice, stencil, end.mask_fill(is_missing, f64::NAN), time)
    }

    /// Takes the first two axes of the lattice as longitude and latitude in degrees on a sphere of this radius in metres, and the
    /// third one as height in metres. The final positions are points [in space](burntrace_core::sphere::in_space) in metres, from
    /// any origin; for gradients, [`on_sphere_to`](FlowMap::on_sphere_to) needs the final positions, too.
    pub fn on_sphere(self, radius: f64) -> Self {
        FlowMap { sphere: Some(Sphere { radius, ends: None }), ..self }
    }

    /// As [`on_sphere`](FlowMap::on_sphere), for [gradients](FlowMap::of_gradients) of positions in degrees and metres: `ends` are
    /// the final positions of the particles at the nodes in these units.
    ///
    /// # Errors
    ///
    /// [`Error::Ftle`] if there is not a final position for each node.
    pub fn on_sphere_to(self, radius: f64, ends: Vec<[f64; 3]>) -> Result<Self> {
        if ends.len() != self.lattice.len() {
            return Err(Error::Ftle(format!(
                "there are {} final positions for {} nodes; give one for each",
                ends.len(),
                self.lattice.len()
            )));
        }
        Ok(FlowMap { sphere: Some(Sphere { radius, ends: Some(ends) }), ..self })
    }

    /// The columns of a gradient by lengths instead of degrees, and in lengths where it is one of positions in degrees.
    fn in_lengths(
        &self,
        Sphere { radius, ends }: &Sphere,
        columns: Vec<Tensor<2>>,
        axes: &[usize],
    ) -> Result<Vec<Tensor<2>>> {
        let nodes = self
            .lattice
            .seeds(Stencil::Neighbours)
            .map_err(|error| Error::Ftle(error.to_string()))?;
        let scales = |positions: &[[f64; 3]]| -> Vec<[f64; 3]> {
            positions.iter().map(|position| sphere::scales(*radius, *position)).collect()
        };
        let (starts, ends) = (scales(nodes.positions()), ends.as_deref().map(scales));
        let scaled = |(column, axis): (Tensor<2>, &usize)| {
            let row = |i: usize| {
                let end = ends.as_ref().map_or([1.0; 3], |ends| ends[i]);
                end.map(|scale| scale / starts[i][*axis])
            };
            let factors: Vec<f64> = (0..starts.len()).flat_map(row).collect();
            let factors = TensorData::new(factors, [starts.len(), 3]);
            let beside = (&column.device(), column.dtype());
            column * Tensor::<2>::from_data(factors, beside)
        };
        Ok(columns.into_iter().zip(axes).map(scaled).collect())
    }

    /// Computes the exponents at the nodes.
    ///
    /// With [`Stencil::Neighbours`], the exponent is undefined at nodes whose own particle has no final
    /// position, or whose two neighbours along an axis have none; with [`Stencil::Auxiliary`], at nodes
    /// with any particle without a final position; with gradients, at nodes without one.
    ///
    /// # Errors
    ///
    /// [`Error::Execution`] if the device fails, and [`Error::Ftle`] for gradients on a sphere without final positions.
    pub fn ftle(&self) -> Result<Ftle> {
        let (columns, is_missing) = match &self.known {
            Known::Ends(Stencil::Neighbours, end) => self.differences_of_neighbours(end)?,
            Known::Ends(Stencil::Auxiliary(distance), end) => {
                self.differences_of_auxiliary(end, *distance)?
            }
            Known::Gradients(gradients) => self.columns(gradients),
        };
        let columns = match (&self.sphere, &self.known) {
            (Some(sphere), Known::Ends(stencil, _)) => {
                self.in_lengths(sphere, columns, &self.lattice.axes(*stencil)?)?
            }
            (Some(Sphere { ends: None, .. }), Known::Gradients(_)) => {
                return Err(Error::Ftle(
                    "gradients on a sphere are of degrees; give the final positions (`on_sphere_to`)".into(),
                ));
            }
            (Some(sphere), Known::Gradients(_)) => {
                self.in_lengths(sphere, columns, &self.lattice.extents())?
            }
            (None, _) => columns,
        };
        let log = Symmetric::squares(&columns).log_max_eigenvalue();
        let values = log.mul_scalar(0.5 / self.time.abs());
        // Particles at bit-identical positions give the logarithm of 0.
        let is_missing = is_missing.bool_or(values.clone().is_finite().bool_not());
        // A sum over all dimensions needs atomics, which some devices lack (llvmpipe).
        let count = is_missing.clone().int().sum_dim(0).try_into_data();
        let count = count.map_err(|error| Error::Execution(error.to_string()))?;
        let count = count.convert::<i64>().try_into_vec::<i64>();
        let missing = count.map_err(|error| Error::Execution(format!("{error:?}")))?;
        Ok(Ftle {
            lattice: self.lattice,
            values: values.mask_fill(is_missing, f64::NAN),
            time: self.time,
            missing: missing.first().map_or(0, |count| *count as usize),
        })
    }

    /// The columns of the gradient `[nodes, 3]`, one per axis, and the mask of nodes without a
    /// gradient `[nodes]`.
    fn differences_of_neighbours(
        &self,
        end: &Tensor<2>,
    ) -> Result<(Vec<Tensor<2>>, Tensor<1, Bool>)> {
        let ([nx, ny, nz], nodes) = (self.lattice.counts(), self.lattice.len());
        let is_valid = is_finite(end.clone());
        let position = end.clone().mask_fill(is_valid.clone().bool_not().expand([nodes, 3]), 0.0);
        let position = position.reshape([nz, ny, nx, 3]);
        let valid = is_valid.clone().float().cast(position.dtype()).reshape([nz, ny, nx, 1]);
        let mut is_missing = is_valid.bool_not().reshape([nodes]);
        let mut columns = Vec::new();
        for axis in self.lattice.axes(Stencil::Neighbours)? {
            let dim = 2 - axis;
            let count = self.lattice.counts()[axis];
            let upper = |rows: &Tensor<4>| rows.clone().narrow(dim, 1, count - 1);
            let lower = |rows: &Tensor<4>| rows.clone().narrow(dim, 0, count - 1);
            // 1 for steps between two nodes with final positions, otherwise 0.
            let is_step = upper(&valid) * lower(&valid);
            let step = (upper(&position) - lower(&position)) * is_step.clone();
            let steps = both_sides(is_step, dim);
            is_missing = is_missing.bool_or(steps.clone().lower_elem(0.5).reshape([nodes]));
            let length = steps.clamp_min(1.0).mul_scalar(self.lattice.spacing()[axis]);
            columns.push((both_sides(step, dim) / length).reshape([nodes, 3]));
        }
        Ok((columns, is_missing))
    }

    /// As [`differences_of_neighbours`](FlowMap::differences_of_neighbours).
    fn differences_of_auxiliary(
        &self,
        end: &Tensor<2>,
        distance: f64,
    ) -> Result<(Vec<Tensor<2>>, Tensor<1, Bool>)> {
        let axes = self.lattice.axes(Stencil::Auxiliary(distance))?;
        let nodes = self.lattice.len();
        let side = |number: usize| end.clone().narrow(0, number * nodes, nodes);
        let difference =
            |axis: usize| (side(2 * axis) - side(2 * axis + 1)).mul_scalar(0.5 / distance);
        let columns: Vec<_> = (0..axes.len()).map(difference).collect();
        let is_valid = columns.iter().map(|column| is_finite(column.clone()));
        let is_valid = is_valid.reduce(Tensor::bool_and);
        let none = || Error::Ftle("the lattice has no axis for differences".into());
        Ok((columns, is_valid.ok_or_else(none)?.bool_not().reshape([nodes])))
    }

    /// As [`differences_of_neighbours`](FlowMap::differences_of_neighbours), of gradients.
    fn columns(&self, gradients: &Tensor<2>) -> (Vec<Tensor<2>>, Tensor<1, Bool>) {
        let nodes = self.lattice.len();
        let rows = gradients.clone().reshape([nodes, 3, 3]);
        let column = |axis: usize| rows.clone().narrow(2, axis, 1).reshape([nodes, 3]);
        let is_missing = is_finite(gradients.clone()).bool_not().reshape([nodes]);
        (self.lattice.extents().into_iter().map(column).collect(), is_missing)
    }
}

/// The mask `[n, 1]` of rows of finite numbers.
fn is_finite(rows: Tensor<2>) -> Tensor<2, Bool> {
    rows.is_finite().all_dim(1)
}

/// For each node, the sum of the steps on both of its sides along an axis.
fn both_sides(steps: Tensor<4>, dim: usize) -> Tensor<4> {
    let none = steps.clone().narrow(dim, 0, 1).zeros_like();
    let before = Tensor::cat(vec![none.clone(), steps.clone()], dim);
    before + Tensor::cat(vec![steps, none], dim)
}

impl Ftle {
    /// The nodes.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// Exponents `[nodes]`, per unit of time, in the order of the nodes with x fastest; NaN if
    /// undefined.
    pub fn values(&self) -> Tensor<1> {
        self.values.clone()
    }

    /// Exponents `[nz, ny, nx]`, per unit of time; NaN if undefined.
    pub fn grid(&self) -> Tensor<3> {
        let [nx, ny, nz] = self.lattice.counts();
        self.values.clone().reshape([nz, ny, nx])
    }

    /// The integration time, negative for a backward run.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The direction of integration.
    pub fn direction(&self) -> Direction {
        if self.time < 0.0 { Direction::Backward } else { Direction::Forward }
    }

    /// The number of nodes without an exponent.
    pub fn missing(&self) -> usize {
        self.missing
    }
}
