//! Gradients by the shapes of obstacles.

use super::{Tracer, stepper::Stepper, timed::numbers, walk};
use crate::{Error, Result, Shape};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burntrace_kernels::{ClosedSurface, obstacle_rows};

impl Tracer<'_> {
    /// Sets the numbers of an obstacle's shape from a tensor, in the data's unit of length: of a sphere its centre and its radius
    /// `[4]`, of a cylinder its base, its axis and its radius `[7]`, of a box its low and its high corner `[6]`, and of a surface its
    /// [points](ClosedSurface::points) `[points, 3]`. If it tracks gradients, positions and end times depend on it wherever a
    /// particle meets the obstacle. Obstacles count from 0; call it after what adds them.
    ///
    /// ```
    /// use burntrace_core::{
    ///     Allowed, BoundaryCondition, FieldOptions, GridField, Obstacle, Seeds, Shape, Surroundings, Tracer,
    /// };
    /// use burn::tensor::{Device, Tensor};
    ///
    /// # fn main() -> Result<(), burntrace_core::Error> {
    /// let axes = [vec![-4.0, 4.0], vec![-1.0, 1.0], vec![-1.0, 1.0]];
    /// let (device, options) = (Device::flex().autodiff(), FieldOptions::default());
    /// let wind = GridField::from_fn(axes, vec![0.0], &device, &options, |_, _| [1.0, 0.0, 0.0])?;
    /// let shape = Shape::Sphere { centre: [0.0; 3], radius: 0.5 };
    /// let surface = BoundaryCondition::Stick;
    /// let ball = Obstacle { shape, allowed: Allowed::Outside, surface };
    /// let surroundings = Surroundings { obstacles: vec![ball], ..Surroundings::default() };
    /// let numbers = Tensor::<1>::from_floats([0.0, 0.0, 0.0, 0.5], &device).require_grad();
    /// let tracer = Tracer::new(&wind).span(0.0..=2.0).steps(10).surroundings(surroundings);
    /// let tracer = tracer.shape(0, numbers.clone())?;
    /// let tracks = tracer.trace(&Seeds::list(vec![[-1.0, 0.0, 0.0]])?)?;
    /// let gradients = tracks.positions().sum().backward();
    /// let by_shape: Vec<f64> = numbers.grad(&gradients).unwrap().into_data().iter::<f64>().collect();
    /// // It ends on the ball in front of its centre.
    /// assert!((by_shape[0] - 1.0).abs() < 1e-4 && (by_shape[3] + 1.0).abs() < 1e-4, "{by_shape:?}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Obstacle`] for an obstacle that is not there, for land, for another count of numbers, for numbers that are not
    /// finite, and for points that make no closed surface with the same triangles; [`Error::Execution`] if the tensor's device fails.
    pub fn shape<const D: usize>(mut self, obstacle: usize, shape: Tensor<D>) -> Result<Self> {
        let shape = shape.reshape([-1]);
        let given = numbers(&shape)?;
        let count = self.surroundings.obstacles.len();
        let Some(of) = self.surroundings.obstacles.get_mut(obstacle) else {
            return Err(Error::Obstacle(format!(
                "there is none with the number {obstacle}, but {count}, counted from 0; add it before"
            )));
        };
        of.shape = with_numbers(&of.shape, &given).map_err(|why| {
            Error::Obstacle(format!("number {obstacle}, a {}: {why}", of.shape.name()))
        })?;
        self.shapes.retain(|(other, _)| *other != obstacle);
        if shape.device().is_autodiff() {
            self.shapes.push((obstacle, shape));
        }
        Ok(self)
    }

    /// Refuses tracked shapes that others have replaced, to which their gradients would not belong.
    pub(super) fn check_shapes(&self) -> Result<()> {
        for (number, shape) in &self.shapes {
            let given = numbers(shape)?;
            let now = self.surroundings.obstacles.get(*number).map(|of| numbers_of(&of.shape));
            if now.is_none_or(|now| now != given) {
                return Err(Error::Obstacle(format!(
                    "number {number} has another shape than the tensor that was given for it; call `Tracer::shape` after the obstacles are set"
                )));
            }
        }
        Ok(())
    }
}

/// The numbers of a shape, as [`Tracer::shape`] takes them.
fn numbers_of(shape: &Shape) -> Vec<f64> {
    match shape {
        Shape::Sphere { centre, radius } => [&centre[..], &[*radius]].concat(),
        Shape::Cylinder { base, axis, radius, .. } => [&base[..], &axis[..], &[*radius]].concat(),
        Shape::Box { low, high } => [*low, *high].concat(),
        Shape::Surface(surface) => surface.points().concat(),
        Shape::Land(_) => Vec::new(),
    }
}

/// A shape with other numbers.
fn with_numbers(shape: &Shape, numbers: &[f64]) -> std::result::Result<Shape, String> {
    let count = numbers_of(shape).len();
    if matches!(shape, Shape::Land(_)) {
        return Err("it follows from the field; give that other values".into());
    }
    if numbers.len() != count {
        return Err(format!("its tensor has {} numbers; give {count}", numbers.len()));
    }
    if let Some(bad) = numbers.iter().find(|x| !x.is_finite()) {
        return Err(format!("its tensor has the number {bad}; give finite ones"));
    }
    let (rows, rest) = numbers.as_chunks::<3>();
    Ok(match shape {
        Shape::Sphere { .. } => Shape::Sphere { centre: rows[0], radius: rest[0] },
        Shape::Cylinder { capped, .. } => {
            Shape::Cylinder { base: rows[0], axis: rows[1], radius: rest[0], capped: *capped }
        }
        Shape::Surface(surface) => Shape::surface(moved(surface, rows)?),
        _ => Shape::Box { low: rows[0], high: rows[1] },
    })
}

/// A surface of the same triangles between other points.
fn moved(
    surface: &ClosedSurface,
    points: &[[f64; 3]],
) -> std::result::Result<ClosedSurface, String> {
    let triangles = surface.triangles().iter().map(|corners| corners.map(|i| i as usize));
    let triangles: Vec<_> = triangles.collect();
    let moved = ClosedSurface::new(points, &triangles).map_err(|error| error.to_string())?;
    match moved.points() == points {
        true => Ok(moved),
        false => Err("some of its points are the same or of no triangle; keep them apart".into()),
    }
}

/// The numbers of tracked shapes as kernels compute with them, each with its first row among the rows of a run's geometry.
pub(super) fn tracked(tracer: &Tracer, stepper: &Stepper) -> Vec<(usize, Tensor<2>)> {
    if tracer.shapes.is_empty() {
        return Vec::new();
    }
    let [count, _] = stepper.geometry.rows.dims();
    let first = obstacle_rows(count, &stepper.obstacles, &stepper.gates.shapes);
    let (device, dtype) = (walk::device(tracer, true), tracer.field.precision().dtype());
    let row = |(number, numbers): &(usize, Tensor<1>)| {
        let numbers = numbers.clone().to_device(&device).cast(dtype);
        let shape = &tracer.surroundings.obstacles[*number].shape;
        (first[*number], rows(shape, &stepper.obstacles[*number].shape, numbers, &device))
    };
    tracer.shapes.iter().map(row).collect()
}

/// The rows `[n, 3]` of a shape that has these numbers. `measured` is the shape in its domain, the triangles of which count.
fn rows(shape: &Shape, measured: &Shape, numbers: Tensor<1>, device: &Device) -> Tensor<2> {
    let part = |first: usize, count: usize| numbers.clone().narrow(0, first, count);
    let zeros = |count: usize| Tensor::<1>::zeros([count], (device, numbers.dtype()));
    let flat = match (shape, measured) {
        (Shape::Sphere { .. }, _) => vec![part(0, 3), zeros(3), part(3, 1), zeros(2)],
        (Shape::Cylinder { .. }, _) => {
            let axis = part(3, 3);
            let length = axis.clone().powi_scalar(2).sum().sqrt();
            vec![part(0, 3), axis / length.clone(), part(6, 1), length, zeros(1)]
        }
        (_, Shape::Surface(surface)) => {
            return facets(surface, numbers.reshape([-1, 3]), device);
        }
        _ => vec![part(0, 6), zeros(3)],
    };
    Tensor::cat(flat, 0).reshape([3, 3])
}

/// The rows of the triangles of a surface `[4 triangles, 3]`: a corner, the directions of the first side and of the normal, and
/// the length of that side with the coordinates of the third corner in the plane.
fn facets(surface: &ClosedSurface, points: Tensor<2>, device: &Device) -> Tensor<2> {
    let count = surface.triangles().len();
    let corner = |k: usize| {
        let numbers: Vec<i32> = surface.triangles().iter().map(|of| of[k] as i32).collect();
        let numbers = TensorData::new(numbers, [count]);
        let numbers = Tensor::<1, Int>::from_data(numbers, (device, DType::I32));
        points.clone().select(0, numbers)
    };
    let dot = |a: Tensor<2>, b: Tensor<2>| (a * b).sum_dim(1);
    let length = |of: Tensor<2>| of.powi_scalar(2).sum_dim(1).sqrt();
    let (a, b, c) = (corner(0), corner(1), corner(2));
    let (side, other) = (b - a.clone(), c - a.clone());
    let extent = length(side.clone());
    let along = side / extent.clone();
    let normal = along.clone().cross(other.clone(), 1);
    let normal = normal.clone() / length(normal);
    let up = normal.clone().cross(along.clone(), 1);
    let third = Tensor::cat(vec![extent, dot(other.clone(), along.clone()), dot(other, up)], 1);
    Tensor::stack::<3>(vec![a, along, normal, third], 1).reshape([4 * count, 3])
}
