//! Are gradients those of differences, of the tensor engine and of the oracle?

pub mod adjoint;
mod adjoint_reuse;
mod adjoint_streams;
mod at_curved_walls;
mod at_walls;
mod end_times;
mod fields;
mod flow_map;
mod losses;
mod motion;
mod seeds_and_parameters;
mod segments;
mod shapes;
mod sphere;
mod times;
