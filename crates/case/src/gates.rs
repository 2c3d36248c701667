//! Who crossed the gates of a run in a folder.

use anyhow::Result;
use burntrace_analysis::gates::{
    GatePassages, PassageStatistics, Passages, Probability, Spread, Visitor,
};
use burntrace_core::{Domain, Ends, Gate, Status};
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

/// The same, with the probabilities of getting to each gate, and of each way in which particles ended, within some times since the release.
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
    let all = visitors(tracks, end)?;
    let visitors = || all.iter().map(|(visitor, _)| *visitor);
    if within.is_empty() {
        return Ok((passages.result(visitors()), Vec::new()));
    }
    let ended = Status::ALL.into_iter().filter(|status| status.has_ended());
    let occurs = |status: &Status| all.iter().any(|(_, other)| other == status);
    let ended: Vec<Status> = ended.filter(occurs).collect();
    let of_end = |time: f64, status: Status| {
        let end_of = |(visitor, other): &(Visitor, Status)| {
            (visitor.release_time, (*other == status).then_some(visitor.end_time))
        };
        Probability::of_end(status.to_string(), time, all.iter().map(end_of), end)
    };
    let of_time = |time: &f64| {
        let ends = ended.iter().map(|status| of_end(*time, *status));
        passages.within(*time, visitors(), end).into_iter().chain(ends).collect::<Vec<_>>()
    };
    let probabilities = within.iter().flat_map(of_time).collect();
    Ok((passages.result(visitors()), probabilities))
}

/// The released particles of a run, with what became of them.
fn visitors(tracks: &Tracks, last: f64) -> Result<Vec<(Visitor, Status)>> {
    let end = |time: f64| if time.is_nan() { last } else { time };
    if let Some(instances) = tracks.instances() {
        let visitor = |of: burntrace_core::ParticleInstance| {
            let visitor = Visitor {
                slot: of.slot,
                generation: of.generation,
                release_time: of.release_time,
                release_position: of.release_position,
                end_time: end(of.end_time),
            };
            (visitor, of.status)
        };
        return instances.map(|instance| Ok(visitor(instance?))).collect();
    }
    let Ends { release_time, end_time, status, .. } = tracks.ends()?;
    let positions = tracks.release_positions(0..tracks.num_particles())?;
    let visitor = |(slot, release_position): (usize, [f64; 3])| {
        let (release_time, end_time) = (release_time[slot], end(end_time[slot]));
        let visitor = Visitor { slot, generation: 0, release_time, release_position, end_time };
        (visitor, status[slot])
    };
    let all = positions.into_iter().enumerate().map(visitor);
    Ok(all.filter(|(visitor, _)| !visitor.release_time.is_nan()).collect())
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
