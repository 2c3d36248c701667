//! What happens where a path meets a face, an obstacle or the boundary of a mesh, and where particles start again?

pub mod against_oracle_walls;
mod coasts;
mod curved_walls;
mod faces;
mod gates;
mod high_face;
mod mesh_edges;
mod mesh_patches;
mod named_patches;
mod obstacles;
mod reinjection;
pub mod surfaces;
