//! Do tracks agree with known solutions, with the oracle, and between the engines?

mod against_oracle;
mod analytic;
mod engines;
mod far;
mod ftle;
mod residence;
mod statistics;
