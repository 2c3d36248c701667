//! A particle of a tile in a step of its own: where its way does not simply lead on.

use super::{
    Arrays, Ended, Method, Real, Sampler,
    edge::{Passage, pass},
    four,
    lanes::{Four, Portable},
    step::{Run, rk_step},
    three,
};
use crate::{
    MAX_LIVES_A_STEP,
    status::{ACTIVE, NON_FINITE, STAGNANT, WAITING},
};

/// A particle of a tile in a step of its own.
pub(super) struct Single<'a, 'b, F, S: Sampler<F>>
where
    F: Real,
{
    pub tile: &'a mut Arrays<'b, F>,
    /// Lives that have ended and are followed by others.
    pub log: &'a mut Vec<Ended<F>>,
    /// Its number in the tile.
    pub i: usize,
    pub run: &'a Run<'a, F>,
    pub sampler: &'a S,
    pub hint: &'a mut S::Hint,
    /// The step in the segment.
    pub j: usize,
    /// The fraction of it at which the way ends.
    pub until: F,
}

impl<F: Real, S: Sampler<F>> Single<'_, '_, F, S> {
    /// Writes what became of it on its way to `to`, in the step from its fraction `start` on. Where
    /// another life follows at once, that takes the rest of the step.
    #[cold]
    #[inline(never)]
    pub fn settle<M: Method>(&mut self, leap: ([F; 3], bool), start: F) {
        self.land(leap, start);
        let number = self.number();
        for _ in 0..MAX_LIVES_A_STEP {
            if !self.succeed() {
                return;
            }
            let record = &self.tile.record[self.i];
            let takes_rest = self.run.control.is_none();
            if record.status != WAITING || record.step != number || !takes_rest {
                return;
            }
            self.remainder::<M>();
        }
        if self.succeed() {
            self.tile.put_off(self.i, number);
        }
    }

    /// The number of the step in the run.
    fn number(&self) -> i32 {
        self.run.segment.first_step + self.j as i32
    }

    fn land(&mut self, (to, slow): ([F; 3], bool), start: F) {
        let i = self.i;
        if to.iter().any(|x| !x.is_finite()) {
            return self.end(NON_FINITE, start);
        }
        if slow {
            return self.end(STAGNANT, start);
        }
        let from = self.tile.position[i];
        let passage = if S::ENDS {
            pass(&self.run.walls, self.sampler, self.hint, &from, &to)
        } else if let Some(obstacles) = &self.run.obstacles {
            obstacles.pass(&from, &to)
        } else {
            Passage::of(self.run.walls.land(&from, &to))
        };
        self.tile.position[i] = passage.position;
        for (image, crossed) in self.tile.record[i].image.iter_mut().zip(passage.image) {
            *image = image.saturating_add(crossed);
        }
        self.tile.record[i].place = passage.face.unwrap_or(S::note(self.hint));
        if let Some((status, fraction)) = passage.end {
            self.end(status, start + fraction * (self.until - start));
        }
    }

    fn end(&mut self, status: i32, fraction: F) {
        self.tile.record[self.i].status = status;
        self.tile.record[self.i].step = self.number();
        self.tile.fraction[self.i] = fraction;
    }

    /// Whether it has ended and another life follows, which then waits for its release.
    fn succeed(&mut self) -> bool {
        let Some(followers) = &self.run.followers else { return false };
        let ended = followers.succeed(&mut self.tile.slot(self.i));
        self.log.extend(ended);
        ended.is_some()
    }

    /// Takes the rest of the step from the release that it waits for. A few particles do so in a
    /// step, and vectors of the processor would have the whole step compiled once more for them.
    fn remainder<M: Method>(&mut self) {
        let i = self.i;
        self.until = F::one();
        let start = self.tile.fraction[i];
        let whole = F::of(self.run.segment.steps[self.j].h);
        let h = (F::one() - start) * whole;
        let moments = self.run.part::<M>(self.j, start * whole, h);
        self.tile.record[i].status = ACTIVE;
        let mut hints = [self.sampler.recall(0)];
        let from = [four::<F, Portable>(&self.tile.position[i])];
        let leap = rk_step::<F, Portable, S, M, 1>(
            &from,
            (h, &moments),
            self.run,
            self.sampler,
            &mut hints,
        );
        *self.hint = hints[0];
        let mut to = leap.to[0];
        if let Some(walker) = &self.run.walker {
            let address = [
                self.tile.slots.get(i),
                self.tile.record[i].generation as u32,
                self.number() as u32,
            ];
            let field = (&self.run.walls, self.sampler, &*self.hint);
            let step = (h, &moments[0]);
            let way = (self.tile.position[i], three(to.array()));
            to = four::<F, Portable>(&walker.stray(way, address, step, field));
        }
        let is_plain = self.run.walls.contain::<Portable>(to)
            && !leap.slow[0]
            && self.run.are_clear::<Portable, 1>(&from, &[to])
            && (!S::ENDS || self.sampler.holds::<Portable>(to, self.hint));
        if is_plain {
            self.tile.position[i] = three(to.array());
            self.tile.record[i].place = S::note(self.hint);
        } else {
            self.land((three(to.array()), leap.slow[0]), start);
        }
    }
}
