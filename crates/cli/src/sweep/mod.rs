//! `burntrace sweep`: runs of a case with varied keys, which share its field.

mod axis;
mod by_key;
mod curves;
mod definition;
mod ensemble;
mod evaluation;
mod info;
mod key_map;
mod report;
mod runs;
mod table;
mod vary;

pub use definition::Sweep;
pub use evaluation::again;
pub use info::describe;
pub use runs::FieldOnDevice;

use crate::{args::SweepArgs, file::Misuse, ranks::Rank, run::profiled};
use anyhow::{Result, bail};
use runs::Outcome;
use std::time::Instant;

pub fn execute(args: &SweepArgs) -> Result<()> {
    let start = Instant::now();
    if let Some(given) = args.confidence.filter(|given| !(*given > 0.0 && *given < 1.0)) {
        return Err(Misuse::error(format!(
            "--confidence {given}: give a probability above 0 and below 1, such as 0.95"
        )));
    }
    if args.task.is_none() {
        Rank::find(None)?.refuse_several("sweep")?;
    }
    let sweep = Sweep::open(args)?;
    let is_own = |run: &usize| args.task.is_none_or(|task| run % task.count == task.index);
    let own: Vec<usize> = (0..sweep.runs.len()).filter(is_own).collect();
    let case = std::slice::from_ref(&args.case);
    profiled((args.profile.as_deref(), None), case, || {
        let outcome = runs::all(&sweep, &own, args.output.quiet)?;
        let written = evaluation::write(&sweep, &outcome, args)?;
        let text = || format!("{}{}", outcome.text(&sweep, start.elapsed()), written.text);
        args.output.print(|| written.json.clone(), text)?;
        fail(&sweep, &outcome)
    })
}

/// An error if runs failed.
fn fail(sweep: &Sweep, outcome: &Outcome) -> Result<()> {
    let count = outcome.failed.len();
    let Some((run, error)) = outcome.failed.first_key_value() else { return Ok(()) };
    let first = sweep.runs[*run].name();
    bail!(
        "{count} of {} runs failed; the first is {first}: {error}; the same command tries them again",
        sweep.runs.len()
    )
}
