//! `burntrace info`.

use crate::{args, case::OneOrMany, job};
use anyhow::Result;
use burntrace::io;
use std::io::Write;

pub fn execute(args: &args::Info) -> Result<()> {
    let velocity = args.velocity.as_ref().map(|names| match names.contains(',') {
        true => OneOrMany::Many(names.split(',').map(|name| name.trim().into()).collect()),
        false => OneOrMany::One(names.clone()),
    });
    let times = io::TimeOptions { file_dt: args.file_dt, ..Default::default() };
    let series = job::open_series(&args.files, velocity.as_ref(), times, io::Frames::default())?;
    let info = series.info();
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{:#}", serde_json::to_value(&info)?)?;
    } else {
        write!(out, "{info}")?;
    }
    Ok(())
}
