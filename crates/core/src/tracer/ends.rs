//! The account of a run: what has become of each particle, and when.

use super::start::Start;
use crate::{
    Ends, Error, Field, MeshFace, Result, Status,
    schedule::{NEVER, Schedule},
};
use burntrace_kernels::{Particles, RECORD, status::BROKEN_OFF};

pub(super) struct Account {
    pub ends: Ends,
    pub counts: Vec<(Status, usize)>,
    pub particle_steps: u64,
}

/// Reads the particles' records back and counts. A tensor that nobody else holds is not copied.
pub(super) fn account(
    particles: Particles,
    schedule: &Schedule,
    start: &Start,
    (field, steps): (&dyn Field, u64),
) -> Result<Account> {
    let failed = |error: &dyn std::fmt::Debug| Error::Execution(format!("{error:?}"));
    let records = particles.record.try_into_data().map_err(|e| failed(&e))?;
    let records = records.convert::<i32>().try_to_vec::<i32>().map_err(|e| failed(&e))?;
    let fractions = particles.fraction.try_into_data().map_err(|e| failed(&e))?;
    let fractions = fractions.convert::<f64>().try_to_vec::<f64>().map_err(|e| failed(&e))?;
    let mut ends = Ends::default();
    let mut counts = Status::ALL.map(|status| (status, 0));
    let mut particle_steps = 0;
    let mut events = Vec::with_capacity(fractions.len());
    for (i, record) in records.chunks_exact(RECORD).enumerate() {
        let status = Status::from_code(record[0]).ok_or_else(|| no_status(i, record[0]))?;
        ends.status.push(status);
        if field.mesh().is_some() {
            ends.mesh_face.push(mesh_face(status, record[5] as usize, field));
        }
        if let Some(entry) = counts.iter_mut().find(|(of, _)| *of == status) {
            entry.1 += 1;
        }
        let is_timed = status.has_ended() && status != Status::NotLocated;
        let last = if is_timed { record[1] as u64 + 1 } else { steps };
        if status != Status::Waiting && status != Status::NotLocated {
            particle_steps += last.saturating_sub(start.release_steps[i]);
        }
        events.push(if is_timed { (record[1] as u64, fractions[i]) } else { (NEVER, 0.0) });
        let was_released = status != Status::Waiting;
        ends.release_time.push(if was_released { start.release_times[i] } else { f64::NAN });
    }
    ends.end_time = schedule.times_of(&events);
    for (i, status) in ends.status.iter().enumerate() {
        if *status == Status::NotLocated {
            ends.end_time[i] = start.release_times[i];
        }
    }
    Ok(Account {
        ends,
        counts: counts.into_iter().filter(|(_, count)| *count > 0).collect(),
        particle_steps,
    })
}

/// The face through which a particle left the mesh, from what its record keeps.
fn mesh_face(status: Status, kept: usize, field: &dyn Field) -> Option<MeshFace> {
    // What others keep there is no cell.
    (status == Status::LeftMesh)
        .then(|| MeshFace { cell: field.source_cell(kept / 8), face: kept % 8 })
}

fn no_status(particle: usize, code: i32) -> Error {
    Error::Execution(match code {
        BROKEN_OFF => format!(
            "the device broke off the steps of particle {particle}: its loops are too short for \
             this field (software rasterisers end them after 65,535 rounds); use another device"
        ),
        _ => format!("particle {particle} has status {code}, which there is none of"),
    })
}
