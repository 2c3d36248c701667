//! Land of a grid: the nodes or cells without a velocity, and the velocities beside them.

use super::{
    evaluate,
    options::{FieldOptions, Slip},
};
use crate::{Error, Floats, Result, threads::filled};
use burn::tensor::{Bool, Tensor, TensorData};
use burntrace_kernels::{GridShape, Land, Placement};
use std::sync::OnceLock;

/// The land of a grid, known once the first frame has been read.
#[derive(Debug)]
pub(crate) struct Coast {
    /// Values of the source along each axis.
    values: [usize; 3],
    /// Whether the last value along x is the first one again.
    is_closed: bool,
    slip: Slip,
    land_value: Option<f64>,
    /// Whether each value of the source is land.
    is_land: OnceLock<Vec<bool>>,
}

/// Whether each velocity is missing, hidden, or `land_value` in its components, of which a vertical one may be 0.
pub(super) fn missing(
    velocity: &Floats,
    hidden: Option<&[bool]>,
    land_value: Option<f64>,
) -> Vec<bool> {
    let is_missing = |i: usize| {
        let [u, v, w] = velocity.vector(i);
        let is_land = |x: f64| u == x && v == x && (w == x || w == 0.0);
        let has_value = [u, v, w].iter().all(|x| x.is_finite());
        !has_value
            || land_value.is_some_and(is_land)
            || hidden.is_some_and(|hidden| hidden.get(i) == Some(&true))
    };
    let (missing, _) = filled((velocity.len() / 3, 1), false, |range, missing| {
        range.zip(missing).for_each(|(i, is)| *is = is_missing(i));
    });
    missing
}

/// The frame to which velocities belong, and the position of each value.
pub(super) type Place<'a> = (usize, &'a dyn Fn(usize) -> [f64; 3]);

impl Coast {
    pub fn new(values: [usize; 3], is_closed: bool, options: &FieldOptions) -> Self {
        let FieldOptions { slip, land_value, .. } = *options;
        Coast { values, is_closed, slip, land_value, is_land: OnceLock::new() }
    }

    /// The velocities of a frame of the source, with those on land by the slip of the water beside it.
    ///
    /// # Errors
    ///
    /// [`Error::Land`] if other values are missing than in the frames before.
    pub fn filled(
        &self,
        (frame, position): Place,
        mut velocity: Floats,
        hidden: Option<&[bool]>,
    ) -> Result<Floats> {
        let missing = missing(&velocity, hidden, self.land_value);
        let is_land = self.is_land.get_or_init(|| missing.clone());
        let changes = || (0..missing.len()).filter(|i| missing[*i] != is_land[*i]);
        if let Some(first) = changes().next() {
            let count = changes().count();
            return Err(Error::Land { frame, count, first, position: position(first) });
        }
        // Only values in the water are read, so that those on land can be replaced one by one.
        for i in (0..missing.len()).filter(|i| missing[*i]) {
            velocity.set_vector(i, self.beside(i, &velocity, &missing));
        }
        Ok(velocity)
    }

    /// As [`filled`](Coast::filled), of other velocities of a frame of which those are known.
    pub fn filled_beside(&self, mut velocity: Floats) -> Floats {
        let is_land = self.is_land().unwrap_or_default();
        for i in (0..is_land.len()).filter(|i| is_land[*i]) {
            velocity.set_vector(i, self.beside(i, &velocity, is_land));
        }
        velocity
    }

    /// The velocity on land: for each component the mean of that at the neighbours in the water across it, along which it flows,
    /// times what slips.
    fn beside(&self, i: usize, velocity: &Floats, is_land: &[bool]) -> [f64; 3] {
        let factor = self.slip.factor();
        if factor == 0.0 {
            return [0.0; 3];
        }
        [0, 1, 2].map(|component| {
            let water = self.water_across(i, component, is_land);
            let (sum, count) = water.fold((0.0, 0_u32), |(sum, count), other| {
                (sum + velocity.get(3 * other + component), count + 1)
            });
            factor * sum / f64::from(count.max(1))
        })
    }

    /// The neighbours of a value in the water, across a component.
    fn water_across(
        &self,
        i: usize,
        component: usize,
        is_land: &[bool],
    ) -> impl Iterator<Item = usize> {
        let across = (0..3).filter(move |axis| *axis != component);
        let neighbours = across.flat_map(move |axis| self.neighbours(i, axis)).flatten();
        neighbours.filter(|other| !is_land[*other])
    }

    /// As [`filled`](Coast::filled), of velocities `[frames, values, 3]`. The land is that of the frames before.
    pub fn filled_tensor(&self, values: Tensor<3>) -> Tensor<3> {
        let Some(is_land) = self.is_land.get() else { return values };
        let (count, device) = (is_land.len(), values.device());
        let mask = Tensor::<1, Bool>::from_data(is_land.as_slice(), &device);
        let mask = mask.reshape([1, count, 1]).expand(values.dims());
        let water = values.mask_fill(mask, 0.0);
        if self.slip.factor() == 0.0 {
            return water;
        }
        let components = [0, 1, 2].map(|component| self.filled_component(&water, component));
        Tensor::cat(components.to_vec(), 2)
    }

    /// A component of velocities in the water, with that on land.
    fn filled_component(&self, water: &Tensor<3>, component: usize) -> Tensor<3> {
        let is_land = self.is_land.get().map_or(&[][..], Vec::as_slice);
        let of = water.clone().narrow(2, component, 1);
        let around = |i: usize| match is_land[i] {
            true => self.water_across(i, component, is_land).collect(),
            false => Vec::new(),
        };
        let around: Vec<Vec<usize>> = (0..is_land.len()).map(around).collect();
        (0..4).fold(of.clone(), |sum, side| {
            let others = around.iter().enumerate().map(|(i, of)| *of.get(side).unwrap_or(&i));
            let weight = |of: &Vec<usize>| match of.len() {
                count if side < count => self.slip.factor() / count as f64,
                _ => 0.0,
            };
            let weights: Vec<f64> = around.iter().map(weight).collect();
            let weights = TensorData::new(weights, [1, around.len(), 1]);
            let weights = Tensor::<3>::from_data(weights, (&of.device(), of.dtype()));
            let others = evaluate::indices(&others.collect::<Vec<_>>(), &of.device());
            sum + of.clone().select(1, others) * weights
        })
    }

    /// The values before and after a value along an axis.
    fn neighbours(&self, i: usize, axis: usize) -> [Option<usize>; 2] {
        let [nx, ny, _] = self.values;
        let (stride, count) = ([1, nx, nx * ny][axis], self.values[axis]);
        let at = i / stride % count;
        let around = (axis == 0 && self.is_closed).then_some(stride * (count.max(2) - 2));
        let before = if at > 0 { Some(i - stride) } else { around.map(|around| i + around) };
        let after = if at + 1 < count { Some(i + stride) } else { around.map(|around| i - around) };
        [before, after]
    }

    /// Whether each value of the source is land, once a frame was read.
    pub fn is_land(&self) -> Option<&[bool]> {
        self.is_land.get().map(Vec::as_slice)
    }

    /// The land around the nodes of a grid, or in its cells; `None` without any. `axes` are the coordinates of nodes, and `order`
    /// the index in the source of each value.
    pub fn land(
        &self,
        shape: &GridShape,
        axes: &[Vec<f64>; 3],
        order: Option<&[usize]>,
    ) -> Option<Land> {
        let is_land = self.is_land.get().filter(|is_land| is_land.contains(&true))?;
        let of_value = |value: usize| is_land[order.map_or(value, |order| order[value])];
        let is_land: Vec<bool> = (0..shape.values_per_frame()).map(of_value).collect();
        let walls = axes.each_ref().map(|axis| match shape.placement {
            Placement::Nodes | Placement::Faces => {
                axis.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect()
            }
            Placement::Cells => axis[1..axis.len().max(2) - 1].to_vec(),
        });
        Some(Land::new(&walls, &is_land))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;

    fn coast(values: [usize; 3], is_closed: bool, slip: Slip) -> Coast {
        Coast::new(values, is_closed, &FieldOptions { slip, ..FieldOptions::default() })
    }

    /// Three columns of four rows: the last two rows are land but for one value, and the flow is (1, 2, 3) + row.
    fn filled(slip: Slip) -> Vec<[f64; 3]> {
        let row = |j: usize| [1.0, 2.0, 3.0].map(|u| u + j as f64);
        let mut rows: Vec<[f64; 3]> = (0..12).map(|i| row(i / 3)).collect();
        for i in [7, 8, 9, 10, 11] {
            rows[i] = [NAN, 0.0, 0.0];
        }
        let slipping = coast([3, 4, 1], false, slip);
        let at = |_: usize| [0.0; 3];
        let filled = slipping.filled((0, &at), Floats::F64(rows.as_flattened().to_vec()), None);
        let numbers = filled.unwrap();
        (0..12).map(|i| [0, 1, 2].map(|d| numbers.get(3 * i + d))).collect()
    }

    #[test]
    fn velocities_on_land_follow_from_the_slip() {
        let [none, half, free] = [Slip::No, Slip::Partial, Slip::Free].map(filled);
        assert_eq!((none[4], none[7]), ([2.0, 3.0, 4.0], [0.0; 3]));
        // Below value 7 is water in row 1, and to the left in row 2.
        assert_eq!(free[7], [2.0, 4.0, (4.0 + 5.0) / 2.0]);
        assert_eq!(half[7], [1.0, 2.0, 2.25]);
        assert_eq!((free[8], free[9], free[10]), ([2.0, 0.0, 4.0], [3.0, 0.0, 5.0], [0.0; 3]));
    }

    #[test]
    fn land_is_the_same_in_all_frames() {
        let coast = coast([2, 1, 1], false, Slip::No);
        let at = |i: usize| [i as f64, 0.0, 0.0];
        let frame = |u: [f64; 2]| Floats::F64(vec![u[0], 0.0, 0.0, u[1], 0.0, 0.0]);
        assert!(coast.filled((0, &at), frame([1.0, NAN]), None).is_ok());
        assert!(coast.filled((1, &at), frame([1.0, NAN]), None).is_ok());
        let error = coast.filled((2, &at), frame([1.0, 1.0]), None).unwrap_err();
        assert!(matches!(error, Error::Land { frame: 2, count: 1, first: 1, position: [1.0, ..] }));
        let hidden = [false, true];
        assert!(coast.filled((3, &at), frame([1.0, 1.0]), Some(&hidden)).is_ok());
    }

    #[test]
    fn a_number_may_stand_for_land() {
        let options = FieldOptions { land_value: Some(-9.0), ..FieldOptions::default() };
        let coast = Coast::new([3, 1, 1], false, &options);
        let at = |_: usize| [0.0; 3];
        let values = vec![-9.0, -9.0, 0.0, 1.0, -9.0, 0.0, -9.0, -9.0, -9.0];
        let filled = coast.filled((0, &at), Floats::F64(values), None).unwrap();
        assert_eq!(coast.is_land.get(), Some(&vec![true, false, true]));
        assert_eq!(filled, Floats::F64(vec![0.0, 0.0, 0.0, 1.0, -9.0, 0.0, 0.0, 0.0, 0.0]));
    }

    #[test]
    fn neighbours_of_longitudes_around_the_earth_meet() {
        let closed = coast([5, 2, 1], true, Slip::Free);
        assert_eq!(closed.neighbours(5, 0), [Some(8), Some(6)]);
        assert_eq!(closed.neighbours(9, 0), [Some(8), Some(6)]);
        assert_eq!(closed.neighbours(9, 1), [Some(4), None]);
        let open = coast([5, 2, 1], false, Slip::Free);
        assert_eq!(open.neighbours(5, 0), [None, Some(6)]);
    }
}
