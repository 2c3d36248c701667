//! Residence by voxel: how long particles stay in each cell of a lattice, how often they enter it, how many they are, and when they first get
//! there.
//!
//! ```
//! use burntrace_analysis::residence::{Point, Residence, Voxels};
//!
//! // Four cells in a row. A particle moves through three of them, and turns back.
//! let voxels = Voxels { counts: [4, 1, 1], low: [0.0; 3], high: [4.0, 1.0, 0.0] };
//! let mut residence = Residence::new(voxels, [0.0; 3])?;
//! let at = |time: f64, x: f64| Point { time, position: [x, 0.5, 0.0] };
//! residence.add(&[at(10.0, 0.5), at(12.0, 2.5), at(13.0, 1.5)]);
//! let found = residence.result();
//! assert_eq!(found.times, [0.5, 1.5, 1.0, 0.0]);
//! assert_eq!(found.visits, [1, 2, 1, 0]);
//! assert_eq!(found.first_passages[..3], [0.0, 0.5, 1.5]);
//! # Ok::<(), burntrace_analysis::Error>(())
//! ```

mod axis;
#[cfg(test)]
mod tests;

use crate::{Error, Result};
use axis::VoxelAxis;

/// Crossings of faces along several axes within this part of a leg are one, through an edge or a corner.
const TOGETHER: f64 = 1e-12;
/// Numbers of voxels of a leg that are counted separately; the last one has all above it.
const LENGTHS: usize = 256;

/// Equal cells of a box. Their order is that of image data, with x fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voxels {
    /// Number of voxels along each axis; 1 along a flat one.
    pub counts: [usize; 3],
    /// Low corner of the box, in the data's unit of length.
    pub low: [f64; 3],
    /// High corner. An axis is flat where both are equal: positions along it are ignored.
    pub high: [f64; 3],
}

/// A position of a particle at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The time, in the data's unit.
    pub time: f64,
    /// The position, not wrapped at periodic faces, in the data's unit of length.
    pub position: [f64; 3],
}

/// Adds up residence times, particle by particle.
///
/// It needs 48 bytes for each voxel, and 88 for the result. Particles move along straight legs between their points, and the time of a leg is divided over the voxels
/// that it passes through (J. Amanatides and A. Woo, 1987, *Eurographics*).
#[derive(Clone, Debug)]
pub struct Residence {
    voxels: Voxels,
    axes: [VoxelAxis; 3],
    tallies: Vec<Tally>,
    outside: f64,
    num_particles: u64,
    num_visitors: u64,
    /// The number of the particle that is added, from 1 on.
    particle: u32,
    /// Where it is: the number of the cell along each axis, and the voxel, if it is in one.
    cells: [i64; 3],
    voxel: Option<usize>,
    /// Whether it was in a voxel.
    is_visitor: bool,
    /// Number of legs by the number of voxels that they pass through.
    legs: Vec<u64>,
}

/// What is known of a voxel. It is in one place in memory, as particles come to voxels in any order.
#[derive(Clone, Copy, Debug)]
struct Tally {
    time: f64,
    visits: u64,
    particles: u64,
    first: f64,
    sum_of_first: f64,
    /// The last particle that was there; 0 for none.
    last: u32,
}

/// What [`Residence`] knows. Arrays have one value for each voxel.
#[derive(Clone, Debug, PartialEq)]
pub struct VoxelResidence {
    /// The voxels.
    pub voxels: Voxels,
    /// Time that particles stayed there, over all of them and all their visits.
    pub times: Vec<f64>,
    /// Number of visits: releases in the voxel, and entries from outside of it.
    pub visits: Vec<u64>,
    /// Number of particles that were there.
    pub particles: Vec<u64>,
    /// The shortest time from the release of a particle to its first entry, 0 if it was released there; NaN without particles.
    pub first_passages: Vec<f64>,
    /// The mean of these times over the particles that were there; NaN without any.
    pub mean_first_passages: Vec<f64>,
    /// Time outside of all voxels.
    pub time_outside: f64,
    /// Number of particles.
    pub num_particles: u64,
    /// Number of particles that were in a voxel.
    pub num_visitors: u64,
    /// Median number of voxels that a leg passes through, of legs that pass through any, up to 255; `None` if there are none.
    pub median_voxels: Option<usize>,
}

impl Voxels {
    /// Maximum number of voxels.
    pub const MAX: usize = 1 << 28;

    /// Cubes, or nearly so, of which about `along` are along the longest side of a box.
    pub fn cubes(low: [f64; 3], high: [f64; 3], along: usize) -> Self {
        let sides = [0, 1, 2].map(|d| high[d] - low[d]);
        let edge = sides.into_iter().fold(0.0, f64::max) / along as f64;
        let count =
            |side: f64| if side > 0.0 { ((side / edge).round() as usize).max(1) } else { 1 };
        Voxels { counts: sides.map(count), low, high }
    }

    /// Number of voxels; `None` if they are more than [`MAX`](Self::MAX).
    pub fn checked_len(&self) -> Option<usize> {
        let product = |product: usize, count: &usize| product.checked_mul(*count);
        self.counts.iter().try_fold(1, product).filter(|len| *len <= Self::MAX)
    }

    /// The axes along which the box has an extent.
    pub fn extended(&self) -> Vec<usize> {
        (0..3).filter(|d| self.low[*d] < self.high[*d]).collect()
    }

    /// Edges of a voxel; 0 along a flat axis.
    pub fn size(&self) -> [f64; 3] {
        [0, 1, 2].map(|d| (self.high[d] - self.low[d]) / self.counts[d] as f64)
    }

    /// Centre of a voxel.
    pub fn centre(&self, voxel: usize) -> [f64; 3] {
        let [nx, ny, _] = self.counts;
        let (size, cell) = (self.size(), [voxel % nx, voxel / nx % ny, voxel / (nx * ny)]);
        [0, 1, 2].map(|d| self.low[d] + (cell[d] as f64 + 0.5) * size[d])
    }
}

impl Residence {
    /// Without particles. `periods` are the widths of the domain along periodic axes, and 0 along others: voxels repeat along these.
    ///
    /// # Errors
    ///
    /// [`Error::Residence`] if there are no voxels, or more than [`Voxels::MAX`]; if a corner is not finite, or above the other one; if a flat
    /// axis has several voxels; or if the box is longer than a period.
    pub fn new(voxels: Voxels, periods: [f64; 3]) -> Result<Self> {
        let Some(len) = voxels.checked_len() else {
            return Err(Error::Residence(format!(
                "there are {} voxels; give at most {} altogether",
                voxels.counts.map(|count| count.to_string()).join(" x "),
                Voxels::MAX
            )));
        };
        let axis = |d: usize| VoxelAxis::new(&voxels, d, periods[d]);
        let axes = [axis(0)?, axis(1)?, axis(2)?];
        Ok(Residence {
            voxels,
            axes,
            tallies: vec![Tally::EMPTY; len],
            outside: 0.0,
            num_particles: 0,
            num_visitors: 0,
            particle: 0,
            cells: [0; 3],
            voxel: None,
            is_visitor: false,
            legs: vec![0; LENGTHS],
        })
    }

    /// Adds a particle with all its points, from its release to its end, in the order of time or, in a backward run, against it. The times
    /// of legs are positive in both.
    ///
    /// Points that are not finite are left out.
    pub fn add(&mut self, track: &[Point]) {
        let is_finite =
            |at: &&Point| at.time.is_finite() && at.position.iter().all(|x| x.is_finite());
        let mut points = track.iter().filter(is_finite);
        let Some(release) = points.next() else { return };
        self.start(release);
        let mut from = release;
        for to in points {
            self.add_leg(from, to, (from.time - release.time).abs());
            from = to;
        }
        self.num_visitors += u64::from(self.is_visitor);
    }

    /// Begins with the next particle.
    fn start(&mut self, release: &Point) {
        if self.particle == u32::MAX {
            self.tallies.iter_mut().for_each(|tally| tally.last = 0);
            self.particle = 0;
        }
        self.particle += 1;
        self.num_particles += 1;
        (self.is_visitor, self.voxel) = (false, None);
        self.cells = self.cells_of(release.position);
        self.enter(0.0);
    }

    fn cells_of(&self, position: [f64; 3]) -> [i64; 3] {
        [0, 1, 2].map(|d| self.axes[d].cell(position[d]))
    }

    /// Moves the particle along a straight leg, which starts at an age.
    fn add_leg(&mut self, from: &Point, to: &Point, age: f64) {
        let duration = (to.time - from.time).abs();
        let target = self.cells_of(to.position);
        let axes = self.axes;
        let ends = |d: usize| [from.position[d], to.position[d]];
        let next_of = |d: usize, cell: i64| axes[d].crossing(ends(d), cell, target[d]);
        let mut next = [0, 1, 2].map(|d| next_of(d, self.cells[d]));
        let (mut part, mut voxels) = (0.0, usize::from(self.voxel.is_some()));
        loop {
            let first = next.into_iter().fold(f64::INFINITY, f64::min);
            if first == f64::INFINITY {
                break;
            }
            let at = first.clamp(part, 1.0);
            self.stay((at - part) * duration);
            let is_crossed = next.map(|next| next <= first + TOGETHER);
            for d in (0..3).filter(|d| is_crossed[*d]) {
                self.cells[d] += (target[d] - self.cells[d]).signum();
                next[d] = next_of(d, self.cells[d]);
            }
            part = at;
            voxels += usize::from(self.enter(age + at * duration));
        }
        self.stay((1.0 - part) * duration);
        if voxels > 0 && duration > 0.0 {
            self.legs[voxels.min(LENGTHS - 1)] += 1;
        }
    }

    /// Adds time where the particle is.
    fn stay(&mut self, time: f64) {
        match self.voxel {
            Some(voxel) => self.tallies[voxel].time += time,
            None => self.outside += time,
        }
    }

    /// Notes that the particle is in its cells from an age on. Returns whether it has entered a voxel.
    fn enter(&mut self, age: f64) -> bool {
        let now = self.voxel_of(self.cells);
        let before = std::mem::replace(&mut self.voxel, now);
        let Some(voxel) = now.filter(|_| now != before) else { return false };
        let tally = &mut self.tallies[voxel];
        tally.visits += 1;
        if tally.last != self.particle {
            tally.last = self.particle;
            tally.particles += 1;
            // The minimum with NaN is the other number.
            tally.first = tally.first.min(age);
            tally.sum_of_first += age;
            self.is_visitor = true;
        }
        true
    }

    fn voxel_of(&self, [x, y, z]: [i64; 3]) -> Option<usize> {
        let [i, j, k] = [self.axes[0].voxel(x)?, self.axes[1].voxel(y)?, self.axes[2].voxel(z)?];
        let [nx, ny, _] = self.voxels.counts;
        Some(i + nx * (j + ny * k))
    }

    /// What is known so far.
    pub fn result(self) -> VoxelResidence {
        let tallies = &self.tallies;
        let mean = |of: &Tally| of.sum_of_first / of.particles as f64;
        VoxelResidence {
            voxels: self.voxels,
            times: tallies.iter().map(|of| of.time).collect(),
            visits: tallies.iter().map(|of| of.visits).collect(),
            particles: tallies.iter().map(|of| of.particles).collect(),
            first_passages: tallies.iter().map(|of| of.first).collect(),
            mean_first_passages: tallies.iter().map(mean).collect(),
            time_outside: self.outside,
            num_particles: self.num_particles,
            num_visitors: self.num_visitors,
            median_voxels: self.median_voxels(),
        }
    }

    fn median_voxels(&self) -> Option<usize> {
        let half = self.legs.iter().sum::<u64>().div_ceil(2);
        let mut seen = 0;
        let is_median = |legs: &u64| {
            seen += legs;
            half > 0 && seen >= half
        };
        self.legs.iter().position(is_median)
    }
}

impl Tally {
    const EMPTY: Tally =
        Tally { time: 0.0, visits: 0, particles: 0, first: f64::NAN, sum_of_first: 0.0, last: 0 };
}
