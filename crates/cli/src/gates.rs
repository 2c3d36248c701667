//! `burntrace gates`.

use crate::{
    args::{GatesArgs, lines_of},
    figure_dir::{FigureDir, Formats},
    file::Misuse,
    format::{count, csv_cell, csv_number, six_digits},
    job,
    results::Results,
};
use anyhow::{Context, Result};
use burntrace::{
    Crossing, Domain, Gate,
    analysis::gates::{Connectivity, GatePassages, PassageStatistics, Probability, Spread},
    curves, io,
};
use burntrace_case::{console::Silent, gates};
use burntrace_plot::picture;
use serde_json::{Value, json};
use std::{
    fmt::Write as _,
    io::{BufWriter, Write},
    path::Path,
};

pub fn execute(args: &GatesArgs) -> Result<()> {
    let results = Results::open(&args.run)?;
    let (gates, domain, end) = known(&results, !args.within.is_empty())?;
    let time = |text: &String| results.duration("--within", text);
    let times: Vec<f64> = args.within.iter().map(time).collect::<Result<_>>()?;
    let (statistics, within) =
        gates::passages_within(&results.tracks, gates, (&domain, end), &times)?;
    let folder = results.out(args.out.as_deref(), "gates")?;
    let mut figures = FigureDir::at(&folder, Formats::default())?;
    let mut written = Vec::new();
    let mut table = |name: &str, text: String| -> Result<()> {
        let path = folder.join(name);
        io::write_beside(&path, |part| {
            std::fs::write(part, &text).with_context(|| cannot_write(part))
        })?;
        written.push(path);
        Ok(())
    };
    if !statistics.gates.is_empty() {
        table("gates.csv", csv(&statistics.gates))?;
    }
    if !within.is_empty() {
        table("within.csv", within_csv(&within))?;
    }
    if let Some(connectivity) = &statistics.connectivity {
        table("connectivity.csv", connectivity_csv(connectivity))?;
    }
    if args.crossings {
        let path = folder.join("crossings.csv");
        write_crossings(&results, &path)?;
        written.push(path);
    }
    let passages = curves::first_passages(&statistics, &(&results.units()).into());
    if let Some(passages) = passages.filter(|_| !statistics.gates.is_empty()) {
        let style = args.style.style();
        let made = picture::curves(&passages.curves, &style).map_err(Misuse::of)?;
        figures.add(passages.name, &made)?;
    }
    written.extend(figures.written);
    let unit = results.units().time;
    args.output.print(
        || {
            let mut json = gates::json(&statistics);
            if !within.is_empty() {
                json.insert("within".into(), within.iter().map(within_json).collect());
            }
            json.insert("files".into(), json!(written));
            Value::Object(json)
        },
        || {
            let tables = text(&statistics, &unit) + &within_text(&within);
            tables.trim_start().to_string() + &lines_of(&written)
        },
    )
}

/// The statistics of the gates of a run, if it has finished and has gates that are known.
pub fn statistics_if_any(results: &Results) -> Result<Option<PassageStatistics>> {
    let is_known = results.tracks.is_complete() && !results.tracks.gates().is_empty();
    is_known.then(|| statistics(results)).transpose()
}

/// The statistics of the gates of a finished run.
pub fn statistics(results: &Results) -> Result<PassageStatistics> {
    let (gates, domain, end) = known(results, false)?;
    gates::passages(&results.tracks, gates, (&domain, end))
}

/// The gates of a finished run, with its domain and its end. Without gates, a run is refused unless its ends are of interest.
fn known(results: &Results, asks_for_ends: bool) -> Result<(Vec<Gate>, Domain, f64)> {
    let root = results.folder.root.display();
    let names = results.case.as_ref().map(job::gate_names).unwrap_or_default();
    if results.tracks.gates().is_empty() && !asks_for_ends {
        return Err(Misuse::error(format!(
            "the run in {root} has no gates; add [[gate]] to its case, and run it again, or ask for its ends with --within"
        )));
    }
    if names != results.tracks.gates() {
        let why = results.case_problem.clone().unwrap_or_else(|| "its case has other gates".into());
        return Err(Misuse::error(format!("the gates of the run in {root} are not known: {why}")));
    }
    let case = results.case.as_ref();
    let gates = case.map(|case| job::gates(case, &Silent::default())).transpose()?;
    let [low, high] = results.domain;
    let domain = Domain::new(low, high).map_err(Misuse::of)?;
    let last = results.tracks.times().last().copied();
    let end = results.summary["time"].as_f64().or(last).unwrap_or(f64::NAN);
    Ok((gates.unwrap_or_default(), domain, end))
}

/// The table of probabilities.
fn within_text(within: &[Probability]) -> String {
    if within.is_empty() {
        return String::new();
    }
    let head = ["Gate or end", "Within", "Probability", "95 % from", "to", "Reached", "Of"];
    let row = |of: &Probability| {
        let [low, high] = of.interval;
        let percent = |part: f64| match of.of {
            0 => "–".into(),
            _ => format!("{:.2} %", 100.0 * part),
        };
        vec![
            of.name.clone(),
            six_digits(of.within).to_string(),
            percent(of.value),
            percent(low),
            percent(high),
            count(of.reached as usize),
            count(of.of as usize),
        ]
    };
    let rows: Vec<Vec<String>> = within.iter().map(row).collect();
    let mut text =
        format!("\n{}", columns(&[vec![head.map(String::from).to_vec()], rows].concat()));
    if within.iter().any(|of| of.of == 0) {
        text +=
            "the run is too short to follow a particle for some of these times after its release\n";
    }
    text
}

fn within_csv(within: &[Probability]) -> String {
    let mut text = "kind,name,within,probability,low,high,reached,of\n".to_string();
    for of in within {
        let [low, high] = of.interval;
        let numbers = [of.within, of.value, low, high].map(csv_number).join(",");
        let kind = if of.is_gate { "gate" } else { "end" };
        writeln!(text, "{kind},{},{numbers},{},{}", csv_cell(&of.name), of.reached, of.of).ok();
    }
    text
}

fn within_json(of: &Probability) -> Value {
    let kind = if of.is_gate { "gate" } else { "end" };
    json!({
        kind: of.name, "within": of.within, "probability": of.value, "interval": of.interval,
        "reached": of.reached, "of": of.of,
    })
}

/// The rows of the table of gates: a name, and values as text.
pub fn rows(gates: &[GatePassages]) -> Vec<Vec<String>> {
    let median = |spread: &Option<Spread>| {
        spread.map_or("–".into(), |of| six_digits(of.median).to_string())
    };
    let mean =
        |spread: &Option<Spread>| spread.map_or("–".into(), |of| six_digits(of.mean).to_string());
    let row = |gate: &GatePassages| {
        let counts = [gate.forward, gate.backward, gate.particles].map(|n| count(n as usize));
        let times = [median(&gate.first_passage), mean(&gate.residence)];
        [gate.name.clone()].into_iter().chain(counts).chain(times).collect()
    };
    gates.iter().map(row).collect()
}

/// The columns of [`rows`].
pub const COLUMNS: [&str; 6] =
    ["Gate", "Forward", "Backward", "Particles", "Median first passage", "Mean time inside"];

fn text(statistics: &PassageStatistics, unit: &str) -> String {
    if statistics.gates.is_empty() {
        return String::new();
    }
    let mut text =
        columns(&[vec![COLUMNS.map(String::from).to_vec()], rows(&statistics.gates)].concat());
    let unit = if unit.is_empty() { "the data's unit of time" } else { unit };
    // Writing to a string does not fail.
    writeln!(
        text,
        "of {} released particles; times from the release, in {unit}",
        count(statistics.particles as usize)
    )
    .ok();
    if let Some(Connectivity { regions, ended, .. }) = &statistics.connectivity {
        let names: Vec<String> = regions.iter().cloned().chain(["elsewhere".into()]).collect();
        let head = [vec![String::from("from \\ at the end")], names.clone()].concat();
        let row = |(name, row): (&String, &Vec<u64>)| {
            let counts = row.iter().map(|n| count(*n as usize));
            [name.clone()].into_iter().chain(counts).collect()
        };
        let rows = [head].into_iter().chain(names.iter().zip(ended).map(row));
        text.push('\n');
        text += &columns(&rows.collect::<Vec<Vec<String>>>());
    }
    text
}

/// Rows of text in columns, the first of which is aligned to the left.
pub fn columns(rows: &[Vec<String>]) -> String {
    let width = |k: usize| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(k, (cell, width))| match k {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    rows.iter().map(line).collect()
}

fn csv(gates: &[GatePassages]) -> String {
    let mut text = "gate,forward,backward,particles,started,visits".to_string();
    for name in ["first_passage", "residence"] {
        for column in ["count", "mean", "min", "median", "max"] {
            write!(text, ",{name}_{column}").ok();
        }
    }
    text.push('\n');
    for gate in gates {
        let GatePassages { forward, backward, particles, started, visits, .. } = gate;
        write!(text, "{},{forward},{backward},{particles}", csv_cell(&gate.name)).ok();
        match gate.is_region {
            true => write!(text, ",{started},{visits}").ok(),
            false => write!(text, ",,").ok(),
        };
        for spread in [gate.first_passage, gate.residence] {
            match spread {
                None => text.push_str(",,,,,"),
                Some(Spread { count, mean, min, median, max }) => {
                    let times = [mean, min, median, max].map(csv_number);
                    write!(text, ",{count},{}", times.join(",")).ok();
                }
            }
        }
        text.push('\n');
    }
    text
}

fn connectivity_csv(Connectivity { regions, ended, reached }: &Connectivity) -> String {
    let names: Vec<String> =
        regions.iter().map(|name| csv_cell(name)).chain(["elsewhere".into()]).collect();
    let mut text = format!("counted,from,{}\n", names.join(","));
    for (counted, rows) in [("ended", ended), ("reached", reached)] {
        for (name, row) in names.iter().zip(rows) {
            let counts: Vec<String> = row.iter().map(u64::to_string).collect();
            writeln!(text, "{counted},{name},{}", counts.join(",")).ok();
        }
    }
    text
}

/// Writes all crossings, one in a row.
fn write_crossings(results: &Results, path: &Path) -> Result<()> {
    let names: Vec<String> = results.tracks.gates().iter().map(|name| csv_cell(name)).collect();
    io::write_beside(path, |part| {
        let failed = || cannot_write(part);
        let mut file = BufWriter::new(std::fs::File::create(part).with_context(failed)?);
        writeln!(file, "gate,slot,generation,direction,time,x,y,z").with_context(failed)?;
        for block in results.tracks.crossings() {
            for Crossing { gate, slot, generation, is_forward, time, position } in block? {
                let direction = if is_forward { "forward" } else { "backward" };
                let [x, y, z] = position.map(csv_number);
                let (gate, time) = (&names[gate], csv_number(time));
                writeln!(file, "{gate},{slot},{generation},{direction},{time},{x},{y},{z}")
                    .with_context(failed)?;
            }
        }
        file.flush().with_context(failed)
    })
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
