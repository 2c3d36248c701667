//! Analytic flows as fields and as sources of frames.

use super::{
    domain::{AXES, Domain},
    flows::Flow,
    formula::Formula,
    frames::TimeAxis,
    interface::{Field, Internals, Sealed},
    sampled::Sampled,
    source::{FrameData, FrameSource, GridSource, SourceError},
};
use crate::{
    Error, Floats, FreeMemory, OutsideTime, Placement, Precision, Result, TimeInterpolation, device,
};
use burn::tensor::{DType, Device, Tensor, TensorData};

/// A [`Flow`] in a box on a device: exact velocities without a grid.
#[derive(Clone, Debug)]
pub struct Analytic {
    flow: Flow,
    /// The flow's formula at positions measured from the origin, without the components along flat axes.
    formula: Formula,
    sampled: Sampled,
}

/// Maximum number of nodes of a sampled flow along an axis, which single precision can number.
const MAX_NODES: usize = 1 << 24;
/// Maximum number of values in all frames of a sampled flow.
const MAX_VALUES: usize = 1 << 48;

impl Analytic {
    /// A flow in its own [`domain`](Flow::domain), evaluated on a device in a precision.
    ///
    /// Vulkan has sines in single precision only: on Vulkan, results in double precision may be
    /// inaccurate, without a warning.
    pub fn new(flow: Flow, device: &Device, precision: Precision) -> Self {
        let domain = flow.domain();
        Analytic::of(flow, domain, device, precision)
    }

    /// Replaces the domain, for example by an [unbounded](Domain::unbounded) one.
    pub fn with_domain(self, domain: Domain) -> Self {
        Analytic::of(self.flow, domain, &self.sampled.device, self.sampled.precision)
    }

    fn of(flow: Flow, domain: Domain, device: &Device, precision: Precision) -> Self {
        let plain = flow.formula().without([0, 1, 2].map(|d| domain.is_flat(d)));
        let origin = domain.origin();
        let (formula, origin) = match plain.measured_from(origin) {
            Some(measured) => (measured, origin),
            None => (plain, [0.0; 3]),
        };
        let sampled = formula.sampled((domain, origin), device, precision);
        Analytic { flow, formula, sampled }
    }

    /// The flow.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Samples a flow at the nodes of a uniform grid: `nodes` along x, y and z, the outermost on
    /// the faces of the box, and one on a flat axis.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] if the box is not finite; [`Error::Sample`] if an axis that is not flat has a
    /// single node, a flat axis several, or the frames more values than any device holds;
    /// [`Error::Empty`] if there are no nodes or times; [`Error::Times`] if times do not increase.
    pub fn sample(
        flow: Flow,
        domain: Domain,
        nodes: [usize; 3],
        times: Vec<f64>,
    ) -> Result<FlowFrames> {
        TimeAxis::new(times.clone(), OutsideTime::Error, TimeInterpolation::Linear)?;
        check_sample(&domain, nodes, times.len())?;
        let axes = [0, 1, 2].map(|d| axis(domain.low[d], domain.high[d], nodes[d]));
        Ok(FlowFrames { flow, axes, times })
    }
}

impl Field for Analytic {
    fn velocity(&self, position: Tensor<2>, time: f64) -> Tensor<2> {
        self.formula.velocity_at(&self.sampled.measured(position), &[time])
    }

    fn velocity_at(&self, position: Tensor<2>, times: &[f64]) -> Option<Tensor<2>> {
        Some(self.formula.velocity_at(&self.sampled.measured(position), times))
    }

    fn domain(&self) -> Domain {
        self.sampled.domain
    }

    fn device(&self) -> Device {
        self.sampled.device.clone()
    }

    fn precision(&self) -> Precision {
        self.sampled.precision
    }

    fn internals(&self, _: Sealed) -> Internals<'_> {
        Internals {
            sampled: Some(&self.sampled),
            formula: Some(&self.formula),
            ..Internals::default()
        }
    }

    fn to_device(&self, device: &Device) -> Result<Box<dyn Field>> {
        device::check_precision(device, self.sampled.precision)?;
        let (domain, precision) = (self.sampled.domain, self.sampled.precision);
        Ok(Box::new(Analytic::of(self.flow.clone(), domain, device, precision)))
    }
}

/// A [`Flow`] at the nodes of a grid and a series of times, evaluated in f64 when a frame is read.
/// Create it with [`Analytic::sample`].
#[derive(Clone, Debug)]
pub struct FlowFrames {
    flow: Flow,
    axes: [Vec<f64>; 3],
    times: Vec<f64>,
}

/// Number of nodes evaluated at once, to keep temporary arrays small.
const CHUNK: usize = 1 << 16;

impl FlowFrames {
    /// Velocities of a range of nodes, x varying fastest.
    fn nodes(
        &self,
        range: std::ops::Range<usize>,
        time: f64,
    ) -> std::result::Result<Vec<f64>, SourceError> {
        let [x, y, z] = &self.axes;
        let count = range.len();
        let node = |i: usize| [x[i % x.len()], y[i / x.len() % y.len()], z[i / x.len() / y.len()]];
        let positions: Vec<f64> = range.flat_map(node).collect();
        let data = TensorData::new(positions, [count, 3]);
        let positions = Tensor::from_data(data, (&Device::flex(), DType::F64));
        let velocity = self.flow.velocity(positions, time).try_into_data()?;
        Ok(velocity.try_into_vec::<f64>()?)
    }
}

impl GridSource for FlowFrames {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.axes
    }

    fn placement(&self) -> Placement {
        Placement::Nodes
    }
}

impl FrameSource for FlowFrames {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn read(&mut self, frame: usize) -> std::result::Result<FrameData, SourceError> {
        let time = *self.times.get(frame).ok_or_else(|| {
            format!("there is no frame {frame}; the flow has {} frames", self.times.len())
        })?;
        let count = self.axes.iter().map(Vec::len).product();
        let mut velocity = Vec::new();
        let reserved = velocity.try_reserve_exact(3 * count);
        reserved.map_err(|_| {
            format!(
                "there is not enough memory for {count} velocities; sample the flow at fewer nodes{}",
                FreeMemory::now()
            )
        })?;
        for first in (0..count).step_by(CHUNK) {
            velocity.extend(self.nodes(first..count.min(first + CHUNK), time)?);
        }
        Ok(Floats::F64(velocity).into())
    }
}

/// Checks that the nodes of a sample fit its domain.
fn check_sample(domain: &Domain, nodes: [usize; 3], frames: usize) -> Result<()> {
    let [x, y, z] = nodes;
    let total = nodes.iter().try_fold(frames, |all, count| all.checked_mul(*count));
    if nodes.iter().any(|count| *count > MAX_NODES) || total.is_none_or(|all| all > MAX_VALUES) {
        return Err(Error::Sample(format!(
            "it has {x} x {y} x {z} nodes and {frames} frames; the maximum is {MAX_NODES} nodes along \
             an axis, and {MAX_VALUES} values in all"
        )));
    }
    if nodes.contains(&0) {
        return Err(Error::Empty("an axis of the grid has no nodes"));
    }
    for (d, axis) in AXES.into_iter().enumerate() {
        let (low, high, count) = (domain.low[d], domain.high[d], nodes[d]);
        if !low.is_finite() || !high.is_finite() {
            return Err(Error::Domain { axis, low, high });
        }
        let fail = |extent: String, give: &str| {
            Err(Error::Sample(format!(
                "it has {count} nodes along {axis}, where the domain {extent}; give {give}"
            )))
        };
        match (low == high, count) {
            (true, 2..) => return fail("is flat".into(), "1"),
            (false, 1) => return fail(format!("extends from {low} to {high}"), "2 or more"),
            _ => {}
        }
    }
    Ok(())
}

/// Node coordinates of an axis, exact at both ends.
fn axis(low: f64, high: f64, nodes: usize) -> Vec<f64> {
    let last = nodes.saturating_sub(1).max(1) as f64;
    let node =
        |i| if i > 0 && i + 1 == nodes { high } else { low + (high - low) * (i as f64 / last) };
    (0..nodes).map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flow;

    fn double_gyre() -> Flow {
        Flow::named("double-gyre").unwrap()
    }

    fn velocity(flow: &Flow, p: [f64; 3], t: f64) -> Vec<f64> {
        let data = TensorData::new(p.to_vec(), [1, 3]);
        let p = Tensor::<2>::from_data(data, (&Device::flex(), DType::F64));
        flow.velocity(p, t).into_data().try_to_vec().unwrap()
    }

    #[test]
    fn flat_axes_have_no_velocity() {
        let flow = Flow::named("abc").unwrap();
        let p = Tensor::<2>::from_floats([[0.1, 0.2, 0.3]], &Device::flex());
        let field = Analytic::new(flow.clone(), &Device::flex(), Precision::F32);
        let full: Vec<f32> = field.velocity(p.clone(), 0.0).into_data().try_to_vec().unwrap();
        let flat = Domain::new([0.0, 0.2, 0.0], [1.0, 0.2, 1.0]).unwrap();
        let field = field.with_domain(flat);
        assert_eq!(field.domain(), flat);
        let found: Vec<f32> = field.velocity(p, 0.0).into_data().try_to_vec().unwrap();
        assert!(full.iter().all(|u| *u != 0.0));
        assert_eq!(found, [full[0], 0.0, full[2]]);
    }

    #[test]
    fn frames_hold_the_flow_at_the_nodes_with_x_fastest() {
        let flow = double_gyre();
        let mut frames =
            Analytic::sample(flow.clone(), flow.domain(), [5, 3, 1], vec![0.0, 2.5]).unwrap();
        assert_eq!(frames.axes()[0], [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!((frames.axes()[2].as_slice(), frames.times().len()), (&[0.0][..], 2));
        let Floats::F64(values) = frames.read(1).unwrap().velocity else {
            panic!("expected double precision")
        };
        assert_eq!(values.len(), 45);
        let node = 3 * (5 + 3);
        assert_eq!(values[node..node + 3], velocity(&flow, [1.5, 0.5, 0.0], 2.5));
        assert!(frames.read(2).is_err());
    }

    #[test]
    fn chunked_evaluation_gives_the_same_velocities() {
        let flow = Flow::named("abc").unwrap();
        let mut frames =
            Analytic::sample(flow.clone(), flow.domain(), [41, 41, 42], vec![0.0]).unwrap();
        let Floats::F64(values) = frames.read(0).unwrap().velocity else {
            panic!("expected double precision")
        };
        assert!(values.len() > 3 * CHUNK);
        let [x, y, z] = frames.axes().clone();
        for i in [0, CHUNK - 1, CHUNK, values.len() / 3 - 1] {
            let p = [x[i % 41], y[i / 41 % 41], z[i / 41 / 41]];
            for (found, expected) in values[3 * i..].iter().zip(velocity(&flow, p, 0.0)) {
                assert!((found - expected).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn invalid_grids_are_refused() {
        let sample = |domain, nodes, times| Analytic::sample(double_gyre(), domain, nodes, times);
        let natural = double_gyre().domain();
        let unbounded = sample(Domain::unbounded(), [5; 3], vec![0.0]);
        assert!(matches!(unbounded, Err(Error::Domain { .. })));
        for nodes in [[5, 1, 1], [5, 5, 2], [usize::MAX, 5, 1], [1 << 24, 1 << 24, 2]] {
            let refused = sample(natural, nodes, vec![0.0]);
            assert!(matches!(refused, Err(Error::Sample(_))), "{nodes:?}");
        }
        assert!(matches!(sample(natural, [5, 0, 1], vec![0.0]), Err(Error::Empty(_))));
        assert!(matches!(sample(natural, [5, 5, 1], vec![]), Err(Error::Empty(_))));
        assert!(matches!(sample(natural, [5, 5, 1], vec![1.0, 1.0]), Err(Error::Times { .. })));
    }
}
