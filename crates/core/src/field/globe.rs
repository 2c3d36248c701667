//! Grids on a sphere: velocities as vectors in space, and rows of nodes at the poles.

use super::lanes::LANES;
use crate::{Error, Result};
use burn::tensor::Tensor;
use burntrace_kernels::Placement;

/// The mean radius of the earth in metres (Moritz 2000, Geodetic Reference System 1980).
pub const EARTH_RADIUS: f64 = 6_371_008.8;

/// A full circle in degrees.
pub const CIRCLE: f64 = 360.0;

/// The point in space, in metres from the centre of a sphere, at a longitude and a latitude in degrees and a height in metres.
pub fn in_space(radius: f64, [lon, lat, height]: [f64; 3]) -> [f64; 3] {
    let ((sin_lon, cos_lon), (sin_lat, cos_lat)) =
        (lon.to_radians().sin_cos(), lat.to_radians().sin_cos());
    [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat].map(|x| (radius + height) * x)
}

/// The longitude between -180 and 180 and the latitude in degrees, and the height in metres, of a point in space.
pub fn of_space(radius: f64, [x, y, z]: [f64; 3]) -> [f64; 3] {
    let axis = x.hypot(y);
    [y.atan2(x).to_degrees(), z.atan2(axis).to_degrees(), axis.hypot(z) - radius]
}

/// Metres for each degree of longitude, degree of latitude, and metre of height at a position on a sphere.
pub fn scales(radius: f64, [_, lat, height]: [f64; 3]) -> [f64; 3] {
    let degree = (radius + height).to_radians();
    [degree * lat.to_radians().cos(), degree, 1.0]
}

/// Refuses a radius that is not positive.
pub(super) fn check_radius(radius: f64) -> Result<()> {
    match radius.is_finite() && radius > 0.0 {
        true => Ok(()),
        false => Err(Error::Sphere(format!(
            "its radius is {radius}; give metres, such as {EARTH_RADIUS}"
        ))),
    }
}

/// Refuses latitudes beyond the poles.
pub(super) fn check_latitudes([south, north]: [f64; 2]) -> Result<()> {
    match south.min(-north) < -90.0 - SLACK {
        false => Ok(()),
        true => Err(Error::Sphere(format!(
            "latitudes are from {south} to {north}; give -90 to 90 degrees"
        ))),
    }
}

/// Sine and cosine of an angle in degrees.
pub(super) type Turn = [f64; 2];

/// Of an angle in degrees.
pub(super) fn turn(degrees: f64) -> Turn {
    degrees.to_radians().sin_cos().into()
}

/// A velocity towards the east, the north and upwards at a longitude and a latitude, as a vector in space and the part
/// upwards.
pub(super) fn vector_and_height([lon, lat]: [Turn; 2], [east, north, up]: [f64; 3]) -> [f64; 4] {
    let ([sin_lon, cos_lon], [sin_lat, cos_lat]) = (lon, lat);
    // Along the meridian, away from the axis.
    let away = -sin_lat * north;
    let [x, y] = [away * cos_lon - east * sin_lon, away * sin_lon + east * cos_lon];
    [x, y, cos_lat * north, up]
}

/// Part of a degree that is rounding.
const SLACK: f64 = 1e-6;

/// A grid of longitudes and latitudes in degrees on a sphere.
#[derive(Debug)]
pub(crate) struct Globe {
    /// The axes, with the rows at poles that are added.
    pub axes: [Vec<f64>; 3],
    /// The row of the source of each latitude.
    rows: Vec<usize>,
    /// Sines and cosines of the longitudes, and of the latitudes of the source.
    lon: Vec<Turn>,
    lat: Vec<Turn>,
    /// Whether the last longitude is the first one again.
    pub is_closed: bool,
}

impl Globe {
    /// # Errors
    ///
    /// [`Error::Sphere`] for axes that are no longitudes and latitudes, velocities in cells, and a radius that is not
    /// positive.
    pub fn new(radius: f64, axes: &[Vec<f64>; 3], placement: Placement) -> Result<Self> {
        let fail = |text: String| Err(Error::Sphere(text));
        check_radius(radius)?;
        if placement == Placement::Cells {
            return fail("velocities are in cells; give them at the nodes".into());
        }
        let [([west, .., east], [south, .., north])] = [(&axes[0][..], &axes[1][..])] else {
            return fail("a grid has at least two longitudes and two latitudes".into());
        };
        check_latitudes([*south, *north])?;
        if east - west > CIRCLE + SLACK {
            return fail(format!("longitudes are from {west} to {east}; give 360 degrees at most"));
        }
        let is_closed = east - west >= CIRCLE - SLACK;
        let turns = |axis: &[f64]| axis.iter().copied().map(turn).collect();
        let [lon, lat, z] = axes;
        let mut globe = Globe {
            axes: [even(lon), even(lat), z.clone()],
            rows: (0..axes[1].len()).collect(),
            lon: turns(&axes[0]),
            lat: turns(&axes[1]),
            is_closed,
        };
        if is_closed {
            globe.reach_poles();
        }
        Ok(globe)
    }

    /// Adds a row at a pole that is at most as far from the last row as this is from the row before.
    fn reach_poles(&mut self) {
        let lat = &mut self.axes[1];
        let last = lat.len() - 1;
        let is_near = |gap: f64, spacing: f64| gap > SLACK && gap <= spacing + SLACK;
        let (south, north) = (lat[0] + 90.0, 90.0 - lat[last]);
        let spacings = [lat[1] - lat[0], lat[last] - lat[last - 1]];
        if is_near(north, spacings[1]) {
            lat.push(90.0);
            self.rows.push(last);
        }
        if is_near(south, spacings[0]) {
            lat.insert(0, -90.0);
            self.rows.insert(0, 0);
        }
    }

    /// The index in the source of each value, if rows are added.
    pub fn order(&self) -> Option<Vec<usize>> {
        let [nx, ny, nz] = self.axes.each_ref().map(Vec::len);
        let of_source = self.lat.len();
        if ny == of_source {
            return None;
        }
        let index = |value: usize| {
            let (i, j, k) = (value % nx, value / nx % ny, value / (nx * ny));
            i + nx * (self.rows[j] + of_source * k)
        };
        Some((0..nx * ny * nz).map(index).collect())
    }

    /// The longitude and the latitude of a value.
    pub fn place(&self, value: usize) -> [Turn; 2] {
        let (nx, ny) = (self.axes[0].len(), self.axes[1].len());
        [self.lon[value % nx], self.lat[self.rows[value / nx % ny]]]
    }

    /// The latitudes of the rows at poles that are added.
    fn added_rows(&self) -> impl Iterator<Item = usize> {
        let is_added = |j: &usize| {
            [j.checked_sub(1), Some(j + 1)].iter().flatten().any(|other| {
                self.rows.get(*other) == Some(&self.rows[*j]) && self.axes[1][*j].abs() == 90.0
            })
        };
        (0..self.axes[1].len()).filter(is_added)
    }

    /// Number of different longitudes.
    fn distinct(&self) -> usize {
        self.axes[0].len() - usize::from(self.is_closed)
    }

    /// As [`join_poles`](Globe::join_poles), of frames of rows `[frames, values, 4]`.
    pub fn join_poles_of(&self, rows: Tensor<3>) -> Tensor<3> {
        let ([nx, ny, nz], [frames, values, _]) = (self.axes.each_ref().map(Vec::len), rows.dims());
        let mut rows = rows.reshape([frames * nz, ny, nx, LANES]);
        for j in self.added_rows() {
            let row = rows.clone().narrow(1, j, 1);
            let mean = row.clone().narrow(2, 0, self.distinct()).mean_dim(2).expand(row.dims());
            rows = rows.slice_assign([0..frames * nz, j..j + 1, 0..nx, 0..LANES], mean);
        }
        rows.reshape([frames, values, LANES])
    }

    /// Gives all values of an added row the mean of the row beside it, as they are at one point.
    pub fn join_poles<T: Copy + Into<f64>>(&self, rows: &mut [[T; 4]], cast: impl Fn(f64) -> T) {
        let [nx, ny, nz] = self.axes.each_ref().map(Vec::len);
        let distinct = self.distinct();
        for j in self.added_rows() {
            for k in 0..nz {
                let row = &mut rows[nx * (j + ny * k)..][..nx];
                let mut mean = [0.0; 4];
                for value in &row[..distinct] {
                    (0..4).for_each(|d| mean[d] += value[d].into() / distinct as f64);
                }
                row.fill(mean.map(&cast));
            }
        }
    }
}

/// An axis without the rounding of single precision, if it is even: its cells are found faster.
fn even(axis: &[f64]) -> Vec<f64> {
    let (first, last) = (axis[0], axis[axis.len() - 1]);
    let node = |i: usize| first + (last - first) * i as f64 / (axis.len() - 1) as f64;
    let rounding = f64::from(f32::EPSILON) * first.abs().max(last.abs());
    match axis.iter().enumerate().all(|(i, x)| (x - node(i)).abs() <= rounding) {
        true => (0..axis.len()).map(node).collect(),
        false => axis.to_vec(),
    }
}
