//! What a fit prints and writes.

use super::{
    measure::Data,
    parameter::Parameter,
    search::{Found, Trial},
};
use crate::{
    args::{FitArgs, Measure},
    figure_dir::{FigureDir, Formats},
    file::Misuse,
    format::{count, csv_number, four_digits, six_digits},
    gates::columns,
    notes,
    results::Results,
    skill::Drifter,
};
use anyhow::Result;
use burntrace::io;
use burntrace_plot::{
    Attribute, Axis, Curves, Trajectories,
    picture::{self, Style},
};
use serde_json::{Value, json};
use std::{fmt::Write as _, path::PathBuf};

/// How near to a bound a value is at it, in parts of the range.
const AT_BOUND: f64 = 1e-3;

/// The values, with what they leave.
pub fn text(
    args: &FitArgs,
    (parameters, found): (&[Parameter], &Found),
    results: &Results,
) -> String {
    let head = ["Parameter", "Fitted", "Standard error", "Start", "From", "To"].map(String::from);
    let row = |(i, of): (usize, &Parameter)| {
        let error = found.errors[i];
        let error = if error.is_finite() { four_digits(error) } else { "–".into() };
        let [fitted, start, low, high] =
            [found.values[i], of.start, of.low, of.high].map(|x| six_digits(x).to_string());
        vec![of.key.clone(), fitted, error, start, low, high]
    };
    let rows = parameters.iter().enumerate().map(row);
    let table = columns(&[vec![head.to_vec()], rows.collect()].concat());
    let [first, last] = rms(args, found).map(four_digits);
    let what = match args.measure {
        Measure::Tracks => {
            let unit = results.units().length;
            let space = if unit.is_empty() { "" } else { " " };
            let (drifters, positions) = (found.residuals.groups.len(), found.residuals.pairs.len());
            format!(
                "root mean square distance {last}{space}{unit} (at the start {first}) of {} drifters, {} positions",
                count(drifters),
                count(positions)
            )
        }
        Measure::Cloud => format!(
            "root mean square difference {last} standard errors (at the start {first}) at {} times",
            count(found.residuals.groups.first().map_or(0, Vec::len))
        ),
    };
    let bounds: String = at_bounds(parameters, found).map(|text| format!("{text}\n")).collect();
    format!("{table}{what}; {} runs\n{bounds}", count(found.trials.len()))
}

/// Differences at the start and at the end, of all runs.
fn rms(args: &FitArgs, found: &Found) -> [f64; 2] {
    [found.trials[0].rms, found.residuals.rms(args.measure)]
}

/// Which values are at a bound.
fn at_bounds<'a>(parameters: &'a [Parameter], found: &'a Found) -> impl Iterator<Item = String> {
    parameters.iter().zip(&found.values).filter_map(|(of, value)| {
        let part = of.fraction(*value);
        let bound = match part {
            _ if part < AT_BOUND => of.low,
            _ if part > 1.0 - AT_BOUND => of.high,
            _ => return None,
        };
        Some(format!(
            "{} is at its bound {bound}: the data want a value beyond it, or do not determine it",
            of.key
        ))
    })
}

pub fn json(
    args: &FitArgs,
    (parameters, found): (&[Parameter], &Found),
    written: &[PathBuf],
) -> Value {
    let parameter = |(i, of): (usize, &Parameter)| {
        json!({
            "key": of.key, "fitted": found.values[i], "standard_error": found.errors[i],
            "start": of.start, "low": of.low, "high": of.high,
        })
    };
    let [first, last] = rms(args, found);
    json!({
        "parameters": parameters.iter().enumerate().map(parameter).collect::<Vec<_>>(),
        "rms": last, "rms_at_start": first, "runs": found.trials.len(),
        "converged": found.has_converged, "at_bounds": at_bounds(parameters, found).collect::<Vec<_>>(),
        "files": written, "notes": notes::take(),
    })
}

/// Writes tables and pictures.
pub fn write(
    args: &FitArgs,
    (parameters, found): (&[Parameter], &Found),
    data: Option<&Data>,
    results: &Results,
) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    let fitted = json(args, (parameters, found), &[]);
    let mut files =
        vec![("fit.json", format!("{fitted:#}\n")), ("runs.csv", runs(parameters, &found.trials))];
    if matches!(data, Some(Data::Tracks(_))) {
        files.push(("residuals.csv", residuals(found)));
    }
    for (name, text) in files {
        let path = args.out.join(name);
        io::write_text_beside(&path, &text)?;
        written.push(path);
    }
    let mut figures = FigureDir::at(&args.out, Formats::default())?;
    figures.add(
        "search",
        &picture::curves(&progress(args, found, results), &Style::default()).map_err(Misuse::of)?,
    )?;
    if let Some(Data::Tracks(drifters)) = data {
        let both = both(drifters, results)?;
        let title = Some("Observed and fitted tracks".into());
        let style = Style { color_by: Some("tracks".into()), title, ..Style::default() };
        let view = crate::pictures::view(results);
        figures.add("tracks", &picture::tracks(&both, &view, &style).map_err(Misuse::of)?)?;
    }
    written.extend(figures.written);
    Ok(written)
}

/// A row for each run of the search.
fn runs(parameters: &[Parameter], trials: &[Trial]) -> String {
    let keys: Vec<String> = parameters.iter().map(|of| crate::format::csv_cell(&of.key)).collect();
    let mut text = format!("run,{},rms\n", keys.join(","));
    for (run, Trial { values, rms }) in trials.iter().enumerate() {
        let values: Vec<String> = values.iter().map(|value| csv_number(*value)).collect();
        writeln!(text, "{run},{},{}", values.join(","), csv_number(*rms)).ok();
    }
    text
}

/// A row for each observed position.
fn residuals(found: &Found) -> String {
    let mut text = "drifter,time,distance\n".to_string();
    for (id, (time, a, b)) in &found.residuals.pairs {
        let distance = burntrace::analysis::skill::straight(*a, *b);
        writeln!(text, "{id},{},{}", csv_number(*time), csv_number(distance)).ok();
    }
    text
}

/// The least difference up to each run of the search.
fn progress(args: &FitArgs, found: &Found, results: &Results) -> Curves {
    let mut least = f64::INFINITY;
    let point = |(run, trial): (usize, &Trial)| {
        least = least.min(trial.rms);
        [run as f64 + 1.0, least]
    };
    let axis = |name: &str, unit: String| Axis { name: name.into(), unit, range: [0.0; 2] };
    let [name, unit] = match args.measure {
        Measure::Tracks => ["root mean square distance", &results.units().length],
        Measure::Cloud => ["root mean square difference", "standard errors"],
    };
    Curves {
        axes: [axis("run of the search", String::new()), axis(name, unit.into())],
        log: [false, true],
        series: vec![("least so far".into(), found.trials.iter().enumerate().map(point).collect())],
        title: "search".into(),
        ..Curves::default()
    }
}

/// Observed and computed tracks, as categories.
fn both(drifters: &[Drifter], results: &Results) -> Result<Trajectories> {
    let mut computed = results.sample(drifters.len(), None)?.trajectories;
    let (columns, saves) = (computed.particles.len(), computed.times.len());
    let rows = drifters.iter().map(|of| of.time.len()).max().unwrap_or(0).max(saves);
    let last = computed.times.last().copied().unwrap_or(0.0);
    computed.times.resize(rows, last);
    computed.dates.clear();
    let all = columns + drifters.len();
    let mut both = Trajectories { run_size: [all, rows], partial: Vec::new(), ..computed.clone() };
    both.particles = (0..all as u32).collect();
    (both.position, both.joined, both.active) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        for column in 0..columns {
            let index = row * columns + column;
            let is_there = row < saves;
            both.position.push(if is_there { computed.position[index] } else { [f64::NAN; 3] });
            both.joined.push(is_there && computed.joined[index]);
            both.active.push(is_there && computed.active[index]);
        }
        for drifter in drifters {
            let position = drifter.position.get(row).copied();
            both.position.push(position.unwrap_or([f64::NAN; 3]));
            both.joined.push(position.is_some() && row > 0);
            both.active.push(position.is_some());
        }
    }
    let names = ["computed", "observed"].map(String::from);
    let row: Vec<f32> = (0..all).map(|i| if i < columns { 0.0 } else { 1.0 }).collect();
    both.attributes = vec![Attribute {
        name: "tracks".into(),
        values: row.repeat(rows),
        categories: names.into(),
        ..Attribute::default()
    }];
    Ok(both)
}
