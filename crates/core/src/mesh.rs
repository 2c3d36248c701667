//! Meshes of cells of any kind, with face neighbours and a cell locator.
//!
//! Kernels use the tables of a mesh's kinds (`CellKind::table`), its connectivity, its neighbours
//! and its [`Locator`]. [`Mesh::locate`] is the reference for their search.

mod around;
mod bounds;
mod collapsed;
mod faces;
mod groups;
mod input;
mod locate;
mod locator;
mod merge;
mod neighbours;
mod order;
mod parts;
pub(crate) mod records;
mod reentrant;
mod shape;
mod structure;
mod survey;
mod uniform;

pub(crate) use around::CellsAtPoints;
pub use bounds::Bounds;
pub(crate) use faces::{FacePoint, FacePosition, FaceSampler, gauss};
pub use groups::{BoundaryCells, FaceGroup};
pub use input::Cells;
pub(crate) use input::mean;
pub use locate::Location;
pub use locator::Locator;
pub(crate) use merge::coincident;
pub use order::Origins;
pub(crate) use parts::OpenFace;
pub(crate) use structure::Coordinates;
pub use structure::{Mesh, MeshCounts};
pub(crate) use uniform::CellSampler;

#[cfg(test)]
mod tests;
