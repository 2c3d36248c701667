//! The steps of a tile once more, with the derivatives of the field at their stages.

use super::{
    shared::Shared,
    stages::{Clip, Stages},
    states::{Part, States},
    step_field::StepField,
    turns::Turn,
};
use crate::{
    cpu::{
        Real,
        arrays::Slots,
        chart::Chart,
        frame_pair::FramePair,
        lanes::{Four, Lanes, Vector, three},
        method::{AnyScheme, Coefficients},
        paths::PathEnd,
        segment::{FramePairs, Waters},
        step::{self, Positions, StageVelocity, StepResult},
        trail::start_in,
        walk::{diffuse, walk_slopes},
    },
    physics::{diffusion::host::Address, prelude::host::Vec3, sphere::host::place},
};

/// Number of particles in a group: while one waits for its values from memory, the others are computed.
pub(super) const GROUP: usize = 4;

/// The steps of a tile.
#[derive(Clone, Copy)]
pub(super) struct Replay<'a, F: Real> {
    pub shared: &'a Shared<'a, F>,
    pub states: &'a States<F>,
    pub slots: Slots<'a>,
}

/// What a particle takes of a step of the launch.
#[derive(Clone, Copy)]
pub(super) struct TakenStep<F> {
    pub i: usize,
    pub j: usize,
    /// The row of its state before.
    pub row: usize,
    /// The fraction of the step at which it starts, and the length, if it is not all of it.
    pub part: Option<(F, F)>,
}

impl<F: Copy> TakenStep<F> {
    /// All of step `j` of particle `i`.
    #[inline(always)]
    pub fn whole(i: usize, j: usize, row: usize) -> Self {
        TakenStep { i, j, row, part: None }
    }

    /// The same step of particle `i`, the state of which is `g` rows further on.
    #[inline(always)]
    pub fn of(&self, i: usize, g: usize) -> Self {
        TakenStep { i, row: self.row + g, ..*self }
    }
}

/// Length and frames of a step.
pub(super) type Timed<'b, F> = (F, &'b FramePairs<F>);

impl<'a, F: Real> Replay<'a, F> {
    /// A step of irregular ones: those of a particle follow those of another.
    #[inline(always)]
    pub fn irregular(&self, row: usize) -> TakenStep<F> {
        let Part { i, j, start, h } = self.states.parts[row];
        let is_whole = start == F::zero() && !self.shared.context.launch.features.adaptive;
        TakenStep { i, j, row, part: (!is_whole).then_some((start, h)) }
    }

    /// What a particle takes of step `j`, if anything.
    #[inline(always)]
    pub fn taken(&self, i: usize, j: usize) -> Option<TakenStep<F>> {
        let row = j * self.states.count + i;
        let full_dt = F::of(self.shared.context.segment.steps[j].h);
        let start = self.start_of(row, j)?;
        let part = (start != F::zero()).then_some((start, (F::one() - start) * full_dt));
        Some(TakenStep { i, j, row, part })
    }

    /// The fraction of step `j` at which a particle starts to move, if it does.
    #[inline(always)]
    fn start_of(&self, row: usize, j: usize) -> Option<F> {
        let number = self.shared.context.segment.first_step + j as i32;
        start_in(&self.states.record[row], self.states.fraction[row], number)
    }

    /// Length and frames of a step that is taken as a whole.
    #[inline(always)]
    pub fn whole(self, j: usize) -> Timed<'a, F> {
        let context = self.shared.context;
        (F::of(context.segment.steps[j].h), context.frame_pairs(j))
    }

    /// Length and frames of a step. `part` has room for the frames of a part.
    #[inline(always)]
    pub fn timed<'b>(
        &'b self,
        step: &TakenStep<F>,
        part: &'b mut Option<FramePairs<F>>,
    ) -> Timed<'b, F> {
        let Some((start, h)) = step.part else { return self.whole(step.j) };
        let context = self.shared.context;
        let full_dt = F::of(context.segment.steps[step.j].h);
        (h, part.insert(context.part(step.j, start * full_dt, h)))
    }

    /// The positions of particles, the states of which are in some rows.
    #[inline(always)]
    pub fn start<L: Lanes<F>, E: StepField<F, L, G>, const G: usize>(
        &self,
        rows: [usize; G],
        field: &mut E,
    ) -> Positions<L::Four, G> {
        let mut positions = [[[F::zero(); 3]; 2]; G];
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for g in 0..G {
            positions[g] = self.states.position[rows[g]];
            field.recall(g, self.states.record[rows[g]].location);
        }
        Positions::load::<F, L>(&positions)
    }

    /// Takes a step of particles without boundaries and random walks.
    #[inline(always)]
    pub fn sample<L: Lanes<F>, E: StepField<F, L, G>, const G: usize>(
        &self,
        from: &Positions<L::Four, G>,
        timed: Timed<F>,
        field: &mut E,
        stages: &mut Stages<L::Four, G>,
    ) -> FreeStep<L::Four, G> {
        stages.clips.clear();
        stages.turns.clear();
        stages.met.clear();
        let sloped = Sloped { shared: self.shared, from: from.at, field, stages };
        let context = self.shared.context;
        let result =
            step::Stages::<F, L, _, AnyScheme, G>::new(from, timed, context, sloped).step();
        if const { !E::Chart::IS_FLAT } && context.launch.features.sphere {
            self.turn::<L, G>((from, &result.to), timed.0, stages);
        }
        FreeStep { from: *from, result }
    }

    /// Adds how the displacements at each stage, and those of the step, change positions on a sphere.
    // By index: calls with vectors might not be inlined.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    fn turn<L: Lanes<F>, const G: usize>(
        &self,
        (from, to): (&Positions<L::Four, G>, &Positions<L::Four, G>),
        h: F,
        stages: &mut Stages<L::Four, G>,
    ) {
        let context = self.shared.context;
        let Coefficients { stages: count, a, b, .. } = &context.coefficients;
        for s in 0..*count {
            if context.adds {
                stages.velocity[s] = context.add(stages.velocity[s]);
            }
        }
        for g in 0..G {
            let start = place(&context.launch, Vec3(three(from.at[g].array())));
            for stage in 0..=*count {
                let (weights, end) =
                    if stage < *count { (&a[stage], stages.at[stage][g]) } else { (b, to.at[g]) };
                let mut displacement = L::Four::splat(F::zero());
                for s in 0..stage {
                    let part = L::Four::splat(weights[s] * h);
                    displacement = stages.velocity[s][g].fma(part, displacement);
                }
                let end = place(&context.launch, Vec3(three(end.array())));
                stages.turns.push(Turn::new(&start, displacement.array(), &end));
            }
        }
    }

    /// What the random numbers of a step are functions of.
    #[inline(always)]
    pub fn address(&self, i: usize, row: usize, j: usize) -> Address {
        Address {
            slot: self.slots.get(i),
            generation: self.states.record[row].generation as u32,
            step: (self.shared.context.segment.first_step + j as i32) as u32,
        }
    }

    /// The free end of a step of particle `g`, after its random walk; `None` if it lost its position or ended as
    /// stagnant, and did not move.
    #[inline(always)]
    pub fn end<L: Lanes<F>, E: StepField<F, L, G>, const G: usize>(
        &self,
        step: &TakenStep<F>,
        free: &FreeStep<L::Four, G>,
        (h, pairs): Timed<F>,
        (field, g): (&mut E, usize),
    ) -> Option<Positions<L::Four, 1>> {
        let context = self.shared.context;
        if free.result.slow[g] {
            return None;
        }
        let Positions { at, rest } = free.result.to;
        let mut to = Positions { at: [at[g]], rest: [rest[g]] };
        if context.launch.features.walk.is_on {
            let [from, _] = free.from.of(g);
            let address = self.address(step.i, step.row, step.j);
            let (launch, walls, step) = (&context.launch, &context.walls, (h, &pairs[0]));
            let walk =
                field.with_probe(g, |probe| diffuse(launch, from, address, step, walls, probe));
            to = to.moved_on::<F, L>(&[walk]);
        }
        three(to.at[0].array()).iter().all(|x| x.is_finite()).then_some(to)
    }

    /// The derivatives of the random displacement in a step by its start, if there is one.
    #[inline(always)]
    pub fn walk_slopes<L: Lanes<F>, E: StepField<F, L, G>, const G: usize>(
        &self,
        step: &TakenStep<F>,
        (h, pair): (F, &FramePair<F>),
        (field, g): (&mut E, usize),
    ) -> Option<[[F; 3]; 3]> {
        let Shared { context, exact, .. } = self.shared;
        if !context.launch.features.walk.is_on {
            return None;
        }
        let (from, launches) = (self.states.position[step.row][0], (&context.launch, exact));
        let address = self.address(step.i, step.row, step.j);
        let slopes = field.with_probe(g, |probe| {
            walk_slopes(launches, from, &address, (h, pair), &context.walls, probe)
        });
        Some(slopes.by_start)
    }

    /// Whether a path leads to its free end.
    #[inline(always)]
    pub fn is_free<L: Lanes<F>, E: StepField<F, L, G>, const G: usize>(
        &self,
        (from, to): (L::Four, L::Four),
        (field, g): (&mut E, usize),
    ) -> bool {
        let context = self.shared.context;
        context.walls.contain::<L>(to)
            && context.are_clear::<L, 1>((&[from], &[to]), &mut Waters::unknown::<F>())
            && field.holds(g, to)
    }

    /// The end of a path that met something, with its derivatives, from the state in a row to a free end.
    pub fn met_from(&self, row: usize, to: [F; 3]) -> PathEnd {
        let [from, _] = self.states.position[row];
        self.shared.wall([from, to], self.states.record[row].near_cell())
    }
}

/// A step of particles without boundaries and random walks.
pub(super) struct FreeStep<V, const G: usize> {
    pub from: Positions<V, G>,
    pub result: StepResult<V, G>,
}

/// The velocities at the stages of steps, of which the derivatives are kept.
struct Sloped<'a, 'b, F: Real, V: Copy, E, const G: usize> {
    shared: &'a Shared<'a, F>,
    from: [V; G],
    field: &'b mut E,
    stages: &'b mut Stages<V, G>,
}

impl<F, L, E, const G: usize> StageVelocity<F, L, G> for Sloped<'_, '_, F, L::Four, E, G>
where
    F: Real,
    L: Lanes<F>,
    E: StepField<F, L, G>,
{
    type Chart = E::Chart;

    #[inline(always)]
    fn of(&mut self, stage: usize, g: usize, at: L::Four, pair: &FramePair<F>) -> L::Four {
        let Sloped { shared, from, field, stages } = self;
        let (velocity, slopes) = field.slopes(g, at, pair);
        (stages.at[stage][g], stages.slopes[stage][g]) = (at, slopes);
        if const { !E::Chart::IS_FLAT } {
            stages.velocity[stage][g] = velocity;
        }
        if let Some(note) = field.outside(g) {
            let (from, at) = (three(from[g].array()), three(at.array()));
            let jacobians = shared.clip(from, at, note);
            stages.clips.extend(jacobians.map(|jacobians| Clip { stage, member: g, jacobians }));
        }
        velocity
    }
}
