//! How far steps can reach, and the blocks that contain them.

use crate::{BoundaryCondition, Error, GridBlock, field::Blocks, tracer::stepper::Stepper};
use burntrace_kernels::{Ratio, Tableau};

/// Relative error of the displacements that rounding may add.
const SLACK: f64 = 1e-3;

/// Nodes that a block has beside its group at least, on sides to which the flow goes: a block costs a seek
/// for each row of nodes.
const MIN_MARGIN: usize = 8;

/// The speeds towards the low and the high end of each axis.
pub(super) type Speeds = [[f64; 2]; 3];

/// The bounds of positions, measured from the field's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    low: [f64; 3],
    high: [f64; 3],
}

impl Bounds {
    /// The bounds of positions; `None` if there are none. Coordinates that are NaN are left out.
    pub fn of(positions: impl Iterator<Item = [f64; 3]>) -> Option<Self> {
        let mut bounds: Option<Bounds> = None;
        for position in positions {
            let all = bounds.get_or_insert(Bounds { low: [f64::MAX; 3], high: [f64::MIN; 3] });
            for (d, x) in position.into_iter().enumerate() {
                all.low[d] = all.low[d].min(x);
                all.high[d] = all.high[d].max(x);
            }
        }
        bounds
    }

    /// The mean velocity of the middle, from these bounds to those after some steps.
    pub fn motion_to(&self, after: &Bounds, spans: &[(f64, f64)]) -> [f64; 3] {
        let time: f64 = spans.iter().map(|(_, h)| h).sum();
        let middle = |bounds: &Bounds, d: usize| 0.5 * (bounds.low[d] + bounds.high[d]);
        [0, 1, 2].map(|d| (middle(after, d) - middle(self, d)) / time)
    }

    /// The bounds after steps with a velocity.
    pub fn moved(mut self, velocity: [f64; 3], spans: &[(f64, f64)]) -> Self {
        let time: f64 = spans.iter().map(|(_, h)| h).sum();
        for (d, velocity) in velocity.into_iter().enumerate() {
            self.low[d] += velocity * time;
            self.high[d] += velocity * time;
        }
        self
    }
}

/// The reach of the steps of a run.
pub(super) struct Reach<'a> {
    blocks: &'a Blocks,
    drift: [f64; 3],
    /// Displacements of the end of a step and of its farthest stage, as multiples of the step times the
    /// largest speed.
    per_step: f64,
    per_stage: f64,
    /// Whether displacements may be turned back along their axis, and into any direction.
    turns_back: bool,
    turns: bool,
    runs_backward: bool,
}

impl<'a> Reach<'a> {
    pub fn new(stepper: &Stepper, blocks: &'a Blocks, steps: &[(f64, f64)]) -> Self {
        let Tableau { a, b, .. } = *stepper.scheme.tableau();
        let sum = |row: &[Ratio]| row.iter().map(|ratio| ratio.value().abs()).sum::<f64>();
        let is_signed = a.as_flattened().iter().chain(&b).any(|ratio| ratio.value() < 0.0);
        let reflects = |condition: &BoundaryCondition| *condition == BoundaryCondition::Reflect;
        Reach {
            blocks,
            drift: stepper.drift,
            per_step: sum(&b),
            per_stage: a.iter().map(|row| sum(row)).fold(sum(&b), f64::max),
            turns_back: is_signed || stepper.boundary.faces.as_flattened().iter().any(reflects),
            turns: !stepper.obstacles.is_empty(),
            runs_backward: steps.first().is_some_and(|(_, h)| *h < 0.0),
        }
    }

    /// The speeds of particles, by those of the field in a block.
    pub fn speeds(&self, of_field: &Speeds) -> Speeds {
        let mut speeds = [0, 1, 2].map(|d| {
            let [low, high] = of_field[d];
            let [low, high] = [(low - self.drift[d]).max(0.0), (high + self.drift[d]).max(0.0)];
            let [low, high] = if self.runs_backward { [high, low] } else { [low, high] };
            if self.turns_back { [low.max(high); 2] } else { [low, high] }
        });
        if self.turns {
            let largest = speeds.map(|[low, high]| low.max(high));
            let norm = largest.iter().map(|speed| speed * speed).sum::<f64>().sqrt();
            speeds = [[norm; 2]; 3];
        }
        speeds.map(|sides| sides.map(|speed| speed * (1.0 + SLACK)))
    }

    /// The number of leading steps that particles within bounds can take in a block.
    pub fn steps(
        &self,
        block: &GridBlock,
        bounds: &Bounds,
        speeds: &Speeds,
        spans: &[(f64, f64)],
    ) -> usize {
        let mut possible = spans.len();
        for (d, sides) in speeds.iter().enumerate() {
            for (gap, speed) in self.gaps(block, bounds, d).into_iter().zip(sides) {
                let mut before = 0.0;
                let fits = |(_, h): &&(f64, f64)| {
                    let reach = (before + self.per_stage * h.abs()) * speed;
                    before += self.per_step * h.abs();
                    // Also for a speed of 0 at the end of the grid.
                    gap == f64::INFINITY || reach <= gap
                };
                possible = possible.min(spans.iter().take_while(fits).count());
            }
        }
        possible
    }

    /// Distances from bounds to the last cell but one at both ends of a block; infinite at the ends of the grid,
    /// beyond which the velocity is that of its outer cells.
    fn gaps(&self, block: &GridBlock, bounds: &Bounds, d: usize) -> [f64; 2] {
        let axis = &self.blocks.axes()[d];
        let (first, end) = (block.first[d], block.first[d] + block.nodes[d]);
        let low = if first == 0 { f64::INFINITY } else { bounds.low[d] - axis[first + 1] };
        let high = if end == axis.len() { f64::INFINITY } else { axis[end - 2] - bounds.high[d] };
        [low, high]
    }

    /// The block around bounds in which particles can take steps, with as much around them as is worth reading and
    /// fits. `None` if the particles fill too much of it.
    pub fn block(
        &self,
        bounds: &Bounds,
        speeds: Option<&Speeds>,
        spans: &[(f64, f64)],
        frames: usize,
    ) -> Option<GridBlock> {
        let near = self.nodes(bounds, [[0; 2]; 3]);
        let bytes = |block: &GridBlock| self.blocks.bytes_of(block, frames);
        let wanted = [0, 1, 2].map(|d| self.margins(bounds, speeds, spans, (d, near.nodes[d])));
        let capped = |most: usize| wanted.map(|sides| sides.map(|margin| margin.min(most)));
        let whole = self.nodes(bounds, wanted);
        if bytes(&whole) <= self.blocks.bytes() {
            return Some(whole);
        }
        let is_alone = self.middle(bounds).is_none();
        if !is_alone && 2 * bytes(&near) > self.blocks.bytes() {
            return None;
        }
        let (mut fits, mut too_many) = (0, wanted.as_flattened().iter().copied().max()?);
        while fits + 1 < too_many {
            let margin = fits.midpoint(too_many);
            let is_small = bytes(&self.nodes(bounds, capped(margin))) <= self.blocks.bytes();
            if is_small { fits = margin } else { too_many = margin }
        }
        let block = self.nodes(bounds, capped(fits));
        (bytes(&block) <= self.blocks.bytes()).then_some(block)
    }

    /// The nodes of the cells around bounds, and of some more at both ends of each axis.
    fn nodes(&self, bounds: &Bounds, margins: [[usize; 2]; 3]) -> GridBlock {
        let range = |d: usize| {
            let axis = &self.blocks.axes()[d];
            let [low, high] = margins[d];
            // A cell more on both sides: single precision may round a position into it.
            let first = axis.partition_point(|x| *x <= bounds.low[d]).saturating_sub(2 + low);
            let end = axis.partition_point(|x| *x < bounds.high[d]) + 2 + high;
            let first = first.min(axis.len().saturating_sub(2));
            (first, end.max(first + 2).min(axis.len()) - first)
        };
        let ranges = [range(0), range(1), range(2)];
        GridBlock { first: ranges.map(|(first, _)| first), nodes: ranges.map(|(_, nodes)| nodes) }
    }

    /// The nodes that are worth reading beside bounds at both ends of an axis, of which `near` nodes are around the
    /// bounds: for the remaining steps, but not more than the group is wide.
    fn margins(
        &self,
        bounds: &Bounds,
        speeds: Option<&Speeds>,
        spans: &[(f64, f64)],
        (d, near): (usize, usize),
    ) -> [usize; 2] {
        let axis = &self.blocks.axes()[d];
        let few = MIN_MARGIN.max(near / 4);
        let Some(speeds) = speeds else { return [few; 2] };
        let time: f64 = spans.iter().map(|(_, h)| h.abs()).sum();
        let one = spans.first().map_or(0.0, |(_, h)| self.per_stage * h.abs());
        let [low, high] = speeds[d];
        let cells = |from: f64, to: f64| {
            axis.partition_point(|x| *x < to)
                - axis.partition_point(|x| *x <= from).saturating_sub(1)
        };
        let below = |time: f64| cells(bounds.low[d] - time * low, bounds.low[d]);
        let above = |time: f64| cells(bounds.high[d], bounds.high[d] + time * high);
        let most = near.max(4 * MIN_MARGIN);
        let margin = |speed: f64, all: usize, one: usize| match speed {
            0.0 => 1,
            _ => (all + 2).clamp(few, most).max(one + 2),
        };
        [margin(low, below(time), below(one)), margin(high, above(time), above(one))]
    }

    /// The axis along which bounds span most cells, and their middle on it; `None` if they are in one cell.
    pub fn middle(&self, bounds: &Bounds) -> Option<(usize, f64)> {
        let cells = |d: &usize| {
            let axis = &self.blocks.axes()[*d];
            let before = |x: f64| axis.partition_point(|node| *node <= x);
            before(bounds.high[*d]) - before(bounds.low[*d])
        };
        let axis = (0..3).max_by_key(cells).filter(|d| cells(d) > 0)?;
        Some((axis, 0.5 * (bounds.low[axis] + bounds.high[axis])))
    }

    /// The error of particles in one cell that cannot take a step in any block.
    pub fn too_small(
        &self,
        bounds: &Bounds,
        speeds: Option<&Speeds>,
        step: (f64, f64),
        frames: usize,
    ) -> Error {
        let near = self.nodes(bounds, [[0; 2]; 3]).nodes;
        let margins = [0, 1, 2].map(|d| self.margins(bounds, speeds, &[step], (d, near[d])));
        let block = self.nodes(bounds, margins);
        let [nx, ny, nz] = block.nodes;
        Error::Memory {
            what: format!(
                "a block of {nx} x {ny} x {nz} nodes of {frames} frames, which contains a step of a particle and its \
                 stages,"
            ),
            needed: self.blocks.bytes_of(&block, frames),
            available: self.blocks.bytes(),
            remedy: "raise `Execution::memory`, or take shorter steps".into(),
        }
    }
}
