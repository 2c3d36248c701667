//! `burntrace compare`: what differs between two runs.

mod cases;
mod ends;
mod figures;
mod particles;
mod positions;
mod text;

use crate::{args::CompareArgs, file::Misuse, folder, notes, results::Results};
use anyhow::{Result, bail};
use ends::{EndComparison, RunEnds};
use figures::Figures;
use particles::ParticleDistances;
use positions::PositionComparison;
pub use positions::{between, median};
use serde::Serialize;

/// All differences between two runs.
#[derive(Serialize)]
struct Comparison {
    runs: [String; 2],
    /// Keys of the cases with different values; `None` if a case cannot be read.
    case: Option<Vec<cases::KeyDifference>>,
    slots: [usize; 2],
    /// `None` for runs with different numbers of slots, whose particles have no counterparts.
    ends: Option<EndComparison>,
    positions: Option<PositionComparison>,
    notes: Vec<String>,
}

pub fn execute(args: &CompareArgs) -> Result<()> {
    let runs = [Results::open(&args.a)?, Results::open(&args.b)?].map(Results::note_unfinished);
    if let Some(tolerance) = args.tolerance.filter(|given| !(given.is_finite() && *given >= 0.0)) {
        return Err(Misuse::error(format!(
            "--tolerance {tolerance}: give a length of 0 or more, such as 1e-6"
        )));
    }
    let mut distances = ParticleDistances::default();
    let tracks = runs.each_ref().map(|run| &run.tracks);
    let ends = [RunEnds::read(tracks[0])?, RunEnds::read(tracks[1])?];
    let comparison = compare(&runs, &ends, &mut distances)?;
    match &args.particles {
        Some(_) if comparison.positions.is_none() => {
            let [a, b] = comparison.slots;
            return Err(Misuse::error(format!(
                "--particles: the runs have {a} and {b} slots, so that no particle has a counterpart; omit it"
            )));
        }
        Some(path) => {
            folder::refuse_replacing(path, &[], "")?;
            distances.write(path, &ends)?;
        }
        None => {}
    }
    let figures = match &args.out {
        Some(out) => figures::make(&comparison, &runs, &ends, out)?,
        None => Figures::default(),
    };
    let mut json = serde_json::to_value(&comparison)?;
    if args.out.is_some() {
        json["files"] = serde_json::to_value(&figures.files)?;
        json["not_shown"] = serde_json::to_value(&figures.missing)?;
    }
    args.output.print(|| json, || text::of(&comparison) + &text::of_figures(&figures))?;
    args.tolerance.map_or(Ok(()), |tolerance| judge(&comparison, tolerance))
}

fn compare(
    runs: &[Results; 2],
    ends: &[RunEnds; 2],
    distances: &mut ParticleDistances,
) -> Result<Comparison> {
    let slots = [0, 1].map(|i| runs[i].tracks.num_particles());
    let has_counterparts = slots[0] == slots[1];
    let case = match [0, 1].map(|i| runs[i].case.as_ref()) {
        [Some(a), Some(b)] => Some(cases::differences(a, b)?),
        _ => None,
    };
    let tracks = [0, 1].map(|i| &runs[i].tracks);
    let ends = has_counterparts.then(|| ends::compare(ends));
    let positions = has_counterparts.then(|| positions::compare(tracks, distances)).transpose()?;
    let runs = [0, 1].map(|i| runs[i].folder.root.display().to_string());
    Ok(Comparison { runs, case, slots, ends, positions, notes: notes::take() })
}

/// Fails if the runs differ by more than a tolerance.
fn judge(comparison: &Comparison, tolerance: f64) -> Result<()> {
    let (Some(ends), Some(positions)) = (&comparison.ends, &comparison.positions) else {
        bail!("the runs have {} and {} slots", comparison.slots[0], comparison.slots[1]);
    };
    if positions.saves.is_empty() {
        bail!("the runs have no save at the same time");
    }
    if ends.different > 0 {
        bail!("{} particles end differently", ends.different);
    }
    if positions.unpaired > 0 {
        bail!("{} positions of one run have no counterpart in the other", positions.unpaired);
    }
    match positions.max.filter(|max| *max > tolerance) {
        Some(max) => bail!("positions are up to {max} apart; the tolerance is {tolerance}"),
        None if tolerance == 0.0 && !comparison.is_identical() => {
            let ([a, b], both) = (positions.count_of_saves, positions.saves.len());
            bail!("end times differ, or saves: {both} are at the same times, of {a} and {b}")
        }
        None => Ok(()),
    }
}

impl Comparison {
    /// Whether no position and no end differs.
    fn is_identical(&self) -> bool {
        let ends = self.ends.as_ref().is_some_and(|ends| {
            ends.different == 0 && ends.max_end_time_difference.unwrap_or(0.0) == 0.0
        });
        let positions = self.positions.as_ref().is_some_and(|positions| {
            let all = positions.saves.len();
            let are_same = positions.max == Some(0.0) && positions.unpaired == 0;
            are_same && positions.count_of_saves == [all, all]
        });
        ends && positions
    }
}
