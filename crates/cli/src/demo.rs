//! `burntrace demo`: the case of `burntrace init`, run.

use crate::{
    args, case,
    run::{self, Begin},
};
use anyhow::{Result, anyhow};
use std::path::Path;

pub fn execute(args: &args::Demo) -> Result<()> {
    let mut case = case::from_text(case::TEMPLATE, &[]).map_err(|error| anyhow!(error))?;
    if let Some(device) = &args.device {
        case.run.device = device.clone();
    }
    case.run.out = args.out.clone();
    run::trace(&case, Path::new("."), Begin::Anew { overwrite: true }, args.output)
}
