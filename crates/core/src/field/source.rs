//! Sources of frames: the interface between a field and the data that it samples.

use super::arrays::FieldArray;
use crate::{
    Floats,
    mesh::{BoundaryCells, Cells},
};
use burntrace_kernels::Placement;

/// The error of a source of frames.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// The arrays of one frame, in the precision and the order of their source.
///
/// ```
/// use burntrace_core::{Floats, FrameData};
///
/// let velocity = Floats::F32(vec![1.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
/// let frame = FrameData::new(velocity).with_diffusivity(Floats::F64(vec![0.1, 0.2]));
/// assert_eq!(frame.diffusivity.unwrap().len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrameData {
    /// Velocity: `u, v, w` of each node or cell, in length per time; empty if the source has
    /// [none](FrameSource::has_velocity).
    pub velocity: Floats,
    /// Diffusivity of a [random walk](crate::RandomWalk), one number for each node or cell, in
    /// length squared per time. `None` in all frames if the source has none.
    pub diffusivity: Option<Floats>,
    /// The mask of hidden nodes or cells, whose velocities are NaN.
    pub(crate) hidden: Option<Vec<bool>>,
    /// A second velocity, in the form of the first one, which each particle [scales](crate::Motion::factors). `None` in all frames if
    /// the source has [none](FrameSource::has_scaled_velocity).
    pub scaled_velocity: Option<Floats>,
    /// The numbers of each of the source's [arrays](FrameSource::arrays), node by node or cell by cell.
    /// NaN where a value is missing.
    pub arrays: Vec<Floats>,
}

impl FrameData {
    /// A frame with a velocity and nothing else.
    pub fn new(velocity: Floats) -> Self {
        let (diffusivity, hidden, scaled_velocity) = (None, None, None);
        FrameData { velocity, diffusivity, hidden, scaled_velocity, arrays: Vec::new() }
    }

    /// Whether each node or cell is hidden: a hole of the field, where particles end. `None` in all
    /// frames if the source hides none.
    pub fn hidden(&self) -> Option<&[bool]> {
        self.hidden.as_deref()
    }

    /// Adds the mask of [hidden](FrameData::hidden) nodes or cells. Their velocities become NaN, and
    /// those of arrays in the field.
    ///
    /// # Panics
    ///
    /// If the mask is longer than the velocities.
    pub fn with_hidden(mut self, hidden: impl Into<Option<Vec<bool>>>) -> Self {
        self.hidden = hidden.into();
        if self.velocity.is_empty() {
            return self;
        }
        for i in (0..).zip(self.hidden.iter().flatten()).filter_map(|(i, is)| is.then_some(i)) {
            self.velocity.set_vector(i, [f64::NAN; 3]);
        }
        self
    }

    /// Adds the source's arrays.
    pub fn with_arrays(mut self, arrays: Vec<Floats>) -> Self {
        self.arrays = arrays;
        self
    }

    /// Adds a diffusivity.
    pub fn with_diffusivity(mut self, diffusivity: impl Into<Option<Floats>>) -> Self {
        self.diffusivity = diffusivity.into();
        self
    }

    /// Adds a second velocity.
    pub fn with_scaled_velocity(mut self, velocity: impl Into<Option<Floats>>) -> Self {
        self.scaled_velocity = velocity.into();
        self
    }

    /// Bytes of all arrays.
    pub fn num_bytes(&self) -> usize {
        let beside = [self.diffusivity.as_ref(), self.scaled_velocity.as_ref()];
        let arrays = std::iter::once(&self.velocity).chain(beside.into_iter().flatten());
        arrays.chain(&self.arrays).map(|array| array.bytes().len()).sum()
    }
}

impl From<Floats> for FrameData {
    fn from(velocity: Floats) -> Self {
        FrameData::new(velocity)
    }
}

/// A source of frames, for example a series of files, or a simulation that runs beside the tracer.
pub trait FrameSource {
    /// Times of the frames, strictly increasing, in the data's unit of time.
    fn times(&self) -> &[f64];

    /// The arrays beside velocity and diffusivity that each frame has; none by default.
    fn arrays(&self) -> &[FieldArray] {
        &[]
    }

    /// Whether the frames have velocities, as by default. A field without velocities can be sampled,
    /// and no particle can be traced in it.
    fn has_velocity(&self) -> bool {
        true
    }

    /// Whether the frames have diffusivities, not by default. It must be said beside arrays, on a sphere and for velocities on faces of cells; elsewhere a
    /// frame may have them without it.
    fn has_diffusivity(&self) -> bool {
        false
    }

    /// Whether the frames have a second velocity, not by default: each particle adds it to the first one after a multiplication by
    /// its [factor](crate::Motion::factors).
    fn has_scaled_velocity(&self) -> bool {
        false
    }

    /// Bytes on the host that the source keeps beside frames, such as decoded parts of a file; none by
    /// default. The memory plan counts them while frames are streamed.
    fn cache_bytes(&self) -> u64 {
        0
    }

    /// Reads all arrays of a frame. On a grid, x varies fastest.
    ///
    /// # Errors
    ///
    /// If the source cannot give the frame.
    fn read(&mut self, frame: usize) -> std::result::Result<FrameData, SourceError>;

    /// Reads several frames, at the same time if the source can do that, and returns one result
    /// for each, in the order of `frames`. An error in one frame does not affect the others.
    fn read_many(&mut self, frames: &[usize]) -> Vec<std::result::Result<FrameData, SourceError>> {
        frames.iter().map(|frame| self.read(*frame)).collect()
    }
}

/// Frames on image data or a rectilinear grid.
pub trait GridSource: FrameSource {
    /// Node coordinates of the x, y and z axes, in the data's unit of length; one node on a
    /// flat axis.
    fn axes(&self) -> &[Vec<f64>; 3];

    /// Whether the arrays are given at the nodes or in the cells.
    fn placement(&self) -> Placement;
}

/// Frames on scattered points.
pub trait PointSource: FrameSource {
    /// Positions of the nodes, in the data's unit of length.
    fn positions(&self) -> &[[f64; 3]];
}

/// Frames on a mesh that does not change.
pub trait MeshSource: FrameSource {
    /// Coordinates of the points, in the data's unit of length. Points that belong to no cell are
    /// ignored.
    fn points(&self) -> &[[f64; 3]];

    /// The cells, as indices of points.
    fn cells(&self) -> &Cells;

    /// Whether the arrays are given at the points ([`Placement::Nodes`]) or in the cells.
    fn placement(&self) -> Placement;

    /// Cells on the boundary, in the groups that [`Patch::faces`](crate::Patch::faces) names; none by
    /// default.
    fn boundary(&self) -> Option<&BoundaryCells> {
        None
    }
}

/// Implements the methods that describe a [`FrameSource`] by those of another source, perhaps with other arrays.
macro_rules! describe_as {
    ($self:ident => $source:expr) => {
        describe_as!($self => $source, $source.arrays());
    };
    ($self:ident => $source:expr, $arrays:expr) => {
        fn times(&$self) -> &[f64] {
            $source.times()
        }

        fn arrays(&$self) -> &[$crate::FieldArray] {
            $arrays
        }

        fn has_velocity(&$self) -> bool {
            $source.has_velocity()
        }

        fn has_diffusivity(&$self) -> bool {
            $source.has_diffusivity()
        }

        fn has_scaled_velocity(&$self) -> bool {
            $source.has_scaled_velocity()
        }

        fn cache_bytes(&$self) -> u64 {
            $source.cache_bytes()
        }
    };
}
pub(super) use describe_as;

/// Implements the traits of grids and meshes for a type that changes the frames of its `source`, and not its places.
macro_rules! placed_as_source {
    ($type:ident) => {
        impl<S: $crate::GridSource> $crate::GridSource for $type<S> {
            fn axes(&self) -> &[Vec<f64>; 3] {
                self.source.axes()
            }

            fn placement(&self) -> burntrace_kernels::Placement {
                self.source.placement()
            }
        }

        impl<S: $crate::MeshSource> $crate::MeshSource for $type<S> {
            fn points(&self) -> &[[f64; 3]] {
                self.source.points()
            }

            fn cells(&self) -> &$crate::mesh::Cells {
                self.source.cells()
            }

            fn placement(&self) -> burntrace_kernels::Placement {
                self.source.placement()
            }

            fn boundary(&self) -> Option<&$crate::mesh::BoundaryCells> {
                self.source.boundary()
            }
        }
    };
}
pub(super) use placed_as_source;

/// Implements the traits of sources for pointers to them.
macro_rules! implement_for {
    ($($pointer:ty),*) => {
        $(
            impl<S: FrameSource + ?Sized> FrameSource for $pointer {
                describe_as!(self => (**self));

                fn read(&mut self, frame: usize) -> std::result::Result<FrameData, SourceError> {
                    (**self).read(frame)
                }

                fn read_many(
                    &mut self,
                    frames: &[usize],
                ) -> Vec<std::result::Result<FrameData, SourceError>> {
                    (**self).read_many(frames)
                }
            }

            impl<S: MeshSource + ?Sized> MeshSource for $pointer {
                fn points(&self) -> &[[f64; 3]] {
                    (**self).points()
                }

                fn cells(&self) -> &Cells {
                    (**self).cells()
                }

                fn placement(&self) -> Placement {
                    (**self).placement()
                }

                fn boundary(&self) -> Option<&BoundaryCells> {
                    (**self).boundary()
                }
            }
        )*
    };
}
implement_for!(&mut S, Box<S>);

impl<S: GridSource + ?Sized> GridSource for Box<S> {
    fn axes(&self) -> &[Vec<f64>; 3] {
        (**self).axes()
    }

    fn placement(&self) -> Placement {
        (**self).placement()
    }
}

impl<S: PointSource + ?Sized> PointSource for Box<S> {
    fn positions(&self) -> &[[f64; 3]] {
        (**self).positions()
    }
}
