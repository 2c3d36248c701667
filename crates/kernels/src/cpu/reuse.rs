//! Re-use of slots on the host.

use super::{
    launch::{Launch, Region},
    shapes::OfShapes,
};
use crate::{
    FaceTags, NEVER, ReinjectionRules, SlotRules, SourceSlots,
    physics::{
        features::Features,
        particle::host::Particle,
        prelude::host::Vec3,
        region::host::{FoundCell, bisection},
        slots::host::{
            assign_first_release, inlet_after, is_followed, place_at_inlet, source, succeed,
        },
        tables::Tables,
    },
    status::WAITING,
};
use std::sync::Arc;

/// A particle instance, as far as the re-use of its slot depends on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    /// The slot, counted over the whole run.
    pub slot: u32,
    /// Number of instances before it in the slot.
    pub generation: u32,
    /// Its status code.
    pub status: i32,
    /// The step of the run in which it is released or has ended; [`NEVER`] if it has no release in
    /// a launch.
    pub step: i32,
    /// The fraction of that step.
    pub fraction: f64,
    /// Its location, as in [`Particles::record`](crate::Particles::record): the face through which it
    /// left a mesh.
    pub location: i32,
    /// Its position at that time.
    pub position: [f64; 3],
}

impl Instance {
    /// An instance without a release.
    pub fn idle(slot: u32, generation: u32) -> Self {
        let (step, fraction, location, position) = (NEVER, 0.0, 0, [0.0; 3]);
        Instance { slot, generation, status: WAITING, step, fraction, location, position }
    }

    fn particle(&self) -> Particle<f64> {
        Particle {
            position: Vec3(self.position),
            rest: Vec3([0.0; 3]),
            status: self.status,
            step: self.step,
            image_x: 0,
            image_y: 0,
            image_z: 0,
            location: self.location,
            generation: self.generation as i32,
            accepted: 0,
            rejected: 0,
            fraction: self.fraction,
        }
    }

    fn of(particle: &Particle<f64>, slot: u32) -> Self {
        let Particle { position, status, step, generation, fraction, location, .. } = *particle;
        let generation = generation as u32;
        Instance { slot, generation, status, step, fraction, location, position: position.0 }
    }
}

/// Re-use of slots in one launch. Applies the rules on the host with the code of the fused
/// operation, for engines that take steps of their own.
pub struct SlotReuse {
    rules: Arc<SlotRules>,
    tables: Tables,
    positions: Arc<Vec<[f64; 3]>>,
}

impl SlotReuse {
    /// `positions` are those of all inlets.
    pub fn new(reinjection: &ReinjectionRules, positions: Arc<Vec<[f64; 3]>>) -> Self {
        let tables = Tables::of_slots(reinjection);
        SlotReuse { rules: reinjection.slots.clone(), tables, positions }
    }

    fn launch(&self) -> Launch<'_, f64> {
        Launch {
            floats: &self.tables.floats,
            ints: &self.tables.ints,
            rows: &self.positions,
            numbers: &[],
            features: Features::default(),
            region: Some(&*self.rules.faces),
            shapes: OfShapes::Nothing,
        }
    }

    /// An idle instance of a source's slot with its first release in the launch, if it has one.
    pub fn first_release(&self, idle: &Instance) -> Option<Instance> {
        let mut particle = idle.particle();
        assign_first_release(&self.launch(), &mut particle, idle.slot);
        let is_released = idle.step == NEVER && particle.step != NEVER;
        is_released.then(|| Instance::of(&particle, idle.slot))
    }

    /// The instance that follows one that has ended, if any; it waits for its release.
    pub fn next(&self, ended: &Instance) -> Option<Instance> {
        let (launch, mut particle) = (self.launch(), ended.particle());
        if !is_followed(&launch, &mut particle, ended.slot) {
            return None;
        }
        succeed(&launch, &mut particle, ended.slot);
        Some(Instance::of(&particle, ended.slot))
    }

    /// The inlet through which the instance after an ended one is injected at once.
    pub fn inlet_after(&self, ended: &Instance) -> Option<usize> {
        usize::try_from(inlet_after(&self.launch(), &mut ended.particle())).ok()
    }

    /// The source that a slot belongs to.
    pub fn source(&self, slot: u32) -> Option<&SourceSlots> {
        self.rules.sources.get(usize::try_from(source(&self.launch(), slot)).ok()?)
    }

    /// The position at which instance `generation` of a slot starts from an inlet.
    pub fn position_at(&self, inlet: usize, slot: u32, generation: u32) -> [f64; 3] {
        let is_source = !self.rules.is_reinjection_inlet(inlet);
        let source = self.source(slot).filter(|_| is_source);
        let number = slot - source.map_or(0, |source| source.first);
        let mut particle = Instance::idle(slot, generation).particle();
        place_at_inlet(&self.launch(), &mut particle, inlet as i32, number);
        particle.position.0
    }
}

/// The rules need the faces of a mesh, but no cell.
impl Region<f64> for FaceTags {
    fn find_cell(&self, _: [f64; 3], cell: i32, _: i32, _: bool) -> FoundCell {
        FoundCell { is_found: true, cell, face: -1 }
    }

    fn probe(&self, _: [[f64; 3]; 2], [reached, beyond]: [f64; 2], _: i32) -> (f64, bool) {
        (bisection(reached, beyond).part, false)
    }

    fn edge(&self, _: [f64; 3], _: i32) -> (i32, [f64; 3]) {
        (-1, [0.0; 3])
    }

    fn face_tag(&self, face: i32) -> i32 {
        self.of(face)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BoundaryCondition, InletRows, MeshPatch, Releases,
        status::{ACTIVE, LEFT_MESH},
    };

    /// Rules with inlets of five positions each: `(7 * inlet, row, 0)`.
    fn reuse(slots: SlotRules, releases: Vec<Releases>, scatter: [u32; 2]) -> SlotReuse {
        let [scatter, stride] = scatter;
        let inlet = |k: u32| InletRows { first: 5 * k, count: 5, scatter, stride };
        let slots = Arc::new(SlotRules { inlets: (0..8).map(inlet).collect(), ..slots });
        let position = |k: i32| [f64::from(k / 5 * 7), f64::from(k % 5), 0.0];
        let positions = (0..40).map(position).collect();
        let rules = ReinjectionRules { slots, releases, resumes: false };
        SlotReuse::new(&rules, Arc::new(positions))
    }

    fn ended(slot: u32, (step, fraction): (i32, f64)) -> Instance {
        Instance { status: LEFT_MESH, step, fraction, ..Instance::idle(slot, 0) }
    }

    #[test]
    fn releases_are_dealt_to_slots_in_turn() {
        let sources = vec![SourceSlots { first: 10, slots: 3, inlet: 2 }];
        let events = (0..7).map(|k| (k, 0.5)).collect();
        let releases = vec![Releases { first: 4, events }];
        let reuse = reuse(SlotRules { sources, ..SlotRules::default() }, releases, [1, 0]);
        assert_eq!(
            [9, 10, 12, 13].map(|slot| reuse.source(slot).is_some()),
            [false, true, true, false]
        );
        // Numbers 4 to 10; slot 10 has 6 and 9, slot 11 has 4, 7 and 10.
        let first = |slot| reuse.first_release(&Instance::idle(slot, 0));
        let after = |slot, event| reuse.next(&ended(slot, event));
        let event = |of: Option<Instance>| of.map(|next| (next.step, next.fraction));
        assert_eq!(event(first(10)), Some((2, 0.5)));
        assert_eq!(event(after(10, (2, 0.4))), Some((2, 0.5)));
        assert_eq!(event(after(10, (2, 0.5))), Some((5, 0.5)));
        assert_eq!(event(after(10, (5, 0.5))), Some((NEVER, 0.0)));
        assert_eq!(event(first(11)), Some((0, 0.5)));
        assert_eq!([first(9), first(13), after(9, (0, 0.0)), after(13, (0, 0.0))], [None; 4]);
        // The second slot of the source starts at the second position of its inlet.
        assert_eq!(first(11).map(|first| first.position), Some([14.0, 1.0, 0.0]));
        assert_eq!(reuse.position_at(2, 11, 0), [14.0, 1.0, 0.0]);
        let active = Instance { status: ACTIVE, ..ended(10, (0, 0.0)) };
        assert_eq!((first(10).map(|next| next.status), reuse.next(&active)), (Some(WAITING), None));
    }

    #[test]
    fn patch_inlet_overrides_status_inlet() {
        let open = f64::INFINITY;
        let patch = |low: f64| MeshPatch {
            low: [low, -open, -open],
            high: [open; 3],
            tags: None,
            wall: BoundaryCondition::Exit,
        };
        let tagged = MeshPatch { tags: Some(Arc::new([2, 5])), ..patch(-open) };
        let mut rules = SlotRules {
            patches: vec![patch(2.0), patch(1.0), tagged],
            after_patch: vec![Some(4), None, Some(6)],
            faces: Arc::new(FaceTags::new(vec![(9, 5), (8, 3), (3, 2), (4, 77)])),
            ..SlotRules::default()
        };
        rules.after[LEFT_MESH as usize] = Some(7);
        assert!(rules.is_reinjection_inlet(4) && rules.is_reinjection_inlet(7));
        assert!(!rules.is_reinjection_inlet(0));
        let reuse = reuse(rules, Vec::new(), [1, 1]);
        let at = |x: f64| Instance { position: [x, 0.0, 0.0], ..ended(3, (1, 0.5)) };
        let after = [0.5, 1.0, 2.5].map(|x| reuse.inlet_after(&at(x)));
        assert_eq!(after, [Some(7), None, Some(4)]);
        let through = |location: i32| Instance { location, ..at(0.5) };
        let after = [3, 4, 8, 9, -1].map(|face| reuse.inlet_after(&through(face)));
        assert_eq!(after, [Some(6), Some(7), Some(7), Some(6), Some(7)]);
        assert_eq!(reuse.inlet_after(&Instance { location: 3, ..at(2.5) }), Some(4), "the first");
        let other = Instance { status: LEFT_MESH + 1, ..at(2.5) };
        assert_eq!((reuse.inlet_after(&other), reuse.next(&other)), (None, None));
        let next = reuse.next(&at(2.5));
        assert_eq!(next.map(|next| (next.step, next.fraction, next.generation)), Some((1, 0.5, 1)));
        assert_eq!(next.map(|next| next.position), Some([28.0, 4.0, 0.0]));
    }

    #[test]
    fn positions_stay_within_the_inlet() {
        let reuse = |scatter| reuse(SlotRules::default(), Vec::new(), scatter);
        for (slot, generation) in [(0, 0), (4, 9), (u32::MAX, u32::MAX)] {
            let [x, y, _] = reuse([3, 1]).position_at(1, slot, generation);
            assert!(x == 7.0 && (0.0..5.0).contains(&y));
        }
        let own = reuse([1, 0]);
        assert_eq!([0, 77].map(|generation| own.position_at(0, 2, generation)[1]), [2.0, 2.0]);
    }
}
