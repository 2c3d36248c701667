//! Tracks as poly data (`.vtp`), for ParaView and other programs that read VTK.

mod clouds;
mod file;
mod lines;
mod plan;

pub use clouds::write_clouds;
pub use lines::{lines_memory, write_selected_tracks, write_tracks};
