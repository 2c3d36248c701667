//! Streaklines: the particles that were released at one position, at a time.

use burntrace_io::{ParticleTimes, Result, SavedStates, Tracks};
use burntrace_plot::{Attribute, Trajectories};
use std::collections::BTreeMap;

/// The streaklines at a save, as trajectories whose columns are positions of release with two releases or more, and whose rows are
/// releases in their order: particles that are active and follow each other are joined. They are coloured by age. `domain` has
/// the low and the high corner of what a picture shows. `None` if no two particles were released at the same position.
///
/// # Errors
///
/// If the store cannot be read.
pub fn streaklines(
    tracks: &Tracks,
    domain: [[f64; 3]; 2],
    save: usize,
) -> Result<Option<Trajectories>> {
    let states = SavedStates::read(tracks, save)?;
    let images = tracks.image(save)?;
    let clock = ParticleTimes::read(tracks)?;
    let mut lines: BTreeMap<[u64; 3], Vec<(f64, usize)>> = BTreeMap::new();
    let releases = tracks.release_positions(0..tracks.num_particles())?;
    for (slot, release) in releases.iter().enumerate() {
        let state = states.state(slot);
        if state.is_present() && release.iter().all(|x| x.is_finite()) {
            let line = lines.entry(release.map(f64::to_bits)).or_default();
            line.push((clock.age(&state), slot));
        }
    }
    let mut lines: Vec<_> = lines.into_values().filter(|line| line.len() > 1).collect();
    lines.iter_mut().for_each(|line| line.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let Some(rows) = lines.iter().map(Vec::len).max() else { return Ok(None) };
    let (units, time) = (tracks.units(), tracks.times()[save]);
    let date = units.origin_of_seconds().and_then(|origin| origin.date_of(time));
    let mut made = Trajectories {
        times: vec![time; rows],
        dates: date.map(|date| vec![date; rows]).unwrap_or_default(),
        particles: lines.iter().map(|line| line[0].1 as u32).collect(),
        domain,
        axes: units.axes(),
        length_unit: units.length,
        time_unit: units.time.clone(),
        run_size: [lines.len(), rows],
        ..Trajectories::default()
    };
    let mut ages = Vec::with_capacity(rows * lines.len());
    let image = |slot: usize| images.as_ref().map(|all| all[slot]);
    for row in 0..rows {
        for line in &lines {
            let now = line.get(row).map(|(age, slot)| (*age, *slot, states.state(*slot)));
            let now = now.filter(|(_, _, state)| !state.status.has_ended());
            let before = row.checked_sub(1).and_then(|row| line.get(row)).map(|(_, slot)| *slot);
            let is_joined = before.zip(now.as_ref()).is_some_and(|(before, (_, slot, _))| {
                !states.state(before).status.has_ended() && image(before) == image(*slot)
            });
            made.active.push(now.is_some());
            made.joined.push(is_joined);
            ages.push(now.as_ref().map_or(f32::NAN, |(age, ..)| *age as f32));
            made.position.push(now.map_or([f64::NAN; 3], |(_, _, state)| state.position));
        }
    }
    let age =
        Attribute { name: "age".into(), unit: units.time, values: ages, ..Attribute::default() };
    made.attributes = vec![age];
    Ok(Some(made))
}
