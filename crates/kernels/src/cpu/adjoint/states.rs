//! What the reversal of a tile starts from: the scheme, and the states of the particles.

use crate::{
    Record,
    cpu::{
        Real,
        arrays::{Arrays, Position},
        reinjection::Restart,
        trail::{AcceptedStep, Trail},
    },
};

/// The states of particles: of all before each step, or if steps are irregular (adaptive, or in slots
/// that are re-used), of each before the steps that it took.
pub(super) struct States<F> {
    pub count: usize,
    pub position: Vec<Position<F>>,
    pub record: Vec<Record>,
    pub fraction: Vec<F>,
    /// The step of each row, if steps are irregular: particle after particle.
    pub parts: Vec<Part<F>>,
    /// The instances that started in the launch, in order.
    restarts: Vec<Restart>,
    /// The generation of each particle after the launch, if there are any.
    pub last: Vec<i32>,
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
        let (restarts, last) = (Vec::new(), Vec::new());
        States { count, position, record, fraction, parts: Vec::new(), restarts, last }
    }

    /// Makes room for the states before a number of steps.
    pub fn reserve(&mut self, steps: usize) {
        let rows = steps * self.count;
        self.position.reserve(rows);
        self.record.reserve(rows);
        self.fraction.reserve(rows);
    }

    pub fn push(&mut self, arrays: &Arrays<F>) {
        self.position.extend_from_slice(arrays.position);
        self.record.extend_from_slice(arrays.record);
        self.fraction.extend_from_slice(arrays.fraction);
    }

    /// The states of irregular steps; `arrays` are the particles after them.
    pub fn of_trail(Trail { mut steps, mut restarts }: Trail<F>, arrays: &Arrays<F>) -> Self {
        let mut states = States::new(arrays.position.len());
        // The steps of each particle keep their order.
        steps.sort_by_key(|step| step.i);
        for AcceptedStep { i, j, start, h, position, record } in steps {
            states.position.push(position);
            states.record.push(record);
            states.parts.push(Part { i, j, start, h });
        }
        if !restarts.is_empty() {
            restarts.sort_unstable();
            states.last = arrays.record.iter().map(|record| record.generation).collect();
        }
        States { restarts, ..states }
    }

    /// The start of an instance, if it started in the launch.
    pub fn restart(&self, i: usize, generation: i32) -> Option<&Restart> {
        let key = |restart: &Restart| (restart.i, restart.generation);
        let at = self.restarts.binary_search_by_key(&(i, generation), key).ok()?;
        Some(&self.restarts[at])
    }
}
