//! Velocity fields on scattered points.

mod lattice;
mod trees;

use super::{
    domain::{bounding_box, measured_from},
    layout::Layout,
    load::{Input, Loaded},
    options::FieldOptions,
    sampled::Sampled,
    sampled_field::sampled_field,
    source::PointSource,
};
use crate::{Error, Result};
use burn::tensor::{Bool, DType, Device, Int, Tensor, TensorData};
use burntrace_kernels::{
    FieldShape, FieldTensors, MAX_NEIGHBOURS, NODE_PADDING, PointShape, Weighting,
};
use lattice::Lattice;
use std::sync::Arc;
use trees::Trees;

/// Velocity on scattered points, steady or in time.
///
/// The velocity at a position is that of the nearest node, or a mean of the nearest nodes weighted
/// by distance; in time, interpolation is linear or nearest. The domain is the bounding box of the
/// nodes; outside it, the nearest nodes are used as well. An axis on which all nodes have the same
/// coordinate is flat: particles do not move along it. Nodes are not repeated across periodic
/// faces.
#[derive(Clone, Debug)]
pub struct PointField {
    pub(super) sampled: Sampled,
    shape: PointShape,
}

impl PointField {
    /// Reads all frames of a source into the memory of a device, and sorts the nodes into a search
    /// lattice.
    ///
    /// # Errors
    ///
    /// If there are no nodes or one is not finite, if the weighting is invalid, if times do not
    /// increase, if a frame has a wrong size, cannot be read or has velocities that are not finite,
    /// if the field does not fit into `options.memory`, or if the device lacks the precision.
    pub fn load(
        source: &mut dyn PointSource,
        device: &Device,
        options: &FieldOptions,
        weighting: Weighting,
    ) -> Result<Self> {
        let positions = source.positions().to_vec();
        PointField::of(positions, Input::Borrowed(source), (device, options), weighting)
    }

    /// Takes ownership of a source, so that a separate thread can read its frames during the run
    /// ([`FieldOptions::frames`]). A frame that cannot be read then ends the run that needs it.
    ///
    /// # Errors
    ///
    /// Like [`load`](Self::load).
    pub fn open(
        source: Box<dyn PointSource + Send>,
        device: &Device,
        options: &FieldOptions,
        weighting: Weighting,
    ) -> Result<Self> {
        let positions = source.positions().to_vec();
        PointField::of(positions, Input::Owned(source), (device, options), weighting)
    }

    fn of(
        positions: Vec<[f64; 3]>,
        input: Input,
        (device, options): (&Device, &FieldOptions),
        weighting: Weighting,
    ) -> Result<Self> {
        check_positions(&positions)?;
        check_weighting(weighting, positions.len())?;
        let domain = bounding_box(positions.iter().copied())?;
        let origin = domain.origin();
        let measured = measured_from(origin, &positions);
        let (time, lanes) = (input.time(options)?, input.lanes(false)?.on(device));
        let mut lattice =
            Lattice::new(&measured, &domain.moved(origin.map(|x| -x)), options.precision);
        let trees = Trees::new(&measured, &lattice.starts, &mut lattice.order);
        let shape = lattice.shape(weighting);
        let mut coordinates = coordinates(&measured, &lattice.order, &shape);
        coordinates.extend(trees.boxes);
        let mut index = lattice.starts;
        index.extend(trees.roots);
        let (numbers, indices) = (coordinates.len(), index.len());
        let coordinates = options.precision.data(coordinates, [numbers]);
        let layout = Layout {
            shape: FieldShape::Points(shape),
            given: positions.len(),
            averaged: false,
            stored: None,
            coast: None,
            order: Some(Arc::new(lattice.order)),
            flat: [0, 1, 2].map(|d| shape.is_flat(d)),
            lanes: lanes.clone(),
            name: format!("{} points", positions.len()),
            other_bytes: (numbers * options.precision.bytes() + indices * size_of::<i32>()) as u64,
            position: Arc::new(move |value| positions[value]),
        };
        let Loaded { velocity, stream, traits, layout } =
            layout.load(input, &time, device, options)?;
        let dtype = options.precision.dtype();
        let sampled = Sampled {
            tensors: FieldTensors {
                velocity,
                groups: lanes.groups(),
                coordinates: Tensor::from_data(coordinates, (device, dtype)),
                index: Tensor::from_data(TensorData::new(index, [indices]), (device, DType::I32)),
                shape: FieldShape::Points(shape),
            },
            stream,
            domain,
            origin,
            time,
            device: device.clone(),
            precision: options.precision,
            traits,
            land: None,
            layout,
            lanes,
        };
        Ok(PointField { sampled, shape })
    }

    /// Bytes of the field on its device.
    pub fn bytes(&self) -> u64 {
        self.sampled.bytes()
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.shape.count
    }

    /// Mask of the positions `[n, 3]` in the bounding box of the nodes `[n, 1]`.
    fn contains(&self, position: &Tensor<2>) -> Tensor<2, Bool> {
        self.sampled.is_in_domain(position)
    }

    /// Nearest nodes and their weights for positions `[n, 3]`, by brute force: the reference for
    /// the search of the fused operation.
    fn locate_all(&self, position: Tensor<2>) -> NodeWeights {
        let nodes = self.nearest(position.clone().detach());
        let [n, k] = nodes.dims();
        let flat = nodes.reshape([n * k]);
        let mut square = Tensor::<2>::zeros([n, k], (&position.device(), position.dtype()));
        for (d, axis) in self.moving_axes() {
            let x = axis.select(0, flat.clone()).reshape([n, k]);
            let offset = position.clone().slice([0..n, d..d + 1]) - x;
            square = square + offset.powi_scalar(2);
        }
        NodeWeights { nodes: flat, weights: self.weights(square) }
    }

    /// Weights `[n, k]` of the nodes, with a sum of 1, from their squared distances.
    fn weights(&self, square: Tensor<2>) -> Tensor<2> {
        let Weighting::InverseDistance { power, .. } = self.shape.weighting else {
            return square.zeros_like().add_scalar(1.0);
        };
        let nearest = square.clone().detach().min_dim(1);
        // A node at the position gets all the weight, which avoids a division by zero.
        let is_here = square.clone().detach().equal_elem(0.0);
        let ratio = nearest / square.mask_fill(is_here.clone(), 1.0);
        let weight = ratio.powf_scalar(0.5 * power).mask_fill(is_here, 1.0);
        let sum = weight.clone().sum_dim(1);
        weight / sum
    }

    /// Interpolates the values of one frame: velocity and padding `[n, 4]`.
    fn read(&self, (values, _): (Tensor<2>, usize), nodes: &NodeWeights) -> Tensor<2> {
        let [n, k] = nodes.weights.dims();
        let velocity = values.select(0, nodes.nodes.clone()).reshape([n, k, 4]);
        let weighed = velocity * nodes.weights.clone().reshape([n, k, 1]);
        weighed.sum_dim(1).reshape([n, 4])
    }

    /// The nodes `[n, k]` nearest to positions `[n, 3]`.
    fn nearest(&self, position: Tensor<2>) -> Tensor<2, Int> {
        let [n, _] = position.dims();
        let needed = match self.shape.weighting {
            Weighting::Nearest => 1,
            Weighting::InverseDistance { neighbours, .. } => neighbours,
        };
        let chunk = (MAX_DISTANCES / n.max(1)).clamp(needed, self.shape.count);
        let mut best: Option<(Tensor<2>, Tensor<2, Int>)> = None;
        for start in (0..self.shape.count).step_by(chunk) {
            let end = self.shape.count.min(start + chunk);
            let mut square = self.square_distances(&position, start, end);
            let numbers = TensorData::new((start as i32..end as i32).collect(), [1, end - start]);
            let numbers = Tensor::<2, Int>::from_data(numbers, (&position.device(), DType::I32));
            let mut nodes = numbers.expand([n, end - start]);
            if let Some((squares, indices)) = best {
                square = Tensor::cat(vec![squares, square], 1);
                nodes = Tensor::cat(vec![indices, nodes], 1);
            }
            best = Some(smallest(square, nodes, needed));
        }
        match best {
            Some((_, nodes)) => nodes,
            None => Tensor::zeros([n, needed], (&position.device(), DType::I32)),
        }
    }

    /// Squared distances `[n, end - start]` to the nodes from `start` to `end`.
    fn square_distances(&self, position: &Tensor<2>, start: usize, end: usize) -> Tensor<2> {
        let [n, _] = position.dims();
        let options = (&position.device(), position.dtype());
        let mut square = Tensor::zeros([n, end - start], options);
        for (d, axis) in self.moving_axes() {
            let x = axis.slice(start..end).reshape([1, end - start]);
            let offset = position.clone().slice([0..n, d..d + 1]) - x;
            square = square + offset.powi_scalar(2);
        }
        square
    }

    /// The axes that are not flat, with the coordinates of the nodes.
    fn moving_axes(&self) -> impl Iterator<Item = (usize, Tensor<1>)> {
        let moving = (0..3).filter(|d| !self.shape.is_flat(*d));
        moving.map(|d| {
            let start = self.shape.axis(d);
            (d, self.sampled.tensors.coordinates.clone().slice(start..start + self.shape.count))
        })
    }
}

sampled_field!(PointField);

/// The nodes `[n k]` nearest to `n` positions, and their weights `[n, k]`.
struct NodeWeights {
    nodes: Tensor<1, Int>,
    weights: Tensor<2>,
}

/// Maximum number of distances in memory during the search by brute force.
const MAX_DISTANCES: usize = 1 << 22;

/// The `count` smallest numbers `[n, m]` of each row in increasing order, and their nodes.
fn smallest(
    mut numbers: Tensor<2>,
    nodes: Tensor<2, Int>,
    count: usize,
) -> (Tensor<2>, Tensor<2, Int>) {
    let [_, m] = numbers.dims();
    let columns = TensorData::new((0..m as i32).collect(), [1, m]);
    let columns = Tensor::<2, Int>::from_data(columns, (&numbers.device(), DType::I32));
    let mut found = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (number, at) = numbers.clone().min_dim_with_indices(1);
        let at = at.cast(DType::I32);
        found.0.push(number);
        found.1.push(nodes.clone().gather(1, at.clone()));
        let is_taken = columns.clone().expand(numbers.dims()).equal(at.expand(numbers.dims()));
        numbers = numbers.mask_fill(is_taken, f32::MAX);
    }
    (Tensor::cat(found.0, 1), Tensor::cat(found.1, 1))
}

fn check_positions(positions: &[[f64; 3]]) -> Result<()> {
    if positions.is_empty() {
        return Err(Error::Empty("the source has no points"));
    }
    // Node indices are `i32` on a device.
    let max = i32::MAX as usize - NODE_PADDING;
    if positions.len() > max {
        return Err(Error::Points(format!("there are {}; the maximum is {max}", positions.len())));
    }
    match positions.iter().position(|p| p.iter().any(|x| !x.is_finite())) {
        None => Ok(()),
        Some(i) => {
            Err(Error::Points(format!("point {i} is at {:?}, which is not finite", positions[i])))
        }
    }
}

fn check_weighting(weighting: Weighting, count: usize) -> Result<()> {
    let Weighting::InverseDistance { neighbours, power } = weighting else {
        return Ok(());
    };
    let max = MAX_NEIGHBOURS.min(count);
    if !(1..=max).contains(&neighbours) {
        return Err(Error::Points(format!(
            "the mean of {neighbours} neighbours among {count} points is not possible; give 1 to \
             {max}"
        )));
    }
    if !(power.is_finite() && power > 0.0) {
        return Err(Error::Points(format!(
            "the power {power} of the inverse distance is not valid; give a number above 0 (2 is \
             usual)"
        )));
    }
    Ok(())
}

/// Node coordinates in the layout of the kernels: one array for each axis, with padding.
fn coordinates(positions: &[[f64; 3]], order: &[usize], shape: &PointShape) -> Vec<f64> {
    let mut coordinates = Vec::with_capacity(shape.axis(3));
    for d in [0, 1, 2] {
        let coordinate = |i: &usize| if shape.is_flat(d) { 0.0 } else { positions[*i][d] };
        coordinates.extend(order.iter().map(coordinate));
        coordinates.extend([f64::from(f32::MAX); NODE_PADDING]);
    }
    coordinates
}
