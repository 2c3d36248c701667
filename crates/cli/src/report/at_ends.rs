//! What particles had at their ends: the scalars that are sampled or add up along the tracks, by where the particles ended.

use crate::{
    file::Case,
    format::{count, four_digits},
    results::Results,
};
use anyhow::Result;
use burntrace::{Ends, Status};
use std::collections::BTreeMap;

/// The row of the particles that have not ended.
const ACTIVE: &str = "active, at the last save";

/// A scalar at the ends of particles.
pub struct AtEnds {
    /// Its name.
    pub name: String,
    /// The place of an end, and the values of the particles that ended there, ascending; last those of the active
    /// particles at the last save.
    places: Vec<(String, Vec<f64>)>,
}

impl AtEnds {
    /// The scalars of a run that is complete, if any particle has ended; in slots that are re-used, of the last particle of each.
    pub fn of(results: &Results) -> Result<Vec<AtEnds>> {
        let tracks = &results.tracks;
        let Some(last) = tracks.num_saves().checked_sub(1).filter(|_| tracks.is_complete()) else {
            return Ok(Vec::new());
        };
        let ends = tracks.ends()?;
        let places = places(results, &ends);
        let mut all = Vec::new();
        for array in tracks.arrays().into_iter().filter(|array| array.components == 1) {
            let values = tracks.array(&array.name, last)?;
            let (mut ended, mut active) = (BTreeMap::<&String, Vec<f64>>::new(), Vec::new());
            for (i, value) in values.into_iter().enumerate().filter(|(_, value)| value.is_finite())
            {
                match &places[i] {
                    Some(place) => ended.entry(place).or_default().push(value),
                    None if ends.status[i] == Status::Active => active.push(value),
                    None => {}
                }
            }
            if !ended.is_empty() {
                let ended = ended.into_iter().map(|(place, values)| (place.clone(), values));
                let active = (ACTIVE.to_string(), active);
                let mut places: Vec<_> =
                    ended.chain([active]).filter(|of| !of.1.is_empty()).collect();
                places.iter_mut().for_each(|of| of.1.sort_unstable_by(f64::total_cmp));
                all.push(AtEnds { name: array.name, places });
            }
        }
        Ok(all)
    }

    /// A row for each place: number of particles, mean, minimum, median and maximum.
    pub fn rows(&self) -> impl Iterator<Item = [String; 6]> {
        self.places.iter().map(|(place, values)| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let [min, median, max] =
                [0, values.len() / 2, values.len() - 1].map(|k| four_digits(values[k]));
            [place.clone(), count(values.len()), four_digits(mean), min, median, max]
        })
    }
}

/// Where the particles of a run that is complete and has a slot for each ended, by slot; empty for other runs.
pub fn places_by_slot(results: &Results) -> Result<Vec<Option<String>>> {
    let tracks = &results.tracks;
    match tracks.is_complete() && tracks.num_instances().is_none() {
        true => Ok(places(results, &tracks.ends()?)),
        false => Ok(Vec::new()),
    }
}

fn places(results: &Results, ends: &Ends) -> Vec<Option<String>> {
    // Those that the program adds, as at coasts, follow those of the case.
    let patches = results.summary["patches"].as_object();
    let patches: Vec<&String> = patches.into_iter().flat_map(|all| all.keys()).collect();
    let place = |i: usize| place(ends, i, (results.case.as_ref(), &patches));
    (0..ends.status.len()).map(place).collect()
}

/// Where a particle ended, in words: its status, with the patch or the condition.
fn place(ends: &Ends, i: usize, (case, patches): (Option<&Case>, &[&String])) -> Option<String> {
    let status = ends.status[i];
    if !status.has_ended() {
        return None;
    }
    let named = |all: &[Option<usize>], name: &dyn Fn(usize) -> Option<String>| {
        all.get(i).copied().flatten().map(|k| name(k).unwrap_or_else(|| k.to_string()))
    };
    let patch = |k: usize| patch(case?, k, patches);
    let condition = |k: usize| case?.trace.stop_when.get(k).map(ToString::to_string);
    let detail = match status {
        Status::LeftMesh => named(&ends.patch, &patch),
        Status::Stopped => named(&ends.condition, &condition),
        _ => None,
    };
    Some(detail.map_or_else(|| status.to_string(), |detail| format!("{status}: {detail}")))
}

/// The name of a patch: of those of the case, or of the summary, whose further ones are those of the program.
fn patch(case: &Case, k: usize, all: &[&String]) -> Option<String> {
    let own = |name: &&&String| !case.patch.iter().any(|patch| patch.name == ***name);
    let more = || all.iter().filter(own).nth(k - case.patch.len()).map(ToString::to_string);
    case.patch.get(k).map(|patch| patch.name.clone()).or_else(more)
}
