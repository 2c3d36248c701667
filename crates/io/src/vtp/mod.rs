//! Tracks as poly data (`.vtp`), for ParaView and everything else that reads VTK.

mod clouds;
mod file;
mod lines;
mod plan;

pub use clouds::write_clouds;
pub use lines::write_tracks;
