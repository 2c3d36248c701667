//! The sources of particles in pictures and on pages: blocks of seeds, and sources.

use super::run_results::Results;
use crate::notes;
use burntrace_plot::page::Sources;
use serde::Serialize;
use serde_json::Value;

/// A name and a number of slots.
type Group = (String, usize);

/// The source of each particle, by its slot: seeds come first, block by block, then sources. `None` if there is one only, or
/// if the case does not say which slots each has.
pub fn of_particles(results: &Results, particles: &[u32]) -> Option<Sources> {
    let groups = groups(results)?;
    let given: usize = groups.iter().map(|(_, slots)| slots).sum();
    let slots = results.tracks.num_particles();
    if given != slots {
        notes::note(format!(
            "particles cannot be told apart by their source: the seeds and sources of the case have {given} \
             slots, and the tracks have {slots}"
        ));
        return None;
    }
    let (mut ends, mut end) = (Vec::new(), 0);
    for (_, slots) in &groups {
        end += slots;
        ends.push(end);
    }
    let code = |&slot: &u32| ends.partition_point(|&end| end <= slot as usize) as u16;
    let codes = particles.iter().map(code).collect();
    Some(Sources { names: groups.into_iter().map(|(name, _)| name).collect(), codes })
}

/// The blocks of seeds and the sources of a case, if there are several.
fn groups(results: &Results) -> Option<Vec<Group>> {
    let case = results.case.as_ref()?;
    if case.seeds.len() + case.source.len() < 2 {
        return None;
    }
    let blocks = block_sizes(results, case.trace.span.t0, case.trace.span.t1);
    let names = case.seeds.iter().enumerate().map(|(k, seeds)| numbered("Seeds", k, &kind(seeds)));
    let mut groups: Vec<Group> = names.zip(blocks).collect();
    for (k, source) in case.source.iter().enumerate() {
        groups.push((numbered("Source", k, &kind(&source.inlet)), source.capacity()));
    }
    Some(groups)
}

/// The number of seeds of each block. One of a file, which is not read, has the rest.
fn block_sizes(results: &Results, start: Option<f64>, end: Option<f64>) -> Vec<usize> {
    let number = |name: &str| results.summary[name].as_f64();
    let span = [start.or(number("t0")), end.or(number("time"))];
    let blocks = results.case.iter().flat_map(|case| &case.seeds);
    let mut sizes: Vec<usize> = blocks.map(|seeds| seeds.count(span)).collect();
    let all = results.summary["seeds"].as_u64().unwrap_or(0) as usize;
    let rest = all.saturating_sub(sizes.iter().sum());
    let mut unknown = sizes.iter_mut().filter(|size| **size == 0);
    if let (Some(first), None) = (unknown.next(), unknown.next()) {
        *first = rest;
    }
    sizes
}

/// The number from 1, with what it is in brackets.
fn numbered(what: &str, index: usize, kind: &str) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
    format!("{what} {}{kind}", index + 1)
}

/// The kind of seeds or of an inlet, with its face or patch.
fn kind(value: &impl Serialize) -> String {
    let keys = serde_json::to_value(value).unwrap_or_default();
    let texts = ["kind", "face", "patch"].map(|key| keys.get(key).and_then(Value::as_str));
    texts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
