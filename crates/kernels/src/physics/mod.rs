//! The physics of a step, written once: each module is compiled for the host and for CubeCL devices.
//!
//! What differs between backends stays with them: how a field is read (samplers), the loop over the
//! stages of a step, and the order of particles. `prelude` holds the vocabulary that both sides
//! share, `tables` the layout of the numbers that a launch carries.

pub(crate) mod body;
pub(crate) mod cells;
pub(crate) mod cursor;
pub(crate) mod diffusion;
pub(crate) mod faces;
pub(crate) mod facet;
pub(crate) mod facets;
pub(crate) mod features;
pub(crate) mod frames;
pub(crate) mod gates;
pub(crate) mod land;
mod layout;
pub(crate) mod mesh_path;
pub(crate) mod normal_constants;
pub(crate) mod normals;
pub(crate) mod obstacles;
pub(crate) mod particle;
pub(crate) mod path;
pub(crate) mod prelude;
pub(crate) mod region;
pub(crate) mod scaled;
pub(crate) mod settle;
pub(crate) mod slots;
pub(crate) mod sphere;
pub(crate) mod step_size;
pub(crate) mod tables;
pub(crate) mod vector;

#[cfg(test)]
mod tests;
