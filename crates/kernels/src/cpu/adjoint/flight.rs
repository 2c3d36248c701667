//! Particles that take the steps of a launch together, with the derivatives of the field at their stages.

use super::{
    replay::{GROUP, Replay, TakenStep},
    shared::Shared,
    stages::Stages,
    states::States,
    step_field::StepField,
};
use crate::{
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

    /// Takes step `j`. Returns whether all particles took all of it and met nothing; `stages` are theirs then. Never
    /// without the widest vectors, for which steps of four particles are not compiled.
    #[inline(always)]
    pub fn step<L: Lanes<F>, E: StepField<F, L, GROUP>>(
        &mut self,
        j: usize,
        course: &mut Course<L::Four>,
        (field, stages): (&mut E, &mut Stages<L::Four, GROUP>),
    ) -> bool {
        self.states.push(&self.arrays);
        if const { !L::IS_PORTABLE }
            && self.are_active()
            && let Some(to) = self.fly::<L, E>(j, course, field, stages)
        {
            for g in 0..GROUP {
                self.arrays.position[g] = to.of(g);
                self.arrays.record[g].location = field.note(g);
            }
            course.from = Some(to);
            return true;
        }
        *course = Course::unknown::<F>();
        self.land(j);
        false
    }

    #[inline(always)]
    fn are_active(&self) -> bool {
        let mut active = 0;
        for record in &*self.arrays.record {
            active += usize::from(record.status == ACTIVE);
        }
        active == GROUP
    }

    /// Takes a step as the run did.
    #[inline(never)]
    fn land(&mut self, j: usize) {
        let tile = Tile::new(self.arrays.reborrow(), self.shared.context, j..j + 1);
        (self.shared.take_steps)(tile);
    }

    /// The ends of a step, if nothing happens in it.
    #[inline(always)]
    fn fly<L: Lanes<F>, E: StepField<F, L, GROUP>>(
        &self,
        j: usize,
        Course { from, waters }: &mut Course<L::Four>,
        field: &mut E,
        stages: &mut Stages<L::Four, GROUP>,
    ) -> Option<Positions<L::Four, GROUP>> {
        let (replay, context) = (self.replay(), self.shared.context);
        let first = TakenStep::whole(0, j, j * GROUP);
        let from = match from {
            Some(from) => *from,
            None => replay.start::<L, E, GROUP>(first.row, field),
        };
        let timed = replay.whole(j);
        let free = replay.sample::<L, E, GROUP>(&from, timed, field, stages);
        let mut to = free.result.to;
        for g in 0..GROUP {
            let end = replay.end::<L, E, GROUP>(&first.of(g, g), &free, timed, (&mut *field, g))?;
            ([to.at[g]], [to.rest[g]]) = (end.at, end.rest);
        }
        let is_plain = stages.clips.is_empty()
            && context.walls.contain_all::<L, GROUP>(&to.at)
            && context.are_clear::<L, GROUP>((&from.at, &to.at), waters)
            && field.hold_all(&to.at);
        is_plain.then_some(to)
    }
}
