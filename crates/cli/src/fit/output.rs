//! What a fit prints and writes.

use super::{Found, measure::Data, parameter::Parameter};
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
        let error = found.fit.errors[i];
        let error = if error.is_finite() { four_digits(error) } else { "–".into() };
        let [fitted, start, low, high] =
            [found.fit.values[i], of.range.start, of.range.low, of.range.high]
                .map(|x| six_digits(x).to_string());
        vec![of.key.clone(), fitted, error, start, low, high]
    };
    let rows = parameters.iter().enumerate().map(row);
    let table = columns(&[vec![head.to_vec()], rows.collect()].concat());
    let [first, last] = found.ends().map(four_digits);
    let what = match args.measure {
        Measure::Tracks => {
            let unit = results.units().length;
            let space = if unit.is_empty() { "" } else { " " };
            let (drifters, positions) = (found.fit.residuals.groups.len(), found.pairs.len());
            format!(
                "root mean square distance {last}{space}{unit} (at the start {first}) of {} drifters, {} positions",
                count(drifters),
                count(positions)
            )
        }
        Measure::Cloud => format!(
            "root mean square difference {last} standard errors (at the start {first}) at {} times",
            count(found.fit.residuals.groups.first().map_or(0, Vec::len))
        ),
    };
    let bounds: String = at_bounds(parameters, found).map(|text| format!("{text}\n")).collect();
    format!("{table}{what}; {} runs\n{bounds}", count(found.fit.trials.len()))
}

/// Which values are at a bound.
fn at_bounds<'a>(parameters: &'a [Parameter], found: &'a Found) -> impl Iterator<Item = String> {
    parameters.iter().zip(&found.fit.values).filter_map(|(of, value)| {
        let part = of.range.fraction(*value);
        let bound = match part {
            _ if part < AT_BOUND => of.range.low,
            _ if part > 1.0 - AT_BOUND => of.range.high,
            _ => return None,
        };
        Some(format!(
            "{} is at its bound {bound}: the data want a value beyond it, or do not determine it",
            of.key
        ))
    })
}

pub fn json((parameters, found): (&[Parameter], &Found), written: &[PathBuf]) -> Value {
    let parameter = |(i, of): (usize, &Parameter)| {
        json!({
            "key": of.key, "fitted": found.fit.values[i], "standard_error": found.fit.errors[i],
            "start": of.range.start, "low": of.range.low, "high": of.range.high,
        })
    };
    let [first, last] = found.ends();
    json!({
        "parameters": parameters.iter().enumerate().map(parameter).collect::<Vec<_>>(),
        "rms": last, "rms_at_start": first, "runs": found.fit.trials.len(),
        "converged": found.fit.has_converged, "at_bounds": at_bounds(parameters, found).collect::<Vec<_>>(),
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
    let fitted = json((parameters, found), &[]);
    let mut files =
        vec![("fit.json", format!("{fitted:#}\n")), ("runs.csv", runs(parameters, found))];
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
fn runs(parameters: &[Parameter], found: &Found) -> String {
    let keys: Vec<String> = parameters.iter().map(|of| crate::format::csv_cell(&of.key)).collect();
    let mut text = format!("run,{},rms\n", keys.join(","));
    for (run, (values, rms)) in found.trials().enumerate() {
        let values: Vec<String> = values.iter().map(|value| csv_number(*value)).collect();
        writeln!(text, "{run},{},{}", values.join(","), csv_number(rms)).ok();
    }
    text
}

/// A row for each observed position.
fn residuals(found: &Found) -> String {
    let mut text = "drifter,time,distance\n".to_string();
    for (id, (time, a, b)) in &found.pairs {
        let distance = burntrace::analysis::skill::straight(*a, *b);
        writeln!(text, "{id},{},{}", csv_number(*time), csv_number(distance)).ok();
    }
    text
}

/// The least difference up to each run of the search.
fn progress(args: &FitArgs, found: &Found, results: &Results) -> Curves {
    let mut least = f64::INFINITY;
    let point = |(run, (_, rms)): (usize, (&[f64], f64))| {
        least = least.min(rms);
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
        series: vec![("least so far".into(), found.trials().enumerate().map(point).collect())],
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
