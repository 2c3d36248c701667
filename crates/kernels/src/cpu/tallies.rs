//! Tallies on the host: what has added up after a step, and the particles that it ends.

use super::{
    Real,
    frame_pair::{FramePair, frame_pair, from_value},
    lanes::{Four, Lanes, Portable, Task, Vector, padded, three},
    launch::Launch,
    probe::{Probe, Width},
    sampler::Differentiable,
    segment::SegmentContext,
    tile::{PartOfStep, Tile},
};
use crate::{
    MAX_INSTANCES_PER_STEP, Segment,
    physics::tables::{GROUP_SIZE, RADIUS},
    status::{ACTIVE, STOPPED, WAITING},
    tally::{Followed, Stretch, TALLY, Tallies, TrackPoint, quantities},
};

/// The tallies of a segment.
pub(super) struct TallyPlan<F: Real> {
    /// The groups of values that are needed.
    groups: Vec<usize>,
    places: Vec<Followed>,
    /// Whether lengths of paths are needed.
    measures: bool,
    /// The frames of each group at the end of each step.
    pairs: Vec<FramePair<F>>,
}

impl<F: Real> TallyPlan<F> {
    pub fn new(launch: &Launch<F>, segment: &Segment) -> Self {
        let groups = segment.tallies.groups();
        let ends = segment.steps.iter().enumerate();
        let pairs = ends.flat_map(|(j, step)| pairs(launch, &groups, (j, F::of(step.h))));
        let pairs = pairs.collect();
        let places = segment.tallies.places(&groups);
        TallyPlan { groups, places, measures: segment.tallies.measure_paths(), pairs }
    }

    /// The part of a track between two points.
    fn stretch(&self, launch: &Launch<F>, time: F, ends: [[F; 3]; 2]) -> Stretch<F> {
        let mut stretch = Stretch { time: time.max(-time), length: F::zero() };
        if self.measures {
            let radius = launch.features.sphere.then(|| launch.float(RADIUS).exact());
            let [start, end] = ends.map(|p| p.map(Real::exact));
            stretch.length = F::of(distance(start, end, radius));
        }
        stretch
    }
}

/// The frames of groups a time after the start of step `j`.
fn pairs<F: Real>(
    launch: &Launch<F>,
    groups: &[usize],
    (j, time): (usize, F),
) -> Vec<FramePair<F>> {
    let pair = frame_pair(launch, j, time);
    let size = launch.int(GROUP_SIZE) as usize;
    groups.iter().map(|group| from_value(&pair, group * size)).collect()
}

/// Room for the tallies of some particles, reused for all steps of a tile.
pub(super) struct TallyRoom<F> {
    /// The values of all groups at each particle.
    values: Vec<[F; 4]>,
    quantities: Vec<F>,
    rows: Vec<F>,
    nodes: Vec<TrackPoint<F>>,
}

impl<F: Real> TallyRoom<F> {
    pub fn of(context: &SegmentContext<F>) -> Self {
        TallyRoom {
            values: Vec::new(),
            quantities: vec![F::zero(); context.segment.tallies.each.len()],
            rows: Vec::new(),
            nodes: Vec::new(),
        }
    }
}

/// Adds to the tallies of particles that took a part of a step on which nothing happens. The result is whether that is all: otherwise nothing is added,
/// as the tallies of a particle start or meet a condition.
pub(super) struct AddPlain<'t, 'a, F: Real, S: Differentiable<F>, const G: usize> {
    pub tile: &'t mut Tile<'a, F>,
    pub sampler: &'t S,
    pub members: [usize; G],
    /// Where they start and end.
    pub paths: [[[F; 4]; G]; 2],
    pub hints: [S::Hint; G],
    /// The number of the step, and the fraction at which they start.
    pub step: (usize, F),
    pub is_all: &'t mut bool,
}

impl<F: Real, S: Differentiable<F>, const G: usize> Task<F> for AddPlain<'_, '_, F, S, G> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let AddPlain { tile, sampler, members, paths, mut hints, step: (j, start), is_all } = self;
        let Some(room) = tile.tallied.as_deref_mut() else { return };
        let SegmentContext { segment, launch, walls, tallies: plan, .. } = tile.context;
        let groups = plan.groups.len();
        room.values.resize(G * groups, [F::zero(); 4]);
        let mut at = [L::Four::splat(F::zero()); G];
        // By index: an iterator call might not be inlined.
        for g in 0..G {
            at[g] = walls.wrap::<L>(L::Four::new(paths[1][g]));
        }
        for k in 0..groups {
            let pair = &plan.pairs[groups * j + k];
            let samples = sampler.sample_together::<L, G>(&at, pair, &mut hints);
            #[allow(clippy::needless_range_loop)]
            for g in 0..G {
                room.values[g * groups + k] = samples[g].array();
            }
        }
        let time = (F::one() - start) * F::of(segment.steps[j].h);
        let count = plan.places.len();
        room.quantities.resize(G * count, F::zero());
        let mut stretches = [Stretch { time, length: F::zero() }; G];
        for g in 0..G {
            let values = room.values[g * groups..(g + 1) * groups].as_flattened();
            let own = &mut room.quantities[g * count..(g + 1) * count];
            quantities(&plan.places, values, own);
            stretches[g] = plan.stretch(launch, time, [three(paths[0][g]), three(paths[1][g])]);
        }
        *is_all = add_rows(tile.arrays.tallies, room, &members, &stretches, &segment.tallies);
    }
}

/// Adds to the rows of particles, or to none if the tallies of one of them start or meet a condition.
fn add_rows<F: Real>(
    all: &mut [F],
    room: &mut TallyRoom<F>,
    members: &[usize],
    stretches: &[Stretch<F>],
    tallies: &Tallies,
) -> bool {
    let (width, count) = (tallies.width(), tallies.each.len());
    let own = |i: usize| width * i..width * (i + 1);
    if members.iter().any(|i| lasts(&all[own(*i)]).any(|last| last.is_nan())) {
        return false;
    }
    let steps = room.quantities.chunks_exact(count).zip(stretches);
    if tallies.conditions.is_empty() {
        for (i, (quantities, stretch)) in members.iter().zip(steps) {
            tallies.add(&mut all[own(*i)], quantities, stretch);
        }
        return true;
    }
    let mut is_all = true;
    room.rows.clear();
    for (k, (i, (quantities, stretch))) in members.iter().zip(steps).enumerate() {
        room.rows.extend_from_slice(&all[own(*i)]);
        let row = &mut room.rows[width * k..];
        is_all &= tallies.advance(row, quantities, stretch).is_none();
    }
    if is_all {
        for (row, i) in room.rows.chunks_exact(width).zip(members) {
            all[own(*i)].copy_from_slice(row);
        }
    }
    is_all
}

/// What is known of a slot before a step or a part of it.
#[derive(Clone, Copy)]
pub(super) struct BeforeStep<F> {
    /// Where its particle starts; `None` if that is known from the parts of the step.
    start: Option<TrackPoint<F>>,
    generation: i32,
    /// Number of parts of steps that are in the trail.
    parts: usize,
}

impl<F: Real> Tile<'_, F> {
    /// The state of a particle before a step, which it starts at a fraction if that is given; `None` without tallies.
    pub fn before_step(&self, i: usize, start: Option<F>) -> Option<BeforeStep<F>> {
        self.tallied.as_ref()?;
        let record = &self.arrays.record[i];
        let position = self.arrays.position[i][0];
        let node = |at| TrackPoint { at, position, image: record.image };
        Some(BeforeStep {
            start: start.map(node),
            generation: record.generation,
            parts: self.trail.as_ref().map_or(0, |trail| trail.steps.len()),
        })
    }

    /// Adds to the tallies of a particle that took step `j`, or of the last one in its slot, and ends it if it meets a condition. The vectors are those of the
    /// loop, as it depends on the other particles who adds to its tallies.
    pub fn tally(
        &mut self,
        (i, j): (usize, usize),
        before: Option<BeforeStep<F>>,
        (probe, width): (&mut dyn Probe<F>, Width),
    ) {
        let (Some(mut before), Some(room)) = (before, self.tallied.take()) else { return };
        // An instance that a condition ends may be followed by another one, which takes the rest of the step.
        for _ in 0..=MAX_INSTANCES_PER_STEP {
            let generation = self.arrays.record[i].generation;
            let trail = self.trail.as_ref().map_or(0, |trail| trail.steps.len());
            if before.generation != generation {
                let context = self.context;
                context.segment.tallies.start(row(self, i));
                before.start = None;
            }
            let met = self.add_nodes((i, j), &before, room, (probe, width));
            let Some((condition, node)) = met else { break };
            self.stop((i, j), condition, &node, probe);
            before = BeforeStep { start: None, generation, parts: trail };
            if self.arrays.record[i].generation == generation {
                break;
            }
        }
        if let Some(trail) = &mut self.trail {
            trail.steps.truncate(before.parts);
            trail.restarts.clear();
        }
        self.tallied = Some(room);
    }

    /// Adds to the tallies of a particle along its parts of a step. Returns the condition that it meets first, and where.
    fn add_nodes(
        &mut self,
        (i, j): (usize, usize),
        before: &BeforeStep<F>,
        room: &mut TallyRoom<F>,
        (probe, width): (&mut dyn Probe<F>, Width),
    ) -> Option<(usize, TrackPoint<F>)> {
        let record = self.arrays.record[i];
        room.nodes.clear();
        room.nodes.extend(before.start);
        let parts = self.trail.as_ref().map_or(&[][..], |trail| &trail.steps[before.parts..]);
        let own =
            parts.iter().filter(|part| part.i == i && part.record.generation == record.generation);
        room.nodes.extend(own.map(|part| TrackPoint {
            at: part.start,
            position: part.position[0],
            image: part.record.image,
        }));
        if room.nodes.is_empty() || record.status == WAITING {
            return None;
        }
        let is_active = record.status == ACTIVE;
        let at = if is_active { F::one() } else { self.arrays.fraction[i] };
        let position = self.arrays.position[i][0];
        room.nodes.push(TrackPoint { at, position, image: record.image });
        let tallies = self.context.segment.tallies.clone();
        let TallyRoom { nodes, values, quantities, .. } = room;
        quantities.resize(tallies.each.len(), F::zero());
        if lasts(row(self, i)).any(|last| last.is_nan()) {
            self.quantities_at((i, j), &nodes[0], (values, quantities), (probe, width));
            start_lasts(row(self, i), quantities);
        }
        for (k, pair) in nodes.windows(2).enumerate() {
            let [from, to] = [&pair[0], &pair[1]];
            self.quantities_at((i, j), to, (values, quantities), (probe, width));
            if k + 2 == nodes.len() && !is_active {
                // At its end, a particle may be outside the field.
                for (quantity, last) in quantities.iter_mut().zip(lasts(row(self, i))) {
                    *quantity = if quantity.is_nan() { last } else { *quantity };
                }
            }
            let time = (to.at - from.at) * F::of(self.context.segment.steps[j].h);
            let ends = [from.position, from.continued(to, &self.context.segment.boundary)];
            let stretch = self.context.tallies.stretch(&self.context.launch, time, ends);
            let met = tallies.advance(row(self, i), quantities, &stretch);
            if let Some((condition, part)) = met {
                return Some((condition, from.between(to, part, &self.context.segment.boundary)));
            }
        }
        None
    }

    /// The quantities at a node of a particle.
    fn quantities_at(
        &self,
        (i, j): (usize, usize),
        node: &TrackPoint<F>,
        (values, quantities): (&mut Vec<[F; 4]>, &mut [F]),
        (probe, width): (&mut dyn Probe<F>, Width),
    ) {
        let SegmentContext { launch, walls, segment, tallies: plan, .. } = self.context;
        let at = walls.wrap::<Portable>(Four::new(padded(node.position)));
        probe.keep();
        probe.recall(self.arrays.record[i].near_cell());
        values.clear();
        let time = node.at * F::of(segment.steps[j].h);
        for pair in pairs(launch, &plan.groups, (j, time)) {
            values.push(probe.sample(at.array(), &pair, width));
        }
        probe.restore();
        crate::tally::quantities(&plan.places, values.as_flattened(), quantities);
    }

    /// Ends a particle at a node, and forgets the gates that it crossed after that.
    fn stop(
        &mut self,
        (i, j): (usize, usize),
        condition: usize,
        node: &TrackPoint<F>,
        probe: &mut dyn Probe<F>,
    ) {
        let (slot, number) = (self.arrays.slots.get(i), self.context.segment.first_step + j as i32);
        if node.position != self.arrays.position[i][0] {
            self.arrays.position[i] = [node.position, [F::zero(); 3]];
        }
        let record = &mut self.arrays.record[i];
        (record.image, record.location) = (node.image, condition as i32);
        let generation = record.generation;
        self.log.retain(|of| {
            let is_later = of.record.step == number && of.fraction > node.at;
            !(is_later && of.slot == slot && of.record.generation == generation)
        });
        let step = PartOfStep { j, start: node.at, until: F::one() };
        self.end((i, STOPPED), step, probe);
    }
}

/// The numbers of a particle.
fn row<'t, F: Real>(tile: &'t mut Tile<F>, i: usize) -> &'t mut [F] {
    let width = tile.context.segment.tallies.width();
    &mut tile.arrays.tallies[width * i..][..width]
}

/// The quantities at the last step in a row of numbers.
fn lasts<F: Real>(row: &[F]) -> impl Iterator<Item = F> {
    row.as_chunks::<TALLY>().0.iter().map(|[.., last]| *last)
}

/// Sets those that are not known.
fn start_lasts<F: Real>(row: &mut [F], quantities: &[F]) {
    for ([.., last], quantity) in row.as_chunks_mut::<TALLY>().0.iter_mut().zip(quantities) {
        *last = if last.is_nan() { *quantity } else { *last };
    }
}

/// The length of a straight line between two positions, on a sphere if a radius is given: of longitudes, latitudes and heights as long as they
/// are in its middle.
pub fn distance(from: [f64; 3], to: [f64; 3], radius: Option<f64>) -> f64 {
    let [mut x, mut y, z]: [f64; 3] = std::array::from_fn(|d| to[d] - from[d]);
    if let Some(radius) = radius {
        let away = (radius + 0.5 * (from[2] + to[2])) * 1_f64.to_radians();
        x *= away * (0.5 * (from[1] + to[1])).to_radians().cos();
        y *= away;
    }
    (x * x + y * y + z * z).sqrt()
}
