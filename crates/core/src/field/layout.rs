//! The layout of a source's frames on a device.

mod beside;

use super::{
    coast::Coast,
    frames::TimeAxis,
    lanes::{ArrayLanes, LANES},
    options::NotFinite,
    source::{FrameData, FrameSource},
    stored::Stored,
    totals::ReadTotals,
};
use crate::{Error, Floats, Precision, Result, threads::fill};
use burntrace_kernels::{FieldShape, GridShape, Placement};
use std::{sync::Arc, time::Instant};

/// What is known of a source from its frames.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameTraits {
    /// Whether the padding of velocities holds a diffusivity.
    pub has_diffusivity: bool,
    /// Whether velocities that are not finite are holes.
    pub has_holes: bool,
    /// Whether there are velocities that are not finite and count as 0.
    pub has_zeros: bool,
}

/// The source's index of each value, if the field reorders them.
pub(crate) trait Ordered: std::fmt::Debug + Send + Sync {
    fn order(&self) -> &[usize];
}

impl Ordered for Vec<usize> {
    fn order(&self) -> &[usize] {
        self
    }
}

/// Where the values of a source are in a frame on the device.
#[derive(Clone, Debug)]
pub(crate) struct ValueLayout {
    /// Values in a frame of the source.
    pub given: usize,
    /// The source's index of each value, if the field reorders them.
    pub order: Option<Arc<dyn Ordered>>,
    /// Flat axes, on which the component of the velocity is dropped.
    pub flat: [bool; 3],
    /// Whether a frame is made of its source's values and nothing else, without averages.
    pub is_plain: bool,
    /// How velocities are stored, if not as the source gives them.
    pub stored: Option<Arc<Stored>>,
    /// The land, if values that are not finite are land.
    pub coast: Option<Arc<Coast>>,
}

impl ValueLayout {
    /// Of a field without values.
    pub fn none() -> Self {
        ValueLayout {
            given: 0,
            order: None,
            flat: [false; 3],
            is_plain: false,
            stored: None,
            coast: None,
        }
    }
}

/// Position of a value, given its index in the source.
pub(super) type Positions = Arc<dyn Fn(usize) -> [f64; 3] + Send + Sync>;

/// The layout of a source's frames on a device.
#[derive(Clone)]
pub(super) struct Layout {
    pub shape: FieldShape,
    /// Values in a frame of the source.
    pub given: usize,
    /// Whether the velocities are averages of cells, which excludes diffusivities.
    pub averaged: bool,
    pub order: Option<Arc<dyn Ordered>>,
    /// Flat axes, on which the component of the velocity is dropped.
    pub flat: [bool; 3],
    /// The quantities of a frame.
    pub lanes: ArrayLanes,
    /// The expected number and kind of values, for example `64 x 64 x 64 nodes`.
    pub name: String,
    /// Bytes of coordinates and index tables.
    pub other_bytes: u64,
    pub position: Positions,
    /// How velocities are stored, if not as the source gives them.
    pub stored: Option<Arc<Stored>>,
    /// The land, if values that are not finite are land.
    pub coast: Option<Arc<Coast>>,
}

impl Layout {
    /// Nodes or cells of a frame.
    pub fn values(&self) -> usize {
        self.shape.values_per_frame()
    }

    /// Rows of a frame: a group of four numbers after another for all nodes or cells.
    pub fn size(&self) -> usize {
        self.lanes.groups() * self.values()
    }

    /// Where the values of the source are in a frame.
    pub fn values_of_source(&self) -> ValueLayout {
        ValueLayout {
            given: self.given,
            order: self.order.clone(),
            flat: self.flat,
            is_plain: !self.averaged,
            stored: self.stored.clone(),
            coast: self.coast.clone(),
        }
    }

    /// The source's index of each value, if it has another order.
    fn order(&self) -> Option<&[usize]> {
        self.order.as_ref().map(|order| order.order())
    }

    /// Reads frames into separate arrays.
    pub fn read_frames(
        &self,
        source: &mut dyn FrameSource,
        frames: &[usize],
        (not_finite, precision): (NotFinite, Precision),
    ) -> Vec<Result<(Floats, FrameTraits)>> {
        let packed = |(frame, data): (&usize, std::result::Result<FrameData, _>)| {
            let data = data.map_err(|source| Error::Source { frame: *frame, source })?;
            let mut values = Floats::with_capacity(precision, self.size() * LANES);
            let traits = self.frame(*frame, data, not_finite, &mut values)?;
            Ok((values, traits))
        };
        let start = Instant::now();
        let read = source.read_many(frames);
        ReadTotals::add(start, &read);
        frames.iter().zip(read).map(packed).collect()
    }

    /// Appends a frame.
    pub fn frame(
        &self,
        frame: usize,
        data: FrameData,
        not_finite: NotFinite,
        all: &mut Floats,
    ) -> Result<FrameTraits> {
        let FrameData { mut velocity, diffusivity, hidden, scaled_velocity, arrays } = data;
        let start = all.len();
        if self.averaged && diffusivity.is_some() {
            return Err(Error::Mesh(
                "diffusivities in cells cannot be averaged as the velocities are; use \
                 `CellVelocity::Constant`, or give both arrays at the points"
                    .into(),
            ));
        }
        let has_no_place = !self.lanes.diffusivity_is_apart
            && (self.stored.is_some() || self.lanes.has_array_beside());
        if has_no_place && diffusivity.is_some() {
            return Err(Error::Arrays(
                "the source has diffusivities and does not say so (`FrameSource::has_diffusivity`), as it must beside arrays, on a \
                 sphere and on faces of cells"
                    .into(),
            ));
        }
        let is_hidden =
            |i: usize| hidden.as_ref().is_some_and(|hidden| hidden.get(i) == Some(&true));
        let mut has_zeros = false;
        if self.lanes.has_velocity {
            self.check_size(frame, &velocity)?;
            if let Some(coast) = &self.coast {
                velocity = coast.filled((frame, &*self.position), velocity, hidden.as_deref())?;
            }
            let is_hole = |i: usize| is_hidden(i) || not_finite == NotFinite::Outside;
            let bad = self.put_velocity(&velocity, is_hole, all);
            if let Some(stored) = &self.stored {
                stored.finish(all, start);
            }
            has_zeros = bad.is_some();
            self.check_finite(frame, bad, not_finite)?;
        }
        all.shift(0..0, 0, start + self.size() * LANES);
        if let Some(group) = self.lanes.scaled_group() {
            let is_hole = |i: usize| is_hidden(i) || not_finite == NotFinite::Outside;
            let rows =
                self.scaled((frame, scaled_velocity), is_hole, not_finite, all.precision())?;
            all.put(start + group * self.values() * LANES, &rows);
        }
        match all {
            Floats::F32(all) => {
                self.put_arrays(frame, &arrays, is_hidden, &mut all[start..], |x| x as f32)
            }
            Floats::F64(all) => {
                self.put_arrays(frame, &arrays, is_hidden, &mut all[start..], |x| x)
            }
        }?;
        let has_holes =
            hidden.is_some() && self.coast.is_none() || not_finite == NotFinite::Outside;
        let has_diffusivity = diffusivity.is_some();
        let traits = FrameTraits { has_diffusivity, has_holes, has_zeros };
        let Some(diffusivity) = diffusivity else {
            return Ok(traits);
        };
        match all {
            Floats::F32(all) => self.pad(frame, &diffusivity, &mut all[start..], |x| x as f32),
            Floats::F64(all) => self.pad(frame, &diffusivity, &mut all[start..], |x| x),
        }?;
        Ok(traits)
    }

    /// Refuses velocities that are not finite, of which the first one and the number are given.
    fn check_finite(
        &self,
        frame: usize,
        bad: Option<(usize, usize)>,
        not_finite: NotFinite,
    ) -> Result<()> {
        match bad {
            Some((first, count)) if not_finite == NotFinite::Error => {
                let position = (self.position)(first);
                Err(Error::NotFinite { frame, count, first, position })
            }
            _ => Ok(()),
        }
    }

    fn check_size(&self, frame: usize, velocity: &Floats) -> Result<()> {
        let (found, expected) = (velocity.len(), 3 * self.given);
        match found == expected {
            true => Ok(()),
            false => Err(Error::FrameSize { frame, found, expected, placement: self.name.clone() }),
        }
    }

    /// Appends the velocities of a frame; see [`pack`](Layout::pack).
    fn put_velocity(
        &self,
        velocity: &Floats,
        is_hole: impl Fn(usize) -> bool + Sync,
        all: &mut Floats,
    ) -> Option<(usize, usize)> {
        match (velocity, all) {
            (Floats::F32(v), Floats::F32(all)) => {
                self.pack(|i| v[i].into(), is_hole, all, |x| x as f32)
            }
            (Floats::F32(v), Floats::F64(all)) => self.pack(|i| v[i].into(), is_hole, all, |x| x),
            (Floats::F64(v), Floats::F32(all)) => self.pack(|i| v[i], is_hole, all, |x| x as f32),
            (Floats::F64(v), Floats::F64(all)) => self.pack(|i| v[i], is_hole, all, |x| x),
        }
    }

    /// Writes diffusivities into the padding of velocities; 0 in holes, where velocities are NaN.
    fn pad<T: PartialEq>(
        &self,
        frame: usize,
        diffusivity: &Floats,
        rows: &mut [T],
        cast: impl Fn(f64) -> T,
    ) -> Result<()> {
        let count = diffusivity.len();
        let wrong = || {
            Err(Error::Walk(format!(
                "frame {frame} has {count} diffusivities; give {}, all finite and not negative",
                self.given
            )))
        };
        if count != self.given {
            return wrong();
        }
        let order = self.order();
        let is_land = self.coast.as_ref().and_then(|coast| coast.is_land());
        let first = self.lanes.diffusivity_group() * self.values();
        for value in 0..self.values() {
            let i = order.map_or(value, |order| order[value]);
            let number = diffusivity.get(i);
            let velocity = &rows[LANES * value..][..LANES - 1];
            // Only NaN differs from itself.
            #[allow(clippy::eq_op)]
            let is_hole = velocity.iter().any(|x| x != x);
            if is_hole || is_land.is_some_and(|is_land| is_land[i]) {
                continue;
            }
            let row = &mut rows[LANES * (first + value)..][..LANES];
            if !number.is_finite() || number < 0.0 {
                return wrong();
            }
            row[LANES - 1] = cast(number);
        }
        Ok(())
    }

    /// Appends padded velocities. Those that are not finite become NaN in holes, and zero elsewhere:
    /// of the latter, returns the lowest source index and the number.
    fn pack<T: Copy + Default + Send>(
        &self,
        number: impl Fn(usize) -> f64 + Sync,
        is_hole: impl Fn(usize) -> bool + Sync,
        all: &mut Vec<T>,
        cast: impl Fn(f64) -> T + Sync,
    ) -> Option<(usize, usize)> {
        let (start, order) = (all.len(), self.order());
        all.resize(start + self.values() * LANES, T::default());
        let bad = fill((self.values(), LANES), &mut all[start..], |values, rows| {
            let mut bad = None;
            for (value, row) in values.zip(rows.as_chunks_mut::<LANES>().0) {
                let i = order.map_or(value, |order| order[value]);
                let v = [number(3 * i), number(3 * i + 1), number(3 * i + 2)];
                if v.iter().all(|u| u.is_finite()) {
                    let kept = |d: usize| if self.flat[d] { 0.0 } else { v[d] };
                    let kept = [kept(0), kept(1), kept(2)];
                    *row = match &self.stored {
                        Some(stored) => stored.row(value, kept).map(&cast),
                        None => [cast(kept[0]), cast(kept[1]), cast(kept[2]), T::default()],
                    };
                } else if is_hole(i) {
                    row[..3].fill(cast(f64::NAN));
                } else {
                    let (first, count) = bad.unwrap_or((i, 0));
                    bad = Some((first.min(i), count + 1));
                }
            }
            bad
        });
        let both = |a: (usize, usize), b: (usize, usize)| (a.0.min(b.0), a.1 + b.1);
        bad.into_iter().flatten().reduce(both)
    }
}

/// Maximum number of frames to read at once.
pub(super) fn threads() -> usize {
    crate::threads::cpu_threads().min(8)
}

/// Refuses a period if the first and the last frame differ.
pub(super) fn check_ends(time: &TimeAxis, meet: bool) -> Result<()> {
    if meet {
        return Ok(());
    }
    Err(Error::Period {
        period: time.ends()[1] - time.ends()[0],
        reason: "the first and the last frame differ; give the period if it is longer than the \
                 frames"
            .into(),
    })
}

/// The number and kind of values of a grid, for example `64 x 64 x 64 nodes`.
pub(super) fn grid_name(shape: &GridShape) -> String {
    let [nx, ny, nz] = shape.values();
    let what = match shape.placement {
        Placement::Nodes | Placement::Faces => "nodes",
        Placement::Cells => "cells",
    };
    format!("{nx} x {ny} x {nz} {what}")
}

/// Indices of a value along the axes of a grid.
pub(super) fn indices_of(value: usize, shape: &GridShape) -> [usize; 3] {
    let [nx, ny, _] = shape.values();
    [value % nx, value / nx % ny, value / (nx * ny)]
}
