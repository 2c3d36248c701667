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
    let name = |code: u8| {
        Status::from_code(i32::from(code)).map_or_else(|| code.to_string(), |of| of.to_string())
    };
    by_frequency(codes.iter().map(|code| code.map(name)))
}

/// An attribute of names, the most frequent first.
fn by_frequency(names: impl Iterator<Item = Option<String>>) -> Attribute {
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut index_of = |name: String| match counts.iter().position(|(known, _)| *known == name) {
        Some(index) => {
            counts[index].1 += 1;
            index
        }
        None => {
            counts.push((name, 1));
            counts.len() - 1
        }
    };
    let indices: Vec<Option<usize>> = names.map(|name| name.map(&mut index_of)).collect();
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(counts[*index].1));
    let rank = |index: usize| order.iter().position(|other| *other == index);
    let value = |index: Option<usize>| index.and_then(rank).map_or(f32::NAN, |rank| rank as f32);
    Attribute {
        name: STATUS.into(),
        unit: String::new(),
        values: indices.into_iter().map(value).collect(),
        categories: order.iter().map(|index| counts[*index].0.clone()).collect(),
    }
}

/// Tells statuses apart further: `details` says more of the ends of particles by their slots, such as `left the mesh: outlet`. Does nothing for
/// trajectories without the attribute [`STATUS`].
pub fn add_details(trajectories: &mut Trajectories, details: &[Option<String>]) {
    let slots = &trajectories.particles;
    for attribute in trajectories.attributes.iter_mut().filter(|of| of.name == STATUS) {
        let detailed = |(i, value): (usize, &f32)| {
            let name = attribute.categories.get(*value as usize).filter(|_| *value >= 0.0)?;
            let detail = details.get(slots[i % slots.len()] as usize).and_then(Option::as_ref);
            Some(detail.filter(|detail| detail.starts_with(name.as_str())).unwrap_or(name).clone())
        };
        *attribute = by_frequency(attribute.values.iter().enumerate().map(detailed));
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
