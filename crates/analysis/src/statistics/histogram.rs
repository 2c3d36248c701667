//! Numbers in bins.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How many numbers lie where.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Edges of the bins `[n]`, increasing; in the order of the run, and thus decreasing, where
    /// they are times of a backward run.
    pub edges: Vec<f64>,
    /// Counts `[n + 1]`: those up to the first edge, those after edge `i - 1` up to edge `i`, and
    /// those after the last one. An edge belongs to the bin that ends at it.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// Nothing in bins with these edges.
    pub(super) fn of(edges: &[f64]) -> Self {
        Histogram { edges: edges.to_vec(), counts: vec![0; edges.len() + 1] }
    }
}

/// The bin that a number is in.
pub(super) fn bin(edges: &[f64], is_decreasing: bool, number: f64) -> usize {
    edges.partition_point(|edge| if is_decreasing { *edge > number } else { *edge < number })
}

/// Makes sure that edges are such.
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
