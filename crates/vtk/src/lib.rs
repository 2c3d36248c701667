#![doc = include_str!("../README.md")]
//!
//! [`open`] reads the structure of a file: the kind of data set, its size, and the list of its
//! arrays. [`VtkFile::read`] reads the values of one array, and only the bytes of that array.
//! [`VtkFile::cells`] reads the cells of a mesh, [`VtkFile::faces`] the polygons of poly data.
//! An [`Error`] has its location in the file.

mod array;
mod axes;
mod base64;
mod binary;
mod block;
mod blocks;
mod cells;
mod coordinates;
mod dataset;
mod error;
mod file;
mod geometry;
mod grids;
mod hdf;
mod join;
mod legacy;
mod memory;
mod merge;
mod open;
mod parallel;
mod pieces;
mod scalar;
mod source;
mod sources;
mod split;
mod structure;
mod text;
mod values;
mod xml;

pub use array::{Array, ArrayInfo, Association, Attribute};
pub use cells::{CellArray, cell_dimension};
pub use dataset::BlockInfo;
pub use error::{Error, Location};
pub use file::{VtkFile, is_hdf5, listed_files, open, open_block, open_blocks, open_step};
pub use geometry::{Geometry, Kind};
pub use memory::{fits_memory, limit_memory};
pub use scalar::ScalarType;
pub use split::{AddedPoints, Parents, SplitCells};
pub use values::Values;
