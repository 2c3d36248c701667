//! The fields of the benchmarks.

use burntrace::{
    FieldArray, FieldOptions, Floats, FrameData, FrameSource, GridField, GridSource, Placement,
    PointField, PointSource, Seeds, SourceError, Weighting, burn::tensor::Device,
};
use std::f64::consts::{PI, TAU};

pub const NODES: usize = 64;
const FRAMES: usize = 10;
pub const SPAN: f64 = 2.0;

/// A divergence-free flow in the unit cube, tangential at its walls and periodic in time:
///
/// ```text
/// u =  a(t) sin(pi x) cos(pi y)  - c(t) sin(pi x) cos(pi z)
/// v = -a(t) cos(pi x) sin(pi y)  + b(t) sin(2 pi y) cos(2 pi z)
/// w =  c(t) cos(pi x) sin(pi z)  - b(t) cos(2 pi y) sin(2 pi z)
/// ```
pub fn velocity([x, y, z]: [f64; 3], t: f64) -> [f64; 3] {
    let a = 0.5 * (1.0 + 0.3 * (TAU * t / 4.0).sin());
    let b = 0.25 * (1.0 + 0.5 * (TAU * t / 2.0).cos());
    let c = 0.4 * (1.0 + 0.4 * (TAU * t / 3.0 + 1.0).sin());
    let ((sx, cx), (sy, cy), (sz, cz)) =
        ((PI * x).sin_cos(), (PI * y).sin_cos(), (PI * z).sin_cos());
    let ((s2y, c2y), (s2z, c2z)) = ((TAU * y).sin_cos(), (TAU * z).sin_cos());
    [a * sx * cy - c * sx * cz, b * s2y * c2z - a * cx * sy, c * cx * sz - b * c2y * s2z]
}

pub fn uniform(n: usize, end: f64) -> Vec<f64> {
    (0..n).map(|i| end * i as f64 / (n - 1) as f64).collect()
}

/// The flow at points, on a grid or scattered.
pub struct Sampled {
    axes: [Vec<f64>; 3],
    placement: Placement,
    points: Vec<[f64; 3]>,
    times: Vec<f64>,
    pub arrays: Vec<FieldArray>,
}

impl Sampled {
    /// Nodes of a grid, on uniform or slightly stretched axes.
    pub fn grid(is_even: bool, placement: Placement) -> Self {
        let bend = |x: f64| if is_even { x } else { x.powf(1.1) };
        let axis: Vec<f64> = uniform(NODES, 1.0).into_iter().map(bend).collect();
        let values = if placement == Placement::Cells { NODES - 1 } else { NODES };
        let coordinates = &axis[..values];
        let mut points = Vec::with_capacity(values.pow(3));
        for &z in coordinates {
            for &y in coordinates {
                points.extend(coordinates.iter().map(|&x| [x, y, z]));
            }
        }
        let axes = [axis.clone(), axis.clone(), axis];
        Sampled { axes, placement, points, times: uniform(FRAMES, SPAN), arrays: Vec::new() }
    }

    /// Random points in a cube, in the periodic continuation of the flow.
    pub fn cloud(count: usize, side: f64) -> Self {
        let seeds = Seeds::uniform([0.0; 3], [side; 3], count, 1).expect("points");
        let points = seeds.positions().to_vec();
        let axes = [vec![], vec![], vec![]];
        Sampled {
            axes,
            placement: Placement::Nodes,
            points,
            times: uniform(FRAMES, SPAN),
            arrays: Vec::new(),
        }
    }
}

impl FrameSource for Sampled {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn arrays(&self) -> &[FieldArray] {
        &self.arrays
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        let time = self.times[frame];
        let single = |p: &[f64; 3]| velocity(*p, time).map(|u| u as f32);
        let velocity = Floats::F32(self.points.iter().flat_map(single).collect());
        let scalar = |_| Floats::F32(self.points.iter().map(|p| (p[0] + time) as f32).collect());
        Ok(FrameData::new(velocity).with_arrays(self.arrays.iter().map(scalar).collect()))
    }
}

impl GridSource for Sampled {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.axes
    }

    fn placement(&self) -> Placement {
        self.placement
    }
}

impl PointSource for Sampled {
    fn positions(&self) -> &[[f64; 3]] {
        &self.points
    }
}

pub fn grid(device: &Device, is_even: bool, placement: Placement) -> GridField {
    let mut source = Sampled::grid(is_even, placement);
    GridField::load(&mut source, device, &FieldOptions::default()).expect("a field")
}

/// The field of the main benchmark.
pub fn field(device: &Device) -> GridField {
    grid(device, true, Placement::Nodes)
}

pub fn cloud(count: usize, side: f64, weighting: Weighting) -> PointField {
    let mut source = Sampled::cloud(count, side);
    PointField::load(&mut source, &Device::flex(), &FieldOptions::default(), weighting)
        .expect("a field")
}
