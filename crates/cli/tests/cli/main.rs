//! The program as a user calls it: what it prints, what it writes, how it exits, and whether its
//! answers on real data are right.

#![allow(clippy::unwrap_used)]

mod bench;
mod meshes;
mod motion;
mod obstacles;
mod points;
mod program;
mod real_data;
mod results;
mod resume;
mod sources;
