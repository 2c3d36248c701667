//! The loop: a tile of particles, a few of them at a time, through all steps of a segment.

use super::{
    Arrays, Ended, Method, Real, Sampler, TILE,
    frame_pair::FramePair,
    lanes::{Four, Lanes, Task},
    single::Single,
    step::{Run, StepResult, rk_step},
    three,
    walk::Walker,
};
use crate::status::{ACTIVE, WAITING};
use std::{marker::PhantomData, ops::Range};

/// Particles that are followed together.
const GROUP: usize = 4;

/// Steps that a group takes before the next one has its turn: enough for the field around it to
/// stay close at hand, few enough that groups are made up again soon after some have ended.
const BLOCK: usize = 32;

/// A tile of particles on its way through a segment.
pub(super) struct Tile<'a, F, S, M> {
    pub arrays: Arrays<'a, F>,
    pub run: &'a Run<'a, F>,
    pub sampler: &'a S,
    /// Lives that have ended and are followed by others.
    pub log: Vec<Ended<F>>,
    /// The steps of the segment that it takes.
    pub steps: Range<usize>,
    method: PhantomData<fn() -> M>,
}

/// Particles that go on alone from a step.
struct Singles {
    list: [(u16, u16); TILE],
    count: usize,
}

impl Singles {
    #[inline(always)]
    fn push(&mut self, i: usize, j: usize, block: &Range<usize>) {
        self.list[self.count] = (i as u16, (j - block.start) as u16);
        self.count += 1;
    }
}

impl<'a, F, S, M> Tile<'a, F, S, M> {
    pub fn new(
        arrays: Arrays<'a, F>,
        run: &'a Run<'a, F>,
        sampler: &'a S,
        steps: Range<usize>,
    ) -> Self {
        Tile { arrays, run, sampler, log: Vec::new(), steps, method: PhantomData }
    }
}

impl<F: Real, S, M> Tile<'_, F, S, M> {
    /// Slots that are used again: those of sources get their first release.
    #[inline(never)]
    fn wake(&mut self) {
        if let Some(followers) = &self.run.followers {
            for i in 0..self.arrays.position.len() {
                followers.wake(&mut self.arrays.slot(i));
            }
        }
    }

    #[inline(never)]
    fn close(&mut self) {
        if let Some(followers) = &self.run.followers {
            followers.append(&mut self.log);
        }
    }
}

impl<F: Real, S: Sampler<F>, M: Method> Task<F> for Tile<'_, F, S, M> {
    #[inline(always)]
    fn run<L: Lanes<F>>(mut self) {
        self.wake();
        match &self.run.control {
            Some(control) if const { M::TABLEAU.is_embedded() } => self.adapt::<L>(control),
            _ => {
                let Range { start, end } = self.steps;
                for start in (start..end).step_by(BLOCK) {
                    self.block::<L>(start..end.min(start + BLOCK));
                }
            }
        }
        self.close();
    }
}

impl<F: Real, S: Sampler<F>, M: Method> Tile<'_, F, S, M> {
    /// All particles through a block of steps: those that are active in groups, then the rest.
    #[inline(always)]
    fn block<L: Lanes<F>>(&mut self, block: Range<usize>) {
        let mut singles = Singles { list: [(0, 0); TILE], count: 0 };
        let mut group = [0; GROUP];
        let mut filled = 0;
        for i in 0..self.arrays.position.len() {
            let record = &self.arrays.record[i];
            if record.status == WAITING {
                if let Some(j) = self.release(record.step, &block) {
                    singles.push(i, j, &block);
                }
            } else if record.status == ACTIVE {
                group[filled] = i;
                filled += 1;
            }
            if filled == GROUP {
                filled = 0;
                let next = self.follow::<L, GROUP>(&group, block.clone());
                if next < block.end {
                    for i in group {
                        singles.push(i, next, &block);
                    }
                }
            }
        }
        for i in &group[..filled] {
            singles.push(*i, block.start, &block);
        }
        for (i, j) in &singles.list[..singles.count] {
            let i = *i as usize;
            let mut from = block.start + *j as usize;
            while self.goes_on(i, &mut from, &block) {
                from = self.follow::<L, 1>(&[i], from..block.end);
            }
        }
    }

    /// Whether a particle takes part in what remains of a block, and from which step on.
    #[inline(always)]
    fn goes_on(&self, i: usize, from: &mut usize, block: &Range<usize>) -> bool {
        let record = &self.arrays.record[i];
        if record.status == WAITING {
            let release = self.release(record.step, block);
            *from = release.unwrap_or(block.end);
        }
        (record.status == WAITING || record.status == ACTIVE) && *from < block.end
    }

    /// The step of the segment in which a waiting particle is released, if it is in the block.
    #[inline(always)]
    fn release(&self, step: i32, block: &Range<usize>) -> Option<usize> {
        let j = usize::try_from(step - self.run.segment.first_step).ok()?;
        block.contains(&j).then_some(j)
    }

    /// Takes particles through steps until one of them ends; returns the step that is next for
    /// the others. A particle that waits is released in the first one.
    #[inline(always)]
    fn follow<L: Lanes<F>, const G: usize>(
        &mut self,
        who: &[usize; G],
        steps: Range<usize>,
    ) -> usize {
        let mut start = F::zero();
        if G == 1 {
            let record = &mut self.arrays.record[who[0]];
            if record.status == WAITING {
                start = self.arrays.fraction[who[0]];
            }
            record.status = ACTIVE;
        }
        let mut hints = who.map(|i| self.sampler.recall(self.arrays.record[i].place));
        let mut at = who.map(|i| super::four::<F, L>(&self.arrays.position[i]));
        for j in steps.clone() {
            let whole = F::of(self.run.segment.steps[j].h);
            let part;
            let (h, moments) = if start == F::zero() {
                (whole, self.run.moments(j))
            } else {
                let h = (F::one() - start) * whole;
                part = self.run.part::<M>(j, start * whole, h);
                (h, &part)
            };
            let mut leap =
                rk_step::<F, L, S, M, G>(&at, (h, moments), self.run, self.sampler, &mut hints);
            if let Some(walker) = &self.run.walker {
                let step = (j, h, &moments[0]);
                leap.to = self.stray::<L, G>(walker, who, (at, leap.to), step, hints);
            }
            let is_plain = self.run.walls.contain_all::<L, G>(&leap.to)
                && leap.slow == [false; G]
                && self.holds::<L, G>(&leap.to, &mut hints)
                && self.run.are_clear::<L, G>(&at, &leap.to);
            if is_plain {
                at = leap.to;
            } else if self.settle::<L, G>(who, &mut at, &mut hints, &leap, (j, start)) {
                return j + 1;
            }
            start = F::zero();
        }
        self.keep::<L, G>(who, &at, &hints);
        steps.end
    }

    /// Takes particles on a random walk beside a step. Cold, and with copies of what the loop holds
    /// in registers, so that these stay there for those who do not walk.
    #[cold]
    #[inline(never)]
    fn stray<L: Lanes<F>, const G: usize>(
        &self,
        walker: &Walker<F>,
        who: &[usize; G],
        (from, mut to): ([L::Four; G], [L::Four; G]),
        (j, h, moment): (usize, F, &FramePair<F>),
        hints: [S::Hint; G],
    ) -> [L::Four; G] {
        let number = (self.run.segment.first_step + j as i32) as u32;
        for g in 0..G {
            let generation = self.arrays.record[who[g]].generation as u32;
            let address = [self.arrays.slots.get(who[g]), generation, number];
            let field = (&self.run.walls, self.sampler, &hints[g]);
            let way = (three(from[g].array()), three(to[g].array()));
            let strayed = walker.stray(way, address, (h, moment), field);
            to[g] = super::four::<F, L>(&strayed);
        }
        to
    }

    /// Whether the field holds all of some positions.
    #[inline(always)]
    fn holds<L: Lanes<F>, const G: usize>(
        &self,
        to: &[L::Four; G],
        hints: &mut [S::Hint; G],
    ) -> bool {
        let mut holds = true;
        if S::ENDS {
            for g in 0..G {
                holds &= self.sampler.holds::<L>(to[g], &mut hints[g]);
            }
        }
        holds
    }

    /// Writes positions back.
    #[inline(always)]
    fn keep<L: Lanes<F>, const G: usize>(
        &mut self,
        who: &[usize; G],
        at: &[L::Four; G],
        hints: &[S::Hint; G],
    ) {
        for g in 0..G {
            self.arrays.position[who[g]] = three(at[g].array());
            self.arrays.record[who[g]].place = S::note(&hints[g]);
        }
    }

    /// Writes what became of particles of which some met a face or came to an end; returns
    /// whether any has ended.
    #[inline(always)]
    fn settle<L: Lanes<F>, const G: usize>(
        &mut self,
        who: &[usize; G],
        at: &mut [L::Four; G],
        hints: &mut [S::Hint; G],
        leap: &StepResult<L::Four, G>,
        (j, start): (usize, F),
    ) -> bool {
        self.keep::<L, G>(who, at, hints);
        let mut has_ended = false;
        for g in 0..G {
            let i = who[g];
            let to = three(leap.to[g].array());
            let is_plain = self.run.walls.contain::<L>(leap.to[g])
                && !leap.slow[g]
                && self.run.are_clear::<L, 1>(&[at[g]], &[leap.to[g]])
                && (!S::ENDS || self.sampler.holds::<L>(leap.to[g], &mut hints[g]));
            if is_plain {
                self.arrays.position[i] = to;
                self.arrays.record[i].place = S::note(&hints[g]);
            } else {
                let mut single = Single {
                    tile: &mut self.arrays,
                    log: &mut self.log,
                    i,
                    run: self.run,
                    sampler: self.sampler,
                    hint: &mut hints[g],
                    j,
                    until: F::one(),
                };
                single.settle::<M>((to, leap.slow[g]), start);
                has_ended |= self.arrays.record[i].status != ACTIVE;
            }
            at[g] = super::four::<F, L>(&self.arrays.position[i]);
        }
        has_ended
    }
}
