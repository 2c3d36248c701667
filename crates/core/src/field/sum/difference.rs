//! What the interpolation between the nodes of the first field loses of the others.

use super::{
    Addend, Sum,
    nodes::{Nodes, in_turn, values, velocities},
};
use crate::{
    Domain, Error, Field, FieldOptions, Floats, FrameSource, NotFinite, OutsideTime, Precision,
    Result, field::values::HostFrames,
};

/// Maximum number of frames in which fields are compared, and of velocities in them.
const MAX_FRAMES: usize = 8;
const MAX_VALUES: usize = 1 << 24;

/// The largest difference between a further field of a [`Sum`] and what the interpolation between the nodes of the first field
/// makes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// Length of the difference of velocities, in length per time, with the factor of the field.
    pub velocity: f64,
    /// Where it is.
    pub position: [f64; 3],
    /// When it is.
    pub time: f64,
    /// Number of positions that were compared: the nodes of the further field that are in the first one and where that has no land;
    /// of a formula, the middles between the nodes of the first field.
    pub positions: usize,
    /// Number of frames that were compared, evenly spaced among those of the further field.
    pub frames: usize,
    /// Number of nodes of the first field where nothing is added, as they are outside the further one or in its holes; on the
    /// highest level of a grid, if the further field has a single one.
    pub outside: usize,
}

impl<S: FrameSource> Sum<S> {
    /// The largest difference between each further field and what the interpolation between the nodes of the first field makes of
    /// it, in frames throughout its times. The largest one of all frames may be larger; linear interpolation between frames adds nothing to it.
    ///
    /// # Errors
    ///
    /// If frames cannot be read, or nodes are outside a further field, as when the field is loaded.
    pub fn differences(&mut self) -> Result<Vec<Difference>> {
        self.hold(&[0]);
        let first = self.first_at(0).map_err(|source| Error::Source { frame: 0, source })?;
        let (found, expected) = (first.velocity.len(), 3 * self.nodes.len());
        if found != expected {
            let placement = format!("{} values", self.nodes.len());
            return Err(Error::FrameSize { frame: 0, found, expected, placement });
        }
        let missing = self.missing(&first);
        let mut sum = Floats::zeros(Precision::F64, found);
        (1..=self.others.len())
            .map(|i| {
                self.add(i, self.times[0], &missing, &mut sum)?;
                let (field, addend) = &self.others[i - 1];
                self.difference((&**field, addend), &missing)
            })
            .collect()
    }

    fn difference(&self, other: (&dyn Field, &Addend), missing: &[bool]) -> Result<Difference> {
        let (field, addend) = other;
        let level = self.nodes.top().filter(|_| field.domain().is_flat(2));
        let (nodes, missing) = match &level {
            Some((level, start)) => (level, &missing[*start..]),
            None => (&self.nodes, missing),
        };
        let times = self.compared_times(field, nodes.len());
        let (on_nodes, outside) = self.on_nodes(other, (nodes, missing), &times)?;
        let positions = self.compared_positions(field, nodes)?;
        let (frames, at) = (times.len(), |i: usize| positions[i]);
        let mut largest = Difference { frames, outside, ..Difference::default() };
        for time in times {
            let own = velocities(other, positions.len(), at, time)?;
            let plain = &Addend::default();
            let interpolated = velocities((&*on_nodes, plain), positions.len(), at, time)?;
            largest.positions = 0;
            for ((own, interpolated), position) in own.iter().zip(&interpolated).zip(&positions) {
                let [u, v, w] = [0, 1, 2].map(|d| own[d] - interpolated[d]);
                let velocity = addend.factor.abs() * u.hypot(v).hypot(w);
                largest.positions += usize::from(!velocity.is_nan());
                if velocity > largest.velocity {
                    largest = Difference { velocity, position: *position, time, ..largest };
                }
            }
        }
        Ok(largest)
    }

    /// A further field at nodes of the first one, with holes where that has no velocity, and the number of nodes that are outside
    /// the further one.
    fn on_nodes(
        &self,
        other: (&dyn Field, &Addend),
        (nodes, missing): (&Nodes, &[bool]),
        times: &[f64],
    ) -> Result<(Box<dyn Field>, usize)> {
        let mut frames = HostFrames { times: times.to_vec(), velocity: Vec::new() };
        let mut outside = 0;
        for time in times {
            let mut found = values(nodes, other, (nodes.len(), *time), |velocity| velocity)?;
            let is_outside =
                |(velocity, is_missing): &(&[f64; 3], &bool)| !**is_missing && velocity[0].is_nan();
            outside = found.iter().zip(missing).filter(is_outside).count();
            let holes = found.iter_mut().zip(missing).filter(|(_, is_missing)| **is_missing);
            holes.for_each(|(velocity, _)| *velocity = [f64::NAN; 3]);
            frames.velocity.push(Floats::F64(found.into_flattened()));
        }
        let options = FieldOptions {
            precision: Precision::F64,
            outside_time: OutsideTime::Hold,
            not_finite: NotFinite::Outside,
            radius: self.options.radius,
            ..FieldOptions::default()
        };
        Ok((nodes.load(frames, &options)?, outside))
    }

    /// Times of frames of a further field in the times of the sum, evenly spaced.
    fn compared_times(&self, field: &dyn Field, values: usize) -> Vec<f64> {
        let [from, to] = [self.times[0], self.times[self.times.len() - 1]];
        let own = field.sampled().map_or(&[][..], |sampled| sampled.time.times());
        let mut times: Vec<f64> = own.iter().copied().filter(|t| (from..=to).contains(t)).collect();
        if times.len() < 2 {
            times = vec![from];
        }
        let count = (MAX_VALUES / values.max(1)).clamp(1, MAX_FRAMES).min(times.len());
        (0..count).map(|k| times[k * (times.len() - 1) / (count.max(2) - 1)]).collect()
    }

    /// The nodes of a field in the box around those of the first one, at its highest level if one of both has a single one.
    fn compared_positions(&self, field: &dyn Field, first: &Nodes) -> Result<Vec<[f64; 3]>> {
        let nodes = Nodes::of(field)?.unwrap_or_else(|| first.between());
        let domain @ Domain { low, high } = first.domain()?;
        let is_flat = low[2] == high[2] || field.domain().is_flat(2);
        let is_globe = self.options.radius.is_some();
        let inside = |[x, y, z]: [f64; 3]| {
            let x = if is_globe { in_turn(x, low[0]) } else { x };
            [x, y, if is_flat { high[2] } else { z }]
        };
        let positions = (0..nodes.len()).map(|i| inside(nodes.position(i)));
        Ok(positions.filter(|position| domain.contains(*position)).collect())
    }
}
