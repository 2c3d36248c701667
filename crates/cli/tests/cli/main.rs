//! The program as users call it: output, files, exit codes, and accuracy on real data.

#![allow(clippy::unwrap_used)]

mod along;
mod arrays;
mod bench;
mod boundary;
#[path = "../../../../tests/support/browser.rs"]
mod browser;
mod check;
mod clock;
mod command_fuzz;
mod commands;
mod compare;
mod crop;
mod dates;
mod densities;
mod doctor;
mod earth;
mod export;
mod extend;
mod figures;
mod fit;
mod fuzz;
mod gates;
mod guide;
mod holes;
mod library;
mod meshes;
mod models;
mod motion;
mod named_patches;
mod netcdf;
mod obstacles;
mod output;
mod pairs;
mod patch_seeds;
mod points;
mod profile;
mod program;
mod ranks;
mod real_data;
mod report;
#[path = "../../../../tests/support/requirements.rs"]
mod requirements;
mod residence;
mod results;
mod resume;
mod sea;
mod seeds;
mod skill;
mod sources;
mod spectrum;
mod strategies;
mod sums;
mod sweep;
mod unfinished;
mod unstructured;
mod workflows;
#[path = "../../../../tests/support/zarr.rs"]
mod zarr;
