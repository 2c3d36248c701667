//! `burntrace skill`: how well the particles of a run follow observed drifters.

use crate::{
    args::{SkillArgs, lines_of},
    file::Misuse,
    format::{csv_cell, csv_number, four_digits},
    gates::columns,
    results::Results,
};
use anyhow::{Context, Result};
use burntrace::{
    analysis::skill::{Skill, position_at, straight},
    io, sphere,
};
use serde_json::{Value, json};
use std::{fmt::Write as _, path::Path};

/// The positions of a drifter.
pub struct Drifter {
    pub id: f64,
    pub time: Vec<f64>,
    pub position: Vec<[f64; 3]>,
}

/// A time, and where a drifter and its particle are in space then.
pub type Pair = (f64, [f64; 3], [f64; 3]);

/// A drifter beside its particle.
struct Row {
    id: f64,
    particle: usize,
    observations: usize,
    /// Times that were compared, with the start.
    times: Vec<f64>,
    /// The distance of both at each of these.
    separations: Vec<f64>,
    skill: Option<Skill>,
}

pub fn execute(args: &SkillArgs) -> Result<()> {
    let results = Results::open(&args.run)?;
    let drifters = drifters((&args.observed, &args.id), &results)?;
    let release_times = results.tracks.ends()?.release_time;
    let numbered = drifters.iter().zip(release_times).enumerate();
    let compared = numbered.map(|(particle, of)| compare(&results, of, particle));
    let rows: Vec<Row> = compared.collect::<Result<_>>()?;
    let folder = results.out(args.out.as_deref(), "skill")?;
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut written = Vec::new();
    for (name, text) in [("skill.csv", csv(&rows)), ("separations.csv", separations(&rows))] {
        let path = folder.join(name);
        io::write_text_beside(&path, &text)
            .with_context(|| format!("cannot write {}", path.display()))?;
        written.push(path);
    }
    let length = results.units().length;
    args.output.print(
        || json!({ "mean_score": mean(&rows), "drifters": rows.iter().map(row_json).collect::<Vec<_>>(), "files": written }),
        || text(&rows, &length) + &lines_of(&written),
    )
}

/// The drifters of a file with a column of their numbers, in the order of their first lines. The run has a particle for each.
pub fn drifters((path, id): (&Path, &str), results: &Results) -> Result<Vec<Drifter>> {
    if results.tracks.num_instances().is_some() {
        return Err(Misuse::error(
            "the slots of the run are used again (outlets, sources); drifters are compared with particles that have a slot \
             of their own",
        ));
    }
    let drifters = read(path, id, results)?;
    let count = results.tracks.num_particles();
    match drifters.len() > count {
        true => Err(Misuse::error(format!(
            "{} has {} drifters, and the run {count} particles; the first seed is compared with the first drifter of \
             the file, and so on: give a seed for each",
            path.display(),
            drifters.len()
        ))),
        false => Ok(drifters),
    }
}

/// The positions of a file at each of its times, whatever they are of.
pub fn read_cloud(path: &Path, results: &Results) -> Result<Vec<(f64, Vec<[f64; 3]>)>> {
    let points = points(path, &[], results)?;
    let times = points.time.unwrap_or_default();
    let mut cloud: Vec<(f64, Vec<[f64; 3]>)> = Vec::new();
    for (time, position) in times.into_iter().zip(points.position) {
        match cloud.iter_mut().find(|(known, _)| *known == time) {
            Some((_, positions)) => positions.push(position),
            None => cloud.push((time, vec![position])),
        }
    }
    Ok(cloud)
}

/// The positions of a file with times, and columns.
fn points(path: &Path, columns: &[&str], results: &Results) -> Result<io::SeedPoints> {
    let origin = results.tracks.units().origin;
    let points = io::read_seeds(path, origin.as_ref(), columns).map_err(Misuse::of)?;
    match points.time {
        Some(_) => Ok(points),
        None => Err(Misuse::error(format!(
            "{} has no column `time`; give the times of the positions, in those of the run or as dates",
            path.display()
        ))),
    }
}

/// The drifters of a file, their positions in the order of the run's times.
fn read(path: &Path, id: &str, results: &Results) -> Result<Vec<Drifter>> {
    let points = points(path, &[id], results)?;
    let times = points.time.unwrap_or_default();
    let mut drifters: Vec<Drifter> = Vec::new();
    for ((id, time), position) in points.columns[0].iter().zip(times).zip(points.position) {
        let drifter = match drifters.iter_mut().position(|drifter| drifter.id == *id) {
            Some(found) => &mut drifters[found],
            None => {
                drifters.push(Drifter { id: *id, time: Vec::new(), position: Vec::new() });
                let last = drifters.len() - 1;
                &mut drifters[last]
            }
        };
        drifter.time.push(time);
        drifter.position.push(position);
    }
    let is_backward = results.tracks.times().first() > results.tracks.times().last();
    for drifter in &mut drifters {
        let mut order: Vec<usize> = (0..drifter.time.len()).collect();
        order.sort_by(|a, b| drifter.time[*a].total_cmp(&drifter.time[*b]));
        if is_backward {
            order.reverse();
        }
        drifter.time = order.iter().map(|k| drifter.time[*k]).collect();
        drifter.position = order.iter().map(|k| drifter.position[*k]).collect();
    }
    Ok(drifters)
}

/// Where a drifter and its particle are at the times of the drifter, with the release, while the particle is active; with
/// `holds_ends` also where it has ended, later.
pub fn pairs(
    results: &Results,
    (drifter, release_time): (&Drifter, f64),
    particle: usize,
    holds_ends: bool,
) -> Result<Vec<Pair>> {
    let radius = results.radius();
    let tracks = &results.tracks;
    let track = tracks.track(particle)?;
    let release = tracks.release_positions(particle..particle + 1)?[0];
    let (mut times, mut positions) = (vec![release_time], vec![release]);
    let unwrapped = track.unwrapped(tracks.periods());
    for ((time, position), status) in track.time.iter().zip(unwrapped).zip(&track.status) {
        let is_later = (time - release_time).abs() > 0.0 && status.is_released();
        if is_later && (holds_ends || !status.has_ended()) {
            times.push(*time);
            positions.push(position);
        }
    }
    let in_space = |p: [f64; 3]| radius.map_or(p, |radius| sphere::in_space(radius, p));
    let positions: Vec<[f64; 3]> = positions.into_iter().map(in_space).collect();
    let both = drifter.time.iter().zip(&drifter.position);
    let found = both.filter_map(|(time, p)| {
        Some((*time, in_space(*p), position_at(&times, &positions, *time)?))
    });
    Ok(found.collect())
}

/// Compares a drifter with a particle while it is active.
fn compare(results: &Results, of: (&Drifter, f64), particle: usize) -> Result<Row> {
    let (drifter, radius) = (of.0, results.radius());
    let found = pairs(results, of, particle, false)?;
    let distance = |a, b| match radius {
        // Along the sphere.
        Some(radius) => 2.0 * radius * (0.5 * straight(a, b) / radius).min(1.0).asin(),
        None => straight(a, b),
    };
    let observed: Vec<[f64; 3]> = found.iter().map(|(_, observed, _)| *observed).collect();
    let computed: Vec<[f64; 3]> = found.iter().map(|(_, _, computed)| *computed).collect();
    Ok(Row {
        id: drifter.id,
        particle,
        observations: drifter.time.len(),
        times: found.iter().map(|(time, ..)| *time).collect(),
        separations: found.iter().map(|(_, a, b)| distance(*a, *b)).collect(),
        skill: Skill::of(&observed, &computed, distance),
    })
}

impl Row {
    /// The distance at the start.
    fn start(&self) -> f64 {
        self.separations.first().copied().unwrap_or(f64::NAN)
    }
}

/// The mean score of the drifters that have one.
fn mean(rows: &[Row]) -> Option<f64> {
    let scores: Vec<f64> = rows.iter().filter_map(|row| Some(row.skill.as_ref()?.score)).collect();
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}

fn text(rows: &[Row], unit: &str) -> String {
    let head = [
        "Drifter",
        "Particle",
        "Compared",
        "Of",
        "At the start",
        "Mean separation",
        "Last",
        "Length",
        "Skill",
    ];
    let of = |row: &Row| {
        let number = |of: fn(&Skill) -> f64| {
            row.skill.as_ref().map_or("–".into(), |skill| four_digits(of(skill)))
        };
        vec![
            row.id.to_string(),
            row.particle.to_string(),
            row.times.len().to_string(),
            row.observations.to_string(),
            if row.times.is_empty() { "–".into() } else { four_digits(row.start()) },
            number(Skill::mean_separation),
            number(|skill| skill.separations.last().copied().unwrap_or(f64::NAN)),
            number(|skill| skill.length),
            row.skill.as_ref().map_or("–".into(), |skill| format!("{:.3}", skill.score)),
        ]
    };
    let table =
        columns(&[vec![head.map(String::from).to_vec()], rows.iter().map(of).collect()].concat());
    let unit = if unit.is_empty() { "the data's unit of length" } else { unit };
    let mean = mean(rows).map_or("none".into(), |mean| format!("{mean:.3}"));
    format!("{table}mean skill {mean}; lengths in {unit}\n")
}

fn csv(rows: &[Row]) -> String {
    let mut text =
        "drifter,particle,compared,observations,start,mean_separation,last_separation,length,index,skill\n".to_string();
    for row in rows {
        let numbers = row.skill.as_ref().map_or([f64::NAN; 5], |skill| {
            let last = skill.separations.last().copied().unwrap_or(f64::NAN);
            [skill.mean_separation(), last, skill.length, skill.index, skill.score]
        });
        let numbers = numbers.map(csv_number).join(",");
        let (id, compared) = (csv_cell(&row.id.to_string()), row.times.len());
        let start = csv_number(row.start());
        writeln!(text, "{id},{},{compared},{},{start},{numbers}", row.particle, row.observations)
            .ok();
    }
    text
}

/// A row for each position that was compared.
fn separations(rows: &[Row]) -> String {
    let mut text = "drifter,particle,time,separation\n".to_string();
    for row in rows {
        for (time, separation) in row.times.iter().zip(&row.separations) {
            let [time, separation] = [*time, *separation].map(csv_number);
            writeln!(text, "{},{},{time},{separation}", row.id, row.particle).ok();
        }
    }
    text
}

fn row_json(row: &Row) -> Value {
    let skill = row.skill.as_ref();
    json!({
        "drifter": row.id,
        "particle": row.particle,
        "compared": row.times.len(),
        "observations": row.observations,
        "start": row.start(),
        "mean_separation": skill.map(Skill::mean_separation),
        "last_separation": skill.and_then(|skill| skill.separations.last()),
        "length": skill.map(|skill| skill.length),
        "index": skill.map(|skill| skill.index),
        "skill": skill.map(|skill| skill.score),
    })
}
