//! The tracks of a run in a folder: a group of Zarr arrays (v3), not compressed, which the Python
//! packages `zarr` and `xarray` open.
//!
//! | array | shape | type | content |
//! | --- | --- | --- | --- |
//! | `time` | `[saves]` | f64 | times of the saves |
//! | `position` | `[saves, particles, 3]` | f32 or f64 | positions in the box |
//! | `status` | `[saves, particles]` | u8 | codes of [`Status`](burntrace_core::Status) |
//! | `image` | `[saves, particles, 3]` | i32 | boxes crossed; only with periodic faces |
//! | `velocity` | `[saves, particles, 3]` | f32 or f64 | velocities; only if asked for |
//! | `release_time` | `[particles]` | f64 | time of release; NaN where it has not come |
//! | `end_time` | `[particles]` | f64 | time of the end; NaN where there is none |
//! | `end_status` | `[particles]` | u8 | what has become of the particle |
//! | `mesh_cell` | `[particles]` | i64 | the cell out of which it left the mesh, or -1 |
//! | `mesh_face` | `[particles]` | i32 | the face of that cell, or -1 |
//! | `obstacle` | `[particles]` | i32 | the obstacle at which it ended, or -1 |
//! | `generation` | `[saves, particles]` | i32 | lives that the slot has had before |
//! | `end_generation` | `[particles]` | i32 | the same at the end of the run |
//! | `life_slot` | `[lives]` | i32 | the slot |
//! | `life_generation` | `[lives]` | i32 | lives that the slot has had before |
//! | `life_status` | `[lives]` | u8 | what has become of the particle |
//! | `life_release_time` | `[lives]` | f64 | time of release |
//! | `life_end_time` | `[lives]` | f64 | time of the end; NaN while it goes on |
//! | `life_release_place` | `[lives, 3]` | f64 | place of release |
//! | `life_end_place` | `[lives, 3]` | f64 | place of the end, in the box; or where it is |
//!
//! [`Tracks::put_density`] adds arrays of densities to it, which belong to no run.
//!
//! The two about meshes are there for fields on meshes only, see
//! [`MeshFace`](burntrace_core::MeshFace), and that about obstacles where there are any. Particles
//! are in the order of the seeds. Counts, precision, periods and the names of the status codes are
//! attributes of the group, in `zarr.json`; so is `complete`, which becomes true last of all.
//!
//! Those about generations and lives are there where slots are used again, by one particle after
//! another; see [`ParticleInstance`](burntrace_core::Life). Slots of sources come after the seeds, and have NaN
//! as position and velocity while there is no particle in them. `release_time`, `end_time`,
//! `end_status` and the two about meshes are about the last life of each slot.
//!
//! Folders of NumPy files with these names (`position.npy`), which earlier versions wrote, are read
//! too.
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
mod density;
mod files;
mod grid;
mod layout;
mod lives;
mod manifest;
mod npy;
mod play;
mod reader;
mod states;
mod store;
mod thread;
mod writer;

pub use lives::Lives;
pub use reader::{Track, Tracks};
pub use states::{Clock, ParticleState, SavedStates};
pub use writer::TrackWriter;
