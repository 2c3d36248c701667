//! Gradients by times: the start and the end of the run, and releases.

use super::{Tracer, rows::floats, start::Releases, walk};
use crate::{
    Error, Result, Seeds,
    error::short,
    schedule::{Schedule, TimeSpan},
};
use burn::tensor::{Device, Tensor, TensorData};

impl Tracer<'_> {
    /// Sets the start and the end of the run from a tensor `[2]`, in the data's unit of time. If it tracks gradients, positions
    /// depend on it: all steps move and stretch with the run, at a constant number of them.
    ///
    /// ```
    /// use burntrace_core::{FieldOptions, GridField, Seeds, Tracer};
    /// use burn::tensor::{Device, Tensor};
    ///
    /// # fn main() -> Result<(), burntrace_core::Error> {
    /// let axes = [vec![0.0, 4.0], vec![0.0, 1.0], vec![0.0]];
    /// let (device, options) = (Device::flex().autodiff(), FieldOptions::default());
    /// let wind = GridField::from_fn(axes, vec![0.0], &device, &options, |_, _| [0.5, 0.0, 0.0])?;
    /// let times = Tensor::<1>::from_floats([0.0, 2.0], &device).require_grad();
    /// let tracer = Tracer::new(&wind).times(times.clone())?.steps(10);
    /// let tracks = tracer.trace(&Seeds::list(vec![[0.0, 0.5, 0.0]])?)?;
    /// let gradients = tracks.positions().sum().backward();
    /// let by_times: Vec<f64> = times.grad(&gradients).unwrap().into_data().iter::<f64>().collect();
    /// assert!((by_times[0] + 0.5).abs() < 1e-5 && (by_times[1] - 0.5).abs() < 1e-5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Span`] for a tensor of another shape, and [`Error::Execution`] if its device fails.
    pub fn times(mut self, times: Tensor<1>) -> Result<Self> {
        let dims = times.dims();
        if dims != [2] {
            return Err(Error::Span(format!(
                "the start and the end of the run are a tensor {dims:?}; give one of the shape [2]"
            )));
        }
        let numbers = numbers(&times)?;
        (self.span.t0, self.span.t1) = (Some(numbers[0]), Some(numbers[1]));
        self.times = times.device().is_autodiff().then_some(times);
        Ok(self)
    }

    /// Refuses times that another span has replaced, to which their gradients would not belong.
    pub(super) fn check_times(&self, span: &TimeSpan) -> Result<()> {
        let Some(times) = &self.times else { return Ok(()) };
        let given = numbers(times)?;
        match given == [span.t0, span.t1] {
            true => Ok(()),
            false => Err(Error::Span(format!(
                "the run is from {} to {}, and the tensor of its start and end has {} and {}; call `Tracer::times` \
                 after `Tracer::span`",
                short(span.t0),
                short(span.t1),
                short(given[0]),
                short(given[1])
            ))),
        }
    }

    /// Whether steps have gradients by the times between which they are taken.
    pub(super) fn has_tracked_times(&self, seeds: &Seeds) -> bool {
        self.times.is_some() || seeds.tracked_release().is_some()
    }
}

/// The numbers of a tensor, without its graph.
pub(crate) fn numbers<const D: usize>(tensor: &Tensor<D>) -> Result<Vec<f64>> {
    floats(&tensor.clone().detach())
}

/// The start and the end of the run `[2]` in their graph; zeros if they have none.
pub(super) fn span(tracer: &Tracer, device: &Device) -> Tensor<1> {
    let dtype = tracer.field.precision().dtype();
    match &tracer.times {
        None => Tensor::zeros([2], (device, dtype)),
        // A move is recorded in the graph, even to the same device.
        Some(times) if times.device() == *device => times.clone().cast(dtype),
        Some(times) => times.clone().to_device(device).cast(dtype),
    }
}

/// The fractions `[n]` of steps at which seeds are released, in the graph of the release times.
pub(super) fn fractions(
    fraction: Tensor<1>,
    seeds: &Seeds,
    (tracer, releases, schedule): (&Tracer, &Releases, &Schedule),
) -> Tensor<1> {
    let (Some(times), Some(each)) = (seeds.tracked_release(), &releases.each) else {
        return fraction;
    };
    let ends = |fraction: f64| {
        schedule.times_of(&each.iter().map(|(_, step)| (*step, fraction)).collect::<Vec<_>>())
    };
    let lengths = ends(1.0).into_iter().zip(ends(0.0)).map(|(end, start)| end - start);
    let span = &schedule.span;
    // A seed that would be released before the start of the run is released then.
    let is_in_run = |time: f64| (time - span.t0) / span.dt >= 0.0;
    let per = lengths.zip(each).map(|(length, (time, _))| match is_in_run(*time) {
        true if length.is_finite() => 1.0 / length,
        _ => 0.0,
    });
    let device = walk::device(tracer, true);
    let beside = (&device, fraction.dtype());
    let per = Tensor::<1>::from_data(TensorData::from(&per.collect::<Vec<f64>>()[..]), beside);
    let known = Tensor::<1>::from_data(fraction.into_data(), beside);
    let times = match times.device() == device {
        true => times.clone(),
        false => times.clone().to_device(&device),
    };
    let times = times.cast(known.dtype());
    known + (times.clone() - times.detach()) * per
}
