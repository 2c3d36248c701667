//! How particles end.

use super::Rows;
use crate::Status;
use burntrace_io::{Result, Tracks};
use burntrace_plot::{Attribute, Trajectories};

/// The name of the attribute with the status that each particle ends with, on all of its track: active if it has not ended.
pub const STATUS: &str = "status";

/// The statuses that particles end with, as categories, the most frequent first.
pub(super) fn at_ends(rows: &Rows, slots: &[usize]) -> Attribute {
    let columns = slots.len().max(1);
    let mut codes: Vec<Option<u8>> = vec![None; rows.codes.len()];
    for i in (0..codes.len()).rev().filter(|i| rows.generations[*i] >= 0) {
        let generation = rows.generations[i];
        let next = i + columns;
        codes[i] = match rows.generations.get(next) == Some(&generation) {
            true => codes[next],
            // A particle may end between two saves, and another one take its slot.
            false => {
                let of_instance = rows.ends.instances.get(&(slots[i % columns], generation));
                Some(of_instance.map_or(rows.codes[i], |of| of.status.code() as u8))
            }
        };
    }
    categories(&codes)
}

/// An attribute of status codes, the most frequent first.
fn categories(codes: &[Option<u8>]) -> Attribute {
    let mut counts = [0_usize; 256];
    codes.iter().flatten().for_each(|code| counts[usize::from(*code)] += 1);
    let mut known: Vec<u8> = (0..=u8::MAX).filter(|code| counts[usize::from(*code)] > 0).collect();
    known.sort_by_key(|code| std::cmp::Reverse(counts[usize::from(*code)]));
    let value = |code: &Option<u8>| {
        let index = code.and_then(|code| known.iter().position(|known| *known == code));
        index.map_or(f32::NAN, |index| index as f32)
    };
    let name = |code: &u8| {
        Status::from_code(i32::from(*code)).map_or_else(|| code.to_string(), |of| of.to_string())
    };
    Attribute {
        name: STATUS.into(),
        unit: String::new(),
        values: codes.iter().map(value).collect(),
        categories: known.iter().map(name).collect(),
    }
}

/// Where particles ended, as trajectories of a single save, coloured by [`STATUS`]: at most `most` of them, evenly chosen in
/// their order. `domain` has the low and the high corner of what a picture shows. `None` if no particle has ended.
///
/// # Errors
///
/// If the store cannot be read.
pub fn end_positions(
    tracks: &Tracks,
    domain: [[f64; 3]; 2],
    most: usize,
) -> Result<Option<Trajectories>> {
    let Some(last) = tracks.num_saves().checked_sub(1) else { return Ok(None) };
    let mut ends: Vec<([f64; 3], u8, usize)> = Vec::new();
    match tracks.instances() {
        Some(instances) => {
            for instance in instances {
                let of = instance?;
                ends.push((of.end_position, of.status.code() as u8, of.slot));
            }
        }
        None => {
            let positions = tracks.position(last)?.into_iter().zip(tracks.status(last)?);
            ends.extend(
                positions.zip(0..).map(|((at, status), slot)| (at, status.code() as u8, slot)),
            );
        }
    }
    let has_ended = |code: u8| Status::from_code(i32::from(code)).is_some_and(Status::has_ended);
    ends.retain(|(at, code, _)| has_ended(*code) && at.iter().all(|x| x.is_finite()));
    let all = ends.len();
    if all == 0 {
        return Ok(None);
    }
    let shown: Vec<_> = ends.into_iter().step_by(all.div_ceil(most.max(1))).collect();
    let codes: Vec<Option<u8>> = shown.iter().map(|(_, code, _)| Some(*code)).collect();
    let (units, time) = (tracks.units(), tracks.times()[last]);
    let date = units.origin_of_seconds().and_then(|origin| origin.date_of(time));
    Ok(Some(Trajectories {
        times: vec![time],
        dates: date.into_iter().collect(),
        particles: shown.iter().map(|(_, _, slot)| *slot as u32).collect(),
        position: shown.iter().map(|(at, _, _)| *at).collect(),
        joined: vec![false; shown.len()],
        active: vec![true; shown.len()],
        attributes: vec![categories(&codes)],
        domain,
        axes: units.axes(),
        length_unit: units.length,
        time_unit: units.time,
        run_size: [all, 1],
        ..Trajectories::default()
    }))
}
