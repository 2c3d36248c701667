//! Histograms.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Counts of numbers in bins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Edges of the bins `[n]`, increasing; times of a backward run are decreasing, in the order of the
    /// run.
    pub edges: Vec<f64>,
    /// Counts `[n + 1]`: up to the first edge, from edge `i - 1` to edge `i`, and beyond the last edge.
    /// Bins include their final edge.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// An empty histogram with these edges.
    pub(super) fn of(edges: &[f64]) -> Self {
        Histogram { edges: edges.to_vec(), counts: vec![0; edges.len() + 1] }
    }
}

/// The index of a number's bin.
pub(super) fn bin(edges: &[f64], is_decreasing: bool, number: f64) -> usize {
    edges.partition_point(|edge| if is_decreasing { *edge > number } else { *edge < number })
}

/// Checks that edges are finite and strictly monotonic.
pub(super) fn check(what: &str, edges: &[f64], may_decrease: bool) -> Result<()> {
    let increase = edges.windows(2).all(|pair| pair[0] < pair[1]);
    let decrease = may_decrease && edges.windows(2).all(|pair| pair[0] > pair[1]);
    if !edges.is_empty() && edges.iter().all(|edge| edge.is_finite()) && (increase || decrease) {
        return Ok(());
    }
    Err(Error::Statistics(format!(
        "the edges of {what} are {edges:?}; give one or more finite numbers that increase strictly{}",
        if may_decrease { ", or decrease strictly" } else { "" }
    )))
}
