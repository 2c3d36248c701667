//! Positions of inlets, and their assignment to slots.

use super::{Tracer, obstacles, patches, start};
use crate::{
    Error, Inlet, Pattern, Result, Seeds,
    field::{self, measured_from},
    inlet,
    seeds::velocities,
};
use burntrace_kernels::{InletRows, SlotRules, SourceSlots};

/// The re-injection rules of a run, and the positions of its inlets.
#[derive(Debug, Default)]
pub(super) struct Inflow {
    pub rules: SlotRules,
    /// Positions of all inlets, one after another, measured from the origin and rounded to the
    /// field's precision.
    pub positions: Vec<[f64; 3]>,
}

impl Inflow {
    /// The inflow of a run that starts at time `t0`.
    pub fn new(tracer: &Tracer, seeds: &Seeds, t0: f64) -> Result<Self> {
        let mut inflow = Inflow::default();
        let of_sources = tracer.capacity();
        let slots = seeds.len().saturating_add(of_sources);
        check_slots(slots)?;
        // Slots of sources have no seed positions to keep.
        let own = if of_sources == 0 { seeds.positions() } else { &[] };
        for (status, inlet) in &tracer.outlets {
            let rows = inflow.open(tracer, inlet, (own, slots), t0)?;
            inflow.rules.after[status.code() as usize] = Some(rows);
        }
        inflow.rules.patches = patches::boxes(tracer);
        for patch in &tracer.patches {
            let open = |inlet| inflow.open(tracer, inlet, (own, slots), t0);
            let rows = patch.inlet().map(open).transpose()?;
            inflow.rules.after_patch.push(rows);
        }
        let mut first = seeds.len();
        for source in &tracer.sources {
            let slots = source.capacity();
            let inlet = inflow.open(tracer, source.inlet(), (&[], slots), t0)?;
            let slots = slots as u32;
            inflow.rules.sources.push(SourceSlots { first: first as u32, slots, inlet });
            first += source.capacity();
        }
        Ok(inflow)
    }

    /// Adds the positions of an inlet and returns its number.
    fn open(
        &mut self,
        tracer: &Tracer,
        inlet: &Inlet,
        (seeds, slots): (&[[f64; 3]], usize),
        t0: f64,
    ) -> Result<usize> {
        let mut velocity = |positions: &[[f64; 3]]| velocities(tracer.field, positions, t0);
        let (domain, velocity) = (&tracer.domain, &mut velocity);
        let positions =
            inlet.positions(&mut inlet::InletRequest { domain, seeds, slots, velocity })?;
        let positions = allowed(tracer, inlet, positions, slots)?;
        let precision = tracer.field.precision();
        self.rules.inlets.push(InletRows {
            first: self.positions.len() as u32,
            count: positions.positions.len() as u32,
            scatter: positions.scatter,
            stride: positions.stride,
        });
        let measured = measured_from(field::origin(tracer.field), &positions.positions);
        self.positions.extend(measured.into_iter().map(|p| p.map(|x| precision.round(x))));
        check_slots(self.positions.len())?;
        Ok(self.rules.inlets.len() - 1)
    }
}

/// Number of inlets of a tracer.
pub(super) fn count(tracer: &Tracer) -> usize {
    let of_patches = tracer.patches.iter().filter(|patch| patch.is_outlet()).count();
    tracer.outlets.len() + of_patches + tracer.sources.len()
}

/// Checks that numbers of slots and positions fit into an `i32`.
fn check_slots(count: usize) -> Result<()> {
    match i32::try_from(count) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::Inlet(format!(
            "{count} slots or positions are too many; the maximum is {}",
            i32::MAX
        ))),
    }
}

/// The positions of an inlet that are inside the mesh, if the field has one, and on the allowed
/// side of obstacles. Random positions outside are dropped; given positions must all be inside.
fn allowed(
    tracer: &Tracer,
    inlet: &Inlet,
    positions: inlet::InletPositions,
    slots: usize,
) -> Result<inlet::InletPositions> {
    let (found, what): (Vec<bool>, _) = if tracer.field.mesh().is_some() {
        let seeds = Seeds::list(positions.positions.clone())?;
        let found = start::cells(&seeds, &tracer.domain, tracer.field)?;
        (found.iter().map(Option::is_some).collect(), "mesh")
    } else {
        let found = positions.positions.iter().map(obstacles::allowed(tracer)?);
        (found.collect(), "allowed side of the obstacles")
    };
    let Some(first) = found.iter().position(|found| !found) else { return Ok(positions) };
    let outside = found.iter().filter(|found| !**found).count();
    let is_drawn = positions.stride != 0 && inlet.pattern() != Pattern::Lattice;
    if !is_drawn || outside == found.len() {
        return Err(Error::Inlet(format!(
            "{outside} of its {} positions are outside the {what}, the first at {:?}; move the inlet \
             into the {what}, or draw random positions (`uniform`, `flux`) from a shape that \
             overlaps it",
            found.len(),
            positions.positions[first]
        )));
    }
    Ok(positions.retain(|i| found[i], slots))
}
