//! `burntrace spectrum`: autocorrelation, integral time scale and spectrum of the velocities along tracks.

mod records;

use crate::{
    args::{SpectrumArgs, lines_of},
    figure_dir::{FigureDir, Formats},
    file::{Misuse, Units},
    format::{count, csv_number, four_digits, six_digits},
    gates::columns,
    notes,
    results::Results,
};
use anyhow::{Context, Result};
use burntrace::{
    analysis::spectrum::{Velocities, VelocityComponent, VelocityStatistics, even_interval},
    curves, io,
};
use burntrace_plot::picture;
use serde_json::{Value, json};
use std::{fmt::Write as _, path::PathBuf};

/// What a run is evaluated to.
struct Evaluation {
    statistics: VelocityStatistics,
    /// The time between saves.
    interval: f64,
    /// Names of the components and of their sum.
    names: [&'static str; 4],
    /// The source of velocities, as in reports.
    velocity_from: &'static str,
}

pub fn execute(args: &SpectrumArgs) -> Result<()> {
    let results = Results::open(&args.run)?.note_unfinished();
    let evaluation = evaluate(args, &results)?;
    let Evaluation { statistics, names, .. } = &evaluation;
    let folder = results.out(args.out.as_deref(), "spectrum")?;
    let mut figures = FigureDir::at(&folder, Formats::default())?;
    let mut tables = vec![("autocorrelation.csv", autocorrelation_csv(&evaluation))];
    if statistics.whole > 0 {
        tables.push(("spectrum.csv", spectrum_csv(&evaluation)));
    }
    let mut written = Vec::new();
    for (name, text) in tables {
        let path = folder.join(name);
        io::write_text_beside(&path, &text)
            .with_context(|| format!("cannot write {}", path.display()))?;
        written.push(path);
    }
    let units = results.units();
    for named in curves::of_velocities(statistics, *names, &(&units).into()) {
        let made = picture::curves(&named.curves, &args.style.style()).map_err(Misuse::of)?;
        figures.add(named.name, &made)?;
    }
    written.extend(figures.written);
    args.output.print(
        || json_of(&evaluation, args.mean.name(), &written),
        || text(&evaluation, &units) + &lines_of(&written),
    )
}

/// Sums the velocities of all particles, in blocks that fit into memory.
fn evaluate(args: &SpectrumArgs, results: &Results) -> Result<Evaluation> {
    let tracks = &results.tracks;
    let times = tracks.times();
    let (interval, saves) = even_interval(times).map_err(Misuse::of)?;
    if saves < times.len() {
        note_last_save(times, saves);
    }
    let velocity_from = if tracks.has_velocity() { "velocities" } else { "displacements" };
    if !tracks.has_velocity() {
        notes::note(
            "the run has no velocities (`save.velocity`): they are displacements between saves, divided by the time between \
             them, so that motion within an interval is averaged",
        );
    }
    let per_particle = if tracks.has_velocity() { saves } else { saves - 1 };
    let mut velocities =
        Velocities::new(interval.abs(), per_particle, args.mean.mean()).map_err(Misuse::of)?;
    for slots in records::blocks(tracks.num_particles(), saves) {
        velocities.add(&records::read(results, interval, saves, slots)?);
    }
    let statistics = velocities.result().map_err(Misuse::of)?;
    if statistics.whole == 0 {
        notes::note(
            "there is no spectrum: it is that of the particles that are active at all saves, and there are none",
        );
    }
    let names = match results.radius() {
        Some(_) => ["east", "north", "up", "total"],
        None => ["x", "y", "z", "total"],
    };
    Ok(Evaluation { statistics, interval: interval.abs(), names, velocity_from })
}

fn note_last_save(times: &[f64], saves: usize) {
    let gap = |save: usize| six_digits((times[save] - times[save - 1]).abs());
    notes::note(format!(
        "the last save is left out, as it is {} after the one before, and others are {} apart",
        gap(saves),
        gap(1)
    ));
}

impl Evaluation {
    /// The components and their sum, with their names.
    fn all(&self) -> impl Iterator<Item = (&'static str, &VelocityComponent)> {
        let VelocityStatistics { components, total, .. } = &self.statistics;
        self.names.into_iter().zip(components.iter().chain([total]))
    }
}

fn text(evaluation: &Evaluation, units: &Units) -> String {
    let VelocityStatistics { particles, left_out, whole, lags, .. } = &evaluation.statistics;
    let head = ["Component", "Mean", "Variance", "Time scale", "Diffusivity"].map(String::from);
    let number = |x: f64| if x.is_finite() { four_digits(x) } else { "–".into() };
    let row = |(name, of): (&str, &VelocityComponent)| {
        let scale = of.scale.map_or("–".into(), |scale| {
            four_digits(scale.time) + if scale.reaches_zero { "" } else { "*" }
        });
        let diffusivity = number(of.diffusivity().unwrap_or(f64::NAN));
        vec![name.into(), number(of.mean), number(of.variance), scale, diffusivity]
    };
    let rows = evaluation.all().map(row);
    let mut text = columns(&std::iter::once(head.to_vec()).chain(rows).collect::<Vec<_>>());
    let last = six_digits(lags.last().copied().unwrap_or_default());
    if evaluation.all().any(|(_, of)| of.scale.is_some_and(|scale| !scale.reaches_zero)) {
        let _ = writeln!(
            text,
            "* the autocorrelation is above 0 up to the lag {last}, the end of the integral"
        );
    }
    let counts = [particles, left_out, whole].map(|n| count(*n as usize));
    let [particles, left_out, whole] = counts;
    let interval = six_digits(evaluation.interval);
    let _ = writeln!(
        text,
        "{particles} particles, of which {whole} are active at all saves, and {left_out} left out (active at fewer than two \
         saves); saves {interval} apart, lags up to {last}"
    );
    let (length, time) = (&units.length, &units.time);
    let _ = match length.is_empty() || time.is_empty() {
        true => writeln!(text, "velocities, times and diffusivities in the data's units"),
        false => writeln!(
            text,
            "velocities in {length}/{time}, times in {time}, diffusivities in {length}²/{time}"
        ),
    };
    text
}

fn autocorrelation_csv(evaluation: &Evaluation) -> String {
    let mut text = format!("lag,pairs,{}\n", evaluation.names.join(","));
    let VelocityStatistics { lags, pairs, .. } = &evaluation.statistics;
    for (k, (lag, pairs)) in lags.iter().zip(pairs).enumerate() {
        let _ = write!(text, "{},{pairs}", csv_number(*lag));
        for (_, of) in evaluation.all() {
            let _ = write!(text, ",{}", csv_number(of.correlation[k]));
        }
        text.push('\n');
    }
    text
}

fn spectrum_csv(evaluation: &Evaluation) -> String {
    let mut text = format!("frequency,{}\n", evaluation.names.join(","));
    for (k, frequency) in evaluation.statistics.frequencies.iter().enumerate() {
        text += &csv_number(*frequency);
        for (_, of) in evaluation.all() {
            let _ = write!(text, ",{}", csv_number(of.spectrum[k]));
        }
        text.push('\n');
    }
    text
}

fn json_of(evaluation: &Evaluation, mean: &str, written: &[PathBuf]) -> Value {
    let component = |(name, of): (&str, &VelocityComponent)| {
        json!({
            "name": name,
            "mean": of.mean,
            "variance": of.variance,
            "time_scale": of.scale.map(|scale| scale.time),
            "reaches_zero": of.scale.map(|scale| scale.reaches_zero),
            "diffusivity": of.diffusivity(),
            "autocorrelation": of.correlation,
            "spectrum": of.spectrum,
        })
    };
    let statistics = &evaluation.statistics;
    json!({
        "particles": statistics.particles,
        "left_out": statistics.left_out,
        "whole": statistics.whole,
        "interval": evaluation.interval,
        "velocity_from": evaluation.velocity_from,
        "mean_subtracted": mean,
        "lags": statistics.lags,
        "pairs": statistics.pairs,
        "frequencies": statistics.frequencies,
        "components": evaluation.all().map(component).collect::<Vec<_>>(),
        "files": written,
        "notes": notes::take(),
    })
}
