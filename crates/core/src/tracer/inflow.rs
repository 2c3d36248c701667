//! Where particles come into a run: the places of its inlets, and who uses which.

use super::{Tracer, obstacles, patches, start};
use crate::{Error, Inlet, Pattern, Result, Sampled, Seeds, field::to_host, inlet};
use burn::tensor::Tensor;
use burntrace_kernels::{InletRows, Lives, SourceSlots};

/// What follows the ends of lives, and the places at which it begins.
#[derive(Debug, Default)]
pub(super) struct Inflow {
    pub lives: Lives,
    /// Places of all inlets, one after another, as the field's precision can hold them.
    pub places: Vec<[f64; 3]>,
}

impl Inflow {
    /// That of a tracer whose run begins at a time.
    pub fn new(tracer: &Tracer, seeds: &Seeds, begin: f64) -> Result<Self> {
        let mut inflow = Inflow::default();
        let of_sources: usize = tracer.sources.iter().map(|source| source.capacity()).sum();
        let slots = seeds.len() + of_sources;
        check_slots(slots)?;
        // Slots of sources have no seeds whose places they could keep.
        let own = if of_sources == 0 { seeds.positions() } else { &[] };
        for (status, inlet) in &tracer.outlets {
            let rows = inflow.open(tracer, inlet, (own, slots), begin)?;
            inflow.lives.after[status.code() as usize] = Some(rows);
        }
        inflow.lives.patches = patches::boxes(tracer);
        for patch in &tracer.patches {
            let open = |inlet| inflow.open(tracer, inlet, (own, slots), begin);
            let rows = patch.inlet().map(open).transpose()?;
            inflow.lives.after_patch.push(rows);
        }
        let mut first = seeds.len();
        for source in &tracer.sources {
            let slots = source.capacity();
            let inlet = inflow.open(tracer, source.inlet(), (&[], slots), begin)?;
            let slots = slots as u32;
            inflow.lives.sources.push(SourceSlots { first: first as u32, slots, inlet });
            first += source.capacity();
        }
        Ok(inflow)
    }

    /// Adds the places of an inlet, and returns its number.
    fn open(
        &mut self,
        tracer: &Tracer,
        inlet: &Inlet,
        (seeds, slots): (&[[f64; 3]], usize),
        begin: f64,
    ) -> Result<usize> {
        let mut velocity = |places: &[[f64; 3]]| velocity(tracer, places, begin);
        let (domain, velocity) = (&tracer.domain, &mut velocity);
        let places = inlet.places(&mut inlet::Request { domain, seeds, slots, velocity })?;
        let places = allowed(tracer, inlet, places, slots)?;
        let precision = tracer.field.precision();
        self.lives.inlets.push(InletRows {
            first: self.places.len() as u32,
            count: places.positions.len() as u32,
            scatter: places.scatter,
            stride: places.stride,
        });
        self.places.extend(places.positions.iter().map(|p| p.map(|x| precision.round(x))));
        check_slots(self.places.len())?;
        Ok(self.lives.inlets.len() - 1)
    }
}

/// How many inlets a tracer has.
pub(super) fn count(tracer: &Tracer) -> usize {
    let of_patches = tracer.patches.iter().filter(|patch| patch.is_outlet()).count();
    tracer.outlets.len() + of_patches + tracer.sources.len()
}

/// The numbers of slots and places fit into an `i32`.
fn check_slots(count: usize) -> Result<()> {
    match i32::try_from(count) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::Inlet(format!(
            "{count} slots or places are too many; the most is {}",
            i32::MAX
        ))),
    }
}

/// The flow at places.
fn velocity(tracer: &Tracer, places: &[[f64; 3]], time: f64) -> Result<Vec<[f64; 3]>> {
    let field = tracer.field;
    let numbers = places.as_flattened().iter().copied();
    let data = field.precision().data(numbers, [places.len(), 3]);
    let position = Tensor::<2>::from_data(data, (&field.device(), field.precision().dtype()));
    let velocity = to_host(&field.velocity(position, time));
    field.sampled().map_or(Ok(()), Sampled::failure)?;
    Ok(velocity)
}

/// The places of an inlet that are in the mesh of the field, if it has one, and on the allowed side
/// of obstacles. Places that are drawn need not all be; those that are given must.
fn allowed(
    tracer: &Tracer,
    inlet: &Inlet,
    places: inlet::Places,
    slots: usize,
) -> Result<inlet::Places> {
    let (found, what): (Vec<bool>, _) = if tracer.field.mesh().is_some() {
        let seeds = Seeds::list(places.positions.clone())?;
        let found = start::cells(&seeds, &tracer.domain, tracer.field)?;
        (found.iter().map(Option::is_some).collect(), "mesh")
    } else {
        let found = places.positions.iter().map(obstacles::allowed(tracer)?);
        (found.collect(), "allowed side of the obstacles")
    };
    let Some(first) = found.iter().position(|found| !found) else { return Ok(places) };
    let outside = found.iter().filter(|found| !**found).count();
    let is_drawn = places.stride != 0 && inlet.pattern() != Pattern::Lattice;
    if !is_drawn || outside == found.len() {
        return Err(Error::Inlet(format!(
            "{outside} of its {} places lie outside the {what}, the first at {:?}; move it into \
             the {what}, or draw its places (`uniform`, `flux`) from a shape that reaches into it",
            found.len(),
            places.positions[first]
        )));
    }
    Ok(places.only(|i| found[i], slots))
}
