//! What is the velocity at a position: grids, meshes, scattered points, formulas, fields of one's own?

pub mod arrays;
mod c_grid_numbers;
mod c_grids;
mod courant;
mod damaged_meshes;
mod formulas;
mod holes;
mod mesh;
mod mesh_planes;
mod own_fields;
mod points;
mod probe;
mod sphere;
mod sums;
mod windage;
