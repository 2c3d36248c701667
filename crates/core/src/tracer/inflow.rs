//! Positions of inlets, and their assignment to slots.

use super::{Tracer, located, obstacles, patches, walk};
use crate::{
    Error, Inlet, Pattern, Result, Seeds,
    field::{self, evaluate::velocities, measured_from},
    inlet,
};
use burn::tensor::Tensor;
use burntrace_kernels::{InletRows, SlotRules, SourceSlots};

/// The re-injection rules of a run, and the positions of its inlets.
#[derive(Debug, Default)]
pub(super) struct Inflow {
    pub rules: SlotRules,
    /// Positions of all inlets, one after another, measured from the origin and rounded to the
    /// field's precision.
    pub positions: Vec<[f64; 3]>,
    /// Positions that track gradients, each with its first row among all.
    pub tracked: Vec<(usize, Tensor<2>)>,
    /// Inlets of re-injection, which outlets can share, with their positions.
    shared: Vec<(Inlet, InletRows)>,
    /// Number of inlets with random positions, which are independent of each other.
    random: u64,
}

/// The seed of random positions on patches, for the first inlet with random positions.
const SEED: u64 = 1;

/// The maximum number of inlets: slots have them in 16 bits.
const MAX_INLETS: usize = u16::MAX as usize - 1;

impl Inflow {
    /// The inflow of a run that starts at time `t0`.
    pub fn new(tracer: &Tracer, seeds: &Seeds, t0: f64) -> Result<Self> {
        let mut inflow = Inflow::default();
        let of_sources = tracer.capacity();
        let slots = seeds.len().saturating_add(of_sources);
        check_slots(slots)?;
        check_count(tracer)?;
        // Slots of sources have no seed positions to keep.
        let own = if of_sources == 0 { seeds.positions() } else { &[] };
        for outlet in &tracer.surroundings.outlets {
            let rows = inflow.open_shared(tracer, &outlet.inlet, (own, slots), t0)?;
            inflow.rules.after[outlet.at.status().code() as usize] = Some(rows);
        }
        inflow.rules.patches = patches::boxes(tracer);
        if let Some(mesh) = tracer.field.mesh() {
            inflow.rules.faces = mesh.face_tags().clone();
        }
        for patch in &tracer.surroundings.patches {
            let open = |inlet| inflow.open_shared(tracer, inlet, (own, slots), t0);
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

    /// Adds an inlet of re-injection and returns its number. Equal ones have the same positions.
    fn open_shared(
        &mut self,
        tracer: &Tracer,
        inlet: &Inlet,
        on: (&[[f64; 3]], usize),
        t0: f64,
    ) -> Result<usize> {
        if let Some((_, rows)) = self.shared.iter().find(|(other, _)| other == inlet) {
            self.rules.inlets.push(*rows);
            return Ok(self.rules.inlets.len() - 1);
        }
        let number = self.open(tracer, inlet, on, t0)?;
        self.shared.push((inlet.clone(), self.rules.inlets[number]));
        Ok(number)
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
        let (domain, velocity) = (&tracer.domain_box(), &mut velocity);
        let number = self.random;
        let on_patch =
            &|name: &str, by_flux, count| on_patch(tracer, name, (by_flux, t0), (count, number));
        let mut request = inlet::InletRequest { domain, seeds, slots, number, velocity, on_patch };
        let positions = inlet.positions(&mut request)?;
        self.random += u64::from(inlet.is_random());
        let positions = allowed(tracer, inlet, positions, slots)?;
        let precision = tracer.field.precision();
        if let Some(points) = inlet.tracked() {
            self.tracked.push((self.positions.len(), points.clone()));
        }
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

/// Number of inlets of a tracer whose positions differ.
pub(super) fn count(tracer: &Tracer) -> usize {
    let mut different: Vec<&Inlet> = Vec::new();
    for inlet in tracer.surroundings.inlets() {
        if !different.contains(&inlet) {
            different.push(inlet);
        }
    }
    different.len() + tracer.sources.len()
}

/// Whether release positions of a tracer's inlets track gradients.
pub(super) fn is_tracked(tracer: &Tracer) -> bool {
    let of_sources = tracer.sources.iter().map(|source| source.inlet());
    tracer.surroundings.inlets().chain(of_sources).any(|inlet| inlet.tracked().is_some())
}

/// The rows of a run's geometry, with the graphs of those that are tracked, each from its first row on.
pub(super) fn with_graphs(
    rows: Tensor<2>,
    tracked: &[(usize, Tensor<2>)],
    tracer: &Tracer,
) -> Tensor<2> {
    if tracked.is_empty() {
        return rows;
    }
    let (device, dtype) = (walk::device(tracer, true), tracer.field.precision().dtype());
    let rows = Tensor::<2>::from_data(rows.into_data(), (&device, dtype));
    tracked.iter().fold(rows, |rows, (first, points)| {
        let points = points.clone().to_device(&device).cast(dtype);
        // The same numbers, in the graph of the points.
        let change = points.clone() - points.detach();
        let at = [*first..first + change.dims()[0], 0..3];
        let with_graph = rows.clone().slice(at.clone()) + change;
        rows.slice_assign(at, with_graph)
    })
}

fn check_count(tracer: &Tracer) -> Result<()> {
    match tracer.surroundings.inlets().count() + tracer.sources.len() {
        ..=MAX_INLETS => Ok(()),
        count => Err(Error::Inlet(format!(
            "there are {count} outlets and sources, each with an inlet; the maximum is {MAX_INLETS}"
        ))),
    }
}

/// Random positions on a patch of a tracer, by area, or by flux at a time.
fn on_patch(
    tracer: &Tracer,
    name: &str,
    (by_flux, time): (bool, f64),
    (count, number): (usize, u64),
) -> Result<Vec<[f64; 3]>> {
    let (Some(patch), Some(mesh)) = (
        tracer.surroundings.patches.iter().find(|patch| patch.name() == name),
        tracer.field.mesh(),
    ) else {
        let names = tracer.surroundings.patches.iter().map(|patch| format!("`{}`", patch.name()));
        let names: Vec<String> = names.collect();
        return Err(Error::Inlet(match names.is_empty() {
            true => format!("it is on the patch `{name}`, but there are no patches; add one"),
            false => format!("there is no patch `{name}`; there are {}", names.join(", ")),
        }));
    };
    let seeds = match by_flux {
        true => Seeds::on_patch_by_flux(tracer.field, patch, time, count, SEED + number),
        false => Seeds::on_patch(mesh, patch, count, SEED + number),
    }?;
    Ok(seeds.positions().to_vec())
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
        let found = located::cells(&seeds, &tracer.domain_box(), tracer.field)?;
        (found.iter().map(Option::is_some).collect(), "mesh")
    } else {
        let found = positions.positions.iter().map(obstacles::allowed(tracer)?);
        (found.collect(), "allowed side of the obstacles")
    };
    let Some(first) = found.iter().position(|found| !found) else { return Ok(positions) };
    let outside = found.iter().filter(|found| !**found).count();
    let is_given = inlet.pattern() == Pattern::Lattice || inlet.tracked().is_some();
    let is_drawn = positions.stride != 0 && !is_given;
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
