//! What the reversal of a tile starts from: the scheme, and the states of the particles.

use crate::{
    Record,
    cpu::{Arrays, Position, Real, frame_pair::frame_pair, launch::Launch, step::FramePairs},
    scheme::{MAX_STAGES, Tableau},
};

/// The coefficients of a scheme.
pub(super) struct Coefficients<F> {
    pub stages: usize,
    pub a: [[F; MAX_STAGES]; MAX_STAGES],
    pub b: [F; MAX_STAGES],
    c: [F; MAX_STAGES],
}

impl<F: Real> Coefficients<F> {
    pub fn new(tableau: &Tableau) -> Self {
        Coefficients {
            stages: tableau.solution_stages(),
            a: tableau.a.map(|row| row.map(|a| F::of(a.value()))),
            b: tableau.b.map(|b| F::of(b.value())),
            c: tableau.c.map(|c| F::of(c.value())),
        }
    }

    /// The frames of the stages of a step of length `h` that starts `start` after the start of step `j`.
    #[inline(never)]
    pub fn frame_pairs(&self, launch: &Launch<F>, j: usize, start: F, h: F) -> FramePairs<F> {
        std::array::from_fn(|s| frame_pair(launch, j, start + self.c[s] * h))
    }
}

/// The states of a tile of particles before each step.
pub(super) struct States<F> {
    pub count: usize,
    pub position: Vec<Position<F>>,
    pub record: Vec<Record>,
    pub fraction: Vec<F>,
}

impl<F: Real> States<F> {
    pub fn new(count: usize) -> Self {
        States { count, position: Vec::new(), record: Vec::new(), fraction: Vec::new() }
    }

    pub fn push(&mut self, arrays: &Arrays<F>) {
        self.position.extend_from_slice(arrays.position);
        self.record.extend_from_slice(arrays.record);
        self.fraction.extend_from_slice(arrays.fraction);
    }

    pub fn steps(&self) -> usize {
        self.position.len() / self.count.max(1)
    }
}
