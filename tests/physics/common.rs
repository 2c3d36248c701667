//! Shared helpers: devices, grids from formulas, and runs on the host.

use crate::requirements::{OTHER_THAN_DEVICES, skip};
use burn::tensor::{Device, Int, Tensor};
use burntrace::{
    Engine, FieldOptions, Floats, FrameData, FrameSource, GridField, GridSource, OutsideTime,
    Placement, Precision, Seeds, SourceError, Span, Status, Summary, Tracer, Tracks,
    device::{self, OpenDevice},
};
pub use burntrace_bench::random::Dice;
use std::sync::OnceLock;

/// A device with a precision.
#[derive(Clone, Debug)]
pub struct Machine {
    pub name: String,
    pub device: Device,
    pub precision: Precision,
}

impl Machine {
    /// Machine epsilon of the precision.
    pub fn eps(&self) -> f64 {
        match self.precision {
            Precision::F32 => f64::from(f32::EPSILON),
            Precision::F64 => f64::EPSILON,
        }
    }

    pub fn is_cpu(&self) -> bool {
        ["flex", "ndarray"].contains(&self.name.as_str())
    }

    /// The engines to test. On a software GPU the tensor engine takes about a second for two steps, so it is
    /// tested separately there.
    pub fn engines(&self) -> &'static [Engine] {
        if self.is_cpu() { &[Engine::Fused, Engine::Tensor] } else { &[Engine::Fused] }
    }

    pub fn is_double(&self) -> bool {
        self.precision == Precision::F64
    }

    /// Loads frames onto the device with the given options and this precision.
    pub fn load(&self, frames: &Frames, options: FieldOptions) -> GridField {
        let precision = self.precision;
        let options = FieldOptions { precision, ..options };
        GridField::load(&mut frames.clone(), &self.device, &options).unwrap()
    }

    /// Loads frames onto the device.
    pub fn field(&self, frames: &Frames) -> GridField {
        self.load(frames, FieldOptions::default())
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.precision)
    }
}

/// Every device with each precision that it supports.
pub fn machines() -> Vec<Machine> {
    static MACHINES: OnceLock<Vec<Machine>> = OnceLock::new();
    MACHINES.get_or_init(find_machines).clone()
}

/// Every device, graphics cards in single precision only: the source of their kernels does not depend on the precision,
/// and a software GPU takes seconds to compile one and minutes for many launches.
pub fn some_machines() -> Vec<Machine> {
    machines().into_iter().filter(|machine| machine.is_cpu() || !machine.is_double()).collect()
}

/// Every device that supports double precision, in double precision.
pub fn double_machines() -> Vec<Machine> {
    machines().into_iter().filter(Machine::is_double).collect()
}

/// CPU devices in double precision.
pub fn exact_machines() -> Vec<Machine> {
    double_machines().into_iter().filter(Machine::is_cpu).collect()
}

fn find_machines() -> Vec<Machine> {
    let required = std::env::var("BURNTRACE_REQUIRE").unwrap_or_default();
    let is_device = |name: &&str| !name.is_empty() && !OTHER_THAN_DEVICES.contains(name);
    let required: Vec<&str> = required.split(',').map(str::trim).filter(is_device).collect();
    let mut names = vec!["flex", "ndarray", "vulkan:0"];
    let kind = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
    for name in &required {
        if !names.iter().any(|known| kind(known) == kind(name)) {
            names.push(name);
        }
    }
    let mut machines = Vec::new();
    for name in names {
        match device::open(name) {
            Ok(open) => {
                let machine = |open: OpenDevice, precision| Machine {
                    name: open.name,
                    device: open.device,
                    precision,
                };
                let double = for_double(&open);
                machines.push(machine(open, Precision::F32));
                match double {
                    Some(double) => machines.push(machine(double, Precision::F64)),
                    None => eprintln!("skipped: {name} in double precision (not supported)"),
                }
            }
            Err(error) => skip(&kind(name), &error.to_string()),
        }
    }
    machines
}

/// The device for double precision beside one for single precision: through wgpu for Vulkan, as each device compiles its
/// kernels on a thread of its own.
fn for_double(open: &OpenDevice) -> Option<OpenDevice> {
    let is_vulkan = open.name.starts_with("vulkan");
    let other = is_vulkan.then(|| device::open("wgpu:0").ok()).flatten();
    let same_card = other.filter(|other| other.has_f64 && other.description == open.description);
    same_card.or_else(|| open.has_f64.then(|| open.clone()))
}

/// Frames in memory.
#[derive(Clone, Debug)]
pub struct Frames {
    pub axes: [Vec<f64>; 3],
    pub placement: Placement,
    pub times: Vec<f64>,
    /// `u, v, w` of each node or cell, one vector for each frame.
    pub values: Vec<Vec<f64>>,
}

impl Frames {
    /// A formula sampled at the nodes, or at the cell centres.
    pub fn new(
        axes: [Vec<f64>; 3],
        placement: Placement,
        times: &[f64],
        mut velocity: impl FnMut([f64; 3], f64) -> [f64; 3],
    ) -> Self {
        let positions = match placement {
            Placement::Nodes | Placement::Faces => axes.clone(),
            Placement::Cells => axes.each_ref().map(|axis| centres(axis)),
        };
        let [xs, ys, zs] = positions;
        let mut values = Vec::new();
        for &t in times {
            let mut frame = Vec::new();
            for &z in &zs {
                for &y in &ys {
                    for &x in &xs {
                        frame.extend(velocity([x, y, z], t));
                    }
                }
            }
            values.push(frame);
        }
        Frames { axes, placement, times: times.to_vec(), values }
    }

    /// A spatially uniform velocity in a box, on the minimum number of nodes.
    pub fn uniform(
        low: [f64; 3],
        high: [f64; 3],
        times: &[f64],
        mut velocity: impl FnMut(f64) -> [f64; 3],
    ) -> Self {
        let axes = [0, 1, 2].map(|d| match low[d] == high[d] {
            true => vec![low[d]],
            false => vec![low[d], high[d]],
        });
        Frames::new(axes, Placement::Nodes, times, |_, t| velocity(t))
    }
}

fn centres(axis: &[f64]) -> Vec<f64> {
    match axis {
        [only] => vec![*only],
        _ => axis.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect(),
    }
}

impl GridSource for Frames {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.axes
    }

    fn placement(&self) -> Placement {
        self.placement
    }
}

impl FrameSource for Frames {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        Ok(Floats::F64(self.values[frame].clone()).into())
    }
}

/// `cells + 1` equidistant nodes.
pub fn even_axis(low: f64, high: f64, cells: usize) -> Vec<f64> {
    let node = |i: usize| low + (high - low) * (i as f64 / cells as f64);
    (0..=cells).map(|i| if i == cells { high } else { node(i) }).collect()
}

/// `cells + 1` nodes with spacings that grow about threefold from the first to the last.
pub fn stretched_axis(low: f64, high: f64, cells: usize) -> Vec<f64> {
    let at = |i: usize| {
        let s = i as f64 / cells as f64;
        low + (high - low) * (0.5 * s + 0.5 * s * s)
    };
    (0..=cells).map(|i| if i == cells { high } else { at(i) }).collect()
}

/// Field options with a rule for times outside the frames.
pub fn outside(outside_time: OutsideTime) -> FieldOptions {
    FieldOptions { outside_time, ..FieldOptions::default() }
}

/// Steps of `dt` from `t0` to `t1`.
pub fn span(t0: f64, t1: f64, dt: f64) -> Span {
    Span { t0: Some(t0), t1: Some(t1), dt: Some(dt), steps: None }
}

/// A number of steps from `t0` to `t1`.
pub fn steps(t0: f64, t1: f64, steps: u64) -> Span {
    Span { t0: Some(t0), t1: Some(t1), dt: None, steps: Some(steps) }
}

/// The tracks of a run, on the host.
#[derive(Clone, Debug)]
pub struct Run {
    pub times: Vec<f64>,
    /// Positions of each save.
    pub saves: Vec<Vec<[f64; 3]>>,
    /// Velocities of each save, if requested.
    pub velocities: Option<Vec<f64>>,
    /// Periods crossed by the end.
    pub image: Vec<[i64; 3]>,
    pub status: Vec<Status>,
    pub release_time: Vec<f64>,
    pub end_time: Vec<f64>,
    pub summary: Summary,
}

impl Run {
    /// Positions of the last save.
    pub fn last(&self) -> &[[f64; 3]] {
        self.saves.last().unwrap()
    }

    /// Final positions, unwrapped.
    pub fn unwrapped(&self, width: [f64; 3]) -> Vec<[f64; 3]> {
        let pairs = self.last().iter().zip(&self.image);
        pairs.map(|(p, image)| std::array::from_fn(|d| p[d] + image[d] as f64 * width[d])).collect()
    }
}

/// Traces and reads everything back.
pub fn trace(tracer: &Tracer, seeds: &Seeds) -> Run {
    read(&tracer.trace(seeds).unwrap())
}

pub fn read(tracks: &Tracks) -> Run {
    let last = tracks.saves().last().unwrap();
    let ends = tracks.ends();
    let codes: Vec<Status> = integers(last.status.clone())
        .into_iter()
        .map(|code| Status::from_code(code as i32).unwrap())
        .collect();
    let summary = tracks.summary().unwrap().clone();
    for (then, now) in codes.iter().zip(&ends.status) {
        let has_changed = then != now && !summary.cancelled;
        assert!(!has_changed || !then.has_ended(), "{then} is final, but changed to {now}");
    }
    assert_eq!(summary.released, summary.active() + summary.ended(), "{summary:?}");
    Run {
        times: tracks.times(),
        saves: tracks.saves().iter().map(|save| rows(save.position.clone())).collect(),
        velocities: tracks.velocities().map(floats),
        image: integers(last.image.clone()).as_chunks().0.to_vec(),
        status: ends.status.clone(),
        release_time: ends.release_time.clone(),
        end_time: ends.end_time.clone(),
        summary,
    }
}

/// The values of a tensor in double precision.
pub fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().convert::<f64>().try_to_vec().unwrap()
}

/// The values of an integer tensor.
pub fn integers<const D: usize>(tensor: Tensor<D, Int>) -> Vec<i64> {
    tensor.into_data().convert::<i64>().try_to_vec().unwrap()
}

/// Rows of three.
pub fn rows(tensor: Tensor<2>) -> Vec<[f64; 3]> {
    floats(tensor).as_chunks().0.to_vec()
}

/// The maximum difference of coordinates between two lists of points; NaN counts as infinite.
pub fn distance(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    assert_eq!(a.len(), b.len());
    let each = a.as_flattened().iter().zip(b.as_flattened());
    each.map(|(a, b)| (a - b).abs()).fold(0.0, |max, d| {
        if d <= max {
            max
        } else if d.is_nan() {
            f64::INFINITY
        } else {
            d
        }
    })
}

/// Checks a number against a bound, with the location in the message.
#[track_caller]
pub fn assert_below(what: &str, found: f64, bound: f64) {
    assert!(found <= bound, "{what}: {found:e} is not below {bound:e}");
}
