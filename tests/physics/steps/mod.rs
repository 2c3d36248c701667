//! How do particles move in time: steps, frames, random walks, operations after each step?

mod adaptive;
mod drag;
mod hook;
mod inertia;
mod long_launches;
mod outside_time;
mod rotation;
mod schedule;
mod time;
mod turbulence;
pub mod walk;
