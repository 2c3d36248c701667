//! Do tracks depend on how a run is executed: batches, threads, pieces, streamed frames, resumed runs?

mod batches;
mod groups;
mod order;
mod pieces;
pub mod resume;
mod sinks;
mod streamed;
mod summary;
mod tallies;
mod threads;
