//! The tracks of a run in a folder of NumPy files, which `numpy.load(..., mmap_mode="r")` opens.
//!
//! | file | shape | type | content |
//! | --- | --- | --- | --- |
//! | `time.npy` | `[saves]` | f64 | times of the saves |
//! | `position.npy` | `[saves, particles, 3]` | f32 or f64 | positions in the box |
//! | `status.npy` | `[saves, particles]` | u8 | codes of [`Status`](burntrace_core::Status) |
//! | `image.npy` | `[saves, particles, 3]` | i32 | boxes crossed; only with periodic faces |
//! | `velocity.npy` | `[saves, particles, 3]` | f32 or f64 | velocities; only if asked for |
//! | `release_time.npy` | `[particles]` | f64 | time of release; NaN where it has not come |
//! | `end_time.npy` | `[particles]` | f64 | time of the end; NaN where there is none |
//! | `end_status.npy` | `[particles]` | u8 | what has become of the particle |
//! | `mesh_cell.npy` | `[particles]` | i64 | the cell out of which it left the mesh, or -1 |
//! | `mesh_face.npy` | `[particles]` | i32 | the face of that cell, or -1 |
//! | `obstacle.npy` | `[particles]` | i32 | the obstacle at which it ended, or -1 |
//! | `generation.npy` | `[saves, particles]` | i32 | lives that the slot has had before |
//! | `end_generation.npy` | `[particles]` | i32 | the same at the end of the run |
//! | `life_slot.npy` | `[lives]` | i32 | the slot |
//! | `life_generation.npy` | `[lives]` | i32 | lives that the slot has had before |
//! | `life_status.npy` | `[lives]` | u8 | what has become of the particle |
//! | `life_release_time.npy` | `[lives]` | f64 | time of release |
//! | `life_end_time.npy` | `[lives]` | f64 | time of the end; NaN while it goes on |
//! | `life_release_place.npy` | `[lives, 3]` | f64 | place of release |
//! | `life_end_place.npy` | `[lives, 3]` | f64 | place of the end, in the box; or where it is |
//! | `tracks.json` | | | counts, precision, periods, names of the status codes |
//!
//! The two about meshes are there for fields on meshes only, see
//! [`MeshFace`](burntrace_core::MeshFace), and that about obstacles where there are any. Particles are in the order of the seeds. `tracks.json`
//! is written last: a folder that has it is complete.
//!
//! Those about generations and lives are there where slots are used again, by one particle after
//! another; see [`Life`](burntrace_core::Life). Slots of sources come after the seeds, and have NaN
//! as position and velocity while there is no particle in them. `release_time.npy`, `end_time.npy`,
//! `end_status.npy` and the two about meshes are about the last life of each slot.
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
mod files;
mod grid;
mod layout;
mod lives;
mod manifest;
mod npy;
mod reader;
mod store;
mod thread;
mod writer;

pub use lives::Lives;
pub use reader::{Track, Tracks};
pub use writer::TrackWriter;
