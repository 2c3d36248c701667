//! `burntrace demo`: runs the case that `burntrace init` prints, and makes its page.

use crate::page::PageSize;
use crate::{args::DemoArgs, file, page, results::Results, run};
use anyhow::{Context, Result, anyhow};
use burntrace_case::run::RunStart;
use burntrace_plot::page::BUDGET;
use std::io::Write;

/// Number of tracks on the page.
const PARTICLES: usize = 2000;

pub fn execute(args: &DemoArgs) -> Result<()> {
    let mut case = file::from_text(file::TEMPLATE, &[]).map_err(|error| anyhow!(error))?;
    if let Some(device) = &args.device {
        case.run.device = device.as_str().into();
    }
    case.run.out = args.out.clone();
    run::trace(&case, RunStart::New { overwrite: true }, args.output)?;
    let page = page::write(
        &Results::open(&args.out)?,
        &args.out,
        PageSize { particles: Some(PARTICLES), max_bytes: BUDGET },
        None,
    )
    .context("the run is complete, but its page failed")?;
    if !args.output.quiet && !args.output.json {
        writeln!(std::io::stdout(), "page       {}", page.path.display())?;
    }
    Ok(())
}
