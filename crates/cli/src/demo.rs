//! `burntrace demo`: runs the case that `burntrace init` prints, and makes its page.

use crate::{
    args::DemoArgs,
    case, page,
    results::Results,
    trace::{self, RunStart},
};
use anyhow::{Context, Result, anyhow};
use burntrace_plot::page::BUDGET;
use std::io::Write;
use std::path::Path;

/// Number of tracks on the page.
const PARTICLES: usize = 2000;

pub fn execute(args: &DemoArgs) -> Result<()> {
    let mut case = case::from_text(case::TEMPLATE, &[]).map_err(|error| anyhow!(error))?;
    if let Some(device) = &args.device {
        case.run.device = device.as_str().into();
    }
    case.run.out = args.out.clone();
    trace::trace(&case, Path::new("."), RunStart::New { overwrite: true }, args.output)?;
    let page = page::write(&Results::open(&args.out)?, &args.out, Some(PARTICLES), BUDGET)
        .context("the run is complete, but its page failed")?;
    if !args.output.quiet && !args.output.json {
        writeln!(std::io::stdout(), "page       {}", page.path.display())?;
    }
    Ok(())
}
