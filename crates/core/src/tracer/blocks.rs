//! Runs in blocks of the field's frames: groups of particles, each advanced in a block that holds all that its
//! steps can read.
//!
//! No step leaves a block: velocities between nodes are means of those at the nodes, so that the largest speeds
//! in a block limit the displacement of every step and of its stages.

mod reach;

use super::{fused, rows::Rows, stepper::Stepper};
use crate::{
    GridBlock, Result, Sampled,
    field::{BlockAt, Blocks, HeldBlock},
    schedule::Chunk,
};
use burn::tensor::Device;
use burntrace_kernels::{Launched, Particles, Record, status::ACTIVE, status::WAITING};
use reach::{Bounds, Reach};
use std::ops::Range;

/// Blocks that are read for a group before it is divided: each shows larger speeds than the one before.
const ATTEMPTS: usize = 4;

/// Advances particles by a chunk of steps.
pub(super) fn advance(
    stepper: &Stepper,
    (field, blocks): (&Sampled, &Blocks),
    (first_slot, particles): (u32, Particles),
    chunk: &Chunk,
) -> Result<Particles> {
    let device = particles.position.device();
    let rows = Rows::read(particles, true)?;
    let all = (0..rows.count() as u32).collect();
    let spans = chunk.step_spans();
    let mut run = BlockRun {
        stepper,
        field,
        blocks,
        chunk,
        reach: Reach::new(stepper, blocks, &spans),
        spans,
        first_slot,
        device: &device,
        rows,
        groups: vec![Group { rows: all, step: 0 }],
        held: blocks.take_held(),
    };
    while let Some(group) = run.groups.pop() {
        run.advance(group)?;
    }
    let BlockRun { rows, held, .. } = run;
    blocks.keep(held);
    Ok(rows.into_particles(&device))
}

/// Particles that are advanced together.
struct Group {
    rows: Vec<u32>,
    /// The next step of the chunk.
    step: usize,
}

/// A chunk of steps in progress.
struct BlockRun<'a> {
    stepper: &'a Stepper<'a>,
    field: &'a Sampled,
    blocks: &'a Blocks,
    chunk: &'a Chunk,
    spans: Vec<(f64, f64)>,
    reach: Reach<'a>,
    first_slot: u32,
    device: &'a Device,
    rows: Rows,
    /// The groups that are left, the next one last.
    groups: Vec<Group>,
    held: Option<HeldBlock>,
}

impl BlockRun<'_> {
    /// Advances a group to the end of the chunk, or divides it.
    fn advance(&mut self, mut group: Group) -> Result<()> {
        while let Some((bounds, frames, steps)) = self.next(&mut group) {
            let spans = group.step..group.step + steps;
            let Some(steps) = self.hold(&bounds, &frames, spans)? else {
                return self.divide(group, &bounds, &frames);
            };
            self.read_ahead(&group, &bounds, steps)?;
            let launched = group.step..group.step + steps;
            self.launch(&group.rows, launched.clone())?;
            let moved = self.bounds(&group.rows);
            if let (Some(held), Some(moved)) = (&mut self.held, moved) {
                held.motion = Some(bounds.motion_to(&moved, &self.spans[launched]));
            }
            group.step += steps;
        }
        Ok(())
    }

    /// The bounds of a group, the frames of its next steps, and the number of these steps. `None` if nothing
    /// moves any more.
    fn next(&self, group: &mut Group) -> Option<(Bounds, Range<i64>, usize)> {
        let records = Record::from_numbers(&self.rows.record);
        let end = (self.chunk.first_step + self.chunk.steps() as u64) as i64;
        let moves = |record: &Record| match record.status {
            WAITING => i64::from(record.step) < end,
            status => status == ACTIVE,
        };
        group.rows.retain(|row| moves(&records[*row as usize]));
        let bounds = self.bounds(&group.rows)?;
        let (first, rest) = self.spans[group.step..].split_first()?;
        let mut frames = self.field.time.frames_of(first.0, first.1);
        let most = (frames.end - frames.start).max(2);
        let mut steps = 1;
        for (t, h) in rest {
            let more = self.field.time.frames_of(*t, *h);
            let all = frames.start.min(more.start)..frames.end.max(more.end);
            if all.end - all.start > most {
                break;
            }
            (frames, steps) = (all, steps + 1);
        }
        Some((bounds, frames, steps))
    }

    fn bounds(&self, rows: &[u32]) -> Option<Bounds> {
        Bounds::of(rows.iter().map(|row| self.rows.position(*row as usize)))
    }

    /// Holds a block around particles, and returns the number of steps that they can take in it: at least one.
    /// `None` if no block is large enough for the group.
    fn hold(
        &mut self,
        bounds: &Bounds,
        frames: &Range<i64>,
        steps: Range<usize>,
    ) -> Result<Option<usize>> {
        let count = steps.len();
        if let Some(held) = &self.held
            && has_frames(&held.at, frames)
        {
            let possible = self.possible(held, &held.at.nodes, bounds, &steps);
            if possible == count || possible > held.steps / 4 {
                return Ok(Some(possible));
            }
        }
        if let (Some(held), Some(ahead)) = (&self.held, self.blocks.ahead())
            && has_frames(&ahead, frames)
            && 2 * self.possible(held, &ahead.nodes, bounds, &steps) >= count.min(held.steps)
        {
            let possible = self.read(ahead, bounds, &steps)?;
            if possible > 0 {
                return Ok(Some(possible));
            }
        }
        for _ in 0..ATTEMPTS {
            let speeds = self.held.as_ref().map(|held| self.reach.speeds(&held.speeds));
            let of_frames = (frames.end - frames.start) as usize;
            let spans = &self.spans[steps.clone()];
            let Some(nodes) = self.reach.block(bounds, speeds.as_ref(), spans, of_frames) else {
                break;
            };
            let at = BlockAt { frames: frames.clone(), nodes };
            if self.held.as_ref().is_some_and(|held| held.at == at) {
                break;
            }
            let possible = self.read(at, bounds, &steps)?;
            if possible > 0 {
                return Ok(Some(possible));
            }
        }
        Ok(None)
    }

    /// The number of steps that particles can take in a block in which speeds are those of another one.
    fn possible(
        &self,
        like: &HeldBlock,
        nodes: &GridBlock,
        bounds: &Bounds,
        steps: &Range<usize>,
    ) -> usize {
        let speeds = self.reach.speeds(&like.speeds);
        self.reach.steps(nodes, bounds, &speeds, &self.spans[steps.clone()])
    }

    /// Reads a block to hold, and returns the number of steps that particles can take in it.
    fn read(&mut self, at: BlockAt, bounds: &Bounds, steps: &Range<usize>) -> Result<usize> {
        let motion = self.held.take().and_then(|held| held.motion);
        let mut held = self.blocks.read(at)?;
        held.steps = self.possible(&held, &held.at.nodes, bounds, steps);
        held.motion = motion;
        let possible = held.steps;
        self.held = Some(held);
        Ok(possible)
    }

    /// Starts to read the block that is needed after some steps of a group: that of the next group, or of the same
    /// one where its motion leads.
    fn read_ahead(&self, group: &Group, bounds: &Bounds, steps: usize) -> Result<()> {
        let Some(held) = &self.held else { return Ok(()) };
        let end = group.step + steps;
        let (step, bounds) = match self.groups.last() {
            Some(next) if end == self.spans.len() => (next.step, self.bounds(&next.rows)),
            _ => {
                (end, held.motion.map(|motion| bounds.moved(motion, &self.spans[group.step..end])))
            }
        };
        let Some(bounds) = bounds else { return Ok(()) };
        // After the chunk, another one of the same length.
        let length = self.chunk.end() - self.chunk.times[0];
        let later = self.spans.iter().map(|(t, h)| (t + length, *h));
        let spans: Vec<_> = self.spans.iter().copied().chain(later).skip(step).collect();
        let spans = &spans[..self.spans.len()];
        let frames = self.field.time.frames_of(spans[0].0, spans[0].1);
        let speeds = self.reach.speeds(&held.speeds);
        let is_held = has_frames(&held.at, &frames)
            && self.reach.steps(&held.at.nodes, &bounds, &speeds, spans) > held.steps / 4;
        let of_frames = (frames.end - frames.start) as usize;
        match self.reach.block(&bounds, Some(&speeds), spans, of_frames) {
            Some(nodes) if !is_held => self.blocks.read_ahead(&BlockAt { frames, nodes }),
            _ => Ok(()),
        }
    }

    /// Advances rows by steps of the chunk in the block that is held.
    fn launch(&mut self, rows: &[u32], steps: Range<usize>) -> Result<()> {
        let Some(held) = &self.held else { return Ok(()) };
        let time = &self.field.time;
        let located = time.steps_from(held.at.frames.start, &self.spans[steps.clone()]);
        let clock = time.clock_of(held.at.frames.clone());
        let mut segment = fused::segment(self.stepper, clock.into(), located);
        segment.first_step = (self.chunk.first_step + steps.start as u64) as i32;
        segment.first_slot = self.first_slot;
        let particles = self.rows.taken(rows).into_particles(self.device);
        let geometry = &self.stepper.geometry;
        let Launched { particles, .. } =
            burntrace_kernels::advance(particles, &held.tensors, geometry, segment);
        self.rows.put_taken(rows, &Rows::read(particles, true)?);
        Ok(())
    }

    /// Divides a group in the middle of its bounds.
    fn divide(&mut self, group: Group, bounds: &Bounds, frames: &Range<i64>) -> Result<()> {
        let Some((axis, middle)) = self.reach.middle(bounds) else {
            let speeds = self.held.as_ref().map(|held| self.reach.speeds(&held.speeds));
            let of_frames = (frames.end - frames.start) as usize;
            let step = self.spans[group.step];
            return Err(self.reach.too_small(bounds, speeds.as_ref(), step, of_frames));
        };
        let is_low = |row: &u32| self.rows.position(*row as usize)[axis] < middle;
        let (low, high) = group.rows.into_iter().partition(is_low);
        self.groups.push(Group { rows: high, step: group.step });
        self.groups.push(Group { rows: low, step: group.step });
        Ok(())
    }
}

fn has_frames(at: &BlockAt, frames: &Range<i64>) -> bool {
    at.frames.start <= frames.start && frames.end <= at.frames.end
}
