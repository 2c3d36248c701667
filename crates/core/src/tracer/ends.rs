//! Final statuses of the particles, and the counts derived from them.

use super::{rows::Rows, slots, start::Releases};
use crate::{
    Ends, Error, Field, MeshFace, ParticleInstance, Result, Status,
    schedule::{EVENTS, NEVER, Schedule},
};
use burn::tensor::{Tensor, TensorData};
use burntrace_kernels::{FaceTags, MeshPatch, Record, status::BROKEN_OFF};
use rayon::prelude::*;

/// Releases of all particle instances: of the seeds, and in re-used slots.
pub(super) struct Slots<'a> {
    pub releases: &'a Releases,
    pub again: Option<&'a slots::Slots>,
    /// Patches of the mesh boundary, and the tags of its faces.
    pub patches: &'a [MeshPatch],
    pub faces: Option<&'a FaceTags>,
    /// Whether the run has obstacles.
    pub have_obstacles: bool,
    /// Number of conditions that stop particles.
    pub conditions: usize,
}

#[derive(Default)]
pub(super) struct Account {
    pub ends: Ends,
    /// The last instance of each re-used slot.
    pub instances: Vec<ParticleInstance>,
    pub counts: Vec<(Status, usize)>,
    /// Number of particles that left the mesh, by patch.
    pub patches: Vec<usize>,
    /// Number of particles that were stopped, by condition.
    pub conditions: Vec<usize>,
    pub released: usize,
    pub dropped: usize,
    pub particle_steps: u64,
    /// Steps accepted and rejected.
    pub tries: [u64; 2],
}

/// Counts particles by their final status.
pub(super) fn account(
    rows: &Rows,
    schedule: &Schedule,
    slots: &Slots,
    (field, steps): (&dyn Field, u64),
) -> Result<Account> {
    let mut account = Account::empty(rows.count());
    // Some at a time, to bound the memory of what threads count.
    for block in Record::from_numbers(&rows.record).chunks(EVENTS) {
        let first = account.ends.status.len();
        let parts = block.par_chunks(PART).enumerate().map(|(k, records)| {
            Part { first: first + k * PART, records, rows, schedule, slots }.account((field, steps))
        });
        for part in parts.collect::<Vec<_>>() {
            account.append(part?);
        }
    }
    let mut counts = std::mem::take(&mut account.counts);
    account.add_instances(slots, rows, &mut counts);
    account.patches = slots.left_through(&account.ends);
    account.conditions = account.patches.split_off(slots.patches.len());
    account.counts = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    account.check()?;
    Ok(account)
}

/// Number of particles that a thread counts at a time.
const PART: usize = 1 << 16;

/// Some of the particles.
struct Part<'a> {
    first: usize,
    records: &'a [Record],
    rows: &'a Rows,
    schedule: &'a Schedule,
    slots: &'a Slots<'a>,
}

impl Part<'_> {
    fn account(&self, (field, steps): (&dyn Field, u64)) -> Result<Account> {
        let mut account = Account::empty(self.records.len());
        let mut events = Vec::with_capacity(self.records.len());
        for (i, record) in (self.first..).zip(self.records) {
            let code = record.status;
            let status = Status::from_code(code).ok_or_else(|| no_status(i, code))?;
            account.ends.status.push(status);
            if field.mesh().is_some() {
                account.ends.mesh_face.push(mesh_face(status, record.location, field));
            }
            if self.slots.have_obstacles {
                let may_be_at_one = matches!(status, Status::Stuck | Status::HitObstacle);
                let obstacle = usize::try_from(record.location).ok();
                account.ends.obstacle.push(obstacle.filter(|_| may_be_at_one));
            }
            if !self.slots.patches.is_empty() {
                let position = || self.rows.position(i);
                account.ends.patch.push(self.slots.patch(status, record, position));
            }
            if self.slots.conditions > 0 {
                account.ends.condition.push(condition(status, record));
            }
            if let Some(entry) = account.counts.iter_mut().find(|(of, _)| *of == status) {
                entry.1 += 1;
            }
            let (release, release_step) = self.slots.release(i);
            let last = if status.has_ended() { record.step as u64 + 1 } else { steps };
            if status.is_released() {
                account.particle_steps += last.saturating_sub(release_step);
            }
            let event = (record.step as u64, self.rows.fraction.get(i));
            events.push(if status.has_ended() { event } else { (NEVER, 0.0) });
            for (sum, tries) in account.tries.iter_mut().zip([record.accepted, record.rejected]) {
                *sum += tries as u64;
            }
            account.released += usize::from(status.is_released()) + record.generation as usize;
            account.ends.release_time.push(if status.is_released() { release } else { f64::NAN });
        }
        account.ends.end_time = self.schedule.times_of(&events);
        Ok(account)
    }
}

/// The end times `[n]` as a tensor in the graph of the `fraction` of each end; NaN for a particle that has not ended.
/// Times of steps are constants.
pub(super) fn times_in_graph(
    fraction: Tensor<1>,
    rows: &Rows,
    ends: &Ends,
    schedule: &Schedule,
) -> Tensor<1> {
    let records = Record::from_numbers(&rows.record).iter();
    let at = |part: f64| {
        let event = |(record, status): (&Record, &Status)| match status.has_ended() {
            true => (record.step as u64, part),
            false => (NEVER, 0.0),
        };
        schedule.times_of(&records.clone().zip(&ends.status).map(event).collect::<Vec<_>>())
    };
    let lengths = at(0.0).into_iter().zip(at(1.0)).map(|(start, end)| end - start);
    let lengths = lengths.map(|length| if length.is_nan() { 0.0 } else { length }).collect();
    let beside = (&fraction.device(), fraction.dtype());
    let tensor = |numbers: Vec<f64>| {
        let data = TensorData::new(numbers, [ends.status.len()]);
        Tensor::<1>::from_data(data, beside)
    };
    let change = (fraction.clone() - fraction.clone().detach()) * tensor(lengths);
    tensor(ends.end_time.clone()) + change
}

impl Account {
    /// Of no particles, with room for some.
    fn empty(particles: usize) -> Self {
        let mut ends = Ends::default();
        ends.status.reserve_exact(particles);
        ends.release_time.reserve_exact(particles);
        ends.end_time.reserve_exact(particles);
        let counts = Status::ALL.map(|status| (status, 0)).to_vec();
        Account { ends, counts, ..Account::default() }
    }

    /// Adds the particles that follow.
    fn append(&mut self, next: Account) {
        let (ends, more) = (&mut self.ends, next.ends);
        ends.status.extend(more.status);
        ends.release_time.extend(more.release_time);
        ends.end_time.extend(more.end_time);
        ends.mesh_face.extend(more.mesh_face);
        ends.obstacle.extend(more.obstacle);
        ends.patch.extend(more.patch);
        ends.condition.extend(more.condition);
        self.counts.iter_mut().zip(next.counts).for_each(|(sum, (_, count))| sum.1 += count);
        self.tries.iter_mut().zip(next.tries).for_each(|(sum, tries)| *sum += tries);
        self.particle_steps += next.particle_steps;
        self.released += next.released;
    }

    /// Adds the instances before the last one of each slot to the counts, and the last ones as
    /// rows.
    fn add_instances(&mut self, slots: &Slots, rows: &Rows, counts: &mut [(Status, usize)]) {
        let Some(again) = slots.again else { return };
        for (status, ended) in again.ended() {
            if let Some(entry) = counts.iter_mut().find(|(of, _)| of == status) {
                entry.1 += ended;
            }
            // A generation is counted as released; one in a hole of the field was not.
            if *status == Status::NotLocated {
                self.released -= ended;
            }
        }
        self.particle_steps += again.particle_steps();
        for (slot, status) in self.ends.status.iter().enumerate() {
            let (_, _, generation, release_position) = again.present(slot);
            self.ends.generation.push(generation);
            if status.is_released() {
                self.instances.push(ParticleInstance {
                    slot,
                    generation,
                    status: *status,
                    release_time: self.ends.release_time[slot],
                    release_position,
                    end_time: self.ends.end_time[slot],
                    end_position: again.plain(rows.position(slot)),
                });
            }
        }
        self.dropped = again.dropped() as usize;
    }

    /// Checks that released = active + ended, each counted independently.
    fn check(&self) -> Result<()> {
        let of = |(status, _): &&(Status, usize)| status.is_released();
        let counted: usize = self.counts.iter().filter(of).map(|(_, count)| count).sum();
        if counted == self.released {
            return Ok(());
        }
        Err(Error::Execution(format!(
            "the counts do not add up: {} particles were released, but {counted} are active or \
             ended",
            self.released
        )))
    }
}

impl Account {
    /// Refuses particles that were lost because a velocity is not finite.
    pub fn check_finite(&self, schedule: &Schedule) -> Result<()> {
        let of =
            |(status, count): &(Status, usize)| (*status == Status::NonFinite).then_some(*count);
        let Some(count) = self.counts.iter().find_map(of) else { return Ok(()) };
        let lost = self.ends.status.iter().zip(&self.ends.end_time).enumerate();
        let lost = lost.filter(|(_, (status, _))| **status == Status::NonFinite);
        let since = |time: &f64| (time - schedule.span.t0).abs();
        let first = lost.min_by(|(_, (_, a)), (_, (_, b))| since(a).total_cmp(&since(b)));
        let (first, time) = first.map_or((0, f64::NAN), |(slot, (_, time))| (slot, *time));
        Err(Error::Lost { count, first, time })
    }
}

impl Slots<'_> {
    /// Whether final positions are needed.
    pub fn need_positions(&self) -> bool {
        self.again.is_some() || !self.patches.is_empty()
    }

    /// Number of particles that left the mesh, by patch, then of those that were stopped, by condition; over all instances.
    fn left_through(&self, ends: &Ends) -> Vec<usize> {
        let mut counts = match self.again {
            Some(again) => again.left_through().to_vec(),
            None => vec![0; self.patches.len() + self.conditions],
        };
        let conditions = ends.condition.iter().flatten().map(|number| self.patches.len() + number);
        let places = ends.patch.iter().flatten().copied().chain(conditions);
        places.for_each(|place| counts[place] += 1);
        counts
    }

    /// The patch through which a particle left the mesh, if it did.
    fn patch(
        &self,
        status: Status,
        record: &Record,
        position: impl Fn() -> [f64; 3],
    ) -> Option<usize> {
        if status != Status::LeftMesh {
            return None;
        }
        let tag = self.faces.map_or(0, |faces| faces.of(record.location));
        MeshPatch::at(self.patches, position(), tag)
    }

    /// Time and step of the release of a slot's last instance.
    fn release(&self, slot: usize) -> (f64, u64) {
        match self.again {
            Some(again) => {
                let (time, step, ..) = again.present(slot);
                (time, step)
            }
            None => self.releases.of(slot),
        }
    }
}

/// The condition that stopped a particle, if one did.
fn condition(status: Status, record: &Record) -> Option<usize> {
    let number = usize::try_from(record.location).ok();
    number.filter(|_| status == Status::Stopped)
}

/// The mesh face through which a particle left, decoded from its record; `None` if it left through a
/// periodic face of the domain box, behind which there is no mesh.
fn mesh_face(status: Status, code: i32, field: &dyn Field) -> Option<MeshFace> {
    // For other statuses, the column contains no face.
    let code = usize::try_from(code).ok().filter(|_| status == Status::LeftMesh);
    code.map(|code| MeshFace { cell: field.source_cell(code / 8), face: code % 8 })
}

fn no_status(particle: usize, code: i32) -> Error {
    Error::Execution(match code {
        BROKEN_OFF => format!(
            "the device ended a loop of particle {particle} early: its limit is too small for this \
             field (software rasterisers stop after 65,535 iterations); use another device"
        ),
        _ => format!("particle {particle} has the unknown status code {code}"),
    })
}
