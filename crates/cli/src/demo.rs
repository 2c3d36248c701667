//! `burntrace demo`: runs the case that `burntrace init` prints.

use crate::{
    args::DemoArgs,
    case,
    trace::{self, RunStart},
};
use anyhow::{Result, anyhow};
use std::path::Path;

pub fn execute(args: &DemoArgs) -> Result<()> {
    let mut case = case::from_text(case::TEMPLATE, &[]).map_err(|error| anyhow!(error))?;
    if let Some(device) = &args.device {
        case.run.device = device.clone();
    }
    case.run.out = args.out.clone();
    trace::trace(&case, Path::new("."), RunStart::New { overwrite: true }, args.output)
}
