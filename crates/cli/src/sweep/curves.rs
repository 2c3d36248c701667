//! Pictures of a sweep: quantities against its keys, over time with their bands, and densities.

use super::{
    by_key::{self, KeyFigure, Plot},
    ensemble::{ALL_ENDS, Ensemble, QUANTITIES, QuantitySpread},
    evaluation::Evaluation,
};
use crate::{
    args::StyleArgs,
    density::DensityRequest,
    figure_dir::FigureDir,
    file::Misuse,
    pictures::{self, Figure},
    results::{AXES, Results},
};
use anyhow::Result;
use burntrace::{analysis::ensemble::Spread, densities::SavedParticles};
use burntrace_plot::{
    Axis, Curves,
    picture::{self, Picture, Range, Style},
};

/// Maximum number of ensembles in a picture: that of the colours of curves.
const MAX_CURVES: usize = 7;

/// Maximum number of ensembles with a picture of their density.
const MAX_DENSITIES: usize = 4;

/// Writes the pictures. Also returns what they do not show, and why.
pub fn make(evaluation: &Evaluation, figures: FigureDir) -> Result<(Vec<Figure>, Vec<String>)> {
    let mut made = SweepFigures { figures, captions: Vec::new(), missing: Vec::new() };
    made.add_by_key(evaluation)?;
    let shown = &evaluation.ensembles[..evaluation.ensembles.len().min(MAX_CURVES)];
    made.add_over_time(evaluation, shown)?;
    made.add_densities(evaluation, shown)?;
    let SweepFigures { figures, captions, missing } = made;
    let made = figures.written.into_iter().zip(captions);
    Ok((made.map(|(path, caption)| Figure { path, caption }).collect(), missing))
}

/// The pictures written so far.
struct SweepFigures {
    figures: FigureDir,
    captions: Vec<String>,
    missing: Vec<String>,
}

impl SweepFigures {
    fn add(&mut self, name: &str, picture: &Picture, caption: String) -> Result<()> {
        self.captions.push(caption);
        self.figures.add(name, picture)
    }

    /// Quantities at the last save against the varied keys.
    fn add_by_key(&mut self, evaluation: &Evaluation) -> Result<()> {
        let (figures, reason) = by_key::figures(evaluation);
        self.missing.extend(reason);
        let style = StyleArgs::default().style();
        let whole = Style { range: Range::Full, ..style.clone() };
        for KeyFigure { name, plot, caption } in figures {
            let picture = match plot {
                Plot::Curves(curves) => picture::curves(&curves, &style),
                Plot::Map(raster) => picture::raster(&raster, &[], &whole),
            };
            self.add(&name, &picture.map_err(Misuse::of)?, caption)?;
        }
        Ok(())
    }

    /// Quantities over time.
    fn add_over_time(&mut self, evaluation: &Evaluation, shown: &[Ensemble]) -> Result<()> {
        let all = evaluation.ensembles.len();
        if shown.len() < all {
            self.missing.push(format!(
                "curves over time of {} of {all} sets of runs; `ensembles.csv` has all of them",
                all - shown.len(),
            ));
        }
        if shown.iter().all(|ensemble| ensemble.times.len() < 2) {
            self.missing.push("curves over time: the runs have a single common save".into());
            return Ok(());
        }
        let style = StyleArgs::default().style();
        for (name, curves, caption) in over_time(evaluation, shown)? {
            self.add(&name, &picture::curves(&curves, &style).map_err(Misuse::of)?, caption)?;
        }
        Ok(())
    }

    /// The density of all runs of a set together.
    fn add_densities(&mut self, evaluation: &Evaluation, shown: &[Ensemble]) -> Result<()> {
        let style = StyleArgs::default().of_density();
        for (i, ensemble) in shown.iter().enumerate().take(MAX_DENSITIES) {
            match pooled_density(evaluation, ensemble) {
                Ok(raster) => {
                    let made = picture::raster(&raster, &[], &style).map_err(Misuse::of)?;
                    let (count, name) = (ensemble.runs.len(), ensemble.name());
                    let caption = format!(
                        "Density of the active particles of {count} runs together ({name}) at the last save."
                    );
                    self.add(&format!("density_{i}"), &made, caption)?;
                }
                Err(reason) => {
                    self.missing.push(format!("density of {}: {reason:#}", ensemble.name()));
                }
            }
        }
        if evaluation.ensembles.len() > MAX_DENSITIES {
            self.missing.push(format!("densities of more than {MAX_DENSITIES} sets of runs"));
        }
        Ok(())
    }
}

/// The pictures of quantities that change over time: file names, curves and captions.
fn over_time(evaluation: &Evaluation, shown: &[Ensemble]) -> Result<Vec<(String, Curves, String)>> {
    let percent = 100.0 * evaluation.sweep.definition.confidence;
    let bands = format!("bands are the {percent} % confidence interval of the mean");
    let mut made = Vec::new();
    let axes = Results::open(&evaluation.sweep.runs[shown[0].runs[0]].folder.root)?.axes();
    for (i, (name, power)) in QUANTITIES.into_iter().enumerate() {
        let is_flat = AXES
            .iter()
            .enumerate()
            .any(|(d, axis)| name.ends_with(&format!("_{axis}")) && !axes.contains(&d));
        let of = |ensemble: &Ensemble| -> Vec<Spread> { ensemble.quantities[i].spread.clone() };
        if is_flat || shown.iter().all(|ensemble| is_constant(&ensemble.quantities[i])) {
            continue;
        }
        let series = shown.iter().map(|ensemble| (ensemble.name(), ensemble, of(ensemble)));
        let title = name.replace('_', " ");
        let curves = curves(evaluation, series.collect(), (&title, power));
        made.push((
            name.into(),
            curves,
            format!("Mean over runs of the quantity {title}; {bands}."),
        ));
    }
    let exits = match shown {
        [only] => {
            only.exits.iter().map(|of| (of.status.clone(), only, of.spread.clone())).collect()
        }
        _ => {
            let all = |ensemble: &Ensemble| {
                let all = ensemble.exits.iter().find(|of| of.status == ALL_ENDS);
                all.map(|of| of.spread.clone()).unwrap_or_default()
            };
            shown.iter().map(|ensemble| (ensemble.name(), ensemble, all(ensemble))).collect()
        }
    };
    let exits: Vec<(String, &Ensemble, Vec<Spread>)> = exits;
    if exits.iter().any(|(.., spread)| !spread.is_empty()) {
        let curves = curves(evaluation, exits, ("particles", 0));
        let caption =
            format!("Mean over runs of the number of particles that have ended; {bands}.");
        made.push(("ends".into(), curves, caption));
    }
    Ok(made)
}

/// Whether a quantity is undefined, or has the same value at all times and in all runs.
fn is_constant(quantity: &QuantitySpread) -> bool {
    let means = quantity.spread.iter().filter_map(|spread| spread.mean);
    let is_spread =
        quantity.spread.iter().any(|spread| spread.deviation.is_some_and(|sd| sd > 0.0));
    let [low, high] =
        means.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
    !(is_spread || high > low)
}

fn curves(
    evaluation: &Evaluation,
    series: Vec<(String, &Ensemble, Vec<Spread>)>,
    (title, power): (&str, i32),
) -> Curves {
    let unit = evaluation.unit(power);
    let axis = |name: &str, unit: String| Axis { name: name.into(), unit, range: [0.0; 2] };
    let line = |(name, ensemble, spread): &(String, &Ensemble, Vec<Spread>)| {
        let points = ensemble.times.iter().zip(spread);
        let mean = |(time, of): (&f64, &Spread)| [*time, of.mean.unwrap_or(f64::NAN)];
        (name.clone(), points.map(mean).collect())
    };
    let band = |(i, (_, ensemble, spread)): (usize, &(String, &Ensemble, Vec<Spread>))| {
        let points = ensemble.times.iter().zip(spread);
        let limits = |(time, of): (&f64, &Spread)| {
            let [low, high] = of.interval.unwrap_or([f64::NAN; 2]);
            [*time, low, high]
        };
        (i, points.map(limits).collect())
    };
    Curves {
        axes: [axis("time", evaluation.sweep.runs[0].case.units.time.clone()), axis(title, unit)],
        log: [false; 2],
        series: series.iter().map(line).collect(),
        bands: series.iter().enumerate().map(band).collect(),
        title: title.into(),
    }
}

/// The density of the active particles of all runs of an ensemble at their last saves.
fn pooled_density(evaluation: &Evaluation, ensemble: &Ensemble) -> Result<burntrace_plot::Raster> {
    let runs = ensemble.runs.iter().map(|run| &evaluation.sweep.runs[*run]);
    let mut all: Option<(Results, SavedParticles)> = None;
    for run in runs {
        let results = Results::open(&run.folder.root)?;
        let Some(save) = results.tracks.num_saves().checked_sub(1) else { continue };
        let particles = SavedParticles::read(&results.tracks, save, false)?;
        match &mut all {
            None => all = Some((results, particles)),
            Some((_, pooled)) => pooled.positions.extend(particles.positions),
        }
    }
    let Some((results, particles)) = all else { anyhow::bail!("the runs have no saves") };
    let request = DensityRequest::default_of(&results, &particles)?;
    let mut raster = pictures::density_of(&results, &request, &particles)?;
    raster.title = format!("{}, {}", raster.title, ensemble.name());
    Ok(raster)
}
