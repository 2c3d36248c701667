//! The distance to the nearest wall as an array of a field.

use super::{
    arrays::FieldArray,
    domain::{Domain, bounding_box},
    source::{
        FrameData, FrameSource, GridSource, MeshSource, PointSource, SourceError, describe_as,
        placed_as_source,
    },
};
use crate::{Error, Floats, Result, Surroundings, Walls, mesh::Mesh};
use burntrace_kernels::Placement;
use rayon::prelude::*;

/// The name of the array.
pub const WALL_DISTANCE: &str = "wall_distance";

/// A source of frames with the distance of each node (or of the middle of each cell) from the nearest [wall](Walls) as an array
/// [`WALL_DISTANCE`], a length, behind its own. It is the same in all frames, and interpolated as other arrays are: exactly beside a flat wall.
///
/// ```
/// use burntrace_core::{BoundaryCondition, FrameSource, Surroundings, WithWallDistance};
/// # use burntrace_core::{Analytic, Domain, Flow};
/// # fn main() -> Result<(), burntrace_core::Error> {
/// # let domain = Domain::new([0.0; 3], [2.0, 1.0, 0.0])?;
/// # let gyre = Flow::named("double-gyre").expect("a built-in flow");
/// # let source = Analytic::sample(gyre, domain, [65, 33, 1], vec![0.0])?;
/// let surroundings = Surroundings::default().all_faces(BoundaryCondition::Reflect);
/// let source = WithWallDistance::on_grid(source, &surroundings)?;
/// assert_eq!(source.arrays()[0].name, "wall_distance");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct WithWallDistance<S> {
    source: S,
    arrays: Vec<FieldArray>,
    distances: Vec<f64>,
}

impl<S: GridSource> WithWallDistance<S> {
    /// Adds the array to a source on a grid, in surroundings whose domain is that of the grid if they have none.
    ///
    /// # Errors
    ///
    /// Those of [`Walls::new`], and [`Error::Arrays`] if the source has an array of this name.
    pub fn on_grid(source: S, surroundings: &Surroundings) -> Result<Self> {
        let axes = source.axes().each_ref().map(|axis| match source.placement() {
            Placement::Cells if axis.len() > 1 => {
                axis.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect()
            }
            _ => axis.clone(),
        });
        let end = |last: bool| {
            source.axes().each_ref().map(|axis| match last {
                true => axis.last().copied().unwrap_or_default(),
                false => axis.first().copied().unwrap_or_default(),
            })
        };
        let domain = Domain::new(end(false), end(true))?;
        let [x, y, z] = &axes;
        let positions = z.iter().flat_map(|z| y.iter().map(move |y| (y, z)));
        let positions = positions.flat_map(|(y, z)| x.iter().map(move |x| [*x, *y, *z]));
        let positions = positions.collect::<Vec<_>>();
        WithWallDistance::new(source, (surroundings, domain, None), &positions)
    }
}

impl<S: MeshSource> WithWallDistance<S> {
    /// Adds the array to a source on a mesh in a flat space.
    ///
    /// # Errors
    ///
    /// As [`on_grid`](WithWallDistance::on_grid), and those of [`Mesh::new`].
    pub fn on_mesh(source: S, surroundings: &Surroundings) -> Result<Self> {
        let mut mesh = Mesh::new(source.points(), source.cells().clone())?;
        if let Some(boundary) = source.boundary() {
            mesh = mesh.with_boundary(boundary)?;
        }
        let domain = bounding_box(source.points().iter().copied())?;
        let positions: Vec<[f64; 3]> = match source.placement() {
            Placement::Cells => {
                let cells = source.cells();
                (0..cells.len()).map(|cell| cells.centre(cell, source.points())).collect()
            }
            Placement::Nodes => source.points().to_vec(),
            Placement::Faces => {
                return Err(Error::Arrays(format!(
                    "`{WALL_DISTANCE}` is not known where velocities are on faces; use a field with velocities at nodes or in cells"
                )));
            }
        };
        WithWallDistance::new(source, (surroundings, domain, Some(&mesh)), &positions)
    }
}

impl<S: PointSource> WithWallDistance<S> {
    /// Adds the array to a source on points.
    ///
    /// # Errors
    ///
    /// As [`on_grid`](WithWallDistance::on_grid).
    pub fn on_points(source: S, surroundings: &Surroundings) -> Result<Self> {
        let positions = source.positions().to_vec();
        let domain = bounding_box(positions.iter().copied())?;
        WithWallDistance::new(source, (surroundings, domain, None), &positions)
    }
}

impl<S: FrameSource> WithWallDistance<S> {
    fn new(
        source: S,
        (surroundings, domain, mesh): (&Surroundings, Domain, Option<&Mesh>),
        positions: &[[f64; 3]],
    ) -> Result<Self> {
        let mut arrays = source.arrays().to_vec();
        if arrays.iter().any(|array| array.name == WALL_DISTANCE) {
            return Err(Error::Arrays(format!(
                "the source has an array `{WALL_DISTANCE}` already; use that"
            )));
        }
        arrays.push(FieldArray::new(WALL_DISTANCE, 1));
        let domain = surroundings.domain.unwrap_or(domain);
        let walls = Walls::new(surroundings, &domain, mesh)?;
        let distances = positions.par_iter().map(|p| walls.distance(*p)).collect();
        Ok(WithWallDistance { source, arrays, distances })
    }

    fn with_distances(&self, mut data: FrameData) -> FrameData {
        let precision = data.velocity.precision();
        data.arrays.push(Floats::from_f64(precision, self.distances.iter().copied()));
        data
    }
}

impl<S: FrameSource> FrameSource for WithWallDistance<S> {
    describe_as!(self => self.source, &self.arrays);

    fn read(&mut self, frame: usize) -> std::result::Result<FrameData, SourceError> {
        let data = self.source.read(frame)?;
        Ok(self.with_distances(data))
    }

    fn read_many(&mut self, frames: &[usize]) -> Vec<std::result::Result<FrameData, SourceError>> {
        let all = self.source.read_many(frames).into_iter();
        all.map(|data| Ok(self.with_distances(data?))).collect()
    }
}

placed_as_source!(WithWallDistance);

impl<S: PointSource> PointSource for WithWallDistance<S> {
    fn positions(&self) -> &[[f64; 3]] {
        self.source.positions()
    }
}
