//! Where particles came from and went to, and what that says about stretching.

use super::eigen::Symmetric;
use super::{Lattice, Stencil};
use crate::{Error, Result};
use burn::tensor::{Bool, Tensor};
use burntrace_core::{Save, Status};

/// Where the particles of a lattice are after a time.
#[derive(Clone, Debug)]
pub struct FlowMap {
    lattice: Lattice,
    stencil: Stencil,
    end: Tensor<2>,
    time: f64,
}

/// Finite-time Lyapunov exponents on the nodes of a lattice.
#[derive(Clone, Debug)]
pub struct Ftle {
    lattice: Lattice,
    values: Tensor<1>,
    time: f64,
    missing: usize,
}

/// In which direction of time particles went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Great exponents are where particles part.
    Forward,
    /// Great exponents are where particles have come together.
    Backward,
}

impl FlowMap {
    /// The places `[n, 3]` of particles that began at the [seeds](Lattice::seeds) of this stencil,
    /// after a `time` that is negative for a backward run, as if a periodic box went on for ever.
    /// Particles that have no place there, as they have ended, are NaN.
    ///
    /// # Errors
    ///
    /// [`Error::Ftle`] where there are not as many particles as seeds, or the time is 0 or no
    /// number.
    pub fn new(lattice: &Lattice, stencil: Stencil, end: Tensor<2>, time: f64) -> Result<Self> {
        let expected = [lattice.particles(stencil)?, 3];
        lattice.axes(stencil)?;
        if end.dims() != expected {
            return Err(Error::Ftle(format!(
                "the places at the end have the shape {:?}; {stencil:?} on {:?} nodes has {expected:?}",
                end.dims(),
                lattice.counts()
            )));
        }
        if time == 0.0 || !time.is_finite() {
            return Err(Error::Ftle(format!(
                "the particles were followed for a time of {time}; give a finite one that is not 0"
            )));
        }
        Ok(FlowMap { lattice: *lattice, stencil, end, time })
    }

    /// The places of a save of all particles, of which those that have ended, and those that wait,
    /// have none; `periods` are those of the run ([`Tracks::periods`](burntrace_core::Tracks::periods)),
    /// `time` that between the release of the particles and the save.
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
        if periods != [0.0; 3] {
            let periods = Tensor::<1>::from_data(periods, (&device, dtype)).reshape([1, 3]);
            end = end + save.image.clone().float().cast(dtype) * periods;
        }
        let n = save.status.dims()[0];
        let has_none = save.status.clone().equal_elem(Status::Active.code()).bool_not();
        let has_none = has_none.reshape([n, 1]).expand(end.dims());
        FlowMap::new(lattice, stencil, end.mask_fill(has_none, f64::NAN), time)
    }

    /// The exponents at the nodes.
    ///
    /// A node has none where its own particle has no place ([`Stencil::Neighbours`]), or where both
    /// neighbours along an axis have none; with [`Stencil::Auxiliary`], where one of its particles
    /// has none.
    ///
    /// # Errors
    ///
    /// [`Error::Execution`] where the device fails.
    pub fn ftle(&self) -> Result<Ftle> {
        let (columns, is_missing) = match self.stencil {
            Stencil::Neighbours => self.differences_of_neighbours()?,
            Stencil::Auxiliary(distance) => self.differences_of_auxiliary(distance)?,
        };
        let log = Symmetric::squares(&columns).log_of_greatest();
        let values = log.mul_scalar(0.5 / self.time.abs());
        // Where all particles have come to one point to the last bit, the logarithm is that of 0.
        let is_missing = is_missing.bool_or(values.clone().is_finite().bool_not());
        // A sum over all dimensions takes atomics, which not every device has (llvmpipe).
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

    /// The columns of the gradient `[nodes, 3]`, one for each axis, and which nodes `[nodes]` have
    /// none.
    fn differences_of_neighbours(&self) -> Result<(Vec<Tensor<2>>, Tensor<1, Bool>)> {
        let ([nx, ny, nz], nodes) = (self.lattice.counts(), self.lattice.len());
        let is_there = is_finite(self.end.clone());
        let place = self.end.clone().mask_fill(is_there.clone().bool_not().expand([nodes, 3]), 0.0);
        let place = place.reshape([nz, ny, nx, 3]);
        let there = is_there.clone().float().cast(place.dtype()).reshape([nz, ny, nx, 1]);
        let mut is_missing = is_there.bool_not().reshape([nodes]);
        let mut columns = Vec::new();
        for axis in self.lattice.axes(self.stencil)? {
            let dim = 2 - axis;
            let count = self.lattice.counts()[axis];
            let upper = |rows: &Tensor<4>| rows.clone().narrow(dim, 1, count - 1);
            let lower = |rows: &Tensor<4>| rows.clone().narrow(dim, 0, count - 1);
            // 1 where both ends of a step from node to node are there.
            let is_step = upper(&there) * lower(&there);
            let step = (upper(&place) - lower(&place)) * is_step.clone();
            let steps = both_sides(is_step, dim);
            is_missing = is_missing.bool_or(steps.clone().lower_elem(0.5).reshape([nodes]));
            let length = steps.clamp_min(1.0).mul_scalar(self.lattice.spacing()[axis]);
            columns.push((both_sides(step, dim) / length).reshape([nodes, 3]));
        }
        Ok((columns, is_missing))
    }

    /// As [`differences_of_neighbours`](FlowMap::differences_of_neighbours).
    fn differences_of_auxiliary(&self, distance: f64) -> Result<(Vec<Tensor<2>>, Tensor<1, Bool>)> {
        let (axes, nodes) = (self.lattice.axes(self.stencil)?, self.lattice.len());
        let side = |number: usize| self.end.clone().narrow(0, number * nodes, nodes);
        let difference =
            |axis: usize| (side(2 * axis) - side(2 * axis + 1)).mul_scalar(0.5 / distance);
        let columns: Vec<_> = (0..axes.len()).map(difference).collect();
        let is_there = columns.iter().map(|column| is_finite(column.clone()));
        let is_there = is_there.reduce(Tensor::bool_and);
        let none = || Error::Ftle("there is no axis along which to differ".into());
        Ok((columns, is_there.ok_or_else(none)?.bool_not().reshape([nodes])))
    }
}

/// Which rows `[n, 1]` have three finite numbers.
fn is_finite(rows: Tensor<2>) -> Tensor<2, Bool> {
    rows.is_finite().all_dim(1)
}

/// Of steps from node to node along an axis, the sums of those on both sides of each node.
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

    /// Exponents `[nodes]`, per unit of time, in the order of the nodes, x varying fastest; NaN
    /// where there is none.
    pub fn values(&self) -> Tensor<1> {
        self.values.clone()
    }

    /// The same as `[nz, ny, nx]`.
    pub fn grid(&self) -> Tensor<3> {
        let [nx, ny, nz] = self.lattice.counts();
        self.values.clone().reshape([nz, ny, nx])
    }

    /// The time for which particles were followed, negative for a backward run.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Its direction.
    pub fn direction(&self) -> Direction {
        if self.time < 0.0 { Direction::Backward } else { Direction::Forward }
    }

    /// How many nodes have no exponent.
    pub fn missing(&self) -> usize {
        self.missing
    }
}
