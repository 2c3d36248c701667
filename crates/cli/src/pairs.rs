//! `burntrace pairs`: how pairs of particles separate.

use crate::{
    args::{PairsArgs, lines_of},
    figure_dir::{FigureDir, Formats},
    file::Misuse,
    format::{csv_number, four_digits, six_digits},
    gates::columns,
    results::Results,
};
use anyhow::{Context, Result};
use burntrace::{
    Status,
    analysis::separations::{PairOptions, PairStatistics, Separations, spacing},
    curves, io, sphere,
};
use burntrace_plot::picture;
use serde_json::{Value, json};
use std::fmt::Write as _;

pub fn execute(args: &PairsArgs) -> Result<()> {
    let results = Results::open(&args.run)?.note_unfinished();
    let statistics = follow(args, &results)?;
    let folder = results.out(args.out.as_deref(), "pairs")?;
    let mut figures = FigureDir::at(&folder, Formats::default())?;
    let mut written = Vec::new();
    let tables =
        [("dispersion.csv", dispersion(&statistics)), ("exponents.csv", exponents(&statistics))];
    for (name, text) in tables {
        let path = folder.join(name);
        io::write_text_beside(&path, &text)
            .with_context(|| format!("cannot write {}", path.display()))?;
        written.push(path);
    }
    let units = results.units();
    for named in curves::of_pairs(&statistics, &(&units).into()) {
        let made = picture::curves(&named.curves, &args.style.style()).map_err(Misuse::of)?;
        figures.add(named.name, &made)?;
    }
    written.extend(figures.written);
    args.output.print(
        || json_of(&statistics, &written),
        || text(&statistics, [&units.length, &units.time]) + &lines_of(&written),
    )
}

/// Follows the pairs through all saves.
fn follow(args: &PairsArgs, results: &Results) -> Result<PairStatistics> {
    let tracks = &results.tracks;
    let first = positions(results, 0)?;
    let distances = match (&args.distances[..], spacing(&first)) {
        ([], Some(near)) => [0.0, 2.0, 4.0, 8.0].map(|factor| six_digits(factor * near)).to_vec(),
        ([], None) => {
            return Err(Misuse::error(format!(
                "fewer than two particles are active at the first save of {}; pairs are of particles that start \
                 together",
                results.folder.root.display()
            )));
        }
        (given, _) => given.to_vec(),
    };
    let options = PairOptions { distances, growth: args.growth, most: args.most };
    let mut pairs = Separations::new(options, tracks.times()[0], &first).map_err(Misuse::of)?;
    for save in 1..tracks.num_saves() {
        pairs.add(tracks.times()[save], &positions(results, save)?);
    }
    Ok(pairs.result())
}

/// The positions of active particles at a save, in space and not wrapped.
fn positions(results: &Results, save: usize) -> Result<Vec<Option<[f64; 3]>>> {
    let tracks = &results.tracks;
    let generation = tracks.generation(save)?;
    // A later particle of a slot is another one.
    let is_first = |slot: usize| generation.as_ref().is_none_or(|generation| generation[slot] == 0);
    let in_space = |p: [f64; 3]| results.radius().map_or(p, |radius| sphere::in_space(radius, p));
    let both = tracks.unwrapped(save)?.into_iter().zip(tracks.status(save)?).enumerate();
    let position = |(slot, (p, status)): (usize, ([f64; 3], Status))| {
        (status == Status::Active && is_first(slot)).then(|| in_space(p))
    };
    Ok(both.map(position).collect())
}

fn text(statistics: &PairStatistics, [length, time]: [&str; 2]) -> String {
    let last = statistics.times.len() - 1;
    let head = ["Initial distance", "Pairs", "At the end", "Root mean square", "at the end"]
        .map(String::from);
    let class = |class: &burntrace::analysis::separations::PairClass| {
        let [from, to] = class.distances.map(six_digits);
        let root = |save: usize| four_digits(class.mean_square[save].sqrt());
        vec![
            format!("{from} to {to}"),
            class.counts[0].to_string(),
            class.counts[last].to_string(),
            root(0),
            root(last),
        ]
    };
    let rows = statistics.classes.iter().map(class);
    let mut text = columns(&std::iter::once(head.to_vec()).chain(rows).collect::<Vec<_>>());
    let head = ["Distance", "Exponent", "Pairs"].map(String::from);
    let rows = statistics
        .exponents
        .iter()
        .map(|of| vec![four_digits(of.distance), four_digits(of.rate), of.pairs.to_string()]);
    text.push('\n');
    text += &columns(&std::iter::once(head.to_vec()).chain(rows).collect::<Vec<_>>());
    let length = if length.is_empty() { "the data's unit" } else { length };
    let time = if time.is_empty() { "the data's unit of time" } else { time };
    let _ = writeln!(text, "lengths in {length}; exponents (FSLE) per {time}");
    text
}

fn dispersion(statistics: &PairStatistics) -> String {
    let mut text = "from,to,time,pairs,mean_square_distance\n".to_string();
    for class in &statistics.classes {
        let [from, to] = class.distances.map(csv_number);
        for (save, time) in statistics.times.iter().enumerate() {
            let [time, mean] = [*time, class.mean_square[save]].map(csv_number);
            let _ = writeln!(text, "{from},{to},{time},{},{mean}", class.counts[save]);
        }
    }
    text
}

fn exponents(statistics: &PairStatistics) -> String {
    let mut text = "distance,exponent,pairs\n".to_string();
    for of in &statistics.exponents {
        let [distance, rate] = [of.distance, of.rate].map(csv_number);
        let _ = writeln!(text, "{distance},{rate},{}", of.pairs);
    }
    text
}

fn json_of(statistics: &PairStatistics, written: &[std::path::PathBuf]) -> Value {
    let classes = statistics.classes.iter().map(|class| {
        json!({ "distances": class.distances, "pairs": class.counts, "mean_square_distance": class.mean_square })
    });
    let exponents = statistics
        .exponents
        .iter()
        .map(|of| json!({ "distance": of.distance, "exponent": of.rate, "pairs": of.pairs }));
    json!({
        "times": statistics.times,
        "classes": classes.collect::<Vec<_>>(),
        "exponents": exponents.collect::<Vec<_>>(),
        "files": written,
    })
}
