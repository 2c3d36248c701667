//! Analysis of particle tracks.
//!
//! * [`density`]: particle density by kernel density estimates, SPH kernels or histograms.
//! * [`statistics`]: displacement, dispersion, speeds, residence times and exits.
//! * [`ensemble`]: mean, standard deviation and confidence interval over several runs.
//! * [`fit`](mod@fit): a few parameters at which a model is nearest to data.
//! * [`ftle`]: finite-time Lyapunov exponents.
//! * [`separations`]: how pairs of particles separate, and finite-size Lyapunov exponents.
//! * [`skill`]: how well computed tracks follow observed ones.
//! * [`spectrum`]: autocorrelation of velocities along tracks, integral time scale and spectrum.
//! * [`residence`]: how long particles stay in each cell of a lattice, how often they enter it, and when first.
//! * [`gates`]: who crosses surfaces, and how long particles stay in regions.
//!
//! This crate neither opens files nor prints.

pub mod density;
pub mod ensemble;
mod error;
pub mod fit;
pub mod ftle;
pub mod gates;
pub mod residence;
pub mod separations;
pub mod skill;
pub mod spectrum;
pub mod statistics;

pub use error::{Error, Result};
