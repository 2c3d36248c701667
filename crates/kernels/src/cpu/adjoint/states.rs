//! What the reversal of a tile starts from: the scheme, and the states of the particles.

use crate::{
    Record,
    cpu::{
        Arrays, Position, Real,
        reinjection::Restart,
        segment::SegmentContext,
        tile::{AcceptedStep, Trail},
    },
    scheme::{MAX_STAGES, Tableau},
    status::{ACTIVE, WAITING},
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

/// The states of a tile of particles: of all before each step, or if steps are irregular (adaptive, or in slots
/// that are re-used), of each before the steps that it took.
pub(super) struct States<F> {
    pub count: usize,
    pub position: Vec<Position<F>>,
    pub record: Vec<Record>,
    pub fraction: Vec<F>,
    /// The step of each row, if steps are irregular: particle after particle.
    pub parts: Option<Vec<Part<F>>>,
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
        States { count, position, record, fraction, parts: None, restarts, last }
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
        let mut parts = Vec::with_capacity(steps.len());
        for AcceptedStep { i, j, start, h, position, record } in steps {
            states.position.push(position);
            states.record.push(record);
            parts.push(Part { i, j, start, h });
        }
        if !restarts.is_empty() {
            restarts.sort_unstable();
            states.last = arrays.record.iter().map(|record| record.generation).collect();
        }
        States { parts: Some(parts), restarts, ..states }
    }

    /// The start of an instance, if it started in the launch.
    pub fn restart(&self, i: usize, generation: i32) -> Option<&Restart> {
        let key = |restart: &Restart| (restart.i, restart.generation);
        let at = self.restarts.binary_search_by_key(&(i, generation), key).ok()?;
        Some(&self.restarts[at])
    }

    /// Number of steps of all particles.
    pub fn steps(&self) -> usize {
        self.position.len() / self.count.max(1)
    }
}

/// The fraction of step `number` at which a particle starts to move, if it does.
#[inline(always)]
pub(super) fn start_in<F: Real>(record: &Record, fraction: F, number: i32) -> Option<F> {
    match record.status {
        ACTIVE => Some(F::zero()),
        WAITING if record.step == number => Some(fraction),
        _ => None,
    }
}

impl<F: Real> Trail<F> {
    pub fn new() -> Self {
        Trail { steps: Vec::new(), restarts: Vec::new() }
    }

    /// Assigns the first releases of a launch to slots of sources.
    pub fn assign_first_releases(&mut self, arrays: &mut Arrays<F>, context: &SegmentContext<F>) {
        for i in 0..arrays.position.len() {
            let row = arrays.slot(i).assign_first_release(&context.launch);
            let generation = arrays.record[i].generation;
            self.restarts.extend(row.map(|row| Restart { i, generation, row: Some(row) }));
        }
    }

    /// Keeps the states of the particles that take step `j`.
    pub fn push_step(&mut self, arrays: &Arrays<F>, j: usize, context: &SegmentContext<F>) {
        let number = context.segment.first_step + j as i32;
        let full_dt = F::of(context.segment.steps[j].h);
        for (i, record) in arrays.record.iter().enumerate() {
            if let Some(start) = start_in(record, arrays.fraction[i], number) {
                let h = (F::one() - start) * full_dt;
                let (position, record) = (arrays.position[i], *record);
                self.steps.push(AcceptedStep { i, j, start, h, position, record });
            }
        }
    }
}
