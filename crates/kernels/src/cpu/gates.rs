//! Gates on the host: their log, and boxes around particles in which there is none.

use super::{
    Real,
    lanes::{Four, Lanes, four, three},
    launch::Launch,
    reinjection::Ended,
    segment::Waters,
    tile::{PartOfStep, Tile},
};
use crate::{
    GateShape, Record,
    obstacle::{FACETED, PATCH, PLANE},
    physics::{
        body::host::{Body, load, outermost},
        facets::host as facets,
        gates::host::{Noting, note, noting, whole},
        obstacles::host::count,
        prelude::host::{Float, Vec3},
        vector::host::dot,
    },
    status::CROSSED,
};

/// The log of a path on the host.
pub(crate) type GateLog<F> = Vec<Ended<F>>;

/// Logs the crossing of a gate.
#[cold]
pub(crate) fn log_crossing<F: Float>(
    _: &Launch<F>,
    log: &mut GateLog<F>,
    noting: &Noting<F>,
    gate: i32,
    direction: i32,
    fraction: F,
    Vec3(position): Vec3<F>,
) {
    let record = Record {
        status: direction * CROSSED,
        step: noting.number,
        location: gate,
        generation: noting.generation,
        ..Record::default()
    };
    log.push(Ended { slot: noting.slot, record, fraction, position });
}

impl<F: Real> Tile<'_, F> {
    /// Logs the gates on the straight paths of particles in a part of a step on which nothing else happens, unless they stay `apart`.
    #[inline(always)]
    pub fn pass_gates<L: Lanes<F>, const G: usize>(
        &mut self,
        members: &[usize; G],
        (from, to): (&[L::Four; G], &[L::Four; G]),
        apart: &mut Waters<L::Four, G>,
        step: PartOfStep<F>,
    ) {
        if !apart.contain(to) {
            self.note_gates::<L, G>(*members, (*from, *to), apart, step);
        }
    }

    /// As [`pass_gates`](Self::pass_gates), of those that leave the boxes in which they are apart from gates.
    #[cold]
    #[inline(never)]
    fn note_gates<L: Lanes<F>, const G: usize>(
        &mut self,
        members: [usize; G],
        (from, to): ([L::Four; G], [L::Four; G]),
        apart: &mut Waters<L::Four, G>,
        step: PartOfStep<F>,
    ) {
        for g in 0..G {
            if !apart.contains(g, to[g]) {
                let path = [three(from[g].array()), three(to[g].array())];
                let context = self.context;
                let free = |p| {
                    let corners = context.gates.free_around(&context.launch, p);
                    corners.map(|corner| four::<F, L>(&corner))
                };
                apart.set(g, free(path[0]));
                if !apart.contains(g, to[g]) {
                    apart.set(g, free(path[1]));
                    self.note_gate(members[g], path, step);
                }
            }
        }
    }

    /// Logs the gates that a straight path crosses on which nothing else happens.
    #[inline(never)]
    pub fn note_gate(&mut self, i: usize, [from, to]: [[F; 3]; 2], step: PartOfStep<F>) {
        let context = self.context;
        let mut noting = Noting {
            generation: self.arrays.record[i].generation,
            number: context.segment.first_step + step.j as i32,
            start: step.start,
            until: step.until,
            ..noting(self.arrays.slots.get(i))
        };
        note(&context.launch, &whole(Vec3(from), Vec3(to)), &mut noting, &mut self.log);
    }
}

/// A gate, and the box that contains it.
struct GateBox<F: Real> {
    /// Its number among obstacles and gates.
    row: usize,
    body: Body<F>,
    low: [F; 3],
    high: [F; 3],
}

/// The gates of a launch.
pub(super) struct GateBoxes<F: Real>(Vec<GateBox<F>>);

impl<F: Real> GateBoxes<F> {
    pub fn new(launch: &Launch<F>, gates: &[GateShape]) -> Self {
        let first = count(launch);
        let gate = |(number, gate): (usize, &GateShape)| {
            let [low, high] = gate.bounds().map(|corner| corner.map(F::of));
            let row = first + 2 * number;
            GateBox { row, body: load(launch, row), low, high }
        };
        // A patch is crossed where a particle ends.
        let crossed = gates.iter().enumerate().filter(|(_, gate)| gate.code() != PATCH);
        GateBoxes(crossed.map(gate).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ends of a box around a point in which certainly no gate is crossed.
    fn free_around(&self, launch: &Launch<F>, p: [F; 3]) -> [[F; 3]; 2] {
        let (mut low, mut high) = ([F::min_value(); 3], [F::max_value(); 3]);
        for gate in &self.0 {
            let [below, above] = gate.free_around(launch, p);
            for d in 0..3 {
                low[d] = low[d].max(below[d]);
                high[d] = high[d].min(above[d]);
            }
        }
        [low, high]
    }
}

impl<F: Real> GateBox<F> {
    /// A box around a point that the gate does not enter: a half-space beside the gate, or a cube that is as wide as the distance
    /// from it allows.
    fn free_around(&self, launch: &Launch<F>, p: [F; 3]) -> [[F; 3]; 2] {
        let skin = self.skin(p);
        let (mut low, mut high) = ([F::min_value(); 3], [F::max_value(); 3]);
        let mut widest = F::zero();
        let mut beside = None;
        for (d, x) in p.into_iter().enumerate() {
            for (gap, is_above) in [(self.low[d] - x, false), (x - self.high[d], true)] {
                if gap > widest + skin {
                    (widest, beside) = (gap, Some((d, is_above)));
                }
            }
        }
        match beside {
            Some((d, true)) => low[d] = self.high[d] + skin,
            Some((d, false)) => high[d] = self.low[d] - skin,
            None => {
                let reach = (self.distance(launch, p) - skin) * F::of(1.0 / 3.0_f64.sqrt());
                (low, high) = (p.map(|x| x - reach), p.map(|x| x + reach));
            }
        }
        [low, high]
    }

    /// A lower bound of the distance of a point from the gate.
    fn distance(&self, launch: &Launch<F>, p: [F; 3]) -> F {
        let value = match self.body.code {
            FACETED => {
                let surface = facets::load(launch, self.row);
                facets::probe(launch, &surface, Vec3(p), false).clearance
            }
            PLANE => dot(Vec3(p) - self.body.base, self.body.second),
            _ => outermost(&self.body, Vec3(p)).value,
        };
        value.abs()
    }

    /// A multiple of the rounding of distances at a point.
    fn skin(&self, p: [F; 3]) -> F {
        let sizes = p.iter().chain(&self.body.base.0).map(|x| x.abs());
        let size = sizes.filter(|x| *x < F::max_value()).fold(self.body.size, |sum, x| sum + x);
        F::of(64.0) * F::epsilon() * size
    }
}
