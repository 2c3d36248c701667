//! Tests of the VTK reader on generated, damaged, handwritten and real files.

#![allow(clippy::print_stderr, clippy::unwrap_used)]

mod against_vtk;
mod bad_cells;
mod cells;
mod common;
mod composite;
mod damaged;
mod errors;
mod fixtures;
mod handwritten;
mod hdf;
mod parallel;
mod real_files;
#[path = "../../../../tests/support/requirements.rs"]
mod requirements;
mod second_opinion;
mod split;
