//! Seeds: positions and times at which particles start.

mod boxes;
mod cells;
mod clouds;
mod combine;
mod patch;
mod shapes;
mod sobol;

pub use boxes::GridPlacement;
pub(crate) use sobol::Sobol;

use crate::{Error, Precision, Result, field::evaluate, tracer::timed};
use burn::tensor::{Device, Tensor, TensorData};

/// Initial positions and release times of particles.
///
/// Positions are in the data's unit of length, times in its unit of time. The index of a seed is
/// the index of its particle in the tracks. On a flat axis of the domain, give the domain's
/// coordinate: a box with `low == high`, a deviation of 0, or a disc with its normal along that
/// axis.
///
/// Random seeds take a seed of random numbers. Each position depends only on that seed and on its
/// index: the first thousand of a million seeds are the same as a thousand.
///
/// ```
/// use burntrace_core::Seeds;
///
/// # fn main() -> burntrace_core::Result<()> {
/// let seeds = Seeds::uniform([0.0; 3], [2.0, 1.0, 0.0], 1000, 42)?.release_at(5.0)?;
/// assert_eq!(seeds.len(), 1000);
/// assert!(seeds.positions().iter().all(|p| p[0] < 2.0 && p[1] < 1.0 && p[2] == 0.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Seeds {
    position: Vec<[f64; 3]>,
    /// The tensor of the positions, if they were given as one.
    tensor: Option<Tensor<2>>,
    release: Option<Vec<f64>>,
    /// The tensor of the release times, if they were given as one.
    release_tensor: Option<Tensor<1>>,
    /// Names and numbers of further columns.
    columns: Vec<(String, Vec<f64>)>,
}

/// Maximum number of seeds, whose indices fit an `i32`.
const MAX_COUNT: usize = u32::MAX as usize / 2;

impl Seeds {
    /// Seeds at given positions.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if there are no or too many positions, or if one is not finite.
    pub fn list(positions: Vec<[f64; 3]>) -> Result<Self> {
        check_count(positions.len())?;
        check_positions(&positions)?;
        Ok(Seeds { position: positions, ..Seeds::none() })
    }

    /// No seeds, for runs in which all particles come from [sources](crate::Source).
    pub fn none() -> Self {
        Seeds {
            position: Vec::new(),
            tensor: None,
            release: None,
            release_tensor: None,
            columns: Vec::new(),
        }
    }

    /// Positions `[n, 3]` on a device, of any float type. Tracks can be differentiated with respect
    /// to them.
    ///
    /// The tensor is stored; its values are read once.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if the shape is different, if there are no or too many positions, or if one
    /// is not finite; [`Error::Execution`] if the device fails.
    pub fn from_tensor(positions: Tensor<2>) -> Result<Self> {
        let [count, components] = positions.dims();
        if components != 3 {
            return Err(Error::Seeds(format!(
                "the tensor of positions has the shape [{count}, {components}]; give [n, 3]"
            )));
        }
        check_count(count)?;
        let position = evaluate::on_host(&positions)?;
        check_positions(&position)?;
        Ok(Seeds { position, tensor: Some(positions), ..Seeds::none() })
    }

    /// The same seeds with their positions as a leaf tensor `[n, 3]` on a device that tracks gradients, and the leaf.
    ///
    /// # Errors
    ///
    /// As [`from_tensor`](Seeds::from_tensor).
    pub fn tracked(self, device: &Device, precision: Precision) -> Result<(Self, Tensor<2>)> {
        let numbers = self.position.as_flattened().to_vec();
        let data = TensorData::new(numbers, [self.len(), 3]);
        let leaf = Tensor::<2>::from_data(data, (device, precision.dtype())).require_grad();
        let position = Seeds::from_tensor(leaf.clone())?;
        let Seeds { release, release_tensor, columns, .. } = self;
        Ok((Seeds { release, release_tensor, columns, ..position }, leaf))
    }

    /// Sets a release time for each seed.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if the number of times differs from the number of seeds, or if one is not
    /// finite.
    pub fn with_release(mut self, times: Vec<f64>) -> Result<Self> {
        if times.len() != self.len() {
            return Err(Error::Seeds(format!(
                "there are {} release times for {} seeds; give one for each",
                times.len(),
                self.len()
            )));
        }
        if let Some(i) = times.iter().position(|t| !t.is_finite()) {
            return Err(Error::Seeds(format!(
                "the release time of seed {i} is {}; give a finite time",
                times[i]
            )));
        }
        (self.release, self.release_tensor) = (Some(times), None);
        Ok(self)
    }

    /// Sets a release time for each seed from a tensor `[n]`. If it tracks gradients, positions depend on it; those of seeds that
    /// would be released before the start of the run do not.
    ///
    /// # Errors
    ///
    /// As [`with_release`](Seeds::with_release), and [`Error::Execution`] if the device fails.
    pub fn with_release_tensor(self, times: Tensor<1>) -> Result<Self> {
        let numbers = timed::numbers(&times)?;
        Ok(Seeds { release_tensor: Some(times), ..self.with_release(numbers)? })
    }

    /// Sets one release time for all seeds. By default, seeds start with the run.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if the time is not finite.
    pub fn release_at(self, time: f64) -> Result<Self> {
        check_finite("the release time", &[time])?;
        let times = vec![time; self.len()];
        self.with_release(times)
    }

    /// Adds a column: a number of each seed, such as its diameter, which [`repeat`](Seeds::repeat) and [`join`](Seeds::join) keep beside
    /// its position. Those of [`column`](Seeds::column) can be [`PerParticle`](crate::PerParticle) quantities.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if there is another number of them than of seeds, or if one is not finite.
    pub fn with_column(mut self, name: impl Into<String>, numbers: Vec<f64>) -> Result<Self> {
        let name = name.into();
        if numbers.len() != self.len() {
            return Err(Error::Seeds(format!(
                "the column `{name}` has {} numbers for {} seeds; give one for each",
                numbers.len(),
                self.len()
            )));
        }
        if let Some(i) = numbers.iter().position(|x| !x.is_finite()) {
            return Err(Error::Seeds(format!(
                "the column `{name}` of seed {i} is {}; give a finite number",
                numbers[i]
            )));
        }
        self.columns.retain(|(known, _)| *known != name);
        self.columns.push((name, numbers));
        Ok(self)
    }

    /// The numbers of all columns.
    pub fn columns(&self) -> impl Iterator<Item = &[f64]> {
        self.columns.iter().map(|(_, numbers)| &numbers[..])
    }

    /// A column, in the order of the seeds.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let column = self.columns.iter().find(|(known, _)| known == name);
        column.map(|(_, numbers)| &numbers[..])
    }

    /// Number of seeds.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are no seeds, as after [`none`](Seeds::none).
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// The positions, in order.
    pub fn positions(&self) -> &[[f64; 3]] {
        &self.position
    }

    /// The release times, in order; `None` if all seeds start with the run.
    pub fn release(&self) -> Option<&[f64]> {
        self.release.as_deref()
    }

    /// The release times, if they track gradients.
    pub(crate) fn tracked_release(&self) -> Option<&Tensor<1>> {
        self.release_tensor.as_ref().filter(|times| times.device().is_autodiff())
    }

    /// The positions `[n, 3]` on a device. A given tensor stays in its autodiff graph.
    pub(crate) fn tensor(&self, device: &Device, precision: Precision) -> Tensor<2> {
        match &self.tensor {
            // A move is recorded in the graph, even to the same device.
            Some(given) if given.device() == *device => given.clone().cast(precision.dtype()),
            Some(given) => given.clone().to_device(device).cast(precision.dtype()),
            None => {
                let numbers = self.position.as_flattened().iter().copied();
                let data = precision.data(numbers, [self.len(), 3]);
                Tensor::from_data(data, (device, precision.dtype()))
            }
        }
    }

    /// Whether the positions are a tensor that tracks gradients.
    pub(crate) fn is_tracked(&self) -> bool {
        self.tensor.as_ref().is_some_and(|given| given.device().is_autodiff())
    }

    /// Generates `count` seeds from their indices.
    fn generate(count: usize, position: impl Fn(usize) -> [f64; 3]) -> Result<Self> {
        Seeds::try_generate(count, |i| Ok(position(i)))
    }

    /// Generates `count` seeds from their indices, until one fails.
    fn try_generate(count: usize, position: impl Fn(usize) -> Result<[f64; 3]>) -> Result<Self> {
        check_count(count)?;
        let mut positions = Vec::new();
        reserve(&mut positions, count)?;
        for i in 0..count {
            positions.push(position(i)?);
        }
        Seeds::list(positions)
    }
}

/// Makes room for `count` more items, one for each seed.
fn reserve<T>(list: &mut Vec<T>, count: usize) -> Result<()> {
    let total = list.len().saturating_add(count);
    list.try_reserve_exact(count).map_err(|_| {
        Error::Seeds(format!("there is not enough memory for {total} seeds; give fewer"))
    })
}

fn check_count(count: usize) -> Result<()> {
    match count {
        0 => Err(Error::Seeds("there are none; give one or more".into())),
        1..=MAX_COUNT => Ok(()),
        _ => Err(Error::Seeds(format!("{count} are too many; the maximum is {MAX_COUNT}"))),
    }
}

fn check_positions(positions: &[[f64; 3]]) -> Result<()> {
    let bad = positions.iter().position(|p| !p.iter().all(|x| x.is_finite()));
    match bad {
        None => Ok(()),
        Some(i) => {
            let [x, y, z] = positions[i];
            Err(Error::Seeds(format!("seed {i} is at ({x}, {y}, {z}); give finite coordinates")))
        }
    }
}

fn check_finite(what: &str, numbers: &[f64]) -> Result<()> {
    match numbers.iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(bad) if numbers.len() == 1 => {
            Err(Error::Seeds(format!("{what} is {bad}; give a finite number")))
        }
        Some(bad) => {
            Err(Error::Seeds(format!("{what} {numbers:?} contains {bad}; give finite numbers")))
        }
    }
}

/// Checks lengths, which may be 0.
fn check_length(what: &str, numbers: &[f64]) -> Result<()> {
    check_finite(what, numbers)?;
    match numbers.iter().find(|x| **x < 0.0) {
        None => Ok(()),
        Some(bad) => {
            Err(Error::Seeds(format!("{what} is {bad}; give a number that is not negative")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
        match result {
            Err(Error::Seeds(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn listed_positions_are_unchanged() {
        let positions = vec![[1.0, 2.0, 3.0], [0.1, -5.0, 1e300]];
        let seeds = Seeds::list(positions.clone()).unwrap();
        assert_eq!(seeds.positions(), positions);
        assert_eq!((seeds.len(), seeds.is_empty()), (2, false));
        assert_eq!(seeds.release(), None);
    }

    #[test]
    fn errors_name_the_given_values() {
        assert!(message(Seeds::list(vec![])).contains("none"));
        let nan = Seeds::list(vec![[0.0; 3], [0.0, f64::NAN, 0.0]]);
        assert!(message(nan).contains("seed 1 is at (0, NaN, 0)"));
        assert!(message(Seeds::generate(MAX_COUNT + 1, |_| [0.0; 3])).contains("2147483648"));
        let seeds = Seeds::list(vec![[0.0; 3]; 2]).unwrap();
        let times = seeds.clone().with_release(vec![1.0]);
        assert!(message(times).contains("1 release times for 2 seeds"));
        let times = seeds.clone().with_release(vec![1.0, f64::INFINITY]);
        assert!(message(times).contains("seed 1 is inf"));
        assert!(message(seeds.release_at(f64::NAN)).contains("NaN"));
    }

    #[test]
    fn release_times_are_kept() {
        let seeds = Seeds::list(vec![[0.0; 3]; 2]).unwrap();
        let staggered = seeds.clone().with_release(vec![1.0, 0.5]).unwrap();
        assert_eq!(staggered.release(), Some(&[1.0, 0.5][..]));
        assert_eq!(seeds.release_at(3.0).unwrap().release(), Some(&[3.0, 3.0][..]));
    }

    #[test]
    fn positions_are_converted_to_the_requested_precision() {
        let seeds = Seeds::list(vec![[0.1, 0.2, 0.3], [1e-9, 2.0, 3.0]]).unwrap();
        for precision in [Precision::F32, Precision::F64] {
            let tensor = seeds.tensor(&Device::flex(), precision);
            assert_eq!((tensor.dims(), tensor.dtype()), ([2, 3], precision.dtype()));
            if precision == Precision::F64 {
                assert_eq!(evaluate::on_host(&tensor).unwrap(), seeds.positions());
            }
        }
    }

    #[test]
    fn given_tensor_keeps_its_gradient() {
        let device = Device::flex().autodiff();
        let given = Tensor::<2>::from_floats([[0.5, 1.0, 2.0]], &device).require_grad();
        let seeds = Seeds::from_tensor(given.clone()).unwrap();
        assert_eq!(seeds.positions(), [[0.5, 1.0, 2.0]]);
        for precision in [Precision::F32, Precision::F64] {
            let gradients = seeds.tensor(&device, precision).mul_scalar(3.0).sum().backward();
            let gradient = given.grad(&gradients).unwrap();
            assert_eq!(evaluate::on_host(&gradient).unwrap(), [[3.0; 3]]);
        }
    }

    #[test]
    fn tensor_of_another_shape_is_refused() {
        let given = Tensor::<2>::from_floats([[0.5, 1.0]], &Device::flex());
        assert!(message(Seeds::from_tensor(given)).contains("[1, 2]"));
        let nan = Tensor::<2>::from_floats([[0.5, 1.0, f32::NAN]], &Device::flex());
        assert!(message(Seeds::from_tensor(nan)).contains("seed 0"));
    }
}
