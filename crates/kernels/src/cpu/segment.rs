//! What all particles of a segment share.

use super::{
    Real,
    frame_pair::{FramePair, frame_pair},
    gates::GateBoxes,
    lanes::{Four, Lanes, Portable, four, padded, three},
    launch::Launch,
    method::Coefficients,
    reinjection::{EndLog, Ended},
    step::Scaled,
    tallies::TallyPlan,
    walls::Walls,
};
use crate::{
    Segment, Step,
    obstacle::{FACETED, LAND},
    physics::{
        body::host::{Body, is_clear, load},
        facets::host as facets,
        land::host::{self as land, Lattice, Water},
        prelude::host::Vec3,
        scaled::host::factor,
        tables::SCALED_AT,
    },
    scheme::{MAX_STAGES, Tableau},
};

/// The frames and weights of a step's stages.
pub(super) type FramePairs<F> = [FramePair<F>; MAX_STAGES];

/// Boxes around particles without land, or without gates; empty ones where they are not known.
pub(super) struct Waters<V, const G: usize> {
    low: [V; G],
    high: [V; G],
}

impl<V, const G: usize> Waters<V, G> {
    pub fn unknown<F: Real>() -> Self
    where
        V: Four<F>,
    {
        let [low, high] = [F::one(), F::zero()].map(V::splat);
        Waters { low: [low; G], high: [high; G] }
    }

    /// Whether all points are in their boxes.
    #[inline(always)]
    pub fn contain<F: Real>(&self, points: &[V; G]) -> bool
    where
        V: Four<F>,
    {
        let mut inside = points[0].inside(self.low[0], self.high[0]);
        // By index: an iterator call might not be inlined and unrolled.
        #[allow(clippy::needless_range_loop)]
        for g in 1..G {
            inside = inside.and(points[g].inside(self.low[g], self.high[g]));
        }
        inside.has_three()
    }

    /// Whether a point is in its box.
    pub fn contains<F: Real>(&self, g: usize, point: V) -> bool
    where
        V: Four<F>,
    {
        point.inside(self.low[g], self.high[g]).has_three()
    }

    pub fn set(&mut self, g: usize, [low, high]: [V; 2]) {
        (self.low[g], self.high[g]) = (low, high);
    }
}

/// Data shared by all particles of a segment.
pub(super) struct SegmentContext<'a, F: Real> {
    pub segment: &'a Segment,
    pub launch: Launch<'a, F>,
    /// The scheme, and its coefficients in the precision of the run.
    pub tableau: &'static Tableau,
    pub coefficients: Coefficients<F>,
    pub walls: Walls<'a, F>,
    /// The obstacles but for land, and that.
    bodies: Vec<Body<F>>,
    land: Option<Lattice<F>>,
    pub gates: GateBoxes<F>,
    pub tallies: TallyPlan<F>,
    /// The frames of each step, for particles that take all of it.
    pub pairs: Vec<FramePairs<F>>,
    /// The nodes of the scheme: the fraction of a step at which each stage samples the field.
    nodes: [F; MAX_STAGES],
    /// Square of the stagnation speed; 0 without a threshold.
    pub stagnant: F,
    /// Whether samples need a correction (fourth component or drift): the mask of velocity
    /// components, and the drift.
    pub adds: bool,
    three: [F; 4],
    drift: [F; 4],
    /// The log of ends and crossings, if slots are re-used or there are gates.
    pub log: Option<EndLog<F>>,
}

impl<'a, F: Real> SegmentContext<'a, F> {
    pub fn new(segment: &'a Segment, launch: Launch<'a, F>) -> Self {
        let tableau = segment.scheme.tableau();
        let last = tableau.stages - 1;
        let nodes = std::array::from_fn(|s| F::of(tableau.c[s.min(last)].value()));
        let steps = segment.steps.iter().enumerate();
        let full_step = |(j, step): (usize, &Step)| {
            stage_frame_pairs(&launch, &nodes, j, [F::zero(), F::of(step.h)])
        };
        let pairs = steps.map(full_step).collect();
        let all = || (0..segment.obstacles.len()).map(|k| (k, load(&launch, k)));
        SegmentContext {
            gates: GateBoxes::new(&launch, &segment.gates),
            tallies: TallyPlan::new(&launch, segment),
            nodes,
            tableau,
            coefficients: Coefficients::new(tableau),
            segment,
            launch,
            walls: Walls::new(&segment.boundary, launch),
            bodies: all().map(|(_, body)| body).filter(|body| body.code != LAND).collect(),
            land: all().find(|(_, body)| body.code == LAND).map(|(k, _)| land::load(&launch, k)),
            stagnant: F::of(segment.stagnant_speed * segment.stagnant_speed),
            pairs,
            adds: segment.drift != [0.0; 3] || segment.walk.is_some_and(|walk| walk.varies),
            drift: drift(segment, launch.features.sphere).map(F::of),
            three: [1.0, 1.0, 1.0, f64::from(u8::from(launch.features.sphere))].map(F::of),
            log: EndLog::of(segment, launch.rows.len()),
        }
    }

    /// The instances that ended and were followed by others, and crossings.
    pub fn into_log(self) -> Vec<Ended<F>> {
        self.log.map(EndLog::into_log).unwrap_or_default()
    }

    /// Number of those instances so far, if slots are re-used.
    pub fn ended(&self) -> Option<usize> {
        self.log.as_ref().filter(|_| self.reuses_slots()).map(EndLog::count)
    }

    /// Whether slots are re-used.
    pub fn reuses_slots(&self) -> bool {
        self.launch.features.reuses_slots
    }

    /// Whether the square of a speed is below the threshold.
    #[inline(always)]
    pub fn is_stagnant(&self, square: F) -> bool {
        square < self.stagnant
    }

    /// Masks samples and adds the drift.
    #[inline(always)]
    pub fn add<V: Four<F>, const G: usize>(&self, samples: [V; G]) -> [V; G] {
        let (three, drift) = (V::new(self.three), V::new(self.drift));
        let mut sums = samples;
        // By index: an iterator call might not be inlined and unrolled.
        for g in 0..G {
            sums[g] = samples[g].fma(three, drift);
        }
        sums
    }

    /// The frames of step `j` for a particle that takes all of it.
    #[inline(always)]
    pub fn frame_pairs(&self, j: usize) -> &FramePairs<F> {
        &self.pairs[j]
    }

    /// Whether straight paths certainly meet no obstacle, from points that are in their waters, if these are known.
    #[inline(always)]
    pub fn are_clear<L: Lanes<F>, const G: usize>(
        &self,
        (from, to): (&[L::Four; G], &[L::Four; G]),
        waters: &mut Waters<L::Four, G>,
    ) -> bool {
        (self.bodies.is_empty() || self.are_clear_of_bodies::<L, G>(*from, *to))
            && self.are_in_water::<L, G>((from, to), waters)
    }

    /// Whether straight paths certainly stay in water.
    #[inline(always)]
    fn are_in_water<L: Lanes<F>, const G: usize>(
        &self,
        (from, to): (&[L::Four; G], &[L::Four; G]),
        waters: &mut Waters<L::Four, G>,
    ) -> bool {
        let Some(lattice) = &self.land else { return true };
        waters.contain(to) || self.renew_waters::<L, G>(lattice, (*from, *to), waters)
    }

    /// Finds the water around the starts of those paths that leave theirs.
    #[cold]
    #[inline(never)]
    fn renew_waters<L: Lanes<F>, const G: usize>(
        &self,
        lattice: &Lattice<F>,
        (from, to): ([L::Four; G], [L::Four; G]),
        waters: &mut Waters<L::Four, G>,
    ) -> bool {
        let mut are_inside = true;
        for g in 0..G {
            if !waters.contains(g, to[g]) {
                let water = water_around(&self.launch, lattice, three(from[g].array()));
                let [low, high] = water.map(|corner| four::<F, L>(&corner));
                waters.set(g, [low, high]);
                are_inside &= waters.contains(g, to[g]);
            }
        }
        are_inside
    }

    /// As [`are_clear`](Self::are_clear), of obstacles other than land. Cold, so that the loop is laid out for runs
    /// without them.
    #[cold]
    #[inline(never)]
    fn are_clear_of_bodies<L: Lanes<F>, const G: usize>(
        &self,
        from: [L::Four; G],
        to: [L::Four; G],
    ) -> bool {
        for g in 0..G {
            let [from, to] = [three(from[g].array()), three(to[g].array())];
            if !is_clear_of_bodies(&self.launch, &self.bodies, from, to) {
                return false;
            }
        }
        true
    }

    /// The frames of a part of step `j`, of length `h`; `start` is the time from the start of the
    /// step to the start of the part.
    pub fn part(&self, j: usize, start: F, h: F) -> FramePairs<F> {
        stage_frame_pairs(&self.launch, &self.nodes, j, [start, h])
    }

    /// Whether a straight path certainly meets no face of the box and no obstacle.
    pub fn is_clear(&self, (from, to): ([F; 3], [F; 3])) -> bool {
        self.walls.contain::<Portable>(Four::new(padded(to)))
            && is_clear_of_bodies(&self.launch, &self.bodies, from, to)
            && (self.land.as_ref())
                .is_none_or(|lattice| land::is_clear(&self.launch, lattice, Vec3(from), Vec3(to)))
    }

    /// Whether steps are adaptive.
    pub fn is_adaptive(&self) -> bool {
        let has_error = self.tableau.is_embedded() || self.segment.inertia.is_some();
        has_error && self.launch.features.adaptive
    }

    /// Whether particles with inertia take steps in groups.
    pub fn flies(&self) -> bool {
        self.segment.inertia.is_some() && !self.launch.features.adaptive
    }

    /// Whether a particle takes its steps alone, in parts of its own.
    pub fn takes_parts(&self) -> bool {
        self.is_adaptive() || self.segment.inertia.is_some()
    }

    /// Whether particles take whole steps with factors of a second velocity.
    pub fn scales(&self) -> bool {
        self.segment.scaled.is_some() && !self.is_adaptive()
    }

    /// The part of a second velocity of the particle in a slot.
    #[inline(always)]
    pub fn scaled(&self, slot: u32) -> Option<Scaled<F>> {
        self.launch.features.scaled.then(|| Scaled {
            first: self.launch.int(SCALED_AT) as usize,
            factor: factor(&self.launch, slot),
        })
    }
}

/// The drift in the components of a velocity: on a sphere, only upwards.
fn drift(segment: &Segment, is_on_sphere: bool) -> [f64; 4] {
    let [x, y, z] = segment.drift;
    if is_on_sphere { [0.0, 0.0, 0.0, z] } else { [x, y, z, 0.0] }
}

/// Whether a straight path certainly meets none of the bodies. It is not inlined into the callers'
/// loops, which are compiled many times.
#[inline(never)]
fn is_clear_of_bodies<F: Real>(
    launch: &Launch<F>,
    bodies: &[Body<F>],
    from: [F; 3],
    to: [F; 3],
) -> bool {
    let (from, to) = (Vec3(from), Vec3(to));
    bodies.iter().enumerate().all(|(k, body)| {
        if body.code == FACETED {
            facets::is_clear(launch, &facets::load(launch, k), from, to)
        } else {
            is_clear(body, from, to)
        }
    })
}

/// The ends of a box of water around a point, both in it.
#[inline(never)]
fn water_around<F: Real>(launch: &Launch<F>, lattice: &Lattice<F>, p: [F; 3]) -> [[F; 3]; 2] {
    let Water { low, high } = land::water(launch, lattice, Vec3(p));
    [low.0, high.0.map(|x| x.next_down())]
}

/// The frames of the stages of a step of length `h` that starts `start` after the start of step `j`.
#[inline(never)]
fn stage_frame_pairs<F: Real>(
    launch: &Launch<F>,
    nodes: &[F; MAX_STAGES],
    j: usize,
    [start, h]: [F; 2],
) -> FramePairs<F> {
    nodes.map(|c| frame_pair(launch, j, start + c * h))
}
