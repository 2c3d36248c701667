//! A velocity field on scattered points, on a device.

mod lattice;

use super::{
    Domain, FieldOptions, PointSource, Sampled,
    layout::{Input, Layout, Loaded},
    sampled::sampled_field,
};
use crate::{Error, Result};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burntrace_kernels::{
    FieldShape, FieldTensors, MAX_NEIGHBOURS, NODE_PADDING, PointShape, Weighting,
};
use lattice::Lattice;
use std::sync::Arc;

/// Velocity on scattered points at one or more times.
///
/// The velocity at a position is that of the nearest node, or a mean of the nearest ones weighted
/// by distance; linear (or nearest) between frames. Positions outside the nodes' bounding box,
/// which is the domain, have the velocity that their nearest nodes give. An axis on which all
/// nodes have the same coordinate is flat: nothing moves along it. Nodes are not repeated beyond
/// periodic faces.
#[derive(Clone, Debug)]
pub struct PointField {
    sampled: Sampled,
    shape: PointShape,
}

impl PointField {
    /// Reads all frames of a source, sorts the nodes into the cells by which they are found, and
    /// puts them on a device.
    ///
    /// # Errors
    ///
    /// Where there are no nodes, one of them is nowhere, the weighting asks for what cannot be,
    /// times do not increase, a frame has a wrong size, velocities are not finite or cannot be
    /// read, the field does not fit into `options.memory`, or the device lacks the precision.
    pub fn load(
        source: &mut dyn PointSource,
        device: &Device,
        options: &FieldOptions,
        weighting: Weighting,
    ) -> Result<Self> {
        let positions = source.positions().to_vec();
        PointField::of(positions, Input::Lent(source), (device, options), weighting)
    }

    /// The same with a source that is given away: its frames can be read in the course of a run
    /// ([`FieldOptions::frames`]), by a thread that has it. Whatever is wrong with a frame then ends
    /// the run that comes to it.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn open(
        source: Box<dyn PointSource + Send>,
        device: &Device,
        options: &FieldOptions,
        weighting: Weighting,
    ) -> Result<Self> {
        let positions = source.positions().to_vec();
        PointField::of(positions, Input::Given(source), (device, options), weighting)
    }

    fn of(
        positions: Vec<[f64; 3]>,
        input: Input,
        (device, options): (&Device, &FieldOptions),
        weighting: Weighting,
    ) -> Result<Self> {
        check_positions(&positions)?;
        check_weighting(weighting, positions.len())?;
        let domain = bounding_box(&positions)?;
        let time = input.time(options)?;
        let lattice = Lattice::new(&positions, &domain, options.precision);
        let shape = lattice.shape(weighting);
        let places = places(&positions, &lattice.order, &shape);
        let places = options.precision.data(places, [shape.axis(3)]);
        let layout = Layout {
            shape: FieldShape::Points(shape),
            given: positions.len(),
            averaged: false,
            order: Some(Arc::new(lattice.order)),
            flat: [0, 1, 2].map(|d| shape.is_flat(d)),
            name: format!("{} points", positions.len()),
            other_bytes: (shape.axis(3) * options.precision.bytes()
                + lattice.starts.len() * size_of::<i32>()) as u64,
            position: Arc::new(move |value| positions[value]),
        };
        let Loaded { velocity, stream, has_diffusivity } =
            layout.load(input, &time, device, options)?;
        let dtype = options.precision.dtype();
        let cells = lattice.starts.len();
        let starts = TensorData::new(lattice.starts, [cells]);
        let sampled = Sampled {
            tensors: FieldTensors {
                velocity,
                coordinates: Tensor::from_data(places, (device, dtype)),
                index: Tensor::from_data(starts, (device, DType::I32)),
                shape: FieldShape::Points(shape),
            },
            stream,
            domain,
            time,
            device: device.clone(),
            precision: options.precision,
            has_diffusivity,
        };
        Ok(PointField { sampled, shape })
    }

    /// Bytes that the field takes on its device.
    pub fn bytes(&self) -> u64 {
        self.sampled.bytes()
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.shape.count
    }

    /// Nodes and their weights for positions `[n, 3]`, by looking at all nodes: the reference for
    /// the search of the fused operation.
    fn locate_all(&self, position: Tensor<2>) -> Shares {
        let nodes = self.nearest(position.clone().detach());
        let [n, k] = nodes.dims();
        let flat = nodes.reshape([n * k]);
        let mut square = Tensor::<2>::zeros([n, k], (&position.device(), position.dtype()));
        for (d, axis) in self.moving_axes() {
            let x = axis.select(0, flat.clone()).reshape([n, k]);
            let way = position.clone().slice([0..n, d..d + 1]) - x;
            square = square + way.powi_scalar(2);
        }
        Shares { nodes: flat, weights: self.weights(square) }
    }

    /// Shares `[n, k]` of the nodes, which add up to 1, from the squares of their distances.
    fn weights(&self, square: Tensor<2>) -> Tensor<2> {
        let Weighting::InverseDistance { power, .. } = self.shape.weighting else {
            return square.zeros_like().add_scalar(1.0);
        };
        let nearest = square.clone().detach().min_dim(1);
        // A node on the spot has all of the weight; a division by its distance would have none.
        let is_here = square.clone().detach().equal_elem(0.0);
        let ratio = nearest / square.mask_fill(is_here.clone(), 1.0);
        let weight = ratio.powf_scalar(0.5 * power).mask_fill(is_here, 1.0);
        let sum = weight.clone().sum_dim(1);
        weight / sum
    }

    /// Velocity `[n, 4]` of one frame, given its values.
    fn read(&self, values: Tensor<2>, shares: &Shares) -> Tensor<2> {
        let [n, k] = shares.weights.dims();
        let velocity = values.select(0, shares.nodes.clone()).reshape([n, k, 4]);
        let weighed = velocity * shares.weights.clone().reshape([n, k, 1]);
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

    /// Squares of distances `[n, end - start]` to some of the nodes.
    fn square_distances(&self, position: &Tensor<2>, start: usize, end: usize) -> Tensor<2> {
        let [n, _] = position.dims();
        let options = (&position.device(), position.dtype());
        let mut square = Tensor::zeros([n, end - start], options);
        for (d, axis) in self.moving_axes() {
            let x = axis.slice(start..end).reshape([1, end - start]);
            let way = position.clone().slice([0..n, d..d + 1]) - x;
            square = square + way.powi_scalar(2);
        }
        square
    }

    /// The axes that are not flat, with the nodes' coordinates on them.
    fn moving_axes(&self) -> impl Iterator<Item = (usize, Tensor<1>)> {
        let moving = (0..3).filter(|d| !self.shape.is_flat(*d));
        moving.map(|d| {
            let start = self.shape.axis(d);
            (d, self.sampled.tensors.coordinates.clone().slice(start..start + self.shape.count))
        })
    }
}

sampled_field!(PointField);

/// Which nodes the velocities at `n` positions come from `[n k]`, and in which shares `[n, k]`.
struct Shares {
    nodes: Tensor<1, Int>,
    weights: Tensor<2>,
}

/// Distances that are held at once when all nodes are looked at.
const MAX_DISTANCES: usize = 1 << 22;

/// The `count` smallest of the numbers `[n, m]` of each row and their nodes, in order.
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
        return Err(Error::Empty("it has no points"));
    }
    // Numbers of nodes are `i32` on a device.
    if positions.len() > i32::MAX as usize - NODE_PADDING {
        return Err(Error::Points(format!("there are {}; at most 2^31 can be", positions.len())));
    }
    match positions.iter().position(|p| p.iter().any(|x| !x.is_finite())) {
        None => Ok(()),
        Some(i) => {
            Err(Error::Points(format!("point {i} is at {:?}, which is no place", positions[i])))
        }
    }
}

fn check_weighting(weighting: Weighting, count: usize) -> Result<()> {
    let Weighting::InverseDistance { neighbours, power } = weighting else {
        return Ok(());
    };
    let most = MAX_NEIGHBOURS.min(count);
    if !(1..=most).contains(&neighbours) {
        return Err(Error::Points(format!(
            "a mean of {neighbours} neighbours was asked for, of {count} points; 1 to {most} can be"
        )));
    }
    if !(power.is_finite() && power > 0.0) {
        return Err(Error::Points(format!(
            "weights by the inverse distance to the power {power} were asked for; the power must \
             be above 0, and 2 is usual"
        )));
    }
    Ok(())
}

fn bounding_box(positions: &[[f64; 3]]) -> Result<Domain> {
    let (mut low, mut high) = (positions[0], positions[0]);
    for p in positions {
        for d in 0..3 {
            low[d] = low[d].min(p[d]);
            high[d] = high[d].max(p[d]);
        }
    }
    Domain::new(low, high)
}

/// The nodes' coordinates as kernels read them.
fn places(positions: &[[f64; 3]], order: &[usize], shape: &PointShape) -> Vec<f64> {
    let mut places = Vec::with_capacity(shape.axis(3));
    for d in [0, 1, 2] {
        let coordinate = |i: &usize| if shape.is_flat(d) { 0.0 } else { positions[*i][d] };
        places.extend(order.iter().map(coordinate));
        places.extend([f64::from(f32::MAX); NODE_PADDING]);
    }
    places
}
