//! Files in, files out.
//!
//! * [`checkpoint`]: a file from which a stopped run goes on.
//! * [`series`]: a velocity field over one or many VTK files, on a grid, on a mesh or on scattered
//!   points, as a [`FrameSource`](burntrace_core::FrameSource).
//! * [`image`]: numbers on a lattice as image data for ParaView and VTK.
//! * [`points`]: seeds from CSV and VTK files.
//! * [`surface`]: closed surfaces of triangles, for obstacles, from STL and VTK files.
//! * [`tracks`]: the tracks of a run as a group of Zarr arrays, written save by save and read back
//!   lazily.
//! * [`vtp`]: tracks as lines and clouds for ParaView and VTK.
//!
//! Nothing here prints. Whatever is wrong with a file is an [`Error`] that names it.

pub mod checkpoint;
mod disk;
mod error;
pub mod image;
mod listing;
mod number;
pub mod points;
pub mod series;
pub mod surface;
pub mod tracks;
pub mod vtp;

pub use checkpoint::{Checkpoint, CheckpointWriter};
pub use error::{Error, Result};
pub use image::{Image, write_image};
pub use points::{SeedPoints, read_points};
pub use series::{
    Association, At, CaseTimes, Files, Frames, MeshSeries, OtherCells, PointSeries, Series,
    SeriesInfo, SeriesOptions, TimeOptions, TimesFrom, VelocityName, inspect,
};
pub use surface::{Triangles, read_surface, read_triangles};
pub use tracks::{Clock, ParticleState, SavedStates, Track, TrackWriter, Tracks};
pub use vtp::{write_clouds, write_tracks};
