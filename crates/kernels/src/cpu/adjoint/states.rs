//! What the reversal of a tile starts from: the scheme, and the states of the particles.

use crate::{
    Record,
    cpu::{Arrays, Position, Real, tile::AcceptedStep},
    scheme::{MAX_STAGES, Tableau},
};

/// The coefficients of a scheme.
pub(super) struct Coefficients<F> {
    pub stages: usize,
    pub a: [[F; MAX_STAGES]; MAX_STAGES],
    pub b: [F; MAX_STAGES],
}

impl<F: Real> Coefficients<F> {
    pub fn new(tableau: &Tableau) -> Self {
        Coefficients {
            stages: tableau.solution_stages(),
            a: tableau.a.map(|row| row.map(|a| F::of(a.value()))),
            b: tableau.b.map(|b| F::of(b.value())),
        }
    }
}

/// The states of a tile of particles: of all before each step, or with adaptive steps of each before the
/// steps that it took.
pub(super) struct States<F> {
    pub count: usize,
    pub position: Vec<Position<F>>,
    pub record: Vec<Record>,
    pub fraction: Vec<F>,
    /// The step of each row, if steps are adaptive: particle after particle.
    pub parts: Vec<Part<F>>,
}

/// A part of a step that a particle took.
#[derive(Clone, Copy)]
pub(super) struct Part<F> {
    pub i: usize,
    pub j: usize,
    /// The fraction of the step at which it starts, and its length.
    pub start: F,
    pub h: F,
}

impl<F: Real> States<F> {
    pub fn new(count: usize) -> Self {
        let (position, record, fraction) = (Vec::new(), Vec::new(), Vec::new());
        States { count, position, record, fraction, parts: Vec::new() }
    }

    pub fn push(&mut self, arrays: &Arrays<F>) {
        self.position.extend_from_slice(arrays.position);
        self.record.extend_from_slice(arrays.record);
        self.fraction.extend_from_slice(arrays.fraction);
    }

    pub fn push_accepted(&mut self, accepted: Vec<AcceptedStep<F>>) {
        for AcceptedStep { i, j, start, h, position, record } in accepted {
            self.position.push(position);
            self.record.push(record);
            self.parts.push(Part { i, j, start, h });
        }
    }

    /// Number of steps of all particles.
    pub fn steps(&self) -> usize {
        self.position.len() / self.count.max(1)
    }
}
