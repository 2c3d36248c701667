//! Tracks of a run in a folder: a group of uncompressed Zarr arrays (v3) with attributes of the CF
//! conventions, which the Python packages `zarr` and `xarray` open.
//!
//! | array | shape | type | content |
//! | --- | --- | --- | --- |
//! | `time` | `[saves]` | f64 | times of the saves |
//! | `position` | `[saves, particles, 3]` | f32 or f64 | positions in the domain box |
//! | `status` | `[saves, particles]` | u8 | codes of [`Status`](burntrace_core::Status) |
//! | `image` | `[saves, particles, 3]` | i32 | boxes crossed; only with periodic faces |
//! | `velocity` | `[saves, particles, 3]` | f32 or f64 | velocities; only on request |
//! | a name of its own | `[saves, particles]` or `[saves, particles, components]` | f32 or f64 | an array sampled along the tracks |
//! | `release_position` | `[particles, 3]` | as `position` | release position of a seed; NaN in other slots |
//! | `release_time` | `[particles]` | f64 | release time; NaN if not released |
//! | `end_time` | `[particles]` | f64 | end time; NaN if not ended |
//! | `end_status` | `[particles]` | u8 | status at the end of the run |
//! | `mesh_cell` | `[particles]` | i64 | cell through which the particle left the mesh, or -1 |
//! | `mesh_face` | `[particles]` | i32 | face of that cell, or -1 |
//! | `obstacle` | `[particles]` | i32 | obstacle at which the particle ended, or -1 |
//! | `patch` | `[particles]` | i32 | patch through which the particle left the mesh, or -1 |
//! | `condition` | `[particles]` | i32 | condition that stopped the particle, or -1 |
//! | `generation` | `[saves, particles]` | i32 | earlier particle instances in the slot |
//! | `end_generation` | `[particles]` | i32 | the same at the end of the run |
//! | `instance_slot` | `[instances]` | i32 | slot |
//! | `instance_generation` | `[instances]` | i32 | earlier particle instances in the slot |
//! | `instance_status` | `[instances]` | u8 | status at the end |
//! | `instance_release_time` | `[instances]` | f64 | release time |
//! | `instance_end_time` | `[instances]` | f64 | end time; NaN if still active |
//! | `instance_release_position` | `[instances, 3]` | f64 | release position |
//! | `instance_end_position` | `[instances, 3]` | f64 | position in the domain box at the end, or last position |
//! | `crossing_gate` | `[crossings]` | i32 | number of the gate, whose name is in the attributes |
//! | `crossing_slot`, `crossing_generation` | `[crossings]` | i32 | who crosses it |
//! | `crossing_direction` | `[crossings]` | i32 | 1 along the normal of the gate or into the region, -1 back |
//! | `crossing_time` | `[crossings]` | f64 | when |
//! | `crossing_position` | `[crossings, 3]` | f64 | where, in the domain box |
//!
//! Times, positions and velocities are in the data's units. Particles are in the order of the seeds.
//! The arrays of mesh cells and faces exist for fields on meshes (see
//! [`MeshFace`](burntrace_core::MeshFace)), the arrays of obstacles, patches and conditions if there are any. The attributes
//! of the group, in `zarr.json`, have counts, precision, periods, units, the names of the arrays, and
//! `complete`, which becomes 1 when everything else is written. The group also has the metadata of all
//! arrays, and the array `component` the labels x, y and z.
//! [`Tracks::put_density`] adds arrays of densities.
//!
//! While a run is in progress, or if it was stopped, the arrays have the planned number of saves:
//! saves that are missing have NaN as time, and the fill value elsewhere. The tables of instances and crossings have
//! no rows for Zarr until the run ends, and the arrays of the ends do not exist.
//!
//! `time/checksums.txt` lists the CRC-32 of each file; [`verify`] compares them, and so does
//! [`TrackWriter::resume`].
//!
//! The arrays of generations and particle instances exist if slots are re-used, see
//! [`ParticleInstance`](burntrace_core::ParticleInstance). Slots of sources come after the seeds;
//! an empty slot has NaN as position and velocity. `release_time`, `end_time`, `end_status`,
//! `mesh_cell`, `mesh_face`, `obstacle`, `patch` and `condition` describe the last instance in each slot.
//!
//! ```no_run
//! use burntrace_io::tracks::Tracks;
//!
//! let tracks = Tracks::open("run/tracks")?;
//! for (save, time) in tracks.times().iter().enumerate() {
//!     let positions: Vec<[f64; 3]> = tracks.position(save)?;
//!     assert_eq!(positions.len(), tracks.num_particles());
//! }
//! # Ok::<(), burntrace_io::Error>(())
//! ```

mod array;
mod array_compress;
mod array_reader;
mod array_resume;
mod arrays;
mod blocks;
mod cf;
mod checksums;
mod chunk_grid;
mod compression;
mod copy;
mod crossings;
mod dates;
mod decode;
mod density;
mod extend;
mod folder;
mod host_array;
mod in_memory;
mod instances;
mod join;
mod layout;
mod manifest;
mod names;
mod play;
mod reader;
mod sampled;
mod states;
mod store;
mod thread;
mod track;
mod verify;
mod writer;

pub(crate) use cf::CONVENTIONS;

pub(crate) use blocks::SaveBlock;
pub use cf::Units;
pub use dates::TimeOrigin;
pub use extend::copy_saves;
pub use folder::{foreign_names, is_store};
pub use host_array::HostArray;
pub use in_memory::{ArrayTracks, TrackArray};
pub use instances::Instances;
pub use join::{PieceTracks, join_pieces, piece_length};
pub use names::{check_names, reserved_names};
pub use reader::Tracks;
pub use states::{ParticleState, ParticleTimes, SavedStates};
pub use track::Track;
pub use verify::{Verification, verify};
pub use writer::TrackWriter;
