//! Who crossed the gates of a run in a folder.

use anyhow::Result;
use burntrace_analysis::gates::{
    GatePassages, PassageStatistics, Passages, Probability, Spread, Visitor,
};
use burntrace_core::{Domain, Ends, Gate};
use burntrace_io::Tracks;
use serde_json::{Map, Value, json};

/// The statistics of the gates of a finished run in a domain, which ended at a time.
pub fn passages(
    tracks: &Tracks,
    gates: Vec<Gate>,
    (domain, end): (&Domain, f64),
) -> Result<PassageStatistics> {
    Ok(passages_within(tracks, gates, (domain, end), &[])?.0)
}

/// The same, with the probabilities of getting to each gate within some times since the release.
pub fn passages_within(
    tracks: &Tracks,
    gates: Vec<Gate>,
    (domain, end): (&Domain, f64),
    within: &[f64],
) -> Result<(PassageStatistics, Vec<Probability>)> {
    let gates: Vec<Gate> = gates.into_iter().map(|gate| gate.extended(domain)).collect();
    let mut passages = Passages::new(&gates);
    for crossings in tracks.crossings() {
        passages.add(&crossings?);
    }
    let visitors = visitors(tracks, end)?;
    let of_time = |time: &f64| passages.within(*time, visitors.iter().copied(), end);
    let probabilities = within.iter().flat_map(of_time).collect();
    Ok((passages.result(visitors), probabilities))
}

/// The released particles of a run.
fn visitors(tracks: &Tracks, last: f64) -> Result<Vec<Visitor>> {
    let end = |time: f64| if time.is_nan() { last } else { time };
    if let Some(instances) = tracks.instances() {
        let visitor = |of: burntrace_core::ParticleInstance| Visitor {
            slot: of.slot,
            generation: of.generation,
            release_time: of.release_time,
            release_position: of.release_position,
            end_time: end(of.end_time),
        };
        return instances.map(|instance| Ok(visitor(instance?))).collect();
    }
    let Ends { release_time, end_time, .. } = tracks.ends()?;
    let positions = tracks.release_positions(0..tracks.num_particles())?;
    let visitor = |(slot, release_position): (usize, [f64; 3])| {
        let (release_time, end_time) = (release_time[slot], end(end_time[slot]));
        Visitor { slot, generation: 0, release_time, release_position, end_time }
    };
    let all = positions.into_iter().enumerate().map(visitor);
    Ok(all.filter(|visitor| !visitor.release_time.is_nan()).collect())
}

/// The entries `gates` and `connectivity` of `summary.json`.
pub fn json(statistics: &PassageStatistics) -> Map<String, Value> {
    let gates = statistics.gates.iter().map(|gate| (gate.name.clone(), json_of(gate)));
    let mut entries = Map::new();
    entries.insert("gates".into(), Value::Object(gates.collect()));
    if let Some(connectivity) = &statistics.connectivity {
        let (regions, ended) = (&connectivity.regions, &connectivity.ended);
        let reached = &connectivity.reached;
        let value = json!({ "regions": regions, "ended": ended, "reached": reached });
        entries.insert("connectivity".into(), value);
    }
    entries
}

fn json_of(gate: &GatePassages) -> Value {
    let spread = |spread: &Option<Spread>| {
        spread.map_or(Value::Null, |Spread { count, mean, min, median, max }| {
            json!({ "count": count, "mean": mean, "min": min, "median": median, "max": max })
        })
    };
    let mut value = json!({
        "forward": gate.forward,
        "backward": gate.backward,
        "particles": gate.particles,
        "first_passage": spread(&gate.first_passage),
    });
    if gate.is_region {
        value["started"] = gate.started.into();
        value["visits"] = gate.visits.into();
        value["residence"] = spread(&gate.residence);
    }
    value
}
