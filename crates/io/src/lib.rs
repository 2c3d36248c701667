//! Input and output files.
//!
//! * [`checkpoint`]: checkpoint files for resuming a stopped run.
//! * [`series`]: a velocity field in one or several files, on a grid, a mesh or scattered points, as a
//!   [`FrameSource`](burntrace_core::FrameSource).
//! * [`export`]: tracks as tables (Parquet, CSV), arrays (`.npy`, safetensors), CF data sets (Zarr) and features (GeoJSON, FlatGeobuf).
//! * [`image`]: values on a regular grid as image data for ParaView and VTK.
//! * [`npy`]: arrays in files of NumPy.
//! * [`points`]: seeds from CSV, VTK and `.npy` files.
//! * [`surface`]: closed triangle surfaces for obstacles, from STL and VTK files.
//! * [`tracks`]: the tracks of a run as a group of Zarr arrays, written save by save and read on
//!   demand.
//! * [`vtp`]: tracks as lines and point clouds for ParaView and VTK.
//!
//! The crate prints nothing. An [`Error`] names the file and the problem.

pub mod checkpoint;
mod disk;
mod error;
pub mod export;
pub mod image;
mod listing;
pub mod npy;
mod number;
pub mod points;
pub mod series;
pub mod surface;
pub mod tracks;
pub mod vtp;

pub use burntrace_vtk::{limit_memory, listed_files};
pub use checkpoint::{Checkpoint, CheckpointWriter};
pub use disk::{write_beside, write_text_beside};
pub use error::{Error, Result};
pub use export::{
    Rows, Selection, write_csv, write_flatgeobuf, write_geojson, write_npy, write_parquet,
    write_safetensors, write_trajectories,
};
pub use image::{Image, write_image};
pub use npy::{NpyArray, read_npy};
pub use points::{SeedPoints, read_points, read_seeds};
pub use series::{
    Association, At, CaseTimes, Crop, Files, Frames, MeshSeries, NamedArray, NamedFaces,
    OtherCells, PointSeries, Series, SeriesInfo, SeriesOptions, TimesFrom, VelocityName, inspect,
};
pub use surface::{Triangles, read_surface, read_triangles};
pub use tracks::{ParticleState, ParticleTimes, SavedStates, Track, TrackWriter, Tracks};
pub use vtp::{lines_memory, write_clouds, write_selected_tracks, write_tracks};
