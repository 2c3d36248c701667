//! Re-use of slots: re-injection after an end, and releases from sources.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod slots {
    use crate::physics::{
        mesh_path::both::patch_at,
        particle::both::Particle,
        tables::{
            AFTER, INLET_COLUMNS, INLETS_AT, PATCH_COLUMNS, PATCH_INLET, PATCHES_AT, RELEASES_AT,
            SOURCE_COLUMNS, SOURCES, SOURCES_AT,
        },
    };
    use crate::{
        NEVER,
        status::{ACTIVE, LEFT_MESH, WAITING},
    };

    /// Assigns the first release of this launch, if any, to an idle slot of a source.
    pub(crate) fn assign_first_release<F: Float>(
        launch: &Launch<F>,
        particle: &mut Particle<F>,
        slot: u32,
    ) {
        if particle.status == WAITING && particle.step == NEVER {
            // Before all releases.
            particle.step = i32::new(-1);
            wait_for_release::<F>(launch, particle, slot);
        }
    }

    /// Whether a particle has ended and is followed by another one in its slot.
    pub(crate) fn is_followed<F: Float>(
        launch: &Launch<F>,
        particle: &mut Particle<F>,
        slot: u32,
    ) -> bool {
        let mut is_followed = false;
        if particle.status > ACTIVE {
            let inlet = inlet_after::<F>(launch, particle);
            is_followed = inlet >= 0 || source::<F>(launch, slot) >= 0;
        }
        is_followed
    }

    /// Replaces a particle that [is followed](is_followed) by the next one, which waits for its
    /// release.
    pub(crate) fn succeed<F: Float>(launch: &Launch<F>, particle: &mut Particle<F>, slot: u32) {
        let inlet = inlet_after::<F>(launch, particle);
        particle.status = i32::new(WAITING as i64);
        particle.image_x = 0i32;
        particle.image_y = 0i32;
        particle.image_z = 0i32;
        particle.location = 0i32;
        particle.generation = next_number(particle.generation);
        if inlet >= 0 {
            place_at_inlet::<F>(launch, particle, inlet, slot);
        } else {
            wait_for_release::<F>(launch, particle, slot);
        }
    }

    /// The inlet of immediate re-injection for an ended particle, or -1.
    pub(crate) fn inlet_after<F: Float>(launch: &Launch<F>, particle: &mut Particle<F>) -> i32 {
        let mut inlet = launch.int(AFTER + particle.status as usize);
        if particle.status == LEFT_MESH {
            let patch = patch_at::<F>(launch, particle.position, particle.location);
            if patch >= 0 {
                let row = launch.int(PATCHES_AT) + patch * comptime!(PATCH_COLUMNS as i32);
                inlet = launch.int(row as usize + PATCH_INLET);
            }
        }
        inlet
    }

    /// The source that a slot belongs to, or -1.
    pub(crate) fn source<F: Float>(launch: &Launch<F>, slot: u32) -> i32 {
        let mut found = i32::new(-1);
        for s in 0..launch.int(SOURCES) {
            let at = (launch.int(SOURCES_AT) + s * comptime!(SOURCE_COLUMNS as i32)) as usize;
            let local = slot as i32 - launch.int(at);
            if local >= 0 && local < launch.int(at + 1) {
                found = s;
            }
        }
        found
    }

    /// Schedules the next release of a source's slot, at its position on the inlet.
    fn wait_for_release<F: Float>(launch: &Launch<F>, particle: &mut Particle<F>, slot: u32) {
        let mut next = i32::new(NEVER as i64);
        let mut next_fraction = F::new(0.0_f32);
        let source = source::<F>(launch, slot);
        if source >= 0 {
            let row = launch.int(SOURCES_AT) + source * comptime!(SOURCE_COLUMNS as i32);
            let at = row as usize;
            let slots = launch.int(at + 1);
            let local = slot as i32 - launch.int(at);
            let count = launch.int(at + 4);
            let mut k = (local + slots - launch.int(at + 3)) % slots;
            while k < count {
                let step = launch.int((launch.int(at + 5) + k) as usize);
                let fraction_at = launch.int(RELEASES_AT) + launch.int(at + 6) + k;
                let fraction = launch.float(fraction_at as usize);
                let is_later = step > particle.step;
                if is_later || (step == particle.step && fraction > particle.fraction) {
                    next = step;
                    next_fraction = fraction;
                    place_at_inlet::<F>(launch, particle, launch.int(at + 2), local as u32);
                    k = count;
                } else {
                    k += slots;
                }
            }
        }
        particle.step = next;
        particle.fraction = next_fraction;
    }

    /// Puts a particle at the position of its instance on an inlet.
    pub(crate) fn place_at_inlet<F: Float>(
        launch: &Launch<F>,
        particle: &mut Particle<F>,
        inlet: i32,
        number: u32,
    ) {
        let row = row_at_inlet::<F>(launch, inlet, number, particle.generation);
        particle.position = launch.row(row);
        particle.rest = Vec3::<F>::new(F::new(0.0_f32));
    }

    /// The row of the position at which an instance starts on an inlet.
    pub(crate) fn row_at_inlet<F: Float>(
        launch: &Launch<F>,
        inlet: i32,
        number: u32,
        generation: i32,
    ) -> usize {
        let at = (launch.int(INLETS_AT) + inlet * comptime!(INLET_COLUMNS as i32)) as usize;
        let scattered = wrapping_product(number, launch.int(at + 2) as u32);
        let strode = wrapping_product(generation as u32, launch.int(at + 3) as u32);
        let offset = wrapping_sum(scattered, strode) % (launch.int(at + 1) as u32);
        launch.int(at) as usize + offset as usize
    }
}
