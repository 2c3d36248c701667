//! Particles that take the steps of a launch together, with the derivatives of the field at their stages.

use super::{
    replay::{GROUP, Replay, TakenStep},
    shared::Shared,
    stages::Stages,
    states::States,
    step_field::StepField,
};
use crate::{
    Record,
    cpu::{
        Real,
        arrays::Arrays,
        lanes::{Four, Lanes},
        segment::Waters,
        step::Positions,
        tile::Tile,
    },
    status::ACTIVE,
};

/// A few particles of a tile, and their states before the steps that they have taken.
pub(super) struct Flight<'a, 't, F: Real> {
    shared: &'a Shared<'a, F>,
    arrays: Arrays<'t, F>,
    states: States<F>,
}

/// How a particle took a step of the launch.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// With the others, all of it, to its free end.
    Free,
    /// With the others, all of it, and on the path it met something.
    Met,
    /// By itself: it was not active before, did not move, or had a stage outside a mesh.
    Alone,
}

/// What a flight knows from one step to the next.
pub(super) struct Course<V> {
    from: Option<Positions<V, GROUP>>,
    waters: Waters<V, GROUP>,
}

impl<V> Course<V> {
    pub fn unknown<F: Real>() -> Self
    where
        V: Four<F>,
    {
        Course { from: None, waters: Waters::unknown::<F>() }
    }
}

impl<'a, 't, F: Real> Flight<'a, 't, F> {
    pub fn new(shared: &'a Shared<'a, F>, arrays: Arrays<'t, F>) -> Self {
        let mut states = States::new(arrays.position.len());
        states.reserve(shared.context.segment.steps.len());
        Flight { shared, arrays, states }
    }

    /// The steps that have been taken.
    pub fn replay(&self) -> Replay<'_, F> {
        Replay { shared: self.shared, states: &self.states, slots: self.arrays.slots }
    }

    /// Takes step `j`. Returns how each particle took it; `stages` are those of the particles that flew. None flies
    /// without the widest vectors, for which steps of four particles are not compiled.
    // By index: an iterator call might not be inlined.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    pub fn step<L: Lanes<F>, E: StepField<F, L, GROUP>>(
        &mut self,
        j: usize,
        course: &mut Course<L::Four>,
        (field, stages): (&mut E, &mut Stages<L::Four, GROUP>),
    ) -> [Way; GROUP] {
        self.states.push(&self.arrays);
        let mut ways = [Way::Alone; GROUP];
        if const { !L::IS_PORTABLE }
            && let Some(active) = self.active()
        {
            let to = self.fly::<L, E>((j, active), course, (field, stages), &mut ways);
            for g in 0..GROUP {
                if ways[g] == Way::Free {
                    self.arrays.position[g] = to.of(g);
                    self.arrays.record[g].location = field.note(g);
                }
            }
            course.from = Some(to);
        }
        if ways != [Way::Free; GROUP] {
            *course = Course::unknown::<F>();
            self.land(j, &ways);
        }
        ways
    }

    /// Which particles are active, if all are there and some are active.
    #[inline(always)]
    fn active(&self) -> Option<[bool; GROUP]> {
        let records: &[Record; GROUP] = (&*self.arrays.record).try_into().ok()?;
        let (mut active, mut is_any) = ([false; GROUP], false);
        for g in 0..GROUP {
            active[g] = records[g].status == ACTIVE;
            is_any |= active[g];
        }
        is_any.then_some(active)
    }

    /// Takes a step as the run did, with the particles that did not fly to a free end.
    #[inline(never)]
    fn land(&mut self, j: usize, ways: &[Way; GROUP]) {
        let (mut first, is_free) = (0, |way: &Way| *way == Way::Free);
        let ways = &ways[..self.arrays.position.len()];
        for alike in ways.chunk_by(|a, b| is_free(a) == is_free(b)) {
            let rows = first..first + alike.len();
            first = rows.end;
            if !is_free(&alike[0]) {
                let tile = Tile::new(self.arrays.part(rows), self.shared.context, j..j + 1);
                (self.shared.take_steps)(tile);
            }
        }
    }

    /// The free ends of a step of the active particles, and how these took it. The others fly with one of them.
    // By index, as above.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    fn fly<L: Lanes<F>, E: StepField<F, L, GROUP>>(
        &self,
        (j, active): (usize, [bool; GROUP]),
        Course { from, waters }: &mut Course<L::Four>,
        (field, stages): (&mut E, &mut Stages<L::Four, GROUP>),
        ways: &mut [Way; GROUP],
    ) -> Positions<L::Four, GROUP> {
        let (replay, context) = (self.replay(), self.shared.context);
        let first = TakenStep::whole(0, j, j * GROUP);
        let from = match from {
            Some(from) => *from,
            None => replay.start::<L, E, GROUP>(rows_of(first.row, active), field),
        };
        let timed = replay.whole(j);
        let free = replay.sample::<L, E, GROUP>(&from, timed, field, stages);
        let mut to = free.result.to;
        for g in 0..GROUP {
            if !active[g] {
                continue;
            }
            // A stage outside a mesh is sampled on the path from the start of its own step.
            let is_inside = stages.clips.iter().all(|clip| clip.member != g);
            let step = first.of(g, g);
            let end = replay.end::<L, E, GROUP>(&step, &free, timed, (&mut *field, g));
            if let Some(end) = end.filter(|_| is_inside) {
                ([to.at[g]], [to.rest[g]]) = (end.at, end.rest);
                ways[g] = Way::Free;
            }
        }
        let are_free = *ways == [Way::Free; GROUP]
            && context.walls.contain_all::<L, GROUP>(&to.at)
            && context.are_clear::<L, GROUP>((&from.at, &to.at), waters)
            && field.hold_all(&to.at);
        if !are_free {
            for g in 0..GROUP {
                let path = (from.at[g], to.at[g]);
                if ways[g] == Way::Free && !replay.is_free::<L, E, GROUP>(path, (&mut *field, g)) {
                    ways[g] = Way::Met;
                    stages.met.push((g, to.at[g]));
                }
            }
        }
        to
    }
}

/// The rows of particles from a first one on, where those that are not active have that of one that is.
fn rows_of(first: usize, active: [bool; GROUP]) -> [usize; GROUP] {
    let one = active.iter().position(|is_active| *is_active).unwrap_or(0);
    std::array::from_fn(|g| first + if active[g] { g } else { one })
}
